/* SPDX-License-Identifier: GPL-2.0-only */
#include "run_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

/* Where a column's value comes from. */
enum what {
	NOTHING, /* always null: times in ns of a clock in ticks */
	NAME,
	SYMBOL,
	FUNCTION,
	MODULE,
	ADDRESS,
	CACHES,
	LIVE_MARK,
	LIVE_IS,
	PEAK_IS,
	SITES_COUNT,
	OBJECT_BYTES,
	PEAK_TIME,
	LIFE_COUNT,
	LIFE_MIN,
	LIFE_MAX,
	LIFE_P50,
	LIFE_P99,
	LIFE_HISTOGRAM,
	KEY,
	VALUE,
	VALUE_MIN,
	VALUE_MAX,
	UNKNOWN,
};

struct place {
	enum what what;
	unsigned index; /* of the metric, of the key */
};

struct km_run_rows {
	const struct km_run *run;
	enum km_run_axis axis;
	struct km_rows_layout layout;
	struct km_column columns[KM_ROWS_COLUMNS_LIMIT];
	struct place places[KM_ROWS_COLUMNS_LIMIT];
	size_t count;
	const struct km_run_row **order;
	size_t shown, at;
};

/* --- columns --- */

static const struct {
	const char *name;
	enum what what;
} names[] = {
	{ "name", NAME },
	{ "symbol", SYMBOL },
	{ "function", FUNCTION },
	{ "module", MODULE },
	{ "address", ADDRESS },
	{ "caches", CACHES },
	{ "live_mark", LIVE_MARK },
	{ "live_is", LIVE_IS },
	{ "peak_is", PEAK_IS },
	{ "sites_count", SITES_COUNT },
	{ "object_bytes", OBJECT_BYTES },
	{ "peak_time_ns", PEAK_TIME },
	{ "lifetime_ns.count", LIFE_COUNT },
	{ "lifetime_ns.min", LIFE_MIN },
	{ "lifetime_ns.max", LIFE_MAX },
	{ "lifetime_ns.p50", LIFE_P50 },
	{ "lifetime_ns.p99", LIFE_P99 },
	{ "lifetime_ns.histogram", LIFE_HISTOGRAM },
};

static bool ends_with(const char *text, size_t bytes, const char *end)
{
	size_t length = strlen(end);

	return bytes > length && !strncmp(text + bytes - length, end, length);
}

/* A metric or one of its bounds. */
static struct place metric_place(const char *name)
{
	size_t bytes = strlen(name);
	struct place place = { .what = VALUE };
	char text[64];

	if (ends_with(name, bytes, "_min") || ends_with(name, bytes, "_max")) {
		place.what = ends_with(name, bytes, "_min") ? VALUE_MIN : VALUE_MAX;
		bytes -= 4;
	}
	snprintf(text, sizeof(text), "%.*s", (int)bytes, name);
	place.index = km_metric_find(text);
	if (place.index == KM_METRICS)
		place.what = UNKNOWN;
	return place;
}

static struct place place_of(const struct km_run *run, const char *name)
{
	const char *ticks = strstr(name, "_ticks");
	char in_ns[64];

	if (ticks) {
		snprintf(in_ns, sizeof(in_ns), "%.*s_ns%s", (int)(ticks - name), name, ticks + 6);
		name = in_ns;
	} else if (!run->clock_is_ns && strstr(name, "_ns")) {
		return (struct place){ .what = NOTHING };
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(names[i].name, name))
			return (struct place){ .what = names[i].what };
	}
	return metric_place(name);
}

static int make_columns(struct km_run_rows *rows)
{
	static const enum km_axis axes[] = {
		[KM_RUN_SITES] = KM_AXIS_SITE, [KM_RUN_CACHES] = KM_AXIS_CACHE, [KM_RUN_GROUPS] = KM_AXIS_GROUP
	};
	bool is_group = rows->axis == KM_RUN_GROUPS;

	if (km_rows_layout(axes[rows->axis], &rows->run->by, !rows->run->clock_is_ns, &rows->layout))
		return -ENOMEM;
	for (size_t i = 0; i < rows->layout.count; i++) {
		struct place place = is_group && i < rows->run->by.count
					     ? (struct place){ .what = KEY, .index = (unsigned)i }
					     : place_of(rows->run, rows->layout.columns[i].name);

		if (place.what == UNKNOWN)
			continue;
		rows->columns[rows->count] = rows->layout.columns[i];
		if (rows->run->sources_count > 1 && place.what == VALUE && place.index == KM_METRIC_PEAK_LIVE_BYTES)
			rows->columns[rows->count].title = "sum of peaks";
		rows->places[rows->count++] = place;
	}
	return 0;
}

/* --- order --- */

static int compare(const void *x, const void *y, void *context)
{
	static const enum km_metric metrics[] = { KM_METRIC_LIVE_BYTES, KM_METRIC_LIVE_COUNT, KM_METRIC_ALLOCS_COUNT };
	const struct km_run_row *a = *(const struct km_run_row *const *)x, *b = *(const struct km_run_row *const *)y;
	const struct km_run_rows *rows = context;
	int order = 0;

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		uint64_t p = a->values[metrics[i]].value, q = b->values[metrics[i]].value;

		if (p != q)
			return p > q ? -1 : 1;
	}
	if (rows->axis == KM_RUN_SITES)
		order = strcmp(a->symbol, b->symbol);
	return order ? order : km_run_compare_rows(rows->axis, rows->run, a, b);
}

int km_run_rows_new(const struct km_run *run, enum km_run_axis axis, size_t limit, struct km_run_rows **ret_rows,
		    struct km_error *error)
{
	struct km_run_rows *rows = calloc(1, sizeof(*rows));
	size_t count = run->axes[axis].count;

	if (!rows)
		return km_error_set(error, -ENOMEM, "out of memory");
	rows->run = run;
	rows->axis = axis;
	rows->order = calloc(count ? count : 1, sizeof(*rows->order));
	if (!rows->order || make_columns(rows)) {
		km_run_rows_free(rows);
		return km_error_set(error, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < count; i++)
		rows->order[i] = run->axes[axis].rows[i];
	qsort_r(rows->order, count, sizeof(*rows->order), compare, rows);
	rows->shown = limit && limit < count ? limit : count;
	*ret_rows = rows;
	return 0;
}

void km_run_rows_free(struct km_run_rows *rows)
{
	if (!rows)
		return;
	free(rows->order);
	free(rows);
}

const struct km_column *km_run_rows_columns(const struct km_run_rows *rows, size_t *ret_count)
{
	*ret_count = rows->count;
	return rows->columns;
}

size_t km_run_rows_shown(const struct km_run_rows *rows)
{
	return rows->shown;
}

/* --- values --- */

static void set_text(struct km_cell *cell, const char *text)
{
	cell->text = text;
	cell->is_null = !text;
}

static void set_value(struct km_cell *cell, const struct km_value *value, enum what what)
{
	cell->number = what == VALUE_MIN ? value->min : what == VALUE_MAX ? value->max : value->value;
	cell->is_null = value->is_null || (what == VALUE_MAX && value->max_is_unknown);
}

static void set_lifetime(struct km_cell *cell, const struct km_histogram *h, enum what what)
{
	cell->is_null = !h->count && what != LIFE_COUNT;
	cell->number = what == LIFE_COUNT ? h->count
		       : what == LIFE_MIN ? h->min
		       : what == LIFE_MAX ? h->max
					  : km_histogram_quantile(h, what == LIFE_P50 ? 0.5 : 0.99);
}

static void fill(const struct km_run_row *row, struct place place, struct km_cell *cell)
{
	switch (place.what) {
	case NAME:
		set_text(cell, row->cache);
		break;
	case SYMBOL:
		set_text(cell, row->symbol);
		break;
	case FUNCTION:
		set_text(cell, row->function);
		break;
	case MODULE:
		set_text(cell, row->module);
		break;
	case ADDRESS:
		cell->number = row->address;
		cell->is_null = !row->has_address;
		break;
	case CACHES:
		cell->list.items = row->caches;
		cell->list.count = row->caches_count;
		break;
	case LIVE_MARK:
		set_text(cell, km_live_mark(row->live_is));
		break;
	case LIVE_IS:
		set_text(cell, km_live_is_name(row->live_is));
		break;
	case PEAK_IS:
		set_text(cell, km_peak_is_name(row->peak_is));
		break;
	case SITES_COUNT:
		set_value(cell, &row->sites_count, VALUE);
		break;
	case OBJECT_BYTES:
		set_value(cell, &row->object_bytes, VALUE);
		break;
	case PEAK_TIME:
		set_value(cell, &row->peak_time, VALUE);
		break;
	case LIFE_COUNT:
	case LIFE_MIN:
	case LIFE_MAX:
	case LIFE_P50:
	case LIFE_P99:
		set_lifetime(cell, &row->lifetimes, place.what);
		break;
	case LIFE_HISTOGRAM:
		cell->histogram = &row->lifetimes;
		break;
	case KEY:
		*cell = row->keys[place.index];
		break;
	case VALUE:
	case VALUE_MIN:
	case VALUE_MAX:
		set_value(cell, &row->values[place.index], place.what);
		break;
	case NOTHING:
	case UNKNOWN:
		cell->is_null = true;
		break;
	}
}

int km_run_rows_next(void *state, struct km_cell *cells, struct km_error *error)
{
	struct km_run_rows *rows = state;
	const struct km_run_row *row;

	(void)error;
	if (rows->at == rows->shown)
		return 0;
	row = rows->order[rows->at++];
	memset(cells, 0, rows->count * sizeof(*cells));
	for (size_t i = 0; i < rows->count; i++)
		fill(row, rows->places[i], &cells[i]);
	return 1;
}
