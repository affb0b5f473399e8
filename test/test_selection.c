/* SPDX-License-Identifier: GPL-2.0-only */
#include "selection.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "count_setup.h"
#include "fixture.h"
#include "naming.h"
#include "testing.h"
#include "trace_writer.h"

/* A call in the kernel, and one in the module. */
#define KERNEL_SITE (tw_function(8, 3) + 0x1f)
#define MODULE_SITE (tw_function(8, TW_FUNCTIONS_KERNEL + 2) + 0x40)

static struct km_event some_alloc(void)
{
	return (struct km_event){ .time = 1000,
				  .kind = KM_EVENT_KMALLOC,
				  .ptr = 0xffff888000001000,
				  .call_site = KERNEL_SITE,
				  .bytes_req = 100,
				  .bytes_alloc = 128,
				  .gfp = tw_gfp(COUNT_KERNEL, "GFP_KERNEL"),
				  .pid = 42,
				  .cpu = 2,
				  .node = KM_NODE_ANY };
}

/* --- --by --- */

START_TEST(by_takes_a_list)
{
	struct km_by_list list;

	ck_assert_int_eq(km_by_parse("site", &list, NULL), 0);
	ck_assert_uint_eq(list.count, 1);
	ck_assert_int_eq(list.fields[0], KM_BY_SITE);
	ck_assert_int_eq(km_by_parse("cache,function,pid", &list, NULL), 0);
	ck_assert_uint_eq(list.count, 3);
	ck_assert_int_eq(list.fields[0], KM_BY_CACHE);
	ck_assert_int_eq(list.fields[1], KM_BY_FUNCTION);
	ck_assert_int_eq(list.fields[2], KM_BY_PID);
}
END_TEST

START_TEST(by_knows_every_column_and_size)
{
	struct km_by_list list;

	for (int field = 0; field < KM_BY_KINDS; field++) {
		ck_assert_int_eq(km_by_parse(km_by_columns[field].name, &list, NULL), 0);
		ck_assert_int_eq(list.fields[0], field);
	}
	ck_assert_int_eq(km_by_parse("size", &list, NULL), 0);
	ck_assert_int_eq(list.fields[0], KM_BY_SIZE);
}
END_TEST

START_TEST(by_refuses)
{
	static const char *const wrong[] = { "",
					     "sites",
					     "sit",
					     "site,",
					     ",site",
					     "site,,pid",
					     "site,cache,site",
					     "size,size_bytes",
					     " site",
					     "site,function,module,cache,comm,pid,cpu,node,gfp" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct km_by_list list = { .count = 77 };
		struct km_error error = { 0 };

		ck_assert_msg(km_by_parse(wrong[i], &list, &error) == -EINVAL, "\"%s\"", wrong[i]);
		ck_assert_int_eq(error.code, -EINVAL);
		ck_assert_ptr_nonnull(strstr(error.text, "--by"));
		ck_assert_uint_eq(list.count, 77);
	}
}
END_TEST

/* --- what decides by shape, and what by event --- */

START_TEST(only_what_a_shape_does_not_tell_is_asked_each_time)
{
	static const char *const fixed[] = { "site", "function", "module", "cache", "gfp", "size" };
	static const char *const changing[] = { "pid", "comm", "cpu", "node", "site,pid" };

	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++) {
		struct count_setup *s = count_set_up(fixed[i]);

		s->filter.min_size_bytes = 10;
		ck_assert_int_eq(km_patterns_parse(&s->filter.cache, "x", NULL), 0);
		ck_assert_int_eq(km_patterns_parse(&s->filter.gfp, "x", NULL), 0);
		ck_assert_msg(!km_selection_is_dynamic(&s->selection), "%s", fixed[i]);
		count_tear_down(s);
	}
	for (size_t i = 0; i < sizeof(changing) / sizeof(*changing); i++) {
		struct count_setup *s = count_set_up(changing[i]);

		ck_assert_msg(km_selection_is_dynamic(&s->selection), "%s", changing[i]);
		count_tear_down(s);
	}
}
END_TEST

START_TEST(each_filter_of_events_is_asked_each_time)
{
	struct count_setup *s = count_set_up(NULL);
	struct km_filter *f = &s->filter;
	struct km_ranges *const ranges[] = { &f->pid, &f->cpu, &f->node };

	ck_assert(!km_selection_is_dynamic(&s->selection));
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(km_ranges_parse(ranges[i], "1", NULL), 0);
		ck_assert(km_selection_is_dynamic(&s->selection));
		km_ranges_release(ranges[i]);
		*ranges[i] = (struct km_ranges){ 0 };
	}
	s->selection.from_time = 1;
	ck_assert(km_selection_is_dynamic(&s->selection));
	s->selection.from_time = 0;
	s->selection.until_time = 1;
	ck_assert(km_selection_is_dynamic(&s->selection));
	s->selection.until_time = UINT64_MAX;
	s->selection.waits_for_from = true;
	ck_assert(km_selection_is_dynamic(&s->selection));
	count_tear_down(s);
}
END_TEST

/* --- by shape --- */

static bool takes_shape(struct count_setup *s, const struct km_event *e)
{
	return km_selection_takes_shape(&s->selection, e, km_caches_of(s->caches, e));
}

/* Whether a filter of patterns (a field of `filter`, by its offset) takes the event. */
static bool takes(size_t offset, const char *patterns, struct km_event e)
{
	struct count_setup *s = count_set_up(NULL);
	struct km_patterns *field = (struct km_patterns *)((char *)&s->filter + offset);
	bool result;

	ck_assert_int_eq(km_patterns_parse(field, patterns, NULL), 0);
	result = takes_shape(s, &e);
	count_tear_down(s);
	return result;
}

#define TAKES(field, patterns, event) takes(offsetof(struct km_filter, field), patterns, event)

START_TEST(no_filter_takes_all)
{
	struct count_setup *s = count_set_up(NULL);
	struct km_event e = some_alloc();

	ck_assert(takes_shape(s, &e));
	ck_assert(km_selection_takes_event(&s->selection, &e));
	count_tear_down(s);
}
END_TEST

START_TEST(sizes_are_those_given)
{
	struct count_setup *s = count_set_up(NULL);
	struct km_event e = some_alloc();

	s->filter.min_size_bytes = 128;
	ck_assert(takes_shape(s, &e));
	s->filter.min_size_bytes = 129;
	ck_assert(!takes_shape(s, &e));
	count_tear_down(s);
}
END_TEST

START_TEST(sites_by_any_of_their_names)
{
	struct km_event in_kernel = some_alloc(), in_module = some_alloc();

	in_module.call_site = MODULE_SITE;
	ck_assert(TAKES(site, "kernel_fn_03+0x1f", in_kernel));
	ck_assert(TAKES(site, "kernel_fn_03", in_kernel));
	ck_assert(TAKES(site, "0xffffffff8100301f", in_kernel));
	ck_assert(TAKES(site, "kernel_fn_*", in_kernel));
	ck_assert(!TAKES(site, "kernel_fn_03+0x1e", in_kernel));
	ck_assert(!TAKES(site, "kernel_fn_0", in_kernel));
	ck_assert(!TAKES(site, "!kernel_fn_03", in_kernel));
	ck_assert(TAKES(site, "!kernel_fn_04", in_kernel));
	ck_assert(TAKES(site, "mod_fn_50+0x40", in_module));
	ck_assert(TAKES(site, "mod_fn_50+0x40 \\[leaky\\]", in_module));
	ck_assert(!TAKES(site, "kernel_fn_*,!*", in_kernel));
}
END_TEST

START_TEST(functions_and_modules)
{
	struct km_event in_kernel = some_alloc(), in_module = some_alloc();

	in_module.call_site = MODULE_SITE;
	ck_assert(TAKES(function, "kernel_fn_03,kernel_fn_05", in_kernel));
	ck_assert(!TAKES(function, "kernel_fn_03+0x1f", in_kernel));
	ck_assert(!TAKES(function, "kernel_fn_03", in_module));
	ck_assert(TAKES(module, "leaky", in_module));
	ck_assert(!TAKES(module, "leaky", in_kernel));
	ck_assert(TAKES(module, "!leaky", in_kernel));
	ck_assert(!TAKES(module, "!leaky", in_module));
}
END_TEST

START_TEST(caches_by_their_names)
{
	struct km_event named = some_alloc();

	ck_assert(TAKES(cache, "kmalloc-128", named));
	ck_assert(TAKES(cache, "kmalloc-*,!kmalloc-64", named));
	ck_assert(!TAKES(cache, "kmalloc-*,!kmalloc-128", named));
	named.kind = KM_EVENT_CACHE_ALLOC;
	named.cache = 2;
	ck_assert(TAKES(cache, "filp", named));
	ck_assert(!TAKES(cache, "dentry", named));
}
END_TEST

START_TEST(gfp_flags_by_name_or_mask)
{
	struct km_event e = some_alloc(), atomic = some_alloc();
	char mask[16];

	atomic.gfp = tw_gfp(COUNT_KERNEL, "GFP_ATOMIC");
	ck_assert(TAKES(gfp, "GFP_KERNEL", e));
	ck_assert(!TAKES(gfp, "GFP_KERNEL", atomic));
	ck_assert(TAKES(gfp, "GFP_ATOMIC,GFP_KERNEL", e)); /* any of them */
	ck_assert(!TAKES(gfp, "__GFP_ZERO", e));
	ck_assert(TAKES(gfp, "!__GFP_ZERO", e));
	e.gfp |= tw_gfp(COUNT_KERNEL, "__GFP_ZERO");
	ck_assert(TAKES(gfp, "__GFP_ZERO", e));
	ck_assert(!TAKES(gfp, "!__GFP_ZERO", e));
	ck_assert(!TAKES(gfp, "GFP_KERNEL,!__GFP_ZERO", e));
	ck_assert(TAKES(gfp, "__GFP_Z*", e));
	snprintf(mask, sizeof(mask), "0x%x", tw_gfp(COUNT_KERNEL, "__GFP_ZERO"));
	ck_assert(TAKES(gfp, mask, e));
	ck_assert(!TAKES(gfp, mask, some_alloc()));
	snprintf(mask, sizeof(mask), "!0x%x", tw_gfp(COUNT_KERNEL, "__GFP_ZERO"));
	ck_assert(!TAKES(gfp, mask, e));
	ck_assert(TAKES(gfp, mask, some_alloc()));
}
END_TEST

/* --- by event --- */

START_TEST(tasks_cpus_and_nodes)
{
	struct count_setup *s = count_set_up(NULL);
	struct km_event e = some_alloc();

	ck_assert_int_eq(km_ranges_parse(&s->filter.pid, "40-42", NULL), 0);
	ck_assert_int_eq(km_ranges_parse(&s->filter.cpu, "!3", NULL), 0);
	ck_assert_int_eq(km_ranges_parse(&s->filter.node, "-1", NULL), 0);
	ck_assert(km_selection_takes_event(&s->selection, &e));
	e.pid = 43;
	ck_assert(!km_selection_takes_event(&s->selection, &e));
	e.pid = 40;
	e.cpu = 3;
	ck_assert(!km_selection_takes_event(&s->selection, &e));
	e.cpu = 0;
	e.node = 0;
	ck_assert(!km_selection_takes_event(&s->selection, &e));
	count_tear_down(s);
}
END_TEST

START_TEST(tasks_by_name)
{
	struct count_setup *s = count_set_up(NULL);
	struct km_event e = some_alloc();

	ck_assert_int_eq(km_patterns_parse(&s->filter.comm, "work*", NULL), 0);
	ck_assert(km_selection_takes_event(&s->selection, &e)); /* 42 is "worker" */
	e.pid = 41;
	ck_assert(!km_selection_takes_event(&s->selection, &e)); /* "kworker/0:1" */
	e.pid = 77777;
	ck_assert(!km_selection_takes_event(&s->selection, &e));
	count_tear_down(s);
}
END_TEST

START_TEST(times_from_until)
{
	struct count_setup *s = count_set_up(NULL);
	struct km_event e = some_alloc();

	s->selection.from_time = 1000;
	s->selection.until_time = 1001;
	ck_assert(km_selection_takes_event(&s->selection, &e));
	e.time = 999;
	ck_assert(!km_selection_takes_event(&s->selection, &e));
	e.time = 1001;
	ck_assert(!km_selection_takes_event(&s->selection, &e));
	e.time = 1000;
	s->selection.waits_for_from = true;
	ck_assert(!km_selection_takes_event(&s->selection, &e));
	count_tear_down(s);
}
END_TEST

/* --- groups --- */

static struct km_cell cell_of(struct count_setup *s, const struct km_event *e)
{
	struct km_cell cell;
	uint64_t value;

	km_selection_group(&s->selection, e, km_caches_of(s->caches, e), &value);
	km_selection_cell(&s->selection, s->selection.by.fields[0], value, &cell);
	return cell;
}

static void check_text(const char *by, const struct km_event *e, const char *wanted)
{
	struct count_setup *s = count_set_up(by);

	ck_assert_str_eq(cell_of(s, e).text, wanted);
	count_tear_down(s);
}

START_TEST(a_group_by_each_name)
{
	struct km_event e = some_alloc(), in_module = some_alloc(), nowhere = some_alloc();

	in_module.call_site = MODULE_SITE;
	nowhere.call_site = 0x1234;
	nowhere.pid = 0;
	nowhere.gfp = 0;
	check_text("site", &e, "kernel_fn_03+0x1f");
	check_text("site", &in_module, "mod_fn_50+0x40 [leaky]");
	check_text("site", &nowhere, "0x1234");
	check_text("function", &e, "kernel_fn_03");
	check_text("function", &in_module, "mod_fn_50");
	check_text("function", &nowhere, "0x1234");
	check_text("module", &e, "");
	check_text("module", &in_module, "leaky");
	check_text("module", &nowhere, "");
	check_text("cache", &e, "kmalloc-128");
	check_text("comm", &e, "worker");
	check_text("comm", &nowhere, "<idle>");
	check_text("gfp", &e, "GFP_KERNEL");
	check_text("gfp", &nowhere, "none");
}
END_TEST

static int64_t integer_of(const char *by, const struct km_event *e)
{
	struct count_setup *s = count_set_up(by);
	int64_t integer = cell_of(s, e).integer;

	count_tear_down(s);
	return integer;
}

START_TEST(a_group_by_each_number)
{
	struct km_event e = some_alloc();

	ck_assert_int_eq(integer_of("pid", &e), 42);
	ck_assert_int_eq(integer_of("cpu", &e), 2);
	ck_assert_int_eq(integer_of("node", &e), -1);
	e.node = 1;
	ck_assert_int_eq(integer_of("node", &e), 1);
}
END_TEST

START_TEST(a_group_by_size_is_a_power_of_two)
{
	static const uint64_t sizes[][2] = {
		{ 0, 1 },     { 1, 1 },     { 2, 2 },       { 3, 4 },        { 96, 128 },
		{ 128, 128 }, { 129, 256 }, { 8192, 8192 }, { 8193, 16384 }, { (1 << 30) - 1, 1 << 30 }
	};
	struct count_setup *s = count_set_up("size");
	struct km_event e = some_alloc();

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		e.bytes_req = sizes[i][0];
		ck_assert_uint_eq(cell_of(s, &e).number, sizes[i][1]);
	}
	count_tear_down(s);
}
END_TEST

/* Two sites of one function are one group; of two functions, two. */
START_TEST(equal_values_are_equal_numbers)
{
	struct count_setup *s = count_set_up("function,module,comm,site");
	struct km_event e = some_alloc(), other = some_alloc();
	uint64_t values[KM_BY_LIMIT], others[KM_BY_LIMIT];

	other.call_site += 8;
	km_selection_group(&s->selection, &e, km_caches_of(s->caches, &e), values);
	km_selection_group(&s->selection, &other, km_caches_of(s->caches, &other), others);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_eq(values[i], others[i]);
	ck_assert_uint_ne(values[3], others[3]);
	other.call_site += 0x1000;
	km_selection_group(&s->selection, &other, km_caches_of(s->caches, &other), others);
	ck_assert_uint_ne(values[0], others[0]);
	count_tear_down(s);
}
END_TEST

/* --- naming --- */

START_TEST(raw_ip_leaves_functions_and_modules)
{
	struct count_setup *s = count_set_up(NULL);
	struct km_naming *naming = NULL;
	struct km_site_name name;

	ck_assert_int_eq(km_naming_new(s->reader, NULL, true, &naming, NULL), 0);
	name = km_naming_site(naming, MODULE_SITE);
	ck_assert_str_eq(name.symbol, "0xffffffffc0202040");
	ck_assert_str_eq(name.function, "mod_fn_50");
	ck_assert_str_eq(name.module, "leaky");
	ck_assert_ptr_eq(km_naming_keep(naming, "leaky"), name.module);
	km_naming_free(naming);
	km_naming_free(NULL);
	count_tear_down(s);
}
END_TEST

START_TEST(symbols_of_a_file_take_precedence)
{
	static const char kallsyms[] = "ffffffff81003000 T do_it.isra.0\nffffffff81004000 T other\n";
	char *path = km_fixture_write_temporary(kallsyms, strlen(kallsyms));
	struct count_setup *s = count_set_up(NULL);
	struct km_naming *naming = NULL;
	struct km_site_name name;

	ck_assert_int_eq(km_naming_new(s->reader, path, false, &naming, NULL), 0);
	name = km_naming_site(naming, KERNEL_SITE);
	ck_assert_str_eq(name.symbol, "do_it.isra.0+0x1f");
	ck_assert_str_eq(name.function, "do_it");
	ck_assert_str_eq(km_naming_site(naming, MODULE_SITE).symbol, "0xffffffffc0202040");
	ck_assert_int_eq(km_naming_state(naming), KM_SYMBOLS_USABLE);
	km_naming_free(naming);
	count_tear_down(s);
	unlink(path);
	free(path);
}
END_TEST

START_TEST(files_without_symbols_are_refused)
{
	char *path = km_fixture_write_temporary("what is this?\n", 14);
	struct count_setup *s = count_set_up(NULL);
	struct km_naming *naming = NULL;
	struct km_error error = { 0 };

	ck_assert_int_eq(km_naming_new(s->reader, path, false, &naming, &error), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(error.text, path));
	error = (struct km_error){ 0 };
	ck_assert_int_eq(km_naming_new(s->reader, "/nonexistent/kallsyms", false, &naming, &error), -ENOENT);
	ck_assert_ptr_nonnull(strstr(error.text, "/nonexistent/kallsyms"));
	ck_assert_ptr_null(naming);
	count_tear_down(s);
	unlink(path);
	free(path);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		by_takes_a_list,
		by_knows_every_column_and_size,
		by_refuses,
		only_what_a_shape_does_not_tell_is_asked_each_time,
		each_filter_of_events_is_asked_each_time,
		no_filter_takes_all,
		sizes_are_those_given,
		sites_by_any_of_their_names,
		functions_and_modules,
		caches_by_their_names,
		gfp_flags_by_name_or_mask,
		tasks_cpus_and_nodes,
		tasks_by_name,
		times_from_until,
		a_group_by_each_name,
		a_group_by_each_number,
		a_group_by_size_is_a_power_of_two,
		equal_values_are_equal_numbers,
		raw_ip_leaves_functions_and_modules,
		symbols_of_a_file_take_precedence,
		files_without_symbols_are_refused,
		NULL,
	};

	return km_test_main("selection", tests, 60);
}
