/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmstat events: each slab event in the order of the replay, and what the
 * replay made of it. Events come by a callback and go out in chunks, since a
 * writer pulls its rows.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "command.h"
#include "progress.h"

#define CHUNK 256

/* One event, with what it did already put into words. */
struct shown_event {
	struct km_event event;
	struct km_site_name site;
	const char *cache; /* NULL: not told */
	const char *outcome;
	bool has_object; /* matched, implied, doubled: the object that was there */
	struct km_site_name object_site;
	uint64_t object_age;
	uint32_t object_bytes;
};

enum event_column {
	EVENT_TIME,
	EVENT_TIME_TICKS,
	EVENT_CLOCK,
	EVENT_CLOCK_TICKS,
	EVENT_CPU,
	EVENT_PID,
	EVENT_COMM,
	EVENT_NAME,
	EVENT_PTR,
	EVENT_SYMBOL,
	EVENT_ADDRESS,
	EVENT_REQUESTED,
	EVENT_ALLOCATED,
	EVENT_GFP,
	EVENT_NODE,
	EVENT_CACHE,
	EVENT_OUTCOME,
	EVENT_OBJECT_SYMBOL,
	EVENT_OBJECT_AGE,
	EVENT_OBJECT_AGE_TICKS,
	EVENT_OBJECT_BYTES,
	EVENT_COLUMNS,
};

static const struct km_column event_columns[EVENT_COLUMNS] = {
	[EVENT_TIME] = { "time_ns", NULL, "from the first event of the buffer", KM_TYPE_DURATION, 0 },
	[EVENT_TIME_TICKS] = { "time_ticks", NULL, "the same where the clock is not in ns", KM_TYPE_TICKS, 0 },
	[EVENT_CLOCK] = { "clock_ns", NULL, "the trace clock", KM_TYPE_DURATION, 0 },
	[EVENT_CLOCK_TICKS] = { "clock_ticks", NULL, "the same where it is not in ns", KM_TYPE_TICKS, 0 },
	[EVENT_CPU] = { "cpu", NULL, "CPU", KM_TYPE_INTEGER, 0 },
	[EVENT_PID] = { "pid", NULL, "task", KM_TYPE_INTEGER, 0 },
	[EVENT_COMM] = { "comm", NULL, "last name of the task", KM_TYPE_STRING, 0 },
	[EVENT_NAME] = { "event", NULL, "tracepoint", KM_TYPE_STRING, 0 },
	[EVENT_PTR] = { "ptr", NULL, "address of the object", KM_TYPE_ADDRESS, 0 },
	[EVENT_SYMBOL] = { "symbol", NULL, "call site", KM_TYPE_STRING, 0 },
	[EVENT_ADDRESS] = { "call_site", NULL, "its address", KM_TYPE_ADDRESS, 0 },
	[EVENT_REQUESTED] = { "requested_bytes", NULL, "bytes asked for", KM_TYPE_COUNT, 0 },
	[EVENT_ALLOCATED] = { "allocated_bytes", NULL, "bytes given", KM_TYPE_COUNT, 0 },
	[EVENT_GFP] = { "gfp_flags", NULL, "gfp flags", KM_TYPE_STRING, 0 },
	[EVENT_NODE] = { "node", NULL, "NUMA node asked for", KM_TYPE_INTEGER, 0 },
	[EVENT_CACHE] = { "cache", NULL, "slab cache or kmalloc class as far as known then", KM_TYPE_STRING, 0 },
	[EVENT_OUTCOME] = { "outcome", NULL, "what the replay made of it", KM_TYPE_STRING, 0 },
	[EVENT_OBJECT_SYMBOL] = { "object.symbol", NULL, "who allocated the object that was freed or replaced",
				  KM_TYPE_STRING, 0 },
	[EVENT_OBJECT_AGE] = { "object.age_ns", NULL, "how long it had lived", KM_TYPE_DURATION, 0 },
	[EVENT_OBJECT_AGE_TICKS] = { "object.age_ticks", NULL, "the same in ticks", KM_TYPE_TICKS, 0 },
	[EVENT_OBJECT_BYTES] = { "object.allocated_bytes", NULL, "bytes it had been given", KM_TYPE_COUNT, 0 },
};

struct job {
	const struct options *options;
	struct km_reader *reader;
	struct km_analysis *analysis; /* while it runs: from the first event on */
	struct km_naming *naming;
	struct output output;
	bool filtered;
	bool is_limited; /* --limit ended it */
	bool ticks;
	bool has_csv_header;
	uint64_t start_time;
	int64_t time_offset_ns;
	uint64_t printed;
	struct shown_event chunk[CHUNK];
	size_t count, at;
	char gfp[512];
};

size_t command_events_describe(struct km_column *columns, size_t limit)
{
	size_t count = 0;

	for (size_t i = 0; i < EVENT_COLUMNS && count < limit; i++) {
		if (event_columns[i].type != KM_TYPE_TICKS)
			columns[count++] = event_columns[i];
	}
	return count;
}

static const char *outcome_name(const struct km_event *event, const struct km_outcome *outcome)
{
	static const char *const names[] = { [KM_OUTCOME_NONE] = "none",
					     [KM_OUTCOME_TRACKED] = "tracked",
					     [KM_OUTCOME_OVERFLOWED] = "overflowed",
					     [KM_OUTCOME_FAILED] = "failed",
					     [KM_OUTCOME_DOUBLED] = "doubled",
					     [KM_OUTCOME_MATCHED] = "matched",
					     [KM_OUTCOME_UNMATCHED] = "unmatched",
					     [KM_OUTCOME_NULL] = "null",
					     [KM_OUTCOME_SAMPLED_OUT] = "sampled_out" };

	(void)event;
	return outcome->implied_free ? "implied_free" : names[outcome->kind];
}

/* --- for machines: a section over the chunk --- */

static void fill_cell(struct job *job, const struct shown_event *shown, enum event_column column, struct km_cell *cell)
{
	const struct km_event *e = &shown->event;
	bool is_alloc = km_event_is_alloc(e);

	memset(cell, 0, sizeof(*cell));
	switch (column) {
	case EVENT_TIME:
	case EVENT_TIME_TICKS:
		cell->is_null = (column == EVENT_TIME) == job->ticks;
		cell->number = e->time - job->start_time;
		break;
	case EVENT_CLOCK:
	case EVENT_CLOCK_TICKS:
		cell->is_null = (column == EVENT_CLOCK) == job->ticks;
		cell->number = e->time;
		break;
	case EVENT_CPU:
		cell->integer = e->cpu;
		break;
	case EVENT_PID:
		cell->integer = e->pid;
		break;
	case EVENT_COMM:
		cell->text = km_reader_comm(job->reader, e->pid);
		break;
	case EVENT_NAME:
		cell->text = km_event_kind_name((enum km_event_kind)e->kind);
		break;
	case EVENT_PTR:
		cell->number = e->ptr;
		break;
	case EVENT_SYMBOL:
		cell->text = shown->site.symbol;
		break;
	case EVENT_ADDRESS:
		cell->number = e->call_site;
		cell->is_null = shown->site.is_made_up;
		break;
	case EVENT_REQUESTED:
		cell->is_null = !is_alloc;
		cell->number = e->bytes_req;
		break;
	case EVENT_ALLOCATED:
		cell->is_null = !is_alloc;
		cell->number = e->bytes_alloc;
		break;
	case EVENT_GFP:
		cell->is_null = !is_alloc;
		km_gfp_print(km_reader_gfp(job->reader), e->gfp, job->gfp, sizeof(job->gfp));
		cell->text = job->gfp;
		break;
	case EVENT_NODE:
		cell->is_null = !is_alloc;
		cell->integer = e->node;
		break;
	case EVENT_CACHE:
		cell->is_null = !shown->cache;
		cell->text = shown->cache;
		break;
	case EVENT_OUTCOME:
		cell->text = shown->outcome;
		break;
	case EVENT_OBJECT_SYMBOL:
		cell->is_null = !shown->has_object || !shown->object_site.symbol;
		cell->text = shown->object_site.symbol;
		break;
	case EVENT_OBJECT_AGE:
	case EVENT_OBJECT_AGE_TICKS:
		cell->is_null = !shown->has_object || (column == EVENT_OBJECT_AGE) == job->ticks;
		cell->number = shown->object_age;
		break;
	case EVENT_OBJECT_BYTES:
		cell->is_null = !shown->has_object;
		cell->number = shown->object_bytes;
		break;
	case EVENT_COLUMNS:
		break;
	}
}

static bool has_column(const struct job *job, size_t column)
{
	return job->ticks ||
	       (column != EVENT_TIME_TICKS && column != EVENT_CLOCK_TICKS && column != EVENT_OBJECT_AGE_TICKS);
}

static int next_event(void *state, struct km_cell *cells, struct km_error *error)
{
	struct job *job = state;
	size_t n = 0;

	(void)error;
	if (job->at == job->count)
		return 0;
	for (size_t column = 0; column < EVENT_COLUMNS; column++) {
		if (has_column(job, column))
			fill_cell(job, &job->chunk[job->at], (enum event_column)column, &cells[n++]);
	}
	job->at++;
	return 1;
}

static int write_machine_chunk(struct job *job, struct km_error *error)
{
	struct km_column columns[EVENT_COLUMNS];
	struct km_section section = { .path = "events",
				      .shape = KM_SHAPE_ROWS,
				      .audience = KM_FOR_MACHINES,
				      .columns = columns,
				      .next = next_event,
				      .state = job,
				      .is_primary = true };
	struct km_report report = {
		.schema = "kmstat.events", .schema_version = 1, .sections = &section, .sections_count = 1
	};
	struct km_fields fields = { 0 };
	int r = 0;

	for (size_t i = 0; i < EVENT_COLUMNS; i++) {
		if (has_column(job, i))
			columns[section.columns_count++] = event_columns[i];
	}
	if (job->options->fields)
		r = km_fields_parse(job->options->fields, columns, section.columns_count, &fields, error);
	if (!r && job->options->format == FORMAT_JSON)
		r = km_output_json_lines(job->output.stream, &report, &fields, error);
	else if (!r && job->has_csv_header)
		r = km_output_csv_more(job->output.stream, &report, &fields, error);
	else if (!r)
		r = km_output_csv(job->output.stream, &report, &fields, error);
	job->has_csv_header = true;
	free((uint16_t *)(uintptr_t)fields.indexes);
	return r;
}

/* --- for people: a line an event, as `trace-cmd report` has them --- */

/* A comm can be anything: nothing of it may steer the terminal. */
static void put_text(FILE *stream, const char *text, int width)
{
	size_t left = strlen(text), n;
	int taken = 0;

	/* Twice: for the width, then for the text. */
	for (unsigned pass = 0; pass < 2; pass++) {
		for (size_t at = 0; at < left; at += n) {
			mbstate_t state = { 0 };
			wchar_t wide = 0;

			n = mbrtowc(&wide, text + at, left - at, &state);
			if (n > left - at || wcwidth(wide) <= 0) {
				n = 1;
				taken += 4;
				if (pass)
					fprintf(stream, "\\x%02x", (unsigned char)text[at]);
			} else {
				taken += wcwidth(wide);
				if (pass)
					fwrite(text + at, 1, n, stream);
			}
		}
		if (!pass)
			fprintf(stream, "%*s", taken < width ? width - taken : 0, "");
	}
}

static void put_time(struct job *job, uint64_t time)
{
	uint64_t shown = time + (uint64_t)job->time_offset_ns;

	if (job->ticks)
		fprintf(job->output.stream, "%12" PRIu64, shown);
	else
		fprintf(job->output.stream, "%5" PRIu64 ".%09" PRIu64, shown / 1000000000, shown % 1000000000);
}

static void put_object(struct job *job, const struct shown_event *shown)
{
	char age[KM_FORMAT_BYTES];

	if (!shown->has_object)
		return;
	if (job->ticks)
		snprintf(age, sizeof(age), "%" PRIu64 " ticks", shown->object_age);
	else
		km_format_duration(age, shown->object_age);
	if (shown->object_site.symbol)
		fprintf(job->output.stream, " %s", shown->object_site.symbol);
	fprintf(job->output.stream, " after %s", age);
}

static void put_event(struct job *job, const struct shown_event *shown)
{
	const struct km_event *e = &shown->event;
	FILE *out = job->output.stream;
	static const struct {
		const char *name, *words;
	} words[] = {
		{ "implied_free", "tracked; implied free of" },
		{ "matched", "matched" },
		{ "doubled", "doubled: tells again of" },
		{ "null", "null, nothing freed" },
		{ "sampled_out", "sampled out" },
	};
	const char *outcome = shown->outcome;

	put_text(out, km_reader_comm(job->reader, e->pid), 16);
	fprintf(out, "-%-5d [%03u] ", e->pid, e->cpu);
	put_time(job, e->time);
	fprintf(out, ": %s: call_site=%s ptr=0x%" PRIx64, km_event_kind_name((enum km_event_kind)e->kind),
		shown->site.symbol, e->ptr);
	if (km_event_is_alloc(e)) {
		km_gfp_print(km_reader_gfp(job->reader), e->gfp, job->gfp, sizeof(job->gfp));
		fprintf(out, " bytes_req=%" PRIu64 " bytes_alloc=%" PRIu64 " gfp_flags=%s node=%d", e->bytes_req,
			e->bytes_alloc, job->gfp, e->node);
	}
	if (shown->cache) {
		fputs(" cache=", out);
		put_text(out, shown->cache, 0);
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(words[i].name, outcome))
			outcome = words[i].words;
	}
	fprintf(out, " -> %s", outcome);
	put_object(job, shown);
	putc('\n', out);
}

static int write_chunk(struct job *job, struct km_error *error)
{
	int r = 0;

	if (!job->count)
		return 0;
	job->at = 0;
	if (job->options->format != FORMAT_TABLE) {
		r = write_machine_chunk(job, error);
	} else {
		for (size_t i = 0; i < job->count; i++)
			put_event(job, &job->chunk[i]);
		if (ferror(job->output.stream))
			r = km_output_finish(job->output.stream, job->output.name, error);
	}
	job->count = 0;
	return r;
}

/* --- choosing --- */

static bool is_wanted(const struct job *job, const struct km_event *event, uint32_t key,
		      const struct km_outcome *outcome)
{
	bool has_object =
		outcome->implied_free || outcome->kind == KM_OUTCOME_MATCHED || outcome->kind == KM_OUTCOME_DOUBLED;

	if (job->options->has_ptr && event->ptr != job->options->ptr)
		return false;
	return !job->filtered || km_key_is_selected(key) || (has_object && km_key_is_selected(outcome->object.key));
}

static int visit(void *context, const struct km_event *event, uint32_t key, const struct km_outcome *outcome,
		 struct km_error *error)
{
	struct job *job = context;
	struct km_analysis *an = job->analysis;
	struct shown_event *shown;
	uint64_t object_site;
	int r;

	if (!is_wanted(job, event, key, outcome))
		return 0;
	shown = &job->chunk[job->count++];
	*shown = (struct shown_event){ .event = *event, .outcome = outcome_name(event, outcome) };
	shown->site = km_naming_site(an->naming, event->call_site);
	if (km_key_is_selected(key)) {
		uint64_t unused;

		km_aggregate_key(an->aggregate, key, &unused, &shown->cache);
		shown->cache = km_naming_keep(an->naming, shown->cache);
	} else if (event->cache != KM_CACHE_NONE) {
		shown->cache = km_reader_cache_name(job->reader, event->cache);
	}
	if (outcome->implied_free || outcome->kind == KM_OUTCOME_MATCHED || outcome->kind == KM_OUTCOME_DOUBLED) {
		const char *cache;

		shown->has_object = true;
		shown->object_age = event->time - outcome->object.time;
		shown->object_bytes = outcome->object.bytes_alloc;
		if (km_aggregate_key(an->aggregate, outcome->object.key, &object_site, &cache)) {
			shown->object_site = km_naming_site(an->naming, object_site);
			if (!shown->cache)
				shown->cache = km_naming_keep(an->naming, cache);
		}
	}
	job->start_time = an->start_time;
	job->printed++;
	r = job->count == CHUNK ? write_chunk(job, error) : 0;
	job->is_limited = job->options->has_limit && job->options->limit && job->printed == job->options->limit;
	return r ? r : job->is_limited;
}

static int run_buffer(struct job *job, size_t buffer, struct km_error *error)
{
	const struct km_trace_info *info = km_reader_info(job->reader);
	struct km_analysis_options options;
	struct km_analysis *analysis = NULL;
	struct progress *progress;
	int r = command_analysis_options(job->options, &options, error);

	if (r)
		return r;
	job->ticks = info->buffers[buffer].unit != KM_CLOCK_NS;
	job->time_offset_ns = info->time_offset_ns;
	options.visit = visit;
	options.visit_context = job;
	options.stops_at_until = true;
	options.ret_running = &job->analysis;
	if (info->buffers_count > 1 && job->options->format == FORMAT_TABLE)
		fprintf(job->output.stream, "# buffer %s\n",
			info->buffers[buffer].name[0] ? info->buffers[buffer].name : "top");
	/* Rows come while the file is read: nothing goes between them on a terminal. */
	progress = isatty(STDOUT_FILENO) ? NULL : progress_start(job->reader, job->options->quiet);
	r = km_analysis_run(job->reader, buffer, &options, &analysis, error);
	progress_stop(progress);
	if (!r)
		r = write_chunk(job, error);
	if (!r && !analysis->has_slab_events)
		r = command_no_slab_events(job->reader, error);
	if (!r && !job->is_limited) /* else the counts are those of a part */
		command_print_warnings(job->options, &analysis->health);
	km_analysis_free(analysis);
	return r;
}

int command_events(const struct options *options, struct km_error *error)
{
	struct km_reader_options reader_options = { .threads = options->threads };
	struct job *job = calloc(1, sizeof(*job));
	struct buffer_list list = { 0 };
	int r;

	if (options->fields && options->format == FORMAT_TABLE) {
		free(job);
		return km_error_set(error, -EINVAL, "--fields: chooses columns of --json and --format csv only");
	}
	if (!job)
		return km_error_set(error, -ENOMEM, "out of memory");
	job->options = options;
	job->filtered = km_filter_is_active(&options->filter);
	if (options->filter.from.kind == KM_TIME_MARK)
		reader_options.marks[0] = options->filter.from.text;
	if (options->filter.until.kind == KM_TIME_MARK)
		reader_options.marks[1] = options->filter.until.text;
	r = command_open(options, &reader_options, &job->reader, error);
	if (!r)
		r = command_buffers(job->reader, options, true, &list, error);
	if (!r)
		r = command_output_open(options, &job->output, error);
	if (!r) {
		command_output_begin(options, &job->output);
		for (size_t i = 0; i < list.count && !r; i++)
			r = run_buffer(job, list.indexes[i], error);
		r = command_output_close(&job->output, r, error);
	}
	free(list.indexes);
	km_reader_close(job->reader);
	free(job);
	return r;
}
