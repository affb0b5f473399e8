/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * error: one caller-owned, fixed-size error message.
 *
 * The first error wins: a later km_error_set() on the same object keeps the
 * text that is there. The text is one line: control characters become '?'.
 * It never allocates and never prints.
 *
 * Codes are negative errno values: -EBADMSG corrupt data, -ENOTSUP a known
 * thing that is not supported, -EOVERFLOW arithmetic, -ENOSPC a bounded
 * resource is full, -ENOMEM, -EINVAL a caller's or user's mistake, or what a
 * system call gave.
 */
#ifndef KM_ERROR_H
#define KM_ERROR_H

#define KM_ERROR_TEXT_BYTES 1024

struct km_error {
	int code; /* 0: no error yet; else a negative errno */
	char text[KM_ERROR_TEXT_BYTES];
};

/*
 * Keep code and text if error is not NULL and holds no error yet.
 * Returns code, so that a caller can write `return km_error_set(...)`.
 */
int km_error_set(struct km_error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
