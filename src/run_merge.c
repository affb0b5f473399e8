/* SPDX-License-Identifier: GPL-2.0-only */
#include "run_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run_private.h"

static int out_of_memory(struct km_error *error)
{
	return km_error_set(error, -ENOMEM, "out of memory");
}

static bool add(uint64_t *into, uint64_t from)
{
	return !__builtin_add_overflow(*into, from, into);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* --- may they be merged --- */

static bool same_text(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* Ticks have the rate of a clock, which only that machine's next recording surely has too. */
static int check_ticks(const struct km_run *into, const struct km_run *from, struct km_error *error)
{
	const struct km_run_source *a = &into->sources[0], *b = &from->sources[0];

	if (into->clock_is_ns || (same_text(a->clock, b->clock) && same_text(a->kernel, b->kernel)))
		return 0;
	return km_error_set(
		error, -EINVAL, "%s and %s have times in ticks, of clock %s of %s and of %s of %s, which do not add up",
		into->name, from->name, a->clock ? a->clock : "(not told)", a->kernel ? a->kernel : "(not told)",
		b->clock ? b->clock : "(not told)", b->kernel ? b->kernel : "(not told)");
}

static int merge_sources(struct km_run *into, struct km_run *from, struct km_error *error)
{
	size_t count = into->sources_count + from->sources_count;
	struct km_run_source *all = calloc(count, sizeof(*all));

	if (!all)
		return out_of_memory(error);
	memcpy(all, into->sources, into->sources_count * sizeof(*all));
	memcpy(all + into->sources_count, from->sources, from->sources_count * sizeof(*all));
	free(into->sources);
	into->sources = all;
	into->sources_count = count;
	from->sources_count = 0; /* their texts went over */
	qsort(all, count, sizeof(*all), km_run_compare_sources);
	for (size_t i = 1; i < count; i++) {
		if (!km_run_compare_recordings(&all[i - 1], &all[i]))
			return km_error_set(error, -EINVAL,
					    "%s and %s are the same recording: its numbers would count twice",
					    all[i - 1].file, all[i].file);
	}
	return 0;
}

/* --- rows --- */

/* A row of another run gets texts of this one. */
static int adopt(struct km_run *into, struct km_run_row *row, struct km_error *error)
{
	bool failed = false;

	row->symbol = km_run_keep(into, row->symbol, &failed);
	row->function = km_run_keep(into, row->function, &failed);
	row->module = km_run_keep(into, row->module, &failed);
	row->cache = km_run_keep(into, row->cache, &failed);
	for (size_t i = 0; i < row->caches_count; i++)
		row->caches[i] = km_run_keep(into, row->caches[i], &failed);
	for (unsigned i = 0; i < into->by.count; i++) {
		if (km_by_columns[into->by.fields[i]].type == KM_TYPE_STRING && !row->keys[i].is_null)
			row->keys[i].text = km_run_keep(into, row->keys[i].text, &failed);
	}
	return failed ? km_error_set(error, -ENOSPC, "out of memory, or too many different names") : 0;
}

/* Both are sorted; so is what comes of it. */
static int merge_rows(struct km_run *into, struct km_run *from, enum km_run_axis axis, struct km_error *error)
{
	struct km_run_row **a = into->axes[axis].rows, **b = from->axes[axis].rows, **all;
	size_t a_count = into->axes[axis].count, b_count = from->axes[axis].count, i = 0, j = 0, count = 0;
	size_t room = 1;
	int r = 0;

	if (!b_count)
		return 0;
	for (j = 0; j < b_count && !r; j++)
		r = adopt(into, b[j], error);
	while (room < a_count + b_count) /* as km_run_grow() has it */
		room *= 2;
	all = r ? NULL : calloc(room, sizeof(struct km_run_row *));
	if (!all)
		return r ? r : out_of_memory(error);
	for (j = 0; i < a_count || j < b_count;) {
		int order = i == a_count ? 1 : j == b_count ? -1 : km_run_compare_rows(axis, into, a[i], b[j]);

		if (!order && !r)
			r = km_run_join(into, a[i], b[j], error);
		if (!order)
			km_run_free_row(b[j]);
		all[count++] = order <= 0 ? a[i] : b[j];
		i += order <= 0;
		j += order >= 0;
	}
	free(a);
	into->axes[axis].rows = all;
	into->axes[axis].count = count;
	from->axes[axis].count = 0; /* they went over */
	return r;
}

static int go_by_function(struct km_run *run, struct km_error *error)
{
	if (run->sites_by_function)
		return 0;
	run->sites_by_function = true;
	return km_run_settle(run, KM_RUN_SITES, error);
}

static void drop_derived(struct km_run *run)
{
	for (unsigned axis = 0; axis < KM_RUN_AXES; axis++) {
		if (!run->is_derived[axis])
			continue;
		for (size_t i = 0; i < run->axes[axis].count; i++)
			km_run_free_row(run->axes[axis].rows[i]);
		free(run->axes[axis].rows);
		run->axes[axis].rows = NULL;
		run->axes[axis].count = 0;
		run->is_derived[axis] = false;
	}
}

/* --- health --- */

static bool merge_overflow(struct km_run_overflow *into, const struct km_run_overflow *from)
{
	if (from->overflowed_count && (!into->overflowed_count || from->first < into->first))
		into->first = from->first;
	into->peak_count = larger(into->peak_count, from->peak_count);
	into->estimated_peak_count = larger(into->estimated_peak_count, from->estimated_peak_count);
	into->recommended_count = larger(into->recommended_count, from->recommended_count);
	into->capacity_count = larger(into->capacity_count, from->capacity_count);
	into->memory_bytes = larger(into->memory_bytes, from->memory_bytes);
	into->memory_peak_bytes = larger(into->memory_peak_bytes, from->memory_peak_bytes);
	into->longest_episode = larger(into->longest_episode, from->longest_episode);
	into->fixed |= from->fixed;
	into->samples |= from->samples;
	return add(&into->overflowed_count, from->overflowed_count) &&
	       add(&into->overflowed_bytes, from->overflowed_bytes) && add(&into->episodes_count, from->episodes_count);
}

static void merge_warning(struct km_run_warning *into, struct km_run_warning *from)
{
	into->sources_count += from->sources_count;
	if (strcmp(from->text, into->text) < 0) {
		const char *text = into->text;

		into->text = from->text;
		from->text = text;
	}
}

/* Both are sorted by code. */
static int merge_warnings(struct km_run *into, struct km_run *from)
{
	size_t i = 0;

	for (size_t j = 0; j < from->warnings_count; j++) {
		struct km_run_warning *warning = &from->warnings[j];

		while (i < into->warnings_count && strcmp(into->warnings[i].code, warning->code) < 0)
			i++;
		if (i < into->warnings_count && !strcmp(into->warnings[i].code, warning->code)) {
			merge_warning(&into->warnings[i], warning);
			continue;
		}
		if (km_run_grow(&into->warnings, into->warnings_count, sizeof(*warning)))
			return -ENOMEM;
		memmove(into->warnings + i + 1, into->warnings + i, (into->warnings_count - i) * sizeof(*warning));
		into->warnings[i] = *warning;
		into->warnings_count++;
		*warning = (struct km_run_warning){ .code = NULL };
		warning->code = strdup(into->warnings[i].code); /* `from` stays sorted */
		warning->text = strdup("");
		if (!warning->code || !warning->text)
			return -ENOMEM;
	}
	return 0;
}

/* Both are sorted by name. */
static int merge_unmatched(struct km_run *into, const struct km_run *from, struct km_error *error)
{
	size_t room = 1, i = 0, j = 0, count = 0;
	struct km_run_unmatched *all;
	bool failed = false, fits = true;

	while (room < into->unmatched_count + from->unmatched_count)
		room *= 2;
	all = calloc(room, sizeof(*all));
	if (!all)
		return out_of_memory(error);
	while (i < into->unmatched_count || j < from->unmatched_count) {
		int order = i == into->unmatched_count   ? 1
			    : j == from->unmatched_count ? -1
							 : strcmp(into->unmatched[i].cache, from->unmatched[j].cache);

		if (order <= 0) {
			all[count] = into->unmatched[i++];
		} else {
			all[count].cache = km_run_keep(into, from->unmatched[j].cache, &failed);
			all[count].count = 0;
		}
		if (order >= 0)
			fits &= add(&all[count].count, from->unmatched[j++].count);
		count++;
	}
	free(into->unmatched);
	into->unmatched = all;
	into->unmatched_count = count;
	if (failed)
		return out_of_memory(error);
	return fits ? 0 : km_error_set(error, -EOVERFLOW, "a sum of unmatched frees is larger than 64 bits hold");
}

static int merge_health(struct km_run *into, struct km_run *from, struct km_error *error)
{
	bool fits = true;

	for (unsigned i = 0; i < KM_COMPLETENESS_KINDS; i++)
		into->flags[i] |= from->flags[i];
	fits &= add(&into->lost_events_count, from->lost_events_count);
	if (from->lost_is > into->lost_is)
		into->lost_is = from->lost_is;
	if (into->lost_is == KM_LOST_UNKNOWN)
		into->lost_events_count = 0;
	if (from->symbols < into->symbols)
		into->symbols = from->symbols;
	for (unsigned i = 0; i < KM_RUN_REPLAYED; i++)
		fits &= add(&into->replayed[i], from->replayed[i]);
	fits &= merge_overflow(&into->overflow, &from->overflow);
	if (!fits)
		return km_error_set(error, -EOVERFLOW, "a sum of the replay is larger than 64 bits hold");
	if (merge_warnings(into, from))
		return out_of_memory(error);
	return merge_unmatched(into, from, error);
}

_Static_assert(KM_LOST_EXACT < KM_LOST_AT_LEAST && KM_LOST_AT_LEAST < KM_LOST_UNKNOWN, "the larger is the worse");
_Static_assert(KM_SYMBOLS_NONE < KM_SYMBOLS_ZEROED && KM_SYMBOLS_ZEROED < KM_SYMBOLS_USABLE,
	       "the smaller is the worse");

/* --- merging --- */

int km_run_merge(struct km_run *into, struct km_run *from, struct km_error *error)
{
	bool by_symbol = km_run_match_by_symbol(into, from);
	int r = km_run_check_alike(into, from, error);

	if (!r)
		r = check_ticks(into, from, error);
	if (r)
		return r;
	drop_derived(into);
	if (!by_symbol)
		r = go_by_function(into, error);
	if (!r && !by_symbol)
		r = go_by_function(from, error);
	if (!r)
		r = merge_sources(into, from, error);
	for (unsigned axis = 0; axis <= KM_RUN_GROUPS && !r; axis++)
		r = merge_rows(into, from, (enum km_run_axis)axis, error);
	if (!r)
		r = km_run_join(into, &into->totals, &from->totals, error);
	if (!r)
		r = merge_health(into, from, error);
	if (r)
		return r;
	km_run_finish(into);
	km_run_release(from);
	return 0;
}

int km_run_merger_add(struct km_run_merger *merger, struct km_run *run, struct km_error *error)
{
	for (unsigned i = 0; i < KM_RUN_MERGER_SLOTS; i++) {
		int r;

		if (!merger->slots[i]) {
			merger->slots[i] = run;
			return 0;
		}
		r = km_run_merge(merger->slots[i], run, error);
		if (r) {
			km_run_release(run);
			return r;
		}
		run = merger->slots[i];
		merger->slots[i] = NULL;
	}
	km_run_release(run);
	return km_error_set(error, -ENOSPC, "too many reports");
}

int km_run_merger_finish(struct km_run_merger *merger, struct km_run **ret_run, struct km_error *error)
{
	struct km_run *all = NULL;
	int r = 0;

	for (unsigned i = 0; i < KM_RUN_MERGER_SLOTS && !r; i++) {
		struct km_run *run = merger->slots[i];

		merger->slots[i] = NULL;
		if (!run)
			continue;
		if (!all) {
			all = run;
			continue;
		}
		r = km_run_merge(run, all, error);
		km_run_release(r ? all : NULL);
		all = run;
	}
	if (!r && !all)
		r = km_error_set(error, -EINVAL, "nothing to merge");
	if (!r) {
		*ret_run = all;
		return 0;
	}
	km_run_release(all);
	km_run_merger_release(merger);
	return r;
}

void km_run_merger_release(struct km_run_merger *merger)
{
	for (unsigned i = 0; i < KM_RUN_MERGER_SLOTS; i++)
		km_run_release(merger->slots[i]);
	memset(merger, 0, sizeof(*merger));
}
