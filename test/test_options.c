/* SPDX-License-Identifier: GPL-2.0-only */
#include "../cmd/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#define WORDS_LIMIT 16

/* Parse a command line, its words separated by single blanks ("''": an empty word), then validate. */
struct line {
	struct options options;
	struct km_error error;
	char *text, *words[WORDS_LIMIT + 1];
	int r;
};

static void parse(struct line *line, enum command_id command, const char *text)
{
	int count = 0;
	char *rest;

	*line = (struct line){ .text = strdup(text) };
	ck_assert_ptr_nonnull(line->text);
	rest = line->text;
	line->words[count++] = rest; /* argv[0]: anything */
	for (char *word; (word = strsep(&rest, " "));) {
		ck_assert_int_lt(count, WORDS_LIMIT);
		if (strcmp(word, "''") == 0)
			*word = '\0';
		line->words[count++] = word;
	}
	options_init(&line->options);
	line->r = options_parse(&line->options, command, count, line->words, &line->error);
	if (line->r == 0)
		line->r = options_validate(&line->options, command, &line->error);
}

static void release(struct line *line)
{
	options_release(&line->options);
	free(line->text);
}

static void accept(struct line *line, enum command_id command, const char *text)
{
	parse(line, command, text);
	ck_assert_msg(line->r == 0, "%s: %s", text, line->error.text);
	ck_assert_int_eq(line->error.code, 0);
}

/* Refused with exactly this text. */
static void expect_refused(enum command_id command, const char *text, const char *message)
{
	struct line line;

	parse(&line, command, text);
	ck_assert_msg(line.r == -EINVAL, "accepted: %s", text);
	ck_assert_int_eq(line.error.code, -EINVAL);
	ck_assert_str_eq(line.error.text, message);
	release(&line);
}

START_TEST(defaults)
{
	char name[] = "report", *argv[] = { name, NULL };
	struct km_error error = { 0 };
	struct options options;

	options_init(&options);
	ck_assert_int_eq(options_parse(&options, COMMAND_REPORT, 1, argv, &error), 0);
	ck_assert_int_eq(options_validate(&options, COMMAND_REPORT, &error), 0);
	ck_assert_ptr_null(options.input);
	ck_assert_int_eq(options.format, FORMAT_TABLE);
	ck_assert_int_eq(options.colour, COLOUR_AUTO);
	ck_assert(options.objects_auto);
	ck_assert(!options.has_limit);
	ck_assert(!options.help);
	ck_assert(!km_filter_is_active(&options.filter));
	options_release(&options);
	options_release(NULL);
	/* Nobody calls a program like this, but it can be done. */
	ck_assert_int_eq(options_parse(&options, COMMAND_REPORT, 0, argv + 1, &error), 0);
}
END_TEST

START_TEST(long_options)
{
	struct line l;

	accept(&l, COMMAND_REPORT,
	       "--input a.dat --buffer b1 --kallsyms k --by cache --sort -live_bytes,name --limit 5 --fields a,b "
	       "--raw-ip");
	ck_assert_str_eq(l.options.input, "a.dat");
	ck_assert_str_eq(l.options.buffer, "b1");
	ck_assert_str_eq(l.options.kallsyms, "k");
	ck_assert_str_eq(l.options.by, "cache");
	ck_assert_str_eq(l.options.sort, "-live_bytes,name");
	ck_assert(l.options.has_limit);
	ck_assert_uint_eq(l.options.limit, 5);
	ck_assert_str_eq(l.options.fields, "a,b");
	ck_assert(l.options.raw_ip);
	release(&l);
	accept(&l, COMMAND_REPORT, "--format=csv --output=o --no-pager --color=never --objects=64K -- -odd");
	ck_assert_int_eq(l.options.format, FORMAT_CSV);
	ck_assert_str_eq(l.options.output, "o");
	ck_assert(l.options.no_pager);
	ck_assert_int_eq(l.options.colour, COLOUR_NEVER);
	ck_assert(!l.options.objects_auto);
	ck_assert_uint_eq(l.options.objects_count, 65536);
	ck_assert_str_eq(l.options.input, "-odd");
	release(&l);
}
END_TEST

START_TEST(short_options)
{
	struct line l;

	accept(&l, COMMAND_REPORT, "-ia.dat -B b1 -s +name -n 1K -F a -C0,2 -o o -vv");
	ck_assert_str_eq(l.options.input, "a.dat");
	ck_assert_str_eq(l.options.buffer, "b1");
	ck_assert_str_eq(l.options.sort, "+name");
	ck_assert_uint_eq(l.options.limit, 1024);
	ck_assert_str_eq(l.options.fields, "a");
	ck_assert(km_ranges_match(&l.options.filter.cpu, 2));
	ck_assert(!km_ranges_match(&l.options.filter.cpu, 1));
	ck_assert_str_eq(l.options.output, "o");
	ck_assert_uint_eq(l.options.verbose, 2);
	release(&l);
	/* As in perf kmem. */
	accept(&l, COMMAND_OBJECTS, "-l 0");
	ck_assert(l.options.has_limit);
	ck_assert_uint_eq(l.options.limit, 0);
	release(&l);
	accept(&l, COMMAND_EVENTS, "--line 3");
	ck_assert_uint_eq(l.options.limit, 3);
	release(&l);
}
END_TEST

START_TEST(order_does_not_matter)
{
	struct line l;

	/* POSIXLY_CORRECT must not make operands of the options behind the first operand. */
	ck_assert_int_eq(setenv("POSIXLY_CORRECT", "1", 1), 0);
	accept(&l, COMMAND_REPORT, "trace.dat --json -n 3");
	ck_assert_str_eq(l.options.input, "trace.dat");
	ck_assert_int_eq(l.options.format, FORMAT_JSON);
	ck_assert_uint_eq(l.options.limit, 3);
	release(&l);
	ck_assert_int_eq(unsetenv("POSIXLY_CORRECT"), 0);
	accept(&l, COMMAND_REPORT, "--json trace.dat -n 3");
	ck_assert_str_eq(l.options.input, "trace.dat");
	ck_assert_uint_eq(l.options.limit, 3);
	release(&l);
	accept(&l, COMMAND_REPORT, "-");
	ck_assert_str_eq(l.options.input, "-");
	release(&l);
}
END_TEST

START_TEST(last_one_wins)
{
	struct line l;

	accept(&l, COMMAND_REPORT, "--format csv --json");
	ck_assert_int_eq(l.options.format, FORMAT_JSON);
	release(&l);
	accept(&l, COMMAND_REPORT, "--json --format table -n 1 -l 2 --objects 5 --objects auto --color --color=auto");
	ck_assert_int_eq(l.options.format, FORMAT_TABLE);
	ck_assert_uint_eq(l.options.limit, 2);
	ck_assert(l.options.objects_auto);
	ck_assert_uint_eq(l.options.objects_count, 0);
	ck_assert_int_eq(l.options.colour, COLOUR_AUTO);
	release(&l);
	accept(&l, COMMAND_REPORT, "-q -v");
	ck_assert(!l.options.quiet);
	ck_assert_uint_eq(l.options.verbose, 1);
	release(&l);
	accept(&l, COMMAND_REPORT, "-vvq");
	ck_assert(l.options.quiet);
	ck_assert_uint_eq(l.options.verbose, 0);
	release(&l);
	accept(&l, COMMAND_REPORT, "--time @a,@b --time 1,2");
	ck_assert_int_eq(l.options.filter.from.kind, KM_TIME_CLOCK);
	ck_assert(l.options.filter.has_time);
	release(&l);
	accept(&l, COMMAND_REPORT, "--time @a,@b --time ,");
	ck_assert(!l.options.filter.has_time);
	release(&l);
}
END_TEST

START_TEST(filters)
{
	static const enum command_id commands[] = { COMMAND_REPORT, COMMAND_OBJECTS, COMMAND_EVENTS };

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct km_filter *f;
		struct line l;

		accept(&l, commands[i],
		       "--cache=c* --site=s,t --function=!f --module=m --comm=k --pid=1-3 --cpu=0 --node=-1 "
		       "--gfp=GFP_KERNEL,0x400 --min-age=5ms --min-size=4K --time=+1,50% --cache=!d");
		f = &l.options.filter;
		ck_assert_uint_eq(f->cache.count, 2);
		ck_assert(km_patterns_match(&f->cache, "cred"));
		ck_assert(!km_patterns_match(&f->cache, "d"));
		ck_assert_uint_eq(f->site.count, 2);
		ck_assert(!km_patterns_match(&f->function, "f"));
		ck_assert(km_patterns_match(&f->module, "m"));
		ck_assert(km_patterns_match(&f->comm, "k"));
		ck_assert(km_ranges_match(&f->pid, 2));
		ck_assert(!km_ranges_match(&f->cpu, 1));
		ck_assert(km_ranges_match(&f->node, -1));
		ck_assert_uint_eq(f->gfp.count, 2);
		ck_assert(f->has_min_age);
		ck_assert_uint_eq(f->min_age_ns, 5000000);
		ck_assert_uint_eq(f->min_size_bytes, 4096);
		ck_assert(f->has_time);
		ck_assert_int_eq(f->from.kind, KM_TIME_RELATIVE);
		ck_assert_uint_eq(f->until.value, 500000);
		release(&l);
	}
}
END_TEST

START_TEST(ptr_is_hex)
{
	struct line l;

	accept(&l, COMMAND_EVENTS, "--ptr 1000");
	ck_assert(l.options.has_ptr);
	ck_assert_uint_eq(l.options.ptr, 0x1000);
	release(&l);
	accept(&l, COMMAND_EVENTS, "--ptr 0XFFFF888004a3c000");
	ck_assert_uint_eq(l.options.ptr, UINT64_C(0xffff888004a3c000));
	release(&l);
	accept(&l, COMMAND_EVENTS, "--ptr 00000000000000000000ffffffffffffffff");
	ck_assert_uint_eq(l.options.ptr, UINT64_MAX);
	release(&l);
	accept(&l, COMMAND_EVENTS, "--ptr 0");
	ck_assert(l.options.has_ptr);
	ck_assert_uint_eq(l.options.ptr, 0);
	release(&l);
	expect_refused(COMMAND_EVENTS, "--ptr 10000000000000000", "--ptr: \"10000000000000000\" is too large");
	expect_refused(COMMAND_EVENTS, "--ptr 0x", "--ptr: \"0x\" is not an address in hex such as 0xffff888004a3c000");
	expect_refused(COMMAND_EVENTS, "--ptr ''", "--ptr: \"\" is not an address in hex such as 0xffff888004a3c000");
	expect_refused(COMMAND_EVENTS, "--ptr -1", "--ptr: \"-1\" is not an address in hex such as 0xffff888004a3c000");
	expect_refused(COMMAND_EVENTS, "--ptr 0x0x1",
		       "--ptr: \"0x0x1\" is not an address in hex such as 0xffff888004a3c000");
	expect_refused(COMMAND_EVENTS, "--ptr 12g",
		       "--ptr: \"12g\" is not an address in hex such as 0xffff888004a3c000");
}
END_TEST

START_TEST(objects_and_memory)
{
	static const char *const bad[] = { "0",   "-1",  "",     "+5",         "5x", "4KiB",
					   "1e6", "nan", "Auto", "2147483649", "3G", "99999999999999999999999" };
	struct line l;

	accept(&l, COMMAND_REPORT, "--objects 1");
	ck_assert_uint_eq(l.options.objects_count, 1);
	release(&l);
	accept(&l, COMMAND_REPORT, "--objects 2G");
	ck_assert_uint_eq(l.options.objects_count, OPTIONS_OBJECTS_LIMIT);
	release(&l);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[64], message[160];

		snprintf(text, sizeof(text), "--objects=%s", bad[i]);
		snprintf(message, sizeof(message),
			 "--objects: \"%s\" is not auto or a number of objects from 1 to 2G such as 65536, 64K or 1M",
			 bad[i]);
		expect_refused(COMMAND_REPORT, text, message);
	}
	accept(&l, COMMAND_REPORT, "--max-memory 512M");
	ck_assert(l.options.has_max_memory);
	ck_assert_uint_eq(l.options.max_memory_bytes, UINT64_C(512) << 20);
	release(&l);
	expect_refused(COMMAND_REPORT, "--max-memory 0",
		       "--max-memory: \"0\" is not a size above 0 such as 512M or 2G");
	expect_refused(COMMAND_REPORT, "--max-memory 99999999999G", "--max-memory: \"99999999999G\" is too large");
}
END_TEST

START_TEST(bad_values)
{
	expect_refused(COMMAND_REPORT, "--cpu 0,x", "--cpu: \"0,x\" is not a list of numbers and ranges such as 0,2-4");
	/* The long name, which says more. */
	expect_refused(COMMAND_REPORT, "-C ''", "--cpu: \"\" is not a list of numbers and ranges such as 0,2-4");
	expect_refused(COMMAND_REPORT, "-C -1",
		       "--cpu: \"-1\" is not a list of numbers from 0 up and ranges such as 0,2-4");
	expect_refused(COMMAND_REPORT, "--pid 5,!-3",
		       "--pid: \"5,!-3\" is not a list of numbers from 0 up and ranges such as 0,2-4");
	expect_refused(COMMAND_REPORT, "--pid 99999999999999999999", "--pid: \"99999999999999999999\" is too large");
	expect_refused(COMMAND_REPORT, "--node 1-", "--node: \"1-\" is not a list of numbers and ranges such as 0,2-4");
	expect_refused(COMMAND_REPORT, "--comm a,,b",
		       "--comm: \"a,,b\" is not a comma list of names or globs, none of them empty");
	expect_refused(COMMAND_REPORT, "--gfp ''",
		       "--gfp: \"\" is not a comma list of names or globs, none of them empty");
	expect_refused(COMMAND_REPORT, "-n -5", "--limit: \"-5\" is not a number such as 65536, 64K or 1M");
	expect_refused(COMMAND_EVENTS, "-l ''", "--line: \"\" is not a number such as 65536, 64K or 1M");
	expect_refused(COMMAND_REPORT, "-n 5junk", "--limit: \"5junk\" is not a number such as 65536, 64K or 1M");
	expect_refused(COMMAND_REPORT, "-n nan", "--limit: \"nan\" is not a number such as 65536, 64K or 1M");
	expect_refused(COMMAND_REPORT, "--min-size 1.5K",
		       "--min-size: \"1.5K\" is not a size such as 4096, 64K, 1M or 2G");
	expect_refused(COMMAND_REPORT, "--min-age soon",
		       "--min-age: \"soon\" is not a duration in whole nanoseconds such as "
		       "100us, 5ms, 1.5s, 3m or 1h");
	expect_refused(COMMAND_REPORT, "--time 5",
		       "--time: \"5\" is not a time window A,B, each of the two being empty, seconds of the trace "
		       "clock (5170.25), +seconds from the first event, a percentage of the trace (N%), or the text "
		       "of a marker (@TEXT)");
	expect_refused(COMMAND_REPORT, "--time 2,1", "--time: \"2,1\" is not a time window: it ends before it begins");
	expect_refused(COMMAND_REPORT, "--format xml",
		       "--format: \"xml\" is not one of: table json csv markdown junit");
	expect_refused(COMMAND_REPORT, "--format js", "--format: \"js\" is not one of: table json csv markdown junit");
	expect_refused(COMMAND_REPORT, "--format ''", "--format: \"\" is not one of: table json csv markdown junit");
	expect_refused(COMMAND_REPORT, "--color=red", "--color: \"red\" is not one of: auto always never");
	expect_refused(COMMAND_REPORT, "--color=", "--color: \"\" is not one of: auto always never");
	expect_refused(COMMAND_REPORT, "--sort a,,b",
		       "--sort: \"a,,b\" is not a comma list of names, none of them empty");
	expect_refused(COMMAND_REPORT, "-s +", "--sort: \"+\" is not a comma list of names, none of them empty");
	expect_refused(COMMAND_REPORT, "-F a,", "--fields: \"a,\" is not a comma list of names, none of them empty");
	expect_refused(COMMAND_REPORT, "--by ''", "--by: \"\" is not a comma list of names, none of them empty");
	expect_refused(COMMAND_REPORT, "-B ''", "--buffer: the NAME is empty");
	expect_refused(COMMAND_REPORT, "--output=", "--output: the FILE is empty");
	expect_refused(COMMAND_REPORT, "--kallsyms ''", "--kallsyms: the FILE is empty");
}
END_TEST

START_TEST(optional_argument_is_joined)
{
	struct line l;

	accept(&l, COMMAND_REPORT, "--color never");
	ck_assert_int_eq(l.options.colour, COLOUR_ALWAYS);
	ck_assert_str_eq(l.options.input, "never");
	release(&l);
	accept(&l, COMMAND_REPORT, "--color=never");
	ck_assert_int_eq(l.options.colour, COLOUR_NEVER);
	ck_assert_ptr_null(l.options.input);
	release(&l);
}
END_TEST

START_TEST(unknown_options)
{
	expect_refused(COMMAND_REPORT, "--bogus",
		       "--bogus: no such option; \"kmstat report --help\" lists those there are");
	expect_refused(COMMAND_INFO, "--bogus=5",
		       "--bogus: no such option; \"kmstat info --help\" lists those there are");
	expect_refused(COMMAND_REPORT, "-Z", "-Z: no such option; \"kmstat report --help\" lists those there are");
	expect_refused(COMMAND_REPORT, "-qZv", "-Z: no such option; \"kmstat report --help\" lists those there are");
	expect_refused(COMMAND_REPORT, "trace.dat -5",
		       "-5: no such option; \"kmstat report --help\" lists those there are");
	expect_refused(COMMAND_REPORT, "--=x", "--: no such option; \"kmstat report --help\" lists those there are");
	/* A byte that is no character. */
	expect_refused(COMMAND_REPORT, "-q\xff",
		       "-q\xff: no such option; \"kmstat report --help\" lists those there are");
	/* Options of other commands. */
	expect_refused(
		COMMAND_INFO, "--cache=x",
		"--cache: not an option of \"kmstat info\"; it is one of report, compare, objects, leaks, timeline, "
		"events, size and merge");
	expect_refused(
		COMMAND_INFO, "-C 0",
		"-C: not an option of \"kmstat info\"; it is one of report, compare, objects, leaks, timeline, events, "
		"size and merge");
	expect_refused(COMMAND_OBJECTS, "--detail",
		       "--detail: not an option of \"kmstat objects\"; it is one of report");
	expect_refused(COMMAND_REPORT, "--ptr 5", "--ptr: not an option of \"kmstat report\"; it is one of events");
	expect_refused(COMMAND_EVENTS, "-s a",
		       "-s: not an option of \"kmstat events\"; it is one of report, objects and timeline");
	expect_refused(
		COMMAND_HELP, "--json",
		"--json: not an option of \"kmstat help\"; it is one of report, compare, objects, leaks, timeline, "
		"events, size, info and merge");
}
END_TEST

START_TEST(missing_and_extra_arguments)
{
	expect_refused(COMMAND_REPORT, "-C", "--cpu: needs an argument, LIST");
	expect_refused(COMMAND_REPORT, "--time", "--time: needs an argument, A,B");
	expect_refused(COMMAND_REPORT, "-qn", "--limit: needs an argument, N");
	expect_refused(COMMAND_REPORT, "--json=yes", "--json: takes no argument, but has \"yes\"");
	expect_refused(COMMAND_REPORT, "--raw=", "--raw-ip: takes no argument, but has \"\"");
}
END_TEST

START_TEST(abbreviations)
{
	struct line l;

	accept(&l, COMMAND_REPORT, "--form json --lim 3 --min-s 1 --obj=5");
	ck_assert_int_eq(l.options.format, FORMAT_JSON);
	ck_assert_uint_eq(l.options.limit, 3);
	ck_assert_uint_eq(l.options.filter.min_size_bytes, 1);
	ck_assert_uint_eq(l.options.objects_count, 5);
	release(&l);
	/* Other commands' options do not make it ambiguous. */
	accept(&l, COMMAND_INFO, "--o x");
	ck_assert_str_eq(l.options.output, "x");
	release(&l);
	expect_refused(COMMAND_REPORT, "--min=5", "--min: could be any of --min-age, --min-size");
	expect_refused(COMMAND_REPORT, "--when-full half", "--when-full: \"half\" is not one of: drop sample");
	expect_refused(
		COMMAND_SIZE, "--objects 64",
		"--objects: not an option of \"kmstat size\"; it is one of report, compare, objects, leaks, timeline, "
		"events and merge");
	expect_refused(COMMAND_REPORT, "--o x", "--o: could be any of --objects, --on-loss, --output");
}
END_TEST

START_TEST(operands)
{
	struct line l;

	for (size_t i = 0; i < 3; i++) {
		static const char *const lines[] = { "a b c", "-i a b c", "a -- b c" };

		accept(&l, COMMAND_REPORT, lines[i]);
		ck_assert_str_eq(l.options.input, "a");
		ck_assert_uint_eq(l.options.pieces.count, 2);
		ck_assert_str_eq(l.options.pieces.items[0], "b");
		ck_assert_str_eq(l.options.pieces.items[1], "c");
		release(&l);
	}
	expect_refused(COMMAND_REPORT, "a -i b", "--input: two files to read: \"a\" and \"b\"; give one");
	expect_refused(COMMAND_REPORT, "a ''", "the name of the file to read is empty");
	expect_refused(COMMAND_REPORT, "''", "the name of the file to read is empty");
	expect_refused(COMMAND_REPORT, "-i ''", "--input: the FILE is empty");
	accept(&l, COMMAND_HELP, "objects");
	ck_assert_str_eq(l.options.topic, "objects");
	ck_assert_ptr_null(l.options.input);
	release(&l);
	expect_refused(COMMAND_HELP, "object", "\"object\": no such command; \"kmstat help\" lists those there are");
	expect_refused(COMMAND_HELP, "objects events", "\"events\": \"kmstat help\" takes one command");
	accept(&l, COMMAND_MERGE, "a -q b -- c -d");
	ck_assert_uint_eq(l.options.inputs.count, 4);
	ck_assert_str_eq(l.options.inputs.items[0], "a");
	ck_assert_str_eq(l.options.inputs.items[1], "b");
	ck_assert_str_eq(l.options.inputs.items[2], "c");
	ck_assert_str_eq(l.options.inputs.items[3], "-d");
	ck_assert_ptr_null(l.options.input);
	ck_assert_int_eq(l.options.format, FORMAT_JSON);
	release(&l);
	accept(&l, COMMAND_MERGE, "a --format table");
	ck_assert_int_eq(l.options.format, FORMAT_TABLE);
	release(&l);
	expect_refused(COMMAND_MERGE, "a ''", "the name of a file to read is empty");
	expect_refused(COMMAND_MERGE, "-q", "no file named; give traces, or reports saved by `kmstat report --json`");
	expect_refused(COMMAND_COMPLETION, "zsh", "\"zsh\": \"kmstat completion\" takes options only");
}
END_TEST

START_TEST(help_ends_parsing)
{
	struct line l;

	accept(&l, COMMAND_REPORT, "a --help --bogus b c");
	ck_assert(l.options.help);
	release(&l);
	accept(&l, COMMAND_INFO, "-qhZ");
	ck_assert(l.options.help);
	release(&l);
	accept(&l, COMMAND_COMPLETION, "-V x y");
	ck_assert(l.options.version);
	release(&l);
	/* The walk that was left in the middle of a word is forgotten. */
	accept(&l, COMMAND_OBJECTS, "-v");
	ck_assert_uint_eq(l.options.verbose, 1);
	ck_assert(!l.options.help);
	release(&l);
}
END_TEST

START_TEST(combinations)
{
	struct line l;

	accept(&l, COMMAND_REPORT, "--detail --site a");
	ck_assert(l.options.detail);
	release(&l);
	accept(&l, COMMAND_REPORT, "--detail --function a");
	release(&l);
	expect_refused(COMMAND_REPORT, "--detail", "--detail: needs --site or --function, to say of which sites");
	expect_refused(COMMAND_REPORT, "--detail --site a --by cache",
		       "--detail: shows sites; it can not be had with --by");
	accept(&l, COMMAND_REPORT, "--objects auto --max-memory 1G");
	release(&l);
	expect_refused(COMMAND_REPORT, "--objects 5 --max-memory 1G",
		       "--max-memory: bounds --objects auto; a table of --objects N has its size from N");
}
END_TEST

/* Values of any length give a message, not a crash. */
START_TEST(comparisons)
{
	struct line line;

	accept(&line, COMMAND_COMPARE, "a b");
	ck_assert_uint_eq(line.options.inputs.count, 2);
	ck_assert_str_eq(line.options.inputs.items[1], "b");
	release(&line);
	accept(&line, COMMAND_COMPARE,
	       "--base a --base b c d e --ops 10 --fail-on live_bytes>1 --fail-on x --exit-zero");
	ck_assert_uint_eq(line.options.base.count, 2);
	ck_assert_uint_eq(line.options.inputs.count, 3);
	ck_assert_uint_eq(line.options.ops[0], 10);
	ck_assert_uint_eq(line.options.ops[1], 10);
	ck_assert_uint_eq(line.options.fail_on.count, 2);
	ck_assert(line.options.exit_zero);
	release(&line);
	accept(&line, COMMAND_COMPARE, "a --base-time 0,1 --new-time 1, --base-time ,50% --per event --per second");
	ck_assert(line.options.has_base_time && line.options.has_new_time);
	ck_assert_int_eq(line.options.base_time[1].kind, KM_TIME_PERCENT);
	ck_assert_int_eq(line.options.per, PER_SECOND);
	release(&line);
	accept(&line, COMMAND_COMPARE, "a b --ops 1K,2");
	ck_assert_uint_eq(line.options.ops[0], 1024);
	ck_assert_uint_eq(line.options.ops[1], 2);
	release(&line);
	ck_assert_ptr_eq(command_find("diff"), command_find("compare"));
	expect_refused(COMMAND_COMPARE, "a b --per second --ops 5",
		       "--ops: numbers are per operation then; --per says something else");
	expect_refused(COMMAND_COMPARE, "--base a", "--base: compared with what? Name the new files too");
	expect_refused(COMMAND_COMPARE, "a b --base-time 0,1 --time 0,1",
		       "--base-time, --new-time: not together with --time");
	expect_refused(COMMAND_COMPARE, "a b --suppress x",
		       "--suppress: keeps rows from rules; give some with --fail-on or --rules");
	expect_refused(COMMAND_REPORT, "a --format junit",
		       "--format junit: shows rules as tests; give some with --fail-on or --rules");
}
END_TEST

START_TEST(huge_words)
{
	static const char *const options[] = { "",        "-",          "-n",        "--",       "--cpu=",    "--json=",
					       "--sort=", "--objects=", "--format=", "--input=", "--min-age=" };
	static const char fills[] = "9x,!-%@.";

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		for (size_t j = 0; j < sizeof(fills) - 1; j++) {
			size_t length = strlen(options[i]);
			char *word = malloc(100001);
			struct line l;

			ck_assert_ptr_nonnull(word);
			memcpy(word, options[i], length);
			memset(word + length, fills[j], 100000 - length);
			word[100000] = '\0';
			parse(&l, COMMAND_REPORT, word);
			release(&l);
			free(word);
		}
	}
}
END_TEST

START_TEST(option_table_is_sound)
{
	for (const struct option_row *row = option_rows; row->long_name; row++) {
		ck_assert_ptr_nonnull(row->parse);
		ck_assert_ptr_nonnull(row->help);
		ck_assert(row->commands && !(row->commands & ~(unsigned)COMMANDS_ALL));
		ck_assert_int_lt(row->group, GROUPS_COUNT);
		/* A full stop would be the only one. */
		ck_assert(row->help[strlen(row->help) - 1] != '.');
		ck_assert(!row->is_optional || row->argument);
		ck_assert((row->complete == COMPLETE_WORDS) == (row->words != NULL));
		ck_assert(row->argument || row->complete == COMPLETE_NONE);
		for (const struct option_row *other = row + 1; other->long_name; other++) {
			/* Groups are together. */
			ck_assert_int_ge(other->group, row->group);
			if (!(other->commands & row->commands))
				continue;
			ck_assert_str_ne(other->long_name, row->long_name);
			ck_assert(!row->short_name || other->short_name != row->short_name);
		}
	}
}
END_TEST

START_TEST(command_table_is_sound)
{
	unsigned ids = 0, defaults_count = 0;

	for (const struct command_row *row = command_rows; row->name; row++) {
		ck_assert(!(ids & row->id));
		ids |= row->id;
		defaults_count += row->is_default;
		ck_assert_ptr_eq(command_find(row->name), row);
		ck_assert_ptr_eq(command_get(row->id), row);
	}
	ck_assert_uint_eq(ids, COMMANDS_ALL);
	ck_assert_uint_eq(defaults_count, 1);
	ck_assert_str_eq(command_default()->name, "report");
	ck_assert_ptr_null(command_find("rep"));
	ck_assert_ptr_null(command_find(""));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		defaults,
		long_options,
		short_options,
		order_does_not_matter,
		last_one_wins,
		filters,
		ptr_is_hex,
		objects_and_memory,
		bad_values,
		optional_argument_is_joined,
		unknown_options,
		missing_and_extra_arguments,
		abbreviations,
		operands,
		help_ends_parsing,
		combinations,
		comparisons,
		huge_words,
		option_table_is_sound,
		command_table_is_sound,
		NULL,
	};

	return km_test_main("options", tests, 20);
}
