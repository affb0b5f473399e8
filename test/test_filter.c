/* SPDX-License-Identifier: GPL-2.0-only */
#include "filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

static void expect_size(const char *text, uint64_t expected)
{
	struct km_error error = { 0 };
	uint64_t value = 0;

	ck_assert_msg(km_parse_size(text, &value, &error) == 0, "%s: %s", text, error.text);
	ck_assert_msg(value == expected, "%s", text);
}

START_TEST(sizes)
{
	expect_size("0", 0);
	expect_size("4096", 4096);
	expect_size("007", 7);
	expect_size("4k", 4096);
	expect_size("4K", 4096);
	expect_size("4KiB", 4096);
	expect_size("1M", 1048576);
	expect_size("2G", UINT64_C(2147483648));
	expect_size("2giB", UINT64_C(2147483648));
	expect_size("18446744073709551615", UINT64_MAX);
	expect_size("17179869183G", UINT64_C(17179869183) << 30);
}
END_TEST

START_TEST(bad_sizes)
{
	static const char *const bad[] = {
		"",     "K",   "-1",  "+1",  " 1",   "1 ",    "1KB", "4X", "4KK", "4Ki", "4iB",
		"0x10", "1e3", "nan", "inf", "1.5K", "4KiBs", "4 K", ",",  "1,2", "٣",
	};
	static const char *const large[] = {
		"18446744073709551616",
		"18014398509481984K",
		"17179869184G",
		"99999999999999999999999999999999999999",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct km_error error = { 0 };
		uint64_t value = 77;

		ck_assert_msg(km_parse_size(bad[i], &value, &error) == -EINVAL, "%s", bad[i]);
		ck_assert_ptr_nonnull(strstr(error.text, "is not a size such as 4096, 64K, 1M or 2G"));
		ck_assert_uint_eq(value, 77);
	}
	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
		struct km_error error = { 0 };
		uint64_t value = 77;

		ck_assert_msg(km_parse_size(large[i], &value, &error) == -EOVERFLOW, "%s", large[i]);
		ck_assert_ptr_nonnull(strstr(error.text, "is too large"));
		ck_assert_uint_eq(value, 77);
	}
}
END_TEST

START_TEST(counts)
{
	struct km_error error = { 0 };
	uint64_t value = 0;

	ck_assert_int_eq(km_parse_count("0", &value, &error), 0);
	ck_assert_uint_eq(value, 0);
	ck_assert_int_eq(km_parse_count("64k", &value, &error), 0);
	ck_assert_uint_eq(value, 65536);
	ck_assert_int_eq(km_parse_count("3G", &value, NULL), 0);
	ck_assert_uint_eq(value, UINT64_C(3) << 30);
	/* Of things there is no KiB. */
	ck_assert_int_eq(km_parse_count("4KiB", &value, &error), -EINVAL);
	ck_assert_str_eq(error.text, "\"4KiB\" is not a number such as 65536, 64K or 1M");
	ck_assert_int_eq(km_parse_count("", &value, NULL), -EINVAL);
	ck_assert_int_eq(km_parse_count("-1", &value, NULL), -EINVAL);
	ck_assert_int_eq(km_parse_count("99999999999999999999", &value, NULL), -EOVERFLOW);
	ck_assert_uint_eq(value, UINT64_C(3) << 30);
}
END_TEST

static void expect_duration(const char *text, uint64_t expected)
{
	struct km_error error = { 0 };
	uint64_t value = 0;

	ck_assert_msg(km_parse_duration(text, &value, &error) == 0, "%s: %s", text, error.text);
	ck_assert_msg(value == expected, "%s", text);
}

START_TEST(durations)
{
	expect_duration("0", 0);
	expect_duration("2", UINT64_C(2000000000));
	expect_duration("100ns", 100);
	expect_duration("20us", 20000);
	expect_duration("5ms", 5000000);
	expect_duration("2s", UINT64_C(2000000000));
	expect_duration("1.5s", 1500000000);
	expect_duration("3m", UINT64_C(180000000000));
	expect_duration("1h", UINT64_C(3600000000000));
	expect_duration("0.5h", UINT64_C(1800000000000));
	expect_duration("0.25", 250000000);
	expect_duration("1.123456789s", 1123456789);
	/* More decimals than a double has. */
	expect_duration("18446744073.709551615", UINT64_MAX);
	expect_duration("0.100000000000000000000000000000s", 100000000);
	expect_duration("1.0ns", 1);
	expect_duration("1.5us", 1500);
}
END_TEST

START_TEST(bad_durations)
{
	static const char *const bad[] = {
		"",
		"s",
		"-1s",
		"+1s",
		" 1s",
		"1 s",
		"1.s",
		".5s",
		"1..5s",
		"1.5.5s",
		"1e3",
		"nan",
		"inf",
		"0x1",
		"1d",
		"1sec",
		"1s ",
		"1,5s",
		"1S",
		"5m3s",
		/* Parts of a nanosecond. */
		"0.5ns",
		"1.0000000001s",
		"1.0005us",
	};
	static const char *const large[] = {
		"18446744073.709551616",
		"18446744074",
		"5124096h",
		"18446744073709551616ns",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct km_error error = { 0 };
		uint64_t value = 77;

		ck_assert_msg(km_parse_duration(bad[i], &value, &error) == -EINVAL, "%s", bad[i]);
		ck_assert_ptr_nonnull(strstr(error.text, "is not a duration in whole nanoseconds such as 100us"));
		ck_assert_uint_eq(value, 77);
	}
	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
		uint64_t value = 77;

		ck_assert_msg(km_parse_duration(large[i], &value, NULL) == -EOVERFLOW, "%s", large[i]);
		ck_assert_uint_eq(value, 77);
	}
}
END_TEST

START_TEST(long_values_are_cut)
{
	struct km_error error = { 0 };
	char text[201];

	/* Two bytes a character, so that one of them lies across the place of the cut. */
	text[0] = 'x';
	for (size_t i = 1; i < 199; i += 2)
		memcpy(text + i, "\xc3\xa9", 2);
	text[199] = '\0';
	ck_assert_int_eq(km_parse_refuse(&error, -EINVAL, text, "short"), -EINVAL);
	ck_assert_int_eq(strncmp(error.text, "\"x\xc3\xa9", 4), 0);
	ck_assert_uint_eq(strlen(error.text), strlen("\"\" is not short") + 79 + strlen("..."));
	ck_assert_ptr_nonnull(strstr(error.text, "\xc3\xa9...\" is not short"));
}
END_TEST

static bool matches(const char *list, const char *name)
{
	struct km_patterns patterns = { 0 };
	bool matched;

	ck_assert_msg(km_patterns_parse(&patterns, list, NULL) == 0, "%s", list);
	matched = km_patterns_match(&patterns, name);
	km_patterns_release(&patterns);
	return matched;
}

START_TEST(patterns_match)
{
	struct km_patterns none = { 0 };

	ck_assert(km_patterns_match(&none, "anything"));
	ck_assert(km_patterns_match(&none, NULL));

	ck_assert(matches("kmalloc-64", "kmalloc-64"));
	ck_assert(!matches("kmalloc-64", "kmalloc-640"));
	ck_assert(!matches("kmalloc-64", ""));
	ck_assert(!matches("kmalloc-64", NULL));
	ck_assert(matches("a,b*", "bcd"));
	ck_assert(matches("kmalloc-[0-9]k", "kmalloc-4k"));
	ck_assert(matches("fn?0x1f*", "fn+0x1f [ext4]"));
	/* A slash and a leading dot are characters like others. */
	ck_assert(matches("kworker*", "kworker/0:1"));
	ck_assert(matches("*", ".hidden"));
	/* No plain item: everything but. */
	ck_assert(matches("!ext4*", "xfs"));
	ck_assert(!matches("!ext4*", "ext4_inode"));
	/* The order does not matter. */
	ck_assert(!matches("*,!ext4*", "ext4_inode"));
	ck_assert(!matches("!ext4*,*", "ext4_inode"));
	ck_assert(matches("!ext4*,x*", "xfs"));
	ck_assert(!matches("!ext4*,x*", "btrfs"));
	/* A name that begins with the sign itself. */
	ck_assert(matches("\\!odd", "!odd"));
}
END_TEST

START_TEST(patterns_add_up)
{
	struct km_patterns patterns = { 0 };

	ck_assert_int_eq(km_patterns_parse(&patterns, "a,!b", NULL), 0);
	ck_assert_int_eq(km_patterns_parse(&patterns, "c", NULL), 0);
	ck_assert_uint_eq(patterns.count, 3);
	ck_assert(km_patterns_match(&patterns, "a"));
	ck_assert(km_patterns_match(&patterns, "c"));
	ck_assert(!km_patterns_match(&patterns, "b"));
	ck_assert(!km_patterns_match(&patterns, "d"));
	km_patterns_release(&patterns);
	ck_assert_uint_eq(patterns.count, 0);
	km_patterns_release(NULL);
}
END_TEST

START_TEST(bad_patterns)
{
	static const char *const bad[] = { "", ",", "a,", ",a", "a,,b", "!", "a,!", "!,a" };
	struct km_patterns patterns = { 0 };

	ck_assert_int_eq(km_patterns_parse(&patterns, "keep", NULL), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct km_error error = { 0 };

		ck_assert_msg(km_patterns_parse(&patterns, bad[i], &error) == -EINVAL, "%s", bad[i]);
		ck_assert_ptr_nonnull(strstr(error.text, "is not a comma list of names or globs"));
		/* All of the list or nothing. */
		ck_assert_uint_eq(patterns.count, 1);
		ck_assert_str_eq(patterns.items[0].glob, "keep");
	}
	km_patterns_release(&patterns);
}
END_TEST

static bool in_ranges(const char *list, int64_t value)
{
	struct km_ranges ranges = { 0 };
	bool matched;

	ck_assert_msg(km_ranges_parse(&ranges, list, NULL) == 0, "%s", list);
	matched = km_ranges_match(&ranges, value);
	km_ranges_release(&ranges);
	return matched;
}

START_TEST(ranges_match)
{
	struct km_ranges none = { 0 };

	ck_assert(km_ranges_match(&none, 5));
	ck_assert(in_ranges("5", 5));
	ck_assert(!in_ranges("5", 6));
	ck_assert(in_ranges("0,2-4", 0));
	ck_assert(!in_ranges("0,2-4", 1));
	ck_assert(in_ranges("0,2-4", 2));
	ck_assert(in_ranges("0,2-4", 4));
	ck_assert(!in_ranges("0,2-4", 5));
	ck_assert(!in_ranges("0,2-4,!3", 3));
	ck_assert(!in_ranges("!3,0,2-4", 3));
	ck_assert(in_ranges("!3", 4));
	ck_assert(!in_ranges("!3-5", 4));
	ck_assert(in_ranges("7-7", 7));
	/* Signs. */
	ck_assert(in_ranges("-1", -1));
	ck_assert(!in_ranges("-1", 1));
	ck_assert(in_ranges("-3--1", -2));
	ck_assert(in_ranges("-1-1", 0));
	ck_assert(!in_ranges("!-1", -1));
	ck_assert(in_ranges("9223372036854775807", INT64_MAX));
	ck_assert(in_ranges("-9223372036854775807", -INT64_MAX));
}
END_TEST

START_TEST(bad_ranges)
{
	static const char *const bad[] = {
		"",    ",",  "0,", ",0", "0,,1", "0,x", "x",   "1-",  "--1", "1--", "1-2-3", "4-2", "!",
		"!!1", "+1", " 1", "1 ", "1, 2", "0x1", "1e1", "1.5", "nan", "1:2", "1-x",   "-",
	};
	static const char *const large[] = { "9223372036854775808", "-9223372036854775808", "1,18446744073709551616",
					     "1-99999999999999999999" };
	struct km_ranges ranges = { 0 };
	struct km_error error = { 0 };

	ck_assert_int_eq(km_ranges_parse(&ranges, "8", NULL), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(km_ranges_parse(&ranges, bad[i], NULL) == -EINVAL, "%s", bad[i]);
		ck_assert_uint_eq(ranges.count, 1);
	}
	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
		ck_assert_msg(km_ranges_parse(&ranges, large[i], NULL) == -EOVERFLOW, "%s", large[i]);
		ck_assert_uint_eq(ranges.count, 1);
	}
	ck_assert_int_eq(ranges.items[0].low, 8);
	ck_assert_int_eq(km_ranges_parse(&ranges, "0,x", &error), -EINVAL);
	ck_assert_str_eq(error.text, "\"0,x\" is not a list of numbers and ranges such as 0,2-4");
	km_ranges_release(&ranges);
	km_ranges_release(NULL);
}
END_TEST

/* The first end is a time point of its own, the second stays open. */
static struct km_time_point first_point(const char *text)
{
	struct km_time_point from = { .kind = KM_TIME_OPEN }, until = { .kind = KM_TIME_MARK };
	struct km_error error = { 0 };

	ck_assert_msg(km_time_window_parse(text, &from, &until, &error) == 0, "%s: %s", text, error.text);
	ck_assert_int_eq(until.kind, KM_TIME_OPEN);
	return from;
}

START_TEST(time_points)
{
	struct km_time_point p;

	p = first_point(",");
	ck_assert_int_eq(p.kind, KM_TIME_OPEN);
	p = first_point("5170.250001,");
	ck_assert_int_eq(p.kind, KM_TIME_CLOCK);
	ck_assert_uint_eq(p.value, UINT64_C(5170250001000));
	/* Exact, where a double would be 12 ns off. */
	p = first_point("12345678901.123456789,");
	ck_assert_uint_eq(p.value, UINT64_C(12345678901123456789));
	p = first_point("0,");
	ck_assert_int_eq(p.kind, KM_TIME_CLOCK);
	ck_assert_uint_eq(p.value, 0);
	p = first_point("+1.5,");
	ck_assert_int_eq(p.kind, KM_TIME_RELATIVE);
	ck_assert_uint_eq(p.value, 1500000000);
	p = first_point("12.5%,");
	ck_assert_int_eq(p.kind, KM_TIME_PERCENT);
	ck_assert_uint_eq(p.value, 125000);
	p = first_point("100%,");
	ck_assert_uint_eq(p.value, 1000000);
	p = first_point("0.0001%,");
	ck_assert_uint_eq(p.value, 1);
	p = first_point("@run 3: 100%,");
	ck_assert_int_eq(p.kind, KM_TIME_MARK);
	ck_assert_str_eq(p.text, "run 3: 100%");
	km_time_point_release(&p);
	ck_assert_ptr_null(p.text);
	km_time_point_release(NULL);
}
END_TEST

START_TEST(time_windows)
{
	struct km_time_point from, until;

	ck_assert_int_eq(km_time_window_parse("10,20.5", &from, &until, NULL), 0);
	ck_assert_uint_eq(from.value, UINT64_C(10000000000));
	ck_assert_uint_eq(until.value, UINT64_C(20500000000));
	ck_assert_int_eq(km_time_window_parse(",+2", &from, &until, NULL), 0);
	ck_assert_int_eq(from.kind, KM_TIME_OPEN);
	ck_assert_int_eq(until.kind, KM_TIME_RELATIVE);
	ck_assert_int_eq(km_time_window_parse("@begin,@end", &from, &until, NULL), 0);
	ck_assert_str_eq(from.text, "begin");
	ck_assert_str_eq(until.text, "end");
	km_time_point_release(&from);
	km_time_point_release(&until);
	/* Which comes first is not known before the trace is. */
	ck_assert_int_eq(km_time_window_parse("90%,+1", &from, &until, NULL), 0);
	ck_assert_int_eq(km_time_window_parse("3,3", &from, &until, NULL), 0);
}
END_TEST

START_TEST(bad_time_windows)
{
	static const char *const bad[] = {
		"",
		"5",
		"1,2,3",
		"@a,b,c",
		"-5,",
		"5,-6",
		"+,",
		"+-5,",
		"++5,",
		"5s,",
		"1e3,",
		"nan,",
		"inf,",
		"0x5,",
		" 5,",
		"5 ,",
		", ",
		"%,",
		"-1%,",
		"101%,",
		"+5%,",
		"5%%,",
		"@,",
		"1,@",
		"1.,",
		".5,",
		"1..2,",
		"1.2.3,",
		"100.0001%,",
		/* Finer than ns, finer than millionths. */
		"1.0000000001,",
		"0.00001%,",
		/* Backwards. */
		"2,1",
		"+2,+1",
		"50%,49.9999%",
		/* The other end's text is not leaked. */
		"@a,x",
	};
	static const char *const large[] = { "18446744074,", ",+99999999999999999999", "18446744073.709551616," };
	struct km_time_point from = { .value = 77 }, until = { .value = 78 };
	struct km_error error = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(km_time_window_parse(bad[i], &from, &until, NULL) == -EINVAL, "%s", bad[i]);
	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
		ck_assert_msg(km_time_window_parse(large[i], &from, &until, NULL) == -EOVERFLOW, "%s", large[i]);
	ck_assert_uint_eq(from.value, 77);
	ck_assert_uint_eq(until.value, 78);

	ck_assert_int_eq(km_time_window_parse("5", &from, &until, &error), -EINVAL);
	ck_assert_int_eq(strncmp(error.text, "\"5\" is not a time window A,B", 28), 0);
	error = (struct km_error){ 0 };
	ck_assert_int_eq(km_time_window_parse("2,1", &from, &until, &error), -EINVAL);
	ck_assert_str_eq(error.text, "\"2,1\" is not a time window: it ends before it begins");
}
END_TEST

START_TEST(filter_is_active)
{
	struct km_filter filter = { 0 };

	ck_assert(!km_filter_is_active(&filter));
	ck_assert_int_eq(km_patterns_parse(&filter.gfp, "GFP_KERNEL", NULL), 0);
	ck_assert(km_filter_is_active(&filter));
	km_filter_release(&filter);
	ck_assert(!km_filter_is_active(&filter));
	ck_assert_int_eq(km_ranges_parse(&filter.node, "0", NULL), 0);
	ck_assert(km_filter_is_active(&filter));
	km_filter_release(&filter);
	filter.has_min_age = true;
	ck_assert(km_filter_is_active(&filter));
	filter = (struct km_filter){ .min_size_bytes = 1 };
	ck_assert(km_filter_is_active(&filter));
	filter = (struct km_filter){ .has_time = true };
	ck_assert(km_filter_is_active(&filter));
	km_filter_release(NULL);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		sizes,          bad_sizes,        counts,           durations,    bad_durations, long_values_are_cut,
		patterns_match, patterns_add_up,  bad_patterns,     ranges_match, bad_ranges,    time_points,
		time_windows,   bad_time_windows, filter_is_active, NULL,
	};

	return km_test_main("filter", tests, 10);
}
