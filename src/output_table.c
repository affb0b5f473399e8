/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text for people. libsmartcols lays out the first KM_OUTPUT_TABLE_ROWS rows
 * of a table; it would keep every row in memory, so what comes after them is
 * written here, row by row, in the same widths.
 */
#include "output.h"

#include <errno.h>
#include <langinfo.h>
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "output_writer.h"
#include "utf8.h"

#define GAP          2  /* blanks between columns */
#define FLEX_MIN     16 /* a FLEX column is not cut below this */
#define ELLIPSIS     ".."
#define ELLIPSIS_LEN 2

struct writer {
	FILE *stream;
	const struct km_output_style *style;
	struct km_error *error;
	bool is_utf8;               /* what the terminal understands */
	bool has_section;           /* something was written: a blank line comes first */
	struct km_output_text text; /* a cell, a title */
};

/* The rows that are held: those that the widths of a section are taken from. */
struct batch {
	size_t columns_count;
	size_t rows_count;
	size_t rows_size;
	char **texts; /* owned, each too; row by row */
};

struct layout {
	size_t count;
	size_t *widths;
	bool *is_shown;
	size_t slack; /* blanks that the widest line leaves on the terminal */
};

static int no_memory(struct writer *w)
{
	return km_error_set(w->error, -ENOMEM, "out of memory");
}

/* The columns that the first bytes of a printable text take. */
static size_t span_width(const struct writer *w, const char *text, size_t length)
{
	size_t width = 0, at = 0, step;
	uint32_t code;

	if (!w->is_utf8)
		return length;
	for (; at < length && (step = km_utf8_character(text + at, &code)) > 0; at += step)
		width += code < 0x80 ? 1 : (size_t)wcwidth((wchar_t)code);
	return width;
}

static size_t display_width(const struct writer *w, const char *text)
{
	return span_width(w, text, strlen(text));
}

/* How many bytes of a string, if any, may go to a terminal as they are: one character that takes room. */
static size_t printable(const struct writer *w, const char *text)
{
	uint32_t code;
	size_t length = km_utf8_character(text, &code);

	if (length == 1)
		return code >= 0x20 && code != 0x7f;
	/* Without width are controls and what turns the direction of writing, too. */
	return length && w->is_utf8 && wcwidth((wchar_t)code) > 0 ? length : 0;
}

/* A terminal must not obey what a trace holds: everything but printable characters is shown as \xNN. */
static int add_printable(const struct writer *w, struct km_output_text *out, const char *text)
{
	int code = km_output_text_add(out, "", 0);

	while (*text && !code) {
		size_t good = 0, step;
		char escape[8];

		while ((step = printable(w, text + good)) > 0)
			good += step;
		code = km_output_text_add(out, text, good);
		text += good;
		if (!*text || code)
			break;
		snprintf(escape, sizeof(escape), "\\x%02x", (unsigned)(unsigned char)*text++);
		code = km_output_text_add(out, escape, 4);
	}
	return code;
}

static int add_list(const struct writer *w, struct km_output_text *out, const struct km_cell *cell)
{
	int code = km_output_text_add(out, "", 0);

	for (size_t i = 0; i < cell->list.count && !code; i++) {
		if (i)
			code = km_output_text_add(out, ",", 1);
		if (!code)
			code = add_printable(w, out, cell->list.items[i]);
	}
	return code;
}

static int add_cell(const struct writer *w, struct km_output_text *out, const struct km_column *column,
		    const struct km_cell *cell)
{
	char buffer[KM_FORMAT_BYTES];

	if (km_output_cell_is_null(column, cell))
		return km_output_text_add(out, "-", 1);
	if (column->type == KM_TYPE_STRING)
		return add_printable(w, out, cell->text);
	if (column->type == KM_TYPE_LIST)
		return add_list(w, out, cell);
	km_output_number(buffer, column, cell);
	return km_output_text_add(out, buffer, strlen(buffer));
}

/* A cell of the row at hand, until the next call. NULL: no memory. */
static const char *cell_text(struct writer *w, const struct km_output_rows *rows, size_t i)
{
	w->text.length = 0;
	if (add_cell(w, &w->text, km_output_rows_column(rows, i), km_output_rows_cell(rows, i)) < 0)
		return NULL;
	return w->text.data;
}

static void put_blanks(FILE *stream, size_t count)
{
	fprintf(stream, "%*s", (int)count, "");
}

/*
 * Text from column `at` on, broken between words before the terminal's edge
 * and indented there by `hang`. A word longer than a line stays whole.
 */
static void put_wrapped(struct writer *w, const char *text, size_t at, size_t hang)
{
	size_t width = w->style->width;
	bool is_first = true;

	while (*text) {
		size_t blanks = strspn(text, " ");
		size_t length = strcspn(text + blanks, " ");
		size_t word = span_width(w, text + blanks, length);

		if (!length)
			break;
		if (width && !is_first && at + blanks + word > width) {
			putc('\n', w->stream);
			put_blanks(w->stream, hang);
			at = hang;
			blanks = 0;
			text += strspn(text, " ");
		}
		fprintf(w->stream, "%.*s", (int)(blanks + length), text);
		at += blanks + word;
		text += blanks + length;
		is_first = false;
	}
	putc('\n', w->stream);
}

/* Before the first line of a section: the blank line between sections, the title. */
static int begin_section(struct writer *w, const struct km_section *section)
{
	if (w->has_section)
		putc('\n', w->stream);
	w->has_section = true;
	if (!section->title)
		return 0;
	w->text.length = 0;
	if (add_printable(w, &w->text, section->title) < 0)
		return no_memory(w);
	fprintf(w->stream, w->style->colour ? "\033[1m%s\033[0m\n" : "%s\n", w->text.data);
	return 0;
}

static int put_note(struct writer *w, const struct km_section *section)
{
	w->text.length = 0;
	if (add_printable(w, &w->text, section->note) < 0)
		return no_memory(w);
	put_wrapped(w, w->text.data, 0, 0);
	return 0;
}

static void batch_release(struct batch *batch)
{
	for (size_t i = 0; batch->texts && i < batch->rows_count * batch->columns_count; i++)
		free(batch->texts[i]);
	free(batch->texts);
	memset(batch, 0, sizeof(*batch));
}

static int batch_grow(struct batch *batch)
{
	size_t size = batch->rows_size ? batch->rows_size * 2 : 16;
	char **texts = reallocarray(batch->texts, size * batch->columns_count, sizeof(*texts));

	if (!texts)
		return -ENOMEM;
	batch->texts = texts;
	batch->rows_size = size;
	return 0;
}

static int batch_add(struct writer *w, const struct km_output_rows *rows, struct batch *batch)
{
	char **texts;

	if (batch->rows_count == batch->rows_size && batch_grow(batch) < 0)
		return no_memory(w);
	texts = batch->texts + batch->rows_count * batch->columns_count;
	memset(texts, 0, batch->columns_count * sizeof(*texts));
	batch->rows_count++;
	for (size_t i = 0; i < batch->columns_count; i++) {
		const char *text = cell_text(w, rows, i);

		texts[i] = text ? strdup(text) : NULL;
		if (!texts[i])
			return no_memory(w);
	}
	return 0;
}

/* Reads up to `limit` rows. 1: there may be more, 0: these are all, negative errno. */
static int batch_read(struct writer *w, struct km_output_rows *rows, struct batch *batch, size_t limit)
{
	batch->columns_count = rows->count;
	while (batch->rows_count < limit) {
		int code = km_output_rows_next(rows, w->error);

		if (code > 0)
			code = batch_add(w, rows, batch);
		else if (!code)
			return 0;
		if (code < 0)
			return code;
	}
	return 1;
}

static void layout_release(struct layout *layout)
{
	free(layout->widths);
	free(layout->is_shown);
	memset(layout, 0, sizeof(*layout));
}

static size_t layout_total(const struct layout *layout)
{
	size_t total = 0, shown = 0;

	for (size_t i = 0; i < layout->count; i++) {
		if (layout->is_shown[i]) {
			total += layout->widths[i];
			shown++;
		}
	}
	return shown ? total + (shown - 1) * GAP : 0;
}

/* Takes from the widest FLEX column, one by one, until the table fits or none can give. */
static void layout_shrink(struct layout *layout, const struct km_output_rows *rows, size_t width)
{
	for (size_t total = layout_total(layout); total > width; total--) {
		size_t widest = layout->count;

		for (size_t i = 0; i < layout->count; i++) {
			const struct km_column *column = km_output_rows_column(rows, i);

			if (!layout->is_shown[i] || !(column->flags & KM_COLUMN_FLEX) ||
			    layout->widths[i] <= FLEX_MIN || layout->widths[i] <= strlen(km_output_heading(column)))
				continue;
			if (widest == layout->count || layout->widths[i] > layout->widths[widest])
				widest = i;
		}
		if (widest == layout->count)
			return;
		layout->widths[widest]--;
	}
}

/* Columns and widths from the rows of the batch. What a user named is shown, whether it fits or not. */
static int layout_make(struct writer *w, const struct km_output_rows *rows, const struct batch *batch,
		       struct layout *layout)
{
	size_t width = w->style->width, total;
	size_t wide = width ? width : w->style->wide_width;

	layout->count = rows->count;
	layout->widths = calloc(rows->count + 1, sizeof(*layout->widths));
	layout->is_shown = calloc(rows->count + 1, sizeof(*layout->is_shown));
	if (!layout->widths || !layout->is_shown)
		return no_memory(w);
	for (size_t i = 0; i < rows->count; i++) {
		const struct km_column *column = km_output_rows_column(rows, i);

		layout->widths[i] = display_width(w, km_output_heading(column));
		for (size_t row = 0; row < batch->rows_count; row++) {
			size_t length = display_width(w, batch->texts[row * rows->count + i]);

			if (length > layout->widths[i])
				layout->widths[i] = length;
		}
		layout->is_shown[i] = !wide || rows->is_named || !(column->flags & KM_COLUMN_WIDE);
	}
	for (size_t i = 0; i < rows->count; i++) {
		if (layout->is_shown[i])
			continue;
		layout->is_shown[i] = true;
		layout->is_shown[i] = layout_total(layout) <= wide;
	}
	if (width)
		layout_shrink(layout, rows, width);
	total = layout_total(layout);
	layout->slack = !width ? SIZE_MAX : total < width ? width - total : 0;
	return 0;
}

/*
 * Cuts a text to `width` columns, the ellipsis among them; it has more. What
 * a symbol ends in, "+0x1f [module]", tells two sites of one function apart:
 * it stays where there is room for it, the offset before the module.
 */
static void cut(const struct writer *w, char *text, size_t width)
{
	char *plus = strstr(text, "+0x");
	size_t used = 0, at = 0, step, tail = plus ? display_width(w, plus) : 0;
	uint32_t code;

	if (tail + ELLIPSIS_LEN + FLEX_MIN / 3 > width && plus) { /* without the module, then */
		plus[strcspn(plus, " ")] = '\0';
		if (display_width(w, text) <= width)
			return;
		tail = display_width(w, plus);
	}
	if (tail + ELLIPSIS_LEN + FLEX_MIN / 3 > width)
		tail = 0;
	while ((step = km_utf8_character(text + at, &code)) > 0) {
		size_t columns = code < 0x80 || !w->is_utf8 ? 1 : (size_t)wcwidth((wchar_t)code);

		if (used + columns + ELLIPSIS_LEN + tail > width)
			break;
		used += columns;
		at += step;
	}
	/* What is left takes more than the ellipsis and the tail. */
	memcpy(text + at, ELLIPSIS, ELLIPSIS_LEN);
	if (tail)
		memmove(text + at + ELLIPSIS_LEN, plus, strlen(plus) + 1);
	else
		text[at + ELLIPSIS_LEN] = '\0';
}

/* Lines of a table that libsmartcols laid out: no blanks at line ends, the first line is the heading. */
static void put_lines(struct writer *w, const char *data)
{
	bool is_heading = w->style->colour;

	while (*data) {
		size_t length = strcspn(data, "\n"), end = length;

		while (end && data[end - 1] == ' ')
			end--;
		if (is_heading)
			fprintf(w->stream, "\033[4m%.*s\033[0m\n", (int)end, data);
		else
			fprintf(w->stream, "%.*s\n", (int)end, data);
		is_heading = false;
		data += length + (data[length] == '\n');
	}
}

static int fill_line(struct writer *w, struct libscols_table *table, const struct km_output_rows *rows,
		     const struct layout *layout, char **texts)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	size_t cell = 0;

	if (!line)
		return no_memory(w);
	for (size_t i = 0; i < layout->count; i++) {
		if (!layout->is_shown[i])
			continue;
		if (km_output_rows_column(rows, i)->flags & KM_COLUMN_FLEX &&
		    display_width(w, texts[i]) > layout->widths[i])
			cut(w, texts[i], layout->widths[i]);
		if (scols_line_set_data(line, cell++, texts[i]) < 0)
			return no_memory(w);
	}
	return 0;
}

static int put_batch(struct writer *w, const struct km_output_rows *rows, const struct layout *layout,
		     const struct batch *batch)
{
	struct libscols_table *table = scols_new_table();
	char *data = NULL;
	int code = table ? 0 : no_memory(w);

	/* Texts are printable and fit already: no encoding, no guess at a terminal. */
	if (!code &&
	    (scols_table_enable_noencoding(table, 1) < 0 || scols_table_set_column_separator(table, "  ") < 0 ||
	     scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER) < 0))
		code = no_memory(w);
	for (size_t i = 0; i < layout->count && !code; i++) {
		const struct km_column *column = km_output_rows_column(rows, i);
		int flags = (km_output_is_right(column) ? SCOLS_FL_RIGHT : 0) |
			    (column->flags & KM_COLUMN_FLEX ? SCOLS_FL_TRUNC : 0);

		if (layout->is_shown[i] && !scols_table_new_column(table, km_output_heading(column), 0, flags))
			code = no_memory(w);
	}
	for (size_t row = 0; row < batch->rows_count && !code; row++)
		code = fill_line(w, table, rows, layout, batch->texts + row * batch->columns_count);
	if (!code && scols_print_table_to_string(table, &data) < 0)
		code = no_memory(w);
	if (!code && data)
		put_lines(w, data);
	/* Before libsmartcols cleans up: errno still tells why a write failed. */
	if (!code)
		code = km_output_check(w->stream, w->error);
	free(data);
	scols_unref_table(table);
	return code;
}

/*
 * One row behind the batch. A text may turn out longer than any before it:
 * it then takes what room the line has left, and only a FLEX one is cut.
 */
static int put_row(struct writer *w, const struct km_output_rows *rows, const struct layout *layout)
{
	size_t slack = layout->slack, blanks = 0;

	for (size_t i = 0; i < layout->count; i++) {
		const struct km_column *column = km_output_rows_column(rows, i);
		size_t width = layout->widths[i], length;

		if (!layout->is_shown[i])
			continue;
		if (!cell_text(w, rows, i))
			return no_memory(w);
		length = display_width(w, w->text.data);
		if (length > width && column->flags & KM_COLUMN_FLEX && length - width > slack) {
			cut(w, w->text.data, width + slack);
			length = display_width(w, w->text.data);
		}
		if (length > width) {
			slack -= length - width < slack ? length - width : slack;
			width = length;
		}
		if (km_output_is_right(column))
			blanks += width - length;
		/* Blanks wait for a text behind them, so that none end the line. */
		if (length) {
			put_blanks(w->stream, blanks);
			fputs(w->text.data, w->stream);
			blanks = 0;
		}
		blanks += (km_output_is_right(column) ? 0 : width - length) + GAP;
	}
	putc('\n', w->stream);
	return km_output_check(w->stream, w->error);
}

static int put_table(struct writer *w, struct km_output_rows *rows, struct batch *batch, int more)
{
	struct layout layout = { 0 };
	int code = layout_make(w, rows, batch, &layout);

	if (!code)
		code = put_batch(w, rows, &layout, batch);
	/* The rows are written: their memory need not wait for the rest. */
	batch_release(batch);
	while (!code && more && (more = km_output_rows_next(rows, w->error)) > 0)
		code = put_row(w, rows, &layout);
	layout_release(&layout);
	return code < 0 ? code : more;
}

static int put_labelled(struct writer *w, const char *label, size_t label_width, const char *text)
{
	size_t length = display_width(w, label), at = 0, hang;

	if (label_width) {
		fputs(label, w->stream);
		at = (length > label_width ? length : label_width) + GAP;
		if (text[strspn(text, " ")])
			put_blanks(w->stream, at - length);
	}
	hang = label_width ? label_width + GAP : 0;
	/* A label that takes most of the line must not squeeze the text behind it. */
	if (w->style->width && hang > w->style->width / 2)
		hang = 2 * GAP;
	put_wrapped(w, text, at, hang);
	return km_output_check(w->stream, w->error);
}

/* "name: value", one a line. */
static int put_record(struct writer *w, const struct km_output_rows *rows, const struct batch *batch)
{
	size_t label_width = 0;
	int code = 0;

	for (size_t i = 0; i < rows->count; i++) {
		size_t length = display_width(w, km_output_heading(km_output_rows_column(rows, i))) + 1;

		if (length > label_width)
			label_width = length;
	}
	for (size_t i = 0; i < rows->count && !code; i++) {
		w->text.length = 0;
		if (km_output_text_add(&w->text, km_output_heading(km_output_rows_column(rows, i)),
				       strlen(km_output_heading(km_output_rows_column(rows, i)))) < 0 ||
		    km_output_text_add(&w->text, ":", 1) < 0)
			return no_memory(w);
		code = put_labelled(w, w->text.data, label_width, batch->texts[i]);
	}
	return code;
}

/* Label and text, or text alone. The labels of the batch fix the width. */
static int put_label_lines(struct writer *w, struct km_output_rows *rows, const struct batch *batch, int more)
{
	bool has_label = rows->section->shape == KM_SHAPE_LINES && rows->count > 1;
	size_t label_width = 0;
	int code = 0;

	for (size_t row = 0; has_label && row < batch->rows_count; row++) {
		size_t length = display_width(w, batch->texts[row * rows->count]);

		if (length > label_width)
			label_width = length;
	}
	for (size_t row = 0; row < batch->rows_count && !code; row++) {
		char **texts = batch->texts + row * rows->count;

		code = put_labelled(w, texts[0], label_width, texts[has_label ? 1 : 0]);
	}
	while (!code && more && (more = km_output_rows_next(rows, w->error)) > 0) {
		const char *text = has_label ? cell_text(w, rows, 0) : "";
		char *label = text ? strdup(text) : NULL;

		text = label ? cell_text(w, rows, has_label ? 1 : 0) : NULL;
		code = text ? put_labelled(w, label, label_width, text) : no_memory(w);
		free(label);
	}
	return code < 0 ? code : more;
}

static int put_rows(struct writer *w, struct km_output_rows *rows, struct batch *batch)
{
	const struct km_section *section = rows->section;
	int more = batch_read(w, rows, batch, section->shape == KM_SHAPE_RECORD ? 1 : KM_OUTPUT_TABLE_ROWS);
	int code;

	if (more < 0)
		return more;
	/* An empty table is worth its heading: that there are none may be the news. */
	if (!batch->rows_count && !section->note && !(section->shape == KM_SHAPE_ROWS && section->title))
		return 0;
	code = begin_section(w, section);
	if (!code)
		code = km_output_check(w->stream, w->error);
	if (code < 0)
		return code;
	if (batch->rows_count && section->shape == KM_SHAPE_ROWS)
		code = put_table(w, rows, batch, more);
	else if (batch->rows_count && section->shape == KM_SHAPE_RECORD)
		code = put_record(w, rows, batch);
	else if (batch->rows_count)
		code = put_label_lines(w, rows, batch, more);
	if (!code && section->note)
		code = put_note(w, section);
	return code < 0 ? code : km_output_check(w->stream, w->error);
}

static int put_section(struct writer *w, const struct km_section *section, const struct km_fields *fields)
{
	struct km_output_rows rows;
	struct batch batch = { 0 };
	int code;

	if (!(section->audience & KM_FOR_PEOPLE) || section->is_null)
		return 0;
	code = km_output_rows_open(&rows, section, fields, KM_COLUMN_MACHINE, false, w->error);
	if (code < 0)
		return code;
	if (rows.count)
		code = put_rows(w, &rows, &batch);
	batch_release(&batch);
	km_output_rows_close(&rows);
	return code;
}

int km_output_table(FILE *stream, const struct km_report *report, const struct km_fields *fields,
		    const struct km_output_style *style, struct km_error *error)
{
	struct writer w = { .stream = stream, .style = style, .error = error };
	int code = 0;

	w.is_utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	for (size_t i = 0; i < report->sections_count && !code; i++)
		code = put_section(&w, &report->sections[i], fields);
	km_output_text_release(&w.text);
	return code;
}
