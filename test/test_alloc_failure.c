/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The whole way from bytes to JSON with the n-th allocation failing, for
 * every n: an error comes back, nothing leaks, nothing crashes. The linker
 * wraps the allocation functions as kmstat's own code calls them; those of
 * libraries do not fail here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"
#include "compare.h"
#include "document.h"
#include "fixture.h"
#include "gate_lookup.h"
#include "output.h"
#include "run_merge.h"
#include "suppress.h"
#include "testing.h"
#include "trace_writer.h"

/* Allocations until one fails; -1: none does. Failing goes on from there. */
static long left = -1;
static bool failed;

static bool fails(void)
{
	if (left < 0)
		return false;
	if (left > 0) {
		left--;
		return false;
	}
	failed = true;
	errno = ENOMEM;
	return true;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_reallocarray(void *old, size_t count, size_t bytes);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_reallocarray(void *old, size_t count, size_t bytes);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
	return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
	return fails() ? NULL : __real_realloc(old, bytes);
}

void *__wrap_reallocarray(void *old, size_t count, size_t bytes)
{
	return fails() ? NULL : __real_reallocarray(old, count, bytes);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t bytes)
{
	return fails() ? NULL : __real_strndup(text, bytes);
}

/* What a run asks for. */
enum what {
	REPORT_JSON,
	REPORT_TABLE,
	OBJECTS_JSON,
	LEAKS_TABLE,
	SAMPLE_JSON,
	SIZE_JSON,
	TIMELINE_TABLE,
	TIMELINE_JSON,
	SLABS_TABLE,
	SLABS_JSON,
	INFO_TABLE,
	MERGED_JSON,
	COMPARED_MARKDOWN,
	COMPARED_JUNIT
};

static bool is_table(enum what what)
{
	return what == REPORT_TABLE || what == LEAKS_TABLE || what == TIMELINE_TABLE || what == SLABS_TABLE ||
	       what == INFO_TABLE;
}

static int write_document(struct km_document *document, enum what what, FILE *out, struct km_error *error)
{
	const struct km_output_style style = { .width = 80 };

	if (what == COMPARED_MARKDOWN)
		return km_output_markdown(out, &document->report, &document->fields, error);
	if (what == COMPARED_JUNIT)
		return km_output_junit(out, &document->report, error);
	if (!is_table(what))
		return km_output_json(out, &document->report, &document->fields, error);
	return km_output_table(out, &document->report, &document->fields, &style, error);
}

/* As a run, merged with another that only seems to be of another recording, and saved. */
static int merge(const struct km_analysis *analysis, FILE *out, struct km_error *error)
{
	const struct km_document_options options = { .audience = KM_FOR_MACHINES };
	struct km_run_merger merger = { .slots = { NULL } };
	struct km_run *run = NULL;
	struct km_document document;
	int r = 0;

	for (unsigned i = 0; i < 3 && !r; i++) {
		r = km_run_from_analysis(analysis, &run, error);
		if (r)
			break;
		run->sources[0].events_count += i;
		r = km_run_merger_add(&merger, run, error);
	}
	run = NULL;
	if (r)
		km_run_merger_release(&merger);
	else
		r = km_run_merger_finish(&merger, &run, error);
	if (!r)
		r = km_document_run(&document, run, &options, error);
	if (!r) {
		r = write_document(&document, MERGED_JSON, out, error);
		km_document_release(&document);
	}
	km_run_release(run);
	return r;
}

/* What rules come to, as a document. */
static int write_compared(const struct km_compare *compare, enum what what, FILE *out, struct km_error *error)
{
	struct km_document_options options = { .audience = what == COMPARED_JUNIT ? KM_FOR_MACHINES : KM_FOR_PEOPLE };
	struct km_suppressions suppressions = { 0 };
	struct km_gate_outcomes outcomes = { 0 };
	struct km_gate_rules rules = { 0 };
	struct km_document document;
	int r = km_gate_rules_add(&rules, "live_bytes>+5%", error);

	if (!r)
		r = km_gate_rules_add(&rules, "cache:nosuch?:live_count>1", error);
	if (!r)
		r = km_suppress_add(&suppressions, "function:*1 max=1M some reason", error);
	if (!r)
		r = km_gate_judge_compare(compare, &rules, &suppressions, &outcomes, error);
	options.gates = &outcomes;
	options.suppressions = &suppressions;
	if (!r)
		r = km_document_compare(&document, compare, &options, error);
	if (!r) {
		r = write_document(&document, what, out, error);
		km_document_release(&document);
	}
	km_gate_outcomes_release(&outcomes);
	km_gate_rules_release(&rules);
	km_suppress_release(&suppressions);
	return r;
}

/* One run a side, or four for the test, of which those that are new seem to hold more. */
static int compare(const struct km_analysis *analysis, enum what what, FILE *out, struct km_error *error)
{
	size_t count = what == COMPARED_JUNIT ? 1 : 4;
	struct km_compare_side sides[2] = { { .count = count }, { .count = count } };
	struct km_run *runs[8] = { NULL };
	struct km_compare *compared;
	int r = 0;

	for (size_t i = 0; i < 2 * count && !r; i++) {
		r = km_run_from_analysis(analysis, &runs[i], error);
		for (size_t k = 0; !r && i >= count && k < runs[i]->axes[KM_RUN_SITES].count; k++)
			runs[i]->axes[KM_RUN_SITES].rows[k]->values[KM_METRIC_LIVE_BYTES].value += k * i;
	}
	sides[0].runs = runs;
	sides[1].runs = runs + count;
	if (!r)
		r = km_compare_run(&sides[0], &sides[1], &(struct km_compare_options){ .axis = KM_RUN_FUNCTIONS },
				   &compared, error);
	if (!r) {
		r = write_compared(compared, what, out, error);
		km_compare_free(compared);
	}
	for (unsigned i = 0; i < 8; i++)
		km_run_release(runs[i]);
	return r;
}

/* What the recorded machine said of its caches. */
struct slabs {
	struct km_slab_aliases *aliases;
	struct km_slabinfo before, after;
};

static const char *listing_path, *before_path, *after_path; /* of slabs_*() */

static int load_slabs(struct slabs *slabs, struct km_analysis_options *options, struct km_error *error)
{
	int r = km_slab_aliases_load(listing_path, &slabs->aliases, error);

	if (!r)
		r = km_slabinfo_load(before_path, &slabs->before, error);
	if (!r)
		r = km_slabinfo_load(after_path, &slabs->after, error);
	options->aliases = slabs->aliases;
	options->slabinfo_before = &slabs->before;
	options->slabinfo_after = &slabs->after;
	return r;
}

static void release_slabs(struct slabs *slabs)
{
	km_slab_aliases_free(slabs->aliases);
	km_slabinfo_release(&slabs->before);
	km_slabinfo_release(&slabs->after);
}

static int analyse(struct km_reader *reader, enum what what, FILE *out, struct km_error *error)
{
	struct km_filter filter = { .min_size_bytes = 1 };
	struct km_analysis_options options = { .filter = &filter, .max_memory_bytes = 1 << 20, .has_detail = true };
	struct km_document_options document_options = { .audience = KM_FOR_MACHINES };
	struct km_analysis *analysis = NULL;
	struct slabs listed = { 0 };
	struct km_document document;
	int r;

	if (is_table(what))
		document_options.audience = KM_FOR_PEOPLE;
	options.has_leaks = what == LEAKS_TABLE;
	if (what == REPORT_TABLE)
		r = km_by_parse("function,cache,comm", &options.by, error);
	else
		r = 0;
	if (!r && (what == SLABS_TABLE || what == SLABS_JSON))
		r = load_slabs(&listed, &options, error);
	if (what == TIMELINE_TABLE || what == TIMELINE_JSON)
		options.points_limit = 8;
	if (what == SAMPLE_JSON || what == TIMELINE_JSON) {
		options.when_full = KM_WHEN_FULL_SAMPLE;
		options.objects_count = 16;
	}
	options.has_sizes = what == SIZE_JSON;
	if (what == INFO_TABLE) {
		r = km_document_info(&document, reader, &document_options, error);
	} else if (!r) {
		r = km_analysis_run(reader, 0, &options, &analysis, error);
		if (!r && what >= MERGED_JSON) {
			r = what == MERGED_JSON ? merge(analysis, out, error) : compare(analysis, what, out, error);
			km_analysis_free(analysis);
			return r;
		}
		if (!r && what == OBJECTS_JSON)
			r = km_document_objects(&document, analysis, &document_options, error);
		else if (!r && what == LEAKS_TABLE)
			r = km_document_leaks(&document, analysis, &document_options, error);
		else if (!r && options.points_limit)
			r = km_document_timeline(&document, analysis, &document_options, error);
		else if (!r && what == SIZE_JSON)
			r = km_document_size(&document, analysis, &document_options, error);
		else if (!r)
			r = km_document_report(&document, analysis, &document_options, error);
	}
	if (!r) {
		r = write_document(&document, what, out, error);
		km_document_release(&document);
	}
	km_analysis_free(analysis);
	release_slabs(&listed);
	return r;
}

static int run(const void *bytes, size_t size, enum what what, FILE *out, struct km_error *error)
{
	struct km_reader_options options = { .threads = 1, .only_counts = what == INFO_TABLE };
	struct km_source *source = km_source_new_memory("trace.dat", bytes, size);
	struct km_reader *reader;
	int r;

	if (!source)
		return km_error_set(error, -ENOMEM, "out of memory");
	r = km_reader_open(source, &options, &reader, error);
	if (r) {
		km_source_close(source);
		return r;
	}
	r = analyse(reader, what, out, error);
	km_reader_close(reader);
	return r;
}

static void *build(enum tw_kernel kernel, size_t *size)
{
	struct tw *tw = tw_new(&(struct tw_options){ .kernel = kernel,
						     .cpus = 2,
						     .version = 7,
						     .long_bytes = 8,
						     .page_bytes = 4096,
						     .compression = TW_COMPRESSION_ZSTD });
	void *bytes;

	for (unsigned i = 0; i < 40; i++) {
		uint64_t ptr = 0xffff888000001000 + 64 * (i % 13);

		tw_kmalloc(tw, TW_TOP, 0, 1000 + 100 * i, 40 + (int)(i % 3), 0xffffffff81000010 + i, ptr, 60, 64,
			   tw_gfp(kernel, "GFP_KERNEL"), -1);
		if (i % 2)
			tw_kfree(tw, TW_TOP, 1, 1050 + 100 * i, 40, 0xffffffff81000100, ptr);
		tw_cache_alloc(tw, TW_TOP, 0, 1060 + 100 * i, 41, 0xffffffff81000200, ptr + 0x10000, 100, 104,
			       tw_gfp(kernel, "GFP_KERNEL"), -1, "dentry");
		tw_cache_free(tw, TW_TOP, 1, 1070 + 100 * i, 41, 0xffffffff81000300, ptr + 0x10000, "dentry");
	}
	bytes = tw_finish(tw, size);
	tw_free(tw);
	return bytes;
}

static void try_all(enum tw_kernel kernel, enum what what)
{
	size_t size;
	void *bytes = build(kernel, &size);
	long n;

	for (n = 0;; n++) {
		struct km_error error = { 0 };
		FILE *out = fopen("/dev/null", "w");
		int r;

		ck_assert_ptr_nonnull(out);
		failed = false;
		left = n;
		r = run(bytes, size, what, out, &error);
		left = -1;
		fclose(out);
		if (!failed) {
			ck_assert_msg(r == 0, "without a failure: %s", error.text);
			break;
		}
		/* Some allocations can be done without (names of tasks): then the run goes through. */
		ck_assert_msg(r == 0 || error.text[0], "allocation %ld: error %d without a text", n, r);
		ck_assert_int_lt(n, 100000);
	}
	ck_assert_int_gt(n, 50);
	free(bytes);
}

START_TEST(report_json)
{
	try_all(TW_KERNEL_6_18, REPORT_JSON);
}
END_TEST

START_TEST(report_of_learnt_names)
{
	try_all(TW_KERNEL_6_12, REPORT_TABLE);
}
END_TEST

START_TEST(objects_json)
{
	try_all(TW_KERNEL_6_12, OBJECTS_JSON);
}
END_TEST

START_TEST(leaks_table)
{
	try_all(TW_KERNEL_6_12, LEAKS_TABLE);
}
END_TEST

static char *write_text(const char *text)
{
	return km_fixture_write_temporary(text, strlen(text));
}

START_TEST(sample_json)
{
	try_all(TW_KERNEL_6_12, SAMPLE_JSON);
}
END_TEST

START_TEST(size_json)
{
	try_all(TW_KERNEL_6_18, SIZE_JSON);
}
END_TEST

START_TEST(timelines)
{
	try_all(TW_KERNEL_6_12, TIMELINE_TABLE);
	try_all(TW_KERNEL_6_18, TIMELINE_JSON);
}
END_TEST

START_TEST(slabs)
{
	char *paths[3];

	listing_path = paths[0] = write_text("dentry -> :a-0000104\nb -> :a-0000104\nkmalloc-64\n");
	before_path = paths[1] = write_text("slabinfo - version: 2.1\nb 1 1 104 32 1\nkmalloc-rnd-01-64 5 5 64 64 1\n");
	after_path = paths[2] = write_text("slabinfo - version: 2.1\nb 2 2 104 32 1\nc 9 9 8 512 1\nc 9 9 8 512 1\n");
	try_all(TW_KERNEL_6_12, SLABS_TABLE);
	try_all(TW_KERNEL_6_18, SLABS_JSON);
	for (unsigned i = 0; i < 3; i++) {
		unlink(paths[i]);
		free(paths[i]);
	}
}
END_TEST

START_TEST(info_table)
{
	try_all(TW_KERNEL_6_18, INFO_TABLE);
}
END_TEST

START_TEST(merged_json)
{
	try_all(TW_KERNEL_6_12, MERGED_JSON);
}
END_TEST

START_TEST(compared)
{
	try_all(TW_KERNEL_6_12, COMPARED_MARKDOWN);
	try_all(TW_KERNEL_6_12, COMPARED_JUNIT);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { report_json,  report_of_learnt_names,
				       objects_json, leaks_table,
				       sample_json,  size_json,
				       timelines,    slabs,
				       info_table,   merged_json,
				       compared,     NULL };

	return km_test_main("alloc_failure", tests, 240);
}
