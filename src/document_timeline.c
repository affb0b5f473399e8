/* SPDX-License-Identifier: GPL-2.0-only */
/* Live bytes and objects over time: for machines every interval, for people a chart and a picture of each row. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document_private.h"
#include "format.h"

#define PEOPLE_ROWS    10
#define MACHINE_ROWS   20
#define PICTURE_CELLS  32
#define CHART_COLUMNS  200 /* at most */
#define LABEL_WIDTH    10  /* in front of a chart: "table full" */
#define DEFAULT_WIDTH  80
#define BYTES_HEIGHT   10
#define OBJECTS_HEIGHT 4
#define UTF8_BYTES     3 /* of a block element */

/* What is asked of one interval, of the whole or of a row. */
struct interval {
	const struct km_analysis *analysis;
	size_t index;
	const struct km_timeline_point *point; /* of the whole */
	const struct km_timeline_span *span;
};

typedef uint64_t get_value(const struct interval *interval);

static uint64_t get_time(const struct interval *i)
{
	return km_timeline_begin(i->analysis->timeline, i->index) - i->analysis->start_time;
}

static uint64_t get_duration(const struct interval *i)
{
	const struct km_timeline *t = i->analysis->timeline;

	return km_timeline_end(t, i->index) - km_timeline_begin(t, i->index);
}

static uint64_t get_peak_time(const struct interval *i)
{
	return i->point->peak_time - i->analysis->start_time;
}

static uint64_t get_is_lost(const struct interval *i)
{
	return i->point->is_lost;
}

#define MEMBER(function, member)                           \
	static uint64_t function(const struct interval *i) \
	{                                                  \
		return i->member;                          \
	}
MEMBER(get_live_bytes, span->live_bytes)
MEMBER(get_peak_bytes, span->peak_bytes)
MEMBER(get_lowest_bytes, span->lowest_bytes)
MEMBER(get_live_count, span->live_count)
MEMBER(get_peak_count, span->peak_count)
MEMBER(get_lowest_count, span->lowest_count)
MEMBER(get_allocs, point->allocs_count)
MEMBER(get_matched, point->matched_frees_count)
MEMBER(get_implied, point->implied_frees_count)
MEMBER(get_overflowed_count, point->overflowed_count)
MEMBER(get_overflowed_bytes, point->overflowed_bytes)
MEMBER(get_lost, point->lost_count)
#undef MEMBER

static const struct point_column {
	const char *name, *ticks_name; /* NULL: no time */
	const char *of_row;            /* the name in a row's "points", NULL: only of the whole, or of the interval */
	enum km_type type;
	bool is_of_whole; /* not known of a row */
	get_value *get;
	const char *help;
} point_columns[] = {
	{ "time_ns", "time_ticks", NULL, KM_TYPE_DURATION, false, get_time, "when the interval begins, from time 0" },
	{ "duration_ns", "duration_ticks", NULL, KM_TYPE_DURATION, false, get_duration, "how long it is" },
	{ "live_bytes", NULL, "points.live_bytes", KM_TYPE_BYTES, false, get_live_bytes, "bytes live at its end" },
	{ "peak_live_bytes", NULL, "points.peak_live_bytes", KM_TYPE_BYTES, false, get_peak_bytes,
	  "most live bytes in it" },
	{ "lowest_live_bytes", NULL, "points.lowest_live_bytes", KM_TYPE_BYTES, false, get_lowest_bytes,
	  "fewest live bytes in it" },
	{ "live_count", NULL, "points.live_count", KM_TYPE_COUNT, false, get_live_count, "objects live at its end" },
	{ "peak_live_count", NULL, "points.peak_live_count", KM_TYPE_COUNT, false, get_peak_count,
	  "most live objects in it" },
	{ "lowest_live_count", NULL, "points.lowest_live_count", KM_TYPE_COUNT, false, get_lowest_count,
	  "fewest live objects in it" },
	{ "peak_time_ns", "peak_time_ticks", NULL, KM_TYPE_DURATION, true, get_peak_time,
	  "the first moment of most live bytes in it" },
	{ "allocs_count", NULL, NULL, KM_TYPE_COUNT, true, get_allocs, "allocation events in it" },
	{ "matched_frees_count", NULL, NULL, KM_TYPE_COUNT, true, get_matched, "objects freed with an event" },
	{ "implied_frees_count", NULL, NULL, KM_TYPE_COUNT, true, get_implied,
	  "objects freed without one: their addresses were handed out again" },
	{ "overflowed_count", NULL, NULL, KM_TYPE_COUNT, true, get_overflowed_count,
	  "objects not tracked, since the table was full" },
	{ "overflowed_bytes", NULL, NULL, KM_TYPE_BYTES, true, get_overflowed_bytes, "bytes given to them" },
	{ "lost_count", NULL, NULL, KM_TYPE_COUNT, true, get_lost,
	  "events lost just before one in it, as far as the recording tells" },
	{ "is_lost", NULL, NULL, KM_TYPE_BOOL, true, get_is_lost, "whether a CPU lost events in it" },
};

#define POINT_COLUMNS (sizeof(point_columns) / sizeof(point_columns[0]))

static const struct km_column picture_column = { "picture", "over time",
						 "most live bytes over time, against the row's own peak",
						 KM_TYPE_STRING, KM_COLUMN_PEOPLE };

/* Columns of intervals in a table. */
struct point_layout {
	struct km_column columns[2 * POINT_COLUMNS];
	const struct point_column *sources[2 * POINT_COLUMNS];
	bool is_null[2 * POINT_COLUMNS]; /* an _ns column of a clock that is not in ns */
	size_t count;
};

struct timeline_view {
	const struct km_analysis *analysis;
	const struct km_timeline_point *points;
	size_t points_count;
	size_t at; /* point */

	struct point_layout layout;

	/* Rows, each with its intervals. */
	struct km_rows *rows; /* owned by the document */
	struct km_column columns[KM_ROWS_COLUMNS_LIMIT + POINT_COLUMNS + 1 + 2 * POINT_COLUMNS];
	size_t columns_count, rows_columns_count, keys_count;
	struct km_cell row_cells[KM_ROWS_COLUMNS_LIMIT];
	struct km_timeline_span *spans;
	uint64_t *numbers; /* points_count for each column of point_columns */
	bool has_utf8;
	bool has_row;
	char picture[PICTURE_CELLS * UTF8_BYTES + 1];
};

/* --- intervals as rows --- */

static void make_layout(struct point_layout *layout, bool ticks, bool of_rows)
{
	for (size_t i = 0; i < POINT_COLUMNS; i++) {
		const struct point_column *source = &point_columns[i];
		struct km_column column = {
			.name = source->name, .help = source->help, .type = source->type, .flags = KM_COLUMN_MACHINE
		};

		if (of_rows && source->is_of_whole)
			continue;
		layout->is_null[layout->count] = ticks && source->ticks_name;
		layout->sources[layout->count] = source;
		layout->columns[layout->count++] = column;
		if (!ticks || !source->ticks_name)
			continue;
		column.name = source->ticks_name;
		column.type = KM_TYPE_TICKS;
		layout->sources[layout->count] = source;
		layout->columns[layout->count++] = column;
	}
}

static void fill_point(const struct point_layout *layout, const struct interval *interval, struct km_cell *cells)
{
	for (size_t i = 0; i < layout->count; i++) {
		cells[i] = (struct km_cell){ .is_null = layout->is_null[i] };
		if (layout->columns[i].type == KM_TYPE_BOOL)
			cells[i].flag = layout->sources[i]->get(interval) != 0;
		else
			cells[i].number = layout->sources[i]->get(interval);
	}
}

static int next_point(void *state, struct km_cell *cells, struct km_error *error)
{
	struct timeline_view *v = state;
	struct interval interval = { .analysis = v->analysis, .index = v->at };

	(void)error;
	if (v->at == v->points_count)
		return 0;
	interval.point = &v->points[v->at];
	interval.span = &v->points[v->at++].span;
	fill_point(&v->layout, &interval, cells);
	return 1;
}

/* --- rows with their intervals --- */

/* Cells of a picture: the most of the intervals that each stands for. */
static uint64_t most_of(const struct timeline_view *v, const struct km_timeline_span *spans, size_t cell, size_t cells)
{
	size_t from = cell * v->points_count / cells, to = (cell + 1) * v->points_count / cells;
	uint64_t most = 0;

	for (size_t i = from; i < to || i == from; i++)
		most = spans[i].peak_bytes > most ? spans[i].peak_bytes : most;
	return most;
}

/* Eighths of a cell: from the lowest up. */
static const char *block(bool has_utf8, unsigned eighths)
{
	static const char *const bars[] = { " ",
					    "\xe2\x96\x81",
					    "\xe2\x96\x82",
					    "\xe2\x96\x83",
					    "\xe2\x96\x84",
					    "\xe2\x96\x85",
					    "\xe2\x96\x86",
					    "\xe2\x96\x87",
					    "\xe2\x96\x88" };
	static const char *const letters[] = { " ", ".", ":", "-", "=", "+", "*", "#", "@" };

	return has_utf8 ? bars[eighths] : letters[eighths];
}

/* value in steps of most / steps, no less than what it is. */
static unsigned steps_up(uint64_t value, uint64_t most, unsigned steps)
{
	return most ? (unsigned)(((unsigned __int128)value * steps + most - 1) / most) : 0;
}

static const char *draw_picture(struct timeline_view *v)
{
	uint64_t most = 0;
	size_t n = 0;

	for (size_t i = 0; i < v->points_count; i++)
		most = v->spans[i].peak_bytes > most ? v->spans[i].peak_bytes : most;
	for (size_t cell = 0; cell < PICTURE_CELLS; cell++) {
		unsigned eighths = steps_up(most_of(v, v->spans, cell, PICTURE_CELLS), most, 8);

		n += (size_t)snprintf(v->picture + n, sizeof(v->picture) - n, "%s", block(v->has_utf8, eighths));
	}
	return v->picture;
}

/* The next row, and what it had in each interval. */
static int load_row(struct timeline_view *v, struct km_error *error)
{
	int r = km_rows_next(v->rows, v->row_cells, error);

	if (r > 0)
		km_timeline_row(v->analysis->timeline, km_rows_index(v->rows), v->spans);
	return r;
}

static int next_row(void *state, struct km_cell *cells, struct km_error *error)
{
	struct timeline_view *v = state;
	size_t n = v->rows_columns_count, numbers = 0;
	int r = load_row(v, error);

	if (r <= 0)
		return r;
	memcpy(cells, v->row_cells, n * sizeof(*cells));
	cells[n++] = (struct km_cell){ .text = draw_picture(v) };
	for (size_t i = 0; i < POINT_COLUMNS; i++) {
		uint64_t *items = v->numbers + numbers * v->points_count;

		if (!point_columns[i].of_row)
			continue;
		for (size_t k = 0; k < v->points_count; k++)
			items[k] = point_columns[i].get(&(struct interval){ .span = &v->spans[k] });
		cells[n] = (struct km_cell){ .numbers = { .items = items, .count = v->points_count } };
		n++;
		numbers++;
	}
	return 1;
}

/* The same with a line an interval. */
static int next_row_point(void *state, struct km_cell *cells, struct km_error *error)
{
	struct timeline_view *v = state;
	struct interval interval = { .analysis = v->analysis };

	if (!v->has_row || v->at == v->points_count) {
		int r = load_row(v, error);

		if (r <= 0)
			return r;
		v->has_row = true;
		v->at = 0;
	}
	memcpy(cells, v->row_cells, v->keys_count * sizeof(*cells));
	interval.index = v->at;
	interval.span = &v->spans[v->at++];
	fill_point(&v->layout, &interval, cells + v->keys_count);
	return 1;
}

static void add_row_columns(struct timeline_view *v)
{
	v->columns[v->columns_count++] = picture_column;
	for (size_t i = 0; i < POINT_COLUMNS; i++) {
		if (point_columns[i].of_row)
			v->columns[v->columns_count++] = (struct km_column){ .name = point_columns[i].of_row,
									     .help = point_columns[i].help,
									     .type = KM_TYPE_NUMBERS,
									     .flags = KM_COLUMN_MACHINE };
	}
}

size_t km_document_describe_timeline(bool is_csv, bool is_by, struct km_column *columns, size_t limit)
{
	struct timeline_view *v = calloc(1, sizeof(*v));
	size_t count = 0;

	if (!v)
		return 0;
	if (is_csv) {
		make_layout(&v->layout, false, is_by);
		memcpy(v->columns, v->layout.columns, sizeof(v->layout.columns));
		v->columns_count = v->layout.count;
	} else {
		count = km_rows_describe(is_by ? KM_AXIS_GROUP : KM_AXIS_SITE, columns, limit);
		add_row_columns(v);
	}
	for (size_t i = 0; i < v->columns_count && count < limit; i++)
		columns[count++] = v->columns[i];
	free(v);
	return count;
}

/* --- charts --- */

struct chart {
	const struct timeline_view *view;
	size_t width;
	unsigned height;
	bool is_of_objects;
	uint64_t most;
};

static uint64_t peak_of(const struct chart *chart, size_t point)
{
	const struct km_timeline_span *span = &chart->view->points[point].span;

	return chart->is_of_objects ? span->peak_count : span->peak_bytes;
}

static uint64_t lowest_of(const struct chart *chart, size_t point)
{
	const struct km_timeline_span *span = &chart->view->points[point].span;

	return chart->is_of_objects ? span->lowest_count : span->lowest_bytes;
}

/* The intervals that a column of the screen stands for: [*ret_from, the result). */
static size_t column_points(const struct chart *chart, size_t column, size_t *ret_from)
{
	size_t count = chart->view->points_count, to = (column + 1) * count / chart->width;

	*ret_from = column * count / chart->width;
	return to > *ret_from ? to : *ret_from + 1;
}

/* One cell; line 0 is the lowest. Where it was full throughout it is solid, what was only reached is light. */
static const char *chart_cell(const struct chart *chart, size_t column, unsigned line)
{
	uint64_t lowest = UINT64_MAX, peak = 0;
	unsigned low, high;
	size_t from, to = column_points(chart, column, &from);
	bool has_utf8 = chart->view->has_utf8;

	for (size_t i = from; i < to; i++) {
		lowest = lowest_of(chart, i) < lowest ? lowest_of(chart, i) : lowest;
		peak = peak_of(chart, i) > peak ? peak_of(chart, i) : peak;
	}
	high = steps_up(peak, chart->most, chart->height * 8);
	low = chart->most ? (unsigned)((unsigned __int128)lowest * chart->height * 8 / chart->most) : 0;
	if (high <= line * 8)
		return " ";
	if (low >= line * 8 + 8)
		return has_utf8 ? "\xe2\x96\x88" : "#";
	if (high - low >= 8)
		return has_utf8 ? "\xe2\x96\x91" : ":";
	if (!has_utf8)
		return high - line * 8 >= 4 ? "#" : ".";
	return block(true, high - line * 8 < 8 ? high - line * 8 : 8);
}

static void chart_line(struct km_record *record, const struct chart *chart, unsigned line)
{
	char text[CHART_COLUMNS * UTF8_BYTES + 4], number[KM_FORMAT_BYTES] = "", label[KM_FORMAT_BYTES + 16];
	size_t n = 0;

	if (line == chart->height - 1)
		chart->is_of_objects ? km_format_count(number, chart->most) : km_format_bytes(number, chart->most);
	else if (!line)
		snprintf(number, sizeof(number), "0");
	snprintf(label, sizeof(label), "%*s", LABEL_WIDTH, number);
	n = (size_t)snprintf(text, sizeof(text), "|");
	for (size_t column = 0; column < chart->width; column++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", chart_cell(chart, column, line));
	km_document_line(record, label, text);
}

/* Where events were lost, or the table was full. */
static void marks_line(struct km_record *record, const struct chart *chart, const char *label,
		       bool (*is_marked)(const struct km_timeline_point *point))
{
	char text[CHART_COLUMNS + 2] = "|";
	bool is_any = false;

	for (size_t column = 0; column < chart->width; column++) {
		size_t from, to = column_points(chart, column, &from);
		bool is = false;

		for (size_t i = from; i < to; i++)
			is |= is_marked(&chart->view->points[i]);
		text[column + 1] = is ? '!' : ' ';
		is_any |= is;
	}
	text[chart->width + 1] = '\0';
	if (is_any)
		km_document_line(record, label, text);
}

static bool has_loss(const struct km_timeline_point *point)
{
	return point->is_lost;
}

static bool has_overflow(const struct km_timeline_point *point)
{
	return point->overflowed_count > 0;
}

static void axis_line(struct km_record *record, const struct chart *chart)
{
	const struct km_analysis *an = chart->view->analysis;
	uint64_t from = km_timeline_begin(an->timeline, 0) - an->start_time;
	uint64_t to = km_timeline_end(an->timeline, chart->view->points_count - 1) - an->start_time;
	char a[KM_FORMAT_BYTES], b[KM_FORMAT_BYTES], text[CHART_COLUMNS + 2 * KM_FORMAT_BYTES + 4];
	int gap;

	km_document_time_text(an->buffer, from, a);
	km_document_time_text(an->buffer, to, b);
	gap = (int)chart->width + 1 - (int)strlen(a) - (int)strlen(b) - 2;
	if (gap > 0)
		snprintf(text, sizeof(text), "+%s%*s+%s", a, gap, "", b);
	else
		snprintf(text, sizeof(text), "%*s+%s", (int)(chart->width - strlen(b)), "", b);
	km_document_line(record, "", text);
}

static void add_chart(struct document_state *state, const struct timeline_view *v, unsigned width, bool is_of_objects)
{
	struct chart chart = { .view = v, .is_of_objects = is_of_objects };
	struct km_record *record;

	for (size_t i = 0; i < v->points_count; i++)
		chart.most = peak_of(&chart, i) > chart.most ? peak_of(&chart, i) : chart.most;
	if (!chart.most)
		return;
	record = km_document_record(state);
	if (!record)
		return;
	width = width ? width : DEFAULT_WIDTH;
	/* Two blanks and the line behind the label. */
	chart.width = width > LABEL_WIDTH + 3 + 20 ? width - LABEL_WIDTH - 3 : 20;
	chart.width = chart.width < CHART_COLUMNS ? chart.width : CHART_COLUMNS;
	chart.height = is_of_objects ? OBJECTS_HEIGHT : BYTES_HEIGHT;
	for (unsigned line = chart.height; line-- > 0;)
		chart_line(record, &chart, line);
	axis_line(record, &chart);
	if (!is_of_objects) {
		marks_line(record, &chart, "lost", has_loss);
		marks_line(record, &chart, "table full", has_overflow);
	}
	km_document_add(state, record, is_of_objects ? "chart_of_objects" : "chart_of_bytes",
			is_of_objects ? "Live objects" : "Live bytes", KM_SHAPE_LINES, KM_FOR_PEOPLE);
}

/* --- the document --- */

void km_document_free_timeline(struct timeline_view *v)
{
	if (!v)
		return;
	free(v->spans);
	free(v->numbers);
	free(v);
}

static struct timeline_view *make_view(struct document_state *state, const struct km_analysis *an,
				       const struct km_document_options *options)
{
	struct timeline_view *v;

	if (state->timelines_count == sizeof(state->timelines) / sizeof(state->timelines[0]))
		return NULL;
	v = calloc(1, sizeof(*v));
	if (!v)
		return NULL;
	state->timelines[state->timelines_count++] = v;
	v->analysis = an;
	v->has_utf8 = options->has_utf8;
	v->points = km_timeline_points(an->timeline, &v->points_count);
	v->spans = calloc(v->points_count, sizeof(*v->spans));
	v->numbers = calloc(v->points_count * POINT_COLUMNS, sizeof(*v->numbers));
	return v->spans && v->numbers ? v : NULL;
}

/* The intervals of the whole. */
static int add_points(struct document_state *state, const struct km_analysis *an,
		      const struct km_document_options *options)
{
	struct timeline_view *v = make_view(state, an, options);
	struct km_section *section;

	if (!v)
		return -ENOMEM;
	make_layout(&v->layout, an->buffer->unit != KM_CLOCK_NS, false);
	section = km_document_add_section(
		state, (struct km_section){ .path = "points",
					    .shape = KM_SHAPE_ROWS,
					    .audience = KM_FOR_MACHINES,
					    .columns = v->layout.columns,
					    .columns_count = v->layout.count,
					    .next = next_point,
					    .state = v,
					    .is_primary = options->is_csv && !an->selection.by.count });
	return section ? 0 : -ENOMEM;
}

/* What of a site or group goes in front of each interval in CSV. */
static void add_keys(struct timeline_view *v, const struct km_column *columns, size_t count)
{
	size_t keys = v->analysis->selection.by.count;

	for (size_t i = 0; i < count && i < keys; i++)
		v->columns[v->columns_count++] = columns[i];
	v->keys_count = v->columns_count;
	make_layout(&v->layout, v->analysis->buffer->unit != KM_CLOCK_NS, true);
	memcpy(v->columns + v->columns_count, v->layout.columns, v->layout.count * sizeof(*v->columns));
	v->columns_count += v->layout.count;
}

/* People see these of a row, and its name. */
static int choose_fields(struct km_document *document, const struct km_section *section, struct km_error *error)
{
	char fields[512] = "live_mark,live_bytes,live_count,peak_live_bytes,picture";
	size_t n = strlen(fields);
	bool has_keys = !strncmp(section->columns[0].name, "key.", 4);

	if (!has_keys)
		n += (size_t)snprintf(fields + n, sizeof(fields) - n, ",symbol");
	for (size_t i = 0; i < section->columns_count && !strncmp(section->columns[i].name, "key.", 4); i++)
		n += (size_t)snprintf(fields + n, sizeof(fields) - n, ",%s", section->columns[i].name);
	return km_fields_parse(fields, section->columns, section->columns_count, &document->fields, error);
}

static int add_rows(struct km_document *document, const struct km_analysis *an,
		    const struct km_document_options *options, struct km_error *error)
{
	static const struct km_sort highest = { .keys = { { "peak_live_bytes", -1 } }, .count = 1 };
	struct document_state *state = document->state;
	bool is_people = options->audience == KM_FOR_PEOPLE, has_groups = an->selection.by.count > 0;
	const struct km_sort *sort = options->sort && options->sort->count ? options->sort : &highest;
	size_t limit = options->has_limit ? options->limit : is_people ? PEOPLE_ROWS : MACHINE_ROWS;
	struct timeline_view *v = make_view(state, an, options);
	const struct km_column *columns;
	struct km_section *section;
	int r;

	if (!v)
		return -ENOMEM;
	r = km_rows_new(an, has_groups ? KM_AXIS_GROUP : KM_AXIS_SITE, sort, limit, &v->rows, error);
	if (r)
		return r;
	state->rows[state->rows_count++] = v->rows;
	state->truncated |= km_rows_shown(v->rows) < km_rows_total(v->rows);
	columns = km_rows_columns(v->rows, &v->rows_columns_count);
	section = km_document_add_section(state, (struct km_section){ .path = has_groups ? "groups" : "sites",
								      .shape = KM_SHAPE_ROWS,
								      .audience = KM_FOR_PEOPLE | KM_FOR_MACHINES,
								      .columns = v->columns,
								      .next = next_row,
								      .state = v,
								      .is_primary = !options->is_csv || has_groups });
	if (!section)
		return -ENOMEM;
	if (options->is_csv && has_groups) {
		add_keys(v, columns, v->rows_columns_count);
		section->next = next_row_point;
	} else {
		memcpy(v->columns, columns, v->rows_columns_count * sizeof(*columns));
		v->columns_count = v->rows_columns_count;
		add_row_columns(v);
	}
	section->columns_count = v->columns_count;
	section->title = km_document_note(state, "%s by %s", has_groups ? "Groups" : "Call sites", sort->keys[0].name);
	if (km_rows_shown(v->rows) < km_rows_total(v->rows))
		km_document_note_cut(state, section, km_rows_shown(v->rows), km_rows_total(v->rows));
	else if (!km_rows_total(v->rows))
		section->note = "none";
	return is_people && !options->fields ? choose_fields(document, section, error) : 0;
}

int km_document_add_timeline(struct km_document *document, const struct km_analysis *an,
			     const struct km_document_options *options, struct km_error *error)
{
	struct document_state *state = document->state;
	int r = 0;

	if (options->audience == KM_FOR_PEOPLE) {
		struct timeline_view *v = make_view(state, an, options);

		if (!v)
			return km_error_set(error, -ENOMEM, "out of memory");
		add_chart(state, v, options->columns, false);
		add_chart(state, v, options->columns, true);
	} else {
		r = add_points(state, an, options);
	}
	if (!r)
		r = add_rows(document, an, options, error);
	for (size_t i = 0; i < state->sections_count && !r && options->fields; i++) {
		const struct km_section *section = &state->sections[i];

		if (section->is_primary)
			r = km_fields_parse(options->fields, section->columns, section->columns_count,
					    &document->fields, error);
	}
	return r == -ENOMEM ? km_error_set(error, r, "out of memory") : r;
}

void km_document_timeline_fields(struct km_record *record, const struct km_analysis *an)
{
	size_t count;

	km_timeline_points(an->timeline, &count);
	km_record_number(record, "points_count", KM_TYPE_COUNT, count);
}
