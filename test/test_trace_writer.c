/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trace writer is itself tested: bytes against what ring_buffer.c would
 * write, and, where libtracecmd is there, whole files against it.
 */
#include "trace_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "fixture.h"
#include "testing.h"

static uint64_t get_le(const uint8_t *p, unsigned bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | p[bytes];
	return value;
}

static uint64_t get_be(const uint8_t *p, unsigned bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *p++;
	return value;
}

/* The first page of a CPU in an uncompressed file, copied. */
static uint8_t *first_page(struct tw *tw, unsigned buffer, unsigned cpu, size_t page_bytes)
{
	size_t bytes;
	uint8_t *file = tw_finish(tw, &bytes), *page = malloc(page_bytes);

	ck_assert_ptr_nonnull(page);
	ck_assert_uint_le(tw_data_offset(tw, buffer, cpu) + page_bytes, bytes);
	memcpy(page, file + tw_data_offset(tw, buffer, cpu), page_bytes);
	free(file);
	return page;
}

START_TEST(page_little_endian_64)
{
	struct tw *tw = tw_new(&(struct tw_options){ 0 });
	uint8_t *page;

	tw_kfree(tw, TW_TOP, 0, 5000, 42, 0x1111, 0x2222);
	tw_kfree(tw, TW_TOP, 0, 5007, 42, 0x1111, 0x3333);
	page = first_page(tw, TW_TOP, 0, 4096);
	ck_assert_uint_eq(get_le(page, 8), 5000);
	ck_assert_uint_eq(get_le(page + 8, 8), 2 * 28);
	ck_assert_uint_eq(get_le(page + 16, 4), 24 / 4); /* type_len, delta 0 */
	ck_assert_uint_eq(get_le(page + 16 + 4 + 4, 4), 42);
	ck_assert_uint_eq(get_le(page + 16 + 4 + 8, 8), 0x1111);
	ck_assert_uint_eq(get_le(page + 16 + 4 + 16, 8), 0x2222);
	ck_assert_uint_eq(get_le(page + 44, 4), 7 << 5 | 24 / 4);
	ck_assert_uint_eq(get_le(page + 72, 4), 0);
	free(page);
	tw_free(tw);
}
END_TEST

START_TEST(page_big_endian_32)
{
	struct tw *tw = tw_new(&(struct tw_options){ .big_endian = true, .long_bytes = 4, .version = 6 });
	uint8_t *page;

	tw_kfree(tw, TW_TOP, 0, 5000, 42, 0x1111, 0x2222);
	tw_kfree(tw, TW_TOP, 0, 5007, 42, 0x1111, 0x3333);
	page = first_page(tw, TW_TOP, 0, 4096);
	ck_assert_uint_eq(get_be(page, 8), 5000);
	ck_assert_uint_eq(get_be(page + 8, 4), 2 * 20);
	ck_assert_uint_eq(get_be(page + 12, 4), UINT32_C(4) << 27);
	ck_assert_uint_eq(get_be(page + 16 + 8, 4), 0x1111);
	ck_assert_uint_eq(get_be(page + 32, 4), UINT32_C(4) << 27 | 7);
	free(page);
	tw_free(tw);
}
END_TEST

START_TEST(page_stamps_and_padding)
{
	struct tw *tw = tw_new(&(struct tw_options){ .pad_tail = true });
	const uint64_t far = UINT64_C(1) << 27;
	uint8_t *page;
	size_t at = 16;

	tw_kfree(tw, TW_TOP, 0, 1000, 42, 1, 2);
	tw_kfree(tw, TW_TOP, 0, 1000 + far, 42, 1, 2);
	tw_discard(tw, TW_TOP, 0, 1010 + far);
	tw_absolute(tw, TW_TOP, 0);
	tw_kfree(tw, TW_TOP, 0, 1011 + far, 42, 1, 2);
	page = first_page(tw, TW_TOP, 0, 4096);
	at += 28;
	ck_assert_uint_eq(get_le(page + at, 4), 30); /* TIME_EXTEND, low 27 bits 0 */
	ck_assert_uint_eq(get_le(page + at + 4, 4), 1);
	at += 8;
	ck_assert_uint_eq(get_le(page + at, 4), 6);
	at += 28;
	ck_assert_uint_eq(get_le(page + at, 4), 10 << 5 | 29);
	ck_assert_uint_eq(get_le(page + at + 4, 4), 56);
	at += 60;
	ck_assert_uint_eq(get_le(page + at, 4), 1011 << 5 | 31);
	ck_assert_uint_eq(get_le(page + at + 4, 4), 1);
	ck_assert_uint_eq(get_le(page + at + 8, 4), 6);
	ck_assert_uint_eq(get_le(page + 8, 8), at + 8 + 28 - 16); /* not a full page: no padding */
	free(page);
	tw_free(tw);
}
END_TEST

/* 145 events of 28 bytes leave 20 of 4080. */
START_TEST(page_tail)
{
	struct tw_options options = { 0 };
	unsigned i, variant;
	uint8_t *page;

	for (variant = 0; variant < 2; variant++) {
		struct tw *tw;

		options.pad_tail = variant;
		tw = tw_new(&options);
		for (i = 0; i < 146; i++)
			tw_kfree(tw, TW_TOP, 0, i, 42, 1, 2);
		page = first_page(tw, TW_TOP, 0, 4096);
		ck_assert_uint_eq(tw_data_bytes(tw, TW_TOP, 0), 8192);
		ck_assert_uint_eq(get_le(page + 8, 8), variant ? 4080 : 4060);
		ck_assert_uint_eq(get_le(page + 16 + 4060, 4), variant ? 1 << 5 | 29 : 0);
		ck_assert_uint_eq(get_le(page + 16 + 4064, 4), variant ? 16 : 0);
		free(page);
		tw_free(tw);
	}
}
END_TEST

START_TEST(long_form)
{
	struct tw *tw = tw_new(&(struct tw_options){ .align8 = true });
	uint64_t ips[20] = { 0 };
	uint8_t *page;

	tw_kfree(tw, TW_TOP, 0, 1, 42, 1, 2);
	page = first_page(tw, TW_TOP, 0, 4096);
	ck_assert_uint_eq(get_le(page + 8, 8), 32);
	ck_assert_uint_eq(get_le(page + 16, 4), 0);
	ck_assert_uint_eq(get_le(page + 20, 4), 28);
	ck_assert_uint_eq(get_le(page + 24 + 4, 4), 42);
	free(page);
	tw_free(tw);

	/* A record over 112 bytes has it anyway. */
	tw = tw_new(&(struct tw_options){ 0 });
	tw_stack(tw, TW_TOP, 0, 1, 42, 20, ips);
	page = first_page(tw, TW_TOP, 0, 4096);
	ck_assert_uint_eq(get_le(page + 16, 4), 0);
	ck_assert_uint_eq(get_le(page + 20, 4), 4 + 16 + 20 * 8);
	free(page);
	tw_free(tw);
}
END_TEST

START_TEST(lost_marks)
{
	struct tw *tw = tw_new(&(struct tw_options){ 0 });
	uint8_t *file, *pages;
	size_t bytes;

	tw_lost(tw, TW_TOP, 0, 77);
	tw_kfree(tw, TW_TOP, 0, 1, 42, 1, 2);
	tw_lost(tw, TW_TOP, 0, -1);
	tw_kfree(tw, TW_TOP, 0, 2, 42, 1, 2);
	/* No room for the number: 144 events of 28 bytes and one of 44 leave 4. */
	tw_lost(tw, TW_TOP, 0, 5);
	while (tw_events_count(tw, TW_TOP, 0) < 2 + 144)
		tw_kfree(tw, TW_TOP, 0, 3, 42, 1, 2);
	tw_record(tw, TW_TOP, 0, 3, "0123456789012345678901234567890123456789", 40);
	file = tw_finish(tw, &bytes);
	ck_assert_uint_eq(tw_data_bytes(tw, TW_TOP, 0), 3 * 4096);
	pages = file + tw_data_offset(tw, TW_TOP, 0);
	ck_assert_uint_eq(get_le(pages + 8, 8), UINT64_C(0xffffffffc0000000) + 28);
	ck_assert_uint_eq(get_le(pages + 16 + 28, 8), 77);
	ck_assert_uint_eq(get_le(pages + 4096 + 8, 8), UINT64_C(0xffffffff80000000) + 28);
	ck_assert_uint_eq(get_le(pages + 8192 + 8, 8), UINT64_C(0xffffffff80000000) + 4076);
	free(file);
	tw_free(tw);
}
END_TEST

static bool file_contains(const struct tw_options *options, const char *name, const char *format, const char *text)
{
	struct tw *tw = tw_new(options);
	size_t bytes;
	void *file;
	bool found;

	if (name)
		tw_set_format(tw, "kmem", name, format);
	file = tw_finish(tw, &bytes);
	found = memmem(file, bytes, text, strlen(text));
	free(file);
	tw_free(tw);
	return found;
}

START_TEST(formats_and_omissions)
{
	struct tw_options options = { 0 };

	for (options.version = 6; options.version <= 7; options.version++) {
		options.omit = 0;
		ck_assert(file_contains(&options, NULL, NULL, "name: kfree\n"));
		ck_assert(!file_contains(&options, "kfree", NULL, "name: kfree\n"));
		ck_assert(!file_contains(&options, "kfree", "broken", "name: kfree\n"));
		ck_assert(file_contains(&options, "kfree", "broken", "broken"));
		ck_assert(file_contains(&options, "new", "another", "another"));
		ck_assert(file_contains(&options, NULL, NULL, "kernel_fn_00"));
		ck_assert(file_contains(&options, NULL, NULL, "Linux testbox"));
		options.omit = TW_OMIT_KALLSYMS | TW_OMIT_UNAME;
		ck_assert(!file_contains(&options, NULL, NULL, "kernel_fn_00"));
		ck_assert(!file_contains(&options, NULL, NULL, "Linux testbox"));
	}
}
END_TEST

static void *random_file(const struct tw_options *options, const struct tw_stream *stream, size_t *ret_bytes)
{
	struct tw *tw = tw_new(options);
	void *file;

	tw_stream_random(tw, stream, NULL);
	file = tw_finish(tw, ret_bytes);
	tw_free(tw);
	return file;
}

START_TEST(same_calls_same_bytes)
{
	struct tw_options options = { .compression = TW_COMPRESSION_ZSTD, .cpus = 3 };
	struct tw_stream stream = { .seed = 7, .events_count = 3000, .cpus = 3 };
	size_t a_bytes, b_bytes;
	void *a = random_file(&options, &stream, &a_bytes), *b = random_file(&options, &stream, &b_bytes);

	ck_assert_uint_eq(a_bytes, b_bytes);
	ck_assert_mem_eq(a, b, a_bytes);
	free(a);
	free(b);
}
END_TEST

/* Debian's libtracecmd has no zlib, so the chunks are checked by hand. */
START_TEST(zlib_chunks)
{
	struct tw_stream stream = { .seed = 3, .events_count = 5000 };
	struct tw *plain = tw_new(&(struct tw_options){ 0 });
	struct tw *packed = tw_new(&(struct tw_options){ .compression = TW_COMPRESSION_ZLIB, .big_endian = false });
	size_t plain_bytes, packed_bytes, done = 0;
	uint8_t *plain_file, *packed_file, *in, *out;
	uint64_t chunks;

	tw_stream_random(plain, &stream, NULL);
	tw_stream_random(packed, &stream, NULL);
	plain_file = tw_finish(plain, &plain_bytes);
	packed_file = tw_finish(packed, &packed_bytes);
	ck_assert_mem_eq(packed_file + 18,
			 "zlib\0"
			 "1.2.13",
			 12);
	in = packed_file + tw_data_offset(packed, TW_TOP, 0);
	out = malloc(plain_bytes);
	ck_assert_ptr_nonnull(out);
	chunks = get_le(in, 4);
	ck_assert_uint_gt(chunks, 3);
	in += 4;
	while (chunks--) {
		uLongf got = plain_bytes - done;

		ck_assert_int_eq(uncompress(out + done, &got, in + 8, get_le(in, 4)), Z_OK);
		ck_assert_uint_eq(got, get_le(in + 4, 4));
		ck_assert_uint_eq(got % 4096, 0);
		done += got;
		in += 8 + get_le(in, 4);
	}
	ck_assert_uint_eq(in - packed_file - tw_data_offset(packed, TW_TOP, 0), tw_data_bytes(packed, TW_TOP, 0));
	ck_assert_uint_eq(done, tw_data_bytes(plain, TW_TOP, 0));
	ck_assert_mem_eq(out, plain_file + tw_data_offset(plain, TW_TOP, 0), done);
	free(out);
	free(plain_file);
	free(packed_file);
	tw_free(plain);
	tw_free(packed);
}
END_TEST

START_TEST(stream_is_plausible)
{
	struct tw_stream stream = { .seed = 1, .events_count = 40000, .cpus = 4 };
	struct km_event *events = calloc(stream.events_count, sizeof(*events));
	size_t nulls = 0, failed = 0, doubled = 0, frees = 0, crowded = 0, i;

	ck_assert_ptr_nonnull(events);
	tw_stream_random(NULL, &stream, events);
	for (i = 0; i < stream.events_count; i++) {
		const struct km_event *e = &events[i], *before = i ? e - 1 : NULL;

		ck_assert(km_event_is_slab(e));
		nulls += km_event_is_free(e) && !e->ptr;
		failed += km_event_is_alloc(e) && !e->ptr;
		frees += km_event_is_free(e);
		if (!before)
			continue;
		ck_assert_uint_ge(e->time, before->time);
		if (e->cpu != before->cpu)
			ck_assert_uint_gt(e->time, before->time);
		crowded += e->time == before->time;
		doubled += km_event_is_kmalloc(e) && e->bytes_req > 8192 && e->ptr && e->ptr == before->ptr &&
			   km_event_is_kmalloc(before);
	}
	ck_assert_uint_gt(nulls, 100);
	ck_assert_uint_gt(failed, 10);
	ck_assert_uint_gt(doubled, 10);
	ck_assert_uint_gt(crowded, 10);
	ck_assert_uint_gt(frees, stream.events_count / 3);
	free(events);
}
END_TEST

#ifdef KM_HAVE_TRACECMD
#include <event-parse.h>
#include <trace-cmd.h>
#include <trace-seq.h>

/*
 * LeakSanitizer asks this function: libtracecmd 1.3.1 loses the clock's name, which sscanf("%ms") gave it, when a
 * file tells it twice, as every file does.
 */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:vsscanf\n";
}

/* What libtracecmd reads. */
struct seen {
	struct km_event *events; /* expected, in order of time; NULL: not compared */
	size_t expected_count;
	size_t count;
	enum tw_kernel kernel;
	long long missed[8]; /* of the first events */
	uint64_t times[64];
	char text[4096]; /* of the last event */
	char name[64];
};

static uint64_t number(struct tep_event *event, struct tep_record *record, const char *field)
{
	unsigned long long value = 0;

	ck_assert_msg(!tep_get_field_val(NULL, event, field, record, &value, 0), "%s has no %s", event->name, field);
	return value;
}

static void compare(struct seen *seen, struct tep_event *event, struct tep_record *record, int cpu)
{
	const struct km_event *e;

	ck_assert_uint_lt(seen->count, seen->expected_count);
	e = &seen->events[seen->count];
	ck_assert_str_eq(event->name, km_event_kind_name(e->kind));
	ck_assert_uint_eq(record->ts, e->time);
	ck_assert_int_eq(cpu, e->cpu);
	ck_assert_int_eq(tep_data_pid(event->tep, record), e->pid);
	ck_assert_uint_eq(number(event, record, "call_site"), e->call_site);
	ck_assert_uint_eq(number(event, record, "ptr"), e->ptr);
	if (km_event_is_alloc(e)) {
		ck_assert_uint_eq(number(event, record, "bytes_req"), e->bytes_req);
		ck_assert_uint_eq(number(event, record, "bytes_alloc"), e->bytes_alloc);
		ck_assert_uint_eq(number(event, record, "gfp_flags"), e->gfp);
	}
	if (tep_find_field(event, "node"))
		ck_assert_int_eq((int32_t)number(event, record, "node"), e->node);
	else
		ck_assert_int_eq(e->node, KM_NODE_ANY);
	if (tep_find_field(event, "accounted"))
		ck_assert_uint_eq(number(event, record, "accounted"),
				  (e->gfp & tw_gfp(seen->kernel, "__GFP_ACCOUNT")) != 0);
	if (tep_find_field(event, "name")) {
		int bytes;
		const char *name = tep_get_field_raw(NULL, event, "name", record, &bytes, 0);

		ck_assert_uint_ne(e->cache, KM_CACHE_NONE);
		ck_assert_str_eq(name, tw_stream_cache_name(e->cache - 1));
		ck_assert_int_eq(bytes, (int)strlen(name) + 1);
	} else {
		ck_assert_uint_eq(e->cache, KM_CACHE_NONE);
	}
}

static int see(struct tracecmd_input *handle, struct tep_record *record, int cpu, void *data)
{
	struct tep_handle *tep = tracecmd_get_tep(handle);
	struct tep_event *event = tep_find_event_by_record(tep, record);
	struct seen *seen = data;
	struct trace_seq seq;

	ck_assert_ptr_nonnull(event);
	if (seen->events) {
		compare(seen, event, record, cpu);
	} else {
		trace_seq_init(&seq);
		tep_print_event(tep, &seq, record, "%s", TEP_PRINT_INFO);
		trace_seq_terminate(&seq);
		snprintf(seen->text, sizeof(seen->text), "%s", seq.buffer);
		trace_seq_destroy(&seq);
		snprintf(seen->name, sizeof(seen->name), "%s", event->name);
	}
	if (seen->count < 8)
		seen->missed[seen->count] = record->missed_events;
	if (seen->count < 64)
		seen->times[seen->count] = record->ts;
	seen->count++;
	return 0;
}

/* Ends tw. */
static struct tracecmd_input *open_written(struct tw *tw)
{
	struct tracecmd_input *handle;
	size_t bytes;
	void *file = tw_finish(tw, &bytes);
	char *path = km_fixture_write_temporary(file, bytes);

	tracecmd_set_loglevel(TEP_LOG_CRITICAL);
	handle = tracecmd_open(path, 0);
	unlink(path);
	free(path);
	free(file);
	tw_free(tw);
	ck_assert_ptr_nonnull(handle);
	return handle;
}

static void read_back(struct tw *tw, struct seen *seen)
{
	struct tracecmd_input *handle = open_written(tw);

	ck_assert_int_eq(tracecmd_iterate_events(handle, NULL, 0, see, seen), 0);
	tracecmd_close(handle);
}

static void round_trip(const struct tw_options *options, size_t events_count)
{
	struct tw_stream stream = {
		.seed = options->page_bytes + options->kernel,
		.events_count = events_count,
		.cpus = options->cpus,
		.kernel = options->kernel,
		.long_bytes = options->long_bytes,
	};
	struct seen seen = { .expected_count = events_count, .kernel = options->kernel };
	struct tw *tw = tw_new(options);

	seen.events = calloc(events_count, sizeof(*seen.events));
	ck_assert_ptr_nonnull(seen.events);
	tw_stream_random(tw, &stream, seen.events);
	read_back(tw, &seen);
	ck_assert_uint_eq(seen.count, events_count);
	free(seen.events);
}

/* Every combination of file form, byte order and word with every kernel; page sizes and alignments take turns. */
static void round_trip_variant(unsigned variant)
{
	static const unsigned pages[] = { 4096, 16384, 65536 };
	unsigned form = variant % 3, turn = variant;
	struct tw_options options = {
		.version = form ? 7 : 6,
		.compression = form == 2 ? TW_COMPRESSION_ZSTD : TW_COMPRESSION_NONE,
		.big_endian = variant / 3 % 2,
		.long_bytes = variant / 6 % 2 ? 4 : 8,
		.cpus = 3,
	};

	for (options.kernel = TW_KERNEL_4_19; options.kernel <= TW_KERNEL_6_18; options.kernel++, turn++) {
		options.page_bytes = pages[turn / 3 % 3];
		options.align8 = turn % 4 == 1;
		options.pad_tail = turn % 2;
		round_trip(&options, 2500);
	}
}

START_TEST(oracle_round_trip)
{
	unsigned variant;

	for (variant = 0; variant < 12; variant++)
		round_trip_variant(variant);
}
END_TEST

START_TEST(oracle_user_long)
{
	struct tw_options options = { .long_bytes = 8, .user_long_bytes = 4, .cpus = 2 };

	round_trip(&options, 500);
	options.version = 6;
	round_trip(&options, 500);
}
END_TEST

START_TEST(oracle_many_cpus)
{
	struct tw_options options = { .cpus = 700, .compression = TW_COMPRESSION_ZSTD };

	round_trip(&options, 5000);
	options = (struct tw_options){ .cpus = 700, .version = 6, .big_endian = true };
	round_trip(&options, 5000);
}
END_TEST

static void times_variant(unsigned variant)
{
	const uint64_t far = UINT64_C(1) << 27;
	static const uint64_t at[] = { 10, 10, 11, 0, 1, 2, 3, 4 };
	uint64_t base = 0;
	struct seen seen = { 0 };
	struct tw *tw = tw_new(&(struct tw_options){ .version = variant ? 6 : 7, .big_endian = variant });
	unsigned i;

	tw_discard(tw, TW_TOP, 0, 5);
	for (i = 0; i < 8; i++) {
		if (i == 3)
			base = 11 + far - 1; /* the largest delta */
		if (i == 4)
			base += far; /* TIME_EXTEND */
		if (i == 5)
			tw_discard(tw, TW_TOP, 0, base + 1 + 1);
		if (i == 6)
			tw_absolute(tw, TW_TOP, 0);
		if (i == 7) {
			base += 100 * far;
			tw_discard(tw, TW_TOP, 0, base + 3);
		}
		tw_other(tw, TW_TOP, 0, base + at[i], 42);
	}
	read_back(tw, &seen);
	ck_assert_uint_eq(seen.count, 8);
	base = 0;
	for (i = 0; i < 8; i++) {
		base = i == 3 ? 11 + far - 1 : i == 4 ? base + far : i == 7 ? base + 100 * far : base;
		ck_assert_uint_eq(seen.times[i], base + at[i]);
	}
}

START_TEST(oracle_times)
{
	unsigned variant;

	for (variant = 0; variant < 2; variant++)
		times_variant(variant);
}
END_TEST

static void lost_variant(unsigned variant)
{
	struct tw_options options = { .version = variant & 1 ? 6 : 7,
				      .long_bytes = variant & 2 ? 4 : 8,
				      .big_endian = variant & 4 };
	struct seen seen = { 0 };
	struct tw *tw = tw_new(&options);

	tw_lost(tw, TW_TOP, 0, 1234);
	tw_other(tw, TW_TOP, 0, 1, 42);
	tw_other(tw, TW_TOP, 0, 2, 42);
	tw_lost(tw, TW_TOP, 0, -1);
	tw_other(tw, TW_TOP, 0, 3, 42);
	tw_new_page(tw, TW_TOP, 0);
	tw_new_page(tw, TW_TOP, 0); /* an empty one */
	tw_other(tw, TW_TOP, 0, 4, 42);
	read_back(tw, &seen);
	ck_assert_uint_eq(seen.count, 4);
	ck_assert_int_eq(seen.missed[0], 1234);
	ck_assert_int_eq(seen.missed[1], 0);
	ck_assert_int_eq(seen.missed[2], -1);
	ck_assert_int_eq(seen.missed[3], 0);
}

START_TEST(oracle_lost)
{
	unsigned variant;

	for (variant = 0; variant < 8; variant++)
		lost_variant(variant);
}
END_TEST

static void instances_variant(unsigned variant)
{
	struct tw_options options = { .version = variant & 1 ? 6 : 7, .cpus = 2, .big_endian = variant & 2 };
	struct tracecmd_input *handle, *instance;
	struct seen seen = { 0 };
	struct tw *tw;
	unsigned a, b, i;

	if (variant & 4 && options.version == 7)
		options.compression = TW_COMPRESSION_ZSTD;
	tw = tw_new(&options);
	a = tw_add_buffer(tw, "alpha", 0, NULL, 0);
	b = tw_add_buffer(tw, "beta", 0, "mono", 0);
	tw_option(tw, 4711, "what", 4);
	tw_option_offset(tw, "0");
	tw_cpustat(tw, b, 1, 3, 2, 1);
	tw_cpustat(tw, TW_TOP, 0, 30, 20, 10);
	tw_other(tw, TW_TOP, 0, 1, 42);
	for (i = 0; i < 100; i++)
		tw_kmalloc(tw, a, i % 2, 1 + i, 42, 1, 2, 3, 4, 0xcc0, -1);
	for (i = 0; i < 200; i++)
		tw_kfree(tw, b, i % 2, 1 + i, 42, 1, 2);
	handle = open_written(tw);
	ck_assert_int_eq(tracecmd_iterate_events(handle, NULL, 0, see, &seen), 0);
	ck_assert_uint_eq(seen.count, 1);
	ck_assert_int_eq(tracecmd_buffer_instances(handle), 2);
	ck_assert_str_eq(tracecmd_buffer_instance_name(handle, 1), "beta");
	for (i = 0; i < 2; i++) {
		seen.count = 0;
		instance = tracecmd_buffer_instance_handle(handle, (int)i);
		ck_assert_ptr_nonnull(instance);
		ck_assert_int_eq(tracecmd_iterate_events(instance, NULL, 0, see, &seen), 0);
		ck_assert_uint_eq(seen.count, i ? 200 : 100);
		ck_assert_str_eq(seen.name, i ? "kfree" : "kmalloc");
		tracecmd_close(instance);
	}
	tracecmd_close(handle);
}

START_TEST(oracle_instances)
{
	unsigned variant;

	for (variant = 0; variant < 8; variant++)
		instances_variant(variant);
}
END_TEST

/* That the print fmt of every kernel is one that can be parsed, and the gfp table in it. */
static void texts_variant(unsigned variant)
{
	enum tw_kernel kernel = (enum tw_kernel)(TW_KERNEL_4_19 + variant);
	uint32_t gfp = tw_gfp(kernel, "GFP_KERNEL") | tw_gfp(kernel, "__GFP_ZERO");
	struct tw_options options = { .kernel = kernel };
	uint64_t site = tw_function(8, 3) + 0x10;
	struct seen seen = { 0 };
	struct tw *tw = tw_new(&options);

	tw_cache_alloc(tw, TW_TOP, 0, 1, 42, site, 0x2000, 100, 128, gfp, -1, "dentry");
	read_back(tw, &seen);
	ck_assert_ptr_nonnull(strstr(seen.text, "bytes_req=100 bytes_alloc=128 gfp_flags=GFP_KERNEL|__GFP_ZERO"));
	ck_assert_int_eq(!!strstr(seen.text, "call_site=kernel_fn_03+0x10"), kernel != TW_KERNEL_4_19);
	ck_assert_int_eq(!!strstr(seen.text, "node=-1 accounted=false"), kernel >= TW_KERNEL_6_1);
	ck_assert_int_eq(!!strstr(seen.text, "name=dentry"), kernel >= TW_KERNEL_6_18);

	tw = tw_new(&options);
	tw_kmalloc(tw, TW_TOP, 0, 1, 42, site, 0x2000, 100, 128, tw_gfp(kernel, "GFP_KERNEL_ACCOUNT"), 1);
	read_back(tw, &seen);
	ck_assert_ptr_nonnull(strstr(seen.text, "gfp_flags=GFP_KERNEL_ACCOUNT"));
	ck_assert_int_eq(!!strstr(seen.text, "node=1 accounted=true"), kernel >= TW_KERNEL_6_1);

	tw = tw_new(&options);
	tw_cache_free(tw, TW_TOP, 0, 1, 42, tw_function(8, 50) + 4, 0x2000, "dentry");
	read_back(tw, &seen);
	ck_assert_int_eq(!!strstr(seen.text, "name=dentry"), kernel >= TW_KERNEL_5_12);

	tw = tw_new(&options);
	tw_print(tw, TW_TOP, 0, 1, 42, "hello\n");
	read_back(tw, &seen);
	ck_assert_ptr_nonnull(strstr(seen.text, "hello"));

	tw = tw_new(&options);
	tw_other(tw, TW_TOP, 0, 1, 42);
	read_back(tw, &seen);
	ck_assert_ptr_nonnull(strstr(seen.text, "worker:42 [120]"));
}

START_TEST(oracle_texts)
{
	unsigned variant;

	for (variant = 0; variant < 6; variant++)
		texts_variant(variant);
}
END_TEST
#endif

int main(void)
{
	const TTest *const tests[] = {
		page_little_endian_64,
		page_big_endian_32,
		page_stamps_and_padding,
		page_tail,
		long_form,
		lost_marks,
		formats_and_omissions,
		same_calls_same_bytes,
		zlib_chunks,
		stream_is_plausible,
#ifdef KM_HAVE_TRACECMD
		oracle_round_trip,
		oracle_user_long,
		oracle_many_cpus,
		oracle_times,
		oracle_lost,
		oracle_instances,
		oracle_texts,
#endif
		NULL,
	};

	return km_test_main("trace_writer", tests, 60);
}
