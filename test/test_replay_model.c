/* SPDX-License-Identifier: GPL-2.0-only */
/* Random streams through the replay, event by event against the naive model. */
#include "replay.h"

#include <inttypes.h>
#include <stdlib.h>

#include "naive_model.h"
#include "testing.h"
#include "trace_writer.h"

#define MAX_MEMORY (UINT64_C(64) << 20)

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

static bool same_object(const struct km_object *a, const struct km_object *b)
{
	return a->ptr == b->ptr && a->time == b->time && a->bytes_req == b->bytes_req &&
	       a->bytes_alloc == b->bytes_alloc && a->key == b->key && a->pid == b->pid && a->cpu == b->cpu;
}

static bool has_object(const struct naive_result *r)
{
	return r->kind == KM_OUTCOME_MATCHED || r->kind == KM_OUTCOME_DOUBLED || r->implied_free;
}

static void check_outcome(size_t i, const struct km_event *e, const struct km_outcome *is,
			  const struct naive_result *wanted)
{
	if (is->kind != wanted->kind || is->implied_free != wanted->implied_free)
		ck_abort_msg("event %zu (%s, cpu %u): outcome %u implied %d, not %u %d", i,
			     km_event_kind_name((enum km_event_kind)e->kind), e->cpu, is->kind, is->implied_free,
			     wanted->kind, wanted->implied_free);
	if (is->kind == KM_OUTCOME_DOUBLED && is->first_overflowed != wanted->first_overflowed)
		ck_abort_msg("event %zu: first_overflowed is %d", i, is->first_overflowed);
	if (has_object(wanted) && !same_object(&is->object, &wanted->object))
		ck_abort_msg("event %zu: object %" PRIx64 " of %" PRIu64 " key %" PRIu32 ", not %" PRIx64 " of %" PRIu64
			     " key %" PRIu32,
			     i, is->object.ptr, is->object.time, is->object.key, wanted->object.ptr,
			     wanted->object.time, wanted->object.key);
}

static void check_overflow(const struct km_overflow *is, const struct naive_overflow *wanted)
{
	ck_assert_uint_eq(is->count, wanted->count);
	ck_assert_uint_eq(is->bytes, wanted->bytes);
	ck_assert_uint_eq(is->episodes_count, wanted->episodes_count);
	ck_assert_uint_eq(is->longest_time, wanted->longest_time);
	ck_assert_int_eq(is->is_open, wanted->is_open);
	if (is->count)
		ck_assert_uint_eq(is->first_time, wanted->first_time);
	for (size_t i = 0; i < wanted->episodes_count && i < KM_REPLAY_EPISODES_LIMIT; i++) {
		if (is->episodes[i].start_time != wanted->episodes[i].start_time ||
		    is->episodes[i].end_time != wanted->episodes[i].end_time ||
		    is->episodes[i].count != wanted->episodes[i].count)
			ck_abort_msg("episode %zu", i);
	}
}

static void check_survivors(const struct km_replay_hash *table, const struct naive *naive)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < table->slots_count; i++) {
		const struct km_object *wanted;
		struct km_object object;

		if (!table->slots[i].ptr)
			continue;
		count++;
		km_slot_unpack(&table->slots[i], &object);
		wanted = naive_find(naive, object.ptr);
		if (!wanted || !same_object(&object, wanted))
			ck_abort_msg("survivor %" PRIx64, object.ptr);
	}
	ck_assert_uint_eq(count, naive_live_count(naive));
	ck_assert_uint_eq(count, table->count);
}

static uint64_t power_of_two_over(uint64_t peak)
{
	uint64_t count = 1;

	while (count * 100 <= peak * 125)
		count *= 2;
	return count;
}

/* unbounded_peak: what lives at most in a table without a bound. */
static void check_end(const struct km_replay *replay, const struct naive *naive, uint64_t objects_count,
		      uint64_t unbounded_peak)
{
	const struct km_overflow *overflow = km_replay_overflow(replay);
	uint64_t peak = km_replay_peak_count(replay);

	check_overflow(overflow, naive_overflow(naive));
	check_survivors(km_replay_table(replay), naive);
	ck_assert_uint_eq(peak, naive_peak_count(naive));
	if (objects_count) {
		ck_assert_uint_eq(km_replay_table(replay)->capacity, objects_count);
		ck_assert_uint_le(peak, objects_count);
		ck_assert(!overflow->count || peak == objects_count);
	}
	/* The sample holds all of 4,096 addresses, so it is exact here. */
	ck_assert_uint_eq(km_replay_true_peak_count(replay), unbounded_peak);
	ck_assert_uint_eq(km_replay_recommended_count(replay), power_of_two_over(unbounded_peak));
}

static uint64_t unbounded_peak_of(const struct km_event *events, size_t count, unsigned cpus)
{
	struct naive *naive = naive_new(0, cpus);
	uint64_t peak;

	for (size_t i = 0; i < count; i++)
		naive_play(naive, &events[i], 1);
	peak = naive_peak_count(naive);
	naive_free(naive);
	return peak;
}

/* In batches of many sizes: what a CPU's last event was lives on from one to the next. */
static void play_all(struct km_replay *replay, const struct km_event *events, const uint32_t *keys, size_t count,
		     struct km_outcome *outcomes)
{
	uint64_t random = count;

	for (size_t at = 0, n; at < count; at += n) {
		n = 1 + naive_random(&random) % 300;
		if (n > count - at)
			n = count - at;
		km_replay_run(replay, events + at, keys + at, n, outcomes + at);
	}
}

/* Keys are all different: an outcome that names the wrong object is found out. */
static void compare(const struct km_event *events, size_t count, unsigned cpus, uint64_t objects_count,
		    uint64_t unbounded_peak)
{
	struct km_replay *replay = new_replay(objects_count, cpus);
	struct naive *naive = naive_new(objects_count, cpus);
	struct km_outcome *outcomes = calloc(count, sizeof(*outcomes));
	uint32_t *keys = calloc(count, sizeof(*keys));

	for (size_t i = 0; i < count; i++)
		keys[i] = (uint32_t)i + 1;
	play_all(replay, events, keys, count, outcomes);
	for (size_t i = 0; i < count; i++) {
		struct naive_result wanted = naive_play(naive, &events[i], keys[i]);

		check_outcome(i, &events[i], &outcomes[i], &wanted);
	}
	check_end(replay, naive, objects_count, unbounded_peak);
	free(keys);
	free(outcomes);
	naive_free(naive);
	km_replay_free(replay);
}

static void compare_sizes(const struct km_event *events, size_t count, unsigned cpus)
{
	static const uint64_t sizes[] = { 0, 1, 2, 3, 7, 64, 1000 };
	uint64_t peak = unbounded_peak_of(events, count, cpus);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		compare(events, count, cpus, sizes[i], peak);
}

START_TEST(plausible_streams_replay_as_the_model)
{
	const size_t count = 20000;
	struct km_event *events = calloc(count, sizeof(*events));

	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct tw_stream stream = { .seed = seed,
					    .events_count = count,
					    .cpus = (unsigned)seed,
					    .kernel = seed == 2 ? TW_KERNEL_5_10 : TW_KERNEL_6_18,
					    .live_target = seed == 3 ? 2000 : 200,
					    .ties = true };

		tw_stream_random(NULL, &stream, events);
		compare_sizes(events, count, stream.cpus);
	}
	free(events);
}
END_TEST

START_TEST(nasty_streams_replay_as_the_model)
{
	static const unsigned pointers[] = { 1, 2, 3, 5, 10, 100, 3000 };
	const size_t count = 5000;
	struct km_event *events = calloc(count, sizeof(*events));

	for (uint64_t seed = 1; seed <= 56; seed++) {
		const struct naive_stream stream = { .seed = seed,
						     .events_count = count,
						     .cpus = 1 + (unsigned)seed % 5,
						     .pointers = pointers[seed % 7],
						     .free_percent = seed % 3 ? 45 : 25,
						     .has_losses = seed & 1 };

		naive_stream_random(&stream, events);
		compare_sizes(events, count, stream.cpus);
	}
	free(events);
}
END_TEST

/* The comparison would be worth little if what is rare did not occur. */
START_TEST(nasty_streams_are_nasty)
{
	const struct naive_stream stream = {
		.seed = 5, .events_count = 20000, .cpus = 3, .pointers = 20, .has_losses = true
	};
	struct km_event *events = calloc(stream.events_count, sizeof(*events));
	struct naive *naive = naive_new(7, stream.cpus);
	uint64_t kinds[KM_OUTCOME_NULL + 1] = { 0 }, implied = 0, first_overflowed = 0;

	naive_stream_random(&stream, events);
	for (size_t i = 0; i < stream.events_count; i++) {
		struct naive_result r = naive_play(naive, &events[i], 1);

		kinds[r.kind]++;
		implied += r.implied_free;
		first_overflowed += r.first_overflowed;
	}
	for (unsigned kind = 0; kind <= KM_OUTCOME_NULL; kind++)
		ck_assert_msg(kinds[kind] > 50 || kind == KM_OUTCOME_RESET, "outcome %u", kind);
	ck_assert_uint_gt(implied, 500);
	ck_assert_uint_gt(first_overflowed, 50);
	ck_assert_uint_gt(naive_overflow(naive)->episodes_count, KM_REPLAY_EPISODES_LIMIT);
	naive_free(naive);
	free(events);
}
END_TEST

START_TEST(resets_on_loss_as_the_model)
{
	const size_t count = 4000;
	struct km_event *events = calloc(count, sizeof(*events));
	struct km_outcome *outcomes = calloc(count, sizeof(*outcomes));
	uint32_t *keys = calloc(count, sizeof(*keys));

	for (uint64_t seed = 1; seed <= 12; seed++) {
		const struct naive_stream stream = {
			.seed = seed, .events_count = count, .cpus = 3, .pointers = 40, .has_losses = true
		};
		const struct km_replay_options options = { .objects_count = 10,
							   .cpu_limit = 3,
							   .resets_on_loss = true };
		struct km_replay *replay;
		struct naive *naive = naive_new(10, 3);

		naive_reset_on_loss(naive);
		ck_assert_int_eq(km_replay_new(&options, &replay, NULL), 0);
		naive_stream_random(&stream, events);
		play_all(replay, events, keys, count, outcomes);
		for (size_t i = 0; i < count; i++) {
			struct naive_result wanted = naive_play(naive, &events[i], 0);

			check_outcome(i, &events[i], &outcomes[i], &wanted);
		}
		check_overflow(km_replay_overflow(replay), naive_overflow(naive));
		check_survivors(km_replay_table(replay), naive);
		naive_free(naive);
		km_replay_free(replay);
	}
	free(keys);
	free(outcomes);
	free(events);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		plausible_streams_replay_as_the_model,
		nasty_streams_replay_as_the_model,
		nasty_streams_are_nasty,
		resets_on_loss_as_the_model,
		NULL,
	};

	return km_test_main("replay_model", tests, 60);
}
