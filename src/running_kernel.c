/* SPDX-License-Identifier: GPL-2.0-only */
#include "running_kernel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define TEXT_LIMIT    ((size_t)256 << 20) /* of a kallsyms; real ones have some 10 MB */
#define READ_BYTES    ((size_t)1 << 20)
#define NOTES_LIMIT   65536
#define NOTE_BUILD_ID 3 /* NT_GNU_BUILD_ID, elf.h */
#define MODULE_LINE   4096

/* A whole file, NUL-terminated and malloc'd. 1, 0 if it can not be read or is too large, -ENOMEM. */
static int load(const char *path, size_t limit, char **ret_data, size_t *ret_bytes)
{
	FILE *file = fopen(path, "re");
	size_t room = 0, bytes = 0, n;
	char *data = NULL;
	bool is_read;

	if (!file)
		return 0;
	do {
		if (bytes + READ_BYTES >= room) {
			char *larger = realloc(data, room * 2 + READ_BYTES + 1);

			if (!larger) {
				free(data);
				fclose(file);
				return -ENOMEM;
			}
			data = larger;
			room = room * 2 + READ_BYTES;
		}
		n = fread(data + bytes, 1, READ_BYTES, file);
		bytes += n;
	} while (n && bytes <= limit);
	is_read = !ferror(file) && bytes && bytes <= limit;
	fclose(file);
	if (!is_read) {
		free(data);
		return 0;
	}
	data[bytes] = '\0';
	*ret_data = data;
	*ret_bytes = bytes;
	return 1;
}

static bool has_build_id(const struct km_kernel_identity *recorded, const uint8_t *notes, size_t bytes)
{
	size_t at = 0;

	/* Elf64_Nhdr, elf(5): u32 bytes of the name and of what follows it, u32 type; each padded to 4 bytes. */
	while (bytes - at >= 12) {
		uint32_t head[3];
		size_t name, body;

		memcpy(head, notes + at, sizeof(head));
		at += sizeof(head);
		if (head[0] > bytes - at || head[1] > bytes - at)
			return false;
		name = (head[0] + 3) & ~(size_t)3;
		body = (head[1] + 3) & ~(size_t)3;
		if (name > bytes - at || body > bytes - at - name)
			return false;
		if (head[2] == NOTE_BUILD_ID && head[0] == 4 && !memcmp(notes + at, "GNU", 4))
			return head[1] == recorded->build_id_bytes &&
			       !memcmp(notes + at + name, recorded->build_id, head[1]);
		at += name + body;
	}
	return false;
}

static int is_same_build(const struct km_kernel_identity *recorded, const char *path)
{
	size_t bytes;
	char *notes;
	int r;

	if (!recorded->build_id_bytes)
		return 1;
	r = load(path, NOTES_LIMIT, &notes, &bytes);
	if (r <= 0)
		return r;
	r = has_build_id(recorded, (const uint8_t *)notes, bytes);
	free(notes);
	return r;
}

/* `name size references users state address` a line, kernel/module/procfs.c m_show(). */
static bool is_loaded(const struct km_module_map *module, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[MODULE_LINE], name[64];
	bool is_found = false;
	uint64_t address;

	while (file && !is_found && fgets(line, sizeof(line), file)) {
		is_found = sscanf(line, "%63s %*s %*s %*s %*s %" SCNx64, name, &address) == 2 &&
			   !strcmp(name, module->name) && address == module->address;
	}
	if (file)
		fclose(file);
	return is_found;
}

/* `ADDRESS TYPE NAME` a line; _text is of any type. */
static bool has_text_at(const char *kallsyms, uint64_t address)
{
	const char *at = kallsyms;

	while ((at = strstr(at, " _text\n"))) {
		const char *line = at;

		while (line > kallsyms && line[-1] != '\n')
			line--;
		if (at - line >= 2)
			return strtoull(line, NULL, 16) == address;
		at++;
	}
	return false;
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

int km_running_kernel_kallsyms(const struct km_kernel_identity *recorded, const struct km_running_kernel *running,
			       char **ret_text, size_t *ret_bytes)
{
	struct km_running_kernel own = { .kallsyms = "/proc/kallsyms",
					 .modules = "/proc/modules",
					 .notes = "/sys/kernel/notes" };
	struct utsname name;
	int r;

	if (!running) {
		if (uname(&name))
			return 0;
		own.hostname = name.nodename;
		own.release = name.release;
		running = &own;
	}
	if (!recorded->has_text || !recorded->text_address || !is_same_text(recorded->hostname, running->hostname) ||
	    !is_same_text(recorded->release, running->release))
		return 0;
	r = is_same_build(recorded, running->notes);
	if (r <= 0)
		return r;
	for (size_t i = 0; i < recorded->modules_count; i++) {
		if (!is_loaded(&recorded->modules[i], running->modules))
			return 0;
	}
	r = load(running->kallsyms, TEXT_LIMIT, ret_text, ret_bytes);
	if (r > 0 && !has_text_at(*ret_text, recorded->text_address)) {
		free(*ret_text);
		return 0;
	}
	return r;
}
