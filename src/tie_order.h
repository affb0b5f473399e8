/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tie_order: puts events of equal time on several CPUs into an order that
 * can have happened. Each CPU's own order is kept. Among the heads of the
 * CPUs, the lowest CPU first, an event is taken that is legal now (a free of
 * a live address, an allocation at an absent one) or whose address no other
 * CPU has in this tie; if there is none, the lowest CPU's. Where an address
 * that was never met before has both an allocation and a free here, it was
 * allocated before the trace: its free goes first.
 *
 * It looks at the table but does not change it: what an event does to the
 * table is simulated.
 */
#ifndef KM_TIE_ORDER_H
#define KM_TIE_ORDER_H

#include <stddef.h>

#include "error.h"
#include "event.h"
#include "replay.h"

struct km_tie_order;

struct km_tie_order *km_tie_order_new(void); /* NULL when out of memory */
void km_tie_order_free(struct km_tie_order *order);

/*
 * Reorder events[0..count), all of one time, sorted by CPU with each CPU's
 * own order, as they are to be played next. -ENOMEM leaves them as they are.
 */
int km_tie_order_resolve(struct km_tie_order *order, const struct km_replay *replay, struct km_event *events,
			 size_t count, struct km_error *error);

#endif
