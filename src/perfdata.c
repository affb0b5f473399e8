/* SPDX-License-Identifier: GPL-2.0-only */
#include "perfdata.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"

/* Limits on what a file can make us hold; real ones stay far below. */
#define ATTRS_LIMIT        65536U
#define IDS_LIMIT          (1U << 20)
#define TABLE_LIMIT        (64U << 20) /* one section */
#define BUILD_ID_NAME_AT   28U
#define MISC_BUILD_ID_SIZE (1U << 15) /* PERF_RECORD_MISC_BUILD_ID_SIZE */
#define TEXT_LIMIT         4096U      /* hostname and the like */
#define SYSTEMS_LIMIT      4096U
#define FORMATS_LIMIT      65536U

/* struct perf_event_attr: what is looked at lies in the first 64 bytes, and clockid behind them in longer ones. */
#define ATTR_LEAST   64U
#define ATTR_CLOCKID 92U

enum {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_COMPRESSED = 27,
	FEATURES_COUNT = 256,
};

static const char magic_little[] = "PERFILE2";
static const char magic_big[] = "2ELIFREP";

bool km_perfdata_probe(const void *head, size_t bytes)
{
	return bytes >= 8 && (!memcmp(head, magic_little, 8) || !memcmp(head, magic_big, 8));
}

/* --- ids --- */

static struct km_perfdata_id *find_slot(struct km_perfdata_id *ids, size_t room, uint64_t id)
{
	size_t at = km_perfdata_id_slot(id, room);

	while (ids[at].attr && ids[at].id != id)
		at = (at + 1) & (room - 1);
	return &ids[at];
}

static int enlarge_ids(struct km_perfdata *file)
{
	size_t room = file->ids_room ? file->ids_room * 2 : 64;
	struct km_perfdata_id *larger = calloc(room, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	for (size_t i = 0; i < file->ids_room; i++) {
		if (file->ids[i].attr)
			*find_slot(larger, room, file->ids[i].id) = file->ids[i];
	}
	free(file->ids);
	file->ids = larger;
	file->ids_room = room;
	return 0;
}

/* An id that is known keeps what it stands for. */
static int add_id(struct km_perfdata *file, uint64_t id, size_t attr)
{
	struct km_perfdata_id *slot;

	if (file->ids_count * 2 >= file->ids_room) {
		int r = enlarge_ids(file);

		if (r)
			return r;
	}
	slot = find_slot(file->ids, file->ids_room, id);
	if (slot->attr)
		return 0;
	if (file->ids_count == IDS_LIMIT)
		return -ENOSPC;
	file->ids_count++;
	*slot = (struct km_perfdata_id){ .id = id, .attr = (uint32_t)attr + 1, .cpu = -1 };
	file->attrs[attr].ids_count++;
	return 0;
}

/* --- attrs --- */

/* The n-th bit field of the attr's flag word: compilers lay them out from the end that the byte order begins with. */
static bool flag(uint64_t flags, unsigned n, bool big_endian)
{
	return flags >> (big_endian ? 63 - n : n) & 1;
}

/* Where a sample has its parts, in the order of perf_event_open(2). */
static void lay_out_sample(struct km_perfdata_attr *attr)
{
	uint64_t type = attr->sample_type;
	uint32_t at = 0;

	attr->tid_at = attr->time_at = attr->id_at = attr->cpu_at = KM_PERFDATA_NOWHERE;
	if (type & KM_SAMPLE_IDENTIFIER) {
		attr->id_at = at;
		at += 8;
	}
	if (type & KM_SAMPLE_IP)
		at += 8;
	if (type & KM_SAMPLE_TID) {
		attr->tid_at = at;
		at += 8;
	}
	if (type & KM_SAMPLE_TIME) {
		attr->time_at = at;
		at += 8;
	}
	if (type & KM_SAMPLE_ADDR)
		at += 8;
	if (type & KM_SAMPLE_ID) {
		if (attr->id_at == KM_PERFDATA_NOWHERE)
			attr->id_at = at;
		at += 8;
	}
	if (type & KM_SAMPLE_STREAM_ID)
		at += 8;
	if (type & KM_SAMPLE_CPU) {
		attr->cpu_at = at;
		at += 8;
	}
	if (type & KM_SAMPLE_PERIOD)
		at += 8;
	attr->fixed_bytes = at;
}

/* struct sample_id in perf_event_open(2) */
static void lay_out_end(struct km_perfdata_attr *attr)
{
	uint64_t type = attr->sample_type;
	uint32_t at = 0;

	attr->end_time_at = attr->end_id_at = attr->end_cpu_at = KM_PERFDATA_NOWHERE;
	if (!attr->sample_id_all)
		return;
	if (type & KM_SAMPLE_TID)
		at += 8;
	if (type & KM_SAMPLE_TIME) {
		attr->end_time_at = at;
		at += 8;
	}
	if (type & KM_SAMPLE_ID) {
		attr->end_id_at = at;
		at += 8;
	}
	if (type & KM_SAMPLE_STREAM_ID)
		at += 8;
	if (type & KM_SAMPLE_CPU) {
		attr->end_cpu_at = at;
		at += 8;
	}
	if (type & KM_SAMPLE_IDENTIFIER) {
		attr->end_id_at = at;
		at += 8;
	}
	attr->end_bytes = at;
}

/* data holds the struct perf_event_attr as far as the file has it. */
static int parse_attr(const struct km_perfdata *file, const uint8_t *data, size_t bytes,
		      struct km_perfdata_attr *ret_attr)
{
	struct km_perfdata_attr attr = { 0 };
	bool big = file->big_endian;
	uint64_t flags;

	if (bytes < ATTR_LEAST)
		return -EBADMSG;
	attr.type = km_load32(data, big);
	attr.config = km_load64(data + 8, big);
	attr.sample_period = km_load64(data + 16, big);
	attr.sample_type = km_load64(data + 24, big);
	attr.read_format = km_load64(data + 32, big);
	flags = km_load64(data + 40, big);
	attr.freq = flag(flags, 10, big);
	attr.enable_on_exec = flag(flags, 12, big);
	attr.sample_id_all = flag(flags, 18, big);
	attr.use_clockid = flag(flags, 25, big) && bytes >= ATTR_CLOCKID + 4;
	if (attr.use_clockid)
		attr.clockid = (int32_t)km_load32(data + ATTR_CLOCKID, big);
	lay_out_sample(&attr);
	lay_out_end(&attr);
	*ret_attr = attr;
	return 0;
}

/*
 * Samples are told apart by an id that must be found before it is known whose
 * they are: see what all attrs share. One more attr can only make it less.
 */
static void compare_attr(struct km_perfdata *file, const struct km_perfdata_attr *attr)
{
	const struct km_perfdata_attr *first = &file->attrs[0];

	if (file->attrs_count == 1) {
		file->id_at = first->id_at;
		file->ends_are_same = file->samples_are_same = true;
	}
	if (attr->id_at != first->id_at)
		file->id_at = KM_PERFDATA_NOWHERE;
	if (attr->sample_type != first->sample_type || attr->read_format != first->read_format)
		file->samples_are_same = false;
	if (attr->end_bytes != first->end_bytes || attr->end_time_at != first->end_time_at ||
	    attr->end_id_at != first->end_id_at || attr->end_cpu_at != first->end_cpu_at)
		file->ends_are_same = false;
}

/* ids: whole u64 in the file's byte order. */
static int add_attr(struct km_perfdata *file, const struct km_perfdata_attr *attr, const uint8_t *ids, size_t ids_count)
{
	size_t index = file->attrs_count;

	if (index == ATTRS_LIMIT || ids_count > IDS_LIMIT)
		return -ENOSPC;
	if (index == file->attrs_room) {
		size_t room = index ? index * 2 : 16;
		struct km_perfdata_attr *larger = reallocarray(file->attrs, room, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		file->attrs = larger;
		file->attrs_room = room;
	}
	file->attrs[index] = *attr;
	file->attrs_count++;
	compare_attr(file, attr);
	for (size_t i = 0; i < ids_count; i++) {
		int r = add_id(file, km_load64(ids + 8 * i, file->big_endian), index);

		if (r)
			return r;
	}
	return 0;
}

int km_perfdata_attr_record(struct km_perfdata *file, const uint8_t *body, size_t bytes)
{
	struct km_perfdata_attr attr;
	uint32_t attr_bytes;
	int r;

	if (bytes < ATTR_LEAST)
		return -EBADMSG;
	/* size; 0 in the oldest, which have the first version's 64 bytes */
	attr_bytes = km_load32(body + 4, file->big_endian);
	if (!attr_bytes)
		attr_bytes = ATTR_LEAST;
	if (attr_bytes > bytes)
		return -EBADMSG;
	r = parse_attr(file, body, attr_bytes, &attr);
	if (r)
		return r;
	if (bytes - attr_bytes >= 8 && km_perfdata_find_id(file, km_load64(body + attr_bytes, file->big_endian)))
		return 0;
	return add_attr(file, &attr, body + attr_bytes, (bytes - attr_bytes) / 8);
}

static void set_name(struct km_perfdata_attr *attr, const char *name, size_t bytes)
{
	size_t length = strnlen(name, bytes);

	if (length >= sizeof(attr->name))
		length = sizeof(attr->name) - 1;
	memcpy(attr->name, name, length);
	attr->name[length] = '\0';
}

/* struct perf_record_event_update: u64 type, u64 id, data */
int km_perfdata_update_record(struct km_perfdata *file, const uint8_t *body, size_t bytes)
{
	enum { UPDATE_NAME = 2 };
	const struct km_perfdata_id *id;

	if (bytes < 16)
		return -EBADMSG;
	if (km_load64(body, file->big_endian) != UPDATE_NAME)
		return 0;
	id = km_perfdata_find_id(file, km_load64(body + 8, file->big_endian));
	if (id)
		set_name(&file->attrs[id->attr - 1], (const char *)body + 16, bytes - 16);
	return 0;
}

/* struct perf_record_id_index: u64 nr, then u64 id, idx, cpu, tid each */
int km_perfdata_id_index_record(struct km_perfdata *file, const uint8_t *body, size_t bytes)
{
	bool big = file->big_endian;
	uint64_t count;

	if (bytes < 8)
		return -EBADMSG;
	count = km_load64(body, big);
	if (count > (bytes - 8) / 32)
		return -EBADMSG;
	file->has_id_index = true;
	for (uint64_t i = 0; i < count; i++) {
		const uint8_t *entry = body + 8 + 32 * i;
		uint64_t id = km_load64(entry, big), cpu = km_load64(entry + 16, big);
		struct km_perfdata_id *slot = file->ids_room ? find_slot(file->ids, file->ids_room, id) : NULL;

		if (!slot || !slot->attr)
			continue;
		if (cpu < KM_CPU_LIMIT) {
			slot->cpu = (int32_t)cpu;
			if (cpu >= file->cpus_indexed)
				file->cpus_indexed = (uint32_t)cpu + 1;
		}
		if ((int32_t)km_load64(entry + 24, big) != -1 &&
		    file->attrs[slot->attr - 1].type == KM_PERFDATA_TRACEPOINT)
			file->ids_have_tasks = true;
	}
	return 0;
}

/* --- features --- */

/* do_write_string() of perf's header.c: u32 length, then so many bytes with NULs at their end */
static const char *take_string(struct km_cursor *c, size_t *ret_bytes)
{
	uint32_t length = km_cursor_u32(c);
	const uint8_t *text = length <= TABLE_LIMIT ? km_cursor_take(c, length) : NULL;

	if (!text) {
		c->failed = true;
		return NULL;
	}
	*ret_bytes = strnlen((const char *)text, length);
	return (const char *)text;
}

static int read_text(struct km_cursor *c, char **text)
{
	size_t bytes = 0;
	const char *string = take_string(c, &bytes);

	if (!string)
		return -EBADMSG;
	if (*text)
		return 0;
	*text = strndup(string, bytes < TEXT_LIMIT ? bytes : TEXT_LIMIT);
	return *text ? 0 : -ENOMEM;
}

/* Options of perf record that name tasks. Its own command's arguments come behind the options. */
static bool names_tasks(const char *argument)
{
	static const char *const options[] = { "--pid", "--tid", "--uid" };

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (!strncmp(argument, options[i], 5) && (!argument[5] || argument[5] == '='))
			return true;
	}
	return argument[0] == '-' && argument[1] && strchr("ptu", argument[1]) &&
	       strspn(argument + 2, "0123456789,") == strlen(argument + 2);
}

static int read_command_line(struct km_perfdata *file, struct km_cursor *c)
{
	uint32_t count = km_cursor_u32(c);

	for (uint32_t i = 0; i < count && !c->failed; i++) {
		char argument[64] = "";
		size_t bytes = 0;
		const char *text = take_string(c, &bytes);

		if (!text)
			return -EBADMSG;
		memcpy(argument, text, bytes < sizeof(argument) ? bytes : sizeof(argument) - 1);
		if (!strcmp(argument, "--"))
			return 0;
		if (names_tasks(argument))
			file->names_tasks = true;
	}
	return 0;
}

/* u32 nr, u32 attr size, then each: attr, u32 nr ids, name, ids */
static int read_event_descriptions(struct km_perfdata *file, struct km_cursor *c)
{
	uint32_t count = km_cursor_u32(c), attr_bytes = km_cursor_u32(c);

	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *attr = km_cursor_take(c, attr_bytes);
		uint32_t ids_count = km_cursor_u32(c);
		size_t bytes = 0;
		const char *name = take_string(c, &bytes);
		const uint8_t *ids = ids_count <= IDS_LIMIT ? km_cursor_take(c, (size_t)ids_count * 8) : NULL;
		const struct km_perfdata_id *id = NULL;

		if (!attr || !name || !ids)
			return -EBADMSG;
		if (ids_count)
			id = km_perfdata_find_id(file, km_load64(ids, file->big_endian));
		if (id)
			set_name(&file->attrs[id->attr - 1], name, bytes);
		else if (!ids_count && i < file->attrs_count)
			set_name(&file->attrs[i], name, bytes);
	}
	return 0;
}

/* s32 pid, u8 id[24], whose byte 20 may hold the id's length, then the name of what it is of. */
void km_perfdata_build_id_record(struct km_perfdata *file, uint16_t misc, const uint8_t *body, size_t bytes)
{
	static const char kernel[] = "[kernel.kallsyms]";
	size_t id_bytes = KM_PERFDATA_BUILD_ID_BYTES;

	if (bytes < BUILD_ID_NAME_AT + sizeof(kernel) || memcmp(body + BUILD_ID_NAME_AT, kernel, sizeof(kernel)))
		return;
	if (misc & MISC_BUILD_ID_SIZE)
		id_bytes = body[4 + KM_PERFDATA_BUILD_ID_BYTES];
	if (!id_bytes || id_bytes > KM_PERFDATA_BUILD_ID_BYTES)
		return;
	memcpy(file->build_id, body + 4, id_bytes);
	file->build_id_bytes = id_bytes;
}

/* Records one behind the other: u32 type, u16 misc, u16 size, and their bodies. */
static int read_build_ids(struct km_perfdata *file, struct km_cursor *c)
{
	while (km_cursor_left(c)) {
		const uint8_t *head = km_cursor_take(c, 8), *body;
		unsigned bytes = head ? km_load16(head + 6, file->big_endian) : 0;

		body = bytes >= 8 ? km_cursor_take(c, bytes - 8) : NULL;
		if (!body)
			return -EBADMSG;
		km_perfdata_build_id_record(file, km_load16(head + 4, file->big_endian), body, bytes - 8);
	}
	return 0;
}

static int read_feature(struct km_perfdata *file, unsigned feature, const uint8_t *data, size_t bytes)
{
	struct km_cursor c = km_cursor_make(data, bytes, file->big_endian);

	switch (feature) {
	case FEATURE_BUILD_ID:
		return read_build_ids(file, &c);
	case FEATURE_HOSTNAME:
		return read_text(&c, &file->hostname);
	case FEATURE_OSRELEASE:
		return read_text(&c, &file->release);
	case FEATURE_VERSION:
		return read_text(&c, &file->version);
	case FEATURE_ARCH:
		return read_text(&c, &file->arch);
	case FEATURE_NRCPUS:
		if (bytes < 8)
			return -EBADMSG;
		file->cpus_available = km_cursor_u32(&c);
		file->cpus_online = km_cursor_u32(&c);
		return 0;
	case FEATURE_CMDLINE:
		return read_command_line(file, &c);
	case FEATURE_COMPRESSED:
		file->is_compressed = true;
		return 0;
	case FEATURE_EVENT_DESC:
		return read_event_descriptions(file, &c);
	default:
		return 0;
	}
}

int km_perfdata_feature_record(struct km_perfdata *file, const uint8_t *body, size_t bytes)
{
	uint64_t feature;

	if (bytes < 8)
		return -EBADMSG;
	feature = km_load64(body, file->big_endian);
	return feature < FEATURES_COUNT ? read_feature(file, (unsigned)feature, body + 8, bytes - 8) : 0;
}

/* --- tracing data --- */

static bool skip_block(struct km_cursor *c)
{
	uint64_t bytes = km_cursor_u64(c);

	return bytes <= TABLE_LIMIT && km_cursor_take(c, (size_t)bytes);
}

/*
 * As trace.dat 6 begins (man trace-cmd.dat.v6): magic, version, byte order,
 * long and page size, header_page, header_event, ftrace's formats.
 */
static int parse_tracing(struct km_perfdata *file)
{
	static const uint8_t magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	struct km_cursor c = km_cursor_make(file->tracing, file->tracing_bytes, file->big_endian);
	const uint8_t *head = km_cursor_take(&c, sizeof(magic));
	uint8_t order, long_bytes;
	uint32_t count;

	if (!head || memcmp(head, magic, sizeof(magic)) || !km_cursor_string(&c))
		return -EBADMSG;
	order = km_cursor_u8(&c);
	long_bytes = km_cursor_u8(&c);
	c.big_endian = order;
	file->page_bytes = km_cursor_u32(&c);
	if (c.failed || order > 1 || (long_bytes != 4 && long_bytes != 8))
		return -EBADMSG;
	file->tracing_big_endian = order;
	file->long_bytes = long_bytes;
	for (int i = 0; i < 2; i++) {
		if (!km_cursor_string(&c) || !skip_block(&c))
			return -EBADMSG;
	}
	count = km_cursor_u32(&c);
	if (count > FORMATS_LIMIT)
		return -EBADMSG;
	for (uint32_t i = 0; i < count; i++) {
		if (!skip_block(&c))
			return -EBADMSG;
	}
	if (c.failed)
		return -EBADMSG;
	file->formats_at = km_cursor_offset(&c);
	return 0;
}

int km_perfdata_set_tracing(struct km_perfdata *file, char *data, size_t bytes)
{
	int r;

	if (file->tracing) {
		free(data);
		return 0;
	}
	file->tracing = data;
	file->tracing_bytes = bytes;
	r = parse_tracing(file);
	if (r) {
		free(file->tracing);
		file->tracing = NULL;
	}
	return r;
}

int km_perfdata_each_format(const struct km_perfdata *file,
			    int (*visit)(void *context, const char *system, const char *text, size_t bytes),
			    void *context)
{
	struct km_cursor c;
	uint32_t systems;

	if (!file->tracing)
		return 0;
	c = km_cursor_make(file->tracing, file->tracing_bytes, file->tracing_big_endian);
	km_cursor_take(&c, file->formats_at);
	systems = km_cursor_u32(&c);
	for (uint32_t s = 0; s < systems && s < SYSTEMS_LIMIT; s++) {
		const char *system = km_cursor_string(&c);
		uint32_t count = km_cursor_u32(&c);

		for (uint32_t i = 0; i < count && i < FORMATS_LIMIT; i++) {
			uint64_t bytes = km_cursor_u64(&c);
			const uint8_t *text = bytes <= TABLE_LIMIT ? km_cursor_take(&c, (size_t)bytes) : NULL;
			int r;

			if (!text)
				return -EBADMSG;
			r = visit(context, system, (const char *)text, (size_t)bytes);
			if (r)
				return r;
		}
		if (c.failed)
			return -EBADMSG;
	}
	return c.failed ? -EBADMSG : 0;
}

/* --- the tables of file mode --- */

struct section {
	uint64_t offset, bytes;
};

static struct section take_section(struct km_cursor *c)
{
	struct section section;

	section.offset = km_cursor_u64(c);
	section.bytes = km_cursor_u64(c);
	return section;
}

/* A whole section into malloc'd memory; -EBADMSG if it is too long or the file ends within it. */
static int load(struct km_perfdata *file, struct section section, const char *what, uint8_t **ret_data,
		struct km_error *error)
{
	uint64_t file_bytes = km_source_bytes(file->source);
	uint8_t *data;
	int64_t n;

	if (section.bytes > TABLE_LIMIT || section.offset > file_bytes || section.bytes > file_bytes - section.offset)
		return km_error_set(error, -EBADMSG,
				    "%s: %s should be %" PRIu64 " bytes at offset %" PRIu64
				    ", but the file has %" PRIu64,
				    km_source_name(file->source), what, section.bytes, section.offset, file_bytes);
	data = malloc(section.bytes ? section.bytes : 1);
	if (!data)
		return km_error_set(error, -ENOMEM, "out of memory");
	n = km_source_read_at(file->source, section.offset, data, section.bytes, error);
	if (n < 0 || (uint64_t)n < section.bytes) {
		free(data);
		return n < 0 ? (int)n
			     : km_error_set(error, -EBADMSG, "%s: the file ends in %s", km_source_name(file->source),
					    what);
	}
	*ret_data = data;
	return 0;
}

/* struct perf_file_attr: the attr as long as this file's perf had it, then the section of its ids */
static int load_attr(struct km_perfdata *file, const uint8_t *entry, size_t bytes, struct km_error *error)
{
	struct km_cursor c = km_cursor_make(entry + bytes - 16, 16, file->big_endian);
	struct section section = take_section(&c);
	struct km_perfdata_attr attr;
	uint8_t *ids = NULL;
	int r = parse_attr(file, entry, bytes - 16, &attr);

	if (!r)
		r = load(file, section, "a table of event ids", &ids, error);
	if (!r)
		r = add_attr(file, &attr, ids, section.bytes / 8);
	free(ids);
	return r;
}

static int load_attrs(struct km_perfdata *file, struct section attrs, uint64_t entry_bytes, struct km_error *error)
{
	const char *name = km_source_name(file->source);
	uint8_t *table;
	int r;

	if (entry_bytes < ATTR_LEAST + 16 || entry_bytes > 65536)
		return km_error_set(error, -EBADMSG, "%s: an event's description of %" PRIu64 " bytes is not possible",
				    name, entry_bytes);
	r = load(file, attrs, "the table of events", &table, error);
	if (r)
		return r;
	for (uint64_t at = 0; !r && entry_bytes <= attrs.bytes - at; at += entry_bytes)
		r = load_attr(file, table + at, entry_bytes, error);
	free(table);
	if (r)
		return km_error_set(error, r, "%s: %s", name,
				    r == -ENOMEM ? "out of memory" : "the table of events can not be read");
	return 0;
}

static bool has_feature(const uint64_t *features, unsigned feature)
{
	return features[feature / 64] >> (feature % 64) & 1;
}

/* A big-endian 32-bit machine writes its bitmap as words of 32 bits: halves are exchanged. HOSTNAME is always there. */
static void repair_features(uint64_t *features)
{
	if (has_feature(features, FEATURE_HOSTNAME) || !(features[0] >> (32 + FEATURE_HOSTNAME) & 1))
		return;
	for (unsigned i = 0; i < FEATURES_COUNT / 64; i++)
		features[i] = features[i] << 32 | features[i] >> 32;
}

/*
 * Behind the data, one section for each bit, in their order. A damaged one is
 * as if it were not there; only memory and the source can fail here.
 */
static int load_features(struct km_perfdata *file, const uint64_t *features, struct km_error *error)
{
	struct section table = { .offset = file->data_end };
	struct km_cursor c;
	uint8_t *entries, *data;
	int r;

	for (unsigned i = 0; i < FEATURES_COUNT; i++)
		table.bytes += has_feature(features, i) ? 16 : 0;
	r = load(file, table, "the table of features", &entries, NULL);
	if (r == -EBADMSG) {
		file->is_cut_short = true;
		return 0;
	}
	if (r)
		return km_error_set(error, r, "%s: the table of features can not be read",
				    km_source_name(file->source));
	c = km_cursor_make(entries, table.bytes, file->big_endian);
	for (unsigned i = 0; i < FEATURES_COUNT && r != -ENOMEM; i++) {
		struct section section;

		if (!has_feature(features, i))
			continue;
		section = take_section(&c);
		if (i == FEATURE_COMPRESSED)
			file->is_compressed = true;
		if (i < FEATURE_TRACING_DATA || i > FEATURE_EVENT_DESC)
			continue;
		r = load(file, section, "a feature", &data, NULL);
		if (r) {
			file->is_cut_short |= r == -EBADMSG;
		} else if (i == FEATURE_TRACING_DATA) {
			r = km_perfdata_set_tracing(file, (char *)data, section.bytes);
		} else {
			r = read_feature(file, i, data, section.bytes);
			free(data);
		}
	}
	free(entries);
	return r == -ENOMEM ? km_error_set(error, r, "out of memory") : 0;
}

/* struct perf_file_header */
static int open_tables(struct km_perfdata *file, struct km_error *error)
{
	const char *name = km_source_name(file->source);
	uint64_t file_bytes = km_source_bytes(file->source), entry_bytes, features[FEATURES_COUNT / 64];
	struct section attrs, data;
	uint8_t head[104] = { 0 };
	struct km_cursor c = km_cursor_make(head, sizeof(head), file->big_endian);
	int64_t n;
	int r;

	if (km_source_is_stream(file->source))
		return km_error_set(error, -ESPIPE,
				    "%s: a perf.data file can not be read from a pipe, because its tables are at its "
				    "end; save it to a file first, or record with `perf record -o -`",
				    name);
	n = km_source_read_at(file->source, 0, head, sizeof(head), error);
	if (n < 0)
		return (int)n;
	if (n < (int64_t)sizeof(head))
		return km_error_set(error, -EBADMSG, "%s: a perf.data file cut off in its header", name);
	km_cursor_take(&c, 16);
	entry_bytes = km_cursor_u64(&c);
	attrs = take_section(&c);
	data = take_section(&c);
	take_section(&c); /* event_types, empty since Linux 3.1 */
	for (unsigned i = 0; i < FEATURES_COUNT / 64; i++)
		features[i] = km_cursor_u64(&c);
	repair_features(features);
	if (data.offset < sizeof(head) || data.offset > file_bytes)
		return km_error_set(error, -EBADMSG,
				    "%s: the data should begin at offset %" PRIu64 " of %" PRIu64 " bytes", name,
				    data.offset, file_bytes);
	/* perf record writes the size last: 0 is a recording that never ended. */
	file->is_cut_short = !data.bytes || data.bytes > file_bytes - data.offset;
	file->data_offset = data.offset;
	file->data_end = file->is_cut_short ? file_bytes : data.offset + data.bytes;
	r = load_attrs(file, attrs, entry_bytes, error);
	if (r || file->is_cut_short)
		return r;
	return load_features(file, features, error);
}

int km_perfdata_open(struct km_source *source, struct km_perfdata **ret_file, struct km_error *error)
{
	struct km_perfdata *file = calloc(1, sizeof(*file));
	uint8_t head[KM_PERFDATA_PIPE_HEADER_BYTES];
	uint64_t header_bytes;
	int64_t n;
	int r = -ENOMEM;

	if (!file)
		return km_error_set(error, r, "out of memory");
	file->source = source;
	file->id_at = KM_PERFDATA_NOWHERE;
	n = km_source_read_at(source, 0, head, sizeof(head), error);
	r = n < 0 ? (int)n : 0;
	if (r)
		goto fail;
	if (n < (int64_t)sizeof(head) || !km_perfdata_probe(head, sizeof(head))) {
		r = km_error_set(error, -EBADMSG, "%s: a perf.data file cut off in its header", km_source_name(source));
		goto fail;
	}
	/* The magic is the number 0x32454c4946524550 in the file's byte order. */
	file->big_endian = !memcmp(head, magic_big, 8);
	header_bytes = km_load64(head + 8, file->big_endian);
	file->is_pipe = header_bytes == KM_PERFDATA_PIPE_HEADER_BYTES;
	if (file->is_pipe) {
		file->data_offset = KM_PERFDATA_PIPE_HEADER_BYTES;
		file->data_end = km_source_bytes(source);
	} else {
		r = open_tables(file, error);
		if (r)
			goto fail;
	}
	*ret_file = file;
	return 0;
fail:
	km_perfdata_close(file);
	return r;
}

void km_perfdata_close(struct km_perfdata *file)
{
	if (!file)
		return;
	free(file->attrs);
	free(file->ids);
	free(file->hostname);
	free(file->release);
	free(file->version);
	free(file->arch);
	free(file->tracing);
	free(file);
}
