/* SPDX-License-Identifier: GPL-2.0-only */
#include "suppress.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "lines.h"

static const char *const kinds[] = { [KM_SUPPRESS_SITE] = "site:",
				     [KM_SUPPRESS_FUNCTION] = "function:",
				     [KM_SUPPRESS_MODULE] = "module:",
				     [KM_SUPPRESS_CACHE] = "cache:" };

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int refuse(const char *line, struct km_error *error)
{
	return km_parse_refuse(error, -EINVAL, line,
			       "site:, function:, module: or cache: with a glob behind it, then max=SIZE if wanted, "
			       "then a reason");
}

static void release(struct km_suppression *item)
{
	free(item->pattern);
	free(item->glob);
	free(item->reason);
}

static int parse(const char *line, struct km_suppression *ret_item, struct km_error *error)
{
	struct km_suppression item = { 0 };
	size_t bytes = strcspn(line, " \t"), kind = 0, prefix;
	const char *rest = line + bytes + strspn(line + bytes, " \t");

	while (kind < KINDS && strncmp(line, kinds[kind], strlen(kinds[kind])) != 0)
		kind++;
	prefix = kind < KINDS ? strlen(kinds[kind]) : 0;
	if (kind == KINDS || bytes == prefix)
		return refuse(line, error);
	item.kind = (enum km_suppress_kind)kind;
	if (!strncmp(rest, "max=", 4)) {
		size_t digits = strcspn(rest, " \t");
		char *size = strndup(rest + 4, digits - 4);
		int r = size ? km_parse_size(size, &item.max_bytes, error) : -ENOMEM;

		free(size);
		if (r)
			return r == -ENOMEM ? km_error_set(error, r, "out of memory") : -EINVAL;
		item.has_max = true;
		rest += digits;
	}
	rest += strspn(rest, " \t#");
	item.pattern = strndup(line, bytes);
	item.glob = strndup(line + prefix, bytes - prefix);
	item.reason = strdup(rest);
	if (!item.pattern || !item.glob || !item.reason) {
		release(&item);
		return km_error_set(error, -ENOMEM, "out of memory");
	}
	*ret_item = item;
	return 0;
}

int km_suppress_add(struct km_suppressions *list, const char *line, struct km_error *error)
{
	struct km_suppression item, *larger;
	int r = parse(line, &item, error);

	if (r)
		return r;
	if (list->count == KM_SUPPRESS_LIMIT) {
		release(&item);
		return km_error_set(error, -ENOSPC, "more than %d suppressions", KM_SUPPRESS_LIMIT);
	}
	larger = reallocarray(list->items, list->count + 1, sizeof(*larger));
	if (!larger) {
		release(&item);
		return km_error_set(error, -ENOMEM, "out of memory");
	}
	list->items = larger;
	list->items[list->count++] = item;
	return 0;
}

static int add_line(void *context, const char *line, struct km_error *error)
{
	return km_suppress_add(context, line, error);
}

int km_suppress_load(struct km_suppressions *list, const char *path, struct km_error *error)
{
	return km_lines_each(path, add_line, list, error);
}

void km_suppress_release(struct km_suppressions *list)
{
	for (size_t i = 0; i < list->count; i++)
		release(&list->items[i]);
	free(list->items);
	*list = (struct km_suppressions){ 0 };
}

static bool glob_is(const struct km_suppression *item, const char *name)
{
	return name && !fnmatch(item->glob, name, 0);
}

/* "fn+0x1f [ext4]" is also "fn+0x1f". */
static bool symbol_is(const struct km_suppression *item, const char *symbol)
{
	char *bare;
	bool is;

	if (!symbol || glob_is(item, symbol))
		return symbol != NULL;
	bare = strndup(symbol, strcspn(symbol, " "));
	is = glob_is(item, bare);
	free(bare);
	return is;
}

static bool caches_are(const struct km_suppression *item, const struct km_run_row *row)
{
	for (size_t i = 0; i < row->caches_count; i++) {
		if (!glob_is(item, row->caches[i]))
			return false;
	}
	return row->caches_count > 0 && row->caches_count < KM_RUN_SITE_CACHES;
}

static bool matches(const struct km_suppression *item, enum km_run_axis axis, const struct km_run_row *row)
{
	if (axis == KM_RUN_CACHES)
		return item->kind == KM_SUPPRESS_CACHE && glob_is(item, row->cache);
	switch (item->kind) {
	case KM_SUPPRESS_SITE:
		return symbol_is(item, row->symbol);
	case KM_SUPPRESS_FUNCTION:
		return glob_is(item, row->function);
	case KM_SUPPRESS_MODULE:
		return glob_is(item, row->module);
	case KM_SUPPRESS_CACHE:
		return caches_are(item, row);
	}
	return false;
}

bool km_suppress_matches(struct km_suppressions *list, enum km_run_axis axis, const struct km_run_row *row,
			 uint64_t live_bytes)
{
	bool is_left_out = false;

	for (size_t i = 0; i < list->count; i++) {
		struct km_suppression *item = &list->items[i];

		if (!matches(item, axis, row))
			continue;
		if (item->has_max && live_bytes > item->max_bytes) {
			item->exceeded_count++;
		} else {
			item->used_count++;
			is_left_out = true;
		}
	}
	return is_left_out;
}
