/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The whole selection has a dense array of intervals. A row has only those
 * in which something of it changed, in between it holds what it held: most
 * call sites are busy for a short time, and thousands of them fit.
 */
#include "timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mend.h"

#define SPANS_LIMIT (1U << 19) /* of all rows: above it intervals are merged */

struct change_point {
	uint32_t index; /* of the interval */
	struct km_timeline_span span;
};

struct row {
	uint64_t bytes, count; /* live now */
	struct change_point *spans;
	uint32_t spans_count, spans_room;
};

/* What one event does. Rows are numbers from 1, 0: of no row. */
struct change {
	uint64_t time;
	uint64_t bytes, old_bytes;
	uint64_t weight; /* objects that one stands for */
	uint64_t from_time, lost_count;
	uint32_t row, old_row; /* of the object that is new and the one that goes */
	uint32_t cpu;
	bool is_alloc;      /* of the selection */
	bool is_tracked;    /* `bytes` are live from now on, if there is a row */
	bool is_overflowed; /* `bytes` are not tracked, if there is a row */
	bool is_matched, is_implied;
	bool is_lost;
	bool is_held; /* it may turn out to be the first of a pair: its row is not known */
};

struct km_timeline {
	struct km_timeline_options options;
	bool has_origin;
	uint64_t origin, end_time;
	uint64_t weight;
	unsigned shift;

	struct km_timeline_point *points;
	size_t at; /* the interval that time is in */
	uint64_t bytes, count;

	struct row *rows;
	uint32_t rows_room;
	uint64_t spans_count; /* of all rows */

	struct change *held; /* [held_start, held_end) */
	size_t held_start, held_end, held_room;
	uint64_t held_number; /* of the first one, counted from 1 */
	uint64_t *candidates; /* of each CPU: the number of its held allocation, 0: none */
	uint64_t *last_times; /* of each CPU: of its last event */
};

struct km_timeline *km_timeline_new(const struct km_timeline_options *options)
{
	unsigned cpus = options->cpu_limit ? options->cpu_limit : 1;
	struct km_timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->options = *options;
	t->options.cpu_limit = cpus;
	t->weight = 1;
	t->held_number = 1;
	t->points = calloc(options->points_limit, sizeof(*t->points));
	t->candidates = calloc(cpus, sizeof(*t->candidates));
	t->last_times = calloc(cpus, sizeof(*t->last_times));
	if (!t->points || !t->candidates || !t->last_times) {
		km_timeline_free(t);
		return NULL;
	}
	return t;
}

void km_timeline_free(struct km_timeline *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->rows_room; i++)
		free(t->rows[i].spans);
	free(t->rows);
	free(t->points);
	free(t->held);
	free(t->candidates);
	free(t->last_times);
	free(t);
}

/* --- intervals --- */

static void merge_spans(struct km_timeline_span *first, const struct km_timeline_span *second)
{
	if (second->lowest_bytes < first->lowest_bytes)
		first->lowest_bytes = second->lowest_bytes;
	if (second->peak_bytes > first->peak_bytes)
		first->peak_bytes = second->peak_bytes;
	if (second->lowest_count < first->lowest_count)
		first->lowest_count = second->lowest_count;
	if (second->peak_count > first->peak_count)
		first->peak_count = second->peak_count;
	first->live_bytes = second->live_bytes;
	first->live_count = second->live_count;
}

static void merge_points(struct km_timeline_point *first, const struct km_timeline_point *second)
{
	if (second->span.peak_bytes > first->span.peak_bytes)
		first->peak_time = second->peak_time;
	merge_spans(&first->span, &second->span);
	first->allocs_count += second->allocs_count;
	first->matched_frees_count += second->matched_frees_count;
	first->implied_frees_count += second->implied_frees_count;
	first->overflowed_count += second->overflowed_count;
	first->overflowed_bytes += second->overflowed_bytes;
	first->lost_count += second->lost_count;
	first->is_lost |= second->is_lost;
}

static void fold_row(struct km_timeline *t, struct row *row)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < row->spans_count; i++) {
		struct change_point span = row->spans[i];

		span.index /= 2;
		if (kept && row->spans[kept - 1].index == span.index)
			merge_spans(&row->spans[kept - 1].span, &span.span);
		else
			row->spans[kept++] = span;
	}
	t->spans_count -= row->spans_count - kept;
	row->spans_count = kept;
}

/* Merge pairs of intervals. */
static __attribute__((noinline)) void fold(struct km_timeline *t)
{
	for (size_t i = 0; i <= t->at / 2; i++) {
		struct km_timeline_point point = t->points[2 * i];

		if (2 * i + 1 <= t->at)
			merge_points(&point, &t->points[2 * i + 1]);
		t->points[i] = point;
	}
	t->at /= 2;
	t->shift++;
	for (uint32_t i = 0; i < t->rows_room; i++)
		fold_row(t, &t->rows[i]);
}

static struct km_timeline_span steady_span(uint64_t bytes, uint64_t count)
{
	return (struct km_timeline_span){ bytes, bytes, bytes, count, count, count };
}

static void open_point(struct km_timeline *t, size_t at)
{
	t->at = at;
	t->points[at] = (struct km_timeline_point){ .span = steady_span(t->bytes, t->count),
						    .peak_time = km_timeline_begin(t, at) };
}

static void set_origin(struct km_timeline *t)
{
	uint64_t from = t->options.selection ? t->options.selection->from_time : 0;

	t->has_origin = true;
	t->origin = from > t->options.start_time ? from : t->options.start_time;
	open_point(t, 0);
}

/* The interval of a moment. Time does not go back here. */
static struct km_timeline_point *point_at(struct km_timeline *t, uint64_t time)
{
	uint64_t since;

	if (!t->has_origin)
		set_origin(t);
	since = time > t->origin ? time - t->origin : 0;
	while (since >> t->shift >= t->options.points_limit)
		fold(t);
	while (since >> t->shift > t->at)
		open_point(t, t->at + 1);
	return &t->points[t->at];
}

static void set_span(struct km_timeline_span *span, uint64_t bytes, uint64_t count)
{
	if (bytes < span->lowest_bytes)
		span->lowest_bytes = bytes;
	if (bytes > span->peak_bytes)
		span->peak_bytes = bytes;
	if (count < span->lowest_count)
		span->lowest_count = count;
	if (count > span->peak_count)
		span->peak_count = count;
	span->live_bytes = bytes;
	span->live_count = count;
}

static void set_total(struct km_timeline *t, struct km_timeline_point *point, uint64_t time, uint64_t bytes,
		      uint64_t count)
{
	if (bytes > point->span.peak_bytes)
		point->peak_time = time;
	set_span(&point->span, bytes, count);
	t->bytes = bytes;
	t->count = count;
}

/* --- rows --- */

static __attribute__((noinline)) int grow_rows(struct km_timeline *t, uint32_t row)
{
	size_t wanted = t->rows_room ? t->rows_room : 64;
	struct row *larger;

	while (wanted <= row)
		wanted *= 2;
	larger = reallocarray(t->rows, wanted, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	memset(larger + t->rows_room, 0, (wanted - t->rows_room) * sizeof(*larger));
	t->rows = larger;
	t->rows_room = (uint32_t)wanted;
	return 0;
}

/* The row's span of the interval that time is in. NULL: no memory. */
static struct km_timeline_span *open_span(struct km_timeline *t, struct row *row)
{
	if (row->spans_count == row->spans_room) {
		uint32_t room = row->spans_room ? row->spans_room * 2 : 4;
		struct change_point *larger = reallocarray(row->spans, room, sizeof(*larger));

		if (!larger)
			return NULL;
		row->spans = larger;
		row->spans_room = room;
	}
	t->spans_count++;
	row->spans[row->spans_count++] =
		(struct change_point){ .index = (uint32_t)t->at, .span = steady_span(row->bytes, row->count) };
	return &row->spans[row->spans_count - 1].span;
}

static int set_row(struct km_timeline *t, uint32_t number, uint64_t bytes, uint64_t count)
{
	struct row *row = &t->rows[number - 1];
	struct km_timeline_span *span;

	if (row->spans_count && row->spans[row->spans_count - 1].index == t->at)
		span = &row->spans[row->spans_count - 1].span;
	else
		span = open_span(t, row);
	if (!span)
		return -ENOMEM;
	set_span(span, bytes, count);
	row->bytes = bytes;
	row->count = count;
	return 0;
}

/* --- changes, in the order of time --- */

static int apply_to_rows(struct km_timeline *t, const struct change *c, bool adds)
{
	if (c->old_row && !(adds && c->old_row == c->row)) {
		const struct row *old = &t->rows[c->old_row - 1];

		if (set_row(t, c->old_row, old->bytes - c->old_bytes * c->weight, old->count - c->weight))
			return -ENOMEM;
	}
	if (adds) {
		const struct row *row = &t->rows[c->row - 1];
		uint64_t bytes = row->bytes + c->bytes * c->weight, count = row->count + c->weight;

		if (c->old_row == c->row) {
			bytes -= c->old_bytes * c->weight;
			count -= c->weight;
		}
		return set_row(t, c->row, bytes, count);
	}
	return 0;
}

/* From the interval of from_time on, as far as it is still told apart. */
static void mark_lost(struct km_timeline *t, const struct change *c)
{
	uint64_t since = c->from_time > t->origin ? c->from_time - t->origin : 0;
	size_t from = since >> t->shift < t->at ? (size_t)(since >> t->shift) : t->at;

	for (size_t i = from; i <= t->at; i++)
		t->points[i].is_lost = true;
}

/* It comes before the selection begins, where nothing is selected. */
static bool is_before(struct km_timeline *t, const struct change *c)
{
	const struct km_selection *selection = t->options.selection;

	if (!t->has_origin && selection && selection->waits_for_from)
		return true;
	if (!t->has_origin)
		set_origin(t);
	return c->time < t->origin && c->is_lost;
}

static int apply(struct km_timeline *t, const struct change *c)
{
	struct km_timeline_point *point;
	bool adds = c->is_tracked && c->row;
	uint64_t bytes = t->bytes, count = t->count;

	if (is_before(t, c))
		return 0;
	point = point_at(t, c->time);
	point->allocs_count += c->is_alloc;
	point->matched_frees_count += c->is_matched ? c->weight : 0;
	point->implied_frees_count += c->is_implied ? c->weight : 0;
	point->lost_count += c->lost_count;
	if (c->is_overflowed && c->row) {
		point->overflowed_count++;
		point->overflowed_bytes += c->bytes;
	}
	if (c->is_lost)
		mark_lost(t, c);
	if (!adds && !c->old_row)
		return 0;
	if (c->old_row) {
		bytes -= c->old_bytes * c->weight;
		count -= c->weight;
	}
	if (adds) {
		bytes += c->bytes * c->weight;
		count += c->weight;
	}
	set_total(t, point, c->time, bytes, count);
	if (apply_to_rows(t, c, adds))
		return -ENOMEM;
	while (t->spans_count > SPANS_LIMIT && t->at)
		fold(t);
	return 0;
}

/* --- held changes --- */

/* Apply what waits for nothing any more. all: the rest too. */
static int release_held(struct km_timeline *t, bool all)
{
	while (t->held_start < t->held_end && (all || !t->held[t->held_start].is_held)) {
		struct change *c = &t->held[t->held_start];

		if (c->is_held)
			t->candidates[c->cpu] = 0;
		if (apply(t, c))
			return -ENOMEM;
		t->held_start++;
		t->held_number++;
	}
	if (t->held_start == t->held_end)
		t->held_start = t->held_end = 0;
	return 0;
}

static int hold(struct km_timeline *t, const struct change *c)
{
	if (t->held_end - t->held_start == KM_TIMELINE_HELD_LIMIT && release_held(t, true))
		return -ENOMEM;
	if (t->held_end == t->held_room && t->held_start) {
		memmove(t->held, t->held + t->held_start, (t->held_end - t->held_start) * sizeof(*t->held));
		t->held_end -= t->held_start;
		t->held_start = 0;
	}
	if (t->held_end == t->held_room) {
		size_t room = t->held_room ? t->held_room * 2 : 64;
		struct change *larger = reallocarray(t->held, room, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		t->held = larger;
		t->held_room = room;
	}
	if (c->is_held)
		t->candidates[c->cpu] = t->held_number + (t->held_end - t->held_start);
	t->held[t->held_end++] = *c;
	return 0;
}

static int add_change(struct km_timeline *t, const struct change *c)
{
	if (t->held_start == t->held_end && !c->is_held)
		return apply(t, c);
	return hold(t, c);
}

/* --- events --- */

/* The number of a key's row; 0 if it is not selected. Returns 0 or -ENOMEM. */
static int row_of(struct km_timeline *t, const struct km_aggregate *aggregate, uint32_t key, uint32_t *ret_row)
{
	uint32_t row;

	*ret_row = 0;
	if (!km_key_is_selected(key))
		return 0;
	row = t->options.axis == KM_AXIS_GROUP ? km_aggregate_key_group(aggregate, key)
					       : km_aggregate_key_site(aggregate, key);
	if (row >= t->rows_room && grow_rows(t, row))
		return -ENOMEM;
	*ret_row = row + 1;
	return 0;
}

/* The CPU's held allocation, if it still is; what is known of it now decides. */
static struct change *candidate_of(struct km_timeline *t, unsigned cpu)
{
	uint64_t number = t->candidates[cpu];

	t->candidates[cpu] = 0;
	return number ? &t->held[t->held_start + (size_t)(number - t->held_number)] : NULL;
}

/* The second event of a pair. */
static int account_doubled(struct km_timeline *t, const struct km_aggregate *aggregate, uint32_t key,
			   const struct km_outcome *outcome, struct change *first, struct change *c)
{
	const struct km_object *object = &outcome->object;

	if (row_of(t, aggregate, key, &c->row))
		return -ENOMEM;
	c->is_alloc = c->row != 0;
	if (first) {
		first->row = c->row;
		return 0;
	}
	/* It waited too long, and counts where it was until now. */
	if (outcome->first_overflowed || outcome->first_sampled_out || outcome->first_purged)
		return 0;
	c->is_tracked = true;
	c->bytes = c->old_bytes = object->bytes_alloc;
	return row_of(t, aggregate, object->key, &c->old_row);
}

/* Whether the next slab event of its CPU may tell it again. */
static bool may_be_first(const struct km_event *e, const struct km_outcome *outcome)
{
	return km_event_is_kmalloc(e) && e->bytes_req > KM_REPLAY_DOUBLED_OVER_BYTES &&
	       (outcome->kind == KM_OUTCOME_TRACKED || outcome->kind == KM_OUTCOME_OVERFLOWED);
}

static int account_alloc(struct km_timeline *t, const struct km_aggregate *aggregate, const struct km_event *e,
			 uint32_t key, const struct km_outcome *outcome, struct change *c)
{
	int r = row_of(t, aggregate, key, &c->row);

	c->is_alloc = c->row != 0;
	c->bytes = e->bytes_alloc;
	c->is_tracked = outcome->kind == KM_OUTCOME_TRACKED;
	c->is_overflowed = outcome->kind == KM_OUTCOME_OVERFLOWED;
	c->is_held = may_be_first(e, outcome);
	if (r || !outcome->implied_free)
		return r;
	r = row_of(t, aggregate, outcome->object.key, &c->old_row);
	c->old_bytes = outcome->object.bytes_alloc;
	c->is_matched = c->old_row && outcome->mend == KM_MEND_LATE_ALLOC;
	c->is_implied = c->old_row && outcome->mend != KM_MEND_LATE_ALLOC;
	return r;
}

/* The young object's free was the old one's, which had counted as implied when the young one came. */
static void mend_late_free(struct km_timeline *t, const struct km_object *young)
{
	uint64_t since = young->time > t->origin ? young->time - t->origin : 0;
	size_t at = since >> t->shift < t->at ? (size_t)(since >> t->shift) : t->at;

	while (at && !t->points[at].implied_frees_count)
		at--;
	t->points[at].implied_frees_count -=
		t->points[at].implied_frees_count < t->weight ? t->points[at].implied_frees_count : t->weight;
}

static int account_free(struct km_timeline *t, const struct km_aggregate *aggregate, const struct km_outcome *outcome,
			struct change *c)
{
	uint32_t row;

	if (outcome->kind != KM_OUTCOME_MATCHED)
		return 0;
	if (row_of(t, aggregate, outcome->object.key, &row))
		return -ENOMEM;
	c->is_matched = row != 0;
	if (outcome->mend == KM_MEND_NONE) {
		c->old_row = row;
		c->old_bytes = outcome->object.bytes_alloc;
		return 0;
	}
	if (row && release_held(t, true))
		return -ENOMEM;
	if (row)
		mend_late_free(t, &outcome->object);
	return 0;
}

static int forget_live(struct km_timeline *t, uint64_t time)
{
	struct km_timeline_point *point;

	if (release_held(t, true))
		return -ENOMEM;
	point = point_at(t, time);
	set_total(t, point, time, 0, 0);
	for (uint32_t i = 0; i < t->rows_room; i++) {
		if (t->rows[i].count && set_row(t, i + 1, 0, 0))
			return -ENOMEM;
	}
	return 0;
}

static int account_loss(struct km_timeline *t, const struct km_event *e, const struct km_outcome *outcome,
			struct change *c)
{
	c->is_lost = true;
	c->from_time = t->last_times[e->cpu];
	c->lost_count = e->bytes_req;
	if (outcome->kind == KM_OUTCOME_RESET && forget_live(t, e->time))
		return -ENOMEM;
	return add_change(t, c);
}

static int account_slab(struct km_timeline *t, const struct km_aggregate *aggregate, const struct km_event *e,
			uint32_t key, const struct km_outcome *outcome, struct change *c)
{
	struct change *first = t->candidates[e->cpu] ? candidate_of(t, e->cpu) : NULL;
	int r = 0;

	if (outcome->kind == KM_OUTCOME_DOUBLED)
		r = account_doubled(t, aggregate, key, outcome, first, c);
	if (first) {
		first->is_held = false;
		r = r ? r : release_held(t, false);
	}
	if (r)
		return r;
	if (km_event_is_free(e))
		r = account_free(t, aggregate, outcome, c);
	else if (outcome->kind != KM_OUTCOME_DOUBLED)
		r = account_alloc(t, aggregate, e, key, outcome, c);
	return r ? r : add_change(t, c);
}

int km_timeline_account(struct km_timeline *t, const struct km_aggregate *aggregate, const struct km_event *events,
			const uint32_t *keys, const struct km_outcome *outcomes, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && !r; i++) {
		const struct km_event *e = &events[i];
		struct change c = { .time = e->time, .weight = t->weight, .cpu = e->cpu };

		if (km_event_is_slab(e))
			r = account_slab(t, aggregate, e, keys[i], &outcomes[i], &c);
		else if (e->kind == KM_EVENT_LOST)
			r = account_loss(t, e, &outcomes[i], &c);
		t->last_times[e->cpu] = e->time;
	}
	return r;
}

/* --- halving and the end --- */

/* What the table holds, by row: rows' numbers from `live`, two values each. */
static int count_table(struct km_timeline *t, const struct km_aggregate *aggregate, const struct km_replay_hash *table,
		       uint64_t *live)
{
	for (uint64_t i = 0; i < table->slots_count; i++) {
		struct km_object object;
		uint32_t row;

		if (!table->slots[i].ptr || !km_key_is_selected(table->slots[i].key))
			continue;
		km_slot_unpack(&table->slots[i], &object);
		/* Its row is known: no room is made here. */
		if (row_of(t, aggregate, object.key, &row))
			return -ENOMEM;
		live[2 * (row - 1)] += object.bytes_alloc * t->weight;
		live[2 * (row - 1) + 1] += t->weight;
	}
	return 0;
}

int km_timeline_halve(struct km_timeline *t, const struct km_aggregate *aggregate, const struct km_replay_hash *table,
		      uint64_t time)
{
	uint64_t bytes = 0, count = 0, *live;
	struct km_timeline_point *point;
	int r = release_held(t, true);

	if (r)
		return r;
	t->weight = UINT64_C(1) << table->k;
	live = calloc(t->rows_room ? t->rows_room : 1, 2 * sizeof(*live));
	if (!live)
		return -ENOMEM;
	point = point_at(t, time);
	r = count_table(t, aggregate, table, live);
	for (uint32_t i = 0; i < t->rows_room && !r; i++) {
		bytes += live[2 * i];
		count += live[2 * i + 1];
		if (t->rows[i].count || live[2 * i + 1])
			r = set_row(t, i + 1, live[2 * i], live[2 * i + 1]);
	}
	set_total(t, point, time, bytes, count);
	free(live);
	return r;
}

int km_timeline_finish(struct km_timeline *t, uint64_t end_time)
{
	if (release_held(t, true))
		return -ENOMEM;
	point_at(t, end_time);
	t->end_time = end_time > t->origin ? end_time : t->origin;
	return 0;
}

/* --- results --- */

const struct km_timeline_point *km_timeline_points(const struct km_timeline *t, size_t *ret_count)
{
	*ret_count = t->at + 1;
	return t->points;
}

uint64_t km_timeline_begin(const struct km_timeline *t, size_t point)
{
	return t->origin + ((uint64_t)point << t->shift);
}

uint64_t km_timeline_end(const struct km_timeline *t, size_t point)
{
	return point == t->at ? t->end_time : km_timeline_begin(t, point + 1);
}

void km_timeline_row(const struct km_timeline *t, size_t number, struct km_timeline_span *spans)
{
	const struct row *row = number < t->rows_room ? &t->rows[number] : NULL;
	struct km_timeline_span last = { 0 };
	uint32_t next = 0;

	for (size_t i = 0; i <= t->at; i++) {
		if (row && next < row->spans_count && row->spans[next].index == i)
			last = row->spans[next++].span;
		else
			last = steady_span(last.live_bytes, last.live_count);
		spans[i] = last;
	}
}
