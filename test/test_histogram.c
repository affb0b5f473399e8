/* SPDX-License-Identifier: GPL-2.0-only */
#include "histogram.h"

#include <math.h>
#include <string.h>

#include "testing.h"

/* The same numbers for every run. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

START_TEST(bins_tile_all_values)
{
	ck_assert_uint_eq(km_histogram_bin_low(0), 0);
	for (unsigned bin = 0; bin < KM_HISTOGRAM_BINS; bin++) {
		uint64_t low = km_histogram_bin_low(bin), high = km_histogram_bin_high(bin);

		ck_assert_uint_le(low, high);
		ck_assert_uint_eq(km_histogram_bin(low), bin);
		ck_assert_uint_eq(km_histogram_bin(high), bin);
		ck_assert_uint_le(high - low, low / 4);
		if (bin + 1 < KM_HISTOGRAM_BINS)
			ck_assert_uint_eq(km_histogram_bin_low(bin + 1), high + 1);
	}
	ck_assert_uint_eq(km_histogram_bin_high(KM_HISTOGRAM_BINS - 1), UINT64_MAX);
	ck_assert_uint_eq(km_histogram_bin_high(UINT32_MAX), UINT64_MAX);
}
END_TEST

START_TEST(an_empty_one_has_no_quantile)
{
	struct km_histogram h = { 0 };

	ck_assert_uint_eq(km_histogram_quantile(&h, 0.5), 0);
	km_histogram_release(&h);
	km_histogram_release(NULL);
}
END_TEST

START_TEST(one_value_is_every_quantile)
{
	struct km_histogram h = { 0 };
	const double shares[] = { 0, 0.5, 1, -1, 2, NAN };

	ck_assert_int_eq(km_histogram_add(&h, 1000), 0);
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++)
		ck_assert_uint_eq(km_histogram_quantile(&h, shares[i]), 1000);
	km_histogram_release(&h);
	ck_assert_ptr_null(h.bins);
	ck_assert_uint_eq(h.count, 0);
}
END_TEST

START_TEST(quantiles_of_small_values_are_exact)
{
	struct km_histogram h = { 0 };

	for (uint64_t value = 0; value < 4; value++)
		ck_assert_int_eq(km_histogram_add(&h, value), 0);
	ck_assert_uint_eq(km_histogram_quantile(&h, 0), 0);
	ck_assert_uint_eq(km_histogram_quantile(&h, 0.25), 0);
	ck_assert_uint_eq(km_histogram_quantile(&h, 0.26), 1);
	ck_assert_uint_eq(km_histogram_quantile(&h, 0.5), 1);
	ck_assert_uint_eq(km_histogram_quantile(&h, 0.75), 2);
	ck_assert_uint_eq(km_histogram_quantile(&h, 1), 3);
	km_histogram_release(&h);
}
END_TEST

/* 1 to 1000: the true quantile is known, the answer is at most one bin above it. */
START_TEST(quantiles_are_within_a_bin)
{
	struct km_histogram h = { 0 };

	for (uint64_t value = 1000; value; value--)
		ck_assert_int_eq(km_histogram_add(&h, value), 0);
	for (unsigned percent = 1; percent <= 100; percent++) {
		uint64_t quantile = km_histogram_quantile(&h, percent / 100.0);

		ck_assert_uint_ge(quantile, percent * 10);
		ck_assert_uint_le(quantile, percent * 10 + percent * 10 / 4 + 1);
		ck_assert_uint_le(quantile, 1000);
	}
	km_histogram_release(&h);
}
END_TEST

START_TEST(memory_follows_the_range)
{
	struct km_histogram h = { 0 };

	ck_assert_int_eq(km_histogram_add(&h, 4096), 0);
	ck_assert_uint_eq(h.length, 1);
	ck_assert_int_eq(km_histogram_add(&h, 8192), 0);
	ck_assert_uint_eq(h.length, 5);
	ck_assert_int_eq(km_histogram_add(&h, 4097), 0);
	ck_assert_uint_eq(h.length, 5);
	ck_assert_int_eq(km_histogram_add(&h, 2048), 0);
	ck_assert_uint_eq(h.length, 9);
	ck_assert_uint_eq(h.first, km_histogram_bin(2048));
	ck_assert_uint_eq(h.min, 2048);
	ck_assert_uint_eq(h.max, 8192);
	ck_assert_int_eq(km_histogram_add(&h, 0), 0);
	ck_assert_int_eq(km_histogram_add(&h, UINT64_MAX), 0);
	ck_assert_uint_eq(h.length, KM_HISTOGRAM_BINS);
	ck_assert_uint_eq(h.bins[km_histogram_bin(4096)], 2);
	ck_assert_uint_eq(km_histogram_quantile(&h, 1), UINT64_MAX);
	km_histogram_release(&h);
}
END_TEST

/* Values dealt out to several histograms and merged are the histogram of all of them. */
START_TEST(merging_loses_nothing)
{
	struct km_histogram all = { 0 }, parts[3] = { 0 }, merged = { 0 };
	uint64_t state = 88172645463325252;

	for (unsigned i = 0; i < 5000; i++) {
		uint64_t random = next_random(&state), value = random >> (random & 63);

		ck_assert_int_eq(km_histogram_add(&all, value), 0);
		ck_assert_int_eq(km_histogram_add(&parts[value % 3], value), 0);
	}
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(km_histogram_merge(&merged, &parts[i]), 0);
	ck_assert_uint_eq(merged.count, 5000);
	ck_assert_uint_eq(merged.min, all.min);
	ck_assert_uint_eq(merged.max, all.max);
	ck_assert_uint_eq(merged.first, all.first);
	ck_assert_uint_eq(merged.length, all.length);
	ck_assert_mem_eq(merged.bins, all.bins, all.length * sizeof(*all.bins));
	km_histogram_release(&all);
	km_histogram_release(&merged);
	for (unsigned i = 0; i < 3; i++)
		km_histogram_release(&parts[i]);
}
END_TEST

START_TEST(merging_an_empty_one_changes_nothing)
{
	struct km_histogram h = { 0 }, empty = { 0 };

	ck_assert_int_eq(km_histogram_merge(&h, &empty), 0);
	ck_assert_ptr_null(h.bins);
	ck_assert_int_eq(km_histogram_add(&h, 7), 0);
	ck_assert_int_eq(km_histogram_merge(&h, &empty), 0);
	ck_assert_uint_eq(h.count, 1);
	ck_assert_uint_eq(h.min, 7);
	ck_assert_int_eq(km_histogram_merge(&h, &h), 0);
	ck_assert_uint_eq(h.count, 2);
	ck_assert_uint_eq(h.bins[0], 2);
	km_histogram_release(&h);
}
END_TEST

START_TEST(a_value_may_be_added_many_times)
{
	struct km_histogram h = { 0 };

	ck_assert_int_eq(km_histogram_add_times(&h, 50, 0), 0);
	ck_assert_uint_eq(h.count, 0);
	ck_assert_int_eq(km_histogram_add_times(&h, 50, 8), 0);
	ck_assert_int_eq(km_histogram_add(&h, 1000), 0);
	ck_assert_uint_eq(h.count, 9);
	ck_assert_uint_eq(h.min, 50);
	ck_assert_uint_le(km_histogram_quantile(&h, 0.88), km_histogram_bin_high(km_histogram_bin(50)));
	km_histogram_remove(&h, 50, 3);
	ck_assert_uint_eq(h.count, 6);
	km_histogram_remove(&h, 50, 30); /* no more than there is */
	km_histogram_remove(&h, 5, 30);
	ck_assert_uint_eq(h.count, 1);
	km_histogram_release(&h);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		bins_tile_all_values,
		an_empty_one_has_no_quantile,
		one_value_is_every_quantile,
		quantiles_of_small_values_are_exact,
		quantiles_are_within_a_bin,
		memory_follows_the_range,
		merging_loses_nothing,
		merging_an_empty_one_changes_nothing,
		a_value_may_be_added_many_times,
		NULL,
	};

	return km_test_main("histogram", tests, 10);
}
