/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracedat_stream: one CPU of a trace.dat buffer as a stream of events: its
 * pages, their records, the fields of the slab events. It resolves fields
 * through a table made once from the formats, keeps each CPU's order, counts
 * what it skips, and notes losses. It does not merge CPUs.
 */
#ifndef KM_TRACEDAT_STREAM_H
#define KM_TRACEDAT_STREAM_H

#include "intern.h"
#include "merge.h"
#include "reader.h"
#include "tracedat.h"

#define KM_EVENT_IDS 65536 /* common_type has 16 bits */

/* Where one kind of event keeps its fields. */
struct km_tracedat_layout {
	uint8_t kind; /* enum km_event_kind; MARK for ftrace's print */
	uint32_t min_bytes;
	struct km_field pid, call_site, ptr, bytes_req, bytes_alloc, gfp, node, name;
	uint16_t text_offset; /* MARK: where the text begins */
};

/* What all streams of a started buffer share. */
struct km_tracedat_decoder {
	struct km_tracedat *file;
	const struct km_tracedat_buffer *buffer;
	uint8_t layout_of_id[KM_EVENT_IDS]; /* index into layouts[], 0: not used */
	struct km_tracedat_layout layouts[KM_EVENT_SLAB_KINDS + 2];
	size_t layouts_count; /* layouts[0] is not used */
	struct km_intern *names;
	const char *marks[2];
	bool mark_met[2];  /* the reader's: handed out */
	bool converts_tsc; /* times are x86-tsc and the file tells how many ns a tick is */

	uint64_t counts[KM_EVENT_IDS];
	struct km_buffer_stats stats; /* cpus[] is `losses` */
	struct km_cpu_loss *losses;
	char first_skipped[160];
	char first_damage[160];
};

struct km_tracedat_stream;

/*
 * A stream of buffer->cpus[index]; its losses go to decoder->losses[index].
 * capacity: events decoded ahead. read_bytes: as km_tracedat_pages_new().
 * NULL when out of memory.
 */
struct km_tracedat_stream *km_tracedat_stream_new(struct km_tracedat_decoder *decoder, size_t index, size_t capacity,
						  size_t read_bytes);
void km_tracedat_stream_free(struct km_tracedat_stream *stream);
struct km_merge_stream *km_tracedat_stream_head(struct km_tracedat_stream *stream);

/* First and last time of any event on this CPU. 1, 0 if there is none, negative errno. Uses the stream up. */
int km_tracedat_stream_range(struct km_tracedat_stream *stream, uint64_t *ret_first, uint64_t *ret_last,
			     struct km_error *error);

#endif
