/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bits are given in the order in which names are met, but the table is kept
 * in the order in which the texts have them, which is the kernel's: a name
 * stands behind the one it was met behind.
 */
#include "text_gfp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BITS      32U
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

/* Moves entry `from` to `to`, those between by one. */
static void move(struct km_gfp *table, size_t from, size_t to)
{
	__typeof__(table->flags[0]) entry = table->flags[from];

	if (from < to)
		memmove(&table->flags[from], &table->flags[from + 1], (to - from) * sizeof(entry));
	else
		memmove(&table->flags[to + 1], &table->flags[to], (from - to) * sizeof(entry));
	table->flags[to] = entry;
}

/*
 * The mask of a name; *at is the place behind the name before it in the text,
 * and becomes the place behind this one.
 */
static uint32_t add_name(struct km_gfp *table, const char *name, size_t bytes, size_t *at)
{
	size_t i;

	if (bytes >= KM_GFP_NAME_BYTES)
		bytes = KM_GFP_NAME_BYTES - 1;
	i = find(table, name, bytes);
	if (i == table->count && table->count >= BITS - 1) {
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
		/* Numbers, which are what is left over, stay last. */
		if (*at < i && name[0] != '0') {
			move(table, i, *at);
			i = *at;
		}
	} else if (i < *at) {
		move(table, i, *at - 1);
		i = *at - 1;
	}
	*at = i + 1;
	return table->flags[i].mask;
}

static uint32_t read_names(struct km_text_gfp *gfp, const char *text, size_t bytes)
{
	const char *end = text + bytes;
	uint32_t value = 0;
	size_t at = 0;

	while (text < end) {
		const char *bar = memchr(text, '|', (size_t)(end - text));
		size_t length = (size_t)((bar ? bar : end) - text);

		if (length)
			value |= add_name(gfp->table, text, length, &at);
		text += length + 1;
	}
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
