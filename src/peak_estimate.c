/* SPDX-License-Identifier: GPL-2.0-only */
#include "peak_estimate.h"

#include <stdbool.h>
#include <string.h>

#include "replay_hash.h"

#define SLOTS (2 * KM_PEAK_ESTIMATE_COUNT)

static bool is_kept(const struct km_peak_estimate *e, uint64_t hash)
{
	return e->k == 0 || hash >> (64 - e->k) == 0;
}

/* The low bits choose the slot: the top ones are all 0 in what is kept. */
static unsigned find(const struct km_peak_estimate *e, uint64_t ptr)
{
	unsigned i = (unsigned)km_replay_hash_mix(ptr) % SLOTS;

	while (e->slots[i] && e->slots[i] != ptr)
		i = (i + 1) % SLOTS;
	return i;
}

static void purge(struct km_peak_estimate *e)
{
	uint64_t old[SLOTS];

	memcpy(old, e->slots, sizeof(old));
	memset(e->slots, 0, sizeof(e->slots));
	e->count = 0;
	e->k++;
	for (unsigned i = 0; i < SLOTS; i++) {
		if (old[i] && is_kept(e, km_replay_hash_mix(old[i]))) {
			e->slots[find(e, old[i])] = old[i];
			e->count++;
		}
	}
}

void km_peak_estimate_add(struct km_peak_estimate *e, uint64_t ptr)
{
	unsigned i;

	if (!is_kept(e, km_replay_hash_mix(ptr)))
		return;
	i = find(e, ptr);
	if (e->slots[i])
		return;
	while (e->count == KM_PEAK_ESTIMATE_COUNT) {
		purge(e);
		if (!is_kept(e, km_replay_hash_mix(ptr)))
			return;
	}
	i = find(e, ptr);
	e->slots[i] = ptr;
	e->count++;
	if ((uint64_t)e->count << e->k > e->peak)
		e->peak = (uint64_t)e->count << e->k;
}

void km_peak_estimate_remove(struct km_peak_estimate *e, uint64_t ptr)
{
	unsigned hole;

	if (!is_kept(e, km_replay_hash_mix(ptr)))
		return;
	hole = find(e, ptr);
	if (!e->slots[hole])
		return;
	for (unsigned i = (hole + 1) % SLOTS; e->slots[i]; i = (i + 1) % SLOTS) {
		unsigned home = (unsigned)km_replay_hash_mix(e->slots[i]) % SLOTS;

		if ((i + SLOTS - home) % SLOTS >= (i + SLOTS - hole) % SLOTS) {
			e->slots[hole] = e->slots[i];
			hole = i;
		}
	}
	e->slots[hole] = 0;
	e->count--;
}
