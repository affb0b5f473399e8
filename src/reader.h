/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reader: recordings as batches of struct km_event in time order, whatever
 * their format. A reader bids from the first bytes of a source; the highest
 * bid opens it. Adding a format is a new reader_*.c and a row in reader.c's
 * table.
 *
 * A reader hands out only the slab events, losses and wanted marks and pages; it
 * counts everything else. Order: each CPU's own order is kept; CPUs are
 * merged by time, equal times in the order of CPU numbers and flagged
 * KM_EVENT_TIED. It does not replay and does not print.
 */
#ifndef KM_READER_H
#define KM_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "event.h"
#include "gfp.h"
#include "source.h"
#include "symbols.h"

enum km_clock_unit { KM_CLOCK_NS, KM_CLOCK_TICKS };

/* The slab events carry different fields on different kernels. */
enum km_trace_feature {
	KM_TRACE_ALLOC_NAMES = 1 << 0, /* kmem_cache_alloc names its cache (6.18 on) */
	KM_TRACE_FREE_NAMES = 1 << 1,  /* kmem_cache_free does (5.12 on) */
	KM_TRACE_NODES = 1 << 2,       /* the node asked for is recorded */
};

struct km_buffer_info {
	const char *name;  /* "" for the top one */
	const char *clock; /* "" if the recording does not say */
	enum km_clock_unit unit;
	bool clock_is_coherent; /* comparable between CPUs; false for `local` and where it is not known */
	uint32_t page_bytes;
	size_t cpus_count;  /* with a place in the file */
	unsigned cpu_limit; /* above the highest CPU number */
};

struct km_trace_info {
	const char *format;    /* "trace.dat 7 (zstd)" */
	const char *kernel;    /* uname: "Linux host 6.12.1 x86_64", or NULL */
	const char *generator; /* what wrote the file, or NULL */
	bool big_endian;
	unsigned word_bytes; /* the kernel's: 4 or 8 */
	uint32_t page_bytes;
	uint32_t cpus_count; /* of the machine */
	unsigned features;   /* enum km_trace_feature */
	bool is_cut_short;
	bool frees_are_late;      /* kmem_cache_free is traced after the free: kernels before 5.16 */
	bool keeps_order;         /* events come in the file's own order: no tie is to be resolved */
	bool symbols_are_running; /* symbols(): /proc/kallsyms, as the recorded kernel still runs here */
	bool has_site_names;      /* call sites have names of their own: km_reader_site_name() */
	bool pointers_are_hashed; /* numbers that stand for addresses: they pair within one boot, no more */
	bool is_per_task;         /* only some tasks' events: objects that others free seem to live */
	bool leaves_out_cpus;     /* only some CPUs' events: the same */
	bool cpus_are_unknown;    /* events do not tell their CPU: all are on 0 */
	int64_t time_offset_ns;   /* added by `trace-cmd report` to what it prints */
	uint64_t unknown_options_count;
	const struct km_buffer_info *buffers;
	size_t buffers_count;
};

/* What a recording lost on one CPU. */
struct km_cpu_loss {
	unsigned cpu;
	bool start_lost;               /* its first page follows a loss */
	uint64_t holes_count;          /* later pages that follow one */
	uint64_t stored_count;         /* events lost, summed over the marks that tell a number */
	uint64_t uncounted_gaps_count; /* marks that tell none */
	bool has_statistics;           /* the recorder's own, as follow */
	uint64_t overrun_count, commit_overrun_count, dropped_count;
	uint64_t damaged_count; /* pages or chunks that could not be read and were left out */
	bool is_cut;            /* data are missing at the end of the file */
	uint64_t events_count;  /* of any kind */
};

/* A kind of event met, by name. */
struct km_event_count {
	char name[64];
	uint16_t id;
	uint64_t count;
};

/* What one buffer held, complete once km_reader_read() returned 0. */
struct km_buffer_stats {
	bool has_events;
	uint64_t first_time, last_time;       /* of any event */
	uint64_t events_count;                /* of any kind */
	uint64_t slab_counts[KM_EVENT_KINDS]; /* as handed out, by kind */
	uint64_t skipped_count;               /* slab events too short or impossible: left out */
	uint64_t other_lines_count;           /* lines of a text that are no events */
	uint64_t backwards_count;             /* times before those of an earlier event of their CPU: taken as equal */
	uint64_t throttled_count;             /* times that the kernel paused an event for being too frequent */
	uint64_t forced_count; /* times that events were handed out before all CPUs' were in, for lack of memory */
	const struct km_cpu_loss *cpus;
	size_t cpus_count;
	const char *first_skipped; /* why the first slab event was left out, with its place; NULL */
	const char *first_damage;  /* the first damaged page or chunk, with its place; NULL */
};

struct km_reader_options {
	bool only_counts; /* hand out no events, count them all: formats that can not be used are no error */
	unsigned threads; /* to read with; 0: as many as there are CPUs to run on */
	/*
	 * km_reader_comm() is asked only when everything was read. Else a reader
	 * whose tasks get their names while it reads does not read ahead.
	 */
	bool names_at_end;
	bool has_pages;       /* hand out mm_page_alloc and mm_page_free too, where a binary recording has them */
	const char *marks[2]; /* texts of trace_marker events to hand out as KM_EVENT_MARK; NULL: none */
};

struct km_reader;

/*
 * source is taken over on success and borrowed until then.
 * Errors: -ENOTSUP no reader knows the format (error says what the file
 * looks like), else as the reader's open.
 */
int km_reader_open(struct km_source *source, const struct km_reader_options *options, struct km_reader **ret_reader,
		   struct km_error *error);
void km_reader_close(struct km_reader *reader);

/* How a further file belongs to a recording. */
enum km_reader_part {
	KM_PART_BEHIND, /* it was written behind those before it (perf record --switch-output) */
	KM_PART_BESIDE, /* at the same time, by another thread (perf record --threads); it holds records only */
};
/*
 * A further file of the same recording, before the first km_reader_start().
 * source is taken over on success. Errors: -ENOTSUP recordings of this format
 * are one file; -EINVAL it is of another recording; -ENOMEM; as opening.
 */
int km_reader_add(struct km_reader *reader, struct km_source *source, enum km_reader_part part, struct km_error *error);

const struct km_trace_info *km_reader_info(const struct km_reader *reader);

/* Begin, or begin again, with one buffer. */
int km_reader_start(struct km_reader *reader, size_t buffer, struct km_error *error);
/* The next events, at most `capacity`. Returns their number, 0 at the end, or a negative errno. */
int km_reader_read(struct km_reader *reader, struct km_event *events, size_t capacity, struct km_error *error);

/* How far a reader is; bytes of the file as it is stored. total_bytes: 0 for a stream. */
struct km_reader_progress {
	uint64_t bytes, total_bytes;
	uint64_t events_count; /* handed out, over all passes */
};
/* May be asked from any thread, while the reader is open. */
struct km_reader_progress km_reader_progress(const struct km_reader *reader);

/* The time of the buffer's first event of any kind: known from the first read on. 1, or 0 if there is none. */
int km_reader_first_time(struct km_reader *reader, uint64_t *ret_time);
/* What was met of the started buffer so far. To be asked for at the end: it may slow down what is still to be read. */
const struct km_buffer_stats *km_reader_stats(struct km_reader *reader);

/* Every kind of event of the started buffer met so far, most first, then by name. Borrowed until the next call. */
const struct km_event_count *km_reader_event_counts(struct km_reader *reader, size_t *ret_count);

/*
 * The times of a buffer's first and last event of any kind, without reading
 * it through. Resets what was started. 1: set. 0: no events. -ENOTSUP where
 * the source can only be read once.
 */
int km_reader_time_range(struct km_reader *reader, size_t buffer, uint64_t *ret_first, uint64_t *ret_last,
			 struct km_error *error);

/* Borrowed from the reader. "" where there is no name. */
const char *km_reader_cache_name(const struct km_reader *reader, uint32_t cache);
/* How many cache names were met: numbers run from 1 to this. */
uint32_t km_reader_cache_count(const struct km_reader *reader);
/* The recording's last name of a task; "<...>" if it has none, "<idle>" for 0. */
const char *km_reader_comm(struct km_reader *reader, int32_t pid);
/* The recording's own symbols; loaded at the first call. NULL and error set if they can not be read, every time. */
struct km_symbols *km_reader_symbols(struct km_reader *reader, struct km_error *error);
/* 1: the recording itself names that call site (text does, addresses are made up then). 0: it is an address. */
int km_reader_site_name(const struct km_reader *reader, uint64_t call_site, struct km_symbol *ret_symbol);
const struct km_gfp *km_reader_gfp(const struct km_reader *reader);

/* --- for readers --- */

/* How many threads the options mean. */
unsigned km_reader_threads(const struct km_reader_options *options);

/* "Linux NODE RELEASE ...": 5.10 is 5010; 0 if it is not told. */
unsigned km_kernel_release(const char *uname);

#define KM_READER_HEAD_BYTES 16384

struct km_reader_ops {
	const char *name;
	bool reads_streams; /* from a source that can only be read forward */
	/* 0: not mine; higher: surer. head holds the source's first bytes, up to KM_READER_HEAD_BYTES. */
	int (*bid)(const uint8_t *head, size_t bytes);
	int (*open)(struct km_source *source, const struct km_reader_options *options, struct km_reader **ret_reader,
		    struct km_error *error);
	/* May be NULL: a recording is one file. */
	int (*add)(struct km_reader *reader, struct km_source *source, enum km_reader_part part,
		   struct km_error *error);
	void (*close)(struct km_reader *reader);
	int (*start)(struct km_reader *reader, size_t buffer, struct km_error *error);
	int (*read)(struct km_reader *reader, struct km_event *events, size_t capacity, struct km_error *error);
	int (*time_range)(struct km_reader *reader, size_t buffer, uint64_t *ret_first, uint64_t *ret_last,
			  struct km_error *error);                       /* may be NULL */
	int (*first_time)(struct km_reader *reader, uint64_t *ret_time); /* NULL: that of stats() */
	const struct km_buffer_stats *(*stats)(struct km_reader *reader);
	const struct km_event_count *(*event_counts)(struct km_reader *reader, size_t *ret_count);
	const char *(*comm)(struct km_reader *reader, int32_t pid);
	struct km_symbols *(*symbols)(struct km_reader *reader, struct km_error *error);
	int (*site_name)(const struct km_reader *reader, uint64_t call_site,
			 struct km_symbol *ret_symbol); /* may be NULL */
};

/* A reader's own struct begins with this. */
struct km_reader {
	const struct km_reader_ops *ops;
	struct km_source *source; /* set by km_reader_open(), closed behind ops->close */
	struct km_source **parts; /* those that were added, likewise */
	size_t parts_count;
	struct km_trace_info info;
	struct km_gfp gfp;
	struct km_intern *cache_names; /* made by the reader's open, freed by km_reader_close() */
	_Atomic uint64_t events_read;  /* handed out by km_reader_read() */
	struct km_error symbols_error; /* why there are none: they are not tried again */
};

extern const struct km_reader_ops km_reader_tracedat;
extern const struct km_reader_ops km_reader_text;
extern const struct km_reader_ops km_reader_perf;

#endif
