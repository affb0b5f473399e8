/* SPDX-License-Identifier: GPL-2.0-only */
/* Slab caches beside copies of /proc/slabinfo: the section of `report`. */
#include <stdio.h>
#include <string.h>

#include "document_private.h"

#define PEOPLE_ROWS 20
#define NAMES_BYTES 160

static void add_integer(struct km_record *record, const char *name, const char *title, unsigned flags, bool is_null,
			int64_t value)
{
	if (is_null)
		km_record_null(record, name, KM_TYPE_INTEGER);
	else
		km_record_integer(record, name, value);
	km_record_title(record, title, flags);
}

static void add_count(struct km_record *record, const char *name, const char *title, unsigned flags, bool is_null,
		      uint64_t value)
{
	if (is_null)
		km_record_null(record, name, KM_TYPE_COUNT);
	else
		km_record_number(record, name, KM_TYPE_COUNT, value);
	km_record_title(record, title, flags);
}

static void add_bytes(struct km_record *record, const char *name, const char *title, uint64_t value)
{
	if (value)
		km_record_number(record, name, KM_TYPE_BYTES, value);
	else
		km_record_null(record, name, KM_TYPE_BYTES);
	km_record_title(record, title, KM_COLUMN_MACHINE);
}

/* What the verdict comes from. */
static void add_evidence(struct km_record *record, const struct km_balance_row *trace)
{
	add_count(record, "allocs_count", "allocs", KM_COLUMN_MACHINE, false, trace->allocs_count);
	add_count(record, "matched_frees_count", "freed", KM_COLUMN_MACHINE, false, trace->matched_frees_count);
	add_count(record, "unmatched_frees_count", "unmatched", KM_COLUMN_MACHINE, false, trace->unmatched_frees_count);
	add_count(record, "implied_frees_count", "implied", KM_COLUMN_MACHINE, false, trace->implied_frees_count);
	add_count(record, "overflowed_count", "overflowed", KM_COLUMN_MACHINE, false, trace->overflowed_count);
}

static void add_row(struct km_record *record, const struct km_slab_check *check, const struct km_slab_check_row *row,
		    const struct km_slab_aliases *aliases)
{
	bool is_listed = row->has_before || row->has_after;
	unsigned of_both = check->has_after ? 0 : KM_COLUMN_MACHINE;
	int64_t change = km_balance_change(&row->trace);

	add_count(record, "before_count", "before", 0, !is_listed, row->before_count);
	add_count(record, "after_count", "after", of_both, !is_listed || !check->has_after, row->after_count);
	add_integer(record, "slabinfo_change_count", "slabinfo", of_both, !row->is_compared,
		    row->slabinfo_change_count);
	add_integer(record, "trace_change_count", "trace", 0, false, change);
	add_integer(record, "difference_count", "differ", of_both, !row->is_compared, row->difference_count);
	add_count(record, "tolerance_count", "tolerance", of_both, !row->is_compared, row->tolerance_count);
	if (row->is_compared)
		km_record_flag(record, "agrees", row->agrees);
	else
		km_record_null(record, "agrees", KM_TYPE_BOOL);
	km_record_title(record, "agrees", of_both);
	add_integer(record, "expected_after_count", "expected", check->has_after ? KM_COLUMN_MACHINE : 0, !is_listed,
		    (int64_t)row->before_count + change);
	km_record_text(record, "cause", km_slab_cause_name(row->cause));
	km_record_title(record, "cause", of_both);
	add_evidence(record, &row->trace);
	add_bytes(record, "object_bytes", "object", row->trace.object_bytes);
	add_bytes(record, "slabinfo_object_bytes", "in slabinfo", row->listed_object_bytes);
	km_record_text(record, "slabinfo_cache", row->listed_name);
	km_record_title(record, "there", KM_COLUMN_MACHINE);
	km_record_text(record, "cache", row->name);
	km_record_title(record, "cache", KM_COLUMN_MACHINE);
	km_record_text(record, "shown", km_slab_aliases_shown(aliases, row->name));
	km_record_title(record, "cache", KM_COLUMN_PEOPLE | KM_COLUMN_FLEX | KM_COLUMN_LAST);
	km_record_text(record, "reason", row->reason);
	km_record_title(record, "reason", KM_COLUMN_MACHINE);
	km_record_end_row(record);
}

static const char *sum_up(struct document_state *state, const struct km_slab_check *check, size_t shown)
{
	char cut[80] = "";

	if (shown < check->rows_count)
		snprintf(cut, sizeof(cut), "; %zu of %zu shown, -n 0 shows all", shown, check->rows_count);
	if (!check->has_after)
		return km_document_note(state,
					"no slabinfo of the end: what is expected there; %zu more had no event%s",
					check->quiet_count, cut);
	return km_document_note(
		state, "%zu agree, %zu differ, %zu have no counterpart; %zu more had no event or change%s",
		check->agree_count, check->differ_count, check->not_compared_count, check->quiet_count, cut);
}

static bool needs_words(const struct km_slab_check_row *row)
{
	return !row->agrees && row->cause != KM_SLAB_NO_AFTER;
}

/* The first row from `from` on that has words for people and the reason of `row`. */
static size_t next_with_reason(const struct km_slab_check *check, size_t from, size_t count,
			       const struct km_slab_check_row *row)
{
	while (from < count && (!needs_words(&check->rows[from]) || strcmp(check->rows[from].reason, row->reason) != 0))
		from++;
	return from;
}

/* The reasons of the first rows, each once, behind the caches that it is for. */
static void add_reasons(struct document_state *state, const struct km_slab_check *check, size_t count)
{
	struct km_record *record = km_document_record(state);

	if (!record)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct km_slab_check_row *row = &check->rows[i];
		char names[NAMES_BYTES] = "", text[NAMES_BYTES + KM_SLAB_REASON_BYTES];
		size_t n = 0;

		if (!needs_words(row) || next_with_reason(check, 0, count, row) < i)
			continue;
		for (size_t k = i; k < count && n < sizeof(names); k = next_with_reason(check, k + 1, count, row))
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "", check->rows[k].name);
		snprintf(text, sizeof(text), "%s: %s", names, row->reason);
		km_document_line(record, "", text);
	}
	km_document_add(state, record, "slabinfo.reasons", "Why", KM_SHAPE_LINES, KM_FOR_PEOPLE);
}

void km_document_add_slabinfo(struct document_state *state, const struct km_analysis *an,
			      const struct km_document_options *options)
{
	const struct km_slab_check *check = &an->slab_check;
	struct km_record *record = km_document_record(state), *rows = km_document_record(state);
	size_t limit = km_document_limit(options, PEOPLE_ROWS);
	size_t shown = limit && limit < check->rows_count ? limit : check->rows_count;

	if (!record || !rows)
		return;
	km_record_flag(record, "has_after", check->has_after);
	km_record_number(record, "agree_count", KM_TYPE_COUNT, check->agree_count);
	km_record_number(record, "differ_count", KM_TYPE_COUNT, check->differ_count);
	km_record_number(record, "not_compared_count", KM_TYPE_COUNT, check->not_compared_count);
	km_record_number(record, "quiet_count", KM_TYPE_COUNT, check->quiet_count);
	km_record_number(record, "unknown_frees_count", KM_TYPE_COUNT, check->unknown_frees_count);
	km_record_number(record, "cpus_count", KM_TYPE_COUNT, check->cpus_count);
	km_record_flag(record, "slab_debug", check->is_debug);
	km_record_end_row(record);
	km_document_add(state, record, "slabinfo", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
	state->truncated |= shown < check->rows_count;
	for (size_t i = 0; i < shown; i++)
		add_row(rows, check, &check->rows[i], an->options.aliases);
	km_document_add(state, rows, "slabinfo.caches", "Caches against slabinfo, by difference", KM_SHAPE_ROWS,
			KM_FOR_PEOPLE | KM_FOR_MACHINES);
	if (options->audience == KM_FOR_PEOPLE && state->sections_count)
		state->sections[state->sections_count - 1].note = sum_up(state, check, shown);
	add_reasons(state, check, shown);
}
