/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perfdata_order: samples of a perf.data into one order by time.
 *
 * perf record copies one CPU's ring after the other and writes a
 * FINISHED_ROUND when it has been to all. So an event may be far from its
 * place, but never later than one round: at the end of a round everything up
 * to the latest time of the round before is complete.
 *
 * What waits is bounded. Beyond the bound the older half is handed out, which
 * is counted; an event that comes too late for its place then takes the time
 * of the last one handed out, which is counted too.
 *
 * What is readable is taken out as a bundle, which another thread may read
 * while more is added here. Equal times in a bundle keep the order of the
 * CPUs and are flagged KM_EVENT_TIED.
 */
#ifndef KM_PERFDATA_ORDER_H
#define KM_PERFDATA_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "event.h"

struct km_perfdata_order;

/* limit: how many events may wait. NULL when out of memory. */
struct km_perfdata_order *km_perfdata_order_new(size_t limit);
void km_perfdata_order_free(struct km_perfdata_order *order);

/*
 * Take a copy; event->cpu < KM_CPU_LIMIT. 0, 1: so much waits that
 * km_perfdata_order_limit() is to be called, or -ENOMEM.
 */
int km_perfdata_order_add(struct km_perfdata_order *order, const struct km_event *event);
/* A time was met, of whatever record. */
void km_perfdata_order_note(struct km_perfdata_order *order, uint64_t time);

/* The end of a round. Makes what is complete readable. Returns 0 or -ENOMEM. */
int km_perfdata_order_round(struct km_perfdata_order *order);
/* Everything up to `time` is there. Makes it readable. Returns 0 or -ENOMEM. */
int km_perfdata_order_until(struct km_perfdata_order *order, uint64_t time);
/* The end of all: everything is readable. Returns 0 or -ENOMEM. */
int km_perfdata_order_finish(struct km_perfdata_order *order);
/* If too much waits, make the older half readable. Returns 0 or -ENOMEM. */
int km_perfdata_order_limit(struct km_perfdata_order *order);

/*
 * Whether what is readable is to be taken now: at least `least` events are,
 * or one came that is not later than these and has to stay behind them.
 */
bool km_perfdata_order_is_ready(const struct km_perfdata_order *order, size_t least);
/* All that is readable; *ret_bundle is NULL if nothing is. Returns 0 or -ENOMEM. */
struct km_perfdata_bundle;
int km_perfdata_order_take(struct km_perfdata_order *order, struct km_perfdata_bundle **ret_bundle);
/* Its next events, at most capacity. Their number, 0: none, or a negative errno. */
int km_perfdata_bundle_read(struct km_perfdata_bundle *bundle, struct km_event *events, size_t capacity,
			    struct km_error *error);
/* Of the bundle when it was taken. */
size_t km_perfdata_bundle_count(const struct km_perfdata_bundle *bundle);
/* Before its order is freed; from any thread. NULL is fine. */
void km_perfdata_bundle_free(struct km_perfdata_bundle *bundle);

/* Events whose place had been handed out already. */
uint64_t km_perfdata_order_late_count(const struct km_perfdata_order *order);
/* How often the bound was met. */
uint64_t km_perfdata_order_forced_count(const struct km_perfdata_order *order);

#endif
