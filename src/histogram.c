/* SPDX-License-Identifier: GPL-2.0-only */
#include "histogram.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t km_histogram_bin_low(unsigned bin)
{
	if (bin < 4)
		return bin;
	if (bin >= KM_HISTOGRAM_BINS)
		return UINT64_MAX;
	return (uint64_t)(4 + bin % 4) << (bin / 4 - 1);
}

uint64_t km_histogram_bin_high(unsigned bin)
{
	return bin >= KM_HISTOGRAM_BINS - 1 ? UINT64_MAX : km_histogram_bin_low(bin + 1) - 1;
}

/* Makes room for bins first to last, both included. */
static int cover(struct km_histogram *h, unsigned first, unsigned last)
{
	uint64_t *bins;

	if (h->bins) {
		unsigned old_last = h->first + h->length - 1U;

		if (first >= h->first && last <= old_last)
			return 0;
		if (first > h->first)
			first = h->first;
		if (last < old_last)
			last = old_last;
	}
	bins = calloc(last - first + 1, sizeof(*bins));
	if (!bins)
		return -ENOMEM;
	if (h->bins)
		memcpy(bins + (h->first - first), h->bins, h->length * sizeof(*bins));
	free(h->bins);
	h->bins = bins;
	h->first = (uint16_t)first;
	h->length = (uint16_t)(last - first + 1);
	return 0;
}

static inline __attribute__((always_inline)) int add(struct km_histogram *h, uint64_t value, uint64_t times)
{
	unsigned bin = km_histogram_bin(value);

	/* One comparison for both ends; true also while there are no bins. */
	if (bin - h->first >= h->length) {
		int code = cover(h, bin, bin);

		if (code < 0)
			return code;
	}
	h->bins[bin - h->first] += times;
	if (!h->count || value < h->min)
		h->min = value;
	if (!h->count || value > h->max)
		h->max = value;
	h->count += times;
	return 0;
}

int km_histogram_add(struct km_histogram *h, uint64_t value)
{
	return add(h, value, 1);
}

int km_histogram_add_times(struct km_histogram *h, uint64_t value, uint64_t times)
{
	return times ? add(h, value, times) : 0;
}

int km_histogram_merge(struct km_histogram *into, const struct km_histogram *from)
{
	int code;

	if (!from->count)
		return 0;
	code = cover(into, from->first, from->first + from->length - 1U);
	if (code < 0)
		return code;
	for (unsigned i = 0; i < from->length; i++)
		into->bins[from->first - into->first + i] += from->bins[i];
	if (!into->count || from->min < into->min)
		into->min = from->min;
	if (!into->count || from->max > into->max)
		into->max = from->max;
	into->count += from->count;
	return 0;
}

void km_histogram_release(struct km_histogram *h)
{
	if (!h)
		return;
	free(h->bins);
	memset(h, 0, sizeof(*h));
}

/* Which value, counted from 1 in ascending order, is the quantile: at least q * count values are up to it. */
static uint64_t rank_of(uint64_t count, double q)
{
	double rank = ceil(q * (double)count);

	if (!(rank > 1)) /* also for a q that is not a number */
		return 1;
	return rank < (double)count ? (uint64_t)rank : count;
}

uint64_t km_histogram_quantile(const struct km_histogram *h, double q)
{
	uint64_t rank, seen = 0, high = h->max;

	if (!h->count)
		return 0;
	rank = rank_of(h->count, q);
	for (unsigned i = 0; i < h->length; i++) {
		seen += h->bins[i];
		if (seen >= rank) {
			high = km_histogram_bin_high(h->first + i);
			break;
		}
	}
	if (high < h->min)
		return h->min;
	return high > h->max ? h->max : high;
}

void km_histogram_remove(struct km_histogram *h, uint64_t value, uint64_t times)
{
	unsigned bin = km_histogram_bin(value);

	if (bin < h->first || bin - h->first >= h->length)
		return;
	if (times > h->bins[bin - h->first])
		times = h->bins[bin - h->first];
	h->bins[bin - h->first] -= times;
	h->count -= times;
}
