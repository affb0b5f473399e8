/* SPDX-License-Identifier: GPL-2.0-only */
#include "reader.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"

static const struct km_reader_ops *const readers[] = {
	&km_reader_tracedat,
	&km_reader_perf,
	&km_reader_text,
};

/* What a file is that no reader wants, for the error. */
static const char *describe(const uint8_t *head, size_t bytes)
{
	static const struct {
		const char *magic;
		size_t bytes;
		const char *what;
	} known[] = {
		{ "PERFILE2", 8, "a perf.data file" },
		{ "2ELIFREP", 8, "a perf.data file" },
		{ "\x28\xb5\x2f\xfd", 4, "a zstd archive" },
		{ "\x1f\x8b", 2, "a gzip archive" },
		{ "\xfd"
		  "7zXZ",
		  5, "an xz archive" },
		{ "\x7f"
		  "ELF",
		  4, "an ELF file" },
		{ "{", 1, "JSON" },
		{ "# tracer:", 9, "the text of tracefs's trace file" },
	};

	if (!bytes)
		return "empty";
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (bytes >= known[i].bytes && !memcmp(head, known[i].magic, known[i].bytes))
			return known[i].what;
	}
	return "of an unknown format";
}

static bool is_archive(const uint8_t *head, size_t bytes)
{
	return strstr(describe(head, bytes), " archive") != NULL;
}

int km_reader_open(struct km_source *source, const struct km_reader_options *options, struct km_reader **ret_reader,
		   struct km_error *error)
{
	static const struct km_reader_options no_options;
	const struct km_reader_ops *best = NULL;
	uint8_t head[KM_READER_HEAD_BYTES];
	struct km_reader *reader;
	int64_t n = km_source_read_at(source, 0, head, sizeof(head), error);
	int highest = 0;
	int r;

	if (n < 0)
		return (int)n;
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		int bid = readers[i]->bid(head, (size_t)n);

		if (bid > highest) {
			highest = bid;
			best = readers[i];
		}
	}
	if (!best && n > 0 && is_archive(head, (size_t)n))
		return km_error_set(error, -ENOTSUP, "%s: %s; unpack it first", km_source_name(source),
				    describe(head, (size_t)n));
	if (!best)
		return km_error_set(error, -ENOTSUP,
				    "%s: no trace.dat, perf.data or text of a trace, but %s; record one with "
				    "`trace-cmd record -e kmem`",
				    km_source_name(source), describe(head, (size_t)n));
	if (km_source_is_stream(source) && !best->reads_streams)
		return km_source_refuse_stream(source, error);
	r = best->open(source, options ? options : &no_options, &reader, error);
	if (r < 0)
		return r;
	reader->ops = best;
	reader->source = source;
	*ret_reader = reader;
	return 0;
}

void km_reader_close(struct km_reader *reader)
{
	struct km_intern *names;
	struct km_source *source, **parts;
	size_t parts_count;

	if (!reader)
		return;
	names = reader->cache_names;
	source = reader->source;
	parts = reader->parts;
	parts_count = reader->parts_count;
	reader->ops->close(reader);
	km_intern_free(names);
	for (size_t i = 0; i < parts_count; i++)
		km_source_close(parts[i]);
	free(parts);
	km_source_close(source);
}

int km_reader_add(struct km_reader *reader, struct km_source *source, enum km_reader_part part, struct km_error *error)
{
	struct km_source **parts;
	int r;

	if (!reader->ops->add)
		return km_error_set(error, -ENOTSUP,
				    "%s and %s are two recordings: only what one perf record wrote in pieces can be "
				    "read as one",
				    km_source_name(reader->source), km_source_name(source));
	parts = reallocarray(reader->parts, reader->parts_count + 1, sizeof(*parts));
	if (!parts)
		return km_error_set(error, -ENOMEM, "out of memory");
	reader->parts = parts;
	r = reader->ops->add(reader, source, part, error);
	if (!r)
		reader->parts[reader->parts_count++] = source;
	return r;
}

const struct km_trace_info *km_reader_info(const struct km_reader *reader)
{
	return &reader->info;
}

int km_reader_start(struct km_reader *reader, size_t buffer, struct km_error *error)
{
	return reader->ops->start(reader, buffer, error);
}

int km_reader_read(struct km_reader *reader, struct km_event *events, size_t capacity, struct km_error *error)
{
	int n = reader->ops->read(reader, events, capacity, error);

	if (n > 0)
		atomic_fetch_add_explicit(&reader->events_read, (uint64_t)n, memory_order_relaxed);
	return n;
}

struct km_reader_progress km_reader_progress(const struct km_reader *reader)
{
	bool is_stream = km_source_is_stream(reader->source);
	struct km_reader_progress progress = {
		.bytes = km_source_bytes_read(reader->source),
		.total_bytes = is_stream ? 0 : km_source_bytes(reader->source),
		.events_count = atomic_load_explicit(&reader->events_read, memory_order_relaxed),
	};

	for (size_t i = 0; i < reader->parts_count; i++) {
		progress.bytes += km_source_bytes_read(reader->parts[i]);
		progress.total_bytes += km_source_bytes(reader->parts[i]);
	}
	return progress;
}

int km_reader_first_time(struct km_reader *reader, uint64_t *ret_time)
{
	const struct km_buffer_stats *stats;

	if (reader->ops->first_time)
		return reader->ops->first_time(reader, ret_time);
	stats = reader->ops->stats(reader);
	if (stats->has_events)
		*ret_time = stats->first_time;
	return stats->has_events;
}

const struct km_buffer_stats *km_reader_stats(struct km_reader *reader)
{
	return reader->ops->stats(reader);
}

const struct km_event_count *km_reader_event_counts(struct km_reader *reader, size_t *ret_count)
{
	return reader->ops->event_counts(reader, ret_count);
}

int km_reader_time_range(struct km_reader *reader, size_t buffer, uint64_t *ret_first, uint64_t *ret_last,
			 struct km_error *error)
{
	if (!reader->ops->time_range)
		return km_error_set(error, -ENOTSUP,
				    "%s: its last time is known only when it has been read; save it to a file first",
				    km_source_name(reader->source));
	return reader->ops->time_range(reader, buffer, ret_first, ret_last, error);
}

const char *km_reader_cache_name(const struct km_reader *reader, uint32_t cache)
{
	return km_intern_get(reader->cache_names, cache);
}

uint32_t km_reader_cache_count(const struct km_reader *reader)
{
	return km_intern_count(reader->cache_names);
}

const char *km_reader_comm(struct km_reader *reader, int32_t pid)
{
	return reader->ops->comm(reader, pid);
}

struct km_symbols *km_reader_symbols(struct km_reader *reader, struct km_error *error)
{
	struct km_symbols *symbols = NULL;

	if (!reader->symbols_error.code)
		symbols = reader->ops->symbols(reader, &reader->symbols_error);
	if (!symbols)
		km_error_set(error, reader->symbols_error.code, "%s", reader->symbols_error.text);
	return symbols;
}

int km_reader_site_name(const struct km_reader *reader, uint64_t call_site, struct km_symbol *ret_symbol)
{
	return reader->ops->site_name ? reader->ops->site_name(reader, call_site, ret_symbol) : 0;
}

const struct km_gfp *km_reader_gfp(const struct km_reader *reader)
{
	return &reader->gfp;
}

static unsigned usable_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

unsigned km_reader_threads(const struct km_reader_options *options)
{
	return options->threads ? options->threads : usable_cpus();
}

unsigned km_kernel_release(const char *uname)
{
	unsigned major, minor;

	for (const char *p = uname ? strchr(uname, ' ') : NULL; p; p = strchr(p, ' ')) {
		p++;
		if (sscanf(p, "%u.%u", &major, &minor) == 2 && major < 100 && minor < 1000)
			return major * 1000 + minor;
	}
	return 0;
}
