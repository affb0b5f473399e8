/* SPDX-License-Identifier: GPL-2.0-only */
/* The text of the progress line; that it comes and goes is in test_progress.py. */
#include <check.h>

#include "../cmd/progress.h"
#include "support/testing.h"

#define S UINT64_C(1000000000)

static void expect(struct km_reader_progress at, uint64_t elapsed_ns, unsigned width, const char *wanted)
{
	char text[128];

	progress_text(&at, elapsed_ns, width, text, sizeof(text));
	ck_assert_str_eq(text, wanted);
}

START_TEST(a_file_has_an_end)
{
	struct km_reader_progress at = { .bytes = 512 << 20,
					 .total_bytes = UINT64_C(2) << 30,
					 .events_count = 60000000 };

	expect(at, 3 * S, 79, "25%, 512.0M of 2.0G, 20.0M events/s, 9.00s left");
}
END_TEST

START_TEST(a_stream_has_none)
{
	struct km_reader_progress at = { .bytes = 5000, .events_count = 3000 };

	expect(at, 2 * S, 79, "4.9K, 2K events/s");
}
END_TEST

START_TEST(what_is_not_known_is_not_said)
{
	struct km_reader_progress at = { .total_bytes = 1000 };

	expect(at, S, 79, "0%, 0 of 1000");
}
END_TEST

START_TEST(read_twice_is_not_over_all)
{
	struct km_reader_progress at = { .bytes = 1500, .total_bytes = 1000, .events_count = 10 };

	expect(at, S, 79, "100%, 1000 of 1000, 10 events/s, 1s left");
}
END_TEST

START_TEST(it_fits_the_terminal)
{
	struct km_reader_progress at = { .bytes = 5000, .events_count = 3000 };

	expect(at, 2 * S, 8, "4.9K, 2K");
	expect(at, 2 * S, 0, "");
}
END_TEST

int main(void)
{
	const TTest *tests[] = { a_file_has_an_end,          a_stream_has_none,    what_is_not_known_is_not_said,
				 read_twice_is_not_over_all, it_fits_the_terminal, NULL };

	return km_test_main("progress", tests, 10);
}
