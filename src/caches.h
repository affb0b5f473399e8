/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * caches: which slab cache an allocation came from, as far as a trace tells.
 *
 * kmem_cache_alloc names its cache from 6.18 on. Before, the name is learnt
 * from a kmem_cache_free of the same kind of object (5.12 on): the same call
 * site, size asked and size given. Until then, or for ever before 5.12, it
 * is "(unnamed:N)", N the bytes given.
 *
 * kmalloc events name none: the class of the size asked for, in the kernel's
 * spelling (mm/slab_common.c kmalloc_info[], include/linux/slab.h
 * kmalloc_type()): kmalloc-512, kmalloc-1k; kmalloc-cg-, kmalloc-rcl- and
 * dma-kmalloc- by gfp flags; kmalloc-large beyond the largest cache. Where a
 * larger class was given (a minimum alignment), that one, unless slab_debug
 * padding, as other sizes show it, explains the size.
 *
 * What is known can change with every event: a cache is a node whose root is
 * the cache it is now taken to be. It counts nothing.
 */
#ifndef KM_CACHES_H
#define KM_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "reader.h"

#define KM_CACHES_LIMIT (1U << 18)
#define KM_CACHES_NONE  UINT32_MAX

struct km_caches;

/* reader is borrowed. NULL when out of memory. */
struct km_caches *km_caches_new(const struct km_reader *reader);
void km_caches_free(struct km_caches *caches);

/* Nodes are numbered from 0 to this. */
uint32_t km_caches_count(const struct km_caches *caches);

/*
 * The node of an allocation (of its shape: call site, sizes, gfp, kind,
 * name). KM_CACHES_NONE when out of memory or at the limit. May change the
 * roots of other nodes: see km_caches_next_move().
 */
uint32_t km_caches_of(struct km_caches *caches, const struct km_event *alloc);

/* The cache that a node is now taken to be. */
uint32_t km_caches_root(const struct km_caches *caches, uint32_t node);

/* Whether a free that names a cache would teach something about this node. */
bool km_caches_wants_name(const struct km_caches *caches, uint32_t node);
/*
 * An object of this node was freed by a kmem_cache_free that names `cache`
 * (km_event.cache, not KM_CACHE_NONE).
 */
void km_caches_learn(struct km_caches *caches, uint32_t node, uint32_t cache);

/*
 * Nodes whose root changed since they were last asked for, one a call:
 * 1 and *ret_node, *ret_old_root; 0 if there is none (any more).
 */
int km_caches_next_move(struct km_caches *caches, uint32_t *ret_node, uint32_t *ret_old_root);

/*
 * Everything that the trace can teach was learnt (it was read through once):
 * from now on what has no name is the same cache as all of its size.
 */
void km_caches_settle(struct km_caches *caches);

/* A root's name; borrowed. Unnamed roots of one size share a name, and are one cache in a report. */
const char *km_caches_name(const struct km_caches *caches, uint32_t root);
/* The root that is named by the events' name `cache`; KM_CACHES_NONE if no allocation came from it. */
uint32_t km_caches_named(const struct km_caches *caches, uint32_t cache);
/* Kinds of objects that were freed under more than one name: their cache is a guess. */
uint64_t km_caches_ambiguous_count(const struct km_caches *caches);
/* Bytes that an object of the cache takes, 0 if that is not one size. */
uint64_t km_caches_object_bytes(const struct km_caches *caches, uint32_t root);

#endif
