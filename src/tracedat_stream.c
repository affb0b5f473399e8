/* SPDX-License-Identifier: GPL-2.0-only */
#include "tracedat_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring_page.h"

/* One record may become a loss before it and two marks. */
#define EVENTS_OF_RECORD 3
#define IDS_LEAST        1024U

struct km_tracedat_stream {
	const struct km_tracedat_decoder *decoder;
	struct km_tracedat_pages *pages;
	struct km_tracedat_counts counts;
	struct km_event *events; /* being filled */
	size_t count, capacity;
	struct km_ring_page page;
	bool page_is_open;
	bool is_out_of_memory;
	uint64_t page_time;   /* of the last page that was good, as recorded */
	uint64_t page_limit;  /* no record of the page can be later; as recorded */
	bool loss_is_pending; /* a KM_EVENT_LOST is due before the next event */
	uint64_t pending_count;
	bool mark_is_met[2];
	struct km_slab_names names;
};

static void note(char *text, size_t bytes, const char *what, const struct km_tracedat_stream *s)
{
	if (!text[0])
		snprintf(text, bytes, "%s, CPU %u, in the block at offset %" PRIu64, what, s->counts.loss.cpu,
			 km_tracedat_pages_offset(s->pages));
}

/* Events of this CPU are missing here. count 0: how many is not known. */
static void note_gap(struct km_tracedat_stream *s, uint64_t count)
{
	if (!s->counts.has_events) {
		s->counts.loss.start_lost = true;
		return;
	}
	s->counts.loss.holes_count++;
	s->pending_count = s->loss_is_pending && (!s->pending_count || !count) ? 0 : s->pending_count + count;
	s->loss_is_pending = true;
}

static void note_damage(struct km_tracedat_stream *s, const char *what)
{
	s->counts.loss.damaged_count++;
	s->counts.loss.uncounted_gaps_count++;
	note(s->counts.first_damage, sizeof(s->counts.first_damage), what, s);
	note_gap(s, 0);
}

/*
 * What a page holds is earlier than the next page. A time that is later by
 * far was damaged: it would hold up the clock of its CPU for all that
 * follows. Far is more than a clock may be set back.
 */
#define TIME_SLACK (UINT64_C(1) << 32)

static uint64_t page_limit(const struct km_tracedat_stream *s)
{
	const uint8_t *next = km_tracedat_pages_peek(s->pages);
	uint64_t time = next ? km_load64(next, s->decoder->file->big_endian) : 0;

	/* The next page's own time can be what is damaged. */
	if (!next || time + TIME_SLACK < time || time + TIME_SLACK < s->page_time)
		return UINT64_MAX;
	return time + TIME_SLACK;
}

/* Open the next page that can be used. 1, 0 at the end, negative errno. */
static int open_page(struct km_tracedat_stream *s, struct km_error *error)
{
	const struct km_tracedat *file = s->decoder->file;
	const struct km_page_header *header = &file->page_header;

	for (;;) {
		const uint8_t *data;
		int r = km_tracedat_pages_next(s->pages, &data, error);

		if (r == KM_PAGES_END || r < 0)
			return r;
		if (r == KM_PAGES_DAMAGED) {
			note_damage(s, "a chunk that can not be decompressed");
			continue;
		}
		if (r == KM_PAGES_CUT) {
			s->counts.loss.is_cut = true;
			continue;
		}
		if (!km_ring_page_begin(&s->page, data, s->decoder->buffer->page_bytes, header->commit_offset,
					header->commit_bytes, header->data_offset, file->big_endian)) {
			note_damage(s, "a page that holds more than fits into one");
			continue;
		}
		s->page_limit = page_limit(s);
		if (s->page.time > s->page_limit) {
			note_damage(s, "a page that is later than the one behind it");
			continue;
		}
		s->page_time = s->page.time;
		if (s->page.missed) {
			if (s->page.missed_is_stored)
				s->counts.loss.stored_count += s->page.missed_count;
			else
				s->counts.loss.uncounted_gaps_count++;
			note_gap(s, s->page.missed_count);
		}
		s->page_is_open = true;
		return 1;
	}
}

/* --- one record --- */

static __attribute__((noinline, cold)) bool skip_record(struct km_tracedat_stream *s, const char *what)
{
	s->counts.skipped_count++;
	note(s->counts.first_skipped, sizeof(s->counts.first_skipped), what, s);
	return false;
}

/*
 * A print event: an event if it is this CPU's first with a wanted text (the
 * reader keeps the first of all CPUs). With both texts it is two events: the
 * first is put here, the last is the caller's.
 */
static __attribute__((noinline)) bool decode_mark(struct km_tracedat_stream *s, const uint8_t *record, uint32_t bytes,
						  const struct km_tracedat_layout *layout, struct km_event *event)
{
	const struct km_tracedat_decoder *d = s->decoder;
	const char *text = (const char *)record + layout->text_offset;
	size_t length;
	bool is_met = false;

	if (bytes < layout->slab.min_bytes)
		return skip_record(s, "a record shorter than its fields");
	length = strnlen(text, bytes - layout->text_offset);
	*event =
		(struct km_event){ .time = event->time, .cpu = event->cpu, .node = KM_NODE_ANY, .kind = KM_EVENT_MARK };

	for (unsigned i = 0; i < 2; i++) {
		if (!d->marks[i] || s->mark_is_met[i] || !memmem(text, length, d->marks[i], strlen(d->marks[i])))
			continue;
		if (is_met) {
			s->counts.slab_counts[KM_EVENT_MARK]++;
			s->count++;
			event[1] = event[0];
			event++;
		}
		s->mark_is_met[i] = is_met = true;
		event->bytes_req = i;
	}
	return is_met;
}

static inline bool decode_record(struct km_tracedat_stream *s, const struct km_tracedat_layout *layout,
				 const uint8_t *record, uint32_t bytes, bool big_endian, struct km_event *event)
{
	const char *why;

	event->cpu = (uint16_t)s->counts.loss.cpu;
	if (__builtin_expect(layout->slab.kind == KM_EVENT_MARK, 0))
		return decode_mark(s, record, bytes, layout, event);
	why = km_slab_record_decode(&layout->slab, record, bytes, big_endian, &s->names, event);
	return why ? skip_record(s, why) : true;
}

/* --- pages to events --- */

static uint64_t tsc_to_ns(const struct km_tracedat *file, uint64_t ticks)
{
	return (uint64_t)(((unsigned __int128)ticks * file->tsc_mult) >> file->tsc_shift);
}

/* The CPU's own order is the truth: a time before that of an earlier event is taken as equal to it. */
static inline uint64_t event_time(struct km_tracedat_stream *s)
{
	const struct km_tracedat_decoder *d = s->decoder;
	uint64_t time = s->page.time;

	if (d->converts_tsc)
		time = tsc_to_ns(d->file, time);
	if (__builtin_expect(!s->counts.has_events, 0)) {
		s->counts.has_events = true;
		s->counts.first_time = time;
		s->counts.last_time = time;
	}
	if (__builtin_expect(time < s->counts.last_time, 0)) {
		s->counts.backwards_count++;
		time = s->counts.last_time;
	}
	s->counts.last_time = time;
	return time;
}

static void put_lost(struct km_tracedat_stream *s)
{
	s->events[s->count++] = (struct km_event){ .time = s->counts.last_time,
						   .bytes_req = s->pending_count,
						   .cpu = (uint16_t)s->counts.loss.cpu,
						   .node = KM_NODE_ANY,
						   .kind = KM_EVENT_LOST };
	s->loss_is_pending = false;
	s->pending_count = 0;
}

/* Room to count this id. Few of all that there may be are met: hundreds of CPUs do not each hold a table of all. */
static __attribute__((noinline)) int grow_ids(struct km_tracedat_stream *s, unsigned id)
{
	size_t count = s->counts.ids_count ? s->counts.ids_count : IDS_LEAST;
	uint64_t *ids;

	while (count <= id)
		count *= 2;
	ids = reallocarray(s->counts.ids, count, sizeof(*ids));
	if (!ids) {
		s->is_out_of_memory = true;
		return -ENOMEM;
	}
	memset(ids + s->counts.ids_count, 0, (count - s->counts.ids_count) * sizeof(*ids));
	s->counts.ids = ids;
	s->counts.ids_count = count;
	return 0;
}

/* Decode the open page as far as there is room. Leaves it open only if the room, or memory, ran out. */
static inline __attribute__((always_inline)) void decode_page(struct km_tracedat_stream *s, bool big_endian)
{
	const struct km_tracedat_decoder *d = s->decoder;
	uint64_t events_count = 0;
	const uint8_t *record;
	uint32_t bytes;

	while (s->count + EVENTS_OF_RECORD <= s->capacity) {
		const struct km_tracedat_layout *layout;
		struct km_event *event;
		uint64_t time;
		unsigned id;

		if (!km_ring_page_next(&s->page, big_endian, &record, &bytes)) {
			s->page_is_open = false;
			break;
		}
		if (__builtin_expect(s->page.time > s->page_limit, 0)) {
			s->page_is_open = false;
			s->page.damaged = true;
			break;
		}
		events_count++;
		time = event_time(s);
		if (__builtin_expect(s->loss_is_pending, 0))
			put_lost(s);
		if (__builtin_expect(bytes < 4, 0)) {
			skip_record(s, "a record without a type");
			continue;
		}
		id = km_load16(record, big_endian); /* common_type */
		if (__builtin_expect(id >= s->counts.ids_count, 0) && grow_ids(s, id))
			break;
		s->counts.ids[id]++;
		if (!d->layout_of_id[id])
			continue;
		layout = &d->layouts[d->layout_of_id[id]];
		event = &s->events[s->count];
		event->time = time;
		if (decode_record(s, layout, record, bytes, big_endian, event)) {
			s->count++;
			s->counts.slab_counts[layout->slab.kind]++;
		}
	}
	s->counts.loss.events_count += events_count;
	if (!s->page_is_open && s->page.damaged)
		note_damage(s, "a record that does not fit into its page");
}

int km_tracedat_stream_produce(void *stream, struct km_event *events, size_t capacity, size_t *ret_count,
			       struct km_error *error)
{
	struct km_tracedat_stream *s = stream;
	bool is_last = false;

	s->events = events;
	s->capacity = capacity;
	s->count = 0;
	while (s->count + EVENTS_OF_RECORD <= capacity) {
		if (!s->page_is_open) {
			int r = open_page(s, error);

			if (r < 0)
				return r;
			if (r == 0) {
				/* A gap at the very end has no event behind it; it still is one. */
				if (s->loss_is_pending)
					put_lost(s);
				is_last = true;
				break;
			}
		}
		if (s->decoder->file->big_endian)
			decode_page(s, true);
		else
			decode_page(s, false);
		if (s->is_out_of_memory)
			return km_error_set(error, -ENOMEM, "out of memory");
	}
	*ret_count = s->count;
	return !is_last;
}

struct km_tracedat_stream *km_tracedat_stream_new(const struct km_tracedat_decoder *decoder, size_t index,
						  const struct km_cpu_loss *loss, size_t read_bytes)
{
	struct km_tracedat_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->decoder = decoder;
	s->names.table = decoder->names;
	s->counts.loss = *loss;
	s->pages = km_tracedat_pages_new(decoder->file, decoder->buffer, &decoder->buffer->cpus[index], read_bytes);
	if (!s->pages) {
		km_tracedat_stream_free(s);
		return NULL;
	}
	return s;
}

void km_tracedat_stream_free(struct km_tracedat_stream *s)
{
	if (!s)
		return;
	km_tracedat_pages_free(s->pages);
	free(s->counts.ids);
	free(s);
}

const struct km_tracedat_counts *km_tracedat_stream_counts(const struct km_tracedat_stream *s)
{
	return &s->counts;
}

/* --- the range of times --- */

/* Read on to the end, or only to the first event. */
static int scan_times(struct km_tracedat_stream *s, bool only_first, uint64_t *ret_first, struct km_error *error)
{
	bool big_endian = s->decoder->file->big_endian;
	bool has_first = false;
	const uint8_t *record;
	uint32_t bytes;
	int r;

	while ((r = open_page(s, error)) > 0) {
		while (km_ring_page_next(&s->page, big_endian, &record, &bytes)) {
			uint64_t time = event_time(s);

			if (!has_first)
				*ret_first = time;
			has_first = true;
			if (only_first)
				return 1;
		}
	}
	return r < 0 ? r : has_first;
}

int km_tracedat_stream_range(struct km_tracedat_stream *s, uint64_t *ret_first, uint64_t *ret_last,
			     struct km_error *error)
{
	uint64_t first = 0, unused;
	int r = scan_times(s, true, &first, error);

	if (r <= 0)
		return r;
	/* A block may hold no event at all: look at more of them until one does. */
	for (uint64_t blocks = 1;; blocks *= 8) {
		int more = km_tracedat_pages_seek_tail(s->pages, blocks, error);

		if (more < 0)
			return more;
		r = scan_times(s, false, &unused, error);
		if (r < 0)
			return r;
		if (r > 0 || !more)
			break;
	}
	*ret_first = first;
	*ret_last = s->counts.last_time;
	return 1;
}
