/* SPDX-License-Identifier: GPL-2.0-only */
/* Welch's t-test against published values. */
#include <math.h>

#include "t_test.h"
#include "testing.h"

static void expect(double got, double wanted, double tolerance)
{
	if (fabs(got - wanted) > tolerance)
		ck_abort_msg("%.10g, not %.10g", got, wanted);
}

/* Tables of Student's t, two-sided: any textbook has them. */
START_TEST(quantiles_of_tables)
{
	static const struct {
		double t, freedom, p;
	} table[] = { { 12.706, 1, 0.05 }, { 63.657, 1, 0.01 }, { 4.303, 2, 0.05 },   { 2.776, 4, 0.05 },
		      { 4.604, 4, 0.01 },  { 2.306, 8, 0.05 },  { 3.355, 8, 0.01 },   { 5.041, 8, 0.001 },
		      { 2.228, 10, 0.05 }, { 2.042, 30, 0.05 }, { 1.984, 100, 0.05 }, { 1.960, 1e6, 0.05 } };

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		expect(km_t_test_p(table[i].t, table[i].freedom), table[i].p, table[i].p * 0.002);
	expect(km_t_test_p(0, 5), 1, 1e-12);
}
END_TEST

/* Student's sleep data (Biometrika 6, 1908), as R's t.test() has it: t = 1.8608, 17.776 degrees, p = 0.07939. */
START_TEST(the_sleep_data)
{
	static const double a[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0 };
	static const double b[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 };

	expect(km_t_test(a, 10, b, 10), 0.07939, 5e-6);
	expect(km_t_test(b, 10, a, 10), 0.07939, 5e-6);
}
END_TEST

START_TEST(the_edges)
{
	static const double a[] = { 5, 5, 5, 5 }, b[] = { 6, 6, 6, 6 }, c[] = { 4, 5, 6, 5 };

	expect(km_t_test(a, 4, a, 4), 1, 0);
	expect(km_t_test(a, 4, b, 4), 0, 0);
	expect(km_t_test(a, 4, c, 4), 1, 0);
	expect(km_t_test(a, 1, b, 4), 1, 0);
	expect(km_t_test(a, 0, b, 0), 1, 0);
}
END_TEST

/* Far apart is far below what is left of 0.05 by a hundred rows. */
START_TEST(far_apart)
{
	static const double a[] = { 101, 98, 103, 99, 100 }, b[] = { 2101, 2098, 2103, 2120, 2100 };

	ck_assert(km_t_test(a, 5, b, 5) < 1e-8);
	ck_assert(km_t_test(a, 5, b, 5) > 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { quantiles_of_tables, the_sleep_data, the_edges, far_apart, NULL };

	return km_test_main("t_test", tests, 10);
}
