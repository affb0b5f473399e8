/* SPDX-License-Identifier: GPL-2.0-only */
/* One line of text, whatever it quotes; the first one stays. */
#include "error.h"

#include <errno.h>
#include <string.h>

#include "testing.h"

START_TEST(first_wins)
{
	struct km_error error = { 0 };

	ck_assert_int_eq(km_error_set(&error, -EINVAL, "%s: %d", "first", 1), -EINVAL);
	ck_assert_int_eq(km_error_set(&error, -ENOMEM, "second"), -ENOMEM);
	ck_assert_int_eq(error.code, -EINVAL);
	ck_assert_str_eq(error.text, "first: 1");
	ck_assert_int_eq(km_error_set(NULL, -ENOMEM, "nobody asked"), -ENOMEM);
}
END_TEST

START_TEST(one_line)
{
	struct km_error error = { 0 };

	km_error_set(&error, -EBADMSG, "event \"%s\"", "a\nb\r\t\x1b[31m\x7f \xc3\xa9");
	ck_assert_str_eq(error.text, "event \"a?b???[31m? \xc3\xa9\"");
}
END_TEST

START_TEST(long_text_is_cut)
{
	struct km_error error = { 0 };
	char text[3000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	km_error_set(&error, -EINVAL, "%s", text);
	ck_assert_uint_eq(strlen(error.text), KM_ERROR_TEXT_BYTES - 1);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { first_wins, one_line, long_text_is_cut, NULL };

	return km_test_main("error", tests, 10);
}
