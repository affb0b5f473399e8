/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * histogram: a log-scaled histogram of 64-bit values that merges without
 * loss. Four bins an octave, so a bin's upper edge is at most 25 % above its
 * lower one.
 *
 * bin(v) = v for v < 4, else (e - 1) * 4 + ((v >> (e - 2)) & 3) with e the
 * index of v's highest set bit: bins 0 to 251. Memory grows with the range
 * of bins used, not with the values.
 */
#ifndef KM_HISTOGRAM_H
#define KM_HISTOGRAM_H

#include <stdint.h>

#define KM_HISTOGRAM_BINS 252

struct km_histogram {
	uint64_t count; /* values added */
	uint64_t min;   /* exact; meaningless while count is 0 */
	uint64_t max;   /* exact */
	uint16_t first; /* the bin of bins[0] */
	uint16_t length;
	uint64_t *bins; /* owned; NULL while empty */
};

static inline unsigned km_histogram_bin(uint64_t value)
{
	unsigned e;

	if (value < 4)
		return (unsigned)value;
	e = 63U - (unsigned)__builtin_clzll(value);
	return (e - 1) * 4 + (unsigned)((value >> (e - 2)) & 3);
}

/* The smallest value of a bin. */
uint64_t km_histogram_bin_low(unsigned bin);
/* The largest value of a bin. */
uint64_t km_histogram_bin_high(unsigned bin);

/* A histogram of all zero bytes is empty. Returns 0, or -ENOMEM with the histogram as it was. */
int km_histogram_add(struct km_histogram *h, uint64_t value);
/* The same as often as that. */
int km_histogram_add_times(struct km_histogram *h, uint64_t value, uint64_t times);
/* Take back a value that was added, so many times or as often as it is there; min and max stay. */
void km_histogram_remove(struct km_histogram *h, uint64_t value, uint64_t times);
int km_histogram_merge(struct km_histogram *into, const struct km_histogram *from);
void km_histogram_release(struct km_histogram *h);

/*
 * The value below or at which the share q (0 to 1) of the values lie: the
 * upper edge of the bin that holds it, within [min, max]. 0 when empty.
 */
uint64_t km_histogram_quantile(const struct km_histogram *h, double q);

#endif
