/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbols.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

static struct km_symbols *new_symbols(const void *text, size_t bytes, uint32_t page_bytes)
{
	/* malloc'd to size, so that a sanitizer sees a read beyond it */
	char *copy = malloc(bytes ? bytes : 1);
	struct km_symbols *symbols;

	if (bytes)
		memcpy(copy, text, bytes);
	symbols = km_symbols_new(copy, bytes, page_bytes);
	ck_assert_ptr_nonnull(symbols);
	return symbols;
}

static struct km_symbols *from_text(const char *text)
{
	return new_symbols(text, strlen(text), 4096);
}

/* What an address is shown as: "name+0xN", "name+0xN [module]" or "-". */
static const char *show(struct km_symbols *symbols, uint64_t address)
{
	static char text[256];
	struct km_symbol symbol;

	memset(&symbol, 0x55, sizeof(symbol));
	if (!km_symbols_find(symbols, address, &symbol)) {
		ck_assert_uint_eq(symbol.offset, UINT64_C(0x5555555555555555));
		return "-";
	}
	snprintf(text, sizeof(text), symbol.module ? "%.*s+0x%llx [%.*s]" : "%.*s+0x%llx", (int)symbol.name_bytes,
		 symbol.name, (unsigned long long)symbol.offset, (int)symbol.module_bytes,
		 symbol.module ? symbol.module : "");
	return text;
}

static const char kernel[] = "0000000000000000 A fixed_percpu_data\n"
			     "ffffffff81000000 T _text\n"
			     "ffffffff81000000 T startup_64\n"
			     "ffffffff81000100 t helper.isra.0\n"
			     "ffffffff81000180 d not_text\n"
			     "ffffffff81000200 W weak\n"
			     "ffffffff81000300 w weaker\n"
			     "ffffffff81000400 T last_of_kernel\n"
			     "ffffffffc0002000 t second\t[mod_b]\n"
			     "ffffffffc0002080 d second_data\t[mod_b]\n"
			     "ffffffffc0000000 t first\t[mod_a]\n"
			     "ffffffffc0000040 t first_too\t[mod_a]\n";

START_TEST(names_a_call_site)
{
	struct km_symbols *symbols = from_text(kernel);

	ck_assert_int_eq(km_symbols_state(symbols), KM_SYMBOLS_USABLE);
	ck_assert_uint_eq(km_symbols_count(symbols), 9);
	ck_assert_uint_eq(km_symbols_junk_count(symbols), 0);
	ck_assert_str_eq(show(symbols, 0xffffffff81000010), "_text+0x10");
	ck_assert_str_eq(show(symbols, 0xffffffff810000ff), "_text+0xff");
	ck_assert_str_eq(show(symbols, 0xffffffff81000101), "helper.isra.0+0x1");
	ck_assert_str_eq(show(symbols, 0xffffffff81000190), "helper.isra.0+0x90");
	ck_assert_str_eq(show(symbols, 0xffffffff81000210), "weak+0x10");
	ck_assert_str_eq(show(symbols, 0xffffffff81000310), "weaker+0x10");
	ck_assert_str_eq(show(symbols, 0xffffffffc0002010), "second+0x10 [mod_b]");
	ck_assert_str_eq(show(symbols, 0xffffffffc0000010), "first+0x10 [mod_a]");
	ck_assert_str_eq(show(symbols, 0xffffffffc0000050), "first_too+0x10 [mod_a]");
	km_symbols_free(symbols);
}
END_TEST

START_TEST(nothing_covers_what_is_outside)
{
	struct km_symbols *symbols = from_text(kernel);

	ck_assert_str_eq(show(symbols, 0), "-");
	ck_assert_str_eq(show(symbols, 0x10), "-");
	ck_assert_str_eq(show(symbols, 0xffffffff80ffffff), "-");
	ck_assert_str_eq(show(symbols, UINT64_MAX), "-");
	km_symbols_free(symbols);
}
END_TEST

/* Kernel before module, module before module, and the last of all: only to the end of the symbol's own page. */
START_TEST(makes_no_guess_across_a_gap)
{
	struct km_symbols *symbols = from_text(kernel);

	ck_assert_str_eq(show(symbols, 0xffffffff81000fff), "last_of_kernel+0xbff");
	ck_assert_str_eq(show(symbols, 0xffffffff81001000), "-");
	ck_assert_str_eq(show(symbols, 0xffffffffbfffffff), "-");
	ck_assert_str_eq(show(symbols, 0xffffffffc0000fff), "first_too+0xfbf [mod_a]");
	ck_assert_str_eq(show(symbols, 0xffffffffc0001000), "-");
	ck_assert_str_eq(show(symbols, 0xffffffffc0002fff), "second+0xfff [mod_b]");
	ck_assert_str_eq(show(symbols, 0xffffffffc0003000), "-");
	km_symbols_free(symbols);
}
END_TEST

START_TEST(page_size_is_the_kernels)
{
	static const char text[] = "000000000001f000 t only\n";
	struct km_symbols *small = new_symbols(text, sizeof(text) - 1, 4096);
	struct km_symbols *large = new_symbols(text, sizeof(text) - 1, 65536);
	struct km_symbols *none = new_symbols(text, sizeof(text) - 1, 0);
	struct km_symbols *odd = new_symbols(text, sizeof(text) - 1, 5000);

	ck_assert_str_eq(show(small, 0x1ffff), "only+0xfff");
	ck_assert_str_eq(show(small, 0x20000), "-");
	ck_assert_str_eq(show(large, 0x1ffff), "only+0xfff");
	ck_assert_str_eq(show(large, 0x20000), "-");
	ck_assert_str_eq(show(none, 0x20000), "-");
	ck_assert_str_eq(show(odd, 0x1ffff), "only+0xfff");
	km_symbols_free(small);
	km_symbols_free(large);
	km_symbols_free(none);
	km_symbols_free(odd);

	large = new_symbols("000000000001c000 t only\n", 24, 65536);
	ck_assert_str_eq(show(large, 0x1ffff), "only+0x3fff");
	km_symbols_free(large);
}
END_TEST

/* A return address at a function's start: the call was the last instruction of the function before. */
START_TEST(a_first_byte_belongs_to_the_symbol_before)
{
	struct km_symbols *symbols = from_text(kernel);

	ck_assert_str_eq(show(symbols, 0xffffffff81000100), "_text+0x100");
	ck_assert_str_eq(show(symbols, 0xffffffffc0000040), "first+0x40 [mod_a]");
	/* Where nothing covers the byte before, it is the symbol's own. */
	ck_assert_str_eq(show(symbols, 0xffffffff81000000), "_text+0x0");
	ck_assert_str_eq(show(symbols, 0xffffffffc0000000), "first+0x0 [mod_a]");
	ck_assert_str_eq(show(symbols, 0xffffffffc0002000), "second+0x0 [mod_b]");
	km_symbols_free(symbols);
}
END_TEST

/* Another module's, but adjacent: the last byte before is still in the page of the symbol before. */
START_TEST(a_first_byte_after_another_modules_page)
{
	struct km_symbols *symbols = from_text("1f00 t a\t[x]\n2000 t b\t[y]\n2001 t c\t[y]\n");

	ck_assert_str_eq(show(symbols, 0x2000), "a+0x100 [x]");
	ck_assert_str_eq(show(symbols, 0x2001), "b+0x1 [y]");
	km_symbols_free(symbols);
}
END_TEST

START_TEST(an_offset_is_at_most_a_mebibyte)
{
	struct km_symbols *symbols = from_text("100000 t a\n900000 t b\n");

	ck_assert_str_eq(show(symbols, 0x200000), "a+0x100000");
	ck_assert_str_eq(show(symbols, 0x200001), "-");
	ck_assert_str_eq(show(symbols, 0x8fffff), "-");
	ck_assert_str_eq(show(symbols, 0x900000), "b+0x0");
	km_symbols_free(symbols);
}
END_TEST

START_TEST(the_ends_of_the_address_space)
{
	struct km_symbols *symbols = from_text("0 t zero\n10 t low\nfffffffffffffff0 t high\n");

	ck_assert_int_eq(km_symbols_state(symbols), KM_SYMBOLS_USABLE);
	ck_assert_str_eq(show(symbols, 0), "zero+0x0");
	ck_assert_str_eq(show(symbols, 1), "zero+0x1");
	ck_assert_str_eq(show(symbols, 0x10), "zero+0x10");
	ck_assert_str_eq(show(symbols, UINT64_MAX), "high+0xf");
	km_symbols_free(symbols);
}
END_TEST

START_TEST(reads_32_bit_addresses)
{
	struct km_symbols *symbols = from_text("c1000000 T _stext\nC1000010 t helper\nf8000000 t f\t[leaky]\n");

	ck_assert_uint_eq(km_symbols_count(symbols), 3);
	ck_assert_str_eq(show(symbols, 0xc1000008), "_stext+0x8");
	ck_assert_str_eq(show(symbols, 0xc1000018), "helper+0x8");
	ck_assert_str_eq(show(symbols, 0xf8000fff), "f+0xfff [leaky]");
	ck_assert_str_eq(show(symbols, 0xfffffffff8000010), "-");
	km_symbols_free(symbols);
}
END_TEST

START_TEST(sorts_and_keeps_the_first_of_equals)
{
	struct km_symbols *symbols = from_text("3000 t c\n1000 t a\n2000 t b1\n1000 t a2\n3000 t c2\n2000 t b2\n");

	ck_assert_uint_eq(km_symbols_count(symbols), 6);
	ck_assert_str_eq(show(symbols, 0x1001), "a+0x1");
	ck_assert_str_eq(show(symbols, 0x2001), "b1+0x1");
	ck_assert_str_eq(show(symbols, 0x3001), "c+0x1");
	km_symbols_free(symbols);
}
END_TEST

/* Shuffled lines, with a name that tells the address: each is found, whatever the order was. */
START_TEST(any_order_is_sorted)
{
	enum { COUNT = 3000 };
	static char text[COUNT * 24];
	uint64_t state = 12345, addresses[COUNT];
	struct km_symbols *symbols;
	char expected[32];
	int used = 0;

	for (unsigned i = 0; i < COUNT; i++)
		addresses[i] = 0x1000 + i * 16;
	/* sorted at the start, as the kernel's own are, then not */
	for (unsigned i = COUNT - 1; i > COUNT / 2; i--) {
		unsigned j;
		uint64_t swapped = addresses[i];

		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		j = COUNT / 4 + (unsigned)(state >> 33) % (i - COUNT / 4);
		addresses[i] = addresses[j];
		addresses[j] = swapped;
	}
	for (unsigned i = 0; i < COUNT; i++)
		used += sprintf(text + used, "%llx t f%llx\n", (unsigned long long)addresses[i],
				(unsigned long long)addresses[i]);
	symbols = new_symbols(text, (size_t)used, 4096);
	ck_assert_uint_eq(km_symbols_count(symbols), COUNT);
	for (unsigned i = 0; i < COUNT; i++) {
		snprintf(expected, sizeof(expected), "f%llx+0x5", (unsigned long long)addresses[i]);
		ck_assert_str_eq(show(symbols, addresses[i] + 5), expected);
	}
	km_symbols_free(symbols);
}
END_TEST

START_TEST(hidden_addresses_are_recognised)
{
	struct km_symbols *symbols = from_text("0000000000000000 T _stext\n0000000000000000 t helper\n");

	ck_assert_int_eq(km_symbols_state(symbols), KM_SYMBOLS_ZEROED);
	ck_assert_uint_eq(km_symbols_count(symbols), 2);
	ck_assert_str_eq(show(symbols, 0), "-");
	ck_assert_str_eq(show(symbols, 8), "-");
	km_symbols_free(symbols);
}
END_TEST

static void check_none(const char *text, size_t bytes, size_t junk_count)
{
	struct km_symbols *symbols = new_symbols(text, bytes, 4096);

	ck_assert_int_eq(km_symbols_state(symbols), KM_SYMBOLS_NONE);
	ck_assert_uint_eq(km_symbols_count(symbols), 0);
	ck_assert_uint_eq(km_symbols_junk_count(symbols), junk_count);
	ck_assert_str_eq(show(symbols, 0x1000), "-");
	km_symbols_free(symbols);
}

START_TEST(no_text_is_no_symbols)
{
	struct km_symbols *symbols = km_symbols_new(NULL, 0, 4096);

	ck_assert_int_eq(km_symbols_state(symbols), KM_SYMBOLS_NONE);
	ck_assert_str_eq(show(symbols, 0x1000), "-");
	km_symbols_free(symbols);
	km_symbols_free(NULL);
	check_none("", 0, 0);
	check_none("\n", 1, 0);
	check_none("a", 1, 1);
	check_none("\0", 1, 1);
	check_none("1000 d only_data\n", 17, 0);
}
END_TEST

START_TEST(lines_may_end_in_any_way)
{
	struct km_symbols *symbols = from_text("1000 t a\r\n2000 t b\t[m]\r\n\r\n\n3000 t c\t[m]");

	ck_assert_uint_eq(km_symbols_count(symbols), 3);
	ck_assert_uint_eq(km_symbols_junk_count(symbols), 0);
	ck_assert_str_eq(show(symbols, 0x1001), "a+0x1");
	ck_assert_str_eq(show(symbols, 0x2001), "b+0x1 [m]");
	ck_assert_str_eq(show(symbols, 0x3001), "c+0x1 [m]");
	km_symbols_free(symbols);
}
END_TEST

START_TEST(junk_is_counted_and_skipped)
{
	static const char text[] = "1000 t a\n"
				   "not a symbol\n"
				   "00000000000001100 t seventeen_digits\n"
				   "1200\n"
				   "1300 t\n"
				   "1400 t \n"
				   "1500 tt two_letters\n"
				   "1600 1 no_letter\n"
				   " 1700 t indented\n"
				   "1800 t bracket\t[m\n"
				   "1900 t bracket\t[]\n"
				   "1a00 t two words\n"
				   "1b00 t n\0l\n"
				   "1c00 t n\t[m\0]\n"
				   "1d00-t dash\n"
				   "2000 t b\n";
	struct km_symbols *symbols = new_symbols(text, sizeof(text) - 1, 4096);

	ck_assert_uint_eq(km_symbols_count(symbols), 2);
	ck_assert_uint_eq(km_symbols_junk_count(symbols), 14);
	ck_assert_str_eq(show(symbols, 0x1fff), "a+0xfff");
	ck_assert_str_eq(show(symbols, 0x2001), "b+0x1");
	km_symbols_free(symbols);
}
END_TEST

/* A look-up reads the name again: it must not be what a whole file holds. */
START_TEST(names_have_an_end)
{
	char text[4096];
	struct km_symbols *symbols;
	int n = snprintf(text, sizeof(text), "1000 t a\n1100 t %01000d\n1200 t %02000d\n2000 t b\n", 7, 7);

	ck_assert_int_lt(n, (int)sizeof(text));
	symbols = from_text(text);
	ck_assert_uint_eq(km_symbols_count(symbols), 3);
	ck_assert_uint_eq(km_symbols_junk_count(symbols), 1);
	ck_assert_uint_gt(strlen(show(symbols, 0x1201)), 200);
	km_symbols_free(symbols);
}
END_TEST

/* Nothing to assert but that it holds what the header says: no crash, and a find that is inside the text. */
static void check_survives(const char *text, size_t bytes, uint64_t address)
{
	struct km_symbols *symbols = new_symbols(text, bytes, 4096);
	struct km_symbol symbol;

	if (km_symbols_find(symbols, address, &symbol)) {
		ck_assert_uint_gt(symbol.name_bytes, 0);
		ck_assert_uint_le(symbol.offset, 1 << 20);
		ck_assert_int_eq(symbol.module != NULL, symbol.module_bytes != 0);
	}
	km_symbols_free(symbols);
}

START_TEST(damaged_text_is_survived)
{
	uint64_t state = 1;
	char text[sizeof(kernel)];

	for (unsigned round = 0; round < 4000; round++) {
		size_t bytes = sizeof(kernel) - 1;

		memcpy(text, kernel, sizeof(text));
		for (unsigned i = 0; i <= round % 8; i++) {
			state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
			text[(state >> 40) % bytes] = (char)(state >> 32);
		}
		if (round & 8)
			bytes = (state >> 20) % bytes;
		check_survives(text, bytes, round & 16 ? 0xffffffff81000100 : 0xffffffffc0000010);
	}
	for (unsigned round = 0; round < 1000; round++) {
		for (size_t i = 0; i < sizeof(text); i++) {
			state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
			text[i] = (char)(state >> 56);
		}
		check_survives(text, sizeof(text), state);
	}
}
END_TEST

static void check_plain(const char *name, const char *plain)
{
	ck_assert_uint_eq(km_symbols_plain_bytes(name, strlen(name)), strlen(plain));
	ck_assert_mem_eq(name, plain, strlen(plain));
}

START_TEST(strips_what_the_compiler_added)
{
	check_plain("kmalloc", "kmalloc");
	check_plain("f.isra.0", "f");
	check_plain("f.constprop.12", "f");
	check_plain("f.part.3", "f");
	check_plain("f.cold", "f");
	check_plain("f.cold.7", "f");
	check_plain("f.isra.0.cold", "f");
	check_plain("f.constprop.0.isra.0.part.1.cold.2", "f");
	check_plain("f.cold.part.0", "f");
	check_plain("f.0", "f.0");
	check_plain("f.isra", "f.isra");
	check_plain("f.isra.", "f.isra.");
	check_plain("f.isra0", "f.isra0");
	check_plain("f.isra.x1", "f.isra.x1");
	check_plain("f.lto_priv.0", "f.lto_priv.0");
	check_plain("fcold", "fcold");
	check_plain("f.colder", "f.colder");
	check_plain("f.isra.0_x", "f.isra.0_x");
	check_plain(".cold", ".cold");
	check_plain(".isra.0.cold", ".isra.0");
	check_plain("123", "123");
	check_plain(".1", ".1");
	check_plain("", "");
	ck_assert_uint_eq(km_symbols_plain_bytes("f.cold.isra", 6), 1); /* the name ends where bytes says */
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		names_a_call_site,
		nothing_covers_what_is_outside,
		makes_no_guess_across_a_gap,
		page_size_is_the_kernels,
		a_first_byte_belongs_to_the_symbol_before,
		a_first_byte_after_another_modules_page,
		an_offset_is_at_most_a_mebibyte,
		the_ends_of_the_address_space,
		reads_32_bit_addresses,
		sorts_and_keeps_the_first_of_equals,
		any_order_is_sorted,
		hidden_addresses_are_recognised,
		no_text_is_no_symbols,
		lines_may_end_in_any_way,
		junk_is_counted_and_skipped,
		names_have_an_end,
		damaged_text_is_survived,
		strips_what_the_compiler_added,
		NULL,
	};

	return km_test_main("symbols", tests, 30);
}
