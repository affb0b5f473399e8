/* SPDX-License-Identifier: GPL-2.0-only */
#include "t_test.h"

#include <math.h>

#define FRACTION_STEPS 1000
#define FRACTION_LEAST 1e-300 /* in place of 0, where it would be divided by */

struct moments {
	double mean;
	double error; /* of the mean, squared: variance by count */
};

static struct moments moments_of(const double *values, size_t count)
{
	struct moments m = { 0 };
	double squares = 0;

	for (size_t i = 0; i < count; i++)
		m.mean += values[i];
	m.mean /= (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - m.mean) * (values[i] - m.mean);
	m.error = squares / (double)(count - 1) / (double)count;
	return m;
}

static double not_zero(double value)
{
	return fabs(value) < FRACTION_LEAST ? FRACTION_LEAST : value;
}

/* The continued fraction of the incomplete beta function, DLMF 8.17.22, by Lentz's method (DLMF 3.10(iii)). */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), result = d;

	for (int i = 1; i < FRACTION_STEPS; i++) {
		double m = i, even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), step;

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		result *= c * d;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		step = c * d;
		result *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return result;
}

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* The regularised incomplete beta function I_x(a, b), DLMF 8.17.2. */
static double incomplete_beta(double a, double b, double x)
{
	double factor;

	if (x <= 0 || x >= 1)
		return x > 0;
	factor = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	/* The fraction converges fast on the near side of the mean; the other is its mirror. */
	if (x < (a + 1) / (a + b + 2))
		return factor * beta_fraction(a, b, x) / a;
	return 1 - factor * beta_fraction(b, a, 1 - x) / b;
}

double km_t_test_p(double t, double freedom)
{
	return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double km_t_test(const double *a, size_t a_count, const double *b, size_t b_count)
{
	struct moments x, y;
	double difference, error;

	if (a_count < 2 || b_count < 2)
		return 1;
	x = moments_of(a, a_count);
	y = moments_of(b, b_count);
	difference = fabs(x.mean - y.mean);
	error = x.error + y.error;
	if (difference <= 0)
		return 1;
	if (error <= 0)
		return 0;
	/* The degrees of freedom are those of Welch and Satterthwaite. */
	return km_t_test_p(difference / sqrt(error), error * error /
							     (x.error * x.error / (double)(a_count - 1) +
							      y.error * y.error / (double)(b_count - 1)));
}
