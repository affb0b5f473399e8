/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An open-addressing table of (hash, number) pairs with linear probing, at
 * most half full. A slot keeps 32 bits of the hash, so that a look-up touches
 * a string's bytes only when it has very likely found it, and so that
 * enlarging the table never reads a string.
 *
 * The strings lie one after another in chunks that never move: a pointer from
 * km_intern_get() stays good until the table is freed.
 */
#include "intern.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS   256U
#define FIRST_STRINGS 64U
#define CHUNK_BYTES   (16U << 10)

struct slot {
	uint32_t hash;
	uint32_t number; /* 0: empty */
};

struct string {
	const char *text;
	uint32_t bytes;
};

struct chunk {
	struct chunk *next;
	size_t used;
	char text[CHUNK_BYTES];
};

struct km_intern {
	pthread_mutex_t mutex; /* of all that follows; the texts in the chunks never change */
	struct slot *slots;
	uint32_t slot_mask;
	uint32_t count;
	uint32_t room; /* strings[] has this many */
	struct string *strings;
	struct chunk *chunks; /* the one being filled comes first */
};

static inline uint64_t load64(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t load32(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ (h >> 32);
}

/*
 * Whole words, then a last word that overlaps the one before it, so there is
 * no loop over the odd bytes. The length goes in first: without it, strings
 * of repeated bytes would collide.
 */
static inline uint32_t hash_of(const char *text, size_t bytes)
{
	uint64_t h = mix(UINT64_C(0xd6e8feb86659fd93), bytes);
	const char *end = text + bytes;

	if (bytes >= 8) {
		for (; end - text > 8; text += 8)
			h = mix(h, load64(text));
		h = mix(h, load64(end - 8));
	} else if (bytes >= 4) {
		h = mix(h, (uint64_t)load32(text) << 32 | load32(end - 4));
	} else if (bytes) {
		h = mix(h, (uint64_t)(unsigned char)text[0] << 16 | (uint64_t)(unsigned char)text[bytes / 2] << 8 |
				   (unsigned char)end[-1]);
	}
	return (uint32_t)mix(h, h >> 29);
}

/* The slot of the string, or the empty one where it would go. */
static inline uint32_t find_slot(const struct km_intern *intern, uint32_t hash, const char *text, size_t bytes)
{
	uint32_t i = hash & intern->slot_mask;

	for (;; i = (i + 1) & intern->slot_mask) {
		const struct slot *slot = &intern->slots[i];
		const struct string *string;

		if (!slot->number)
			return i;
		if (slot->hash != hash)
			continue;
		string = &intern->strings[slot->number - 1];
		if (string->bytes == bytes && !memcmp(string->text, text, bytes))
			return i;
	}
}

struct km_intern *km_intern_new(void)
{
	struct km_intern *intern = calloc(1, sizeof(*intern));

	if (!intern)
		return NULL;
	pthread_mutex_init(&intern->mutex, NULL);
	intern->slots = calloc(FIRST_SLOTS, sizeof(*intern->slots));
	intern->strings = malloc(FIRST_STRINGS * sizeof(*intern->strings));
	if (!intern->slots || !intern->strings)
		goto failed;
	intern->slot_mask = FIRST_SLOTS - 1;
	intern->room = FIRST_STRINGS;
	return intern;

failed:
	km_intern_free(intern);
	return NULL;
}

void km_intern_free(struct km_intern *intern)
{
	struct chunk *chunk;

	if (!intern)
		return;
	while ((chunk = intern->chunks)) {
		intern->chunks = chunk->next;
		free(chunk);
	}
	free(intern->strings);
	free(intern->slots);
	pthread_mutex_destroy(&intern->mutex);
	free(intern);
}

static int enlarge_slots(struct km_intern *intern)
{
	uint32_t count = (intern->slot_mask + 1) * 2;
	struct slot *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return 0;
	for (uint32_t old = 0; old <= intern->slot_mask; old++) {
		uint32_t i = intern->slots[old].hash & (count - 1);

		if (!intern->slots[old].number)
			continue;
		while (slots[i].number)
			i = (i + 1) & (count - 1);
		slots[i] = intern->slots[old];
	}
	free(intern->slots);
	intern->slots = slots;
	intern->slot_mask = count - 1;
	return 1;
}

static int enlarge_strings(struct km_intern *intern)
{
	uint32_t room = intern->room * 2;
	struct string *strings = realloc(intern->strings, room * sizeof(*strings));

	if (!strings)
		return 0;
	intern->strings = strings;
	intern->room = room;
	return 1;
}

static char *keep_text(struct km_intern *intern, const char *text, size_t bytes)
{
	struct chunk *chunk = intern->chunks;
	char *kept;

	if (!chunk || CHUNK_BYTES - chunk->used < bytes + 1) {
		chunk = malloc(sizeof(*chunk));
		if (!chunk)
			return NULL;
		chunk->next = intern->chunks;
		chunk->used = 0;
		intern->chunks = chunk;
	}
	kept = chunk->text + chunk->used;
	memcpy(kept, text, bytes);
	kept[bytes] = '\0';
	chunk->used += bytes + 1;
	return kept;
}

/* Out of line: a string is new once and looked up a million times. */
static __attribute__((noinline, cold)) uint32_t add_new(struct km_intern *intern, uint32_t hash, const char *text,
							size_t bytes)
{
	uint32_t i;
	char *kept;

	if (intern->count == KM_INTERN_LIMIT)
		return 0;
	if (intern->count == intern->room && !enlarge_strings(intern))
		return 0;
	if (intern->count > intern->slot_mask / 2 && !enlarge_slots(intern))
		return 0;
	kept = keep_text(intern, text, bytes);
	if (!kept)
		return 0;
	i = find_slot(intern, hash, text, bytes);
	intern->strings[intern->count].text = kept;
	intern->strings[intern->count].bytes = (uint32_t)bytes;
	intern->slots[i].hash = hash;
	intern->slots[i].number = ++intern->count;
	return intern->count;
}

/* The mutex is not what a caller sees as the table's contents. */
static void lock(const struct km_intern *intern)
{
	pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)&intern->mutex);
}

static void unlock(const struct km_intern *intern)
{
	pthread_mutex_unlock((pthread_mutex_t *)(uintptr_t)&intern->mutex);
}

uint32_t km_intern_add(struct km_intern *intern, const char *text, size_t bytes)
{
	uint32_t hash, number;

	if (bytes > KM_INTERN_STRING_BYTES)
		bytes = KM_INTERN_STRING_BYTES;
	hash = hash_of(text, bytes);
	lock(intern);
	number = intern->slots[find_slot(intern, hash, text, bytes)].number;
	if (!number)
		number = add_new(intern, hash, text, bytes);
	unlock(intern);
	return number;
}

uint32_t km_intern_find(const struct km_intern *intern, const char *text, size_t bytes)
{
	uint32_t hash, number;

	if (bytes > KM_INTERN_STRING_BYTES)
		bytes = KM_INTERN_STRING_BYTES;
	hash = hash_of(text, bytes);
	lock(intern);
	number = intern->slots[find_slot(intern, hash, text, bytes)].number;
	unlock(intern);
	return number;
}

const char *km_intern_get(const struct km_intern *intern, uint32_t number)
{
	const char *text = "";

	lock(intern);
	if (number && number <= intern->count)
		text = intern->strings[number - 1].text;
	unlock(intern);
	return text;
}

uint32_t km_intern_count(const struct km_intern *intern)
{
	uint32_t count;

	lock(intern);
	count = intern->count;
	unlock(intern);
	return count;
}
