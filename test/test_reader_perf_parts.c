/* SPDX-License-Identifier: GPL-2.0-only */
/* Recordings of several files: pieces of perf record --switch-output, directories of perf record --threads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "perf_rounds.h"
#include "perf_writer.h"
#include "read_back.h"
#include "testing.h"

#define EVENTS      3000
#define PARTS_LIMIT 8

struct recording {
	struct km_reader *reader;
	void *data[PARTS_LIMIT];
	size_t count;
};

/* A part's source borrows its bytes until the recording is released. */
static struct km_source *part_source(struct recording *t, const char *name, void *data, size_t bytes)
{
	ck_assert_uint_lt(t->count, PARTS_LIMIT);
	t->data[t->count++] = data;
	return km_source_new_memory(name, data, bytes);
}

static void release(struct recording *t)
{
	km_reader_close(t->reader);
	for (size_t i = 0; i < t->count; i++)
		free(t->data[i]);
}

static void open_first(struct recording *t, struct pw *pw)
{
	size_t bytes;

	*t = (struct recording){ .count = 1 };
	t->data[0] = pw_finish(pw, &bytes);
	pw_free(pw);
	t->reader = km_read_back_open(t->data[0], bytes, NULL);
}

static int add_piece(struct recording *t, struct pw *pw, struct km_error *error)
{
	size_t bytes;
	void *data = pw_finish(pw, &bytes);
	struct km_source *source = part_source(t, "piece", data, bytes);
	int r = km_reader_add(t->reader, source, KM_PART_BEHIND, error);

	pw_free(pw);
	if (r)
		km_source_close(source);
	return r;
}

/* The data section of a file alone, which is what a directory's files are. */
static void add_beside(struct recording *t, struct pw *pw)
{
	size_t bytes;
	uint8_t *data = pw_finish(pw, &bytes);
	uint64_t offset = km_load64(data + 40, false), size = km_load64(data + 48, false);
	struct km_error error = { 0 };

	pw_free(pw);
	memmove(data, data + offset, size);
	ck_assert_int_eq(km_reader_add(t->reader, part_source(t, "data.N", data, size), KM_PART_BESIDE, &error), 0);
}

static struct km_event *random_events(unsigned cpus, bool ties)
{
	struct tw_stream stream = { .seed = cpus, .events_count = EVENTS, .cpus = cpus, .ties = ties };
	struct km_event *events = calloc(EVENTS, sizeof(*events));

	ck_assert_ptr_nonnull(events);
	tw_stream_random(NULL, &stream, events);
	return events;
}

/* Reads twice and compares with the events, which are brought into the reader's order. */
static void expect(struct recording *t, struct km_event *events, unsigned cpus)
{
	const struct km_event_count *counts;
	const struct km_buffer_stats *stats;
	uint64_t first = 0, last = 0, total = 0;
	size_t count;

	km_perf_rounds_expect(events, EVENTS);
	for (int pass = 0; pass < 2; pass++) {
		struct km_event *got = km_read_back_all(t->reader, 0, 64, &count);

		ck_assert_uint_eq(count, EVENTS);
		for (size_t i = 0; i < count; i++)
			km_perf_rounds_compare(t->reader, &got[i], &events[i]);
		free(got);
	}
	stats = km_reader_stats(t->reader);
	ck_assert_uint_eq(stats->events_count, EVENTS);
	ck_assert_uint_eq(stats->backwards_count + stats->forced_count + stats->skipped_count, 0);
	ck_assert_ptr_null(stats->first_damage);
	ck_assert_uint_eq(stats->cpus_count, cpus);
	counts = km_reader_event_counts(t->reader, &count);
	for (size_t i = 0; i < count; i++)
		total += counts[i].count;
	ck_assert_uint_eq(total, EVENTS);
	ck_assert_int_eq(km_reader_time_range(t->reader, 0, &first, &last, NULL), 1);
	ck_assert_uint_eq(first, events[0].time);
	ck_assert_uint_eq(last, events[EVENTS - 1].time);
	free(events);
}

START_TEST(pieces_are_one_recording)
{
	for (unsigned form = 0; form < 4; form++) {
		struct pw_options options = { .cpus = 3,
					      .big_endian = form & 1,
					      .compression = form & 2 ? PW_COMPRESSED : PW_PLAIN };
		struct km_event *events = random_events(3, true);
		struct km_error error = { 0 };
		struct recording t;

		for (unsigned piece = 0; piece < 3; piece++) {
			struct pw *pw = pw_new(&options);

			km_perf_rounds_put(pw, events + piece * EVENTS / 3, EVENTS / 3, 3, 100);
			if (piece)
				ck_assert_int_eq(add_piece(&t, pw, &error), 0);
			else
				open_first(&t, pw);
		}
		expect(&t, events, 3);
		release(&t);
	}
}
END_TEST

/* What CPU 0 did while CPU 1's ring was read is in the next piece. */
START_TEST(a_piece_ends_as_a_round_does)
{
	static const struct {
		unsigned piece, cpu;
		uint64_t time;
	} events[] = { { 0, 0, 10 }, { 0, 0, 20 }, { 0, 1, 15 }, { 0, 1, 40 }, { 1, 0, 30 }, { 1, 1, 50 } };
	struct pw *pw[2] = { pw_new(&(struct pw_options){ .cpus = 2 }), pw_new(&(struct pw_options){ .cpus = 2 }) };
	struct km_error error = { 0 };
	struct km_event *got;
	struct recording t;
	size_t count;

	for (unsigned i = 0; i < 6; i++) {
		const struct km_event e = { .time = events[i].time,
					    .ptr = 0x1000 + i,
					    .bytes_req = 8,
					    .bytes_alloc = 8,
					    .cpu = (uint16_t)events[i].cpu,
					    .kind = KM_EVENT_KMALLOC,
					    .node = KM_NODE_ANY };

		pw_event(pw[events[i].piece], &e, NULL);
	}
	open_first(&t, pw[0]);
	ck_assert_int_eq(add_piece(&t, pw[1], &error), 0);
	got = km_read_back_all(t.reader, 0, 64, &count);
	ck_assert_uint_eq(count, 6);
	for (size_t i = 1; i < count; i++)
		ck_assert_uint_gt(got[i].time, got[i - 1].time);
	ck_assert_uint_eq(km_reader_stats(t.reader)->backwards_count, 0);
	free(got);
	release(&t);
}
END_TEST

START_TEST(pieces_have_an_order)
{
	struct km_event *events = random_events(1, false), batch[64];
	struct pw *pw[2] = { pw_new(&(struct pw_options){ 0 }), pw_new(&(struct pw_options){ 0 }) };
	struct km_error error = { 0 };
	struct recording t;
	int n;

	km_perf_rounds_put(pw[0], events + EVENTS / 2, EVENTS / 2, 1, 100);
	km_perf_rounds_put(pw[1], events, EVENTS / 2, 1, 100);
	open_first(&t, pw[0]);
	ck_assert_int_eq(add_piece(&t, pw[1], &error), 0);
	ck_assert_int_eq(km_reader_start(t.reader, 0, &error), 0);
	do
		n = km_reader_read(t.reader, batch, 64, &error);
	while (n > 0);
	ck_assert_int_eq(n, -EINVAL);
	ck_assert_ptr_nonnull(strstr(error.text, "in the order in which they were written"));
	free(events);
	release(&t);
}
END_TEST

/* A piece that was cut off has a hole at its end, not the recording's. */
START_TEST(a_cut_piece_is_a_gap)
{
	struct km_event *events = random_events(2, false), *got;
	const struct km_buffer_stats *stats;
	struct km_error error = { 0 };
	struct km_source *source;
	struct recording t;
	struct pw *pw = pw_new(&(struct pw_options){ .cpus = 2, .omit = PW_OMIT_DATA_SIZE | PW_OMIT_FEATURES });
	size_t bytes, count;
	void *data;

	km_perf_rounds_put(pw, events, EVENTS / 2, 2, 100);
	open_first(&t, pw);
	km_reader_close(t.reader);
	/* Rather than the file as it is, one that ends in the middle of a record. */
	pw = pw_new(&(struct pw_options){ .cpus = 2 });
	km_perf_rounds_put(pw, events, EVENTS / 2, 2, 100);
	pw_bytes(pw, "\x09\0\0\0\0\0\x40", 8); /* a SAMPLE that says it is longer than what follows */
	free(t.data[0]);
	t.data[0] = pw_finish(pw, &bytes);
	pw_free(pw);
	t.reader = km_read_back_open(t.data[0], bytes, NULL);
	pw = pw_new(&(struct pw_options){ .cpus = 2 });
	km_perf_rounds_put(pw, events + EVENTS / 2, EVENTS / 2, 2, 100);
	data = pw_finish(pw, &bytes);
	pw_free(pw);
	source = part_source(&t, "piece", data, bytes);
	ck_assert_int_eq(km_reader_add(t.reader, source, KM_PART_BEHIND, &error), 0);
	got = km_read_back_all(t.reader, 0, 64, &count);
	stats = km_reader_stats(t.reader);
	ck_assert_uint_eq(stats->events_count, EVENTS);
	ck_assert_ptr_nonnull(stats->first_damage);
	ck_assert_uint_eq(stats->cpus[0].holes_count, 1);
	ck_assert(!stats->cpus[0].is_cut);
	free(got);
	free(events);
	release(&t);
}
END_TEST

START_TEST(what_is_of_another_recording_is_refused)
{
	struct km_error error = { 0 };
	struct recording t;
	struct km_source *source;
	struct tw *tw = tw_new(&(struct tw_options){ 0 });
	size_t bytes;

	open_first(&t, pw_new(&(struct pw_options){ 0 }));
	ck_assert_int_eq(add_piece(&t, pw_new(&(struct pw_options){ .is_pipe = true }), &error), -EINVAL);
	error = (struct km_error){ 0 };
	ck_assert_int_eq(add_piece(&t, pw_new(&(struct pw_options){ .big_endian = true }), &error), -EINVAL);
	error = (struct km_error){ 0 };
	ck_assert_int_eq(add_piece(&t, pw_new(&(struct pw_options){ .kernel = TW_KERNEL_5_12 }), &error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error.text, "two recordings"));
	error = (struct km_error){ 0 };
	source = part_source(&t, "other", tw_finish(tw, &bytes), bytes);
	ck_assert_int_eq(km_reader_add(t.reader, source, KM_PART_BEHIND, &error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error.text, "other is not a perf.data"));
	km_source_close(source);
	release(&t);
	tw_free(tw);
}
END_TEST

START_TEST(a_trace_dat_is_one_file)
{
	struct tw *tw = tw_new(&(struct tw_options){ 0 });
	struct recording t = { .count = 1 };
	struct km_error error = { 0 };
	struct km_source *source;
	size_t bytes;

	t.data[0] = tw_finish(tw, &bytes);
	t.reader = km_read_back_open(t.data[0], bytes, NULL);
	source = km_source_new_memory("b.dat", t.data[0], bytes);
	ck_assert_int_eq(km_reader_add(t.reader, source, KM_PART_BEHIND, &error), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(error.text, "b.dat are two recordings"));
	km_source_close(source);
	release(&t);
	tw_free(tw);
}
END_TEST

/* --- directories --- */

/* The events of CPUs [from, until) in a file of their own. */
static void add_cpus(struct recording *t, const struct pw_options *options, const struct km_event *events,
		     unsigned from, unsigned until, size_t round)
{
	struct km_event *own = calloc(EVENTS, sizeof(*own));
	struct pw *pw = pw_new(options);
	size_t count = 0;

	ck_assert_ptr_nonnull(own);
	for (size_t i = 0; i < EVENTS; i++) {
		if (events[i].cpu >= from && events[i].cpu < until)
			own[count++] = events[i];
	}
	km_perf_rounds_put(pw, own, count, options->cpus, round);
	add_beside(t, pw);
	free(own);
}

START_TEST(a_directory_has_a_file_for_each_cpu)
{
	for (unsigned form = 0; form < 2; form++) {
		struct pw_options options = { .cpus = 3, .compression = form ? PW_COMPRESSED : PW_PLAIN };
		struct km_event *events = random_events(3, true);
		struct recording t;

		open_first(&t, pw_new(&options));
		for (unsigned cpu = 0; cpu < 3; cpu++)
			add_cpus(&t, &options, events, cpu, cpu + 1, EVENTS);
		expect(&t, events, 3);
		release(&t);
	}
}
END_TEST

START_TEST(or_one_for_some_of_them)
{
	struct pw_options options = { .cpus = 4 };
	struct km_event *events = random_events(4, true);
	struct recording t;

	open_first(&t, pw_new(&options));
	add_cpus(&t, &options, events, 0, 2, 50);
	add_cpus(&t, &options, events, 2, 4, 70);
	expect(&t, events, 4);
	release(&t);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { pieces_are_one_recording,
				       a_piece_ends_as_a_round_does,
				       pieces_have_an_order,
				       a_cut_piece_is_a_gap,
				       what_is_of_another_recording_is_refused,
				       a_trace_dat_is_one_file,
				       a_directory_has_a_file_for_each_cpu,
				       or_one_for_some_of_them,
				       NULL };

	return km_test_main("reader_perf_parts", tests, 60);
}
