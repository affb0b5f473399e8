/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of an axis are sorted by identity in every run, so all runs are walked
 * at once, least identity first. What has no symbol comes before that.
 */
#include "compare.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_private.h"
#include "rank_test.h"
#include "t_test.h"

const char *km_compare_per_name(enum km_compare_per per)
{
	static const char *const names[] = {
		[KM_PER_NOTHING] = NULL, [KM_PER_SECOND] = "second", [KM_PER_EVENT] = "event", [KM_PER_OP] = "op"
	};

	return names[per];
}

const char *km_compare_state_name(enum km_compare_state state)
{
	static const char *const names[] = {
		[KM_SAME] = "same", [KM_GROWN] = "grown", [KM_SHRUNK] = "shrunk", [KM_NEW] = "new", [KM_GONE] = "gone"
	};

	return names[state];
}

long double km_compare_delta(const struct km_compare_row *row)
{
	return row->sides[KM_CHANGED].value - row->sides[KM_BASE].value;
}

/* --- numbers --- */

/* What untraced frees alone make doubtful counts as exact unless that is asked for. */
static struct km_value value_of(const struct km_run_row *row, enum km_metric metric, bool is_strict)
{
	struct km_value value = row->values[metric];
	bool is_age = km_metrics[metric].kind == KM_METRIC_IS_AGE;

	if (value.is_null)
		return value;
	if (is_age && row->live_is == KM_LIVE_UPPER_BOUND) {
		/* What may be gone is the oldest, or the newest: the oldest of what is left is no older. */
		bool is_oldest = metric == KM_METRIC_OLDEST_AGE_NS;

		return (struct km_value){ .value = value.value,
					  .min = is_strict && is_oldest ? 0 : value.value,
					  .max = is_strict && !is_oldest ? 0 : value.value,
					  .max_is_unknown = is_strict && !is_oldest };
	}
	if (is_strict)
		return value;
	/* An untraced free is the one thing that only lowers the minimum: with the maximum known it is set aside. */
	if (!value.max_is_unknown)
		value.min = value.value;
	return value;
}

static void set_sample(struct km_compare_sample *sample, const struct km_value *value)
{
	sample->value = (long double)value->value;
	sample->min = (long double)value->min;
	sample->max = (long double)value->max;
}

void km_compare_add(struct km_compare_sample *sample, enum km_metric metric, const struct km_run_row *row,
		    bool is_strict)
{
	const struct km_value value = value_of(row, metric, is_strict);
	long double number = (long double)value.value, min = (long double)value.min;
	enum km_metric_kind kind = km_metrics[metric].kind;
	bool is_first = !sample->is_there;

	if (value.is_null)
		return;
	sample->is_there = true;
	sample->live_is = km_live_is_of_both(sample->live_is, row->live_is);
	sample->peak_is |= row->peak_is;
	sample->max_is_unknown |= value.max_is_unknown;
	if (is_first) {
		set_sample(sample, &value);
	} else if (kind == KM_METRIC_IS_AGE) { /* of the oldest, or the newest, of all */
		if ((metric == KM_METRIC_OLDEST_AGE_NS) == (number > sample->value))
			set_sample(sample, &value);
	} else {
		sample->value += number;
		sample->max += (long double)value.max;
		/* Peaks are of different moments: together no less than the largest, no more than the sum. */
		if (kind != KM_METRIC_IS_PEAK)
			sample->min += min;
		else if (min > sample->min)
			sample->min = min;
		if (kind == KM_METRIC_IS_PEAK)
			sample->peak_is |= KM_PEAK_AT_MOST;
	}
}

static int by_value(const void *x, const void *y)
{
	const struct km_compare_sample *a = x, *b = y;

	return a->value < b->value ? -1 : a->value > b->value;
}

static int by_min(const void *x, const void *y)
{
	const struct km_compare_sample *a = x, *b = y;

	return a->min < b->min ? -1 : a->min > b->min;
}

/* Unknown is more than any number. */
static int by_max(const void *x, const void *y)
{
	const struct km_compare_sample *a = x, *b = y;

	if (a->max_is_unknown || b->max_is_unknown)
		return (int)a->max_is_unknown - (int)b->max_is_unknown;
	return a->max < b->max ? -1 : a->max > b->max;
}

static long double middle(long double low, long double high, bool is_whole)
{
	long double mean = low + (high - low) / 2;

	return is_whole ? floorl(mean) : mean;
}

/* A median grows with each of its values: that of the minima bounds it from below, that of the maxima from above. */
struct km_compare_number km_compare_summarise(struct km_compare_sample *samples, size_t count, bool is_whole)
{
	size_t low = (count - 1) / 2, high = count / 2;
	struct km_compare_number number = { 0 };

	qsort(samples, count, sizeof(*samples), by_value);
	number.lowest = samples[0].value;
	number.highest = samples[count - 1].value;
	number.value = middle(samples[low].value, samples[high].value, is_whole);
	for (size_t i = 0; i < count; i++) {
		number.runs_count += samples[i].is_there;
		number.live_is = km_live_is_of_both(number.live_is, samples[i].live_is);
		number.peak_is |= samples[i].peak_is;
	}
	qsort(samples, count, sizeof(*samples), by_min);
	number.min = middle(samples[low].min, samples[high].min, is_whole);
	qsort(samples, count, sizeof(*samples), by_max);
	number.max_is_unknown = samples[high].max_is_unknown;
	if (!number.max_is_unknown)
		number.max = middle(samples[low].max, samples[high].max, is_whole);
	return number;
}

static void divide(struct km_compare_sample *sample, long double divisor)
{
	sample->value /= divisor;
	sample->min /= divisor;
	sample->max /= divisor;
}

/* --- sides --- */

static int out_of_memory(struct km_error *error)
{
	return km_error_set(error, -ENOMEM, "out of memory");
}

/* The same recording, whatever its file is called. */
static bool same_recording(const struct km_run *a, const struct km_run *b)
{
	const struct km_run_source *x = a->sources, *y = b->sources;

	return a->sources_count == 1 && b->sources_count == 1 && x->events_count == y->events_count &&
	       x->start == y->start && x->end == y->end && !strcmp(x->buffer, y->buffer) &&
	       !strcmp(x->kernel ? x->kernel : "", y->kernel ? y->kernel : "");
}

/* Whether all runs of both sides are alike in something. */
bool km_compare_all(const struct km_compare *compare, bool (*is)(const struct km_run *a, const struct km_run *b))
{
	const struct km_run *first = compare->sides[KM_BASE].runs[0];

	for (unsigned side = 0; side < KM_SIDES; side++) {
		for (size_t i = 0; i < compare->sides[side].count; i++) {
			if (!is(first, compare->sides[side].runs[i]))
				return false;
		}
	}
	return true;
}

static bool same_kernel(const struct km_run *a, const struct km_run *b)
{
	return same_recording(a, b) ||
	       (a->sources_count && b->sources_count && km_run_same_kernel(&a->sources[0], &b->sources[0]));
}

static bool match_by_symbol(const struct km_run *a, const struct km_run *b)
{
	return km_run_match_by_symbol(a, b);
}

/* What has to be equal, and only where it matters. */
static int check_alike(const struct km_compare *compare, struct km_error *error)
{
	const struct km_compare_options *options = &compare->options;
	struct km_run a = *compare->sides[KM_BASE].runs[0], b;
	bool has_times = options->per == KM_PER_SECOND || km_metrics[options->metric].type == KM_TYPE_DURATION;

	for (unsigned side = 0; side < KM_SIDES; side++) {
		for (size_t i = 0; i < compare->sides[side].count; i++) {
			int r;

			b = *compare->sides[side].runs[i];
			if (options->axis != KM_RUN_GROUPS)
				b.by = a.by;
			if (options->are_windows)
				b.filters = a.filters;
			if (!has_times)
				b.clock_is_ns = a.clock_is_ns;
			r = km_run_check_alike(&a, &b, error);
			if (r)
				return r;
		}
	}
	return 0;
}

/* Of the window, or of the recordings. */
uint64_t km_compare_duration(const struct km_compare_side *side, size_t i)
{
	uint64_t sum = side->durations ? side->durations[i] : 0;

	for (size_t s = 0; !sum && s < side->runs[i]->sources_count; s++)
		sum += side->runs[i]->sources[s].duration;
	return sum;
}

static int find_divisor(const struct km_compare *compare, const struct km_compare_side *side, size_t i,
			long double *ret_divisor, struct km_error *error)
{
	const struct km_run *run = side->runs[i];
	uint64_t divisor = side->durations ? side->durations[i] : 0;

	switch (compare->options.per) {
	case KM_PER_NOTHING:
		*ret_divisor = 1;
		return 0;
	case KM_PER_SECOND:
		if (!run->clock_is_ns)
			return km_error_set(error, -EINVAL,
					    "--per second: %s has times in ticks of a clock of unknown rate",
					    run->name);
		if (!divisor && strstr(run->filters, "\"time_from\""))
			return km_error_set(error, -EINVAL,
					    "--per second: %s is of a window of time, and does not say how long it is",
					    run->name);
		divisor = km_compare_duration(side, i);
		if (!divisor)
			return km_error_set(error, -EINVAL, "--per second: %s lasts no time", run->name);
		*ret_divisor = (long double)divisor / 1e9L;
		return 0;
	case KM_PER_EVENT:
		divisor = run->totals.values[KM_METRIC_ALLOCS_COUNT].value;
		break;
	case KM_PER_OP:
		divisor = side->ops;
		break;
	}
	if (!divisor)
		return km_error_set(error, -EINVAL, "--per %s: there is none in %s",
				    km_compare_per_name(compare->options.per), run->name);
	*ret_divisor = (long double)divisor;
	return 0;
}

/* A side with arrays of its own. */
static int take_side(struct km_compare *compare, unsigned index, const struct km_compare_side *from,
		     struct km_error *error)
{
	struct km_compare_side *side = &compare->sides[index];

	*side = *from;
	if (!from->count || from->count > KM_COMPARE_RUNS_LIMIT)
		return km_error_set(error, -EINVAL, "%zu runs a side: from 1 to %d can be compared", from->count,
				    KM_COMPARE_RUNS_LIMIT);
	side->runs = calloc(from->count, sizeof(struct km_run *));
	compare->divisors[index] = calloc(from->count, sizeof(*compare->divisors[index]));
	if (!side->runs || !compare->divisors[index])
		return out_of_memory(error);
	memcpy(side->runs, from->runs, from->count * sizeof(struct km_run *));
	return 0;
}

static int normalise(struct km_compare *compare, struct km_error *error)
{
	int r = 0;

	for (unsigned side = 0; side < KM_SIDES; side++) {
		for (size_t i = 0; i < compare->sides[side].count && !r; i++)
			r = find_divisor(compare, &compare->sides[side], i, &compare->divisors[side][i], error);
	}
	return r;
}

/* --- matching --- */

const char *km_compare_kernel(const struct km_run *run)
{
	return run->sources[0].kernel ? run->sources[0].kernel : "a kernel that the file does not tell";
}

/* The first run of another kernel than the first of all. */
const struct km_run *km_compare_other_kernel(const struct km_compare *compare)
{
	const struct km_run *first = compare->sides[KM_BASE].runs[0];

	for (unsigned side = 0; side < KM_SIDES; side++) {
		for (size_t i = 0; i < compare->sides[side].count; i++) {
			if (!same_kernel(first, compare->sides[side].runs[i]))
				return compare->sides[side].runs[i];
		}
	}
	return NULL;
}

static void choose_axis(struct km_compare *compare)
{
	const struct km_run *first = compare->sides[KM_BASE].runs[0], *other = km_compare_other_kernel(compare);
	char *text = compare->matched_by;
	size_t bytes = sizeof(compare->matched_by);

	compare->axis = compare->options.axis;
	compare->kernels_are_one = km_compare_all(compare, match_by_symbol) ||
				   (km_compare_all(compare, same_recording) && !first->sites_by_function);
	switch (compare->axis) {
	case KM_RUN_SITES:
		if (compare->kernels_are_one) {
			snprintf(text, bytes, "symbol and offset (one kernel, %.200s)", km_compare_kernel(first));
			return;
		}
		compare->axis = KM_RUN_FUNCTIONS;
		if (other)
			snprintf(text, bytes, "function and module (kernels differ or are not told: %.100s; %.100s)",
				 km_compare_kernel(first), km_compare_kernel(other));
		else
			snprintf(text, bytes, "function and module (not all reports have symbols with offsets)");
		return;
	case KM_RUN_FUNCTIONS:
		snprintf(text, bytes, "function and module");
		return;
	case KM_RUN_MODULES:
		snprintf(text, bytes, "module");
		return;
	case KM_RUN_CACHES:
		snprintf(text, bytes, "name of the cache");
		return;
	case KM_RUN_GROUPS:
	case KM_RUN_AXES:
		break;
	}
	snprintf(text, bytes, "the values of the group");
}

/* A call site or function of which only the address is known. */
static bool is_unnamed(const struct km_run_row *row)
{
	return row->function && !strncmp(row->function, "0x", 2);
}

/* One run on the way through its rows. */
struct walk {
	struct km_run *run;
	size_t at;
	long double divisor;
};

struct matcher {
	struct km_compare *compare;
	struct walk *walks; /* of base, then of what is new */
	size_t walks_count;
	bool folds_unnamed;
	struct km_compare_sample *samples;
	double *values;
	size_t room;
};

static const struct km_run_row *row_at(const struct matcher *m, const struct walk *walk)
{
	enum km_run_axis axis = m->compare->axis;

	return walk->at < walk->run->axes[axis].count ? walk->run->axes[axis].rows[walk->at] : NULL;
}

/* On to the next row that is not among the unnamed ones. */
static void skip_unnamed(const struct matcher *m, struct walk *walk)
{
	const struct km_run_row *row;

	while (m->folds_unnamed && (row = row_at(m, walk)) && is_unnamed(row))
		walk->at++;
}

static struct km_compare_row *add_row(struct matcher *m, struct km_error *error)
{
	struct km_compare *compare = m->compare;
	struct km_compare_row *larger;

	if (compare->rows_count == m->room) {
		m->room = m->room ? m->room * 2 : 256;
		larger = reallocarray(compare->rows, m->room, sizeof(*larger));
		if (!larger) {
			out_of_memory(error);
			return NULL;
		}
		compare->rows = larger;
	}
	larger = &compare->rows[compare->rows_count++];
	*larger = (struct km_compare_row){ 0 };
	return larger;
}

static void set_state(struct km_compare *compare, struct km_compare_row *row)
{
	long double old = row->sides[KM_BASE].value, now = row->sides[KM_CHANGED].value, delta = now - old;

	if (delta > 0)
		row->state = old > 0 ? KM_GROWN : KM_NEW;
	else if (delta < 0)
		row->state = now > 0 ? KM_SHRUNK : KM_GONE;
	compare->states[row->state]++;
	compare->before += old;
	compare->after += now;
	if (delta > 0)
		compare->up += delta;
	else
		compare->down -= delta;
}

/* The samples of both sides to a row: its numbers, and whether they differ by more than chance. */
static int finish_row(struct matcher *m, struct km_compare_row *row, struct km_error *error)
{
	struct km_compare *compare = m->compare;
	size_t base = compare->sides[KM_BASE].count, changed = compare->sides[KM_CHANGED].count;
	bool is_whole = compare->options.per == KM_PER_NOTHING, differ = false;

	for (size_t i = 0; i < m->walks_count; i++) {
		divide(&m->samples[i], m->walks[i].divisor);
		m->values[i] = (double)m->samples[i].value;
		differ |= m->values[i] < m->values[0] || m->values[i] > m->values[0];
	}
	if (compare->is_testable && differ) {
		row->p_rank = km_rank_test(m->values, base, m->values + base, changed);
		if (row->p_rank < 0)
			return out_of_memory(error);
		row->p = km_t_test(m->values, base, m->values + base, changed);
		row->is_tested = true;
		compare->tested_count++;
	}
	row->sides[KM_BASE] = km_compare_summarise(m->samples, base, is_whole);
	row->sides[KM_CHANGED] = km_compare_summarise(m->samples + base, changed, is_whole);
	set_state(compare, row);
	memset(m->samples, 0, m->walks_count * sizeof(*m->samples));
	return 0;
}

/* All that has no symbol, as one row. */
static int match_unnamed(struct matcher *m, struct km_error *error)
{
	enum km_metric metric = m->compare->options.metric;
	enum km_run_axis axis = m->compare->axis;
	struct km_compare_row *row;
	size_t most = 0;

	for (size_t i = 0; i < m->walks_count; i++) {
		const struct km_run *run = m->walks[i].run;
		size_t count = 0;

		for (size_t k = 0; k < run->axes[axis].count; k++) {
			if (!is_unnamed(run->axes[axis].rows[k]))
				continue;
			count++;
			km_compare_add(&m->samples[i], metric, run->axes[axis].rows[k], false);
		}
		if (count > most)
			most = count;
	}
	m->compare->unnamed_count = most;
	if (!most)
		return 0;
	row = add_row(m, error);
	return row ? finish_row(m, row, error) : -ENOMEM;
}

/* The least identity that any run is at, and all runs that are there one on. */
static int match_next(struct matcher *m, bool *ret_is_end, struct km_error *error)
{
	struct km_compare *compare = m->compare;
	const struct km_run_row *least = NULL;
	struct km_compare_row *row;

	for (size_t i = 0; i < m->walks_count; i++) {
		const struct km_run_row *at;

		skip_unnamed(m, &m->walks[i]);
		at = row_at(m, &m->walks[i]);
		if (at && (!least || km_run_compare_rows(compare->axis, m->walks[0].run, at, least) < 0))
			least = at;
	}
	*ret_is_end = !least;
	if (!least)
		return 0;
	for (size_t i = 0; i < m->walks_count; i++) {
		const struct km_run_row *at = row_at(m, &m->walks[i]);

		if (!at || km_run_compare_rows(compare->axis, m->walks[0].run, at, least))
			continue;
		km_compare_add(&m->samples[i], compare->options.metric, at, false);
		m->walks[i].at++;
	}
	row = add_row(m, error);
	if (!row)
		return -ENOMEM;
	row->row = least;
	return finish_row(m, row, error);
}

static int match(struct km_compare *compare, struct km_error *error)
{
	struct matcher m = { .compare = compare };
	bool is_end = false;
	int r = 0;

	m.walks_count = compare->sides[KM_BASE].count + compare->sides[KM_CHANGED].count;
	m.walks = calloc(m.walks_count, sizeof(*m.walks));
	m.samples = calloc(m.walks_count, sizeof(*m.samples));
	m.values = calloc(m.walks_count, sizeof(*m.values));
	if (!m.walks || !m.samples || !m.values)
		r = out_of_memory(error);
	for (size_t side = 0, at = 0; side < KM_SIDES && !r; side++) {
		for (size_t i = 0; i < compare->sides[side].count && !r; i++) {
			r = km_run_derive(compare->sides[side].runs[i], compare->axis, error);
			m.walks[at++] = (struct walk){ .run = compare->sides[side].runs[i],
						       .divisor = compare->divisors[side][i] };
		}
	}
	m.folds_unnamed = (compare->axis == KM_RUN_SITES || compare->axis == KM_RUN_FUNCTIONS) &&
			  !km_compare_all(compare, same_recording);
	if (!r && m.folds_unnamed)
		r = match_unnamed(&m, error);
	while (!r && !is_end)
		r = match_next(&m, &is_end, error);
	free(m.walks);
	free(m.samples);
	free(m.values);
	return r;
}

/* Functions of one name are neighbours before rows are sorted by delta. */
static void tell_apart(struct km_compare *compare)
{
	size_t n = 0, bytes = sizeof(compare->told_apart);
	const char *last = NULL;

	if (compare->axis != KM_RUN_SITES && compare->axis != KM_RUN_FUNCTIONS)
		return;
	for (size_t i = 1; i < compare->rows_count; i++) {
		const struct km_run_row *a = compare->rows[i - 1].row, *b = compare->rows[i].row;

		if (!a || !b || strcmp(a->function, b->function) || (last && !strcmp(last, b->function)))
			continue;
		if (!strcmp(a->module ? a->module : "", b->module ? b->module : ""))
			continue;
		last = b->function;
		compare->told_apart_count++;
		if (n < bytes)
			n += (size_t)snprintf(compare->told_apart + n, bytes - n, "%s%s (%s, %s)", n ? "; " : "",
					      b->function, a->module ? a->module : "kernel",
					      b->module ? b->module : "kernel");
	}
	if (n >= bytes) {
		char *cut = strrchr(compare->told_apart, ';');

		snprintf(cut ? cut : compare->told_apart + bytes - 8, 8, "; ...");
	}
}

/* --- the test --- */

static int correct(struct km_compare *compare, struct km_error *error)
{
	double *p = calloc(compare->tested_count ? compare->tested_count : 1, sizeof(*p));
	size_t n = 0;

	if (!p)
		return out_of_memory(error);
	for (size_t i = 0; i < compare->rows_count; i++) {
		if (compare->rows[i].is_tested)
			p[n++] = compare->rows[i].p;
	}
	if (km_rank_test_correct(p, n)) {
		free(p);
		return out_of_memory(error);
	}
	n = 0;
	for (size_t i = 0; i < compare->rows_count; i++) {
		struct km_compare_row *row = &compare->rows[i];

		if (!row->is_tested)
			continue;
		row->p_adjusted = p[n++];
		row->is_significant =
			row->p_adjusted <= KM_COMPARE_SIGNIFICANT && row->p_rank <= KM_COMPARE_SIGNIFICANT;
		compare->significant_count += row->is_significant;
	}
	free(p);
	return 0;
}

/* --- order --- */

static int by_delta(const void *x, const void *y)
{
	const struct km_compare_row *a = x, *b = y;
	long double da = km_compare_delta(a), db = km_compare_delta(b);

	if (da < db || da > db)
		return da > db ? -1 : 1;
	if (a->sides[KM_BASE].value < b->sides[KM_BASE].value || a->sides[KM_BASE].value > b->sides[KM_BASE].value)
		return a->sides[KM_BASE].value > b->sides[KM_BASE].value ? -1 : 1;
	return 0;
}

struct placed {
	struct km_compare_row row;
	size_t at;
};

/* Ties stay in the order of their identities. */
static int by_delta_then_place(const void *x, const void *y)
{
	const struct placed *a = x, *b = y;
	int order = by_delta(&a->row, &b->row);

	return order ? order : (a->at > b->at) - (a->at < b->at);
}

static int sort_rows(struct km_compare *compare, struct km_error *error)
{
	struct placed *placed = calloc(compare->rows_count ? compare->rows_count : 1, sizeof(*placed));

	if (!placed)
		return out_of_memory(error);
	for (size_t i = 0; i < compare->rows_count; i++)
		placed[i] = (struct placed){ compare->rows[i], i };
	qsort(placed, compare->rows_count, sizeof(*placed), by_delta_then_place);
	for (size_t i = 0; i < compare->rows_count; i++)
		compare->rows[i] = placed[i].row;
	free(placed);
	return 0;
}

/* --- totals --- */

static int sum_totals(struct km_compare *compare, struct km_error *error)
{
	bool is_whole = compare->options.per == KM_PER_NOTHING;

	for (unsigned side = 0; side < KM_SIDES; side++) {
		size_t count = compare->sides[side].count;
		struct km_compare_sample *samples = calloc(count, sizeof(*samples));

		if (!samples)
			return out_of_memory(error);
		for (unsigned metric = 0; metric < KM_METRICS; metric++) {
			struct km_compare_number *number = &compare->totals[metric][side];

			memset(samples, 0, count * sizeof(*samples));
			for (size_t i = 0; i < count; i++) {
				km_compare_add(&samples[i], (enum km_metric)metric,
					       &compare->sides[side].runs[i]->totals, false);
				if (km_metrics[metric].kind != KM_METRIC_IS_AGE)
					divide(&samples[i], compare->divisors[side][i]);
			}
			*number = km_compare_summarise(samples, count,
						       is_whole || km_metrics[metric].kind == KM_METRIC_IS_AGE);
			compare->total_is_null[metric] |= !number->runs_count;
		}
		free(samples);
	}
	return 0;
}

/* --- all of it --- */

int km_compare_run(const struct km_compare_side *base, const struct km_compare_side *changed,
		   const struct km_compare_options *options, struct km_compare **ret_compare, struct km_error *error)
{
	struct km_compare *compare = calloc(1, sizeof(*compare));
	int r;

	if (!compare)
		return out_of_memory(error);
	compare->options = *options;
	r = take_side(compare, KM_BASE, base, error);
	if (!r)
		r = take_side(compare, KM_CHANGED, changed, error);
	if (!r)
		r = check_alike(compare, error);
	if (!r)
		r = normalise(compare, error);
	if (!r) {
		compare->is_repeated = base->count > 1 || changed->count > 1;
		compare->is_testable = base->count >= KM_RANK_TEST_LEAST && changed->count >= KM_RANK_TEST_LEAST;
		choose_axis(compare);
		r = match(compare, error);
	}
	if (!r)
		r = correct(compare, error);
	if (!r) {
		tell_apart(compare);
		km_compare_doubt(compare);
		r = sort_rows(compare, error);
	}
	if (!r)
		r = sum_totals(compare, error);
	if (r) {
		km_compare_free(compare);
		return r;
	}
	*ret_compare = compare;
	return 0;
}

void km_compare_free(struct km_compare *compare)
{
	if (!compare)
		return;
	for (unsigned side = 0; side < KM_SIDES; side++) {
		free(compare->sides[side].runs);
		free(compare->divisors[side]);
	}
	free(compare->rows);
	free(compare);
}
