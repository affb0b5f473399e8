/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Each side gives partial rows; sorted by name, those of one cache are
 * neighbours and come together. Then each row is judged by itself, but for
 * kmalloc, whose classes may have been taken for one another.
 */
#include "slab_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIASES_LOOKED_AT 64

const char *km_slab_cause_name(enum km_slab_cause cause)
{
	static const char *const names[KM_SLAB_CAUSES] = {
		[KM_SLAB_EQUAL] = "equal",
		[KM_SLAB_PER_CPU_SLABS] = "per_cpu_slabs",
		[KM_SLAB_EVENTS_LOST] = "events_lost",
		[KM_SLAB_OVERFLOW] = "overflow",
		[KM_SLAB_OTHER_TIME] = "other_time",
		[KM_SLAB_KMALLOC_CLASS] = "kmalloc_class",
		[KM_SLAB_UNTRACED_FREES] = "untraced_frees",
		[KM_SLAB_UNKNOWN_FREES] = "unknown_frees",
		[KM_SLAB_UNNAMED_ALLOCS] = "unnamed_allocs",
		[KM_SLAB_UNTRACED_ALLOCS] = "untraced_allocs",
		[KM_SLAB_UNEXPLAINED] = "unexplained",
		[KM_SLAB_NO_AFTER] = "no_after",
		[KM_SLAB_NOT_LISTED] = "not_listed",
		[KM_SLAB_UNNAMED] = "unnamed",
		[KM_SLAB_PAGES] = "pages",
	};

	return names[cause];
}

/* --- names --- */

static const struct km_balance_row *find_traced(const struct km_balance *balance, const char *name)
{
	size_t low = 0, high;
	const struct km_balance_row *rows = km_balance_rows(balance, &high);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name, rows[middle].name);

		if (!order)
			return &rows[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* What a kmalloc of the same size and flags may be served from: the size behind the prefix, or NULL. */
static const char *bucket_size(const char *name)
{
	static const char *const prefixes[] = { "memdup_user-", "msg_msg-", "kmalloc-rnd-" };
	const char *size;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t bytes = strlen(prefixes[i]);

		if (strncmp(name, prefixes[i], bytes) != 0)
			continue;
		size = name + bytes;
		if (i == 2) {
			size += strspn(size, "0123456789");
			if (*size++ != '-')
				return NULL;
		}
		bytes = strspn(size, "0123456789");
		return bytes && (!size[bytes] || (strchr("kM", size[bytes]) && !size[bytes + 1])) ? size : NULL;
	}
	return NULL;
}

/* The trace's name of a cache that slabinfo lists. malloc'd; *ret_is_alias: it is found as another name of it. */
static char *traced_name(const struct km_slab_check_input *in, const char *listed, bool *ret_is_alias)
{
	const char *aliases[ALIASES_LOOKED_AT], *size;
	size_t count;
	char *name;

	*ret_is_alias = false;
	if (find_traced(in->balance, listed))
		return strdup(listed);
	size = bucket_size(listed);
	if (size)
		return asprintf(&name, "kmalloc-%s", size) < 0 ? NULL : name;
	count = km_slab_aliases_of(in->aliases, listed, aliases, ALIASES_LOOKED_AT);
	for (size_t i = 0; i < count && i < ALIASES_LOOKED_AT; i++) {
		if (!find_traced(in->balance, aliases[i]) || km_slabinfo_find(in->before, aliases[i]) ||
		    (in->after && km_slabinfo_find(in->after, aliases[i])))
			continue;
		*ret_is_alias = true;
		return strdup(aliases[i]);
	}
	return strdup(listed);
}

/* --- rows --- */

static int add_traced(struct km_slab_check *check, const struct km_balance *balance)
{
	size_t count;
	const struct km_balance_row *rows = km_balance_rows(balance, &count);

	for (size_t i = 0; i < count; i++) {
		struct km_slab_check_row *row = &check->rows[check->rows_count];

		*row = (struct km_slab_check_row){ .name = strdup(rows[i].name), .trace = rows[i] };
		if (!row->name)
			return -ENOMEM;
		check->rows_count++;
	}
	return 0;
}

static int add_listed(struct km_slab_check *check, const struct km_slab_check_input *in, const struct km_slabinfo *info,
		      bool is_after)
{
	for (size_t i = 0; i < info->count; i++) {
		const struct km_slabinfo_cache *cache = &info->caches[i];
		struct km_slab_check_row *row = &check->rows[check->rows_count];
		uint64_t hidden = km_slabinfo_hidden_count(info, cache, in->cpus_count, in->era);
		bool is_alias;

		*row = (struct km_slab_check_row){ .name = traced_name(in, cache->name, &is_alias),
						   .has_before = !is_after,
						   .has_after = is_after,
						   .before_count = is_after ? 0 : cache->active_count,
						   .after_count = is_after ? cache->active_count : 0,
						   .before_hidden_count = is_after ? 0 : hidden,
						   .after_hidden_count = is_after ? hidden : 0 };
		if (!row->name)
			return -ENOMEM;
		check->rows_count++;
		if (is_alias)
			row->listed_name = cache->name;
		if (is_alias || !strcmp(row->name, cache->name))
			row->listed_object_bytes = cache->object_bytes;
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct km_slab_check_row *)a)->name, ((const struct km_slab_check_row *)b)->name);
}

static void add_to(struct km_slab_check_row *sum, const struct km_slab_check_row *row)
{
	if (row->trace.name)
		sum->trace = row->trace;
	if (row->listed_name)
		sum->listed_name = row->listed_name;
	if (row->listed_object_bytes)
		sum->listed_object_bytes = row->listed_object_bytes;
	sum->has_before |= row->has_before;
	sum->has_after |= row->has_after;
	sum->before_count += row->before_count;
	sum->after_count += row->after_count;
	sum->before_hidden_count += row->before_hidden_count;
	sum->after_hidden_count += row->after_hidden_count;
}

static void bring_together(struct km_slab_check *check)
{
	size_t kept = 0;

	qsort(check->rows, check->rows_count, sizeof(*check->rows), compare_names);
	for (size_t i = 0; i < check->rows_count; i++) {
		struct km_slab_check_row *row = &check->rows[i];

		if (kept && !strcmp(check->rows[kept - 1].name, row->name)) {
			add_to(&check->rows[kept - 1], row);
			free(row->name);
		} else {
			check->rows[kept++] = *row;
		}
	}
	check->rows_count = kept;
}

static void drop_quiet(struct km_slab_check *check)
{
	size_t kept = 0;

	for (size_t i = 0; i < check->rows_count; i++) {
		struct km_slab_check_row *row = &check->rows[i];

		if (!row->trace.name && (!check->has_after || row->before_count == row->after_count)) {
			free(row->name);
			check->quiet_count++;
		} else {
			check->rows[kept++] = *row;
		}
	}
	check->rows_count = kept;
}

/* --- judging --- */

static void set_cause(struct km_slab_check_row *row, enum km_slab_cause cause, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void set_cause(struct km_slab_check_row *row, enum km_slab_cause cause, const char *format, ...)
{
	va_list list;

	row->cause = cause;
	va_start(list, format);
	vsnprintf(row->reason, sizeof(row->reason), format, list);
	va_end(list);
}

static bool is_unnamed(const struct km_slab_check_row *row)
{
	return !strncmp(row->name, "(unnamed:", 9);
}

/* Whether both sides know it; else why not. */
static bool is_comparable(struct km_slab_check_row *row, const struct km_slab_check_input *in)
{
	if (!strcmp(row->name, "kmalloc-large"))
		set_cause(row, KM_SLAB_PAGES, "pages, of no slab cache");
	else if (is_unnamed(row))
		set_cause(row, KM_SLAB_UNNAMED,
			  "the trace does not name this cache: none of its objects was freed by an "
			  "event that does");
	else if (!row->has_before && !row->has_after && !in->aliases)
		set_cause(row, KM_SLAB_NOT_LISTED,
			  "slabinfo has no cache of this name: merged into another (--slab-aliases), made later, or of "
			  "another boot");
	else if (!row->has_before && !row->has_after)
		set_cause(row, KM_SLAB_NOT_LISTED,
			  "slabinfo has no cache of this name, nor of another one of it: of another boot?");
	else if (!in->after)
		set_cause(row, KM_SLAB_NO_AFTER, "no slabinfo of the end to compare with");
	else
		return true;
	return false;
}

/* "64" of kmalloc-64, kmalloc-cg-64, dma-kmalloc-64; NULL of what is no kmalloc class. */
static const char *class_size(const struct km_slab_check_row *row)
{
	const char *size = strrchr(row->name, '-');

	return strstr(row->name, "kmalloc-") && size && strcmp(size, "-large") != 0 ? size + 1 : NULL;
}

/* Another class of the same size that is as much too large as this one is too small, or NULL. */
static const struct km_slab_check_row *find_sibling(const struct km_slab_check *check,
						    const struct km_slab_check_row *row)
{
	const char *size = class_size(row);

	for (size_t i = 0; i < check->rows_count && size; i++) {
		const struct km_slab_check_row *other = &check->rows[i];
		const char *other_size = class_size(other);
		int64_t rest;

		if (other == row || !other->is_compared || !other_size || strcmp(size, other_size) != 0 ||
		    !other->difference_count || (other->difference_count < 0) == (row->difference_count < 0))
			continue;
		rest = other->difference_count + row->difference_count;
		if (rest <= (int64_t)(row->after_hidden_count + other->after_hidden_count) &&
		    -rest <= (int64_t)(row->before_hidden_count + other->before_hidden_count))
			return other;
	}
	return NULL;
}

/* Caches of the same object size that the trace does not name, added up. */
static struct km_balance_row sum_unnamed(const struct km_slab_check *check, const struct km_slab_check_row *row)
{
	struct km_balance_row sum = { 0 };

	for (size_t i = 0; i < check->rows_count && !class_size(row); i++) {
		const struct km_slab_check_row *other = &check->rows[i];

		if (!is_unnamed(other) || other->trace.object_bytes != row->listed_object_bytes)
			continue;
		sum.allocs_count += other->trace.allocs_count;
		sum.matched_frees_count += other->trace.matched_frees_count;
		sum.implied_frees_count += other->trace.implied_frees_count;
	}
	return sum;
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* slabinfo knows of fewer objects than the trace has left. */
static void explain_fewer(struct km_slab_check_row *row, uint64_t unknown)
{
	const struct km_balance_row *trace = &row->trace;
	uint64_t missing = (uint64_t)-row->difference_count, implied = trace->implied_frees_count;

	if (trace->allocs_count && !trace->matched_frees_count && !trace->unmatched_frees_count)
		set_cause(row, KM_SLAB_UNTRACED_FREES,
			  "no free of its objects was traced: they are freed without an event (bulk, kfree_rcu)");
	else if (implied)
		set_cause(row, KM_SLAB_UNTRACED_FREES,
			  "%" PRIu64 " object%s of it went without an event, and the address was used again: others "
			  "may have gone so",
			  implied, plural(implied));
	else if (class_size(row) && unknown >= missing)
		set_cause(row, KM_SLAB_UNKNOWN_FREES,
			  "%" PRIu64
			  " kfree%s of objects from before the trace, or not traced, name no cache: some may "
			  "be of it",
			  unknown, plural(unknown));
	else
		set_cause(row, KM_SLAB_UNEXPLAINED,
			  "nothing in the trace tells: frees without an event (bulk, kfree_rcu), or slabinfo was not "
			  "read at the ends of what was counted (--time)");
}

/* slabinfo knows of more. */
static void explain_more(const struct km_slab_check *check, struct km_slab_check_row *row)
{
	const struct km_balance_row *trace = &row->trace;
	struct km_balance_row unnamed = sum_unnamed(check, row);
	uint64_t missing = (uint64_t)row->difference_count, unmatched = trace->unmatched_frees_count;

	if (unnamed.allocs_count && km_balance_change(&unnamed) == row->difference_count)
		set_cause(row, KM_SLAB_UNNAMED_ALLOCS,
			  "exactly what the trace has of %" PRIu64 "-byte objects whose cache it does not name",
			  row->listed_object_bytes);
	else if (unmatched >= missing)
		set_cause(row, KM_SLAB_UNTRACED_ALLOCS,
			  "%" PRIu64 " freed object%s of it had no allocation in the trace, perhaps since it has no "
			  "event (bulk)",
			  unmatched, plural(unmatched));
	else if ((int64_t)row->before_count + km_balance_change(trace) < 0 && unmatched < missing / 2)
		set_cause(row, KM_SLAB_OTHER_TIME,
			  "more was freed than slabinfo had before and the trace allocated: slabinfo was read at "
			  "another time, or objects are allocated without an event (bulk)");
	else if (unnamed.allocs_count)
		set_cause(row, KM_SLAB_UNNAMED_ALLOCS,
			  "%" PRIu64 " allocation%s of %" PRIu64 "-byte objects without a cache's name may be of it",
			  unnamed.allocs_count, plural(unnamed.allocs_count), row->listed_object_bytes);
	else if (unmatched)
		set_cause(row, KM_SLAB_UNTRACED_ALLOCS,
			  "objects may be allocated without an event (bulk): %" PRIu64
			  " freed one%s had no allocation in the trace",
			  unmatched, plural(unmatched));
	else
		set_cause(row, KM_SLAB_UNEXPLAINED,
			  "nothing in the trace tells: allocations without an event (bulk), or slabinfo was not read "
			  "at the ends of what was counted (--time)");
}

static void explain(const struct km_slab_check *check, struct km_slab_check_row *row,
		    const struct km_slab_check_input *in)
{
	const struct km_slab_check_row *sibling = find_sibling(check, row);
	uint64_t overflowed = row->trace.overflowed_count;

	if (in->doubt)
		set_cause(row, KM_SLAB_EVENTS_LOST, "%s", in->doubt);
	else if (overflowed)
		set_cause(row, KM_SLAB_OVERFLOW,
			  "%" PRIu64 " allocation%s of it did not fit the table: a kfree of these names no cache",
			  overflowed, plural(overflowed));
	else if (sibling)
		set_cause(row, KM_SLAB_KMALLOC_CLASS,
			  "%.60s differs by %+" PRId64 ": which of them a kmalloc is served from is inferred",
			  sibling->name, sibling->difference_count);
	else if (row->difference_count < 0)
		explain_fewer(row, check->unknown_frees_count);
	else
		explain_more(check, row);
}

static void compare(struct km_slab_check_row *row)
{
	int64_t difference;
	uint64_t hidden;

	row->slabinfo_change_count = (int64_t)(row->after_count - row->before_count);
	difference = row->slabinfo_change_count - km_balance_change(&row->trace);
	row->difference_count = difference;
	hidden =
		row->before_hidden_count > row->after_hidden_count ? row->before_hidden_count : row->after_hidden_count;
	if (difference)
		hidden = difference < 0 ? row->before_hidden_count : row->after_hidden_count;
	row->tolerance_count = hidden;
	row->agrees = (difference < 0 ? (uint64_t)-difference : (uint64_t)difference) <= hidden;
	row->is_compared = true;
	if (!difference)
		set_cause(row, KM_SLAB_EQUAL, "equal");
	else if (row->agrees)
		set_cause(row, KM_SLAB_PER_CPU_SLABS,
			  "no more than the %" PRIu64 " free objects on CPUs that slabinfo may count as active",
			  hidden);
}

static void judge(struct km_slab_check *check, const struct km_slab_check_input *in)
{
	for (size_t i = 0; i < check->rows_count; i++) {
		struct km_slab_check_row *row = &check->rows[i];

		if (is_comparable(row, in))
			compare(row);
		else
			check->not_compared_count++;
	}
	for (size_t i = 0; i < check->rows_count; i++) {
		struct km_slab_check_row *row = &check->rows[i];

		if (row->is_compared && !row->agrees)
			explain(check, row, in);
		check->agree_count += row->is_compared && row->agrees;
		check->differ_count += row->is_compared && !row->agrees;
	}
}

static uint64_t rank_of(const struct km_slab_check_row *row)
{
	if (row->is_compared)
		return (uint64_t)(row->difference_count < 0 ? -row->difference_count : row->difference_count);
	return (uint64_t)llabs(km_balance_change(&row->trace));
}

static int compare_ranks(const void *a, const void *b)
{
	const struct km_slab_check_row *x = a, *y = b;
	unsigned class_x = x->is_compared ? x->agrees * 2U : 1, class_y = y->is_compared ? y->agrees * 2U : 1;

	if (class_x != class_y)
		return class_x < class_y ? -1 : 1;
	if (rank_of(x) != rank_of(y))
		return rank_of(x) > rank_of(y) ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void check_sizes(struct km_slab_check *check)
{
	for (size_t i = check->rows_count; i-- > 0;) {
		const struct km_slab_check_row *row = &check->rows[i];

		if (!row->listed_object_bytes || !row->trace.object_bytes ||
		    row->listed_object_bytes == row->trace.object_bytes)
			continue;
		check->wrong_size_count++;
		check->wrong_size_row = i;
	}
}

int km_slab_check_make(const struct km_slab_check_input *in, struct km_slab_check *ret_check, struct km_error *error)
{
	struct km_slab_check check = { .has_after = in->after != NULL,
				       .is_debug = in->before->is_debug && (!in->after || in->after->is_debug),
				       .cpus_count = in->cpus_count,
				       .unknown_frees_count = km_balance_unknown_frees_count(in->balance) };
	size_t traced;
	int r;

	km_balance_rows(in->balance, &traced);
	check.rows = calloc(traced + in->before->count + (in->after ? in->after->count : 0), sizeof(*check.rows));
	r = check.rows ? add_traced(&check, in->balance) : -ENOMEM;
	if (!r)
		r = add_listed(&check, in, in->before, false);
	if (!r && in->after)
		r = add_listed(&check, in, in->after, true);
	if (r) {
		km_slab_check_release(&check);
		return km_error_set(error, r, "out of memory");
	}
	bring_together(&check);
	drop_quiet(&check);
	judge(&check, in);
	qsort(check.rows, check.rows_count, sizeof(*check.rows), compare_ranks);
	check_sizes(&check);
	*ret_check = check;
	return 0;
}

void km_slab_check_release(struct km_slab_check *check)
{
	for (size_t i = 0; i < check->rows_count; i++)
		free(check->rows[i].name);
	free(check->rows);
	memset(check, 0, sizeof(*check));
}
