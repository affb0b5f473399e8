/* SPDX-License-Identifier: GPL-2.0-only */
#include "sizes.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuples.h"

#define LEVELS         (KM_REPLAY_HASH_K_LIMIT + 1)
#define PREFETCH_AHEAD 16

struct km_sizes {
	unsigned first; /* size i is of 2^(first + i) objects */
	unsigned count; /* of sizes */

	/*
	 * Addresses of live objects, with the smallest size that tracks each in
	 * the place of a key; `count` if none does.
	 */
	struct km_replay_hash live;
	uint64_t objects_count; /* allocations of an object */

	/* Tables that drop. */
	uint64_t tracked_from[KM_SIZES_LIMIT + 1]; /* live objects by the smallest size that tracks them */
	uint64_t overflowed_below[KM_SIZES_LIMIT + 1],
		bytes_below[KM_SIZES_LIMIT + 1]; /* that sizes below did not track */
	unsigned room;                           /* the smallest size that has room */
	uint64_t room_holds;                     /* how many objects it holds */

	/* Tables that sample. */
	uint64_t of_level[LEVELS]; /* live objects */
	unsigned halved;           /* sizes below have a k that is not 0 */
	unsigned k[KM_SIZES_LIMIT];
	uint64_t holds[KM_SIZES_LIMIT]; /* of those */

	/* Of the moment that errors are about. */
	bool error_is_known;
	double drop_error[KM_SIZES_LIMIT], sample_error[KM_SIZES_LIMIT], sample_total_error[KM_SIZES_LIMIT];
};

static uint64_t capacity(const struct km_sizes *s, unsigned size)
{
	return UINT64_C(1) << (s->first + size);
}

int km_sizes_new(unsigned first, uint64_t max_memory_bytes, struct km_sizes **ret_sizes, struct km_error *error)
{
	struct km_sizes *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return km_error_set(error, -ENOMEM, "out of memory");
	s->first = first;
	s->count = KM_SIZES_LIMIT - first;
	r = km_replay_hash_init_auto(&s->live, max_memory_bytes, error);
	if (r) {
		free(s);
		return r;
	}
	*ret_sizes = s;
	return 0;
}

void km_sizes_free(struct km_sizes *s)
{
	if (!s)
		return;
	km_replay_hash_release(&s->live);
	free(s);
}

/* --- tables that drop --- */

/* Full sizes are passed over: those below `room` hold as many as they can. */
static void find_room(struct km_sizes *s)
{
	while (s->room < s->count && s->room_holds == capacity(s, s->room))
		s->room_holds += s->tracked_from[++s->room];
}

/* An object that those track which have room. */
static void track(struct km_sizes *s)
{
	s->tracked_from[s->room]++;
	s->room_holds++;
	find_room(s);
}

/* It goes, and leaves room in each of those. */
static void untrack(struct km_sizes *s, unsigned size)
{
	s->tracked_from[size]--;
	if (size > s->room)
		return;
	if (size < s->room) /* which was full */
		s->room_holds = capacity(s, size);
	s->room = size;
	s->room_holds--;
}

static void overflow(struct km_sizes *s, unsigned below, uint64_t bytes)
{
	s->overflowed_below[below]++;
	s->bytes_below[below] += bytes;
}

/* --- tables that sample --- */

static uint64_t kept_at(const struct km_sizes *s, unsigned k)
{
	uint64_t count = 0;

	for (unsigned level = k; level < LEVELS; level++)
		count += s->of_level[level];
	return count;
}

static void halve(struct km_sizes *s, unsigned size)
{
	while (s->holds[size] > capacity(s, size) && s->k[size] < KM_REPLAY_HASH_K_LIMIT)
		s->holds[size] = kept_at(s, ++s->k[size]);
}

static void sample(struct km_sizes *s, uint64_t ptr)
{
	unsigned level = km_replay_hash_level(ptr);

	s->of_level[level]++;
	/* k falls with the size: where one keeps nothing of this level, smaller ones do not either. */
	for (unsigned size = s->halved; size-- > 0 && s->k[size] <= level;) {
		s->holds[size]++;
		halve(s, size);
	}
	/* What was never halved holds everything. */
	while (s->halved < s->count && s->live.count > capacity(s, s->halved)) {
		s->holds[s->halved] = s->live.count;
		halve(s, s->halved++);
	}
}

static void unsample(struct km_sizes *s, uint64_t ptr)
{
	unsigned level = km_replay_hash_level(ptr);

	s->of_level[level]--;
	for (unsigned size = s->halved; size-- > 0 && s->k[size] <= level;)
		s->holds[size]--;
}

/* --- events --- */

static int allocate(struct km_sizes *s, const struct km_event *e, bool is_live)
{
	struct km_object object = { .ptr = e->ptr, .key = s->room };
	struct km_slot *slot = is_live ? km_replay_hash_find(&s->live, e->ptr) : NULL;

	s->objects_count++;
	if (slot) {
		/* Tables that track the address take this object in its place, the others need a slot. */
		unsigned old = slot->key;

		if (object.key < old) {
			untrack(s, old);
			track(s);
			slot->key = object.key;
		}
		overflow(s, object.key < old ? object.key : old, e->bytes_alloc);
		return 0;
	}
	if (!km_replay_hash_insert(&s->live, &object))
		return -ENOSPC;
	overflow(s, object.key, e->bytes_alloc);
	track(s);
	sample(s, e->ptr);
	return 0;
}

static void release(struct km_sizes *s, uint64_t ptr)
{
	struct km_slot *slot = km_replay_hash_find(&s->live, ptr);

	if (!slot)
		return;
	untrack(s, slot->key);
	km_replay_hash_remove(&s->live, slot);
	unsample(s, ptr);
}

static void forget_all(struct km_sizes *s)
{
	km_replay_hash_clear(&s->live);
	memset(s->tracked_from, 0, sizeof(s->tracked_from));
	memset(s->of_level, 0, sizeof(s->of_level));
	memset(s->holds, 0, sizeof(s->holds));
	s->room = 0;
	s->room_holds = 0;
}

static int refuse(const struct km_sizes *s, struct km_error *error)
{
	return km_error_set(error, -ENOSPC,
			    "more than %" PRIu64
			    " objects live at once, and there is no room for more of them; give more --max-memory",
			    s->live.count);
}

int km_sizes_run(struct km_sizes *s, const struct km_event *events, const struct km_outcome *outcomes, size_t count,
		 struct km_error *error)
{
	for (size_t i = 0; i < count && i < PREFETCH_AHEAD; i++)
		km_replay_hash_prefetch(&s->live, events[i].ptr);
	for (size_t i = 0; i < count; i++) {
		if (i + PREFETCH_AHEAD < count)
			km_replay_hash_prefetch(&s->live, events[i + PREFETCH_AHEAD].ptr);
		switch (outcomes[i].kind) {
		case KM_OUTCOME_TRACKED:
			if (allocate(s, &events[i], outcomes[i].implied_free))
				return refuse(s, error);
			break;
		case KM_OUTCOME_OVERFLOWED:
			return refuse(s, error);
		case KM_OUTCOME_MATCHED:
			release(s, events[i].ptr);
			break;
		case KM_OUTCOME_RESET:
			forget_all(s);
			break;
		default: /* DOUBLED changes whose an object is, not where it is */
			break;
		}
	}
	return 0;
}

/* --- errors --- */

/* A site's live bytes. */
struct site_bytes {
	uint64_t all;
	uint64_t tracked_from[KM_SIZES_LIMIT + 1]; /* by the smallest size that tracks them */
	uint64_t of_level[LEVELS];
};

struct bytes_by_site {
	struct km_tuples sites;
	struct site_bytes *items;
	uint32_t room;
};

static struct site_bytes *site_of(struct bytes_by_site *by, uint64_t call_site)
{
	bool is_new;
	uint32_t i = km_tuples_add(&by->sites, &call_site, &is_new);

	if (i == KM_TUPLES_NONE)
		return NULL;
	if (i >= by->room) {
		uint32_t room = by->room ? 2 * by->room : 64;
		struct site_bytes *items = reallocarray(by->items, room, sizeof(*items));

		if (!items)
			return NULL;
		memset(items + by->room, 0, (room - by->room) * sizeof(*items));
		by->items = items;
		by->room = room;
	}
	return &by->items[i];
}

static int add_up(const struct km_sizes *s, const struct km_replay_hash *table, const struct km_aggregate *aggregate,
		  struct bytes_by_site *by)
{
	for (uint64_t i = 0; i < table->slots_count; i++) {
		struct km_object object;
		struct site_bytes *site;
		struct km_slot *slot;
		uint64_t call_site;
		const char *cache;

		if (!table->slots[i].ptr)
			continue;
		km_slot_unpack(&table->slots[i], &object);
		slot = km_replay_hash_find(&s->live, object.ptr);
		if (!slot || !km_key_is_selected(object.key) ||
		    !km_aggregate_key(aggregate, object.key, &call_site, &cache))
			continue;
		site = site_of(by, call_site);
		if (!site)
			return -ENOMEM;
		site->all += object.bytes_alloc;
		site->tracked_from[slot->key] += object.bytes_alloc;
		site->of_level[km_replay_hash_level(object.ptr)] += object.bytes_alloc;
	}
	return 0;
}

/* What the size shows of a site when it samples. */
static double estimate(const struct km_sizes *s, unsigned size, const struct site_bytes *site)
{
	uint64_t kept = 0;

	for (unsigned level = s->k[size]; level < LEVELS; level++)
		kept += site->of_level[level];
	return ldexp((double)kept, (int)s->k[size]);
}

int km_sizes_finish(struct km_sizes *s, const struct km_replay_hash *table, const struct km_aggregate *aggregate,
		    struct km_error *error)
{
	struct bytes_by_site by = { .items = NULL };
	double all = 0;
	int r;

	km_tuples_init(&by.sites, 1, KM_SITES_LIMIT);
	r = add_up(s, table, aggregate, &by);
	for (uint32_t i = 0; !r && i < by.sites.count; i++)
		all += (double)by.items[i].all;
	s->error_is_known = all > 0;
	for (unsigned size = 0; s->error_is_known && size < s->count; size++) {
		double untracked = 0, off = 0, sum = 0;

		for (uint32_t i = 0; i < by.sites.count; i++) {
			const struct site_bytes *site = &by.items[i];
			double shown = estimate(s, size, site);

			for (unsigned from = size + 1; from <= KM_SIZES_LIMIT; from++)
				untracked += (double)site->tracked_from[from];
			off += fabs(shown - (double)site->all);
			sum += shown;
		}
		s->drop_error[size] = untracked / all;
		s->sample_error[size] = off / all;
		s->sample_total_error[size] = fabs(sum - all) / all;
	}
	km_tuples_release(&by.sites);
	free(by.items);
	return r ? km_error_set(error, r, "out of memory") : 0;
}

size_t km_sizes_get(const struct km_sizes *s, uint64_t least, struct km_size ret_sizes[KM_SIZES_LIMIT])
{
	uint64_t count = 0, bytes = 0;
	size_t n;

	for (unsigned from = 1; from <= KM_SIZES_LIMIT; from++) {
		count += s->overflowed_below[from];
		bytes += s->bytes_below[from];
	}
	for (n = 0; n < s->count; n++) {
		/* What size 0 does not track, then what size 1 does not, and so on. */
		if (n) {
			count -= s->overflowed_below[n];
			bytes -= s->bytes_below[n];
		}
		ret_sizes[n] = (struct km_size){
			.capacity = capacity(s, (unsigned)n),
			.memory_bytes = km_replay_hash_bytes(capacity(s, (unsigned)n)),
			.overflowed_count = count,
			.overflowed_bytes = bytes,
			.tracked_ratio = s->objects_count ? 1 - (double)count / (double)s->objects_count : 1,
			.error_is_known = s->error_is_known,
			.drop_error = s->drop_error[n],
			.drop_total_error = s->drop_error[n], /* it misses some and makes nothing up */
			.sample_error = s->sample_error[n],
			.sample_total_error = s->sample_total_error[n],
			.sample_k = s->k[n],
		};
		if (!count && capacity(s, (unsigned)n) >= least)
			return n + 1;
	}
	return n;
}
