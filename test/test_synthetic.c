/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings that are hard to come by, built and taken all the way to the
 * counts: old kernels, a big-endian 32-bit one, clocks that disagree, frees
 * traced late, losses with and without a number, symbols full of junk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysed.h"
#include "fixture.h"
#include "perf_writer.h"
#include "read_back.h"
#include "testing.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- generations, words, byte orders ---- */

/* Of a 32-bit kernel, as no pointer of it may gain or lose bits. */
#define SITE(i) (UINT64_C(0xc1001010) + 0x1000 * (uint64_t)(i))
#define PTR(i)  (UINT64_C(0xc7000040) + 0x100 * (uint64_t)(i))

static const struct km_event old_events[] = {
	{ .kind = KM_EVENT_KMALLOC,
	  .time = 1000,
	  .pid = 7,
	  .call_site = SITE(1),
	  .ptr = PTR(1),
	  .bytes_req = 100,
	  .bytes_alloc = 128,
	  .node = KM_NODE_ANY },
	{ .kind = KM_EVENT_KMALLOC_NODE,
	  .time = 2000,
	  .pid = 7,
	  .call_site = SITE(1),
	  .ptr = PTR(2),
	  .bytes_req = 60,
	  .bytes_alloc = 64,
	  .node = 1 },
	{ .kind = KM_EVENT_CACHE_ALLOC,
	  .time = 3000,
	  .pid = 8,
	  .call_site = SITE(2),
	  .ptr = PTR(3),
	  .bytes_req = 250,
	  .bytes_alloc = 256,
	  .node = KM_NODE_ANY },
	{ .kind = KM_EVENT_CACHE_ALLOC_NODE,
	  .time = 4000,
	  .pid = 8,
	  .call_site = SITE(2),
	  .ptr = PTR(4),
	  .bytes_req = 250,
	  .bytes_alloc = 256,
	  .node = 0 },
	{ .kind = KM_EVENT_KFREE, .time = 5000, .pid = 8, .call_site = SITE(3), .ptr = PTR(2) },
	{ .kind = KM_EVENT_CACHE_FREE, .time = 6000, .pid = 8, .call_site = SITE(3), .ptr = PTR(3) },
	{ .kind = KM_EVENT_KFREE, .time = 7000, .pid = 8, .call_site = SITE(3), .ptr = PTR(9) },
};

static void *build_old(bool is_perf, enum tw_kernel kernel, bool big_endian, unsigned long_bytes, size_t *ret_bytes)
{
	struct tw *tw = is_perf ? NULL
				: tw_new(&(struct tw_options){ .kernel = kernel,
							       .version = 6,
							       .big_endian = big_endian,
							       .long_bytes = long_bytes,
							       .clock = "mono" });
	struct pw *pw = is_perf ? pw_new(&(struct pw_options){
					  .kernel = kernel, .big_endian = big_endian, .long_bytes = long_bytes })
				: NULL;
	void *data;

	for (size_t i = 0; i < COUNT(old_events); i++) {
		struct km_event e = old_events[i];

		if (km_event_is_alloc(&e))
			e.gfp = tw_gfp(kernel, "GFP_KERNEL") | (i ? tw_gfp(kernel, "__GFP_ACCOUNT") : 0);
		if (is_perf)
			pw_event(pw, &e, NULL);
		else
			tw_event(tw, TW_TOP, &e, NULL);
	}
	data = is_perf ? pw_finish(pw, ret_bytes) : tw_finish(tw, ret_bytes);
	tw_free(tw);
	pw_free(pw);
	return data;
}

static struct km_row cache_row(const struct km_analysis *analysis, const char *name)
{
	struct km_row row;

	for (size_t i = 0; i < km_aggregate_rows_count(analysis->aggregate, KM_AXIS_CACHE); i++) {
		if (strcmp(km_aggregate_cache(analysis->aggregate, i), name))
			continue;
		ck_assert_int_eq(km_aggregate_row(analysis->aggregate, KM_AXIS_CACHE, i, false, &row), 0);
		km_row_release(&row);
		return row;
	}
	ck_abort_msg("no cache %s", name);
	return (struct km_row){ 0 };
}

static struct km_row total_of(const struct km_analysis *analysis)
{
	struct km_row row;

	ck_assert_int_eq(km_aggregate_total(analysis->aggregate, &row), 0);
	km_row_release(&row); /* only its histogram goes */
	return row;
}

static void check_old(struct km_reader *reader, enum tw_kernel kernel, bool big_endian, unsigned long_bytes)
{
	const struct km_analysis_options options = { .max_memory_bytes = 1 << 20 };
	const struct km_trace_info *info = km_reader_info(reader);
	struct km_analysis *analysis;
	struct km_event *events;
	struct km_row row;
	size_t count;

	ck_assert(info->big_endian == big_endian);
	ck_assert_uint_eq(info->word_bytes, long_bytes);
	events = km_read_back_all(reader, 0, 3, &count);
	ck_assert_uint_eq(count, COUNT(old_events));
	for (size_t i = 0; i < count; i++) {
		const struct km_event *got = &events[i], *e = &old_events[i];

		ck_assert_uint_eq(got->kind, e->kind);
		ck_assert_uint_eq(got->time, e->time);
		ck_assert_int_eq(got->pid, e->pid);
		ck_assert_uint_eq(got->call_site, e->call_site);
		ck_assert_uint_eq(got->ptr, e->ptr);
		if (!km_event_is_alloc(e))
			continue;
		ck_assert_uint_eq(got->bytes_req, e->bytes_req);
		ck_assert_uint_eq(got->bytes_alloc, e->bytes_alloc);
		ck_assert_int_eq(got->node, e->node);
		ck_assert_uint_eq(got->gfp, tw_gfp(kernel, "GFP_KERNEL") | (i ? tw_gfp(kernel, "__GFP_ACCOUNT") : 0));
	}
	free(events);
	ck_assert_int_eq(km_analysis_run(reader, 0, &options, &analysis, NULL), 0);
	row = total_of(analysis);
	ck_assert_uint_eq(row.sums.tracked_count, 4);
	ck_assert_uint_eq(row.sums.matched_frees_count, 2);
	ck_assert_uint_eq(row.sums.live_bytes, 128 + 256);
	ck_assert_uint_eq(row.sums.total_requested_bytes, 100 + 60 + 250 + 250);
	ck_assert_uint_eq(row.level.peak_live_bytes, 128 + 64 + 256 + 256);
	ck_assert_uint_eq(km_aggregate_replayed(analysis->aggregate)->unmatched_frees_count, 1);
	ck_assert_uint_eq(cache_row(analysis, "kmalloc-128").sums.live_count, 1);
	ck_assert_uint_eq(cache_row(analysis, "kmalloc-64").sums.matched_frees_count, 1);
	ck_assert_uint_eq(cache_row(analysis, "(unnamed:256)").sums.live_count, 1); /* no event names it */
	km_analysis_free(analysis);
}

/* 4.19 and 5.10: gfp_t of 4 bytes, _node events, no names, no `accounted`. */
START_TEST(old_kernels_of_every_word_and_byte_order)
{
	for (unsigned i = 0; i < 16; i++) {
		enum tw_kernel kernel = i & 8 ? TW_KERNEL_5_10 : TW_KERNEL_4_19;
		bool big_endian = i & 1, is_perf = i & 4;
		unsigned long_bytes = i & 2 ? 4 : 8;
		size_t bytes;
		void *data = build_old(is_perf, kernel, big_endian, long_bytes, &bytes);
		struct km_reader *reader = km_read_back_open(data, bytes, NULL);

		check_old(reader, kernel, big_endian, long_bytes);
		km_reader_close(reader);
		free(data);
	}
}
END_TEST

/* ---- clocks and late frees ---- */

#define A UINT64_C(0xffff888000001000)

/*
 * CPU 1's clock is `skew` behind CPU 0's. Of the objects of CPU 0, all at one
 * address, CPU 1 frees every other one: 10 us after the allocation, but by
 * its clock before it.
 */
static struct tw *skewed(const char *clock, uint64_t skew, unsigned rounds)
{
	struct tw *tw = tw_new(&(struct tw_options){ .cpus = 2, .clock = clock });

	for (unsigned i = 0; i < rounds; i++) {
		uint64_t time = 10000000 + 1000000 * i;

		tw_kmalloc(tw, TW_TOP, 0, time, 1, 0xffffffff81001010, A, 100, 128, 0, -1);
		if (i % 2)
			tw_kfree(tw, TW_TOP, 0, time + 10000, 1, 0xffffffff81002010, A);
		else
			tw_kfree(tw, TW_TOP, 1, time + 10000 - skew, 2, 0xffffffff81002010, A);
	}
	tw_cpustat(tw, TW_TOP, 0, 0, 0, 0);
	tw_cpustat(tw, TW_TOP, 1, 0, 0, 0);
	return tw;
}

START_TEST(clocks_that_disagree)
{
	enum { ROUNDS = 20 };
	static const struct {
		const char *clock;
		uint64_t skew, mended, unmended;
	} cases[] = {
		{ "mono", 0, 0, 0 },
		{ "local", 0, 0, 0 },
		{ "local", 60000, ROUNDS / 2, 0 },
		{ "local", 900000, ROUNDS / 2, 0 },
		{ "mono", 60000, 0, ROUNDS / 2 }, /* it is coherent: so it was that way */
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct analysed *a = analysed_run(skewed(cases[i].clock, cases[i].skew, ROUNDS), NULL, NULL);
		const struct km_replayed *all = km_aggregate_replayed(a->analysis->aggregate);
		struct km_row row = total_of(a->analysis);

		ck_assert_uint_eq(a->analysis->mend ? km_mend_count(a->analysis->mend) : 0, cases[i].mended);
		ck_assert_uint_eq(all->implied_frees_count, cases[i].unmended);
		ck_assert_uint_eq(all->unmatched_frees_count, cases[i].unmended);
		ck_assert_uint_eq(all->matched_frees_count, ROUNDS - cases[i].unmended);
		ck_assert_uint_eq(row.sums.matched_frees_count, ROUNDS - cases[i].unmended);
		ck_assert_uint_eq(row.sums.cross_cpu_frees_count, ROUNDS / 2 - cases[i].unmended);
		ck_assert_uint_eq(row.sums.live_count, 0);
		ck_assert_uint_eq(row.sums.live_bytes, 0);
		ck_assert_uint_eq(row.sums.total_allocated_bytes, ROUNDS * 128);
		analysed_free(a);
	}
}
END_TEST

/* Before 5.16 a cache's free is traced when the object may be another CPU's already. */
START_TEST(frees_traced_after_the_fact)
{
	for (unsigned i = 0; i < 2; i++) {
		enum tw_kernel kernel = i ? TW_KERNEL_6_1 : TW_KERNEL_5_12;
		struct tw *tw = tw_new(&(struct tw_options){ .kernel = kernel, .cpus = 2, .clock = "mono" });
		const struct km_replayed *all;
		struct analysed *a;
		struct km_row row;

		tw_cache_alloc(tw, TW_TOP, 0, 1000, 1, 0xffffffff81001010, A, 200, 256, 0, -1, NULL);
		tw_cache_alloc(tw, TW_TOP, 1, 50000, 2, 0xffffffff81002010, A, 200, 256, 0, -1, NULL);
		tw_cache_free(tw, TW_TOP, 0, 50100, 1, 0xffffffff81003010, A, "filp"); /* of the first */
		tw_cache_free(tw, TW_TOP, 1, 90000, 2, 0xffffffff81003010, A, "filp");
		tw_cpustat(tw, TW_TOP, 0, 0, 0, 0);
		tw_cpustat(tw, TW_TOP, 1, 0, 0, 0);
		a = analysed_run(tw, NULL, NULL);
		all = km_aggregate_replayed(a->analysis->aggregate);
		row = total_of(a->analysis);
		ck_assert_uint_eq(all->matched_frees_count, i ? 1 : 2);
		ck_assert_uint_eq(all->implied_frees_count, i ? 1 : 0);
		ck_assert_uint_eq(all->unmatched_frees_count, i ? 1 : 0);
		ck_assert_uint_eq(row.sums.live_count, 0);
		ck_assert_uint_eq(row.sums.cross_cpu_frees_count, i ? 1 : 0);
		/* The free that is mended names the cache of its own object. */
		ck_assert_uint_eq(cache_row(a->analysis, "filp").sums.tracked_count, i ? 1 : 2);
		analysed_free(a);
	}
}
END_TEST

/* ---- losses ---- */

START_TEST(losses_with_and_without_a_number)
{
	static const struct {
		int64_t marks[2]; /* of CPU 0: before its first event, in the middle; -2: none */
		uint64_t overrun;
		enum km_completeness completeness;
		uint64_t lost;
		enum km_lost_is is;
	} cases[] = {
		{ { -2, -2 }, 0, KM_COMPLETE, 0, KM_LOST_EXACT },  { { -2, 77 }, 77, KM_HOLES, 77, KM_LOST_EXACT },
		{ { 5, -2 }, 5, KM_START_LOST, 5, KM_LOST_EXACT }, { { 5, 77 }, 82, KM_HOLES, 82, KM_LOST_EXACT },
		{ { -2, -1 }, 500, KM_HOLES, 500, KM_LOST_EXACT }, /* the recorder's own statistics tell */
		{ { -2, 77 }, 100, KM_HOLES, 100, KM_LOST_EXACT }, /* and 23 behind the last mark */
		{ { -2, -2 }, 9, KM_TAIL_LOST, 9, KM_LOST_EXACT },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tw *tw = tw_new(&(struct tw_options){ .cpus = 1, .clock = "mono" });
		struct analysed *a;

		if (cases[i].marks[0] != -2)
			tw_lost(tw, TW_TOP, 0, cases[i].marks[0]);
		tw_kmalloc(tw, TW_TOP, 0, 1000, 1, 0xffffffff81001010, A, 100, 128, 0, -1);
		if (cases[i].marks[1] != -2)
			tw_lost(tw, TW_TOP, 0, cases[i].marks[1]);
		tw_kmalloc(tw, TW_TOP, 0, 2000, 1, 0xffffffff81001010, A + 4096, 100, 128, 0, -1);
		tw_cpustat(tw, TW_TOP, 0, cases[i].overrun, 0, 0);
		a = analysed_run(tw, NULL, NULL);
		ck_assert_msg(a->analysis->health.completeness == cases[i].completeness, "case %zu: %s", i,
			      km_completeness_name(a->analysis->health.completeness));
		ck_assert_uint_eq(a->analysis->health.lost_events_count, cases[i].lost);
		ck_assert_msg(a->analysis->health.lost_is == cases[i].is, "case %zu: %s", i,
			      km_lost_is_name(a->analysis->health.lost_is));
		ck_assert_uint_eq(total_of(a->analysis).sums.live_bytes, 256);
		analysed_free(a);
	}
	/* Without statistics a mark that tells no number leaves "at least". */
	for (int64_t count = -1; count <= 7; count += 8) {
		struct tw *tw = tw_new(&(struct tw_options){ .cpus = 1, .clock = "mono" });
		struct analysed *a;

		tw_kmalloc(tw, TW_TOP, 0, 1000, 1, 0xffffffff81001010, A, 100, 128, 0, -1);
		tw_lost(tw, TW_TOP, 0, count);
		tw_kfree(tw, TW_TOP, 0, 2000, 1, 0xffffffff81001010, A);
		a = analysed_run(tw, NULL, NULL);
		ck_assert_int_eq(a->analysis->health.completeness, KM_HOLES);
		ck_assert_uint_eq(a->analysis->health.lost_events_count, count < 0 ? 0 : 7);
		ck_assert_int_eq(a->analysis->health.lost_is, KM_LOST_AT_LEAST);
		analysed_free(a);
	}
}
END_TEST

/* ---- symbols ---- */

/* One good symbol in all that a file can hold; the last line has no end. */
static char *junk_symbols(size_t *ret_bytes)
{
	enum { LONG = 3 << 20 };
	char *text = NULL, *blank = malloc(LONG);
	FILE *out = open_memstream(&text, ret_bytes);

	ck_assert(blank && out);
	memset(blank, 'x', LONG);
	fwrite("ffffffff81001000 t ", 1, 19, out); /* a name without an end, of no kernel */
	fwrite(blank, 1, LONG, out);
	fputs("\nffffffff81002000 t alloc_it\nffffffff81002000 t alias_of_it\n", out);
	for (unsigned i = 0; i < 1000; i++)
		fprintf(out, "ffffffff%08x t down_%u\n", 0x82000000 - i * 16, i);
	fputs("ffffffffffffffff T the_last\n0000000000000000 T zero\nffffffffffffffffff T too_long\n", out);
	fputs("-1 T negative\n0x10 T prefixed\n\x7f\x80\xff\x01\xfe\n\t\t\t\n[]\n", out);
	fwrite(blank, 1, LONG, out);
	fputs("\nffffffff81003000 t free_it", out);
	free(blank);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

START_TEST(symbols_full_of_junk)
{
	static const struct {
		uint64_t site;
		const char *symbol;
	} cases[] = {
		{ 0xffffffff81001800, "0xffffffff81001800" }, /* no name is that long */
		{ 0xffffffff81002010, "alloc_it+0x10" },      { 0xffffffff81003020, "free_it+0x20" },
		{ 0xffffffff82000008, "down_0+0x8" },         { 0xffffffff81ffff02, "down_16+0x2" },
		{ 0xffffffffffffffff, "the_last+0x0" },
	};
	size_t bytes;
	char *text = junk_symbols(&bytes), *path = km_fixture_write_temporary(text, bytes);

	for (unsigned form = 0; form < 3; form++) { /* in version 6, in 7, and in a file of its own */
		const struct km_analysis_options options = { .kallsyms = form == 2 ? path : NULL };
		struct tw *tw = tw_new(
			&(struct tw_options){ .version = form ? 7 : 6,
					      .compression = form == 1 ? TW_COMPRESSION_ZSTD : TW_COMPRESSION_NONE,
					      .clock = "mono",
					      .kallsyms = form == 2 ? NULL : text });
		struct analysed *a;

		for (size_t i = 0; i < COUNT(cases); i++)
			tw_kmalloc(tw, TW_TOP, 0, 1000 + i, 1, cases[i].site, A + 4096 * i, 100, 128, 0, -1);
		a = analysed_run(tw, &options, NULL);
		for (size_t i = 0; i < COUNT(cases); i++)
			ck_assert_str_eq(km_naming_site(a->analysis->naming, cases[i].site).symbol, cases[i].symbol);
		ck_assert_uint_eq(total_of(a->analysis).sums.live_count, COUNT(cases));
		analysed_free(a);
	}
	unlink(path);
	free(path);
	free(text);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		old_kernels_of_every_word_and_byte_order, clocks_that_disagree, frees_traced_after_the_fact,
		losses_with_and_without_a_number,         symbols_full_of_junk, NULL,
	};

	return km_test_main("synthetic", tests, 60);
}
