/* SPDX-License-Identifier: GPL-2.0-only */
/* kmstat report, objects, leaks, timeline and size: one analysis a buffer, and its document. */
#include <errno.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "progress.h"

typedef int make_document(struct km_document *document, const struct km_analysis *analysis,
			  const struct km_document_options *options, struct km_error *error);

struct job {
	const struct options *options;
	struct km_reader *reader;
	struct km_analysis_options analysis_options;
	struct km_document_options document_options;
	struct km_sort sort;
	make_document *make;
	struct output output;
	struct gates gates;
	struct km_slab_aliases *aliases; /* owned; NULL: not given */
	struct km_slabinfo slabinfo[2];  /* before and after; owned */
	enum km_gate_result verdict;     /* of all buffers so far */
	bool is_list;
	bool is_first;
};

static int write_one(struct job *job, struct km_document *document, struct km_error *error)
{
	int r;

	if (job->is_list)
		r = km_output_json_list_item(job->output.stream, &document->report, &document->fields, job->is_first,
					     error);
	else
		r = command_write(&job->output, job->options, document, error);
	if (!job->is_first)
		return r;
	job->is_first = false;
	return r;
}

/* For people, unless a machine reads it. */
static unsigned audience_of(enum output_format format)
{
	return format == FORMAT_TABLE || format == FORMAT_MARKDOWN ? KM_FOR_PEOPLE : KM_FOR_MACHINES;
}

/* Rules look at every row, whatever --limit shows. */
static int judge(struct job *job, const struct km_analysis *analysis, struct km_gate_outcomes *outcomes,
		 struct km_error *error)
{
	struct km_run *run;
	int r;

	if (!job->gates.rules.count)
		return 0;
	r = km_run_from_analysis(analysis, &run, error);
	if (r)
		return r;
	r = km_gate_judge_run(run, &job->gates.rules, &job->gates.suppressions, outcomes, error);
	km_run_release(run);
	if (r)
		return r;
	job->verdict = km_gate_worse(job->verdict, outcomes->verdict);
	job->document_options.gates = outcomes;
	job->document_options.suppressions = &job->gates.suppressions;
	return 0;
}

static int write_report(struct job *job, const struct km_analysis *analysis, struct km_error *error)
{
	struct km_gate_outcomes outcomes = { 0 };
	struct km_document document;
	int r = judge(job, analysis, &outcomes, error);

	if (!r)
		r = job->make(&document, analysis, &job->document_options, error);
	if (!r) {
		command_output_begin(job->options, &job->output);
		if (job->options->format == FORMAT_CSV)
			command_print_warnings(job->options, &analysis->health);
		if (!job->is_first && audience_of(job->options->format) == KM_FOR_PEOPLE)
			putc('\n', job->output.stream);
		r = write_one(job, &document, error);
		km_document_release(&document);
		command_print_rules(job->options, &outcomes);
	}
	km_gate_outcomes_release(&outcomes);
	return r;
}

static int report_buffer(struct job *job, size_t buffer, struct km_error *error)
{
	struct km_analysis *analysis;
	struct progress *progress = progress_start(job->reader, job->options->quiet);
	int r = km_analysis_run(job->reader, buffer, &job->analysis_options, &analysis, error);

	progress_stop(progress);
	if (r)
		return r;
	r = analysis->has_slab_events ? write_report(job, analysis, error) : command_no_slab_events(job->reader, error);
	km_analysis_free(analysis);
	return r;
}

static int run_buffers(struct job *job, const struct buffer_list *list, struct km_error *error)
{
	int r = command_output_open(job->options, &job->output, error);

	if (r)
		return r;
	if (job->is_list)
		r = km_output_json_list_begin(job->output.stream, "kmstat.reports", 1, error);
	for (size_t i = 0; i < list->count && !r; i++)
		r = report_buffer(job, list->indexes[i], error);
	if (!r && job->is_list)
		r = km_output_json_list_end(job->output.stream, error);
	return command_output_close(&job->output, r, error);
}

static int run_job(struct job *job, struct km_error *error)
{
	const struct options *options = job->options;
	struct km_reader_options reader_options = { .threads = options->threads, .has_pages = true };
	struct buffer_list list;
	int r;

	reader_options.names_at_end = !job->analysis_options.has_detail && !options->filter.comm.count;
	for (unsigned i = 0; i < job->analysis_options.by.count; i++)
		reader_options.names_at_end &= job->analysis_options.by.fields[i] != KM_BY_COMM;
	if (options->filter.from.kind == KM_TIME_MARK)
		reader_options.marks[0] = options->filter.from.text;
	if (options->filter.until.kind == KM_TIME_MARK)
		reader_options.marks[1] = options->filter.until.text;
	r = command_open(options, &reader_options, &job->reader, error);
	if (r)
		return r;
	r = command_buffers(job->reader, options, audience_of(options->format) != KM_FOR_PEOPLE, &list, error);
	if (!r) {
		job->is_list = list.is_all && options->format == FORMAT_JSON;
		if (list.is_all && list.count > 1 && (options->format == FORMAT_CSV || options->format == FORMAT_JUNIT))
			r = km_error_set(error, -EINVAL, "--buffer all has no %s form: choose one buffer, or --json",
					 options->format == FORMAT_CSV ? "CSV" : "JUnit");
		else
			r = run_buffers(job, &list, error);
		free(list.indexes);
	}
	km_reader_close(job->reader);
	return r;
}

/* BEFORE[,AFTER] */
static int load_slabinfo(struct job *job, const char *text, struct km_error *error)
{
	size_t bytes = strcspn(text, ",");
	const char *after = text[bytes] ? text + bytes + 1 : NULL;
	char *before;
	int r;

	if (!bytes || (after && (!*after || strchr(after, ','))))
		return km_error_set(error, -EINVAL,
				    "--slabinfo: one file or two with a comma between them are wanted, not \"%.80s\"",
				    text);
	before = strndup(text, bytes);
	r = before ? km_slabinfo_load(before, &job->slabinfo[0], error) : km_error_set(error, -ENOMEM, "out of memory");
	free(before);
	if (r)
		return r;
	job->analysis_options.slabinfo_before = &job->slabinfo[0];
	if (!after)
		return 0;
	r = km_slabinfo_load(after, &job->slabinfo[1], error);
	if (!r)
		job->analysis_options.slabinfo_after = &job->slabinfo[1];
	return r;
}

/* What the recorded machine said of its caches. */
static int load_slabs(struct job *job, struct km_error *error)
{
	int r = 0;

	if (job->options->slab_aliases)
		r = km_slab_aliases_load(job->options->slab_aliases, &job->aliases, error);
	job->analysis_options.aliases = job->aliases;
	if (!r && job->options->slabinfo)
		r = load_slabinfo(job, job->options->slabinfo, error);
	return r;
}

static int run(const struct options *options, enum command_id command, make_document *make, bool has_leaks,
	       struct km_error *error)
{
	struct job job = { .options = options, .make = make, .is_first = true };
	int r = command_analysis_options(options, &job.analysis_options, error);

	if (!r && options->sort)
		r = km_sort_parse(options->sort, &job.sort, error);
	if (r)
		return r;
	job.analysis_options.stops_at_until = command == COMMAND_OBJECTS;
	job.analysis_options.has_sizes = command == COMMAND_SIZE;
	job.analysis_options.has_leaks = has_leaks;
	job.analysis_options.has_page_frees = true;
	if (command == COMMAND_TIMELINE)
		job.analysis_options.points_limit = options->points ? options->points : KM_TIMELINE_POINTS_DEFAULT;
	job.document_options = (struct km_document_options){
		.audience = audience_of(options->format),
		.sort = &job.sort,
		.has_limit = options->has_limit,
		.limit = (size_t)options->limit,
		.fields = options->fields,
		.verbose = options->verbose,
		.columns = command_terminal_width(),
		.is_csv = options->format == FORMAT_CSV,
		.has_utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8"),
	};
	r = command_gates_load(options, &job.gates, error);
	for (size_t i = 0; i < job.gates.rules.count && !r; i++)
		r = km_gate_needs_no_base(&job.gates.rules.items[i], error);
	if (!r)
		r = load_slabs(&job, error);
	if (!r)
		r = run_job(&job, error);
	km_slab_aliases_free(job.aliases);
	km_slabinfo_release(&job.slabinfo[0]);
	km_slabinfo_release(&job.slabinfo[1]);
	command_gates_release(&job.gates);
	return r ? r : command_gates_status(options, job.verdict);
}

int command_report(const struct options *options, struct km_error *error)
{
	return run(options, COMMAND_REPORT, km_document_report, true, error);
}

int command_objects(const struct options *options, struct km_error *error)
{
	return run(options, COMMAND_OBJECTS, km_document_objects, false, error);
}

int command_leaks(const struct options *options, struct km_error *error)
{
	return run(options, COMMAND_LEAKS, km_document_leaks, true, error);
}

int command_size(const struct options *options, struct km_error *error)
{
	return run(options, COMMAND_SIZE, km_document_size, false, error);
}

int command_timeline(const struct options *options, struct km_error *error)
{
	return run(options, COMMAND_TIMELINE, km_document_timeline, true, error);
}
