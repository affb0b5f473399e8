/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * text_gfp: gfp flags that are only names. Each name gets a bit of a table
 * of its own, so that km_gfp prints them as they were written; the bits say
 * nothing of the kernel's.
 */
#ifndef KM_TEXT_GFP_H
#define KM_TEXT_GFP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gfp.h"
#include "intern.h"

#define KM_TEXT_GFP_BITS 32

struct km_text_gfp {
	struct km_gfp *table;    /* borrowed: filled as names are met */
	struct km_intern *texts; /* owned: what was met, whole */
	uint32_t *values;        /* owned: of texts, from 1 */
	uint32_t values_room;
	uint32_t before[KM_TEXT_GFP_BITS]; /* of a bit: those that were met before it in a text */
	bool is_raw; /* the first was a number: numbers are the kernel's bits, and names are not known */
};

/* 0 or -ENOMEM. table must be empty. */
int km_text_gfp_init(struct km_text_gfp *gfp, struct km_gfp *table);
void km_text_gfp_release(struct km_text_gfp *gfp);
/* The bits of "GFP_KERNEL|__GFP_ZERO|0x1000000", of "0xcc0"; 0 for "" and "none". */
uint32_t km_text_gfp_value(struct km_text_gfp *gfp, const char *text, size_t bytes);

#endif
