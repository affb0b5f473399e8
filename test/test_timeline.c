/* SPDX-License-Identifier: GPL-2.0-only */
/* Intervals against a naive model that knows at once what a pair of kmallocs comes to. */
#include "timeline.h"

#include <stdlib.h>
#include <string.h>

#include "count_setup.h"
#include "naive_model.h"
#include "testing.h"

#define EVENTS     3000
#define SITE       UINT64_C(0xffffffff81001000)
#define PTR        UINT64_C(0xffff888000100000)
#define START_TIME 1000

static struct km_timeline *make(const struct count_setup *s, unsigned points)
{
	const struct km_timeline_options options = { .points_limit = points,
						     .axis = s->selection.by.count ? KM_AXIS_GROUP : KM_AXIS_SITE,
						     .cpu_limit = COUNT_CPUS,
						     .start_time = START_TIME,
						     .selection = &s->selection };
	struct km_timeline *t = km_timeline_new(&options);

	ck_assert_ptr_nonnull(t);
	return t;
}

/* Replays and counts, one event at a time: where batches are cut makes no difference. */
static void run(struct count_setup *s, struct km_timeline *t, const struct km_event *events, size_t count)
{
	for (size_t i = 0; i < count;) {
		struct km_outcome outcome;
		uint32_t key;

		ck_assert_int_eq(km_aggregate_keys(s->aggregate, &events[i], 1, &key, NULL), 0);
		if (!km_replay_run(s->replay, &events[i], &key, 1, &outcome)) {
			km_aggregate_halve(s->aggregate, s->replay, events[i].time);
			ck_assert_int_eq(km_timeline_halve(t, s->aggregate, km_replay_table(s->replay), events[i].time),
					 0);
			continue;
		}
		ck_assert_int_eq(km_aggregate_account(s->aggregate, &events[i], &key, &outcome, 1, NULL), 0);
		ck_assert_int_eq(km_timeline_account(t, s->aggregate, &events[i], &key, &outcome, 1), 0);
		i++;
	}
}

static void finish(struct count_setup *s, struct km_timeline *t, uint64_t end_time)
{
	count_finish(s);
	ck_assert_int_eq(km_timeline_finish(t, end_time), 0);
}

/* --- the model --- */

/* What each event makes live and takes away, in hindsight. */
struct step {
	uint64_t old_site, old_bytes; /* bytes 0: none */
	uint64_t site, bytes;
	bool forgets;
};

static struct step *model_steps(const struct km_event *events, size_t count, uint64_t objects_count, bool resets)
{
	struct naive *naive = naive_new(objects_count, COUNT_CPUS);
	struct step *steps = calloc(count, sizeof(*steps));
	size_t *owners = calloc(count, sizeof(*owners));

	if (resets)
		naive_reset_on_loss(naive);
	for (size_t i = 0; i < count; i++) {
		struct naive_result result = naive_play(naive, &events[i], 1);
		bool has_old = result.kind == KM_OUTCOME_MATCHED || result.implied_free;

		owners[i] = i;
		if (has_old) {
			steps[i].old_site = events[owners[result.born]].call_site;
			steps[i].old_bytes = result.object.bytes_alloc;
		}
		if (result.kind == KM_OUTCOME_TRACKED)
			steps[i].bytes = events[i].bytes_alloc;
		if (result.kind == KM_OUTCOME_DOUBLED && !result.first_overflowed)
			owners[result.born] = i;
		steps[i].forgets = result.kind == KM_OUTCOME_RESET;
	}
	for (size_t i = 0; i < count; i++)
		steps[i].site = events[owners[i]].call_site;
	free(owners);
	naive_free(naive);
	return steps;
}

/* Spans of one site, or of all of them (site 0), for the intervals that a timeline has. */
static void model_spans(const struct km_timeline *t, const struct km_event *events, const struct step *steps,
			size_t count, uint64_t site, struct km_timeline_span *spans)
{
	uint64_t bytes = 0, objects = 0;
	size_t points, next = 0;

	km_timeline_points(t, &points);
	for (size_t i = 0; i < points; i++) {
		struct km_timeline_span *span = &spans[i];

		*span = (struct km_timeline_span){ bytes, bytes, bytes, objects, objects, objects };
		for (; next < count && (i + 1 == points || events[next].time < km_timeline_begin(t, i + 1)); next++) {
			const struct step *step = &steps[next];

			if (step->forgets)
				bytes = objects = 0;
			if (step->old_bytes && (!site || step->old_site == site)) {
				bytes -= step->old_bytes;
				objects--;
			}
			if (step->bytes && (!site || step->site == site)) {
				bytes += step->bytes;
				objects++;
			}
			span->lowest_bytes = bytes < span->lowest_bytes ? bytes : span->lowest_bytes;
			span->peak_bytes = bytes > span->peak_bytes ? bytes : span->peak_bytes;
			span->lowest_count = objects < span->lowest_count ? objects : span->lowest_count;
			span->peak_count = objects > span->peak_count ? objects : span->peak_count;
			span->live_bytes = bytes;
			span->live_count = objects;
		}
	}
}

static void expect_spans(const struct km_timeline_span *spans, const struct km_timeline_span *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(spans[i].live_bytes, wanted[i].live_bytes);
		ck_assert_uint_eq(spans[i].live_count, wanted[i].live_count);
		ck_assert_uint_eq(spans[i].peak_bytes, wanted[i].peak_bytes);
		ck_assert_uint_eq(spans[i].peak_count, wanted[i].peak_count);
		ck_assert_uint_eq(spans[i].lowest_bytes, wanted[i].lowest_bytes);
		ck_assert_uint_eq(spans[i].lowest_count, wanted[i].lowest_count);
	}
}

static uint64_t most_bytes(const struct km_timeline_span *spans, size_t count)
{
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++)
		most = spans[i].peak_bytes > most ? spans[i].peak_bytes : most;
	return most;
}

/* Sums and peaks of the whole are those that the aggregate counted. */
static void check_total(const struct count_setup *s, const struct km_timeline *t)
{
	struct km_timeline_point sum = { 0 };
	uint64_t peak_time = 0;
	struct km_row total;
	size_t count;
	const struct km_timeline_point *points = km_timeline_points(t, &count);

	ck_assert_int_eq(km_aggregate_total(s->aggregate, &total), 0);
	for (size_t i = 0; i < count; i++) {
		sum.allocs_count += points[i].allocs_count;
		sum.matched_frees_count += points[i].matched_frees_count;
		sum.implied_frees_count += points[i].implied_frees_count;
		sum.overflowed_count += points[i].overflowed_count;
		sum.overflowed_bytes += points[i].overflowed_bytes;
		if (points[i].span.peak_bytes > sum.span.peak_bytes) {
			sum.span.peak_bytes = points[i].span.peak_bytes;
			peak_time = points[i].peak_time;
		}
		if (points[i].span.peak_count > sum.span.peak_count)
			sum.span.peak_count = points[i].span.peak_count;
	}
	ck_assert_uint_eq(sum.allocs_count, total.sums.allocs_count);
	ck_assert_uint_eq(sum.matched_frees_count, total.sums.matched_frees_count);
	ck_assert_uint_eq(sum.implied_frees_count, total.sums.implied_frees_count);
	ck_assert_uint_eq(sum.overflowed_count, total.sums.overflowed_count);
	ck_assert_uint_eq(sum.overflowed_bytes, total.sums.overflowed_bytes);
	ck_assert_uint_eq(sum.span.peak_bytes, total.level.peak_live_bytes);
	ck_assert_uint_eq(sum.span.peak_count, total.level.peak_live_count);
	ck_assert_uint_eq(points[count - 1].span.live_bytes, total.sums.live_bytes);
	ck_assert_uint_eq(points[count - 1].span.live_count, total.sums.live_count);
	if (total.level.peak_live_bytes)
		ck_assert_uint_eq(peak_time, total.level.peak_time);
	km_row_release(&total);
}

/* Likewise those of each row. */
static void check_rows(const struct count_setup *s, const struct km_timeline *t)
{
	size_t count, rows = km_aggregate_rows_count(s->aggregate, KM_AXIS_SITE);
	struct km_timeline_span *spans;

	km_timeline_points(t, &count);
	spans = calloc(count, sizeof(*spans));
	for (size_t i = 0; i < rows; i++) {
		struct km_row row;

		ck_assert_int_eq(km_aggregate_row(s->aggregate, KM_AXIS_SITE, i, false, &row), 0);
		km_timeline_row(t, i, spans);
		ck_assert_uint_eq(most_bytes(spans, count), row.level.peak_live_bytes);
		ck_assert_uint_eq(spans[count - 1].live_bytes, row.sums.live_bytes);
		ck_assert_uint_eq(spans[count - 1].live_count, row.sums.live_count);
		km_row_release(&row);
	}
	free(spans);
}

static void check_stream(const struct naive_stream *stream, unsigned limit, uint64_t objects_count, bool resets)
{
	struct km_event *events = calloc(stream->events_count, sizeof(*events));
	struct km_timeline_span *spans, *wanted;
	struct count_setup *s = count_set_up(NULL);
	struct km_timeline *t = make(s, limit);
	const struct km_timeline_point *points;
	struct step *steps;
	size_t count;

	naive_stream_random(stream, events);
	steps = model_steps(events, stream->events_count, objects_count, resets);
	count_start(s, objects_count, resets);
	run(s, t, events, stream->events_count);
	finish(s, t, events[stream->events_count - 1].time);
	points = km_timeline_points(t, &count);
	ck_assert_uint_ge(count, 1);
	ck_assert_uint_le(count, limit);
	check_total(s, t);
	spans = calloc(count, sizeof(*spans));
	wanted = calloc(count, sizeof(*wanted));
	model_spans(t, events, steps, stream->events_count, 0, wanted);
	for (size_t i = 0; i < count; i++)
		spans[i] = points[i].span;
	expect_spans(spans, wanted, count);
	for (size_t i = 0; i < km_aggregate_rows_count(s->aggregate, KM_AXIS_SITE); i++) {
		model_spans(t, events, steps, stream->events_count, km_aggregate_site(s->aggregate, i), wanted);
		km_timeline_row(t, i, spans);
		expect_spans(spans, wanted, count);
	}
	free(spans);
	free(wanted);
	free(steps);
	free(events);
	km_timeline_free(t);
	count_tear_down(s);
}

START_TEST(intervals_are_those_of_the_model)
{
	static const unsigned pointers[] = { 1, 4, 20, 100, 600, 3000 }, limits[] = { 2, 3, 7, 64, 512 };

	for (uint64_t seed = 1; seed <= 40; seed++) {
		const struct naive_stream stream = { .seed = seed,
						     .events_count = EVENTS,
						     .cpus = COUNT_CPUS,
						     .pointers = pointers[seed % 6],
						     .caches = 3,
						     .has_losses = seed & 1 };

		check_stream(&stream, limits[seed % 5], seed % 3 ? 0 : 50, seed % 4 == 1);
	}
}
END_TEST

START_TEST(a_sample_has_the_peaks_that_are_counted)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		const struct naive_stream stream = { .seed = seed,
						     .events_count = EVENTS,
						     .cpus = COUNT_CPUS,
						     .pointers = 600,
						     .caches = 3,
						     .free_percent = 30,
						     .pairs_are_whole = true,
						     .has_losses = seed & 1 };
		struct km_event *events = calloc(EVENTS, sizeof(*events));
		struct count_setup *s = count_set_up(NULL);
		struct km_timeline *t = make(s, 16);

		naive_stream_random(&stream, events);
		s->when_full = KM_WHEN_FULL_SAMPLE;
		count_start(s, 64, seed % 4 == 1);
		run(s, t, events, EVENTS);
		finish(s, t, events[EVENTS - 1].time);
		ck_assert_uint_ge(km_replay_table(s->replay)->k, 1);
		check_total(s, t);
		check_rows(s, t);
		km_timeline_free(t);
		count_tear_down(s);
		free(events);
	}
}
END_TEST

/* --- by hand --- */

static struct km_event alloc_at(uint64_t time, uint64_t ptr, uint64_t site, uint64_t bytes)
{
	return (struct km_event){ .kind = KM_EVENT_KMALLOC,
				  .time = time,
				  .ptr = ptr,
				  .call_site = site,
				  .bytes_req = bytes,
				  .bytes_alloc = bytes,
				  .node = KM_NODE_ANY };
}

static struct km_event free_at(uint64_t time, uint64_t ptr)
{
	return (struct km_event){ .kind = KM_EVENT_KFREE, .time = time, .ptr = ptr, .call_site = SITE };
}

START_TEST(a_pair_is_its_second_sites_from_the_first_event_on)
{
	struct count_setup *s = count_set_up(NULL);
	struct km_timeline *t = make(s, 512);
	struct km_timeline_span spans[512];
	struct km_event events[] = { alloc_at(START_TIME, PTR, SITE, 16384),
				     alloc_at(START_TIME + 100, PTR + 64, SITE, 64),
				     alloc_at(START_TIME + 200, PTR, SITE + 8, 16384), free_at(START_TIME + 300, PTR) };

	events[1].cpu = 1;
	count_start(s, 0, false);
	run(s, t, events, 4);
	finish(s, t, START_TIME + 400);
	km_timeline_row(t, 0, spans);
	ck_assert_uint_eq(spans[0].peak_bytes, 0);
	ck_assert_uint_eq(spans[100].live_bytes, 64);
	ck_assert_uint_eq(spans[400].peak_bytes, 64);
	km_timeline_row(t, 1, spans);
	ck_assert_uint_eq(spans[0].live_bytes, 16384);
	ck_assert_uint_eq(spans[299].live_bytes, 16384);
	ck_assert_uint_eq(spans[300].peak_bytes, 16384);
	ck_assert_uint_eq(spans[300].live_bytes, 0);
	check_total(s, t);
	km_timeline_free(t);
	count_tear_down(s);
}
END_TEST

/* The second comes when nobody waits any more: what is live in the end is right all the same. */
START_TEST(a_pair_far_apart_is_moved_late)
{
	enum { BETWEEN = KM_TIMELINE_HELD_LIMIT + 10 };

	struct count_setup *s = count_set_up(NULL);
	struct km_timeline *t = make(s, 64);
	struct km_event *events = calloc(BETWEEN + 2, sizeof(*events));
	struct km_timeline_span spans[64];
	size_t count;

	events[0] = alloc_at(START_TIME, PTR, SITE, 16384);
	for (uint64_t i = 1; i <= BETWEEN; i++) {
		events[i] = i % 2 ? alloc_at(START_TIME + i, PTR + 65536, SITE + 16, 64)
				  : free_at(START_TIME + i, PTR + 65536);
		events[i].cpu = 1;
	}
	events[BETWEEN + 1] = alloc_at(START_TIME + BETWEEN + 1, PTR, SITE + 8, 16384);
	count_start(s, 0, false);
	run(s, t, events, BETWEEN + 2);
	finish(s, t, START_TIME + BETWEEN + 1);
	km_timeline_points(t, &count);
	for (size_t row = 0; row < 3; row++) {
		km_timeline_row(t, row, spans);
		ck_assert_uint_eq(spans[count - 1].live_bytes,
				  km_aggregate_site(s->aggregate, row) == SITE + 8 ? 16384 : 0);
	}
	check_total(s, t);
	free(events);
	km_timeline_free(t);
	count_tear_down(s);
}
END_TEST

START_TEST(losses_reach_back_to_their_cpus_last_event)
{
	struct count_setup *s = count_set_up(NULL);
	struct km_timeline *t = make(s, 512);
	struct km_event events[] = { alloc_at(START_TIME + 10, PTR, SITE, 64),
				     alloc_at(START_TIME + 20, PTR + 64, SITE, 64),
				     { .kind = KM_EVENT_LOST, .time = START_TIME + 30, .bytes_req = 7 },
				     alloc_at(START_TIME + 40, PTR + 128, SITE, 64) };
	const struct km_timeline_point *points;
	size_t count;

	events[1].cpu = 1;
	count_start(s, 0, false);
	run(s, t, events, 4);
	finish(s, t, START_TIME + 40);
	points = km_timeline_points(t, &count);
	ck_assert_uint_eq(count, 41);
	for (size_t i = 0; i < count; i++) {
		ck_assert_int_eq(points[i].is_lost, i >= 10 && i <= 30);
		ck_assert_uint_eq(points[i].lost_count, i == 30 ? 7 : 0);
	}
	km_timeline_free(t);
	count_tear_down(s);
}
END_TEST

/* Nothing at all is one interval, and a selection that begins later has its intervals from there. */
START_TEST(intervals_begin_with_the_selection)
{
	struct count_setup *s = count_set_up(NULL);
	struct km_timeline *t = make(s, 8);
	struct km_event events[] = { { .kind = KM_EVENT_LOST, .time = START_TIME + 10, .bytes_req = 1 },
				     alloc_at(START_TIME + 10, PTR, SITE, 64),
				     alloc_at(START_TIME + 120, PTR + 64, SITE, 32) };
	const struct km_timeline_point *points;
	size_t count;

	s->selection.from_time = START_TIME + 100;
	count_start(s, 0, false);
	run(s, t, events, 3);
	finish(s, t, START_TIME + 130);
	points = km_timeline_points(t, &count);
	ck_assert_uint_eq(km_timeline_begin(t, 0), START_TIME + 100);
	ck_assert_uint_eq(km_timeline_end(t, count - 1), START_TIME + 130);
	ck_assert_uint_eq(points[0].span.live_bytes, 0);
	ck_assert(!points[0].is_lost);
	ck_assert_uint_eq(points[count - 1].span.live_bytes, 32);
	km_timeline_free(t);
	t = make(s, 8);
	ck_assert_int_eq(km_timeline_finish(t, START_TIME + 100), 0);
	km_timeline_points(t, &count);
	ck_assert_uint_eq(count, 1);
	km_timeline_free(t);
	km_timeline_free(NULL);
	count_tear_down(s);
}
END_TEST

/* Rows that are busy all the time take memory: intervals are merged, and every peak is still there. */
START_TEST(many_busy_rows_have_fewer_intervals)
{
	enum { SITES = 1100, ROUNDS = 512 };

	struct count_setup *s = count_set_up(NULL);
	struct km_timeline *t = make(s, ROUNDS);
	struct km_timeline_span spans[ROUNDS];
	struct km_event events[SITES];
	size_t count;

	count_start(s, 0, false);
	for (uint64_t round = 0; round < ROUNDS; round++) {
		for (uint64_t i = 0; i < SITES; i++)
			events[i] =
				alloc_at(START_TIME + round, PTR + i * 4096, SITE + i * 16, 8 + (round == i % ROUNDS));
		run(s, t, events, SITES);
	}
	finish(s, t, START_TIME + ROUNDS);
	km_timeline_points(t, &count);
	ck_assert_uint_gt(count, 1);
	ck_assert_uint_le(count, ROUNDS / 2 + 1);
	for (size_t i = 0; i < SITES; i++) {
		km_timeline_row(t, i, spans);
		ck_assert_uint_eq(most_bytes(spans, count), 9);
		ck_assert_uint_eq(spans[count - 1].live_count, 1);
	}
	check_total(s, t);
	km_timeline_free(t);
	count_tear_down(s);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		intervals_are_those_of_the_model,
		a_sample_has_the_peaks_that_are_counted,
		a_pair_is_its_second_sites_from_the_first_event_on,
		a_pair_far_apart_is_moved_late,
		losses_reach_back_to_their_cpus_last_event,
		intervals_begin_with_the_selection,
		many_busy_rows_have_fewer_intervals,
		NULL,
	};

	return km_test_main("timeline", tests, 120);
}
