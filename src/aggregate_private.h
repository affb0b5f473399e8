/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * aggregate_private: what aggregate.c (counting) and aggregate_rows.c (what
 * came of it) share. Nobody else includes it.
 */
#ifndef KM_AGGREGATE_PRIVATE_H
#define KM_AGGREGATE_PRIVATE_H

#include "aggregate.h"
#include "tuples.h"

/* A (call site, cache node, group) and all that adds up. */
struct key {
	struct km_sums sums;
	uint64_t stamp; /* of the aggregate when it was last touched */
	uint32_t site;
	uint32_t node; /* of km_caches */
	uint32_t root; /* that node's root: index of cache_levels[] */
	uint32_t group;
	uint32_t next_of_node; /* key, 0: none */
	struct km_histogram lifetimes;
	uint64_t oldest_time, newest_time; /* of survivors; only if has_survivors */
	bool has_survivors;
	bool wants_name; /* km_caches_wants_name() of its node */
};

/* A shape of allocation, met before: a direct-mapped cache of key look-ups. */
struct shape {
	uint64_t call_site, bytes_req, bytes_alloc;
	uint32_t gfp, cache;
	uint32_t node, key; /* key 0: left out, or to be asked for each event */
	uint32_t kind;      /* enum km_event_kind + 1; 0: free slot */
	bool is_failed;
	bool is_taken;
};

#define SHAPES      4096
#define FREER_SLOTS 1024

struct freer_slot {
	uint64_t call_site;
	uint32_t freer; /* + 1; 0: free slot */
};

/* Peaks before a kmalloc that may turn out to be the first of a pair. */
struct pending {
	uint64_t stamp, peak_stamp;
	uint64_t at_peak_count, at_peak_bytes; /* the key's, at the peak before it */
	struct km_level site, cache, group, total;
	bool is_stale; /* the table was halved since: they are of another scale */
};

struct km_aggregate {
	struct km_selection *selection;
	const struct km_mend *mend;             /* NULL: nothing is mended */
	const struct km_page_frees *page_frees; /* NULL: there is no such evidence */
	bool is_dynamic;
	bool is_finished;
	bool has_loss;
	bool keeps_on_loss;
	bool samples;
	unsigned k;          /* halvings so far */
	unsigned finished_k; /* when it was finished */
	uint64_t stamp;      /* grows with every new peak and every hole */
	uint64_t peak_stamp; /* at the last new peak */
	uint64_t hole_stamp; /* at the last hole */
	struct km_replayed replayed;
	struct km_level total;

	struct key *keys; /* keys[0] is not used */
	uint32_t keys_room;
	struct km_kept *kept; /* of each key, if it samples */
	uint32_t kept_room;
	struct km_tuples key_tuples; /* site, node, group; key = number + 1 */
	struct km_tuples sites, groups, freer_sites;
	struct km_level *site_levels, *cache_levels, *group_levels;
	uint32_t site_levels_room, cache_levels_room, group_levels_room;
	uint32_t *node_keys; /* first key of each node */
	uint32_t node_keys_room;
	bool *node_has_implied; /* of what the filter leaves out */
	uint32_t node_has_implied_room;
	struct km_freer *freers;
	uint32_t freers_room;
	uint64_t *unmatched_by_cache;
	uint32_t unmatched_room;
	struct pending *pending; /* one a CPU */
	unsigned cpu_limit;
	struct shape *shapes;
	struct freer_slot freer_slots[FREER_SLOTS];

	/* Once finished: keys in the order of sites, cache rows, groups. */
	uint32_t *keys_by_site, *site_starts;
	uint32_t *keys_by_cache, *cache_starts;
	uint32_t *keys_by_group, *group_starts;
	uint32_t *cache_row_of_root;
	uint32_t *cache_row_roots; /* a root of each row */
	size_t cache_rows_count;
	bool *cache_row_has_implied;
	struct km_level *cache_row_levels;
};

/* What two levels together had at most at any moment becomes a bound of the first. */
static inline void km_level_bound_sum(struct km_level *level, const struct km_level *other)
{
	uint64_t bytes =
		level->peak_bound_bytes > level->peak_live_bytes ? level->peak_bound_bytes : level->peak_live_bytes;
	uint64_t count =
		level->peak_bound_count > level->peak_live_count ? level->peak_bound_count : level->peak_live_count;

	bytes += other->peak_bound_bytes > other->peak_live_bytes ? other->peak_bound_bytes : other->peak_live_bytes;
	count += other->peak_bound_count > other->peak_live_count ? other->peak_bound_count : other->peak_live_count;
	if (bytes > level->peak_bound_bytes)
		level->peak_bound_bytes = bytes;
	if (count > level->peak_bound_count)
		level->peak_bound_count = count;
}

void km_aggregate_touch(struct km_aggregate *aggregate, struct key *key);

#endif
