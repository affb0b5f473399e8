/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reader of trace.dat: ties the container (tracedat), one stream a CPU
 * (tracedat_stream) and the merge together, and answers what the file says
 * of itself.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ahead.h"
#include "event_format.h"
#include "intern.h"
#include "merge.h"
#include "reader.h"
#include "tracedat.h"
#include "tracedat_stream.h"

/* Decoded ahead on each CPU; with many CPUs less, so that memory stays flat. */
#define EVENTS_AHEAD_MOST  2048
#define EVENTS_AHEAD_LEAST 64
#define EVENTS_AHEAD_TOTAL 65536
#define READ_BYTES_MOST    (256U << 10)
#define READ_BYTES_TOTAL   (8U << 20)

struct comm {
	int32_t pid;
	uint32_t offset; /* of its name in the text */
};

struct tracedat_reader {
	struct km_reader base;
	struct km_tracedat *file;
	struct km_buffer_info *buffers;
	char format_name[64];
	struct km_tracedat_decoder *decoder;
	struct km_error format_error; /* a slab event's format that can not be used */
	bool only_counts;
	bool has_pages;

	struct km_cpu_loss *losses;          /* one a CPU, in the order of the file */
	struct km_tracedat_stream **streams; /* in the order of CPU numbers */
	size_t *stream_cpus;                 /* which CPU of the file each stream is */
	size_t streams_count;
	struct km_ahead *ahead;
	struct km_merge *merge;
	unsigned threads;
	bool is_at_end; /* everything was read: no thread decodes any more */
	bool mark_is_met[2];
	struct km_buffer_stats stats;

	struct km_event_count *event_counts;
	struct km_symbols *symbols;
	char *comm_text;
	struct comm *comms;
	size_t comms_count;
	bool comms_loaded;
};

/* --- formats --- */

struct format_visit {
	struct tracedat_reader *reader;
	bool kmem_is_met[KM_EVENT_KINDS];
	int failure; /* out of memory */
};

static void add_layout(struct tracedat_reader *r, uint16_t id, const struct km_tracedat_layout *layout)
{
	struct km_tracedat_decoder *d = r->decoder;

	if (d->layout_of_id[id] || d->layouts_count == sizeof(d->layouts) / sizeof(d->layouts[0]))
		return;
	d->layouts[d->layouts_count] = *layout;
	d->layout_of_id[id] = (uint8_t)d->layouts_count++;
}

static int visit_slab_format(struct format_visit *visit, enum km_event_kind kind, const char *text, size_t bytes)
{
	struct tracedat_reader *r = visit->reader;
	struct km_tracedat_layout layout = { .text_offset = 0 };
	const char *file_name = km_source_name(r->file->source);
	struct km_event_format *format;
	struct km_error error = { 0 };
	int result;

	if (visit->kmem_is_met[kind])
		return 0;
	visit->kmem_is_met[kind] = true;
	result = km_event_format_parse(text, bytes, &format, &error);
	if (result == -ENOMEM) {
		visit->failure = result;
		return result;
	}
	if (result) {
		if (kind >= KM_EVENT_PAGE_ALLOC)
			return 0; /* it is a help only */
		km_error_set(&r->format_error, result, "%s: the format of event %s can not be used: %s", file_name,
			     km_event_kind_name(kind), error.text);
		return 0;
	}
	if (!km_slab_record_layout(format, kind, file_name, &layout.slab, &r->base.info.features,
				   kind < KM_EVENT_PAGE_ALLOC ? &r->format_error : NULL)) {
		add_layout(r, km_event_format_id(format), &layout);
		if (!r->base.gfp.count && kind <= KM_EVENT_CACHE_ALLOC_NODE)
			km_gfp_parse(text, bytes, &r->base.gfp);
	}
	km_event_format_free(format);
	return 0;
}

static int visit_event_format(void *context, const char *system, const char *text, size_t bytes)
{
	const struct format_visit *visit = context;
	bool has_pages = visit->reader->has_pages;
	enum km_event_kind kind;
	char name[64];
	uint16_t id;

	if (strcmp(system, "kmem") || km_event_format_peek(text, bytes, name, sizeof(name), &id) < 0 ||
	    !km_slab_record_kind(name, has_pages, &kind))
		return 0;
	return visit_slab_format(context, kind, text, bytes);
}

/* ftrace's own print event, which trace_marker writes. */
static int visit_ftrace_format(void *context, const char *system, const char *text, size_t bytes)
{
	struct format_visit *visit = context;
	struct km_tracedat_layout layout = { .slab.kind = KM_EVENT_MARK };
	struct km_event_format *format;
	struct km_field field;
	char name[64];
	uint16_t id;

	(void)system;
	if (km_event_format_peek(text, bytes, name, sizeof(name), &id) < 0 || strcmp(name, "print"))
		return 0;
	if (km_event_format_parse(text, bytes, &format, NULL))
		return 0;
	if (km_event_format_field(format, "buf", &field)) {
		layout.text_offset = field.offset;
		layout.slab.min_bytes = field.offset;
		add_layout(visit->reader, id, &layout);
	}
	km_event_format_free(format);
	return 1;
}

static int load_formats(struct tracedat_reader *r, bool ftrace,
			int (*visit)(void *context, const char *system, const char *text, size_t text_bytes),
			void *context, struct km_error *error)
{
	const struct km_tracedat_block *block = ftrace ? &r->file->ftrace_formats : &r->file->event_formats;
	size_t bytes;
	char *data;
	int result = km_tracedat_load(r->file, block, &data, &bytes, error);

	if (result)
		return result;
	result = km_tracedat_each_format(r->file, ftrace, data, bytes, visit, context);
	free(data);
	/* A damaged table: what was whole is known, and an event without a format is counted by its number. */
	return result == -ENOMEM ? km_error_set(error, result, "out of memory") : 0;
}

/* --- opening --- */

static enum km_clock_unit clock_unit(const char *clock, bool converts_tsc)
{
	/* trace_clocks[] of kernel/trace/trace.c and the architectures' ones, those with in_ns = 0 */
	static const char *const ticking[] = { "counter", "uptime", "x86-tsc", "ppc-tb", "s390-tod" };

	if (converts_tsc)
		return KM_CLOCK_NS;
	for (size_t i = 0; i < sizeof(ticking) / sizeof(ticking[0]); i++) {
		if (!strcmp(clock, ticking[i]))
			return KM_CLOCK_TICKS;
	}
	return KM_CLOCK_NS;
}

static bool converts_tsc(const struct km_tracedat *file, const char *clock)
{
	return file->has_tsc2nsec && (!strcmp(clock, "x86-tsc") || !strcmp(clock, "tsc2nsec"));
}

static int describe_buffers(struct tracedat_reader *r)
{
	struct km_tracedat *file = r->file;

	r->buffers = calloc(file->buffers_count ? file->buffers_count : 1, sizeof(*r->buffers));
	if (!r->buffers)
		return -ENOMEM;
	for (size_t i = 0; i < file->buffers_count; i++) {
		struct km_tracedat_buffer *from = &file->buffers[i];
		struct km_buffer_info *to = &r->buffers[i];

		to->name = from->name;
		to->clock = from->clock;
		to->unit = clock_unit(from->clock, converts_tsc(file, from->clock));
		to->clock_is_coherent = from->clock[0] && strcmp(from->clock, "local");
		to->page_bytes = from->page_bytes;
		to->cpus_count = from->cpus_count;
		for (size_t c = 0; c < from->cpus_count; c++) {
			if (from->cpus[c].cpu >= to->cpu_limit)
				to->cpu_limit = from->cpus[c].cpu + 1;
		}
	}
	return 0;
}

static void describe_trace(struct tracedat_reader *r)
{
	struct km_tracedat *file = r->file;
	struct km_trace_info *info = &r->base.info;

	if (file->version == 7)
		snprintf(r->format_name, sizeof(r->format_name), "trace.dat 7 (%.32s)", file->compression_name);
	else
		snprintf(r->format_name, sizeof(r->format_name), "trace.dat %u", file->version);
	info->format = r->format_name;
	info->kernel = file->uname;
	info->frees_are_late = km_kernel_release(file->uname) && km_kernel_release(file->uname) < 5016;
	info->generator = file->generator;
	info->big_endian = file->big_endian;
	info->word_bytes = file->page_header.commit_bytes;
	info->page_bytes = file->page_bytes;
	info->cpus_count = file->cpus_count;
	info->is_cut_short = file->is_cut_short;
	info->time_offset_ns = file->time_offset_ns;
	info->unknown_options_count = file->unknown_options_count;
	info->buffers = r->buffers;
	info->buffers_count = file->buffers_count;
}

static void stop(struct tracedat_reader *r)
{
	km_merge_free(r->merge);
	r->merge = NULL;
	km_ahead_free(r->ahead);
	r->ahead = NULL;
	for (size_t i = 0; i < r->streams_count; i++)
		km_tracedat_stream_free(r->streams[i]);
	free(r->streams);
	free(r->stream_cpus);
	r->streams = NULL;
	r->stream_cpus = NULL;
	r->streams_count = 0;
}

static void tracedat_close(struct km_reader *base)
{
	struct tracedat_reader *r = (struct tracedat_reader *)base;

	if (!r)
		return;
	stop(r);
	free(r->losses);
	free(r->decoder);
	free(r->event_counts);
	free(r->buffers);
	km_symbols_free(r->symbols);
	free(r->comm_text);
	free(r->comms);
	km_tracedat_close(r->file);
	free(r);
}

static int tracedat_bid(const uint8_t *head, size_t bytes)
{
	return km_tracedat_probe(head, bytes) ? 100 : 0;
}

static int tracedat_open(struct km_source *source, const struct km_reader_options *options,
			 struct km_reader **ret_reader, struct km_error *error)
{
	struct tracedat_reader *r = calloc(1, sizeof(*r));
	struct format_visit visit = { .reader = r };
	int result = -ENOMEM;

	if (!r)
		return km_error_set(error, result, "out of memory");
	r->decoder = calloc(1, sizeof(*r->decoder));
	r->base.cache_names = km_intern_new();
	if (!r->decoder || !r->base.cache_names) {
		km_error_set(error, result, "out of memory");
		goto fail;
	}
	result = km_tracedat_open(source, &r->file, error);
	if (result)
		goto fail;
	r->only_counts = options->only_counts;
	r->has_pages = options->has_pages;
	r->threads = km_reader_threads(options);
	r->decoder->layouts_count = 1;
	r->decoder->file = r->file;
	r->decoder->names = r->base.cache_names;
	memcpy(r->decoder->marks, options->marks, sizeof(r->decoder->marks));
	if (!r->only_counts) {
		result = load_formats(r, false, visit_event_format, &visit, error);
		if (!result && (options->marks[0] || options->marks[1]))
			result = load_formats(r, true, visit_ftrace_format, &visit, error);
		if (result)
			goto fail;
	}
	result = describe_buffers(r);
	if (result) {
		km_error_set(error, result, "out of memory");
		goto fail;
	}
	describe_trace(r);
	*ret_reader = &r->base;
	return 0;
fail:
	if (r)
		km_intern_free(r->base.cache_names);
	tracedat_close(&r->base);
	return result;
}

/* --- reading --- */

static size_t share(size_t total, size_t parts, size_t least, size_t most)
{
	size_t each = parts ? total / parts : total;

	return each < least ? least : each > most ? most : each;
}

/* Make the decoder ready for a buffer: everything but the streams. */
static int prepare(struct tracedat_reader *r, size_t index, struct km_error *error)
{
	struct km_tracedat_decoder *d = r->decoder;
	struct km_tracedat_buffer *buffer;

	if (index >= r->file->buffers_count)
		return km_error_set(error, -EINVAL, "%s: there is no buffer %zu", km_source_name(r->file->source),
				    index);
	if (r->format_error.code)
		return km_error_set(error, r->format_error.code, "%s", r->format_error.text);
	stop(r);
	buffer = &r->file->buffers[index];
	if (buffer->page_bytes < r->file->page_header.data_offset + 8)
		return km_error_set(error, -EBADMSG, "%s: a page size of %u bytes is too small for any page",
				    km_source_name(r->file->source), buffer->page_bytes);
	free(r->losses);
	r->losses = calloc(buffer->cpus_count ? buffer->cpus_count : 1, sizeof(*r->losses));
	if (!r->losses)
		return km_error_set(error, -ENOMEM, "out of memory");
	memset(&r->stats, 0, sizeof(r->stats));
	memset(r->mark_is_met, 0, sizeof(r->mark_is_met));
	r->is_at_end = false;
	d->buffer = buffer;
	d->converts_tsc = converts_tsc(r->file, buffer->clock);
	for (size_t i = 0; i < buffer->cpus_count; i++) {
		struct km_cpu_loss *loss = &r->losses[i];

		loss->cpu = buffer->cpus[i].cpu;
		for (size_t s = 0; s < buffer->stats_count; s++) {
			if (buffer->stats[s].cpu != loss->cpu || !buffer->stats[s].has_overrun)
				continue;
			loss->has_statistics = true;
			loss->overrun_count = buffer->stats[s].overrun;
			loss->commit_overrun_count = buffer->stats[s].commit_overrun;
			loss->dropped_count = buffer->stats[s].dropped_events;
		}
	}
	return 0;
}

static int compare_streams(const void *a, const void *b, void *context)
{
	const struct km_tracedat_buffer *buffer = context;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	unsigned cpu_a = buffer->cpus[i].cpu, cpu_b = buffer->cpus[j].cpu;

	return cpu_a != cpu_b ? (cpu_a < cpu_b ? -1 : 1) : i < j ? -1 : i > j;
}

static int tracedat_start(struct km_reader *base, size_t index, struct km_error *error)
{
	struct tracedat_reader *r = (struct tracedat_reader *)base;
	struct km_ahead_producer *producers = NULL;
	size_t cpus, ahead;
	int result = prepare(r, index, error);

	if (result)
		return result;
	cpus = r->decoder->buffer->cpus_count;
	ahead = share(EVENTS_AHEAD_TOTAL, cpus, EVENTS_AHEAD_LEAST, EVENTS_AHEAD_MOST);
	result = -ENOMEM;
	r->streams = calloc(cpus ? cpus : 1, sizeof(*r->streams));
	r->stream_cpus = calloc(cpus ? cpus : 1, sizeof(*r->stream_cpus));
	producers = calloc(cpus ? cpus : 1, sizeof(*producers));
	if (!r->streams || !r->stream_cpus || !producers)
		goto out;
	/* The lowest CPU number first: the order of equal times. */
	for (size_t i = 0; i < cpus; i++)
		r->stream_cpus[i] = i;
	qsort_r(r->stream_cpus, cpus, sizeof(*r->stream_cpus), compare_streams, (void *)(uintptr_t)r->decoder->buffer);
	for (size_t i = 0; i < cpus; i++) {
		size_t cpu = r->stream_cpus[i];

		r->streams[i] = km_tracedat_stream_new(
			r->decoder, cpu, &r->losses[cpu],
			share(READ_BYTES_TOTAL, cpus, r->decoder->buffer->page_bytes, READ_BYTES_MOST));
		if (!r->streams[i])
			goto out;
		producers[i] = (struct km_ahead_producer){ r->streams[i], km_tracedat_stream_produce };
		r->streams_count++;
	}
	result = km_ahead_new(producers, cpus, r->threads, ahead, &r->ahead, error);
	if (result)
		goto out;
	r->merge = km_merge_new(km_ahead_streams(r->ahead), cpus);
	result = r->merge ? 0 : -ENOMEM;
out:
	free(producers);
	return result == -ENOMEM ? km_error_set(error, result, "out of memory") : result;
}

/* Each CPU hands out its first print event with a wanted text: the first of all is meant. */
static int drop_later_marks(struct tracedat_reader *r, struct km_event *events, int count)
{
	int kept = 0;

	for (int i = 0; i < count; i++) {
		if (events[i].kind == KM_EVENT_MARK) {
			if (r->mark_is_met[events[i].bytes_req])
				continue;
			r->mark_is_met[events[i].bytes_req] = true;
		}
		events[kept++] = events[i];
	}
	return kept;
}

static int tracedat_read(struct km_reader *base, struct km_event *events, size_t capacity, struct km_error *error)
{
	struct tracedat_reader *r = (struct tracedat_reader *)base;
	bool has_marks = r->decoder->marks[0] || r->decoder->marks[1];
	int n, kept;

	do {
		n = kept = km_merge_read(r->merge, events, capacity, error);
		r->is_at_end |= n == 0;
		if (n > 0 && has_marks)
			kept = drop_later_marks(r, events, n);
	} while (n > 0 && !kept);
	return kept;
}

static int tracedat_time_range(struct km_reader *base, size_t index, uint64_t *ret_first, uint64_t *ret_last,
			       struct km_error *error)
{
	struct tracedat_reader *r = (struct tracedat_reader *)base;
	bool found = false;
	int result = prepare(r, index, error);

	for (size_t i = 0; !result && i < r->decoder->buffer->cpus_count; i++) {
		struct km_tracedat_stream *stream =
			km_tracedat_stream_new(r->decoder, i, &r->losses[i], READ_BYTES_MOST);
		uint64_t first, last;

		if (!stream)
			return km_error_set(error, -ENOMEM, "out of memory");
		result = km_tracedat_stream_range(stream, &first, &last, error);
		km_tracedat_stream_free(stream);
		if (result < 0)
			break;
		if (result > 0) {
			*ret_first = !found || first < *ret_first ? first : *ret_first;
			*ret_last = !found || last > *ret_last ? last : *ret_last;
			found = true;
		}
		result = 0;
	}
	return result < 0 ? result : found;
}

/* --- what was met --- */

struct name_visit {
	struct km_event_count *counts;
	size_t count;
};

static int visit_name(void *context, const char *system, const char *text, size_t bytes)
{
	struct name_visit *visit = context;
	char name[64];
	uint16_t id;

	(void)system;
	if (km_event_format_peek(text, bytes, name, sizeof(name), &id) < 0)
		return 0;
	for (size_t i = 0; i < visit->count; i++) {
		if (visit->counts[i].id == id && !visit->counts[i].name[0])
			memcpy(visit->counts[i].name, name, sizeof(name));
	}
	return 0;
}

static int compare_counts(const void *a, const void *b)
{
	const struct km_event_count *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Behind the first read each stream has met its first event, and does not change that any more. */
static int tracedat_first_time(struct km_reader *base, uint64_t *ret_time)
{
	struct tracedat_reader *r = (struct tracedat_reader *)base;
	int found = 0;

	for (size_t i = 0; i < r->streams_count; i++) {
		const struct km_tracedat_counts *counts = km_tracedat_stream_counts(r->streams[i]);

		if (!counts->has_events || (found && counts->first_time >= *ret_time))
			continue;
		*ret_time = counts->first_time;
		found = 1;
	}
	return found;
}

/* Nobody may count on while it is looked at. */
static void hold_streams(struct tracedat_reader *r)
{
	if (!r->is_at_end && r->ahead)
		km_ahead_stop(r->ahead);
}

static uint64_t count_of_id(const struct tracedat_reader *r, unsigned id)
{
	uint64_t count = 0;

	for (size_t i = 0; i < r->streams_count; i++) {
		const struct km_tracedat_counts *counts = km_tracedat_stream_counts(r->streams[i]);

		if (id < counts->ids_count)
			count += counts->ids[id];
	}
	return count;
}

/* One more than the highest id that any stream may have met. */
static size_t ids_limit(const struct tracedat_reader *r)
{
	size_t limit = 0;

	for (size_t i = 0; i < r->streams_count; i++) {
		size_t count = km_tracedat_stream_counts(r->streams[i])->ids_count;

		if (count > limit)
			limit = count;
	}
	return limit;
}

static const struct km_event_count *tracedat_event_counts(struct km_reader *base, size_t *ret_count)
{
	struct tracedat_reader *r = (struct tracedat_reader *)base;
	struct name_visit visit = { 0 };
	size_t room = 0, limit;

	hold_streams(r);
	limit = ids_limit(r);
	free(r->event_counts);
	r->event_counts = NULL;
	*ret_count = 0;
	for (unsigned id = 0; id < limit; id++) {
		uint64_t count = count_of_id(r, id);

		if (!count)
			continue;
		if (visit.count == room) {
			struct km_event_count *counts;

			room = room ? room * 2 : 32;
			counts = reallocarray(visit.counts, room, sizeof(*counts));
			if (!counts) {
				free(visit.counts);
				return NULL;
			}
			visit.counts = counts;
		}
		visit.counts[visit.count++] = (struct km_event_count){ .id = (uint16_t)id, .count = count };
	}
	load_formats(r, false, visit_name, &visit, NULL);
	load_formats(r, true, visit_name, &visit, NULL);
	for (size_t i = 0; i < visit.count; i++) {
		if (!visit.counts[i].name[0])
			snprintf(visit.counts[i].name, sizeof(visit.counts[i].name), "event %u", visit.counts[i].id);
	}
	if (visit.count)
		qsort(visit.counts, visit.count, sizeof(*visit.counts), compare_counts);
	r->event_counts = visit.counts;
	*ret_count = visit.count;
	return visit.counts;
}

static void add_counts(struct km_buffer_stats *stats, const struct km_tracedat_counts *counts)
{
	stats->events_count += counts->loss.events_count;
	stats->skipped_count += counts->skipped_count;
	stats->backwards_count += counts->backwards_count;
	for (unsigned kind = 0; kind < KM_EVENT_KINDS; kind++)
		stats->slab_counts[kind] += counts->slab_counts[kind];
	if (!stats->first_skipped && counts->first_skipped[0])
		stats->first_skipped = counts->first_skipped;
	if (!stats->first_damage && counts->first_damage[0])
		stats->first_damage = counts->first_damage;
	if (!counts->has_events)
		return;
	if (!stats->has_events || counts->first_time < stats->first_time)
		stats->first_time = counts->first_time;
	if (!stats->has_events || counts->last_time > stats->last_time)
		stats->last_time = counts->last_time;
	stats->has_events = true;
}

static const struct km_buffer_stats *tracedat_stats(struct km_reader *base)
{
	struct tracedat_reader *r = (struct tracedat_reader *)base;

	hold_streams(r);
	r->stats = (struct km_buffer_stats){ .cpus = r->losses,
					     .cpus_count = r->decoder->buffer ? r->decoder->buffer->cpus_count : 0 };
	for (size_t i = 0; i < r->streams_count; i++) {
		const struct km_tracedat_counts *counts = km_tracedat_stream_counts(r->streams[i]);

		r->losses[r->stream_cpus[i]] = counts->loss;
		add_counts(&r->stats, counts);
	}
	/* As handed out: each CPU found its own first ones. */
	r->stats.slab_counts[KM_EVENT_MARK] = (uint64_t)r->mark_is_met[0] + r->mark_is_met[1];
	return &r->stats;
}

/* --- names of tasks, symbols --- */

static int compare_comms(const void *a, const void *b)
{
	const struct comm *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* saved_cmdlines: "PID COMM" a line. */
static void parse_comms(struct tracedat_reader *r, const char *text, size_t bytes)
{
	size_t lines = 1;

	r->comm_text = strndup(text ? text : "", bytes);
	if (!r->comm_text)
		return;
	for (const char *p = r->comm_text; (p = strchr(p, '\n')); p++)
		lines++;
	r->comms = calloc(lines, sizeof(*r->comms));
	if (!r->comms)
		return;
	for (char *line = r->comm_text, *next; line; line = next) {
		char *end;
		long pid = strtol(line, &end, 10);

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (end == line || *end != ' ' || pid < 0 || pid > INT32_MAX)
			continue;
		r->comms[r->comms_count].pid = (int32_t)pid;
		r->comms[r->comms_count++].offset = (uint32_t)(end + 1 - r->comm_text);
	}
	qsort(r->comms, r->comms_count, sizeof(*r->comms), compare_comms);
}

static void load_comms(struct tracedat_reader *r)
{
	const char *text;
	size_t bytes, text_bytes;
	char *data;

	r->comms_loaded = true;
	if (km_tracedat_load(r->file, &r->file->cmdlines, &data, &bytes, NULL) || !data)
		return;
	text = km_tracedat_block_text(r->file, data, bytes, 8, &text_bytes);
	parse_comms(r, text, text_bytes);
	free(data);
}

static const char *tracedat_comm(struct km_reader *base, int32_t pid)
{
	struct tracedat_reader *r = (struct tracedat_reader *)base;
	size_t low = 0, high;

	if (pid == 0)
		return "<idle>";
	if (!r->comms_loaded)
		load_comms(r);
	for (high = r->comms_count; low < high;) { /* the last entry of that pid */
		size_t middle = low + (high - low) / 2;

		if (r->comms[middle].pid <= pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low && r->comms[low - 1].pid == pid ? r->comm_text + r->comms[low - 1].offset : "<...>";
}

static struct km_symbols *tracedat_symbols(struct km_reader *base, struct km_error *error)
{
	struct tracedat_reader *r = (struct tracedat_reader *)base;
	size_t bytes, text_bytes = 0;
	const char *text;
	char *data;

	if (r->symbols)
		return r->symbols;
	if (km_tracedat_load(r->file, &r->file->kallsyms, &data, &bytes, error))
		return NULL;
	text = data ? km_tracedat_block_text(r->file, data, bytes, 4, &text_bytes) : NULL;
	if (text)
		memmove(data, text, text_bytes);
	r->symbols = km_symbols_new(data, text ? text_bytes : 0, r->file->page_bytes);
	if (!r->symbols)
		km_error_set(error, -ENOMEM, "out of memory");
	return r->symbols;
}

const struct km_reader_ops km_reader_tracedat = {
	.name = "trace.dat",
	.bid = tracedat_bid,
	.open = tracedat_open,
	.close = tracedat_close,
	.start = tracedat_start,
	.read = tracedat_read,
	.time_range = tracedat_time_range,
	.first_time = tracedat_first_time,
	.stats = tracedat_stats,
	.event_counts = tracedat_event_counts,
	.comm = tracedat_comm,
	.symbols = tracedat_symbols,
};
