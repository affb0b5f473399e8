/* SPDX-License-Identifier: GPL-2.0-only */
#include "event_format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#define COMMON                                                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define HEAD(name, id) "name: " name "\nID: " id "\nformat:\n" COMMON
#define SITE_AND_PTR                                                        \
	"\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n" \
	"\tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n"
#define PRINT                                                                                                  \
	"\nprint fmt: \"call_site=%pS gfp_flags=%s\", (void *)REC->call_site, (REC->gfp_flags) ? "             \
	"__print_flags(REC->gfp_flags, \"|\", {( unsigned long)((( gfp_t)(((((1UL))) << (10)))))), \"X\"}) : " \
	"\"none\"\n"
/* A whole format with one field line, for what one line may look like. */
#define ONE(line)          HEAD("one", "1") line "\n" PRINT
#define FIELD(declaration) ONE("\tfield:" declaration ";\toffset:8;\tsize:4;\tsigned:0;")

static const char kmalloc_612[] =
	HEAD("kmalloc", "626") SITE_AND_PTR "\tfield:size_t bytes_req;\toffset:24;\tsize:8;\tsigned:0;\n"
					    "\tfield:size_t bytes_alloc;\toffset:32;\tsize:8;\tsigned:0;\n"
					    "\tfield:unsigned long gfp_flags;\toffset:40;\tsize:8;\tsigned:0;\n"
					    "\tfield:int node;\toffset:48;\tsize:4;\tsigned:1;\n" PRINT;
static const char cache_free_612[] = HEAD("kmem_cache_free", "624") SITE_AND_PTR
	"\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n" PRINT;
static const char kmalloc_510[] =
	HEAD("kmalloc", "532") SITE_AND_PTR "\tfield:size_t bytes_req;\toffset:24;\tsize:8;\tsigned:0;\n"
					    "\tfield:size_t bytes_alloc;\toffset:32;\tsize:8;\tsigned:0;\n"
					    "\tfield:gfp_t gfp_flags;\toffset:40;\tsize:4;\tsigned:0;\n" PRINT;
static const char kmalloc_i386[] =
	HEAD("kmalloc", "650") "\tfield:unsigned long call_site;\toffset:8;\tsize:4;\tsigned:0;\n"
			       "\tfield:const void * ptr;\toffset:12;\tsize:4;\tsigned:0;\n"
			       "\tfield:size_t bytes_req;\toffset:16;\tsize:4;\tsigned:0;\n"
			       "\tfield:size_t bytes_alloc;\toffset:20;\tsize:4;\tsigned:0;\n"
			       "\tfield:unsigned long gfp_flags;\toffset:24;\tsize:4;\tsigned:0;\n"
			       "\tfield:int node;\toffset:28;\tsize:4;\tsigned:1;\n" PRINT;
static const char cache_alloc_618[] = HEAD("kmem_cache_alloc", "659") SITE_AND_PTR
	"\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:size_t bytes_req;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:size_t bytes_alloc;\toffset:40;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long gfp_flags;\toffset:48;\tsize:8;\tsigned:0;\n"
	"\tfield:int node;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:bool accounted;\toffset:60;\tsize:1;\tsigned:0;\n" PRINT;
static const char print_event[] = HEAD("print", "5") "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
						     "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n"
						     "\nprint fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n";
static const char kernel_stack[] =
	HEAD("kernel_stack", "4") "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
				  "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n"
				  "\nprint fmt: \"\\t=> %ps\\n\", (void *)REC->caller[0]\n";
static const char other_types[] =
	HEAD("others", "65535") "\tfield:__rel_loc char[] relative;\toffset:8;\tsize:4;\tsigned:1;\n"
				"\tfield:__rel_loc char other_relative[];\toffset:12;\tsize:4;\tsigned:1;\n"
				"\tfield:__data_loc unsigned long[] words;\toffset:16;\tsize:4;\tsigned:0;\n"
				"\tfield:char comm[16];\toffset:20;\tsize:16;\tsigned:1;\n"
				"\tfield:struct page * page;\toffset:40;\tsize:8;\tsigned:0;\n"
				"\tfield:const char *text;\toffset:48;\tsize:8;\tsigned:0;\n"
				"\tfield:unsigned long caller[];\toffset:56;\tsize:0;\tsigned:0;\n" PRINT;

static const char page_64[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			      "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
			      "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			      "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

/* Parses a copy that is as long as it says, so that a sanitizer sees a read beyond it. */
static int parse_bytes(const char *text, size_t bytes, struct km_event_format **ret_format, struct km_error *error)
{
	char *copy = malloc(bytes ? bytes : 1);
	int result;

	memcpy(copy, text, bytes);
	result = km_event_format_parse(copy, bytes, ret_format, error);
	free(copy);
	return result;
}

static struct km_event_format *parse(const char *text)
{
	struct km_event_format *format = NULL;
	struct km_error error = { 0 };

	ck_assert_msg(!parse_bytes(text, strlen(text), &format, &error), "%s\n%s", error.text, text);
	ck_assert_int_eq(error.code, 0);
	return format;
}

static void check_field(const struct km_event_format *format, const char *name, unsigned offset, unsigned size,
			bool is_signed)
{
	struct km_field field;

	ck_assert_msg(km_event_format_field(format, name, &field) == 1, "%s", name);
	ck_assert_uint_eq(field.offset, offset);
	ck_assert_uint_eq(field.size, size);
	ck_assert_msg(field.is_signed == is_signed, "%s", name);
}

static void check_absent(const struct km_event_format *format, const char *name)
{
	struct km_field field, before;

	memset(&field, 0x55, sizeof(field));
	memcpy(&before, &field, sizeof(field));
	ck_assert_int_eq(km_event_format_field(format, name, &field), 0);
	ck_assert_mem_eq(&field, &before, sizeof(field));
}

static void check_location(const struct km_event_format *format, const char *name, bool is_data_loc, bool is_rel_loc)
{
	struct km_field field;

	ck_assert_int_eq(km_event_format_field(format, name, &field), 1);
	ck_assert_msg(field.is_data_loc == is_data_loc && field.is_rel_loc == is_rel_loc, "%s", name);
}

static void check_refused(const char *text, size_t bytes, const char *expected)
{
	struct km_event_format *format = NULL;
	struct km_error error = { 0 };

	ck_assert_msg(parse_bytes(text, bytes, &format, &error) == -EBADMSG, "accepted: %s", text);
	ck_assert_ptr_null(format);
	ck_assert_int_eq(error.code, -EBADMSG);
	ck_assert_msg(strstr(error.text, expected) != NULL, "`%s` is not in `%s`", expected, error.text);
}

static void check_text_refused(const char *text, const char *expected)
{
	check_refused(text, strlen(text), expected);
}

START_TEST(reads_kmalloc_of_612)
{
	struct km_event_format *format = parse(kmalloc_612);

	ck_assert_str_eq(km_event_format_name(format), "kmalloc");
	ck_assert_uint_eq(km_event_format_id(format), 626);
	check_field(format, "common_type", 0, 2, false);
	check_field(format, "common_pid", 4, 4, true);
	check_field(format, "call_site", 8, 8, false);
	check_field(format, "ptr", 16, 8, false);
	check_field(format, "bytes_req", 24, 8, false);
	check_field(format, "bytes_alloc", 32, 8, false);
	check_field(format, "gfp_flags", 40, 8, false);
	check_field(format, "node", 48, 4, true);
	check_location(format, "ptr", false, false);
	check_absent(format, "name");
	check_absent(format, "accounted");
	check_absent(format, "");
	check_absent(format, "pt");
	check_absent(format, "ptr ");
	km_event_format_free(format);
}
END_TEST

START_TEST(reads_the_other_generations)
{
	struct km_event_format *format = parse(kmalloc_510);

	check_field(format, "gfp_flags", 40, 4, false);
	check_absent(format, "node");
	km_event_format_free(format);

	format = parse(kmalloc_i386);
	check_field(format, "call_site", 8, 4, false);
	check_field(format, "ptr", 12, 4, false);
	check_field(format, "bytes_alloc", 20, 4, false);
	check_field(format, "node", 28, 4, true);
	km_event_format_free(format);

	format = parse(cache_free_612);
	ck_assert_uint_eq(km_event_format_id(format), 624);
	check_field(format, "name", 24, 4, false);
	check_location(format, "name", true, false);
	km_event_format_free(format);

	format = parse(cache_alloc_618);
	ck_assert_str_eq(km_event_format_name(format), "kmem_cache_alloc");
	check_field(format, "name", 24, 4, false);
	check_location(format, "name", true, false);
	check_field(format, "bytes_req", 32, 8, false);
	check_location(format, "bytes_req", false, false);
	check_field(format, "node", 56, 4, true);
	check_field(format, "accounted", 60, 1, false);
	km_event_format_free(format);
}
END_TEST

START_TEST(reads_ftrace_events)
{
	struct km_event_format *format = parse(print_event);

	ck_assert_str_eq(km_event_format_name(format), "print");
	ck_assert_uint_eq(km_event_format_id(format), 5);
	check_field(format, "ip", 8, 8, false);
	check_field(format, "buf", 16, 0, false);
	check_location(format, "buf", false, false);
	km_event_format_free(format);

	format = parse(kernel_stack);
	check_field(format, "size", 8, 4, true);
	check_field(format, "caller", 16, 64, false);
	km_event_format_free(format);
}
END_TEST

START_TEST(reads_other_types)
{
	struct km_event_format *format = parse(other_types);

	ck_assert_uint_eq(km_event_format_id(format), 65535);
	check_location(format, "relative", false, true);
	check_location(format, "other_relative", false, true);
	check_location(format, "words", true, false);
	check_field(format, "comm", 20, 16, true);
	check_location(format, "comm", false, false);
	check_field(format, "page", 40, 8, false);
	check_field(format, "text", 48, 8, false);
	check_field(format, "caller", 56, 0, false);
	km_event_format_free(format);
}
END_TEST

START_TEST(an_event_may_have_no_fields_of_its_own)
{
	struct km_event_format *format = parse(HEAD("bare", "7") PRINT);

	check_field(format, "common_pid", 4, 4, true);
	check_absent(format, "ptr");
	km_event_format_free(format);
}
END_TEST

/* Nothing behind `print fmt: ` counts, not even what libtraceevent would die of. */
START_TEST(the_print_fmt_is_not_read)
{
	static const char *const tails[] = { "",
					     "\n",
					     "\"",
					     "\"%s\", (((((((((",
					     "\"%s\", REC->ptr[REC->ptr[",
					     "\"%d\", 1 / 0\n",
					     "\r\n\n\tfield:int x;\n\x01\xff" };
	static char text[4096 + 100000];

	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		snprintf(text, sizeof(text), "%s\nprint fmt: %s", HEAD("tail", "9") SITE_AND_PTR, tails[i]);
		km_event_format_free(parse(text));
	}
	memset(text + strlen(text), 'x', sizeof(text) - strlen(text));
	text[sizeof(text) - 1] = '\0';
	km_event_format_free(parse(text));
}
END_TEST

START_TEST(error_and_format_are_optional)
{
	km_event_format_free(NULL);
	ck_assert_int_eq(parse_bytes("x", 1, NULL, NULL), -EBADMSG);
	ck_assert_int_eq(km_event_format_parse(NULL, 0, NULL, NULL), -EBADMSG);
}
END_TEST

START_TEST(bad_heads_are_refused)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "", "line 1 " },
		{ "\n", "line 1 " },
		{ "name: kmalloc", "line 1 " },
		{ "name:kmalloc\nID: 1\n", "line 1 " },
		{ "name: \nID: 1\n", "line 1 " },
		{ "name: km alloc\nID: 1\n", "line 1 " },
		{ "name: km-alloc\nID: 1\n", "line 1 " },
		{ " name: kmalloc\nID: 1\n", "line 1 " },
		{ HEAD("9p_kmalloc", "1") PRINT, "line 1 " },
		{ "name: kmalloc\n", "line 2 " },
		{ "name: kmalloc\n\nID: 1\n", "line 2 " },
		{ HEAD("kmalloc", "") PRINT, "line 2 " },
		{ HEAD("kmalloc", "0") PRINT, "line 2 " },
		{ HEAD("kmalloc", "01") PRINT, "line 2 " },
		{ HEAD("kmalloc", "-1") PRINT, "line 2 " },
		{ HEAD("kmalloc", "0x1") PRINT, "line 2 " },
		{ HEAD("kmalloc", "1 ") PRINT, "line 2 " },
		{ HEAD("kmalloc", "65536") PRINT, "line 2 " },
		{ HEAD("kmalloc", "4294967297") PRINT, "line 2 " },
		{ HEAD("kmalloc", "99999999999999999999999") PRINT, "line 2 " },
		{ "name: kmalloc\nID: 1\n", "line 3 " },
		{ "name: kmalloc\nID: 1\nformat: \n" COMMON PRINT, "line 3 " },
		{ "name: kmalloc\nID: 1\nformat:", "line 3 " },
		{ "name: kmalloc\nID: 1\nformat:\n", "line 4 " },
		{ "name: kmalloc\nID: 1\nformat:\n\n" SITE_AND_PTR PRINT, "line 4 " },
		{ "name: kmalloc\nID: 1\nformat:\n" SITE_AND_PTR PRINT, "line 4 " },
		{ HEAD("kmalloc", "1"), "line 9 " },
		{ HEAD("kmalloc", "1") SITE_AND_PTR, "line 11 " },
		{ HEAD("kmalloc", "1") SITE_AND_PTR "\n", "line 12 " },
		{ HEAD("kmalloc", "1") SITE_AND_PTR "\nprint fmt:\n", "line 12 " },
		{ HEAD("kmalloc", "1") SITE_AND_PTR "\n\n" PRINT, "line 12 " },
		{ HEAD("kmalloc", "1") SITE_AND_PTR "print fmt: \"\"\n", "line 11 " },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_text_refused(cases[i].text, cases[i].expected);
}
END_TEST

START_TEST(bad_field_lines_are_refused)
{
	static const char *const texts[] = {
		FIELD(""),
		FIELD("int"),
		FIELD(" int x"),
		FIELD("int  x"),
		FIELD("long  int x"),
		FIELD("int x[1x]"),
		FIELD("int x[]]"),
		FIELD("int x "),
		FIELD("int 1x"),
		FIELD("1int x"),
		FIELD("int 2 x"),
		FIELD("int x:3"),
		FIELD("int x[1"),
		FIELD("int x1]"),
		FIELD("int x[-1]"),
		FIELD("int x[1][2]"),
		FIELD("int x[65536]"),
		FIELD("int x[N]"),
		FIELD("int x[ 1]"),
		FIELD("int []"),
		FIELD("[]"),
		FIELD("]"),
		FIELD("*x"),
		FIELD("int[] x"),
		FIELD("__data_loc char[3] x"),
		FIELD("__data_loc char[][] x"),
		FIELD("__data_loc [] x"),
		FIELD("__data_loc[] x"),
		FIELD("int (*x)(void)"),
		FIELD("typeof(int) x"),
		FIELD("int \"x\""),
		FIELD("int\tx"),
		FIELD("int x\r"),
		FIELD("int x; int y"),
		FIELD("int \xc3\xa9"),
		ONE("\tfield: int x;\toffset:8;\tsize:4;\tsigned:0;"),
		ONE("\tfield special:int x;\toffset:8;\tsize:4;\tsigned:0;"),
		ONE("field:int x;\toffset:8;\tsize:4;\tsigned:0;"),
		ONE("\t\tfield:int x;\toffset:8;\tsize:4;\tsigned:0;"),
		ONE("\tfield:int x\toffset:8;\tsize:4;\tsigned:0;"),
		ONE("\tfield:int x; offset:8;\tsize:4;\tsigned:0;"),
		ONE("\tfield:int x;\toffset: 8;\tsize:4;\tsigned:0;"),
		ONE("\tfield:int x;\toffset:;\tsize:4;\tsigned:0;"),
		ONE("\tfield:int x;\toffset:08;\tsize:4;\tsigned:0;"),
		ONE("\tfield:int x;\toffset:-8;\tsize:4;\tsigned:0;"),
		ONE("\tfield:int x;\toffset:65536;\tsize:0;\tsigned:0;"),
		ONE("\tfield:int x;\toffset:0;\tsize:65536;\tsigned:0;"),
		ONE("\tfield:int x;\toffset:65535;\tsize:1;\tsigned:0;"),
		ONE("\tfield:int x;\toffset:4294967304;\tsize:4;\tsigned:0;"),
		ONE("\tfield:int x;\toffset:8;\tsize:0x4;\tsigned:0;"),
		ONE("\tfield:int x;\toffset:8;\tsize:4;\tsigned:2;"),
		ONE("\tfield:int x;\toffset:8;\tsize:4;\tsigned:;"),
		ONE("\tfield:int x;\toffset:8;\tsize:4;\tsigned:0"),
		ONE("\tfield:int x;\toffset:8;\tsize:4;\tsigned:0; "),
		ONE("\tfield:int x;\toffset:8;\tsize:4;\tsigned:0;\r"),
		ONE("\tfield:int x;\toffset:8;\tsize:4;"),
		ONE("\tfield:int x;\tsize:4;\toffset:8;\tsigned:0;"),
		ONE("\tfield:int common_pid;\toffset:8;\tsize:4;\tsigned:0;"),
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		check_text_refused(texts[i], "line 9 ");
	km_event_format_free(parse(FIELD("int x")));
	km_event_format_free(parse(ONE("\tfield:int x;\toffset:65535;\tsize:0;\tsigned:0;")));
	km_event_format_free(parse(ONE("\tfield:int x;\toffset:0;\tsize:65535;\tsigned:0;")));
}
END_TEST

START_TEST(every_cut_is_refused)
{
	size_t bytes = (size_t)(strstr(cache_alloc_618, "print fmt: ") - cache_alloc_618) + strlen("print fmt: ");

	for (size_t i = 0; i < bytes; i++)
		check_refused(cache_alloc_618, i, "event format");
	km_event_format_free(parse(cache_alloc_618));
}
END_TEST

START_TEST(carriage_returns_and_nuls_are_refused)
{
	char text[2 * sizeof(kmalloc_612)];
	size_t bytes = 0, head = (size_t)(strstr(kmalloc_612, "print fmt: ") - kmalloc_612);

	for (const char *p = kmalloc_612; *p; p++) {
		if (*p == '\n')
			text[bytes++] = '\r';
		text[bytes++] = *p;
	}
	check_refused(text, bytes, "line 1 ");
	for (size_t i = 0; i < head; i++) {
		memcpy(text, kmalloc_612, sizeof(kmalloc_612));
		text[i] = '\0';
		check_refused(text, sizeof(kmalloc_612) - 1, "event format");
	}
}
END_TEST

START_TEST(long_lines_and_names_are_refused)
{
	static char text[1 << 20];
	char name[256];

	memset(name, 'n', sizeof(name));
	for (int length = 127; length < 129; length++) {
		snprintf(text, sizeof(text), "name: %.*s\nID: 1\nformat:\n%s%s", length, name, COMMON, PRINT);
		if (length == 127)
			km_event_format_free(parse(text));
		else
			check_text_refused(text, "line 1 ");
		snprintf(text, sizeof(text), "%s\tfield:int %.*s;\toffset:8;\tsize:4;\tsigned:0;\n%s",
			 HEAD("long", "1"), length, name, PRINT);
		if (length == 127)
			km_event_format_free(parse(text));
		else
			check_text_refused(text, "line 9 ");
	}
	memset(text, 'n', sizeof(text));
	check_refused(text, sizeof(text), "line 1 ");
	memcpy(text, "name: ", 6);
	text[sizeof(text) - 1] = '\n';
	check_refused(text, sizeof(text), "line 1 ");
	memcpy(text, HEAD("x", "1") "\tfield:", strlen(HEAD("x", "1")) + 7);
	check_refused(text, sizeof(text), "line 9 ");
}
END_TEST

START_TEST(the_number_of_fields_is_limited)
{
	char text[32768];

	for (unsigned own = 124; own <= 125; own++) {
		int used = snprintf(text, sizeof(text), "%s", HEAD("many", "1"));

		for (unsigned i = 0; i < own; i++)
			used += snprintf(text + used, sizeof(text) - (size_t)used,
					 "\tfield:u64 f%u;\toffset:%u;\tsize:8;\tsigned:0;\n", i, 8 + 8 * i);
		snprintf(text + used, sizeof(text) - (size_t)used, "%s", PRINT);
		if (own == 124) {
			struct km_event_format *format = parse(text);

			check_field(format, "f123", 992, 8, false);
			km_event_format_free(format);
		} else {
			check_text_refused(text, "more than 128 fields");
		}
	}
}
END_TEST

START_TEST(peek_reads_two_lines)
{
	char name[64];
	uint16_t id = 0;

	ck_assert_int_eq(km_event_format_peek(kmalloc_612, strlen(kmalloc_612), name, sizeof(name), &id), 0);
	ck_assert_str_eq(name, "kmalloc");
	ck_assert_uint_eq(id, 626);
	ck_assert_int_eq(km_event_format_peek("name: 9p_fid_ref\nID: 77\n???", 27, name, sizeof(name), &id), 0);
	ck_assert_str_eq(name, "9p_fid_ref");
	ck_assert_uint_eq(id, 77);
}
END_TEST

START_TEST(peek_cuts_a_name_and_touches_nothing_on_failure)
{
	static const char *const bad[] = {
		"", "name: x", "name: x\nID: 1", "name: x\r\nID: 1\n", "name: x\nID: 0\n", "ID: 1\n"
	};
	char name[64];
	uint16_t id = 3;

	memset(name, '#', sizeof(name));
	ck_assert_int_eq(km_event_format_peek(kmalloc_612, strlen(kmalloc_612), name, 4, &id), 0);
	ck_assert_mem_eq(name, "kma\0#", 5);
	ck_assert_int_eq(km_event_format_peek(kmalloc_612, strlen(kmalloc_612), NULL, 0, &id), 0);
	ck_assert_uint_eq(id, 626);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_int_eq(km_event_format_peek(bad[i], strlen(bad[i]), name, sizeof(name), &id), -EBADMSG);
	ck_assert_int_eq(km_event_format_peek(NULL, 0, name, sizeof(name), &id), -EBADMSG);
	ck_assert_mem_eq(name, "kma\0#", 5);
	ck_assert_uint_eq(id, 626);
}
END_TEST

static int parse_page(const char *text, size_t bytes, struct km_page_header *ret_header, struct km_error *error)
{
	char *copy = malloc(bytes ? bytes : 1);
	int result;

	memcpy(copy, text, bytes);
	result = km_page_header_parse(copy, bytes, ret_header, error);
	free(copy);
	return result;
}

static void check_page(const char *text, uint32_t commit_bytes, uint32_t data_offset, uint32_t data_bytes)
{
	struct km_page_header header = { 0 };
	struct km_error error = { 0 };

	ck_assert_msg(!parse_page(text, strlen(text), &header, &error), "%s\n%s", error.text, text);
	ck_assert_uint_eq(header.commit_offset, 8);
	ck_assert_uint_eq(header.commit_bytes, commit_bytes);
	ck_assert_uint_eq(header.data_offset, data_offset);
	ck_assert_uint_eq(header.data_bytes, data_bytes);
}

static void check_page_refused(const char *text, size_t bytes)
{
	struct km_page_header header, before;
	struct km_error error = { 0 };

	memset(&header, 0x55, sizeof(header));
	memcpy(&before, &header, sizeof(header));
	ck_assert_msg(parse_page(text, bytes, &header, &error) == -EBADMSG, "accepted: %.*s", (int)bytes, text);
	ck_assert_int_eq(error.code, -EBADMSG);
	ck_assert_mem_eq(&header, &before, sizeof(header));
}

#define TIMESTAMP "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
#define COMMIT    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
#define DATA      "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n"

START_TEST(reads_page_headers)
{
	check_page(page_64, 8, 16, 4080);
	check_page(TIMESTAMP "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
			     "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			     "\tfield: char data;\toffset:12;\tsize:4084;\tsigned:1;\n",
		   4, 12, 4084);
	check_page(TIMESTAMP COMMIT "\tfield: char overwrite;\toffset:8;\tsize:1;\tsigned:0;\n" DATA, 8, 16, 4080);
	check_page(TIMESTAMP COMMIT "\tfield: unsigned overwrite;\toffset:8;\tsize:1;\tsigned:0;\n" DATA, 8, 16, 4080);
	check_page(TIMESTAMP COMMIT "\tfield: char data;\toffset:16;\tsize:131056;\tsigned:0;\n", 8, 16, 131056);
	check_page(TIMESTAMP COMMIT DATA, 8, 16, 4080);
	check_page("\tfield: u64 timestamp;\toffset:0;\tsize:8;\n\tfield: local_t commit;\toffset:8;\tsize:8;\n"
		   "\tfield: char data;\toffset:16;\tsize:4080;\n",
		   8, 16, 4080);
}
END_TEST

START_TEST(bad_page_headers_are_refused)
{
	static const char *const texts[] = {
		TIMESTAMP,
		TIMESTAMP COMMIT,
		TIMESTAMP DATA,
		COMMIT DATA,
		COMMIT TIMESTAMP DATA,
		TIMESTAMP COMMIT DATA DATA,
		TIMESTAMP COMMIT DATA "\n",
		TIMESTAMP TIMESTAMP COMMIT DATA,
		"\tfield: u64 timestamp;\toffset:4;\tsize:8;\tsigned:0;\n" COMMIT DATA,
		"\tfield: u64 timestamp;\toffset:0;\tsize:4;\tsigned:0;\n" COMMIT DATA,
		"\tfield:u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n" COMMIT DATA,
		"\tfield: u64 timestamps;\toffset:0;\tsize:8;\tsigned:0;\n" COMMIT DATA,
		TIMESTAMP "\tfield: local_t commit;\toffset:8;\tsize:2;\tsigned:1;\n" DATA,
		TIMESTAMP "\tfield: local_t commit;\toffset:8;\tsize:5;\tsigned:1;\n" DATA,
		TIMESTAMP "\tfield: local_t commit;\toffset:4;\tsize:8;\tsigned:1;\n" DATA,
		TIMESTAMP "\tfield: local_t commit;\toffset:9999;\tsize:8;\tsigned:1;\n" DATA,
		TIMESTAMP COMMIT "\tfield: char data;\toffset:12;\tsize:4080;\tsigned:1;\n",
		TIMESTAMP COMMIT "\tfield: char data;\toffset:4080;\tsize:16;\tsigned:1;\n",
		TIMESTAMP COMMIT "\tfield: char data;\toffset:16;\tsize:0;\tsigned:1;\n",
		TIMESTAMP COMMIT "\tfield: char data;\toffset:16;\tsize:1048576;\tsigned:1;\n",
		TIMESTAMP COMMIT "\tfield: char data;\toffset:16;\tsize:99999999999;\tsigned:1;\n",
		TIMESTAMP COMMIT "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\r\n",
		TIMESTAMP COMMIT "\tfield: char data;\toffset:16;\tsize:4080;\t\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		check_page_refused(texts[i], strlen(texts[i]));
	for (size_t i = 0; i < sizeof(page_64) - 1; i++)
		check_page_refused(page_64, i);
	check_page_refused(page_64, sizeof(page_64));
}
END_TEST

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* One change: a byte, a run doubled, left out or copied elsewhere, or a piece of the grammar put in. */
static size_t mutate(char *text, size_t bytes, size_t limit, uint64_t *state)
{
	static const char alphabet[] = "0123456789abcdefnst_ *[];:\t\n\"";
	static const char *const pieces[] = { "[]",      "[1]",   "*",     "__data_loc ", "__rel_loc ", "const ",
					      "struct ", "long ", "\n",    "field:",      ";",          "signed:1;",
					      "0",       "65535", "\t",    "(int",        "unsigned ",  "x",
					      " ",       "[0]",   "name: " };
	size_t at = next_random(state) % bytes, other = next_random(state) % bytes, run;
	const char *piece;

	switch (next_random(state) % 6) {
	case 0:
		text[at] = (char)next_random(state);
		return bytes;
	case 1:
		text[at] = alphabet[next_random(state) % (sizeof(alphabet) - 1)];
		return bytes;
	case 2:
		run = next_random(state) % 24;
		run = run < bytes - at ? run : bytes - at;
		if (run == bytes)
			return bytes;
		memmove(text + at, text + at + run, bytes - at - run);
		return bytes - run;
	case 3:
		run = next_random(state) % 80;
		run = run < bytes - at ? run : bytes - at;
		run = run < bytes - other ? run : bytes - other;
		memmove(text + at, text + other, run);
		return bytes;
	default:
		piece = pieces[next_random(state) % (sizeof(pieces) / sizeof(*pieces))];
		run = strlen(piece);
		if (bytes + run > limit)
			return bytes;
		memmove(text + at + run, text + at, bytes - at);
		memcpy(text + at, piece, run);
		return bytes + run;
	}
}

static void check_sane(const struct km_event_format *format)
{
	struct km_field field;

	ck_assert_uint_ge(strlen(km_event_format_name(format)), 1);
	ck_assert_uint_ge(km_event_format_id(format), 1);
	if (km_event_format_field(format, "ptr", &field)) {
		ck_assert_uint_le(field.offset + field.size, 65535);
		ck_assert(!field.is_data_loc || !field.is_rel_loc);
	}
}

START_TEST(damaged_formats_are_survived)
{
	static const char *const texts[] = { kmalloc_612,     cache_free_612, kmalloc_510,  kmalloc_i386,
					     cache_alloc_618, print_event,    kernel_stack, other_types };
	uint64_t state = 0x6b6d656d;
	unsigned accepted = 0;
	char text[4096];

	for (unsigned round = 0; round < 20000; round++) {
		const char *original = texts[round % (sizeof(texts) / sizeof(*texts))];
		size_t bytes = strlen(original), changes = 1 + next_random(&state) % 3;
		struct km_event_format *format = NULL;
		struct km_error error = { 0 };
		int result;

		memcpy(text, original, bytes);
		while (changes--)
			bytes = mutate(text, bytes, sizeof(text), &state);
		result = parse_bytes(text, bytes, &format, &error);
		ck_assert(result == 0 || result == -EBADMSG);
		ck_assert_int_eq(error.code, result);
		if (!result) {
			check_sane(format);
			accepted++;
		}
		km_event_format_free(format);
	}
	/* The test means something only if libtraceevent got its share. */
	ck_assert_uint_ge(accepted, 2000);
	ck_assert_uint_le(accepted, 18000);
}
END_TEST

START_TEST(damaged_page_headers_are_survived)
{
	uint64_t state = 0x70616765;
	char text[4096];

	for (unsigned round = 0; round < 20000; round++) {
		size_t bytes = strlen(page_64), changes = 1 + next_random(&state) % 3;
		struct km_page_header header;

		memcpy(text, page_64, bytes);
		while (changes--)
			bytes = mutate(text, bytes, sizeof(text), &state);
		if (parse_page(text, bytes, &header, NULL))
			continue;
		ck_assert(header.commit_bytes == 4 || header.commit_bytes == 8);
		ck_assert_uint_ge(header.commit_offset, 8);
		ck_assert_uint_ge(header.data_offset, header.commit_offset + header.commit_bytes);
		ck_assert_uint_le(header.data_offset + header.data_bytes, 1 << 20);
		ck_assert_uint_ge(header.data_bytes, 1);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		reads_kmalloc_of_612,
		reads_the_other_generations,
		reads_ftrace_events,
		reads_other_types,
		an_event_may_have_no_fields_of_its_own,
		the_print_fmt_is_not_read,
		error_and_format_are_optional,
		bad_heads_are_refused,
		bad_field_lines_are_refused,
		every_cut_is_refused,
		carriage_returns_and_nuls_are_refused,
		long_lines_and_names_are_refused,
		the_number_of_fields_is_limited,
		peek_reads_two_lines,
		peek_cuts_a_name_and_touches_nothing_on_failure,
		reads_page_headers,
		bad_page_headers_are_refused,
		damaged_formats_are_survived,
		damaged_page_headers_are_survived,
		NULL,
	};

	return km_test_main("event_format", tests, 120);
}
