/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reader_perf_private: what reader_perf*.c share: the reader itself. The
 * events and what the file says of itself are in reader_perf_describe.c, what
 * a record means in reader_perf_records.c, opening and reading in
 * reader_perf.c. Nobody else includes it.
 */
#ifndef KM_READER_PERF_PRIVATE_H
#define KM_READER_PERF_PRIVATE_H

#include "intern.h"
#include "perfdata_ahead.h"
#include "perfdata_order.h"
#include "perfdata_records.h"
#include "reader.h"
#include "running_kernel.h"
#include "slab_record.h"
#include "task_names.h"

/* One file of a recording: the only one, a piece of it, or one of its directory. */
struct perf_input {
	struct km_perfdata *file; /* owned, but in a directory all have that of the first */
	struct km_source *source; /* borrowed */
	struct km_perfdata_records *records;
	int pending; /* what opening met and reading has to tell: KM_NEXT_DAMAGED or _CUT */
	bool is_over;
	/* In a directory, which has no rounds: */
	uint64_t horizon;      /* everything up to here was met, but for a few out of their place */
	uint64_t latest;       /* time of its samples */
	uint64_t round_latest; /* the same when the round began that is being read */
	unsigned cpu;          /* of its last sample */
	uint32_t round;
	uint32_t *rounds; /* by CPU: the last one that had samples of it */
};

struct perf_reader {
	struct km_reader base;
	struct km_slab_names names;
	struct perf_input *inputs;
	size_t inputs_count, input; /* the one being read, whose are: */
	struct km_perfdata *file;
	struct km_perfdata_records *records;
	bool is_directory;
	struct km_buffer_info buffer;
	char format_name[32], kernel_name[512], generator[128];
	bool only_counts;
	bool has_pages;

	bool is_fresh;                /* the records stand where the first start begins */
	bool is_scanned;              /* the head was: what events there are is fixed */
	bool has_formats;             /* the tracing data was looked through */
	struct km_error format_error; /* a slab event's format that can not be used */
	struct {
		uint16_t id;
		bool is_taken; /* an attr has it */
		struct km_slab_layout layout;
	} layouts[KM_EVENT_KINDS];
	size_t layouts_count;
	size_t attrs_resolved;

	unsigned threads;
	struct km_perfdata_ahead *ahead;   /* NULL: where there is no thread for it */
	struct km_perfdata_bundle *bundle; /* being read */
	bool must_limit;                   /* too much waits in the order */
	bool has_first_out;                /* the first bundle was made: */
	uint64_t first_out;                /* the first time that was known then */
	struct km_perfdata_order *order;
	struct km_task_names *tasks;
	bool is_over, is_cut;
	bool has_lost_samples;
	uint64_t lost_samples_nowhere; /* of a CPU not told */
	uint64_t sequence;             /* stands for the time where there is none */
	size_t unflushed;
	uint64_t complete_time; /* in a directory: what was complete when that was last looked at */
	uint64_t piece_first;   /* time of the first sample of the piece before */
	bool piece_has_first;   /* this piece's was met */

	struct km_buffer_stats stats;
	struct km_cpu_loss *losses; /* by CPU, buffer.cpu_limit */
	uint64_t *last_times;       /* likewise */
	bool *is_met;               /* likewise: the CPU exists */
	struct km_cpu_loss *cpus;   /* those that do */
	char first_skipped[160], first_damage[160];
	struct km_event_count *event_counts;
	struct km_symbols *symbols;
	struct km_kernel_identity kernel; /* hostname, release and build id are filled in when it is asked for */
	struct km_module_map *modules;    /* kernel.modules; maps of modules before the first sample */
};

/* --- reader_perf_describe.c --- */

/* Formats and events come in any order: bring together what is there. Returns 0 or -ENOMEM. */
int km_reader_perf_resolve(struct perf_reader *r, struct km_error *error);
/* The format and the period of the slab events: can live numbers be had from them? Errors: -ENOTSUP, -EBADMSG. */
int km_reader_perf_check(struct perf_reader *r, struct km_error *error);
/* Fills base.info and buffer from what the file says. */
void km_reader_perf_describe(struct perf_reader *r);
/* For km_reader_ops. */
const struct km_event_count *km_reader_perf_event_counts(struct km_reader *base, size_t *ret_count);

/* --- reader_perf_records.c --- */

/* What one record means. Returns 0 or a negative errno. */
int km_reader_perf_handle(struct perf_reader *r, const struct km_perfdata_record *record, struct km_error *error);
/* Those that describe the recording, and nothing else. */
int km_reader_perf_handle_header(struct perf_reader *r, const struct km_perfdata_record *record,
				 struct km_error *error);
/* What was left out here: a gap on every CPU. */
int km_reader_perf_put_damage(struct perf_reader *r, struct km_error *error);
/* The first damage, for the statistics. */
void km_reader_perf_note(const struct perf_reader *r, char *text, size_t bytes, const char *what, uint64_t offset);
/* A sample was met, whether it can be used or not. Returns 0, or -EINVAL: pieces are not in their order. */
int km_reader_perf_count_sample(struct perf_reader *r, unsigned cpu, uint64_t time, struct km_error *error);

#endif
