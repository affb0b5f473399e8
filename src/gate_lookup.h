/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gate_lookup: rules (gate.h) on one run or on a comparison: finds what they
 * name, leaves out what is suppressed, and collects the verdicts. What a rule
 * means is gate.c's, how verdicts are shown the documents'.
 *
 * Names. A function or module rule is about the sum of its call sites; of a
 * function name that several modules have, about all of them. "vmlinux" is
 * the kernel itself. A site is a symbol with offset (with or without
 * " [module]", and also with the plain name of a function that GCC copied),
 * an address, or a bare function name, which is all of that function. In a
 * comparison of different kernels offsets and addresses say nothing: there a
 * site rule is about its function. Sums of peaks are upper bounds.
 *
 * Suppressed call sites are in no number of a site, function or module, nor
 * in the whole's; only the whole's own peak and ages stay as they are, since
 * what they would be without a site is not known. Suppressed caches are in no
 * number of a cache.
 */
#ifndef KM_GATE_LOOKUP_H
#define KM_GATE_LOOKUP_H

#include "compare.h"
#include "error.h"
#include "gate.h"
#include "run.h"
#include "suppress.h"

struct km_gate_outcome {
	const struct km_gate_rule *rule; /* borrowed */
	struct km_gate_verdict verdict;
	struct km_gate_number base, now; /* base: of a comparison */
	size_t suppressed_count;         /* rows of it that were left out */
	bool is_tested;
	double p; /* corrected; if is_tested */
};

struct km_gate_outcomes {
	struct km_gate_outcome *items; /* owned */
	size_t count;
	enum km_gate_result verdict; /* of all */
	bool is_comparison;
	bool is_whole; /* numbers are whole: nothing was divided */
};

/*
 * Errors: -EINVAL for a name that nothing has and that the rule does not
 * allow to be absent, for limits relative to a base where there is none, and
 * for times where the clock does not count ns; -ENOMEM. suppressions may be
 * NULL; how much they were used is counted in them.
 */
int km_gate_judge_run(const struct km_run *run, const struct km_gate_rules *rules, struct km_suppressions *suppressions,
		      struct km_gate_outcomes *ret_outcomes, struct km_error *error);
int km_gate_judge_compare(const struct km_compare *compare, const struct km_gate_rules *rules,
			  struct km_suppressions *suppressions, struct km_gate_outcomes *ret_outcomes,
			  struct km_error *error);
void km_gate_outcomes_release(struct km_gate_outcomes *outcomes);

#endif
