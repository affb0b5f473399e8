/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * running_kernel: whether a recording is of the kernel that runs here, in
 * this boot, so that /proc/kallsyms has the names of its addresses. It
 * compares what the recording tells with what /proc and /sys tell; where
 * anything is missing that would prove it, the answer is no.
 *
 * Proof is: the same host and release (uname(2)); _text, the start of the
 * kernel, at the same address, which differs between boots under KASLR; every
 * module of the recording at the address where it is loaded now; and the
 * same build id, where the recording has the kernel's.
 */
#ifndef KM_RUNNING_KERNEL_H
#define KM_RUNNING_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KM_BUILD_ID_BYTES 20

struct km_module_map {
	char name[64]; /* as /proc/modules has it */
	uint64_t address;
};

/* What a recording tells of its kernel. Texts are borrowed, NULL where it does not tell. */
struct km_kernel_identity {
	const char *hostname, *release;
	bool has_text;
	uint64_t text_address; /* of _text */
	size_t build_id_bytes; /* 0: not told */
	uint8_t build_id[KM_BUILD_ID_BYTES];
	const struct km_module_map *modules;
	size_t modules_count;
};

/* Where to look; for tests. */
struct km_running_kernel {
	const char *hostname, *release;
	const char *kallsyms, *modules, *notes; /* paths */
};

/*
 * 1: it is, and *ret_text is the running kernel's kallsyms, malloc'd. 0: it
 * is not, or that can not be proven. -ENOMEM. running NULL: this machine's.
 */
int km_running_kernel_kallsyms(const struct km_kernel_identity *recorded, const struct km_running_kernel *running,
			       char **ret_text, size_t *ret_bytes);

#endif
