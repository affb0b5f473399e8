/* SPDX-License-Identifier: GPL-2.0-only */
/* `info`: what is in a file, with or without slab events. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document_private.h"
#include "format.h"
#include "tuples.h"

/* Events by name over all buffers. */
struct count {
	char name[64];
	uint64_t count;
};

struct info {
	struct document_state *state;
	struct km_reader *reader;
	bool for_people;
	struct count *counts;
	size_t counts_count;
	struct km_record *buffers;    /* machines: one row a buffer; people: lines */
	struct km_buffer_stats first; /* of the first buffer with events, for `trace` */
	size_t first_index;
	bool has_first;
	uint64_t slab_events;
};

static int add_count(struct info *info, const char *name, uint64_t count)
{
	struct count *counts;

	for (size_t i = 0; i < info->counts_count; i++) {
		if (!strcmp(info->counts[i].name, name)) {
			info->counts[i].count += count;
			return 0;
		}
	}
	counts = reallocarray(info->counts, info->counts_count + 1, sizeof(*counts));
	if (!counts)
		return -ENOMEM;
	info->counts = counts;
	snprintf(counts[info->counts_count].name, sizeof(counts[0].name), "%s", name);
	counts[info->counts_count++].count = count;
	return 0;
}

static int compare_counts(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool is_slab_name(const char *name)
{
	for (unsigned kind = 0; kind < KM_EVENT_SLAB_KINDS; kind++) {
		if (!strcmp(name, km_event_kind_name((enum km_event_kind)kind)))
			return true;
	}
	return false;
}

static void line(struct km_record *record, const char *label, const char *text)
{
	km_record_text(record, "label", label);
	km_record_text(record, "text", text);
	km_record_end_row(record);
}

static void buffer_line(struct info *info, const struct km_buffer_info *buffer, const struct km_buffer_stats *stats,
			const struct km_health *health, uint64_t slab)
{
	char a[KM_FORMAT_BYTES], b[KM_FORMAT_BYTES], c[KM_FORMAT_BYTES], text[400], label[80], lost[80] = "",
											       pages[48] = "";
	uint64_t duration = stats->last_time - stats->first_time;

	if (buffer->unit == KM_CLOCK_NS)
		km_format_duration(b, duration);
	else
		snprintf(b, sizeof(b), "%" PRIu64 " ticks", duration);
	if (health->lost_is == KM_LOST_UNKNOWN)
		snprintf(lost, sizeof(lost), "lost: not known");
	else
		snprintf(lost, sizeof(lost), "lost: %s%s", health->lost_is == KM_LOST_EXACT ? "" : "at least ",
			 km_format_count(a, health->lost_events_count));
	/* Other formats have no ring-buffer pages in them. */
	if (!strncmp(km_reader_info(info->reader)->format, "trace.dat", 9))
		snprintf(pages, sizeof(pages), "sub-buffers of %u KiB, ", buffer->page_bytes / 1024);
	snprintf(label, sizeof(label), "buffer %.64s", buffer->name[0] ? buffer->name : "(top)");
	snprintf(text, sizeof(text), "%s events in %s, %s of them slab, %zu CPU%s, clock %s, %s%s (%s)",
		 km_format_count(a, stats->events_count), b, km_format_count(c, slab), buffer->cpus_count,
		 buffer->cpus_count == 1 ? "" : "s", buffer->clock[0] ? buffer->clock : "not told", pages,
		 km_completeness_name(health->completeness), lost);
	line(info->buffers, label, text);
}

static void buffer_row(struct info *info, const struct km_buffer_info *buffer, const struct km_buffer_stats *stats,
		       const struct km_health *health, uint64_t slab)
{
	struct km_record *record = info->buffers;

	km_record_text(record, "name", buffer->name);
	km_record_text(record, "clock", buffer->clock[0] ? buffer->clock : NULL);
	km_record_number(record, "page_bytes", KM_TYPE_COUNT, buffer->page_bytes);
	km_record_number(record, "cpus_count", KM_TYPE_COUNT, buffer->cpus_count);
	km_record_number(record, "events_count", KM_TYPE_COUNT, stats->events_count);
	km_record_number(record, "slab_events_count", KM_TYPE_COUNT, slab);
	km_document_time(record, buffer, "duration_ns", "duration_ticks", stats->last_time - stats->first_time,
			 !stats->has_events);
	km_record_text(record, "completeness", km_completeness_name(health->completeness));
	if (health->lost_is == KM_LOST_UNKNOWN)
		km_record_null(record, "lost_events_count", KM_TYPE_COUNT);
	else
		km_record_number(record, "lost_events_count", KM_TYPE_COUNT, health->lost_events_count);
	km_record_text(record, "lost_is", km_lost_is_name(health->lost_is));
	km_record_end_row(record);
}

static int read_buffer(struct info *info, size_t index, struct km_error *error)
{
	const struct km_trace_info *trace = km_reader_info(info->reader);
	const struct km_buffer_info *buffer = &trace->buffers[index];
	const struct km_event_count *counts;
	const struct km_buffer_stats *stats;
	struct km_health health;
	struct km_event events[16];
	uint64_t slab = 0;
	size_t kinds;
	int r = km_reader_start(info->reader, index, error);

	while (!r) {
		r = km_reader_read(info->reader, events, sizeof(events) / sizeof(events[0]), error);
		if (r == 0)
			break;
		r = r < 0 ? r : 0;
	}
	if (r)
		return r;
	stats = km_reader_stats(info->reader);
	counts = km_reader_event_counts(info->reader, &kinds);
	for (size_t i = 0; i < kinds; i++) {
		if (add_count(info, counts[i].name, counts[i].count))
			return km_error_set(error, -ENOMEM, "out of memory");
		slab += is_slab_name(counts[i].name) ? counts[i].count : 0;
	}
	r = km_health_init(&health, trace, buffer, stats, error);
	if (r)
		return r;
	if (info->for_people)
		buffer_line(info, buffer, stats, &health, slab);
	else
		buffer_row(info, buffer, stats, &health, slab);
	for (size_t i = 0; info->for_people && i < health.warnings_count; i++)
		line(info->buffers, "", health.warnings[i].text);
	km_health_release(&health);
	info->slab_events += slab;
	if (!info->has_first || (!info->first.has_events && stats->has_events)) {
		info->first = *stats;
		info->first_index = index;
		info->has_first = true;
	}
	return 0;
}

static const char *symbols_words(struct km_reader *reader, char *text, size_t bytes)
{
	struct km_error error = { 0 };
	struct km_symbols *symbols = km_reader_symbols(reader, &error);
	char count[KM_FORMAT_BYTES];

	if (!symbols) {
		snprintf(text, bytes, "can not be read: %.400s", error.text);
		return text;
	}
	switch (km_symbols_state(symbols)) {
	case KM_SYMBOLS_NONE:
		return "none";
	case KM_SYMBOLS_ZEROED:
		return "all addresses are zero (recorded under kptr_restrict)";
	case KM_SYMBOLS_USABLE:
		snprintf(text, bytes, "%s text symbols%s", km_format_count(count, km_symbols_count(symbols)),
			 km_reader_info(reader)->symbols_are_running
				 ? " of /proc/kallsyms: the recorded kernel is the running one"
				 : "");
	}
	return text;
}

static void add_lines(struct info *info, struct km_error *error)
{
	const struct km_trace_info *trace = km_reader_info(info->reader);
	struct km_record *record = km_document_record(info->state);
	char text[512], number[64], kind[64] = "";

	(void)error;
	if (!record)
		return;
	line(record, "file", km_source_name(info->reader->source));
	if (!trace->has_site_names) /* a text tells neither */
		snprintf(kind, sizeof(kind), ", %s-endian, %u-bit kernel", trace->big_endian ? "big" : "little",
			 trace->word_bytes * 8);
	snprintf(text, sizeof(text), "%s%s%s%s", trace->format, kind,
		 trace->generator
			 ? (strncmp(trace->format, "trace.dat", 9) ? ", written by " : ", written by trace-cmd ")
			 : "",
		 trace->generator ? trace->generator : "");
	line(record, "format", text);
	line(record, "kernel", trace->kernel ? trace->kernel : "not told");
	snprintf(number, sizeof(number), "%u", trace->cpus_count);
	line(record, "CPUs", number);
	line(record, "symbols", symbols_words(info->reader, text, sizeof(text)));
	km_document_add(info->state, record, "summary", NULL, KM_SHAPE_LINES, KM_FOR_PEOPLE);
	km_document_add(info->state, info->buffers, "buffers", NULL, KM_SHAPE_LINES, KM_FOR_PEOPLE);
}

static void add_event_rows(struct info *info)
{
	struct km_record *record = km_document_record(info->state);

	if (!record)
		return;
	for (size_t i = 0; i < info->counts_count; i++) {
		if (info->for_people) {
			km_record_number(record, "count", KM_TYPE_COUNT, info->counts[i].count);
			km_record_title(record, "count", 0);
			km_record_text(record, "event", info->counts[i].name);
			km_record_title(record, "event", 0);
			km_record_end_row(record);
		} else {
			km_record_number(record, info->counts[i].name, KM_TYPE_COUNT, info->counts[i].count);
		}
	}
	if (!info->for_people)
		km_record_end_row(record);
	km_document_add(info->state, record, "events", info->for_people ? "Events" : NULL,
			info->for_people ? KM_SHAPE_ROWS : KM_SHAPE_RECORD, KM_FOR_PEOPLE | KM_FOR_MACHINES);
}

static void add_advice(struct info *info)
{
	struct km_record *record;

	if (info->slab_events)
		return;
	record = km_document_record(info->state);
	if (!record)
		return;
	if (!info->counts_count && km_reader_info(info->reader)->is_cut_short)
		line(record, "cut short", "the file ends before its events; record again, or try the file's original");
	else
		line(record, "no slab events", "record some with: trace-cmd record -e kmem -C mono -b 20000");
	km_document_add(info->state, record, "advice", NULL, KM_SHAPE_LINES, KM_FOR_PEOPLE);
}

int km_document_fill_info(struct document_state *state, struct km_reader *reader, bool for_people,
			  struct km_error *error)
{
	const struct km_trace_info *trace = km_reader_info(reader);
	struct info info = { .state = state, .reader = reader, .for_people = for_people };
	static const struct km_buffer_info no_buffer = { .name = "", .clock = "" };
	struct km_record *record;
	int r = 0;

	info.buffers = km_document_record(state);
	if (!info.buffers)
		return km_error_set(error, -ENOMEM, "out of memory");
	for (size_t i = 0; i < trace->buffers_count && !r; i++)
		r = read_buffer(&info, i, error);
	if (r)
		goto out;
	if (info.counts_count)
		qsort(info.counts, info.counts_count, sizeof(*info.counts), compare_counts);
	if (for_people) {
		add_lines(&info, error);
	} else {
		record = km_document_record(state);
		if (record) {
			km_document_trace_fields(record, reader,
						 info.has_first ? &trace->buffers[info.first_index] : &no_buffer,
						 &info.first);
			km_record_end_row(record);
			km_document_add(state, record, "trace", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
		}
		km_document_add(state, info.buffers, "buffers", NULL, KM_SHAPE_ROWS, KM_FOR_MACHINES);
	}
	add_event_rows(&info);
	if (for_people)
		add_advice(&info);
out:
	state->counts = info.counts;
	return r;
}
