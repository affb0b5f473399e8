/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A binary heap of the streams' heads, ordered by (time, stream number).
 * The top stream's run, the events earlier than every other head, is found
 * by galloping and copied in one go. An event as late as another head, or as
 * late as the event that last was, is in a tie.
 *
 * With hundreds of streams each step is about another one. What a step needs
 * is kept together, 16 bytes a stream in the heap and 16 beside it, and the
 * events of the two streams that may be next are asked for in advance.
 */
#include "merge.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * How many events of a stream are asked for ahead. All streams together must
 * not ask for more than the nearer caches hold.
 */
#define PREFETCH_TOTAL 2048
#define PREFETCH_MOST  16
#define PREFETCH_LEAST 3

struct head {
	uint64_t time;
	uint64_t stream;
};

/* What a stream has in hand. Its own `at` is brought up to date before it refills. */
struct hand {
	const struct km_event *at, *end;
};

struct km_merge {
	struct km_merge_stream *const *streams;
	size_t streams_count;
	struct hand *hands;
	struct head *heap;
	size_t heap_count;
	size_t prefetch;
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
	merge->prefetch = count ? PREFETCH_TOTAL / count : PREFETCH_MOST;
	if (merge->prefetch > PREFETCH_MOST)
		merge->prefetch = PREFETCH_MOST;
	if (merge->prefetch < PREFETCH_LEAST)
		merge->prefetch = PREFETCH_LEAST;
	merge->heap = calloc(count + 1, sizeof(*merge->heap)); /* sift_down() looks at one behind the last */
	merge->hands = calloc(count ? count : 1, sizeof(*merge->hands));
	if (!merge->heap || !merge->hands) {
		km_merge_free(merge);
		return NULL;
	}
	return merge;
}

void km_merge_free(struct km_merge *merge)
{
	if (!merge)
		return;
	free(merge->heap);
	free(merge->hands);
	free(merge);
}

/* Time first, then the number of the stream: one comparison, without a branch. */
static unsigned __int128 order_of(const struct head *head)
{
	return (unsigned __int128)head->time << 64 | head->stream;
}

static void sift_down(struct km_merge *merge, size_t i)
{
	const struct head moved = merge->heap[i];
	const unsigned __int128 order = order_of(&moved);
	struct head *const heap = merge->heap;
	const size_t count = merge->heap_count;

	/* Which child is the earlier one can not be predicted, so nothing branches on it; the last one may be alone. */
	for (size_t child; (child = 2 * i + 1) < count; i = child) {
		child += (child + 1 < count) & (order_of(&heap[child + 1]) < order_of(&heap[child]));
		if (order < order_of(&heap[child]))
			break;
		heap[i] = heap[child];
	}
	heap[i] = moved;
}

/* The stream has an event in hand: 1; it ended: 0; negative errno. */
static int refill(struct km_merge *merge, uint64_t i, struct km_error *error)
{
	struct km_merge_stream *stream = merge->streams[i];
	int r = 1;

	if (stream->at >= stream->count)
		r = stream->refill(stream, error);
	if (r > 0)
		merge->hands[i] = (struct hand){ stream->events + stream->at, stream->events + stream->count };
	return r;
}

static int start(struct km_merge *merge, struct km_error *error)
{
	for (uint64_t i = 0; i < merge->streams_count; i++) {
		int r = refill(merge, i, error);

		if (r < 0)
			return r;
		if (r)
			merge->heap[merge->heap_count++] = (struct head){ merge->hands[i].at->time, i };
	}
	for (size_t i = merge->heap_count / 2; i-- > 0;)
		sift_down(merge, i);
	merge->started = true;
	return 0;
}

/* The two heads below the top: the earlier one's time. Both streams' events are asked for. */
static uint64_t next_time(const struct km_merge *merge)
{
	uint64_t next = merge->heap[1].time;

	__builtin_prefetch(merge->hands[merge->heap[1].stream].at);
	if (merge->heap_count > 2) {
		__builtin_prefetch(merge->hands[merge->heap[2].stream].at);
		if (merge->heap[2].time < next)
			next = merge->heap[2].time;
	}
	return next;
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
		struct hand *hand = &merge->hands[top->stream];
		const struct km_event *at = hand->at;
		size_t in_hand = (size_t)(hand->end - at);
		bool has_next = merge->heap_count > 1;
		uint64_t next = has_next ? next_time(merge) : 0;
		size_t n;

		/* The batch may have been written on another CPU: ask for what comes next. */
		__builtin_prefetch(at + merge->prefetch);
		__builtin_prefetch(at + merge->prefetch + 1);
		if (in_hand > capacity - out)
			in_hand = capacity - out;
		if ((has_next && top->time == next) || (merge->has_tie && top->time == merge->tie_time)) {
			merge->has_tie = true;
			merge->tie_time = top->time;
			for (n = 0; n < in_hand && at[n].time == merge->tie_time; n++) {
				events[out + n] = at[n];
				events[out + n].flags |= KM_EVENT_TIED;
			}
		} else {
			n = has_next ? run_length(at, in_hand, next) : in_hand;
			memcpy(events + out, at, n * sizeof(*events));
		}
		out += n;
		hand->at += n;
		r = 1;
		if (hand->at == hand->end) {
			merge->streams[top->stream]->at = merge->streams[top->stream]->count;
			r = refill(merge, top->stream, error);
			if (r < 0)
				return r;
		}
		if (r)
			top->time = hand->at->time;
		else
			merge->heap[0] = merge->heap[--merge->heap_count];
		if (merge->heap_count)
			sift_down(merge, 0);
	}
	return (int)out;
}
