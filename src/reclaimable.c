/* SPDX-License-Identifier: GPL-2.0-only */
#include "reclaimable.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

static const char *const inode_caches[] = {
	"inode_cache", "*_inode_cache", "*_inode", "*_inode_info", "*_inode_slab",
};

/*
 * Flagged too, but their inodes are in use until a socket is closed, a queue
 * or file unlinked: there is nothing to read them again from.
 */
static const char *const pinned_caches[] = {
	"sock_inode_cache", "mqueue_inode_cache", "shmem_inode_cache", "hugetlbfs_inode_cache", "pidfs_*",
};

static const char *const other_caches[] = {
	"bdev_cache",
	"bio_post_read_ctx",
	"btrfs_trans_handle",
	"buffer_head",
	"dax_cache",
	"dentry",
	"dquot",
	"erofs_pcluster-*",
	"ext4_allocation_context",
	"ext4_fc_dentry_update",
	"ext4_free_data",
	"ext4_groupinfo_*",
	"ext4_io_end",
	"ext4_prealloc_space",
	"extent_status",
	"fscrypt_inode_info",
	"jbd2_*",
	"kmalloc-rcl-*",
	"mb_cache_entry",
	"pending_reservation",
	"radix_tree_node",
	"xfs_buf",
	"xfs_ili",
};

/* fs/dcache.c, fs/buffer.c, lib/xarray.c, lib/radix-tree.c, and the alloc_inode of file systems. */
static const char *const functions[] = {
	"__d_alloc",        "alloc_buffer_head",  "xas_alloc",       "xas_nomem",         "radix_tree_node_alloc",
	"ext?_alloc_inode", "proc_alloc_inode",   "xfs_inode_alloc", "btrfs_alloc_inode", "ovl_alloc_inode",
	"nfs_alloc_inode",  "__es_insert_extent",
};

/* mm/slub.c, mm/slab_common.c, lib/stackdepot.c; kernel/trace and kernel/tracepoint.c for the recording itself. */
static const char *const internal_functions[] = {
	"alloc_slab_obj_exts",
	"memcg_alloc_slab_cgroups",
	"memcg_alloc_abort_single",
	"allocate_slab",
	"new_slab",
	"kmem_cache_open",
	"do_kmem_cache_create",
	"__kmem_cache_create*",
	"create_cache",
	"kmem_cache_create*",
	"init_kmem_cache_nodes",
	"__alloc_empty_sheaf",
	"alloc_empty_sheaf",
	"alloc_full_sheaf",
	"kmem_cache_prefill_sheaf",
	"init_percpu_sheaves",
	"stack_depot_*",
	"depot_init_pool",
	"tracepoint_add_func",
	"func_add",
	"trace_*_get_init",
	"trace_parser_get_init",
	"ring_buffer_*",
	"__ring_buffer_alloc",
	"rb_allocate_*",
	"__rb_allocate_pages",
};

static bool matches(const char *name, const char *const *patterns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!fnmatch(patterns[i], name, 0))
			return true;
	}
	return false;
}

#define MATCHES(name, list) matches(name, list, sizeof(list) / sizeof((list)[0]))

bool km_reclaimable_is_inode_cache(const char *name)
{
	/* Security modules' blobs of inodes: not flagged, and no inodes. */
	return strcmp(name, "lsm_inode_cache") != 0 && MATCHES(name, inode_caches);
}

bool km_reclaimable_cache(const char *name, const struct km_slab_aliases *listing)
{
	return !MATCHES(name, pinned_caches) && (km_reclaimable_is_inode_cache(name) || MATCHES(name, other_caches) ||
						 km_slab_aliases_is_reclaimable(listing, name));
}

bool km_reclaimable_function(const char *function)
{
	return MATCHES(function, functions);
}

bool km_allocator_internal_function(const char *function)
{
	return MATCHES(function, internal_functions);
}
