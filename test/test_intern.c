/* SPDX-License-Identifier: GPL-2.0-only */
#include "intern.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

static uint32_t add(struct km_intern *intern, const char *text)
{
	return km_intern_add(intern, text, strlen(text));
}

START_TEST(equal_strings_get_equal_numbers)
{
	struct km_intern *intern = km_intern_new();

	ck_assert_uint_eq(add(intern, "kmalloc-64"), 1);
	ck_assert_uint_eq(add(intern, "dentry"), 2);
	ck_assert_uint_eq(add(intern, "kmalloc-64"), 1);
	ck_assert_uint_eq(km_intern_add(intern, "dentry_cache", 6), 2);
	ck_assert_uint_eq(km_intern_count(intern), 2);
	ck_assert_str_eq(km_intern_get(intern, 1), "kmalloc-64");
	ck_assert_str_eq(km_intern_get(intern, 2), "dentry");
	km_intern_free(intern);
}
END_TEST

START_TEST(numbers_never_given_are_empty)
{
	struct km_intern *intern = km_intern_new();

	ck_assert_str_eq(km_intern_get(intern, 0), "");
	ck_assert_str_eq(km_intern_get(intern, 1), "");
	add(intern, "a");
	ck_assert_str_eq(km_intern_get(intern, 2), "");
	ck_assert_str_eq(km_intern_get(intern, UINT32_MAX), "");
	km_intern_free(intern);
	km_intern_free(NULL);
}
END_TEST

START_TEST(find_does_not_add)
{
	struct km_intern *intern = km_intern_new();

	ck_assert_uint_eq(km_intern_find(intern, "bash", 4), 0);
	ck_assert_uint_eq(km_intern_count(intern), 0);
	add(intern, "bash");
	ck_assert_uint_eq(km_intern_find(intern, "bash", 4), 1);
	ck_assert_uint_eq(km_intern_find(intern, "bash", 3), 0);
	km_intern_free(intern);
}
END_TEST

START_TEST(the_empty_string_is_a_string)
{
	struct km_intern *intern = km_intern_new();

	ck_assert_uint_eq(km_intern_find(intern, "", 0), 0);
	ck_assert_uint_eq(km_intern_add(intern, "x", 0), 1);
	ck_assert_uint_eq(add(intern, ""), 1);
	ck_assert_str_eq(km_intern_get(intern, 1), "");
	km_intern_free(intern);
}
END_TEST

/* Every length, each with a difference in every single byte: no byte is left out of the comparison or the cut. */
START_TEST(every_byte_counts)
{
	struct km_intern *intern = km_intern_new();
	uint32_t expected = 0;

	for (size_t bytes = 1; bytes <= 70; bytes++) {
		/* malloc'd to size, so that a sanitizer sees a read beyond it */
		char *text = malloc(bytes);

		memset(text, 'x', bytes);
		ck_assert_uint_eq(km_intern_add(intern, text, bytes), ++expected);
		for (size_t i = 0; i < bytes; i++) {
			text[i] = '\xff';
			ck_assert_uint_eq(km_intern_find(intern, text, bytes), 0);
			ck_assert_uint_eq(km_intern_add(intern, text, bytes), ++expected);
			text[i] = 'x';
		}
		free(text);
	}
	ck_assert_uint_eq(km_intern_count(intern), expected);
	km_intern_free(intern);
}
END_TEST

START_TEST(long_strings_are_cut)
{
	struct km_intern *intern = km_intern_new();
	char text[600];

	memset(text, 'y', sizeof(text));
	ck_assert_uint_eq(km_intern_add(intern, text, sizeof(text)), 1);
	ck_assert_uint_eq(km_intern_add(intern, text, KM_INTERN_STRING_BYTES), 1);
	ck_assert_uint_eq(km_intern_find(intern, text, 400), 1);
	ck_assert_uint_eq(km_intern_add(intern, text, KM_INTERN_STRING_BYTES - 1), 2);
	ck_assert_uint_eq(strlen(km_intern_get(intern, 1)), KM_INTERN_STRING_BYTES);
	km_intern_free(intern);
}
END_TEST

/* Up to the limit and beyond: numbers and pointers stay good through every enlargement. */
START_TEST(bounded_and_stable)
{
	struct km_intern *intern = km_intern_new();
	const char *first;
	char text[32];

	add(intern, "s0");
	first = km_intern_get(intern, 1);
	for (uint32_t i = 1; i < KM_INTERN_LIMIT; i++) {
		int bytes = snprintf(text, sizeof(text), "s%" PRIu32, i);

		if (km_intern_add(intern, text, (size_t)bytes) != i + 1)
			ck_abort_msg("number %" PRIu32, i);
	}
	ck_assert_uint_eq(add(intern, "one more"), 0);
	ck_assert_uint_eq(km_intern_count(intern), KM_INTERN_LIMIT);
	ck_assert_uint_eq(add(intern, "s0"), 1);
	ck_assert_ptr_eq(km_intern_get(intern, 1), first);
	for (uint32_t i = 0; i < KM_INTERN_LIMIT; i += 997) {
		snprintf(text, sizeof(text), "s%" PRIu32, i);
		ck_assert_str_eq(km_intern_get(intern, i + 1), text);
		ck_assert_uint_eq(km_intern_find(intern, text, strlen(text)), i + 1);
	}
	km_intern_free(intern);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		equal_strings_get_equal_numbers,
		numbers_never_given_are_empty,
		find_does_not_add,
		the_empty_string_is_a_string,
		every_byte_counts,
		long_strings_are_cut,
		bounded_and_stable,
		NULL,
	};

	return km_test_main("intern", tests, 60);
}
