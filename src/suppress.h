/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * suppress: what is known and accepted: rows that rules (gate.h) shall not
 * judge. It parses a list and matches rows of a run against it; leaving them
 * out is gate_lookup's.
 *
 *	site:|function:|module:|cache:GLOB [max=SIZE] [REASON]
 *
 * one a line; GLOB as fnmatch(3) has it, without blanks (a site matches with
 * and without its " [module]"). max: only as long as its live bytes are at
 * most SIZE.
 *
 * A call site is left out by its symbol, function or module, or if a list
 * entry matches every cache that it allocates from; a cache by its name.
 */
#ifndef KM_SUPPRESS_H
#define KM_SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "run.h"

#define KM_SUPPRESS_LIMIT 4096

enum km_suppress_kind { KM_SUPPRESS_SITE, KM_SUPPRESS_FUNCTION, KM_SUPPRESS_MODULE, KM_SUPPRESS_CACHE };

struct km_suppression {
	enum km_suppress_kind kind;
	char *pattern; /* owned: as given, "site:GLOB" */
	char *glob;    /* owned */
	char *reason;  /* owned; "" for none */
	bool has_max;
	uint64_t max_bytes;
	/* What km_suppress_matches() made of it. */
	uint64_t used_count;     /* rows left out */
	uint64_t exceeded_count; /* rows that it matches, but which hold more than max */
};

struct km_suppressions {
	struct km_suppression *items; /* owned */
	size_t count;
};

/* Append the list of a file, or one line. Errors: -EINVAL with what is right, -ENOSPC, what reading gives. */
int km_suppress_load(struct km_suppressions *list, const char *path, struct km_error *error);
int km_suppress_add(struct km_suppressions *list, const char *line, struct km_error *error);
void km_suppress_release(struct km_suppressions *list);

/*
 * Whether a row of KM_RUN_SITES or KM_RUN_CACHES is left out. live_bytes: the
 * largest it is held against, of any run. Counts use.
 */
bool km_suppress_matches(struct km_suppressions *list, enum km_run_axis axis, const struct km_run_row *row,
			 uint64_t live_bytes);

#endif
