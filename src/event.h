/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * event: the one currency between readers and everything behind them.
 *
 * A reader turns whatever it reads into batches of struct km_event; nothing
 * behind a reader knows which kind of file an event came from. The struct is
 * one cache line on purpose.
 */
#ifndef KM_EVENT_H
#define KM_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum km_event_kind {
	/* The six slab events, include/trace/events/kmem.h */
	KM_EVENT_KMALLOC,
	KM_EVENT_KMALLOC_NODE,     /* before 6.1 */
	KM_EVENT_CACHE_ALLOC,      /* kmem_cache_alloc */
	KM_EVENT_CACHE_ALLOC_NODE, /* kmem_cache_alloc_node, before 6.1 */
	KM_EVENT_KFREE,
	KM_EVENT_CACHE_FREE, /* kmem_cache_free */
	KM_EVENT_SLAB_KINDS, /* how many of them there are */

	/* The recording lost events of this CPU just before `time`. bytes_req: how many, 0 if not known. */
	KM_EVENT_LOST = KM_EVENT_SLAB_KINDS,
	/* A text the caller asked for was met for the first time (km_reader_options.marks); bytes_req: its index. */
	KM_EVENT_MARK,
	/*
	 * mm_page_alloc and mm_page_free, where the caller asked for them (km_reader_options.has_pages): ptr is the
	 * first page frame's number, ~0 if the record does not tell; order; pid.
	 */
	KM_EVENT_PAGE_ALLOC,
	KM_EVENT_PAGE_FREE,
	KM_EVENT_KINDS,
};

enum km_event_flag {
	/* Events of another CPU have the same time: the order between them is not known from the clock. */
	KM_EVENT_TIED = 1 << 0,
};

enum km_domain {
	KM_DOMAIN_SLAB,
};

#define KM_CACHE_NONE 0U   /* the event names no cache */
#define KM_NODE_ANY   (-1) /* NUMA_NO_NODE */

struct km_event {
	uint64_t time;        /* in the clock's own unit (km_clock), as recorded */
	uint64_t ptr;         /* address of the object; 0: the allocation failed, or kfree(NULL) */
	uint64_t call_site;   /* return address into the caller */
	uint64_t bytes_req;   /* bytes asked for; 0 for a free */
	uint64_t bytes_alloc; /* bytes given, set for failed allocations too */
	uint32_t gfp;         /* gfp_flags as recorded; names through km_gfp */
	int32_t pid;          /* the task that was running */
	uint32_t cache;       /* km_reader_cache_name(); KM_CACHE_NONE where the event has no name */
	uint32_t stack;       /* 0: none */
	uint16_t cpu;
	int16_t node;   /* the NUMA node asked for, KM_NODE_ANY if any or not recorded */
	uint8_t kind;   /* enum km_event_kind */
	uint8_t domain; /* enum km_domain */
	uint8_t order;  /* page order of page events, else 0 */
	uint8_t flags;  /* enum km_event_flag */
};

_Static_assert(sizeof(struct km_event) == 64, "an event is one cache line");

/* Objects are below this size: KMALLOC_MAX_SIZE is at most 512 MiB (64 KiB pages). */
#define KM_OBJECT_BYTES_LIMIT (UINT64_C(1) << 30)
/* PID_MAX_LIMIT, include/linux/threads.h */
#define KM_PID_LIMIT (1 << 22)
/* NR_CPUS of any kernel configuration, with room */
#define KM_CPU_LIMIT     8192
#define KM_ZERO_SIZE_PTR UINT64_C(0x10) /* include/linux/slab.h */

static inline bool km_event_is_kmalloc(const struct km_event *e)
{
	return e->kind <= KM_EVENT_KMALLOC_NODE;
}

static inline bool km_event_is_alloc(const struct km_event *e)
{
	return e->kind <= KM_EVENT_CACHE_ALLOC_NODE;
}

static inline bool km_event_is_free(const struct km_event *e)
{
	return e->kind == KM_EVENT_KFREE || e->kind == KM_EVENT_CACHE_FREE;
}

static inline bool km_event_is_slab(const struct km_event *e)
{
	return e->kind < KM_EVENT_SLAB_KINDS;
}

/* "kmalloc", "kmem_cache_free", ...: the tracepoint's name; "lost", "mark" for what is no tracepoint's. */
const char *km_event_kind_name(enum km_event_kind kind);

#endif
