/* SPDX-License-Identifier: GPL-2.0-only */
#include "leaks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysed.h"
#include "read_back.h"
#include "testing.h"

#define SITE(i)     (tw_function(8, (i)) + 0x10)
#define START       UINT64_C(5000000000)
#define MILLISECOND UINT64_C(1000000)
#define SECOND      UINT64_C(1000000000)
#define LENGTH      (20 * SECOND) /* of a trace, unless a test says otherwise */
#define EVENTS      100000U

/* --- traces --- */

struct made {
	struct km_event *events;
	const char **caches; /* of each event */
	size_t count;
	uint64_t next_ptr, length;
	struct tw_options options;
	struct km_analysis_options analysis;
	uint64_t lost_at; /* 0: no hole */
	uint64_t dropped;
	bool has_few_kinds; /* else every kind of event is in it, at a site of its own */
	const char *time;
};

/* What a site does: births evenly over [from, to) of the trace. */
struct habit {
	unsigned site;
	const char *cache; /* NULL: kmalloc */
	uint32_t gfp;
	unsigned births;
	unsigned keep;     /* one in so many is kept, the first of each so many; 0: none */
	unsigned implied;  /* the first so many of the others are freed without an event */
	uint64_t from, to; /* 0, 0: all of the trace */
	uint64_t life;     /* of what is freed; 0: 1 ms */
	uint16_t cpus;     /* 0: one */
	int32_t pid;
};

static struct made begin(void)
{
	struct made m = { .next_ptr = UINT64_C(0xffff888000000000), .length = LENGTH };

	m.events = calloc(EVENTS, sizeof(*m.events));
	m.caches = calloc(EVENTS, sizeof(*m.caches));
	ck_assert(m.events && m.caches);
	m.analysis.has_leaks = true;
	m.options.clock = "mono";
	return m;
}

static void add(struct made *m, uint64_t time, enum km_event_kind kind, uint64_t ptr, const struct habit *h, unsigned i)
{
	struct km_event e = { .time = START + time,
			      .kind = (uint8_t)kind,
			      .ptr = ptr,
			      .call_site = SITE(h->site),
			      .cpu = (uint16_t)(h->cpus ? i % h->cpus : 0),
			      .pid = h->pid + (int32_t)(i % 3),
			      .gfp = h->gfp,
			      .node = -1 };

	ck_assert_uint_lt(m->count, EVENTS);
	if (km_event_is_alloc(&e)) {
		e.bytes_req = 100;
		e.bytes_alloc = 128;
	}
	m->caches[m->count] = h->cache;
	m->events[m->count++] = e;
}

static void live(struct made *m, const struct habit *h)
{
	enum km_event_kind alloc = h->cache ? KM_EVENT_CACHE_ALLOC : KM_EVENT_KMALLOC;
	uint64_t to = h->to ? h->to : m->length, life = h->life ? h->life : MILLISECOND;
	unsigned implied = h->implied;

	for (unsigned i = 0; i < h->births; i++) {
		/* In the middle of its share of the time. */
		uint64_t birth = h->from + (to - h->from) * (2 * i + 1) / (2 * h->births);
		uint64_t ptr = m->next_ptr += 128;

		add(m, birth, alloc, ptr, h, i);
		if (h->keep && i % h->keep == 0)
			continue;
		if (implied) {
			/* The address is used again by the same site, which then frees it with an event. */
			implied--;
			add(m, birth + life, alloc, ptr, h, i);
			add(m, birth + 2 * life, h->cache ? KM_EVENT_CACHE_FREE : KM_EVENT_KFREE, ptr, h, i);
			continue;
		}
		add(m, birth + life, h->cache ? KM_EVENT_CACHE_FREE : KM_EVENT_KFREE, ptr, h, i);
	}
}

static int compare_times(const void *x, const void *y, void *context)
{
	const struct made *m = context;
	size_t i = *(const size_t *)x, k = *(const size_t *)y;

	if (m->events[i].time != m->events[k].time)
		return m->events[i].time < m->events[k].time ? -1 : 1;
	return i < k ? -1 : 1;
}

static void add_all_kinds(struct made *m)
{
	const struct habit kmalloc = { .site = 40, .births = 1 }, cache = { .site = 41, .cache = "other", .births = 1 };

	live(m, &kmalloc);
	live(m, &cache);
}

static struct tw *write_trace(struct made *m)
{
	struct tw *tw;
	size_t *order;
	bool has_lost = !m->lost_at;

	if (!m->has_few_kinds)
		add_all_kinds(m);
	order = calloc(m->count + 1, sizeof(*order));
	if (!m->options.cpus)
		m->options.cpus = 1;
	tw = tw_new(&m->options);
	for (unsigned cpu = 0; cpu < m->options.cpus; cpu++)
		tw_cpustat(tw, TW_TOP, cpu, 0, 0, cpu ? 0 : m->dropped);
	for (size_t i = 0; i < m->count; i++)
		order[i] = i;
	qsort_r(order, m->count, sizeof(*order), compare_times, m);
	tw_other(tw, TW_TOP, 0, START, 1);
	for (size_t i = 0; i < m->count && m->events[order[i]].time < START + m->length; i++) {
		const struct km_event *e = &m->events[order[i]];

		if (!has_lost && e->time >= START + m->lost_at && !e->cpu) {
			tw_lost(tw, TW_TOP, 0, 7);
			has_lost = true;
		}
		tw_event(tw, TW_TOP, e, m->caches[order[i]]);
	}
	tw_other(tw, TW_TOP, 0, START + m->length, 1);
	free(order);
	free(m->events);
	free(m->caches);
	return tw;
}

static struct analysed *run(struct made *m)
{
	return analysed_run(write_trace(m), &m->analysis, m->time);
}

static const struct km_leak *row_of(const struct analysed *a, unsigned site)
{
	size_t count;
	const struct km_leak *rows = km_leaks_rows(a->analysis->leaks, &count);

	for (size_t i = 0; i < count; i++) {
		if (rows[i].call_site == SITE(site))
			return &rows[i];
	}
	ck_abort_msg("no row of site %u", site);
	return NULL;
}

/* One habit, and what it comes to. reason: a part of the words. */
static void expect_made(struct made *m, unsigned site, enum km_verdict verdict, const char *reason)
{
	struct analysed *a = run(m);
	const struct km_leak *row = row_of(a, site);

	ck_assert_msg(row->verdict == verdict, "%s, not %s: %s", km_verdict_name(row->verdict),
		      km_verdict_name(verdict), row->reason);
	ck_assert_msg(strstr(row->reason, reason), "\"%s\" says nothing of \"%s\"", row->reason, reason);
	analysed_free(a);
}

static void expect(const struct habit *habit, enum km_verdict verdict, const char *reason)
{
	struct made m = begin();

	live(&m, habit);
	expect_made(&m, habit->site, verdict, reason);
}

/* --- factors --- */

START_TEST(factors_of_a_leak)
{
	const struct habit habit = { .site = 1, .births = 100, .keep = 5, .pid = 40 };
	struct made m = begin();
	struct analysed *a;
	const struct km_leak *row;
	const struct km_leak_factors *f;
	uint64_t sum = 0;

	live(&m, &habit);
	a = run(&m);
	row = row_of(a, 1);
	f = &row->factors;
	ck_assert_int_eq(row->verdict, KM_VERDICT_LEAK);
	ck_assert_uint_eq(row->live_count, 20);
	ck_assert_uint_eq(row->live_bytes, 20 * 128);
	ck_assert_str_eq(row->cache, "kmalloc-128");
	ck_assert_str_eq(row->cpus, "0");
	ck_assert_int_eq(row->pid_min, 40);
	ck_assert_int_eq(row->pid_max, 42);
	/* Births at 0.1 s, 0.3 s, ...: the kept ones at 0.1 s, 1.1 s, ..., 19.1 s. */
	ck_assert_uint_eq(row->age_max, LENGTH - 100 * MILLISECOND);
	ck_assert_uint_eq(row->age_min, 900 * MILLISECOND);
	ck_assert_uint_eq(row->age_mean, 10 * SECOND + 400 * MILLISECOND);
	ck_assert_uint_eq(f->tracked_count, 100);
	ck_assert_uint_eq(f->matched_frees_count, 80);
	ck_assert_uint_eq(f->implied_frees_count, 0);
	ck_assert_uint_eq(f->lifetimes_count, 80);
	ck_assert_uint_eq(f->lifetime_p99, MILLISECOND);
	ck_assert_uint_eq(f->old_age, LENGTH / 100);
	ck_assert_uint_eq(f->old_count, 20);
	ck_assert_uint_eq(f->freed_old_count, 0);
	ck_assert_double_eq_tol(f->traced_share, 1, 1e-9);
	ck_assert_double_gt(f->spread, .95);
	ck_assert_double_eq_tol(f->early_share, .2, .03);
	ck_assert_double_eq_tol(f->late_share, .2, .03);
	ck_assert_double_eq_tol(f->never_freed_share, .2, 1e-9);
	for (unsigned i = 0; i < KM_LEAKS_WINDOWS; i++)
		sum += f->windows[i];
	ck_assert_uint_eq(sum, 20);
	/* 20 objects of 128 bytes in 20 s. */
	ck_assert_double_eq_tol(f->growth, 128, 1);
	ck_assert_double_gt(f->growth_error, 0);
	ck_assert_double_lt(f->growth_error, 40);
	ck_assert_double_eq_tol(f->score, 20 * 128 * f->spread, 1e-6);
	analysed_free(a);
}
END_TEST

/* Product limit by hand: of 4 one dies at 1 s, one is censored at 2 s, one dies at 4 s, one is censored at 8 s. */
START_TEST(never_freed_is_the_product_limit)
{
	struct made m = begin();
	struct analysed *a;

	m.length = 10 * SECOND;
	live(&m, &(struct habit){ .site = 1, .births = 1, .from = 3 * SECOND, .to = 3 * SECOND + 2, .life = SECOND });
	live(&m,
	     &(struct habit){ .site = 1, .births = 1, .from = 3 * SECOND, .to = 3 * SECOND + 2, .life = 4 * SECOND });
	live(&m, &(struct habit){ .site = 1, .births = 1, .keep = 1, .from = 8 * SECOND, .to = 8 * SECOND + 2 });
	live(&m, &(struct habit){ .site = 1, .births = 1, .keep = 1, .from = 2 * SECOND, .to = 2 * SECOND + 2 });
	a = run(&m);
	/* 3/4 at 1 s; then two are at risk at 4 s: 1/2 of it. */
	ck_assert_double_eq_tol(row_of(a, 1)->factors.never_freed_share, .375, 1e-9);
	analysed_free(a);
}
END_TEST

START_TEST(buckets_widen_without_losing_anything)
{
	struct made m = begin();
	struct analysed *a;
	uint64_t time = 1;

	m.length = UINT64_C(1) << 40;
	for (unsigned i = 0; i < 39; i++, time *= 2)
		live(&m, &(struct habit){ .site = 1, .births = 1, .keep = 1, .from = time, .to = time + 2 });
	a = run(&m);
	ck_assert_uint_eq(row_of(a, 1)->live_count, 39);
	ck_assert_uint_eq(row_of(a, 1)->factors.tracked_count, 39);
	/* All of it is growth: 39 x 128 bytes in 2^40 ns. */
	ck_assert_double_eq_tol(row_of(a, 1)->factors.growth, 39 * 128 / (ldexp(1, 40) / 1e9), .01);
	analysed_free(a);
}
END_TEST

START_TEST(cpus_are_a_list)
{
	struct made m = begin();
	struct analysed *a;

	m.options.cpus = 6;
	live(&m, &(struct habit){ .site = 1, .births = 4, .keep = 1, .cpus = 2 });
	m.events[0].cpu = 5;
	m.events[2].cpu = 3;
	m.events[1].cpu = 2;
	m.events[3].cpu = 0;
	a = run(&m);
	ck_assert_str_eq(row_of(a, 1)->cpus, "0,2-3,5");
	analysed_free(a);
}
END_TEST

START_TEST(long_lists_of_cpus_are_cut)
{
	struct made m = begin();
	struct analysed *a;

	m.options.cpus = 64;
	live(&m, &(struct habit){ .site = 1, .births = 32, .keep = 1 });
	for (unsigned i = 0; i < 32; i++)
		m.events[i].cpu = (uint16_t)(2 * i);
	a = run(&m);
	ck_assert_str_eq(row_of(a, 1)->cpus, "0,2,4,6,8,10,12,14,16,18,20,...");
	analysed_free(a);
}
END_TEST

/* --- leak --- */

START_TEST(two_old_objects_are_no_trend)
{
	expect(&(struct habit){ .site = 1, .births = 60, .keep = 30 }, KM_VERDICT_UNCERTAIN, "only 2 of 2");
	expect(&(struct habit){ .site = 1, .births = 60, .keep = 20 }, KM_VERDICT_LEAK, "3 are older");
}
END_TEST

START_TEST(few_frees_compare_with_nothing)
{
	expect(&(struct habit){ .site = 1, .births = 23, .keep = 6 }, KM_VERDICT_UNCERTAIN, "only 19 frees");
	expect(&(struct habit){ .site = 1, .births = 24, .keep = 6 }, KM_VERDICT_LEAK, "20 freed");
}
END_TEST

START_TEST(a_burst_is_held)
{
	struct made m = begin();

	live(&m, &(struct habit){ .site = 1, .births = 200 });
	live(&m, &(struct habit){
			 .site = 1, .births = 20, .keep = 1, .from = 10 * SECOND, .to = 10 * SECOND + MILLISECOND });
	expect_made(&m, 1, KM_VERDICT_UNCERTAIN, "close together");
}
END_TEST

START_TEST(first_things_are_startup)
{
	struct made m = begin();

	live(&m, &(struct habit){ .site = 1, .births = 200 });
	live(&m, &(struct habit){ .site = 1, .births = 20, .keep = 1, .from = 0, .to = 2 * SECOND });
	expect_made(&m, 1, KM_VERDICT_STARTUP, "20 of 20");
}
END_TEST

/* A site that was at work for a moment of the trace leaks in that moment. */
START_TEST(a_short_life_is_looked_at_as_closely)
{
	expect(&(struct habit){ .site = 1,
				.births = 60,
				.keep = 20,
				.from = 10 * SECOND,
				.to = 10 * SECOND + 100 * MILLISECOND,
				.life = 1000 },
	       KM_VERDICT_LEAK, "3 are older");
}
END_TEST

START_TEST(what_dwindles_with_age_is_freed_late)
{
	struct made m = begin();

	/* 5 % of the old half live, 40 % of the new one. */
	live(&m, &(struct habit){ .site = 1, .births = 200, .keep = 20, .from = 0, .to = 9 * SECOND });
	live(&m, &(struct habit){ .site = 1, .births = 200, .keep = 2, .from = 9 * SECOND, .to = 19 * SECOND });
	expect_made(&m, 1, KM_VERDICT_UNCERTAIN, "freed late");
}
END_TEST

/* As many got that old and were freed. */
START_TEST(old_is_not_odd_where_the_old_are_freed)
{
	for (unsigned freed = 9; freed <= 12; freed += 3) {
		struct made m = begin();

		live(&m, &(struct habit){ .site = 1, .births = 2000 });
		live(&m, &(struct habit){ .site = 1, .births = 30, .keep = 1 });
		live(&m, &(struct habit){
				 .site = 1, .births = freed, .from = SECOND, .to = 10 * SECOND, .life = 5 * SECOND });
		if (freed == 9)
			expect_made(&m, 1, KM_VERDICT_LEAK, "older than");
		else
			expect_made(&m, 1, KM_VERDICT_UNCERTAIN, "12 as old as that were freed");
	}
}
END_TEST

START_TEST(few_of_many_are_the_tail)
{
	expect(&(struct habit){ .site = 1, .births = 2000, .keep = 105 }, KM_VERDICT_UNCERTAIN, "the tail");
	expect(&(struct habit){ .site = 1, .births = 2000, .keep = 100 }, KM_VERDICT_LEAK, "20 are older");
	/* 63 or 64 of 12800, less those of the last hundredth. */
	expect(&(struct habit){ .site = 1, .births = 12800, .keep = 204 }, KM_VERDICT_UNCERTAIN, "the tail");
	expect(&(struct habit){ .site = 1, .births = 12800, .keep = 190 }, KM_VERDICT_LEAK, "older than");
}
END_TEST

/* --- frees without events --- */

START_TEST(untraced_frees_explain_survivors)
{
	/* Of 90 + 10 known frees one in ten may lack its event. */
	expect(&(struct habit){ .site = 1, .births = 112, .keep = 5, .implied = 9 }, KM_VERDICT_LEAK, "older than");
	expect(&(struct habit){ .site = 1, .births = 112, .keep = 5, .implied = 20 }, KM_VERDICT_UNTRACED_FREES,
	       "had no event");
}
END_TEST

START_TEST(a_cache_tells_of_a_site_that_frees_nothing)
{
	struct made m = begin();

	live(&m, &(struct habit){ .site = 1, .cache = "node", .births = 40, .keep = 1 });
	live(&m, &(struct habit){ .site = 2, .cache = "node", .births = 40, .implied = 40 });
	expect_made(&m, 1, KM_VERDICT_UNTRACED_FREES, "of node only 50 %");
}
END_TEST

/* Of two minutes or more: buckets of 2^32 ns beside those of 1 ns of what was born at the very start. */
START_TEST(births_at_the_start_of_a_long_trace_stay_there)
{
	struct made m = begin();
	struct analysed *a;

	m.length = (UINT64_C(1) << 37) - 1;
	live(&m, &(struct habit){ .site = 1, .cache = "node", .births = 16, .keep = 1, .from = 0, .to = 32 });
	live(&m, &(struct habit){ .site = 2,
				  .cache = "node",
				  .births = 1,
				  .keep = 1,
				  .from = m.length / 2,
				  .to = m.length / 2 + 4 });
	a = run(&m);
	ck_assert_str_eq(row_of(a, 2)->cache, "node");
	ck_assert_uint_eq(row_of(a, 2)->factors.chances_count, 0); /* nothing was born later */
	ck_assert_uint_eq(row_of(a, 1)->factors.chances_count, 1);
	analysed_free(a);
}
END_TEST

/* --- never freed --- */

START_TEST(growing_and_never_freed)
{
	expect(&(struct habit){ .site = 1, .births = 40, .keep = 1 }, KM_VERDICT_NEVER_FREED, "0 of 40");
	expect(&(struct habit){ .site = 1, .births = 7, .keep = 1 }, KM_VERDICT_UNCERTAIN, "only 7 allocations");
	expect(&(struct habit){ .site = 1, .births = 40, .keep = 1, .from = 0, .to = 2 * SECOND }, KM_VERDICT_STARTUP,
	       "first eighth");
	expect(&(struct habit){ .site = 1, .births = 40, .keep = 1, .from = 9 * SECOND, .to = 10 * SECOND },
	       KM_VERDICT_UNCERTAIN, "born at few times");
	/* The trace is 20 s long: it grew, and does no more. */
	expect(&(struct habit){ .site = 1, .births = 40, .keep = 1, .from = 0, .to = 14 * SECOND },
	       KM_VERDICT_UNCERTAIN, "last quarter");
}
END_TEST

START_TEST(never_takes_ten_seconds)
{
	struct made m = begin();

	m.length = 10 * SECOND;
	live(&m, &(struct habit){ .site = 1, .births = 40, .keep = 1 });
	expect_made(&m, 1, KM_VERDICT_NEVER_FREED, "all along");
	m = begin();
	m.length = 10 * SECOND - 1;
	live(&m, &(struct habit){ .site = 1, .births = 40, .keep = 1 });
	expect_made(&m, 1, KM_VERDICT_TOO_SHORT, "shorter than 10s");
}
END_TEST

START_TEST(a_clock_without_seconds_says_never_of_nothing)
{
	struct made m = begin();

	m.options.clock = "counter";
	live(&m, &(struct habit){ .site = 1, .births = 40, .keep = 1 });
	expect_made(&m, 1, KM_VERDICT_UNCERTAIN, "the clock does not tell");
	m = begin();
	m.options.clock = "counter";
	live(&m, &(struct habit){ .site = 1, .births = 100, .keep = 5 });
	expect_made(&m, 1, KM_VERDICT_LEAK, "ticks");
}
END_TEST

START_TEST(lifetimes_as_long_as_the_trace_say_nothing)
{
	expect(&(struct habit){ .site = 1, .births = 100, .keep = 2, .from = 0, .to = 15 * SECOND, .life = 3 * SECOND },
	       KM_VERDICT_TOO_SHORT, "not 10 times as long");
}
END_TEST

/* --- what is no leak by its kind --- */

START_TEST(reclaimable_by_name_and_by_flag)
{
	struct made m = begin();
	uint32_t flag = 0;
	struct analysed *a;

	live(&m, &(struct habit){ .site = 1, .cache = "dentry", .births = 40, .keep = 1 });
	a = run(&m);
	flag = km_reader_gfp(a->reader)->reclaimable;
	ck_assert_uint_ne(flag, 0);
	ck_assert_int_eq(row_of(a, 1)->verdict, KM_VERDICT_RECLAIMABLE);
	analysed_free(a);
	expect(&(struct habit){ .site = 1, .cache = "thing", .gfp = flag, .births = 40, .keep = 1 },
	       KM_VERDICT_RECLAIMABLE, "thing");
	expect(&(struct habit){ .site = 1, .cache = "thing", .births = 40, .keep = 1 }, KM_VERDICT_NEVER_FREED, "");
}
END_TEST

/* A blob for each inode goes with the inodes; one more of a hundred is too many. */
START_TEST(twins_of_reclaimable_objects_go_with_them)
{
	for (unsigned more = 0; more < 2; more++) {
		struct made m = begin();

		live(&m, &(struct habit){ .site = 1, .cache = "ext4_inode_cache", .births = 50, .keep = 1 });
		live(&m, &(struct habit){ .site = 2, .cache = "xfs_inode", .births = 50, .keep = 2 });
		live(&m, &(struct habit){ .site = 3, .cache = "lsm_inode_cache", .births = 50, .keep = 1 });
		live(&m, &(struct habit){ .site = 3, .cache = "lsm_inode_cache", .births = 50, .keep = 2 });
		if (more)
			live(&m, &(struct habit){ .site = 3, .cache = "lsm_inode_cache", .births = 4, .keep = 1 });
		if (more)
			expect_made(&m, 3, KM_VERDICT_LEAK, "");
		else
			expect_made(&m, 3, KM_VERDICT_RECLAIMABLE, "all inode caches");
	}
}
END_TEST

/* As many alive by chance, but not as many made. */
START_TEST(twins_are_born_together)
{
	struct made m = begin();

	live(&m, &(struct habit){ .site = 1, .cache = "dentry", .births = 40, .keep = 1 });
	live(&m, &(struct habit){ .site = 2, .births = 40, .keep = 1 });
	live(&m, &(struct habit){ .site = 2, .births = 40 });
	expect_made(&m, 2, KM_VERDICT_LEAK, "40 are older");
	m = begin();
	live(&m, &(struct habit){ .site = 1, .cache = "dentry", .births = 40, .keep = 1 });
	live(&m, &(struct habit){ .site = 2, .births = 40, .keep = 1 });
	expect_made(&m, 2, KM_VERDICT_RECLAIMABLE, "window by window");
	/* Equal counts of few are chance. */
	m = begin();
	live(&m, &(struct habit){ .site = 1, .cache = "dentry", .births = 31, .keep = 1 });
	live(&m, &(struct habit){ .site = 2, .births = 31, .keep = 1 });
	expect_made(&m, 2, KM_VERDICT_NEVER_FREED, "");
}
END_TEST

/* Sockets are held, not cached: what is one for one with them is not excused. */
START_TEST(pinned_inodes_excuse_nothing)
{
	struct made m = begin();

	live(&m, &(struct habit){ .site = 1, .cache = "sock_inode_cache", .births = 50, .keep = 1 });
	live(&m, &(struct habit){ .site = 2, .cache = "lsm_inode_cache", .births = 50, .keep = 1 });
	expect_made(&m, 2, KM_VERDICT_NEVER_FREED, "");
}
END_TEST

START_TEST(the_allocator_s_own_is_excused)
{
	struct made m = begin();
	char kallsyms[128];

	snprintf(kallsyms, sizeof(kallsyms), "%016llx T alloc_slab_obj_exts\n%016llx T next\n",
		 (unsigned long long)tw_function(8, 1), (unsigned long long)tw_function(8, 2));
	m.options.kallsyms = kallsyms;
	live(&m, &(struct habit){ .site = 1, .births = 40, .keep = 1 });
	expect_made(&m, 1, KM_VERDICT_ALLOCATOR_INTERNAL, "alloc_slab_obj_exts");
}
END_TEST

/* Where no event names a cache the function does. */
START_TEST(functions_stand_for_caches_without_names)
{
	struct made m = begin();
	char kallsyms[128];

	snprintf(kallsyms, sizeof(kallsyms), "%016llx T xas_alloc\n%016llx T next\n",
		 (unsigned long long)tw_function(8, 1), (unsigned long long)tw_function(8, 2));
	m.options.kallsyms = kallsyms;
	m.options.kernel = TW_KERNEL_5_10;
	live(&m, &(struct habit){ .site = 1, .cache = "", .births = 40, .keep = 1 });
	expect_made(&m, 1, KM_VERDICT_RECLAIMABLE, "(unnamed:128)");
}
END_TEST

/* --- what the recording does not tell --- */

START_TEST(a_full_table_judges_nothing)
{
	struct made m = begin();

	m.analysis.objects_count = 10;
	live(&m, &(struct habit){ .site = 1, .births = 100, .keep = 5 });
	expect_made(&m, 1, KM_VERDICT_UNCERTAIN, "the table was full");
}
END_TEST

START_TEST(survivors_of_a_loss_are_no_evidence)
{
	struct made m = begin();
	struct analysed *a;

	m.lost_at = 10 * SECOND;
	live(&m, &(struct habit){ .site = 1, .births = 100, .keep = 5 });
	a = run(&m);
	ck_assert_uint_eq(row_of(a, 1)->live_count, 20);
	ck_assert_uint_eq(row_of(a, 1)->factors.before_loss_count, 10);
	ck_assert_uint_eq(row_of(a, 1)->factors.old_count, 10);
	analysed_free(a);
	m = begin();
	m.lost_at = 19500 * MILLISECOND;
	live(&m, &(struct habit){ .site = 1, .births = 100, .keep = 5 });
	expect_made(&m, 1, KM_VERDICT_UNCERTAIN, "events were lost while all of them lived");
	m = begin();
	m.lost_at = 19500 * MILLISECOND;
	m.analysis.on_loss = KM_ON_LOSS_KEEP;
	live(&m, &(struct habit){ .site = 1, .births = 100, .keep = 5 });
	expect_made(&m, 1, KM_VERDICT_LEAK, "20 are older");
}
END_TEST

START_TEST(losses_at_unknown_times_judge_nothing)
{
	struct made m = begin();

	m.dropped = 5;
	live(&m, &(struct habit){ .site = 1, .births = 100, .keep = 5 });
	expect_made(&m, 1, KM_VERDICT_UNCERTAIN, "nobody knows when");
}
END_TEST

START_TEST(without_free_events_nothing_is_never_freed)
{
	struct made m = begin();

	m.has_few_kinds = true;
	live(&m, &(struct habit){ .site = 1, .births = 40, .keep = 1 });
	live(&m, &(struct habit){ .site = 2, .cache = "a", .births = 10 });
	expect_made(&m, 1, KM_VERDICT_UNCERTAIN, "missing in the recording");
}
END_TEST

/* --- the rows --- */

START_TEST(the_best_candidate_is_first)
{
	struct made m = begin();
	struct analysed *a;
	const struct km_leak *rows;
	size_t count;

	live(&m, &(struct habit){ .site = 1, .cache = "dentry", .births = 400, .keep = 1 });
	live(&m, &(struct habit){ .site = 2, .births = 40, .keep = 1 });
	live(&m, &(struct habit){ .site = 3, .births = 100, .keep = 20 });
	live(&m, &(struct habit){ .site = 4, .births = 100, .keep = 5 });
	live(&m, &(struct habit){ .site = 5, .births = 100 });
	a = run(&m);
	rows = km_leaks_rows(a->analysis->leaks, &count);
	ck_assert_uint_eq(count, 4); /* site 5 has nothing left */
	ck_assert_uint_eq(rows[0].call_site, SITE(4));
	ck_assert_uint_eq(rows[1].call_site, SITE(3));
	ck_assert_uint_eq(rows[2].call_site, SITE(2));
	ck_assert_uint_eq(rows[3].call_site, SITE(1));
	analysed_free(a);
}
END_TEST

START_TEST(time_ends_the_trace)
{
	struct made m = begin();
	struct analysed *a;

	m.time = ",50%";
	live(&m, &(struct habit){ .site = 1, .births = 100, .keep = 5 });
	a = run(&m);
	ck_assert_uint_eq(row_of(a, 1)->live_count, 10);
	ck_assert_uint_eq(row_of(a, 1)->age_max, LENGTH / 2 - 100 * MILLISECOND);
	ck_assert_int_eq(row_of(a, 1)->verdict, KM_VERDICT_LEAK);
	analysed_free(a);
}
END_TEST

/* Told twice, the object is the second site's, and born once. */
START_TEST(a_doubled_kmalloc_is_born_once)
{
	struct made m = begin();
	struct analysed *a;
	size_t count;

	m.options.kernel = TW_KERNEL_6_12;
	for (unsigned i = 0; i < 10; i++) {
		uint64_t ptr = UINT64_C(0xffff888100000000) + 16384 * i;

		for (unsigned site = 1; site <= 2; site++) {
			add(&m, (i * 2 + 1) * SECOND + site, KM_EVENT_KMALLOC, ptr, &(struct habit){ .site = site }, 0);
			m.events[m.count - 1].bytes_req = 10000;
			m.events[m.count - 1].bytes_alloc = 16384;
		}
	}
	a = run(&m);
	km_leaks_rows(a->analysis->leaks, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(row_of(a, 2)->live_count, 10);
	ck_assert_uint_eq(row_of(a, 2)->factors.tracked_count, 10);
	ck_assert_double_eq_tol(row_of(a, 2)->factors.growth, 10 * 16384 / 20.0, 1);
	analysed_free(a);
}
END_TEST

/* What a loss made forgotten is no drift. */
START_TEST(a_reset_starts_again)
{
	struct made m = begin();
	struct analysed *a;

	m.lost_at = 10 * SECOND;
	m.analysis.on_loss = KM_ON_LOSS_RESET;
	live(&m, &(struct habit){ .site = 1, .births = 100, .keep = 5 });
	a = run(&m);
	ck_assert_uint_eq(row_of(a, 1)->live_count, 10);
	ck_assert_double_eq_tol(row_of(a, 1)->factors.growth, 10 * 128 / 20.0, 1);
	analysed_free(a);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { factors_of_a_leak,
				 never_freed_is_the_product_limit,
				 buckets_widen_without_losing_anything,
				 cpus_are_a_list,
				 long_lists_of_cpus_are_cut,
				 two_old_objects_are_no_trend,
				 few_frees_compare_with_nothing,
				 a_burst_is_held,
				 first_things_are_startup,
				 a_short_life_is_looked_at_as_closely,
				 what_dwindles_with_age_is_freed_late,
				 old_is_not_odd_where_the_old_are_freed,
				 few_of_many_are_the_tail,
				 untraced_frees_explain_survivors,
				 a_cache_tells_of_a_site_that_frees_nothing,
				 births_at_the_start_of_a_long_trace_stay_there,
				 growing_and_never_freed,
				 never_takes_ten_seconds,
				 a_clock_without_seconds_says_never_of_nothing,
				 lifetimes_as_long_as_the_trace_say_nothing,
				 reclaimable_by_name_and_by_flag,
				 twins_of_reclaimable_objects_go_with_them,
				 twins_are_born_together,
				 pinned_inodes_excuse_nothing,
				 the_allocator_s_own_is_excused,
				 functions_stand_for_caches_without_names,
				 a_full_table_judges_nothing,
				 survivors_of_a_loss_are_no_evidence,
				 losses_at_unknown_times_judge_nothing,
				 without_free_events_nothing_is_never_freed,
				 the_best_candidate_is_first,
				 time_ends_the_trace,
				 a_doubled_kmalloc_is_born_once,
				 a_reset_starts_again,
				 NULL };

	return km_test_main("leaks", tests, 30);
}
