/* SPDX-License-Identifier: GPL-2.0-only */
#include "run_made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "fixture.h"
#include "output.h"
#include "testing.h"

static char *write_json(const struct km_analysis *analysis)
{
	const struct km_document_options options = { .audience = KM_FOR_MACHINES };
	struct km_error error = { 0 };
	struct km_document document;
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	ck_assert_ptr_nonnull(stream);
	ck_assert_msg(!km_document_report(&document, analysis, &options, &error), "%s", error.text);
	ck_assert_int_eq(km_output_json(stream, &document.report, &document.fields, &error), 0);
	km_document_release(&document);
	ck_assert_int_eq(fclose(stream), 0);
	return text;
}

struct run_made run_make_fixture(const char *test_dir, const char *name, const char *by, uint64_t objects_count)
{
	struct km_analysis_options options = { .objects_count = objects_count, .max_memory_bytes = 1 << 26 };
	struct km_filter filter = { .has_time = false };
	char *path = km_fixture_path(test_dir, name);
	struct run_made made = { .run = NULL };
	struct km_analysis *analysis;
	struct km_error error = { 0 };
	struct km_source *source;
	struct km_reader *reader;
	size_t buffer = 0;

	options.filter = &filter;
	if (by)
		ck_assert_int_eq(km_by_parse(by, &options.by, NULL), 0);
	ck_assert_int_eq(km_source_open(path, &source, &error), 0);
	ck_assert_msg(!km_reader_open(source, &(struct km_reader_options){ .threads = 1 }, &reader, &error), "%s",
		      error.text);
	while (km_analysis_has_slab(reader, buffer, &error) == 0)
		buffer++;
	ck_assert_msg(!km_analysis_run(reader, buffer, &options, &analysis, &error), "%s", error.text);
	ck_assert_msg(!km_run_from_analysis(analysis, &made.run, &error), "%s", error.text);
	made.json = write_json(analysis);
	km_analysis_free(analysis);
	km_reader_close(reader);
	free(path);
	return made;
}

void run_made_release(struct run_made *made)
{
	km_run_release(made->run);
	free(made->json);
}

struct km_run *run_load_text(const char *json)
{
	struct km_source *source = km_source_new_memory("saved", json, strlen(json));
	struct km_error error = { 0 };
	struct km_run *run;

	ck_assert_ptr_nonnull(source);
	ck_assert_msg(!km_run_load(source, &run, &error), "%s", error.text);
	km_source_close(source);
	return run;
}

char *run_replaced(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	char *result = NULL;

	ck_assert_msg(at, "no %s", from);
	ck_assert_int_gt(asprintf(&result, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)), 0);
	return result;
}

char *run_without_keys(const char *json, const char *const *ends)
{
	char *text = strdup(json);

	ck_assert_ptr_nonnull(text);
	for (; *ends; ends++) {
		char *end;

		while ((end = strstr(text, *ends)) != NULL) {
			char *key = end - 1, *next = end + strlen(*ends);

			while (*key != '"')
				key--;
			/* Numbers and null only; never the last member of its object. */
			next += strcspn(next, ",");
			ck_assert_int_eq(*next, ',');
			memmove(key, next + 1, strlen(next + 1) + 1);
		}
	}
	return text;
}

/* --- equality --- */

static void same_text(const char *a, const char *b, const char *what)
{
	ck_assert_msg(!a == !b && (!a || !strcmp(a, b)), "%s: \"%s\" and \"%s\"", what, a ? a : "(null)",
		      b ? b : "(null)");
}

static void same_value(const struct km_value *a, const struct km_value *b, const char *what)
{
	ck_assert_msg(a->value == b->value && a->min == b->min && a->max == b->max &&
			      a->max_is_unknown == b->max_is_unknown && a->is_null == b->is_null,
		      "%s: %ju [%ju, %ju] and %ju [%ju, %ju]", what, (uintmax_t)a->value, (uintmax_t)a->min,
		      (uintmax_t)a->max, (uintmax_t)b->value, (uintmax_t)b->min, (uintmax_t)b->max);
}

static void same_lifetimes(const struct km_histogram *a, const struct km_histogram *b)
{
	ck_assert_uint_eq(a->count, b->count);
	if (!a->count)
		return;
	ck_assert_uint_eq(a->min, b->min);
	ck_assert_uint_eq(a->max, b->max);
	for (unsigned bin = 0; bin < KM_HISTOGRAM_BINS; bin++) {
		uint64_t x = bin >= a->first && bin - a->first < a->length ? a->bins[bin - a->first] : 0;
		uint64_t y = bin >= b->first && bin - b->first < b->length ? b->bins[bin - b->first] : 0;

		ck_assert_uint_eq(x, y);
	}
}

static void same_row(const struct km_run *run, const struct km_run_row *a, const struct km_run_row *b)
{
	same_text(a->symbol, b->symbol, "symbol");
	same_text(a->function, b->function, "function");
	same_text(a->module, b->module, "module");
	same_text(a->cache, b->cache, "cache");
	for (unsigned i = 0; i < run->by.count; i++) {
		ck_assert_int_eq(a->keys[i].is_null, b->keys[i].is_null);
		if (a->keys[i].is_null)
			continue;
		if (km_by_columns[run->by.fields[i]].type == KM_TYPE_STRING && a->keys[i].text)
			same_text(a->keys[i].text, b->keys[i].text, "key");
		else
			ck_assert_uint_eq(a->keys[i].number, b->keys[i].number);
	}
	ck_assert_int_eq(a->has_address, b->has_address);
	ck_assert_uint_eq(a->address, b->address);
	ck_assert_uint_eq(a->caches_count, b->caches_count);
	for (size_t i = 0; i < a->caches_count; i++)
		same_text(a->caches[i], b->caches[i], "caches");
	for (unsigned i = 0; i < KM_METRICS; i++)
		same_value(&a->values[i], &b->values[i], km_metrics[i].name);
	same_value(&a->sites_count, &b->sites_count, "sites_count");
	same_value(&a->object_bytes, &b->object_bytes, "object_bytes");
	same_value(&a->peak_time, &b->peak_time, "peak_time");
	same_value(&a->peak_count_time, &b->peak_count_time, "peak_count_time");
	ck_assert_int_eq(a->live_is, b->live_is);
	ck_assert_int_eq(a->peak_is, b->peak_is);
	same_lifetimes(&a->lifetimes, &b->lifetimes);
}

static void same_health(const struct km_run *a, const struct km_run *b)
{
	ck_assert_int_eq(memcmp(a->flags, b->flags, sizeof(a->flags)), 0);
	ck_assert_int_eq(a->completeness, b->completeness);
	ck_assert_uint_eq(a->lost_events_count, b->lost_events_count);
	ck_assert_int_eq(a->lost_is, b->lost_is);
	ck_assert_int_eq(a->symbols, b->symbols);
	ck_assert_int_eq(memcmp(a->replayed, b->replayed, sizeof(a->replayed)), 0);
	ck_assert_int_eq(memcmp(&a->overflow, &b->overflow, sizeof(a->overflow)), 0);
	ck_assert_uint_eq(a->warnings_count, b->warnings_count);
	for (size_t i = 0; i < a->warnings_count; i++) {
		same_text(a->warnings[i].code, b->warnings[i].code, "code");
		same_text(a->warnings[i].text, b->warnings[i].text, "text");
		ck_assert_uint_eq(a->warnings[i].sources_count, b->warnings[i].sources_count);
	}
	ck_assert_uint_eq(a->unmatched_count, b->unmatched_count);
	for (size_t i = 0; i < a->unmatched_count; i++) {
		same_text(a->unmatched[i].cache, b->unmatched[i].cache, "unmatched");
		ck_assert_uint_eq(a->unmatched[i].count, b->unmatched[i].count);
	}
}

static void same_source(const struct km_run_source *a, const struct km_run_source *b)
{
	same_text(a->file, b->file, "file");
	same_text(a->format, b->format, "format");
	same_text(a->kernel, b->kernel, "kernel");
	same_text(a->recorder, b->recorder, "recorder");
	same_text(a->clock, b->clock, "clock");
	same_text(a->buffer, b->buffer, "buffer");
	ck_assert(a->clock_is_ns == b->clock_is_ns && a->clock_is_coherent == b->clock_is_coherent &&
		  a->big_endian == b->big_endian);
	ck_assert(a->cpus_count == b->cpus_count && a->events_count == b->events_count &&
		  a->word_bytes == b->word_bytes && a->page_bytes == b->page_bytes);
	ck_assert(a->start == b->start && a->end == b->end && a->duration == b->duration);
}

void run_expect_equal(const struct km_run *a, const struct km_run *b)
{
	ck_assert_uint_eq(a->sources_count, b->sources_count);
	for (size_t i = 0; i < a->sources_count; i++)
		same_source(&a->sources[i], &b->sources[i]);
	ck_assert(a->clock_is_ns == b->clock_is_ns && a->sites_by_function == b->sites_by_function &&
		  a->sites_are_bare == b->sites_are_bare && a->truncated == b->truncated);
	same_text(a->filters, b->filters, "filters");
	ck_assert_uint_eq(a->by.count, b->by.count);
	for (unsigned i = 0; i < a->by.count; i++)
		ck_assert_int_eq(a->by.fields[i], b->by.fields[i]);
	same_health(a, b);
	same_row(a, &a->totals, &b->totals);
	for (unsigned axis = 0; axis < KM_RUN_AXES; axis++) {
		ck_assert_uint_eq(a->axes[axis].count, b->axes[axis].count);
		for (size_t i = 0; i < a->axes[axis].count; i++)
			same_row(a, a->axes[axis].rows[i], b->axes[axis].rows[i]);
	}
}
