/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * page_frees: whether the page of an object went back to the page allocator
 * since the object was allocated. The slab allocator gives a page back when
 * none of its objects is allocated any more (mm/slub.c: free_slab() and
 * discard_slab(); free_large_kmalloc()), so such an object was freed, if
 * without an event. It takes page events, and allocations for the way from
 * an address to a page; it knows no call sites and gives no verdicts.
 *
 * Addresses and pages. Slab objects are in the kernel's linear map:
 * address = base + (page frame number << page shift). Neither is recorded,
 * and base is random, but allocations tell: one for which pages had to be
 * found is the CPU's next event behind their mm_page_alloc. Its address,
 * rounded down to the block, less the block's own gives the base, or nothing
 * of meaning if it was a coincidence. A base is a multiple of 512 MiB at
 * least (x86-64: PUD_SIZE, arch/x86/mm/kaslr.c; arm64: ARM64_MEMSTART_ALIGN;
 * s390: 0; 32 bits: PAGE_OFFSET, less the start of RAM), which a coincidence
 * is once in 2^17. A base that KM_PAGE_FREES_VOTES different pages name, and
 * no other as many as a quarter of that, is taken; else nothing is claimed.
 *
 * Frees are kept in a table of fixed size. Where it has to, a new one takes
 * the place of an older one: what is not found says nothing.
 */
#ifndef KM_PAGE_FREES_H
#define KM_PAGE_FREES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

#define KM_PAGE_FREES_VOTES 4

struct km_page_frees;

/*
 * cpu_limit: above the highest CPU. window: how far clocks of two CPUs may
 * be apart, in the clock's unit. NULL when out of memory.
 */
struct km_page_frees *km_page_frees_new(unsigned cpu_limit, uint64_t window);
void km_page_frees_free(struct km_page_frees *frees);

/* Events of any kind in the order of time. */
void km_page_frees_account(struct km_page_frees *frees, const struct km_event *events, size_t count);

/* Whether addresses can be told, and how: may be asked at any time. The results may be NULL. */
bool km_page_frees_base(const struct km_page_frees *frees, uint64_t *ret_base, unsigned *ret_page_shift);
/* Whether the page of an object was freed after `time`, when it was allocated. False where that is not known. */
bool km_page_frees_since(const struct km_page_frees *frees, uint64_t ptr, uint64_t time);

#endif
