/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory_limit: how much memory this process may take: the machine's, or
 * what a control group (v1 or v2, its own or any ancestor's) allows if that
 * is less. It does not know what is in use.
 */
#ifndef KM_MEMORY_LIMIT_H
#define KM_MEMORY_LIMIT_H

#include <stdint.h>

/* Bytes; UINT64_MAX if nothing could be found out. */
uint64_t km_memory_limit(void);

/*
 * The same with other places than /proc and /sys, for tests: cgroup_file is
 * /proc/self/cgroup, root is /sys/fs/cgroup, ram_bytes the machine's memory.
 */
uint64_t km_memory_limit_at(const char *cgroup_file, const char *root, uint64_t ram_bytes);

#endif
