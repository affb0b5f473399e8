/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace_formats: the tracepoints that the trace writer knows, laid out as a
 * kernel of a given generation and word size does, and the text of their
 * format files.
 *
 * It knows nothing of ring buffers or of files.
 */
#ifndef KM_TRACE_FORMATS_H
#define KM_TRACE_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A change of the kmem events between two of these is what makes them two. */
enum tw_kernel {
	TW_KERNEL_DEFAULT, /* 6.18 */
	TW_KERNEL_4_19,    /* no names, gfp_t of 4 bytes, _node events, call_site printed as %lx */
	TW_KERNEL_5_10,    /* the same fields, other gfp bits */
	TW_KERNEL_5_12,    /* name in kmem_cache_free */
	TW_KERNEL_6_1,     /* no _node events, node everywhere, gfp_flags an unsigned long, accounted */
	TW_KERNEL_6_12,    /* the same fields, gfp bits written as shifts */
	TW_KERNEL_6_18,    /* name in the middle of kmem_cache_alloc */
};

enum tw_format_kind {
	/* In the order of enum km_event_kind */
	TW_FORMAT_KMALLOC,
	TW_FORMAT_KMALLOC_NODE,
	TW_FORMAT_CACHE_ALLOC,
	TW_FORMAT_CACHE_ALLOC_NODE,
	TW_FORMAT_KFREE,
	TW_FORMAT_CACHE_FREE,
	TW_FORMAT_SCHED_SWITCH,
	TW_FORMAT_PRINT,        /* ftrace, ID 5 */
	TW_FORMAT_KERNEL_STACK, /* ftrace, ID 4 */
	TW_FORMAT_KINDS,
};

enum tw_format_field_id {
	TW_FIELD_CALL_SITE,
	TW_FIELD_PTR,
	TW_FIELD_NAME,
	TW_FIELD_BYTES_REQ,
	TW_FIELD_BYTES_ALLOC,
	TW_FIELD_GFP_FLAGS,
	TW_FIELD_NODE,
	TW_FIELD_ACCOUNTED,
	TW_FIELD_IP,
	TW_FIELD_BUF,
	TW_FIELD_SIZE,
	TW_FIELD_CALLER,
	TW_FIELD_PREV_COMM,
	TW_FIELD_PREV_PID,
	TW_FIELD_PREV_PRIO,
	TW_FIELD_PREV_STATE,
	TW_FIELD_NEXT_COMM,
	TW_FIELD_NEXT_PID,
	TW_FIELD_NEXT_PRIO,
	TW_FIELD_IDS,
};

#define TW_FORMAT_FIELDS_MAX 8
/* common_type, common_flags, common_preempt_count, common_pid */
#define TW_COMMON_BYTES 8U

struct tw_format_field {
	enum tw_format_field_id id;
	uint16_t offset;
	uint16_t bytes;
	bool is_signed;
};

struct tw_format {
	const char *system; /* NULL: this kernel has no such event */
	const char *name;
	uint16_t id;
	unsigned fields_count;
	struct tw_format_field fields[TW_FORMAT_FIELDS_MAX];
	uint16_t end_bytes;   /* where the last field ends: a record's strings begin here */
	uint16_t fixed_bytes; /* end_bytes rounded up to the struct's alignment */
};

/* All the events of one kernel; formats[kind].system is NULL for those that it does not have. */
void tw_formats_init(struct tw_format formats[TW_FORMAT_KINDS], enum tw_kernel kernel, unsigned long_bytes);
/* NULL if the event has no such field. */
const struct tw_format_field *tw_format_find(const struct tw_format *format, enum tw_format_field_id id);
/* The text of events/SYSTEM/NAME/format; the caller frees it. */
char *tw_format_text(const struct tw_format *format, enum tw_kernel kernel);
/* The texts of events/header_page and events/header_event; the caller frees them. */
char *tw_header_page_text(unsigned long_bytes, unsigned page_bytes);
char *tw_header_event_text(void);

/* gfp bits moved between kernels: the value that `kernel` has for a name such as "GFP_KERNEL" or "__GFP_ACCOUNT". */
uint32_t tw_gfp(enum tw_kernel kernel, const char *name);
/* What uname would say. */
const char *tw_kernel_release(enum tw_kernel kernel);

#endif
