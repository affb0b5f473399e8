/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * read_back: a trace in memory through the reader, for tests. What can't be
 * done ends the test.
 */
#ifndef KM_READ_BACK_H
#define KM_READ_BACK_H

#include <stddef.h>

#include "reader.h"
#include "trace_writer.h"

/* data must outlive the reader. */
struct km_reader *km_read_back_open(const void *data, size_t bytes, const struct km_reader_options *options);
/* The error of a trace that must not open; *ret_error is whole. */
void km_read_back_refused(const void *data, size_t bytes, struct km_error *ret_error);
/* Starts a buffer and reads it to its end, in batches of `batch`. The caller frees the events. */
struct km_event *km_read_back_all(struct km_reader *reader, size_t buffer, size_t batch, size_t *ret_count);
/* How many events of that name the started buffer held, whatever they are. */
uint64_t km_read_back_count(struct km_reader *reader, const char *name);

#endif
