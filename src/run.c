/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a run's rows are, how they are ordered and how they add up. Adding up
 * is associative and does not ask for an order: sums, maxima, the worse of
 * two, and "what both have, else nothing". Merging in any tree rests on it.
 */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "run_private.h"
#include "utf8.h"

#define CUMULATIVE KM_METRIC_IS_CUMULATIVE
#define LIVE       KM_METRIC_IS_LIVE
#define AT_PEAK    KM_METRIC_IS_AT_PEAK
#define PEAK       KM_METRIC_IS_PEAK
#define AGE        KM_METRIC_IS_AGE
#define BYTES      KM_TYPE_BYTES
#define COUNT      KM_TYPE_COUNT

/* A metric whose name is the same in totals and rows. */
#define BOTH(name, kind, type, help)               \
	{                                          \
		name, name, kind, type, true, help \
	}

const struct km_metric_info km_metrics[KM_METRICS] = {
	[KM_METRIC_LIVE_BYTES] = BOTH("live_bytes", LIVE, BYTES, "bytes given to what is live at the end"),
	[KM_METRIC_LIVE_COUNT] = BOTH("live_count", LIVE, COUNT, "objects live at the end"),
	[KM_METRIC_LIVE_REQUESTED_BYTES] = BOTH("live_requested_bytes", LIVE, BYTES, "bytes asked for by what is live"),
	[KM_METRIC_LIVE_WASTE_BYTES] = BOTH("live_waste_bytes", LIVE, BYTES, "live_bytes less live_requested_bytes"),
	[KM_METRIC_AT_PEAK_BYTES] = { "at_peak_bytes", NULL, AT_PEAK, BYTES, true,
				      "bytes live at the moment of the peak of all" },
	[KM_METRIC_AT_PEAK_COUNT] = BOTH("at_peak_count", AT_PEAK, COUNT, "objects live at that moment"),
	[KM_METRIC_PEAK_LIVE_BYTES] = BOTH("peak_live_bytes", PEAK, BYTES, "its own largest live_bytes"),
	[KM_METRIC_PEAK_LIVE_COUNT] = BOTH("peak_live_count", PEAK, COUNT, "its own largest live_count"),
	[KM_METRIC_ALLOCS_COUNT] = { "allocs_count", "alloc_events_count", CUMULATIVE, COUNT, true,
				     "allocation events, failed, doubled and overflowed ones too" },
	[KM_METRIC_TRACKED_COUNT] = BOTH("tracked_count", CUMULATIVE, COUNT, "allocations that entered the table"),
	[KM_METRIC_FAILED_COUNT] = BOTH("failed_count", CUMULATIVE, COUNT, "allocations that returned NULL"),
	[KM_METRIC_DOUBLED_COUNT] =
		BOTH("doubled_count", CUMULATIVE, COUNT, "events that told the next one's allocation too"),
	[KM_METRIC_OVERFLOWED_COUNT] =
		BOTH("overflowed_count", CUMULATIVE, COUNT, "allocations not tracked since the table was full"),
	[KM_METRIC_OVERFLOWED_BYTES] = BOTH("overflowed_bytes", CUMULATIVE, BYTES, "bytes given to them"),
	[KM_METRIC_MATCHED_FREES_COUNT] =
		BOTH("matched_frees_count", CUMULATIVE, COUNT, "frees of its objects that were traced"),
	[KM_METRIC_IMPLIED_FREES_COUNT] = BOTH("implied_frees_count", CUMULATIVE, COUNT,
					       "objects freed without an event: their address was handed out again"),
	[KM_METRIC_CROSS_CPU_FREES_COUNT] =
		BOTH("cross_cpu_frees_count", CUMULATIVE, COUNT, "matched frees on another CPU than the allocation"),
	[KM_METRIC_TOTAL_ALLOCATED_BYTES] =
		BOTH("total_allocated_bytes", CUMULATIVE, BYTES, "bytes given, summed over all its allocations"),
	[KM_METRIC_TOTAL_REQUESTED_BYTES] =
		BOTH("total_requested_bytes", CUMULATIVE, BYTES, "bytes asked for, likewise"),
	[KM_METRIC_TOTAL_WASTE_BYTES] =
		BOTH("total_waste_bytes", CUMULATIVE, BYTES, "total_allocated_bytes less total_requested_bytes"),
	[KM_METRIC_FREE_EVENTS_COUNT] = { "free_events_count", "free_events_count", CUMULATIVE, COUNT, false,
					  "free events; with a filter only those of selected allocations" },
	[KM_METRIC_NULL_FREES_COUNT] = { "null_frees_count", "null_frees_count", CUMULATIVE, COUNT, false,
					 "frees of NULL or ZERO_SIZE_PTR; 0 with a filter" },
	[KM_METRIC_UNMATCHED_FREES_COUNT] = { "unmatched_frees_count", "unmatched_frees_count", CUMULATIVE, COUNT,
					      false, "frees of no tracked object; 0 with a filter" },
	[KM_METRIC_RESET_COUNT] = { "reset_count", "reset_count", CUMULATIVE, COUNT, false,
				    "objects forgotten at a loss; only with --on-loss reset" },
	[KM_METRIC_OLDEST_AGE_NS] =
		BOTH("oldest_age_ns", AGE, KM_TYPE_DURATION, "age of its oldest live object at the end"),
	[KM_METRIC_NEWEST_AGE_NS] = { "newest_age_ns", NULL, AGE, KM_TYPE_DURATION, true,
				      "age of its newest live object at the end" },
	[KM_METRIC_LEAKS_COUNT] =
		BOTH("leaks_count", KM_METRIC_IS_LEAK, COUNT, "live objects of call sites with the verdict leak"),
	[KM_METRIC_LEAKS_BYTES] = BOTH("leaks_bytes", KM_METRIC_IS_LEAK, BYTES, "bytes given to them"),
};

enum km_metric km_metric_find(const char *name)
{
	unsigned i;

	for (i = 0; i < KM_METRICS; i++) {
		const char *total = km_metrics[i].total_name;

		if (!strcmp(km_metrics[i].name, name) || (total && !strcmp(total, name)))
			break;
	}
	return (enum km_metric)i;
}

const char *km_peak_is_name(enum km_peak_is is)
{
	static const char *const names[] = { [KM_PEAK_EXACT] = "exact",
					     [KM_PEAK_AT_LEAST] = "at_least",
					     [KM_PEAK_AT_MOST] = "at_most",
					     [KM_PEAK_UNCERTAIN] = "uncertain" };

	return names[is];
}

const char *km_run_replayed_name(enum km_run_replayed counter)
{
	static const char *const names[KM_RUN_REPLAYED] = {
		[KM_EVENT_KMALLOC] = "kmalloc_count",
		[KM_EVENT_KMALLOC_NODE] = "kmalloc_node_count",
		[KM_EVENT_CACHE_ALLOC] = "kmem_cache_alloc_count",
		[KM_EVENT_CACHE_ALLOC_NODE] = "kmem_cache_alloc_node_count",
		[KM_EVENT_KFREE] = "kfree_count",
		[KM_EVENT_CACHE_FREE] = "kmem_cache_free_count",
		[KM_RUN_TRACKED] = "tracked_count",
		[KM_RUN_OVERFLOWED] = "overflowed_count",
		[KM_RUN_FAILED] = "failed_count",
		[KM_RUN_DOUBLED] = "doubled_count",
		[KM_RUN_MATCHED_FREES] = "matched_frees_count",
		[KM_RUN_IMPLIED_FREES] = "implied_frees_count",
		[KM_RUN_NULL_FREES] = "null_frees_count",
		[KM_RUN_UNMATCHED_FREES] = "unmatched_frees_count",
		[KM_RUN_REORDERED] = "reordered_count",
		[KM_RUN_RESET] = "reset_count",
		[KM_RUN_SKIPPED] = "skipped_count",
	};

	return names[counter];
}

/* --- making and releasing --- */

static int out_of_memory(struct km_error *error)
{
	return km_error_set(error, -ENOMEM, "out of memory");
}

struct km_value km_run_exact(uint64_t value)
{
	return (struct km_value){ .value = value, .min = value, .max = value };
}

struct km_value km_run_null(void)
{
	return (struct km_value){ .is_null = true };
}

struct km_run *km_run_new(const char *name)
{
	struct km_run *run = calloc(1, sizeof(*run));

	if (!run)
		return NULL;
	run->name = strdup(name);
	run->strings = km_intern_new();
	if (run->name && run->strings)
		return run;
	km_run_release(run);
	return NULL;
}

void km_run_free_row(struct km_run_row *row)
{
	if (!row)
		return;
	km_histogram_release(&row->lifetimes);
	free(row->caches);
	free(row);
}

static void free_text(const char *text)
{
	free((char *)(uintptr_t)text);
}

static void release_source(struct km_run_source *source)
{
	free_text(source->file);
	free_text(source->format);
	free_text(source->kernel);
	free_text(source->recorder);
	free_text(source->clock);
	free_text(source->buffer);
}

void km_run_release(struct km_run *run)
{
	if (!run)
		return;
	for (size_t i = 0; i < run->sources_count; i++)
		release_source(&run->sources[i]);
	free(run->sources);
	for (size_t i = 0; i < run->warnings_count; i++) {
		free_text(run->warnings[i].code);
		free_text(run->warnings[i].text);
	}
	free(run->warnings);
	free(run->unmatched);
	for (unsigned axis = 0; axis < KM_RUN_AXES; axis++) {
		for (size_t i = 0; i < run->axes[axis].count; i++)
			km_run_free_row(run->axes[axis].rows[i]);
		free(run->axes[axis].rows);
	}
	km_histogram_release(&run->totals.lifetimes);
	km_intern_free(run->strings);
	free_text(run->filters);
	free_text(run->name);
	free(run);
}

const char *km_run_keep(struct km_run *run, const char *text, bool *failed)
{
	char clean[KM_INTERN_STRING_BYTES + 1];
	uint32_t number;
	size_t bytes;

	if (!text)
		return NULL;
	bytes = km_utf8_clean(text, clean, sizeof(clean));
	number = km_intern_add(run->strings, clean, bytes);
	if (!number)
		*failed = true;
	return km_intern_get(run->strings, number);
}

/* Arrays double whenever their count is a power of two. */
int km_run_grow(void *array, size_t count, size_t item)
{
	void *old, *larger;

	if (count & (count - 1))
		return 0;
	memcpy(&old, array, sizeof(old));
	larger = reallocarray(old, count ? count * 2 : 1, item);
	if (!larger)
		return -ENOMEM;
	memcpy(array, &larger, sizeof(larger));
	return 0;
}

struct km_run_row *km_run_add_row(struct km_run *run, enum km_run_axis axis)
{
	struct km_run_row *row = calloc(1, sizeof(*row));

	if (!row || km_run_grow(&run->axes[axis].rows, run->axes[axis].count, sizeof(row))) {
		free(row);
		return NULL;
	}
	for (unsigned i = 0; i < KM_METRICS; i++) {
		if (!km_metrics[i].is_of_rows)
			row->values[i] = km_run_null();
	}
	row->sites_count = row->object_bytes = row->peak_time = row->peak_count_time = km_run_null();
	run->axes[axis].rows[run->axes[axis].count++] = row;
	return row;
}

/* --- bounds --- */

static void bound_by_rule(const struct km_run_row *row, struct km_value *value, uint64_t overflowed)
{
	bool is_lost = row->values[KM_METRIC_LIVE_BYTES].max_is_unknown;
	struct km_bounds bounds = km_live_bounds(row->live_is, is_lost, value->value, overflowed);

	value->min = bounds.min;
	value->max = bounds.max;
	value->max_is_unknown = bounds.max_is_unknown;
}

void km_run_set_bounds(struct km_run_row *row)
{
	static const enum km_metric of_bytes[] = { KM_METRIC_LIVE_REQUESTED_BYTES, KM_METRIC_LIVE_WASTE_BYTES,
						   KM_METRIC_AT_PEAK_BYTES };
	static const enum km_metric of_frees[] = { KM_METRIC_MATCHED_FREES_COUNT, KM_METRIC_IMPLIED_FREES_COUNT,
						   KM_METRIC_CROSS_CPU_FREES_COUNT };
	static const enum km_metric ages[] = { KM_METRIC_OLDEST_AGE_NS, KM_METRIC_NEWEST_AGE_NS };

	for (size_t i = 0; i < sizeof(of_bytes) / sizeof(of_bytes[0]); i++)
		bound_by_rule(row, &row->values[of_bytes[i]], row->values[KM_METRIC_OVERFLOWED_BYTES].value);
	bound_by_rule(row, &row->values[KM_METRIC_AT_PEAK_COUNT], row->values[KM_METRIC_OVERFLOWED_COUNT].value);
	for (size_t i = 0; row->live_is == KM_LIVE_ESTIMATED && i < sizeof(of_frees) / sizeof(of_frees[0]); i++)
		bound_by_rule(row, &row->values[of_frees[i]], 0);
	for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
		struct km_value *age = &row->values[ages[i]];

		if (age->is_null)
			continue;
		*age = km_run_exact(age->value);
		if (row->live_is != KM_LIVE_CONSISTENT) {
			age->min = age->max = 0;
			age->max_is_unknown = true;
		}
	}
}

/* --- joining --- */

static bool add(uint64_t *into, uint64_t from)
{
	return !__builtin_add_overflow(*into, from, into);
}

static bool add_value(struct km_value *into, const struct km_value *from)
{
	bool fits = add(&into->value, from->value) && add(&into->min, from->min) && add(&into->max, from->max);

	into->max_is_unknown |= from->max_is_unknown;
	if (into->max_is_unknown)
		into->max = 0;
	return fits;
}

/* least: of what surely lives at the end. */
static bool add_peak(struct km_value *into, const struct km_value *from, uint64_t least)
{
	uint64_t min = into->min > from->min ? into->min : from->min;
	bool fits;

	into->min = 0;
	fits = add_value(
		into,
		&(struct km_value){ .value = from->value, .max = from->max, .max_is_unknown = from->max_is_unknown });
	into->min = min > least ? min : least;
	return fits;
}

static void join_age(struct km_value *into, const struct km_value *from, bool wants_larger)
{
	if (from->is_null)
		return;
	if (into->is_null || (wants_larger ? from->value > into->value : from->value < into->value))
		*into = *from;
}

static bool join_values(struct km_run_row *into, const struct km_run_row *from)
{
	bool fits = true;

	for (unsigned i = 0; i < KM_METRICS; i++) {
		struct km_value *value = &into->values[i];
		enum km_metric_kind kind = km_metrics[i].kind;

		if (kind == AGE)
			join_age(value, &from->values[i], i == KM_METRIC_OLDEST_AGE_NS);
		else if (kind == KM_METRIC_IS_LEAK && (value->is_null || from->values[i].is_null))
			*value = km_run_null();
		else if (value->is_null)
			*value = from->values[i];
		else if (kind == PEAK)
			fits &= add_peak(value, &from->values[i],
					 into->values[i == KM_METRIC_PEAK_LIVE_BYTES ? KM_METRIC_LIVE_BYTES
										     : KM_METRIC_LIVE_COUNT]
						 .min);
		else
			fits &= add_value(value, &from->values[i]);
	}
	return fits;
}

/* The union of two sorted lists; of more than the limit those that sort first. */
static int join_caches(struct km_run_row *into, const struct km_run_row *from)
{
	const char *names[KM_RUN_SITE_CACHES];
	size_t a = 0, b = 0, count = 0;
	const char **larger;

	while (count < KM_RUN_SITE_CACHES && (a < into->caches_count || b < from->caches_count)) {
		int order = a == into->caches_count   ? 1
			    : b == from->caches_count ? -1
						      : strcmp(into->caches[a], from->caches[b]);

		names[count++] = order <= 0 ? into->caches[a] : from->caches[b];
		a += order <= 0;
		b += order >= 0;
	}
	if (count == into->caches_count && (!count || !memcmp(names, into->caches, count * sizeof(*names))))
		return 0;
	larger = reallocarray(into->caches, count, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	memcpy(larger, names, count * sizeof(*larger));
	into->caches = larger;
	into->caches_count = count;
	return 0;
}

/* Sites of one function that are one row: "function [module]". */
static const char *plain_symbol(struct km_run *run, const struct km_run_row *row, bool *failed)
{
	char text[2 * KM_INTERN_STRING_BYTES + 4];

	snprintf(text, sizeof(text), "%s%s%s%s", row->function, row->module ? " [" : "", row->module ? row->module : "",
		 row->module ? "]" : "");
	return km_run_keep(run, text, failed);
}

int km_run_join(struct km_run *run, struct km_run_row *into, const struct km_run_row *from, struct km_error *error)
{
	bool failed = false;

	if (!join_values(into, from))
		return km_error_set(error, -EOVERFLOW, "a sum of %s is larger than 64 bits hold",
				    into->symbol  ? into->symbol
				    : into->cache ? into->cache
						  : "a row");
	into->live_is = km_live_is_of_both(into->live_is, from->live_is);
	into->peak_is |= from->peak_is | KM_PEAK_AT_MOST;
	into->peak_time = into->peak_count_time = into->sites_count = km_run_null();
	if (into->object_bytes.is_null || from->object_bytes.is_null ||
	    into->object_bytes.value != from->object_bytes.value)
		into->object_bytes = km_run_null();
	if (!into->has_address || !from->has_address || into->address != from->address) {
		into->has_address = false;
		into->address = 0;
	}
	if (into->symbol && strcmp(into->symbol, from->symbol) != 0)
		into->symbol = plain_symbol(run, into, &failed);
	km_run_set_bounds(into);
	if (failed || join_caches(into, from) || km_histogram_merge(&into->lifetimes, &from->lifetimes))
		return out_of_memory(error);
	return 0;
}

_Static_assert((KM_PEAK_AT_MOST | KM_PEAK_AT_LEAST) == KM_PEAK_UNCERTAIN && KM_PEAK_EXACT == 0,
	       "the worse of two is their union");

/* --- order --- */

static int compare_texts(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return a == b ? 0 : strcmp(a, b);
}

static int compare_functions(const struct km_run_row *a, const struct km_run_row *b)
{
	int order = compare_texts(a->function, b->function);

	return order ? order : compare_texts(a->module, b->module);
}

static int compare_keys(const struct km_by_list *by, const struct km_run_row *a, const struct km_run_row *b)
{
	int order = 0;

	for (unsigned i = 0; i < by->count && !order; i++) {
		const struct km_cell *x = &a->keys[i], *y = &b->keys[i];

		if (x->is_null || y->is_null)
			order = (int)y->is_null - (int)x->is_null;
		else if (km_by_columns[by->fields[i]].type == KM_TYPE_STRING)
			order = compare_texts(x->text, y->text);
		else if (km_by_columns[by->fields[i]].type == KM_TYPE_INTEGER)
			order = (x->integer > y->integer) - (x->integer < y->integer);
		else
			order = (x->number > y->number) - (x->number < y->number);
	}
	return order;
}

int km_run_compare_rows(enum km_run_axis axis, const struct km_run *run, const struct km_run_row *a,
			const struct km_run_row *b)
{
	int order;

	switch (axis) {
	case KM_RUN_SITES:
		order = compare_functions(a, b);
		return order || run->sites_by_function ? order : compare_texts(a->symbol, b->symbol);
	case KM_RUN_FUNCTIONS:
		return compare_functions(a, b);
	case KM_RUN_MODULES:
		return compare_texts(a->module, b->module);
	case KM_RUN_CACHES:
		return compare_texts(a->cache, b->cache);
	case KM_RUN_GROUPS:
		return compare_keys(&run->by, a, b);
	case KM_RUN_AXES:
		break;
	}
	return 0;
}

struct order {
	enum km_run_axis axis;
	const struct km_run *run;
};

static int compare_for_sort(const void *x, const void *y, void *context)
{
	const struct order *order = context;

	return km_run_compare_rows(order->axis, order->run, *(struct km_run_row *const *)x,
				   *(struct km_run_row *const *)y);
}

int km_run_settle(struct km_run *run, enum km_run_axis axis, struct km_error *error)
{
	struct order order = { .axis = axis, .run = run };
	struct km_run_row **rows = run->axes[axis].rows;
	size_t count = run->axes[axis].count, kept = 0;
	int r = 0;

	if (count < 2)
		return 0;
	qsort_r(rows, count, sizeof(struct km_run_row *), compare_for_sort, &order);
	for (size_t i = 0; i < count; i++) {
		if (!r && kept && !km_run_compare_rows(axis, run, rows[kept - 1], rows[i])) {
			r = km_run_join(run, rows[kept - 1], rows[i], error);
			km_run_free_row(rows[i]);
		} else {
			rows[kept++] = rows[i];
		}
	}
	run->axes[axis].count = kept;
	return r;
}

const struct km_run_row *km_run_find(const struct km_run *run, enum km_run_axis axis, const struct km_run_row *like)
{
	size_t low = 0, high = run->axes[axis].count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct km_run_row *row = run->axes[axis].rows[middle];
		int order = km_run_compare_rows(axis, run, row, like);

		if (!order)
			return row;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* --- deriving --- */

/* A site as the first part of a row of another axis. */
static int add_derived(struct km_run *run, enum km_run_axis axis, const struct km_run_row *site)
{
	struct km_run_row *row = km_run_add_row(run, axis);

	if (!row)
		return -ENOMEM;
	memcpy(row->values, site->values, sizeof(row->values));
	row->function = axis == KM_RUN_FUNCTIONS ? site->function : NULL;
	row->module = site->module;
	row->live_is = site->live_is;
	row->peak_is = site->peak_is;
	row->peak_time = site->peak_time;
	return km_histogram_merge(&row->lifetimes, &site->lifetimes);
}

int km_run_derive(struct km_run *run, enum km_run_axis axis, struct km_error *error)
{
	if ((axis != KM_RUN_FUNCTIONS && axis != KM_RUN_MODULES) || run->is_derived[axis])
		return 0;
	for (size_t i = 0; i < run->axes[KM_RUN_SITES].count; i++) {
		if (add_derived(run, axis, run->axes[KM_RUN_SITES].rows[i]))
			return out_of_memory(error);
	}
	run->is_derived[axis] = true;
	return km_run_settle(run, axis, error);
}

/* --- whether runs are alike --- */

/* uname's release and machine: what is behind the system's and the host's name. */
static const char *release_of(const char *kernel)
{
	for (unsigned i = 0; kernel && i < 2; i++) {
		kernel = strchr(kernel, ' ');
		kernel = kernel ? kernel + 1 : NULL;
	}
	return kernel;
}

bool km_run_same_kernel(const struct km_run_source *a, const struct km_run_source *b)
{
	const char *x = release_of(a->kernel), *y = release_of(b->kernel);

	return x && y && !strcmp(x, y);
}

bool km_run_match_by_symbol(const struct km_run *a, const struct km_run *b)
{
	const struct km_run_source *first = &a->sources[0];

	if (a->sites_by_function || b->sites_by_function || a->sites_are_bare || b->sites_are_bare)
		return false;
	/* A run that is not by function is of one kernel: its first source tells. */
	return km_run_same_kernel(first, &b->sources[0]);
}

static const char *by_text(const struct km_run *run, char *text, size_t bytes)
{
	size_t n = 0;

	snprintf(text, bytes, "nothing");
	for (unsigned i = 0; i < run->by.count && n < bytes; i++)
		n += (size_t)snprintf(text + n, bytes - n, "%s%s", i ? "," : "", km_by_columns[run->by.fields[i]].name);
	return text;
}

int km_run_check_alike(const struct km_run *a, const struct km_run *b, struct km_error *error)
{
	char x[128], y[128];

	if (strcmp(a->filters, b->filters) != 0)
		return km_error_set(error, -EINVAL,
				    "%s has the filters %.200s and %s has %.200s: numbers of different selections "
				    "say nothing about each other",
				    a->name, a->filters, b->name, b->filters);
	if (strcmp(by_text(a, x, sizeof(x)), by_text(b, y, sizeof(y))) != 0)
		return km_error_set(error, -EINVAL, "%s is grouped by %s and %s by %s; give both the same --by",
				    a->name, x, b->name, y);
	if (a->clock_is_ns != b->clock_is_ns)
		return km_error_set(error, -EINVAL,
				    "%s has times in nanoseconds and %s in ticks of a clock of unknown rate",
				    a->clock_is_ns ? a->name : b->name, a->clock_is_ns ? b->name : a->name);
	return 0;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* In all but the name of the file, which one recording may have many of. */
int km_run_compare_recordings(const struct km_run_source *a, const struct km_run_source *b)
{
	const char *const texts[][2] = { { a->kernel, b->kernel },
					 { a->buffer, b->buffer },
					 { a->format, b->format },
					 { a->recorder, b->recorder },
					 { a->clock, b->clock } };
	const uint64_t numbers[][2] = {
		{ a->start, b->start },           { a->end, b->end },
		{ a->duration, b->duration },     { a->events_count, b->events_count },
		{ a->cpus_count, b->cpus_count }, { a->word_bytes, b->word_bytes },
		{ a->page_bytes, b->page_bytes }, { a->clock_is_coherent, b->clock_is_coherent },
		{ a->big_endian, b->big_endian }
	};
	int order = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && !order; i++)
		order = compare_texts(texts[i][0], texts[i][1]);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && !order; i++)
		order = compare_numbers(numbers[i][0], numbers[i][1]);
	return order;
}

int km_run_compare_sources(const void *x, const void *y)
{
	const struct km_run_source *a = x, *b = y;
	int order = km_run_compare_recordings(a, b);

	return order ? order : compare_texts(a->file, b->file);
}

void km_run_finish(struct km_run *run)
{
	qsort(run->sources, run->sources_count, sizeof(*run->sources), km_run_compare_sources);
	run->clock_is_ns = run->sources[0].clock_is_ns;
	run->flags[KM_COMPLETE] = true;
	for (unsigned i = 0; i < KM_COMPLETE; i++)
		run->flags[KM_COMPLETE] &= !run->flags[i];
	run->completeness = KM_HOLES;
	while (run->completeness < KM_COMPLETE && !run->flags[run->completeness])
		run->completeness++;
	for (size_t i = 0; i < run->axes[KM_RUN_SITES].count; i++) {
		const struct km_run_row *row = run->axes[KM_RUN_SITES].rows[i];

		run->sites_are_bare |= !strncmp(row->symbol, "0x", 2) && strncmp(row->function, "0x", 2) != 0;
	}
}
