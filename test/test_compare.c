/* SPDX-License-Identifier: GPL-2.0-only */
#include "compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "built_run.h"
#include "naive_model.h"
#include "testing.h"
#include "trace_writer.h"

static const struct built_site some_sites[] = {
	{ .function = 0, .offset = 0x10, .live = 3, .freed = 5, .bytes = 64 },
	{ .function = 0, .offset = 0x20, .live = 1, .freed = 1, .bytes = 128 },
	{ .function = 1, .offset = 0x10, .live = 2, .freed = 4, .bytes = 1024, .cache = "filp" },
	{ .function = 2, .offset = 0x10, .live = 0, .freed = 9, .bytes = 32 },
	{ .function = TW_FUNCTIONS_KERNEL, .offset = 0x10, .live = 4, .freed = 2, .bytes = 256 },
};
#define SITES (sizeof(some_sites) / sizeof(some_sites[0]))

static struct built_trace some_trace(void)
{
	return (struct built_trace){ .sites = some_sites, .sites_count = SITES };
}

/* Both sides; the runs are released with it. */
struct compared {
	struct km_run *runs[2][16];
	size_t counts[2];
	uint64_t ops[2];
	struct km_compare *compare;
	struct km_error error;
	int code;
};

static void add(struct compared *c, unsigned side, const struct built_trace *trace)
{
	c->runs[side][c->counts[side]++] = built_run(trace);
}

static int run(struct compared *c, const struct km_compare_options *options)
{
	struct km_compare_side sides[2];

	for (unsigned i = 0; i < 2; i++)
		sides[i] = (struct km_compare_side){ .runs = c->runs[i], .count = c->counts[i], .ops = c->ops[i] };
	c->code = km_compare_run(&sides[0], &sides[1], options, &c->compare, &c->error);
	return c->code;
}

static void expect_run(struct compared *c, const struct km_compare_options *options)
{
	ck_assert_msg(!run(c, options), "%s", c->error.text);
}

static void end(struct compared *c)
{
	km_compare_free(c->compare);
	for (unsigned side = 0; side < 2; side++) {
		for (size_t i = 0; i < c->counts[side]; i++)
			km_run_release(c->runs[side][i]);
	}
}

static const struct km_compare_row *find(const struct km_compare *compare, const char *name)
{
	for (size_t i = 0; i < compare->rows_count; i++) {
		const struct km_run_row *row = compare->rows[i].row;
		const char *names[] = { row ? row->symbol : "-", row ? row->function : "-", row ? row->cache : "-",
					row ? row->module : "-" };

		for (size_t k = 0; k < 4; k++) {
			if (names[k] && !strcmp(names[k], name))
				return &compare->rows[i];
		}
	}
	ck_abort_msg("no row %s", name);
	return NULL;
}

static void expect_sums(const struct km_compare *compare)
{
	long double before = 0, after = 0, up = 0, down = 0;
	size_t count = 0;

	for (size_t i = 0; i < compare->rows_count; i++) {
		const struct km_compare_row *row = &compare->rows[i];
		long double delta = km_compare_delta(row);

		before += row->sides[KM_BASE].value;
		after += row->sides[KM_CHANGED].value;
		up += delta > 0 ? delta : 0;
		down -= delta < 0 ? delta : 0;
		if (i)
			ck_assert(km_compare_delta(&compare->rows[i - 1]) >= delta);
	}
	for (unsigned i = 0; i < KM_COMPARE_STATES; i++)
		count += compare->states[i];
	ck_assert_uint_eq(count, compare->rows_count);
	ck_assert_ldouble_eq(before, compare->before);
	ck_assert_ldouble_eq(after, compare->after);
	ck_assert_ldouble_eq(up, compare->up);
	ck_assert_ldouble_eq(down, compare->down);
	ck_assert_ldouble_eq(after - before, up - down);
}

static const enum km_run_axis axes[] = { KM_RUN_SITES, KM_RUN_CACHES, KM_RUN_FUNCTIONS, KM_RUN_MODULES };

START_TEST(itself)
{
	struct built_trace trace = some_trace();

	for (size_t axis = 0; axis < 4; axis++) {
		for (unsigned metric = 0; metric < KM_METRICS; metric++) {
			struct compared c = { .counts = { 0 } };

			if (!km_metrics[metric].is_of_rows)
				continue;
			add(&c, 0, &trace);
			add(&c, 1, &trace);
			expect_run(&c, &(struct km_compare_options){ .axis = axes[axis],
								     .metric = (enum km_metric)metric });
			ck_assert_uint_gt(c.compare->rows_count, 0);
			ck_assert_uint_eq(c.compare->states[KM_SAME], c.compare->rows_count);
			ck_assert_ldouble_eq(c.compare->up + c.compare->down, 0);
			ck_assert_uint_eq(c.compare->warnings_count, 0);
			expect_sums(c.compare);
			/* What adds up is the whole. */
			if (km_metrics[metric].kind != KM_METRIC_IS_PEAK && km_metrics[metric].kind != KM_METRIC_IS_AGE)
				ck_assert_ldouble_eq(c.compare->before, c.compare->totals[metric][KM_BASE].value);
			end(&c);
		}
	}
}
END_TEST

/* The events of one site three times: that site, and three times as much of it, whatever is asked. */
START_TEST(one_site_multiplied)
{
	for (size_t site = 1; site <= SITES; site++) {
		struct built_trace trace = some_trace(), more = some_trace();
		const struct built_site *s = &some_sites[site - 1];
		static const enum km_metric metrics[] = { KM_METRIC_LIVE_BYTES, KM_METRIC_LIVE_COUNT,
							  KM_METRIC_ALLOCS_COUNT, KM_METRIC_TOTAL_ALLOCATED_BYTES };
		const unsigned amounts[] = { s->live * s->bytes, s->live, s->live + s->freed,
					     (s->live + s->freed) * s->bytes };

		more.times = 3;
		more.times_site = site;
		for (unsigned m = 0; m < 4; m++) {
			struct compared c = { .counts = { 0 } };

			add(&c, 0, &trace);
			add(&c, 1, &more);
			expect_run(&c, &(struct km_compare_options){ .axis = KM_RUN_SITES, .metric = metrics[m] });
			ck_assert_uint_eq(c.compare->rows_count, SITES);
			ck_assert_uint_eq(c.compare->states[KM_SAME], SITES - (amounts[m] > 0));
			ck_assert_uint_eq(c.compare->states[KM_GROWN], amounts[m] > 0);
			ck_assert_ldouble_eq(c.compare->up, 2.0L * amounts[m]);
			ck_assert_ldouble_eq(c.compare->down, 0);
			if (amounts[m]) {
				ck_assert_ldouble_eq(c.compare->rows[0].sides[KM_BASE].value, amounts[m]);
				ck_assert_ldouble_eq(c.compare->rows[0].sides[KM_CHANGED].value, 3.0L * amounts[m]);
			}
			expect_sums(c.compare);
			end(&c);
		}
	}
}
END_TEST

START_TEST(new_and_gone)
{
	static const struct built_site before[] = {
		{ .function = 0, .live = 1 },
		{ .function = 1, .live = 2 },
		{ .function = 3, .live = 5 },
		{ .function = 4, .freed = 5 },
	};
	static const struct built_site after[] = {
		{ .function = 0, .live = 3 },
		{ .function = 2, .live = 4 },
		{ .function = 3, .live = 4 },
		{ .function = 5, .freed = 5 },
	};
	struct built_trace a = { .sites = before, .sites_count = 4 }, b = { .sites = after, .sites_count = 4 };
	struct compared c = { .counts = { 0 } };

	add(&c, 0, &a);
	add(&c, 1, &b);
	expect_run(&c, &(struct km_compare_options){ .axis = KM_RUN_SITES, .metric = KM_METRIC_LIVE_COUNT });
	ck_assert_int_eq(find(c.compare, "kernel_fn_00+0x10")->state, KM_GROWN);
	ck_assert_int_eq(find(c.compare, "kernel_fn_01+0x10")->state, KM_GONE);
	ck_assert_int_eq(find(c.compare, "kernel_fn_02+0x10")->state, KM_NEW);
	ck_assert_int_eq(find(c.compare, "kernel_fn_03+0x10")->state, KM_SHRUNK);
	/* A site that is only on one side, but holds nothing, is neither new nor gone. */
	ck_assert_int_eq(find(c.compare, "kernel_fn_04+0x10")->state, KM_SAME);
	ck_assert_int_eq(find(c.compare, "kernel_fn_05+0x10")->state, KM_SAME);
	ck_assert_ldouble_eq(c.compare->up, 6);
	ck_assert_ldouble_eq(c.compare->down, 3);
	expect_sums(c.compare);
	end(&c);
}
END_TEST

/* Two builds: other addresses, other offsets, and GCC's copies with other names. */
static char *kallsyms_of(const char *a, const char *b, const char *c)
{
	char *text = NULL;

	ck_assert_int_gt(asprintf(&text, "%016lx t %s\n%016lx t %s\n%016lx t %s\n%016lx T last\n",
				  (unsigned long)tw_function(8, 0), a, (unsigned long)tw_function(8, 1), b,
				  (unsigned long)tw_function(8, 2), c, (unsigned long)tw_function(8, 3)),
			 0);
	return text;
}

START_TEST(other_kernel)
{
	static const struct built_site old[] = { { .function = 0, .offset = 0x10, .live = 1 },
						 { .function = 1, .offset = 0x20, .live = 2 },
						 { .function = 2, .offset = 0x30, .live = 3 } };
	static const struct built_site new[] = { { .function = 0, .offset = 0x18, .live = 5 },
						 { .function = 1, .offset = 0x28, .live = 2 },
						 { .function = 1, .offset = 0x48, .live = 2 },
						 { .function = 2, .offset = 0x38, .live = 3 } };
	char *before = kallsyms_of("alloc_foo", "alloc_bar.isra.0", "alloc_baz");
	char *after = kallsyms_of("alloc_bar.constprop.0.isra.1", "alloc_baz.part.0", "alloc_foo.cold");
	struct built_trace a = { .sites = old, .sites_count = 3, .kallsyms = before, .uname = "Linux a 5.10.0 x86_64" };
	struct built_trace b = { .sites = new, .sites_count = 4, .kallsyms = after, .uname = "Linux b 6.12.0 x86_64" };
	struct compared c = { .counts = { 0 } };

	add(&c, 0, &a);
	add(&c, 1, &b);
	expect_run(&c, &(struct km_compare_options){ .axis = KM_RUN_SITES, .metric = KM_METRIC_LIVE_COUNT });
	ck_assert_int_eq(c.compare->axis, KM_RUN_FUNCTIONS);
	ck_assert_ptr_nonnull(strstr(c.compare->matched_by, "function and module"));
	ck_assert_uint_eq(c.compare->rows_count, 3);
	ck_assert_ldouble_eq(km_compare_delta(find(c.compare, "alloc_foo")), 2);
	ck_assert_ldouble_eq(km_compare_delta(find(c.compare, "alloc_bar")), 3);
	ck_assert_ldouble_eq(km_compare_delta(find(c.compare, "alloc_baz")), 1);
	ck_assert_str_eq(c.compare->warnings[0].code, "kernels_differ");
	end(&c);
	/* The same release: by symbol, though the other build has moved all of them. */
	b.uname = "Linux c 5.10.0 x86_64";
	c = (struct compared){ .counts = { 0 } };
	add(&c, 0, &a);
	add(&c, 1, &b);
	expect_run(&c, &(struct km_compare_options){ .axis = KM_RUN_SITES, .metric = KM_METRIC_LIVE_COUNT });
	ck_assert_int_eq(c.compare->axis, KM_RUN_SITES);
	ck_assert_uint_eq(c.compare->states[KM_NEW], 4);
	ck_assert_uint_eq(c.compare->states[KM_GONE], 3);
	end(&c);
	free(before);
	free(after);
}
END_TEST

START_TEST(one_name_in_two_modules)
{
	char *before = kallsyms_of("probe\t[one]", "probe\t[two]", "other");
	static const struct built_site old[] = { { .function = 0, .live = 1 }, { .function = 1, .live = 2 } };
	static const struct built_site new[] = { { .function = 0, .live = 1 }, { .function = 1, .live = 7 } };
	struct built_trace a = { .sites = old, .sites_count = 2, .kallsyms = before };
	struct built_trace b = { .sites = new, .sites_count = 2, .kallsyms = before };
	struct compared c = { .counts = { 0 } };

	add(&c, 0, &a);
	add(&c, 1, &b);
	expect_run(&c, &(struct km_compare_options){ .axis = KM_RUN_FUNCTIONS, .metric = KM_METRIC_LIVE_COUNT });
	ck_assert_uint_eq(c.compare->rows_count, 2);
	ck_assert_uint_eq(c.compare->told_apart_count, 1);
	ck_assert_str_eq(c.compare->told_apart, "probe (one, two)");
	ck_assert_ldouble_eq(km_compare_delta(find(c.compare, "two")), 5);
	ck_assert_ldouble_eq(km_compare_delta(find(c.compare, "one")), 0);
	end(&c);
	free(before);
}
END_TEST

/* Addresses without a symbol: never one another's, but in the same recording. */
START_TEST(no_symbols)
{
	static const struct built_site old[] = { { .function = 0, .live = 1 },
						 { .function = 9, .live = 2 },
						 { .function = 10, .live = 3 } };
	static const struct built_site new[] = { { .function = 0, .live = 1 },
						 { .function = 9, .live = 7 },
						 { .function = 11, .live = 1 } };
	char *symbols = kallsyms_of("a", "b", "c");
	struct built_trace a = { .sites = old, .sites_count = 3, .kallsyms = symbols };
	struct built_trace b = { .sites = new, .sites_count = 3, .kallsyms = symbols };
	struct compared c = { .counts = { 0 } };

	add(&c, 0, &a);
	add(&c, 1, &b);
	expect_run(&c, &(struct km_compare_options){ .axis = KM_RUN_SITES, .metric = KM_METRIC_LIVE_COUNT });
	ck_assert_uint_eq(c.compare->rows_count, 2);
	ck_assert_uint_eq(c.compare->unnamed_count, 2);
	ck_assert_ptr_null(c.compare->rows[0].row);
	ck_assert_ldouble_eq(c.compare->rows[0].sides[KM_BASE].value, 5);
	ck_assert_ldouble_eq(c.compare->rows[0].sides[KM_CHANGED].value, 8);
	end(&c);
	c = (struct compared){ .counts = { 0 } };
	add(&c, 0, &a);
	add(&c, 1, &a);
	expect_run(&c, &(struct km_compare_options){ .axis = KM_RUN_SITES, .metric = KM_METRIC_LIVE_COUNT });
	ck_assert_uint_eq(c.compare->rows_count, 3);
	ck_assert_uint_eq(c.compare->unnamed_count, 0);
	end(&c);
	free(symbols);
}
END_TEST

static void add_noisy(struct compared *c, unsigned side, unsigned live_of_first, unsigned live_of_second)
{
	struct built_site sites[] = { { .function = 0, .live = live_of_first },
				      { .function = 1, .live = live_of_second },
				      { .function = 2, .live = 5 } };
	struct built_trace trace = { .sites = sites, .sites_count = 3 };

	add(c, side, &trace);
}

START_TEST(repeated_runs)
{
	static const unsigned first[2][5] = { { 10, 12, 11, 13, 12 }, { 30, 31, 29, 35, 32 } };
	static const unsigned second[2][5] = { { 10, 20, 30, 40, 50 }, { 12, 22, 28, 42, 52 } };
	struct compared c = { .counts = { 0 } };
	const struct km_compare_row *row;

	for (unsigned i = 0; i < 5; i++) {
		add_noisy(&c, 0, first[0][i], second[0][i]);
		add_noisy(&c, 1, first[1][i], second[1][i]);
	}
	expect_run(&c, &(struct km_compare_options){ .axis = KM_RUN_SITES, .metric = KM_METRIC_LIVE_COUNT });
	ck_assert(c.compare->is_repeated && c.compare->is_testable);
	row = find(c.compare, "kernel_fn_00+0x10");
	ck_assert_ldouble_eq(row->sides[KM_BASE].value, 12);
	ck_assert_ldouble_eq(row->sides[KM_BASE].lowest, 10);
	ck_assert_ldouble_eq(row->sides[KM_BASE].highest, 13);
	ck_assert_ldouble_eq(row->sides[KM_CHANGED].value, 31);
	ck_assert(row->is_tested && row->is_significant);
	/* All five of one side are over the other's: 2/252. Two rows vary: twice the p of the t-test over one. */
	ck_assert_double_eq_tol(row->p_rank, 2.0 / 252, 1e-12);
	ck_assert(row->p > 0 && row->p < 1e-4);
	ck_assert_double_eq_tol(row->p_adjusted, 2 * row->p, 1e-12);
	row = find(c.compare, "kernel_fn_01+0x10");
	ck_assert(row->is_tested && !row->is_significant);
	row = find(c.compare, "kernel_fn_02+0x10");
	ck_assert(!row->is_tested && !row->is_significant);
	ck_assert_uint_eq(c.compare->tested_count, 2);
	ck_assert_uint_eq(c.compare->significant_count, 1);
	expect_sums(c.compare);
	end(&c);
}
END_TEST

START_TEST(few_runs)
{
	struct compared c = { .counts = { 0 } };

	for (unsigned i = 0; i < 3; i++) {
		add_noisy(&c, 0, 10 + i, 1);
		add_noisy(&c, 1, 30 + i, 1);
	}
	add_noisy(&c, 1, 33, 1);
	expect_run(&c, &(struct km_compare_options){ .axis = KM_RUN_SITES, .metric = KM_METRIC_LIVE_COUNT });
	ck_assert(c.compare->is_repeated && !c.compare->is_testable);
	ck_assert_uint_eq(c.compare->tested_count, 0);
	ck_assert_str_eq(c.compare->warnings[c.compare->warnings_count - 1].code, "runs_few");
	ck_assert_ptr_nonnull(strstr(c.compare->warnings[c.compare->warnings_count - 1].text, "at least 4"));
	/* Of an even number the mean of the middle ones, as a whole number. */
	ck_assert_ldouble_eq(find(c.compare, "kernel_fn_00+0x10")->sides[KM_CHANGED].value, 31);
	end(&c);
}
END_TEST

START_TEST(normalised)
{
	struct built_trace a = some_trace(), b = some_trace();
	struct compared c = { .counts = { 0 } };

	a.duration_ns = 2000000000;
	b.duration_ns = 4000000000;
	add(&c, 0, &a);
	add(&c, 1, &b);
	expect_run(&c, &(struct km_compare_options){
			       .axis = KM_RUN_SITES, .metric = KM_METRIC_ALLOCS_COUNT, .per = KM_PER_SECOND });
	ck_assert_ldouble_eq(find(c.compare, "kernel_fn_00+0x10")->sides[KM_BASE].value, 4);
	ck_assert_ldouble_eq(find(c.compare, "kernel_fn_00+0x10")->sides[KM_CHANGED].value, 2);
	ck_assert_uint_eq(c.compare->warnings_count, 0);
	km_compare_free(c.compare);
	expect_run(&c, &(struct km_compare_options){ .axis = KM_RUN_SITES, .metric = KM_METRIC_ALLOCS_COUNT });
	ck_assert_str_eq(c.compare->warnings[0].code, "durations_differ");
	km_compare_free(c.compare);
	c.ops[0] = 8;
	c.ops[1] = 4;
	expect_run(&c, &(struct km_compare_options){
			       .axis = KM_RUN_SITES, .metric = KM_METRIC_ALLOCS_COUNT, .per = KM_PER_OP });
	ck_assert_ldouble_eq(find(c.compare, "kernel_fn_00+0x10")->sides[KM_BASE].value, 1);
	ck_assert_ldouble_eq(find(c.compare, "kernel_fn_00+0x10")->sides[KM_CHANGED].value, 2);
	km_compare_free(c.compare);
	expect_run(&c, &(struct km_compare_options){
			       .axis = KM_RUN_SITES, .metric = KM_METRIC_ALLOCS_COUNT, .per = KM_PER_EVENT });
	ck_assert_ldouble_eq_tol(c.compare->before, 1, 1e-15L);
	end(&c);
}
END_TEST

START_TEST(what_can_not_be_compared)
{
	struct built_trace a = some_trace(), filtered = some_trace(), first = some_trace(), second = some_trace();
	struct compared c = { .counts = { 0 } };

	filtered.cache = "filp";
	add(&c, 0, &a);
	add(&c, 1, &filtered);
	ck_assert_int_eq(run(&c, &(struct km_compare_options){ .axis = KM_RUN_SITES }), -EINVAL);
	ck_assert_ptr_nonnull(strstr(c.error.text, "filters"));
	end(&c);
	/* Windows are of different times on purpose. */
	first.time = ",50%";
	second.time = "50%,";
	c = (struct compared){ .counts = { 0 } };
	add(&c, 0, &first);
	add(&c, 1, &second);
	ck_assert_int_eq(run(&c, &(struct km_compare_options){ .axis = KM_RUN_SITES }), -EINVAL);
	c.error = (struct km_error){ 0 };
	expect_run(&c, &(struct km_compare_options){ .axis = KM_RUN_SITES, .are_windows = true });
	km_compare_free(c.compare);
	c.compare = NULL;
	/* How long a saved window is nobody knows. */
	ck_assert_int_eq(
		run(&c,
		    &(struct km_compare_options){ .axis = KM_RUN_SITES, .per = KM_PER_SECOND, .are_windows = true }),
		-EINVAL);
	end(&c);
	/* Groups of different fields; for sites that does not matter. */
	first = some_trace();
	first.by = "comm";
	c = (struct compared){ .counts = { 0 } };
	add(&c, 0, &first);
	add(&c, 1, &a);
	ck_assert_int_eq(run(&c, &(struct km_compare_options){ .axis = KM_RUN_GROUPS }), -EINVAL);
	c.error = (struct km_error){ 0 };
	expect_run(&c, &(struct km_compare_options){ .axis = KM_RUN_SITES });
	end(&c);
}
END_TEST

/* Untraced frees are no bounds here; holes and overflow are. */
START_TEST(bounds)
{
	static const struct built_site sites[] = { { .function = 0, .live = 4, .freed = 1, .untraced = 2 } };
	struct built_trace a = { .sites = sites, .sites_count = 1 }, lost = a, full = a;
	const struct km_compare_number *number;
	struct compared c = { .counts = { 0 } };

	lost.lost = 7;
	full.objects = 2;
	add(&c, 0, &a);
	add(&c, 1, &lost);
	expect_run(&c, &(struct km_compare_options){ .axis = KM_RUN_SITES, .metric = KM_METRIC_LIVE_COUNT });
	number = c.compare->rows[0].sides;
	ck_assert_int_eq(number[KM_BASE].live_is, KM_LIVE_UPPER_BOUND);
	ck_assert_ldouble_eq(number[KM_BASE].min, 4);
	ck_assert_ldouble_eq(number[KM_BASE].max, 4);
	ck_assert_int_eq(number[KM_CHANGED].live_is, KM_LIVE_UNCERTAIN);
	ck_assert(number[KM_CHANGED].max_is_unknown);
	ck_assert_ldouble_eq(number[KM_CHANGED].min, 0);
	end(&c);
	c = (struct compared){ .counts = { 0 } };
	add(&c, 0, &a);
	add(&c, 1, &full);
	expect_run(&c, &(struct km_compare_options){ .axis = KM_RUN_SITES, .metric = KM_METRIC_LIVE_COUNT });
	number = c.compare->rows[0].sides;
	ck_assert(!number[KM_CHANGED].max_is_unknown);
	ck_assert_ldouble_eq(number[KM_CHANGED].min, number[KM_CHANGED].value);
	ck_assert(number[KM_CHANGED].max >= 4);
	ck_assert_str_eq(c.compare->warnings[0].code, "overflow");
	end(&c);
}
END_TEST

/* Medians of numbers and of their bounds, against sorting by hand; unknown is more than any number. */
START_TEST(summaries)
{
	uint64_t random = 11;

	for (unsigned round = 0; round < 2000; round++) {
		struct km_compare_sample samples[9] = { { 0 } };
		size_t count = 1 + naive_random(&random) % 9, at_most = 0, at_least = 0, unknown = 0;
		struct km_compare_number number;

		for (size_t i = 0; i < count; i++) {
			samples[i].value = naive_random(&random) % 20;
			samples[i].min = samples[i].value - (long double)(naive_random(&random) % 3);
			samples[i].max = samples[i].value + (long double)(naive_random(&random) % 3);
			samples[i].max_is_unknown = naive_random(&random) % 4 == 0;
			samples[i].is_there = true;
			unknown += samples[i].max_is_unknown;
		}
		number = km_compare_summarise(samples, count, false);
		for (size_t i = 0; i < count; i++) {
			at_most += samples[i].value <= number.value;
			at_least += samples[i].value >= number.value;
			ck_assert(samples[i].value >= number.lowest && samples[i].value <= number.highest);
		}
		ck_assert(at_most * 2 >= count && at_least * 2 >= count);
		ck_assert_int_eq(number.max_is_unknown, unknown > count - 1 - count / 2);
		ck_assert(number.min <= number.value);
		ck_assert(number.max_is_unknown || number.max >= number.value);
		ck_assert_uint_eq(number.runs_count, count);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		itself,     one_site_multiplied, new_and_gone, other_kernel, one_name_in_two_modules,
		no_symbols, repeated_runs,       few_runs,     normalised,   what_can_not_be_compared,
		bounds,     summaries,           NULL
	};

	return km_test_main("compare", tests, 120);
}
