/* SPDX-License-Identifier: GPL-2.0-only */
#include "output_fixture.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

int km_test_output_next(void *state, struct km_cell *cells, struct km_error *error)
{
	struct km_test_rows *rows = state;

	(void)error;
	if (rows->at == rows->count)
		return 0;
	memcpy(cells, rows->cells + rows->at++ * rows->columns_count, rows->columns_count * sizeof(*cells));
	return 1;
}

const struct km_column km_test_every_columns[EVERY_COLUMNS_COUNT] = {
	{ .name = "text", .title = "text", .type = KM_TYPE_STRING },
	{ .name = "n_count", .title = "count", .type = KM_TYPE_COUNT },
	{ .name = "n_bytes", .title = "bytes", .type = KM_TYPE_BYTES },
	{ .name = "life.p50_ns", .title = "median", .type = KM_TYPE_DURATION },
	{ .name = "pid", .title = "pid", .type = KM_TYPE_INTEGER },
	{ .name = "life.max_ns", .title = "longest", .type = KM_TYPE_DURATION, .flags = KM_COLUMN_MACHINE },
	{ .name = "address", .title = "address", .type = KM_TYPE_ADDRESS },
	{ .name = "is_set", .title = "set", .type = KM_TYPE_BOOL },
	{ .name = "share", .title = "share", .type = KM_TYPE_RATIO },
	{ .name = "caches", .title = "caches", .type = KM_TYPE_LIST },
	{ .name = "bins", .title = "bins", .type = KM_TYPE_HISTOGRAM },
	{ .name = "site", .title = "site", .type = KM_TYPE_STRING, .flags = KM_COLUMN_PEOPLE },
};

static const char *const two_caches[] = { "kmalloc-1k", "pid" };
static uint64_t some_bins[] = { 3, 0, UINT64_MAX };
static const struct km_histogram some_histogram = { 8, 10, 20, 9, 3, some_bins };

const struct km_cell km_test_every_cells[2 * EVERY_COLUMNS_COUNT] = {
	{ .text = "a" },
	{ .number = 1234567 },
	{ .number = 10004 },
	{ .number = 1500 },
	{ .integer = -1 },
	{ .number = 99 },
	{ .number = 0xffffffff81000000 },
	{ .flag = true },
	{ .ratio = 1.0 / 3 },
	{ .list = { two_caches, 2 } },
	{ .histogram = &some_histogram },
	{ .text = "kfree" },
	/* the second row: nothing is known */
	{ .text = NULL },
	{ .is_null = true },
	{ .is_null = true },
	{ .is_null = true },
	{ .is_null = true },
	{ .is_null = true },
	{ .is_null = true },
	{ .is_null = true },
	{ .ratio = (double)NAN },
	{ .list = { NULL, 0 } },
	{ .histogram = NULL },
	{ .is_null = true },
};

const struct km_test_strange km_test_strange[STRANGE_TEXTS_COUNT] = {
	{ "plain", "plain", "plain" },
	{ "", "", "" },
	{ "caf\xc3\xa9", "caf\xc3\xa9", "caf\\xc3\\xa9" },
	{ "\xff", "\xef\xbf\xbd", "\\xff" },
	{ "a\xc3", "a\xef\xbf\xbd", "a\\xc3" },
	{ "\xc3(", "\xef\xbf\xbd(", "\\xc3(" },
	{ "\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd", "\\xe2\\x82" },
	{ "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd", "\\xc0\\xaf" },
	{ "\xed\xa0\x80z", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz", "\\xed\\xa0\\x80z" },
	{ "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "\\xf4\\x90\\x80\\x80" },
	{ "\xf0\x9f\x90\xa7", "\xf0\x9f\x90\xa7", "\\xf0\\x9f\\x90\\xa7" },
	{ "\x1b[31mred\x7f", "\x1b[31mred\x7f", "\\x1b[31mred\\x7f" },
};

const struct km_column km_test_site_columns[SITE_COLUMNS_COUNT] = {
	{ .name = "live_bytes", .title = "live", .type = KM_TYPE_BYTES },
	{ .name = "live_count", .title = "objects", .type = KM_TYPE_COUNT },
	{ .name = "peak_live_bytes", .title = "peak", .type = KM_TYPE_BYTES, .flags = KM_COLUMN_WIDE },
	{ .name = "symbol", .title = "call site", .type = KM_TYPE_STRING, .flags = KM_COLUMN_FLEX },
};

static int next_of_many(void *state, struct km_cell *cells, struct km_error *error)
{
	struct km_test_many *many = state;
	size_t heap_bytes = mallinfo2().uordblks;

	(void)error;
	if (heap_bytes > many->heap_bytes)
		many->heap_bytes = heap_bytes;
	if (many->at == many->count)
		return 0;
	many->at++;
	/* Longer names come only after the rows that fix the widths. */
	snprintf(many->text, sizeof(many->text), many->at > 90000 ? "a_much_longer_name_than_before_%zu" : "name_%zu",
		 many->at);
	cells[0].number = many->at * 1000;
	cells[1].number = many->at;
	cells[2].number = many->at;
	cells[3].text = many->text;
	return 1;
}

struct km_section km_test_output_many(struct km_test_many *many)
{
	struct km_section section = {
		.path = "sites", .shape = KM_SHAPE_ROWS, .is_primary = true, SECTION(km_test_site_columns, many)
	};

	section.next = next_of_many;
	return section;
}

int km_test_output_write(FILE *stream, enum km_test_output format, const struct km_report *report,
			 const struct km_fields *fields, unsigned width, struct km_error *error)
{
	const struct km_output_style style = { .width = width };

	switch (format) {
	case JSON:
		return km_output_json(stream, report, fields, error);
	case JSON_LINES:
		return km_output_json_lines(stream, report, fields, error);
	case CSV:
		return km_output_csv(stream, report, fields, error);
	case TABLE:
		break;
	}
	return km_output_table(stream, report, fields, &style, error);
}

char *km_test_output_string(enum km_test_output format, const struct km_report *report, const struct km_fields *fields,
			    unsigned width, struct km_error *error)
{
	char *data = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&data, &size);
	int code;

	ck_assert_ptr_nonnull(stream);
	code = km_test_output_write(stream, format, report, fields, width, error);
	ck_assert_int_eq(fclose(stream), 0);
	ck_assert_int_le(code, 0);
	ck_assert_int_eq(code, error->code);
	if (code < 0) {
		ck_assert_uint_gt(strlen(error->text), 0);
		free(data);
		return NULL;
	}
	return data;
}

void km_test_output_expect(enum km_test_output format, const struct km_section *sections, size_t count,
			   const struct km_fields *fields, unsigned width, const char *wanted)
{
	const struct km_report report = { "kmstat.test", 3, sections, count };
	struct km_error error = { 0 };
	char *data = km_test_output_string(format, &report, fields, width, &error);

	ck_assert_msg(data, "%s", error.text);
	ck_assert_str_eq(data, wanted);
	free(data);
}

void km_test_output_expect_failure(enum km_test_output format, const struct km_section *sections, size_t count,
				   const struct km_fields *fields, int code)
{
	const struct km_report report = { "kmstat.test", 3, sections, count };
	struct km_error error = { 0 };

	ck_assert_ptr_null(km_test_output_string(format, &report, fields, 0, &error));
	ck_assert_int_eq(error.code, code);
}
