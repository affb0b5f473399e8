/* SPDX-License-Identifier: GPL-2.0-only */
#include "gate_lookup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "built_run.h"
#include "testing.h"
#include "trace_writer.h"

/* Live bytes: 128 and 64 of kernel_fn_00, 2048 of kernel_fn_01 in filp, 1024 of the module. */
static const struct built_site some_sites[] = {
	{ .function = 0, .offset = 0x10, .live = 2, .freed = 5, .bytes = 64 },
	{ .function = 0, .offset = 0x20, .live = 1, .freed = 1, .bytes = 64 },
	{ .function = 1, .offset = 0x10, .live = 2, .freed = 4, .bytes = 1024, .cache = "filp" },
	{ .function = 2, .offset = 0x10, .live = 0, .freed = 9, .bytes = 32 },
	{ .function = TW_FUNCTIONS_KERNEL, .offset = 0x10, .live = 4, .freed = 2, .bytes = 256 },
};

static struct built_trace some_trace(void)
{
	return (struct built_trace){ .sites = some_sites, .sites_count = sizeof(some_sites) / sizeof(some_sites[0]) };
}

static struct km_gate_rules parse(const char *text)
{
	struct km_gate_rules rules = { 0 };
	struct km_error error = { 0 };

	ck_assert_msg(!km_gate_rules_add(&rules, text, &error), "%s", error.text);
	return rules;
}

/* One rule on one run. */
static struct km_gate_outcome judge(const struct km_run *run, const char *text, struct km_suppressions *suppressions)
{
	struct km_gate_rules rules = parse(text);
	struct km_gate_outcomes outcomes;
	struct km_gate_outcome outcome;
	struct km_error error = { 0 };

	ck_assert_msg(!km_gate_judge_run(run, &rules, suppressions, &outcomes, &error), "%s", error.text);
	ck_assert_uint_eq(outcomes.count, 1);
	ck_assert_int_eq(outcomes.verdict, outcomes.items[0].verdict.result);
	outcome = outcomes.items[0];
	km_gate_outcomes_release(&outcomes);
	km_gate_rules_release(&rules);
	return outcome;
}

START_TEST(names)
{
	static const struct {
		const char *rule;
		unsigned value;
	} cases[] = {
		{ "live_bytes>0", 3264 },
		{ "live_count>0", 9 },
		{ "alloc_events_count>0", 30 },
		{ "function:kernel_fn_00:live_bytes>0", 192 },
		{ "function:kernel_fn_00.isra.0:live_bytes>0", 192 },
		{ "site:kernel_fn_00:live_bytes>0", 192 },
		{ "site:kernel_fn_00+0x10:live_bytes>0", 128 },
		{ "site:kernel_fn_00+0x20:live_bytes>0", 64 },
		{ "site:mod_fn_48+0x10:live_bytes>0", 1024 },
		{ "site:mod_fn_48+0x10 [leaky]:live_bytes>0", 1024 },
		{ "module:leaky:live_bytes>0", 1024 },
		{ "module:vmlinux:live_bytes>0", 2240 },
		{ "cache:filp:live_bytes>0", 2048 },
		{ "cache:filp:live_count>0", 2 },
		{ "cache:kmalloc-64:live_bytes>0", 192 },
		{ "function:kernel_fn_02:total_allocated_bytes>0", 288 },
	};
	struct built_trace trace = some_trace();
	struct km_run *run = built_run(&trace);
	char text[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct km_gate_outcome outcome = judge(run, cases[i].rule, NULL);

		ck_assert_msg(outcome.verdict.value == cases[i].value, "%s: %Lf", cases[i].rule, outcome.verdict.value);
		ck_assert_msg(outcome.verdict.result == KM_GATE_FAIL, "%s", cases[i].rule);
	}
	snprintf(text, sizeof(text), "site:0x%lx:live_bytes>64", (unsigned long)tw_function(8, 0) + 0x20);
	ck_assert_ldouble_eq(judge(run, text, NULL).verdict.value, 64);
	ck_assert_int_eq(judge(run, text, NULL).verdict.result, KM_GATE_PASS);
	km_run_release(run);
}
END_TEST

START_TEST(mistakes)
{
	static const struct {
		const char *rule, *says;
	} cases[] = {
		{ "function:nosuch:live_bytes>0", "no function \"nosuch\"" },
		{ "site:kernel_fn_00+0x11:live_bytes>0", "no call site" },
		{ "site:kernel_fn_00+0x1:live_bytes>0", "no call site" },
		{ "site:0x10:live_bytes>0", "no call site" },
		{ "module:lea:live_bytes>0", "no module" },
		{ "cache:fil:live_bytes>0", "put a ? behind the name" },
		{ "live_bytes>+5%", "relative to a base" },
	};
	struct built_trace trace = some_trace();
	struct km_run *run = built_run(&trace);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct km_gate_rules rules = parse(cases[i].rule);
		struct km_gate_outcomes outcomes;
		struct km_error error = { 0 };

		ck_assert_int_eq(km_gate_judge_run(run, &rules, NULL, &outcomes, &error), -EINVAL);
		ck_assert_msg(strstr(error.text, cases[i].says), "%s: %s", cases[i].rule, error.text);
		km_gate_rules_release(&rules);
	}
	ck_assert(!judge(run, "cache:fil?:live_bytes>0", NULL).verdict.has_value);
	ck_assert_int_eq(judge(run, "cache:fil?:live_bytes>0", NULL).verdict.result, KM_GATE_PASS);
	km_run_release(run);
}
END_TEST

START_TEST(suppressed)
{
	static const struct {
		const char *line, *rule;
		unsigned value;
		size_t left_out;
	} cases[] = {
		{ "function:kernel_fn_00 known", "live_bytes>0", 3072, 2 },
		{ "function:kernel_fn_00 known", "function:kernel_fn_00:live_bytes>0", 0, 2 },
		{ "function:kernel_fn_00 known", "function:kernel_fn_01:live_bytes>0", 2048, 0 },
		{ "site:kernel_fn_00+0x20 known", "function:kernel_fn_00:live_bytes>0", 128, 1 },
		{ "module:leaky known", "live_bytes>0", 2240, 1 },
		{ "cache:filp known", "live_bytes>0", 1216, 1 },
		{ "cache:filp known", "cache:filp:live_bytes>0", 0, 1 },
		{ "cache:filp known", "cache:kmalloc-64:live_bytes>0", 192, 0 },
		{ "function:kernel_fn_00 known", "cache:kmalloc-64:live_bytes>0", 192, 0 },
		{ "module:leaky max=1024 known", "live_bytes>0", 2240, 1 },
		{ "module:leaky max=1023 known", "live_bytes>0", 3264, 0 },
		{ "function:nosuch known", "live_bytes>0", 3264, 0 },
		/* What the peak of the whole would be without it is not known. */
		{ "module:leaky known", "peak_live_bytes>0", 3520, 0 },
	};
	struct built_trace trace = some_trace();
	struct km_run *run = built_run(&trace);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct km_suppressions list = { 0 };
		struct km_gate_outcome outcome;

		ck_assert_int_eq(km_suppress_add(&list, cases[i].line, NULL), 0);
		outcome = judge(run, cases[i].rule, &list);
		ck_assert_msg(outcome.verdict.value == cases[i].value, "%s, %s: %Lf", cases[i].line, cases[i].rule,
			      outcome.verdict.value);
		ck_assert_uint_eq(outcome.suppressed_count, cases[i].left_out);
		ck_assert_int_eq(list.items[0].used_count > 0,
				 strstr(cases[i].line, "nosuch") == NULL && strstr(cases[i].line, "1023") == NULL);
		ck_assert_int_eq(list.items[0].exceeded_count > 0, strstr(cases[i].line, "1023") != NULL);
		km_suppress_release(&list);
	}
	km_run_release(run);
}
END_TEST

/* In a report what is not traced, lost or overflowed makes live numbers bounds, and cumulative ones never. */
START_TEST(evidence)
{
	static const struct built_site untraced[] = {
		{ .function = 0, .live = 4, .freed = 1, .untraced = 1 },
		{ .function = 1, .live = 2, .freed = 1, .bytes = 4096 },
	};
	struct built_trace a = { .sites = untraced, .sites_count = 2 }, lost = a, full = a;
	struct km_run *run = built_run(&a);

	ck_assert_int_eq(judge(run, "function:kernel_fn_00:live_count>3", NULL).verdict.result, KM_GATE_UNDECIDED);
	ck_assert_int_eq(judge(run, "function:kernel_fn_00:live_count>4", NULL).verdict.result, KM_GATE_PASS);
	ck_assert_ptr_nonnull(
		strstr(judge(run, "function:kernel_fn_00:live_count>3", NULL).verdict.cause, "frees are traced"));
	ck_assert_int_eq(judge(run, "function:kernel_fn_01:live_count>1", NULL).verdict.result, KM_GATE_FAIL);
	/* Of what may be gone the oldest is no older. */
	ck_assert_int_eq(judge(run, "function:kernel_fn_00:oldest_age_ns>1h", NULL).verdict.result, KM_GATE_PASS);
	ck_assert_int_eq(judge(run, "function:kernel_fn_00:oldest_age_ns>1ms", NULL).verdict.result, KM_GATE_UNDECIDED);
	ck_assert_int_eq(judge(run, "function:kernel_fn_00:newest_age_ns>1ms", NULL).verdict.result, KM_GATE_FAIL);
	ck_assert_int_eq(judge(run, "function:kernel_fn_00:newest_age_ns>1h", NULL).verdict.result, KM_GATE_UNDECIDED);
	/* The whole holds at least what is known of the second site. */
	ck_assert_int_eq(judge(run, "live_bytes>8191", NULL).verdict.result, KM_GATE_FAIL);
	ck_assert_int_eq(judge(run, "live_bytes>8192", NULL).verdict.result, KM_GATE_UNDECIDED);
	ck_assert_int_eq(judge(run, "function:kernel_fn_00:allocs_count>6", NULL).verdict.result, KM_GATE_FAIL);
	ck_assert_int_eq(judge(run, "function:kernel_fn_00:allocs_count>7", NULL).verdict.result, KM_GATE_PASS);
	km_run_release(run);
	lost.lost = 3;
	run = built_run(&lost);
	ck_assert_int_eq(judge(run, "live_count>100", NULL).verdict.result, KM_GATE_UNDECIDED);
	ck_assert_ptr_nonnull(strstr(judge(run, "live_count>100", NULL).verdict.cause, "events were lost"));
	ck_assert_int_eq(judge(run, "alloc_events_count>100", NULL).verdict.result, KM_GATE_PASS);
	km_run_release(run);
	/* What is lost before the first event can not have been born in the trace. */
	lost.lost = 0;
	lost.start_lost = true;
	run = built_run(&lost);
	ck_assert(run->flags[KM_START_LOST] && !run->flags[KM_HOLES]);
	ck_assert_int_eq(judge(run, "function:kernel_fn_01:live_count>1", NULL).verdict.result, KM_GATE_FAIL);
	ck_assert_int_eq(judge(run, "function:kernel_fn_01:live_count>2", NULL).verdict.result, KM_GATE_PASS);
	km_run_release(run);
	full.objects = 2;
	run = built_run(&full);
	ck_assert_int_eq(judge(run, "function:kernel_fn_01:live_bytes>1", NULL).verdict.result, KM_GATE_UNDECIDED);
	ck_assert_int_eq(judge(run, "function:kernel_fn_01:allocs_count>2", NULL).verdict.result, KM_GATE_FAIL);
	km_run_release(run);
}
END_TEST

struct sides {
	struct km_run *runs[2][8];
	size_t counts[2];
	struct km_compare *compare;
};

static void compare(struct sides *s)
{
	struct km_compare_side base = { .runs = s->runs[0], .count = s->counts[0] };
	struct km_compare_side changed = { .runs = s->runs[1], .count = s->counts[1] };
	struct km_error error = { 0 };

	ck_assert_msg(!km_compare_run(&base, &changed, &(struct km_compare_options){ .axis = KM_RUN_SITES },
				      &s->compare, &error),
		      "%s", error.text);
}

static void end(struct sides *s)
{
	km_compare_free(s->compare);
	for (unsigned side = 0; side < 2; side++) {
		for (size_t i = 0; i < s->counts[side]; i++)
			km_run_release(s->runs[side][i]);
	}
}

static struct km_gate_outcome judge_both(const struct km_compare *compare_, const char *text,
					 struct km_suppressions *suppressions)
{
	struct km_gate_rules rules = parse(text);
	struct km_gate_outcomes outcomes;
	struct km_gate_outcome outcome;
	struct km_error error = { 0 };

	ck_assert_msg(!km_gate_judge_compare(compare_, &rules, suppressions, &outcomes, &error), "%s", error.text);
	outcome = outcomes.items[0];
	ck_assert(outcomes.is_comparison);
	km_gate_outcomes_release(&outcomes);
	km_gate_rules_release(&rules);
	return outcome;
}

START_TEST(comparisons)
{
	struct built_trace a = some_trace(), b = some_trace();
	struct sides s = { .counts = { 1, 1 } };
	static const struct {
		const char *rule;
		unsigned base, value;
		enum km_gate_result result;
	} cases[] = {
		{ "live_bytes>+5%", 3264, 3456, KM_GATE_FAIL },
		{ "live_bytes>+6%", 3264, 3456, KM_GATE_PASS },
		{ "live_bytes>+5%,+1K", 3264, 3456, KM_GATE_PASS },
		{ "live_bytes>3456", 3264, 3456, KM_GATE_PASS },
		{ "live_bytes>3455", 3264, 3456, KM_GATE_FAIL },
		{ "site:kernel_fn_00+0x10:live_bytes>+100", 128, 256, KM_GATE_FAIL },
		{ "site:kernel_fn_00+0x20:live_bytes>+0", 64, 128, KM_GATE_FAIL },
		{ "function:kernel_fn_00:live_bytes>+100%", 192, 384, KM_GATE_PASS },
		{ "cache:kmalloc-64:live_count>+2", 3, 6, KM_GATE_FAIL },
		{ "module:leaky:live_bytes>+0", 1024, 1024, KM_GATE_PASS },
	};
	struct built_site sites[6];

	/* The second has kernel_fn_00's objects twice. */
	memcpy(sites, some_sites, sizeof(some_sites));
	sites[0].live *= 2;
	sites[1].live *= 2;
	b.sites = sites;
	s.runs[0][0] = built_run(&a);
	s.runs[1][0] = built_run(&b);
	compare(&s);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct km_gate_outcome outcome = judge_both(s.compare, cases[i].rule, NULL);

		ck_assert_msg(outcome.base.value == cases[i].base && outcome.now.value == cases[i].value,
			      "%s: %Lf, %Lf", cases[i].rule, outcome.base.value, outcome.now.value);
		ck_assert_msg(outcome.verdict.result == cases[i].result, "%s", cases[i].rule);
	}
	end(&s);
}
END_TEST

/* What both sides miss alike decides; what one of them lost does not. */
START_TEST(comparisons_of_bounds)
{
	static const struct built_site untraced[] = { { .function = 0, .live = 4, .freed = 1, .untraced = 1 } };
	struct built_trace a = { .sites = untraced, .sites_count = 1 }, lost = a;
	struct sides s = { .counts = { 1, 1 } };
	struct km_gate_outcome outcome;

	s.runs[0][0] = built_run(&a);
	s.runs[1][0] = built_run(&a);
	compare(&s);
	ck_assert_int_eq(judge_both(s.compare, "live_bytes>+5%", NULL).verdict.result, KM_GATE_PASS);
	ck_assert_int_eq(judge_both(s.compare, "live_count>3", NULL).verdict.result, KM_GATE_FAIL);
	end(&s);
	lost.lost = 5;
	s = (struct sides){ .counts = { 1, 1 } };
	s.runs[0][0] = built_run(&lost);
	s.runs[1][0] = built_run(&a);
	compare(&s);
	outcome = judge_both(s.compare, "live_bytes>+5%", NULL);
	ck_assert_int_eq(outcome.verdict.result, KM_GATE_UNDECIDED);
	ck_assert_ptr_nonnull(strstr(outcome.verdict.cause, "base: events were lost"));
	ck_assert_ptr_null(strstr(outcome.verdict.cause, "new:"));
	/* The base is nothing to an absolute rule, and loss nothing to what was counted. */
	ck_assert_int_eq(judge_both(s.compare, "live_count>4", NULL).verdict.result, KM_GATE_PASS);
	ck_assert_int_eq(judge_both(s.compare, "alloc_events_count>+0", NULL).verdict.result, KM_GATE_PASS);
	end(&s);
}
END_TEST

START_TEST(comparisons_of_kernels)
{
	struct built_trace a = some_trace(), b = some_trace();
	struct sides s = { .counts = { 1, 1 } };
	char text[128];

	a.uname = "Linux a 5.10.0 x86_64";
	b.uname = "Linux a 6.12.0 x86_64";
	s.runs[0][0] = built_run(&a);
	s.runs[1][0] = built_run(&b);
	compare(&s);
	/* Offsets and addresses say nothing between kernels: it is about the function. */
	ck_assert_ldouble_eq(judge_both(s.compare, "site:kernel_fn_00+0x10:live_bytes>+0", NULL).verdict.value, 192);
	snprintf(text, sizeof(text), "site:0x%lx:live_bytes>+0", (unsigned long)tw_function(8, 0) + 0x20);
	ck_assert_ldouble_eq(judge_both(s.compare, text, NULL).verdict.value, 192);
	end(&s);
}
END_TEST

START_TEST(repeated)
{
	struct sides s = { .counts = { 4, 4 } };
	struct km_suppressions list = { 0 };
	struct km_gate_rules rules = { 0 };
	struct km_gate_outcomes outcomes;

	for (unsigned i = 0; i < 4; i++) {
		struct built_site sites[] = { { .function = 0, .live = 10 + i },
					      { .function = 1, .live = 5 + 10 * i } };
		struct built_trace trace = { .sites = sites, .sites_count = 2 };

		s.runs[0][i] = built_run(&trace);
		sites[0].live = 20 + i;
		sites[1].live = 6 + 11 * i;
		s.runs[1][i] = built_run(&trace);
	}
	compare(&s);
	ck_assert_int_eq(km_gate_rules_add(&rules, "function:kernel_fn_00:live_count>+5%", NULL), 0);
	ck_assert_int_eq(km_gate_rules_add(&rules, "function:kernel_fn_01:live_count>+5%", NULL), 0);
	ck_assert_int_eq(km_gate_rules_add(&rules, "function:kernel_fn_01:live_count>1", NULL), 0);
	ck_assert_int_eq(km_gate_judge_compare(s.compare, &rules, NULL, &outcomes, NULL), 0);
	/* Two relative rules were asked of: 2/70, corrected for two. */
	ck_assert_double_eq_tol(outcomes.items[0].p, 4.0 / 70, 1e-12);
	ck_assert_int_eq(outcomes.items[0].verdict.result, KM_GATE_PASS);
	ck_assert_int_eq(outcomes.items[1].verdict.result, KM_GATE_PASS);
	ck_assert_ptr_nonnull(strstr(outcomes.items[1].verdict.cause, "within the noise"));
	ck_assert_int_eq(outcomes.items[2].verdict.result, KM_GATE_FAIL);
	ck_assert(!outcomes.items[2].is_tested);
	km_gate_outcomes_release(&outcomes);
	km_gate_rules_release(&rules);
	ck_assert_int_eq(judge_both(s.compare, "function:kernel_fn_00:live_count>+5%", NULL).verdict.result,
			 KM_GATE_FAIL);
	/* A limit of a suppression is held against the largest of all runs. */
	ck_assert_int_eq(km_suppress_add(&list, "function:kernel_fn_00 max=1K", NULL), 0);
	ck_assert_int_eq(judge_both(s.compare, "function:kernel_fn_00:live_count>+5%", &list).verdict.result,
			 KM_GATE_FAIL);
	ck_assert_uint_eq(list.items[0].exceeded_count, 1);
	km_suppress_release(&list);
	ck_assert_int_eq(km_suppress_add(&list, "function:kernel_fn_00 max=2K", NULL), 0);
	ck_assert_int_eq(judge_both(s.compare, "function:kernel_fn_00:live_count>+5%", &list).verdict.result,
			 KM_GATE_PASS);
	ck_assert_uint_eq(list.items[0].used_count, 1);
	km_suppress_release(&list);
	end(&s);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		names,    mistakes, suppressed, evidence, comparisons, comparisons_of_bounds, comparisons_of_kernels,
		repeated, NULL
	};

	return km_test_main("gate_lookup", tests, 120);
}
