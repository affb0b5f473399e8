/* SPDX-License-Identifier: GPL-2.0-only */
/* Cases, one by one; test_replay_model.c has the random streams. */
#include "replay.h"

#include <inttypes.h>

#include "testing.h"

#define MAX_MEMORY (UINT64_C(64) << 20)
#define A          UINT64_C(0xffff888000001000)
#define B          UINT64_C(0xffff888000002000)
#define C          UINT64_C(0xffff888000003000)

static struct km_replay *new_replay(uint64_t objects_count, unsigned cpus)
{
	const struct km_replay_options options = { .objects_count = objects_count,
						   .max_memory_bytes = MAX_MEMORY,
						   .cpu_limit = cpus };
	struct km_error error = { 0 };
	struct km_replay *replay = NULL;

	ck_assert_msg(!km_replay_new(&options, &replay, &error), "%s", error.text);
	return replay;
}

/* --- the rows of the table, one by one --- */

/* Short hands for cases; time is the place in the case unless given. */
static struct km_event alloc_on(unsigned cpu, uint64_t ptr, uint64_t bytes)
{
	return (struct km_event){ .kind = KM_EVENT_KMALLOC,
				  .cpu = (uint16_t)cpu,
				  .ptr = ptr,
				  .bytes_req = bytes,
				  .bytes_alloc = (bytes + 4095) / 4096 * 4096,
				  .pid = 7 };
}

static struct km_event free_on(unsigned cpu, uint64_t ptr)
{
	return (struct km_event){ .kind = KM_EVENT_KFREE, .cpu = (uint16_t)cpu, .ptr = ptr, .pid = 8 };
}

#define CASE_LIMIT 16

struct played {
	struct km_replay *replay;
	struct km_outcome outcomes[CASE_LIMIT];
};

/* Plays events with times 100, 200 ... and keys 1, 2 ... */
static struct played play(uint64_t objects_count, const struct km_event *events, size_t count)
{
	struct played played = { .replay = new_replay(objects_count, 2) };

	for (size_t i = 0; i < count; i++) {
		struct km_event event = events[i];
		const uint32_t key = (uint32_t)i + 1;

		event.time = 100 * (i + 1);
		km_replay_run(played.replay, &event, &key, 1, &played.outcomes[i]);
	}
	return played;
}

#define PLAY(objects_count, ...)                                      \
	play(objects_count, (const struct km_event[]){ __VA_ARGS__ }, \
	     sizeof((const struct km_event[]){ __VA_ARGS__ }) / sizeof(struct km_event))

static uint64_t live(const struct played *played)
{
	return km_replay_table(played->replay)->count;
}

START_TEST(an_allocation_is_tracked_and_matched_by_its_free)
{
	struct played p = PLAY(4, alloc_on(1, A, 100), free_on(0, A));

	ck_assert_int_eq(p.outcomes[0].kind, KM_OUTCOME_TRACKED);
	ck_assert(!p.outcomes[0].implied_free);
	ck_assert_int_eq(p.outcomes[1].kind, KM_OUTCOME_MATCHED);
	ck_assert_uint_eq(p.outcomes[1].object.ptr, A);
	ck_assert_uint_eq(p.outcomes[1].object.time, 100);
	ck_assert_uint_eq(p.outcomes[1].object.key, 1);
	ck_assert_uint_eq(p.outcomes[1].object.cpu, 1);
	ck_assert_int_eq(p.outcomes[1].object.pid, 7);
	ck_assert_uint_eq(p.outcomes[1].object.bytes_req, 100);
	ck_assert_uint_eq(p.outcomes[1].object.bytes_alloc, 4096);
	ck_assert_uint_eq(live(&p), 0);
	km_replay_free(p.replay);
}
END_TEST

START_TEST(any_free_matches_any_allocation)
{
	struct km_event cache_alloc = alloc_on(0, A, 64), cache_free = free_on(0, B);
	struct played p;

	cache_alloc.kind = KM_EVENT_CACHE_ALLOC;
	cache_free.kind = KM_EVENT_CACHE_FREE;
	p = PLAY(4, cache_alloc, alloc_on(0, B, 64), free_on(0, A), cache_free);
	ck_assert_int_eq(p.outcomes[2].kind, KM_OUTCOME_MATCHED);
	ck_assert_int_eq(p.outcomes[3].kind, KM_OUTCOME_MATCHED);
	ck_assert_uint_eq(p.outcomes[3].object.key, 2);
	km_replay_free(p.replay);
}
END_TEST

START_TEST(a_failed_allocation_is_not_tracked)
{
	struct played p = PLAY(1, alloc_on(0, 0, 100000), alloc_on(0, 0, 100000), alloc_on(0, A, 8));

	ck_assert_int_eq(p.outcomes[0].kind, KM_OUTCOME_FAILED);
	ck_assert_int_eq(p.outcomes[1].kind, KM_OUTCOME_FAILED); /* no pair: the pointer is 0 */
	ck_assert_int_eq(p.outcomes[2].kind, KM_OUTCOME_TRACKED);
	ck_assert_uint_eq(km_replay_overflow(p.replay)->count, 0);
	km_replay_free(p.replay);
}
END_TEST

START_TEST(null_frees_do_nothing)
{
	struct played p = PLAY(1, alloc_on(0, A, 8), free_on(0, 0), free_on(0, KM_ZERO_SIZE_PTR));

	ck_assert_int_eq(p.outcomes[1].kind, KM_OUTCOME_NULL);
	ck_assert_int_eq(p.outcomes[2].kind, KM_OUTCOME_NULL);
	ck_assert_uint_eq(live(&p), 1);
	km_replay_free(p.replay);
}
END_TEST

START_TEST(frees_of_the_unknown_are_unmatched)
{
	struct played p = PLAY(4, free_on(0, A), alloc_on(0, A, 8), free_on(0, A), free_on(0, A));

	ck_assert_int_eq(p.outcomes[0].kind, KM_OUTCOME_UNMATCHED);
	ck_assert_int_eq(p.outcomes[2].kind, KM_OUTCOME_MATCHED);
	ck_assert_int_eq(p.outcomes[3].kind, KM_OUTCOME_UNMATCHED);
	km_replay_free(p.replay);
}
END_TEST

START_TEST(an_allocation_at_a_live_address_frees_the_old_object)
{
	struct played p = PLAY(4, alloc_on(0, A, 8), alloc_on(1, A, 16), free_on(0, A));

	ck_assert_int_eq(p.outcomes[1].kind, KM_OUTCOME_TRACKED);
	ck_assert(p.outcomes[1].implied_free);
	ck_assert_uint_eq(p.outcomes[1].object.key, 1);
	ck_assert_uint_eq(p.outcomes[1].object.bytes_req, 8);
	ck_assert_uint_eq(p.outcomes[2].object.key, 2);
	ck_assert_uint_eq(p.outcomes[2].object.bytes_req, 16);
	ck_assert_uint_eq(p.outcomes[2].object.time, 200);
	km_replay_free(p.replay);
}
END_TEST

START_TEST(an_implied_free_never_overflows)
{
	struct played p = PLAY(1, alloc_on(0, A, 8), alloc_on(0, B, 8), alloc_on(0, A, 16));

	ck_assert_int_eq(p.outcomes[1].kind, KM_OUTCOME_OVERFLOWED);
	ck_assert_int_eq(p.outcomes[2].kind, KM_OUTCOME_TRACKED);
	ck_assert(p.outcomes[2].implied_free);
	ck_assert_uint_eq(km_replay_overflow(p.replay)->count, 1);
	ck_assert(km_replay_overflow(p.replay)->is_open); /* no slot became free */
	km_replay_free(p.replay);
}
END_TEST

START_TEST(a_full_table_overflows)
{
	struct played p = PLAY(2, alloc_on(0, A, 8), alloc_on(0, B, 8), alloc_on(0, C, 5000), free_on(0, C),
			       free_on(0, A), alloc_on(0, C, 8));
	const struct km_overflow *o = km_replay_overflow(p.replay);

	ck_assert_int_eq(p.outcomes[2].kind, KM_OUTCOME_OVERFLOWED);
	ck_assert_int_eq(p.outcomes[3].kind, KM_OUTCOME_UNMATCHED); /* untracked by overflow */
	ck_assert_int_eq(p.outcomes[5].kind, KM_OUTCOME_TRACKED);
	ck_assert(!p.outcomes[5].implied_free);
	ck_assert_uint_eq(o->count, 1);
	ck_assert_uint_eq(o->bytes, 8192);
	ck_assert_uint_eq(o->first_time, 300);
	ck_assert_uint_eq(km_replay_peak_count(p.replay), 2);
	ck_assert_uint_eq(km_replay_true_peak_count(p.replay), 3);
	ck_assert_uint_eq(km_replay_recommended_count(p.replay), 4);
	km_replay_free(p.replay);
}
END_TEST

/* --- doubled --- */

START_TEST(a_large_kmalloc_told_twice_is_one)
{
	struct played p = PLAY(4, alloc_on(0, A, 8193), alloc_on(0, A, 8193), free_on(1, A));

	ck_assert_int_eq(p.outcomes[0].kind, KM_OUTCOME_TRACKED);
	ck_assert_int_eq(p.outcomes[1].kind, KM_OUTCOME_DOUBLED);
	ck_assert(!p.outcomes[1].implied_free);
	ck_assert(!p.outcomes[1].first_overflowed);
	ck_assert_uint_eq(p.outcomes[1].object.key, 1);
	ck_assert_int_eq(p.outcomes[2].kind, KM_OUTCOME_MATCHED);
	ck_assert_uint_eq(p.outcomes[2].object.key, 2);    /* the second's ... */
	ck_assert_uint_eq(p.outcomes[2].object.time, 100); /* ... from the first's time on */
	km_replay_free(p.replay);
}
END_TEST

START_TEST(only_more_than_8192_bytes_are_told_twice)
{
	struct played p = PLAY(4, alloc_on(0, A, 8192), alloc_on(0, A, 8192));

	ck_assert_int_eq(p.outcomes[1].kind, KM_OUTCOME_TRACKED);
	ck_assert(p.outcomes[1].implied_free);
	km_replay_free(p.replay);
}
END_TEST

START_TEST(other_cpus_may_speak_between_a_pair)
{
	struct played p = PLAY(4, alloc_on(0, A, 9000), alloc_on(1, B, 9000), free_on(1, 0), alloc_on(0, A, 9000),
			       alloc_on(1, B, 9000));

	ck_assert_int_eq(p.outcomes[3].kind, KM_OUTCOME_DOUBLED);
	ck_assert_uint_eq(p.outcomes[3].object.key, 1);
	ck_assert_int_eq(p.outcomes[4].kind, KM_OUTCOME_TRACKED); /* its CPU said something in between */
	ck_assert(p.outcomes[4].implied_free);
	km_replay_free(p.replay);
}
END_TEST

START_TEST(the_same_from_another_cpu_is_no_second)
{
	struct played p = PLAY(4, alloc_on(0, A, 9000), alloc_on(1, A, 9000));

	ck_assert_int_eq(p.outcomes[1].kind, KM_OUTCOME_TRACKED);
	ck_assert(p.outcomes[1].implied_free);
	km_replay_free(p.replay);
}
END_TEST

START_TEST(freed_in_between_there_are_two_allocations)
{
	struct played p = PLAY(4, alloc_on(0, A, 9000), free_on(1, A), alloc_on(0, A, 9000), alloc_on(0, A, 9000));

	ck_assert_int_eq(p.outcomes[1].kind, KM_OUTCOME_MATCHED);
	ck_assert_int_eq(p.outcomes[2].kind, KM_OUTCOME_TRACKED);
	ck_assert(!p.outcomes[2].implied_free);
	ck_assert_int_eq(p.outcomes[3].kind, KM_OUTCOME_DOUBLED); /* the second allocation is told twice, too */
	km_replay_free(p.replay);
}
END_TEST

/* Another CPU's object is there now, even if it looks the same in every other respect. */
START_TEST(replaced_in_between_there_are_three_allocations)
{
	struct km_replay *replay = new_replay(4, 2);
	const struct km_event events[] = { alloc_on(0, A, 9000), alloc_on(1, A, 9000), alloc_on(0, A, 9000) };
	const uint32_t keys[] = { 5, 5, 6 };
	struct km_outcome outcomes[3];

	km_replay_run(replay, events, keys, 3, outcomes);
	for (unsigned i = 1; i < 3; i++) {
		ck_assert_int_eq(outcomes[i].kind, KM_OUTCOME_TRACKED);
		ck_assert(outcomes[i].implied_free);
	}
	km_replay_free(replay);
}
END_TEST

START_TEST(a_pair_may_overflow)
{
	struct played p = PLAY(1, alloc_on(0, A, 8), alloc_on(0, B, 9000), alloc_on(0, B, 9000), free_on(0, B));

	ck_assert_int_eq(p.outcomes[1].kind, KM_OUTCOME_OVERFLOWED);
	ck_assert_int_eq(p.outcomes[2].kind, KM_OUTCOME_DOUBLED);
	ck_assert(p.outcomes[2].first_overflowed);
	ck_assert_uint_eq(p.outcomes[2].object.key, 2);
	ck_assert_uint_eq(p.outcomes[2].object.time, 200);
	ck_assert_uint_eq(p.outcomes[2].object.bytes_req, 9000);
	ck_assert_int_eq(p.outcomes[3].kind, KM_OUTCOME_UNMATCHED);
	ck_assert_uint_eq(km_replay_overflow(p.replay)->count, 1);
	km_replay_free(p.replay);
}
END_TEST

/* The slot that became free is not the pair's: the first was not tracked, nor is the second. */
START_TEST(an_overflowed_pair_stays_so)
{
	struct played p = PLAY(1, alloc_on(0, A, 8), alloc_on(0, B, 9000), free_on(1, A), alloc_on(0, B, 9000));

	ck_assert_int_eq(p.outcomes[3].kind, KM_OUTCOME_DOUBLED);
	ck_assert(p.outcomes[3].first_overflowed);
	ck_assert_uint_eq(live(&p), 0);
	km_replay_free(p.replay);
}
END_TEST

START_TEST(an_overflowed_first_may_be_freed)
{
	struct played p = PLAY(1, alloc_on(0, A, 8), alloc_on(0, B, 9000), free_on(1, B), alloc_on(0, B, 9000));

	ck_assert_int_eq(p.outcomes[2].kind, KM_OUTCOME_UNMATCHED);
	ck_assert_int_eq(p.outcomes[3].kind, KM_OUTCOME_OVERFLOWED);
	ck_assert_uint_eq(km_replay_overflow(p.replay)->count, 2);
	km_replay_free(p.replay);
}
END_TEST

START_TEST(an_overflowed_first_may_be_replaced)
{
	struct played p = PLAY(1, alloc_on(0, A, 8), alloc_on(0, B, 9000), free_on(1, A), alloc_on(1, B, 64),
			       alloc_on(0, B, 9000));

	ck_assert_int_eq(p.outcomes[3].kind, KM_OUTCOME_TRACKED);
	ck_assert_int_eq(p.outcomes[4].kind, KM_OUTCOME_TRACKED);
	ck_assert(p.outcomes[4].implied_free);
	ck_assert_uint_eq(p.outcomes[4].object.key, 4);
	km_replay_free(p.replay);
}
END_TEST

START_TEST(a_pair_is_of_one_task_and_one_size)
{
	struct km_event other_pid = alloc_on(0, A, 9000), other_given = alloc_on(0, A, 9001);
	struct played p;

	other_pid.pid = 9;
	other_given.bytes_alloc = 65536;
	p = PLAY(4, alloc_on(0, A, 9000), other_pid, alloc_on(0, A, 9000), alloc_on(0, A, 9001), other_given);
	for (unsigned i = 1; i < 5; i++) {
		ck_assert_int_eq(p.outcomes[i].kind, KM_OUTCOME_TRACKED);
		ck_assert(p.outcomes[i].implied_free);
	}
	km_replay_free(p.replay);
}
END_TEST

START_TEST(a_loss_parts_a_pair_of_its_cpu_only)
{
	const struct km_event lost = { .kind = KM_EVENT_LOST, .cpu = 0 }, lost_1 = { .kind = KM_EVENT_LOST, .cpu = 1 };
	struct played p = PLAY(4, alloc_on(0, A, 9000), lost, alloc_on(0, A, 9000), lost_1, alloc_on(0, A, 9000));
	uint64_t time = 0;

	ck_assert_int_eq(p.outcomes[1].kind, KM_OUTCOME_NONE);
	ck_assert_int_eq(p.outcomes[2].kind, KM_OUTCOME_TRACKED);
	ck_assert(p.outcomes[2].implied_free);
	ck_assert_int_eq(p.outcomes[4].kind, KM_OUTCOME_DOUBLED);
	ck_assert(km_replay_last_loss(p.replay, &time));
	ck_assert_uint_eq(time, 400);
	km_replay_free(p.replay);
}
END_TEST

START_TEST(a_mark_parts_nothing)
{
	const struct km_event mark = { .kind = KM_EVENT_MARK, .cpu = 0 };
	struct played p = PLAY(4, alloc_on(0, A, 9000), mark, alloc_on(0, A, 9000));

	ck_assert_int_eq(p.outcomes[1].kind, KM_OUTCOME_NONE);
	ck_assert_int_eq(p.outcomes[2].kind, KM_OUTCOME_DOUBLED);
	ck_assert(!km_replay_last_loss(p.replay, &(uint64_t){ 0 }));
	km_replay_free(p.replay);
}
END_TEST

START_TEST(a_second_is_no_first)
{
	struct played p =
		PLAY(4, alloc_on(0, A, 9000), alloc_on(0, A, 9000), alloc_on(0, A, 9000), alloc_on(0, A, 9000));

	ck_assert_int_eq(p.outcomes[1].kind, KM_OUTCOME_DOUBLED);
	ck_assert_int_eq(p.outcomes[2].kind, KM_OUTCOME_TRACKED);
	ck_assert(p.outcomes[2].implied_free);
	ck_assert_int_eq(p.outcomes[3].kind, KM_OUTCOME_DOUBLED);
	ck_assert_uint_eq(p.outcomes[3].object.key, 3);
	km_replay_free(p.replay);
}
END_TEST

START_TEST(kmalloc_node_is_a_kmalloc_and_a_cache_alloc_is_not)
{
	struct km_event node = alloc_on(0, A, 9000), cache = alloc_on(0, B, 9000);
	struct played p;

	node.kind = KM_EVENT_KMALLOC_NODE;
	cache.kind = KM_EVENT_CACHE_ALLOC;
	p = PLAY(4, node, alloc_on(0, A, 9000), cache, cache, alloc_on(0, B, 9000));
	ck_assert_int_eq(p.outcomes[1].kind, KM_OUTCOME_DOUBLED);
	ck_assert(p.outcomes[3].implied_free);
	ck_assert_int_eq(p.outcomes[4].kind, KM_OUTCOME_TRACKED);
	ck_assert(p.outcomes[4].implied_free);
	km_replay_free(p.replay);
}
END_TEST

/* --- overflow --- */

START_TEST(episodes_open_and_close)
{
	struct played p = PLAY(1, alloc_on(0, A, 8), alloc_on(0, B, 8), alloc_on(0, C, 8), free_on(0, B), free_on(0, A),
			       alloc_on(0, A, 8), alloc_on(0, B, 8));
	const struct km_overflow *o = km_replay_overflow(p.replay);

	ck_assert_uint_eq(o->episodes_count, 2);
	ck_assert_uint_eq(o->episodes[0].start_time, 200);
	ck_assert_uint_eq(o->episodes[0].count, 2);
	ck_assert_uint_eq(o->episodes[0].end_time, 500); /* not 400: that free gave no slot */
	ck_assert_uint_eq(o->longest_time, 300);
	ck_assert(o->is_open);
	ck_assert_uint_eq(o->episodes[1].start_time, 700);
	ck_assert_uint_eq(o->episodes[1].count, 1);
	km_replay_free(p.replay);
}
END_TEST

START_TEST(only_the_first_episodes_are_listed)
{
	struct km_replay *replay = new_replay(1, 1);
	const struct km_overflow *o = km_replay_overflow(replay);
	const uint32_t key = 1;
	const unsigned wanted = KM_REPLAY_EPISODES_LIMIT + 10;
	struct km_outcome outcome;

	for (unsigned i = 0; i < wanted; i++) {
		struct km_event events[] = { alloc_on(0, A, 8), alloc_on(0, B, 8), free_on(0, A) };

		for (unsigned k = 0; k < 3; k++) {
			/* The last but one is the longest. */
			events[k].time = i * 1000 + k * (i == wanted - 2 ? 300 : 10);
			km_replay_run(replay, &events[k], &key, 1, &outcome);
		}
	}
	ck_assert_uint_eq(o->episodes_count, wanted);
	ck_assert_uint_eq(o->count, wanted);
	ck_assert_uint_eq(o->longest_time, 300);
	ck_assert_uint_eq(o->episodes[KM_REPLAY_EPISODES_LIMIT - 1].start_time,
			  (KM_REPLAY_EPISODES_LIMIT - 1) * 1000 + 10);
	ck_assert(!o->is_open);
	km_replay_free(replay);
}
END_TEST

START_TEST(the_recommended_size_is_a_power_of_two_over_a_quarter_more)
{
	static const struct {
		unsigned peak, recommended;
	} cases[] = { { 0, 1 }, { 1, 2 }, { 3, 4 }, { 4, 8 }, { 6, 8 }, { 7, 16 }, { 51, 64 }, { 52, 128 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct km_replay *replay = new_replay(1000, 1);

		for (unsigned k = 0; k < cases[i].peak; k++) {
			const struct km_event event = alloc_on(0, A + 64 * k, 8);
			const uint32_t key = 1;
			struct km_outcome outcome;

			km_replay_run(replay, &event, &key, 1, &outcome);
		}
		ck_assert_uint_eq(km_replay_true_peak_count(replay), cases[i].peak);
		ck_assert_uint_eq(km_replay_recommended_count(replay), cases[i].recommended);
		km_replay_free(replay);
	}
}
END_TEST

/* More than the sample holds: it only has to come near. */
START_TEST(the_true_peak_is_estimated)
{
	const uint64_t peak = 100000;
	struct km_replay *replay = new_replay(256, 1);
	struct km_outcome outcome;
	const uint32_t key = 1;
	uint64_t estimate;

	for (uint64_t i = 0; i < peak; i++) {
		const struct km_event event = alloc_on(0, A + 192 * i, 8);

		km_replay_run(replay, &event, &key, 1, &outcome);
	}
	for (uint64_t i = 0; i < peak; i++) {
		const struct km_event event = free_on(0, A + 192 * i);

		km_replay_run(replay, &event, &key, 1, &outcome);
	}
	estimate = km_replay_true_peak_count(replay);
	ck_assert_uint_gt(estimate, peak - peak / 10);
	ck_assert_uint_lt(estimate, peak + peak / 10);
	ck_assert_uint_eq(km_replay_recommended_count(replay), 131072);
	km_replay_free(replay);
}
END_TEST

START_TEST(auto_overflows_at_its_bound_only)
{
	/* The start's 4 MiB and the next one's 8 fit together; 8 and 16 do not. */
	const struct km_replay_options options = { .max_memory_bytes = UINT64_C(20) << 20, .cpu_limit = 1 };
	const uint64_t room = 2 * KM_REPLAY_HASH_AUTO_START;
	struct km_replay *replay;
	struct km_outcome outcome = { 0 };
	const uint32_t key = 1;

	ck_assert_int_eq(km_replay_new(&options, &replay, NULL), 0);
	for (uint64_t i = 0; i < room + 3; i++) {
		const struct km_event event = alloc_on(0, A + 64 * i, 8);

		km_replay_run(replay, &event, &key, 1, &outcome);
		if (outcome.kind != (i < room ? KM_OUTCOME_TRACKED : KM_OUTCOME_OVERFLOWED))
			ck_abort_msg("object %" PRIu64 ": %u", i, outcome.kind);
	}
	ck_assert_uint_eq(km_replay_table(replay)->capacity, room);
	ck_assert(km_replay_table(replay)->bound_is_reached);
	ck_assert_uint_eq(km_replay_overflow(replay)->count, 3);
	ck_assert_uint_eq(km_replay_peak_count(replay), room);
	km_replay_free(replay);
}
END_TEST

/* --- addresses seen before --- */

START_TEST(freed_and_overflowed_addresses_were_seen)
{
	struct played p = PLAY(1, alloc_on(0, A, 8), alloc_on(0, B, 8), free_on(0, C));

	ck_assert(!km_replay_was_seen(p.replay, A)); /* it is in the table */
	ck_assert(km_replay_was_seen(p.replay, B));
	ck_assert(km_replay_was_seen(p.replay, C));
	ck_assert(!km_replay_was_seen(p.replay, C + 64));
	km_replay_free(p.replay);
}
END_TEST

START_TEST(bad_sizes_are_refused)
{
	struct km_replay_options options = { .objects_count = KM_REPLAY_HASH_COUNT_LIMIT + 1, .cpu_limit = 1 };
	struct km_replay *replay = NULL;
	struct km_error error = { 0 };

	ck_assert_int_lt(km_replay_new(&options, &replay, &error), 0);
	ck_assert_ptr_null(replay);
	ck_assert_int_ne(error.code, 0);
	km_replay_free(NULL);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		an_allocation_is_tracked_and_matched_by_its_free,
		any_free_matches_any_allocation,
		a_failed_allocation_is_not_tracked,
		null_frees_do_nothing,
		frees_of_the_unknown_are_unmatched,
		an_allocation_at_a_live_address_frees_the_old_object,
		an_implied_free_never_overflows,
		a_full_table_overflows,
		a_large_kmalloc_told_twice_is_one,
		only_more_than_8192_bytes_are_told_twice,
		other_cpus_may_speak_between_a_pair,
		the_same_from_another_cpu_is_no_second,
		freed_in_between_there_are_two_allocations,
		replaced_in_between_there_are_three_allocations,
		a_pair_may_overflow,
		an_overflowed_pair_stays_so,
		an_overflowed_first_may_be_freed,
		an_overflowed_first_may_be_replaced,
		a_pair_is_of_one_task_and_one_size,
		a_loss_parts_a_pair_of_its_cpu_only,
		a_mark_parts_nothing,
		a_second_is_no_first,
		kmalloc_node_is_a_kmalloc_and_a_cache_alloc_is_not,
		episodes_open_and_close,
		only_the_first_episodes_are_listed,
		the_recommended_size_is_a_power_of_two_over_a_quarter_more,
		the_true_peak_is_estimated,
		auto_overflows_at_its_bound_only,
		freed_and_overflowed_addresses_were_seen,
		bad_sizes_are_refused,
		NULL,
	};

	return km_test_main("replay", tests, 60);
}
