/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * balance: by how many objects each slab cache grew or shrank in a window of
 * the trace, as far as the events tell. It counts events of every allocation
 * and free of the window, whatever a filter selects and however old the
 * object is: what happened to a cache, not what became of some allocations.
 * It does not know slabinfo.
 *
 *   change = allocations - matched frees - unmatched frees - implied frees
 *
 * allocations      tracked and overflowed ones (replay.h); failed ones gave
 *                  nothing, the second of a doubled pair is no other object
 * matched frees    at the cache that their object was allocated from
 * unmatched frees  at the cache that the event names: objects from before
 *                  the trace, or whose allocation was not tracked or traced.
 *                  A kfree names none: km_balance_unknown_frees_count()
 * implied frees    at the old object's cache, when its address is handed out
 *                  again: when it was really freed is not known
 *
 * What a clock turned round (mend.h) is put right. A replay that samples does
 * not know the cache of each free: it has no balance.
 */
#ifndef KM_BALANCE_H
#define KM_BALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate.h"
#include "caches.h"
#include "event.h"
#include "mend.h"
#include "reader.h"
#include "replay.h"

/* One cache, in the order of names. Every number is one of the window. */
struct km_balance_row {
	const char *name; /* of km_caches_name() or of an event's: borrowed from these */
	uint64_t allocs_count;
	uint64_t overflowed_count; /* of them */
	uint64_t matched_frees_count, unmatched_frees_count, implied_frees_count;
	uint64_t object_bytes; /* bytes given, 0 if that is not one size or not known */
	bool is_kmalloc;       /* the cache is inferred from a kmalloc's size and flags */
};

static inline int64_t km_balance_change(const struct km_balance_row *row)
{
	return (int64_t)(row->allocs_count - row->matched_frees_count - row->unmatched_frees_count -
			 row->implied_frees_count);
}

struct km_balance;

struct km_balance *km_balance_new(void); /* NULL when out of memory */
void km_balance_free(struct km_balance *balance);

/*
 * Events of the window, what became of them and their keys, behind the
 * aggregate, which gave out the keys. from_time: the window's begin; earlier
 * events are passed over. mend: NULL where nothing is mended. 0 or -ENOMEM.
 */
int km_balance_account(struct km_balance *balance, const struct km_aggregate *aggregate, const struct km_mend *mend,
		       uint64_t from_time, const struct km_event *events, const uint32_t *keys,
		       const struct km_outcome *outcomes, size_t count);

/* Names are known: make the rows. caches and reader are borrowed. 0 or -ENOMEM. */
int km_balance_finish(struct km_balance *balance, const struct km_caches *caches, const struct km_reader *reader);
/* Sorted by name; those with an event of the window. Once finished. */
const struct km_balance_row *km_balance_rows(const struct km_balance *balance, size_t *ret_count);
/* Frees that matched nothing and name no cache. */
uint64_t km_balance_unknown_frees_count(const struct km_balance *balance);
/* Times that a CPU's events were lost within the window. */
uint64_t km_balance_holes_count(const struct km_balance *balance);

#endif
