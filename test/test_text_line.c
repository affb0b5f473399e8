/* SPDX-License-Identifier: GPL-2.0-only */
/* Every form of a line that kernels, trace-cmd and perf have printed, field for field. */
#include "text_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#define SLAB     "kmalloc: call_site=fn+0x47/0x50 ptr=ffff888100000040 bytes_req=40 bytes_alloc=64 gfp_flags=GFP_KERNEL"
#define KFREE    "kfree: call_site=fn+0x47/0x50 ptr=ffff888100000040"
#define SLAB_PTR UINT64_C(0xffff888100000040)

static struct km_text_line parse(const char *text)
{
	struct km_text_line line;

	km_text_line_parse(text, strlen(text), &line);
	return line;
}

static void check_slice(struct km_text_slice slice, const char *expected, const char *text)
{
	ck_assert_msg(slice.bytes == strlen(expected) && (!slice.bytes || !memcmp(slice.p, expected, slice.bytes)),
		      "\"%.*s\", not \"%s\", in: %s", (int)slice.bytes, slice.p, expected, text);
}

/* ---- what is before the event ---- */

struct context {
	const char *text;
	uint64_t time;
	unsigned cpu;
	int32_t pid;
	const char *comm;
};

static void check_contexts(const struct context *contexts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct context *c = &contexts[i];
		struct km_text_line line = parse(c->text);

		ck_assert_msg(line.kind == KM_TEXT_SLAB, "kind %d: %s", line.kind, c->text);
		ck_assert_msg(!line.fault, "%s: %s", line.fault, c->text);
		ck_assert_msg(line.has_time == (c->time > 0), "has_time: %s", c->text);
		ck_assert_msg(line.time == c->time, "time %llu: %s", (unsigned long long)line.time, c->text);
		ck_assert_msg(line.cpu == c->cpu, "cpu %u: %s", line.cpu, c->text);
		ck_assert_msg(line.pid == c->pid, "pid %d: %s", line.pid, c->text);
		check_slice(line.comm, c->comm, c->text);
		ck_assert_msg(line.ptr == SLAB_PTR, "ptr: %s", c->text);
	}
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

START_TEST(contexts_of_the_kernel)
{
	static const struct context contexts[] = {
		{ "              tr-18337   [000] .....  2568.370909: " SLAB, 2568370909000, 0, 18337, "tr" },
		{ "            bash-2345  [012] d..1.   12.000001: " SLAB, 12000001000, 12, 2345, "bash" },
		{ "            bash-2345  [012] d..1   12.000001: " SLAB, 12000001000, 12, 2345, "bash" },
		{ "            bash-2345  [012]   12.000001: " SLAB, 12000001000, 12, 2345, "bash" },
		{ "            bash-2345  (   2345) [001] .....   12.000001: " SLAB, 12000001000, 1, 2345, "bash" },
		{ "            bash-2345  (-------) [001] .....   12.000001: " SLAB, 12000001000, 1, 2345, "bash" },
		{ "          <idle>-0     [001] dNh1.   12.5: " SLAB, 12500000000, 1, 0, "<idle>" },
		{ "           <...>-77    [001] .....   12.5: " SLAB, 12500000000, 1, 77, "" },
		{ "            bash-2345  [001] .....   4242: " SLAB, 4242, 1, 2345, "bash" },
		{ " [001] .....   12.5: " SLAB, 12500000000, 1, KM_TEXT_PID_NONE, "" },
		{ "12.5: " SLAB, 12500000000, 0, KM_TEXT_PID_NONE, "" },
	};

	check_contexts(contexts, COUNT(contexts));
}
END_TEST

START_TEST(names_of_tasks_can_be_anything)
{
	static const struct context contexts[] = {
		{ "    test:.sh-1299  [001] .....   12.5: " SLAB, 12500000000, 1, 1299, "test:.sh" },
		{ "     kworker/u8:1-23    [001] .....   12.5: " SLAB, 12500000000, 1, 23, "kworker/u8:1" },
		{ "     kworker/0:1-23    [001] .....   12.5: " SLAB, 12500000000, 1, 23, "kworker/0:1" },
		{ "  a [001] b-1-23    [002] .....   12.5: " SLAB, 12500000000, 2, 23, "a [001] b-1" },
		{ "     1.5: foo x-23    [002] .....   12.5: " SLAB, 12500000000, 2, 23, "1.5: foo x" },
		{ "     Web Content-23    [002] .....   12.5: " SLAB, 12500000000, 2, 23, "Web Content" },
		{ "     (sd-pam)-23    [002] .....   12.5: " SLAB, 12500000000, 2, 23, "(sd-pam)" },
		{ "     123-23    [002] .....   12.5: " SLAB, 12500000000, 2, 23, "123" },
		{ "     a=b-23    [002] .....   12.5: " SLAB, 12500000000, 2, 23, "a=b" },
	};

	check_contexts(contexts, COUNT(contexts));
}
END_TEST

START_TEST(contexts_of_trace_cmd)
{
	static const struct context contexts[] = {
		{ "              sh-464   [000] .....    67.194209488: " SLAB, 67194209488, 0, 464, "sh" },
		{ "              tr-12561 [001]6306570476101: " SLAB, 6306570476101, 1, 12561, "tr" },
		{ "      tr-18487   0.....  2582.780337: " SLAB, 2582780337000, 0, 18487, "tr" },
		{ "      tr-18487  11d..3.  2582.780337: " SLAB, 2582780337000, 11, 18487, "tr" },
	};
	struct km_text_line line = parse(" slab:               sh-464   [000] .....    67.194209488: " SLAB);

	check_contexts(contexts, COUNT(contexts));
	check_slice(line.buffer, "slab", "");
	check_slice(line.comm, "sh", "");
	line = parse("pages:  trace-cmd-abcde-464   [000] .....    67.194209488: " SLAB);
	check_slice(line.buffer, "pages", "");
	check_slice(line.comm, "trace-cmd-abcde", "");
	line = parse("slab: sh-464   [000] .....    67.194209488: " SLAB);
	ck_assert_uint_eq(line.buffer.bytes, 0);
}
END_TEST

START_TEST(contexts_of_perf_script)
{
	static const struct context contexts[] = {
		{ "            perf 17401 [001]  2533.019064:          kmem:" SLAB, 2533019064000, 1, 17401, "perf" },
		{ "perf 17401/17402 [001]  2533.019064:   kmem:" SLAB, 2533019064000, 1, 17402, "perf" },
		{ "     Web Content 17401 [001]  2533.019064:   kmem:" SLAB, 2533019064000, 1, 17401, "Web Content" },
		{ "perf 17401  2533.019064123:   kmem:" SLAB, 2533019064123, 0, 17401, "perf" },
		{ ":18280 18280 [000]  2566.811274:   kmem:" SLAB, 2566811274000, 0, 18280, ":18280" },
		{ "perf 17401 [001]  2533.019064:     1 kmem:" SLAB, 2533019064000, 1, 17401, "perf" },
	};

	check_contexts(contexts, COUNT(contexts));
	ck_assert(parse(contexts[0].text).is_perf);
	check_slice(parse(contexts[0].text).name, "kmalloc", contexts[0].text);
}
END_TEST

START_TEST(lines_of_logs_and_mails)
{
	static const struct context contexts[] = {
		{ "> >               tr-18337   [000] .....  2568.370909: " SLAB, 2568370909000, 0, 18337, "tr" },
		{ "\t    tr-18337   [000] .....  2568.370909: " SLAB "\r", 2568370909000, 0, 18337, "tr" },
		{ "[  251.123456]       tr-18337   [000] .....  2568.37: " SLAB, 2568370000000, 0, 18337, "tr" },
		{ "[    0.123456] " SLAB, 123456000, 0, KM_TEXT_PID_NONE, "" },
		{ "[    0.123456][   T12] " SLAB, 123456000, 0, 12, "" },
		{ "[    0.123456][    C3] " SLAB, 123456000, 3, KM_TEXT_PID_NONE, "" },
		{ "    bash-2345    1d..3 251us+: " SLAB, 251000, 1, 2345, "bash" },
		{ "    bash-2345    1d..3 251us : " SLAB, 251000, 1, 2345, "bash" },
		{ SLAB, 0, 0, KM_TEXT_PID_NONE, "" },
	};
	static const char zeros[] = "\0\0  tr-18337   [000] .....  2568.5: " SLAB "\0\0";
	struct km_text_line line;

	check_contexts(contexts, COUNT(contexts));
	ck_assert_int_eq(km_text_line_parse(zeros, sizeof(zeros) - 1, &line), KM_TEXT_SLAB);
	check_slice(line.comm, "tr", "NULs");
	check_slice(line.gfp, "GFP_KERNEL", "NULs");
}
END_TEST

/* ---- fields ---- */

#define AT "  tr-1   [000] .....  2.5: "

START_TEST(slab_events_by_name)
{
	static const char *const fields = "call_site=fn+0x1 ptr=ffff888100000040 bytes_req=40 bytes_alloc=64 "
					  "gfp_flags=GFP_KERNEL node=-1 accounted=true";

	for (unsigned kind = 0; kind < KM_EVENT_SLAB_KINDS; kind++) {
		char text[300];
		struct km_text_line line;

		snprintf(text, sizeof(text), AT "%s: %s", km_event_kind_name((enum km_event_kind)kind), fields);
		line = parse(text);
		ck_assert_int_eq(line.kind, KM_TEXT_SLAB);
		ck_assert_uint_eq(line.slab, kind);
		ck_assert_ptr_null(line.fault);
		check_slice(line.site, "fn+0x1", text);
		check_slice(line.gfp, "GFP_KERNEL", text);
		ck_assert_uint_eq(line.bytes_req, 40);
		ck_assert_uint_eq(line.bytes_alloc, 64);
		ck_assert(line.has_node);
		ck_assert_int_eq(line.node, -1);
		ck_assert_uint_eq(line.cache.bytes, 0);
	}
}
END_TEST

START_TEST(names_and_flags)
{
	struct km_text_line line = parse(AT "kmem_cache_alloc: call_site=fn+0x1/0x20 [ext4] ptr=ffff888100000040 "
					    "name=my cache bytes_req=40 bytes_alloc=64 "
					    "gfp_flags=GFP_KERNEL|__GFP_ZERO|0x1000000 node=1 accounted=false");

	check_slice(line.site, "fn+0x1/0x20 [ext4]", "");
	check_slice(line.cache, "my cache", "");
	check_slice(line.gfp, "GFP_KERNEL|__GFP_ZERO|0x1000000", "");
	ck_assert_int_eq(line.node, 1);
	line = parse(AT "kmem_cache_free: call_site=fn+0x1[ext4] ptr=ffff888100000040 name=filp");
	check_slice(line.site, "fn+0x1[ext4]", "");
	check_slice(line.cache, "filp", "");
	line = parse(AT "kmalloc: call_site=fn+0x1 ptr=ffff888100000040 bytes_req=40 bytes_alloc=64 gfp_flags=");
	ck_assert_ptr_null(line.fault);
	ck_assert_uint_eq(line.gfp.bytes, 0);
	line = parse(AT "kmalloc: call_site=fn+0x1 ptr=ffff888100000040 bytes_req=40 bytes_alloc=64 gfp_flags= node=0");
	ck_assert_ptr_null(line.fault);
	ck_assert_uint_eq(line.gfp.bytes, 0);
	ck_assert_int_eq(line.node, 0);
}
END_TEST

START_TEST(pointers)
{
	static const struct {
		const char *text;
		enum km_text_pointer pointer;
		uint64_t ptr;
		unsigned digits;
	} cases[] = {
		{ "ffff888100000040", KM_TEXT_POINTER_VALUE, SLAB_PTR, 16 },
		{ "0xffff888100000040", KM_TEXT_POINTER_VALUE, SLAB_PTR, 16 },
		{ "0xffff888100000040 (-131387344551872)", KM_TEXT_POINTER_VALUE, SLAB_PTR, 16 },
		{ "00000000b6161c56", KM_TEXT_POINTER_VALUE, 0xb6161c56, 16 },
		{ "c147dd20", KM_TEXT_POINTER_VALUE, 0xc147dd20, 8 },
		{ "0x6af9790", KM_TEXT_POINTER_VALUE, 0x6af9790, 7 },
		{ "18446612686364999744", KM_TEXT_POINTER_VALUE, SLAB_PTR, 16 },
		{ "0000000000000000", KM_TEXT_POINTER_NULL, 0, 16 },
		{ "0x0", KM_TEXT_POINTER_NULL, 0, 1 },
		{ "(null)", KM_TEXT_POINTER_NULL, 0, 0 },
		{ "  (null)", KM_TEXT_POINTER_NULL, 0, 0 },
		{ "          (null)", KM_TEXT_POINTER_NULL, 0, 0 },
		{ "(nil)", KM_TEXT_POINTER_NULL, 0, 0 },
		{ "(____ptrval____)", KM_TEXT_POINTER_WITHHELD, 0, 0 },
		{ "(ptrval)", KM_TEXT_POINTER_WITHHELD, 0, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[200];
		struct km_text_line line;

		snprintf(text, sizeof(text), AT "kmem_cache_free: call_site=fn+0x1 ptr=%s name=filp", cases[i].text);
		line = parse(text);
		ck_assert_msg(!line.fault, "%s", text);
		ck_assert_msg(line.pointer == cases[i].pointer, "%s", text);
		ck_assert_msg(line.ptr == cases[i].ptr, "%s", text);
		ck_assert_msg(line.ptr_digits == cases[i].digits, "%s", text);
		check_slice(line.cache, "filp", text);
	}
}
END_TEST

START_TEST(the_fields_option)
{
	struct km_text_line line =
		parse(AT "kmalloc: call_site=0xffffffff92d10d97 (-1831793257) ptr=0xffff888100000040 "
			 "(-131387344551872) bytes_req=0x168 (360) bytes_alloc=0x200 (512) gfp_flags=0xcc0 (3264) "
			 "node=0xffffffff (-1)");
	struct km_text_site site;

	ck_assert_ptr_null(line.fault);
	ck_assert_uint_eq(line.ptr, SLAB_PTR);
	ck_assert_uint_eq(line.bytes_req, 360);
	ck_assert_uint_eq(line.bytes_alloc, 512);
	ck_assert_int_eq(line.node, -1);
	check_slice(line.gfp, "0xcc0", "");
	ck_assert_int_eq(km_text_site_parse(line.site.p, line.site.bytes, &site), 1);
	ck_assert(site.has_address && !site.has_symbol);
	ck_assert_uint_eq(site.address, UINT64_C(0xffffffff92d10d97));
}
END_TEST

START_TEST(faults_are_told)
{
	static const char *const texts[] = {
		AT "kmalloc: ptr=ffff888100000040 bytes_req=40 bytes_alloc=64",
		AT "kmalloc: call_site=fn+0x1 bytes_req=40 bytes_alloc=64",
		AT "kmalloc: call_site=fn+0x1 ptr=ffff888100000040 bytes_alloc=64",
		AT "kmalloc: call_site=fn+0x1 ptr=ffff888100000040 bytes_req=40",
		AT "kmalloc: call_site=fn+0x1 ptr=ffff888100000040 bytes_req=4x bytes_alloc=64",
		AT "kfree: call_site=fn+0x1 ptr=zzz",
		AT "kfree: call_site=fn+0x1 ptr=ffff8881000000401",
		AT "kfree: call_site=fn+0x1 ptr=",
		AT "kfree:",
	};

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct km_text_line line = parse(texts[i]);

		ck_assert_msg(line.kind == KM_TEXT_SLAB && line.fault, "%s", texts[i]);
	}
}
END_TEST

/* ---- call sites ---- */

START_TEST(call_sites)
{
	static const struct {
		const char *text, *name, *module;
		uint64_t offset, address;
	} cases[] = {
		{ "fn+0x47/0x50", "fn", "", 0x47, 0 },
		{ "fn+0x47", "fn", "", 0x47, 0 },
		{ "fn.isra.0+0x47/0x50 [mod]", "fn.isra.0", "mod", 0x47, 0 },
		{ "fn+0x47/0x50[mod]", "fn", "mod", 0x47, 0 },
		{ "fn+0x47/0x50 [mod 0123abcd]", "fn", "mod", 0x47, 0 },
		{ "add+0x1", "add", "", 1, 0 },
		{ "fn", "fn", "", 0, 0 },
		{ "(fn+0x36) call_site=c104deff", "fn", "", 0x36, 0xc104deff },
		{ "(fn+0x36) call_site=fn+0x36", "fn", "", 0x36, 0 },
		{ "c104deff", NULL, NULL, 0, 0xc104deff },
		{ "ffffffff81234567", NULL, NULL, 0, UINT64_C(0xffffffff81234567) },
		{ "0xffffffff81234567", NULL, NULL, 0, UINT64_C(0xffffffff81234567) },
	};
	struct km_text_site site;

	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *text = cases[i].text;

		ck_assert_msg(km_text_site_parse(text, strlen(text), &site) == 1, "%s", text);
		ck_assert_msg(site.has_symbol == (cases[i].name != NULL), "%s", text);
		ck_assert_msg(site.has_address == (cases[i].address != 0), "%s", text);
		ck_assert_msg(site.address == cases[i].address, "%s", text);
		if (!site.has_symbol)
			continue;
		check_slice(site.name, cases[i].name, text);
		check_slice(site.module, cases[i].module, text);
		ck_assert_msg(site.offset == cases[i].offset, "%s", text);
	}
	ck_assert_int_eq(km_text_site_parse("", 0, &site), 0);
	ck_assert_int_eq(km_text_site_parse("fn+0xz", 6, &site), 0);
	ck_assert_int_eq(km_text_site_parse("(fn+0x1", 7, &site), 0);
}
END_TEST

START_TEST(trace_cmds_symbol_before_the_fields)
{
	struct km_text_line line = parse(AT "kfree:    (fn+0x36) call_site=c104deff ptr=c147dd20");

	ck_assert_ptr_null(line.fault);
	check_slice(line.site, "(fn+0x36) call_site=c104deff", "");
	ck_assert_uint_eq(line.ptr, 0xc147dd20);
}
END_TEST

/* ---- what is no slab event ---- */

START_TEST(losses)
{
	static const struct {
		const char *text;
		unsigned cpu;
		uint64_t count;
	} cases[] = {
		{ "CPU:1 [LOST 1234 EVENTS]", 1, 1234 },
		{ "CPU:12 [LOST EVENTS]", 12, 0 },
		{ "> CPU:1 [LOST 1234 EVENTS]\r", 1, 1234 },
		{ "CPU:3 [77 EVENTS DROPPED]", 3, 77 },
		{ "CPU:3 [EVENTS DROPPED]", 3, 0 },
		{ "  perf 18277 [001]  2566.807573: PERF_RECORD_LOST lost 1414", 1, 1414 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct km_text_line line = parse(cases[i].text);

		ck_assert_msg(line.kind == KM_TEXT_LOST, "%s", cases[i].text);
		ck_assert_msg(line.cpu == cases[i].cpu && line.lost_count == cases[i].count, "%s", cases[i].text);
	}
}
END_TEST

START_TEST(other_events)
{
	struct km_text_line line = parse(AT "rss_stat: mm_id=27 curr=0 type=MM_FILEPAGES size=1613824B");

	ck_assert_int_eq(line.kind, KM_TEXT_EVENT);
	check_slice(line.name, "rss_stat", "");
	line = parse("perf 1 [000]  2.5: sched:sched_switch: prev_comm=perf ==> next_comm=kmalloc: call_site=1 ptr=2");
	ck_assert_int_eq(line.kind, KM_TEXT_EVENT);
	check_slice(line.name, "sched_switch", "");
	line = parse(AT "tracing_mark_write: begin here");
	ck_assert_int_eq(line.kind, KM_TEXT_MARK);
	check_slice(line.payload, "begin here", "");
	line = parse(AT "print:                tracing_mark_write: begin here");
	ck_assert_int_eq(line.kind, KM_TEXT_MARK);
	line = parse(AT "kernel_stack:         <stack trace >");
	ck_assert_int_eq(line.kind, KM_TEXT_EVENT);
	check_slice(line.name, "kernel_stack", "");
	line = parse(AT "<stack trace>");
	check_slice(line.name, "kernel_stack", "");
}
END_TEST

START_TEST(heads)
{
	struct km_text_line line = parse("# entries-in-buffer/entries-written: 1767/2000   #P:2");

	ck_assert_int_eq(line.kind, KM_TEXT_HEADER);
	ck_assert(line.has_entries);
	ck_assert_uint_eq(line.entries_count, 1767);
	ck_assert_uint_eq(line.written_count, 2000);
	ck_assert_uint_eq(line.cpus_count, 2);
	ck_assert_uint_eq(parse("cpus=16").cpus_count, 16);
	ck_assert_int_eq(parse("# tracer: nop").kind, KM_TEXT_HEADER);
	line = parse("##### CPU 3 buffer started ####");
	ck_assert_int_eq(line.kind, KM_TEXT_HEADER);
	ck_assert(line.starts_cpu);
	ck_assert_uint_eq(line.cpu, 3);
}
END_TEST

START_TEST(lines_that_are_no_events)
{
	static const char strange_cpu[] = "  tr-1   [9999999] .....  2.5: " KFREE;
	static const char *const texts[] = {
		"",
		"   ",
		"\tffffffff816349cd [unknown] ([kernel.kallsyms])",
		" => __kmalloc+0x12/0x40",
		"#              | |         |   |||||     |         |",
		"Jan  1 10:15:32 host kernel: something: else",
		"Version 1.2: kmem: changes",
		"12: note: this",
		"  tr-1   [000] .....  2.5: vfs_read <-ksys_read",
		strange_cpu,
		"kmalloc: nothing of it",
		"call_site=",
		"a call_site=1 ptr=2",
		"CPU:1 [LOST many EVENTS]",
		"CPU:99999 [LOST 1 EVENTS]",
		"cpus=none",
	};

	for (size_t i = 0; i < COUNT(texts); i++) {
		enum km_text_kind kind = parse(texts[i]).kind;

		/* An event without its context. */
		if (texts[i] == strange_cpu)
			ck_assert_uint_eq(parse(strange_cpu).cpu, 0);
		else
			ck_assert_msg(kind == KM_TEXT_OTHER, "%d: %s", kind, texts[i]);
	}
}
END_TEST

/* ---- damage ---- */

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(*state >> 33);
}

/* Each in a block of its own size, so that the sanitizer sees a read behind it. */
START_TEST(damaged_lines_are_survived)
{
	static const char all_forms[] =
		"  tr-1 ( 12) [000] .....  2.500001: kmalloc: (fn+0x1) call_site=c1 ptr=  (null) bytes_req=0x1 (1) "
		"bytes_alloc=1 gfp_flags=GFP_KERNEL|0x1 node=-1 name=x";
	static const char *const texts[] = {
		all_forms,
		"perf 1/2 [000]  2.5:  1 kmem:kmem_cache_free: call_site=fn+0x1/0x2 [m 12] ptr=ffff888100000040 "
		"name=filp",
		"> [    0.1][   T12] kfree: call_site=fn+0x1 ptr=(____ptrval____)",
		"bash-2345    1d..3 251us+: kfree: call_site=fn+0x1 ptr=12",
		"CPU:1 [LOST 1234 EVENTS]",
		"# entries-in-buffer/entries-written: 1767/2000   #P:2",
		" slab:               sh-464   [000] .....    67.194209488: kfree: call_site=fn+0x1 ptr=12",
	};
	static const char pieces[] = "[]():=.+|/ \t-0x9fkT";
	uint64_t state = 7;

	for (unsigned round = 0; round < 40000; round++) {
		const char *text = texts[round % COUNT(texts)];
		size_t bytes = strlen(text);
		struct km_text_line line;
		struct km_text_site site;
		char *copy;

		if (round % 3 == 0)
			bytes = next_random(&state) % (bytes + 1);
		copy = malloc(bytes ? bytes : 1);
		ck_assert_ptr_nonnull(copy);
		memcpy(copy, text, bytes);
		for (unsigned n = next_random(&state) % 5; n && bytes; n--)
			copy[next_random(&state) % bytes] = next_random(&state) % 4
								    ? pieces[next_random(&state) % (sizeof(pieces) - 1)]
								    : (char)next_random(&state);
		if (km_text_line_parse(copy, bytes, &line) == KM_TEXT_SLAB && line.site.bytes)
			km_text_site_parse(line.site.p, line.site.bytes, &site);
		free(copy);
	}
}
END_TEST

/* A line made to be looked at again and again takes no longer than its length asks for. */
START_TEST(long_lines_take_linear_time)
{
	static const char *const pieces[] = { " 1: ",       "1.5:",  "[1] 1.5: ", " 1: <stack trace",
					      ") 1: ",      "( 1: ", "[1]:",      "a 1: a",
					      "call_site=", ": ",    "  ",        "1",
					      "=",          "> " };
	size_t bytes = 1 << 20;
	char *text = malloc(bytes);

	ck_assert_ptr_nonnull(text);
	for (size_t i = 0; i < COUNT(pieces); i++) {
		struct km_text_line line;

		for (size_t at = 0; at < bytes; at++)
			text[at] = pieces[i][at % strlen(pieces[i])];
		km_text_line_parse(text, bytes, &line);
	}
	free(text);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		contexts_of_the_kernel,
		names_of_tasks_can_be_anything,
		contexts_of_trace_cmd,
		contexts_of_perf_script,
		lines_of_logs_and_mails,
		slab_events_by_name,
		names_and_flags,
		pointers,
		the_fields_option,
		faults_are_told,
		call_sites,
		trace_cmds_symbol_before_the_fields,
		losses,
		other_events,
		heads,
		lines_that_are_no_events,
		damaged_lines_are_survived,
		long_lines_take_linear_time,
		NULL,
	};

	return km_test_main("text_line", tests, 20);
}
