/* SPDX-License-Identifier: GPL-2.0-only */
#include "page_frees.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate.h"
#include "analysis.h"
#include "read_back.h"
#include "testing.h"

#define BASE   UINT64_C(0xffff888000000000)
#define WINDOW 10

static struct km_event page_event(enum km_event_kind kind, uint64_t time, uint64_t frame, unsigned order)
{
	return (struct km_event){
		.kind = (uint8_t)kind, .time = time, .ptr = frame, .order = (uint8_t)order, .pid = 7, .cpu = 1
	};
}

static struct km_event alloc_event(uint64_t time, uint64_t ptr, uint64_t bytes)
{
	return (struct km_event){ .kind = KM_EVENT_KMALLOC,
				  .time = time,
				  .ptr = ptr,
				  .bytes_req = bytes,
				  .bytes_alloc = bytes,
				  .pid = 7,
				  .cpu = 1 };
}

/* A slab of 2^order pages is made for an object in it. */
static void make_slab(struct km_page_frees *frees, uint64_t base, unsigned shift, uint64_t frame, unsigned order)
{
	const struct km_event events[] = { page_event(KM_EVENT_PAGE_ALLOC, 1, frame, order),
					   alloc_event(1, base + (frame << shift) + 64, 64) };

	km_page_frees_account(frees, events, 2);
}

static struct km_page_frees *with_base(void)
{
	struct km_page_frees *frees = km_page_frees_new(4, WINDOW);

	ck_assert_ptr_nonnull(frees);
	for (uint64_t i = 0; i < KM_PAGE_FREES_VOTES; i++)
		make_slab(frees, BASE, 12, 0x100 + i * 8, (unsigned)i % 4);
	return frees;
}

static void free_pages(struct km_page_frees *frees, uint64_t time, uint64_t frame, unsigned order)
{
	const struct km_event event = page_event(KM_EVENT_PAGE_FREE, time, frame, order);

	km_page_frees_account(frees, &event, 1);
}

START_TEST(a_base_is_what_pages_agree_on)
{
	struct km_page_frees *frees = km_page_frees_new(4, 0);
	uint64_t base = 0;
	unsigned shift = 0;

	for (unsigned i = 0; i < KM_PAGE_FREES_VOTES; i++) {
		ck_assert(!km_page_frees_base(frees, &base, &shift));
		/* The same page says nothing new. */
		make_slab(frees, BASE, 12, 0x100 + i, 0);
		make_slab(frees, BASE, 12, 0x100 + i, 0);
	}
	ck_assert(km_page_frees_base(frees, &base, &shift));
	ck_assert_uint_eq(base, BASE);
	ck_assert_uint_eq(shift, 12);
	/* One that disagrees is a coincidence, two are a doubt. */
	make_slab(frees, BASE + (UINT64_C(1) << 30), 12, 0x200, 0);
	ck_assert(km_page_frees_base(frees, NULL, NULL));
	make_slab(frees, BASE + (UINT64_C(1) << 30), 12, 0x201, 0);
	ck_assert(!km_page_frees_base(frees, NULL, NULL));
	ck_assert(!km_page_frees_since(frees, BASE, 0));
	km_page_frees_free(frees);
	km_page_frees_free(NULL);
}
END_TEST

START_TEST(bases_of_all_machines)
{
	static const struct {
		uint64_t base;
		unsigned shift;
	} machines[] = { { 0, 12 },                              /* s390x */
			 { 0xc0000000, 12 },                     /* i386 */
			 { UINT64_C(0xff2b4a1200000000), 12 },   /* x86-64, five levels */
			 { UINT64_C(0xffff4e0d40000000), 12 },   /* arm64 */
			 { UINT64_C(0xffff000020000000), 16 },   /* with 64 KiB pages */
			 { UINT64_C(0xc000000000000000), 16 } }; /* ppc64 */

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		struct km_page_frees *frees = km_page_frees_new(4, 0);
		uint64_t base;
		unsigned shift;

		for (uint64_t k = 0; k < 3 * KM_PAGE_FREES_VOTES; k++)
			make_slab(frees, machines[i].base, machines[i].shift, 0x1234 + k * 4, k % 3 ? 0 : 2);
		ck_assert(km_page_frees_base(frees, &base, &shift));
		ck_assert_uint_eq(base, machines[i].base);
		ck_assert_uint_eq(shift, machines[i].shift);
		km_page_frees_free(frees);
	}
}
END_TEST

/* What is no allocation from new pages gives no base. */
START_TEST(coincidences_are_not_counted)
{
	struct km_page_frees *frees = km_page_frees_new(4, 0);

	for (uint64_t i = 0; i < 20; i++) {
		struct km_event events[] = { page_event(KM_EVENT_PAGE_ALLOC, 1, 0x100 + i, 0),
					     alloc_event(1, BASE + ((0x100 + i) << 12), 64),
					     alloc_event(1, BASE + ((0x100 + i) << 12), 64) };

		events[1].pid = 8; /* another task: an interrupt */
		km_page_frees_account(frees, events, 3);
		events[1].pid = 7;
		events[1].ptr = 0; /* it failed */
		km_page_frees_account(frees, events, 2);
		events[1] = page_event(KM_EVENT_PAGE_FREE, 1, 0x999, 0); /* something between them */
		km_page_frees_account(frees, events, 3);
		events[1] = alloc_event(1, BASE + ((0x100 + i) << 12), 64);
		events[1].cpu = 2;
		km_page_frees_account(frees, events, 2);
		/* Not aligned as a base is; larger than its pages; no page at all. */
		make_slab(frees, BASE + 4096, 12, 0x300 + i, 0);
		events[0] = page_event(KM_EVENT_PAGE_ALLOC, 1, 0x100 + i, 0);
		events[1] = alloc_event(1, BASE + ((0x100 + i) << 12), 1 << 20);
		km_page_frees_account(frees, events, 2);
		events[0] = page_event(KM_EVENT_PAGE_ALLOC, 1, UINT64_MAX, 0);
		events[1] = alloc_event(1, BASE - 4096, 64);
		km_page_frees_account(frees, events, 2);
	}
	ck_assert(!km_page_frees_base(frees, NULL, NULL));
	km_page_frees_free(frees);
}
END_TEST

START_TEST(a_page_freed_later_frees_what_is_in_it)
{
	struct km_page_frees *frees = with_base();
	uint64_t ptr = BASE + (0x2040 << 12) + 192;

	ck_assert(!km_page_frees_since(frees, ptr, 0));
	free_pages(frees, 1000, 0x2040, 0);
	ck_assert(km_page_frees_since(frees, ptr, 500));
	ck_assert(km_page_frees_since(frees, ptr, 1000 - WINDOW - 1));
	/* As far as clocks may differ, or before it was made. */
	ck_assert(!km_page_frees_since(frees, ptr, 1000 - WINDOW));
	ck_assert(!km_page_frees_since(frees, ptr, 1000));
	ck_assert(!km_page_frees_since(frees, ptr, 2000));
	/* Its neighbours are no concern of it. */
	ck_assert(!km_page_frees_since(frees, ptr + 4096, 500));
	ck_assert(!km_page_frees_since(frees, ptr - 4096, 500));
	ck_assert(!km_page_frees_since(frees, BASE - 1, 0));
	/* The last time counts. */
	free_pages(frees, 3000, 0x2040, 0);
	ck_assert(km_page_frees_since(frees, ptr, 2000));
	km_page_frees_free(frees);
}
END_TEST

START_TEST(blocks_are_freed_as_a_whole)
{
	struct km_page_frees *frees = with_base();

	free_pages(frees, 1000, 0x2040, 3);
	for (uint64_t i = 0; i < 8; i++)
		ck_assert(km_page_frees_since(frees, BASE + ((0x2040 + i) << 12), 500));
	ck_assert(!km_page_frees_since(frees, BASE + (UINT64_C(0x2048) << 12), 500));
	ck_assert(!km_page_frees_since(frees, BASE + (UINT64_C(0x203f) << 12), 500));
	/* Numbers that no page has. */
	free_pages(frees, 1000, UINT64_MAX, 0);
	free_pages(frees, 1000, 0x2080, 200);
	ck_assert(!km_page_frees_since(frees, BASE + (UINT64_C(0x2080) << 12), 500));
	km_page_frees_free(frees);
}
END_TEST

/* More than it has room for: what it still knows is right. */
START_TEST(old_frees_make_room)
{
	enum { FREES = 2000000 };

	struct km_page_frees *frees = with_base();
	uint64_t known = 0;

	for (uint64_t i = 0; i < FREES; i++)
		free_pages(frees, 1000 + i, 0x10000 + i, 0);
	for (uint64_t i = 0; i < FREES; i++) {
		bool is = km_page_frees_since(frees, BASE + ((0x10000 + i) << 12), 900);

		known += is;
		ck_assert(!km_page_frees_since(frees, BASE + ((0x10000 + i) << 12), 1000 + i));
	}
	ck_assert_uint_ge(known, 400000);
	ck_assert_uint_lt(known, FREES);
	ck_assert(km_page_frees_since(frees, BASE + ((UINT64_C(0x10000) + FREES - 1) << 12), 900));
	km_page_frees_free(frees);
}
END_TEST

/* --- from a recording --- */

static const char page_format[] = "name: %s\nID: %u\nformat:\n"
				  "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
				  "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
				  "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
				  "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
				  "\tfield:unsigned long %s;\toffset:8;\tsize:8;\tsigned:0;\n"
				  "\tfield:unsigned int order;\toffset:16;\tsize:4;\tsigned:0;\n\n"
				  "print fmt: \"\"\n";

static void add_format(struct tw *tw, const char *name, unsigned id, const char *field)
{
	char text[sizeof(page_format) + 64];

	snprintf(text, sizeof(text), page_format, name, id, field);
	tw_set_format(tw, "kmem", name, text);
}

static void add_page(struct tw *tw, uint16_t id, uint64_t time, uint64_t frame, uint32_t order, size_t bytes)
{
	uint8_t record[24] = { 0 };
	int32_t pid = 7;

	memcpy(record, &id, sizeof(id));
	memcpy(record + 4, &pid, sizeof(pid));
	memcpy(record + 8, &frame, sizeof(frame));
	memcpy(record + 16, &order, sizeof(order));
	tw_record(tw, TW_TOP, 0, time, record, bytes);
}

static void *recording(const char *field, size_t record_bytes, size_t *ret_bytes)
{
	struct tw *tw = tw_new(&(struct tw_options){ .kernel = TW_KERNEL_6_18, .clock = "global" });
	uint64_t time = 1000000;
	void *data;

	add_format(tw, "mm_page_alloc", 700, field);
	add_format(tw, "mm_page_free", 701, field);
	tw_kmalloc(tw, TW_TOP, 0, time += 10, 7, tw_function(8, 0) + 8, BASE, 64, 64, 0, -1);
	tw_kfree(tw, TW_TOP, 0, time += 10, 7, tw_function(8, 9), BASE);
	for (uint64_t i = 0; i < 6; i++) {
		uint64_t ptr = BASE + ((0x4000 + i * 2) << 12);

		add_page(tw, 700, time += 10, 0x4000 + i * 2, 1, record_bytes);
		tw_kmalloc(tw, TW_TOP, 0, time += 10, 7, tw_function(8, i % 2) + 8, ptr, 4096, 4096, 0, -1);
	}
	/* Of the first function two are in pages that are freed; one more page is freed before its object comes. */
	add_page(tw, 701, time += 1000, 0x4000, 1, record_bytes);
	add_page(tw, 701, time += 1000, 0x4004, 1, record_bytes);
	add_page(tw, 701, time += 1000, 0x5000, 0, record_bytes);
	tw_kmalloc(tw, TW_TOP, 0, time += 10, 7, tw_function(8, 3) + 8, BASE + (UINT64_C(0x5000) << 12), 64, 64, 0, -1);
	data = tw_finish(tw, ret_bytes);
	tw_free(tw);
	return data;
}

static uint64_t page_freed(const void *data, size_t bytes, bool has_pages, enum km_live_is *ret_first_is)
{
	const struct km_reader_options options = { .threads = 1, .has_pages = has_pages };
	const struct km_analysis_options analysis_options = { .has_leaks = true,
							      .has_page_frees = true,
							      .max_memory_bytes = 1 << 22 };
	struct km_reader *reader = km_read_back_open(data, bytes, &options);
	struct km_analysis *analysis;
	struct km_row row;
	uint64_t count;

	ck_assert_int_eq(km_analysis_run(reader, 0, &analysis_options, &analysis, NULL), 0);
	count = km_aggregate_page_freed_count(analysis->aggregate);
	ck_assert_uint_eq(analysis->stats->skipped_count, 0);
	ck_assert_int_eq(km_aggregate_row(analysis->aggregate, KM_AXIS_SITE, 0, false, &row), 0);
	ck_assert_uint_eq(row.sums.page_freed_count, count);
	ck_assert_uint_eq(row.sums.live_count, 3);
	*ret_first_is = row.live_is;
	km_row_release(&row);
	ck_assert_uint_eq(km_leaks_of_site(analysis->leaks, 0)->factors.page_freed_count, count);
	km_analysis_free(analysis);
	km_reader_close(reader);
	return count;
}

START_TEST(a_recording_tells)
{
	enum km_live_is is;
	size_t bytes;
	void *data = recording("pfn", 24, &bytes);

	ck_assert_uint_eq(page_freed(data, bytes, true, &is), 2);
	ck_assert_int_eq(is, KM_LIVE_UPPER_BOUND);
	ck_assert_uint_eq(page_freed(data, bytes, false, &is), 0);
	ck_assert_int_eq(is, KM_LIVE_CONSISTENT);
	free(data);
	/* Before 4.2 there was a struct page's address, which tells nothing. */
	data = recording("page", 24, &bytes);
	ck_assert_uint_eq(page_freed(data, bytes, true, &is), 0);
	free(data);
	/* Records that are too short are no fault. */
	data = recording("pfn", 12, &bytes);
	ck_assert_uint_eq(page_freed(data, bytes, true, &is), 0);
	free(data);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_base_is_what_pages_agree_on,
		bases_of_all_machines,
		coincidences_are_not_counted,
		a_page_freed_later_frees_what_is_in_it,
		blocks_are_freed_as_a_whole,
		old_frees_make_room,
		a_recording_tells,
		NULL,
	};

	return km_test_main("page_frees", tests, 60);
}
