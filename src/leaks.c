/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gathering. Births are counted in buckets of each site's own life, so that
 * a driver that was active for half a second of an hour is seen as finely as
 * one that ran all the time; live bytes and a cache's births in buckets from
 * time 0 on, so that those of different sites compare. A bucket is 2^k units
 * wide: doubling merges pairs without a remainder, and a look-up is a shift.
 */
#include "leaks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "leaks_private.h"
#include "mend.h"

struct km_leaks *km_leaks_new(const struct km_reader *reader, uint64_t start_time, unsigned cpu_limit)
{
	struct km_leaks *leaks = calloc(1, sizeof(*leaks));

	if (!leaks)
		return NULL;
	leaks->reader = reader;
	leaks->start_time = start_time;
	leaks->cpu_words = (cpu_limit + 63) / 64;
	leaks->reclaimable_flag = km_reader_gfp(reader)->reclaimable;
	return leaks;
}

static void release_survivors(struct survivors *s)
{
	if (!s)
		return;
	km_histogram_release(&s->ages);
	free(s->cpus);
	free(s);
}

void km_leaks_free(struct km_leaks *leaks)
{
	if (!leaks)
		return;
	for (uint32_t i = 0; i < leaks->sites_room; i++) {
		km_histogram_release(&leaks->sites[i].reuse_times);
		release_survivors(leaks->sites[i].survivors);
	}
	free(leaks->sites);
	free(leaks->keys);
	free(leaks->rows);
	free(leaks->row_of_site);
	free(leaks);
}

/* --- buckets --- */

/* Room for array[index], new elements zero. */
static __attribute__((noinline)) int grow(void *array, uint32_t *room, uint32_t index, size_t bytes)
{
	void **at = array;
	size_t wanted = *room ? *room : 64;
	char *larger;

	while (wanted <= index)
		wanted *= 2;
	larger = reallocarray(*at, wanted, bytes);
	if (!larger)
		return -ENOMEM;
	memset(larger + (size_t)*room * bytes, 0, (wanted - *room) * bytes);
	*at = larger;
	*room = (uint32_t)wanted;
	return 0;
}

static __attribute__((noinline)) void fold_counts(uint32_t *counts)
{
	for (unsigned i = 0; i < KM_LEAKS_BUCKETS / 2; i++)
		counts[i] = counts[2 * i] + counts[2 * i + 1];
	memset(counts + KM_LEAKS_BUCKETS / 2, 0, KM_LEAKS_BUCKETS / 2 * sizeof(*counts));
}

static __attribute__((noinline)) void fold_bytes(int64_t *bytes)
{
	for (unsigned i = 0; i < KM_LEAKS_BUCKETS / 2; i++)
		bytes[i] = bytes[2 * i] + bytes[2 * i + 1];
	memset(bytes + KM_LEAKS_BUCKETS / 2, 0, KM_LEAKS_BUCKETS / 2 * sizeof(*bytes));
}

static inline void count_birth(uint32_t *births, uint64_t origin, uint8_t *shift, uint64_t time)
{
	uint64_t since = time > origin ? time - origin : 0;

	for (; since >> *shift >= KM_LEAKS_BUCKETS; ++*shift)
		fold_counts(births);
	births[since >> *shift]++;
}

static inline void change_live(struct km_leaks *leaks, struct leak_site *site, uint64_t time, int64_t bytes)
{
	uint64_t since = time > leaks->start_time ? time - leaks->start_time : 0;

	for (; since >> site->net_shift >= KM_LEAKS_BUCKETS; site->net_shift++)
		fold_bytes(site->net_bytes);
	site->net_bytes[since >> site->net_shift] += bytes;
}

/* --- events --- */

/* Of a key that is met for the first time: room, and its site. */
static __attribute__((noinline)) int learn_key(struct km_leaks *leaks, const struct km_aggregate *aggregate,
					       uint32_t key)
{
	uint32_t site = km_aggregate_key_site(aggregate, key);

	if (site >= leaks->sites_room && grow(&leaks->sites, &leaks->sites_room, site, sizeof(*leaks->sites)))
		return -ENOMEM;
	if (key >= leaks->keys_room && grow(&leaks->keys, &leaks->keys_room, key, sizeof(*leaks->keys)))
		return -ENOMEM;
	leaks->keys[key].site = site + 1;
	return 0;
}

static inline struct leak_site *site_of(struct km_leaks *leaks, const struct km_aggregate *aggregate, uint32_t key)
{
	if (__builtin_expect(key >= leaks->keys_room || !leaks->keys[key].site, 0) && learn_key(leaks, aggregate, key))
		return NULL;
	return &leaks->sites[leaks->keys[key].site - 1];
}

static inline int add_birth(struct km_leaks *leaks, const struct km_aggregate *aggregate, const struct km_event *e,
			    uint32_t key)
{
	struct leak_site *site = site_of(leaks, aggregate, key);

	if (!site)
		return -ENOMEM;
	if (__builtin_expect(!site->is_used, 0)) {
		site->is_used = true;
		site->origin = e->time;
	}
	count_birth(site->births, site->origin, &site->life_shift, e->time);
	count_birth(leaks->keys[key].births, leaks->start_time, &leaks->keys[key].shift, e->time);
	site->reclaimable_count += (e->gfp & leaks->reclaimable_flag) != 0;
	change_live(leaks, site, e->time, (int64_t)e->bytes_alloc);
	return 0;
}

static inline int add_death(struct km_leaks *leaks, const struct km_aggregate *aggregate,
			    const struct km_object *object, uint64_t time, bool is_reuse)
{
	struct leak_site *site;

	if (!km_key_is_selected(object->key))
		return 0;
	site = site_of(leaks, aggregate, object->key);
	if (!site)
		return -ENOMEM;
	change_live(leaks, site, time, -(int64_t)object->bytes_alloc);
	if (!is_reuse) {
		leaks->keys[object->key].matched_count++;
		return 0;
	}
	leaks->keys[object->key].implied_count++;
	return km_histogram_add(&site->reuse_times, time > object->time ? time - object->time : 0);
}

/* The object goes over to the second event's site, with the time of the first. */
static int move_birth(struct km_leaks *leaks, const struct km_aggregate *aggregate, const struct km_event *e,
		      uint32_t key, const struct km_outcome *outcome)
{
	const struct km_object *object = &outcome->object;

	if (outcome->first_overflowed || outcome->first_sampled_out || outcome->first_purged)
		return 0;
	if (km_key_is_selected(object->key)) {
		struct leak_site *site = site_of(leaks, aggregate, object->key);
		unsigned bucket;

		if (!site)
			return -ENOMEM;
		bucket = km_frame_bucket(site->origin, site->life_shift, object->time);
		if (site->births[bucket])
			site->births[bucket]--;
		change_live(leaks, site, e->time, -(int64_t)object->bytes_alloc);
	}
	return km_key_is_selected(key) ? add_birth(leaks, aggregate, e, key) : 0;
}

static void forget_live(struct km_leaks *leaks, uint64_t time)
{
	for (uint32_t i = 0; i < leaks->sites_room; i++) {
		int64_t live = 0;

		for (unsigned k = 0; k < KM_LEAKS_BUCKETS; k++)
			live += leaks->sites[i].net_bytes[k];
		if (live)
			change_live(leaks, &leaks->sites[i], time, -live);
	}
}

int km_leaks_account(struct km_leaks *leaks, const struct km_aggregate *aggregate, const struct km_event *events,
		     const uint32_t *keys, const struct km_outcome *outcomes, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && !r; i++) {
		const struct km_event *e = &events[i];
		const struct km_outcome *outcome = &outcomes[i];

		switch (outcome->kind) {
		case KM_OUTCOME_TRACKED:
			if (outcome->implied_free)
				r = add_death(leaks, aggregate, &outcome->object, e->time,
					      outcome->mend == KM_MEND_NONE);
			if (!r && km_key_is_selected(keys[i]))
				r = add_birth(leaks, aggregate, e, keys[i]);
			break;
		case KM_OUTCOME_MATCHED:
			/* A mended free is that of the object that the first free had taken for another. */
			if (outcome->mend == KM_MEND_NONE)
				r = add_death(leaks, aggregate, &outcome->object, e->time, false);
			break;
		case KM_OUTCOME_DOUBLED:
			r = move_birth(leaks, aggregate, e, keys[i], outcome);
			break;
		case KM_OUTCOME_RESET:
			forget_live(leaks, e->time);
			break;
		default:
			break;
		}
	}
	return r;
}

/* --- what survived --- */

static struct survivors *survivors_of(struct km_leaks *leaks, struct leak_site *site, const struct km_object *first)
{
	struct survivors *s = site->survivors;

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->cpus = calloc(leaks->cpu_words ? leaks->cpu_words : 1, sizeof(*s->cpus));
	if (!s->cpus) {
		free(s);
		return NULL;
	}
	s->oldest = s->newest = first->time;
	s->pid_min = s->pid_max = first->pid;
	site->survivors = s;
	return s;
}

static void note_old(struct km_leaks *leaks, struct leak_site *site, const struct km_object *o, uint64_t age)
{
	struct survivors *s = site->survivors;

	if (leaks->context.has_loss && o->time < leaks->context.loss_time) {
		s->before_loss_count++;
	} else if (age > site->old_age) {
		s->old_count++;
		s->old_bytes += o->bytes_alloc;
		s->old_by_life[km_frame_bucket(site->origin, site->life_shift, o->time)]++;
	}
}

static int add_survivor(struct km_leaks *leaks, struct leak_site *site, const struct km_object *o)
{
	uint64_t end = leaks->context.end_time, start = leaks->start_time;
	uint64_t age = end > o->time ? end - o->time : 0;
	uint64_t since = o->time > start ? o->time - start : 0;
	uint64_t window =
		(uint64_t)((unsigned __int128)since * KM_LEAKS_WINDOWS / ((unsigned __int128)(end - start) + 1));
	struct survivors *s = survivors_of(leaks, site, o);

	if (!s)
		return -ENOMEM;
	s->count++;
	s->bytes += o->bytes_alloc;
	s->oldest = o->time < s->oldest ? o->time : s->oldest;
	s->newest = o->time > s->newest ? o->time : s->newest;
	s->age_sum_high += __builtin_add_overflow(s->age_sum_low, age, &s->age_sum_low);
	s->pid_min = o->pid < s->pid_min ? o->pid : s->pid_min;
	s->pid_max = o->pid > s->pid_max ? o->pid : s->pid_max;
	if (o->cpu / 64 < leaks->cpu_words)
		s->cpus[o->cpu / 64] |= UINT64_C(1) << (o->cpu % 64);
	if (leaks->context.page_frees && km_page_frees_since(leaks->context.page_frees, o->ptr, o->time)) {
		s->page_freed_count++;
		leaks->keys[o->key].implied_count++;
		return 0;
	}
	s->by_life[km_frame_bucket(site->origin, site->life_shift, o->time)]++;
	s->windows[window < KM_LEAKS_WINDOWS ? window : KM_LEAKS_WINDOWS - 1]++;
	note_old(leaks, site, o, age);
	return km_histogram_add(&s->ages, age);
}

/* How old is old, of each site that may have survivors. */
static int find_old_ages(struct km_leaks *leaks)
{
	const struct km_aggregate *aggregate = leaks->context.aggregate;
	size_t count = km_aggregate_rows_count(aggregate, KM_AXIS_SITE);

	for (size_t i = 0; i < count && i < leaks->sites_room; i++) {
		struct km_row row;

		if (!leaks->sites[i].is_used)
			continue;
		if (km_aggregate_row(aggregate, KM_AXIS_SITE, i, true, &row))
			return -ENOMEM;
		leaks->sites[i].old_age =
			km_leaks_old_age(row.lifetimes.count ? km_histogram_quantile(&row.lifetimes, 0.99) : 0,
					 leaks->context.end_time - leaks->start_time);
		km_row_release(&row);
	}
	return 0;
}

int km_leaks_survey(struct km_leaks *leaks, const struct km_leaks_context *context)
{
	const struct km_replay_hash *table = context->table;

	leaks->context = *context;
	if (leaks->context.end_time < leaks->start_time)
		leaks->context.end_time = leaks->start_time;
	if (find_old_ages(leaks))
		return -ENOMEM;
	for (uint64_t i = 0; i < table->slots_count; i++) {
		struct leak_site *site;
		struct km_object object;

		if (!table->slots[i].ptr || !km_key_is_selected(table->slots[i].key))
			continue;
		km_slot_unpack(&table->slots[i], &object);
		site = site_of(leaks, context->aggregate, object.key);
		if (!site || add_survivor(leaks, site, &object))
			return -ENOMEM;
		leaks->keys[object.key].live_bytes += object.bytes_alloc;
	}
	return 0;
}

const struct km_leak *km_leaks_of_site(const struct km_leaks *leaks, size_t site_index)
{
	uint32_t row = site_index < leaks->sites_room && leaks->row_of_site ? leaks->row_of_site[site_index] : 0;

	return row ? &leaks->rows[row - 1] : NULL;
}

const struct km_leak *km_leaks_rows(const struct km_leaks *leaks, size_t *ret_count)
{
	*ret_count = leaks->rows_count;
	return leaks->rows;
}
