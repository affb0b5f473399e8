/* SPDX-License-Identifier: GPL-2.0-only */
#include "suppress.h"

#include <errno.h>

#include "testing.h"

static void add(struct km_suppressions *list, const char *line)
{
	struct km_error error = { 0 };

	ck_assert_msg(!km_suppress_add(list, line, &error), "%s", error.text);
}

START_TEST(lines)
{
	struct km_suppressions list = { 0 };

	add(&list, "function:acpi_* max=64K known since 5.10, firmware tables");
	add(&list, "site:fn+0x1f*");
	add(&list, "cache:dentry\t# grows with the page cache");
	add(&list, "module:ext4 max=0");
	ck_assert_uint_eq(list.count, 4);
	ck_assert_int_eq(list.items[0].kind, KM_SUPPRESS_FUNCTION);
	ck_assert_str_eq(list.items[0].pattern, "function:acpi_*");
	ck_assert_str_eq(list.items[0].glob, "acpi_*");
	ck_assert(list.items[0].has_max);
	ck_assert_uint_eq(list.items[0].max_bytes, 64 << 10);
	ck_assert_str_eq(list.items[0].reason, "known since 5.10, firmware tables");
	ck_assert(!list.items[1].has_max);
	ck_assert_str_eq(list.items[1].reason, "");
	ck_assert_str_eq(list.items[2].reason, "grows with the page cache");
	ck_assert(list.items[3].has_max && !list.items[3].max_bytes);
	km_suppress_release(&list);
	ck_assert_uint_eq(list.count, 0);
}
END_TEST

START_TEST(bad_lines)
{
	static const char *const bad[] = { "acpi_*", "function:",   "function: x",
					   "kind:x", "site:x max=", "site:x max=5X y" };
	struct km_suppressions list = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct km_error error = { 0 };

		ck_assert_msg(km_suppress_add(&list, bad[i], &error) == -EINVAL && error.text[0], "%s", bad[i]);
	}
	ck_assert_uint_eq(list.count, 0);
}
END_TEST

START_TEST(matching)
{
	const char *caches[] = { "dentry", "filp" };
	const struct km_run_row site = { .symbol = "fn.isra.0+0x1f [ext4]",
					 .function = "fn",
					 .module = "ext4",
					 .caches = caches,
					 .caches_count = 2 };
	const struct km_run_row kernel = { .symbol = "fn+0x20", .function = "fn" };
	const struct km_run_row cache = { .cache = "dentry" };
	static const struct {
		const char *line;
		bool site, kernel, cache;
	} cases[] = {
		{ "site:fn.isra.0+0x1f", true, false, false },
		{ "site:fn.isra.0+0x1f*", true, false, false },
		{ "site:fn+0x1f", false, false, false },
		{ "site:fn+0x20", false, true, false },
		{ "function:f?", true, true, false },
		{ "function:fn.isra.0", false, false, false },
		{ "module:ext*", true, false, false },
		{ "cache:dentry", false, false, true },
		{ "cache:*", true, false, true },
		{ "cache:[df]*", true, false, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct km_suppressions list = { 0 };

		add(&list, cases[i].line);
		ck_assert_msg(km_suppress_matches(&list, KM_RUN_SITES, &site, 1) == cases[i].site, "%s", cases[i].line);
		ck_assert_msg(km_suppress_matches(&list, KM_RUN_SITES, &kernel, 1) == cases[i].kernel, "%s",
			      cases[i].line);
		ck_assert_msg(km_suppress_matches(&list, KM_RUN_CACHES, &cache, 1) == cases[i].cache, "%s",
			      cases[i].line);
		ck_assert_uint_eq(list.items[0].used_count,
				  (unsigned)cases[i].site + (unsigned)cases[i].kernel + (unsigned)cases[i].cache);
		km_suppress_release(&list);
	}
}
END_TEST

START_TEST(limits)
{
	const struct km_run_row row = { .symbol = "fn+0x20", .function = "fn" };
	struct km_suppressions list = { 0 };

	add(&list, "function:fn max=1K");
	ck_assert(km_suppress_matches(&list, KM_RUN_SITES, &row, 1024));
	ck_assert(!km_suppress_matches(&list, KM_RUN_SITES, &row, 1025));
	ck_assert_uint_eq(list.items[0].used_count, 1);
	ck_assert_uint_eq(list.items[0].exceeded_count, 1);
	/* Another one without a limit still takes it. */
	add(&list, "site:fn+*");
	ck_assert(km_suppress_matches(&list, KM_RUN_SITES, &row, 1025));
	km_suppress_release(&list);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { lines, bad_lines, matching, limits, NULL };

	return km_test_main("suppress", tests, 60);
}
