/* SPDX-License-Identifier: GPL-2.0-only */
#include "selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct km_column km_by_columns[KM_BY_KINDS] = {
	[KM_BY_SITE] = { "site", "site", "call site: function, offset and module", KM_TYPE_STRING, KM_COLUMN_FLEX },
	[KM_BY_FUNCTION] = { "function", "function", "function of the call site", KM_TYPE_STRING, KM_COLUMN_FLEX },
	[KM_BY_MODULE] = { "module", "module", "module of the call site, none for the kernel itself", KM_TYPE_STRING,
			   0 },
	[KM_BY_CACHE] = { "cache", "cache", "slab cache or kmalloc class", KM_TYPE_STRING, 0 },
	[KM_BY_COMM] = { "comm", "comm", "name of the allocating task", KM_TYPE_STRING, 0 },
	[KM_BY_PID] = { "pid", "pid", "the allocating task", KM_TYPE_INTEGER, 0 },
	[KM_BY_CPU] = { "cpu", "cpu", "the allocating CPU", KM_TYPE_INTEGER, 0 },
	[KM_BY_NODE] = { "node", "node", "NUMA node asked for, -1 for any", KM_TYPE_INTEGER, 0 },
	[KM_BY_GFP] = { "gfp", "gfp", "gfp flags of the allocation", KM_TYPE_STRING, KM_COLUMN_FLEX },
	[KM_BY_SIZE] = { "size_bytes", "size up to", "bytes asked for, rounded up to a power of two", KM_TYPE_BYTES,
			 0 },
};

int km_by_parse(const char *text, struct km_by_list *ret_list, struct km_error *error)
{
	struct km_by_list list = { .count = 0 };

	for (const char *item = text; item;) {
		size_t bytes = strcspn(item, ",");
		unsigned field;

		for (field = 0; field < KM_BY_KINDS; field++) {
			const char *name = km_by_columns[field].name;

			if ((strlen(name) == bytes && !strncmp(name, item, bytes)) ||
			    (field == KM_BY_SIZE && bytes == 4 && !strncmp("size", item, 4)))
				break;
		}
		if (field == KM_BY_KINDS)
			return km_error_set(
				error, -EINVAL,
				"--by: \"%.*s\" is not one of site, function, module, cache, comm, pid, cpu, "
				"node, gfp, size",
				(int)bytes, item);
		for (unsigned i = 0; i < list.count; i++) {
			if (list.fields[i] == (enum km_by)field)
				return km_error_set(error, -EINVAL, "--by: \"%.*s\" is there twice", (int)bytes, item);
		}
		if (list.count == KM_BY_LIMIT)
			return km_error_set(error, -EINVAL, "--by: at most %d fields", KM_BY_LIMIT);
		list.fields[list.count++] = (enum km_by)field;
		item = item[bytes] ? item + bytes + 1 : NULL;
	}
	*ret_list = list;
	return 0;
}

bool km_selection_is_dynamic(const struct km_selection *selection)
{
	const struct km_filter *f = selection->filter;

	for (unsigned i = 0; i < selection->by.count; i++) {
		enum km_by field = selection->by.fields[i];

		if (field == KM_BY_COMM || field == KM_BY_PID || field == KM_BY_CPU || field == KM_BY_NODE)
			return true;
	}
	return f->comm.count || f->pid.count || f->cpu.count || f->node.count || selection->from_time ||
	       selection->until_time != UINT64_MAX || selection->waits_for_from;
}

/* Any of the flags that are set is matched: a name, or a mask in hex of which a bit is set. */
static bool takes_gfp(const struct km_selection *selection, uint32_t value)
{
	const struct km_patterns *patterns = &selection->filter->gfp;
	const struct km_gfp *gfp = km_reader_gfp(selection->reader);
	bool has_plain = false, found = false;

	for (size_t i = 0; i < patterns->count; i++) {
		struct km_patterns one = { .items = &patterns->items[i], .count = 1 };
		char *end;
		unsigned long mask = strtoul(patterns->items[i].glob, &end, 16);
		bool negated = patterns->items[i].negated;
		bool hit = false;

		if (!strncmp(patterns->items[i].glob, "0x", 2) && !*end) {
			hit = value & mask;
		} else {
			for (size_t flag = 0; flag < gfp->count && !hit; flag++) {
				uint32_t bits = gfp->flags[flag].mask;

				hit = bits && (value & bits) == bits &&
				      km_patterns_match(&one, gfp->flags[flag].name) != negated;
			}
		}
		if (negated && hit)
			return false;
		has_plain |= !negated;
		found |= !negated && hit;
	}
	return found || !has_plain;
}

bool km_selection_takes_shape(const struct km_selection *selection, const struct km_event *alloc, uint32_t node)
{
	const struct km_filter *f = selection->filter;

	if (f->min_size_bytes && alloc->bytes_alloc < f->min_size_bytes)
		return false;
	if (f->gfp.count && !takes_gfp(selection, alloc->gfp))
		return false;
	if (f->site.count || f->function.count || f->module.count) {
		struct km_site_name name = km_naming_site(selection->naming, alloc->call_site);
		char address[24];

		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)alloc->call_site);
		if (f->site.count) {
			/* "fn+0x1f [mod]", "fn+0x1f", an address or the bare function: any may be named. */
			char symbol[512];

			snprintf(symbol, sizeof(symbol), "%.*s", (int)strcspn(name.symbol, " "), name.symbol);
			if (!km_patterns_match_any(&f->site,
						   (const char *[]){ name.symbol, symbol, address, name.function }, 4))
				return false;
		}
		if (!km_patterns_match(&f->function, name.function) || !km_patterns_match(&f->module, name.module))
			return false;
	}
	return !f->cache.count ||
	       km_patterns_match(&f->cache, km_caches_name(selection->caches, km_caches_root(selection->caches, node)));
}

bool km_selection_takes_event(const struct km_selection *selection, const struct km_event *alloc)
{
	const struct km_filter *f = selection->filter;

	if (selection->waits_for_from || alloc->time < selection->from_time || alloc->time >= selection->until_time)
		return false;
	if (!km_ranges_match(&f->pid, alloc->pid) || !km_ranges_match(&f->cpu, alloc->cpu) ||
	    !km_ranges_match(&f->node, alloc->node))
		return false;
	return !f->comm.count || km_patterns_match(&f->comm, km_reader_comm(selection->reader, alloc->pid));
}

static uint64_t power_of_two(uint64_t bytes)
{
	uint64_t power = 1;

	while (power < bytes && power < UINT64_C(1) << 62)
		power *= 2;
	return power;
}

static uint64_t name_value(const char *text)
{
	return (uint64_t)(uintptr_t)text;
}

void km_selection_group(const struct km_selection *selection, const struct km_event *alloc, uint32_t node,
			uint64_t *ret_values)
{
	struct km_naming *naming = selection->naming;

	for (unsigned i = 0; i < selection->by.count; i++) {
		uint64_t *value = &ret_values[i];

		switch (selection->by.fields[i]) {
		case KM_BY_SITE:
			*value = alloc->call_site;
			break;
		case KM_BY_FUNCTION:
			*value = name_value(km_naming_site(naming, alloc->call_site).function);
			break;
		case KM_BY_MODULE:
			*value = name_value(km_naming_keep(naming, km_naming_site(naming, alloc->call_site).module));
			break;
		case KM_BY_CACHE:
			*value = km_caches_root(selection->caches, node);
			break;
		case KM_BY_COMM:
			*value = name_value(km_naming_keep(naming, km_reader_comm(selection->reader, alloc->pid)));
			break;
		case KM_BY_PID:
			*value = (uint64_t)(int64_t)alloc->pid;
			break;
		case KM_BY_CPU:
			*value = alloc->cpu;
			break;
		case KM_BY_NODE:
			*value = (uint64_t)(int64_t)alloc->node;
			break;
		case KM_BY_GFP:
			*value = alloc->gfp;
			break;
		case KM_BY_SIZE:
			*value = power_of_two(alloc->bytes_req);
			break;
		case KM_BY_KINDS:
			break;
		}
	}
}

void km_selection_cell(const struct km_selection *selection, enum km_by field, uint64_t value, struct km_cell *ret_cell)
{
	struct km_cell cell = { 0 };
	char text[512];

	switch (field) {
	case KM_BY_SITE:
		cell.text = km_naming_site(selection->naming, value).symbol;
		break;
	case KM_BY_FUNCTION:
	case KM_BY_MODULE:
	case KM_BY_COMM:
		cell.text = (const char *)(uintptr_t)value;
		cell.is_null = field == KM_BY_MODULE && !cell.text[0];
		break;
	case KM_BY_CACHE:
		cell.text = km_caches_name(selection->caches, (uint32_t)value);
		break;
	case KM_BY_PID:
	case KM_BY_CPU:
	case KM_BY_NODE:
		cell.integer = (int64_t)value;
		break;
	case KM_BY_GFP:
		km_gfp_print(km_reader_gfp(selection->reader), (uint32_t)value, text, sizeof(text));
		cell.text = km_naming_keep(selection->naming, text);
		break;
	case KM_BY_SIZE:
		cell.number = value;
		break;
	case KM_BY_KINDS:
		break;
	}
	*ret_cell = cell;
}
