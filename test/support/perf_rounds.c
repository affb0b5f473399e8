/* SPDX-License-Identifier: GPL-2.0-only */
#include "perf_rounds.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"
#include "trace_writer.h"

static int by_time_then_cpu(const void *a, const void *b)
{
	const struct km_event *x = *(const struct km_event *const *)a, *y = *(const struct km_event *const *)b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x < y ? -1 : x > y;
}

void km_perf_rounds_expect(struct km_event *events, size_t count)
{
	const struct km_event **order = calloc(count, sizeof(*order));
	struct km_event *merged = calloc(count, sizeof(*merged));

	ck_assert(order && merged);
	for (size_t i = 0; i < count; i++)
		order[i] = &events[i];
	qsort(order, count, sizeof(*order), by_time_then_cpu);
	for (size_t i = 0; i < count; i++)
		merged[i] = *order[i];
	for (size_t i = 0, n; i < count; i += n) {
		bool is_tied = false;

		for (n = 1; i + n < count && merged[i + n].time == merged[i].time; n++)
			is_tied |= merged[i + n].cpu != merged[i].cpu;
		for (size_t k = 0; k < n; k++)
			merged[i + k].flags = is_tied ? KM_EVENT_TIED : 0;
	}
	memcpy(events, merged, count * sizeof(*events));
	free(merged);
	free(order);
}

void km_perf_rounds_put(struct pw *pw, const struct km_event *events, size_t count, unsigned cpus, size_t round)
{
	size_t *taken = calloc(cpus, sizeof(*taken));

	ck_assert_ptr_nonnull(taken);
	for (size_t start = 0; start < count + round; start += round) {
		for (unsigned cpu = 0; cpu < cpus; cpu++) {
			size_t until = start + round * (cpu + 1) / cpus;

			for (; taken[cpu] < until && taken[cpu] < count; taken[cpu]++) {
				const struct km_event *e = &events[taken[cpu]];

				if (e->cpu == cpu)
					pw_event(pw, e, e->cache ? tw_stream_cache_name(e->cache - 1) : NULL);
			}
		}
		pw_round(pw);
	}
	free(taken);
}

void km_perf_rounds_compare(const struct km_reader *reader, const struct km_event *got, const struct km_event *e)
{
	struct km_event same = *e;

	same.cache = got->cache;
	if (!memcmp(got, &same, sizeof(same)) &&
	    !strcmp(km_reader_cache_name(reader, got->cache), e->cache ? tw_stream_cache_name(e->cache - 1) : ""))
		return;
	ck_assert_uint_eq(got->time, e->time);
	ck_assert_uint_eq(got->cpu, e->cpu);
	ck_assert_uint_eq(got->kind, e->kind);
	ck_assert_uint_eq(got->ptr, e->ptr);
	ck_assert_uint_eq(got->flags, e->flags);
	ck_assert_int_eq(got->pid, e->pid);
	ck_assert_uint_eq(got->bytes_alloc, e->bytes_alloc);
	ck_abort_msg("events at %llu differ", (unsigned long long)e->time);
}
