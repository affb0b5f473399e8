/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * filter: which allocations a user asked about. It holds the parsed
 * conditions and answers single questions; it does not know events, and it
 * does not resolve names.
 *
 * A list is commas between items; an allocation passes if any plain item
 * matches (or there is none) and no item with a leading '!' does.
 */
#ifndef KM_FILTER_H
#define KM_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

/* Globs as fnmatch(3) has them. */
struct km_patterns {
	struct {
		char *glob; /* owned */
		bool negated;
	} * items; /* owned */
	size_t count;
};

/* Appends the comma list `text`; an empty item is -EINVAL. An option given twice adds up. */
int km_patterns_parse(struct km_patterns *patterns, const char *text, struct km_error *error);
bool km_patterns_match(const struct km_patterns *patterns, const char *name);
/* For a thing of several names: a plain item has to match any of them, a negated one none. */
bool km_patterns_match_any(const struct km_patterns *patterns, const char *const *names, size_t count);
void km_patterns_release(struct km_patterns *patterns);

/*
 * Integer ranges: "0,2-4,!3", "-1" is the number minus one. Appends as
 * km_patterns_parse() does.
 */
struct km_ranges {
	struct {
		int64_t low, high;
		bool negated;
	} * items; /* owned */
	size_t count;
};

int km_ranges_parse(struct km_ranges *ranges, const char *text, struct km_error *error);
bool km_ranges_match(const struct km_ranges *ranges, int64_t value);
void km_ranges_release(struct km_ranges *ranges);

/* "4096", "4K", "1M", "2G", also "4KiB", "4k": 1024-based. Errors: -EINVAL, -EOVERFLOW. */
int km_parse_size(const char *text, uint64_t *ret_bytes, struct km_error *error);
/* A number of things: "65536", "64K", "1M", "2G": 1024-based too. Errors: -EINVAL, -EOVERFLOW. */
int km_parse_count(const char *text, uint64_t *ret_count, struct km_error *error);
/*
 * "100ns", "20us", "5ms", "2s", "1.5s", "3m", "1h"; a bare number is
 * seconds. Exact: parts of a nanosecond are refused. Errors: -EINVAL,
 * -EOVERFLOW.
 */
int km_parse_duration(const char *text, uint64_t *ret_ns, struct km_error *error);

/*
 * The error text of a value that a user got wrong, `what` being what is
 * right: "4X" is not WHAT (-EINVAL), "99999999999999999999" is too large
 * (-EOVERFLOW). A long value is cut. Returns code.
 */
int km_parse_refuse(struct km_error *error, int code, const char *text, const char *what);

/* One end of --time A,B. */
struct km_time_point {
	enum {
		KM_TIME_OPEN,     /* empty: no limit */
		KM_TIME_CLOCK,    /* seconds of the trace clock, as `trace-cmd report` prints them */
		KM_TIME_RELATIVE, /* "+s": from the first event */
		KM_TIME_PERCENT,  /* "N%" of the trace */
		KM_TIME_MARK,     /* "@TEXT": the first print event that contains TEXT */
	} kind;
	uint64_t value; /* ns for CLOCK and RELATIVE; PERCENT: millionths of the trace, 100% is 1,000,000 */
	char *text;     /* MARK: owned */
};

/*
 * "A,B"; either may be empty. In @TEXT a comma can not stand. Seconds have at
 * most nine decimals. Two ends of the same kind must be in order. The caller
 * releases what it gets. Errors: -EINVAL, -EOVERFLOW, -ENOMEM.
 */
int km_time_window_parse(const char *text, struct km_time_point *ret_from, struct km_time_point *ret_until,
			 struct km_error *error);

void km_time_point_release(struct km_time_point *point);

/* All conditions of a command. All zero bytes: everything passes. */
struct km_filter {
	struct km_patterns cache, site, function, module, comm, gfp;
	struct km_ranges pid, cpu, node;
	bool has_min_age;
	uint64_t min_age_ns;
	uint64_t min_size_bytes; /* bytes given */
	bool has_time;
	struct km_time_point from, until;
};

void km_filter_release(struct km_filter *filter);
/* Whether anything but the all-zero filter was asked for. */
bool km_filter_is_active(const struct km_filter *filter);

#endif
