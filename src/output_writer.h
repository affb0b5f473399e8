/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * output_writer: what the writers share: pulling rows, choosing columns, text
 * that grows. Only output*.c include it.
 */
#ifndef KM_OUTPUT_WRITER_H
#define KM_OUTPUT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report.h"

/* A string that grows; all zero bytes: empty, data NULL. */
struct km_output_text {
	char *data; /* owned; NUL-terminated once anything was added, even nothing */
	size_t length;
	size_t size;
};

/* Append. Return 0, or -ENOMEM with the text as it was. */
int km_output_text_add(struct km_output_text *text, const char *bytes, size_t count);
/* Append as UTF-8: each byte that is no part of a valid character becomes U+FFFD. */
int km_output_text_add_utf8(struct km_output_text *text, const char *string);
void km_output_text_release(struct km_output_text *text);

/* A section's rows and the columns of them that one writer shows. */
struct km_output_rows {
	const struct km_section *section; /* borrowed */
	struct km_cell *cells;            /* owned; the row that _next() got: one per column of the section */
	uint16_t *indexes;                /* owned; the columns to show, in this order */
	size_t count;
	bool is_named; /* a user named the columns */
};

/*
 * The columns are those of `fields` if it has any and the section is the
 * primary one, else all that have no flag of `hidden`; histograms only on
 * demand.
 */
int km_output_rows_open(struct km_output_rows *rows, const struct km_section *section, const struct km_fields *fields,
			unsigned hidden, bool with_arrays, struct km_error *error);
/* 1: rows->cells is the next row, 0: no more, negative errno with error set. */
int km_output_rows_next(struct km_output_rows *rows, struct km_error *error);
void km_output_rows_close(struct km_output_rows *rows);

static inline const struct km_column *km_output_rows_column(const struct km_output_rows *rows, size_t i)
{
	return &rows->section->columns[rows->indexes[i]];
}

static inline const struct km_cell *km_output_rows_cell(const struct km_output_rows *rows, size_t i)
{
	return &rows->cells[rows->indexes[i]];
}

/* What is_null says, and pointers that are missing. */
bool km_output_cell_is_null(const struct km_column *column, const struct km_cell *cell);

/* For people: a cell that is neither text nor list nor null, in at most KM_FORMAT_BYTES; what is above a column. */
const char *km_output_number(char *buffer, const struct km_column *column, const struct km_cell *cell);
const char *km_output_heading(const struct km_column *column);
bool km_output_is_right(const struct km_column *column);

/* The primary section, or NULL with error set to -EINVAL. */
const struct km_section *km_output_primary(const struct km_report *report, struct km_error *error);

/* 0, or a negative errno with error set if a write to the stream failed; to be called soon after it, for errno's sake.
 */
int km_output_check(FILE *stream, struct km_error *error);

#endif
