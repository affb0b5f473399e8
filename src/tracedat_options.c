/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of a trace.dat file: man trace-cmd.dat.v7, "Options section". */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "tracedat_private.h"

static int option_error(struct walker *w, int code, const char *what)
{
	return km_error_set(w->error, code, "%s: %s (options before offset %" PRIu64 ")",
			    km_source_name(w->file->source), what, w->offset);
}

/* The payload up to its first NUL or line end, duplicated into *field unless that is set already. */
static int keep_text(struct walker *w, const char *data, size_t bytes, char **field)
{
	size_t n = 0;

	if (*field)
		return 0;
	while (n < bytes && data[n] && data[n] != '\n')
		n++;
	*field = strndup(data, n);
	return *field ? 0 : option_error(w, -ENOMEM, "out of memory");
}

int km_tracedat_clock_name(struct walker *w, const char *data, size_t bytes, char **ret_name)
{
	const char *open = memchr(data, '[', bytes);
	const char *close = open ? memchr(open, ']', bytes - (size_t)(open - data)) : NULL;
	char *name;

	if (!close)
		return 0;
	name = strndup(open + 1, (size_t)(close - open) - 1);
	if (!name)
		return option_error(w, -ENOMEM, "out of memory");
	*ret_name = name;
	return 1;
}

static int option_clock(struct walker *w, const char *data, size_t bytes)
{
	int r = w->file->clock ? 0 : km_tracedat_clock_name(w, data, bytes, &w->file->clock);

	return r < 0 ? r : 0;
}

/* A decimal number behind "name: " at the start of a line. */
static bool stat_number(const char *text, const char *name, uint64_t *ret_value)
{
	size_t length = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		char *end;

		line += *line == '\n';
		if (strncmp(line, name, length))
			continue;
		*ret_value = strtoull(line + length, &end, 10);
		return end != line + length;
	}
	return false;
}

/* kernel/trace/trace.c tracing_stats_read() behind "CPU: N"; "Buffer: NAME" starts an instance's. */
static int option_cpustat(struct walker *w, const char *data, size_t bytes)
{
	char *text = strndup(data, bytes);
	struct km_tracedat_stat stat = { 0 };
	uint64_t cpu;
	char *buffer;
	int r = -ENOMEM;

	if (!text)
		goto out;
	buffer = strstr(text, "Buffer: ");
	if (buffer) {
		buffer += strlen("Buffer: ");
		free(w->stat_buffer);
		w->stat_buffer = strndup(buffer, strcspn(buffer, "\n"));
		r = w->stat_buffer ? 0 : -ENOMEM;
		goto out;
	}
	r = 0;
	if (!stat_number(text, "CPU: ", &cpu) || cpu >= KM_TRACEDAT_CPUS_LIMIT)
		goto out;
	stat.cpu = (unsigned)cpu;
	stat.has_overrun = stat_number(text, "overrun: ", &stat.overrun);
	stat_number(text, "commit overrun: ", &stat.commit_overrun);
	stat_number(text, "dropped events: ", &stat.dropped_events);
	r = -ENOMEM;
	if (w->stats_count < KM_TRACEDAT_CPUS_LIMIT * 4) {
		void *stats = reallocarray(w->stats, w->stats_count + 1, sizeof(*w->stats));

		if (!stats)
			goto out;
		w->stats = stats;
		w->stats[w->stats_count].buffer = NULL;
		w->stats[w->stats_count].stat = stat;
		if (w->stat_buffer) {
			w->stats[w->stats_count].buffer = strdup(w->stat_buffer);
			if (!w->stats[w->stats_count].buffer)
				goto out;
		}
		w->stats_count++;
	}
	r = 0;
out:
	free(text);
	return r ? option_error(w, r, "out of memory") : 0;
}

static int v6_buffer_option(struct walker *w, struct km_cursor *c)
{
	uint64_t offset = km_cursor_u64(c);
	size_t left = km_cursor_left(c);
	void *instances;
	char *name;

	if (c->failed || w->v6_instances_count >= KM_TRACEDAT_BUFFERS_LIMIT)
		return option_error(w, -EBADMSG, "a damaged BUFFER option");
	instances = reallocarray(w->v6_instances, w->v6_instances_count + 1, sizeof(*w->v6_instances));
	if (!instances)
		return option_error(w, -ENOMEM, "out of memory");
	w->v6_instances = instances;
	name = strndup((const char *)c->at, left);
	if (!name)
		return option_error(w, -ENOMEM, "out of memory");
	w->v6_instances[w->v6_instances_count].offset = offset;
	w->v6_instances[w->v6_instances_count++].name = name;
	return 0;
}

static int v7_buffer_option(struct walker *w, struct km_cursor *c)
{
	struct km_tracedat_buffer *buffer;
	const char *name, *clock;
	uint32_t page_bytes, cpus;

	km_cursor_u64(c); /* the section's own header, which tells nothing more */
	name = km_cursor_string(c);
	clock = km_cursor_string(c);
	page_bytes = km_cursor_u32(c);
	cpus = km_cursor_u32(c);
	if (c->failed || !km_tracedat_page_bytes_ok(page_bytes) || cpus > KM_TRACEDAT_CPUS_LIMIT ||
	    w->file->buffers_count >= KM_TRACEDAT_BUFFERS_LIMIT)
		return option_error(w, -EBADMSG, "a damaged BUFFER option");
	buffer = km_tracedat_add_buffer(w->file, name, clock, page_bytes);
	if (!buffer)
		return option_error(w, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < cpus; i++) {
		uint32_t cpu = km_cursor_u32(c);
		uint64_t offset = km_cursor_u64(c);
		uint64_t bytes = km_cursor_u64(c);

		if (c->failed || cpu >= KM_TRACEDAT_CPUS_LIMIT)
			return option_error(w, -EBADMSG, "a damaged table of CPUs in a BUFFER option");
		if (km_tracedat_add_cpu(buffer, cpu, offset, bytes) < 0)
			return option_error(w, -ENOMEM, "out of memory");
	}
	return 0;
}

/* An option that is the place of a section. */
static int section_option(struct walker *w, uint16_t id, struct km_cursor *c, struct km_tracedat_block *block)
{
	uint64_t offset = km_cursor_u64(c);

	if (c->failed)
		return option_error(w, -EBADMSG, "a section option without an offset");
	if (w->sections_count == sizeof(w->sections) / sizeof(w->sections[0]))
		return 0;
	for (size_t i = 0; i < w->sections_count; i++) {
		if (w->sections[i].id == id)
			return 0; /* the first one counts */
	}
	w->sections[w->sections_count].id = id;
	w->sections[w->sections_count].offset = offset;
	w->sections[w->sections_count++].block = block;
	return 0;
}

/* A number in text, at most some 146 years of us. */
static int64_t option_number(const char *data, size_t bytes)
{
	char text[32] = "";
	int64_t value;

	memcpy(text, data, bytes < sizeof(text) - 1 ? bytes : sizeof(text) - 1);
	value = (int64_t)strtoll(text, NULL, 0);
	return value > INT64_MAX / 2000 || value < INT64_MIN / 2000 ? 0 : value;
}

int km_tracedat_option(struct walker *w, uint16_t id, const char *data, size_t bytes)
{
	struct km_tracedat *file = w->file;
	struct km_cursor c = km_cursor_make(data, bytes, file->big_endian);
	uint32_t cpus;

	switch (id) {
	case OPTION_DATE: /* us, in hex; trace-cmd adds both offsets */
		file->has_date_offset = true;
		file->time_offset_ns += 1000 * option_number(data, bytes);
		return 0;
	case OPTION_CPUSTAT:
		return option_cpustat(w, data, bytes);
	case OPTION_BUFFER:
		return file->version == 6 ? v6_buffer_option(w, &c) : v7_buffer_option(w, &c);
	case OPTION_TRACECLOCK:
		return option_clock(w, data, bytes);
	case OPTION_UNAME:
		return keep_text(w, data, bytes, &file->uname);
	case OPTION_VERSION:
		return keep_text(w, data, bytes, &file->generator);
	case OPTION_OFFSET: /* ns */
		file->has_time_offset = true;
		file->time_offset_ns += option_number(data, bytes);
		return 0;
	case OPTION_CPUCOUNT:
		cpus = km_cursor_u32(&c);
		if (!c.failed && cpus <= KM_TRACEDAT_CPUS_LIMIT)
			file->cpus_count = cpus;
		return 0;
	case OPTION_TSC2NSEC:
		file->tsc_mult = km_cursor_u32(&c);
		file->tsc_shift = km_cursor_u32(&c);
		file->tsc_offset = km_cursor_u64(&c);
		file->has_tsc2nsec = !c.failed && file->tsc_mult && file->tsc_shift < 64;
		return 0;
	case OPTION_HEADER_INFO:
		w->header_info_offset = km_cursor_u64(&c);
		w->has_header_info = !c.failed;
		return 0;
	case OPTION_FTRACE_EVENTS:
		return section_option(w, id, &c, &file->ftrace_formats);
	case OPTION_EVENT_FORMATS:
		return section_option(w, id, &c, &file->event_formats);
	case OPTION_KALLSYMS:
		return section_option(w, id, &c, &file->kallsyms);
	case OPTION_CMDLINES:
		return section_option(w, id, &c, &file->cmdlines);
	case OPTION_BUFFER_TEXT:
		file->has_latency = true;
		return 0;
	case OPTION_HOOK:
	case OPTION_PROCMAPS:
	case OPTION_TRACEID:
	case OPTION_TIME_SHIFT:
	case OPTION_GUEST:
	case OPTION_STRINGS:
	case OPTION_PRINTK:
		return 0;
	default:
		file->unknown_options_count++;
		return 0;
	}
}

static bool is_stat_of(const struct walker *w, size_t stat, const struct km_tracedat_buffer *buffer)
{
	return !strcmp(w->stats[stat].buffer ? w->stats[stat].buffer : "", buffer->name);
}

int km_tracedat_finish_options(struct walker *w)
{
	struct km_tracedat *file = w->file;

	for (size_t i = 0; i < file->buffers_count; i++) {
		struct km_tracedat_buffer *buffer = &file->buffers[i];
		size_t count = 0;

		if (!buffer->clock[0] && file->clock) {
			char *clock = strdup(file->clock);

			if (!clock)
				return option_error(w, -ENOMEM, "out of memory");
			free(buffer->clock);
			buffer->clock = clock;
		}
		for (size_t s = 0; s < w->stats_count; s++)
			count += is_stat_of(w, s, buffer);
		buffer->stats = count ? calloc(count, sizeof(*buffer->stats)) : NULL;
		if (count && !buffer->stats)
			return option_error(w, -ENOMEM, "out of memory");
		for (size_t s = 0; s < w->stats_count; s++) {
			if (is_stat_of(w, s, buffer))
				buffer->stats[buffer->stats_count++] = w->stats[s].stat;
		}
	}
	return 0;
}

void km_tracedat_walker_free(struct walker *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->v6_instances_count; i++)
		free(w->v6_instances[i].name);
	free(w->v6_instances);
	for (size_t i = 0; i < w->stats_count; i++)
		free(w->stats[i].buffer);
	free(w->stats);
	free(w->stat_buffer);
	free(w);
}
