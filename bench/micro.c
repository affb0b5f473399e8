/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmstat_micro [FILE]: the two inner loops by themselves, in ns an operation, the median of five runs with the least
 * and the greatest: the page decoder over the pages of a trace.dat (records walked, nothing made of them), and the
 * table of objects.
 *
 *   hit     look up an object that is there
 *   miss    look up one that is not
 *   full    try to add one to a table that is full
 *   churn   take one out and add another, the table staying three quarters full
 *
 * Each at 2^12 objects (in the caches) and at 2^20 (not in them), with prefetching a batch ahead as the replay does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "replay_hash.h"
#include "ring_page.h"
#include "tracedat.h"

#define ROUNDS      5
#define OPERATIONS  (UINT64_C(1) << 22)
#define AHEAD       16
#define PAGES_BYTES ((size_t)64 << 20)

static _Noreturn void die(const char *file, const char *what)
{
	fprintf(stderr, "kmstat_micro: %s: %s\n", file, what);
	exit(2);
}

/* Of this thread: what else the machine does is not counted. */
static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(const char *name, uint64_t objects, double *ns, uint64_t operations)
{
	qsort(ns, ROUNDS, sizeof(*ns), compare);
	printf("%-8s %10" PRIu64 " %8.2f %8.2f %8.2f\n", name, objects, ns[ROUNDS / 2] / (double)operations,
	       ns[0] / (double)operations, ns[ROUNDS - 1] / (double)operations);
}

/* --- the table --- */

/* xorshift64*: addresses of slab objects have no order to speak of. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* The i-th address: distinct ones, 64 bytes apart. */
static uint64_t address(uint64_t i)
{
	return UINT64_C(0xffff888000000000) + i * 64;
}

struct table {
	struct km_replay_hash hash;
	uint64_t count;    /* of addresses that are in it: 0 to this */
	uint64_t *indexes; /* of the operations */
};

static uint64_t look_up(struct table *t)
{
	uint64_t found = 0;

	for (uint64_t i = 0; i < OPERATIONS; i++) {
		if (i + AHEAD < OPERATIONS)
			km_replay_hash_prefetch(&t->hash, address(t->indexes[i + AHEAD]));
		found += km_replay_hash_find(&t->hash, address(t->indexes[i])) != NULL;
	}
	return found;
}

static uint64_t add(struct table *t)
{
	uint64_t added = 0;

	for (uint64_t i = 0; i < OPERATIONS; i++) {
		const struct km_object object = { .ptr = address(t->indexes[i]) };

		added += (uint64_t)km_replay_hash_insert(&t->hash, &object);
	}
	return added;
}

static uint64_t churn(struct table *t)
{
	uint64_t removed = 0, oldest = 0, newest = t->count;

	for (uint64_t i = 0; i < OPERATIONS; i++) {
		const struct km_object object = { .ptr = address(newest++) };
		struct km_slot *slot;

		km_replay_hash_prefetch(&t->hash, address(oldest + AHEAD));
		km_replay_hash_prefetch(&t->hash, address(newest + AHEAD));
		slot = km_replay_hash_find(&t->hash, address(oldest++));
		if (!slot)
			break;
		km_replay_hash_remove(&t->hash, slot);
		removed += (uint64_t)km_replay_hash_insert(&t->hash, &object);
	}
	return removed;
}

static void measure(const char *name, uint64_t capacity, uint64_t count, uint64_t first_index,
		    uint64_t (*run)(struct table *table), uint64_t wanted)
{
	struct table t = { .count = count };
	struct km_error error = { 0 };
	uint64_t state = 88172645463325252;
	double ns[ROUNDS];

	t.indexes = malloc(OPERATIONS * sizeof(*t.indexes));
	if (!t.indexes)
		die("memory", "out of it");
	for (uint64_t i = 0; i < OPERATIONS; i++)
		t.indexes[i] = first_index + next_random(&state) % count;
	for (int round = 0; round < ROUNDS; round++) {
		double start;

		if (km_replay_hash_init_fixed(&t.hash, capacity, &error))
			die("table", error.text);
		for (uint64_t i = 0; i < count; i++) {
			const struct km_object object = { .ptr = address(i) };

			km_replay_hash_insert(&t.hash, &object);
		}
		start = now_ns();
		if (run(&t) != wanted)
			die(name, "the table did not do what it should");
		ns[round] = now_ns() - start;
		km_replay_hash_release(&t.hash);
	}
	print(name, count, ns, OPERATIONS);
	free(t.indexes);
}

/* --- pages --- */

struct pages {
	uint8_t *data;
	size_t count;
	uint32_t page_bytes;
};

/* At most PAGES_BYTES of one CPU's pages: decompressing them is not what is measured. */
static void load_pages(struct km_tracedat *file, const struct km_tracedat_buffer *buffer,
		       const struct km_tracedat_cpu *cpu, struct pages *pages)
{
	struct km_tracedat_pages *from = km_tracedat_pages_new(file, buffer, cpu, 1 << 20);
	size_t limit = PAGES_BYTES / buffer->page_bytes;
	struct km_error error = { 0 };
	const uint8_t *data;

	pages->data = malloc(PAGES_BYTES);
	pages->page_bytes = buffer->page_bytes;
	if (!from || !pages->data)
		die("memory", "out of it");
	while (pages->count < limit && km_tracedat_pages_next(from, &data, &error) == KM_PAGES_PAGE)
		memcpy(pages->data + pages->count++ * pages->page_bytes, data, pages->page_bytes);
	km_tracedat_pages_free(from);
}

static uint64_t walk(const struct km_tracedat *file, const struct pages *pages, uint64_t *sum)
{
	const struct km_page_header *header = &file->page_header;
	const uint8_t *payload;
	uint64_t records = 0;
	uint32_t bytes;

	for (size_t i = 0; i < pages->count; i++) {
		struct km_ring_page page;

		if (!km_ring_page_begin(&page, pages->data + i * pages->page_bytes, pages->page_bytes,
					header->commit_offset, header->commit_bytes, header->data_offset,
					file->big_endian))
			continue;
		while (km_ring_page_next(&page, file->big_endian, &payload, &bytes)) {
			*sum += page.time + bytes + payload[0];
			records++;
		}
	}
	return records;
}

static void measure_pages(const char *name)
{
	struct km_source *source;
	struct km_tracedat *file;
	struct km_error error = { 0 };
	uint64_t records = 0, sum = 0;
	double ns[ROUNDS] = { 0 };

	if (km_source_open_file(name, &source, &error) || km_tracedat_open(source, &file, &error))
		die(name, error.text);
	for (size_t i = 0; i < file->buffers_count; i++) {
		const struct km_tracedat_buffer *buffer = &file->buffers[i];

		for (size_t cpu = 0; cpu < buffer->cpus_count; cpu++) {
			struct pages pages = { 0 };

			load_pages(file, buffer, &buffer->cpus[cpu], &pages);
			for (int round = 0; round < ROUNDS; round++) {
				double start = now_ns();
				uint64_t n = walk(file, &pages, &sum);

				ns[round] += now_ns() - start;
				records += round ? 0 : n;
			}
			free(pages.data);
		}
	}
	if (!records || !sum)
		die(name, "no records in it");
	print("decode", records, ns, records);
	km_tracedat_close(file);
	km_source_close(source);
}

int main(int argc, char **argv)
{
	static const unsigned bits[] = { 12, 20 };

	printf("%-8s %10s %8s %8s %8s  ns an operation\n", "loop", "objects", "median", "min", "max");
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		uint64_t n = UINT64_C(1) << bits[i];

		measure("hit", n, n, 0, look_up, OPERATIONS);
		measure("miss", n, n, n, look_up, 0);
		measure("full", n, n, n, add, 0);
		measure("churn", n, n / 4 * 3, 0, churn, OPERATIONS);
	}
	if (argc > 1)
		measure_pages(argv[1]);
	return 0;
}
