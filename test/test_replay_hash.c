/* SPDX-License-Identifier: GPL-2.0-only */
#include "replay_hash.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "naive_model.h"
#include "testing.h"

static struct km_object object_at(uint64_t ptr)
{
	return (struct km_object){ .ptr = ptr, .time = ptr * 3, .bytes_req = 100, .bytes_alloc = 128, .key = 1 };
}

static int insert(struct km_replay_hash *hash, uint64_t ptr)
{
	struct km_object object = object_at(ptr);

	return km_replay_hash_insert(hash, &object);
}

static void init_fixed(struct km_replay_hash *hash, uint64_t count)
{
	struct km_error error = { 0 };

	ck_assert_msg(!km_replay_hash_init_fixed(hash, count, &error), "%s", error.text);
}

/* --- what a slot holds --- */

static void check_packs(const struct km_object *object)
{
	struct km_slot slot;
	struct km_object back = { 0 };

	km_slot_pack(&slot, object);
	km_slot_unpack(&slot, &back);
	ck_assert_uint_eq(back.ptr, object->ptr);
	ck_assert_uint_eq(back.time, object->time);
	ck_assert_uint_eq(back.bytes_req, object->bytes_req);
	ck_assert_uint_eq(back.bytes_alloc, object->bytes_alloc);
	ck_assert_uint_eq(back.key, object->key);
	ck_assert_int_eq(back.pid, object->pid);
	ck_assert_uint_eq(back.cpu, object->cpu);
}

START_TEST(a_slot_keeps_the_extremes)
{
	const struct km_object most = { .ptr = UINT64_MAX,
					.time = UINT64_MAX,
					.bytes_req = (uint32_t)KM_OBJECT_BYTES_LIMIT - 1,
					.bytes_alloc = (uint32_t)KM_OBJECT_BYTES_LIMIT - 1,
					.key = UINT32_MAX,
					.pid = KM_PID_LIMIT - 1,
					.cpu = KM_CPU_LIMIT - 1 };

	ck_assert_uint_eq(sizeof(struct km_slot), 32);
	check_packs(&most);
	check_packs(&(struct km_object){ .ptr = 1 });
}
END_TEST

/* One field at its limit and the others 0: no bit of it may be found elsewhere. */
START_TEST(no_field_spills_into_another)
{
	for (unsigned bit = 0; bit < 30; bit++) {
		check_packs(&(struct km_object){ .ptr = 8, .bytes_req = 1U << bit });
		check_packs(&(struct km_object){ .ptr = 8, .bytes_alloc = 1U << bit });
	}
	for (unsigned bit = 0; bit < 22; bit++)
		check_packs(&(struct km_object){ .ptr = 8, .pid = 1 << bit });
	for (unsigned bit = 0; bit < 13; bit++)
		check_packs(&(struct km_object){ .ptr = 8, .cpu = (uint16_t)(1U << bit) });
}
END_TEST

/* --- a fixed table --- */

START_TEST(a_fixed_table_holds_exactly_n)
{
	static const uint64_t sizes[] = { 1, 2, 3, 5, 7, 8, 64, 1000, 4097 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct km_replay_hash hash;
		const struct km_slot *slots;
		uint64_t bytes;

		init_fixed(&hash, sizes[i]);
		slots = hash.slots;
		bytes = hash.peak_bytes;
		ck_assert_uint_eq(bytes, km_replay_hash_bytes(sizes[i]));
		ck_assert_uint_ge(hash.slots_count, 2 * sizes[i]);
		for (uint64_t k = 1; k <= sizes[i]; k++) {
			if (insert(&hash, k * 64) != 1)
				ck_abort_msg("object %" PRIu64 " of %" PRIu64, k, sizes[i]);
		}
		for (uint64_t k = 1; k < 20; k++) /* full, and stays so */
			ck_assert_int_eq(insert(&hash, (sizes[i] + k) * 64), 0);
		ck_assert_uint_eq(hash.count, sizes[i]);
		ck_assert_ptr_null(km_replay_hash_find(&hash, (sizes[i] + 1) * 64));
		km_replay_hash_remove(&hash, km_replay_hash_find(&hash, 64));
		ck_assert_int_eq(insert(&hash, 8), 1);
		ck_assert_int_eq(insert(&hash, 16), 0);
		/* It never allocated again. */
		ck_assert_ptr_eq(hash.slots, slots);
		ck_assert_uint_eq(hash.peak_bytes, bytes);
		ck_assert_uint_eq(hash.capacity, sizes[i]);
		km_replay_hash_release(&hash);
	}
}
END_TEST

START_TEST(sizes_out_of_bounds_are_refused)
{
	struct km_replay_hash hash;
	struct km_error error = { 0 };

	ck_assert_int_eq(km_replay_hash_init_fixed(&hash, 0, &error), -EINVAL);
	ck_assert_int_eq(error.code, -EINVAL);
	ck_assert_int_eq(km_replay_hash_init_fixed(&hash, KM_REPLAY_HASH_COUNT_LIMIT + 1, NULL), -EINVAL);
	ck_assert_int_eq(km_replay_hash_init_fixed(&hash, UINT64_MAX, NULL), -EINVAL);
}
END_TEST

START_TEST(clear_empties)
{
	struct km_replay_hash hash;

	init_fixed(&hash, 10);
	for (uint64_t i = 1; i <= 10; i++)
		insert(&hash, i * 64);
	km_replay_hash_clear(&hash);
	ck_assert_uint_eq(hash.count, 0);
	for (uint64_t i = 1; i <= 10; i++)
		ck_assert_ptr_null(km_replay_hash_find(&hash, i * 64));
	for (uint64_t i = 11; i <= 20; i++)
		ck_assert_int_eq(insert(&hash, i * 64), 1);
	ck_assert_int_eq(insert(&hash, 8), 0);
	km_replay_hash_release(&hash);
	km_replay_hash_release(&hash); /* nothing left */
}
END_TEST

/* --- deletion --- */

/* count addresses whose home is one of `homes` slots around `home`, the last slots and the first ones. */
static void find_colliding(const struct km_replay_hash *hash, uint64_t home, uint64_t homes, uint64_t *ptrs,
			   size_t count)
{
	uint64_t mask = hash->slots_count - 1;
	size_t found = 0;

	for (uint64_t ptr = 0xffff888000000000; found < count; ptr += 8) {
		if (((km_replay_hash_index(hash, ptr) - home) & mask) < homes)
			ptrs[found++] = ptr;
	}
}

static void check_same(const struct km_replay_hash *hash, const uint64_t *ptrs, const bool *is_in, size_t count)
{
	uint64_t in = 0, used = 0;

	for (size_t i = 0; i < count; i++) {
		const struct km_slot *slot = km_replay_hash_find(hash, ptrs[i]);

		if ((slot != NULL) != is_in[i])
			ck_abort_msg("%" PRIx64 " is %s", ptrs[i], slot ? "still there" : "lost");
		if (slot && slot->time != ptrs[i] * 3)
			ck_abort_msg("%" PRIx64 " has another's contents", ptrs[i]);
		in += is_in[i];
	}
	for (uint64_t i = 0; i < hash->slots_count; i++)
		used += hash->slots[i].ptr != 0;
	ck_assert_uint_eq(hash->count, in);
	ck_assert_uint_eq(used, in);
}

static void churn(uint64_t capacity, uint64_t homes, size_t addresses, uint64_t seed)
{
	struct km_replay_hash hash;
	uint64_t ptrs[64];
	bool is_in[64] = { false };

	init_fixed(&hash, capacity);
	/* From the last slot but one on, so that runs go over the end. */
	find_colliding(&hash, hash.slots_count - 2, homes, ptrs, addresses);
	for (unsigned step = 0; step < 1500; step++) {
		size_t i = naive_random(&seed) % addresses;

		if (is_in[i]) {
			km_replay_hash_remove(&hash, km_replay_hash_find(&hash, ptrs[i]));
			is_in[i] = false;
		} else {
			is_in[i] = insert(&hash, ptrs[i]);
		}
		check_same(&hash, ptrs, is_in, addresses);
	}
	km_replay_hash_release(&hash);
}

START_TEST(deletion_among_colliding_addresses)
{
	static const uint64_t homes[] = { 1, 2, 3, 5 };

	for (size_t i = 0; i < sizeof(homes) / sizeof(*homes); i++) {
		churn(16, homes[i], 24, i + 1);
		churn(5, homes[i], 8, i + 11);
		churn(32, homes[i], 20, i + 21);
	}
	churn(1, 2, 3, 31);
	churn(2, 4, 5, 32);
}
END_TEST

/* There are no tombstones: however old a table, an address that is alone stands at its home. */
START_TEST(a_table_does_not_age)
{
	struct km_replay_hash hash;
	uint64_t random = 7;

	init_fixed(&hash, 100);
	for (unsigned round = 0; round < 300; round++) {
		uint64_t first = naive_random(&random) << 8;

		for (uint64_t i = 0; i < 100; i++)
			insert(&hash, first + 8 + 64 * i);
		for (uint64_t i = 0; i < 100; i++)
			km_replay_hash_remove(&hash, km_replay_hash_find(&hash, first + 8 + 64 * (i * 37 % 100)));
	}
	for (uint64_t i = 0; i < hash.slots_count; i++)
		ck_assert_uint_eq(hash.slots[i].ptr, 0);
	insert(&hash, 4096);
	ck_assert_ptr_eq(km_replay_hash_find(&hash, 4096), &hash.slots[km_replay_hash_index(&hash, 4096)]);
	km_replay_hash_release(&hash);
}
END_TEST

/* --- an enlargeable one --- */

START_TEST(auto_starts_as_small_as_its_bound)
{
	static const uint64_t bounds[] = { 0, 1, 64, 128, 4096, 1 << 20, 4 << 20, UINT64_C(1) << 40 };

	for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
		struct km_replay_hash hash;
		uint64_t wanted = KM_REPLAY_HASH_AUTO_START;

		while (wanted > 1 && km_replay_hash_bytes(wanted) > bounds[i])
			wanted /= 2;
		ck_assert_int_eq(km_replay_hash_init_auto(&hash, bounds[i], NULL), 0);
		ck_assert_uint_eq(hash.capacity, wanted);
		ck_assert(!hash.fixed);
		km_replay_hash_release(&hash);
	}
}
END_TEST

START_TEST(auto_doubles_until_both_copies_reach_the_bound)
{
	const uint64_t start = KM_REPLAY_HASH_AUTO_START, start_bytes = km_replay_hash_bytes(start);
	const uint64_t max_bytes = 6 * start_bytes; /* just enough for 2 + 4 */
	const uint64_t room = 4 * start;
	struct km_replay_hash hash;

	ck_assert_int_eq(km_replay_hash_init_auto(&hash, max_bytes, NULL), 0);
	ck_assert_uint_eq(hash.peak_bytes, start_bytes);
	for (uint64_t i = 1; i <= room; i++) {
		uint64_t wanted = i <= start ? start : i <= 2 * start ? 2 * start : 4 * start;

		if (insert(&hash, 64 * i) != 1 || hash.capacity != wanted || hash.count != i)
			ck_abort_msg("object %" PRIu64 ": capacity %" PRIu64, i, hash.capacity);
		if (i == start + 1)
			ck_assert_uint_eq(hash.peak_bytes, 3 * start_bytes);
	}
	ck_assert_uint_eq(hash.peak_bytes, 6 * start_bytes);
	ck_assert(!hash.bound_is_reached); /* it fits; only one more would not */
	ck_assert_int_eq(insert(&hash, 8), 0);
	ck_assert(hash.bound_is_reached);
	ck_assert_uint_le(hash.peak_bytes, max_bytes);
	for (uint64_t i = 1; i <= room; i++) {
		const struct km_slot *slot = km_replay_hash_find(&hash, 64 * i);

		if (!slot || slot->time != 192 * i)
			ck_abort_msg("object %" PRIu64 " was lost", i);
	}
	km_replay_hash_remove(&hash, km_replay_hash_find(&hash, 64));
	ck_assert_int_eq(insert(&hash, 8), 1);
	km_replay_hash_release(&hash);
}
END_TEST

START_TEST(a_byte_less_and_it_does_not_double)
{
	const uint64_t start = KM_REPLAY_HASH_AUTO_START;
	struct km_replay_hash hash;

	ck_assert_int_eq(km_replay_hash_init_auto(&hash, 3 * km_replay_hash_bytes(start) - 1, NULL), 0);
	for (uint64_t i = 1; i <= start; i++)
		insert(&hash, 64 * i);
	ck_assert_int_eq(insert(&hash, 8), 0);
	ck_assert(hash.bound_is_reached);
	ck_assert_uint_eq(hash.capacity, start);
	ck_assert_uint_eq(hash.peak_bytes, km_replay_hash_bytes(start));
	km_replay_hash_release(&hash);
}
END_TEST

/* --- halving --- */

START_TEST(levels_halve)
{
	uint64_t at_least[KM_REPLAY_HASH_K_LIMIT + 1] = { 0 };

	for (uint64_t i = 0; i < 1 << 20; i++) {
		unsigned level = km_replay_hash_level(0xffff888000000000 + 64 * i);

		ck_assert_uint_le(level, KM_REPLAY_HASH_K_LIMIT);
		for (unsigned k = 0; k <= level; k++)
			at_least[k]++;
	}
	for (unsigned k = 0; k < 12; k++)
		ck_assert_double_eq_tol((double)at_least[k], (double)((1 << 20) >> k), 5 * sqrt((1 << 20) >> k));
	/* 0 is the one value that the hash maps to itself. */
	ck_assert_uint_eq(km_replay_hash_level(0), KM_REPLAY_HASH_K_LIMIT);
}
END_TEST

static void count_purged(void *context, const struct km_object *object)
{
	uint64_t *purged = context;

	ck_assert_uint_eq(object->time, object->ptr * 3);
	purged[object->ptr / 8]++;
}

#define HALVED 20000

/* Whatever runs of colliding slots there are: each object is purged once or found afterwards. */
START_TEST(halving_purges_what_is_not_kept)
{
	uint64_t *purged = calloc(HALVED + 1, sizeof(*purged));
	struct km_replay_hash hash;

	init_fixed(&hash, HALVED);
	for (uint64_t i = 1; i <= HALVED; i++)
		ck_assert_int_eq(insert(&hash, 8 * i), 1);
	for (unsigned k = 1; k <= 6; k++) {
		uint64_t kept = 0;

		ck_assert(km_replay_hash_halve(&hash, count_purged, purged));
		ck_assert_uint_eq(hash.k, k);
		for (uint64_t i = 1; i <= HALVED; i++) {
			bool keeps = km_replay_hash_level(8 * i) >= k;

			ck_assert_uint_eq(purged[i], !keeps);
			ck_assert_int_eq(km_replay_hash_find(&hash, 8 * i) != NULL, keeps);
			ck_assert_int_eq(km_replay_hash_keeps(&hash, 8 * i), keeps);
			kept += keeps;
		}
		ck_assert_uint_eq(hash.count, kept);
	}
	km_replay_hash_release(&hash);
	free(purged);
}
END_TEST

START_TEST(halving_has_an_end)
{
	struct km_replay_hash hash;
	uint64_t purged[2] = { 0 };

	init_fixed(&hash, 1);
	for (unsigned k = 0; k < KM_REPLAY_HASH_K_LIMIT; k++)
		ck_assert(km_replay_hash_halve(&hash, count_purged, purged));
	ck_assert(!km_replay_hash_halve(&hash, count_purged, purged));
	ck_assert_uint_eq(hash.k, KM_REPLAY_HASH_K_LIMIT);
	km_replay_hash_release(&hash);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_slot_keeps_the_extremes,
		no_field_spills_into_another,
		a_fixed_table_holds_exactly_n,
		sizes_out_of_bounds_are_refused,
		clear_empties,
		deletion_among_colliding_addresses,
		a_table_does_not_age,
		auto_starts_as_small_as_its_bound,
		auto_doubles_until_both_copies_reach_the_bound,
		a_byte_less_and_it_does_not_double,
		levels_halve,
		halving_purges_what_is_not_kept,
		halving_has_an_end,
		NULL,
	};

	return km_test_main("replay_hash", tests, 60);
}
