/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fuzz target's corpus as an ordinary test: every file as it is, and
 * with the same mutations every time. KM_TEST_FULL=1 makes many more of them.
 *
 * KM_TEST_WRITE_CORPUS=1 writes the seeds anew instead: built traces of every
 * version, compression, byte order and word size. seed-* must be read to
 * their ends; any other file in the corpus is one that once went wrong.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "fuzz_reader_entry.h"
#include "testing.h"
#include "trace_writer.h"

#define CORPUS KM_TEST_DIR "/../fuzz/corpus/fuzz_reader"

static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static size_t random_below(uint64_t *state, size_t limit)
{
	return random_next(state) % limit;
}

/* ---- the seeds ---- */

/* A bit of everything that a trace can hold, in few bytes. */
static void *build_seed(unsigned i, size_t *ret_bytes)
{
	static const enum tw_compression compressions[] = { TW_COMPRESSION_NONE, TW_COMPRESSION_NONE,
							    TW_COMPRESSION_ZLIB, TW_COMPRESSION_ZSTD };
	struct tw_options options = {
		.version = i % 4 ? 7 : 6,
		.compression = compressions[i % 4],
		.big_endian = i / 4 % 2,
		.long_bytes = i / 8 ? 4 : 8,
		.kernel = TW_KERNEL_4_19 + i % 6,
		.page_bytes = i % 3 ? 1024 : 4096,
		.align8 = i % 5 == 2,
		.pad_tail = i % 2,
		.chunk_pages = 2,
		.cpus = 2,
		.clock = i % 7 == 1 ? "x86-tsc" : "global",
	};
	struct tw_stream stream = { .seed = i,
				    .events_count = 120,
				    .cpus = 2,
				    .kernel = options.kernel,
				    .long_bytes = options.long_bytes,
				    .live_target = 40,
				    .ties = true };
	const uint64_t late = UINT64_C(1000000000000);
	uint64_t ips[4] = { 1, 2, 3, 4 };
	struct tw *tw = tw_new(&options);
	unsigned instance;
	void *data;

	tw_stream_random(tw, &stream, NULL);
	tw_lost(tw, TW_TOP, 0, 5);
	tw_print(tw, TW_TOP, 0, late, 42, "begin\n");
	tw_absolute(tw, TW_TOP, 0);
	tw_stack(tw, TW_TOP, 0, late + 1, 42, 4, ips);
	tw_discard(tw, TW_TOP, 0, late + 5);
	tw_other(tw, TW_TOP, 0, late + 9, 42);
	tw_lost(tw, TW_TOP, 1, -1);
	tw_kfree(tw, TW_TOP, 1, late, 42, 1, 16);
	instance = tw_add_buffer(tw, "beta", 0, "local", 0);
	tw_kfree(tw, instance, 1, 5, 42, 1, 16);
	tw_cpustat(tw, TW_TOP, 0, 1, 2, 3);
	tw_option_tsc2nsec(tw, 3, 1, 0);
	tw_option(tw, 999, "x", 1);
	data = tw_finish(tw, ret_bytes);
	tw_free(tw);
	return data;
}

static void write_seeds(void)
{
	for (unsigned i = 0; i < 16; i++) {
		static const char *const forms[] = { "v6", "v7-none", "v7-zlib", "v7-zstd" };
		size_t bytes;
		void *data = build_seed(i, &bytes);
		char path[4096];
		FILE *out;

		snprintf(path, sizeof(path), "%s/seed-%s-%s-%d.dat", CORPUS, forms[i % 4], i / 4 % 2 ? "be" : "le",
			 i / 8 ? 32 : 64);
		out = fopen(path, "wbe");
		ck_assert_msg(out && fwrite(data, 1, bytes, out) == bytes && !fclose(out), "%s", path);
		free(data);
	}
}

/* ---- mutations ---- */

/* One change; *bytes only gets smaller. */
static void mutate(uint64_t *state, uint8_t *data, size_t *bytes)
{
	static const uint64_t numbers[] = { 0,           1,          4,          8,
					    0x7f,        0x80,       0xff,       0x7fff,
					    0xffff,      0x7fffffff, 0x80000000, 0xffffffff,
					    0x100000000, UINT64_MAX, INT64_MAX,  0xffffffff80000000 };
	size_t at, length, from;
	uint64_t number;

	if (*bytes < 16)
		return;
	/* More often near the start, where the tables are. */
	at = random_below(state, random_below(state, 2) ? *bytes - 8 : (*bytes < 600 ? *bytes - 8 : 592));
	switch (random_below(state, 8)) {
	case 0:
		data[at] ^= (uint8_t)(1U << random_below(state, 8));
		break;
	case 1:
		data[at] = (uint8_t)random_next(state);
		break;
	case 2:
		number = numbers[random_below(state, sizeof(numbers) / sizeof(numbers[0]))];
		memcpy(data + at, &number, (size_t)1 << random_below(state, 4));
		break;
	case 3: /* the same in the other byte order */
		number = __builtin_bswap64(numbers[random_below(state, sizeof(numbers) / sizeof(numbers[0]))]);
		memcpy(data + at, &number, 8);
		break;
	case 4: /* a number close to the one that is there */
		data[at] = (uint8_t)(data[at] + 1 + random_below(state, 3) * 2 - 2);
		break;
	case 5: /* one part over another */
		length = 1 + random_below(state, *bytes - at < 256 ? *bytes - at : 256);
		from = random_below(state, *bytes - length + 1);
		memmove(data + at, data + from, length);
		break;
	case 6:
		length = random_below(state, 64);
		memset(data + at, (int)random_below(state, 3) - 1, length < *bytes - at ? length : *bytes - at);
		break;
	default:
		if (!random_below(state, 4))
			*bytes = at;
		break;
	}
}

/* A copy of exactly its size, so that a read behind the end is seen. */
static void run_copy(const uint8_t *data, size_t bytes)
{
	uint8_t *copy = malloc(bytes ? bytes : 1);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, data, bytes);
	km_fuzz_reader(copy, bytes);
	free(copy);
}

static void run_mutations(const char *name, const uint8_t *data, size_t bytes)
{
	unsigned rounds = getenv("KM_TEST_FULL") ? 5000 : 60;
	uint8_t *mutated = malloc(bytes + 1);
	uint64_t state = bytes;

	ck_assert_ptr_nonnull(mutated);
	for (; *name; name++)
		state = state * 31 + (uint8_t)*name;
	for (unsigned i = 0; i < rounds; i++) {
		size_t left = bytes;

		memcpy(mutated, data, bytes);
		for (size_t n = 1 + random_below(&state, 4); n; n--)
			mutate(&state, mutated, &left);
		run_copy(mutated, left);
	}
	free(mutated);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of the corpus, sorted. */
static size_t list_corpus(char **names, size_t limit)
{
	DIR *dir = opendir(CORPUS);
	struct dirent *entry;
	size_t count = 0;

	ck_assert_msg(dir != NULL, "%s", CORPUS);
	while ((entry = readdir(dir)) && count < limit) {
		if (entry->d_name[0] != '.')
			names[count++] = strdup(entry->d_name);
	}
	closedir(dir);
	qsort(names, count, sizeof(*names), compare_names);
	return count;
}

START_TEST(corpus)
{
	char *names[1024];
	size_t count, seeds = 0;

	if (getenv("KM_TEST_WRITE_CORPUS"))
		write_seeds();
	count = list_corpus(names, sizeof(names) / sizeof(names[0]));
	for (size_t i = 0; i < count; i++) {
		enum km_fuzz_depth depth;
		char path[4096];
		uint8_t *data;
		size_t bytes;

		snprintf(path, sizeof(path), "%s/%s", CORPUS, names[i]);
		data = km_fixture_read(path, &bytes);
		ck_assert_msg(data != NULL, "%s", path);
		depth = km_fuzz_reader(data, bytes);
		if (!strncmp(names[i], "seed-", 5)) {
			ck_assert_msg(depth == KM_FUZZ_READ, "%s was not read to its end", names[i]);
			seeds++;
		}
		run_copy(data, bytes);
		run_mutations(names[i], data, bytes);
		free(data);
		free(names[i]);
	}
	ck_assert_uint_ge(seeds, 16);
}
END_TEST

START_TEST(nothing)
{
	ck_assert_int_eq(km_fuzz_reader((const uint8_t *)"", 0), KM_FUZZ_REFUSED);
	ck_assert_int_eq(km_fuzz_reader((const uint8_t *)"\x17\x08\x44tracing7", 12), KM_FUZZ_REFUSED);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { nothing, corpus, NULL };

	return km_test_main("fuzz_corpus", tests, getenv("KM_TEST_FULL") ? 3600 : 120);
}
