/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * objects: what is live in the table at the end, one row an object, sorted
 * and pulled. It holds an index of the table, not copies of its objects.
 */
#ifndef KM_OBJECTS_H
#define KM_OBJECTS_H

#include <stddef.h>

#include "analysis.h"
#include "error.h"
#include "report.h"
#include "rows.h"

struct km_objects;

/*
 * Objects of the selection, of analysis (borrowed). sort NULL or empty: the
 * oldest first. limit 0: all. Errors: -EINVAL for an unknown sort key, -ENOMEM.
 */
int km_objects_new(const struct km_analysis *analysis, const struct km_sort *sort, size_t limit,
		   struct km_objects **ret_objects, struct km_error *error);
void km_objects_free(struct km_objects *objects);

const struct km_column *km_objects_columns(const struct km_objects *objects, size_t *ret_count);
size_t km_objects_total(const struct km_objects *objects);
size_t km_objects_shown(const struct km_objects *objects);
int km_objects_next(void *objects, struct km_cell *cells, struct km_error *error);

/* The columns without an analysis, for --sort help. */
size_t km_objects_describe(struct km_column *columns, size_t limit);

#endif
