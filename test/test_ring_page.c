/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages written by hand, byte for byte, and libtraceevent's kbuffer as the
 * oracle on built pages and on every page of the fixtures.
 */
#include "ring_page.h"

#include <dirent.h>
#include <kbuffer.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "testing.h"
#include "trace_writer.h"
#include "tracedat.h"

#define PAGE 256U

/* A page under construction, in any byte order and word size. */
struct sheet {
	uint8_t bytes[PAGE];
	bool big_endian;
	unsigned word;
	uint32_t at; /* bytes of data so far */
};

static void put(struct sheet *s, uint32_t to, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		s->bytes[to + (s->big_endian ? bytes - 1 - i : i)] = (uint8_t)(value >> 8 * i);
}

static uint32_t data_offset(const struct sheet *s)
{
	return 8 + s->word;
}

static void put_header(struct sheet *s, unsigned type_len, uint32_t delta)
{
	put(s, data_offset(s) + s->at, s->big_endian ? type_len << 27 | delta : delta << 5 | type_len, 4);
	s->at += 4;
}

static void put_word(struct sheet *s, uint32_t value)
{
	put(s, data_offset(s) + s->at, value, 4);
	s->at += 4;
}

/* A record of that many words, the first of which is `mark`. */
static void put_record(struct sheet *s, uint32_t delta, unsigned words, uint32_t mark)
{
	put_header(s, words, delta);
	put_word(s, mark);
	s->at += 4 * (words - 1);
}

static struct sheet new_sheet(unsigned variant)
{
	struct sheet s = { .big_endian = variant & 1, .word = variant & 2 ? 4 : 8 };

	put(&s, 0, 1000, 8);
	return s;
}

static bool begin(struct km_ring_page *page, struct sheet *s, uint64_t flags)
{
	put(s, 8, s->at | flags, s->word);
	return km_ring_page_begin(page, s->bytes, PAGE, 8, s->word, data_offset(s), s->big_endian);
}

/* The next record has this time, length and first word. */
static void expect(struct km_ring_page *page, const struct sheet *s, uint64_t time, uint32_t bytes, uint32_t mark)
{
	const uint8_t *payload;
	uint32_t got;

	ck_assert(km_ring_page_next(page, s->big_endian, &payload, &got));
	ck_assert_uint_eq(page->time, time);
	ck_assert_uint_eq(got, bytes);
	ck_assert_uint_eq(km_load32(payload, s->big_endian), mark);
}

static void expect_end(struct km_ring_page *page, const struct sheet *s, bool damaged)
{
	const uint8_t *payload;
	uint32_t got;

	ck_assert(!km_ring_page_next(page, s->big_endian, &payload, &got));
	ck_assert_int_eq(page->damaged, damaged);
	ck_assert(!km_ring_page_next(page, s->big_endian, &payload, &got));
	ck_assert_int_eq(page->damaged, false); /* told once */
}

START_TEST(an_empty_page)
{
	struct sheet s = new_sheet((unsigned)_i);
	struct km_ring_page page;

	ck_assert(begin(&page, &s, 0));
	ck_assert(!page.missed);
	ck_assert_uint_eq(page.time, 1000);
	expect_end(&page, &s, false);
}
END_TEST

START_TEST(every_record_type)
{
	struct sheet s = new_sheet((unsigned)_i);
	struct km_ring_page page;
	uint64_t time = 1000;

	put_record(&s, 0, 1, 11);               /* the shortest */
	put_record(&s, (1U << 27) - 1, 28, 12); /* the longest, after the longest delta */
	put_header(&s, 30, 5);                  /* TIME_EXTEND */
	put_word(&s, 3);
	put_record(&s, 2, 2, 13);
	put_header(&s, 31, 7); /* TIME_STAMP, absolute */
	put_word(&s, 1000);
	put_record(&s, 1, 1, 14);
	put_header(&s, 29, 9); /* discarded: its delta counts */
	put_word(&s, 12);
	s.at += 8;
	put_header(&s, 0, 4); /* the long form; its length counts itself and need not be a multiple of 4 */
	put_word(&s, 4 + 7);
	put_word(&s, 15);
	s.at += 4;
	put_header(&s, 29, 0); /* the rest is empty, whatever it holds */
	put_word(&s, 0xffffffff);
	ck_assert(begin(&page, &s, 0));
	expect(&page, &s, time, 4, 11);
	time += (1U << 27) - 1;
	expect(&page, &s, time, 112, 12);
	time += 5 + (UINT64_C(3) << 27) + 2;
	expect(&page, &s, time, 8, 13);
	time = 7 + (UINT64_C(1000) << 27) + 1;
	expect(&page, &s, time, 4, 14);
	time += 9 + 4;
	expect(&page, &s, time, 8, 15);
	expect_end(&page, &s, false);
}
END_TEST

START_TEST(lost_events)
{
	struct km_ring_page page;
	struct sheet s = new_sheet((unsigned)_i);

	put_record(&s, 0, 1, 1);
	put(&s, data_offset(&s) + s.at, 77, s.word);
	ck_assert(begin(&page, &s, KM_RING_MISSED_EVENTS | KM_RING_MISSED_STORED));
	ck_assert(page.missed && page.missed_is_stored);
	ck_assert_uint_eq(page.missed_count, 77);
	expect(&page, &s, 1000, 4, 1);
	expect_end(&page, &s, false);

	ck_assert(begin(&page, &s, KM_RING_MISSED_EVENTS));
	ck_assert(page.missed && !page.missed_is_stored);
	/* A number without a loss is none. */
	ck_assert(begin(&page, &s, KM_RING_MISSED_STORED));
	ck_assert(!page.missed && !page.missed_is_stored);
	/* On 64 bits the kernel's negative int fills the upper half. */
	if (s.word == 8) {
		ck_assert(begin(&page, &s, UINT64_C(0xffffffff80000000)));
		ck_assert(page.missed && !page.missed_is_stored);
		expect(&page, &s, 1000, 4, 1);
	}
}
END_TEST

/* The count is behind the data, where there may be no room. */
START_TEST(lost_events_without_room)
{
	struct sheet s = new_sheet((unsigned)_i);
	struct km_ring_page page;

	for (s.at = PAGE - data_offset(&s) - s.word - 4; s.at <= PAGE - data_offset(&s); s.at += 4) {
		bool has_room = PAGE - data_offset(&s) - s.at >= s.word;

		ck_assert(begin(&page, &s, KM_RING_MISSED_EVENTS | KM_RING_MISSED_STORED));
		ck_assert(page.missed);
		ck_assert_int_eq(page.missed_is_stored, has_room);
	}
	ck_assert(!begin(&page, &s, 0)); /* more than a page holds */
	s.at = KM_RING_COMMIT_MASK;
	ck_assert(!begin(&page, &s, 0));
}
END_TEST

/* Each way in which a record may not fit: what came before is whole, then `damaged`. */
START_TEST(records_that_do_not_fit)
{
	static const struct {
		unsigned type_len;
		uint32_t delta, array0;
		unsigned words; /* that are there behind the header */
	} bad[] = {
		{ 2, 1, 0, 1 },           /* data shorter than it says */
		{ 28, 1, 0, 27 },         /* the same at its longest */
		{ 0, 1, 16, 3 },          /* long form: the same */
		{ 0, 1, 3, 1 },           /* long form: less than its own length */
		{ 0, 1, 0, 1 },           /* and none */
		{ 0, 1, 0xffffffff, 1 },  /* would wrap when rounded up */
		{ 0, 1, 0xfffffffd, 1 },  /* the same */
		{ 0, 1, 0, 0 },           /* no array[0] at all */
		{ 29, 1, 0, 1 },          /* discarded: no length */
		{ 29, 1, 0x7fffffff, 1 }, /* too long */
		{ 29, 1, 0, 0 },          /* no array[0] */
		{ 30, 1, 0, 0 },          /* TIME_EXTEND: the same */
		{ 31, 1, 0, 0 },          /* TIME_STAMP: the same */
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sheet s = new_sheet((unsigned)_i);
		struct km_ring_page page;

		put_record(&s, 3, 1, 1);
		put_header(&s, bad[i].type_len, bad[i].delta);
		if (bad[i].words)
			put(&s, data_offset(&s) + s.at, bad[i].array0, 4);
		s.at += 4 * bad[i].words;
		ck_assert(begin(&page, &s, 0));
		expect(&page, &s, 1003, 4, 1);
		expect_end(&page, &s, true);
	}
}
END_TEST

/* Less than a header is left over: damage, too. */
START_TEST(odd_end)
{
	struct sheet s = new_sheet((unsigned)_i);
	struct km_ring_page page;

	put_record(&s, 3, 1, 1);
	s.at += 2;
	ck_assert(begin(&page, &s, 0));
	expect(&page, &s, 1003, 4, 1);
	expect_end(&page, &s, true);
}
END_TEST

START_TEST(absolute_times_beyond_59_bits)
{
	const uint64_t top = UINT64_C(3) << 59;

	ck_assert_uint_eq(km_ring_absolute_time(5, 4), 5);
	ck_assert_uint_eq(km_ring_absolute_time(5, 6), 5); /* back, as the page says */
	ck_assert_uint_eq(km_ring_absolute_time(5, top + 4), top + 5);
	ck_assert_uint_eq(km_ring_absolute_time(5, top + 6), top + 5 + (UINT64_C(1) << 59)); /* has wrapped */
}
END_TEST

/* No byte of any page leads out of it: the page ends where its memory does. */
START_TEST(noise_stays_inside)
{
	uint64_t random = 88172645463325252U;
	unsigned variant = (unsigned)_i;

	for (unsigned round = 0; round < 4000; round++) {
		uint32_t bytes = 64U << round % 3;
		uint8_t *data = malloc(bytes);
		struct km_ring_page page;
		const uint8_t *payload;
		uint32_t length;

		ck_assert_ptr_nonnull(data);
		for (uint32_t i = 0; i < bytes; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			/* Mostly small numbers: random lengths never fit. */
			data[i] = (uint8_t)(random >> 32 & (random >> 40 & 1 ? 0x1f : 0xff));
		}
		memset(data + 8, 0, 8);
		data[variant & 1 ? (variant & 2 ? 11 : 15) : 8] = (uint8_t)(random >> 16);
		if (km_ring_page_begin(&page, data, bytes, 8, variant & 2 ? 4 : 8, variant & 2 ? 12 : 16, variant & 1))
			while (km_ring_page_next(&page, variant & 1, &payload, &length)) {
				ck_assert(payload >= data);
				ck_assert(payload + length <= data + bytes);
			}
		free(data);
	}
}
END_TEST

/* ---- kbuffer as the oracle ---- */

/* Compares one page; returns how many records it has. */
static unsigned compare_page(struct kbuffer *kbuf, const uint8_t *data, const struct km_tracedat *file,
			     uint32_t page_bytes)
{
	const struct km_page_header *header = &file->page_header;
	struct km_ring_page page;
	unsigned long long time;
	const uint8_t *payload;
	unsigned count = 0;
	uint8_t *copy = malloc(page_bytes); /* kbuffer writes to nothing, but its interface is not const */
	uint32_t bytes;
	void *theirs;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, data, page_bytes);
	ck_assert_int_eq(kbuffer_load_subbuffer(kbuf, copy), 0);
	ck_assert(km_ring_page_begin(&page, copy, page_bytes, header->commit_offset, header->commit_bytes,
				     header->data_offset, file->big_endian));
	ck_assert_int_eq(kbuffer_start_of_data(kbuf), (int)header->data_offset);
	ck_assert_int_eq(kbuffer_missed_events(kbuf), !page.missed            ? 0
						      : page.missed_is_stored ? (int)page.missed_count
									      : -1);
	for (theirs = kbuffer_read_event(kbuf, &time); theirs; theirs = kbuffer_next_event(kbuf, &time)) {
		ck_assert_msg(km_ring_page_next(&page, file->big_endian, &payload, &bytes), "kbuffer sees more");
		ck_assert_ptr_eq(payload, (uint8_t *)theirs);
		ck_assert_int_eq((int)bytes, kbuffer_event_size(kbuf));
		ck_assert_uint_eq(page.time, time);
		count++;
	}
	ck_assert_msg(!km_ring_page_next(&page, file->big_endian, &payload, &bytes), "kbuffer sees less");
	ck_assert(!page.damaged);
	free(copy);
	return count;
}

/* Every page of every CPU; returns the number of records. */
static unsigned compare_file(const void *data, size_t bytes)
{
	struct km_source *source = km_source_new_memory("test.dat", data, bytes);
	struct km_error error = { 0 };
	struct km_tracedat *file;
	struct kbuffer *kbuf;
	unsigned count = 0;

	ck_assert_msg(!km_tracedat_open(source, &file, &error), "%s", error.text);
	kbuf = kbuffer_alloc(file->page_header.commit_bytes == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
			     file->big_endian ? KBUFFER_ENDIAN_BIG : KBUFFER_ENDIAN_LITTLE);
	ck_assert_ptr_nonnull(kbuf);
	for (size_t b = 0; b < file->buffers_count; b++) {
		const struct km_tracedat_buffer *buffer = &file->buffers[b];

		for (size_t c = 0; c < buffer->cpus_count; c++) {
			struct km_tracedat_pages *pages = km_tracedat_pages_new(file, buffer, &buffer->cpus[c], 65536);
			const uint8_t *page;

			ck_assert_ptr_nonnull(pages);
			while (km_tracedat_pages_next(pages, &page, &error) == KM_PAGES_PAGE)
				count += compare_page(kbuf, page, file, buffer->page_bytes);
			ck_assert_msg(!error.code, "%s", error.text);
			km_tracedat_pages_free(pages);
		}
	}
	kbuffer_free(kbuf);
	km_tracedat_close(file);
	km_source_close(source);
	return count;
}

/* What the random stream leaves out. */
static unsigned add_specials(struct tw *tw, uint64_t time)
{
	uint64_t ips[40] = { 1, 2, 3 };
	unsigned i;

	for (i = 0; i < 300; i++, time += 50) {
		switch (i % 7) {
		case 0:
			tw_discard(tw, TW_TOP, 0, ++time);
			time++;
			break;
		case 1:
			tw_absolute(tw, TW_TOP, 0);
			break;
		case 2:
			time += UINT64_C(1) << (26 + i % 20);
			break;
		case 3:
			if (i % 5 == 0)
				tw_lost(tw, TW_TOP, 0, i % 2 ? (int64_t)i : -1);
			break;
		default:
			break;
		}
		tw_stack(tw, TW_TOP, 0, time, 42, i % 40, ips);
	}
	return i;
}

START_TEST(kbuffer_on_built_pages)
{
	static const unsigned pages[] = { 4096, 16384, 65536 };
	unsigned variant = (unsigned)_i;
	struct tw_options options = {
		.big_endian = variant & 1,
		.long_bytes = variant & 2 ? 4 : 8,
		.align8 = variant & 4,
		.pad_tail = variant & 8,
		.page_bytes = pages[variant % 3],
		.cpus = 2,
	};
	struct tw_stream stream = {
		.seed = variant, .events_count = 3000, .cpus = 2, .long_bytes = options.long_bytes
	};
	struct tw *tw = tw_new(&options);
	unsigned specials;
	size_t bytes;
	void *file;

	tw_stream_random(tw, &stream, NULL);
	specials = add_specials(tw, UINT64_C(1000000000000));
	file = tw_finish(tw, &bytes);
	ck_assert_uint_eq(compare_file(file, bytes), 3000 + specials);
	free(file);
	tw_free(tw);
}
END_TEST

START_TEST(kbuffer_on_fixtures)
{
	char *path = km_fixture_path(KM_TEST_DIR, "");
	struct dirent *entry;
	unsigned files = 0, records = 0;
	DIR *dir = opendir(path);

	ck_assert_ptr_nonnull(dir);
	free(path);
	while ((entry = readdir(dir))) {
		size_t length = strlen(entry->d_name), bytes;
		void *data;

		if (length < 4 || strcmp(entry->d_name + length - 4, ".dat"))
			continue;
		path = km_fixture_path(KM_TEST_DIR, entry->d_name);
		data = km_fixture_read(path, &bytes);
		ck_assert_ptr_nonnull(data);
		if (bytes > 10 && km_tracedat_probe(data, bytes)) {
			unsigned count = compare_file(data, bytes);

			ck_assert_msg(count > 0, "%s: no records", entry->d_name);
			records += count;
			files++;
		}
		free(data);
		free(path);
	}
	closedir(dir);
	ck_assert_uint_ge(files, 10);
	ck_assert_uint_gt(records, 100000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ring_page");
	TCase *tcase = tcase_create("ring_page");
	SRunner *runner;
	int failed;

	/* Little- and big-endian, 8- and 4-byte words. */
	tcase_add_loop_test(tcase, an_empty_page, 0, 4);
	tcase_add_loop_test(tcase, every_record_type, 0, 4);
	tcase_add_loop_test(tcase, lost_events, 0, 4);
	tcase_add_loop_test(tcase, lost_events_without_room, 0, 4);
	tcase_add_loop_test(tcase, records_that_do_not_fit, 0, 4);
	tcase_add_loop_test(tcase, odd_end, 0, 4);
	tcase_add_loop_test(tcase, noise_stays_inside, 0, 4);
	tcase_add_test(tcase, absolute_times_beyond_59_bits);
	tcase_add_loop_test(tcase, kbuffer_on_built_pages, 0, 16);
	tcase_add_test(tcase, kbuffer_on_fixtures);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
