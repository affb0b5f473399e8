/* SPDX-License-Identifier: GPL-2.0-only */
#include "rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysed.h"
#include "testing.h"

#define SITE(i)     (tw_function(8, (i)) + 0x10) /* "kernel_fn_NN+0x10" */
#define MODULE_SITE (tw_function(8, TW_FUNCTIONS_KERNEL) + 0x10)
#define A           UINT64_C(0xffff888000001000)

/*
 * What is live at the end, at 10 us:
 *
 *   site  live count  live bytes  allocs
 *   0     1           4096        1
 *   1     3           96          5, one failed, one freed on another CPU
 *   2     0           0           2, both freed
 *   mod   2           96          2
 *   3     2           96          2, of two caches
 */
static struct tw *some_trace(const char *clock)
{
	struct tw *tw = tw_new(&(struct tw_options){ .cpus = 2, .clock = clock, .cmdlines = "1 one\n2 two\n" });
	uint64_t start = 1000000;

	tw_cpustat(tw, TW_TOP, 0, 0, 0, 0);
	tw_cpustat(tw, TW_TOP, 1, 0, 0, 0);
	tw_other(tw, TW_TOP, 0, start, 1);
	tw_kmalloc(tw, TW_TOP, 0, start + 100, 1, SITE(0), A, 4000, 4096, 0, -1);
	for (unsigned i = 1; i <= 4; i++)
		tw_kmalloc(tw, TW_TOP, 0, start + 1000 * i, 1, SITE(1), A + 0x10000 + 64 * i, 30, 32, 0, -1);
	tw_kmalloc(tw, TW_TOP, 0, start + 4100, 1, SITE(1), 0, 30, 32, 0, -1);
	tw_kmalloc(tw, TW_TOP, 0, start + 4200, 1, SITE(2), A + 0x20000, 8, 8, 0, -1);
	tw_kmalloc(tw, TW_TOP, 0, start + 4300, 1, SITE(2), A + 0x20040, 8, 8, 0, -1);
	tw_kmalloc(tw, TW_TOP, 0, start + 4400, 2, MODULE_SITE, A + 0x30000, 40, 48, 0, -1);
	tw_kmalloc(tw, TW_TOP, 0, start + 4500, 2, MODULE_SITE, A + 0x30040, 40, 48, 0, -1);
	tw_cache_alloc(tw, TW_TOP, 0, start + 4600, 2, SITE(3), A + 0x40000, 48, 48, 0, -1, "filp");
	tw_cache_alloc(tw, TW_TOP, 0, start + 4700, 2, SITE(3), A + 0x40040, 48, 48, 0, -1, "dentry");
	tw_kfree(tw, TW_TOP, 1, start + 5000, 2, SITE(9), A + 0x10000 + 64);
	tw_kfree(tw, TW_TOP, 1, start + 5200, 2, SITE(9), A + 0x20000);
	tw_kfree(tw, TW_TOP, 1, start + 6300, 2, SITE(9), A + 0x20040);
	tw_other(tw, TW_TOP, 1, start + 10000, 1);
	return tw;
}

static struct analysed *analyse(const char *by, const char *clock)
{
	struct km_analysis_options options = { .max_memory_bytes = 0 };

	if (by)
		ck_assert_int_eq(km_by_parse(by, &options.by, NULL), 0);
	return analysed_run(some_trace(clock), &options, NULL);
}

static struct km_rows *make_rows(const struct analysed *a, enum km_axis axis, const char *sort, size_t limit)
{
	struct km_sort parsed = { .count = 0 };
	struct km_error error = { 0 };
	struct km_rows *rows;

	if (sort)
		ck_assert_int_eq(km_sort_parse(sort, &parsed, NULL), 0);
	ck_assert_msg(!km_rows_new(a->analysis, axis, &parsed, limit, &rows, &error), "%s", error.text);
	return rows;
}

/* The next row. */
static bool next(struct km_rows *rows, struct km_cell *cells)
{
	int r = km_rows_next(rows, cells, NULL);

	ck_assert_int_ge(r, 0);
	return r;
}

static const struct km_cell *cell(const struct km_rows *rows, const struct km_cell *cells, const char *name)
{
	size_t count;
	const struct km_column *columns = km_rows_columns(rows, &count);

	return &cells[analysed_column(columns, count, name)];
}

/* The texts of a column, row by row, with blanks between. */
static void expect_order(const struct analysed *a, enum km_axis axis, const char *sort, const char *column,
			 const char *wanted)
{
	struct km_rows *rows = make_rows(a, axis, sort, 0);
	struct km_cell cells[96];
	char got[512] = "";
	size_t n = 0;

	while (next(rows, cells))
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%s", n ? " " : "", cell(rows, cells, column)->text);
	ck_assert_msg(!strcmp(got, wanted), "--sort %s: \"%s\", not \"%s\"", sort ? sort : "", got, wanted);
	km_rows_free(rows);
}

/* --- columns --- */

START_TEST(axes_have_their_own_columns)
{
	static const struct {
		const char *name;
		bool axes[3]; /* site, cache, group */
	} cases[] = {
		{ "symbol", { true, false, false } },       { "function", { true, false, false } },
		{ "module", { true, false, false } },       { "address", { true, false, false } },
		{ "caches", { true, false, false } },       { "name", { false, true, false } },
		{ "object_bytes", { false, true, false } }, { "sites_count", { false, true, true } },
		{ "peak_is", { true, true, true } },        { "live_bytes", { true, true, true } },
		{ "live_is", { true, true, true } },        { "lifetime_ns.histogram", { true, true, true } },
		{ "key.function", { false, false, true } }, { "key.size_bytes", { false, false, true } },
	};
	struct analysed *a = analyse("function,size", NULL);

	for (unsigned axis = 0; axis < 3; axis++) {
		struct km_rows *rows = make_rows(a, axis, NULL, 0);
		size_t count;
		const struct km_column *columns = km_rows_columns(rows, &count);

		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			ck_assert_msg(analysed_has_column(columns, count, cases[i].name) == cases[i].axes[axis],
				      "%s of axis %u", cases[i].name, axis);
		for (size_t i = 0; i < count; i++) {
			ck_assert_ptr_nonnull(columns[i].help);
			ck_assert_ptr_nonnull(columns[i].title);
			ck_assert(!strstr(columns[i].name, "_ticks"));
			for (size_t k = 0; k < i; k++)
				ck_assert_str_ne(columns[i].name, columns[k].name);
		}
		km_rows_free(rows);
	}
	analysed_free(a);
}
END_TEST

START_TEST(columns_can_be_described_without_an_analysis)
{
	struct analysed *a = analyse(NULL, NULL);

	for (unsigned axis = 0; axis < 2; axis++) {
		struct km_rows *rows = make_rows(a, axis, NULL, 0);
		struct km_column described[64];
		size_t count, n = km_rows_describe(axis, described, 64);
		const struct km_column *columns = km_rows_columns(rows, &count);

		ck_assert_uint_eq(n, count);
		for (size_t i = 0; i < n; i++)
			ck_assert_str_eq(described[i].name, columns[i].name);
		ck_assert_uint_eq(km_rows_describe(axis, described, 3), 3);
		km_rows_free(rows);
	}
	analysed_free(a);
}
END_TEST

/* --- values --- */

START_TEST(a_site_has_its_values)
{
	static const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{ "live_bytes", 96 },
		{ "live_count", 3 },
		{ "live_requested_bytes", 90 },
		{ "live_waste_bytes", 6 },
		{ "allocs_count", 5 },
		{ "tracked_count", 4 },
		{ "failed_count", 1 },
		{ "doubled_count", 0 },
		{ "overflowed_count", 0 },
		{ "matched_frees_count", 1 },
		{ "implied_frees_count", 0 },
		{ "cross_cpu_frees_count", 1 },
		{ "total_allocated_bytes", 128 },
		{ "total_requested_bytes", 120 },
		{ "total_waste_bytes", 8 },
		{ "peak_live_bytes", 128 },
		{ "peak_live_count", 4 },
		{ "peak_time_ns", 4000 },
		{ "at_peak_bytes", 128 },
		{ "at_peak_count", 4 },
		{ "oldest_age_ns", 8000 },
		{ "newest_age_ns", 6000 },
		{ "lifetime_ns.count", 1 },
		{ "lifetime_ns.min", 4000 },
		{ "lifetime_ns.max", 4000 },
		{ "lifetime_ns.p50", 4000 },
		{ "lifetime_ns.p99", 4000 },
	};
	struct analysed *a = analyse(NULL, NULL);
	struct km_rows *rows = make_rows(a, KM_AXIS_SITE, "-allocs_count", 1);
	struct km_cell cells[96];
	const struct km_cell *caches;

	ck_assert(next(rows, cells));
	ck_assert_str_eq(cell(rows, cells, "symbol")->text, "kernel_fn_01+0x10");
	ck_assert_str_eq(cell(rows, cells, "function")->text, "kernel_fn_01");
	ck_assert_uint_eq(cell(rows, cells, "address")->number, SITE(1));
	ck_assert_str_eq(cell(rows, cells, "live_is")->text, "consistent");
	ck_assert_str_eq(cell(rows, cells, "live_mark")->text, "");
	ck_assert_uint_eq(cell(rows, cells, "lifetime_ns.histogram")->histogram->count, 1);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		ck_assert_msg(cell(rows, cells, numbers[i].name)->number == numbers[i].value, "%s is %llu",
			      numbers[i].name, (unsigned long long)cell(rows, cells, numbers[i].name)->number);
		ck_assert(!cell(rows, cells, numbers[i].name)->is_null);
	}
	caches = cell(rows, cells, "caches");
	ck_assert_uint_eq(caches->list.count, 1);
	ck_assert_str_eq(caches->list.items[0], "kmalloc-32");
	ck_assert(!next(rows, cells));
	km_rows_free(rows);
	analysed_free(a);
}
END_TEST

START_TEST(what_there_is_not_is_null)
{
	struct analysed *a = analyse(NULL, NULL);
	struct km_rows *rows = make_rows(a, KM_AXIS_SITE, "symbol", 0);
	struct km_cell cells[96];

	while (next(rows, cells)) {
		bool is_module = !strcmp(cell(rows, cells, "function")->text, "mod_fn_48");
		bool is_freed = !strcmp(cell(rows, cells, "function")->text, "kernel_fn_02");
		bool has_lives = cell(rows, cells, "matched_frees_count")->number > 0;

		ck_assert(cell(rows, cells, "module")->is_null == !is_module);
		ck_assert(cell(rows, cells, "oldest_age_ns")->is_null == is_freed);
		ck_assert(cell(rows, cells, "newest_age_ns")->is_null == is_freed);
		ck_assert(cell(rows, cells, "lifetime_ns.min")->is_null == !has_lives);
		ck_assert(cell(rows, cells, "lifetime_ns.max")->is_null == !has_lives);
		ck_assert(cell(rows, cells, "lifetime_ns.p50")->is_null == !has_lives);
		ck_assert(cell(rows, cells, "lifetime_ns.p99")->is_null == !has_lives);
		ck_assert(!cell(rows, cells, "lifetime_ns.count")->is_null);
	}
	km_rows_free(rows);
	analysed_free(a);
}
END_TEST

START_TEST(a_site_that_only_failed_has_no_peak)
{
	struct tw *tw = tw_new(&(struct tw_options){ .cpus = 1 });
	struct analysed *a;
	struct km_rows *rows;
	struct km_cell cells[96];

	tw_kmalloc(tw, TW_TOP, 0, 1000, 1, SITE(0), 0, 8, 8, 0, -1);
	a = analysed_run(tw, NULL, NULL);
	rows = make_rows(a, KM_AXIS_SITE, NULL, 0);
	ck_assert(next(rows, cells));
	ck_assert(cell(rows, cells, "peak_time_ns")->is_null);
	ck_assert_uint_eq(cell(rows, cells, "peak_live_bytes")->number, 0);
	km_rows_free(rows);
	analysed_free(a);
}
END_TEST

START_TEST(a_cache_of_more_than_one_size_has_none)
{
	struct tw *tw = tw_new(&(struct tw_options){ .cpus = 1 });
	struct analysed *a;
	struct km_rows *rows;
	struct km_cell cells[96];

	tw_kmalloc(tw, TW_TOP, 0, 1000, 1, SITE(0), A, 1 << 20, 1 << 20, 0, -1);
	tw_kmalloc(tw, TW_TOP, 0, 2000, 1, SITE(0), A + (1 << 22), 1 << 21, 1 << 21, 0, -1);
	tw_cache_alloc(tw, TW_TOP, 0, 3000, 2, SITE(3), A + 64, 40, 48, 0, -1, "filp");
	a = analysed_run(tw, NULL, NULL);
	rows = make_rows(a, KM_AXIS_CACHE, "name", 0);
	ck_assert(next(rows, cells));
	ck_assert_str_eq(cell(rows, cells, "name")->text, "filp");
	ck_assert_uint_eq(cell(rows, cells, "object_bytes")->number, 48);
	ck_assert_uint_eq(cell(rows, cells, "sites_count")->number, 1);
	ck_assert_str_eq(cell(rows, cells, "peak_is")->text, "exact");
	ck_assert(next(rows, cells));
	ck_assert_str_eq(cell(rows, cells, "name")->text, "kmalloc-large");
	ck_assert(cell(rows, cells, "object_bytes")->is_null);
	km_rows_free(rows);
	analysed_free(a);
}
END_TEST

START_TEST(a_group_has_its_keys_first)
{
	struct analysed *a = analyse("comm,module", NULL);
	struct km_rows *rows = make_rows(a, KM_AXIS_GROUP, "comm,module", 0);
	struct km_cell cells[96];
	size_t count;
	const struct km_column *columns = km_rows_columns(rows, &count);

	ck_assert_str_eq(columns[0].name, "key.comm");
	ck_assert_str_eq(columns[1].name, "key.module");
	ck_assert_uint_eq(km_rows_total(rows), 3);
	ck_assert(next(rows, cells));
	ck_assert_str_eq(cells[0].text, "one");
	ck_assert_uint_eq(cell(rows, cells, "allocs_count")->number, 8);
	ck_assert_uint_eq(cell(rows, cells, "sites_count")->number, 3);
	ck_assert(next(rows, cells));
	ck_assert_str_eq(cells[0].text, "two");
	ck_assert(next(rows, cells));
	ck_assert_str_eq(cells[0].text, "two");
	ck_assert(!next(rows, cells));
	km_rows_free(rows);
	analysed_free(a);
}
END_TEST

/* --- ticks --- */

START_TEST(a_clock_of_ticks_has_keys_of_its_own)
{
	static const char *const times[] = { "peak_time",    "oldest_age",   "newest_age",  "lifetime.min",
					     "lifetime.max", "lifetime.p50", "lifetime.p99" };
	struct analysed *a = analyse(NULL, "counter");
	struct km_rows *rows = make_rows(a, KM_AXIS_SITE, "-allocs_count", 1);
	struct km_cell cells[96];
	size_t count;
	const struct km_column *columns = km_rows_columns(rows, &count);

	ck_assert(next(rows, cells));
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		const char *dot = strchr(times[i], '.');
		int bytes = (int)(dot ? dot - times[i] : (ptrdiff_t)strlen(times[i]));
		char ns[32], ticks[32];

		snprintf(ns, sizeof(ns), "%.*s_ns%s", bytes, times[i], dot ? dot : "");
		snprintf(ticks, sizeof(ticks), "%.*s_ticks%s", bytes, times[i], dot ? dot : "");
		ck_assert_msg(cell(rows, cells, ns)->is_null, "%s", ns);
		ck_assert_msg(!cell(rows, cells, ticks)->is_null, "%s", ticks);
		ck_assert_int_eq(columns[analysed_column(columns, count, ticks)].type, KM_TYPE_TICKS);
		ck_assert_uint_eq(columns[analysed_column(columns, count, ns)].flags & KM_COLUMN_MACHINE,
				  KM_COLUMN_MACHINE);
	}
	ck_assert_uint_eq(cell(rows, cells, "oldest_age_ticks")->number, 8000);
	ck_assert_uint_eq(cell(rows, cells, "lifetime_ticks.count")->number, 1);
	ck_assert(cell(rows, cells, "lifetime_ns.count")->is_null);
	ck_assert(cell(rows, cells, "lifetime_ns.histogram")->is_null);
	ck_assert_uint_eq(cell(rows, cells, "lifetime_ticks.histogram")->histogram->count, 1);
	km_rows_free(rows);
	expect_order(a, KM_AXIS_SITE, "oldest_age_ticks", "function",
		     "kernel_fn_00 kernel_fn_01 mod_fn_48 kernel_fn_03 kernel_fn_02");
	analysed_free(a);
}
END_TEST

/* --- order --- */

START_TEST(rows_are_sorted)
{
	struct analysed *a = analyse(NULL, NULL);

	/* Ties: live bytes, live count, allocs, symbol. */
	expect_order(a, KM_AXIS_SITE, NULL, "function",
		     "kernel_fn_00 kernel_fn_01 kernel_fn_03 mod_fn_48 kernel_fn_02");
	/* Numbers fall and names rise, unless a sign says otherwise. */
	expect_order(a, KM_AXIS_SITE, "allocs_count", "function",
		     "kernel_fn_01 kernel_fn_03 mod_fn_48 kernel_fn_02 kernel_fn_00");
	expect_order(a, KM_AXIS_SITE, "-allocs_count", "function",
		     "kernel_fn_01 kernel_fn_03 mod_fn_48 kernel_fn_02 kernel_fn_00");
	expect_order(a, KM_AXIS_SITE, "+allocs_count", "function",
		     "kernel_fn_00 kernel_fn_03 mod_fn_48 kernel_fn_02 kernel_fn_01");
	expect_order(a, KM_AXIS_SITE, "symbol", "function",
		     "kernel_fn_00 kernel_fn_01 kernel_fn_02 kernel_fn_03 mod_fn_48");
	expect_order(a, KM_AXIS_SITE, "-symbol", "function",
		     "mod_fn_48 kernel_fn_03 kernel_fn_02 kernel_fn_01 kernel_fn_00");
	expect_order(a, KM_AXIS_SITE, "address", "function",
		     "kernel_fn_00 kernel_fn_01 kernel_fn_02 kernel_fn_03 mod_fn_48");
	expect_order(a, KM_AXIS_SITE, "matched_frees_count,-symbol", "function",
		     "kernel_fn_02 kernel_fn_01 mod_fn_48 kernel_fn_03 kernel_fn_00");
	/* Lists by their first item: dentry, kmalloc-32, -48 ..., -4k, -8. */
	expect_order(a, KM_AXIS_SITE, "caches", "function",
		     "kernel_fn_03 kernel_fn_01 kernel_fn_00 mod_fn_48 kernel_fn_02");
	expect_order(a, KM_AXIS_CACHE, "name", "name", "dentry filp kmalloc-32 kmalloc-4k kmalloc-64 kmalloc-8");
	analysed_free(a);
}
END_TEST

/* Null is less than any number. */
START_TEST(nulls_come_last_of_falling_numbers)
{
	struct analysed *a = analyse(NULL, NULL);

	expect_order(a, KM_AXIS_SITE, "lifetime_ns.max", "function",
		     "kernel_fn_01 kernel_fn_02 kernel_fn_00 kernel_fn_03 mod_fn_48");
	expect_order(a, KM_AXIS_SITE, "+lifetime_ns.max", "function",
		     "kernel_fn_00 kernel_fn_03 mod_fn_48 kernel_fn_02 kernel_fn_01");
	expect_order(a, KM_AXIS_SITE, "+module", "function",
		     "kernel_fn_00 kernel_fn_01 kernel_fn_03 kernel_fn_02 mod_fn_48");
	analysed_free(a);
}
END_TEST

START_TEST(a_groups_key_may_be_called_by_its_short_name)
{
	struct analysed *a = analyse("function", NULL);

	expect_order(a, KM_AXIS_GROUP, "-function", "key.function",
		     "mod_fn_48 kernel_fn_03 kernel_fn_02 kernel_fn_01 kernel_fn_00");
	expect_order(a, KM_AXIS_GROUP, "-key.function", "key.function",
		     "mod_fn_48 kernel_fn_03 kernel_fn_02 kernel_fn_01 kernel_fn_00");
	expect_order(a, KM_AXIS_GROUP, NULL, "key.function",
		     "kernel_fn_00 kernel_fn_01 kernel_fn_03 mod_fn_48 kernel_fn_02");
	analysed_free(a);
}
END_TEST

START_TEST(a_limit_cuts_behind_the_best)
{
	struct analysed *a = analyse(NULL, NULL);
	static const struct {
		size_t limit, shown;
	} cases[] = { { 0, 5 }, { 1, 1 }, { 4, 4 }, { 5, 5 }, { 6, 5 }, { SIZE_MAX, 5 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct km_rows *rows = make_rows(a, KM_AXIS_SITE, NULL, cases[i].limit);
		struct km_cell cells[96];
		size_t count = 0;

		ck_assert_uint_eq(km_rows_total(rows), 5);
		ck_assert_uint_eq(km_rows_shown(rows), cases[i].shown);
		while (next(rows, cells)) {
			if (!count++)
				ck_assert_str_eq(cell(rows, cells, "function")->text, "kernel_fn_00");
		}
		ck_assert_uint_eq(count, cases[i].shown);
		ck_assert(!next(rows, cells));
		km_rows_free(rows);
	}
	km_rows_free(NULL);
	analysed_free(a);
}
END_TEST

START_TEST(a_trace_without_allocations_has_no_rows)
{
	struct tw *tw = tw_new(&(struct tw_options){ .cpus = 1 });
	struct analysed *a;

	tw_kfree(tw, TW_TOP, 0, 1000, 1, SITE(0), A);
	a = analysed_run(tw, NULL, NULL);
	for (unsigned axis = 0; axis < 3; axis++) {
		struct km_rows *rows = make_rows(a, axis, axis == KM_AXIS_GROUP ? "live_bytes" : NULL, 0);
		struct km_cell cells[96];

		ck_assert_uint_eq(km_rows_total(rows), 0);
		ck_assert(!next(rows, cells));
		km_rows_free(rows);
	}
	analysed_free(a);
}
END_TEST

/* --- --sort and --fields --- */

START_TEST(sort_takes_signs_and_a_list)
{
	struct km_sort sort;

	ck_assert_int_eq(km_sort_parse("live_bytes,-symbol,+allocs_count", &sort, NULL), 0);
	ck_assert_uint_eq(sort.count, 3);
	ck_assert_str_eq(sort.keys[0].name, "live_bytes");
	ck_assert_int_eq(sort.keys[0].direction, 0);
	ck_assert_str_eq(sort.keys[1].name, "symbol");
	ck_assert_int_eq(sort.keys[1].direction, -1);
	ck_assert_str_eq(sort.keys[2].name, "allocs_count");
	ck_assert_int_eq(sort.keys[2].direction, 1);
}
END_TEST

START_TEST(sort_takes_eight_keys)
{
	struct km_sort sort = { .count = 77 };
	struct km_error error = { 0 };

	ck_assert_int_eq(km_sort_parse("a,b,c,d,e,f,g,h,i", &sort, &error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error.text, "at most 8"));
	ck_assert_uint_eq(sort.count, 77);
	ck_assert_int_eq(km_sort_parse("a,b,c,d,e,f,g,h", &sort, NULL), 0);
	ck_assert_uint_eq(sort.count, 8);
}
END_TEST

START_TEST(eight_keys_of_each_axis_are_used)
{
	struct analysed *a = analyse("function", NULL);

	for (unsigned axis = 0; axis < 3; axis++) {
		struct km_rows *rows = make_rows(a, axis,
						 "failed_count,doubled_count,overflowed_count,implied_frees_count,"
						 "at_peak_count,live_waste_bytes,tracked_count,peak_live_bytes",
						 0);

		ck_assert_uint_gt(km_rows_total(rows), 4);
		km_rows_free(rows);
	}
	analysed_free(a);
}
END_TEST

START_TEST(unknown_sort_keys_are_refused)
{
	static const char *const wrong[] = {
		"",  "liv",         "live_bytes_",      "live_bytes,nope", "name", "key.function",
		"-", "live_bytes,", "oldest_age_ticks", "--live_bytes"
	};
	struct analysed *a = analyse(NULL, NULL);

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct km_error error = { 0 };
		struct km_rows *rows = NULL;
		struct km_sort sort;
		int r = km_sort_parse(wrong[i], &sort, &error);

		if (!r)
			r = km_rows_new(a->analysis, KM_AXIS_SITE, &sort, 0, &rows, &error);
		ck_assert_msg(r == -EINVAL, "\"%s\"", wrong[i]);
		ck_assert_int_eq(error.code, -EINVAL);
		ck_assert_ptr_nonnull(strstr(error.text, "--sort"));
		ck_assert_ptr_null(rows);
	}
	analysed_free(a);
}
END_TEST

static const struct km_column field_columns[] = {
	{ .name = "key.function" }, { .name = "live_bytes" }, { .name = "lifetime_ns.p50" }, { .name = "live_count" }
};

START_TEST(fields_are_indexes_in_the_order_asked)
{
	struct km_fields fields;

	ck_assert_int_eq(
		km_fields_parse("live_count,function,lifetime_ns.p50,live_count", field_columns, 4, &fields, NULL), 0);
	ck_assert_uint_eq(fields.count, 4);
	ck_assert_uint_eq(fields.indexes[0], 3);
	ck_assert_uint_eq(fields.indexes[1], 0);
	ck_assert_uint_eq(fields.indexes[2], 2);
	ck_assert_uint_eq(fields.indexes[3], 3);
	free((uint16_t *)(uintptr_t)fields.indexes);
}
END_TEST

START_TEST(unknown_fields_are_refused)
{
	static const char *const wrong[] = {
		"", "live", "live_bytes,", ",live_bytes", "live_bytes,,live_count", "live_bytesx", "p50", "-live_bytes"
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct km_fields fields = { .count = 77 };
		struct km_error error = { 0 };

		ck_assert_msg(km_fields_parse(wrong[i], field_columns, 4, &fields, &error) == -EINVAL, "\"%s\"",
			      wrong[i]);
		ck_assert_ptr_nonnull(strstr(error.text, "--fields"));
		ck_assert_uint_eq(fields.count, 77);
	}
}
END_TEST

int main(void)
{
	const TTest *tests[] = { axes_have_their_own_columns,
				 columns_can_be_described_without_an_analysis,
				 a_site_has_its_values,
				 what_there_is_not_is_null,
				 a_site_that_only_failed_has_no_peak,
				 a_cache_of_more_than_one_size_has_none,
				 a_group_has_its_keys_first,
				 a_clock_of_ticks_has_keys_of_its_own,
				 rows_are_sorted,
				 nulls_come_last_of_falling_numbers,
				 a_groups_key_may_be_called_by_its_short_name,
				 a_limit_cuts_behind_the_best,
				 a_trace_without_allocations_has_no_rows,
				 sort_takes_signs_and_a_list,
				 sort_takes_eight_keys,
				 eight_keys_of_each_axis_are_used,
				 unknown_sort_keys_are_refused,
				 fields_are_indexes_in_the_order_asked,
				 unknown_fields_are_refused,
				 NULL };

	return km_test_main("rows", tests, 10);
}
