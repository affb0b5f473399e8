/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * source: where a reader's bytes come from: a file, or memory (tests,
 * fuzzers). Readers never call read(2) themselves.
 *
 * It reads at offsets and keeps nothing: no mapping, so that a 20 GB file
 * does not count as resident. A pipe is refused by km_source_open_file();
 * km_source_open() makes a stream of it, which is read forward only. Whoever
 * can not do with that asks km_source_is_stream() first.
 */
#ifndef KM_SOURCE_H
#define KM_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct km_source;

/* A stream's first bytes can be read again: what a reader bids on. */
#define KM_SOURCE_KEPT_BYTES 65536

/* "-" is standard input, which must be seekable. Errors: what open(2) and fstat(2) give, -EISDIR, -ESPIPE, -ENOMEM. */
int km_source_open_file(const char *path, struct km_source **ret_source, struct km_error *error);
/* The same, but a pipe, a socket or a file that procfs or tracefs makes up is a stream. Waits for the other end of a
 * FIFO. */
int km_source_open(const char *path, struct km_source **ret_source, struct km_error *error);
/* Borrows data until the source is closed. name is copied. NULL when out of memory. */
struct km_source *km_source_new_memory(const char *name, const void *data, size_t bytes);
void km_source_close(struct km_source *source);

/* As given on the command line, for messages. */
const char *km_source_name(const struct km_source *source);
/* UINT64_MAX for a stream */
uint64_t km_source_bytes(const struct km_source *source);
bool km_source_is_stream(const struct km_source *source);
/* Bytes handed out so far, those read twice counted twice: how far a reader is. May be asked from any thread. */
uint64_t km_source_bytes_read(const struct km_source *source);
/* The error for what would have to be read out of order: -ESPIPE, which says to save it to a file. */
int km_source_refuse_stream(const struct km_source *source, struct km_error *error);

/*
 * Reads up to `bytes` at `offset`; fewer only at the end of the source.
 * Returns the number of bytes read, or a negative errno with error set.
 */
int64_t km_source_read_at(struct km_source *source, uint64_t offset, void *buffer, size_t bytes,
			  struct km_error *error);
/*
 * The same, but a stream may give fewer than `bytes` as soon as it gave
 * `least`. Of a stream only the first KM_SOURCE_KEPT_BYTES can be read twice;
 * -ESPIPE for others that went by.
 */
int64_t km_source_read_some(struct km_source *source, uint64_t offset, void *buffer, size_t bytes, size_t least,
			    struct km_error *error);

#endif
