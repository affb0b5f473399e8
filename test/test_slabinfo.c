/* SPDX-License-Identifier: GPL-2.0-only */
#include "slabinfo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "testing.h"

#define HEADER                                                                                                 \
	"slabinfo - version: 2.1\n"                                                                            \
	"# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> " \
	"<batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>\n"
#define REST " : tunables    0    0    0 : slabdata      1      1      0\n"

static int load_bytes(const void *text, size_t bytes, struct km_slabinfo *ret_info, struct km_error *error)
{
	char *path = km_fixture_write_temporary(text, bytes);
	int r = km_slabinfo_load(path, ret_info, error);

	unlink(path);
	free(path);
	return r;
}

static struct km_slabinfo load(const char *text)
{
	struct km_slabinfo info = { 0 };
	struct km_error error = { 0 };

	ck_assert_msg(!load_bytes(text, strlen(text), &info, &error), "%s", error.text);
	return info;
}

static void refuse_bytes(const void *text, size_t bytes, int code, const char *words)
{
	struct km_slabinfo info;
	struct km_error error = { 0 };
	int r = load_bytes(text, bytes, &info, &error);

	ck_assert_msg(r == code, "%d: %s", r, error.text);
	ck_assert_msg(strstr(error.text, words), "%s", error.text);
}

static void refuse(const char *text, const char *words)
{
	refuse_bytes(text, strlen(text), -EINVAL, words);
}

START_TEST(lines)
{
	struct km_slabinfo info = load(HEADER "pid                   64     84    192   21    1" REST
					      "dentry            250000 252000    192   21    1" REST
					      "Acpi-State             0      0     80   51    1" REST);
	const struct km_slabinfo_cache *dentry = km_slabinfo_find(&info, "dentry");

	ck_assert_uint_eq(info.count, 3);
	ck_assert_str_eq(info.caches[0].name, "Acpi-State");
	ck_assert_ptr_nonnull(dentry);
	ck_assert_uint_eq(dentry->active_count, 250000);
	ck_assert_uint_eq(dentry->total_count, 252000);
	ck_assert_uint_eq(dentry->object_bytes, 192);
	ck_assert_uint_eq(dentry->slab_objects_count, 21);
	ck_assert_ptr_null(km_slabinfo_find(&info, "dentr"));
	ck_assert(!info.is_debug);
	km_slabinfo_release(&info);
	ck_assert_ptr_null(km_slabinfo_find(&info, "dentry"));
}
END_TEST

/* CRLF, the statistics of SLAB, no newline at the end. */
START_TEST(other_forms)
{
	struct km_slabinfo info =
		load("slabinfo - version: 2.1 (statistics)\r\n# name <active_objs>\r\n\r\n"
		     "pid 64 84 192 21 1 : tunables 120 60 8 : slabdata 4 4 0 : globalstat 1 2 3 : cpustat 1 2\r\n"
		     "cred 1 2 3 4 5");

	ck_assert_uint_eq(info.count, 2);
	ck_assert_uint_eq(km_slabinfo_find(&info, "pid")->active_count, 64);
	ck_assert_uint_eq(km_slabinfo_find(&info, "cred")->slab_objects_count, 4);
	km_slabinfo_release(&info);
}
END_TEST

START_TEST(names_twice)
{
	struct km_slabinfo info = load(HEADER "b 1 2 64 64 1" REST "a 1 2 64 64 1" REST "b 10 20 64 32 1" REST
					      "c 1 2 64 64 1" REST "c 1 2 72 56 1" REST);

	ck_assert_uint_eq(info.count, 3);
	ck_assert_uint_eq(info.caches[1].active_count, 11);
	ck_assert_uint_eq(info.caches[1].total_count, 22);
	ck_assert_uint_eq(info.caches[1].object_bytes, 64);
	ck_assert_uint_eq(info.caches[1].slab_objects_count, 64);
	ck_assert_uint_eq(info.caches[2].object_bytes, 0);
	km_slabinfo_release(&info);
}
END_TEST

START_TEST(refused)
{
	refuse("", "the file is empty");
	refuse(HEADER, "a slabinfo without a cache");
	refuse("pid 64 84 192 21 1\n", ":1: not a copy of /proc/slabinfo");
	refuse("slabinfo - version: 1.1\npid 1 2 3 4 5\n", ":1: slabinfo version 1.1 is not known here");
	refuse("slabinfo - version: 1.1 (statistics) (SMP)\n", "version 1.1");
	refuse("slabinfo - version: 2.0\npid 1 2 3 4 5\n", "version 2.0");
	refuse("slabinfo - version: 2.10\npid 1 2 3 4 5\n", "version 2.10");
	refuse("slabinfo - version: \npid 1 2 3 4 5\n", ":1: ");
	refuse(HEADER "pid 64 84 192 21\n", ":3: ");
	refuse(HEADER "pid\n", ":3: ");
	refuse(HEADER "pid -64 84 192 21 1" REST, "\"pid -64 84");
	refuse(HEADER "pid 64 84 192 21x 1" REST, ":3: ");
	refuse(HEADER "pid 0x40 84 192 21 1" REST, ":3: ");
	refuse(HEADER "pid 64 84 192.5 21 1" REST, ":3: ");
	refuse(HEADER "pid 18446744073709551615 84 192 21 1" REST, ":3: ");
	refuse(HEADER "pid 99999999999999999999999999999999 84 192 21 1" REST, ":3: ");
	refuse(HEADER "pid 64 84 0 21 1" REST, ":3: ");
	refuse(HEADER "pid 64 84 1073741825 21 1" REST, ":3: ");
	refuse(HEADER "pid 64 84 192 0 1" REST, ":3: ");
	refuse(HEADER "pid 64 84 192 21 0" REST, ":3: ");
	refuse_bytes(HEADER "pid 64\0 84 192 21 1\n", sizeof(HEADER) - 1 + 21, -EINVAL, ":3: ");
}
END_TEST

START_TEST(limits)
{
	size_t line = sizeof("n12345 1 1 8 8 1\n") - 1, start = sizeof(HEADER) - 1;
	size_t bytes = start + (KM_SLABINFO_CACHES_LIMIT + 1) * line;
	char *text = malloc(bytes + 1);

	ck_assert_ptr_nonnull(text);
	memcpy(text, HEADER, start);
	for (size_t i = 0; i <= KM_SLABINFO_CACHES_LIMIT; i++)
		snprintf(text + start + i * line, line + 1, "n%05zu 1 1 8 8 1\n", i);
	refuse_bytes(text, bytes, -ENOSPC, ":65539: more than 65536 caches");
	memset(text + start, 'n', bytes - start);
	refuse_bytes(text, start + 300, -EINVAL, ":3: ");
	refuse_bytes(text, bytes, -EINVAL, ":3: ");
	free(text);
}
END_TEST

/* 5.16's set_cpu_partial(), and the slab that a CPU allocates from. */
START_TEST(hidden)
{
	struct km_slabinfo info =
		load(HEADER "dentry            250000 252000    192   21    1" REST "filp 5000 5000 256 16 1" REST
			    "kmalloc-2k 800 800 2048 16 8" REST "kmalloc-4k 800 800 4096 8 8" REST
			    "small 5000 5000 8 512 1" REST "few 7 21 192 21 1" REST
			    "slab 5000 5000 192 21 1 : tunables 120 60 8 : slabdata 9 9 0\n"
			    "odd 5000 5000 192 21 1 : tunables 120 x 8 : slabdata 9 9 0\n");
	const struct km_slabinfo_cache *few = km_slabinfo_find(&info, "few");

	ck_assert_uint_eq(km_slabinfo_hidden_count(&info, km_slabinfo_find(&info, "dentry"), 2, KM_SLAB_ERA_5_16),
			  2 * (1 + 12) * 21);
	ck_assert_uint_eq(km_slabinfo_hidden_count(&info, km_slabinfo_find(&info, "filp"), 1, KM_SLAB_ERA_5_16),
			  (1 + 7) * 16);
	ck_assert_uint_eq(km_slabinfo_hidden_count(&info, km_slabinfo_find(&info, "kmalloc-2k"), 1, KM_SLAB_ERA_5_16),
			  (1 + 3) * 16);
	ck_assert_uint_eq(km_slabinfo_hidden_count(&info, km_slabinfo_find(&info, "kmalloc-4k"), 1, KM_SLAB_ERA_5_16),
			  (1 + 2) * 8);
	ck_assert_uint_eq(km_slabinfo_hidden_count(&info, km_slabinfo_find(&info, "small"), 3, KM_SLAB_ERA_5_16),
			  3 * 2 * 512);
	ck_assert_uint_eq(km_slabinfo_hidden_count(&info, few, 4, KM_SLAB_ERA_5_16), 7);
	ck_assert_uint_eq(km_slabinfo_hidden_count(&info, few, 0, KM_SLAB_ERA_5_16), 0);
	ck_assert_uint_eq(km_slabinfo_hidden_count(&info, km_slabinfo_find(&info, "slab"), 2, KM_SLAB_ERA_5_16),
			  2 * 120 + 60 * 8);
	ck_assert_uint_eq(km_slabinfo_hidden_count(&info, km_slabinfo_find(&info, "odd"), 2, KM_SLAB_ERA_5_16),
			  2 * (1 + 12) * 21);
	ck_assert_uint_eq(km_slabinfo_hidden_count(&info, km_slabinfo_find(&info, "small"), 1, KM_SLAB_ERA_OLD), 5000);
	ck_assert_uint_eq(km_slabinfo_hidden_count(&info, km_slabinfo_find(&info, "dentry"), 2, KM_SLAB_ERA_OLD),
			  2 * (1 + 30) * 21);
	ck_assert_uint_eq(km_slabinfo_hidden_count(&info, km_slabinfo_find(&info, "kmalloc-4k"), 2, KM_SLAB_ERA_OLD),
			  2 * (1 + 2) * 8);
	ck_assert_uint_eq(km_slabinfo_hidden_count(&info, km_slabinfo_find(&info, "filp"), 2, KM_SLAB_ERA_6_18),
			  2 * (1 + 7) * 16 + (2 * 3 + 10) * 32);
	km_slabinfo_release(&info);
}
END_TEST

START_TEST(slab_debug)
{
	struct km_slabinfo info =
		load(HEADER "kmalloc-8 1 1 72 56 1" REST "kmalloc-64 1 1 192 21 1" REST "dentry 9 9 256 16 1" REST);

	ck_assert(info.is_debug);
	ck_assert_uint_eq(km_slabinfo_hidden_count(&info, km_slabinfo_find(&info, "dentry"), 2, KM_SLAB_ERA_5_16), 0);
	km_slabinfo_release(&info);
	info = load(HEADER "kmalloc-8 1 1 8 512 1" REST "kmalloc-64 1 1 192 21 1" REST);
	ck_assert(!info.is_debug);
	km_slabinfo_release(&info);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { lines, other_forms, names_twice, refused, limits, hidden, slab_debug, NULL };

	return km_test_main("slabinfo", tests, 60);
}
