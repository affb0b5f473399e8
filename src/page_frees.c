/* SPDX-License-Identifier: GPL-2.0-only */
#include "page_frees.h"

#include <stdlib.h>
#include <string.h>

#define WAYS        4
#define SETS_BITS   17 /* with WAYS and 16 bytes each: 8 MiB, as far as they are used */
#define ORDERS      16
#define CANDIDATES  8
#define PAGES_KEPT  (4 * KM_PAGE_FREES_VOTES) /* different ones that a candidate remembers */
#define BASE_ALIGN  (UINT64_C(1) << 29)
#define FRAME_LIMIT (UINT64_C(1) << 52)

/* Of a CPU: its last event, if it was an allocation of pages. */
struct found_pages {
	uint64_t frame;
	int32_t pid;
	uint8_t order;
	bool is_last;
};

struct candidate {
	uint64_t base;
	unsigned shift;
	unsigned votes; /* different pages, 0: a free slot */
	uint64_t frames[PAGES_KEPT];
};

struct freed_block {
	uint64_t key; /* of frame and order, 0: none */
	uint64_t time;
};

struct km_page_frees {
	unsigned cpu_limit;
	uint64_t window;
	struct found_pages *found; /* of each CPU */
	struct candidate candidates[CANDIDATES];
	struct freed_block *blocks; /* sets of WAYS */
	uint32_t orders;            /* bits: of the blocks that were freed */
};

/* 4, 16 and 64 KiB: what kernels are built with. */
static const unsigned page_shifts[] = { 12, 14, 16 };

struct km_page_frees *km_page_frees_new(unsigned cpu_limit, uint64_t window)
{
	struct km_page_frees *frees = calloc(1, sizeof(*frees));

	if (!frees)
		return NULL;
	frees->cpu_limit = cpu_limit ? cpu_limit : 1;
	frees->window = window;
	frees->found = calloc(frees->cpu_limit, sizeof(*frees->found));
	frees->blocks = calloc((size_t)WAYS << SETS_BITS, sizeof(*frees->blocks));
	if (frees->found && frees->blocks)
		return frees;
	km_page_frees_free(frees);
	return NULL;
}

void km_page_frees_free(struct km_page_frees *frees)
{
	if (!frees)
		return;
	free(frees->found);
	free(frees->blocks);
	free(frees);
}

/* --- the base --- */

static void vote(struct km_page_frees *frees, uint64_t base, unsigned shift, uint64_t frame)
{
	struct candidate *least = &frees->candidates[0];

	for (unsigned i = 0; i < CANDIDATES; i++) {
		struct candidate *c = &frees->candidates[i];

		if (c->votes < least->votes)
			least = c;
		if (!c->votes || c->base != base || c->shift != shift)
			continue;
		for (unsigned k = 0; k < c->votes; k++) {
			if (c->frames[k] == frame)
				return;
		}
		if (c->votes < PAGES_KEPT)
			c->frames[c->votes++] = frame;
		return;
	}
	/* A coincidence does not put out what several pages agree on. */
	if (least->votes <= 1)
		*least = (struct candidate){ .base = base, .shift = shift, .votes = 1, .frames = { frame } };
}

static void look_at(struct km_page_frees *frees, const struct found_pages *found, const struct km_event *e)
{
	for (unsigned i = 0; i < sizeof(page_shifts) / sizeof(page_shifts[0]); i++) {
		unsigned shift = page_shifts[i];
		uint64_t block = UINT64_C(1) << (shift + found->order);
		uint64_t base = (e->ptr & ~(block - 1)) - (found->frame << shift);

		if (e->bytes_alloc <= block && !(base & (BASE_ALIGN - 1)))
			vote(frees, base, shift, found->frame);
	}
}

static const struct candidate *find_base(const struct km_page_frees *frees)
{
	const struct candidate *best = &frees->candidates[0];
	unsigned second = 0;

	for (unsigned i = 1; i < CANDIDATES; i++) {
		const struct candidate *c = &frees->candidates[i];

		if (c->votes > best->votes) {
			second = best->votes;
			best = c;
		} else if (c->votes > second) {
			second = c->votes;
		}
	}
	return best->votes >= KM_PAGE_FREES_VOTES && second * 4 <= best->votes ? best : NULL;
}

bool km_page_frees_base(const struct km_page_frees *frees, uint64_t *ret_base, unsigned *ret_page_shift)
{
	const struct candidate *best = find_base(frees);

	if (best && ret_base)
		*ret_base = best->base;
	if (best && ret_page_shift)
		*ret_page_shift = best->shift;
	return best != NULL;
}

/* --- freed blocks --- */

static uint64_t key_of(uint64_t frame, unsigned order)
{
	return (frame * ORDERS + order) + 1;
}

static struct freed_block *set_of(const struct km_page_frees *frees, uint64_t key)
{
	return &frees->blocks[(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SETS_BITS)) * WAYS];
}

static void note_free(struct km_page_frees *frees, const struct km_event *e)
{
	uint64_t key = key_of(e->ptr, e->order);
	struct freed_block *set = set_of(frees, key), *place = &set[0];

	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].key == key) {
			place = &set[i];
			break;
		}
		if (!set[i].key || (place->key && set[i].time < place->time))
			place = &set[i];
	}
	*place = (struct freed_block){ .key = key, .time = e->time };
	frees->orders |= UINT32_C(1) << e->order;
}

void km_page_frees_account(struct km_page_frees *frees, const struct km_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct km_event *e = &events[i];
		struct found_pages *found = &frees->found[e->cpu];
		bool is_usable = e->ptr < FRAME_LIMIT && e->order < ORDERS;

		if (e->kind == KM_EVENT_PAGE_ALLOC) {
			*found = (struct found_pages){
				.frame = e->ptr, .pid = e->pid, .order = e->order, .is_last = is_usable
			};
			continue;
		}
		if (e->kind == KM_EVENT_PAGE_FREE && is_usable)
			note_free(frees, e);
		if (!found->is_last)
			continue;
		found->is_last = false;
		if (km_event_is_alloc(e) && e->ptr && e->pid == found->pid)
			look_at(frees, found, e);
	}
}

bool km_page_frees_since(const struct km_page_frees *frees, uint64_t ptr, uint64_t time)
{
	const struct candidate *map = find_base(frees);
	uint64_t frame;

	if (!map || ptr < map->base)
		return false;
	frame = (ptr - map->base) >> map->shift;
	/* Blocks are aligned to their size. */
	for (unsigned order = 0; order < ORDERS; order++) {
		uint64_t key = key_of(frame >> order << order, order);
		const struct freed_block *set = set_of(frees, key);

		if (!(frees->orders & UINT32_C(1) << order))
			continue;
		for (unsigned i = 0; i < WAYS; i++) {
			if (set[i].key == key && set[i].time > time && set[i].time - time > frees->window)
				return true;
		}
	}
	return false;
}
