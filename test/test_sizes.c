/* SPDX-License-Identifier: GPL-2.0-only */
/* What it says of each size against a replay with a table of that size. */
#include "sizes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "count_setup.h"
#include "naive_model.h"
#include "testing.h"

#define EVENTS 4000

/* Live bytes by call site of one replay of the events. */
struct shown {
	uint64_t sites[64], bytes[64];
	size_t count;
	uint64_t overflowed_count, overflowed_bytes, objects_count, memory_bytes, peak_count;
	unsigned k;
};

static void take_sites(const struct count_setup *s, struct shown *ret_shown)
{
	const struct km_replayed *r = km_aggregate_replayed(s->aggregate);

	*ret_shown = (struct shown){ .count = km_aggregate_rows_count(s->aggregate, KM_AXIS_SITE),
				     .overflowed_count = km_replay_overflow(s->replay)->count,
				     .overflowed_bytes = km_replay_overflow(s->replay)->bytes,
				     .objects_count = r->tracked_count + r->overflowed_count,
				     .memory_bytes = km_replay_table(s->replay)->slots_count * sizeof(struct km_slot),
				     .peak_count = km_replay_peak_count(s->replay),
				     .k = km_replay_table(s->replay)->k };
	ck_assert_uint_le(ret_shown->count, 64);
	for (size_t i = 0; i < ret_shown->count; i++) {
		struct km_row row;

		ck_assert_int_eq(km_aggregate_row(s->aggregate, KM_AXIS_SITE, i, false, &row), 0);
		ret_shown->sites[i] = km_aggregate_site(s->aggregate, i);
		ret_shown->bytes[i] = row.sums.live_bytes;
		km_row_release(&row);
	}
}

static struct count_setup *set_up(uint64_t min_size)
{
	struct count_setup *s = count_set_up(NULL);

	s->filter.min_size_bytes = min_size;
	return s;
}

static struct shown run_one(const struct km_event *events, size_t count, uint64_t objects_count, uint64_t min_size,
			    enum km_when_full when_full, bool resets)
{
	struct count_setup *s = set_up(min_size);
	struct shown shown;

	s->when_full = when_full;
	count_start(s, objects_count, resets);
	count_run(s, events, count);
	count_finish(s);
	take_sites(s, &shown);
	count_tear_down(s);
	return shown;
}

/* Errors by site and in total; false where nothing is live. */
static bool errors_of(const struct shown *shown, const struct shown *all, double *ret_by_site, double *ret_total)
{
	double off = 0, sum = 0, wanted = 0;

	ck_assert_uint_eq(shown->count, all->count);
	for (size_t i = 0; i < all->count; i++) {
		ck_assert_uint_eq(shown->sites[i], all->sites[i]);
		off += fabs((double)shown->bytes[i] - (double)all->bytes[i]);
		sum += (double)shown->bytes[i];
		wanted += (double)all->bytes[i];
	}
	*ret_by_site = off / wanted;
	*ret_total = fabs(sum - wanted) / wanted;
	return wanted > 0;
}

static void run_sizes(struct count_setup *s, struct km_sizes *sizes, const struct km_event *events, size_t count)
{
	struct km_outcome outcomes[100];
	uint32_t keys[100];
	struct km_error error = { 0 };

	for (size_t at = 0, n; at < count; at += n) {
		n = count - at < 100 ? count - at : 1 + at % 100;
		if (n > count - at)
			n = count - at;
		ck_assert_int_eq(km_aggregate_keys(s->aggregate, events + at, n, keys, NULL), 0);
		ck_assert_uint_eq(km_replay_run(s->replay, events + at, keys, n, outcomes), n);
		ck_assert_msg(!km_sizes_run(sizes, events + at, outcomes, n, &error), "%s", error.text);
		ck_assert_int_eq(km_aggregate_account(s->aggregate, events + at, keys, outcomes, n, NULL), 0);
	}
}

static void check_size(const struct km_size *size, const struct km_event *events, size_t count, uint64_t min_size,
		       bool resets, const struct shown *all)
{
	struct shown drop = run_one(events, count, size->capacity, min_size, KM_WHEN_FULL_DROP, resets);
	struct shown sample = run_one(events, count, size->capacity, min_size, KM_WHEN_FULL_SAMPLE, resets);
	double by_site, total;
	bool is_known;

	ck_assert_uint_eq(size->overflowed_count, drop.overflowed_count);
	ck_assert_uint_eq(size->overflowed_bytes, drop.overflowed_bytes);
	ck_assert_uint_eq(size->memory_bytes, drop.memory_bytes);
	ck_assert_double_eq_tol(size->tracked_ratio, 1 - (double)drop.overflowed_count / (double)drop.objects_count,
				1e-12);
	ck_assert_uint_eq(size->sample_k, sample.k);
	is_known = errors_of(&drop, all, &by_site, &total);
	ck_assert_int_eq(size->error_is_known, is_known);
	if (!is_known)
		return;
	ck_assert_double_eq_tol(size->drop_error, by_site, 1e-9);
	ck_assert_double_eq_tol(size->drop_total_error, total, 1e-9);
	errors_of(&sample, all, &by_site, &total);
	ck_assert_double_eq_tol(size->sample_error, by_site, 1e-9);
	ck_assert_double_eq_tol(size->sample_total_error, total, 1e-9);
}

/* Returns how many sizes there are. */
static size_t check_all(const struct km_event *events, size_t count, uint64_t min_size, bool resets)
{
	struct shown all = run_one(events, count, 0, min_size, KM_WHEN_FULL_DROP, resets);
	struct count_setup *s = set_up(min_size);
	struct km_size found[KM_SIZES_LIMIT];
	struct km_sizes *sizes;
	size_t n;

	count_start(s, 0, resets);
	ck_assert_int_eq(km_sizes_new(0, 1 << 24, &sizes, NULL), 0);
	run_sizes(s, sizes, events, count);
	count_finish(s);
	ck_assert_int_eq(km_sizes_finish(sizes, km_replay_table(s->replay), s->aggregate, NULL), 0);
	n = km_sizes_get(sizes, 1, found);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(found[i].capacity, UINT64_C(1) << i);
		check_size(&found[i], events, count, min_size, resets, &all);
		ck_assert_int_eq(found[i].overflowed_count == 0, i == n - 1);
	}
	/* The last is the first that holds the most that were ever live. */
	ck_assert_uint_ge(found[n - 1].capacity, all.peak_count);
	ck_assert_uint_eq(km_sizes_get(sizes, 4 * found[n - 1].capacity, found), n + 2);
	ck_assert_uint_eq(found[n + 1].overflowed_count, 0);
	km_sizes_free(sizes);
	count_tear_down(s);
	return n;
}

START_TEST(nasty_streams_as_one_replay_a_size)
{
	static const unsigned pointers[] = { 1, 4, 20, 100, 600, 3000 };
	struct km_event *events = calloc(EVENTS, sizeof(*events));

	for (uint64_t seed = 1; seed <= 36; seed++) {
		const struct naive_stream stream = { .seed = seed,
						     .events_count = EVENTS,
						     .cpus = COUNT_CPUS,
						     .pointers = pointers[seed % 6],
						     .caches = 3,
						     .free_percent = seed % 4 ? 45 : 30,
						     .has_losses = seed & 1,
						     .pairs_are_whole = seed % 3 == 0 };

		naive_stream_random(&stream, events);
		ck_assert_uint_ge(check_all(events, EVENTS, seed % 5 ? 0 : 5000, false), stream.pointers > 1);
	}
	free(events);
}
END_TEST

START_TEST(losses_that_reset_as_one_replay_a_size)
{
	struct km_event *events = calloc(EVENTS, sizeof(*events));

	for (uint64_t seed = 1; seed <= 8; seed++) {
		const struct naive_stream stream = { .seed = seed + 50,
						     .events_count = EVENTS,
						     .cpus = COUNT_CPUS,
						     .pointers = 50 * (unsigned)seed,
						     .caches = 3,
						     .has_losses = true };

		naive_stream_random(&stream, events);
		check_all(events, EVENTS, 0, true);
	}
	free(events);
}
END_TEST

static struct km_event kmalloc_of(uint64_t i)
{
	return (struct km_event){ .kind = KM_EVENT_KMALLOC,
				  .time = i,
				  .ptr = 0xffff888000000000 + 64 * (i + 1),
				  .call_site = 0xffffffff81000010,
				  .bytes_req = 8,
				  .bytes_alloc = 8 };
}

/* 2^first objects fit into the first size: no error, whatever the sample. */
START_TEST(what_fits_is_seen_whole)
{
	struct count_setup *s = count_set_up(NULL);
	struct km_size found[KM_SIZES_LIMIT];
	struct km_event events[1025];
	struct km_sizes *sizes;

	count_start(s, 0, false);
	ck_assert_int_eq(km_sizes_new(KM_SIZES_FIRST, 1 << 24, &sizes, NULL), 0);
	ck_assert_uint_eq(km_sizes_get(sizes, 1, found), 1); /* of no events */
	ck_assert(!found[0].error_is_known);
	ck_assert_double_eq(found[0].tracked_ratio, 1);
	for (uint64_t i = 0; i < 1025; i++)
		events[i] = kmalloc_of(i);
	run_sizes(s, sizes, events, 1024);
	ck_assert_uint_eq(km_sizes_get(sizes, 1, found), 1);
	ck_assert_uint_eq(found[0].capacity, 1024);
	ck_assert_uint_eq(found[0].sample_k, 0);
	run_sizes(s, sizes, events + 1024, 1);
	ck_assert_uint_eq(km_sizes_get(sizes, 1, found), 2);
	ck_assert_uint_eq(found[0].overflowed_count, 1);
	ck_assert_uint_eq(found[0].overflowed_bytes, 8);
	ck_assert_uint_eq(found[0].sample_k, 1);
	ck_assert_uint_eq(found[1].sample_k, 0);
	km_sizes_free(sizes);
	count_tear_down(s);
}
END_TEST

START_TEST(a_bound_on_memory_is_an_error)
{
	struct km_outcome outcome = { .kind = KM_OUTCOME_TRACKED };
	struct km_error error = { 0 };
	struct km_sizes *sizes;
	int r = 0;

	ck_assert_int_eq(km_sizes_new(KM_SIZES_FIRST, 4096, &sizes, NULL), 0); /* 64 objects */
	for (uint64_t i = 0; i < 65 && !r; i++) {
		struct km_event event = kmalloc_of(i);

		r = km_sizes_run(sizes, &event, &outcome, 1, &error);
		ck_assert_int_eq(r != 0, i == 64);
	}
	ck_assert_ptr_nonnull(strstr(error.text, "--max-memory"));
	km_sizes_free(sizes);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		nasty_streams_as_one_replay_a_size,
		losses_that_reset_as_one_replay_a_size,
		what_fits_is_seen_whole,
		a_bound_on_memory_is_an_error,
		NULL,
	};

	return km_test_main("sizes", tests, 120);
}
