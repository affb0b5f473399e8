/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * output_fixture: reports built from arrays of cells, and what the writers
 * make of them as strings, for the tests of the output layer.
 */
#ifndef KM_OUTPUT_FIXTURE_H
#define KM_OUTPUT_FIXTURE_H

#include "output.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Rows from an array of cells, row by row. */
struct km_test_rows {
	const struct km_cell *cells;
	size_t columns_count;
	size_t count;
	size_t at;
};

int km_test_output_next(void *state, struct km_cell *cells, struct km_error *error);

/* Initialisers: what most sections have in common; rows from an array of cells. */
#define SECTION(columns_, rows_)                                                                              \
	.audience = KM_FOR_PEOPLE | KM_FOR_MACHINES, .columns = (columns_), .columns_count = COUNT(columns_), \
	.next = km_test_output_next, .state = (rows_)
#define ROWS(cells_, columns_)                                                                                \
	{                                                                                                     \
		.cells = (cells_), .columns_count = COUNT(columns_), .count = COUNT(cells_) / COUNT(columns_) \
	}

/* One row with all there is to know, one with nothing, in columns of every type and audience. */
#define EVERY_COLUMNS_COUNT 12
extern const struct km_column km_test_every_columns[EVERY_COLUMNS_COUNT];
extern const struct km_cell km_test_every_cells[2 * EVERY_COLUMNS_COUNT];

/* What a comm may hold, and what is to become of it in JSON and CSV, and on a terminal that knows ASCII only. */
#define STRANGE_TEXTS_COUNT 12
extern const struct km_test_strange {
	const char *text, *utf8, *ascii;
} km_test_strange[STRANGE_TEXTS_COUNT];

#define SITE_COLUMNS_COUNT 4
extern const struct km_column km_test_site_columns[SITE_COLUMNS_COUNT];

/* Many rows of sites, and the most memory that was in use while they were written. */
struct km_test_many {
	size_t at, count;
	size_t heap_bytes;
	char text[64];
};

struct km_section km_test_output_many(struct km_test_many *many);

enum km_test_output { JSON, JSON_LINES, CSV, TABLE };

/* The writer of a format. */
int km_test_output_write(FILE *stream, enum km_test_output format, const struct km_report *report,
			 const struct km_fields *fields, unsigned width, struct km_error *error);
/* The output as a string, to be freed; NULL and error set if the writer failed. */
char *km_test_output_string(enum km_test_output format, const struct km_report *report, const struct km_fields *fields,
			    unsigned width, struct km_error *error);
/* Assertions. */
void km_test_output_expect(enum km_test_output format, const struct km_section *sections, size_t count,
			   const struct km_fields *fields, unsigned width, const char *wanted);
void km_test_output_expect_failure(enum km_test_output format, const struct km_section *sections, size_t count,
				   const struct km_fields *fields, int code);

#endif
