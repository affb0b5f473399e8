/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slabinfo: a copy of /proc/slabinfo as numbers by cache. It reads version
 * 2.1, which Linux has had since 2.6.10 (mm/slab_common.c, cache_show()):
 *
 *   slabinfo - version: 2.1
 *   # name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables ... : slabdata ...
 *
 * It does not know traces.
 *
 * With SLUB active_objs is not the number of objects in use: get_slabinfo()
 * of mm/slub.c takes the free ones of the nodes' partial slabs away from all
 * objects, and nothing else. Free objects of slabs that a CPU holds count as
 * active: km_slabinfo_hidden_count().
 */
#ifndef KM_SLABINFO_H
#define KM_SLABINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

#define KM_SLABINFO_CACHES_LIMIT  65536
#define KM_SLABINFO_OBJECTS_LIMIT (UINT64_C(1) << 48)
#define KM_SLABINFO_NAME_BYTES    256

struct km_slabinfo_cache {
	char *name;
	uint64_t active_count, total_count; /* objects: active_objs, num_objs */
	uint64_t object_bytes;              /* objsize: with padding and debugging; 0: caches of one name differ */
	uint64_t slab_objects_count;        /* objperslab; of several caches of one name the most */
	/* SLAB, before 6.8: objects that each CPU, and all of them together, may keep; 0 with SLUB. */
	uint64_t cpu_limit_count, shared_limit_count;
};

struct km_slabinfo {
	struct km_slabinfo_cache *caches; /* sorted by name, each name once: those of one name are added up */
	size_t count;
	/* Every kmalloc-N has objects of more than N bytes: slab_debug is on, and no CPU holds slabs. */
	bool is_debug;
};

/*
 * "-": standard input. Errors, with file and line: -EINVAL for another
 * version, for what is no slabinfo, for a number that can not be;
 * -ENOSPC beyond the limits; what reading gives; -ENOMEM.
 */
int km_slabinfo_load(const char *path, struct km_slabinfo *ret_info, struct km_error *error);
void km_slabinfo_release(struct km_slabinfo *info);

/* NULL: there is no cache of this name. */
const struct km_slabinfo_cache *km_slabinfo_find(const struct km_slabinfo *info, const char *name);

/* What the recorded kernel's CPUs keep of a cache. */
enum km_slab_era {
	KM_SLAB_ERA_5_16, /* to 6.17, and where it is not known */
	KM_SLAB_ERA_OLD,  /* before 5.16 */
	KM_SLAB_ERA_6_18, /* from 6.18 on */
};

/*
 * The most objects of a cache that are free and counted as active, as they
 * are with CPUs. Each CPU has the slab that it allocates from, and partial
 * slabs (set_cpu_partial() and put_cpu_partial() of mm/slub.c):
 *
 *   before 5.16  2, 6, 13 or 30 slabs with a free object, by the object's size
 *   from 5.16    slabs for 12, 48, 104 or 240 objects
 *   from 6.18    also, or from 7.0 instead, three sheaves of about 4, 12, 28
 *                or 60 objects a CPU, 32 if the cache asks for it, and ten
 *                for all of a node (struct slub_percpu_sheaves, struct node_barn); one
 *                node is assumed
 *
 * SLAB, before 6.8, keeps objects: as many as the tunables say. Never more
 * than active_count; 0 with slab_debug, where nothing stays with a CPU.
 */
uint64_t km_slabinfo_hidden_count(const struct km_slabinfo *info, const struct km_slabinfo_cache *cache,
				  unsigned cpus_count, enum km_slab_era era);

#endif
