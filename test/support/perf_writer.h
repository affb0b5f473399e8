/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_writer: builds perf.data files in memory, in file and in pipe mode,
 * laid out as perf record does (tools/perf/Documentation/
 * perf.data-file-format.txt; perf_event_open(2) for samples). Records come out in the
 * order of the calls: rounds and rings are the caller's business.
 *
 * It is not a recorder and checks little: a misuse ends the test with
 * abort(), and so does running out of memory.
 */
#ifndef KM_PERF_WRITER_H
#define KM_PERF_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "trace_formats.h"

enum pw_compression { PW_PLAIN, PW_COMPRESSED, PW_COMPRESSED2 };

enum pw_omit {
	PW_OMIT_TRACING = 1 << 0,
	PW_OMIT_FEATURES = 1 << 1, /* but the tracing data */
	PW_OMIT_ID_INDEX = 1 << 2,
	PW_OMIT_DATA_SIZE = 1 << 3, /* file mode: the recording never ended */
};

/* All zero is a valid choice: file mode, little endian, 64 bits, one CPU, Linux 6.18, perf's usual sample_type. */
struct pw_options {
	bool is_pipe;
	bool big_endian;
	unsigned long_bytes; /* 0: 8 */
	enum tw_kernel kernel;
	unsigned cpus; /* 0: 1 */
	enum pw_compression compression;
	size_t chunk_bytes; /* of plain records in a compressed one, cut anywhere; 0: all until the next round */
	uint64_t sample_type;
	uint64_t read_format;
	unsigned attr_bytes;    /* 0: 128 */
	uint64_t sample_period; /* 0: 1 */
	bool freq;
	bool enable_on_exec;
	bool no_sample_id_all;
	bool per_task; /* in the ids' index */
	bool use_clockid;
	int32_t clockid;
	unsigned omit;            /* enum pw_omit */
	const char *command_line; /* words between blanks; NULL: a plausible one */
};

struct pw;

struct pw *pw_new(const struct pw_options *options);
void pw_free(struct pw *pw);

/* The id that a slab event, or sched_switch (TW_FORMAT_SCHED_SWITCH), has on a CPU. */
uint64_t pw_id(const struct pw *pw, enum tw_format_kind kind, unsigned cpu);

/* A sample of any of the six slab kinds. cache_name: NULL is "". */
void pw_event(struct pw *pw, const struct km_event *e, const char *cache_name);
/* Of sched_switch. */
void pw_other(struct pw *pw, unsigned cpu, uint64_t time, int32_t pid);
/* A sample of a kmalloc with these raw data instead of an event's. */
void pw_raw(struct pw *pw, unsigned cpu, uint64_t time, const void *raw, uint32_t bytes);
void pw_round(struct pw *pw);
void pw_lost(struct pw *pw, unsigned cpu, uint64_t time, uint64_t count);
void pw_lost_samples(struct pw *pw, unsigned cpu, uint64_t count, uint16_t misc);
void pw_throttle(struct pw *pw, enum tw_format_kind kind, unsigned cpu, uint64_t time);
void pw_comm(struct pw *pw, unsigned cpu, uint64_t time, int32_t pid, const char *name);
void pw_fork(struct pw *pw, unsigned cpu, uint64_t time, int32_t pid, int32_t parent);
/* AUX data: bytes that are no records. */
void pw_aux(struct pw *pw, const void *data, uint64_t bytes);
/* Bytes as they are, between records, never compressed. */
void pw_bytes(struct pw *pw, const void *data, size_t bytes);

/* The file; once. The caller frees it. */
void *pw_finish(struct pw *pw, size_t *ret_bytes);

#endif
