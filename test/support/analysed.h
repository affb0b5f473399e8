/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * analysed: a trace that a test built, through the whole of src/analysis.c,
 * and its rows by the names of their columns. What can't be done ends the
 * test.
 */
#ifndef KM_ANALYSED_H
#define KM_ANALYSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis.h"
#include "report.h"
#include "trace_writer.h"

struct analysed {
	void *data;
	struct km_reader *reader;
	struct km_filter filter;
	struct km_analysis *analysis; /* NULL: it failed */
	struct km_error error;
};

/*
 * tw is freed. options: NULL for the defaults; filter and a table's bound are
 * filled in. time: as for --time, or NULL. Of the top buffer.
 */
struct analysed *analysed_run(struct tw *tw, const struct km_analysis_options *options, const char *time);
/* The same, which may fail: analysis is NULL then and error set. filter: taken over with all it owns, or NULL. */
struct analysed *analysed_try(struct tw *tw, const struct km_analysis_options *options, const char *time,
			      const struct km_filter *filter);
void analysed_free(struct analysed *analysed);

/* The index of a column; the test ends if there is none. */
size_t analysed_column(const struct km_column *columns, size_t count, const char *name);
bool analysed_has_column(const struct km_column *columns, size_t count, const char *name);

#endif
