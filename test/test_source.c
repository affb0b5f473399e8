/* SPDX-License-Identifier: GPL-2.0-only */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing.h"

/* A file of its own for each test, gone at the end of it. */
struct file {
	char path[64];
	int fd;
};

static void make_file(struct file *file, const void *data, size_t bytes)
{
	strcpy(file->path, "/tmp/kmstat-source-XXXXXX");
	file->fd = mkstemp(file->path);
	ck_assert_int_ge(file->fd, 0);
	ck_assert_int_eq(write(file->fd, data, bytes), (ssize_t)bytes);
}

static void remove_file(struct file *file)
{
	close(file->fd);
	unlink(file->path);
}

/* What a reader may count on, whatever the bytes come from: the source holds "0123456789". */
static void check_reads(struct km_source *source)
{
	struct km_error error = { 0 };
	char buffer[32];

	ck_assert_uint_eq(km_source_bytes(source), 10);
	ck_assert_int_eq(km_source_read_at(source, 3, buffer, 4, &error), 4);
	ck_assert_mem_eq(buffer, "3456", 4);
	ck_assert_int_eq(km_source_read_at(source, 0, buffer, 10, &error), 10);
	ck_assert_mem_eq(buffer, "0123456789", 10);
	ck_assert_int_eq(km_source_read_at(source, 8, buffer, sizeof(buffer), &error), 2);
	ck_assert_mem_eq(buffer, "89", 2);
	ck_assert_int_eq(km_source_read_at(source, 0, buffer, 0, &error), 0);
	ck_assert_int_eq(km_source_read_at(source, 10, buffer, 1, &error), 0);
	ck_assert_int_eq(km_source_read_at(source, UINT64_MAX, buffer, SIZE_MAX, &error), 0);
	ck_assert_int_eq(error.code, 0);
}

START_TEST(reads_memory)
{
	char name[] = "built";
	struct km_source *source = km_source_new_memory(name, "0123456789", 10);

	name[0] = 'B'; /* the source has its own copy */
	ck_assert_str_eq(km_source_name(source), "built");
	check_reads(source);
	km_source_close(source);
}
END_TEST

START_TEST(reads_empty_memory)
{
	struct km_source *source = km_source_new_memory("empty", NULL, 0);
	char byte;

	ck_assert_uint_eq(km_source_bytes(source), 0);
	ck_assert_int_eq(km_source_read_at(source, 0, &byte, 1, NULL), 0);
	km_source_close(source);
	km_source_close(NULL);
}
END_TEST

START_TEST(reads_a_file)
{
	struct km_source *source = NULL;
	struct km_error error = { 0 };
	struct file file;

	make_file(&file, "0123456789", 10);
	ck_assert_int_eq(km_source_open_file(file.path, &source, &error), 0);
	ck_assert_str_eq(km_source_name(source), file.path);
	check_reads(source);
	km_source_close(source);
	remove_file(&file);
}
END_TEST

/* Wherever whoever opened it has read to. */
START_TEST(reads_standard_input_from_its_start)
{
	struct km_source *source = NULL;
	struct km_error error = { 0 };
	struct file file;

	make_file(&file, "0123456789", 10);
	ck_assert_int_eq(dup2(file.fd, STDIN_FILENO), STDIN_FILENO);
	ck_assert_int_eq(lseek(STDIN_FILENO, 5, SEEK_SET), 5);
	ck_assert_int_eq(km_source_open_file("-", &source, &error), 0);
	ck_assert_str_eq(km_source_name(source), "-");
	check_reads(source);
	km_source_close(source);
	ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0); /* it is not ours to close */
	remove_file(&file);
}
END_TEST

START_TEST(a_file_that_shrank_ends_early)
{
	struct km_source *source = NULL;
	struct km_error error = { 0 };
	struct file file;
	char buffer[10];

	make_file(&file, "0123456789", 10);
	ck_assert_int_eq(km_source_open_file(file.path, &source, &error), 0);
	ck_assert_int_eq(ftruncate(file.fd, 4), 0);
	ck_assert_int_eq(km_source_read_at(source, 2, buffer, 8, &error), 2);
	ck_assert_mem_eq(buffer, "23", 2);
	ck_assert_int_eq(km_source_read_at(source, 6, buffer, 2, &error), 0);
	ck_assert_int_eq(error.code, 0);
	km_source_close(source);
	remove_file(&file);
}
END_TEST

START_TEST(a_file_that_grew_keeps_its_end)
{
	struct km_source *source = NULL;
	struct km_error error = { 0 };
	struct file file;
	char buffer[20];

	make_file(&file, "0123456789", 10);
	ck_assert_int_eq(km_source_open_file(file.path, &source, &error), 0);
	ck_assert_int_eq(write(file.fd, "more", 4), 4);
	ck_assert_int_eq(km_source_read_at(source, 5, buffer, sizeof(buffer), &error), 5);
	km_source_close(source);
	remove_file(&file);
}
END_TEST

/* Opening path gives this code and text, and leaves the output argument alone. */
static void check_refused(const char *path, int code, const char *text)
{
	struct km_source *const untouched = (struct km_source *)&code;
	struct km_source *source = untouched;
	struct km_error error = { 0 };

	ck_assert_int_eq(km_source_open_file(path, &source, &error), code);
	ck_assert_int_eq(error.code, code);
	ck_assert_str_eq(error.text, text);
	ck_assert_ptr_eq(source, untouched);
	ck_assert_int_eq(km_source_open_file(path, &source, NULL), code);
}

START_TEST(refuses_what_is_not_there)
{
	check_refused("/nonexistent/trace.dat", -ENOENT, "/nonexistent/trace.dat: No such file or directory");
}
END_TEST

START_TEST(refuses_a_directory)
{
	check_refused("/tmp", -EISDIR, "/tmp: it is a directory; name the trace file itself");
}
END_TEST

START_TEST(refuses_a_device)
{
	check_refused("/dev/null", -ESPIPE,
		      "/dev/null: it is a device and can not be read out of order; record into a file first");
}
END_TEST

/* Without waiting for someone to open its other end. */
START_TEST(refuses_a_fifo)
{
	char directory[] = "/tmp/kmstat-source-XXXXXX", path[64], text[160];

	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/fifo", directory);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	snprintf(text, sizeof(text), "%s: it is a pipe and can not be read out of order; record into a file first",
		 path);
	check_refused(path, -ESPIPE, text);
	unlink(path);
	rmdir(directory);
}
END_TEST

START_TEST(refuses_a_pipe_on_standard_input)
{
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	check_refused("-", -ESPIPE,
		      "-: standard input is a pipe and can not be read out of order; record into a file first");
	close(ends[0]);
	close(ends[1]);
}
END_TEST

/* A file of procfs says that it has no bytes, as tracefs's "trace" does. */
START_TEST(a_file_without_a_size_is_a_stream)
{
	struct km_source *source = NULL;
	struct km_error error = { 0 };
	char text[6] = "";

	ck_assert_int_eq(km_source_open("/proc/self/status", &source, &error), 0);
	ck_assert(km_source_is_stream(source));
	ck_assert_int_eq(km_source_read_at(source, 0, text, 5, &error), 5);
	ck_assert_str_eq(text, "Name:");
	km_source_close(source);
	check_refused("/proc/self/status", -ESPIPE,
		      "/proc/self/status: it is made as it is read and can not be read out of order; record into a "
		      "file first");
}
END_TEST

START_TEST(says_where_a_read_failed)
{
	struct km_source *source = NULL;
	struct km_error error = { 0 };
	struct file file;
	char buffer[4];
	int closed;

	make_file(&file, "0123456789", 10);
	ck_assert_int_eq(dup2(file.fd, STDIN_FILENO), STDIN_FILENO);
	ck_assert_int_eq(km_source_open_file("-", &source, &error), 0);
	/* A descriptor that can not be read makes pread(2) fail. */
	closed = open(file.path, O_WRONLY);
	ck_assert_int_eq(dup2(closed, STDIN_FILENO), STDIN_FILENO);
	ck_assert_int_eq(km_source_read_at(source, 3, buffer, 4, &error), -EBADF);
	ck_assert_str_eq(error.text, "-: reading at offset 3: Bad file descriptor");
	km_source_close(source);
	close(closed);
	remove_file(&file);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		reads_memory,
		reads_empty_memory,
		reads_a_file,
		reads_standard_input_from_its_start,
		a_file_that_shrank_ends_early,
		a_file_that_grew_keeps_its_end,
		refuses_what_is_not_there,
		refuses_a_directory,
		refuses_a_device,
		refuses_a_fifo,
		refuses_a_pipe_on_standard_input,
		a_file_without_a_size_is_a_stream,
		says_where_a_read_failed,
		NULL,
	};

	return km_test_main("source", tests, 10);
}
