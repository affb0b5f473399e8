/* SPDX-License-Identifier: GPL-2.0-only */
#include "analysed.h"

#include <stdlib.h>
#include <string.h>

#include "read_back.h"
#include "testing.h"

struct analysed *analysed_try(struct tw *tw, const struct km_analysis_options *options, const char *time,
			      const struct km_filter *filter)
{
	struct analysed *a = calloc(1, sizeof(*a));
	struct km_analysis_options full = { .max_memory_bytes = 0 };
	struct km_reader_options reading = { .threads = 1 };
	size_t bytes;

	ck_assert_ptr_nonnull(a);
	if (options)
		full = *options;
	if (filter)
		a->filter = *filter;
	if (time) {
		ck_assert_msg(!km_time_window_parse(time, &a->filter.from, &a->filter.until, &a->error), "%s",
			      a->error.text);
		a->filter.has_time = true;
		reading.marks[0] = a->filter.from.text;
		reading.marks[1] = a->filter.until.text;
	}
	full.filter = &a->filter;
	if (!full.max_memory_bytes)
		full.max_memory_bytes = 1 << 26;
	a->data = tw_finish(tw, &bytes);
	tw_free(tw);
	a->reader = km_read_back_open(a->data, bytes, &reading);
	km_analysis_run(a->reader, 0, &full, &a->analysis, &a->error);
	ck_assert(!a->analysis == !!a->error.code);
	return a;
}

struct analysed *analysed_run(struct tw *tw, const struct km_analysis_options *options, const char *time)
{
	struct analysed *a = analysed_try(tw, options, time, NULL);

	ck_assert_msg(a->analysis, "%s", a->error.text);
	return a;
}

void analysed_free(struct analysed *a)
{
	km_analysis_free(a->analysis);
	km_reader_close(a->reader);
	km_filter_release(&a->filter);
	free(a->data);
	free(a);
}

bool analysed_has_column(const struct km_column *columns, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(columns[i].name, name))
			return true;
	}
	return false;
}

size_t analysed_column(const struct km_column *columns, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(columns[i].name, name))
			return i;
	}
	ck_abort_msg("no column %s", name);
	return 0;
}
