/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * With a small limit one pass over the table keeps the best rows; else an
 * index of all is sorted. A key's names are looked up once, not for every
 * object.
 */
#include "objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEEP_BEST_LIMIT 256 /* beyond it sorting all is cheaper */
#define ALIASES_LIMIT   256

enum object_column {
	COLUMN_PTR,
	COLUMN_SYMBOL,
	COLUMN_FUNCTION,
	COLUMN_MODULE,
	COLUMN_CACHE,
	COLUMN_SHOWN_CACHE,
	COLUMN_ALIASES,
	COLUMN_REQUESTED,
	COLUMN_ALLOCATED,
	COLUMN_AGE_NS,
	COLUMN_AGE_TICKS,
	COLUMN_PID,
	COLUMN_COMM,
	COLUMN_CPU,
	COLUMN_UNCERTAIN,
	COLUMN_WEIGHT,
	OBJECT_COLUMNS,
};

static const struct km_column object_columns[OBJECT_COLUMNS] = {
	[COLUMN_PTR] = { "ptr", "ptr", "address of the object", KM_TYPE_ADDRESS, 0 },
	[COLUMN_SYMBOL] = { "symbol", "site", "call site that allocated it: function+offset [module]", KM_TYPE_STRING,
			    KM_COLUMN_FLEX | KM_COLUMN_LAST },
	[COLUMN_FUNCTION] = { "function", "function", "its function", KM_TYPE_STRING, KM_COLUMN_MACHINE },
	[COLUMN_MODULE] = { "module", "module", "its module, null for the kernel itself", KM_TYPE_STRING,
			    KM_COLUMN_MACHINE },
	[COLUMN_CACHE] = { "cache", "cache", "slab cache or kmalloc class", KM_TYPE_STRING, 0 },
	[COLUMN_SHOWN_CACHE] = { "shown_cache", "cache",
				 "the same with how many more names the cache has: pid(+3) (--slab-aliases)",
				 KM_TYPE_STRING, KM_COLUMN_MACHINE | KM_COLUMN_PEOPLE },
	[COLUMN_ALIASES] = { "aliases", "aliases", "the other names of its cache, sorted (--slab-aliases)",
			     KM_TYPE_LIST, KM_COLUMN_MACHINE | KM_COLUMN_PEOPLE },
	[COLUMN_REQUESTED] = { "requested_bytes", "asked", "bytes asked for", KM_TYPE_COUNT, 0 },
	[COLUMN_ALLOCATED] = { "allocated_bytes", "given", "bytes given", KM_TYPE_COUNT, 0 },
	[COLUMN_AGE_NS] = { "age_ns", "age", "time from its allocation to the end", KM_TYPE_DURATION, 0 },
	[COLUMN_AGE_TICKS] = { "age_ticks", "age", "the same where the clock does not count ns", KM_TYPE_TICKS, 0 },
	[COLUMN_PID] = { "pid", "pid", "task that allocated it", KM_TYPE_INTEGER, KM_COLUMN_WIDE },
	[COLUMN_COMM] = { "comm", "comm", "last name of that task", KM_TYPE_STRING, KM_COLUMN_WIDE },
	[COLUMN_UNCERTAIN] = { "is_uncertain", "uncertain", "events were lost while it lived", KM_TYPE_BOOL,
			       KM_COLUMN_MACHINE },
	[COLUMN_WEIGHT] = { "weight_count", "stands for", "objects that it stands for in a sample (--when-full sample)",
			    KM_TYPE_COUNT, KM_COLUMN_MACHINE | KM_COLUMN_PEOPLE },
	[COLUMN_CPU] = { "cpu", "cpu", "CPU that allocated it", KM_TYPE_INTEGER, KM_COLUMN_WIDE },
};

/* A key's names. */
struct key_names {
	struct km_site_name site; /* site.symbol NULL: not looked up yet */
	const char *cache;
};

struct km_objects {
	const struct km_analysis *analysis;
	const struct km_replay_hash *table;
	struct km_column columns[OBJECT_COLUMNS];
	enum object_column ids[OBJECT_COLUMNS];
	size_t columns_count;
	bool ticks;
	bool has_loss; /* events were lost at loss_time, the last such time */
	bool is_all_uncertain;
	uint64_t loss_time;
	struct {
		enum object_column column;
		bool descending;
	} sort[KM_SORT_KEYS_LIMIT + 2];
	unsigned sort_count;
	struct key_names *names;
	const char *aliases[ALIASES_LIMIT]; /* of the row being handed out */
	size_t names_room;
	uint32_t *slots; /* indexes of the table's slots, in order; slots_count <= 2^32 */
	size_t total, shown, at;
};

size_t km_objects_describe(struct km_column *columns, size_t limit)
{
	size_t count = 0;

	for (size_t i = 0; i < OBJECT_COLUMNS && count < limit; i++) {
		if (i != COLUMN_AGE_TICKS)
			columns[count++] = object_columns[i];
	}
	return count;
}

/* --- values --- */

static int names_of(struct km_objects *o, uint32_t key, struct key_names **ret_names)
{
	const char *cache;
	uint64_t call_site;

	if (key >= o->names_room) {
		size_t room = o->names_room ? o->names_room : 256;
		struct key_names *names;

		while (room <= key)
			room *= 2;
		names = reallocarray(o->names, room, sizeof(*names));
		if (!names)
			return -ENOMEM;
		memset(names + o->names_room, 0, (room - o->names_room) * sizeof(*names));
		o->names = names;
		o->names_room = room;
	}
	if (!o->names[key].site.symbol && km_aggregate_key(o->analysis->aggregate, key, &call_site, &cache)) {
		o->names[key].site = km_naming_site(o->analysis->naming, call_site);
		o->names[key].cache = cache;
	}
	*ret_names = &o->names[key];
	return 0;
}

static void fill_aliases(struct km_objects *o, const char *cache, struct km_cell *cell)
{
	size_t count = km_slab_aliases_of(o->analysis->options.aliases, cache, o->aliases, ALIASES_LIMIT);

	cell->list.items = o->aliases;
	cell->list.count = count < ALIASES_LIMIT ? count : ALIASES_LIMIT;
}

static void fill_cell(const struct km_objects *o, const struct km_object *object, enum object_column column,
		      struct km_cell *cell)
{
	const struct key_names *names = &o->names[object->key];

	memset(cell, 0, sizeof(*cell));
	switch (column) {
	case COLUMN_PTR:
		cell->number = object->ptr;
		break;
	case COLUMN_SYMBOL:
		cell->text = names->site.symbol;
		break;
	case COLUMN_FUNCTION:
		cell->text = names->site.function;
		break;
	case COLUMN_MODULE:
		cell->text = names->site.module;
		cell->is_null = !names->site.module[0];
		break;
	case COLUMN_CACHE:
		cell->text = names->cache;
		break;
	case COLUMN_REQUESTED:
		cell->number = object->bytes_req;
		break;
	case COLUMN_ALLOCATED:
		cell->number = object->bytes_alloc;
		break;
	case COLUMN_AGE_NS:
		cell->is_null = o->ticks;
		cell->number = o->analysis->end_time - object->time;
		break;
	case COLUMN_AGE_TICKS:
		cell->number = o->analysis->end_time - object->time;
		break;
	case COLUMN_PID:
		cell->integer = object->pid;
		break;
	case COLUMN_COMM:
		cell->text = km_reader_comm(o->analysis->reader, object->pid);
		break;
	case COLUMN_CPU:
		cell->integer = object->cpu;
		break;
	case COLUMN_UNCERTAIN:
		cell->flag = o->is_all_uncertain || (o->has_loss && object->time < o->loss_time);
		break;
	case COLUMN_SHOWN_CACHE:
		cell->text = km_slab_aliases_shown(o->analysis->options.aliases, names->cache);
		break;
	case COLUMN_ALIASES: /* fill_aliases() */
		break;
	case COLUMN_WEIGHT:
		cell->number = UINT64_C(1) << o->table->k;
		break;
	case OBJECT_COLUMNS:
		break;
	}
}

/* --- order --- */

static int compare_values(const struct km_objects *o, enum object_column column, const struct km_object *a,
			  const struct km_object *b)
{
	struct km_cell x, y;

	if (column == COLUMN_AGE_NS || column == COLUMN_AGE_TICKS) /* by far the most used */
		return a->time > b->time ? -1 : a->time < b->time;
	fill_cell(o, a, column, &x);
	fill_cell(o, b, column, &y);
	if (x.is_null || y.is_null)
		return x.is_null == y.is_null ? 0 : x.is_null ? -1 : 1;
	if (object_columns[column].type == KM_TYPE_BOOL)
		return (int)x.flag - (int)y.flag;
	if (object_columns[column].type == KM_TYPE_STRING)
		return strcmp(x.text, y.text);
	if (object_columns[column].type == KM_TYPE_INTEGER)
		return x.integer < y.integer ? -1 : x.integer > y.integer;
	return x.number < y.number ? -1 : x.number > y.number;
}

static int compare_slots(const void *x, const void *y, void *context)
{
	const struct km_objects *o = context;
	struct km_object a, b;

	km_slot_unpack(&o->table->slots[*(const uint32_t *)x], &a);
	km_slot_unpack(&o->table->slots[*(const uint32_t *)y], &b);
	for (unsigned i = 0; i < o->sort_count; i++) {
		int order = compare_values(o, o->sort[i].column, &a, &b);

		if (order)
			return o->sort[i].descending ? -order : order;
	}
	return 0;
}

static void add_sort_key(struct km_objects *o, enum object_column column, int direction)
{
	enum km_type type = object_columns[column].type;
	bool is_name = type == KM_TYPE_STRING || type == KM_TYPE_ADDRESS;

	o->sort[o->sort_count].column = column;
	o->sort[o->sort_count++].descending = direction ? direction < 0 : !is_name;
}

static int make_sort(struct km_objects *o, const struct km_sort *sort, struct km_error *error)
{
	for (unsigned i = 0; sort && i < sort->count; i++) {
		size_t column;

		for (column = 0; column < OBJECT_COLUMNS; column++) {
			if (!strcmp(object_columns[column].name, sort->keys[i].name))
				break;
		}
		if (column == OBJECT_COLUMNS)
			return km_error_set(error, -EINVAL, "--sort: no column \"%s\"; --sort help lists them",
					    sort->keys[i].name);
		add_sort_key(o, (enum object_column)column, sort->keys[i].direction);
	}
	if (!o->sort_count)
		add_sort_key(o, COLUMN_AGE_NS, 0);
	add_sort_key(o, COLUMN_PTR, 0);
	return 0;
}

/* Keep the slot if it is among the best `shown`; slots[0..kept) is in order. */
static void keep_best(struct km_objects *o, uint32_t slot, size_t limit, size_t *kept)
{
	size_t at = *kept;

	if (at == limit && compare_slots(&slot, &o->slots[at - 1], o) >= 0)
		return;
	if (at == limit)
		at--;
	else
		++*kept;
	for (; at > 0 && compare_slots(&slot, &o->slots[at - 1], o) < 0; at--)
		o->slots[at] = o->slots[at - 1];
	o->slots[at] = slot;
}

static int collect(struct km_objects *o, size_t limit, struct km_error *error)
{
	const struct km_replay_hash *table = o->table;
	bool best_only = limit && limit <= KEEP_BEST_LIMIT;
	size_t room = best_only ? limit : table->count ? table->count : 1;
	struct key_names *names;

	o->slots = calloc(room, sizeof(*o->slots));
	if (!o->slots)
		return km_error_set(error, -ENOMEM, "out of memory");
	for (uint64_t i = 0; i < table->slots_count; i++) {
		const struct km_slot *slot = &table->slots[i];

		if (!slot->ptr || !km_key_is_selected(slot->key))
			continue;
		if (names_of(o, slot->key, &names))
			return km_error_set(error, -ENOMEM, "out of memory");
		if (best_only)
			keep_best(o, (uint32_t)i, limit, &o->shown);
		else
			o->slots[o->total] = (uint32_t)i;
		o->total++;
	}
	if (best_only)
		return 0;
	qsort_r(o->slots, o->total, sizeof(*o->slots), compare_slots, o);
	o->shown = limit && limit < o->total ? limit : o->total;
	return 0;
}

/* For people pid(+3) stands for the name alone. */
static unsigned flags_with_aliases(enum object_column column, unsigned flags)
{
	if (column == COLUMN_CACHE || column == COLUMN_ALIASES)
		return KM_COLUMN_MACHINE;
	return column == COLUMN_SHOWN_CACHE ? KM_COLUMN_PEOPLE : flags;
}

int km_objects_new(const struct km_analysis *analysis, const struct km_sort *sort, size_t limit,
		   struct km_objects **ret_objects, struct km_error *error)
{
	struct km_objects *o = calloc(1, sizeof(*o));
	int r;

	if (!o)
		return km_error_set(error, -ENOMEM, "out of memory");
	o->analysis = analysis;
	o->table = km_replay_table(analysis->replay);
	o->ticks = analysis->buffer->unit != KM_CLOCK_NS;
	if (analysis->options.on_loss != KM_ON_LOSS_KEEP) {
		o->has_loss = km_replay_last_loss(analysis->replay, &o->loss_time);
		o->is_all_uncertain = analysis->health.live_is_doubtful;
	}
	for (size_t i = 0; i < OBJECT_COLUMNS; i++) {
		if (i == COLUMN_AGE_TICKS && !o->ticks)
			continue;
		o->ids[o->columns_count] = (enum object_column)i;
		o->columns[o->columns_count] = object_columns[i];
		if (i == COLUMN_AGE_NS && o->ticks)
			o->columns[o->columns_count].flags |= KM_COLUMN_MACHINE;
		if (i == COLUMN_WEIGHT && km_replay_when_full(analysis->replay) == KM_WHEN_FULL_SAMPLE)
			o->columns[o->columns_count].flags = KM_COLUMN_MACHINE;
		if (analysis->options.aliases)
			o->columns[o->columns_count].flags =
				flags_with_aliases((enum object_column)i, o->columns[o->columns_count].flags);
		o->columns_count++;
	}
	r = make_sort(o, sort, error);
	if (!r)
		r = collect(o, limit, error);
	if (r) {
		km_objects_free(o);
		return r;
	}
	*ret_objects = o;
	return 0;
}

void km_objects_free(struct km_objects *o)
{
	if (!o)
		return;
	free(o->names);
	free(o->slots);
	free(o);
}

const struct km_column *km_objects_columns(const struct km_objects *o, size_t *ret_count)
{
	*ret_count = o->columns_count;
	return o->columns;
}

size_t km_objects_total(const struct km_objects *o)
{
	return o->total;
}

size_t km_objects_shown(const struct km_objects *o)
{
	return o->shown;
}

int km_objects_next(void *state, struct km_cell *cells, struct km_error *error)
{
	struct km_objects *o = state;
	struct km_object object;

	(void)error;
	if (o->at == o->shown)
		return 0;
	km_slot_unpack(&o->table->slots[o->slots[o->at++]], &object);
	for (size_t i = 0; i < o->columns_count; i++) {
		fill_cell(o, &object, o->ids[i], &cells[i]);
		if (o->ids[i] == COLUMN_ALIASES)
			fill_aliases(o, o->names[object.key].cache, &cells[i]);
	}
	return 1;
}
