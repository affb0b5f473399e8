/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts by node of km_caches, whose name may be learnt later, and by name
 * for what only a free names; both come together at the end.
 */
#include "balance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct counts {
	uint64_t allocs, overflowed, matched, implied;
	bool is_kmalloc;
};

struct km_balance {
	struct counts *nodes;
	size_t nodes_room;
	uint64_t *unmatched; /* by km_event.cache */
	size_t unmatched_room;
	uint64_t unknown_frees_count, holes_count;
	struct km_balance_row *rows;
	size_t rows_count;
};

struct km_balance *km_balance_new(void)
{
	return calloc(1, sizeof(struct km_balance));
}

void km_balance_free(struct km_balance *balance)
{
	if (!balance)
		return;
	free(balance->nodes);
	free(balance->unmatched);
	free(balance->rows);
	free(balance);
}

/* Room for `index` in an array of items that begin as zeros. */
static void *room_for(void *items, size_t *room, size_t index, size_t bytes)
{
	size_t count = *room ? *room : 64;
	char *larger;

	if (index < *room)
		return items;
	while (count <= index)
		count *= 2;
	larger = reallocarray(items, count, bytes);
	if (!larger)
		return NULL;
	memset(larger + *room * bytes, 0, (count - *room) * bytes);
	*room = count;
	return larger;
}

static struct counts *counts_of(struct km_balance *balance, const struct km_aggregate *aggregate, uint32_t key)
{
	uint32_t node = km_aggregate_key_node(aggregate, key);
	struct counts *nodes = room_for(balance->nodes, &balance->nodes_room, node, sizeof(*nodes));

	if (!nodes)
		return NULL;
	balance->nodes = nodes;
	return &nodes[node];
}

static int count_unmatched(struct km_balance *balance, uint32_t cache)
{
	uint64_t *unmatched;

	if (cache == KM_CACHE_NONE) {
		balance->unknown_frees_count++;
		return 0;
	}
	unmatched = room_for(balance->unmatched, &balance->unmatched_room, cache, sizeof(*unmatched));
	if (!unmatched)
		return -ENOMEM;
	balance->unmatched = unmatched;
	unmatched[cache]++;
	return 0;
}

/* A free that had matched nothing was the old object's: if it is of the window, it was counted. */
static int mend_late_alloc(struct km_balance *balance, const struct km_aggregate *aggregate,
			   const struct km_mend_note *note, uint64_t from_time)
{
	struct counts *old = counts_of(balance, aggregate, note->object.key);

	if (!old)
		return -ENOMEM;
	if (note->free_time < from_time)
		return 0;
	if (note->free_cache == KM_CACHE_NONE)
		balance->unknown_frees_count -= balance->unknown_frees_count > 0;
	else if (note->free_cache < balance->unmatched_room)
		balance->unmatched[note->free_cache] -= balance->unmatched[note->free_cache] > 0;
	old->matched++;
	return 0;
}

/* The old object's free was taken for the young one's, and the old one for freed without an event. */
static int mend_late_free(struct km_balance *balance, const struct km_aggregate *aggregate,
			  const struct km_mend_note *note)
{
	struct counts *old = counts_of(balance, aggregate, note->object.key);

	if (!old)
		return -ENOMEM;
	if (old->implied) {
		old->implied--;
		old->matched++;
	}
	return 0;
}

static int account_tracked(struct km_balance *balance, const struct km_aggregate *aggregate, const struct km_mend *mend,
			   uint64_t from_time, const struct km_event *event, uint32_t key,
			   const struct km_outcome *outcome)
{
	struct counts *counts;

	if (outcome->mend == KM_MEND_LATE_ALLOC) {
		if (mend_late_alloc(balance, aggregate, km_mend_note(mend, outcome), from_time))
			return -ENOMEM;
	} else if (outcome->implied_free) {
		counts = counts_of(balance, aggregate, outcome->object.key);
		if (!counts)
			return -ENOMEM;
		counts->implied++;
	}
	counts = counts_of(balance, aggregate, key);
	if (!counts)
		return -ENOMEM;
	counts->allocs++;
	counts->overflowed += outcome->kind == KM_OUTCOME_OVERFLOWED;
	counts->is_kmalloc = km_event_is_kmalloc(event);
	return 0;
}

static int account_one(struct km_balance *balance, const struct km_aggregate *aggregate, const struct km_mend *mend,
		       uint64_t from_time, const struct km_event *event, uint32_t key, const struct km_outcome *outcome)
{
	struct counts *counts;

	balance->holes_count += event->kind == KM_EVENT_LOST;
	switch (outcome->kind) {
	case KM_OUTCOME_TRACKED:
	case KM_OUTCOME_OVERFLOWED:
		return account_tracked(balance, aggregate, mend, from_time, event, key, outcome);
	case KM_OUTCOME_MATCHED:
		if (outcome->mend == KM_MEND_LATE_FREE)
			return mend_late_free(balance, aggregate, km_mend_note(mend, outcome));
		counts = counts_of(balance, aggregate, outcome->object.key);
		if (!counts)
			return -ENOMEM;
		counts->matched++;
		return 0;
	case KM_OUTCOME_UNMATCHED:
		return count_unmatched(balance, event->cache);
	default:
		return 0;
	}
}

int km_balance_account(struct km_balance *balance, const struct km_aggregate *aggregate, const struct km_mend *mend,
		       uint64_t from_time, const struct km_event *events, const uint32_t *keys,
		       const struct km_outcome *outcomes, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && !r; i++) {
		if (events[i].time >= from_time)
			r = account_one(balance, aggregate, mend, from_time, &events[i], keys[i], &outcomes[i]);
	}
	return r;
}

/* --- rows --- */

static int compare_rows(const void *a, const void *b)
{
	return strcmp(((const struct km_balance_row *)a)->name, ((const struct km_balance_row *)b)->name);
}

static void add_to(struct km_balance_row *sum, const struct km_balance_row *row)
{
	sum->allocs_count += row->allocs_count;
	sum->overflowed_count += row->overflowed_count;
	sum->matched_frees_count += row->matched_frees_count;
	sum->unmatched_frees_count += row->unmatched_frees_count;
	sum->implied_frees_count += row->implied_frees_count;
	sum->is_kmalloc |= row->is_kmalloc;
	if (!sum->object_bytes)
		sum->object_bytes = row->object_bytes;
}

int km_balance_finish(struct km_balance *balance, const struct km_caches *caches, const struct km_reader *reader)
{
	uint32_t nodes = km_caches_count(caches), names = km_reader_cache_count(reader);
	struct km_balance_row *rows = calloc((size_t)nodes + names + 1, sizeof(*rows));
	size_t count = 0, kept = 0;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < nodes && i < balance->nodes_room; i++) {
		const struct counts *counts = &balance->nodes[i];
		uint32_t root = km_caches_root(caches, i);

		if (!counts->allocs && !counts->matched && !counts->implied)
			continue;
		rows[count++] = (struct km_balance_row){ .name = km_caches_name(caches, root),
							 .allocs_count = counts->allocs,
							 .overflowed_count = counts->overflowed,
							 .matched_frees_count = counts->matched,
							 .implied_frees_count = counts->implied,
							 .object_bytes = km_caches_object_bytes(caches, root),
							 .is_kmalloc = counts->is_kmalloc };
	}
	for (uint32_t i = 1; i <= names && i < balance->unmatched_room; i++) {
		if (balance->unmatched[i])
			rows[count++] = (struct km_balance_row){ .name = km_reader_cache_name(reader, i),
								 .unmatched_frees_count = balance->unmatched[i] };
	}
	qsort(rows, count, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < count; i++) {
		if (kept && !strcmp(rows[kept - 1].name, rows[i].name))
			add_to(&rows[kept - 1], &rows[i]);
		else
			rows[kept++] = rows[i];
	}
	free(balance->rows);
	balance->rows = rows;
	balance->rows_count = kept;
	return 0;
}

const struct km_balance_row *km_balance_rows(const struct km_balance *balance, size_t *ret_count)
{
	*ret_count = balance->rows_count;
	return balance->rows;
}

uint64_t km_balance_unknown_frees_count(const struct km_balance *balance)
{
	return balance->unknown_frees_count;
}

uint64_t km_balance_holes_count(const struct km_balance *balance)
{
	return balance->holes_count;
}
