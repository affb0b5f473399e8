/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slab_aliases: which slab caches share one, from a listing of
 * /sys/kernel/slab. It reads the listing; it does not know traces or this
 * machine.
 *
 * The kernel merges caches of the same size and kind. Each name is a symbolic
 * link to a directory that all of them share, whose name is made by
 * create_unique_id() of mm/slub.c: ':', letters, '-' behind letters, the size
 * in at least 7 digits, and before Linux 5.9 a control group's number behind
 * another '-'. A cache that is not merged with others is a link too, or a
 * directory of its own name if it can not be merged. The letters:
 *
 *   d  SLAB_CACHE_DMA                a  SLAB_RECLAIM_ACCOUNT
 *   D  SLAB_CACHE_DMA32, from 5.1    A  SLAB_ACCOUNT, from 4.5
 *   F  SLAB_CONSISTENCY_CHECKS (before 4.6: SLAB_DEBUG_FREE)
 *   t  not SLAB_NOTRACK, 2.6.31 to 4.14
 *
 * Letters not known here are taken as they are.
 */
#ifndef KM_SLAB_ALIASES_H
#define KM_SLAB_ALIASES_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

#define KM_SLAB_ALIASES_LIMIT      65536 /* lines */
#define KM_SLAB_ALIASES_NAME_BYTES 256

struct km_slab_aliases;

/*
 * Read a listing: `ls -l /sys/kernel/slab`, `ls -l` or find's '%f -> %l' or
 * '%f %l' of it. "-": standard input. Errors, with file and line: -EINVAL for
 * a line that is none of these or a listing without a cache, -ENOSPC beyond
 * the limits, what reading gives, -ENOMEM.
 */
int km_slab_aliases_load(const char *path, struct km_slab_aliases **ret_aliases, struct km_error *error);
void km_slab_aliases_free(struct km_slab_aliases *aliases);

/* Names in the listing. */
size_t km_slab_aliases_count(const struct km_slab_aliases *aliases);
/* Whether the listing has this name. */
bool km_slab_aliases_has(const struct km_slab_aliases *aliases, const char *name);
/*
 * The other names of the cache that has this name, sorted; at most `limit`
 * are stored. Returns how many there are; 0 for a name that is not listed.
 * Borrowed. aliases NULL: none.
 */
size_t km_slab_aliases_of(const struct km_slab_aliases *aliases, const char *name, const char **names, size_t limit);
/* For people: "pid(+3)" for a cache with three more names, else the name itself. Borrowed. aliases NULL: the name. */
const char *km_slab_aliases_shown(const struct km_slab_aliases *aliases, const char *name);
/* Whether its cache is one that the kernel empties under memory pressure: letter a. aliases NULL: no. */
bool km_slab_aliases_is_reclaimable(const struct km_slab_aliases *aliases, const char *name);

#endif
