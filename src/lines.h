/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lines: a source as lines of text, through one buffer: memory stays the
 * same however long the file or a line is. A line longer than the buffer is
 * told and passed over.
 */
#ifndef KM_LINES_H
#define KM_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "source.h"

struct km_lines {
	struct km_source *source; /* borrowed */
	char *data;               /* owned */
	size_t start, end;        /* what is read and not yet used */
	uint64_t offset;          /* of what comes next from the source */
	uint64_t number;          /* of the last line handed out, from 1 */
	uint64_t limit;           /* the caller's: read no further; 0: to the end */
	bool is_at_end;
	bool is_cut; /* the last line has no newline */
};

enum km_lines_state { KM_LINES_END, KM_LINES_READ, KM_LINES_TOO_LONG };

/* 0 or -ENOMEM. */
int km_lines_init(struct km_lines *lines, struct km_source *source);
void km_lines_release(struct km_lines *lines);
/* Back to the first line. */
void km_lines_rewind(struct km_lines *lines);
/* An enum km_lines_state, or a negative errno. The line is borrowed until the next call; it has no newline. */
int km_lines_next(struct km_lines *lines, const char **ret_text, size_t *ret_bytes, struct km_error *error);
/*
 * Each line of a small file that people write, NUL-terminated, without blanks
 * around it; empty ones and those that begin with '#' are passed over. What
 * `take` sets as its error gets "FILE:LINE: " in front. "-": standard input.
 */
int km_lines_each(const char *path, int (*take)(void *context, const char *line, struct km_error *error), void *context,
		  struct km_error *error);
/* Offset of the next line. */
uint64_t km_lines_offset(const struct km_lines *lines);

#endif
