/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Markdown as GitHub and GitLab read it, for a comment on a merge request: at
 * first sight only what is brief (km_section.is_brief) and the first rows of
 * the main table, the rest folded away in <details>.
 *
 * Names stand in code spans: nothing in them is markup, a mention or a link.
 * Other text has its markup characters escaped.
 */
#include "output.h"

#include <errno.h>
#include <string.h>

#include "format.h"
#include "output_writer.h"

#define ROWS_IN_SIGHT 10

struct writer {
	FILE *stream;
	struct km_error *error;
	struct km_output_text text; /* a cell, as valid UTF-8 */
};

/* Text in a line of prose or a cell. A line of Markdown ends where the text's would. */
static void put_text(FILE *stream, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '&')
			fputs("&amp;", stream);
		else if (c == '<')
			fputs("&lt;", stream);
		else if (c == '>')
			fputs("&gt;", stream);
		else if (c == '@' || c == '#') /* no mention of a person, no link to an issue */
			fprintf(stream, "&#%u;", c);
		else if (c < ' ' || c == 0x7f)
			putc(' ', stream);
		else if (strchr("\\`*_[]|~$", c))
			fprintf(stream, "\\%c", c);
		else
			putc(c, stream);
	}
}

/* A code span. It can not hold a newline, and in a table a pipe needs its backslash even there. */
static void put_code(FILE *stream, const char *text)
{
	size_t run = 0, longest = 0;

	for (const char *p = text; *p; p++) {
		run = *p == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	if (!*text)
		return;
	for (size_t i = 0; i <= longest; i++)
		putc('`', stream);
	if (longest)
		putc(' ', stream);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '|')
			putc('\\', stream);
		putc(c < ' ' || c == 0x7f ? ' ' : c, stream);
	}
	if (longest)
		putc(' ', stream);
	for (size_t i = 0; i <= longest; i++)
		putc('`', stream);
}

static int list_text(struct writer *w, const struct km_cell *cell)
{
	int code = km_output_text_add(&w->text, "", 0);

	for (size_t i = 0; i < cell->list.count && !code; i++) {
		if (i)
			code = km_output_text_add(&w->text, ", ", 2);
		if (!code)
			code = km_output_text_add_utf8(&w->text, cell->list.items[i]);
	}
	return code;
}

static int put_cell(struct writer *w, const struct km_column *column, const struct km_cell *cell)
{
	char number[KM_FORMAT_BYTES];
	int code = 0;

	w->text.length = 0;
	if (km_output_cell_is_null(column, cell)) {
		putc('-', w->stream);
	} else if (column->type == KM_TYPE_STRING || column->type == KM_TYPE_LIST) {
		code = column->type == KM_TYPE_LIST ? list_text(w, cell)
						    : km_output_text_add_utf8(&w->text, cell->text);
		if (code)
			return km_error_set(w->error, code, "out of memory");
		if (column->flags & (KM_COLUMN_FLEX | KM_COLUMN_CODE))
			put_code(w->stream, w->text.data);
		else
			put_text(w->stream, w->text.data);
	} else {
		put_text(w->stream, km_output_number(number, column, cell));
	}
	return km_output_check(w->stream, w->error);
}

/* --- tables --- */

static void put_heading_row(struct writer *w, const struct km_output_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		fputs("| ", w->stream);
		put_text(w->stream, km_output_heading(km_output_rows_column(rows, i)));
		putc(' ', w->stream);
	}
	fputs("|\n", w->stream);
	for (size_t i = 0; i < rows->count; i++)
		fputs(km_output_is_right(km_output_rows_column(rows, i)) ? "| ---: " : "| --- ", w->stream);
	fputs("|\n", w->stream);
}

static int put_row(struct writer *w, const struct km_output_rows *rows)
{
	int code = 0;

	for (size_t i = 0; i < rows->count && !code; i++) {
		fputs("| ", w->stream);
		code = put_cell(w, km_output_rows_column(rows, i), km_output_rows_cell(rows, i));
		putc(' ', w->stream);
	}
	fputs("|\n", w->stream);
	return code;
}

static void open_fold(struct writer *w, const char *title)
{
	fputs("\n<details><summary>", w->stream);
	put_text(w->stream, title);
	fputs("</summary>\n\n", w->stream);
}

static void close_fold(struct writer *w)
{
	fputs("\n</details>\n", w->stream);
}

/* 1: more rows, 0: no more. */
static int put_rows(struct writer *w, struct km_output_rows *rows, size_t limit, int more)
{
	put_heading_row(w, rows);
	for (size_t row = 0; more > 0 && row < limit; row++) {
		int code = put_row(w, rows);

		if (code)
			return code;
		more = km_output_rows_next(rows, w->error);
	}
	return more;
}

/* The main table in sight, as far as its first rows; what is left of it folded. */
static int put_table(struct writer *w, struct km_output_rows *rows, int more)
{
	bool is_in_sight = rows->section->is_primary;

	more = put_rows(w, rows, is_in_sight ? ROWS_IN_SIGHT : SIZE_MAX, more);
	if (more <= 0)
		return more;
	open_fold(w, "more rows");
	more = put_rows(w, rows, SIZE_MAX, more);
	close_fold(w);
	return more;
}

/* --- the other shapes --- */

static int put_item(struct writer *w, const struct km_output_rows *rows, size_t label, size_t text)
{
	const struct km_cell *cell = km_output_rows_cell(rows, label);
	bool has_label = label != text && !cell->is_null && cell->text && *cell->text;
	int code = 0;

	fputs("- ", w->stream);
	if (has_label) {
		fputs("**", w->stream);
		code = put_cell(w, km_output_rows_column(rows, label), cell);
		fputs("**: ", w->stream);
	}
	if (!code)
		code = put_cell(w, km_output_rows_column(rows, text), km_output_rows_cell(rows, text));
	putc('\n', w->stream);
	return code;
}

static int put_list(struct writer *w, struct km_output_rows *rows, int more)
{
	bool has_label = rows->section->shape == KM_SHAPE_LINES && rows->count > 1;

	while (more > 0) {
		int code = put_item(w, rows, 0, has_label ? 1 : 0);

		if (code)
			return code;
		more = km_output_rows_next(rows, w->error);
	}
	return more;
}

static int put_record(struct writer *w, const struct km_output_rows *rows)
{
	int code = 0;

	for (size_t i = 0; i < rows->count && !code; i++) {
		fputs("- **", w->stream);
		put_text(w->stream, km_output_heading(km_output_rows_column(rows, i)));
		fputs("**: ", w->stream);
		code = put_cell(w, km_output_rows_column(rows, i), km_output_rows_cell(rows, i));
		putc('\n', w->stream);
	}
	return code;
}

static int put_content(struct writer *w, struct km_output_rows *rows, int more)
{
	switch (rows->section->shape) {
	case KM_SHAPE_ROWS:
		return put_table(w, rows, more);
	case KM_SHAPE_RECORD:
		return put_record(w, rows);
	case KM_SHAPE_ITEMS:
	case KM_SHAPE_LINES:
		break;
	}
	return put_list(w, rows, more);
}

static int put_section(struct writer *w, const struct km_section *section, const struct km_fields *fields)
{
	bool is_in_sight = section->is_brief || section->is_primary;
	struct km_output_rows rows;
	int code, more;

	if (!(section->audience & KM_FOR_PEOPLE) || section->is_null)
		return 0;
	code = km_output_rows_open(&rows, section, fields, KM_COLUMN_MACHINE, false, w->error);
	if (code < 0)
		return code;
	code = more = rows.count ? km_output_rows_next(&rows, w->error) : 0;
	if (more > 0) {
		if (!is_in_sight) {
			open_fold(w, section->title ? section->title : section->path);
		} else if (section->title) {
			fputs("\n### ", w->stream);
			put_text(w->stream, section->title);
			fputs("\n\n", w->stream);
		} else {
			putc('\n', w->stream);
		}
		code = put_content(w, &rows, more);
	}
	if (code >= 0 && section->note && (more > 0 || is_in_sight)) {
		putc('\n', w->stream);
		put_text(w->stream, section->note);
		putc('\n', w->stream);
	}
	if (more > 0 && !is_in_sight)
		close_fold(w);
	km_output_rows_close(&rows);
	return code < 0 ? code : km_output_check(w->stream, w->error);
}

int km_output_markdown(FILE *stream, const struct km_report *report, const struct km_fields *fields,
		       struct km_error *error)
{
	struct writer w = { .stream = stream, .error = error };
	int code = 0;

	fputs("## ", stream);
	put_text(stream, report->schema);
	putc('\n', stream);
	for (unsigned brief = 0; brief < 2; brief++) {
		for (size_t i = 0; i < report->sections_count && !code; i++) {
			const struct km_section *section = &report->sections[i];

			if (brief == (section->is_brief || section->is_primary))
				continue;
			code = put_section(&w, section, fields);
		}
	}
	km_output_text_release(&w.text);
	return code;
}
