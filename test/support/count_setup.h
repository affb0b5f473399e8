/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * count_setup: a replay that is counted, and all that counting needs: a
 * reader of a small trace, names, caches, a filter. For tests of
 * src/aggregate.c; what can't be done ends the test.
 */
#ifndef KM_COUNT_SETUP_H
#define KM_COUNT_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate.h"
#include "trace_writer.h"

#define COUNT_KERNEL      TW_KERNEL_6_18
#define COUNT_CPUS        4U
#define COUNT_CACHE_NAMES 3U

/* The names of caches 1, 2, 3. */
extern const char *const count_cache_names[COUNT_CACHE_NAMES];

struct count_setup {
	void *data;
	struct km_reader *reader;
	struct km_naming *naming;
	struct km_caches *caches;
	struct km_filter filter;     /* to be set before count_start() */
	enum km_when_full when_full; /* likewise */
	struct km_selection selection;
	struct km_aggregate *aggregate;
	struct km_replay *replay;
};

/* With a trace of its own. by: as for --by, or NULL. */
struct count_setup *count_set_up(const char *by);
struct count_setup *count_set_up_kernel(enum tw_kernel kernel);
/* With that trace, which it takes over. */
struct count_setup *count_set_up_data(void *data, size_t bytes);
void count_tear_down(struct count_setup *setup);

/* objects_count 0: enlarge as needed. */
void count_start(struct count_setup *setup, uint64_t objects_count, bool resets_on_loss);
/* Replays and counts, in batches of many sizes. */
void count_run(struct count_setup *setup, const struct km_event *events, size_t count);
void count_finish(struct count_setup *setup);

#endif
