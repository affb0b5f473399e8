/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace_writer: builds trace.dat files in memory, byte for byte the same for
 * the same calls, laid out as the kernel's ring buffer and trace-cmd lay them
 * out (man trace-cmd.dat.v6, trace-cmd.dat.v7; kernel/trace/ring_buffer.c).
 *
 * It is not a recorder and checks little: a misuse (events of a CPU going
 * back in time, an event that the kernel does not have) ends the test with
 * abort(), and so does running out of memory.
 *
 *	struct tw *tw = tw_new(&(struct tw_options){ .kernel = TW_KERNEL_6_12, .cpus = 2 });
 *	tw_kmalloc(tw, TW_TOP, 0, 1000, 42, site, ptr, 100, 128, gfp, -1);
 *	tw_kfree(tw, TW_TOP, 1, 2000, 42, site, ptr);
 *	bytes = tw_finish(tw, &size);
 *	tw_free(tw);
 */
#ifndef KM_TRACE_WRITER_H
#define KM_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "trace_formats.h"

struct tw;

#define TW_TOP 0U /* the top buffer's index */

enum tw_compression {
	TW_COMPRESSION_NONE,
	TW_COMPRESSION_ZLIB, /* version 7 only, as is zstd */
	TW_COMPRESSION_ZSTD,
};

/* Parts that a file may lack. In version 6 the sections stay, empty. */
enum tw_omit {
	TW_OMIT_UNAME = 1 << 0,
	TW_OMIT_TRACECLOCK = 1 << 1, /* the option; in version 6 also the clock behind each buffer's table of CPUs */
	TW_OMIT_CPUCOUNT = 1 << 2,
	TW_OMIT_VERSION = 1 << 3,
	TW_OMIT_KALLSYMS = 1 << 4,
	TW_OMIT_PRINTK = 1 << 5,
	TW_OMIT_CMDLINES = 1 << 6,
	TW_OMIT_HEADERS = 1 << 7, /* header_page and header_event */
};

/* All zero is a valid choice: version 7, little endian, 64 bits, 4 KiB pages, one CPU, Linux 6.18, no compression. */
struct tw_options {
	unsigned version; /* 6 or 7 */
	enum tw_compression compression;
	enum tw_kernel kernel;
	bool big_endian;
	/* The kernel was built with 8-byte aligned events: every record is in the long form (array[0]). */
	bool align8;
	/* A full page's tail is a PADDING event, as the writer leaves it; else it is cut off, as the reader hands it
	 * out. */
	bool pad_tail;
	unsigned long_bytes;      /* the kernel's word: 4 or 8 */
	unsigned user_long_bytes; /* user space's, in the file's first bytes; 0: as the kernel's */
	unsigned page_bytes;      /* of the top buffer, and of every buffer in version 6 */
	unsigned cpus;            /* per buffer, unless tw_add_buffer() says otherwise */
	unsigned chunk_pages;     /* pages to a compressed chunk; 0: 10 */
	const char *clock;        /* NULL: local */
	unsigned omit;            /* enum tw_omit */
	/* Texts; NULL: a plausible one. kallsyms has the functions of tw_function(). */
	const char *uname;
	const char *kallsyms;
	const char *cmdlines; /* "PID comm\n" ... */
	const char *printk;
	const char *header_page;
};

struct tw *tw_new(const struct tw_options *options);
void tw_free(struct tw *tw);

/*
 * A further buffer instance; returns its index. page_bytes 0, clock NULL and
 * cpus 0: as the top buffer. Version 6 has one page size, clock and number of
 * CPUs, and ignores them.
 */
unsigned tw_add_buffer(struct tw *tw, const char *name, unsigned page_bytes, const char *clock, unsigned cpus);
/* Put text in place of an event's format, add one, or with NULL take one away. "kmem", "kmalloc". */
void tw_set_format(struct tw *tw, const char *system, const char *name, const char *text);
/* An option as it is: data is not turned to the file's byte order. */
void tw_option(struct tw *tw, uint16_t id, const void *data, uint32_t bytes);
void tw_option_offset(struct tw *tw, const char *text);
void tw_option_tsc2nsec(struct tw *tw, uint32_t mult, uint32_t shift, uint64_t offset);
/* per_cpu/cpuN/stats. Buffers and CPUs come out in their own order, whatever the order of calls. */
void tw_cpustat(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t overrun, uint64_t commit_overrun,
		uint64_t dropped);

/*
 * Events. Within a CPU of a buffer the time must not go back; equal times are
 * fine. call_site, ptr and sizes are cut to the kernel's word.
 */

/*
 * Any of the six slab kinds. What the kernel does not record of it (a name, a
 * node) is dropped; e->cache is not used. cache_name: NULL is "".
 */
void tw_event(struct tw *tw, unsigned buffer, const struct km_event *e, const char *cache_name);
void tw_kmalloc(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid, uint64_t call_site,
		uint64_t ptr, uint64_t bytes_req, uint64_t bytes_alloc, uint32_t gfp, int node);
/* Kernels before 6.1 only, like tw_cache_alloc_node() */
void tw_kmalloc_node(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid, uint64_t call_site,
		     uint64_t ptr, uint64_t bytes_req, uint64_t bytes_alloc, uint32_t gfp, int node);
void tw_cache_alloc(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid, uint64_t call_site,
		    uint64_t ptr, uint64_t bytes_req, uint64_t bytes_alloc, uint32_t gfp, int node, const char *name);
void tw_cache_alloc_node(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid, uint64_t call_site,
			 uint64_t ptr, uint64_t bytes_req, uint64_t bytes_alloc, uint32_t gfp, int node);
void tw_kfree(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid, uint64_t call_site,
	      uint64_t ptr);
void tw_cache_free(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid, uint64_t call_site,
		   uint64_t ptr, const char *name);
/* An event of no interest: sched_switch. */
void tw_other(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid);
/* A trace_marker text, written as given; the kernel ends it with a newline. */
void tw_print(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid, const char *text);
void tw_stack(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid, unsigned count,
	      const uint64_t *ips);
/* Any record, from common_type on, in the file's byte order already. */
void tw_record(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, const void *record, size_t bytes);

/* What the ring buffer does between events. */

/*
 * A kmalloc that was discarded after it had been written (an event filter): a
 * PADDING event. It and what follows it must each be later than the one before.
 */
void tw_discard(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time);
/* The next event of the CPU, if it is not the first of its page, follows an absolute TIME_STAMP. */
void tw_absolute(struct tw *tw, unsigned buffer, unsigned cpu);
/* Close the CPU's page; if none is open, write an empty one. */
void tw_new_page(struct tw *tw, unsigned buffer, unsigned cpu);
/*
 * Close the page and mark the next as following a loss of `count` events, or,
 * with -1, of an unknown number; before the first event it marks the start. As in the kernel the number is stored
 * behind the page's data, and is silently left out if no room is left there: follow with a few events and tw_new_page()
 * to be sure of it.
 */
void tw_lost(struct tw *tw, unsigned buffer, unsigned cpu, int64_t count);
/* A page as it is, page_bytes long, between the others. */
void tw_raw_page(struct tw *tw, unsigned buffer, unsigned cpu, const void *page);

/* The file. May be called again after more events; open pages are closed. The caller frees it. */
void *tw_finish(struct tw *tw, size_t *ret_bytes);
/* After tw_finish(): where in the file a CPU's data is, and its size there. For tests that damage it. */
uint64_t tw_data_offset(const struct tw *tw, unsigned buffer, unsigned cpu);
uint64_t tw_data_bytes(const struct tw *tw, unsigned buffer, unsigned cpu);
/* Events written to a CPU so far, discarded ones not counted. */
uint64_t tw_events_count(const struct tw *tw, unsigned buffer, unsigned cpu);

/* The start of function i < TW_FUNCTIONS, 4 KiB apart; the first 48 are "kernel_fn_NN", the rest "[leaky]" "mod_fn_NN".
 */
#define TW_FUNCTIONS        64U
#define TW_FUNCTIONS_KERNEL 48U
uint64_t tw_function(unsigned long_bytes, unsigned i);

/* ---- a plausible random stream, for property tests ---- */

struct tw_stream {
	uint64_t seed;
	size_t events_count;
	unsigned buffer;
	unsigned cpus;         /* 0: 1 */
	enum tw_kernel kernel; /* must be tw_options' */
	unsigned long_bytes;   /* 0: 8; must be tw_options' */
	unsigned live_target;  /* about how many objects live once it has warmed up; 0: 500 */
	uint64_t time_ns;      /* of the first event; 0: 1 s */
	bool ties;             /* some events of different CPUs get the same time */
	bool no_untraced;      /* no implied and no unmatched frees: every pointer alternates */
};

#define TW_STREAM_CACHES 12U

/*
 * Appends a stream of allocations and frees: objects freed on other CPUs,
 * addresses used again soon, frees never traced (implied), frees of objects
 * from before the trace (unmatched), NULL and ZERO_SIZE_PTR frees, failed
 * allocations, kfree() of a cache's object, large kmallocs told twice where
 * the kernel does so, gaps that need a TIME_EXTEND. tw may be NULL: only the
 * events are wanted. ret_events, if not NULL, gets the events_count events in
 * the order of their times, as a reader should give them for this kernel;
 * `cache` is 1 + i for tw_stream_cache_name(i) where the event tells a name.
 */
void tw_stream_random(struct tw *tw, const struct tw_stream *stream, struct km_event *ret_events);
const char *tw_stream_cache_name(unsigned i);

#endif
