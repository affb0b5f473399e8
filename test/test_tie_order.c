/* SPDX-License-Identifier: GPL-2.0-only */
#include "tie_order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "naive_model.h"
#include "testing.h"

#define A    UINT64_C(0xffff888000001000)
#define B    UINT64_C(0xffff888000002000)
#define C    UINT64_C(0xffff888000003000)
#define D    UINT64_C(0xffff888000004000)
#define TIME 5000

static struct km_replay *new_replay(uint64_t objects_count)
{
	const struct km_replay_options options = { .objects_count = objects_count,
						   .max_memory_bytes = 1 << 20,
						   .cpu_limit = 8 };
	struct km_replay *replay = NULL;

	ck_assert_int_eq(km_replay_new(&options, &replay, NULL), 0);
	return replay;
}

/* bytes_req tells events of one kind apart. */
static struct km_event event_of(unsigned cpu, enum km_event_kind kind, uint64_t ptr, uint64_t mark)
{
	return (struct km_event){ .time = TIME,
				  .cpu = (uint16_t)cpu,
				  .kind = (uint8_t)kind,
				  .ptr = ptr,
				  .bytes_req = mark,
				  .bytes_alloc = 64,
				  .flags = KM_EVENT_TIED };
}

/* "0+A": CPU 0 allocates A; "1-B": CPU 1 frees B; "2.A": something else; '0' is NULL, 'z' ZERO_SIZE_PTR. */
static size_t parse(const char *text, struct km_event *ret_events)
{
	size_t count = 0;

	for (; *text; text += text[3] ? 4 : 3) {
		enum km_event_kind kind = text[1] == '+'   ? KM_EVENT_KMALLOC
					  : text[1] == '-' ? KM_EVENT_KFREE
							   : KM_EVENT_LOST;
		uint64_t ptr = text[2] == '0'   ? 0
			       : text[2] == 'z' ? KM_ZERO_SIZE_PTR
						: A + UINT64_C(0x1000) * (uint64_t)(text[2] - 'A');

		ret_events[count] = event_of((unsigned)(text[0] - '0'), kind, ptr, count);
		count++;
	}
	return count;
}

static void play(struct km_replay *replay, const struct km_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const uint32_t key = 1;
		struct km_outcome outcome;

		km_replay_run(replay, &events[i], &key, 1, &outcome);
	}
}

#define CASE_LIMIT 32

/* `before` was played; `tied` is to come out as `wanted`. */
static void check(uint64_t objects_count, const char *before, const char *tied, const char *wanted)
{
	struct km_event events[CASE_LIMIT], expected[CASE_LIMIT];
	struct km_tie_order *order = km_tie_order_new();
	struct km_replay *replay = new_replay(objects_count);
	size_t count = parse(before, events);

	play(replay, events, count);
	count = parse(tied, events);
	ck_assert_int_eq(km_tie_order_resolve(order, replay, events, count, NULL), 0);
	ck_assert_uint_eq(parse(wanted, expected), count);
	for (size_t i = 0; i < count; i++) {
		if (events[i].cpu != expected[i].cpu || events[i].ptr != expected[i].ptr ||
		    events[i].kind != expected[i].kind)
			ck_abort_msg("\"%s\", then \"%s\": event %zu is %u%s%" PRIx64, before, tied, i, events[i].cpu,
				     km_event_kind_name((enum km_event_kind)events[i].kind), events[i].ptr);
	}
	km_replay_free(replay);
	km_tie_order_free(order);
}

START_TEST(a_live_object_is_freed_before_its_address_is_allocated)
{
	check(8, "0+A", "0-A 1+A", "0-A 1+A");
	check(8, "0+A", "0+A 1-A", "1-A 0+A");
}
END_TEST

START_TEST(an_absent_address_is_allocated_before_it_is_freed)
{
	/* A was freed before: it is not from before the trace. */
	check(8, "0+A 0-A", "0+A 1-A", "0+A 1-A");
	check(8, "0+A 0-A", "0-A 1+A", "1+A 0-A");
}
END_TEST

START_TEST(what_was_never_met_is_from_before_the_trace)
{
	check(8, "", "0+A 1-A", "1-A 0+A");
	check(8, "", "0-A 1+A", "0-A 1+A");
	check(8, "0+B 0-C", "0+A 1-A", "1-A 0+A");
}
END_TEST

START_TEST(only_one_free_is_from_before_the_trace)
{
	check(8, "", "0+A 1-A 2-A", "1-A 0+A 2-A");
	check(8, "", "0-A 1-A 2+A", "0-A 2+A 1-A");
}
END_TEST

START_TEST(what_no_other_cpu_has_goes_at_once)
{
	/* Legal or not: a free of the unknown, an allocation of the live. */
	check(8, "0+A 0+B 0-B", "0-B 0+A 1+C", "0-B 0+A 1+C");
	check(8, "0+A", "0+A 0+B 0+C 1-A", "1-A 0+A 0+B 0+C");
	check(8, "0+A", "0+B 0+A 0+C 1-A 1+D", "0+B 1-A 0+A 0+C 1+D");
}
END_TEST

START_TEST(the_lowest_cpu_that_can_goes_first)
{
	check(8, "0+A 0+B", "0+A 1+B 2-B 3-A", "2-B 1+B 3-A 0+A");
	check(8, "0+A 0+B", "0+A 1-A 2-B 3+B", "1-A 0+A 2-B 3+B");
}
END_TEST

START_TEST(if_nothing_is_legal_the_lowest_cpu_goes)
{
	check(8, "0+A", "0+A 1+A", "0+A 1+A");
	check(8, "0+A 0-A", "0-A 1-A", "0-A 1-A");
	/* Each waits for what stands behind the other. */
	check(8, "0+A 0+B", "0+A 0-B 1+B 1-A", "0+A 0-B 1+B 1-A");
}
END_TEST

START_TEST(an_object_wanders_over_the_cpus)
{
	check(8, "0+A", "0+A 1-A 1+A 2-A 2+A 3-A", "1-A 0+A 2-A 1+A 3-A 2+A");
	check(8, "0+A", "0-A 0+A 0-A 1+A 1-A 1+A", "0-A 0+A 0-A 1+A 1-A 1+A");
	check(8, "", "0-A 1+A 1-A 2+A", "0-A 1+A 1-A 2+A");
}
END_TEST

START_TEST(nothing_waits_for_null)
{
	check(8, "0+A", "0-0 0-z 0+A 1-0 1+0 1-A", "0-0 0-z 1-0 1+0 1-A 0+A");
}
END_TEST

START_TEST(losses_and_marks_keep_their_place)
{
	check(8, "0+A", "0.A 0+A 1.A 1-A", "0.A 1.A 1-A 0+A");
}
END_TEST

/* --- a full table --- */

START_TEST(what_overflows_does_not_live)
{
	/* B does not fit, so its free is not legal before; the other allocation is. */
	check(1, "0+A 0-B", "0+B 1+B 2-B", "0+B 1+B 2-B");
	/* With room it is: B lives, so 2-B goes before the second allocation. */
	check(2, "0+A 0-B", "0+B 1+B 2-B", "0+B 2-B 1+B");
}
END_TEST

START_TEST(a_free_in_the_tie_makes_room)
{
	check(1, "0+A 0-B", "0-A 0+B 1+B 2-B", "0-A 0+B 2-B 1+B");
}
END_TEST

/* What lived before the trace has no slot: its free makes no room. */
START_TEST(a_free_from_before_the_trace_makes_none)
{
	check(1, "0+A 0-B", "0-C 0+B 1+B 2-B", "0-C 0+B 1+B 2-B");
	check(1, "0+A 0-B", "0+C 0+B 1-C 2+B 3-B", "1-C 0+C 0+B 2+B 3-B");
}
END_TEST

/* --- the whole --- */

static void purge_nothing(void *context, const struct km_object *object)
{
	(void)context;
	(void)object;
}

/* Of an address that a sample does not keep nobody knows whether it is live: nothing waits for it. */
START_TEST(what_is_sampled_out_waits_for_nothing)
{
	const struct km_replay_options options = { .objects_count = 8,
						   .cpu_limit = 8,
						   .when_full = KM_WHEN_FULL_SAMPLE };
	struct km_tie_order *order = km_tie_order_new();
	struct km_replay *replay = NULL;
	struct km_event events[4];
	uint64_t out = A, kept = A;

	ck_assert_int_eq(km_replay_new(&options, &replay, NULL), 0);
	km_replay_halve(replay, 1, purge_nothing, NULL);
	while (km_replay_hash_keeps(km_replay_table(replay), out))
		out += 64;
	while (!km_replay_hash_keeps(km_replay_table(replay), kept))
		kept += 64;
	events[0] = event_of(0, KM_EVENT_KMALLOC, kept, 0);
	play(replay, events, 1);
	/* An allocation at a live address waits for its free, CPU 1's; nothing else does. */
	events[0] = event_of(0, KM_EVENT_KMALLOC, out, 0);
	events[1] = event_of(0, KM_EVENT_KMALLOC, kept, 1);
	events[2] = event_of(1, KM_EVENT_KFREE, out, 2);
	events[3] = event_of(1, KM_EVENT_KFREE, kept, 3);
	ck_assert_int_eq(km_tie_order_resolve(order, replay, events, 4, NULL), 0);
	ck_assert_uint_eq(events[0].bytes_req, 0);
	ck_assert_uint_eq(events[1].bytes_req, 2);
	ck_assert_uint_eq(events[2].bytes_req, 3);
	ck_assert_uint_eq(events[3].bytes_req, 1);
	km_replay_free(replay);
	km_tie_order_free(order);
}
END_TEST

START_TEST(one_cpu_is_left_alone)
{
	check(8, "0+A", "1+A 1-A 1-A 1+B", "1+A 1-A 1-A 1+B");
	check(8, "0+A", "", "");
}
END_TEST

static size_t random_tie(uint64_t *random, unsigned cpus, unsigned per_cpu, unsigned pointers, struct km_event *events)
{
	size_t count = 0;

	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		unsigned n = (unsigned)(naive_random(random) % (per_cpu + 1));

		for (unsigned i = 0; i < n; i++) {
			unsigned pointer = (unsigned)(naive_random(random) % (pointers + 1));
			enum km_event_kind kind = naive_random(random) % 2 ? KM_EVENT_KMALLOC : KM_EVENT_KFREE;

			events[count] = event_of(cpu, kind, pointer ? A + 64 * pointer : 0, count);
			count++;
		}
	}
	return count;
}

/* The rule of tie_order.h, as slowly as can be. */
struct model {
	uint64_t ptrs[128];
	bool live[128], in_table[128];
	size_t count;
	uint64_t room;
};

static size_t model_find(struct model *m, uint64_t ptr)
{
	size_t i = 0;

	while (i < m->count && m->ptrs[i] != ptr)
		i++;
	return i;
}

static bool model_may_go(struct model *m, const struct km_event *events, size_t count, const struct km_event *e)
{
	bool shared = false;

	if (!e->ptr)
		return true;
	for (size_t i = 0; i < count; i++)
		shared |= events[i].ptr == e->ptr && events[i].cpu != e->cpu;
	return !shared || m->live[model_find(m, e->ptr)] == km_event_is_free(e);
}

static void model_start(struct model *m, const struct km_replay *replay, const struct km_event *events, size_t count)
{
	const struct km_replay_hash *table = km_replay_table(replay);

	*m = (struct model){ .room = table->fixed ? table->capacity - table->count : UINT64_MAX / 2 };
	for (size_t i = 0; i < count; i++) {
		bool is_in_table, has_free = false;

		if (!events[i].ptr || model_find(m, events[i].ptr) < m->count)
			continue;
		for (size_t k = i; k < count; k++)
			has_free |= events[k].ptr == events[i].ptr && km_event_is_free(&events[k]);
		is_in_table = km_replay_hash_find(table, events[i].ptr) != NULL;
		m->ptrs[m->count] = events[i].ptr;
		m->in_table[m->count] = is_in_table;
		m->live[m->count++] = is_in_table || (has_free && !km_replay_was_seen(replay, events[i].ptr));
	}
}

static void model_take(struct model *m, const struct km_event *e)
{
	size_t i = model_find(m, e->ptr);

	if (!e->ptr)
		return;
	if (km_event_is_free(e)) {
		m->room += m->in_table[i];
		m->live[i] = m->in_table[i] = false;
	} else if (!m->in_table[i] && m->room) {
		m->room--;
		m->live[i] = m->in_table[i] = true;
	}
}

static void model_resolve(const struct km_replay *replay, const struct km_event *events, size_t count,
			  struct km_event *ret_events)
{
	bool *is_taken = calloc(count + 1, sizeof(*is_taken));
	struct model m;

	model_start(&m, replay, events, count);
	for (size_t taken = 0; taken < count; taken++) {
		size_t chosen = count, first = count;
		int last_cpu = -1;

		for (size_t i = 0; i < count && chosen == count; i++) {
			if (is_taken[i] || events[i].cpu == last_cpu)
				continue;
			last_cpu = events[i].cpu; /* this one is its CPU's head */
			first = first < count ? first : i;
			if (model_may_go(&m, events, count, &events[i]))
				chosen = i;
		}
		chosen = chosen < count ? chosen : first;
		is_taken[chosen] = true;
		ret_events[taken] = events[chosen];
		model_take(&m, &events[chosen]);
	}
	free(is_taken);
}

static void check_random(struct km_tie_order *order, uint64_t seed)
{
	static const unsigned tables[] = { 0, 2, 5, 20 };
	struct km_replay *replay = new_replay(tables[seed % 4]);
	struct km_event events[128], wanted[128];
	uint64_t random = seed;

	for (unsigned round = 0; round < 20; round++) {
		size_t count = random_tie(&random, 2 + seed % 4, 8, 3 + (unsigned)seed % 12, events);

		model_resolve(replay, events, count, wanted);
		ck_assert_int_eq(km_tie_order_resolve(order, replay, events, count, NULL), 0);
		for (size_t i = 0; i < count; i++) {
			if (events[i].bytes_req != wanted[i].bytes_req)
				ck_abort_msg("seed %" PRIu64 " round %u: event %zu is %" PRIu64 ", not %" PRIu64, seed,
					     round, i, events[i].bytes_req, wanted[i].bytes_req);
		}
		play(replay, events, count);
	}
	km_replay_free(replay);
}

START_TEST(random_ties_as_the_rule_has_them)
{
	struct km_tie_order *order = km_tie_order_new();

	for (uint64_t seed = 1; seed <= 100; seed++)
		check_random(order, seed);
	km_tie_order_free(order);
	km_tie_order_free(NULL);
}
END_TEST

/* Nothing is lost, nothing is changed, and each CPU's events stay in their order. */
START_TEST(each_cpu_keeps_its_order)
{
	struct km_event *events = calloc(4096, sizeof(*events));
	struct km_event *before = calloc(4096, sizeof(*events));
	struct km_tie_order *order = km_tie_order_new();
	struct km_replay *replay = new_replay(100);
	uint64_t random = 4;

	for (unsigned round = 0; round < 30; round++) {
		size_t count = random_tie(&random, 8, 500, 300, events), at[8] = { 0 };

		memcpy(before, events, count * sizeof(*events));
		for (size_t i = count; i-- > 0;)
			at[before[i].cpu] = i;
		ck_assert_int_eq(km_tie_order_resolve(order, replay, events, count, NULL), 0);
		for (size_t i = 0; i < count; i++) {
			if (memcmp(&events[i], &before[at[events[i].cpu]++], sizeof(*events)))
				ck_abort_msg("event %zu", i);
		}
		play(replay, events, count);
	}
	km_replay_free(replay);
	km_tie_order_free(order);
	free(events);
	free(before);
}
END_TEST

static double seconds_of(size_t count, unsigned cpus)
{
	struct km_event *events = calloc(count, sizeof(*events));
	struct km_tie_order *order = km_tie_order_new();
	struct km_replay *replay = new_replay(0);
	size_t per_cpu = count / cpus;
	struct timespec from, to;

	/* CPU 0 frees what the last CPU allocates, and so on: all that can wait waits. */
	for (size_t i = 0; i < count; i++) {
		unsigned cpu = (unsigned)(i / per_cpu < cpus ? i / per_cpu : cpus - 1);
		enum km_event_kind kind = cpu % 2 ? KM_EVENT_KMALLOC : KM_EVENT_KFREE;

		events[i] = event_of(cpu, kind, A + 64 * (cpu % 2 ? i : count - i), i);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	ck_assert_int_eq(km_tie_order_resolve(order, replay, events, count, NULL), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	km_replay_free(replay);
	km_tie_order_free(order);
	free(events);
	return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

/* Milliseconds; a quadratic one would need minutes for the larger. */
START_TEST(long_ties_take_no_long_time)
{
	ck_assert_double_lt(seconds_of(3000, 8), 1);
	ck_assert_double_lt(seconds_of(200000, 8), 5);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_live_object_is_freed_before_its_address_is_allocated,
		an_absent_address_is_allocated_before_it_is_freed,
		what_was_never_met_is_from_before_the_trace,
		only_one_free_is_from_before_the_trace,
		what_no_other_cpu_has_goes_at_once,
		the_lowest_cpu_that_can_goes_first,
		if_nothing_is_legal_the_lowest_cpu_goes,
		an_object_wanders_over_the_cpus,
		nothing_waits_for_null,
		losses_and_marks_keep_their_place,
		what_overflows_does_not_live,
		a_free_in_the_tie_makes_room,
		a_free_from_before_the_trace_makes_none,
		what_is_sampled_out_waits_for_nothing,
		one_cpu_is_left_alone,
		random_ties_as_the_rule_has_them,
		each_cpu_keeps_its_order,
		long_ties_take_no_long_time,
		NULL,
	};

	return km_test_main("tie_order", tests, 60);
}
