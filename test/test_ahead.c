/* SPDX-License-Identifier: GPL-2.0-only */
#include "ahead.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "naive_model.h"
#include "testing.h"

/* A lane's source: events in order, in batches of random sizes. Nothing of it is locked, on purpose. */
struct lane_source {
	uint64_t random;
	uint16_t lane;
	uint64_t time;
	uint64_t made, total;
	bool ends_empty;  /* the last batch has no event */
	uint64_t fail_at; /* an error once so many were made; UINT64_MAX: never */
	bool is_over;
	atomic_int running;
};

static int produce(void *context, struct km_event *events, size_t capacity, size_t *ret_count, struct km_error *error)
{
	struct lane_source *s = context;
	uint64_t left = s->total - s->made;
	size_t n = 1 + naive_random(&s->random) % capacity;
	bool is_last;

	ck_assert_int_eq(atomic_fetch_add(&s->running, 1), 0); /* one thread at a time */
	ck_assert(!s->is_over);                                /* not called again behind its end */
	if (s->made >= s->fail_at) {
		s->is_over = true;
		atomic_fetch_sub(&s->running, 1);
		return km_error_set(error, -EBADMSG, "lane %u is damaged at %llu", s->lane,
				    (unsigned long long)s->fail_at);
	}
	if (n > left)
		n = left;
	if (n > s->fail_at - s->made)
		n = s->fail_at - s->made;
	for (size_t i = 0; i < n; i++) {
		s->time += naive_random(&s->random) % 4; /* many ties */
		events[i] = (struct km_event){ .time = s->time, .cpu = s->lane, .ptr = s->made++ };
	}
	is_last = s->made == s->total && s->fail_at == UINT64_MAX && !(s->ends_empty && n);
	s->is_over = is_last;
	*ret_count = n;
	atomic_fetch_sub(&s->running, 1);
	return !is_last;
}

struct lanes {
	struct lane_source *sources;
	struct km_ahead_producer *producers;
	size_t count;
	struct km_ahead *ahead;
	struct km_merge *merge;
};

/* Lanes of different lengths, some without any event. */
static void set_up(struct lanes *l, size_t count, uint64_t events, uint64_t seed)
{
	*l = (struct lanes){ .count = count };
	l->sources = calloc(count ? count : 1, sizeof(*l->sources));
	l->producers = calloc(count ? count : 1, sizeof(*l->producers));
	for (size_t i = 0; i < count; i++) {
		uint64_t random = seed * 1000 + i;

		l->sources[i] = (struct lane_source){ .lane = (uint16_t)i,
						      .total = naive_random(&random) % (2 * events),
						      .ends_empty = naive_random(&random) % 2,
						      .fail_at = UINT64_MAX };
		if (naive_random(&random) % 8 == 0) {
			l->sources[i].total = 0;
			l->sources[i].ends_empty = false;
		}
		l->sources[i].random = random;
		l->producers[i] = (struct km_ahead_producer){ .context = &l->sources[i], .produce = produce };
	}
}

static void start(struct lanes *l, unsigned threads, size_t capacity)
{
	ck_assert_int_eq(km_ahead_new(l->producers, l->count, threads, capacity, &l->ahead, NULL), 0);
	l->merge = km_merge_new(km_ahead_streams(l->ahead), l->count);
	ck_assert_ptr_nonnull(l->merge);
	memset(l->producers, 0xff, l->count * sizeof(*l->producers)); /* they were copied */
}

static void tear_down(struct lanes *l)
{
	km_merge_free(l->merge);
	km_ahead_free(l->ahead);
	free(l->producers);
	free(l->sources);
}

static uint64_t total_of(const struct lanes *l)
{
	uint64_t total = 0;

	for (size_t i = 0; i < l->count; i++)
		total += l->sources[i].total;
	return total;
}

/* Reads up to `limit` events, or to the end or an error, whose code is returned. */
static int read_some(struct lanes *l, struct km_event *events, uint64_t limit, uint64_t *ret_count,
		     struct km_error *error)
{
	uint64_t count = 0;
	int n = 0;

	while (count < limit) {
		size_t room = limit - count < 97 ? (size_t)(limit - count) : 97;

		n = km_merge_read(l->merge, events + count, room, error);
		if (n <= 0)
			break;
		count += (uint64_t)n;
	}
	*ret_count = count;
	return n < 0 ? n : 0;
}

/* All of it, in each lane's order and in time. */
static struct km_event *read_all(struct lanes *l, uint64_t *ret_count)
{
	uint64_t total = total_of(l);
	struct km_event *events = calloc(total + 1, sizeof(*events));
	uint64_t *next = calloc(l->count ? l->count : 1, sizeof(*next));
	struct km_error error = { 0 };

	ck_assert_msg(!read_some(l, events, total + 1, ret_count, &error), "%s", error.text);
	ck_assert_uint_eq(*ret_count, total);
	for (uint64_t i = 0; i < total; i++) {
		ck_assert_uint_eq(events[i].ptr, next[events[i].cpu]++);
		ck_assert(!i || events[i].time >= events[i - 1].time);
	}
	free(next);
	return events;
}

static const unsigned threads_tried[] = { 0, 1, 2, 4, 16, 1000 };
#define THREADS_TRIED (sizeof(threads_tried) / sizeof(threads_tried[0]))

static void expect_same_for_any_threads(size_t lanes, uint64_t events, size_t capacity)
{
	struct km_event *wanted = NULL;
	uint64_t wanted_count = 0;

	for (size_t t = 0; t < THREADS_TRIED; t++) {
		struct lanes l;
		struct km_event *got;
		uint64_t count;

		set_up(&l, lanes, events, lanes + capacity);
		start(&l, threads_tried[t], capacity);
		got = read_all(&l, &count);
		if (!t) {
			wanted = got;
			wanted_count = count;
		} else {
			ck_assert_uint_eq(count, wanted_count);
			ck_assert_msg(!count || !memcmp(got, wanted, count * sizeof(*got)), "%zu lanes, %u threads",
				      lanes, threads_tried[t]);
			free(got);
		}
		tear_down(&l);
	}
	free(wanted);
}

START_TEST(one_lane_is_the_same_for_any_threads)
{
	expect_same_for_any_threads(1, 5000, 50);
	expect_same_for_any_threads(1, 200, 1);
}
END_TEST

START_TEST(three_lanes_are_the_same_for_any_threads)
{
	expect_same_for_any_threads(3, 5000, 64);
	expect_same_for_any_threads(3, 100, 1000);
}
END_TEST

START_TEST(many_lanes_are_the_same_for_any_threads)
{
	expect_same_for_any_threads(600, 60, 16);
}
END_TEST

START_TEST(no_lanes_are_an_end)
{
	for (size_t t = 0; t < THREADS_TRIED; t++) {
		struct lanes l;
		struct km_event event;

		set_up(&l, 0, 1, 1);
		start(&l, threads_tried[t], 8);
		ck_assert_int_eq(km_merge_read(l.merge, &event, 1, NULL), 0);
		tear_down(&l);
	}
}
END_TEST

START_TEST(a_lane_with_nothing_has_ended)
{
	struct lanes l;
	struct km_event events[4];

	for (size_t t = 0; t < THREADS_TRIED; t++) {
		set_up(&l, 2, 1, 1);
		l.sources[0] = (struct lane_source){ .fail_at = UINT64_MAX };
		l.sources[1] = (struct lane_source){ .lane = 1, .total = 1, .ends_empty = true, .fail_at = UINT64_MAX };
		start(&l, threads_tried[t], 8);
		ck_assert_int_eq(km_merge_read(l.merge, events, 4, NULL), 1);
		ck_assert_uint_eq(events[0].cpu, 1);
		ck_assert_int_eq(km_merge_read(l.merge, events, 4, NULL), 0);
		ck_assert_int_eq(km_merge_read(l.merge, events, 4, NULL), 0);
		tear_down(&l);
	}
}
END_TEST

/* Wherever the threads are, the error comes behind the lane's last event, with its own text. */
START_TEST(an_error_comes_out_in_its_place)
{
	uint64_t first_count = 0;

	for (size_t t = 0; t < THREADS_TRIED; t++) {
		struct km_error error = { 0 };
		struct km_event *events;
		struct lanes l;
		uint64_t count, of_lane = 0;

		set_up(&l, 3, 3000, 7);
		for (size_t i = 0; i < 3; i++)
			l.sources[i].total = 3000;
		l.sources[1].fail_at = 1234;
		start(&l, threads_tried[t], 32);
		events = calloc(total_of(&l), sizeof(*events));
		ck_assert_int_eq(read_some(&l, events, total_of(&l), &count, &error), -EBADMSG);
		ck_assert_int_eq(error.code, -EBADMSG);
		ck_assert_str_eq(error.text, "lane 1 is damaged at 1234");
		for (uint64_t i = 0; i < count; i++)
			of_lane += events[i].cpu == 1;
		ck_assert_uint_le(of_lane, 1234);
		if (!t)
			first_count = count;
		ck_assert_uint_eq(count, first_count);
		free(events);
		tear_down(&l);
	}
}
END_TEST

/* A stream on its own: every event before the error, then the error, again and again. */
START_TEST(a_lane_tells_its_error_behind_all_its_events)
{
	for (size_t t = 0; t < THREADS_TRIED; t++) {
		struct km_merge_stream *stream;
		struct lanes l;
		uint64_t got = 0;
		int code;

		set_up(&l, 1, 1, 3);
		l.sources[0].total = 1000;
		l.sources[0].fail_at = 321;
		start(&l, threads_tried[t], 10);
		stream = km_ahead_streams(l.ahead)[0];
		while ((code = stream->refill(stream, NULL)) > 0) {
			ck_assert_uint_gt(stream->count, 0);
			ck_assert_uint_eq(stream->at, 0);
			ck_assert_uint_eq(stream->events[0].ptr, got);
			got += stream->count;
		}
		ck_assert_int_eq(code, -EBADMSG);
		ck_assert_uint_eq(got, 321);
		ck_assert_int_eq(stream->refill(stream, NULL), -EBADMSG);
		tear_down(&l);
	}
}
END_TEST

START_TEST(reading_goes_on_behind_a_stop)
{
	for (size_t t = 0; t < THREADS_TRIED; t++) {
		struct lanes l, whole;
		struct km_event *wanted, *got;
		uint64_t count, first, rest;

		set_up(&whole, 5, 1000, 11);
		start(&whole, 1, 20);
		wanted = read_all(&whole, &count);
		set_up(&l, 5, 1000, 11);
		start(&l, threads_tried[t], 20);
		got = calloc(count + 1, sizeof(*got));
		ck_assert_int_eq(read_some(&l, got, count / 3, &first, NULL), 0);
		km_ahead_stop(l.ahead);
		l.sources[0].running = 0; /* nobody else may be there now: the thread sanitizer looks on */
		ck_assert_int_eq(read_some(&l, got + first, count + 1 - first, &rest, NULL), 0);
		ck_assert_uint_eq(first + rest, count);
		ck_assert_int_eq(memcmp(got, wanted, count * sizeof(*got)), 0);
		km_ahead_stop(l.ahead); /* once more does no harm */
		free(got);
		free(wanted);
		tear_down(&l);
		tear_down(&whole);
	}
}
END_TEST

START_TEST(it_may_be_freed_at_any_moment)
{
	static const uint64_t read_before[] = { 0, 1, 50, 777 };

	km_ahead_free(NULL);
	for (size_t t = 0; t < THREADS_TRIED; t++) {
		for (size_t i = 0; i < sizeof(read_before) / sizeof(read_before[0]); i++) {
			struct km_event *events = calloc(1000, sizeof(*events));
			struct lanes l;
			uint64_t count;

			set_up(&l, 20, 500, 13);
			start(&l, threads_tried[t], 16);
			ck_assert_int_eq(read_some(&l, events, read_before[i], &count, NULL), 0);
			free(events);
			tear_down(&l);
		}
	}
}
END_TEST

START_TEST(one_thread_makes_only_what_is_asked_for)
{
	struct lanes l;
	struct km_event event;

	set_up(&l, 2, 1, 1);
	l.sources[0].total = l.sources[1].total = 1000;
	start(&l, 1, 10);
	ck_assert_uint_eq(l.sources[0].made + l.sources[1].made, 0);
	ck_assert_int_eq(km_merge_read(l.merge, &event, 1, NULL), 1);
	ck_assert_uint_le(l.sources[0].made, 20);
	ck_assert_uint_le(l.sources[1].made, 20);
	tear_down(&l);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { one_lane_is_the_same_for_any_threads,
				 three_lanes_are_the_same_for_any_threads,
				 many_lanes_are_the_same_for_any_threads,
				 no_lanes_are_an_end,
				 a_lane_with_nothing_has_ended,
				 an_error_comes_out_in_its_place,
				 a_lane_tells_its_error_behind_all_its_events,
				 reading_goes_on_behind_a_stop,
				 it_may_be_freed_at_any_moment,
				 one_thread_makes_only_what_is_asked_for,
				 NULL };

	return km_test_main("ahead", tests, 60);
}
