/* SPDX-License-Identifier: GPL-2.0-only */
#include "tracedat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "tracedat_private.h"

#define CLOCK_TEXT_LIMIT 1024U /* bytes */

static const uint8_t magic[10] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

int km_tracedat_probe(const uint8_t *head, size_t bytes)
{
	return bytes >= sizeof(magic) && !memcmp(head, magic, sizeof(magic));
}

/* --- walking the file: small reads through a window, never past its end --- */

static int walker_error(struct walker *w, int code, const char *what)
{
	return km_error_set(w->error, code, "%s: %s at offset %" PRIu64 "; record again, or try the file's original",
			    km_source_name(w->file->source), what, w->offset);
}

/* The next n bytes (n <= sizeof window), borrowed until the next call, or NULL with the error set. */
static const uint8_t *walker_take(struct walker *w, size_t n)
{
	if (w->offset < w->window_offset || w->offset + n > w->window_offset + w->window_bytes) {
		int64_t got = km_source_read_at(w->file->source, w->offset, w->window, sizeof(w->window), w->error);

		if (got < 0)
			return NULL;
		w->window_offset = w->offset;
		w->window_bytes = (size_t)got;
		if (w->window_bytes < n) {
			w->file->is_cut_short = true;
			walker_error(w, -EBADMSG, "the file ends inside its header");
			return NULL;
		}
	}
	w->offset += n;
	return w->window + (w->offset - n - w->window_offset);
}

static int walker_u32(struct walker *w, uint32_t *ret_value)
{
	const uint8_t *p = walker_take(w, 4);

	if (!p)
		return w->error->code;
	*ret_value = km_load32(p, w->file->big_endian);
	return 0;
}

static int walker_u64(struct walker *w, uint64_t *ret_value)
{
	const uint8_t *p = walker_take(w, 8);

	if (!p)
		return w->error->code;
	*ret_value = km_load64(p, w->file->big_endian);
	return 0;
}

static int walker_skip(struct walker *w, uint64_t bytes)
{
	uint64_t total = km_source_bytes(w->file->source);

	if (bytes > total || w->offset > total - bytes) {
		w->file->is_cut_short = true;
		return walker_error(w, -EBADMSG, "a section reaches behind the end of the file");
	}
	w->offset += bytes;
	return 0;
}

/* A NUL-terminated string of less than limit bytes, duplicated. */
static int walker_string(struct walker *w, size_t limit, char **ret_text)
{
	char text[256];

	for (size_t i = 0; i < limit && i < sizeof(text); i++) {
		const uint8_t *p = walker_take(w, 1);

		if (!p)
			return w->error->code;
		text[i] = (char)*p;
		if (!*p) {
			char *copy = strdup(text);

			if (!copy)
				return km_error_set(w->error, -ENOMEM, "out of memory");
			*ret_text = copy;
			return 0;
		}
	}
	return walker_error(w, -EBADMSG, "a string without an end");
}

/* Note a plain block that starts at `start` and ends here. */
static void note_block(struct walker *w, uint64_t start, struct km_tracedat_block *block)
{
	*block = (struct km_tracedat_block){
		.present = true, .offset = start, .bytes = w->offset - start, .plain_bytes = w->offset - start
	};
}

/* --- what both versions share --- */

int km_tracedat_load(struct km_tracedat *file, const struct km_tracedat_block *block, char **ret_data,
		     size_t *ret_bytes, struct km_error *error)
{
	char *packed = NULL, *plain = NULL;
	int64_t n;
	int r;

	if (!block->present) {
		*ret_data = NULL;
		*ret_bytes = 0;
		return 0;
	}
	r = -ENOMEM;
	packed = malloc(block->bytes + 1);
	plain = block->compressed ? malloc(block->plain_bytes + 1) : packed;
	if (!packed || !plain) {
		km_error_set(error, r, "%s: out of memory for a section of %" PRIu64 " bytes",
			     km_source_name(file->source), block->plain_bytes);
		goto out;
	}
	n = km_source_read_at(file->source, block->offset, packed, block->bytes, error);
	r = (int)n;
	if (n < 0)
		goto out;
	r = -EBADMSG;
	if ((uint64_t)n < block->bytes) {
		km_error_set(error, r, "%s: the file ends inside a section at offset %" PRIu64,
			     km_source_name(file->source), block->offset);
		goto out;
	}
	if (block->compressed) {
		r = km_decompress(file->decompressor, packed, block->bytes, plain, block->plain_bytes);
		if (r < 0) {
			km_error_set(error, r, "%s: the section at offset %" PRIu64 " can not be decompressed (%s)",
				     km_source_name(file->source), block->offset, file->compression_name);
			goto out;
		}
	}
	plain[block->plain_bytes] = '\0';
	*ret_data = plain;
	*ret_bytes = block->plain_bytes;
	r = 0;
out:
	if (packed != plain)
		free(packed);
	if (r)
		free(plain);
	return r;
}

const char *km_tracedat_block_text(const struct km_tracedat *file, const char *data, size_t bytes, unsigned size_bytes,
				   size_t *ret_bytes)
{
	struct km_cursor c = km_cursor_make(data, bytes, file->big_endian);
	uint64_t n = size_bytes == 8 ? km_cursor_u64(&c) : km_cursor_u32(&c);

	*ret_bytes = 0;
	if (c.failed)
		return NULL;
	*ret_bytes = n < km_cursor_left(&c) ? (size_t)n : km_cursor_left(&c);
	return (const char *)c.at;
}

static int each_format(struct km_cursor *c, const char *system, uint32_t count,
		       int (*visit)(void *context, const char *system, const char *text, size_t text_bytes),
		       void *context)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t bytes = km_cursor_u64(c);
		const uint8_t *text = bytes <= km_cursor_left(c) ? km_cursor_take(c, (size_t)bytes) : NULL;
		int r;

		if (!text)
			return -EBADMSG;
		r = visit(context, system, (const char *)text, (size_t)bytes);
		if (r)
			return r;
	}
	return 0;
}

int km_tracedat_each_format(const struct km_tracedat *file, bool ftrace, const char *data, size_t bytes,
			    int (*visit)(void *context, const char *system, const char *text, size_t text_bytes),
			    void *context)
{
	struct km_cursor c = km_cursor_make(data, bytes, file->big_endian);
	uint32_t count = km_cursor_u32(&c);
	int r;

	if (c.failed)
		return bytes ? -EBADMSG : 0;
	if (ftrace)
		return each_format(&c, "ftrace", count, visit, context);
	for (uint32_t i = 0; i < count; i++) {
		const char *system = km_cursor_string(&c);
		uint32_t formats = km_cursor_u32(&c);

		if (c.failed)
			return -EBADMSG;
		r = each_format(&c, system, formats, visit, context);
		if (r)
			return r;
	}
	return 0;
}

/* header_page and header_event, the same bytes in both versions. */
static int parse_header_info(struct km_tracedat *file, const char *data, size_t bytes, struct km_error *error)
{
	struct km_cursor c = km_cursor_make(data, bytes, file->big_endian);
	const char *name = km_cursor_string(&c);
	uint64_t n = km_cursor_u64(&c);
	const uint8_t *text = n <= km_cursor_left(&c) ? km_cursor_take(&c, (size_t)n) : NULL;
	struct km_error why = { 0 };
	int r;

	if (c.failed || !text || strcmp(name, "header_page"))
		return km_error_set(error, -EBADMSG, "%s: the header_page section is damaged",
				    km_source_name(file->source));
	if (!n) { /* ancient kernels: trace-cmd writes an empty one */
		file->page_header = (struct km_page_header){ .commit_offset = 8,
							     .commit_bytes = file->user_long_bytes,
							     .data_offset = 8 + file->user_long_bytes,
							     .data_bytes = 0 };
		return 0;
	}
	r = km_page_header_parse((const char *)text, (size_t)n, &file->page_header, &why);
	return r ? km_error_set(error, r, "%s: %s", km_source_name(file->source), why.text) : 0;
}

struct km_tracedat_buffer *km_tracedat_add_buffer(struct km_tracedat *file, const char *name, const char *clock,
						  uint32_t page_bytes)
{
	struct km_tracedat_buffer *buffers;
	struct km_tracedat_buffer buffer = { .page_bytes = page_bytes };

	buffers = reallocarray(file->buffers, file->buffers_count + 1, sizeof(*buffers));
	if (!buffers)
		return NULL;
	file->buffers = buffers;
	buffer.name = strdup(name);
	buffer.clock = strdup(clock);
	if (!buffer.name || !buffer.clock) {
		free(buffer.name);
		free(buffer.clock);
		return NULL;
	}
	buffers[file->buffers_count] = buffer;
	return &buffers[file->buffers_count++];
}

int km_tracedat_add_cpu(struct km_tracedat_buffer *buffer, unsigned cpu, uint64_t offset, uint64_t bytes)
{
	struct km_tracedat_cpu *cpus;

	if (buffer->cpus_count >= KM_TRACEDAT_CPUS_LIMIT)
		return -ENOSPC;
	if (!(buffer->cpus_count & (buffer->cpus_count - 1))) { /* 0 or a power of two: full */
		size_t room = buffer->cpus_count ? buffer->cpus_count * 2 : 1;

		cpus = reallocarray(buffer->cpus, room, sizeof(*cpus));
		if (!cpus)
			return -ENOMEM;
		buffer->cpus = cpus;
	}
	buffer->cpus[buffer->cpus_count++] = (struct km_tracedat_cpu){ .cpu = cpu, .offset = offset, .bytes = bytes };
	return 0;
}

/* --- version 6: everything in one sequence --- */

static int skip_formats(struct walker *w, uint32_t count)
{
	int r = 0;

	for (uint32_t i = 0; i < count && !r; i++) {
		uint64_t bytes = 0;

		r = walker_u64(w, &bytes);
		if (!r)
			r = walker_skip(w, bytes);
	}
	return r;
}

static int v6_header_info(struct walker *w)
{
	static const struct {
		const char *name;
		size_t bytes;
	} parts[] = { { "header_page", 12 }, { "header_event", 13 } };
	struct km_tracedat_block block;
	uint64_t start = w->offset;
	size_t bytes;
	char *data;
	int r;

	for (size_t i = 0; i < 2; i++) {
		const uint8_t *name = walker_take(w, parts[i].bytes);
		uint64_t n = 0;

		if (!name)
			return w->error->code;
		if (memcmp(name, parts[i].name, parts[i].bytes))
			return walker_error(w, -EBADMSG, "no header_page and header_event where they should be");
		r = walker_u64(w, &n);
		if (!r)
			r = walker_skip(w, n);
		if (r)
			return r;
	}
	note_block(w, start, &block);
	if (block.bytes > KM_TRACEDAT_SECTION_LIMIT)
		return walker_error(w, -EBADMSG, "a header of impossible size");
	r = km_tracedat_load(w->file, &block, &data, &bytes, w->error);
	if (r)
		return r;
	r = parse_header_info(w->file, data, bytes, w->error);
	free(data);
	return r;
}

static int v6_formats(struct walker *w)
{
	uint64_t start = w->offset;
	uint32_t count = 0;
	int r = walker_u32(w, &count);

	if (!r)
		r = skip_formats(w, count);
	if (r)
		return r;
	note_block(w, start, &w->file->ftrace_formats);
	start = w->offset;
	r = walker_u32(w, &count);
	for (uint32_t i = 0; i < count && !r; i++) {
		char *system;
		uint32_t formats = 0;

		r = walker_string(w, 256, &system);
		if (r)
			break;
		free(system);
		r = walker_u32(w, &formats);
		if (!r)
			r = skip_formats(w, formats);
	}
	if (!r)
		note_block(w, start, &w->file->event_formats);
	return r;
}

/* A size of size_bytes and as many bytes. block may be NULL. */
static int v6_sized_block(struct walker *w, unsigned size_bytes, struct km_tracedat_block *block)
{
	uint64_t start = w->offset, bytes = 0;
	uint32_t bytes32 = 0;
	int r;

	if (size_bytes == 8) {
		r = walker_u64(w, &bytes);
	} else {
		r = walker_u32(w, &bytes32);
		bytes = r ? 0 : bytes32;
	}
	if (!r)
		r = walker_skip(w, bytes);
	if (!r && block)
		note_block(w, start, block);
	if (!r && block && block->bytes > KM_TRACEDAT_SECTION_LIMIT)
		block->present = false;
	return r;
}

/* Options up to the one that is 0. */
static int v6_options(struct walker *w)
{
	for (;;) {
		const uint8_t *p = walker_take(w, 2);
		struct km_tracedat_block block;
		uint16_t id;
		uint32_t bytes = 0;
		uint64_t start;
		char *data;
		size_t n;
		int r;

		if (!p)
			return w->error->code;
		id = km_load16(p, w->file->big_endian);
		if (!id)
			return 0;
		r = walker_u32(w, &bytes);
		if (r)
			return r;
		start = w->offset;
		r = walker_skip(w, bytes);
		if (r)
			return r;
		note_block(w, start, &block);
		if (block.bytes > KM_TRACEDAT_SECTION_LIMIT)
			return walker_error(w, -EBADMSG, "an option of impossible size");
		r = km_tracedat_load(w->file, &block, &data, &n, w->error);
		if (r)
			return r;
		r = km_tracedat_option(w, id, data, n);
		free(data);
		if (r < 0)
			return r;
	}
}

/* The text of trace_clock, which old recorders did not write: what else is there does not look like one. */
static int v6_clock(struct walker *w, struct km_tracedat_buffer *buffer)
{
	uint64_t left = km_source_bytes(w->file->source) - w->offset, bytes;
	const uint8_t *p = left < 8 ? NULL : walker_take(w, 8);
	char *name;
	int r;

	if (!p)
		return w->error->code;
	bytes = km_load64(p, w->file->big_endian);
	if (bytes > CLOCK_TEXT_LIMIT || bytes > left - 8)
		return 0;
	p = walker_take(w, (size_t)bytes);
	if (!p)
		return w->error->code;
	r = km_tracedat_clock_name(w, (const char *)p, (size_t)bytes, &name);
	if (r > 0) {
		free(buffer->clock);
		buffer->clock = name;
	}
	return r < 0 ? r : 0;
}

/* "flyrecord" and each CPU's offset and size, perhaps behind options. Fills the buffer. */
static int v6_buffer(struct walker *w, uint32_t cpus, size_t index)
{
	for (;;) {
		const uint8_t *type = walker_take(w, 10);
		int r;

		if (!type)
			return w->error->code;
		if (!memcmp(type, "options  ", 10)) {
			r = v6_options(w);
			if (r)
				return r;
			continue;
		}
		if (!memcmp(type, "latency  ", 10)) {
			w->file->has_latency = true;
			return 0;
		}
		if (memcmp(type, "flyrecord", 10))
			return walker_error(w, -EBADMSG, "neither options, latency nor flyrecord where one should be");
		for (uint32_t cpu = 0; cpu < cpus; cpu++) {
			uint64_t offset = 0, bytes = 0;

			r = walker_u64(w, &offset);
			if (!r)
				r = walker_u64(w, &bytes);
			if (!r)
				r = km_tracedat_add_cpu(&w->file->buffers[index], cpu, offset, bytes);
			if (r)
				return walker_error(w, r, "the table of CPUs is damaged");
		}
		return v6_clock(w, &w->file->buffers[index]);
	}
}

static int open_v6(struct walker *w)
{
	struct km_tracedat *file = w->file;
	uint32_t cpus = 0;
	int r;

	r = v6_header_info(w);
	if (!r)
		r = v6_formats(w);
	if (!r)
		r = v6_sized_block(w, 4, &file->kallsyms);
	if (!r)
		r = v6_sized_block(w, 4, NULL); /* printk formats */
	if (!r)
		r = v6_sized_block(w, 8, &file->cmdlines);
	if (!r)
		r = walker_u32(w, &cpus);
	if (r)
		return r;
	if (cpus > KM_TRACEDAT_CPUS_LIMIT)
		return walker_error(w, -EBADMSG, "an impossible number of CPUs");
	file->cpus_count = cpus;
	if (!km_tracedat_add_buffer(file, "", "", file->page_bytes))
		return km_error_set(w->error, -ENOMEM, "out of memory");
	r = v6_buffer(w, cpus, 0);
	/* Instances: a BUFFER option gave name and place; options there are not expected. */
	for (size_t i = 0; i < w->v6_instances_count && !r; i++) {
		w->offset = w->v6_instances[i].offset;
		if (!km_tracedat_add_buffer(file, w->v6_instances[i].name, "", file->page_bytes))
			return km_error_set(w->error, -ENOMEM, "out of memory");
		r = v6_buffer(w, cpus, file->buffers_count - 1);
	}
	return r;
}

/* --- version 7: sections that options point to --- */

/* The section at `offset`: checked, with its id. 1; 0 if it reaches behind the end of the file. */
static int v7_section(struct walker *w, uint64_t offset, uint16_t expected, struct km_tracedat_block *ret_block)
{
	uint64_t total = km_source_bytes(w->file->source);
	struct km_tracedat_block block = { .present = true };
	const uint8_t *p;
	uint16_t id, flags;

	if (offset > total || total - offset < 16) {
		w->file->is_cut_short = true;
		return 0;
	}
	w->offset = offset;
	p = walker_take(w, 16);
	if (!p)
		return w->error->code;
	id = km_load16(p, w->file->big_endian);
	flags = km_load16(p + 2, w->file->big_endian);
	block.bytes = block.plain_bytes = km_load64(p + 8, w->file->big_endian);
	if (id != expected)
		return walker_error(w, -EBADMSG, "a section of another kind than its option says");
	if (block.bytes > total - w->offset) {
		w->file->is_cut_short = true;
		return 0;
	}
	if (flags & 1) {
		p = block.bytes < 8 ? NULL : walker_take(w, 8);
		if (!p)
			return walker_error(w, -EBADMSG, "a compressed section without its sizes");
		block.compressed = true;
		block.plain_bytes = km_load32(p + 4, w->file->big_endian);
		block.bytes -= 8;
		if (km_load32(p, w->file->big_endian) > block.bytes)
			return walker_error(w, -EBADMSG, "a compressed section larger than its place");
		block.bytes = km_load32(p, w->file->big_endian);
	}
	if (block.bytes > KM_TRACEDAT_SECTION_LIMIT || block.plain_bytes > KM_TRACEDAT_SECTION_LIMIT)
		return walker_error(w, -EBADMSG, "a section of impossible size");
	block.offset = w->offset;
	*ret_block = block;
	return 1;
}

/* One options section; *ret_next is where the next one is, 0 for none. 0 if it could not be read. */
static int v7_options(struct walker *w, uint64_t offset, uint64_t *ret_next)
{
	struct km_tracedat_block block;
	struct km_cursor c;
	size_t bytes;
	char *data;
	int r;

	*ret_next = 0;
	r = v7_section(w, offset, 0, &block);
	if (r <= 0)
		return r;
	r = km_tracedat_load(w->file, &block, &data, &bytes, w->error);
	if (r)
		return r;
	c = km_cursor_make(data, bytes, w->file->big_endian);
	for (;;) {
		uint16_t id = km_cursor_u16(&c);
		uint32_t n = km_cursor_u32(&c);
		const uint8_t *payload = km_cursor_take(&c, n);

		if (c.failed) {
			r = walker_error(w, -EBADMSG, "an options section without an end");
			break;
		}
		if (!id) { /* DONE */
			if (n >= 8)
				*ret_next = km_load64(payload, w->file->big_endian);
			r = 1;
			break;
		}
		r = km_tracedat_option(w, id, (const char *)payload, n);
		if (r < 0)
			break;
	}
	free(data);
	return r;
}

static int v7_compression(struct walker *w)
{
	static const struct {
		const char *name;
		enum km_compression compression;
	} known[] = { { "none", KM_COMPRESSION_NONE },
		      { "zlib", KM_COMPRESSION_ZLIB },
		      { "zstd", KM_COMPRESSION_ZSTD } };
	char *version = NULL;
	int r;

	r = walker_string(w, 64, &w->file->compression_name);
	if (!r)
		r = walker_string(w, 64, &version);
	free(version);
	if (r)
		return r;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(known[i].name, w->file->compression_name)) {
			w->file->compression = known[i].compression;
			w->file->decompressor = km_decompressor_new(known[i].compression);
			return w->file->decompressor ? 0 : km_error_set(w->error, -ENOMEM, "out of memory");
		}
	}
	return km_error_set(w->error, -ENOTSUP,
			    "%s: compressed with \"%.40s\", which is not known here; "
			    "`trace-cmd convert --compression zstd` makes it readable",
			    km_source_name(w->file->source), w->file->compression_name);
}

static int open_v7(struct walker *w)
{
	struct km_tracedat *file = w->file;
	struct km_tracedat_block block;
	uint64_t next = 0;
	size_t bytes;
	char *data;
	int r;

	r = v7_compression(w);
	if (!r)
		r = walker_u64(w, &next);
	if (r)
		return r;
	for (unsigned sections = 0; next; sections++) {
		if (sections > KM_TRACEDAT_BUFFERS_LIMIT * 2)
			return walker_error(w, -EBADMSG, "options sections that go round in a circle");
		r = v7_options(w, next, &next);
		if (r < 0)
			return r;
	}
	if (!w->has_header_info)
		return km_error_set(w->error, -EBADMSG,
				    "%s: no header_page section%s; record again, or try the file's original",
				    km_source_name(file->source),
				    file->is_cut_short ? ", the file is cut short before its tables" : "");
	r = v7_section(w, w->header_info_offset, OPTION_HEADER_INFO, &block);
	if (r <= 0)
		return r < 0 ? r : walker_error(w, -EBADMSG, "the header_page section reaches behind the end");
	r = km_tracedat_load(file, &block, &data, &bytes, w->error);
	if (r)
		return r;
	r = parse_header_info(file, data, bytes, w->error);
	free(data);
	for (size_t i = 0; i < w->sections_count && !r; i++) {
		r = v7_section(w, w->sections[i].offset, w->sections[i].id, w->sections[i].block);
		r = r < 0 ? r : 0;
	}
	return r;
}

/* --- opening and closing --- */

static void note_cut_cpus(struct km_tracedat *file)
{
	uint64_t total = km_source_bytes(file->source);

	for (size_t i = 0; i < file->buffers_count; i++) {
		const struct km_tracedat_buffer *buffer = &file->buffers[i];

		for (size_t c = 0; c < buffer->cpus_count; c++)
			file->is_cut_short |= buffer->cpus[c].offset > total ||
					      buffer->cpus[c].bytes > total - buffer->cpus[c].offset;
	}
}

int km_tracedat_open(struct km_source *source, struct km_tracedat **ret_file, struct km_error *error)
{
	struct km_error own_error = { 0 };
	struct km_tracedat *file = calloc(1, sizeof(*file));
	struct walker *w = calloc(1, sizeof(*w));
	const uint8_t *p;
	char *version = NULL;
	int r = -ENOMEM;

	if (!error)
		error = &own_error;
	if (!file || !w) {
		km_error_set(error, r, "out of memory");
		goto fail;
	}
	file->source = source;
	w->file = file;
	w->error = error;
	p = walker_take(w, sizeof(magic));
	r = -EBADMSG;
	if (!p)
		goto fail;
	if (!km_tracedat_probe(p, sizeof(magic))) {
		walker_error(w, r, "not a trace.dat file");
		goto fail;
	}
	r = walker_string(w, 16, &version);
	if (r)
		goto fail;
	if (strcmp(version, "6") && strcmp(version, "7")) {
		r = km_error_set(error, -ENOTSUP,
				 "%s: trace.dat version \"%.15s\"; versions 6 and 7 can be read, "
				 "`trace-cmd convert` makes one of the other",
				 km_source_name(source), version);
		goto fail;
	}
	file->version = (unsigned)(version[0] - '0');
	p = walker_take(w, 2);
	r = -EBADMSG;
	if (!p)
		goto fail;
	file->big_endian = p[0];
	file->user_long_bytes = p[1];
	if (p[0] > 1 || (p[1] != 4 && p[1] != 8)) {
		walker_error(w, r, "neither byte order nor word size can be right");
		goto fail;
	}
	r = walker_u32(w, &file->page_bytes);
	if (r)
		goto fail;
	if (!km_tracedat_page_bytes_ok(file->page_bytes)) {
		r = walker_error(w, -EBADMSG, "an impossible page size");
		goto fail;
	}
	r = file->version == 6 ? open_v6(w) : open_v7(w);
	if (!r)
		r = km_tracedat_finish_options(w);
	if (r)
		goto fail;
	note_cut_cpus(file);
	free(version);
	km_tracedat_walker_free(w);
	*ret_file = file;
	return 0;
fail:
	free(version);
	km_tracedat_walker_free(w);
	km_tracedat_close(file);
	return r ? r : error->code;
}

void km_tracedat_close(struct km_tracedat *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->buffers_count; i++) {
		free(file->buffers[i].name);
		free(file->buffers[i].clock);
		free(file->buffers[i].cpus);
		free(file->buffers[i].stats);
	}
	free(file->buffers);
	free(file->compression_name);
	free(file->uname);
	free(file->generator);
	free(file->clock);
	km_decompressor_free(file->decompressor);
	free(file);
}
