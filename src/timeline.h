/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timeline: live bytes and objects over time, of the whole selection and of
 * each call site or group, in at most N intervals of equal length however
 * long the trace is. It takes events and what the replay made of them; it
 * does not replay, and it knows no names.
 *
 * An interval is 2^k units of the clock wide. When the trace goes on behind
 * the last one, pairs are merged and k grows by one: the lowest and the
 * highest of two intervals are those of both, so every peak is kept exactly,
 * and only its place becomes coarser (not that of the whole selection's: its
 * moment is kept). There are more than N / 2 of them in the end, unless the
 * trace has fewer units than N, or rows need so much memory that more is
 * merged.
 *
 * One kmalloc that is told twice (replay.h) is its second's call site's from
 * the first event on, and the first's at no time. So what comes between the
 * two is held back until it is known; at most KM_TIMELINE_HELD_LIMIT events.
 *
 * A mended pair (mend.h) changes sums of frees; what was live in between
 * stays as the replay saw it.
 */
#ifndef KM_TIMELINE_H
#define KM_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate.h"
#include "event.h"
#include "replay.h"

#define KM_TIMELINE_POINTS_LEAST   2
#define KM_TIMELINE_POINTS_LIMIT   65536
#define KM_TIMELINE_POINTS_DEFAULT 512
#define KM_TIMELINE_HELD_LIMIT     65536

/* What was live in one interval: bytes given, and objects. */
struct km_timeline_span {
	uint64_t lowest_bytes, peak_bytes, live_bytes; /* live: at its end; the others count its beginning */
	uint64_t lowest_count, peak_count, live_count;
};

/* One interval, of the whole selection. */
struct km_timeline_point {
	struct km_timeline_span span;
	uint64_t peak_time; /* the first moment of peak_bytes in it */
	/* As in struct km_sums. */
	uint64_t allocs_count, matched_frees_count, implied_frees_count;
	uint64_t overflowed_count, overflowed_bytes;
	uint64_t lost_count; /* events, as far as the recording tells how many */
	/* A CPU lost events in it: between its last slab event before them and its first one behind. */
	bool is_lost;
};

struct km_timeline_options {
	unsigned points_limit;                /* N, KM_TIMELINE_POINTS_LEAST to KM_TIMELINE_POINTS_LIMIT */
	enum km_axis axis;                    /* of the rows: KM_AXIS_SITE or KM_AXIS_GROUP */
	unsigned cpu_limit;                   /* above the highest CPU number */
	uint64_t start_time;                  /* of the trace: the first interval begins there */
	const struct km_selection *selection; /* borrowed: or where its allocations begin, if that is later */
};

struct km_timeline;

struct km_timeline *km_timeline_new(const struct km_timeline_options *options); /* NULL when out of memory */
void km_timeline_free(struct km_timeline *timeline);

/* Events in the order of the replay, with their keys and outcomes. Returns 0 or -ENOMEM. */
int km_timeline_account(struct km_timeline *timeline, const struct km_aggregate *aggregate,
			const struct km_event *events, const uint32_t *keys, const struct km_outcome *outcomes,
			size_t count);
/* The replay's table was halved (KM_WHEN_FULL_SAMPLE): everything is what is in it now. Returns 0 or -ENOMEM. */
int km_timeline_halve(struct km_timeline *timeline, const struct km_aggregate *aggregate,
		      const struct km_replay_hash *table, uint64_t time);
/* The last moment. Nothing is accounted after it. Returns 0 or -ENOMEM. */
int km_timeline_finish(struct km_timeline *timeline, uint64_t end_time);

/* --- results, after km_timeline_finish() --- */

/* At least one. Borrowed. */
const struct km_timeline_point *km_timeline_points(const struct km_timeline *timeline, size_t *ret_count);
/* When an interval begins, and where it ends: at the next one's beginning, the last one at the end of it all. */
uint64_t km_timeline_begin(const struct km_timeline *timeline, size_t point);
uint64_t km_timeline_end(const struct km_timeline *timeline, size_t point);
/* One row of the axis, as km_aggregate_row() counts them: a span for each point into spans. */
void km_timeline_row(const struct km_timeline *timeline, size_t row, struct km_timeline_span *spans);

#endif
