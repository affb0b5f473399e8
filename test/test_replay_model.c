/* SPDX-License-Identifier: GPL-2.0-only */
/* Random streams through the replay, event by event against the naive model. */
#include "replay.h"

#include <inttypes.h>
#include <stdlib.h>

#include "naive_model.h"
#include "testing.h"
#include "trace_writer.h"

#define MAX_MEMORY (UINT64_C(64) << 20)

static struct km_replay *new_replay(uint64_t objects_count, unsigned cpus, enum km_when_full when_full)
{
	const struct km_replay_options options = { .objects_count = objects_count,
						   .max_memory_bytes = MAX_MEMORY,
						   .cpu_limit = cpus,
						   .when_full = when_full };
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
	if (is->kind == KM_OUTCOME_DOUBLED &&
	    (is->first_sampled_out != wanted->first_sampled_out || is->first_purged != wanted->first_purged))
		ck_abort_msg("event %zu: first_sampled_out is %d, first_purged %d", i, is->first_sampled_out,
			     is->first_purged);
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

struct purged {
	struct km_replay *replay;
	uint64_t count, bytes;
};

static void note_purged(void *context, const struct km_object *object)
{
	struct purged *purged = context;

	ck_assert(!km_replay_hash_keeps(km_replay_table(purged->replay), object->ptr));
	purged->count++;
	purged->bytes += object->bytes_alloc;
}

static void check_sampled(const struct km_replay *replay, const struct naive *naive, const struct purged *purged)
{
	const struct km_sampled *sampled = km_replay_sampled(replay);
	const struct naive_halving *halvings;
	uint64_t count = 0;
	size_t times;

	halvings = naive_halvings(naive, &times);
	for (size_t i = 0; i < times; i++)
		count += halvings[i].count;
	ck_assert_uint_eq(km_replay_table(replay)->k, times);
	ck_assert_uint_eq(sampled->purged_count, count);
	ck_assert_uint_eq(purged->count, count);
	ck_assert_uint_eq(sampled->purged_bytes, purged->bytes);
}

/* In batches of many sizes: what a CPU's last event was lives on from one to the next. */
static void play_all(struct km_replay *replay, const struct km_event *events, const uint32_t *keys, size_t count,
		     struct km_outcome *outcomes, struct purged *purged)
{
	uint64_t random = count;

	*purged = (struct purged){ .replay = replay };
	for (size_t at = 0, n, wanted; at < count; at += n) {
		wanted = 1 + naive_random(&random) % 300;
		if (wanted > count - at)
			wanted = count - at;
		n = km_replay_run(replay, events + at, keys + at, wanted, outcomes + at);
		if (n < wanted)
			km_replay_halve(replay, events[at + n].time, note_purged, purged);
	}
}

/* Keys are all different: an outcome that names the wrong object is found out. */
static void compare(const struct km_event *events, size_t count, unsigned cpus, uint64_t objects_count,
		    uint64_t unbounded_peak, enum km_when_full when_full)
{
	struct km_replay *replay = new_replay(objects_count, cpus, when_full);
	struct purged purged;
	struct naive *naive = naive_new(objects_count, cpus);
	struct km_outcome *outcomes = calloc(count, sizeof(*outcomes));
	uint32_t *keys = calloc(count, sizeof(*keys));

	if (when_full == KM_WHEN_FULL_SAMPLE)
		naive_sample(naive);
	for (size_t i = 0; i < count; i++)
		keys[i] = (uint32_t)i + 1;
	play_all(replay, events, keys, count, outcomes, &purged);
	for (size_t i = 0; i < count; i++) {
		struct naive_result wanted = naive_play(naive, &events[i], keys[i]);

		check_outcome(i, &events[i], &outcomes[i], &wanted);
	}
	check_end(replay, naive, objects_count, unbounded_peak);
	check_sampled(replay, naive, &purged);
	free(keys);
	free(outcomes);
	naive_free(naive);
	km_replay_free(replay);
}

static void compare_sizes(const struct km_event *events, size_t count, unsigned cpus)
{
	static const uint64_t sizes[] = { 0, 1, 2, 3, 7, 64, 1000 };
	uint64_t peak = unbounded_peak_of(events, count, cpus);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		compare(events, count, cpus, sizes[i], peak, KM_WHEN_FULL_DROP);
		compare(events, count, cpus, sizes[i], peak, KM_WHEN_FULL_SAMPLE);
	}
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
	uint64_t kinds[KM_OUTCOME_SAMPLED_OUT + 1] = { 0 }, implied = 0, first_overflowed = 0;

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

START_TEST(nasty_streams_are_nasty_to_a_sample)
{
	uint64_t sampled_out = 0, frees = 0, first_sampled_out = 0, first_purged = 0;
	const size_t count = 3000;
	struct km_event *events = calloc(count, sizeof(*events));

	for (uint64_t seed = 1; seed <= 200; seed++) {
		const struct naive_stream stream = { .seed = seed, .events_count = count, .cpus = 5, .pointers = 300 };
		struct naive *naive = naive_new(1 + seed % 60, stream.cpus);

		naive_sample(naive);
		naive_stream_random(&stream, events);
		for (size_t i = 0; i < count; i++) {
			struct naive_result r = naive_play(naive, &events[i], 1);
			bool is_out = r.kind == KM_OUTCOME_SAMPLED_OUT;

			sampled_out += is_out && km_event_is_alloc(&events[i]);
			frees += is_out && km_event_is_free(&events[i]);
			first_sampled_out += r.first_sampled_out;
			first_purged += r.first_purged;
		}
		naive_free(naive);
	}
	ck_assert_uint_gt(sampled_out, 10000);
	ck_assert_uint_gt(frees, 10000);
	ck_assert_uint_gt(first_sampled_out, 1000);
	ck_assert_uint_gt(first_purged, 3);
	free(events);
}
END_TEST

/* Halvings are rare: many short streams. */
START_TEST(short_streams_sample_as_the_model)
{
	const size_t count = 400;
	struct km_event *events = calloc(count, sizeof(*events));

	for (uint64_t seed = 1; seed <= 300; seed++) {
		const struct naive_stream stream = {
			.seed = seed + 1000, .events_count = count, .cpus = 5, .pointers = 300, .has_losses = seed & 1
		};

		naive_stream_random(&stream, events);
		compare(events, count, stream.cpus, 1 + seed % 60, unbounded_peak_of(events, count, stream.cpus),
			KM_WHEN_FULL_SAMPLE);
	}
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
		struct purged purged;
		const struct km_replay_options options = { .objects_count = 10,
							   .cpu_limit = 3,
							   .resets_on_loss = true,
							   .when_full =
								   seed % 2 ? KM_WHEN_FULL_SAMPLE : KM_WHEN_FULL_DROP };
		struct km_replay *replay;
		struct naive *naive = naive_new(10, 3);

		naive_reset_on_loss(naive);
		if (seed % 2)
			naive_sample(naive);
		ck_assert_int_eq(km_replay_new(&options, &replay, NULL), 0);
		naive_stream_random(&stream, events);
		play_all(replay, events, keys, count, outcomes, &purged);
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
		nasty_streams_are_nasty_to_a_sample,
		short_streams_sample_as_the_model,
		resets_on_loss_as_the_model,
		NULL,
	};

	return km_test_main("replay_model", tests, 60);
}
