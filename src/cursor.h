/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cursor: reading numbers and strings from a byte range in a given byte
 * order, never past its end.
 *
 * A failed read leaves `failed` set and returns 0 or NULL; every later read
 * fails too, so that a parser can check once behind a group of reads.
 * It does not own the bytes.
 */
#ifndef KM_CURSOR_H
#define KM_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t km_load16(const void *p, bool big_endian)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? __builtin_bswap16(v) : v;
}

static inline uint32_t km_load32(const void *p, bool big_endian)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? __builtin_bswap32(v) : v;
}

static inline uint64_t km_load64(const void *p, bool big_endian)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? __builtin_bswap64(v) : v;
}

struct km_cursor {
	const uint8_t *start;
	const uint8_t *at;
	const uint8_t *end;
	bool big_endian;
	bool failed;
};

/* data may be NULL with 0 bytes. */
static inline struct km_cursor km_cursor_make(const void *data, size_t bytes, bool big_endian)
{
	const uint8_t *start = data;

	return (struct km_cursor){
		.start = start, .at = start, .end = bytes ? start + bytes : start, .big_endian = big_endian
	};
}

/* Bytes left; 0 after a failure. */
static inline size_t km_cursor_left(const struct km_cursor *c)
{
	return c->failed ? 0 : (size_t)(c->end - c->at);
}

/* Bytes from the start: what an error message quotes. */
static inline size_t km_cursor_offset(const struct km_cursor *c)
{
	return (size_t)(c->at - c->start);
}

/* The next n bytes, consumed, or NULL. */
static inline const uint8_t *km_cursor_take(struct km_cursor *c, size_t n)
{
	const uint8_t *p = c->at;

	if (c->failed || km_cursor_left(c) < n) {
		c->failed = true;
		return NULL;
	}
	c->at += n;
	return p;
}

static inline uint8_t km_cursor_u8(struct km_cursor *c)
{
	const uint8_t *p = km_cursor_take(c, 1);

	return p ? *p : 0;
}

static inline uint16_t km_cursor_u16(struct km_cursor *c)
{
	const uint8_t *p = km_cursor_take(c, 2);

	return p ? km_load16(p, c->big_endian) : 0;
}

static inline uint32_t km_cursor_u32(struct km_cursor *c)
{
	const uint8_t *p = km_cursor_take(c, 4);

	return p ? km_load32(p, c->big_endian) : 0;
}

static inline uint64_t km_cursor_u64(struct km_cursor *c)
{
	const uint8_t *p = km_cursor_take(c, 8);

	return p ? km_load64(p, c->big_endian) : 0;
}

/* A NUL-terminated string, consumed with its NUL, borrowed from the bytes; NULL if there is no NUL. */
static inline const char *km_cursor_string(struct km_cursor *c)
{
	size_t left = km_cursor_left(c);
	const uint8_t *nul = left ? memchr(c->at, 0, left) : NULL;

	if (!nul) {
		c->failed = true;
		return NULL;
	}
	return (const char *)km_cursor_take(c, (size_t)(nul - c->at) + 1);
}

#endif
