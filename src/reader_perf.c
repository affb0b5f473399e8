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

static void forget_ahead(struct perf_reader *r)
{
	km_perfdata_ahead_free(r->ahead);
	r->ahead = NULL;
	km_perfdata_bundle_free(r->bundle);
	r->bundle = NULL;
}

static void perf_close(struct km_reader *base)
{
	struct perf_reader *r = (struct perf_reader *)base;

	if (!r)
		return;
	forget_ahead(r);
	for (size_t i = 0; i < r->inputs_count; i++) {
		km_perfdata_records_free(r->inputs[i].records);
		free(r->inputs[i].rounds);
		if (!i || !r->is_directory)
			km_perfdata_close(r->inputs[i].file);
	}
	free(r->inputs);
	km_perfdata_order_free(r->order);
	km_task_names_free(r->tasks);
	km_symbols_free(r->symbols);
	free(r->losses);
	free(r->last_times);
	free(r->is_met);
	free(r->cpus);
	free(r->event_counts);
	free(r->modules);
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
			r->inputs[r->input].pending = result;
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

static void select_input(struct perf_reader *r, size_t i)
{
	r->input = i;
	r->file = r->inputs[i].file;
	r->records = r->inputs[i].records;
}

static int start_records(struct perf_input *in, struct km_error *error)
{
	bool is_own = in->source == in->file->source;

	km_perfdata_records_free(in->records);
	in->records = km_perfdata_records_new(in->file, in->source, is_own ? in->file->data_offset : 0,
					      is_own ? in->file->data_end : km_source_bytes(in->source));
	in->pending = 0;
	return in->records ? 0 : km_error_set(error, -ENOMEM, "out of memory");
}

/* Appends an input, reads what stands before its first sample, and leaves it selected. file is taken over. */
static int add_input(struct perf_reader *r, struct km_perfdata *file, struct km_source *source, struct km_error *error)
{
	struct perf_input *inputs = reallocarray(r->inputs, r->inputs_count + 1, sizeof(*inputs));
	int result;

	if (!inputs) {
		if (!r->is_directory)
			km_perfdata_close(file);
		return km_error_set(error, -ENOMEM, "out of memory");
	}
	r->inputs = inputs;
	inputs[r->inputs_count++] = (struct perf_input){ .file = file, .source = source };
	result = start_records(&inputs[r->inputs_count - 1], error);
	if (result)
		return result;
	select_input(r, r->inputs_count - 1);
	if (source != file->source)
		return 0;
	r->is_scanned = false;
	r->attrs_resolved = 0;
	for (size_t i = 0; i < r->layouts_count; i++)
		r->layouts[i].is_taken = false;
	result = km_reader_perf_resolve(r, error);
	if (!result)
		result = scan_head(r, error);
	r->is_scanned = true;
	return result;
}

static int perf_open(struct km_source *source, const struct km_reader_options *options, struct km_reader **ret_reader,
		     struct km_error *error)
{
	struct perf_reader *r = calloc(1, sizeof(*r));
	struct km_perfdata *file;
	int result = -ENOMEM;

	if (!r)
		return km_error_set(error, result, "out of memory");
	r->only_counts = options->only_counts;
	r->has_pages = options->has_pages;
	r->threads = options->names_at_end ? km_reader_threads(options) : 1;
	r->base.cache_names = km_intern_new();
	r->names.table = r->base.cache_names;
	r->tasks = km_task_names_new();
	r->order = km_perfdata_order_new(WAITING_LIMIT);
	if (!r->base.cache_names || !r->tasks || !r->order) {
		km_error_set(error, result, "out of memory");
		goto fail;
	}
	result = km_perfdata_open(source, &file, error);
	if (!result)
		result = add_input(r, file, source, error);
	if (result)
		goto fail;
	r->is_fresh = true;
	km_reader_perf_describe(r);
	*ret_reader = &r->base;
	return 0;
fail:
	km_intern_free(r->base.cache_names);
	perf_close(&r->base);
	return result;
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* A piece has tables of its own, which are those of the first. */
static int add_piece(struct perf_reader *r, struct km_source *source, struct km_error *error)
{
	const struct km_perfdata *first = r->inputs[0].file;
	struct km_perfdata *file;
	uint8_t head[KM_PERFDATA_PIPE_HEADER_BYTES];
	int64_t n = km_source_read_at(source, 0, head, sizeof(head), error);
	int result;

	if (n < 0)
		return (int)n;
	if (!km_perfdata_probe(head, (size_t)n))
		return km_error_set(error, -EINVAL,
				    "%s is not a perf.data, so no piece of the recording that %s begins",
				    km_source_name(source), km_source_name(first->source));
	result = km_perfdata_open(source, &file, error);
	if (result)
		return result;
	if (first->is_pipe || file->is_pipe || file->big_endian != first->big_endian ||
	    !is_same_text(file->release, first->release) || !is_same_text(file->hostname, first->hostname)) {
		km_perfdata_close(file);
		return km_error_set(error, -EINVAL,
				    "%s and %s are two recordings: only the pieces that one perf record "
				    "--switch-output wrote can be read as one",
				    km_source_name(first->source), km_source_name(source));
	}
	return add_input(r, file, source, error);
}

static int perf_add(struct km_reader *base, struct km_source *source, enum km_reader_part part, struct km_error *error)
{
	struct perf_reader *r = (struct perf_reader *)base;
	size_t before = r->inputs_count;
	int result;

	if (part == KM_PART_BESIDE) {
		r->is_directory = true;
		result = add_input(r, r->file, source, error);
	} else {
		result = add_piece(r, source, error);
		r->base.info.is_cut_short |= !result && r->file->is_cut_short;
	}
	/* Closed with the reader, but of a source that stays the caller's. */
	if (result && r->inputs_count > before) {
		struct perf_input *in = &r->inputs[--r->inputs_count];

		km_perfdata_records_free(in->records);
		if (!r->is_directory)
			km_perfdata_close(in->file);
	}
	select_input(r, 0);
	return result;
}

/* --- reading --- */

/* Stand at the first record again, unless it is still so from opening. */
static int rewind_records(struct perf_reader *r, struct km_error *error)
{
	int result = 0;

	forget_ahead(r);
	if (r->is_fresh)
		return 0;
	if (km_source_is_stream(r->base.source))
		return km_source_refuse_stream(r->base.source, error);
	for (size_t i = 0; !result && i < r->inputs_count; i++)
		result = start_records(&r->inputs[i], error);
	return result;
}

static int prepare(struct perf_reader *r, struct km_error *error)
{
	size_t cpus = r->buffer.cpu_limit;

	km_perfdata_order_free(r->order);
	r->has_first_out = false;
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
	for (size_t i = 0; i < r->inputs_count; i++) {
		struct perf_input *in = &r->inputs[i];

		free(in->rounds);
		in->rounds = r->is_directory ? calloc(cpus, sizeof(*in->rounds)) : NULL;
		if (r->is_directory && !in->rounds)
			return km_error_set(error, -ENOMEM, "out of memory");
		in->is_over = false;
		in->horizon = in->latest = in->round_latest = 0;
		in->round = 0;
		for (size_t a = 0; a < in->file->attrs_count; a++)
			in->file->attrs[a].samples_count = 0;
	}
	select_input(r, 0);
	r->complete_time = r->piece_first = 0;
	r->piece_has_first = false;
	memset(&r->stats, 0, sizeof(r->stats));
	r->first_skipped[0] = r->first_damage[0] = '\0';
	r->is_over = r->is_cut = r->has_lost_samples = false;
	r->lost_samples_nowhere = r->sequence = 0;
	r->unflushed = 0;
	return 0;
}

static int produce(void *context, struct km_perfdata_bundle **ret_bundle, struct km_error *error);

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
	if (!result && r->threads > 1) {
		r->ahead = km_perfdata_ahead_new(produce, r);
		if (!r->ahead)
			result = km_error_set(error, -ENOMEM, "out of memory");
	}
	return result;
}

/* perf tells at its end what was lost of each event, if both it and the kernel can (6.0 on). */
static bool tells_lost_samples(const struct perf_reader *r)
{
	const struct km_perfdata *last = r->inputs[r->inputs_count - 1].file; /* the end of the recording */
	bool tells = r->has_lost_samples;

	for (size_t i = 0; !tells && i < last->attrs_count; i++)
		tells = last->attrs[i].type == KM_PERFDATA_TRACEPOINT && last->attrs[i].read_format & KM_READ_LOST;
	return tells && !r->is_cut && !last->is_cut_short;
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

/* An input came to its end: the next one, if there is any. */
static int end_input(struct perf_reader *r, struct km_error *error)
{
	r->inputs[r->input].is_over = true;
	if (r->is_directory) {
		for (size_t i = 0; i < r->inputs_count; i++) {
			if (!r->inputs[i].is_over)
				return 0;
		}
		return finish(r, error);
	}
	if (r->input + 1 == r->inputs_count)
		return finish(r, error);
	/* perf goes through all rings before it begins another file: it is a round's end. */
	select_input(r, r->input + 1);
	r->piece_has_first = false;
	return km_perfdata_order_round(r->order) ? km_error_set(error, -ENOMEM, "out of memory") : 0;
}

/* The last record of an input is not whole. At the end of a piece that has another behind it, it is a gap. */
static int cut_input(struct perf_reader *r, struct km_error *error)
{
	uint64_t offset;
	const char *what = km_perfdata_records_damage(r->records, &offset);

	if (!r->is_directory && r->input + 1 < r->inputs_count)
		return km_reader_perf_put_damage(r, error);
	km_reader_perf_note(r, r->first_damage, sizeof(r->first_damage), what, offset);
	r->is_cut = true;
	return 0;
}

/* In a directory: the input that is behind all others goes on. */
static void select_earliest(struct perf_reader *r)
{
	size_t best = r->inputs_count;

	for (size_t i = 0; i < r->inputs_count; i++) {
		if (!r->inputs[i].is_over &&
		    (best == r->inputs_count || r->inputs[i].horizon < r->inputs[best].horizon))
			best = i;
	}
	select_input(r, best);
}

/* In a directory: what was complete a batch ago can be handed out; what is out of its place by a little is not late. */
static int release_complete(struct perf_reader *r)
{
	uint64_t until = r->complete_time, complete = UINT64_MAX;

	for (size_t i = 0; i < r->inputs_count; i++) {
		if (!r->inputs[i].is_over && r->inputs[i].horizon < complete)
			complete = r->inputs[i].horizon;
	}
	if (complete == UINT64_MAX || complete <= until)
		return km_perfdata_order_limit(r->order);
	r->complete_time = complete;
	return until ? km_perfdata_order_until(r->order, until - 1) : km_perfdata_order_limit(r->order);
}

/* Where there are no rounds. */
static bool has_batch(const struct perf_reader *r)
{
	return r->unflushed >= BATCH && (r->base.info.keeps_order || r->is_directory);
}

/* Makes readable what can be. */
static int release(struct perf_reader *r)
{
	r->must_limit = false;
	if (!has_batch(r))
		return km_perfdata_order_limit(r->order);
	r->unflushed = 0;
	return r->base.info.keeps_order ? km_perfdata_order_finish(r->order) : release_complete(r);
}

/* One record further. */
static inline int advance(struct perf_reader *r, struct km_error *error)
{
	struct km_perfdata_record record;
	int result = 0;

	if (r->is_directory)
		select_earliest(r);
	if (r->inputs[r->input].pending) {
		result = r->inputs[r->input].pending;
		r->inputs[r->input].pending = 0;
	}
	if (!result)
		result = km_perfdata_records_next(r->records, &record, error);
	switch (result) {
	case KM_NEXT_RECORD:
		result = km_reader_perf_handle(r, &record, error);
		break;
	case KM_NEXT_DAMAGED:
		result = km_reader_perf_put_damage(r, error);
		break;
	case KM_NEXT_CUT:
		return cut_input(r, error);
	case KM_NEXT_END:
		return end_input(r, error);
	default:
		return result;
	}
	if (!result && (r->must_limit || has_batch(r)) && release(r))
		result = km_error_set(error, -ENOMEM, "out of memory");
	return result;
}

/* The next events in order, by whoever reads: this thread or one that is ahead. Few are not worth handing over. */
static int produce(void *context, struct km_perfdata_bundle **ret_bundle, struct km_error *error)
{
	struct perf_reader *r = context;

	while (!r->is_over && !km_perfdata_order_is_ready(r->order, BATCH)) {
		int n = advance(r, error);

		if (n)
			return n;
	}
	if (km_perfdata_order_take(r->order, ret_bundle))
		return km_error_set(error, -ENOMEM, "out of memory");
	if (!r->has_first_out && *ret_bundle) {
		r->has_first_out = true;
		r->first_out = r->stats.first_time;
	}
	return *ret_bundle != NULL;
}

static int perf_read(struct km_reader *base, struct km_event *events, size_t capacity, struct km_error *error)
{
	struct perf_reader *r = (struct perf_reader *)base;

	for (;;) {
		int n = r->bundle ? km_perfdata_bundle_read(r->bundle, events, capacity, error) : 0;

		if (n)
			return n;
		km_perfdata_bundle_free(r->bundle);
		r->bundle = NULL;
		n = r->ahead ? km_perfdata_ahead_next(r->ahead, &r->bundle, error) : produce(r, &r->bundle, error);
		if (n <= 0)
			return n;
	}
}

/* Only the times of an input's samples. */
static int scan_times(struct perf_reader *r, struct km_error *error)
{
	for (;;) {
		struct km_perfdata_sample sample;
		struct km_perfdata_record record;
		int result = km_perfdata_records_next(r->records, &record, error);

		if (result <= 0)
			return result; /* KM_NEXT_END is 0 */
		if (result != KM_NEXT_RECORD)
			continue;
		if (record.type != KM_RECORD_SAMPLE) {
			result = km_reader_perf_handle_header(r, &record, error);
		} else if (!km_perfdata_sample_parse(r->file, &record, &sample) &&
			   (sample.cpu < 0 || (unsigned)sample.cpu < r->buffer.cpu_limit)) {
			result = km_reader_perf_count_sample(r, sample.cpu < 0 ? 0 : (unsigned)sample.cpu,
							     r->base.info.keeps_order ? r->sequence++ : sample.time,
							     error);
		} else {
			continue;
		}
		if (result)
			return result;
	}
}

static int perf_time_range(struct km_reader *base, size_t index, uint64_t *ret_first, uint64_t *ret_last,
			   struct km_error *error)
{
	struct perf_reader *r = (struct perf_reader *)base;
	uint64_t first, last;
	int result;

	if (km_source_is_stream(r->base.source))
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
	for (size_t i = 0; !result && i < r->inputs_count; i++) {
		select_input(r, i);
		r->piece_has_first = false;
		result = scan_times(r, error);
	}
	if (result)
		return result;
	if (!r->stats.has_events)
		return 0;
	first = r->stats.first_time;
	last = r->stats.last_time;
	*ret_first = first;
	*ret_last = last;
	return 1;
}

/* --- what was met --- */

/* Nobody may read on while what was met is looked at. */
static void hold(struct perf_reader *r)
{
	if (r->ahead)
		km_perfdata_ahead_stop(r->ahead);
}

static const struct km_buffer_stats *perf_stats(struct km_reader *base)
{
	struct perf_reader *r = (struct perf_reader *)base;
	size_t count = 0;

	hold(r);
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

	/* What the batch that was read told; whoever is ahead may know better by now. */
	if (r->has_first_out) {
		*ret_time = r->first_out;
		return 1;
	}
	hold(r);
	if (r->stats.has_events)
		*ret_time = r->stats.first_time;
	return r->stats.has_events;
}

static const char *perf_comm(struct km_reader *base, int32_t pid)
{
	struct perf_reader *r = (struct perf_reader *)base;
	const char *name;

	hold(r);
	name = pid ? km_task_names_get(r->tasks, pid) : "<idle>";

	return name ? name : "<...>";
}

/* perf leaves the kallsyms in its tracing data empty; the running kernel's serve if it is the recorded one. */
static struct km_symbols *perf_symbols(struct km_reader *base, struct km_error *error)
{
	struct perf_reader *r = (struct perf_reader *)base;

	char *text = NULL;
	size_t bytes = 0;
	int found = 0;

	if (!r->symbols) {
		const struct km_perfdata *file = r->inputs[0].file;

		r->kernel.hostname = file->hostname;
		r->kernel.release = file->release;
		r->kernel.build_id_bytes = file->build_id_bytes;
		memcpy(r->kernel.build_id, file->build_id, file->build_id_bytes);
		found = km_running_kernel_kallsyms(&r->kernel, NULL, &text, &bytes);
		r->base.info.symbols_are_running = found > 0;
	}
	if (!r->symbols && found >= 0)
		r->symbols = km_symbols_new(text, bytes, r->base.info.page_bytes);
	if (!r->symbols)
		km_error_set(error, -ENOMEM, "out of memory");
	return r->symbols;
}

static const struct km_event_count *perf_event_counts(struct km_reader *base, size_t *ret_count)
{
	hold((struct perf_reader *)base);
	return km_reader_perf_event_counts(base, ret_count);
}

const struct km_reader_ops km_reader_perf = {
	.name = "perf.data",
	.reads_streams = true,
	.bid = perf_bid,
	.open = perf_open,
	.add = perf_add,
	.close = perf_close,
	.start = perf_start,
	.read = perf_read,
	.time_range = perf_time_range,
	.first_time = perf_first_time,
	.stats = perf_stats,
	.event_counts = perf_event_counts,
	.comm = perf_comm,
	.symbols = perf_symbols,
};
