/* SPDX-License-Identifier: GPL-2.0-only */
/* kmstat report and kmstat objects: one analysis a buffer, and its document. */
#include <errno.h>
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

static int report_buffer(struct job *job, size_t buffer, struct km_error *error)
{
	struct km_analysis *analysis;
	struct progress *progress = progress_start(job->reader, job->options->quiet);
	struct km_document document;
	int r = km_analysis_run(job->reader, buffer, &job->analysis_options, &analysis, error);

	progress_stop(progress);
	if (r)
		return r;
	if (!analysis->has_slab_events) {
		r = command_no_slab_events(job->reader, error);
	} else {
		r = job->make(&document, analysis, &job->document_options, error);
		if (!r) {
			command_output_begin(job->options, &job->output);
			if (job->options->format == FORMAT_CSV)
				command_print_warnings(job->options, &analysis->health);
			if (!job->is_first && job->options->format == FORMAT_TABLE)
				putc('\n', job->output.stream);
			r = write_one(job, &document, error);
			km_document_release(&document);
		}
	}
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

static int run(const struct options *options, make_document *make, bool stops_at_until, struct km_error *error)
{
	struct km_reader_options reader_options = { .threads = options->threads };
	struct job job = { .options = options, .make = make, .is_first = true };
	struct buffer_list list;
	int r = command_analysis_options(options, &job.analysis_options, error);

	if (!r && options->sort)
		r = km_sort_parse(options->sort, &job.sort, error);
	if (r)
		return r;
	job.analysis_options.stops_at_until = stops_at_until;
	job.document_options = (struct km_document_options){
		.audience = options->format == FORMAT_TABLE ? KM_FOR_PEOPLE : KM_FOR_MACHINES,
		.sort = &job.sort,
		.has_limit = options->has_limit,
		.limit = (size_t)options->limit,
		.fields = options->fields,
		.verbose = options->verbose,
	};
	reader_options.names_at_end = !job.analysis_options.has_detail && !options->filter.comm.count;
	for (unsigned i = 0; i < job.analysis_options.by.count; i++)
		reader_options.names_at_end &= job.analysis_options.by.fields[i] != KM_BY_COMM;
	if (options->filter.from.kind == KM_TIME_MARK)
		reader_options.marks[0] = options->filter.from.text;
	if (options->filter.until.kind == KM_TIME_MARK)
		reader_options.marks[1] = options->filter.until.text;
	r = command_open(options, &reader_options, &job.reader, error);
	if (r)
		return r;
	r = command_buffers(job.reader, options, options->format != FORMAT_TABLE, &list, error);
	if (!r) {
		job.is_list = list.is_all && options->format == FORMAT_JSON;
		if (list.is_all && options->format == FORMAT_CSV && list.count > 1)
			r = km_error_set(error, -EINVAL, "--buffer all has no CSV form: choose one buffer, or --json");
		else
			r = run_buffers(&job, &list, error);
		free(list.indexes);
	}
	km_reader_close(job.reader);
	return r;
}

int command_report(const struct options *options, struct km_error *error)
{
	return run(options, km_document_report, false, error);
}

int command_objects(const struct options *options, struct km_error *error)
{
	return run(options, km_document_objects, true, error);
}
