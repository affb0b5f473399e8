/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tuples: numbers for tuples of 64-bit values: equal tuples get equal
 * numbers, counted from 0 in the order of their first sight. Bounded by a
 * limit that the caller sets. It does not remove.
 */
#ifndef KM_TUPLES_H
#define KM_TUPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KM_TUPLES_NONE UINT32_MAX

struct km_tuples {
	unsigned width; /* values in a tuple */
	uint32_t count;
	uint32_t limit;
	uint32_t values_room; /* tuples that values[] can hold */
	uint64_t *values;     /* owned; tuple i is values[i * width ...] */
	uint32_t *slots;      /* owned; number + 1, 0: free */
	uint32_t slots_count; /* a power of two, or 0 */
};

void km_tuples_init(struct km_tuples *tuples, unsigned width, uint32_t limit);
void km_tuples_release(struct km_tuples *tuples);

/* The tuple's number; a new one if ret_is_new says so. KM_TUPLES_NONE when out of memory or at the limit. */
uint32_t km_tuples_add(struct km_tuples *tuples, const uint64_t *tuple, bool *ret_is_new);
/* The number of a tuple that is known, else KM_TUPLES_NONE. */
uint32_t km_tuples_find(const struct km_tuples *tuples, const uint64_t *tuple);

static inline const uint64_t *km_tuples_get(const struct km_tuples *tuples, uint32_t number)
{
	return tuples->values + (size_t)number * tuples->width;
}

#endif
