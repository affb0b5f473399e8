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
#include "lines.h"
#include "reader.h"
#include "text_gfp.h"
#include "text_line.h"
#include "tuples.h"

#define SURVEY_BYTES  (UINT64_C(1) << 20)
#define BUFFERS_LIMIT 64U
#define NAMES_LIMIT   4096U /* kinds of events; the rest is counted as one */
#define PIDS_LIMIT    (1U << 20)
#define COMMS_CACHED  256U

/* Call sites that are names: this plus a number. No architecture has kernel text there. */
#define SITE_BASE UINT64_C(0x5e00000000000000)

/* --- the reader --- */

struct text_reader {
	struct km_reader base;
	struct km_lines lines;
	const char *marks[2];
	bool mark_met[2];
	bool only_counts;

	struct km_buffer_info buffers[BUFFERS_LIMIT];
	size_t buffers_count;
	struct km_intern *buffer_names;
	struct km_buffer_info *started;
	size_t started_bytes; /* of its name */

	struct km_intern *sites;  /* call sites as they are written */
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

	struct km_text_gfp gfp;

	struct km_intern *names; /* of events other than the slab ones */
	uint64_t name_counts[NAMES_LIMIT + 1];
	uint64_t kind_counts[KM_EVENT_SLAB_KINDS];
	uint64_t marks_count; /* print events */
	struct km_event_count *event_counts;

	struct km_cpu_loss *losses; /* by CPU number */
	struct km_cpu_loss *losses_met;
	uint8_t *cpu_is_met;
	unsigned cpus_met, cpu_end;
	uint32_t cpus_told; /* by the text; 0: it does not */

	struct km_buffer_stats stats;
	char first_skipped[160];
	uint64_t last_time;
	bool overwrote; /* the head says that events were overwritten */
	bool has_entries;
	uint64_t entries_count;     /* events that the kernel's head says there are */
	uint64_t entry_lines_count; /* lines that can be one of them */
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

static __attribute__((noinline, cold)) void meet_cpu(struct text_reader *r, unsigned cpu)
{
	r->cpu_is_met[cpu] = 1;
	r->losses[cpu] = (struct km_cpu_loss){ .cpu = cpu };
	if (cpu >= r->cpu_end)
		r->cpu_end = cpu + 1;
	if (++r->cpus_met > r->started->cpus_count)
		r->started->cpus_count = r->cpus_met;
	if (r->base.info.cpus_count < r->started->cpus_count)
		r->base.info.cpus_count = (uint32_t)r->started->cpus_count;
}

static inline struct km_cpu_loss *loss_of(struct text_reader *r, unsigned cpu)
{
	if (__builtin_expect(!r->cpu_is_met[cpu], 0))
		meet_cpu(r, cpu);
	return &r->losses[cpu];
}

static __attribute__((noinline, cold)) void skip_event(struct text_reader *r, const char *why)
{
	r->stats.skipped_count++;
	if (!r->first_skipped[0])
		snprintf(r->first_skipped, sizeof(r->first_skipped), "in line %" PRIu64 ": %s", r->lines.number, why);
}

static void count_event(struct text_reader *r, const struct km_text_line *line)
{
	uint32_t number;

	if (line->kind == KM_TEXT_SLAB) {
		r->kind_counts[line->slab]++;
		return;
	}
	number = km_intern_find(r->names, line->name.p, line->name.bytes);
	if (!number && km_intern_count(r->names) < NAMES_LIMIT)
		number = km_intern_add(r->names, line->name.p, line->name.bytes);
	r->name_counts[number]++;
}

/* A line's time; one without a time, or with one before that of an earlier line, has that line's. */
static inline uint64_t event_time(struct text_reader *r, const struct km_text_line *line)
{
	struct km_buffer_stats *stats = &r->stats;
	uint64_t time = line->has_time ? line->time : r->last_time;

	if (!stats->has_events) {
		stats->has_events = true;
		stats->first_time = time;
		if (r->overwrote)
			loss_of(r, line->cpu)->start_lost = true;
	} else if (time < r->last_time) {
		stats->backwards_count++;
		time = r->last_time;
	}
	r->last_time = stats->last_time = time;
	return time;
}

/* --- lines to events: each puts what it makes at *event and returns how many --- */

static inline int slab_event(struct text_reader *r, const struct km_text_line *line, uint64_t time,
			     struct km_event *event)
{
	bool is_alloc = line->slab <= KM_EVENT_CACHE_ALLOC_NODE;

	note_pointer(r, line);
	if (r->only_counts)
		return 0;
	if (line->fault || line->pointer == KM_TEXT_POINTER_WITHHELD) {
		skip_event(r, line->fault ? line->fault : "its pointer was withheld by the kernel");
		return 0;
	}
	if (is_alloc && line->ptr &&
	    (line->bytes_alloc >= KM_OBJECT_BYTES_LIMIT || line->bytes_req > line->bytes_alloc)) {
		skip_event(r, "an allocation of impossible size");
		return 0;
	}
	*event = (struct km_event){
		.time = time,
		.ptr = line->ptr,
		.call_site = line->site.bytes ? site_address(r, line->site) : 0,
		.bytes_req = is_alloc ? line->bytes_req : 0,
		.bytes_alloc = is_alloc ? line->bytes_alloc : 0,
		.gfp = line->gfp.bytes && is_alloc ? km_text_gfp_value(&r->gfp, line->gfp.p, line->gfp.bytes) : 0,
		.pid = line->pid,
		.cache = line->cache.bytes ? km_intern_add(r->base.cache_names, line->cache.p, line->cache.bytes)
					   : KM_CACHE_NONE,
		.cpu = (uint16_t)line->cpu,
		.node = is_alloc ? line->node : KM_NODE_ANY,
		.kind = (uint8_t)line->slab,
		.domain = KM_DOMAIN_SLAB,
	};
	r->stats.slab_counts[line->slab]++;
	return 1;
}

/* A text with both of the wanted ones in it is two events: the second is held. */
static __attribute__((noinline)) int mark_event(struct text_reader *r, const struct km_text_line *line, uint64_t time,
						struct km_event *event)
{
	int count = 0;

	for (unsigned i = 0; i < 2 && !r->only_counts; i++) {
		struct km_event *to = count ? &r->held : event;

		if (!r->marks[i] || r->mark_met[i] ||
		    !memmem(line->payload.p, line->payload.bytes, r->marks[i], strlen(r->marks[i])))
			continue;
		r->mark_met[i] = true;
		*to = (struct km_event){ .time = time,
					 .bytes_req = i,
					 .pid = line->pid,
					 .cpu = (uint16_t)line->cpu,
					 .node = KM_NODE_ANY,
					 .kind = KM_EVENT_MARK };
		r->stats.slab_counts[KM_EVENT_MARK]++;
		r->has_held = count++ > 0;
	}
	return count > 0;
}

/* The text tells it before the first event behind it; nothing can be uncertain before the first of all. */
static __attribute__((noinline)) int lost_event(struct text_reader *r, const struct km_text_line *line,
						struct km_event *event)
{
	struct km_cpu_loss *loss = loss_of(r, line->cpu);

	if (line->lost_count)
		loss->stored_count += line->lost_count;
	else
		loss->uncounted_gaps_count++;
	if (!loss->events_count)
		loss->start_lost = true;
	else
		loss->holes_count++;
	if (!r->stats.has_events || r->only_counts)
		return 0;
	*event = (struct km_event){ .time = r->last_time,
				    .bytes_req = line->lost_count,
				    .pid = line->pid,
				    .cpu = (uint16_t)line->cpu,
				    .node = KM_NODE_ANY,
				    .kind = KM_EVENT_LOST };
	return 1;
}

static void note_header(struct text_reader *r, const struct km_text_line *line)
{
	if (line->has_entries) {
		r->has_entries = true;
		r->entries_count += line->entries_count < UINT32_MAX ? line->entries_count : 0;
		r->overwrote = line->written_count > line->entries_count;
	}
	if (line->starts_cpu && r->overwrote)
		loss_of(r, line->cpu)->start_lost = true;
}

static bool is_of_buffer(const struct text_reader *r, const struct km_text_line *line)
{
	return line->buffer.bytes == r->started_bytes &&
	       (!r->started_bytes || !memcmp(line->buffer.p, r->started->name, r->started_bytes));
}

static int read_line(struct text_reader *r, const char *text, size_t bytes, struct km_event *event)
{
	struct km_text_line line;
	uint64_t time;

	switch (km_text_line_parse(text, bytes, &line)) {
	case KM_TEXT_OTHER:
		r->stats.other_lines_count++;
		r->entry_lines_count += bytes && text[0] != '#'; /* other tracers' are no events */
		return 0;
	case KM_TEXT_HEADER:
		note_header(r, &line);
		return 0;
	case KM_TEXT_LOST:
		return lost_event(r, &line, event);
	default:
		r->entry_lines_count++;
		break;
	}
	if (line.has_time && line.is_ticks != (r->started->unit == KM_CLOCK_TICKS)) {
		r->stats.other_lines_count++;
		return 0;
	}
	if (r->buffers_count > 1 && !is_of_buffer(r, &line))
		return 0;
	/* Cut in the middle, the last line may be whole to the eye: a number may have had more digits. */
	if (r->lines.is_cut && line.kind == KM_TEXT_SLAB && line.fault)
		r->base.info.is_cut_short = true;
	time = event_time(r, &line);
	loss_of(r, line.cpu)->events_count++;
	r->stats.events_count++;
	count_event(r, &line);
	note_comm(r, &line);
	if (line.kind == KM_TEXT_SLAB)
		return slab_event(r, &line, time, event);
	return line.kind == KM_TEXT_MARK ? mark_event(r, &line, time, event) : 0;
}

static int text_read(struct km_reader *base, struct km_event *events, size_t capacity, struct km_error *error)
{
	struct text_reader *r = (struct text_reader *)base;
	const char *text;
	size_t bytes, n = 0;
	int state;

	while (n < capacity) {
		if (__builtin_expect(r->has_held, 0)) {
			r->has_held = false;
			events[n++] = r->held;
			continue;
		}
		state = km_lines_next(&r->lines, &text, &bytes, error);
		if (state < 0)
			return state;
		if (state == KM_LINES_END) {
			/* Cut at the end of a line, only the head tells. */
			if (r->entry_lines_count < r->entries_count)
				r->base.info.is_cut_short = true;
			break;
		}
		if (state == KM_LINES_TOO_LONG) {
			r->stats.other_lines_count++;
			r->entry_lines_count++;
			continue;
		}
		n += (size_t)read_line(r, text, bytes, &events[n]);
	}
	if (!n)
		judge_pointers(r);
	return (int)n;
}

/* --- opening --- */

/* What the text looks like so far. */
struct survey {
	bool has_tracer, has_cpus_line, has_cpu, has_perf, has_ns, has_ticks, has_top;
	bool has_slab, has_long_pointer, has_short_pointer;
};

static void survey_slab(struct text_reader *r, const struct km_text_line *line, struct survey *survey)
{
	struct km_trace_info *info = &r->base.info;
	struct km_text_site site;

	survey->has_slab = true;
	note_pointer(r, line);
	if (line->pointer == KM_TEXT_POINTER_VALUE) {
		survey->has_short_pointer |= line->ptr_digits == 8;
		survey->has_long_pointer |= line->ptr_digits != 8;
	}
	if (line->cache.bytes && line->slab == KM_EVENT_CACHE_ALLOC)
		info->features |= KM_TRACE_ALLOC_NAMES;
	if (line->cache.bytes && line->slab == KM_EVENT_CACHE_FREE)
		info->features |= KM_TRACE_FREE_NAMES;
	if (line->has_node)
		info->features |= KM_TRACE_NODES;
	if (line->gfp.bytes) /* so that the order of the flags is known early */
		km_text_gfp_value(&r->gfp, line->gfp.p, line->gfp.bytes);
	if (!info->has_site_names && line->site.bytes && km_text_site_parse(line->site.p, line->site.bytes, &site))
		info->has_site_names = site.has_symbol;
}

static void survey_line(struct text_reader *r, const char *text, size_t bytes, struct survey *survey)
{
	struct km_text_line line;

	switch (km_text_line_parse(text, bytes, &line)) {
	case KM_TEXT_OTHER:
	case KM_TEXT_LOST:
		return;
	case KM_TEXT_HEADER:
		survey->has_cpus_line |= *text == 'c';
		survey->has_tracer |= *text == '#';
		if (line.cpus_count > r->cpus_told)
			r->cpus_told = line.cpus_count;
		return;
	default:
		break;
	}
	survey->has_cpu |= line.has_cpu;
	survey->has_perf |= line.is_perf;
	survey->has_ns |= line.has_time && !line.is_ticks;
	survey->has_ticks |= line.has_time && line.is_ticks;
	survey->has_top |= !line.buffer.bytes;
	if (line.buffer.bytes && km_intern_count(r->buffer_names) < BUFFERS_LIMIT - 1)
		km_intern_add(r->buffer_names, line.buffer.p, line.buffer.bytes);
	if (line.kind == KM_TEXT_SLAB)
		survey_slab(r, &line, survey);
}

static void add_buffer(struct text_reader *r, const char *name, const struct survey *survey)
{
	r->buffers[r->buffers_count++] = (struct km_buffer_info){
		.name = name,
		.clock = "",
		.unit = survey->has_ticks && !survey->has_ns ? KM_CLOCK_TICKS : KM_CLOCK_NS,
		.page_bytes = r->base.info.page_bytes,
		.cpus_count = r->cpus_told ? r->cpus_told : 1,
		.cpu_limit = KM_CPU_LIMIT,
	};
}

static int survey_text(struct text_reader *r, struct km_error *error)
{
	struct km_trace_info *info = &r->base.info;
	struct survey survey = { 0 };
	const char *text;
	size_t bytes;
	int state;

	/* What goes by in a stream is gone. */
	if (km_source_is_stream(r->lines.source))
		r->lines.limit = KM_SOURCE_KEPT_BYTES;
	while (km_lines_offset(&r->lines) < SURVEY_BYTES) {
		state = km_lines_next(&r->lines, &text, &bytes, error);
		if (state < 0)
			return state;
		if (state == KM_LINES_END)
			break;
		if (state == KM_LINES_READ && !(r->lines.limit && r->lines.is_cut))
			survey_line(r, text, bytes, &survey);
	}
	r->lines.limit = 0;
	judge_pointers(r);
	info->format = survey.has_perf        ? "perf script text"
		       : survey.has_cpus_line ? "trace-cmd report text"
		       : survey.has_tracer    ? "tracefs trace text"
					      : "trace text";
	info->word_bytes = survey.has_short_pointer && !survey.has_long_pointer ? 4 : 8;
	info->page_bytes = 4096; /* text does not tell */
	info->cpus_count = r->cpus_told ? r->cpus_told : 1;
	info->keeps_order = true;
	info->cpus_are_unknown = !survey.has_cpu;
	if (survey.has_top || !km_intern_count(r->buffer_names))
		add_buffer(r, "", &survey);
	for (uint32_t i = 1; i <= km_intern_count(r->buffer_names); i++)
		add_buffer(r, km_intern_get(r->buffer_names, i), &survey);
	info->buffers = r->buffers;
	info->buffers_count = r->buffers_count;
	r->started = &r->buffers[0];
	return 0;
}

static void text_close(struct km_reader *base)
{
	struct text_reader *r = (struct text_reader *)base;

	if (!r)
		return;
	km_symbols_free(r->symbols);
	km_text_gfp_release(&r->gfp);
	km_tuples_release(&r->pids);
	km_intern_free(r->buffer_names);
	km_intern_free(r->sites);
	km_intern_free(r->comms);
	km_intern_free(r->names);
	free(r->site_addresses);
	free(r->pid_comms);
	free(r->event_counts);
	free(r->losses);
	free(r->losses_met);
	free(r->cpu_is_met);
	km_lines_release(&r->lines);
	free(r);
}

/* Lines of text that are trace events, or the head of the kernel's own text, among the first bytes of the source. */
static int text_bid(const uint8_t *head, size_t bytes)
{
	const char *p = (const char *)head, *end = p + bytes;
	unsigned events = 0;
	bool is_slab = false, is_trace = false;

	while (p < end && events < 3) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		struct km_text_line line;

		km_text_line_parse(p, (size_t)((newline ? newline : end) - p), &line);
		is_slab |= line.kind == KM_TEXT_SLAB && !line.fault;
		is_trace |= line.kind == KM_TEXT_HEADER && line.has_entries;
		events += line.kind != KM_TEXT_OTHER && line.kind != KM_TEXT_HEADER;
		p = newline ? newline + 1 : end;
	}
	return is_trace ? 60 : events >= 3 ? 50 : is_slab ? 30 : 0;
}

static int text_open(struct km_source *source, const struct km_reader_options *options, struct km_reader **ret_reader,
		     struct km_error *error)
{
	struct text_reader *r = calloc(1, sizeof(*r));
	int result = -ENOMEM;

	if (!r)
		return km_error_set(error, result, "out of memory");
	km_tuples_init(&r->pids, 1, PIDS_LIMIT);
	memcpy(r->marks, options->marks, sizeof(r->marks));
	r->only_counts = options->only_counts;
	r->base.cache_names = km_intern_new();
	r->buffer_names = km_intern_new();
	r->sites = km_intern_new();
	r->comms = km_intern_new();
	r->names = km_intern_new();
	r->losses = calloc(KM_CPU_LIMIT, sizeof(*r->losses));
	r->cpu_is_met = calloc(KM_CPU_LIMIT, sizeof(*r->cpu_is_met));
	if (km_lines_init(&r->lines, source) || !r->base.cache_names || !r->buffer_names || !r->sites || !r->comms ||
	    !r->names || !r->losses || !r->cpu_is_met || km_text_gfp_init(&r->gfp, &r->base.gfp)) {
		km_error_set(error, result, "out of memory");
		goto fail;
	}
	result = survey_text(r, error);
	if (result)
		goto fail;
	*ret_reader = &r->base;
	return 0;
fail:
	km_intern_free(r->base.cache_names);
	text_close(&r->base);
	return result;
}

/* --- starting --- */

/* Back to the first line of a buffer, nothing met. */
static int prepare(struct text_reader *r, size_t index, struct km_error *error)
{
	if (index >= r->buffers_count)
		return km_error_set(error, -EINVAL, "%s: there is no buffer %zu", km_source_name(r->lines.source),
				    index);
	km_lines_rewind(&r->lines);
	r->started = &r->buffers[index];
	r->started_bytes = strlen(r->started->name);
	memset(r->cpu_is_met, 0, KM_CPU_LIMIT);
	memset(r->name_counts, 0, sizeof(r->name_counts));
	memset(r->kind_counts, 0, sizeof(r->kind_counts));
	memset(r->mark_met, 0, sizeof(r->mark_met));
	memset(&r->stats, 0, sizeof(r->stats));
	r->first_skipped[0] = '\0';
	r->cpus_met = r->cpu_end = 0;
	r->last_time = 0;
	r->has_held = r->overwrote = r->has_entries = false;
	r->entries_count = r->entry_lines_count = 0;
	return 0;
}

static int text_start(struct km_reader *base, size_t index, struct km_error *error)
{
	struct text_reader *r = (struct text_reader *)base;
	int result = prepare(r, index, error);

	if (result)
		return result;
	if (r->withheld_count && !r->pointers_count && !r->only_counts)
		return km_error_set(
			error, -ENOTSUP,
			"%s: every pointer is \"(____ptrval____)\", so no free can be paired with its "
			"allocation; print real ones (echo 0 > /sys/kernel/tracing/options/hash-ptr, or boot "
			"with no_hash_pointers), or better record a trace.dat: trace-cmd record -e kmem",
			km_source_name(r->lines.source));
	r->pointers_count = r->odd_pointers_count = r->withheld_count = 0;
	return 0;
}

/* Lines have no index: read them all. */
static int text_time_range(struct km_reader *base, size_t index, uint64_t *ret_first, uint64_t *ret_last,
			   struct km_error *error)
{
	struct text_reader *r = (struct text_reader *)base;
	bool only_counts = r->only_counts, has_events;
	struct km_event event;
	const char *text;
	size_t bytes;
	int state;

	if (km_source_is_stream(r->lines.source))
		return km_source_refuse_stream(r->lines.source, error);
	state = prepare(r, index, error);
	if (state)
		return state;
	r->only_counts = true;
	while ((state = km_lines_next(&r->lines, &text, &bytes, error)) > 0) {
		if (state == KM_LINES_READ)
			read_line(r, text, bytes, &event);
	}
	r->only_counts = only_counts;
	has_events = r->stats.has_events;
	if (has_events) {
		*ret_first = r->stats.first_time;
		*ret_last = r->stats.last_time;
	}
	return state < 0 ? state : has_events;
}

/* --- what was met --- */

static const struct km_buffer_stats *text_stats(struct km_reader *base)
{
	struct text_reader *r = (struct text_reader *)base;
	struct km_buffer_stats *stats = &r->stats;

	stats->first_skipped = r->first_skipped[0] ? r->first_skipped : NULL;
	stats->cpus = NULL;
	stats->cpus_count = 0;
	free(r->losses_met);
	r->losses_met = calloc(r->cpus_met ? r->cpus_met : 1, sizeof(*r->losses_met));
	if (!r->losses_met)
		return stats;
	for (unsigned cpu = 0; cpu < r->cpu_end; cpu++) {
		if (!r->cpu_is_met[cpu])
			continue;
		r->losses_met[stats->cpus_count] = r->losses[cpu];
		/* The kernel's head says that nothing was overwritten. */
		r->losses_met[stats->cpus_count++].has_statistics = r->has_entries && !r->overwrote;
	}
	stats->cpus = r->losses_met;
	return stats;
}

static int compare_counts(const void *a, const void *b)
{
	const struct km_event_count *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add_count(struct km_event_count *counts, size_t *count, const char *name, uint64_t n)
{
	if (!n)
		return;
	snprintf(counts[*count].name, sizeof(counts[*count].name), "%s", name);
	counts[(*count)++].count = n;
}

static const struct km_event_count *text_event_counts(struct km_reader *base, size_t *ret_count)
{
	struct text_reader *r = (struct text_reader *)base;
	uint32_t names = km_intern_count(r->names);
	size_t count = 0;

	free(r->event_counts);
	r->event_counts = calloc((size_t)names + 1 + KM_EVENT_SLAB_KINDS, sizeof(*r->event_counts));
	*ret_count = 0;
	if (!r->event_counts)
		return NULL;
	for (unsigned kind = 0; kind < KM_EVENT_SLAB_KINDS; kind++)
		add_count(r->event_counts, &count, km_event_kind_name((enum km_event_kind)kind), r->kind_counts[kind]);
	for (uint32_t i = 0; i <= names; i++)
		add_count(r->event_counts, &count, i ? km_intern_get(r->names, i) : "(others)", r->name_counts[i]);
	qsort(r->event_counts, count, sizeof(*r->event_counts), compare_counts);
	*ret_count = count;
	return r->event_counts;
}

static const char *text_comm(struct km_reader *base, int32_t pid)
{
	struct text_reader *r = (struct text_reader *)base;
	uint64_t key = (uint64_t)(uint32_t)pid;
	uint32_t number;

	if (pid == 0)
		return "<idle>";
	number = km_tuples_find(&r->pids, &key);
	return number != KM_TUPLES_NONE && number < r->pid_room && r->pid_comms[number]
		       ? km_intern_get(r->comms, r->pid_comms[number])
		       : "<...>";
}

static int text_site_name(const struct km_reader *base, uint64_t call_site, struct km_symbol *ret_symbol)
{
	const struct text_reader *r = (const struct text_reader *)base;
	struct km_text_site site;
	const char *text;

	if (call_site <= SITE_BASE || call_site - SITE_BASE > km_intern_count(r->sites))
		return 0;
	text = km_intern_get(r->sites, (uint32_t)(call_site - SITE_BASE));
	if (!km_text_site_parse(text, strlen(text), &site) || !site.has_symbol)
		return 0;
	*ret_symbol = (struct km_symbol){ .name = site.name.p,
					  .name_bytes = site.name.bytes,
					  .module = site.module.bytes ? site.module.p : NULL,
					  .module_bytes = site.module.bytes,
					  .offset = site.offset };
	return 1;
}

/* None: what text knows of symbols is in its call sites. */
static struct km_symbols *text_symbols(struct km_reader *base, struct km_error *error)
{
	struct text_reader *r = (struct text_reader *)base;

	if (!r->symbols)
		r->symbols = km_symbols_new(NULL, 0, r->base.info.page_bytes);
	if (!r->symbols)
		km_error_set(error, -ENOMEM, "out of memory");
	return r->symbols;
}

const struct km_reader_ops km_reader_text = {
	.name = "text",
	.reads_streams = true,
	.bid = text_bid,
	.open = text_open,
	.close = text_close,
	.start = text_start,
	.read = text_read,
	.time_range = text_time_range,
	.stats = text_stats,
	.event_counts = text_event_counts,
	.comm = text_comm,
	.symbols = text_symbols,
	.site_name = text_site_name,
};
