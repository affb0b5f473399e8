/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text is what f_show() in the kernel's kernel/trace/trace_events.c
 * writes:
 *
 *	name: NAME
 *	ID: N
 *	format:
 *		field:TYPE NAME;	offset:N;	size:N;	signed:N;
 *		... (the fields common_*)
 *
 *		field:...
 *
 *	print fmt: ...
 *
 * The scanner takes no other byte than such a text has, so its lines go to
 * libtraceevent as they are. Behind `print fmt: ` nothing is looked at.
 */
#include "event_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <traceevent/event-parse.h>

/* Limits on what a file can make us do; real kernels stay far below. */
#define LINE_BYTES      512
#define FIELD_LIMIT     128
#define NAME_BYTES      128   /* with its NUL, of an event and of a field */
#define ID_LIMIT        65535 /* an event's record has 16 bits for it */
#define OFFSET_LIMIT    65535
#define PAGE_LIMIT      (1U << 20) /* RB_WRITE_MASK + 1 in the kernel's ring_buffer.c */
#define PAGE_HEAD_LIMIT 64

static const char print_start[] = "print fmt: ";
static const char empty_print[] = "print fmt: \"\"\n";

struct named_field {
	char name[NAME_BYTES];
	struct km_field field;
};

struct km_event_format {
	char name[NAME_BYTES];
	uint16_t id;
	size_t count;
	struct named_field fields[FIELD_LIMIT];
};

/* What is left of a text, or of a line. */
struct scanner {
	const char *p;
	const char *end;
	size_t line; /* number of the line read last, from 1 */
};

struct field_line {
	struct scanner type;
	struct scanner name;
	uint32_t offset;
	uint32_t size;
	bool is_signed;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

static size_t left(const struct scanner *s)
{
	return (size_t)(s->end - s->p);
}

static bool starts_with(const struct scanner *s, const char *text)
{
	size_t bytes = strlen(text);

	return left(s) >= bytes && !memcmp(s->p, text, bytes);
}

static bool take(struct scanner *s, const char *text)
{
	if (!starts_with(s, text))
		return false;
	s->p += strlen(text);
	return true;
}

/* A decimal number as %u prints it: without leading zeros, so that there is one text per number. */
static bool take_number(struct scanner *s, uint32_t limit, uint32_t *ret_value)
{
	const char *start = s->p;
	uint32_t value = 0;

	while (s->p < s->end && is_digit(*s->p)) {
		value = value * 10 + (uint32_t)(*s->p++ - '0');
		if (value > limit)
			return false;
	}
	if (s->p == start || (*start == '0' && s->p - start > 1))
		return false;
	*ret_value = value;
	return true;
}

/* The next line without its newline; fails if there is none or it is too long. */
static bool next_line(struct scanner *text, struct scanner *ret_line)
{
	size_t bytes = left(text) < LINE_BYTES ? left(text) : LINE_BYTES;
	const char *newline = bytes ? memchr(text->p, '\n', bytes) : NULL;

	text->line++;
	if (!newline)
		return false;
	*ret_line = (struct scanner){ .p = text->p, .end = newline };
	text->p = newline + 1;
	return true;
}

/* What is left is one word, short enough to be kept. */
static bool is_name(const struct scanner *s)
{
	for (const char *p = s->p; p < s->end; p++) {
		if (!is_word(*p))
			return false;
	}
	return s->p < s->end && left(s) < NAME_BYTES;
}

/* Event names may begin with a digit (9p_protocol_dump). */
static bool scan_head(struct scanner *text, struct scanner *ret_name, uint16_t *ret_id)
{
	struct scanner name, line;
	uint32_t id;

	if (!next_line(text, &name) || !take(&name, "name: ") || !is_name(&name))
		return false;
	if (!next_line(text, &line) || !take(&line, "ID: ") || !take_number(&line, ID_LIMIT, &id) || left(&line) || !id)
		return false;
	*ret_name = name;
	*ret_id = (uint16_t)id;
	return true;
}

/*
 * Words and stars, as in `const struct page *`. Only the __data_loc and
 * __rel_loc types may end in [].
 */
static bool is_type(struct scanner s)
{
	bool is_loc = starts_with(&s, "__data_loc ") || starts_with(&s, "__rel_loc ");
	char before = ' ';

	if (is_loc && left(&s) > 2 && !memcmp(s.end - 2, "[]", 2))
		s.end -= 2;
	if (s.p == s.end || !is_word(*s.p) || s.end[-1] == ' ')
		return false;
	for (; s.p < s.end; before = *s.p++) {
		if (*s.p == ' ' ? before == ' ' : *s.p != '*' && !is_word(*s.p))
			return false;
		if (is_digit(*s.p) && !is_word(before))
			return false;
	}
	return true;
}

/* `TYPE NAME`, `TYPE NAME[N]` or `TYPE NAME[]`, up to the semicolon. */
static bool take_declaration(struct scanner *line, struct field_line *field)
{
	const char *semicolon = memchr(line->p, ';', left(line));
	const char *bracket;
	uint32_t dimension;

	if (!semicolon)
		return false;
	field->name = (struct scanner){ .p = line->p, .end = semicolon };
	if (left(&field->name) && semicolon[-1] == ']') {
		struct scanner array = { .end = semicolon };

		bracket = memrchr(line->p, '[', (size_t)(semicolon - line->p));
		if (!bracket)
			return false;
		array.p = bracket + 1;
		if (*array.p != ']' && !take_number(&array, OFFSET_LIMIT, &dimension))
			return false;
		if (left(&array) != 1)
			return false;
		field->name.end = bracket;
	}
	field->name.p = field->name.end;
	while (field->name.p > line->p && is_word(field->name.p[-1]))
		field->name.p--;
	field->type = (struct scanner){ .p = line->p, .end = field->name.p };
	if (left(&field->type) && field->type.end[-1] == ' ')
		field->type.end--;
	else if (!left(&field->type) || field->type.end[-1] != '*')
		return false;
	line->p = semicolon;
	return is_name(&field->name) && !is_digit(*field->name.p) && is_type(field->type);
}

/* From behind `field:` to the end of the line. */
static bool scan_field(struct scanner *line, uint32_t limit, bool may_lack_sign, struct field_line *ret_field)
{
	struct field_line field = { .is_signed = false };
	uint32_t is_signed = 0;

	if (!take_declaration(line, &field))
		return false;
	if (!take(line, ";\toffset:") || !take_number(line, limit, &field.offset))
		return false;
	if (!take(line, ";\tsize:") || !take_number(line, limit, &field.size))
		return false;
	if (!take(line, ";") || field.size > limit - field.offset)
		return false;
	if (left(line) || !may_lack_sign) {
		if (!take(line, "\tsigned:") || !take_number(line, 1, &is_signed) || !take(line, ";"))
			return false;
	}
	field.is_signed = is_signed;
	*ret_field = field;
	return !left(line);
}

static void copy_name(char *to, size_t bytes, const struct scanner *name)
{
	size_t length = left(name) < bytes ? left(name) : bytes - 1;

	memcpy(to, name->p, length);
	to[length] = '\0';
}

static const struct named_field *find(const struct km_event_format *format, const char *name)
{
	for (size_t i = 0; i < format->count; i++) {
		if (!strcmp(format->fields[i].name, name))
			return &format->fields[i];
	}
	return NULL;
}

static int add_field(struct km_event_format *format, const struct field_line *line, size_t number,
		     struct km_error *error)
{
	struct named_field *added;

	if (format->count == FIELD_LIMIT)
		return km_error_set(error, -EBADMSG, "line %zu of the event format: more than %d fields", number,
				    FIELD_LIMIT);
	added = &format->fields[format->count];
	copy_name(added->name, sizeof(added->name), &line->name);
	if (find(format, added->name))
		return km_error_set(error, -EBADMSG, "line %zu of the event format: a second field %s", number,
				    added->name);
	added->field = (struct km_field){
		.offset = (uint16_t)line->offset,
		.size = (uint16_t)line->size,
		.is_signed = line->is_signed,
	};
	format->count++;
	return 0;
}

/* One block of field lines and the blank line that ends it. */
static int scan_fields(struct scanner *text, bool is_common, struct km_event_format *format, struct km_error *error)
{
	for (;;) {
		struct field_line field;
		struct scanner line;
		int result;

		if (!next_line(text, &line))
			return km_error_set(error, -EBADMSG, "line %zu of the event format is cut off or too long",
					    text->line);
		if (!left(&line))
			break;
		if (!take(&line, "\tfield:") || !scan_field(&line, OFFSET_LIMIT, false, &field))
			return km_error_set(error, -EBADMSG, "line %zu of the event format is not a field's",
					    text->line);
		if (is_common && !starts_with(&field.name, "common_"))
			return km_error_set(error, -EBADMSG, "line %zu of the event format is not a common field's",
					    text->line);
		result = add_field(format, &field, text->line, error);
		if (result)
			return result;
	}
	if (is_common && !format->count)
		return km_error_set(error, -EBADMSG, "line %zu of the event format: no common fields", text->line);
	return 0;
}

/* Leaves text at `print fmt: `. */
static int scan_format(struct scanner *text, struct km_event_format *format, struct km_error *error)
{
	struct scanner name, line;
	int result;

	if (!scan_head(text, &name, &format->id))
		return km_error_set(error, -EBADMSG, "line %zu of the event format is not `%s`", text->line,
				    text->line == 1 ? "name: NAME" : "ID: NUMBER");
	copy_name(format->name, sizeof(format->name), &name);
	if (is_digit(*format->name))
		return km_error_set(error, -EBADMSG, "line 1 of the event format: a name that begins with a digit");
	if (!next_line(text, &line) || !take(&line, "format:") || left(&line))
		return km_error_set(error, -EBADMSG, "line %zu of the event format is not `format:`", text->line);
	result = scan_fields(text, true, format, error);
	if (!result)
		result = scan_fields(text, false, format, error);
	if (!result && !starts_with(text, print_start))
		result = km_error_set(error, -EBADMSG, "line %zu of the event format is not `print fmt:`",
				      text->line + 1);
	return result;
}

/* Takes every field from libtraceevent, which must have read the same as we have. */
static int adopt_fields(struct km_event_format *format, struct tep_event *event, struct km_error *error)
{
	for (size_t i = 0; i < format->count; i++) {
		struct km_field *field = &format->fields[i].field;
		const struct tep_format_field *found = tep_find_any_field(event, format->fields[i].name);

		if (!found || found->offset != field->offset || found->size != field->size)
			return km_error_set(error, -EBADMSG, "libtraceevent reads the field %s of event %s otherwise",
					    format->fields[i].name, format->name);
		field->is_signed = found->flags & TEP_FIELD_IS_SIGNED;
		field->is_rel_loc = found->flags & TEP_FIELD_IS_RELATIVE;
		field->is_data_loc = (found->flags & TEP_FIELD_IS_DYNAMIC) && !field->is_rel_loc;
	}
	return 0;
}

static int ask_libtraceevent(struct km_event_format *format, const char *text, size_t bytes, struct km_error *error)
{
	struct tep_handle *tep = tep_alloc();
	struct tep_event *event = NULL;
	enum tep_errno failure;
	int result = -ENOMEM;

	if (!tep)
		return km_error_set(error, -ENOMEM, "out of memory");
	/* The library's only switch for its messages is one for the whole process. */
	tep_set_loglevel(TEP_LOG_NONE);
	failure = tep_parse_format(tep, &event, text, bytes, "kmem");
	if (failure == TEP_ERRNO__MEM_ALLOC_FAILED)
		km_error_set(error, result, "out of memory");
	else if (failure || !event)
		result = km_error_set(error, -EBADMSG, "libtraceevent refuses the format of event %s", format->name);
	else
		result = adopt_fields(format, event, error);
	tep_free(tep);
	return result;
}

int km_event_format_parse(const char *text, size_t bytes, struct km_event_format **ret_format, struct km_error *error)
{
	struct scanner scanner = { .p = text, .end = bytes ? text + bytes : text };
	struct km_event_format *format = calloc(1, sizeof(*format));
	char *clean = NULL;
	size_t accepted;
	int result;

	if (!format)
		return km_error_set(error, -ENOMEM, "out of memory");
	result = scan_format(&scanner, format, error);
	if (result)
		goto fail;
	accepted = (size_t)(scanner.p - text);
	clean = malloc(accepted + sizeof(empty_print));
	if (!clean) {
		result = km_error_set(error, -ENOMEM, "out of memory");
		goto fail;
	}
	memcpy(clean, text, accepted);
	memcpy(clean + accepted, empty_print, sizeof(empty_print));
	result = ask_libtraceevent(format, clean, accepted + sizeof(empty_print) - 1, error);
	if (result)
		goto fail;
	free(clean);
	*ret_format = format;
	return 0;
fail:
	free(clean);
	km_event_format_free(format);
	return result;
}

void km_event_format_free(struct km_event_format *format)
{
	free(format);
}

const char *km_event_format_name(const struct km_event_format *format)
{
	return format->name;
}

uint16_t km_event_format_id(const struct km_event_format *format)
{
	return format->id;
}

int km_event_format_field(const struct km_event_format *format, const char *name, struct km_field *ret_field)
{
	const struct named_field *found = find(format, name);

	if (!found)
		return 0;
	*ret_field = found->field;
	return 1;
}

int km_event_format_peek(const char *text, size_t bytes, char *name, size_t name_bytes, uint16_t *ret_id)
{
	struct scanner scanner = { .p = text, .end = bytes ? text + bytes : text };
	struct scanner found;
	uint16_t id;

	if (!scan_head(&scanner, &found, &id))
		return -EBADMSG;
	if (name_bytes)
		copy_name(name, name_bytes, &found);
	*ret_id = id;
	return 0;
}

/* Takes the next line if it is that of the named field. */
static bool take_page_field(struct scanner *text, const char *name, struct field_line *ret_field)
{
	struct scanner ahead = *text, line;
	struct field_line field;

	if (!next_line(&ahead, &line) || !take(&line, "\tfield: ") || !scan_field(&line, PAGE_LIMIT, true, &field))
		return false;
	if (left(&field.name) != strlen(name) || !starts_with(&field.name, name))
		return false;
	*text = ahead;
	*ret_field = field;
	return true;
}

static int bad_page_header(struct km_error *error, const char *name)
{
	return km_error_set(error, -EBADMSG, "the page header's description has no usable field `%s`", name);
}

int km_page_header_parse(const char *text, size_t bytes, struct km_page_header *ret_header, struct km_error *error)
{
	struct scanner scanner = { .p = text, .end = bytes ? text + bytes : text };
	struct field_line timestamp, commit, overwrite, data;

	if (!take_page_field(&scanner, "timestamp", &timestamp) || timestamp.offset != 0 || timestamp.size != 8)
		return bad_page_header(error, "timestamp");
	if (!take_page_field(&scanner, "commit", &commit) || (commit.size != 4 && commit.size != 8) ||
	    commit.offset < 8 || commit.offset > PAGE_HEAD_LIMIT)
		return bad_page_header(error, "commit");
	/* It lies in the commit word's upper bits, and kernels before 2.6.34 do not show it. */
	take_page_field(&scanner, "overwrite", &overwrite);
	if (!take_page_field(&scanner, "data", &data) || data.offset < commit.offset + commit.size ||
	    data.offset > PAGE_HEAD_LIMIT || !data.size)
		return bad_page_header(error, "data");
	if (left(&scanner))
		return km_error_set(error, -EBADMSG, "the page header's description goes on behind its last field");
	*ret_header = (struct km_page_header){
		.commit_offset = commit.offset,
		.commit_bytes = commit.size,
		.data_offset = data.offset,
		.data_bytes = data.size,
	};
	return 0;
}
