/* SPDX-License-Identifier: GPL-2.0-only */
#include "slab_record.h"

#include <errno.h>

#include "reader.h"

int km_slab_record_kind(const char *name, bool has_pages, enum km_event_kind *ret_kind)
{
	for (int kind = 0; kind < KM_EVENT_KINDS; kind++) {
		if (kind >= KM_EVENT_SLAB_KINDS && (!has_pages || kind < KM_EVENT_PAGE_ALLOC))
			continue;
		if (!strcmp(name, km_event_kind_name((enum km_event_kind)kind))) {
			*ret_kind = (enum km_event_kind)kind;
			return 1;
		}
	}
	return 0;
}

struct need {
	const struct km_event_format *format;
	const char *file_name;
	uint32_t min_bytes;
	struct km_error *error;
};

static int need(struct need *need, const char *name, struct km_field *ret_field)
{
	const char *event = km_event_format_name(need->format);
	struct km_field field;

	if (!km_event_format_field(need->format, name, &field))
		return km_error_set(need->error, -EBADMSG,
				    "%s: the format of event %s has no field \"%s\", which is needed", need->file_name,
				    event, name);
	if (field.size != 1 && field.size != 2 && field.size != 4 && field.size != 8)
		return km_error_set(need->error, -EBADMSG,
				    "%s: field \"%s\" of event %s has %u bytes, which is not a number's size",
				    need->file_name, name, event, field.size);
	*ret_field = field;
	if (field.offset + (uint32_t)field.size > need->min_bytes)
		need->min_bytes = field.offset + (uint32_t)field.size;
	return 0;
}

static int need_sizes(struct need *n, struct km_slab_layout *layout, unsigned *features)
{
	struct km_field field;
	int r = need(n, "bytes_req", &layout->bytes_req);

	if (!r)
		r = need(n, "bytes_alloc", &layout->bytes_alloc);
	if (!r)
		r = need(n, "gfp_flags", &layout->gfp);
	if (!r && km_event_format_field(n->format, "node", &field)) {
		r = need(n, "node", &layout->node);
		*features |= KM_TRACE_NODES;
	}
	return r;
}

int km_slab_record_layout(const struct km_event_format *format, enum km_event_kind kind, const char *file_name,
			  struct km_slab_layout *ret_layout, unsigned *features, struct km_error *error)
{
	struct km_slab_layout layout = { .kind = (uint8_t)kind };
	struct need n = { .format = format, .file_name = file_name, .error = error };
	struct km_field field;
	int r = need(&n, "common_pid", &layout.pid);

	if (!r && kind >= KM_EVENT_PAGE_ALLOC) {
		r = need(&n, "pfn", &layout.ptr); /* from 4.2 on, before that a struct page's address */
		if (!r)
			r = need(&n, "order", &layout.order);
		layout.min_bytes = n.min_bytes;
		*ret_layout = layout;
		return r;
	}
	if (!r)
		r = need(&n, "call_site", &layout.call_site);
	if (!r)
		r = need(&n, "ptr", &layout.ptr);
	if (!r && kind <= KM_EVENT_CACHE_ALLOC_NODE)
		r = need_sizes(&n, &layout, features);
	if (r)
		return r;
	if (km_event_format_field(format, "name", &field)) {
		layout.name = field;
		if ((field.is_data_loc || field.is_rel_loc) && field.size != 4)
			layout.name.size = 0;
		if (field.offset + (uint32_t)field.size > n.min_bytes)
			n.min_bytes = field.offset + (uint32_t)field.size;
		if (kind == KM_EVENT_CACHE_ALLOC)
			*features |= KM_TRACE_ALLOC_NAMES;
		if (kind == KM_EVENT_CACHE_FREE)
			*features |= KM_TRACE_FREE_NAMES;
	}
	layout.min_bytes = n.min_bytes;
	*ret_layout = layout;
	return 0;
}

uint32_t km_slab_names_number(struct km_slab_names *names, const char *text, uint32_t bytes)
{
	uint64_t head = 0, tail = 0;
	unsigned i;

	if (bytes < 8 || bytes > KM_SLAB_NAME_BYTES) /* short ones are rare, and need no short cut */
		return km_intern_add(names->table, text, strnlen(text, bytes));
	memcpy(&head, text, 8);
	memcpy(&tail, text + bytes - 8, 8);
	i = (unsigned)((head ^ tail << 1) * UINT64_C(0x9e3779b97f4a7c15) >> 57) % KM_SLAB_NAMES;
	if (names->names[i].number && names->names[i].bytes == bytes && !memcmp(names->names[i].text, text, bytes))
		return names->names[i].number;
	names->names[i].number = km_intern_add(names->table, text, strnlen(text, bytes));
	names->names[i].bytes = (uint16_t)bytes;
	memcpy(names->names[i].text, text, bytes);
	return names->names[i].number;
}
