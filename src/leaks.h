/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * leaks: which call sites look as if they lost what they allocated, and on
 * what evidence: it gathers when objects of a site were born and how much of
 * them lived, looks at what survived, and gives each site a verdict with its
 * reason. It does not replay and does not write.
 *
 * A trace shows no references, so nothing here proves a leak. What it can
 * show is that a site's objects do not go the way its other objects went.
 * The factors, per site (times in the clock's unit, ns for most):
 *
 *   n, f, r, s    tracked allocations, traced frees, implied frees, survivors
 *   lifetime_p99  of the f objects whose free was traced, to the upper edge
 *                 of its bin (histogram.h: at most 25 % too high)
 *   old           survivors of age > max(4 x p99, 1 % of the trace), born
 *                 behind the last loss of events
 *   freed_old     objects that were that old when they were freed, with an
 *                 event or without: where there are many, old is not odd
 *   traced_share  f / (f + r): how many of the deaths that are known had an
 *                 event. Untraced frees (kfree_rcu, bulk) leave objects that
 *                 look alive until their address is used again.
 *   cache_traced_share  the same of all selected objects of its cache: what
 *                 a site that freed nothing is judged by
 *   chances       selected allocations from the same cache behind the birth
 *                 of the mean survivor: how often its address could have
 *                 been handed out again had it been freed
 *   spread        of the old ones over the site's own births. The site's
 *                 life, first to last birth, is cut into 16 to 32 buckets of
 *                 equal time; H = -sum p log p, p the share of the old in a
 *                 bucket; spread = H / log(min(old, buckets with births)).
 *                 A leak ~ 1; what was set up once, or is only not freed
 *                 yet, sits at one end: ~ 0. (Live generations: the idea of
 *                 GenCount and Plumbr.)
 *   early, late   share of survivors among births of the site's first and
 *                 last half: a leak loses as many of the old as of the new,
 *                 while what is freed late dwindles with its age
 *   never_freed   product limit (Kaplan and Meier, JASA 53, 1958) at the
 *                 greatest age: share of births never freed, live ones taken
 *                 as censored at their age; implied frees are deaths when
 *                 their address was used again. Log-scaled bins; what is
 *                 censored in a bin leaves at its middle. One death at the
 *                 greatest age moves it much: no verdict hangs on it.
 *   growth        bytes a second that live bytes drift by: the trace is cut
 *                 into 16 to 32 buckets of equal time, d_i is the change of
 *                 live bytes in bucket i, m of them of width w: slope =
 *                 mean(d) / w, error = sd(d) / (sqrt(m) w), those of a
 *                 random walk with drift
 *   score         bytes of the old x spread x traced_share, in bytes: orders
 *                 the rows of the verdict leak
 *
 * The rules that make a verdict of them are in leaks_verdict.c, with their
 * thresholds, and in the manual's LEAKS.
 *
 * Memory is bounded per site, whatever the trace: buckets double in width
 * when they are full, two becoming one.
 */
#ifndef KM_LEAKS_H
#define KM_LEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate.h"
#include "error.h"
#include "event.h"
#include "naming.h"
#include "page_frees.h"
#include "reader.h"
#include "replay.h"
#include "replay_hash.h"

#define KM_LEAKS_BUCKETS 32
#define KM_LEAKS_WINDOWS 16 /* of survivors over the whole trace, for people and for likeness */

enum km_verdict {
	KM_VERDICT_LEAK,
	KM_VERDICT_NEVER_FREED,
	KM_VERDICT_UNCERTAIN,
	KM_VERDICT_STARTUP,
	KM_VERDICT_UNTRACED_FREES,
	KM_VERDICT_RECLAIMABLE,
	KM_VERDICT_ALLOCATOR_INTERNAL,
	KM_VERDICT_TOO_SHORT,
	KM_VERDICTS,
};
const char *km_verdict_name(enum km_verdict verdict); /* "leak", "never_freed", ... */

struct km_leak_factors {
	uint64_t tracked_count, matched_frees_count, implied_frees_count;
	uint64_t lifetimes_count, lifetime_p99; /* p99 is meaningless while the count is 0 */
	uint64_t old_age;                       /* what "old" means here */
	uint64_t old_count, old_bytes;
	uint64_t freed_old_count;   /* freed ones that were old by then */
	uint64_t page_freed_count;  /* survivors whose pages were freed since: no survivors */
	uint64_t before_loss_count; /* survivors that lived while events were lost: no evidence */
	uint64_t chances_count;
	bool has_traced_share; /* a free of it is known */
	double traced_share;
	bool has_cache_traced_share; /* a free of its cache's objects, by whatever site, is known */
	double cache_traced_share;
	double spread;
	double early_share, late_share;
	double never_freed_share;
	double growth, growth_error; /* bytes a second; a unit of the clock where a second is not known */
	double score;                /* bytes */
	uint64_t windows[KM_LEAKS_WINDOWS];
};

struct km_leak {
	uint64_t call_site;
	size_t site_index; /* row of KM_AXIS_SITE */
	const char *cache; /* of most of its live bytes; borrowed */
	const char *twin;  /* function of the reclaimable site that it is one to one with; NULL: none */
	uint64_t live_count, live_bytes;
	uint64_t age_min, age_mean, age_max;
	int32_t pid_min, pid_max; /* of tasks that allocated what survived */
	char cpus[32];            /* their CPUs: "0-1,4"; "..." where it is too long */
	enum km_verdict verdict;
	char reason[240];
	struct km_leak_factors factors;
};

struct km_leaks;

/* start_time: time 0. cpu_limit: above the highest CPU. NULL when out of memory. */
struct km_leaks *km_leaks_new(const struct km_reader *reader, uint64_t start_time, unsigned cpu_limit);
void km_leaks_free(struct km_leaks *leaks);

/* events[i], its key as km_aggregate_keys() gave it, and what became of it. Returns 0 or -ENOMEM. */
int km_leaks_account(struct km_leaks *leaks, const struct km_aggregate *aggregate, const struct km_event *events,
		     const uint32_t *keys, const struct km_outcome *outcomes, size_t count);

/* What the verdicts are made from beside the events. */
struct km_leaks_context {
	const struct km_aggregate *aggregate; /* finished */
	const struct km_replay_hash *table;
	struct km_naming *naming;
	uint64_t end_time;                      /* ages count to it */
	uint64_t units_per_second;              /* of the clock; 0 where a second is not known */
	const struct km_page_frees *page_frees; /* NULL: nothing is known */
	bool has_loss;                          /* events were lost at loss_time, the last such time */
	uint64_t loss_time;
	const struct km_slab_aliases *aliases; /* borrowed; NULL: none are known */
};

/*
 * Look at what is live in the table, at the moment that the report is about.
 * context is copied. Returns 0 or -ENOMEM.
 */
int km_leaks_survey(struct km_leaks *leaks, const struct km_leaks_context *context);
/*
 * The verdicts, once, behind the survey; then the rows are there. doubt: why
 * what looks alive may not be, whatever the site, in words that can follow
 * "uncertain:"; NULL: for no such reason. Returns 0 or -ENOMEM.
 */
int km_leaks_judge(struct km_leaks *leaks, const char *doubt);

/* Sites with survivors, the best candidate first. Borrowed. */
const struct km_leak *km_leaks_rows(const struct km_leaks *leaks, size_t *ret_count);
/* That of a row of KM_AXIS_SITE; NULL where nothing survived. Borrowed. */
const struct km_leak *km_leaks_of_site(const struct km_leaks *leaks, size_t site_index);

#endif
