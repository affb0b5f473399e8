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
#include "reader.h"
#include "slab_record.h"
#include "tracedat.h"

#define KM_EVENT_IDS 65536 /* common_type has 16 bits */

/* Where one kind of event keeps its fields: a slab event, or ftrace's print (MARK). */
struct km_tracedat_layout {
	struct km_slab_layout slab; /* MARK: only kind, min_bytes and pid */
	uint16_t text_offset;       /* MARK: where the text begins */
};

/* What all streams of a started buffer share; it does not change while they run. */
struct km_tracedat_decoder {
	struct km_tracedat *file;
	const struct km_tracedat_buffer *buffer;
	uint8_t layout_of_id[KM_EVENT_IDS]; /* index into layouts[], 0: not used */
	struct km_tracedat_layout layouts[KM_EVENT_KINDS + 1];
	size_t layouts_count; /* layouts[0] is not used */
	struct km_intern *names;
	const char *marks[2];
	bool converts_tsc; /* times are x86-tsc and the file tells how many ns a tick is */
};

/* What one stream met so far. */
struct km_tracedat_counts {
	struct km_cpu_loss loss;
	bool has_events;
	uint64_t first_time, last_time; /* of any event */
	uint64_t slab_counts[KM_EVENT_KINDS];
	uint64_t skipped_count, backwards_count;
	uint64_t *ids; /* events by common_type, as far as the highest one met needs */
	size_t ids_count;
	char first_skipped[160];
	char first_damage[160];
};

struct km_tracedat_stream;

/*
 * A stream of buffer->cpus[index]. decoder is borrowed. loss: what is known
 * before reading. read_bytes: as km_tracedat_pages_new(). NULL when out of
 * memory.
 */
struct km_tracedat_stream *km_tracedat_stream_new(const struct km_tracedat_decoder *decoder, size_t index,
						  const struct km_cpu_loss *loss, size_t read_bytes);
void km_tracedat_stream_free(struct km_tracedat_stream *stream);

/*
 * Decode up to `capacity` (4 or more) events. A mark is handed out where
 * this CPU has it first. Fits km_ahead_producer.
 */
int km_tracedat_stream_produce(void *stream, struct km_event *events, size_t capacity, size_t *ret_count,
			       struct km_error *error);
/* Borrowed; not to be looked at while another thread may decode. */
const struct km_tracedat_counts *km_tracedat_stream_counts(const struct km_tracedat_stream *stream);

/* First and last time of any event on this CPU. 1, 0 if there is none, negative errno. Uses the stream up. */
int km_tracedat_stream_range(struct km_tracedat_stream *stream, uint64_t *ret_first, uint64_t *ret_last,
			     struct km_error *error);

#endif
