/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * health: how far a recording can be trusted: whether it is complete, how
 * many events are known to be lost, and warnings in words, each with a code
 * of a closed list. It judges what readers, replay and aggregate counted; it
 * counts nothing itself.
 */
#ifndef KM_HEALTH_H
#define KM_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate.h"
#include "error.h"
#include "naming.h"
#include "reader.h"
#include "replay.h"
#include "slab_aliases.h"
#include "slab_check.h"

/* The first that applies is the recording's; several may. */
enum km_completeness { KM_HOLES, KM_START_LOST, KM_TAIL_LOST, KM_UNKNOWN, KM_COMPLETE, KM_COMPLETENESS_KINDS };
const char *km_completeness_name(enum km_completeness completeness); /* "holes", "start_lost", ... */

enum km_lost_is { KM_LOST_EXACT, KM_LOST_AT_LEAST, KM_LOST_UNKNOWN };
const char *km_lost_is_name(enum km_lost_is is); /* "exact", "at_least", "unknown" */

/* Closed list; km_warning_codes[] has the names and the manual explains each. */
enum km_warning_code {
	KM_WARN_CUT_SHORT,
	KM_WARN_DAMAGED,
	KM_WARN_SKIPPED_EVENTS,
	KM_WARN_LOST_EVENTS,
	KM_WARN_NO_STATISTICS,
	KM_WARN_CLOCK_BACKWARDS,
	KM_WARN_CLOCK_NOT_COHERENT,
	KM_WARN_CLOCK_NOT_NS,
	KM_WARN_EVENT_KINDS_MISSING,
	KM_WARN_OVERFLOW,
	KM_WARN_SAMPLED,
	KM_WARN_UNTRACED_FREES,
	KM_WARN_FREED_PAGES,
	KM_WARN_CACHE_NAMES_AMBIGUOUS,
	KM_WARN_CACHE_NAMES_MISSING,
	KM_WARN_SYMBOLS_MISSING,
	KM_WARN_SYMBOLS_ZEROED,
	KM_WARN_UNKNOWN_OPTIONS,
	KM_WARN_PER_TASK,
	KM_WARN_CPUS_LEFT_OUT,
	KM_WARN_CPUS_UNKNOWN,
	KM_WARN_HASHED_POINTERS,
	KM_WARN_THROTTLED,
	KM_WARN_ORDER_FORCED,
	KM_WARN_SYMBOLS_FOREIGN,
	KM_WARN_NOTHING_SELECTED,
	KM_WARN_ALIASES_UNMATCHED,
	KM_WARN_SLABINFO_SIZES,
	KM_WARNING_CODES,
};
const char *km_warning_name(enum km_warning_code code);

struct km_warning {
	enum km_warning_code code;
	char text[320];
};

/* Losses of one CPU, judged. */
struct km_cpu_health {
	const struct km_cpu_loss *loss; /* borrowed from the reader's statistics */
	uint64_t lost_count;            /* meaningless if lost_is is unknown */
	enum km_lost_is lost_is;
	bool tail_lost;
};

struct km_health {
	bool flags[KM_COMPLETENESS_KINDS]; /* which apply; COMPLETE only if no other does */
	enum km_completeness completeness;
	uint64_t lost_events_count;
	enum km_lost_is lost_is;
	struct km_cpu_health *cpus; /* owned */
	size_t cpus_count;
	struct km_warning warnings[KM_WARNING_CODES];
	size_t warnings_count;
	bool live_is_doubtful; /* events were lost at unknown times, or at the end */
};

/* The recording's own part: stats is borrowed. Returns 0 or -ENOMEM. */
int km_health_init(struct km_health *health, const struct km_trace_info *info, const struct km_buffer_info *buffer,
		   const struct km_buffer_stats *stats, struct km_error *error);
/* What came out of the replay; any may be NULL. max_memory_bytes: the table's bound, for the warning's words. */
void km_health_add_replay(struct km_health *health, const struct km_trace_info *info,
			  const struct km_buffer_stats *stats, const struct km_replay *replay,
			  const struct km_aggregate *aggregate, const struct km_caches *caches,
			  struct km_naming *naming);
/* Files of the recorded machine that seem to be another's. check, aliases NULL: not given. */
void km_health_add_slabs(struct km_health *health, const struct km_slab_check *check,
			 const struct km_slab_aliases *aliases, const struct km_aggregate *aggregate);
void km_health_release(struct km_health *health);

#endif
