/* SPDX-License-Identifier: GPL-2.0-only */
/* kmstat info: what is in a file. */
#include <errno.h>

#include "command.h"
#include "progress.h"

int command_info(const struct options *options, struct km_error *error)
{
	struct km_reader_options reader_options = { .only_counts = true, .threads = options->threads };
	struct km_document_options document_options = {
		.audience = options->format == FORMAT_TABLE ? KM_FOR_PEOPLE : KM_FOR_MACHINES,
	};
	struct km_document document;
	struct progress *progress;
	struct km_reader *reader;
	struct output output;
	int r;

	if (options->format == FORMAT_CSV)
		return km_error_set(error, -EINVAL,
				    "--format: \"kmstat info\" is no table, it has no CSV form; use --json");
	r = command_open(options, &reader_options, &reader, error);
	if (r)
		return r;
	progress = progress_start(reader, options->quiet);
	r = km_document_info(&document, reader, &document_options, error);
	progress_stop(progress);
	if (!r) {
		r = command_output_open(options, &output, error);
		if (!r) {
			command_output_begin(options, &output);
			r = command_output_close(&output, command_write(&output, options, &document, error), error);
		}
		km_document_release(&document);
	}
	km_reader_close(reader);
	return r;
}
