/* SPDX-License-Identifier: GPL-2.0-only */
#include "decompress.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define CONTEXTS_KEPT 16 /* more threads than that at once make theirs anew */

struct km_decompressor {
	enum km_compression compression;
	pthread_mutex_t mutex;
	ZSTD_DCtx *idle[CONTEXTS_KEPT]; /* under the mutex */
	size_t idle_count;
};

struct km_decompressor *km_decompressor_new(enum km_compression compression)
{
	struct km_decompressor *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->compression = compression;
	pthread_mutex_init(&d->mutex, NULL);
	return d;
}

void km_decompressor_free(struct km_decompressor *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->idle_count; i++)
		ZSTD_freeDCtx(d->idle[i]);
	pthread_mutex_destroy(&d->mutex);
	free(d);
}

static ZSTD_DCtx *take_context(struct km_decompressor *d)
{
	ZSTD_DCtx *context = NULL;

	pthread_mutex_lock(&d->mutex);
	if (d->idle_count)
		context = d->idle[--d->idle_count];
	pthread_mutex_unlock(&d->mutex);
	return context ? context : ZSTD_createDCtx();
}

static void give_context(struct km_decompressor *d, ZSTD_DCtx *context)
{
	pthread_mutex_lock(&d->mutex);
	if (d->idle_count < CONTEXTS_KEPT) {
		d->idle[d->idle_count++] = context;
		context = NULL;
	}
	pthread_mutex_unlock(&d->mutex);
	ZSTD_freeDCtx(context);
}

static int decompress_zstd(struct km_decompressor *d, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	ZSTD_DCtx *context = take_context(d);
	size_t n;

	if (!context)
		return -ENOMEM;
	n = ZSTD_decompressDCtx(context, out, out_bytes, in, in_bytes);
	give_context(d, context);
	return !ZSTD_isError(n) && n == out_bytes ? 0 : -EBADMSG;
}

int km_decompress(struct km_decompressor *d, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	uLongf zlib_bytes = out_bytes;

	switch (d->compression) {
	case KM_COMPRESSION_ZSTD:
		return decompress_zstd(d, in, in_bytes, out, out_bytes);
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
