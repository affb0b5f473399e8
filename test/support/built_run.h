/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * built_run: runs of traces that a test describes site by site, through the
 * whole analysis. What can't be done ends the test.
 */
#ifndef KM_BUILT_RUN_H
#define KM_BUILT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run.h"

/* What one call site does: allocates live + freed objects of `bytes`, and frees the latter. */
struct built_site {
	unsigned function; /* of tw_function(), or with kallsyms of built_trace what stands at its address */
	unsigned offset;   /* 0: 0x10 */
	unsigned live, freed;
	unsigned bytes;    /* 0: 64 */
	unsigned untraced; /* of its objects this many are freed without an event: their addresses are used again */
	const char *cache; /* NULL: kmalloc */
};

struct built_trace {
	const struct built_site *sites;
	size_t sites_count;
	unsigned times;       /* each event so many times, on other addresses; 0: once */
	size_t times_site;    /* only those of this site, counted from 1; 0: of all */
	const char *uname;    /* NULL: Linux 6.12 of the writer */
	const char *kallsyms; /* NULL: the writer's */
	uint64_t duration_ns; /* 0: 1 s */
	int64_t lost;         /* events lost in the middle; 0: none */
	bool start_lost;      /* the first events were overwritten */
	uint64_t objects;     /* the table's size; 0: auto */
	const char *time;     /* --time */
	const char *cache;    /* --cache */
	const char *by;       /* --by */
};

/* Released by km_run_release(). */
struct km_run *built_run(const struct built_trace *trace);
/* The row of an axis by its symbol, function, module or cache; the test ends if there is none. */
const struct km_run_row *built_row(const struct km_run *run, enum km_run_axis axis, const char *name);

#endif
