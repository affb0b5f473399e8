/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring_page: walks the records of one ring-buffer sub-buffer ("page"), never
 * past its end. It knows times and lengths, not what a record means.
 *
 * A page, as kernel/trace/ring_buffer.c writes it (all in the kernel's byte
 * order): u64 timestamp; local_t commit (4 or 8 bytes): bits 0-26 the bytes
 * of data, bit 31 RB_MISSED_EVENTS: events were lost before this page,
 * bit 30 RB_MISSED_STORED: their number, a local_t, stands behind the data;
 * then the data.
 *
 * A record, include/linux/ring_buffer.h struct ring_buffer_event: 5 bits
 * type_len and 27 bits time_delta (on big-endian type_len is on top), then
 *
 *   type_len 1..28  data of type_len * 4 bytes
 *   0               array[0] holds the length of data and itself, then data
 *   29 PADDING      time_delta 0: the rest of the page is empty;
 *                   else a discarded record, array[0] is what follows the header
 *   30 TIME_EXTEND  array[0] holds the bits of the delta above the 27
 *   31 TIME_STAMP   an absolute time of 59 bits, built the same way
 */
#ifndef KM_RING_PAGE_H
#define KM_RING_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "cursor.h"

#define KM_RING_COMMIT_MASK   ((UINT32_C(1) << 27) - 1)
#define KM_RING_MISSED_EVENTS (UINT32_C(1) << 31)
#define KM_RING_MISSED_STORED (UINT32_C(1) << 30)

struct km_ring_page {
	const uint8_t *at;  /* the next record */
	const uint8_t *end; /* of the committed data */
	uint64_t time;      /* of the record last returned; before the first, of the page */
	bool missed;        /* events were lost before this page */
	bool missed_is_stored;
	uint64_t missed_count; /* only if missed_is_stored */
	bool damaged;          /* a record did not fit: the rest of the page was given up */
};

/*
 * Start on a page of `bytes` bytes. commit_bytes is 4 or 8; data_offset is
 * where records begin. Returns false if the page's own numbers do not fit
 * into it: nothing in it can be used.
 */
static inline bool km_ring_page_begin(struct km_ring_page *page, const uint8_t *data, uint32_t bytes,
				      uint32_t commit_offset, uint32_t commit_bytes, uint32_t data_offset,
				      bool big_endian)
{
	uint32_t commit;
	uint32_t size;

	if (commit_bytes == 8)
		commit = (uint32_t)km_load64(data + commit_offset, big_endian);
	else
		commit = km_load32(data + commit_offset, big_endian);
	size = commit & KM_RING_COMMIT_MASK;
	if (size > bytes - data_offset)
		return false;
	page->at = data + data_offset;
	page->end = page->at + size;
	page->time = km_load64(data, big_endian);
	page->damaged = false;
	page->missed = commit & KM_RING_MISSED_EVENTS;
	page->missed_is_stored = false;
	page->missed_count = 0;
	if (page->missed && (commit & KM_RING_MISSED_STORED) && bytes - data_offset - size >= commit_bytes) {
		page->missed_is_stored = true;
		page->missed_count =
			commit_bytes == 8 ? km_load64(page->end, big_endian) : km_load32(page->end, big_endian);
	}
	return true;
}

/* An absolute time has 59 bits; the ones above are those of the time before (ring_buffer.c rb_fix_abs_ts). */
static inline uint64_t km_ring_absolute_time(uint64_t stamp, uint64_t before)
{
	const uint64_t top = UINT64_C(0xf8) << 56;

	if (before & top) {
		stamp |= before & top;
		if (stamp < before)
			stamp += UINT64_C(1) << 59;
	}
	return stamp;
}

/*
 * The next data record: its payload and length, and page->time. Returns
 * false at the end of the page, or where a record does not fit (damaged).
 */
static inline bool km_ring_page_next(struct km_ring_page *page, bool big_endian, const uint8_t **ret_payload,
				     uint32_t *ret_bytes)
{
	const uint8_t *at = page->at;
	const uint8_t *const end = page->end;

	while (end - at >= 4) {
		uint32_t header = km_load32(at, big_endian);
		uint32_t type_len = big_endian ? header >> 27 : header & 31;
		uint32_t delta = big_endian ? header & ((UINT32_C(1) << 27) - 1) : header >> 5;
		size_t left = (size_t)(end - at) - 4;
		uint32_t array0;

		if (__builtin_expect(type_len >= 1 && type_len <= 28, 1)) {
			if (left < type_len * 4)
				break;
			page->time += delta;
			*ret_payload = at + 4;
			*ret_bytes = type_len * 4;
			page->at = at + 4 + type_len * 4;
			return true;
		}
		if (type_len == 29 && delta == 0) { /* the rest is empty */
			page->at = end;
			return false;
		}
		if (left < 4)
			break;
		array0 = km_load32(at + 4, big_endian);
		if (type_len == 30) {
			page->time += ((uint64_t)array0 << 27) + delta;
			at += 8;
		} else if (type_len == 31) {
			page->time = km_ring_absolute_time(((uint64_t)array0 << 27) + delta, page->time);
			at += 8;
		} else {
			uint64_t length = ((uint64_t)array0 + 3) & ~UINT64_C(3);

			if (array0 < 4 || length > left)
				break;
			page->time += delta;
			if (type_len == 0) {
				*ret_payload = at + 8;
				*ret_bytes = (uint32_t)length - 4;
				page->at = at + 4 + length;
				return true;
			}
			at += 4 + length; /* discarded */
		}
	}
	page->damaged = at != end;
	page->at = end;
	return false;
}

#endif
