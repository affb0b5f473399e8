/* SPDX-License-Identifier: GPL-2.0-only */
/* The container: sections, options, pages out of chunks; and what a damaged one is refused with. */
#include "tracedat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "testing.h"
#include "trace_writer.h"

/* Offsets in a file's first bytes */
#define AT_VERSION     10U
#define AT_ENDIAN      12U
#define AT_LONG        13U
#define AT_PAGE        14U
#define AT_COMPRESSION 18U

/* A built file and what was opened from it. */
struct opened {
	struct tw *tw;
	uint8_t *data;
	size_t bytes;
	struct km_source *source;
	struct km_tracedat *file;
	struct km_error error;
};

/* Ends tw, but for its offsets. */
static struct opened build(struct tw *tw)
{
	struct opened o = { .tw = tw };

	o.data = tw_finish(tw, &o.bytes);
	return o;
}

static int try_open(struct opened *o)
{
	km_tracedat_close(o->file);
	km_source_close(o->source);
	o->file = NULL;
	o->error = (struct km_error){ 0 };
	o->source = km_source_new_memory("built.dat", o->data, o->bytes);
	ck_assert_ptr_nonnull(o->source);
	return km_tracedat_open(o->source, &o->file, &o->error);
}

static struct opened open_built(struct tw *tw)
{
	struct opened o = build(tw);

	ck_assert_msg(!try_open(&o), "%s", o.error.text);
	return o;
}

static void release(struct opened *o)
{
	km_tracedat_close(o->file);
	km_source_close(o->source);
	free(o->data);
	tw_free(o->tw);
}

/* It must not open: the code, and words that the message must have. */
static void refused(struct opened *o, int code, const char *words)
{
	ck_assert_int_eq(try_open(o), code);
	ck_assert_int_eq(o->error.code, code);
	ck_assert_ptr_null(o->file);
	ck_assert_msg(strstr(o->error.text, "built.dat") && strstr(o->error.text, words), "\"%s\" lacks \"%s\"",
		      o->error.text, words);
}

/* Every form: version 6, then 7 with each compression; in each byte order and word size. */
#define FORMS 16

static struct tw_options form(unsigned i)
{
	static const enum tw_compression compressions[] = { TW_COMPRESSION_NONE, TW_COMPRESSION_NONE,
							    TW_COMPRESSION_ZLIB, TW_COMPRESSION_ZSTD };

	return (struct tw_options){
		.version = i % 4 ? 7 : 6,
		.compression = compressions[i % 4],
		.big_endian = i / 4 % 2,
		.long_bytes = i / 8 ? 4 : 8,
		.cpus = 2,
		.clock = "mono",
		.chunk_pages = 2,
	};
}

START_TEST(probe)
{
	ck_assert_int_eq(km_tracedat_probe((const uint8_t *)"\x17\x08\x44tracing7", 11), 1);
	ck_assert_int_eq(km_tracedat_probe((const uint8_t *)"\x17\x08\x44tracing7", 9), 0);
	ck_assert_int_eq(km_tracedat_probe((const uint8_t *)"\x17\x08\x44tracinG7", 11), 0);
	ck_assert_int_eq(km_tracedat_probe((const uint8_t *)"", 0), 0);
}
END_TEST

START_TEST(what_the_file_says)
{
	for (unsigned i = 0; i < FORMS; i++) {
		struct tw_options options = form(i);
		struct tw *tw = tw_new(&options);
		struct opened o;
		unsigned instance;

		tw_option_tsc2nsec(tw, 7, 3, 99);
		tw_option_offset(tw, "-1000000");
		tw_option(tw, 4711, "strange", 8);
		tw_option(tw, 24, "", 0);
		instance = tw_add_buffer(tw, "alpha", 16384, "global", 3);
		tw_cpustat(tw, TW_TOP, 1, 5, 6, 7);
		tw_cpustat(tw, instance, 0, 8, 9, 10);
		o = open_built(tw);
		ck_assert_uint_eq(o.file->version, options.version);
		ck_assert_int_eq(o.file->big_endian, options.big_endian);
		ck_assert_uint_eq(o.file->user_long_bytes, options.long_bytes);
		ck_assert_uint_eq(o.file->page_bytes, 4096);
		ck_assert_uint_eq(o.file->page_header.commit_bytes, options.long_bytes);
		ck_assert_uint_eq(o.file->page_header.data_offset, 8 + options.long_bytes);
		ck_assert_uint_eq(o.file->cpus_count, 2);
		ck_assert_ptr_nonnull(strstr(o.file->uname, "Linux testbox"));
		ck_assert_ptr_nonnull(o.file->generator);
		ck_assert_str_eq(o.file->clock, "mono");
		ck_assert(o.file->has_tsc2nsec);
		ck_assert_uint_eq(o.file->tsc_mult, 7);
		ck_assert_uint_eq(o.file->tsc_shift, 3);
		ck_assert_uint_eq(o.file->tsc_offset, 99);
		ck_assert_int_eq(o.file->time_offset_ns, -1000000);
		ck_assert_uint_eq(o.file->unknown_options_count, 2);
		ck_assert(!o.file->is_cut_short);
		ck_assert_uint_eq(o.file->buffers_count, 2);
		ck_assert_str_eq(o.file->buffers[0].name, "");
		ck_assert_str_eq(o.file->buffers[1].name, "alpha");
		ck_assert_str_eq(o.file->buffers[0].clock, "mono");
		/* Version 6 has one clock, page size and number of CPUs. */
		ck_assert_str_eq(o.file->buffers[1].clock, options.version == 7 ? "global" : "mono");
		ck_assert_uint_eq(o.file->buffers[1].page_bytes, options.version == 7 ? 16384 : 4096);
		ck_assert_uint_eq(o.file->buffers[1].cpus_count, options.version == 7 ? 3 : 2);
		ck_assert_uint_eq(o.file->buffers[0].stats_count, 1);
		ck_assert_uint_eq(o.file->buffers[0].stats[0].cpu, 1);
		ck_assert_uint_eq(o.file->buffers[0].stats[0].overrun, 5);
		ck_assert_uint_eq(o.file->buffers[0].stats[0].commit_overrun, 6);
		ck_assert_uint_eq(o.file->buffers[0].stats[0].dropped_events, 7);
		ck_assert_uint_eq(o.file->buffers[1].stats_count, 1);
		ck_assert_uint_eq(o.file->buffers[1].stats[0].overrun, 8);
		release(&o);
	}
}
END_TEST

struct visited {
	unsigned kmem, ftrace, others, stop_after;
	bool is_kmalloc_met;
};

static int visit(void *context, const char *system, const char *text, size_t bytes)
{
	struct visited *v = context;

	v->kmem += !strcmp(system, "kmem");
	v->ftrace += !strcmp(system, "ftrace");
	v->others += strcmp(system, "kmem") && strcmp(system, "ftrace");
	v->is_kmalloc_met |= bytes > 14 && !memcmp(text, "name: kmalloc\n", 14);
	return v->stop_after && !--v->stop_after ? 17 : 0;
}

START_TEST(blocks_and_formats)
{
	for (unsigned i = 0; i < FORMS; i++) {
		struct tw_options options = form(i);
		struct opened o = open_built(tw_new(&options));
		struct visited v = { 0 };
		const char *text;
		size_t bytes, text_bytes;
		char *data;

		ck_assert_int_eq(km_tracedat_load(o.file, &o.file->kallsyms, &data, &bytes, &o.error), 0);
		text = km_tracedat_block_text(o.file, data, bytes, 4, &text_bytes);
		ck_assert_ptr_nonnull(memmem(text, text_bytes, "T kernel_fn_00\n", 15));
		ck_assert_uint_eq(text_bytes, bytes - 4);
		free(data);

		ck_assert_int_eq(km_tracedat_load(o.file, &o.file->cmdlines, &data, &bytes, &o.error), 0);
		text = km_tracedat_block_text(o.file, data, bytes, 8, &text_bytes);
		ck_assert(text_bytes > 10 && !memcmp(text, "1 systemd\n", 10));
		free(data);

		ck_assert_int_eq(km_tracedat_load(o.file, &o.file->event_formats, &data, &bytes, &o.error), 0);
		ck_assert_int_eq(km_tracedat_each_format(o.file, false, data, bytes, visit, &v), 0);
		ck_assert_uint_eq(v.kmem, 4);
		ck_assert_uint_eq(v.ftrace, 0);
		ck_assert_uint_gt(v.others, 0);
		ck_assert(v.is_kmalloc_met);
		v.stop_after = 2;
		ck_assert_int_eq(km_tracedat_each_format(o.file, false, data, bytes, visit, &v), 17);
		/* A table that is cut: what is whole is visited, then it is an error. */
		v = (struct visited){ 0 };
		ck_assert_int_eq(km_tracedat_each_format(o.file, false, data, bytes - 1, visit, &v), -EBADMSG);
		ck_assert_uint_gt(v.kmem, 0);
		free(data);

		v = (struct visited){ 0 };
		ck_assert_int_eq(km_tracedat_load(o.file, &o.file->ftrace_formats, &data, &bytes, &o.error), 0);
		ck_assert_int_eq(km_tracedat_each_format(o.file, true, data, bytes, visit, &v), 0);
		ck_assert_uint_eq(v.ftrace, 2);
		free(data);
		release(&o);
	}
}
END_TEST

START_TEST(what_is_not_there)
{
	for (unsigned version = 6; version <= 7; version++) {
		struct tw_options options = { .version = version,
					      .omit = TW_OMIT_UNAME | TW_OMIT_TRACECLOCK | TW_OMIT_VERSION |
						      TW_OMIT_KALLSYMS | TW_OMIT_CMDLINES | TW_OMIT_PRINTK };
		struct opened o = open_built(tw_new(&options));
		size_t bytes = 77;
		char *data;

		ck_assert_ptr_null(o.file->uname);
		ck_assert_ptr_null(o.file->generator);
		ck_assert_ptr_null(o.file->clock);
		ck_assert_int_eq(o.file->kallsyms.present, version == 6); /* there it is empty */
		ck_assert_int_eq(km_tracedat_load(o.file, &o.file->kallsyms, &data, &bytes, &o.error), 0);
		ck_assert_uint_eq(bytes, version == 6 ? 4 : 0);
		ck_assert_int_eq(data != NULL, version == 6);
		free(data);
		release(&o);
	}
	/* Of version 7 the top buffer's clock is its own; there is no text of sizes less than a size. */
	{
		struct km_tracedat file = { 0 };
		size_t bytes = 1;

		ck_assert_ptr_null(km_tracedat_block_text(&file, "abc", 3, 4, &bytes));
		ck_assert_uint_eq(bytes, 0);
		/* A size beyond the block is cut to it. */
		ck_assert_ptr_nonnull(km_tracedat_block_text(&file,
							     "\xff\xff\xff\x7f"
							     "abc",
							     7, 4, &bytes));
		ck_assert_uint_eq(bytes, 3);
	}
}
END_TEST

/* ---- pages ---- */

/* A page that tells its number. */
static void add_page(struct tw *tw, unsigned cpu, uint32_t number)
{
	uint8_t page[4096] = { 0 };

	memcpy(page, &number, sizeof(number));
	for (unsigned i = 64; i < sizeof(page); i += 8)
		page[i] = (uint8_t)(number + i);
	tw_raw_page(tw, TW_TOP, cpu, page);
}

static struct km_tracedat_pages *pages_of(struct opened *o, unsigned cpu, size_t buffer_bytes)
{
	struct km_tracedat_buffer *buffer = &o->file->buffers[0];
	struct km_tracedat_pages *pages = km_tracedat_pages_new(o->file, buffer, &buffer->cpus[cpu], buffer_bytes);

	ck_assert_ptr_nonnull(pages);
	return pages;
}

static int next(struct km_tracedat_pages *pages, uint32_t *ret_number)
{
	struct km_error error = { 0 };
	const uint8_t *page;
	int r = km_tracedat_pages_next(pages, &page, &error);

	ck_assert_int_ge(r, 0);
	if (r == KM_PAGES_PAGE)
		memcpy(ret_number, page, sizeof(*ret_number));
	return r;
}

/* Pages from..to in order, then `end`, then nothing. */
static void expect_pages(struct km_tracedat_pages *pages, uint32_t from, uint32_t to, int end)
{
	uint32_t number;

	for (uint32_t i = from; i < to; i++) {
		ck_assert_int_eq(next(pages, &number), KM_PAGES_PAGE);
		ck_assert_uint_eq(number, i);
	}
	ck_assert_int_eq(next(pages, &number), end);
	ck_assert_int_eq(next(pages, &number), KM_PAGES_END);
}

static struct opened with_pages(unsigned i, uint32_t count)
{
	struct tw_options options = form(i);
	struct tw *tw = tw_new(&options);

	for (uint32_t n = 0; n < count; n++)
		add_page(tw, 0, n);
	return open_built(tw);
}

START_TEST(pages_in_order)
{
	for (unsigned i = 0; i < FORMS; i++) {
		for (size_t buffer_bytes = 0; buffer_bytes <= 65536; buffer_bytes += 10000) {
			struct opened o = with_pages(i, 9);
			struct km_tracedat_pages *pages = pages_of(&o, 0, buffer_bytes);

			expect_pages(pages, 0, 9, KM_PAGES_END);
			km_tracedat_pages_free(pages);
			pages = pages_of(&o, 1, buffer_bytes); /* a CPU without any */
			expect_pages(pages, 0, 0, KM_PAGES_END);
			km_tracedat_pages_free(pages);
			release(&o);
		}
	}
}
END_TEST

/* Blocks are pages, or chunks of two. */
START_TEST(tail_of_pages)
{
	for (unsigned i = 0; i < FORMS; i++) {
		uint32_t each = form(i).compression == TW_COMPRESSION_NONE ? 1 : 2;
		struct opened o = with_pages(i, 8);
		struct km_tracedat_pages *pages = pages_of(&o, 0, 65536);
		uint32_t number;

		for (uint32_t blocks = 1; blocks <= 12; blocks++) {
			uint32_t tail = blocks * each < 8 ? blocks * each : 8;

			next(pages, &number); /* wherever it is */
			ck_assert_int_eq(km_tracedat_pages_seek_tail(pages, blocks, &o.error), tail < 8);
			expect_pages(pages, 8 - tail, 8, KM_PAGES_END);
		}
		km_tracedat_pages_free(pages);
		pages = pages_of(&o, 1, 65536);
		ck_assert_int_eq(km_tracedat_pages_seek_tail(pages, 1, &o.error), 0);
		expect_pages(pages, 0, 0, KM_PAGES_END);
		km_tracedat_pages_free(pages);
		release(&o);
	}
}
END_TEST

/* What stands in a BUFFER option of version 7 for a CPU: u32 number, u64 offset, u64 size. Returns the size's place. */
static uint8_t *size_in_option(const struct opened *o, unsigned cpu)
{
	const struct km_tracedat_cpu *c = &o->file->buffers[0].cpus[cpu];
	bool swap = o->file->big_endian;
	uint8_t text[20];
	uint32_t number = swap ? __builtin_bswap32(cpu) : cpu;
	uint64_t offset = swap ? __builtin_bswap64(c->offset) : c->offset;
	uint64_t bytes = swap ? __builtin_bswap64(c->bytes) : c->bytes;
	uint8_t *found;

	memcpy(text, &number, 4);
	memcpy(text + 4, &offset, 8);
	memcpy(text + 12, &bytes, 8);
	found = memmem(o->data, o->bytes, text, sizeof(text));
	ck_assert_ptr_nonnull(found);
	return found + 12;
}

/* trace-cmd before 3.3 did not count the 4 bytes that tell the number of chunks. */
START_TEST(size_without_the_number_of_chunks)
{
	for (unsigned i = 0; i < FORMS; i++) {
		struct km_tracedat_pages *pages;
		struct opened o;
		uint64_t bytes;
		uint8_t *at;

		if (form(i).compression == TW_COMPRESSION_NONE)
			continue;
		o = with_pages(i, 7);
		at = size_in_option(&o, 0);
		bytes = km_load64(at, o.file->big_endian) - 4;
		bytes = o.file->big_endian ? __builtin_bswap64(bytes) : bytes;
		memcpy(at, &bytes, 8);
		ck_assert_int_eq(try_open(&o), 0);
		pages = pages_of(&o, 0, 65536);
		expect_pages(pages, 0, 7, KM_PAGES_END);
		ck_assert_int_eq(km_tracedat_pages_seek_tail(pages, 1, &o.error), 1);
		expect_pages(pages, 6, 7, KM_PAGES_END);
		km_tracedat_pages_free(pages);
		release(&o);
	}
}
END_TEST

START_TEST(damaged_chunk)
{
	for (unsigned i = 0; i < FORMS; i++) {
		struct km_tracedat_pages *pages;
		struct opened o;
		uint32_t number;
		uint8_t *chunk;

		if (form(i).compression == TW_COMPRESSION_NONE)
			continue;
		o = with_pages(i, 6);
		chunk = o.data + o.file->buffers[0].cpus[0].offset + 4;
		chunk += 8 + km_load32(chunk, o.file->big_endian); /* the second of three */
		memset(chunk + 8, 0xa5, 8);
		pages = pages_of(&o, 0, 65536);
		ck_assert_int_eq(next(pages, &number), KM_PAGES_PAGE);
		ck_assert_int_eq(next(pages, &number), KM_PAGES_PAGE);
		ck_assert_uint_eq(number, 1);
		ck_assert_int_eq(next(pages, &number), KM_PAGES_DAMAGED);
		ck_assert_uint_eq(km_tracedat_pages_offset(pages), (uint64_t)(chunk - o.data));
		expect_pages(pages, 4, 6, KM_PAGES_END);
		km_tracedat_pages_free(pages);

		/* A size that is not whole pages; one beyond the limit; none. */
		for (unsigned k = 0; k < 3; k++) {
			static const uint8_t sizes[][4] = { { 0x20, 1, 1, 0x20 }, { 0xff, 0, 0, 0xff }, { 0 } };

			memcpy(chunk + 4, sizes[k], 4);
			pages = pages_of(&o, 0, 65536);
			next(pages, &number);
			next(pages, &number);
			ck_assert_int_eq(next(pages, &number), KM_PAGES_DAMAGED);
			expect_pages(pages, 4, 6, KM_PAGES_END);
			km_tracedat_pages_free(pages);
		}

		/* A packed size that leads behind the CPU's data: no way on from there. */
		memset(chunk, 0x7f, 4);
		pages = pages_of(&o, 0, 65536);
		expect_pages(pages, 0, 2, KM_PAGES_CUT);
		km_tracedat_pages_free(pages);

		/* More chunks than there are. */
		chunk = o.data + o.file->buffers[0].cpus[0].offset;
		memset(chunk, 0x11, 4);
		pages = pages_of(&o, 0, 65536);
		expect_pages(pages, 0, 2, KM_PAGES_CUT);
		ck_assert_int_eq(km_tracedat_pages_seek_tail(pages, 1, &o.error), 1);
		km_tracedat_pages_free(pages);
		release(&o);
	}
}
END_TEST

/* A file that ends inside a CPU's data: the whole pages before, then KM_PAGES_CUT. Version 6 has its tables first. */
START_TEST(cut_in_the_pages)
{
	struct opened o = with_pages(0, 5);
	struct km_tracedat_pages *pages;
	uint64_t start = o.file->buffers[0].cpus[0].offset;

	for (uint32_t keep = 0; keep < 5; keep++) {
		for (unsigned more = 0; more < 4096; more += 1365) {
			o.bytes = start + 4096 * keep + more;
			ck_assert_int_eq(try_open(&o), 0);
			ck_assert(o.file->is_cut_short);
			pages = pages_of(&o, 0, 65536);
			expect_pages(pages, 0, keep, KM_PAGES_CUT);
			ck_assert_int_eq(km_tracedat_pages_seek_tail(pages, 1, &o.error), keep > 1);
			km_tracedat_pages_free(pages);
		}
	}
	release(&o);
}
END_TEST

/* The number of CPUs and the page size are only what the file says: no room is taken for pages that are not there. */
START_TEST(huge_pages_cost_nothing)
{
	struct opened o = with_pages(1, 3);
	struct km_tracedat_pages *many[512];

	o.file->buffers[0].page_bytes = KM_TRACEDAT_PAGE_LIMIT;
	for (unsigned i = 0; i < 512; i++)
		many[i] = pages_of(&o, 0, KM_TRACEDAT_PAGE_LIMIT);
	expect_pages(many[0], 0, 0, KM_PAGES_CUT);
	for (unsigned i = 0; i < 512; i++)
		km_tracedat_pages_free(many[i]);
	release(&o);
}
END_TEST

/* ---- what is refused ---- */

START_TEST(bad_first_bytes)
{
	static const struct {
		unsigned at;
		const char *bytes;
		unsigned count;
		int code;
		const char *words;
	} bad[] = {
		{ 3, "T", 1, -EBADMSG, "not a trace.dat file" },
		{ AT_VERSION, "8", 1, -ENOTSUP, "version \"8\"" },
		{ AT_VERSION, "\0", 1, -ENOTSUP, "version \"\"" },
		{ AT_VERSION, "7777777777777777777777", 22, -EBADMSG, "a string without an end at offset" },
		{ AT_ENDIAN, "\2", 1, -EBADMSG, "byte order" },
		{ AT_LONG, "\5", 1, -EBADMSG, "word size" },
		{ AT_PAGE, "\0\0\0\0", 4, -EBADMSG, "page size" },
		{ AT_PAGE, "\1\20\0\0", 4, -EBADMSG, "page size" },
		{ AT_PAGE, "\0\0\0\x40", 4, -EBADMSG, "page size" },
		{ AT_COMPRESSION, "lzma", 4, -ENOTSUP, "\"lzma\"" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct opened o = build(tw_new(&(struct tw_options){ 0 }));

		memcpy(o.data + bad[i].at, bad[i].bytes, bad[i].count);
		refused(&o, bad[i].code, bad[i].words);
		release(&o);
	}
}
END_TEST

START_TEST(no_more_than_the_start)
{
	for (unsigned i = 0; i < FORMS; i++) {
		struct tw_options options = form(i);
		struct opened o = build(tw_new(&options));

		for (o.bytes = 0; o.bytes < 40; o.bytes++)
			refused(&o, -EBADMSG, "");
		release(&o);
	}
}
END_TEST

/* Version 7: where the options are, in the header behind the compression's name and version. */
START_TEST(options_that_lead_nowhere)
{
	struct opened o = build(tw_new(&(struct tw_options){ 0 }));
	uint8_t *first = o.data + AT_COMPRESSION + sizeof("none");
	uint64_t place, next_at, section_bytes;

	first += strlen((char *)first) + 1;
	memcpy(&place, first, 8);
	/* Behind the end: as of a file that is cut. */
	memset(first, 0x7f, 8);
	refused(&o, -EBADMSG, "cut short before its tables");
	memset(first, 0, 8);
	refused(&o, -EBADMSG, "no header_page section");
	/* A section of another kind. */
	next_at = 0;
	memcpy(first, &next_at, 8);
	next_at = 2;
	memcpy(first, &next_at, 8);
	refused(&o, -EBADMSG, "another kind");
	/* The options name themselves as what comes next. */
	memcpy(first, &place, 8);
	memcpy(&section_bytes, o.data + place + 8, 8);
	memcpy(o.data + place + 16 + section_bytes - 8, &place, 8);
	refused(&o, -EBADMSG, "circle");
	/* DONE is missing. */
	section_bytes -= 14;
	memcpy(o.data + place + 8, &section_bytes, 8);
	refused(&o, -EBADMSG, "without an end");
	release(&o);
}
END_TEST

/* A section that says it is compressed into nearly nothing and holds more than any does. */
START_TEST(huge_section)
{
	struct opened o = open_built(tw_new(&(struct tw_options){ .compression = TW_COMPRESSION_ZSTD }));
	uint64_t at = o.file->kallsyms.offset;

	memset(o.data + at - 4, 0xff, 4); /* its plain size */
	refused(&o, -EBADMSG, "impossible size");
	o.data[at - 1] = 0;
	o.data[at - 2] = 0; /* now only 64 KiB, which it is not */
	ck_assert_int_eq(try_open(&o), 0);
	{
		size_t bytes;
		char *data;

		ck_assert_int_eq(km_tracedat_load(o.file, &o.file->kallsyms, &data, &bytes, &o.error), -EBADMSG);
		ck_assert_ptr_nonnull(strstr(o.error.text, "can not be decompressed (zstd)"));
	}
	memset(o.data + at - 8, 0xff, 4); /* its packed size */
	refused(&o, -EBADMSG, "larger than its place");
	release(&o);
}
END_TEST

START_TEST(no_header_page)
{
	struct opened o = build(tw_new(&(struct tw_options){ .omit = TW_OMIT_HEADERS }));

	refused(&o, -EBADMSG, "no header_page section");
	release(&o);
	o = build(tw_new(&(struct tw_options){ .omit = TW_OMIT_HEADERS, .version = 6 }));
	refused(&o, -EBADMSG, "header_page");
	release(&o);
	o = build(tw_new(&(struct tw_options){ .header_page = "\tfield: u64 nonsense;\n" }));
	refused(&o, -EBADMSG, "timestamp");
	release(&o);
}
END_TEST

/* A BUFFER option that says more than it holds, or what can't be. */
START_TEST(damaged_buffer_option)
{
	struct opened o = open_built(tw_new(&(struct tw_options){ .cpus = 2 }));
	uint8_t *size = size_in_option(&o, 0), *cpus = size - 16, *page = cpus - 4;
	uint8_t kept[8];

	memcpy(kept, cpus, 4);
	cpus[0] = 9;
	refused(&o, -EBADMSG, "table of CPUs");
	memset(cpus, 0xff, 4);
	refused(&o, -EBADMSG, "damaged BUFFER option");
	memcpy(cpus, kept, 4);
	memcpy(kept, page, 4);
	memset(page, 0, 4);
	refused(&o, -EBADMSG, "damaged BUFFER option");
	memcpy(page, kept, 4);
	memset(size - 12, 0xff, 4); /* the CPU's number */
	refused(&o, -EBADMSG, "table of CPUs");
	release(&o);
}
END_TEST

START_TEST(close_takes_null)
{
	km_tracedat_close(NULL);
	km_tracedat_pages_free(NULL);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		probe,
		what_the_file_says,
		blocks_and_formats,
		what_is_not_there,
		pages_in_order,
		tail_of_pages,
		size_without_the_number_of_chunks,
		damaged_chunk,
		cut_in_the_pages,
		huge_pages_cost_nothing,
		bad_first_bytes,
		no_more_than_the_start,
		options_that_lead_nowhere,
		huge_section,
		no_header_page,
		damaged_buffer_option,
		close_takes_null,
		NULL,
	};

	return km_test_main("tracedat", tests, 60);
}
