/* SPDX-License-Identifier: GPL-2.0-only */
#include "fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *km_fixture_path(const char *test_dir, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/fixtures/%s", test_dir, name) < 0)
		abort();
	return path;
}

/* Everything up to the end; no fstat(), so that it also works for /proc and pipes. */
static void *read_all(FILE *in, size_t *ret_bytes)
{
	size_t room = 65536, bytes = 0, got;
	char *data = malloc(room), *larger;

	if (!data)
		return NULL;
	while ((got = fread(data + bytes, 1, room - bytes - 1, in)) > 0) {
		bytes += got;
		if (room - bytes > 1)
			continue;
		room *= 2;
		larger = realloc(data, room);
		if (!larger)
			break;
		data = larger;
	}
	if (ferror(in) || !feof(in)) {
		free(data);
		return NULL;
	}
	data[bytes] = '\0';
	*ret_bytes = bytes;
	return data;
}

void *km_fixture_read(const char *path, size_t *ret_bytes)
{
	FILE *in = fopen(path, "rbe");
	void *data;
	int saved_errno;

	if (!in)
		return NULL;
	data = read_all(in, ret_bytes);
	saved_errno = errno;
	fclose(in);
	errno = saved_errno;
	return data;
}

char *km_fixture_write_temporary(const void *data, size_t bytes)
{
	const char *directory = getenv("TMPDIR");
	const char *from = data;
	char *path;
	int fd;

	if (asprintf(&path, "%s/kmstat-test-XXXXXX", directory && *directory ? directory : "/tmp") < 0)
		abort();
	fd = mkstemp(path);
	if (fd < 0) {
		perror(path);
		abort();
	}
	while (bytes) {
		ssize_t written = write(fd, from, bytes);

		if (written <= 0) {
			perror(path);
			abort();
		}
		from += written;
		bytes -= (size_t)written;
	}
	close(fd);
	return path;
}
