/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run_made: runs for tests: of a fixture, both as an analysis gives it and
 * as JSON, and whether two runs are equal in all that they hold. What can't
 * be done ends the test.
 */
#ifndef KM_RUN_MADE_H
#define KM_RUN_MADE_H

#include <stdint.h>

#include "run.h"

struct run_made {
	struct km_run *run;
	char *json; /* what `report --json` writes */
};

/* Of the first buffer with slab events. by: as for --by, NULL for none. objects_count: of the table, 0 for auto. */
struct run_made run_make_fixture(const char *test_dir, const char *name, const char *by, uint64_t objects_count);
void run_made_release(struct run_made *made);

/* The run of a saved report. */
struct km_run *run_load_text(const char *json);
void run_expect_equal(const struct km_run *a, const struct km_run *b);

/* A text with its first `from` replaced; the caller frees it. */
char *run_replaced(const char *text, const char *from, const char *to);
/* JSON without the members whose keys end so (with the closing quote); the caller frees it. */
char *run_without_keys(const char *json, const char *const *ends);

#endif
