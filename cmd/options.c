/* SPDX-License-Identifier: GPL-2.0-only */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct command_row *command_find(const char *name)
{
	for (const struct command_row *row = command_rows; row->name; row++) {
		if (strcmp(row->name, name) == 0 || (row->alias && strcmp(row->alias, name) == 0))
			return row;
	}
	return NULL;
}

const struct command_row *command_get(enum command_id id)
{
	for (const struct command_row *row = command_rows; row->name; row++) {
		if (row->id == id)
			return row;
	}
	return NULL;
}

const struct command_row *command_default(void)
{
	const struct command_row *row = command_rows;

	while (row->name && !row->is_default)
		row++;
	return row;
}

/* getopt_long() gives the row of a long option as this plus its index: no short option is that large. */
#define LONG_CODE 256

/* What getopt_long() wants, made from the rows of one command. */
struct walk {
	enum command_id command;
	struct option longs[OPTION_ROWS_LIMIT + 1];
	char shorts[2 + 3 * OPTION_ROWS_LIMIT + 1];
};

static void walk_init(struct walk *walk, enum command_id command)
{
	size_t longs = 0, shorts = 0;

	*walk = (struct walk){ .command = command };
	/* '-': operands come in their order, as code 1; ':': no messages, a missing argument has a code of its own. */
	walk->shorts[shorts++] = '-';
	walk->shorts[shorts++] = ':';
	for (size_t i = 0; option_rows[i].long_name; i++) {
		const struct option_row *row = &option_rows[i];

		if (!(row->commands & command))
			continue;
		walk->longs[longs++] = (struct option){
			.name = row->long_name,
			.has_arg = !row->argument     ? no_argument
				   : row->is_optional ? optional_argument
						      : required_argument,
			.val = LONG_CODE + (int)i,
		};
		if (!row->short_name)
			continue;
		walk->shorts[shorts++] = row->short_name;
		if (row->argument)
			walk->shorts[shorts++] = ':';
		if (row->argument && row->is_optional)
			walk->shorts[shorts++] = ':';
	}
}

/* NULL: not an option of the command. */
static const struct option_row *row_of_code(const struct walk *walk, int code)
{
	if (code >= LONG_CODE)
		return &option_rows[code - LONG_CODE];
	for (const struct option_row *row = option_rows; code && row->long_name; row++) {
		if (row->short_name == code && row->commands & walk->command)
			return row;
	}
	return NULL;
}

/* Append to a text of fixed size; what does not fit is cut. */
static void append(char *text, size_t bytes, const char *more)
{
	size_t length = strlen(text);

	snprintf(text + length, bytes - length, "%s", more);
}

/* "report, objects and events": those that take a long name or (if not 0) a short one; "" if there is none. */
static void list_takers(const char *name, size_t length, char short_name, char *text, size_t bytes)
{
	unsigned takers = 0;

	for (const struct option_row *row = option_rows; row->long_name; row++) {
		bool is_meant = strlen(row->long_name) == length && memcmp(row->long_name, name, length) == 0;

		if (is_meant || (short_name && row->short_name == short_name))
			takers |= row->commands;
	}
	text[0] = '\0';
	for (const struct command_row *row = command_rows; row->name; row++) {
		if (!(takers & row->id))
			continue;
		takers &= ~(unsigned)row->id;
		if (text[0])
			append(text, bytes, takers ? ", " : " and ");
		append(text, bytes, row->name);
	}
}

static int refuse_unknown(const struct walk *walk, const char *option, const char *takers, struct km_error *error)
{
	const char *command = command_get(walk->command)->name;

	if (takers[0])
		return km_error_set(error, -EINVAL, "%s: not an option of \"kmstat %s\"; it is one of %s", option,
				    command, takers);
	return km_error_set(error, -EINVAL, "%s: no such option; \"kmstat %s --help\" lists those there are", option,
			    command);
}

/* "--nam=value" that getopt_long() knows nothing or too much of. */
static int refuse_long(const struct walk *walk, const char *word, struct km_error *error)
{
	size_t length = strcspn(word + 2, "=");
	char option[96], text[256] = "";
	size_t matches = 0;

	snprintf(option, sizeof(option), "--%.*s", length < 80 ? (int)length : 80, word + 2);
	/* "--=x" begins every name. */
	for (const struct option *o = walk->longs; length && o->name; o++) {
		if (strncmp(o->name, word + 2, length) != 0)
			continue;
		append(text, sizeof(text), matches++ ? ", --" : "--");
		append(text, sizeof(text), o->name);
	}
	if (matches > 1)
		return km_error_set(error, -EINVAL, "%s: could be any of %s", option, text);
	list_takers(word + 2, length, 0, text, sizeof(text));
	return refuse_unknown(walk, option, text, error);
}

/* What getopt_long() answered with '?' while it was at `word`. */
static int refuse(const struct walk *walk, int code, const char *word, struct km_error *error)
{
	const struct option_row *row = row_of_code(walk, code);
	char option[96], takers[256];

	if (row)
		return km_error_set(error, -EINVAL, "--%s: takes no argument, but has \"%.80s\"", row->long_name,
				    word + strcspn(word, "=") + (strchr(word, '=') != NULL));
	if (strncmp(word, "--", 2) == 0)
		return refuse_long(walk, word, error);
	if (code > ' ' && code <= '~')
		snprintf(option, sizeof(option), "-%c", code);
	else
		snprintf(option, sizeof(option), "%.80s", word);
	list_takers("", 0, (char)code, takers, sizeof(takers));
	return refuse_unknown(walk, option, takers, error);
}

/* Run a row's parse function; its error text gets the option's name in front. */
static int parse_row(struct options *options, const struct option_row *row, const char *argument,
		     struct km_error *error)
{
	struct km_error inner = { 0 };
	int r;

	r = row->parse(options, row, argument, &inner);
	if (r >= 0)
		return 0;
	/* To the caller a number that is too large is a bad argument like others. */
	if (r != -ENOMEM)
		r = -EINVAL;
	return km_error_set(error, r, "--%s: %s", row->long_name, inner.text);
}

int options_add_text(struct texts *texts, const char *text, struct km_error *error)
{
	const char **larger = reallocarray(texts->items, texts->count + 1, sizeof(*larger));

	if (!larger)
		return km_error_set(error, -ENOMEM, "out of memory");
	texts->items = larger;
	texts->items[texts->count++] = text;
	return 0;
}

static int parse_operand(struct options *options, enum command_id command, const char *operand, struct km_error *error)
{
	const struct command_row *row = command_get(command);

	switch (row->operand) {
	case OPERAND_FILE:
		if (!*operand)
			return km_error_set(error, -EINVAL, "the name of the file to read is empty");
		if (options->input)
			return options_add_text(&options->pieces, operand, error);
		options->input = operand;
		return 0;
	case OPERAND_FILES:
		if (!*operand)
			return km_error_set(error, -EINVAL, "the name of a file to read is empty");
		return options_add_text(&options->inputs, operand, error);
	case OPERAND_COMMAND:
		if (options->topic)
			return km_error_set(error, -EINVAL, "\"%.80s\": \"kmstat %s\" takes one command", operand,
					    row->name);
		if (!command_find(operand))
			return km_error_set(error, -EINVAL,
					    "\"%.80s\": no such command; \"kmstat help\" lists those there are",
					    operand);
		options->topic = operand;
		return 0;
	case OPERAND_NONE:
		break;
	}
	return km_error_set(error, -EINVAL, "\"%.80s\": \"kmstat %s\" takes options only", operand, row->name);
}

void options_init(struct options *options)
{
	*options = (struct options){ .objects_auto = true };
}

int options_parse(struct options *options, enum command_id command, int argc, char **argv, struct km_error *error)
{
	const struct option_row *row;
	struct walk walk;
	int r = 0;

	walk_init(&walk, command);
	/* What is merged is made to be read again. */
	if (command == COMMAND_MERGE)
		options->format = FORMAT_JSON;
	/* 0, unlike 1, also makes getopt_long() forget where it was in an earlier argv. */
	optind = 0;
	opterr = 0;
	while (r == 0 && !options->help && !options->version) {
		/* Nothing is permuted, so this is where the walk is, also in the middle of "-qvx". */
		const char *word = argc > 0 ? argv[optind ? optind : 1] : NULL;
		int code = getopt_long(argc, argv, walk.shorts, walk.longs, NULL);

		if (code == -1)
			break;
		switch (code) {
		case 1:
			r = parse_operand(options, command, optarg, error);
			break;
		case ':':
			row = row_of_code(&walk, optopt);
			r = km_error_set(error, -EINVAL, "--%s: needs an argument, %s", row->long_name, row->argument);
			break;
		case '?':
			r = refuse(&walk, optopt, word, error);
			break;
		default:
			row = row_of_code(&walk, code);
			r = parse_row(options, row, optarg, error);
			break;
		}
	}
	if (r < 0 || options->help || options->version)
		return r;
	/* Behind "--". */
	for (int i = optind; r == 0 && i < argc; i++)
		r = parse_operand(options, command, argv[i], error);
	return r;
}

/* BASE NEW; or --base and NEW...; or one file with two windows. */
static int validate_compare(const struct options *options, struct km_error *error)
{
	size_t inputs = options->inputs.count;
	bool has_windows = options->has_base_time || options->has_new_time;

	if (options->has_ops && options->per != PER_NOTHING)
		return km_error_set(error, -EINVAL, "--ops: numbers are per operation then; --per says something else");
	if (has_windows && (options->filter.has_time || options->base.count))
		return km_error_set(error, -EINVAL, "--base-time, --new-time: not together with %s",
				    options->base.count ? "--base" : "--time");
	if (has_windows && inputs == 1) {
		if (!options->has_base_time || !options->has_new_time)
			return km_error_set(error, -EINVAL,
					    "two windows of one file: both --base-time and --new-time are needed");
		return 0;
	}
	if (options->base.count && !inputs)
		return km_error_set(error, -EINVAL, "--base: compared with what? Name the new files too");
	if (!options->base.count && inputs != 2)
		return km_error_set(
			error, -EINVAL,
			"%zu file%s: give BASE and NEW, or each file of the base with --base and then the new "
			"ones, or one file with --base-time and --new-time",
			inputs, inputs == 1 ? "" : "s");
	return 0;
}

int options_validate(const struct options *options, enum command_id command, struct km_error *error)
{
	if (options->help || options->version)
		return 0;
	if (options->has_max_memory && !options->objects_auto)
		return km_error_set(error, -EINVAL,
				    "--max-memory: bounds --objects auto; a table of --objects N has its size from N");
	if (command != COMMAND_COMPARE && command_get(command)->operand == OPERAND_FILES && !options->inputs.count)
		return km_error_set(error, -EINVAL,
				    "no file named; give traces, or reports saved by `kmstat report --json`");
	if (options->format == FORMAT_JUNIT && !options->fail_on.count && !options->rules.count)
		return km_error_set(error, -EINVAL,
				    "--format junit: shows rules as tests; give some with --fail-on or --rules");
	if (options->suppress.count && !options->fail_on.count && !options->rules.count)
		return km_error_set(error, -EINVAL,
				    "--suppress: keeps rows from rules; give some with --fail-on or --rules");
	if (command == COMMAND_COMPARE)
		return validate_compare(options, error);
	if (options->slabinfo && options->when_full == WHEN_FULL_SAMPLE)
		return km_error_set(
			error, -EINVAL,
			"--slabinfo: needs the cache of every free, which a sample does not know; leave out "
			"--when-full sample");
	if (command != COMMAND_REPORT || !options->detail)
		return 0;
	if (!options->filter.site.count && !options->filter.function.count)
		return km_error_set(error, -EINVAL, "--detail: needs --site or --function, to say of which sites");
	if (options->by)
		return km_error_set(error, -EINVAL, "--detail: shows sites; it can not be had with --by");
	return 0;
}

void options_release(struct options *options)
{
	if (!options)
		return;
	km_filter_release(&options->filter);
	free(options->pieces.items);
	free(options->inputs.items);
	for (unsigned i = 0; i < 2; i++) {
		km_time_point_release(&options->base_time[i]);
		km_time_point_release(&options->new_time[i]);
	}
	free(options->base.items);
	free(options->fail_on.items);
	free(options->rules.items);
	free(options->suppress.items);
	options_init(options);
}
