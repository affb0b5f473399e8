/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A binary heap of the streams' heads, ordered by (time, stream number).
 * The top stream's run, the events earlier than every other head, is found
 * by galloping and copied in one go. An event as late as another head, or as
 * late as the event that last was, is in a tie.
 */
#include "merge.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PREFETCH_AHEAD 16 /* events */

struct head {
	uint64_t time;
	uint32_t stream;
};

struct km_merge {
	struct km_merge_stream *const *streams;
	size_t streams_count;
	struct head *heap;
	size_t heap_count;
	bool started;
	bool has_tie;
	uint64_t tie_time;
};

struct km_merge *km_merge_new(struct km_merge_stream *const *streams, size_t count)
{
	struct km_merge *merge = calloc(1, sizeof(*merge));

	if (!merge)
		return NULL;
	merge->streams = streams;
	merge->streams_count = count;
	merge->heap = calloc(count ? count : 1, sizeof(*merge->heap));
	if (!merge->heap) {
		free(merge);
		return NULL;
	}
	return merge;
}

void km_merge_free(struct km_merge *merge)
{
	if (!merge)
		return;
	free(merge->heap);
	free(merge);
}

static bool earlier(const struct head *a, const struct head *b)
{
	return a->time < b->time || (a->time == b->time && a->stream < b->stream);
}

static void sift_down(struct km_merge *merge, size_t i)
{
	struct head moved = merge->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= merge->heap_count)
			break;
		if (child + 1 < merge->heap_count && earlier(&merge->heap[child + 1], &merge->heap[child]))
			child++;
		if (!earlier(&merge->heap[child], &moved))
			break;
		merge->heap[i] = merge->heap[child];
		i = child;
	}
	merge->heap[i] = moved;
}

/* The stream has an event in hand: 1; it ended: 0; negative errno. */
static int ensure(struct km_merge_stream *stream, struct km_error *error)
{
	return stream->at < stream->count ? 1 : stream->refill(stream, error);
}

static int start(struct km_merge *merge, struct km_error *error)
{
	for (size_t i = 0; i < merge->streams_count; i++) {
		struct km_merge_stream *stream = merge->streams[i];
		int r = ensure(stream, error);

		if (r < 0)
			return r;
		if (r)
			merge->heap[merge->heap_count++] =
				(struct head){ .time = stream->events[stream->at].time, .stream = (uint32_t)i };
	}
	for (size_t i = merge->heap_count / 2; i-- > 0;)
		sift_down(merge, i);
	merge->started = true;
	return 0;
}

/* How many of events[0..count) are earlier than limit; the first one may be. */
static size_t run_length(const struct km_event *events, size_t count, uint64_t limit)
{
	size_t low = 0, step = 1;

	while (low + step <= count && events[low + step - 1].time < limit) {
		low += step;
		step *= 2;
	}
	while (step > 1) {
		step /= 2;
		if (low + step <= count && events[low + step - 1].time < limit)
			low += step;
	}
	return low;
}

int km_merge_read(struct km_merge *merge, struct km_event *events, size_t capacity, struct km_error *error)
{
	size_t out = 0;
	int r;

	if (!merge->started) {
		r = start(merge, error);
		if (r < 0)
			return r;
	}
	while (out < capacity && merge->heap_count) {
		struct head *top = &merge->heap[0];
		struct km_merge_stream *stream = merge->streams[top->stream];
		const struct km_event *at = stream->events + stream->at;
		size_t in_hand = stream->count - stream->at;
		bool has_next = merge->heap_count > 1;
		uint64_t next = 0;
		size_t n;

		/* The batch may have been written on another CPU: ask for what comes next. */
		__builtin_prefetch(at + PREFETCH_AHEAD);
		__builtin_prefetch(at + PREFETCH_AHEAD + 1);
		if (in_hand > capacity - out)
			in_hand = capacity - out;
		if (has_next) {
			next = merge->heap[1].time;
			if (merge->heap_count > 2 && merge->heap[2].time < next)
				next = merge->heap[2].time;
		}
		if ((has_next && at->time == next) || (merge->has_tie && at->time == merge->tie_time)) {
			merge->has_tie = true;
			merge->tie_time = at->time;
			for (n = 0; n < in_hand && at[n].time == merge->tie_time; n++) {
				events[out + n] = at[n];
				events[out + n].flags |= KM_EVENT_TIED;
			}
		} else {
			n = has_next ? run_length(at, in_hand, next) : in_hand;
			memcpy(events + out, at, n * sizeof(*events));
		}
		out += n;
		stream->at += n;
		r = ensure(stream, error);
		if (r < 0)
			return r;
		if (r)
			top->time = stream->events[stream->at].time;
		else
			merge->heap[0] = merge->heap[--merge->heap_count];
		if (merge->heap_count)
			sift_down(merge, 0);
	}
	return (int)out;
}
