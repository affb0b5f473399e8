/* SPDX-License-Identifier: GPL-2.0-only */
/* Random streams through replay and counting, against the naive model and the naive count. */
#include "aggregate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count_setup.h"
#include "naive_count.h"
#include "naive_model.h"
#include "read_back.h"
#include "testing.h"
#include "trace_writer.h"

#define SITE UINT64_C(0xffffffff81000000)

/* --- the sums of the identities --- */

static void check_between(const struct km_bounds *bounds, uint64_t value, const char *what)
{
	if (bounds->min > value || (!bounds->max_is_unknown && bounds->max < value))
		ck_abort_msg("%s: %" PRIu64 " is not in its bounds", what, value);
}

static void check_identities(const struct km_row *row, bool samples, const char *what)
{
	const struct km_sums *s = &row->sums;

	if (s->allocs_count !=
	    s->failed_count + s->doubled_count + s->overflowed_count + s->tracked_count + row->kept.out_count)
		ck_abort_msg("%s: %" PRIu64 " allocs", what, s->allocs_count);
	if (samples) {
		const struct km_kept *k = &row->kept;

		if (s->tracked_count !=
		    k->matched_count + k->implied_count + k->live_count + k->reset_count + k->purged_count)
			ck_abort_msg("%s: %" PRIu64 " tracked, %" PRIu64 " kept", what, s->tracked_count,
				     k->live_count);
		if (!row->is_estimate &&
		    (k->live_count != s->live_count || k->matched_count != s->matched_frees_count ||
		     k->live_bytes != s->live_bytes || k->implied_count != s->implied_frees_count))
			ck_abort_msg("%s: is an estimate", what);
		if (row->is_estimate != (row->live_is == KM_LIVE_ESTIMATED) && row->live_is != KM_LIVE_UNCERTAIN)
			ck_abort_msg("%s: live is %s", what, km_live_is_name(row->live_is));
		check_between(&row->bounds.live_bytes, s->live_bytes, what);
		check_between(&row->bounds.live_count, s->live_count, what);
		check_between(&row->bounds.peak_live_bytes, row->level.peak_live_bytes, what);
		check_between(&row->bounds.peak_live_count, row->level.peak_live_count, what);
		return;
	}
	if (s->tracked_count != s->matched_frees_count + s->implied_frees_count + s->live_count + s->reset_count)
		ck_abort_msg("%s: %" PRIu64 " tracked, %" PRIu64 " live", what, s->tracked_count, s->live_count);
	if (s->total_requested_bytes > s->total_allocated_bytes || s->live_bytes > s->total_allocated_bytes ||
	    s->overflowed_bytes > s->total_allocated_bytes)
		ck_abort_msg("%s: %" PRIu64 " bytes", what, s->total_allocated_bytes);
}

static void check_same_sums(const struct km_sums *is, const struct km_sums *wanted, bool losses_count, const char *what)
{
#define SAME(field)                     \
	if (is->field != wanted->field) \
	ck_abort_msg("%s: " #field " is %" PRIu64 ", not %" PRIu64, what, (uint64_t)is->field, (uint64_t)wanted->field)
	SAME(allocs_count);
	SAME(failed_count);
	SAME(doubled_count);
	SAME(overflowed_count);
	SAME(tracked_count);
	SAME(overflowed_bytes);
	SAME(total_allocated_bytes);
	SAME(total_requested_bytes);
	SAME(matched_frees_count);
	SAME(implied_frees_count);
	SAME(reset_count);
	SAME(cross_cpu_frees_count);
	SAME(live_count);
	SAME(live_bytes);
	SAME(live_requested_bytes);
	SAME(at_peak_count);
	SAME(at_peak_bytes);
	if (losses_count)
		SAME(is_uncertain);
#undef SAME
}

static void check_same_kept(const struct km_kept *is, const struct km_kept *wanted, const char *what)
{
	if (is->out_count != wanted->out_count || is->out_bytes != wanted->out_bytes ||
	    is->purged_count != wanted->purged_count || is->purged_bytes != wanted->purged_bytes ||
	    is->matched_count != wanted->matched_count || is->implied_count != wanted->implied_count ||
	    is->reset_count != wanted->reset_count || is->live_count != wanted->live_count ||
	    is->live_bytes != wanted->live_bytes)
		ck_abort_msg("%s: sampled out %" PRIu64 ", purged %" PRIu64 ", kept live %" PRIu64 ", not %" PRIu64
			     ", %" PRIu64 ", %" PRIu64,
			     what, is->out_count, is->purged_count, is->live_count, wanted->out_count,
			     wanted->purged_count, wanted->live_count);
}

static void add_sums(struct km_sums *into, const struct km_sums *s)
{
	into->allocs_count += s->allocs_count;
	into->failed_count += s->failed_count;
	into->doubled_count += s->doubled_count;
	into->overflowed_count += s->overflowed_count;
	into->tracked_count += s->tracked_count;
	into->overflowed_bytes += s->overflowed_bytes;
	into->total_allocated_bytes += s->total_allocated_bytes;
	into->total_requested_bytes += s->total_requested_bytes;
	into->matched_frees_count += s->matched_frees_count;
	into->implied_frees_count += s->implied_frees_count;
	into->reset_count += s->reset_count;
	into->cross_cpu_frees_count += s->cross_cpu_frees_count;
	into->live_count += s->live_count;
	into->live_bytes += s->live_bytes;
	into->live_requested_bytes += s->live_requested_bytes;
	into->at_peak_count += s->at_peak_count;
	into->at_peak_bytes += s->at_peak_bytes;
	into->is_uncertain |= s->is_uncertain;
}

/* Sites, caches and groups come to the same, and to the whole; each of them holds the identities. */
static void check_axes(const struct count_setup *s)
{
	static const char *const axes[] = { "a site", "a cache", "a group" };
	struct km_row total = { 0 };

	ck_assert_int_eq(km_aggregate_total(s->aggregate, &total), 0);
	check_identities(&total, s->when_full == KM_WHEN_FULL_SAMPLE, "total");
	ck_assert_uint_eq(total.sums.live_count, total.level.live_count);
	ck_assert_uint_eq(total.sums.live_bytes, total.level.live_bytes);
	ck_assert_uint_eq(total.sums.at_peak_bytes, total.level.peak_live_bytes);
	for (enum km_axis axis = 0; axis < NAIVE_AXES; axis++) {
		size_t rows = km_aggregate_rows_count(s->aggregate, axis);
		struct km_sums sum = { 0 };

		for (size_t i = 0; i < rows; i++) {
			struct km_row row;

			ck_assert_int_eq(km_aggregate_row(s->aggregate, axis, i, true, &row), 0);
			check_identities(&row, s->when_full == KM_WHEN_FULL_SAMPLE, axes[axis]);
			add_sums(&sum, &row.sums);
			if (row.sums.live_count != row.level.live_count ||
			    row.sums.live_bytes != row.level.live_bytes ||
			    row.level.peak_live_bytes < row.sums.at_peak_bytes ||
			    row.level.peak_live_bytes < row.sums.live_bytes ||
			    row.level.peak_live_bytes > total.level.peak_live_bytes ||
			    row.has_survivors != (row.sums.live_count > 0) ||
			    row.lifetimes.count != row.sums.matched_frees_count)
				ck_abort_msg("%s: row %zu does not fit", axes[axis], i);
			km_row_release(&row);
		}
		if (axis != KM_AXIS_GROUP || s->selection.by.count)
			check_same_sums(&sum, &total.sums, true, axes[axis]);
	}
	km_row_release(&total);
}

static void check_replayed(const struct count_setup *s)
{
	const struct km_replayed *r = km_aggregate_replayed(s->aggregate);
	uint64_t matched = 0, unmatched = 0, null = 0;
	const struct km_freer *freers;
	size_t count;

	ck_assert_uint_eq(r->alloc_events_count, r->failed_count + r->doubled_count + r->overflowed_count +
							 r->tracked_count + r->sampled_out_count);
	ck_assert_uint_eq(r->tracked_count, r->matched_frees_count + r->implied_frees_count +
						    km_replay_table(s->replay)->count + r->reset_count +
						    r->purged_count);
	ck_assert_uint_eq(r->free_events_count, r->null_frees_count + r->matched_frees_count +
							r->unmatched_frees_count + r->sampled_out_frees_count);
	freers = km_aggregate_freers(s->aggregate, &count);
	for (size_t i = 0; i < count; i++) {
		matched += freers[i].matched_count;
		unmatched += freers[i].unmatched_count;
		null += freers[i].null_count;
	}
	ck_assert_uint_eq(matched, r->matched_frees_count);
	ck_assert_uint_eq(unmatched, r->unmatched_frees_count);
	ck_assert_uint_eq(null, r->null_frees_count);
	ck_assert_uint_eq(km_replay_overflow(s->replay)->count, r->overflowed_count);
}

/* --- against the naive count --- */

static void class_name(uint64_t bytes, char *ret_name)
{
	uint64_t class = 8;

	while (class < bytes)
		class *= 2;
	if (bytes > 64 && bytes <= 96)
		class = 96;
	if (bytes > 128 && bytes <= 192)
		class = 192;
	if (class > 8192)
		strcpy(ret_name, "large");
	else if (class >= 1024)
		snprintf(ret_name, 24, "%" PRIu64 "k", class / 1024);
	else
		snprintf(ret_name, 24, "%" PRIu64, class);
}

static void cache_label(const struct km_event *e, char *ret_label)
{
	bool is_accounted = e->gfp & tw_gfp(COUNT_KERNEL, "__GFP_ACCOUNT");
	char class[24];

	if (!km_event_is_kmalloc(e)) {
		strcpy(ret_label, count_cache_names[e->cache - 1]);
		return;
	}
	class_name(e->bytes_req, class);
	snprintf(ret_label, NAIVE_LABEL_BYTES, "kmalloc-%s%s", is_accounted && strcmp(class, "large") ? "cg-" : "",
		 class);
}

static void field_label(enum km_by field, const struct km_event *e, char *ret_label)
{
	uint64_t size = 1;

	switch (field) {
	case KM_BY_SITE:
		snprintf(ret_label, NAIVE_LABEL_BYTES, "kernel_fn_%02" PRIu64 "+0x%" PRIx64,
			 (e->call_site - SITE) >> 12, e->call_site & 0xfff);
		break;
	case KM_BY_FUNCTION:
		snprintf(ret_label, NAIVE_LABEL_BYTES, "kernel_fn_%02" PRIu64, (e->call_site - SITE) >> 12);
		break;
	case KM_BY_CACHE:
		cache_label(e, ret_label);
		break;
	case KM_BY_PID:
		snprintf(ret_label, NAIVE_LABEL_BYTES, "%d", e->pid);
		break;
	case KM_BY_CPU:
		snprintf(ret_label, NAIVE_LABEL_BYTES, "%u", e->cpu);
		break;
	case KM_BY_NODE:
		snprintf(ret_label, NAIVE_LABEL_BYTES, "%d", e->node);
		break;
	case KM_BY_SIZE:
		while (size < e->bytes_req)
			size *= 2;
		snprintf(ret_label, NAIVE_LABEL_BYTES, "%" PRIu64, size);
		break;
	default:
		ck_abort();
	}
}

static void label(const void *context, enum km_axis axis, const struct km_event *e, char *ret_label)
{
	const struct count_setup *s = context;
	size_t length = 0;

	*ret_label = '\0';
	if (axis == KM_AXIS_SITE)
		snprintf(ret_label, NAIVE_LABEL_BYTES, "0x%" PRIx64, e->call_site);
	else if (axis == KM_AXIS_CACHE)
		cache_label(e, ret_label);
	for (unsigned i = 0; axis == KM_AXIS_GROUP && i < s->selection.by.count; i++) {
		char text[NAIVE_LABEL_BYTES];

		field_label(s->selection.by.fields[i], e, text);
		length += (size_t)snprintf(ret_label + length, NAIVE_LABEL_BYTES - length, "%s;", text);
	}
}

static bool is_selected(const void *context, const struct km_event *e)
{
	const struct count_setup *s = context;
	const struct km_filter *f = &s->filter;
	char text[NAIVE_LABEL_BYTES];

	if (e->bytes_alloc < f->min_size_bytes || e->time < s->selection.from_time ||
	    e->time >= s->selection.until_time)
		return false;
	if (f->function.count) { /* one glob */
		field_label(KM_BY_FUNCTION, e, text);
		if (strcmp(text, f->function.items[0].glob) != 0)
			return false;
	}
	return km_ranges_match(&f->pid, e->pid) && km_ranges_match(&f->cpu, e->cpu);
}

/* The label of a row, from what the aggregate says of it. */
static void row_label(const struct count_setup *s, enum km_axis axis, size_t row, char *ret_label)
{
	const uint64_t *values;
	size_t length = 0;

	*ret_label = '\0';
	if (axis == KM_AXIS_SITE)
		snprintf(ret_label, NAIVE_LABEL_BYTES, "0x%" PRIx64, km_aggregate_site(s->aggregate, row));
	else if (axis == KM_AXIS_CACHE)
		snprintf(ret_label, NAIVE_LABEL_BYTES, "%s", km_aggregate_cache(s->aggregate, row));
	if (axis != KM_AXIS_GROUP)
		return;
	values = km_aggregate_group(s->aggregate, row);
	for (unsigned i = 0; i < s->selection.by.count; i++) {
		enum km_by field = s->selection.by.fields[i];
		char *at = ret_label + length;
		size_t room = NAIVE_LABEL_BYTES - length;
		struct km_cell cell;

		km_selection_cell(&s->selection, field, values[i], &cell);
		if (km_by_columns[field].type == KM_TYPE_STRING)
			length += (size_t)snprintf(at, room, "%s;", cell.text);
		else if (km_by_columns[field].type == KM_TYPE_INTEGER)
			length += (size_t)snprintf(at, room, "%" PRId64 ";", cell.integer);
		else
			length += (size_t)snprintf(at, room, "%" PRIu64 ";", cell.number);
	}
}

/* How near the peaks have to be. */
enum peaks { PEAKS_EXACT, PEAKS_BYTES_OF_TOTAL_ONLY };

static void check_tally(const struct km_row *is, const struct naive_tally *wanted, enum peaks peaks, bool losses_count,
			bool samples)
{
	const char *what = wanted->label;
	struct km_level level = is->level;

	check_same_sums(&is->sums, &wanted->sums, losses_count, what);
	if (samples)
		check_same_kept(&is->kept, &wanted->kept, what);
	ck_assert_uint_eq(is->has_survivors, wanted->has_survivors);
	if (is->has_survivors) {
		ck_assert_uint_eq(is->oldest_time, wanted->oldest_time);
		ck_assert_uint_eq(is->newest_time, wanted->newest_time);
	}
	if (peaks == PEAKS_EXACT &&
	    (level.peak_live_bytes != wanted->peak_live_bytes || level.peak_time != wanted->peak_time ||
	     level.peak_live_count != wanted->peak_live_count || level.peak_count_time != wanted->peak_count_time))
		ck_abort_msg("%s: peaks %" PRIu64 " bytes at %" PRIu64 ", %" PRIu64 " at %" PRIu64 ", not %" PRIu64
			     " at %" PRIu64 ", %" PRIu64 " at %" PRIu64,
			     what, level.peak_live_bytes, level.peak_time, level.peak_live_count, level.peak_count_time,
			     wanted->peak_live_bytes, wanted->peak_time, wanted->peak_live_count,
			     wanted->peak_count_time);
}

static void check_lifetimes(const struct km_row *is, const struct naive_tally *wanted)
{
	if (is->lifetimes.count != wanted->lifetimes_count ||
	    (is->lifetimes.count &&
	     (is->lifetimes.min != wanted->lifetime_min || is->lifetimes.max != wanted->lifetime_max)))
		ck_abort_msg("%s: lifetimes", wanted->label);
}

static void check_freers(const struct count_setup *s, const struct naive_count *wanted)
{
	size_t count;
	const struct km_freer *freers = km_aggregate_freers(s->aggregate, &count);

	ck_assert_uint_eq(count, wanted->freers_count);
	for (size_t i = 0; i < count; i++) { /* both in the order of first sight */
		ck_assert_uint_eq(freers[i].call_site, wanted->freers[i].call_site);
		ck_assert_uint_eq(freers[i].matched_count, wanted->freers[i].matched_count);
		ck_assert_uint_eq(freers[i].unmatched_count, wanted->freers[i].unmatched_count);
		ck_assert_uint_eq(freers[i].null_count, wanted->freers[i].null_count);
		ck_assert_uint_eq(freers[i].sampled_out_count, wanted->freers[i].sampled_out_count);
	}
}

static void check_count(const struct count_setup *s, const struct naive_count *wanted, enum peaks peaks,
			bool losses_count)
{
	bool samples = s->when_full == KM_WHEN_FULL_SAMPLE;
	struct km_row total = { 0 };

	ck_assert_int_eq(km_aggregate_total(s->aggregate, &total), 0);
	check_tally(&total, &wanted->total, peaks, losses_count, samples);
	if (!samples || peaks == PEAKS_EXACT)
		ck_assert_uint_eq(total.level.peak_live_bytes, wanted->total.peak_live_bytes);
	km_row_release(&total);
	for (enum km_axis axis = 0; axis < NAIVE_AXES; axis++) {
		size_t rows = km_aggregate_rows_count(s->aggregate, axis);

		if (axis == KM_AXIS_GROUP && !s->selection.by.count)
			continue;
		ck_assert_uint_eq(rows, wanted->tallies_count[axis]);
		for (size_t i = 0; i < rows; i++) {
			char text[NAIVE_LABEL_BYTES];
			const struct naive_tally *tally;
			struct km_row row;

			row_label(s, axis, i, text);
			tally = naive_count_find(wanted, axis, text);
			if (!tally)
				ck_abort_msg("axis %u: there is no \"%s\"", axis, text);
			ck_assert_int_eq(km_aggregate_row(s->aggregate, axis, i, true, &row), 0);
			check_tally(&row, tally, peaks, losses_count, samples);
			check_lifetimes(&row, tally);
			km_row_release(&row);
		}
	}
}

/* Events that have a cache, sizes that fit, and gfp flags. */
static void make_plausible(struct km_event *events, size_t count)
{
	uint32_t kernel = tw_gfp(COUNT_KERNEL, "GFP_KERNEL"), account = tw_gfp(COUNT_KERNEL, "GFP_KERNEL_ACCOUNT");

	for (size_t i = 0; i < count; i++) {
		struct km_event *e = &events[i];

		if (!km_event_is_alloc(e))
			continue;
		e->gfp = e->pid % 3 ? kernel : account;
		if (!km_event_is_kmalloc(e) && !e->cache) {
			e->cache = 1;
			e->bytes_req = 50;
			e->bytes_alloc = 64;
		} else if (km_event_is_kmalloc(e)) {
			for (e->bytes_alloc = 8; e->bytes_alloc < e->bytes_req;)
				e->bytes_alloc *= 2;
		}
	}
}

static struct km_event *nasty_events(uint64_t seed, size_t count, bool pairs_are_whole)
{
	struct km_event *events = calloc(count, sizeof(*events));
	const struct naive_stream stream = { .seed = seed,
					     .events_count = count,
					     .cpus = COUNT_CPUS,
					     .pointers = 5 + (unsigned)(seed * seed) % 90,
					     .caches = 3,
					     .has_losses = seed % 2,
					     .pairs_are_whole = pairs_are_whole };

	naive_stream_random(&stream, events);
	make_plausible(events, count);
	return events;
}

static struct naive_count *count_naively(const struct count_setup *s, const struct km_event *events, size_t count,
					 uint64_t objects_count, bool resets_on_loss)
{
	const struct naive_labels labels = { .is_selected = is_selected, .label = label, .context = s };
	struct naive_result *results = calloc(count, sizeof(*results));
	struct naive *naive = naive_new(objects_count, COUNT_CPUS);
	const struct naive_halving *halvings;
	struct naive_count *counted;
	size_t halvings_count;

	if (resets_on_loss)
		naive_reset_on_loss(naive);
	if (s->when_full == KM_WHEN_FULL_SAMPLE)
		naive_sample(naive);
	for (size_t i = 0; i < count; i++)
		results[i] = naive_play(naive, &events[i], 0);
	halvings = naive_halvings(naive, &halvings_count);
	counted = naive_count_new(events, results, count, &labels, halvings, halvings_count);
	naive_free(naive);
	free(results);
	return counted;
}

/* Plays and counts, both ways; s is torn down. */
static void compare(struct count_setup *s, const struct km_event *events, size_t count, uint64_t objects_count,
		    enum peaks peaks)
{
	struct naive_count *wanted = count_naively(s, events, count, objects_count, false);

	count_start(s, objects_count, false);
	count_run(s, events, count);
	count_finish(s);
	if (peaks == PEAKS_EXACT)
		check_axes(s);
	check_replayed(s);
	check_freers(s, wanted);
	check_count(s, wanted, peaks, peaks == PEAKS_EXACT);
	naive_count_free(wanted);
	count_tear_down(s);
}

static const uint64_t tables[] = { 0, 1, 3, 7, 30 };

START_TEST(sites_and_caches_as_the_naive_count)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct km_event *events = nasty_events(seed, 3000, true);

		compare(count_set_up(NULL), events, 3000, tables[seed % 5], PEAKS_EXACT);
		free(events);
	}
}
END_TEST

START_TEST(groups_as_the_naive_count)
{
	static const char *const lists[] = {
		"pid",   "node,size",  "site,cache", "function", "cpu,function",
		"cache", "size,cache", "pid,cpu",    "site",     "function,cache,pid,cpu,node,size"
	};

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct km_event *events = nasty_events(seed + 100, 3000, true);

		compare(count_set_up(lists[seed % 10]), events, 3000, tables[seed % 5], PEAKS_EXACT);
		free(events);
	}
}
END_TEST

/*
 * With other CPUs' events between the two of a pair all numbers are the same
 * but two: a site's own peak that fell in between, and whether another CPU
 * lost events there.
 */
START_TEST(pairs_that_are_parted)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct km_event *events = nasty_events(seed + 200, 3000, false);

		compare(count_set_up("site,pid"), events, 3000, tables[seed % 5], PEAKS_BYTES_OF_TOTAL_ONLY);
		free(events);
	}
}
END_TEST

START_TEST(filters_by_shape)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct km_event *events = nasty_events(seed + 300, 3000, true);
		struct count_setup *s = count_set_up("cache");

		s->filter.min_size_bytes = seed % 2 ? 1000 : 9000;
		compare(s, events, 3000, tables[seed % 5], PEAKS_EXACT);
		free(events);
	}
}
END_TEST

START_TEST(filters_by_event)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct km_event *events = nasty_events(seed + 400, 3000, true);
		struct count_setup *s = count_set_up("cache,pid");

		if (seed % 3 == 0)
			ck_assert_int_eq(km_ranges_parse(&s->filter.pid, "101-102", NULL), 0);
		else if (seed % 3 == 1)
			ck_assert_int_eq(km_ranges_parse(&s->filter.cpu, "!2", NULL), 0);
		else
			s->selection.from_time = events[1000].time, s->selection.until_time = events[2000].time;
		compare(s, events, 3000, tables[seed % 5], PEAKS_EXACT);
		free(events);
	}
}
END_TEST

/* The two of a pair are of two functions: one of them is selected, the other is not. */
START_TEST(filters_that_part_pairs)
{
	static const char *const functions[] = { "kernel_fn_00", "kernel_fn_01" };

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct km_event *events = nasty_events(seed + 500, 3000, true);
		struct count_setup *s = count_set_up("cache");

		ck_assert_int_eq(km_patterns_parse(&s->filter.function, functions[seed / 2 % 2], NULL), 0);
		compare(s, events, 3000, tables[seed % 5], PEAKS_EXACT);
		free(events);
	}
}
END_TEST

START_TEST(losses_that_reset)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct km_event *events = nasty_events(2 * seed + 601, 3000, true);
		struct count_setup *s = count_set_up("site,cache");
		struct naive_count *wanted = count_naively(s, events, 3000, tables[seed % 5], true);

		count_start(s, tables[seed % 5], true);
		count_run(s, events, 3000);
		count_finish(s);
		check_axes(s);
		check_replayed(s);
		check_count(s, wanted, PEAKS_EXACT, false);
		ck_assert_uint_gt(wanted->total.sums.reset_count, 0);
		naive_count_free(wanted);
		count_tear_down(s);
		free(events);
	}
}
END_TEST

static struct count_setup *sampling(const char *by)
{
	struct count_setup *s = count_set_up(by);

	s->when_full = KM_WHEN_FULL_SAMPLE;
	return s;
}

START_TEST(samples_as_the_naive_count)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct km_event *events = nasty_events(seed + 800, 3000, true);
		struct count_setup *s = sampling(seed % 2 ? "site,cache" : "pid");

		if (seed % 5 == 0)
			s->filter.min_size_bytes = 1000;
		compare(s, events, 3000, tables[1 + seed % 4], PEAKS_EXACT);
		free(events);
	}
}
END_TEST

/* The table may be halved between the two of a pair: only peaks may then be another's. */
START_TEST(samples_with_pairs_that_are_parted)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct km_event *events = nasty_events(seed + 900, 3000, false);
		struct count_setup *s = sampling("cache");

		if (seed % 5 == 0)
			ck_assert_int_eq(km_patterns_parse(&s->filter.function, "kernel_fn_00", NULL), 0);
		compare(s, events, 3000, tables[1 + seed % 4], PEAKS_BYTES_OF_TOTAL_ONLY);
		free(events);
	}
}
END_TEST

START_TEST(samples_with_losses_that_reset)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct km_event *events = nasty_events(2 * seed + 1001, 3000, true);
		struct count_setup *s = sampling("site,cache");
		struct naive_count *wanted = count_naively(s, events, 3000, tables[1 + seed % 4], true);

		count_start(s, tables[1 + seed % 4], true);
		count_run(s, events, 3000);
		count_finish(s);
		check_axes(s);
		check_replayed(s);
		check_count(s, wanted, PEAKS_EXACT, false);
		naive_count_free(wanted);
		count_tear_down(s);
		free(events);
	}
}
END_TEST

START_TEST(samples_finished_in_the_middle)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct km_event *events = nasty_events(seed + 1100, 3000, true);
		struct count_setup *s = sampling("pid");
		struct naive_count *half;
		size_t middle = 500;

		while (events[middle].bytes_req > 8192) /* not between the two of a pair */
			middle++;
		half = count_naively(s, events, middle, 7, false);
		count_start(s, 7, false);
		count_run(s, events, middle);
		count_finish(s);
		count_run(s, events + middle, 3000 - middle);
		check_axes(s);
		check_replayed(s);
		check_count(s, half, PEAKS_EXACT, true);
		naive_count_free(half);
		count_tear_down(s);
		free(events);
	}
}
END_TEST

/* The selection stands still once it is finished; the whole replay goes on. */
START_TEST(finished_in_the_middle)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct km_event *events = nasty_events(seed + 700, 3000, true);
		struct count_setup *s = count_set_up("pid");
		struct naive_count *half, *whole = count_naively(s, events, 3000, 7, false);
		size_t middle = 1500;

		while (events[middle].bytes_req > 8192) /* not between the two of a pair */
			middle++;
		half = count_naively(s, events, middle, 7, false);
		count_start(s, 7, false);
		count_run(s, events, middle);
		count_finish(s);
		ck_assert(km_aggregate_is_finished(s->aggregate));
		count_run(s, events + middle, 3000 - middle);
		count_finish(s); /* again does nothing */
		check_axes(s);
		check_replayed(s);
		check_count(s, half, PEAKS_EXACT, true);
		check_freers(s, whole);
		naive_count_free(half);
		naive_count_free(whole);
		count_tear_down(s);
		free(events);
	}
}
END_TEST

/* Plausible streams, as a reader gives them. */
static void check_plausible(enum tw_kernel kernel, uint64_t seed, uint64_t objects_count)
{
	const struct tw_stream stream = {
		.seed = seed, .events_count = 8000, .cpus = COUNT_CPUS, .kernel = kernel, .live_target = 300
	};
	struct tw *tw = tw_new(&(struct tw_options){ .kernel = kernel, .cpus = COUNT_CPUS });
	struct km_event *events;
	size_t bytes, count;
	struct count_setup *s;
	void *data;

	tw_stream_random(tw, &stream, NULL);
	data = tw_finish(tw, &bytes);
	s = count_set_up_data(data, bytes);
	events = km_read_back_all(s->reader, 0, 1000, &count);
	ck_assert_uint_eq(count, stream.events_count);
	ck_assert_int_eq(km_by_parse("function,cache", &s->selection.by, NULL), 0);
	count_start(s, objects_count, false);
	count_run(s, events, count);
	count_finish(s);
	check_replayed(s);
	check_axes(s);
	count_tear_down(s);
	tw_free(tw);
	free(events);
}

START_TEST(identities_of_plausible_traces)
{
	static const enum tw_kernel kernels[] = { TW_KERNEL_4_19, TW_KERNEL_5_12, TW_KERNEL_6_12, TW_KERNEL_6_18 };

	for (unsigned i = 0; i < 8; i++)
		check_plausible(kernels[i % 4], i + 1, i % 3 * 100);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		sites_and_caches_as_the_naive_count,
		groups_as_the_naive_count,
		pairs_that_are_parted,
		filters_by_shape,
		filters_by_event,
		filters_that_part_pairs,
		losses_that_reset,
		finished_in_the_middle,
		samples_as_the_naive_count,
		samples_with_pairs_that_are_parted,
		samples_with_losses_that_reset,
		samples_finished_in_the_middle,
		identities_of_plausible_traces,
		NULL,
	};

	return km_test_main("aggregate_model", tests, 60);
}
