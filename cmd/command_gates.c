/* SPDX-License-Identifier: GPL-2.0-only */
/* Rules of the command line and of files, and what they do to the exit status. */
#include <stdio.h>

#include "command.h"

int command_gates_load(const struct options *options, struct gates *gates, struct km_error *error)
{
	int r = 0;

	for (size_t i = 0; i < options->fail_on.count && !r; i++) {
		struct km_error inner = { 0 };

		r = km_gate_rules_add(&gates->rules, options->fail_on.items[i], &inner);
		if (r)
			km_error_set(error, r, "--fail-on: %s", inner.text);
	}
	for (size_t i = 0; i < options->rules.count && !r; i++)
		r = km_gate_rules_load(&gates->rules, options->rules.items[i], error);
	for (size_t i = 0; i < options->suppress.count && !r; i++)
		r = km_suppress_load(&gates->suppressions, options->suppress.items[i], error);
	return r;
}

void command_gates_release(struct gates *gates)
{
	km_gate_rules_release(&gates->rules);
	km_suppress_release(&gates->suppressions);
}

int command_gates_status(const struct options *options, enum km_gate_result verdict)
{
	if (options->exit_zero || verdict == KM_GATE_PASS)
		return EXIT_DONE;
	return verdict == KM_GATE_FAIL ? EXIT_LIMIT : EXIT_UNDECIDED;
}

void command_print_rules(const struct options *options, const struct km_gate_outcomes *outcomes)
{
	static const char *const words[] = {
		[KM_GATE_PASS] = "pass", [KM_GATE_FAIL] = "FAIL", [KM_GATE_UNDECIDED] = "undecided"
	};

	if (options->quiet || (options->format == FORMAT_TABLE && !options->output))
		return;
	for (size_t i = 0; i < outcomes->count; i++) {
		const struct km_gate_verdict *verdict = &outcomes->items[i].verdict;
		int decimals = outcomes->is_whole ? 0 : 4;

		fprintf(stderr, "kmstat: %s: %s: ", words[verdict->result], outcomes->items[i].rule->text);
		if (verdict->has_value)
			fprintf(stderr, "value %.*Lf, limit %.*Lf%s", decimals, verdict->value, decimals,
				outcomes->is_whole ? (long double)(uint64_t)verdict->limit : verdict->limit,
				verdict->cause[0] ? ": " : "");
		fprintf(stderr, "%s\n", verdict->cause);
	}
}
