/* SPDX-License-Identifier: GPL-2.0-only */
/* kmstat merge: several reports, or traces, into one report. */
#include "command.h"
#include "run_merge.h"

static int merge_all(const struct options *options, struct km_run **ret_run, struct km_error *error)
{
	struct km_run_merger merger = { .slots = { NULL } };
	int r = 0;

	for (size_t i = 0; i < options->inputs.count && !r; i++) {
		struct km_run *run;

		r = command_load_run(options->inputs.items[i], options, &run, error);
		if (!r)
			r = km_run_merger_add(&merger, run, error);
	}
	if (r)
		km_run_merger_release(&merger);
	else
		r = km_run_merger_finish(&merger, ret_run, error);
	return r;
}

int command_merge(const struct options *options, struct km_error *error)
{
	const struct km_document_options document_options = {
		.audience = options->format == FORMAT_TABLE ? KM_FOR_PEOPLE : KM_FOR_MACHINES,
		.has_limit = options->has_limit,
		.limit = (size_t)options->limit,
	};
	struct km_document document;
	struct output output;
	struct km_run *run = NULL;
	int r = command_output_open(options, &output, error);

	if (r)
		return r;
	r = merge_all(options, &run, error);
	if (!r)
		r = km_document_run(&document, run, &document_options, error);
	if (!r) {
		command_output_begin(options, &output);
		r = command_write(&output, options, &document, error);
		km_document_release(&document);
	}
	km_run_release(run);
	return command_output_close(&output, r, error);
}
