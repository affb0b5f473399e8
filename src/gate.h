/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gate: a rule of --fail-on: what a metric must not exceed, and what came of
 * it. It parses rules and decides on numbers that it is given; where they
 * come from (gate_lookup.h) and how a verdict is shown are not its own.
 *
 *	[site:|function:|module:|cache: NAME [?] :] METRIC [?] > LIMIT [, LIMIT]
 *
 * A LIMIT is a number ("10M", "5s"), or with a sign one that is relative to
 * the base of a comparison: "+64K" more, "+5%" more. All limits of a rule
 * have to be exceeded for it to fail. NAME is taken literally; "?" allows it
 * to be absent.
 *
 * Every limit only grows with the base, and the largest of them decides. So
 * with bounds on both numbers a rule fails if the lower bound of what is new
 * is over the limit of the base's upper bound, passes if the upper bound is
 * within the limit of the base's lower bound, and else is undecided.
 */
#ifndef KM_GATE_H
#define KM_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "run.h"

#define KM_GATE_LIMITS      4
#define KM_GATE_TEXT_BYTES  512
#define KM_GATE_RULES_LIMIT 4096

enum km_gate_target { KM_GATE_TOTAL, KM_GATE_SITE, KM_GATE_FUNCTION, KM_GATE_MODULE, KM_GATE_CACHE };

struct km_gate_limit {
	enum {
		KM_GATE_ABSOLUTE, /* number, in the metric's unit */
		KM_GATE_MORE,     /* base + number */
		KM_GATE_PERCENT,  /* base + base * number / 1,000,000 */
	} kind;
	uint64_t number;
};

struct km_gate_rule {
	char text[KM_GATE_TEXT_BYTES]; /* as it was given */
	enum km_gate_target target;
	char name[KM_GATE_TEXT_BYTES]; /* "" for the total */
	enum km_metric metric;
	bool may_be_absent;
	struct km_gate_limit limits[KM_GATE_LIMITS];
	size_t limits_count;
};

/* -EINVAL: not a rule, or a metric that there is none of; the text says what is right. */
int km_gate_parse(const char *text, struct km_gate_rule *ret_rule, struct km_error *error);
/* Whether a limit of it is relative to a base. */
bool km_gate_is_relative(const struct km_gate_rule *rule);
/* 0, or -EINVAL: it is relative, and can not be asked of one recording. */
int km_gate_needs_no_base(const struct km_gate_rule *rule, struct km_error *error);

struct km_gate_rules {
	struct km_gate_rule *items; /* owned */
	size_t count;
};

/* Append one rule, or those of a file: one a line. Errors: as parsing, -ENOSPC, what reading gives. */
int km_gate_rules_add(struct km_gate_rules *rules, const char *text, struct km_error *error);
int km_gate_rules_load(struct km_gate_rules *rules, const char *path, struct km_error *error);
void km_gate_rules_release(struct km_gate_rules *rules);

/* --- deciding --- */

/* What a number may really be: as struct km_value, but it may be a median, or one for each second. */
struct km_gate_number {
	long double value, min, max; /* min <= value; value <= max unless that is unknown */
	bool max_is_unknown;
};

/* What a rule is about. */
struct km_gate_evidence {
	bool is_absent; /* nothing has that name: all else is not looked at */
	struct km_gate_number base, now;
	/* Of several runs a side: a relative rule fails only on a difference that is no noise. */
	bool is_repeated;
	bool is_testable; /* there are runs enough */
	double p;         /* corrected for the number of relative rules; if testable */
	char cause[256];  /* why numbers are bounds; "" if they are none */
};

enum km_gate_result { KM_GATE_PASS, KM_GATE_FAIL, KM_GATE_UNDECIDED };
const char *km_gate_result_name(enum km_gate_result result); /* "pass", "fail", "undecided" */

/* What is no noise: the largest p, corrected. */
#define KM_GATE_SIGNIFICANT 0.05

struct km_gate_verdict {
	enum km_gate_result result;
	bool has_value;           /* not for what is absent */
	long double value, limit; /* exceeded if value > limit */
	char cause[320];          /* why it is undecided, absent, or passes all the same; "" else */
};

/* The rule on the evidence. base is only looked at by relative rules. */
void km_gate_decide(const struct km_gate_rule *rule, const struct km_gate_evidence *evidence,
		    struct km_gate_verdict *ret_verdict);
/* The limit that a value is held against, for a base. */
long double km_gate_limit(const struct km_gate_rule *rule, long double base);

/* Of several: one that fails wins over one that is undecided. */
enum km_gate_result km_gate_worse(enum km_gate_result a, enum km_gate_result b);

#endif
