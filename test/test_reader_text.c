/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts through the reader: numbers for what are names, order, losses, what is refused. */
#include "reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "naming.h"
#include "read_back.h"
#include "testing.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define HEAD "# tracer: nop\n#\n# entries-in-buffer/entries-written: 3/3   #P:4\n#\n"
#define ALLOC(time, site, ptr)                                                               \
	"            bash-77    [001] .....  " time ": kmalloc: call_site=" site " ptr=" ptr \
	" bytes_req=40 bytes_alloc=64 gfp_flags=GFP_KERNEL|__GFP_ZERO node=-1 accounted=false\n"
#define FREE(time, site, ptr) "            bash-77    [001] .....  " time ": kfree: call_site=" site " ptr=" ptr "\n"

struct text {
	struct km_reader *reader;
	struct km_event *events;
	size_t count;
};

static struct text read_text(const char *text, const struct km_reader_options *options)
{
	struct text t = { .reader = km_read_back_open(text, strlen(text), options) };

	ck_assert_str_eq(t.reader->ops->name, "text");
	t.events = km_read_back_all(t.reader, 0, 2, &t.count);
	return t;
}

static void release(struct text *t)
{
	free(t->events);
	km_reader_close(t->reader);
}

START_TEST(events_of_the_kernels_text)
{
	struct text t = read_text(HEAD ALLOC("2.000001", "fn+0x47/0x50", "ffff888100000040")
					  FREE("2.000003", "other+0x1/0x2 [mod]", "ffff888100000040")
						  FREE("2.000004", "fn+0x47/0x50", "0000000000000000"),
				  NULL);
	const struct km_trace_info *info = km_reader_info(t.reader);
	const struct km_buffer_stats *stats;
	struct km_symbol symbol;

	ck_assert_uint_eq(t.count, 3);
	ck_assert_uint_eq(t.events[0].time, 2000001000);
	ck_assert_uint_eq(t.events[0].ptr, UINT64_C(0xffff888100000040));
	ck_assert_uint_eq(t.events[0].bytes_req, 40);
	ck_assert_uint_eq(t.events[0].bytes_alloc, 64);
	ck_assert_uint_eq(t.events[0].kind, KM_EVENT_KMALLOC);
	ck_assert_uint_eq(t.events[0].cpu, 1);
	ck_assert_int_eq(t.events[0].pid, 77);
	ck_assert_int_eq(t.events[0].node, KM_NODE_ANY);
	ck_assert_uint_eq(t.events[1].kind, KM_EVENT_KFREE);
	ck_assert_uint_eq(t.events[2].ptr, 0);
	ck_assert_uint_eq(t.events[2].call_site, t.events[0].call_site);
	ck_assert_uint_ne(t.events[1].call_site, t.events[0].call_site);
	ck_assert_int_eq(km_reader_site_name(t.reader, t.events[1].call_site, &symbol), 1);
	ck_assert_uint_eq(symbol.offset, 1);
	ck_assert_uint_eq(symbol.name_bytes, 5);
	ck_assert_uint_eq(symbol.module_bytes, 3);
	ck_assert_int_eq(km_reader_site_name(t.reader, t.events[1].call_site + 1, &symbol), 0);
	ck_assert_int_eq(km_reader_site_name(t.reader, UINT64_C(0xffffffff81000000), &symbol), 0);
	ck_assert_str_eq(km_reader_comm(t.reader, 77), "bash");
	ck_assert_str_eq(km_reader_comm(t.reader, 78), "<...>");
	ck_assert_str_eq(km_reader_comm(t.reader, 0), "<idle>");
	ck_assert(info->keeps_order && info->has_site_names && !info->pointers_are_hashed);
	ck_assert_uint_eq(info->word_bytes, 8);
	ck_assert_uint_eq(info->buffers[0].cpus_count, 4);
	stats = km_reader_stats(t.reader);
	ck_assert_uint_eq(stats->events_count, 3);
	ck_assert_uint_eq(stats->other_lines_count, 2);
	ck_assert_uint_eq(stats->cpus_count, 1);
	ck_assert(stats->cpus[0].has_statistics);
	ck_assert_uint_eq(stats->first_time, 2000001000);
	ck_assert_uint_eq(stats->last_time, 2000004000);
	release(&t);
}
END_TEST

static const char *symbol_of(struct km_naming *naming, const struct km_event *event)
{
	return km_naming_site(naming, event->call_site).symbol;
}

START_TEST(call_sites_have_their_names)
{
	struct text t = read_text(ALLOC("2.1", "fn.isra.0+0x47/0x50 [mod]", "ffff888100000040")
					  ALLOC("2.2", "fn+0x0/0x50", "ffff888100000080")
						  FREE("2.3", "0xffffffff81234567", "ffff888100000040"),
				  NULL);
	struct km_naming *naming;
	struct km_site_name name;

	ck_assert_int_eq(km_naming_new(t.reader, NULL, false, &naming, NULL), 0);
	name = km_naming_site(naming, t.events[0].call_site);
	ck_assert_str_eq(name.symbol, "fn.isra.0+0x47 [mod]");
	ck_assert_str_eq(name.function, "fn");
	ck_assert_str_eq(name.module, "mod");
	ck_assert_str_eq(symbol_of(naming, &t.events[1]), "fn+0x0");
	ck_assert_str_eq(symbol_of(naming, &t.events[2]), "0xffffffff81234567");
	ck_assert_int_eq(km_naming_state(naming), KM_SYMBOLS_USABLE);
	km_naming_free(naming);
	/* A made-up address tells nothing, even to those who ask for addresses. */
	ck_assert_int_eq(km_naming_new(t.reader, NULL, true, &naming, NULL), 0);
	ck_assert_str_eq(symbol_of(naming, &t.events[1]), "fn+0x0");
	ck_assert_str_eq(symbol_of(naming, &t.events[2]), "0xffffffff81234567");
	km_naming_free(naming);
	release(&t);
}
END_TEST

#define GFP(flags) \
	"  a-1 [000] .....  2.5: kmalloc: call_site=fn+0x1 ptr=c1000040 bytes_req=1 bytes_alloc=8 gfp_flags=" flags "\n"

START_TEST(gfp_flags_print_as_they_were)
{
	static const char *const flags[] = {
		"GFP_KERNEL|__GFP_ZERO",
		"GFP_NOWAIT|__GFP_NOWARN|__GFP_ACCOUNT",
		"__GFP_NOWARN|__GFP_ZERO",
		"GFP_KERNEL",
		"GFP_KERNEL_ACCOUNT|__GFP_ZERO|0x1000000",
		"GFP_KERNEL|__GFP_NOWARN|__GFP_COMP",
	};
	struct text t = read_text(GFP("GFP_KERNEL|__GFP_ZERO") GFP("GFP_NOWAIT|__GFP_NOWARN|__GFP_ACCOUNT")
					  GFP("__GFP_NOWARN|__GFP_ZERO") GFP("GFP_KERNEL")
						  GFP("GFP_KERNEL_ACCOUNT|__GFP_ZERO|0x1000000")
							  GFP("GFP_KERNEL|__GFP_NOWARN|__GFP_COMP") GFP("") GFP("none"),
				  NULL);
	const struct km_gfp *gfp = km_reader_gfp(t.reader);
	char text[200];

	ck_assert_uint_eq(t.count, 8);
	for (size_t i = 0; i < COUNT(flags); i++) {
		km_gfp_print(gfp, t.events[i].gfp, text, sizeof(text));
		ck_assert_str_eq(text, flags[i]);
	}
	ck_assert_uint_eq(t.events[6].gfp, 0);
	ck_assert_uint_eq(t.events[7].gfp, 0);
	ck_assert(t.events[1].gfp & gfp->account);
	ck_assert(t.events[4].gfp & gfp->account);
	ck_assert(!(t.events[0].gfp & gfp->account));
	ck_assert_uint_eq(km_reader_info(t.reader)->word_bytes, 4);
	release(&t);
}
END_TEST

START_TEST(gfp_flags_as_numbers)
{
	struct text t = read_text(GFP("0xcc0 (3264)") GFP("0xdc0"), NULL);

	ck_assert_uint_eq(t.events[0].gfp, 0xcc0);
	ck_assert_uint_eq(t.events[1].gfp, 0xdc0);
	ck_assert_uint_eq(km_reader_gfp(t.reader)->count, 0);
	release(&t);
}
END_TEST

/* More names than there are bits: the last bit stands for the rest. */
START_TEST(many_gfp_flags)
{
	size_t bytes = 0, room = 1 << 14;
	char *text = malloc(room), printed[200];
	struct text t;

	ck_assert_ptr_nonnull(text);
	for (unsigned i = 0; i < 60; i++)
		bytes += (size_t)snprintf(text + bytes, room - bytes,
					  "  a-1 [000] .....  2.5: kmalloc: call_site=fn+0x1 ptr=c1000040 bytes_req=1 "
					  "bytes_alloc=8 gfp_flags=__GFP_N%u\n",
					  i);
	t = read_text(text, NULL);
	ck_assert_uint_eq(t.count, 60);
	km_gfp_print(km_reader_gfp(t.reader), t.events[20].gfp, printed, sizeof(printed));
	ck_assert_str_eq(printed, "__GFP_N20");
	km_gfp_print(km_reader_gfp(t.reader), t.events[59].gfp, printed, sizeof(printed));
	ck_assert_str_eq(printed, "(more)");
	release(&t);
	free(text);
}
END_TEST

START_TEST(hashed_pointers_are_known)
{
	struct text t =
		read_text(ALLOC("2.1", "fn+0x1", "00000000b6161c56") ALLOC("2.2", "fn+0x1", "000000002739012e")
				  ALLOC("2.3", "fn+0x1", "000000006eede5b4") FREE("2.4", "fn+0x1", "00000000b6161c56"),
			  NULL);

	ck_assert(km_reader_info(t.reader)->pointers_are_hashed);
	ck_assert_uint_eq(t.events[3].ptr, t.events[0].ptr);
	release(&t);
	/* Low addresses need not be hashed: s390x has them. */
	t = read_text(ALLOC("2.1", "fn+0x1", "0000000006af9790") FREE("2.4", "fn+0x1", "0000000006af9790"), NULL);
	ck_assert(!km_reader_info(t.reader)->pointers_are_hashed);
	release(&t);
}
END_TEST

START_TEST(withheld_pointers_are_refused)
{
	static const char all[] = ALLOC("2.1", "fn+0x1", "(____ptrval____)") FREE("2.2", "fn+0x1", "(____ptrval____)")
		FREE("2.3", "fn+0x1", "(null)");
	static const struct km_reader_options counting = { .only_counts = true };
	struct km_reader *reader = km_read_back_open(all, sizeof(all) - 1, NULL);
	struct km_error error = { 0 };
	struct km_event event;
	struct text t;

	ck_assert_int_eq(km_reader_start(reader, 0, &error), -ENOTSUP);
	ck_assert_int_eq(error.code, -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(error.text, "hash-ptr"));
	km_reader_close(reader);

	reader = km_read_back_open(all, sizeof(all) - 1, &counting);
	ck_assert_int_eq(km_reader_start(reader, 0, NULL), 0);
	ck_assert_int_eq(km_reader_read(reader, &event, 1, NULL), 0);
	ck_assert_uint_eq(km_reader_stats(reader)->events_count, 3);
	ck_assert_uint_eq(km_read_back_count(reader, "kfree"), 2);
	km_reader_close(reader);

	/* A boot log begins with some: only those are left out. */
	t = read_text(ALLOC("2.1", "fn+0x1", "(____ptrval____)") ALLOC("2.2", "fn+0x1", "00000000b6161c56"), NULL);
	ck_assert_uint_eq(t.count, 1);
	ck_assert_uint_eq(km_reader_stats(t.reader)->skipped_count, 1);
	ck_assert_ptr_nonnull(strstr(km_reader_stats(t.reader)->first_skipped, "line 1"));
	release(&t);
}
END_TEST

START_TEST(losses_and_order)
{
	struct text t = read_text("CPU:2 [LOST 5 EVENTS]\n" FREE("2.1", "fn+0x1", "0") FREE("2.3", "fn+0x1", "0")
					  FREE("2.2", "fn+0x1", "0") "CPU:1 [LOST 1234 EVENTS]\n"
								     "CPU:1 [LOST EVENTS]\n" FREE("2.4", "fn+0x1", "0"),
				  NULL);
	const struct km_buffer_stats *stats = km_reader_stats(t.reader);

	ck_assert_uint_eq(t.count, 6);
	ck_assert_uint_eq(t.events[2].time, 2300000000); /* earlier than the one before it */
	ck_assert_uint_eq(stats->backwards_count, 1);
	ck_assert_uint_eq(t.events[3].kind, KM_EVENT_LOST);
	ck_assert_uint_eq(t.events[3].bytes_req, 1234);
	ck_assert_uint_eq(t.events[3].cpu, 1);
	ck_assert_uint_eq(t.events[4].kind, KM_EVENT_LOST);
	ck_assert_uint_eq(t.events[4].bytes_req, 0);
	ck_assert_uint_eq(stats->cpus_count, 2);
	ck_assert_uint_eq(stats->cpus[0].cpu, 1);
	ck_assert_uint_eq(stats->cpus[0].stored_count, 1234);
	ck_assert_uint_eq(stats->cpus[0].uncounted_gaps_count, 1);
	ck_assert_uint_eq(stats->cpus[0].holes_count, 2);
	ck_assert(stats->cpus[1].start_lost && !stats->cpus[1].holes_count && !stats->cpus[1].has_statistics);
	ck_assert_uint_eq(stats->cpus[1].stored_count, 5);
	release(&t);
}
END_TEST

/* The kernel's head says how many events there are: a copy of the first ones is no whole trace. */
START_TEST(a_head_that_tells_of_more)
{
	static const struct {
		const char *text;
		bool is_cut;
	} cases[] = {
		{ HEAD FREE("2.1", "fn+0x1", "0") FREE("2.2", "fn+0x1", "0") FREE("2.3", "fn+0x1", "0"), false },
		{ HEAD FREE("2.1", "fn+0x1", "0") FREE("2.2", "fn+0x1", "0"), true },
		/* an event of the function tracer, and one of a kind that is not known */
		{ HEAD FREE("2.1", "fn+0x1", "0") "  a-1 [000] .....  2.5: vfs_read <-ksys_read\n"
						  "  a-1 [000] .....  2.5: other: x=1\n",
		  false },
		{ HEAD FREE("2.1", "fn+0x1", "0") "\n#\n# more\n", true },
		{ FREE("2.1", "fn+0x1", "0"), false },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct text t = read_text(cases[i].text, NULL);

		ck_assert_msg(km_reader_info(t.reader)->is_cut_short == cases[i].is_cut, "case %zu", i);
		release(&t);
	}
}
END_TEST

START_TEST(an_overwritten_start)
{
	struct text t = read_text("# tracer: nop\n# entries-in-buffer/entries-written: 2/900   #P:2\n" FREE(
					  "2.1", "fn+0x1", "0") "##### CPU 0 buffer started ####\n"
								"  a-1 [000] .....  2.5: kfree: call_site=fn ptr=0\n",
				  NULL);
	const struct km_buffer_stats *stats = km_reader_stats(t.reader);

	ck_assert_uint_eq(t.count, 2);
	ck_assert_uint_eq(stats->cpus_count, 2);
	for (size_t i = 0; i < 2; i++)
		ck_assert(stats->cpus[i].start_lost && !stats->cpus[i].has_statistics);
	release(&t);
}
END_TEST

START_TEST(what_is_left_out_is_counted)
{
	struct text t =
		read_text("some words\n" FREE("2.1", "fn+0x1", "0") " => caller+0x1/0x2\n"
								    "  a-1 [000] .....  2.5: kfree: ptr=0\n"
								    "  a-1 [000] .....  2.5: rss_stat: curr=0\n"
								    "  a-1 [000] .....  77: kfree: call_site=fn "
								    "ptr=0\n"
								    "  a-1 [000] .....  2.5: kmalloc: "
								    "call_site=fn ptr=c1000040 bytes_req=100 "
								    "bytes_alloc=8\n",
			  NULL);
	const struct km_buffer_stats *stats = km_reader_stats(t.reader);

	ck_assert_uint_eq(t.count, 1);
	ck_assert_uint_eq(stats->other_lines_count, 3); /* a time of another unit, too */
	ck_assert_uint_eq(stats->events_count, 4);
	ck_assert_uint_eq(stats->skipped_count, 2);
	ck_assert_uint_eq(km_read_back_count(t.reader, "kfree"), 2);
	ck_assert_uint_eq(km_read_back_count(t.reader, "rss_stat"), 1);
	release(&t);
}
END_TEST

START_TEST(marks_are_met_once)
{
	static const struct km_reader_options options = { .marks = { "begin", "gi" } };
	struct text t =
		read_text("  a-1 [000] .....  2.5: tracing_mark_write: begin\n"
			  "  a-1 [000] .....  2.6: print:   tracing_mark_write: begin again\n" FREE("2.7", "fn", "0"),
			  &options);

	ck_assert_uint_eq(t.count, 3);
	ck_assert_uint_eq(t.events[0].kind, KM_EVENT_MARK);
	ck_assert_uint_eq(t.events[0].bytes_req, 0);
	ck_assert_uint_eq(t.events[1].kind, KM_EVENT_MARK);
	ck_assert_uint_eq(t.events[1].bytes_req, 1);
	ck_assert_uint_eq(t.events[1].time, 2500000000);
	ck_assert_uint_eq(t.events[2].kind, KM_EVENT_KFREE);
	release(&t);
}
END_TEST

#define OF(buffer, task, event) buffer ":               " task "   [000] .....  2.5: " event "\n"

START_TEST(instances_are_buffers)
{
	static const char text[] = "cpus=2\n" OF(" slab", "sh-1", "kfree: call_site=fn ptr=c1000040")
		OF("pages", "sh-1", "mm_page_free: page=1") OF(
			" slab", "sh-1",
			"kfree: call_site=fn ptr=0") "                      sh-1   [000] .....  2.5: sched_switch: x\n";
	struct km_reader *reader = km_read_back_open(text, sizeof(text) - 1, NULL);
	const struct km_trace_info *info = km_reader_info(reader);
	static const uint64_t counts[] = { 1, 2, 1 };
	size_t count;

	ck_assert_uint_eq(info->buffers_count, 3);
	ck_assert_str_eq(info->buffers[0].name, "");
	ck_assert_str_eq(info->buffers[1].name, "slab");
	ck_assert_str_eq(info->buffers[2].name, "pages");
	for (size_t i = 0; i < 3; i++) {
		free(km_read_back_all(reader, i, 7, &count));
		ck_assert_uint_eq(count, i == 1 ? 2 : 0);
		ck_assert_uint_eq(km_reader_stats(reader)->events_count, counts[i]);
	}
	ck_assert_int_eq(km_reader_start(reader, 3, NULL), -EINVAL);
	km_reader_close(reader);
}
END_TEST

START_TEST(cache_names_and_ticks)
{
	struct text t = read_text("  a-1 [000] .....  77: kmem_cache_alloc: call_site=fn ptr=c1000040 name=filp "
				  "bytes_req=8 bytes_alloc=8 gfp_flags=GFP_KERNEL node=2 accounted=true\n"
				  "  a-1 [000] .....  78: kmem_cache_free: call_site=fn ptr=c1000040 name=filp\n",
				  NULL);
	const struct km_trace_info *info = km_reader_info(t.reader);
	uint64_t first, last;

	ck_assert_uint_eq(t.count, 2);
	ck_assert_str_eq(km_reader_cache_name(t.reader, t.events[0].cache), "filp");
	ck_assert_uint_eq(t.events[1].cache, t.events[0].cache);
	ck_assert_int_eq(t.events[0].node, 2);
	ck_assert_uint_eq(info->features, KM_TRACE_ALLOC_NAMES | KM_TRACE_FREE_NAMES | KM_TRACE_NODES);
	ck_assert_int_eq(info->buffers[0].unit, KM_CLOCK_TICKS);
	ck_assert_int_eq(km_reader_time_range(t.reader, 0, &first, &last, NULL), 1);
	ck_assert_uint_eq(first, 77);
	ck_assert_uint_eq(last, 78);
	release(&t);
}
END_TEST

/* Longer than any buffer: passed over, and what follows is read. */
START_TEST(long_lines_are_passed_over)
{
	static const char first[] = FREE("2.1", "fn+0x1", "0"), last[] = FREE("2.2", "fn+0x1", "0");
	size_t middle = 3 << 20, bytes = sizeof(first) - 1 + middle + sizeof(last) - 1;
	char *text = malloc(bytes + 1);
	struct text t;

	ck_assert_ptr_nonnull(text);
	memcpy(text, first, sizeof(first) - 1);
	memset(text + sizeof(first) - 1, 'x', middle);
	text[sizeof(first) - 1 + middle - 1] = '\n';
	memcpy(text + sizeof(first) - 1 + middle, last, sizeof(last));
	t = read_text(text, NULL);
	ck_assert_uint_eq(t.count, 2);
	ck_assert_uint_eq(km_reader_stats(t.reader)->other_lines_count, 1);
	release(&t);
	free(text);
}
END_TEST

/* Lines across the ends of reads, and a last one without its newline. */
START_TEST(many_lines)
{
	static const char line[] = FREE("2.1", "fn+0x1", "ffff888100000040");
	size_t lines = 20000, bytes = lines * (sizeof(line) - 1);
	char *text = malloc(bytes + 1);
	struct text t;

	ck_assert_ptr_nonnull(text);
	for (size_t i = 0; i < lines; i++)
		memcpy(text + i * (sizeof(line) - 1), line, sizeof(line));
	text[bytes - 1] = '\0';
	t = read_text(text, NULL);
	ck_assert_uint_eq(t.count, lines);
	ck_assert_uint_eq(t.events[lines - 1].ptr, UINT64_C(0xffff888100000040));
	ck_assert(!km_reader_info(t.reader)->is_cut_short);
	release(&t);
	strstr(text + bytes - 40, "ptr=")[4] = '\0';
	t = read_text(text, NULL);
	ck_assert_uint_eq(t.count, lines - 1);
	ck_assert_uint_eq(km_reader_stats(t.reader)->skipped_count, 1);
	ck_assert(km_reader_info(t.reader)->is_cut_short);
	release(&t);
	free(text);
}
END_TEST

START_TEST(other_texts_are_refused)
{
	static const char *const texts[] = {
		"",
		"Some words about kmalloc: it takes a size.\nAnd more.\n",
		"Jan  1 10:15:32 host kernel: something: else\n",
		"{ \"kmalloc\": 1 }\n",
		"  a-1 [000] .....  2.5: sched_switch: x\n", /* one may be chance */
	};
	struct km_error error;

	for (size_t i = 0; i < COUNT(texts); i++) {
		km_read_back_refused(texts[i], strlen(texts[i]), &error);
		ck_assert_int_eq(error.code, -ENOTSUP);
	}
}
END_TEST

/* ---- damage ---- */

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(*state >> 33);
}

static void read_damaged(const char *data, size_t bytes)
{
	struct km_source *source = km_source_new_memory("damaged", data, bytes);
	uint64_t first, last, time = 0;
	struct km_event events[16];
	struct km_reader *reader;
	int n;

	ck_assert_ptr_nonnull(source);
	if (km_reader_open(source, NULL, &reader, NULL)) {
		km_source_close(source);
		return;
	}
	for (size_t buffer = 0; buffer < km_reader_info(reader)->buffers_count; buffer++) {
		if (km_reader_start(reader, buffer, NULL))
			continue;
		while ((n = km_reader_read(reader, events, COUNT(events), NULL)) > 0) {
			for (int i = 0; i < n; i++) {
				ck_assert(events[i].time >= time && events[i].cpu < KM_CPU_LIMIT);
				time = events[i].time;
			}
		}
		ck_assert_int_eq(n, 0);
		time = 0;
		km_reader_stats(reader);
		km_reader_time_range(reader, buffer, &first, &last, NULL);
	}
	km_reader_close(reader);
}

START_TEST(damaged_texts_are_survived)
{
	static const char text[] = HEAD ALLOC("2.1", "fn+0x1/0x2 [m]", "ffff888100000040")
		FREE("2.2", "(fn+0x1) call_site=c1000000", "(null)") "CPU:1 [LOST 1234 EVENTS]\n" OF(
			" slab", "sh-1", "kmem_cache_free: call_site=fn ptr=c1000040 name=filp")
			GFP("GFP_KERNEL|0x1") "perf 1/2 [000]  2.5:  kmem:kfree: call_site=c1000000 ptr=12\n"
					      "##### CPU 1 buffer started ####\n"
					      "[    0.1][   T12] kfree: call_site=fn+0x1 ptr=(____ptrval____)\n"
					      "  a-1 [000] .....  2.5: tracing_mark_write: begin\n";
	static const char pieces[] = "[]():=.+|/ \t-0x9fkT\n\n\r";
	uint64_t state = 11;

	for (unsigned round = 0; round < 3000; round++) {
		size_t bytes = sizeof(text) - 1;
		char *copy = malloc(bytes);

		ck_assert_ptr_nonnull(copy);
		memcpy(copy, text, bytes);
		for (unsigned n = next_random(&state) % 12; n; n--)
			copy[next_random(&state) % bytes] = next_random(&state) % 4
								    ? pieces[next_random(&state) % (sizeof(pieces) - 1)]
								    : (char)next_random(&state);
		if (round % 3 == 0)
			bytes = next_random(&state) % (bytes + 1);
		read_damaged(copy, bytes);
		free(copy);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		events_of_the_kernels_text,
		call_sites_have_their_names,
		gfp_flags_print_as_they_were,
		gfp_flags_as_numbers,
		many_gfp_flags,
		hashed_pointers_are_known,
		withheld_pointers_are_refused,
		losses_and_order,
		a_head_that_tells_of_more,
		an_overwritten_start,
		what_is_left_out_is_counted,
		marks_are_met_once,
		instances_are_buffers,
		cache_names_and_ticks,
		long_lines_are_passed_over,
		many_lines,
		other_texts_are_refused,
		damaged_texts_are_survived,
		NULL,
	};

	return km_test_main("reader_text", tests, 30);
}
