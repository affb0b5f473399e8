/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record: small tables in memory as sections of a report: one row of named
 * values (totals, trace), or some rows of the same columns (warnings). It
 * copies texts, and is not for anything that grows with the trace.
 */
#ifndef KM_RECORD_H
#define KM_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "report.h"

struct km_record;

struct km_record *km_record_new(void); /* NULL when out of memory */
void km_record_free(struct km_record *record);

/*
 * Append one value. In the first row a value makes its column (name is
 * borrowed, a literal); later rows give the same names in the same order.
 * Nothing is done once memory ran out: km_record_section() tells.
 */
void km_record_text(struct km_record *record, const char *name, const char *text); /* NULL: null */
void km_record_number(struct km_record *record, const char *name, enum km_type type, uint64_t value);
/* type: KM_TYPE_REAL or KM_TYPE_RATIO; what is not finite is null */
void km_record_real(struct km_record *record, const char *name, enum km_type type, double value);
void km_record_integer(struct km_record *record, const char *name, int64_t value);
void km_record_flag(struct km_record *record, const char *name, bool flag);
void km_record_null(struct km_record *record, const char *name, enum km_type type);
/* A copy of the histogram. */
void km_record_histogram(struct km_record *record, const char *name, const struct km_histogram *histogram);
/* The row is complete. */
void km_record_end_row(struct km_record *record);

/* Titles for people: of the column made last. */
void km_record_title(struct km_record *record, const char *title, unsigned flags);

/*
 * The section; the record must outlive it. columns of a record without rows
 * are none. Returns 0 or -ENOMEM.
 */
int km_record_section(struct km_record *record, const char *path, const char *title, enum km_shape shape,
		      unsigned audience, struct km_section *ret_section, struct km_error *error);

#endif
