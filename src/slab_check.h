/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slab_check: what a trace says of its slab caches beside what copies of
 * /proc/slabinfo from the begin and the end of it say, and why the two
 * differ where they do. It puts numbers side by side; it reads no file and
 * does not change what the trace's own report says.
 *
 * Both sides are changes, in objects:
 *
 *   slabinfo's change = active_objs after - active_objs before
 *   trace's change    = allocations - frees of any kind (balance.h)
 *   difference        = slabinfo's change - trace's change
 *
 * A difference is within the tolerance if free objects on CPUs explain it
 * (km_slabinfo_hidden_count()): of the copy before when it is negative, of
 * the one after when it is positive. Without slab_debug slabinfo knows no
 * better. A cache that only one of the copies has was made or destroyed
 * between them, and had 0 objects in the other.
 *
 * kmalloc events name no cache. kmalloc-N is compared with the sum of what
 * serves the same flags: kmalloc-N, kmalloc-rnd-M-N (6.6 on), memdup_user-N
 * and msg_msg-N (6.11 on).
 */
#ifndef KM_SLAB_CHECK_H
#define KM_SLAB_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "balance.h"
#include "error.h"
#include "slab_aliases.h"
#include "slabinfo.h"

#define KM_SLAB_REASON_BYTES 224

/* Closed list; the manual explains each. */
enum km_slab_cause {
	KM_SLAB_EQUAL,
	KM_SLAB_PER_CPU_SLABS, /* within the tolerance */
	/* The sides differ: the first that applies. */
	KM_SLAB_EVENTS_LOST,
	KM_SLAB_OVERFLOW,
	KM_SLAB_KMALLOC_CLASS,
	KM_SLAB_UNTRACED_FREES,
	KM_SLAB_UNKNOWN_FREES,
	KM_SLAB_OTHER_TIME, /* more was freed than there can have been */
	KM_SLAB_UNNAMED_ALLOCS,
	KM_SLAB_UNTRACED_ALLOCS,
	KM_SLAB_UNEXPLAINED,
	/* They can not be compared. */
	KM_SLAB_NO_AFTER,
	KM_SLAB_NOT_LISTED,
	KM_SLAB_UNNAMED,
	KM_SLAB_PAGES,
	KM_SLAB_CAUSES,
};
const char *km_slab_cause_name(enum km_slab_cause cause); /* "equal", "per_cpu_slabs", ... */

struct km_slab_check_row {
	char *name;              /* in the trace, or in slabinfo if it is not there */
	const char *listed_name; /* of slabinfo, if that is another name of the cache (--slab-aliases); else NULL */
	struct km_balance_row trace;
	bool has_before, has_after; /* listed there */
	uint64_t before_count, after_count;
	uint64_t before_hidden_count, after_hidden_count;
	uint64_t listed_object_bytes; /* 0: not known */
	bool is_compared;
	/* If it is compared. */
	int64_t slabinfo_change_count, difference_count;
	uint64_t tolerance_count;
	bool agrees;
	enum km_slab_cause cause;
	char reason[KM_SLAB_REASON_BYTES];
};

struct km_slab_check {
	/* With any event or change. Those that differ most first, then those that can not be compared, then by name. */
	struct km_slab_check_row *rows;
	size_t rows_count;
	size_t agree_count, differ_count, not_compared_count;
	size_t quiet_count; /* without event and change: no rows */
	size_t wrong_size_count;
	size_t wrong_size_row; /* the first of them; only if there is one */
	uint64_t unknown_frees_count;
	unsigned cpus_count;
	bool has_after, is_debug;
};

struct km_slab_check_input {
	const struct km_slabinfo *before, *after; /* after NULL: not given */
	const struct km_balance *balance;
	const struct km_slab_aliases *aliases; /* NULL: not given */
	unsigned cpus_count;
	enum km_slab_era era;
	const char
		*doubt; /* why events of the window are not in the trace, as a reason; borrowed; NULL: they all are */
};

/* The input must outlive it. 0 or -ENOMEM. */
int km_slab_check_make(const struct km_slab_check_input *input, struct km_slab_check *ret_check,
		       struct km_error *error);
void km_slab_check_release(struct km_slab_check *check);

#endif
