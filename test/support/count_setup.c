/* SPDX-License-Identifier: GPL-2.0-only */
#include "count_setup.h"

#include <stdlib.h>

#include "naive_model.h"
#include "read_back.h"
#include "testing.h"

const char *const count_cache_names[COUNT_CACHE_NAMES] = { "dentry", "filp", "skbuff_head_cache" };

/* A trace in which the reader meets the names in their order, so that cache 1 is the first. */
static void *small_trace(enum tw_kernel kernel, size_t *ret_bytes)
{
	struct tw *tw = tw_new(&(struct tw_options){ .kernel = kernel, .cpus = COUNT_CPUS });
	void *data;

	for (unsigned i = 0; i < 3; i++)
		tw_cache_free(tw, TW_TOP, 0, 1000 + i, 1, 0xffffffff81000000, 0xffff888000001000, count_cache_names[i]);
	tw_kmalloc(tw, TW_TOP, 0, 2000, 1, 0xffffffff81000000, 0xffff888000001000, 8, 8, 0, -1);
	data = tw_finish(tw, ret_bytes);
	tw_free(tw);
	return data;
}

struct count_setup *count_set_up_data(void *data, size_t bytes)
{
	struct count_setup *s = calloc(1, sizeof(*s));

	s->data = data;
	s->reader = km_read_back_open(s->data, bytes, NULL);
	s->caches = km_caches_new(s->reader);
	ck_assert_int_eq(km_naming_new(s->reader, NULL, false, &s->naming, NULL), 0);
	s->selection = (struct km_selection){ .filter = &s->filter,
					      .reader = s->reader,
					      .naming = s->naming,
					      .caches = s->caches,
					      .until_time = UINT64_MAX };
	return s;
}

struct count_setup *count_set_up_kernel(enum tw_kernel kernel)
{
	size_t bytes, count;
	void *data = small_trace(kernel, &bytes);
	struct count_setup *s = count_set_up_data(data, bytes);

	free(km_read_back_all(s->reader, 0, 16, &count));
	return s;
}

struct count_setup *count_set_up(const char *by)
{
	struct count_setup *s = count_set_up_kernel(COUNT_KERNEL);

	if (by)
		ck_assert_int_eq(km_by_parse(by, &s->selection.by, NULL), 0);
	return s;
}

void count_tear_down(struct count_setup *s)
{
	km_aggregate_free(s->aggregate);
	km_replay_free(s->replay);
	km_caches_free(s->caches);
	km_naming_free(s->naming);
	km_filter_release(&s->filter);
	km_reader_close(s->reader);
	free(s->data);
	free(s);
}

void count_start(struct count_setup *s, uint64_t objects_count, bool resets_on_loss)
{
	const struct km_replay_options options = { .objects_count = objects_count,
						   .max_memory_bytes = 1 << 24,
						   .cpu_limit = COUNT_CPUS,
						   .resets_on_loss = resets_on_loss,
						   .when_full = s->when_full };

	ck_assert_int_eq(km_aggregate_new(&s->selection, COUNT_CPUS, &s->aggregate, NULL), 0);
	ck_assert_int_eq(km_replay_new(&options, &s->replay, NULL), 0);
	if (s->when_full == KM_WHEN_FULL_SAMPLE)
		km_aggregate_use_sample(s->aggregate);
}

void count_run(struct count_setup *s, const struct km_event *events, size_t count)
{
	struct km_outcome outcomes[200];
	struct km_error error = { 0 };
	uint64_t random = count;
	uint32_t keys[200];

	for (size_t at = 0, n, wanted; at < count; at += n) {
		wanted = 1 + naive_random(&random) % 200;
		if (wanted > count - at)
			wanted = count - at;
		ck_assert_msg(!km_aggregate_keys(s->aggregate, events + at, wanted, keys, &error), "%s", error.text);
		n = km_replay_run(s->replay, events + at, keys, wanted, outcomes);
		ck_assert_msg(!km_aggregate_account(s->aggregate, events + at, keys, outcomes, n, &error), "%s",
			      error.text);
		if (n < wanted)
			km_aggregate_halve(s->aggregate, s->replay, events[at + n].time);
	}
}

void count_finish(struct count_setup *s)
{
	ck_assert_int_eq(km_aggregate_finish(s->aggregate, km_replay_table(s->replay), NULL), 0);
}
