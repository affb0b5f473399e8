/* SPDX-License-Identifier: GPL-2.0-only */
#include "objects.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysed.h"
#include "naive_model.h"
#include "testing.h"

#define SITE(i)     (tw_function(8, (i)) + 0x10)
#define MODULE_SITE (tw_function(8, TW_FUNCTIONS_KERNEL) + 0x10)
#define A           UINT64_C(0xffff888000001000)

/* Four live objects, one freed; the trace ends at 10,000 ns behind its start. */
static struct tw *some_trace(const char *clock)
{
	struct tw *tw = tw_new(&(struct tw_options){ .cpus = 2, .clock = clock, .cmdlines = "7 seven\n8 eight\n" });

	tw_cpustat(tw, TW_TOP, 0, 0, 0, 0);
	tw_cpustat(tw, TW_TOP, 1, 0, 0, 0);
	tw_kmalloc(tw, TW_TOP, 0, 1001000, 7, SITE(0), A + 0x300, 60, 64, 0, -1);
	tw_kmalloc(tw, TW_TOP, 0, 1002000, 8, MODULE_SITE, A + 0x100, 8, 8, 0, -1);
	tw_kmalloc(tw, TW_TOP, 1, 1003000, 9, SITE(1), A + 0x200, 100, 128, 0, -1);
	tw_kmalloc(tw, TW_TOP, 1, 1004000, 8, SITE(1), A + 0x500, 100, 128, 0, -1);
	tw_cache_alloc(tw, TW_TOP, 1, 1005000, 8, SITE(0), A + 0x400, 200, 208, 0, -1, "dentry");
	tw_kfree(tw, TW_TOP, 0, 1006000, 7, SITE(5), A + 0x500);
	tw_other(tw, TW_TOP, 1, 1011000, 7);
	return tw;
}

static struct km_objects *make_objects(const struct analysed *a, const char *sort, size_t limit)
{
	struct km_sort parsed = { .count = 0 };
	struct km_objects *objects;
	struct km_error error = { 0 };

	if (sort)
		ck_assert_int_eq(km_sort_parse(sort, &parsed, NULL), 0);
	ck_assert_msg(!km_objects_new(a->analysis, sort ? &parsed : NULL, limit, &objects, &error), "%s", error.text);
	return objects;
}

static const struct km_cell *cell(const struct km_objects *objects, const struct km_cell *cells, const char *name)
{
	size_t count;
	const struct km_column *columns = km_objects_columns(objects, &count);

	return &cells[analysed_column(columns, count, name)];
}

/* The last three hex digits of the pointers, in order. */
static void expect_order(const struct analysed *a, const char *sort, size_t limit, const char *wanted)
{
	struct km_objects *objects = make_objects(a, sort, limit);
	struct km_cell cells[32];
	char got[256] = "";
	size_t n = 0;

	while (km_objects_next(objects, cells, NULL) > 0)
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%03llx", n ? " " : "",
				      (unsigned long long)(cell(objects, cells, "ptr")->number & 0xfff));
	ck_assert_msg(!strcmp(got, wanted), "--sort %s, limit %zu: \"%s\", not \"%s\"", sort ? sort : "", limit, got,
		      wanted);
	km_objects_free(objects);
}

START_TEST(an_object_has_its_values)
{
	struct analysed *a = analysed_run(some_trace("mono"), NULL, NULL);
	struct km_objects *objects = make_objects(a, "cache", 0);
	struct km_cell cells[32];

	ck_assert_int_eq(km_objects_next(objects, cells, NULL), 1);
	ck_assert_uint_eq(cell(objects, cells, "ptr")->number, A + 0x400);
	ck_assert_str_eq(cell(objects, cells, "symbol")->text, "kernel_fn_00+0x10");
	ck_assert_str_eq(cell(objects, cells, "function")->text, "kernel_fn_00");
	ck_assert(cell(objects, cells, "module")->is_null);
	ck_assert_str_eq(cell(objects, cells, "cache")->text, "dentry");
	ck_assert_uint_eq(cell(objects, cells, "requested_bytes")->number, 200);
	ck_assert_uint_eq(cell(objects, cells, "allocated_bytes")->number, 208);
	ck_assert_uint_eq(cell(objects, cells, "age_ns")->number, 6000);
	ck_assert_int_eq(cell(objects, cells, "pid")->integer, 8);
	ck_assert_str_eq(cell(objects, cells, "comm")->text, "eight");
	ck_assert_int_eq(cell(objects, cells, "cpu")->integer, 1);
	ck_assert(!cell(objects, cells, "is_uncertain")->flag);
	ck_assert_int_eq(km_objects_next(objects, cells, NULL), 1);
	ck_assert_int_eq(km_objects_next(objects, cells, NULL), 1);
	ck_assert_int_eq(km_objects_next(objects, cells, NULL), 1);
	ck_assert_str_eq(cell(objects, cells, "module")->text, "leaky");
	ck_assert_int_eq(km_objects_next(objects, cells, NULL), 0);
	ck_assert_int_eq(km_objects_next(objects, cells, NULL), 0);
	km_objects_free(objects);
	km_objects_free(NULL);
	analysed_free(a);
}
END_TEST

START_TEST(the_oldest_is_first)
{
	struct analysed *a = analysed_run(some_trace("mono"), NULL, NULL);

	expect_order(a, NULL, 0, "300 100 200 400");
	expect_order(a, "age_ns", 0, "300 100 200 400");
	expect_order(a, "+age_ns", 0, "400 200 100 300");
	analysed_free(a);
}
END_TEST

START_TEST(every_column_sorts)
{
	static const struct {
		const char *sort, *order;
	} cases[] = {
		{ "ptr", "100 200 300 400" },
		{ "-ptr", "400 300 200 100" },
		{ "allocated_bytes", "400 200 300 100" },
		{ "+requested_bytes", "100 300 200 400" },
		{ "symbol", "300 400 200 100" },
		{ "-function", "100 200 300 400" },
		{ "module", "200 300 400 100" }, /* null is less than any */
		{ "-module", "100 200 300 400" },
		{ "cache", "400 200 300 100" }, /* dentry, kmalloc-128, -64, -8 */
		{ "pid", "200 100 400 300" },
		{ "+pid,-ptr", "300 400 100 200" },
		{ "comm", "200 100 400 300" }, /* <...>, eight, seven */
		{ "cpu", "200 400 100 300" },
		{ "+cpu", "100 300 200 400" },
		{ "is_uncertain", "100 200 300 400" }, /* ties by address */
		{ "age_ticks", "300 100 200 400" },
	};
	struct analysed *a = analysed_run(some_trace("mono"), NULL, NULL);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		expect_order(a, cases[i].sort, 0, cases[i].order);
		expect_order(a, cases[i].sort, 4, cases[i].order);
	}
	analysed_free(a);
}
END_TEST

START_TEST(a_limit_keeps_the_best)
{
	struct analysed *a = analysed_run(some_trace("mono"), NULL, NULL);
	struct km_objects *objects;

	expect_order(a, NULL, 1, "300");
	expect_order(a, NULL, 3, "300 100 200");
	expect_order(a, "ptr", 2, "100 200");
	expect_order(a, "-ptr", 2, "400 300");
	expect_order(a, NULL, 1000, "300 100 200 400");
	objects = make_objects(a, NULL, 3);
	ck_assert_uint_eq(km_objects_total(objects), 4);
	ck_assert_uint_eq(km_objects_shown(objects), 3);
	km_objects_free(objects);
	objects = make_objects(a, NULL, 1000);
	ck_assert_uint_eq(km_objects_total(objects), 4);
	ck_assert_uint_eq(km_objects_shown(objects), 4);
	km_objects_free(objects);
	analysed_free(a);
}
END_TEST

/* Of many objects with few ages, any limit is the beginning of the whole order. */
START_TEST(limits_small_and_large_are_one_order)
{
	static const size_t limits[] = { 1, 2, 10, 255, 256, 257, 500, 1999, 2000, 2001 };
	struct tw *tw = tw_new(&(struct tw_options){ .cpus = 1 });
	static uint64_t whole[2000];
	struct km_cell cells[32];
	struct km_objects *objects;
	struct analysed *a;
	uint64_t random = 1;

	for (uint64_t i = 0; i < 2000; i++) /* every address once: 7919 is a prime */
		tw_kmalloc(tw, TW_TOP, 0, 1000 + i / 100 * 50, 1 + (int32_t)(naive_random(&random) % 5), SITE(i % 3),
			   A + 64 * (i * 7919 % 2000), 32, 32, 0, -1);
	a = analysed_run(tw, NULL, NULL);
	for (unsigned by_pid = 0; by_pid < 2; by_pid++) {
		const char *sort = by_pid ? "pid" : NULL;

		objects = make_objects(a, sort, 0);
		ck_assert_uint_eq(km_objects_total(objects), 2000);
		for (size_t i = 0; i < 2000; i++) {
			ck_assert_int_eq(km_objects_next(objects, cells, NULL), 1);
			whole[i] = cell(objects, cells, "ptr")->number;
		}
		km_objects_free(objects);
		for (size_t l = 0; l < sizeof(limits) / sizeof(limits[0]); l++) {
			size_t shown = limits[l] < 2000 ? limits[l] : 2000;

			objects = make_objects(a, sort, limits[l]);
			ck_assert_uint_eq(km_objects_total(objects), 2000);
			ck_assert_uint_eq(km_objects_shown(objects), shown);
			for (size_t i = 0; i < shown; i++) {
				ck_assert_int_eq(km_objects_next(objects, cells, NULL), 1);
				ck_assert_uint_eq(cell(objects, cells, "ptr")->number, whole[i]);
			}
			ck_assert_int_eq(km_objects_next(objects, cells, NULL), 0);
			km_objects_free(objects);
		}
	}
	analysed_free(a);
}
END_TEST

START_TEST(ties_are_in_the_order_of_addresses)
{
	struct tw *tw = tw_new(&(struct tw_options){ .cpus = 1 });
	struct analysed *a;

	for (uint64_t i = 0; i < 5; i++)
		tw_kmalloc(tw, TW_TOP, 0, 1000, 1, SITE(0), A + 0x100 * (i * 3 % 5), 32, 32, 0, -1);
	a = analysed_run(tw, NULL, NULL);
	expect_order(a, NULL, 0, "000 100 200 300 400");
	expect_order(a, NULL, 3, "000 100 200");
	expect_order(a, "+age_ns", 0, "000 100 200 300 400");
	expect_order(a, "age_ns,-ptr", 2, "400 300");
	analysed_free(a);
}
END_TEST

START_TEST(only_the_selection_is_there)
{
	struct km_filter filter = { .min_size_bytes = 100 };
	struct analysed *a = analysed_try(some_trace("mono"), NULL, NULL, &filter);

	expect_order(a, NULL, 0, "200 400");
	expect_order(a, NULL, 1, "200");
	analysed_free(a);

	memset(&filter, 0, sizeof(filter));
	ck_assert_int_eq(km_patterns_parse(&filter.site, "kernel_fn_00*", NULL), 0);
	a = analysed_try(some_trace("mono"), NULL, NULL, &filter);
	expect_order(a, NULL, 0, "300 400");
	analysed_free(a);

	memset(&filter, 0, sizeof(filter));
	filter.min_size_bytes = 100000;
	a = analysed_try(some_trace("mono"), NULL, NULL, &filter);
	expect_order(a, NULL, 0, "");
	expect_order(a, NULL, 5, "");
	analysed_free(a);
}
END_TEST

/* --time's end is where they are looked at: what is freed later is still there. */
START_TEST(they_are_those_of_the_end_of_the_time)
{
	const struct km_analysis_options options = { .stops_at_until = true };
	struct analysed *a = analysed_run(some_trace("mono"), &options, ",0.001005500");
	struct km_objects *objects;
	struct km_cell cells[32];

	expect_order(a, NULL, 0, "300 100 200 500 400");
	objects = make_objects(a, NULL, 1);
	ck_assert_int_eq(km_objects_next(objects, cells, NULL), 1);
	ck_assert_uint_eq(cell(objects, cells, "age_ns")->number, 4500);
	km_objects_free(objects);
	analysed_free(a);
}
END_TEST

/* --- columns --- */

START_TEST(ticks_have_a_column_of_their_own)
{
	struct analysed *a = analysed_run(some_trace("counter"), NULL, NULL);
	struct km_objects *objects = make_objects(a, "age_ticks", 0);
	struct km_cell cells[32];
	size_t count;
	const struct km_column *columns = km_objects_columns(objects, &count);

	ck_assert_int_eq(km_objects_next(objects, cells, NULL), 1);
	ck_assert(cell(objects, cells, "age_ns")->is_null);
	ck_assert_uint_eq(cell(objects, cells, "age_ticks")->number, 10000);
	ck_assert_int_eq(columns[analysed_column(columns, count, "age_ticks")].type, KM_TYPE_TICKS);
	km_objects_free(objects);
	analysed_free(a);

	a = analysed_run(some_trace("mono"), NULL, NULL);
	objects = make_objects(a, NULL, 0);
	columns = km_objects_columns(objects, &count);
	ck_assert(!analysed_has_column(columns, count, "age_ticks"));
	km_objects_free(objects);
	analysed_free(a);
}
END_TEST

START_TEST(columns_can_be_described_without_an_analysis)
{
	struct analysed *a = analysed_run(some_trace("mono"), NULL, NULL);
	struct km_objects *objects = make_objects(a, NULL, 0);
	struct km_column described[32];
	size_t count, n = km_objects_describe(described, 32);
	const struct km_column *columns = km_objects_columns(objects, &count);

	ck_assert_uint_eq(n, count);
	for (size_t i = 0; i < n; i++) {
		ck_assert_str_eq(described[i].name, columns[i].name);
		ck_assert_ptr_nonnull(described[i].help);
	}
	ck_assert_uint_eq(km_objects_describe(described, 2), 2);
	km_objects_free(objects);
	analysed_free(a);
}
END_TEST

START_TEST(unknown_sort_keys_are_refused)
{
	static const char *const wrong[] = { "", "nope", "ptr,nope", "live_bytes", "age" };
	struct analysed *a = analysed_run(some_trace("mono"), NULL, NULL);

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct km_objects *objects = NULL;
		struct km_error error = { 0 };
		struct km_sort sort;

		ck_assert_int_eq(km_sort_parse(wrong[i], &sort, NULL), 0);
		ck_assert_int_eq(km_objects_new(a->analysis, &sort, 0, &objects, &error), -EINVAL);
		ck_assert_ptr_nonnull(strstr(error.text, "--sort"));
		ck_assert_ptr_null(objects);
	}
	expect_order(a, "is_uncertain,cpu,pid,comm,cache,module,function,symbol", 0, "200 400 100 300");
	analysed_free(a);
}
END_TEST

/* --- uncertain --- */

static struct tw *trace_with_a_hole(bool has_tail)
{
	struct tw *tw = tw_new(&(struct tw_options){ .cpus = 1, .clock = "mono" });

	tw_kmalloc(tw, TW_TOP, 0, 1000, 1, SITE(0), A + 0x100, 32, 32, 0, -1);
	tw_lost(tw, TW_TOP, 0, 10);
	tw_kmalloc(tw, TW_TOP, 0, 3000, 1, SITE(0), A + 0x200, 32, 32, 0, -1);
	tw_new_page(tw, TW_TOP, 0);
	tw_cpustat(tw, TW_TOP, 0, has_tail ? 20 : 10, 0, 0);
	return tw;
}

static void expect_uncertain(struct analysed *a, bool before, bool behind)
{
	struct km_objects *objects = make_objects(a, "ptr", 0);
	struct km_cell cells[32];

	ck_assert_int_eq(km_objects_next(objects, cells, NULL), 1);
	ck_assert(cell(objects, cells, "is_uncertain")->flag == before);
	ck_assert_int_eq(km_objects_next(objects, cells, NULL), 1);
	ck_assert(cell(objects, cells, "is_uncertain")->flag == behind);
	km_objects_free(objects);
	analysed_free(a);
}

START_TEST(what_lived_through_a_loss_is_uncertain)
{
	const struct km_analysis_options keep = { .on_loss = KM_ON_LOSS_KEEP };

	expect_uncertain(analysed_run(trace_with_a_hole(false), NULL, NULL), true, false);
	expect_uncertain(analysed_run(trace_with_a_hole(true), NULL, NULL), true, true);
	expect_uncertain(analysed_run(trace_with_a_hole(false), &keep, NULL), false, false);
	expect_uncertain(analysed_run(trace_with_a_hole(true), &keep, NULL), false, false);
}
END_TEST

START_TEST(what_a_reset_forgot_is_not_there)
{
	const struct km_analysis_options reset = { .on_loss = KM_ON_LOSS_RESET };
	struct analysed *a = analysed_run(trace_with_a_hole(false), &reset, NULL);

	expect_order(a, NULL, 0, "200");
	analysed_free(a);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { an_object_has_its_values,
				 the_oldest_is_first,
				 every_column_sorts,
				 a_limit_keeps_the_best,
				 limits_small_and_large_are_one_order,
				 ties_are_in_the_order_of_addresses,
				 only_the_selection_is_there,
				 they_are_those_of_the_end_of_the_time,
				 ticks_have_a_column_of_their_own,
				 columns_can_be_described_without_an_analysis,
				 unknown_sort_keys_are_refused,
				 what_lived_through_a_loss_is_uncertain,
				 what_a_reset_forgot_is_not_there,
				 NULL };

	return km_test_main("objects", tests, 10);
}
