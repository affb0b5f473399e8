/* SPDX-License-Identifier: GPL-2.0-only */
/* Each case through replay, mend and counting, in batches of every size, and with what must add up added up. */
#include "mend.h"

#include <stdlib.h>

#include "count_setup.h"
#include "naive_model.h"
#include "testing.h"

#define OLD_SITE    UINT64_C(0xffffffff81000010) /* of the object that is there first */
#define YOUNG_SITE  UINT64_C(0xffffffff81001010)
#define OTHER_SITE  UINT64_C(0xffffffff81002010)
#define FREER       UINT64_C(0xffffffff81005010) /* of the pair's free */
#define OTHER_FREER UINT64_C(0xffffffff81006010)
#define A           UINT64_C(0xffff888000001000)
#define B           UINT64_C(0xffff888000002000)
#define WINDOW      1000

static struct km_event alloc(uint64_t time, uint16_t cpu, uint64_t site, uint64_t ptr)
{
	return (struct km_event){ .time = time,
				  .kind = KM_EVENT_CACHE_ALLOC,
				  .cpu = cpu,
				  .call_site = site,
				  .ptr = ptr,
				  .bytes_req = 60,
				  .bytes_alloc = 64,
				  .cache = 1,
				  .node = KM_NODE_ANY };
}

static struct km_event kfree(uint64_t time, uint16_t cpu, uint64_t site, uint64_t ptr)
{
	return (struct km_event){ .time = time, .kind = KM_EVENT_KFREE, .cpu = cpu, .call_site = site, .ptr = ptr };
}

static struct km_event cache_free(uint64_t time, uint16_t cpu, uint64_t site, uint64_t ptr)
{
	struct km_event e = kfree(time, cpu, site, ptr);

	e.kind = KM_EVENT_CACHE_FREE;
	e.cache = 1;
	return e;
}

struct mended {
	struct count_setup *setup;
	struct km_mend *mend;
	struct km_row total;
	const struct km_replayed *replayed;
};

static struct km_row row_of(const struct count_setup *s, uint64_t site)
{
	struct km_row row = { 0 };

	for (size_t i = 0; i < km_aggregate_rows_count(s->aggregate, KM_AXIS_SITE); i++) {
		if (km_aggregate_site(s->aggregate, i) == site)
			ck_assert_int_eq(km_aggregate_row(s->aggregate, KM_AXIS_SITE, i, true, &row), 0);
	}
	return row;
}

static struct km_sums sums_of(const struct count_setup *s, uint64_t site)
{
	struct km_row row = row_of(s, site);

	km_row_release(&row); /* its sums stay */
	return row.sums;
}

static struct km_freer freer_of(const struct count_setup *s, uint64_t site)
{
	struct km_freer none = { 0 };
	size_t count;
	const struct km_freer *freers = km_aggregate_freers(s->aggregate, &count);

	for (size_t i = 0; i < count; i++) {
		if (freers[i].call_site == site)
			return freers[i];
	}
	return none;
}

static void check_row(const struct km_row *row)
{
	const struct km_sums *s = &row->sums;

	ck_assert_uint_eq(s->allocs_count, s->failed_count + s->doubled_count + s->overflowed_count + s->tracked_count);
	ck_assert_uint_eq(s->tracked_count, s->matched_frees_count + s->implied_frees_count + s->live_count);
	ck_assert_uint_le(s->cross_cpu_frees_count, s->matched_frees_count);
	ck_assert_uint_eq(s->live_bytes, 64 * s->live_count);
	ck_assert_uint_eq(s->live_requested_bytes, 60 * s->live_count);
}

/* What holds whatever was mended. */
static void check_identities(const struct mended *m)
{
	const struct km_replayed *r = m->replayed;
	const struct count_setup *s = m->setup;
	uint64_t live = km_replay_table(s->replay)->count;
	uint64_t matched = 0, unmatched = 0, null = 0, site_matched = 0, site_implied = 0, site_live = 0;
	size_t count;
	const struct km_freer *freers = km_aggregate_freers(s->aggregate, &count);

	for (size_t i = 0; i < count; i++) {
		matched += freers[i].matched_count;
		unmatched += freers[i].unmatched_count;
		null += freers[i].null_count;
	}
	ck_assert_uint_eq(matched, r->matched_frees_count);
	ck_assert_uint_eq(unmatched, r->unmatched_frees_count);
	ck_assert_uint_eq(null, r->null_frees_count);
	ck_assert_uint_eq(r->free_events_count, null + matched + unmatched);
	ck_assert_uint_eq(r->alloc_events_count,
			  r->failed_count + r->doubled_count + r->overflowed_count + r->tracked_count);
	ck_assert_uint_eq(r->tracked_count, r->matched_frees_count + r->implied_frees_count + live);
	check_row(&m->total);
	ck_assert_uint_eq(m->total.sums.matched_frees_count, r->matched_frees_count);
	ck_assert_uint_eq(m->total.sums.implied_frees_count, r->implied_frees_count);
	ck_assert_uint_eq(m->total.sums.live_count, live);
	for (size_t i = 0; i < km_aggregate_rows_count(s->aggregate, KM_AXIS_SITE); i++) {
		struct km_row row;

		ck_assert_int_eq(km_aggregate_row(s->aggregate, KM_AXIS_SITE, i, true, &row), 0);
		check_row(&row);
		ck_assert_uint_eq(row.lifetimes.count, row.sums.matched_frees_count);
		site_matched += row.sums.matched_frees_count;
		site_implied += row.sums.implied_frees_count;
		site_live += row.sums.live_count;
		km_row_release(&row);
	}
	ck_assert_uint_eq(site_matched, r->matched_frees_count);
	ck_assert_uint_eq(site_implied, r->implied_frees_count);
	ck_assert_uint_eq(site_live, live);
}

static struct mended mend_options(const struct km_mend_options *options, const struct km_event *events, size_t count,
				  size_t batch)
{
	struct mended m = { .setup = count_set_up(NULL), .mend = km_mend_new(options) };
	struct count_setup *s = m.setup;
	struct km_outcome *outcomes = calloc(batch, sizeof(*outcomes));
	uint32_t *keys = calloc(batch, sizeof(*keys));

	count_start(s, 0, false);
	km_aggregate_use_mend(s->aggregate, m.mend);
	for (size_t at = 0; at < count; at += batch) {
		size_t n = count - at < batch ? count - at : batch;

		ck_assert_int_eq(km_aggregate_keys(s->aggregate, events + at, n, keys, NULL), 0);
		km_replay_run(s->replay, events + at, keys, n, outcomes);
		ck_assert_int_eq(km_mend_run(m.mend, events + at, outcomes, n), 0);
		ck_assert_int_eq(km_aggregate_account(s->aggregate, events + at, keys, outcomes, n, NULL), 0);
	}
	count_finish(s);
	ck_assert_int_eq(km_aggregate_total(s->aggregate, &m.total), 0);
	m.replayed = km_aggregate_replayed(s->aggregate);
	check_identities(&m);
	free(outcomes);
	free(keys);
	return m;
}

static void tear_down(struct mended *m)
{
	km_row_release(&m->total);
	count_tear_down(m->setup);
	km_mend_free(m->mend);
}

struct wanted {
	uint64_t mends, matched, implied, unmatched, live;
};

/* In batches of every size: a candidate lives from batch to batch, a note does not have to. */
static void expect_options(const struct km_mend_options *options, const struct km_event *events, size_t count,
			   struct wanted wanted)
{
	for (size_t batch = 1; batch <= count; batch++) {
		struct mended m = mend_options(options, events, count, batch);

		ck_assert_uint_eq(km_mend_count(m.mend), wanted.mends);
		ck_assert_uint_eq(m.replayed->matched_frees_count, wanted.matched);
		ck_assert_uint_eq(m.replayed->implied_frees_count, wanted.implied);
		ck_assert_uint_eq(m.replayed->unmatched_frees_count, wanted.unmatched);
		ck_assert_uint_eq(m.total.sums.live_count, wanted.live);
		tear_down(&m);
	}
}

static const struct km_mend_options any_pair = { .window = WINDOW };

static void expect(const struct km_event *events, size_t count, struct wanted wanted)
{
	expect_options(&any_pair, events, count, wanted);
}

#define EXPECT(events, ...) expect(events, sizeof(events) / sizeof((events)[0]), (struct wanted){ __VA_ARGS__ })

/* --- an allocation at a live address, then its free --- */

START_TEST(a_late_free_is_mended_if_a_free_is_next)
{
	const struct km_event events[] = { alloc(1000, 0, OLD_SITE, A), alloc(5000, 1, YOUNG_SITE, A),
					   kfree(5400, 0, FREER, A), kfree(9000, 1, OTHER_FREER, A) };

	EXPECT(events, .mends = 1, .matched = 2);
}
END_TEST

START_TEST(a_late_free_is_charged_to_the_old_object)
{
	const struct km_event events[] = { alloc(1000, 0, OLD_SITE, A), alloc(5000, 1, YOUNG_SITE, A),
					   kfree(5400, 0, FREER, A), kfree(9000, 1, OTHER_FREER, A) };
	struct mended m = mend_options(&any_pair, events, 4, 4);
	struct km_row old = row_of(m.setup, OLD_SITE), young = row_of(m.setup, YOUNG_SITE);

	ck_assert_uint_eq(old.sums.matched_frees_count, 1);
	ck_assert_uint_eq(old.sums.implied_frees_count, 0);
	ck_assert_uint_eq(old.lifetimes.min, 4400);
	ck_assert_uint_eq(old.lifetimes.max, 4400);
	ck_assert_uint_eq(young.sums.matched_frees_count, 1);
	ck_assert_uint_eq(young.lifetimes.count, 1);
	ck_assert_uint_eq(young.lifetimes.min, 4000);
	ck_assert_uint_eq(young.lifetimes.max, 4000);
	ck_assert_uint_eq(freer_of(m.setup, FREER).matched_count, 1);
	ck_assert_uint_eq(freer_of(m.setup, OTHER_FREER).matched_count, 1);
	ck_assert_uint_eq(freer_of(m.setup, OTHER_FREER).unmatched_count, 0);
	/* Each was freed on the CPU that allocated it. */
	ck_assert_uint_eq(old.sums.cross_cpu_frees_count, 0);
	ck_assert_uint_eq(young.sums.cross_cpu_frees_count, 0);
	/* No evidence of frees that are not traced. */
	ck_assert_int_eq(old.live_is, KM_LIVE_CONSISTENT);
	ck_assert_int_eq(young.live_is, KM_LIVE_CONSISTENT);
	km_row_release(&old);
	km_row_release(&young);
	tear_down(&m);
}
END_TEST

START_TEST(a_late_free_counts_as_of_another_cpu_where_it_is)
{
	const struct km_event events[] = { alloc(1000, 2, OLD_SITE, A), alloc(5000, 1, YOUNG_SITE, A),
					   kfree(5400, 0, FREER, A), kfree(9000, 3, OTHER_FREER, A) };
	struct mended m = mend_options(&any_pair, events, 4, 3);
	struct km_row old = row_of(m.setup, OLD_SITE), young = row_of(m.setup, YOUNG_SITE);

	ck_assert_uint_eq(old.sums.cross_cpu_frees_count, 1);
	ck_assert_uint_eq(young.sums.cross_cpu_frees_count, 1);
	km_row_release(&old);
	km_row_release(&young);
	tear_down(&m);
}
END_TEST

START_TEST(a_late_free_is_none_if_an_allocation_is_next)
{
	const struct km_event events[] = { alloc(1000, 0, OLD_SITE, A), alloc(5000, 1, YOUNG_SITE, A),
					   kfree(5400, 0, FREER, A), alloc(9000, 1, OTHER_SITE, A) };

	EXPECT(events, .matched = 1, .implied = 1, .live = 1);
}
END_TEST

START_TEST(a_late_free_is_none_at_the_end_of_the_trace)
{
	const struct km_event events[] = { alloc(1000, 0, OLD_SITE, A), alloc(5000, 1, YOUNG_SITE, A),
					   kfree(5400, 0, FREER, A) };
	struct mended m;

	EXPECT(events, .matched = 1, .implied = 1);
	m = mend_options(&any_pair, events, 3, 3);
	ck_assert_uint_eq(sums_of(m.setup, OLD_SITE).implied_frees_count, 1);
	tear_down(&m);
}
END_TEST

START_TEST(a_late_free_is_none_on_the_same_cpu)
{
	const struct km_event events[] = { alloc(1000, 0, OLD_SITE, A), alloc(5000, 1, YOUNG_SITE, A),
					   kfree(5400, 1, FREER, A), kfree(9000, 0, OTHER_FREER, A) };

	EXPECT(events, .matched = 1, .implied = 1, .unmatched = 1);
}
END_TEST

START_TEST(the_window_of_a_late_free_ends_where_it_says)
{
	struct km_event events[] = { alloc(1000, 0, OLD_SITE, A), alloc(5000, 1, YOUNG_SITE, A),
				     kfree(5000 + WINDOW, 0, FREER, A), kfree(90000, 1, OTHER_FREER, A) };

	EXPECT(events, .mends = 1, .matched = 2);
	events[2].time++;
	EXPECT(events, .matched = 1, .implied = 1, .unmatched = 1);
}
END_TEST

/* The pair has to be in time, what confirms it does not; and other addresses are no business of it. */
START_TEST(what_confirms_may_come_much_later)
{
	const struct km_event events[] = {
		alloc(1000, 0, OLD_SITE, A),   alloc(5000, 1, YOUNG_SITE, A),
		alloc(5100, 1, OTHER_SITE, B), kfree(5400, 0, FREER, A),
		kfree(5500, 0, FREER, B),      alloc(5600, 0, OTHER_SITE, B),
		kfree(5700, 0, FREER, B),      kfree(UINT64_C(1) << 50, 1, OTHER_FREER, A),
	};

	EXPECT(events, .mends = 1, .matched = 4);
}
END_TEST

START_TEST(a_second_implied_free_begins_anew)
{
	/* The pair is the third allocation and the free behind it. */
	const struct km_event events[] = { alloc(1000, 0, OLD_SITE, A), alloc(5000, 1, OTHER_SITE, A),
					   alloc(5200, 1, YOUNG_SITE, A), kfree(5400, 0, FREER, A),
					   kfree(9000, 1, OTHER_FREER, A) };
	struct mended m;

	EXPECT(events, .mends = 1, .matched = 2, .implied = 1);
	m = mend_options(&any_pair, events, 5, 2);
	ck_assert_uint_eq(sums_of(m.setup, OLD_SITE).implied_frees_count, 1);
	ck_assert_uint_eq(sums_of(m.setup, OTHER_SITE).implied_frees_count, 0);
	tear_down(&m);
}
END_TEST

START_TEST(a_confirmed_pair_is_over)
{
	/* The last free is not the young object's once more. */
	const struct km_event events[] = { alloc(1000, 0, OLD_SITE, A), alloc(5000, 1, YOUNG_SITE, A),
					   kfree(5400, 0, FREER, A), kfree(5500, 1, OTHER_FREER, A),
					   kfree(5600, 0, OTHER_FREER, A) };

	EXPECT(events, .mends = 1, .matched = 2, .unmatched = 1);
}
END_TEST

/* --- an unknown free, then an allocation --- */

START_TEST(a_late_allocation_is_mended_if_an_allocation_is_next)
{
	const struct km_event events[] = { kfree(5000, 0, FREER, A), alloc(5400, 1, OLD_SITE, A),
					   alloc(9000, 1, YOUNG_SITE, A) };
	struct mended m;
	struct km_row old;

	EXPECT(events, .mends = 1, .matched = 1, .live = 1);
	m = mend_options(&any_pair, events, 3, 2);
	old = row_of(m.setup, OLD_SITE);
	ck_assert_uint_eq(old.sums.matched_frees_count, 1);
	ck_assert_uint_eq(old.sums.implied_frees_count, 0);
	ck_assert_uint_eq(old.sums.live_count, 0);
	ck_assert_uint_eq(old.lifetimes.max, 0);
	ck_assert_uint_eq(old.sums.cross_cpu_frees_count, 1);
	ck_assert_int_eq(old.live_is, KM_LIVE_CONSISTENT);
	ck_assert_uint_eq(sums_of(m.setup, YOUNG_SITE).live_count, 1);
	ck_assert_uint_eq(freer_of(m.setup, FREER).matched_count, 1);
	ck_assert_uint_eq(freer_of(m.setup, FREER).unmatched_count, 0);
	km_row_release(&old);
	tear_down(&m);
}
END_TEST

START_TEST(a_late_allocation_is_none_if_a_free_is_next)
{
	const struct km_event events[] = { kfree(5000, 0, FREER, A), alloc(5400, 1, OLD_SITE, A),
					   kfree(9000, 1, OTHER_FREER, A), alloc(9100, 1, YOUNG_SITE, A) };

	EXPECT(events, .matched = 1, .unmatched = 1, .live = 1);
}
END_TEST

START_TEST(a_late_allocation_is_none_at_the_end_of_the_trace)
{
	const struct km_event events[] = { kfree(5000, 0, FREER, A), alloc(5400, 1, OLD_SITE, A) };

	EXPECT(events, .unmatched = 1, .live = 1);
}
END_TEST

START_TEST(a_late_allocation_is_none_on_the_same_cpu)
{
	const struct km_event events[] = { kfree(5000, 1, FREER, A), alloc(5400, 1, OLD_SITE, A),
					   alloc(9000, 0, YOUNG_SITE, A) };

	EXPECT(events, .implied = 1, .unmatched = 1, .live = 1);
}
END_TEST

START_TEST(the_window_of_a_late_allocation_ends_where_it_says)
{
	struct km_event events[] = { kfree(5000, 0, FREER, A), alloc(5000 + WINDOW, 1, OLD_SITE, A),
				     alloc(90000, 1, YOUNG_SITE, A) };

	EXPECT(events, .mends = 1, .matched = 1, .live = 1);
	events[1].time++;
	EXPECT(events, .implied = 1, .unmatched = 1, .live = 1);
}
END_TEST

START_TEST(the_last_of_two_unknown_frees_counts)
{
	const struct km_event events[] = { kfree(1000, 0, OTHER_FREER, A), kfree(5000, 0, FREER, A),
					   alloc(5400, 1, OLD_SITE, A), alloc(9000, 1, YOUNG_SITE, A) };
	struct mended m;

	EXPECT(events, .mends = 1, .matched = 1, .unmatched = 1, .live = 1);
	m = mend_options(&any_pair, events, 4, 4);
	ck_assert_uint_eq(freer_of(m.setup, OTHER_FREER).unmatched_count, 1);
	ck_assert_uint_eq(freer_of(m.setup, FREER).matched_count, 1);
	tear_down(&m);
}
END_TEST

START_TEST(unmatched_frees_of_a_cache_are_mended_too)
{
	const struct km_event events[] = { cache_free(4000, 0, FREER, B), cache_free(5000, 0, FREER, A),
					   alloc(5400, 1, OLD_SITE, A), alloc(9000, 1, YOUNG_SITE, A) };
	struct mended m = mend_options(&any_pair, events, 4, 3);

	ck_assert_uint_eq(km_mend_count(m.mend), 1);
	ck_assert_uint_eq(km_aggregate_unmatched_by_cache(m.setup->aggregate, 1), 1); /* that of B */
	tear_down(&m);
}
END_TEST

/* --- windows --- */

START_TEST(the_cache_window_is_for_frees_of_caches)
{
	const struct km_mend_options options = { .cache_free_window = WINDOW };
	struct km_event late_free[] = { alloc(1000, 0, OLD_SITE, A), alloc(5000, 1, YOUNG_SITE, A),
					cache_free(5400, 0, FREER, A), kfree(9000, 1, OTHER_FREER, A) };
	struct km_event late_alloc[] = { cache_free(5000, 0, FREER, A), alloc(5400, 1, OLD_SITE, A),
					 alloc(9000, 1, YOUNG_SITE, A) };

	expect_options(&options, late_free, 4, (struct wanted){ .mends = 1, .matched = 2 });
	expect_options(&options, late_alloc, 3, (struct wanted){ .mends = 1, .matched = 1, .live = 1 });
	/* What confirms is not of the pair. */
	late_free[2] = kfree(5400, 0, FREER, A);
	late_free[3] = cache_free(9000, 1, OTHER_FREER, A);
	late_alloc[0] = kfree(5000, 0, FREER, A);
	expect_options(&options, late_free, 4, (struct wanted){ .matched = 1, .implied = 1, .unmatched = 1 });
	expect_options(&options, late_alloc, 3, (struct wanted){ .implied = 1, .unmatched = 1, .live = 1 });
}
END_TEST

START_TEST(a_cache_free_has_the_larger_window)
{
	const struct km_mend_options options = { .window = WINDOW, .cache_free_window = WINDOW / 10 };
	const struct km_event events[] = { alloc(1000, 0, OLD_SITE, A), alloc(5000, 1, YOUNG_SITE, A),
					   cache_free(5400, 0, FREER, A), kfree(9000, 1, OTHER_FREER, A) };

	expect_options(&options, events, 4, (struct wanted){ .mends = 1, .matched = 2 });
}
END_TEST

START_TEST(without_a_window_equal_times_are_in_it)
{
	const struct km_mend_options options = { 0 };
	struct km_event events[] = { alloc(1000, 0, OLD_SITE, A), alloc(5000, 1, YOUNG_SITE, A),
				     kfree(5000, 0, FREER, A), kfree(9000, 1, OTHER_FREER, A) };

	expect_options(&options, events, 4, (struct wanted){ .mends = 1, .matched = 2 });
	events[2].time++;
	expect_options(&options, events, 4, (struct wanted){ .matched = 1, .implied = 1, .unmatched = 1 });
}
END_TEST

/* --- what is no pair --- */

START_TEST(null_frees_and_failed_allocations_are_no_pair)
{
	const struct km_event events[] = { kfree(5000, 0, FREER, 0), alloc(5100, 1, OLD_SITE, 0),
					   alloc(5200, 1, OLD_SITE, 0), kfree(5300, 0, FREER, KM_ZERO_SIZE_PTR),
					   kfree(5400, 1, FREER, KM_ZERO_SIZE_PTR) };

	EXPECT(events, 0);
}
END_TEST

START_TEST(a_loss_in_between_changes_nothing)
{
	const struct km_event events[] = { alloc(1000, 0, OLD_SITE, A),
					   alloc(5000, 1, YOUNG_SITE, A),
					   { .time = 5100, .kind = KM_EVENT_LOST, .cpu = 1 },
					   kfree(5400, 0, FREER, A),
					   kfree(9000, 1, OTHER_FREER, A) };

	EXPECT(events, .mends = 1, .matched = 2);
}
END_TEST

/* An allocation that the filter leaves out has no row, and its free has one all the same. */
START_TEST(what_is_not_selected_is_mended_without_rows)
{
	const struct km_event events[] = { alloc(1000, 0, OLD_SITE, A), alloc(5000, 1, YOUNG_SITE, A),
					   kfree(5400, 0, FREER, A), kfree(9000, 1, OTHER_FREER, A) };
	struct count_setup *s = count_set_up(NULL);
	struct km_mend *mend = km_mend_new(&any_pair);
	struct km_outcome outcomes[4];
	struct km_row total = { 0 };
	uint32_t keys[4];

	s->filter.min_size_bytes = 100; /* all are of 64 */
	count_start(s, 0, false);
	km_aggregate_use_mend(s->aggregate, mend);
	ck_assert_int_eq(km_aggregate_keys(s->aggregate, events, 4, keys, NULL), 0);
	km_replay_run(s->replay, events, keys, 4, outcomes);
	ck_assert_int_eq(km_mend_run(mend, events, outcomes, 4), 0);
	ck_assert_int_eq(km_aggregate_account(s->aggregate, events, keys, outcomes, 4, NULL), 0);
	count_finish(s);
	ck_assert_uint_eq(km_mend_count(mend), 1);
	ck_assert_uint_eq(km_aggregate_replayed(s->aggregate)->matched_frees_count, 2);
	ck_assert_uint_eq(km_aggregate_replayed(s->aggregate)->implied_frees_count, 0);
	ck_assert_int_eq(km_aggregate_total(s->aggregate, &total), 0);
	ck_assert_uint_eq(total.sums.allocs_count, 0);
	ck_assert_uint_eq(total.sums.matched_frees_count, 0);
	km_row_release(&total);
	count_tear_down(s);
	km_mend_free(mend);
}
END_TEST

/* Where much is mended, everything still adds up. */
START_TEST(random_streams_add_up)
{
	static struct km_event events[3000];
	uint64_t mends = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		uint64_t random = seed;

		for (size_t i = 0; i < 3000; i++) {
			uint64_t ptr = A + 64 * (naive_random(&random) % 200);
			uint16_t cpu = (uint16_t)(naive_random(&random) % COUNT_CPUS);

			if (naive_random(&random) % 2)
				events[i] = alloc(1000 + 10 * i, cpu, OLD_SITE + 0x1000 * (ptr / 64 % 7), ptr);
			else if (naive_random(&random) % 2)
				events[i] = kfree(1000 + 10 * i, cpu, FREER + 0x1000 * (ptr / 64 % 3), ptr);
			else
				events[i] = cache_free(1000 + 10 * i, cpu, FREER, ptr);
		}
		for (size_t batch = 7; batch <= 700; batch *= 10) {
			struct mended m = mend_options(&any_pair, events, 3000, batch);

			mends += km_mend_count(m.mend);
			tear_down(&m);
		}
	}
	ck_assert_uint_gt(mends, 100);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { a_late_free_is_mended_if_a_free_is_next,
				 a_late_free_is_charged_to_the_old_object,
				 a_late_free_counts_as_of_another_cpu_where_it_is,
				 a_late_free_is_none_if_an_allocation_is_next,
				 a_late_free_is_none_at_the_end_of_the_trace,
				 a_late_free_is_none_on_the_same_cpu,
				 the_window_of_a_late_free_ends_where_it_says,
				 what_confirms_may_come_much_later,
				 a_second_implied_free_begins_anew,
				 a_confirmed_pair_is_over,
				 a_late_allocation_is_mended_if_an_allocation_is_next,
				 a_late_allocation_is_none_if_a_free_is_next,
				 a_late_allocation_is_none_at_the_end_of_the_trace,
				 a_late_allocation_is_none_on_the_same_cpu,
				 the_window_of_a_late_allocation_ends_where_it_says,
				 the_last_of_two_unknown_frees_counts,
				 unmatched_frees_of_a_cache_are_mended_too,
				 the_cache_window_is_for_frees_of_caches,
				 a_cache_free_has_the_larger_window,
				 without_a_window_equal_times_are_in_it,
				 null_frees_and_failed_allocations_are_no_pair,
				 a_loss_in_between_changes_nothing,
				 what_is_not_selected_is_mended_without_rows,
				 random_streams_add_up,
				 NULL };

	return km_test_main("mend", tests, 30);
}
