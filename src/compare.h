/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compare: two sides, each of one run or several (run.h), put side by side:
 * which rows are one another's, what differs, and whether it may be chance.
 * It reads no files, judges no rules and writes nothing.
 *
 * Rows are never matched by address, which differs between boots and builds:
 * call sites by symbol and offset where all runs are of one kernel, else by
 * function and module, without what GCC appends to a function that it copied
 * (.isra.0, .constprop.0, .part.0, .cold). Call sites without a symbol are
 * one row, unless all runs are of the same recording.
 *
 * Of several runs a side counts with their median: of an even number the mean
 * of the two in the middle, rounded down where numbers are whole. A run that
 * lacks a row counts as 0.
 *
 * Bounds. In run.h a live number without evidence against it is exact, an
 * untraced free makes it an upper bound, overflow a lower one, and lost
 * events bound it on neither side. Both sides of a comparison miss the frees
 * that are never traced alike, so those do not count here: a number is taken
 * as bounded only by holes, a lost tail or overflow.
 */
#ifndef KM_COMPARE_H
#define KM_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "run.h"

#define KM_COMPARE_RUNS_LIMIT 1000

/* What numbers are divided by. */
enum km_compare_per { KM_PER_NOTHING, KM_PER_SECOND, KM_PER_EVENT, KM_PER_OP };
const char *km_compare_per_name(enum km_compare_per per); /* "second", "event", "op"; NULL for nothing */

struct km_compare_side {
	struct km_run **runs; /* borrowed; rows of derived axes are made in them */
	size_t count;         /* at least 1 */
	uint64_t ops;         /* KM_PER_OP: operations of the workload in each run */
	/* KM_PER_SECOND: ns that each run is about; 0, or NULL for all: its recording's. */
	const uint64_t *durations;
};

struct km_compare_options {
	/* KM_RUN_SITES: by call site, or by function where kernels differ. */
	enum km_run_axis axis;
	enum km_metric metric; /* one of rows */
	enum km_compare_per per;
	bool are_windows; /* the runs are of different times on purpose: their filters need not be equal */
};

/* A number of one side. */
struct km_compare_number {
	long double value;           /* the median of the runs */
	long double lowest, highest; /* of the runs */
	long double min, max;        /* what the median may really be; max: unless it is unknown */
	bool max_is_unknown;
	size_t runs_count; /* runs that have the row */
	enum km_live_is live_is;
	enum km_peak_is peak_is;
};

enum km_compare_state { KM_SAME, KM_GROWN, KM_SHRUNK, KM_NEW, KM_GONE, KM_COMPARE_STATES };
const char *km_compare_state_name(enum km_compare_state state); /* "same", "grown", "shrunk", "new", "gone" */

enum { KM_BASE, KM_CHANGED, KM_SIDES };

struct km_compare_row {
	/* A row of one of the runs, for its names; NULL: the call sites without a symbol. */
	const struct km_run_row *row;
	struct km_compare_number sides[KM_SIDES];
	enum km_compare_state state; /* by the values: NEW and GONE have 0 on the other side */
	bool is_tested;              /* p is there: runs enough, and they are not all equal */
	bool is_significant;
	double p;          /* of the t-test */
	double p_rank;     /* of the rank test, which has to agree */
	double p_adjusted; /* corrected for the rows that were tested */
};

/* One more text for people and machines. */
struct km_compare_warning {
	const char *code;
	char text[320];
};

#define KM_COMPARE_WARNINGS_LIMIT 16
#define KM_COMPARE_TEXT_BYTES     320

struct km_compare {
	struct km_compare_side sides[KM_SIDES];
	struct km_compare_options options;
	enum km_run_axis axis; /* what rows are matched by */
	bool kernels_are_one;  /* symbols with offsets mean the same in all runs */
	char matched_by[KM_COMPARE_TEXT_BYTES];
	char told_apart[KM_COMPARE_TEXT_BYTES]; /* functions of one name in several modules; "" for none */
	size_t told_apart_count;
	size_t unnamed_count;            /* call sites without a symbol that are one row */
	long double *divisors[KM_SIDES]; /* owned: one a run */

	bool is_repeated, is_testable; /* several runs a side; at least KM_RANK_TEST_LEAST on both */
	size_t tested_count, significant_count;

	struct km_compare_row *rows; /* owned; by delta descending */
	size_t rows_count;
	size_t states[KM_COMPARE_STATES]; /* how many rows of each */
	/* Sums over rows. They add up: after - before = up - down. */
	long double before, after, up, down;
	struct km_compare_number totals[KM_METRICS][KM_SIDES];
	bool total_is_null[KM_METRICS];

	struct km_compare_warning warnings[KM_COMPARE_WARNINGS_LIMIT];
	size_t warnings_count;
};

/*
 * The sides' arrays are copied, runs and durations borrowed until it is
 * freed. Errors: -EINVAL where sides can not be compared (filters, --by,
 * times of another unit) or normalised, which the text says; -ENOMEM.
 */
int km_compare_run(const struct km_compare_side *base, const struct km_compare_side *changed,
		   const struct km_compare_options *options, struct km_compare **ret_compare, struct km_error *error);
void km_compare_free(struct km_compare *compare);

/* changed less base */
long double km_compare_delta(const struct km_compare_row *row);

/* ns, or the clock's units, that a run of a side is about. */
uint64_t km_compare_duration(const struct km_compare_side *side, size_t run);

/* --- numbers of several rows and runs, for rules --- */

/* One run's number: the sum of rows. All zero bytes: none yet. */
struct km_compare_sample {
	bool is_there;
	long double value, min, max;
	bool max_is_unknown;
	enum km_live_is live_is;
	enum km_peak_is peak_is;
};

/* Add a row's number. is_strict: with bounds of untraced frees too. */
void km_compare_add(struct km_compare_sample *sample, enum km_metric metric, const struct km_run_row *row,
		    bool is_strict);
/* Medians of samples; is_whole: halves are dropped. Sorts the samples. */
struct km_compare_number km_compare_summarise(struct km_compare_sample *samples, size_t count, bool is_whole);

#endif
