/* SPDX-License-Identifier: GPL-2.0-only */
#include "balance.h"

#include <stdlib.h>
#include <string.h>

#include "analysed.h"
#include "testing.h"

#define SITE(i) (tw_function(8, i) + 0x1f)
#define OBJ(i)  (UINT64_C(0xffff888000000000) + (uint64_t)(i)*0x4000)

static char name_of_cache[] = "pid";
static struct km_slabinfo_cache cache = { .name = name_of_cache, .object_bytes = 128, .slab_objects_count = 32 };
static struct km_slabinfo info = { .caches = &cache, .count = 1 };

static const struct km_analysis_options no_options = { .has_detail = false };

static struct analysed *run(struct tw *tw, struct km_analysis_options options, const char *time)
{
	options.slabinfo_before = &info;
	return analysed_run(tw, &options, time);
}

static struct km_balance_row row_of(const struct analysed *a, const char *name)
{
	size_t count;
	const struct km_balance_row *rows = km_balance_rows(a->analysis->balance, &count);

	for (size_t i = 0; i < count; i++) {
		ck_assert(!i || strcmp(rows[i - 1].name, rows[i].name) < 0);
		if (!strcmp(rows[i].name, name))
			return rows[i];
	}
	return (struct km_balance_row){ .name = name };
}

static void expect(const struct analysed *a, const char *name, uint64_t allocs, uint64_t matched, uint64_t unmatched,
		   uint64_t implied)
{
	struct km_balance_row row = row_of(a, name);

	ck_assert_msg(row.allocs_count == allocs && row.matched_frees_count == matched &&
			      row.unmatched_frees_count == unmatched && row.implied_frees_count == implied,
		      "%s: %lu %lu %lu %lu", name, row.allocs_count, row.matched_frees_count, row.unmatched_frees_count,
		      row.implied_frees_count);
	ck_assert_int_eq(km_balance_change(&row),
			 (int64_t)allocs - (int64_t)matched - (int64_t)unmatched - (int64_t)implied);
}

static void alloc(struct tw *tw, uint64_t time, unsigned object, const char *name)
{
	tw_cache_alloc(tw, TW_TOP, 0, time, 1, SITE(0), OBJ(object), 120, 128, 0, -1, name);
}

static void release(struct tw *tw, uint64_t time, unsigned object, const char *name)
{
	tw_cache_free(tw, TW_TOP, 0, time, 1, SITE(1), OBJ(object), name);
}

static void get(struct tw *tw, uint64_t time, unsigned object, uint64_t asked, uint64_t given)
{
	tw_kmalloc(tw, TW_TOP, 0, time, 1, SITE(2), object ? OBJ(object) : 0, asked, given, 0, -1);
}

static void put(struct tw *tw, uint64_t time, uint64_t ptr)
{
	tw_kfree(tw, TW_TOP, 0, time, 1, SITE(3), ptr);
}

/* Each kind of event. */
START_TEST(whole_trace)
{
	struct tw *tw = tw_new(&(struct tw_options){ .clock = "mono" });
	struct analysed *a;

	alloc(tw, 1000, 1, "pid");
	alloc(tw, 1001, 2, "pid");
	alloc(tw, 1002, 3, "cred");
	release(tw, 1003, 1, "pid");
	alloc(tw, 1004, 2, "cred"); /* a pid was freed without an event */
	release(tw, 1005, 9, "pid");
	release(tw, 1006, 8, "filp");
	put(tw, 1007, OBJ(3)); /* kfree of a cache's object */
	put(tw, 1008, OBJ(7)); /* from before the trace: of no cache that is known */
	put(tw, 1009, 0);
	put(tw, 1010, 0x10);
	get(tw, 1011, 0, 100, 128);
	get(tw, 1012, 20, 100, 128);
	get(tw, 1013, 21, 20000, 20480); /* told twice */
	get(tw, 1014, 21, 20000, 20480);
	a = run(tw, no_options, NULL);
	expect(a, "pid", 2, 1, 1, 1);
	expect(a, "cred", 2, 1, 0, 0);
	expect(a, "filp", 0, 0, 1, 0);
	expect(a, "kmalloc-128", 1, 0, 0, 0);
	expect(a, "kmalloc-large", 1, 0, 0, 0);
	ck_assert(row_of(a, "kmalloc-128").is_kmalloc);
	ck_assert(!row_of(a, "pid").is_kmalloc);
	ck_assert_uint_eq(row_of(a, "pid").object_bytes, 128);
	ck_assert_uint_eq(km_balance_unknown_frees_count(a->analysis->balance), 1);
	ck_assert_uint_eq(km_balance_holes_count(a->analysis->balance), 0);
	analysed_free(a);
}
END_TEST

static struct tw *window_trace(void)
{
	struct tw *tw = tw_new(&(struct tw_options){ .clock = "mono" });

	alloc(tw, 1000, 1, "pid");
	alloc(tw, 1001, 2, "pid");
	release(tw, 1002, 30, "pid");
	tw_print(tw, TW_TOP, 0, 2000, 1, "SNAP before\n");
	release(tw, 2001, 1, "pid"); /* made before the window */
	alloc(tw, 2002, 3, "pid");
	alloc(tw, 2003, 4, "pid");
	alloc(tw, 2004, 2, "pid"); /* the old one is gone */
	release(tw, 2005, 31, "pid");
	put(tw, 2006, OBJ(32));
	tw_print(tw, TW_TOP, 0, 3000, 1, "SNAP after\n");
	release(tw, 3001, 3, "pid"); /* behind it */
	alloc(tw, 3002, 5, "pid");
	alloc(tw, 3003, 4, "pid");
	put(tw, 3004, OBJ(33));
	return tw;
}

/* What happens within the window counts, whenever the object was made and whatever is selected. */
START_TEST(window)
{
	static const char *const windows[] = { "@SNAP before,@SNAP after", "0.000002,0.000003", "+0.000001,+0.000002" };

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		struct analysed *a = run(window_trace(), no_options, windows[i]);

		expect(a, "pid", 3, 1, 1, 1);
		ck_assert_uint_eq(km_balance_unknown_frees_count(a->analysis->balance), 1);
		analysed_free(a);
	}
}
END_TEST

START_TEST(filtered)
{
	struct km_analysis_options options = { .slabinfo_before = &info };
	struct km_filter filter = { 0 };
	struct km_error error = { 0 };
	struct analysed *a;

	ck_assert(!km_ranges_parse(&filter.pid, "99", &error));
	a = analysed_try(window_trace(), &options, "@SNAP before,", &filter);
	ck_assert_msg(a->analysis, "%s", a->error.text);
	ck_assert_uint_eq(km_aggregate_rows_count(a->analysis->aggregate, KM_AXIS_SITE), 0);
	expect(a, "pid", 5, 2, 1, 2);
	analysed_free(a);
}
END_TEST

/* The rest of the trace, and the trace up to the mark. */
START_TEST(half_windows)
{
	struct analysed *a = run(window_trace(), no_options, ",@SNAP before");

	expect(a, "pid", 2, 0, 1, 0);
	analysed_free(a);
	a = run(window_trace(), no_options, NULL);
	expect(a, "pid", 7, 2, 2, 2);
	ck_assert_uint_eq(km_balance_unknown_frees_count(a->analysis->balance), 2);
	analysed_free(a);
}
END_TEST

/* What did not fit the table was allocated all the same. */
START_TEST(overflow)
{
	struct tw *tw = tw_new(&(struct tw_options){ .clock = "mono" });
	struct analysed *a;

	for (unsigned i = 1; i <= 5; i++)
		alloc(tw, 1000 + i, i, "pid");
	for (unsigned i = 1; i <= 5; i++)
		release(tw, 2000 + i, i, "pid");
	a = run(tw, (struct km_analysis_options){ .objects_count = 3 }, NULL);
	expect(a, "pid", 5, 3, 2, 0);
	ck_assert_uint_eq(row_of(a, "pid").overflowed_count, 2);
	analysed_free(a);
}
END_TEST

/* A name that is learnt from a free is that of earlier allocations too. */
START_TEST(names_learnt_late)
{
	struct tw *tw = tw_new(&(struct tw_options){ .kernel = TW_KERNEL_6_12, .clock = "mono" });
	struct analysed *a;

	alloc(tw, 1000, 1, NULL);
	alloc(tw, 1001, 2, NULL);
	tw_cache_alloc(tw, TW_TOP, 0, 1002, 1, SITE(5), OBJ(3), 60, 64, 0, -1, NULL);
	release(tw, 1003, 1, "pid");
	release(tw, 1004, 11, "pid");
	a = run(tw, no_options, ",+0.000000003");
	expect(a, "pid", 2, 0, 0, 0); /* the frees are behind the window */
	expect(a, "(unnamed:64)", 1, 0, 0, 0);
	analysed_free(a);
}
END_TEST

/* What a clock turned round: an allocation before the free that made room for it, and a free before its allocation. */
START_TEST(mended)
{
	const struct km_analysis_options options = { .has_reorder_window = true, .reorder_window_ns = 100 };
	struct tw *tw = tw_new(&(struct tw_options){ .cpus = 2, .clock = "local" });
	struct analysed *a;

	tw_cache_alloc(tw, TW_TOP, 0, 1000, 1, SITE(0), OBJ(1), 120, 128, 0, -1, "pid");
	tw_cache_alloc(tw, TW_TOP, 1, 1001, 1, SITE(0), OBJ(1), 120, 128, 0, -1, "cred"); /* overtook ... */
	tw_cache_free(tw, TW_TOP, 0, 1002, 1, SITE(1), OBJ(1), "pid");                    /* ... this */
	tw_cache_free(tw, TW_TOP, 1, 5000, 1, SITE(1), OBJ(1), "cred");
	tw_kfree(tw, TW_TOP, 0, 6000, 1, SITE(1), OBJ(2)); /* overtook ... */
	tw_kmalloc(tw, TW_TOP, 1, 6001, 1, SITE(2), OBJ(2), 60, 64, 0, -1);
	tw_kmalloc(tw, TW_TOP, 1, 9000, 1, SITE(2), OBJ(2), 60, 64, 0, -1);
	a = run(tw, options, NULL);
	ck_assert_uint_eq(km_mend_count(a->analysis->mend), 2);
	expect(a, "pid", 1, 1, 0, 0);
	expect(a, "cred", 1, 1, 0, 0);
	expect(a, "kmalloc-64", 2, 1, 0, 0);
	ck_assert_uint_eq(km_balance_unknown_frees_count(a->analysis->balance), 0);
	analysed_free(a);
}
END_TEST

/* Forgotten objects were not freed. */
START_TEST(losses)
{
	for (unsigned is_reset = 0; is_reset < 2; is_reset++) {
		struct tw *tw = tw_new(&(struct tw_options){ .clock = "mono" });
		struct km_analysis_options options = { .on_loss = is_reset ? KM_ON_LOSS_RESET : KM_ON_LOSS_TAINT };
		struct analysed *a;

		alloc(tw, 1000, 1, "pid");
		tw_lost(tw, TW_TOP, 0, 10);
		alloc(tw, 2000, 2, "pid");
		release(tw, 2001, 1, "pid");
		a = run(tw, options, NULL);
		ck_assert_uint_eq(km_balance_holes_count(a->analysis->balance), 1);
		expect(a, "pid", 2, !is_reset, is_reset, 0);
		analysed_free(a);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { whole_trace,       window, filtered, half_windows, overflow,
				       names_learnt_late, mended, losses,   NULL };

	return km_test_main("balance", tests, 60);
}
