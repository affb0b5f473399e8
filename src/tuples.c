/* SPDX-License-Identifier: GPL-2.0-only */
#include "tuples.h"

#include <stdlib.h>
#include <string.h>

void km_tuples_init(struct km_tuples *tuples, unsigned width, uint32_t limit)
{
	*tuples = (struct km_tuples){ .width = width, .limit = limit };
}

void km_tuples_release(struct km_tuples *tuples)
{
	free(tuples->values);
	free(tuples->slots);
	km_tuples_init(tuples, tuples->width, tuples->limit);
}

static uint64_t hash_of(const uint64_t *tuple, unsigned width)
{
	uint64_t hash = 0;

	for (unsigned i = 0; i < width; i++) {
		hash = (hash ^ tuple[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash;
}

/* The slot that holds the tuple, or the free one where it would go. */
static uint32_t find_slot(const struct km_tuples *t, const uint64_t *tuple)
{
	uint32_t mask = t->slots_count - 1;
	uint32_t i = (uint32_t)hash_of(tuple, t->width) & mask;

	while (t->slots[i] && memcmp(km_tuples_get(t, t->slots[i] - 1), tuple, t->width * sizeof(*tuple)))
		i = (i + 1) & mask;
	return i;
}

static bool rehash(struct km_tuples *t, uint32_t slots_count)
{
	uint32_t *slots = calloc(slots_count, sizeof(*slots));

	if (!slots)
		return false;
	free(t->slots);
	t->slots = slots;
	t->slots_count = slots_count;
	for (uint32_t i = 0; i < t->count; i++)
		t->slots[find_slot(t, km_tuples_get(t, i))] = i + 1;
	return true;
}

static bool make_room(struct km_tuples *t)
{
	if (2 * (uint64_t)(t->count + 1) > t->slots_count && !rehash(t, t->slots_count ? t->slots_count * 2 : 64))
		return false;
	if (t->count == t->values_room) {
		uint32_t room = t->values_room ? t->values_room * 2 : 32;
		uint64_t *values = reallocarray(t->values, (size_t)room * t->width, sizeof(*values));

		if (!values)
			return false;
		t->values = values;
		t->values_room = room;
	}
	return true;
}

uint32_t km_tuples_find(const struct km_tuples *t, const uint64_t *tuple)
{
	uint32_t slot;

	if (!t->count)
		return KM_TUPLES_NONE;
	slot = t->slots[find_slot(t, tuple)];
	return slot ? slot - 1 : KM_TUPLES_NONE;
}

uint32_t km_tuples_add(struct km_tuples *t, const uint64_t *tuple, bool *ret_is_new)
{
	uint32_t number = km_tuples_find(t, tuple);

	*ret_is_new = false;
	if (number != KM_TUPLES_NONE)
		return number;
	if (t->count >= t->limit || !make_room(t))
		return KM_TUPLES_NONE;
	number = t->count;
	memcpy(t->values + (size_t)number * t->width, tuple, t->width * sizeof(*tuple));
	t->slots[find_slot(t, tuple)] = number + 1;
	t->count++;
	*ret_is_new = true;
	return number;
}
