/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perfdata_ahead: bundles of a perf.data (perfdata_order.h) made on a thread,
 * ahead of the one who reads them. It does not know how they are made.
 *
 * The rounds of perf record may hold a million events, which become readable
 * at once: a bundle is handed over as it is, so that the next round can be
 * read while this one is replayed. What is not read yet is bounded by
 * events, but for one bundle.
 */
#ifndef KM_PERFDATA_AHEAD_H
#define KM_PERFDATA_AHEAD_H

#include "error.h"
#include "perfdata_order.h"

struct km_perfdata_ahead;

/* 1: a bundle, 0: there are no more, negative errno with error set. Called from one thread at a time. */
typedef int km_perfdata_produce(void *context, struct km_perfdata_bundle **ret_bundle, struct km_error *error);

/* NULL when out of memory. Where no thread can be started bundles are made when they are asked for. */
struct km_perfdata_ahead *km_perfdata_ahead_new(km_perfdata_produce *produce, void *context);
/* The next bundle, the caller's from then on, as km_perfdata_produce; the one before it was read. */
int km_perfdata_ahead_next(struct km_perfdata_ahead *ahead, struct km_perfdata_bundle **ret_bundle,
			   struct km_error *error);
/* Stop the thread: what is not there yet is made when it is asked for. Behind it the context may be looked at. */
void km_perfdata_ahead_stop(struct km_perfdata_ahead *ahead);
/* Stops the thread, and frees what nobody read. NULL is fine. */
void km_perfdata_ahead_free(struct km_perfdata_ahead *ahead);

#endif
