/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Damaged traces: cut short anywhere, any byte of their tables changed. No
 * such file may crash, hang or leak, and a cut takes nothing that was whole
 * before it. By default some positions are tried; KM_TEST_FULL=1 tries all.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "fixture.h"
#include "fuzz_entry.h"
#include "read_back.h"
#include "testing.h"
#include "trace_writer.h"

#define TABLE_BYTES 4096U

/* A step through positions that meets all residues of word and page sizes. */
static size_t step(size_t sampled)
{
	return getenv("KM_TEST_FULL") ? 1 : sampled;
}

#define FORMS 8

/* Version 6, then 7 with each compression; both byte orders, and with them both words. */
static struct tw_options form(unsigned i)
{
	static const enum tw_compression compressions[] = { TW_COMPRESSION_NONE, TW_COMPRESSION_NONE,
							    TW_COMPRESSION_ZLIB, TW_COMPRESSION_ZSTD };

	return (struct tw_options){
		.version = i % 4 ? 7 : 6,
		.compression = compressions[i % 4],
		.big_endian = i / 4,
		.long_bytes = i / 4 ? 4 : 8,
		.page_bytes = 512,
		.chunk_pages = 2,
		.cpus = 2,
		.clock = "mono",
	};
}

static uint8_t *build_small(unsigned i, size_t *ret_bytes)
{
	struct tw_options options = form(i);
	struct tw_stream stream = {
		.seed = i, .events_count = 100, .cpus = 2, .long_bytes = options.long_bytes, .live_target = 30
	};
	struct tw *tw = tw_new(&options);
	uint8_t *data;

	tw_stream_random(tw, &stream, NULL);
	tw_kfree(tw, tw_add_buffer(tw, "alpha", 0, NULL, 0), 0, 5, 42, 1, 16);
	tw_cpustat(tw, TW_TOP, 0, 1, 2, 3);
	data = tw_finish(tw, ret_bytes);
	tw_free(tw);
	return data;
}

START_TEST(cut_at_every_byte)
{
	for (unsigned i = 0; i < FORMS; i++) {
		size_t bytes;
		uint8_t *data = build_small(i, &bytes);

		ck_assert_int_eq(km_fuzz(data, bytes), KM_FUZZ_READ);
		for (size_t cut = i; cut < bytes; cut += step(61))
			km_fuzz(data, cut);
		for (size_t cut = bytes - 200; cut < bytes; cut++)
			km_fuzz(data, cut);
		free(data);
	}
}
END_TEST

/* The tables are at both ends: version 7 has its options last. */
START_TEST(every_byte_of_the_tables)
{
	for (unsigned i = 0; i < FORMS; i++) {
		size_t bytes;
		uint8_t *data = build_small(i, &bytes);

		for (size_t at = 0; at < bytes; at += at < 64 ? 1 : step(23)) {
			if (at >= TABLE_BYTES && at < bytes - TABLE_BYTES)
				at = bytes - TABLE_BYTES;
			data[at] ^= 0xff;
			km_fuzz_read(data, bytes);
			data[at] ^= 0xfe;
			km_fuzz_read(data, bytes);
			data[at] ^= 0x01;
		}
		free(data);
	}
}
END_TEST

/* ---- what was whole before a cut ---- */

#define PAGE_EVENTS 3U
#define PAGES       9U

/*
 * A trace of one CPU with as many events in each page, its pages behind all
 * of its tables, so that a cut takes only pages. *ret_start: where they begin.
 */
static uint8_t *build_pages_last(unsigned i, size_t *ret_bytes, size_t *ret_start)
{
	struct tw_options options = form(i);
	uint64_t offset, place, data_bytes;
	uint8_t *data, *at;
	struct tw *tw;

	options.cpus = 1;
	tw = tw_new(&options);
	for (unsigned n = 0; n < PAGES * PAGE_EVENTS; n++) {
		tw_kfree(tw, TW_TOP, 0, 1000 + n, 42, 1, 16 + n);
		if (n % PAGE_EVENTS == PAGE_EVENTS - 1)
			tw_new_page(tw, TW_TOP, 0);
	}
	data = tw_finish(tw, ret_bytes);
	offset = tw_data_offset(tw, TW_TOP, 0);
	data_bytes = tw_data_bytes(tw, TW_TOP, 0);
	*ret_start = offset;
	if (options.version == 7) { /* the option is behind them: it shall lead to a copy behind itself */
		uint64_t swapped = options.big_endian ? __builtin_bswap64(offset) : offset;

		data = realloc(data, *ret_bytes + data_bytes);
		ck_assert_ptr_nonnull(data);
		memcpy(data + *ret_bytes, data + offset, data_bytes);
		at = memmem(data + offset + data_bytes, *ret_bytes - offset - data_bytes, &swapped, 8);
		/* The first is the section's own place, 16 bytes less; so this is the CPU's. */
		ck_assert_ptr_nonnull(at);
		place = options.big_endian ? __builtin_bswap64((uint64_t)*ret_bytes) : (uint64_t)*ret_bytes;
		memcpy(at, &place, 8);
		*ret_start = *ret_bytes;
		*ret_bytes += data_bytes;
	}
	tw_free(tw);
	return data;
}

/* How many pages are whole in the first `left` bytes of a CPU's data. */
static size_t whole_pages(const struct tw_options *options, const uint8_t *start, size_t left)
{
	size_t at = 4, pages = 0;

	if (options->compression == TW_COMPRESSION_NONE)
		return left / options->page_bytes;
	while (left >= at + 8 && left - at - 8 >= km_load32(start + at, options->big_endian)) {
		pages += km_load32(start + at + 4, options->big_endian) / options->page_bytes;
		at += 8 + km_load32(start + at, options->big_endian);
		if (pages == PAGES)
			break;
	}
	return pages;
}

START_TEST(what_was_whole_stays)
{
	for (unsigned i = 0; i < FORMS; i++) {
		struct tw_options options = form(i);
		size_t bytes, start;
		uint8_t *data = build_pages_last(i, &bytes, &start);
		size_t last_pages = 0;

		for (size_t cut = start; cut <= bytes; cut += cut + 40 > bytes ? 1 : step(3)) {
			size_t pages = whole_pages(&options, data + start, cut - start), count;
			struct km_reader *reader = km_read_back_open(data, cut, NULL);
			struct km_event *events = km_read_back_all(reader, 0, 10, &count);
			const struct km_cpu_loss *loss = km_reader_stats(reader)->cpus;

			ck_assert_uint_eq(count, pages * PAGE_EVENTS);
			for (size_t k = 0; k < count; k++) {
				if (events[k].ptr != 16 + k || events[k].time != 1000 + k)
					ck_abort_msg("form %u, cut at %zu: event %zu is another", i, cut - start, k);
			}
			ck_assert_int_eq(loss->is_cut, cut < bytes);
			ck_assert_int_eq(km_reader_info(reader)->is_cut_short, cut < bytes);
			ck_assert_uint_eq(loss->damaged_count, 0);
			ck_assert_uint_ge(pages, last_pages);
			last_pages = pages;
			free(events);
			km_reader_close(reader);
		}
		ck_assert_uint_eq(last_pages, PAGES);
		free(data);
	}
}
END_TEST

/* ---- real recordings ---- */

static bool is_trace(const char *name)
{
	size_t length = strlen(name);

	return length > 4 && !strcmp(name + length - 4, ".dat");
}

/* Calls damage for every fixture, in the order of their names. */
static unsigned each_fixture(void (*damage)(uint8_t *data, size_t bytes))
{
	char *path = km_fixture_path(KM_TEST_DIR, "");
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, alphasort);
	unsigned done = 0;

	ck_assert_int_gt(count, 0);
	free(path);
	for (int i = 0; i < count; i++) {
		if (is_trace(entries[i]->d_name)) {
			size_t bytes;
			uint8_t *data;

			path = km_fixture_path(KM_TEST_DIR, entries[i]->d_name);
			data = km_fixture_read(path, &bytes);
			ck_assert_ptr_nonnull(data);
			free(path);
			damage(data, bytes);
			free(data);
			done++;
		}
		free(entries[i]);
	}
	free(entries);
	return done;
}

static void cut_fixture(uint8_t *data, size_t bytes)
{
	/* Near the end, where the data are, and before. */
	size_t stride = 4096 * step(1 + bytes / 4096 / 8);

	for (size_t cut = 0; cut < bytes; cut += stride)
		km_fuzz(data, cut);
	for (size_t back = 1; back < 100; back += step(33))
		km_fuzz(data, bytes - back);
}

START_TEST(fixtures_cut)
{
	ck_assert_uint_ge(each_fixture(cut_fixture), 10);
}
END_TEST

static void change_fixture(uint8_t *data, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += at < 24 ? 1 : step(701)) {
		if (at >= TABLE_BYTES && at < bytes - TABLE_BYTES)
			at = bytes - TABLE_BYTES;
		data[at] ^= 0xff;
		km_fuzz_read(data, bytes);
		data[at] ^= 0xff;
	}
}

/* The large one takes long, and its tables are like the others'. */
static void change_small_fixture(uint8_t *data, size_t bytes)
{
	if (bytes < 1000000 || getenv("KM_TEST_FULL"))
		change_fixture(data, bytes);
}

START_TEST(fixtures_changed)
{
	ck_assert_uint_ge(each_fixture(change_small_fixture), 10);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		cut_at_every_byte, every_byte_of_the_tables, what_was_whole_stays, fixtures_cut, fixtures_changed, NULL,
	};

	return km_test_main("damage", tests, getenv("KM_TEST_FULL") ? 7200 : 120);
}
