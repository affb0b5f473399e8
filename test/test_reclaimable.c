/* SPDX-License-Identifier: GPL-2.0-only */
#include "reclaimable.h"

#include "testing.h"

START_TEST(caches_are_known_by_name)
{
	static const char *const yes[] = { "dentry",      "inode_cache",     "ext4_inode_cache", "xfs_inode",
					   "buffer_head", "radix_tree_node", "kmalloc-rcl-256",  "jbd2_journal_head" };
	static const char *const no[] = { "filp", "kmalloc-256",  "kmalloc-cg-64", "task_struct", "dentry2",
					  "",     "xinode_cachex" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		ck_assert_msg(km_reclaimable_cache(yes[i], NULL), "%s", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		ck_assert_msg(!km_reclaimable_cache(no[i], NULL), "%s", no[i]);
}
END_TEST

/* Flagged by the kernel, but in use until somebody closes or unlinks. */
START_TEST(pinned_inodes_are_inodes_but_not_reclaimable)
{
	ck_assert(km_reclaimable_is_inode_cache("sock_inode_cache"));
	ck_assert(!km_reclaimable_cache("sock_inode_cache", NULL));
	ck_assert(km_reclaimable_is_inode_cache("shmem_inode_cache"));
	ck_assert(!km_reclaimable_cache("shmem_inode_cache", NULL));
	ck_assert(!km_reclaimable_is_inode_cache("dentry"));
}
END_TEST

/* Blobs of security modules: only their numbers tell what they belong to. */
START_TEST(blobs_of_inodes_are_no_inodes)
{
	ck_assert(!km_reclaimable_is_inode_cache("lsm_inode_cache"));
	ck_assert(!km_reclaimable_cache("lsm_inode_cache", NULL));
}
END_TEST

START_TEST(functions_are_known_by_name)
{
	ck_assert(km_reclaimable_function("xas_alloc"));
	ck_assert(km_reclaimable_function("ext4_alloc_inode"));
	ck_assert(!km_reclaimable_function("sock_alloc_inode"));
	ck_assert(!km_reclaimable_function("shmem_alloc_inode"));
	ck_assert(!km_reclaimable_function("kstrdup"));
	ck_assert(km_allocator_internal_function("alloc_slab_obj_exts"));
	ck_assert(km_allocator_internal_function("tracepoint_add_func"));
	ck_assert(!km_allocator_internal_function("alloc_empty_file"));
}
END_TEST

int main(void)
{
	const TTest *tests[] = { caches_are_known_by_name, pinned_inodes_are_inodes_but_not_reclaimable,
				 blobs_of_inodes_are_no_inodes, functions_are_known_by_name, NULL };

	return km_test_main("reclaimable", tests, 10);
}
