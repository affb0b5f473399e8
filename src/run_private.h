/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run_private: what run.c (rows and how they add up), run_load.c (where they
 * come from) and run_merge.c share. Nobody else includes it.
 */
#ifndef KM_RUN_PRIVATE_H
#define KM_RUN_PRIVATE_H

#include "run.h"

/* An empty run; NULL when out of memory. name is copied. */
struct km_run *km_run_new(const char *name);
/* The text as the run keeps it, cleaned and cut; NULL for NULL. Sets *failed when out of memory or over the limit. */
const char *km_run_keep(struct km_run *run, const char *text, bool *failed);

/* A new last row of an axis, all zero but for what the metrics of no row are. NULL when out of memory. */
struct km_run_row *km_run_add_row(struct km_run *run, enum km_run_axis axis);
/* Room for one more at the end of an array whose pointer is at `array`. */
int km_run_grow(void *array, size_t count, size_t item);
void km_run_free_row(struct km_run_row *row);

/* The bounds that follow from others: of bytes asked for and waste, of the moment of the peak, of ages. */
void km_run_set_bounds(struct km_run_row *row);
struct km_value km_run_exact(uint64_t value);
struct km_value km_run_null(void);

/*
 * Add a row to another of the same identity in `run`; texts of `from` that
 * go over have to be of that run. Errors: -EOVERFLOW, -ENOMEM.
 */
int km_run_join(struct km_run *run, struct km_run_row *into, const struct km_run_row *from, struct km_error *error);
/* Sort an axis by identity and join the rows of one identity. */
int km_run_settle(struct km_run *run, enum km_run_axis axis, struct km_error *error);
/* For qsort(3): an order of sources in which equal ones are equal in all they tell. */
int km_run_compare_sources(const void *a, const void *b);
/* The same without the file's name. */
int km_run_compare_recordings(const struct km_run_source *a, const struct km_run_source *b);
/* After everything is loaded or merged: what follows from sources and rows. */
void km_run_finish(struct km_run *run);

#endif
