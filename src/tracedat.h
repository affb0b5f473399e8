/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracedat: the container of a trace.dat file, versions 6 and 7: what
 * sections it has and where, its options, and each CPU's pages as they come
 * out of the compressed chunks. It does not decode pages or events.
 *
 * Formats: man 5 trace-cmd.dat.v6 and trace-cmd.dat.v7 (trace-cmd's
 * Documentation/trace-cmd). Every number from the file is checked against
 * the file's size or a limit below before it is used.
 */
#ifndef KM_TRACEDAT_H
#define KM_TRACEDAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decompress.h"
#include "error.h"
#include "event_format.h"
#include "source.h"

#define KM_TRACEDAT_BUFFERS_LIMIT 1024
#define KM_TRACEDAT_PAGE_LIMIT    (1U << 26) /* bytes of a sub-buffer */
#define KM_TRACEDAT_SECTION_LIMIT (1U << 30) /* bytes of an uncompressed section */
#define KM_TRACEDAT_CHUNK_LIMIT   (1U << 26) /* bytes of a chunk, compressed or not */

/* Where a block of text or a table is, for reading it when it is wanted. */
struct km_tracedat_block {
	bool present;
	uint64_t offset;      /* of the compressed or plain data in the file */
	uint64_t bytes;       /* in the file */
	uint64_t plain_bytes; /* decompressed */
	bool compressed;
};

/* A CPUSTAT option: per_cpu/cpuN/stats of tracefs, as numbers. */
struct km_tracedat_stat {
	unsigned cpu;
	bool has_overrun;
	uint64_t overrun;
	uint64_t commit_overrun;
	uint64_t dropped_events;
};

struct km_tracedat_cpu {
	unsigned cpu;
	uint64_t offset;
	uint64_t bytes; /* in the file, compressed or not */
};

struct km_tracedat_buffer {
	char *name;  /* "" for the top one */
	char *clock; /* "" if the file does not say */
	uint32_t page_bytes;
	struct km_tracedat_cpu *cpus;
	size_t cpus_count;
	struct km_tracedat_stat *stats;
	size_t stats_count;
};

struct km_tracedat {
	struct km_source *source; /* borrowed */
	unsigned version;
	bool big_endian;
	unsigned user_long_bytes;
	uint32_t page_bytes;
	enum km_compression compression;
	char *compression_name;
	struct km_decompressor *decompressor;
	char *uname;       /* NULL if there is none */
	char *generator;   /* trace-cmd's version, or NULL */
	char *clock;       /* from the TRACECLOCK option, or NULL */
	bool has_tsc2nsec; /* ns = time * mult >> shift, as `trace-cmd report` has it: without the offset */
	uint32_t tsc_mult, tsc_shift;
	uint64_t tsc_offset;
	bool has_time_offset; /* OFFSET option: ns added by `trace-cmd report` */
	int64_t time_offset_ns;
	bool has_date_offset; /* DATE option */
	uint32_t cpus_count;  /* CPUCOUNT option, or the header's */
	struct km_page_header page_header;
	struct km_tracedat_block ftrace_formats, event_formats, kallsyms, cmdlines;
	struct km_tracedat_buffer *buffers;
	size_t buffers_count;
	uint64_t unknown_options_count, unknown_sections_count;
	bool is_cut_short; /* a section or CPU reaches behind the end of the file */
	bool has_latency;  /* a text buffer, which holds no records */
};

/* 1 if the bytes begin a trace.dat file, else 0. Wants 10 bytes or more. */
int km_tracedat_probe(const uint8_t *head, size_t bytes);

/*
 * Walk the container. source is borrowed and must outlive the result.
 * Errors: -EBADMSG (damaged, with the offset), -ENOTSUP (a version or
 * compression that is not known), -ENOMEM, read errors.
 */
int km_tracedat_open(struct km_source *source, struct km_tracedat **ret_file, struct km_error *error);
void km_tracedat_close(struct km_tracedat *file);

/*
 * A block's plain bytes, malloc'd with a NUL behind them. An absent block
 * gives NULL and 0 bytes and returns 0.
 */
int km_tracedat_load(struct km_tracedat *file, const struct km_tracedat_block *block, char **ret_data,
		     size_t *ret_bytes, struct km_error *error);

/*
 * Calls visit for every event format of a formats block's plain bytes
 * (`system` is "ftrace" for the ftrace block). Stops early when visit
 * returns other than 0 and returns that; -EBADMSG when the table itself is
 * damaged (what was whole was visited).
 */
int km_tracedat_each_format(const struct km_tracedat *file, bool ftrace, const char *data, size_t bytes,
			    int (*visit)(void *context, const char *system, const char *text, size_t text_bytes),
			    void *context);

/*
 * kallsyms and cmdlines blocks begin with their size, which is not part of
 * the text. The text is borrowed from data.
 */
const char *km_tracedat_block_text(const struct km_tracedat *file, const char *data, size_t bytes, unsigned size_bytes,
				   size_t *ret_bytes);

/* One CPU's pages in order. */
struct km_tracedat_pages;

/*
 * buffer_bytes: how much to read at once where the file is not compressed.
 * NULL when out of memory.
 */
struct km_tracedat_pages *km_tracedat_pages_new(struct km_tracedat *file, const struct km_tracedat_buffer *buffer,
						const struct km_tracedat_cpu *cpu, size_t buffer_bytes);
void km_tracedat_pages_free(struct km_tracedat_pages *pages);

enum km_pages_result {
	KM_PAGES_END,     /* no more */
	KM_PAGES_PAGE,    /* *ret_page is a whole page, borrowed until the next call */
	KM_PAGES_DAMAGED, /* a chunk could not be decompressed and was left out; go on */
	KM_PAGES_CUT,     /* the data end before the size that the file tells; only KM_PAGES_END follows */
};

/* The page behind the one handed out last, if it is in hand already; else NULL. */
const uint8_t *km_tracedat_pages_peek(const struct km_tracedat_pages *pages);

/* Negative errno with error set if reading failed. */
int km_tracedat_pages_next(struct km_tracedat_pages *pages, const uint8_t **ret_page, struct km_error *error);

/*
 * Go to the last `blocks` blocks (chunks; pages where the file is not
 * compressed). 1: there are more before them; 0: this is the start.
 */
int km_tracedat_pages_seek_tail(struct km_tracedat_pages *pages, uint64_t blocks, struct km_error *error);
/* Offset in the file of what was read last, for messages. */
uint64_t km_tracedat_pages_offset(const struct km_tracedat_pages *pages);

#endif
