/* SPDX-License-Identifier: GPL-2.0-only */
#include "naive_count.h"

#include <stdlib.h>
#include <string.h>

/* Everything of one event's allocation: the whole, and one tally an axis. NULL: not selected. */
struct owner {
	struct naive_tally *tallies[1 + NAIVE_AXES];
};

struct counting {
	struct naive_count *result;
	const struct km_event *events;
	const struct naive_result *results;
	size_t count;
	const struct naive_labels *labels;
	size_t *labels_of[NAIVE_AXES]; /* of each event: index of its tally + 1, 0: not selected */
	size_t *owner_of;              /* of each event that allocated: whose the object is in the end */
	bool *is_live;                 /* of each event that allocated */
	uint64_t weight;               /* what an object stands for */
};

static void *must(void *pointer)
{
	if (!pointer)
		abort();
	return pointer;
}

const struct naive_tally *naive_count_find(const struct naive_count *count, enum km_axis axis, const char *label)
{
	for (size_t i = 0; i < count->tallies_count[axis]; i++) {
		if (!strcmp(count->tallies[axis][i].label, label))
			return &count->tallies[axis][i];
	}
	return NULL;
}

static size_t add_label(struct naive_count *r, enum km_axis axis, const char *label)
{
	const struct naive_tally *found = naive_count_find(r, axis, label);
	size_t n = r->tallies_count[axis];

	if (found)
		return (size_t)(found - r->tallies[axis]) + 1;
	r->tallies[axis] = must(realloc(r->tallies[axis], (n + 1) * sizeof(**r->tallies)));
	memset(&r->tallies[axis][n], 0, sizeof(**r->tallies));
	strcpy(r->tallies[axis][n].label, label);
	return ++r->tallies_count[axis];
}

/* The first pass. */
static void find_owners(struct counting *c)
{
	char label[NAIVE_LABEL_BYTES];

	for (size_t i = 0; i < c->count; i++) {
		const struct km_event *e = &c->events[i];

		c->owner_of[i] = i;
		if (c->results[i].kind == KM_OUTCOME_DOUBLED)
			c->owner_of[c->results[i].born] = i;
		if (!km_event_is_alloc(e) || (c->labels->is_selected && !c->labels->is_selected(c->labels->context, e)))
			continue;
		for (enum km_axis axis = 0; axis < NAIVE_AXES; axis++) {
			c->labels->label(c->labels->context, axis, e, label);
			c->labels_of[axis][i] = add_label(c->result, axis, label);
		}
	}
}

static struct owner owner(const struct counting *c, size_t event)
{
	struct owner o = { { NULL } };

	if (!c->labels_of[0][event])
		return o;
	o.tallies[0] = &c->result->total;
	for (unsigned axis = 0; axis < NAIVE_AXES; axis++)
		o.tallies[1 + axis] = &c->result->tallies[axis][c->labels_of[axis][event] - 1];
	return o;
}

/* How many tallies the owner has: all or none. */
static unsigned tallies_of(const struct owner *o)
{
	return o->tallies[0] ? 1 + NAIVE_AXES : 0;
}

static void note_peak(struct naive_count *r)
{
	r->total.sums.at_peak_bytes = r->total.sums.live_bytes;
	r->total.sums.at_peak_count = r->total.sums.live_count;
	for (unsigned axis = 0; axis < NAIVE_AXES; axis++) {
		for (size_t i = 0; i < r->tallies_count[axis]; i++) {
			struct km_sums *sums = &r->tallies[axis][i].sums;

			sums->at_peak_bytes = sums->live_bytes;
			sums->at_peak_count = sums->live_count;
		}
	}
}

static void add_live(struct counting *c, size_t born)
{
	struct owner o = owner(c, c->owner_of[born]);
	const struct km_event *e = &c->events[born];
	uint64_t bytes = c->weight * e->bytes_alloc;
	bool is_peak = o.tallies[0] && o.tallies[0]->sums.live_bytes + bytes > o.tallies[0]->peak_live_bytes;

	c->is_live[born] = true;
	for (unsigned i = 0; i < tallies_of(&o); i++) {
		struct naive_tally *t = o.tallies[i];

		t->kept.live_count++;
		t->kept.live_bytes += e->bytes_alloc;
		t->sums.live_count += c->weight;
		t->sums.live_bytes += bytes;
		t->sums.live_requested_bytes += c->weight * e->bytes_req;
		if (t->sums.live_bytes > t->peak_live_bytes) {
			t->peak_live_bytes = t->sums.live_bytes;
			t->peak_time = e->time;
		}
		if (t->sums.live_count > t->peak_live_count) {
			t->peak_live_count = t->sums.live_count;
			t->peak_count_time = e->time;
		}
	}
	if (is_peak)
		note_peak(c->result);
}

static void take_live(struct counting *c, size_t born)
{
	struct owner o = owner(c, c->owner_of[born]);

	c->is_live[born] = false;
	for (unsigned i = 0; i < tallies_of(&o); i++) {
		o.tallies[i]->kept.live_count--;
		o.tallies[i]->kept.live_bytes -= c->events[born].bytes_alloc;
		o.tallies[i]->sums.live_count -= c->weight;
		o.tallies[i]->sums.live_bytes -= c->weight * c->events[born].bytes_alloc;
		o.tallies[i]->sums.live_requested_bytes -= c->weight * c->events[born].bytes_req;
	}
}

static void halve_tally(struct naive_tally *t, uint64_t time)
{
	t->sums.live_count *= 2;
	t->sums.live_bytes *= 2;
	t->sums.live_requested_bytes *= 2;
	if (t->sums.live_bytes > t->peak_live_bytes) {
		t->peak_live_bytes = t->sums.live_bytes;
		t->peak_time = time;
	}
	if (t->sums.live_count > t->peak_live_count) {
		t->peak_live_count = t->sums.live_count;
		t->peak_count_time = time;
	}
}

static void count_halving(struct counting *c, const struct naive_halving *halving)
{
	struct naive_count *r = c->result;
	uint64_t time = c->events[halving->event].time;
	bool is_peak;

	for (size_t i = 0; i < halving->count; i++) {
		size_t born = halving->born[i];
		struct owner o = owner(c, c->owner_of[born]);

		take_live(c, born);
		for (unsigned k = 0; k < tallies_of(&o); k++) {
			o.tallies[k]->kept.purged_count++;
			o.tallies[k]->kept.purged_bytes += c->events[born].bytes_alloc;
		}
	}
	c->weight *= 2;
	is_peak = 2 * r->total.sums.live_bytes > r->total.peak_live_bytes;
	halve_tally(&r->total, time);
	for (unsigned axis = 0; axis < NAIVE_AXES; axis++) {
		for (size_t i = 0; i < r->tallies_count[axis]; i++)
			halve_tally(&r->tallies[axis][i], time);
	}
	if (is_peak)
		note_peak(r);
}

static void count_object(struct counting *c, size_t born, enum km_outcome_kind kind)
{
	struct owner o = owner(c, c->owner_of[born]);
	bool overflowed = kind == KM_OUTCOME_OVERFLOWED, out = kind == KM_OUTCOME_SAMPLED_OUT;

	for (unsigned i = 0; i < tallies_of(&o); i++) {
		struct km_sums *sums = &o.tallies[i]->sums;

		sums->total_allocated_bytes += c->events[born].bytes_alloc;
		sums->total_requested_bytes += c->events[born].bytes_req;
		sums->tracked_count += !overflowed && !out;
		o.tallies[i]->kept.out_count += out;
		o.tallies[i]->kept.out_bytes += out ? c->events[born].bytes_alloc : 0;
		sums->overflowed_count += overflowed;
		sums->overflowed_bytes += overflowed ? c->events[born].bytes_alloc : 0;
	}
	if (kind == KM_OUTCOME_TRACKED)
		add_live(c, born);
}

static void count_alloc(struct counting *c, size_t event)
{
	const struct naive_result *r = &c->results[event];
	struct owner told_by = owner(c, event);

	if (r->implied_free) {
		struct owner old = owner(c, c->owner_of[r->born]);

		for (unsigned i = 0; i < tallies_of(&old); i++) {
			old.tallies[i]->sums.implied_frees_count += c->weight;
			old.tallies[i]->kept.implied_count++;
		}
		take_live(c, r->born);
	}
	for (unsigned i = 0; i < tallies_of(&told_by); i++) {
		told_by.tallies[i]->sums.allocs_count++;
		told_by.tallies[i]->sums.failed_count += r->kind == KM_OUTCOME_FAILED;
		told_by.tallies[i]->sums.doubled_count += c->owner_of[event] != event;
	}
	if (r->kind == KM_OUTCOME_TRACKED || r->kind == KM_OUTCOME_OVERFLOWED || r->kind == KM_OUTCOME_SAMPLED_OUT)
		count_object(c, event, r->kind);
}

static struct naive_freer *freer_of(struct naive_count *r, uint64_t call_site)
{
	for (size_t i = 0; i < r->freers_count; i++) {
		if (r->freers[i].call_site == call_site)
			return &r->freers[i];
	}
	r->freers = must(realloc(r->freers, (r->freers_count + 1) * sizeof(*r->freers)));
	r->freers[r->freers_count] = (struct naive_freer){ .call_site = call_site };
	return &r->freers[r->freers_count++];
}

static void count_free(struct counting *c, size_t event)
{
	const struct naive_result *r = &c->results[event];
	const struct km_event *e = &c->events[event], *alloc;
	struct naive_freer *freer = freer_of(c->result, e->call_site);
	struct owner o;

	freer->matched_count += r->kind == KM_OUTCOME_MATCHED;
	freer->unmatched_count += r->kind == KM_OUTCOME_UNMATCHED;
	freer->null_count += r->kind == KM_OUTCOME_NULL;
	freer->sampled_out_count += r->kind == KM_OUTCOME_SAMPLED_OUT;
	if (r->kind != KM_OUTCOME_MATCHED)
		return;
	alloc = &c->events[r->born];
	o = owner(c, c->owner_of[r->born]);
	for (unsigned i = 0; i < tallies_of(&o); i++) {
		struct naive_tally *t = o.tallies[i];
		uint64_t lifetime = e->time - alloc->time;

		t->kept.matched_count++;
		t->sums.matched_frees_count += c->weight;
		t->sums.cross_cpu_frees_count += e->cpu != alloc->cpu ? c->weight : 0;
		if (!t->lifetimes_count || lifetime < t->lifetime_min)
			t->lifetime_min = lifetime;
		if (lifetime > t->lifetime_max)
			t->lifetime_max = lifetime;
		t->lifetimes_count += c->weight;
	}
	take_live(c, r->born);
}

/* forgets: --on-loss reset */
static void count_loss(struct counting *c, size_t event, bool forgets)
{
	for (size_t i = 0; i < event; i++) {
		struct owner o;

		if (!c->is_live[i])
			continue;
		o = owner(c, c->owner_of[i]);
		for (unsigned k = 0; k < tallies_of(&o); k++) {
			o.tallies[k]->sums.is_uncertain = true;
			o.tallies[k]->sums.reset_count += forgets ? c->weight : 0;
			o.tallies[k]->kept.reset_count += forgets;
		}
		if (forgets)
			take_live(c, i);
	}
}

static void note_survivors(struct counting *c)
{
	for (size_t i = 0; i < c->count; i++) {
		uint64_t time = c->events[i].time;
		struct owner o;

		if (!c->is_live[i])
			continue;
		o = owner(c, c->owner_of[i]);
		for (unsigned k = 0; k < tallies_of(&o); k++) {
			struct naive_tally *t = o.tallies[k];

			if (!t->has_survivors || time < t->oldest_time)
				t->oldest_time = time;
			if (!t->has_survivors || time > t->newest_time)
				t->newest_time = time;
			t->has_survivors = true;
		}
	}
}

struct naive_count *naive_count_new(const struct km_event *events, const struct naive_result *results, size_t count,
				    const struct naive_labels *labels, const struct naive_halving *halvings,
				    size_t halvings_count)
{
	struct counting c = { .events = events, .results = results, .count = count, .labels = labels, .weight = 1 };
	size_t halved = 0;

	c.result = must(calloc(1, sizeof(*c.result)));
	c.owner_of = must(calloc(count + 1, sizeof(*c.owner_of)));
	c.is_live = must(calloc(count + 1, sizeof(*c.is_live)));
	for (unsigned axis = 0; axis < NAIVE_AXES; axis++)
		c.labels_of[axis] = must(calloc(count + 1, sizeof(**c.labels_of)));
	find_owners(&c);
	for (size_t i = 0; i < count; i++) {
		for (; halved < halvings_count && halvings[halved].event == i; halved++)
			count_halving(&c, &halvings[halved]);
		if (km_event_is_alloc(&events[i]))
			count_alloc(&c, i);
		else if (km_event_is_free(&events[i]))
			count_free(&c, i);
		else if (events[i].kind == KM_EVENT_LOST)
			count_loss(&c, i, results[i].kind == KM_OUTCOME_RESET);
	}
	note_survivors(&c);
	free(c.owner_of);
	free(c.is_live);
	for (unsigned axis = 0; axis < NAIVE_AXES; axis++)
		free(c.labels_of[axis]);
	return c.result;
}

void naive_count_free(struct naive_count *count)
{
	if (!count)
		return;
	for (unsigned axis = 0; axis < NAIVE_AXES; axis++)
		free(count->tallies[axis]);
	free(count->freers);
	free(count);
}
