/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * detail: tallies for a closer look at one selection: which sizes were asked
 * for, by which tasks, and from where the objects were freed. It counts
 * events of the selection; it does not select.
 */
#ifndef KM_DETAIL_H
#define KM_DETAIL_H

#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "naming.h"
#include "reader.h"
#include "replay.h"

struct km_tally {
	uint64_t value; /* bytes asked; the pointer of an interned comm; a call site */
	uint64_t count, bytes;
};

enum km_detail_kind { KM_DETAIL_SIZES, KM_DETAIL_COMMS, KM_DETAIL_FREERS, KM_DETAIL_KINDS };

struct km_detail;

struct km_detail *km_detail_new(struct km_reader *reader, struct km_naming *naming); /* NULL when out of memory */
void km_detail_free(struct km_detail *detail);
/* key: of a selected allocation, else 0. Returns 0 or -ENOMEM. */
int km_detail_account(struct km_detail *detail, const struct km_event *event, uint32_t key,
		      const struct km_outcome *outcome);
/* From now on a matched free counts so many times (a replay that samples). */
void km_detail_set_weight(struct km_detail *detail, uint64_t weight);
/* Sorted, most first. Borrowed. */
const struct km_tally *km_detail_tallies(struct km_detail *detail, enum km_detail_kind kind, size_t *ret_count);

#endif
