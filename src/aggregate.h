/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * aggregate: counts what the replay did, for the whole selection, per call
 * site, per slab cache and per --by group. It gives allocations the keys
 * that the replay's table keeps, and takes the replay's outcomes.
 *
 * A key is a (call site, cache node, group). Sums are kept per key and added
 * up when they are asked for; what does not add up, a group's own peak, is
 * counted for each site, cache and group as it happens. An allocation that
 * the filter leaves out has a key too, which only tells its cache's node: an
 * implied free of it is evidence about the cache all the same.
 *
 * Of a replay that samples (replay.h), allocations and their bytes are
 * counted as they are; matched and implied frees, lifetimes, and all that is
 * about live objects are estimates: an object that is kept counts 2^k times.
 * Live sums are doubled at each halving, so that they are 2^k times what the
 * table holds at any moment. What was really counted is kept beside them
 * (struct km_kept).
 *
 * It does not read, replay, or write anything.
 */
#ifndef KM_AGGREGATE_H
#define KM_AGGREGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "caches.h"
#include "error.h"
#include "event.h"
#include "histogram.h"
#include "mend.h"
#include "page_frees.h"
#include "replay.h"
#include "selection.h"

#define KM_SITES_LIMIT (1U << 18)
#define KM_KEYS_LIMIT  (1U << 21)
#define KM_SITE_OTHERS UINT64_MAX /* call site that stands for all beyond the limit */

/* A key of an allocation that the filter leaves out: the node of its cache is in the other bits. */
#define KM_KEY_LEFT_OUT (UINT32_C(1) << 31)

/* Whether a key of the table stands for an allocation of the selection. */
static inline bool km_key_is_selected(uint32_t key)
{
	return key && !(key & KM_KEY_LEFT_OUT);
}

/* Sums. All of them add up over keys. */
struct km_sums {
	uint64_t allocs_count; /* every alloc event: failed, doubled and overflowed ones too */
	uint64_t failed_count, doubled_count, overflowed_count, tracked_count;
	uint64_t overflowed_bytes;
	uint64_t total_allocated_bytes, total_requested_bytes; /* of tracked and overflowed objects */
	uint64_t matched_frees_count, implied_frees_count;
	uint64_t reset_count;           /* forgotten at a loss (--on-loss reset) */
	uint64_t cross_cpu_frees_count; /* freed on another CPU than allocated */
	uint64_t live_count, live_bytes, live_requested_bytes;
	uint64_t page_freed_count;             /* of live_count: their pages were freed since (page_frees.h) */
	uint64_t at_peak_count, at_peak_bytes; /* at the moment of the global peak */
	bool is_uncertain;                     /* events were lost while objects of it lived */
};

/*
 * Beside the sums, of a replay that samples: objects and events, not
 * estimates. All of it adds up over keys.
 *
 *   allocs  = failed + doubled + overflowed + tracked + out
 *   tracked = matched + implied + reset + live + purged
 */
struct km_kept {
	uint64_t out_count, out_bytes;       /* allocations sampled out */
	uint64_t purged_count, purged_bytes; /* tracked objects that a halving took out */
	uint64_t matched_count, implied_count, reset_count;
	uint64_t live_count, live_bytes;
	double live_squares; /* sum of the squares of what is live, bytes */
};

/* What a live number is. */
enum km_live_is { KM_LIVE_CONSISTENT, KM_LIVE_UPPER_BOUND, KM_LIVE_AT_LEAST, KM_LIVE_UNCERTAIN, KM_LIVE_ESTIMATED };
const char *km_live_is_name(enum km_live_is is); /* "consistent", "upper_bound", ... */
const char *km_live_mark(enum km_live_is is);    /* for people, in front of the number: "", "<=", ">=", "?", "~" */

/* What the sum of two such numbers is. */
static inline enum km_live_is km_live_is_of_both(enum km_live_is a, enum km_live_is b)
{
	if (a == KM_LIVE_UNCERTAIN || b == KM_LIVE_UNCERTAIN)
		return KM_LIVE_UNCERTAIN;
	if (a == KM_LIVE_ESTIMATED || b == KM_LIVE_ESTIMATED)
		return KM_LIVE_ESTIMATED;
	return a == b || !b ? a : !a ? b : KM_LIVE_UNCERTAIN;
}

/* What a number may really be. */
struct km_bounds {
	uint64_t min, max;
	bool max_is_unknown; /* then max is 0 */
};

/*
 * What a number of live objects may really be, when the table says `value`
 * and `overflowed` more were never in it. is_lost: events were lost while
 * objects of it lived; only looked at where live_is is uncertain.
 *   consistent   value
 *   upper_bound  0 to value: frees go untraced, so any object may be gone
 *   at_least     value to value + overflowed: any of those may live
 *   uncertain    from 0; to what nobody knows where events were lost, else,
 *                where it is both of the last two, to value + overflowed
 *   estimated    0 to what nobody knows, unless more than value is known of
 *                it (struct km_row_bounds)
 */
struct km_bounds km_live_bounds(enum km_live_is live_is, bool is_lost, uint64_t value, uint64_t overflowed);

/* What is counted as it happens. peak_is: "exact", "at_least" or "at_most". */
struct km_level {
	uint64_t live_count, live_bytes;
	uint64_t peak_live_bytes, peak_time; /* first moment of most live bytes */
	uint64_t peak_live_count, peak_count_time;
	/* The peak is exact unless it is below this: then it is that at most and at least what it says (names learnt
	 * late). */
	uint64_t peak_bound_bytes, peak_bound_count;
	bool peak_is_over; /* objects that were counted here turned out to belong elsewhere */
};

const char *km_level_peak_is(const struct km_level *level);

struct km_row;
/* The same of a row: "estimated" too. */
const char *km_row_peak_is(const struct km_row *row);

/* What live numbers of a row and its peak may really be. */
/*
 * Of an estimate: what was kept lives, unless frees go untraced, and of what
 * was sampled out or purged any may live. The peak is at most all that was
 * ever allocated. The estimate itself is never outside.
 */
struct km_row_bounds {
	struct km_bounds live_bytes, live_count;
	/*
	 * A peak is a live number of some moment, and bounded as such, around
	 * what peak_is says: at_least the peak to its bound, at_most 0 to the
	 * peak. It is never below what surely lives at the end.
	 */
	struct km_bounds peak_live_bytes, peak_live_count;
};

/* One row: a site, a cache, a group, or the whole selection. */
struct km_row {
	struct km_sums sums;
	struct km_level level;
	struct km_histogram lifetimes; /* of matched frees; owned by the row */
	bool has_survivors;
	uint64_t oldest_time, newest_time;
	enum km_live_is live_is;
	bool is_lost;     /* it is uncertain since events were lost */
	bool is_upper;    /* not every free is traced */
	bool is_estimate; /* some of it was not in the sample, or stands for more than it was */
	struct km_kept kept;
	/*
	 * Standard errors of live_bytes and live_count: with all of size b that
	 * is live in the table, the square root of 2^k (2^k - 1) sum b^2, b being
	 * 1 for the count (Horvitz and Thompson's estimate of the variance where
	 * each is kept by itself with 2^-k). Not known of an estimate of none.
	 */
	uint64_t live_error_bytes, live_error_count;
	bool error_is_unknown;
	struct km_row_bounds bounds;
	size_t sites_count; /* of a cache or group: call sites that allocated */
};

/* Freeing side: events only, a free tells no size. */
struct km_freer {
	uint64_t call_site;
	uint64_t matched_count, unmatched_count, null_count, sampled_out_count;
};

/* The whole replay, whatever is selected. */
struct km_replayed {
	uint64_t alloc_events_count, free_events_count;
	uint64_t failed_count, doubled_count, overflowed_count, tracked_count;
	uint64_t matched_frees_count, implied_frees_count, null_frees_count, unmatched_frees_count;
	uint64_t holes_count;
	uint64_t reset_count;
	uint64_t sampled_out_count, sampled_out_frees_count, purged_count;
	uint64_t unmatched_frees_estimate; /* unmatched_frees_count, each 2^k times */
};

enum km_axis { KM_AXIS_SITE, KM_AXIS_CACHE, KM_AXIS_GROUP };

struct km_aggregate;

/* selection is borrowed, with all that it points to. ties to one replay. */
int km_aggregate_new(struct km_selection *selection, unsigned cpu_limit, struct km_aggregate **ret_aggregate,
		     struct km_error *error);
void km_aggregate_free(struct km_aggregate *aggregate);

/* keys[i] for events[i]: what the replay's table keeps; 0 for what is no allocation. */
int km_aggregate_keys(struct km_aggregate *aggregate, const struct km_event *events, size_t count, uint32_t *keys,
		      struct km_error *error);
int km_aggregate_account(struct km_aggregate *aggregate, const struct km_event *events, const uint32_t *keys,
			 const struct km_outcome *outcomes, size_t count, struct km_error *error);
/* Where outcomes that mend earlier ones have their notes; borrowed. */
void km_aggregate_use_mend(struct km_aggregate *aggregate, const struct km_mend *mend);
/* The replay samples: to be said before the first event. */
void km_aggregate_use_sample(struct km_aggregate *aggregate);
/* Halve the replay's table, and count what that does. time: of the event that found it full. */
void km_aggregate_halve(struct km_aggregate *aggregate, struct km_replay *replay, uint64_t time);
/* Evidence that objects were freed; borrowed. */
void km_aggregate_use_page_frees(struct km_aggregate *aggregate, const struct km_page_frees *frees);
/* Losses make nothing uncertain. */
void km_aggregate_keep_on_loss(struct km_aggregate *aggregate);
/* Events were lost at an unknown time, or at the end: what is live is uncertain. */
void km_aggregate_set_loss(struct km_aggregate *aggregate);
/*
 * The moment that the report is about: looks at what is live in the table.
 * Nothing more is accounted to the selection; the whole replay's counts and
 * freers go on if km_aggregate_account() is still called.
 */
int km_aggregate_finish(struct km_aggregate *aggregate, const struct km_replay_hash *table, struct km_error *error);
bool km_aggregate_is_finished(const struct km_aggregate *aggregate);

/* --- results, after km_aggregate_finish() --- */

const struct km_replayed *km_aggregate_replayed(const struct km_aggregate *aggregate);
const struct km_freer *km_aggregate_freers(const struct km_aggregate *aggregate, size_t *ret_count);
/* Unmatched frees that named this cache (km_event.cache). */
uint64_t km_aggregate_unmatched_by_cache(const struct km_aggregate *aggregate, uint32_t cache);

/* Of the selection: live objects whose pages were freed since. */
uint64_t km_aggregate_page_freed_count(const struct km_aggregate *aggregate);

/* Rows of an axis: 0 to this. */
size_t km_aggregate_rows_count(const struct km_aggregate *aggregate, enum km_axis axis);
/*
 * Fill a row; release it with km_row_release(). lifetimes: whether its
 * histogram is wanted. Returns 0 or -ENOMEM.
 */
int km_aggregate_row(const struct km_aggregate *aggregate, enum km_axis axis, size_t index, bool lifetimes,
		     struct km_row *ret_row);
/*
 * The whole selection. Its bounds of live numbers are the sums of the sites':
 * what is doubtful at one of them does not make the others so.
 */
int km_aggregate_total(const struct km_aggregate *aggregate, struct km_row *ret_row);
void km_row_release(struct km_row *row);

/* What a row is: a call site; the root of a cache; the values of a group. */
uint64_t km_aggregate_site(const struct km_aggregate *aggregate, size_t index);
const char *km_aggregate_cache(const struct km_aggregate *aggregate, size_t index);
uint64_t km_aggregate_cache_object_bytes(const struct km_aggregate *aggregate, size_t index);
const uint64_t *km_aggregate_group(const struct km_aggregate *aggregate, size_t index);
/* Names of the caches that a site used, sorted; at most `limit`. Returns how many there are. */
size_t km_aggregate_site_caches(const struct km_aggregate *aggregate, size_t index, const char **names, size_t limit);

/*
 * Whether a cache or group has a peak that is not exact, since names were
 * learnt when objects of it had lived already.
 */
bool km_aggregate_has_inexact_peaks(const struct km_aggregate *aggregate);

/* What an object's key stands for; false for one that is not selected. */
bool km_aggregate_key(const struct km_aggregate *aggregate, uint32_t key, uint64_t *ret_call_site,
		      const char **ret_cache);
/* The node of km_caches that an allocation's key belongs to, selected or not. */
uint32_t km_aggregate_key_node(const struct km_aggregate *aggregate, uint32_t key);
/* The row of KM_AXIS_SITE that a selected allocation's key belongs to. */
uint32_t km_aggregate_key_site(const struct km_aggregate *aggregate, uint32_t key);
/* Likewise that of KM_AXIS_GROUP, as long as no name of its cache is learnt. Only with --by. */
uint32_t km_aggregate_key_group(const struct km_aggregate *aggregate, uint32_t key);

#endif
