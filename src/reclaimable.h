/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reclaimable: which slab caches the kernel empties by itself under memory
 * pressure, and which call sites are the slab allocator's own bookkeeping.
 * It knows names, and
 * flags where it is given a listing of them; it does not look at a trace or at
 * this machine.
 *
 * Source of the caches: those whose reclaim_account in /sys/kernel/slab is 1
 * (SLAB_RECLAIM_ACCOUNT) on Linux 6.18.44 with ext4, btrfs, xfs, erofs,
 * squashfs, overlay and fuse; and the inode caches of other file systems, by
 * the form of their names. Such caches are merged with their like only
 * (SLAB_MERGE_SAME, mm/slab.h), so a merged cache's name tells the same.
 * Left out are those whose objects are flagged but pinned: inodes of sockets,
 * message queues and files in memory. A flag of the allocation itself,
 * __GFP_RECLAIMABLE, is the caller's to look at.
 */
#ifndef KM_RECLAIMABLE_H
#define KM_RECLAIMABLE_H

#include <stdbool.h>

#include "slab_aliases.h"

/*
 * Whether the cache of this name holds what the kernel can drop and read
 * again: by its name, or by its flag in a listing of /sys/kernel/slab made on
 * the recorded machine (NULL: there is none). Pinned ones never are.
 */
bool km_reclaimable_cache(const char *name, const struct km_slab_aliases *listing);
/* Whether it holds inodes: other objects, such as security blobs, are made and freed one for one with them. */
bool km_reclaimable_is_inode_cache(const char *name);
/*
 * The same by the function that allocates, for kernels whose events do not
 * name the cache: functions that allocate from one reclaimable cache only.
 */
bool km_reclaimable_function(const char *function);
/* Whether a function (as km_site_name.function) allocates for the slab allocator or the tracer itself. */
bool km_allocator_internal_function(const char *function);

#endif
