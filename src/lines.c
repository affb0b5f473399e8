/* SPDX-License-Identifier: GPL-2.0-only */
#include "lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define READ_BYTES (256U << 10)

int km_lines_init(struct km_lines *l, struct km_source *source)
{
	*l = (struct km_lines){ .source = source };
	l->data = malloc(READ_BYTES);
	return l->data ? 0 : -ENOMEM;
}

void km_lines_release(struct km_lines *l)
{
	free(l->data);
	l->data = NULL;
}

void km_lines_rewind(struct km_lines *l)
{
	l->start = l->end = 0;
	l->offset = l->number = 0;
	l->is_at_end = l->is_cut = false;
}

uint64_t km_lines_offset(const struct km_lines *l)
{
	return l->offset - (l->end - l->start);
}

/* More bytes behind those that are there. */
static int fill(struct km_lines *l, struct km_error *error)
{
	size_t room;
	int64_t n;

	memmove(l->data, l->data + l->start, l->end - l->start);
	l->end -= l->start;
	l->start = 0;
	room = READ_BYTES - l->end;
	if (l->limit && room > l->limit - l->offset)
		room = (size_t)(l->limit - l->offset);
	n = room ? km_source_read_at(l->source, l->offset, l->data + l->end, room, error) : 0;
	if (n < 0)
		return (int)n;
	l->offset += (uint64_t)n;
	l->end += (size_t)n;
	l->is_at_end = n == 0;
	return 0;
}

int km_lines_next(struct km_lines *l, const char **ret_text, size_t *ret_bytes, struct km_error *error)
{
	size_t searched = 0;
	bool too_long = false;
	int r;

	for (;;) {
		char *text = l->data + l->start;
		char *newline = memchr(text + searched, '\n', l->end - l->start - searched);

		if (newline || (l->is_at_end && l->start < l->end)) {
			l->is_cut = !newline;
			l->number++;
			*ret_text = text;
			*ret_bytes = newline ? (size_t)(newline - text) : l->end - l->start;
			l->start += *ret_bytes + (newline ? 1 : 0);
			return too_long ? KM_LINES_TOO_LONG : KM_LINES_READ;
		}
		if (l->is_at_end)
			return too_long ? KM_LINES_TOO_LONG : KM_LINES_END;
		searched = l->end - l->start;
		if (searched == READ_BYTES) {
			too_long = true;
			l->start = l->end = searched = 0;
		}
		r = fill(l, error);
		if (r < 0)
			return r;
	}
}

#define SHORT_LINE_BYTES 4096

static int take_line(struct km_lines *l, const char *text, size_t bytes,
		     int (*take)(void *context, const char *line, struct km_error *error), void *context,
		     struct km_error *error)
{
	const char *name = km_source_name(l->source);
	char line[SHORT_LINE_BYTES];
	struct km_error inner = { 0 };
	int r;

	while (bytes && strchr(" \t\r", text[bytes - 1]))
		bytes--;
	for (; bytes && strchr(" \t", *text); text++)
		bytes--;
	if (!bytes || *text == '#')
		return 0;
	if (bytes >= sizeof(line) || memchr(text, '\0', bytes))
		return km_error_set(error, -EINVAL, "%s:%" PRIu64 ": no line of text that people write", name,
				    l->number);
	memcpy(line, text, bytes);
	line[bytes] = '\0';
	r = take(context, line, &inner);
	return r ? km_error_set(error, r, "%s:%" PRIu64 ": %s", name, l->number, inner.text) : 0;
}

int km_lines_each(const char *path, int (*take)(void *context, const char *line, struct km_error *error), void *context,
		  struct km_error *error)
{
	struct km_source *source;
	struct km_lines lines;
	const char *text;
	size_t bytes;
	int r = km_source_open(path, &source, error);

	if (r)
		return r;
	r = km_lines_init(&lines, source);
	if (r) {
		km_error_set(error, r, "out of memory");
	} else {
		while (!r && (r = km_lines_next(&lines, &text, &bytes, error)) > 0) {
			if (r == KM_LINES_TOO_LONG)
				r = km_error_set(error, -EINVAL, "%s:%" PRIu64 ": the line is too long", path,
						 lines.number);
			else
				r = take_line(&lines, text, bytes, take, context, error);
		}
		km_lines_release(&lines);
	}
	km_source_close(source);
	return r;
}
