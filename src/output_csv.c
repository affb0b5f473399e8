/* SPDX-License-Identifier: GPL-2.0-only */
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "output_writer.h"

/* RFC 4180. A field that is alone in its record is quoted when empty: an empty line is no record to many readers. */
static void put_field(FILE *stream, const char *text, bool is_alone)
{
	bool is_quoted = is_alone && !*text;

	if (!is_quoted && !strpbrk(text, ",\"\r\n")) {
		fputs(text, stream);
		return;
	}
	putc('"', stream);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', stream);
		putc(*text, stream);
	}
	putc('"', stream);
}

static int add_list(struct km_output_text *text, const struct km_cell *cell)
{
	int code = 0;

	for (size_t i = 0; i < cell->list.count && !code; i++) {
		if (i)
			code = km_output_text_add(text, ",", 1);
		if (!code)
			code = km_output_text_add_utf8(text, cell->list.items[i]);
	}
	return code;
}

static int add_cell(struct km_output_text *text, const struct km_column *column, const struct km_cell *cell)
{
	char buffer[KM_FORMAT_BYTES] = "";

	if (km_output_cell_is_null(column, cell))
		return km_output_text_add(text, "", 0);
	switch (column->type) {
	case KM_TYPE_STRING:
		return km_output_text_add_utf8(text, cell->text);
	case KM_TYPE_LIST:
		return add_list(text, cell);
	case KM_TYPE_COUNT:
	case KM_TYPE_BYTES:
	case KM_TYPE_DURATION:
	case KM_TYPE_TICKS:
		snprintf(buffer, sizeof(buffer), "%" PRIu64, cell->number);
		break;
	case KM_TYPE_INTEGER:
		snprintf(buffer, sizeof(buffer), "%" PRId64, cell->integer);
		break;
	case KM_TYPE_ADDRESS:
		snprintf(buffer, sizeof(buffer), "0x%" PRIx64, cell->number);
		break;
	case KM_TYPE_BOOL:
		snprintf(buffer, sizeof(buffer), "%s", cell->flag ? "true" : "false");
		break;
	case KM_TYPE_RATIO:
		snprintf(buffer, sizeof(buffer), "%.6g", cell->ratio);
		break;
	case KM_TYPE_REAL:
		snprintf(buffer, sizeof(buffer), "%.12g", cell->ratio);
		break;
	case KM_TYPE_HISTOGRAM: /* never a column here */
	case KM_TYPE_NUMBERS:
		break;
	}
	return km_output_text_add(text, buffer, strlen(buffer));
}

static int put_header(FILE *stream, const struct km_output_rows *rows, struct km_error *error)
{
	for (size_t i = 0; i < rows->count; i++) {
		if (i)
			putc(',', stream);
		put_field(stream, km_output_rows_column(rows, i)->name, false);
	}
	putc('\n', stream);
	return km_output_check(stream, error);
}

static int put_row(FILE *stream, const struct km_output_rows *rows, struct km_output_text *text, struct km_error *error)
{
	for (size_t i = 0; i < rows->count; i++) {
		text->length = 0;
		if (add_cell(text, km_output_rows_column(rows, i), km_output_rows_cell(rows, i)) < 0)
			return km_error_set(error, -ENOMEM, "out of memory");
		if (i)
			putc(',', stream);
		/* An empty list adds nothing, not even the NUL. */
		put_field(stream, text->length ? text->data : "", rows->count == 1);
	}
	putc('\n', stream);
	return km_output_check(stream, error);
}

static int put_rows(FILE *stream, const struct km_report *report, const struct km_fields *fields, bool has_header,
		    struct km_error *error)
{
	const struct km_section *section = km_output_primary(report, error);
	struct km_output_text text = { 0 };
	struct km_output_rows rows;
	int code;

	if (!section)
		return -EINVAL;
	code = km_output_rows_open(&rows, section, fields, KM_COLUMN_PEOPLE, false, error);
	if (code < 0)
		return code;
	if (has_header)
		code = put_header(stream, &rows, error);
	while (code >= 0 && (code = km_output_rows_next(&rows, error)) > 0)
		code = put_row(stream, &rows, &text, error);
	km_output_text_release(&text);
	km_output_rows_close(&rows);
	return code;
}

int km_output_csv(FILE *stream, const struct km_report *report, const struct km_fields *fields, struct km_error *error)
{
	return put_rows(stream, report, fields, true, error);
}

int km_output_csv_more(FILE *stream, const struct km_report *report, const struct km_fields *fields,
		       struct km_error *error)
{
	return put_rows(stream, report, fields, false, error);
}
