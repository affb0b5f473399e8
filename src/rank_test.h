/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rank_test: whether two small samples differ by more than chance explains:
 * the Mann-Whitney U test (Wilcoxon rank sum), and the correction for asking
 * many times at once. It knows numbers only.
 *
 * The test needs no assumption about the shape of the noise: it asks how many
 * of the ways to deal the pooled values into two samples of these sizes give
 * rank sums at least as far apart. (H. B. Mann, D. R. Whitney: On a test of
 * whether one of two random variables is stochastically larger than the
 * other. Annals of Mathematical Statistics 18 (1947) 50-60.)
 */
#ifndef KM_RANK_TEST_H
#define KM_RANK_TEST_H

#include <stddef.h>

/* Up to this many values in both samples together p is exact, with ties too; beyond, the normal approximation. */
#define KM_RANK_TEST_EXACT 40
/* Below this many values a side no p of interest can be reached: 2/20 = 0.1 at best with three and three. */
#define KM_RANK_TEST_LEAST 4
/* The most values of one sample. */
#define KM_RANK_TEST_MOST 4096

/*
 * The two-sided p of the hypothesis that both samples come from one
 * distribution; 1 where all values are equal or a sample is empty. Returns a
 * negative value (-ENOMEM, -E2BIG) where it can not be had.
 */
double km_rank_test(const double *a, size_t a_count, const double *b, size_t b_count);

/* The smallest p that samples of these sizes can give without ties, within what is exact: 2 / C(a + b, a). */
double km_rank_test_least_p(size_t a_count, size_t b_count);

/*
 * Correct p values for their number: each becomes the smallest false
 * discovery rate at which it would still be taken as significant, so that of
 * all rows marked at 0.05 at most 5 % are expected to be chance. (Y.
 * Benjamini, Y. Hochberg: Controlling the false discovery rate. Journal of
 * the Royal Statistical Society B 57 (1995) 289-300.) In place, the order is
 * kept. Returns 0 or -ENOMEM.
 */
int km_rank_test_correct(double *p, size_t count);

#endif
