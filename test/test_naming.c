/* SPDX-License-Identifier: GPL-2.0-only */
#include "naming.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "read_back.h"
#include "testing.h"

#define TEXT_SITE UINT64_C(0xffffffff81001011)

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
			       "ffffffff81001000 t alloc_it.isra.0\n"
			       "ffffffff81002000 T use_it\n"
			       "ffffffff81003000 T one.constprop.0.cold\n"
			       "ffffffff81004000 T last_of_the_kernel\n"
			       "ffffffff81005000 D data_is_no_text\n"
			       "ffffffffc0000000 t mod_alloc.part.3\t[mod]\n"
			       "ffffffffc0001000 t mod_end\t[mod]\n";

struct setup {
	void *data;
	struct km_reader *reader;
	struct km_naming *naming;
};

static struct setup open_trace(const struct tw_options *options)
{
	struct tw *tw = tw_new(options);
	struct setup s = { 0 };
	size_t bytes;

	tw_kmalloc(tw, TW_TOP, 0, 1000, 1, TEXT_SITE, 0xffff888000001000, 8, 8, 0, -1);
	s.data = tw_finish(tw, &bytes);
	tw_free(tw);
	s.reader = km_read_back_open(s.data, bytes, NULL);
	return s;
}

static struct setup set_up(const char *symbols, bool raw_ip)
{
	struct setup s = open_trace(&(struct tw_options){ .kallsyms = symbols });

	ck_assert_int_eq(km_naming_new(s.reader, NULL, raw_ip, &s.naming, NULL), 0);
	return s;
}

static void tear_down(struct setup *s)
{
	km_naming_free(s->naming);
	km_reader_close(s->reader);
	free(s->data);
}

static void expect(const struct setup *s, uint64_t call_site, const char *symbol, const char *function,
		   const char *module)
{
	struct km_site_name name = km_naming_site(s->naming, call_site);

	ck_assert_str_eq(name.symbol, symbol);
	ck_assert_str_eq(name.function, function);
	ck_assert_str_eq(name.module, module);
	ck_assert(!name.is_made_up);
}

START_TEST(a_site_has_symbol_function_and_module)
{
	struct setup s = set_up(kallsyms, false);

	ck_assert_int_eq(km_naming_state(s.naming), KM_SYMBOLS_USABLE);
	expect(&s, 0xffffffff81001011, "alloc_it.isra.0+0x11", "alloc_it", "");
	expect(&s, 0xffffffff81002fff, "use_it+0xfff", "use_it", "");
	expect(&s, 0xffffffff81003004, "one.constprop.0.cold+0x4", "one", "");
	expect(&s, 0xffffffffc0000abc, "mod_alloc.part.3+0xabc [mod]", "mod_alloc", "mod");
	tear_down(&s);
}
END_TEST

/* The call was the last instruction of the function before. */
START_TEST(a_return_address_at_a_symbols_start_is_of_the_one_before)
{
	struct setup s = set_up(kallsyms, false);

	expect(&s, 0xffffffff81002000, "alloc_it.isra.0+0x1000", "alloc_it", "");
	tear_down(&s);
}
END_TEST

START_TEST(what_nothing_covers_is_its_address)
{
	struct setup s = set_up(kallsyms, false);

	expect(&s, 0xffffffff90000000, "0xffffffff90000000", "0xffffffff90000000", "");
	expect(&s, 0x1234, "0x1234", "0x1234", "");
	expect(&s, 0, "0x0", "0x0", "");
	expect(&s, UINT64_MAX, "0xffffffffffffffff", "0xffffffffffffffff", "");
	tear_down(&s);
}
END_TEST

START_TEST(raw_symbols_keep_functions_and_modules)
{
	struct setup s = set_up(kallsyms, true);

	expect(&s, 0xffffffff81001011, "0xffffffff81001011", "alloc_it", "");
	expect(&s, 0xffffffffc0000abc, "0xffffffffc0000abc", "mod_alloc", "mod");
	expect(&s, 0x1234, "0x1234", "0x1234", "");
	tear_down(&s);
}
END_TEST

START_TEST(equal_names_are_equal_pointers)
{
	struct setup s = set_up(kallsyms, false);
	struct km_site_name a = km_naming_site(s.naming, 0xffffffffc0000abc);
	struct km_site_name b = km_naming_site(s.naming, 0xffffffffc0000def);
	struct km_site_name again = km_naming_site(s.naming, 0xffffffffc0000abc);
	char text[] = "mod";
	const char *kept;

	ck_assert_ptr_eq(a.symbol, again.symbol);
	ck_assert_ptr_ne(a.symbol, b.symbol);
	ck_assert_ptr_eq(a.function, b.function);
	ck_assert_ptr_eq(a.module, b.module);
	kept = km_naming_keep(s.naming, text);
	ck_assert_ptr_eq(kept, a.module);
	text[0] = 'x'; /* it was copied */
	ck_assert_str_eq(kept, "mod");
	ck_assert_str_eq(km_naming_keep(s.naming, ""), "");
	tear_down(&s);
}
END_TEST

/* Names stay where they are, however many there are. */
START_TEST(names_last_as_long_as_the_naming)
{
	struct setup s = set_up(kallsyms, false);
	struct km_site_name first = km_naming_site(s.naming, TEXT_SITE);
	char text[32];

	for (unsigned i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "name %u", i);
		km_naming_keep(s.naming, text);
	}
	ck_assert_str_eq(first.symbol, "alloc_it.isra.0+0x11");
	ck_assert_ptr_eq(km_naming_site(s.naming, TEXT_SITE).symbol, first.symbol);
	tear_down(&s);
}
END_TEST

START_TEST(without_symbols_all_are_addresses)
{
	struct setup s = open_trace(&(struct tw_options){ .omit = TW_OMIT_KALLSYMS });

	ck_assert_int_eq(km_naming_new(s.reader, NULL, false, &s.naming, NULL), 0);
	ck_assert_int_eq(km_naming_state(s.naming), KM_SYMBOLS_NONE);
	expect(&s, TEXT_SITE, "0xffffffff81001011", "0xffffffff81001011", "");
	tear_down(&s);
}
END_TEST

START_TEST(zeroed_symbols_name_nothing)
{
	struct setup s = set_up("0000000000000000 T _stext\n0000000000000000 T alloc_it\n", false);

	ck_assert_int_eq(km_naming_state(s.naming), KM_SYMBOLS_ZEROED);
	expect(&s, TEXT_SITE, "0xffffffff81001011", "0xffffffff81001011", "");
	tear_down(&s);
}
END_TEST

START_TEST(a_file_stands_for_the_recordings_own)
{
	struct setup s = open_trace(&(struct tw_options){ .kallsyms = "ffffffff81001000 T not_this\n"
								      "ffffffff81002000 T nor_this\n" });
	char *path = km_fixture_write_temporary(kallsyms, strlen(kallsyms));

	ck_assert_int_eq(km_naming_new(s.reader, path, false, &s.naming, NULL), 0);
	unlink(path); /* it was read */
	free(path);
	ck_assert_int_eq(km_naming_state(s.naming), KM_SYMBOLS_USABLE);
	expect(&s, TEXT_SITE, "alloc_it.isra.0+0x11", "alloc_it", "");
	tear_down(&s);
}
END_TEST

/* More than the first piece that is read. */
START_TEST(a_large_file_is_read_whole)
{
	const size_t lines = 70000;
	char *text = malloc(lines * 40), *at = text, *path;
	struct setup s = open_trace(&(struct tw_options){ .omit = TW_OMIT_KALLSYMS });

	for (size_t i = 0; i < lines; i++)
		at += sprintf(at, "%016zx T function_%zu\n", (size_t)0xffffffff81000000 + 16 * i, i);
	ck_assert_uint_gt((size_t)(at - text), 2 << 20);
	path = km_fixture_write_temporary(text, (size_t)(at - text));
	ck_assert_int_eq(km_naming_new(s.reader, path, false, &s.naming, NULL), 0);
	expect(&s, 0xffffffff81000008, "function_0+0x8", "function_0", "");
	expect(&s, 0xffffffff81000004 + 16 * (lines - 1), "function_69999+0x4", "function_69999", "");
	unlink(path);
	free(path);
	free(text);
	tear_down(&s);
}
END_TEST

static void expect_refused(const char *path, int code)
{
	struct setup s = open_trace(&(struct tw_options){ .kallsyms = kallsyms });
	struct km_error error = { 0 };

	ck_assert_int_eq(km_naming_new(s.reader, path, false, &s.naming, &error), code);
	ck_assert_ptr_null(s.naming);
	ck_assert_int_eq(error.code, code);
	ck_assert_ptr_nonnull(strstr(error.text, path));
	tear_down(&s);
}

START_TEST(a_file_that_is_no_kallsyms_is_refused)
{
	static const char *const texts[] = { "", "hello\n", "ffffffff81001000 D only_data\n", "\177ELF" };

	expect_refused("/nowhere/kallsyms", -ENOENT);
	expect_refused("/", -EISDIR);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *path = km_fixture_write_temporary(texts[i], strlen(texts[i]));

		expect_refused(path, -EBADMSG);
		unlink(path);
		free(path);
	}
}
END_TEST

/* Whose addresses are all zero can be read, and is told apart. */
START_TEST(a_zeroed_file_is_taken_as_such)
{
	static const char text[] = "0000000000000000 T _stext\n0000000000000000 T alloc_it\n";
	struct setup s = open_trace(&(struct tw_options){ .kallsyms = kallsyms });
	char *path = km_fixture_write_temporary(text, strlen(text));

	ck_assert_int_eq(km_naming_new(s.reader, path, false, &s.naming, NULL), 0);
	ck_assert_int_eq(km_naming_state(s.naming), KM_SYMBOLS_ZEROED);
	unlink(path);
	free(path);
	tear_down(&s);
}
END_TEST

/* And the offset stays: two sites of it are two. */
START_TEST(a_very_long_name_is_cut)
{
	char text[1200], *at = text + sprintf(text, "ffffffff81001000 T ");
	struct setup s;
	struct km_site_name name;

	memset(at, 'a', 400);
	at += 400 + sprintf(at + 400, "\nffffffff81002000 T next\nffffffffc0000000 t ");
	memset(at, 'b', 400);
	sprintf(at + 400, "\t[mod]\n");
	s = set_up(text, false);
	name = km_naming_site(s.naming, TEXT_SITE);
	ck_assert_uint_eq(strlen(name.symbol), 255);
	ck_assert_str_eq(name.symbol + 248, "aa+0x11");
	ck_assert_ptr_ne(km_naming_site(s.naming, TEXT_SITE + 1).symbol, name.symbol);
	name = km_naming_site(s.naming, 0xffffffffc0000abc);
	ck_assert_str_eq(name.symbol + 243, "+0xabc [mod]");
	ck_assert_str_eq(name.module, "mod");
	tear_down(&s);
}
END_TEST

/* Text tells names only: the numbers are made up. */
START_TEST(a_recording_that_names_its_sites_is_believed)
{
	static const char text[] =
		"# tracer: nop\n"
		"  task-1 [000] .....  1.000001: kmalloc: call_site=load_it+0x1f/0x90 ptr=00000000aaaaaaaa "
		"bytes_req=8 bytes_alloc=8 gfp_flags=GFP_KERNEL node=-1 accounted=false\n";
	struct km_reader *reader = km_read_back_open(text, strlen(text), NULL);
	struct km_naming *naming;
	struct km_site_name name, raw;
	struct km_event *events;
	size_t count;

	events = km_read_back_all(reader, 0, 4, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(km_naming_new(reader, NULL, false, &naming, NULL), 0);
	ck_assert_int_eq(km_naming_state(naming), KM_SYMBOLS_USABLE);
	name = km_naming_site(naming, events[0].call_site);
	ck_assert_str_eq(name.symbol, "load_it+0x1f");
	ck_assert_str_eq(name.function, "load_it");
	ck_assert(name.is_made_up);
	km_naming_free(naming);
	ck_assert_int_eq(km_naming_new(reader, NULL, true, &naming, NULL), 0);
	raw = km_naming_site(naming, events[0].call_site);
	ck_assert_str_eq(raw.symbol, "load_it+0x1f"); /* such an address says nothing */
	km_naming_free(naming);
	km_reader_close(reader);
	free(events);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { a_site_has_symbol_function_and_module,
				 a_return_address_at_a_symbols_start_is_of_the_one_before,
				 what_nothing_covers_is_its_address,
				 raw_symbols_keep_functions_and_modules,
				 equal_names_are_equal_pointers,
				 names_last_as_long_as_the_naming,
				 without_symbols_all_are_addresses,
				 zeroed_symbols_name_nothing,
				 a_file_stands_for_the_recordings_own,
				 a_large_file_is_read_whole,
				 a_file_that_is_no_kallsyms_is_refused,
				 a_zeroed_file_is_taken_as_such,
				 a_very_long_name_is_cut,
				 a_recording_that_names_its_sites_is_believed,
				 NULL };

	return km_test_main("naming", tests, 20);
}
