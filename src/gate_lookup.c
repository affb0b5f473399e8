/* SPDX-License-Identifier: GPL-2.0-only */
#include "gate_lookup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rank_test.h"
#include "symbols.h"
#include "tuples.h"

/* The runs that rules are asked of, whatever they come from: those of the base first. */
struct judge {
	const struct km_run **runs;
	long double *divisors;
	size_t counts[KM_SIDES]; /* base: 0 for a report */
	size_t runs_count;
	bool is_strict; /* untraced frees make bounds too */
	bool is_whole;
	bool by_symbol; /* offsets and addresses mean the same in all runs */
	bool is_testable;
	struct km_tuples left_out; /* addresses of rows that are suppressed */
	bool has_left_out;
	struct km_compare_sample *samples;
	double *values;
};

static int out_of_memory(struct km_error *error)
{
	return km_error_set(error, -ENOMEM, "out of memory");
}

/* --- suppressions --- */

static uint64_t row_key(const struct km_run_row *row)
{
	return (uint64_t)(uintptr_t)row;
}

static bool is_left_out(const struct judge *j, const struct km_run_row *row)
{
	uint64_t key = row_key(row);

	return j->has_left_out && km_tuples_find(&j->left_out, &key) != KM_TUPLES_NONE;
}

/*
 * One row of one run. Who is the same in an earlier run shares its lot: a
 * limit (max=) is held against the largest of all runs.
 */
static bool suppress_row(struct judge *j, struct km_suppressions *list, enum km_run_axis axis, size_t at,
			 const struct km_run_row *row)
{
	uint64_t most = row->values[KM_METRIC_LIVE_BYTES].value;

	for (size_t i = 0; i < j->runs_count; i++) {
		const struct km_run_row *same = i == at ? NULL : km_run_find(j->runs[i], axis, row);

		if (same && i < at)
			return is_left_out(j, same);
		if (same && same->values[KM_METRIC_LIVE_BYTES].value > most)
			most = same->values[KM_METRIC_LIVE_BYTES].value;
	}
	return km_suppress_matches(list, axis, row, most);
}

static int suppress(struct judge *j, struct km_suppressions *list, struct km_error *error)
{
	static const enum km_run_axis axes[] = { KM_RUN_SITES, KM_RUN_CACHES };

	for (size_t a = 0; list && list->count && a < sizeof(axes) / sizeof(axes[0]); a++) {
		for (size_t i = 0; i < j->runs_count; i++) {
			for (size_t k = 0; k < j->runs[i]->axes[axes[a]].count; k++) {
				const struct km_run_row *row = j->runs[i]->axes[axes[a]].rows[k];
				uint64_t key = row_key(row);
				bool is_new;

				if (!suppress_row(j, list, axes[a], i, row))
					continue;
				j->has_left_out = true;
				if (km_tuples_add(&j->left_out, &key, &is_new) == KM_TUPLES_NONE)
					return out_of_memory(error);
			}
		}
	}
	return 0;
}

/* --- what a rule names --- */

struct subject {
	const struct km_gate_rule *rule;
	enum km_run_axis axis;
	bool is_address;
	uint64_t address;
	const char *offset; /* in name: "+0x1f..."; NULL: none, or it says nothing */
	char function[KM_GATE_TEXT_BYTES];
};

static bool parse_address(const char *text, uint64_t *ret_address)
{
	char *end;

	if (strncmp(text, "0x", 2) != 0)
		return false;
	errno = 0;
	*ret_address = strtoull(text, &end, 16);
	return !errno && !*end && text[2];
}

/* In kernels that differ an address is only a way to say which function is meant. */
static const char *function_at(const struct judge *j, uint64_t address)
{
	for (size_t i = j->runs_count; i-- > 0;) {
		for (size_t k = 0; k < j->runs[i]->axes[KM_RUN_SITES].count; k++) {
			const struct km_run_row *row = j->runs[i]->axes[KM_RUN_SITES].rows[k];

			if (row->has_address && row->address == address)
				return row->function;
		}
	}
	return NULL;
}

static void make_subject(const struct judge *j, const struct km_gate_rule *rule, struct subject *subject)
{
	const char *offset = strstr(rule->name, "+0x");
	size_t bytes = offset ? (size_t)(offset - rule->name) : strlen(rule->name);

	*subject =
		(struct subject){ .rule = rule, .axis = rule->target == KM_GATE_CACHE ? KM_RUN_CACHES : KM_RUN_SITES };
	if (rule->target != KM_GATE_SITE && rule->target != KM_GATE_FUNCTION)
		return;
	subject->is_address = rule->target == KM_GATE_SITE && parse_address(rule->name, &subject->address);
	if (rule->target == KM_GATE_SITE && offset && j->by_symbol)
		subject->offset = offset;
	bytes = km_symbols_plain_bytes(rule->name, bytes);
	snprintf(subject->function, sizeof(subject->function), "%.*s", (int)bytes, rule->name);
	if (subject->is_address && !j->by_symbol) {
		const char *function = function_at(j, subject->address);

		subject->is_address = false;
		if (function)
			snprintf(subject->function, sizeof(subject->function), "%s", function);
	}
}

/* "fn.isra.0+0x1f [ext4]" by "fn.isra.0+0x1f [ext4]", "fn.isra.0+0x1f" or "fn+0x1f", with or without the module. */
static bool symbol_is(const struct subject *subject, const struct km_run_row *row)
{
	const char *offset = strstr(row->symbol, "+0x"), *name = subject->rule->name;
	size_t with_module, bare;

	if (!offset || strcmp(row->function, subject->function) != 0)
		return false;
	with_module = strlen(offset);
	bare = strcspn(offset, " ");
	if (strlen(subject->offset) != (strchr(subject->offset, ' ') ? with_module : bare) ||
	    strncmp(offset, subject->offset, strlen(subject->offset)) != 0)
		return false;
	/* A name with what GCC appended means that copy only. */
	return strlen(subject->function) == (size_t)(subject->offset - name) ||
	       !strncmp(row->symbol, name, (size_t)(subject->offset - name) + 1);
}

static bool is_meant(const struct subject *subject, const struct km_run_row *row)
{
	const char *name = subject->rule->name;

	switch (subject->rule->target) {
	case KM_GATE_CACHE:
		return !strcmp(row->cache, name);
	case KM_GATE_MODULE:
		return row->module ? !strcmp(row->module, name) : !strcmp(name, "vmlinux");
	case KM_GATE_SITE:
		if (subject->is_address)
			return row->has_address && row->address == subject->address;
		if (subject->offset)
			return row->symbol && symbol_is(subject, row);
		break;
	case KM_GATE_FUNCTION:
	case KM_GATE_TOTAL:
		break;
	}
	return row->function && !strcmp(row->function, subject->function);
}

/* The rows of one run to its sample. Returns whether there are any. */
static bool add_rows(const struct judge *j, size_t at, const struct subject *subject, struct km_gate_outcome *outcome)
{
	const struct km_run *run = j->runs[at];
	bool is_there = false;

	for (size_t k = 0; k < run->axes[subject->axis].count; k++) {
		const struct km_run_row *row = run->axes[subject->axis].rows[k];

		if (subject->rule->target != KM_GATE_TOTAL && !is_meant(subject, row))
			continue;
		is_there = true;
		if (is_left_out(j, row))
			outcome->suppressed_count++;
		else
			km_compare_add(&j->samples[at], subject->rule->metric, row, j->is_strict);
	}
	return is_there;
}

/* Without suppressions the whole is what totals say; with them, where that adds up, the sum of what is left. */
static bool is_sum(const struct judge *j, const struct km_gate_rule *rule)
{
	const struct km_metric_info *info = &km_metrics[rule->metric];

	return rule->target != KM_GATE_TOTAL || (j->has_left_out && info->is_of_rows &&
						 info->kind != KM_METRIC_IS_PEAK && info->kind != KM_METRIC_IS_AGE);
}

/* --- evidence --- */

static struct km_gate_number number_of(const struct km_compare_number *number)
{
	return (struct km_gate_number){
		.value = number->value, .min = number->min, .max = number->max, .max_is_unknown = number->max_is_unknown
	};
}

/* Why one side's number is a bound. */
static void add_cause(const struct judge *j, size_t from, size_t to, const struct km_compare_number *number,
		      const char *side, char *text, size_t bytes)
{
	size_t n = strlen(text);
	const char *why = NULL;
	bool holes = false, tail = false;

	for (size_t i = from; i < to; i++) {
		holes |= j->runs[i]->flags[KM_HOLES];
		tail |= j->runs[i]->flags[KM_TAIL_LOST];
	}
	if (number->live_is == KM_LIVE_ESTIMATED)
		why = "it is estimated from a sample";
	else if (number->max_is_unknown)
		why = holes && tail                           ? "events were lost (holes, and the tail)"
		      : tail                                  ? "events were lost at the end"
		      : holes                                 ? "events were lost (holes)"
		      : number->live_is & KM_LIVE_UPPER_BOUND ? "not all of its frees are traced"
							      : "what it really is is not known";
	else if (number->max > number->value)
		why = number->live_is & KM_LIVE_AT_LEAST ? "the table overflowed" : "its peak is not exact";
	else if (number->min < number->value)
		why = "not all of its frees are traced";
	if (why)
		snprintf(text + n, bytes - n, "%s%s%s%s", n ? "; " : "", side, *side ? ": " : "", why);
}

static int refuse(const struct km_gate_rule *rule, const char *what, struct km_error *error)
{
	return km_error_set(error, -EINVAL, "rule \"%.120s\": %s", rule->text, what);
}

static int refuse_absent(const struct judge *j, const struct km_gate_rule *rule, struct km_error *error)
{
	static const char *const kinds[] = { [KM_GATE_SITE] = "call site",
					     [KM_GATE_FUNCTION] = "function",
					     [KM_GATE_MODULE] = "module",
					     [KM_GATE_CACHE] = "cache" };

	return km_error_set(
		error, -EINVAL,
		"rule \"%.120s\": no %s \"%.120s\" allocated in %.120s%s; put a ? behind the name if it may "
		"be absent",
		rule->text, kinds[rule->target], rule->name, j->runs[j->runs_count - 1]->name,
		j->runs_count > 1 ? " or what it is compared with" : "");
}

static int check_rule(const struct judge *j, const struct km_gate_rule *rule, struct km_error *error)
{
	int r = j->counts[KM_BASE] ? 0 : km_gate_needs_no_base(rule, error);

	if (r)
		return r;
	for (size_t i = 0; i < j->runs_count && km_metrics[rule->metric].kind == KM_METRIC_IS_LEAK; i++) {
		if (rule->target == KM_GATE_CACHE)
			return refuse(rule, "verdicts are on call sites, not on caches", error);
		if (j->runs[i]->totals.values[rule->metric].is_null)
			return km_error_set(
				error, -EINVAL,
				"rule \"%.120s\": %.120s was saved without verdicts; make it again, or use the "
				"recording",
				rule->text, j->runs[i]->name);
	}
	for (size_t i = 0; i < j->runs_count && km_metrics[rule->metric].type == KM_TYPE_DURATION; i++) {
		if (!j->runs[i]->clock_is_ns)
			return refuse(rule, "the trace clock does not count ns: there are no times to hold against it",
				      error);
	}
	return 0;
}

/* The samples of all runs for a rule, and from them its evidence. */
static int collect(struct judge *j, const struct km_gate_rule *rule, struct km_gate_outcome *outcome,
		   struct km_gate_evidence *evidence, struct km_error *error)
{
	size_t base = j->counts[KM_BASE], changed = j->counts[KM_CHANGED];
	struct km_compare_number numbers[KM_SIDES] = { { 0 } };
	bool is_there = false;
	struct subject subject;

	memset(j->samples, 0, j->runs_count * sizeof(*j->samples));
	make_subject(j, rule, &subject);
	for (size_t i = 0; i < j->runs_count; i++) {
		struct km_compare_sample *sample = &j->samples[i];

		if (is_sum(j, rule)) {
			is_there |= add_rows(j, i, &subject, outcome) || rule->target == KM_GATE_TOTAL;
		} else {
			km_compare_add(sample, rule->metric, &j->runs[i]->totals, j->is_strict);
			is_there = true;
		}
		if (km_metrics[rule->metric].kind != KM_METRIC_IS_AGE) {
			sample->value /= j->divisors[i];
			sample->min /= j->divisors[i];
			sample->max /= j->divisors[i];
		}
		j->values[i] = (double)sample->value;
	}
	*evidence = (struct km_gate_evidence){ .is_absent = !is_there,
					       .is_repeated = base && base + changed > 2,
					       .is_testable = j->is_testable };
	if (!is_there)
		return rule->may_be_absent ? 0 : refuse_absent(j, rule, error);
	if (j->is_testable && km_gate_is_relative(rule)) {
		evidence->p = km_rank_test(j->values, base, j->values + base, changed);
		if (evidence->p < 0)
			return out_of_memory(error);
	}
	if (base)
		numbers[KM_BASE] = km_compare_summarise(j->samples, base, j->is_whole);
	numbers[KM_CHANGED] = km_compare_summarise(j->samples + base, changed, j->is_whole);
	evidence->base = outcome->base = number_of(&numbers[KM_BASE]);
	evidence->now = outcome->now = number_of(&numbers[KM_CHANGED]);
	if (base && km_gate_is_relative(rule))
		add_cause(j, 0, base, &numbers[KM_BASE], "base", evidence->cause, sizeof(evidence->cause));
	add_cause(j, base, j->runs_count, &numbers[KM_CHANGED], base ? "new" : "", evidence->cause,
		  sizeof(evidence->cause));
	return 0;
}

/* p of the relative rules, corrected for how many there are. */
static int correct(const struct km_gate_outcomes *outcomes, struct km_gate_evidence *evidence, struct km_error *error)
{
	double *p = calloc(outcomes->count ? outcomes->count : 1, sizeof(*p));
	size_t n = 0;
	int r;

	if (!p)
		return out_of_memory(error);
	for (size_t i = 0; i < outcomes->count; i++) {
		if (outcomes->items[i].is_tested)
			p[n++] = evidence[i].p;
	}
	r = km_rank_test_correct(p, n);
	n = 0;
	for (size_t i = 0; i < outcomes->count && !r; i++) {
		if (outcomes->items[i].is_tested)
			outcomes->items[i].p = evidence[i].p = p[n++];
	}
	free(p);
	return r ? out_of_memory(error) : 0;
}

static int judge_all(struct judge *j, const struct km_gate_rules *rules, struct km_gate_outcomes *outcomes,
		     struct km_error *error)
{
	struct km_gate_evidence *evidence = calloc(rules->count ? rules->count : 1, sizeof(*evidence));
	int r = 0;

	outcomes->items = calloc(rules->count ? rules->count : 1, sizeof(*outcomes->items));
	outcomes->count = rules->count;
	if (!evidence || !outcomes->items)
		r = out_of_memory(error);
	for (size_t i = 0; i < rules->count && !r; i++) {
		outcomes->items[i].rule = &rules->items[i];
		r = check_rule(j, &rules->items[i], error);
		if (!r)
			r = collect(j, &rules->items[i], &outcomes->items[i], &evidence[i], error);
		outcomes->items[i].is_tested =
			!r && j->is_testable && !evidence[i].is_absent && km_gate_is_relative(&rules->items[i]);
	}
	if (!r)
		r = correct(outcomes, evidence, error);
	outcomes->verdict = KM_GATE_PASS;
	for (size_t i = 0; i < rules->count && !r; i++) {
		km_gate_decide(&rules->items[i], &evidence[i], &outcomes->items[i].verdict);
		outcomes->verdict = km_gate_worse(outcomes->verdict, outcomes->items[i].verdict.result);
	}
	free(evidence);
	return r;
}

/* Runs into the judge's own arrays, suppressions and rules upon them, and all released again. */
static int judge_runs(struct judge *j, const struct km_compare_side *const *sides, long double *const *divisors,
		      const struct km_gate_rules *rules, struct km_suppressions *suppressions,
		      struct km_gate_outcomes *ret_outcomes, struct km_error *error)
{
	struct km_gate_outcomes outcomes = { .is_comparison = sides[KM_BASE] != NULL, .is_whole = j->is_whole };
	int r = 0;

	for (unsigned side = 0; side < KM_SIDES; side++)
		j->counts[side] = sides[side] ? sides[side]->count : 0;
	j->runs_count = j->counts[KM_BASE] + j->counts[KM_CHANGED];
	j->runs = calloc(j->runs_count, sizeof(struct km_run *));
	j->divisors = calloc(j->runs_count, sizeof(*j->divisors));
	j->samples = calloc(j->runs_count, sizeof(*j->samples));
	j->values = calloc(j->runs_count, sizeof(*j->values));
	km_tuples_init(&j->left_out, 1, UINT32_MAX - 1);
	if (!j->runs || !j->divisors || !j->samples || !j->values)
		r = out_of_memory(error);
	for (size_t side = 0, at = 0; side < KM_SIDES && !r; side++) {
		for (size_t i = 0; i < j->counts[side]; i++, at++) {
			j->runs[at] = sides[side]->runs[i];
			j->divisors[at] = divisors ? divisors[side][i] : 1;
		}
	}
	if (!r)
		r = suppress(j, suppressions, error);
	if (!r)
		r = judge_all(j, rules, &outcomes, error);
	km_tuples_release(&j->left_out);
	free(j->runs);
	free(j->divisors);
	free(j->samples);
	free(j->values);
	if (r)
		km_gate_outcomes_release(&outcomes);
	else
		*ret_outcomes = outcomes;
	return r;
}

int km_gate_judge_run(const struct km_run *run, const struct km_gate_rules *rules, struct km_suppressions *suppressions,
		      struct km_gate_outcomes *ret_outcomes, struct km_error *error)
{
	struct km_run *runs[] = { (struct km_run *)(uintptr_t)run };
	const struct km_compare_side side = { .runs = runs, .count = 1 };
	const struct km_compare_side *sides[KM_SIDES] = { [KM_CHANGED] = &side };
	struct judge judge = { .is_strict = true, .is_whole = true, .by_symbol = true };

	return judge_runs(&judge, sides, NULL, rules, suppressions, ret_outcomes, error);
}

int km_gate_judge_compare(const struct km_compare *compare, const struct km_gate_rules *rules,
			  struct km_suppressions *suppressions, struct km_gate_outcomes *ret_outcomes,
			  struct km_error *error)
{
	const struct km_compare_side *sides[KM_SIDES] = { &compare->sides[KM_BASE], &compare->sides[KM_CHANGED] };
	struct judge judge = { .is_whole = compare->options.per == KM_PER_NOTHING,
			       .by_symbol = compare->kernels_are_one,
			       .is_testable = compare->is_testable };

	return judge_runs(&judge, sides, compare->divisors, rules, suppressions, ret_outcomes, error);
}

void km_gate_outcomes_release(struct km_gate_outcomes *outcomes)
{
	free(outcomes->items);
	*outcomes = (struct km_gate_outcomes){ 0 };
}
