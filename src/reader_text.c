/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reader of trace text: lines through a buffer, each read by text_line.
 * What text has only as names gets numbers here: a call site the number of
 * its text in a range that holds no address, a gfp flag a bit of a table of
 * this text's own.
 *
 * Opening surveys the first SURVEY_BYTES: what must be known before the
 * first event (the clock's unit, the instances, which events name caches) is
 * taken from there.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "reader.h"
#include "text_gfp.h"
#include "text_line.h"
#include "tuples.h"

#define READ_BYTES    (256U << 10) /* a longer line is passed over */
#define SURVEY_BYTES  (UINT64_C(1) << 20)
#define BUFFERS_LIMIT 64U
#define NAMES_LIMIT   4096U /* kinds of events; the rest is counted as one */
#define PIDS_LIMIT    (1U << 20)
#define COMMS_CACHED  256U

/* Call sites that are names: this plus a number. No architecture has kernel text there. */
#define SITE_BASE UINT64_C(0x5e00000000000000)

/* --- lines --- */

struct lines {
	struct km_source *source;
	char *data;
	size_t start, end; /* what is read and not yet used */
	uint64_t offset;   /* of what comes next from the source */
	uint64_t number;   /* of the last line handed out, from 1 */
	bool is_at_end;
	bool is_cut; /* the last line has no newline */
};

enum line_state { LINE_END, LINE_READ, LINE_TOO_LONG };

static void rewind_lines(struct lines *l)
{
	l->start = l->end = 0;
	l->offset = l->number = 0;
	l->is_at_end = l->is_cut = false;
}

/* More bytes behind those that are there. */
static int fill(struct lines *l, struct km_error *error)
{
	int64_t n;

	memmove(l->data, l->data + l->start, l->end - l->start);
	l->end -= l->start;
	l->start = 0;
	n = km_source_read_at(l->source, l->offset, l->data + l->end, READ_BYTES - l->end, error);
	if (n < 0)
		return (int)n;
	l->offset += (uint64_t)n;
	l->end += (size_t)n;
	l->is_at_end = n == 0;
	return 0;
}

/* An enum line_state, or a negative errno. The line is borrowed until the next call. */
static inline int next_line(struct lines *l, const char **ret_text, size_t *ret_bytes, struct km_error *error)
{
	size_t searched = 0;
	bool too_long = false;
	int r;

	for (;;) {
		char *text = l->data + l->start;
		char *newline = memchr(text + searched, '\n', l->end - l->start - searched);

		if (newline || (l->is_at_end && l->start < l->end)) {
			l->is_cut = !newline;
			l->number++;
			*ret_text = text;
			*ret_bytes = newline ? (size_t)(newline - text) : l->end - l->start;
			l->start += *ret_bytes + (newline ? 1 : 0);
			return too_long ? LINE_TOO_LONG : LINE_READ;
		}
		if (l->is_at_end)
			return too_long ? LINE_TOO_LONG : LINE_END;
		searched = l->end - l->start;
		if (searched == READ_BYTES) {
			too_long = true;
			l->start = l->end = searched = 0;
		}
		r = fill(l, error);
		if (r < 0)
			return r;
	}
}

/* --- the reader --- */

struct text_reader {
	struct km_reader base;
	struct lines lines;
	char *marks[2];
	bool mark_met[2];
	bool only_counts;
	const char *format;

	struct km_buffer_info buffers[BUFFERS_LIMIT];
	size_t buffers_count;
	struct km_intern *buffer_names;
	struct km_text_slice started; /* the name of the started one */

	struct km_intern *sites; /* call sites as they are written */
	uint64_t *site_addresses; /* of sites, from 1: the address, or SITE_BASE + number */
	uint32_t site_room;

	struct km_intern *comms;
	struct km_tuples pids;
	uint32_t *pid_comms; /* of pids: number in comms */
	uint32_t pid_room;
	struct cached_comm {
		int32_t pid;
		uint32_t bytes; /* 0: free */
		char text[16];
	} cached_comms[COMMS_CACHED];

	struct km_text_gfp gfps;

	struct km_intern *names; /* of events other than the slab ones */
	uint64_t name_counts[NAMES_LIMIT + 1];
	uint64_t kind_counts[KM_EVENT_SLAB_KINDS];
	uint64_t marks_count; /* print events */
	struct km_event_count *event_counts;

	struct km_cpu_loss *losses; /* by CPU number */
	struct km_cpu_loss *losses_met;
	uint8_t *cpu_is_met;
	unsigned cpus_met, cpu_end;

	struct km_buffer_stats stats;
	char first_skipped[160];
	uint64_t last_time;
	bool overwrote; /* the head says that events were overwritten */
	bool has_entries;
	struct km_event held;
	bool has_held;

	uint64_t pointers_count, odd_pointers_count, withheld_count;
	struct km_symbols *symbols;
};

/* A table of one value a number grows to hold `number`. */
static bool make_room(void *table, uint32_t *room, uint32_t number, size_t bytes)
{
	uint32_t wanted = *room ? *room : 64;
	void *grown, *old;

	if (number < *room)
		return true;
	while (wanted <= number)
		wanted *= 2;
	memcpy(&old, table, sizeof(old));
	grown = reallocarray(old, wanted, bytes);
	if (!grown)
		return false;
	memcpy(table, &grown, sizeof(grown));
	*room = wanted;
	return true;
}

/* --- names to numbers --- */

static __attribute__((noinline, cold)) uint64_t new_site(struct text_reader *r, uint32_t number)
{
	struct km_text_site site;
	const char *text = km_intern_get(r->sites, number);

	if (!number || !make_room(&r->site_addresses, &r->site_room, number, sizeof(*r->site_addresses)))
		return 0;
	r->site_addresses[number] = 0;
	if (km_text_site_parse(text, strlen(text), &site)) {
		r->site_addresses[number] = site.has_symbol ? SITE_BASE + number : site.address;
		r->base.info.has_site_names |= site.has_symbol;
	}
	return r->site_addresses[number];
}

static inline uint64_t site_address(struct text_reader *r, struct km_text_slice text)
{
	uint32_t count = km_intern_count(r->sites);
	uint32_t number = km_intern_add(r->sites, text.p, text.bytes);

	if (__builtin_expect(number > count || number >= r->site_room, 0))
		return new_site(r, number);
	return number ? r->site_addresses[number] : 0;
}

static __attribute__((noinline)) void keep_comm(struct text_reader *r, int32_t pid, struct km_text_slice comm)
{
	struct cached_comm *cached = &r->cached_comms[(uint32_t)pid % COMMS_CACHED];
	uint64_t key = (uint64_t)(uint32_t)pid;
	uint32_t number;
	bool is_new;

	number = km_tuples_add(&r->pids, &key, &is_new);
	if (number == KM_TUPLES_NONE || !make_room(&r->pid_comms, &r->pid_room, number, sizeof(*r->pid_comms)))
		return;
	r->pid_comms[number] = km_intern_add(r->comms, comm.p, comm.bytes);
	cached->pid = pid;
	cached->bytes = (uint32_t)comm.bytes;
	memcpy(cached->text, comm.p, comm.bytes);
}

/* The last name of a task is the one that counts. */
static inline void note_comm(struct text_reader *r, const struct km_text_line *line)
{
	const struct cached_comm *cached = &r->cached_comms[(uint32_t)line->pid % COMMS_CACHED];

	if (line->pid <= 0 || !line->comm.bytes || line->comm.bytes > sizeof(cached->text))
		return;
	if (cached->pid != line->pid || cached->bytes != line->comm.bytes ||
	    memcmp(cached->text, line->comm.p, line->comm.bytes))
		keep_comm(r, line->pid, line->comm);
}

/*
 * Objects lie at multiples of 4 at least; the numbers that the kernel's %p
 * gives for addresses are random ones of 32 bits, three in four of them not.
 */
static void note_pointer(struct text_reader *r, const struct km_text_line *line)
{
	r->withheld_count += line->pointer == KM_TEXT_POINTER_WITHHELD;
	if (line->pointer != KM_TEXT_POINTER_VALUE || line->ptr == KM_ZERO_SIZE_PTR)
		return;
	r->pointers_count++;
	r->odd_pointers_count += line->ptr <= UINT32_MAX && line->ptr & 3;
}

static void judge_pointers(struct text_reader *r)
{
	r->base.info.pointers_are_hashed = r->odd_pointers_count > r->pointers_count / 4;
}

/* --- counting --- */

static struct km_cpu_loss *meet_cpu(struct text_reader *r, unsigned cpu)
{
	struct km_cpu_loss *loss = &r->losses[cpu];

	if (__builtin_expect(!r->cpu_is_met[cpu], 0)) {
		struct km_buffer_info *buffer = &r->buffers[r->base.info.buffers ? r->stats.cpus_count : 0];

		(void)buffer;
		r->cpu_is_met[cpu] = 1;
		r->cpus_met++;
		if (cpu >= r->cpu_end)
			r->cpu_end = cpu + 1;
		*loss = (struct km_cpu_loss){ .cpu = cpu };
	}
	return loss;
}

#include "reader_text_part.inc"
