/* SPDX-License-Identifier: GPL-2.0-only */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One pread(2) asks for no more: beyond SSIZE_MAX its result is undefined, and Linux stops below 2 GiB anyway. */
#define READ_BYTES (UINT32_C(1) << 30)

struct km_source {
	char *name;
	uint64_t bytes;
	const unsigned char *data; /* memory; NULL for a file */
	int fd;                    /* -1 for memory */
	int owns_fd;               /* standard input stays open */
};

static struct km_source *new_source(const char *name)
{
	struct km_source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	source->fd = -1;
	source->name = strdup(name);
	if (!source->name) {
		free(source);
		return NULL;
	}
	return source;
}

/* What the file is: sets source->bytes, or refuses what has no bytes at an offset. */
static int measure(struct km_source *source, struct km_error *error)
{
	const char *what = source->owns_fd ? "it" : "standard input";
	struct stat status;
	off_t end;

	if (fstat(source->fd, &status))
		return km_error_set(error, -errno, "%s: %s", source->name, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return km_error_set(error, -EISDIR, "%s: %s is a directory; name the trace file itself", source->name,
				    what);
	if (S_ISREG(status.st_mode)) {
		source->bytes = (uint64_t)status.st_size;
		return 0;
	}
	if (S_ISBLK(status.st_mode)) {
		end = lseek(source->fd, 0, SEEK_END);
		if (end < 0)
			return km_error_set(error, -errno, "%s: %s", source->name, strerror(errno));
		source->bytes = (uint64_t)end;
		return 0;
	}
	return km_error_set(error, -ESPIPE, "%s: %s is %s and can not be read out of order; record into a file first",
			    source->name, what,
			    S_ISFIFO(status.st_mode)   ? "a pipe"
			    : S_ISSOCK(status.st_mode) ? "a socket"
						       : "a device");
}

int km_source_open_file(const char *path, struct km_source **ret_source, struct km_error *error)
{
	struct km_source *source = new_source(path);
	int code;

	if (!source)
		return km_error_set(error, -ENOMEM, "%s: out of memory", path);
	if (!strcmp(path, "-")) {
		source->fd = STDIN_FILENO;
	} else {
		/* O_NONBLOCK: the open of a FIFO that nobody writes to would wait for ever. */
		do
			source->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		while (source->fd < 0 && errno == EINTR);
		if (source->fd < 0) {
			code = km_error_set(error, -errno, "%s: %s", path, strerror(errno));
			goto failed;
		}
		source->owns_fd = 1;
	}
	code = measure(source, error);
	if (code < 0)
		goto failed;
	*ret_source = source;
	return 0;

failed:
	km_source_close(source);
	return code;
}

struct km_source *km_source_new_memory(const char *name, const void *data, size_t bytes)
{
	struct km_source *source = new_source(name);

	if (!source)
		return NULL;
	source->data = data;
	source->bytes = bytes;
	return source;
}

void km_source_close(struct km_source *source)
{
	if (!source)
		return;
	if (source->owns_fd)
		close(source->fd);
	free(source->name);
	free(source);
}

const char *km_source_name(const struct km_source *source)
{
	return source->name;
}

uint64_t km_source_bytes(const struct km_source *source)
{
	return source->bytes;
}

/* A file that shrank since it was opened just ends early. */
static int64_t read_file(struct km_source *source, uint64_t offset, unsigned char *buffer, size_t bytes,
			 struct km_error *error)
{
	size_t done = 0;

	while (done < bytes) {
		size_t ask = bytes - done < READ_BYTES ? bytes - done : READ_BYTES;
		ssize_t got = pread(source->fd, buffer + done, ask, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return km_error_set(error, -errno, "%s: reading at offset %" PRIu64 ": %s", source->name,
					    offset + done, strerror(errno));
		if (!got)
			break;
		done += (size_t)got;
	}
	return (int64_t)done;
}

int64_t km_source_read_at(struct km_source *source, uint64_t offset, void *buffer, size_t bytes, struct km_error *error)
{
	if (offset >= source->bytes)
		return 0;
	if (bytes > source->bytes - offset)
		bytes = (size_t)(source->bytes - offset);
	if (source->fd >= 0)
		return read_file(source, offset, buffer, bytes, error);
	if (bytes)
		memcpy(buffer, source->data + offset, bytes);
	return (int64_t)bytes;
}
