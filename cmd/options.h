/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options: one table row is an option: its parsing, its help line and its
 * completion; one row of another is a command (both in option_rows.c).
 * getopt_long(3) does the walking. Parsing fills a struct options; a second step validates it. This
 * module prints nothing and never exits.
 */
#ifndef KM_OPTIONS_H
#define KM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "filter.h"

enum command_id {
	COMMAND_REPORT = 1 << 0,
	COMMAND_OBJECTS = 1 << 1,
	COMMAND_EVENTS = 1 << 2,
	COMMAND_INFO = 1 << 3,
	COMMAND_COMPLETION = 1 << 4,
	COMMAND_HELP = 1 << 5,
	COMMAND_MERGE = 1 << 6,
	COMMAND_COMPARE = 1 << 7,
	COMMAND_LEAKS = 1 << 8,
	COMMAND_SIZE = 1 << 9,
	COMMAND_TIMELINE = 1 << 10,

	/* Those that replay a trace; those of them with a table of one size; those that read a trace; all. */
	COMMANDS_TABLE = COMMAND_REPORT | COMMAND_OBJECTS | COMMAND_LEAKS | COMMAND_TIMELINE | COMMAND_EVENTS,
	COMMANDS_REPLAY = COMMANDS_TABLE | COMMAND_SIZE,
	COMMANDS_TRACE = COMMANDS_REPLAY | COMMAND_INFO,
	/* Those that take saved reports as well as traces, and several of them. */
	COMMANDS_RUNS = COMMAND_MERGE | COMMAND_COMPARE,
	/* Those with rules. */
	COMMANDS_GATED = COMMAND_REPORT | COMMAND_COMPARE | COMMAND_LEAKS,
	COMMANDS_ALL = (1 << 11) - 1,
};

enum operand_kind { OPERAND_NONE, OPERAND_FILE, OPERAND_FILES, OPERAND_COMMAND };

struct command_row {
	const char *name;
	const char *alias; /* another name, NULL for none */
	enum command_id id;
	const char *summary; /* one line */
	enum operand_kind operand;
	bool is_default; /* what `kmstat FILE` means; exactly one row */
};

/* The table; ends with a row whose name is NULL. */
extern const struct command_row command_rows[];

/* NULL if there is no such command. */
const struct command_row *command_find(const char *name);
const struct command_row *command_get(enum command_id id);
const struct command_row *command_default(void);

/* Each list is in the order of the words of its option's row. */
enum output_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV, FORMAT_MARKDOWN, FORMAT_JUNIT };
enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };
enum per { PER_NOTHING, PER_SECOND, PER_EVENT };
enum on_loss { ON_LOSS_TAINT, ON_LOSS_KEEP, ON_LOSS_RESET };
enum when_full { WHEN_FULL_DROP, WHEN_FULL_SAMPLE };

/* What an option that may be given more than once was given. */
struct texts {
	const char **items; /* owned; the texts are borrowed from argv */
	size_t count;
};

/* Typed options of every command; a command looks only at those it takes. Strings are borrowed from argv. */
struct options {
	const char *input;   /* -i/--input or the operand; NULL: the default */
	struct texts pieces; /* further operands: what was written behind the first (perf record --switch-output) */
	struct texts inputs; /* the operands of commands that take several files */
	const char *topic;   /* the operand of `kmstat help`: the name of a command that exists, or NULL */
	const char *by;      /* --by FIELD,...; no item is empty, the names are not looked up here */
	const char *sort;    /* -s, the same; an item may begin with + or - */
	bool has_limit;
	uint64_t limit;     /* -n; 0: no limit */
	const char *fields; /* -F, as --by */
	const char *buffer; /* -B */
	struct km_filter filter;
	bool detail;
	unsigned points; /* timeline --points; 0: the default */
	bool has_ptr;
	uint64_t ptr; /* events --ptr */
	bool raw_ip;
	const char *kallsyms;
	const char *slab_aliases;
	const char *slabinfo; /* BEFORE[,AFTER] */
	enum output_format format;
	const char *output; /* -o */
	bool quiet;         /* of --quiet and --verbose the last one wins */
	unsigned verbose;
	enum colour_when colour;
	bool no_pager;
	bool objects_auto;      /* --objects auto, the default */
	uint64_t objects_count; /* --objects N: 1 to OPTIONS_OBJECTS_LIMIT; 0 with auto */
	bool has_max_memory;
	uint64_t max_memory_bytes;
	enum on_loss on_loss;
	enum when_full when_full;
	unsigned threads; /* 0: as many as there are CPUs to run on */
	bool has_reorder_window;
	uint64_t reorder_window_ns;
	/* compare */
	struct texts base; /* --base */
	bool has_base_time, has_new_time;
	struct km_time_point base_time[2], new_time[2];
	const char *metric;
	enum per per;
	bool has_ops;
	uint64_t ops[2]; /* of base and new */
	/* rules */
	struct texts fail_on, rules, suppress;
	bool exit_zero;
	bool help, version;
};

#define OPTIONS_OBJECTS_LIMIT (UINT64_C(1) << 31)

/* Headings of the help, in its order. */
enum option_group {
	GROUP_INPUT,
	GROUP_ROWS,
	GROUP_FILTERS,
	GROUP_RULES,
	GROUP_TABLE,
	GROUP_OUTPUT,
	GROUP_OTHER,
	GROUPS_COUNT,
};

enum option_complete {
	COMPLETE_NONE,
	COMPLETE_FILE,
	COMPLETE_WORDS, /* one of the row's words */
	COMPLETE_KEYS,  /* a comma list of what `kmstat COMMAND --OPTION help` prints in its first column */
};

/*
 * Two rows may have the same name if no command takes both, for an option
 * that differs between commands.
 */
struct option_row {
	char short_name;       /* 0: none */
	const char *long_name; /* without dashes */
	const char *argument;  /* "FILE", NULL: takes none */
	bool is_optional;      /* the argument: --color[=WHEN] */
	const char *help;      /* one sentence, without a full stop */
	enum option_group group;
	unsigned commands; /* bits of enum command_id */
	enum option_complete complete;
	const char *words; /* "table json csv": the values there are */
	/* The argument (NULL if there is none) into `options`. Error texts do not name the option: the caller does. */
	int (*parse)(struct options *options, const struct option_row *row, const char *argument,
		     struct km_error *error);
	size_t offset; /* in struct options, for the parse functions that serve many rows */
};

#define OPTION_ROWS_LIMIT 128

/* The table, grouped; ends with a row whose long_name is NULL. */
extern const struct option_row option_rows[];

void options_init(struct options *options);
/*
 * Parse argv[1..argc-1] for one command: options and operands in any order.
 * Unknown options, missing or bad arguments, an operand too many: -EINVAL
 * with an error text that names the option and says what is right.
 * --help and --version end it: what follows them is not looked at. After a
 * failure too the caller releases options.
 */
int options_parse(struct options *options, enum command_id command, int argc, char **argv, struct km_error *error);
/* Combinations that make no sense (-EINVAL). */
int options_validate(const struct options *options, enum command_id command, struct km_error *error);
/* Append to what an option was given. */
int options_add_text(struct texts *texts, const char *text, struct km_error *error);
void options_release(struct options *options);

#endif
