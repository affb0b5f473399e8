/* SPDX-License-Identifier: GPL-2.0-only */
#include "reader_perf_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MMAP_NAME_AT  32U
#define MMAP2_NAME_AT 64U
#define MODULES_LIMIT 4096U

#define MISC_LOST_SAMPLES_BPF (1U << 15) /* PERF_RECORD_MISC_LOST_SAMPLES_BPF: left out by a filter, not lost */

/* --- records but samples --- */

void km_reader_perf_note(const struct perf_reader *r, char *text, size_t bytes, const char *what, uint64_t offset)
{
	if (text[0])
		return;
	if (r->inputs_count > 1)
		snprintf(text, bytes, "%s, in the record at offset %" PRIu64 " of %.60s", what, offset,
			 km_source_name(r->inputs[r->input].source));
	else
		snprintf(text, bytes, "%s, in the record at offset %" PRIu64, what, offset);
}

/* The name that /proc/modules has for a module's file: "/lib/modules/.../nf-nat.ko.xz" is nf_nat. False: no module. */
static bool module_name(const char *path, char *name, size_t bytes)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path, *end = strstr(base, ".ko");
	size_t n;

	if (*base == '[') { /* "[nf_nat]", where perf did not find the file */
		base++;
		end = strchr(base, ']');
	}
	n = end ? (size_t)(end - base) : 0;
	if (!n || n >= bytes)
		return false;
	for (size_t i = 0; i < n; i++)
		name[i] = base[i] == '-' ? '_' : base[i];
	name[n] = '\0';
	return true;
}

/* s32 pid, s32 tid, u64 address, u64 length, u64 pgoff, ..., the name. Of the kernel and its modules: pid is -1. */
static int note_map(struct perf_reader *r, const uint8_t *body, size_t bytes, size_t name_at)
{
	static const char text[] = "[kernel.kallsyms]_text";
	bool big = r->file->big_endian;
	struct km_module_map map;
	struct km_module_map *larger;
	const char *name = (const char *)body + name_at;

	if (bytes <= name_at || km_load32(body, big) != UINT32_MAX || !memchr(name, '\0', bytes - name_at))
		return 0;
	if (!strcmp(name, text)) {
		/* perf puts the address of the symbol that it measures the kernel from into pgoff. */
		r->kernel.has_text = true;
		r->kernel.text_address = km_load64(body + 24, big);
		return 0;
	}
	if (!strncmp(name, "[kernel", 7) || !module_name(name, map.name, sizeof(map.name)) ||
	    r->kernel.modules_count >= MODULES_LIMIT)
		return 0;
	map.address = km_load64(body + 8, big);
	if (!(r->kernel.modules_count & (r->kernel.modules_count - 1))) {
		larger = reallocarray(r->modules, r->kernel.modules_count ? r->kernel.modules_count * 2 : 1,
				      sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		r->kernel.modules = r->modules = larger;
	}
	r->modules[r->kernel.modules_count++] = map;
	return 0;
}

/*
 * Those that make up pipe mode's tables, and ID_INDEX, which both modes have
 * in their data. All come before the first sample; were they taken in later,
 * a second reading would not give what the first one did.
 */
int km_reader_perf_handle_header(struct perf_reader *r, const struct km_perfdata_record *record, struct km_error *error)
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
	case KM_RECORD_HEADER_BUILD_ID:
		km_perfdata_build_id_record(file, record->misc, record->body, record->bytes);
		break;
	case KM_RECORD_MMAP:
		if (!r->is_scanned)
			result = note_map(r, record->body, record->bytes, MMAP_NAME_AT);
		break;
	case KM_RECORD_MMAP2:
		if (!r->is_scanned)
			result = note_map(r, record->body, record->bytes, MMAP2_NAME_AT);
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
		km_reader_perf_note(r, r->first_damage, sizeof(r->first_damage),
				    "a description of events that can not be used", record->offset);
		result = 0;
	}
	if (result)
		return km_error_set(error, result, "%s: %s", km_source_name(file->source), strerror(-result));
	return km_reader_perf_resolve(r, error);
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

static int add_event(struct perf_reader *r, const struct km_event *event, struct km_error *error)
{
	int code = km_perfdata_order_add(r->order, event);

	if (code > 0)
		r->must_limit = true;
	return code < 0 ? km_error_set(error, code, "out of memory") : 0;
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
	return add_event(r, &event, error);
}

/* What was skipped may have been of any CPU. */
int km_reader_perf_put_damage(struct perf_reader *r, struct km_error *error)
{
	bool is_counted = false;
	uint64_t offset;
	const char *what = km_perfdata_records_damage(r->records, &offset);
	int result = 0;

	km_reader_perf_note(r, r->first_damage, sizeof(r->first_damage), what, offset);
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
	km_reader_perf_note(r, r->first_skipped, sizeof(r->first_skipped), why, offset);
	return 0;
}

/* A directory's files have no rounds; one begins where the samples are of a CPU again that the round had already. */
static void note_round(struct perf_reader *r, unsigned cpu, uint64_t time)
{
	struct perf_input *in = &r->inputs[r->input];

	if (time > in->latest)
		in->latest = time;
	/* As many files as CPUs: each has one of them, and nothing to wait for. */
	if (r->file->cpus_online && r->inputs_count > r->file->cpus_online) {
		in->horizon = in->latest;
		return;
	}
	if (cpu == in->cpu && in->round)
		return;
	if (in->rounds[cpu] == in->round) {
		in->horizon = in->round_latest;
		in->round_latest = in->latest;
		in->round++;
	}
	in->rounds[cpu] = in->round;
	in->cpu = cpu;
}

static int check_piece(struct perf_reader *r, uint64_t time, struct km_error *error)
{
	r->piece_has_first = true;
	if (time < r->piece_first)
		return km_error_set(error, -EINVAL,
				    "%s begins before %s does: name the pieces of a recording in the order in which "
				    "they were written",
				    km_source_name(r->inputs[r->input].source),
				    km_source_name(r->inputs[r->input - 1].source));
	r->piece_first = time;
	return 0;
}

static inline int count_sample(struct perf_reader *r, unsigned cpu, uint64_t time, struct km_error *error)
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
	if (r->is_directory)
		note_round(r, cpu, time);
	else if (!r->piece_has_first)
		return check_piece(r, time, error);
	return 0;
}

int km_reader_perf_count_sample(struct perf_reader *r, unsigned cpu, uint64_t time, struct km_error *error)
{
	return count_sample(r, cpu, time, error);
}

/* big_endian: the file's, a constant where this is inlined. */
static inline __attribute__((always_inline)) int handle_sample(struct perf_reader *r,
							       const struct km_perfdata_record *record, bool big_endian,
							       struct km_error *error)
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
	if (count_sample(r, cpu, sample.time, error))
		return error->code;
	sample.attr->samples_count++;
	km_perfdata_order_note(r->order, sample.time);
	if (!sample.attr->layout)
		return 0;
	layout = &r->layouts[sample.attr->layout - 1].layout;
	if (sample.raw_bytes < 2 || km_load16(sample.raw, big_endian) != sample.attr->config)
		return skip_sample(r, "a sample with the fields of another event", record->offset);
	why = km_slab_record_decode(layout, sample.raw, sample.raw_bytes, big_endian, &r->names, &event);
	if (why)
		return skip_sample(r, why, record->offset);
	event.time = sample.time;
	event.cpu = (uint16_t)cpu;
	r->stats.slab_counts[event.kind]++;
	r->unflushed++;
	return add_event(r, &event, error);
}

static int handle_round(struct perf_reader *r, struct km_error *error)
{
	/* That would be a round of one file of them. */
	if (r->is_directory)
		return 0;
	return km_perfdata_order_round(r->order) ? km_error_set(error, -ENOMEM, "out of memory") : 0;
}

int km_reader_perf_handle(struct perf_reader *r, const struct km_perfdata_record *record, struct km_error *error)
{
	switch (record->type) {
	case KM_RECORD_SAMPLE:
		return r->file->big_endian ? handle_sample(r, record, true, error)
					   : handle_sample(r, record, false, error);
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
		return km_reader_perf_handle_header(r, record, error);
	}
}
