/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compare_private: what compare*.c share. Nobody else includes it.
 */
#ifndef KM_COMPARE_PRIVATE_H
#define KM_COMPARE_PRIVATE_H

#include "compare.h"

/* The largest corrected p of a difference that is no noise. */
#define KM_COMPARE_SIGNIFICANT 0.05

/* compare.c */
/* Whether every run of both sides is like the first one in something. */
bool km_compare_all(const struct km_compare *compare, bool (*is)(const struct km_run *a, const struct km_run *b));
/* The first run of another kernel than the first of all; NULL: there is none. */
const struct km_run *km_compare_other_kernel(const struct km_compare *compare);
/* uname, or words that it is not told. */
const char *km_compare_kernel(const struct km_run *run);

/* compare_doubts.c: fills the warnings. */
void km_compare_doubt(struct km_compare *compare);

#endif
