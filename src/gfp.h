/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gfp: the names of a recording's gfp flags, from the print fmt of one of
 * its own event formats: bit values change between kernels, so there is no
 * built-in table.
 *
 * A bounded scanner of ours reads the __print_flags() table, evaluating
 * constant C expressions of numbers, casts, | & ~ << and parentheses
 * (include/trace/events/mmflags.h shows what such a table is made from). It
 * parses nothing else of the print fmt.
 */
#ifndef KM_GFP_H
#define KM_GFP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KM_GFP_FLAGS_LIMIT 96
#define KM_GFP_NAME_BYTES  32

struct km_gfp {
	size_t count;
	struct {
		uint32_t mask;
		char name[KM_GFP_NAME_BYTES];
	} flags[KM_GFP_FLAGS_LIMIT]; /* in the order of the format, as __print_flags() tries them */
	/* Single flags that name a slab cache's kind; 0 where the kernel has none. */
	uint32_t account;     /* __GFP_ACCOUNT */
	uint32_t reclaimable; /* __GFP_RECLAIMABLE */
	uint32_t dma;         /* __GFP_DMA (shown as GFP_DMA) */
	uint32_t zero;        /* __GFP_ZERO */
};

/*
 * Fill *ret_gfp from a format's text (all of it, or only the print fmt
 * line). Returns the number of flags, 0 if there is no table that can be
 * read; entries that can not be evaluated are left out.
 */
size_t km_gfp_parse(const char *format, size_t bytes, struct km_gfp *ret_gfp);

/*
 * As the kernel prints it: names joined by '|', a remainder in hex, "none"
 * for 0. Returns the length that was needed without the NUL, as snprintf().
 */
size_t km_gfp_print(const struct km_gfp *gfp, uint32_t value, char *buffer, size_t bytes);

/* 1: *ret_mask is the mask of a flag's name ("GFP_KERNEL", "__GFP_ZERO"). 0: no such flag here. */
int km_gfp_find(const struct km_gfp *gfp, const char *name, uint32_t *ret_mask);

#endif
