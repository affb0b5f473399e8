/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run as a report: the sections of document.c, in the same order and with
 * the same keys, so that what was merged is read as any other report. Lists
 * that do not add up are null.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document_private.h"
#include "format.h"
#include "run_rows.h"

#define PEOPLE_ROWS    20
#define PEOPLE_CACHES  15
#define PEOPLE_SOURCES 5

static enum km_clock_unit unit_of(const struct km_run *run)
{
	return run->clock_is_ns ? KM_CLOCK_NS : KM_CLOCK_TICKS;
}

/* A time that may be null. */
static void add_time(struct km_record *record, const struct km_run *run, const char *name_ns, const char *name_ticks,
		     const struct km_value *value)
{
	const struct km_buffer_info buffer = { .unit = unit_of(run) };

	km_document_time(record, &buffer, name_ns, name_ticks, value->value, value->is_null);
}

/* --- sources --- */

static void source_fields(struct km_record *record, const struct km_run_source *source)
{
	bool ns = source->clock_is_ns;
	enum km_type unit = ns ? KM_TYPE_DURATION : KM_TYPE_TICKS;

	km_record_text(record, "file", source->file);
	km_record_text(record, "format", source->format);
	km_record_text(record, "kernel", source->kernel);
	km_record_text(record, "recorder", source->recorder);
	km_record_text(record, "clock", source->clock);
	km_record_flag(record, "clock_is_coherent", source->clock_is_coherent);
	km_record_number(record, "cpus_count", KM_TYPE_COUNT, source->cpus_count);
	if (!ns) {
		km_record_null(record, "start_ns", KM_TYPE_DURATION);
		km_record_null(record, "end_ns", KM_TYPE_DURATION);
		km_record_null(record, "duration_ns", KM_TYPE_DURATION);
	}
	km_record_number(record, ns ? "start_ns" : "start_ticks", unit, source->start);
	km_record_number(record, ns ? "end_ns" : "end_ticks", unit, source->end);
	km_record_number(record, ns ? "duration_ns" : "duration_ticks", unit, source->duration);
	km_record_number(record, "events_count", KM_TYPE_COUNT, source->events_count);
	km_record_text(record, "buffer", source->buffer);
	km_record_flag(record, "big_endian", source->big_endian);
	km_record_number(record, "word_bytes", KM_TYPE_COUNT, source->word_bytes);
	km_record_number(record, "page_bytes", KM_TYPE_COUNT, source->page_bytes);
	km_record_end_row(record);
}

static void add_null(struct document_state *state, const char *path, enum km_shape shape)
{
	km_document_add_section(
		state,
		(struct km_section){ .path = path, .shape = shape, .audience = KM_FOR_MACHINES, .is_null = true });
}

static void add_sources(struct document_state *state, const struct km_run *run)
{
	struct km_record *record;

	if (run->sources_count == 1) {
		record = km_document_record(state);
		if (!record)
			return;
		source_fields(record, &run->sources[0]);
		km_document_add(state, record, "trace", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
	} else {
		add_null(state, "trace", KM_SHAPE_RECORD);
	}
	record = km_document_record(state);
	if (!record)
		return;
	for (size_t i = 0; i < run->sources_count; i++)
		source_fields(record, &run->sources[i]);
	km_document_add(state, record, "sources", NULL, KM_SHAPE_ROWS, KM_FOR_MACHINES);
}

/* The conditions' names live as long as the document, in one block. */
static void add_filters(struct document_state *state, const struct km_run *run)
{
	json_t *object = json_loads(run->filters, 0, NULL);
	struct km_record *record = km_document_record(state);
	char *names = malloc(strlen(run->filters) + 1), *name = names;
	const char *key;
	json_t *value;

	state->counts = names;
	if (!record || !names || !object) {
		state->failed = true;
		json_decref(object);
		return;
	}
	json_object_foreach(object, key, value)
	{
		size_t bytes = strlen(key) + 1;

		memcpy(name, key, bytes);
		if (json_is_integer(value))
			km_record_number(record, name, KM_TYPE_COUNT, (uint64_t)json_integer_value(value));
		else
			km_record_text(record, name, json_string_value(value));
		name += bytes;
	}
	json_decref(object);
	km_record_end_row(record);
	km_document_add(state, record, "filters", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
}

/* --- totals --- */

enum part { VALUE, MIN, MAX, LIVE_IS, PEAK_IS, PEAK_TIME, PEAK_COUNT_TIME, OLDEST_AGE };

static const struct {
	const char *name;
	enum km_metric metric;
	enum part part;
} totals[] = {
	{ "alloc_events_count", KM_METRIC_ALLOCS_COUNT, VALUE },
	{ "free_events_count", KM_METRIC_FREE_EVENTS_COUNT, VALUE },
	{ "failed_count", KM_METRIC_FAILED_COUNT, VALUE },
	{ "doubled_count", KM_METRIC_DOUBLED_COUNT, VALUE },
	{ "overflowed_count", KM_METRIC_OVERFLOWED_COUNT, VALUE },
	{ "overflowed_bytes", KM_METRIC_OVERFLOWED_BYTES, VALUE },
	{ "tracked_count", KM_METRIC_TRACKED_COUNT, VALUE },
	{ "matched_frees_count", KM_METRIC_MATCHED_FREES_COUNT, VALUE },
	{ "implied_frees_count", KM_METRIC_IMPLIED_FREES_COUNT, VALUE },
	{ "reset_count", KM_METRIC_RESET_COUNT, VALUE },
	{ "null_frees_count", KM_METRIC_NULL_FREES_COUNT, VALUE },
	{ "unmatched_frees_count", KM_METRIC_UNMATCHED_FREES_COUNT, VALUE },
	{ "cross_cpu_frees_count", KM_METRIC_CROSS_CPU_FREES_COUNT, VALUE },
	{ "live_count", KM_METRIC_LIVE_COUNT, VALUE },
	{ "live_bytes", KM_METRIC_LIVE_BYTES, VALUE },
	{ "live_is", KM_METRICS, LIVE_IS },
	{ "live_bytes_min", KM_METRIC_LIVE_BYTES, MIN },
	{ "live_bytes_max", KM_METRIC_LIVE_BYTES, MAX },
	{ "live_count_min", KM_METRIC_LIVE_COUNT, MIN },
	{ "live_count_max", KM_METRIC_LIVE_COUNT, MAX },
	{ "live_requested_bytes", KM_METRIC_LIVE_REQUESTED_BYTES, VALUE },
	{ "live_waste_bytes", KM_METRIC_LIVE_WASTE_BYTES, VALUE },
	{ "peak_live_count", KM_METRIC_PEAK_LIVE_COUNT, VALUE },
	{ "peak_live_count_time_ns", KM_METRICS, PEAK_COUNT_TIME },
	{ "peak_live_bytes", KM_METRIC_PEAK_LIVE_BYTES, VALUE },
	{ "peak_time_ns", KM_METRICS, PEAK_TIME },
	{ "peak_is", KM_METRICS, PEAK_IS },
	{ "peak_live_bytes_min", KM_METRIC_PEAK_LIVE_BYTES, MIN },
	{ "peak_live_bytes_max", KM_METRIC_PEAK_LIVE_BYTES, MAX },
	{ "peak_live_count_min", KM_METRIC_PEAK_LIVE_COUNT, MIN },
	{ "peak_live_count_max", KM_METRIC_PEAK_LIVE_COUNT, MAX },
	{ "at_peak_count", KM_METRIC_AT_PEAK_COUNT, VALUE },
	{ "total_allocated_bytes", KM_METRIC_TOTAL_ALLOCATED_BYTES, VALUE },
	{ "total_requested_bytes", KM_METRIC_TOTAL_REQUESTED_BYTES, VALUE },
	{ "total_waste_bytes", KM_METRIC_TOTAL_WASTE_BYTES, VALUE },
	{ "oldest_age_ns", KM_METRIC_OLDEST_AGE_NS, OLDEST_AGE },
	{ "leaks_count", KM_METRIC_LEAKS_COUNT, VALUE },
	{ "leaks_count_max", KM_METRIC_LEAKS_COUNT, MAX },
	{ "leaks_bytes", KM_METRIC_LEAKS_BYTES, VALUE },
	{ "leaks_bytes_max", KM_METRIC_LEAKS_BYTES, MAX },
};

static void total_value(struct km_record *record, const char *name, enum km_metric metric, const struct km_value *value,
			enum part part)
{
	enum km_type type = km_metrics[metric].type;

	if (part == MAX && value->max_is_unknown)
		km_record_null(record, name, type);
	else
		km_record_number(record, name, type,
				 part == MIN   ? value->min
				 : part == MAX ? value->max
					       : value->value);
}

static void add_totals(struct document_state *state, const struct km_run *run)
{
	struct km_record *record = km_document_record(state);
	const struct km_run_row *row = &run->totals;

	if (!record)
		return;
	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
		enum km_metric metric = totals[i].metric;

		switch (totals[i].part) {
		case VALUE:
		case MIN:
		case MAX:
			if (!row->values[metric].is_null) /* there without --on-loss reset is no reset_count */
				total_value(record, totals[i].name, metric, &row->values[metric], totals[i].part);
			break;
		case LIVE_IS:
			km_record_text(record, totals[i].name, km_live_is_name(row->live_is));
			break;
		case PEAK_IS:
			km_record_text(record, totals[i].name, km_peak_is_name(row->peak_is));
			break;
		case PEAK_TIME:
			add_time(record, run, "peak_time_ns", "peak_time_ticks", &row->peak_time);
			break;
		case PEAK_COUNT_TIME:
			add_time(record, run, "peak_live_count_time_ns", "peak_live_count_time_ticks",
				 &row->peak_count_time);
			break;
		case OLDEST_AGE:
			add_time(record, run, "oldest_age_ns", "oldest_age_ticks", &row->values[metric]);
			break;
		}
	}
	km_record_end_row(record);
	km_document_add(state, record, "totals", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
}

/* --- tables --- */

static int add_rows(struct km_document *document, const struct km_run *run, enum km_run_axis axis, const char *path,
		    const char *what, const struct km_document_options *options, size_t people_limit, bool is_primary,
		    struct km_error *error)
{
	struct document_state *state = document->state;
	size_t total = run->axes[axis].count, shown;
	struct km_section section = { .path = path,
				      .shape = KM_SHAPE_ROWS,
				      .audience = KM_FOR_PEOPLE | KM_FOR_MACHINES,
				      .next = km_run_rows_next,
				      .is_primary = is_primary };
	struct km_run_rows *rows;
	int r = km_run_rows_new(run, axis, km_document_limit(options, people_limit), &rows, error);

	if (r)
		return r;
	state->run_rows[state->run_rows_count++] = rows;
	shown = km_run_rows_shown(rows);
	state->truncated |= shown < total;
	section.state = rows;
	section.columns = km_run_rows_columns(rows, &section.columns_count);
	section.title = km_document_note(state, "%s by live bytes", what);
	if (shown < total)
		km_document_note_cut(state, &section, shown, total);
	else if (!total)
		section.note = "none";
	km_document_add_section(state, section);
	return 0;
}

static int add_tables(struct km_document *document, const struct km_run *run, const struct km_document_options *options,
		      struct km_error *error)
{
	bool has_groups = run->by.count > 0, is_for_people = options->audience == KM_FOR_PEOPLE;
	const char *sites = run->sites_by_function ? "Functions" : "Call sites";
	int r = 0;

	if (!is_for_people || !has_groups)
		r = add_rows(document, run, KM_RUN_SITES, "sites", sites, options, PEOPLE_ROWS, !has_groups, error);
	if (!r && (!is_for_people || !has_groups))
		r = add_rows(document, run, KM_RUN_CACHES, "caches", "Slab caches", options, PEOPLE_CACHES, false,
			     error);
	if (r || !has_groups)
		return r;
	if (!is_for_people)
		km_document_add_by(document->state, &run->by);
	return add_rows(document, run, KM_RUN_GROUPS, "groups", "Groups", options, PEOPLE_ROWS, true, error);
}

/* --- overflow and health --- */

static void add_overflow(struct document_state *state, const struct km_run *run)
{
	const struct km_run_overflow *o = &run->overflow;
	struct km_value first = { .value = o->first, .is_null = !o->overflowed_count };
	struct km_value longest = { .value = o->longest_episode, .is_null = !o->overflowed_count };
	struct km_record *record = km_document_record(state);

	if (!record)
		return;
	km_record_number(record, "capacity_count", KM_TYPE_COUNT, o->capacity_count);
	km_record_flag(record, "fixed", o->fixed);
	km_record_number(record, "memory_bytes", KM_TYPE_BYTES, o->memory_bytes);
	km_record_number(record, "memory_peak_bytes", KM_TYPE_BYTES, o->memory_peak_bytes);
	km_record_text(record, "when_full", o->samples ? "sample" : "drop");
	km_record_number(record, "peak_count", KM_TYPE_COUNT, o->peak_count);
	km_record_number(record, "overflowed_count", KM_TYPE_COUNT, o->overflowed_count);
	km_record_number(record, "overflowed_bytes", KM_TYPE_BYTES, o->overflowed_bytes);
	add_time(record, run, "first_ns", "first_ticks", &first);
	km_record_number(record, "episodes_count", KM_TYPE_COUNT, o->episodes_count);
	add_time(record, run, "longest_episode_ns", "longest_episode_ticks", &longest);
	km_record_number(record, "estimated_peak_count", KM_TYPE_COUNT, o->estimated_peak_count);
	km_record_number(record, "recommended_count", KM_TYPE_COUNT, o->recommended_count);
	km_record_end_row(record);
	km_document_add(state, record, "overflow", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
	add_null(state, "overflow.episodes", KM_SHAPE_ROWS);
}

static void add_health_head(struct document_state *state, const struct km_run *run)
{
	struct km_record *record = km_document_record(state), *flags = km_document_record(state);

	if (!record || !flags)
		return;
	km_record_text(record, "completeness", km_completeness_name(run->completeness));
	if (run->lost_is == KM_LOST_UNKNOWN)
		km_record_null(record, "lost_events_count", KM_TYPE_COUNT);
	else
		km_record_number(record, "lost_events_count", KM_TYPE_COUNT, run->lost_events_count);
	km_record_text(record, "lost_is", km_lost_is_name(run->lost_is));
	km_record_text(record, "symbols", km_symbols_state_name(run->symbols));
	km_record_end_row(record);
	km_document_add(state, record, "health", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
	for (unsigned i = 0; i < KM_COMPLETENESS_KINDS; i++) {
		if (!run->flags[i])
			continue;
		km_record_text(flags, "flag", km_completeness_name((enum km_completeness)i));
		km_record_end_row(flags);
	}
	km_document_add(state, flags, "health.completeness_flags", NULL, KM_SHAPE_ITEMS, KM_FOR_MACHINES);
	add_null(state, "health.cpus", KM_SHAPE_ROWS);
}

static void add_health(struct document_state *state, const struct km_run *run)
{
	struct km_record *warnings, *replay, *unmatched;

	add_health_head(state, run);
	warnings = km_document_record(state);
	replay = km_document_record(state);
	unmatched = km_document_record(state);
	if (!warnings || !replay || !unmatched)
		return;
	for (size_t i = 0; i < run->warnings_count; i++) {
		km_record_text(warnings, "code", run->warnings[i].code);
		km_record_text(warnings, "text", run->warnings[i].text);
		km_record_number(warnings, "sources_count", KM_TYPE_COUNT, run->warnings[i].sources_count);
		km_record_end_row(warnings);
	}
	km_document_add(state, warnings, "health.warnings", NULL, KM_SHAPE_ROWS, KM_FOR_MACHINES);
	for (unsigned i = 0; i < KM_RUN_REPLAYED; i++)
		km_record_number(replay, km_run_replayed_name((enum km_run_replayed)i), KM_TYPE_COUNT,
				 run->replayed[i]);
	km_record_end_row(replay);
	km_document_add(state, replay, "health.replay", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
	add_null(state, "health.unmatched_sites", KM_SHAPE_ROWS);
	for (size_t i = 0; i < run->unmatched_count; i++) {
		km_record_text(unmatched, "cache", run->unmatched[i].cache);
		km_record_number(unmatched, "unmatched_frees_count", KM_TYPE_COUNT, run->unmatched[i].count);
		km_record_end_row(unmatched);
	}
	km_document_add(state, unmatched, "health.unmatched_caches", NULL, KM_SHAPE_ROWS, KM_FOR_MACHINES);
}

/* --- for people --- */

static void source_lines(struct km_record *record, const struct km_run *run)
{
	char text[512], a[KM_FORMAT_BYTES];

	for (size_t i = 0; i < run->sources_count && i < PEOPLE_SOURCES; i++) {
		const struct km_run_source *s = &run->sources[i];

		snprintf(text, sizeof(text), "%s: %s, %s%s%s", s->file, s->format,
			 s->kernel ? s->kernel : "kernel not told", s->buffer[0] ? ", buffer " : "", s->buffer);
		km_document_line(record, i ? "" : "trace", text);
	}
	if (run->sources_count > PEOPLE_SOURCES) {
		snprintf(text, sizeof(text), "and %s more", km_format_count(a, run->sources_count - PEOPLE_SOURCES));
		km_document_line(record, "", text);
	}
}

static void events_line(struct km_record *record, const struct km_run *run)
{
	char a[KM_FORMAT_BYTES], b[KM_FORMAT_BYTES], c[KM_FORMAT_BYTES], text[256];
	const struct km_value *values = run->totals.values;
	uint64_t events = 0;

	for (size_t i = 0; i < run->sources_count; i++)
		events += run->sources[i].events_count;
	snprintf(text, sizeof(text), "%s in %zu recording%s; selected are %s slab allocations and %s frees",
		 km_format_count(a, events), run->sources_count, run->sources_count == 1 ? "" : "s",
		 km_format_count(b, values[KM_METRIC_ALLOCS_COUNT].value),
		 km_format_count(c, values[KM_METRIC_FREE_EVENTS_COUNT].value));
	km_document_line(record, "events", text);
	if (strcmp(run->filters, "{}") != 0) {
		snprintf(text, sizeof(text), "%.250s", run->filters);
		km_document_line(record, "filter", text);
	}
}

static void live_lines(struct km_record *record, const struct km_run *run)
{
	char a[KM_FORMAT_BYTES], b[KM_FORMAT_BYTES], text[320];
	const struct km_value *values = run->totals.values;
	const struct km_value *bytes = &values[KM_METRIC_LIVE_BYTES];
	size_t n;

	n = (size_t)snprintf(text, sizeof(text), "%s in %s objects (%s)", km_format_bytes(a, bytes->value),
			     km_format_count(b, values[KM_METRIC_LIVE_COUNT].value),
			     km_document_live_words(run->totals.live_is));
	if (run->totals.live_is != KM_LIVE_CONSISTENT)
		snprintf(text + n, sizeof(text) - n, ", really %s to %s", km_format_bytes(a, bytes->min),
			 bytes->max_is_unknown ? "nobody knows what" : km_format_bytes(b, bytes->max));
	km_document_line(record, "live", text);
	snprintf(text, sizeof(text), "%s%s", km_format_bytes(a, values[KM_METRIC_PEAK_LIVE_BYTES].value),
		 run->sources_count > 1 ? ", the sum of the recordings' own peaks" : "");
	km_document_line(record, "peak", text);
	snprintf(text, sizeof(text), "%s in %s allocations",
		 km_format_bytes(a, values[KM_METRIC_TOTAL_ALLOCATED_BYTES].value),
		 km_format_count(b, values[KM_METRIC_TRACKED_COUNT].value + values[KM_METRIC_OVERFLOWED_COUNT].value));
	km_document_line(record, "allocated", text);
	snprintf(text, sizeof(text), "%s matched, %s implied",
		 km_format_count(a, values[KM_METRIC_MATCHED_FREES_COUNT].value),
		 km_format_count(b, values[KM_METRIC_IMPLIED_FREES_COUNT].value));
	km_document_line(record, "frees", text);
}

static void add_summary(struct document_state *state, const struct km_run *run)
{
	struct km_record *record = km_document_record(state);

	if (!record)
		return;
	source_lines(record, run);
	events_line(record, run);
	live_lines(record, run);
	km_document_add(state, record, "summary", NULL, KM_SHAPE_LINES, KM_FOR_PEOPLE);
}

static void add_health_text(struct document_state *state, const struct km_run *run)
{
	struct km_record *record = km_document_record(state);
	char a[KM_FORMAT_BYTES], text[512];

	if (!record)
		return;
	snprintf(text, sizeof(text), "%s", km_completeness_name(run->completeness));
	if (run->lost_is != KM_LOST_UNKNOWN && run->lost_events_count)
		snprintf(text, sizeof(text), "%s; %s%s events lost", km_completeness_name(run->completeness),
			 run->lost_is == KM_LOST_AT_LEAST ? "at least " : "",
			 km_format_count(a, run->lost_events_count));
	km_document_line(record, "recordings", text);
	for (size_t i = 0; i < run->warnings_count; i++) {
		snprintf(text, sizeof(text), "%s", run->warnings[i].text);
		if (run->sources_count > 1)
			snprintf(text, sizeof(text), "of %" PRIu64 " recording%s, one: %s",
				 run->warnings[i].sources_count, run->warnings[i].sources_count == 1 ? "" : "s",
				 run->warnings[i].text);
		km_document_line(record, run->warnings[i].code, text);
	}
	km_document_add(state, record, "health", "Health", KM_SHAPE_LINES, KM_FOR_PEOPLE);
}

int km_document_run(struct km_document *document, const struct km_run *run, const struct km_document_options *options,
		    struct km_error *error)
{
	struct document_state *state = NULL;
	int r = km_document_begin(document, "kmstat.report", &state, error);

	if (r)
		return r;
	if (options->audience == KM_FOR_PEOPLE) {
		add_summary(state, run);
		r = add_tables(document, run, options, error);
		add_health_text(state, run);
		return km_document_finish(document, r, error);
	}
	add_sources(state, run);
	add_filters(state, run);
	add_totals(state, run);
	r = add_tables(document, run, options, error);
	add_overflow(state, run);
	add_health(state, run);
	km_document_put_head(state, "slab", run->sites_by_function ? "function" : NULL);
	return km_document_finish(document, r, error);
}
