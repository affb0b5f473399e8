/* SPDX-License-Identifier: GPL-2.0-only */
#include "fuzz_entry.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"
#include "document.h"
#include "objects.h"
#include "output.h"
#include "reader.h"

#define BATCH         256
#define BUFFERS_LIMIT 4U
/* Many CPUs may claim the same bytes; that much of it is enough. */
#define EVENTS_LIMIT 200000U
/* What a pipe holds without anybody reading. */
#define PIPE_BYTES 65536U

#define MUST(condition)                                                                           \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

/* Reads every byte, so that the sanitizers see it. */
static size_t touch(const char *text)
{
	return text ? strlen(text) : 0;
}

/* Whatever went wrong is said in one line. */
static void check_error(int code, const struct km_error *error)
{
	MUST(code == error->code);
	MUST(!code == !error->text[0]);
	for (const char *p = error->text; *p; p++)
		MUST((unsigned char)*p >= ' ' && *p != 0x7f);
}

/* ---- reading ---- */

struct reading {
	uint64_t kind_counts[KM_EVENT_MARK + 1];
	uint64_t events_count;
	uint64_t last_time;
};

static void look_at_info(struct km_reader *reader)
{
	const struct km_trace_info *info = km_reader_info(reader);

	touch(info->format);
	touch(info->kernel);
	touch(info->generator);
	for (size_t i = 0; i < info->buffers_count; i++) {
		touch(info->buffers[i].name);
		touch(info->buffers[i].clock);
		MUST(info->buffers[i].cpu_limit <= KM_CPU_LIMIT);
		MUST((info->buffers[i].cpus_count == 0) == (info->buffers[i].cpu_limit == 0));
	}
	for (int32_t pid = -1; pid < 100; pid++)
		touch(km_reader_comm(reader, pid));
}

static void look_at_symbols(struct km_reader *reader, uint64_t call_site)
{
	struct km_symbols *symbols = km_reader_symbols(reader, NULL);
	struct km_symbol symbol;

	if (symbols && km_symbols_find(symbols, call_site, &symbol) == 1)
		MUST(km_symbols_plain_bytes(symbol.name, symbol.name_bytes) <= symbol.name_bytes);
}

/* Everything the reader promises of a batch. */
static void check_batch(struct reading *reading, const struct km_reader *reader, size_t buffer,
			const struct km_event *events, size_t count)
{
	unsigned cpu_limit = km_reader_info(reader)->buffers[buffer].cpu_limit;

	for (size_t i = 0; i < count; i++) {
		const struct km_event *e = &events[i];

		MUST(e->time >= reading->last_time);
		MUST(e->kind <= KM_EVENT_MARK);
		MUST(e->cpu < cpu_limit);
		MUST(e->cache <= km_reader_cache_count(reader));
		MUST(!km_event_is_alloc(e) || !e->ptr ||
		     (e->bytes_req <= e->bytes_alloc && e->bytes_alloc < KM_OBJECT_BYTES_LIMIT));
		reading->last_time = e->time;
		reading->kind_counts[e->kind]++;
		reading->events_count++;
	}
}

static void look_at_stats(const struct reading *reading, struct km_reader *reader, const struct km_buffer_stats *stats)
{
	size_t kinds;
	const struct km_event_count *counts = km_reader_event_counts(reader, &kinds);
	uint64_t of_cpus = 0, of_kinds = 0;

	for (unsigned kind = 0; kind <= KM_EVENT_MARK; kind++)
		MUST(kind == KM_EVENT_LOST || stats->slab_counts[kind] == reading->kind_counts[kind]);
	for (size_t i = 0; i < stats->cpus_count; i++)
		of_cpus += stats->cpus[i].events_count;
	for (size_t i = 0; i < kinds; i++) {
		touch(counts[i].name);
		of_kinds += counts[i].count;
	}
	touch(stats->first_skipped);
	touch(stats->first_damage);
	MUST(of_cpus == stats->events_count);
	MUST(of_kinds <= stats->events_count && stats->events_count - of_kinds <= stats->skipped_count);
	MUST(stats->has_events == (stats->events_count > 0));
	MUST(!stats->has_events || stats->first_time <= stats->last_time);
}

/* The times found without reading are those that reading finds; pages out of order excuse it. */
static void look_at_range(struct km_reader *reader, size_t buffer, const struct km_buffer_stats *stats)
{
	uint64_t first = 0, last = 0, first_read = stats->first_time, last_read = stats->last_time;
	bool has_events = stats->has_events, is_sound = !stats->backwards_count;
	int r;

	for (size_t i = 0; i < stats->cpus_count; i++)
		is_sound = is_sound && !stats->cpus[i].damaged_count;
	r = km_reader_time_range(reader, buffer, &first, &last, NULL);
	MUST(r == has_events);
	MUST(!r || first == first_read);
	MUST(!r || !is_sound || last == last_read);
}

/* Whether it was read to its end. */
static bool read_buffer(struct km_reader *reader, size_t buffer, bool *ret_is_endless)
{
	struct reading reading = { 0 };
	struct km_error error = { 0 };
	struct km_event events[BATCH];
	int n = km_reader_start(reader, buffer, &error);

	check_error(n, &error);
	if (n)
		return false;
	while ((n = km_reader_read(reader, events, BATCH, &error)) > 0) {
		if (!reading.events_count)
			look_at_symbols(reader, events[0].call_site);
		check_batch(&reading, reader, buffer, events, (size_t)n);
		if (reading.events_count >= EVENTS_LIMIT) {
			*ret_is_endless = true;
			return false;
		}
	}
	check_error(n, &error);
	if (!n) {
		const struct km_buffer_stats *stats = km_reader_stats(reader);

		look_at_stats(&reading, reader, stats);
		look_at_range(reader, buffer, stats);
	}
	return !n;
}

/* NULL: refused. source is taken over. */
static struct km_reader *open_reader(struct km_source *source, const struct km_reader_options *options)
{
	struct km_error error = { 0 };
	struct km_reader *reader;
	int r;

	if (!source)
		return NULL;
	r = km_reader_open(source, options, &reader, &error);
	check_error(r, &error);
	if (!r)
		return reader;
	km_source_close(source);
	return NULL;
}

static enum km_fuzz_depth read_all(const uint8_t *data, size_t bytes, bool *ret_is_endless)
{
	static const struct km_reader_options options = { .marks = { "begin", "n" } };
	struct km_reader *reader = open_reader(km_source_new_memory("fuzz.dat", data, bytes), &options);
	enum km_fuzz_depth depth = KM_FUZZ_OPENED;
	size_t buffers;

	if (!reader)
		return KM_FUZZ_REFUSED;
	look_at_info(reader);
	buffers = km_reader_info(reader)->buffers_count;
	if (buffers > BUFFERS_LIMIT)
		*ret_is_endless = true;
	for (size_t i = 0; i < buffers && i < BUFFERS_LIMIT; i++) {
		if (read_buffer(reader, i, ret_is_endless))
			depth = KM_FUZZ_READ;
	}
	km_reader_close(reader);
	return depth;
}

enum km_fuzz_depth km_fuzz_read(const uint8_t *data, size_t bytes)
{
	bool is_endless;

	return read_all(data, bytes, &is_endless);
}

/* ---- reporting ---- */

enum document { REPORT, OBJECTS, INFO, SIZE };

/* What is asked for, as a command would. */
struct wish {
	uint64_t bits; /* what is left of them decides */
	enum document document;
	enum { JSON, CSV, TABLE } format;
	size_t buffer;
	bool is_stream;
	struct km_filter filter;
	struct km_analysis_options analysis;
	struct km_reader_options reading;
	struct km_document_options writing;
};

static unsigned choose(struct wish *wish, unsigned count)
{
	unsigned choice = (unsigned)(wish->bits % count);

	wish->bits /= count;
	return choice;
}

/* As in fnv1a, so that any change of the bytes chooses anew. */
static uint64_t hash(const uint8_t *data, size_t bytes)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < bytes; i++)
		h = (h ^ data[i]) * UINT64_C(0x100000001b3);
	return h ^ h >> 29;
}

static void wish_filter(struct wish *wish)
{
	static const char *const times[] = { "10%,60%", "+0.000001,", "@begin,@n", "1,5000" };
	struct km_filter *f = &wish->filter;

	switch (choose(wish, 12)) {
	case 0:
		MUST(!km_patterns_parse(&f->cache, "d*,k*,!*1*", NULL));
		break;
	case 1:
		MUST(!km_patterns_parse(&f->comm, "!b*", NULL) && !km_patterns_parse(&f->function, "*_*", NULL));
		break;
	case 2:
		MUST(!km_ranges_parse(&f->cpu, "0,2-400", NULL) && !km_ranges_parse(&f->node, "-1-3", NULL));
		break;
	case 3:
		f->min_size_bytes = 64;
		break;
	case 4:
		f->has_min_age = true;
		f->min_age_ns = 1000;
		break;
	case 5:
	case 6:
		f->has_time = true;
		MUST(!km_time_window_parse(times[choose(wish, 4)], &f->from, &f->until, NULL));
		f->has_min_age = choose(wish, 2);
		break;
	default:
		break;
	}
	if (f->from.kind == KM_TIME_MARK)
		wish->reading.marks[0] = f->from.text;
	if (f->until.kind == KM_TIME_MARK)
		wish->reading.marks[1] = f->until.text;
}

static void make_wish(struct wish *wish, uint64_t bits)
{
	static const uint64_t objects[] = { 0, 0, 3, 64 };
	static const char *const by[] = { "function,cache,comm,gfp", "site,module,pid,cpu,node,size" };

	*wish = (struct wish){ .bits = bits };
	wish->document = (enum document)choose(wish, 4);
	wish->format = choose(wish, 3);
	wish->buffer = choose(wish, BUFFERS_LIMIT);
	wish->is_stream = !choose(wish, 4);
	wish->reading.threads = choose(wish, 16) ? 1 : 3;
	wish->reading.only_counts = wish->document == INFO;
	wish_filter(wish);
	wish->analysis = (struct km_analysis_options){
		.filter = &wish->filter,
		.raw_ip = !choose(wish, 4),
		.objects_count = objects[choose(wish, 4)],
		.max_memory_bytes = 1 << 18,
		.when_full = choose(wish, 3) ? KM_WHEN_FULL_DROP : KM_WHEN_FULL_SAMPLE,
		.has_detail = choose(wish, 2),
		.on_loss = (enum km_on_loss)choose(wish, 3),
		.has_reorder_window = !choose(wish, 3),
		.reorder_window_ns = 100,
		.stops_at_until = wish->document == OBJECTS,
	};
	if (wish->document == SIZE) {
		wish->analysis.has_sizes = true;
		wish->analysis.objects_count = 0;
		wish->analysis.when_full = KM_WHEN_FULL_DROP;
	}
	if (!choose(wish, 3))
		MUST(!km_by_parse(by[choose(wish, 2)], &wish->analysis.by, NULL));
	wish->writing = (struct km_document_options){
		.audience = wish->format == TABLE ? KM_FOR_PEOPLE : KM_FOR_MACHINES,
		.has_limit = choose(wish, 2),
		.limit = choose(wish, 4),
		.verbose = choose(wish, 3),
	};
}

/* What the replay and the counts owe each other. */
static void check_sums(const struct km_analysis *analysis)
{
	const struct km_replayed *all = km_aggregate_replayed(analysis->aggregate);
	const struct km_replay_hash *table = km_replay_table(analysis->replay);
	bool is_whole = !km_filter_is_active(analysis->options.filter);
	struct km_row row;
	uint64_t tracked;

	MUST(all->alloc_events_count == all->failed_count + all->doubled_count + all->overflowed_count +
						all->tracked_count + all->sampled_out_count);
	MUST(all->tracked_count ==
	     all->matched_frees_count + all->implied_frees_count + all->reset_count + all->purged_count + table->count);
	MUST(all->free_events_count == all->null_frees_count + all->matched_frees_count + all->unmatched_frees_count +
					       all->sampled_out_frees_count);
	MUST(!km_aggregate_total(analysis->aggregate, &row));
	tracked = row.sums.tracked_count;
	MUST(is_whole ? tracked == all->tracked_count : tracked <= all->tracked_count);
	MUST(row.sums.live_count >> table->k <= tracked && row.sums.live_bytes <= row.level.peak_live_bytes);
	MUST(!is_whole || row.sums.live_count == table->count << table->k);
	km_row_release(&row);
	for (enum km_axis axis = KM_AXIS_SITE; axis <= KM_AXIS_GROUP; axis++) {
		size_t count = km_aggregate_rows_count(analysis->aggregate, axis);
		uint64_t sum = 0;

		for (size_t i = 0; i < count; i++) {
			MUST(!km_aggregate_row(analysis->aggregate, axis, i, true, &row));
			sum += row.sums.tracked_count;
			km_row_release(&row);
		}
		MUST(axis == KM_AXIS_GROUP && !analysis->options.by.count ? !count : sum == tracked);
	}
}

static void check_json(const char *text, size_t bytes)
{
	json_error_t error;
	json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);

	if (!root)
		fprintf(stderr, "%s\n%d: %s\n", text, error.line, error.text);
	MUST(json_is_object(root));
	json_decref(root);
}

static void write_document(const struct wish *wish, struct km_document *document)
{
	const struct km_output_style style = { .width = wish->writing.verbose * 50, .colour = wish->writing.has_limit };
	struct km_error error = { 0 };
	size_t bytes = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);
	int r;

	MUST(out != NULL);
	if (wish->format == JSON)
		r = km_output_json(out, &document->report, &document->fields, &error);
	else if (wish->format == CSV)
		r = km_output_csv(out, &document->report, &document->fields, &error);
	else
		r = km_output_table(out, &document->report, &document->fields, &style, &error);
	MUST(!fclose(out));
	check_error(r, &error);
	MUST(!r && bytes);
	if (wish->format == JSON)
		check_json(text, bytes);
	free(text);
}

static int run_analysis(struct wish *wish, struct km_reader *reader, struct km_error *error)
{
	struct km_analysis *analysis;
	struct km_document document;
	int r = km_analysis_run(reader, wish->buffer % km_reader_info(reader)->buffers_count, &wish->analysis,
				&analysis, error);

	if (r)
		return r;
	check_sums(analysis);
	if (wish->document == OBJECTS)
		r = km_document_objects(&document, analysis, &wish->writing, error);
	else if (wish->document == SIZE)
		r = km_document_size(&document, analysis, &wish->writing, error);
	else
		r = km_document_report(&document, analysis, &wish->writing, error);
	if (!r) {
		write_document(wish, &document);
		km_document_release(&document);
	}
	km_analysis_free(analysis);
	return r;
}

static int run_info(struct wish *wish, struct km_reader *reader, struct km_error *error)
{
	struct km_document document;
	int r = km_document_info(&document, reader, &wish->writing, error);

	if (r)
		return r;
	if (wish->format != CSV) /* it is no table */
		write_document(wish, &document);
	km_document_release(&document);
	return 0;
}

/* The bytes through a pipe, which takes them all at once. */
static struct km_source *open_stream(const uint8_t *data, size_t bytes)
{
	struct km_source *source = NULL;
	char path[32];
	int fds[2];

	MUST(!pipe(fds) && write(fds[1], data, bytes) == (ssize_t)bytes && !close(fds[1]));
	snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
	MUST(!km_source_open(path, &source, NULL));
	close(fds[0]);
	return source;
}

static void report(const uint8_t *data, size_t bytes)
{
	struct km_error error = { 0 };
	struct km_source *source;
	struct km_reader *reader;
	struct wish wish;
	int r;

	make_wish(&wish, hash(data, bytes));
	if (wish.is_stream && bytes <= PIPE_BYTES)
		source = open_stream(data, bytes);
	else
		source = km_source_new_memory("fuzz.dat", data, bytes);
	reader = open_reader(source, &wish.reading);
	if (reader && km_reader_info(reader)->buffers_count) {
		r = wish.document == INFO ? run_info(&wish, reader, &error) : run_analysis(&wish, reader, &error);
		check_error(r, &error);
	}
	km_reader_close(reader);
	km_filter_release(&wish.filter);
}

enum km_fuzz_depth km_fuzz(const uint8_t *data, size_t bytes)
{
	bool is_endless = false;
	enum km_fuzz_depth depth = read_all(data, bytes, &is_endless);

	/* A file that is refused is so in the same way the second time. */
	if (!is_endless && depth != KM_FUZZ_REFUSED)
		report(data, bytes);
	return depth;
}
