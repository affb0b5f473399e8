/* SPDX-License-Identifier: GPL-2.0-only */
#include "tie_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A tie this small is looked through without tables. */
#define FEW 16

/* An address in the tie. */
struct address {
	uint64_t ptr; /* 0: free slot */
	uint16_t cpu; /* the first CPU that has it */
	bool shared;  /* another CPU has it too */
	bool has_free;
	bool is_unknown; /* sampled out: whether it is live is not known */
	/* As the simulation goes on: */
	bool live;
	bool in_table; /* live, and it takes a slot: what lives from before the trace does not */
};

/* One CPU's events: [at, end) are still to be taken. */
struct lane {
	size_t at, end;
};

struct km_tie_order {
	struct address *addresses;
	size_t addresses_room; /* a power of two */
	struct lane *lanes;
	size_t lanes_room;
	struct km_event *taken;
	size_t taken_room;
};

struct km_tie_order *km_tie_order_new(void)
{
	return calloc(1, sizeof(struct km_tie_order));
}

void km_tie_order_free(struct km_tie_order *order)
{
	if (!order)
		return;
	free(order->addresses);
	free(order->lanes);
	free(order->taken);
	free(order);
}

/* Room for count items in the array whose pointer is at `array`. */
static int grow(void *array, size_t *room, size_t count, size_t item)
{
	void *old, *larger;
	size_t wanted = *room ? *room : 64;

	while (wanted < count)
		wanted *= 2;
	if (wanted == *room)
		return 0;
	memcpy(&old, array, sizeof(old));
	larger = reallocarray(old, wanted, item);
	if (!larger)
		return -ENOMEM;
	memcpy(array, &larger, sizeof(larger));
	*room = wanted;
	return 0;
}

static bool has_object(const struct km_event *event)
{
	return km_event_is_slab(event) && event->ptr && event->ptr != KM_ZERO_SIZE_PTR;
}

static struct address *find(struct km_tie_order *order, uint64_t ptr)
{
	size_t mask = order->addresses_room - 1;
	size_t i = (size_t)((ptr ^ ptr >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;

	while (order->addresses[i].ptr && order->addresses[i].ptr != ptr)
		i = (i + 1) & mask;
	return &order->addresses[i];
}

/* Which addresses there are, on which CPUs, and whether they are live before the tie. */
static void note_addresses(struct km_tie_order *order, const struct km_replay *replay, const struct km_event *events,
			   size_t count)
{
	memset(order->addresses, 0, order->addresses_room * sizeof(*order->addresses));
	for (size_t i = 0; i < count; i++) {
		struct address *address;

		if (!has_object(&events[i]))
			continue;
		address = find(order, events[i].ptr);
		if (!address->ptr) {
			address->ptr = events[i].ptr;
			address->cpu = events[i].cpu;
			address->is_unknown = !km_replay_hash_keeps(km_replay_table(replay), events[i].ptr);
			address->in_table = km_replay_hash_find(km_replay_table(replay), events[i].ptr) != NULL;
			address->live = address->in_table;
		}
		address->shared |= address->cpu != events[i].cpu;
		address->has_free |= km_event_is_free(&events[i]);
	}
	for (size_t i = 0; i < order->addresses_room; i++) {
		struct address *address = &order->addresses[i];

		if (address->ptr && address->has_free && !address->live && !km_replay_was_seen(replay, address->ptr))
			address->live = true; /* from before the trace */
	}
}

static bool may_go(struct km_tie_order *order, const struct km_event *event)
{
	const struct address *address;

	if (!has_object(event))
		return true;
	address = find(order, event->ptr);
	return !address->shared || address->is_unknown || address->live == km_event_is_free(event);
}

/* What the event does to its address; room: how many more objects the table can take. */
static void simulate(struct km_tie_order *order, const struct km_event *event, uint64_t *room)
{
	struct address *address;

	if (!has_object(event))
		return;
	address = find(order, event->ptr);
	if (address->is_unknown)
		return;
	if (km_event_is_free(event)) {
		*room += address->in_table;
		address->live = address->in_table = false;
	} else if (!address->in_table && *room) {
		address->live = address->in_table = true;
		--*room;
	}
}

/* Whether an address stands on two CPUs: else there is nothing to order. Only for a few events. */
static bool is_shared(const struct km_event *events, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (!has_object(&events[i]))
			continue;
		for (size_t j = 0; j < i; j++) {
			if (events[j].ptr == events[i].ptr && events[j].cpu != events[i].cpu)
				return true;
		}
	}
	return false;
}

int km_tie_order_resolve(struct km_tie_order *order, const struct km_replay *replay, struct km_event *events,
			 size_t count, struct km_error *error)
{
	const struct km_replay_hash *table = km_replay_table(replay);
	bool is_bounded = km_replay_when_full(replay) == KM_WHEN_FULL_DROP && (table->fixed || table->bound_is_reached);
	uint64_t room = is_bounded ? table->capacity - table->count : UINT64_MAX / 2;
	size_t lanes = 0, taken = 0, first_lane = 0;

	for (size_t i = 0; i < count; i++)
		lanes += i == 0 || events[i].cpu != events[i - 1].cpu;
	if (lanes < 2 || (count <= FEW && !is_shared(events, count)))
		return 0;
	if (grow(&order->addresses, &order->addresses_room, 2 * count, sizeof(*order->addresses)) ||
	    grow(&order->lanes, &order->lanes_room, lanes, sizeof(*order->lanes)) ||
	    grow(&order->taken, &order->taken_room, count, sizeof(*order->taken)))
		return km_error_set(error, -ENOMEM, "out of memory for %zu events of one time", count);
	note_addresses(order, replay, events, count);
	lanes = 0;
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || events[i].cpu != events[i - 1].cpu)
			order->lanes[lanes++].at = i;
		order->lanes[lanes - 1].end = i + 1;
	}
	while (taken < count) {
		size_t chosen;

		while (order->lanes[first_lane].at == order->lanes[first_lane].end)
			first_lane++;
		for (chosen = first_lane; chosen < lanes; chosen++) {
			struct lane *lane = &order->lanes[chosen];

			if (lane->at < lane->end && may_go(order, &events[lane->at]))
				break;
		}
		if (chosen == lanes)
			chosen = first_lane;
		order->taken[taken] = events[order->lanes[chosen].at++];
		simulate(order, &order->taken[taken++], &room);
	}
	memcpy(events, order->taken, count * sizeof(*events));
	return 0;
}
