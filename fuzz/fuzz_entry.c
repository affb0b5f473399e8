/* SPDX-License-Identifier: GPL-2.0-only */
#include "fuzz_reader_entry.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate.h"
#include "reader.h"
#include "replay.h"
#include "tie_order.h"

#define BATCH         256
#define OBJECTS       64 /* few, so that the table overflows */
#define BUFFERS_LIMIT 4U
/* Many CPUs may claim the same bytes; that much of it is enough. */
#define EVENTS_LIMIT 200000U

#define MUST(condition)                                                                           \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

/* What is made of one buffer. */
struct pipeline {
	struct km_naming *naming;
	struct km_caches *caches;
	struct km_selection selection;
	struct km_replay *replay;
	struct km_aggregate *aggregate;
	struct km_tie_order *ties;
	struct km_filter filter;
	struct km_event events[BATCH];
	uint32_t keys[BATCH];
	struct km_outcome outcomes[BATCH];
	uint64_t kind_counts[KM_EVENT_MARK + 1];
	uint64_t events_count;
	uint64_t last_time;
};

/* Reads every byte, so that the sanitizers see it. */
static size_t touch(const char *text)
{
	return text ? strlen(text) : 0;
}

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
static void check_batch(struct pipeline *p, const struct km_reader *reader, size_t buffer, size_t count)
{
	unsigned cpu_limit = km_reader_info(reader)->buffers[buffer].cpu_limit;

	for (size_t i = 0; i < count; i++) {
		const struct km_event *e = &p->events[i];

		MUST(e->time >= p->last_time);
		MUST(e->kind <= KM_EVENT_MARK);
		MUST(e->cpu < cpu_limit);
		MUST(e->cache <= km_reader_cache_count(reader));
		MUST(!km_event_is_alloc(e) || !e->ptr ||
		     (e->bytes_req <= e->bytes_alloc && e->bytes_alloc < KM_OBJECT_BYTES_LIMIT));
		p->last_time = e->time;
		p->kind_counts[e->kind]++;
		p->events_count++;
	}
}

/* Events of one time on several CPUs, as far as they came in one batch. */
static void resolve_ties(struct pipeline *p, size_t count)
{
	for (size_t i = 0, n; i < count; i += n) {
		for (n = 1; i + n < count && p->events[i].flags & p->events[i + n].flags & KM_EVENT_TIED &&
			    p->events[i].time == p->events[i + n].time;)
			n++;
		if (n > 1)
			km_tie_order_resolve(p->ties, p->replay, p->events + i, n, NULL);
		km_aggregate_keys(p->aggregate, p->events + i, n, p->keys + i, NULL);
		km_replay_run(p->replay, p->events + i, p->keys + i, n, p->outcomes + i);
	}
	MUST(!km_aggregate_account(p->aggregate, p->events, p->keys, p->outcomes, count, NULL));
}

static bool pipeline_init(struct pipeline *p, struct km_reader *reader, size_t buffer)
{
	struct km_replay_options options = { .objects_count = OBJECTS,
					     .cpu_limit = km_reader_info(reader)->buffers[buffer].cpu_limit };

	p->caches = km_caches_new(reader);
	p->ties = km_tie_order_new();
	if (!p->caches || !p->ties || km_naming_new(reader, NULL, false, &p->naming, NULL))
		return false;
	p->selection = (struct km_selection){
		.filter = &p->filter,
		.by = { .fields = { KM_BY_FUNCTION, KM_BY_CACHE, KM_BY_COMM, KM_BY_GFP }, .count = 4 },
		.reader = reader,
		.naming = p->naming,
		.caches = p->caches,
		.until_time = UINT64_MAX,
	};
	return !km_replay_new(&options, &p->replay, NULL) &&
	       !km_aggregate_new(&p->selection, options.cpu_limit, &p->aggregate, NULL);
}

static void pipeline_release(struct pipeline *p)
{
	km_aggregate_free(p->aggregate);
	km_replay_free(p->replay);
	km_tie_order_free(p->ties);
	km_caches_free(p->caches);
	km_naming_free(p->naming);
	free(p);
}

static void look_at_rows(struct pipeline *p)
{
	const struct km_replayed *all = km_aggregate_replayed(p->aggregate);
	struct km_row row;

	MUST(all->alloc_events_count ==
	     all->failed_count + all->doubled_count + all->overflowed_count + all->tracked_count);
	MUST(all->tracked_count ==
	     all->matched_frees_count + all->implied_frees_count + km_replay_table(p->replay)->count);
	MUST(all->free_events_count == all->null_frees_count + all->matched_frees_count + all->unmatched_frees_count);
	for (enum km_axis axis = KM_AXIS_SITE; axis <= KM_AXIS_GROUP; axis++) {
		size_t count = km_aggregate_rows_count(p->aggregate, axis);
		uint64_t tracked = 0;

		for (size_t i = 0; i < count; i++) {
			MUST(!km_aggregate_row(p->aggregate, axis, i, true, &row));
			tracked += row.sums.tracked_count;
			km_row_release(&row);
		}
		MUST(tracked == all->tracked_count);
	}
	MUST(!km_aggregate_total(p->aggregate, &row));
	MUST(row.sums.tracked_count == all->tracked_count);
	km_row_release(&row);
}

static void look_at_stats(const struct pipeline *p, struct km_reader *reader, const struct km_buffer_stats *stats)
{
	size_t kinds;
	const struct km_event_count *counts = km_reader_event_counts(reader, &kinds);
	uint64_t of_cpus = 0, of_kinds = 0;

	for (unsigned kind = 0; kind <= KM_EVENT_MARK; kind++)
		MUST(kind == KM_EVENT_LOST || stats->slab_counts[kind] == p->kind_counts[kind]);
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
static bool run_buffer(struct km_reader *reader, size_t buffer)
{
	struct pipeline *p = calloc(1, sizeof(*p));
	bool is_read = false;
	int n = 0;

	if (!p)
		return false;
	if (km_reader_start(reader, buffer, NULL) || !pipeline_init(p, reader, buffer))
		goto out;
	while (p->events_count < EVENTS_LIMIT && (n = km_reader_read(reader, p->events, BATCH, NULL)) > 0) {
		if (!p->events_count)
			look_at_symbols(reader, p->events[0].call_site);
		check_batch(p, reader, buffer, (size_t)n);
		resolve_ties(p, (size_t)n);
	}
	MUST(!km_aggregate_finish(p->aggregate, km_replay_table(p->replay), NULL));
	look_at_rows(p);
	is_read = n == 0;
	if (is_read) {
		const struct km_buffer_stats *stats = km_reader_stats(reader);

		look_at_stats(p, reader, stats);
		look_at_range(reader, buffer, stats);
	}
out:
	pipeline_release(p);
	return is_read;
}

static enum km_fuzz_depth run(const uint8_t *data, size_t bytes, const struct km_reader_options *options)
{
	struct km_source *source = km_source_new_memory("fuzz.dat", data, bytes);
	enum km_fuzz_depth depth = KM_FUZZ_OPENED;
	struct km_error error = { 0 };
	struct km_reader *reader;
	size_t buffers;
	int r;

	if (!source)
		return KM_FUZZ_REFUSED;
	r = km_reader_open(source, options, &reader, &error);
	MUST(r == error.code);
	if (r) {
		km_source_close(source);
		return KM_FUZZ_REFUSED;
	}
	look_at_info(reader);
	buffers = km_reader_info(reader)->buffers_count;
	for (size_t i = 0; i < buffers && i < BUFFERS_LIMIT; i++) {
		if (run_buffer(reader, i))
			depth = KM_FUZZ_READ;
	}
	km_reader_close(reader);
	return depth;
}

enum km_fuzz_depth km_fuzz_reader(const uint8_t *data, size_t bytes)
{
	static const struct km_reader_options marks = { .marks = { "begin", "n" } };

	return run(data, bytes, &marks);
}
