/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perfdata_records: the records of a perf.data one after the other, from a
 * file or a pipe, those inside COMPRESSED records too (zstd, one stream over
 * all of them), and the parts of a sample. It keeps a window of the source
 * and nothing else; it does not sort, and knows no slab events.
 *
 * The types are enum perf_event_type in include/uapi/linux/perf_event.h and
 * enum perf_user_event_type in tools/lib/perf/include/perf/event.h.
 */
#ifndef KM_PERFDATA_RECORDS_H
#define KM_PERFDATA_RECORDS_H

#include "perfdata.h"

enum km_perfdata_type {
	KM_RECORD_MMAP = 1,
	KM_RECORD_LOST = 2,
	KM_RECORD_COMM = 3,
	KM_RECORD_THROTTLE = 5,
	KM_RECORD_FORK = 7,
	KM_RECORD_SAMPLE = 9,
	KM_RECORD_MMAP2 = 10,
	KM_RECORD_LOST_SAMPLES = 13,
	KM_RECORD_HEADER_ATTR = 64,
	KM_RECORD_TRACING_DATA = 66,
	KM_RECORD_HEADER_BUILD_ID = 67,
	KM_RECORD_FINISHED_ROUND = 68,
	KM_RECORD_ID_INDEX = 69,
	KM_RECORD_AUXTRACE = 71,
	KM_RECORD_EVENT_UPDATE = 78,
	KM_RECORD_FEATURE = 80,
	KM_RECORD_COMPRESSED = 81,
	KM_RECORD_COMPRESSED2 = 83,
};

/* Records from here on are perf's own; those below are the kernel's and may end in a sample_id. */
#define KM_RECORD_USER_FIRST 64U

struct km_perfdata_record {
	uint32_t type;
	uint16_t misc;
	uint32_t bytes;      /* of the body */
	const uint8_t *body; /* behind the header; borrowed until the next call */
	uint64_t offset;     /* in the file; of the COMPRESSED record if it was inside one */
};

struct km_perfdata_records;

/*
 * From `offset` to `end` of a source: the file's own or, in a directory, one
 * that holds records only. A stream must stand there. file and source are
 * borrowed. NULL when out of memory.
 */
struct km_perfdata_records *km_perfdata_records_new(const struct km_perfdata *file, struct km_source *source,
						    uint64_t offset, uint64_t end);
void km_perfdata_records_free(struct km_perfdata_records *records);

enum km_perfdata_next {
	KM_NEXT_END = 0,
	KM_NEXT_RECORD,
	KM_NEXT_DAMAGED, /* something was left out here; go on */
	KM_NEXT_CUT,     /* the last record is not whole; the end comes next */
};

/*
 * enum km_perfdata_next, or a negative errno. COMPRESSED records are not
 * handed out, what is in them is. Behind a record of an impossible size the
 * next FINISHED_ROUND is looked for.
 */
int km_perfdata_records_next(struct km_perfdata_records *records, struct km_perfdata_record *ret_record,
			     struct km_error *error);
/* The next call gives the same record again. */
void km_perfdata_records_unread(struct km_perfdata_records *records);
/* What the last KM_NEXT_DAMAGED or KM_NEXT_CUT was, and where. */
const char *km_perfdata_records_damage(const struct km_perfdata_records *records, uint64_t *ret_offset);
/* The `bytes` that follow the last record without being one (TRACING_DATA), malloc'd. -EBADMSG if they are not there.
 */
int km_perfdata_records_load(struct km_perfdata_records *records, uint64_t bytes, char **ret_data,
			     struct km_error *error);

/* What is wanted of a sample, or of what stands at the end of another record. */
struct km_perfdata_sample {
	struct km_perfdata_attr *attr; /* NULL: not known */
	uint64_t time;                 /* 0: not told */
	int32_t cpu;                   /* -1: not told */
	const uint8_t *raw;            /* NULL: none */
	uint32_t raw_bytes;
};

/* NULL: done. Else why the sample can not be used (a literal); ret_sample->attr is set if that was known. */
const char *km_perfdata_sample_parse(const struct km_perfdata *file, const struct km_perfdata_record *record,
				     struct km_perfdata_sample *ret_sample);
/* A record of the kernel other than SAMPLE; own_bytes: its own part of the body. Sets what is there. */
void km_perfdata_sample_end(const struct km_perfdata *file, const struct km_perfdata_record *record, uint32_t own_bytes,
			    struct km_perfdata_sample *ret_sample);

#endif
