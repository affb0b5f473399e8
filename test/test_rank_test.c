/* SPDX-License-Identifier: GPL-2.0-only */
/* The rank test against published tables, and against counting every arrangement. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "naive_model.h"
#include "rank_test.h"
#include "testing.h"

/* Samples without ties whose U (pairs in which a is the larger) is u. */
static void make_samples(size_t m, size_t n, size_t u, double *a, double *b)
{
	/* b at odd places; each a stands above as many of b as it has to. */
	for (size_t i = 0; i < n; i++)
		b[i] = 100 * (double)(i + 1);
	for (size_t i = m; i-- > 0;) {
		size_t below = u < n ? u : n;

		u -= below;
		a[i] = 100 * (double)below + 50 + (double)i / 100;
	}
	ck_assert_uint_eq(u, 0);
}

static double p_of_u(size_t m, size_t n, size_t u)
{
	double a[64], b[64];

	make_samples(m, n, u, a, b);
	return km_rank_test(a, m, b, n);
}

/*
 * Critical values of U, two-sided 0.05: the largest U with p <= 0.05. As
 * tables of the Mann-Whitney test have them since R. C. Milton, An extended
 * table of critical values for the Mann-Whitney (Wilcoxon) two-sample
 * statistic, JASA 59 (1964) 925-934.
 */
START_TEST(critical_values)
{
	static const struct {
		size_t m, n, u;
	} table[] = {
		{ 4, 4, 0 },    { 4, 5, 1 },   { 4, 6, 2 },  { 5, 5, 2 },    { 5, 6, 3 },
		{ 5, 8, 6 },    { 6, 6, 5 },   { 6, 9, 10 }, { 7, 7, 8 },    { 7, 10, 14 },
		{ 8, 8, 13 },   { 8, 12, 22 }, { 9, 9, 17 }, { 10, 10, 23 }, { 12, 12, 37 },
		{ 15, 15, 64 }, { 3, 5, 0 },   { 3, 8, 2 },  { 10, 20, 55 }, { 20, 20, 127 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		double at = p_of_u(table[i].m, table[i].n, table[i].u);
		double above = p_of_u(table[i].m, table[i].n, table[i].u + 1);

		ck_assert_msg(at > 0 && at <= 0.05, "%zu, %zu: U %zu has p %g", table[i].m, table[i].n, table[i].u, at);
		ck_assert_msg(above > 0.05, "%zu, %zu: U %zu has p %g", table[i].m, table[i].n, table[i].u + 1, above);
	}
}
END_TEST

/* Mann and Whitney's own table of P(U <= u) for n = 4, m = 4 and others, doubled for both sides. */
START_TEST(published_probabilities)
{
	static const double four[] = { .014, .029, .057, .100, .171, .243, .343, .443 };
	static const double five[] = { .004, .008, .016, .028, .048, .075, .111, .155, .210, .274, .345, .421 };

	for (size_t u = 0; u < sizeof(four) / sizeof(four[0]); u++)
		ck_assert_double_eq_tol(p_of_u(4, 4, u) / 2, four[u], 0.00051);
	for (size_t u = 0; u < sizeof(five) / sizeof(five[0]); u++)
		ck_assert_double_eq_tol(p_of_u(5, 5, u) / 2, five[u], 0.00051);
	/* Three and three can not get below 0.1. */
	ck_assert_double_eq_tol(p_of_u(3, 3, 0), 0.1, 1e-12);
	ck_assert_double_eq_tol(km_rank_test_least_p(3, 3), 0.1, 1e-12);
	ck_assert_double_eq_tol(km_rank_test_least_p(4, 4), 2.0 / 70, 1e-12);
	ck_assert_double_eq_tol(km_rank_test_least_p(1, 1), 1, 1e-12);
}
END_TEST

/* Twice the distance of a's rank sum from its mean, by counting pairs. */
static long distance(const double *a, size_t m, const double *b, size_t n)
{
	long twice = 0;

	for (size_t i = 0; i < m; i++) {
		for (size_t k = 0; k < n; k++)
			twice += a[i] > b[k] ? 1 : a[i] < b[k] ? -1 : 0;
	}
	return labs(twice);
}

/* With ties: every way to deal the pooled values, one by one. */
START_TEST(every_arrangement)
{
	uint64_t random = 42;

	for (unsigned round = 0; round < 300; round++) {
		double pooled[12], a[12], b[12];
		size_t m = 1 + naive_random(&random) % 6, n = 1 + naive_random(&random) % 6, count = m + n;
		unsigned distinct = 1 + (unsigned)(naive_random(&random) % 8);
		double far = 0, all = 0;
		long seen;

		for (size_t i = 0; i < count; i++)
			pooled[i] = (double)(naive_random(&random) % distinct);
		seen = distance(pooled, m, pooled + m, n);
		for (unsigned mask = 0; mask < 1U << count; mask++) {
			size_t na = 0, nb = 0;

			if ((size_t)__builtin_popcount(mask) != m)
				continue;
			for (size_t i = 0; i < count; i++) {
				if (mask >> i & 1)
					a[na++] = pooled[i];
				else
					b[nb++] = pooled[i];
			}
			all++;
			far += distance(a, m, b, n) >= seen;
		}
		ck_assert_double_eq_tol(km_rank_test(pooled, m, pooled + m, n), far / all, 1e-12);
	}
}
END_TEST

START_TEST(large_samples)
{
	double a[64], b[64];
	double p;

	/* n = m = 20 is exact; 21 and 21 is not, and has to be close to what the exact one is next to it. */
	ck_assert_double_eq_tol(p_of_u(20, 20, 127), p_of_u(21, 21, 143), 0.01);
	for (size_t i = 0; i < 64; i++) {
		a[i] = (double)(i % 8);
		b[i] = (double)(i % 8) + 4;
	}
	p = km_rank_test(a, 64, b, 64);
	ck_assert(p > 0 && p < 1e-6);
	ck_assert_double_eq_tol(km_rank_test(a, 64, a, 64), 1, 1e-12);
	for (size_t i = 0; i < 64; i++)
		a[i] = 7;
	ck_assert_double_eq_tol(km_rank_test(a, 64, a, 64), 1, 1e-12);
}
END_TEST

START_TEST(odd_samples)
{
	double a[] = { 1, 2, 3, 4 }, b[] = { 5, 6, 7, 8 };

	ck_assert_double_eq_tol(km_rank_test(a, 0, b, 4), 1, 1e-12);
	ck_assert_double_eq_tol(km_rank_test(a, 4, b, 0), 1, 1e-12);
	ck_assert_double_eq_tol(km_rank_test(a, 4, a, 4), 1, 1e-12);
	ck_assert_double_eq_tol(km_rank_test(a, 4, b, 4), 2.0 / 70, 1e-12);
	ck_assert_double_eq_tol(km_rank_test(b, 4, a, 4), 2.0 / 70, 1e-12);
	ck_assert_double_eq_tol(km_rank_test(a, 1, b, 4), 0.4, 1e-12);
	ck_assert(km_rank_test(a, KM_RANK_TEST_MOST + 1, b, 4) < 0);
}
END_TEST

/* The example of Benjamini and Hochberg (1995, section 4): four of fifteen at 0.05. */
START_TEST(benjamini_hochberg)
{
	double p[] = { 0.0459, 0.0001, 0.0004, 0.0019, 1.0000, 0.0201, 0.0278, 0.0298,
		       0.0344, 0.0095, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590 };
	size_t taken = 0;

	ck_assert_int_eq(km_rank_test_correct(p, 15), 0);
	for (size_t i = 0; i < 15; i++)
		taken += p[i] <= 0.05;
	ck_assert_uint_eq(taken, 4);
	ck_assert_double_eq_tol(p[1], 0.0015, 1e-9);
	ck_assert_double_eq_tol(p[9], 0.0095 * 15 / 4, 1e-9);
	/* A smaller p behind a larger one may not end up above it: 0.0298 * 15 / 7 is less than 0.0278 * 15 / 6. */
	ck_assert_double_eq_tol(p[5], 0.0201 * 15 / 5, 1e-9);
	ck_assert_double_eq_tol(p[6], 0.0298 * 15 / 7, 1e-9);
	ck_assert_double_eq_tol(p[4], 1, 1e-12);
	ck_assert_int_eq(km_rank_test_correct(p, 0), 0);
}
END_TEST

/*
 * Unchanged rows: corrected, hardly any run of the whole marks one; without
 * the correction some of 200 are marked in nearly every run.
 */
START_TEST(noise_is_not_marked)
{
	uint64_t random = 7;
	unsigned marked = 0, raw = 0, rounds = 100;

	for (unsigned round = 0; round < rounds; round++) {
		double p[200];
		unsigned any = 0, any_raw = 0;

		for (size_t row = 0; row < 200; row++) {
			double a[6], b[6];

			for (size_t i = 0; i < 6; i++) {
				a[i] = (double)(naive_random(&random) % 1000);
				b[i] = (double)(naive_random(&random) % 1000);
			}
			p[row] = km_rank_test(a, 6, b, 6);
			any_raw += p[row] < 0.05;
		}
		ck_assert_int_eq(km_rank_test_correct(p, 200), 0);
		for (size_t row = 0; row < 200; row++)
			any += p[row] < 0.05;
		marked += any > 0;
		raw += any_raw > 0;
	}
	ck_assert_uint_ge(raw, 95);
	ck_assert_uint_le(marked, 10);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { critical_values, published_probabilities, every_arrangement,   large_samples,
				       odd_samples,     benjamini_hochberg,      noise_is_not_marked, NULL };

	return km_test_main("rank_test", tests, 60);
}
