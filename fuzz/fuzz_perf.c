/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libFuzzer target: perf.data files; see fuzz_entry.h. Half of the mutations
 * are of one record, whose header is put right behind it, so that the records
 * after it are still found. In file mode, where tables tell offsets, a record
 * keeps its size.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "fuzz_entry.h"
#include "perfdata.h"
#include "perfdata_records.h"

#define HEAD_BYTES    8U
#define RECORDS_LIMIT 4096U
#define DATA_AT       40U /* of the data section in the file's header: u64 offset, u64 size */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t limit);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t limit, unsigned seed);

struct records {
	bool big_endian;
	bool is_pipe;
	size_t starts[RECORDS_LIMIT];
	size_t count;
};

static size_t record_bytes(const struct records *records, const uint8_t *data, size_t at)
{
	return km_load16(data + at + 6, records->big_endian);
}

/* Those that are whole. */
static bool find_records(struct records *records, const uint8_t *data, size_t bytes)
{
	size_t at, end = bytes;

	if (bytes < DATA_AT + 16 || !km_perfdata_probe(data, bytes))
		return false;
	records->count = 0;
	records->big_endian = data[0] == '2';
	at = km_load64(data + 8, records->big_endian);
	records->is_pipe = at == KM_PERFDATA_PIPE_HEADER_BYTES;
	if (!records->is_pipe) {
		at = km_load64(data + DATA_AT, records->big_endian);
		end = km_load64(data + DATA_AT + 8, records->big_endian);
		end = at < bytes && end < bytes - at ? at + end : bytes;
	}
	while (at < end && end - at >= HEAD_BYTES && records->count < RECORDS_LIMIT) {
		size_t size = record_bytes(records, data, at);

		if (size < HEAD_BYTES || size > end - at)
			break;
		records->starts[records->count++] = at;
		/* The event formats stand behind their record. */
		if (km_load32(data + at, records->big_endian) == KM_RECORD_TRACING_DATA && size >= 12)
			size += km_load32(data + at + HEAD_BYTES, records->big_endian);
		at += size < end - at ? size : end - at;
	}
	return records->count > 0;
}

/* `old` bytes at `at` become `new`; what follows moves. Returns the file's new size, `bytes` if there is no room. */
static size_t replace(uint8_t *data, size_t bytes, size_t limit, size_t at, size_t old, const uint8_t *new,
		      size_t new_bytes)
{
	if (bytes - old + new_bytes > limit)
		return bytes;
	memmove(data + at + new_bytes, data + at + old, bytes - at - old);
	memcpy(data + at, new, new_bytes);
	return bytes - old + new_bytes;
}

static void set_size(const struct records *records, uint8_t *record, size_t size)
{
	record[6] = (uint8_t)(records->big_endian ? size >> 8 : size);
	record[7] = (uint8_t)(records->big_endian ? size : size >> 8);
}

static size_t mutate_record(const struct records *records, uint8_t *data, size_t bytes, size_t limit, unsigned seed)
{
	static uint8_t copy[UINT16_MAX];
	size_t at = records->starts[seed / 8 % records->count], size = record_bytes(records, data, at);
	size_t to = records->starts[seed / 64 % records->count], body;

	memcpy(copy, data + at, size);
	if (records->is_pipe && seed % 8 == 0) /* the same again elsewhere */
		return replace(data, bytes, limit, to, 0, copy, size);
	if (records->is_pipe && seed % 8 == 1)
		return replace(data, bytes, limit, at, size, copy, 0);
	body = LLVMFuzzerMutate(copy + HEAD_BYTES, size - HEAD_BYTES, sizeof(copy) - HEAD_BYTES);
	if (!records->is_pipe) {
		if (body < size - HEAD_BYTES)
			memset(copy + HEAD_BYTES + body, 0, size - HEAD_BYTES - body);
		body = size - HEAD_BYTES;
	}
	set_size(records, copy, HEAD_BYTES + body);
	return replace(data, bytes, limit, at, size, copy, HEAD_BYTES + body);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t limit, unsigned seed)
{
	static struct records records;

	if (seed & 1 && find_records(&records, data, bytes))
		return mutate_record(&records, data, bytes, limit, seed >> 1);
	return LLVMFuzzerMutate(data, bytes, limit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	km_fuzz(data, bytes);
	return 0;
}
