/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ties get the mean of their ranks, and the distribution is the one given
 * these ranks: the ways to choose a_count of the pooled ranks are counted by
 * their sum, rank after rank (the shift algorithm of B. Streitberg, J.
 * Roehmel: Exact distributions for permutation and rank tests. Statistical
 * Software Newsletter 12 (1986) 10-17). Ranks are doubled, so that mean ranks
 * are whole numbers. Two-sided: sums at least as far from their mean, on
 * either side, which without ties is twice the one tail.
 *
 * Larger samples: normal approximation with the variance corrected for ties,
 * and a continuity correction (E. L. Lehmann: Nonparametrics. Statistical
 * Methods Based on Ranks (1975), section 1.4 and appendix 3).
 */
#include "rank_test.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct ranked {
	double value;
	uint64_t rank2; /* twice its mean rank */
	size_t index;   /* into a, then b */
};

static int compare_values(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	return a->value < b->value ? -1 : a->value > b->value;
}

/* Sort and rank; returns the sum of t^3 - t over groups of t equal values. */
static double rank_values(struct ranked *values, size_t count)
{
	double ties = 0;

	qsort(values, count, sizeof(*values), compare_values);
	for (size_t from = 0, to; from < count; from = to) {
		double t;

		for (to = from + 1; to < count && values[to].value <= values[from].value; to++)
			;
		for (size_t i = from; i < to; i++)
			values[i].rank2 = from + to + 1; /* 2 * mean of from + 1 .. to */
		t = (double)(to - from);
		ties += t * t * t - t;
	}
	return ties;
}

/* ways[k * room + s]: choices of k ranks with doubled sum s. Up to C(40, 20) < 2^53: exact as doubles. */
static double exact_p(const struct ranked *values, size_t count, size_t chosen, uint64_t sum2)
{
	size_t room = 1;
	uint64_t mean2 = chosen * (count + 1), distance;
	double *ways, far = 0, all = 0;

	for (size_t i = 0; i < count; i++)
		room += values[i].rank2;
	ways = calloc((chosen + 1) * room, sizeof(*ways));
	if (!ways)
		return -ENOMEM;
	ways[0] = 1;
	for (size_t i = 0; i < count; i++) {
		size_t rank = values[i].rank2;

		for (size_t k = chosen < i + 1 ? chosen : i + 1; k > 0; k--) {
			double *to = ways + k * room;
			const double *from = ways + (k - 1) * room;

			for (size_t s = rank; s < room; s++)
				to[s] += from[s - rank];
		}
	}
	distance = sum2 > mean2 ? sum2 - mean2 : mean2 - sum2;
	for (uint64_t s = 0; s < room; s++) {
		double n = ways[chosen * room + s];

		all += n;
		if ((s > mean2 ? s - mean2 : mean2 - s) >= distance)
			far += n;
	}
	free(ways);
	return far / all;
}

static double normal_p(size_t a_count, size_t b_count, double sum2, double ties)
{
	double m = (double)a_count, n = (double)b_count, all = m + n;
	double variance = m * n / 12 * (all + 1 - ties / (all * (all - 1)));
	double distance = fabs(sum2 / 2 - m * (all + 1) / 2) - 0.5;

	return distance > 0 ? erfc(distance / sqrt(variance) / sqrt(2)) : 1;
}

double km_rank_test(const double *a, size_t a_count, const double *b, size_t b_count)
{
	size_t count = a_count + b_count, chosen;
	struct ranked *values;
	uint64_t sum2 = 0;
	bool takes_a;
	double ties, p;

	if (a_count > KM_RANK_TEST_MOST || b_count > KM_RANK_TEST_MOST)
		return -E2BIG;
	if (!a_count || !b_count)
		return 1;
	values = calloc(count, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		values[i] = (struct ranked){ .value = i < a_count ? a[i] : b[i - a_count], .index = i };
	ties = rank_values(values, count);
	/* The smaller sample has fewer sums; by symmetry p is the same. */
	takes_a = a_count <= b_count;
	chosen = takes_a ? a_count : b_count;
	for (size_t i = 0; i < count; i++) {
		if ((values[i].index < a_count) == takes_a)
			sum2 += values[i].rank2;
	}
	if (values[0].value >= values[count - 1].value)
		p = 1;
	else if (count <= KM_RANK_TEST_EXACT)
		p = exact_p(values, count, chosen, sum2);
	else
		p = normal_p(chosen, count - chosen, (double)sum2, ties);
	free(values);
	return p;
}

double km_rank_test_least_p(size_t a_count, size_t b_count)
{
	double ways = 1;

	for (size_t i = 1; i <= a_count; i++)
		ways *= (double)(b_count + i) / (double)i;
	return ways > 2 ? 2 / ways : 1;
}

struct placed {
	double p;
	size_t index;
};

static int compare_placed(const void *x, const void *y)
{
	const struct placed *a = x, *b = y;

	if (a->p < b->p || a->p > b->p)
		return a->p < b->p ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

int km_rank_test_correct(double *p, size_t count)
{
	struct placed *order = calloc(count ? count : 1, sizeof(*order));
	double least = 1;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		order[i] = (struct placed){ p[i], i };
	qsort(order, count, sizeof(*order), compare_placed);
	for (size_t i = count; i-- > 0;) {
		double corrected = order[i].p * (double)count / (double)(i + 1);

		if (corrected < least)
			least = corrected;
		p[order[i].index] = least;
	}
	free(order);
	return 0;
}
