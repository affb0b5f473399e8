/* SPDX-License-Identifier: GPL-2.0-only */
#include "slabinfo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

#define OBJECT_BYTES_LIMIT (UINT64_C(1) << 30)
#define SLAB_OBJECTS_LIMIT (UINT64_C(1) << 20)
#define TUNABLE_LIMIT      (UINT64_C(1) << 20)
#define PAGE_BYTES         4096 /* the least there is: more objects are hidden below it */

struct parser {
	struct km_slabinfo *info;
	size_t room;
	bool has_header;
};

static int take_header(struct parser *parser, const char *line, struct km_error *error)
{
	static const char start[] = "slabinfo - version: ";
	const char *version = line + sizeof(start) - 1;
	size_t bytes;

	if (strncmp(line, start, sizeof(start) - 1) != 0)
		return km_error_set(error, -EINVAL,
				    "not a copy of /proc/slabinfo, which begins with \"slabinfo - version: 2.1\"; make "
				    "it with: cat /proc/slabinfo > FILE (as root)");
	bytes = strcspn(version, " \t");
	if (bytes != 3 || strncmp(version, "2.1", 3) != 0)
		return km_error_set(error, -EINVAL,
				    "slabinfo version %.*s is not known here; Linux has had 2.1 since 2.6.10",
				    bytes < 20 ? (int)bytes : 20, version);
	parser->has_header = true;
	return 0;
}

/* One number of a line, from 0 to limit; *at goes behind it. */
static bool take_number(const char **at, uint64_t least, uint64_t limit, uint64_t *ret_value)
{
	const char *text = *at + strspn(*at, " \t");
	uint64_t value = 0;
	size_t digits = strspn(text, "0123456789");

	if (!digits || (text[digits] && !strchr(" \t", text[digits])))
		return false;
	for (size_t i = 0; i < digits; i++) {
		value = value * 10 + (uint64_t)(text[i] - '0');
		if (value > limit)
			return false;
	}
	*ret_value = value;
	*at = text + digits;
	return value >= least;
}

static int add(struct parser *parser, const struct km_slabinfo_cache *cache, struct km_error *error)
{
	struct km_slabinfo *info = parser->info;

	if (info->count == KM_SLABINFO_CACHES_LIMIT)
		return km_error_set(error, -ENOSPC, "more than %d caches: this is no /proc/slabinfo",
				    KM_SLABINFO_CACHES_LIMIT);
	if (info->count == parser->room) {
		size_t room = parser->room ? parser->room * 2 : 256;
		struct km_slabinfo_cache *larger = reallocarray(info->caches, room, sizeof(*larger));

		if (!larger)
			return km_error_set(error, -ENOMEM, "out of memory");
		info->caches = larger;
		parser->room = room;
	}
	info->caches[info->count++] = *cache;
	return 0;
}

/* ": tunables <limit> <batchcount> <sharedfactor>": of SLUB all 0; may be missing. */
static void take_tunables(const char *at, struct km_slabinfo_cache *cache)
{
	static const char label[] = ": tunables ";
	uint64_t batch, shared;

	at += strspn(at, " \t");
	if (strncmp(at, label, sizeof(label) - 1) != 0)
		return;
	at += sizeof(label) - 1;
	if (!take_number(&at, 0, TUNABLE_LIMIT, &cache->cpu_limit_count) ||
	    !take_number(&at, 0, TUNABLE_LIMIT, &batch) || !take_number(&at, 0, TUNABLE_LIMIT, &shared))
		cache->cpu_limit_count = 0;
	else
		cache->shared_limit_count = batch * shared;
}

static int take(void *context, const char *line, struct km_error *error)
{
	struct parser *parser = context;
	size_t bytes = strcspn(line, " \t");
	struct km_slabinfo_cache cache = { 0 };
	const char *at = line + bytes;
	uint64_t pages;
	int r;

	if (!parser->has_header)
		return take_header(parser, line, error);
	if (bytes >= KM_SLABINFO_NAME_BYTES || !take_number(&at, 0, KM_SLABINFO_OBJECTS_LIMIT, &cache.active_count) ||
	    !take_number(&at, 0, KM_SLABINFO_OBJECTS_LIMIT, &cache.total_count) ||
	    !take_number(&at, 1, OBJECT_BYTES_LIMIT, &cache.object_bytes) ||
	    !take_number(&at, 1, SLAB_OBJECTS_LIMIT, &cache.slab_objects_count) ||
	    !take_number(&at, 1, SLAB_OBJECTS_LIMIT, &pages))
		return km_error_set(
			error, -EINVAL,
			"no line of /proc/slabinfo: a name and five numbers in their range are expected, not "
			"\"%.60s\"",
			line);
	take_tunables(at, &cache);
	cache.name = strndup(line, bytes);
	if (!cache.name)
		return km_error_set(error, -ENOMEM, "out of memory");
	r = add(parser, &cache, error);
	if (r)
		free(cache.name);
	return r;
}

static int compare_caches(const void *a, const void *b)
{
	return strcmp(((const struct km_slabinfo_cache *)a)->name, ((const struct km_slabinfo_cache *)b)->name);
}

/* Caches of one name: of modules that give it again, or where nothing is merged. */
static void add_up_twins(struct km_slabinfo *info)
{
	size_t kept = 0;

	for (size_t i = 0; i < info->count; i++) {
		struct km_slabinfo_cache *cache = &info->caches[i], *last = &info->caches[kept - !!kept];

		if (!kept || strcmp(cache->name, last->name) != 0) {
			info->caches[kept++] = *cache;
			continue;
		}
		last->active_count += cache->active_count;
		last->total_count += cache->total_count;
		last->cpu_limit_count += cache->cpu_limit_count;
		last->shared_limit_count += cache->shared_limit_count;
		if (last->object_bytes != cache->object_bytes)
			last->object_bytes = 0;
		if (last->slab_objects_count < cache->slab_objects_count)
			last->slab_objects_count = cache->slab_objects_count;
		free(cache->name);
	}
	info->count = kept;
}

/* kmalloc-8 to kmalloc-512: N is their size, unless debugging adds to it. */
static bool has_debug(const struct km_slabinfo *info)
{
	size_t padded = 0;

	for (unsigned class = 8; class <= 512; class *= 2) {
		char name[24];
		const struct km_slabinfo_cache *cache;

		snprintf(name, sizeof(name), "kmalloc-%u", class);
		cache = km_slabinfo_find(info, name);
		if (cache && cache->object_bytes <= class)
			return false;
		padded += cache != NULL;
	}
	return padded > 0;
}

int km_slabinfo_load(const char *path, struct km_slabinfo *ret_info, struct km_error *error)
{
	struct km_slabinfo info = { 0 };
	struct parser parser = { .info = &info };
	int r = km_lines_each(path, take, &parser, error);

	if (!r && !info.count)
		r = km_error_set(error, -EINVAL, "%s: %s; make it with: cat /proc/slabinfo > FILE (as root)", path,
				 parser.has_header ? "a slabinfo without a cache" : "the file is empty");
	if (r) {
		km_slabinfo_release(&info);
		return r;
	}
	qsort(info.caches, info.count, sizeof(*info.caches), compare_caches);
	add_up_twins(&info);
	info.is_debug = has_debug(&info);
	*ret_info = info;
	return 0;
}

void km_slabinfo_release(struct km_slabinfo *info)
{
	for (size_t i = 0; i < info->count; i++)
		free(info->caches[i].name);
	free(info->caches);
	memset(info, 0, sizeof(*info));
}

const struct km_slabinfo_cache *km_slabinfo_find(const struct km_slabinfo *info, const char *name)
{
	const struct km_slabinfo_cache key = { .name = (char *)(uintptr_t)name };

	return info->count ? bsearch(&key, info->caches, info->count, sizeof(key), compare_caches) : NULL;
}

/* What of one cache a CPU, and a node beside its partial slabs, may keep. */
static uint64_t kept_count(const struct km_slabinfo_cache *cache, unsigned cpus_count, enum km_slab_era era)
{
	static const struct {
		uint64_t object_bytes, old_slabs, objects, sheaf;
	} sizes[] = { { PAGE_BYTES, 2, 12, 8 }, { 1024, 6, 48, 16 }, { 256, 13, 104, 32 }, { 0, 30, 240, 64 } };
	uint64_t slab = cache->slab_objects_count, slabs, kept;
	size_t i = 0;

	while (cache->object_bytes < sizes[i].object_bytes)
		i++;
	slabs = era == KM_SLAB_ERA_OLD ? sizes[i].old_slabs : (sizes[i].objects + slab - 1) / slab;
	kept = (1 + slabs) * slab * cpus_count;
	if (era == KM_SLAB_ERA_6_18)
		kept += (3 * (uint64_t)cpus_count + 10) * sizes[i].sheaf;
	return kept;
}

uint64_t km_slabinfo_hidden_count(const struct km_slabinfo *info, const struct km_slabinfo_cache *cache,
				  unsigned cpus_count, enum km_slab_era era)
{
	uint64_t hidden;

	if (info->is_debug)
		return 0;
	if (cache->cpu_limit_count)
		hidden = cache->cpu_limit_count * cpus_count + cache->shared_limit_count;
	else
		hidden = kept_count(cache, cpus_count, era);
	return hidden < cache->active_count ? hidden : cache->active_count;
}
