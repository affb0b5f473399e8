/* SPDX-License-Identifier: GPL-2.0-only */
#include "run_merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "output.h"
#include "run_made.h"
#include "testing.h"

#define WL "x86_64-6.18-slab4-wl.dat"

static char *json_of(const struct km_run *run)
{
	const struct km_document_options options = { .audience = KM_FOR_MACHINES };
	struct km_error error = { 0 };
	struct km_document document;
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	ck_assert_ptr_nonnull(stream);
	ck_assert_msg(!km_document_run(&document, run, &options, &error), "%s", error.text);
	ck_assert_int_eq(km_output_json(stream, &document.report, &document.fields, &error), 0);
	km_document_release(&document);
	ck_assert_int_eq(fclose(stream), 0);
	return text;
}

/* Merged and written; takes over neither. */
static char *merge_texts(const char *a, const char *b)
{
	struct km_run *into = run_load_text(a), *from = run_load_text(b);
	struct km_error error = { 0 };
	char *text;

	ck_assert_msg(!km_run_merge(into, from, &error), "%s", error.text);
	text = json_of(into);
	km_run_release(into);
	return text;
}

/* --- order and tree --- */

/* Every way to merge texts[0..count) in this order: each split in two, each half in every way. All must give `wanted`.
 */
static void every_tree(char *const *texts, unsigned count, char **results, unsigned *results_count)
{
	*results_count = 0;
	if (count == 1) {
		results[(*results_count)++] = strdup(texts[0]);
		return;
	}
	for (unsigned left = 1; left < count; left++) {
		char *a[8], *b[8];
		unsigned a_count, b_count;

		every_tree(texts, left, a, &a_count);
		every_tree(texts + left, count - left, b, &b_count);
		for (unsigned i = 0; i < a_count; i++) {
			for (unsigned j = 0; j < b_count; j++)
				results[(*results_count)++] = merge_texts(a[i], b[j]);
		}
		for (unsigned i = 0; i < a_count; i++)
			free(a[i]);
		for (unsigned i = 0; i < b_count; i++)
			free(b[i]);
	}
}

static void every_order(char **texts, unsigned at, unsigned count, char **wanted)
{
	char *results[8];
	unsigned results_count;

	for (unsigned i = at; i < count; i++) {
		char *swap = texts[at];

		texts[at] = texts[i];
		texts[i] = swap;
		every_order(texts, at + 1, count, wanted);
		texts[i] = texts[at];
		texts[at] = swap;
	}
	if (at != count)
		return;
	every_tree(texts, count, results, &results_count);
	for (unsigned i = 0; i < results_count; i++) {
		if (!*wanted)
			*wanted = strdup(results[i]);
		ck_assert_msg(!strcmp(results[i], *wanted), "another order or tree gives other bytes");
		free(results[i]);
	}
}

/* All orders, and all trees of each: of 4 recordings 24 and 5. */
static void check_all_ways(const char *const *names, unsigned count, const char *by, const uint64_t *objects)
{
	char *texts[4], *wanted = NULL;
	struct km_run_merger merger = { .slots = { NULL } };
	struct km_run *all;

	for (unsigned i = 0; i < count; i++) {
		struct run_made made = run_make_fixture(KM_TEST_DIR, names[i], by, objects ? objects[i] : 0);

		texts[i] = json_of(made.run);
		ck_assert_int_eq(km_run_merger_add(&merger, made.run, NULL), 0);
		free(made.json);
	}
	every_order(texts, 0, count, &wanted);
	ck_assert_int_eq(km_run_merger_finish(&merger, &all, NULL), 0);
	ck_assert_uint_eq(all->sources_count, count);
	free(texts[0]);
	texts[0] = json_of(all);
	ck_assert_str_eq(texts[0], wanted);
	km_run_release(all);
	for (unsigned i = 0; i < count; i++)
		free(texts[i]);
	free(wanted);
}

START_TEST(all_orders_and_trees_give_the_same_bytes)
{
	static const char *const names[] = { WL, "x86_64-6.12-gt-leaky.dat", "s390x-6.1-slab-mono.dat",
					     "x86_64-5.10-lost.dat" };
	static const uint64_t objects[] = { 256, 0, 64, 1024 };

	check_all_ways(names, 4, NULL, objects);
}
END_TEST

START_TEST(groups_too)
{
	static const char *const names[] = { "built-start-tail-lost.dat", "x86_64-6.18-lagged-missed.dat",
					     "arm64-6.12-perf-slab-z.data" };

	check_all_ways(names, 3, "comm,size,cache,module", NULL);
}
END_TEST

/* Of one kernel: as if it were of another buffer. */
static char *of_another_buffer(const char *json, unsigned n)
{
	char buffer[64];

	snprintf(buffer, sizeof(buffer), "\"buffer\":\"%u", n);
	return run_replaced(json, "\"buffer\":\"", buffer);
}

START_TEST(of_one_kernel_too)
{
	struct run_made made = run_make_fixture(KM_TEST_DIR, "x86_64-6.12-gt-leaky.dat", NULL, 512);
	char *texts[3], *wanted = NULL;

	for (unsigned i = 0; i < 3; i++)
		texts[i] = of_another_buffer(made.json, i + 1);
	every_order(texts, 0, 3, &wanted);
	ck_assert_ptr_null(strstr(wanted, "\"sites_by\""));
	for (unsigned i = 0; i < 3; i++)
		free(texts[i]);
	free(wanted);
	run_made_release(&made);
}
END_TEST

/* --- what comes of it --- */

START_TEST(one_report_is_itself)
{
	struct run_made made = run_make_fixture(KM_TEST_DIR, WL, "comm", 0);
	struct km_run *again;
	char *text = json_of(made.run), *twice;

	again = run_load_text(text);
	run_expect_equal(made.run, again);
	twice = json_of(again);
	ck_assert_str_eq(text, twice);
	free(text);
	free(twice);
	km_run_release(again);
	run_made_release(&made);
}
END_TEST

static const struct km_value *value_of(const struct km_run_row *row, enum km_metric metric)
{
	return &row->values[metric];
}

START_TEST(sums_add_up_and_peaks_are_bounds)
{
	struct run_made a = run_make_fixture(KM_TEST_DIR, WL, NULL, 0),
			b = run_make_fixture(KM_TEST_DIR, "x86_64-6.12-gt-leaky.dat", NULL, 0);
	struct km_run *into = run_load_text(a.json), *from = run_load_text(b.json);
	const struct km_run_row *x = &a.run->totals, *y = &b.run->totals, *z;
	struct km_run_row copy_of_process = { .function = "copy_process" };

	ck_assert_int_eq(km_run_merge(into, from, NULL), 0);
	z = &into->totals;
	for (unsigned m = 0; m < KM_METRICS; m++) {
		const struct km_value *p = value_of(x, m), *q = value_of(y, m), *s = value_of(z, m);
		uint64_t larger = p->value > q->value ? p->value : q->value;

		if (km_metrics[m].kind == KM_METRIC_IS_AGE)
			ck_assert_uint_eq(s->value, larger);
		else
			ck_assert_uint_eq(s->value, p->value + q->value);
		if (km_metrics[m].kind == KM_METRIC_IS_PEAK)
			ck_assert_uint_ge(s->min, p->min > q->min ? p->min : q->min);
		if (m == KM_METRIC_LIVE_BYTES)
			ck_assert_uint_eq(s->min, p->min + q->min);
		ck_assert(s->max_is_unknown || s->max == p->max + q->max);
	}
	ck_assert_int_eq(z->peak_is, KM_PEAK_AT_MOST);
	ck_assert(z->peak_time.is_null);
	ck_assert_int_eq(z->live_is, x->live_is | y->live_is);
	ck_assert_uint_eq(z->lifetimes.count, x->lifetimes.count + y->lifetimes.count);
	ck_assert(into->sites_by_function);
	ck_assert_uint_eq(into->sources_count, 2);
	z = km_run_find(into, KM_RUN_SITES, &copy_of_process);
	ck_assert_ptr_nonnull(z);
	ck_assert_str_eq(z->symbol, "copy_process");
	ck_assert(!z->has_address);
	km_run_release(into);
	run_made_release(&a);
	run_made_release(&b);
}
END_TEST

START_TEST(a_row_of_one_recording_stays_as_it_is)
{
	struct run_made a = run_make_fixture(KM_TEST_DIR, WL, NULL, 0),
			b = run_make_fixture(KM_TEST_DIR, "x86_64-6.12-gt-leaky.dat", NULL, 0);
	const struct km_run_row like = { .function = "leak_large", .module = "leaky" };
	const struct km_run_row *row;

	ck_assert_int_eq(km_run_merge(a.run, b.run, NULL), 0);
	row = km_run_find(a.run, KM_RUN_SITES, &like);
	ck_assert_ptr_nonnull(row);
	ck_assert_str_eq(row->symbol, "leak_large.isra.0+0x17 [leaky]");
	ck_assert(row->has_address);
	ck_assert_int_eq(row->peak_is, KM_PEAK_EXACT);
	ck_assert_uint_eq(value_of(row, KM_METRIC_PEAK_LIVE_BYTES)->value, 65536);
	ck_assert(!row->peak_time.is_null);
	km_run_release(a.run);
	free(a.json);
	free(b.json);
}
END_TEST

/* --- what is refused --- */

static void expect_refused(const char *a, const char *b, const char *wanted)
{
	struct km_run *into = run_load_text(a), *from = run_load_text(b);
	struct km_error error = { 0 };

	ck_assert_int_eq(km_run_merge(into, from, &error), -EINVAL);
	ck_assert_msg(strstr(error.text, wanted), "%s", error.text);
	km_run_release(into);
	km_run_release(from);
}

START_TEST(what_does_not_add_up_is_refused)
{
	struct run_made ns = run_make_fixture(KM_TEST_DIR, WL, NULL, 0),
			ticks = run_make_fixture(KM_TEST_DIR, "built-counter-clock.dat", NULL, 0),
			by = run_make_fixture(KM_TEST_DIR, "x86_64-6.12-gt-leaky.dat", "comm", 0);
	char *filtered = run_replaced(ns.json, "\"filters\": {}", "\"filters\": {\"cache\": \"x\"}");
	char *later = of_another_buffer(ticks.json, 1);
	char *other = run_replaced(later, "\"clock\":\"counter\"", "\"clock\":\"x86-tsc\"");

	expect_refused(ns.json, ns.json, "the same recording");
	expect_refused(ns.json, ticks.json, "ticks");
	expect_refused(ns.json, by.json, "grouped by");
	expect_refused(ns.json, filtered, "filters");
	expect_refused(ticks.json, other, "ticks, of clock");
	free(filtered);
	free(later);
	free(other);
	run_made_release(&ns);
	run_made_release(&ticks);
	run_made_release(&by);
}
END_TEST

START_TEST(a_sum_over_64_bits_is_refused)
{
	static const char big[] = "\"total_allocated_bytes\":9223372036854775807,\"x\":";
	struct run_made made = run_make_fixture(KM_TEST_DIR, "built-start-tail-lost.dat", NULL, 0);
	char *huge = run_replaced(made.json, "\"total_allocated_bytes\":", big);
	struct km_run *runs[3];
	struct km_error error = { 0 };

	for (unsigned i = 0; i < 3; i++) {
		char *text = of_another_buffer(huge, i + 1);

		runs[i] = run_load_text(text);
		free(text);
	}
	ck_assert_int_eq(km_run_merge(runs[0], runs[1], NULL), 0);
	ck_assert_int_eq(km_run_merge(runs[0], runs[2], &error), -EOVERFLOW);
	ck_assert_ptr_nonnull(strstr(error.text, "64 bits"));
	km_run_release(runs[0]);
	km_run_release(runs[2]);
	free(huge);
	run_made_release(&made);
}
END_TEST

START_TEST(an_empty_merger_has_nothing)
{
	struct km_run_merger merger = { .slots = { NULL } };
	struct km_error error = { 0 };
	struct km_run *run = NULL;

	ck_assert_int_eq(km_run_merger_finish(&merger, &run, &error), -EINVAL);
	ck_assert_ptr_null(run);
	km_run_merger_release(&merger);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { all_orders_and_trees_give_the_same_bytes,
				       groups_too,
				       of_one_kernel_too,
				       one_report_is_itself,
				       sums_add_up_and_peaks_are_bounds,
				       a_row_of_one_recording_stays_as_it_is,
				       what_does_not_add_up_is_refused,
				       a_sum_over_64_bits_is_refused,
				       an_empty_merger_has_nothing,
				       NULL };

	return km_test_main("run_merge", tests, 120);
}
