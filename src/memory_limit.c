/* SPDX-License-Identifier: GPL-2.0-only */
#include "memory_limit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096

/* A file with one number; UINT64_MAX for "max", no number or no file. */
static uint64_t read_limit(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned long long value;
	char text[64];

	if (!file)
		return UINT64_MAX;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	if (!isdigit((unsigned char)text[0]))
		return UINT64_MAX;
	value = strtoull(text, NULL, 10);
	return value;
}

/* The least limit of a group and all above it. */
static uint64_t least_limit(const char *root, const char *group, const char *name)
{
	char path[PATH_BYTES], at[PATH_BYTES];
	uint64_t least = UINT64_MAX;

	snprintf(at, sizeof(at), "%s", group);
	for (;;) {
		uint64_t limit;
		char *slash;

		if (snprintf(path, sizeof(path), "%s%s/%s", root, strcmp(at, "/") ? at : "", name) <
		    (int)sizeof(path)) {
			limit = read_limit(path);
			if (limit < least)
				least = limit;
		}
		slash = strrchr(at, '/');
		if (!slash)
			return least;
		*slash = '\0';
	}
}

uint64_t km_memory_limit_at(const char *cgroup_file, const char *root, uint64_t ram_bytes)
{
	FILE *file = fopen(cgroup_file, "re");
	char v1_root[PATH_BYTES];
	char line[PATH_BYTES];
	uint64_t least = ram_bytes;

	if (!file)
		return least;
	snprintf(v1_root, sizeof(v1_root), "%s/memory", root);
	while (fgets(line, sizeof(line), file)) { /* HIERARCHY:CONTROLLERS:PATH, cgroups(7) */
		char *controllers = strchr(line, ':');
		char *group = controllers ? strchr(controllers + 1, ':') : NULL;
		uint64_t limit = UINT64_MAX;

		if (!group)
			continue;
		*group++ = '\0';
		controllers++;
		group[strcspn(group, "\n")] = '\0';
		if (!*controllers)
			limit = least_limit(root, group, "memory.max");
		else if (strstr(controllers, "memory"))
			limit = least_limit(v1_root, group, "memory.limit_in_bytes");
		if (limit < least)
			least = limit;
	}
	fclose(file);
	return least;
}

uint64_t km_memory_limit(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
	uint64_t ram = pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : UINT64_MAX;

	return km_memory_limit_at("/proc/self/cgroup", "/sys/fs/cgroup", ram);
}
