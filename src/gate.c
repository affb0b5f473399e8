/* SPDX-License-Identifier: GPL-2.0-only */
#include "gate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "lines.h"

#define MILLIONTHS 1000000

static const char *const target_names[] = { [KM_GATE_SITE] = "site:",
					    [KM_GATE_FUNCTION] = "function:",
					    [KM_GATE_MODULE] = "module:",
					    [KM_GATE_CACHE] = "cache:" };

/* --- parsing --- */

static void trim(char *text)
{
	size_t from = strspn(text, " \t"), length = strlen(text);

	while (length > from && strchr(" \t\r", text[length - 1]))
		length--;
	memmove(text, text + from, length - from);
	text[length - from] = '\0';
}

/* A "?" at the end of a text goes, and is told. */
static bool take_question(char *text)
{
	size_t length = strlen(text);

	if (!length || text[length - 1] != '?')
		return false;
	text[length - 1] = '\0';
	trim(text);
	return true;
}

/* "5" or "2.5" of "+2.5%": in millionths of the whole. */
static int parse_percent(const char *text, uint64_t *ret_millionths)
{
	uint64_t value = 0, unit = MILLIONTHS / 100;
	const char *p = text;

	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		value = value * 10 + (uint64_t)(*p - '0');
		if (value > MILLIONTHS)
			return -EINVAL;
	}
	value *= unit;
	if (*p == '.') {
		for (p++; *p >= '0' && *p <= '9' && unit >= 10; p++) {
			unit /= 10;
			value += (uint64_t)(*p - '0') * unit;
		}
	}
	*ret_millionths = value;
	return strcmp(p, "%") ? -EINVAL : 0;
}

static int parse_number(enum km_type type, const char *text, uint64_t *ret_number, struct km_error *error)
{
	switch (type) {
	case KM_TYPE_BYTES:
		return km_parse_size(text, ret_number, error);
	case KM_TYPE_DURATION:
		return km_parse_duration(text, ret_number, error);
	default:
		return km_parse_count(text, ret_number, error);
	}
}

static int parse_limit(struct km_gate_rule *rule, char *text, struct km_error *error)
{
	enum km_type type = km_metrics[rule->metric].type;
	struct km_gate_limit *limit = &rule->limits[rule->limits_count];

	trim(text);
	if (rule->limits_count == KM_GATE_LIMITS)
		return km_error_set(error, -EINVAL, "at most %d limits", KM_GATE_LIMITS);
	rule->limits_count++;
	if (!*text)
		return km_error_set(
			error, -EINVAL,
			"a limit is missing behind the >: a number such as %s, or +5%% or +%s of a comparison",
			type == KM_TYPE_BYTES      ? "10M"
			: type == KM_TYPE_DURATION ? "5s"
						   : "100",
			type == KM_TYPE_BYTES      ? "64K"
			: type == KM_TYPE_DURATION ? "1s"
						   : "10");
	limit->kind = *text == '+' ? KM_GATE_MORE : KM_GATE_ABSOLUTE;
	if (*text == '+' && text[strlen(text) - 1] == '%') {
		limit->kind = KM_GATE_PERCENT;
		if (parse_percent(text + 1, &limit->number))
			return km_parse_refuse(error, -EINVAL, text, "a percentage such as +5% or +2.5%");
		return 0;
	}
	if (text[strlen(text) - 1] == '%')
		return km_parse_refuse(error, -EINVAL, text,
				       "a limit: percent are of a base, and need a sign, as in +5%");
	return parse_number(type, text + (*text == '+'), &limit->number, error);
}

/* What stands before the operator: [TARGET:NAME:]METRIC. A name may have colons in it, a metric has none. */
static int parse_subject(struct km_gate_rule *rule, char *text, struct km_error *error)
{
	const struct km_metric_info *info;
	char *metric;

	trim(text);
	if (*text == '?') {
		rule->may_be_absent = true;
		text++;
	}
	rule->may_be_absent |= take_question(text);
	for (enum km_gate_target target = KM_GATE_SITE; target <= KM_GATE_CACHE; target++) {
		if (!strncmp(text, target_names[target], strlen(target_names[target])))
			rule->target = target;
	}
	metric = strrchr(text, ':');
	metric = metric ? metric + 1 : text;
	if (rule->target != KM_GATE_TOTAL) {
		char *name = text + strlen(target_names[rule->target]);

		if (metric == name)
			return km_error_set(error, -EINVAL, "no metric behind the name: %sNAME:METRIC>LIMIT",
					    target_names[rule->target]);
		metric[-1] = '\0';
		trim(name);
		rule->may_be_absent |= take_question(name);
		if (!*name)
			return km_error_set(error, -EINVAL, "the name behind %s is empty", target_names[rule->target]);
		snprintf(rule->name, sizeof(rule->name), "%s", name);
	} else if (metric != text) {
		return km_error_set(error, -EINVAL,
				    "\"%.80s\": a rule begins with site:, function:, module:, cache: or "
				    "a metric",
				    text);
	}
	trim(metric);
	if (!*metric)
		return km_error_set(error, -EINVAL, "no metric before the >, as in 'live_bytes>10M'");
	rule->metric = km_metric_find(metric);
	if (rule->metric == KM_METRICS)
		return km_error_set(error, -EINVAL,
				    "no metric \"%.80s\"; `kmstat compare --metric help` lists those there are",
				    metric);
	info = &km_metrics[rule->metric];
	if (rule->target != KM_GATE_TOTAL && !info->is_of_rows)
		return km_error_set(error, -EINVAL, "%s is of the whole only, not of one %.*s", info->name,
				    (int)strlen(target_names[rule->target]) - 1, target_names[rule->target]);
	if (rule->target == KM_GATE_TOTAL && !info->total_name && rule->metric != KM_METRIC_AT_PEAK_BYTES)
		return km_error_set(error, -EINVAL, "%s is of sites and caches only, not of the whole", info->name);
	return 0;
}

static int parse(char *text, struct km_gate_rule *rule, struct km_error *error)
{
	char *operator= strchr(text, '>');
	int r;

	if (strchr(text, '<') && (!operator|| strchr(text, '<') < operator))
		return km_error_set(error, -EINVAL, "a rule says what is too much: METRIC>LIMIT, there is no <");
	if (!operator)
		return km_error_set(error, -EINVAL,
				    "no limit in it; put the rule in quotes, as in --fail-on 'live_bytes>10M': without "
				    "them the shell takes the > and what follows as a file to write to");
	if (operator[1] == '=')
		return km_error_set(error, -EINVAL, "a rule is METRIC>LIMIT, there is no >=");
	*operator++ = '\0';
	trim(operator);
	if (*operator&& operator[strlen(operator) - 1] == '?')
		rule->may_be_absent = take_question(operator);
	r = parse_subject(rule, text, error);
	for (char *item = operator; item && !r;) {
		char *comma = strchr(item, ',');

		if (comma)
			*comma = '\0';
		r = parse_limit(rule, item, error);
		item = comma ? comma + 1 : NULL;
	}
	return r;
}

int km_gate_parse(const char *text, struct km_gate_rule *ret_rule, struct km_error *error)
{
	struct km_gate_rule rule = { .target = KM_GATE_TOTAL };
	struct km_error inner = { 0 };
	char copy[KM_GATE_TEXT_BYTES];

	if (strlen(text) >= sizeof(copy))
		return km_error_set(error, -EINVAL, "a rule of %zu bytes; at most %d", strlen(text),
				    KM_GATE_TEXT_BYTES - 1);
	snprintf(copy, sizeof(copy), "%s", text);
	trim(copy);
	snprintf(rule.text, sizeof(rule.text), "%s", copy);
	if (!*copy)
		return km_error_set(error, -EINVAL, "the rule is empty; one is METRIC>LIMIT, as in 'live_bytes>10M'");
	if (parse(copy, &rule, &inner))
		return km_error_set(error, -EINVAL, "rule \"%.120s\": %s", rule.text, inner.text);
	*ret_rule = rule;
	return 0;
}

bool km_gate_is_relative(const struct km_gate_rule *rule)
{
	for (size_t i = 0; i < rule->limits_count; i++) {
		if (rule->limits[i].kind != KM_GATE_ABSOLUTE)
			return true;
	}
	return false;
}

int km_gate_needs_no_base(const struct km_gate_rule *rule, struct km_error *error)
{
	if (!km_gate_is_relative(rule))
		return 0;
	return km_error_set(
		error, -EINVAL,
		"rule \"%.120s\": a limit with + is relative to a base, and needs `kmstat compare BASE NEW`",
		rule->text);
}

int km_gate_rules_add(struct km_gate_rules *rules, const char *text, struct km_error *error)
{
	struct km_gate_rule *larger;
	struct km_gate_rule rule;
	int r = km_gate_parse(text, &rule, error);

	if (r)
		return r;
	if (rules->count == KM_GATE_RULES_LIMIT)
		return km_error_set(error, -ENOSPC, "more than %d rules", KM_GATE_RULES_LIMIT);
	larger = reallocarray(rules->items, rules->count + 1, sizeof(*larger));
	if (!larger)
		return km_error_set(error, -ENOMEM, "out of memory");
	rules->items = larger;
	rules->items[rules->count++] = rule;
	return 0;
}

static int add_line(void *context, const char *line, struct km_error *error)
{
	return km_gate_rules_add(context, line, error);
}

int km_gate_rules_load(struct km_gate_rules *rules, const char *path, struct km_error *error)
{
	return km_lines_each(path, add_line, rules, error);
}

void km_gate_rules_release(struct km_gate_rules *rules)
{
	free(rules->items);
	*rules = (struct km_gate_rules){ 0 };
}

/* --- deciding --- */

const char *km_gate_result_name(enum km_gate_result result)
{
	static const char *const names[] = {
		[KM_GATE_PASS] = "pass", [KM_GATE_FAIL] = "fail", [KM_GATE_UNDECIDED] = "undecided"
	};

	return names[result];
}

enum km_gate_result km_gate_worse(enum km_gate_result a, enum km_gate_result b)
{
	if (a == KM_GATE_FAIL || b == KM_GATE_FAIL)
		return KM_GATE_FAIL;
	return a == KM_GATE_UNDECIDED || b == KM_GATE_UNDECIDED ? KM_GATE_UNDECIDED : KM_GATE_PASS;
}

/* long double holds every uint64_t; a product beyond it is off by less than one part in 10^18. */
long double km_gate_limit(const struct km_gate_rule *rule, long double base)
{
	long double largest = 0;

	for (size_t i = 0; i < rule->limits_count; i++) {
		long double number = (long double)rule->limits[i].number, limit = number;

		if (rule->limits[i].kind == KM_GATE_MORE)
			limit = base + number;
		else if (rule->limits[i].kind == KM_GATE_PERCENT)
			limit = base + base * number / MILLIONTHS;
		if (limit > largest)
			largest = limit;
	}
	return largest;
}

static enum km_gate_result decide_bounds(const struct km_gate_rule *rule, const struct km_gate_evidence *e)
{
	bool is_relative = km_gate_is_relative(rule);
	bool limit_is_known = !is_relative || !e->base.max_is_unknown;

	if (limit_is_known && e->now.min > km_gate_limit(rule, is_relative ? e->base.max : 0))
		return KM_GATE_FAIL;
	if (!e->now.max_is_unknown && e->now.max <= km_gate_limit(rule, is_relative ? e->base.min : 0))
		return KM_GATE_PASS;
	return KM_GATE_UNDECIDED;
}

void km_gate_decide(const struct km_gate_rule *rule, const struct km_gate_evidence *e, struct km_gate_verdict *ret)
{
	struct km_gate_verdict verdict = { .result = KM_GATE_PASS };

	if (e->is_absent) {
		snprintf(verdict.cause, sizeof(verdict.cause), "nothing of that name is there");
		*ret = verdict;
		return;
	}
	verdict.has_value = true;
	verdict.value = e->now.value;
	verdict.limit = km_gate_limit(rule, e->base.value);
	verdict.result = decide_bounds(rule, e);
	if (verdict.result == KM_GATE_UNDECIDED) {
		snprintf(verdict.cause, sizeof(verdict.cause), "%s", e->cause);
	} else if (verdict.result == KM_GATE_FAIL && e->is_repeated && km_gate_is_relative(rule)) {
		if (!e->is_testable) {
			verdict.result = KM_GATE_UNDECIDED;
			snprintf(verdict.cause, sizeof(verdict.cause),
				 "over the limit, but whether by chance takes at least 4 runs a side to tell");
		} else if (e->p > KM_GATE_SIGNIFICANT) {
			verdict.result = KM_GATE_PASS;
			snprintf(verdict.cause, sizeof(verdict.cause), "over the limit, but within the noise (p=%.3f)",
				 e->p);
		}
	}
	*ret = verdict;
}
