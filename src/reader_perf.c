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
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_format.h"
#include "intern.h"
#include "perfdata_order.h"
#include "perfdata_records.h"
#include "reader.h"
#include "slab_record.h"
#include "task_names.h"

/* Events that wait for their round's end: 64 MiB. perf's rings hold less, but on hundreds of CPUs. */
#define WAITING_LIMIT (1U << 20)
/* Without times nothing waits; hand out in batches all the same. */
#define BATCH 4096U

#define MISC_LOST_SAMPLES_BPF (1U << 15) /* PERF_RECORD_MISC_LOST_SAMPLES_BPF: left out by a filter, not lost */

struct perf_reader {
	struct km_reader base;
	struct km_slab_names names;
	struct km_perfdata *file;
	struct km_buffer_info buffer;
	char format_name[32], kernel_name[512], generator[128];
	bool only_counts;

	struct km_perfdata_records *records;
	bool is_fresh;                /* the records stand where the first start begins */
	int pending;                  /* what opening met and reading has to tell: KM_NEXT_DAMAGED or _CUT */
	bool is_scanned;              /* the head was: what events there are is fixed */
	bool has_formats;             /* the tracing data was looked through */
	struct km_error format_error; /* a slab event's format that can not be used */
	struct {
		uint16_t id;
		bool is_taken; /* an attr has it */
		struct km_slab_layout layout;
	} layouts[KM_EVENT_SLAB_KINDS];
	size_t layouts_count;
	size_t attrs_resolved;

	struct km_perfdata_order *order;
	struct km_task_names *tasks;
	bool is_over, is_cut;
	bool has_lost_samples;
	uint64_t lost_samples_nowhere; /* of a CPU not told */
	uint64_t sequence;             /* stands for the time where there is none */
	size_t unflushed;

	struct km_buffer_stats stats;
	struct km_cpu_loss *losses; /* by CPU, buffer.cpu_limit */
	uint64_t *last_times;       /* likewise */
	bool *is_met;               /* likewise: the CPU exists */
	struct km_cpu_loss *cpus;   /* those that do */
	char first_skipped[160], first_damage[160];
	struct km_event_count *event_counts;
	struct km_symbols *symbols;
};

/* --- formats --- */

static int visit_format(void *context, const char *system, const char *text, size_t bytes)
{
	struct perf_reader *r = context;
	const char *file_name = km_source_name(r->file->source);
	struct km_event_format *format;
	struct km_error error = { 0 };
	enum km_event_kind kind;
	char name[64];
	uint16_t id;
	int result;

	if (strcmp(system, "kmem") || km_event_format_peek(text, bytes, name, sizeof(name), &id) < 0 ||
	    !km_slab_record_kind(name, &kind))
		return 0;
	for (size_t i = 0; i < r->layouts_count; i++) {
		if (r->layouts[i].id == id || r->layouts[i].layout.kind == kind)
			return 0;
	}
	result = km_event_format_parse(text, bytes, &format, &error);
	if (result == -ENOMEM)
		return result;
	if (result) {
		km_error_set(&r->format_error, result, "%s: the format of event %s can not be used: %s", file_name,
			     name, error.text);
		return 0;
	}
	if (!km_slab_record_layout(format, kind, file_name, &r->layouts[r->layouts_count].layout,
				   &r->base.info.features, &r->format_error)) {
		r->layouts[r->layouts_count++].id = id;
		if (!r->base.gfp.count && kind <= KM_EVENT_CACHE_ALLOC_NODE)
			km_gfp_parse(text, bytes, &r->base.gfp);
	}
	km_event_format_free(format);
	return 0;
}

static const char how_to_record[] = "record every event on all CPUs: perf record -a -c 1 -e "
				    "kmem:kmalloc,kmem:kfree,kmem:kmem_cache_alloc,kmem:kmem_cache_free";

/* Can what is live be told from this event's samples? */
static int check_attr(const struct perf_reader *r, const struct km_perfdata_attr *attr, struct km_error *error)
{
	const char *file_name = km_source_name(r->file->source);
	const char *event = km_event_kind_name(r->layouts[attr->layout - 1].layout.kind);

	if (attr->freq)
		return km_error_set(error, -ENOTSUP,
				    "%s: only some %s events were recorded, %" PRIu64
				    " a second: allocations and frees of the same object can not be told; %s",
				    file_name, event, attr->sample_period, how_to_record);
	if (attr->sample_period != 1)
		return km_error_set(
			error, -ENOTSUP,
			"%s: only one of %" PRIu64
			" %s events was recorded: allocations and frees of the same object can not be told; %s",
			file_name, attr->sample_period, event, how_to_record);
	if (!(attr->sample_type & KM_SAMPLE_RAW))
		return km_error_set(error, -ENOTSUP, "%s: %s events were recorded without their fields (raw data); %s",
				    file_name, event, how_to_record);
	return 0;
}

/* Formats and events come in any order: bring together what is there. */
static int resolve_attrs(struct perf_reader *r, struct km_error *error)
{
	struct km_perfdata *file = r->file;
	int result;

	if (r->only_counts)
		return 0;
	if (!r->has_formats && file->tracing) {
		/* Damaged formats: what was whole is known. */
		result = km_perfdata_each_format(file, visit_format, r);
		if (result == -ENOMEM)
			return km_error_set(error, result, "out of memory");
		r->has_formats = true;
		r->attrs_resolved = 0;
	}
	for (; r->has_formats && r->attrs_resolved < file->attrs_count; r->attrs_resolved++) {
		struct km_perfdata_attr *attr = &file->attrs[r->attrs_resolved];

		for (size_t i = 0; attr->type == KM_PERFDATA_TRACEPOINT && i < r->layouts_count; i++) {
			/* An event that was asked for twice (kmem:kmalloc,kmem:*) is told twice: once is enough. */
			if (attr->config == r->layouts[i].id && !r->layouts[i].is_taken) {
				r->layouts[i].is_taken = true;
				attr->layout = (uint8_t)(i + 1);
			}
		}
	}
	return 0;
}

/* --- what the file says of itself --- */

static const char *clock_name(const struct km_perfdata *file)
{
	/* clockid_t of clock_gettime(2), as ftrace's trace_clock calls them */
	static const struct {
		int32_t id;
		const char *name;
	} clocks[] = { { 0, "realtime" }, { 1, "mono" }, { 4, "mono_raw" }, { 7, "boot" }, { 11, "tai" } };

	if (!file->attrs_count || !file->attrs[0].use_clockid)
		return "perf";
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		if (clocks[i].id == file->attrs[0].clockid)
			return clocks[i].name;
	}
	return "perf";
}

static uint32_t at_most(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void describe_buffer(struct perf_reader *r)
{
	const struct km_perfdata *file = r->file;
	struct km_buffer_info *to = &r->buffer;
	uint32_t known = file->cpus_available > file->cpus_indexed ? file->cpus_available : file->cpus_indexed;

	to->name = "";
	to->clock = r->base.info.keeps_order ? "order of the file" : clock_name(file);
	to->unit = r->base.info.keeps_order ? KM_CLOCK_TICKS : KM_CLOCK_NS;
	to->clock_is_coherent = true;
	to->page_bytes = r->base.info.page_bytes;
	to->cpus_count = at_most(file->cpus_indexed ? file->cpus_indexed : file->cpus_online, KM_CPU_LIMIT);
	if (!to->cpus_count)
		to->cpus_count = 1;
	to->cpu_limit = known ? at_most((at_most(known, KM_CPU_LIMIT) + 63) & ~63U, KM_CPU_LIMIT) : KM_CPU_LIMIT;
	if (to->cpus_count > to->cpu_limit)
		to->cpus_count = to->cpu_limit;
}

/* Which tasks and CPUs the slab events (all tracepoints, as long as formats are not known) were recorded of. */
static void describe_scope(struct perf_reader *r)
{
	const struct km_perfdata *file = r->file;
	struct km_trace_info *info = &r->base.info;

	info->is_per_task = file->has_id_index ? file->ids_have_tasks : file->names_tasks;
	info->keeps_order = info->cpus_are_unknown = info->leaves_out_cpus = false;
	for (size_t i = 0; i < file->attrs_count; i++) {
		const struct km_perfdata_attr *attr = &file->attrs[i];

		if (attr->type != KM_PERFDATA_TRACEPOINT)
			continue;
		info->is_per_task |= attr->enable_on_exec;
		info->keeps_order |= attr->time_at == KM_PERFDATA_NOWHERE;
		info->cpus_are_unknown |= attr->cpu_at == KM_PERFDATA_NOWHERE && !file->cpus_indexed;
		info->leaves_out_cpus |= attr->ids_count && attr->ids_count < file->cpus_online;
	}
	if (info->is_per_task)
		info->leaves_out_cpus = false; /* one id a task, not a CPU */
}

static void describe_trace(struct perf_reader *r)
{
	const struct km_perfdata *file = r->file;
	struct km_trace_info *info = &r->base.info;

	snprintf(r->format_name, sizeof(r->format_name), "perf.data%s",
		 file->is_pipe && file->is_compressed ? " (pipe, zstd)"
		 : file->is_pipe                      ? " (pipe)"
		 : file->is_compressed                ? " (zstd)"
						      : "");
	info->format = r->format_name;
	info->kernel = NULL;
	if (file->release) {
		snprintf(r->kernel_name, sizeof(r->kernel_name), "Linux %.128s %.128s %.64s",
			 file->hostname ? file->hostname : "(none)", file->release, file->arch ? file->arch : "");
		info->kernel = r->kernel_name;
	}
	info->generator = NULL;
	if (file->version) {
		snprintf(r->generator, sizeof(r->generator), "perf %.100s", file->version);
		info->generator = r->generator;
	}
	info->frees_are_late = km_kernel_release(info->kernel) && km_kernel_release(info->kernel) < 5016;
	info->big_endian = file->big_endian;
	info->word_bytes = file->long_bytes ? file->long_bytes : 8;
	info->page_bytes = file->page_bytes ? file->page_bytes : 4096;
	info->cpus_count = file->cpus_online;
	info->is_cut_short = file->is_cut_short;
	describe_scope(r);
	describe_buffer(r);
	info->buffers = &r->buffer;
	info->buffers_count = 1;
}

/* --- records but samples --- */

static void note(char *text, size_t bytes, const char *what, uint64_t offset)
{
	if (!text[0])
		snprintf(text, bytes, "%s, in the record at offset %" PRIu64, what, offset);
}

/*
 * Those that make up pipe mode's tables, and ID_INDEX, which both modes have
 * in their data. All come before the first sample; were they taken in later,
 * a second reading would not give what the first one did.
 */
static int handle_header(struct perf_reader *r, const struct km_perfdata_record *record, struct km_error *error)
{
	struct km_perfdata *file = r->file;
	int result = 0;
	char *data;

	switch (record->type) {
	case KM_RECORD_HEADER_ATTR:
		if (!r->is_scanned)
			result = km_perfdata_attr_record(file, record->body, record->bytes);
		break;
	case KM_RECORD_FEATURE:
		result = km_perfdata_feature_record(file, record->body, record->bytes);
		break;
	case KM_RECORD_EVENT_UPDATE:
		result = km_perfdata_update_record(file, record->body, record->bytes);
		break;
	case KM_RECORD_ID_INDEX:
		if (!r->is_scanned)
			result = km_perfdata_id_index_record(file, record->body, record->bytes);
		break;
	case KM_RECORD_TRACING_DATA: /* u32 size: so much follows */
		result = -EBADMSG;
		if (record->bytes >= 4)
			result = km_perfdata_records_load(r->records, km_load32(record->body, file->big_endian), &data,
							  error);
		if (!result)
			result = km_perfdata_set_tracing(file, data, km_load32(record->body, file->big_endian));
		break;
	default:
		return 0;
	}
	if (result == -EBADMSG || result == -ENOSPC) {
		note(r->first_damage, sizeof(r->first_damage), "a description of events that can not be used",
		     record->offset);
		result = 0;
	}
	if (result)
		return km_error_set(error, result, "%s: %s", km_source_name(file->source), strerror(-result));
	return resolve_attrs(r, error);
}

static void handle_comm(struct perf_reader *r, const struct km_perfdata_record *record)
{
	struct km_perfdata_sample end;
	int32_t task;

	if (record->bytes <= 8)
		return;
	km_perfdata_sample_end(r->file, record, 8, &end);
	task = (int32_t)km_load32(record->body + 4, r->file->big_endian);
	km_task_names_set(r->tasks, task, end.time, (const char *)record->body + 8,
			  strnlen((const char *)record->body + 8, record->bytes - 8));
	km_perfdata_order_note(r->order, end.time);
}

static void handle_fork(struct perf_reader *r, const struct km_perfdata_record *record)
{
	bool big = r->file->big_endian;

	if (record->bytes < 24)
		return;
	km_task_names_fork(r->tasks, (int32_t)km_load32(record->body + 8, big),
			   (int32_t)km_load32(record->body + 12, big), km_load64(record->body + 16, big));
}

/* Events of a CPU are missing here. count 0: how many is not known. */
static int put_gap(struct perf_reader *r, unsigned cpu, uint64_t time, uint64_t count, struct km_error *error)
{
	struct km_cpu_loss *loss = &r->losses[cpu];
	struct km_event event = { .time = time, .bytes_req = count, .cpu = (uint16_t)cpu, .node = KM_NODE_ANY };

	event.kind = KM_EVENT_LOST;
	r->is_met[cpu] = true;
	loss->holes_count++;
	if (count)
		loss->stored_count += count;
	else
		loss->uncounted_gaps_count++;
	if (r->only_counts)
		return 0;
	if (r->base.info.keeps_order)
		event.time = r->sequence;
	else if (!time)
		event.time = r->last_times[cpu];
	return km_perfdata_order_add(r->order, &event) ? km_error_set(error, -ENOMEM, "out of memory") : 0;
}

/* What was skipped may have been of any CPU. */
static int put_damage(struct perf_reader *r, struct km_error *error)
{
	bool is_counted = false;
	uint64_t offset;
	const char *what = km_perfdata_records_damage(r->records, &offset);
	int result = 0;

	note(r->first_damage, sizeof(r->first_damage), what, offset);
	for (unsigned cpu = 0; !result && cpu < r->buffer.cpu_limit; cpu++) {
		if (!r->losses[cpu].events_count)
			continue;
		r->losses[cpu].damaged_count += !is_counted;
		is_counted = true;
		result = put_gap(r, cpu, 0, 0, error);
	}
	if (is_counted)
		return result;
	r->losses[0].damaged_count++;
	return put_gap(r, 0, 0, 0, error);
}

static unsigned cpu_of(const struct perf_reader *r, const struct km_perfdata_sample *sample)
{
	return sample->cpu < 0 ? 0 : (unsigned)sample->cpu < r->buffer.cpu_limit ? (unsigned)sample->cpu : 0;
}

static int handle_lost(struct perf_reader *r, const struct km_perfdata_record *record, struct km_error *error)
{
	const struct km_perfdata_id *id;
	struct km_perfdata_sample end;
	uint64_t count;

	if (record->bytes < 16)
		return 0;
	km_perfdata_sample_end(r->file, record, 16, &end);
	id = km_perfdata_find_id(r->file, km_load64(record->body, r->file->big_endian));
	if (end.cpu < 0 && id)
		end.cpu = id->cpu;
	count = km_load64(record->body + 8, r->file->big_endian);
	km_perfdata_order_note(r->order, end.time);
	/* A number that can not be is none. */
	return put_gap(r, cpu_of(r, &end), end.time, count < UINT32_MAX ? count : 0, error);
}

/*
 * At its end perf asks the kernel how many samples of each event were lost:
 * the same as the LOST records tell, and what was lost behind the last one.
 */
static void handle_lost_samples(struct perf_reader *r, const struct km_perfdata_record *record)
{
	struct km_perfdata_sample end;
	uint64_t count;

	if (record->bytes < 8 || record->misc & MISC_LOST_SAMPLES_BPF)
		return;
	km_perfdata_sample_end(r->file, record, 8, &end);
	count = km_load64(record->body, r->file->big_endian);
	if (count >= UINT32_MAX)
		return;
	r->has_lost_samples = true;
	if (end.cpu >= 0 && (unsigned)end.cpu < r->buffer.cpu_limit) {
		r->is_met[end.cpu] = true;
		r->losses[end.cpu].overrun_count += count;
	} else {
		r->lost_samples_nowhere += count;
	}
}

/* u64 time, u64 id, u64 stream id */
static int handle_throttle(struct perf_reader *r, const struct km_perfdata_record *record, struct km_error *error)
{
	const struct km_perfdata_id *id;
	struct km_perfdata_sample end;

	if (record->bytes < 24)
		return 0;
	r->stats.throttled_count++;
	id = km_perfdata_find_id(r->file, km_load64(record->body + 8, r->file->big_endian));
	if (id && !r->file->attrs[id->attr - 1].layout)
		return 0;
	km_perfdata_sample_end(r->file, record, 24, &end);
	if (end.cpu < 0 && id)
		end.cpu = id->cpu;
	return put_gap(r, cpu_of(r, &end), km_load64(record->body, r->file->big_endian), 0, error);
}

/* --- samples --- */

static __attribute__((noinline, cold)) int skip_sample(struct perf_reader *r, const char *why, uint64_t offset)
{
	r->stats.skipped_count++;
	note(r->first_skipped, sizeof(r->first_skipped), why, offset);
	return 0;
}

static void count_sample(struct perf_reader *r, unsigned cpu, uint64_t time)
{
	struct km_buffer_stats *stats = &r->stats;

	if (!stats->has_events || time < stats->first_time)
		stats->first_time = time;
	if (!stats->has_events || time > stats->last_time)
		stats->last_time = time;
	stats->has_events = true;
	stats->events_count++;
	r->losses[cpu].events_count++;
	r->last_times[cpu] = time;
	r->is_met[cpu] = true;
}

static int handle_sample(struct perf_reader *r, const struct km_perfdata_record *record, struct km_error *error)
{
	const struct km_slab_layout *layout;
	struct km_perfdata_sample sample;
	struct km_event event;
	unsigned cpu;
	const char *why = km_perfdata_sample_parse(r->file, record, &sample);

	if (why)
		return skip_sample(r, why, record->offset);
	cpu = sample.cpu < 0 ? 0 : (unsigned)sample.cpu;
	if (cpu >= r->buffer.cpu_limit)
		return skip_sample(r, "a sample of a CPU that the machine does not have", record->offset);
	if (r->base.info.keeps_order)
		sample.time = r->sequence++;
	count_sample(r, cpu, sample.time);
	sample.attr->samples_count++;
	km_perfdata_order_note(r->order, sample.time);
	if (!sample.attr->layout)
		return 0;
	layout = &r->layouts[sample.attr->layout - 1].layout;
	if (sample.raw_bytes < 2 || km_load16(sample.raw, r->file->big_endian) != sample.attr->config)
		return skip_sample(r, "a sample with the fields of another event", record->offset);
	why = km_slab_record_decode(layout, sample.raw, sample.raw_bytes, r->file->big_endian, &r->names, &event);
	if (why)
		return skip_sample(r, why, record->offset);
	event.time = sample.time;
	event.cpu = (uint16_t)cpu;
	r->stats.slab_counts[event.kind]++;
	r->unflushed++;
	return km_perfdata_order_add(r->order, &event) ? km_error_set(error, -ENOMEM, "out of memory") : 0;
}

static int handle_round(struct perf_reader *r, struct km_error *error)
{
	return km_perfdata_order_round(r->order) ? km_error_set(error, -ENOMEM, "out of memory") : 0;
}

static int handle(struct perf_reader *r, const struct km_perfdata_record *record, struct km_error *error)
{
	switch (record->type) {
	case KM_RECORD_SAMPLE:
		return handle_sample(r, record, error);
	case KM_RECORD_FINISHED_ROUND:
		return handle_round(r, error);
	case KM_RECORD_LOST:
		return handle_lost(r, record, error);
	case KM_RECORD_LOST_SAMPLES:
		handle_lost_samples(r, record);
		return 0;
	case KM_RECORD_THROTTLE:
		return handle_throttle(r, record, error);
	case KM_RECORD_COMM:
		handle_comm(r, record);
		return 0;
	case KM_RECORD_FORK:
		handle_fork(r, record);
		return 0;
	default:
		return handle_header(r, record, error);
	}
}

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
			result = handle(r, &record, error);
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
	result = r->records ? resolve_attrs(r, error) : km_error_set(error, -ENOMEM, "out of memory");
	if (!result)
		result = scan_head(r, error);
	if (result)
		goto fail;
	r->is_fresh = r->is_scanned = true;
	describe_trace(r);
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

/* Can live numbers be had from this recording? */
static int check_recording(struct perf_reader *r, struct km_error *error)
{
	const struct km_perfdata *file = r->file;
	bool has_tracepoints = false;

	if (r->format_error.code)
		return km_error_set(error, r->format_error.code, "%s", r->format_error.text);
	for (size_t i = 0; i < file->attrs_count; i++) {
		const struct km_perfdata_attr *attr = &file->attrs[i];
		int result = attr->layout ? check_attr(r, attr, error) : 0;

		if (result)
			return result;
		has_tracepoints |= attr->type == KM_PERFDATA_TRACEPOINT;
	}
	if (has_tracepoints && !file->tracing)
		return km_error_set(error, -EBADMSG,
				    "%s: it has no event formats, which perf record writes %s; record it again",
				    km_source_name(file->source),
				    file->is_pipe ? "first: its start is missing" : "last: it did not come to its end");
	return 0;
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
	result = r->only_counts ? 0 : check_recording(r, error);
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
		result = handle(r, &record, error);
		break;
	case KM_NEXT_DAMAGED:
		result = put_damage(r, error);
		break;
	case KM_NEXT_CUT: {
		uint64_t offset;
		const char *what = km_perfdata_records_damage(r->records, &offset);

		note(r->first_damage, sizeof(r->first_damage), what, offset);
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
			result = handle_header(r, &record, error);
			if (result)
				return result;
			continue;
		}
		if (km_perfdata_sample_parse(r->file, &record, &sample) ||
		    (sample.cpu >= 0 && (unsigned)sample.cpu >= r->buffer.cpu_limit))
			continue;
		count_sample(r, sample.cpu < 0 ? 0 : (unsigned)sample.cpu,
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

struct name_visit {
	uint64_t id;
	char *name;
	size_t bytes;
};

static int visit_name(void *context, const char *system, const char *text, size_t bytes)
{
	struct name_visit *visit = context;
	char name[64];
	uint16_t id;

	(void)system;
	if (km_event_format_peek(text, bytes, name, sizeof(name), &id) < 0 || id != visit->id)
		return 0;
	snprintf(visit->name, visit->bytes, "%s", name);
	return 1;
}

/* As trace.dat has it: without the system. */
static void name_event(const struct perf_reader *r, const struct km_perfdata_attr *attr, struct km_event_count *count)
{
	struct name_visit visit = { .id = attr->config, .name = count->name, .bytes = sizeof(count->name) };
	const char *colon = strchr(attr->name, ':');

	if (attr->type == KM_PERFDATA_TRACEPOINT) {
		if (km_perfdata_each_format(r->file, visit_name, &visit) == 1)
			return;
		if (colon && colon[1])
			snprintf(count->name, sizeof(count->name), "%s", colon + 1);
		else
			snprintf(count->name, sizeof(count->name), "event %" PRIu64, attr->config);
	} else if (attr->name[0]) {
		snprintf(count->name, sizeof(count->name), "%s", attr->name);
	} else {
		snprintf(count->name, sizeof(count->name), "type %" PRIu32 " event %" PRIu64, attr->type, attr->config);
	}
}

static int compare_names(const void *a, const void *b)
{
	const struct km_event_count *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int compare_counts(const void *a, const void *b)
{
	const struct km_event_count *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

static const struct km_event_count *perf_event_counts(struct km_reader *base, size_t *ret_count)
{
	struct perf_reader *r = (struct perf_reader *)base;
	const struct km_perfdata *file = r->file;
	struct km_event_count *counts;
	size_t met = 0, kept = 0;

	free(r->event_counts);
	*ret_count = 0;
	r->event_counts = counts = calloc(file->attrs_count + 1, sizeof(*counts));
	if (!counts)
		return NULL;
	for (size_t i = 0; i < file->attrs_count; i++) {
		const struct km_perfdata_attr *attr = &file->attrs[i];

		if (!attr->samples_count)
			continue;
		counts[met].count = attr->samples_count;
		counts[met].id = attr->type == KM_PERFDATA_TRACEPOINT ? (uint16_t)attr->config : 0;
		name_event(r, attr, &counts[met++]);
	}
	/* An event may have been asked for twice. */
	qsort(counts, met, sizeof(*counts), compare_names);
	for (size_t i = 0; i < met; i++) {
		if (kept && !strcmp(counts[kept - 1].name, counts[i].name))
			counts[kept - 1].count += counts[i].count;
		else
			counts[kept++] = counts[i];
	}
	qsort(counts, kept, sizeof(*counts), compare_counts);
	*ret_count = kept;
	return counts;
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
	.event_counts = perf_event_counts,
	.comm = perf_comm,
	.symbols = perf_symbols,
};
