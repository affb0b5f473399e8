/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One lane a CPU:
 *
 *	events[0 .. count)      readable: not later than `flushed`
 *	      [count .. filled) waiting
 *
 * A bundle takes the arrays as they are, and merges their readable parts; the
 * lanes go on in others, into which what waits is copied. Arrays come back
 * to be used again. A lane is nearly in order by itself
 * (an interrupt's event may stand before that of the task it interrupted),
 * so an event goes to its place with a few steps back; a lane that is not
 * (several CPUs in one, where the recording has no CPU numbers) is sorted
 * when it is flushed.
 */
#include "perfdata_order.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "merge.h"

#define STEPS_BACK 32U
#define LANE_LEAST 64U
#define HUGE_BYTES ((size_t)2 << 20)

struct lane {
	struct km_event *events;
	size_t count, filled, room;
	bool is_mixed; /* its waiting events are not in order */
};

struct array {
	struct km_event *events;
	size_t room;
	struct array *next; /* free ones only */
};

/* A lane's part of a bundle. */
struct part {
	struct km_merge_stream stream;
	struct array *array;
};

struct km_perfdata_bundle {
	struct km_perfdata_order *order;
	size_t events_count;
	struct km_merge *merge;
	struct km_merge_stream **streams;
	struct part *parts;
	size_t parts_count;
};

struct km_perfdata_order {
	size_t limit;
	struct lane *lanes[KM_CPU_LIMIT]; /* by CPU */
	unsigned lanes_limit;             /* above the highest one there is */
	size_t waiting_count, readable_count;
	bool must_take;      /* what waits may be as early as what is readable */
	uint64_t round_time; /* the latest time of the rounds that are finished */
	uint64_t latest_time;
	uint64_t flushed; /* the latest time that may have been handed out */
	struct km_event *scratch;
	size_t scratch_room;
	uint64_t late_count, forced_count;
	pthread_mutex_t mutex; /* of: */
	struct array *free_arrays;
};

struct km_perfdata_order *km_perfdata_order_new(size_t limit)
{
	struct km_perfdata_order *order = calloc(1, sizeof(*order));

	if (!order)
		return NULL;
	order->limit = limit < 2 ? 2 : limit;
	pthread_mutex_init(&order->mutex, NULL);
	return order;
}

void km_perfdata_order_free(struct km_perfdata_order *order)
{
	if (!order)
		return;
	for (unsigned i = 0; i < order->lanes_limit; i++) {
		if (order->lanes[i])
			free(order->lanes[i]->events);
		free(order->lanes[i]);
	}
	while (order->free_arrays) {
		struct array *array = order->free_arrays;

		order->free_arrays = array->next;
		free(array->events);
		free(array);
	}
	pthread_mutex_destroy(&order->mutex);
	free(order->scratch);
	free(order);
}

/* All that is readable of a lane is in the bundle from the start. */
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
	order->lanes[cpu] = lane;
	if (cpu >= order->lanes_limit)
		order->lanes_limit = cpu + 1;
	return lane;
}

/* Rounds of rings of many MiB take as many MiB here: in large pages there is less to fault in. */
static struct km_event *allocate(size_t count)
{
	size_t bytes = count * sizeof(struct km_event);
	struct km_event *events;

	if (count > SIZE_MAX / 2 / sizeof(*events))
		return NULL;
	if (bytes < HUGE_BYTES)
		return malloc(bytes);
	bytes = (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
	events = aligned_alloc(HUGE_BYTES, bytes);
	if (events)
		madvise(events, bytes, MADV_HUGEPAGE);
	return events;
}

/* An array that came back and has room for more than `count`; NULL: there is none. */
static struct array *find_array(struct km_perfdata_order *order, size_t count)
{
	struct array *found = NULL;

	pthread_mutex_lock(&order->mutex);
	for (struct array **at = &order->free_arrays; *at && !found;) {
		if ((*at)->room > count) {
			found = *at;
			*at = found->next;
		} else {
			at = &(*at)->next;
		}
	}
	pthread_mutex_unlock(&order->mutex);
	return found;
}

/* A larger array: one that came back, else the lane's own grows. */
static int make_room(struct km_perfdata_order *order, struct lane *lane)
{
	struct array *array = find_array(order, lane->room);
	size_t room = lane->room ? lane->room * 2 : LANE_LEAST;
	struct km_event *larger;

	if (array) {
		if (lane->filled)
			memcpy(array->events, lane->events, lane->filled * sizeof(*lane->events));
		free(lane->events);
		lane->events = array->events;
		lane->room = array->room;
		free(array);
		return 0;
	}
	larger = allocate(room);
	if (!larger)
		return -ENOMEM;
	if (lane->filled)
		memcpy(larger, lane->events, lane->filled * sizeof(*larger));
	free(lane->events);
	lane->events = larger;
	lane->room = room;
	return 0;
}

int km_perfdata_order_add(struct km_perfdata_order *order, const struct km_event *event)
{
	struct lane *lane = lane_of(order, event->cpu);
	uint64_t time = event->time;
	struct km_event *at;

	if (!lane || (lane->filled == lane->room && make_room(order, lane)))
		return -ENOMEM;
	order->must_take |= time <= order->flushed;
	if (time < order->flushed) {
		time = order->flushed;
		order->late_count += km_event_is_slab(event);
	}
	at = lane->events + lane->filled;
	for (size_t steps = 0; at > lane->events + lane->count && time < at[-1].time; at--) {
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
	return order->waiting_count >= order->limit;
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
	size_t count = lane->filled - lane->count;
	struct km_event *from = lane->events + lane->count, *to;

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
	size_t low = lane->count, high = lane->filled;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lane->events[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low - lane->count;
}

/* Sort what waits. */
static int tidy(struct km_perfdata_order *order)
{
	for (unsigned i = 0; i < order->lanes_limit; i++) {
		struct lane *lane = order->lanes[i];
		int r = lane && lane->is_mixed ? sort_lane(order, lane) : 0;

		if (r)
			return r;
	}
	return 0;
}

/* Make everything up to `time` readable. The lanes are tidy. */
static void flush(struct km_perfdata_order *order, uint64_t time)
{
	for (unsigned i = 0; i < order->lanes_limit; i++) {
		struct lane *lane = order->lanes[i];
		size_t more = lane ? count_until(lane, time) : 0;

		if (!more)
			continue;
		lane->count += more;
		order->waiting_count -= more;
		order->readable_count += more;
	}
	if (time > order->flushed)
		order->flushed = time;
}

int km_perfdata_order_round(struct km_perfdata_order *order)
{
	int r = tidy(order);

	if (!r)
		flush(order, order->round_time);
	order->round_time = order->latest_time;
	return r;
}

int km_perfdata_order_until(struct km_perfdata_order *order, uint64_t time)
{
	int r = tidy(order);

	if (!r)
		flush(order, time);
	return r;
}

int km_perfdata_order_finish(struct km_perfdata_order *order)
{
	int r = tidy(order);

	if (!r)
		flush(order, order->latest_time);
	return r;
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
	flush(order, low);
	return 0;
}

/* --- bundles --- */

bool km_perfdata_order_is_ready(const struct km_perfdata_order *order, size_t least)
{
	return order->readable_count >= least || (order->readable_count && order->must_take);
}

/* An array with room for `count`: one that came back, or a new one, which grows when it is filled. NULL: no memory. */
static struct array *get_array(struct km_perfdata_order *order, size_t count)
{
	struct array *array = find_array(order, count);

	if (array)
		return array;
	array = calloc(1, sizeof(*array));
	if (!array || !count)
		return array;
	array->events = allocate(count);
	array->room = count;
	if (array->events)
		return array;
	free(array);
	return NULL;
}

static void put_array(struct km_perfdata_order *order, struct array *array)
{
	pthread_mutex_lock(&order->mutex);
	array->next = order->free_arrays;
	order->free_arrays = array;
	pthread_mutex_unlock(&order->mutex);
}

/* The lane's array goes over to the part; what waits goes into another one. */
static int take_lane(struct km_perfdata_order *order, struct lane *lane, struct part *part)
{
	size_t waiting = lane->filled - lane->count;
	struct array *array = get_array(order, waiting);
	struct km_event *events;
	size_t room;

	if (!array)
		return -ENOMEM;
	if (waiting)
		memcpy(array->events, lane->events + lane->count, waiting * sizeof(*lane->events));
	events = array->events;
	room = array->room;
	array->events = lane->events;
	array->room = lane->room;
	part->array = array;
	part->stream = (struct km_merge_stream){ .events = lane->events, .count = lane->count, .refill = refill };
	lane->events = events;
	lane->room = room;
	lane->count = 0;
	lane->filled = waiting;
	return 0;
}

int km_perfdata_order_take(struct km_perfdata_order *order, struct km_perfdata_bundle **ret_bundle)
{
	struct km_perfdata_bundle *bundle;

	*ret_bundle = NULL;
	order->must_take = false;
	if (!order->readable_count)
		return 0;
	bundle = calloc(1, sizeof(*bundle));
	if (!bundle)
		return -ENOMEM;
	bundle->order = order;
	bundle->parts = calloc(order->lanes_limit, sizeof(*bundle->parts));
	bundle->streams = calloc(order->lanes_limit, sizeof(struct km_merge_stream *));
	if (!bundle->parts || !bundle->streams)
		goto no_memory;
	for (unsigned i = 0; i < order->lanes_limit; i++) {
		struct lane *lane = order->lanes[i];
		struct part *part = &bundle->parts[bundle->parts_count];

		if (!lane || !lane->count)
			continue;
		bundle->events_count += lane->count;
		order->readable_count -= lane->count;
		if (take_lane(order, lane, part))
			goto no_memory;
		bundle->streams[bundle->parts_count++] = &part->stream;
	}
	bundle->merge = km_merge_new(bundle->streams, bundle->parts_count);
	if (!bundle->merge)
		goto no_memory;
	*ret_bundle = bundle;
	return 0;
no_memory:
	km_perfdata_bundle_free(bundle);
	return -ENOMEM;
}

int km_perfdata_bundle_read(struct km_perfdata_bundle *bundle, struct km_event *events, size_t capacity,
			    struct km_error *error)
{
	return km_merge_read(bundle->merge, events, capacity, error);
}

size_t km_perfdata_bundle_count(const struct km_perfdata_bundle *bundle)
{
	return bundle->events_count;
}

void km_perfdata_bundle_free(struct km_perfdata_bundle *bundle)
{
	if (!bundle)
		return;
	for (size_t i = 0; i < bundle->parts_count; i++)
		put_array(bundle->order, bundle->parts[i].array);
	km_merge_free(bundle->merge);
	free(bundle->streams);
	free(bundle->parts);
	free(bundle);
}

uint64_t km_perfdata_order_late_count(const struct km_perfdata_order *order)
{
	return order->late_count;
}

uint64_t km_perfdata_order_forced_count(const struct km_perfdata_order *order)
{
	return order->forced_count;
}
