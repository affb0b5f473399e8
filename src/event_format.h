/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * event_format: where a tracepoint's fields are, by name, from the format
 * file that the recording carries.
 *
 * libtraceevent does the parsing. It is fed only with formats that keep to a
 * strict line grammar (events/kmem/kmalloc/format in tracefs shows it), and
 * with an empty print fmt in place of the file's, because its parser does
 * not survive every damaged text. It does not read event data.
 */
#ifndef KM_EVENT_FORMAT_H
#define KM_EVENT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct km_field {
	uint16_t offset; /* bytes from the start of the record's payload */
	uint16_t size;   /* bytes; 0: the event has no such field */
	bool is_signed;
	bool is_data_loc; /* __data_loc: 4 bytes, length << 16 | offset, in the file's byte order */
	bool is_rel_loc;  /* __rel_loc: the same, offset counted from behind the field */
};

struct km_event_format;

/*
 * Parse the text of a format file (borrowed during the call).
 * Errors: -EBADMSG the text breaks the grammar or libtraceevent refuses it
 * (error says which line), -ENOMEM.
 */
int km_event_format_parse(const char *text, size_t bytes, struct km_event_format **ret_format, struct km_error *error);
void km_event_format_free(struct km_event_format *format);

const char *km_event_format_name(const struct km_event_format *format);
uint16_t km_event_format_id(const struct km_event_format *format);
/* 1: *ret_field is set. 0: there is no field of that name, nothing is touched. */
int km_event_format_field(const struct km_event_format *format, const char *name, struct km_field *ret_field);

/*
 * Only the `name:` and `ID:` lines, cheaply and without libtraceevent, for
 * counting the events that are not used otherwise. name gets at most
 * name_bytes, NUL-terminated. Returns 0 or -EBADMSG.
 */
int km_event_format_peek(const char *text, size_t bytes, char *name, size_t name_bytes, uint16_t *ret_id);

/* The four lines of events/header_page. */
struct km_page_header {
	uint32_t commit_offset;
	uint32_t commit_bytes; /* 4 or 8: the kernel's own word size */
	uint32_t data_offset;  /* 16, or 12 on 32-bit kernels */
	uint32_t data_bytes;   /* payload of a page, 4080 with 4 KiB pages */
};

/* Returns 0, or -EBADMSG with error set. */
int km_page_header_parse(const char *text, size_t bytes, struct km_page_header *ret_header, struct km_error *error);

#endif
