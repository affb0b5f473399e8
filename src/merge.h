/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * merge: k streams of events, each in order, into one, by time. It gallops
 * along one stream's run and costs a heap step only where runs change, so
 * it is at most logarithmic in the number of streams.
 *
 * Equal times keep the streams' order and are flagged KM_EVENT_TIED.
 */
#ifndef KM_MERGE_H
#define KM_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "event.h"

/* One stream: events[at..count) are in hand, times never fall. */
struct km_merge_stream {
	struct km_event *events;
	size_t at, count;
	/* Refill events[], set at and count. 1: at least one event, 0: the stream has ended, negative errno. */
	int (*refill)(struct km_merge_stream *stream, struct km_error *error);
};

struct km_merge;

/* streams[] (pointers borrowed; their order is the order of ties). NULL when out of memory. */
struct km_merge *km_merge_new(struct km_merge_stream *const *streams, size_t count);
void km_merge_free(struct km_merge *merge);

/* The next events, at most capacity. Their number, 0 at the end, negative errno. */
int km_merge_read(struct km_merge *merge, struct km_event *events, size_t capacity, struct km_error *error);

#endif
