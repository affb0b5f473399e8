/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * testing: running a list of Check tests, so that a test file is its tests
 * and one main of three lines.
 */
#ifndef KM_TESTING_H
#define KM_TESTING_H

#include <check.h>

/* Runs tests[] up to a NULL. Returns main()'s exit status. seconds: each test's time limit. */
int km_test_main(const char *name, const TTest *const *tests, double seconds);

#endif
