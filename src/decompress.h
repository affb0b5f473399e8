/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * decompress: whole blocks of trace.dat, compressed with one of the
 * algorithms that trace-cmd knows (man trace-cmd.dat.v7). It does not read
 * files and knows no sections or chunks.
 */
#ifndef KM_DECOMPRESS_H
#define KM_DECOMPRESS_H

#include <stddef.h>
#include <stdint.h>

enum km_compression { KM_COMPRESSION_NONE, KM_COMPRESSION_ZLIB, KM_COMPRESSION_ZSTD };

struct km_decompressor;

/*
 * NULL when out of memory. One serves any number of threads: as many contexts
 * as there are blocks being decompressed at once, not one a CPU of the trace.
 */
struct km_decompressor *km_decompressor_new(enum km_compression compression);
void km_decompressor_free(struct km_decompressor *decompressor);

/*
 * Decompress one block into exactly out_bytes. Returns 0; -EBADMSG if the
 * block is damaged or has another size, -ENOMEM.
 */
int km_decompress(struct km_decompressor *decompressor, const void *in, size_t in_bytes, void *out, size_t out_bytes);

#endif
