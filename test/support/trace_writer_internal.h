/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace_writer_internal: what trace_writer.c (pages and events) and
 * trace_container.c (the file around them) share. Not for tests.
 */
#ifndef KM_TRACE_WRITER_INTERNAL_H
#define KM_TRACE_WRITER_INTERNAL_H

#include "trace_writer.h"

struct tw_bytes {
	uint8_t *data;
	size_t size;
	size_t room;
};

struct tw_cpu {
	struct tw_bytes pages; /* closed ones */
	uint8_t *page;         /* the open one, NULL if none */
	size_t tail;           /* bytes of event data in it */
	uint64_t last_time;
	int64_t lost;     /* of the open page, or else the next */
	bool is_marked;   /* lost is set */
	bool is_absolute; /* the next event wants a TIME_STAMP */
	uint64_t events_count;
	bool has_stat;
	uint64_t overrun, commit_overrun, dropped;
	uint64_t file_offset, file_bytes; /* set by tw_write_file() */
};

struct tw_buffer {
	char *name;
	char *clock;
	unsigned page_bytes;
	unsigned cpus_count;
	struct tw_cpu *cpus;
};

struct tw_event_text {
	char *system;
	char *name;
	char *text;
};

struct tw_raw_option {
	uint16_t id;
	uint32_t bytes;
	uint8_t *data;
};

struct tw {
	struct tw_options options; /* defaults filled in; its strings are not used, those below are */
	char *uname, *kallsyms, *cmdlines, *printk, *header_page;
	struct tw_format formats[TW_FORMAT_KINDS];
	struct tw_event_text *texts;
	size_t texts_count;
	struct tw_raw_option *raw_options;
	size_t raw_options_count;
	struct tw_buffer *buffers;
	unsigned buffers_count;
};

void *tw_xrealloc(void *old, size_t bytes);
char *tw_xstrdup(const char *text);
/* Write the low `bytes` of value in the file's byte order. */
void tw_put(const struct tw *tw, void *to, uint64_t value, unsigned bytes);
void tw_bytes_add(struct tw_bytes *out, const void *data, size_t bytes);
/* Everything from the magic on; the pages are closed. */
void tw_write_file(struct tw *tw, struct tw_bytes *out);

#endif
