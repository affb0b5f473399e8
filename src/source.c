/* SPDX-License-Identifier: GPL-2.0-only */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
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
	bool is_stream;
	mode_t mode;
	unsigned char *kept; /* of a stream: its first bytes */
	size_t kept_count;
	uint64_t position; /* of a stream: how many bytes were read from it */
	bool is_over;
	_Atomic uint64_t bytes_read;
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

/* procfs and tracefs say that their files are empty: whether a byte can be read tells, or that there is no offset. */
static bool is_made_by_kernel(int fd)
{
	char byte;
	ssize_t n = pread(fd, &byte, 1, 0);

	return n > 0 || (n < 0 && errno == ESPIPE);
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
		if (status.st_size || !is_made_by_kernel(source->fd))
			return 0;
	}
	if (S_ISBLK(status.st_mode)) {
		end = lseek(source->fd, 0, SEEK_END);
		if (end < 0)
			return km_error_set(error, -errno, "%s: %s", source->name, strerror(errno));
		source->bytes = (uint64_t)end;
		return 0;
	}
	source->mode = status.st_mode;
	return km_source_refuse_stream(source, error);
}

int km_source_refuse_stream(const struct km_source *source, struct km_error *error)
{
	return km_error_set(error, -ESPIPE, "%s: %s is %s and can not be read out of order; record into a file first",
			    source->name, source->owns_fd ? "it" : "standard input",
			    S_ISFIFO(source->mode)   ? "a pipe"
			    : S_ISSOCK(source->mode) ? "a socket"
			    : S_ISREG(source->mode)  ? "made as it is read"
						     : "a device");
}

/* measure() refused it for being no file: go on with it as a stream. */
static int make_stream(struct km_source *source, const char *path, struct km_error *error)
{
	if (source->owns_fd) {
		/* Once more, to wait until someone writes: without a writer a read would find the end. */
		int fd;

		do
			fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		while (fd < 0 && errno == EINTR);
		if (fd < 0)
			return km_error_set(error, -errno, "%s: %s", path, strerror(errno));
		close(source->fd);
		source->fd = fd;
	}
	source->kept = malloc(KM_SOURCE_KEPT_BYTES);
	if (!source->kept)
		return km_error_set(error, -ENOMEM, "%s: out of memory", path);
	source->is_stream = true;
	source->bytes = UINT64_MAX;
	return 0;
}

static int open_path(const char *path, bool may_stream, struct km_source **ret_source, struct km_error *error)
{
	struct km_source *source = new_source(path);
	struct km_error refusal = { 0 };
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
	code = measure(source, &refusal);
	if (code == -ESPIPE && may_stream &&
	    (S_ISFIFO(source->mode) || S_ISSOCK(source->mode) || S_ISREG(source->mode)))
		code = make_stream(source, path, error);
	else if (code < 0)
		km_error_set(error, code, "%s", refusal.text);
	if (code < 0)
		goto failed;
	*ret_source = source;
	return 0;

failed:
	km_source_close(source);
	return code;
}

int km_source_open_file(const char *path, struct km_source **ret_source, struct km_error *error)
{
	return open_path(path, false, ret_source, error);
}

int km_source_open(const char *path, struct km_source **ret_source, struct km_error *error)
{
	return open_path(path, true, ret_source, error);
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
	free(source->kept);
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

bool km_source_is_stream(const struct km_source *source)
{
	return source->is_stream;
}

/* Read on until `least` bytes are there or the end. */
static int64_t read_on(struct km_source *source, unsigned char *buffer, size_t bytes, size_t least,
		       struct km_error *error)
{
	size_t done = 0;

	while (done < least && !source->is_over) {
		size_t ask = bytes - done < READ_BYTES ? bytes - done : READ_BYTES;
		ssize_t got = read(source->fd, buffer + done, ask);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return km_error_set(error, -errno, "%s: reading at offset %" PRIu64 ": %s", source->name,
					    source->position, strerror(errno));
		if (!got)
			source->is_over = true;
		done += (size_t)got;
		source->position += (uint64_t)got;
	}
	return (int64_t)done;
}

/* The first bytes go through `kept`, the others straight to the caller. */
static int64_t read_stream(struct km_source *source, uint64_t offset, unsigned char *buffer, size_t bytes, size_t least,
			   struct km_error *error)
{
	size_t done = 0;
	int64_t n;

	if (offset < KM_SOURCE_KEPT_BYTES) {
		size_t end = bytes < KM_SOURCE_KEPT_BYTES - offset ? (size_t)offset + bytes : KM_SOURCE_KEPT_BYTES;
		size_t need = least < end - offset ? (size_t)offset + least : end;

		if (need > source->kept_count) {
			n = read_on(source, source->kept + source->kept_count,
				    KM_SOURCE_KEPT_BYTES - source->kept_count, need - source->kept_count, error);
			if (n < 0)
				return n;
			source->kept_count += (size_t)n;
		}
		if (end > source->kept_count)
			end = source->kept_count;
		if (end <= offset)
			return 0;
		done = end - (size_t)offset;
		memcpy(buffer, source->kept + offset, done);
		if (end < KM_SOURCE_KEPT_BYTES || done >= least)
			return (int64_t)done;
		offset = end;
	}
	if (offset != source->position)
		return km_source_refuse_stream(source, error);
	n = read_on(source, buffer + done, bytes - done, least - done, error);
	return n < 0 ? n : (int64_t)done + n;
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

uint64_t km_source_bytes_read(const struct km_source *source)
{
	return atomic_load_explicit(&source->bytes_read, memory_order_relaxed);
}

static int64_t count_read(struct km_source *source, int64_t n)
{
	if (n > 0)
		atomic_fetch_add_explicit(&source->bytes_read, (uint64_t)n, memory_order_relaxed);
	return n;
}

int64_t km_source_read_some(struct km_source *source, uint64_t offset, void *buffer, size_t bytes, size_t least,
			    struct km_error *error)
{
	if (source->is_stream)
		return count_read(source, read_stream(source, offset, buffer, bytes, least, error));
	return km_source_read_at(source, offset, buffer, bytes, error);
}

int64_t km_source_read_at(struct km_source *source, uint64_t offset, void *buffer, size_t bytes, struct km_error *error)
{
	if (source->is_stream)
		return count_read(source, read_stream(source, offset, buffer, bytes, bytes, error));
	if (offset >= source->bytes)
		return 0;
	if (bytes > source->bytes - offset)
		bytes = (size_t)(source->bytes - offset);
	if (source->fd >= 0)
		return count_read(source, read_file(source, offset, buffer, bytes, error));
	if (bytes)
		memcpy(buffer, source->data + offset, bytes);
	return count_read(source, (int64_t)bytes);
}
