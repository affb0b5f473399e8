/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmstat_floor FILE: the least that any reader of a version 7 trace.dat has to do. Walks the data of every CPU of
 * every buffer, decompresses each chunk on one core (or reads the bytes of an uncompressed file), touches each cache
 * line once and prints how much there was. bench.py divides by its time.
 *
 * kmstat_floor --count FILE also counts the events in the ring buffer pages, which takes longer and is not the floor.
 *
 * The layout is that of trace-cmd.dat.v7(5); the pages are those of the kernel's include/linux/ring_buffer.h. It
 * shares no code with the readers it is a measure for, and reads only files of the byte order of the machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define MAX_BLOCK      (64u << 20) /* of what one chunk or section may hold */
#define READ_BLOCK     (1u << 20)  /* an uncompressed file is read by so much */
#define MAX_SECTIONS   1024
#define SECTION_HEADER 16
#define OPTION_DONE    0
#define OPTION_BUFFER  3
#define CACHE_LINE     64

enum codec { CODEC_NONE, CODEC_ZLIB, CODEC_ZSTD };

struct block {
	unsigned char *data;
	size_t size;
};

struct walk {
	int fd;
	uint64_t file_size;
	enum codec codec;
	unsigned long_size;
	bool count;
	ZSTD_DCtx *zstd;
	struct block packed;
	struct block plain;
	/* what is found */
	uint64_t chunks;
	uint64_t bytes;
	uint64_t sum;
	uint64_t events;
};

/* Bytes of the file that are taken one after the other. */
struct span {
	const unsigned char *at;
	size_t left;
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "kmstat_floor: %s\n", what);
	exit(2);
}

static bool take(struct span *span, void *ret, size_t size)
{
	if (span->left < size)
		return false;
	memcpy(ret, span->at, size);
	span->at += size;
	span->left -= size;
	return true;
}

static bool take_string(struct span *span, const char **ret_string)
{
	const unsigned char *end = memchr(span->at, '\0', span->left);

	if (!end)
		return false;
	*ret_string = (const char *)span->at;
	span->left -= (size_t)(end + 1 - span->at);
	span->at = end + 1;
	return true;
}

static void block_reserve(struct block *block, size_t size)
{
	unsigned char *data;

	if (size > MAX_BLOCK)
		die("a chunk or section is larger than 64 MiB");
	if (size <= block->size)
		return;
	data = realloc(block->data, size);
	if (!data)
		die("out of memory");
	block->data = data;
	block->size = size;
}

static void read_at(const struct walk *walk, uint64_t offset, void *ret, size_t size)
{
	unsigned char *to = ret;

	if (offset > walk->file_size || size > walk->file_size - offset)
		die("the file is cut short");
	while (size) {
		ssize_t got = pread(walk->fd, to, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			die("the file cannot be read");
		to += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
}

/* Reads and decompresses what follows two sizes at offset into walk->plain; returns the offset behind it. */
static uint64_t read_packed(struct walk *walk, uint64_t offset, uint32_t *ret_size)
{
	uint32_t sizes[2]; /* compressed, uncompressed */
	size_t size;

	read_at(walk, offset, sizes, sizeof(sizes));
	offset += sizeof(sizes);
	block_reserve(&walk->packed, sizes[0]);
	block_reserve(&walk->plain, sizes[1]);
	read_at(walk, offset, walk->packed.data, sizes[0]);
	if (walk->codec == CODEC_ZSTD) {
		size = ZSTD_decompressDCtx(walk->zstd, walk->plain.data, sizes[1], walk->packed.data, sizes[0]);
		if (ZSTD_isError(size))
			die("a chunk is not valid zstd");
	} else if (walk->codec == CODEC_ZLIB) {
		uLongf room = sizes[1];

		if (uncompress(walk->plain.data, &room, walk->packed.data, sizes[0]) != Z_OK)
			die("a chunk is not valid zlib");
		size = room;
	} else {
		die("a section is compressed, but the file says that none is");
	}
	if (size != sizes[1])
		die("a chunk has not the size that it says");
	*ret_size = sizes[1];
	return offset + sizes[0];
}

static void count_page(struct walk *walk, const unsigned char *page, size_t size)
{
	struct span data;
	uint64_t commit;

	if (size < 16)
		return;
	memcpy(&commit, page + 8, sizeof(commit));
	commit &= (1u << 20) - 1; /* the bits above it are flags */
	data.at = page + 16;
	data.left = commit < size - 16 ? commit : size - 16;

	for (;;) {
		uint32_t head, length = 0;
		unsigned type;

		if (!take(&data, &head, sizeof(head)))
			return;
		type = head & 31;
		if (type >= 1 && type <= 28) {
			length = type * 4;
		} else if (type == 30 || type == 31) {
			length = 4; /* time extend and time stamp: no events */
		} else {
			/* The length counts its own four bytes; padding without a time ends the page. */
			if ((type == 29 && !(head >> 5)) || !take(&data, &length, sizeof(length)) || length < 4)
				return;
			length = (length - 4 + 3) & ~3u;
		}
		walk->events += type <= 28;
		if (length > data.left)
			return;
		data.at += length;
		data.left -= length;
	}
}

static void touch(struct walk *walk, const unsigned char *data, size_t size, uint32_t page_size)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < size; i += CACHE_LINE)
		sum += data[i];
	walk->sum += sum;
	walk->bytes += size;
	walk->chunks++;
	for (size_t i = 0; walk->count && i < size; i += page_size)
		count_page(walk, data + i, size - i < page_size ? size - i : page_size);
}

static void walk_cpu(struct walk *walk, uint64_t offset, uint64_t size, uint32_t page_size)
{
	uint32_t chunks;

	if (!size)
		return;
	if (walk->codec == CODEC_NONE) {
		/* Whole pages at a time, so that --count sees none in two parts. */
		uint64_t step = page_size < READ_BLOCK ? READ_BLOCK / page_size * page_size : page_size;

		block_reserve(&walk->plain, step);
		for (uint64_t done = 0; done < size; done += step) {
			size_t part = size - done < step ? size - done : step;

			read_at(walk, offset + done, walk->plain.data, part);
			touch(walk, walk->plain.data, part, page_size);
		}
		return;
	}
	read_at(walk, offset, &chunks, sizeof(chunks));
	offset += sizeof(chunks);
	for (uint32_t i = 0; i < chunks; i++) {
		uint32_t plain_size;

		offset = read_packed(walk, offset, &plain_size);
		touch(walk, walk->plain.data, plain_size, page_size);
	}
}

/* The value of a BUFFER option, which says where the data of each CPU is. */
static void walk_buffer(struct walk *walk, struct span option)
{
	const char *name, *clock;
	uint64_t section;
	uint32_t page_size, cpus;

	if (!take(&option, &section, sizeof(section)) || !take_string(&option, &name) ||
	    !take_string(&option, &clock) || !take(&option, &page_size, sizeof(page_size)) ||
	    !take(&option, &cpus, sizeof(cpus)))
		die("a BUFFER option is cut short");
	if (!page_size || page_size > MAX_BLOCK)
		die("a buffer has a page size that cannot be");
	for (uint32_t i = 0; i < cpus; i++) {
		uint32_t cpu;
		uint64_t offset, size;

		if (!take(&option, &cpu, sizeof(cpu)) || !take(&option, &offset, sizeof(offset)) ||
		    !take(&option, &size, sizeof(size)))
			die("a BUFFER option is cut short");
		walk_cpu(walk, offset, size, page_size);
	}
}

/* Walks one OPTIONS section; returns the offset of the next, 0 if there is none. */
static uint64_t walk_options(struct walk *walk, uint64_t offset)
{
	struct block section = { 0 };
	struct span options;
	uint64_t size, next = 0;
	uint16_t head[2]; /* id, flags */

	read_at(walk, offset, head, sizeof(head));
	read_at(walk, offset + 8, &size, sizeof(size));
	if (head[0] != 0)
		die("there is no OPTIONS section where one should be");
	if (head[1] & 1) {
		uint32_t plain_size;

		read_packed(walk, offset + SECTION_HEADER, &plain_size);
		size = plain_size;
		block_reserve(&section, size);
		memcpy(section.data, walk->plain.data, size); /* walk->plain is wanted for the chunks */
	} else {
		block_reserve(&section, size);
		read_at(walk, offset + SECTION_HEADER, section.data, size);
	}

	options = (struct span){ section.data, size };
	for (;;) {
		uint16_t id;
		uint32_t option_size;

		if (!take(&options, &id, sizeof(id)) || !take(&options, &option_size, sizeof(option_size)) ||
		    option_size > options.left)
			break;
		if (id == OPTION_BUFFER)
			walk_buffer(walk, (struct span){ options.at, option_size });
		if (id == OPTION_DONE) {
			if (option_size >= sizeof(next))
				memcpy(&next, options.at, sizeof(next));
			break;
		}
		options.at += option_size;
		options.left -= option_size;
	}
	free(section.data);
	return next;
}

static uint64_t read_header(struct walk *walk)
{
	static const unsigned char magic[10] = "\x17\x08\x44tracing";
	unsigned char bytes[256];
	size_t size = walk->file_size < sizeof(bytes) ? (size_t)walk->file_size : sizeof(bytes);
	struct span head = { bytes, size };
	const char *version, *codec, *codec_version;
	unsigned char start[sizeof(magic)], layout[2]; /* byte order, size of long */
	uint32_t page_size;
	uint64_t options;

	read_at(walk, 0, bytes, size);
	if (!take(&head, start, sizeof(start)) || memcmp(start, magic, sizeof(magic)) != 0)
		die("this is no trace.dat");
	if (!take_string(&head, &version) || strcmp(version, "7") != 0)
		die("only version 7 of trace.dat is known here");
	if (!take(&head, layout, sizeof(layout)) || layout[0] != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		die("the file has another byte order than this machine");
	if (!take(&head, &page_size, sizeof(page_size)) || !take_string(&head, &codec) ||
	    !take_string(&head, &codec_version) || !take(&head, &options, sizeof(options)))
		die("the header is cut short");
	walk->long_size = layout[1];
	if (strcmp(codec, "zstd") == 0)
		walk->codec = CODEC_ZSTD;
	else if (strcmp(codec, "zlib") == 0)
		walk->codec = CODEC_ZLIB;
	else if (strcmp(codec, "none") == 0)
		walk->codec = CODEC_NONE;
	else
		die("the file is compressed by something else than zstd or zlib");
	return options;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "none", "zlib", "zstd" };
	struct walk walk = { .count = argc == 3 && strcmp(argv[1], "--count") == 0 };
	struct stat status;
	uint64_t offset;
	unsigned sections = 0;

	if (argc != 2 + walk.count)
		die("usage: kmstat_floor [--count] FILE");
	walk.fd = open(argv[argc - 1], O_RDONLY | O_CLOEXEC);
	if (walk.fd < 0 || fstat(walk.fd, &status) < 0)
		die("the file cannot be opened");
	walk.file_size = (uint64_t)status.st_size;
	walk.zstd = ZSTD_createDCtx();
	if (!walk.zstd)
		die("out of memory");

	offset = read_header(&walk);
	if (walk.count && (walk.long_size != 8 || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		die("--count knows little-endian 64-bit pages only");
	while (offset) {
		if (++sections > MAX_SECTIONS)
			die("the OPTIONS sections have no end");
		offset = walk_options(&walk, offset);
	}

	printf("codec %s\nchunks %" PRIu64 "\nbytes %" PRIu64 "\nsum %" PRIu64 "\n", names[walk.codec], walk.chunks,
	       walk.bytes, walk.sum);
	if (walk.count)
		printf("events %" PRIu64 "\n", walk.events);
	ZSTD_freeDCtx(walk.zstd);
	free(walk.packed.data);
	free(walk.plain.data);
	close(walk.fd);
	return 0;
}
