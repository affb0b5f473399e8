/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counting. For every allocation the way from the event to its key is one
 * look-up in a direct-mapped cache of shapes; the slow way behind it asks
 * for the cache's node, the filter and the group.
 *
 * What each key held at the moment of the global peak is not copied at every
 * new peak: a stamp grows then, and a key whose stamp is older than the peak
 * still holds what it held at the peak, until it is about to change. Holes
 * work the same way.
 *
 * Functions on the way of every event take k, the number of halvings, or
 * whether the replay samples. They are inlined with 0 and false for a replay
 * that does not.
 */
#include "aggregate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate_private.h"

#define GROUP_NONE 0

static int out_of_memory(struct km_error *error)
{
	return km_error_set(error, -ENOMEM, "out of memory");
}

int km_aggregate_new(struct km_selection *selection, unsigned cpu_limit, struct km_aggregate **ret_aggregate,
		     struct km_error *error)
{
	struct km_aggregate *a = calloc(1, sizeof(*a));

	if (!a)
		return out_of_memory(error);
	a->selection = selection;
	a->is_dynamic = km_selection_is_dynamic(selection);
	a->stamp = 1;
	a->cpu_limit = cpu_limit ? cpu_limit : 1;
	km_tuples_init(&a->key_tuples, 3, KM_KEYS_LIMIT);
	km_tuples_init(&a->sites, 1, KM_SITES_LIMIT);
	km_tuples_init(&a->groups, selection->by.count ? selection->by.count : 1, KM_KEYS_LIMIT);
	km_tuples_init(&a->freer_sites, 1, KM_SITES_LIMIT);
	a->pending = calloc(a->cpu_limit, sizeof(*a->pending));
	a->shapes = calloc(SHAPES, sizeof(*a->shapes));
	if (!a->pending || !a->shapes) {
		km_aggregate_free(a);
		return out_of_memory(error);
	}
	*ret_aggregate = a;
	return 0;
}

void km_aggregate_free(struct km_aggregate *a)
{
	if (!a)
		return;
	for (uint32_t i = 1; i <= a->key_tuples.count && i < a->keys_room; i++)
		km_histogram_release(&a->keys[i].lifetimes);
	free(a->keys);
	free(a->kept);
	km_tuples_release(&a->key_tuples);
	km_tuples_release(&a->sites);
	km_tuples_release(&a->groups);
	km_tuples_release(&a->freer_sites);
	free(a->site_levels);
	free(a->cache_levels);
	free(a->group_levels);
	free(a->node_keys);
	free(a->node_has_implied);
	free(a->freers);
	free(a->unmatched_by_cache);
	free(a->pending);
	free(a->shapes);
	free(a->keys_by_site);
	free(a->site_starts);
	free(a->keys_by_cache);
	free(a->cache_starts);
	free(a->keys_by_group);
	free(a->group_starts);
	free(a->cache_row_of_root);
	free(a->cache_row_roots);
	free(a->cache_row_has_implied);
	free(a->cache_row_levels);
	free(a);
}

/* Room for index in the array whose pointer is at `array`; what is new is zeroed. */
static int grow(void *array, uint32_t *room, uint32_t index, size_t item)
{
	uint32_t wanted = *room ? *room : 64;
	void *old, *larger;

	if (index < *room)
		return 0;
	while (wanted <= index)
		wanted *= 2;
	memcpy(&old, array, sizeof(old));
	larger = reallocarray(old, wanted, item);
	if (!larger)
		return -ENOMEM;
	memset((char *)larger + *room * item, 0, (wanted - *room) * item);
	memcpy(array, &larger, sizeof(larger));
	*room = wanted;
	return 0;
}

/* --- levels --- */

/* count objects of `bytes` together. */
static inline void level_add(struct km_level *level, uint64_t count, uint64_t bytes, uint64_t time)
{
	level->live_count += count;
	level->live_bytes += bytes;
	if (level->live_bytes > level->peak_live_bytes) {
		level->peak_live_bytes = level->live_bytes;
		level->peak_time = time;
	}
	if (level->live_count > level->peak_live_count) {
		level->peak_live_count = level->live_count;
		level->peak_count_time = time;
	}
}

static inline void level_sub(struct km_level *level, uint64_t count, uint64_t bytes)
{
	level->live_count -= count;
	level->live_bytes -= bytes;
}

/*
 * Take back objects that were never this level's: what its peaks were before
 * them, or are without them. before NULL: that is not known.
 */
static void level_undo(struct km_level *level, const struct km_level *before, uint64_t count, uint64_t bytes)
{
	level_sub(level, count, bytes);
	if (!before)
		return;
	if (level->peak_live_bytes > before->peak_live_bytes) {
		level->peak_live_bytes -= bytes;
		if (level->peak_live_bytes <= before->peak_live_bytes) {
			level->peak_live_bytes = before->peak_live_bytes;
			level->peak_time = before->peak_time;
		}
	}
	if (level->peak_live_count > before->peak_live_count) {
		level->peak_live_count -= count;
		if (level->peak_live_count <= before->peak_live_count) {
			level->peak_live_count = before->peak_live_count;
			level->peak_count_time = before->peak_count_time;
		}
	}
}

/* What one key holds turned out to belong to another level. */
static void level_move(struct km_level *from, struct km_level *to, const struct key *key)
{
	km_level_bound_sum(to, from);
	if (from->live_count != key->sums.live_count || from->peak_live_count)
		from->peak_is_over = true;
	from->live_count -= key->sums.live_count;
	from->live_bytes -= key->sums.live_bytes;
	to->live_count += key->sums.live_count;
	to->live_bytes += key->sums.live_bytes;
	/* At least what either had, and what is there now. */
	if (from->peak_live_bytes > to->peak_live_bytes) {
		to->peak_live_bytes = from->peak_live_bytes;
		to->peak_time = from->peak_time;
	}
	if (from->peak_live_count > to->peak_live_count) {
		to->peak_live_count = from->peak_live_count;
		to->peak_count_time = from->peak_count_time;
	}
	if (to->live_bytes > to->peak_live_bytes)
		to->peak_live_bytes = to->live_bytes;
	if (to->live_count > to->peak_live_count)
		to->peak_live_count = to->live_count;
}

void km_aggregate_touch(struct km_aggregate *a, struct key *key)
{
	if (key->stamp < a->peak_stamp) {
		key->sums.at_peak_bytes = key->sums.live_bytes;
		key->sums.at_peak_count = key->sums.live_count;
	}
	if (key->stamp < a->hole_stamp && key->sums.live_count)
		key->sums.is_uncertain = true;
	key->stamp = a->stamp;
}

static inline void touch(struct km_aggregate *a, struct key *key)
{
	if (key->stamp != a->stamp)
		km_aggregate_touch(a, key);
}

static inline __attribute__((always_inline)) void live_add(struct km_aggregate *a, struct key *key, uint64_t req,
							   uint64_t bytes, uint64_t time, unsigned k)
{
	uint64_t count = UINT64_C(1) << k;

	bytes <<= k;
	touch(a, key);
	key->sums.live_count += count;
	key->sums.live_bytes += bytes;
	key->sums.live_requested_bytes += req << k;
	level_add(&a->site_levels[key->site], count, bytes, time);
	level_add(&a->cache_levels[key->root], count, bytes, time);
	if (key->group)
		level_add(&a->group_levels[key->group], count, bytes, time);
	if (a->total.live_bytes + bytes > a->total.peak_live_bytes)
		a->peak_stamp = ++a->stamp;
	level_add(&a->total, count, bytes, time);
}

static inline __attribute__((always_inline)) void live_sub(struct km_aggregate *a, struct key *key, uint64_t req,
							   uint64_t bytes, unsigned k)
{
	uint64_t count = UINT64_C(1) << k;

	bytes <<= k;
	touch(a, key);
	key->sums.live_count -= count;
	key->sums.live_bytes -= bytes;
	key->sums.live_requested_bytes -= req << k;
	level_sub(&a->site_levels[key->site], count, bytes);
	level_sub(&a->cache_levels[key->root], count, bytes);
	if (key->group)
		level_sub(&a->group_levels[key->group], count, bytes);
	level_sub(&a->total, count, bytes);
}

/* --- keys --- */

/* The group of an allocation, GROUP_NONE without --by. Numbers run from 1. UINT32_MAX: no memory. */
static uint32_t group_of(struct km_aggregate *a, const uint64_t *values)
{
	bool is_new;
	uint32_t group = km_tuples_add(&a->groups, values, &is_new);

	if (group == KM_TUPLES_NONE ||
	    grow(&a->group_levels, &a->group_levels_room, group + 1, sizeof(struct km_level)))
		return UINT32_MAX;
	return group + 1;
}

/* The site's number; beyond the limit all share one. UINT32_MAX: no memory. */
static uint32_t site_of(struct km_aggregate *a, uint64_t call_site)
{
	bool is_new;
	uint32_t site;

	if (a->sites.count >= KM_SITES_LIMIT - 1 && km_tuples_find(&a->sites, &call_site) == KM_TUPLES_NONE)
		call_site = KM_SITE_OTHERS;
	site = km_tuples_add(&a->sites, &call_site, &is_new);
	if (site == KM_TUPLES_NONE || grow(&a->site_levels, &a->site_levels_room, site, sizeof(struct km_level)))
		return UINT32_MAX;
	return site;
}

/* Give the node's keys their new root. */
static int apply_moves(struct km_aggregate *a)
{
	struct km_caches *caches = a->selection->caches;
	uint32_t node, old_root;

	while (km_caches_next_move(caches, &node, &old_root)) {
		uint32_t root = km_caches_root(caches, node);

		if (node >= a->node_keys_room)
			continue;
		if (grow(&a->cache_levels, &a->cache_levels_room, km_caches_count(caches), sizeof(struct km_level)))
			return -ENOMEM;
		for (uint32_t k = a->node_keys[node]; k; k = a->keys[k].next_of_node) {
			struct key *key = &a->keys[k];
			uint64_t values[KM_BY_LIMIT];
			uint32_t group = key->group;

			level_move(&a->cache_levels[key->root], &a->cache_levels[root], key);
			key->root = root;
			for (unsigned i = 0; group && i < a->selection->by.count; i++) {
				if (a->selection->by.fields[i] != KM_BY_CACHE)
					continue;
				memcpy(values, km_tuples_get(&a->groups, group - 1), a->groups.width * sizeof(*values));
				values[i] = root;
				group = group_of(a, values);
				if (group == UINT32_MAX)
					return -ENOMEM;
				if (group != key->group)
					level_move(&a->group_levels[key->group], &a->group_levels[group], key);
				key->group = group;
			}
		}
	}
	return 0;
}

/* The key of an allocation that the filter takes. 0: no memory, or too many. */
static uint32_t key_of(struct km_aggregate *a, const struct km_event *event, uint32_t node)
{
	uint64_t values[KM_BY_LIMIT];
	uint32_t group = GROUP_NONE, site, number;
	uint64_t tuple[3];
	struct key *key;
	bool is_new;

	if (a->selection->by.count) {
		km_selection_group(a->selection, event, node, values);
		group = group_of(a, values);
	}
	site = site_of(a, event->call_site);
	if (site == UINT32_MAX || group == UINT32_MAX)
		return 0;
	tuple[0] = site;
	tuple[1] = node;
	tuple[2] = group;
	number = km_tuples_add(&a->key_tuples, tuple, &is_new);
	if (number == KM_TUPLES_NONE)
		return 0;
	if (!is_new)
		return number + 1;
	if (grow(&a->keys, &a->keys_room, number + 1, sizeof(*a->keys)) ||
	    (a->samples && grow(&a->kept, &a->kept_room, number + 1, sizeof(*a->kept))) ||
	    grow(&a->node_keys, &a->node_keys_room, node, sizeof(*a->node_keys)) ||
	    grow(&a->cache_levels, &a->cache_levels_room, km_caches_count(a->selection->caches),
		 sizeof(struct km_level)))
		return 0;
	key = &a->keys[number + 1];
	key->site = site;
	key->node = node;
	key->root = km_caches_root(a->selection->caches, node);
	key->group = group;
	key->wants_name = km_caches_wants_name(a->selection->caches, node);
	key->stamp = a->stamp;
	key->next_of_node = a->node_keys[node];
	a->node_keys[node] = number + 1;
	return number + 1;
}

static struct shape *shape_of(struct km_aggregate *a, const struct km_event *e)
{
	uint64_t hash = e->call_site * UINT64_C(0x9e3779b97f4a7c15);

	hash = (hash ^ (e->bytes_req << 32 | e->gfp)) * UINT64_C(0xd6e8feb86659fd93);
	hash = (hash ^ (e->bytes_alloc << 20 ^ e->cache)) * UINT64_C(0x9e3779b97f4a7c15);
	return &a->shapes[hash >> 52];
}

_Static_assert(SHAPES == 1 << 12, "shape_of() takes the top 12 bits");

static __attribute__((noinline)) int learn_shape(struct km_aggregate *a, struct shape *shape, const struct km_event *e,
						 struct km_error *error)
{
	uint32_t node = km_caches_of(a->selection->caches, e);

	if (node == KM_CACHES_NONE || apply_moves(a))
		return km_error_set(error, -ENOMEM, "out of memory, or more than %u kinds of objects", KM_CACHES_LIMIT);
	*shape = (struct shape){ .call_site = e->call_site,
				 .bytes_req = e->bytes_req,
				 .bytes_alloc = e->bytes_alloc,
				 .gfp = e->gfp,
				 .cache = e->cache,
				 .node = node,
				 .kind = e->kind + 1U,
				 .is_failed = !e->ptr };
	shape->is_taken = km_selection_takes_shape(a->selection, e, node);
	if (!shape->is_taken || a->is_dynamic)
		return 0;
	shape->key = key_of(a, e, node);
	if (!shape->key) {
		shape->kind = 0;
		return km_error_set(error, -ENOSPC, "out of memory, or more than %u kinds of allocations to tell apart",
				    KM_KEYS_LIMIT);
	}
	return 0;
}

int km_aggregate_keys(struct km_aggregate *a, const struct km_event *events, size_t count, uint32_t *keys,
		      struct km_error *error)
{
	for (size_t i = 0; i < count; i++) {
		const struct km_event *e = &events[i];
		struct shape *shape;

		keys[i] = 0;
		if (!km_event_is_alloc(e) || a->is_finished)
			continue;
		shape = shape_of(a, e);
		if (__builtin_expect(shape->call_site != e->call_site || shape->bytes_req != e->bytes_req ||
					     shape->bytes_alloc != e->bytes_alloc || shape->gfp != e->gfp ||
					     shape->cache != e->cache || shape->kind != e->kind + 1U ||
					     shape->is_failed != !e->ptr,
				     0)) {
			int r = learn_shape(a, shape, e, error);

			if (r)
				return r;
		}
		if (!a->is_dynamic) {
			keys[i] = shape->is_taken ? shape->key : KM_KEY_LEFT_OUT | shape->node;
		} else if (shape->is_taken && km_selection_takes_event(a->selection, e)) {
			keys[i] = key_of(a, e, shape->node);
			if (!keys[i])
				return km_error_set(error, -ENOSPC,
						    "out of memory, or more than %u kinds of allocations to tell apart",
						    KM_KEYS_LIMIT);
		} else {
			keys[i] = KM_KEY_LEFT_OUT | shape->node;
		}
	}
	return 0;
}

/* --- outcomes --- */

/* NULL for a key that is not selected. */
static inline struct key *key_at(struct km_aggregate *a, uint32_t key)
{
	return km_key_is_selected(key) ? &a->keys[key] : NULL;
}

/* An implied free of an object that the filter leaves out tells of its cache all the same. */
static __attribute__((noinline, cold)) int note_left_out(struct km_aggregate *a, uint32_t key)
{
	uint32_t node = key & ~KM_KEY_LEFT_OUT;

	if (!(key & KM_KEY_LEFT_OUT))
		return 0;
	if (grow(&a->node_has_implied, &a->node_has_implied_room, node, sizeof(bool)))
		return -ENOMEM;
	a->node_has_implied[node] = true;
	return 0;
}

/* The key's, of a replay that samples. */
static inline struct km_kept *kept_of(struct km_aggregate *a, const struct key *key)
{
	return &a->kept[key - a->keys];
}

/* What became of an object when it was allocated, and by halving since. */
enum fate { FATE_TRACKED, FATE_OVERFLOWED, FATE_SAMPLED_OUT, FATE_PURGED };

/* sign -1 takes it back. */
static inline void count_object(struct km_aggregate *a, struct key *key, uint64_t req, uint64_t bytes, enum fate fate,
				int64_t sign)
{
	struct km_sums *sums = &key->sums;

	switch (fate) {
	case FATE_OVERFLOWED:
		sums->overflowed_count += (uint64_t)sign;
		sums->overflowed_bytes += (uint64_t)sign * bytes;
		break;
	case FATE_SAMPLED_OUT:
		kept_of(a, key)->out_count += (uint64_t)sign;
		kept_of(a, key)->out_bytes += (uint64_t)sign * bytes;
		break;
	case FATE_PURGED:
		kept_of(a, key)->purged_count += (uint64_t)sign;
		kept_of(a, key)->purged_bytes += (uint64_t)sign * bytes;
		sums->tracked_count += (uint64_t)sign;
		break;
	case FATE_TRACKED:
		sums->tracked_count += (uint64_t)sign;
		break;
	}
	sums->total_allocated_bytes += (uint64_t)sign * bytes;
	sums->total_requested_bytes += (uint64_t)sign * req;
}

static void note_pending(struct km_aggregate *a, const struct km_event *e, uint32_t key)
{
	struct pending *pending = &a->pending[e->cpu];
	struct key *k = &a->keys[key];

	touch(a, k);
	pending->is_stale = false;
	pending->stamp = a->stamp;
	pending->peak_stamp = a->peak_stamp;
	pending->at_peak_bytes = k->sums.at_peak_bytes;
	pending->at_peak_count = k->sums.at_peak_count;
	pending->site = a->site_levels[k->site];
	pending->cache = a->cache_levels[k->root];
	pending->group = k->group ? a->group_levels[k->group] : (struct km_level){ 0 };
	pending->total = a->total;
}

/* The total's peak was that of an object which is not selected: back to the one before, if it falls so low. */
static void undo_total(struct km_aggregate *a, struct key *from, const struct pending *pending, uint64_t count,
		       uint64_t bytes)
{
	bool is_new_peak = a->peak_stamp > pending->stamp;

	level_undo(&a->total, pending->is_stale ? NULL : &pending->total, count, bytes);
	if (pending->is_stale)
		return;
	if (!is_new_peak || a->total.peak_live_bytes > pending->total.peak_live_bytes)
		return;
	/* What was not touched since still holds what it held then; `from` was noted. */
	a->peak_stamp = pending->peak_stamp;
	from->sums.at_peak_bytes = pending->at_peak_bytes;
	from->sums.at_peak_count = pending->at_peak_count;
}

/* An object that is not the first's but the second's. NULL: the filter leaves the second out. */
static void give_over(struct km_aggregate *a, struct key *from, struct key *to, const struct km_object *object,
		      const struct pending *pending)
{
	uint64_t count = UINT64_C(1) << a->k;
	uint64_t bytes = (uint64_t)object->bytes_alloc << a->k, req = (uint64_t)object->bytes_req << a->k;
	/* What the peak before a halving held of it is left where it was counted. */
	bool knows = !pending->is_stale;
	uint64_t was_at_peak = knows && a->peak_stamp > pending->stamp;

	from->sums.live_count -= count;
	from->sums.live_bytes -= bytes;
	from->sums.live_requested_bytes -= req;
	from->sums.at_peak_count -= was_at_peak * count;
	from->sums.at_peak_bytes -= was_at_peak * bytes;
	if (to) {
		to->sums.live_count += count;
		to->sums.live_bytes += bytes;
		to->sums.live_requested_bytes += req;
		to->sums.at_peak_count += was_at_peak * count;
		to->sums.at_peak_bytes += was_at_peak * bytes;
	}
	if (!to || from->site != to->site)
		level_undo(&a->site_levels[from->site], knows ? &pending->site : NULL, count, bytes);
	if (to && from->site != to->site)
		level_add(&a->site_levels[to->site], count, bytes, object->time);
	if (!to || from->root != to->root)
		level_undo(&a->cache_levels[from->root], knows ? &pending->cache : NULL, count, bytes);
	if (to && from->root != to->root)
		level_add(&a->cache_levels[to->root], count, bytes, object->time);
	if (from->group && (!to || from->group != to->group))
		level_undo(&a->group_levels[from->group], knows ? &pending->group : NULL, count, bytes);
	if (to && to->group && from->group != to->group)
		level_add(&a->group_levels[to->group], count, bytes, object->time);
	if (!to)
		undo_total(a, from, pending, count, bytes);
}

static enum fate fate_of_first(const struct km_outcome *outcome)
{
	return outcome->first_overflowed    ? FATE_OVERFLOWED
	       : outcome->first_sampled_out ? FATE_SAMPLED_OUT
	       : outcome->first_purged      ? FATE_PURGED
					    : FATE_TRACKED;
}

/* One allocation was told twice: it is the second's, from the first's time on. */
static __attribute__((noinline, cold)) void account_doubled(struct km_aggregate *a, const struct km_event *e,
							    uint32_t key, const struct km_outcome *outcome)
{
	const struct km_object *object = &outcome->object;
	struct key *from = key_at(a, object->key);
	struct key *to = key_at(a, key);
	uint64_t bytes = object->bytes_alloc, req = object->bytes_req;
	enum fate fate = fate_of_first(outcome);

	if (from) {
		touch(a, from);
		from->sums.doubled_count++;
		count_object(a, from, req, bytes, fate, -1);
	}
	if (to) {
		touch(a, to);
		to->sums.allocs_count++;
		count_object(a, to, req, bytes, fate, 1);
	}
	if (fate != FATE_TRACKED || from == to)
		return;
	if (from) /* noted by its CPU, which has told nothing else since */
		give_over(a, from, to, object, &a->pending[e->cpu]);
	else
		live_add(a, to, req, bytes, object->time, a->k); /* the filter left out the first */
}

static struct km_freer *freer_of(struct km_aggregate *a, uint64_t call_site)
{
	struct freer_slot *slot = &a->freer_slots[(call_site * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
	uint32_t freer;
	bool is_new;

	if (slot->freer && slot->call_site == call_site)
		return &a->freers[slot->freer - 1];
	if (a->freer_sites.count >= KM_SITES_LIMIT - 1 && km_tuples_find(&a->freer_sites, &call_site) == KM_TUPLES_NONE)
		call_site = KM_SITE_OTHERS;
	freer = km_tuples_add(&a->freer_sites, &call_site, &is_new);
	if (freer == KM_TUPLES_NONE || grow(&a->freers, &a->freers_room, freer, sizeof(*a->freers)))
		return NULL;
	a->freers[freer].call_site = call_site;
	slot->call_site = call_site;
	slot->freer = freer + 1;
	return &a->freers[freer];
}

_Static_assert(FREER_SLOTS == 1 << 10, "freer_of() takes the top 10 bits");

/* A free of an object that the filter leaves out names its cache all the same. */
static __attribute__((noinline)) int learn_left_out(struct km_aggregate *a, uint32_t key, uint32_t cache)
{
	uint32_t node = key & ~KM_KEY_LEFT_OUT;

	if (!(key & KM_KEY_LEFT_OUT) || cache == KM_CACHE_NONE || !km_caches_wants_name(a->selection->caches, node))
		return 0;
	km_caches_learn(a->selection->caches, node, cache);
	return apply_moves(a);
}

/* The object of a key was freed by an event that names its cache, or none. */
static inline int learn_name(struct km_aggregate *a, const struct key *key, uint32_t cache)
{
	if (!key->wants_name || cache == KM_CACHE_NONE)
		return 0;
	km_caches_learn(a->selection->caches, key->node, cache);
	return apply_moves(a);
}

/* Take back what may have been counted before a halving, when each was less. */
static void take_back(uint64_t *sum, uint64_t count)
{
	*sum -= *sum < count ? *sum : count;
}

/*
 * A free that matched nothing was that of the object which an allocation
 * replaces now: it was freed, if only later than it seemed.
 */
static __attribute__((noinline, cold)) int mend_late_alloc(struct km_aggregate *a, const struct km_mend_note *note)
{
	struct km_freer *freer = freer_of(a, note->free_call_site);
	uint64_t count = UINT64_C(1) << a->k;
	struct key *key;

	if (!freer)
		return -ENOMEM;
	freer->unmatched_count--;
	freer->matched_count++;
	if (note->free_cache != KM_CACHE_NONE)
		a->unmatched_by_cache[note->free_cache]--;
	a->replayed.unmatched_frees_count--;
	take_back(&a->replayed.unmatched_frees_estimate, count);
	a->replayed.matched_frees_count++;
	if (a->is_finished)
		return 0;
	key = key_at(a, note->object.key);
	if (!key)
		return learn_left_out(a, note->object.key, note->free_cache);
	if (learn_name(a, key, note->free_cache))
		return -ENOMEM;
	if (a->samples)
		kept_of(a, key)->matched_count++;
	key->sums.matched_frees_count += count;
	key->sums.cross_cpu_frees_count += note->free_cpu != note->object.cpu ? count : 0;
	live_sub(a, key, note->object.bytes_req, note->object.bytes_alloc, a->k);
	return km_histogram_add_times(&key->lifetimes, 0, count);
}

/*
 * The free that was taken for the young object's was the old one's, which
 * had been taken as freed without an event; the young one is freed now.
 */
static __attribute__((noinline, cold)) int mend_late_free(struct km_aggregate *a, const struct km_event *e,
							  const struct km_outcome *outcome,
							  const struct km_mend_note *note)
{
	const struct km_object *old = &note->object, *young = &outcome->object;
	uint64_t count = UINT64_C(1) << a->k;
	struct key *key;
	int r = 0;

	a->replayed.implied_frees_count--;
	if (a->is_finished)
		return 0;
	key = key_at(a, old->key);
	if (key) {
		if (a->samples) {
			kept_of(a, key)->implied_count--;
			kept_of(a, key)->matched_count++;
		}
		take_back(&key->sums.implied_frees_count, count);
		key->sums.matched_frees_count += count;
		key->sums.cross_cpu_frees_count += note->free_cpu != old->cpu ? count : 0;
		r = learn_name(a, key, note->free_cache);
		r = r ? r : km_histogram_add_times(&key->lifetimes, note->free_time - old->time, count);
	} else {
		r = learn_left_out(a, old->key, note->free_cache);
	}
	key = key_at(a, young->key);
	if (!r && key) {
		uint64_t lives = key->lifetimes.count;

		take_back(&key->sums.cross_cpu_frees_count, note->free_cpu != young->cpu ? count : 0);
		key->sums.cross_cpu_frees_count += e->cpu != young->cpu ? count : 0;
		km_histogram_remove(&key->lifetimes, note->free_time - young->time, count);
		/* As many as were taken out: a lifetime is counted for each matched free. */
		r = km_histogram_add_times(&key->lifetimes, e->time - young->time, lives - key->lifetimes.count);
	}
	return r;
}

static inline __attribute__((always_inline)) int account_free(struct km_aggregate *a, const struct km_event *e,
							      const struct km_outcome *outcome, const bool samples)
{
	const unsigned k = samples ? a->k : 0;
	const struct km_object *object = &outcome->object;
	struct km_freer *freer = freer_of(a, e->call_site);
	struct key *key;

	if (!freer)
		return -ENOMEM;
	a->replayed.free_events_count++;
	if (outcome->kind == KM_OUTCOME_NULL) {
		a->replayed.null_frees_count++;
		freer->null_count++;
		return 0;
	}
	if (outcome->kind == KM_OUTCOME_UNMATCHED) {
		a->replayed.unmatched_frees_count++;
		a->replayed.unmatched_frees_estimate += UINT64_C(1) << k;
		freer->unmatched_count++;
		if (e->cache != KM_CACHE_NONE) {
			if (grow(&a->unmatched_by_cache, &a->unmatched_room, e->cache, sizeof(uint64_t)))
				return -ENOMEM;
			a->unmatched_by_cache[e->cache]++;
		}
		return 0;
	}
	if (samples && outcome->kind == KM_OUTCOME_SAMPLED_OUT) {
		a->replayed.sampled_out_frees_count++;
		freer->sampled_out_count++;
		return 0;
	}
	a->replayed.matched_frees_count++;
	freer->matched_count++;
	if (__builtin_expect(outcome->mend == KM_MEND_LATE_FREE, 0))
		return mend_late_free(a, e, outcome, km_mend_note(a->mend, outcome));
	if (a->is_finished)
		return 0;
	key = key_at(a, object->key);
	if (!key)
		return learn_left_out(a, object->key, e->cache);
	if (learn_name(a, key, e->cache))
		return -ENOMEM;
	key->sums.matched_frees_count += UINT64_C(1) << k;
	key->sums.cross_cpu_frees_count += (uint64_t)(e->cpu != object->cpu) << k;
	live_sub(a, key, object->bytes_req, object->bytes_alloc, k);
	if (!samples)
		return km_histogram_add(&key->lifetimes, e->time - object->time);
	kept_of(a, key)->matched_count++;
	return km_histogram_add_times(&key->lifetimes, e->time - object->time, UINT64_C(1) << k);
}

static inline __attribute__((always_inline)) int account_alloc(struct km_aggregate *a, const struct km_event *e,
							       uint32_t key_number, const struct km_outcome *outcome,
							       const bool samples)
{
	const unsigned k = samples ? a->k : 0;
	struct key *key = key_at(a, key_number);

	a->replayed.alloc_events_count++;
	if (__builtin_expect(outcome->mend == KM_MEND_LATE_ALLOC, 0)) {
		if (mend_late_alloc(a, km_mend_note(a->mend, outcome)))
			return -ENOMEM;
	} else if (outcome->implied_free) {
		const struct km_object *old = &outcome->object;
		struct key *old_key = key_at(a, old->key);

		a->replayed.implied_frees_count++;
		if (a->is_finished) {
			/* counted for the whole replay only */
		} else if (old_key) {
			old_key->sums.implied_frees_count += UINT64_C(1) << k;
			if (samples)
				kept_of(a, old_key)->implied_count++;
			live_sub(a, old_key, old->bytes_req, old->bytes_alloc, k);
		} else if (note_left_out(a, old->key)) {
			return -ENOMEM;
		}
	}
	switch (outcome->kind) {
	case KM_OUTCOME_TRACKED:
		a->replayed.tracked_count++;
		if (!key)
			break;
		key->sums.allocs_count++;
		count_object(a, key, e->bytes_req, e->bytes_alloc, FATE_TRACKED, 1);
		if (__builtin_expect(e->bytes_req > KM_REPLAY_DOUBLED_OVER_BYTES, 0))
			note_pending(a, e, key_number);
		live_add(a, key, e->bytes_req, e->bytes_alloc, e->time, k);
		break;
	case KM_OUTCOME_OVERFLOWED:
		a->replayed.overflowed_count++;
		if (key) {
			key->sums.allocs_count++;
			count_object(a, key, e->bytes_req, e->bytes_alloc, FATE_OVERFLOWED, 1);
		}
		break;
	case KM_OUTCOME_SAMPLED_OUT:
		a->replayed.sampled_out_count++;
		if (key) {
			key->sums.allocs_count++;
			count_object(a, key, e->bytes_req, e->bytes_alloc, FATE_SAMPLED_OUT, 1);
		}
		break;
	case KM_OUTCOME_FAILED:
		a->replayed.failed_count++;
		if (key) {
			key->sums.allocs_count++;
			key->sums.failed_count++;
		}
		break;
	case KM_OUTCOME_DOUBLED:
		a->replayed.doubled_count++;
		if (!a->is_finished)
			account_doubled(a, e, key_number, outcome);
		break;
	default:
		break;
	}
	return 0;
}

/* What is live is not known any more (--on-loss reset). */
static __attribute__((noinline, cold)) void forget_live(struct km_aggregate *a)
{
	if (a->is_finished)
		return;
	for (uint32_t k = 1; k <= a->key_tuples.count; k++) {
		struct key *key = &a->keys[k];

		touch(a, key);
		key->sums.reset_count += key->sums.live_count;
		if (a->samples)
			kept_of(a, key)->reset_count += key->sums.live_count >> a->k;
		key->sums.live_count = key->sums.live_bytes = key->sums.live_requested_bytes = 0;
		key->sums.is_uncertain = false; /* they are gone */
		a->site_levels[key->site].live_count = a->site_levels[key->site].live_bytes = 0;
		a->cache_levels[key->root].live_count = a->cache_levels[key->root].live_bytes = 0;
		if (key->group)
			a->group_levels[key->group].live_count = a->group_levels[key->group].live_bytes = 0;
	}
	a->total.live_count = a->total.live_bytes = 0;
}

/* --- halving --- */

static void purge(void *context, const struct km_object *object)
{
	struct km_aggregate *a = context;
	struct key *key = key_at(a, object->key);

	a->replayed.purged_count++;
	if (!key || a->is_finished)
		return;
	live_sub(a, key, object->bytes_req, object->bytes_alloc, a->k);
	kept_of(a, key)->purged_count++;
	kept_of(a, key)->purged_bytes += object->bytes_alloc;
}

/* What is left of it stands for twice as much. */
static void level_double(struct km_level *level, uint64_t time)
{
	level_add(level, level->live_count, level->live_bytes, time);
}

static void double_live(struct km_aggregate *a, uint64_t time)
{
	uint32_t roots = km_caches_count(a->selection->caches);

	for (uint32_t k = 1; k <= a->key_tuples.count; k++) {
		struct km_sums *sums = &a->keys[k].sums;

		sums->live_count *= 2;
		sums->live_bytes *= 2;
		sums->live_requested_bytes *= 2;
	}
	for (uint32_t i = 0; i < a->sites.count; i++)
		level_double(&a->site_levels[i], time);
	for (uint32_t i = 0; i < roots && i < a->cache_levels_room; i++)
		level_double(&a->cache_levels[i], time);
	for (uint32_t i = 1; i <= a->groups.count && i < a->group_levels_room; i++)
		level_double(&a->group_levels[i], time);
	if (2 * a->total.live_bytes > a->total.peak_live_bytes)
		a->peak_stamp = ++a->stamp;
	level_double(&a->total, time);
}

void km_aggregate_halve(struct km_aggregate *a, struct km_replay *replay, uint64_t time)
{
	for (uint32_t k = 1; k <= a->key_tuples.count && !a->is_finished; k++)
		touch(a, &a->keys[k]); /* what it held at the peak was of the old scale */
	km_replay_halve(replay, time, purge, a);
	if (!a->is_finished)
		double_live(a, time);
	for (unsigned cpu = 0; cpu < a->cpu_limit; cpu++)
		a->pending[cpu].is_stale = true;
	a->k++;
}

void km_aggregate_use_sample(struct km_aggregate *a)
{
	a->samples = true;
}

void km_aggregate_keep_on_loss(struct km_aggregate *a)
{
	a->keeps_on_loss = true;
}

void km_aggregate_use_page_frees(struct km_aggregate *a, const struct km_page_frees *frees)
{
	a->page_frees = frees;
}

void km_aggregate_use_mend(struct km_aggregate *a, const struct km_mend *mend)
{
	a->mend = mend;
}

static inline __attribute__((always_inline)) int account(struct km_aggregate *a, const struct km_event *events,
							 const uint32_t *keys, const struct km_outcome *outcomes,
							 size_t count, const bool samples)
{
	for (size_t i = 0; i < count; i++) {
		const struct km_event *e = &events[i];

		if (km_event_is_alloc(e)) {
			if (account_alloc(a, e, keys[i], &outcomes[i], samples))
				return -ENOMEM;
		} else if (km_event_is_free(e)) {
			if (account_free(a, e, &outcomes[i], samples))
				return -ENOMEM;
		} else if (e->kind == KM_EVENT_LOST) {
			a->replayed.holes_count++;
			if (!a->is_finished && !a->keeps_on_loss)
				a->hole_stamp = ++a->stamp;
			if (outcomes[i].kind != KM_OUTCOME_RESET)
				continue;
			a->replayed.reset_count += outcomes[i].forgotten_count;
			forget_live(a);
		}
	}
	return 0;
}

int km_aggregate_account(struct km_aggregate *a, const struct km_event *events, const uint32_t *keys,
			 const struct km_outcome *outcomes, size_t count, struct km_error *error)
{
	int r = a->samples ? account(a, events, keys, outcomes, count, true)
			   : account(a, events, keys, outcomes, count, false);

	return r ? out_of_memory(error) : 0;
}
