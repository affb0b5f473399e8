/* SPDX-License-Identifier: GPL-2.0-only */
/* leaks_private: what leaks.c (gathering) and leaks_verdict.c (judging) share. Nobody else includes it. */
#ifndef KM_LEAKS_PRIVATE_H
#define KM_LEAKS_PRIVATE_H

#include "histogram.h"
#include "leaks.h"

/* A call site, number as km_aggregate_key_site() has it. What each event touches comes first. */
struct leak_site {
	uint64_t origin;    /* its first birth */
	uint8_t life_shift; /* births[] are buckets of 2^life_shift units from there */
	uint8_t net_shift;  /* of net_bytes[], from time 0 on */
	bool is_used;
	uint32_t births[KM_LEAKS_BUCKETS];   /* tracked */
	int64_t net_bytes[KM_LEAKS_BUCKETS]; /* change of live bytes */
	uint64_t reclaimable_count;          /* births with __GFP_RECLAIMABLE */
	struct km_histogram reuse_times;     /* of implied frees: from birth to the next use of the address */

	/* The survey. */
	uint64_t old_age;
	struct survivors *survivors; /* NULL: none */
};

struct survivors {
	uint64_t count, bytes;
	uint64_t oldest, newest; /* births */
	uint64_t age_sum_high, age_sum_low;
	int32_t pid_min, pid_max;
	struct km_histogram ages;
	uint64_t by_life[KM_LEAKS_BUCKETS], old_by_life[KM_LEAKS_BUCKETS];
	uint64_t old_count, old_bytes, before_loss_count;
	uint64_t page_freed_count; /* of count: in nothing else */
	uint64_t windows[KM_LEAKS_WINDOWS];
	uint64_t *cpus; /* bits */
};

/* A (site, cache node, group). */
struct leak_key {
	uint32_t site; /* + 1; 0: not asked for yet */
	uint8_t shift; /* of births[], from time 0 on */
	uint32_t births[KM_LEAKS_BUCKETS];
	uint64_t matched_count, implied_count; /* frees */
	uint64_t live_bytes;                   /* of the survey */
};

struct km_leaks {
	const struct km_reader *reader;
	uint64_t start_time;
	struct km_leaks_context context; /* of the survey */
	uint32_t reclaimable_flag;       /* 0: the recording's kernel has none */
	unsigned cpu_words;
	struct leak_site *sites;
	uint32_t sites_room;
	struct leak_key *keys;
	uint32_t keys_room;
	uint64_t inode_births_count; /* of all inode caches, whoever survived */
	struct km_leak *rows;        /* once judged */
	size_t rows_count;
	uint32_t *row_of_site; /* + 1, 0: nothing survived; likewise */
};

/* The bucket of a time; 0 for what is before the origin, the last one for what is behind it. */
static inline unsigned km_frame_bucket(uint64_t origin, unsigned shift, uint64_t time)
{
	uint64_t bucket = time > origin ? (time - origin) >> shift : 0;

	return bucket < KM_LEAKS_BUCKETS ? (unsigned)bucket : KM_LEAKS_BUCKETS - 1;
}

static inline uint64_t km_leak_births_count(const struct leak_site *site)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < KM_LEAKS_BUCKETS; i++)
		count += site->births[i];
	return count;
}

/*
 * The age from which on a survivor is old, of a site whose lifetimes have
 * this p99 (0: none was freed), in a trace of this length. leaks_verdict.c.
 */
uint64_t km_leaks_old_age(uint64_t lifetime_p99, uint64_t span);

#endif
