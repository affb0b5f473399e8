/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One lane a CPU:
 *
 *	events[0 .. at)         handed out
 *	      [at .. count)     readable: not later than `flushed`
 *	      [count .. filled) waiting
 *
 * The lanes' readable parts are merged. A lane is nearly in order by itself
 * (an interrupt's event may stand before that of the task it interrupted),
 * so an event goes to its place with a few steps back; a lane that is not
 * (several CPUs in one, where the recording has no CPU numbers) is sorted
 * when it is flushed.
 */
#include "perfdata_order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "merge.h"

#define STEPS_BACK 32U
#define LANE_LEAST 64U

struct lane {
	struct km_merge_stream head; /* first: the merge gets a pointer to it */
	size_t filled, room;
	bool is_mixed; /* its waiting events are not in order */
};

struct km_perfdata_order {
	size_t limit;
	struct lane *lanes[KM_CPU_LIMIT]; /* by CPU */
	unsigned lanes_limit;             /* above the highest one there is */
	size_t waiting_count;
	uint64_t round_time; /* the latest time of the rounds that are finished */
	uint64_t latest_time;
	uint64_t flushed; /* the latest time that may have been handed out */
	struct km_merge *merge;
	struct km_merge_stream **streams;
	struct km_event *scratch;
	size_t scratch_room;
	uint64_t late_count, forced_count;
};

struct km_perfdata_order *km_perfdata_order_new(size_t limit)
{
	struct km_perfdata_order *order = calloc(1, sizeof(*order));

	if (order)
		order->limit = limit < 2 ? 2 : limit;
	return order;
}

static void end_merge(struct km_perfdata_order *order)
{
	km_merge_free(order->merge);
	free(order->streams);
	order->merge = NULL;
	order->streams = NULL;
}

void km_perfdata_order_free(struct km_perfdata_order *order)
{
	if (!order)
		return;
	end_merge(order);
	for (unsigned i = 0; i < order->lanes_limit; i++) {
		if (order->lanes[i])
			free(order->lanes[i]->head.events);
		free(order->lanes[i]);
	}
	free(order->scratch);
	free(order);
}

/* All that is readable of a lane is there from the start. */
static int refill(struct km_merge_stream *stream, struct km_error *error)
{
	(void)stream;
	(void)error;
	return 0;
}

static struct lane *lane_of(struct km_perfdata_order *order, unsigned cpu)
{
	struct lane *lane = order->lanes[cpu];

	if (lane)
		return lane;
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return NULL;
	lane->head.refill = refill;
	order->lanes[cpu] = lane;
	if (cpu >= order->lanes_limit)
		order->lanes_limit = cpu + 1;
	return lane;
}

static int make_room(struct lane *lane)
{
	size_t room = lane->room ? lane->room * 2 : LANE_LEAST;
	struct km_event *larger = reallocarray(lane->head.events, room, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	lane->head.events = larger;
	lane->room = room;
	return 0;
}

int km_perfdata_order_add(struct km_perfdata_order *order, const struct km_event *event)
{
	struct lane *lane = lane_of(order, event->cpu);
	uint64_t time = event->time;
	struct km_event *at;

	if (!lane || (lane->filled == lane->room && make_room(lane)))
		return -ENOMEM;
	if (time < order->flushed) {
		time = order->flushed;
		order->late_count += km_event_is_slab(event);
	}
	at = lane->head.events + lane->filled;
	for (size_t steps = 0; at > lane->head.events + lane->head.count && time < at[-1].time; at--) {
		if (steps++ == STEPS_BACK) {
			lane->is_mixed = true;
			break;
		}
		*at = at[-1];
	}
	*at = *event;
	at->time = time;
	lane->filled++;
	order->waiting_count++;
	km_perfdata_order_note(order, time);
	return 0;
}

void km_perfdata_order_note(struct km_perfdata_order *order, uint64_t time)
{
	if (time > order->latest_time)
		order->latest_time = time;
}

/* Merge the runs [0, middle) and [middle, end) of from[] into to[], stably. */
static void merge_runs(const struct km_event *from, size_t middle, size_t end, struct km_event *to)
{
	size_t left = 0, right = middle, n = 0;

	while (left < middle && right < end)
		to[n++] = from[right].time < from[left].time ? from[right++] : from[left++];
	memcpy(to + n, from + left, (middle - left) * sizeof(*to));
	n += middle - left;
	memcpy(to + n, from + right, (end - right) * sizeof(*to));
}

/* Sort by time, stably: merges runs of 1, 2, 4 ... events, and copies what is in order already. */
static int sort_lane(struct km_perfdata_order *order, struct lane *lane)
{
	size_t count = lane->filled - lane->head.count;
	struct km_event *from = lane->head.events + lane->head.count, *to;

	if (order->scratch_room < count) {
		struct km_event *larger = reallocarray(order->scratch, count, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		order->scratch = larger;
		order->scratch_room = count;
	}
	to = order->scratch;
	for (size_t width = 1; width < count; width *= 2) {
		struct km_event *swap = from;

		for (size_t at = 0; at < count; at += 2 * width) {
			size_t end = count - at < 2 * width ? count - at : 2 * width;
			size_t middle = end < width ? end : width;

			if (middle == end || from[at + middle - 1].time <= from[at + middle].time)
				memcpy(to + at, from + at, end * sizeof(*to));
			else
				merge_runs(from + at, middle, end, to + at);
		}
		from = to;
		to = swap;
	}
	if (from == order->scratch)
		memcpy(to, from, count * sizeof(*to));
	lane->is_mixed = false;
	return 0;
}

/* How many waiting events of a sorted lane are not later than time. */
static size_t count_until(const struct lane *lane, uint64_t time)
{
	size_t low = lane->head.count, high = lane->filled;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lane->head.events[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low - lane->head.count;
}

/* Drop what was handed out, sort what waits. */
static int tidy(struct km_perfdata_order *order)
{
	end_merge(order);
	for (unsigned i = 0; i < order->lanes_limit; i++) {
		struct lane *lane = order->lanes[i];
		int r;

		if (!lane)
			continue;
		if (lane->head.at) {
			memmove(lane->head.events, lane->head.events + lane->head.at,
				(lane->filled - lane->head.at) * sizeof(*lane->head.events));
			lane->filled -= lane->head.at;
			lane->head.count -= lane->head.at;
			lane->head.at = 0;
		}
		r = lane->is_mixed ? sort_lane(order, lane) : 0;
		if (r)
			return r;
	}
	return 0;
}

/* Make everything up to `time` readable. The lanes are tidy. */
static int flush(struct km_perfdata_order *order, uint64_t time)
{
	size_t count = 0;

	order->streams = calloc(order->lanes_limit ? order->lanes_limit : 1, sizeof(struct km_merge_stream *));
	if (!order->streams)
		return -ENOMEM;
	for (unsigned i = 0; i < order->lanes_limit; i++) {
		struct lane *lane = order->lanes[i];
		size_t more = lane ? count_until(lane, time) : 0;

		if (!more)
			continue;
		lane->head.count += more;
		order->waiting_count -= more;
		order->streams[count++] = &lane->head;
	}
	if (time > order->flushed)
		order->flushed = time;
	order->merge = km_merge_new(order->streams, count);
	return order->merge ? 0 : -ENOMEM;
}

int km_perfdata_order_round(struct km_perfdata_order *order)
{
	int r = tidy(order);

	if (!r)
		r = flush(order, order->round_time);
	order->round_time = order->latest_time;
	return r;
}

int km_perfdata_order_until(struct km_perfdata_order *order, uint64_t time)
{
	int r = tidy(order);

	return r ? r : flush(order, time);
}

int km_perfdata_order_finish(struct km_perfdata_order *order)
{
	int r = tidy(order);

	return r ? r : flush(order, order->latest_time);
}

int km_perfdata_order_limit(struct km_perfdata_order *order)
{
	uint64_t low = order->flushed, high = order->latest_time;
	int r;

	if (order->waiting_count < order->limit)
		return 0;
	r = tidy(order);
	if (r)
		return r;
	/* The earliest time that half of them are not later than. */
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		size_t count = 0;

		for (unsigned i = 0; i < order->lanes_limit; i++)
			count += order->lanes[i] ? count_until(order->lanes[i], middle) : 0;
		if (count < order->waiting_count / 2)
			low = middle + 1;
		else
			high = middle;
	}
	order->forced_count++;
	return flush(order, low);
}

int km_perfdata_order_read(struct km_perfdata_order *order, struct km_event *events, size_t capacity,
			   struct km_error *error)
{
	return order->merge ? km_merge_read(order->merge, events, capacity, error) : 0;
}

uint64_t km_perfdata_order_late_count(const struct km_perfdata_order *order)
{
	return order->late_count;
}

uint64_t km_perfdata_order_forced_count(const struct km_perfdata_order *order)
{
	return order->forced_count;
}
