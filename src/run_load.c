/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a run comes from: the sections of a report, either as document.c
 * makes them of an analysis, or as JSON that was made of those. What is done
 * with a row is the same for both; only how a value is found by its name
 * differs (struct input). parts[] says which sections are read, and in which
 * order: later ones ask what earlier ones told.
 */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "intern.h"
#include "run_private.h"
#include "utf8.h"

#define SCHEMA_VERSION 1
#define NAME_BYTES     64

struct loader {
	struct km_run *run;
	struct km_error *error;
};

/* One row: an object of JSON (or the item itself of a list of texts), or cells of a section. */
struct input {
	struct loader *loader;
	const char *path; /* "sites" */
	int64_t index;    /* of the row, -1 where there is only one */
	const json_t *json;
	const struct km_column *columns; /* if json is NULL */
	const struct km_cell *cells;
	size_t count, at; /* at: where the next look-up begins, since names are asked for in about their order */
};

/* How a value may be missing. */
enum need {
	NEEDED,   /* it is there, and not null */
	NULLABLE, /* it is there */
	OPTIONAL, /* it may be missing: null */
};

struct found {
	const json_t *json;
	const struct km_cell *cell;
	enum km_type type; /* of the cell */
	bool is_null;
};

static int out_of_memory(const struct loader *loader)
{
	return km_error_set(loader->error, -ENOMEM, "out of memory");
}

/* "FILE: not a report as kmstat saves it: sites[3].live_bytes WHAT". */
static int refuse(const struct input *in, const char *name, const char *what)
{
	char index[32] = "";

	if (in->index >= 0)
		snprintf(index, sizeof(index), "[%" PRId64 "]", in->index);
	return km_error_set(in->loader->error, -EBADMSG, "%s: not a report as kmstat saves it: %s%s%s%s %s",
			    in->loader->run->name, in->path, index, *name && *in->path ? "." : "", name, what);
}

/* --- values by name --- */

/* "lifetime_ns.count" is key count of object lifetime_ns. */
static const json_t *find_json(const json_t *object, const char *name)
{
	const char *dot = strchr(name, '.');
	char outer[NAME_BYTES];

	if (!*name)
		return object;
	if (!dot)
		return json_object_get(object, name);
	snprintf(outer, sizeof(outer), "%.*s", (int)(dot - name), name);
	return json_object_get(json_object_get(object, outer), dot + 1);
}

static const struct km_cell *find_cell(struct input *in, const char *name, enum km_type *ret_type)
{
	for (size_t i = 0; i < in->count; i++) {
		size_t at = in->at + i < in->count ? in->at + i : in->at + i - in->count;

		if (!*name || !strcmp(in->columns[at].name, name)) {
			in->at = at + 1 < in->count ? at + 1 : 0;
			*ret_type = in->columns[at].type;
			return &in->cells[at];
		}
	}
	return NULL;
}

static int find(struct input *in, const char *name, enum need need, struct found *found)
{
	bool is_missing;

	*found = (struct found){ .json = NULL };
	if (in->json) {
		found->json = find_json(in->json, name);
		is_missing = !found->json;
		found->is_null = is_missing || json_is_null(found->json);
	} else {
		found->cell = find_cell(in, name, &found->type);
		is_missing = !found->cell;
		found->is_null =
			is_missing || found->cell->is_null || (found->type == KM_TYPE_STRING && !found->cell->text);
	}
	if (is_missing && need != OPTIONAL)
		return refuse(in, name, in->index >= 0 ? "is missing (was it saved with --fields?)" : "is missing");
	if (found->is_null && need == NEEDED)
		return refuse(in, name, "is null");
	return 0;
}

static int get_value(struct input *in, const char *name, enum need need, struct km_value *ret_value)
{
	struct found found;
	int r = find(in, name, need, &found);

	*ret_value = km_run_null();
	if (r || found.is_null)
		return r;
	if (found.cell) {
		*ret_value = km_run_exact(found.cell->number);
		return 0;
	}
	if (!json_is_integer(found.json) || json_integer_value(found.json) < 0)
		return refuse(in, name, "is not a number from 0 on");
	*ret_value = km_run_exact((uint64_t)json_integer_value(found.json));
	return 0;
}

static int get_number(struct input *in, const char *name, enum need need, uint64_t *ret_number)
{
	struct km_value value;
	int r = get_value(in, name, need, &value);

	*ret_number = value.value;
	return r;
}

/* Borrowed; NULL for null. */
static int get_text(struct input *in, const char *name, enum need need, const char **ret_text)
{
	struct found found;
	int r = find(in, name, need, &found);

	*ret_text = NULL;
	if (r || found.is_null)
		return r;
	if (found.cell)
		*ret_text = found.cell->text;
	else if (json_is_string(found.json))
		*ret_text = json_string_value(found.json);
	else
		return refuse(in, name, "is not a text");
	return 0;
}

/* A text of a source or a warning: a copy of its own. */
static int get_copy(struct input *in, const char *name, enum need need, const char **ret_text)
{
	const char *text;
	int r = get_text(in, name, need, &text);

	if (r || !text)
		return r;
	*ret_text = strdup(text);
	return *ret_text ? 0 : out_of_memory(in->loader);
}

static int get_kept(struct input *in, const char *name, enum need need, const char **ret_text)
{
	bool failed = false;
	const char *text;
	int r = get_text(in, name, need, &text);

	if (r)
		return r;
	*ret_text = km_run_keep(in->loader->run, text, &failed);
	return failed ? km_error_set(in->loader->error, -ENOSPC, "%s: out of memory, or more than %u different names",
				     in->loader->run->name, KM_INTERN_LIMIT)
		      : 0;
}

static int get_flag(struct input *in, const char *name, enum need need, bool *ret_flag)
{
	struct found found;
	int r = find(in, name, need, &found);

	*ret_flag = false;
	if (r || found.is_null)
		return r;
	if (!found.cell && !json_is_boolean(found.json))
		return refuse(in, name, "is neither true nor false");
	*ret_flag = found.cell ? found.cell->flag : json_is_true(found.json);
	return 0;
}

/* One of `count` words, by index. */
static int get_word(struct input *in, const char *name, const char *(*word)(unsigned), unsigned count,
		    unsigned *ret_index)
{
	const char *text;
	int r = get_text(in, name, NEEDED, &text);

	if (r)
		return r;
	for (*ret_index = 0; *ret_index < count; ++*ret_index) {
		if (!strcmp(word(*ret_index), text))
			return 0;
	}
	return refuse(in, name, "is no word that is known here");
}

static const char *live_word(unsigned i)
{
	return km_live_is_name((enum km_live_is)i);
}

static const char *peak_word(unsigned i)
{
	return i > KM_PEAK_UNCERTAIN ? "estimated" : km_peak_is_name((enum km_peak_is)i);
}

static const char *lost_word(unsigned i)
{
	return km_lost_is_name((enum km_lost_is)i);
}

static const char *completeness_word(unsigned i)
{
	return km_completeness_name((enum km_completeness)i);
}

static const char *symbols_word(unsigned i)
{
	return km_symbols_state_name((enum km_symbols_state)i);
}

/* The name of a time where the clock is not in ns: "first_ns", "first_ticks"; "lifetime_ns.min" likewise. */
static const char *in_unit(const struct input *in, const char *name, char *text)
{
	const char *unit = strstr(name, "_ns");

	if (in->loader->run->clock_is_ns || !unit)
		return name;
	snprintf(text, NAME_BYTES, "%.*s_ticks%s", (int)(unit - name), name, unit + 3);
	return text;
}

static int get_time(struct input *in, const char *name, enum need need, struct km_value *ret_value)
{
	char text[NAME_BYTES];

	return get_value(in, in_unit(in, name, text), need, ret_value);
}

/* --- lifetimes --- */

/* [[bin, count], ...], bins ascending. */
static int read_bins(struct input *in, const char *name, const json_t *array, struct km_histogram *h)
{
	uint64_t bins[KM_HISTOGRAM_BINS] = { 0 }, total = 0;
	int64_t last = -1, first = -1;
	const json_t *pair;
	size_t i;

	json_array_foreach(array, i, pair)
	{
		const json_t *bin = json_array_get(pair, 0), *count = json_array_get(pair, 1);
		json_int_t at = json_integer_value(bin), n = json_integer_value(count);

		if (!json_is_integer(bin) || !json_is_integer(count) || at <= last || at >= KM_HISTOGRAM_BINS || n <= 0)
			return refuse(in, name, "is no histogram");
		if (__builtin_add_overflow(total, (uint64_t)n, &total))
			return refuse(in, name, "is no histogram");
		bins[at] = (uint64_t)n;
		first = first < 0 ? at : first;
		last = at;
	}
	if (total != h->count || (total && h->min > h->max))
		return refuse(in, name, "does not agree with the count beside it");
	if (!total)
		return 0;
	h->first = (uint16_t)first;
	h->length = (uint16_t)(last - first + 1);
	h->bins = calloc(h->length, sizeof(*h->bins));
	if (!h->bins)
		return out_of_memory(in->loader);
	memcpy(h->bins, bins + first, h->length * sizeof(*h->bins));
	return 0;
}

static int get_lifetimes(struct input *in, struct km_histogram *into)
{
	char text[NAME_BYTES];
	const char *name = in_unit(in, "lifetime_ns.histogram", text);
	struct km_histogram h = { 0 };
	struct km_value count, min, max;
	struct found found;
	int r = find(in, name, NEEDED, &found);

	if (r)
		return r;
	if (found.cell)
		return km_histogram_merge(into, found.cell->histogram) ? out_of_memory(in->loader) : 0;
	r = get_time(in, "lifetime_ns.count", NEEDED, &count);
	if (!r)
		r = get_time(in, "lifetime_ns.min", NULLABLE, &min);
	if (!r)
		r = get_time(in, "lifetime_ns.max", NULLABLE, &max);
	if (r)
		return r;
	if (!json_is_array(found.json))
		return refuse(in, name, "is no histogram");
	h.count = count.value;
	h.min = min.value;
	h.max = max.value;
	r = read_bins(in, name, found.json, &h);
	if (!r && km_histogram_merge(into, &h))
		r = out_of_memory(in->loader);
	km_histogram_release(&h);
	return r;
}

/* --- rows --- */

/* Reports of before there were bounds have none: live_is tells what it can. */
static int get_bounds(struct input *in, const char *name, struct km_value *value, const struct km_bounds *otherwise)
{
	char min_name[NAME_BYTES], max_name[NAME_BYTES];
	struct km_value min, max;
	struct found found;
	int r;

	snprintf(min_name, sizeof(min_name), "%s_min", name);
	snprintf(max_name, sizeof(max_name), "%s_max", name);
	r = find(in, min_name, OPTIONAL, &found);
	if (r)
		return r;
	if (found.is_null) {
		value->min = otherwise->min;
		value->max = otherwise->max;
		value->max_is_unknown = otherwise->max_is_unknown;
		return 0;
	}
	r = get_value(in, min_name, NEEDED, &min);
	if (!r)
		r = get_value(in, max_name, NULLABLE, &max);
	if (r)
		return r;
	if (min.value > value->value || (!max.is_null && max.value < value->value))
		return refuse(in, name, "is not between its bounds");
	value->min = min.value;
	value->max = max.value;
	value->max_is_unknown = max.is_null;
	return 0;
}

static int get_all_bounds(struct input *in, struct km_run_row *row)
{
	static const enum km_metric metrics[] = { KM_METRIC_LIVE_BYTES, KM_METRIC_LIVE_COUNT, KM_METRIC_PEAK_LIVE_BYTES,
						  KM_METRIC_PEAK_LIVE_COUNT };
	int r = 0;

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]) && !r; i++) {
		const struct km_metric_info *info = &km_metrics[metrics[i]];
		enum km_metric over =
			info->type == KM_TYPE_BYTES ? KM_METRIC_OVERFLOWED_BYTES : KM_METRIC_OVERFLOWED_COUNT;
		struct km_value *value = &row->values[metrics[i]];
		struct km_bounds otherwise = km_live_bounds(row->live_is, true, value->value, row->values[over].value);

		if (info->kind == KM_METRIC_IS_PEAK && row->peak_is & KM_PEAK_AT_MOST)
			otherwise.min = 0;
		if (info->kind == KM_METRIC_IS_PEAK && row->peak_is & KM_PEAK_AT_LEAST) {
			otherwise.max = 0;
			otherwise.max_is_unknown = true;
		}
		r = get_bounds(in, info->name, value, &otherwise);
	}
	km_run_set_bounds(row);
	return r;
}

/* Of a site: what no verdict can be given on may all be leaked. */
static void bound_leaks(struct km_run_row *row, enum km_metric metric, enum km_metric live)
{
	struct km_value *value = &row->values[metric];

	if (value->is_null || row->live_is == KM_LIVE_CONSISTENT || row->live_is == KM_LIVE_UPPER_BOUND)
		return;
	value->max = row->values[live].max;
	value->max_is_unknown = row->values[live].max_is_unknown;
}

/* Of the whole. */
static int get_leaks_bound(struct input *in, const char *max_name, struct km_value *value)
{
	struct km_value max;
	int r;

	if (value->is_null)
		return 0;
	r = get_value(in, max_name, NULLABLE, &max);
	if (r)
		return r;
	if (!max.is_null && max.value < value->value)
		return refuse(in, max_name, "is less than what there is");
	value->max = max.value;
	value->max_is_unknown = max.is_null;
	return 0;
}

static int get_metrics(struct input *in, struct km_run_row *row, bool is_total)
{
	unsigned live_is, peak_is = KM_PEAK_EXACT;
	struct found found;
	int r = 0;

	for (unsigned i = 0; i < KM_METRICS && !r; i++) {
		const struct km_metric_info *info = &km_metrics[i];
		const char *name = is_total ? info->total_name : info->is_of_rows ? info->name : NULL;
		enum need need = info->kind == KM_METRIC_IS_AGE    ? NULLABLE
				 : i == KM_METRIC_RESET_COUNT      ? OPTIONAL
				 : info->kind == KM_METRIC_IS_LEAK ? OPTIONAL
								   : NEEDED;

		row->values[i] = km_run_null();
		if (name)
			r = get_time(in, name, need, &row->values[i]);
	}
	if (!r)
		r = get_word(in, "live_is", live_word, KM_LIVE_ESTIMATED + 1, &live_is);
	if (!r)
		r = find(in, "peak_is", OPTIONAL, &found);
	if (!r && !found.is_null)
		r = get_word(in, "peak_is", peak_word, KM_PEAK_UNCERTAIN + 2, &peak_is);
	if (!r)
		r = get_time(in, "peak_time_ns", OPTIONAL, &row->peak_time);
	if (r)
		return r;
	row->live_is = (enum km_live_is)live_is;
	row->peak_is = peak_is > KM_PEAK_UNCERTAIN ? KM_PEAK_UNCERTAIN : (enum km_peak_is)peak_is;
	if (is_total)
		row->values[KM_METRIC_AT_PEAK_BYTES] = km_run_exact(row->values[KM_METRIC_PEAK_LIVE_BYTES].value);
	r = get_all_bounds(in, row);
	if (!r && !is_total) {
		bound_leaks(row, KM_METRIC_LEAKS_COUNT, KM_METRIC_LIVE_COUNT);
		bound_leaks(row, KM_METRIC_LEAKS_BYTES, KM_METRIC_LIVE_BYTES);
	}
	return r;
}

static int take_totals(struct input *in)
{
	struct km_run_row *row = &in->loader->run->totals;
	int r;

	row->sites_count = row->object_bytes = km_run_null();
	r = get_metrics(in, row, true);
	if (!r)
		r = get_leaks_bound(in, "leaks_count_max", &row->values[KM_METRIC_LEAKS_COUNT]);
	if (!r)
		r = get_leaks_bound(in, "leaks_bytes_max", &row->values[KM_METRIC_LEAKS_BYTES]);
	return r ? r : get_time(in, "peak_live_count_time_ns", OPTIONAL, &row->peak_count_time);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int get_caches(struct input *in, struct km_run_row *row)
{
	struct found found;
	size_t count;
	int r = find(in, "caches", NEEDED, &found);

	if (r)
		return r;
	if (!found.cell && !json_is_array(found.json))
		return refuse(in, "caches", "is no list");
	count = found.cell ? found.cell->list.count : json_array_size(found.json);
	if (count > KM_RUN_SITE_CACHES)
		return refuse(in, "caches", "is too long");
	row->caches = calloc(count ? count : 1, sizeof(*row->caches));
	if (!row->caches)
		return out_of_memory(in->loader);
	for (size_t i = 0; i < count; i++) {
		bool failed = false;
		const char *text =
			found.cell ? found.cell->list.items[i] : json_string_value(json_array_get(found.json, i));

		if (!text)
			return refuse(in, "caches", "is no list of texts");
		row->caches[row->caches_count++] = km_run_keep(in->loader->run, text, &failed);
		if (failed)
			return out_of_memory(in->loader);
	}
	qsort(row->caches, row->caches_count, sizeof(*row->caches), compare_texts);
	return 0;
}

static int get_address(struct input *in, struct km_run_row *row)
{
	struct found found;
	const char *text;
	char *end;
	int r = find(in, "address", NULLABLE, &found);

	if (r || found.is_null)
		return r;
	row->has_address = true;
	if (found.cell) {
		row->address = found.cell->number;
		return 0;
	}
	text = json_string_value(found.json);
	errno = 0;
	row->address = text ? strtoull(text, &end, 16) : 0;
	return !text || strncmp(text, "0x", 2) != 0 || !text[2] || *end || errno
		       ? refuse(in, "address", "is no \"0x\" address")
		       : 0;
}

/* A new row with its metrics and lifetimes. */
static int take_row(struct input *in, enum km_run_axis axis, struct km_run_row **ret_row)
{
	struct km_run_row *row;
	int r;

	if (in->index > (int64_t)KM_KEYS_LIMIT)
		return refuse(in, "", "is one row too many");
	row = km_run_add_row(in->loader->run, axis);
	if (!row)
		return out_of_memory(in->loader);
	*ret_row = row;
	r = get_metrics(in, row, false);
	if (!r && axis != KM_RUN_SITES)
		r = get_value(in, "sites_count", NULLABLE, &row->sites_count);
	return r ? r : get_lifetimes(in, &row->lifetimes);
}

static int take_site(struct input *in)
{
	struct km_run_row *row;
	int r = take_row(in, KM_RUN_SITES, &row);

	if (!r)
		r = get_kept(in, "symbol", NEEDED, &row->symbol);
	if (!r)
		r = get_kept(in, "function", NEEDED, &row->function);
	if (!r)
		r = get_kept(in, "module", NULLABLE, &row->module);
	if (!r)
		r = get_address(in, row);
	if (r)
		return r;
	r = get_caches(in, row);
	if (!r && km_histogram_merge(&in->loader->run->totals.lifetimes, &row->lifetimes))
		r = out_of_memory(in->loader);
	return r;
}

static int take_cache(struct input *in)
{
	struct km_run_row *row;
	int r = take_row(in, KM_RUN_CACHES, &row);

	if (!r)
		r = get_kept(in, "name", NEEDED, &row->cache);
	return r ? r : get_value(in, "object_bytes", NULLABLE, &row->object_bytes);
}

/* --- groups --- */

/* "by": a list of fields. */
static int take_by(struct input *in)
{
	struct km_run *run = in->loader->run;
	struct km_by_list one;
	const char *text;
	int r = get_text(in, "", NEEDED, &text);

	if (r)
		return r;
	if (km_by_parse(text, &one, NULL) || one.count != 1 || run->by.count == KM_BY_LIMIT)
		return refuse(in, "", "is no field of --by");
	run->by.fields[run->by.count++] = one.fields[0];
	return 0;
}

/* Before "by" was saved, the keys of a row had to tell. */
static int guess_by(struct input *in)
{
	const json_t *keys = json_object_get(in->json, "key");
	struct input item = *in;
	void *at = json_object_iter((json_t *)(uintptr_t)keys);
	int r = 0;

	for (; at && !r; at = json_object_iter_next((json_t *)(uintptr_t)keys, at)) {
		json_t *name = json_string(json_object_iter_key(at));

		item.json = name;
		r = name ? take_by(&item) : out_of_memory(in->loader);
		json_decref(name);
	}
	return r;
}

static int get_integer(struct input *in, const char *name, struct km_cell *ret_cell)
{
	struct found found;
	int r = find(in, name, NULLABLE, &found);

	ret_cell->is_null = found.is_null;
	if (r || found.is_null)
		return r;
	if (!found.cell && !json_is_integer(found.json))
		return refuse(in, name, "is not an integer");
	ret_cell->integer = found.cell ? found.cell->integer : (int64_t)json_integer_value(found.json);
	return 0;
}

static int get_key(struct input *in, enum km_by field, struct km_cell *ret_cell)
{
	char name[NAME_BYTES];
	struct km_value value;
	int r;

	snprintf(name, sizeof(name), "key.%s", km_by_columns[field].name);
	switch (km_by_columns[field].type) {
	case KM_TYPE_STRING:
		r = get_kept(in, name, NULLABLE, &ret_cell->text);
		ret_cell->is_null = !ret_cell->text;
		return r;
	case KM_TYPE_INTEGER:
		return get_integer(in, name, ret_cell);
	default:
		r = get_value(in, name, NULLABLE, &value);
		ret_cell->is_null = value.is_null;
		ret_cell->number = value.value;
		return r;
	}
}

static int take_group(struct input *in)
{
	struct km_run *run = in->loader->run;
	struct km_run_row *row;
	int r = 0;

	if (!run->by.count && in->json)
		r = guess_by(in);
	if (!r)
		r = take_row(in, KM_RUN_GROUPS, &row);
	for (unsigned i = 0; i < run->by.count && !r; i++)
		r = get_key(in, run->by.fields[i], &row->keys[i]);
	return r;
}

/* --- what was recorded, what was lost --- */

/* The report's own object. */
static int take_head(struct input *in)
{
	struct km_run *run = in->loader->run;
	const char *domain, *sites_by;
	bool truncated;
	int r = get_flag(in, "truncated", NEEDED, &truncated);

	if (!r)
		r = get_text(in, "domain", NEEDED, &domain);
	if (!r)
		r = get_text(in, "sites_by", OPTIONAL, &sites_by);
	if (r)
		return r;
	if (truncated)
		return km_error_set(in->loader->error, -ENOTSUP,
				    "%s: rows were left out of this report; save it without --limit", run->name);
	if (strcmp(domain, "slab") != 0)
		return km_error_set(in->loader->error, -ENOTSUP,
				    "%s: a report of \"%.40s\", which this version does not know", run->name, domain);
	run->sites_by_function = sites_by && !strcmp(sites_by, "function");
	return 0;
}

static int get_source(struct input *in, struct km_run_source *source)
{
	static const struct {
		const char *name;
		size_t offset;
		enum need need;
	} texts[] = {
		{ "file", offsetof(struct km_run_source, file), NEEDED },
		{ "format", offsetof(struct km_run_source, format), NEEDED },
		{ "kernel", offsetof(struct km_run_source, kernel), NULLABLE },
		{ "recorder", offsetof(struct km_run_source, recorder), OPTIONAL },
		{ "clock", offsetof(struct km_run_source, clock), NULLABLE },
		{ "buffer", offsetof(struct km_run_source, buffer), NEEDED },
	}, numbers[] = {
		{ "cpus_count", offsetof(struct km_run_source, cpus_count), NEEDED },
		{ "events_count", offsetof(struct km_run_source, events_count), NEEDED },
		{ "word_bytes", offsetof(struct km_run_source, word_bytes), OPTIONAL },
		{ "page_bytes", offsetof(struct km_run_source, page_bytes), OPTIONAL },
	}, times[] = {
		{ "start", offsetof(struct km_run_source, start), NEEDED },
		{ "end", offsetof(struct km_run_source, end), NEEDED },
		{ "duration", offsetof(struct km_run_source, duration), NEEDED },
	};
	struct km_value start;
	char name[NAME_BYTES];
	int r = get_value(in, "start_ns", NULLABLE, &start);

	source->clock_is_ns = !start.is_null;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && !r; i++)
		r = get_copy(in, texts[i].name, texts[i].need, (const char **)((char *)source + texts[i].offset));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && !r; i++)
		r = get_number(in, numbers[i].name, numbers[i].need, (uint64_t *)((char *)source + numbers[i].offset));
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]) && !r; i++) {
		snprintf(name, sizeof(name), "%s_%s", times[i].name, source->clock_is_ns ? "ns" : "ticks");
		r = get_number(in, name, NEEDED, (uint64_t *)((char *)source + times[i].offset));
	}
	if (!r)
		r = get_flag(in, "clock_is_coherent", OPTIONAL, &source->clock_is_coherent);
	return r ? r : get_flag(in, "big_endian", OPTIONAL, &source->big_endian);
}

static int take_source(struct input *in)
{
	struct km_run *run = in->loader->run;
	struct km_run_source *source;
	int r;

	if (km_run_grow(&run->sources, run->sources_count, sizeof(*run->sources)))
		return out_of_memory(in->loader);
	source = &run->sources[run->sources_count++];
	memset(source, 0, sizeof(*source));
	r = get_source(in, source);
	run->clock_is_ns = source->clock_is_ns;
	if (!r && source->clock_is_ns != run->sources[0].clock_is_ns)
		return refuse(in, "start_ns", "is of another unit than that of the first source");
	return r;
}

/* A pattern may hold any bytes. */
static json_t *clean_string(const char *text)
{
	size_t bytes = strlen(text) * (sizeof(KM_UTF8_REPLACEMENT) - 1) + 1;
	char *clean = malloc(bytes);
	json_t *string = NULL;

	if (clean) {
		km_utf8_clean(text, clean, bytes);
		string = json_string(clean);
	}
	free(clean);
	return string;
}

/* Conditions as an object of JSON, whichever way they came; then as text with sorted keys. */
static int take_filters(struct input *in)
{
	json_t *object = in->json ? json_deep_copy(in->json) : json_object();
	char *text = NULL;
	const char *key;
	json_t *condition;

	json_object_foreach(object, key, condition)
	{
		if (json_is_string(condition) || json_is_integer(condition) || json_is_null(condition))
			continue;
		json_decref(object);
		return refuse(in, "", "has a condition that is neither text nor number");
	}
	for (size_t i = 0; object && !in->json && i < in->count; i++) {
		const struct km_cell *cell = &in->cells[i];
		json_t *value = cell->is_null                           ? json_null()
				: in->columns[i].type == KM_TYPE_STRING ? clean_string(cell->text)
									: json_integer((json_int_t)cell->number);

		if (json_object_set_new(object, in->columns[i].name, value)) {
			json_decref(object);
			object = NULL;
		}
	}
	if (object)
		text = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(object);
	in->loader->run->filters = text;
	return text ? 0 : out_of_memory(in->loader);
}

static int take_overflow(struct input *in)
{
	struct km_run_overflow *o = &in->loader->run->overflow;
	const struct {
		const char *name;
		uint64_t *number;
	} numbers[] = {
		{ "capacity_count", &o->capacity_count },       { "memory_bytes", &o->memory_bytes },
		{ "memory_peak_bytes", &o->memory_peak_bytes }, { "peak_count", &o->peak_count },
		{ "overflowed_count", &o->overflowed_count },   { "overflowed_bytes", &o->overflowed_bytes },
		{ "episodes_count", &o->episodes_count },       { "estimated_peak_count", &o->estimated_peak_count },
		{ "recommended_count", &o->recommended_count },
	};
	struct km_value first = km_run_null(), longest = km_run_null();
	const char *when_full;
	int r = get_flag(in, "fixed", NEEDED, &o->fixed);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && !r; i++)
		r = get_number(in, numbers[i].name, NEEDED, numbers[i].number);
	if (!r)
		r = get_text(in, "when_full", NEEDED, &when_full);
	if (!r)
		r = get_time(in, "first_ns", NULLABLE, &first);
	if (!r)
		r = get_time(in, "longest_episode_ns", NULLABLE, &longest);
	if (r)
		return r;
	o->samples = !strcmp(when_full, "sample");
	o->first = first.value;
	o->longest_episode = longest.value;
	return 0;
}

static int take_health(struct input *in)
{
	struct km_run *run = in->loader->run;
	unsigned lost_is, symbols;
	int r = get_number(in, "lost_events_count", NULLABLE, &run->lost_events_count);

	if (!r)
		r = get_word(in, "lost_is", lost_word, KM_LOST_UNKNOWN + 1, &lost_is);
	if (!r)
		r = get_word(in, "symbols", symbols_word, KM_SYMBOLS_USABLE + 1, &symbols);
	if (r)
		return r;
	run->lost_is = (enum km_lost_is)lost_is;
	run->symbols = (enum km_symbols_state)symbols;
	return 0;
}

static int take_flag(struct input *in)
{
	unsigned flag;
	int r = get_word(in, "", completeness_word, KM_COMPLETENESS_KINDS, &flag);

	if (!r)
		in->loader->run->flags[flag] = true;
	return r;
}

static int take_warning(struct input *in)
{
	struct km_run *run = in->loader->run;
	struct km_run_warning *warning;
	struct km_value sources;
	int r;

	if (km_run_grow(&run->warnings, run->warnings_count, sizeof(*run->warnings)))
		return out_of_memory(in->loader);
	warning = &run->warnings[run->warnings_count++];
	memset(warning, 0, sizeof(*warning));
	r = get_copy(in, "code", NEEDED, &warning->code);
	if (!r)
		r = get_copy(in, "text", NEEDED, &warning->text);
	if (!r)
		r = get_value(in, "sources_count", OPTIONAL, &sources);
	if (!r)
		warning->sources_count = sources.is_null ? 1 : sources.value;
	return r;
}

static int take_replay(struct input *in)
{
	int r = 0;

	for (unsigned i = 0; i < KM_RUN_REPLAYED && !r; i++)
		r = get_number(in, km_run_replayed_name((enum km_run_replayed)i), NEEDED,
			       &in->loader->run->replayed[i]);
	return r;
}

static int take_unmatched(struct input *in)
{
	struct km_run *run = in->loader->run;
	struct km_run_unmatched *unmatched;
	int r;

	if (km_run_grow(&run->unmatched, run->unmatched_count, sizeof(*run->unmatched)))
		return out_of_memory(in->loader);
	unmatched = &run->unmatched[run->unmatched_count++];
	memset(unmatched, 0, sizeof(*unmatched));
	r = get_kept(in, "cache", NEEDED, &unmatched->cache);
	return r ? r : get_number(in, "unmatched_frees_count", NEEDED, &unmatched->count);
}

/* --- both ways in --- */

static const struct part {
	const char *path;
	int (*take)(struct input *in);
	bool is_list;
	bool is_optional;
} parts[] = {
	{ "", take_head, false, false },
	{ "sources", take_source, true, false }, /* tells the unit of times */
	{ "filters", take_filters, false, false },
	{ "totals", take_totals, false, false },
	{ "sites", take_site, true, false },
	{ "caches", take_cache, true, false },
	{ "by", take_by, true, true }, /* tells the keys of groups */
	{ "groups", take_group, true, true },
	{ "overflow", take_overflow, false, false },
	{ "health", take_health, false, false },
	{ "health.completeness_flags", take_flag, true, false },
	{ "health.warnings", take_warning, true, false },
	{ "health.replay", take_replay, false, false },
	{ "health.unmatched_caches", take_unmatched, true, false },
};

static int compare_warnings(const void *a, const void *b)
{
	return strcmp(((const struct km_run_warning *)a)->code, ((const struct km_run_warning *)b)->code);
}

static int compare_unmatched(const void *a, const void *b)
{
	return strcmp(((const struct km_run_unmatched *)a)->cache, ((const struct km_run_unmatched *)b)->cache);
}

static int finish(struct loader *loader)
{
	struct km_run *run = loader->run;
	int r = 0;

	if (!run->sources_count)
		return km_error_set(loader->error, -EBADMSG, "%s: not a report as kmstat saves it: it has no sources",
				    run->name);
	for (unsigned axis = 0; axis <= KM_RUN_GROUPS && !r; axis++)
		r = km_run_settle(run, (enum km_run_axis)axis, loader->error);
	if (run->warnings_count)
		qsort(run->warnings, run->warnings_count, sizeof(*run->warnings), compare_warnings);
	if (run->unmatched_count)
		qsort(run->unmatched, run->unmatched_count, sizeof(*run->unmatched), compare_unmatched);
	if (!r)
		km_run_finish(run);
	return r;
}

static int take_section(struct loader *loader, const struct part *part, const struct km_section *section)
{
	struct km_cell *cells = calloc(section->columns_count ? section->columns_count : 1, sizeof(*cells));
	struct input in = { .loader = loader,
			    .path = part->path,
			    .index = part->is_list ? 0 : -1,
			    .columns = section->columns,
			    .cells = cells,
			    .count = section->columns_count };
	int r = cells ? 1 : out_of_memory(loader);

	while (r > 0) {
		r = section->next(section->state, cells, loader->error);
		if (r > 0) {
			int taken = part->take(&in);

			r = taken ? taken : r;
			in.index += part->is_list;
		}
	}
	free(cells);
	return r;
}

int km_run_from_analysis(const struct km_analysis *analysis, struct km_run **ret_run, struct km_error *error)
{
	const struct km_document_options options = { .audience = KM_FOR_MACHINES };
	struct loader loader = { .error = error };
	struct km_document document;
	int r = km_document_report(&document, analysis, &options, error);

	if (r)
		return r;
	loader.run = km_run_new(km_source_name(analysis->reader->source));
	if (!loader.run)
		r = out_of_memory(&loader);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !r; i++) {
		for (size_t s = 0; s < document.report.sections_count && !r; s++) {
			if (!strcmp(document.report.sections[s].path, parts[i].path))
				r = take_section(&loader, &parts[i], &document.report.sections[s]);
		}
	}
	if (!r)
		r = finish(&loader);
	km_document_release(&document);
	if (r)
		km_run_release(loader.run);
	else
		*ret_run = loader.run;
	return r;
}

static int take_json(struct loader *loader, const struct part *part, const json_t *root)
{
	const json_t *value = find_json(root, part->path);
	struct input in = { .loader = loader, .path = part->path, .index = -1, .json = value };
	const json_t *item;
	size_t i;
	int r;

	if (!value && part->is_optional)
		return 0;
	if (!value || !(part->is_list ? json_is_array(value) : json_is_object(value)))
		return refuse(&in, "", value ? "is of another kind" : "is missing");
	if (!part->is_list)
		return part->take(&in);
	json_array_foreach(value, i, item)
	{
		in.json = item;
		in.index = (int64_t)i;
		r = part->take(&in);
		if (r)
			return r;
	}
	return 0;
}

static int check_schema(const struct loader *loader, const json_t *root)
{
	const char *schema = json_string_value(json_object_get(root, "schema"));
	json_int_t version = json_integer_value(json_object_get(root, "schema_version"));
	const char *name = loader->run->name;

	if (!schema || strncmp(schema, "kmstat.", 7) != 0)
		return km_error_set(loader->error, -EBADMSG,
				    "%s: JSON, but not of kmstat; save a report with `kmstat report --json`", name);
	if (!strcmp(schema, "kmstat.reports"))
		return km_error_set(loader->error, -ENOTSUP,
				    "%s: reports of several buffers; save one, with --buffer NAME", name);
	if (strcmp(schema, "kmstat.report") != 0)
		return km_error_set(loader->error, -ENOTSUP,
				    "%s: a %.40s, not a report; save one with `kmstat report --json`", name, schema);
	if (version < 1 || version > SCHEMA_VERSION)
		return km_error_set(loader->error, -ENOTSUP,
				    "%s: schema version %" JSON_INTEGER_FORMAT
				    " of reports; this kmstat knows up to %d",
				    name, version, SCHEMA_VERSION);
	return 0;
}

/* --- reading JSON --- */

struct stream {
	struct km_source *source;
	uint64_t offset;
	struct km_error error;
	int code;
};

static size_t read_more(void *buffer, size_t bytes, void *context)
{
	struct stream *stream = context;
	int64_t n = km_source_read_at(stream->source, stream->offset, buffer, bytes, &stream->error);

	if (n > 0 && stream->offset + (uint64_t)n > KM_RUN_FILE_BYTES_LIMIT)
		n = km_error_set(&stream->error, -EFBIG, "%s: larger than a report can be",
				 km_source_name(stream->source));
	if (n < 0) {
		stream->code = (int)n;
		return (size_t)-1;
	}
	stream->offset += (uint64_t)n;
	return (size_t)n;
}

static int load_json(struct loader *loader, struct km_source *source, json_t **ret_root)
{
	struct stream stream = { .source = source };
	json_error_t error;
	json_t *root = json_load_callback(read_more, &stream, JSON_REJECT_DUPLICATES, &error);

	if (stream.code) {
		json_decref(root);
		return km_error_set(loader->error, stream.code, "%s", stream.error.text);
	}
	if (!root)
		return km_error_set(loader->error, -EBADMSG, "%s: not JSON, or cut short: line %d: %s",
				    loader->run->name, error.line, error.text);
	*ret_root = root;
	return 0;
}

int km_run_load(struct km_source *source, struct km_run **ret_run, struct km_error *error)
{
	struct loader loader = { .run = km_run_new(km_source_name(source)), .error = error };
	json_t *root = NULL;
	int r;

	if (!loader.run)
		return out_of_memory(&loader);
	r = load_json(&loader, source, &root);
	if (!r)
		r = check_schema(&loader, root);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !r; i++)
		r = take_json(&loader, &parts[i], root);
	json_decref(root);
	if (!r)
		r = finish(&loader);
	if (r)
		km_run_release(loader.run);
	else
		*ret_run = loader.run;
	return r;
}

int km_run_is_saved(struct km_source *source, struct km_error *error)
{
	char bytes[4096];
	int64_t n = km_source_read_some(source, 0, bytes, sizeof(bytes), 1, error);

	if (n < 0)
		return (int)n;
	for (int64_t i = 0; i < n; i++) {
		if (!strchr(" \t\r\n", bytes[i]) || !bytes[i])
			return bytes[i] == '{';
	}
	return 0;
}
