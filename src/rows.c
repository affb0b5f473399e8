/* SPDX-License-Identifier: GPL-2.0-only */
#include "rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITE_CACHES_LIMIT 64
#define ALIASES_LIMIT     256

/* A row being handed out, and what its cells point to. */
struct row_view {
	const struct km_analysis *analysis;
	enum km_axis axis;
	size_t index;
	struct km_row row;
	struct km_site_name site;
	const char *caches[SITE_CACHES_LIMIT];
	size_t caches_count;
	const char *aliases[ALIASES_LIMIT]; /* other names of the cache */
};

/* --- values --- */

typedef void get_value(struct row_view *view, struct km_cell *cell);

static void get_symbol(struct row_view *v, struct km_cell *c)
{
	c->text = v->site.symbol;
}

static void get_function(struct row_view *v, struct km_cell *c)
{
	c->text = v->site.function;
}

static void get_module(struct row_view *v, struct km_cell *c)
{
	c->text = v->site.module;
	c->is_null = !v->site.module[0];
}

static void get_address(struct row_view *v, struct km_cell *c)
{
	c->number = km_aggregate_site(v->analysis->aggregate, v->index);
	c->is_null = c->number == KM_SITE_OTHERS || v->site.is_made_up;
}

static void get_caches(struct row_view *v, struct km_cell *c)
{
	c->list.items = v->caches;
	c->list.count = v->caches_count;
}

static void get_cache_name(struct row_view *v, struct km_cell *c)
{
	c->text = km_aggregate_cache(v->analysis->aggregate, v->index);
}

static void get_shown_name(struct row_view *v, struct km_cell *c)
{
	c->text = km_slab_aliases_shown(v->analysis->options.aliases,
					km_aggregate_cache(v->analysis->aggregate, v->index));
}

static void get_aliases(struct row_view *v, struct km_cell *c)
{
	size_t count =
		km_slab_aliases_of(v->analysis->options.aliases, km_aggregate_cache(v->analysis->aggregate, v->index),
				   v->aliases, ALIASES_LIMIT);

	c->list.items = v->aliases;
	c->list.count = count < ALIASES_LIMIT ? count : ALIASES_LIMIT;
}

static void get_object_bytes(struct row_view *v, struct km_cell *c)
{
	c->number = km_aggregate_cache_object_bytes(v->analysis->aggregate, v->index);
	c->is_null = !c->number;
}

static void get_sites_count(struct row_view *v, struct km_cell *c)
{
	c->number = v->row.sites_count;
}

static void get_live_mark(struct row_view *v, struct km_cell *c)
{
	c->text = km_live_mark(v->row.live_is);
}

static void get_live_is(struct row_view *v, struct km_cell *c)
{
	c->text = km_live_is_name(v->row.live_is);
}

/* Nothing unless its verdict is leak; null without verdicts. */
static const struct km_leak *leak_of(const struct row_view *v, struct km_cell *c)
{
	const struct km_leaks *leaks = v->analysis->leaks;
	const struct km_leak *leak = leaks ? km_leaks_of_site(leaks, v->index) : NULL;

	c->is_null = !leaks;
	return leak && leak->verdict == KM_VERDICT_LEAK ? leak : NULL;
}

static void get_leaks_count(struct row_view *v, struct km_cell *c)
{
	const struct km_leak *leak = leak_of(v, c);

	c->number = leak ? leak->live_count : 0;
}

static void get_leaks_bytes(struct row_view *v, struct km_cell *c)
{
	const struct km_leak *leak = leak_of(v, c);

	c->number = leak ? leak->live_bytes : 0;
}

static void get_live_waste(struct row_view *v, struct km_cell *c)
{
	c->number = v->row.sums.live_bytes - v->row.sums.live_requested_bytes;
}

static void get_total_waste(struct row_view *v, struct km_cell *c)
{
	c->number = v->row.sums.total_allocated_bytes - v->row.sums.total_requested_bytes;
}

static void get_peak_is(struct row_view *v, struct km_cell *c)
{
	c->text = km_row_peak_is(&v->row);
}

/* Of an estimate of none it is not known. */
static void get_live_error_bytes(struct row_view *v, struct km_cell *c)
{
	c->number = v->row.live_error_bytes;
	c->is_null = v->row.error_is_unknown;
}

static void get_live_error_count(struct row_view *v, struct km_cell *c)
{
	c->number = v->row.live_error_count;
	c->is_null = v->row.error_is_unknown;
}

static void set_bound(struct km_cell *c, const struct km_bounds *bounds, bool is_max)
{
	c->number = is_max ? bounds->max : bounds->min;
	c->is_null = is_max && bounds->max_is_unknown;
}

/* What a number may really be. */
#define BOUNDS(function, member)                                          \
	static void function##_min(struct row_view *v, struct km_cell *c) \
	{                                                                 \
		set_bound(c, &v->row.bounds.member, false);               \
	}                                                                 \
	static void function##_max(struct row_view *v, struct km_cell *c) \
	{                                                                 \
		set_bound(c, &v->row.bounds.member, true);                \
	}
BOUNDS(get_live_bytes, live_bytes)
BOUNDS(get_live_count, live_count)
BOUNDS(get_peak_bytes, peak_live_bytes)
BOUNDS(get_peak_count, peak_live_count)
#undef BOUNDS

static void get_peak_time(struct row_view *v, struct km_cell *c)
{
	c->number = v->row.level.peak_time - v->analysis->start_time;
	c->is_null = !v->row.level.peak_live_bytes;
}

static void get_oldest_age(struct row_view *v, struct km_cell *c)
{
	c->number = v->analysis->end_time - v->row.oldest_time;
	c->is_null = !v->row.has_survivors;
}

static void get_newest_age(struct row_view *v, struct km_cell *c)
{
	c->number = v->analysis->end_time - v->row.newest_time;
	c->is_null = !v->row.has_survivors;
}

static void get_lifetime_count(struct row_view *v, struct km_cell *c)
{
	c->number = v->row.lifetimes.count;
}

static void get_lifetime_min(struct row_view *v, struct km_cell *c)
{
	c->number = v->row.lifetimes.min;
	c->is_null = !v->row.lifetimes.count;
}

static void get_lifetime_max(struct row_view *v, struct km_cell *c)
{
	c->number = v->row.lifetimes.max;
	c->is_null = !v->row.lifetimes.count;
}

static void get_lifetime_p50(struct row_view *v, struct km_cell *c)
{
	c->number = km_histogram_quantile(&v->row.lifetimes, 0.5);
	c->is_null = !v->row.lifetimes.count;
}

static void get_lifetime_p99(struct row_view *v, struct km_cell *c)
{
	c->number = km_histogram_quantile(&v->row.lifetimes, 0.99);
	c->is_null = !v->row.lifetimes.count;
}

static void get_lifetime_histogram(struct row_view *v, struct km_cell *c)
{
	c->histogram = &v->row.lifetimes;
}

/* Metrics that are a number of the row as it is. */
#define PLAIN(function, member)                                     \
	static void function(struct row_view *v, struct km_cell *c) \
	{                                                           \
		c->number = v->row.member;                          \
	}
PLAIN(get_live_bytes, sums.live_bytes)
PLAIN(get_live_count, sums.live_count)
PLAIN(get_live_requested, sums.live_requested_bytes)
PLAIN(get_at_peak_bytes, sums.at_peak_bytes)
PLAIN(get_at_peak_count, sums.at_peak_count)
PLAIN(get_peak_bytes, level.peak_live_bytes)
PLAIN(get_peak_count, level.peak_live_count)
PLAIN(get_allocs, sums.allocs_count)
PLAIN(get_tracked, sums.tracked_count)
PLAIN(get_failed, sums.failed_count)
PLAIN(get_doubled, sums.doubled_count)
PLAIN(get_overflowed, sums.overflowed_count)
PLAIN(get_overflowed_bytes, sums.overflowed_bytes)
PLAIN(get_matched, sums.matched_frees_count)
PLAIN(get_implied, sums.implied_frees_count)
PLAIN(get_cross_cpu, sums.cross_cpu_frees_count)
PLAIN(get_allocated, sums.total_allocated_bytes)
PLAIN(get_requested, sums.total_requested_bytes)
PLAIN(get_out, kept.out_count)
PLAIN(get_out_bytes, kept.out_bytes)
PLAIN(get_purged, kept.purged_count)
PLAIN(get_purged_bytes, kept.purged_bytes)
PLAIN(get_kept_matched, kept.matched_count)
PLAIN(get_kept_implied, kept.implied_count)
PLAIN(get_kept_live, kept.live_count)
PLAIN(get_kept_live_bytes, kept.live_bytes)
#undef PLAIN

enum axis_bit { SITES = 1 << KM_AXIS_SITE, CACHES = 1 << KM_AXIS_CACHE, GROUPS = 1 << KM_AXIS_GROUP, ALL = 7 };
/* With the axes: machines are shown it of a replay that samples; of others it is NAMED only. */
#define SAMPLE 8
/* Likewise, where the names that caches share are known: people see the one, machines are given the other. */
#define ALIASES 16

#define WIDE    KM_COLUMN_WIDE
#define MACHINE KM_COLUMN_MACHINE
#define PEOPLE  KM_COLUMN_PEOPLE
#define NAMED   (KM_COLUMN_MACHINE | KM_COLUMN_PEOPLE) /* only where --fields names it */

static const struct metric_row {
	struct km_column column;
	get_value *get;
	unsigned axes;
	const char *ticks_name; /* the same where the clock is not in ns, NULL for what is no time */
} metric_rows[] = {
	{ { "name", "cache", "name of the slab cache, or the kmalloc class", KM_TYPE_STRING,
	    KM_COLUMN_FLEX | KM_COLUMN_LAST },
	  get_cache_name,
	  CACHES,
	  NULL },
	{ { "shown_name", "cache", "the same with how many more names the cache has: pid(+3) (--slab-aliases)",
	    KM_TYPE_STRING, NAMED },
	  get_shown_name,
	  CACHES | ALIASES,
	  NULL },
	{ { "aliases", "aliases", "the other names of the cache, sorted (--slab-aliases)", KM_TYPE_LIST, NAMED },
	  get_aliases,
	  CACHES | ALIASES,
	  NULL },
	{ { "symbol", "site", "call site: function+offset [module]", KM_TYPE_STRING, KM_COLUMN_FLEX | KM_COLUMN_LAST },
	  get_symbol,
	  SITES,
	  NULL },
	{ { "function", "function", "its function, without .isra, .constprop, .part and .cold", KM_TYPE_STRING,
	    MACHINE },
	  get_function,
	  SITES,
	  NULL },
	{ { "module", "module", "its module, null for the kernel itself", KM_TYPE_STRING, MACHINE },
	  get_module,
	  SITES,
	  NULL },
	{ { "address", "address", "the call site's address", KM_TYPE_ADDRESS, MACHINE }, get_address, SITES, NULL },
	{ { "live_mark", "",
	    "how to read the live numbers: <= upper bound, >= at least, ~ estimated from a sample, ? uncertain",
	    KM_TYPE_STRING, PEOPLE },
	  get_live_mark,
	  ALL,
	  NULL },
	{ { "live_bytes", "live", "bytes given to what is live at the end", KM_TYPE_BYTES, 0 },
	  get_live_bytes,
	  ALL,
	  NULL },
	{ { "live_error_bytes", "+-", "standard error of live_bytes (--when-full sample)", KM_TYPE_BYTES, NAMED },
	  get_live_error_bytes,
	  ALL | SAMPLE,
	  NULL },
	{ { "live_count", "objects", "objects live at the end", KM_TYPE_COUNT, 0 }, get_live_count, ALL, NULL },
	{ { "live_error_count", "+- objects", "standard error of live_count (--when-full sample)", KM_TYPE_COUNT,
	    NAMED },
	  get_live_error_count,
	  ALL | SAMPLE,
	  NULL },
	{ { "live_is", "live is",
	    "what the live numbers are: consistent, upper_bound (frees not traced), at_least (table overflow), "
	    "estimated (sample), uncertain",
	    KM_TYPE_STRING, MACHINE },
	  get_live_is,
	  ALL,
	  NULL },
	{ { "live_bytes_min", "live min", "the least that live_bytes may really be", KM_TYPE_BYTES, MACHINE },
	  get_live_bytes_min,
	  ALL,
	  NULL },
	{ { "live_bytes_max", "live max", "the most that it may be; none where nobody knows", KM_TYPE_BYTES, MACHINE },
	  get_live_bytes_max,
	  ALL,
	  NULL },
	{ { "live_count_min", "objects min", "the least that live_count may really be", KM_TYPE_COUNT, MACHINE },
	  get_live_count_min,
	  ALL,
	  NULL },
	{ { "live_count_max", "objects max", "the most that it may be; none where nobody knows", KM_TYPE_COUNT,
	    MACHINE },
	  get_live_count_max,
	  ALL,
	  NULL },
	{ { "leaks_count", "leaked", "live objects, if its verdict in `kmstat leaks` is leak", KM_TYPE_COUNT, MACHINE },
	  get_leaks_count,
	  SITES,
	  NULL },
	{ { "leaks_bytes", "leaked bytes", "bytes given to them", KM_TYPE_BYTES, MACHINE },
	  get_leaks_bytes,
	  SITES,
	  NULL },
	{ { "live_requested_bytes", "live asked", "bytes asked for by what is live", KM_TYPE_BYTES, MACHINE },
	  get_live_requested,
	  ALL,
	  NULL },
	{ { "live_waste_bytes", "waste", "live_bytes less live_requested_bytes", KM_TYPE_BYTES, WIDE },
	  get_live_waste,
	  ALL,
	  NULL },
	{ { "at_peak_bytes", "at peak", "bytes live at the moment of the peak of all", KM_TYPE_BYTES, WIDE },
	  get_at_peak_bytes,
	  ALL,
	  NULL },
	{ { "at_peak_count", "objects at peak", "objects live at that moment", KM_TYPE_COUNT, MACHINE },
	  get_at_peak_count,
	  ALL,
	  NULL },
	{ { "peak_live_bytes", "peak", "its own largest live_bytes", KM_TYPE_BYTES, 0 }, get_peak_bytes, ALL, NULL },
	{ { "peak_live_count", "peak objects", "its own largest live_count", KM_TYPE_COUNT, MACHINE },
	  get_peak_count,
	  ALL,
	  NULL },
	{ { "peak_time_ns", "peak at", "when its largest live_bytes was first reached, from the first event",
	    KM_TYPE_DURATION, MACHINE },
	  get_peak_time,
	  ALL,
	  "peak_time_ticks" },
	{ { "peak_is", "peak is",
	    "exact; at_least or at_most where a cache's name was learnt when objects of it had lived already; "
	    "estimated",
	    KM_TYPE_STRING, MACHINE },
	  get_peak_is,
	  ALL,
	  NULL },
	{ { "peak_live_bytes_min", "peak min", "the least that peak_live_bytes may really be", KM_TYPE_BYTES, MACHINE },
	  get_peak_bytes_min,
	  ALL,
	  NULL },
	{ { "peak_live_bytes_max", "peak max", "the most that it may be; none where nobody knows", KM_TYPE_BYTES,
	    MACHINE },
	  get_peak_bytes_max,
	  ALL,
	  NULL },
	{ { "peak_live_count_min", "peak objects min", "the least that peak_live_count may really be", KM_TYPE_COUNT,
	    MACHINE },
	  get_peak_count_min,
	  ALL,
	  NULL },
	{ { "peak_live_count_max", "peak objects max", "the most that it may be; none where nobody knows",
	    KM_TYPE_COUNT, MACHINE },
	  get_peak_count_max,
	  ALL,
	  NULL },
	{ { "allocs_count", "allocs", "allocation events, failed, doubled and overflowed ones too", KM_TYPE_COUNT, 0 },
	  get_allocs,
	  ALL,
	  NULL },
	{ { "tracked_count", "tracked", "allocations that entered the table", KM_TYPE_COUNT, MACHINE },
	  get_tracked,
	  ALL,
	  NULL },
	{ { "failed_count", "failed", "allocations that returned NULL", KM_TYPE_COUNT, MACHINE },
	  get_failed,
	  ALL,
	  NULL },
	{ { "doubled_count", "doubled", "events that told the next one's allocation too (kmalloc over 8 KiB, 6.11 on)",
	    KM_TYPE_COUNT, MACHINE },
	  get_doubled,
	  ALL,
	  NULL },
	{ { "overflowed_count", "overflowed", "allocations not tracked since the table was full", KM_TYPE_COUNT,
	    MACHINE },
	  get_overflowed,
	  ALL,
	  NULL },
	{ { "overflowed_bytes", "overflowed bytes", "bytes given to them", KM_TYPE_BYTES, MACHINE },
	  get_overflowed_bytes,
	  ALL,
	  NULL },
	{ { "matched_frees_count", "freed", "frees of its objects that were traced", KM_TYPE_COUNT, WIDE },
	  get_matched,
	  ALL,
	  NULL },
	{ { "implied_frees_count", "implied", "objects freed without an event: their address was handed out again",
	    KM_TYPE_COUNT, WIDE },
	  get_implied,
	  ALL,
	  NULL },
	{ { "cross_cpu_frees_count", "cross-cpu", "matched frees on another CPU than the allocation", KM_TYPE_COUNT,
	    MACHINE },
	  get_cross_cpu,
	  ALL,
	  NULL },
	{ { "total_allocated_bytes", "allocated", "bytes given, summed over all its allocations", KM_TYPE_BYTES, WIDE },
	  get_allocated,
	  ALL,
	  NULL },
	{ { "total_requested_bytes", "asked", "bytes asked for, likewise", KM_TYPE_BYTES, MACHINE },
	  get_requested,
	  ALL,
	  NULL },
	{ { "total_waste_bytes", "total waste", "total_allocated_bytes less total_requested_bytes", KM_TYPE_BYTES,
	    MACHINE },
	  get_total_waste,
	  ALL,
	  NULL },
	{ { "oldest_age_ns", "oldest", "age of its oldest live object at the end", KM_TYPE_DURATION, 0 },
	  get_oldest_age,
	  ALL,
	  "oldest_age_ticks" },
	{ { "newest_age_ns", "newest", "age of its newest live object at the end", KM_TYPE_DURATION, MACHINE },
	  get_newest_age,
	  ALL,
	  "newest_age_ticks" },
	{ { "lifetime_ns.count", "lifetimes", "matched frees that the lifetimes are of", KM_TYPE_COUNT, MACHINE },
	  get_lifetime_count,
	  ALL,
	  "lifetime_ticks.count" },
	{ { "lifetime_ns.min", "shortest life", "shortest lifetime of a freed object", KM_TYPE_DURATION, MACHINE },
	  get_lifetime_min,
	  ALL,
	  "lifetime_ticks.min" },
	{ { "lifetime_ns.max", "longest life", "longest lifetime", KM_TYPE_DURATION, MACHINE },
	  get_lifetime_max,
	  ALL,
	  "lifetime_ticks.max" },
	{ { "lifetime_ns.p50", "life p50", "median lifetime, to the upper edge of its bin", KM_TYPE_DURATION, WIDE },
	  get_lifetime_p50,
	  ALL,
	  "lifetime_ticks.p50" },
	{ { "lifetime_ns.p99", "life p99", "99 % of lifetimes are at most this", KM_TYPE_DURATION, WIDE },
	  get_lifetime_p99,
	  ALL,
	  "lifetime_ticks.p99" },
	{ { "lifetime_ns.histogram", "lifetimes", "log-scaled histogram: [bin, count], four bins an octave",
	    KM_TYPE_HISTOGRAM, MACHINE },
	  get_lifetime_histogram,
	  ALL,
	  "lifetime_ticks.histogram" },
	{ { "sample.sampled_out_count", "sampled out", "allocations sampled out (--when-full sample)", KM_TYPE_COUNT,
	    NAMED },
	  get_out,
	  ALL | SAMPLE,
	  NULL },
	{ { "sample.sampled_out_bytes", "sampled out bytes", "bytes given to them", KM_TYPE_BYTES, NAMED },
	  get_out_bytes,
	  ALL | SAMPLE,
	  NULL },
	{ { "sample.purged_count", "purged", "tracked objects that were taken out of the sample", KM_TYPE_COUNT,
	    NAMED },
	  get_purged,
	  ALL | SAMPLE,
	  NULL },
	{ { "sample.purged_bytes", "purged bytes", "bytes given to them", KM_TYPE_BYTES, NAMED },
	  get_purged_bytes,
	  ALL | SAMPLE,
	  NULL },
	{ { "sample.matched_frees_count", "sample freed", "traced frees of objects in the sample", KM_TYPE_COUNT,
	    NAMED },
	  get_kept_matched,
	  ALL | SAMPLE,
	  NULL },
	{ { "sample.implied_frees_count", "sample implied", "frees without an event of objects in the sample",
	    KM_TYPE_COUNT, NAMED },
	  get_kept_implied,
	  ALL | SAMPLE,
	  NULL },
	{ { "sample.live_count", "sample objects", "objects in the sample at the end", KM_TYPE_COUNT, NAMED },
	  get_kept_live,
	  ALL | SAMPLE,
	  NULL },
	{ { "sample.live_bytes", "sample bytes", "bytes given to them", KM_TYPE_BYTES, NAMED },
	  get_kept_live_bytes,
	  ALL | SAMPLE,
	  NULL },
	{ { "sites_count", "sites", "call sites that allocated from it", KM_TYPE_COUNT, WIDE },
	  get_sites_count,
	  CACHES | GROUPS,
	  NULL },
	{ { "object_bytes", "object", "bytes that an object takes; none where sizes differ", KM_TYPE_BYTES, WIDE },
	  get_object_bytes,
	  CACHES,
	  NULL },
	{ { "caches", "cache", "slab caches or kmalloc classes that it allocated from", KM_TYPE_LIST, WIDE },
	  get_caches,
	  SITES,
	  NULL },
};

#define METRICS (sizeof(metric_rows) / sizeof(metric_rows[0]))

/* --- columns --- */

/* Where a column's value comes from. */
struct column_source {
	const struct metric_row *metric; /* NULL: a --by field */
	unsigned by;                     /* index into the group's values */
	bool always_null;                /* an _ns column of a clock that is not in ns */
};

struct km_rows {
	const struct km_analysis *analysis;
	enum km_axis axis;
	struct km_column columns[KM_ROWS_COLUMNS_LIMIT];
	struct column_source sources[KM_ROWS_COLUMNS_LIMIT];
	char by_names[KM_BY_LIMIT][32];
	size_t columns_count;
	uint32_t *order; /* row indexes as they are handed out */
	size_t total, shown, at;
	struct row_view view;
};

static void add_column(struct km_rows *rows, struct km_column column, struct column_source source)
{
	rows->columns[rows->columns_count] = column;
	rows->sources[rows->columns_count++] = source;
}

/* For people pid(+3) stands for the name alone. */
static unsigned flags_with_aliases(const struct metric_row *metric, unsigned flags)
{
	if (metric->get == get_cache_name)
		return flags | MACHINE;
	if (metric->get == get_shown_name)
		return KM_COLUMN_PEOPLE | KM_COLUMN_FLEX | KM_COLUMN_LAST;
	return metric->get == get_aliases ? MACHINE : flags;
}

/* Without an analysis there are no columns of a sample, and no aliases: what comes from elsewhere does not have them.
 */
static void add_metrics(struct km_rows *rows, bool ticks)
{
	bool samples = rows->analysis && km_replay_when_full(rows->analysis->replay) == KM_WHEN_FULL_SAMPLE;
	bool has_aliases = rows->analysis && rows->analysis->options.aliases;

	for (size_t i = 0; i < METRICS; i++) {
		const struct metric_row *metric = &metric_rows[i];
		struct km_column column = metric->column;

		if (!(metric->axes & (1U << rows->axis)))
			continue;
		if (metric->axes & (SAMPLE | ALIASES) && !rows->analysis)
			continue;
		if (has_aliases)
			column.flags = flags_with_aliases(metric, column.flags);
		if (metric->axes & SAMPLE && samples)
			column.flags = metric->get == get_live_error_bytes ? 0 : MACHINE;
		if (ticks && metric->ticks_name) {
			struct km_column in_ticks = column;

			in_ticks.name = metric->ticks_name;
			if (in_ticks.type == KM_TYPE_DURATION)
				in_ticks.type = KM_TYPE_TICKS;
			column.flags |= KM_COLUMN_MACHINE;
			add_column(rows, column, (struct column_source){ .metric = metric, .always_null = true });
			add_column(rows, in_ticks, (struct column_source){ .metric = metric });
		} else {
			add_column(rows, column, (struct column_source){ .metric = metric });
		}
	}
}

static void make_columns(struct km_rows *rows, const struct km_by_list *by, bool ticks)
{
	for (unsigned i = 0; by && rows->axis == KM_AXIS_GROUP && i < by->count; i++) {
		struct km_column column = km_by_columns[by->fields[i]];

		snprintf(rows->by_names[i], sizeof(rows->by_names[i]), "key.%s", column.name);
		column.name = rows->by_names[i];
		column.flags |= KM_COLUMN_LAST;
		add_column(rows, column, (struct column_source){ .by = i });
	}
	add_metrics(rows, ticks);
}

int km_rows_layout(enum km_axis axis, const struct km_by_list *by, bool ticks, struct km_rows_layout *ret_layout)
{
	struct km_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	rows->axis = axis;
	make_columns(rows, by, ticks);
	memcpy(ret_layout->columns, rows->columns, sizeof(rows->columns));
	memcpy(ret_layout->by_names, rows->by_names, sizeof(rows->by_names));
	ret_layout->count = rows->columns_count;
	for (unsigned i = 0; axis == KM_AXIS_GROUP && i < by->count; i++)
		ret_layout->columns[i].name = ret_layout->by_names[i];
	free(rows);
	return 0;
}

size_t km_rows_describe(enum km_axis axis, struct km_column *columns, size_t limit)
{
	size_t count = 0;

	for (size_t i = 0; i < METRICS && count < limit; i++) {
		if (metric_rows[i].axes & (1U << axis))
			columns[count++] = metric_rows[i].column;
	}
	return count;
}

/* --- one row --- */

static int load_row(struct row_view *view, bool lifetimes, struct km_error *error)
{
	const struct km_aggregate *a = view->analysis->aggregate;

	km_row_release(&view->row);
	memset(&view->row, 0, sizeof(view->row));
	if (km_aggregate_row(a, view->axis, view->index, lifetimes, &view->row))
		return km_error_set(error, -ENOMEM, "out of memory");
	if (view->axis == KM_AXIS_SITE) {
		uint64_t site = km_aggregate_site(a, view->index);

		if (site == KM_SITE_OTHERS)
			view->site = (struct km_site_name){ "(other sites)", "(other sites)", "", false };
		else
			view->site = km_naming_site(view->analysis->naming, site);
		view->caches_count = km_aggregate_site_caches(a, view->index, view->caches, SITE_CACHES_LIMIT);
		if (view->caches_count > SITE_CACHES_LIMIT)
			view->caches_count = SITE_CACHES_LIMIT;
	}
	return 0;
}

static void fill_cell(const struct km_rows *rows, struct row_view *view, size_t column, struct km_cell *cell)
{
	const struct column_source *source = &rows->sources[column];

	memset(cell, 0, sizeof(*cell));
	if (source->always_null) {
		cell->is_null = true;
	} else if (source->metric) {
		source->metric->get(view, cell);
	} else {
		const struct km_selection *selection = &view->analysis->selection;

		km_selection_cell(selection, selection->by.fields[source->by],
				  km_aggregate_group(view->analysis->aggregate, view->index)[source->by], cell);
	}
}

/* --- order --- */

int km_sort_parse(const char *text, struct km_sort *ret_sort, struct km_error *error)
{
	struct km_sort sort = { .count = 0 };

	for (const char *item = text; item;) {
		size_t bytes = strcspn(item, ",");
		int direction = *item == '-' ? -1 : *item == '+' ? 1 : 0;
		size_t skip = direction != 0;

		if (sort.count == KM_SORT_KEYS_LIMIT)
			return km_error_set(error, -EINVAL, "--sort: at most %d keys", KM_SORT_KEYS_LIMIT);
		sort.keys[sort.count].direction = direction;
		snprintf(sort.keys[sort.count++].name, sizeof(sort.keys[0].name), "%.*s", (int)(bytes - skip),
			 item + skip);
		item = item[bytes] ? item + bytes + 1 : NULL;
	}
	*ret_sort = sort;
	return 0;
}

static int find_column(const struct km_column *columns, size_t count, const char *name, size_t bytes)
{
	for (size_t i = 0; i < count; i++) {
		const char *at = columns[i].name;

		if (strlen(at) == bytes && !strncmp(at, name, bytes))
			return (int)i;
		/* "function" is short for key.function of a group */
		if (!strncmp(at, "key.", 4) && strlen(at + 4) == bytes && !strncmp(at + 4, name, bytes))
			return (int)i;
	}
	/* What people see above a column will do too. */
	for (size_t i = 0; i < count; i++) {
		const char *title = columns[i].title;

		if (title && *title && strlen(title) == bytes && !strncmp(title, name, bytes))
			return (int)i;
	}
	return -1;
}

/* One row's values of the sort's columns. */
struct sorted {
	uint32_t index;
	struct km_cell cells[KM_SORT_KEYS_LIMIT + 5];
};

struct sorter {
	const struct km_rows *rows;
	unsigned count;
	struct {
		size_t column;
		bool descending;
	} keys[KM_SORT_KEYS_LIMIT + 5];
};

static int compare_cells(enum km_type type, const struct km_cell *a, const struct km_cell *b)
{
	if (a->is_null || b->is_null)
		return (a->is_null == b->is_null) ? 0 : a->is_null ? -1 : 1;
	switch (type) {
	case KM_TYPE_STRING:
	case KM_TYPE_LIST: /* its first item: sort_rows() has put it there */
		return strcmp(a->text, b->text);
	case KM_TYPE_INTEGER:
		return a->integer < b->integer ? -1 : a->integer > b->integer;
	case KM_TYPE_RATIO:
	case KM_TYPE_REAL:
		return a->ratio < b->ratio ? -1 : a->ratio > b->ratio;
	case KM_TYPE_BOOL:
		return (int)a->flag - (int)b->flag;
	case KM_TYPE_HISTOGRAM:
	case KM_TYPE_NUMBERS:
		return 0;
	default:
		return a->number < b->number ? -1 : a->number > b->number;
	}
}

static int compare_rows(const void *x, const void *y, void *context)
{
	const struct sorted *a = x, *b = y;
	const struct sorter *sorter = context;

	for (unsigned i = 0; i < sorter->count; i++) {
		enum km_type type = sorter->rows->columns[sorter->keys[i].column].type;
		int order = compare_cells(type, &a->cells[i], &b->cells[i]);

		if (order)
			return sorter->keys[i].descending ? -order : order;
	}
	return a->index < b->index ? -1 : a->index > b->index;
}

static void add_key(struct sorter *sorter, size_t column, int direction)
{
	enum km_type type = sorter->rows->columns[column].type;
	bool is_name = type == KM_TYPE_STRING || type == KM_TYPE_LIST || type == KM_TYPE_ADDRESS;

	sorter->keys[sorter->count].column = column;
	sorter->keys[sorter->count++].descending = direction ? direction < 0 : !is_name;
}

static int make_sorter(struct km_rows *rows, const struct km_sort *sort, struct sorter *sorter, struct km_error *error)
{
	static const char *const ties[] = { "live_bytes", "live_count", "allocs_count" };
	static const char *const names[] = { [KM_AXIS_SITE] = "symbol", [KM_AXIS_CACHE] = "name" };

	*sorter = (struct sorter){ .rows = rows };
	for (unsigned i = 0; sort && i < sort->count; i++) {
		int column =
			find_column(rows->columns, rows->columns_count, sort->keys[i].name, strlen(sort->keys[i].name));

		if (column < 0)
			return km_error_set(error, -EINVAL, "--sort: no column \"%s\"; --sort help lists them",
					    sort->keys[i].name);
		add_key(sorter, (size_t)column, sort->keys[i].direction);
	}
	for (size_t i = 0; i < sizeof(ties) / sizeof(ties[0]); i++)
		add_key(sorter, (size_t)find_column(rows->columns, rows->columns_count, ties[i], strlen(ties[i])), 0);
	if (rows->axis != KM_AXIS_GROUP) {
		const char *name = names[rows->axis];

		add_key(sorter, (size_t)find_column(rows->columns, rows->columns_count, name, strlen(name)), 0);
		if (rows->axis == KM_AXIS_SITE)
			add_key(sorter, (size_t)find_column(rows->columns, rows->columns_count, "address", 7), 0);
	} else {
		add_key(sorter, 0, 0);
	}
	return 0;
}

/* Put the rows that hold anything into order. */
static int sort_rows(struct km_rows *rows, const struct km_sort *sort, struct km_error *error)
{
	size_t count = km_aggregate_rows_count(rows->analysis->aggregate, rows->axis);
	struct row_view view = { .analysis = rows->analysis, .axis = rows->axis };
	struct sorter sorter;
	struct sorted *items = NULL;
	bool lifetimes = false;
	int r = make_sorter(rows, sort, &sorter, error);

	if (r)
		return r;
	for (unsigned i = 0; i < sorter.count; i++)
		lifetimes |= !strncmp(rows->columns[sorter.keys[i].column].name, "lifetime_", 9);
	items = calloc(count ? count : 1, sizeof(*items));
	rows->order = calloc(count ? count : 1, sizeof(*rows->order));
	r = -ENOMEM;
	if (!items || !rows->order) {
		km_error_set(error, r, "out of memory");
		goto out;
	}
	for (size_t i = 0; i < count; i++) {
		view.index = i;
		r = load_row(&view, lifetimes, error);
		if (r)
			goto out;
		if (!view.row.sums.allocs_count)
			continue;
		items[rows->total].index = (uint32_t)i;
		for (unsigned k = 0; k < sorter.count; k++)
			fill_cell(rows, &view, sorter.keys[k].column, &items[rows->total].cells[k]);
		for (unsigned k = 0; k < sorter.count; k++) { /* the view's own list goes away, its names stay */
			struct km_cell *cell = &items[rows->total].cells[k];

			if (rows->columns[sorter.keys[k].column].type != KM_TYPE_LIST)
				continue;
			cell->is_null = !cell->list.count;
			cell->text = cell->list.count ? cell->list.items[0] : NULL;
		}
		rows->total++;
	}
	qsort_r(items, rows->total, sizeof(*items), compare_rows, &sorter);
	for (size_t i = 0; i < rows->total; i++)
		rows->order[i] = items[i].index;
	r = 0;
out:
	km_row_release(&view.row);
	free(items);
	return r;
}

/* --- the table --- */

int km_rows_new(const struct km_analysis *analysis, enum km_axis axis, const struct km_sort *sort, size_t limit,
		struct km_rows **ret_rows, struct km_error *error)
{
	struct km_rows *rows = calloc(1, sizeof(*rows));
	int r;

	if (!rows)
		return km_error_set(error, -ENOMEM, "out of memory");
	rows->analysis = analysis;
	rows->axis = axis;
	rows->view.analysis = analysis;
	rows->view.axis = axis;
	make_columns(rows, &analysis->selection.by, analysis->buffer->unit != KM_CLOCK_NS);
	r = sort_rows(rows, sort, error);
	if (r) {
		km_rows_free(rows);
		return r;
	}
	rows->shown = limit && limit < rows->total ? limit : rows->total;
	*ret_rows = rows;
	return 0;
}

void km_rows_free(struct km_rows *rows)
{
	if (!rows)
		return;
	km_row_release(&rows->view.row);
	free(rows->order);
	free(rows);
}

const struct km_column *km_rows_columns(const struct km_rows *rows, size_t *ret_count)
{
	*ret_count = rows->columns_count;
	return rows->columns;
}

size_t km_rows_total(const struct km_rows *rows)
{
	return rows->total;
}

size_t km_rows_shown(const struct km_rows *rows)
{
	return rows->shown;
}

int km_rows_next(void *state, struct km_cell *cells, struct km_error *error)
{
	struct km_rows *rows = state;
	int r;

	if (rows->at == rows->shown)
		return 0;
	rows->view.index = rows->order[rows->at++];
	r = load_row(&rows->view, true, error);
	if (r)
		return r;
	for (size_t i = 0; i < rows->columns_count; i++)
		fill_cell(rows, &rows->view, i, &cells[i]);
	return 1;
}

size_t km_rows_index(const struct km_rows *rows)
{
	return rows->view.index;
}

int km_fields_parse(const char *text, const struct km_column *columns, size_t count, struct km_fields *ret_fields,
		    struct km_error *error)
{
	uint16_t *indexes = calloc(strlen(text) + 1, sizeof(*indexes));
	size_t n = 0;

	if (!indexes)
		return km_error_set(error, -ENOMEM, "out of memory");
	for (const char *item = text; item;) {
		size_t bytes = strcspn(item, ",");
		int column = find_column(columns, count, item, bytes);

		if (column < 0) {
			free(indexes);
			return km_error_set(error, -EINVAL, "--fields: no column \"%.*s\"; --fields help lists them",
					    (int)bytes, item);
		}
		indexes[n++] = (uint16_t)column;
		item = item[bytes] ? item + bytes + 1 : NULL;
	}
	*ret_fields = (struct km_fields){ .indexes = indexes, .count = n };
	return 0;
}
