/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * analysis: one buffer of one recording, read, replayed and counted. It runs
 * the pipeline reader -> tie order -> replay -> aggregate and holds what
 * came of it for the reports. It does not write and does not print.
 */
#ifndef KM_ANALYSIS_H
#define KM_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate.h"
#include "balance.h"
#include "caches.h"
#include "detail.h"
#include "error.h"
#include "filter.h"
#include "health.h"
#include "leaks.h"
#include "naming.h"
#include "reader.h"
#include "replay.h"
#include "selection.h"
#include "sizes.h"
#include "slab_aliases.h"
#include "slab_check.h"
#include "slabinfo.h"
#include "timeline.h"

/* What happens to objects that live while events are lost. */
enum km_on_loss {
	KM_ON_LOSS_TAINT, /* counted on, and marked uncertain: the default */
	KM_ON_LOSS_KEEP,  /* counted on as if nothing were */
	KM_ON_LOSS_RESET, /* forgotten */
};

struct km_analysis_options {
	const struct km_filter *filter; /* borrowed; NULL: everything */
	struct km_by_list by;
	const char *kallsyms;
	bool raw_ip;
	uint64_t objects_count; /* 0: auto */
	uint64_t max_memory_bytes;
	enum km_when_full when_full;
	bool has_sizes;        /* find out what tables of other sizes would have seen; objects_count is 0 */
	bool has_detail;       /* tally sizes, tasks and freeing sites of the selection */
	bool has_leaks;        /* judge the selection's sites */
	bool has_page_frees;   /* look for objects whose pages were freed: the reader hands out pages */
	unsigned points_limit; /* of a timeline of the selection; 0: none */
	const struct km_slab_aliases *aliases; /* of the recorded machine; borrowed; NULL: not known */
	/* Compare with these; borrowed; NULL: not given. --time is the window of both, other filters are not looked at.
	 */
	const struct km_slabinfo *slabinfo_before, *slabinfo_after;
	/*
	 * Called for every slab event with what became of it (may be NULL).
	 * key: of a selected allocation, else 0. Other than 0 stops; negative is an error.
	 */
	int (*visit)(void *context, const struct km_event *event, uint32_t key, const struct km_outcome *outcome,
		     struct km_error *error);
	void *visit_context;
	struct km_analysis **ret_running; /* set before the first visit: what names and counts come from; may be NULL */
	enum km_on_loss on_loss;
	bool has_reorder_window;
	uint64_t reorder_window_ns; /* else by the clock and the kernel */
	bool stops_at_until;        /* end at --time's end: the table stays as it is then */
};

struct km_analysis {
	struct km_reader *reader; /* borrowed */
	const struct km_trace_info *info;
	const struct km_buffer_info *buffer;
	const struct km_buffer_stats *stats;
	struct km_analysis_options options;
	struct km_selection selection;
	struct km_naming *naming;
	struct km_caches *caches;
	struct km_replay *replay;
	struct km_mend *mend;                               /* NULL where no window is open */
	uint64_t reorder_window, reorder_cache_free_window; /* in the clock's unit */
	struct km_aggregate *aggregate;
	struct km_health health;
	struct km_sizes *sizes;           /* NULL unless has_sizes */
	struct km_detail *detail;         /* NULL unless has_detail */
	struct km_leaks *leaks;           /* NULL unless has_leaks */
	struct km_page_frees *page_frees; /* NULL unless has_page_frees */
	struct km_timeline *timeline;     /* NULL without points_limit */
	struct km_balance *balance;       /* NULL unless slabinfo_before */
	struct km_slab_check slab_check;  /* with rows only if slabinfo_before */
	uint64_t start_time;              /* of the first event of any kind: time 0 */
	uint64_t end_time;                /* of the last one, or --time's end: what ages count to */
	bool has_slab_events;
};

/* The bound of an enlarged table: the smallest of RAM, the control groups' limits, by four, and 4 GiB. */
uint64_t km_analysis_default_max_memory(void);

/*
 * Run it on one buffer. Errors: of the reader, -ENOMEM, -ENOSPC, -EINVAL
 * (a mark of --time that is not in the trace).
 */
int km_analysis_run(struct km_reader *reader, size_t buffer, const struct km_analysis_options *options,
		    struct km_analysis **ret_analysis, struct km_error *error);
void km_analysis_free(struct km_analysis *analysis);

/* 1 if a buffer holds a slab event, 0 if not, negative errno. Reads up to the first one. */
int km_analysis_has_slab(struct km_reader *reader, size_t buffer, struct km_error *error);

#endif
