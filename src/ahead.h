/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ahead: producers of event batches, run ahead of their one consumer on
 * threads. Each lane has its own producer, which only one thread runs at a
 * time, and a bounded queue of batches; the lanes are streams for a merge.
 * A consumer that finds its lane empty produces too instead of sleeping, so
 * that with one thread this is a plain loop.
 *
 * What comes out of a lane does not depend on the number of threads. One
 * mutex guards the queues; it is taken once a batch, not once an event.
 */
#ifndef KM_AHEAD_H
#define KM_AHEAD_H

#include <stddef.h>

#include "error.h"
#include "event.h"
#include "merge.h"

struct km_ahead_producer {
	void *context;
	/*
	 * Fill events[0..capacity) and set *ret_count. 1: there may be more
	 * (and at least one event), 0: these are the last, negative errno
	 * with error set. May be called from any thread, one at a time.
	 */
	int (*produce)(void *context, struct km_event *events, size_t capacity, size_t *ret_count,
		       struct km_error *error);
};

struct km_ahead;

/*
 * producers[] are copied. threads: in all, the consumer's included; 1 or
 * less starts none. capacity: events in a batch. Errors: -ENOMEM; a thread
 * that can not be started is done without.
 */
int km_ahead_new(const struct km_ahead_producer *producers, size_t count, unsigned threads, size_t capacity,
		 struct km_ahead **ret_ahead, struct km_error *error);
/* Stop the threads: what is not there yet the consumer produces. Behind it producers' contexts may be looked at. */
void km_ahead_stop(struct km_ahead *ahead);
/* Stops the threads; producers are not called any more. */
void km_ahead_free(struct km_ahead *ahead);

/* The lanes as streams, in the order of the producers. Borrowed. */
struct km_merge_stream *const *km_ahead_streams(struct km_ahead *ahead);

#endif
