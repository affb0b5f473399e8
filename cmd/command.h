/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * command: what the commands share: opening the input, choosing buffers,
 * where output goes. Only cmd/ prints to the terminal or exits.
 */
#ifndef KM_COMMAND_H
#define KM_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "analysis.h"
#include "document.h"
#include "error.h"
#include "gate_lookup.h"
#include "options.h"
#include "output.h"
#include "reader.h"
#include "run.h"
#include "suppress.h"

enum exit_status { EXIT_DONE = 0, EXIT_LIMIT = 1, EXIT_USAGE_OR_INPUT = 2, EXIT_UNDECIDED = 3 };

/* Every command: returns 0 or the exit status it came to, or a negative errno with error set. */
int command_report(const struct options *options, struct km_error *error);
int command_objects(const struct options *options, struct km_error *error);
int command_leaks(const struct options *options, struct km_error *error);
int command_timeline(const struct options *options, struct km_error *error);
int command_size(const struct options *options, struct km_error *error);
int command_events(const struct options *options, struct km_error *error);
int command_info(const struct options *options, struct km_error *error);
int command_merge(const struct options *options, struct km_error *error);
int command_compare(const struct options *options, struct km_error *error);

/* The columns of `events`, for --fields help. */
size_t command_events_describe(struct km_column *columns, size_t limit);

/* --- input --- */

/* trace.dat, or perf.data where only that is there. */
const char *default_input(void);
/* The directory that `perf record --threads` writes. */
bool command_is_directory(const char *path);
/* A file, standard input ("-") or such a directory. *ret_reader is the caller's. */
int command_open_path(const char *path, const struct km_reader_options *reader_options, struct km_reader **ret_reader,
		      struct km_error *error);
/* The file of the options with its pieces, or the default one. *ret_reader is the caller's. */
int command_open(const struct options *options, const struct km_reader_options *reader_options,
		 struct km_reader **ret_reader, struct km_error *error);

/* Buffers to report: those with slab events, or those --buffer names. */
struct buffer_list {
	size_t *indexes; /* owned */
	size_t count;
	bool is_all; /* --buffer all: a list is wanted, whatever its length */
};

/* Errors: -EINVAL for an unknown name, and where one buffer has to be chosen; -ENODATA without slab events. */
int command_buffers(struct km_reader *reader, const struct options *options, bool wants_one,
		    struct buffer_list *ret_list, struct km_error *error);
/* The error of a recording without slab events: what it has instead, and how to record. */
int command_no_slab_events(struct km_reader *reader, struct km_error *error);

/* The options of an analysis. Errors: --by. */
int command_analysis_options(const struct options *options, struct km_analysis_options *ret_options,
			     struct km_error *error);

/* A saved report, or a trace analysed as the options say. Errors: as of either, and where one buffer has to be chosen.
 */
int command_load_run(const char *path, const struct options *options, struct km_run **ret_run, struct km_error *error);

/* --- rules --- */

struct gates {
	struct km_gate_rules rules;
	struct km_suppressions suppressions;
};

/* What --fail-on, --rules and --suppress say. Released by the caller, also after an error. */
int command_gates_load(const struct options *options, struct gates *gates, struct km_error *error);
void command_gates_release(struct gates *gates);
/* The exit status that a verdict means. */
int command_gates_status(const struct options *options, enum km_gate_result verdict);
/* What came of each rule, on stderr, where the output is no table that shows it. */
void command_print_rules(const struct options *options, const struct km_gate_outcomes *outcomes);

/* --sort, --by or --fields help: prints the keys and returns true. Before any file is opened. */
bool command_answers_help(const struct options *options, enum command_id command);

/* --- output --- */

struct output {
	FILE *stream;
	const char *name; /* for messages */
	FILE *pager;      /* NULL: none */
	bool is_file;
	struct km_output_style style;
};

/* Where the options say: a file, a pager, standard output. Before the work, so that a bad name is told at once. */
int command_output_open(const struct options *options, struct output *output, struct km_error *error);
/* Behind the work, before anything is written: starts the pager, which takes over the terminal. */
void command_output_begin(const struct options *options, struct output *output);
/* How wide the terminal is that standard output is, or what COLUMNS says; 0: it is none. */
unsigned command_terminal_width(void);
/* Flushes and closes. code is what writing came to: it wins over what closing finds. */
int command_output_close(struct output *output, int code, struct km_error *error);

/* A document in the format of the options. */
int command_write(struct output *output, const struct options *options, struct km_document *document,
		  struct km_error *error);

/* Warnings of an analysis on stderr, for CSV and where the table does not show them. */
void command_print_warnings(const struct options *options, const struct km_health *health);

#endif
