/* SPDX-License-Identifier: GPL-2.0-only */
/* kmstat compare: two sides, each of one run or several, and their document. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "compare.h"

/* What a side is read from. */
struct files {
	const char *const *names;
	size_t count;
	const struct km_time_point *window; /* NULL: none of its own */
};

struct side {
	struct km_run **runs; /* owned, each too */
	uint64_t *durations;  /* owned: of the window, 0 where there is none */
	size_t count;
};

static void release_side(struct side *side)
{
	for (size_t i = 0; i < side->count; i++)
		km_run_release(side->runs[i]);
	free(side->runs);
	free(side->durations);
}

/* A point of a window on the clock of a recording; false where only the recording itself could tell (a mark). */
static bool resolve(const struct km_time_point *point, const struct km_run_source *source, uint64_t open, uint64_t *ret)
{
	switch (point->kind) {
	case KM_TIME_OPEN:
		*ret = open;
		return true;
	case KM_TIME_CLOCK:
		*ret = point->value;
		return true;
	case KM_TIME_RELATIVE:
		*ret = source->start + point->value;
		return true;
	case KM_TIME_PERCENT:
		*ret = source->start + (uint64_t)((long double)point->value / 1e6L * (long double)source->duration);
		return true;
	case KM_TIME_MARK:
		break;
	}
	return false;
}

/* How long a window is, within the recording; 0: not known. */
static uint64_t window_duration(const struct km_time_point *window, const struct km_run *run)
{
	const struct km_run_source *source = &run->sources[0];
	uint64_t from, until;

	if (!window || !resolve(&window[0], source, source->start, &from) ||
	    !resolve(&window[1], source, source->end, &until))
		return 0;
	from = from < source->start ? source->start : from;
	until = until > source->end ? source->end : until;
	return until > from ? until - from : 0;
}

static int is_saved(const char *path, struct km_error *error)
{
	struct km_source *source;
	int r = km_source_open(path, &source, error);

	if (r)
		return r;
	r = km_run_is_saved(source, error);
	km_source_close(source);
	return r;
}

static int load_side(const struct options *options, const struct files *files, struct side *side,
		     struct km_error *error)
{
	struct options own = *options;
	int r = 0;

	/* The window is lent: the filter that owns texts is the options'. */
	if (files->window) {
		own.filter.has_time = true;
		own.filter.from = files->window[0];
		own.filter.until = files->window[1];
	}
	side->runs = calloc(files->count, sizeof(struct km_run *));
	side->durations = calloc(files->count, sizeof(*side->durations));
	if (!side->runs || !side->durations)
		return km_error_set(error, -ENOMEM, "out of memory");
	for (size_t i = 0; i < files->count && !r; i++) {
		const char *name = files->names[i];

		if (files->window && strcmp(name, "-") != 0 && (r = is_saved(name, error)) > 0)
			r = km_error_set(error, -EINVAL, "%s: a saved report has no times to choose a window from",
					 name);
		if (!r)
			r = command_load_run(name, &own, &side->runs[i], error);
		if (!r) {
			side->durations[i] = window_duration(files->window, side->runs[i]);
			side->count++;
		}
	}
	return r;
}

/* --metric: the words people use, or a name. */
static int find_metric(const char *name, enum km_metric *ret_metric, struct km_error *error)
{
	static const struct {
		const char *word;
		enum km_metric metric;
	} words[] = {
		{ "live", KM_METRIC_LIVE_BYTES },
		{ "peak", KM_METRIC_PEAK_LIVE_BYTES },
		{ "allocated", KM_METRIC_TOTAL_ALLOCATED_BYTES },
		{ "waste", KM_METRIC_LIVE_WASTE_BYTES },
		{ "count", KM_METRIC_ALLOCS_COUNT },
		{ "survivors", KM_METRIC_LIVE_COUNT },
	};

	*ret_metric = name ? km_metric_find(name) : KM_METRIC_LIVE_BYTES;
	for (size_t i = 0; name && i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(name, words[i].word))
			*ret_metric = words[i].metric;
	}
	if (*ret_metric == KM_METRICS || !km_metrics[*ret_metric].is_of_rows)
		return km_error_set(
			error, -EINVAL,
			"--metric: \"%.80s\" is not live, peak, allocated, waste, count, survivors or one that "
			"--metric help lists for rows",
			name);
	return 0;
}

/* --by: an axis that runs have anyway, or groups that analyses have to make. */
static int find_axis(const char *by, enum km_run_axis *ret_axis, struct km_error *error)
{
	static const struct {
		const char *name;
		enum km_run_axis axis;
	} axes[] = {
		{ "site", KM_RUN_SITES },
		{ "function", KM_RUN_FUNCTIONS },
		{ "module", KM_RUN_MODULES },
		{ "cache", KM_RUN_CACHES },
	};
	struct km_by_list list = { .count = 0 };
	int r;

	*ret_axis = by ? KM_RUN_GROUPS : KM_RUN_SITES;
	for (size_t i = 0; by && i < sizeof(axes) / sizeof(axes[0]); i++) {
		if (!strcmp(by, axes[i].name))
			*ret_axis = axes[i].axis;
	}
	if (*ret_axis != KM_RUN_GROUPS)
		return 0;
	r = km_by_parse(by, &list, error);
	for (unsigned i = 0; i < list.count && !r; i++) {
		if (list.fields[i] == KM_BY_SITE)
			r = km_error_set(error, -EINVAL,
					 "--by: a site among other fields can not be matched; take function instead");
	}
	return r;
}

struct job {
	const struct options *options; /* --by only where groups are wanted */
	struct km_compare_options compare_options;
	struct files files[KM_SIDES];
	struct side sides[KM_SIDES];
	struct gates gates;
	struct output output;
	enum km_gate_result verdict;
};

static void choose_files(struct job *job, const struct options *options)
{
	size_t count = options->inputs.count;
	bool has_windows = options->has_base_time || options->has_new_time;
	struct files *base = &job->files[KM_BASE], *changed = &job->files[KM_CHANGED];

	if (options->base.count) {
		*base = (struct files){ .names = options->base.items, .count = options->base.count };
		*changed = (struct files){ .names = options->inputs.items, .count = count };
	} else {
		*base = (struct files){ .names = options->inputs.items, .count = 1 };
		*changed = (struct files){ .names = options->inputs.items + (count > 1), .count = 1 };
	}
	if (options->has_base_time)
		base->window = options->base_time;
	if (options->has_new_time)
		changed->window = options->new_time;
	job->compare_options.are_windows = has_windows;
}

static int write_compare(struct job *job, const struct km_compare *compare, struct km_error *error)
{
	const struct options *options = job->options;
	struct km_gate_outcomes outcomes = { 0 };
	struct km_document_options document_options = {
		.audience = options->format == FORMAT_TABLE || options->format == FORMAT_MARKDOWN ? KM_FOR_PEOPLE
												  : KM_FOR_MACHINES,
		.has_limit = options->has_limit,
		.limit = (size_t)options->limit,
	};
	struct km_document document;
	int r = 0;

	if (job->gates.rules.count) {
		r = km_gate_judge_compare(compare, &job->gates.rules, &job->gates.suppressions, &outcomes, error);
		document_options.gates = &outcomes;
		document_options.suppressions = &job->gates.suppressions;
	}
	if (r)
		return r;
	job->verdict = outcomes.verdict;
	r = km_document_compare(&document, compare, &document_options, error);
	if (!r) {
		command_output_begin(options, &job->output);
		r = command_write(&job->output, options, &document, error);
		km_document_release(&document);
		for (size_t i = 0; i < compare->warnings_count && options->format == FORMAT_CSV && !options->quiet; i++)
			fprintf(stderr, "kmstat: warning: %s\n", compare->warnings[i].text);
		command_print_rules(options, &outcomes);
	}
	km_gate_outcomes_release(&outcomes);
	return r;
}

static int compare_sides(struct job *job, struct km_error *error)
{
	struct km_compare_side sides[KM_SIDES];
	struct km_compare *compare;
	int r = 0;

	for (unsigned i = 0; i < KM_SIDES && !r; i++) {
		r = load_side(job->options, &job->files[i], &job->sides[i], error);
		sides[i] = (struct km_compare_side){ .runs = job->sides[i].runs,
						     .count = job->sides[i].count,
						     .ops = job->options->ops[i],
						     .durations = job->sides[i].durations };
	}
	if (!r)
		r = km_compare_run(&sides[KM_BASE], &sides[KM_CHANGED], &job->compare_options, &compare, error);
	if (r)
		return r;
	r = write_compare(job, compare, error);
	km_compare_free(compare);
	return r;
}

int command_compare(const struct options *options, struct km_error *error)
{
	static const enum km_compare_per per[] = {
		[PER_NOTHING] = KM_PER_NOTHING, [PER_SECOND] = KM_PER_SECOND, [PER_EVENT] = KM_PER_EVENT
	};
	struct options own = *options;
	struct job job = { .options = &own };
	int r = find_metric(options->metric, &job.compare_options.metric, error);

	if (!r)
		r = find_axis(options->by, &job.compare_options.axis, error);
	if (!r)
		r = command_gates_load(options, &job.gates, error);
	if (!r)
		r = command_output_open(options, &job.output, error);
	if (!r) {
		job.compare_options.per = options->has_ops ? KM_PER_OP : per[options->per];
		if (job.compare_options.axis != KM_RUN_GROUPS)
			own.by = NULL;
		choose_files(&job, options);
		r = compare_sides(&job, error);
		r = command_output_close(&job.output, r, error);
		for (unsigned i = 0; i < KM_SIDES; i++)
			release_side(&job.sides[i]);
	}
	command_gates_release(&job.gates);
	return r ? r : command_gates_status(options, job.verdict);
}
