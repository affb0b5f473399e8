/* SPDX-License-Identifier: GPL-2.0-only */
#include "gfp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#define START "__print_flags(REC->gfp_flags, \"|\", "

/* Shortened, but as kernels write them: up to 6.1 ... */
static const char hex_format[] =
	"name: kmalloc\nID: 500\nformat:\n\tfield:gfp_t gfp_flags;\toffset:40;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"call_site=%pS ptr=%p gfp_flags=%s\", (void *)REC->call_site, REC->ptr, "
	"(REC->gfp_flags) ? " START
	"{( unsigned long)((((((( gfp_t)(0x400u|0x800u)) | (( gfp_t)0x40u) | (( gfp_t)0x80u) | (( "
	"gfp_t)0) | (( gfp_t)0x100000u)) | (( gfp_t)0x02u)) & ~(( gfp_t)(0x400u|0x800u))) | (( "
	"gfp_t)0x400u))), \"GFP_TRANSHUGE\"}, "
	"{( unsigned long)(((( gfp_t)(0x400u|0x800u)) | (( gfp_t)0x40u) | (( gfp_t)0x80u)) | (( "
	"gfp_t)0x400000u)), \"GFP_KERNEL_ACCOUNT\"}, "
	"{( unsigned long)((( gfp_t)(0x400u|0x800u)) | (( gfp_t)0x40u) | (( gfp_t)0x80u)), "
	"\"GFP_KERNEL\"}, "
	"{( unsigned long)((( gfp_t)0x20u)|(( gfp_t)0x200u)|(( gfp_t)0x800u)), \"GFP_ATOMIC\"}, "
	"{( unsigned long)(((( gfp_t)0x800u))), \"GFP_NOWAIT\"}, "
	"{( unsigned long)(( gfp_t)0x01u), \"GFP_DMA\"}, "
	"{( unsigned long)(( gfp_t)0x200u), \"__GFP_ATOMIC\"}, "
	"{( unsigned long)(( gfp_t)0x100u), \"__GFP_ZERO\"}, "
	"{( unsigned long)(( gfp_t)0x10u), \"__GFP_RECLAIMABLE\"}, "
	"{( unsigned long)(( gfp_t)0x400000u), \"__GFP_ACCOUNT\"}, "
	"{( unsigned long)(( gfp_t)(0x400u|0x800u)), \"__GFP_RECLAIM\"}, "
	"{( unsigned long)(( gfp_t)0x800u), \"__GFP_KSWAPD_RECLAIM\"}"
	" ) : \"none\", REC->node, (1 && (REC->gfp_flags & ( unsigned long)(( gfp_t)0x400000u))) ? "
	"\"true\" : \"false\"\n";

/* ... and from 6.12 on, here with the account flag elsewhere. */
static const char bit_format[] =
	"print fmt: \"call_site=%pS gfp_flags=%s\", (void *)REC->call_site, (REC->gfp_flags) ? " START
	"{( unsigned long)(((( gfp_t)(((((1UL))) << (10))|((((1UL))) << (11)))) | (( "
	"gfp_t)((((1UL))) << (6))) | (( gfp_t)((((1UL))) << (7)))) | (( gfp_t)((((1UL))) << "
	"(24)))), \"GFP_KERNEL_ACCOUNT\"}, "
	"{( unsigned long)((( gfp_t)(((((1UL))) << (10))|((((1UL))) << (11)))) | (( "
	"gfp_t)((((1UL))) << (6))) | (( gfp_t)((((1UL))) << (7)))), \"GFP_KERNEL\"}, "
	"{( unsigned long)((( gfp_t)((((1UL))) << (5)))|(( gfp_t)((((1UL))) << (11)))), "
	"\"GFP_ATOMIC\"}, "
	"{( unsigned long)(( gfp_t)((((1UL))) << (0))), \"GFP_DMA\"}, "
	"{( unsigned long)(( gfp_t)((((1UL))) << (8))), \"__GFP_ZERO\"}, "
	"{( unsigned long)(( gfp_t)((((1UL))) << (4))), \"__GFP_RECLAIMABLE\"}, "
	"{( unsigned long)(( gfp_t)((((1UL))) << (24))), \"__GFP_ACCOUNT\"}, "
	"{( unsigned long)(( gfp_t)((((1UL))) << (31))), \"__GFP_TOP\"}"
	" ) : \"none\", REC->node\n";

/* Parses a copy that is as long as it says, so that a sanitizer sees a read beyond it. */
static size_t parse_bytes(const char *text, size_t bytes, struct km_gfp *ret_gfp)
{
	char *copy = malloc(bytes ? bytes : 1);
	size_t count;

	memcpy(copy, text, bytes);
	count = km_gfp_parse(copy, bytes, ret_gfp);
	free(copy);
	return count;
}

static size_t parse(const char *text, struct km_gfp *ret_gfp)
{
	return parse_bytes(text, strlen(text), ret_gfp);
}

static uint32_t mask_of(const struct km_gfp *gfp, const char *name)
{
	uint32_t mask = 0xdeadbeef;

	if (!km_gfp_find(gfp, name, &mask)) {
		ck_assert_uint_eq(mask, 0xdeadbeef);
		return 0;
	}
	return mask;
}

/* The mask of a table of one entry; 0 if it could not be read. */
static uint32_t evaluate(const char *expression)
{
	static char text[8192];
	struct km_gfp gfp;

	snprintf(text, sizeof(text), START "{%s, \"X\"})", expression);
	return parse(text, &gfp) ? gfp.flags[0].mask : 0;
}

START_TEST(reads_hex_masks)
{
	struct km_gfp gfp;

	ck_assert_uint_eq(parse(hex_format, &gfp), 12);
	ck_assert_uint_eq(gfp.count, 12);
	ck_assert_str_eq(gfp.flags[0].name, "GFP_TRANSHUGE");
	ck_assert_uint_eq(gfp.flags[0].mask, 0x1004c2);
	ck_assert_uint_eq(mask_of(&gfp, "GFP_KERNEL"), 0xcc0);
	ck_assert_uint_eq(mask_of(&gfp, "GFP_KERNEL_ACCOUNT"), 0x400cc0);
	ck_assert_uint_eq(mask_of(&gfp, "GFP_ATOMIC"), 0xa20);
	ck_assert_uint_eq(mask_of(&gfp, "__GFP_RECLAIM"), 0xc00);
	ck_assert_uint_eq(gfp.account, 0x400000);
	ck_assert_uint_eq(gfp.reclaimable, 0x10);
	ck_assert_uint_eq(gfp.dma, 0x1);
	ck_assert_uint_eq(gfp.zero, 0x100);
}
END_TEST

START_TEST(reads_shifted_bits)
{
	struct km_gfp gfp;

	ck_assert_uint_eq(parse(bit_format, &gfp), 8);
	ck_assert_uint_eq(mask_of(&gfp, "GFP_KERNEL"), 0xcc0);
	ck_assert_uint_eq(mask_of(&gfp, "__GFP_TOP"), 0x80000000);
	ck_assert_uint_eq(gfp.account, 0x1000000); /* as the format says, not as some kernel has it */
	ck_assert_uint_eq(gfp.dma, 0x1);
	ck_assert_uint_eq(gfp.zero, 0x100);
}
END_TEST

START_TEST(reads_old_spellings)
{
	struct km_gfp gfp;

	ck_assert_uint_eq(
		parse("__print_flags(REC->gfp_flags, \"|\", {(unsigned long)((( gfp_t)0x8000u)), \"GFP_ZERO\"}, "
		      "{0x80000, \"GFP_RECLAIMABLE\"}, {(1), \"__GFP_DMA\"}) : \"GFP_NOWAIT\"",
		      &gfp),
		3);
	ck_assert_uint_eq(gfp.zero, 0x8000);
	ck_assert_uint_eq(gfp.reclaimable, 0x80000);
	ck_assert_uint_eq(gfp.dma, 1);
	ck_assert_uint_eq(gfp.account, 0);
}
END_TEST

START_TEST(evaluates_c_expressions)
{
	ck_assert_uint_eq(evaluate("1"), 1);
	ck_assert_uint_eq(evaluate("010"), 8);
	ck_assert_uint_eq(evaluate("0xFFul"), 255);
	ck_assert_uint_eq(evaluate("0X1fULL"), 31);
	ck_assert_uint_eq(evaluate("12U"), 12);
	ck_assert_uint_eq(evaluate("1|2<<1|8"), 13);
	ck_assert_uint_eq(evaluate("7&~2"), 5);
	ck_assert_uint_eq(evaluate("1|6&4"), 5);
	ck_assert_uint_eq(evaluate("~~5"), 5);
	ck_assert_uint_eq(evaluate("~0xfffffff0u"), 15);
	ck_assert_uint_eq(evaluate("1<<2<<3"), 32);
	ck_assert_uint_eq(evaluate("(unsigned long)(gfp_t) 1 << 4"), 16);
	ck_assert_uint_eq(evaluate("( ( gfp_t ) ( 3 ) )"), 3);
	ck_assert_uint_eq(evaluate("(( __force unsigned int)((1 << 5) | 1))"), 33);
	ck_assert_uint_eq(evaluate("0xffffffff & (1ULL << 31)"), 0x80000000);
}
END_TEST

START_TEST(leaves_out_what_it_can_not_evaluate)
{
	static const char *const expressions[] = { "",
						   "0",
						   "(",
						   ")",
						   "1)",
						   "(1",
						   "1 +2",
						   "1||2",
						   "1&&3",
						   "1 2",
						   "08",
						   "0x",
						   "1x",
						   "1 << 64",
						   "~",
						   "1 <<",
						   "1 |",
						   "(u8)1",
						   "NR_BITS",
						   "1 << NR",
						   "-1",
						   "()1",
						   "0xgg",
						   "1.5",
						   "\"1\"",
						   "(gfp_t)",
						   "1 << 40",
						   "!1",
						   "99999999999999999999999" };

	for (size_t i = 0; i < sizeof(expressions) / sizeof(*expressions); i++)
		ck_assert_msg(!evaluate(expressions[i]), "%s", expressions[i]);
}
END_TEST

START_TEST(one_bad_entry_costs_only_itself)
{
	struct km_gfp gfp;

	ck_assert_uint_eq(parse(START
				"{1, \"A\"}, {___GFP_X_BIT, \"B\"}, {2, \"C}\"}, {4, \"\"}, {8, \"D\" 1}, {8, E}, {8}, "
				"{16, \"A_NAME_THAT_IS_TOO_LONG_TO_BE_KEPT\"}, {}, {32, \"F\"})",
				&gfp),
			  2);
	ck_assert_str_eq(gfp.flags[0].name, "A");
	ck_assert_str_eq(gfp.flags[1].name, "F");
	ck_assert_uint_eq(gfp.flags[1].mask, 32);
}
END_TEST

START_TEST(finds_the_table_of_the_gfp_flags)
{
	struct km_gfp gfp;

	ck_assert_uint_eq(
		parse("__print_flags(REC->other, \"|\", {1, \"A\"}), __print_flags, __print_flags(REC->gfp_x), "
		      "__print_flags ( (unsigned long)(REC->gfp_flags) , \"|\" ,{2,\"B\"},{ 4 , \"C\" } ), "
		      "__print_flags(REC->gfp_flags, \"|\", {8, \"D\"})",
		      &gfp),
		2);
	ck_assert_str_eq(gfp.flags[0].name, "B");
	ck_assert_uint_eq(gfp.flags[0].mask, 2);
	ck_assert_str_eq(gfp.flags[1].name, "C");
}
END_TEST

START_TEST(no_table_is_an_empty_one)
{
	static const char *const texts[] = { "",
					     "print fmt: \"%s\", REC->gfp_flags",
					     "__print_flags",
					     "__print_flags(",
					     "__print_flags(REC->gfp_flags",
					     "__print_flags(REC->gfp_flags, \"|\"",
					     START,
					     START ")",
					     START "{",
					     START "{1, \"A\"" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct km_gfp gfp;

		memset(&gfp, 0x55, sizeof(gfp));
		ck_assert_msg(!parse(texts[i], &gfp), "%s", texts[i]);
		ck_assert_uint_eq(gfp.count, 0);
		ck_assert_uint_eq(gfp.account | gfp.reclaimable | gfp.dma | gfp.zero, 0);
	}
}
END_TEST

START_TEST(depth_and_count_are_limited)
{
	static char text[1 << 20];
	struct km_gfp gfp;
	size_t used;

	memset(text, '(', sizeof(text));
	memcpy(text, START "{", sizeof(START));
	strcpy(text + sizeof(text) - 8, ", \"X\"}");
	ck_assert_uint_eq(parse(text, &gfp), 0);
	memset(text + sizeof(START), '~', sizeof(text) - sizeof(START) - 8);
	ck_assert_uint_eq(parse(text, &gfp), 0);
	ck_assert_uint_eq(evaluate("((((((((((((((((((((((((((((((((5))))))))))))))))))))))))))))))))"), 5);

	used = (size_t)sprintf(text, "%s", START);
	for (unsigned i = 0; i < KM_GFP_FLAGS_LIMIT + 20; i++)
		used += (size_t)sprintf(text + used, "%s{%u, \"F%u\"}", i ? ", " : "", i + 1, i);
	ck_assert_uint_eq(parse(text, &gfp), KM_GFP_FLAGS_LIMIT);
	ck_assert_str_eq(gfp.flags[KM_GFP_FLAGS_LIMIT - 1].name, "F95");
}
END_TEST

/* A mebibyte of beginnings: time must not grow with the square. */
START_TEST(many_beginnings_are_read_once)
{
	static char text[1 << 20];
	struct km_gfp gfp;

	for (size_t i = 0; i + 32 < sizeof(text); i += 14)
		memcpy(text + i, "__print_flags(", 14);
	ck_assert_uint_eq(parse_bytes(text, sizeof(text), &gfp), 0);
}
END_TEST

static void check_print(const struct km_gfp *gfp, uint32_t value, const char *expected)
{
	char text[128];

	ck_assert_uint_eq(km_gfp_print(gfp, value, text, sizeof(text)), strlen(expected));
	ck_assert_str_eq(text, expected);
}

START_TEST(prints_as_the_kernel_does)
{
	struct km_gfp gfp, empty = { 0 };

	parse(hex_format, &gfp);
	check_print(&gfp, 0, "none");
	check_print(&gfp, 0xcc0, "GFP_KERNEL");
	check_print(&gfp, 0xdc0, "GFP_KERNEL|__GFP_ZERO");
	check_print(&gfp, 0x400dc0, "GFP_KERNEL_ACCOUNT|__GFP_ZERO");
	check_print(&gfp, 0x200, "__GFP_ATOMIC");
	check_print(&gfp, 0x80000cc1, "GFP_KERNEL|GFP_DMA|0x80000000");
	check_print(&gfp, 0x2000, "0x2000");
	check_print(&empty, 0xcc0, "0xcc0");
	check_print(&empty, 0xffffffff, "0xffffffff");
}
END_TEST

START_TEST(a_small_buffer_cuts)
{
	static const char whole[] = "GFP_KERNEL|__GFP_ZERO|0x2000";
	struct km_gfp gfp;
	char text[64];

	parse(hex_format, &gfp);
	ck_assert_uint_eq(km_gfp_print(&gfp, 0x2dc0, NULL, 0), sizeof(whole) - 1);
	for (size_t bytes = 1; bytes < sizeof(text); bytes++) {
		size_t kept = bytes < sizeof(whole) ? bytes - 1 : sizeof(whole) - 1;

		memset(text, '#', sizeof(text));
		ck_assert_uint_eq(km_gfp_print(&gfp, 0x2dc0, text, bytes), sizeof(whole) - 1);
		ck_assert_uint_eq(strlen(text), kept);
		ck_assert_mem_eq(text, whole, kept);
		for (size_t i = kept + 1; i < sizeof(text); i++)
			ck_assert_int_eq(text[i], '#');
	}
}
END_TEST

/* A single flag by either spelling; a combined one only by its own. */
START_TEST(finds_a_flag_by_name)
{
	struct km_gfp gfp;

	parse(bit_format, &gfp);
	ck_assert_uint_eq(mask_of(&gfp, "GFP_KERNEL"), 0xcc0);
	ck_assert_uint_eq(mask_of(&gfp, "__GFP_ZERO"), 0x100);
	ck_assert_uint_eq(mask_of(&gfp, "GFP_ZERO"), 0x100);
	ck_assert_uint_eq(mask_of(&gfp, "__GFP_DMA"), 1);
	ck_assert_uint_eq(mask_of(&gfp, "__GFP_ATOMIC"), 0);
	ck_assert_uint_eq(mask_of(&gfp, "__GFP_KERNEL"), 0);
	ck_assert_uint_eq(mask_of(&gfp, "ZERO"), 0);
	ck_assert_uint_eq(mask_of(&gfp, ""), 0);
	parse(hex_format, &gfp);
	ck_assert_uint_eq(mask_of(&gfp, "GFP_ATOMIC"), 0xa20);
	ck_assert_uint_eq(mask_of(&gfp, "__GFP_ATOMIC"), 0x200);
}
END_TEST

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

START_TEST(damaged_formats_are_survived)
{
	static const char bytes_of_it[] = "(){}|&~<\",\\ 019xu_G\n\xff";
	static char text[sizeof(hex_format)];
	uint64_t state = 88172645463325252;

	for (unsigned round = 0; round < 4000; round++) {
		const char *format = round & 1 ? hex_format : bit_format;
		size_t bytes = round & 1 ? sizeof(hex_format) - 1 : sizeof(bit_format) - 1;
		struct km_gfp gfp;
		char printed[256];

		ck_assert_uint_le(bytes, sizeof(text));
		memcpy(text, format, bytes);
		for (unsigned i = 0; i <= round % 16; i++)
			text[next_random(&state) % bytes] =
				bytes_of_it[next_random(&state) % (sizeof(bytes_of_it) - 1)];
		if (round & 32)
			bytes = next_random(&state) % bytes;
		parse_bytes(text, bytes, &gfp);
		ck_assert_uint_le(gfp.count, KM_GFP_FLAGS_LIMIT);
		for (size_t i = 0; i < gfp.count; i++) {
			ck_assert_uint_ne(gfp.flags[i].mask, 0);
			ck_assert_uint_lt(strnlen(gfp.flags[i].name, KM_GFP_NAME_BYTES), KM_GFP_NAME_BYTES);
		}
		km_gfp_print(&gfp, (uint32_t)next_random(&state), printed, sizeof(printed));
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		reads_hex_masks,
		reads_shifted_bits,
		reads_old_spellings,
		evaluates_c_expressions,
		leaves_out_what_it_can_not_evaluate,
		one_bad_entry_costs_only_itself,
		finds_the_table_of_the_gfp_flags,
		no_table_is_an_empty_one,
		depth_and_count_are_limited,
		many_beginnings_are_read_once,
		prints_as_the_kernel_does,
		a_small_buffer_cuts,
		finds_a_flag_by_name,
		damaged_formats_are_survived,
		NULL,
	};

	return km_test_main("gfp", tests, 30);
}
