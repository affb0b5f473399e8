/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mend: pairs of events that a clock or a late tracepoint put the wrong way
 * round. Clocks of two CPUs may disagree (`local`), and before 5.16
 * kmem_cache_free is traced after the free (9a543f007b70): an allocation may
 * then stand before the free that made room for it, or a free before its
 * allocation.
 *
 * Such a pair, on two CPUs and within a window of time, is mended only if
 * the next event of its address confirms it:
 *
 *   allocation at a live address, then its free; next a free
 *                          the first free was the old object's
 *   unknown free, then an allocation; next an allocation
 *                          the free was that allocation's
 *
 * Without such a next event the replay's rules stand as they are. It looks
 * at outcomes in the order of the replay and corrects them in place; it does
 * not reorder events, so a peak in between keeps what it was.
 */
#ifndef KM_MEND_H
#define KM_MEND_H

#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "replay.h"

struct km_mend_options {
	uint64_t window;            /* in the clock's unit, for any pair; 0: none */
	uint64_t cache_free_window; /* for pairs whose free is a kmem_cache_free */
};

/* km_outcome.mend */
enum km_mend_kind {
	KM_MEND_NONE,
	KM_MEND_LATE_FREE,  /* `object` was freed by an earlier event, not without one; the event's own object lived on
			     */
	KM_MEND_LATE_ALLOC, /* `object` was freed by an earlier event that had matched nothing */
};

struct km_mend_note {
	struct km_object object;
	uint64_t free_time; /* of the earlier free */
	uint64_t free_call_site;
	uint32_t free_cache;
	uint16_t free_cpu;
};

struct km_mend;

struct km_mend *km_mend_new(const struct km_mend_options *options); /* NULL when out of memory */
void km_mend_free(struct km_mend *mend);

/*
 * Look at the outcomes of events[0..count) (count at most 65,535) and set
 * what they correct: outcome->mend, and a note for it.
 * Returns 0 or -ENOMEM.
 */
int km_mend_run(struct km_mend *mend, const struct km_event *events, struct km_outcome *outcomes, size_t count);
/* The note of an outcome of the last run. */
const struct km_mend_note *km_mend_note(const struct km_mend *mend, const struct km_outcome *outcome);
/* Confirmed mends. */
uint64_t km_mend_count(const struct km_mend *mend);

#endif
