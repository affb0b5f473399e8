/* SPDX-License-Identifier: GPL-2.0-only */
#include "document.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document_private.h"
#include "format.h"

#define PEOPLE_SITES   20
#define PEOPLE_CACHES  15
#define PEOPLE_OBJECTS 5
#define PEOPLE_TALLIES 10

/* --- the list of sections --- */

struct km_record *km_document_record(struct document_state *state)
{
	struct km_record *record = state->records_count < SECTIONS_LIMIT ? km_record_new() : NULL;

	if (record)
		state->records[state->records_count++] = record;
	else
		state->failed = true;
	return record;
}

struct km_section *km_document_add_section(struct document_state *state, struct km_section section)
{
	if (state->sections_count == SECTIONS_LIMIT) {
		state->failed = true;
		return NULL;
	}
	state->sections[state->sections_count] = section;
	return &state->sections[state->sections_count++];
}

void km_document_add(struct document_state *state, struct km_record *record, const char *path, const char *title,
		     enum km_shape shape, unsigned audience)
{
	struct km_section section;

	if (!record || km_record_section(record, path, title, shape, audience, &section, NULL))
		state->failed = true;
	else
		km_document_add_section(state, section);
}

const char *km_document_note(struct document_state *state, const char *format, ...)
{
	va_list arguments;
	char *note;

	if (state->notes_count == sizeof(state->notes) / sizeof(state->notes[0]))
		return NULL;
	note = state->notes[state->notes_count++];
	va_start(arguments, format);
	vsnprintf(note, sizeof(state->notes[0]), format, arguments);
	va_end(arguments);
	return note;
}

void km_document_time(struct km_record *record, const struct km_buffer_info *buffer, const char *name_ns,
		      const char *name_ticks, uint64_t value, bool is_null)
{
	if (buffer->unit == KM_CLOCK_NS) {
		if (is_null)
			km_record_null(record, name_ns, KM_TYPE_DURATION);
		else
			km_record_number(record, name_ns, KM_TYPE_DURATION, value);
		return;
	}
	km_record_null(record, name_ns, KM_TYPE_DURATION);
	if (is_null)
		km_record_null(record, name_ticks, KM_TYPE_TICKS);
	else
		km_record_number(record, name_ticks, KM_TYPE_TICKS, value);
}

int km_document_begin(struct km_document *document, const char *schema, struct document_state **ret_state,
		      struct km_error *error)
{
	struct document_state *state = calloc(1, sizeof(*state));

	if (!state)
		return km_error_set(error, -ENOMEM, "out of memory");
	memset(document, 0, sizeof(*document));
	document->state = state;
	document->report.schema = schema;
	document->report.schema_version = 1;
	*ret_state = state;
	return 0;
}

/* The last step of each document: code is what came before. */
int km_document_finish(struct km_document *document, int code, struct km_error *error)
{
	struct document_state *state = document->state;

	if (!code && state->failed)
		code = km_error_set(error, -ENOMEM, "out of memory");
	document->report.sections = state->sections;
	document->report.sections_count = state->sections_count;
	if (code)
		km_document_release(document);
	return code;
}

void km_document_release(struct km_document *document)
{
	struct document_state *state = document->state;

	if (!state)
		return;
	for (size_t i = 0; i < state->records_count; i++)
		km_record_free(state->records[i]);
	for (size_t i = 0; i < state->rows_count; i++)
		km_rows_free(state->rows[i]);
	for (size_t i = 0; i < state->run_rows_count; i++)
		km_run_rows_free(state->run_rows[i]);
	for (size_t i = 0; i < state->objects_count; i++)
		km_objects_free(state->objects[i]);
	for (size_t i = 0; i < state->leaks_count; i++)
		free(state->leaks[i]);
	for (size_t i = 0; i < state->timelines_count; i++)
		km_document_free_timeline(state->timelines[i]);
	free(state->counts);
	free(state);
	free((uint16_t *)(uintptr_t)document->fields.indexes);
	memset(document, 0, sizeof(*document));
}

/* --- report --- */

static bool for_people(const struct km_document_options *options)
{
	return options->audience == KM_FOR_PEOPLE;
}

size_t km_document_limit(const struct km_document_options *options, size_t people_default)
{
	if (options->has_limit)
		return options->limit;
	return for_people(options) ? people_default : 0;
}

void km_document_note_cut(struct document_state *state, struct km_section *section, size_t shown, size_t total)
{
	char a[KM_FORMAT_BYTES], b[KM_FORMAT_BYTES];

	section->note = km_document_note(state, "%s of %s shown; -n 0 shows all", km_format_count(a, shown),
					 km_format_count(b, total));
}

/* People's own choice of columns: a live number does not go without the mark that says how to read it. */
static int add_mark(struct km_fields *fields, const struct km_column *columns, struct km_error *error)
{
	uint16_t *indexes;
	size_t at = fields->count, mark = 0;

	for (size_t i = fields->count; i-- > 0;) {
		const char *name = columns[fields->indexes[i]].name;

		if (!strcmp(name, "live_mark") || !strcmp(name, "live_is"))
			return 0;
		if (!strncmp(name, "live_", 5))
			at = i;
	}
	if (at == fields->count)
		return 0;
	while (strcmp(columns[mark].name, "live_mark") != 0)
		mark++;
	indexes = calloc(fields->count + 1, sizeof(*indexes));
	if (!indexes)
		return km_error_set(error, -ENOMEM, "out of memory");
	memcpy(indexes, fields->indexes, at * sizeof(*indexes));
	indexes[at] = (uint16_t)mark;
	memcpy(indexes + at + 1, fields->indexes + at, (fields->count - at) * sizeof(*indexes));
	free((uint16_t *)(uintptr_t)fields->indexes);
	fields->indexes = indexes;
	fields->count++;
	return 0;
}

/* The fields of --by, which groups without rows do not tell. */
void km_document_add_by(struct document_state *state, const struct km_by_list *by)
{
	struct km_record *record = km_document_record(state);

	if (!record)
		return;
	for (unsigned i = 0; i < by->count; i++) {
		km_record_text(record, "field", km_by_columns[by->fields[i]].name);
		km_record_end_row(record);
	}
	km_document_add(state, record, "by", NULL, KM_SHAPE_ITEMS, KM_FOR_MACHINES);
}

/* A table of an axis. */
static int add_rows(struct km_document *document, const struct km_analysis *analysis, enum km_axis axis,
		    const char *path, const char *what, const struct km_document_options *options, size_t people_limit,
		    bool is_primary, struct km_error *error)
{
	struct document_state *state = document->state;
	struct km_section *section;
	struct km_rows *rows;
	size_t shown, total;
	int r;

	r = km_rows_new(analysis, axis, is_primary ? options->sort : NULL, km_document_limit(options, people_limit),
			&rows, error);
	if (r)
		return r;
	state->rows[state->rows_count++] = rows;
	shown = km_rows_shown(rows);
	total = km_rows_total(rows);
	state->truncated |= shown < total;
	section = km_document_add_section(state, (struct km_section){ .path = path,
								      .shape = KM_SHAPE_ROWS,
								      .audience = KM_FOR_PEOPLE | KM_FOR_MACHINES,
								      .next = km_rows_next,
								      .state = rows,
								      .is_primary = is_primary });
	if (!section)
		return -ENOMEM;
	section->columns = km_rows_columns(rows, &section->columns_count);
	section->title = km_document_note(
		state, "%s by %s", what,
		is_primary && options->sort && options->sort->count ? options->sort->keys[0].name : "live bytes");
	if (shown < total)
		km_document_note_cut(state, section, shown, total);
	else if (!total)
		section->note = "none";
	if (!is_primary || !options->fields)
		return 0;
	r = km_fields_parse(options->fields, section->columns, section->columns_count, &document->fields, error);
	return !r && for_people(options) ? add_mark(&document->fields, section->columns, error) : r;
}

static int add_objects(struct document_state *state, const struct km_analysis *analysis, const char *path,
		       const char *title, const struct km_sort *sort, size_t limit, struct km_error *error)
{
	struct km_objects *objects;
	struct km_section *section;
	int r = km_objects_new(analysis, sort, limit, &objects, error);

	if (r)
		return r;
	state->objects[state->objects_count++] = objects;
	section = km_document_add_section(state, (struct km_section){ .path = path,
								      .title = title,
								      .shape = KM_SHAPE_ROWS,
								      .audience = KM_FOR_PEOPLE | KM_FOR_MACHINES,
								      .next = km_objects_next,
								      .state = objects });
	if (!section)
		return -ENOMEM;
	section->columns = km_objects_columns(objects, &section->columns_count);
	if (!km_objects_total(objects))
		section->note = "none";
	else if (km_replay_table(analysis->replay)->k)
		section->note = km_document_note(state, "of a sample: each stands for %" PRIu64,
						 UINT64_C(1) << km_replay_table(analysis->replay)->k);
	return 0;
}

static void add_max(struct km_record *record, const char *name, enum km_type type, const struct km_bounds *bounds)
{
	if (bounds->max_is_unknown)
		km_record_null(record, name, type);
	else
		km_record_number(record, name, type, bounds->max);
}

/* What totals may really be. */
static void add_bounds(struct km_record *record, const char *min_name, const char *max_name, enum km_type type,
		       const struct km_bounds *bounds)
{
	km_record_number(record, min_name, type, bounds->min);
	add_max(record, max_name, type, bounds);
}

/* Of the sites with the verdict leak; at most what lives where no verdict can be given. */
static int sum_leaks(const struct km_analysis *an, uint64_t *ret_count, struct km_bounds *count, uint64_t *ret_bytes,
		     struct km_bounds *bytes)
{
	*ret_count = *ret_bytes = 0;
	*count = *bytes = (struct km_bounds){ 0 };
	for (size_t i = 0; i < km_aggregate_rows_count(an->aggregate, KM_AXIS_SITE); i++) {
		const struct km_leak *leak = km_leaks_of_site(an->leaks, i);
		struct km_row row;

		if (km_aggregate_row(an->aggregate, KM_AXIS_SITE, i, false, &row))
			return -ENOMEM;
		if (leak && leak->verdict == KM_VERDICT_LEAK) {
			*ret_count += leak->live_count;
			*ret_bytes += leak->live_bytes;
		}
		if (row.live_is != KM_LIVE_CONSISTENT && row.live_is != KM_LIVE_UPPER_BOUND) {
			count->max_is_unknown |= row.bounds.live_count.max_is_unknown;
			bytes->max_is_unknown |= row.bounds.live_bytes.max_is_unknown;
			count->max += row.bounds.live_count.max;
			bytes->max += row.bounds.live_bytes.max;
		} else if (leak && leak->verdict == KM_VERDICT_LEAK) {
			count->max += leak->live_count;
			bytes->max += leak->live_bytes;
		}
		km_row_release(&row);
	}
	return 0;
}

static int add_leaks_totals(struct km_record *record, const struct km_analysis *an)
{
	struct km_bounds count_bounds, bytes_bounds;
	uint64_t count, bytes;

	if (sum_leaks(an, &count, &count_bounds, &bytes, &bytes_bounds))
		return -ENOMEM;
	km_record_number(record, "leaks_count", KM_TYPE_COUNT, count);
	add_max(record, "leaks_count_max", KM_TYPE_COUNT, &count_bounds);
	km_record_number(record, "leaks_bytes", KM_TYPE_BYTES, bytes);
	add_max(record, "leaks_bytes_max", KM_TYPE_BYTES, &bytes_bounds);
	return 0;
}

/* Of a replay that samples: how good the estimates are, and what was counted. */
static void add_sample(struct km_record *record, const struct km_row *total)
{
	const struct km_kept *kept = &total->kept;

	if (total->error_is_unknown) {
		km_record_null(record, "live_error_bytes", KM_TYPE_BYTES);
		km_record_null(record, "live_error_count", KM_TYPE_COUNT);
	} else {
		km_record_number(record, "live_error_bytes", KM_TYPE_BYTES, total->live_error_bytes);
		km_record_number(record, "live_error_count", KM_TYPE_COUNT, total->live_error_count);
	}
	km_record_number(record, "sample.sampled_out_count", KM_TYPE_COUNT, kept->out_count);
	km_record_number(record, "sample.sampled_out_bytes", KM_TYPE_BYTES, kept->out_bytes);
	km_record_number(record, "sample.purged_count", KM_TYPE_COUNT, kept->purged_count);
	km_record_number(record, "sample.purged_bytes", KM_TYPE_BYTES, kept->purged_bytes);
	km_record_number(record, "sample.matched_frees_count", KM_TYPE_COUNT, kept->matched_count);
	km_record_number(record, "sample.implied_frees_count", KM_TYPE_COUNT, kept->implied_count);
	km_record_number(record, "sample.live_count", KM_TYPE_COUNT, kept->live_count);
	km_record_number(record, "sample.live_bytes", KM_TYPE_BYTES, kept->live_bytes);
	if (kept->reset_count)
		km_record_number(record, "sample.reset_count", KM_TYPE_COUNT, kept->reset_count);
}

static void add_totals(struct document_state *state, const struct km_analysis *an)
{
	struct km_record *record = km_document_record(state);
	const struct km_replayed *replayed = km_aggregate_replayed(an->aggregate);
	bool filtered = km_filter_is_active(an->selection.filter);
	bool samples = km_replay_when_full(an->replay) == KM_WHEN_FULL_SAMPLE;
	const struct km_sums *sums;
	uint64_t null_frees, unmatched;
	struct km_row total;

	if (!record || km_aggregate_total(an->aggregate, &total)) {
		state->failed = true;
		return;
	}
	sums = &total.sums;
	/* A free is charged with its allocation: one that freed nothing of the selection is not in it. */
	null_frees = filtered ? 0 : replayed->null_frees_count;
	unmatched = filtered ? 0 : replayed->unmatched_frees_estimate;
	km_record_number(record, "alloc_events_count", KM_TYPE_COUNT, sums->allocs_count);
	km_record_number(record, "free_events_count", KM_TYPE_COUNT,
			 samples && !filtered ? replayed->free_events_count
					      : sums->matched_frees_count + null_frees + unmatched);
	km_record_number(record, "failed_count", KM_TYPE_COUNT, sums->failed_count);
	km_record_number(record, "doubled_count", KM_TYPE_COUNT, sums->doubled_count);
	km_record_number(record, "overflowed_count", KM_TYPE_COUNT, sums->overflowed_count);
	km_record_number(record, "overflowed_bytes", KM_TYPE_BYTES, sums->overflowed_bytes);
	km_record_number(record, "tracked_count", KM_TYPE_COUNT, sums->tracked_count);
	km_record_number(record, "matched_frees_count", KM_TYPE_COUNT, sums->matched_frees_count);
	km_record_number(record, "implied_frees_count", KM_TYPE_COUNT, sums->implied_frees_count);
	if (sums->reset_count)
		km_record_number(record, "reset_count", KM_TYPE_COUNT, sums->reset_count);
	km_record_number(record, "null_frees_count", KM_TYPE_COUNT, null_frees);
	km_record_number(record, "unmatched_frees_count", KM_TYPE_COUNT, unmatched);
	km_record_number(record, "cross_cpu_frees_count", KM_TYPE_COUNT, sums->cross_cpu_frees_count);
	km_record_number(record, "live_count", KM_TYPE_COUNT, sums->live_count);
	km_record_number(record, "live_bytes", KM_TYPE_BYTES, sums->live_bytes);
	km_record_text(record, "live_is", km_live_is_name(total.live_is));
	add_bounds(record, "live_bytes_min", "live_bytes_max", KM_TYPE_BYTES, &total.bounds.live_bytes);
	add_bounds(record, "live_count_min", "live_count_max", KM_TYPE_COUNT, &total.bounds.live_count);
	km_record_number(record, "live_requested_bytes", KM_TYPE_BYTES, sums->live_requested_bytes);
	km_record_number(record, "live_waste_bytes", KM_TYPE_BYTES, sums->live_bytes - sums->live_requested_bytes);
	km_record_number(record, "peak_live_count", KM_TYPE_COUNT, total.level.peak_live_count);
	km_document_time(record, an->buffer, "peak_live_count_time_ns", "peak_live_count_time_ticks",
			 total.level.peak_count_time - an->start_time, !total.level.peak_live_count);
	km_record_number(record, "peak_live_bytes", KM_TYPE_BYTES, total.level.peak_live_bytes);
	km_document_time(record, an->buffer, "peak_time_ns", "peak_time_ticks", total.level.peak_time - an->start_time,
			 !total.level.peak_live_bytes);
	km_record_text(record, "peak_is", km_row_peak_is(&total));
	add_bounds(record, "peak_live_bytes_min", "peak_live_bytes_max", KM_TYPE_BYTES, &total.bounds.peak_live_bytes);
	add_bounds(record, "peak_live_count_min", "peak_live_count_max", KM_TYPE_COUNT, &total.bounds.peak_live_count);
	km_record_number(record, "at_peak_count", KM_TYPE_COUNT, sums->at_peak_count);
	km_record_number(record, "total_allocated_bytes", KM_TYPE_BYTES, sums->total_allocated_bytes);
	km_record_number(record, "total_requested_bytes", KM_TYPE_BYTES, sums->total_requested_bytes);
	km_record_number(record, "total_waste_bytes", KM_TYPE_BYTES,
			 sums->total_allocated_bytes - sums->total_requested_bytes);
	km_document_time(record, an->buffer, "oldest_age_ns", "oldest_age_ticks", an->end_time - total.oldest_time,
			 !total.has_survivors);
	if (an->leaks && add_leaks_totals(record, an))
		state->failed = true;
	if (samples)
		add_sample(record, &total);
	km_record_end_row(record);
	km_document_add(state, record, "totals", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
	km_row_release(&total);
}

static void add_trace(struct document_state *state, const struct km_analysis *an)
{
	for (unsigned i = 0; i < 2; i++) {
		struct km_record *record = km_document_record(state);

		if (!record)
			return;
		km_document_trace_fields(record, an->reader, an->buffer, an->stats);
		km_record_end_row(record);
		km_document_add(state, record, i ? "sources" : "trace", NULL, i ? KM_SHAPE_ROWS : KM_SHAPE_RECORD,
				KM_FOR_MACHINES);
	}
}

/* The report's own object; `truncated` is known once the tables are made. What is NULL has no key. */
static void add_head(struct document_state *state, const char *domain, const char *sites_by, bool truncated)
{
	struct km_record *record = km_document_record(state);

	if (!record)
		return;
	km_record_text(record, "generator", "kmstat " KM_VERSION);
	if (domain)
		km_record_text(record, "domain", domain);
	if (state->sized)
		km_document_size_fields(record, state->sized);
	if (state->timed)
		km_document_timeline_fields(record, state->timed);
	km_record_flag(record, "truncated", truncated);
	if (sites_by)
		km_record_text(record, "sites_by", sites_by);
	if (state->verdict)
		km_record_text(record, "verdict", state->verdict);
	km_record_end_row(record);
	km_document_add(state, record, "", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
}

/* It comes first, but knows of the tables. */
void km_document_put_head(struct document_state *state, const char *domain, const char *sites_by)
{
	size_t head = state->sections_count;

	add_head(state, domain, sites_by, state->truncated);
	if (state->sections_count > head) {
		struct km_section section = state->sections[head];

		memmove(state->sections + 1, state->sections, head * sizeof(section));
		state->sections[0] = section;
	}
}

static void tally_value(const struct km_analysis *an, struct km_record *record, enum km_detail_kind kind,
			uint64_t value)
{
	switch (kind) {
	case KM_DETAIL_SIZES:
		km_record_number(record, "requested_bytes", KM_TYPE_COUNT, value);
		break;
	case KM_DETAIL_COMMS:
		km_record_text(record, "comm", (const char *)(uintptr_t)value);
		break;
	default:
		km_record_text(record, "symbol", km_naming_site(an->naming, value).symbol);
		break;
	}
}

/* --detail: the selection's lifetimes, sizes, tasks and freeing sites. */
static void add_detail(struct document_state *state, const struct km_analysis *an,
		       const struct km_document_options *options)
{
	static const struct {
		const char *path, *title;
	} names[] = { [KM_DETAIL_SIZES] = { "detail.sizes", "Sizes asked for" },
		      [KM_DETAIL_COMMS] = { "detail.comms", "Allocating tasks" },
		      [KM_DETAIL_FREERS] = { "detail.freers", "Freed from" } };
	static const char *const titles[] = { "size", "comm", "site" };
	struct km_record *record = km_document_record(state);

	if (!record)
		return;
	km_record_end_row(record);
	km_document_add(state, record, "detail", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
	km_document_add_lifetimes(state, an);
	for (enum km_detail_kind kind = 0; kind < KM_DETAIL_KINDS; kind++) {
		size_t count, limit = km_document_limit(options, PEOPLE_TALLIES);
		const struct km_tally *tallies = km_detail_tallies(an->detail, kind, &count);

		record = km_document_record(state);
		if (!record)
			return;
		if (limit && count > limit) {
			count = limit;
			state->truncated = true;
		}
		for (size_t i = 0; i < count; i++) {
			km_record_number(record, "count", KM_TYPE_COUNT, tallies[i].count);
			km_record_title(record, kind == KM_DETAIL_FREERS ? "frees" : "allocs", 0);
			km_record_number(record, "bytes", KM_TYPE_BYTES, tallies[i].bytes);
			km_record_title(record, "bytes", 0);
			tally_value(an, record, kind, tallies[i].value);
			km_record_title(record, titles[kind], kind == KM_DETAIL_FREERS ? KM_COLUMN_FLEX : 0);
			km_record_end_row(record);
		}
		km_document_add(state, record, names[kind].path, names[kind].title, KM_SHAPE_ROWS,
				KM_FOR_PEOPLE | KM_FOR_MACHINES);
	}
}

static int report_for_people(struct km_document *document, const struct km_analysis *an,
			     const struct km_document_options *options, struct km_error *error)
{
	static const struct km_sort largest = { .keys = { { "allocated_bytes", -1 }, { "age_ns", -1 } }, .count = 2 };
	struct document_state *state = document->state;
	bool has_groups = an->selection.by.count > 0;
	int r = 0;

	km_document_add_rules(state, options);
	km_document_add_summary(state, an);
	if (has_groups)
		r = add_rows(document, an, KM_AXIS_GROUP, "groups", "Groups", options, PEOPLE_SITES, true, error);
	else
		r = add_rows(document, an, KM_AXIS_SITE, "sites", "Call sites", options, PEOPLE_SITES, true, error);
	if (!r && an->detail)
		add_detail(state, an, options);
	if (!r && !has_groups && !an->detail)
		r = add_rows(document, an, KM_AXIS_CACHE, "caches", "Slab caches", options, PEOPLE_CACHES, false,
			     error);
	if (!r && an->balance)
		km_document_add_slabinfo(state, an, options);
	if (!r && an->leaks && !has_groups && !an->detail)
		km_document_add_suspects(state, an, options->has_utf8);
	if (!r && !has_groups)
		r = add_objects(state, an, "oldest", "Oldest live objects", NULL,
				options->has_limit && options->limit < PEOPLE_OBJECTS && options->limit
					? options->limit
					: PEOPLE_OBJECTS,
				error);
	if (!r && !has_groups)
		r = add_objects(state, an, "largest", "Largest live objects", &largest,
				options->has_limit && options->limit < PEOPLE_OBJECTS && options->limit
					? options->limit
					: PEOPLE_OBJECTS,
				error);
	km_document_add_health_text(state, an, options->verbose);
	return r;
}

static int report_for_machines(struct km_document *document, const struct km_analysis *an,
			       const struct km_document_options *options, struct km_error *error)
{
	struct document_state *state = document->state;
	bool has_groups = an->selection.by.count > 0;
	int r;

	km_document_add_rules(state, options);
	add_trace(state, an);
	km_document_add_filters(state, an->selection.filter);
	add_totals(state, an);
	r = add_rows(document, an, KM_AXIS_SITE, "sites", "Call sites", options, 0, !has_groups, error);
	if (!r)
		r = add_rows(document, an, KM_AXIS_CACHE, "caches", "Slab caches", options, 0, false, error);
	if (!r && has_groups) {
		km_document_add_by(state, &an->selection.by);
		r = add_rows(document, an, KM_AXIS_GROUP, "groups", "Groups", options, 0, true, error);
	}
	if (r)
		return r;
	if (an->detail)
		add_detail(state, an, options);
	if (an->balance)
		km_document_add_slabinfo(state, an, options);
	km_document_add_overflow(state, an);
	km_document_add_health(state, an);
	km_document_put_head(state, "slab", NULL);
	return 0;
}

int km_document_report(struct km_document *document, const struct km_analysis *analysis,
		       const struct km_document_options *options, struct km_error *error)
{
	struct document_state *state = NULL;
	int r = km_document_begin(document, "kmstat.report", &state, error);

	if (r)
		return r;
	if (for_people(options))
		r = report_for_people(document, analysis, options, error);
	else
		r = report_for_machines(document, analysis, options, error);
	return km_document_finish(document, r, error);
}

/* --- objects --- */

int km_document_objects(struct km_document *document, const struct km_analysis *an,
			const struct km_document_options *options, struct km_error *error)
{
	struct document_state *state = NULL;
	struct km_section *section;
	size_t total, shown;
	int r = km_document_begin(document, "kmstat.objects", &state, error);

	if (r)
		return r;
	if (for_people(options)) {
		km_document_add_summary(state, an);
		r = add_objects(state, an, "objects", "Live objects", options->sort,
				km_document_limit(options, PEOPLE_SITES), error);
		if (r)
			return km_document_finish(document, r, error);
	} else {
		r = add_objects(state, an, "objects", NULL, options->sort, km_document_limit(options, 0), error);
		if (r)
			return km_document_finish(document, r, error);
	}
	section = &state->sections[state->sections_count - 1];
	section->is_primary = true;
	total = km_objects_total(state->objects[0]);
	shown = km_objects_shown(state->objects[0]);
	if (shown < total) {
		const char *of_what = section->note;

		km_document_note_cut(state, section, shown, total);
		if (of_what)
			section->note = km_document_note(state, "%s; %s", section->note, of_what);
	}
	if (options->fields)
		r = km_fields_parse(options->fields, section->columns, section->columns_count, &document->fields,
				    error);
	if (!for_people(options)) {
		struct km_section objects = *section;

		state->sections_count--;
		add_head(state, "slab", NULL, shown < total);
		add_trace(state, an);
		km_document_add_filters(state, an->selection.filter);
		km_document_add_overflow(state, an);
		km_document_add_health(state, an);
		if (!km_document_add_section(state, objects))
			r = -ENOMEM;
	} else {
		km_document_add_health_text(state, an, options->verbose);
	}
	return km_document_finish(document, r, error);
}

/* --- leaks --- */

static int fill_leaks(struct km_document *document, const struct km_analysis *an,
		      const struct km_document_options *options, struct km_error *error)
{
	struct document_state *state = document->state;
	bool is_people = for_people(options);
	struct km_section *section;
	size_t total, shown, limit = km_document_limit(options, PEOPLE_SITES);

	km_leaks_rows(an->leaks, &total);
	shown = limit && limit < total ? limit : total;
	state->truncated = shown < total;
	km_document_add_rules(state, options);
	if (is_people) {
		km_document_add_summary(state, an);
	} else {
		add_trace(state, an);
		km_document_add_filters(state, an->selection.filter);
		add_totals(state, an);
	}
	section = km_document_add_leaks(state, an, options->has_utf8, shown);
	if (!section)
		return 0;
	section->is_primary = true;
	if (shown < total)
		km_document_note_cut(state, section, shown, total);
	else if (!total)
		section->note = "none: nothing is live at the end";
	if (options->fields) {
		int r = km_fields_parse(options->fields, section->columns, section->columns_count, &document->fields,
					error);
		if (r)
			return r;
	}
	if (is_people) {
		km_document_add_reasons(state, an, shown);
		km_document_add_health_text(state, an, options->verbose);
	} else {
		km_document_add_overflow(state, an);
		km_document_add_health(state, an);
		km_document_put_head(state, "slab", NULL);
	}
	return 0;
}

int km_document_leaks(struct km_document *document, const struct km_analysis *an,
		      const struct km_document_options *options, struct km_error *error)
{
	struct document_state *state = NULL;
	int r = km_document_begin(document, "kmstat.leaks", &state, error);

	if (r)
		return r;
	return km_document_finish(document, fill_leaks(document, an, options, error), error);
}

/* --- size --- */

int km_document_size(struct km_document *document, const struct km_analysis *an,
		     const struct km_document_options *options, struct km_error *error)
{
	struct document_state *state = NULL;
	int r = km_document_begin(document, "kmstat.size", &state, error);

	if (r)
		return r;
	if (for_people(options)) {
		km_document_add_summary(state, an);
		km_document_add_sizes(state, an);
		km_document_add_health_text(state, an, options->verbose);
	} else {
		add_trace(state, an);
		km_document_add_filters(state, an->selection.filter);
		km_document_add_sizes(state, an);
		km_document_add_health(state, an);
		state->sized = an;
		km_document_put_head(state, "slab", NULL);
	}
	return km_document_finish(document, r, error);
}

/* --- timeline --- */

static int fill_timeline(struct km_document *document, const struct km_analysis *an,
			 const struct km_document_options *options, struct km_error *error)
{
	struct document_state *state = document->state;
	int r;

	if (for_people(options)) {
		km_document_add_summary(state, an);
		r = km_document_add_timeline(document, an, options, error);
		km_document_add_health_text(state, an, options->verbose);
		return r;
	}
	add_trace(state, an);
	km_document_add_filters(state, an->selection.filter);
	add_totals(state, an);
	if (an->selection.by.count)
		km_document_add_by(state, &an->selection.by);
	r = km_document_add_timeline(document, an, options, error);
	km_document_add_overflow(state, an);
	km_document_add_health(state, an);
	state->timed = an;
	km_document_put_head(state, "slab", NULL);
	return r;
}

int km_document_timeline(struct km_document *document, const struct km_analysis *an,
			 const struct km_document_options *options, struct km_error *error)
{
	struct document_state *state = NULL;
	int r = km_document_begin(document, "kmstat.timeline", &state, error);

	if (r)
		return r;
	return km_document_finish(document, fill_timeline(document, an, options, error), error);
}

/* --- info --- */

int km_document_info(struct km_document *document, struct km_reader *reader, const struct km_document_options *options,
		     struct km_error *error)
{
	struct document_state *state = NULL;
	int r = km_document_begin(document, "kmstat.info", &state, error);

	if (r)
		return r;
	if (!for_people(options))
		add_head(state, NULL, NULL, false);
	r = km_document_fill_info(state, reader, for_people(options), error);
	return km_document_finish(document, r, error);
}
