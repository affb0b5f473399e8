/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmstat: who holds kernel memory, from a recorded trace. This file finds
 * the command, parses its options and turns what came of it into an exit
 * status; each command is a file of its own.
 */
#include <errno.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "help.h"

static const struct {
	enum command_id id;
	int (*run)(const struct options *options, struct km_error *error);
} commands[] = {
	{ COMMAND_REPORT, command_report },     { COMMAND_OBJECTS, command_objects },
	{ COMMAND_LEAKS, command_leaks },       { COMMAND_SIZE, command_size },
	{ COMMAND_TIMELINE, command_timeline }, { COMMAND_EVENTS, command_events },
	{ COMMAND_INFO, command_info },         { COMMAND_MERGE, command_merge },
	{ COMMAND_COMPARE, command_compare },
};

static int fail(const struct km_error *error)
{
	fflush(stdout);
	fprintf(stderr, "kmstat: %s\n", error->text);
	return EXIT_USAGE_OR_INPUT;
}

/* What was printed to standard output has to have arrived. */
static int finish_stdout(void)
{
	struct km_error error = { 0 };

	return km_output_finish(stdout, "standard output", &error) ? fail(&error) : EXIT_DONE;
}

static int run_command(enum command_id id, const struct options *options, struct km_error *error)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (commands[i].id == id)
			return commands[i].run(options, error);
	}
	return km_error_set(error, -EINVAL, "a command without a function");
}

static int run(const struct command_row *command, int argc, char **argv)
{
	struct km_error error = { 0 };
	struct options options;
	int r;

	options_init(&options);
	r = options_parse(&options, command->id, argc, argv, &error);
	if (!r && options.version) {
		printf("kmstat %s\n", KM_VERSION);
		r = finish_stdout();
	} else if (!r && options.help) {
		help_print(stdout, command->id);
		r = finish_stdout();
	} else if (!r && command->id == COMMAND_HELP) {
		if (options.topic)
			help_print(stdout, command_find(options.topic)->id);
		else
			help_overview(stdout);
		r = finish_stdout();
	} else if (!r && command->id == COMMAND_COMPLETION) {
		help_completion(stdout);
		r = finish_stdout();
	} else if (!r && command_answers_help(&options, command->id)) {
		r = finish_stdout();
	} else {
		if (!r)
			r = options_validate(&options, command->id, &error);
		if (!r)
			r = run_command(command->id, &options, &error);
		r = r < 0 ? fail(&error) : r;
	}
	options_release(&options);
	return r;
}

int main(int argc, char **argv)
{
	const struct command_row *command = argc > 1 ? command_find(argv[1]) : NULL;
	static char buffer[1 << 16]; /* glibc takes a size only with one */

#ifdef M_MMAP_THRESHOLD
	/*
	 * A large block comes from the kernel as zero pages and goes back to it when it is freed. Left to itself glibc
	 * raises the bound, and large tables of which little is used are then cleared, and so resident.
	 */
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
	/* Only what characters are printable: numbers are written as in C. */
	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	/* What is printed in one go fails when it is flushed at the end, where the reason is still known. */
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		help_overview(stdout);
		return finish_stdout();
	}
	if (argc < 2 && access(default_input(), F_OK)) {
		fputs("kmstat: neither trace.dat nor perf.data here, and no file named\n", stderr);
		help_overview(stderr);
		return EXIT_USAGE_OR_INPUT;
	}
	if (command)
		return run(command, argc - 1, argv + 1);
	/* A word that is no path and no file was meant as a command. */
	if (argc > 1 && argv[1][0] != '-' && argv[1][0] && !strpbrk(argv[1], "./") && access(argv[1], F_OK)) {
		fprintf(stderr, "kmstat: %s: no such command, and no such file; \"kmstat help\" lists the commands\n",
			argv[1]);
		return EXIT_USAGE_OR_INPUT;
	}
	return run(command_default(), argc, argv);
}
