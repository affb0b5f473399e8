/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * output: writers of reports. They see a struct km_report and a stream,
 * nothing else, and hold one row at a time (a table for people: at most
 * KM_OUTPUT_TABLE_ROWS, from which it takes its widths before it streams).
 *
 * Every writer returns 0, or a negative errno with error set: a closed pipe
 * or a full disk is an error. The stream is not closed; callers flush it and
 * check that too (km_output_finish).
 */
#ifndef KM_OUTPUT_H
#define KM_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "format.h"
#include "report.h"

#define KM_OUTPUT_TABLE_ROWS 1000

struct km_output_style {
	unsigned width;      /* columns of the terminal; 0: unlimited */
	bool colour;         /* escape sequences may be used */
	unsigned wide_width; /* without a width: WIDE columns are added up to this; 0: all of them */
};

/* One JSON object, pretty-printed, a newline behind it. Byte-identical for identical input. */
int km_output_json(FILE *stream, const struct km_report *report, const struct km_fields *fields,
		   struct km_error *error);
/* {"schema": "kmstat.reports", "reports": [ one, two ]}: begin, any number of _item, end. */
int km_output_json_list_begin(FILE *stream, const char *schema, int schema_version, struct km_error *error);
int km_output_json_list_item(FILE *stream, const struct km_report *report, const struct km_fields *fields, bool first,
			     struct km_error *error);
int km_output_json_list_end(FILE *stream, struct km_error *error);
/* The primary section only, one compact JSON object a line. */
int km_output_json_lines(FILE *stream, const struct km_report *report, const struct km_fields *fields,
			 struct km_error *error);

/* The primary section only: RFC 4180 quoting, LF line ends, raw units, a header line of column names. */
int km_output_csv(FILE *stream, const struct km_report *report, const struct km_fields *fields, struct km_error *error);

/* More rows behind those of an earlier km_output_csv() of the same columns: without the header line. */
int km_output_csv_more(FILE *stream, const struct km_report *report, const struct km_fields *fields,
		       struct km_error *error);

/*
 * For a comment on a merge request: what people read, the brief sections and
 * the first rows of the primary one in sight, the rest folded away.
 */
int km_output_markdown(FILE *stream, const struct km_report *report, const struct km_fields *fields,
		       struct km_error *error);

/* JUnit XML: each row of the section "rules" as a test. -EINVAL without one. */
int km_output_junit(FILE *stream, const struct km_report *report, struct km_error *error);

/* For people: the sections in order. */
int km_output_table(FILE *stream, const struct km_report *report, const struct km_fields *fields,
		    const struct km_output_style *style, struct km_error *error);

/* Flush, and report what stdio kept to itself. `name` is for the message ("standard output"). */
int km_output_finish(FILE *stream, const char *name, struct km_error *error);

#endif
