/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * selection: which allocations a filter selects, and what --by groups them
 * by. Both need an allocation's fields and names; what depends only on its
 * shape (call site, cache, sizes, gfp) is asked once a shape, the rest once
 * an event. It counts nothing.
 */
#ifndef KM_SELECTION_H
#define KM_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "caches.h"
#include "event.h"
#include "filter.h"
#include "naming.h"
#include "reader.h"
#include "report.h"

#define KM_BY_LIMIT 8

enum km_by {
	KM_BY_SITE,
	KM_BY_FUNCTION,
	KM_BY_MODULE,
	KM_BY_CACHE,
	KM_BY_COMM,
	KM_BY_PID,
	KM_BY_CPU,
	KM_BY_NODE,
	KM_BY_GFP,
	KM_BY_SIZE,
	KM_BY_KINDS,
};

/* Name ("function"), type and help of each, in the order of enum km_by. */
extern const struct km_column km_by_columns[KM_BY_KINDS];

struct km_by_list {
	enum km_by fields[KM_BY_LIMIT];
	unsigned count;
};

/* "function,cache": -EINVAL for an unknown field, one twice, or too many. */
int km_by_parse(const char *text, struct km_by_list *ret_list, struct km_error *error);

/* A filter with its times resolved to the trace's clock. */
struct km_selection {
	const struct km_filter *filter; /* borrowed */
	struct km_by_list by;
	struct km_reader *reader;
	struct km_naming *naming;
	struct km_caches *caches;
	uint64_t from_time;  /* allocations before it are not selected */
	uint64_t until_time; /* nor are those at or behind it; UINT64_MAX: no limit */
	bool waits_for_from; /* from_time is that of a mark not met yet */
};

/* Whether every event has to be asked, not only every shape. */
bool km_selection_is_dynamic(const struct km_selection *selection);
/* The part that only the shape decides. node: km_caches_of(). */
bool km_selection_takes_shape(const struct km_selection *selection, const struct km_event *alloc, uint32_t node);
/* The rest. */
bool km_selection_takes_event(const struct km_selection *selection, const struct km_event *alloc);

/*
 * The values of an allocation's group, by.count of them. A name is the
 * pointer of an interned string, a cache is its root's number: equal values
 * are equal numbers.
 */
void km_selection_group(const struct km_selection *selection, const struct km_event *alloc, uint32_t node,
			uint64_t *ret_values);
/* A value as a report's cell, for the column of its field. */
void km_selection_cell(const struct km_selection *selection, enum km_by field, uint64_t value,
		       struct km_cell *ret_cell);

#endif
