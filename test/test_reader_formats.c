/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the reader makes of a file's texts: event formats and what is missing
 * in them, task names, symbols, marks, clocks; and of what is no trace.dat.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read_back.h"
#include "reader.h"
#include "testing.h"
#include "trace_writer.h"

/* A built file and its reader. */
struct trace {
	uint8_t *data;
	struct km_reader *reader;
};

/* Ends tw. */
static struct trace open_trace(struct tw *tw, const struct km_reader_options *options)
{
	struct trace t;
	size_t bytes;

	t.data = tw_finish(tw, &bytes);
	t.reader = km_read_back_open(t.data, bytes, options);
	tw_free(tw);
	return t;
}

static void release(struct trace *t)
{
	km_reader_close(t->reader);
	free(t->data);
}

/* It opens, but does not start; *ret_error tells why. */
static void start_fails(struct tw *tw, struct km_error *ret_error)
{
	struct trace t = open_trace(tw, NULL);
	int r;

	*ret_error = (struct km_error){ 0 };
	r = km_reader_start(t.reader, 0, ret_error);
	ck_assert_int_eq(r, -EBADMSG);
	ck_assert_int_eq(ret_error->code, r);
	ck_assert_ptr_nonnull(strstr(ret_error->text, "built.dat: "));
	release(&t);
}

/* The kernel's own text of a format with the first `from` in it made `to`. */
static char *changed_format(enum tw_kernel kernel, enum tw_format_kind kind, const char *from, const char *to)
{
	struct tw_format formats[TW_FORMAT_KINDS];
	char *text, *at, *result;

	tw_formats_init(formats, kernel, 8);
	text = tw_format_text(&formats[kind], kernel);
	at = strstr(text, from);
	ck_assert_msg(at != NULL, "%s", from);
	ck_assert_int_ge(asprintf(&result, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)), 0);
	free(text);
	return result;
}

static void set_changed(struct tw *tw, enum tw_kernel kernel, enum tw_format_kind kind, const char *event,
			const char *from, const char *to)
{
	char *text = changed_format(kernel, kind, from, to);

	tw_set_format(tw, "kmem", event, text);
	free(text);
}

/* ---- formats ---- */

START_TEST(a_missing_field)
{
	static const char *const fields[] = {
		"common_pid", "call_site", "ptr", "bytes_req", "bytes_alloc", "gfp_flags"
	};

	for (enum tw_format_kind kind = TW_FORMAT_KMALLOC; kind <= TW_FORMAT_CACHE_FREE; kind++) {
		const char *event = km_event_kind_name((enum km_event_kind)kind);
		bool is_alloc = kind <= TW_FORMAT_CACHE_ALLOC_NODE;

		for (size_t i = 0; i < (is_alloc ? 6 : 3); i++) {
			struct tw *tw = tw_new(&(struct tw_options){ .kernel = TW_KERNEL_5_10 });
			char from[64], to[64], words[128];
			struct km_error error;

			snprintf(from, sizeof(from), " %s;", fields[i]);
			snprintf(to, sizeof(to), " %sx;", fields[i]);
			set_changed(tw, TW_KERNEL_5_10, kind, event, from, to);
			start_fails(tw, &error);
			snprintf(words, sizeof(words), "event %s has no field \"%s\"", event, fields[i]);
			ck_assert_msg(strstr(error.text, words) != NULL, "%s lacks %s", error.text, words);
		}
	}
}
END_TEST

START_TEST(a_field_that_is_no_number)
{
	struct tw *tw = tw_new(&(struct tw_options){ .kernel = TW_KERNEL_6_12 });
	struct km_error error;

	set_changed(tw, TW_KERNEL_6_12, TW_FORMAT_KFREE, "kfree", "offset:16;\tsize:8;", "offset:16;\tsize:7;");
	start_fails(tw, &error);
	ck_assert_ptr_nonnull(strstr(error.text, "field \"ptr\" of event kfree has 7 bytes"));
}
END_TEST

START_TEST(a_format_that_is_refused)
{
	static const char *const texts[] = { "name: kmalloc\nID: 417\nformat:\n\tnonsense\n",
					     "name: kmalloc\nID: 417\n" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct tw *tw = tw_new(&(struct tw_options){ 0 });
		struct km_error error;

		tw_set_format(tw, "kmem", "kmalloc", texts[i]);
		start_fails(tw, &error);
		ck_assert_ptr_nonnull(strstr(error.text, "the format of event kmalloc can not be used: line "));
	}
}
END_TEST

/* Who only counts needs no fields; and other events' formats may be what they like. */
START_TEST(only_counts)
{
	static const struct km_reader_options options = { .only_counts = true };
	struct tw *tw = tw_new(&(struct tw_options){ 0 });
	uint64_t first, last;
	struct trace t;
	size_t count;

	tw_kfree(tw, TW_TOP, 0, 5, 42, 1, 16);
	tw_kfree(tw, TW_TOP, 0, 6, 42, 1, 16);
	tw_kmalloc(tw, TW_TOP, 0, 7, 42, 1, 32, 8, 8, 0, -1);
	tw_print(tw, TW_TOP, 0, 8, 42, "text\n");
	tw_lost(tw, TW_TOP, 0, 5);
	tw_other(tw, TW_TOP, 0, 9, 42);
	set_changed(tw, TW_KERNEL_6_18, TW_FORMAT_KFREE, "kfree", " ptr;", " pointer;");
	tw_set_format(tw, "sched", "sched_switch", "name: sched_switch\nID: 316\nbroken");
	t = open_trace(tw, &options);
	free(km_read_back_all(t.reader, 0, 10, &count));
	ck_assert_uint_le(count, 1); /* a loss may be told, events are not */
	ck_assert_uint_eq(km_read_back_count(t.reader, "kfree"), 2);
	ck_assert_uint_eq(km_read_back_count(t.reader, "kmalloc"), 1);
	ck_assert_uint_eq(km_read_back_count(t.reader, "print"), 1);
	ck_assert_uint_eq(km_reader_stats(t.reader)->events_count, 5);
	ck_assert_uint_eq(km_reader_stats(t.reader)->slab_counts[KM_EVENT_KFREE], 0);
	ck_assert_int_eq(km_reader_time_range(t.reader, 0, &first, &last, NULL), 1);
	ck_assert_uint_eq(first, 5);
	ck_assert_uint_eq(last, 9);
	release(&t);
}
END_TEST

/* Fields are found by name, wherever they are. */
START_TEST(fields_moved)
{
	struct tw *tw = tw_new(&(struct tw_options){ .kernel = TW_KERNEL_6_12 });
	struct km_event *got;
	struct trace t;
	size_t count;
	char *text = changed_format(TW_KERNEL_6_12, TW_FORMAT_KFREE, " call_site;", " xx;"), *second;

	/* call_site and ptr change places. */
	second = strstr(text, " ptr;");
	ck_assert_ptr_nonnull(second);
	{
		char *all;

		ck_assert_int_ge(asprintf(&all, "%.*s call_site;%s", (int)(second - text), text, second + 5), 0);
		free(text);
		text = all;
		second = strstr(text, " xx;");
		ck_assert_int_ge(asprintf(&all, "%.*s ptr;%s", (int)(second - text), text, second + 4), 0);
		free(text);
		text = all;
	}
	tw_set_format(tw, "kmem", "kfree", text);
	free(text);
	tw_kfree(tw, TW_TOP, 0, 5, 42, 0x1111, 0x2222);
	t = open_trace(tw, NULL);
	got = km_read_back_all(t.reader, 0, 10, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(got[0].call_site, 0x2222);
	ck_assert_uint_eq(got[0].ptr, 0x1111);
	free(got);
	release(&t);
}
END_TEST

/* An event whose format is not in the file is counted by number, the others are read. */
START_TEST(a_format_that_is_not_there)
{
	struct tw *tw = tw_new(&(struct tw_options){ 0 });
	struct km_event *got;
	struct trace t;
	size_t count;

	tw_kmalloc(tw, TW_TOP, 0, 7, 42, 1, 32, 8, 8, 0, -1);
	tw_kfree(tw, TW_TOP, 0, 8, 42, 1, 32);
	tw_set_format(tw, "kmem", "kfree", NULL);
	t = open_trace(tw, NULL);
	got = km_read_back_all(t.reader, 0, 10, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(got[0].kind, KM_EVENT_KMALLOC);
	ck_assert_uint_eq(km_reader_stats(t.reader)->events_count, 2);
	free(got);
	release(&t);
}
END_TEST

START_TEST(features_of_kernels)
{
	static const unsigned features[] = {
		[TW_KERNEL_4_19] = KM_TRACE_NODES, /* of the _node events */
		[TW_KERNEL_5_10] = KM_TRACE_NODES,
		[TW_KERNEL_5_12] = KM_TRACE_NODES | KM_TRACE_FREE_NAMES,
		[TW_KERNEL_6_1] = KM_TRACE_NODES | KM_TRACE_FREE_NAMES,
		[TW_KERNEL_6_12] = KM_TRACE_NODES | KM_TRACE_FREE_NAMES,
		[TW_KERNEL_6_18] = KM_TRACE_NODES | KM_TRACE_FREE_NAMES | KM_TRACE_ALLOC_NAMES,
	};

	for (enum tw_kernel kernel = TW_KERNEL_4_19; kernel <= TW_KERNEL_6_18; kernel++) {
		struct trace t = open_trace(tw_new(&(struct tw_options){ .kernel = kernel }), NULL);
		const struct km_gfp *gfp = km_reader_gfp(t.reader);
		uint32_t mask;

		ck_assert_uint_eq(km_reader_info(t.reader)->features, features[kernel]);
		ck_assert_int_eq(km_gfp_find(gfp, "GFP_KERNEL", &mask), 1);
		ck_assert_uint_eq(mask, tw_gfp(kernel, "GFP_KERNEL"));
		ck_assert_uint_eq(gfp->account, tw_gfp(kernel, "__GFP_ACCOUNT"));
		release(&t);
	}
}
END_TEST

/* ---- what the file says of itself ---- */

START_TEST(trace_info)
{
	struct tw_options options = {
		.compression = TW_COMPRESSION_ZSTD, .big_endian = true, .long_bytes = 4, .page_bytes = 16384, .cpus = 3
	};
	struct trace t = open_trace(tw_new(&options), NULL);
	const struct km_trace_info *info = km_reader_info(t.reader);

	ck_assert_str_eq(info->format, "trace.dat 7 (zstd)");
	ck_assert_ptr_nonnull(strstr(info->kernel, "Linux testbox"));
	ck_assert_ptr_nonnull(info->generator);
	ck_assert(info->big_endian && !info->is_cut_short && !info->keeps_order);
	ck_assert_uint_eq(info->word_bytes, 4);
	ck_assert_uint_eq(info->page_bytes, 16384);
	ck_assert_uint_eq(info->cpus_count, 3);
	ck_assert_uint_eq(info->buffers_count, 1);
	release(&t);

	options = (struct tw_options){ .version = 6, .omit = TW_OMIT_UNAME | TW_OMIT_VERSION };
	t = open_trace(tw_new(&options), NULL);
	info = km_reader_info(t.reader);
	ck_assert_str_eq(info->format, "trace.dat 6");
	ck_assert_ptr_null(info->kernel);
	ck_assert_ptr_null(info->generator);
	release(&t);
}
END_TEST

START_TEST(clocks)
{
	static const struct {
		const char *clock;
		enum km_clock_unit unit;
		bool is_coherent;
	} cases[] = {
		{ "local", KM_CLOCK_NS, false },     { "global", KM_CLOCK_NS, true },
		{ "mono", KM_CLOCK_NS, true },       { "perf", KM_CLOCK_NS, true },
		{ "counter", KM_CLOCK_TICKS, true }, { "uptime", KM_CLOCK_TICKS, true },
		{ "x86-tsc", KM_CLOCK_TICKS, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (unsigned version = 6; version <= 7; version++) {
			struct tw_options options = { .clock = cases[i].clock, .version = version };
			struct trace t = open_trace(tw_new(&options), NULL);
			const struct km_buffer_info *buffer = km_reader_info(t.reader)->buffers;

			ck_assert_str_eq(buffer->clock, cases[i].clock);
			ck_assert_int_eq(buffer->unit, cases[i].unit);
			ck_assert_int_eq(buffer->clock_is_coherent, cases[i].is_coherent);
			release(&t);
		}
	}
	/* Not known is not coherent. */
	{
		struct tw_options options = { .version = 6, .omit = TW_OMIT_TRACECLOCK };
		struct trace t = open_trace(tw_new(&options), NULL);

		ck_assert_str_eq(km_reader_info(t.reader)->buffers[0].clock, "");
		ck_assert(!km_reader_info(t.reader)->buffers[0].clock_is_coherent);
		release(&t);
	}
}
END_TEST

/* Where the TRACECLOCK option is empty, version 6 still has the clock behind the table of CPUs. */
START_TEST(clock_behind_the_cpus)
{
	struct tw *tw = tw_new(&(struct tw_options){ .version = 6, .cpus = 3, .clock = "mono" });
	struct km_reader *reader;
	size_t bytes, count;
	char *data, *clock;

	tw_add_buffer(tw, "alpha", 0, NULL, 0);
	tw_kfree(tw, TW_TOP, 2, 5, 42, 1, 16);
	data = tw_finish(tw, &bytes);
	clock = memmem(data, bytes, "[mono]", 6);
	ck_assert_ptr_nonnull(clock);
	memset(clock, ' ', 6);
	reader = km_read_back_open(data, bytes, NULL);
	ck_assert_uint_eq(km_reader_info(reader)->buffers_count, 2);
	ck_assert_str_eq(km_reader_info(reader)->buffers[0].clock, "mono");
	ck_assert_str_eq(km_reader_info(reader)->buffers[1].clock, "mono");
	free(km_read_back_all(reader, 0, 10, &count));
	ck_assert_uint_eq(count, 1);
	km_reader_close(reader);
	/* What is no clock's text is no error. */
	clock = memmem(data, bytes, "[mono]", 6);
	ck_assert_ptr_nonnull(clock);
	memset(clock - 30, 0xff, 40);
	reader = km_read_back_open(data, bytes, NULL);
	ck_assert_str_eq(km_reader_info(reader)->buffers[0].clock, "");
	ck_assert_str_eq(km_reader_info(reader)->buffers[1].clock, "mono");
	km_reader_close(reader);
	free(data);
	tw_free(tw);
}
END_TEST

START_TEST(unknown_options)
{
	struct tw *tw = tw_new(&(struct tw_options){ 0 });
	struct trace t;
	size_t count;

	tw_kfree(tw, TW_TOP, 0, 5, 42, 1, 16);
	for (uint16_t id = 23; id < 40; id++)
		tw_option(tw, id, "payload", id % 8);
	t = open_trace(tw, NULL);
	ck_assert_uint_eq(km_reader_info(t.reader)->unknown_options_count, 17);
	free(km_read_back_all(t.reader, 0, 10, &count));
	ck_assert_uint_eq(count, 1);
	release(&t);
}
END_TEST

START_TEST(comms)
{
	static const char text[] = "7 first\n"
				   "100 bash\n"
				   "7 last\n"
				   "x y\n" /* no number */
				   "-5 negative\n"
				   "99999999999999 too large\n"
				   "8\n" /* no name */
				   "0 swapper\n"
				   "9 a b: [c]<d>\n"
				   "10 \n"
				   "4194304 cut";

	for (unsigned version = 6; version <= 7; version++) {
		struct tw_options options = { .version = version, .cmdlines = text };
		struct trace t = open_trace(tw_new(&options), NULL);

		ck_assert_str_eq(km_reader_comm(t.reader, 7), "last");
		ck_assert_str_eq(km_reader_comm(t.reader, 100), "bash");
		ck_assert_str_eq(km_reader_comm(t.reader, 0), "<idle>");
		ck_assert_str_eq(km_reader_comm(t.reader, 9), "a b: [c]<d>");
		ck_assert_str_eq(km_reader_comm(t.reader, 10), "");
		ck_assert_str_eq(km_reader_comm(t.reader, 4194304), "cut");
		ck_assert_str_eq(km_reader_comm(t.reader, 8), "<...>");
		ck_assert_str_eq(km_reader_comm(t.reader, 11), "<...>");
		ck_assert_str_eq(km_reader_comm(t.reader, -5), "<...>");
		ck_assert_str_eq(km_reader_comm(t.reader, INT32_MAX), "<...>");
		release(&t);
		options.omit = TW_OMIT_CMDLINES;
		t = open_trace(tw_new(&options), NULL);
		ck_assert_str_eq(km_reader_comm(t.reader, 7), "<...>");
		ck_assert_str_eq(km_reader_comm(t.reader, 0), "<idle>");
		release(&t);
	}
}
END_TEST

START_TEST(own_symbols)
{
	static const char zeroed[] = "0000000000000000 T kernel_fn_00\n"
				     "0000000000000000 t other\t[leaky]\n";

	for (unsigned i = 0; i < 4; i++) {
		struct tw_options options = { .version = i & 1 ? 6 : 7,
					      .big_endian = i & 2,
					      .compression = i ? TW_COMPRESSION_NONE : TW_COMPRESSION_ZLIB };
		struct trace t = open_trace(tw_new(&options), NULL);
		struct km_symbols *symbols = km_reader_symbols(t.reader, NULL);
		struct km_symbol symbol;

		ck_assert_int_eq(km_symbols_state(symbols), KM_SYMBOLS_USABLE);
		ck_assert_int_eq(km_symbols_find(symbols, tw_function(8, 50) + 0x24, &symbol), 1);
		ck_assert_uint_eq(symbol.name_bytes, 9);
		ck_assert_mem_eq(symbol.name, "mod_fn_50", 9);
		ck_assert_mem_eq(symbol.module, "leaky", symbol.module_bytes);
		ck_assert_uint_eq(symbol.offset, 0x24);
		ck_assert_ptr_eq(km_reader_symbols(t.reader, NULL), symbols); /* loaded once */
		release(&t);

		options.kallsyms = zeroed;
		t = open_trace(tw_new(&options), NULL);
		ck_assert_int_eq(km_symbols_state(km_reader_symbols(t.reader, NULL)), KM_SYMBOLS_ZEROED);
		release(&t);

		options.omit = TW_OMIT_KALLSYMS;
		t = open_trace(tw_new(&options), NULL);
		ck_assert_int_eq(km_symbols_state(km_reader_symbols(t.reader, NULL)), KM_SYMBOLS_NONE);
		release(&t);
	}
}
END_TEST

/* The first event that has each text, at its time, once; a text may be in both. */
START_TEST(marks)
{
	static const struct km_reader_options both = { .marks = { "begin", "end of it" } };
	static const struct km_reader_options second = { .marks = { NULL, "e" } };

	for (unsigned i = 0; i < 8; i++) {
		struct tw_options options = { .version = i & 1 ? 6 : 7,
					      .big_endian = i & 2,
					      .long_bytes = i & 4 ? 4 : 8 };
		struct tw *tw = tw_new(&options);
		struct km_event *got;
		struct trace t;
		size_t count;

		tw_print(tw, TW_TOP, 0, 10, 42, "something else\n");
		tw_kfree(tw, TW_TOP, 0, 20, 42, 1, 16);
		tw_print(tw, TW_TOP, 0, 30, 43, "now begin!\n");
		tw_print(tw, TW_TOP, 0, 40, 42, "begin once more\n");
		tw_print(tw, TW_TOP, 0, 50, 42, "the end of it");
		tw_print(tw, TW_TOP, 0, 60, 42, "the end of it");
		t = open_trace(tw, &both);
		for (unsigned round = 0; round < 2; round++) { /* again after a new start */
			got = km_read_back_all(t.reader, 0, 10, &count);
			ck_assert_uint_eq(count, 3);
			ck_assert_uint_eq(got[1].kind, KM_EVENT_MARK);
			ck_assert_uint_eq(got[1].time, 30);
			ck_assert_uint_eq(got[1].bytes_req, 0);
			ck_assert_uint_eq(got[2].kind, KM_EVENT_MARK);
			ck_assert_uint_eq(got[2].time, 50);
			ck_assert_uint_eq(got[2].bytes_req, 1);
			ck_assert_uint_eq(km_reader_stats(t.reader)->slab_counts[KM_EVENT_MARK], 2);
			ck_assert_uint_eq(km_read_back_count(t.reader, "print"), 5);
			ck_assert_uint_eq(km_reader_stats(t.reader)->skipped_count, 0);
			free(got);
		}
		release(&t);
		tw = tw_new(&options);
		tw_print(tw, TW_TOP, 0, 10, 42, "something else\n");
		t = open_trace(tw, &second);
		got = km_read_back_all(t.reader, 0, 10, &count);
		ck_assert_uint_eq(count, 1);
		ck_assert_uint_eq(got[0].bytes_req, 1);
		free(got);
		release(&t);
	}
}
END_TEST

/* One print event that has both texts: both are met there. */
START_TEST(one_event_with_both_marks)
{
	static const struct km_reader_options both = { .marks = { "begin", "b" } };
	struct tw *tw = tw_new(&(struct tw_options){ 0 });
	struct km_event *got;
	struct trace t;
	size_t count;

	tw_print(tw, TW_TOP, 0, 10, 42, "begin\n");
	tw_kfree(tw, TW_TOP, 0, 20, 42, 1, 16);
	tw_print(tw, TW_TOP, 0, 30, 42, "beg\n");
	t = open_trace(tw, &both);
	got = km_read_back_all(t.reader, 0, 10, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert_uint_eq(got[0].kind, KM_EVENT_MARK);
	ck_assert_uint_eq(got[0].bytes_req, 0);
	ck_assert_uint_eq(got[1].kind, KM_EVENT_MARK);
	ck_assert_uint_eq(got[1].bytes_req, 1);
	ck_assert_uint_eq(got[1].time, 10);
	ck_assert_uint_eq(got[2].kind, KM_EVENT_KFREE);
	free(got);
	release(&t);
}
END_TEST

/* The first in time, though CPUs are decoded ahead one after the other. */
START_TEST(marks_on_several_cpus)
{
	static const struct km_reader_options both = { .marks = { "snap", "end" } };

	for (size_t batch = 1; batch < 5; batch++) {
		struct tw *tw = tw_new(&(struct tw_options){ .cpus = 4 });
		struct km_event *got;
		struct trace t;
		size_t count;

		tw_print(tw, TW_TOP, 0, 30, 42, "snap 3\n");
		tw_print(tw, TW_TOP, 0, 60, 42, "end\n");
		tw_print(tw, TW_TOP, 1, 20, 42, "snap 2\n");
		tw_print(tw, TW_TOP, 2, 10, 42, "snap 1\n");
		tw_print(tw, TW_TOP, 2, 50, 42, "snap, the end\n");
		tw_kfree(tw, TW_TOP, 3, 40, 42, 1, 16);
		t = open_trace(tw, &both);
		got = km_read_back_all(t.reader, 0, batch, &count);
		ck_assert_uint_eq(count, 3);
		ck_assert_uint_eq(got[0].time, 10);
		ck_assert_uint_eq(got[0].bytes_req, 0);
		ck_assert_uint_eq(got[0].cpu, 2);
		ck_assert_uint_eq(got[1].kind, KM_EVENT_KFREE);
		ck_assert_uint_eq(got[2].time, 50);
		ck_assert_uint_eq(got[2].bytes_req, 1);
		ck_assert_uint_eq(km_reader_stats(t.reader)->slab_counts[KM_EVENT_MARK], 2);
		free(got);
		release(&t);
	}
}
END_TEST

/* ---- what is no trace.dat ---- */

START_TEST(other_formats)
{
	static const struct {
		const char *bytes;
		size_t count;
		const char *words;
	} files[] = {
		{ "", 0, "but empty" },
		{ "\x28\xb5\x2f\xfdxxxx", 8, "zstd archive" },
		{ "\x1f\x8bxxxx", 6, "gzip archive" },
		{ "\xfd"
		  "7zXZ",
		  5, "xz archive" },
		{ "\x7f"
		  "ELF",
		  4, "ELF" },
		{ "{\"a\": 1}", 8, "JSON" },
		{ "# tracer: nop\n", 14, "text" },
		{ "hello", 5, "unknown format" },
		{ "\x17\x08\x44tracin", 9, "unknown format" },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct km_error error;

		km_read_back_refused(files[i].bytes, files[i].count, &error);
		ck_assert_int_eq(error.code, -ENOTSUP);
		ck_assert_msg(strstr(error.text, files[i].words) != NULL, "%s", error.text);
		ck_assert_msg(strstr(error.text, "trace-cmd record -e kmem") != NULL ||
				      strstr(error.text, "unpack it first") != NULL,
			      "%s", error.text);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_missing_field,
		a_field_that_is_no_number,
		a_format_that_is_refused,
		only_counts,
		fields_moved,
		a_format_that_is_not_there,
		features_of_kernels,
		trace_info,
		clocks,
		clock_behind_the_cpus,
		unknown_options,
		comms,
		own_symbols,
		marks,
		one_event_with_both_marks,
		marks_on_several_cpus,
		other_formats,
		NULL,
	};

	return km_test_main("reader_formats", tests, 60);
}
