/* SPDX-License-Identifier: GPL-2.0-only */
#include "decompress.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "testing.h"

#define BYTES 40960U

static const enum km_compression all[] = { KM_COMPRESSION_NONE, KM_COMPRESSION_ZLIB, KM_COMPRESSION_ZSTD };

/* A block and how it is packed. */
struct block {
	uint8_t plain[BYTES];
	uint8_t packed[BYTES + BYTES / 8];
	size_t packed_bytes;
};

static struct block *new_block(enum km_compression compression)
{
	struct block *b = calloc(1, sizeof(*b));
	uLongf zlib_bytes = sizeof(b->packed);

	ck_assert_ptr_nonnull(b);
	for (unsigned i = 0; i < BYTES; i++)
		b->plain[i] = (uint8_t)(i % 7 * (i / 100));
	switch (compression) {
	case KM_COMPRESSION_NONE:
		memcpy(b->packed, b->plain, BYTES);
		b->packed_bytes = BYTES;
		break;
	case KM_COMPRESSION_ZLIB:
		ck_assert_int_eq(compress(b->packed, &zlib_bytes, b->plain, BYTES), Z_OK);
		b->packed_bytes = zlib_bytes;
		break;
	case KM_COMPRESSION_ZSTD:
		b->packed_bytes = ZSTD_compress(b->packed, sizeof(b->packed), b->plain, BYTES, 3);
		ck_assert(!ZSTD_isError(b->packed_bytes));
		break;
	}
	return b;
}

START_TEST(round_trip)
{
	for (size_t i = 0; i < 3; i++) {
		struct km_decompressor *d = km_decompressor_new(all[i]);
		struct block *b = new_block(all[i]);
		uint8_t *out = malloc(BYTES);

		ck_assert_ptr_nonnull(d);
		for (unsigned round = 0; round < 2; round++) { /* one decompressor does many blocks */
			memset(out, 0xee, BYTES);
			ck_assert_int_eq(km_decompress(d, b->packed, b->packed_bytes, out, BYTES), 0);
			ck_assert_mem_eq(out, b->plain, BYTES);
		}
		free(out);
		free(b);
		km_decompressor_free(d);
	}
}
END_TEST

/* Exactly the size that was told, neither more nor less; a failure spoils nothing for the next block. */
START_TEST(another_size)
{
	static const size_t wrong[] = { 0, 1, 100, BYTES - 1, BYTES + 1, BYTES + 4096 };

	for (size_t i = 0; i < 3; i++) {
		struct km_decompressor *d = km_decompressor_new(all[i]);
		struct block *b = new_block(all[i]);

		for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
			uint8_t *out = malloc(wrong[k] ? wrong[k] : 1);

			ck_assert_int_eq(km_decompress(d, b->packed, b->packed_bytes, out, wrong[k]), -EBADMSG);
			free(out);
		}
		ck_assert_int_eq(km_decompress(d, b->packed, b->packed_bytes, b->plain, BYTES), 0);
		free(b);
		km_decompressor_free(d);
	}
}
END_TEST

START_TEST(cut_short)
{
	for (size_t i = 0; i < 3; i++) {
		struct km_decompressor *d = km_decompressor_new(all[i]);
		struct block *b = new_block(all[i]);
		uint8_t *out = malloc(BYTES);

		for (size_t bytes = 0; bytes < b->packed_bytes; bytes += 1 + bytes / 16) {
			/* Of its own, so that a read behind the end is seen. */
			uint8_t *in = malloc(bytes ? bytes : 1);

			memcpy(in, b->packed, bytes);
			ck_assert_int_eq(km_decompress(d, in, bytes, out, BYTES), -EBADMSG);
			free(in);
		}
		free(out);
		free(b);
		km_decompressor_free(d);
	}
}
END_TEST

/* Whatever comes out of a damaged block, it is not an error of ours. */
START_TEST(damaged)
{
	for (size_t i = 1; i < 3; i++) {
		struct km_decompressor *d = km_decompressor_new(all[i]);
		struct block *b = new_block(all[i]);
		uint8_t *out = malloc(BYTES);
		unsigned refused = 0, total = 0;

		for (size_t at = 0; at < b->packed_bytes; at++, total++) {
			int r;

			b->packed[at] ^= 0x41;
			r = km_decompress(d, b->packed, b->packed_bytes, out, BYTES);
			ck_assert(r == 0 || r == -EBADMSG);
			refused += r != 0;
			b->packed[at] ^= 0x41;
		}
		/* zlib has a checksum, trace-cmd's zstd blocks have none. */
		ck_assert_uint_gt(refused, all[i] == KM_COMPRESSION_ZLIB ? total * 9 / 10 : 0);
		free(out);
		free(b);
		km_decompressor_free(d);
	}
}
END_TEST

START_TEST(free_takes_null)
{
	km_decompressor_free(NULL);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { round_trip, another_size, cut_short, damaged, free_takes_null, NULL };

	return km_test_main("decompress", tests, 30);
}
