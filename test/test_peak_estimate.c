/* SPDX-License-Identifier: GPL-2.0-only */
#include "peak_estimate.h"

#include <inttypes.h>
#include <stdlib.h>

#include "naive_model.h"
#include "testing.h"

#define FIRST UINT64_C(0xffff888100000000)

static struct km_peak_estimate *new_estimate(void)
{
	return calloc(1, sizeof(struct km_peak_estimate));
}

/* Up to what the sample holds nothing is estimated. */
START_TEST(exact_while_all_fit)
{
	struct km_peak_estimate *e = new_estimate();

	for (uint64_t i = 0; i < KM_PEAK_ESTIMATE_COUNT; i++)
		km_peak_estimate_add(e, FIRST + 64 * i);
	ck_assert_uint_eq(e->k, 0);
	ck_assert_uint_eq(e->count, KM_PEAK_ESTIMATE_COUNT);
	ck_assert_uint_eq(e->peak, KM_PEAK_ESTIMATE_COUNT);
	for (uint64_t i = 0; i < KM_PEAK_ESTIMATE_COUNT; i++)
		km_peak_estimate_remove(e, FIRST + 64 * i);
	ck_assert_uint_eq(e->count, 0);
	ck_assert_uint_eq(e->peak, KM_PEAK_ESTIMATE_COUNT);
	free(e);
}
END_TEST

START_TEST(twice_the_same_is_one)
{
	struct km_peak_estimate *e = new_estimate();

	km_peak_estimate_add(e, FIRST);
	km_peak_estimate_add(e, FIRST);
	ck_assert_uint_eq(e->count, 1);
	km_peak_estimate_remove(e, FIRST);
	km_peak_estimate_remove(e, FIRST);
	km_peak_estimate_remove(e, FIRST + 8);
	ck_assert_uint_eq(e->count, 0);
	ck_assert_uint_eq(e->peak, 1);
	free(e);
}
END_TEST

START_TEST(one_more_halves_the_sample)
{
	struct km_peak_estimate *e = new_estimate();

	for (uint64_t i = 0; i <= KM_PEAK_ESTIMATE_COUNT; i++)
		km_peak_estimate_add(e, FIRST + 64 * i);
	ck_assert_uint_eq(e->k, 1);
	ck_assert_uint_gt(e->count, KM_PEAK_ESTIMATE_COUNT * 45 / 100);
	ck_assert_uint_lt(e->count, KM_PEAK_ESTIMATE_COUNT * 55 / 100);
	for (uint64_t i = 0; i < 2 * KM_PEAK_ESTIMATE_COUNT; i++)
		km_peak_estimate_add(e, FIRST + 64 * i);
	ck_assert_uint_le(e->count, KM_PEAK_ESTIMATE_COUNT);
	for (uint64_t i = 0; i < 2 * KM_PEAK_ESTIMATE_COUNT; i++)
		km_peak_estimate_remove(e, FIRST + 64 * i);
	ck_assert_uint_eq(e->count, 0); /* nothing is left behind by a purge */
	free(e);
}
END_TEST

static void check_near(uint64_t count, uint64_t stride)
{
	struct km_peak_estimate *e = new_estimate();

	for (uint64_t i = 0; i < count; i++)
		km_peak_estimate_add(e, FIRST + stride * i);
	if (e->peak < count - count / 10 || e->peak > count + count / 10)
		ck_abort_msg("%" PRIu64 " of stride %" PRIu64 ": %" PRIu64, count, stride, e->peak);
	free(e);
}

START_TEST(within_a_tenth)
{
	static const uint64_t strides[] = { 8, 64, 192, 256, 4096, 1 << 21 };

	for (size_t i = 0; i < sizeof(strides) / sizeof(*strides); i++) {
		check_near(10000, strides[i]);
		check_near(100000, strides[i]);
	}
	check_near(1000000, 64);
}
END_TEST

/* What comes and goes does not add up: the peak is of those alive at once. */
START_TEST(churn_does_not_raise_the_peak)
{
	const uint64_t alive = 20000;
	struct km_peak_estimate *e = new_estimate();

	for (uint64_t i = 0; i < 10 * alive; i++) {
		km_peak_estimate_add(e, FIRST + 64 * i);
		if (i >= alive)
			km_peak_estimate_remove(e, FIRST + 64 * (i - alive));
	}
	ck_assert_uint_gt(e->peak, alive - alive / 10);
	ck_assert_uint_lt(e->peak, alive + alive / 10);
	free(e);
}
END_TEST

/* The table of the sample, against a plain list: few enough addresses that none is left out. */
START_TEST(count_as_a_list_would_give_it)
{
	struct km_peak_estimate *e = new_estimate();
	bool is_in[3000] = { false };
	uint64_t random = 9;
	unsigned count = 0;

	for (unsigned step = 0; step < 60000; step++) {
		size_t i = naive_random(&random) % 3000;

		if (is_in[i] || naive_random(&random) % 4 == 0) {
			km_peak_estimate_remove(e, FIRST + 64 * i);
			count -= is_in[i];
			is_in[i] = false;
		} else {
			km_peak_estimate_add(e, FIRST + 64 * i);
			is_in[i] = true;
			count++;
		}
		if (e->count != count)
			ck_abort_msg("step %u: %u, not %u", step, e->count, count);
	}
	free(e);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		exact_while_all_fit,
		twice_the_same_is_one,
		one_more_halves_the_sample,
		within_a_tenth,
		churn_does_not_raise_the_peak,
		count_as_a_list_would_give_it,
		NULL,
	};

	return km_test_main("peak_estimate", tests, 60);
}
