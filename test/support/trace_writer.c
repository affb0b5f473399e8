/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring buffer's half of the writer: records into events, events into
 * sub-buffers, as kernel/trace/ring_buffer.c does it.
 */
#include "trace_writer_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* include/linux/ring_buffer.h */
#define TYPE_LEN_DATA_MAX    28U
#define TYPE_LEN_PADDING     29U
#define TYPE_LEN_TIME_EXTEND 30U
#define TYPE_LEN_TIME_STAMP  31U
#define DELTA_BITS           27U
#define DELTA_LIMIT          (UINT64_C(1) << DELTA_BITS)
#define HEADER_BYTES         4U
#define STAMP_BYTES          8U /* an event of type TIME_EXTEND or TIME_STAMP */
#define EVENT_MIN_BYTES      8U
#define SMALL_DATA_MAX       (4U * TYPE_LEN_DATA_MAX)
/* kernel/trace/ring_buffer.c; the first is an int there, so it is negative and fills the upper half of a long. */
#define MISSED_EVENTS UINT64_C(0xffffffff80000000)
#define MISSED_STORED UINT64_C(0x40000000)

static void misuse(const char *what)
{
	fprintf(stderr, "trace_writer: %s\n", what);
	abort();
}

void *tw_xrealloc(void *old, size_t bytes)
{
	void *new = realloc(old, bytes ? bytes : 1);

	if (!new)
		misuse("out of memory");
	return new;
}

char *tw_xstrdup(const char *text)
{
	size_t bytes = strlen(text) + 1;

	return memcpy(tw_xrealloc(NULL, bytes), text, bytes);
}

static void *zeroed(size_t bytes)
{
	return memset(tw_xrealloc(NULL, bytes), 0, bytes);
}

void tw_put(const struct tw *tw, void *to, uint64_t value, unsigned bytes)
{
	uint8_t *p = to;
	unsigned i;

	for (i = 0; i < bytes; i++)
		p[tw->options.big_endian ? bytes - 1 - i : i] = (uint8_t)(value >> (8 * i));
}

void tw_bytes_add(struct tw_bytes *out, const void *data, size_t bytes)
{
	if (out->room - out->size < bytes) {
		out->room = 2 * out->room + bytes;
		out->data = tw_xrealloc(out->data, out->room);
	}
	if (bytes)
		memcpy(out->data + out->size, data, bytes);
	out->size += bytes;
}

/* ---- life and settings ---- */

uint64_t tw_function(unsigned long_bytes, unsigned i)
{
	bool is_module = i >= TW_FUNCTIONS_KERNEL;
	uint64_t base;

	if (long_bytes == 4)
		base = is_module ? 0xf8000000 : 0xc1000000;
	else
		base = is_module ? UINT64_C(0xffffffffc0200000) : UINT64_C(0xffffffff81000000);
	return base + UINT64_C(0x1000) * (is_module ? i - TW_FUNCTIONS_KERNEL : i);
}

static char *default_kallsyms(unsigned long_bytes)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	unsigned i;

	if (!out)
		misuse("out of memory");
	for (i = 0; i < TW_FUNCTIONS; i++) {
		bool is_module = i >= TW_FUNCTIONS_KERNEL;

		fprintf(out, "%0*llx %c %s_fn_%02u%s\n", (int)(2 * long_bytes),
			(unsigned long long)tw_function(long_bytes, i), is_module ? 't' : 'T',
			is_module ? "mod" : "kernel", i, is_module ? "\t[leaky]" : "");
		if (i == TW_FUNCTIONS_KERNEL - 1)
			fprintf(out, "%0*llx T _etext\n", (int)(2 * long_bytes),
				(unsigned long long)tw_function(long_bytes, i) + 0x1000);
	}
	if (fclose(out))
		misuse("out of memory");
	return text;
}

static char *default_uname(const struct tw_options *options)
{
	const char *machine = options->big_endian ? (options->long_bytes == 8 ? "s390x" : "ppc")
						  : (options->long_bytes == 8 ? "x86_64" : "i686");
	char text[128];

	snprintf(text, sizeof(text), "Linux testbox %s %s", tw_kernel_release(options->kernel), machine);
	return tw_xstrdup(text);
}

static void fill_defaults(struct tw_options *o)
{
	o->version = o->version ? o->version : 7;
	o->kernel = o->kernel ? o->kernel : TW_KERNEL_6_18;
	o->long_bytes = o->long_bytes ? o->long_bytes : 8;
	o->user_long_bytes = o->user_long_bytes ? o->user_long_bytes : o->long_bytes;
	o->page_bytes = o->page_bytes ? o->page_bytes : 4096;
	o->cpus = o->cpus ? o->cpus : 1;
	o->chunk_pages = o->chunk_pages ? o->chunk_pages : 10;
	o->clock = o->clock ? o->clock : "local";
	if (o->version != 6 && o->version != 7)
		misuse("a version that is not 6 or 7");
	if (o->version == 6 && o->compression != TW_COMPRESSION_NONE)
		misuse("version 6 has no compression");
	if (o->long_bytes != 4 && o->long_bytes != 8)
		misuse("a kernel word that is not 4 or 8 bytes");
}

static void add_format_texts(struct tw *tw)
{
	unsigned kind;

	for (kind = 0; kind < TW_FORMAT_KINDS; kind++) {
		const struct tw_format *f = &tw->formats[kind];
		char *text;

		if (!f->system)
			continue;
		text = tw_format_text(f, tw->options.kernel);
		tw_set_format(tw, f->system, f->name, text);
		free(text);
	}
}

struct tw *tw_new(const struct tw_options *options)
{
	struct tw *tw = zeroed(sizeof(*tw));
	struct tw_options *o = &tw->options;

	*o = *options;
	fill_defaults(o);
	tw->uname = o->uname ? tw_xstrdup(o->uname) : default_uname(o);
	tw->kallsyms = o->kallsyms ? tw_xstrdup(o->kallsyms) : default_kallsyms(o->long_bytes);
	tw->cmdlines = tw_xstrdup(o->cmdlines ? o->cmdlines : "1 systemd\n2 kthreadd\n41 kworker/0:1\n42 worker\n");
	tw->printk = tw_xstrdup(o->printk ? o->printk : "0xffffffff8281942f : \"thaw_processes\"\n");
	tw->header_page =
		o->header_page ? tw_xstrdup(o->header_page) : tw_header_page_text(o->long_bytes, o->page_bytes);
	tw_formats_init(tw->formats, o->kernel, o->long_bytes);
	add_format_texts(tw);
	tw_add_buffer(tw, "", o->page_bytes, o->clock, o->cpus);
	/* The caller's strings need not outlive this call. */
	o->clock = tw->buffers[TW_TOP].clock;
	o->uname = o->kallsyms = o->cmdlines = o->printk = o->header_page = NULL;
	return tw;
}

static void release_buffer(struct tw_buffer *buffer)
{
	unsigned i;

	for (i = 0; i < buffer->cpus_count; i++) {
		free(buffer->cpus[i].pages.data);
		free(buffer->cpus[i].page);
	}
	free(buffer->cpus);
	free(buffer->name);
	free(buffer->clock);
}

static void release_text(struct tw_event_text *text)
{
	free(text->system);
	free(text->name);
	free(text->text);
}

void tw_free(struct tw *tw)
{
	size_t i;

	if (!tw)
		return;
	for (i = 0; i < tw->buffers_count; i++)
		release_buffer(&tw->buffers[i]);
	for (i = 0; i < tw->texts_count; i++)
		release_text(&tw->texts[i]);
	for (i = 0; i < tw->raw_options_count; i++)
		free(tw->raw_options[i].data);
	free(tw->buffers);
	free(tw->texts);
	free(tw->raw_options);
	free(tw->uname);
	free(tw->kallsyms);
	free(tw->cmdlines);
	free(tw->printk);
	free(tw->header_page);
	free(tw);
}

unsigned tw_add_buffer(struct tw *tw, const char *name, unsigned page_bytes, const char *clock, unsigned cpus)
{
	const struct tw_options *o = &tw->options;
	bool is_own = o->version == 7;
	struct tw_buffer *b;

	tw->buffers = tw_xrealloc(tw->buffers, (tw->buffers_count + 1) * sizeof(*tw->buffers));
	b = &tw->buffers[tw->buffers_count];
	memset(b, 0, sizeof(*b));
	b->name = tw_xstrdup(name);
	b->clock = tw_xstrdup(is_own && clock ? clock : o->clock);
	b->page_bytes = is_own && page_bytes ? page_bytes : o->page_bytes;
	b->cpus_count = is_own && cpus ? cpus : o->cpus;
	b->cpus = zeroed(b->cpus_count * sizeof(*b->cpus));
	return tw->buffers_count++;
}

void tw_set_format(struct tw *tw, const char *system, const char *name, const char *text)
{
	struct tw_event_text *t;
	size_t i;

	for (i = 0; i < tw->texts_count; i++)
		if (!strcmp(tw->texts[i].system, system) && !strcmp(tw->texts[i].name, name))
			break;
	if (i == tw->texts_count) {
		if (!text)
			return;
		tw->texts = tw_xrealloc(tw->texts, (tw->texts_count + 1) * sizeof(*tw->texts));
		t = &tw->texts[tw->texts_count++];
		*t = (struct tw_event_text){ tw_xstrdup(system), tw_xstrdup(name), tw_xstrdup(text) };
		return;
	}
	t = &tw->texts[i];
	if (text) {
		free(t->text);
		t->text = tw_xstrdup(text);
		return;
	}
	release_text(t);
	memmove(t, t + 1, (--tw->texts_count - i) * sizeof(*t));
}

void tw_option(struct tw *tw, uint16_t id, const void *data, uint32_t bytes)
{
	struct tw_raw_option *option;

	tw->raw_options = tw_xrealloc(tw->raw_options, (tw->raw_options_count + 1) * sizeof(*tw->raw_options));
	option = &tw->raw_options[tw->raw_options_count++];
	*option = (struct tw_raw_option){ .id = id, .bytes = bytes, .data = tw_xrealloc(NULL, bytes) };
	if (bytes)
		memcpy(option->data, data, bytes);
}

void tw_option_offset(struct tw *tw, const char *text)
{
	tw_option(tw, 7, text, (uint32_t)strlen(text) + 1);
}

void tw_option_tsc2nsec(struct tw *tw, uint32_t mult, uint32_t shift, uint64_t offset)
{
	uint8_t data[16];

	tw_put(tw, data, mult, 4);
	tw_put(tw, data + 4, shift, 4);
	tw_put(tw, data + 8, offset, 8);
	tw_option(tw, 14, data, sizeof(data));
}

/* ---- pages ---- */

static struct tw_buffer *get_buffer(const struct tw *tw, unsigned buffer)
{
	if (buffer >= tw->buffers_count)
		misuse("no such buffer");
	return &tw->buffers[buffer];
}

static struct tw_cpu *get_cpu(const struct tw *tw, unsigned buffer, unsigned cpu)
{
	struct tw_buffer *b = get_buffer(tw, buffer);

	if (cpu >= b->cpus_count)
		misuse("no such CPU");
	return &b->cpus[cpu];
}

void tw_cpustat(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t overrun, uint64_t commit_overrun,
		uint64_t dropped)
{
	struct tw_cpu *c = get_cpu(tw, buffer, cpu);

	c->has_stat = true;
	c->overrun = overrun;
	c->commit_overrun = commit_overrun;
	c->dropped = dropped;
}

uint64_t tw_data_offset(const struct tw *tw, unsigned buffer, unsigned cpu)
{
	return get_cpu(tw, buffer, cpu)->file_offset;
}

uint64_t tw_data_bytes(const struct tw *tw, unsigned buffer, unsigned cpu)
{
	return get_cpu(tw, buffer, cpu)->file_bytes;
}

uint64_t tw_events_count(const struct tw *tw, unsigned buffer, unsigned cpu)
{
	return get_cpu(tw, buffer, cpu)->events_count;
}

static size_t page_data_bytes(const struct tw *tw, const struct tw_buffer *b)
{
	return b->page_bytes - 8 - tw->options.long_bytes;
}

static uint8_t *page_data(const struct tw *tw, const struct tw_cpu *c)
{
	return c->page + 8 + tw->options.long_bytes;
}

static void put_event_header(const struct tw *tw, uint8_t *to, unsigned type_len, uint64_t delta)
{
	/* Bit-fields: type_len is the lowest bits of a little-endian word and the highest of a big-endian one. */
	uint64_t word = tw->options.big_endian ? (uint64_t)type_len << DELTA_BITS | delta : delta << 5 | type_len;

	tw_put(tw, to, word, HEADER_BYTES);
}

static void open_page(struct tw *tw, struct tw_buffer *b, struct tw_cpu *c, uint64_t time)
{
	c->page = zeroed(b->page_bytes);
	c->tail = 0;
	tw_put(tw, c->page, time, 8);
}

/* rb_reset_tail(): what the writer leaves where an event no longer fits. Returns the bytes committed. */
static size_t pad_tail(struct tw *tw, struct tw_buffer *b, struct tw_cpu *c)
{
	size_t left = page_data_bytes(tw, b) - c->tail;
	uint8_t *to = page_data(tw, c) + c->tail;

	if (left < EVENT_MIN_BYTES) {
		if (left >= HEADER_BYTES)
			put_event_header(tw, to, TYPE_LEN_PADDING, 0);
		return c->tail;
	}
	put_event_header(tw, to, TYPE_LEN_PADDING, 1);
	tw_put(tw, to + HEADER_BYTES, left - HEADER_BYTES, 4);
	return page_data_bytes(tw, b);
}

static void close_page(struct tw *tw, struct tw_buffer *b, struct tw_cpu *c, bool is_full)
{
	unsigned long_bytes = tw->options.long_bytes;
	uint64_t commit;

	if (!c->page)
		return;
	commit = is_full && tw->options.pad_tail ? pad_tail(tw, b, c) : c->tail;
	if (c->is_marked) {
		size_t end = commit;

		commit += MISSED_EVENTS;
		if (c->lost >= 0 && page_data_bytes(tw, b) - end >= long_bytes) {
			tw_put(tw, page_data(tw, c) + end, (uint64_t)c->lost, long_bytes);
			commit += MISSED_STORED;
		}
		c->is_marked = false;
	}
	tw_put(tw, c->page + 8, commit, long_bytes);
	tw_bytes_add(&c->pages, c->page, b->page_bytes);
	free(c->page);
	c->page = NULL;
}

void tw_new_page(struct tw *tw, unsigned buffer, unsigned cpu)
{
	struct tw_cpu *c = get_cpu(tw, buffer, cpu);
	struct tw_buffer *b = get_buffer(tw, buffer);

	if (!c->page)
		open_page(tw, b, c, c->last_time);
	close_page(tw, b, c, false);
}

void tw_lost(struct tw *tw, unsigned buffer, unsigned cpu, int64_t count)
{
	struct tw_cpu *c = get_cpu(tw, buffer, cpu);

	close_page(tw, get_buffer(tw, buffer), c, false);
	c->is_marked = true;
	c->lost = count;
}

void tw_raw_page(struct tw *tw, unsigned buffer, unsigned cpu, const void *page)
{
	struct tw_buffer *b = get_buffer(tw, buffer);
	struct tw_cpu *c = get_cpu(tw, buffer, cpu);

	close_page(tw, b, c, false);
	tw_bytes_add(&c->pages, page, b->page_bytes);
}

void tw_absolute(struct tw *tw, unsigned buffer, unsigned cpu)
{
	get_cpu(tw, buffer, cpu)->is_absolute = true;
}

void *tw_finish(struct tw *tw, size_t *ret_bytes)
{
	struct tw_bytes out = { 0 };
	unsigned i, k;

	for (i = 0; i < tw->buffers_count; i++)
		for (k = 0; k < tw->buffers[i].cpus_count; k++)
			close_page(tw, &tw->buffers[i], &tw->buffers[i].cpus[k], false);
	tw_write_file(tw, &out);
	*ret_bytes = out.size;
	return out.data;
}

/* ---- events ---- */

static bool is_long_form(const struct tw *tw, size_t record_bytes)
{
	return record_bytes > SMALL_DATA_MAX || tw->options.align8;
}

/* rb_calculate_event_length() */
static size_t event_bytes(const struct tw *tw, size_t record_bytes)
{
	size_t alignment = tw->options.align8 ? 8 : 4;
	size_t bytes = record_bytes ? record_bytes : 1;

	if (is_long_form(tw, record_bytes))
		bytes += 4;
	bytes += HEADER_BYTES;
	bytes = (bytes + alignment - 1) / alignment * alignment;
	/* So that what is left of a dropped TIME_EXTEND never is a hole of 4 bytes. */
	return bytes == STAMP_BYTES + 4 ? bytes + 4 : bytes;
}

static void put_stamp(struct tw *tw, uint8_t *to, unsigned type_len, uint64_t value)
{
	put_event_header(tw, to, type_len, value & (DELTA_LIMIT - 1));
	tw_put(tw, to + HEADER_BYTES, value >> DELTA_BITS, 4);
}

/*
 * Room for an event of `bytes` at `time`, with the TIME_EXTEND or TIME_STAMP
 * it needs in front of it; a new page if it does not fit. *ret_delta is for
 * the event's own header.
 */
static uint8_t *reserve(struct tw *tw, struct tw_buffer *b, struct tw_cpu *c, uint64_t time, size_t bytes,
			uint64_t *ret_delta)
{
	size_t stamp_bytes;
	uint64_t delta;
	uint8_t *to;

	if (time < c->last_time)
		misuse("the time of a CPU goes back");
	if (bytes > page_data_bytes(tw, b))
		misuse("a record does not fit a page");
	delta = time - c->last_time;
	stamp_bytes = c->is_absolute || delta >= DELTA_LIMIT ? STAMP_BYTES : 0;
	if (c->page && c->tail && c->tail + stamp_bytes + bytes > page_data_bytes(tw, b))
		close_page(tw, b, c, true);
	if (!c->page)
		open_page(tw, b, c, time);
	if (!c->tail) { /* the page's own time stamp says it all */
		delta = 0;
		stamp_bytes = 0;
	}
	to = page_data(tw, c) + c->tail;
	if (stamp_bytes) {
		if (c->is_absolute)
			put_stamp(tw, to, TYPE_LEN_TIME_STAMP, time & ((UINT64_C(1) << 59) - 1));
		else
			put_stamp(tw, to, TYPE_LEN_TIME_EXTEND, delta);
		to += STAMP_BYTES;
		delta = 0;
	}
	c->tail += stamp_bytes + bytes;
	c->last_time = time;
	c->is_absolute = false;
	*ret_delta = delta;
	return to;
}

void tw_record(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, const void *record, size_t record_bytes)
{
	struct tw_cpu *c = get_cpu(tw, buffer, cpu);
	size_t bytes = event_bytes(tw, record_bytes);
	uint64_t delta;
	uint8_t *to = reserve(tw, get_buffer(tw, buffer), c, time, bytes, &delta);

	if (is_long_form(tw, record_bytes)) {
		put_event_header(tw, to, 0, delta);
		tw_put(tw, to + HEADER_BYTES, bytes - HEADER_BYTES, 4);
		memcpy(to + HEADER_BYTES + 4, record, record_bytes);
	} else {
		put_event_header(tw, to, (unsigned)(bytes - HEADER_BYTES) / 4, delta);
		memcpy(to + HEADER_BYTES, record, record_bytes);
	}
	c->events_count++;
}

void tw_discard(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time)
{
	struct tw_cpu *c = get_cpu(tw, buffer, cpu);
	const struct tw_format *format = &tw->formats[TW_FORMAT_KMALLOC];
	size_t bytes = event_bytes(tw, format->fixed_bytes);
	uint64_t delta;
	uint8_t *to = reserve(tw, get_buffer(tw, buffer), c, time, bytes, &delta);

	/* rb_event_discard(): the record stays but for its first word; a delta of 0 would mean the end of the page. */
	memset(to + HEADER_BYTES, 0x5a, bytes - HEADER_BYTES);
	if (!delta) {
		delta = 1;
		c->last_time++;
	}
	put_event_header(tw, to, TYPE_LEN_PADDING, delta);
	tw_put(tw, to + HEADER_BYTES, bytes - HEADER_BYTES, 4);
}

/* A record under construction. */
struct record {
	struct tw *tw;
	const struct tw_format *format;
	uint8_t *data;
	size_t bytes;
};

static struct record record_new(struct tw *tw, enum tw_format_kind kind, int32_t pid, size_t bytes)
{
	const struct tw_format *format = &tw->formats[kind];
	struct record r = { .tw = tw, .format = format, .bytes = bytes };

	if (!format->system)
		misuse("an event that this kernel does not have");
	r.data = zeroed(bytes);
	tw_put(tw, r.data, format->id, 2);
	tw_put(tw, r.data + 4, (uint32_t)pid, 4);
	return r;
}

/* Nothing if this kernel's event has no such field. */
static void record_set(struct record *r, enum tw_format_field_id id, uint64_t value)
{
	const struct tw_format_field *field = tw_format_find(r->format, id);

	if (field)
		tw_put(r->tw, r->data + field->offset, value, field->bytes);
}

static void record_set_comm(struct record *r, enum tw_format_field_id id, const char *comm)
{
	const struct tw_format_field *field = tw_format_find(r->format, id);

	snprintf((char *)r->data + field->offset, field->bytes, "%s", comm);
}

static void record_write(struct record *r, unsigned buffer, unsigned cpu, uint64_t time)
{
	tw_record(r->tw, buffer, cpu, time, r->data, r->bytes);
	free(r->data);
}

void tw_event(struct tw *tw, unsigned buffer, const struct km_event *e, const char *cache_name)
{
	const struct tw_format *format;
	size_t bytes, name_bytes = strlen(cache_name ? cache_name : "") + 1;
	bool has_name;
	struct record r;

	if (!km_event_is_slab(e))
		misuse("not a slab event");
	format = &tw->formats[e->kind];
	has_name = tw_format_find(format, TW_FIELD_NAME);
	bytes = format->fixed_bytes + (has_name ? name_bytes : 0);
	r = record_new(tw, (enum tw_format_kind)e->kind, e->pid, bytes);
	record_set(&r, TW_FIELD_CALL_SITE, e->call_site);
	record_set(&r, TW_FIELD_PTR, e->ptr);
	record_set(&r, TW_FIELD_BYTES_REQ, e->bytes_req);
	record_set(&r, TW_FIELD_BYTES_ALLOC, e->bytes_alloc);
	record_set(&r, TW_FIELD_GFP_FLAGS, e->gfp);
	record_set(&r, TW_FIELD_NODE, (uint64_t)(int64_t)e->node);
	record_set(&r, TW_FIELD_ACCOUNTED, (e->gfp & tw_gfp(tw->options.kernel, "__GFP_ACCOUNT")) != 0);
	if (has_name) {
		/* The strings begin right behind the last field, not behind the struct's padding. */
		record_set(&r, TW_FIELD_NAME, (uint64_t)name_bytes << 16 | format->end_bytes);
		if (cache_name)
			memcpy(r.data + format->end_bytes, cache_name, name_bytes);
	}
	record_write(&r, buffer, e->cpu, e->time);
}

static void put_alloc(struct tw *tw, enum km_event_kind kind, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid,
		      uint64_t call_site, uint64_t ptr, uint64_t bytes_req, uint64_t bytes_alloc, uint32_t gfp,
		      int node, const char *name)
{
	struct km_event e = {
		.kind = (uint8_t)kind,
		.cpu = (uint16_t)cpu,
		.time = time,
		.pid = pid,
		.call_site = call_site,
		.ptr = ptr,
		.bytes_req = bytes_req,
		.bytes_alloc = bytes_alloc,
		.gfp = gfp,
		.node = (int16_t)node,
	};

	tw_event(tw, buffer, &e, name);
}

static void put_free(struct tw *tw, enum km_event_kind kind, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid,
		     uint64_t call_site, uint64_t ptr, const char *name)
{
	put_alloc(tw, kind, buffer, cpu, time, pid, call_site, ptr, 0, 0, 0, KM_NODE_ANY, name);
}

void tw_kmalloc(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid, uint64_t call_site,
		uint64_t ptr, uint64_t bytes_req, uint64_t bytes_alloc, uint32_t gfp, int node)
{
	put_alloc(tw, KM_EVENT_KMALLOC, buffer, cpu, time, pid, call_site, ptr, bytes_req, bytes_alloc, gfp, node,
		  NULL);
}

void tw_kmalloc_node(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid, uint64_t call_site,
		     uint64_t ptr, uint64_t bytes_req, uint64_t bytes_alloc, uint32_t gfp, int node)
{
	put_alloc(tw, KM_EVENT_KMALLOC_NODE, buffer, cpu, time, pid, call_site, ptr, bytes_req, bytes_alloc, gfp, node,
		  NULL);
}

void tw_cache_alloc(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid, uint64_t call_site,
		    uint64_t ptr, uint64_t bytes_req, uint64_t bytes_alloc, uint32_t gfp, int node, const char *name)
{
	put_alloc(tw, KM_EVENT_CACHE_ALLOC, buffer, cpu, time, pid, call_site, ptr, bytes_req, bytes_alloc, gfp, node,
		  name);
}

void tw_cache_alloc_node(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid, uint64_t call_site,
			 uint64_t ptr, uint64_t bytes_req, uint64_t bytes_alloc, uint32_t gfp, int node)
{
	put_alloc(tw, KM_EVENT_CACHE_ALLOC_NODE, buffer, cpu, time, pid, call_site, ptr, bytes_req, bytes_alloc, gfp,
		  node, NULL);
}

void tw_kfree(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid, uint64_t call_site,
	      uint64_t ptr)
{
	put_free(tw, KM_EVENT_KFREE, buffer, cpu, time, pid, call_site, ptr, NULL);
}

void tw_cache_free(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid, uint64_t call_site,
		   uint64_t ptr, const char *name)
{
	put_free(tw, KM_EVENT_CACHE_FREE, buffer, cpu, time, pid, call_site, ptr, name);
}

void tw_other(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid)
{
	struct record r = record_new(tw, TW_FORMAT_SCHED_SWITCH, pid, tw->formats[TW_FORMAT_SCHED_SWITCH].fixed_bytes);

	record_set_comm(&r, TW_FIELD_PREV_COMM, "worker");
	record_set(&r, TW_FIELD_PREV_PID, (uint32_t)pid);
	record_set(&r, TW_FIELD_PREV_PRIO, 120);
	record_set(&r, TW_FIELD_PREV_STATE, 1);
	record_set_comm(&r, TW_FIELD_NEXT_COMM, "swapper");
	record_set(&r, TW_FIELD_NEXT_PRIO, 120);
	record_write(&r, buffer, cpu, time);
}

void tw_print(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid, const char *text)
{
	const struct tw_format *format = &tw->formats[TW_FORMAT_PRINT];
	size_t text_bytes = strlen(text) + 1;
	struct record r = record_new(tw, TW_FORMAT_PRINT, pid, format->end_bytes + text_bytes);

	record_set(&r, TW_FIELD_IP, tw_function(tw->options.long_bytes, 0) + 0x10);
	memcpy(r.data + format->end_bytes, text, text_bytes);
	record_write(&r, buffer, cpu, time);
}

void tw_stack(struct tw *tw, unsigned buffer, unsigned cpu, uint64_t time, int32_t pid, unsigned count,
	      const uint64_t *ips)
{
	unsigned long_bytes = tw->options.long_bytes, i;
	size_t callers = tw_format_find(&tw->formats[TW_FORMAT_KERNEL_STACK], TW_FIELD_CALLER)->offset;
	struct record r = record_new(tw, TW_FORMAT_KERNEL_STACK, pid, callers + (size_t)count * long_bytes);

	record_set(&r, TW_FIELD_SIZE, count);
	for (i = 0; i < count; i++)
		tw_put(tw, r.data + callers + (size_t)i * long_bytes, ips[i], long_bytes);
	record_write(&r, buffer, cpu, time);
}
