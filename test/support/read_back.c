/* SPDX-License-Identifier: GPL-2.0-only */
#include "read_back.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

struct km_reader *km_read_back_open(const void *data, size_t bytes, const struct km_reader_options *options)
{
	struct km_source *source = km_source_new_memory("built.dat", data, bytes);
	struct km_error error = { 0 };
	struct km_reader *reader = NULL;

	ck_assert_ptr_nonnull(source);
	ck_assert_msg(!km_reader_open(source, options, &reader, &error), "%s", error.text);
	return reader;
}

void km_read_back_refused(const void *data, size_t bytes, struct km_error *ret_error)
{
	struct km_source *source = km_source_new_memory("built.dat", data, bytes);
	struct km_reader *reader = NULL;
	int r;

	*ret_error = (struct km_error){ 0 };
	ck_assert_ptr_nonnull(source);
	r = km_reader_open(source, NULL, &reader, ret_error);
	ck_assert_int_lt(r, 0);
	ck_assert_int_eq(ret_error->code, r);
	ck_assert_ptr_null(reader);
	ck_assert_ptr_nonnull(strstr(ret_error->text, "built.dat"));
	km_source_close(source);
}

struct km_event *km_read_back_all(struct km_reader *reader, size_t buffer, size_t batch, size_t *ret_count)
{
	struct km_error error = { 0 };
	struct km_event *events = NULL;
	size_t count = 0, room = 0;
	int n;

	ck_assert_msg(!km_reader_start(reader, buffer, &error), "%s", error.text);
	do {
		if (room < count + batch) {
			room = 2 * (count + batch);
			events = realloc(events, room * sizeof(*events));
			ck_assert_ptr_nonnull(events);
		}
		n = km_reader_read(reader, events + count, batch, &error);
		ck_assert_msg(n >= 0, "%s", error.text);
		ck_assert_uint_le((size_t)n, batch);
		count += (size_t)n;
	} while (n);
	*ret_count = count;
	return events;
}

uint64_t km_read_back_count(struct km_reader *reader, const char *name)
{
	size_t kinds;
	const struct km_event_count *counts = km_reader_event_counts(reader, &kinds);

	for (size_t i = 0; i < kinds; i++) {
		if (!strcmp(counts[i].name, name))
			return counts[i].count;
	}
	return 0;
}
