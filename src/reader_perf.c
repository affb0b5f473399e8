/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reader of perf.data: ties the container (perfdata), its records
 * (perfdata_records) and their order (perfdata_order) together, and answers
 * what the file says of itself.
 *
 * In pipe mode what file mode has in tables comes as records, before the
 * first sample. Opening reads up to there, so that both are alike from then
 * on; a stream is then read on, a file may also be read again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader_perf_private.h"

/* Events that wait for their round's end: 64 MiB. perf's rings hold less, but on hundreds of CPUs. */
#define WAITING_LIMIT (1U << 20)
/* Without times nothing waits; hand out in batches all the same. */
#define BATCH 4096U

/* --- opening --- */

static void perf_close(struct km_reader *base)
{
	struct perf_reader *r = (struct perf_reader *)base;

	if (!r)
		return;
	km_perfdata_records_free(r->records);
	km_perfdata_order_free(r->order);
	km_task_names_free(r->tasks);
	km_symbols_free(r->symbols);
	free(r->losses);
	free(r->last_times);
	free(r->is_met);
	free(r->cpus);
	free(r->event_counts);
	km_perfdata_close(r->file);
	free(r);
}

static int perf_bid(const uint8_t *head, size_t bytes)
{
	return km_perfdata_probe(head, bytes) ? 100 : 0;
}

/* Take in what stands before the first sample. */
static int scan_head(struct perf_reader *r, struct km_error *error)
{
	for (;;) {
		struct km_perfdata_record record;
		int result = km_perfdata_records_next(r->records, &record, error);

		if (result < 0 || result == KM_NEXT_END)
			return result;
		if (result != KM_NEXT_RECORD) {
			r->pending = result;
			return 0;
		}
		switch (record.type) {
		case KM_RECORD_SAMPLE:
		case KM_RECORD_FINISHED_ROUND:
		case KM_RECORD_LOST:
		case KM_RECORD_LOST_SAMPLES:
		case KM_RECORD_THROTTLE:
			km_perfdata_records_unread(r->records);
			return 0;
		default:
			result = km_reader_perf_handle(r, &record, error);
			if (result)
				return result;
		}
	}
}

static int perf_open(struct km_source *source, const struct km_reader_options *options, struct km_reader **ret_reader,
		     struct km_error *error)
{
	struct perf_reader *r = calloc(1, sizeof(*r));
	int result = -ENOMEM;

	if (!r)
		return km_error_set(error, result, "out of memory");
	r->only_counts = options->only_counts;
	r->base.cache_names = km_intern_new();
	r->names.table = r->base.cache_names;
	r->tasks = km_task_names_new();
	r->order = km_perfdata_order_new(WAITING_LIMIT);
	if (!r->base.cache_names || !r->tasks || !r->order) {
		km_error_set(error, result, "out of memory");
		goto fail;
	}
	result = km_perfdata_open(source, &r->file, error);
	if (result)
		goto fail;
	r->records = km_perfdata_records_new(r->file, r->file->data_offset, r->file->data_end);
	result = r->records ? km_reader_perf_resolve(r, error) : km_error_set(error, -ENOMEM, "out of memory");
	if (!result)
		result = scan_head(r, error);
	if (result)
		goto fail;
	r->is_fresh = r->is_scanned = true;
	km_reader_perf_describe(r);
	*ret_reader = &r->base;
	return 0;
fail:
	km_intern_free(r->base.cache_names);
	perf_close(&r->base);
	return result;
}

/* --- reading --- */

/* Stand at the first record again, unless it is still so from opening. */
static int rewind_records(struct perf_reader *r, struct km_error *error)
{
	if (r->is_fresh)
		return 0;
	if (km_source_is_stream(r->file->source))
		return km_source_refuse_stream(r->file->source, error);
	km_perfdata_records_free(r->records);
	r->pending = 0;
	r->records = km_perfdata_records_new(r->file, r->file->data_offset, r->file->data_end);
	return r->records ? 0 : km_error_set(error, -ENOMEM, "out of memory");
}

static int prepare(struct perf_reader *r, struct km_error *error)
{
	size_t cpus = r->buffer.cpu_limit;

	km_perfdata_order_free(r->order);
	free(r->losses);
	free(r->last_times);
	free(r->is_met);
	free(r->cpus);
	r->order = km_perfdata_order_new(WAITING_LIMIT);
	r->losses = calloc(cpus, sizeof(*r->losses));
	r->last_times = calloc(cpus, sizeof(*r->last_times));
	r->is_met = calloc(cpus, sizeof(*r->is_met));
	r->cpus = calloc(cpus, sizeof(*r->cpus));
	if (!r->order || !r->losses || !r->last_times || !r->is_met || !r->cpus)
		return km_error_set(error, -ENOMEM, "out of memory");
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		r->losses[cpu].cpu = cpu;
		r->is_met[cpu] = cpu < r->buffer.cpus_count;
	}
	for (size_t i = 0; i < r->file->attrs_count; i++)
		r->file->attrs[i].samples_count = 0;
	memset(&r->stats, 0, sizeof(r->stats));
	r->first_skipped[0] = r->first_damage[0] = '\0';
	r->is_over = r->is_cut = r->has_lost_samples = false;
	r->lost_samples_nowhere = r->sequence = 0;
	r->unflushed = 0;
	return 0;
}

static int perf_start(struct km_reader *base, size_t index, struct km_error *error)
{
	struct perf_reader *r = (struct perf_reader *)base;
	int result;

	if (index)
		return km_error_set(error, -EINVAL, "%s: there is no buffer %zu", km_source_name(r->file->source),
				    index);
	result = r->only_counts ? 0 : km_reader_perf_check(r, error);
	if (!result)
		result = rewind_records(r, error);
	if (!result)
		result = prepare(r, error);
	r->is_fresh = false;
	return result;
}

/* perf tells at its end what was lost of each event, if both it and the kernel can (6.0 on). */
static bool tells_lost_samples(const struct perf_reader *r)
{
	bool tells = r->has_lost_samples;

	for (size_t i = 0; !tells && i < r->file->attrs_count; i++)
		tells = r->file->attrs[i].type == KM_PERFDATA_TRACEPOINT &&
			r->file->attrs[i].read_format & KM_READ_LOST;
	return tells && !r->is_cut && !r->file->is_cut_short;
}

/* The two counts of the same loss are compared CPU by CPU; what is told of no CPU counts as far as it is more in all.
 */
static void settle_loss(struct perf_reader *r)
{
	bool tells = tells_lost_samples(r);
	uint64_t told = r->lost_samples_nowhere, in_all = 0;
	unsigned first = 0;

	for (unsigned cpu = r->buffer.cpu_limit; cpu-- > 0;) {
		struct km_cpu_loss *loss = &r->losses[cpu];

		if (!r->is_met[cpu])
			continue;
		first = cpu;
		loss->has_statistics = tells;
		loss->is_cut = r->is_cut;
		told += loss->overrun_count;
		in_all += loss->overrun_count > loss->stored_count ? loss->overrun_count : loss->stored_count;
	}
	if (tells && told > in_all) {
		struct km_cpu_loss *loss = &r->losses[first];

		if (loss->overrun_count < loss->stored_count)
			loss->overrun_count = loss->stored_count;
		loss->overrun_count += told - in_all;
	}
	r->base.info.is_cut_short |= r->is_cut;
}

static int finish(struct perf_reader *r, struct km_error *error)
{
	r->is_over = true;
	settle_loss(r);
	return km_perfdata_order_finish(r->order) ? km_error_set(error, -ENOMEM, "out of memory") : 0;
}

/* One record further. What that made readable has to be read before the next. */
static int advance(struct perf_reader *r, struct km_error *error)
{
	struct km_perfdata_record record;
	int result = r->pending;

	r->pending = 0;
	if (!result)
		result = km_perfdata_records_next(r->records, &record, error);
	switch (result) {
	case KM_NEXT_RECORD:
		result = km_reader_perf_handle(r, &record, error);
		break;
	case KM_NEXT_DAMAGED:
		result = km_reader_perf_put_damage(r, error);
		break;
	case KM_NEXT_CUT: {
		uint64_t offset;
		const char *what = km_perfdata_records_damage(r->records, &offset);

		km_reader_perf_note(r->first_damage, sizeof(r->first_damage), what, offset);
		r->is_cut = true;
		return 0;
	}
	case KM_NEXT_END:
		return finish(r, error);
	default:
		return result;
	}
	if (result)
		return result;
	if (r->base.info.keeps_order && r->unflushed >= BATCH) {
		r->unflushed = 0;
		result = km_perfdata_order_finish(r->order);
	} else {
		result = km_perfdata_order_limit(r->order);
	}
	return result ? km_error_set(error, result, "out of memory") : 0;
}

static int perf_read(struct km_reader *base, struct km_event *events, size_t capacity, struct km_error *error)
{
	struct perf_reader *r = (struct perf_reader *)base;

	for (;;) {
		int n = km_perfdata_order_read(r->order, events, capacity, error);

		if (n)
			return n;
		if (r->is_over)
			return 0;
		n = advance(r, error);
		if (n)
			return n;
	}
}

static int perf_time_range(struct km_reader *base, size_t index, uint64_t *ret_first, uint64_t *ret_last,
			   struct km_error *error)
{
	struct perf_reader *r = (struct perf_reader *)base;
	uint64_t first, last;
	int result;

	if (km_source_is_stream(r->file->source))
		return km_error_set(error, -ENOTSUP,
				    "%s: its last time is known only when it has been read; save it to a file first",
				    km_source_name(r->file->source));
	/* No table tells when the last event was; the times alone are read quickly. */
	r->is_fresh = false;
	if (index)
		return km_error_set(error, -EINVAL, "%s: there is no buffer %zu", km_source_name(r->file->source),
				    index);
	result = rewind_records(r, error);
	if (!result)
		result = prepare(r, error);
	if (result)
		return result;
	for (;;) {
		struct km_perfdata_sample sample;
		struct km_perfdata_record record;

		result = km_perfdata_records_next(r->records, &record, error);
		if (result < 0)
			return result;
		if (result == KM_NEXT_END)
			break;
		if (result != KM_NEXT_RECORD)
			continue;
		if (record.type != KM_RECORD_SAMPLE) {
			result = km_reader_perf_handle_header(r, &record, error);
			if (result)
				return result;
			continue;
		}
		if (km_perfdata_sample_parse(r->file, &record, &sample) ||
		    (sample.cpu >= 0 && (unsigned)sample.cpu >= r->buffer.cpu_limit))
			continue;
		km_reader_perf_count_sample(r, sample.cpu < 0 ? 0 : (unsigned)sample.cpu,
					    r->base.info.keeps_order ? r->sequence++ : sample.time);
	}
	if (!r->stats.has_events)
		return 0;
	first = r->stats.first_time;
	last = r->stats.last_time;
	*ret_first = first;
	*ret_last = last;
	return 1;
}

/* --- what was met --- */

static const struct km_buffer_stats *perf_stats(struct km_reader *base)
{
	struct perf_reader *r = (struct perf_reader *)base;
	size_t count = 0;

	for (unsigned cpu = 0; r->is_met && cpu < r->buffer.cpu_limit; cpu++) {
		if (r->is_met[cpu])
			r->cpus[count++] = r->losses[cpu];
	}
	if (count)
		r->buffer.cpus_count = count;
	r->stats.cpus = r->cpus;
	r->stats.cpus_count = count;
	r->stats.backwards_count = km_perfdata_order_late_count(r->order);
	r->stats.forced_count = km_perfdata_order_forced_count(r->order);
	r->stats.first_skipped = r->first_skipped[0] ? r->first_skipped : NULL;
	r->stats.first_damage = r->first_damage[0] ? r->first_damage : NULL;
	return &r->stats;
}

static int perf_first_time(struct km_reader *base, uint64_t *ret_time)
{
	struct perf_reader *r = (struct perf_reader *)base;

	if (r->stats.has_events)
		*ret_time = r->stats.first_time;
	return r->stats.has_events;
}

static const char *perf_comm(struct km_reader *base, int32_t pid)
{
	struct perf_reader *r = (struct perf_reader *)base;
	const char *name = pid ? km_task_names_get(r->tasks, pid) : "<idle>";

	return name ? name : "<...>";
}

/* perf leaves the kallsyms in its tracing data empty. */
static struct km_symbols *perf_symbols(struct km_reader *base, struct km_error *error)
{
	struct perf_reader *r = (struct perf_reader *)base;

	if (!r->symbols)
		r->symbols = km_symbols_new(NULL, 0, r->base.info.page_bytes);
	if (!r->symbols)
		km_error_set(error, -ENOMEM, "out of memory");
	return r->symbols;
}

const struct km_reader_ops km_reader_perf = {
	.name = "perf.data",
	.reads_streams = true,
	.bid = perf_bid,
	.open = perf_open,
	.close = perf_close,
	.start = perf_start,
	.read = perf_read,
	.time_range = perf_time_range,
	.first_time = perf_first_time,
	.stats = perf_stats,
	.event_counts = km_reader_perf_event_counts,
	.comm = perf_comm,
	.symbols = perf_symbols,
};
