/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run: one side of a comparison in memory: totals and rows (sites, caches,
 * groups, and the functions and modules derived from sites) with their
 * metrics, and what may make them doubtful; from an analysis or from a saved
 * report, or merged of several. It does not compare, judge, write or print.
 *
 * Both ways in go through the sections of a report (document.h), so a run of
 * an analysis equals the run of the JSON that it is saved as.
 *
 * What a value may really be
 * --------------------------
 * Everything is about the allocations that were traced and selected; what
 * was allocated while events were lost is in no number at all.
 *
 * Cumulative metrics count events that were seen: they have no bounds but
 * themselves.
 *
 * A live metric (also at_peak_*, the same at one moment) is what the table
 * held. By the row's live_is the truth is in [min, max]:
 *   consistent   [value, value].
 *   upper_bound  [0, value]: some of its frees are not traced, so any object
 *                may be gone; none can be there that the table does not hold.
 *   at_least     [value, value + overflowed]: the table was full for some of
 *                its objects. What it holds it holds rightly, since every
 *                free of that is traced; of the others nobody knows, so any
 *                of them may live. For bytes asked for and waste too the
 *                bytes given to them are the bound: neither can be more.
 *   uncertain    [0, unknown] where events were lost while its objects
 *                lived: their frees may be lost, and so may allocations.
 *                [0, value + overflowed] where it is both of the last two
 *                but nothing was lost.
 *   estimated    from a sample (--when-full sample). What was in the sample
 *                surely lives, and of the others any may: a saved report has
 *                these bounds of live and peak numbers; those at the peak
 *                have none. What was freed is an estimate too then.
 * A lost start alone makes nothing uncertain. (Only where the recording of
 * one CPU begins later than that of others can a free of an older object be
 * missing there; this is not told apart.)
 * The total's bounds are sums over the sites: min of those that are
 * consistent or at_least (the others' is 0), max unknown if any is.
 *
 * A peak is the maximum of a live metric, so it is bounded in the same way,
 * and never below the lower bound of what lives at the end. Where the level
 * itself is not exact (peak_is: a cache's name was learnt late, or peaks of
 * several rows were added up) its own bounds come first: at_least
 * [value, the bound that is known], at_most [0, value]. Peaks do not add up:
 * they are of different moments. The sum is the value all the same, with
 * peak_is at_most, since the peak of all can not be higher; its min is the
 * largest min of the parts, its max the sum of theirs.
 *
 * What looks leaked (leaks_*) is of the sites with that verdict, which is
 * given on evidence only: [value, value]; but where live_is is at_least,
 * uncertain or estimated more may be: [value, the most that may live]. The
 * whole's bounds are sums over the sites.
 *
 * An age is exact where live_is is consistent, else it has no bounds.
 */
#ifndef KM_RUN_H
#define KM_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate.h"
#include "analysis.h"
#include "error.h"
#include "event.h"
#include "health.h"
#include "histogram.h"
#include "report.h"
#include "selection.h"
#include "source.h"
#include "symbols.h"

/* --- metrics --- */

enum km_metric {
	KM_METRIC_LIVE_BYTES,
	KM_METRIC_LIVE_COUNT,
	KM_METRIC_LIVE_REQUESTED_BYTES,
	KM_METRIC_LIVE_WASTE_BYTES,
	KM_METRIC_AT_PEAK_BYTES, /* of the totals: their peak_live_bytes */
	KM_METRIC_AT_PEAK_COUNT,
	KM_METRIC_PEAK_LIVE_BYTES,
	KM_METRIC_PEAK_LIVE_COUNT,
	KM_METRIC_ALLOCS_COUNT, /* totals have it as alloc_events_count */
	KM_METRIC_TRACKED_COUNT,
	KM_METRIC_FAILED_COUNT,
	KM_METRIC_DOUBLED_COUNT,
	KM_METRIC_OVERFLOWED_COUNT,
	KM_METRIC_OVERFLOWED_BYTES,
	KM_METRIC_MATCHED_FREES_COUNT,
	KM_METRIC_IMPLIED_FREES_COUNT,
	KM_METRIC_CROSS_CPU_FREES_COUNT,
	KM_METRIC_TOTAL_ALLOCATED_BYTES,
	KM_METRIC_TOTAL_REQUESTED_BYTES,
	KM_METRIC_TOTAL_WASTE_BYTES,
	KM_METRIC_FREE_EVENTS_COUNT,     /* totals only, as the next three */
	KM_METRIC_NULL_FREES_COUNT,      /* 0 with a filter */
	KM_METRIC_UNMATCHED_FREES_COUNT, /* 0 with a filter */
	KM_METRIC_RESET_COUNT,           /* null without --on-loss reset */
	KM_METRIC_OLDEST_AGE_NS,         /* of live objects; null without any */
	KM_METRIC_NEWEST_AGE_NS,         /* rows only */
	KM_METRIC_LEAKS_COUNT,           /* totals and sites; null where no verdicts were saved, as of the next */
	KM_METRIC_LEAKS_BYTES,
	KM_METRICS,
};

enum km_metric_kind {
	KM_METRIC_IS_CUMULATIVE, /* of the whole trace; adds up */
	KM_METRIC_IS_LIVE,       /* at the end; adds up, and so do its bounds */
	KM_METRIC_IS_AT_PEAK,    /* at the moment of the peak of all; the same */
	KM_METRIC_IS_PEAK,       /* its own peak; a sum is an upper bound */
	KM_METRIC_IS_LEAK,       /* live objects of sites with the verdict leak; adds up, null if any part is */
	KM_METRIC_IS_AGE,        /* of the oldest or newest live object; the larger or smaller of two */
};

struct km_metric_info {
	const char *name;       /* the JSON key of rows: "live_bytes" */
	const char *total_name; /* that of totals; NULL: totals do not have it, but KM_METRIC_AT_PEAK_BYTES as said */
	enum km_metric_kind kind;
	enum km_type type; /* KM_TYPE_COUNT, KM_TYPE_BYTES; KM_TYPE_DURATION: the clock's unit, see clock_is_ns */
	bool is_of_rows;
	const char *help; /* one line */
};

/* In the order of enum km_metric. */
extern const struct km_metric_info km_metrics[KM_METRICS];

/* By name or total_name; KM_METRICS if there is none. */
enum km_metric km_metric_find(const char *name);

struct km_value {
	uint64_t value;
	/* What it may really be: min <= value <= max. */
	uint64_t min, max;
	bool max_is_unknown; /* then max is 0 */
	bool is_null;        /* this row does not have the metric: all else is 0 */
};

/* --- rows --- */

enum km_run_axis {
	KM_RUN_SITES,
	KM_RUN_CACHES,
	KM_RUN_GROUPS, /* none without --by */
	/* Derived: each is the sum of its sites, and made by km_run_derive(). */
	KM_RUN_FUNCTIONS,
	KM_RUN_MODULES,
	KM_RUN_AXES,
};

/* How a peak is to be read; km_level_peak_is() has the names. UNCERTAIN: both of the two before it. */
enum km_peak_is { KM_PEAK_EXACT, KM_PEAK_AT_LEAST, KM_PEAK_AT_MOST, KM_PEAK_UNCERTAIN };
const char *km_peak_is_name(enum km_peak_is is); /* "exact", "at_least", "at_most", "uncertain" */

/*
 * Texts are valid UTF-8 of at most KM_INTERN_STRING_BYTES, and belong to the
 * run; equal ones are equal pointers within one run. NULL where the axis has
 * no such thing, and a module also for the kernel itself or where it is not
 * known.
 */
struct km_run_row {
	const char *symbol;               /* sites: "fn+0x1f [module]" */
	const char *function;             /* sites, functions */
	const char *module;               /* sites, functions, modules */
	const char *cache;                /* caches */
	struct km_cell keys[KM_BY_LIMIT]; /* groups: by.count of them, of the types of km_by_columns[] */
	bool has_address;                 /* sites: not where only a name is known, or rows of several are one */
	uint64_t address;                 /* its kernel's own */
	const char **caches;              /* sites: owned, sorted */
	size_t caches_count;              /* at most KM_RUN_SITE_CACHES */
	struct km_value sites_count;      /* caches, groups: null where rows of several recordings are one */
	struct km_value object_bytes;     /* caches: null where sizes differ */
	struct km_value peak_time;        /* from time 0, in the clock's unit; null where peaks were added up */
	struct km_value peak_count_time;  /* totals: the same of peak_live_count */
	struct km_value values[KM_METRICS];
	enum km_live_is live_is; /* of several: the worst, and uncertain where bounds of both sides meet */
	enum km_peak_is peak_is;
	struct km_histogram lifetimes; /* owned; of matched frees, in the clock's unit. Totals: of all sites */
};

#define KM_RUN_SITE_CACHES 64

/* --- the run --- */

/* A recording: what "sources" of a report holds. Texts are owned by the run. */
struct km_run_source {
	const char *file, *format;
	const char *kernel;   /* uname: "Linux host 6.12.1 x86_64"; NULL: the file does not tell */
	const char *recorder; /* NULL: likewise */
	const char *clock;    /* NULL: likewise */
	const char *buffer;   /* "": the top one */
	bool clock_is_ns, clock_is_coherent, big_endian;
	uint64_t cpus_count, events_count, word_bytes, page_bytes;
	uint64_t start, end, duration; /* in the clock's unit */
};

/* Whether two recordings are of kernels of one release and machine type; false where either does not tell. */
bool km_run_same_kernel(const struct km_run_source *a, const struct km_run_source *b);

/* Counters of the whole replay, whatever is selected: health.replay, in its order. */
enum km_run_replayed {
	/* the six kinds of slab events come first: index by enum km_event_kind */
	KM_RUN_TRACKED = KM_EVENT_SLAB_KINDS,
	KM_RUN_OVERFLOWED,
	KM_RUN_FAILED,
	KM_RUN_DOUBLED,
	KM_RUN_MATCHED_FREES,
	KM_RUN_IMPLIED_FREES,
	KM_RUN_NULL_FREES,
	KM_RUN_UNMATCHED_FREES,
	KM_RUN_REORDERED,
	KM_RUN_RESET,
	KM_RUN_SKIPPED,
	KM_RUN_REPLAYED,
};

const char *km_run_replayed_name(enum km_run_replayed counter); /* "kmalloc_count", ... */

struct km_run_warning {
	const char *code, *text; /* of several recordings the text that sorts first */
	uint64_t sources_count;  /* recordings that it is about */
};

struct km_run_unmatched {
	const char *cache;
	uint64_t count;
};

/* The table and its overflow, of the whole replay. */
struct km_run_overflow {
	uint64_t overflowed_count, overflowed_bytes, episodes_count;               /* sums */
	uint64_t peak_count, estimated_peak_count, recommended_count;              /* the largest of any recording */
	uint64_t capacity_count, memory_bytes, memory_peak_bytes, longest_episode; /* likewise */
	uint64_t first; /* the earliest; only if any overflowed */
	bool fixed;     /* of any */
	bool samples;   /* any, --when-full sample: its estimates have live_is estimated */
};

struct km_run {
	const char *name;              /* what it was read from, for messages */
	struct km_run_source *sources; /* sorted; at least one */
	size_t sources_count;
	bool clock_is_ns; /* else times, ages and lifetimes are ticks of a clock */
	/*
	 * Sites are told apart by symbol and module; in a run merged of several
	 * kernels only by function and module (by_function).
	 */
	bool sites_by_function;
	bool sites_are_bare; /* some symbol is an address though its function has a name (--raw-ip) */
	const char *filters; /* "{}", or the conditions as compact JSON with sorted keys: equal text, equal filters */
	struct km_by_list by;
	bool truncated; /* never true: such reports are refused */
	/* What makes numbers doubtful. */
	bool flags[KM_COMPLETENESS_KINDS]; /* COMPLETE only if no other */
	enum km_completeness completeness;
	uint64_t lost_events_count; /* 0 if lost_is is unknown */
	enum km_lost_is lost_is;
	enum km_symbols_state symbols; /* the worst of any */
	uint64_t replayed[KM_RUN_REPLAYED];
	struct km_run_overflow overflow;
	struct km_run_warning *warnings; /* sorted by code */
	size_t warnings_count;
	struct km_run_unmatched *unmatched; /* sorted by name: unmatched frees by the cache that they name */
	size_t unmatched_count;
	struct km_run_row totals;
	/* Rows of each axis, sorted by identity, no two of one identity. Derived axes are empty until made. */
	struct {
		struct km_run_row **rows;
		size_t count;
	} axes[KM_RUN_AXES];
	bool is_derived[KM_RUN_AXES];
	struct km_intern *strings; /* owned; all texts are in it */
};

/*
 * Of a finished analysis; nothing is borrowed afterwards. Sites of one name
 * are one row, here and everywhere. Errors: -ENOMEM, -ENOSPC (too many
 * different texts).
 */
int km_run_from_analysis(const struct km_analysis *analysis, struct km_run **ret_run, struct km_error *error);

/*
 * Of what `kmstat report --json` or `kmstat merge` wrote. Keys that it does
 * not know are ignored; bounds that an older report lacks are made from
 * live_is. Errors, each one line that names the source: -EBADMSG not JSON,
 * not a report, a key missing or of the wrong type; -ENOTSUP a newer
 * schema_version, a truncated report, --fields, several reports in one file;
 * -EFBIG over KM_RUN_FILE_BYTES_LIMIT; what reading gives; -ENOMEM.
 */
int km_run_load(struct km_source *source, struct km_run **ret_run, struct km_error *error);
#define KM_RUN_FILE_BYTES_LIMIT (UINT64_C(1) << 30)

/* Whether a source holds JSON, which no recording does: its first character is a brace. Negative errno. */
int km_run_is_saved(struct km_source *source, struct km_error *error);

void km_run_release(struct km_run *run); /* and frees it; NULL is fine */

/* Make the rows of an axis from the sites; nothing if they are there. Returns 0 or -ENOMEM. */
int km_run_derive(struct km_run *run, enum km_run_axis axis, struct km_error *error);

/*
 * The order of rows of an axis by identity: sites by function, module and
 * symbol (by_function: without the symbol), functions by name and module,
 * modules (the kernel itself first), caches by name, groups by their values.
 * The rows may be of two runs. For groups both have the same `by`.
 */
int km_run_compare_rows(enum km_run_axis axis, const struct km_run *run, const struct km_run_row *a,
			const struct km_run_row *b);
/* The row of `run` with the identity of `like`, which may be another run's. NULL if there is none. */
const struct km_run_row *km_run_find(const struct km_run *run, enum km_run_axis axis, const struct km_run_row *like);

/*
 * Whether sites of two runs may be matched by symbol: every recording of both
 * is of one kernel, neither run is by function, and symbols are no bare
 * addresses of functions that have names. Else by KM_RUN_FUNCTIONS.
 */
bool km_run_match_by_symbol(const struct km_run *a, const struct km_run *b);

/* 0 if numbers of both may be put side by side: -EINVAL for other filters, --by or units of time; it says which. */
int km_run_check_alike(const struct km_run *a, const struct km_run *b, struct km_error *error);

#endif
