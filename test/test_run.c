/* SPDX-License-Identifier: GPL-2.0-only */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysed.h"
#include "fixture.h"
#include "run_made.h"
#include "testing.h"

#define WL "x86_64-6.18-slab4-wl.dat"

static const char *const fixtures[] = {
	"arm64-6.12-perf-slab-z.data", "arm64-6.12-subbuf16k.dat",      "arm64-6.12-v7zlib.dat",
	"built-counter-clock.dat",     "built-start-tail-lost.dat",     "i386-6.1-slab-mono.dat",
	"s390x-6.1-slab-mono.dat",     "x86_64-5.10-default.dat",       "x86_64-5.10-lost.dat",
	"x86_64-6.12-gt-leaky.dat",    "x86_64-6.18-lagged-missed.dat", "x86_64-6.18-lost-discard16k.dat",
	"x86_64-6.18-slab4-wl.dat",
};
#define FIXTURES (sizeof(fixtures) / sizeof(fixtures[0]))

/* --- bounds --- */

static void check_bounds_of_live_numbers(size_t at)
{
	static const struct {
		enum km_live_is is;
		bool is_lost;
		uint64_t value, overflowed;
		struct km_bounds bounds;
	} cases[] = {
		{ KM_LIVE_CONSISTENT, false, 7, 0, { 7, 7, false } },
		{ KM_LIVE_CONSISTENT, true, 7, 3, { 7, 7, false } },
		{ KM_LIVE_UPPER_BOUND, false, 7, 0, { 0, 7, false } },
		{ KM_LIVE_AT_LEAST, false, 7, 3, { 7, 10, false } },
		{ KM_LIVE_UNCERTAIN, false, 7, 3, { 0, 10, false } },
		{ KM_LIVE_UNCERTAIN, true, 7, 3, { 0, 0, true } },
	};
	const struct km_bounds *wanted = &cases[at].bounds;
	struct km_bounds got = km_live_bounds(cases[at].is, cases[at].is_lost, cases[at].value, cases[at].overflowed);

	ck_assert_uint_eq(got.min, wanted->min);
	ck_assert_uint_eq(got.max, wanted->max);
	ck_assert_int_eq(got.max_is_unknown, wanted->max_is_unknown);
}

START_TEST(bounds_of_live_numbers)
{
	for (size_t i = 0; i < 6; i++)
		check_bounds_of_live_numbers(i);
}
END_TEST

/* --- metrics --- */

START_TEST(metrics_have_names_of_their_own)
{
	for (unsigned i = 0; i < KM_METRICS; i++) {
		ck_assert_ptr_nonnull(km_metrics[i].name);
		ck_assert_int_eq(km_metric_find(km_metrics[i].name), i);
	}
	ck_assert_int_eq(km_metric_find("alloc_events_count"), KM_METRIC_ALLOCS_COUNT);
	ck_assert_int_eq(km_metric_find("nosuch"), KM_METRICS);
}
END_TEST

/* --- both ways in --- */

/* A run of an analysis equals that of its JSON, whatever the recording. */
static void check_saved_and_loaded_is_the_same(size_t at)
{
	static const char *const variants[][2] = { { NULL, NULL },
						   { "comm,cpu,size,node,gfp", NULL },
						   { "function,cache", "256" },
						   { "site,module,pid", "64" } };

	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		struct run_made made = run_make_fixture(KM_TEST_DIR, fixtures[at], variants[i][0],
							variants[i][1] ? strtoull(variants[i][1], NULL, 10) : 0);
		struct km_run *loaded = run_load_text(made.json);

		ck_assert_uint_gt(made.run->axes[KM_RUN_SITES].count, 0);
		ck_assert_uint_gt(made.run->totals.values[KM_METRIC_ALLOCS_COUNT].value, 0);
		run_expect_equal(made.run, loaded);
		km_run_release(loaded);
		run_made_release(&made);
	}
}

START_TEST(saved_and_loaded_is_the_same)
{
	for (size_t i = 0; i < FIXTURES; i++)
		check_saved_and_loaded_is_the_same(i);
}
END_TEST

static uint64_t sum_of(const struct km_run *run, enum km_run_axis axis, enum km_metric metric)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < run->axes[axis].count; i++)
		sum += run->axes[axis].rows[i]->values[metric].value;
	return sum;
}

static void check_rows_add_up_to_the_totals(size_t at)
{
	struct run_made made = run_make_fixture(KM_TEST_DIR, fixtures[at], "comm", 0);
	struct km_run *run = made.run;

	ck_assert_int_eq(km_run_derive(run, KM_RUN_FUNCTIONS, NULL), 0);
	ck_assert_int_eq(km_run_derive(run, KM_RUN_MODULES, NULL), 0);
	for (unsigned axis = 0; axis < KM_RUN_AXES; axis++) {
		for (unsigned m = 0; m < KM_METRICS; m++) {
			if (!km_metrics[m].is_of_rows || km_metrics[m].kind == KM_METRIC_IS_PEAK ||
			    km_metrics[m].kind == KM_METRIC_IS_AGE)
				continue;
			ck_assert_msg(sum_of(run, axis, m) == run->totals.values[m].value, "%s of axis %u",
				      km_metrics[m].name, axis);
		}
		for (size_t i = 0; i < run->axes[axis].count; i++) {
			const struct km_run_row *row = run->axes[axis].rows[i];

			ck_assert_ptr_eq(km_run_find(run, axis, row), row);
			for (unsigned m = 0; m < KM_METRICS; m++) {
				const struct km_value *v = &row->values[m];

				ck_assert(v->is_null ||
					  (v->min <= v->value && (v->max_is_unknown || v->value <= v->max)));
			}
		}
	}
	run_made_release(&made);
}

START_TEST(rows_add_up_to_the_totals)
{
	for (size_t i = 0; i < FIXTURES; i++)
		check_rows_add_up_to_the_totals(i);
}
END_TEST

/* --- what is not a report --- */

static void expect_refused(const char *text, int code, const char *wanted)
{
	struct km_source *source = km_source_new_memory("FILE", text, strlen(text));
	struct km_error error = { 0 };
	struct km_run *run = NULL;

	ck_assert_int_eq(km_run_load(source, &run, &error), code);
	ck_assert_ptr_null(run);
	ck_assert_msg(strstr(error.text, wanted) && !strncmp(error.text, "FILE: ", 6) && !strchr(error.text, '\n'),
		      "\"%s\" for %.60s", error.text, text);
	km_source_close(source);
}

START_TEST(what_is_no_report_is_refused)
{
	expect_refused("", -EBADMSG, "not JSON");
	expect_refused("{", -EBADMSG, "not JSON, or cut short");
	expect_refused("[]", -EBADMSG, "JSON, but not of kmstat");
	expect_refused("{}", -EBADMSG, "JSON, but not of kmstat");
	expect_refused("{\"schema\":\"other\"}", -EBADMSG, "not of kmstat");
	expect_refused("{\"schema\":\"kmstat.info\",\"schema_version\":1}", -ENOTSUP, "a kmstat.info, not a report");
	expect_refused("{\"schema\":\"kmstat.reports\",\"schema_version\":1}", -ENOTSUP, "--buffer NAME");
	expect_refused("{\"schema\":\"kmstat.report\",\"schema_version\":2}", -ENOTSUP, "schema version 2");
	expect_refused("{\"schema\":\"kmstat.report\"}", -ENOTSUP, "schema version 0");
	expect_refused("{\"schema\":\"kmstat.report\",\"schema_version\":1}", -EBADMSG, "truncated is missing");
	expect_refused("{\"schema\":\"kmstat.report\",\"schema_version\":1,\"truncated\":true,\"domain\":\"slab\"}",
		       -ENOTSUP, "--limit");
	expect_refused("{\"schema\":\"kmstat.report\",\"schema_version\":1,\"truncated\":false,\"domain\":\"page\"}",
		       -ENOTSUP, "\"page\"");
}
END_TEST

static void check_what_is_wrong_in_a_report_is_named(size_t at)
{
	static const struct {
		const char *from, *to, *wanted;
	} cases[] = {
		{ "\"sources\": [", "\"sourcez\": [", "sources is missing" },
		{ "\"symbol\":", "\"simbol\":", "sites[0].symbol is missing (was it saved with --fields?)" },
		{ "\"live_is\":\"", "\"live_is\":\"x", "sites[0].live_is is no word" },
		{ "\"live_count\":", "\"live_count\":-1,\"x\":", "totals.live_count is not a number from 0 on" },
		{ "\"address\":\"0x", "\"address\":\"y", "sites[0].address is no \"0x\" address" },
		{ "\"live_bytes\": ", "\"live_bytes\": 99999999", "totals.live_bytes is not between its bounds" },
		{ "\"histogram\":[[", "\"histogram\":[[9999,1],[", "lifetime_ns.histogram is no histogram" },
		{ "\"histogram\":[[", "\"histogram\":[[0,1],[", "lifetime_ns.histogram does not agree" },
		{ "\"caches\":[\"", "\"caches\":[1,\"", "sites[0].caches is no list of texts" },
		{ "\"allocs_count\":", "\"allocs_count\":1e3,\"x\":", "sites[0].allocs_count is not a number" },
		{ "\"allocs_count\":", "\"allocs_count\":99999999999999999999,\"x\":", "not JSON, or cut short" },
		{ "\"truncated\": false", "\"truncated\": \"no\"", "truncated is neither true nor false" },
		{ "\"lost_is\": \"", "\"lost_is\": \"very ", "health.lost_is is no word" },
		{ "\"kfree_count\": ", "\"kfree\": ", "health.replay.kfree_count is missing" },
		{ "\"filters\": {}", "\"filters\": []", "filters is of another kind" },
		{ "\"clock\":\"", "\"clock\":3,\"x\":\"", "sources[0].clock is not a text" },
	};
	struct run_made made = run_make_fixture(KM_TEST_DIR, WL, NULL, 0);
	char *text = run_replaced(made.json, cases[at].from, cases[at].to);

	expect_refused(text, -EBADMSG, cases[at].wanted);
	free(text);
	run_made_release(&made);
}

START_TEST(what_is_wrong_in_a_report_is_named)
{
	for (size_t i = 0; i < 16; i++)
		check_what_is_wrong_in_a_report_is_named(i);
}
END_TEST

/* Of every length, so that no key is read that is not there. */
START_TEST(a_report_cut_short_is_refused)
{
	struct run_made made = run_make_fixture(KM_TEST_DIR, "built-counter-clock.dat", NULL, 0);
	size_t bytes = strlen(made.json);

	for (size_t i = 0; i + 2 < bytes; i += 1 + bytes / 500) {
		struct km_source *source = km_source_new_memory("cut", made.json, i);
		struct km_run *run = NULL;

		ck_assert_int_eq(km_run_load(source, &run, NULL), -EBADMSG);
		km_source_close(source);
	}
	run_made_release(&made);
}
END_TEST

START_TEST(unknown_keys_are_ignored_and_bounds_may_be_missing)
{
	struct run_made made = run_make_fixture(KM_TEST_DIR, WL, NULL, 0);
	static const char *const bounds[] = { "_min\"", "_max\"", NULL };
	char *more = run_replaced(made.json, "\"sites\": [", "\"new\": {\"a\": [1]}, \"sites\": [");
	char *plain = run_without_keys(made.json, bounds);
	struct km_run *loaded = run_load_text(more), *old = run_load_text(plain);

	run_expect_equal(made.run, loaded);
	for (size_t i = 0; i < old->axes[KM_RUN_SITES].count; i++) {
		const struct km_run_row *row = old->axes[KM_RUN_SITES].rows[i];
		const struct km_value *a = &row->values[KM_METRIC_LIVE_BYTES];
		const struct km_value *b = &made.run->axes[KM_RUN_SITES].rows[i]->values[KM_METRIC_LIVE_BYTES];

		ck_assert_uint_eq(a->min, b->min);
		ck_assert(a->max_is_unknown || a->max == b->max);
	}
	free(more);
	free(plain);
	km_run_release(loaded);
	km_run_release(old);
	run_made_release(&made);
}
END_TEST

/* --- likeness --- */

START_TEST(unlike_runs_are_told)
{
	struct run_made a = run_make_fixture(KM_TEST_DIR, WL, NULL, 0),
			b = run_make_fixture(KM_TEST_DIR, WL, "comm", 0),
			c = run_make_fixture(KM_TEST_DIR, "built-counter-clock.dat", NULL, 0);
	char *filtered = run_replaced(a.json, "\"filters\": {}", "\"filters\": {\"cache\": \"x\"}");
	struct km_run *d = run_load_text(filtered);
	struct km_error error = { 0 };

	ck_assert_int_eq(km_run_check_alike(a.run, a.run, NULL), 0);
	ck_assert_int_eq(km_run_check_alike(a.run, b.run, &error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error.text, "grouped by nothing"));
	error.code = 0;
	ck_assert_int_eq(km_run_check_alike(c.run, a.run, &error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error.text, "ticks"));
	error.code = 0;
	ck_assert_int_eq(km_run_check_alike(a.run, d, &error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error.text, "{\"cache\":\"x\"}"));
	ck_assert(km_run_match_by_symbol(a.run, b.run));
	ck_assert(!km_run_match_by_symbol(a.run, c.run));
	free(filtered);
	km_run_release(d);
	run_made_release(&a);
	run_made_release(&b);
	run_made_release(&c);
}
END_TEST

static void check_kernels_are_the_same_by_release_and_machine(size_t at)
{
	static const struct {
		const char *a, *b;
		bool is_same;
	} cases[] = {
		{ "Linux one 6.12.1 x86_64", "Linux two 6.12.1 x86_64", true },
		{ "Linux one 6.12.1 x86_64", "Linux one 6.12.2 x86_64", false },
		{ "Linux one 6.12.1 x86_64", "Linux one 6.12.1 aarch64", false },
		{ NULL, NULL, false },
		{ "Linux one 6.12.1 x86_64", NULL, false },
		{ "Linux", "Linux", false },
	};
	const struct km_run_source a = { .kernel = cases[at].a }, b = { .kernel = cases[at].b };

	ck_assert_int_eq(km_run_same_kernel(&a, &b), cases[at].is_same);
}

START_TEST(kernels_are_the_same_by_release_and_machine)
{
	for (size_t i = 0; i < 6; i++)
		check_kernels_are_the_same_by_release_and_machine(i);
}
END_TEST

static void check_json_is_told_from_recordings(size_t at)
{
	static const struct {
		const char *text;
		int is_saved;
	} cases[] = {
		{ "{}", 1 }, { " \n\t{", 1 }, { "", 0 }, { "# tracer: nop\n", 0 }, { "[", 0 }, { "\x17\x08", 0 }
	};
	struct km_source *source = km_source_new_memory("x", cases[at].text, strlen(cases[at].text));

	ck_assert_int_eq(km_run_is_saved(source, NULL), cases[at].is_saved);
	km_source_close(source);
}

START_TEST(json_is_told_from_recordings)
{
	for (size_t i = 0; i < 6; i++)
		check_json_is_told_from_recordings(i);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		bounds_of_live_numbers,        metrics_have_names_of_their_own,
		saved_and_loaded_is_the_same,  rows_add_up_to_the_totals,
		what_is_no_report_is_refused,  what_is_wrong_in_a_report_is_named,
		a_report_cut_short_is_refused, unknown_keys_are_ignored_and_bounds_may_be_missing,
		unlike_runs_are_told,          kernels_are_the_same_by_release_and_machine,
		json_is_told_from_recordings,  NULL
	};

	return km_test_main("run", tests, 120);
}
