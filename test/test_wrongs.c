/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What other tools get wrong: the recordings that make `perf kmem` or
 * `trace-cmd mem` count bytes that never were, or crash. The same events as
 * trace.dat, as perf.data from a file and from a pipe, and as text have to
 * give the same, right numbers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "document.h"
#include "output.h"
#include "perf_writer.h"
#include "read_back.h"
#include "testing.h"
#include "trace_writer.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SITE(i)  (UINT64_C(0xffffffff81000010) + 0x1000 * (uint64_t)(i)) /* in kernel_fn_0i of the written kallsyms */
#define P        UINT64_C(0xffff888100000040)
#define Q        UINT64_C(0xffff888100002040)

#define KMALLOC(time_, site, ptr_, asked, given)                                                                  \
	{                                                                                                         \
		.kind = KM_EVENT_KMALLOC, .time = (time_)*1000, .pid = 7, .call_site = SITE(site), .ptr = (ptr_), \
		.bytes_req = (asked), .bytes_alloc = (given), .node = KM_NODE_ANY                                 \
	}
#define KFREE(time_, site, ptr_)                                                                               \
	{                                                                                                      \
		.kind = KM_EVENT_KFREE, .time = (time_)*1000, .pid = 7, .call_site = SITE(site), .ptr = (ptr_) \
	}
#define CACHE_ALLOC(time_, site, ptr_, bytes)                                                                         \
	{                                                                                                             \
		.kind = KM_EVENT_CACHE_ALLOC, .time = (time_)*1000, .pid = 7, .call_site = SITE(site), .ptr = (ptr_), \
		.bytes_req = (bytes), .bytes_alloc = (bytes), .node = KM_NODE_ANY, .cache = 1                         \
	}
#define CACHE_FREE(time_, site, ptr_)                                                                                \
	{                                                                                                            \
		.kind = KM_EVENT_CACHE_FREE, .time = (time_)*1000, .pid = 7, .call_site = SITE(site), .ptr = (ptr_), \
		.cache = 1                                                                                           \
	}

/* ---- the forms ---- */

enum form { TRACE_DAT, PERF_FILE, PERF_PIPE, TEXT, FORMS };

static void *as_trace_dat(const struct km_event *events, size_t count, size_t *ret_bytes)
{
	struct tw *tw = tw_new(&(struct tw_options){ .clock = "mono" });
	void *data;

	for (size_t i = 0; i < count; i++)
		tw_event(tw, TW_TOP, &events[i], events[i].cache ? "filp" : NULL);
	tw_cpustat(tw, TW_TOP, 0, 0, 0, 0);
	data = tw_finish(tw, ret_bytes);
	tw_free(tw);
	return data;
}

static void *as_perf(const struct km_event *events, size_t count, bool is_pipe, size_t *ret_bytes)
{
	struct pw *pw = pw_new(&(struct pw_options){ .is_pipe = is_pipe });
	void *data;

	for (size_t i = 0; i < count; i++)
		pw_event(pw, &events[i], events[i].cache ? "filp" : NULL);
	pw_round(pw);
	data = pw_finish(pw, ret_bytes);
	pw_free(pw);
	return data;
}

static void *as_text(const struct km_event *events, size_t count, size_t *ret_bytes)
{
	char *data = NULL;
	FILE *out = open_memstream(&data, ret_bytes);

	ck_assert_ptr_nonnull(out);
	for (size_t i = 0; i < count; i++) {
		const struct km_event *e = &events[i];

		fprintf(out,
			"  task-%d  [000] .....  %" PRIu64 ".%06" PRIu64 ": %s: call_site=kernel_fn_%02u+0x10/0x80 ",
			e->pid, e->time / 1000000000, e->time / 1000 % 1000000,
			km_event_kind_name((enum km_event_kind)e->kind), (unsigned)((e->call_site - SITE(0)) / 0x1000));
		fprintf(out, "ptr=%016" PRIx64, e->ptr);
		if (e->cache)
			fprintf(out, " name=filp");
		if (km_event_is_alloc(e))
			fprintf(out, " bytes_req=%" PRIu64 " bytes_alloc=%" PRIu64 " gfp_flags=GFP_KERNEL node=-1",
				(uint64_t)e->bytes_req, (uint64_t)e->bytes_alloc);
		fputc('\n', out);
	}
	ck_assert_int_eq(fclose(out), 0);
	return data;
}

static void *build(enum form form, const struct km_event *events, size_t count, size_t *ret_bytes)
{
	if (form == TRACE_DAT)
		return as_trace_dat(events, count, ret_bytes);
	if (form == TEXT)
		return as_text(events, count, ret_bytes);
	return as_perf(events, count, form == PERF_PIPE, ret_bytes);
}

/* ---- what comes of them ---- */

struct counted {
	void *data;
	struct km_reader *reader;
	struct km_analysis *analysis;
	struct km_row total;
};

static struct counted count_events(enum form form, const struct km_event *events, size_t count)
{
	const struct km_analysis_options options = { .max_memory_bytes = 1 << 20 };
	struct counted c = { 0 };
	size_t bytes;

	c.data = build(form, events, count, &bytes);
	c.reader = km_read_back_open(c.data, bytes, NULL);
	ck_assert_int_eq(km_analysis_run(c.reader, 0, &options, &c.analysis, NULL), 0);
	ck_assert_uint_eq(c.analysis->stats->skipped_count, 0);
	ck_assert_int_eq(km_aggregate_total(c.analysis->aggregate, &c.total), 0);
	return c;
}

static void release(struct counted *c)
{
	km_row_release(&c->total);
	km_analysis_free(c->analysis);
	km_reader_close(c->reader);
	free(c->data);
}

static const struct km_replayed *replayed(const struct counted *c)
{
	return km_aggregate_replayed(c->analysis->aggregate);
}

/* The sums of one call site, by its number. */
static struct km_sums site(const struct counted *c, unsigned number)
{
	char wanted[32];
	size_t rows = km_aggregate_rows_count(c->analysis->aggregate, KM_AXIS_SITE);
	struct km_sums sums;
	struct km_row row;

	snprintf(wanted, sizeof(wanted), "kernel_fn_%02u", number);
	for (size_t i = 0; i < rows; i++) {
		uint64_t address = km_aggregate_site(c->analysis->aggregate, i);

		/* perf.data has no symbols. */
		if (address != SITE(number) && strcmp(km_naming_site(c->analysis->naming, address).function, wanted))
			continue;
		ck_assert_int_eq(km_aggregate_row(c->analysis->aggregate, KM_AXIS_SITE, i, false, &row), 0);
		sums = row.sums;
		km_row_release(&row);
		return sums;
	}
	ck_abort_msg("no site %u", number);
	return (struct km_sums){ 0 };
}

/* ---- the wrongs ---- */

/*
 * perf kmem puts a failed allocation at address 0, and every kfree(NULL)
 * then subtracts it: 8 MiB asked for in vain made 37 GB of "total freed".
 */
START_TEST(a_failed_allocation_takes_no_bytes)
{
	static const struct km_event events[] = {
		KMALLOC(1, 1, P, 100, 128),
		KMALLOC(2, 2, 0, 8 << 20, 8 << 20),
		KFREE(3, 3, 0),
		KMALLOC(4, 1, Q, 1000, 1024),
		KFREE(5, 3, 0),
		KFREE(6, 3, P),
		KFREE(7, 3, 0),
		KFREE(8, 3, 0x10),
	};

	for (enum form form = TRACE_DAT; form < FORMS; form++) {
		struct counted c = count_events(form, events, COUNT(events));

		ck_assert_uint_eq(c.total.sums.allocs_count, 3);
		ck_assert_uint_eq(c.total.sums.failed_count, 1);
		ck_assert_uint_eq(c.total.sums.tracked_count, 2);
		ck_assert_uint_eq(c.total.sums.total_allocated_bytes, 128 + 1024);
		ck_assert_uint_eq(c.total.sums.total_requested_bytes, 100 + 1000);
		ck_assert_uint_eq(c.total.sums.matched_frees_count, 1);
		ck_assert_uint_eq(c.total.sums.live_count, 1);
		ck_assert_uint_eq(c.total.sums.live_bytes, 1024);
		ck_assert_uint_eq(c.total.level.peak_live_bytes, 128 + 1024);
		ck_assert_uint_eq(site(&c, 2).failed_count, 1);
		ck_assert_uint_eq(site(&c, 2).total_allocated_bytes, 0);
		ck_assert_uint_eq(site(&c, 2).live_bytes, 0);
		ck_assert_uint_eq(replayed(&c)->null_frees_count, 4);
		ck_assert_uint_eq(replayed(&c)->unmatched_frees_count, 0);
		release(&c);
	}
}
END_TEST

/* perf kmem keeps an entry that was freed: the second free subtracts its bytes again, and counts a ping-pong. */
START_TEST(a_second_free_subtracts_nothing)
{
	static const struct km_event events[] = {
		KMALLOC(1, 1, P, 100, 128), KMALLOC(2, 1, Q, 100, 128), KFREE(3, 3, P), KFREE(4, 4, P), KFREE(5, 4, P),
		CACHE_FREE(6, 4, P),
	};

	for (enum form form = TRACE_DAT; form < FORMS; form++) {
		struct counted c = count_events(form, events, COUNT(events));

		ck_assert_uint_eq(c.total.sums.matched_frees_count, 1);
		ck_assert_uint_eq(c.total.sums.cross_cpu_frees_count, 0);
		ck_assert_uint_eq(c.total.sums.live_count, 1);
		ck_assert_uint_eq(c.total.sums.live_bytes, 128);
		ck_assert_uint_eq(c.total.sums.total_allocated_bytes, 256);
		ck_assert_uint_eq(replayed(&c)->free_events_count, 4);
		ck_assert_uint_eq(replayed(&c)->unmatched_frees_count, 3);
		release(&c);
	}
}
END_TEST

/*
 * Frees by kfree_rcu() and in bulk leave no event. trace-cmd mem and perf
 * kmem add the new object at the address and never take the old one away:
 * 127 MB of a recording that held 9.
 */
START_TEST(a_reused_address_leaves_no_phantom)
{
	static const struct km_event events[] = {
		KMALLOC(1, 1, P, 100, 128),
		CACHE_ALLOC(2, 2, P, 256),
		CACHE_ALLOC(3, 2, P, 256),
		KMALLOC(4, 1, P, 200, 256),
		KFREE(5, 3, P),
		CACHE_ALLOC(6, 2, Q, 256),
		KMALLOC(7, 1, Q, 1000, 1024),
	};

	for (enum form form = TRACE_DAT; form < FORMS; form++) {
		struct counted c = count_events(form, events, COUNT(events));

		ck_assert_uint_eq(c.total.sums.tracked_count, 6);
		ck_assert_uint_eq(c.total.sums.implied_frees_count, 4);
		ck_assert_uint_eq(c.total.sums.matched_frees_count, 1);
		ck_assert_uint_eq(c.total.sums.live_count, 1);
		ck_assert_uint_eq(c.total.sums.live_bytes, 1024);
		ck_assert_uint_eq(c.total.level.peak_live_bytes, 1024);
		ck_assert_uint_eq(c.total.level.peak_live_count, 1);
		ck_assert_uint_eq(site(&c, 1).implied_frees_count, 1); /* at the site of the OLD object */
		ck_assert_uint_eq(site(&c, 1).live_bytes, 1024);
		ck_assert_uint_eq(site(&c, 2).implied_frees_count, 3);
		ck_assert_uint_eq(site(&c, 2).live_bytes, 0);
		release(&c);
	}
}
END_TEST

/* From 6.11 on a kmalloc over 8 KiB is told twice: one object, of the second's site, in both tools two. */
START_TEST(a_kmalloc_told_twice_is_one)
{
	static const struct km_event events[] = {
		KMALLOC(1, 1, P, 10240, 16384), KMALLOC(2, 2, P, 10240, 16384), KMALLOC(3, 1, Q, 8192, 8192),
		KMALLOC(4, 2, Q, 8192, 8192), /* not over 8 KiB: another object */
	};

	for (enum form form = TRACE_DAT; form < FORMS; form++) {
		struct counted c = count_events(form, events, COUNT(events));

		ck_assert_uint_eq(c.total.sums.doubled_count, 1);
		ck_assert_uint_eq(c.total.sums.tracked_count, 3);
		ck_assert_uint_eq(c.total.sums.implied_frees_count, 1);
		ck_assert_uint_eq(c.total.sums.live_bytes, 16384 + 8192);
		ck_assert_uint_eq(c.total.sums.total_allocated_bytes, 16384 + 2 * 8192);
		ck_assert_uint_eq(site(&c, 1).doubled_count, 1);
		ck_assert_uint_eq(site(&c, 1).live_bytes, 0);
		ck_assert_uint_eq(site(&c, 2).live_bytes, 16384 + 8192);
		release(&c);
	}
}
END_TEST

/* Objects of a cache may be freed by kfree(), and kmalloc'ed ones are in the same map. */
START_TEST(kfree_frees_any_object)
{
	static const struct km_event events[] = { CACHE_ALLOC(1, 1, P, 256), KFREE(2, 3, P), KMALLOC(3, 1, Q, 60, 64),
						  KFREE(4, 3, Q) };

	for (enum form form = TRACE_DAT; form < FORMS; form++) {
		struct counted c = count_events(form, events, COUNT(events));

		ck_assert_uint_eq(c.total.sums.matched_frees_count, 2);
		ck_assert_uint_eq(c.total.sums.live_count, 0);
		ck_assert_uint_eq(c.total.sums.live_bytes, 0);
		release(&c);
	}
}
END_TEST

static char *json_of(const struct km_analysis *analysis)
{
	const struct km_document_options options = { .audience = KM_FOR_MACHINES };
	struct km_document document;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(km_document_report(&document, analysis, &options, NULL), 0);
	ck_assert_int_eq(km_output_json(out, &document.report, &document.fields, NULL), 0);
	ck_assert_int_eq(fclose(out), 0);
	km_document_release(&document);
	return text;
}

/* trace-cmd mem ends in a segmentation fault at kallsyms that are all zero (kptr_restrict). */
START_TEST(zeroed_symbols_are_said)
{
	const struct km_analysis_options options = { .max_memory_bytes = 1 << 20 };

	for (unsigned version = 6; version <= 7; version++) {
		struct tw *tw = tw_new(&(struct tw_options){ .version = version,
							     .clock = "mono",
							     .kallsyms = "0000000000000000 T _stext\n"
									 "0000000000000000 t kernel_fn_00\n"
									 "0000000000000000 t mod_fn\t[leaky]\n" });
		struct km_analysis *analysis;
		struct km_reader *reader;
		unsigned told = 0;
		size_t bytes;
		void *data;
		char *json;

		tw_kmalloc(tw, TW_TOP, 0, 1000, 7, SITE(1), P, 100, 128, 0, -1);
		tw_kfree(tw, TW_TOP, 0, 2000, 7, 0, Q);
		tw_cpustat(tw, TW_TOP, 0, 0, 0, 0);
		data = tw_finish(tw, &bytes);
		tw_free(tw);
		reader = km_read_back_open(data, bytes, NULL);
		ck_assert_int_eq(km_analysis_run(reader, 0, &options, &analysis, NULL), 0);
		for (size_t i = 0; i < analysis->health.warnings_count; i++)
			told += analysis->health.warnings[i].code == KM_WARN_SYMBOLS_ZEROED;
		ck_assert_uint_eq(told, 1);
		json = json_of(analysis);
		ck_assert_ptr_nonnull(strstr(json, "\"symbols_zeroed\""));
		ck_assert_ptr_nonnull(strstr(json, "\"symbol\":\"0xffffffff81001010\""));
		ck_assert_ptr_null(strstr(json, "_stext"));
		ck_assert_ptr_null(strstr(json, "mod_fn"));
		free(json);
		km_analysis_free(analysis);
		km_reader_close(reader);
		free(data);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_failed_allocation_takes_no_bytes,
		a_second_free_subtracts_nothing,
		a_reused_address_leaves_no_phantom,
		a_kmalloc_told_twice_is_one,
		kfree_frees_any_object,
		zeroed_symbols_are_said,
		NULL,
	};

	return km_test_main("wrongs", tests, 30);
}
