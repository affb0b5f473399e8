/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of commands and options, and how each kind of argument is parsed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "timeline.h"

const struct command_row command_rows[] = {
	{
		.name = "report",
		.id = COMMAND_REPORT,
		.summary = "the call sites and caches that hold memory, how much, since when",
		.operand = OPERAND_FILE,
		.is_default = true,
	},
	{
		.name = "compare",
		.alias = "diff",
		.id = COMMAND_COMPARE,
		.summary = "two recordings or saved reports, or two sets of them: what grew, and by how much",
		.operand = OPERAND_FILES,
	},
	{
		.name = "objects",
		.id = COMMAND_OBJECTS,
		.summary = "the objects that are live at the end of the trace, and their ages",
		.operand = OPERAND_FILE,
	},
	{
		.name = "leaks",
		.id = COMMAND_LEAKS,
		.summary = "the call sites that may have lost what they allocated, and on what evidence",
		.operand = OPERAND_FILE,
	},
	{
		.name = "timeline",
		.id = COMMAND_TIMELINE,
		.summary =
			"live bytes and objects over time, in total and of the sites or caches with the highest peaks",
		.operand = OPERAND_FILE,
	},
	{
		.name = "events",
		.id = COMMAND_EVENTS,
		.summary = "each kmem event, and what the replay made of it",
		.operand = OPERAND_FILE,
	},
	{
		.name = "size",
		.id = COMMAND_SIZE,
		.summary = "what tables of other sizes would have seen, and how large one must be",
		.operand = OPERAND_FILE,
	},
	{
		.name = "info",
		.id = COMMAND_INFO,
		.summary = "what is in a trace file: kernel, clock, buffers, events, losses",
		.operand = OPERAND_FILE,
	},
	{
		.name = "merge",
		.id = COMMAND_MERGE,
		.summary = "several reports or traces as one report, which merges again",
		.operand = OPERAND_FILES,
	},
	{
		.name = "completion",
		.id = COMMAND_COMPLETION,
		.summary = "print the completion script for bash",
	},
	{
		.name = "help",
		.id = COMMAND_HELP,
		.summary = "explain a command and its options",
		.operand = OPERAND_COMMAND,
	},
	{ .name = NULL },
};

static void *field_of(struct options *options, const struct option_row *row)
{
	return (char *)options + row->offset;
}

static int parse_flag(struct options *options, const struct option_row *row, const char *argument,
		      struct km_error *error)
{
	bool *flag = field_of(options, row);

	(void)argument;
	(void)error;
	*flag = true;
	return 0;
}

static int parse_text(struct options *options, const struct option_row *row, const char *argument,
		      struct km_error *error)
{
	const char **text = field_of(options, row);

	if (!*argument)
		return km_error_set(error, -EINVAL, "the %s is empty", row->argument);
	*text = argument;
	return 0;
}

/* Kept as text: only the command knows which names there are. A sign belongs to the name behind it. */
static int parse_list(struct options *options, const struct option_row *row, const char *argument,
		      struct km_error *error)
{
	const char **text = field_of(options, row);

	for (const char *p = argument;; p++) {
		bool has_sign = *p == '+' || *p == '-';
		size_t length = strcspn(p, ",");

		if (length <= has_sign)
			return km_parse_refuse(error, -EINVAL, argument, "a comma list of names, none of them empty");
		p += length;
		if (!*p)
			break;
	}
	*text = argument;
	return 0;
}

static int parse_another(struct options *options, const struct option_row *row, const char *argument,
			 struct km_error *error)
{
	if (!*argument)
		return km_error_set(error, -EINVAL, "the %s is empty", row->argument);
	return options_add_text(field_of(options, row), argument, error);
}

static int parse_input(struct options *options, const struct option_row *row, const char *argument,
		       struct km_error *error)
{
	if (options->input)
		return km_error_set(error, -EINVAL, "two files to read: \"%.80s\" and \"%.80s\"; give one",
				    options->input, argument);
	return parse_text(options, row, argument, error);
}

static int parse_patterns(struct options *options, const struct option_row *row, const char *argument,
			  struct km_error *error)
{
	return km_patterns_parse(field_of(options, row), argument, error);
}

/* Names are the recording's own; a mask has to be one. */
static int parse_gfp(struct options *options, const struct option_row *row, const char *argument,
		     struct km_error *error)
{
	struct km_patterns *patterns = field_of(options, row);
	size_t before = patterns->count;
	int r = km_patterns_parse(patterns, argument, error);

	for (size_t i = before; !r && i < patterns->count; i++) {
		const char *glob = patterns->items[i].glob;

		if (!strncmp(glob, "0x", 2) && (!glob[2] || glob[2 + strspn(glob + 2, "0123456789abcdefABCDEF")]))
			r = km_parse_refuse(error, -EINVAL, glob, "a mask in hex such as 0xcc0");
	}
	return r;
}

static int parse_ranges(struct options *options, const struct option_row *row, const char *argument,
			struct km_error *error)
{
	return km_ranges_parse(field_of(options, row), argument, error);
}

/* Of things that are never negative. */
static int parse_natural_ranges(struct options *options, const struct option_row *row, const char *argument,
				struct km_error *error)
{
	struct km_ranges *ranges = field_of(options, row);
	size_t i = ranges->count;
	int r;

	r = km_ranges_parse(ranges, argument, error);
	if (r < 0)
		return r;
	for (; i < ranges->count; i++) {
		if (ranges->items[i].low < 0)
			return km_parse_refuse(error, -EINVAL, argument,
					       "a list of numbers from 0 up and ranges such as 0,2-4");
	}
	return 0;
}

static int parse_points(struct options *options, const struct option_row *row, const char *argument,
			struct km_error *error)
{
	uint64_t value;
	int r = km_parse_count(argument, &value, error);

	(void)row;
	if (r < 0)
		return r;
	if (value < KM_TIMELINE_POINTS_LEAST || value > KM_TIMELINE_POINTS_LIMIT)
		return km_parse_refuse(error, -EINVAL, argument, "a number from 2 to 65536");
	options->points = (unsigned)value;
	return 0;
}

static int parse_limit(struct options *options, const struct option_row *row, const char *argument,
		       struct km_error *error)
{
	int r;

	(void)row;
	r = km_parse_count(argument, &options->limit, error);
	if (r < 0)
		return r;
	options->has_limit = true;
	return 0;
}

static int parse_min_age(struct options *options, const struct option_row *row, const char *argument,
			 struct km_error *error)
{
	int r;

	(void)row;
	r = km_parse_duration(argument, &options->filter.min_age_ns, error);
	if (r < 0)
		return r;
	options->filter.has_min_age = true;
	return 0;
}

static int parse_size(struct options *options, const struct option_row *row, const char *argument,
		      struct km_error *error)
{
	return km_parse_size(argument, field_of(options, row), error);
}

static int parse_max_memory(struct options *options, const struct option_row *row, const char *argument,
			    struct km_error *error)
{
	uint64_t bytes;
	int r;

	(void)row;
	r = km_parse_size(argument, &bytes, error);
	if (r < 0)
		return r;
	if (bytes == 0)
		return km_parse_refuse(error, -EINVAL, argument, "a size above 0 such as 512M or 2G");
	options->has_max_memory = true;
	options->max_memory_bytes = bytes;
	return 0;
}

static int parse_time(struct options *options, const struct option_row *row, const char *argument,
		      struct km_error *error)
{
	struct km_filter *filter = &options->filter;
	struct km_time_point from, until;
	int r;

	(void)row;
	r = km_time_window_parse(argument, &from, &until, error);
	if (r < 0)
		return r;
	km_time_point_release(&filter->from);
	km_time_point_release(&filter->until);
	filter->from = from;
	filter->until = until;
	filter->has_time = from.kind != KM_TIME_OPEN || until.kind != KM_TIME_OPEN;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Two windows of one file. */
static int parse_base_time(struct options *options, const struct option_row *row, const char *argument,
			   struct km_error *error)
{
	bool is_base = row->offset == offsetof(struct options, base_time);
	struct km_time_point *points = field_of(options, row);
	struct km_time_point from, until;
	int r = km_time_window_parse(argument, &from, &until, error);

	if (r < 0)
		return r;
	km_time_point_release(&points[0]);
	km_time_point_release(&points[1]);
	points[0] = from;
	points[1] = until;
	*(is_base ? &options->has_base_time : &options->has_new_time) = true;
	return 0;
}

/* Always hex, as traces print pointers: "1000" with and without 0x is the same. */
static int parse_ptr(struct options *options, const struct option_row *row, const char *argument,
		     struct km_error *error)
{
	const char *p = argument;
	uint64_t value = 0;

	(void)row;
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	if (!*p)
		return km_parse_refuse(error, -EINVAL, argument, "an address in hex such as 0xffff888004a3c000");
	for (; *p; p++) {
		int digit = hex_digit(*p);

		if (digit < 0)
			return km_parse_refuse(error, -EINVAL, argument,
					       "an address in hex such as 0xffff888004a3c000");
		if (value >> 60)
			return km_parse_refuse(error, -EOVERFLOW, argument, "");
		value = value << 4 | (uint64_t)digit;
	}
	options->has_ptr = true;
	options->ptr = value;
	return 0;
}

static int parse_threads(struct options *options, const struct option_row *row, const char *argument,
			 struct km_error *error)
{
	uint64_t count;

	(void)row;
	if (km_parse_count(argument, &count, NULL) < 0 || count < 1 || count > 1024)
		return km_parse_refuse(error, -EINVAL, argument, "a number of threads from 1 to 1024");
	options->threads = (unsigned)count;
	return 0;
}

static int parse_reorder_window(struct options *options, const struct option_row *row, const char *argument,
				struct km_error *error)
{
	int r;

	(void)row;
	r = km_parse_duration(argument, &options->reorder_window_ns, error);
	if (r < 0)
		return r;
	options->has_reorder_window = true;
	return 0;
}

static int parse_objects(struct options *options, const struct option_row *row, const char *argument,
			 struct km_error *error)
{
	uint64_t count = 0;
	int r = 0;

	(void)row;
	if (strcmp(argument, "auto") == 0) {
		options->objects_auto = true;
		options->objects_count = 0;
		return 0;
	}
	r = km_parse_count(argument, &count, NULL);
	if (r < 0 || count < 1 || count > OPTIONS_OBJECTS_LIMIT)
		return km_parse_refuse(error, -EINVAL, argument,
				       "auto or a number of objects from 1 to 2G such as 65536, 64K or 1M");
	options->objects_auto = false;
	options->objects_count = count;
	return 0;
}

/* The index of a value among the row's words. */
static int parse_word(const struct option_row *row, const char *argument, unsigned *ret_index, struct km_error *error)
{
	size_t bytes = strlen(argument);
	unsigned index = 0;
	char what[256];

	for (const char *word = row->words;; index++) {
		size_t length = strcspn(word, " ");

		if (length == bytes && memcmp(word, argument, bytes) == 0) {
			*ret_index = index;
			return 0;
		}
		if (!word[length])
			break;
		word += length + 1;
	}
	snprintf(what, sizeof(what), "one of: %s", row->words);
	return km_parse_refuse(error, -EINVAL, argument, what);
}

static int parse_format(struct options *options, const struct option_row *row, const char *argument,
			struct km_error *error)
{
	unsigned index;
	int r;

	r = parse_word(row, argument, &index, error);
	if (r < 0)
		return r;
	options->format = (enum output_format)index;
	return 0;
}

static int parse_json(struct options *options, const struct option_row *row, const char *argument,
		      struct km_error *error)
{
	(void)row;
	(void)argument;
	(void)error;
	options->format = FORMAT_JSON;
	return 0;
}

static int parse_on_loss(struct options *options, const struct option_row *row, const char *argument,
			 struct km_error *error)
{
	unsigned index;
	int r = parse_word(row, argument, &index, error);

	if (r < 0)
		return r;
	options->on_loss = (enum on_loss)index;
	return 0;
}

static int parse_when_full(struct options *options, const struct option_row *row, const char *argument,
			   struct km_error *error)
{
	unsigned index;
	int r = parse_word(row, argument, &index, error);

	if (r < 0)
		return r;
	options->when_full = (enum when_full)index;
	return 0;
}

static int parse_per(struct options *options, const struct option_row *row, const char *argument,
		     struct km_error *error)
{
	unsigned index;
	int r = parse_word(row, argument, &index, error);

	if (r < 0)
		return r;
	options->per = (enum per)(PER_SECOND + index);
	return 0;
}

/* "N", or "N,M" where the base did N and the new ones M. */
static int parse_ops(struct options *options, const struct option_row *row, const char *argument,
		     struct km_error *error)
{
	size_t bytes = strcspn(argument, ",");
	char first[32] = "";
	int r;

	(void)row;
	if (bytes < sizeof(first))
		memcpy(first, argument, bytes);
	r = km_parse_count(first, &options->ops[0], NULL);
	options->ops[1] = options->ops[0];
	if (!r && argument[bytes])
		r = km_parse_count(argument + bytes + 1, &options->ops[1], NULL);
	if (r || !options->ops[0] || !options->ops[1])
		return km_parse_refuse(error, -EINVAL, argument,
				       "a number of operations above 0 such as 1000, or two: BASE,NEW");
	options->has_ops = true;
	return 0;
}

static int parse_colour(struct options *options, const struct option_row *row, const char *argument,
			struct km_error *error)
{
	unsigned index = COLOUR_ALWAYS;
	int r;

	if (argument) {
		r = parse_word(row, argument, &index, error);
		if (r < 0)
			return r;
	}
	options->colour = (enum colour_when)index;
	return 0;
}

static int parse_quiet(struct options *options, const struct option_row *row, const char *argument,
		       struct km_error *error)
{
	(void)row;
	(void)argument;
	(void)error;
	options->quiet = true;
	options->verbose = 0;
	return 0;
}

static int parse_verbose(struct options *options, const struct option_row *row, const char *argument,
			 struct km_error *error)
{
	(void)row;
	(void)argument;
	(void)error;
	options->quiet = false;
	options->verbose++;
	return 0;
}

#define FIELD(member) offsetof(struct options, member)

const struct option_row option_rows[] = {
	{
		.short_name = 'i',
		.long_name = "input",
		.argument = "FILE",
		.help = "the trace to read, as the operand FILE (default: trace.dat, else perf.data)",
		.group = GROUP_INPUT,
		.commands = COMMANDS_TRACE,
		.complete = COMPLETE_FILE,
		.parse = parse_input,
		.offset = FIELD(input),
	},
	{
		.long_name = "base",
		.argument = "FILE",
		.help = "a recording or saved report of the base; the operands are then all new; may be given again",
		.group = GROUP_INPUT,
		.commands = COMMAND_COMPARE,
		.complete = COMPLETE_FILE,
		.parse = parse_another,
		.offset = FIELD(base),
	},
	{
		.long_name = "base-time",
		.argument = "A,B",
		.help = "of the base only what was allocated from A on and before B, as --time has it; with "
			"--new-time two windows of one file",
		.group = GROUP_INPUT,
		.commands = COMMAND_COMPARE,
		.parse = parse_base_time,
		.offset = FIELD(base_time),
	},
	{
		.long_name = "new-time",
		.argument = "A,B",
		.help = "the same of what is new",
		.group = GROUP_INPUT,
		.commands = COMMAND_COMPARE,
		.parse = parse_base_time,
		.offset = FIELD(new_time),
	},
	{
		.short_name = 'B',
		.long_name = "buffer",
		.argument = "NAME",
		.help = "only this buffer of the file, or all of them, one by one, with \"all\"",
		.group = GROUP_INPUT,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.parse = parse_text,
		.offset = FIELD(buffer),
	},
	{
		.long_name = "kallsyms",
		.argument = "FILE",
		.help = "names of addresses from FILE, a copy of /proc/kallsyms, not from the trace",
		.group = GROUP_INPUT,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.complete = COMPLETE_FILE,
		.parse = parse_text,
		.offset = FIELD(kallsyms),
	},
	{
		.long_name = "slab-aliases",
		.argument = "FILE",
		.help = "the names that share a slab cache, from FILE: ls -l /sys/kernel/slab of the recorded machine",
		.group = GROUP_INPUT,
		.commands = COMMAND_REPORT | COMMAND_OBJECTS | COMMAND_LEAKS,
		.complete = COMPLETE_FILE,
		.parse = parse_text,
		.offset = FIELD(slab_aliases),
	},
	{
		.long_name = "slabinfo",
		.argument = "BEFORE[,AFTER]",
		.help = "compare the caches with copies of /proc/slabinfo from the trace's begin and end, or from "
			"those "
			"of --time",
		.group = GROUP_INPUT,
		.commands = COMMAND_REPORT,
		.complete = COMPLETE_FILE,
		.parse = parse_text,
		.offset = FIELD(slabinfo),
	},
	{
		.long_name = "by",
		.argument = "FIELD,...",
		.help = "a table of groups with the same value of these fields; \"help\" lists them",
		.group = GROUP_ROWS,
		.commands = COMMAND_REPORT | COMMAND_TIMELINE | COMMAND_MERGE,
		.complete = COMPLETE_KEYS,
		.parse = parse_list,
		.offset = FIELD(by),
	},
	{
		.long_name = "by",
		.argument = "FIELD,...",
		.help = "what is compared: site, function, module, cache, or groups of several fields (default: "
			"site); \"help\" lists them",
		.group = GROUP_ROWS,
		.commands = COMMAND_COMPARE,
		.complete = COMPLETE_KEYS,
		.parse = parse_list,
		.offset = FIELD(by),
	},
	{
		.long_name = "metric",
		.argument = "NAME",
		.help = "by which number: live, peak, allocated, waste, count, survivors, or any that \"help\" lists "
			"(default: live)",
		.group = GROUP_ROWS,
		.commands = COMMAND_COMPARE,
		.complete = COMPLETE_KEYS,
		.parse = parse_text,
		.offset = FIELD(metric),
	},
	{
		.long_name = "per",
		.argument = "WHAT",
		.help = "divide all numbers by the seconds of the recording, or by its allocation events",
		.group = GROUP_ROWS,
		.commands = COMMAND_COMPARE,
		.complete = COMPLETE_WORDS,
		.words = "second event",
		.parse = parse_per,
	},
	{
		.long_name = "ops",
		.argument = "N[,M]",
		.help = "divide all numbers by N, the operations that the workload did (M: those of the new ones)",
		.group = GROUP_ROWS,
		.commands = COMMAND_COMPARE,
		.parse = parse_ops,
	},
	{
		.short_name = 's',
		.long_name = "sort",
		.argument = "[+|-]KEY,...",
		.help = "order of the rows, + ascending, - descending (default: numbers descending, names "
			"ascending); \"help\" lists the keys",
		.group = GROUP_ROWS,
		.commands = COMMAND_REPORT | COMMAND_OBJECTS | COMMAND_TIMELINE,
		.complete = COMPLETE_KEYS,
		.parse = parse_list,
		.offset = FIELD(sort),
	},
	{
		.short_name = 'n',
		.long_name = "limit",
		.argument = "N",
		.help = "at most N rows, 0 for all (default: tables show what fits, JSON and CSV all)",
		.group = GROUP_ROWS,
		.commands = COMMAND_REPORT | COMMAND_OBJECTS | COMMAND_LEAKS | COMMANDS_RUNS,
		.parse = parse_limit,
	},
	{
		.short_name = 'n',
		.long_name = "limit",
		.argument = "N",
		.help = "at most N rows, 0 for all (default: 10 in a table, 20 in JSON and CSV)",
		.group = GROUP_ROWS,
		.commands = COMMAND_TIMELINE,
		.parse = parse_limit,
	},
	{
		.long_name = "points",
		.argument = "N",
		.help = "at most N intervals, 2 to 65,536 (default: 512)",
		.group = GROUP_ROWS,
		.commands = COMMAND_TIMELINE,
		.parse = parse_points,
	},
	{
		.short_name = 'n',
		.long_name = "limit",
		.argument = "N",
		.help = "only the first N of the events, 0 for all (default: all)",
		.group = GROUP_ROWS,
		.commands = COMMAND_EVENTS,
		.parse = parse_limit,
	},
	{
		.short_name = 'l',
		.long_name = "line",
		.argument = "N",
		.help = "the same as --limit, as perf kmem spells it",
		.group = GROUP_ROWS,
		.commands = COMMANDS_TABLE | COMMANDS_RUNS,
		.parse = parse_limit,
	},
	{
		.short_name = 'F',
		.long_name = "fields",
		.argument = "KEY,...",
		.help = "these columns, in this order; \"help\" lists them",
		.group = GROUP_ROWS,
		.commands = COMMANDS_TABLE,
		.complete = COMPLETE_KEYS,
		.parse = parse_list,
		.offset = FIELD(fields),
	},
	{
		.long_name = "detail",
		.help = "all about the sites that --site or --function chose: lifetimes, sizes, tasks, and who "
			"freed their objects",
		.group = GROUP_ROWS,
		.commands = COMMAND_REPORT,
		.parse = parse_flag,
		.offset = FIELD(detail),
	},
	{
		.long_name = "raw-ip",
		.help = "call sites as addresses, without their names",
		.group = GROUP_ROWS,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.parse = parse_flag,
		.offset = FIELD(raw_ip),
	},
	{
		.long_name = "cache",
		.argument = "GLOB,...",
		.help = "allocations from these slab caches",
		.group = GROUP_FILTERS,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.parse = parse_patterns,
		.offset = FIELD(filter.cache),
	},
	{
		.long_name = "site",
		.argument = "GLOB,...",
		.help = "by these call sites, as they are shown: function+0x1f [module]",
		.group = GROUP_FILTERS,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.parse = parse_patterns,
		.offset = FIELD(filter.site),
	},
	{
		.long_name = "function",
		.argument = "GLOB,...",
		.help = "by call sites in these functions",
		.group = GROUP_FILTERS,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.parse = parse_patterns,
		.offset = FIELD(filter.function),
	},
	{
		.long_name = "module",
		.argument = "GLOB,...",
		.help = "by call sites in these modules",
		.group = GROUP_FILTERS,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.parse = parse_patterns,
		.offset = FIELD(filter.module),
	},
	{
		.long_name = "comm",
		.argument = "GLOB,...",
		.help = "by tasks of these names",
		.group = GROUP_FILTERS,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.parse = parse_patterns,
		.offset = FIELD(filter.comm),
	},
	{
		.long_name = "pid",
		.argument = "LIST",
		.help = "by tasks of these numbers, such as 1,200-299",
		.group = GROUP_FILTERS,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.parse = parse_natural_ranges,
		.offset = FIELD(filter.pid),
	},
	{
		.short_name = 'C',
		.long_name = "cpu",
		.argument = "LIST",
		.help = "made on these CPUs, such as 0,2-4",
		.group = GROUP_FILTERS,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.parse = parse_natural_ranges,
		.offset = FIELD(filter.cpu),
	},
	{
		.long_name = "node",
		.argument = "LIST",
		.help = "that asked for these NUMA nodes, -1 being any node",
		.group = GROUP_FILTERS,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.parse = parse_ranges,
		.offset = FIELD(filter.node),
	},
	{
		.long_name = "gfp",
		.argument = "FLAG,...",
		.help = "with these gfp flags, as names (GFP_KERNEL, __GFP_ACCOUNT), globs or hex masks",
		.group = GROUP_FILTERS,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.parse = parse_gfp,
		.offset = FIELD(filter.gfp),
	},
	{
		.long_name = "min-age",
		.argument = "TIME",
		.help = "made at least this long before the end: 100us, 5ms, 1.5s, 3m, 1h",
		.group = GROUP_FILTERS,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.parse = parse_min_age,
	},
	{
		.long_name = "min-size",
		.argument = "SIZE",
		.help = "of at least this many bytes given: 512, 4K, 1M",
		.group = GROUP_FILTERS,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.parse = parse_size,
		.offset = FIELD(filter.min_size_bytes),
	},
	{
		.long_name = "time",
		.argument = "A,B",
		.help = "made from A on and before B; each may be empty, seconds of the trace clock, +seconds "
			"from the first event, N% of the trace, or @TEXT: the first marker with TEXT in it",
		.group = GROUP_FILTERS,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.parse = parse_time,
	},
	{
		.long_name = "ptr",
		.argument = "P",
		.help = "only events of the object at this address, in hex",
		.group = GROUP_FILTERS,
		.commands = COMMAND_EVENTS,
		.parse = parse_ptr,
	},
	{
		.long_name = "fail-on",
		.argument = "RULE",
		.help = "exit with 1 if a number is over a limit: 'live_bytes>10M', 'cache:dentry:peak_live_bytes>1M', "
			"in "
			"quotes; may be given again",
		.group = GROUP_RULES,
		.commands = COMMAND_REPORT | COMMAND_LEAKS,
		.parse = parse_another,
		.offset = FIELD(fail_on),
	},
	{
		.long_name = "fail-on",
		.argument = "RULE",
		.help = "exit with 1 if a number is over a limit, or has grown by more: 'live_bytes>+5%,+64K', in "
			"quotes; "
			"may be given again",
		.group = GROUP_RULES,
		.commands = COMMAND_COMPARE,
		.parse = parse_another,
		.offset = FIELD(fail_on),
	},
	{
		.long_name = "rules",
		.argument = "FILE",
		.help = "rules for --fail-on from FILE, one a line, # begins a comment line",
		.group = GROUP_RULES,
		.commands = COMMANDS_GATED,
		.complete = COMPLETE_FILE,
		.parse = parse_another,
		.offset = FIELD(rules),
	},
	{
		.long_name = "suppress",
		.argument = "FILE",
		.help = "what rules shall not judge, from FILE: site:, function:, module: or cache:GLOB [max=SIZE] "
			"REASON, "
			"one a line",
		.group = GROUP_RULES,
		.commands = COMMANDS_GATED,
		.complete = COMPLETE_FILE,
		.parse = parse_another,
		.offset = FIELD(suppress),
	},
	{
		.long_name = "exit-zero",
		.help = "exit with 0 whatever rules come to, for jobs that only advise",
		.group = GROUP_RULES,
		.commands = COMMANDS_GATED,
		.parse = parse_flag,
		.offset = FIELD(exit_zero),
	},
	{
		.long_name = "objects",
		.argument = "N|auto",
		.help = "room for exactly N objects, such as 64K, or enlarged when needed (default: auto)",
		.group = GROUP_TABLE,
		.commands = COMMANDS_TABLE | COMMANDS_RUNS,
		.complete = COMPLETE_WORDS,
		.words = "auto",
		.parse = parse_objects,
	},
	{
		.long_name = "when-full",
		.argument = "WHAT",
		.help = "what a full table does: drop leaves out what does not fit, sample goes on with half of the "
			"addresses and shows estimates (default: drop)",
		.group = GROUP_TABLE,
		.commands = COMMAND_REPORT | COMMAND_OBJECTS | COMMAND_TIMELINE | COMMAND_EVENTS,
		.complete = COMPLETE_WORDS,
		.words = "drop sample",
		.parse = parse_when_full,
	},
	{
		.long_name = "max-memory",
		.argument = "SIZE",
		.help = "how far --objects auto may enlarge the table (default: a quarter of the memory, at most 4G)",
		.group = GROUP_TABLE,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.parse = parse_max_memory,
	},
	{
		.long_name = "threads",
		.argument = "N",
		.help = "read with N threads; the output is the same for any number (default: as many as CPUs)",
		.group = GROUP_TABLE,
		.commands = COMMANDS_TRACE | COMMANDS_RUNS,
		.parse = parse_threads,
	},
	{
		.long_name = "reorder-window",
		.argument = "TIME",
		.help = "how far events of two CPUs may stand the wrong way round (default: by clock and kernel)",
		.group = GROUP_TABLE,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.parse = parse_reorder_window,
	},
	{
		.long_name = "on-loss",
		.argument = "WHAT",
		.help = "what lost events do to live objects: taint marks them uncertain, keep does nothing, reset "
			"forgets "
			"them (default: taint)",
		.group = GROUP_TABLE,
		.commands = COMMANDS_REPLAY | COMMANDS_RUNS,
		.complete = COMPLETE_WORDS,
		.words = "taint keep reset",
		.parse = parse_on_loss,
	},
	{
		.long_name = "format",
		.argument = "FORMAT",
		.help = "table, json, csv, markdown for a comment on a merge request, or junit: rules as tests "
			"(default: table)",
		.group = GROUP_OUTPUT,
		.commands = COMMANDS_GATED,
		.complete = COMPLETE_WORDS,
		.words = "table json csv markdown junit",
		.parse = parse_format,
	},
	{
		.long_name = "format",
		.argument = "FORMAT",
		.help = "table, json or csv (default: table)",
		.group = GROUP_OUTPUT,
		.commands = (COMMANDS_TRACE | COMMANDS_RUNS) & ~COMMANDS_GATED,
		.complete = COMPLETE_WORDS,
		.words = "table json csv",
		.parse = parse_format,
	},
	{
		.long_name = "json",
		.help = "the same as --format json",
		.group = GROUP_OUTPUT,
		.commands = COMMANDS_TRACE | COMMANDS_RUNS,
		.parse = parse_json,
	},
	{
		.short_name = 'o',
		.long_name = "output",
		.argument = "FILE",
		.help = "write to FILE instead of standard output",
		.group = GROUP_OUTPUT,
		.commands = COMMANDS_TRACE | COMMANDS_RUNS,
		.complete = COMPLETE_FILE,
		.parse = parse_text,
		.offset = FIELD(output),
	},
	{
		.long_name = "color",
		.argument = "WHEN",
		.is_optional = true,
		.help = "auto, always or never (default: auto; without WHEN: always)",
		.group = GROUP_OUTPUT,
		.commands = COMMANDS_TRACE | COMMANDS_RUNS,
		.complete = COMPLETE_WORDS,
		.words = "auto always never",
		.parse = parse_colour,
	},
	{
		.long_name = "no-pager",
		.help = "write to the terminal without a pager",
		.group = GROUP_OUTPUT,
		.commands = COMMANDS_TRACE | COMMANDS_RUNS,
		.parse = parse_flag,
		.offset = FIELD(no_pager),
	},
	{
		.short_name = 'q',
		.long_name = "quiet",
		.help = "no warnings and no progress on standard error",
		.group = GROUP_OUTPUT,
		.commands = COMMANDS_TRACE | COMMANDS_RUNS,
		.parse = parse_quiet,
	},
	{
		.short_name = 'v',
		.long_name = "verbose",
		.help = "tell more of the health",
		.group = GROUP_OUTPUT,
		.commands = COMMAND_REPORT | COMMAND_OBJECTS | COMMAND_LEAKS | COMMAND_TIMELINE | COMMAND_SIZE,
		.parse = parse_verbose,
	},
	{
		.short_name = 'h',
		.long_name = "help",
		.help = "print this help",
		.group = GROUP_OTHER,
		.commands = COMMANDS_ALL,
		.parse = parse_flag,
		.offset = FIELD(help),
	},
	{
		.short_name = 'V',
		.long_name = "version",
		.help = "print the version",
		.group = GROUP_OTHER,
		.commands = COMMANDS_ALL,
		.parse = parse_flag,
		.offset = FIELD(version),
	},
	{ .long_name = NULL },
};

_Static_assert(sizeof(option_rows) / sizeof(option_rows[0]) <= OPTION_ROWS_LIMIT, "OPTION_ROWS_LIMIT is too small");
