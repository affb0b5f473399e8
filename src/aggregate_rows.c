/* SPDX-License-Identifier: GPL-2.0-only */
/* What counting came to: rows of sites, caches and groups, as sums over their keys. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate.h"
#include "aggregate_private.h"

const char *km_live_is_name(enum km_live_is is)
{
	static const char *const names[] = { [KM_LIVE_CONSISTENT] = "consistent",
					     [KM_LIVE_UPPER_BOUND] = "upper_bound",
					     [KM_LIVE_AT_LEAST] = "at_least",
					     [KM_LIVE_UNCERTAIN] = "uncertain",
					     [KM_LIVE_ESTIMATED] = "estimated" };

	return names[is];
}

const char *km_live_mark(enum km_live_is is)
{
	static const char *const marks[] = { [KM_LIVE_CONSISTENT] = "",
					     [KM_LIVE_UPPER_BOUND] = "<=",
					     [KM_LIVE_AT_LEAST] = ">=",
					     [KM_LIVE_UNCERTAIN] = "?",
					     [KM_LIVE_ESTIMATED] = "~" };

	return marks[is];
}

const char *km_level_peak_is(const struct km_level *level)
{
	if (level->peak_is_over)
		return "at_most";
	return level->peak_live_bytes < level->peak_bound_bytes ? "at_least" : "exact";
}

const char *km_row_peak_is(const struct km_row *row)
{
	return row->is_estimate ? "estimated" : km_level_peak_is(&row->level);
}

struct km_bounds km_live_bounds(enum km_live_is live_is, bool is_lost, uint64_t value, uint64_t overflowed)
{
	switch (live_is) {
	case KM_LIVE_CONSISTENT:
		break;
	case KM_LIVE_UPPER_BOUND:
		return (struct km_bounds){ .max = value };
	case KM_LIVE_AT_LEAST:
		return (struct km_bounds){ .min = value, .max = value + overflowed };
	case KM_LIVE_UNCERTAIN:
		return (struct km_bounds){ .max = is_lost ? 0 : value + overflowed, .max_is_unknown = is_lost };
	case KM_LIVE_ESTIMATED:
		return (struct km_bounds){ .max_is_unknown = true };
	}
	return (struct km_bounds){ .min = value, .max = value };
}

void km_aggregate_set_loss(struct km_aggregate *a)
{
	a->has_loss = true;
}

bool km_aggregate_is_finished(const struct km_aggregate *a)
{
	return a->is_finished;
}

/* --- finishing --- */

static void note_survivors(struct km_aggregate *a, const struct km_replay_hash *table)
{
	for (uint64_t i = 0; i < table->slots_count; i++) {
		const struct km_slot *slot = &table->slots[i];
		struct key *key;

		if (!slot->ptr || !km_key_is_selected(slot->key))
			continue;
		key = &a->keys[slot->key];
		if (!key->has_survivors || slot->time < key->oldest_time)
			key->oldest_time = slot->time;
		if (!key->has_survivors || slot->time > key->newest_time)
			key->newest_time = slot->time;
		key->has_survivors = true;
		if (a->page_frees && km_page_frees_since(a->page_frees, slot->ptr, slot->time))
			key->sums.page_freed_count++;
		if (a->samples) {
			struct km_object object;

			km_slot_unpack(slot, &object);
			a->kept[slot->key].live_squares += (double)object.bytes_alloc * object.bytes_alloc;
		}
	}
}

static bool has_untraced_frees(const struct key *key)
{
	return key->sums.implied_frees_count > 0 || key->sums.page_freed_count > 0;
}

/* Roots of one name are one row. */
static int make_cache_rows(struct km_aggregate *a)
{
	struct km_caches *caches = a->selection->caches;
	uint32_t nodes = km_caches_count(caches);
	struct km_tuples names;
	int r = -ENOMEM;

	km_tuples_init(&names, 1, KM_CACHES_LIMIT);
	a->cache_row_of_root = calloc(nodes + 1, sizeof(uint32_t));
	a->cache_row_roots = calloc(nodes + 1, sizeof(uint32_t));
	a->cache_row_has_implied = calloc(nodes + 1, sizeof(bool));
	a->cache_row_levels = calloc(nodes + 1, sizeof(struct km_level));
	if (!a->cache_row_of_root || !a->cache_row_roots || !a->cache_row_has_implied || !a->cache_row_levels)
		goto out;
	for (uint32_t root = 0; root < nodes; root++)
		a->cache_row_of_root[root] = UINT32_MAX;
	for (uint32_t k = 1; k <= a->key_tuples.count; k++) {
		uint32_t root = a->keys[k].root;
		const struct km_level *level = &a->cache_levels[root];
		struct km_level *row_level;
		uint64_t name;
		uint32_t row;
		bool is_new;

		if (a->cache_row_of_root[root] == UINT32_MAX) {
			name = (uint64_t)(uintptr_t)km_naming_keep(a->selection->naming, km_caches_name(caches, root));
			row = km_tuples_add(&names, &name, &is_new);
			if (row == KM_TUPLES_NONE)
				goto out;
			a->cache_row_of_root[root] = row;
			row_level = &a->cache_row_levels[row];
			if (is_new) {
				a->cache_row_roots[row] = root;
				*row_level = *level;
			} else { /* two caches, or one told apart for want of a name: the peaks are not of one moment */
				km_level_bound_sum(row_level, level);
				row_level->peak_is_over |= level->peak_is_over;
				row_level->live_bytes += level->live_bytes;
				row_level->live_count += level->live_count;
				if (level->peak_live_bytes > row_level->peak_live_bytes) {
					row_level->peak_live_bytes = level->peak_live_bytes;
					row_level->peak_time = level->peak_time;
				}
				if (level->peak_live_count > row_level->peak_live_count) {
					row_level->peak_live_count = level->peak_live_count;
					row_level->peak_count_time = level->peak_count_time;
				}
			}
		}
		row = a->cache_row_of_root[root];
		a->cache_row_has_implied[row] |= has_untraced_frees(&a->keys[k]);
	}
	for (uint32_t node = 0; node < nodes && node < a->node_has_implied_room; node++) {
		uint32_t row = a->cache_row_of_root[km_caches_root(caches, node)];

		if (row != UINT32_MAX)
			a->cache_row_has_implied[row] |= a->node_has_implied[node];
	}
	a->cache_rows_count = names.count;
	r = 0;
out:
	km_tuples_release(&names);
	return r;
}

static uint32_t row_of(const struct km_aggregate *a, enum km_axis axis, const struct key *key)
{
	switch (axis) {
	case KM_AXIS_SITE:
		return key->site;
	case KM_AXIS_CACHE:
		return a->cache_row_of_root[key->root];
	case KM_AXIS_GROUP:
		break;
	}
	return key->group - 1;
}

/* Keys sorted by row (a counting sort): those of row i stand at [starts[i], starts[i + 1]). */
static int sort_keys(struct km_aggregate *a, enum km_axis axis, size_t rows, uint32_t **ret_keys, uint32_t **ret_starts)
{
	uint32_t count = a->key_tuples.count;
	uint32_t *keys = calloc(count + 1, sizeof(*keys));
	uint32_t *starts = calloc(rows + 2, sizeof(*starts));

	*ret_keys = keys;
	*ret_starts = starts;
	if (!keys || !starts)
		return -ENOMEM;
	for (uint32_t k = 1; k <= count; k++)
		starts[row_of(a, axis, &a->keys[k]) + 2]++;
	for (size_t i = 2; i <= rows; i++)
		starts[i] += starts[i - 1];
	for (uint32_t k = 1; k <= count; k++)
		keys[starts[row_of(a, axis, &a->keys[k]) + 1]++] = k;
	return 0;
}

int km_aggregate_finish(struct km_aggregate *a, const struct km_replay_hash *table, struct km_error *error)
{
	int r;

	if (a->is_finished)
		return 0;
	a->is_finished = true;
	a->finished_k = a->k;
	for (uint32_t k = 1; k <= a->key_tuples.count; k++)
		km_aggregate_touch(a, &a->keys[k]);
	note_survivors(a, table);
	r = make_cache_rows(a);
	if (!r)
		r = sort_keys(a, KM_AXIS_SITE, a->sites.count, &a->keys_by_site, &a->site_starts);
	if (!r)
		r = sort_keys(a, KM_AXIS_CACHE, a->cache_rows_count, &a->keys_by_cache, &a->cache_starts);
	if (!r && a->selection->by.count)
		r = sort_keys(a, KM_AXIS_GROUP, a->groups.count, &a->keys_by_group, &a->group_starts);
	return r ? km_error_set(error, r, "out of memory") : 0;
}

/* --- rows --- */

const struct km_replayed *km_aggregate_replayed(const struct km_aggregate *a)
{
	return &a->replayed;
}

const struct km_freer *km_aggregate_freers(const struct km_aggregate *a, size_t *ret_count)
{
	*ret_count = a->freer_sites.count;
	return a->freers;
}

uint64_t km_aggregate_unmatched_by_cache(const struct km_aggregate *a, uint32_t cache)
{
	return cache < a->unmatched_room ? a->unmatched_by_cache[cache] : 0;
}

size_t km_aggregate_rows_count(const struct km_aggregate *a, enum km_axis axis)
{
	switch (axis) {
	case KM_AXIS_SITE:
		return a->sites.count;
	case KM_AXIS_CACHE:
		return a->cache_rows_count;
	case KM_AXIS_GROUP:
		return a->selection->by.count ? a->groups.count : 0;
	}
	return 0;
}

static void add_sums(struct km_sums *into, const struct km_sums *from)
{
	into->allocs_count += from->allocs_count;
	into->failed_count += from->failed_count;
	into->doubled_count += from->doubled_count;
	into->overflowed_count += from->overflowed_count;
	into->tracked_count += from->tracked_count;
	into->overflowed_bytes += from->overflowed_bytes;
	into->total_allocated_bytes += from->total_allocated_bytes;
	into->total_requested_bytes += from->total_requested_bytes;
	into->matched_frees_count += from->matched_frees_count;
	into->implied_frees_count += from->implied_frees_count;
	into->reset_count += from->reset_count;
	into->cross_cpu_frees_count += from->cross_cpu_frees_count;
	into->live_count += from->live_count;
	into->page_freed_count += from->page_freed_count;
	into->live_bytes += from->live_bytes;
	into->live_requested_bytes += from->live_requested_bytes;
	into->at_peak_count += from->at_peak_count;
	into->at_peak_bytes += from->at_peak_bytes;
	into->is_uncertain |= from->is_uncertain;
}

static void add_kept(struct km_kept *into, const struct km_kept *from)
{
	into->out_count += from->out_count;
	into->out_bytes += from->out_bytes;
	into->purged_count += from->purged_count;
	into->purged_bytes += from->purged_bytes;
	into->matched_count += from->matched_count;
	into->implied_count += from->implied_count;
	into->reset_count += from->reset_count;
	into->live_count += from->live_count;
	into->live_bytes += from->live_bytes;
	into->live_squares += from->live_squares;
}

/* Of a replay that samples: how far the row is an estimate, and how good. */
static void judge_estimate(const struct km_aggregate *a, struct km_row *row)
{
	double scale = ldexp(1, (int)a->finished_k);
	const struct km_kept *kept = &row->kept;
	const struct km_sums *sums = &row->sums;

	row->is_estimate = kept->out_count || kept->purged_count || kept->live_count != sums->live_count ||
			   kept->matched_count != sums->matched_frees_count ||
			   kept->implied_count != sums->implied_frees_count;
	row->error_is_unknown = row->is_estimate && !kept->live_count;
	row->live_error_bytes = (uint64_t)ceil(sqrt(scale * (scale - 1) * kept->live_squares));
	row->live_error_count = (uint64_t)ceil(sqrt(scale * (scale - 1) * (double)kept->live_count));
}

/* The first that applies; both an upper and a lower bound is none. */
static void judge(struct km_row *row, bool has_implied, bool has_loss)
{
	const struct km_sums *sums = &row->sums;
	bool lives = sums->tracked_count || sums->overflowed_count;
	bool upper = has_implied || (lives && !sums->matched_frees_count);
	bool lower = sums->overflowed_count > 0;

	row->is_lost = sums->is_uncertain || (has_loss && sums->live_count);
	row->is_upper = upper;
	if (row->is_lost || (upper && lower))
		row->live_is = KM_LIVE_UNCERTAIN;
	else if (row->is_estimate)
		row->live_is = KM_LIVE_ESTIMATED;
	else
		row->live_is = lower ? KM_LIVE_AT_LEAST : upper ? KM_LIVE_UPPER_BOUND : KM_LIVE_CONSISTENT;
}

/* bound: of km_level. least: what it can not be below. */
static struct km_bounds peak_bounds(const struct km_row *row, uint64_t peak, uint64_t bound, uint64_t overflowed,
				    uint64_t least)
{
	struct km_bounds bounds = km_live_bounds(row->live_is, row->is_lost, bound > peak ? bound : peak, overflowed);

	/* What surely lived is what the level surely had. */
	if (bounds.min)
		bounds.min = row->level.peak_is_over ? 0 : peak;
	if (bounds.min < least)
		bounds.min = least;
	return bounds;
}

/* kept: of what is in the sample. unseen: of what may live beside it. The most is no less than the estimate. */
static struct km_bounds estimate_bounds(const struct km_row *row, uint64_t estimate, uint64_t kept, uint64_t unseen)
{
	uint64_t max = kept + unseen > estimate ? kept + unseen : estimate;

	return (struct km_bounds){ .min = row->is_upper || row->is_lost || row->level.peak_is_over ? 0 : kept,
				   .max = row->is_lost ? 0 : max,
				   .max_is_unknown = row->is_lost };
}

static void set_peak_bounds(struct km_row *row, uint64_t least_bytes, uint64_t least_count)
{
	struct km_row_bounds *b = &row->bounds;
	const struct km_level *level = &row->level;

	if (row->is_estimate) {
		b->peak_live_bytes = estimate_bounds(row, level->peak_live_bytes, 0, row->sums.total_allocated_bytes);
		b->peak_live_count =
			estimate_bounds(row, level->peak_live_count, 0,
					row->sums.tracked_count + row->kept.out_count + row->sums.overflowed_count);
		b->peak_live_bytes.min = least_bytes;
		b->peak_live_count.min = least_count;
		return;
	}

	b->peak_live_bytes = peak_bounds(row, level->peak_live_bytes, level->peak_bound_bytes,
					 row->sums.overflowed_bytes, least_bytes);
	b->peak_live_count = peak_bounds(row, level->peak_live_count, level->peak_bound_count,
					 row->sums.overflowed_count, least_count);
}

static void set_bounds(struct km_row *row)
{
	const struct km_sums *sums = &row->sums;
	struct km_row_bounds *b = &row->bounds;

	if (row->is_estimate) {
		const struct km_kept *kept = &row->kept;

		b->live_bytes = estimate_bounds(row, sums->live_bytes, kept->live_bytes,
						kept->out_bytes + kept->purged_bytes + sums->overflowed_bytes);
		b->live_count = estimate_bounds(row, sums->live_count, kept->live_count,
						kept->out_count + kept->purged_count + sums->overflowed_count);
	} else {
		b->live_bytes = km_live_bounds(row->live_is, row->is_lost, sums->live_bytes, sums->overflowed_bytes);
		b->live_count = km_live_bounds(row->live_is, row->is_lost, sums->live_count, sums->overflowed_count);
	}
	set_peak_bounds(row, b->live_bytes.min, b->live_count.min);
}

static int add_keys(const struct km_aggregate *a, const uint32_t *keys, uint32_t from, uint32_t to, bool lifetimes,
		    struct km_row *row, bool *ret_has_implied)
{
	uint32_t last_site = UINT32_MAX;
	int r = 0;

	for (uint32_t i = from; i < to && !r; i++) {
		const struct key *key = &a->keys[keys[i]];

		add_sums(&row->sums, &key->sums);
		if (a->samples) {
			struct km_kept kept = a->kept[keys[i]];

			kept.live_count = key->sums.live_count >> a->finished_k;
			kept.live_bytes = key->sums.live_bytes >> a->finished_k;
			add_kept(&row->kept, &kept);
		}
		*ret_has_implied |=
			has_untraced_frees(key) || a->cache_row_has_implied[a->cache_row_of_root[key->root]];
		row->sites_count += key->site != last_site;
		last_site = key->site;
		if (key->has_survivors) {
			if (!row->has_survivors || key->oldest_time < row->oldest_time)
				row->oldest_time = key->oldest_time;
			if (!row->has_survivors || key->newest_time > row->newest_time)
				row->newest_time = key->newest_time;
			row->has_survivors = true;
		}
		if (lifetimes)
			r = km_histogram_merge(&row->lifetimes, &key->lifetimes);
	}
	return r;
}

int km_aggregate_row(const struct km_aggregate *a, enum km_axis axis, size_t index, bool lifetimes,
		     struct km_row *ret_row)
{
	struct km_row row = { 0 };
	bool has_implied = false;
	int r = 0;

	switch (axis) {
	case KM_AXIS_SITE:
		row.level = a->site_levels[index];
		r = add_keys(a, a->keys_by_site, a->site_starts[index], a->site_starts[index + 1], lifetimes, &row,
			     &has_implied);
		row.sites_count = 1;
		break;
	case KM_AXIS_CACHE:
		row.level = a->cache_row_levels[index];
		r = add_keys(a, a->keys_by_cache, a->cache_starts[index], a->cache_starts[index + 1], lifetimes, &row,
			     &has_implied);
		has_implied = a->cache_row_has_implied[index];
		break;
	case KM_AXIS_GROUP:
		row.level = a->group_levels[index + 1];
		r = add_keys(a, a->keys_by_group, a->group_starts[index], a->group_starts[index + 1], lifetimes, &row,
			     &has_implied);
		break;
	}
	if (a->samples)
		judge_estimate(a, &row);
	judge(&row, has_implied, a->has_loss);
	set_bounds(&row);
	if (r) {
		km_row_release(&row);
		return r;
	}
	*ret_row = row;
	return 0;
}

static void add_bounds(struct km_bounds *into, const struct km_bounds *from)
{
	into->min += from->min;
	into->max_is_unknown |= from->max_is_unknown;
	into->max = into->max_is_unknown ? 0 : into->max + from->max;
}

int km_aggregate_total(const struct km_aggregate *a, struct km_row *ret_row)
{
	enum km_live_is live_is = KM_LIVE_CONSISTENT;
	struct km_row row = { .level = a->total };
	uint64_t least_bytes = 0, least_count = 0; /* of the peak: what any site surely had */

	for (size_t site = 0; site < a->sites.count; site++) {
		struct km_row one;
		int r = km_aggregate_row(a, KM_AXIS_SITE, site, false, &one);

		if (r)
			return r;
		add_sums(&row.sums, &one.sums);
		add_kept(&row.kept, &one.kept);
		add_bounds(&row.bounds.live_bytes, &one.bounds.live_bytes);
		add_bounds(&row.bounds.live_count, &one.bounds.live_count);
		if (one.bounds.peak_live_bytes.min > least_bytes)
			least_bytes = one.bounds.peak_live_bytes.min;
		if (one.bounds.peak_live_count.min > least_count)
			least_count = one.bounds.peak_live_count.min;
		row.is_lost |= one.is_lost;
		row.is_upper |= one.is_upper;
		live_is = km_live_is_of_both(live_is, one.live_is);
		row.sites_count += one.sums.allocs_count > 0;
		if (one.has_survivors) {
			if (!row.has_survivors || one.oldest_time < row.oldest_time)
				row.oldest_time = one.oldest_time;
			if (!row.has_survivors || one.newest_time > row.newest_time)
				row.newest_time = one.newest_time;
			row.has_survivors = true;
		}
	}
	row.live_is = a->has_loss && row.sums.live_count ? KM_LIVE_UNCERTAIN : live_is;
	if (a->samples)
		judge_estimate(a, &row);
	set_peak_bounds(&row, least_bytes > row.bounds.live_bytes.min ? least_bytes : row.bounds.live_bytes.min,
			least_count > row.bounds.live_count.min ? least_count : row.bounds.live_count.min);
	*ret_row = row;
	return 0;
}

void km_row_release(struct km_row *row)
{
	km_histogram_release(&row->lifetimes);
}

/* --- what a row is --- */

uint64_t km_aggregate_site(const struct km_aggregate *a, size_t index)
{
	return *km_tuples_get(&a->sites, (uint32_t)index);
}

const char *km_aggregate_cache(const struct km_aggregate *a, size_t index)
{
	return km_caches_name(a->selection->caches, a->cache_row_roots[index]);
}

uint64_t km_aggregate_cache_object_bytes(const struct km_aggregate *a, size_t index)
{
	return km_caches_object_bytes(a->selection->caches, a->cache_row_roots[index]);
}

const uint64_t *km_aggregate_group(const struct km_aggregate *a, size_t index)
{
	return km_tuples_get(&a->groups, (uint32_t)index);
}

static int compare_names(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

size_t km_aggregate_site_caches(const struct km_aggregate *a, size_t index, const char **names, size_t limit)
{
	size_t count = 0, kept = 0;

	for (uint32_t i = a->site_starts[index]; i < a->site_starts[index + 1]; i++) {
		const char *name = km_caches_name(a->selection->caches, a->keys[a->keys_by_site[i]].root);
		bool is_there = false;

		for (size_t n = 0; n < kept && !is_there; n++)
			is_there = !strcmp(names[n], name);
		if (is_there)
			continue;
		count++;
		if (kept < limit)
			names[kept++] = name;
	}
	qsort(names, kept, sizeof(*names), compare_names);
	return count;
}

bool km_aggregate_has_inexact_peaks(const struct km_aggregate *a)
{
	for (size_t i = 0; i < a->cache_rows_count; i++) {
		if (strcmp(km_level_peak_is(&a->cache_row_levels[i]), "exact"))
			return true;
	}
	for (size_t i = 0; i < km_aggregate_rows_count(a, KM_AXIS_GROUP); i++) {
		if (strcmp(km_level_peak_is(&a->group_levels[i + 1]), "exact"))
			return true;
	}
	return false;
}

bool km_aggregate_key(const struct km_aggregate *a, uint32_t key, uint64_t *ret_call_site, const char **ret_cache)
{
	if (!key || key > a->key_tuples.count)
		return false;
	*ret_call_site = *km_tuples_get(&a->sites, a->keys[key].site);
	*ret_cache = km_caches_name(a->selection->caches, km_caches_root(a->selection->caches, a->keys[key].node));
	return true;
}

uint32_t km_aggregate_key_node(const struct km_aggregate *a, uint32_t key)
{
	return key & KM_KEY_LEFT_OUT ? key & ~KM_KEY_LEFT_OUT : a->keys[key].node;
}

uint32_t km_aggregate_key_site(const struct km_aggregate *a, uint32_t key)
{
	return a->keys[key].site;
}

uint32_t km_aggregate_key_group(const struct km_aggregate *a, uint32_t key)
{
	return a->keys[key].group - 1;
}

uint64_t km_aggregate_page_freed_count(const struct km_aggregate *a)
{
	uint64_t count = 0;

	for (uint32_t k = 1; k <= a->key_tuples.count; k++)
		count += a->keys[k].sums.page_freed_count;
	return count;
}
