/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options: one table row is an option: its parsing, its help line and its
 * completion. Commands list the rows they take; getopt_long(3) does the
 * walking. Parsing fills a struct options; a second step validates it. This
 * module prints nothing and never exits.
 */
#ifndef KM_OPTIONS_H
#define KM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "filter.h"

enum output_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };
enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* Typed options of every command; a command looks only at those it takes. Strings are borrowed from argv. */
struct options {
	const char *input; /* -i/--input or the first operand; NULL: the default */
	const char *by;    /* --by FIELD,... */
	const char *sort;  /* -s */
	bool has_limit;
	uint64_t limit;     /* -n; 0: no limit */
	const char *fields; /* -F */
	const char *buffer; /* -B */
	struct km_filter filter;
	bool detail;
	bool has_ptr;
	uint64_t ptr; /* events --ptr */
	bool raw_ip;
	const char *kallsyms;
	enum output_format format;
	const char *output; /* -o */
	bool quiet;
	unsigned verbose;
	enum colour_when colour;
	bool no_pager;
	bool objects_auto; /* --objects auto, the default */
	uint64_t objects_count;
	bool has_max_memory;
	uint64_t max_memory_bytes;
	bool help, version;
};

enum option_complete { COMPLETE_NONE, COMPLETE_FILE, COMPLETE_WORDS };

struct option_row {
	char short_name;       /* 0: none */
	const char *long_name; /* without dashes */
	const char *argument;  /* "FILE", NULL: takes none */
	const char *help;      /* one line */
	const char *group;     /* heading in --help: "Input", "Rows and columns", "Filters", "Output", "Table" */
	unsigned commands;     /* bits of enum command_id */
	enum option_complete complete;
	const char *words; /* COMPLETE_WORDS: "table json csv" */
	int (*parse)(struct options *options, const char *argument, struct km_error *error);
};

enum command_id {
	COMMAND_REPORT = 1 << 0,
	COMMAND_OBJECTS = 1 << 1,
	COMMAND_EVENTS = 1 << 2,
	COMMAND_INFO = 1 << 3,
	COMMAND_ALL = (1 << 4) - 1,
};

/* The table; ends with a row whose long_name is NULL. */
extern const struct option_row option_rows[];

void options_init(struct options *options);
/*
 * Parse argv[1..argc-1] for one command: options and at most one operand in
 * any order. Unknown options, missing or bad arguments, a second operand:
 * -EINVAL with an error text that names the option and says what is right.
 */
int options_parse(struct options *options, enum command_id command, int argc, char **argv, struct km_error *error);
/* Combinations that make no sense (-EINVAL). */
int options_validate(const struct options *options, enum command_id command, struct km_error *error);
void options_release(struct options *options);

#endif
