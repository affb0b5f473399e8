/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fixture: files for tests: those of test/fixtures, and short-lived ones.
 */
#ifndef KM_FIXTURE_H
#define KM_FIXTURE_H

#include <stddef.h>

/* The path of test/fixtures/NAME; the caller frees it. test_dir is the caller's KM_TEST_DIR. */
char *km_fixture_path(const char *test_dir, const char *name);
/* The whole file with a NUL behind it; the caller frees it. NULL, with errno set, if it can't be read. */
void *km_fixture_read(const char *path, size_t *ret_bytes);
/* Writes a new file in TMPDIR or /tmp; the caller unlinks and frees the path. Ends the test on failure. */
char *km_fixture_write_temporary(const void *data, size_t bytes);

#endif
