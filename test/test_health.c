/* SPDX-License-Identifier: GPL-2.0-only */
/* What readers and replay counted is made up here; the cases are DESIGN's words one by one. */
#include "health.h"

#include <string.h>

#include "count_setup.h"
#include "testing.h"
#include "tracedat.h"

#define SITE UINT64_C(0xffffffff81000010)
#define A    UINT64_C(0xffff888000001000)

static struct km_trace_info some_info(void)
{
	return (struct km_trace_info){ .features = KM_TRACE_ALLOC_NAMES | KM_TRACE_FREE_NAMES };
}

static struct km_buffer_info some_buffer(void)
{
	return (struct km_buffer_info){ .name = "", .clock = "mono", .clock_is_coherent = true, .cpus_count = 2 };
}

static struct km_health judge(const struct km_trace_info *info, const struct km_buffer_info *buffer,
			      const struct km_buffer_stats *stats)
{
	struct km_health health;

	memset(&health, 0x55, sizeof(health)); /* nothing is to be left of it */
	ck_assert_int_eq(km_health_init(&health, info, buffer, stats, NULL), 0);
	return health;
}

/* The judgement of these CPUs, all else being well. */
static struct km_health judge_cpus(const struct km_cpu_loss *cpus, size_t count)
{
	const struct km_trace_info info = some_info();
	const struct km_buffer_info buffer = some_buffer();
	const struct km_buffer_stats stats = { .has_events = true, .cpus = cpus, .cpus_count = count };

	return judge(&info, &buffer, &stats);
}

static struct km_health judge_cpu(struct km_cpu_loss cpu)
{
	static struct km_cpu_loss one; /* health borrows it */

	one = cpu;
	return judge_cpus(&one, 1);
}

static const struct km_warning *find_warning(const struct km_health *health, enum km_warning_code code)
{
	for (size_t i = 0; i < health->warnings_count; i++) {
		if (health->warnings[i].code == code)
			return &health->warnings[i];
	}
	return NULL;
}

/* The only warning, and what it says. */
static void expect_only(struct km_health *health, enum km_warning_code code, const char *part)
{
	ck_assert_uint_eq(health->warnings_count, 1);
	ck_assert_int_eq(health->warnings[0].code, code);
	ck_assert_msg(strstr(health->warnings[0].text, part), "\"%s\" in \"%s\"", part, health->warnings[0].text);
	km_health_release(health);
}

/* --- names --- */

START_TEST(every_name_is_there_and_its_own)
{
	ck_assert_str_eq(km_completeness_name(KM_HOLES), "holes");
	ck_assert_str_eq(km_completeness_name(KM_START_LOST), "start_lost");
	ck_assert_str_eq(km_completeness_name(KM_TAIL_LOST), "tail_lost");
	ck_assert_str_eq(km_completeness_name(KM_UNKNOWN), "unknown");
	ck_assert_str_eq(km_completeness_name(KM_COMPLETE), "complete");
	ck_assert_str_eq(km_lost_is_name(KM_LOST_EXACT), "exact");
	ck_assert_str_eq(km_lost_is_name(KM_LOST_AT_LEAST), "at_least");
	ck_assert_str_eq(km_lost_is_name(KM_LOST_UNKNOWN), "unknown");
	for (unsigned i = 0; i < KM_WARNING_CODES; i++) {
		ck_assert_ptr_nonnull(km_warning_name(i));
		for (unsigned k = 0; k < i; k++)
			ck_assert_str_ne(km_warning_name(i), km_warning_name(k));
	}
}
END_TEST

/* --- completeness --- */

START_TEST(nothing_lost_is_complete)
{
	struct km_health health = judge_cpu((struct km_cpu_loss){ .has_statistics = true });

	ck_assert_int_eq(health.completeness, KM_COMPLETE);
	for (unsigned i = 0; i < KM_COMPLETENESS_KINDS; i++)
		ck_assert(health.flags[i] == (i == KM_COMPLETE));
	ck_assert_uint_eq(health.lost_events_count, 0);
	ck_assert_int_eq(health.lost_is, KM_LOST_EXACT);
	ck_assert(!health.live_is_doubtful);
	ck_assert_uint_eq(health.warnings_count, 0);
	ck_assert_uint_eq(health.cpus_count, 1);
	km_health_release(&health);
	ck_assert_ptr_null(health.cpus);
}
END_TEST

/* The first that applies is the recording's; the flags tell them all. */
START_TEST(completeness_is_the_first_that_applies)
{
	for (unsigned set = 0; set < 16; set++) {
		struct km_cpu_loss cpus[4] = { { .has_statistics = true },
					       { .has_statistics = true },
					       { .has_statistics = true },
					       { .has_statistics = true } };
		struct km_health health;
		unsigned first = KM_COMPLETE;

		cpus[0].holes_count = set >> KM_HOLES & 1;
		cpus[1].start_lost = set >> KM_START_LOST & 1;
		cpus[2].overrun_count = set >> KM_TAIL_LOST & 1;
		cpus[3].has_statistics = !(set >> KM_UNKNOWN & 1);
		health = judge_cpus(cpus, 4);
		for (unsigned i = KM_COMPLETE; i-- > 0;) {
			ck_assert(health.flags[i] == (set >> i & 1));
			first = set >> i & 1 ? i : first;
		}
		ck_assert(health.flags[KM_COMPLETE] == !set);
		ck_assert_uint_eq(health.completeness, first);
		km_health_release(&health);
	}
}
END_TEST

/* They are of no known time. */
START_TEST(dropped_and_commit_overrun_are_holes)
{
	struct km_health health = judge_cpu((struct km_cpu_loss){ .has_statistics = true, .dropped_count = 3 });

	ck_assert_int_eq(health.completeness, KM_HOLES);
	ck_assert(health.live_is_doubtful);
	ck_assert_uint_eq(health.lost_events_count, 3);
	km_health_release(&health);
	health = judge_cpu((struct km_cpu_loss){ .has_statistics = true, .commit_overrun_count = 4 });
	ck_assert_int_eq(health.completeness, KM_HOLES);
	ck_assert(health.live_is_doubtful);
	ck_assert_uint_eq(health.lost_events_count, 4);
	km_health_release(&health);
}
END_TEST

START_TEST(holes_and_a_lost_start_are_of_a_known_time)
{
	struct km_health health = judge_cpu((struct km_cpu_loss){
		.has_statistics = true, .holes_count = 2, .start_lost = true, .stored_count = 9 });

	ck_assert(!health.live_is_doubtful);
	ck_assert(health.flags[KM_HOLES]);
	ck_assert(health.flags[KM_START_LOST]);
	ck_assert(!health.flags[KM_TAIL_LOST]);
	km_health_release(&health);
}
END_TEST

START_TEST(an_overrun_beyond_all_marks_is_the_tail)
{
	struct km_cpu_loss cpu = {
		.has_statistics = true, .start_lost = true, .stored_count = 10, .overrun_count = 10
	};
	struct km_health health = judge_cpu(cpu);

	ck_assert(!health.flags[KM_TAIL_LOST]);
	ck_assert(!health.live_is_doubtful);
	km_health_release(&health);
	cpu.overrun_count = 11;
	health = judge_cpu(cpu);
	ck_assert(health.flags[KM_TAIL_LOST]);
	ck_assert(health.cpus[0].tail_lost);
	ck_assert(health.live_is_doubtful);
	km_health_release(&health);
	/* With marks that tell no number, the rest may be of them. */
	cpu.uncounted_gaps_count = 1;
	health = judge_cpu(cpu);
	ck_assert(!health.flags[KM_TAIL_LOST]);
	ck_assert(!health.cpus[0].tail_lost);
	km_health_release(&health);
}
END_TEST

START_TEST(a_cut_cpu_has_lost_its_tail)
{
	struct km_health health = judge_cpu((struct km_cpu_loss){ .has_statistics = true, .is_cut = true });

	ck_assert_int_eq(health.completeness, KM_TAIL_LOST);
	ck_assert(health.live_is_doubtful);
	ck_assert_int_eq(health.lost_is, KM_LOST_AT_LEAST);
	ck_assert_ptr_nonnull(strstr(find_warning(&health, KM_WARN_CUT_SHORT)->text, "at the end of 1 CPU;"));
	ck_assert_ptr_nonnull(strstr(find_warning(&health, KM_WARN_LOST_EVENTS)->text, "(the tail is lost)"));
	ck_assert_uint_eq(health.warnings_count, 2);
	km_health_release(&health);
}
END_TEST

/* --- how many --- */

START_TEST(lost_of_a_cpu_is_the_larger_and_what_is_in_neither)
{
	static const struct {
		uint64_t overrun, stored, commit_overrun, dropped, lost;
	} cases[] = { { 0, 0, 0, 0, 0 },   { 10, 4, 0, 0, 10 }, { 4, 10, 0, 0, 10 },
		      { 7, 7, 0, 0, 7 },   { 0, 0, 5, 0, 5 },   { 0, 0, 0, 6, 6 },
		      { 10, 4, 5, 6, 21 }, { 4, 10, 5, 6, 21 }, { 0, 10, 100, 1000, 1110 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct km_health health =
			judge_cpu((struct km_cpu_loss){ .has_statistics = true,
							.overrun_count = cases[i].overrun,
							.stored_count = cases[i].stored,
							.commit_overrun_count = cases[i].commit_overrun,
							.dropped_count = cases[i].dropped });

		ck_assert_uint_eq(health.cpus[0].lost_count, cases[i].lost);
		ck_assert_int_eq(health.cpus[0].lost_is, KM_LOST_EXACT);
		ck_assert_uint_eq(health.lost_events_count, cases[i].lost);
		ck_assert_int_eq(health.lost_is, KM_LOST_EXACT);
		km_health_release(&health);
	}
}
END_TEST

START_TEST(a_count_is_exact_only_if_nothing_is_in_doubt)
{
	static const struct {
		struct km_cpu_loss loss;
		enum km_lost_is is;
	} cases[] = {
		{ { .has_statistics = true, .overrun_count = 5, .stored_count = 5 }, KM_LOST_EXACT },
		{ { .has_statistics = true, .overrun_count = 5, .damaged_count = 1 }, KM_LOST_AT_LEAST },
		{ { .has_statistics = true, .is_cut = true }, KM_LOST_AT_LEAST },
		/* A gap without a number is in overrun, if overrun says more than the numbers. */
		{ { .has_statistics = true, .overrun_count = 9, .stored_count = 5, .uncounted_gaps_count = 1 },
		  KM_LOST_EXACT },
		{ { .has_statistics = true, .overrun_count = 5, .stored_count = 5, .uncounted_gaps_count = 1 },
		  KM_LOST_AT_LEAST },
		{ { .stored_count = 5 }, KM_LOST_AT_LEAST },
		{ { .uncounted_gaps_count = 1 }, KM_LOST_AT_LEAST },
		{ { .cpu = 0 }, KM_LOST_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct km_health health = judge_cpu(cases[i].loss);

		ck_assert_msg(health.cpus[0].lost_is == cases[i].is, "case %zu", i);
		ck_assert_int_eq(health.lost_is, cases[i].is);
		km_health_release(&health);
	}
}
END_TEST

START_TEST(cpus_add_up)
{
	struct km_cpu_loss cpus[3] = { { .cpu = 0, .has_statistics = true, .overrun_count = 5, .stored_count = 5 },
				       { .cpu = 1, .has_statistics = true, .dropped_count = 7 },
				       { .cpu = 9, .stored_count = 100 } };
	struct km_health health = judge_cpus(cpus, 3);

	ck_assert_uint_eq(health.lost_events_count, 112);
	ck_assert_int_eq(health.lost_is, KM_LOST_AT_LEAST);
	ck_assert_ptr_eq(health.cpus[2].loss, &cpus[2]);
	ck_assert_int_eq(health.cpus[0].lost_is, KM_LOST_EXACT);
	ck_assert_int_eq(health.cpus[2].lost_is, KM_LOST_AT_LEAST);
	km_health_release(&health);
	/* One CPU of which nothing is known takes from the sum its exactness; of all it makes it unknown. */
	cpus[2] = (struct km_cpu_loss){ .cpu = 9 };
	health = judge_cpus(cpus, 3);
	ck_assert_uint_eq(health.lost_events_count, 12);
	ck_assert_int_eq(health.lost_is, KM_LOST_AT_LEAST);
	km_health_release(&health);
	memset(cpus, 0, sizeof(cpus));
	health = judge_cpus(cpus, 3);
	ck_assert_uint_eq(health.lost_events_count, 0);
	ck_assert_int_eq(health.lost_is, KM_LOST_UNKNOWN);
	ck_assert_int_eq(health.completeness, KM_UNKNOWN);
	expect_only(&health, KM_WARN_NO_STATISTICS, "no statistics");
}
END_TEST

/* --- warnings of the recording --- */

START_TEST(a_cut_file_is_told)
{
	struct km_trace_info info = some_info();
	struct km_buffer_info buffer = some_buffer();
	struct km_cpu_loss cpu = { .has_statistics = true };
	struct km_buffer_stats stats = { .cpus = &cpu, .cpus_count = 1 };
	struct km_health health;

	info.is_cut_short = true;
	health = judge(&info, &buffer, &stats);
	ck_assert_int_eq(health.completeness, KM_TAIL_LOST);
	ck_assert_int_eq(health.lost_is, KM_LOST_AT_LEAST);
	ck_assert(health.live_is_doubtful);
	ck_assert_ptr_nonnull(find_warning(&health, KM_WARN_CUT_SHORT));
	km_health_release(&health);
}
END_TEST

START_TEST(damage_and_skipped_events_are_told_with_their_first)
{
	struct km_trace_info info = some_info();
	struct km_buffer_info buffer = some_buffer();
	struct km_cpu_loss cpus[2] = { { .has_statistics = true, .damaged_count = 2 },
				       { .has_statistics = true, .damaged_count = 1 } };
	struct km_buffer_stats stats = { .cpus = cpus, .cpus_count = 2, .first_damage = "at 0x1000: bad" };
	struct km_health health = judge(&info, &buffer, &stats);
	const struct km_warning *warning = find_warning(&health, KM_WARN_DAMAGED);

	ck_assert_ptr_nonnull(warning);
	ck_assert_ptr_nonnull(strstr(warning->text, "3 damaged pages"));
	ck_assert_ptr_nonnull(strstr(warning->text, "at 0x1000: bad"));
	km_health_release(&health);

	stats = (struct km_buffer_stats){ .skipped_count = 1, .first_skipped = "too short", .cpus = cpus };
	stats.cpus_count = 1;
	cpus[0].damaged_count = 0;
	health = judge(&info, &buffer, &stats);
	expect_only(&health, KM_WARN_SKIPPED_EVENTS, "1 slab event left out, first too short");
}
END_TEST

START_TEST(losses_are_told_in_words)
{
	static const struct {
		struct km_cpu_loss loss;
		const char *text;
	} cases[] = {
		{ { .has_statistics = true, .holes_count = 1, .stored_count = 1234, .overrun_count = 1234 },
		  "1,234 events were lost (holes); record with a larger buffer" },
		{ { .has_statistics = true, .start_lost = true, .stored_count = 7, .overrun_count = 7 },
		  "7 events were lost (the start is lost): what was allocated before is not known" },
		{ { .has_statistics = true, .overrun_count = 7 }, "7 events were lost (the tail is lost)" },
		{ { .has_statistics = true, .holes_count = 1, .uncounted_gaps_count = 1 },
		  "an unknown number of events were lost (holes)" },
		{ { .has_statistics = true, .holes_count = 1, .uncounted_gaps_count = 1, .dropped_count = 2 },
		  "at least 2 events were lost (holes)" },
		{ { .has_statistics = true,
		    .holes_count = 1,
		    .start_lost = true,
		    .stored_count = 1,
		    .overrun_count = 2 },
		  "2 events were lost (holes, the start is lost, the tail is lost)" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct km_health health = judge_cpu(cases[i].loss);

		expect_only(&health, KM_WARN_LOST_EVENTS, cases[i].text);
	}
}
END_TEST

START_TEST(clocks_are_told)
{
	struct km_trace_info info = some_info();
	struct km_buffer_info buffer = some_buffer();
	struct km_cpu_loss cpu = { .has_statistics = true };
	struct km_buffer_stats stats = { .cpus = &cpu, .cpus_count = 1, .backwards_count = 1500 };
	struct km_health health = judge(&info, &buffer, &stats);

	expect_only(&health, KM_WARN_CLOCK_BACKWARDS, "1,500 events");
	stats.backwards_count = 0;

	buffer.clock = "local";
	buffer.clock_is_coherent = false;
	health = judge(&info, &buffer, &stats);
	expect_only(&health, KM_WARN_CLOCK_NOT_COHERENT, "clock \"local\" may differ");
	buffer.clock = "";
	health = judge(&info, &buffer, &stats);
	expect_only(&health, KM_WARN_CLOCK_NOT_COHERENT, "(not told by the file)");
	buffer.cpus_count = 1; /* there is nothing to differ from */
	health = judge(&info, &buffer, &stats);
	ck_assert_uint_eq(health.warnings_count, 0);
	km_health_release(&health);
	buffer.cpus_count = 2;
	info.keeps_order = true; /* the order is the file's, not the clock's */
	health = judge(&info, &buffer, &stats);
	ck_assert_uint_eq(health.warnings_count, 0);
	km_health_release(&health);

	buffer = some_buffer();
	buffer.clock = "counter";
	buffer.unit = KM_CLOCK_TICKS;
	health = judge(&info, &buffer, &stats);
	expect_only(&health, KM_WARN_CLOCK_NOT_NS, "\"counter\"");
}
END_TEST

START_TEST(what_the_recording_left_out_is_told)
{
	struct km_buffer_info buffer = some_buffer();
	struct km_cpu_loss cpu = { .has_statistics = true };
	const struct km_buffer_stats fine = { .cpus = &cpu, .cpus_count = 1 };
	struct km_buffer_stats stats = fine;
	struct km_trace_info info = some_info();
	struct km_health health;

	info.is_per_task = true;
	health = judge(&info, &buffer, &stats);
	expect_only(&health, KM_WARN_PER_TASK, "per task");
	info = some_info();
	info.leaves_out_cpus = true;
	health = judge(&info, &buffer, &stats);
	expect_only(&health, KM_WARN_CPUS_LEFT_OUT, "some CPUs only");
	info = some_info();
	info.cpus_are_unknown = true;
	health = judge(&info, &buffer, &stats);
	expect_only(&health, KM_WARN_CPUS_UNKNOWN, "CPU 0");
	info = some_info();
	info.pointers_are_hashed = true;
	health = judge(&info, &buffer, &stats);
	expect_only(&health, KM_WARN_HASHED_POINTERS, "hashed");
	info = some_info();
	info.unknown_options_count = 2;
	health = judge(&info, &buffer, &stats);
	expect_only(&health, KM_WARN_UNKNOWN_OPTIONS, "2 options");
	info = some_info();
	stats.throttled_count = 1;
	health = judge(&info, &buffer, &stats);
	expect_only(&health, KM_WARN_THROTTLED, "1 time ");
	stats = fine;
	stats.forced_count = 2;
	health = judge(&info, &buffer, &stats);
	expect_only(&health, KM_WARN_ORDER_FORCED, "2 times ");
}
END_TEST

/* All at once fit, in text and in number. */
START_TEST(everything_wrong_is_all_told)
{
	static const struct km_cpu_loss cpu = {
		.holes_count = 1, .start_lost = true, .is_cut = true, .damaged_count = UINT64_MAX
	};
	struct km_trace_info info = { .is_cut_short = true,
				      .is_per_task = true,
				      .leaves_out_cpus = true,
				      .cpus_are_unknown = true,
				      .pointers_are_hashed = true,
				      .unknown_options_count = UINT64_MAX };
	struct km_buffer_info buffer = { .clock = "x86-tsc", .unit = KM_CLOCK_TICKS, .cpus_count = 2 };
	struct km_buffer_stats stats = { .cpus = &cpu,
					 .cpus_count = 1,
					 .skipped_count = UINT64_MAX,
					 .backwards_count = UINT64_MAX,
					 .throttled_count = UINT64_MAX,
					 .forced_count = UINT64_MAX };
	struct km_health health = judge(&info, &buffer, &stats);

	ck_assert_uint_eq(health.warnings_count, 15);
	for (size_t i = 0; i < health.warnings_count; i++) {
		ck_assert_ptr_eq(find_warning(&health, health.warnings[i].code), &health.warnings[i]); /* each once */
		ck_assert_uint_lt(strlen(health.warnings[i].text), sizeof(health.warnings[i].text) - 1);
	}
	km_health_release(&health);
}
END_TEST

/* --- warnings of the replay --- */

static struct km_event alloc_at(uint64_t time, uint64_t ptr)
{
	return (struct km_event){ .time = time,
				  .kind = KM_EVENT_KMALLOC,
				  .call_site = SITE,
				  .ptr = ptr,
				  .bytes_req = 64,
				  .bytes_alloc = 64,
				  .node = KM_NODE_ANY };
}

static struct km_event free_at(uint64_t time, uint64_t ptr)
{
	return (struct km_event){ .time = time, .kind = KM_EVENT_KFREE, .call_site = SITE, .ptr = ptr };
}

/* Kinds of events that leave nothing to be said. */
static struct km_buffer_stats good_kinds(void)
{
	struct km_buffer_stats stats = { .cpus_count = 0 };

	for (unsigned i = 0; i < KM_EVENT_SLAB_KINDS; i++)
		stats.slab_counts[i] = 1;
	return stats;
}

static struct km_health judge_replay(struct count_setup *s, const struct km_buffer_stats *stats)
{
	struct km_health health = { .warnings_count = 0 };

	km_health_add_replay(&health, km_reader_info(s->reader), stats, s->replay, s->aggregate, s->caches, s->naming);
	return health;
}

START_TEST(a_good_replay_is_nothing_to_tell_of)
{
	const struct km_event events[] = { alloc_at(1, A), free_at(2, A) };
	struct km_buffer_stats stats = good_kinds();
	struct count_setup *s = count_set_up(NULL);
	struct km_health health;

	count_start(s, 0, false);
	count_run(s, events, 2);
	count_finish(s);
	health = judge_replay(s, &stats);
	ck_assert_uint_eq(health.warnings_count, 0);
	count_tear_down(s);
}
END_TEST

START_TEST(overflow_is_told_with_what_would_do)
{
	struct km_event events[10];
	struct km_buffer_stats stats = good_kinds();
	struct count_setup *s = count_set_up(NULL);
	struct km_health health;

	for (unsigned i = 0; i < 10; i++)
		events[i] = alloc_at(i + 1, A + 64 * i);
	count_start(s, 4, false);
	count_run(s, events, 10);
	count_finish(s);
	health = judge_replay(s, &stats);
	expect_only(&health, KM_WARN_OVERFLOW, "the table of 4 objects was full: 6 allocations");
	ck_assert_uint_eq(km_replay_recommended_count(s->replay), 16);
	health = judge_replay(s, &stats);
	expect_only(&health, KM_WARN_OVERFLOW, "--objects 16 would do");
	count_tear_down(s);
}
END_TEST

START_TEST(untraced_frees_are_told)
{
	const struct km_event events[] = { alloc_at(1, A), alloc_at(2, A), alloc_at(3, A) };
	struct km_buffer_stats stats = good_kinds();
	struct count_setup *s = count_set_up(NULL);
	struct km_health health;

	count_start(s, 0, false);
	count_run(s, events, 3);
	count_finish(s);
	health = judge_replay(s, &stats);
	expect_only(&health, KM_WARN_UNTRACED_FREES, "2 objects were freed without an event");
	count_tear_down(s);
}
END_TEST

START_TEST(kinds_that_are_missing_are_told)
{
	static const struct {
		unsigned kinds; /* a bit each */
		const char *text;
	} cases[] = {
		{ 1 << KM_EVENT_KFREE | 1 << KM_EVENT_CACHE_FREE, "only frees" },
		{ 1 << KM_EVENT_KMALLOC | 1 << KM_EVENT_CACHE_ALLOC, "only allocations" },
		{ 1 << KM_EVENT_KMALLOC, "only allocations" },
		{ 1 << KM_EVENT_KMALLOC_NODE | 1 << KM_EVENT_CACHE_FREE, "kmalloc without any kfree" },
		{ 1 << KM_EVENT_CACHE_ALLOC_NODE | 1 << KM_EVENT_KFREE,
		  "kmem_cache_alloc without any kmem_cache_free" },
		{ 1 << KM_EVENT_KMALLOC | 1 << KM_EVENT_KFREE, NULL },
		{ 1 << KM_EVENT_CACHE_ALLOC | 1 << KM_EVENT_CACHE_FREE, NULL },
	};
	const struct km_event event = free_at(1, 0);
	struct count_setup *s = count_set_up(NULL);

	count_start(s, 0, false);
	count_run(s, &event, 1);
	count_finish(s);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct km_buffer_stats stats = { .cpus_count = 0 };
		struct km_health health;

		for (unsigned kind = 0; kind < KM_EVENT_SLAB_KINDS; kind++)
			stats.slab_counts[kind] = cases[i].kinds >> kind & 1;
		health = judge_replay(s, &stats);
		if (cases[i].text)
			expect_only(&health, KM_WARN_EVENT_KINDS_MISSING, cases[i].text);
		else
			ck_assert_uint_eq(health.warnings_count, 0);
	}
	count_tear_down(s);
}
END_TEST

START_TEST(cache_names_that_are_missing_or_two_are_told)
{
	struct km_buffer_stats stats = good_kinds();
	struct km_event events[] = { alloc_at(1, A), free_at(2, A), alloc_at(3, A), free_at(4, A) };
	struct count_setup *s = count_set_up_kernel(TW_KERNEL_5_10);
	struct km_health health;

	count_start(s, 0, false);
	count_run(s, events, 2);
	count_finish(s);
	health = judge_replay(s, &stats);
	expect_only(&health, KM_WARN_CACHE_NAMES_MISSING, "do not name caches");
	stats.slab_counts[KM_EVENT_CACHE_ALLOC] = stats.slab_counts[KM_EVENT_CACHE_ALLOC_NODE] = 0;
	health = judge_replay(s, &stats);
	ck_assert_uint_eq(health.warnings_count, 0);
	count_tear_down(s);

	/* The same kind of object freed to two caches. */
	stats = good_kinds();
	for (unsigned i = 0; i < 4; i++)
		events[i].kind = i % 2 ? KM_EVENT_CACHE_FREE : KM_EVENT_CACHE_ALLOC;
	events[1].cache = 1;
	events[3].cache = 2;
	s = count_set_up_kernel(TW_KERNEL_6_1);
	count_start(s, 0, false);
	for (unsigned i = 0; i < 4; i++)
		count_run(s, &events[i], 1);
	count_finish(s);
	km_caches_learn(s->caches, km_caches_of(s->caches, &events[2]), 2);
	health = judge_replay(s, &stats);
	ck_assert_uint_eq(km_caches_ambiguous_count(s->caches), 1);
	expect_only(&health, KM_WARN_CACHE_NAMES_AMBIGUOUS, "to more than one cache");
	count_tear_down(s);
}
END_TEST

START_TEST(a_warning_is_one_line)
{
	struct km_buffer_info buffer = some_buffer();
	struct km_trace_info info = some_info();
	struct km_buffer_stats stats = { .has_events = false };
	struct km_health health;

	buffer.clock = "lo\ncal\x1b[31m";
	buffer.clock_is_coherent = false;
	health = judge(&info, &buffer, &stats);
	ck_assert_uint_ge(health.warnings_count, 1);
	ck_assert_ptr_nonnull(strstr(health.warnings[0].text, "\"lo?cal?[31m\""));
	km_health_release(&health);
}
END_TEST

static void damage_kallsyms(uint8_t *data, size_t bytes)
{
	struct km_source *source = km_source_new_memory("trace.dat", data, bytes);
	struct km_tracedat *file;

	ck_assert_int_eq(km_tracedat_open(source, &file, NULL), 0);
	data[file->kallsyms.offset] ^= 0xff;
	km_tracedat_close(file);
	km_source_close(source);
}

START_TEST(symbols_that_do_not_help_are_told)
{
	static const struct {
		struct tw_options options;
		bool is_damaged;
		enum km_warning_code code;
		const char *text;
	} cases[] = {
		{ { .omit = TW_OMIT_KALLSYMS }, false, KM_WARN_SYMBOLS_MISSING, "no kernel symbols in the file" },
		{ { .compression = TW_COMPRESSION_ZSTD }, true, KM_WARN_SYMBOLS_MISSING, "can not be decompressed" },
		{ { .kallsyms = "0000000000000000 T a\n0000000000000000 T b\n" },
		  false,
		  KM_WARN_SYMBOLS_ZEROED,
		  "all zero" }
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tw *tw = tw_new(&cases[i].options);
		struct km_buffer_stats stats = good_kinds();
		struct km_health health;
		struct count_setup *s;
		size_t bytes;
		void *data;

		tw_kmalloc(tw, TW_TOP, 0, 2000, 1, SITE, A, 8, 8, 0, -1);
		data = tw_finish(tw, &bytes);
		tw_free(tw);
		if (cases[i].is_damaged)
			damage_kallsyms(data, bytes);
		s = count_set_up_data(data, bytes);
		count_start(s, 0, false);
		count_finish(s);
		health = judge_replay(s, &stats);
		ck_assert_msg(strstr(health.warnings[0].text, cases[i].text), "%s", health.warnings[0].text);
		expect_only(&health, cases[i].code, "--kallsyms");
		count_tear_down(s);
	}
}
END_TEST

int main(void)
{
	const TTest *tests[] = { every_name_is_there_and_its_own,
				 nothing_lost_is_complete,
				 a_warning_is_one_line,
				 completeness_is_the_first_that_applies,
				 dropped_and_commit_overrun_are_holes,
				 holes_and_a_lost_start_are_of_a_known_time,
				 an_overrun_beyond_all_marks_is_the_tail,
				 a_cut_cpu_has_lost_its_tail,
				 lost_of_a_cpu_is_the_larger_and_what_is_in_neither,
				 a_count_is_exact_only_if_nothing_is_in_doubt,
				 cpus_add_up,
				 a_cut_file_is_told,
				 damage_and_skipped_events_are_told_with_their_first,
				 losses_are_told_in_words,
				 clocks_are_told,
				 what_the_recording_left_out_is_told,
				 everything_wrong_is_all_told,
				 a_good_replay_is_nothing_to_tell_of,
				 overflow_is_told_with_what_would_do,
				 untraced_frees_are_told,
				 kinds_that_are_missing_are_told,
				 cache_names_that_are_missing_or_two_are_told,
				 symbols_that_do_not_help_are_told,
				 NULL };

	return km_test_main("health", tests, 10);
}
