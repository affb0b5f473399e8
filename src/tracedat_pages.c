/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU's pages. Not compressed: the pages stand one behind the other.
 * Compressed (man trace-cmd.dat.v7, "Compression format of the trace data"):
 * u32 number of chunks, then for each chunk u32 compressed bytes, u32 plain
 * bytes, data; the plain bytes are whole pages. trace-cmd before 3.3 leaves
 * the number's own 4 bytes out of the size that it notes, so a CPU's data may
 * end that much later.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "tracedat.h"

#define CHUNKS_COUNT_BYTES 4U

struct km_tracedat_pages {
	struct km_tracedat *file;
	bool is_compressed;
	uint64_t start, end;   /* of this CPU's data in the file */
	uint64_t next;         /* what to read next */
	uint64_t block_offset; /* where the pages in hand came from */
	uint64_t chunks_left;
	uint32_t page_bytes;
	uint8_t *packed; /* a compressed chunk */
	size_t packed_room;
	uint8_t *plain; /* pages in hand: [at, plain_bytes) */
	size_t plain_room;
	size_t plain_bytes;
	size_t at;
	bool started, finished, is_cut;
};

struct km_tracedat_pages *km_tracedat_pages_new(struct km_tracedat *file, const struct km_tracedat_buffer *buffer,
						const struct km_tracedat_cpu *cpu, size_t buffer_bytes)
{
	struct km_tracedat_pages *pages = calloc(1, sizeof(*pages));
	uint64_t file_bytes = km_source_bytes(file->source);
	uint64_t left;

	if (!pages)
		return NULL;
	pages->file = file;
	pages->page_bytes = buffer->page_bytes;
	pages->start = cpu->offset < file_bytes ? cpu->offset : file_bytes;
	pages->end = cpu->bytes < file_bytes - pages->start ? pages->start + cpu->bytes : file_bytes;
	pages->is_cut = cpu->offset > file_bytes || cpu->bytes > file_bytes - cpu->offset;
	pages->next = pages->start;
	left = file_bytes - pages->end;
	if (file->compression != KM_COMPRESSION_NONE) {
		if (cpu->bytes)
			pages->end += left < CHUNKS_COUNT_BYTES ? left : CHUNKS_COUNT_BYTES;
		pages->is_compressed = true;
	} else {
		/* No more than there is: a page's size and the number of CPUs are only what the file says. */
		if (buffer_bytes > pages->end - pages->start)
			buffer_bytes = (size_t)(pages->end - pages->start);
		pages->plain_room = buffer_bytes / pages->page_bytes * pages->page_bytes;
		if (!pages->plain_room && pages->end - pages->start >= pages->page_bytes)
			pages->plain_room = pages->page_bytes;
		pages->plain = malloc(pages->plain_room ? pages->plain_room : 1);
		if (!pages->plain)
			goto fail;
	}
	return pages;
fail:
	km_tracedat_pages_free(pages);
	return NULL;
}

void km_tracedat_pages_free(struct km_tracedat_pages *pages)
{
	if (!pages)
		return;
	free(pages->packed);
	free(pages->plain);
	free(pages);
}

uint64_t km_tracedat_pages_offset(const struct km_tracedat_pages *pages)
{
	return pages->block_offset;
}

static int grow(uint8_t **buffer, size_t *room, size_t bytes, struct km_error *error)
{
	uint8_t *larger;

	if (bytes <= *room)
		return 0;
	larger = realloc(*buffer, bytes);
	if (!larger)
		return km_error_set(error, -ENOMEM, "out of memory for a block of %zu bytes", bytes);
	*buffer = larger;
	*room = bytes;
	return 0;
}

/* The data end too early: 1 if that has still to be told, else 0. */
static int cut(struct km_tracedat_pages *pages)
{
	pages->finished = true;
	return KM_PAGES_CUT;
}

/* Read and check a chunk's two sizes at pages->next. 1, 0 if they can not be right, negative errno. */
static int read_chunk_header(struct km_tracedat_pages *pages, uint32_t *ret_packed, uint32_t *ret_plain,
			     struct km_error *error)
{
	uint8_t raw[8];
	int64_t n;

	if (pages->end - pages->next < sizeof(raw))
		return 0;
	n = km_source_read_at(pages->file->source, pages->next, raw, sizeof(raw), error);
	if (n < 0)
		return (int)n;
	if (n < (int64_t)sizeof(raw))
		return 0;
	*ret_packed = km_load32(raw, pages->file->big_endian);
	*ret_plain = km_load32(raw + 4, pages->file->big_endian);
	if (*ret_packed > pages->end - pages->next - sizeof(raw) || *ret_packed > KM_TRACEDAT_CHUNK_LIMIT)
		return 0;
	return 1;
}

/* Position on the first chunk. 1, 0 if there is none, negative errno. */
static int start_chunks(struct km_tracedat_pages *pages, struct km_error *error)
{
	uint8_t raw[CHUNKS_COUNT_BYTES];
	int64_t n;

	pages->started = true;
	pages->next = pages->start;
	if (pages->end - pages->start < sizeof(raw))
		return 0;
	n = km_source_read_at(pages->file->source, pages->start, raw, sizeof(raw), error);
	if (n < (int64_t)sizeof(raw))
		return n < 0 ? (int)n : 0;
	pages->chunks_left = km_load32(raw, pages->file->big_endian);
	pages->next = pages->start + sizeof(raw);
	return 1;
}

static int next_chunk(struct km_tracedat_pages *pages, struct km_error *error)
{
	uint32_t packed = 0, plain = 0;
	int64_t n;
	int r;

	if (!pages->started) {
		r = start_chunks(pages, error);
		if (r < 0)
			return r;
		if (!r && (pages->end > pages->start || pages->is_cut))
			return cut(pages);
	}
	if (!pages->chunks_left) {
		pages->finished = true;
		return pages->is_cut ? KM_PAGES_CUT : KM_PAGES_END;
	}
	r = read_chunk_header(pages, &packed, &plain, error);
	if (r <= 0)
		return r < 0 ? r : cut(pages);
	pages->chunks_left--;
	pages->block_offset = pages->next;
	pages->next += 8;
	r = grow(&pages->packed, &pages->packed_room, packed, error);
	if (r < 0)
		return r;
	n = km_source_read_at(pages->file->source, pages->next, pages->packed, packed, error);
	if (n < 0)
		return (int)n;
	if (n < packed)
		return cut(pages);
	pages->next += packed;
	if (!plain || plain > KM_TRACEDAT_CHUNK_LIMIT || plain % pages->page_bytes)
		return KM_PAGES_DAMAGED;
	r = grow(&pages->plain, &pages->plain_room, plain, error);
	if (r < 0)
		return r;
	r = km_decompress(pages->file->decompressor, pages->packed, packed, pages->plain, plain);
	if (r == -ENOMEM)
		return km_error_set(error, r, "out of memory");
	if (r < 0)
		return KM_PAGES_DAMAGED;
	pages->plain_bytes = plain;
	return KM_PAGES_PAGE;
}

static int next_plain(struct km_tracedat_pages *pages, struct km_error *error)
{
	uint64_t left = pages->end - pages->next;
	size_t want = left < pages->plain_room ? (size_t)left : pages->plain_room;
	int64_t n;

	if (left < pages->page_bytes) {
		pages->finished = true;
		return left || pages->is_cut ? KM_PAGES_CUT : KM_PAGES_END;
	}
	want -= want % pages->page_bytes;
	n = km_source_read_at(pages->file->source, pages->next, pages->plain, want, error);
	if (n < 0)
		return (int)n;
	pages->block_offset = pages->next;
	pages->plain_bytes = (size_t)n - (size_t)n % pages->page_bytes;
	pages->next += pages->plain_bytes;
	return pages->plain_bytes ? KM_PAGES_PAGE : cut(pages);
}

const uint8_t *km_tracedat_pages_peek(const struct km_tracedat_pages *pages)
{
	return pages->at < pages->plain_bytes ? pages->plain + pages->at : NULL;
}

int km_tracedat_pages_next(struct km_tracedat_pages *pages, const uint8_t **ret_page, struct km_error *error)
{
	if (pages->at == pages->plain_bytes) {
		int r;

		if (pages->finished)
			return KM_PAGES_END;
		pages->at = pages->plain_bytes = 0;
		r = pages->is_compressed ? next_chunk(pages, error) : next_plain(pages, error);
		if (r != KM_PAGES_PAGE)
			return r;
	}
	*ret_page = pages->plain + pages->at;
	pages->at += pages->page_bytes;
	return KM_PAGES_PAGE;
}

int km_tracedat_pages_seek_tail(struct km_tracedat_pages *pages, uint64_t blocks, struct km_error *error)
{
	uint64_t skip;
	int r;

	pages->at = pages->plain_bytes = 0;
	pages->finished = false;
	if (!pages->is_compressed) {
		uint64_t total = (pages->end - pages->start) / pages->page_bytes;

		skip = total > blocks ? total - blocks : 0;
		pages->next = pages->start + skip * pages->page_bytes;
		return skip > 0;
	}
	r = start_chunks(pages, error);
	if (r <= 0)
		return r;
	skip = pages->chunks_left > blocks ? pages->chunks_left - blocks : 0;
	for (uint64_t i = 0; i < skip; i++) {
		uint32_t packed = 0, plain = 0;

		r = read_chunk_header(pages, &packed, &plain, error);
		if (r <= 0)
			return r < 0 ? r : 1; /* the walk itself will meet the same place */
		pages->next += 8 + (uint64_t)packed;
		pages->chunks_left--;
	}
	return skip > 0;
}
