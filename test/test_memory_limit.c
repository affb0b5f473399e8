/* SPDX-License-Identifier: GPL-2.0-only */
/* On trees of control groups in a directory of the test's own; cgroups(7) has their shape. */
#include "memory_limit.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "testing.h"

#define RAM        (UINT64_C(64) << 30)
#define PATH_BYTES 4096

static char directory[PATH_BYTES / 4]; /* of the test; Check runs each in a process of its own */

static void set_up(void)
{
	const char *temporary = getenv("TMPDIR");

	snprintf(directory, sizeof(directory), "%s/kmstat-test-XXXXXX", temporary && *temporary ? temporary : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void tear_down(void)
{
	ck_assert_int_eq(nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* A file below the directory, with the directories above it. */
static void put(const char *name, const char *text)
{
	char path[PATH_BYTES];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	for (char *at = path + strlen(directory) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(path, 0755);
		*at = '/';
	}
	file = fopen(path, "we");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

static uint64_t limit(void)
{
	char cgroup_file[PATH_BYTES], root[PATH_BYTES];

	snprintf(cgroup_file, sizeof(cgroup_file), "%s/cgroup", directory);
	snprintf(root, sizeof(root), "%s/fs", directory);
	return km_memory_limit_at(cgroup_file, root, RAM);
}

START_TEST(without_groups_it_is_the_machines)
{
	set_up();
	ck_assert_uint_eq(limit(), RAM); /* no file at all */
	put("cgroup", "");
	ck_assert_uint_eq(limit(), RAM);
	put("cgroup", "0::/\n");
	ck_assert_uint_eq(limit(), RAM); /* the root has no memory.max */
	put("cgroup", "0::/gone\n");
	ck_assert_uint_eq(limit(), RAM);
	tear_down();
}
END_TEST

START_TEST(v2_takes_its_own_limit)
{
	set_up();
	put("cgroup", "0::/user.slice/a.scope\n");
	put("fs/user.slice/a.scope/memory.max", "1073741824\n");
	ck_assert_uint_eq(limit(), 1 << 30);
	tear_down();
}
END_TEST

START_TEST(v2_takes_the_least_of_all_above)
{
	set_up();
	put("cgroup", "0::/a/b/c\n");
	put("fs/a/memory.max", "3000000\n");
	put("fs/a/b/memory.max", "2000000\n");
	put("fs/a/b/c/memory.max", "4000000\n");
	ck_assert_uint_eq(limit(), 2000000);
	put("fs/a/memory.max", "1000000\n");
	ck_assert_uint_eq(limit(), 1000000);
	put("fs/a/b/c/memory.max", "500000\n");
	ck_assert_uint_eq(limit(), 500000);
	tear_down();
}
END_TEST

START_TEST(max_is_no_limit)
{
	set_up();
	put("cgroup", "0::/a/b\n");
	put("fs/a/b/memory.max", "max\n");
	ck_assert_uint_eq(limit(), RAM);
	put("fs/a/memory.max", "12345678\n");
	ck_assert_uint_eq(limit(), 12345678);
	tear_down();
}
END_TEST

/* In a container the mounted root is the container's own group. */
START_TEST(the_root_counts_too)
{
	set_up();
	put("fs/memory.max", "7000000\n");
	put("cgroup", "0::/\n");
	ck_assert_uint_eq(limit(), 7000000);
	put("cgroup", "0::/not/mounted/here\n");
	ck_assert_uint_eq(limit(), 7000000);
	tear_down();
}
END_TEST

START_TEST(siblings_and_children_do_not_count)
{
	set_up();
	put("cgroup", "0::/a/b\n");
	put("fs/a/x/memory.max", "1000\n");
	put("fs/a/b/c/memory.max", "1000\n");
	put("fs/ab/memory.max", "1000\n");
	put("fs/a/b/memory.max", "9000000\n");
	ck_assert_uint_eq(limit(), 9000000);
	tear_down();
}
END_TEST

START_TEST(a_limit_above_the_machines_is_none)
{
	set_up();
	put("cgroup", "0::/a\n");
	put("fs/a/memory.max", "999999999999999\n");
	ck_assert_uint_eq(limit(), RAM);
	put("fs/a/memory.max", "99999999999999999999999999\n"); /* beyond 64 bits */
	ck_assert_uint_eq(limit(), RAM);
	tear_down();
}
END_TEST

START_TEST(what_is_no_number_is_no_limit)
{
	static const char *const junk[] = { "", "\n", "none\n", "-1\n", " 1000\n" };

	set_up();
	put("cgroup", "0::/a\n");
	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++) {
		put("fs/a/memory.max", junk[i]);
		ck_assert_uint_eq(limit(), RAM);
	}
	tear_down();
}
END_TEST

#define V1_GROUPS               \
	"12:cpu,cpuacct:/x\n"   \
	"9:memory:/docker/me\n" \
	"5:cpuset:/y\n"         \
	"1:name=systemd:/z\n"

START_TEST(v1_takes_the_least_of_its_own_hierarchy)
{
	set_up();
	put("cgroup", V1_GROUPS);
	ck_assert_uint_eq(limit(), RAM);
	put("fs/memory/memory.limit_in_bytes", "9223372036854771712\n"); /* v1's "none" */
	ck_assert_uint_eq(limit(), RAM);
	put("fs/memory/docker/me/memory.limit_in_bytes", "4000000\n");
	ck_assert_uint_eq(limit(), 4000000);
	put("fs/memory/docker/memory.limit_in_bytes", "3000000\n");
	ck_assert_uint_eq(limit(), 3000000);
	put("fs/memory/memory.limit_in_bytes", "2000000\n");
	ck_assert_uint_eq(limit(), 2000000);
	/* Those of other controllers' groups, and of v2's files, are not looked at. */
	put("fs/memory/x/memory.limit_in_bytes", "1000\n");
	put("fs/x/memory.max", "1000\n");
	put("fs/docker/me/memory.max", "1000\n");
	ck_assert_uint_eq(limit(), 2000000);
	tear_down();
}
END_TEST

START_TEST(v1_finds_its_controller_among_others)
{
	set_up();
	put("cgroup", "3:cpu,memory,pids:/a\n");
	put("fs/memory/a/memory.limit_in_bytes", "4000000\n");
	ck_assert_uint_eq(limit(), 4000000);
	tear_down();
}
END_TEST

START_TEST(of_both_versions_the_less_counts)
{
	set_up();
	put("cgroup", "9:memory:/a\n0::/b\n");
	put("fs/memory/a/memory.limit_in_bytes", "4000000\n");
	put("fs/b/memory.max", "5000000\n");
	ck_assert_uint_eq(limit(), 4000000);
	put("fs/b/memory.max", "3000000\n");
	ck_assert_uint_eq(limit(), 3000000);
	tear_down();
}
END_TEST

START_TEST(a_path_may_hold_colons_and_blanks)
{
	set_up();
	put("cgroup", "nonsense\nhalf:one\n0::/a:b c/d\n");
	put("fs/a:b c/d/memory.max", "4000000\n");
	ck_assert_uint_eq(limit(), 4000000);
	tear_down();
}
END_TEST

START_TEST(the_last_line_may_lack_its_end)
{
	set_up();
	put("cgroup", "0::/a");
	put("fs/a/memory.max", "4000000");
	ck_assert_uint_eq(limit(), 4000000);
	tear_down();
}
END_TEST

START_TEST(this_process_may_take_something)
{
	ck_assert_uint_gt(km_memory_limit(), 1 << 20);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { without_groups_it_is_the_machines,
				 v2_takes_its_own_limit,
				 v2_takes_the_least_of_all_above,
				 max_is_no_limit,
				 the_root_counts_too,
				 siblings_and_children_do_not_count,
				 a_limit_above_the_machines_is_none,
				 what_is_no_number_is_no_limit,
				 v1_takes_the_least_of_its_own_hierarchy,
				 v1_finds_its_controller_among_others,
				 of_both_versions_the_less_counts,
				 a_path_may_hold_colons_and_blanks,
				 the_last_line_may_lack_its_end,
				 this_process_may_take_something,
				 NULL };

	return km_test_main("memory_limit", tests, 10);
}
