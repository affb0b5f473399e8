/* SPDX-License-Identifier: GPL-2.0-only */
#include "reader_perf_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_format.h"

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
	    !km_slab_record_kind(name, r->has_pages, &kind))
		return 0;
	for (size_t i = 0; i < r->layouts_count; i++) {
		if (r->layouts[i].id == id || r->layouts[i].layout.kind == kind)
			return 0;
	}
	result = km_event_format_parse(text, bytes, &format, &error);
	if (result == -ENOMEM)
		return result;
	if (result) {
		if (kind >= KM_EVENT_PAGE_ALLOC)
			return 0; /* it is a help only */
		km_error_set(&r->format_error, result, "%s: the format of event %s can not be used: %s", file_name,
			     name, error.text);
		return 0;
	}
	if (!km_slab_record_layout(format, kind, file_name, &r->layouts[r->layouts_count].layout,
				   &r->base.info.features, kind < KM_EVENT_PAGE_ALLOC ? &r->format_error : NULL)) {
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
	enum km_event_kind kind = r->layouts[attr->layout - 1].layout.kind;
	const char *event = km_event_kind_name(kind);

	if (kind >= KM_EVENT_PAGE_ALLOC)
		return 0; /* one that is missing says nothing */
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

int km_reader_perf_resolve(struct perf_reader *r, struct km_error *error)
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

static int check_file(const struct perf_reader *r, const struct km_perfdata *file, struct km_error *error)
{
	bool has_tracepoints = false;

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

int km_reader_perf_check(struct perf_reader *r, struct km_error *error)
{
	int result = 0;

	if (r->format_error.code)
		return km_error_set(error, r->format_error.code, "%s", r->format_error.text);
	for (size_t i = 0; !result && i < (r->is_directory ? 1 : r->inputs_count); i++)
		result = check_file(r, r->inputs[i].file, error);
	return result;
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

void km_reader_perf_describe(struct perf_reader *r)
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

/* --- what was met --- */

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

/* The samples of each event of one file, appended. */
static size_t count_events(const struct perf_reader *r, const struct km_perfdata *file, struct km_event_count *counts)
{
	size_t met = 0;

	for (size_t i = 0; i < file->attrs_count; i++) {
		const struct km_perfdata_attr *attr = &file->attrs[i];

		if (!attr->samples_count)
			continue;
		counts[met].count = attr->samples_count;
		counts[met].id = attr->type == KM_PERFDATA_TRACEPOINT ? (uint16_t)attr->config : 0;
		name_event(r, attr, &counts[met++]);
	}
	return met;
}

const struct km_event_count *km_reader_perf_event_counts(struct km_reader *base, size_t *ret_count)
{
	struct perf_reader *r = (struct perf_reader *)base;
	size_t files = r->is_directory ? 1 : r->inputs_count, met = 0, kept = 0, room = 1;
	struct km_event_count *counts;

	free(r->event_counts);
	*ret_count = 0;
	for (size_t i = 0; i < files; i++)
		room += r->inputs[i].file->attrs_count;
	r->event_counts = counts = calloc(room, sizeof(*counts));
	if (!counts)
		return NULL;
	for (size_t i = 0; i < files; i++)
		met += count_events(r, r->inputs[i].file, counts + met);
	/* An event may have been asked for twice, and is in every piece. */
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
