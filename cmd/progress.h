/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * progress: one line on standard error that tells how far a reader is, for a
 * person who waits. A thread of its own looks at the reader's counters; who
 * reads knows nothing of it. It is not there where nobody looks: standard
 * error is no terminal, the process is in the background, or --quiet.
 */
#ifndef KM_PROGRESS_H
#define KM_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

#include "reader.h"

struct progress;

/*
 * Watch a reader, which must stay open until progress_stop(). The first line
 * comes after a second, then at most five a second. NULL where there is none
 * to be shown, or no thread to be had.
 */
struct progress *progress_start(const struct km_reader *reader, bool quiet);
/* Wipes the line. Before anything else is written to the terminal. NULL is nothing. */
void progress_stop(struct progress *progress);

/*
 * The line's text, at most `bytes` with its NUL, cut to `width` columns:
 * "45%, 1.2G of 2.6G, 31.2M events/s, 12s left".
 */
void progress_text(const struct km_reader_progress *at, uint64_t elapsed_ns, unsigned width, char *text, size_t bytes);

#endif
