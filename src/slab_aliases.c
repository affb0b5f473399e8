/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One array sorted by directory, then by name, so that names that share a
 * cache are neighbours; and one of indexes into it sorted by name.
 */
#include "slab_aliases.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

struct entry {
	char *name;
	char *id;    /* ":a-0000104"; of a cache that is not merged its own name */
	char *shown; /* "pid(+3)"; NULL: as its name */
};

struct km_slab_aliases {
	struct entry *entries;
	size_t count, room;
	size_t lines;
	uint32_t *by_name;
};

/* ':', letters and '-', or neither; digits; then what a control group adds. */
static bool is_id(const char *text)
{
	size_t letters, digits;

	if (*text != ':')
		return false;
	for (letters = 1; isalpha((unsigned char)text[letters]); letters++)
		;
	if (letters > 1 && text[letters++] != '-')
		return false;
	digits = strspn(text + letters, "0123456789");
	if (!digits)
		return false;
	text += letters + digits;
	return !*text || (*text == '-' && text[1] && strspn(text + 1, "0123456789") == strlen(text + 1));
}

static int refuse(const char *line, struct km_error *error)
{
	return km_error_set(error, -EINVAL,
			    "\"%.60s\" is no line of a listing of /sys/kernel/slab, such as \"NAME -> :a-0000104\"; "
			    "make it with: ls -l /sys/kernel/slab > FILE",
			    line);
}

/* The last component of a path. */
static char *base_name(char *path)
{
	char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The last word; the text before it ends where it begins. */
static char *last_word(char *text)
{
	char *blank = strrchr(text, ' ');
	char *tab = strrchr(text, '\t');

	if (!blank || (tab && tab > blank))
		blank = tab;
	return blank ? blank + 1 : text;
}

/* "drwxr-xr-x" or "lrwxrwxrwx" and more words behind it. */
static bool is_long_form(const char *text)
{
	size_t bytes = strcspn(text, " \t");

	return text[bytes] && bytes >= 10 && (*text == 'd' || *text == 'l') && strspn(text + 1, "rwxsStT-") >= 9;
}

static int add(struct km_slab_aliases *aliases, const char *name, const char *id, struct km_error *error)
{
	struct entry entry;

	if (strlen(name) >= KM_SLAB_ALIASES_NAME_BYTES || strlen(id) >= KM_SLAB_ALIASES_NAME_BYTES)
		return km_error_set(error, -ENOSPC, "a name of over %d bytes is no slab cache's",
				    KM_SLAB_ALIASES_NAME_BYTES - 1);
	if (aliases->count == aliases->room) {
		size_t room = aliases->room ? aliases->room * 2 : 256;
		struct entry *larger = reallocarray(aliases->entries, room, sizeof(*larger));

		if (!larger)
			return km_error_set(error, -ENOMEM, "out of memory");
		aliases->entries = larger;
		aliases->room = room;
	}
	entry = (struct entry){ .name = strdup(name), .id = strdup(id) };
	if (!entry.name || !entry.id) {
		free(entry.name);
		free(entry.id);
		return km_error_set(error, -ENOMEM, "out of memory");
	}
	aliases->entries[aliases->count++] = entry;
	return 0;
}

/* A directory: of shared caches, or a cache of its own. */
static int take_directory(struct km_slab_aliases *aliases, const char *name, struct km_error *error)
{
	if (!strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, "slab"))
		return 0;
	if (*name == ':' && !is_id(name))
		return refuse(name, error);
	return *name == ':' ? 0 : add(aliases, name, name, error);
}

static int take_link(struct km_slab_aliases *aliases, char *name, char *target, struct km_error *error)
{
	size_t bytes = strlen(name);

	while (bytes && strchr(" \t", name[bytes - 1]))
		name[--bytes] = '\0';
	name = base_name(last_word(name));
	if (!*target)
		return *name ? take_directory(aliases, name, error) : refuse("->", error);
	target = base_name(target);
	if (!*name || *name == ':' || !is_id(target))
		return refuse(target, error);
	return add(aliases, name, target, error);
}

static int take(void *context, const char *text, struct km_error *error)
{
	struct km_slab_aliases *aliases = context;
	char line[4096], *arrow, *word, *at;
	size_t bytes = strlen(text);

	if (++aliases->lines > KM_SLAB_ALIASES_LIMIT)
		return km_error_set(error, -ENOSPC, "more than %d lines: this is no listing of /sys/kernel/slab",
				    KM_SLAB_ALIASES_LIMIT);
	if (bytes >= sizeof(line) || !strncmp(text, "->", 2))
		return refuse(text, error);
	memcpy(line, text, bytes + 1);
	arrow = strstr(line, " ->");
	if (arrow && (!arrow[3] || strchr(" \t", arrow[3]))) {
		at = arrow + 3 + strspn(arrow + 3, " \t");
		*arrow = '\0';
		return take_link(aliases, line, at, error);
	}
	/* Headings of ls: "total 0" and, where more than one directory is listed, "/sys/kernel/slab:". */
	if ((!strncmp(line, "total ", 6) && strspn(line + 6, "0123456789") == bytes - 6) ||
	    (*line == '/' && line[bytes - 1] == ':'))
		return 0;
	word = last_word(line);
	if (is_long_form(line))
		return *line == 'd' ? take_directory(aliases, base_name(word), error) : refuse(text, error);
	if (word == line)
		return strchr(line, '\033') ? refuse(text, error) : take_directory(aliases, base_name(line), error);
	/* "NAME :a-0000104", and nothing else */
	at = line + strcspn(line, " \t");
	if (at + strspn(at, " \t") != word || !is_id(base_name(word)))
		return refuse(text, error);
	*at = '\0';
	return take_link(aliases, line, word, error);
}

/* --- order --- */

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->id, y->id);

	return order ? order : strcmp(x->name, y->name);
}

static int compare_names(const void *a, const void *b, void *context)
{
	const struct entry *entries = context;

	return strcmp(entries[*(const uint32_t *)a].name, entries[*(const uint32_t *)b].name);
}

/* A name that is there twice with the same directory is there once. */
static void drop_twins(struct km_slab_aliases *aliases)
{
	size_t kept = 0;

	for (size_t i = 0; i < aliases->count; i++) {
		struct entry *entry = &aliases->entries[i];

		if (kept && !compare_entries(entry, &aliases->entries[kept - 1])) {
			free(entry->name);
			free(entry->id);
		} else {
			aliases->entries[kept++] = *entry;
		}
	}
	aliases->count = kept;
}

/* Entries that share a directory are neighbours. */
static int name_groups(struct km_slab_aliases *aliases)
{
	struct entry *entries = aliases->entries;

	for (size_t first = 0, end; first < aliases->count; first = end) {
		for (end = first + 1; end < aliases->count && !strcmp(entries[end].id, entries[first].id);)
			end++;
		for (size_t i = first; i < end && end - first > 1; i++) {
			if (asprintf(&entries[i].shown, "%s(+%zu)", entries[i].name, end - first - 1) < 0) {
				entries[i].shown = NULL;
				return -ENOMEM;
			}
		}
	}
	return 0;
}

static int put_in_order(struct km_slab_aliases *aliases, const char *path, struct km_error *error)
{
	struct entry *entries = aliases->entries;

	if (!aliases->count)
		return km_error_set(error, -EINVAL,
				    "%s: no slab cache is listed; make it with: ls -l /sys/kernel/slab > FILE", path);
	qsort(entries, aliases->count, sizeof(*entries), compare_entries);
	drop_twins(aliases);
	aliases->by_name = calloc(aliases->count, sizeof(*aliases->by_name));
	if (!aliases->by_name)
		return km_error_set(error, -ENOMEM, "out of memory");
	for (size_t i = 0; i < aliases->count; i++)
		aliases->by_name[i] = (uint32_t)i;
	qsort_r(aliases->by_name, aliases->count, sizeof(*aliases->by_name), compare_names, entries);
	for (size_t i = 1; i < aliases->count; i++) {
		const struct entry *a = &entries[aliases->by_name[i - 1]], *b = &entries[aliases->by_name[i]];

		if (!strcmp(a->name, b->name))
			return km_error_set(error, -EINVAL,
					    "%s: %s is listed twice, in %s and in %s: it must be of one boot", path,
					    a->name, a->id, b->id);
	}
	return name_groups(aliases) ? km_error_set(error, -ENOMEM, "out of memory") : 0;
}

int km_slab_aliases_load(const char *path, struct km_slab_aliases **ret_aliases, struct km_error *error)
{
	struct km_slab_aliases *aliases = calloc(1, sizeof(*aliases));
	int r;

	if (!aliases)
		return km_error_set(error, -ENOMEM, "out of memory");
	r = km_lines_each(path, take, aliases, error);
	if (!r)
		r = put_in_order(aliases, path, error);
	if (r) {
		km_slab_aliases_free(aliases);
		return r;
	}
	*ret_aliases = aliases;
	return 0;
}

void km_slab_aliases_free(struct km_slab_aliases *aliases)
{
	if (!aliases)
		return;
	for (size_t i = 0; i < aliases->count; i++) {
		free(aliases->entries[i].name);
		free(aliases->entries[i].id);
		free(aliases->entries[i].shown);
	}
	free(aliases->entries);
	free(aliases->by_name);
	free(aliases);
}

/* --- looking up --- */

static const struct entry *find(const struct km_slab_aliases *aliases, const char *name)
{
	size_t low = 0, high = aliases ? aliases->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct entry *entry = &aliases->entries[aliases->by_name[middle]];
		int order = strcmp(name, entry->name);

		if (!order)
			return entry;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

size_t km_slab_aliases_count(const struct km_slab_aliases *aliases)
{
	return aliases->count;
}

bool km_slab_aliases_has(const struct km_slab_aliases *aliases, const char *name)
{
	return find(aliases, name) != NULL;
}

size_t km_slab_aliases_of(const struct km_slab_aliases *aliases, const char *name, const char **names, size_t limit)
{
	const struct entry *self = find(aliases, name), *first = self, *end;
	size_t count = 0;

	if (!self)
		return 0;
	end = aliases->entries + aliases->count;
	while (first > aliases->entries && !strcmp(first[-1].id, self->id))
		first--;
	for (const struct entry *entry = first; entry < end && !strcmp(entry->id, self->id); entry++) {
		if (entry == self)
			continue;
		if (count < limit)
			names[count] = entry->name;
		count++;
	}
	return count;
}

bool km_slab_aliases_is_reclaimable(const struct km_slab_aliases *aliases, const char *name)
{
	const struct entry *self = find(aliases, name);
	const char *letter;

	if (!self || *self->id != ':')
		return false;
	for (letter = self->id + 1; isalpha((unsigned char)*letter); letter++) {
		if (*letter == 'a')
			return true;
	}
	return false;
}

const char *km_slab_aliases_shown(const struct km_slab_aliases *aliases, const char *name)
{
	const struct entry *self = find(aliases, name);

	return self && self->shown ? self->shown : name;
}
