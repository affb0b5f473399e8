/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A row is a small jansson object that lives as long as the row; only the
 * frame (objects of sections, arrays, commas, indentation) is written here,
 * so that memory does not grow with the rows.
 */
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "output_writer.h"

#define DEPTH_MAX 16
#define KEY_BYTES 128

/* Of a real number; a ratio has six. */
#define REAL_DIGITS 12

struct writer {
	FILE *stream;
	struct km_error *error;
	struct km_output_text text; /* a string on its way to jansson */
	unsigned indent;            /* levels around the report's own object */
	unsigned depth;             /* objects that are open, that one included */
	struct {
		const char *path; /* borrowed from the section */
		bool has_members;
	} open[DEPTH_MAX];
};

static int no_memory(struct writer *w)
{
	return km_error_set(w->error, -ENOMEM, "out of memory");
}

static json_t *make_string(struct writer *w, const char *text)
{
	w->text.length = 0;
	if (km_output_text_add_utf8(&w->text, text) < 0)
		return NULL;
	return json_stringn(w->text.data, w->text.length);
}

/* No more digits than it is worth. */
static json_t *make_ratio(double ratio)
{
	char digits[KM_FORMAT_BYTES];

	snprintf(digits, sizeof(digits), "%.6g", ratio);
	return json_real(strtod(digits, NULL));
}

/*
 * jansson's integers end at 2^63 - 1. A larger one travels as a string that
 * begins with a NUL byte, which no text of ours can hold, and bare_numbers()
 * takes it out of its quotes.
 */
static json_t *make_number(uint64_t value)
{
	char digits[KM_FORMAT_BYTES];
	int length;

	if (value <= INT64_MAX)
		return json_integer((json_int_t)value);
	length = snprintf(digits + 1, sizeof(digits) - 1, "%" PRIu64, value);
	digits[0] = '\0';
	return json_stringn(digits, (size_t)length + 1);
}

/*
 * In a dump a quote followed by \u0000 can only be the beginning of such a
 * string: jansson doubles every backslash of a text, and no text has a NUL.
 */
static void bare_numbers(char *dump)
{
	static const char mark[] = "\"\\u0000";
	char *from = strstr(dump, mark), *to = from;

	while (from) {
		char *next;

		from += sizeof(mark) - 1;
		while (*from != '"')
			*to++ = *from++;
		from++;
		next = strstr(from, mark);
		if (next) {
			memmove(to, from, (size_t)(next - from));
			to += next - from;
		} else {
			memmove(to, from, strlen(from) + 1);
		}
		from = next;
	}
}

static json_t *make_list(struct writer *w, const struct km_cell *cell)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < cell->list.count; i++) {
		if (json_array_append_new(array, make_string(w, cell->list.items[i])) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *make_histogram(const struct km_histogram *h)
{
	json_t *array = json_array();

	for (unsigned i = 0; array && i < h->length; i++) {
		json_t *pair;

		if (!h->bins[i])
			continue;
		pair = json_array();
		/* The array takes over the pair in any case; appending NULL, or to NULL, is an error. */
		if (json_array_append_new(pair, make_number(h->first + i)) < 0 ||
		    json_array_append_new(pair, make_number(h->bins[i])) < 0) {
			json_decref(pair);
			pair = NULL;
		}
		if (json_array_append_new(array, pair) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *make_numbers(const struct km_cell *cell)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < cell->numbers.count; i++) {
		if (json_array_append_new(array, make_number(cell->numbers.items[i])) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *make_cell(struct writer *w, const struct km_column *column, const struct km_cell *cell)
{
	char address[KM_FORMAT_BYTES];

	if (km_output_cell_is_null(column, cell))
		return json_null();
	switch (column->type) {
	case KM_TYPE_STRING:
		return make_string(w, cell->text);
	case KM_TYPE_COUNT:
	case KM_TYPE_BYTES:
	case KM_TYPE_DURATION:
	case KM_TYPE_TICKS:
		return make_number(cell->number);
	case KM_TYPE_INTEGER:
		return json_integer((json_int_t)cell->integer);
	case KM_TYPE_ADDRESS:
		snprintf(address, sizeof(address), "0x%" PRIx64, cell->number);
		return json_string(address);
	case KM_TYPE_BOOL:
		return json_boolean(cell->flag);
	case KM_TYPE_RATIO:
		return make_ratio(cell->ratio);
	case KM_TYPE_REAL:
		return json_real(cell->ratio);
	case KM_TYPE_LIST:
		return make_list(w, cell);
	case KM_TYPE_HISTOGRAM:
		return make_histogram(cell->histogram);
	case KM_TYPE_NUMBERS:
		return make_numbers(cell);
	}
	return json_null();
}

/* "a.b": key b of object a, which is made if need be. Takes over value. */
static int set_member(struct writer *w, json_t *object, const char *name, json_t *value)
{
	const char *part = name, *dot;

	if (!value)
		return no_memory(w);
	while ((dot = strchr(part, '.')) != NULL) {
		size_t length = (size_t)(dot - part);
		char key[KEY_BYTES];
		json_t *inner;

		if (length >= sizeof(key))
			goto bad_name;
		memcpy(key, part, length);
		key[length] = '\0';
		inner = json_object_get(object, key);
		if (!inner) {
			inner = json_object();
			if (json_object_set_new(object, key, inner) < 0) {
				json_decref(value);
				return no_memory(w);
			}
		}
		if (!json_is_object(inner))
			goto bad_name;
		object = inner;
		part = dot + 1;
	}
	/* "a" after "a.b" would lose what is there. */
	if (json_is_object(json_object_get(object, part)))
		goto bad_name;
	return json_object_set_new(object, part, value) < 0 ? no_memory(w) : 0;

bad_name:
	json_decref(value);
	return km_error_set(w->error, -EINVAL, "column %s: its name does not nest with the others", name);
}

static int make_row(struct writer *w, const struct km_output_rows *rows, json_t **ret_object)
{
	json_t *object = json_object();

	if (!object)
		return no_memory(w);
	for (size_t i = 0; i < rows->count; i++) {
		const struct km_column *column = km_output_rows_column(rows, i);
		int code = set_member(w, object, column->name, make_cell(w, column, km_output_rows_cell(rows, i)));

		if (code < 0) {
			json_decref(object);
			return code;
		}
	}
	*ret_object = object;
	return 0;
}

static int put_value(struct writer *w, const json_t *value, size_t flags)
{
	char *dump =
		json_dumps(value, flags | JSON_ENCODE_ANY | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(REAL_DIGITS));

	if (!dump)
		return no_memory(w);
	bare_numbers(dump);
	fputs(dump, w->stream);
	free(dump);
	return km_output_check(w->stream, w->error);
}

static void put_line_end(struct writer *w, unsigned level)
{
	fprintf(w->stream, "\n%*s", (int)(2 * level), "");
}

/* Begins the next element of an array or member of an object, of which *has_others tells. */
static void put_separator(struct writer *w, unsigned level, bool *has_others)
{
	if (*has_others)
		putc(',', w->stream);
	*has_others = true;
	put_line_end(w, level);
}

static int put_key(struct writer *w, unsigned level, bool *has_others, const char *key)
{
	json_t *string = make_string(w, key);
	int code;

	if (!string)
		return no_memory(w);
	put_separator(w, level, has_others);
	code = put_value(w, string, 0);
	json_decref(string);
	fputs(": ", w->stream);
	return code;
}

/* One member a line, arrays on the line of their key. */
static int put_members(struct writer *w, json_t *object, unsigned level, bool *has_others)
{
	const char *key;
	json_t *value;
	int code = 0;

	json_object_foreach(object, key, value)
	{
		bool has_inner = false;

		code = put_key(w, level, has_others, key);
		if (code < 0)
			return code;
		if (!json_is_object(value)) {
			code = put_value(w, value, 0);
		} else {
			putc('{', w->stream);
			code = put_members(w, value, level + 1, &has_inner);
			if (has_inner)
				put_line_end(w, level);
			putc('}', w->stream);
		}
		if (code < 0)
			return code;
	}
	return km_output_check(w->stream, w->error);
}

/* The level at which the members of the innermost open object stand. */
static unsigned level_of(const struct writer *w)
{
	return w->indent + w->depth;
}

static int open_object(struct writer *w, const char *path)
{
	if (w->depth == DEPTH_MAX)
		return km_error_set(w->error, -EINVAL, "section %s: nested too deeply", path);
	putc('{', w->stream);
	w->open[w->depth].path = path;
	w->open[w->depth].has_members = false;
	w->depth++;
	return 0;
}

static void close_objects(struct writer *w, unsigned depth)
{
	while (w->depth > depth) {
		w->depth--;
		if (w->open[w->depth].has_members)
			put_line_end(w, level_of(w));
		putc('}', w->stream);
	}
}

/* Closes what is open down to the object that a section lies in, and writes the section's key there. */
static int enter_section(struct writer *w, const char *path)
{
	const char *dot = strrchr(path, '.');
	size_t length = dot ? (size_t)(dot - path) : 0;
	unsigned depth = w->depth;

	while (depth && (strncmp(w->open[depth - 1].path, path, length) || w->open[depth - 1].path[length]))
		depth--;
	if (!depth)
		return km_error_set(w->error, -EINVAL, "section %s: no record before it holds it", path);
	close_objects(w, depth);
	if (!*path)
		return 0;
	return put_key(w, level_of(w), &w->open[depth - 1].has_members, dot ? dot + 1 : path);
}

static int put_record(struct writer *w, struct km_output_rows *rows)
{
	const char *path = rows->section->path;
	json_t *object = NULL;
	int code = 0;

	if (*path)
		code = open_object(w, path);
	if (!code)
		code = km_output_rows_next(rows, w->error);
	if (code <= 0)
		return code;
	code = make_row(w, rows, &object);
	if (!code)
		code = put_members(w, object, level_of(w), &w->open[w->depth - 1].has_members);
	json_decref(object);
	return code;
}

/* A row as an object, or the string alone of a section of items. */
static int put_row(struct writer *w, const struct km_output_rows *rows, bool is_item)
{
	json_t *value = NULL;
	int code = 0;

	if (is_item) {
		value = rows->count ? make_cell(w, km_output_rows_column(rows, 0), km_output_rows_cell(rows, 0))
				    : json_null();
		if (!value)
			return no_memory(w);
	} else {
		code = make_row(w, rows, &value);
	}
	if (!code)
		code = put_value(w, value, JSON_COMPACT);
	json_decref(value);
	return code;
}

static int put_array(struct writer *w, struct km_output_rows *rows)
{
	bool has_others = false;
	int code;

	putc('[', w->stream);
	while ((code = km_output_rows_next(rows, w->error)) > 0) {
		put_separator(w, level_of(w) + 1, &has_others);
		code = put_row(w, rows, rows->section->shape == KM_SHAPE_ITEMS);
		if (code < 0)
			return code;
	}
	if (has_others)
		put_line_end(w, level_of(w));
	putc(']', w->stream);
	return code;
}

static int put_section(struct writer *w, const struct km_section *section, const struct km_fields *fields)
{
	struct km_output_rows rows;
	int code;

	if (!(section->audience & KM_FOR_MACHINES) || section->shape == KM_SHAPE_LINES)
		return 0;
	code = enter_section(w, section->path);
	if (code < 0)
		return code;
	if (section->is_null) {
		if (*section->path)
			fputs("null", w->stream);
		return 0;
	}
	code = km_output_rows_open(&rows, section, fields, KM_COLUMN_PEOPLE, true, w->error);
	if (code < 0)
		return code;
	code = section->shape == KM_SHAPE_RECORD ? put_record(w, &rows) : put_array(w, &rows);
	km_output_rows_close(&rows);
	return code < 0 ? code : km_output_check(w->stream, w->error);
}

/* Opens the report's own object and says what it is. */
static int put_schema(struct writer *w, const char *schema, int schema_version)
{
	json_t *object = json_pack("{s:s, s:i}", "schema", schema, "schema_version", schema_version);
	int code;

	if (!object)
		return no_memory(w);
	code = open_object(w, "");
	if (!code)
		code = put_members(w, object, level_of(w), &w->open[0].has_members);
	json_decref(object);
	return code;
}

static int put_report(struct writer *w, const struct km_report *report, const struct km_fields *fields)
{
	int code = put_schema(w, report->schema, report->schema_version);

	for (size_t i = 0; i < report->sections_count && !code; i++)
		code = put_section(w, &report->sections[i], fields);
	if (code < 0)
		return code;
	close_objects(w, 0);
	return 0;
}

int km_output_json(FILE *stream, const struct km_report *report, const struct km_fields *fields, struct km_error *error)
{
	struct writer w = { .stream = stream, .error = error };
	int code = put_report(&w, report, fields);

	km_output_text_release(&w.text);
	if (code < 0)
		return code;
	putc('\n', stream);
	return km_output_check(stream, error);
}

int km_output_json_list_begin(FILE *stream, const char *schema, int schema_version, struct km_error *error)
{
	struct writer w = { .stream = stream, .error = error };
	int code = put_schema(&w, schema, schema_version);

	if (!code)
		code = put_key(&w, level_of(&w), &w.open[0].has_members, "reports");
	km_output_text_release(&w.text);
	if (code < 0)
		return code;
	putc('[', stream);
	return km_output_check(stream, error);
}

int km_output_json_list_item(FILE *stream, const struct km_report *report, const struct km_fields *fields, bool first,
			     struct km_error *error)
{
	struct writer w = { .stream = stream, .error = error, .indent = 2 };
	bool has_others = !first;
	int code;

	put_separator(&w, w.indent, &has_others);
	code = put_report(&w, report, fields);
	km_output_text_release(&w.text);
	return code < 0 ? code : km_output_check(stream, error);
}

int km_output_json_list_end(FILE *stream, struct km_error *error)
{
	fputs("\n  ]\n}\n", stream);
	return km_output_check(stream, error);
}

int km_output_json_lines(FILE *stream, const struct km_report *report, const struct km_fields *fields,
			 struct km_error *error)
{
	const struct km_section *section = km_output_primary(report, error);
	struct writer w = { .stream = stream, .error = error };
	struct km_output_rows rows;
	int code;

	if (!section)
		return -EINVAL;
	code = km_output_rows_open(&rows, section, fields, KM_COLUMN_PEOPLE, true, error);
	if (code < 0)
		return code;
	while ((code = km_output_rows_next(&rows, error)) > 0) {
		code = put_row(&w, &rows, false);
		putc('\n', stream);
		if (code < 0)
			break;
	}
	km_output_text_release(&w.text);
	km_output_rows_close(&rows);
	return code < 0 ? code : km_output_check(stream, error);
}
