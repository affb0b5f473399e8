/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run_rows: the rows of a run as a table of a report: the columns of
 * rows.h, filled from km_run_row. Columns that a run does not hold are left
 * out. The order is the default one of reports, ties broken by identity.
 */
#ifndef KM_RUN_ROWS_H
#define KM_RUN_ROWS_H

#include <stddef.h>

#include "error.h"
#include "report.h"
#include "run.h"

struct km_run_rows;

/* run is borrowed. axis: sites, caches or groups. limit 0: all rows. Returns 0 or -ENOMEM. */
int km_run_rows_new(const struct km_run *run, enum km_run_axis axis, size_t limit, struct km_run_rows **ret_rows,
		    struct km_error *error);
void km_run_rows_free(struct km_run_rows *rows);

const struct km_column *km_run_rows_columns(const struct km_run_rows *rows, size_t *ret_count);
size_t km_run_rows_shown(const struct km_run_rows *rows);
/* For km_section.next, with the rows as its state. */
int km_run_rows_next(void *rows, struct km_cell *cells, struct km_error *error);

#endif
