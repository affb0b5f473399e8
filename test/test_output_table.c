/* SPDX-License-Identifier: GPL-2.0-only */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "output_fixture.h"
#include "testing.h"

static const struct km_column name_columns[] = { { .name = "name", .title = "name", .type = KM_TYPE_STRING } };

START_TEST(table_has_every_type_but_histograms)
{
	struct km_test_rows rows = ROWS(km_test_every_cells, km_test_every_columns);
	struct km_section section = { .path = "sites",
				      .title = "Sites",
				      .note = "2 of 3",
				      .shape = KM_SHAPE_ROWS,
				      SECTION(km_test_every_columns, &rows) };

	km_test_output_expect(
		TABLE, &section, 1, NULL, 0,
		"Sites\n"
		"text      count  bytes  median  pid             address  set  share  caches          site\n"
		"a     1,234,567   9.8K  1.50us   -1  0xffffffff81000000  yes  33.3%  kmalloc-1k,pid  kfree\n"
		"-             -      -       -    -                   -  -        -                  -\n"
		"2 of 3\n");
}
END_TEST

static char *strange_table(size_t i, enum km_shape shape)
{
	const struct km_cell cells[] = { { .text = km_test_strange[i].text } };
	struct km_test_rows rows = ROWS(cells, name_columns);
	const struct km_section section = { .path = "x", .shape = shape, SECTION(name_columns, &rows) };
	const struct km_report report = { "kmstat.test", 3, &section, 1 };
	struct km_error error = { 0 };

	return km_test_output_string(TABLE, &report, NULL, 80, &error);
}

START_TEST(terminals_get_no_control_characters)
{
	static const enum km_shape shapes[] = { KM_SHAPE_ROWS, KM_SHAPE_RECORD, KM_SHAPE_ITEMS, KM_SHAPE_LINES };

	for (size_t i = 0; i < COUNT(km_test_strange); i++) {
		for (size_t j = 0; j < COUNT(shapes); j++) {
			char *data = strange_table(i, shapes[j]);

			ck_assert_ptr_nonnull(strstr(data, km_test_strange[i].ascii));
			for (const char *c = data; *c; c++)
				ck_assert_msg((*c >= ' ' && *c < 127) || *c == '\n', "%s", data);
			free(data);
		}
	}
}
END_TEST

START_TEST(utf8_terminals_get_characters)
{
	static const struct km_column columns[] = { { .name = "a", .type = KM_TYPE_STRING, .flags = KM_COLUMN_FLEX },
						    { .name = "b", .type = KM_TYPE_STRING } };
	/* Two columns wide each; a control character of C1; one that turns the direction of writing. */
	static const struct km_cell cells[] = {
		{ .text = "\xe6\x97\xa5\xe6\x9c\xac" },
		{ .text = "x" },
		{ .text = "caf\xc3\xa9" },
		{ .text = "y" },
		{ .text = "\xc2\x9b" },
		{ .text = "z" },
		{ .text = "\xe2\x80\xae" },
		{ .text = "" },
		{ .text = "\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c"
			  "\xac!" },
		{ .text = "w" },
	};
	struct km_test_rows rows = ROWS(cells, columns);
	const struct km_section section = { .path = "x", .shape = KM_SHAPE_ROWS, SECTION(columns, &rows) };

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return;
	km_test_output_expect(
		TABLE, &section, 1, NULL, 19,
		"a                 b\n"
		"\xe6\x97\xa5\xe6\x9c\xac              x\n"
		"caf\xc3\xa9              y\n"
		"\\xc2\\x9b          z\n"
		"\\xe2\\x80\\xae\n"
		"\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5..  w\n");
}
END_TEST

static const struct km_cell site_cells[] = {
	{ .number = 70900000 },  { .number = 1107812 },
	{ .number = 141800000 }, { .text = "kmem_cache_alloc_lru_noprof+0x1a2 [some_module]" },
	{ .number = 512 },       { .number = 8 },
	{ .number = 512 },       { .text = "__alloc_skb+0x8e" },
};

START_TEST(tables_fit_the_width)
{
	struct km_test_rows rows = ROWS(site_cells, km_test_site_columns);
	struct km_section section = { .path = "sites", .shape = KM_SHAPE_ROWS, SECTION(km_test_site_columns, &rows) };
	static const char wide[] = " live    objects    peak  call site\n"
				   "67.6M  1,107,812  135.2M  kmem_cache_alloc_lru_noprof+0x1a2 [some_module]\n"
				   "  512          8     512  __alloc_skb+0x8e\n";
	static const uint16_t named[] = { 2, 3 };
	const struct km_fields fields = { named, 2 };

	km_test_output_expect(TABLE, &section, 1, NULL, 40,
			      " live    objects  call site\n"
			      "67.6M  1,107,812  kmem_cache_all..+0x1a2\n"
			      "  512          8  __alloc_skb+0x8e\n");
	rows.at = 0;
	km_test_output_expect(TABLE, &section, 1, NULL, 72,
			      " live    objects  call site\n"
			      "67.6M  1,107,812  kmem_cache_alloc_lru_noprof+0x1a2 [some_module]\n"
			      "  512          8  __alloc_skb+0x8e\n");
	rows.at = 0;
	km_test_output_expect(TABLE, &section, 1, NULL, 73, wide);
	rows.at = 0;
	km_test_output_expect(TABLE, &section, 1, NULL, 200, wide);
	rows.at = 0;
	km_test_output_expect(TABLE, &section, 1, NULL, 0, wide);
	/* Numbers are never cut, nor is a symbol to nothing. */
	rows.at = 0;
	km_test_output_expect(TABLE, &section, 1, NULL, 10,
			      " live    objects  call site\n"
			      "67.6M  1,107,812  kmem_cac..+0x1a2\n"
			      "  512          8  __alloc_skb+0x8e\n");
	/* What was asked for is shown. */
	rows.at = 0;
	section.is_primary = true;
	km_test_output_expect(TABLE, &section, 1, &fields, 30,
			      "  peak  call site\n135.2M  kmem_cache_all..+0x1a2\n   512  __alloc_skb+0x8e\n");
}
END_TEST

START_TEST(colour_is_only_in_titles_and_headings)
{
	struct km_test_rows rows = ROWS(site_cells, km_test_site_columns);
	const struct km_section section = {
		.path = "sites", .title = "Sites", .shape = KM_SHAPE_ROWS, SECTION(km_test_site_columns, &rows)
	};
	const struct km_report report = { "kmstat.test", 3, &section, 1 };
	const struct km_output_style style = { .width = 40, .colour = true };
	struct km_error error = { 0 };
	char *data = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&data, &size);

	ck_assert_int_eq(km_output_table(stream, &report, NULL, &style, &error), 0);
	fclose(stream);
	ck_assert_str_eq(data, "\033[1mSites\033[0m\n"
			       "\033[4m live    objects  call site\033[0m\n"
			       "67.6M  1,107,812  kmem_cache_all..+0x1a2\n"
			       "  512          8  __alloc_skb+0x8e\n");
	free(data);
}
END_TEST

START_TEST(sections_for_people)
{
	static const struct km_column line_columns[] = { { .name = "label", .type = KM_TYPE_STRING },
							 { .name = "text", .type = KM_TYPE_STRING } };
	static const struct km_column record_columns[] = {
		{ .name = "clock", .type = KM_TYPE_STRING },
		{ .name = "events_count", .title = "events", .type = KM_TYPE_COUNT },
		{ .name = "secret", .type = KM_TYPE_COUNT, .flags = KM_COLUMN_MACHINE },
	};
	static const struct km_cell record_cells[] = { { .text = "mono" }, { .number = 28970056 }, { .number = 1 } };
	static const struct km_cell line_cells[] = {
		{ .text = "lost" },  { .text = "events on CPU 3, in a text of many words" },
		{ .text = "other" }, { .text = " " },
		{ .text = "" },      { .text = "an_unbroken_word_that_is_longer_than_a_line" },
	};
	struct km_test_rows record = ROWS(record_cells, record_columns), lines = ROWS(line_cells, line_columns);
	struct km_test_rows items = ROWS(line_cells, name_columns), none = { 0 };
	const struct km_section sections[] = {
		{ .path = "a", .title = "Trace", .shape = KM_SHAPE_RECORD, SECTION(record_columns, &record) },
		{ .path = "b", .title = "Health", .shape = KM_SHAPE_LINES, SECTION(line_columns, &lines) },
		/* No rows: news only if a note or a title says so. */
		{ .path = "c", .title = "Sites", .note = "none", .shape = KM_SHAPE_ROWS, SECTION(name_columns, &none) },
		{ .path = "d", .shape = KM_SHAPE_ROWS, SECTION(name_columns, &none) },
		{ .path = "e", .title = "Warnings", .shape = KM_SHAPE_LINES, SECTION(line_columns, &none) },
		{ .path = "f",
		  .title = "Null",
		  .shape = KM_SHAPE_RECORD,
		  SECTION(name_columns, NULL),
		  .is_null = true },
		{ .path = "g", .note = "note", .shape = KM_SHAPE_ITEMS, SECTION(name_columns, &items) },
	};

	items.count = 1;
	km_test_output_expect(TABLE, sections, COUNT(sections), NULL, 30,
			      "Trace\n"
			      "clock:   mono\n"
			      "events:  28,970,056\n"
			      "\n"
			      "Health\n"
			      "lost   events on CPU 3, in a\n"
			      "       text of many words\n"
			      "other\n"
			      "       an_unbroken_word_that_is_longer_than_a_line\n"
			      "\n"
			      "Sites\n"
			      "none\n"
			      "\n"
			      "lost\n"
			      "note\n");
}
END_TEST

START_TEST(long_tables_keep_their_columns)
{
	/* Line 0 is the heading, line n the n-th row. */
	static const struct {
		size_t line;
		const char *text;
	} cases[] = {
		{ 0, "  live  objects  peak  call site" },       { 1, "  1000        1     1  name_1" },
		{ 1000, "976.6K    1,000  1000  name_1000" },    { 1001, "977.5K    1,001  1001  name_1001" },
		{ 90000, " 85.8M   90,000  87.9K  name_90000" }, { 90001, " 85.8M   90,001  87.9K  a_much_lon.." },
	};
	struct km_test_many many = { .count = 100000 };
	struct km_section section = km_test_output_many(&many);
	struct km_report report = { "kmstat.test", 3, &section, 1 };
	struct km_error error = { 0 };
	char *data = km_test_output_string(TABLE, &report, NULL, 36, &error), *line, *rest = data;
	size_t count = 0, at = 0;

	ck_assert_ptr_nonnull(data);
	while ((line = strsep(&rest, "\n")) && *line) {
		if (at < COUNT(cases) && cases[at].line == count)
			ck_assert_str_eq(line, cases[at++].text);
		ck_assert_uint_le(strlen(line), 36);
		count++;
	}
	ck_assert_uint_eq(at, COUNT(cases));
	ck_assert_uint_eq(count, many.count + 1);
	free(data);
}
END_TEST

START_TEST(long_tables_cut_nothing_where_width_is_unlimited)
{
	struct km_test_many many = { .count = 91000 };
	struct km_section section = km_test_output_many(&many);
	struct km_report report = { "kmstat.test", 3, &section, 1 };
	struct km_error error = { 0 };
	char *data = km_test_output_string(TABLE, &report, NULL, 0, &error);

	ck_assert_ptr_nonnull(data);
	ck_assert_ptr_nonnull(strstr(data, "a_much_longer_name_than_before_91000\n"));
	ck_assert_ptr_null(strstr(data, ".."));
	free(data);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		table_has_every_type_but_histograms,
		terminals_get_no_control_characters,
		utf8_terminals_get_characters,
		tables_fit_the_width,
		colour_is_only_in_titles_and_headings,
		sections_for_people,
		long_tables_keep_their_columns,
		long_tables_cut_nothing_where_width_is_unlimited,
		NULL,
	};

	return km_test_main("output_table", tests, 30);
}
