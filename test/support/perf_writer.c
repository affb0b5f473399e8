/* SPDX-License-Identifier: GPL-2.0-only */
#include "perf_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "perfdata_records.h"

#define KINDS_COUNT 7U /* the six slab events and sched_switch */
#define MOST_PACKED 60000U

struct bytes {
	uint8_t *data;
	size_t size, room;
};

struct pw {
	struct pw_options options;
	struct tw_format formats[TW_FORMAT_KINDS];
	struct bytes data;  /* the data section, or all of a pipe */
	struct bytes plain; /* records that are still to be compressed */
	ZSTD_CCtx *zstd;
};

static void add(struct bytes *to, const void *data, size_t bytes)
{
	if (to->size + bytes > to->room) {
		to->room = (to->size + bytes) * 2;
		to->data = realloc(to->data, to->room);
		if (!to->data)
			abort();
	}
	if (bytes && data)
		memcpy(to->data + to->size, data, bytes);
	else if (bytes)
		memset(to->data + to->size, 0, bytes);
	to->size += bytes;
}

static void put(uint8_t *to, uint64_t value, unsigned bytes, bool big_endian)
{
	for (unsigned i = 0; i < bytes; i++)
		to[big_endian ? bytes - 1 - i : i] = (uint8_t)(value >> (8 * i));
}

static void add_number(const struct pw *pw, struct bytes *to, uint64_t value, unsigned bytes)
{
	uint8_t number[8];

	put(number, value, bytes, pw->options.big_endian);
	add(to, number, bytes);
}

static void u16(const struct pw *pw, struct bytes *to, uint64_t value)
{
	add_number(pw, to, value, 2);
}

static void u32(const struct pw *pw, struct bytes *to, uint64_t value)
{
	add_number(pw, to, value, 4);
}

static void u64(const struct pw *pw, struct bytes *to, uint64_t value)
{
	add_number(pw, to, value, 8);
}

static void header(const struct pw *pw, struct bytes *to, uint32_t type, uint16_t misc, size_t body_bytes)
{
	if (body_bytes + 8 > 65535)
		abort();
	u32(pw, to, type);
	u16(pw, to, misc);
	u16(pw, to, body_bytes + 8);
}

/* --- what is recorded --- */

static enum tw_format_kind kind_of(unsigned i)
{
	return i < 6 ? (enum tw_format_kind)i : TW_FORMAT_SCHED_SWITCH;
}

uint64_t pw_id(const struct pw *pw, enum tw_format_kind kind, unsigned cpu)
{
	unsigned i = kind == TW_FORMAT_SCHED_SWITCH ? 6 : (unsigned)kind;

	return 1000 + i * pw->options.cpus + cpu;
}

static uint64_t flag(const struct pw *pw, unsigned n, bool set)
{
	return (uint64_t)set << (pw->options.big_endian ? 63 - n : n);
}

static void add_attr(const struct pw *pw, struct bytes *to, const struct tw_format *format)
{
	const struct pw_options *o = &pw->options;
	size_t start = to->size;
	bool big = o->big_endian;

	add(to, NULL, o->attr_bytes);
	put(to->data + start, KM_PERFDATA_TRACEPOINT, 4, big);
	put(to->data + start + 4, o->attr_bytes, 4, big);
	put(to->data + start + 8, format->id, 8, big);
	put(to->data + start + 16, o->sample_period, 8, big);
	put(to->data + start + 24, o->sample_type, 8, big);
	put(to->data + start + 32, o->read_format, 8, big);
	put(to->data + start + 40,
	    flag(pw, 0, true) | flag(pw, 1, true) | flag(pw, 10, o->freq) | flag(pw, 12, o->enable_on_exec) |
		    flag(pw, 18, !o->no_sample_id_all) | flag(pw, 25, o->use_clockid),
	    8, big);
	if (o->attr_bytes >= 96)
		put(to->data + start + 92, (uint32_t)o->clockid, 4, big);
}

static void add_block(const struct pw *pw, struct bytes *to, char *text)
{
	u64(pw, to, strlen(text));
	add(to, text, strlen(text));
	free(text);
}

static void add_system(const struct pw *pw, struct bytes *to, const char *system)
{
	uint32_t count = 0;

	for (unsigned i = 0; i < KINDS_COUNT; i++)
		count += pw->formats[kind_of(i)].system && !strcmp(pw->formats[kind_of(i)].system, system);
	add(to, system, strlen(system) + 1);
	u32(pw, to, count);
	for (unsigned i = 0; i < KINDS_COUNT; i++) {
		const struct tw_format *format = &pw->formats[kind_of(i)];

		if (format->system && !strcmp(format->system, system))
			add_block(pw, to, tw_format_text(format, pw->options.kernel));
	}
}

static void add_tracing(const struct pw *pw, struct bytes *to)
{
	static const char head[] = "\027\010\104tracing0.6";
	uint8_t sizes[2] = { pw->options.big_endian, (uint8_t)pw->options.long_bytes };

	add(to, head, sizeof(head));
	add(to, sizes, sizeof(sizes));
	u32(pw, to, 4096);
	add(to, "header_page", 12);
	add_block(pw, to, tw_header_page_text(pw->options.long_bytes, 4096));
	add(to, "header_event", 13);
	add_block(pw, to, tw_header_event_text());
	u32(pw, to, 0); /* ftrace's own */
	u32(pw, to, 2);
	add_system(pw, to, "kmem");
	add_system(pw, to, "sched");
	u32(pw, to, 0); /* kallsyms */
	u32(pw, to, 0); /* printk */
	u64(pw, to, 0); /* saved_cmdlines */
	add(to, NULL, -to->size & 7);
}

static void add_string(const struct pw *pw, struct bytes *to, const char *text, size_t length)
{
	size_t padded = (length + 1 + 63) & ~(size_t)63;

	u32(pw, to, padded);
	add(to, text, length);
	add(to, NULL, padded - length);
}

static void add_command_line(const struct pw *pw, struct bytes *to)
{
	const char *line = pw->options.command_line ? pw->options.command_line : "perf record -a -e kmem:*";
	uint32_t words = 1;

	for (const char *p = line; *p; p++)
		words += *p == ' ';
	u32(pw, to, words);
	for (const char *p = line, *end; words--; p = end + 1) {
		end = strchrnul(p, ' ');
		add_string(pw, to, p, (size_t)(end - p));
	}
}

/* The bodies of features: what file mode has in sections and pipe mode in records. */
static bool add_feature(const struct pw *pw, struct bytes *to, unsigned feature)
{
	const char *text = NULL;

	if (feature == 1) {
		if (pw->options.omit & PW_OMIT_TRACING)
			return false;
		add_tracing(pw, to);
		return true;
	}
	if (pw->options.omit & PW_OMIT_FEATURES)
		return false;
	switch (feature) {
	case 3:
		text = "testhost";
		break;
	case 4:
		text = tw_kernel_release(pw->options.kernel);
		break;
	case 5:
		text = "6.1.test";
		break;
	case 6:
		text = "x86_64";
		break;
	case 7:
		u32(pw, to, pw->options.cpus);
		u32(pw, to, pw->options.cpus);
		return true;
	case 11:
		add_command_line(pw, to);
		return true;
	case 27: /* version, type (zstd), level, ratio, mmap_len */
		if (pw->options.compression == PW_PLAIN)
			return false;
		for (unsigned i = 0; i < 5; i++)
			u32(pw, to, 1);
		return true;
	default:
		return false;
	}
	add_string(pw, to, text, strlen(text));
	return true;
}

/* --- records --- */

static void compress_chunk(struct pw *pw, const uint8_t *data, size_t bytes)
{
	bool second = pw->options.compression == PW_COMPRESSED2;
	ZSTD_inBuffer in = { .src = data, .size = bytes };
	size_t more;

	do {
		uint8_t packed[MOST_PACKED];
		ZSTD_outBuffer out = { .dst = packed, .size = sizeof(packed) };
		size_t padding;

		more = ZSTD_compressStream2(pw->zstd, &out, &in, ZSTD_e_flush);
		if (ZSTD_isError(more))
			abort();
		padding = second ? -out.pos & 7 : 0;
		header(pw, &pw->data, second ? KM_RECORD_COMPRESSED2 : KM_RECORD_COMPRESSED, 0,
		       out.pos + padding + (second ? 8 : 0));
		if (second)
			u64(pw, &pw->data, out.pos);
		add(&pw->data, packed, out.pos);
		add(&pw->data, NULL, padding);
	} while (more || in.pos < in.size);
}

static void compress_plain(struct pw *pw)
{
	size_t chunk = pw->options.chunk_bytes ? pw->options.chunk_bytes : pw->plain.size;

	for (size_t at = 0; at < pw->plain.size; at += chunk)
		compress_chunk(pw, pw->plain.data + at, chunk < pw->plain.size - at ? chunk : pw->plain.size - at);
	pw->plain.size = 0;
}

/* Where the kernel's records go. */
static struct bytes *ring(struct pw *pw)
{
	return pw->options.compression == PW_PLAIN ? &pw->data : &pw->plain;
}

static void add_end(const struct pw *pw, struct bytes *to, uint64_t id, unsigned cpu, uint64_t time, int32_t pid)
{
	uint64_t type = pw->options.sample_type;

	if (pw->options.no_sample_id_all)
		return;
	if (type & KM_SAMPLE_TID) {
		u32(pw, to, (uint32_t)pid);
		u32(pw, to, (uint32_t)pid);
	}
	if (type & KM_SAMPLE_TIME)
		u64(pw, to, time);
	if (type & KM_SAMPLE_ID)
		u64(pw, to, id);
	if (type & KM_SAMPLE_STREAM_ID)
		u64(pw, to, id);
	if (type & KM_SAMPLE_CPU) {
		u32(pw, to, cpu);
		u32(pw, to, 0);
	}
	if (type & KM_SAMPLE_IDENTIFIER)
		u64(pw, to, id);
}

static void add_read(const struct pw *pw, struct bytes *to, uint64_t id)
{
	uint64_t format = pw->options.read_format;
	unsigned count = format & KM_READ_GROUP ? 3 : 1;

	if (format & KM_READ_GROUP)
		u64(pw, to, count);
	else
		u64(pw, to, 77); /* the value comes first */
	if (format & KM_READ_ENABLED)
		u64(pw, to, 1);
	if (format & KM_READ_RUNNING)
		u64(pw, to, 2);
	for (unsigned i = 0; i < count; i++) {
		if (format & KM_READ_GROUP)
			u64(pw, to, 77 + i);
		if (format & KM_READ_ID)
			u64(pw, to, id);
		if (format & KM_READ_LOST)
			u64(pw, to, 0);
	}
}

static void add_sample(struct pw *pw, uint64_t id, unsigned cpu, uint64_t time, int32_t pid, const void *raw,
		       uint32_t raw_bytes)
{
	uint64_t type = pw->options.sample_type;
	struct bytes body = { 0 };

	if (type & KM_SAMPLE_IDENTIFIER)
		u64(pw, &body, id);
	if (type & KM_SAMPLE_IP)
		u64(pw, &body, UINT64_C(0xffffffff81000000));
	if (type & KM_SAMPLE_TID) {
		u32(pw, &body, (uint32_t)pid);
		u32(pw, &body, (uint32_t)pid);
	}
	if (type & KM_SAMPLE_TIME)
		u64(pw, &body, time);
	if (type & KM_SAMPLE_ADDR)
		u64(pw, &body, 0xadd);
	if (type & KM_SAMPLE_ID)
		u64(pw, &body, id);
	if (type & KM_SAMPLE_STREAM_ID)
		u64(pw, &body, id + 5000);
	if (type & KM_SAMPLE_CPU) {
		u32(pw, &body, cpu);
		u32(pw, &body, 0);
	}
	if (type & KM_SAMPLE_PERIOD)
		u64(pw, &body, pw->options.sample_period);
	if (type & KM_SAMPLE_READ)
		add_read(pw, &body, id);
	if (type & KM_SAMPLE_CALLCHAIN) {
		unsigned depth = (unsigned)(time % 4);

		u64(pw, &body, depth);
		for (unsigned i = 0; i < depth; i++)
			u64(pw, &body, UINT64_C(0xffffffff81000000) + i);
	}
	if (type & KM_SAMPLE_RAW) {
		u32(pw, &body, raw_bytes);
		add(&body, raw, raw_bytes);
	}
	if (type & 1 << 11) { /* BRANCH_STACK stands behind RAW */
		u64(pw, &body, 1);
		add(&body, NULL, 24);
	}
	header(pw, ring(pw), KM_RECORD_SAMPLE, 1, body.size);
	add(ring(pw), body.data, body.size);
	free(body.data);
}

static void set_field(const struct pw *pw, uint8_t *record, const struct tw_format *format, enum tw_format_field_id id,
		      uint64_t value)
{
	const struct tw_format_field *field = tw_format_find(format, id);

	if (field)
		put(record + field->offset, value, field->bytes, pw->options.big_endian);
}

void pw_event(struct pw *pw, const struct km_event *e, const char *cache_name)
{
	const struct tw_format *format = &pw->formats[e->kind];
	size_t name_bytes = strlen(cache_name ? cache_name : "") + 1, bytes = format->fixed_bytes;
	uint8_t *record;

	if (!km_event_is_slab(e) || !format->system)
		abort();
	if (tw_format_find(format, TW_FIELD_NAME))
		bytes += name_bytes;
	bytes += (12 - bytes % 8) % 8; /* the kernel fills up so that size and data are whole words */
	record = calloc(1, bytes);
	if (!record)
		abort();
	put(record, format->id, 2, pw->options.big_endian);
	put(record + 4, (uint32_t)e->pid, 4, pw->options.big_endian);
	set_field(pw, record, format, TW_FIELD_CALL_SITE, e->call_site);
	set_field(pw, record, format, TW_FIELD_PTR, e->ptr);
	set_field(pw, record, format, TW_FIELD_BYTES_REQ, e->bytes_req);
	set_field(pw, record, format, TW_FIELD_BYTES_ALLOC, e->bytes_alloc);
	set_field(pw, record, format, TW_FIELD_GFP_FLAGS, e->gfp);
	set_field(pw, record, format, TW_FIELD_NODE, (uint64_t)(int64_t)e->node);
	if (tw_format_find(format, TW_FIELD_NAME)) {
		set_field(pw, record, format, TW_FIELD_NAME, (uint64_t)name_bytes << 16 | format->end_bytes);
		memcpy(record + format->end_bytes, cache_name ? cache_name : "", name_bytes);
	}
	add_sample(pw, pw_id(pw, (enum tw_format_kind)e->kind, e->cpu), e->cpu, e->time, e->pid, record,
		   (uint32_t)bytes);
	free(record);
}

void pw_other(struct pw *pw, unsigned cpu, uint64_t time, int32_t pid)
{
	const struct tw_format *format = &pw->formats[TW_FORMAT_SCHED_SWITCH];
	uint8_t record[256] = { 0 };

	put(record, format->id, 2, pw->options.big_endian);
	put(record + 4, (uint32_t)pid, 4, pw->options.big_endian);
	add_sample(pw, pw_id(pw, TW_FORMAT_SCHED_SWITCH, cpu), cpu, time, pid, record, format->fixed_bytes);
}

void pw_raw(struct pw *pw, unsigned cpu, uint64_t time, const void *raw, uint32_t bytes)
{
	add_sample(pw, pw_id(pw, TW_FORMAT_KMALLOC, cpu), cpu, time, 1, raw, bytes);
}

static void add_record(struct pw *pw, uint32_t type, uint16_t misc, struct bytes *body)
{
	header(pw, ring(pw), type, misc, body->size);
	add(ring(pw), body->data, body->size);
	free(body->data);
}

void pw_round(struct pw *pw)
{
	compress_plain(pw);
	header(pw, &pw->data, KM_RECORD_FINISHED_ROUND, 0, 0);
}

void pw_lost(struct pw *pw, unsigned cpu, uint64_t time, uint64_t count)
{
	struct bytes body = { 0 };

	u64(pw, &body, pw_id(pw, TW_FORMAT_KMALLOC, cpu));
	u64(pw, &body, count);
	add_end(pw, &body, pw_id(pw, TW_FORMAT_KMALLOC, cpu), cpu, time, 1);
	add_record(pw, KM_RECORD_LOST, 0, &body);
}

void pw_lost_samples(struct pw *pw, unsigned cpu, uint64_t count, uint16_t misc)
{
	struct bytes body = { 0 };

	u64(pw, &body, count);
	add_end(pw, &body, pw_id(pw, TW_FORMAT_KMALLOC, cpu), cpu, 0, 1);
	add_record(pw, KM_RECORD_LOST_SAMPLES, misc, &body);
}

void pw_throttle(struct pw *pw, enum tw_format_kind kind, unsigned cpu, uint64_t time)
{
	struct bytes body = { 0 };

	u64(pw, &body, time);
	u64(pw, &body, pw_id(pw, kind, cpu));
	u64(pw, &body, pw_id(pw, kind, cpu));
	add_end(pw, &body, pw_id(pw, kind, cpu), cpu, time, 1);
	add_record(pw, KM_RECORD_THROTTLE, 0, &body);
}

void pw_comm(struct pw *pw, unsigned cpu, uint64_t time, int32_t pid, const char *name)
{
	struct bytes body = { 0 };

	u32(pw, &body, (uint32_t)pid);
	u32(pw, &body, (uint32_t)pid);
	add(&body, name, strlen(name) + 1);
	add(&body, NULL, -body.size & 7);
	add_end(pw, &body, pw_id(pw, TW_FORMAT_KMALLOC, cpu), cpu, time, pid);
	add_record(pw, KM_RECORD_COMM, 0, &body);
}

void pw_fork(struct pw *pw, unsigned cpu, uint64_t time, int32_t pid, int32_t parent)
{
	struct bytes body = { 0 };

	u32(pw, &body, (uint32_t)pid);
	u32(pw, &body, (uint32_t)parent);
	u32(pw, &body, (uint32_t)pid);
	u32(pw, &body, (uint32_t)parent);
	u64(pw, &body, time);
	add_end(pw, &body, pw_id(pw, TW_FORMAT_KMALLOC, cpu), cpu, time, parent);
	add_record(pw, KM_RECORD_FORK, 0, &body);
}

void pw_aux(struct pw *pw, const void *data, uint64_t bytes)
{
	compress_plain(pw);
	header(pw, &pw->data, KM_RECORD_AUXTRACE, 0, 40);
	u64(pw, &pw->data, bytes);
	add(&pw->data, NULL, 32);
	add(&pw->data, data, bytes);
}

void pw_bytes(struct pw *pw, const void *data, size_t bytes)
{
	compress_plain(pw);
	add(&pw->data, data, bytes);
}

/* --- the file --- */

static void add_id_index(struct pw *pw)
{
	struct bytes body = { 0 };
	uint64_t count = 0;

	u64(pw, &body, 0);
	for (unsigned i = 0; i < KINDS_COUNT; i++) {
		for (unsigned cpu = 0; pw->formats[kind_of(i)].system && cpu < pw->options.cpus; cpu++) {
			u64(pw, &body, pw_id(pw, kind_of(i), cpu));
			u64(pw, &body, cpu);
			u64(pw, &body, cpu);
			u64(pw, &body, pw->options.per_task ? 4711 : UINT64_MAX);
			count++;
		}
	}
	put(body.data, count, 8, pw->options.big_endian);
	header(pw, &pw->data, KM_RECORD_ID_INDEX, 0, body.size);
	add(&pw->data, body.data, body.size);
	free(body.data);
}

static void begin_pipe(struct pw *pw)
{
	add(&pw->data, pw->options.big_endian ? "2ELIFREP" : "PERFILE2", 8);
	u64(pw, &pw->data, KM_PERFDATA_PIPE_HEADER_BYTES);
	for (unsigned i = 0; i < KINDS_COUNT; i++) {
		struct bytes body = { 0 };

		if (!pw->formats[kind_of(i)].system)
			continue;
		add_attr(pw, &body, &pw->formats[kind_of(i)]);
		for (unsigned cpu = 0; cpu < pw->options.cpus; cpu++)
			u64(pw, &body, pw_id(pw, kind_of(i), cpu));
		header(pw, &pw->data, KM_RECORD_HEADER_ATTR, 0, body.size);
		add(&pw->data, body.data, body.size);
		free(body.data);
	}
	for (unsigned feature = 2; feature < 32; feature++) {
		struct bytes body = { 0 };

		u64(pw, &body, feature);
		if (add_feature(pw, &body, feature)) {
			header(pw, &pw->data, KM_RECORD_FEATURE, 0, body.size);
			add(&pw->data, body.data, body.size);
		}
		free(body.data);
	}
	if (!(pw->options.omit & PW_OMIT_TRACING)) {
		struct bytes tracing = { 0 };

		add_tracing(pw, &tracing);
		header(pw, &pw->data, KM_RECORD_TRACING_DATA, 0, 4);
		u32(pw, &pw->data, tracing.size);
		add(&pw->data, tracing.data, tracing.size);
		free(tracing.data);
	}
}

struct pw *pw_new(const struct pw_options *options)
{
	struct pw *pw = calloc(1, sizeof(*pw));

	if (!pw)
		abort();
	pw->options = *options;
	if (!pw->options.long_bytes)
		pw->options.long_bytes = 8;
	if (!pw->options.cpus)
		pw->options.cpus = 1;
	if (!pw->options.sample_type)
		pw->options.sample_type = KM_SAMPLE_IDENTIFIER | KM_SAMPLE_IP | KM_SAMPLE_TID | KM_SAMPLE_TIME |
					  KM_SAMPLE_CPU | KM_SAMPLE_PERIOD | KM_SAMPLE_RAW;
	if (!pw->options.attr_bytes)
		pw->options.attr_bytes = 128;
	if (!pw->options.sample_period)
		pw->options.sample_period = 1;
	tw_formats_init(pw->formats, pw->options.kernel, pw->options.long_bytes);
	pw->zstd = ZSTD_createCCtx();
	if (!pw->zstd)
		abort();
	if (pw->options.is_pipe)
		begin_pipe(pw);
	if (!(pw->options.omit & PW_OMIT_ID_INDEX))
		add_id_index(pw);
	return pw;
}

void pw_free(struct pw *pw)
{
	if (!pw)
		return;
	ZSTD_freeCCtx(pw->zstd);
	free(pw->data.data);
	free(pw->plain.data);
	free(pw);
}

/* Header, ids, attrs, data, then the features with a table of them in front. */
static void build_file(const struct pw *pw, struct bytes *out)
{
	size_t ids_at = 104, attrs_at, attrs_bytes = 0, data_at, table_at;
	struct bytes features = { 0 };
	uint64_t bits = 0;

	add(out, NULL, 104);
	for (unsigned i = 0; i < KINDS_COUNT; i++) {
		for (unsigned cpu = 0; pw->formats[kind_of(i)].system && cpu < pw->options.cpus; cpu++)
			u64(pw, out, pw_id(pw, kind_of(i), cpu));
	}
	attrs_at = out->size;
	for (unsigned i = 0; i < KINDS_COUNT; i++) {
		if (!pw->formats[kind_of(i)].system)
			continue;
		add_attr(pw, out, &pw->formats[kind_of(i)]);
		u64(pw, out, ids_at);
		u64(pw, out, 8 * pw->options.cpus);
		ids_at += 8 * pw->options.cpus;
	}
	attrs_bytes = out->size - attrs_at;
	data_at = out->size;
	add(out, pw->data.data, pw->data.size);
	table_at = out->size;
	for (unsigned feature = 1; feature < 32; feature++) {
		struct bytes probe = { 0 };

		if (add_feature(pw, &probe, feature))
			bits |= UINT64_C(1) << feature;
		free(probe.data);
	}
	add(out, NULL, 16 * (size_t)__builtin_popcountll(bits));
	for (unsigned feature = 1, at = 0; feature < 32; feature++) {
		size_t start = features.size, begin = out->size;

		if (!add_feature(pw, &features, feature))
			continue;
		put(out->data + table_at + 16 * at, begin + start, 8, pw->options.big_endian);
		put(out->data + table_at + 16 * at + 8, features.size - start, 8, pw->options.big_endian);
		at++;
	}
	add(out, features.data, features.size);
	free(features.data);
	memcpy(out->data, pw->options.big_endian ? "2ELIFREP" : "PERFILE2", 8);
	put(out->data + 8, 104, 8, pw->options.big_endian);
	put(out->data + 16, pw->options.attr_bytes + 16, 8, pw->options.big_endian);
	put(out->data + 24, attrs_at, 8, pw->options.big_endian);
	put(out->data + 32, attrs_bytes, 8, pw->options.big_endian);
	put(out->data + 40, data_at, 8, pw->options.big_endian);
	put(out->data + 48, pw->options.omit & PW_OMIT_DATA_SIZE ? 0 : pw->data.size, 8, pw->options.big_endian);
	put(out->data + 72, bits, 8, pw->options.big_endian);
}

void *pw_finish(struct pw *pw, size_t *ret_bytes)
{
	struct bytes out = { 0 };

	compress_plain(pw);
	if (pw->options.is_pipe) {
		out = pw->data;
		pw->data = (struct bytes){ 0 };
	} else {
		build_file(pw, &out);
	}
	*ret_bytes = out.size;
	return out.data;
}
