/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracedat_private: what tracedat.c (walking) and tracedat_options.c
 * (meaning of options) share. Nobody else includes it.
 */
#ifndef KM_TRACEDAT_PRIVATE_H
#define KM_TRACEDAT_PRIVATE_H

#include "event.h"
#include "tracedat.h"

#define KM_TRACEDAT_CPUS_LIMIT KM_CPU_LIMIT

/* Option ids, man trace-cmd.dat.v7; the first eight are version 6's too. */
enum {
	OPTION_DATE = 1,
	OPTION_CPUSTAT = 2,
	OPTION_BUFFER = 3,
	OPTION_TRACECLOCK = 4,
	OPTION_UNAME = 5,
	OPTION_HOOK = 6,
	OPTION_OFFSET = 7,
	OPTION_CPUCOUNT = 8,
	OPTION_VERSION = 9,
	OPTION_PROCMAPS = 10,
	OPTION_TRACEID = 11,
	OPTION_TIME_SHIFT = 12,
	OPTION_GUEST = 13,
	OPTION_TSC2NSEC = 14,
	OPTION_STRINGS = 15,
	OPTION_HEADER_INFO = 16,
	OPTION_FTRACE_EVENTS = 17,
	OPTION_EVENT_FORMATS = 18,
	OPTION_KALLSYMS = 19,
	OPTION_PRINTK = 20,
	OPTION_CMDLINES = 21,
	OPTION_BUFFER_TEXT = 22,
};

struct walker {
	struct km_tracedat *file;
	struct km_error *error;
	uint64_t offset; /* the next byte */
	uint64_t window_offset;
	size_t window_bytes;
	uint8_t window[4096];

	/* Noted while options are read, used behind them. */
	bool has_header_info;
	uint64_t header_info_offset;
	struct {
		uint16_t id;
		uint64_t offset;
		struct km_tracedat_block *block;
	} sections[8];
	size_t sections_count;
	struct {
		uint64_t offset;
		char *name;
	} * v6_instances;
	size_t v6_instances_count;
	char *stat_buffer; /* the buffer that CPUSTAT options are about; NULL: the top one */
	struct {
		char *buffer; /* NULL: the top one */
		struct km_tracedat_stat stat;
	} * stats;
	size_t stats_count;
};

static inline bool km_tracedat_page_bytes_ok(uint32_t bytes)
{
	return bytes >= 64 && bytes <= KM_TRACEDAT_PAGE_LIMIT && !(bytes & (bytes - 1));
}

/* tracedat.c */
struct km_tracedat_buffer *km_tracedat_add_buffer(struct km_tracedat *file, const char *name, const char *clock,
						  uint32_t page_bytes);
int km_tracedat_add_cpu(struct km_tracedat_buffer *buffer, unsigned cpu, uint64_t offset, uint64_t bytes);

/* tracedat_options.c: one option's payload (data has no NUL behind it in version 7). 0 or negative errno. */
int km_tracedat_option(struct walker *w, uint16_t id, const char *data, size_t bytes);
/* Of tracefs's trace_clock, "local [global] counter", the one in brackets, malloc'd. 1, 0 if none is, -ENOMEM. */
int km_tracedat_clock_name(struct walker *w, const char *data, size_t bytes, char **ret_name);
/* Behind the last option: give each buffer its statistics. */
int km_tracedat_finish_options(struct walker *w);
void km_tracedat_walker_free(struct walker *w);

#endif
