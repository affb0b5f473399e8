/* SPDX-License-Identifier: GPL-2.0-only */
#include "replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "peak_estimate.h"

/* How far ahead of an event its slot is fetched. */
#define PREFETCH_AHEAD 16

/*
 * Addresses that were freed, or allocated without being tracked: a Bloom
 * filter of 512 KiB, three bits in one word. It answers one question, about
 * ties; once it has KM_SEEN_LIMIT addresses it is no longer fed and says
 * "seen" of all, which is then mostly so.
 */
#define KM_SEEN_WORDS 65536
#define KM_SEEN_LIMIT (UINT64_C(1) << 18)

/* The last slab event of a CPU, if it may be the first of a doubled kmalloc. */
struct large_kmalloc {
	uint64_t ptr; /* 0: it may not */
	uint64_t bytes_req, bytes_alloc;
	uint64_t time;
	uint32_t key;
	int32_t pid;
	uint8_t first;
};

/* What is known of the object of a first. */
enum first {
	FIRST_TRACKED, /* it is in the table, unless something happened to it since */
	FIRST_OVERFLOWED,
	FIRST_SAMPLED_OUT,
	FIRST_PURGED,
};

struct km_replay {
	struct km_replay_hash table;
	struct km_overflow overflow;
	enum km_when_full when_full;
	struct km_sampled sampled;
	struct km_peak_estimate *estimate; /* in use from the first overflow or halving on */
	bool estimating;
	uint64_t peak_count;
	struct large_kmalloc *last; /* one a CPU */
	unsigned cpu_limit;
	unsigned untracked_firsts; /* how many of last[] are not FIRST_TRACKED */
	bool resets_on_loss;
	bool has_loss;
	uint64_t loss_time;
	uint64_t seen_count;
	uint64_t seen[KM_SEEN_WORDS];
};

int km_replay_new(const struct km_replay_options *options, struct km_replay **ret_replay, struct km_error *error)
{
	struct km_replay *replay = calloc(1, sizeof(*replay));
	int r = -ENOMEM;

	if (!replay)
		return km_error_set(error, r, "out of memory");
	replay->cpu_limit = options->cpu_limit ? options->cpu_limit : 1;
	replay->resets_on_loss = options->resets_on_loss;
	replay->when_full = options->when_full;
	replay->last = calloc(replay->cpu_limit, sizeof(*replay->last));
	replay->estimate = calloc(1, sizeof(*replay->estimate));
	if (!replay->last || !replay->estimate) {
		km_error_set(error, r, "out of memory");
		goto fail;
	}
	if (options->objects_count)
		r = km_replay_hash_init_fixed(&replay->table, options->objects_count, error);
	else
		r = km_replay_hash_init_auto(&replay->table, options->max_memory_bytes, error);
	if (r)
		goto fail;
	*ret_replay = replay;
	return 0;
fail:
	km_replay_free(replay);
	return r;
}

void km_replay_free(struct km_replay *replay)
{
	if (!replay)
		return;
	km_replay_hash_release(&replay->table);
	free(replay->last);
	free(replay->estimate);
	free(replay);
}

/* --- addresses seen before --- */

static uint64_t seen_bits(uint64_t ptr, uint64_t *ret_word)
{
	uint64_t hash = (ptr ^ (ptr >> 29)) * UINT64_C(0xd6e8feb86659fd93);

	hash ^= hash >> 32;
	*ret_word = (hash >> 18) % KM_SEEN_WORDS;
	return UINT64_C(1) << (hash & 63) | UINT64_C(1) << (hash >> 6 & 63) | UINT64_C(1) << (hash >> 12 & 63);
}

static void mark_seen(struct km_replay *replay, uint64_t ptr)
{
	uint64_t word, bits;

	if (replay->seen_count >= KM_SEEN_LIMIT)
		return;
	bits = seen_bits(ptr, &word);
	if ((replay->seen[word] & bits) != bits) {
		replay->seen[word] |= bits;
		replay->seen_count++;
	}
}

bool km_replay_last_loss(const struct km_replay *replay, uint64_t *ret_time)
{
	if (replay->has_loss)
		*ret_time = replay->loss_time;
	return replay->has_loss;
}

bool km_replay_was_seen(const struct km_replay *replay, uint64_t ptr)
{
	uint64_t word, bits = seen_bits(ptr, &word);

	return replay->seen_count >= KM_SEEN_LIMIT || (replay->seen[word] & bits) == bits;
}

/* --- overflow --- */

static void start_estimate(struct km_replay *replay)
{
	const struct km_replay_hash *table = &replay->table;

	replay->estimating = true;
	for (uint64_t i = 0; i < table->slots_count; i++) {
		if (table->slots[i].ptr)
			km_peak_estimate_add(replay->estimate, table->slots[i].ptr);
	}
}

static __attribute__((noinline, cold)) void overflow(struct km_replay *replay, const struct km_event *event)
{
	struct km_overflow *o = &replay->overflow;

	if (!replay->estimating)
		start_estimate(replay);
	km_peak_estimate_add(replay->estimate, event->ptr);
	mark_seen(replay, event->ptr);
	if (!o->count)
		o->first_time = event->time;
	o->count++;
	o->bytes += event->bytes_alloc;
	if (!o->is_open) {
		o->is_open = true;
		o->current = (struct km_overflow_episode){ .start_time = event->time };
		o->episodes_count++;
	}
	o->current.end_time = event->time;
	o->current.count++;
	if (o->episodes_count <= KM_REPLAY_EPISODES_LIMIT)
		o->episodes[o->episodes_count - 1] = o->current;
	if (o->current.end_time - o->current.start_time > o->longest_time)
		o->longest_time = o->current.end_time - o->current.start_time;
}

static __attribute__((noinline, cold)) void close_episode(struct km_replay *replay, uint64_t time)
{
	struct km_overflow *o = &replay->overflow;

	o->is_open = false;
	o->current.end_time = time;
	if (o->episodes_count <= KM_REPLAY_EPISODES_LIMIT)
		o->episodes[o->episodes_count - 1] = o->current;
	if (time - o->current.start_time > o->longest_time)
		o->longest_time = time - o->current.start_time;
}

/* --- doubled large kmalloc --- */

static void forget_last(struct km_replay *replay, struct large_kmalloc *last)
{
	replay->untracked_firsts -= last->first != FIRST_TRACKED;
	last->first = FIRST_TRACKED;
	last->ptr = 0;
}

/* Something else happened to an address that is not in the table: it may be that of a first that is not there. */
static __attribute__((noinline, cold)) void forget_untracked_first(struct km_replay *replay, uint64_t ptr)
{
	for (unsigned cpu = 0; cpu < replay->cpu_limit; cpu++) {
		if (replay->last[cpu].first != FIRST_TRACKED && replay->last[cpu].ptr == ptr)
			forget_last(replay, &replay->last[cpu]);
	}
}

/* The first's own object, if it still lives in the table. cpu: the first's. */
static struct km_slot *slot_of_first(const struct km_replay *replay, const struct large_kmalloc *last, unsigned cpu,
				     struct km_object *ret_object)
{
	struct km_slot *slot = km_replay_hash_find(&replay->table, last->ptr);

	if (!slot)
		return NULL; /* freed in between */
	km_slot_unpack(slot, ret_object);
	if (ret_object->time != last->time || ret_object->key != last->key || ret_object->cpu != cpu)
		return NULL; /* replaced in between, by another CPU */
	return slot;
}

/* Whether the event is the second of a pair; if so it is dealt with. */
static bool second_of_pair(struct km_replay *replay, struct large_kmalloc *last, const struct km_event *event,
			   uint32_t key, struct km_outcome *outcome)
{
	struct km_object object;
	struct km_slot *slot;

	if (!km_event_is_kmalloc(event) || last->ptr != event->ptr || last->bytes_req != event->bytes_req ||
	    last->bytes_alloc != event->bytes_alloc || last->pid != event->pid)
		return false;
	if (last->first != FIRST_TRACKED) {
		*outcome = (struct km_outcome){ .kind = KM_OUTCOME_DOUBLED,
						.first_overflowed = last->first == FIRST_OVERFLOWED,
						.first_sampled_out = last->first == FIRST_SAMPLED_OUT,
						.first_purged = last->first == FIRST_PURGED };
		outcome->object = (struct km_object){ .ptr = event->ptr,
						      .time = last->time,
						      .bytes_req = (uint32_t)event->bytes_req,
						      .bytes_alloc = (uint32_t)event->bytes_alloc,
						      .key = last->key,
						      .pid = event->pid,
						      .cpu = event->cpu };
		return true;
	}
	slot = slot_of_first(replay, last, event->cpu, &object);
	if (!slot)
		return false; /* two allocations */
	*outcome = (struct km_outcome){ .kind = KM_OUTCOME_DOUBLED, .object = object };
	slot->key = key;
	return true;
}

/* --- one event --- */

/* How many addresses are alive is told by a sample of its own once the table does not tell. */
static inline void estimate_add(struct km_replay *replay, const struct km_event *event)
{
	if (__builtin_expect(replay->estimating, 0))
		km_peak_estimate_add(replay->estimate, event->ptr);
}

/*
 * False: nothing was done, the table has to be halved first. samples is a
 * constant where this is inlined: a table that drops does not pay for it.
 */
static inline __attribute__((always_inline)) bool alloc(struct km_replay *replay, const struct km_event *event,
							uint32_t key, struct km_outcome *outcome, const bool samples)
{
	struct large_kmalloc *last = &replay->last[event->cpu];
	struct km_object object;
	struct km_slot *slot;

	outcome->implied_free = false;
	if (__builtin_expect(!event->ptr, 0)) {
		outcome->kind = KM_OUTCOME_FAILED;
		forget_last(replay, last);
		return true;
	}
	if (__builtin_expect(last->ptr != 0, 0)) {
		bool is_second = second_of_pair(replay, last, event, key, outcome);

		forget_last(replay, last);
		if (is_second)
			return true;
	}
	if (__builtin_expect(replay->untracked_firsts, 0))
		forget_untracked_first(replay, event->ptr);
	if (samples && !km_replay_hash_keeps(&replay->table, event->ptr)) {
		outcome->kind = KM_OUTCOME_SAMPLED_OUT;
		replay->sampled.out_count++;
		replay->sampled.out_bytes += event->bytes_alloc;
		estimate_add(replay, event);
		goto out;
	}
	object = (struct km_object){ .ptr = event->ptr,
				     .time = event->time,
				     .bytes_req = (uint32_t)event->bytes_req,
				     .bytes_alloc = (uint32_t)event->bytes_alloc,
				     .key = key,
				     .pid = event->pid,
				     .cpu = event->cpu };
	slot = km_replay_hash_find(&replay->table, event->ptr);
	outcome->kind = KM_OUTCOME_TRACKED;
	if (__builtin_expect(slot != NULL, 0)) {
		outcome->implied_free = true;
		km_slot_unpack(slot, &outcome->object);
		km_slot_pack(slot, &object);
	} else if (km_replay_hash_insert(&replay->table, &object)) {
		if (replay->table.count > replay->peak_count)
			replay->peak_count = replay->table.count;
		estimate_add(replay, event);
	} else if (samples && replay->table.k < KM_REPLAY_HASH_K_LIMIT) {
		return false;
	} else {
		outcome->kind = KM_OUTCOME_OVERFLOWED;
		overflow(replay, event);
	}
out:
	if (__builtin_expect(event->bytes_req > KM_REPLAY_DOUBLED_OVER_BYTES, 0) && km_event_is_kmalloc(event)) {
		*last = (struct large_kmalloc){ .ptr = event->ptr,
						.bytes_req = event->bytes_req,
						.bytes_alloc = event->bytes_alloc,
						.time = event->time,
						.key = key,
						.pid = event->pid,
						.first = outcome->kind == KM_OUTCOME_OVERFLOWED    ? FIRST_OVERFLOWED
							 : outcome->kind == KM_OUTCOME_SAMPLED_OUT ? FIRST_SAMPLED_OUT
												   : FIRST_TRACKED };
		replay->untracked_firsts += last->first != FIRST_TRACKED;
	}
	return true;
}

static inline __attribute__((always_inline)) void release(struct km_replay *replay, const struct km_event *event,
							  struct km_outcome *outcome, const bool samples)
{
	struct large_kmalloc *last = &replay->last[event->cpu];
	struct km_slot *slot;

	outcome->implied_free = false;
	if (__builtin_expect(last->ptr != 0, 0))
		forget_last(replay, last);
	if (!event->ptr || event->ptr == KM_ZERO_SIZE_PTR) {
		outcome->kind = KM_OUTCOME_NULL;
		return;
	}
	mark_seen(replay, event->ptr);
	if (__builtin_expect(replay->estimating, 0))
		km_peak_estimate_remove(replay->estimate, event->ptr);
	if (samples && !km_replay_hash_keeps(&replay->table, event->ptr)) {
		outcome->kind = KM_OUTCOME_SAMPLED_OUT;
		replay->sampled.out_frees_count++;
		if (__builtin_expect(replay->untracked_firsts, 0))
			forget_untracked_first(replay, event->ptr);
		return;
	}
	slot = km_replay_hash_find(&replay->table, event->ptr);
	if (!slot) {
		outcome->kind = KM_OUTCOME_UNMATCHED;
		if (__builtin_expect(replay->untracked_firsts, 0))
			forget_untracked_first(replay, event->ptr);
		return;
	}
	outcome->kind = KM_OUTCOME_MATCHED;
	km_slot_unpack(slot, &outcome->object);
	km_replay_hash_remove(&replay->table, slot);
	if (__builtin_expect(replay->overflow.is_open, 0))
		close_episode(replay, event->time);
}

/* A loss, or a mark. */
static __attribute__((noinline, cold)) void lose(struct km_replay *replay, const struct km_event *event,
						 struct km_outcome *outcome)
{
	outcome->kind = KM_OUTCOME_NONE;
	outcome->implied_free = false;
	if (event->kind != KM_EVENT_LOST)
		return;
	replay->has_loss = true;
	replay->loss_time = event->time;
	forget_last(replay, &replay->last[event->cpu]); /* what came before is not known */
	if (!replay->resets_on_loss)
		return;
	outcome->kind = KM_OUTCOME_RESET;
	outcome->forgotten_count = replay->table.count;
	for (uint64_t i = 0; i < replay->table.slots_count; i++) {
		if (replay->table.slots[i].ptr)
			mark_seen(replay, replay->table.slots[i].ptr);
	}
	km_replay_hash_clear(&replay->table);
	for (unsigned cpu = 0; cpu < replay->cpu_limit; cpu++)
		forget_last(replay, &replay->last[cpu]);
	if (replay->estimating)
		memset(replay->estimate->slots, 0, sizeof(replay->estimate->slots));
	replay->estimate->count = 0;
	if (replay->overflow.is_open)
		close_episode(replay, event->time);
}

static inline __attribute__((always_inline)) size_t run(struct km_replay *replay, const struct km_event *events,
							const uint32_t *keys, size_t count, struct km_outcome *outcomes,
							const bool samples)
{
	for (size_t i = 0; i < count && i < PREFETCH_AHEAD; i++)
		km_replay_hash_prefetch(&replay->table, events[i].ptr);
	for (size_t i = 0; i < count; i++) {
		const struct km_event *event = &events[i];

		outcomes[i].mend = 0;
		if (i + PREFETCH_AHEAD < count)
			km_replay_hash_prefetch(&replay->table, events[i + PREFETCH_AHEAD].ptr);
		if (km_event_is_alloc(event)) {
			if (!alloc(replay, event, keys[i], &outcomes[i], samples))
				return i;
		} else if (km_event_is_free(event)) {
			release(replay, event, &outcomes[i], samples);
		} else {
			lose(replay, event, &outcomes[i]);
		}
	}
	return count;
}

size_t km_replay_run(struct km_replay *replay, const struct km_event *events, const uint32_t *keys, size_t count,
		     struct km_outcome *outcomes)
{
	if (replay->when_full == KM_WHEN_FULL_SAMPLE)
		return run(replay, events, keys, count, outcomes, true);
	return run(replay, events, keys, count, outcomes, false);
}

/* --- halving --- */

struct purging {
	struct km_replay *replay;
	void (*purge)(void *context, const struct km_object *object);
	void *context;
};

static void purge_one(void *context, const struct km_object *object)
{
	struct purging *purging = context;

	purging->replay->sampled.purged_count++;
	purging->replay->sampled.purged_bytes += object->bytes_alloc;
	purging->purge(purging->context, object);
}

/* A second is recognised all the same when the first's object has gone. */
static void purge_firsts(struct km_replay *replay)
{
	struct km_object object;

	for (unsigned cpu = 0; cpu < replay->cpu_limit; cpu++) {
		struct large_kmalloc *last = &replay->last[cpu];

		if (!last->ptr || last->first != FIRST_TRACKED || km_replay_hash_level(last->ptr) > replay->table.k ||
		    !slot_of_first(replay, last, cpu, &object))
			continue;
		last->first = FIRST_PURGED;
		replay->untracked_firsts++;
	}
}

void km_replay_halve(struct km_replay *replay, uint64_t time,
		     void (*purge)(void *context, const struct km_object *object), void *context)
{
	struct purging purging = { .replay = replay, .purge = purge, .context = context };

	if (!replay->table.k)
		replay->sampled.first_time = time;
	if (!replay->estimating)
		start_estimate(replay);
	purge_firsts(replay);
	km_replay_hash_halve(&replay->table, purge_one, &purging);
}

/* --- what came of it --- */

const struct km_replay_hash *km_replay_table(const struct km_replay *replay)
{
	return &replay->table;
}

const struct km_overflow *km_replay_overflow(const struct km_replay *replay)
{
	return &replay->overflow;
}

enum km_when_full km_replay_when_full(const struct km_replay *replay)
{
	return replay->when_full;
}

const struct km_sampled *km_replay_sampled(const struct km_replay *replay)
{
	return &replay->sampled;
}

uint64_t km_replay_peak_count(const struct km_replay *replay)
{
	return replay->peak_count;
}

uint64_t km_replay_true_peak_count(const struct km_replay *replay)
{
	/* More than fitted was alive, whatever the sample says. */
	if (!replay->overflow.count && !replay->table.k)
		return replay->peak_count;
	return replay->estimate->peak > replay->peak_count ? replay->estimate->peak : replay->peak_count + 1;
}

uint64_t km_replay_recommended_count(const struct km_replay *replay)
{
	uint64_t peak = km_replay_true_peak_count(replay);
	uint64_t count = 1;

	while (4 * count <= 5 * peak)
		count *= 2;
	return count;
}
