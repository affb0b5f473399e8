/* SPDX-License-Identifier: GPL-2.0-only */
/* perf.data through the reader: built ones of every form, and the same ones damaged. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "perf_rounds.h"
#include "perf_writer.h"
#include "perfdata_order.h"
#include "perfdata_records.h"
#include "read_back.h"
#include "testing.h"

#define USUAL                                                                                                      \
	(KM_SAMPLE_IDENTIFIER | KM_SAMPLE_IP | KM_SAMPLE_TID | KM_SAMPLE_TIME | KM_SAMPLE_CPU | KM_SAMPLE_PERIOD | \
	 KM_SAMPLE_RAW)

struct recording {
	struct km_reader *reader;
	void *data;
	size_t bytes;
};

static struct recording open_recording(struct pw *pw)
{
	struct recording t;

	t.data = pw_finish(pw, &t.bytes);
	pw_free(pw);
	t.reader = km_read_back_open(t.data, t.bytes, NULL);
	return t;
}

static void release(struct recording *t)
{
	km_reader_close(t->reader);
	free(t->data);
}

static struct km_event kmalloc_event(unsigned cpu, uint64_t time, uint64_t ptr)
{
	return (struct km_event){ .time = time,
				  .ptr = ptr,
				  .call_site = UINT64_C(0xffffffff81000100),
				  .bytes_req = 100,
				  .bytes_alloc = 128,
				  .gfp = 0xcc0,
				  .pid = 42,
				  .cpu = (uint16_t)cpu,
				  .node = KM_NODE_ANY,
				  .kind = KM_EVENT_KMALLOC };
}

static void put_kmalloc(struct pw *pw, unsigned cpu, uint64_t time, uint64_t ptr)
{
	struct km_event e = kmalloc_event(cpu, time, ptr);

	pw_event(pw, &e, NULL);
}

/* ---- a random stream, in rounds ---- */

static void round_trip(const struct pw_options *options, size_t count, size_t round, size_t batch)
{
	unsigned cpus = options->cpus ? options->cpus : 1;
	struct tw_stream stream = { .seed = count + round,
				    .events_count = count,
				    .cpus = cpus,
				    .kernel = options->kernel,
				    .long_bytes = options->long_bytes,
				    .ties = true };
	struct km_event *expected = calloc(count, sizeof(*expected)), *got;
	uint64_t first = 0, last = 0, first_seen, last_seen;
	const struct km_buffer_stats *stats;
	struct pw *pw = pw_new(options);
	struct recording t;
	size_t got_count;

	ck_assert_ptr_nonnull(expected);
	tw_stream_random(NULL, &stream, expected);
	km_perf_rounds_put(pw, expected, count, cpus, round);
	km_perf_rounds_expect(expected, count);
	t = open_recording(pw);
	/* Twice: a file can be read again. */
	for (int pass = 0; pass < 2; pass++) {
		got = km_read_back_all(t.reader, 0, batch, &got_count);
		ck_assert_uint_eq(got_count, count);
		for (size_t i = 0; i < count; i++)
			km_perf_rounds_compare(t.reader, &got[i], &expected[i]);
		free(got);
	}
	stats = km_reader_stats(t.reader);
	ck_assert_uint_eq(stats->events_count, count);
	ck_assert_uint_eq(stats->skipped_count + stats->backwards_count + stats->forced_count, 0);
	ck_assert_ptr_null(stats->first_damage);
	ck_assert_uint_eq(stats->cpus_count, cpus);
	first_seen = stats->first_time;
	last_seen = stats->last_time;
	ck_assert_uint_eq(first_seen, expected[0].time);
	ck_assert_uint_eq(last_seen, expected[count - 1].time);
	ck_assert_int_eq(km_reader_time_range(t.reader, 0, &first, &last, NULL), 1);
	ck_assert_uint_eq(first, first_seen);
	ck_assert_uint_eq(last, last_seen);
	free(expected);
	release(&t);
}

/* A thread that reads ahead hands out the same, again and again. */
START_TEST(reads_ahead)
{
	const struct km_reader_options ahead = { .threads = 3, .names_at_end = true };

	for (unsigned form = 0; form < 4; form++) {
		const struct pw_options options = { .cpus = 3,
						    .is_pipe = form & 1,
						    .compression = form & 2 ? PW_COMPRESSED : PW_PLAIN };
		struct tw_stream stream = { .seed = form, .events_count = 20000, .cpus = 3, .ties = true };
		struct km_event *expected = calloc(stream.events_count, sizeof(*expected));
		struct pw *pw = pw_new(&options);
		struct recording t;
		uint64_t first;
		size_t count;

		ck_assert_ptr_nonnull(expected);
		tw_stream_random(NULL, &stream, expected);
		km_perf_rounds_put(pw, expected, stream.events_count, 3, 500);
		km_perf_rounds_expect(expected, stream.events_count);
		t.data = pw_finish(pw, &t.bytes);
		pw_free(pw);
		t.reader = km_read_back_open(t.data, t.bytes, &ahead);
		for (int pass = 0; pass < 3; pass++) {
			struct km_event *got = km_read_back_all(t.reader, 0, pass ? 64 : 5000, &count);

			ck_assert_uint_eq(count, stream.events_count);
			for (size_t i = 0; i < count; i++)
				km_perf_rounds_compare(t.reader, &got[i], &expected[i]);
			ck_assert_int_eq(km_reader_first_time(t.reader, &first), 1);
			ck_assert_uint_eq(first, expected[0].time);
			ck_assert_uint_eq(km_reader_stats(t.reader)->events_count, count);
			free(got);
		}
		/* Left in the middle. */
		ck_assert_int_eq(km_reader_start(t.reader, 0, NULL), 0);
		ck_assert_int_gt(km_reader_read(t.reader, expected, 100, NULL), 0);
		ck_assert_uint_le(km_reader_stats(t.reader)->events_count, count);
		free(expected);
		release(&t);
	}
}
END_TEST

START_TEST(reads_every_form)
{
	static const enum tw_kernel kernels[] = { TW_KERNEL_4_19, TW_KERNEL_5_12, TW_KERNEL_6_1, TW_KERNEL_6_18 };

	for (unsigned form = 0; form < 3 * 2 * 2 * 2; form++) {
		struct pw_options options = { .compression = (enum pw_compression)(form % 3),
					      .is_pipe = form / 3 % 2,
					      .big_endian = form / 6 % 2,
					      .long_bytes = form / 12 % 2 ? 4 : 8,
					      .kernel = kernels[form % 4],
					      .cpus = 1 + form % 5,
					      .chunk_bytes = form % 2 ? 777 : 0 };

		round_trip(&options, 3000, 10 + 97 * (form % 4), form % 3 ? 64 : 1);
	}
}
END_TEST

START_TEST(reads_every_sample_type)
{
	static const uint64_t types[] = {
		USUAL,
		USUAL | KM_SAMPLE_CALLCHAIN,
		USUAL | KM_SAMPLE_ADDR | KM_SAMPLE_STREAM_ID | KM_SAMPLE_ID,
		USUAL | KM_SAMPLE_READ,
		USUAL | KM_SAMPLE_READ | KM_SAMPLE_CALLCHAIN | 1 << 11,
		/* per-thread perf's: ID, not IDENTIFIER */
		KM_SAMPLE_IP | KM_SAMPLE_TID | KM_SAMPLE_TIME | KM_SAMPLE_ID | KM_SAMPLE_CPU | KM_SAMPLE_RAW,
		KM_SAMPLE_IDENTIFIER | KM_SAMPLE_TIME | KM_SAMPLE_CPU | KM_SAMPLE_RAW,
		/* no CPU: the ids' index has it */
		KM_SAMPLE_IDENTIFIER | KM_SAMPLE_TIME | KM_SAMPLE_RAW,
		/* no id at all: the raw data tell the event */
		KM_SAMPLE_TIME | KM_SAMPLE_CPU | KM_SAMPLE_RAW,
	};
	static const uint64_t formats[] = { 0, KM_READ_ID | KM_READ_LOST, KM_READ_ENABLED | KM_READ_RUNNING,
					    KM_READ_GROUP | KM_READ_ID | KM_READ_ENABLED,
					    KM_READ_GROUP | KM_READ_LOST };
	static const unsigned attr_bytes[] = { 64, 72, 96, 112, 128, 136, 200 };

	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		for (unsigned f = 0; f < 5; f++) {
			struct pw_options options = { .sample_type = types[i],
						      .read_format = formats[f],
						      .attr_bytes = attr_bytes[(i + f) % 7],
						      .cpus = 3,
						      .is_pipe = (i + f) % 2,
						      .big_endian = i % 2 };

			round_trip(&options, 400, 50, 32);
		}
	}
}
END_TEST

/* ---- order ---- */

START_TEST(without_a_time_keeps_the_order_of_the_file)
{
	struct pw *pw = pw_new(&(struct pw_options){ .sample_type = USUAL & ~(uint64_t)KM_SAMPLE_TIME, .cpus = 2 });
	const struct km_trace_info *info;
	struct km_event *got;
	struct recording t;
	size_t count;

	for (unsigned i = 0; i < 10000; i++)
		put_kmalloc(pw, i * 7 % 2, 99, 0x1000 + i);
	t = open_recording(pw);
	info = km_reader_info(t.reader);
	ck_assert(info->keeps_order && !info->cpus_are_unknown);
	ck_assert_int_eq(info->buffers[0].unit, KM_CLOCK_TICKS);
	got = km_read_back_all(t.reader, 0, 100, &count);
	ck_assert_uint_eq(count, 10000);
	for (unsigned i = 0; i < count; i++) {
		if (got[i].ptr != 0x1000 + i || got[i].time != i || got[i].cpu != i * 7 % 2)
			ck_abort_msg("event %u is out of order", i);
	}
	free(got);
	release(&t);
}
END_TEST

START_TEST(without_a_cpu_all_are_on_0)
{
	struct pw *pw = pw_new(&(struct pw_options){
		.sample_type = USUAL & ~(uint64_t)KM_SAMPLE_CPU, .omit = PW_OMIT_ID_INDEX, .cpus = 2 });
	struct km_event *got;
	struct recording t;
	size_t count;

	/* Two rings one after the other: far from any order. */
	for (unsigned i = 0; i < 1000; i++)
		put_kmalloc(pw, 0, 10 * i, 0x1000 + 2 * i);
	for (unsigned i = 0; i < 1000; i++)
		put_kmalloc(pw, 1, 10 * i + 5, 0x1001 + 2 * i);
	t = open_recording(pw);
	ck_assert(km_reader_info(t.reader)->cpus_are_unknown);
	got = km_read_back_all(t.reader, 0, 100, &count);
	ck_assert_uint_eq(count, 2000);
	for (unsigned i = 0; i < count; i++) {
		if (got[i].ptr != 0x1000 + i || got[i].time != 5 * i || got[i].cpu)
			ck_abort_msg("event %u is out of order", i);
	}
	free(got);
	release(&t);
}
END_TEST

/* Feed `count` events of two rings, ring after ring, with a bound; returns how many came out of order. */
static size_t order_with_limit(size_t limit, size_t count, uint64_t *ret_late, uint64_t *ret_forced)
{
	struct km_perfdata_order *order = km_perfdata_order_new(limit);
	struct km_event out[64];
	uint64_t last = 0;
	size_t wrong = 0, total = 0;
	int n, code;

	ck_assert_ptr_nonnull(order);
	for (size_t i = 0; i <= count; i++) {
		struct km_event e = kmalloc_event(i >= count / 2, i % (count / 2) * 10, 1);

		struct km_perfdata_bundle *bundle;

		code = i == count ? km_perfdata_order_finish(order) : km_perfdata_order_add(order, &e);
		if (code > 0)
			code = km_perfdata_order_limit(order);
		ck_assert_int_eq(code, 0);
		ck_assert_int_eq(km_perfdata_order_take(order, &bundle), 0);
		while (bundle && (n = km_perfdata_bundle_read(bundle, out, 64, NULL)) > 0) {
			for (int k = 0; k < n; k++) {
				wrong += out[k].time < last;
				last = out[k].time;
			}
			total += (size_t)n;
		}
		km_perfdata_bundle_free(bundle);
	}
	ck_assert_uint_eq(total, count);
	*ret_late = km_perfdata_order_late_count(order);
	*ret_forced = km_perfdata_order_forced_count(order);
	km_perfdata_order_free(order);
	return wrong;
}

START_TEST(what_waits_is_bounded)
{
	uint64_t late, forced;

	ck_assert_uint_eq(order_with_limit(1000, 900, &late, &forced), 0);
	ck_assert_uint_eq(late + forced, 0);
	/* The first ring does not fit: what was handed out of it is not taken back, and time never falls. */
	ck_assert_uint_eq(order_with_limit(100, 900, &late, &forced), 0);
	ck_assert_uint_gt(forced, 0);
	ck_assert_uint_gt(late, 0);
}
END_TEST

START_TEST(events_of_an_interrupt_come_to_their_place)
{
	struct pw *pw = pw_new(&(struct pw_options){ 0 });
	struct km_event *got;
	struct recording t;
	size_t count;

	put_kmalloc(pw, 0, 30, 0x3);
	put_kmalloc(pw, 0, 20, 0x2);
	put_kmalloc(pw, 0, 10, 0x1);
	put_kmalloc(pw, 0, 20, 0x22);
	pw_round(pw);
	t = open_recording(pw);
	got = km_read_back_all(t.reader, 0, 10, &count);
	ck_assert_uint_eq(count, 4);
	ck_assert_uint_eq(got[0].ptr, 0x1);
	ck_assert_uint_eq(got[1].ptr, 0x2);
	ck_assert_uint_eq(got[2].ptr, 0x22);
	ck_assert_uint_eq(got[3].ptr, 0x3);
	ck_assert_uint_eq(km_reader_stats(t.reader)->backwards_count, 0);
	free(got);
	release(&t);
}
END_TEST

/* ---- loss ---- */

START_TEST(loss_is_counted_once)
{
	struct pw *pw = pw_new(&(struct pw_options){ .cpus = 2, .read_format = KM_READ_ID | KM_READ_LOST });
	const struct km_cpu_loss *loss;
	struct km_event *got;
	struct recording t;
	size_t count;

	put_kmalloc(pw, 0, 10, 0x1);
	put_kmalloc(pw, 1, 11, 0x2);
	pw_round(pw);
	pw_lost(pw, 1, 20, 7);
	put_kmalloc(pw, 1, 20, 0x3);
	pw_lost(pw, 1, 30, 5);
	pw_round(pw);
	pw_lost_samples(pw, 1, 10, 0);
	pw_lost_samples(pw, 1, 9, 0);
	pw_lost_samples(pw, 1, 1000, 1U << 15); /* left out by a filter */
	t = open_recording(pw);
	got = km_read_back_all(t.reader, 0, 10, &count);
	ck_assert_uint_eq(count, 5);
	ck_assert_uint_eq(got[2].kind, KM_EVENT_LOST);
	ck_assert_uint_eq(got[2].bytes_req, 7);
	ck_assert_uint_eq(got[2].time, 20);
	ck_assert_uint_eq(got[2].cpu, 1);
	ck_assert_uint_eq(got[3].ptr, 0x3);
	ck_assert_uint_eq(got[4].bytes_req, 5);
	loss = km_reader_stats(t.reader)->cpus;
	ck_assert_uint_eq(km_reader_stats(t.reader)->cpus_count, 2);
	ck_assert_uint_eq(loss[1].holes_count, 2);
	ck_assert_uint_eq(loss[1].stored_count, 12);
	ck_assert_uint_eq(loss[1].overrun_count, 19);
	ck_assert(loss[0].has_statistics && loss[1].has_statistics);
	ck_assert_uint_eq(loss[0].stored_count + loss[0].overrun_count + loss[0].holes_count, 0);
	free(got);
	release(&t);
}
END_TEST

/* LOST_SAMPLES of no CPU: the larger of the sums is what the CPUs' numbers add up to. */
START_TEST(loss_of_no_cpu_is_compared_in_all)
{
	static const uint64_t told[] = { 3, 12, 15 };

	for (unsigned i = 0; i < 3; i++) {
		struct pw *pw = pw_new(&(struct pw_options){
			.cpus = 2, .sample_type = USUAL & ~(uint64_t)KM_SAMPLE_CPU, .no_sample_id_all = true });
		const struct km_cpu_loss *loss;
		struct km_event *got;
		struct recording t;
		uint64_t sum = 0;
		size_t count;

		put_kmalloc(pw, 0, 10, 0x1);
		pw_lost(pw, 0, 20, 7);
		pw_lost(pw, 1, 20, 5);
		pw_lost_samples(pw, 0, told[i], 0);
		t = open_recording(pw);
		got = km_read_back_all(t.reader, 0, 10, &count);
		loss = km_reader_stats(t.reader)->cpus;
		for (unsigned cpu = 0; cpu < 2; cpu++)
			sum += loss[cpu].overrun_count > loss[cpu].stored_count ? loss[cpu].overrun_count
										: loss[cpu].stored_count;
		ck_assert_uint_eq(sum, told[i] > 12 ? told[i] : 12);
		free(got);
		release(&t);
	}
}
END_TEST

START_TEST(without_counts_the_tail_is_not_known)
{
	struct pw *pw = pw_new(&(struct pw_options){ 0 });
	struct recording t;
	struct km_event *got;
	size_t count;

	put_kmalloc(pw, 0, 10, 0x1);
	t = open_recording(pw);
	got = km_read_back_all(t.reader, 0, 10, &count);
	ck_assert(!km_reader_stats(t.reader)->cpus[0].has_statistics);
	free(got);
	release(&t);
}
END_TEST

START_TEST(a_throttled_slab_event_is_a_gap)
{
	struct pw *pw = pw_new(&(struct pw_options){ 0 });
	const struct km_buffer_stats *stats;
	struct recording t;
	struct km_event *got;
	size_t count;

	put_kmalloc(pw, 0, 10, 0x1);
	pw_throttle(pw, TW_FORMAT_KMALLOC, 0, 15);
	pw_throttle(pw, TW_FORMAT_SCHED_SWITCH, 0, 16);
	pw_other(pw, 0, 20, 1);
	t = open_recording(pw);
	got = km_read_back_all(t.reader, 0, 10, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(got[1].kind, KM_EVENT_LOST);
	ck_assert_uint_eq(got[1].bytes_req, 0);
	stats = km_reader_stats(t.reader);
	ck_assert_uint_eq(stats->throttled_count, 2);
	ck_assert_uint_eq(stats->cpus[0].uncounted_gaps_count, 1);
	ck_assert_uint_eq(stats->events_count, 2);
	ck_assert_uint_eq(km_read_back_count(t.reader, "sched_switch"), 1);
	ck_assert_uint_eq(km_read_back_count(t.reader, "kmalloc"), 1);
	free(got);
	release(&t);
}
END_TEST

/* ---- what the file says ---- */

START_TEST(tells_what_it_is)
{
	struct pw *pw = pw_new(&(struct pw_options){ .kernel = TW_KERNEL_5_10,
						     .cpus = 3,
						     .is_pipe = true,
						     .compression = PW_COMPRESSED,
						     .use_clockid = true,
						     .clockid = 1 });
	const struct km_trace_info *info;
	struct recording t;
	char kernel[128];

	t = open_recording(pw);
	info = km_reader_info(t.reader);
	snprintf(kernel, sizeof(kernel), "Linux testhost %s x86_64", tw_kernel_release(TW_KERNEL_5_10));
	ck_assert_str_eq(info->format, "perf.data (pipe, zstd)");
	ck_assert_str_eq(info->kernel, kernel);
	ck_assert_str_eq(info->generator, "perf 6.1.test");
	ck_assert(info->frees_are_late && !info->is_per_task && !info->leaves_out_cpus && !info->keeps_order);
	ck_assert_uint_eq(info->cpus_count, 3);
	ck_assert_uint_eq(info->word_bytes, 8);
	ck_assert_uint_eq(info->page_bytes, 4096);
	ck_assert_uint_eq(info->buffers_count, 1);
	ck_assert_str_eq(info->buffers[0].clock, "mono");
	ck_assert_uint_eq(info->buffers[0].cpus_count, 3);
	release(&t);
}
END_TEST

START_TEST(knows_recordings_of_tasks)
{
	static const struct {
		struct pw_options options;
		bool is_per_task;
	} cases[] = {
		{ { .per_task = true }, true },
		{ { .enable_on_exec = true }, true },
		{ { .omit = PW_OMIT_ID_INDEX, .command_line = "perf record -p 12,13 -e kmem:kmalloc" }, true },
		{ { .omit = PW_OMIT_ID_INDEX, .command_line = "perf record --tid=12 -e kmem:kmalloc" }, true },
		{ { .omit = PW_OMIT_ID_INDEX, .command_line = "perf record -a -e kmem:kmalloc -- ls -t" }, false },
		/* the index knows better */
		{ { .command_line = "perf record -a -e kmem:kmalloc ls -t" }, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pw *pw = pw_new(&cases[i].options);
		struct recording t;

		put_kmalloc(pw, 0, 10, 0x1);
		t = open_recording(pw);
		ck_assert_msg(km_reader_info(t.reader)->is_per_task == cases[i].is_per_task, "case %zu", i);
		release(&t);
	}
}
END_TEST

START_TEST(names_tasks)
{
	struct pw *pw = pw_new(&(struct pw_options){ .cpus = 2, .compression = PW_COMPRESSED2 });
	struct km_event *got;
	struct recording t;
	size_t count;

	pw_comm(pw, 0, 0, 10, "init");
	pw_fork(pw, 0, 100, 11, 10);
	pw_fork(pw, 0, 110, 12, 11);
	pw_comm(pw, 0, 120, 12, "late exec");
	pw_fork(pw, 1, 90, 12, 10);  /* read later, but older */
	pw_fork(pw, 1, 130, 14, 13); /* its parent's name comes later */
	pw_comm(pw, 1, 140, 13, "parent");
	pw_fork(pw, 1, 150, 15, 16);
	pw_fork(pw, 1, 150, 16, 15); /* a ring */
	put_kmalloc(pw, 0, 200, 0x1);
	t = open_recording(pw);
	got = km_read_back_all(t.reader, 0, 10, &count);
	ck_assert_str_eq(km_reader_comm(t.reader, 0), "<idle>");
	ck_assert_str_eq(km_reader_comm(t.reader, 10), "init");
	ck_assert_str_eq(km_reader_comm(t.reader, 11), "init");
	ck_assert_str_eq(km_reader_comm(t.reader, 12), "late exec");
	ck_assert_str_eq(km_reader_comm(t.reader, 14), "parent");
	ck_assert_str_eq(km_reader_comm(t.reader, 15), "<...>");
	ck_assert_str_eq(km_reader_comm(t.reader, 99), "<...>");
	ck_assert_str_eq(km_reader_comm(t.reader, -1), "<...>");
	free(got);
	release(&t);
}
END_TEST

/* ---- what can not be balanced, or is no recording ---- */

static void check_start_refused(const struct pw_options *options, int code, const char *text)
{
	struct km_reader_options counts = { .only_counts = true };
	struct pw *pw = pw_new(options);
	struct km_error error = { 0 };
	struct km_event *got;
	struct recording t;
	size_t count;

	put_kmalloc(pw, 0, 10, 0x1);
	put_kmalloc(pw, 0, 20, 0x2);
	t = open_recording(pw);
	ck_assert_int_eq(km_reader_start(t.reader, 0, &error), code);
	ck_assert_int_eq(error.code, code);
	ck_assert_msg(strstr(error.text, text), "%s", error.text);
	ck_assert_ptr_nonnull(strstr(error.text, "built.dat"));
	km_reader_close(t.reader);
	/* What there is can be counted all the same. */
	t.reader = km_read_back_open(t.data, t.bytes, &counts);
	got = km_read_back_all(t.reader, 0, 10, &count);
	ck_assert_uint_eq(count, 0);
	ck_assert_uint_eq(km_reader_stats(t.reader)->events_count, 2);
	free(got);
	release(&t);
}

START_TEST(refuses_what_can_not_be_balanced)
{
	check_start_refused(&(struct pw_options){ .sample_period = 10 }, -ENOTSUP,
			    "perf record -a -c 1 -e kmem:kmalloc");
	check_start_refused(&(struct pw_options){ .freq = true, .sample_period = 4000 }, -ENOTSUP, "4000 a second");
	check_start_refused(&(struct pw_options){ .sample_type = USUAL & ~(uint64_t)KM_SAMPLE_RAW }, -ENOTSUP,
			    "raw data");
	check_start_refused(&(struct pw_options){ .omit = PW_OMIT_TRACING }, -EBADMSG, "no event formats");
	check_start_refused(&(struct pw_options){ .omit = PW_OMIT_DATA_SIZE }, -EBADMSG, "did not come to its end");
	check_start_refused(&(struct pw_options){ .omit = PW_OMIT_TRACING, .is_pipe = true }, -EBADMSG,
			    "its start is missing");
}
END_TEST

START_TEST(refuses_headers_that_can_not_be)
{
	struct km_error error;
	size_t bytes;
	struct pw *pw = pw_new(&(struct pw_options){ 0 });
	uint8_t *data = pw_finish(pw, &bytes);

	km_read_back_refused(data, 50, &error);
	ck_assert_int_eq(error.code, -EBADMSG);
	data[16] = 8; /* attr_size */
	km_read_back_refused(data, bytes, &error);
	ck_assert_int_eq(error.code, -EBADMSG);
	free(data);
	pw_free(pw);
}
END_TEST

/* ---- damage ---- */

START_TEST(goes_on_behind_damage)
{
	static const uint8_t junk[16] = { 9 };
	struct pw *pw = pw_new(&(struct pw_options){ .cpus = 2, .read_format = KM_READ_LOST });
	const struct km_buffer_stats *stats;
	struct km_event *got;
	struct recording t;
	size_t count;

	put_kmalloc(pw, 0, 10, 0x1);
	put_kmalloc(pw, 1, 11, 0x2);
	pw_round(pw);
	pw_bytes(pw, junk, sizeof(junk)); /* a size of 0 */
	put_kmalloc(pw, 0, 20, 0x3);      /* not found again */
	pw_round(pw);
	put_kmalloc(pw, 0, 30, 0x4);
	pw_raw(pw, 0, 40, junk, 2); /* fields of another event */
	t = open_recording(pw);
	got = km_read_back_all(t.reader, 0, 10, &count);
	ck_assert_uint_eq(count, 5);
	ck_assert_uint_eq(got[4].ptr, 0x4);
	stats = km_reader_stats(t.reader);
	ck_assert_uint_eq(stats->slab_counts[KM_EVENT_KMALLOC], 3);
	ck_assert_uint_eq(stats->cpus[0].damaged_count, 1);
	ck_assert_uint_eq(stats->cpus[0].uncounted_gaps_count, 1);
	ck_assert_uint_eq(stats->cpus[1].uncounted_gaps_count, 1);
	ck_assert_ptr_nonnull(strstr(stats->first_damage, "impossible size"));
	ck_assert_uint_eq(stats->skipped_count, 1);
	ck_assert_ptr_nonnull(stats->first_skipped);
	free(got);
	release(&t);
}
END_TEST

START_TEST(a_cut_pipe_is_read_as_far_as_it_goes)
{
	struct pw *pw = pw_new(&(struct pw_options){ .is_pipe = true, .read_format = KM_READ_LOST });
	const struct km_buffer_stats *stats;
	struct km_event *got;
	struct recording t;
	size_t count;

	put_kmalloc(pw, 0, 10, 0x1);
	put_kmalloc(pw, 0, 20, 0x2);
	t.data = pw_finish(pw, &t.bytes);
	pw_free(pw);
	t.reader = km_read_back_open(t.data, t.bytes - 5, NULL);
	got = km_read_back_all(t.reader, 0, 10, &count);
	ck_assert_uint_eq(count, 1);
	stats = km_reader_stats(t.reader);
	ck_assert(stats->cpus[0].is_cut && !stats->cpus[0].has_statistics);
	ck_assert(km_reader_info(t.reader)->is_cut_short);
	free(got);
	release(&t);
}
END_TEST

START_TEST(aux_data_are_no_records)
{
	static const uint8_t zeros[100000];
	struct pw *pw = pw_new(&(struct pw_options){ 0 });
	struct km_event *got;
	struct recording t;
	size_t count;

	put_kmalloc(pw, 0, 10, 0x1);
	pw_aux(pw, zeros, 64);
	pw_aux(pw, zeros, sizeof(zeros));
	put_kmalloc(pw, 0, 20, 0x2);
	t = open_recording(pw);
	got = km_read_back_all(t.reader, 0, 10, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_ptr_null(km_reader_stats(t.reader)->first_damage);
	free(got);
	release(&t);
}
END_TEST

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Reads what can be read; sanitizers and the clock see to the rest. */
static void read_damaged(const void *data, size_t bytes)
{
	struct km_source *source = km_source_new_memory("damaged.data", data, bytes);
	struct km_reader *reader;
	struct km_event events[128];
	uint64_t last = 0, first_time, last_time;
	int n = 0;

	ck_assert_ptr_nonnull(source);
	if (km_reader_open(source, NULL, &reader, NULL)) {
		km_source_close(source);
		return;
	}
	if (!km_reader_start(reader, 0, NULL)) {
		while ((n = km_reader_read(reader, events, 128, NULL)) > 0) {
			for (int i = 0; i < n; i++) {
				if (events[i].time < last ||
				    events[i].cpu >= km_reader_info(reader)->buffers[0].cpu_limit)
					ck_abort_msg("an event out of order");
				last = events[i].time;
			}
		}
		if (!n) {
			size_t count;

			km_reader_stats(reader);
			km_reader_event_counts(reader, &count);
			km_reader_comm(reader, 42);
			km_reader_time_range(reader, 0, &first_time, &last_time, NULL);
		}
	}
	km_reader_close(reader);
}

START_TEST(survives_damage)
{
	uint64_t state = 88172645463325252ULL;

	for (unsigned form = 0; form < 8; form++) {
		struct pw_options options = { .is_pipe = form & 1,
					      .compression = form & 2 ? PW_COMPRESSED : PW_PLAIN,
					      .big_endian = form & 4,
					      .cpus = 2,
					      .chunk_bytes = 999,
					      .sample_type = form & 1 ? USUAL | KM_SAMPLE_CALLCHAIN : USUAL };
		struct tw_stream stream = { .seed = form, .events_count = 100, .cpus = 2 };
		struct km_event events[100];
		struct pw *pw = pw_new(&options);
		uint8_t *data, *copy;
		size_t bytes;

		tw_stream_random(NULL, &stream, events);
		pw_comm(pw, 0, 0, 42, "task");
		km_perf_rounds_put(pw, events, 100, 2, 25);
		pw_lost(pw, 1, events[99].time, 3);
		data = pw_finish(pw, &bytes);
		pw_free(pw);
		for (unsigned i = 0; i < 250; i++) {
			size_t length = i % 8 ? bytes : next_random(&state) % bytes;

			copy = malloc(length ? length : 1);
			ck_assert_ptr_nonnull(copy);
			memcpy(copy, data, length);
			for (unsigned k = 0; length && k < 1 + i % 4; k++)
				copy[next_random(&state) % length] = (uint8_t)next_random(&state);
			read_damaged(copy, length);
			free(copy);
		}
		free(data);
	}
}
END_TEST

/* ---- from a pipe ---- */

static void write_and_leave(int fd, const void *data, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		size_t step = bytes - done < 1000 ? bytes - done : 1000;
		ssize_t n = write(fd, (const char *)data + done, step);

		if (n < 0)
			_exit(1);
		done += (size_t)n;
	}
	_exit(0);
}

/* data goes through a pipe on standard input; returns what km_reader_open() does. */
static int open_piped(const void *data, size_t bytes, struct km_reader **ret_reader, struct km_error *error)
{
	struct km_source *source = NULL;
	int ends[2], r;

	ck_assert_int_eq(pipe(ends), 0);
	if (!fork()) {
		close(ends[0]);
		write_and_leave(ends[1], data, bytes);
	}
	close(ends[1]);
	ck_assert_int_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	ck_assert_int_eq(km_source_open("-", &source, error), 0);
	r = km_reader_open(source, NULL, ret_reader, error);
	if (r)
		km_source_close(source);
	return r;
}

START_TEST(reads_a_pipe_once)
{
	struct pw *pw = pw_new(&(struct pw_options){ .is_pipe = true, .cpus = 2 });
	uint64_t first, last;
	struct km_error error = { 0 };
	struct km_event *got;
	struct recording t;
	size_t count;

	for (unsigned i = 0; i < 5000; i++) {
		put_kmalloc(pw, i % 2, 10 * i, 0x1000 + i);
		if (i % 100 == 99)
			pw_round(pw);
	}
	pw_aux(pw, (const uint8_t[200000]){ 0 }, 200000);
	put_kmalloc(pw, 0, 100000, 0x1);
	t.data = pw_finish(pw, &t.bytes);
	pw_free(pw);
	ck_assert_msg(!open_piped(t.data, t.bytes, &t.reader, &error), "%s", error.text);
	ck_assert_int_eq(km_reader_time_range(t.reader, 0, &first, &last, NULL), -ENOTSUP);
	got = km_read_back_all(t.reader, 0, 100, &count);
	ck_assert_uint_eq(count, 5001);
	for (unsigned i = 0; i < 5000; i++)
		ck_assert_uint_eq(got[i].ptr, 0x1000 + i);
	ck_assert_int_eq(km_reader_start(t.reader, 0, &error), -ESPIPE);
	free(got);
	release(&t);
}
END_TEST

START_TEST(a_file_through_a_pipe_is_refused)
{
	struct tw *tw = tw_new(&(struct tw_options){ 0 });
	struct pw *pw = pw_new(&(struct pw_options){ 0 });
	struct km_reader *reader = NULL;
	struct km_error error = { 0 };
	size_t bytes;
	void *data = pw_finish(pw, &bytes);

	ck_assert_int_eq(open_piped(data, bytes, &reader, &error), -ESPIPE);
	ck_assert_ptr_nonnull(strstr(error.text, "save it to a file first"));
	free(data);
	pw_free(pw);
	tw_other(tw, TW_TOP, 0, 1000, 1);
	data = tw_finish(tw, &bytes);
	error = (struct km_error){ 0 };
	ck_assert_int_eq(open_piped(data, bytes, &reader, &error), -ESPIPE);
	ck_assert_str_eq(error.text,
			 "-: standard input is a pipe and can not be read out of order; record into a file first");
	free(data);
	tw_free(tw);
}
END_TEST

/* As many as there may be, in time that grows with their number only: each once was compared with all. */
START_TEST(many_attrs)
{
	enum { ATTRS = 65000, BODY_BYTES = 64 + 8 };
	struct pw *pw = pw_new(&(struct pw_options){ .is_pipe = true });
	struct km_perfdata *file;
	struct km_source *source;
	uint8_t body[BODY_BYTES] = { 2 /* a tracepoint */ };
	clock_t start = clock();
	size_t bytes;
	void *data = pw_finish(pw, &bytes);

	pw_free(pw);
	source = km_source_new_memory("built.data", data, bytes);
	ck_assert_int_eq(km_perfdata_open(source, &file, NULL), 0);
	body[24 + 2] = 1; /* sample_type: IDENTIFIER */
	for (uint32_t i = 0; i < ATTRS; i++) {
		uint64_t id = 1000 + i;

		memcpy(body + 64, &id, 8);
		ck_assert_int_eq(km_perfdata_attr_record(file, body, sizeof(body)), 0);
	}
	ck_assert_uint_eq(file->attrs_count, ATTRS);
	ck_assert_uint_eq(file->ids_count, ATTRS);
	ck_assert(file->samples_are_same && file->ends_are_same);
	ck_assert_uint_eq(file->id_at, 0);
	body[24] = 1; /* IP, which the others have not */
	memset(body + 64, 0xff, 8);
	ck_assert_int_eq(km_perfdata_attr_record(file, body, sizeof(body)), 0);
	ck_assert(!file->samples_are_same);
	ck_assert_double_lt((double)(clock() - start) / CLOCKS_PER_SEC, 5);
	km_perfdata_close(file);
	km_source_close(source);
	free(data);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		reads_every_form,
		reads_ahead,
		reads_every_sample_type,
		without_a_time_keeps_the_order_of_the_file,
		without_a_cpu_all_are_on_0,
		what_waits_is_bounded,
		events_of_an_interrupt_come_to_their_place,
		loss_is_counted_once,
		loss_of_no_cpu_is_compared_in_all,
		without_counts_the_tail_is_not_known,
		a_throttled_slab_event_is_a_gap,
		tells_what_it_is,
		knows_recordings_of_tasks,
		names_tasks,
		refuses_what_can_not_be_balanced,
		refuses_headers_that_can_not_be,
		goes_on_behind_damage,
		a_cut_pipe_is_read_as_far_as_it_goes,
		aux_data_are_no_records,
		survives_damage,
		reads_a_pipe_once,
		a_file_through_a_pipe_is_refused,
		many_attrs,
		NULL,
	};

	return km_test_main("reader_perf", tests, 60);
}
