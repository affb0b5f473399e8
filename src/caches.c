/* SPDX-License-Identifier: GPL-2.0-only */
#include "caches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuples.h"

enum node_type {
	NODE_NAMED,   /* value: the events' number of the name */
	NODE_UNNAMED, /* value: bytes given: nothing will ever name them */
	NODE_KIND,    /* call site, bytes asked, bytes given: a name may be learnt */
	NODE_CLASS,   /* a kmalloc cache; value: class << 8 | kmalloc type */
	NODE_KMALLOC, /* what kmalloc gave for a class; its root is a NODE_CLASS */
};

/* Order of preference as kmalloc_type() has it. */
enum kmalloc_type { KMALLOC_NORMAL, KMALLOC_CGROUP, KMALLOC_RECLAIM, KMALLOC_DMA };

#define NODE_WIDTH 4 /* type and up to three values */
#define NAME_BYTES 64

struct node {
	uint32_t root;
	uint8_t type;
	bool is_moved;
	bool is_ambiguous;
	bool is_mixed;       /* objects of several sizes */
	uint32_t learnt;     /* KIND: the name it got, KM_CACHE_NONE: none yet */
	uint32_t next_moved; /* list of moved nodes */
	uint32_t old_root;   /* while is_moved */
	uint64_t object_bytes;
	char name[NAME_BYTES]; /* of those whose name is made here */
};

struct km_caches {
	const struct km_reader *reader;
	bool learns; /* frees carry names and allocations do not */
	bool has_cgroup_caches;
	uint64_t largest_class; /* KMALLOC_MAX_CACHE_SIZE */
	struct km_tuples tuples;
	struct node *nodes;
	uint32_t nodes_room;
	uint32_t first_moved; /* node + 1, 0: none */
	uint64_t ambiguous_count;
	/* slab_debug padding, from sizes given that are no class: least and most bytes beyond the class. */
	bool has_padding;
	uint64_t padding_least, padding_most;
};

/* Kernels of these have pages of 4 KiB, whatever size of sub-buffer the trace has. */
static uint64_t kernel_page_bytes(const struct km_trace_info *info)
{
	static const char *const small_pages[] = { "x86_64", "i686", "i586", "i486", "s390x", "armv", "riscv64" };

	for (size_t i = 0; info->kernel && i < sizeof(small_pages) / sizeof(small_pages[0]); i++) {
		if (strstr(info->kernel, small_pages[i]))
			return 4096;
	}
	return info->page_bytes >= 4096 ? info->page_bytes : 4096;
}

struct km_caches *km_caches_new(const struct km_reader *reader)
{
	const struct km_trace_info *info = km_reader_info(reader);
	struct km_caches *caches = calloc(1, sizeof(*caches));
	unsigned release = km_kernel_release(info->kernel);

	if (!caches)
		return NULL;
	caches->reader = reader;
	caches->learns = info->features & KM_TRACE_FREE_NAMES;
	/* 494c1dfe855e (5.14) */
	caches->has_cgroup_caches = release ? release >= 5014 : (info->features & KM_TRACE_FREE_NAMES) != 0;
	caches->largest_class = 2 * kernel_page_bytes(info); /* KMALLOC_SHIFT_HIGH is PAGE_SHIFT + 1 */
	km_tuples_init(&caches->tuples, NODE_WIDTH, KM_CACHES_LIMIT);
	return caches;
}

void km_caches_free(struct km_caches *caches)
{
	if (!caches)
		return;
	km_tuples_release(&caches->tuples);
	free(caches->nodes);
	free(caches);
}

uint32_t km_caches_count(const struct km_caches *caches)
{
	return caches->tuples.count;
}

static uint32_t add_node(struct km_caches *caches, enum node_type type, uint64_t a, uint64_t b, uint64_t c,
			 bool *ret_is_new)
{
	const uint64_t tuple[NODE_WIDTH] = { type, a, b, c };
	uint32_t number = km_tuples_add(&caches->tuples, tuple, ret_is_new);

	if (number == KM_TUPLES_NONE)
		return KM_CACHES_NONE;
	if (number >= caches->nodes_room) {
		uint32_t room = caches->nodes_room ? caches->nodes_room * 2 : 64;
		struct node *nodes = reallocarray(caches->nodes, room, sizeof(*nodes));

		if (!nodes)
			return KM_CACHES_NONE;
		memset(nodes + caches->nodes_room, 0, (room - caches->nodes_room) * sizeof(*nodes));
		caches->nodes = nodes;
		caches->nodes_room = room;
	}
	if (*ret_is_new)
		caches->nodes[number] = (struct node){ .root = number, .type = (uint8_t)type };
	return number;
}

static void set_root(struct km_caches *caches, uint32_t node, uint32_t root)
{
	struct node *n = &caches->nodes[node];

	if (n->root == root)
		return;
	if (!n->is_moved) {
		n->is_moved = true;
		n->old_root = n->root;
		n->next_moved = caches->first_moved;
		caches->first_moved = node + 1;
	}
	n->root = root;
}

int km_caches_next_move(struct km_caches *caches, uint32_t *ret_node, uint32_t *ret_old_root)
{
	while (caches->first_moved) {
		uint32_t node = caches->first_moved - 1;
		struct node *n = &caches->nodes[node];

		caches->first_moved = n->next_moved;
		n->is_moved = false;
		if (n->root == n->old_root)
			continue;
		*ret_node = node;
		*ret_old_root = n->old_root;
		return 1;
	}
	return 0;
}

static void note_object_bytes(struct km_caches *caches, uint32_t node, uint64_t bytes)
{
	struct node *n = &caches->nodes[node];

	if (!n->object_bytes)
		n->object_bytes = bytes;
	else if (n->object_bytes != bytes)
		n->is_mixed = true;
}

/* --- kmalloc classes --- */

/* The smallest kmalloc cache that holds `bytes`: powers of two from 8, and 96 and 192. */
static uint64_t class_of(uint64_t bytes)
{
	uint64_t class = 8;

	if (bytes > 64 && bytes <= 96)
		return 96;
	if (bytes > 128 && bytes <= 192)
		return 192;
	while (class < bytes)
		class *= 2;
	return class;
}

static uint64_t round_up(uint64_t value, uint64_t alignment)
{
	return (value + alignment - 1) / alignment * alignment;
}

/* Whether slab_debug padding of a class can come to `given` bytes: slabs of kmalloc are aligned to the class. */
static bool padding_explains(const struct km_caches *caches, uint64_t class, uint64_t given)
{
	uint64_t alignment = class & -class;

	return caches->has_padding && given >= round_up(class + caches->padding_least, alignment) &&
	       given <= round_up(class + caches->padding_most, alignment);
}

static uint32_t class_node(struct km_caches *caches, uint64_t class, enum kmalloc_type type)
{
	static const char *const prefixes[] = { [KMALLOC_NORMAL] = "kmalloc-",
						[KMALLOC_CGROUP] = "kmalloc-cg-",
						[KMALLOC_RECLAIM] = "kmalloc-rcl-",
						[KMALLOC_DMA] = "dma-kmalloc-" };
	bool is_new;
	uint32_t node = add_node(caches, NODE_CLASS, class, type, 0, &is_new);

	if (node == KM_CACHES_NONE || !is_new)
		return node;
	if (!class)
		snprintf(caches->nodes[node].name, NAME_BYTES, "kmalloc-large");
	else if (class >= 1 << 20)
		snprintf(caches->nodes[node].name, NAME_BYTES, "%s%lluM", prefixes[type],
			 (unsigned long long)class >> 20);
	else if (class >= 1 << 10)
		snprintf(caches->nodes[node].name, NAME_BYTES, "%s%lluk", prefixes[type],
			 (unsigned long long)class >> 10);
	else
		snprintf(caches->nodes[node].name, NAME_BYTES, "%s%llu", prefixes[type], (unsigned long long)class);
	return node;
}

/* The class that a kmalloc node (class asked, bytes given, type) is taken to be. */
static uint32_t kmalloc_root(struct km_caches *caches, uint64_t class, uint64_t given, enum kmalloc_type type)
{
	if (!class)
		return class_node(caches, 0, KMALLOC_NORMAL);
	if (given > class && given <= caches->largest_class && class_of(given) == given &&
	    !padding_explains(caches, class, given))
		class = given;
	return class_node(caches, class, type);
}

/* New padding was seen: classes given may be explained by it now. */
static void reclassify(struct km_caches *caches)
{
	uint32_t count = caches->tuples.count;

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t *tuple = km_tuples_get(&caches->tuples, i);
		uint32_t root;

		if (tuple[0] != NODE_KMALLOC)
			continue;
		root = kmalloc_root(caches, tuple[1], tuple[2], (enum kmalloc_type)tuple[3]);
		if (root != KM_CACHES_NONE)
			set_root(caches, i, root);
	}
}

static void note_padding(struct km_caches *caches, uint64_t class, uint64_t given)
{
	uint64_t padding = given - class;

	if (caches->has_padding && padding >= caches->padding_least && padding <= caches->padding_most)
		return;
	if (!caches->has_padding || padding < caches->padding_least)
		caches->padding_least = padding;
	if (!caches->has_padding || padding > caches->padding_most)
		caches->padding_most = padding;
	caches->has_padding = true;
	reclassify(caches);
}

static enum kmalloc_type kmalloc_type(const struct km_caches *caches, uint32_t gfp)
{
	const struct km_gfp *names = km_reader_gfp(caches->reader);

	if (gfp & names->dma)
		return KMALLOC_DMA;
	if (gfp & names->reclaimable)
		return KMALLOC_RECLAIM;
	return caches->has_cgroup_caches && gfp & names->account ? KMALLOC_CGROUP : KMALLOC_NORMAL;
}

static uint32_t kmalloc_node(struct km_caches *caches, const struct km_event *event)
{
	uint64_t class = event->bytes_req > caches->largest_class ? 0 : class_of(event->bytes_req);
	enum kmalloc_type type = class ? kmalloc_type(caches, event->gfp) : KMALLOC_NORMAL;
	/* What a large one got is pages, whatever their number; a failed one got nothing. */
	uint64_t given = class && event->ptr ? event->bytes_alloc : class;
	uint32_t node, root;
	bool is_new;

	if (given > class && (class_of(given) != given || given > caches->largest_class))
		note_padding(caches, class, given);
	node = add_node(caches, NODE_KMALLOC, class, given, type, &is_new);
	if (node == KM_CACHES_NONE)
		return node;
	if (is_new) {
		root = kmalloc_root(caches, class, given, type);
		if (root == KM_CACHES_NONE)
			return root;
		caches->nodes[node].root = root;
	}
	if (event->ptr)
		note_object_bytes(caches, caches->nodes[node].root, event->bytes_alloc);
	return node;
}

/* --- named caches --- */

static uint32_t named_node(struct km_caches *caches, uint32_t cache)
{
	bool is_new;

	return add_node(caches, NODE_NAMED, cache, 0, 0, &is_new);
}

static uint32_t unnamed_node(struct km_caches *caches, uint64_t bytes)
{
	bool is_new;
	uint32_t node = add_node(caches, NODE_UNNAMED, bytes, 0, 0, &is_new);

	if (node != KM_CACHES_NONE && is_new) {
		snprintf(caches->nodes[node].name, NAME_BYTES, "(unnamed:%llu)", (unsigned long long)bytes);
		caches->nodes[node].object_bytes = bytes;
	}
	return node;
}

uint32_t km_caches_of(struct km_caches *caches, const struct km_event *event)
{
	uint32_t node;
	bool is_new;

	if (km_event_is_kmalloc(event))
		return kmalloc_node(caches, event);
	if (event->cache != KM_CACHE_NONE) {
		node = named_node(caches, event->cache);
	} else if (!caches->learns) {
		node = unnamed_node(caches, event->bytes_alloc);
	} else {
		node = add_node(caches, NODE_KIND, event->call_site, event->bytes_req, event->bytes_alloc, &is_new);
		if (node != KM_CACHES_NONE && is_new)
			snprintf(caches->nodes[node].name, NAME_BYTES, "(unnamed:%llu)",
				 (unsigned long long)event->bytes_alloc);
	}
	if (node != KM_CACHES_NONE)
		note_object_bytes(caches, caches->nodes[node].root, event->bytes_alloc);
	return node;
}

uint32_t km_caches_root(const struct km_caches *caches, uint32_t node)
{
	return caches->nodes[node].root;
}

bool km_caches_wants_name(const struct km_caches *caches, uint32_t node)
{
	return caches->nodes[node].type == NODE_KIND;
}

void km_caches_learn(struct km_caches *caches, uint32_t node, uint32_t cache)
{
	struct node *n = &caches->nodes[node];
	uint32_t root;

	if (n->type != NODE_KIND || n->learnt == cache)
		return;
	if (n->learnt != KM_CACHE_NONE) {
		caches->ambiguous_count += !n->is_ambiguous;
		n->is_ambiguous = true;
		return;
	}
	root = named_node(caches, cache);
	if (root == KM_CACHES_NONE)
		return;
	n = &caches->nodes[node]; /* may have moved */
	n->learnt = cache;
	note_object_bytes(caches, root, n->object_bytes);
	set_root(caches, node, root);
}

void km_caches_settle(struct km_caches *caches)
{
	uint32_t count = caches->tuples.count;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t bytes = km_tuples_get(&caches->tuples, i)[3];
		uint32_t root;

		if (caches->nodes[i].type != NODE_KIND || caches->nodes[i].learnt != KM_CACHE_NONE)
			continue;
		root = unnamed_node(caches, bytes);
		if (root != KM_CACHES_NONE)
			set_root(caches, i, root);
	}
}

const char *km_caches_name(const struct km_caches *caches, uint32_t root)
{
	const struct node *n = &caches->nodes[root];

	if (n->type == NODE_NAMED)
		return km_reader_cache_name(caches->reader, (uint32_t)km_tuples_get(&caches->tuples, root)[1]);
	return n->name;
}

uint32_t km_caches_named(const struct km_caches *caches, uint32_t cache)
{
	const uint64_t tuple[NODE_WIDTH] = { NODE_NAMED, cache };
	uint32_t number = km_tuples_find(&caches->tuples, tuple);

	return number == KM_TUPLES_NONE ? KM_CACHES_NONE : number;
}

uint64_t km_caches_ambiguous_count(const struct km_caches *caches)
{
	return caches->ambiguous_count;
}

uint64_t km_caches_object_bytes(const struct km_caches *caches, uint32_t root)
{
	return caches->nodes[root].is_mixed ? 0 : caches->nodes[root].object_bytes;
}
