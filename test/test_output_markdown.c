/* SPDX-License-Identifier: GPL-2.0-only */
/* Markdown and JUnit: what is in sight and what is folded, and that no text becomes markup. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output_fixture.h"
#include "testing.h"

typedef int write_report(FILE *stream, const struct km_report *report, struct km_error *error);

static int markdown(FILE *stream, const struct km_report *report, struct km_error *error)
{
	return km_output_markdown(stream, report, NULL, error);
}

static void expect(write_report *write, const struct km_section *sections, size_t count, const char *wanted)
{
	const struct km_report report = { "kmstat.test", 1, sections, count };
	struct km_error error = { 0 };
	char *data = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&data, &size);

	ck_assert_ptr_nonnull(stream);
	ck_assert_msg(write(stream, &report, &error) == 0, "%s", error.text);
	ck_assert_int_eq(fclose(stream), 0);
	ck_assert_str_eq(data, wanted);
	free(data);
}

static const struct km_column name_columns[] = {
	{ .name = "n_count", .title = "n", .type = KM_TYPE_COUNT },
	{ .name = "hidden", .type = KM_TYPE_COUNT, .flags = KM_COLUMN_MACHINE },
	{ .name = "text", .title = "a|b", .type = KM_TYPE_STRING, .flags = KM_COLUMN_RIGHT },
	{ .name = "site", .type = KM_TYPE_STRING, .flags = KM_COLUMN_FLEX },
};

START_TEST(tables)
{
	const struct km_cell cells[] = {
		{ .number = 1234 },
		{ .number = 1 },
		{ .text = "<b>*x*</b> @who #12 a_b" },
		{ .text = "fn+0x1 [mod]" },
		{ .is_null = true },
		{ .number = 1 },
		{ .text = "" },
		{ .text = "a|b`c``\n" },
	};
	struct km_test_rows rows = ROWS(cells, name_columns);
	const struct km_section section = { .path = "x",
					    .title = "Some <title>",
					    .shape = KM_SHAPE_ROWS,
					    .note = "of [all]",
					    .is_brief = true,
					    SECTION(name_columns, &rows) };

	expect(markdown, &section, 1,
	       "## kmstat.test\n"
	       "\n### Some &lt;title&gt;\n\n"
	       "| n | a\\|b | site |\n"
	       "| ---: | ---: | --- |\n"
	       "| 1,234 | &lt;b&gt;\\*x\\*&lt;/b&gt; &#64;who &#35;12 a\\_b | `fn+0x1 [mod]` |\n"
	       "| - |  | ``` a\\|b`c``  ``` |\n"
	       "\nof \\[all\\]\n");
}
END_TEST

/* Ten rows of the main table, the rest and what is not brief folded, and what is brief before that. */
START_TEST(folds)
{
	static const struct km_column columns[] = { { .name = "n", .type = KM_TYPE_COUNT } };
	static const struct km_column lines[] = { { .name = "label", .type = KM_TYPE_STRING },
						  { .name = "text", .type = KM_TYPE_STRING } };
	const struct km_cell line[] = { { .text = "live" }, { .text = "1 > 0" }, { .text = "" }, { .text = "more" } };
	struct km_cell cells[12];
	struct km_test_rows main_rows = ROWS(cells, columns), other_rows = { cells, 1, 1, 0 },
			    empty = { cells, 1, 0, 0 };
	struct km_test_rows text_rows = ROWS(line, lines), brief_rows = ROWS(line, lines);
	const struct km_section sections[] = {
		{ .path = "folded", .shape = KM_SHAPE_LINES, SECTION(lines, &text_rows) },
		{ .path = "empty", .title = "Empty", .shape = KM_SHAPE_ROWS, SECTION(columns, &empty) },
		{ .path = "machine",
		  .shape = KM_SHAPE_ROWS,
		  .audience = KM_FOR_MACHINES,
		  .columns = columns,
		  .columns_count = 1,
		  .next = km_test_output_next,
		  .state = &other_rows },
		{ .path = "brief", .shape = KM_SHAPE_LINES, .is_brief = true, SECTION(lines, &brief_rows) },
		{ .path = "main", .shape = KM_SHAPE_ROWS, .is_primary = true, SECTION(columns, &main_rows) },
	};

	for (size_t i = 0; i < 12; i++)
		cells[i] = (struct km_cell){ .number = i };
	expect(markdown, sections, COUNT(sections),
	       "## kmstat.test\n"
	       "\n- **live**: 1 &gt; 0\n- more\n"
	       "\n| n |\n| ---: |\n| 0 |\n| 1 |\n| 2 |\n| 3 |\n| 4 |\n| 5 |\n| 6 |\n| 7 |\n| 8 |\n| 9 |\n"
	       "\n<details><summary>more rows</summary>\n\n"
	       "| n |\n| ---: |\n| 10 |\n| 11 |\n"
	       "\n</details>\n"
	       "\n<details><summary>folded</summary>\n\n"
	       "- **live**: 1 &gt; 0\n- more\n"
	       "\n</details>\n");
}
END_TEST

/* Whatever a task is called, its row stays one line with as many cells, and no tag comes out of it. */
START_TEST(strange_texts)
{
	static const struct km_column columns[] = {
		{ .name = "plain", .type = KM_TYPE_STRING },
		{ .name = "code", .type = KM_TYPE_STRING, .flags = KM_COLUMN_CODE }
	};

	for (size_t i = 0; i < STRANGE_TEXTS_COUNT; i++) {
		const struct km_cell cells[] = { { .text = km_test_strange[i].text },
						 { .text = km_test_strange[i].text } };
		struct km_test_rows rows = ROWS(cells, columns);
		const struct km_section section = {
			.path = "x", .shape = KM_SHAPE_ROWS, .is_brief = true, SECTION(columns, &rows)
		};
		const struct km_report report = { "kmstat.test", 1, &section, 1 };
		char *data = NULL, *line;
		size_t size = 0, lines = 0, pipes = 0;
		FILE *stream = open_memstream(&data, &size);

		ck_assert_int_eq(markdown(stream, &report, NULL), 0);
		fclose(stream);
		for (char *p = data; *p; p++)
			lines += *p == '\n';
		ck_assert_uint_eq(lines, 5);
		line = strstr(data, "| --- | --- |\n") + strlen("| --- | --- |\n");
		for (char *p = line; *p; p++)
			pipes += *p == '|' && p[-1] != '\\';
		ck_assert_msg(pipes == 3, "%s", line);
		free(data);
	}
}
END_TEST

static const struct km_column rule_columns[] = {
	{ .name = "rule", .type = KM_TYPE_STRING },  { .name = "value", .type = KM_TYPE_COUNT },
	{ .name = "limit", .type = KM_TYPE_COUNT },  { .name = "result", .type = KM_TYPE_STRING },
	{ .name = "cause", .type = KM_TYPE_STRING },
};

START_TEST(junit)
{
	const struct km_cell cells[] = {
		{ .text = "live_bytes>1" },
		{ .number = 1 },
		{ .number = 1 },
		{ .text = "pass" },
		{ .text = NULL },
		{ .text = "a\"&<b\x01\xff" },
		{ .number = 1234 },
		{ .number = 1 },
		{ .text = "fail" },
		{ .text = NULL },
		{ .text = "c" },
		{ .number = 2 },
		{ .number = 1 },
		{ .text = "undecided" },
		{ .text = "lost" },
		{ .text = "d" },
		{ .is_null = true },
		{ .is_null = true },
		{ .text = "pass" },
		{ .text = "absent" },
	};
	struct km_test_rows rows = ROWS(cells, rule_columns);
	const struct km_section sections[] = {
		{ .path = "rules",
		  .shape = KM_SHAPE_ROWS,
		  .audience = KM_FOR_PEOPLE,
		  .columns = rule_columns,
		  .columns_count = 1,
		  .next = km_test_output_next,
		  .state = NULL },
		{ .path = "rules", .shape = KM_SHAPE_ROWS, SECTION(rule_columns, &rows) },
	};

	expect(km_output_junit, sections, 2,
	       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	       "<testsuites name=\"kmstat\" tests=\"4\" failures=\"1\" errors=\"1\">\n"
	       "  <testsuite name=\"kmstat.test\" tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"0\">\n"
	       "    <testcase classname=\"kmstat.test\" name=\"live_bytes&gt;1\"/>\n"
	       "    <testcase classname=\"kmstat.test\" name=\"a&quot;&amp;&lt;b \xef\xbf\xbd\">\n"
	       "      <failure message=\"value 1,234, limit 1\" type=\"fail\"/>\n"
	       "    </testcase>\n"
	       "    <testcase classname=\"kmstat.test\" name=\"c\">\n"
	       "      <error message=\"value 2, limit 1: lost\" type=\"undecided\"/>\n"
	       "    </testcase>\n"
	       "    <testcase classname=\"kmstat.test\" name=\"d\">\n"
	       "      <system-out>absent</system-out>\n"
	       "    </testcase>\n"
	       "  </testsuite>\n"
	       "</testsuites>\n");
}
END_TEST

START_TEST(no_rules)
{
	const struct km_report report = { "kmstat.test", 1, NULL, 0 };
	struct km_error error = { 0 };

	ck_assert_int_eq(km_output_junit(stdout, &report, &error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error.text, "no rules"));
}
END_TEST

START_TEST(full_disk)
{
	struct km_test_many many = { .count = 100000 };
	const struct km_section main_section = km_test_output_many(&many);
	const struct km_report report = { "kmstat.test", 1, &main_section, 1 };
	FILE *stream = fopen("/dev/full", "w");
	struct km_error error = { 0 };

	ck_assert_ptr_nonnull(stream);
	ck_assert_int_eq(markdown(stream, &report, &error), -ENOSPC);
	fclose(stream);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { tables, folds, strange_texts, junit, no_rules, full_disk, NULL };

	return km_test_main("output_markdown", tests, 60);
}
