/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * t_test: Welch's t-test, whether the means of two small samples differ by
 * more than their own spread explains. It knows numbers only.
 *
 * Of few runs a rank test can not give a p that stays small when it is
 * corrected for a hundred rows (2/252 with five and five): how far two
 * samples are apart is nothing to it. This one weighs that, and supposes that
 * noise is about normal, so the rank test has to agree with it. (B. L. Welch:
 * The generalization of "Student's" problem when several different
 * population variances are involved. Biometrika 34 (1947) 28-35.)
 */
#ifndef KM_T_TEST_H
#define KM_T_TEST_H

#include <stddef.h>

/*
 * The two-sided p that the means are equal; 1 where they are, or a sample has
 * fewer than two values. 0 where they differ and neither sample varies.
 */
double km_t_test(const double *a, size_t a_count, const double *b, size_t b_count);

/* The two-sided p of Student's t with `freedom` degrees, not necessarily whole. */
double km_t_test_p(double t, double freedom);

#endif
