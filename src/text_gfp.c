/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bits are given in the order in which names are met, but the table is kept
 * in the order in which the texts have them, which is the kernel's: it is
 * not known beforehand and differs between versions.
 */
#include "text_gfp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BITS      KM_TEXT_GFP_BITS
#define LAST_NAME "(more)" /* what finds no bit any more */

int km_text_gfp_init(struct km_text_gfp *gfp, struct km_gfp *table)
{
	memset(gfp, 0, sizeof(*gfp));
	gfp->table = table;
	gfp->texts = km_intern_new();
	return gfp->texts ? 0 : -ENOMEM;
}

void km_text_gfp_release(struct km_text_gfp *gfp)
{
	km_intern_free(gfp->texts);
	free(gfp->values);
	gfp->texts = NULL;
	gfp->values = NULL;
}

/* Flags that say which slab cache serves an allocation, also as part of a flag that stands for several. */
static void note_meaning(struct km_gfp *table, const char *name, uint32_t mask)
{
	if (!strcmp(name, "GFP_KERNEL_ACCOUNT") || strstr(name, "_GFP_ACCOUNT"))
		table->account |= mask;
	else if (strstr(name, "GFP_RECLAIMABLE") || !strcmp(name, "GFP_TEMPORARY"))
		table->reclaimable |= mask;
	else if (!strcmp(name, "GFP_DMA") || !strcmp(name, "__GFP_DMA"))
		table->dma |= mask;
	else if (!strcmp(name, "GFP_ZERO") || !strcmp(name, "__GFP_ZERO"))
		table->zero |= mask;
}

static size_t find(const struct km_gfp *table, const char *name, size_t bytes)
{
	for (size_t i = 0; i < table->count; i++) {
		if (!strncmp(table->flags[i].name, name, bytes) && !table->flags[i].name[bytes])
			return i;
	}
	return table->count;
}

/*
 * Bring the table into an order that every text met agrees with: of the
 * names with nothing left before them, the one met first.
 */
static void sort_table(struct km_text_gfp *gfp)
{
	struct km_gfp *table = gfp->table;
	struct km_gfp sorted = *table;
	uint32_t left = 0;

	for (size_t i = 0; i < table->count; i++)
		left |= table->flags[i].mask;
	for (size_t n = 0; n < table->count; n++) {
		size_t best = table->count;

		for (size_t i = 0; i < table->count; i++) {
			uint32_t mask = table->flags[i].mask;
			bool is_free = mask & left && !(gfp->before[__builtin_ctz(mask)] & left & ~mask);

			if (is_free && (best == table->count || mask < table->flags[best].mask))
				best = i;
		}
		/* Texts that contradict each other are not the kernel's; any order will do. */
		for (size_t i = 0; i < table->count && best == table->count; i++) {
			if (table->flags[i].mask & left)
				best = i;
		}
		sorted.flags[n] = table->flags[best];
		left &= ~table->flags[best].mask;
	}
	memcpy(table->flags, sorted.flags, sizeof(sorted.flags));
}

/* The mask of a name; a new one if there is room. */
static uint32_t add_name(struct km_gfp *table, const char *name, size_t bytes)
{
	size_t i;

	if (bytes >= KM_GFP_NAME_BYTES)
		bytes = KM_GFP_NAME_BYTES - 1;
	i = find(table, name, bytes);
	if (i == table->count && table->count >= BITS - 1U) {
		name = LAST_NAME;
		bytes = sizeof(LAST_NAME) - 1;
		i = find(table, name, bytes);
	}
	if (i == table->count) {
		table->flags[i].mask = UINT32_C(1) << i;
		memcpy(table->flags[i].name, name, bytes);
		table->flags[i].name[bytes] = '\0';
		table->count++;
		note_meaning(table, table->flags[i].name, table->flags[i].mask);
	}
	return table->flags[i].mask;
}

static uint32_t read_names(struct km_text_gfp *gfp, const char *text, size_t bytes)
{
	const char *end = text + bytes;
	uint32_t value = 0;

	while (text < end) {
		const char *bar = memchr(text, '|', (size_t)(end - text));
		size_t length = (size_t)((bar ? bar : end) - text);

		if (length) {
			uint32_t mask = add_name(gfp->table, text, length);

			gfp->before[__builtin_ctz(mask)] |= value & ~mask;
			value |= mask;
		}
		text += length + 1;
	}
	sort_table(gfp);
	return value;
}

static uint32_t new_value(struct km_text_gfp *gfp, const char *text, size_t bytes)
{
	bool is_number = bytes && text[0] >= '0' && text[0] <= '9';

	if (!bytes || (bytes == 4 && !memcmp(text, "none", 4)))
		return 0;
	if (is_number && !gfp->table->count)
		gfp->is_raw = true;
	/* Names met later have no place among the kernel's bits. */
	if (gfp->is_raw)
		return is_number ? (uint32_t)strtoul(text, NULL, 0) : 0;
	return read_names(gfp, text, bytes);
}

uint32_t km_text_gfp_value(struct km_text_gfp *gfp, const char *text, size_t bytes)
{
	uint32_t count = km_intern_count(gfp->texts);
	uint32_t number = km_intern_add(gfp->texts, text, bytes);
	const char *kept;

	if (number && number <= count)
		return gfp->values[number];
	if (!number)
		return 0;
	if (number >= gfp->values_room) {
		uint32_t room = gfp->values_room ? gfp->values_room * 2 : 64;
		uint32_t *values = reallocarray(gfp->values, room, sizeof(*values));

		if (!values)
			return 0;
		gfp->values = values;
		gfp->values_room = room;
	}
	kept = km_intern_get(gfp->texts, number);
	gfp->values[number] = new_value(gfp, kept, strlen(kept));
	return gfp->values[number];
}
