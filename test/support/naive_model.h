/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * naive_model: the replay's rules over again, as plainly as they can be
 * written and with a map of no special kind, and a generator of streams in
 * which everything rare is frequent. Tests compare src/replay.c with it event
 * by event. It shares no code with what it checks.
 */
#ifndef KM_NAIVE_MODEL_H
#define KM_NAIVE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "replay.h"

struct naive;

/* What one event did. */
struct naive_result {
	uint8_t kind; /* enum km_outcome_kind */
	bool implied_free;
	bool first_overflowed, first_sampled_out, first_purged;
	struct km_object object; /* as in struct km_outcome */
	/*
	 * Of `object`: the events, counted from 0, that allocated it and whose
	 * allocation it is. They differ once a second was told of it.
	 */
	size_t born, owner;
};

struct naive_episode {
	uint64_t start_time, end_time, count;
};

struct naive_overflow {
	uint64_t count, bytes, first_time, longest_time;
	bool is_open;
	struct naive_episode *episodes; /* all of them */
	size_t episodes_count;
};

/* One halving of a table that samples, just before an event. */
struct naive_halving {
	size_t event;
	size_t *born; /* the events that allocated what was purged */
	size_t count;
};

/* objects_count 0: no bound. Ends the test when out of memory, like all of this. */
struct naive *naive_new(uint64_t objects_count, unsigned cpus);
void naive_free(struct naive *naive);
/* A loss forgets what is live. */
void naive_reset_on_loss(struct naive *naive);

/* What does not fit makes it keep fewer addresses (--when-full sample). */
void naive_sample(struct naive *naive);
/* All halvings so far, in their order. */
const struct naive_halving *naive_halvings(const struct naive *naive, size_t *ret_count);

struct naive_result naive_play(struct naive *naive, const struct km_event *event, uint32_t key);

uint64_t naive_live_count(const struct naive *naive);
uint64_t naive_peak_count(const struct naive *naive);
const struct naive_overflow *naive_overflow(const struct naive *naive);
/* The live object at ptr, or NULL. */
const struct km_object *naive_find(const struct naive *naive, uint64_t ptr);

struct naive_stream {
	uint64_t seed;
	size_t events_count;
	unsigned cpus;
	unsigned pointers;     /* how many different addresses; few: everything collides */
	unsigned caches;       /* km_event.cache of cache events is 1 to this; 0: none */
	unsigned free_percent; /* 0: 45 */
	bool has_losses;
	bool pairs_are_whole; /* nothing of another CPU stands between the two events of a pair */
};

/* Times never fall; some are equal. */
void naive_stream_random(const struct naive_stream *stream, struct km_event *ret_events);
/* The same number for the same state; the state moves on. */
uint64_t naive_random(uint64_t *state);

#endif
