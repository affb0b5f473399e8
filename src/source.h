/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * source: where a reader's bytes come from: a file, or memory (tests,
 * fuzzers). Readers never call read(2) themselves.
 *
 * It reads at offsets and keeps nothing: no mapping, so that a 20 GB file
 * does not count as resident. A pipe is refused by km_source_open_file().
 */
#ifndef KM_SOURCE_H
#define KM_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct km_source;

/* "-" is standard input, which must be seekable. Errors: what open(2) and fstat(2) give, -EISDIR, -ESPIPE, -ENOMEM. */
int km_source_open_file(const char *path, struct km_source **ret_source, struct km_error *error);
/* Borrows data until the source is closed. name is copied. NULL when out of memory. */
struct km_source *km_source_new_memory(const char *name, const void *data, size_t bytes);
void km_source_close(struct km_source *source);

/* As given on the command line, for messages. */
const char *km_source_name(const struct km_source *source);
uint64_t km_source_bytes(const struct km_source *source);

/*
 * Reads up to `bytes` at `offset`; fewer only at the end of the source.
 * Returns the number of bytes read, or a negative errno with error set.
 */
int64_t km_source_read_at(struct km_source *source, uint64_t offset, void *buffer, size_t bytes,
			  struct km_error *error);

#endif
