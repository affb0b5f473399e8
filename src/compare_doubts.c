/* SPDX-License-Identifier: GPL-2.0-only */
/* What makes a comparison doubtful, in words. Rows are still in the order of their identities. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "compare_private.h"
#include "format.h"
#include "rank_test.h"

/* Recordings of which the longest lasts no more than this many times the shortest are alike. */
#define DURATIONS_ALIKE 1.5L

static __attribute__((format(printf, 3, 4))) void warn(struct km_compare *compare, const char *code, const char *format,
						       ...)
{
	struct km_compare_warning *warning;
	va_list arguments;

	if (compare->warnings_count == KM_COMPARE_WARNINGS_LIMIT)
		return;
	warning = &compare->warnings[compare->warnings_count++];
	warning->code = code;
	va_start(arguments, format);
	vsnprintf(warning->text, sizeof(warning->text), format, arguments);
	va_end(arguments);
}

static const char *const side_names[] = { "base", "new" };

static void warn_of_kernels(struct km_compare *compare)
{
	const struct km_run *other = km_compare_other_kernel(compare);

	if (other)
		warn(compare, "kernels_differ",
		     "the kernels differ or are not told (%.100s; %.100s): functions may be split, inlined or renamed "
		     "otherwise",
		     km_compare_kernel(compare->sides[KM_BASE].runs[0]), km_compare_kernel(other));
}

/* Allocations and frees of the two families; old kernels' _node events are of the same. */
static unsigned kinds_of(const struct km_run *run)
{
	const uint64_t *n = run->replayed;

	return (n[KM_EVENT_KMALLOC] + n[KM_EVENT_KMALLOC_NODE] ? 1U : 0) | (n[KM_EVENT_KFREE] ? 2U : 0) |
	       (n[KM_EVENT_CACHE_ALLOC] + n[KM_EVENT_CACHE_ALLOC_NODE] ? 4U : 0) | (n[KM_EVENT_CACHE_FREE] ? 8U : 0);
}

static void warn_of_kinds(struct km_compare *compare)
{
	static const char *const names[] = { "kmalloc", "kfree", "kmem_cache_alloc", "kmem_cache_free" };
	unsigned any = 0, all = ~0U;
	char text[96] = "";
	size_t n = 0;

	for (unsigned side = 0; side < KM_SIDES; side++) {
		for (size_t i = 0; i < compare->sides[side].count; i++) {
			any |= kinds_of(compare->sides[side].runs[i]);
			all &= kinds_of(compare->sides[side].runs[i]);
		}
	}
	for (unsigned i = 0; i < 4; i++) {
		if ((any & ~all) >> i & 1)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? ", " : "", names[i]);
	}
	if (n)
		warn(compare, "event_sets_differ",
		     "not every recording has events of %s: their numbers can not be compared", text);
}

static void warn_of_durations(struct km_compare *compare)
{
	uint64_t least = UINT64_MAX, most = 0;
	char a[KM_FORMAT_BYTES], b[KM_FORMAT_BYTES];

	for (unsigned side = 0; side < KM_SIDES; side++) {
		for (size_t i = 0; i < compare->sides[side].count; i++) {
			uint64_t duration = km_compare_duration(&compare->sides[side], i);

			if (!compare->sides[side].runs[i]->clock_is_ns)
				return;
			least = duration < least ? duration : least;
			most = duration > most ? duration : most;
		}
	}
	if (compare->options.per == KM_PER_NOTHING && (long double)most > DURATIONS_ALIKE * (long double)least)
		warn(compare, "durations_differ",
		     "the recordings last from %s to %s: --per second or --ops may be fairer",
		     km_format_duration(a, least), km_format_duration(b, most));
}

static void warn_of_loss(struct km_compare *compare)
{
	for (unsigned side = 0; side < KM_SIDES; side++) {
		size_t lossy = 0, full = 0, nameless = 0, count = compare->sides[side].count;
		const struct km_run *lost = NULL, *over = NULL;
		char number[KM_FORMAT_BYTES];

		for (size_t i = 0; i < count; i++) {
			const struct km_run *run = compare->sides[side].runs[i];

			if (run->flags[KM_HOLES] || run->flags[KM_START_LOST] || run->flags[KM_TAIL_LOST]) {
				lost = lost ? lost : run;
				lossy++;
			}
			if (run->overflow.overflowed_count) {
				over = over ? over : run;
				full++;
			}
			nameless += run->symbols != KM_SYMBOLS_USABLE;
		}
		if (lost)
			warn(compare, "lost_events",
			     "%s: events were lost in %zu of %zu recordings, first %.100s (%s%s%s)", side_names[side],
			     lossy, count, lost->name, lost->flags[KM_HOLES] ? "holes" : "",
			     lost->flags[KM_TAIL_LOST]    ? " tail lost"
			     : lost->flags[KM_START_LOST] ? " start lost"
							  : "",
			     lost->flags[KM_HOLES] || lost->flags[KM_TAIL_LOST] ? ""
										: ": what is allocated in it counts");
		if (over)
			warn(compare, "overflow",
			     "%s: the table was full in %zu of %zu recordings, first %.100s: %s objects were not "
			     "tracked; live numbers are at least",
			     side_names[side], full, count, over->name,
			     km_format_count(number, over->overflow.overflowed_count));
		if (nameless)
			warn(compare, "symbols_missing", "%s: %zu of %zu recordings have no usable symbols",
			     side_names[side], nameless, count);
	}
}

/* Same release, other build: sites of one function that moved look like gone and new ones. */
static void warn_of_moved_sites(struct km_compare *compare)
{
	size_t moved = 0, known = 0;

	for (size_t from = 0, to; compare->axis == KM_RUN_SITES && from < compare->rows_count; from = to) {
		const struct km_run_row *first = compare->rows[from].row;
		size_t only[KM_SIDES] = { 0, 0 };

		for (to = from; to < compare->rows_count; to++) {
			const struct km_compare_row *row = &compare->rows[to];

			if (row->row != first && (!first || !row->row || strcmp(row->row->function, first->function)))
				break;
			only[KM_BASE] += !row->sides[KM_CHANGED].runs_count;
			only[KM_CHANGED] += !row->sides[KM_BASE].runs_count;
		}
		known += to - from;
		if (only[KM_BASE] && only[KM_CHANGED])
			moved += only[KM_BASE] < only[KM_CHANGED] ? only[KM_BASE] : only[KM_CHANGED];
	}
	if (moved >= 8 && moved * 10 > known)
		warn(compare, "builds_differ",
		     "%zu call sites seem to have moved within their functions: two builds of one release; --by "
		     "function "
		     "matches them",
		     moved);
}

static void warn_of_runs(struct km_compare *compare)
{
	size_t base = compare->sides[KM_BASE].count, changed = compare->sides[KM_CHANGED].count;

	if (compare->is_repeated && !compare->is_testable)
		warn(compare, "runs_few",
		     "%zu and %zu runs: at least %d a side are needed to tell a difference from noise, so nothing is "
		     "marked",
		     base, changed, KM_RANK_TEST_LEAST);
}

void km_compare_doubt(struct km_compare *compare)
{
	warn_of_kernels(compare);
	warn_of_moved_sites(compare);
	warn_of_kinds(compare);
	warn_of_durations(compare);
	warn_of_loss(compare);
	warn_of_runs(compare);
}
