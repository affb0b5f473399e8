/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * replay: events to lifetimes. It takes events in their final order, with a
 * key for each allocation, plays them through the bounded table and says for
 * each what it did: tracked, matched, implied free, overflowed and so on. It
 * counts overflow; it does not count per site, and it does not know what a
 * key stands for.
 *
 * The rules, for an allocation and a free:
 *
 *   pointer 0             failed allocation, nothing is tracked
 *   second of a pair      kernels from 6.11 on tell one kmalloc over 8 KiB
 *                         twice: the object goes over to the second's key
 *   address is live       implied free of the old object, then tracked
 *   table is full         overflowed: not tracked
 *   else                  tracked
 *
 *   pointer 0 or 0x10     null (kfree(NULL), kfree(ZERO_SIZE_PTR))
 *   address is live       matched
 *   else                  unmatched
 *
 * When it is full, a table that samples (KM_WHEN_FULL_SAMPLE) does not
 * overflow: it is halved, see replay_hash.h, and from then on an allocation
 * or free of an address that is not kept is sampled out: it does nothing,
 * and whether the address was live is not known. An allocation and its free
 * decide alike, so nothing is mismatched by it:
 *
 *   allocations = failed + doubled + overflowed + tracked + sampled out
 *   tracked     = matched + implied + live (+ reset) + purged
 *   frees       = null + matched + unmatched + sampled out
 *
 * What is told of an object that is kept stands for 2^k objects at the k of
 * the moment (km_replay_hash.k); counting with that is the caller's. When k
 * grows, what lives on stands for twice as much as before and what is purged
 * for nothing; when it is freed it takes away what it then stands for. So a
 * live number is always 2^k times what is in the table. What was counted
 * once, a matched free, say, stays as it was counted, at the k of its time:
 * each such term is unbiased by itself.
 */
#ifndef KM_REPLAY_H
#define KM_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "event.h"
#include "replay_hash.h"

/* kmalloc beyond this is told twice (KMALLOC_MAX_CACHE_SIZE with 4 KiB pages). */
#define KM_REPLAY_DOUBLED_OVER_BYTES 8192
#define KM_REPLAY_EPISODES_LIMIT     64

enum km_outcome_kind {
	KM_OUTCOME_NONE,  /* not a slab event */
	KM_OUTCOME_RESET, /* a loss: what was live is forgotten (resets_on_loss) */
	KM_OUTCOME_TRACKED,
	KM_OUTCOME_OVERFLOWED,
	KM_OUTCOME_FAILED,
	KM_OUTCOME_DOUBLED, /* this is the second: `object` went from its key to this event's */
	KM_OUTCOME_MATCHED,
	KM_OUTCOME_UNMATCHED,
	KM_OUTCOME_NULL,
	KM_OUTCOME_SAMPLED_OUT, /* an allocation or a free of an address that is not kept */
};

/* What a full table does. */
enum km_when_full {
	KM_WHEN_FULL_DROP,   /* overflow: leave out what does not fit */
	KM_WHEN_FULL_SAMPLE, /* keep fewer addresses */
};

struct km_outcome {
	uint8_t kind;          /* enum km_outcome_kind */
	uint8_t mend;          /* enum km_mend_kind of mend.h: what this event corrects of earlier ones */
	uint16_t mend_note;    /* index of its note, if mend is not 0 */
	bool implied_free;     /* TRACKED: `object` lived at this address and was taken as freed */
	bool first_overflowed; /* DOUBLED: the first was not tracked, nor is the second */
	bool first_sampled_out, first_purged; /* DOUBLED: likewise; it was tracked once if it was purged */
	union {
		struct km_object
			object; /* MATCHED: what was freed; implied_free: likewise; DOUBLED: as it was before */
		uint64_t forgotten_count; /* RESET: objects of the table, whatever their keys */
	};
};

/* Times when the table was full: from an overflow to the next free slot. */
struct km_overflow_episode {
	uint64_t start_time, end_time;
	uint64_t count; /* objects not tracked */
};

struct km_overflow {
	uint64_t count, bytes; /* objects not tracked */
	uint64_t first_time;   /* of the first; meaningless while count is 0 */
	uint64_t episodes_count;
	uint64_t longest_time; /* longest episode's duration */
	bool is_open;
	struct km_overflow_episode episodes[KM_REPLAY_EPISODES_LIMIT]; /* the first ones */
	struct km_overflow_episode current;
};

/* What sampling left out. */
struct km_sampled {
	uint64_t out_count, out_bytes; /* allocations sampled out */
	uint64_t out_frees_count;
	uint64_t purged_count, purged_bytes; /* tracked objects that a halving took out */
	uint64_t first_time;                 /* of the first halving; meaningless while the table's k is 0 */
};

struct km_replay_options {
	uint64_t objects_count;    /* fixed table; 0: enlarge as needed */
	uint64_t max_memory_bytes; /* of an enlarged one */
	unsigned cpu_limit;        /* above the highest CPU number */
	bool resets_on_loss;       /* forget everything live where events were lost */
	enum km_when_full when_full;
};

struct km_replay;

int km_replay_new(const struct km_replay_options *options, struct km_replay **ret_replay, struct km_error *error);
void km_replay_free(struct km_replay *replay);

/*
 * Play events[0..count) in this order. keys[i] is what to remember of an
 * allocation; it is not looked at for other events. outcomes[i] says what
 * became of event i. Returns how many were played. These are fewer than
 * count only with KM_WHEN_FULL_SAMPLE, where the next one needs the table to
 * be halved: count what was played, km_replay_halve(), and go on with it.
 */
size_t km_replay_run(struct km_replay *replay, const struct km_event *events, const uint32_t *keys, size_t count,
		     struct km_outcome *outcomes);
/*
 * Halve the table at the time of the event that found it full; purge() is
 * called for each object that goes. The table's k is one more after it, and
 * the table may still be full.
 */
void km_replay_halve(struct km_replay *replay, uint64_t time,
		     void (*purge)(void *context, const struct km_object *object), void *context);

/* The table as it stands: for walking what is live. */
const struct km_replay_hash *km_replay_table(const struct km_replay *replay);
const struct km_overflow *km_replay_overflow(const struct km_replay *replay);
enum km_when_full km_replay_when_full(const struct km_replay *replay);
const struct km_sampled *km_replay_sampled(const struct km_replay *replay);
/* Most objects in the table at once. */
uint64_t km_replay_peak_count(const struct km_replay *replay);
/*
 * The most objects that were alive at once, tracked or not: exact without
 * overflow and sampling, else an estimate from a sample of at most 4,096 addresses.
 */
uint64_t km_replay_true_peak_count(const struct km_replay *replay);
/* The size that would do: the next power of two over 1.25 x that peak. */
uint64_t km_replay_recommended_count(const struct km_replay *replay);
/* The last loss that was met. False: none was. What is older lived while events were lost. */
bool km_replay_last_loss(const struct km_replay *replay, uint64_t *ret_time);
/* Whether the address had a free or an untracked allocation before. May say so wrongly, never miss one. */
bool km_replay_was_seen(const struct km_replay *replay, uint64_t ptr);

#endif
