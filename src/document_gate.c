/* SPDX-License-Identifier: GPL-2.0-only */
/* Rules of --fail-on and what came of them, and what was suppressed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "document_private.h"
#include "format.h"
#include "gate_lookup.h"
#include "suppress.h"

/* The largest whole number that is not above: what the limit comes to where values are whole. */
static uint64_t whole(long double value)
{
	return value < 0x1p64L ? (uint64_t)value : UINT64_MAX;
}

void km_document_number(struct km_record *record, const char *name, bool is_whole, bool is_null, long double value)
{
	if (is_null)
		km_record_null(record, name, is_whole ? KM_TYPE_COUNT : KM_TYPE_REAL);
	else if (is_whole)
		km_record_number(record, name, KM_TYPE_COUNT, whole(value));
	else
		km_record_real(record, name, KM_TYPE_REAL, (double)value);
}

const char *km_document_exact(char *buffer, bool is_whole, long double value)
{
	return is_whole ? km_format_count(buffer, whole(value)) : km_format_real(buffer, (double)value);
}

static void rules_for_machines(struct document_state *state, const struct km_gate_outcomes *outcomes)
{
	struct km_record *record = km_document_record(state);
	bool is_whole = outcomes->is_whole;

	if (!record)
		return;
	for (size_t i = 0; i < outcomes->count; i++) {
		const struct km_gate_outcome *outcome = &outcomes->items[i];
		const struct km_gate_verdict *verdict = &outcome->verdict;
		bool no_base = !verdict->has_value || !outcomes->is_comparison;

		km_record_text(record, "rule", outcome->rule->text);
		km_document_number(record, "value", is_whole, !verdict->has_value, verdict->value);
		km_document_number(record, "limit", is_whole, !verdict->has_value, verdict->limit);
		km_record_text(record, "result", km_gate_result_name(verdict->result));
		km_record_text(record, "cause", verdict->cause[0] ? verdict->cause : NULL);
		km_record_text(record, "metric", km_metrics[outcome->rule->metric].name);
		km_document_number(record, "value_min", is_whole, !verdict->has_value, outcome->now.min);
		km_document_number(record, "value_max", is_whole, !verdict->has_value || outcome->now.max_is_unknown,
				   outcome->now.max);
		km_document_number(record, "base", is_whole, no_base, outcome->base.value);
		km_document_number(record, "base_min", is_whole, no_base, outcome->base.min);
		km_document_number(record, "base_max", is_whole, no_base || outcome->base.max_is_unknown,
				   outcome->base.max);
		if (outcome->is_tested)
			km_record_real(record, "p_adjusted", KM_TYPE_REAL, outcome->p);
		else
			km_record_null(record, "p_adjusted", KM_TYPE_REAL);
		km_record_number(record, "suppressed_count", KM_TYPE_COUNT, outcome->suppressed_count);
		km_record_end_row(record);
	}
	km_document_add(state, record, "rules", NULL, KM_SHAPE_ROWS, KM_FOR_MACHINES);
}

/* What a value is besides its number: "at least", "at most" as the table marks it. */
static const char *bound_mark(const struct km_gate_number *number)
{
	bool below = number->min < number->value, above = number->max_is_unknown || number->max > number->value;

	return below && above ? "? " : below ? "<= " : above ? ">= " : "";
}

static void rules_for_people(struct document_state *state, const struct km_gate_outcomes *outcomes)
{
	static const char *const words[] = {
		[KM_GATE_PASS] = "pass", [KM_GATE_FAIL] = "FAIL", [KM_GATE_UNDECIDED] = "undecided"
	};
	struct km_record *record = km_document_record(state);
	bool has_cause = false;

	if (!record)
		return;
	for (size_t i = 0; i < outcomes->count; i++)
		has_cause |= outcomes->items[i].verdict.cause[0] || outcomes->items[i].suppressed_count;
	for (size_t i = 0; i < outcomes->count; i++) {
		const struct km_gate_outcome *outcome = &outcomes->items[i];
		const struct km_gate_verdict *verdict = &outcome->verdict;
		char number[KM_FORMAT_BYTES], text[KM_FORMAT_BYTES + 8], cause[400] = "";
		size_t n;

		km_record_text(record, "result", words[verdict->result]);
		km_record_title(record, "result", 0);
		snprintf(text, sizeof(text), "%s%s", bound_mark(&outcome->now),
			 km_document_exact(number, outcomes->is_whole, verdict->value));
		km_record_text(record, "value", verdict->has_value ? text : NULL);
		km_record_title(record, "value", KM_COLUMN_RIGHT);
		km_record_text(record, "limit",
			       verdict->has_value ? km_document_exact(number, outcomes->is_whole, verdict->limit)
						  : NULL);
		km_record_title(record, "limit", KM_COLUMN_RIGHT);
		km_record_text(record, "rule", outcome->rule->text);
		km_record_title(record, "rule", KM_COLUMN_CODE);
		if (has_cause) {
			n = (size_t)snprintf(cause, sizeof(cause), "%s", verdict->cause);
			if (outcome->suppressed_count)
				snprintf(cause + n, sizeof(cause) - n, "%s%zu row%s suppressed", n ? "; " : "",
					 outcome->suppressed_count, outcome->suppressed_count == 1 ? "" : "s");
			km_record_text(record, "cause", cause);
			km_record_title(record, "why", 0);
		}
		km_record_end_row(record);
	}
	km_document_add(state, record, "rules", "Rules", KM_SHAPE_ROWS, KM_FOR_PEOPLE);
	if (state->sections_count)
		state->sections[state->sections_count - 1].is_brief = true;
}

static void verdict_line(struct document_state *state, const struct km_gate_outcomes *outcomes)
{
	static const char *const words[] = {
		[KM_GATE_PASS] = "pass", [KM_GATE_FAIL] = "FAIL", [KM_GATE_UNDECIDED] = "undecided"
	};
	struct km_record *record = km_document_record(state);
	size_t counts[3] = { 0 };
	char text[160];

	if (!record)
		return;
	for (size_t i = 0; i < outcomes->count; i++)
		counts[outcomes->items[i].verdict.result]++;
	snprintf(text, sizeof(text), "%s: of %zu rule%s %zu passed, %zu failed, %zu undecided",
		 words[outcomes->verdict], outcomes->count, outcomes->count == 1 ? "" : "s", counts[KM_GATE_PASS],
		 counts[KM_GATE_FAIL], counts[KM_GATE_UNDECIDED]);
	km_record_text(record, "label", "verdict");
	km_record_text(record, "text", text);
	km_record_end_row(record);
	km_document_add(state, record, "verdict", NULL, KM_SHAPE_LINES, KM_FOR_PEOPLE);
	if (state->sections_count)
		state->sections[state->sections_count - 1].is_brief = true;
}

static void add_suppressions(struct document_state *state, const struct km_suppressions *list, unsigned audience)
{
	struct km_record *record = km_document_record(state);

	if (!record)
		return;
	for (size_t i = 0; i < list->count; i++) {
		const struct km_suppression *item = &list->items[i];

		if (audience == KM_FOR_PEOPLE) {
			km_record_text(record, "use",
				       item->used_count && item->exceeded_count ? "used, over its max elsewhere"
				       : item->used_count                       ? "used"
				       : item->exceeded_count                   ? "over its max"
										: "unused");
			km_record_title(record, "use", 0);
		}
		km_record_number(record, "used_count", KM_TYPE_COUNT, item->used_count);
		km_record_title(record, "rows", 0);
		if (audience == KM_FOR_MACHINES)
			km_record_number(record, "exceeded_count", KM_TYPE_COUNT, item->exceeded_count);
		if (item->has_max)
			km_record_number(record, "max_bytes", KM_TYPE_BYTES, item->max_bytes);
		else
			km_record_null(record, "max_bytes", KM_TYPE_BYTES);
		km_record_title(record, "max", 0);
		km_record_text(record, "pattern", item->pattern);
		km_record_title(record, "pattern", KM_COLUMN_CODE);
		km_record_text(record, "reason", item->reason[0] ? item->reason : NULL);
		km_record_title(record, "reason", 0);
		km_record_end_row(record);
	}
	km_document_add(state, record, "suppressions", audience == KM_FOR_PEOPLE ? "Suppressions" : NULL, KM_SHAPE_ROWS,
			audience);
}

void km_document_add_rules(struct document_state *state, const struct km_document_options *options)
{
	if (!options->gates)
		return;
	state->verdict = km_gate_result_name(options->gates->verdict);
	if (options->audience == KM_FOR_PEOPLE) {
		verdict_line(state, options->gates);
		rules_for_people(state, options->gates);
	} else {
		rules_for_machines(state, options->gates);
	}
	if (options->suppressions && options->suppressions->count)
		add_suppressions(state, options->suppressions, options->audience);
}
