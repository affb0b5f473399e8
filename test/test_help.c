/* SPDX-License-Identifier: GPL-2.0-only */
#include "../cmd/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

static void print_overview(FILE *stream, enum command_id command)
{
	(void)command;
	help_overview(stream);
}

/* What is printed, to be freed. */
static char *capture(void (*print)(FILE *stream, enum command_id command), enum command_id command)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	ck_assert_ptr_nonnull(stream);
	print(stream, command);
	ck_assert_int_eq(fclose(stream), 0);
	return text;
}

static void expect_narrow(const char *text)
{
	ck_assert_uint_gt(strlen(text), 0);
	while (*text) {
		size_t length = strcspn(text, "\n");

		ck_assert_msg(text[length] == '\n', "the last line has no end");
		ck_assert_msg(length <= HELP_COLUMNS, "%zu columns: %.*s", length, (int)length, text);
		ck_assert_msg(length == 0 || text[length - 1] != ' ', "blank at the end: %.*s", (int)length, text);
		text += length + 1;
	}
}

static bool takes(enum command_id command, const char *long_name)
{
	for (const struct option_row *row = option_rows; row->long_name; row++) {
		if (row->commands & command && strcmp(row->long_name, long_name) == 0)
			return true;
	}
	return false;
}

START_TEST(help_of_each_command)
{
	for (const struct command_row *command = command_rows; command->name; command++) {
		char *text = capture(help_print, command->id);

		expect_narrow(text);
		for (const struct option_row *row = option_rows; row->long_name; row++) {
			char name[64];

			/* Where nothing else can be meant: behind "-x, " or "    ". */
			snprintf(name, sizeof(name), "\n  %s%c%s --%s%c", row->short_name ? "-" : " ",
				 row->short_name ? row->short_name : ' ', row->short_name ? "," : " ", row->long_name,
				 row->is_optional ? '[' : ' ');
			ck_assert_msg(takes(command->id, row->long_name) == (strstr(text, name) != NULL), "%s: %s",
				      command->name, name);
		}
		free(text);
	}
}
END_TEST

START_TEST(help_is_laid_out)
{
	char *text = capture(help_print, COMMAND_INFO);

	ck_assert_int_eq(strncmp(text, "Usage: kmstat info [OPTION...] [FILE [PIECE...]]\n", 49), 0);
	ck_assert_ptr_nonnull(strstr(text, "\nOutput:\n      --format FORMAT       table, json or csv"));
	ck_assert_ptr_nonnull(strstr(text, "\n  -o, --output FILE         write to FILE"));
	ck_assert_ptr_nonnull(strstr(text, "      --color[=WHEN]        auto"));
	/* A group without a row has no heading. */
	ck_assert_ptr_null(strstr(text, "Filters"));
	free(text);
}
END_TEST

START_TEST(overview)
{
	char *text = capture(print_overview, COMMAND_HELP);

	expect_narrow(text);
	for (const struct command_row *row = command_rows; row->name; row++) {
		char name[64];

		snprintf(name, sizeof(name), "\n  %s ", row->name);
		ck_assert_msg(strstr(text, name) != NULL, "%s", row->name);
	}
	free(text);
}
END_TEST

/* What takes the place of bash's completion: prints "{what compopt got} the answers". */
static const char driver[] = "kmstat() { printf '%s\\n' 'live_bytes  held now' 'live_count  objects' "
			     "\"allocs_count  of $*\" 'Keys: none'; }\n"
			     "compopt() { printf '{%s} ' \"$*\"; }\n"
			     "try() {\n"
			     "	COMP_WORDS=(\"$@\")\n"
			     "	COMP_CWORD=$(($# - 1))\n"
			     "	_kmstat kmstat \"${COMP_WORDS[COMP_CWORD]}\"\n"
			     "	echo \"${COMPREPLY[*]}\"\n"
			     "}\n";

/* Source the script in a plain bash and complete the last of the words, shell syntax. */
static void expect_completed(const char *words, const char *expected)
{
	char path[] = "/tmp/kmstat-test-XXXXXX", command[64], line[4096] = "";
	int fd = mkstemp(path);
	FILE *stream;

	ck_assert_int_ge(fd, 0);
	stream = fdopen(fd, "w");
	ck_assert_ptr_nonnull(stream);
	fputs("set -u\nIFS=:\n", stream);
	help_completion(stream);
	fprintf(stream, "IFS=' '\n%stry kmstat %s\n", driver, words);
	ck_assert_int_eq(fclose(stream), 0);

	snprintf(command, sizeof(command), "bash --norc --noprofile %s 2>&1", path);
	stream = popen(command, "r");
	ck_assert_ptr_nonnull(stream);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), stream));
	line[strcspn(line, "\n")] = '\0';
	ck_assert_int_eq(pclose(stream), 0);
	unlink(path);
	ck_assert_msg(strcmp(line, expected) == 0, "%s: \"%s\", not \"%s\"", words, line, expected);
}

START_TEST(completes_commands)
{
	expect_completed("rep", "{-o default} report");
	expect_completed("''",
			 "{-o default} report compare objects leaks timeline events size info merge completion help");
	/* bash completes a file where there is no answer. */
	expect_completed("trace", "{-o default} ");
	expect_completed("help ev", "events");
	expect_completed("completion ''", "");
}
END_TEST

START_TEST(completes_options)
{
	expect_completed("report --max", "--max-memory");
	expect_completed("events --pt", "--ptr");
	expect_completed("report --pt", "");
	/* The default command's. */
	expect_completed("--det", "--detail");
	expect_completed("trace.dat --det", "--detail");
	expect_completed("info --ca", "");
	expect_completed("help --v", "--version");
	expect_completed("report -- --max", "");
}
END_TEST

START_TEST(completes_files)
{
	expect_completed("report tr", "{-o default} ");
	expect_completed("report --input tr", "{-o default} ");
	expect_completed("report -o ''", "{-o default} ");
	expect_completed("report --kallsyms = x", "{-o default} ");
	expect_completed("report --kallsyms =", "{-o default} ");
	expect_completed("report -- tr", "{-o default} ");
	/* Free text. */
	expect_completed("report --cache tr", "");
}
END_TEST

START_TEST(completes_words)
{
	expect_completed("report --format ''", "table json csv markdown junit");
	expect_completed("report --format j", "json junit");
	/* As bash takes --format=j apart, */
	expect_completed("report --format = j", "json junit");
	expect_completed("report --format =", "table json csv markdown junit");
	/* and if '=' is not in COMP_WORDBREAKS. */
	expect_completed("report --format=j", "--format=json --format=junit");
	/* An optional argument is joined or is none. */
	expect_completed("report --color = a", "auto always");
	expect_completed("report --color a", "{-o default} ");
	expect_completed("objects --objects a", "auto");
	/* Not mistaken for an option's argument behind a command that does not have it. */
	expect_completed("info --objects a", "{-o default} ");
}
END_TEST

START_TEST(completes_keys)
{
	expect_completed("report --sort ''", "{-o nospace} help live_bytes live_count allocs_count");
	expect_completed("report -s live_c", "{-o nospace} live_count");
	expect_completed("report -s -live_c", "{-o nospace} -live_count");
	expect_completed("report -s allocs_count,+live_c", "{-o nospace} allocs_count,+live_count");
	expect_completed("report --fields = live_b", "{-o nospace} live_bytes");
	expect_completed("report --sort=a,live_c", "{-o nospace} --sort=a,live_count");
	expect_completed("events -s live", "{-o default} ");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		help_of_each_command, help_is_laid_out,  overview,
		completes_commands,   completes_options, completes_files,
		completes_words,      completes_keys,    NULL,
	};

	return km_test_main("help", tests, 30);
}
