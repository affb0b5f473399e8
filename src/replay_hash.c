/* SPDX-License-Identifier: GPL-2.0-only */
#include "replay_hash.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

static uint64_t slots_for(uint64_t count)
{
	uint64_t slots = 2;

	while (slots < 2 * count)
		slots *= 2;
	return slots;
}

uint64_t km_replay_hash_bytes(uint64_t count)
{
	return slots_for(count) * sizeof(struct km_slot);
}

/* Zeroed pages straight from the kernel, in large ones where it has them: a look-up is then one TLB entry. */
static struct km_slot *map_slots(uint64_t count)
{
	size_t bytes = count * sizeof(struct km_slot);
	void *slots = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (slots == MAP_FAILED)
		return NULL;
	madvise(slots, bytes, MADV_HUGEPAGE);
	return slots;
}

static int init(struct km_replay_hash *hash, uint64_t count, struct km_error *error)
{
	uint64_t slots_count = slots_for(count);
	struct km_slot *slots = map_slots(slots_count);

	if (!slots)
		return km_error_set(error, -ENOMEM,
				    "no memory for a table of %" PRIu64 " objects (%" PRIu64
				    " MiB); give --objects less",
				    count, km_replay_hash_bytes(count) >> 20);
	*hash = (struct km_replay_hash){ .slots = slots,
					 .slots_count = slots_count,
					 .shift = 64U - (unsigned)__builtin_ctzll(slots_count),
					 .capacity = count,
					 .peak_bytes = slots_count * sizeof(*slots) };
	return 0;
}

int km_replay_hash_init_fixed(struct km_replay_hash *hash, uint64_t count, struct km_error *error)
{
	int r;

	if (!count || count > KM_REPLAY_HASH_COUNT_LIMIT)
		return km_error_set(error, -EINVAL, "a table of %" PRIu64 " objects: 1 to %" PRIu64 " are possible",
				    count, KM_REPLAY_HASH_COUNT_LIMIT);
	r = init(hash, count, error);
	if (!r)
		hash->fixed = true;
	return r;
}

int km_replay_hash_init_auto(struct km_replay_hash *hash, uint64_t max_bytes, struct km_error *error)
{
	uint64_t count = KM_REPLAY_HASH_AUTO_START;
	int r;

	while (count > 1 && km_replay_hash_bytes(count) > max_bytes)
		count /= 2;
	r = init(hash, count, error);
	if (!r)
		hash->max_bytes = max_bytes;
	return r;
}

void km_replay_hash_release(struct km_replay_hash *hash)
{
	if (hash->slots)
		munmap(hash->slots, hash->slots_count * sizeof(*hash->slots));
	memset(hash, 0, sizeof(*hash));
}

static struct km_slot *free_slot(const struct km_replay_hash *hash, uint64_t ptr)
{
	uint64_t mask = hash->slots_count - 1;
	uint64_t i = km_replay_hash_index(hash, ptr);

	while (hash->slots[i].ptr)
		i = (i + 1) & mask;
	return &hash->slots[i];
}

/* Twice the room, if the bound and the system allow it. */
static bool enlarge(struct km_replay_hash *hash)
{
	struct km_replay_hash larger = *hash;
	uint64_t old_bytes = hash->slots_count * sizeof(*hash->slots);

	if (hash->fixed || hash->bound_is_reached)
		return false;
	if (hash->capacity >= KM_REPLAY_HASH_COUNT_LIMIT || 3 * old_bytes > hash->max_bytes)
		goto refuse;
	larger.slots_count *= 2;
	larger.shift--;
	larger.capacity *= 2;
	larger.slots = map_slots(larger.slots_count);
	if (!larger.slots)
		goto refuse;
	larger.peak_bytes = 3 * old_bytes;
	for (uint64_t i = 0; i < hash->slots_count; i++) {
		if (hash->slots[i].ptr)
			*free_slot(&larger, hash->slots[i].ptr) = hash->slots[i];
	}
	munmap(hash->slots, old_bytes);
	*hash = larger;
	return true;
refuse:
	hash->bound_is_reached = true;
	return false;
}

int km_replay_hash_insert(struct km_replay_hash *hash, const struct km_object *object)
{
	if (__builtin_expect(hash->count >= hash->capacity, 0) && !enlarge(hash))
		return 0;
	km_slot_pack(free_slot(hash, object->ptr), object);
	hash->count++;
	return 1;
}

void km_replay_hash_remove(struct km_replay_hash *hash, struct km_slot *slot)
{
	uint64_t mask = hash->slots_count - 1;
	uint64_t hole = (uint64_t)(slot - hash->slots);

	/* Move back every later slot of the run that may not stand behind the hole (Knuth TAOCP 6.4, algorithm R). */
	for (uint64_t i = (hole + 1) & mask; hash->slots[i].ptr; i = (i + 1) & mask) {
		uint64_t home = km_replay_hash_index(hash, hash->slots[i].ptr);

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			hash->slots[hole] = hash->slots[i];
			hole = i;
		}
	}
	hash->slots[hole].ptr = 0;
	hash->count--;
}

bool km_replay_hash_halve(struct km_replay_hash *hash, void (*purge)(void *context, const struct km_object *object),
			  void *context)
{
	if (hash->k >= KM_REPLAY_HASH_K_LIMIT)
		return false;
	hash->k++;
	/* Taking one out moves later ones of its run back: the same slot is looked at again. */
	for (uint64_t i = 0; i < hash->slots_count;) {
		struct km_object object;

		if (!hash->slots[i].ptr || km_replay_hash_keeps(hash, hash->slots[i].ptr)) {
			i++;
			continue;
		}
		km_slot_unpack(&hash->slots[i], &object);
		km_replay_hash_remove(hash, &hash->slots[i]);
		purge(context, &object);
	}
	return true;
}

void km_replay_hash_clear(struct km_replay_hash *hash)
{
	memset(hash->slots, 0, hash->slots_count * sizeof(*hash->slots));
	hash->count = 0;
}
