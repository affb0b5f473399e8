/* SPDX-License-Identifier: GPL-2.0-only */
#include "decompress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

struct km_decompressor {
	enum km_compression compression;
	ZSTD_DCtx *zstd;
};

struct km_decompressor *km_decompressor_new(enum km_compression compression)
{
	struct km_decompressor *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->compression = compression;
	if (compression == KM_COMPRESSION_ZSTD) {
		d->zstd = ZSTD_createDCtx();
		if (!d->zstd) {
			free(d);
			return NULL;
		}
	}
	return d;
}

void km_decompressor_free(struct km_decompressor *d)
{
	if (!d)
		return;
	ZSTD_freeDCtx(d->zstd);
	free(d);
}

int km_decompress(struct km_decompressor *d, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	uLongf zlib_bytes = out_bytes;
	size_t n;

	switch (d->compression) {
	case KM_COMPRESSION_ZSTD:
		n = ZSTD_decompressDCtx(d->zstd, out, out_bytes, in, in_bytes);
		return !ZSTD_isError(n) && n == out_bytes ? 0 : -EBADMSG;
	case KM_COMPRESSION_ZLIB:
		if (uncompress(out, &zlib_bytes, in, in_bytes) != Z_OK)
			return -EBADMSG;
		return zlib_bytes == out_bytes ? 0 : -EBADMSG;
	case KM_COMPRESSION_NONE:
		if (in_bytes != out_bytes)
			return -EBADMSG;
		memcpy(out, in, in_bytes);
		return 0;
	}
	return -EBADMSG;
}
