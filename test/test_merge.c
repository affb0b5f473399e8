/* SPDX-License-Identifier: GPL-2.0-only */
#include "merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "naive_model.h"
#include "testing.h"

/* A stream that hands out what it has in pieces. */
struct source {
	struct km_merge_stream stream; /* first: refill gets a pointer to it */
	struct km_event *all;
	size_t all_count, all_at;
	size_t piece_limit; /* 0: all at once */
	uint64_t random;
	int fails_with; /* once it has ended */
	struct km_event window[64];
};

static int refill(struct km_merge_stream *stream, struct km_error *error)
{
	struct source *s = (struct source *)stream;
	size_t left = s->all_count - s->all_at, n = left;

	if (!left)
		return s->fails_with ? km_error_set(error, s->fails_with, "damaged") : 0;
	if (s->piece_limit)
		n = 1 + naive_random(&s->random) % s->piece_limit;
	if (n > left)
		n = left;
	stream->at = 0;
	stream->count = n;
	if (s->piece_limit) { /* over what was there: nobody may look at it any more */
		memcpy(s->window, s->all + s->all_at, n * sizeof(*s->window));
		stream->events = s->window;
	} else {
		stream->events = s->all + s->all_at;
	}
	s->all_at += n;
	return 1;
}

struct set {
	size_t count;
	struct source *sources;
	struct km_merge_stream **streams;
	size_t total;
};

/* Streams of random lengths, some of them empty; times grow by 0 to `step`. */
static struct set make_set(uint64_t seed, size_t count, size_t length, unsigned step, size_t piece_limit)
{
	struct set set = { .count = count,
			   .sources = calloc(count, sizeof(struct source)),
			   .streams = calloc(count, sizeof(struct km_merge_stream *)) };

	for (size_t i = 0; i < count; i++) {
		struct source *s = &set.sources[i];
		uint64_t time = 10;

		s->stream.refill = refill;
		s->piece_limit = piece_limit;
		s->random = seed + i;
		s->all_count = naive_random(&seed) % 5 ? naive_random(&seed) % (length + 1) : 0;
		s->all = calloc(s->all_count + 1, sizeof(*s->all));
		for (size_t k = 0; k < s->all_count; k++) {
			/* A pause now and then makes long runs for the others. */
			time += naive_random(&seed) % 50 ? naive_random(&seed) % (step + 1) : 20 * step;
			s->all[k] = (struct km_event){ .time = time, .cpu = (uint16_t)i, .ptr = k + 1 };
		}
		set.total += s->all_count;
		set.streams[i] = &s->stream;
	}
	return set;
}

static void release_set(struct set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free(set->sources[i].all);
	free(set->sources);
	free(set->streams);
}

static int by_time_and_stream(const void *x, const void *y)
{
	const struct km_event *a = x, *b = y;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->ptr < b->ptr ? -1 : a->ptr > b->ptr;
}

/* What should come: sorted, and TIED where a time is on two streams. */
static struct km_event *sorted(const struct set *set)
{
	struct km_event *events = calloc(set->total + 1, sizeof(*events));
	size_t n = 0;

	for (size_t i = 0; i < set->count; i++) {
		for (size_t k = 0; k < set->sources[i].all_count; k++)
			events[n++] = set->sources[i].all[k];
	}
	qsort(events, n, sizeof(*events), by_time_and_stream);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from; to < n && events[to].time == events[from].time;)
			to++;
		for (size_t i = from; i < to && events[from].cpu != events[to - 1].cpu; i++)
			events[i].flags |= KM_EVENT_TIED;
	}
	return events;
}

static void check_merge(struct set *set, size_t capacity)
{
	struct km_merge *merge = km_merge_new(set->streams, set->count);
	struct km_event *wanted = sorted(set), *batch = calloc(capacity, sizeof(*batch));
	struct km_error error = { 0 };
	size_t at = 0;
	int n;

	ck_assert_ptr_nonnull(merge);
	while ((n = km_merge_read(merge, batch, capacity, &error)) > 0) {
		if ((size_t)n > capacity || at + (size_t)n > set->total)
			ck_abort_msg("%d events at %zu of %zu", n, at, set->total);
		for (size_t i = 0; i < (size_t)n; i++) {
			const struct km_event *e = &batch[i], *w = &wanted[at + i];

			if (memcmp(e, w, sizeof(*e)))
				ck_abort_msg("event %zu: %" PRIu64 " of %u (%" PRIu64 ") flags %x, not %" PRIu64
					     " of %u (%" PRIu64 ") flags %x",
					     at + i, e->time, e->cpu, e->ptr, e->flags, w->time, w->cpu, w->ptr,
					     w->flags);
		}
		at += (size_t)n;
	}
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(at, set->total);
	ck_assert_int_eq(km_merge_read(merge, batch, capacity, &error), 0); /* the end stays the end */
	free(batch);
	free(wanted);
	km_merge_free(merge);
}

static void check_random(uint64_t seed, size_t count, size_t length, unsigned step, size_t piece_limit, size_t capacity)
{
	struct set set = make_set(seed, count, length, step, piece_limit);

	check_merge(&set, capacity);
	release_set(&set);
}

START_TEST(as_a_stable_sort)
{
	static const size_t counts[] = { 1, 2, 3, 4, 5, 8, 17 };
	static const size_t capacities[] = { 1, 2, 7, 1000 };
	uint64_t seed = 1;

	for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
		for (size_t i = 0; i < sizeof(capacities) / sizeof(*capacities); i++) {
			/* Nearly all in ties, many, few. */
			for (unsigned step = 1; step <= 1000; step *= 10, seed++)
				check_random(seed, counts[c], 150, step, seed % 3 ? 1 + seed % 64 : 0, capacities[i]);
		}
	}
}
END_TEST

START_TEST(one_event_at_a_time)
{
	for (uint64_t seed = 1; seed <= 20; seed++)
		check_random(seed, 6, 60, 2, 1, 1);
}
END_TEST

START_TEST(hundreds_of_streams)
{
	check_random(1, 512, 100, 1000, 0, 1024);
	check_random(2, 512, 100, 3, 16, 1024);
	check_random(3, 512, 20, 0, 0, 100); /* all of one time */
}
END_TEST

START_TEST(nothing_to_merge)
{
	struct km_merge_stream *none[1] = { NULL };
	struct km_merge *merge = km_merge_new(none, 0);
	struct km_event event;

	ck_assert_ptr_nonnull(merge);
	ck_assert_int_eq(km_merge_read(merge, &event, 1, NULL), 0);
	km_merge_free(merge);
	km_merge_free(NULL);
	check_random(1, 7, 0, 1, 0, 4); /* only empty ones */
}
END_TEST

START_TEST(one_stream_has_no_ties)
{
	struct km_event events[] = { { .time = 5 }, { .time = 5 }, { .time = 5 } };
	struct source source = { .stream = { .refill = refill }, .all = events, .all_count = 3 };
	struct km_merge_stream *streams[] = { &source.stream };
	struct km_merge *merge = km_merge_new(streams, 1);
	struct km_event got[4];

	ck_assert_int_eq(km_merge_read(merge, got, 4, NULL), 3);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_eq(got[i].flags, 0);
	km_merge_free(merge);
}
END_TEST

/* A long run on one stream, at whose last time the other begins. */
START_TEST(a_tie_at_the_end_of_a_run)
{
	struct km_event a[100], b[] = { { .time = 98, .cpu = 1 }, { .time = 200, .cpu = 1 } };
	struct source sources[] = { { .stream = { .refill = refill }, .all = a, .all_count = 100 },
				    { .stream = { .refill = refill }, .all = b, .all_count = 2 } };
	struct km_merge_stream *streams[] = { &sources[1].stream, &sources[0].stream };
	struct km_merge *merge = km_merge_new(streams, 2);
	struct km_event got[128];

	for (unsigned i = 0; i < 100; i++)
		a[i] = (struct km_event){ .time = i < 97 ? i : 98 };
	ck_assert_int_eq(km_merge_read(merge, got, 128, NULL), 102);
	for (unsigned i = 0; i < 102; i++)
		ck_assert_uint_eq(got[i].flags, i >= 97 && i < 101 ? KM_EVENT_TIED : 0);
	ck_assert_uint_eq(got[97].cpu, 1); /* the first stream's, though its CPU is higher */
	ck_assert_uint_eq(got[101].time, 200);
	km_merge_free(merge);
}
END_TEST

START_TEST(an_error_is_handed_on)
{
	struct km_event events[] = { { .time = 1 }, { .time = 2 } };
	struct source source = {
		.stream = { .refill = refill }, .all = events, .all_count = 2, .piece_limit = 1, .fails_with = -EBADMSG
	};
	struct source empty = { .stream = { .refill = refill }, .fails_with = -EIO };
	struct km_merge_stream *streams[] = { &source.stream }, *at_start[] = { &empty.stream };
	struct km_merge *merge = km_merge_new(streams, 1), *other = km_merge_new(at_start, 1);
	struct km_error error = { 0 };
	struct km_event got[1];
	int n = 0;

	for (unsigned i = 0; i < 3 && n >= 0; i++)
		n = km_merge_read(merge, got, 1, &error);
	ck_assert_int_eq(n, -EBADMSG);
	ck_assert_int_eq(error.code, -EBADMSG);
	ck_assert_int_eq(km_merge_read(other, got, 1, NULL), -EIO);
	km_merge_free(merge);
	km_merge_free(other);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		as_a_stable_sort,       one_event_at_a_time,       hundreds_of_streams,   nothing_to_merge,
		one_stream_has_no_ties, a_tie_at_the_end_of_a_run, an_error_is_handed_on, NULL,
	};

	return km_test_main("merge", tests, 60);
}
