/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Built traces of every form through the reader, event for event: fields,
 * order, losses, times. test_reader_formats.c has what a file says of itself.
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "read_back.h"
#include "testing.h"
#include "trace_writer.h"
#include "tracedat.h"

/* A built file and its reader. */
struct trace {
	struct tw *tw;
	uint8_t *data;
	size_t bytes;
	struct km_reader *reader;
};

/* tw is taken over. */
static struct trace open_trace(struct tw *tw)
{
	struct trace t = { .tw = tw };

	t.data = tw_finish(tw, &t.bytes);
	t.reader = km_read_back_open(t.data, t.bytes, NULL);
	return t;
}

static void release(struct trace *t)
{
	km_reader_close(t->reader);
	free(t->data);
	tw_free(t->tw);
}

/* ---- the expected order ---- */

static int by_time_then_cpu(const void *a, const void *b)
{
	const struct km_event *x = *(const struct km_event *const *)a, *y = *(const struct km_event *const *)b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Merged as reader.h has it, ties flagged. */
static void merge_expected(struct km_event *events, size_t count)
{
	const struct km_event **order = calloc(count, sizeof(*order));
	struct km_event *merged = calloc(count, sizeof(*merged));

	ck_assert(order && merged);
	for (size_t i = 0; i < count; i++)
		order[i] = &events[i];
	qsort(order, count, sizeof(*order), by_time_then_cpu);
	for (size_t i = 0; i < count; i++)
		merged[i] = *order[i];
	for (size_t i = 0, n; i < count; i += n) {
		bool is_tied = false;

		for (n = 1; i + n < count && merged[i + n].time == merged[i].time; n++)
			is_tied |= merged[i + n].cpu != merged[i].cpu;
		for (size_t k = 0; k < n; k++)
			merged[i + k].flags = is_tied ? KM_EVENT_TIED : 0;
	}
	memcpy(events, merged, count * sizeof(*events));
	free(merged);
	free(order);
}

/* Check counts every assertion, which is slow: only what differs gets to the ones that say where. */
static void compare_event(const struct km_reader *reader, const struct km_event *got, const struct km_event *e)
{
	struct km_event same = *e;

	same.cache = got->cache;
	if (!memcmp(got, &same, sizeof(same)) && !got->cache == !e->cache &&
	    !strcmp(km_reader_cache_name(reader, got->cache), e->cache ? tw_stream_cache_name(e->cache - 1) : ""))
		return;
	ck_assert_uint_eq(got->kind, e->kind);
	ck_assert_uint_eq(got->time, e->time);
	ck_assert_uint_eq(got->ptr, e->ptr);
	ck_assert_uint_eq(got->call_site, e->call_site);
	ck_assert_uint_eq(got->bytes_req, e->bytes_req);
	ck_assert_uint_eq(got->bytes_alloc, e->bytes_alloc);
	ck_assert_uint_eq(got->gfp, e->gfp);
	ck_assert_int_eq(got->pid, e->pid);
	ck_assert_int_eq(got->node, e->node);
	ck_assert_uint_eq(got->cpu, e->cpu);
	ck_assert_uint_eq(got->flags, e->flags);
	ck_assert_uint_eq(got->stack, 0);
	ck_assert_uint_eq(got->order, 0);
	ck_assert_uint_eq(got->domain, KM_DOMAIN_SLAB);
	if (e->cache == KM_CACHE_NONE)
		ck_assert_uint_eq(got->cache, KM_CACHE_NONE);
	else
		ck_assert_str_eq(km_reader_cache_name(reader, got->cache), tw_stream_cache_name(e->cache - 1));
}

/* A random stream, written and read again in batches of `batch`. */
static void round_trip(const struct tw_options *options, size_t count, bool ties, size_t batch)
{
	struct tw_stream stream = { .seed = options->page_bytes + options->kernel + batch,
				    .events_count = count,
				    .cpus = options->cpus,
				    .kernel = options->kernel,
				    .long_bytes = options->long_bytes,
				    .ties = ties };
	struct km_event *expected = calloc(count, sizeof(*expected)), *got;
	const struct km_buffer_stats *stats;
	struct tw *tw = tw_new(options);
	uint64_t first, last, first_seen, last_seen;
	struct trace t;
	size_t got_count;

	ck_assert_ptr_nonnull(expected);
	tw_stream_random(tw, &stream, expected);
	merge_expected(expected, count);
	t = open_trace(tw);
	got = km_read_back_all(t.reader, 0, batch, &got_count);
	ck_assert_uint_eq(got_count, count);
	for (size_t i = 0; i < count; i++)
		compare_event(t.reader, &got[i], &expected[i]);
	stats = km_reader_stats(t.reader);
	ck_assert_uint_eq(stats->events_count, count);
	ck_assert_uint_eq(stats->skipped_count, 0);
	ck_assert_uint_eq(stats->backwards_count, 0);
	ck_assert_ptr_null(stats->first_damage);
	first_seen = stats->first_time;
	last_seen = stats->last_time;
	ck_assert_uint_eq(first_seen, expected[0].time);
	ck_assert_uint_eq(last_seen, expected[count - 1].time);
	ck_assert_int_eq(km_reader_time_range(t.reader, 0, &first, &last, NULL), 1);
	ck_assert_uint_eq(first, first_seen);
	ck_assert_uint_eq(last, last_seen);
	free(got);
	free(expected);
	release(&t);
}

/*
 * Version and compression, byte order, word, page size, kernel: all of them
 * together; alignment and padding of pages take turns.
 */
static void every_form(unsigned compressed_form)
{
	static const enum tw_compression compressions[] = { TW_COMPRESSION_NONE, TW_COMPRESSION_NONE,
							    TW_COMPRESSION_ZLIB, TW_COMPRESSION_ZSTD };
	static const unsigned pages[] = { 4096, 16384, 65536 };
	static const size_t batches[] = { 1, 7, 256, 4096 };

	for (unsigned i = 0; i < 2 * 2 * 3 * 6; i++) {
		struct tw_options options = {
			.version = compressed_form ? 7 : 6,
			.compression = compressions[compressed_form],
			.big_endian = i & 1,
			.long_bytes = i & 2 ? 4 : 8,
			.page_bytes = pages[i / 4 % 3],
			.kernel = TW_KERNEL_4_19 + i / 12,
			.align8 = i % 5 == 1,
			.pad_tail = i % 3 == 1,
			.chunk_pages = 1 + i % 4,
			.cpus = 3,
			.clock = i % 2 ? "global" : "mono",
		};

		round_trip(&options, 700, false, batches[i % 4]);
	}
}

START_TEST(every_form_v6)
{
	every_form(0);
}
END_TEST

START_TEST(every_form_v7_plain)
{
	every_form(1);
}
END_TEST

START_TEST(every_form_v7_zlib)
{
	every_form(2);
}
END_TEST

START_TEST(every_form_v7_zstd)
{
	every_form(3);
}
END_TEST

START_TEST(user_word_is_not_the_kernels)
{
	struct tw_options options = { .long_bytes = 8, .user_long_bytes = 4, .cpus = 2 };

	round_trip(&options, 500, false, 100);
	options.version = 6;
	round_trip(&options, 500, false, 100);
}
END_TEST

START_TEST(equal_times)
{
	static const size_t batches[] = { 1, 2, 3, 64, 1000 };

	for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
		struct tw_options options = { .cpus = 1 + (unsigned)i * 2, .compression = TW_COMPRESSION_ZSTD };

		round_trip(&options, 6000, true, batches[i]);
	}
}
END_TEST

START_TEST(many_events_on_few_cpus)
{
	struct tw_options options = { .cpus = 2 };

	round_trip(&options, 30000, true, 1024);
}
END_TEST

START_TEST(cpus_512)
{
	struct tw_options options = { .cpus = 512, .compression = TW_COMPRESSION_ZSTD };

	round_trip(&options, 40000, true, 1024);
	options = (struct tw_options){ .cpus = 512, .version = 6, .big_endian = true };
	round_trip(&options, 2000, false, 33);
}
END_TEST

/* All of one time, on every CPU: CPU by CPU, each in its own order. */
START_TEST(all_times_equal)
{
	struct tw *tw = tw_new(&(struct tw_options){ .cpus = 5, .clock = "jiffies" });
	struct km_event *got;
	struct trace t;
	size_t count;

	for (unsigned i = 0; i < 1500; i++)
		tw_kfree(tw, TW_TOP, i % 5, 1000, 42, 1, i);
	t = open_trace(tw);
	got = km_read_back_all(t.reader, 0, 97, &count);
	ck_assert_uint_eq(count, 1500);
	for (unsigned i = 0; i < 1500; i++) {
		ck_assert_uint_eq(got[i].cpu, i / 300);
		ck_assert_uint_eq(got[i].ptr, i % 300 * 5 + i / 300);
		ck_assert_uint_eq(got[i].flags, KM_EVENT_TIED);
	}
	free(got);
	release(&t);
}
END_TEST

/* ---- CPUs and buffers ---- */

/* Where a BUFFER option of version 7 has the number of CPUs; the first one's number follows it. */
static uint8_t *cpus_in_option(const struct trace *t, unsigned buffer)
{
	uint64_t place[2] = { tw_data_offset(t->tw, buffer, 0), tw_data_bytes(t->tw, buffer, 0) };
	uint8_t *found = memmem(t->data, t->bytes, place, sizeof(place));

	ck_assert_ptr_nonnull(found);
	return found - 8;
}

static void reopen(struct trace *t)
{
	km_reader_close(t->reader);
	t->reader = km_read_back_open(t->data, t->bytes, NULL);
}

/* The lowest number is first at equal times, not the first in the file. Numbers may have gaps. */
START_TEST(cpus_out_of_order)
{
	static const uint32_t numbers[] = { 300, 2, 77 };
	struct tw *tw = tw_new(&(struct tw_options){ .cpus = 3 });
	const struct km_buffer_stats *stats;
	struct km_event *got;
	struct trace t;
	size_t count;

	for (unsigned i = 0; i < 3; i++)
		tw_kfree(tw, TW_TOP, i, 5, 42, 1, 16 + i);
	t = open_trace(tw);
	for (unsigned i = 0; i < 3; i++)
		memcpy(cpus_in_option(&t, TW_TOP) + 4 + 20 * i, &numbers[i], 4);
	reopen(&t);
	ck_assert_uint_eq(km_reader_info(t.reader)->buffers[0].cpu_limit, 301);
	got = km_read_back_all(t.reader, 0, 10, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert_uint_eq(got[0].cpu, 2);
	ck_assert_uint_eq(got[0].ptr, 17);
	ck_assert_uint_eq(got[1].cpu, 77);
	ck_assert_uint_eq(got[2].cpu, 300);
	ck_assert_uint_eq(got[2].ptr, 16);
	stats = km_reader_stats(t.reader);
	ck_assert_uint_eq(stats->cpus_count, 3);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_eq(stats->cpus[i].events_count, 1);
	free(got);
	release(&t);
}
END_TEST

START_TEST(no_cpus)
{
	struct trace t = open_trace(tw_new(&(struct tw_options){ .cpus = 1 }));
	uint64_t first, last;
	size_t count;

	memset(cpus_in_option(&t, TW_TOP), 0, 4);
	reopen(&t);
	ck_assert_uint_eq(km_reader_info(t.reader)->buffers[0].cpus_count, 0);
	ck_assert_uint_eq(km_reader_info(t.reader)->buffers[0].cpu_limit, 0);
	free(km_read_back_all(t.reader, 0, 10, &count));
	ck_assert_uint_eq(count, 0);
	ck_assert(!km_reader_stats(t.reader)->has_events);
	ck_assert_int_eq(km_reader_time_range(t.reader, 0, &first, &last, NULL), 0);
	release(&t);
}
END_TEST

/* CPUs without a page, and with nothing but empty ones. */
START_TEST(empty_cpus)
{
	for (unsigned version = 6; version <= 7; version++) {
		struct tw *tw = tw_new(&(struct tw_options){ .cpus = 6, .version = version });
		struct km_event *got;
		uint64_t first, last;
		struct trace t;
		size_t count;

		for (unsigned i = 0; i < 20; i++)
			tw_new_page(tw, TW_TOP, 1);
		tw_kfree(tw, TW_TOP, 3, 500, 42, 1, 2);
		tw_kfree(tw, TW_TOP, 3, 900, 42, 1, 2);
		for (unsigned i = 0; i < 200; i++) /* the last event is far before the last page */
			tw_new_page(tw, TW_TOP, 3);
		t = open_trace(tw);
		got = km_read_back_all(t.reader, 0, 10, &count);
		ck_assert_uint_eq(count, 2);
		ck_assert_uint_eq(got[1].cpu, 3);
		ck_assert_int_eq(km_reader_time_range(t.reader, 0, &first, &last, NULL), 1);
		ck_assert_uint_eq(first, 500);
		ck_assert_uint_eq(last, 900);
		free(got);
		release(&t);
	}
}
END_TEST

START_TEST(instances)
{
	for (unsigned version = 6; version <= 7; version++) {
		struct tw *tw = tw_new(&(struct tw_options){ .version = version, .cpus = 2, .clock = "global" });
		unsigned alpha = tw_add_buffer(tw, "alpha", 65536, "x86-tsc", 4);
		unsigned beta = tw_add_buffer(tw, "beta", 0, "local", 0);
		const struct km_buffer_info *info;
		const struct km_buffer_stats *stats;
		struct km_error error = { 0 };
		struct km_event *got;
		struct trace t;
		size_t count;

		tw_other(tw, TW_TOP, 0, 1, 42);
		for (unsigned i = 0; i < 3000; i++)
			tw_kmalloc(tw, alpha, i % 2, 10 + i, 42, 1, 64 + i, 8, 8, 0, -1);
		for (unsigned i = 0; i < 500; i++)
			tw_kfree(tw, beta, i % 2, 20 + i, 43, 2, 64 + i);
		tw_cpustat(tw, TW_TOP, 0, 1, 2, 3);
		tw_cpustat(tw, alpha, 1, 4, 5, 6);
		tw_cpustat(tw, beta, 0, 7, 8, 9);
		tw_cpustat(tw, beta, 1, 0, 0, 0);
		t = open_trace(tw);
		info = km_reader_info(t.reader)->buffers;
		ck_assert_uint_eq(km_reader_info(t.reader)->buffers_count, 3);
		ck_assert_str_eq(info[0].name, "");
		ck_assert_str_eq(info[1].name, "alpha");
		ck_assert_str_eq(info[2].name, "beta");
		ck_assert(info[0].clock_is_coherent && info[0].unit == KM_CLOCK_NS);
		if (version == 7) {
			ck_assert_uint_eq(info[1].page_bytes, 65536);
			ck_assert_uint_eq(info[1].cpus_count, 4);
			ck_assert_int_eq(info[1].unit, KM_CLOCK_TICKS);
			ck_assert(!info[2].clock_is_coherent);
		}
		/* In any order, and again: each from its start. */
		for (unsigned round = 0; round < 2; round++) {
			got = km_read_back_all(t.reader, beta, 64, &count);
			ck_assert_uint_eq(count, 500);
			ck_assert_uint_eq(got[0].kind, KM_EVENT_KFREE);
			stats = km_reader_stats(t.reader);
			ck_assert_uint_eq(stats->slab_counts[KM_EVENT_KFREE], 500);
			ck_assert_uint_eq(stats->slab_counts[KM_EVENT_KMALLOC], 0);
			ck_assert_uint_eq(stats->cpus[0].overrun_count, 7);
			ck_assert_uint_eq(stats->cpus[0].commit_overrun_count, 8);
			ck_assert_uint_eq(stats->cpus[0].dropped_count, 9);
			ck_assert(stats->cpus[1].has_statistics);
			ck_assert_uint_eq(stats->first_time, 20);
			free(got);
			got = km_read_back_all(t.reader, alpha, 64, &count);
			ck_assert_uint_eq(count, 3000);
			stats = km_reader_stats(t.reader);
			ck_assert_uint_eq(km_read_back_count(t.reader, "kmalloc"), 3000);
			ck_assert_uint_eq(km_read_back_count(t.reader, "kfree"), 0);
			ck_assert(!stats->cpus[0].has_statistics);
			ck_assert_uint_eq(stats->cpus[1].dropped_count, 6);
			free(got);
		}
		free(km_read_back_all(t.reader, 0, 64, &count));
		ck_assert_uint_eq(count, 0);
		ck_assert_uint_eq(km_reader_stats(t.reader)->cpus[0].overrun_count, 1);
		ck_assert_uint_eq(km_read_back_count(t.reader, "sched_switch"), 1);
		ck_assert_int_eq(km_reader_start(t.reader, 3, &error), -EINVAL);
		ck_assert_ptr_nonnull(strstr(error.text, "built.dat: there is no buffer 3"));
		/* Begun again half-way. */
		ck_assert_int_eq(km_reader_start(t.reader, alpha, NULL), 0);
		got = calloc(100, sizeof(*got));
		ck_assert_int_eq(km_reader_read(t.reader, got, 100, NULL), 100);
		ck_assert_int_eq(km_reader_start(t.reader, alpha, NULL), 0);
		ck_assert_int_eq(km_reader_read(t.reader, got, 100, NULL), 100);
		ck_assert_uint_eq(got[0].ptr, 64);
		free(got);
		release(&t);
	}
}
END_TEST

/* ---- losses ---- */

static void expect_lost(const struct km_event *e, uint64_t time, unsigned cpu, uint64_t count)
{
	ck_assert_uint_eq(e->kind, KM_EVENT_LOST);
	ck_assert_uint_eq(e->time, time);
	ck_assert_uint_eq(e->cpu, cpu);
	ck_assert_uint_eq(e->bytes_req, count);
}

static void losses_of_form(struct tw_options options)
{
	const struct km_cpu_loss *loss;
	struct km_event *got;
	struct tw *tw;
	struct trace t;
	size_t count;

	options.cpus = 3;
	tw = tw_new(&options);
	/* CPU 0: at the start, counted; then two holes. */
	tw_lost(tw, TW_TOP, 0, 1234);
	tw_kfree(tw, TW_TOP, 0, 10, 42, 1, 16);
	tw_lost(tw, TW_TOP, 0, 55);
	tw_kfree(tw, TW_TOP, 0, 20, 42, 1, 32);
	tw_lost(tw, TW_TOP, 0, -1);
	tw_other(tw, TW_TOP, 0, 30, 42); /* not handed out, but the loss is before it */
	tw_kfree(tw, TW_TOP, 0, 40, 42, 1, 48);
	/* CPU 1: at the start, not counted; two marks before the next event are one loss. */
	tw_lost(tw, TW_TOP, 1, -1);
	tw_kfree(tw, TW_TOP, 1, 11, 42, 1, 64);
	tw_lost(tw, TW_TOP, 1, 3);
	tw_new_page(tw, TW_TOP, 1);
	tw_lost(tw, TW_TOP, 1, 4);
	tw_kfree(tw, TW_TOP, 1, 21, 42, 1, 80);
	/* ... one of which tells no number */
	tw_lost(tw, TW_TOP, 1, 3);
	tw_new_page(tw, TW_TOP, 1);
	tw_lost(tw, TW_TOP, 1, -1);
	tw_kfree(tw, TW_TOP, 1, 31, 42, 1, 96);
	/* CPU 2: a loss with nothing behind it. */
	tw_kfree(tw, TW_TOP, 2, 12, 42, 1, 112);
	tw_lost(tw, TW_TOP, 2, 9);
	tw_new_page(tw, TW_TOP, 2);
	t = open_trace(tw);
	got = km_read_back_all(t.reader, 0, 5, &count);
	ck_assert_uint_eq(count, 7 + 5);
	ck_assert_uint_eq(got[0].ptr, 16);
	ck_assert_uint_eq(got[1].ptr, 64);
	ck_assert_uint_eq(got[2].ptr, 112);
	expect_lost(&got[3], 12, 2, 9);
	expect_lost(&got[4], 20, 0, 55);
	ck_assert_uint_eq(got[5].ptr, 32);
	expect_lost(&got[6], 21, 1, 7);
	ck_assert_uint_eq(got[7].ptr, 80);
	expect_lost(&got[8], 30, 0, 0);
	expect_lost(&got[9], 31, 1, 0);
	ck_assert_uint_eq(got[10].ptr, 96);
	ck_assert_uint_eq(got[11].ptr, 48);
	free(got);
	loss = km_reader_stats(t.reader)->cpus;
	ck_assert(loss[0].start_lost && loss[1].start_lost && !loss[2].start_lost);
	ck_assert_uint_eq(loss[0].holes_count, 2);
	ck_assert_uint_eq(loss[0].stored_count, 1234 + 55);
	ck_assert_uint_eq(loss[0].uncounted_gaps_count, 1);
	ck_assert_uint_eq(loss[1].holes_count, 4);
	ck_assert_uint_eq(loss[1].stored_count, 3 + 4 + 3);
	ck_assert_uint_eq(loss[1].uncounted_gaps_count, 2);
	ck_assert_uint_eq(loss[2].holes_count, 1);
	ck_assert_uint_eq(loss[2].stored_count, 9);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert(!loss[i].is_cut && !loss[i].has_statistics);
		ck_assert_uint_eq(loss[i].damaged_count, 0);
	}
	release(&t);
}

START_TEST(lost_events)
{
	for (unsigned i = 0; i < 8; i++)
		losses_of_form((struct tw_options){
			.version = i & 1 ? 6 : 7, .big_endian = i & 2, .long_bytes = i & 4 ? 4 : 8 });
	losses_of_form((struct tw_options){ .compression = TW_COMPRESSION_ZSTD });
}
END_TEST

/* A page, a record, a chunk that can't be used: a hole of unknown size, and the rest is read. */
START_TEST(damage_is_a_hole)
{
	struct tw *tw = tw_new(&(struct tw_options){ 0 });
	const struct km_buffer_stats *stats;
	struct km_event *got;
	uint8_t page[4096];
	struct trace t;
	size_t count;

	tw_kfree(tw, TW_TOP, 0, 10, 42, 1, 16);
	memset(page, 0x7f, sizeof(page));
	tw_raw_page(tw, TW_TOP, 0, page); /* holds more than fits */
	tw_kfree(tw, TW_TOP, 0, 20, 42, 1, 32);
	memset(page, 0, sizeof(page));
	page[0] = 30;
	page[8] = 12;  /* bytes of data: */
	page[16] = 28; /* a record of 112 */
	tw_raw_page(tw, TW_TOP, 0, page);
	tw_kfree(tw, TW_TOP, 0, 40, 42, 1, 48);
	t = open_trace(tw);
	got = km_read_back_all(t.reader, 0, 64, &count);
	ck_assert_uint_eq(count, 5);
	expect_lost(&got[1], 20, 0, 0);
	expect_lost(&got[3], 40, 0, 0);
	stats = km_reader_stats(t.reader);
	ck_assert_uint_eq(stats->cpus[0].damaged_count, 2);
	ck_assert_uint_eq(stats->cpus[0].holes_count, 2);
	ck_assert_uint_eq(stats->cpus[0].uncounted_gaps_count, 2);
	ck_assert(!stats->cpus[0].start_lost);
	ck_assert_ptr_nonnull(strstr(stats->first_damage, "more than fits into one, CPU 0, in the block at offset"));
	free(got);
	release(&t);
}
END_TEST

/* ---- times ---- */

/* What the ring buffer puts between events does not change their times, nor show up as events. */
START_TEST(stamps_and_discards)
{
	const uint64_t far = UINT64_C(1) << 27;

	for (unsigned i = 0; i < 8; i++) {
		struct tw_options options = { .version = i & 1 ? 6 : 7,
					      .big_endian = i & 2,
					      .long_bytes = i & 4 ? 4 : 8 };
		struct tw *tw = tw_new(&options);
		uint64_t times[] = { 10, 10, 11, 11 + far - 1, 11 + 2 * far, 12 + 2 * far, 500 * far, 501 * far };
		uint64_t ips[60] = { 0 };
		struct km_event *got;
		struct trace t;
		size_t count;

		tw_discard(tw, TW_TOP, 0, 5);
		for (unsigned k = 0; k < 8; k++) {
			if (k == 5 || k == 6)
				tw_absolute(tw, TW_TOP, 0);
			if (k == 7)
				tw_discard(tw, TW_TOP, 0, 500 * far + 7);
			if (k == 3)
				tw_stack(tw, TW_TOP, 0, 12, 42, 60, ips); /* the long form */
			tw_kfree(tw, TW_TOP, 0, times[k], 42, 1, 16 + k);
		}
		t = open_trace(tw);
		got = km_read_back_all(t.reader, 0, 3, &count);
		ck_assert_uint_eq(count, 8);
		for (unsigned k = 0; k < 8; k++) {
			ck_assert_uint_eq(got[k].time, times[k]);
			ck_assert_uint_eq(got[k].ptr, 16 + k);
		}
		ck_assert_uint_eq(km_reader_stats(t.reader)->events_count, 9);
		ck_assert_uint_eq(km_read_back_count(t.reader, "kernel_stack"), 1);
		free(got);
		release(&t);
	}
}
END_TEST

/* A CPU's own order is the truth: a time that goes back is taken as equal to the latest before it. */
START_TEST(times_going_back)
{
	struct tw *tw = tw_new(&(struct tw_options){ .version = 6 });
	uint8_t swapped[4096], *pages;
	struct km_event *got;
	struct trace t;
	size_t count;

	for (unsigned i = 0; i < 4; i++) {
		tw_kfree(tw, TW_TOP, 0, 100 * i + 50, 42, 1, 16 + i);
		tw_kfree(tw, TW_TOP, 0, 100 * i + 51, 42, 1, 32 + i);
		tw_new_page(tw, TW_TOP, 0);
	}
	t = open_trace(tw);
	pages = t.data + tw_data_offset(tw, TW_TOP, 0);
	memcpy(swapped, pages + 4096, 4096);
	memcpy(pages + 4096, pages + 2 * 4096, 4096);
	memcpy(pages + 2 * 4096, swapped, 4096);
	reopen(&t);
	got = km_read_back_all(t.reader, 0, 3, &count);
	ck_assert_uint_eq(count, 8);
	ck_assert_uint_eq(got[2].time, 250);
	ck_assert_uint_eq(got[3].time, 251);
	ck_assert_uint_eq(got[4].time, 251);
	ck_assert_uint_eq(got[4].ptr, 17);
	ck_assert_uint_eq(got[5].time, 251);
	ck_assert_uint_eq(got[6].time, 350);
	ck_assert_uint_eq(km_reader_stats(t.reader)->backwards_count, 2);
	free(got);
	release(&t);
}
END_TEST

START_TEST(tsc_to_ns)
{
	static const struct {
		const char *clock;
		bool is_told;
		enum km_clock_unit unit;
		uint64_t time; /* of tick 1001 */
	} cases[] = {
		{ "x86-tsc", true, KM_CLOCK_NS, 1501 },
		{ "x86-tsc", false, KM_CLOCK_TICKS, 1001 },
		{ "counter", true, KM_CLOCK_TICKS, 1001 },
		{ "mono", true, KM_CLOCK_NS, 1001 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tw *tw = tw_new(&(struct tw_options){ .clock = cases[i].clock });
		uint64_t first, last, huge = UINT64_C(1) << 58;
		struct km_event *got;
		struct trace t;
		size_t count;

		if (cases[i].is_told)
			tw_option_tsc2nsec(tw, 3, 1, 12345);
		tw_kfree(tw, TW_TOP, 0, 1001, 42, 1, 16);
		tw_kfree(tw, TW_TOP, 0, huge, 42, 1, 16);
		t = open_trace(tw);
		ck_assert_int_eq(km_reader_info(t.reader)->buffers[0].unit, cases[i].unit);
		got = km_read_back_all(t.reader, 0, 10, &count);
		ck_assert_uint_eq(got[0].time, cases[i].time);
		ck_assert_uint_eq(got[1].time, i == 0 ? huge / 2 * 3 : huge);
		ck_assert_int_eq(km_reader_time_range(t.reader, 0, &first, &last, NULL), 1);
		ck_assert_uint_eq(first, cases[i].time);
		ck_assert_uint_eq(last, got[1].time);
		free(got);
		release(&t);
	}
}
END_TEST

/* ---- events that are not handed out ---- */

START_TEST(counted_by_name)
{
	struct tw *tw = tw_new(&(struct tw_options){ 0 });
	const uint8_t unknown[] = { 0xd2, 0x04, 0, 0, 42, 0, 0, 0 }; /* 1234 */
	const struct km_event_count *counts;
	uint64_t ips[3] = { 0 }, time = 0;
	struct trace t;
	size_t count, kinds;

	for (unsigned i = 0; i < 30; i++)
		tw_other(tw, TW_TOP, 0, time++, 42);
	for (unsigned i = 0; i < 20; i++)
		tw_stack(tw, TW_TOP, 0, time++, 42, 3, ips);
	for (unsigned i = 0; i < 20; i++)
		tw_kfree(tw, TW_TOP, 0, time++, 42, 1, 16);
	for (unsigned i = 0; i < 10; i++)
		tw_print(tw, TW_TOP, 0, time++, 42, "text\n");
	for (unsigned i = 0; i < 5; i++)
		tw_record(tw, TW_TOP, 0, time++, unknown, sizeof(unknown));
	t = open_trace(tw);
	free(km_read_back_all(t.reader, 0, 10, &count));
	ck_assert_uint_eq(count, 20);
	counts = km_reader_event_counts(t.reader, &kinds);
	ck_assert_uint_eq(kinds, 5);
	ck_assert_str_eq(counts[0].name, "sched_switch");
	ck_assert_str_eq(counts[1].name, "kernel_stack"); /* as many as kfree: by name */
	ck_assert_str_eq(counts[2].name, "kfree");
	ck_assert_str_eq(counts[3].name, "print");
	ck_assert_str_eq(counts[4].name, "event 1234");
	ck_assert_uint_eq(counts[0].count, 30);
	ck_assert_uint_eq(counts[4].count, 5);
	ck_assert_uint_eq(counts[4].id, 1234);
	ck_assert_uint_eq(km_reader_stats(t.reader)->events_count, 85);
	ck_assert_uint_eq(km_reader_stats(t.reader)->last_time, 84);
	release(&t);
}
END_TEST

/* Slab events that are too short, or that can't be: left out, counted, the first one told. */
START_TEST(impossible_events)
{
	struct tw *tw = tw_new(&(struct tw_options){ 0 });
	struct tw_format formats[TW_FORMAT_KINDS];
	const struct km_buffer_stats *stats;
	uint8_t record[8] = { 0 };
	struct km_event *got;
	struct trace t;
	size_t count;

	tw_formats_init(formats, TW_KERNEL_6_18, 8);
	tw_kfree(tw, TW_TOP, 0, 1, 42, 1, 16);
	memcpy(record, &formats[TW_FORMAT_KFREE].id, 2);
	tw_record(tw, TW_TOP, 0, 2, record, sizeof(record));
	tw_kmalloc(tw, TW_TOP, 0, 3, 42, 1, 32, 100, 64, 0, -1);                             /* given less than asked */
	tw_kmalloc(tw, TW_TOP, 0, 4, 42, 1, 32, 1, KM_OBJECT_BYTES_LIMIT, 0, -1);            /* too large */
	tw_kmalloc(tw, TW_TOP, 0, 5, 42, 1, 0, UINT64_C(1) << 40, UINT64_C(1) << 40, 0, -1); /* failed: that is why */
	tw_kmalloc(tw, TW_TOP, 0, 6, 42, 1, 48, 0, KM_OBJECT_BYTES_LIMIT - 1, 0, -1);
	t = open_trace(tw);
	got = km_read_back_all(t.reader, 0, 10, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert_uint_eq(got[1].time, 5);
	ck_assert_uint_eq(got[1].bytes_req, UINT64_C(1) << 40);
	ck_assert_uint_eq(got[2].time, 6);
	stats = km_reader_stats(t.reader);
	ck_assert_uint_eq(stats->skipped_count, 3);
	ck_assert_ptr_nonnull(strstr(stats->first_skipped, "a record shorter than its fields, CPU 0, in the block at"));
	ck_assert_uint_eq(stats->events_count, 6);
	ck_assert_uint_eq(stats->slab_counts[KM_EVENT_KMALLOC], 2);
	free(got);
	release(&t);
}
END_TEST

/* A name whose offset or length leads out of its record is none. */
START_TEST(name_out_of_the_record)
{
	struct tw *tw = tw_new(&(struct tw_options){ 0 });
	struct tw_format formats[TW_FORMAT_KINDS];
	const struct tw_format_field *name;
	struct km_event *got;
	struct trace t;
	uint8_t *record;
	size_t count;

	tw_formats_init(formats, TW_KERNEL_6_18, 8);
	name = tw_format_find(&formats[TW_FORMAT_CACHE_FREE], TW_FIELD_NAME);
	tw_cache_free(tw, TW_TOP, 0, 1, 42, 1, 16, "dentry");
	tw_cache_free(tw, TW_TOP, 0, 2, 42, 1, 16, "inode_cache");
	tw_cache_free(tw, TW_TOP, 0, 3, 42, 1, 16, "");
	tw_cache_free(tw, TW_TOP, 0, 4, 42, 1, 16, "dentry");
	t = open_trace(tw);
	got = km_read_back_all(t.reader, 0, 10, &count);
	ck_assert_uint_eq(km_reader_cache_count(t.reader), 3);
	ck_assert_str_eq(km_reader_cache_name(t.reader, got[0].cache), "dentry");
	ck_assert_str_eq(km_reader_cache_name(t.reader, got[1].cache), "inode_cache");
	ck_assert_uint_eq(got[0].cache, got[3].cache);
	ck_assert_str_eq(km_reader_cache_name(t.reader, got[2].cache), "");
	ck_assert_str_eq(km_reader_cache_name(t.reader, 0), "");
	ck_assert_str_eq(km_reader_cache_name(t.reader, 999), "");
	free(got);
	record = t.data + tw_data_offset(tw, TW_TOP, 0) + 16 + 4;
	for (unsigned i = 0; i < 4; i++) {
		static const uint32_t where[] = { 0xffff, 0xffff0000, 0x00010000 | 4095, UINT32_MAX };

		memcpy(record + name->offset, &where[i], 4);
		reopen(&t);
		got = km_read_back_all(t.reader, 0, 10, &count);
		ck_assert_uint_eq(count, 4);
		ck_assert_uint_eq(got[0].cache, KM_CACHE_NONE);
		ck_assert_str_eq(km_reader_cache_name(t.reader, got[1].cache), "inode_cache");
		free(got);
	}
	release(&t);
}
END_TEST

/* A report asks for every call site: decompressing them each time took half a minute for a file of half a megabyte. */
START_TEST(unreadable_symbols_are_not_tried_again)
{
	struct trace t = open_trace(tw_new(&(struct tw_options){ .compression = TW_COMPRESSION_ZSTD }));
	struct km_source *source = km_source_new_memory("trace.dat", t.data, t.bytes);
	struct km_error first = { 0 }, second = { 0 };
	struct km_tracedat *file;
	uint8_t *symbols, saved;

	ck_assert_int_eq(km_tracedat_open(source, &file, NULL), 0);
	symbols = t.data + file->kallsyms.offset;
	km_tracedat_close(file);
	km_source_close(source);
	saved = symbols[0];
	symbols[0] ^= 0xff; /* zstd's magic */
	ck_assert_ptr_null(km_reader_symbols(t.reader, &first));
	ck_assert_int_eq(first.code, -EBADMSG);
	ck_assert_ptr_nonnull(strstr(first.text, "can not be decompressed"));
	symbols[0] = saved;
	ck_assert_ptr_null(km_reader_symbols(t.reader, &second));
	ck_assert_int_eq(second.code, -EBADMSG);
	ck_assert_str_eq(second.text, first.text);
	ck_assert_ptr_null(km_reader_symbols(t.reader, NULL));
	release(&t);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		every_form_v6,
		every_form_v7_plain,
		every_form_v7_zlib,
		every_form_v7_zstd,
		user_word_is_not_the_kernels,
		equal_times,
		many_events_on_few_cpus,
		cpus_512,
		all_times_equal,
		cpus_out_of_order,
		no_cpus,
		empty_cpus,
		instances,
		lost_events,
		damage_is_a_hole,
		stamps_and_discards,
		times_going_back,
		tsc_to_ns,
		counted_by_name,
		impossible_events,
		name_out_of_the_record,
		unreadable_symbols_are_not_tried_again,
		NULL,
	};

	return km_test_main("reader", tests, 60);
}
