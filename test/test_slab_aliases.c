/* SPDX-License-Identifier: GPL-2.0-only */
#include "slab_aliases.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "testing.h"

static int load_bytes(const void *text, size_t bytes, struct km_slab_aliases **ret_aliases, struct km_error *error)
{
	char *path = km_fixture_write_temporary(text, bytes);
	int r = km_slab_aliases_load(path, ret_aliases, error);

	unlink(path);
	free(path);
	return r;
}

static struct km_slab_aliases *load(const char *text)
{
	struct km_slab_aliases *aliases = NULL;
	struct km_error error = { 0 };

	ck_assert_msg(!load_bytes(text, strlen(text), &aliases, &error), "%s", error.text);
	return aliases;
}

static void refuse_bytes(const void *text, size_t bytes, int code, const char *words)
{
	struct km_slab_aliases *aliases;
	struct km_error error = { 0 };
	int r = load_bytes(text, bytes, &aliases, &error);

	ck_assert_msg(r == code, "%d: %s", r, error.text);
	ck_assert_msg(strstr(error.text, words), "%s", error.text);
}

static void refuse(const char *text, const char *words)
{
	refuse_bytes(text, strlen(text), -EINVAL, words);
}

/* "b,c" of a */
static void expect(const struct km_slab_aliases *aliases, const char *name, const char *others)
{
	const char *names[8];
	size_t count = km_slab_aliases_of(aliases, name, names, 8);
	char text[256] = "";

	for (size_t i = 0; i < count; i++) {
		strcat(text, i ? "," : "");
		strcat(text, names[i]);
	}
	ck_assert_str_eq(text, others);
}

START_TEST(ls_of_the_directory)
{
	struct km_slab_aliases *aliases =
		load("total 0\n"
		     "lrwxrwxrwx 1 root root 0 Dec  1 12:33 pid -> :A-0000192\n"
		     "drwxr-xr-x 2 root root 0 Dec  1 12:33 :A-0000192\n"
		     "drwxr-xr-x 2 root root 0 Dec  1 12:33 dentry\n"
		     "drwxr-xr-x. 2 root root 0 2026-12-01 12:33 :aA-0000104\n"
		     "lrwxrwxrwx. 1 root root 0 2026-12-01 12:33 ext4_inode -> ../slab/:aA-0000104\n"
		     "lrwxrwxrwx 1 root root 0 Dec  1 12:33 cred_jar -> :A-0000192\n"
		     "lrwxrwxrwx 1 root root 0 Dec  1 12:33 Acpi-State -> :A-0000192\n");

	ck_assert_uint_eq(km_slab_aliases_count(aliases), 5);
	expect(aliases, "pid", "Acpi-State,cred_jar");
	expect(aliases, "Acpi-State", "cred_jar,pid");
	expect(aliases, "dentry", "");
	expect(aliases, "ext4_inode", "");
	expect(aliases, "nothing", "");
	expect(NULL, "pid", "");
	ck_assert_str_eq(km_slab_aliases_shown(aliases, "pid"), "pid(+2)");
	ck_assert_str_eq(km_slab_aliases_shown(aliases, "dentry"), "dentry");
	ck_assert_str_eq(km_slab_aliases_shown(aliases, "nothing"), "nothing");
	ck_assert_str_eq(km_slab_aliases_shown(NULL, "pid"), "pid");
	ck_assert(km_slab_aliases_has(aliases, "dentry"));
	ck_assert(!km_slab_aliases_has(aliases, ":A-0000192"));
	ck_assert(!km_slab_aliases_is_reclaimable(aliases, "pid"));
	ck_assert(!km_slab_aliases_is_reclaimable(aliases, "dentry"));
	ck_assert(km_slab_aliases_is_reclaimable(aliases, "ext4_inode"));
	ck_assert(!km_slab_aliases_is_reclaimable(NULL, "ext4_inode"));
	km_slab_aliases_free(aliases);
}
END_TEST

/* find -printf '%f -> %l\n', '%f %l\n', '%p -> %l\n'; a directory has an empty %l. */
START_TEST(find_and_others)
{
	static const char *const forms[] = {
		"slab -> \nb -> :a-0000064\n:a-0000064 -> \nkmalloc-8 -> \na -> :a-0000064\n",
		"slab \nb :a-0000064\n:a-0000064 \nkmalloc-8 \na :a-0000064\n",
		"/sys/kernel/slab -> \n/sys/kernel/slab/b -> :a-0000064\n/sys/kernel/slab/:a-0000064 -> \n"
		"/sys/kernel/slab/kmalloc-8 -> \n/sys/kernel/slab/a -> :a-0000064\n",
		"/sys/kernel/slab:\r\ntotal 0\r\nb -> :a-0000064\r\n\r\n# by "
		"hand\r\na -> \t:a-0000064\r\nkmalloc-8\r\n",
		"b -> :a-0000064\na -> :a-0000064\nkmalloc-8\nb -> :a-0000064",
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct km_slab_aliases *aliases = load(forms[i]);

		ck_assert_uint_eq(km_slab_aliases_count(aliases), 3);
		expect(aliases, "a", "b");
		expect(aliases, "b", "a");
		expect(aliases, "kmalloc-8", "");
		ck_assert(km_slab_aliases_is_reclaimable(aliases, "b"));
		km_slab_aliases_free(aliases);
	}
}
END_TEST

/* The letters of kernels since 2.6.22, and what a control group adds. */
START_TEST(letters)
{
	static const struct {
		const char *id;
		bool is_reclaimable;
	} ids[] = {
		{ ":0000192", false },   { ":t-0000192", false },   { ":at-0000192", true },
		{ ":A-0000192", false }, { ":aA-0000192", true },   { ":dF-0000192", false },
		{ ":D-0000192", false }, { ":adD-12345678", true }, { ":a-0000192-00000007", true },
	};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		char text[64];
		struct km_slab_aliases *aliases;

		snprintf(text, sizeof(text), "banana -> %s\n", ids[i].id);
		aliases = load(text);
		ck_assert_msg(km_slab_aliases_is_reclaimable(aliases, "banana") == ids[i].is_reclaimable, "%s",
			      ids[i].id);
		km_slab_aliases_free(aliases);
	}
}
END_TEST

START_TEST(refused)
{
	refuse("", "no slab cache is listed");
	refuse("total 0\n:0000192\n", "ls -l /sys/kernel/slab");
	refuse("a -> :0000192\nthis is no listing\n", ":2: ");
	refuse("a -> b\n", ":1: ");
	refuse("a -> :a0000192\n", "\":a0000192\"");
	refuse("a -> :a-\n", ":1: ");
	refuse("a -> :a-192-\n", ":1: ");
	refuse("a -> :a-192x\n", ":1: ");
	refuse(":0000192 -> :0000192\n", ":1: ");
	refuse(" -> :0000192\n", ":1: ");
	refuse("->\n", ":1: ");
	refuse("-rw-r--r-- 1 root root 0 Dec  1 12:33 slabinfo\n", ":1: ");
	refuse("\033[01;36mpid\033[0m\n", ":1: ");
	refuse("a -> :0000192\na -> :0000064\n", "a is listed twice, in :0000064 and in :0000192");
	refuse_bytes("a -> :0000192\nb\0c -> :0000192\n", 31, -EINVAL, ":2: ");
}
END_TEST

START_TEST(limits)
{
	size_t line = sizeof("n1234567\n") - 1, bytes = (KM_SLAB_ALIASES_LIMIT + 1) * line;
	char *text = malloc(bytes + 1), *name = malloc(200001);

	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_nonnull(name);
	for (size_t i = 0; i <= KM_SLAB_ALIASES_LIMIT; i++)
		snprintf(text + i * line, line + 1, "n%07zu\n", i);
	refuse_bytes(text, bytes, -ENOSPC, ":65537: more than 65536 lines");
	text[bytes - line] = '\0';
	km_slab_aliases_free(load(text));
	memset(name, 'n', 200000);
	name[200000] = '\0';
	refuse_bytes(name, 200000, -EINVAL, ":1: ");
	refuse_bytes(name, 256, -ENOSPC, ":1: a name of over 255 bytes");
	name[255] = '\0';
	km_slab_aliases_free(load(name));
	free(text);
	free(name);
}
END_TEST

START_TEST(missing_file)
{
	struct km_slab_aliases *aliases;
	struct km_error error = { 0 };

	ck_assert_int_eq(km_slab_aliases_load("/nonexistent/listing", &aliases, &error), -ENOENT);
	ck_assert_ptr_nonnull(strstr(error.text, "/nonexistent/listing"));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		ls_of_the_directory, find_and_others, letters, refused, limits, missing_file, NULL
	};

	return km_test_main("slab_aliases", tests, 60);
}
