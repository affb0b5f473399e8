/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sizes: what bounded tables of many sizes would have seen of a replay, all
 * of them in one pass: tables that drop and tables that sample, of 2^i
 * objects. It takes the events and outcomes of a replay whose table held
 * everything; it does not replay, and its figures mean nothing if that table
 * overflowed or sampled.
 *
 * A table that drops is told by which live objects it tracks, and what a
 * small one of S objects tracks a larger one of L tracks too. For: an object
 * that only the large one takes in finds the small one full; the large one
 * then holds those S and what it alone tracks, so that is L - S objects at
 * most, at that moment and until the next one comes. If the large table is
 * full the small one holds at least L - (L - S) = S: where the small one has
 * room the large one has too. So one number an object, the smallest table
 * that tracks it, tells all of them, and one number, the smallest table that
 * has room, what becomes of the next object.
 *
 * A table that samples holds the live objects whose level (replay_hash.h) is
 * at least its k; how many live objects there are of each level tells when k
 * grows.
 */
#ifndef KM_SIZES_H
#define KM_SIZES_H

#include <stddef.h>
#include <stdint.h>

#include "aggregate.h"
#include "error.h"
#include "event.h"
#include "replay.h"

#define KM_SIZES_FIRST 10 /* the smallest that is of any use: 2^10 objects */
#define KM_SIZES_LIMIT 32 /* sizes at most: 2^0 to 2^31 */

/* One size. Ratios of errors are null (is_known false) where nothing is live. */
struct km_size {
	uint64_t capacity; /* N */
	uint64_t memory_bytes;
	/* A table that drops: of the whole replay. */
	uint64_t overflowed_count, overflowed_bytes;
	double tracked_ratio; /* allocations that it tracks, of those of an object; 1 if there are none */
	/*
	 * Of the selection, when it was finished: the sum over call sites of
	 * |shown - true| live bytes, and the same of the whole, by the true ones.
	 */
	bool error_is_known;
	double drop_error, drop_total_error;
	double sample_error, sample_total_error;
	unsigned sample_k; /* at the end of the replay: it keeps one of 2^k addresses */
};

struct km_sizes;

/*
 * first: log2 of the smallest size, at most KM_SIZES_LIMIT - 1.
 * max_memory_bytes: of the table of addresses that it keeps. Errors: -ENOMEM.
 */
int km_sizes_new(unsigned first, uint64_t max_memory_bytes, struct km_sizes **ret_sizes, struct km_error *error);
void km_sizes_free(struct km_sizes *sizes);

/* Events and what the replay made of them, before anything mends it. Returns 0; -ENOSPC if the bound is reached. */
int km_sizes_run(struct km_sizes *sizes, const struct km_event *events, const struct km_outcome *outcomes, size_t count,
		 struct km_error *error);
/*
 * The moment that errors are about: table is the replay's, aggregate knows
 * its keys and is finished. Returns 0 or -ENOMEM.
 */
int km_sizes_finish(struct km_sizes *sizes, const struct km_replay_hash *table, const struct km_aggregate *aggregate,
		    struct km_error *error);

/*
 * All sizes from the first to the one that drops nothing and is no smaller
 * than `least`; at least one. Returns how many.
 */
size_t km_sizes_get(const struct km_sizes *sizes, uint64_t least, struct km_size ret_sizes[KM_SIZES_LIMIT]);

#endif
