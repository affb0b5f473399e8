/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rows: the tables of an analysis: call sites, slab caches or groups, one
 * typed column a metric, sorted and pulled row by row. One row of
 * metric_rows[] in rows.c is a metric: its name, title, help and value.
 */
#ifndef KM_ROWS_H
#define KM_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "aggregate.h"
#include "analysis.h"
#include "error.h"
#include "report.h"

#define KM_SORT_KEYS_LIMIT    8
#define KM_ROWS_COLUMNS_LIMIT 96

/* --sort: columns by name; numbers descending and names ascending unless a sign says otherwise. */
struct km_sort {
	struct {
		char name[64];
		int direction; /* -1 descending, 1 ascending, 0 as the type has it */
	} keys[KM_SORT_KEYS_LIMIT];
	unsigned count;
};

/* "-live_bytes,symbol": -EINVAL for more keys than the limit. Names are looked up when rows are made. */
int km_sort_parse(const char *text, struct km_sort *ret_sort, struct km_error *error);

struct km_rows;

/*
 * analysis and sort are borrowed. limit 0: all rows. by: of the analysis,
 * for the groups' key columns. Errors: -EINVAL for an unknown sort key (the
 * error lists what is right), -ENOMEM.
 */
int km_rows_new(const struct km_analysis *analysis, enum km_axis axis, const struct km_sort *sort, size_t limit,
		struct km_rows **ret_rows, struct km_error *error);
void km_rows_free(struct km_rows *rows);

const struct km_column *km_rows_columns(const struct km_rows *rows, size_t *ret_count);
/* Rows that there are, and that will be handed out. */
size_t km_rows_total(const struct km_rows *rows);
size_t km_rows_shown(const struct km_rows *rows);
/* For km_section.next, with the rows as its state. */
int km_rows_next(void *rows, struct km_cell *cells, struct km_error *error);
/* Of the row handed out last: its index on the axis (km_aggregate_row()). */
size_t km_rows_index(const struct km_rows *rows);

/* The columns of an axis as a table of it has them, for those who fill them from elsewhere. */
struct km_rows_layout {
	struct km_column columns[KM_ROWS_COLUMNS_LIMIT];
	char by_names[KM_BY_LIMIT][32]; /* some names of columns point here */
	size_t count;
};

/* by: the fields of groups' keys. ticks: whether the clock is not in ns. Returns 0 or -ENOMEM. */
int km_rows_layout(enum km_axis axis, const struct km_by_list *by, bool ticks, struct km_rows_layout *ret_layout);

/* The columns of an axis without an analysis, for --sort help and the manual. */
size_t km_rows_describe(enum km_axis axis, struct km_column *columns, size_t limit);

/*
 * --fields: names to the indexes of columns; "help" is the caller's.
 * *ret_fields' indexes are malloc'd. -EINVAL for an unknown name.
 */
int km_fields_parse(const char *text, const struct km_column *columns, size_t count, struct km_fields *ret_fields,
		    struct km_error *error);

#endif
