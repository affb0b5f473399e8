/* SPDX-License-Identifier: GPL-2.0-only */
/* One side of a comparison, or one part of a merge: a saved report, or a trace that is analysed as the options say. */
#include "command.h"

#include <errno.h>
#include <stdlib.h>

#include "progress.h"

static int analyse(struct km_reader *reader, const struct options *options, struct km_run **ret_run,
		   struct km_error *error)
{
	struct km_analysis_options analysis_options;
	struct km_analysis *analysis = NULL;
	struct buffer_list list = { .indexes = NULL };
	struct progress *progress;
	int r = command_analysis_options(options, &analysis_options, error);

	analysis_options.has_leaks = true;
	analysis_options.has_page_frees = true;
	if (!r)
		r = command_buffers(reader, options, true, &list, error);
	if (!r && list.count != 1)
		r = km_error_set(error, -EINVAL, "%s: --buffer all has no place here: choose one buffer",
				 km_source_name(reader->source));
	if (!r) {
		progress = progress_start(reader, options->quiet);
		r = km_analysis_run(reader, list.indexes[0], &analysis_options, &analysis, error);
		progress_stop(progress);
	}
	if (!r && !analysis->has_slab_events)
		r = command_no_slab_events(reader, error);
	if (!r)
		r = km_run_from_analysis(analysis, ret_run, error);
	km_analysis_free(analysis);
	free(list.indexes);
	return r;
}

/* A saved report, or a reader of a recording: one of the two is set. */
static int load_or_open(const char *path, const struct km_reader_options *options, struct km_run **ret_run,
			struct km_reader **ret_reader, struct km_error *error)
{
	struct km_source *source;
	int r = km_source_open(path, &source, error);

	if (r)
		return r;
	r = km_run_is_saved(source, error);
	if (r > 0) {
		r = km_run_load(source, ret_run, error);
	} else if (!r) {
		r = km_reader_open(source, options, ret_reader, error);
		if (!r)
			return 0; /* the source is the reader's */
	}
	km_source_close(source);
	return r;
}

int command_load_run(const char *path, const struct options *options, struct km_run **ret_run, struct km_error *error)
{
	struct km_reader_options reader_options = { .threads = options->threads,
						    .has_pages = true,
						    .names_at_end = !options->by && !options->filter.comm.count };
	struct km_reader *reader = NULL;
	int r;

	if (options->filter.from.kind == KM_TIME_MARK)
		reader_options.marks[0] = options->filter.from.text;
	if (options->filter.until.kind == KM_TIME_MARK)
		reader_options.marks[1] = options->filter.until.text;
	if (command_is_directory(path))
		r = command_open_path(path, &reader_options, &reader, error);
	else
		r = load_or_open(path, &reader_options, ret_run, &reader, error);
	if (r || !reader)
		return r;
	r = analyse(reader, options, ret_run, error);
	km_reader_close(reader);
	return r;
}
