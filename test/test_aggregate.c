/* SPDX-License-Identifier: GPL-2.0-only */
/* Small cases, one by one; test_aggregate_model.c has the random streams. */
#include "aggregate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "count_setup.h"
#include "testing.h"

#define SITE UINT64_C(0xffffffff81000000)
#define A    UINT64_C(0xffff888000001000)
#define B    UINT64_C(0xffff888000002000)

static struct km_event alloc_at(uint64_t time, uint64_t site, uint64_t ptr, uint64_t bytes)
{
	return (struct km_event){ .time = time,
				  .kind = KM_EVENT_KMALLOC,
				  .call_site = site,
				  .ptr = ptr,
				  .bytes_req = bytes,
				  .bytes_alloc = bytes,
				  .node = KM_NODE_ANY };
}

static struct km_event free_at(uint64_t time, uint64_t ptr)
{
	return (struct km_event){ .time = time, .kind = KM_EVENT_KFREE, .call_site = SITE + 0x5000, .ptr = ptr };
}

static struct km_row site_row(const struct count_setup *s, uint64_t site)
{
	struct km_row row = { 0 };

	for (size_t i = 0; i < km_aggregate_rows_count(s->aggregate, KM_AXIS_SITE); i++) {
		if (km_aggregate_site(s->aggregate, i) != site)
			continue;
		ck_assert_int_eq(km_aggregate_row(s->aggregate, KM_AXIS_SITE, i, false, &row), 0);
		return row;
	}
	ck_abort_msg("no site %" PRIx64, site);
	return row;
}

START_TEST(a_doubled_kmalloc_is_the_seconds_from_the_firsts_time_on)
{
	const struct km_event events[] = { alloc_at(100, SITE, A, 16384), alloc_at(150, SITE + 0x1000, A, 16384),
					   free_at(200, A), alloc_at(300, SITE, B, 8) };
	struct count_setup *s = count_set_up(NULL);
	struct km_row first, second;

	count_start(s, 0, false);
	count_run(s, events, 4);
	count_finish(s);
	first = site_row(s, SITE);
	second = site_row(s, SITE + 0x1000);
	ck_assert_uint_eq(first.sums.doubled_count, 1);
	ck_assert_uint_eq(first.level.peak_live_bytes, 8);
	ck_assert_uint_eq(first.level.peak_time, 300);
	ck_assert_uint_eq(first.sums.at_peak_bytes, 0);
	ck_assert_uint_eq(first.sums.total_allocated_bytes, 8);
	ck_assert_uint_eq(second.level.peak_live_bytes, 16384);
	ck_assert_uint_eq(second.level.peak_time, 100);
	ck_assert_uint_eq(second.sums.at_peak_bytes, 16384);
	ck_assert_uint_eq(second.sums.matched_frees_count, 1);
	count_tear_down(s);
}
END_TEST

/* The first moment of the most: an equal one later is none. */
START_TEST(the_global_peak_is_the_first_of_the_most_bytes)
{
	const struct km_event events[] = { alloc_at(100, SITE, A, 64), free_at(200, A),
					   alloc_at(300, SITE + 0x10, A, 32), alloc_at(400, SITE + 0x20, B, 32) };
	struct count_setup *s = count_set_up(NULL);
	struct km_row total = { 0 };

	count_start(s, 0, false);
	count_run(s, events, 4);
	count_finish(s);
	ck_assert_int_eq(km_aggregate_total(s->aggregate, &total), 0);
	ck_assert_uint_eq(total.level.peak_live_bytes, 64);
	ck_assert_uint_eq(total.level.peak_time, 100);
	ck_assert_uint_eq(total.level.peak_live_count, 2); /* with a time of its own */
	ck_assert_uint_eq(total.level.peak_count_time, 400);
	ck_assert_uint_eq(site_row(s, SITE).sums.at_peak_count, 1);
	ck_assert_uint_eq(site_row(s, SITE + 0x10).sums.at_peak_count, 0);
	count_tear_down(s);
}
END_TEST

START_TEST(a_failed_allocation_has_no_bytes)
{
	const struct km_event events[] = { alloc_at(100, SITE, 0, 4096) };
	struct count_setup *s = count_set_up(NULL);
	struct km_row row;

	count_start(s, 0, false);
	count_run(s, events, 1);
	count_finish(s);
	row = site_row(s, SITE);
	ck_assert_uint_eq(row.sums.allocs_count, 1);
	ck_assert_uint_eq(row.sums.failed_count, 1);
	ck_assert_uint_eq(row.sums.total_allocated_bytes, 0);
	ck_assert_uint_eq(row.level.peak_live_bytes, 0);
	ck_assert_int_eq(row.live_is, KM_LIVE_CONSISTENT);
	count_tear_down(s);
}
END_TEST

START_TEST(what_a_live_number_is)
{
	const struct km_event events[] = {
		/* Overflow at 30; a free of 0 seen; none of 10; an implied free at 20. */
		alloc_at(1, SITE, A, 512),
		free_at(2, A),
		alloc_at(3, SITE + 0x10, A, 1024),
		alloc_at(4, SITE + 0x20, B, 2048),
		alloc_at(5, SITE + 0x20, B, 2048),
		alloc_at(6, SITE + 0x30, A + 64, 8),
		free_at(7, B),
		alloc_at(8, SITE + 0x40, A + 128, 2048),
		free_at(9, A + 128),
		alloc_at(10, SITE + 0x50, 0, 64),
	};
	struct count_setup *s = count_set_up(NULL);
	struct km_row total = { 0 };

	count_start(s, 2, false);
	count_run(s, events, 10);
	count_finish(s);
	ck_assert_int_eq(site_row(s, SITE).live_is, KM_LIVE_CONSISTENT);
	ck_assert_int_eq(site_row(s, SITE + 0x10).live_is, KM_LIVE_UPPER_BOUND); /* no free of it */
	ck_assert_int_eq(site_row(s, SITE + 0x20).live_is, KM_LIVE_UPPER_BOUND); /* an implied one */
	ck_assert_int_eq(site_row(s, SITE + 0x30).live_is, KM_LIVE_UNCERTAIN);   /* overflow, and no free of it */
	ck_assert_int_eq(site_row(s, SITE + 0x40).live_is, KM_LIVE_UPPER_BOUND); /* an implied one at its cache */
	ck_assert_int_eq(site_row(s, SITE + 0x50).live_is, KM_LIVE_CONSISTENT);  /* nothing was to be freed */
	ck_assert_int_eq(km_aggregate_total(s->aggregate, &total), 0);
	ck_assert_int_eq(total.live_is, KM_LIVE_UNCERTAIN);
	ck_assert_str_eq(km_live_is_name(KM_LIVE_AT_LEAST), "at_least");
	count_tear_down(s);
}
END_TEST

START_TEST(overflow_where_frees_were_seen_is_at_least)
{
	const struct km_event events[] = { alloc_at(1, SITE, A, 64), free_at(2, A), alloc_at(3, SITE, A, 64),
					   alloc_at(4, SITE, B, 64), free_at(5, A) };
	struct count_setup *s = count_set_up(NULL);

	count_start(s, 1, false);
	count_run(s, events, 5);
	count_finish(s);
	ck_assert_int_eq(site_row(s, SITE).live_is, KM_LIVE_AT_LEAST);
	count_tear_down(s);
}
END_TEST

START_TEST(only_what_lived_across_a_loss_is_uncertain)
{
	const struct km_event lost = { .kind = KM_EVENT_LOST, .time = 10 };
	const struct km_event events[] = { alloc_at(1, SITE, A, 64),        free_at(2, A),
					   alloc_at(3, SITE + 0x10, B, 64), lost,
					   alloc_at(11, SITE, A, 64),       free_at(12, B) };
	struct count_setup *s = count_set_up(NULL), *keeps = count_set_up(NULL);

	count_start(s, 0, false);
	count_start(keeps, 0, false);
	km_aggregate_keep_on_loss(keeps->aggregate);
	count_run(s, events, 6);
	count_run(keeps, events, 6);
	count_finish(s);
	count_finish(keeps);
	ck_assert_int_eq(site_row(s, SITE).live_is, KM_LIVE_CONSISTENT);
	ck_assert_int_eq(site_row(s, SITE + 0x10).live_is, KM_LIVE_UNCERTAIN); /* though none lives any more */
	ck_assert_int_eq(site_row(keeps, SITE + 0x10).live_is, KM_LIVE_CONSISTENT);
	ck_assert_uint_eq(km_aggregate_replayed(s->aggregate)->holes_count, 1);
	/* A loss at no known time: whatever lives. */
	km_aggregate_set_loss(keeps->aggregate);
	ck_assert_int_eq(site_row(keeps, SITE).live_is, KM_LIVE_UNCERTAIN);
	ck_assert_int_eq(site_row(keeps, SITE + 0x10).live_is, KM_LIVE_CONSISTENT);
	count_tear_down(s);
	count_tear_down(keeps);
}
END_TEST

START_TEST(unmatched_frees_are_counted_by_cache)
{
	struct km_event free_filp = free_at(1, A), free_dentry = free_at(3, B);
	struct count_setup *s = count_set_up(NULL);

	free_filp.kind = free_dentry.kind = KM_EVENT_CACHE_FREE;
	free_filp.cache = 2;
	free_dentry.cache = 1;
	count_start(s, 0, false);
	count_run(s, (const struct km_event[]){ free_filp, alloc_at(2, SITE, A, 8), free_filp, free_dentry, free_filp },
		  5);
	count_finish(s);
	ck_assert_uint_eq(km_aggregate_unmatched_by_cache(s->aggregate, 2), 2);
	ck_assert_uint_eq(km_aggregate_unmatched_by_cache(s->aggregate, 1), 1);
	ck_assert_uint_eq(km_aggregate_unmatched_by_cache(s->aggregate, 3), 0);
	ck_assert_uint_eq(km_aggregate_unmatched_by_cache(s->aggregate, 1000000), 0);
	count_tear_down(s);
}
END_TEST

START_TEST(a_site_tells_its_caches)
{
	const struct km_event events[] = { alloc_at(1, SITE, A, 64), alloc_at(2, SITE, B, 8),
					   alloc_at(3, SITE, A + 64, 9000), alloc_at(4, SITE, A + 128, 8) };
	struct count_setup *s = count_set_up(NULL);
	const char *names[4];

	count_start(s, 0, false);
	count_run(s, events, 4);
	count_finish(s);
	ck_assert_uint_eq(km_aggregate_site_caches(s->aggregate, 0, names, 4), 3);
	ck_assert_str_eq(names[0], "kmalloc-64");
	ck_assert_str_eq(names[1], "kmalloc-8");
	ck_assert_str_eq(names[2], "kmalloc-large");
	count_tear_down(s);
}
END_TEST

/* --- names learnt at the free --- */

static struct km_event cache_event(enum km_event_kind kind, uint64_t time, uint64_t site, uint64_t ptr, uint32_t cache)
{
	bool is_free = kind == KM_EVENT_CACHE_FREE;

	return (struct km_event){ .time = time,
				  .kind = (uint8_t)kind,
				  .call_site = site,
				  .ptr = ptr,
				  .cache = cache,
				  .bytes_req = is_free ? 0 : 190,
				  .bytes_alloc = is_free ? 0 : 192 };
}

/* The cache that a row of caches, or of groups by cache, is of. */
static const char *row_cache(const struct count_setup *s, enum km_axis axis, size_t row)
{
	struct km_cell cell;

	if (axis == KM_AXIS_CACHE)
		return km_aggregate_cache(s->aggregate, row);
	km_selection_cell(&s->selection, KM_BY_CACHE, *km_aggregate_group(s->aggregate, row), &cell);
	return cell.text;
}

/* The row of the name with an allocation to it. */
static struct km_row cache_row(const struct count_setup *s, enum km_axis axis, const char *name)
{
	struct km_row row = { 0 };

	for (size_t i = 0; i < km_aggregate_rows_count(s->aggregate, axis); i++) {
		if (strcmp(row_cache(s, axis, i), name) != 0)
			continue;
		ck_assert_int_eq(km_aggregate_row(s->aggregate, axis, i, false, &row), 0);
		if (row.sums.allocs_count)
			return row;
	}
	ck_abort_msg("axis %u has no %s", axis, name);
	return row;
}

/* Objects that were counted as unnamed go to the cache of the name with all they are. */
START_TEST(what_was_unnamed_moves_to_its_name)
{
	const struct km_event events[] = { cache_event(KM_EVENT_CACHE_ALLOC, 1, SITE, A, 0),
					   cache_event(KM_EVENT_CACHE_ALLOC, 2, SITE, B, 0),
					   cache_event(KM_EVENT_CACHE_ALLOC, 3, SITE + 0x10, B + 256, 0),
					   cache_event(KM_EVENT_CACHE_FREE, 4, SITE, A, 2) };
	struct count_setup *s = count_set_up_kernel(TW_KERNEL_6_12);

	ck_assert_int_eq(km_by_parse("cache", &s->selection.by, NULL), 0);
	count_start(s, 0, false);
	count_run(s, events, 4);
	count_finish(s);
	for (enum km_axis axis = KM_AXIS_CACHE; axis <= KM_AXIS_GROUP; axis++) {
		struct km_row named = cache_row(s, axis, "filp"), unnamed = cache_row(s, axis, "(unnamed:192)");

		ck_assert_uint_eq(named.sums.allocs_count, 2);
		ck_assert_uint_eq(named.sums.matched_frees_count, 1);
		ck_assert_uint_eq(named.sums.live_bytes, 192);
		ck_assert_uint_eq(named.level.live_bytes, 192);
		ck_assert_uint_eq(named.level.peak_live_bytes, 384);
		ck_assert_uint_eq(named.level.peak_time, 2);
		ck_assert_uint_eq(unnamed.sums.allocs_count, 1);
		ck_assert_uint_eq(unnamed.level.live_bytes, 192);
	}
	count_tear_down(s);
}
END_TEST

/* Two caches of one name are one row, with the sums of both. */
static struct count_setup *count_named_late(bool is_settled)
{
	const struct km_event events[] = { cache_event(KM_EVENT_CACHE_ALLOC, 1, SITE, A, 0),
					   cache_event(KM_EVENT_CACHE_FREE, 2, SITE, A, 2),
					   cache_event(KM_EVENT_CACHE_ALLOC, 3, SITE, A, 0),
					   cache_event(KM_EVENT_CACHE_ALLOC, 4, SITE + 0x10, B, 0),
					   cache_event(KM_EVENT_CACHE_FREE, 5, SITE, B, 2) };
	struct count_setup *s = count_set_up_kernel(TW_KERNEL_6_12);

	for (unsigned pass = 0; pass < (is_settled ? 2 : 1); pass++) {
		km_aggregate_free(s->aggregate);
		km_replay_free(s->replay);
		count_start(s, 0, false);
		count_run(s, events, 5);
		count_finish(s);
		if (!pass)
			km_caches_settle(s->caches);
	}
	return s;
}

START_TEST(peaks_of_names_learnt_late_say_so)
{
	struct count_setup *once = count_named_late(false), *twice = count_named_late(true);
	struct km_row row;

	/* At 4 one object was live under its name and one without: 384 bytes, which nobody could know. */
	ck_assert_uint_eq(km_aggregate_rows_count(once->aggregate, KM_AXIS_CACHE), 1);
	ck_assert_int_eq(km_aggregate_row(once->aggregate, KM_AXIS_CACHE, 0, false, &row), 0);
	ck_assert(row.level.peak_live_bytes == 384 || !strcmp(km_level_peak_is(&row.level), "at_least"));
	ck_assert(row.level.peak_live_bytes == 384 || km_aggregate_has_inexact_peaks(once->aggregate));
	/* Known from the start the second time. */
	ck_assert_uint_eq(km_aggregate_rows_count(twice->aggregate, KM_AXIS_CACHE), 1);
	ck_assert_int_eq(km_aggregate_row(twice->aggregate, KM_AXIS_CACHE, 0, false, &row), 0);
	ck_assert_uint_eq(row.level.peak_live_bytes, 384);
	ck_assert_uint_eq(row.level.peak_time, 4);
	ck_assert_str_eq(km_level_peak_is(&row.level), "exact");
	ck_assert(!km_aggregate_has_inexact_peaks(twice->aggregate));
	count_tear_down(once);
	count_tear_down(twice);
}
END_TEST

/* --- samples --- */

#define TRIALS  300
#define SAMPLED 3000

/* Half of SAMPLED objects of 8 to 4096 bytes are freed again; returns the bytes of the others. */
static uint64_t make_sampled(uint64_t base, struct km_event *events)
{
	uint64_t live = 0;

	for (uint64_t i = 0; i < SAMPLED; i++) {
		uint64_t bytes = UINT64_C(8) << i % 10;

		events[i] = alloc_at(i, SITE + 0x10 * (i % 7), base + 4096 * i, bytes);
		if (i % 2)
			events[SAMPLED + i / 2] = free_at(SAMPLED + i, base + 4096 * i);
		else
			live += bytes;
	}
	return live;
}

/*
 * Over many sets of addresses estimates are right on average, and as far off
 * as their errors say: each is within them some 68 times out of 100.
 */
START_TEST(estimates_are_unbiased)
{
	struct km_event *events = calloc(SAMPLED + SAMPLED / 2, sizeof(*events));
	double bytes = 0, count = 0, matched = 0, squares = 0, errors = 0;
	unsigned within = 0;
	uint64_t live = 0;

	for (uint64_t trial = 0; trial < TRIALS; trial++) {
		struct count_setup *s = count_set_up(NULL);
		struct km_row total;
		double off;

		s->when_full = KM_WHEN_FULL_SAMPLE;
		live = make_sampled(A + (trial << 30), events);
		count_start(s, 200, false);
		count_run(s, events, SAMPLED + SAMPLED / 2);
		count_finish(s);
		ck_assert_int_eq(km_aggregate_total(s->aggregate, &total), 0);
		ck_assert_uint_eq(total.sums.allocs_count, SAMPLED);
		ck_assert_int_eq(total.live_is, KM_LIVE_ESTIMATED);
		off = (double)total.sums.live_bytes - (double)live;
		bytes += off;
		squares += off * off;
		errors += (double)total.live_error_bytes;
		within += fabs(off) <= (double)total.live_error_bytes;
		count += (double)total.sums.live_count - SAMPLED / 2;
		matched += (double)total.sums.matched_frees_count - SAMPLED / 2;
		count_tear_down(s);
	}
	free(events);
	/* One of some 16 addresses is kept: 94 of 1500, so +-10 % each and +-0.6 % on average; twice that is allowed.
	 */
	ck_assert_double_le(fabs(bytes / TRIALS), 0.025 * (double)live);
	ck_assert_double_le(fabs(count / TRIALS), 0.012 * SAMPLED / 2);
	ck_assert_double_le(fabs(matched / TRIALS), 0.012 * SAMPLED / 2);
	ck_assert_double_eq_tol(sqrt(squares / TRIALS) / (errors / TRIALS), 1, 0.15);
	ck_assert_uint_ge(within, TRIALS * 60 / 100);
	ck_assert_uint_le(within, TRIALS * 76 / 100);
}
END_TEST

/* What a halving found counts twice, and goes away whole; an error is the formula's. */
START_TEST(what_lived_through_a_halving_counts_twice)
{
	struct count_setup *s = count_set_up(NULL);
	struct km_event events[4];
	struct km_row row;
	uint64_t kept[2], out = A;

	for (unsigned i = 0; i < 2; i++) {
		kept[i] = i ? kept[0] + 64 : A;
		while (km_replay_hash_level(kept[i]) < 1)
			kept[i] += 64;
	}
	while (km_replay_hash_level(out) > 0)
		out += 64;
	s->when_full = KM_WHEN_FULL_SAMPLE;
	count_start(s, 2, false);
	events[0] = alloc_at(1, SITE, kept[0], 64);
	events[1] = alloc_at(2, SITE + 0x10, out, 512);
	events[2] = alloc_at(3, SITE, kept[1], 32); /* full: `out` is purged */
	events[3] = free_at(9, kept[0]);
	count_run(s, events, 4);
	count_finish(s);
	row = site_row(s, SITE);
	ck_assert_uint_eq(row.sums.live_bytes, 64);
	ck_assert_uint_eq(row.sums.live_count, 2);
	ck_assert_uint_eq(row.sums.matched_frees_count, 2);
	ck_assert_uint_eq(row.kept.matched_count, 1);
	ck_assert_uint_eq(row.level.peak_live_bytes, 192);
	ck_assert_uint_eq(row.live_error_bytes, 46); /* sqrt(2 * 1 * 32 * 32) */
	ck_assert_uint_eq(row.live_error_count, 2);  /* sqrt(2), to the next whole one */
	ck_assert_uint_eq(row.bounds.live_bytes.min, 32);
	ck_assert_uint_eq(row.bounds.live_bytes.max, 64);
	ck_assert_int_eq(row.live_is, KM_LIVE_ESTIMATED);
	ck_assert_str_eq(km_row_peak_is(&row), "estimated");
	row = site_row(s, SITE + 0x10);
	ck_assert_uint_eq(row.sums.live_bytes, 0);
	ck_assert_uint_eq(row.kept.purged_bytes, 512);
	ck_assert(row.error_is_unknown);
	ck_assert_uint_eq(row.bounds.live_bytes.max, 512);
	count_tear_down(s);
}
END_TEST

/* Until the table is full nothing is an estimate. */
START_TEST(a_sample_that_is_not_full_is_exact)
{
	const struct km_event events[] = { alloc_at(1, SITE, A, 64), alloc_at(2, SITE, B, 64), free_at(3, A) };
	struct count_setup *s = count_set_up(NULL);
	struct km_row row;

	s->when_full = KM_WHEN_FULL_SAMPLE;
	count_start(s, 2, false);
	count_run(s, events, 3);
	count_finish(s);
	row = site_row(s, SITE);
	ck_assert(!row.is_estimate);
	ck_assert_int_eq(row.live_is, KM_LIVE_CONSISTENT);
	ck_assert_uint_eq(row.live_error_bytes, 0);
	ck_assert_uint_eq(row.bounds.live_bytes.max, 64);
	count_tear_down(s);
}
END_TEST

START_TEST(live_is_of_two)
{
	ck_assert_int_eq(km_live_is_of_both(KM_LIVE_CONSISTENT, KM_LIVE_CONSISTENT), KM_LIVE_CONSISTENT);
	ck_assert_int_eq(km_live_is_of_both(KM_LIVE_CONSISTENT, KM_LIVE_AT_LEAST), KM_LIVE_AT_LEAST);
	ck_assert_int_eq(km_live_is_of_both(KM_LIVE_UPPER_BOUND, KM_LIVE_UPPER_BOUND), KM_LIVE_UPPER_BOUND);
	ck_assert_int_eq(km_live_is_of_both(KM_LIVE_UPPER_BOUND, KM_LIVE_AT_LEAST), KM_LIVE_UNCERTAIN);
	ck_assert_int_eq(km_live_is_of_both(KM_LIVE_UPPER_BOUND, KM_LIVE_ESTIMATED), KM_LIVE_ESTIMATED);
	ck_assert_int_eq(km_live_is_of_both(KM_LIVE_ESTIMATED, KM_LIVE_UNCERTAIN), KM_LIVE_UNCERTAIN);
}
END_TEST

START_TEST(nothing_at_all)
{
	struct count_setup *s = count_set_up("site");
	struct km_row total = { 0 };

	count_start(s, 0, false);
	count_finish(s);
	ck_assert_int_eq(km_aggregate_total(s->aggregate, &total), 0);
	ck_assert_uint_eq(total.sums.allocs_count, 0);
	for (enum km_axis axis = 0; axis <= KM_AXIS_GROUP; axis++)
		ck_assert_uint_eq(km_aggregate_rows_count(s->aggregate, axis), 0);
	count_tear_down(s);
	km_aggregate_free(NULL);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_doubled_kmalloc_is_the_seconds_from_the_firsts_time_on,
		the_global_peak_is_the_first_of_the_most_bytes,
		a_failed_allocation_has_no_bytes,
		what_a_live_number_is,
		overflow_where_frees_were_seen_is_at_least,
		only_what_lived_across_a_loss_is_uncertain,
		unmatched_frees_are_counted_by_cache,
		a_site_tells_its_caches,
		what_was_unnamed_moves_to_its_name,
		peaks_of_names_learnt_late_say_so,
		estimates_are_unbiased,
		what_lived_through_a_halving_counts_twice,
		a_sample_that_is_not_full_is_exact,
		live_is_of_two,
		nothing_at_all,
		NULL,
	};

	return km_test_main("aggregate", tests, 60);
}
