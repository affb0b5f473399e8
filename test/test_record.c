/* SPDX-License-Identifier: GPL-2.0-only */
#include "record.h"

#include <stdio.h>
#include <string.h>

#include "testing.h"

static struct km_section section_of(struct km_record *record)
{
	struct km_section section;
	struct km_error error = { 0 };

	ck_assert_msg(!km_record_section(record, "health.x", "X", KM_SHAPE_ROWS, KM_FOR_MACHINES, &section, &error),
		      "%s", error.text);
	return section;
}

START_TEST(a_row_of_every_type)
{
	struct km_record *record = km_record_new();
	struct km_histogram histogram = { 0 };
	struct km_section section;
	struct km_cell cells[7];

	ck_assert_int_eq(km_histogram_add(&histogram, 77), 0);
	km_record_text(record, "a", "text");
	km_record_number(record, "b", KM_TYPE_BYTES, UINT64_MAX);
	km_record_integer(record, "c", -5);
	km_record_flag(record, "d", true);
	km_record_null(record, "e", KM_TYPE_DURATION);
	km_record_text(record, "f", NULL);
	km_record_histogram(record, "g", &histogram);
	km_record_end_row(record);
	km_histogram_release(&histogram); /* it was copied */
	section = section_of(record);
	ck_assert_str_eq(section.path, "health.x");
	ck_assert_str_eq(section.title, "X");
	ck_assert_int_eq(section.shape, KM_SHAPE_ROWS);
	ck_assert_uint_eq(section.audience, KM_FOR_MACHINES);
	ck_assert_uint_eq(section.columns_count, 7);
	for (unsigned i = 0; i < 7; i++) {
		static const enum km_type types[] = { KM_TYPE_STRING,   KM_TYPE_BYTES,  KM_TYPE_INTEGER,  KM_TYPE_BOOL,
						      KM_TYPE_DURATION, KM_TYPE_STRING, KM_TYPE_HISTOGRAM };
		const char name[] = { (char)('a' + i), '\0' };

		ck_assert_str_eq(section.columns[i].name, name);
		ck_assert_int_eq(section.columns[i].type, types[i]);
	}
	ck_assert_int_eq(section.next(section.state, cells, NULL), 1);
	ck_assert_str_eq(cells[0].text, "text");
	ck_assert_uint_eq(cells[1].number, UINT64_MAX);
	ck_assert_int_eq(cells[2].integer, -5);
	ck_assert(cells[3].flag);
	ck_assert(cells[4].is_null);
	ck_assert(cells[5].is_null);
	ck_assert_uint_eq(cells[6].histogram->count, 1);
	ck_assert_uint_eq(cells[6].histogram->max, 77);
	for (unsigned i = 0; i < 7; i++)
		ck_assert(cells[i].is_null == (i == 4 || i == 5));
	ck_assert_int_eq(section.next(section.state, cells, NULL), 0);
	km_record_free(record);
}
END_TEST

START_TEST(many_rows_come_in_their_order)
{
	struct km_record *record = km_record_new();
	struct km_section section;
	struct km_cell cells[2];
	char text[16];

	for (unsigned i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "row %u", i);
		km_record_number(record, "n", KM_TYPE_COUNT, i);
		km_record_text(record, "t", i % 3 ? text : NULL);
		km_record_end_row(record);
	}
	memset(text, 'x', sizeof(text)); /* it was copied */
	section = section_of(record);
	ck_assert_uint_eq(section.columns_count, 2);
	for (unsigned i = 0; i < 1000; i++) {
		ck_assert_int_eq(section.next(section.state, cells, NULL), 1);
		ck_assert_uint_eq(cells[0].number, i);
		snprintf(text, sizeof(text), "row %u", i);
		ck_assert(cells[1].is_null == !(i % 3));
		if (i % 3)
			ck_assert_str_eq(cells[1].text, text);
	}
	ck_assert_int_eq(section.next(section.state, cells, NULL), 0);
	km_record_free(record);
}
END_TEST

/* A writer may be asked twice: the section begins anew. */
START_TEST(a_section_begins_at_the_first_row)
{
	struct km_record *record = km_record_new();
	struct km_cell cell;

	km_record_flag(record, "f", false);
	km_record_end_row(record);
	for (int i = 0; i < 2; i++) {
		struct km_section section = section_of(record);

		ck_assert_int_eq(section.next(section.state, &cell, NULL), 1);
		ck_assert_int_eq(section.next(section.state, &cell, NULL), 0);
	}
	km_record_free(record);
}
END_TEST

START_TEST(a_title_is_of_the_column_made_last)
{
	struct km_record *record = km_record_new();
	struct km_section section;

	km_record_number(record, "a", KM_TYPE_COUNT, 1);
	km_record_title(record, "the first", KM_COLUMN_MACHINE);
	km_record_number(record, "b", KM_TYPE_COUNT, 2);
	km_record_end_row(record);
	km_record_number(record, "a", KM_TYPE_COUNT, 3);
	km_record_title(record, "not any more", 0); /* columns are made by the first row */
	km_record_number(record, "b", KM_TYPE_COUNT, 4);
	km_record_end_row(record);
	section = section_of(record);
	ck_assert_str_eq(section.columns[0].title, "the first");
	ck_assert_uint_eq(section.columns[0].flags, KM_COLUMN_MACHINE);
	ck_assert_ptr_null(section.columns[1].title);
	ck_assert_uint_eq(section.columns[1].flags, 0);
	km_record_free(record);
}
END_TEST

START_TEST(without_rows_there_is_nothing)
{
	struct km_record *record = km_record_new();
	struct km_section section = section_of(record);
	struct km_cell cell;

	ck_assert_uint_eq(section.columns_count, 0);
	ck_assert_int_eq(section.next(section.state, &cell, NULL), 0);
	km_record_free(record);
	km_record_free(NULL);
}
END_TEST

static void expect_refused(struct km_record *record)
{
	struct km_section section = { .path = "untouched" };
	struct km_error error = { 0 };

	ck_assert_int_lt(km_record_section(record, "p", NULL, KM_SHAPE_ROWS, KM_FOR_PEOPLE, &section, &error), 0);
	ck_assert_int_ne(error.code, 0);
	ck_assert_str_eq(section.path, "untouched");
	km_record_free(record);
}

/* None of it is shown, and all of it is freed: the address sanitizer looks on. */
START_TEST(a_row_unlike_the_first_spoils_it)
{
	struct km_record *record = km_record_new();

	km_record_text(record, "a", "x"); /* too few */
	km_record_number(record, "b", KM_TYPE_COUNT, 1);
	km_record_end_row(record);
	km_record_text(record, "a", "y");
	km_record_end_row(record);
	km_record_text(record, "a", "z");
	km_record_number(record, "b", KM_TYPE_COUNT, 2);
	km_record_end_row(record);
	expect_refused(record);

	record = km_record_new(); /* too many */
	km_record_text(record, "a", "x");
	km_record_number(record, "b", KM_TYPE_COUNT, 1);
	km_record_end_row(record);
	km_record_text(record, "a", "y");
	km_record_number(record, "b", KM_TYPE_COUNT, 1);
	km_record_number(record, "c", KM_TYPE_COUNT, 7);
	km_record_end_row(record);
	expect_refused(record);

	record = km_record_new(); /* of other types */
	km_record_text(record, "a", "x");
	km_record_number(record, "b", KM_TYPE_COUNT, 1);
	km_record_end_row(record);
	km_record_number(record, "b", KM_TYPE_COUNT, 1);
	km_record_text(record, "a", "y");
	km_record_end_row(record);
	expect_refused(record);
}
END_TEST

START_TEST(a_row_that_is_not_ended_is_no_row)
{
	struct km_record *record = km_record_new();
	struct km_section section;
	struct km_cell cell;

	km_record_text(record, "a", "x");
	km_record_end_row(record);
	km_record_text(record, "a", "left open");
	section = section_of(record);
	ck_assert_int_eq(section.next(section.state, &cell, NULL), 1);
	ck_assert_int_eq(section.next(section.state, &cell, NULL), 0);
	km_record_free(record);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { a_row_of_every_type,
				 many_rows_come_in_their_order,
				 a_section_begins_at_the_first_row,
				 a_title_is_of_the_column_made_last,
				 without_rows_there_is_nothing,
				 a_row_unlike_the_first_spoils_it,
				 a_row_that_is_not_ended_is_no_row,
				 NULL };

	return km_test_main("record", tests, 10);
}
