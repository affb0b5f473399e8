/* SPDX-License-Identifier: GPL-2.0-only */
#include "output.h"

#include <errno.h>
#include <jansson.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output_fixture.h"
#include "testing.h"

/* The output parses; the tree is the caller's. */
static json_t *expect_json(const struct km_section *sections, size_t count)
{
	struct km_report report = { "kmstat.test", 3, sections, count };
	struct km_error error = { 0 };
	char *data = km_test_output_string(JSON, &report, NULL, 0, &error);
	json_error_t where;
	json_t *root;

	ck_assert_msg(data, "%s", error.text);
	root = json_loads(data, JSON_REJECT_DUPLICATES, &where);
	ck_assert_msg(root, "%s in %s", where.text, data);
	free(data);
	return root;
}

START_TEST(forms_of_counts)
{
	char b[KM_FORMAT_BYTES];

	ck_assert_str_eq(km_format_count(b, 0), "0");
	ck_assert_str_eq(km_format_count(b, 999), "999");
	ck_assert_str_eq(km_format_count(b, 1000), "1,000");
	ck_assert_str_eq(km_format_count(b, 28970056), "28,970,056");
	ck_assert_str_eq(km_format_count(b, UINT64_MAX), "18,446,744,073,709,551,615");
}
END_TEST

START_TEST(forms_of_bytes)
{
	char b[KM_FORMAT_BYTES];

	ck_assert_str_eq(km_format_bytes(b, 0), "0");
	ck_assert_str_eq(km_format_bytes(b, 1023), "1023");
	ck_assert_str_eq(km_format_bytes(b, 1024), "1.0K");
	ck_assert_str_eq(km_format_bytes(b, 10004), "9.8K");
	ck_assert_str_eq(km_format_bytes(b, 1048575), "1.0M");
	ck_assert_str_eq(km_format_bytes(b, 1048000), "1023.4K");
	ck_assert_str_eq(km_format_bytes(b, 74344038), "70.9M");
	ck_assert_str_eq(km_format_bytes(b, UINT64_MAX), "16.0E");
}
END_TEST

START_TEST(forms_of_durations)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0ns" },
		{ 870, "870ns" },
		{ 1000, "1.00us" },
		{ 51210, "51.2us" },
		{ 9996, "10.0us" },
		{ 999499, "999us" },
		{ 999500, "1.00ms" },
		{ 3040000, "3.04ms" },
		{ 49600000000, "49.6s" },
		{ 59949999999, "59.9s" },
		{ 59950000000, "1m00s" },
		{ 200000000000, "3m20s" },
		{ 3599600000000, "1h00m" },
		{ 7980000000000, "2h13m" },
		{ 86399000000000, "1d00h" },
		{ UINT64_MAX, "213504d00h" },
	};
	char b[KM_FORMAT_BYTES];

	for (size_t i = 0; i < COUNT(cases); i++)
		ck_assert_str_eq(km_format_duration(b, cases[i].ns), cases[i].text);
}
END_TEST

START_TEST(forms_of_ratios)
{
	char b[KM_FORMAT_BYTES];

	ck_assert_str_eq(km_format_ratio(b, 0.125), "12.5%");
	ck_assert_str_eq(km_format_ratio(b, 1), "100.0%");
	ck_assert_str_eq(km_format_ratio(b, (double)NAN), "-");
	ck_assert_int_lt((int)strlen(km_format_ratio(b, 1e300)), KM_FORMAT_BYTES);
}
END_TEST

START_TEST(forms_of_reals)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 0.5, "0.5000" },
		{ -1.25, "-1.250" },
		{ 9.9999, "10.00" },
		{ 99.9999, "100.0" },
		{ 999.9, "999.9" },
		{ 999.96, "1,000" },
		{ -1234567.4, "-1,234,567" },
		{ 0.00001234, "1.23e-05" },
		{ 1e300, "1e+300" },
	};
	char b[KM_FORMAT_BYTES];

	for (size_t i = 0; i < COUNT(cases); i++)
		ck_assert_str_eq(km_format_real(b, cases[i].value), cases[i].text);
	ck_assert_int_lt((int)strlen(km_format_real(b, -999999999999999.0)), KM_FORMAT_BYTES);
}
END_TEST

START_TEST(json_has_every_type)
{
	struct km_test_rows rows = ROWS(km_test_every_cells, km_test_every_columns);
	struct km_section section = { .path = "sites", .shape = KM_SHAPE_ROWS, SECTION(km_test_every_columns, &rows) };

	km_test_output_expect(
		JSON, &section, 1, NULL, 0,
		"{\n"
		"  \"schema\": \"kmstat.test\",\n"
		"  \"schema_version\": 3,\n"
		"  \"sites\": [\n"
		"    {\"text\":\"a\",\"n_count\":1234567,\"n_bytes\":10004,\"life\":{\"p50_ns\":1500,\"max_ns\":99},"
		"\"pid\":-1,\"address\":\"0xffffffff81000000\",\"is_set\":true,\"share\":0.333333,"
		"\"caches\":[\"kmalloc-1k\",\"pid\"],\"bins\":[[9,3],[11,18446744073709551615]]},\n"
		"    {\"text\":null,\"n_count\":null,\"n_bytes\":null,\"life\":{\"p50_ns\":null,\"max_ns\":null},"
		"\"pid\":null,\"address\":null,\"is_set\":null,\"share\":null,\"caches\":[],\"bins\":null}\n"
		"  ]\n"
		"}\n");
}
END_TEST

START_TEST(csv_has_every_type_but_histograms)
{
	struct km_test_rows rows = ROWS(km_test_every_cells, km_test_every_columns);
	struct km_section section = {
		.path = "sites", .shape = KM_SHAPE_ROWS, .is_primary = true, SECTION(km_test_every_columns, &rows)
	};

	km_test_output_expect(CSV, &section, 1, NULL, 0,
			      "text,n_count,n_bytes,life.p50_ns,pid,life.max_ns,address,is_set,share,caches\n"
			      "a,1234567,10004,1500,-1,99,0xffffffff81000000,true,0.333333,\"kmalloc-1k,pid\"\n"
			      ",,,,,,,,,\n");
}
END_TEST

START_TEST(fields_choose_and_order_columns)
{
	static const uint16_t indexes[] = { 11, 5, 10, 3, 0 };
	const struct km_fields fields = { indexes, COUNT(indexes) };
	struct km_test_rows rows = ROWS(km_test_every_cells, km_test_every_columns);
	struct km_section section = {
		.path = "sites", .shape = KM_SHAPE_ROWS, .is_primary = true, SECTION(km_test_every_columns, &rows)
	};

	rows.count = 1;
	km_test_output_expect(JSON_LINES, &section, 1, &fields, 0,
			      "{\"site\":\"kfree\",\"life\":{\"max_ns\":99,\"p50_ns\":1500},"
			      "\"bins\":[[9,3],[11,18446744073709551615]],\"text\":\"a\"}\n");
	rows.at = 0;
	km_test_output_expect(CSV, &section, 1, &fields, 0, "site,life.max_ns,life.p50_ns,text\nkfree,99,1500,a\n");
	rows.at = 0;
	km_test_output_expect(TABLE, &section, 1, &fields, 0,
			      "site   longest  median  text\nkfree     99ns  1.50us  a\n");
	/* Only the primary section listens to them. */
	section.is_primary = false;
	rows.at = rows.count;
	km_test_output_expect(JSON, &section, 1, &fields, 0,
			      "{\n  \"schema\": \"kmstat.test\",\n  \"schema_version\": 3,\n  \"sites\": []\n}\n");
}
END_TEST

START_TEST(fields_out_of_range_are_refused)
{
	static const uint16_t indexes[] = { COUNT(km_test_every_columns) };
	const struct km_fields fields = { indexes, COUNT(indexes) };
	struct km_test_rows rows = ROWS(km_test_every_cells, km_test_every_columns);
	struct km_section section = {
		.path = "sites", .shape = KM_SHAPE_ROWS, .is_primary = true, SECTION(km_test_every_columns, &rows)
	};

	km_test_output_expect_failure(JSON, &section, 1, &fields, -EINVAL);
	km_test_output_expect_failure(JSON_LINES, &section, 1, &fields, -EINVAL);
	km_test_output_expect_failure(CSV, &section, 1, &fields, -EINVAL);
	km_test_output_expect_failure(TABLE, &section, 1, &fields, -EINVAL);
}
END_TEST

static const struct km_column name_columns[] = { { .name = "name", .title = "name", .type = KM_TYPE_STRING } };
static const struct km_column number_columns[] = { { .name = "n.a", .type = KM_TYPE_COUNT },
						   { .name = "n.b", .type = KM_TYPE_COUNT },
						   { .name = "text", .type = KM_TYPE_STRING } };

START_TEST(sections_nest_by_path)
{
	static const struct km_cell name[] = { { .text = "x" } };
	static const struct km_cell items[] = { { .text = "one" }, { .text = "two" } };
	struct km_test_rows top = ROWS(name, name_columns), health = ROWS(name, name_columns);
	struct km_test_rows warnings = ROWS(items, name_columns), inner = ROWS(name, name_columns);
	struct km_test_rows sites = ROWS(items, name_columns), none = ROWS(items, name_columns);
	struct km_test_rows hidden = ROWS(items, name_columns), late = ROWS(name, name_columns);
	const struct km_section sections[] = {
		{ .path = "", .shape = KM_SHAPE_RECORD, SECTION(name_columns, &top) },
		{ .path = "health", .shape = KM_SHAPE_RECORD, SECTION(name_columns, &health) },
		{ .path = "health.warnings", .shape = KM_SHAPE_ITEMS, SECTION(name_columns, &warnings) },
		{ .path = "health.lost", .shape = KM_SHAPE_RECORD, SECTION(name_columns, &inner) },
		{ .path = "health.lost.cpus", .shape = KM_SHAPE_ROWS, SECTION(name_columns, &sites) },
		{ .path = "health.none", .shape = KM_SHAPE_ITEMS, SECTION(name_columns, &none) },
		{ .path = "trace", .shape = KM_SHAPE_RECORD, SECTION(name_columns, NULL), .is_null = true },
		{ .path = "lines", .shape = KM_SHAPE_LINES, SECTION(name_columns, &hidden) },
		{ .path = "end", .shape = KM_SHAPE_RECORD, SECTION(name_columns, &late) },
	};

	none.count = 0;
	late.count = 0;
	km_test_output_expect(JSON, sections, COUNT(sections), NULL, 0,
			      "{\n"
			      "  \"schema\": \"kmstat.test\",\n"
			      "  \"schema_version\": 3,\n"
			      "  \"name\": \"x\",\n"
			      "  \"health\": {\n"
			      "    \"name\": \"x\",\n"
			      "    \"warnings\": [\n"
			      "      \"one\",\n"
			      "      \"two\"\n"
			      "    ],\n"
			      "    \"lost\": {\n"
			      "      \"name\": \"x\",\n"
			      "      \"cpus\": [\n"
			      "        {\"name\":\"one\"},\n"
			      "        {\"name\":\"two\"}\n"
			      "      ]\n"
			      "    },\n"
			      "    \"none\": []\n"
			      "  },\n"
			      "  \"trace\": null,\n"
			      "  \"end\": {}\n"
			      "}\n");
}
END_TEST

START_TEST(sections_without_their_record_are_refused)
{
	struct km_test_rows rows = { 0 };
	struct km_section sections[] = {
		{ .path = "health", .shape = KM_SHAPE_RECORD, SECTION(name_columns, &rows) },
		{ .path = "sites", .shape = KM_SHAPE_ROWS, SECTION(name_columns, &rows) },
		{ .path = "health.warnings", .shape = KM_SHAPE_ITEMS, SECTION(name_columns, &rows) },
	};

	km_test_output_expect_failure(JSON, sections, COUNT(sections), NULL, -EINVAL);
	sections[1].path = "healthy.lost";
	km_test_output_expect_failure(JSON, sections, 2, NULL, -EINVAL);
	/* Nothing lies in a null. */
	sections[0].is_null = true;
	sections[1].path = "health.lost";
	km_test_output_expect_failure(JSON, sections, 2, NULL, -EINVAL);
}
END_TEST

START_TEST(column_names_that_clash_are_refused)
{
	static const struct km_column clash[] = { { .name = "a", .type = KM_TYPE_COUNT },
						  { .name = "a.b", .type = KM_TYPE_COUNT } };
	static const struct km_column clash_too[] = { { .name = "a.b", .type = KM_TYPE_COUNT },
						      { .name = "a", .type = KM_TYPE_COUNT } };
	static const struct km_cell cells[] = { { .number = 1 }, { .number = 2 } };
	struct km_test_rows rows = ROWS(cells, clash);
	struct km_section section = { .path = "", .shape = KM_SHAPE_RECORD, SECTION(clash, &rows) };

	km_test_output_expect_failure(JSON, &section, 1, NULL, -EINVAL);
	rows.at = 0;
	section.columns = clash_too;
	km_test_output_expect_failure(JSON, &section, 1, NULL, -EINVAL);
}
END_TEST

START_TEST(json_list_holds_reports)
{
	static const struct km_cell name[] = { { .text = "x" } };
	struct km_test_rows rows = ROWS(name, name_columns);
	const struct km_section section = { .path = "", .shape = KM_SHAPE_RECORD, SECTION(name_columns, &rows) };
	const struct km_report report = { "kmstat.test", 3, &section, 1 };
	struct km_error error = { 0 };
	char *data = NULL;
	size_t size = 0;

	for (int count = 0; count < 3; count++) {
		FILE *stream = open_memstream(&data, &size);
		json_t *root;

		ck_assert_int_eq(km_output_json_list_begin(stream, "kmstat.reports", 1, &error), 0);
		for (int i = 0; i < count; i++) {
			rows.at = 0;
			ck_assert_int_eq(km_output_json_list_item(stream, &report, NULL, i == 0, &error), 0);
		}
		ck_assert_int_eq(km_output_json_list_end(stream, &error), 0);
		fclose(stream);
		root = json_loads(data, JSON_REJECT_DUPLICATES, NULL);
		ck_assert_msg(root, "%s", data);
		ck_assert_uint_eq(json_array_size(json_object_get(root, "reports")), (size_t)count);
		json_decref(root);
		if (count == 1)
			ck_assert_str_eq(data, "{\n"
					       "  \"schema\": \"kmstat.reports\",\n"
					       "  \"schema_version\": 1,\n"
					       "  \"reports\": [\n"
					       "    {\n"
					       "      \"schema\": \"kmstat.test\",\n"
					       "      \"schema_version\": 3,\n"
					       "      \"name\": \"x\"\n"
					       "    }\n"
					       "  ]\n"
					       "}\n");
		free(data);
	}
}
END_TEST

START_TEST(numbers_beyond_63_bits_keep_their_digits)
{
	/* The text looks like what marks such a number on its way. */
	static const struct km_cell cells[] = { { .number = UINT64_MAX },
						{ .number = (uint64_t)INT64_MAX + 1 },
						{ .text = "\"\\u00005\"" } };
	struct km_test_rows record = ROWS(cells, number_columns), rows = ROWS(cells, number_columns);
	const struct km_section sections[] = {
		{ .path = "", .shape = KM_SHAPE_RECORD, SECTION(number_columns, &record) },
		{ .path = "rows", .shape = KM_SHAPE_ROWS, SECTION(number_columns, &rows) },
	};

	km_test_output_expect(
		JSON, sections, COUNT(sections), NULL, 0,
		"{\n"
		"  \"schema\": \"kmstat.test\",\n"
		"  \"schema_version\": 3,\n"
		"  \"n\": {\n"
		"    \"a\": 18446744073709551615,\n"
		"    \"b\": 9223372036854775808\n"
		"  },\n"
		"  \"text\": \"\\\"\\\\u00005\\\"\",\n"
		"  \"rows\": [\n"
		"    {\"n\":{\"a\":18446744073709551615,\"b\":9223372036854775808},\"text\":\"\\\"\\\\u00005\\\"\"}\n"
		"  ]\n"
		"}\n");
}
END_TEST

START_TEST(json_strings_are_made_valid)
{
	for (size_t i = 0; i < COUNT(km_test_strange); i++) {
		const char *items[] = { km_test_strange[i].text };
		static const struct km_column columns[] = { { .name = "s", .type = KM_TYPE_STRING },
							    { .name = "l", .type = KM_TYPE_LIST } };
		const struct km_cell cells[] = { { .text = km_test_strange[i].text }, { .list = { items, 1 } } };
		struct km_test_rows rows = ROWS(cells, columns);
		const struct km_section section = { .path = "", .shape = KM_SHAPE_RECORD, SECTION(columns, &rows) };
		json_t *root = expect_json(&section, 1);

		ck_assert_str_eq(json_string_value(json_object_get(root, "s")), km_test_strange[i].utf8);
		ck_assert_str_eq(json_string_value(json_array_get(json_object_get(root, "l"), 0)),
				 km_test_strange[i].utf8);
		json_decref(root);
	}
}
END_TEST

START_TEST(csv_quotes_as_rfc_4180_says)
{
	static const struct km_column columns[] = { { .name = "a", .type = KM_TYPE_STRING },
						    { .name = "b,c", .type = KM_TYPE_STRING } };
	static const struct km_cell cells[] = {
		{ .text = "say \"hi\"" }, { .text = "a,b" }, { .text = "two\nlines" },
		{ .text = "cr\r" },       { .text = "" },    { .text = "bad \xff" },
	};
	struct km_test_rows rows = ROWS(cells, columns);
	struct km_section section = {
		.path = "x", .shape = KM_SHAPE_ROWS, .is_primary = true, SECTION(columns, &rows)
	};

	km_test_output_expect(CSV, &section, 1, NULL, 0,
			      "a,\"b,c\"\n\"say \"\"hi\"\"\",\"a,b\"\n\"two\nlines\",\"cr\r\"\n,bad \xef\xbf\xbd\n");
	/* Alone on its line an empty field would be no record. */
	rows = (struct km_test_rows)ROWS(cells, columns);
	rows.cells = &cells[4];
	rows.count = 1;
	section.columns_count = 1;
	km_test_output_expect(CSV, &section, 1, NULL, 0, "a\n\"\"\n");
}
END_TEST

START_TEST(one_table_needs_a_primary_section)
{
	struct km_test_rows rows = { 0 };
	const struct km_section section = { .path = "x", .shape = KM_SHAPE_ROWS, SECTION(name_columns, &rows) };

	km_test_output_expect_failure(CSV, &section, 1, NULL, -EINVAL);
	km_test_output_expect_failure(JSON_LINES, &section, 1, NULL, -EINVAL);
}
END_TEST

static int next_fails(void *state, struct km_cell *cells, struct km_error *error)
{
	(void)state;
	(void)cells;
	(void)error;
	return -EBADMSG;
}

START_TEST(failing_rows_fail_the_writer)
{
	struct km_section section = {
		.path = "x", .shape = KM_SHAPE_ROWS, .is_primary = true, SECTION(name_columns, NULL)
	};

	section.next = next_fails;
	for (int format = JSON; format <= TABLE; format++)
		km_test_output_expect_failure((enum km_test_output)format, &section, 1, NULL, -EBADMSG);
}
END_TEST

START_TEST(memory_does_not_grow_with_rows)
{
	for (int format = JSON; format <= TABLE; format++) {
		struct km_test_many many = { .count = 100000 };
		struct km_section section = km_test_output_many(&many);
		struct km_report report = { "kmstat.test", 3, &section, 1 };
		struct km_error error = { 0 };
		size_t before = mallinfo2().uordblks;
		FILE *stream = fopen("/dev/null", "w");
		int code;

		code = km_test_output_write(stream, (enum km_test_output)format, &report, NULL, 80, &error);
		fclose(stream);
		ck_assert_int_eq(code, 0);
		ck_assert_uint_eq(many.at, many.count);
		/* A thousand rows of text are some 250 KiB. */
		ck_assert_uint_lt(many.heap_bytes - before, format == TABLE ? 1 << 20 : 64 << 10);
	}
}
END_TEST

/* Writes many rows in every format to what open() gives; each writer or the finish must fail with `code`. */
static void expect_write_error(FILE *(*open_stream)(void), size_t rows, int number)
{
	for (int format = JSON; format <= TABLE; format++) {
		struct km_test_many many = { .count = rows };
		struct km_section section = km_test_output_many(&many);
		struct km_report report = { "kmstat.test", 3, &section, 1 };
		struct km_error error = { 0 };
		FILE *stream = open_stream();
		char wanted[128];
		int code;

		code = km_test_output_write(stream, (enum km_test_output)format, &report, NULL, 80, &error);
		if (!code)
			code = km_output_finish(stream, "output", &error);
		fclose(stream);
		ck_assert_int_eq(code, -number);
		snprintf(wanted, sizeof(wanted), "output: %s", strerror(number));
		ck_assert_str_eq(error.text, wanted);
		/* It stops soon, not at the end of the rows. */
		ck_assert_uint_le(many.at, 2000);
	}
}

static FILE *open_full(void)
{
	return fopen("/dev/full", "w");
}

static FILE *open_closed_pipe(void)
{
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	close(ends[0]);
	return fdopen(ends[1], "w");
}

START_TEST(a_full_disk_is_an_error)
{
	expect_write_error(open_full, 3, ENOSPC);
	expect_write_error(open_full, 100000, ENOSPC);
}
END_TEST

START_TEST(a_closed_pipe_is_an_error)
{
	signal(SIGPIPE, SIG_IGN);
	expect_write_error(open_closed_pipe, 3, EPIPE);
	expect_write_error(open_closed_pipe, 100000, EPIPE);
}
END_TEST

START_TEST(finish_names_the_stream)
{
	struct km_error error = { 0 };
	FILE *stream = open_full();

	fputs("text", stream);
	ck_assert_int_eq(km_output_finish(stream, "standard output", &error), -ENOSPC);
	ck_assert_str_eq(error.text, "standard output: No space left on device");
	fclose(stream);
	stream = fopen("/dev/null", "w");
	ck_assert_int_eq(km_output_finish(stream, "standard output", NULL), 0);
	fclose(stream);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		forms_of_counts,
		forms_of_bytes,
		forms_of_durations,
		forms_of_ratios,
		forms_of_reals,
		json_has_every_type,
		csv_has_every_type_but_histograms,
		fields_choose_and_order_columns,
		fields_out_of_range_are_refused,
		sections_nest_by_path,
		sections_without_their_record_are_refused,
		column_names_that_clash_are_refused,
		json_list_holds_reports,
		numbers_beyond_63_bits_keep_their_digits,
		json_strings_are_made_valid,
		csv_quotes_as_rfc_4180_says,
		one_table_needs_a_primary_section,
		failing_rows_fail_the_writer,
		memory_does_not_grow_with_rows,
		a_full_disk_is_an_error,
		a_closed_pipe_is_an_error,
		finish_names_the_stream,
		NULL,
	};

	return km_test_main("output", tests, 30);
}
