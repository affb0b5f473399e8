/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * text_line: one line of trace text as fields: what the kernel's trace and
 * trace_pipe files, `trace-cmd report` and `perf script` print, and what a
 * boot log keeps of it. Pure: no I/O, no memory; every slice points into the
 * line.
 */
#ifndef KM_TEXT_LINE_H
#define KM_TEXT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

#define KM_TEXT_PID_NONE (-1) /* the line names no task */

struct km_text_slice {
	const char *p; /* not NUL-terminated */
	size_t bytes;
};

enum km_text_kind {
	KM_TEXT_OTHER,  /* not an event */
	KM_TEXT_EVENT,  /* an event of another kind, with a name */
	KM_TEXT_SLAB,   /* one of the six slab events; `fault` says if its fields can not be used */
	KM_TEXT_MARK,   /* a print event, as trace_marker writes; `payload` is its text */
	KM_TEXT_LOST,   /* events of `cpu` were lost; lost_count 0: how many is not told */
	KM_TEXT_HEADER, /* a line that tells of the whole text; see the fields at the end */
};

enum km_text_pointer {
	KM_TEXT_POINTER_NULL,
	KM_TEXT_POINTER_VALUE,    /* an address, or the number that stands for it */
	KM_TEXT_POINTER_WITHHELD, /* "(____ptrval____)": the same for every object */
};

struct km_text_line {
	enum km_text_kind kind;
	bool has_time;
	bool is_ticks;           /* the time is a plain integer, else it is in ns */
	bool is_perf;            /* spelled as perf does: system:event, `comm pid` */
	enum km_event_kind slab; /* of a slab event */
	uint64_t time;           /* 0 where there is none */
	unsigned cpu;            /* 0 where there is none */
	bool has_cpu;
	int32_t pid;               /* KM_TEXT_PID_NONE where there is none */
	struct km_text_slice comm; /* empty where it is not known */
	/* The instance, which trace-cmd puts before the task when it reports several; else empty. */
	struct km_text_slice buffer;
	struct km_text_slice name; /* of the event, without its system */
	struct km_text_slice payload;

	const char *fault; /* why a slab event can not be used; NULL */
	enum km_text_pointer pointer;
	uint64_t ptr;
	unsigned ptr_digits;        /* as printed, without 0x */
	struct km_text_slice site;  /* for km_text_site_parse() */
	struct km_text_slice gfp;   /* names joined by '|', or a number; may be empty */
	struct km_text_slice cache; /* may be empty */
	uint64_t bytes_req, bytes_alloc;
	int16_t node; /* KM_NODE_ANY where there is none */
	bool has_node;

	uint64_t lost_count;

	/* KM_TEXT_HEADER: */
	uint32_t cpus_count; /* of "#P:2" and "cpus=2"; 0 if it is not this line that tells */
	bool has_entries;    /* "# entries-in-buffer/entries-written: N/M" */
	uint64_t entries_count, written_count;
	bool starts_cpu; /* "##### CPU 1 buffer started ####": events before were overwritten; `cpu` is set */
};

/* line without its newline. Sets all of *ret_line and returns its kind. */
enum km_text_kind km_text_line_parse(const char *line, size_t bytes, struct km_text_line *ret_line);

/* A call site as it is written: `fn+0x47/0x50 [module]`, `fn+0x47`, `(fn+0x47) call_site=c104deff`, an address. */
struct km_text_site {
	bool has_symbol;
	struct km_text_slice name;
	struct km_text_slice module; /* without brackets; empty for the kernel */
	uint64_t offset;
	bool has_address;
	uint64_t address;
};

/* 1: *ret_site is set. 0: neither a symbol nor an address. */
int km_text_site_parse(const char *text, size_t bytes, struct km_text_site *ret_site);

#endif
