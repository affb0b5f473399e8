/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Candidates are kept in a direct-mapped table by address: one that is
 * displaced is one that is not mended. A candidate goes through two steps:
 *
 *   implied free        -> a free of it on another CPU in time -> awaits a free
 *   unmatched free      -> an allocation on another CPU in time -> awaits an allocation
 *
 * Any other event of its address ends it.
 */
#include "mend.h"

#include <errno.h>
#include <stdlib.h>

#define CANDIDATES 8192

enum step {
	STEP_NONE,
	STEP_IMPLIED,   /* an allocation replaced a live object */
	STEP_FREED,     /* and was freed soon, by another CPU: awaits a free */
	STEP_UNMATCHED, /* a free of nothing known */
	STEP_ALLOCATED, /* and an allocation soon, on another CPU: awaits an allocation */
};

struct candidate {
	uint64_t ptr;
	uint64_t time; /* of the first event of the pair */
	uint64_t free_time;
	uint64_t free_call_site;
	struct km_object old;   /* IMPLIED, FREED: the object that was replaced */
	struct km_object young; /* FREED: the object that took its place */
	uint32_t free_cache;
	uint16_t cpu; /* of the first event */
	uint16_t free_cpu;
	uint8_t step;
	bool free_is_cache; /* the free is a kmem_cache_free */
};

struct km_mend {
	struct km_mend_options options;
	uint64_t count;
	struct km_mend_note *notes; /* of the last run */
	size_t notes_count, notes_room;
	struct candidate candidates[CANDIDATES];
};

struct km_mend *km_mend_new(const struct km_mend_options *options)
{
	struct km_mend *mend = calloc(1, sizeof(*mend));

	if (mend)
		mend->options = *options;
	return mend;
}

void km_mend_free(struct km_mend *mend)
{
	if (!mend)
		return;
	free(mend->notes);
	free(mend);
}

const struct km_mend_note *km_mend_note(const struct km_mend *mend, const struct km_outcome *outcome)
{
	return &mend->notes[outcome->mend_note];
}

uint64_t km_mend_count(const struct km_mend *mend)
{
	return mend->count;
}

static struct candidate *candidate_of(struct km_mend *mend, uint64_t ptr)
{
	return &mend->candidates[((ptr ^ ptr >> 32) * UINT64_C(0x9e3779b97f4a7c15)) >> 51];
}

_Static_assert(CANDIDATES == 1 << 13, "candidate_of() takes the top 13 bits");

static bool in_time(const struct km_mend *mend, const struct candidate *c, const struct km_event *e, bool is_cache_free)
{
	uint64_t window = mend->options.window;

	if (is_cache_free && mend->options.cache_free_window > window)
		window = mend->options.cache_free_window;
	return c->cpu != e->cpu && e->time - c->time <= window;
}

/* There is room for one note an event. */
static void add_note(struct km_mend *mend, const struct candidate *c, const struct km_object *object,
		     enum km_mend_kind kind, struct km_outcome *o)
{
	o->mend = (uint8_t)kind;
	o->mend_note = (uint16_t)mend->notes_count;
	mend->notes[mend->notes_count++] = (struct km_mend_note){ .object = *object,
								  .free_time = c->free_time,
								  .free_call_site = c->free_call_site,
								  .free_cache = c->free_cache,
								  .free_cpu = c->free_cpu };
	mend->count++;
}

static void note_alloc(struct km_mend *mend, struct candidate *c, const struct km_event *e, struct km_outcome *o)
{
	bool is_same = c->step != STEP_NONE && c->ptr == e->ptr;

	if (is_same && c->step == STEP_ALLOCATED && o->kind == KM_OUTCOME_TRACKED && o->implied_free) {
		/* The free that matched nothing was that of the object which is replaced now. */
		add_note(mend, c, &o->object, KM_MEND_LATE_ALLOC, o);
		is_same = false;
	}
	if (is_same && c->step == STEP_UNMATCHED && o->kind == KM_OUTCOME_TRACKED && !o->implied_free &&
	    in_time(mend, c, e, c->free_is_cache)) {
		c->step = STEP_ALLOCATED;
		return;
	}
	if (o->kind == KM_OUTCOME_TRACKED && o->implied_free && o->mend == KM_MEND_NONE) {
		*c = (struct candidate){
			.ptr = e->ptr, .time = e->time, .old = o->object, .cpu = e->cpu, .step = STEP_IMPLIED
		};
		return;
	}
	if (c->ptr == e->ptr)
		c->step = STEP_NONE;
}

static void note_free(struct km_mend *mend, struct candidate *c, const struct km_event *e, struct km_outcome *o)
{
	bool is_same = c->step != STEP_NONE && c->ptr == e->ptr;
	bool is_cache_free = e->kind == KM_EVENT_CACHE_FREE;

	if (is_same && c->step == STEP_FREED && o->kind == KM_OUTCOME_UNMATCHED) {
		/* The free before was that of the old object; this one is that of the one that took its place. */
		o->kind = KM_OUTCOME_MATCHED;
		o->object = c->young;
		add_note(mend, c, &c->old, KM_MEND_LATE_FREE, o);
		c->step = STEP_NONE;
		return;
	}
	if (is_same && c->step == STEP_IMPLIED && o->kind == KM_OUTCOME_MATCHED && in_time(mend, c, e, is_cache_free)) {
		c->step = STEP_FREED;
		c->young = o->object;
		c->free_time = e->time;
		c->free_call_site = e->call_site;
		c->free_cache = e->cache;
		c->free_cpu = e->cpu;
		return;
	}
	if (o->kind == KM_OUTCOME_UNMATCHED) {
		*c = (struct candidate){ .ptr = e->ptr,
					 .time = e->time,
					 .free_time = e->time,
					 .free_call_site = e->call_site,
					 .free_cache = e->cache,
					 .cpu = e->cpu,
					 .free_cpu = e->cpu,
					 .step = STEP_UNMATCHED,
					 .free_is_cache = is_cache_free };
		return;
	}
	if (c->ptr == e->ptr)
		c->step = STEP_NONE;
}

int km_mend_run(struct km_mend *mend, const struct km_event *events, struct km_outcome *outcomes, size_t count)
{
	if (count > mend->notes_room) {
		struct km_mend_note *notes = reallocarray(mend->notes, count, sizeof(*notes));

		if (!notes)
			return -ENOMEM;
		mend->notes = notes;
		mend->notes_room = count;
	}
	mend->notes_count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct km_event *e = &events[i];

		if (!km_event_is_slab(e) || !e->ptr || e->ptr == KM_ZERO_SIZE_PTR)
			continue;
		if (km_event_is_alloc(e))
			note_alloc(mend, candidate_of(mend, e->ptr), e, &outcomes[i]);
		else
			note_free(mend, candidate_of(mend, e->ptr), e, &outcomes[i]);
	}
	return 0;
}
