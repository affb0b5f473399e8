/* SPDX-License-Identifier: GPL-2.0-only */
#include "tuples.h"

#include <inttypes.h>
#include <string.h>

#include "naive_model.h"
#include "testing.h"

START_TEST(equal_tuples_get_equal_numbers)
{
	struct km_tuples tuples;
	bool is_new = false;

	km_tuples_init(&tuples, 2, 10);
	ck_assert_uint_eq(km_tuples_add(&tuples, (const uint64_t[]){ 1, 2 }, &is_new), 0);
	ck_assert(is_new);
	ck_assert_uint_eq(km_tuples_add(&tuples, (const uint64_t[]){ 2, 1 }, &is_new), 1);
	ck_assert(is_new);
	ck_assert_uint_eq(km_tuples_add(&tuples, (const uint64_t[]){ 1, 2 }, &is_new), 0);
	ck_assert(!is_new);
	ck_assert_uint_eq(tuples.count, 2);
	ck_assert_uint_eq(km_tuples_get(&tuples, 1)[0], 2);
	ck_assert_uint_eq(km_tuples_get(&tuples, 1)[1], 1);
	km_tuples_release(&tuples);
}
END_TEST

START_TEST(find_does_not_add)
{
	struct km_tuples tuples;
	bool is_new;

	km_tuples_init(&tuples, 1, 10);
	ck_assert_uint_eq(km_tuples_find(&tuples, (const uint64_t[]){ 0 }), KM_TUPLES_NONE);
	km_tuples_add(&tuples, (const uint64_t[]){ 5 }, &is_new);
	ck_assert_uint_eq(km_tuples_find(&tuples, (const uint64_t[]){ 0 }), KM_TUPLES_NONE);
	ck_assert_uint_eq(km_tuples_find(&tuples, (const uint64_t[]){ 5 }), 0);
	ck_assert_uint_eq(tuples.count, 1);
	km_tuples_release(&tuples);
}
END_TEST

START_TEST(the_limit_is_exact)
{
	struct km_tuples tuples;
	bool is_new = true;

	km_tuples_init(&tuples, 1, 3);
	for (uint64_t i = 0; i < 3; i++)
		ck_assert_uint_eq(km_tuples_add(&tuples, &i, &is_new), i);
	ck_assert_uint_eq(km_tuples_add(&tuples, (const uint64_t[]){ 3 }, &is_new), KM_TUPLES_NONE);
	ck_assert(!is_new);
	ck_assert_uint_eq(km_tuples_add(&tuples, (const uint64_t[]){ 2 }, &is_new), 2);
	ck_assert_uint_eq(tuples.count, 3);
	km_tuples_release(&tuples);
}
END_TEST

START_TEST(a_release_leaves_an_empty_one)
{
	struct km_tuples tuples;
	bool is_new;

	km_tuples_init(&tuples, 1, 3);
	km_tuples_release(&tuples); /* never used */
	km_tuples_add(&tuples, (const uint64_t[]){ 7 }, &is_new);
	km_tuples_release(&tuples);
	ck_assert_uint_eq(tuples.count, 0);
	ck_assert_uint_eq(km_tuples_add(&tuples, (const uint64_t[]){ 9 }, &is_new), 0);
	ck_assert_uint_eq(tuples.limit, 3);
	km_tuples_release(&tuples);
}
END_TEST

/* Tuple i, all different; every value but one is that of many others. */
static void tuple_of(uint64_t i, unsigned width, uint64_t *ret_tuple)
{
	for (unsigned k = 0; k < width; k++)
		ret_tuple[k] = k == i % width ? i << 12 : 0;
}

static void check_many(unsigned width, uint64_t count)
{
	struct km_tuples tuples;
	uint64_t tuple[8];
	bool is_new;

	km_tuples_init(&tuples, width, UINT32_MAX - 1);
	for (uint64_t i = 1; i <= count; i++) {
		tuple_of(i, width, tuple);
		if (km_tuples_add(&tuples, tuple, &is_new) != i - 1 || !is_new)
			ck_abort_msg("width %u: tuple %" PRIu64, width, i);
	}
	for (uint64_t i = count; i > 0; i--) {
		tuple_of(i, width, tuple);
		if (km_tuples_find(&tuples, tuple) != i - 1 ||
		    memcmp(km_tuples_get(&tuples, (uint32_t)i - 1), tuple, width * sizeof(*tuple)))
			ck_abort_msg("width %u: tuple %" PRIu64 " was lost", width, i);
	}
	tuple_of(count + 1, width, tuple);
	ck_assert_uint_eq(km_tuples_find(&tuples, tuple), KM_TUPLES_NONE);
	km_tuples_release(&tuples);
}

START_TEST(many_tuples_of_every_width)
{
	for (unsigned width = 1; width <= 8; width++)
		check_many(width, 20000);
}
END_TEST

/* Numbers come in the order of first sight, whatever comes again in between. */
START_TEST(numbers_as_a_list_would_give_them)
{
	uint64_t list[300], random = 3;
	struct km_tuples tuples;
	uint32_t count = 0;

	km_tuples_init(&tuples, 1, 1000);
	for (unsigned step = 0; step < 5000; step++) {
		uint64_t value = naive_random(&random) % 300;
		uint32_t wanted = 0;
		bool is_new;

		while (wanted < count && list[wanted] != value)
			wanted++;
		if (km_tuples_add(&tuples, &value, &is_new) != wanted || is_new != (wanted == count))
			ck_abort_msg("step %u: %" PRIu64, step, value);
		if (is_new)
			list[count++] = value;
	}
	ck_assert_uint_eq(tuples.count, count);
	km_tuples_release(&tuples);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		equal_tuples_get_equal_numbers,
		find_does_not_add,
		the_limit_is_exact,
		a_release_leaves_an_empty_one,
		many_tuples_of_every_width,
		numbers_as_a_list_would_give_them,
		NULL,
	};

	return km_test_main("tuples", tests, 60);
}
