/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report: what an analysis hands to a writer: sections of typed columns
 * whose rows the writer pulls, one at a time. A writer knows nothing of
 * traces; an analysis knows nothing of JSON or terminals; nobody holds a
 * whole report.
 *
 * Column names are the names everywhere: JSON keys, CSV header, --sort,
 * --fields. A dot in a name nests in JSON ("lifetime_ns.p50" is key p50 of
 * object lifetime_ns) and stays a dot elsewhere. A name ends with its unit:
 * _bytes, _ns, _count.
 */
#ifndef KM_REPORT_H
#define KM_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "histogram.h"

enum km_type {
	KM_TYPE_STRING,    /* text */
	KM_TYPE_COUNT,     /* number: people see thousands grouped */
	KM_TYPE_BYTES,     /* number: people see K, M, G with one decimal where it is long */
	KM_TYPE_DURATION,  /* number, ns: people see ns, us, ms, s */
	KM_TYPE_TICKS,     /* number, units of a clock that is not in ns */
	KM_TYPE_INTEGER,   /* integer, may be negative (pid, node): never grouped */
	KM_TYPE_ADDRESS,   /* number: "0x..." everywhere, in JSON as a string */
	KM_TYPE_BOOL,      /* flag */
	KM_TYPE_RATIO,     /* ratio: 0 to 1, people see percent */
	KM_TYPE_REAL,      /* number with decimals, may be negative: people see four digits of it */
	KM_TYPE_LIST,      /* list: JSON array of strings, elsewhere joined by "," */
	KM_TYPE_HISTOGRAM, /* histogram: JSON array of [bin, count], left out elsewhere */
	KM_TYPE_NUMBERS,   /* numbers: JSON array of them, left out elsewhere */
};

struct km_cell {
	bool is_null; /* JSON null, CSV empty, people see "-" */
	union {
		const char *text; /* may hold any bytes: a writer makes them valid for its format */
		uint64_t number;
		int64_t integer;
		bool flag;
		double ratio; /* also of REAL */
		const struct km_histogram *histogram;
		struct {
			const char *const *items;
			size_t count;
		} list;
		struct {
			const uint64_t *items;
			size_t count;
		} numbers;
	};
};

enum km_column_flag {
	KM_COLUMN_MACHINE = 1 << 0, /* in JSON and CSV; for people only when --fields names it */
	KM_COLUMN_PEOPLE = 1 << 1,  /* a terminal table's own column; in JSON and CSV only when named */
	KM_COLUMN_WIDE = 1 << 2,    /* for people only where the terminal has room for it */
	KM_COLUMN_FLEX = 1 << 3,    /* may be cut, with an ellipsis, to fit the terminal (symbols) */
	KM_COLUMN_LEFT = 1 << 4,    /* left-aligned though it is a number */
	KM_COLUMN_RIGHT = 1 << 6,   /* right-aligned though it is text */
	KM_COLUMN_CODE = 1 << 7,    /* a name or an expression: where there is markup, text that is none */
	KM_COLUMN_LAST = 1 << 5,    /* for people it stands behind those without this flag */
};

struct km_column {
	const char *name;  /* "live_bytes" */
	const char *title; /* for people: "live" */
	const char *help;  /* one line, for `--sort help` and the man page */
	enum km_type type;
	unsigned flags; /* enum km_column_flag; 0: shown everywhere */
};

enum km_shape {
	KM_SHAPE_RECORD, /* one row: a JSON object, for people "name value" lines */
	KM_SHAPE_ROWS,   /* a table: a JSON array of objects */
	KM_SHAPE_ITEMS,  /* one column of type STRING: a JSON array of strings */
	KM_SHAPE_LINES,  /* for people only: column 0 a label (may be ""), column 1 text */
};

enum km_audience {
	KM_FOR_PEOPLE = 1 << 0,
	KM_FOR_MACHINES = 1 << 1,
};

struct km_section {
	/*
	 * JSON key. "health.warnings" is key warnings of the object health,
	 * whose RECORD section must come before it, with only sections below
	 * "health" between. "" is the report's own object (a RECORD).
	 */
	const char *path;
	const char *title; /* heading for people, NULL for none */
	const char *note;  /* a line below the rows for people ("20 of 213 sites shown"), NULL for none */
	enum km_shape shape;
	unsigned audience; /* enum km_audience */
	const struct km_column *columns;
	size_t columns_count;
	/*
	 * The next row into cells[columns_count]. What cells point to is
	 * borrowed until the next call. 1: a row, 0: no more, negative errno.
	 */
	int (*next)(void *state, struct km_cell *cells, struct km_error *error);
	void *state;
	bool is_primary; /* the one that CSV writes, and that --fields is about */
	bool is_brief;   /* where only the gist is wanted it stays in sight, and the other sections are folded away */
	bool is_null;    /* JSON: null stands for it, next() is not called; elsewhere it has no rows */
};

struct km_report {
	const char *schema; /* "kmstat.report" */
	int schema_version;
	const struct km_section *sections;
	size_t sections_count;
};

/* What a user chose of the primary section's columns (--fields): indexes into its columns. count 0: the defaults. */
struct km_fields {
	const uint16_t *indexes;
	size_t count;
};

#endif
