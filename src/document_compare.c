/* SPDX-License-Identifier: GPL-2.0-only */
/* The sections of `kmstat compare`. For people in the shape of scripts/bloat-o-meter of the kernel. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "document_private.h"
#include "format.h"
#include "gate_lookup.h"
#include "rank_test.h"

#define PEOPLE_ROWS   40
#define COLUMNS_LIMIT 48
#define UNNAMED       "(call sites without a symbol)"

/* --- rows --- */

struct view {
	const struct km_compare *compare;
	struct km_column columns[COLUMNS_LIMIT];
	size_t columns_count;
	char by_names[KM_BY_LIMIT][32];
	char texts[7][KM_FORMAT_BYTES * 2 + 8]; /* of the row at hand */
	size_t shown, at;
	size_t order[]; /* indexes of rows */
};

static bool is_whole(const struct km_compare *compare)
{
	return compare->options.per == KM_PER_NOTHING;
}

static void column(struct view *view, const char *name, const char *title, const char *help, enum km_type type,
		   unsigned flags)
{
	view->columns[view->columns_count++] =
		(struct km_column){ .name = name, .title = title, .help = help, .type = type, .flags = flags };
}

static void name_columns(struct view *view)
{
	const struct km_by_list *by = &view->compare->sides[KM_BASE].runs[0]->by;
	const unsigned name = KM_COLUMN_FLEX | KM_COLUMN_LAST;

	switch (view->compare->axis) {
	case KM_RUN_SITES:
		column(view, "symbol", "site", "call site: function+offset [module]", KM_TYPE_STRING, name);
		column(view, "function", "function", "its function", KM_TYPE_STRING, KM_COLUMN_MACHINE);
		column(view, "module", "module", "its module, null for the kernel itself", KM_TYPE_STRING,
		       KM_COLUMN_MACHINE);
		return;
	case KM_RUN_FUNCTIONS:
		column(view, "function", "function", "function, without .isra, .constprop, .part and .cold",
		       KM_TYPE_STRING, name);
		column(view, "module", "module", "its module, null for the kernel itself", KM_TYPE_STRING,
		       KM_COLUMN_LAST);
		return;
	case KM_RUN_MODULES:
		column(view, "module", "module", "module, null for the kernel itself", KM_TYPE_STRING, name);
		return;
	case KM_RUN_CACHES:
		column(view, "name", "cache", "slab cache or kmalloc class", KM_TYPE_STRING, name);
		return;
	case KM_RUN_GROUPS:
	case KM_RUN_AXES:
		break;
	}
	for (unsigned i = 0; i < by->count; i++) {
		const struct km_column *field = &km_by_columns[by->fields[i]];

		snprintf(view->by_names[i], sizeof(view->by_names[i]), "key.%s", field->name);
		column(view, view->by_names[i], field->title, field->help, field->type, KM_COLUMN_LAST);
	}
}

static void make_columns(struct view *view)
{
	enum km_type number = is_whole(view->compare) ? KM_TYPE_COUNT : KM_TYPE_REAL;
	enum km_type with_sign = is_whole(view->compare) ? KM_TYPE_INTEGER : KM_TYPE_REAL;
	const unsigned people = KM_COLUMN_PEOPLE, right = KM_COLUMN_PEOPLE | KM_COLUMN_RIGHT,
		       machine = KM_COLUMN_MACHINE;
	bool is_repeated = view->compare->is_repeated;

	name_columns(view);
	column(view, "state", "state", "same, grown, shrunk, new (base has none of it) or gone", KM_TYPE_STRING,
	       machine);
	column(view, "old", "old", "the metric in the base; of several runs the median", number, machine);
	column(view, "new", "new", "the same in what is new", number, machine);
	column(view, "delta", "delta", "new less old", with_sign, machine);
	column(view, "delta_ratio", "%", "delta as part of old; null where old is 0", KM_TYPE_REAL, machine);
	column(view, "old_min", "old min", "what old may really be (holes, lost tail, overflow)", number, machine);
	column(view, "old_max", "old max", "at most; null where that is not known", number, machine);
	column(view, "new_min", "new min", "the same of new", number, machine);
	column(view, "new_max", "new max", "the same of new", number, machine);
	column(view, "old_live_is", "old is", "how old is to be read, as live_is of a report", KM_TYPE_STRING, machine);
	column(view, "new_live_is", "new is", "how new is to be read", KM_TYPE_STRING, machine);
	column(view, "old_lowest", "old lowest", "the least of the runs", number, machine);
	column(view, "old_highest", "old highest", "the most of the runs", number, machine);
	column(view, "new_lowest", "new lowest", "the least of the runs", number, machine);
	column(view, "new_highest", "new highest", "the most of the runs", number, machine);
	column(view, "old_runs_count", "old runs", "runs of the base that have the row", KM_TYPE_COUNT, machine);
	column(view, "new_runs_count", "new runs", "runs of what is new that have the row", KM_TYPE_COUNT, machine);
	column(view, "p", "p", "of the rank test; null where it was not tested", KM_TYPE_REAL, machine);
	column(view, "p_rank", "p of ranks", "of the Mann-Whitney U test, which has to agree", KM_TYPE_REAL, machine);
	column(view, "p_adjusted", "p adjusted", "corrected for the number of rows tested", KM_TYPE_REAL, machine);
	column(view, "is_significant", "significant", "whether p_adjusted is at most 0.05; null where not tested",
	       KM_TYPE_BOOL, machine);
	column(view, "old_mark", "", "how to read old: <= upper bound, >= at least, ? uncertain", KM_TYPE_STRING,
	       people);
	column(view, "old_text", "old", "old", KM_TYPE_STRING, right);
	if (is_repeated)
		column(view, "old_range", "of runs", "least and most of the runs", KM_TYPE_STRING,
		       right | KM_COLUMN_WIDE);
	column(view, "new_mark", "", "how to read new", KM_TYPE_STRING, people);
	column(view, "new_text", "new", "new", KM_TYPE_STRING, right);
	if (is_repeated)
		column(view, "new_range", "of runs", "least and most of the runs", KM_TYPE_STRING,
		       right | KM_COLUMN_WIDE);
	column(view, "delta_text", "delta", "delta", KM_TYPE_STRING, right);
	column(view, "percent", "%", "delta in percent of old; new, gone", KM_TYPE_STRING, right);
	if (view->compare->is_testable)
		column(view, "test", "test", "~ within the noise, else the corrected p", KM_TYPE_STRING, people);
}

static struct km_cell text_cell(const char *text)
{
	return (struct km_cell){ .text = text, .is_null = !text };
}

static struct km_cell number_cell(const struct view *view, long double value, bool is_null)
{
	struct km_cell cell = { .is_null = is_null };

	if (is_whole(view->compare))
		cell.number = value < 0x1p64L ? (uint64_t)value : UINT64_MAX;
	else
		cell.ratio = (double)value;
	return cell;
}

static struct km_cell real_cell(double value, bool is_null)
{
	return (struct km_cell){ .ratio = value, .is_null = is_null };
}

static const char *signed_text(const struct view *view, char *text, size_t bytes, long double value, bool wants_plus)
{
	char number[KM_FORMAT_BYTES];

	snprintf(text, bytes, "%s%s",
		 value < 0                 ? "-"
		 : value > 0 && wants_plus ? "+"
					   : "",
		 km_document_exact(number, is_whole(view->compare), fabsl(value)));
	return text;
}

static const char *range_text(const struct view *view, char *text, size_t bytes, const struct km_compare_number *number)
{
	char a[KM_FORMAT_BYTES], b[KM_FORMAT_BYTES];

	snprintf(text, bytes, "%s..%s", km_document_exact(a, is_whole(view->compare), number->lowest),
		 km_document_exact(b, is_whole(view->compare), number->highest));
	return text;
}

static const char *percent_text(const struct km_compare_row *row, char *text, size_t bytes)
{
	long double old = row->sides[KM_BASE].value;

	if (row->state == KM_NEW || row->state == KM_GONE)
		return km_compare_state_name(row->state);
	if (!(old > 0))
		return "";
	snprintf(text, bytes, "%+.1f%%", (double)(km_compare_delta(row) / old * 100));
	return text;
}

static const char *test_text(const struct km_compare_row *row, char *text, size_t bytes)
{
	if (!row->is_tested)
		return "~ equal";
	if (row->p_adjusted < 0.001)
		snprintf(text, bytes, "%sp<0.001", row->is_significant ? "" : "~ ");
	else
		snprintf(text, bytes, "%sp=%.3f", row->is_significant ? "" : "~ ", row->p_adjusted);
	return text;
}

static const char *live_mark(enum km_metric metric, const struct km_compare_number *number)
{
	return km_metrics[metric].kind == KM_METRIC_IS_CUMULATIVE ? "" : km_live_mark(number->live_is);
}

static size_t name_cells(const struct view *view, const struct km_compare_row *compared, struct km_cell *cells)
{
	const struct km_run_row *row = compared->row;
	size_t n = 0;

	switch (view->compare->axis) {
	case KM_RUN_SITES:
		cells[n++] = text_cell(row ? row->symbol : UNNAMED);
		cells[n++] = text_cell(row ? row->function : UNNAMED);
		cells[n++] = text_cell(row ? row->module : NULL);
		return n;
	case KM_RUN_FUNCTIONS:
		cells[n++] = text_cell(row ? row->function : UNNAMED);
		cells[n++] = text_cell(row ? row->module : NULL);
		return n;
	case KM_RUN_MODULES:
		cells[n++] = text_cell(row->module);
		return n;
	case KM_RUN_CACHES:
		cells[n++] = text_cell(row->cache);
		return n;
	case KM_RUN_GROUPS:
	case KM_RUN_AXES:
		break;
	}
	for (unsigned i = 0; i < view->compare->sides[KM_BASE].runs[0]->by.count; i++)
		cells[n++] = row->keys[i];
	return n;
}

static size_t machine_cells(const struct view *view, const struct km_compare_row *row, struct km_cell *cells)
{
	const struct km_compare_number *old = &row->sides[KM_BASE], *now = &row->sides[KM_CHANGED];
	long double delta = km_compare_delta(row);
	size_t n = 0;

	cells[n++] = text_cell(km_compare_state_name(row->state));
	cells[n++] = number_cell(view, old->value, false);
	cells[n++] = number_cell(view, now->value, false);
	if (is_whole(view->compare))
		cells[n++] = (struct km_cell){ .integer = (int64_t)delta };
	else
		cells[n++] = real_cell((double)delta, false);
	cells[n++] = real_cell(old->value > 0 ? (double)(delta / old->value) : 0, !(old->value > 0));
	cells[n++] = number_cell(view, old->min, false);
	cells[n++] = number_cell(view, old->max, old->max_is_unknown);
	cells[n++] = number_cell(view, now->min, false);
	cells[n++] = number_cell(view, now->max, now->max_is_unknown);
	cells[n++] = text_cell(km_live_is_name(old->live_is));
	cells[n++] = text_cell(km_live_is_name(now->live_is));
	cells[n++] = number_cell(view, old->lowest, false);
	cells[n++] = number_cell(view, old->highest, false);
	cells[n++] = number_cell(view, now->lowest, false);
	cells[n++] = number_cell(view, now->highest, false);
	cells[n++] = (struct km_cell){ .number = old->runs_count };
	cells[n++] = (struct km_cell){ .number = now->runs_count };
	cells[n++] = real_cell(row->p, !row->is_tested);
	cells[n++] = real_cell(row->p_rank, !row->is_tested);
	cells[n++] = real_cell(row->p_adjusted, !row->is_tested);
	cells[n++] = (struct km_cell){ .flag = row->is_significant, .is_null = !row->is_tested };
	return n;
}

static size_t people_cells(struct view *view, const struct km_compare_row *row, struct km_cell *cells)
{
	const size_t bytes = sizeof(view->texts[0]);
	enum km_metric metric = view->compare->options.metric;
	size_t n = 0, text = 0;

	for (unsigned side = 0; side < KM_SIDES; side++) {
		const struct km_compare_number *number = &row->sides[side];

		cells[n++] = text_cell(live_mark(metric, number));
		cells[n++] = text_cell(signed_text(view, view->texts[text++], bytes, number->value, false));
		if (view->compare->is_repeated)
			cells[n++] = text_cell(range_text(view, view->texts[text++], bytes, number));
	}
	cells[n++] = text_cell(signed_text(view, view->texts[text++], bytes, km_compare_delta(row), true));
	cells[n++] = text_cell(percent_text(row, view->texts[text++], bytes));
	if (view->compare->is_testable)
		cells[n++] = text_cell(test_text(row, view->texts[text++], bytes));
	return n;
}

static int next_row(void *state, struct km_cell *cells, struct km_error *error)
{
	struct view *view = state;
	const struct km_compare_row *row;
	size_t n;

	(void)error;
	if (view->at == view->shown)
		return 0;
	row = &view->compare->rows[view->order[view->at++]];
	n = name_cells(view, row, cells);
	n += machine_cells(view, row, cells + n);
	people_cells(view, row, cells + n);
	return 1;
}

static int by_size(const void *x, const void *y, void *context)
{
	const struct km_compare *compare = context;
	size_t a = *(const size_t *)x, b = *(const size_t *)y;
	long double da = fabsl(km_compare_delta(&compare->rows[a])), db = fabsl(km_compare_delta(&compare->rows[b]));

	if (da < db || da > db)
		return da > db ? -1 : 1;
	return (a > b) - (a < b);
}

static int by_place(const void *x, const void *y)
{
	size_t a = *(const size_t *)x, b = *(const size_t *)y;

	return (a > b) - (a < b);
}

/* Which rows: for people those that differ; of a limited number the largest differences, in their order. */
static struct view *make_view(const struct km_compare *compare, size_t limit, bool for_people, size_t *ret_total)
{
	struct view *view = calloc(1, sizeof(*view) + compare->rows_count * sizeof(view->order[0]));

	if (!view)
		return NULL;
	view->compare = compare;
	for (size_t i = 0; i < compare->rows_count; i++) {
		if (!for_people || compare->rows[i].state != KM_SAME)
			view->order[view->shown++] = i;
	}
	*ret_total = view->shown;
	if (limit && limit < view->shown) {
		qsort_r(view->order, view->shown, sizeof(view->order[0]), by_size, (void *)(uintptr_t)compare);
		qsort(view->order, limit, sizeof(view->order[0]), by_place);
		view->shown = limit;
	}
	make_columns(view);
	return view;
}

static int add_rows(struct document_state *state, const struct km_compare *compare,
		    const struct km_document_options *options, struct km_error *error)
{
	bool for_people = options->audience == KM_FOR_PEOPLE;
	size_t limit = options->has_limit ? options->limit : for_people ? PEOPLE_ROWS : 0, total;
	char a[KM_FORMAT_BYTES], b[KM_FORMAT_BYTES], c[KM_FORMAT_BYTES];
	struct view *view = make_view(compare, limit, for_people, &total);
	struct km_section *section;

	if (!view)
		return km_error_set(error, -ENOMEM, "out of memory");
	state->counts = view;
	section = km_document_add_section(state, (struct km_section){ .path = "rows",
								      .shape = KM_SHAPE_ROWS,
								      .audience = KM_FOR_PEOPLE | KM_FOR_MACHINES,
								      .columns = view->columns,
								      .columns_count = view->columns_count,
								      .next = next_row,
								      .state = view,
								      .is_primary = true });
	if (!section)
		return km_error_set(error, -ENOMEM, "out of memory");
	state->truncated = view->shown < total;
	if (!for_people)
		return 0;
	if (view->shown < total)
		section->note =
			km_document_note(state, "the largest %s of %s that differ; -n 0 shows all; %s rows are equal",
					 km_format_count(a, view->shown), km_format_count(b, total),
					 km_format_count(c, compare->states[KM_SAME]));
	else
		section->note = km_document_note(
			state, "%s%s equal", total ? "" : "no difference; ",
			compare->states[KM_SAME] == 1
				? "1 row is"
				: strcat(strcpy(b, km_format_count(a, compare->states[KM_SAME])), " rows are"));
	return 0;
}

/* --- for people --- */

static const char *const side_names[] = { "base", "new" };

static void side_lines(struct km_record *record, const struct km_compare *compare, unsigned side)
{
	const struct km_compare_side *runs = &compare->sides[side];
	char a[KM_FORMAT_BYTES], b[KM_FORMAT_BYTES], text[512];

	for (size_t i = 0; i < runs->count; i++) {
		const struct km_run *run = runs->runs[i];
		const struct km_run_source *source = &run->sources[0];

		if (i == 8 && runs->count > 10) {
			snprintf(text, sizeof(text), "and %zu more", runs->count - i);
			km_document_line(record, "", text);
			break;
		}
		snprintf(text, sizeof(text), "%s: %s, %s allocations%s%s%s", run->name,
			 source->kernel ? source->kernel : "kernel not told",
			 km_format_count(a, run->totals.values[KM_METRIC_ALLOCS_COUNT].value),
			 source->clock_is_ns ? " in " : "",
			 source->clock_is_ns ? km_format_duration(b, km_compare_duration(runs, i)) : "",
			 run->sources_count > 1 ? ", merged" : "");
		km_document_line(record, i ? "" : side_names[side], text);
	}
}

static void measure_line(struct km_record *record, const struct km_compare *compare)
{
	const struct km_metric_info *metric = &km_metrics[compare->options.metric];
	const char *per = km_compare_per_name(compare->options.per);
	char text[400];
	size_t n;

	n = (size_t)snprintf(text, sizeof(text), "%s: %s", metric->name, metric->help);
	if (per)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "; all numbers are per %s%s", per,
				      compare->options.per == KM_PER_EVENT ? " (allocation of what is compared)"
				      : compare->options.per == KM_PER_OP  ? " (operation of the workload, --ops)"
									   : " (of the recording)");
	if (metric->kind == KM_METRIC_IS_PEAK)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "; peaks of rows are of different moments: their sum is no peak of the whole");
	if (compare->is_repeated)
		snprintf(text + n, sizeof(text) - n, "; medians of %zu and %zu runs", compare->sides[KM_BASE].count,
			 compare->sides[KM_CHANGED].count);
	km_document_line(record, "metric", text);
}

static void match_lines(struct km_record *record, const struct km_compare *compare)
{
	char text[512];
	size_t n;

	n = (size_t)snprintf(text, sizeof(text), "by %s", compare->matched_by);
	if (compare->unnamed_count)
		snprintf(text + n, sizeof(text) - n, "; %zu without a symbol are one row, addresses are not compared",
			 compare->unnamed_count);
	km_document_line(record, "matched", text);
	if (compare->told_apart_count) {
		snprintf(text, sizeof(text), "by module, %zu function name%s: %s", compare->told_apart_count,
			 compare->told_apart_count == 1 ? "" : "s", compare->told_apart);
		km_document_line(record, "told apart", text);
	}
	if (compare->is_testable) {
		snprintf(text, sizeof(text),
			 "Welch's t, p corrected for %zu rows that vary (Benjamini-Hochberg), and Mann-Whitney U "
			 "agrees; %zu differ by more than noise (p <= 0.05), ~ marks the others",
			 compare->tested_count, compare->significant_count);
		km_document_line(record, "test", text);
	}
}

/* As bloat-o-meter has it, digits ungrouped. */
static void bloat_line(struct document_state *state, const struct km_compare *compare, bool is_total)
{
	struct km_record *record = km_document_record(state);
	int decimals = is_whole(compare) ? 0 : 4;
	long double before = compare->before, after = compare->after;
	char text[256], percent[64] = "";

	if (!record)
		return;
	if (is_total) {
		if (before > 0)
			snprintf(percent, sizeof(percent), ", chg %+.2f%%", (double)((after - before) / before * 100));
		snprintf(text, sizeof(text), "Total: Before=%.*Lf, After=%.*Lf%s", decimals, before, decimals, after,
			 percent);
	} else {
		snprintf(text, sizeof(text), "add/remove: %zu/%zu grow/shrink: %zu/%zu up/down: %.*Lf/%s%.*Lf (%.*Lf)",
			 compare->states[KM_NEW], compare->states[KM_GONE], compare->states[KM_GROWN],
			 compare->states[KM_SHRUNK], decimals, compare->up, compare->down > 0 ? "-" : "", decimals,
			 compare->down, decimals, compare->up - compare->down);
	}
	km_record_text(record, "text", text);
	km_record_end_row(record);
	km_document_add(state, record, is_total ? "total" : "summary", NULL, KM_SHAPE_LINES, KM_FOR_PEOPLE);
	if (state->sections_count)
		state->sections[state->sections_count - 1].is_brief = true;
}

static void warnings_text(struct document_state *state, const struct km_compare *compare)
{
	struct km_record *record = km_document_record(state);

	for (size_t i = 0; record && i < compare->warnings_count; i++)
		km_document_line(record, compare->warnings[i].code, compare->warnings[i].text);
	if (record && compare->warnings_count) {
		km_document_add(state, record, "warnings", "Doubts", KM_SHAPE_LINES, KM_FOR_PEOPLE);
		state->sections[state->sections_count - 1].is_brief = true;
	}
}

static int for_people(struct document_state *state, const struct km_compare *compare,
		      const struct km_document_options *options, struct km_error *error)
{
	struct km_record *record = km_document_record(state);
	int r;

	if (!record)
		return km_error_set(error, -ENOMEM, "out of memory");
	for (unsigned side = 0; side < KM_SIDES; side++)
		side_lines(record, compare, side);
	measure_line(record, compare);
	match_lines(record, compare);
	km_document_add(state, record, "compared", NULL, KM_SHAPE_LINES, KM_FOR_PEOPLE);
	km_document_add_rules(state, options);
	bloat_line(state, compare, false);
	r = add_rows(state, compare, options, error);
	if (r)
		return r;
	bloat_line(state, compare, true);
	warnings_text(state, compare);
	return 0;
}

/* --- for machines --- */

static void text_or_null(struct km_record *record, const char *name, const char *text)
{
	km_record_text(record, name, text && *text ? text : NULL);
}

static const char *unit_of(enum km_type type)
{
	return type == KM_TYPE_BYTES ? "bytes" : type == KM_TYPE_DURATION ? "ns" : "count";
}

static void add_head(struct document_state *state, const struct km_compare *compare,
		     const struct km_document_options *options, bool truncated)
{
	static const char *const axes[] = { [KM_RUN_SITES] = "site",
					    [KM_RUN_CACHES] = "cache",
					    [KM_RUN_GROUPS] = "group",
					    [KM_RUN_FUNCTIONS] = "function",
					    [KM_RUN_MODULES] = "module" };
	const struct km_metric_info *metric = &km_metrics[compare->options.metric];
	struct km_record *record = km_document_record(state);

	if (!record)
		return;
	km_record_text(record, "generator", "kmstat " KM_VERSION);
	km_record_text(record, "domain", "slab");
	km_record_flag(record, "truncated", truncated);
	if (options->gates)
		km_record_text(record, "verdict", km_gate_result_name(options->gates->verdict));
	km_record_text(record, "metric", metric->name);
	km_record_text(record, "unit", unit_of(metric->type));
	km_record_text(record, "per", km_compare_per_name(compare->options.per));
	km_record_text(record, "by", axes[compare->options.axis]);
	km_record_text(record, "matched_by", axes[compare->axis]);
	km_record_text(record, "matched_text", compare->matched_by);
	km_record_number(record, "unnamed_count", KM_TYPE_COUNT, compare->unnamed_count);
	km_record_number(record, "told_apart_count", KM_TYPE_COUNT, compare->told_apart_count);
	text_or_null(record, "told_apart_text", compare->told_apart);
	km_record_end_row(record);
	km_document_add(state, record, "", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
}

static void add_side(struct document_state *state, const struct km_compare *compare, unsigned side)
{
	static const char *const paths[] = { "base.runs", "new.runs" };
	const struct km_compare_side *runs = &compare->sides[side];
	struct km_record *record = km_document_record(state), *list = km_document_record(state);

	if (!record || !list)
		return;
	km_record_number(record, "runs_count", KM_TYPE_COUNT, runs->count);
	km_record_end_row(record);
	km_document_add(state, record, side_names[side], NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
	for (size_t i = 0; i < runs->count; i++) {
		const struct km_run *run = runs->runs[i];

		km_record_text(list, "file", run->name);
		km_record_text(list, "kernel", run->sources[0].kernel);
		km_record_number(list, "sources_count", KM_TYPE_COUNT, run->sources_count);
		km_record_text(list, "filters", run->filters);
		if (run->clock_is_ns)
			km_record_number(list, "duration_ns", KM_TYPE_DURATION, km_compare_duration(runs, i));
		else
			km_record_null(list, "duration_ns", KM_TYPE_DURATION);
		km_record_number(list, "alloc_events_count", KM_TYPE_COUNT,
				 run->totals.values[KM_METRIC_ALLOCS_COUNT].value);
		km_record_text(list, "completeness", km_completeness_name(run->completeness));
		if (run->lost_is == KM_LOST_UNKNOWN)
			km_record_null(list, "lost_events_count", KM_TYPE_COUNT);
		else
			km_record_number(list, "lost_events_count", KM_TYPE_COUNT, run->lost_events_count);
		km_record_text(list, "lost_is", km_lost_is_name(run->lost_is));
		km_record_number(list, "overflowed_count", KM_TYPE_COUNT, run->overflow.overflowed_count);
		km_record_real(list, "divisor", KM_TYPE_REAL, (double)compare->divisors[side][i]);
		km_record_end_row(list);
	}
	km_document_add(state, list, paths[side], NULL, KM_SHAPE_ROWS, KM_FOR_MACHINES);
}

static void signed_number(struct km_record *record, const char *name, bool whole, long double value)
{
	if (whole)
		km_record_integer(record, name, (int64_t)value);
	else
		km_record_real(record, name, KM_TYPE_REAL, (double)value);
}

static void ratio(struct km_record *record, const char *name, long double part, long double whole)
{
	if (whole > 0)
		km_record_real(record, name, KM_TYPE_REAL, (double)(part / whole));
	else
		km_record_null(record, name, KM_TYPE_REAL);
}

static void add_summary(struct document_state *state, const struct km_compare *compare)
{
	struct km_record *record = km_document_record(state);
	bool whole = is_whole(compare);

	if (!record)
		return;
	km_record_number(record, "new_count", KM_TYPE_COUNT, compare->states[KM_NEW]);
	km_record_number(record, "gone_count", KM_TYPE_COUNT, compare->states[KM_GONE]);
	km_record_number(record, "grown_count", KM_TYPE_COUNT, compare->states[KM_GROWN]);
	km_record_number(record, "shrunk_count", KM_TYPE_COUNT, compare->states[KM_SHRUNK]);
	km_record_number(record, "same_count", KM_TYPE_COUNT, compare->states[KM_SAME]);
	km_document_number(record, "up", whole, false, compare->up);
	km_document_number(record, "down", whole, false, compare->down);
	signed_number(record, "net", whole, compare->up - compare->down);
	km_document_number(record, "old", whole, false, compare->before);
	km_document_number(record, "new", whole, false, compare->after);
	ratio(record, "net_ratio", compare->up - compare->down, compare->before);
	km_record_end_row(record);
	km_document_add(state, record, "summary", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
}

static void add_test(struct document_state *state, const struct km_compare *compare)
{
	struct km_record *record = km_document_record(state);

	if (!record)
		return;
	km_record_text(record, "name", "mann_whitney_u");
	km_record_text(record, "correction", "benjamini_hochberg");
	km_record_number(record, "least_runs_count", KM_TYPE_COUNT, KM_RANK_TEST_LEAST);
	km_record_flag(record, "is_done", compare->is_testable);
	km_record_real(record, "level", KM_TYPE_REAL, KM_GATE_SIGNIFICANT);
	km_record_number(record, "tested_count", KM_TYPE_COUNT, compare->tested_count);
	km_record_number(record, "significant_count", KM_TYPE_COUNT, compare->significant_count);
	km_record_end_row(record);
	km_document_add(state, record, "test", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
	if (state->sections_count)
		state->sections[state->sections_count - 1].is_null = !compare->is_repeated;
}

static void add_totals(struct document_state *state, const struct km_compare *compare)
{
	struct km_record *record = km_document_record(state);
	bool whole = is_whole(compare);

	for (unsigned i = 0; record && i < KM_METRICS; i++) {
		const struct km_compare_number *old = &compare->totals[i][KM_BASE];
		const struct km_compare_number *now = &compare->totals[i][KM_CHANGED];

		if (compare->total_is_null[i])
			continue;
		km_record_text(record, "metric",
			       km_metrics[i].total_name ? km_metrics[i].total_name : km_metrics[i].name);
		km_document_number(record, "old", whole, false, old->value);
		km_document_number(record, "new", whole, false, now->value);
		signed_number(record, "delta", whole, now->value - old->value);
		ratio(record, "delta_ratio", now->value - old->value, old->value);
		km_document_number(record, "old_min", whole, false, old->min);
		km_document_number(record, "old_max", whole, old->max_is_unknown, old->max);
		km_document_number(record, "new_min", whole, false, now->min);
		km_document_number(record, "new_max", whole, now->max_is_unknown, now->max);
		km_record_end_row(record);
	}
	km_document_add(state, record, "totals", NULL, KM_SHAPE_ROWS, KM_FOR_MACHINES);
}

static void add_warnings(struct document_state *state, const struct km_compare *compare)
{
	struct km_record *record = km_document_record(state);

	for (size_t i = 0; record && i < compare->warnings_count; i++) {
		km_record_text(record, "code", compare->warnings[i].code);
		km_record_text(record, "text", compare->warnings[i].text);
		km_record_end_row(record);
	}
	km_document_add(state, record, "warnings", NULL, KM_SHAPE_ROWS, KM_FOR_MACHINES);
}

static int for_machines(struct document_state *state, const struct km_compare *compare,
			const struct km_document_options *options, struct km_error *error)
{
	size_t limit = options->has_limit ? options->limit : 0;

	add_head(state, compare, options, limit && limit < compare->rows_count);
	for (unsigned side = 0; side < KM_SIDES; side++)
		add_side(state, compare, side);
	add_summary(state, compare);
	add_test(state, compare);
	km_document_add_rules(state, options);
	add_totals(state, compare);
	add_warnings(state, compare);
	return add_rows(state, compare, options, error);
}

int km_document_compare(struct km_document *document, const struct km_compare *compare,
			const struct km_document_options *options, struct km_error *error)
{
	struct document_state *state = NULL;
	int r = km_document_begin(document, "kmstat.compare", &state, error);

	if (r)
		return r;
	if (options->audience == KM_FOR_PEOPLE)
		r = for_people(state, compare, options, error);
	else
		r = for_machines(state, compare, options, error);
	return km_document_finish(document, r, error);
}
