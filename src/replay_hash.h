/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * replay_hash: the bounded table from an object's address to what is known
 * of it, as proposed for the kernel in 2008: room for exactly N objects,
 * allocated once, never allocating again. It knows addresses and objects,
 * nothing of events; one table is one address space (domain).
 *
 * A fixed table neither grows nor rehashes. An enlargeable one doubles when
 * a new object would not fit, until a bound on its memory; from then on it
 * is full like a fixed one.
 *
 * What a full one does is its user's: leave out what does not fit, or halve
 * it, which makes it a sample:
 *
 *   An object is kept if the top k bits of a hash of its address are 0. k is
 *   0 at first, so all are; each halving adds one to k and takes out what is
 *   not kept any more. At any moment the table holds exactly those live
 *   objects whose addresses are kept at the k of that moment, whatever came
 *   before: whether an object is kept depends on nothing but its address.
 *
 * An address is kept with probability p = 2^-k, so an object that is in the
 * table stands for 1/p = 2^k objects: sums of 2^k times what is kept are
 * unbiased (Horvitz and Thompson, "A Generalization of Sampling Without
 * Replacement from a Finite Universe", JASA 47, 1952). Taking k from how
 * full the table is is adaptive sampling (Wegman; analysed by Flajolet, "On
 * Adaptive Sampling", Computing 43, 1990), which keeps them so.
 *
 * Open addressing with linear probing in a power of two of at least 2 N
 * slots of 32 bytes, half a cache line, so a look-up mostly touches one
 * line. Deletion shifts back what follows: there are no tombstones, and a
 * table's behaviour never degrades with its age.
 */
#ifndef KM_REPLAY_HASH_H
#define KM_REPLAY_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

#define KM_REPLAY_HASH_COUNT_LIMIT (UINT64_C(1) << 31) /* objects */
#define KM_REPLAY_HASH_AUTO_START  65536U
/* Most halvings: sums of sizes (2^30 at most) times 2^k stay below 2^64. */
#define KM_REPLAY_HASH_K_LIMIT 30U

/* An object, unpacked. */
struct km_object {
	uint64_t ptr;
	uint64_t time; /* of its allocation */
	uint32_t bytes_req;
	uint32_t bytes_alloc;
	uint32_t key; /* the caller's number for who allocated it */
	int32_t pid;
	uint16_t cpu;
};

/* As it is kept: 30 + 30 + 4 bits of sizes and CPU, 22 + 10 of pid and CPU. */
struct km_slot {
	uint64_t ptr; /* 0: the slot is free */
	uint64_t time;
	uint64_t sizes;
	uint32_t key;
	uint32_t pid_cpu;
};

struct km_replay_hash {
	struct km_slot *slots; /* owned; read by the inline functions below, changed only by replay_hash.c */
	uint64_t slots_count;  /* a power of two */
	unsigned shift;        /* 64 - log2(slots_count) */
	uint64_t count;        /* objects in it */
	uint64_t capacity;     /* N */
	bool fixed;
	unsigned k;         /* halvings: objects are kept whose hash has so many zero bits at its top */
	uint64_t max_bytes; /* of an enlargeable one, both copies while doubling */
	uint64_t peak_bytes;
	bool bound_is_reached; /* an enlargement was refused */
};

/*
 * A table for exactly `count` objects. Errors: -EINVAL (0, or over the
 * limit), -ENOMEM.
 */
int km_replay_hash_init_fixed(struct km_replay_hash *hash, uint64_t count, struct km_error *error);
/* One that starts at KM_REPLAY_HASH_AUTO_START objects, fewer if max_bytes says so (at least 1). */
int km_replay_hash_init_auto(struct km_replay_hash *hash, uint64_t max_bytes, struct km_error *error);
void km_replay_hash_release(struct km_replay_hash *hash);

/* Bytes that a table for `count` objects takes. */
uint64_t km_replay_hash_bytes(uint64_t count);

static inline uint64_t km_replay_hash_index(const struct km_replay_hash *hash, uint64_t ptr)
{
	/* Fibonacci hashing, Knuth TAOCP 6.4: the top bits of the product depend on all bits of the pointer. */
	return ((ptr ^ (ptr >> 32)) * UINT64_C(0x9e3779b97f4a7c15)) >> hash->shift;
}

static inline void km_replay_hash_prefetch(const struct km_replay_hash *hash, uint64_t ptr)
{
	__builtin_prefetch(&hash->slots[km_replay_hash_index(hash, ptr)], 1);
}

/* The object's slot, or NULL. ptr is not 0. The slot is valid until the next insert or remove. */
static inline struct km_slot *km_replay_hash_find(const struct km_replay_hash *hash, uint64_t ptr)
{
	uint64_t mask = hash->slots_count - 1;

	for (uint64_t i = km_replay_hash_index(hash, ptr);; i = (i + 1) & mask) {
		struct km_slot *slot = &hash->slots[i];

		if (slot->ptr == ptr)
			return slot;
		if (!slot->ptr)
			return NULL;
	}
}

/*
 * Add an object whose address is not in the table. 1: added. 0: the table is
 * full (and, if enlargeable, at its bound).
 */
int km_replay_hash_insert(struct km_replay_hash *hash, const struct km_object *object);
/* Take out the object of a slot that km_replay_hash_find() gave. */
void km_replay_hash_remove(struct km_replay_hash *hash, struct km_slot *slot);

/* Take out all; k stays. */
void km_replay_hash_clear(struct km_replay_hash *hash);

/*
 * The hash that decides what a sample keeps: the finalizer of MurmurHash3
 * (Austin Appleby, public domain), a bijection in which every bit depends on
 * every bit. It has nothing to do with the one that chooses the slot.
 */
static inline uint64_t km_replay_hash_mix(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

/* Up to which k an address is kept: 0 to KM_REPLAY_HASH_K_LIMIT. */
static inline unsigned km_replay_hash_level(uint64_t ptr)
{
	/* The bit makes an end where all above it are 0. */
	return (unsigned)__builtin_clzll(km_replay_hash_mix(ptr) | UINT64_C(1) << (63 - KM_REPLAY_HASH_K_LIMIT));
}

static inline bool km_replay_hash_keeps(const struct km_replay_hash *hash, uint64_t ptr)
{
	return km_replay_hash_level(ptr) >= hash->k;
}

/*
 * One more halving: calls purge() for each object that is kept no more, and
 * takes it out. False: k is at its limit, nothing was done.
 */
bool km_replay_hash_halve(struct km_replay_hash *hash, void (*purge)(void *context, const struct km_object *object),
			  void *context);

static inline void km_slot_pack(struct km_slot *slot, const struct km_object *object)
{
	slot->ptr = object->ptr;
	slot->time = object->time;
	slot->sizes = (uint64_t)object->bytes_alloc << 34 | (uint64_t)(object->bytes_req & 0x3fffffff) << 4 |
		      ((uint64_t)object->cpu >> 10 & 15);
	slot->key = object->key;
	slot->pid_cpu = ((uint32_t)object->pid & 0x3fffff) << 10 | ((uint32_t)object->cpu & 1023);
}

static inline void km_slot_unpack(const struct km_slot *slot, struct km_object *ret_object)
{
	ret_object->ptr = slot->ptr;
	ret_object->time = slot->time;
	ret_object->bytes_alloc = (uint32_t)(slot->sizes >> 34);
	ret_object->bytes_req = (uint32_t)(slot->sizes >> 4) & 0x3fffffff;
	ret_object->key = slot->key;
	ret_object->pid = (int32_t)(slot->pid_cpu >> 10);
	ret_object->cpu = (uint16_t)((slot->sizes & 15) << 10 | (slot->pid_cpu & 1023));
}

#endif
