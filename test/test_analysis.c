/* SPDX-License-Identifier: GPL-2.0-only */
#include "analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysed.h"
#include "read_back.h"
#include "testing.h"

#define SITE(i) (tw_function(8, (i)) + 0x10)
#define A       UINT64_C(0xffff888000001000)
#define START   UINT64_C(5000000000) /* 5 s */
#define SECOND  UINT64_C(1000000000)

static struct km_row total_of(const struct analysed *a)
{
	struct km_row total = { 0 };

	ck_assert_int_eq(km_aggregate_total(a->analysis->aggregate, &total), 0);
	return total;
}

/* --- --time --- */

/*
 * Ten seconds: an allocation of site i at i s, for i from 1 to 9; every third is freed half a second later. Marks at
 * 2.5 s and 7.5 s, the first one told twice.
 */
static struct tw *ten_seconds(const char *clock, const char *offset)
{
	struct tw *tw = tw_new(&(struct tw_options){ .cpus = 2, .clock = clock });

	if (offset)
		tw_option_offset(tw, offset);
	tw_cpustat(tw, TW_TOP, 0, 0, 0, 0);
	tw_cpustat(tw, TW_TOP, 1, 0, 0, 0);
	tw_other(tw, TW_TOP, 1, START, 1);
	for (unsigned i = 1; i <= 9; i++) {
		tw_kmalloc(tw, TW_TOP, 0, START + i * SECOND, 1, SITE(i), A + 64 * i, 60, 64, 0, -1);
		if (i % 3 == 0)
			tw_kfree(tw, TW_TOP, 0, START + i * SECOND + SECOND / 2, 1, SITE(20), A + 64 * i);
		if (i == 2 || i == 8)
			tw_print(tw, TW_TOP, 0, START + i * SECOND + SECOND / 2, 1, "begin: the work\n");
		if (i == 7)
			tw_print(tw, TW_TOP, 0, START + i * SECOND + SECOND / 2, 1, "the end\n");
	}
	tw_other(tw, TW_TOP, 1, START + 10 * SECOND, 1);
	return tw;
}

struct window {
	const char *time;
	unsigned first, last; /* sites selected; first 0: none */
	unsigned live;        /* of them at the end of the time */
	uint64_t end_time;    /* from the start */
};

static void expect_window(const struct window *w, const char *clock, const char *offset)
{
	struct analysed *a = analysed_run(ten_seconds(clock, offset), NULL, w->time);
	struct km_row total = total_of(a);
	size_t sites = km_aggregate_rows_count(a->analysis->aggregate, KM_AXIS_SITE);
	unsigned count = w->first ? w->last - w->first + 1 : 0;

	ck_assert_msg(total.sums.allocs_count == count, "--time %s: %llu allocations", w->time,
		      (unsigned long long)total.sums.allocs_count);
	for (size_t i = 0; i < sites; i++) {
		ck_assert_uint_ge(km_aggregate_site(a->analysis->aggregate, i), SITE(w->first));
		ck_assert_uint_le(km_aggregate_site(a->analysis->aggregate, i), SITE(w->last));
	}
	ck_assert_msg(total.sums.live_count == w->live, "--time %s: %llu live", w->time,
		      (unsigned long long)total.sums.live_count);
	ck_assert_uint_eq(a->analysis->start_time, START);
	ck_assert_msg(a->analysis->end_time == START + w->end_time, "--time %s: the end is %llu", w->time,
		      (unsigned long long)a->analysis->end_time);
	/* A filter never changes what is replayed. */
	ck_assert_uint_eq(km_aggregate_replayed(a->analysis->aggregate)->alloc_events_count, 9);
	ck_assert_uint_eq(km_aggregate_replayed(a->analysis->aggregate)->matched_frees_count, 3);
	ck_assert(a->analysis->has_slab_events);
	analysed_free(a);
}

START_TEST(times_of_every_form)
{
	static const struct window windows[] = {
		{ ",", 1, 9, 6, 10 * SECOND },
		/* The clock's seconds; from is in it, until is not. */
		{ "7,", 2, 9, 5, 10 * SECOND },
		{ "7.000000001,", 3, 9, 4, 10 * SECOND },
		{ ",8", 1, 2, 2, 3 * SECOND },
		{ ",8.000000001", 1, 3, 3, 3 * SECOND + 1 },
		{ "7,9", 2, 3, 1, 4 * SECOND },
		/* Live are those at the end of it: 3 is freed at 3.5 s. */
		{ "7,8.25", 2, 3, 2, 3 * SECOND + SECOND / 4 },
		/* From the first event. */
		{ "+2,", 2, 9, 5, 10 * SECOND },
		{ ",+3", 1, 2, 2, 3 * SECOND },
		{ "+2.5,+4.5", 3, 4, 1, 4 * SECOND + SECOND / 2 },
		/* A share of the whole. */
		{ "20%,", 2, 9, 5, 10 * SECOND },
		{ "20.1%,", 3, 9, 4, 10 * SECOND },
		{ ",30%", 1, 2, 2, 3 * SECOND },
		{ "25%,75%", 3, 7, 3, 7 * SECOND + SECOND / 2 },
		{ "0%,100%", 1, 9, 6, 10 * SECOND },
		/* Marks: the first that contains the text. */
		{ "@begin,", 3, 9, 4, 10 * SECOND },
		{ ",@end", 1, 7, 5, 7 * SECOND + SECOND / 2 },
		{ "@begin,@the end", 3, 7, 3, 7 * SECOND + SECOND / 2 },
		{ "@the,@end", 3, 7, 3, 7 * SECOND + SECOND / 2 },
		/* Mixed. */
		{ "@begin,+5", 3, 4, 1, 5 * SECOND },
		{ "+2,@end", 2, 7, 4, 7 * SECOND + SECOND / 2 },
		{ "7,90%", 2, 8, 5, 9 * SECOND },
		/* Beyond the ends, and nothing at all. */
		{ "0,100", 1, 9, 6, 10 * SECOND },
		{ ",1", 0, 0, 0, UINT64_C(0) - 4 * SECOND },
		{ "100,", 0, 0, 0, 10 * SECOND },
		{ "+1.5,+1.6", 0, 0, 0, SECOND + SECOND * 6 / 10 },
		{ "@end,+1", 0, 0, 0, SECOND },
		/* As far as it goes and no further: sums do not wrap. */
		{ "+1,+18446744073", 1, 9, 6, 10 * SECOND },
		{ "+18446744073,", 0, 0, 0, 10 * SECOND },
	};

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++)
		expect_window(&windows[i], "mono", NULL);
}
END_TEST

/* What `trace-cmd report` prints is the clock and the offset. */
START_TEST(clock_seconds_are_those_printed)
{
	static const struct window later[] = { { "107,", 2, 9, 5, 10 * SECOND }, { ",+3", 1, 2, 2, 3 * SECOND } };
	static const struct window earlier[] = { { "3,", 2, 9, 5, 10 * SECOND }, { ",4", 1, 2, 2, 3 * SECOND } };
	static const struct window below = { "1,", 1, 9, 6, 10 * SECOND };

	for (size_t i = 0; i < 2; i++) {
		expect_window(&later[i], "mono", "100000000000");
		expect_window(&earlier[i], "mono", "-4000000000");
	}
	expect_window(&below, "mono", "100000000000");
}
END_TEST

/* Where the clock counts something else, a number is so many of that. */
START_TEST(a_clock_of_ticks_is_asked_in_ticks)
{
	static const struct window windows[] = { { "7000000000,9000000000", 2, 3, 1, 4 * SECOND },
						 { "+2000000000,", 2, 9, 5, 10 * SECOND },
						 { "25%,75%", 3, 7, 3, 7 * SECOND + SECOND / 2 } };

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++)
		expect_window(&windows[i], "counter", NULL);
}
END_TEST

START_TEST(a_mark_that_is_not_there_is_refused)
{
	static const char *const times[] = { "@nowhere,", ",@nowhere", "@begin,@nowhere", "@nowhere,@end" };

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct analysed *a = analysed_try(ten_seconds("mono", NULL), NULL, times[i], NULL);

		ck_assert_ptr_null(a->analysis);
		ck_assert_int_eq(a->error.code, -EINVAL);
		ck_assert_ptr_nonnull(strstr(a->error.text, "nowhere"));
		analysed_free(a);
	}
}
END_TEST

/* --- --min-age --- */

static uint64_t allocs_with_min_age(uint64_t ns, const char *time)
{
	struct km_filter filter = { .has_min_age = true, .min_age_ns = ns };
	struct analysed *a = analysed_try(ten_seconds("mono", NULL), NULL, time, &filter);
	uint64_t count;

	ck_assert_msg(a->analysis, "%s", a->error.text);
	count = total_of(a).sums.allocs_count;
	analysed_free(a);
	return count;
}

START_TEST(a_least_age_counts_to_the_end)
{
	ck_assert_uint_eq(allocs_with_min_age(0, NULL), 9);
	ck_assert_uint_eq(allocs_with_min_age(SECOND, NULL), 9); /* 9 is one second old */
	ck_assert_uint_eq(allocs_with_min_age(SECOND + 1, NULL), 8);
	ck_assert_uint_eq(allocs_with_min_age(5 * SECOND, NULL), 5);
	ck_assert_uint_eq(allocs_with_min_age(100 * SECOND, NULL), 0);
	ck_assert_uint_eq(allocs_with_min_age(UINT64_MAX, NULL), 0);
}
END_TEST

START_TEST(a_least_age_counts_to_the_end_of_the_time)
{
	ck_assert_uint_eq(allocs_with_min_age(2 * SECOND, ",+6"), 4);
	ck_assert_uint_eq(allocs_with_min_age(2 * SECOND, "+2,+6"), 3);
	ck_assert_uint_eq(allocs_with_min_age(2 * SECOND, ",60%"), 4);
	ck_assert_uint_eq(allocs_with_min_age(2 * SECOND, ",+100"), 8); /* the trace ends before */
}
END_TEST

START_TEST(a_least_age_counts_to_a_mark)
{
	ck_assert_uint_eq(allocs_with_min_age(2 * SECOND, ",@end"), 5); /* at 7.5 s */
	ck_assert_uint_eq(allocs_with_min_age(2 * SECOND, "@begin,@end"), 3);
}
END_TEST

/* --- stopping --- */

struct visits {
	size_t count, stop_at;
	int code;
};

static int visit(void *context, const struct km_event *event, uint32_t key, const struct km_outcome *outcome,
		 struct km_error *error)
{
	struct visits *v = context;

	ck_assert(km_event_is_slab(event));
	ck_assert(outcome->kind == KM_OUTCOME_TRACKED || outcome->kind == KM_OUTCOME_MATCHED);
	ck_assert(!km_event_is_free(event) || !key);
	v->count++;
	if (v->count != v->stop_at)
		return 0;
	return v->code < 0 ? km_error_set(error, v->code, "enough") : v->code;
}

START_TEST(every_slab_event_is_visited)
{
	struct visits visits = { 0 };
	struct km_analysis *running = NULL;
	const struct km_analysis_options options = { .visit = visit,
						     .visit_context = &visits,
						     .ret_running = &running };
	struct analysed *a = analysed_run(ten_seconds("mono", NULL), &options, NULL);

	ck_assert_uint_eq(visits.count, 12);
	ck_assert_ptr_eq(running, a->analysis);
	analysed_free(a);
}
END_TEST

START_TEST(a_visit_may_stop)
{
	struct visits visits = { .stop_at = 5, .code = 1 };
	const struct km_analysis_options options = { .visit = visit, .visit_context = &visits };
	struct analysed *a = analysed_run(ten_seconds("mono", NULL), &options, NULL);

	ck_assert_uint_eq(visits.count, 5);
	analysed_free(a);
	visits = (struct visits){ .stop_at = 5, .code = -EPIPE };
	a = analysed_try(ten_seconds("mono", NULL), &options, NULL, NULL);
	ck_assert_uint_eq(visits.count, 5);
	ck_assert_ptr_null(a->analysis);
	ck_assert_int_eq(a->error.code, -EPIPE);
	analysed_free(a);
}
END_TEST

START_TEST(it_may_stop_at_the_end_of_the_time)
{
	const struct km_analysis_options options = { .stops_at_until = true };
	struct analysed *a = analysed_run(ten_seconds("mono", NULL), &options, ",+3.25");

	/* The table is as it was then: 3 is still there. */
	ck_assert_uint_eq(km_replay_table(a->analysis->replay)->count, 3);
	ck_assert_uint_eq(km_aggregate_replayed(a->analysis->aggregate)->alloc_events_count, 3);
	ck_assert_uint_eq(a->analysis->end_time, START + 3 * SECOND + SECOND / 4);
	analysed_free(a);
	a = analysed_run(ten_seconds("mono", NULL), &options, "@begin,@end");
	ck_assert_uint_eq(km_replay_table(a->analysis->replay)->count, 5);
	ck_assert_uint_eq(total_of(a).sums.live_count, 3);
	analysed_free(a);
	/* An end that is not reached is the end of the trace. */
	a = analysed_run(ten_seconds("mono", NULL), &options, ",+100");
	ck_assert_uint_eq(km_replay_table(a->analysis->replay)->count, 6);
	analysed_free(a);
}
END_TEST

/* --- names that come late --- */

/* On 6.1 only frees name caches: two caches of one size, whose peaks are not of one time. */
static struct tw *late_names(void)
{
	struct tw *tw = tw_new(&(struct tw_options){ .kernel = TW_KERNEL_6_1, .cpus = 1, .clock = "mono" });

	tw_cache_alloc(tw, TW_TOP, 0, 1000, 1, SITE(1), A, 60, 64, 0, -1, NULL);
	tw_cache_alloc(tw, TW_TOP, 0, 1100, 1, SITE(1), A + 64, 60, 64, 0, -1, NULL);
	tw_cache_alloc(tw, TW_TOP, 0, 1200, 1, SITE(2), A + 128, 60, 64, 0, -1, NULL);
	tw_print(tw, TW_TOP, 0, 1250, 1, "mark\n");
	tw_cache_free(tw, TW_TOP, 0, 1300, 1, SITE(9), A, "filp");
	tw_cache_alloc(tw, TW_TOP, 0, 1400, 1, SITE(2), A, 60, 64, 0, -1, NULL);
	tw_cache_free(tw, TW_TOP, 0, 1500, 1, SITE(9), A + 128, "dentry");
	tw_cache_free(tw, TW_TOP, 0, 1600, 1, SITE(9), A, "dentry");
	tw_other(tw, TW_TOP, 0, 2000, 1);
	return tw;
}

static struct km_row cache_row(const struct analysed *a, const char *name)
{
	struct km_row row = { 0 };

	for (size_t i = 0; i < km_aggregate_rows_count(a->analysis->aggregate, KM_AXIS_CACHE); i++) {
		if (strcmp(km_aggregate_cache(a->analysis->aggregate, i), name))
			continue;
		ck_assert_int_eq(km_aggregate_row(a->analysis->aggregate, KM_AXIS_CACHE, i, false, &row), 0);
	}
	return row;
}

START_TEST(a_second_pass_makes_peaks_exact)
{
	struct analysed *a = analysed_run(late_names(), NULL, NULL);
	struct km_row filp = cache_row(a, "filp"), dentry = cache_row(a, "dentry");

	ck_assert(!km_aggregate_has_inexact_peaks(a->analysis->aggregate));
	ck_assert_str_eq(km_level_peak_is(&filp.level), "exact");
	ck_assert_uint_eq(filp.level.peak_live_bytes, 128);
	ck_assert_uint_eq(filp.level.peak_time, 1100);
	ck_assert_uint_eq(filp.sums.live_count, 1);
	ck_assert_str_eq(km_level_peak_is(&dentry.level), "exact");
	ck_assert_uint_eq(dentry.level.peak_live_bytes, 128);
	ck_assert_uint_eq(dentry.level.peak_time, 1400);
	/* Nothing is counted twice. */
	ck_assert_uint_eq(total_of(a).sums.allocs_count, 4);
	ck_assert_uint_eq(a->analysis->stats->slab_counts[KM_EVENT_CACHE_ALLOC], 4);
	analysed_free(a);
}
END_TEST

/* What is visited is visited once, and marks are met again. */
START_TEST(visits_and_marks_go_with_two_passes)
{
	struct visits visits = { 0 };
	const struct km_analysis_options visiting = { .visit = visit, .visit_context = &visits };
	const struct km_analysis_options detailed = { .has_detail = true };
	struct analysed *a = analysed_run(late_names(), &visiting, NULL);
	const struct km_tally *tallies;
	size_t count;

	ck_assert_uint_eq(visits.count, 7);
	analysed_free(a);
	a = analysed_run(late_names(), NULL, "@mark,");
	ck_assert_uint_eq(total_of(a).sums.allocs_count, 1);
	analysed_free(a);
	a = analysed_run(late_names(), NULL, ",@mark");
	ck_assert_uint_eq(total_of(a).sums.allocs_count, 3);
	ck_assert_uint_eq(total_of(a).sums.live_count, 3);
	analysed_free(a);
	a = analysed_run(late_names(), &detailed, NULL);
	tallies = km_detail_tallies(a->analysis->detail, KM_DETAIL_SIZES, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(tallies[0].count, 4);
	analysed_free(a);
}
END_TEST

START_TEST(a_cache_can_be_asked_for_before_it_is_named)
{
	struct km_filter filter = { .has_time = false };
	struct visits visits = { 0 };
	const struct km_analysis_options options = { .visit = visit, .visit_context = &visits };
	struct analysed *a;

	ck_assert_int_eq(km_patterns_parse(&filter.cache, "filp", NULL), 0);
	a = analysed_try(late_names(), &options, NULL, &filter);
	ck_assert_uint_eq(total_of(a).sums.allocs_count, 2);
	ck_assert_uint_eq(total_of(a).sums.live_count, 1);
	ck_assert_uint_eq(cache_row(a, "dentry").sums.allocs_count, 0);
	ck_assert_uint_eq(km_aggregate_replayed(a->analysis->aggregate)->alloc_events_count, 4);
	ck_assert_uint_eq(visits.count, 7); /* reading for the names alone is no visit */
	analysed_free(a);

	filter = (struct km_filter){ .has_time = false };
	ck_assert_int_eq(km_patterns_parse(&filter.cache, "!filp", NULL), 0);
	a = analysed_try(late_names(), NULL, "@mark,", &filter);
	ck_assert_uint_eq(total_of(a).sums.allocs_count, 1);
	analysed_free(a);
}
END_TEST

/* --- losses --- */

static struct tw *with_a_hole(void)
{
	struct tw *tw = tw_new(&(struct tw_options){ .cpus = 1, .clock = "mono" });

	tw_kmalloc(tw, TW_TOP, 0, 1000, 1, SITE(1), A, 60, 64, 0, -1);
	tw_kmalloc(tw, TW_TOP, 0, 1100, 1, SITE(1), A + 64, 60, 64, 0, -1);
	tw_kfree(tw, TW_TOP, 0, 1200, 1, SITE(9), A);
	tw_lost(tw, TW_TOP, 0, 10);
	tw_kmalloc(tw, TW_TOP, 0, 3000, 1, SITE(2), A + 128, 60, 64, 0, -1);
	tw_kmalloc(tw, TW_TOP, 0, 3100, 1, SITE(2), A + 192, 60, 64, 0, -1);
	tw_kfree(tw, TW_TOP, 0, 3200, 1, SITE(9), A + 128);
	tw_new_page(tw, TW_TOP, 0);
	tw_cpustat(tw, TW_TOP, 0, 10, 0, 0);
	return tw;
}

static enum km_live_is site_is(const struct analysed *a, uint64_t site, uint64_t live)
{
	struct km_row row = { 0 };

	for (size_t i = 0; i < km_aggregate_rows_count(a->analysis->aggregate, KM_AXIS_SITE); i++) {
		if (km_aggregate_site(a->analysis->aggregate, i) != site)
			continue;
		ck_assert_int_eq(km_aggregate_row(a->analysis->aggregate, KM_AXIS_SITE, i, false, &row), 0);
	}
	ck_assert_uint_eq(row.sums.live_count, live);
	return row.live_is;
}

START_TEST(a_loss_taints_what_lives)
{
	struct analysed *a = analysed_run(with_a_hole(), NULL, NULL);

	ck_assert_int_eq(a->analysis->health.completeness, KM_HOLES);
	ck_assert_uint_eq(a->analysis->health.lost_events_count, 10);
	ck_assert_int_eq(site_is(a, SITE(1), 1), KM_LIVE_UNCERTAIN);
	ck_assert_int_eq(site_is(a, SITE(2), 1), KM_LIVE_CONSISTENT);
	ck_assert_int_eq(total_of(a).live_is, KM_LIVE_UNCERTAIN);
	analysed_free(a);
}
END_TEST

START_TEST(a_loss_may_be_passed_over)
{
	const struct km_analysis_options options = { .on_loss = KM_ON_LOSS_KEEP };
	struct analysed *a = analysed_run(with_a_hole(), &options, NULL);

	ck_assert_int_eq(a->analysis->health.completeness, KM_HOLES);
	ck_assert_int_eq(site_is(a, SITE(1), 1), KM_LIVE_CONSISTENT);
	ck_assert_int_eq(site_is(a, SITE(2), 1), KM_LIVE_CONSISTENT);
	analysed_free(a);
}
END_TEST

START_TEST(a_loss_may_reset)
{
	const struct km_analysis_options options = { .on_loss = KM_ON_LOSS_RESET };
	struct analysed *a = analysed_run(with_a_hole(), &options, NULL);
	struct km_row total = total_of(a);

	site_is(a, SITE(1), 0);
	site_is(a, SITE(2), 1);
	ck_assert_uint_eq(total.sums.reset_count, 1);
	ck_assert_uint_eq(total.sums.tracked_count, 4);
	ck_assert_uint_eq(total.sums.tracked_count, total.sums.matched_frees_count + total.sums.implied_frees_count +
							    total.sums.reset_count + total.sums.live_count);
	ck_assert_uint_eq(km_aggregate_replayed(a->analysis->aggregate)->reset_count, 1);
	analysed_free(a);
}
END_TEST

/* What the filter leaves out is forgotten too, and counted for the whole replay. */
START_TEST(a_reset_counts_what_is_left_out)
{
	const struct km_analysis_options options = { .on_loss = KM_ON_LOSS_RESET };
	struct km_filter filter = { .min_size_bytes = 1 << 20 };
	struct analysed *a = analysed_try(with_a_hole(), &options, NULL, &filter);
	struct km_row total = total_of(a);

	ck_assert_uint_eq(total.sums.tracked_count, 0);
	ck_assert_uint_eq(total.sums.reset_count, 0);
	ck_assert_uint_eq(km_aggregate_replayed(a->analysis->aggregate)->tracked_count, 4);
	ck_assert_uint_eq(km_aggregate_replayed(a->analysis->aggregate)->reset_count, 1);
	analysed_free(a);
}
END_TEST

/* Events lost at no known time: all that lives is uncertain. */
START_TEST(a_lost_tail_taints_all)
{
	const struct km_analysis_options keep = { .on_loss = KM_ON_LOSS_KEEP };
	struct tw *tw = with_a_hole();
	struct analysed *a;

	tw_cpustat(tw, TW_TOP, 0, 11, 0, 0);
	a = analysed_run(tw, NULL, NULL);
	ck_assert(a->analysis->health.live_is_doubtful);
	ck_assert_int_eq(site_is(a, SITE(2), 1), KM_LIVE_UNCERTAIN);
	analysed_free(a);
	tw = with_a_hole();
	tw_cpustat(tw, TW_TOP, 0, 11, 0, 0);
	a = analysed_run(tw, &keep, NULL);
	ck_assert_int_eq(site_is(a, SITE(2), 1), KM_LIVE_CONSISTENT);
	analysed_free(a);
}
END_TEST

/* --- the window for mending --- */

/* An allocation 400 ns before the free that made room for it; `kind` of free. */
static struct tw *turned_round(enum tw_kernel kernel, const char *clock)
{
	struct tw *tw = tw_new(&(struct tw_options){ .kernel = kernel, .cpus = 2, .clock = clock });

	tw_cache_alloc(tw, TW_TOP, 0, 1000, 1, SITE(1), A, 60, 64, 0, -1, "filp");
	tw_cache_alloc(tw, TW_TOP, 1, 5000, 1, SITE(2), A, 60, 64, 0, -1, "filp");
	tw_cache_free(tw, TW_TOP, 0, 5400, 1, SITE(8), A, "filp");
	tw_cache_free(tw, TW_TOP, 1, 9000, 1, SITE(9), A, "filp");
	return tw;
}

START_TEST(the_window_is_by_clock_and_kernel)
{
	static const struct {
		enum tw_kernel kernel;
		const char *clock;
		uint64_t window, cache_free_window;
	} cases[] = { { TW_KERNEL_6_18, "mono", 0, 0 },
		      { TW_KERNEL_6_18, "local", 1000000, 1000000 },
		      { TW_KERNEL_5_12, "mono", 0, 100000 },
		      { TW_KERNEL_5_12, "local", 1000000, 1000000 },
		      { TW_KERNEL_5_12, "counter", 0, 0 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct analysed *a = analysed_run(turned_round(cases[i].kernel, cases[i].clock), NULL, NULL);
		bool mends = cases[i].cache_free_window > 0;

		ck_assert_uint_eq(a->analysis->reorder_window, cases[i].window);
		ck_assert_uint_eq(a->analysis->reorder_cache_free_window, cases[i].cache_free_window);
		ck_assert(!a->analysis->mend == !mends);
		ck_assert_uint_eq(mends ? km_mend_count(a->analysis->mend) : 0, mends);
		ck_assert_uint_eq(km_aggregate_replayed(a->analysis->aggregate)->implied_frees_count, !mends);
		analysed_free(a);
	}
}
END_TEST

START_TEST(the_window_may_be_asked_for)
{
	static const struct {
		uint64_t window;
		bool mends;
	} cases[] = { { 0, false }, { 399, false }, { 400, true }, { UINT64_MAX, true } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct km_analysis_options options = { .has_reorder_window = true,
							     .reorder_window_ns = cases[i].window };
		struct analysed *a = analysed_run(turned_round(TW_KERNEL_6_18, "mono"), &options, NULL);

		ck_assert_uint_eq(km_aggregate_replayed(a->analysis->aggregate)->implied_frees_count, !cases[i].mends);
		analysed_free(a);
	}
}
END_TEST

/* --- ties --- */

/* A free and an allocation of one address at one time: the order that is legal, whichever CPU is lower. */
START_TEST(ties_are_resolved_across_batches)
{
	struct tw *tw = tw_new(&(struct tw_options){ .cpus = 2, .clock = "mono" });
	struct analysed *a;

	for (uint64_t i = 0; i < 3000; i++)
		tw_kmalloc(tw, TW_TOP, 0, 1000 + i, 1, SITE(1), A + 64 * i, 60, 64, 0, -1);
	for (uint64_t i = 0; i < 3000; i++) { /* all at one time, more than a batch of them */
		tw_kmalloc(tw, TW_TOP, 0, 10000, 1, SITE(2), A + 64 * i, 60, 64, 0, -1);
		tw_kfree(tw, TW_TOP, 1, 10000, 1, SITE(9), A + 64 * i);
	}
	a = analysed_run(tw, NULL, NULL);
	ck_assert_uint_eq(km_aggregate_replayed(a->analysis->aggregate)->matched_frees_count, 3000);
	ck_assert_uint_eq(km_aggregate_replayed(a->analysis->aggregate)->implied_frees_count, 0);
	ck_assert_uint_eq(total_of(a).sums.live_count, 3000);
	analysed_free(a);
}
END_TEST

/* --- the rest --- */

START_TEST(no_slab_event_is_told)
{
	struct tw *tw = tw_new(&(struct tw_options){ .cpus = 1 });
	struct km_error error = { 0 };
	struct km_reader *reader;
	struct analysed *a;
	unsigned second;
	size_t bytes;
	void *data;

	tw_other(tw, TW_TOP, 0, 1000, 1);
	tw_print(tw, TW_TOP, 0, 2000, 1, "text\n");
	second = tw_add_buffer(tw, "second", 0, NULL, 0);
	tw_add_buffer(tw, "empty", 0, NULL, 0);
	for (unsigned i = 0; i < 500; i++)
		tw_other(tw, second, 0, 1000 + i, 1);
	tw_kfree(tw, second, 0, 2000, 1, SITE(0), 0);
	data = tw_finish(tw, &bytes);
	reader = km_read_back_open(data, bytes, NULL);
	ck_assert_int_eq(km_analysis_has_slab(reader, 0, &error), 0);
	ck_assert_int_eq(km_analysis_has_slab(reader, 1, &error), 1);
	ck_assert_int_eq(km_analysis_has_slab(reader, 2, &error), 0);
	ck_assert_int_eq(km_analysis_has_slab(reader, 0, &error), 0); /* again and in any order */
	km_reader_close(reader);
	free(data);
	a = analysed_run(tw, NULL, NULL);
	ck_assert(!a->analysis->has_slab_events);
	ck_assert_uint_eq(a->analysis->start_time, 1000);
	ck_assert_uint_eq(a->analysis->end_time, 2000);
	analysed_free(a);
}
END_TEST

START_TEST(memory_has_a_bound)
{
	ck_assert_uint_gt(km_analysis_default_max_memory(), 0);
	ck_assert_uint_le(km_analysis_default_max_memory(), UINT64_C(4) << 30);
	km_analysis_free(NULL);
}
END_TEST

START_TEST(a_wrong_kallsyms_is_an_error)
{
	const struct km_analysis_options options = { .kallsyms = "/nowhere/kallsyms" };
	struct analysed *a = analysed_try(ten_seconds("mono", NULL), &options, NULL, NULL);

	ck_assert_ptr_null(a->analysis);
	ck_assert_int_eq(a->error.code, -ENOENT);
	analysed_free(a);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { times_of_every_form,
				 clock_seconds_are_those_printed,
				 a_clock_of_ticks_is_asked_in_ticks,
				 a_mark_that_is_not_there_is_refused,
				 a_least_age_counts_to_the_end,
				 a_least_age_counts_to_the_end_of_the_time,
				 a_least_age_counts_to_a_mark,
				 every_slab_event_is_visited,
				 a_visit_may_stop,
				 it_may_stop_at_the_end_of_the_time,
				 a_second_pass_makes_peaks_exact,
				 visits_and_marks_go_with_two_passes,
				 a_cache_can_be_asked_for_before_it_is_named,
				 a_loss_taints_what_lives,
				 a_loss_may_be_passed_over,
				 a_loss_may_reset,
				 a_reset_counts_what_is_left_out,
				 a_lost_tail_taints_all,
				 the_window_is_by_clock_and_kernel,
				 the_window_may_be_asked_for,
				 ties_are_resolved_across_batches,
				 no_slab_event_is_told,
				 memory_has_a_bound,
				 a_wrong_kallsyms_is_an_error,
				 NULL };

	return km_test_main("analysis", tests, 20);
}
