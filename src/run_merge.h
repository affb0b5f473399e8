/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run_merge: several runs into one. What comes of it does not depend on the
 * order or the tree in which they are merged: it is the same to the byte
 * once it is written, so a fleet's reports can be reduced step by step.
 *
 * Rows of one identity become one. Sites go by symbol and module as long as
 * all recordings are of one kernel (km_run_match_by_symbol()), else all by
 * function and module. Sums add up, and so do the bounds of live numbers;
 * live_is is the worst; lifetimes merge as histograms; a peak is the sum of
 * peaks, which is an upper bound (peak_is at_most), and has no time. Where
 * two rows have different addresses, symbols or object sizes, the address
 * and the size are gone and the symbol is the function's name.
 *
 * Of losses and warnings the worst and the sums stay. Lists that do not add
 * up are not kept: losses by CPU, episodes of overflow, the sites of
 * unmatched frees, which are only the first 20 of each recording.
 */
#ifndef KM_RUN_MERGE_H
#define KM_RUN_MERGE_H

#include "error.h"
#include "run.h"

/*
 * Add `from` to `into`. from is released on success; after a failure both
 * are the caller's and only good for being released. Errors: -EINVAL for
 * other filters, --by, units of time, ticks of other clocks, and for a
 * recording that is in both; -EOVERFLOW for a sum over 64 bits; -ENOMEM,
 * -ENOSPC.
 */
int km_run_merge(struct km_run *into, struct km_run *from, struct km_error *error);

/*
 * Many, one by one: runs of about equal size are merged with each other, so
 * that the time grows with their number and its logarithm, and no more than
 * that many are held at a time. All zero bytes is an empty one.
 */
#define KM_RUN_MERGER_SLOTS 32

struct km_run_merger {
	struct km_run *slots[KM_RUN_MERGER_SLOTS]; /* slot i: NULL, or 2^i runs */
};

/* run is taken over, also on failure. */
int km_run_merger_add(struct km_run_merger *merger, struct km_run *run, struct km_error *error);
/* The run of all; at least one was added. The merger is empty afterwards, also on failure. */
int km_run_merger_finish(struct km_run_merger *merger, struct km_run **ret_run, struct km_error *error);
void km_run_merger_release(struct km_run_merger *merger);

#endif
