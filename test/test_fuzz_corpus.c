/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The corpora of the fuzz targets as an ordinary test: every file as it is,
 * and with the same mutations every time. KM_TEST_FULL=1 makes many more of
 * them.
 *
 * KM_TEST_WRITE_CORPUS=1 writes the seeds of the binary formats anew instead:
 * built recordings of every form, and a real perf.data cut to its first
 * records, compressed and not. seed-* must be read to their ends; any other
 * file in a corpus is one that once went wrong.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "cursor.h"
#include "fixture.h"
#include "fuzz_entry.h"
#include "perf_writer.h"
#include "perfdata_records.h"
#include "testing.h"
#include "trace_writer.h"

#define CORPUS KM_TEST_DIR "/../fuzz/corpus"

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

static void write_seed(const char *target, const char *name, const void *data, size_t bytes)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s/%s", CORPUS, target, name);
	out = fopen(path, "wbe");
	ck_assert_msg(out && fwrite(data, 1, bytes, out) == bytes && !fclose(out), "%s", path);
}

static void write_tracedat_seeds(void)
{
	for (unsigned i = 0; i < 16; i++) {
		static const char *const forms[] = { "v6", "v7-none", "v7-zlib", "v7-zstd" };
		size_t bytes;
		void *data = build_seed(i, &bytes);
		char name[64];

		snprintf(name, sizeof(name), "seed-%s-%s-%d.dat", forms[i % 4], i / 4 % 2 ? "be" : "le",
			 i / 8 ? 32 : 64);
		write_seed("fuzz_tracedat", name, data, bytes);
		free(data);
	}
}

/* The same for perf.data: every kind of record. */
static void *build_perf_seed(unsigned i, size_t *ret_bytes)
{
	enum { EVENTS = 40, ROUND = 10 };
	const uint64_t usual = KM_SAMPLE_IDENTIFIER | KM_SAMPLE_IP | KM_SAMPLE_TID | KM_SAMPLE_TIME | KM_SAMPLE_CPU |
			       KM_SAMPLE_PERIOD | KM_SAMPLE_RAW;
	const uint64_t types[] = { usual, usual | KM_SAMPLE_CALLCHAIN,
				   (usual & ~(uint64_t)KM_SAMPLE_IDENTIFIER) | KM_SAMPLE_ID | KM_SAMPLE_READ,
				   usual & ~(uint64_t)KM_SAMPLE_CPU };
	struct pw_options options = {
		.is_pipe = i % 2,
		.compression = (enum pw_compression)(i / 2 % 3),
		.big_endian = i / 2 % 2,
		.long_bytes = i % 5 == 4 ? 4 : 8,
		.kernel = TW_KERNEL_4_19 + i % 6,
		.cpus = 2,
		.chunk_bytes = 700,
		.sample_type = types[i % 4],
		.read_format = i % 3 ? KM_READ_ID | KM_READ_LOST : 0,
		.use_clockid = i % 4 == 1,
		.clockid = 1,
	};
	struct tw_stream stream = { .seed = i,
				    .events_count = EVENTS,
				    .cpus = 2,
				    .kernel = options.kernel,
				    .long_bytes = options.long_bytes,
				    .live_target = 15 };
	struct km_event events[EVENTS];
	struct pw *pw = pw_new(&options);
	void *data;

	tw_stream_random(NULL, &stream, events);
	pw_comm(pw, 0, 0, 42, "first task");
	for (unsigned k = 0; k < EVENTS; k++) {
		unsigned cache = events[k].cache;

		if (k % ROUND == 0)
			pw_round(pw);
		pw_event(pw, &events[k], cache ? tw_stream_cache_name(cache - 1) : NULL);
		if (k == EVENTS / 2) {
			pw_lost(pw, 1, events[k].time, 3);
			pw_throttle(pw, TW_FORMAT_KMALLOC, 0, events[k].time);
			pw_other(pw, 0, events[k].time, 42);
			pw_fork(pw, 0, events[k].time, 43, 42);
			pw_aux(pw, "12345678", 8);
		}
	}
	pw_raw(pw, 1, events[EVENTS - 1].time, "short", 5);
	pw_lost_samples(pw, 1, 5, 0);
	pw_round(pw);
	data = pw_finish(pw, ret_bytes);
	pw_free(pw);
	return data;
}

/* The records of a COMPRESSED one's data, written behind to; the room is enough for the fixture's. */
static size_t expand(const uint8_t *data, size_t bytes, uint8_t *to, size_t room)
{
	ZSTD_DStream *zstd = ZSTD_createDStream();
	ZSTD_inBuffer in = { data, bytes, 0 };
	ZSTD_outBuffer out = { to, room, 0 };
	size_t at = 0;

	ck_assert(zstd && !ZSTD_isError(ZSTD_initDStream(zstd)));
	while (in.pos < in.size)
		ck_assert(!ZSTD_isError(ZSTD_decompressStream(zstd, &out, &in)));
	ZSTD_freeDStream(zstd);
	/* Only whole records, and not many. */
	while (out.pos - at >= 8 && at < 4000 && out.pos - at >= km_load16(to + at + 6, false))
		at += km_load16(to + at + 6, false);
	return at;
}

/* A real file with few records: of what perf makes up at the start, and of what it recorded. */
static void write_cut_perf(bool is_expanded)
{
	enum { DATA_AT = 40, EXPANDED_ROOM = 1 << 20 };
	char *path = km_fixture_path(KM_TEST_DIR, "arm64-6.12-perf-slab-z.data");
	size_t bytes, at, end, to, kept[KM_RECORD_COMPRESSED2 + 1] = { 0 };
	uint8_t *data = km_fixture_read(path, &bytes), *cut;
	uint64_t size, moved;

	ck_assert_msg(data != NULL, "%s", path);
	free(path);
	cut = malloc(bytes + EXPANDED_ROOM);
	ck_assert_ptr_nonnull(cut);
	at = to = km_load64(data + DATA_AT, false);
	end = at + km_load64(data + DATA_AT + 8, false);
	memcpy(cut, data, at);
	for (size_t record; at < end; at += record) {
		uint32_t type = km_load32(data + at, false);

		record = km_load16(data + at + 6, false);
		ck_assert(record >= 8 && type <= KM_RECORD_COMPRESSED2);
		if (kept[type] == (type == KM_RECORD_COMPRESSED ? 1 : 4))
			continue;
		kept[type]++;
		if (is_expanded && type == KM_RECORD_COMPRESSED) {
			to += expand(data + at + 8, record - 8, cut + to, EXPANDED_ROOM);
		} else {
			memcpy(cut + to, data + at, record);
			to += record;
		}
	}
	size = to - km_load64(data + DATA_AT, false);
	memcpy(cut + DATA_AT + 8, &size, 8);
	/* The features stand behind, in front of them a table of u64 offset, u64 size. */
	memcpy(cut + to, data + end, bytes - end);
	for (unsigned bit = 0, entry = 0; bit < 256; bit++) {
		if (!(data[72 + bit / 8] >> (bit % 8) & 1))
			continue;
		moved = km_load64(data + end + 16 * entry, false) - end + to;
		memcpy(cut + to + 16 * entry++, &moved, 8);
	}
	write_seed("fuzz_perf", is_expanded ? "seed-real-plain.data" : "seed-real-zstd.data", cut, to + bytes - end);
	free(cut);
	free(data);
}

static void write_perf_seeds(void)
{
	for (unsigned i = 0; i < 12; i++) {
		static const char *const forms[] = { "plain", "zstd", "zstd2" };
		size_t bytes;
		void *data = build_perf_seed(i, &bytes);
		char name[64];

		snprintf(name, sizeof(name), "seed-%s-%s-%s-%u.data", i % 2 ? "pipe" : "file", forms[i / 2 % 3],
			 i / 2 % 2 ? "be" : "le", i);
		write_seed("fuzz_perf", name, data, bytes);
		free(data);
	}
	write_cut_perf(false);
	write_cut_perf(true);
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
	km_fuzz(copy, bytes);
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

/* The names in a corpus, sorted. */
static size_t list_corpus(const char *target, char **names, size_t limit)
{
	char path[4096];
	struct dirent *entry;
	size_t count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", CORPUS, target);
	dir = opendir(path);
	ck_assert_msg(dir != NULL, "%s", path);
	while ((entry = readdir(dir)) && count < limit) {
		if (entry->d_name[0] != '.')
			names[count++] = strdup(entry->d_name);
	}
	closedir(dir);
	qsort(names, count, sizeof(*names), compare_names);
	return count;
}

static void run_corpus(const char *target, size_t least_seeds)
{
	char *names[1024];
	size_t count = list_corpus(target, names, sizeof(names) / sizeof(names[0])), seeds = 0;

	for (size_t i = 0; i < count; i++) {
		enum km_fuzz_depth depth;
		char path[4096];
		uint8_t *data;
		size_t bytes;

		snprintf(path, sizeof(path), "%s/%s/%s", CORPUS, target, names[i]);
		data = km_fixture_read(path, &bytes);
		ck_assert_msg(data != NULL, "%s", path);
		depth = km_fuzz(data, bytes);
		if (!strncmp(names[i], "seed-", 5)) {
			ck_assert_msg(depth == KM_FUZZ_READ, "%s was not read to its end", names[i]);
			seeds++;
		}
		run_copy(data, bytes);
		run_mutations(names[i], data, bytes);
		free(data);
		free(names[i]);
	}
	ck_assert_uint_ge(seeds, least_seeds);
}

START_TEST(tracedat)
{
	if (getenv("KM_TEST_WRITE_CORPUS"))
		write_tracedat_seeds();
	run_corpus("fuzz_tracedat", 16);
}
END_TEST

START_TEST(perf)
{
	if (getenv("KM_TEST_WRITE_CORPUS"))
		write_perf_seeds();
	run_corpus("fuzz_perf", 14);
}
END_TEST

START_TEST(text)
{
	run_corpus("fuzz_text", 10);
}
END_TEST

START_TEST(nothing)
{
	ck_assert_int_eq(km_fuzz((const uint8_t *)"", 0), KM_FUZZ_REFUSED);
	ck_assert_int_eq(km_fuzz((const uint8_t *)"\x17\x08\x44tracing7", 12), KM_FUZZ_REFUSED);
	ck_assert_int_eq(km_fuzz((const uint8_t *)"PERFILE2", 8), KM_FUZZ_REFUSED);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { nothing, tracedat, perf, text, NULL };

	return km_test_main("fuzz_corpus", tests, getenv("KM_TEST_FULL") ? 3600 : 120);
}
