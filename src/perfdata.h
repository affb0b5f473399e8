/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perfdata: the container of a perf.data file: its header, the events that
 * were recorded (attrs) and their ids, the features (who, where, how), the
 * event formats of the tracing data. tools/perf/Documentation/
 * perf.data-file-format.txt and include/uapi/linux/perf_event.h in the kernel
 * describe it.
 *
 * In file mode all of that is in tables around the data; in pipe mode it
 * comes as records between the others, which are handed in here by whoever
 * reads the records. It reads no records and decodes no samples.
 */
#ifndef KM_PERFDATA_H
#define KM_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cursor.h"
#include "error.h"
#include "source.h"

#define KM_PERFDATA_PIPE_HEADER_BYTES 16
#define KM_PERFDATA_BUILD_ID_BYTES    20

/* PERF_SAMPLE_*, enum perf_event_sample_format in perf_event.h: those before and with RAW, and IDENTIFIER */
enum km_perfdata_sample_type {
	KM_SAMPLE_IP = 1 << 0,
	KM_SAMPLE_TID = 1 << 1,
	KM_SAMPLE_TIME = 1 << 2,
	KM_SAMPLE_ADDR = 1 << 3,
	KM_SAMPLE_READ = 1 << 4,
	KM_SAMPLE_CALLCHAIN = 1 << 5,
	KM_SAMPLE_ID = 1 << 6,
	KM_SAMPLE_CPU = 1 << 7,
	KM_SAMPLE_PERIOD = 1 << 8,
	KM_SAMPLE_STREAM_ID = 1 << 9,
	KM_SAMPLE_RAW = 1 << 10,
	KM_SAMPLE_IDENTIFIER = 1 << 16,
};

/* PERF_FORMAT_*, enum perf_event_read_format */
enum km_perfdata_read_format {
	KM_READ_ENABLED = 1 << 0,
	KM_READ_RUNNING = 1 << 1,
	KM_READ_ID = 1 << 2,
	KM_READ_GROUP = 1 << 3,
	KM_READ_LOST = 1 << 4,
};

#define KM_PERFDATA_TRACEPOINT 2 /* PERF_TYPE_TRACEPOINT */
#define KM_PERFDATA_NOWHERE    UINT32_MAX

/* One recorded event. */
struct km_perfdata_attr {
	uint32_t type;
	uint64_t config; /* a tracepoint's id */
	uint64_t sample_period;
	uint64_t sample_type;
	uint64_t read_format;
	bool freq; /* sample_period is a frequency */
	bool sample_id_all;
	bool enable_on_exec;
	bool use_clockid;
	int32_t clockid;
	char name[64]; /* "" if not told */
	uint32_t ids_count;
	/* The reader's: */
	uint64_t samples_count;
	uint8_t layout; /* which of its layouts + 1; 0: none */

	/* Byte offsets in a sample's body, KM_PERFDATA_NOWHERE if it has none. */
	uint32_t tid_at, time_at, id_at, cpu_at;
	uint32_t fixed_bytes; /* of the parts of fixed size before READ */
	/* The same in what stands at the end of other records, from that part's start. */
	uint32_t end_time_at, end_id_at, end_cpu_at;
	uint32_t end_bytes; /* 0: the other records have no such part */
};

/* What one id stands for. */
struct km_perfdata_id {
	uint64_t id;
	uint32_t attr; /* index + 1; 0: a free slot */
	int32_t cpu;   /* -1: not told */
};

struct km_perfdata {
	struct km_source *source; /* borrowed */
	bool big_endian;
	bool is_pipe;
	bool is_compressed; /* it says so: HEADER_COMPRESSED */
	bool is_cut_short;  /* sections reach beyond the end of the file, or it was never closed */
	uint64_t data_offset, data_end;

	struct km_perfdata_attr *attrs;
	size_t attrs_count, attrs_room;
	struct km_perfdata_id *ids; /* open addressing, at most half full */
	size_t ids_count, ids_room;
	uint32_t id_at;        /* where every attr has its id in a sample; KM_PERFDATA_NOWHERE */
	bool samples_are_same; /* all attrs have the same parts in their samples */
	bool ends_are_same;    /* at the end of other records all attrs have the same */

	char *hostname, *release, *version, *arch; /* NULL: not told */
	bool names_tasks;                          /* the command line asks for tasks: -p, -t, -u */
	bool has_id_index, ids_have_tasks;         /* the ids' index tells; some tracepoint's ids are of one task */
	uint32_t cpus_available, cpus_online;      /* 0: not told */
	uint32_t cpus_indexed;                     /* above the highest CPU of the ids' index */

	size_t build_id_bytes; /* of the kernel; 0: not told */
	uint8_t build_id[KM_PERFDATA_BUILD_ID_BYTES];

	char *tracing; /* the tracing data, NULL if there is none */
	size_t tracing_bytes;
	size_t formats_at; /* where in it the formats of the systems begin */
	bool tracing_big_endian;
	unsigned long_bytes;
	uint32_t page_bytes;
};

/* Is this the start of a perf.data file? */
bool km_perfdata_probe(const void *head, size_t bytes);

/*
 * Reads the tables of a file, only the first 16 bytes in pipe mode.
 * Errors: -EBADMSG, -ENOTSUP, -ESPIPE (file mode from a pipe), -ENOMEM,
 * what the source gives.
 */
int km_perfdata_open(struct km_source *source, struct km_perfdata **ret_file, struct km_error *error);
void km_perfdata_close(struct km_perfdata *file);

/*
 * Bodies of the records that pipe mode has in place of tables: behind their
 * 8-byte headers. Told twice is told once. Return 0, -EBADMSG (the record is
 * damaged, nothing of it was kept), -ENOSPC or -ENOMEM.
 */
int km_perfdata_attr_record(struct km_perfdata *file, const uint8_t *body, size_t bytes);
int km_perfdata_feature_record(struct km_perfdata *file, const uint8_t *body, size_t bytes);
int km_perfdata_update_record(struct km_perfdata *file, const uint8_t *body, size_t bytes);
int km_perfdata_id_index_record(struct km_perfdata *file, const uint8_t *body, size_t bytes);
/* HEADER_BUILD_ID, and an entry of file mode's table of them: only the kernel's is kept. misc: of the record. */
void km_perfdata_build_id_record(struct km_perfdata *file, uint16_t misc, const uint8_t *body, size_t bytes);
/* Takes over data (malloc'd), also on failure. A second one is dropped. */
int km_perfdata_set_tracing(struct km_perfdata *file, char *data, size_t bytes);

/*
 * Every event format of the tracing data until visit() returns other than 0.
 * Returns that, 0, or -EBADMSG where the data are damaged.
 */
int km_perfdata_each_format(const struct km_perfdata *file,
			    int (*visit)(void *context, const char *system, const char *text, size_t bytes),
			    void *context);

/* Where the search for an id begins. */
static inline size_t km_perfdata_id_slot(uint64_t id, size_t room)
{
	return (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (room - 1);
}

/* NULL if the id is not known. */
static inline const struct km_perfdata_id *km_perfdata_find_id(const struct km_perfdata *file, uint64_t id)
{
	if (!file->ids_room)
		return NULL;
	for (size_t at = km_perfdata_id_slot(id, file->ids_room); file->ids[at].attr;
	     at = (at + 1) & (file->ids_room - 1)) {
		if (file->ids[at].id == id)
			return &file->ids[at];
	}
	return NULL;
}

#endif
