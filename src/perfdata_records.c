/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two levels: the window over the source, and behind a COMPRESSED record the
 * plain bytes that came out of it so far.
 *
 *	source -> window -> records
 *	             |
 *	             +-> COMPRESSED -> zstd -> plain -> records
 *
 * A record is handed out where it lies, so it must be whole in its buffer:
 * what is left is moved to the front before more is put behind it. perf cuts
 * the stream anywhere: a record may begin in one COMPRESSED and end in the
 * next.
 */
#include "perfdata_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "event.h"

#define HEADER_BYTES 8U /* struct perf_event_header: u32 type, u16 misc, u16 size */
#define RECORD_MOST  (UINT32_C(1) << 16)
/* A COMPRESSED2 has a size of its own, but perf fills it up to a record's most too. */
#define WINDOW_BYTES (4U * RECORD_MOST)
#define PLAIN_BYTES  (4U * RECORD_MOST)
/* Out of one COMPRESSED record: more than a ring of any size that perf can be asked for compresses into 64 KiB. */
#define PLAIN_LIMIT (UINT64_C(64) << 20)
#define LOAD_LIMIT  (UINT64_C(64) << 20)
#define LOAD_STEP   (UINT64_C(1) << 20)

struct km_perfdata_records {
	const struct km_perfdata *file;
	struct km_source *source;
	bool big_endian;

	uint64_t window_offset; /* in the file, of window[0] */
	uint64_t end;
	uint8_t *window;
	size_t window_at, window_count;
	bool is_over; /* the source has no more */

	ZSTD_DCtx *zstd;
	bool zstd_is_broken; /* nothing can be had from the stream until a new one begins */
	uint8_t *plain;
	size_t plain_at, plain_count;
	const uint8_t *packed; /* what is left of a COMPRESSED record, in the window */
	size_t packed_left;
	bool zstd_has_more; /* it filled the room it got */
	uint64_t packed_out;
	uint64_t packed_offset;

	size_t *last_at; /* the buffer position that unread goes back to */
	size_t last_from;
	const char *damage;
	uint64_t damage_offset;
};

struct km_perfdata_records *km_perfdata_records_new(const struct km_perfdata *file, struct km_source *source,
						    uint64_t offset, uint64_t end)
{
	struct km_perfdata_records *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->file = file;
	r->source = source;
	r->big_endian = file->big_endian;
	r->window_offset = offset;
	r->end = end;
	r->window = malloc(WINDOW_BYTES);
	if (!r->window) {
		km_perfdata_records_free(r);
		return NULL;
	}
	return r;
}

void km_perfdata_records_free(struct km_perfdata_records *r)
{
	if (!r)
		return;
	ZSTD_freeDCtx(r->zstd);
	free(r->plain);
	free(r->window);
	free(r);
}

static size_t in_window(const struct km_perfdata_records *r)
{
	return r->window_count - r->window_at;
}

static uint64_t offset_now(const struct km_perfdata_records *r)
{
	return r->window_offset + r->window_at;
}

/* Have `bytes` in the window if the source has them. Returns 0 or a negative errno. */
static int fill(struct km_perfdata_records *r, size_t bytes, struct km_error *error)
{
	uint64_t offset, left;
	size_t room;
	int64_t n;

	if (in_window(r) >= bytes || r->is_over)
		return 0;
	memmove(r->window, r->window + r->window_at, in_window(r));
	r->window_offset += r->window_at;
	r->window_count -= r->window_at;
	r->window_at = 0;
	offset = r->window_offset + r->window_count;
	left = r->end > offset ? r->end - offset : 0;
	room = WINDOW_BYTES - r->window_count;
	if (room > left)
		room = (size_t)left;
	/* A pipe gives what it has; wait for no more than is needed. */
	n = km_source_read_some(r->source, offset, r->window + r->window_count, room,
				bytes - r->window_count < room ? bytes - r->window_count : room, error);
	if (n < 0)
		return (int)n;
	r->window_count += (size_t)n;
	r->is_over = r->window_count < bytes;
	return 0;
}

static int damaged(struct km_perfdata_records *r, const char *what, uint64_t offset)
{
	r->damage = what;
	r->damage_offset = offset;
	return KM_NEXT_DAMAGED;
}

const char *km_perfdata_records_damage(const struct km_perfdata_records *r, uint64_t *ret_offset)
{
	*ret_offset = r->damage_offset;
	return r->damage;
}

/* Records are not marked, but a FINISHED_ROUND is always the same eight bytes. */
static int resynchronise(struct km_perfdata_records *r, struct km_error *error)
{
	uint8_t mark[HEADER_BYTES] = { KM_RECORD_FINISHED_ROUND, 0, 0, 0, 0, 0, HEADER_BYTES, 0 };
	uint64_t offset = offset_now(r);

	if (r->big_endian) {
		mark[3] = mark[0];
		mark[0] = 0;
		mark[7] = mark[6];
		mark[6] = 0;
	}
	for (;;) {
		const uint8_t *found = memmem(r->window + r->window_at, in_window(r), mark, sizeof(mark));
		int result;

		if (found) {
			r->window_at = (size_t)(found - r->window);
			return damaged(r, "a record of an impossible size", offset);
		}
		if (in_window(r) >= sizeof(mark))
			r->window_at = r->window_count - (sizeof(mark) - 1);
		result = fill(r, sizeof(mark), error);
		if (result)
			return result;
		if (in_window(r) < sizeof(mark)) {
			r->window_at = r->window_count;
			damaged(r, "a record of an impossible size", offset);
			return KM_NEXT_CUT;
		}
	}
}

/* Skip bytes that are no record. */
static int skip(struct km_perfdata_records *r, uint64_t bytes, struct km_error *error)
{
	if (bytes <= in_window(r)) {
		r->window_at += (size_t)bytes;
		return 0;
	}
	bytes -= in_window(r);
	r->window_offset += r->window_count;
	r->window_at = r->window_count = 0;
	if (bytes > r->end - r->window_offset)
		bytes = r->end - r->window_offset;
	if (!km_source_is_stream(r->source)) {
		r->window_offset += bytes;
		return 0;
	}
	while (bytes && !r->is_over) {
		size_t step = bytes < WINDOW_BYTES ? (size_t)bytes : WINDOW_BYTES;
		int result = fill(r, step, error);

		if (result)
			return result;
		step = in_window(r) < bytes ? in_window(r) : (size_t)bytes;
		r->window_at += step;
		bytes -= step;
	}
	return 0;
}

/* The record at `data`, of which `bytes` are there: 1 whole, 0 not whole yet, -1 of an impossible size. */
static int look(const struct km_perfdata_records *r, const uint8_t *data, size_t bytes,
		struct km_perfdata_record *record, size_t *ret_size)
{
	size_t size;

	if (bytes < HEADER_BYTES) {
		*ret_size = HEADER_BYTES;
		return 0;
	}
	size = km_load16(data + 6, r->big_endian);
	if (size < HEADER_BYTES)
		return -1;
	*ret_size = size;
	if (bytes < size)
		return 0;
	record->type = km_load32(data, r->big_endian);
	record->misc = km_load16(data + 4, r->big_endian);
	record->bytes = (uint32_t)(size - HEADER_BYTES);
	record->body = data + HEADER_BYTES;
	return 1;
}

/* --- inside COMPRESSED records --- */

/* The stream can't be followed any further: what is in hand of it is lost. */
static int break_stream(struct km_perfdata_records *r, const char *what)
{
	r->zstd_is_broken = true;
	r->packed_left = 0;
	r->zstd_has_more = false;
	r->plain_at = r->plain_count = 0;
	return damaged(r, what, r->packed_offset);
}

static int begin_compressed(struct km_perfdata_records *r, const struct km_perfdata_record *record,
			    struct km_error *error)
{
	static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

	r->packed = record->body;
	r->packed_left = record->bytes;
	r->packed_out = 0;
	r->packed_offset = record->offset;
	if (record->type == KM_RECORD_COMPRESSED2) {
		uint64_t bytes = record->bytes >= 8 ? km_load64(record->body, r->big_endian) : UINT64_MAX;

		if (bytes > record->bytes - 8)
			return break_stream(r, "a compressed record shorter than it says");
		r->packed += 8;
		r->packed_left = (size_t)bytes;
	}
	if (!r->zstd) {
		r->zstd = ZSTD_createDCtx();
		r->plain = malloc(PLAIN_BYTES);
		if (!r->zstd || !r->plain)
			return km_error_set(error, -ENOMEM, "out of memory");
	}
	if (r->zstd_is_broken) {
		if (r->packed_left < sizeof(magic) || memcmp(r->packed, magic, sizeof(magic)))
			return break_stream(r, "compressed records behind a damaged one");
		ZSTD_DCtx_reset(r->zstd, ZSTD_reset_session_only);
		r->zstd_is_broken = false;
	}
	return KM_NEXT_RECORD;
}

static int inflate_more(struct km_perfdata_records *r)
{
	ZSTD_inBuffer in = { .src = r->packed, .size = r->packed_left };
	ZSTD_outBuffer out = { .dst = r->plain, .size = PLAIN_BYTES };
	size_t n;

	memmove(r->plain, r->plain + r->plain_at, r->plain_count - r->plain_at);
	r->plain_count -= r->plain_at;
	r->plain_at = 0;
	out.pos = r->plain_count;
	n = ZSTD_decompressStream(r->zstd, &out, &in);
	if (ZSTD_isError(n))
		return break_stream(r, "a compressed record that can not be unpacked");
	r->packed_out += out.pos - r->plain_count;
	if (r->packed_out > PLAIN_LIMIT)
		return break_stream(r, "a compressed record that unpacks to more than any perf would put into it");
	r->zstd_has_more = out.pos == out.size;
	/* Neither in nor out moved: nothing more is to be had. */
	if (!in.pos && out.pos == r->plain_count && r->packed_left)
		return break_stream(r, "a compressed record that can not be unpacked");
	r->plain_count = out.pos;
	r->packed += in.pos;
	r->packed_left -= in.pos;
	return KM_NEXT_RECORD;
}

/* The next record inside the COMPRESSED at hand. KM_NEXT_END: there is no whole one any more. */
static int next_plain(struct km_perfdata_records *r, struct km_perfdata_record *record)
{
	for (;;) {
		size_t size;
		int whole = look(r, r->plain + r->plain_at, r->plain_count - r->plain_at, record, &size);
		int result;

		if (whole > 0) {
			record->offset = r->packed_offset;
			r->last_at = &r->plain_at;
			r->last_from = r->plain_at;
			r->plain_at += size;
			return KM_NEXT_RECORD;
		}
		if (whole < 0)
			return break_stream(r, "a record of an impossible size in a compressed one");
		if (!r->packed_left && !r->zstd_has_more)
			return KM_NEXT_END;
		result = inflate_more(r);
		if (result != KM_NEXT_RECORD)
			return result;
	}
}

/* --- all records --- */

static int next_outer(struct km_perfdata_records *r, struct km_perfdata_record *record, struct km_error *error)
{
	size_t size;
	int result = fill(r, HEADER_BYTES, error);

	if (result)
		return result;
	if (!in_window(r)) {
		if (r->plain_count == r->plain_at)
			return KM_NEXT_END;
		r->plain_at = r->plain_count;
		damaged(r, "a compressed record whose end is missing", r->packed_offset);
		return KM_NEXT_CUT;
	}
	result = look(r, r->window + r->window_at, in_window(r), record, &size);
	if (!result) {
		result = fill(r, size, error);
		if (result)
			return result;
		result = look(r, r->window + r->window_at, in_window(r), record, &size);
	}
	if (result < 0)
		return resynchronise(r, error);
	if (!result) {
		damaged(r, "a record that the file ends in", offset_now(r));
		r->window_at = r->window_count;
		return KM_NEXT_CUT;
	}
	record->offset = offset_now(r);
	r->last_at = &r->window_at;
	r->last_from = r->window_at;
	r->window_at += size;
	return KM_NEXT_RECORD;
}

/* What most records are: a sample that is whole in the window, not a compressed one. */
static inline bool next_sample(struct km_perfdata_records *r, struct km_perfdata_record *record)
{
	const uint8_t *data = r->window + r->window_at;
	size_t left = in_window(r), size;

	if (r->packed_left || r->zstd_has_more || r->plain_at < r->plain_count || left < HEADER_BYTES ||
	    km_load32(data, r->big_endian) != KM_RECORD_SAMPLE)
		return false;
	size = km_load16(data + 6, r->big_endian);
	if (size < HEADER_BYTES || size > left)
		return false;
	record->type = KM_RECORD_SAMPLE;
	record->misc = km_load16(data + 4, r->big_endian);
	record->bytes = (uint32_t)(size - HEADER_BYTES);
	record->body = data + HEADER_BYTES;
	record->offset = offset_now(r);
	r->last_at = &r->window_at;
	r->last_from = r->window_at;
	r->window_at += size;
	return true;
}

int km_perfdata_records_next(struct km_perfdata_records *r, struct km_perfdata_record *ret_record,
			     struct km_error *error)
{
	if (next_sample(r, ret_record))
		return KM_NEXT_RECORD;
	for (;;) {
		int result;

		if (r->packed_left || r->zstd_has_more || r->plain_at < r->plain_count) {
			result = next_plain(r, ret_record);
			if (result != KM_NEXT_END)
				return result;
		}
		result = next_outer(r, ret_record, error);
		if (result != KM_NEXT_RECORD)
			return result;
		switch (ret_record->type) {
		case KM_RECORD_COMPRESSED:
		case KM_RECORD_COMPRESSED2:
			result = begin_compressed(r, ret_record, error);
			if (result != KM_NEXT_RECORD)
				return result;
			continue;
		case KM_RECORD_AUXTRACE: /* u64 size: so much follows that is not a record */
			if (ret_record->bytes < 8)
				continue;
			result = skip(r, km_load64(ret_record->body, r->big_endian), error);
			if (result)
				return result;
			continue;
		default:
			return KM_NEXT_RECORD;
		}
	}
}

void km_perfdata_records_unread(struct km_perfdata_records *r)
{
	*r->last_at = r->last_from;
}

int km_perfdata_records_load(struct km_perfdata_records *r, uint64_t bytes, char **ret_data, struct km_error *error)
{
	size_t done = 0, room = 0;
	char *data = NULL;
	int result = -EBADMSG;

	if (bytes > LOAD_LIMIT)
		return result;
	/* Memory grows with what is there, not with what is claimed. */
	while (done < bytes || !data) {
		size_t take;

		if (done == room) {
			size_t larger = bytes - done < LOAD_STEP ? (size_t)bytes : done + LOAD_STEP;
			char *grown = realloc(data, larger ? larger : 1);

			if (!grown) {
				result = km_error_set(error, -ENOMEM, "out of memory");
				goto fail;
			}
			data = grown;
			room = larger;
		}
		take = room - done < WINDOW_BYTES / 2 ? room - done : WINDOW_BYTES / 2;
		result = fill(r, take, error);
		if (result)
			goto fail;
		if (in_window(r) < take) {
			result = -EBADMSG;
			goto fail;
		}
		memcpy(data + done, r->window + r->window_at, take);
		r->window_at += take;
		done += take;
	}
	*ret_data = data;
	return 0;
fail:
	free(data);
	return result;
}

/* --- samples --- */

/* PERF_SAMPLE_READ: struct read_format, of one event or of a group */
static bool skip_read(struct km_cursor *c, uint64_t format)
{
	uint32_t head = 0, each = 8;
	uint64_t count = 1;

	head += format & KM_READ_ENABLED ? 8 : 0;
	head += format & KM_READ_RUNNING ? 8 : 0;
	each += format & KM_READ_ID ? 8 : 0;
	each += format & KM_READ_LOST ? 8 : 0;
	if (format & KM_READ_GROUP)
		count = km_cursor_u64(c);
	if (!km_cursor_take(c, head) || count > km_cursor_left(c) / each)
		return false;
	return km_cursor_take(c, (size_t)count * each);
}

static bool skip_callchain(struct km_cursor *c)
{
	uint64_t count = km_cursor_u64(c);

	return count <= km_cursor_left(c) / 8 && km_cursor_take(c, (size_t)count * 8);
}

static inline struct km_perfdata_attr *attr_of(const struct km_perfdata *file, const uint8_t *data, uint32_t bytes,
					       uint32_t id_at, int32_t *cpu)
{
	const struct km_perfdata_id *id = NULL;

	if (id_at != KM_PERFDATA_NOWHERE && bytes >= 8 && id_at <= bytes - 8)
		id = km_perfdata_find_id(file, km_load64(data + id_at, file->big_endian));
	if (id) {
		*cpu = id->cpu;
		return &file->attrs[id->attr - 1];
	}
	return file->attrs_count == 1 ? &file->attrs[0] : NULL;
}

/* Without ids: a tracepoint's raw data begin with its own number, common_type. */
static struct km_perfdata_attr *attr_of_raw(const struct km_perfdata *file, const uint8_t *raw, uint32_t bytes)
{
	for (size_t i = 0; bytes >= 2 && i < file->attrs_count; i++) {
		struct km_perfdata_attr *attr = &file->attrs[i];

		if (attr->type == KM_PERFDATA_TRACEPOINT && attr->config == km_load16(raw, file->big_endian))
			return attr;
	}
	return NULL;
}

/* Its raw data are there: of which event is it? */
static inline const char *know_attr(const struct km_perfdata *file, struct km_perfdata_sample *sample)
{
	if (!sample->attr)
		sample->attr = attr_of_raw(file, sample->raw, sample->raw_bytes);
	return sample->attr ? NULL : "a sample of no known event";
}

const char *km_perfdata_sample_parse(const struct km_perfdata *file, const struct km_perfdata_record *record,
				     struct km_perfdata_sample *ret_sample)
{
	bool big = file->big_endian;
	struct km_perfdata_attr *attr;
	struct km_cursor c;

	*ret_sample = (struct km_perfdata_sample){ .cpu = -1 };
	attr = attr_of(file, record->body, record->bytes, file->id_at, &ret_sample->cpu);
	ret_sample->attr = attr;
	if (!attr && file->attrs_count && file->samples_are_same && file->id_at == KM_PERFDATA_NOWHERE)
		attr = &file->attrs[0];
	if (!attr)
		return "a sample of no known event";
	if (record->bytes < attr->fixed_bytes)
		return "a sample shorter than its fields";
	if (attr->time_at != KM_PERFDATA_NOWHERE)
		ret_sample->time = km_load64(record->body + attr->time_at, big);
	if (attr->cpu_at != KM_PERFDATA_NOWHERE) {
		uint32_t cpu = km_load32(record->body + attr->cpu_at, big);

		ret_sample->cpu = cpu < KM_CPU_LIMIT ? (int32_t)cpu : -1;
		if (ret_sample->cpu < 0)
			return "a sample of an impossible CPU";
	}
	if (!(attr->sample_type & KM_SAMPLE_RAW))
		return ret_sample->attr ? NULL : "a sample of no known event";
	if (!(attr->sample_type & (KM_SAMPLE_READ | KM_SAMPLE_CALLCHAIN))) {
		uint32_t left = record->bytes - attr->fixed_bytes;

		if (left < 4 || km_load32(record->body + attr->fixed_bytes, big) > left - 4)
			return "a sample shorter than its raw data";
		ret_sample->raw_bytes = km_load32(record->body + attr->fixed_bytes, big);
		ret_sample->raw = record->body + attr->fixed_bytes + 4;
		return know_attr(file, ret_sample);
	}
	c = km_cursor_make(record->body, record->bytes, big);
	km_cursor_take(&c, attr->fixed_bytes);
	if (attr->sample_type & KM_SAMPLE_READ && !skip_read(&c, attr->read_format))
		return "a sample shorter than its counts";
	if (attr->sample_type & KM_SAMPLE_CALLCHAIN && !skip_callchain(&c))
		return "a sample shorter than its call chain";
	ret_sample->raw_bytes = km_cursor_u32(&c);
	ret_sample->raw = km_cursor_take(&c, ret_sample->raw_bytes);
	if (!ret_sample->raw)
		return "a sample shorter than its raw data";
	return know_attr(file, ret_sample);
}

void km_perfdata_sample_end(const struct km_perfdata *file, const struct km_perfdata_record *record, uint32_t own_bytes,
			    struct km_perfdata_sample *ret_sample)
{
	const struct km_perfdata_attr *attr = file->attrs_count ? &file->attrs[0] : NULL;
	bool big = file->big_endian;
	const uint8_t *end;
	int32_t cpu = -1;

	*ret_sample = (struct km_perfdata_sample){ .cpu = -1 };
	if (!attr || record->type >= KM_RECORD_USER_FIRST || record->bytes < own_bytes)
		return;
	/* If ends differ, an IDENTIFIER is still the last word of each. */
	if (!file->ends_are_same)
		attr = record->bytes - own_bytes >= 8
			       ? attr_of(file, record->body, record->bytes, record->bytes - 8, &cpu)
			       : NULL;
	if (!attr || !attr->end_bytes || record->bytes - own_bytes < attr->end_bytes)
		return;
	end = record->body + record->bytes - attr->end_bytes;
	if (attr->end_time_at != KM_PERFDATA_NOWHERE)
		ret_sample->time = km_load64(end + attr->end_time_at, big);
	ret_sample->attr = attr_of(file, end, attr->end_bytes, attr->end_id_at, &cpu);
	ret_sample->cpu = cpu;
	if (attr->end_cpu_at != KM_PERFDATA_NOWHERE && cpu < 0) {
		uint32_t told = km_load32(end + attr->end_cpu_at, big);

		ret_sample->cpu = told < KM_CPU_LIMIT ? (int32_t)told : -1;
	}
}
