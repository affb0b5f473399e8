/* SPDX-License-Identifier: GPL-2.0-only */
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output_writer.h"
#include "utf8.h"

static int write_error(const char *name, int number, struct km_error *error)
{
	/* The stream remembers that a write failed, not always why. */
	if (!number)
		number = EIO;
	return km_error_set(error, -number, "%s: %s", name, strerror(number));
}

int km_output_finish(FILE *stream, const char *name, struct km_error *error)
{
	errno = 0;
	if (fflush(stream) || ferror(stream))
		return write_error(name, errno, error);
	return 0;
}

int km_output_check(FILE *stream, struct km_error *error)
{
	int number = errno;

	if (!ferror(stream))
		return 0;
	return write_error(fileno(stream) == STDOUT_FILENO ? "standard output" : "output", number, error);
}

int km_output_text_add(struct km_output_text *text, const char *bytes, size_t count)
{
	if (text->size - text->length <= count) {
		size_t size = text->size + count + 64 + text->size / 2;
		char *data = realloc(text->data, size);

		if (!data)
			return -ENOMEM;
		text->data = data;
		text->size = size;
	}
	memcpy(text->data + text->length, bytes, count);
	text->length += count;
	text->data[text->length] = '\0';
	return 0;
}

int km_output_text_add_utf8(struct km_output_text *text, const char *string)
{
	size_t length = text->length;

	do {
		size_t good = 0, step;
		int code;

		while ((step = km_utf8_character(string + good, NULL)) > 0)
			good += step;
		code = km_output_text_add(text, string, good);
		string += good;
		if (!code && *string) {
			code = km_output_text_add(text, KM_UTF8_REPLACEMENT, 3);
			string++;
		}
		if (code < 0) {
			text->length = length;
			return code;
		}
	} while (*string);
	return 0;
}

void km_output_text_release(struct km_output_text *text)
{
	if (!text)
		return;
	free(text->data);
	memset(text, 0, sizeof(*text));
}

/* What only JSON has a form for. */
static bool is_array(enum km_type type)
{
	return type == KM_TYPE_HISTOGRAM || type == KM_TYPE_NUMBERS;
}

static int choose_columns(struct km_output_rows *rows, const struct km_fields *fields, unsigned hidden,
			  bool with_arrays, struct km_error *error)
{
	const struct km_section *section = rows->section;
	size_t candidates = rows->is_named ? fields->count : section->columns_count;

	rows->indexes = calloc(candidates + 1, sizeof(*rows->indexes));
	if (!rows->indexes)
		return km_error_set(error, -ENOMEM, "out of memory");
	/* People read names last, behind the numbers; a user's own order stays. */
	for (unsigned pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < candidates; i++) {
			size_t index = rows->is_named ? fields->indexes[i] : i;
			unsigned flags;

			if (index >= section->columns_count)
				return km_error_set(error, -EINVAL, "field %zu of %zu", index, section->columns_count);
			flags = section->columns[index].flags;
			if (!rows->is_named && flags & hidden)
				continue;
			if (is_array(section->columns[index].type) && !with_arrays)
				continue;
			if (pass != (!rows->is_named && hidden & KM_COLUMN_MACHINE && flags & KM_COLUMN_LAST))
				continue;
			rows->indexes[rows->count++] = (uint16_t)index;
		}
	}
	return 0;
}

int km_output_rows_open(struct km_output_rows *rows, const struct km_section *section, const struct km_fields *fields,
			unsigned hidden, bool with_arrays, struct km_error *error)
{
	int code;

	memset(rows, 0, sizeof(*rows));
	rows->section = section;
	rows->is_named = section->is_primary && fields && fields->count;
	rows->cells = calloc(section->columns_count + 1, sizeof(*rows->cells));
	if (rows->cells)
		code = choose_columns(rows, fields, hidden, with_arrays, error);
	else
		code = km_error_set(error, -ENOMEM, "out of memory");
	if (code < 0)
		km_output_rows_close(rows);
	return code;
}

int km_output_rows_next(struct km_output_rows *rows, struct km_error *error)
{
	const struct km_section *section = rows->section;
	int code;

	if (section->is_null || !section->next)
		return 0;
	code = section->next(section->state, rows->cells, error);
	/* Whoever prints the error finds a text, even if the source of the rows forgot it. */
	if (code < 0)
		km_error_set(error, code, "%s: %s", section->path, strerror(-code));
	return code;
}

void km_output_rows_close(struct km_output_rows *rows)
{
	if (!rows)
		return;
	free(rows->cells);
	free(rows->indexes);
	memset(rows, 0, sizeof(*rows));
}

bool km_output_cell_is_null(const struct km_column *column, const struct km_cell *cell)
{
	if (cell->is_null)
		return true;
	if (column->type == KM_TYPE_STRING)
		return !cell->text;
	if (column->type == KM_TYPE_HISTOGRAM)
		return !cell->histogram;
	return (column->type == KM_TYPE_RATIO || column->type == KM_TYPE_REAL) && !isfinite(cell->ratio);
}

const char *km_output_number(char *buffer, const struct km_column *column, const struct km_cell *cell)
{
	switch (column->type) {
	case KM_TYPE_COUNT:
	case KM_TYPE_TICKS:
		return km_format_count(buffer, cell->number);
	case KM_TYPE_BYTES:
		return km_format_bytes(buffer, cell->number);
	case KM_TYPE_DURATION:
		return km_format_duration(buffer, cell->number);
	case KM_TYPE_INTEGER:
		snprintf(buffer, KM_FORMAT_BYTES, "%" PRId64, cell->integer);
		return buffer;
	case KM_TYPE_ADDRESS:
		snprintf(buffer, KM_FORMAT_BYTES, "0x%" PRIx64, cell->number);
		return buffer;
	case KM_TYPE_BOOL:
		return strcpy(buffer, cell->flag ? "yes" : "no");
	case KM_TYPE_RATIO:
		return km_format_ratio(buffer, cell->ratio);
	case KM_TYPE_REAL:
		return km_format_real(buffer, cell->ratio);
	case KM_TYPE_STRING: /* no numbers */
	case KM_TYPE_LIST:
	case KM_TYPE_HISTOGRAM:
	case KM_TYPE_NUMBERS:
		break;
	}
	return strcpy(buffer, "");
}

const char *km_output_heading(const struct km_column *column)
{
	return column->title ? column->title : column->name;
}

bool km_output_is_right(const struct km_column *column)
{
	if (column->flags & (KM_COLUMN_LEFT | KM_COLUMN_RIGHT))
		return column->flags & KM_COLUMN_RIGHT;
	return column->type != KM_TYPE_STRING && column->type != KM_TYPE_LIST && column->type != KM_TYPE_BOOL;
}

const struct km_section *km_output_primary(const struct km_report *report, struct km_error *error)
{
	for (size_t i = 0; i < report->sections_count; i++) {
		if (report->sections[i].is_primary)
			return &report->sections[i];
	}
	km_error_set(error, -EINVAL, "this report has no table that could be written alone");
	return NULL;
}
