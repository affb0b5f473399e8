/* SPDX-License-Identifier: GPL-2.0-only */
#include "help.h"

#include <string.h>

/* Where the second column begins: of options, of commands. */
#define OPTION_INDENT  28
#define COMMAND_INDENT 14

static const char *const group_titles[GROUPS_COUNT] = {
	[GROUP_INPUT] = "Input",
	[GROUP_ROWS] = "Rows and columns",
	[GROUP_FILTERS] = "Filters (they choose allocations; a name or number behind ! is left out)",
	[GROUP_RULES] = "Rules (exit status 1: a limit was exceeded, 3: the data can not tell)",
	[GROUP_TABLE] = "The table of objects",
	[GROUP_OUTPUT] = "Output",
	[GROUP_OTHER] = "Other",
};

static const char *operand_name(enum operand_kind kind)
{
	switch (kind) {
	case OPERAND_FILE:
		return " [FILE [PIECE...]]";
	case OPERAND_FILES:
		return " FILE...";
	case OPERAND_COMMAND:
		return " [COMMAND]";
	case OPERAND_NONE:
		break;
	}
	return "";
}

/* The line is at column `indent`, where the lines after it begin too. Ends the line. */
static void print_wrapped(FILE *stream, size_t indent, const char *text)
{
	size_t column = indent;

	while (*text) {
		size_t length = strcspn(text, " ");

		if (column > indent && column + 1 + length > HELP_COLUMNS) {
			fprintf(stream, "\n%*s", (int)indent, "");
			column = indent;
		}
		if (column > indent) {
			fputc(' ', stream);
			column++;
		}
		fprintf(stream, "%.*s", (int)length, text);
		column += length;
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', stream);
}

/* The second column; a name of `length` columns is on the line already. */
static void print_explanation(FILE *stream, size_t length, size_t indent, const char *text)
{
	/* Two blanks between the columns, else the name has a line of its own. */
	if (length + 2 > indent) {
		fputc('\n', stream);
		length = 0;
	}
	fprintf(stream, "%*s", (int)(indent - length), "");
	print_wrapped(stream, indent, text);
}

static void print_option(FILE *stream, const struct option_row *row)
{
	char name[HELP_COLUMNS];
	int length;

	length = snprintf(name, sizeof(name), "  %c%c%c --%s%s%s%s", row->short_name ? '-' : ' ',
			  row->short_name ? row->short_name : ' ', row->short_name ? ',' : ' ', row->long_name,
			  !row->argument     ? ""
			  : row->is_optional ? "[="
					     : " ",
			  row->argument ? row->argument : "", row->is_optional ? "]" : "");
	fputs(name, stream);
	print_explanation(stream, (size_t)length, OPTION_INDENT, row->help);
}

static void print_usage(FILE *stream, const struct command_row *command)
{
	fprintf(stream, "Usage: kmstat %s [OPTION...]%s\n", command->name, operand_name(command->operand));
	if (command->is_default)
		fprintf(stream, "       kmstat [OPTION...]%s\n", operand_name(command->operand));
}

void help_print(FILE *stream, enum command_id id)
{
	const struct command_row *command = command_get(id);
	char summary[256];

	print_usage(stream, command);
	fputc('\n', stream);
	snprintf(summary, sizeof(summary), "kmstat %s: %s.", command->name, command->summary);
	print_wrapped(stream, 0, summary);
	for (unsigned group = 0; group < GROUPS_COUNT; group++) {
		bool has_title = false;

		for (const struct option_row *row = option_rows; row->long_name; row++) {
			if (row->group != group || !(row->commands & id))
				continue;
			if (!has_title)
				fprintf(stream, "\n%s:\n", group_titles[group]);
			has_title = true;
			print_option(stream, row);
		}
	}
}

void help_overview(FILE *stream)
{
	fputs("Usage: kmstat COMMAND [OPTION...] [FILE]\n", stream);
	fprintf(stream, "       kmstat [OPTION...] [FILE]      the same as \"kmstat %s\"\n", command_default()->name);
	fputs("\nAnalyses recordings of kernel memory allocations (trace-cmd record -e kmem).\n\nCommands:\n", stream);
	for (const struct command_row *row = command_rows; row->name; row++) {
		fprintf(stream, "  %s", row->name);
		print_explanation(stream, 2 + strlen(row->name), COMMAND_INDENT, row->summary);
	}
	fputs("\n\"kmstat help COMMAND\" or \"kmstat COMMAND --help\" lists a command's options.\n", stream);
}

/*
 * The script. What differs between commands and options is written from the
 * tables as two case statements, one for the words that may be completed and
 * one for the kinds of arguments; the rest is the text below.
 *
 * bash hands "--format=js" over as three words, since '=' is a word break
 * by default; the script puts them together again.
 */
static const char completion_head[] =
	"# bash completion for kmstat -*- shell-script -*-\n"
	"# Made by \"kmstat completion\" from its tables of commands and options.\n"
	"\n"
	"_kmstat()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} option='' joined='' IFS=$' \\t\\n'\n"
	"\tlocal command commands options kind='' words='' operand='file' start='' i line\n"
	"\tCOMPREPLY=()\n"
	"\n"
	"\t# The option whose argument is completed, if it is one; joined: by '='.\n"
	"\tif [[ $cur == '=' ]] && ((COMP_CWORD > 1)); then\n"
	"\t\toption=${COMP_WORDS[COMP_CWORD-1]} joined=1 cur=\n"
	"\telif ((COMP_CWORD > 2)) && [[ ${COMP_WORDS[COMP_CWORD-1]} == '=' ]]; then\n"
	"\t\toption=${COMP_WORDS[COMP_CWORD-2]} joined=1\n"
	"\telif [[ $cur == --*=* ]]; then\n"
	"\t\toption=${cur%%=*} start=${cur%%=*}= joined=1 cur=${cur#*=}\n"
	"\telif ((COMP_CWORD > 1)); then\n"
	"\t\toption=${COMP_WORDS[COMP_CWORD-1]}\n"
	"\tfi\n"
	"\t# Behind \"--\" there are operands only.\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
	"\t\t\toption=--\n"
	"\t\tfi\n"
	"\tdone\n"
	"\n";

/*
 * A list of keys is what the command itself prints, so that it can not be
 * out of date; the command is the one that is being completed, as typed.
 */
static const char completion_tail[] =
	"\n"
	"\tcase $kind in\n"
	"\tfile)\n"
	"\t\tcompopt -o default 2>/dev/null\n"
	"\t\treturn\n"
	"\t\t;;\n"
	"\tnone)\n"
	"\t\treturn\n"
	"\t\t;;\n"
	"\tkeys)\n"
	"\t\twords=help\n"
	"\t\twhile read -r line _; do\n"
	"\t\t\tif [[ $line =~ ^[a-z][a-z0-9_.]*$ ]]; then\n"
	"\t\t\t\twords+=\" $line\"\n"
	"\t\t\tfi\n"
	"\t\tdone < <(\"${1/#~\\//$HOME/}\" \"$command\" \"$option\" help 2>/dev/null </dev/null)\n"
	"\t\tif [[ $cur == *,* ]]; then\n"
	"\t\t\tstart+=${cur%,*}, cur=${cur##*,}\n"
	"\t\tfi\n"
	"\t\tif [[ $cur == [+-]* ]]; then\n"
	"\t\t\tstart+=${cur:0:1} cur=${cur:1}\n"
	"\t\tfi\n"
	"\t\tcompopt -o nospace 2>/dev/null\n"
	"\t\t;;\n"
	"\twords) ;;\n"
	"\t*)\n"
	"\t\tif [[ $option == -- ]]; then\n"
	"\t\t\twords=\n"
	"\t\telif [[ $cur == -* ]]; then\n"
	"\t\t\twords=$options\n"
	"\t\telif ((COMP_CWORD == 1)) || [[ $operand == command ]]; then\n"
	"\t\t\twords=$commands\n"
	"\t\tfi\n"
	"\t\tif [[ $operand == file && $cur != -* ]]; then\n"
	"\t\t\tcompopt -o default 2>/dev/null\n"
	"\t\tfi\n"
	"\t\t;;\n"
	"\tesac\n"
	"\tfor line in $words; do\n"
	"\t\tif [[ $line == \"$cur\"* ]]; then\n"
	"\t\t\tCOMPREPLY+=(\"$start$line\")\n"
	"\t\tfi\n"
	"\tdone\n"
	"}\n"
	"\n"
	"complete -F _kmstat kmstat\n";

static const char *kind_name(enum option_complete complete)
{
	switch (complete) {
	case COMPLETE_FILE:
		return "file";
	case COMPLETE_WORDS:
		return "words";
	case COMPLETE_KEYS:
		return "keys";
	case COMPLETE_NONE:
		break;
	}
	return "none";
}

/* "-i | --input | 1--input) kind=file ;;" */
static void complete_argument(FILE *stream, const struct option_row *row)
{
	fputs("\t\t", stream);
	/* joined and option in one word: an argument that may be left out is always joined. */
	if (row->short_name && !row->is_optional)
		fprintf(stream, "-%c | ", row->short_name);
	if (!row->is_optional)
		fprintf(stream, "--%s | ", row->long_name);
	fprintf(stream, "1--%s)", row->long_name);
	fprintf(stream, " kind='%s'", kind_name(row->complete));
	if (row->complete == COMPLETE_WORDS)
		fprintf(stream, " words='%s'", row->words);
	fputs(" ;;\n", stream);
}

static void complete_command(FILE *stream, const struct command_row *command)
{
	const char *operand = command->operand == OPERAND_FILE || command->operand == OPERAND_FILES ? "file"
			      : command->operand == OPERAND_COMMAND                                 ? "command"
												    : "none";

	fprintf(stream, "\t%s)\n\t\toperand='%s'\n\t\toptions='", command->name, operand);
	for (const struct option_row *row = option_rows; row->long_name; row++) {
		if (row->commands & command->id)
			fprintf(stream, " --%s", row->long_name);
	}
	fputs("'\n\t\tcase $joined$option in\n", stream);
	for (const struct option_row *row = option_rows; row->long_name; row++) {
		if (row->commands & command->id && row->argument)
			complete_argument(stream, row);
	}
	fputs("\t\tesac\n\t\t;;\n", stream);
}

void help_completion(FILE *stream)
{
	fputs(completion_head, stream);
	fputs("\tcommands='", stream);
	for (const struct command_row *row = command_rows; row->name; row++)
		fprintf(stream, "%s%s", row == command_rows ? "" : " ", row->name);
	fputs("'\n", stream);
	/* The command is the first word or the default. */
	fprintf(stream,
		"\tcommand=%s\n"
		"\tif ((COMP_CWORD > 1)) && [[ \" $commands \" == *\" ${COMP_WORDS[1]} \"* ]]; then\n"
		"\t\tcommand=${COMP_WORDS[1]}\n"
		"\tfi\n"
		"\tcase $command in\n",
		command_default()->name);
	for (const struct command_row *row = command_rows; row->name; row++)
		complete_command(stream, row);
	fputs("\tesac\n", stream);
	fputs(completion_tail, stream);
}
