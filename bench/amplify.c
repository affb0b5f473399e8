/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmstat_amplify: makes a large trace.dat out of a real one, to measure with. It repeats the pages of the top buffer
 * behind one another in time, and on further CPUs, and keeps what makes a trace what it is: the order of events, their
 * sizes, call sites and tasks.
 *
 *   -n COPIES   one behind the other in time (default 10)
 *   -c GROUPS   of CPUs, at about the same times (default 1): a trace of 2 CPUs becomes one of 2 * GROUPS
 *   -s          every copy has addresses of its own: what one copy leaves behind lives on, and the table grows.
 *               Else the next copy is handed the same addresses. Groups always have their own.
 *   -z NAME     none or zstd (default zstd)
 *
 * Version 7 only, of the machine's byte order (trace-cmd.dat.v7(5)). Sections other than the buffers' are copied.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "ring_page.h"
#include "slab_record.h"
#include "tracedat.h"

#define CHUNK_PAGES    10 /* as trace-cmd writes them */
#define ADDRESS_STRIDE (UINT64_C(1) << 36)
#define TIME_STRIDE    101 /* ns between groups: equal times on hundreds of CPUs would be no real load */
#define SECTION_HEADER 16
#define OPTION_HEADER  6
#define RING_HEAD_MASK 31
#define RING_STAMP     31 /* a record that holds an absolute time */
#define IDS_COUNT      65536

enum { OPTION_DONE = 0, OPTION_CPUSTAT = 2, OPTION_BUFFER = 3, OPTION_CPUCOUNT = 8 };
enum { OPTION_HEADER_INFO = 16, OPTION_CMDLINES = 21 }; /* these and those between hold the offset of a section */

struct cpu {
	unsigned number;
	uint8_t *pages;
	size_t pages_count;
	uint64_t *pointers; /* offsets of addresses in pages */
	size_t pointers_count;
};

struct file_option {
	uint16_t id;
	uint32_t bytes;
	uint8_t *data;
};

struct amplify {
	const char *in, *out;
	unsigned copies, groups;
	bool own_addresses, compresses;
	struct km_source *source;
	struct km_tracedat *file;
	uint32_t page_bytes;
	struct km_field pointer[IDS_COUNT]; /* of a slab event; size 0: another event */
	struct cpu *cpus;
	size_t cpus_count;
	struct file_option *options;
	size_t options_count;
	uint64_t first_time, last_time;
	uint64_t events_count;
	FILE *to;
	uint64_t at; /* offset in the new file */
	ZSTD_CCtx *zstd;
	uint8_t *packed;
	size_t packed_bytes;
};

static _Noreturn void die(const char *file, const char *what)
{
	fprintf(stderr, "kmstat_amplify: %s: %s\n", file, what);
	exit(2);
}

static void *need(void *memory)
{
	if (!memory)
		die("memory", "out of it");
	return memory;
}

static void *grow(void *memory, size_t count, size_t each)
{
	return need(realloc(memory, (count ? count : 1) * each));
}

/* --- reading --- */

static void read_at(struct amplify *a, uint64_t offset, void *to, size_t bytes)
{
	struct km_error error = { 0 };

	if (km_source_read_at(a->source, offset, to, bytes, &error) != (int64_t)bytes)
		die(a->in, error.code ? error.text : "it is cut short");
}

static int note_format(void *context, const char *system, const char *text, size_t bytes)
{
	struct amplify *a = context;
	struct km_event_format *format;
	struct km_error error = { 0 };
	enum km_event_kind kind;
	char name[64];
	uint16_t id;

	if (strcmp(system, "kmem") || km_event_format_peek(text, bytes, name, sizeof(name), &id) ||
	    !km_slab_record_kind(name, false, &kind))
		return 0;
	if (km_event_format_parse(text, bytes, &format, &error))
		die(a->in, error.text);
	km_event_format_field(format, "ptr", &a->pointer[id]);
	km_event_format_free(format);
	return 0;
}

static void load_formats(struct amplify *a)
{
	struct km_error error = { 0 };
	size_t bytes;
	char *data;

	if (km_tracedat_load(a->file, &a->file->event_formats, &data, &bytes, &error))
		die(a->in, error.text);
	km_tracedat_each_format(a->file, false, data, bytes, note_format, a);
	free(data);
}

static uint64_t load_pointer(const uint8_t *at, unsigned size)
{
	return size == 4 ? km_load32(at, false) : km_load64(at, false);
}

static void scan_page(struct amplify *a, struct cpu *cpu, const uint8_t *data, size_t offset)
{
	const struct km_page_header *header = &a->file->page_header;
	struct km_ring_page page;
	const uint8_t *payload, *before;
	uint32_t bytes;

	if (!km_ring_page_begin(&page, data, a->page_bytes, header->commit_offset, header->commit_bytes,
				header->data_offset, false))
		die(a->in, "a damaged page");
	before = page.at;
	while (km_ring_page_next(&page, false, &payload, &bytes)) {
		struct km_field field = a->pointer[km_load16(payload, false)];

		if ((km_load32(before, false) & RING_HEAD_MASK) == RING_STAMP)
			die(a->in, "it has absolute times, which can not be shifted");
		before = page.at;
		if (!a->events_count || page.time < a->first_time)
			a->first_time = page.time;
		if (page.time > a->last_time)
			a->last_time = page.time;
		a->events_count++;
		/* NULL and ZERO_SIZE_PTR stay what they are. */
		if (!field.size || field.offset + field.size > bytes ||
		    load_pointer(payload + field.offset, field.size) <= 16)
			continue;
		if (field.size != 8)
			die(a->in, "only recordings of 64-bit kernels can be amplified");
		if (!(cpu->pointers_count & (cpu->pointers_count - 1)))
			cpu->pointers = grow(cpu->pointers, cpu->pointers_count * 2, sizeof(*cpu->pointers));
		cpu->pointers[cpu->pointers_count++] = offset + (size_t)(payload + field.offset - data);
	}
}

static void load_cpu(struct amplify *a, const struct km_tracedat_buffer *buffer, const struct km_tracedat_cpu *from,
		     struct cpu *cpu)
{
	struct km_tracedat_pages *pages = need(km_tracedat_pages_new(a->file, buffer, from, 1 << 20));
	struct km_error error = { 0 };
	const uint8_t *page;
	int r;

	cpu->number = from->cpu;
	while ((r = km_tracedat_pages_next(pages, &page, &error)) == KM_PAGES_PAGE) {
		if (!(cpu->pages_count & (cpu->pages_count - 1)))
			cpu->pages = grow(cpu->pages, cpu->pages_count * 2, a->page_bytes);
		memcpy(cpu->pages + cpu->pages_count * a->page_bytes, page, a->page_bytes);
		scan_page(a, cpu, page, cpu->pages_count++ * a->page_bytes);
	}
	if (r != KM_PAGES_END)
		die(a->in, error.code ? error.text : "a damaged chunk");
	km_tracedat_pages_free(pages);
}

static void load_buffer(struct amplify *a)
{
	const struct km_tracedat_buffer *buffer = &a->file->buffers[0];

	a->page_bytes = buffer->page_bytes;
	a->cpus_count = buffer->cpus_count;
	a->cpus = need(calloc(a->cpus_count ? a->cpus_count : 1, sizeof(*a->cpus)));
	for (size_t i = 0; i < a->cpus_count; i++)
		load_cpu(a, buffer, &buffer->cpus[i], &a->cpus[i]);
	if (!a->events_count)
		die(a->in, "no events in its top buffer");
}

static void decompress(struct amplify *a, uint64_t offset, uint8_t **ret_data, size_t *ret_bytes)
{
	uint32_t sizes[2]; /* compressed, plain */
	uint8_t *packed;

	read_at(a, offset, sizes, sizeof(sizes));
	packed = need(malloc(sizes[0] + 1));
	*ret_data = need(malloc(sizes[1] + 1));
	*ret_bytes = sizes[1];
	read_at(a, offset + sizeof(sizes), packed, sizes[0]);
	if (ZSTD_decompress(*ret_data, sizes[1], packed, sizes[0]) != sizes[1])
		die(a->in, "its options are not zstd");
	free(packed);
}

/* One OPTIONS section; returns the offset of the next, 0 if there is none. */
static uint64_t load_options(struct amplify *a, uint64_t offset)
{
	uint8_t head[SECTION_HEADER], *data;
	uint64_t next = 0;
	size_t bytes, at = 0;

	read_at(a, offset, head, sizeof(head));
	if (km_load16(head + 2, false) & 1) {
		decompress(a, offset + sizeof(head), &data, &bytes);
	} else {
		bytes = (size_t)km_load64(head + 8, false);
		data = need(malloc(bytes + 1));
		read_at(a, offset + sizeof(head), data, bytes);
	}
	while (at + OPTION_HEADER <= bytes) {
		struct file_option option = { km_load16(data + at, false), km_load32(data + at + 2, false), NULL };

		at += OPTION_HEADER;
		if (option.bytes > bytes - at)
			die(a->in, "an option is cut short");
		if (option.id == OPTION_DONE) {
			if (option.bytes >= 8)
				next = km_load64(data + at, false);
			break;
		}
		if (option.id != OPTION_BUFFER) {
			option.data = need(malloc(option.bytes + 1));
			memcpy(option.data, data + at, option.bytes);
			option.data[option.bytes] = '\0';
			a->options = grow(a->options, a->options_count + 1, sizeof(*a->options));
			a->options[a->options_count++] = option;
		}
		at += option.bytes;
	}
	free(data);
	return next;
}

/* --- writing --- */

static void put(struct amplify *a, const void *data, size_t bytes)
{
	if (bytes && fwrite(data, bytes, 1, a->to) != 1) {
		perror(a->out);
		exit(2);
	}
	a->at += bytes;
}

static void put16(struct amplify *a, uint16_t value)
{
	put(a, &value, sizeof(value));
}

static void put32(struct amplify *a, uint32_t value)
{
	put(a, &value, sizeof(value));
}

static void put64(struct amplify *a, uint64_t value)
{
	put(a, &value, sizeof(value));
}

static void put64_at(struct amplify *a, uint64_t offset, uint64_t value)
{
	if (fseeko(a->to, (off_t)offset, SEEK_SET) || fwrite(&value, sizeof(value), 1, a->to) != 1 ||
	    fseeko(a->to, (off_t)a->at, SEEK_SET)) {
		perror(a->out);
		exit(2);
	}
}

static void align(struct amplify *a, uint32_t to)
{
	static const uint8_t zeros[4096];

	while (a->at % to)
		put(a, zeros, to - a->at % to < sizeof(zeros) ? to - a->at % to : sizeof(zeros));
}

/* A section that an option points to, as it is. Returns where it is now. */
static uint64_t copy_section(struct amplify *a, uint64_t offset)
{
	uint8_t head[SECTION_HEADER], *data;
	uint64_t where = a->at;
	size_t bytes;

	read_at(a, offset, head, sizeof(head));
	bytes = (size_t)km_load64(head + 8, false);
	data = need(malloc(bytes + 1));
	read_at(a, offset + sizeof(head), data, bytes);
	put(a, head, sizeof(head));
	put(a, data, bytes);
	free(data);
	return where;
}

static void put_chunk(struct amplify *a, const uint8_t *pages, size_t bytes)
{
	size_t n;

	if (!a->compresses) {
		put(a, pages, bytes);
		return;
	}
	n = ZSTD_compressCCtx(a->zstd, a->packed, a->packed_bytes, pages, bytes, 3);
	if (ZSTD_isError(n))
		die(a->out, "zstd failed");
	put32(a, (uint32_t)n);
	put32(a, (uint32_t)bytes);
	put(a, a->packed, n);
}

/* Moves a CPU's pages in time and in the address space. Both wrap, so that it can be taken back. */
static void shift(const struct amplify *a, struct cpu *cpu, uint64_t time, uint64_t address)
{
	for (size_t i = 0; i < cpu->pages_count && time; i++) {
		uint8_t *page = cpu->pages + i * a->page_bytes;
		uint64_t value = km_load64(page, false) + time;

		memcpy(page, &value, sizeof(value));
	}
	for (size_t i = 0; i < cpu->pointers_count && address; i++) {
		uint8_t *pointer = cpu->pages + cpu->pointers[i];
		uint64_t value = km_load64(pointer, false) + address;

		memcpy(pointer, &value, sizeof(value));
	}
}

static void put_cpu(struct amplify *a, struct cpu *cpu, unsigned group)
{
	uint64_t span = a->last_time - a->first_time + 1000, per_copy = a->own_addresses ? ADDRESS_STRIDE : 0;
	uint64_t base = ADDRESS_STRIDE * group * (a->own_addresses ? a->copies : 1);
	size_t chunks = (cpu->pages_count + CHUNK_PAGES - 1) / CHUNK_PAGES;

	if (a->compresses)
		put32(a, (uint32_t)(chunks * a->copies));
	shift(a, cpu, group * TIME_STRIDE, base);
	for (unsigned copy = 0; copy < a->copies; copy++) {
		for (size_t i = 0; i < cpu->pages_count; i += CHUNK_PAGES) {
			size_t left = cpu->pages_count - i;

			put_chunk(a, cpu->pages + i * a->page_bytes,
				  (left < CHUNK_PAGES ? left : CHUNK_PAGES) * a->page_bytes);
		}
		shift(a, cpu, span, per_copy);
	}
	shift(a, cpu, -(span * a->copies + group * TIME_STRIDE), -(base + per_copy * a->copies));
}

/* Returns the offset of the buffer's section; where[] gets offset and size of each CPU. */
static uint64_t put_buffer(struct amplify *a, uint64_t (*where)[2])
{
	uint64_t section;

	align(a, a->page_bytes);
	section = a->at;
	put16(a, OPTION_BUFFER);
	put16(a, a->compresses);
	put32(a, 0);
	put64(a, 0);
	for (unsigned group = 0; group < a->groups; group++) {
		for (size_t i = 0; i < a->cpus_count; i++, where++) {
			align(a, a->page_bytes);
			(*where)[0] = a->at;
			if (a->cpus[i].pages_count)
				put_cpu(a, &a->cpus[i], group);
			(*where)[1] = a->at - (*where)[0];
		}
	}
	put64_at(a, section + 8, a->at - section - SECTION_HEADER);
	return section;
}

static unsigned cpu_number(const struct amplify *a, unsigned group, size_t i)
{
	return (unsigned)(group * a->cpus_count) + a->cpus[i].number;
}

static void put_option(struct amplify *a, uint16_t id, const void *data, uint32_t bytes)
{
	put16(a, id);
	put32(a, bytes);
	put(a, data, bytes);
}

/* The statistics of a CPU begin with its number. */
static void put_stats(struct amplify *a, const struct file_option *option)
{
	const char *text = (const char *)option->data, *rest = strchr(text, '\n');
	unsigned cpu;

	if (!rest || sscanf(text, "CPU: %u", &cpu) != 1)
		return;
	for (unsigned group = 0; group < a->groups; group++) {
		char *copy;
		int n = asprintf(&copy, "CPU: %u%s", (unsigned)(group * a->cpus_count) + cpu, rest);

		if (n < 0)
			die("memory", "out of it");
		put_option(a, OPTION_CPUSTAT, copy, (uint32_t)n + 1);
		free(copy);
	}
}

static void put_buffer_option(struct amplify *a, uint64_t section, uint64_t (*where)[2])
{
	const struct km_tracedat_buffer *buffer = &a->file->buffers[0];
	size_t name_bytes = strlen(buffer->name) + 1, clock_bytes = strlen(buffer->clock) + 1;
	size_t count = a->cpus_count * a->groups;

	put16(a, OPTION_BUFFER);
	put32(a, (uint32_t)(8 + name_bytes + clock_bytes + 8 + count * 20));
	put64(a, section);
	put(a, buffer->name, name_bytes);
	put(a, buffer->clock, clock_bytes);
	put32(a, a->page_bytes);
	put32(a, (uint32_t)count);
	for (unsigned group = 0; group < a->groups; group++) {
		for (size_t i = 0; i < a->cpus_count; i++, where++) {
			put32(a, cpu_number(a, group, i));
			put64(a, (*where)[0]);
			put64(a, (*where)[1]);
		}
	}
}

static void put_options(struct amplify *a, uint64_t buffer, uint64_t (*where)[2])
{
	uint32_t cpus = (uint32_t)(a->cpus_count * a->groups);
	uint64_t section = a->at, none = 0;

	put16(a, 0);
	put16(a, 0);
	put32(a, 0);
	put64(a, 0);
	for (size_t i = 0; i < a->options_count; i++) {
		const struct file_option *option = &a->options[i];

		if (option->id == OPTION_CPUCOUNT)
			put_option(a, OPTION_CPUCOUNT, &cpus, sizeof(cpus));
		else if (option->id == OPTION_CPUSTAT)
			put_stats(a, option);
		else
			put_option(a, option->id, option->data, option->bytes);
	}
	put_buffer_option(a, buffer, where);
	put_option(a, OPTION_DONE, &none, sizeof(none));
	put64_at(a, section + 8, a->at - section - SECTION_HEADER);
}

/* The first bytes of the file: magic, version, byte order, long, page size, compression, where the options are. */
static uint64_t put_head(struct amplify *a)
{
	static const char none[] = "none\0";
	uint8_t head[64];
	size_t at = 3 + strlen("tracing") + strlen("7") + 1 + 1 + 1 + 4;
	uint64_t where;

	read_at(a, 0, head, sizeof(head));
	put(a, head, at);
	if (a->compresses)
		put(a, head + at, strlen((char *)head + at) + 1 + strlen((char *)head + at + 5) + 1);
	else
		put(a, none, sizeof(none));
	where = a->at;
	put64(a, 0);
	return where;
}

static uint64_t first_options(struct amplify *a)
{
	uint8_t head[64];
	size_t at = 3 + strlen("tracing") + strlen("7") + 1 + 1 + 1 + 4;

	read_at(a, 0, head, sizeof(head));
	head[sizeof(head) - 1] = '\0';
	at += strlen((char *)head + at) + 1;
	at += strlen((char *)head + at) + 1;
	return km_load64(head + at, false);
}

static void run(struct amplify *a)
{
	struct km_error error = { 0 };
	uint64_t(*where)[2], options_at, buffer, options;
	uint64_t next;

	if (km_source_open_file(a->in, &a->source, &error) || km_tracedat_open(a->source, &a->file, &error))
		die(a->in, error.text);
	if (a->file->version != 7 || a->file->big_endian || a->file->compression != KM_COMPRESSION_ZSTD)
		die(a->in, "only version 7 of this byte order, compressed with zstd, can be amplified");
	if (!a->file->buffers_count)
		die(a->in, "no buffer in it");
	load_formats(a);
	load_buffer(a);
	for (next = first_options(a); next;)
		next = load_options(a, next);

	a->to = fopen(a->out, "we");
	if (!a->to) {
		perror(a->out);
		exit(2);
	}
	setvbuf(a->to, NULL, _IOFBF, 1 << 20);
	a->zstd = need(ZSTD_createCCtx());
	a->packed_bytes = ZSTD_compressBound((size_t)CHUNK_PAGES * a->page_bytes);
	a->packed = need(malloc(a->packed_bytes));
	where = need(calloc(a->cpus_count * a->groups, sizeof(*where)));
	options_at = put_head(a);
	for (size_t i = 0; i < a->options_count; i++) {
		struct file_option *option = &a->options[i];

		if (option->id >= OPTION_HEADER_INFO && option->id <= OPTION_CMDLINES && option->bytes >= 8) {
			uint64_t offset = copy_section(a, km_load64(option->data, false));

			memcpy(option->data, &offset, sizeof(offset));
		}
	}
	buffer = put_buffer(a, where);
	options = a->at;
	put_options(a, buffer, where);
	put64_at(a, options_at, options);
	if (fclose(a->to)) {
		perror(a->out);
		exit(2);
	}
	printf("%s: %" PRIu64 " events of %zu CPUs\n", a->out, a->events_count * a->copies * a->groups,
	       a->cpus_count * a->groups);
	free(where);
}

static unsigned number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || end == text || !value || value > 100000)
		die(text, "not a number of copies");
	return (unsigned)value;
}

int main(int argc, char **argv)
{
	static struct amplify a = { .copies = 10, .groups = 1, .compresses = true };
	int c;

	while ((c = getopt(argc, argv, "n:c:sz:")) != -1) {
		switch (c) {
		case 'n':
			a.copies = number(optarg);
			break;
		case 'c':
			a.groups = number(optarg);
			break;
		case 's':
			a.own_addresses = true;
			break;
		case 'z':
			if (strcmp(optarg, "none") && strcmp(optarg, "zstd"))
				die(optarg, "not none or zstd");
			a.compresses = !strcmp(optarg, "zstd");
			break;
		default:
			optind = argc + 1;
		}
	}
	if (argc - optind != 2) {
		fputs("usage: kmstat_amplify [-n COPIES] [-c GROUPS] [-s] [-z none|zstd] IN.dat OUT.dat\n", stderr);
		return 2;
	}
	a.in = argv[optind];
	a.out = argv[optind + 1];
	run(&a);
	return 0;
}
