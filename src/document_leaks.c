/* SPDX-License-Identifier: GPL-2.0-only */
/* The sites that may leak, as rows: for machines with every factor, for people with a picture and words. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document_private.h"
#include "format.h"

#define COLUMNS_LIMIT  64
#define ALIASES_LIMIT  256
#define PICTURE_BYTES  (KM_LEAKS_WINDOWS * 3 + 1)
#define REASONS_SHOWN  20
#define SECTION_REPORT 5 /* candidates in `report` */

/* A row being handed out, and what its cells point to. */
struct view {
	const struct km_analysis *analysis;
	const struct km_leak *row;
	struct km_site_name site;
	bool has_utf8;
	const char *aliases[ALIASES_LIMIT]; /* other names of the cache */
	struct km_histogram windows;
	uint64_t window_bins[KM_LEAKS_WINDOWS];
	char ages[3 * KM_FORMAT_BYTES], pids[32], growth[KM_FORMAT_BYTES + 8], growth_error[KM_FORMAT_BYTES + 8],
		picture[PICTURE_BYTES];
};

typedef void get_value(struct view *view, struct km_cell *cell);

/* --- values --- */

/* To the nearest whole number that fits. */
static int64_t whole(double value)
{
	if (!(value > -9e18))
		return value < 0 ? INT64_MIN : 0;
	return value < 9e18 ? llround(value) : INT64_MAX;
}

static void get_verdict(struct view *v, struct km_cell *c)
{
	c->text = km_verdict_name(v->row->verdict);
}

static void get_reason(struct view *v, struct km_cell *c)
{
	c->text = v->row->reason;
}

static void get_symbol(struct view *v, struct km_cell *c)
{
	c->text = v->site.symbol;
}

static void get_function(struct view *v, struct km_cell *c)
{
	c->text = v->site.function;
}

static void get_module(struct view *v, struct km_cell *c)
{
	c->text = v->site.module;
	c->is_null = !v->site.module[0];
}

static void get_address(struct view *v, struct km_cell *c)
{
	c->number = v->row->call_site;
	c->is_null = c->number == KM_SITE_OTHERS || v->site.is_made_up;
}

static void get_shown_cache(struct view *v, struct km_cell *c)
{
	c->text = km_slab_aliases_shown(v->analysis->options.aliases, v->row->cache);
}

static void get_aliases(struct view *v, struct km_cell *c)
{
	size_t count = km_slab_aliases_of(v->analysis->options.aliases, v->row->cache, v->aliases, ALIASES_LIMIT);

	c->list.items = v->aliases;
	c->list.count = count < ALIASES_LIMIT ? count : ALIASES_LIMIT;
}

static void get_cache(struct view *v, struct km_cell *c)
{
	c->text = v->row->cache;
}

static void get_twin(struct view *v, struct km_cell *c)
{
	c->text = v->row->twin;
	c->is_null = !c->text;
}

static void get_pid_min(struct view *v, struct km_cell *c)
{
	c->integer = v->row->pid_min;
}

static void get_pid_max(struct view *v, struct km_cell *c)
{
	c->integer = v->row->pid_max;
}

static void get_cpus(struct view *v, struct km_cell *c)
{
	c->text = v->row->cpus;
}

static void get_growth(struct view *v, struct km_cell *c)
{
	c->integer = whole(v->row->factors.growth);
}

static void get_growth_error(struct view *v, struct km_cell *c)
{
	c->integer = whole(v->row->factors.growth_error);
}

static void get_score(struct view *v, struct km_cell *c)
{
	c->number = (uint64_t)whole(v->row->factors.score);
}

static void get_p99(struct view *v, struct km_cell *c)
{
	c->number = v->row->factors.lifetime_p99;
	c->is_null = !v->row->factors.lifetimes_count;
}

static void get_traced_share(struct view *v, struct km_cell *c)
{
	c->ratio = v->row->factors.traced_share;
	c->is_null = !v->row->factors.has_traced_share;
}

static void get_cache_traced_share(struct view *v, struct km_cell *c)
{
	c->ratio = v->row->factors.cache_traced_share;
	c->is_null = !v->row->factors.has_cache_traced_share;
}

static void get_windows(struct view *v, struct km_cell *c)
{
	memcpy(v->window_bins, v->row->factors.windows, sizeof(v->window_bins));
	v->windows = (struct km_histogram){ .count = v->row->live_count,
					    .length = KM_LEAKS_WINDOWS,
					    .bins = v->window_bins };
	c->histogram = &v->windows;
}

/* min/mean/max, as SLUB's alloc_traces has it. */
static void get_ages(struct view *v, struct km_cell *c)
{
	const uint64_t ages[] = { v->row->age_min, v->row->age_mean, v->row->age_max };
	size_t n = 0;

	for (unsigned i = 0; i < 3; i++) {
		char text[KM_FORMAT_BYTES];

		n += (size_t)snprintf(v->ages + n, sizeof(v->ages) - n, "%s%s", i ? "/" : "",
				      km_document_time_text(v->analysis->buffer, ages[i], text));
	}
	c->text = v->ages;
}

static void get_pids(struct view *v, struct km_cell *c)
{
	if (v->row->pid_min == v->row->pid_max)
		snprintf(v->pids, sizeof(v->pids), "%d", v->row->pid_min);
	else
		snprintf(v->pids, sizeof(v->pids), "%d-%d", v->row->pid_min, v->row->pid_max);
	c->text = v->pids;
}

static const char *signed_bytes(double value, char *text)
{
	int64_t n = whole(value);
	char bytes[KM_FORMAT_BYTES];

	snprintf(text, KM_FORMAT_BYTES, "%s%s", n < 0 ? "-" : "",
		 km_format_bytes(bytes, n < 0 ? -(uint64_t)n : (uint64_t)n));
	return text;
}

static const char *rate(const struct view *v, double value, char *text, size_t bytes)
{
	char number[KM_FORMAT_BYTES];

	snprintf(text, bytes, "%s/%s", signed_bytes(value, number),
		 v->analysis->buffer->unit == KM_CLOCK_NS ? "s" : "tick");
	return text;
}

static void get_growth_text(struct view *v, struct km_cell *c)
{
	c->text = rate(v, v->row->factors.growth, v->growth, sizeof(v->growth));
}

static void get_growth_error_text(struct view *v, struct km_cell *c)
{
	c->text = rate(v, v->row->factors.growth_error, v->growth_error, sizeof(v->growth_error));
}

/* Survivors by the window of the trace that they were born in: the tallest is full. */
static void get_picture(struct view *v, struct km_cell *c)
{
	static const char *const bars[] = { "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83", "\xe2\x96\x84",
					    "\xe2\x96\x85", "\xe2\x96\x86", "\xe2\x96\x87", "\xe2\x96\x88" };
	static const char *const letters[] = { ".", ":", "-", "=", "+", "*", "#", "@" };
	uint64_t most = 1;
	size_t n = 0;

	for (unsigned i = 0; i < KM_LEAKS_WINDOWS; i++)
		most = v->row->factors.windows[i] > most ? v->row->factors.windows[i] : most;
	for (unsigned i = 0; i < KM_LEAKS_WINDOWS; i++) {
		uint64_t value = v->row->factors.windows[i];
		unsigned step = (unsigned)(((unsigned __int128)value * 8 + most - 1) / most);

		if (!value)
			v->picture[n++] = v->has_utf8 ? ' ' : '_';
		else
			n += (size_t)snprintf(v->picture + n, sizeof(v->picture) - n, "%s",
					      v->has_utf8 ? bars[step - 1] : letters[step - 1]);
	}
	v->picture[n] = '\0';
	c->text = v->picture;
}

#define NUMBER(function, member)                                \
	static void function(struct view *v, struct km_cell *c) \
	{                                                       \
		c->number = v->row->member;                     \
	}
NUMBER(get_live_count, live_count)
NUMBER(get_live_bytes, live_bytes)
NUMBER(get_age_min, age_min)
NUMBER(get_age_mean, age_mean)
NUMBER(get_age_max, age_max)
NUMBER(get_tracked, factors.tracked_count)
NUMBER(get_matched, factors.matched_frees_count)
NUMBER(get_implied, factors.implied_frees_count)
NUMBER(get_page_freed, factors.page_freed_count)
NUMBER(get_old_age, factors.old_age)
NUMBER(get_old_count, factors.old_count)
NUMBER(get_old_bytes, factors.old_bytes)
NUMBER(get_freed_old, factors.freed_old_count)
NUMBER(get_before_loss, factors.before_loss_count)
NUMBER(get_chances, factors.chances_count)
#undef NUMBER

#define RATIO(function, member)                                 \
	static void function(struct view *v, struct km_cell *c) \
	{                                                       \
		c->ratio = v->row->member;                      \
	}
RATIO(get_spread, factors.spread)
RATIO(get_early, factors.early_share)
RATIO(get_late, factors.late_share)
RATIO(get_never_freed, factors.never_freed_share)
#undef RATIO

#define MACHINE KM_COLUMN_MACHINE
#define PEOPLE  KM_COLUMN_PEOPLE
#define WIDE    KM_COLUMN_WIDE

static const struct leak_column {
	struct km_column column;
	get_value *get;
	const char *ticks_name; /* the same where the clock is not in ns, NULL for what is no time */
} leak_columns[] = {
	{ { "verdict", "verdict",
	    "leak, never_freed, uncertain, startup, untraced_frees, reclaimable, allocator_internal or too_short",
	    KM_TYPE_STRING, 0 },
	  get_verdict,
	  NULL },
	{ { "symbol", "site", "call site: function+offset [module]", KM_TYPE_STRING, KM_COLUMN_FLEX | KM_COLUMN_LAST },
	  get_symbol,
	  NULL },
	{ { "function", "function", "its function, without .isra, .constprop, .part and .cold", KM_TYPE_STRING,
	    MACHINE },
	  get_function,
	  NULL },
	{ { "module", "module", "its module, null for the kernel itself", KM_TYPE_STRING, MACHINE }, get_module, NULL },
	{ { "address", "address", "the call site's address", KM_TYPE_ADDRESS, MACHINE }, get_address, NULL },
	{ { "live_count", "objects", "objects live at the end", KM_TYPE_COUNT, 0 }, get_live_count, NULL },
	{ { "live_bytes", "live", "bytes given to them", KM_TYPE_BYTES, 0 }, get_live_bytes, NULL },
	{ { "ages", "age min/avg/max", "their ages, as SLUB's alloc_traces has them", KM_TYPE_STRING, PEOPLE | WIDE },
	  get_ages,
	  NULL },
	{ { "age_min_ns", "newest", "age of the newest of them", KM_TYPE_DURATION, MACHINE },
	  get_age_min,
	  "age_min_ticks" },
	{ { "age_mean_ns", "age", "their mean age", KM_TYPE_DURATION, MACHINE }, get_age_mean, "age_mean_ticks" },
	{ { "age_max_ns", "oldest", "age of the oldest of them", KM_TYPE_DURATION, MACHINE },
	  get_age_max,
	  "age_max_ticks" },
	{ { "pids", "pid", "the lowest and highest number of the tasks that made them", KM_TYPE_STRING, PEOPLE | WIDE },
	  get_pids,
	  NULL },
	{ { "pid_min", "pid min", "the lowest number of a task that made one of them", KM_TYPE_INTEGER, MACHINE },
	  get_pid_min,
	  NULL },
	{ { "pid_max", "pid max", "the highest", KM_TYPE_INTEGER, MACHINE }, get_pid_max, NULL },
	{ { "cpus", "cpus", "the CPUs that they were made on", KM_TYPE_STRING, WIDE }, get_cpus, NULL },
	{ { "growth", "growth", "drift of live bytes over the trace", KM_TYPE_STRING, PEOPLE }, get_growth_text, NULL },
	{ { "growth_error", "+-", "standard error of the growth", KM_TYPE_STRING, PEOPLE | WIDE },
	  get_growth_error_text,
	  NULL },
	{ { "picture", "born", "when they were born: sixteen windows of the trace", KM_TYPE_STRING, PEOPLE },
	  get_picture,
	  NULL },
	{ { "cache", "cache", "slab cache or kmalloc class of most of the live bytes", KM_TYPE_STRING, WIDE },
	  get_cache,
	  NULL },
	{ { "shown_cache", "cache", "the same with how many more names the cache has: pid(+3) (--slab-aliases)",
	    KM_TYPE_STRING, MACHINE | PEOPLE },
	  get_shown_cache,
	  NULL },
	{ { "aliases", "aliases", "the other names of that cache, sorted (--slab-aliases)", KM_TYPE_LIST,
	    MACHINE | PEOPLE },
	  get_aliases,
	  NULL },
	{ { "reason", "reason", "what the verdict comes from, in words", KM_TYPE_STRING, MACHINE }, get_reason, NULL },
	{ { "grouped_with", "grouped with", "the reclaimable objects that there is one of these for each of",
	    KM_TYPE_STRING, MACHINE },
	  get_twin,
	  NULL },
	{ { "factors.score_bytes", "score", "old_bytes x spread x traced_share", KM_TYPE_BYTES, MACHINE },
	  get_score,
	  NULL },
	{ { "factors.tracked_count", "tracked", "allocations that entered the table", KM_TYPE_COUNT, MACHINE },
	  get_tracked,
	  NULL },
	{ { "factors.matched_frees_count", "freed", "of them freed with an event", KM_TYPE_COUNT, MACHINE },
	  get_matched,
	  NULL },
	{ { "factors.implied_frees_count", "implied", "freed without: the address was handed out again", KM_TYPE_COUNT,
	    MACHINE },
	  get_implied,
	  NULL },
	{ { "factors.page_freed_count", "page freed", "of the live ones, their pages were freed since: no survivors",
	    KM_TYPE_COUNT, MACHINE },
	  get_page_freed,
	  NULL },
	{ { "factors.lifetime_p99_ns", "life p99", "99 % of the freed ones lived at most this long", KM_TYPE_DURATION,
	    MACHINE },
	  get_p99,
	  "factors.lifetime_p99_ticks" },
	{ { "factors.old_age_ns", "old age", "age from which on a live one is old", KM_TYPE_DURATION, MACHINE },
	  get_old_age,
	  "factors.old_age_ticks" },
	{ { "factors.old_count", "old", "live ones that are old", KM_TYPE_COUNT, MACHINE }, get_old_count, NULL },
	{ { "factors.old_bytes", "old bytes", "bytes given to them", KM_TYPE_BYTES, MACHINE }, get_old_bytes, NULL },
	{ { "factors.freed_old_count", "freed old", "objects that were freed when they were that old", KM_TYPE_COUNT,
	    MACHINE },
	  get_freed_old,
	  NULL },
	{ { "factors.before_loss_count", "before loss", "live ones older than the last loss of events", KM_TYPE_COUNT,
	    MACHINE },
	  get_before_loss,
	  NULL },
	{ { "factors.traced_share", "traced", "known frees that had an event", KM_TYPE_RATIO, MACHINE },
	  get_traced_share,
	  NULL },
	{ { "factors.cache_traced_share", "cache traced", "the same of all objects of its cache", KM_TYPE_RATIO,
	    MACHINE },
	  get_cache_traced_share,
	  NULL },
	{ { "factors.chances_count", "chances",
	    "allocations from the cache since their mean birth: an address of a freed one would likely be handed out "
	    "again",
	    KM_TYPE_COUNT, MACHINE },
	  get_chances,
	  NULL },
	{ { "factors.spread", "spread", "of the old ones over the site's own births: 0 one moment, 1 all its time",
	    KM_TYPE_RATIO, MACHINE },
	  get_spread,
	  NULL },
	{ { "factors.early_share", "early", "live ones among the older half of its births", KM_TYPE_RATIO, MACHINE },
	  get_early,
	  NULL },
	{ { "factors.late_share", "late", "live ones among the newer half", KM_TYPE_RATIO, MACHINE }, get_late, NULL },
	{ { "factors.never_freed_share", "never freed", "share of the births that are never freed (Kaplan-Meier)",
	    KM_TYPE_RATIO, MACHINE },
	  get_never_freed,
	  NULL },
	{ { "factors.growth_bytes_per_s", "growth", "drift of live bytes over the trace, bytes a second",
	    KM_TYPE_INTEGER, MACHINE },
	  get_growth,
	  "factors.growth_bytes_per_tick" },
	{ { "factors.growth_error_bytes_per_s", "growth error", "its standard error", KM_TYPE_INTEGER, MACHINE },
	  get_growth_error,
	  "factors.growth_error_bytes_per_tick" },
	{ { "factors.windows", "windows", "live ones by window of birth, sixteen over the trace: [window, count]",
	    KM_TYPE_HISTOGRAM, MACHINE },
	  get_windows,
	  NULL },
};

#define LEAK_COLUMNS (sizeof(leak_columns) / sizeof(leak_columns[0]))
_Static_assert(LEAK_COLUMNS * 2 <= COLUMNS_LIMIT * 2, "COLUMNS_LIMIT is too small");

/* Rows [at, count) of the analysis's, for one section. */
struct leak_rows {
	struct km_column columns[COLUMNS_LIMIT];
	const struct leak_column *sources[COLUMNS_LIMIT];
	bool is_null[COLUMNS_LIMIT]; /* an _ns column of a clock that is not in ns */
	size_t columns_count;
	size_t at, count;
	struct view view;
};

static void add_column(struct leak_rows *rows, const struct leak_column *source, const char *name, bool is_null)
{
	size_t i = rows->columns_count++;

	rows->columns[i] = source->column;
	rows->columns[i].name = name;
	rows->sources[i] = source;
	rows->is_null[i] = is_null;
}

static int next_row(void *state, struct km_cell *cells, struct km_error *error)
{
	struct leak_rows *rows = state;
	size_t total;

	(void)error;
	if (rows->at == rows->count)
		return 0;
	rows->view.row = &km_leaks_rows(rows->view.analysis->leaks, &total)[rows->at++];
	if (rows->view.row->call_site == KM_SITE_OTHERS)
		rows->view.site = (struct km_site_name){ "(other sites)", "(other sites)", "", false };
	else
		rows->view.site = km_naming_site(rows->view.analysis->naming, rows->view.row->call_site);
	for (size_t i = 0; i < rows->columns_count; i++) {
		memset(&cells[i], 0, sizeof(cells[i]));
		if (rows->is_null[i])
			cells[i].is_null = true;
		else
			rows->sources[i]->get(&rows->view, &cells[i]);
	}
	return 1;
}

/* For people pid(+3) stands for the name alone. */
static void set_aliases_flags(struct km_column *column, get_value *get)
{
	if (get == get_cache || get == get_aliases)
		column->flags = MACHINE;
	else if (get == get_shown_cache)
		column->flags = PEOPLE | WIDE;
}

size_t km_document_describe_leaks(struct km_column *columns, size_t limit)
{
	size_t count = 0;

	for (size_t i = 0; i < LEAK_COLUMNS && count < limit; i++)
		columns[count++] = leak_columns[i].column;
	return count;
}

struct km_section *km_document_add_leaks(struct document_state *state, const struct km_analysis *an, bool has_utf8,
					 size_t first_count)
{
	bool ticks = an->buffer->unit != KM_CLOCK_NS;
	struct leak_rows *rows = calloc(1, sizeof(*rows));
	struct km_section *section;

	if (!rows || state->leaks_count == sizeof(state->leaks) / sizeof(state->leaks[0])) {
		free(rows);
		state->failed = true;
		return NULL;
	}
	state->leaks[state->leaks_count++] = rows;
	rows->view.analysis = an;
	rows->view.has_utf8 = has_utf8;
	rows->count = first_count;
	for (size_t i = 0; i < LEAK_COLUMNS; i++) {
		const struct leak_column *source = &leak_columns[i];
		size_t first = rows->columns_count;

		add_column(rows, source, source->column.name, ticks && source->ticks_name);
		if (ticks && source->ticks_name)
			add_column(rows, source, source->ticks_name, false);
		if (an->options.aliases)
			set_aliases_flags(&rows->columns[first], source->get);
	}
	section = km_document_add_section(state, (struct km_section){ .path = "candidates",
								      .title = "Leak candidates",
								      .shape = KM_SHAPE_ROWS,
								      .audience = KM_FOR_PEOPLE | KM_FOR_MACHINES,
								      .columns = rows->columns,
								      .columns_count = rows->columns_count,
								      .next = next_row,
								      .state = rows });
	return section;
}

/* Why each of the first rows has its verdict. */
void km_document_add_reasons(struct document_state *state, const struct km_analysis *an, size_t count)
{
	struct km_record *record = km_document_record(state);
	size_t total;
	const struct km_leak *rows = km_leaks_rows(an->leaks, &total);

	if (!record)
		return;
	for (size_t i = 0; i < count && i < total; i++) {
		char text[640];

		snprintf(text, sizeof(text), "%s: %s: %s", km_naming_site(an->naming, rows[i].call_site).symbol,
			 km_verdict_name(rows[i].verdict), rows[i].reason);
		km_record_text(record, "label", "");
		km_record_text(record, "text", text);
		km_record_end_row(record);
	}
	km_document_add(state, record, "reasons", "Why", KM_SHAPE_LINES, KM_FOR_PEOPLE);
}

size_t km_document_count_suspects(const struct km_analysis *an)
{
	size_t total, count = 0;
	const struct km_leak *rows = km_leaks_rows(an->leaks, &total);

	while (count < total && rows[count].verdict <= KM_VERDICT_NEVER_FREED)
		count++;
	return count;
}

/* One line: no candidate, and what became of all sites with live objects. */
static const char *no_suspects(struct document_state *state, const struct km_analysis *an)
{
	size_t total, counts[KM_VERDICTS] = { 0 }, n = 0;
	const struct km_leak *rows = km_leaks_rows(an->leaks, &total);
	char text[256] = "";

	for (size_t i = 0; i < total; i++)
		counts[rows[i].verdict]++;
	for (unsigned i = 0; i < KM_VERDICTS; i++) {
		if (counts[i])
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%zu %s", n ? ", " : ": ", counts[i],
					      km_verdict_name((enum km_verdict)i));
	}
	return km_document_note(state, "none of %zu site%s with live objects%s", total, total == 1 ? "" : "s", text);
}

void km_document_add_suspects(struct document_state *state, const struct km_analysis *an, bool has_utf8)
{
	size_t count = km_document_count_suspects(an), shown = count < SECTION_REPORT ? count : SECTION_REPORT;
	struct km_section *section = km_document_add_leaks(state, an, has_utf8, shown);

	if (!section)
		return;
	if (!count)
		section->note = no_suspects(state, an);
	else if (shown < count)
		section->note =
			km_document_note(state, "%zu of %zu shown; `kmstat leaks` shows all, and why", shown, count);
	else
		section->note = "`kmstat leaks` tells why";
}
