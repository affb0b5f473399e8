/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file around the pages: man trace-cmd.dat.v6 and trace-cmd.dat.v7. What
 * the pages do not say (the clock behind a version 6 table of CPUs, the
 * "Buffer:" texts between CPUSTAT options) is as trace-cmd writes it.
 */
#include "trace_writer_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum option_id {
	OPTION_DONE = 0,
	OPTION_CPUSTAT = 2,
	OPTION_BUFFER = 3,
	OPTION_TRACECLOCK = 4,
	OPTION_UNAME = 5,
	OPTION_CPUCOUNT = 8,
	OPTION_VERSION = 9,
};

/* A version 7 section's option has the section's own number. */
enum section_id {
	SECTION_OPTIONS = 0,
	SECTION_BUFFER = 3,
	SECTION_STRINGS = 15,
	SECTION_HEADERS = 16,
	SECTION_FTRACE = 17,
	SECTION_EVENTS = 18,
	SECTION_KALLSYMS = 19,
	SECTION_PRINTK = 20,
	SECTION_CMDLINES = 21,
};

#define SECTION_COMPRESSED   1U
#define SECTION_HEADER_BYTES 16U
#define SECTION_SIZE_AT      8U

static const char version_text[] = "3.1.6 not-a-git-repo";

/* ---- bytes ---- */

static void add_number(const struct tw *tw, struct tw_bytes *out, uint64_t value, unsigned bytes)
{
	uint8_t data[8];

	tw_put(tw, data, value, bytes);
	tw_bytes_add(out, data, bytes);
}

/* With its NUL */
static void add_string(struct tw_bytes *out, const char *text)
{
	tw_bytes_add(out, text, strlen(text) + 1);
}

/* A text behind its length in `bytes` bytes, without a NUL */
static void add_text(const struct tw *tw, struct tw_bytes *out, unsigned bytes, const char *text)
{
	add_number(tw, out, strlen(text), bytes);
	tw_bytes_add(out, text, strlen(text));
}

static void align(struct tw_bytes *out, size_t to)
{
	static const uint8_t zeros[256];

	while (out->size % to) {
		size_t bytes = to - out->size % to;

		tw_bytes_add(out, zeros, bytes < sizeof(zeros) ? bytes : sizeof(zeros));
	}
}

/* ---- the contents of sections, alike in both versions ---- */

static void add_headers(const struct tw *tw, struct tw_bytes *out)
{
	char *header_event = tw_header_event_text();

	add_string(out, "header_page");
	add_text(tw, out, 8, tw->header_page);
	add_string(out, "header_event");
	add_text(tw, out, 8, header_event);
	free(header_event);
}

static unsigned system_events_count(const struct tw *tw, const char *system)
{
	unsigned count = 0;
	size_t i;

	for (i = 0; i < tw->texts_count; i++)
		count += !strcmp(tw->texts[i].system, system);
	return count;
}

/* A 4-byte count, then each text of the system behind its size. */
static void add_system(const struct tw *tw, struct tw_bytes *out, const char *system)
{
	size_t i;

	add_number(tw, out, system_events_count(tw, system), 4);
	for (i = 0; i < tw->texts_count; i++)
		if (!strcmp(tw->texts[i].system, system))
			add_text(tw, out, 8, tw->texts[i].text);
}

/* The first event of its system, and the system is not ftrace, which has a section of its own. */
static bool opens_system(const struct tw *tw, size_t i)
{
	size_t k;

	if (!strcmp(tw->texts[i].system, "ftrace"))
		return false;
	for (k = 0; k < i; k++)
		if (!strcmp(tw->texts[k].system, tw->texts[i].system))
			return false;
	return true;
}

static void add_events(const struct tw *tw, struct tw_bytes *out)
{
	unsigned count = 0;
	size_t i;

	for (i = 0; i < tw->texts_count; i++)
		count += opens_system(tw, i);
	add_number(tw, out, count, 4);
	for (i = 0; i < tw->texts_count; i++) {
		if (!opens_system(tw, i))
			continue;
		add_string(out, tw->texts[i].system);
		add_system(tw, out, tw->texts[i].system);
	}
}

static bool has(const struct tw *tw, enum tw_omit part)
{
	return !(tw->options.omit & part);
}

static void add_section_content(const struct tw *tw, struct tw_bytes *out, enum section_id id)
{
	switch (id) {
	case SECTION_HEADERS:
		add_headers(tw, out);
		break;
	case SECTION_FTRACE:
		add_system(tw, out, "ftrace");
		break;
	case SECTION_EVENTS:
		add_events(tw, out);
		break;
	case SECTION_KALLSYMS:
		add_text(tw, out, 4, has(tw, TW_OMIT_KALLSYMS) ? tw->kallsyms : "");
		break;
	case SECTION_PRINTK:
		add_text(tw, out, 4, has(tw, TW_OMIT_PRINTK) ? tw->printk : "");
		break;
	case SECTION_CMDLINES:
		add_text(tw, out, 8, has(tw, TW_OMIT_CMDLINES) ? tw->cmdlines : "");
		break;
	default:
		abort();
	}
}

/* ---- options, alike in both versions ---- */

static void add_option(const struct tw *tw, struct tw_bytes *out, uint16_t id, const void *data, size_t bytes)
{
	add_number(tw, out, id, 2);
	add_number(tw, out, bytes, 4);
	tw_bytes_add(out, data, bytes);
}

static void add_string_option(const struct tw *tw, struct tw_bytes *out, uint16_t id, const char *text)
{
	add_option(tw, out, id, text, strlen(text) + 1);
}

/* The text of tracefs' trace_clock: the clock in use is in brackets. The caller frees it. */
static char *clock_text(const char *clock)
{
	static const char *const clocks[] = {
		"local", "global", "counter", "uptime", "perf", "mono", "mono_raw", "boot", "tai", "x86-tsc",
	};
	bool is_known = false;
	char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	for (i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		bool is_it = !strcmp(clocks[i], clock);

		is_known |= is_it;
		fprintf(out, "%s%s%s%s", i ? " " : "", is_it ? "[" : "", clocks[i], is_it ? "]" : "");
	}
	if (!is_known)
		fprintf(out, " [%s]", clock);
	fputc('\n', out);
	if (fclose(out))
		abort();
	return text;
}

static void add_cpustat(const struct tw *tw, struct tw_bytes *out, unsigned cpu, const struct tw_cpu *c)
{
	unsigned long long now = c->last_time / 1000;
	char text[512];

	snprintf(text, sizeof(text),
		 "CPU: %u\nentries: 0\noverrun: %llu\ncommit overrun: %llu\nbytes: 0\noldest event ts: %5llu.%06llu\n"
		 "now ts: %5llu.%06llu\ndropped events: %llu\nread events: %llu\n",
		 cpu, (unsigned long long)c->overrun, (unsigned long long)c->commit_overrun, now / 1000000,
		 now % 1000000, now / 1000000, now % 1000000, (unsigned long long)c->dropped,
		 (unsigned long long)c->events_count);
	add_string_option(tw, out, OPTION_CPUSTAT, text);
}

static void add_cpustats(const struct tw *tw, struct tw_bytes *out)
{
	unsigned i, k;

	for (i = 0; i < tw->buffers_count; i++) {
		const struct tw_buffer *b = &tw->buffers[i];
		bool is_named = i == TW_TOP;

		for (k = 0; k < b->cpus_count; k++) {
			if (!b->cpus[k].has_stat)
				continue;
			if (!is_named) {
				char text[512];

				snprintf(text, sizeof(text), "\nBuffer: %s\n\n", b->name);
				add_string_option(tw, out, OPTION_CPUSTAT, text);
				is_named = true;
			}
			add_cpustat(tw, out, k, &b->cpus[k]);
		}
	}
}

static void add_common_options(const struct tw *tw, struct tw_bytes *out)
{
	uint8_t cpus[4];
	size_t i;

	if (has(tw, TW_OMIT_TRACECLOCK)) {
		char *text = clock_text(tw->options.clock);

		add_string_option(tw, out, OPTION_TRACECLOCK, text);
		free(text);
	}
	if (has(tw, TW_OMIT_UNAME))
		add_string_option(tw, out, OPTION_UNAME, tw->uname);
	if (has(tw, TW_OMIT_VERSION))
		add_string_option(tw, out, OPTION_VERSION, version_text);
	add_cpustats(tw, out);
	for (i = 0; i < tw->raw_options_count; i++)
		add_option(tw, out, tw->raw_options[i].id, tw->raw_options[i].data, tw->raw_options[i].bytes);
	if (has(tw, TW_OMIT_CPUCOUNT)) {
		tw_put(tw, cpus, tw->options.cpus, sizeof(cpus));
		add_option(tw, out, OPTION_CPUCOUNT, cpus, sizeof(cpus));
	}
}

static void add_magic(const struct tw *tw, struct tw_bytes *out)
{
	uint8_t longs[2] = { tw->options.big_endian, (uint8_t)tw->options.user_long_bytes };

	tw_bytes_add(out, "\x17\x08\x44tracing", 10);
	add_string(out, tw->options.version == 6 ? "6" : "7");
	tw_bytes_add(out, longs, sizeof(longs));
	add_number(tw, out, tw->options.page_bytes, 4);
}

/* ---- version 6 ---- */

/* "flyrecord", the CPUs' places and the clock, then their pages. */
static void add_flyrecord(struct tw *tw, struct tw_bytes *out, struct tw_buffer *b)
{
	size_t table;
	unsigned i;

	add_string(out, "flyrecord");
	table = out->size;
	for (i = 0; i < b->cpus_count; i++) {
		add_number(tw, out, 0, 8);
		add_number(tw, out, 0, 8);
	}
	if (has(tw, TW_OMIT_TRACECLOCK)) {
		char *text = clock_text(b->clock);

		add_text(tw, out, 8, text);
		free(text);
	}
	for (i = 0; i < b->cpus_count; i++) {
		struct tw_cpu *c = &b->cpus[i];

		align(out, b->page_bytes);
		c->file_offset = out->size;
		c->file_bytes = c->pages.size;
		tw_put(tw, out->data + table + 16 * (size_t)i, c->file_offset, 8);
		tw_put(tw, out->data + table + 16 * (size_t)i + 8, c->file_bytes, 8);
		tw_bytes_add(out, c->pages.data, c->pages.size);
	}
}

static void write_v6(struct tw *tw, struct tw_bytes *out)
{
	size_t *offset_at = tw_xrealloc(NULL, tw->buffers_count * sizeof(*offset_at));
	unsigned i;
	enum section_id id;

	if (has(tw, TW_OMIT_HEADERS))
		add_section_content(tw, out, SECTION_HEADERS);
	for (id = SECTION_FTRACE; id <= SECTION_CMDLINES; id++)
		add_section_content(tw, out, id);
	add_number(tw, out, tw->options.cpus, 4);
	tw_bytes_add(out, "options  ", 10);
	add_common_options(tw, out);
	for (i = 1; i < tw->buffers_count; i++) {
		const char *name = tw->buffers[i].name;

		add_number(tw, out, OPTION_BUFFER, 2);
		add_number(tw, out, 8 + strlen(name) + 1, 4);
		offset_at[i] = out->size;
		add_number(tw, out, 0, 8);
		add_string(out, name);
	}
	add_number(tw, out, OPTION_DONE, 2);
	add_flyrecord(tw, out, &tw->buffers[TW_TOP]);
	for (i = 1; i < tw->buffers_count; i++) {
		align(out, tw->options.page_bytes);
		tw_put(tw, out->data + offset_at[i], out->size, 8);
		add_flyrecord(tw, out, &tw->buffers[i]);
	}
	free(offset_at);
}

/* ---- version 7 ---- */

/* Appends data as u32 compressed size, u32 size, compressed data. */
static void add_compressed(const struct tw *tw, struct tw_bytes *out, const void *data, size_t bytes)
{
	bool is_zstd = tw->options.compression == TW_COMPRESSION_ZSTD;
	size_t room = is_zstd ? ZSTD_compressBound(bytes) : compressBound(bytes);
	uint8_t *to = tw_xrealloc(NULL, room);

	if (is_zstd) {
		room = ZSTD_compress(to, room, data, bytes, 3);
		if (ZSTD_isError(room))
			abort();
	} else {
		uLongf zlib_bytes = room;

		if (compress2(to, &zlib_bytes, data, bytes, Z_DEFAULT_COMPRESSION) != Z_OK)
			abort();
		room = zlib_bytes;
	}
	add_number(tw, out, room, 4);
	add_number(tw, out, bytes, 4);
	tw_bytes_add(out, to, room);
	free(to);
}

static bool is_compressed(const struct tw *tw)
{
	return tw->options.compression != TW_COMPRESSION_NONE;
}

/* Returns the section's offset, for close_section() and for options. */
static size_t open_section(const struct tw *tw, struct tw_bytes *out, struct tw_bytes *strings, enum section_id id,
			   bool compressed, const char *description)
{
	size_t at = out->size;

	add_number(tw, out, id, 2);
	add_number(tw, out, compressed ? SECTION_COMPRESSED : 0, 2);
	add_number(tw, out, strings->size, 4);
	add_number(tw, out, 0, 8);
	add_string(strings, description);
	return at;
}

static void close_section(const struct tw *tw, struct tw_bytes *out, size_t at)
{
	tw_put(tw, out->data + at + SECTION_SIZE_AT, out->size - at - SECTION_HEADER_BYTES, 8);
}

static size_t add_data_section(const struct tw *tw, struct tw_bytes *out, struct tw_bytes *strings, enum section_id id,
			       const char *description, const struct tw_bytes *content)
{
	size_t at = open_section(tw, out, strings, id, is_compressed(tw), description);

	if (is_compressed(tw))
		add_compressed(tw, out, content->data, content->size);
	else
		tw_bytes_add(out, content->data, content->size);
	close_section(tw, out, at);
	return at;
}

/* All sections of the kernel's texts; an option in `options` says where each is. */
static void add_text_sections(struct tw *tw, struct tw_bytes *out, struct tw_bytes *strings, struct tw_bytes *options)
{
	static const struct {
		enum section_id id;
		unsigned omit;
		const char *description;
	} sections[] = {
		{ SECTION_HEADERS, TW_OMIT_HEADERS, "headers" },
		{ SECTION_FTRACE, 0, "ftrace events" },
		{ SECTION_EVENTS, 0, "events format" },
		{ SECTION_KALLSYMS, TW_OMIT_KALLSYMS, "kallsyms" },
		{ SECTION_PRINTK, TW_OMIT_PRINTK, "printk" },
		{ SECTION_CMDLINES, TW_OMIT_CMDLINES, "command lines" },
	};
	size_t i;

	for (i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		struct tw_bytes content = { 0 };
		uint8_t offset[8];

		if (tw->options.omit & sections[i].omit)
			continue;
		add_section_content(tw, &content, sections[i].id);
		tw_put(tw, offset,
		       add_data_section(tw, out, strings, sections[i].id, sections[i].description, &content), 8);
		add_option(tw, options, sections[i].id, offset, sizeof(offset));
		free(content.data);
	}
}

/* An options section with DONE behind the options; returns where the next section's offset goes. */
static size_t add_options_section(const struct tw *tw, struct tw_bytes *out, struct tw_bytes *strings,
				  const struct tw_bytes *options)
{
	size_t at = open_section(tw, out, strings, SECTION_OPTIONS, false, "options");
	size_t next_at;

	tw_bytes_add(out, options->data, options->size);
	add_number(tw, out, OPTION_DONE, 2);
	add_number(tw, out, 8, 4);
	next_at = out->size;
	add_number(tw, out, 0, 8);
	close_section(tw, out, at);
	return next_at;
}

/* A CPU's pages, in chunks if compressed. A CPU without any takes no bytes. */
static void add_cpu_data(const struct tw *tw, struct tw_bytes *out, const struct tw_buffer *b, const struct tw_cpu *c)
{
	size_t chunk_bytes = (size_t)tw->options.chunk_pages * b->page_bytes, at;

	if (!c->pages.size)
		return;
	if (!is_compressed(tw)) {
		tw_bytes_add(out, c->pages.data, c->pages.size);
		return;
	}
	add_number(tw, out, (c->pages.size + chunk_bytes - 1) / chunk_bytes, 4);
	for (at = 0; at < c->pages.size; at += chunk_bytes) {
		size_t left = c->pages.size - at;

		add_compressed(tw, out, c->pages.data + at, left < chunk_bytes ? left : chunk_bytes);
	}
}

/* The section of a buffer's pages; its BUFFER option is put into `options`. */
static void add_buffer_section(struct tw *tw, struct tw_bytes *out, struct tw_bytes *strings, struct tw_buffer *b,
			       struct tw_bytes *options)
{
	struct tw_bytes option = { 0 };
	char description[300];
	size_t at;
	unsigned i;

	snprintf(description, sizeof(description), "buffer flyrecord %s", b->name);
	at = open_section(tw, out, strings, SECTION_BUFFER, is_compressed(tw), description);
	add_number(tw, &option, at, 8);
	add_string(&option, b->name);
	add_string(&option, b->clock);
	add_number(tw, &option, b->page_bytes, 4);
	add_number(tw, &option, b->cpus_count, 4);
	for (i = 0; i < b->cpus_count; i++) {
		struct tw_cpu *c = &b->cpus[i];

		align(out, b->page_bytes);
		c->file_offset = out->size;
		add_cpu_data(tw, out, b, c);
		c->file_bytes = out->size - c->file_offset;
		add_number(tw, &option, i, 4);
		add_number(tw, &option, c->file_offset, 8);
		add_number(tw, &option, c->file_bytes, 8);
	}
	close_section(tw, out, at);
	add_option(tw, options, OPTION_BUFFER, option.data, option.size);
	free(option.data);
}

/* Its own name is in it too, so that is there before the section is opened. */
static void add_strings_section(const struct tw *tw, struct tw_bytes *out, struct tw_bytes *strings)
{
	struct tw_bytes content = { 0 };

	tw_bytes_add(&content, strings->data, strings->size);
	add_string(&content, "strings");
	add_data_section(tw, out, strings, SECTION_STRINGS, "strings", &content);
	free(content.data);
}

static void write_v7(struct tw *tw, struct tw_bytes *out)
{
	static const char *const names[][2] = {
		[TW_COMPRESSION_NONE] = { "none", "" },
		[TW_COMPRESSION_ZLIB] = { "zlib", "1.2.13" },
		[TW_COMPRESSION_ZSTD] = { "zstd", "1.5.4" },
	};
	struct tw_bytes strings = { 0 }, options = { 0 };
	size_t next_at;
	unsigned i;

	add_string(out, names[tw->options.compression][0]);
	add_string(out, names[tw->options.compression][1]);
	next_at = out->size;
	add_number(tw, out, 0, 8);
	add_text_sections(tw, out, &strings, &options);
	add_common_options(tw, &options);
	tw_put(tw, out->data + next_at, out->size, 8);
	next_at = add_options_section(tw, out, &strings, &options);
	for (i = 0; i < tw->buffers_count; i++) {
		options.size = 0;
		add_buffer_section(tw, out, &strings, &tw->buffers[i], &options);
		tw_put(tw, out->data + next_at, out->size, 8);
		next_at = add_options_section(tw, out, &strings, &options);
	}
	add_strings_section(tw, out, &strings);
	free(strings.data);
	free(options.data);
}

void tw_write_file(struct tw *tw, struct tw_bytes *out)
{
	add_magic(tw, out);
	if (tw->options.version == 6)
		write_v6(tw, out);
	else
		write_v7(tw, out);
}
