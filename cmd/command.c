/* SPDX-License-Identifier: GPL-2.0-only */
#include "command.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "objects.h"

#define COLUMNS_LIMIT 96
#define HELP_BYTES    (32 << 10)

/* --- input --- */

const char *default_input(void)
{
	return access("trace.dat", F_OK) && !access("perf.data", F_OK) ? "perf.data" : "trace.dat";
}

static int add_part(struct km_reader *reader, const char *path, enum km_reader_part part, struct km_error *error)
{
	struct km_source *source;
	int r = km_source_open_file(path, &source, error);

	if (r)
		return r;
	r = km_reader_add(reader, source, part, error);
	if (r)
		km_source_close(source);
	return r;
}

static int is_part(const struct dirent *entry)
{
	const char *number = entry->d_name + strlen("data.");

	return !strncmp(entry->d_name, "data.", strlen("data.")) && *number && !number[strspn(number, "0123456789")];
}

/* What `perf record --threads` wrote beside the file `data` of a directory: data.0, data.1, ... */
static int add_directory(struct km_reader *reader, const char *path, struct km_error *error)
{
	struct dirent **entries;
	int count = scandir(path, &entries, is_part, versionsort), r = 0;
	char name[PATH_MAX];

	if (count < 0)
		return km_error_set(error, -errno, "%s: %s", path, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (!r) {
			snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
			r = add_part(reader, name, KM_PART_BESIDE, error);
		}
		free(entries[i]);
	}
	free(entries);
	return r;
}

bool command_is_directory(const char *path)
{
	char data[PATH_MAX];

	snprintf(data, sizeof(data), "%s/data", path);
	return strcmp(path, "-") && !access(data, F_OK);
}

int command_open_path(const char *path, const struct km_reader_options *reader_options, struct km_reader **ret_reader,
		      struct km_error *error)
{
	bool is_directory = command_is_directory(path);
	struct km_source *source;
	char data[PATH_MAX];
	int r;

	snprintf(data, sizeof(data), "%s/data", path);
	r = km_source_open(is_directory ? data : path, &source, error);
	if (r)
		return r;
	r = km_reader_open(source, reader_options, ret_reader, error);
	if (r) {
		km_source_close(source);
		return r;
	}
	if (is_directory)
		r = add_directory(*ret_reader, path, error);
	if (r)
		km_reader_close(*ret_reader);
	return r;
}

int command_open(const struct options *options, const struct km_reader_options *reader_options,
		 struct km_reader **ret_reader, struct km_error *error)
{
	int r = command_open_path(options->input ? options->input : default_input(), reader_options, ret_reader, error);

	if (r)
		return r;
	for (size_t i = 0; !r && i < options->pieces.count; i++)
		r = add_part(*ret_reader, options->pieces.items[i], KM_PART_BEHIND, error);
	if (r)
		km_reader_close(*ret_reader);
	return r;
}

static const char *shown_name(const char *name)
{
	return name[0] ? name : "top";
}

/* "top, slab (kmem), pages": for errors. */
static void list_buffers(const struct km_trace_info *info, const struct buffer_list *list, char *text, size_t bytes)
{
	size_t count = list ? list->count : info->buffers_count, n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count && n < bytes; i++)
		n += (size_t)snprintf(text + n, bytes - n, "%s%s", i ? ", " : "",
				      shown_name(info->buffers[list ? list->indexes[i] : i].name));
}

static int find_buffer(struct km_reader *reader, const char *name, struct buffer_list *list, struct km_error *error)
{
	const struct km_trace_info *info = km_reader_info(reader);
	char names[512];

	for (size_t i = 0; i < info->buffers_count; i++) {
		if (!strcmp(info->buffers[i].name, name) || (!strcmp(name, "top") && !info->buffers[i].name[0])) {
			list->indexes[list->count++] = i;
			return 0;
		}
	}
	list_buffers(info, NULL, names, sizeof(names));
	return km_error_set(error, -EINVAL, "%s: no buffer \"%s\"; it has: %s", km_source_name(reader->source), name,
			    names);
}

int command_buffers(struct km_reader *reader, const struct options *options, bool wants_one,
		    struct buffer_list *ret_list, struct km_error *error)
{
	const struct km_trace_info *info = km_reader_info(reader);
	struct buffer_list list = { .is_all = options->buffer && !strcmp(options->buffer, "all") };
	char names[512];
	int r = 0;

	list.indexes = calloc(info->buffers_count ? info->buffers_count : 1, sizeof(*list.indexes));
	if (!list.indexes)
		return km_error_set(error, -ENOMEM, "out of memory");
	if (options->buffer && !list.is_all) {
		r = find_buffer(reader, options->buffer, &list, error);
	} else if (info->buffers_count == 1 && !list.is_all) {
		list.indexes[list.count++] = 0; /* whether it has slab events shows when it is read */
	} else {
		for (size_t i = 0; i < info->buffers_count && r >= 0; i++) {
			r = km_analysis_has_slab(reader, i, error);
			if (r > 0)
				list.indexes[list.count++] = i;
		}
		r = r < 0 ? r : 0;
		if (!r && !list.count)
			r = command_no_slab_events(reader, error);
	}
	if (!r && wants_one && list.count > 1 && !list.is_all) {
		list_buffers(info, &list, names, sizeof(names));
		r = km_error_set(
			error, -EINVAL,
			"%s: several buffers have slab events, and they are never added up: choose one of %s with "
			"--buffer",
			km_source_name(reader->source), names);
	}
	if (r) {
		free(list.indexes);
		return r;
	}
	*ret_list = list;
	return 0;
}

int command_no_slab_events(struct km_reader *reader, struct km_error *error)
{
	const struct km_event_count *counts;
	char names[256] = "";
	size_t kinds, n = 0;

	counts = km_reader_event_counts(reader, &kinds);
	for (size_t i = 0; counts && i < kinds && i < 3; i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", i ? ", " : "", counts[i].name);
	if (kinds > 3)
		snprintf(names + n, sizeof(names) - n, " and %zu more", kinds - 3);
	if (!names[0] && km_reader_info(reader)->is_cut_short)
		return km_error_set(error, -ENODATA,
				    "%s: the file is cut short before its events; record again, or try the file's "
				    "original",
				    km_source_name(reader->source));
	return km_error_set(error, -ENODATA, "%s: no %s%s; record slab events with %s", km_source_name(reader->source),
			    names[0] ? "slab events in it, only " : "event in it", names,
			    "`trace-cmd record -e kmem -C mono -b 20000`");
}

int command_analysis_options(const struct options *options, struct km_analysis_options *ret_options,
			     struct km_error *error)
{
	static const enum km_on_loss loss[] = {
		[ON_LOSS_TAINT] = KM_ON_LOSS_TAINT, [ON_LOSS_KEEP] = KM_ON_LOSS_KEEP, [ON_LOSS_RESET] = KM_ON_LOSS_RESET
	};
	struct km_analysis_options result = {
		.filter = &options->filter,
		.kallsyms = options->kallsyms,
		.raw_ip = options->raw_ip,
		.objects_count = options->objects_count,
		.max_memory_bytes =
			options->has_max_memory ? options->max_memory_bytes : km_analysis_default_max_memory(),
		.when_full = options->when_full == WHEN_FULL_SAMPLE ? KM_WHEN_FULL_SAMPLE : KM_WHEN_FULL_DROP,
		.has_detail = options->detail,
		.on_loss = loss[options->on_loss],
		.has_reorder_window = options->has_reorder_window,
		.reorder_window_ns = options->reorder_window_ns,
	};
	int r = options->by ? km_by_parse(options->by, &result.by, error) : 0;

	if (!r)
		*ret_options = result;
	return r;
}

/* --- help on keys --- */

static bool is_help(const char *text)
{
	return text && !strcmp(text, "help");
}

static void print_columns(const struct km_column *columns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		printf("%-26s %s\n", columns[i].name, columns[i].help);
}

static void print_group_columns(const char *by, struct km_column *columns)
{
	struct km_by_list list = { .count = 0 };

	/* A bad --by is found when the command runs; here it has no columns. */
	(void)km_by_parse(by, &list, NULL);
	for (unsigned i = 0; i < list.count; i++)
		printf("key.%-22s %s\n", km_by_columns[list.fields[i]].name, km_by_columns[list.fields[i]].help);
	print_columns(columns, km_rows_describe(KM_AXIS_GROUP, columns, COLUMNS_LIMIT));
}

static void print_metrics(void)
{
	for (unsigned i = 0; i < KM_METRICS; i++)
		printf("%-26s %s%s\n", km_metrics[i].name, km_metrics[i].help,
		       km_metrics[i].is_of_rows ? "" : " (rules only, of the whole)");
}

bool command_answers_help(const struct options *options, enum command_id command)
{
	struct km_column columns[COLUMNS_LIMIT];

	/* All of it is kept until the end, where a failed write is told by its errno. */
	setvbuf(stdout, NULL, _IOFBF, HELP_BYTES);
	if (is_help(options->metric)) {
		print_metrics();
		return true;
	}

	if (is_help(options->by)) {
		print_columns(km_by_columns, KM_BY_KINDS);
		return true;
	}
	if (!is_help(options->sort) && !is_help(options->fields))
		return false;
	if (command == COMMAND_EVENTS)
		print_columns(columns, command_events_describe(columns, COLUMNS_LIMIT));
	else if (command == COMMAND_OBJECTS)
		print_columns(columns, km_objects_describe(columns, COLUMNS_LIMIT));
	else if (command == COMMAND_LEAKS)
		print_columns(columns, km_document_describe_leaks(columns, COLUMNS_LIMIT));
	else if (command == COMMAND_TIMELINE && options->fields)
		print_columns(columns, km_document_describe_timeline(options->format == FORMAT_CSV, options->by,
								     columns, COLUMNS_LIMIT));
	else if (options->by)
		print_group_columns(options->by, columns);
	else
		print_columns(columns, km_rows_describe(KM_AXIS_SITE, columns, COLUMNS_LIMIT));
	return true;
}

/* --- output --- */

static unsigned terminal_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	unsigned long n;

	if (columns && *columns) {
		n = strtoul(columns, NULL, 10);
		if (n > 0 && n < 10000)
			return (unsigned)n;
	}
	if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return isatty(fd) ? 80 : 0;
}

unsigned command_terminal_width(void)
{
	return terminal_width(STDOUT_FILENO);
}

static const char *pager_command(const struct options *options)
{
	const char *pager = getenv("KMSTAT_PAGER");

	if (options->no_pager || !isatty(STDOUT_FILENO) || options->format != FORMAT_TABLE)
		return NULL;
	if (!pager)
		pager = getenv("PAGER");
	if (!pager)
		pager = "less";
	return *pager && strcmp(pager, "cat") ? pager : NULL;
}

static bool is_same_file(const char *path, const char *input)
{
	struct stat a, b;

	return !stat(path, &a) && S_ISREG(a.st_mode) && !(strcmp(input, "-") ? stat(input, &b) : fstat(0, &b)) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* To open it for writing would destroy the recording. */
static bool is_input(const char *path, const struct options *options)
{
	const struct texts *lists[] = { &options->pieces, &options->base, &options->rules, &options->suppress };
	bool is = false;

	for (size_t i = 0; i < options->inputs.count; i++)
		is |= is_same_file(path, options->inputs.items[i]);
	if (!options->inputs.count)
		is = is_same_file(path, options->input ? options->input : default_input());
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		for (size_t k = 0; k < lists[i]->count; k++)
			is |= is_same_file(path, lists[i]->items[k]);
	}
	return is;
}

int command_output_open(const struct options *options, struct output *output, struct km_error *error)
{
	const char *no_colour = getenv("NO_COLOR");
	bool is_tty = isatty(STDOUT_FILENO) && !options->output;

	*output = (struct output){ .stream = stdout, .name = "standard output" };
	if (options->output && strcmp(options->output, "-")) {
		if (is_input(options->output, options))
			return km_error_set(error, -EINVAL,
					    "%s: it is the recording that is read; name another file for --output",
					    options->output);
		output->stream = fopen(options->output, "we");
		if (!output->stream)
			return km_error_set(error, -errno, "%s: %s", options->output, strerror(errno));
		output->name = options->output;
		output->is_file = true;
	}
	output->style.width = output->is_file ? 0 : terminal_width(STDOUT_FILENO);
	output->style.wide_width = 110; /* where nothing tells: what a mail can hold */
	output->style.colour = options->colour == COLOUR_ALWAYS ||
			       (options->colour == COLOUR_AUTO && is_tty && !(no_colour && *no_colour));
	return 0;
}

void command_output_begin(const struct options *options, struct output *output)
{
	const char *pager = output->is_file ? NULL : pager_command(options);

	if (!pager || output->pager)
		return;
	setenv("LESS", "FRX", 0);
	fflush(stdout);
	output->pager = popen(pager, "w");
	if (output->pager) {
		output->stream = output->pager;
		output->name = pager;
	}
}

int command_output_close(struct output *output, int code, struct km_error *error)
{
	int r;

	if (output->pager) {
		/* Who leaves the pager early has seen enough. */
		pclose(output->pager);
		if (code == -EPIPE)
			*error = (struct km_error){ 0 };
		return code == -EPIPE ? 0 : code;
	}
	/* Who wrote did not know the file's name. */
	if (code && output->is_file && ferror(output->stream)) {
		*error = (struct km_error){ 0 };
		km_error_set(error, code, "%s: %s", output->name, strerror(-code));
	}
	r = km_output_finish(output->stream, output->name, error);
	if (output->is_file && fclose(output->stream) && !r)
		r = km_error_set(error, -errno, "%s: %s", output->name, strerror(errno));
	return code ? code : r;
}

int command_write(struct output *output, const struct options *options, struct km_document *document,
		  struct km_error *error)
{
	switch (options->format) {
	case FORMAT_JSON:
		return km_output_json(output->stream, &document->report, &document->fields, error);
	case FORMAT_CSV:
		return km_output_csv(output->stream, &document->report, &document->fields, error);
	case FORMAT_MARKDOWN:
		return km_output_markdown(output->stream, &document->report, &document->fields, error);
	case FORMAT_JUNIT:
		return km_output_junit(output->stream, &document->report, error);
	case FORMAT_TABLE:
		break;
	}
	return km_output_table(output->stream, &document->report, &document->fields, &output->style, error);
}

void command_print_warnings(const struct options *options, const struct km_health *health)
{
	if (options->quiet)
		return;
	for (size_t i = 0; i < health->warnings_count; i++)
		fprintf(stderr, "kmstat: warning: %s\n", health->warnings[i].text);
}
