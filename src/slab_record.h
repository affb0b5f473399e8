/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slab_record: the six slab events, and the two page events that tell what
 * became of slabs, out of a tracepoint's binary record, whatever container
 * it came in: which of a record's bytes are which field
 * (resolved once, by name, from the event's format) and one decoding step
 * from record to struct km_event. It knows no files, times or CPUs.
 */
#ifndef KM_SLAB_RECORD_H
#define KM_SLAB_RECORD_H

#include <string.h>

#include "cursor.h"
#include "error.h"
#include "event.h"
#include "event_format.h"
#include "intern.h"

/* Where one kind of event keeps its fields. */
struct km_slab_layout {
	uint8_t kind;       /* enum km_event_kind, of a slab or page event */
	uint32_t min_bytes; /* a record that is shorter lacks a field */
	struct km_field pid, call_site, ptr, bytes_req, bytes_alloc, gfp, node, name;
	struct km_field order; /* of a page event, whose ptr is its pfn and which has no more */
};

/* 1: the tracepoint kmem:`name` is a slab event, or with has_pages a page event, *ret_kind is set. 0: it is not. */
int km_slab_record_kind(const char *name, bool has_pages, enum km_event_kind *ret_kind);

/*
 * Resolve the fields. file_name is for the message. *features gets the flags
 * (enum km_trace_feature) of fields that not every kernel has.
 * Errors: -EBADMSG a needed field is missing or has an impossible size.
 */
int km_slab_record_layout(const struct km_event_format *format, enum km_event_kind kind, const char *file_name,
			  struct km_slab_layout *ret_layout, unsigned *features, struct km_error *error);

static inline uint64_t km_slab_record_number(const uint8_t *record, struct km_field field, bool big_endian)
{
	const uint8_t *p = record + field.offset;

	switch (field.size) {
	case 8:
		return km_load64(p, big_endian);
	case 4:
		return km_load32(p, big_endian);
	case 2:
		return km_load16(p, big_endian);
	case 1:
		return *p;
	default:
		return 0;
	}
}

#define KM_SLAB_NAMES      128 /* a power of two */
#define KM_SLAB_NAME_BYTES 40

/* Cache names met before: a direct-mapped way past the shared table. All zero but `table`: empty. One thread's. */
struct km_slab_names {
	struct km_intern *table; /* borrowed */
	struct {
		uint32_t number; /* 0: free */
		uint16_t bytes;  /* with its NUL */
		char text[KM_SLAB_NAME_BYTES];
	} names[KM_SLAB_NAMES];
};

/* The number of a name of `bytes` bytes, its NUL among them where it has one. */
uint32_t km_slab_names_number(struct km_slab_names *names, const char *text, uint32_t bytes);

static inline uint32_t km_slab_record_name(const uint8_t *record, uint32_t bytes, struct km_field field,
					   bool big_endian, struct km_slab_names *names)
{
	uint32_t where, offset, length;

	if (!field.size)
		return KM_CACHE_NONE;
	if (!field.is_data_loc && !field.is_rel_loc)
		return km_slab_names_number(names, (const char *)record + field.offset, field.size);
	where = km_load32(record + field.offset, big_endian);
	offset = where & 0xffff;
	length = where >> 16;
	if (field.is_rel_loc)
		offset += field.offset + field.size;
	if (offset > bytes || length > bytes - offset)
		return KM_CACHE_NONE;
	return km_slab_names_number(names, (const char *)record + offset, length);
}

/* A page event; what can not be used tells nothing, and is no fault. */
static inline void km_slab_record_page(const struct km_slab_layout *layout, const uint8_t *record, uint32_t bytes,
				       bool big_endian, struct km_event *event)
{
	uint64_t time = event->time;
	uint16_t cpu = event->cpu;

	*event = (struct km_event){
		.time = time, .cpu = cpu, .ptr = UINT64_MAX, .node = KM_NODE_ANY, .kind = layout->kind
	};
	if (bytes < layout->min_bytes)
		return;
	event->ptr = km_slab_record_number(record, layout->ptr, big_endian);
	event->order = (uint8_t)km_slab_record_number(record, layout->order, big_endian);
	event->pid = (int32_t)km_slab_record_number(record, layout->pid, big_endian);
}

/*
 * Fill everything of *event but time and cpu. NULL: done; else why the record
 * can not be used (a literal), and *event is in pieces.
 */
static inline __attribute__((always_inline)) const char *km_slab_record_decode(const struct km_slab_layout *layout,
									       const uint8_t *record, uint32_t bytes,
									       bool big_endian,
									       struct km_slab_names *names,
									       struct km_event *event)
{
	if (__builtin_expect(layout->kind >= KM_EVENT_PAGE_ALLOC, 0)) {
		km_slab_record_page(layout, record, bytes, big_endian, event);
		return NULL;
	}
	if (bytes < layout->min_bytes)
		return "a record shorter than its fields";
	event->call_site = km_slab_record_number(record, layout->call_site, big_endian);
	event->ptr = km_slab_record_number(record, layout->ptr, big_endian);
	event->pid = (int32_t)km_slab_record_number(record, layout->pid, big_endian);
	event->stack = 0;
	event->kind = layout->kind;
	event->domain = KM_DOMAIN_SLAB;
	event->order = 0;
	event->flags = 0;
	event->bytes_req = event->bytes_alloc = 0;
	event->gfp = 0;
	event->node = KM_NODE_ANY;
	if (layout->kind <= KM_EVENT_CACHE_ALLOC_NODE) {
		event->bytes_req = km_slab_record_number(record, layout->bytes_req, big_endian);
		event->bytes_alloc = km_slab_record_number(record, layout->bytes_alloc, big_endian);
		event->gfp = (uint32_t)km_slab_record_number(record, layout->gfp, big_endian);
		if (layout->node.size)
			event->node = (int16_t)km_slab_record_number(record, layout->node, big_endian);
		if (event->ptr &&
		    (event->bytes_alloc >= KM_OBJECT_BYTES_LIMIT || event->bytes_req > event->bytes_alloc))
			return "an allocation of impossible size";
	}
	event->cache = km_slab_record_name(record, bytes, layout->name, big_endian, names);
	return NULL;
}

#endif
