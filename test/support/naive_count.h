/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * naive_count: the counting of src/aggregate.c over again, in two passes:
 * one finds out whose each object is in the end, so that the other can count
 * a doubled kmalloc at its second from the first's time on without ever
 * having to take anything back. An object counts 2^k times, k being the
 * halvings of the table so far. Every number is kept for every label, and
 * all of them are copied at every new peak.
 */
#ifndef KM_NAIVE_COUNT_H
#define KM_NAIVE_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate.h"
#include "event.h"
#include "naive_model.h"

#define NAIVE_LABEL_BYTES 96
#define NAIVE_AXES        3 /* enum km_axis */

struct naive_tally {
	char label[NAIVE_LABEL_BYTES];
	struct km_sums sums;
	struct km_kept kept; /* but for the squares */
	uint64_t peak_live_bytes, peak_time, peak_live_count, peak_count_time;
	uint64_t lifetimes_count, lifetime_min, lifetime_max;
	bool has_survivors;
	uint64_t oldest_time, newest_time;
};

struct naive_freer {
	uint64_t call_site;
	uint64_t matched_count, unmatched_count, null_count, sampled_out_count;
};

struct naive_count {
	struct naive_tally total;
	struct naive_tally *tallies[NAIVE_AXES];
	size_t tallies_count[NAIVE_AXES];
	struct naive_freer *freers;
	size_t freers_count;
};

struct naive_labels {
	/* NULL: all are. */
	bool (*is_selected)(const void *context, const struct km_event *alloc);
	/* At most NAIVE_LABEL_BYTES. */
	void (*label)(const void *context, enum km_axis axis, const struct km_event *alloc, char *ret_label);
	const void *context;
};

/* results[i] is what naive_play() said of events[i]; halvings are those of the same model. */
struct naive_count *naive_count_new(const struct km_event *events, const struct naive_result *results, size_t count,
				    const struct naive_labels *labels, const struct naive_halving *halvings,
				    size_t halvings_count);
void naive_count_free(struct naive_count *count);

/* NULL if there is none. */
const struct naive_tally *naive_count_find(const struct naive_count *count, enum km_axis axis, const char *label);

#endif
