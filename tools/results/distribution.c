// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	distribution.c
 * @brief	Probabilities that statistics need.
 */
#include <math.h>

#include "distribution.h"

#define MAX_TERMS	100000
#define TINY		1e-300

/** What keeps a continued fraction from dividing by 0. */
static double not_zero(double value)
{
	return fabs(value) < TINY ? TINY : value;
}

/** The continued fraction of the incomplete beta function, by Lentz' method. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), product = d;

	for (int m = 1; m < MAX_TERMS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		product *= d * c;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		step = d * c;
		product *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return product;
}

/**
 * The regularized incomplete beta function.
 * @rest: 1 - @x, which the caller may know more exactly
 * @front: receives its derivative, times @x and @rest
 */
static double incomplete_beta(double a, double b, double x, double rest, double *front)
{
	*front = 0;
	if (x <= 0 || rest <= 0)
		return x > 0;
	*front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest));
	if (x < (a + 1) / (a + b + 2))
		return *front * beta_fraction(a, b, x) / a;
	return 1 - *front * beta_fraction(b, a, rest) / b;
}

/**
 * The part of Student's t distribution that is farther off than @t, on both sides.
 * @slope: receives by how much its logarithm falls per logarithm of @t
 */
static double student_tails(double t, double freedom, double *slope)
{
	double square = t * t, front, tails;

	if (isinf(freedom)) {
		tails = erfc(t / M_SQRT2);
		*slope = t * exp(-square / 2) * M_2_SQRTPI / M_SQRT2 / tails;
		return tails;
	}
	tails = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + square),
				square / (freedom + square), &front);
	*slope = 2 * front / tails;
	return tails;
}

/** Newton's method: in logarithms, the tails are almost a line. */
double distribution_student(double confidence, double freedom)
{
	double wanted = 1 - confidence, low = 0, high = 1, slope, t;

	while (student_tails(high, freedom, &slope) > wanted && high < 1e100) {
		low = high;
		high *= 2;
	}
	t = high;
	for (int i = 0; i < 200; i++) {
		double tails = student_tails(t, freedom, &slope);
		double next = t * exp(log(tails / wanted) / slope);

		if (fabs(next - t) <= t * 1e-15)
			break;
		if (tails > wanted)
			low = t;
		else
			high = t;
		if (!(next > low && next < high))
			next = (low + high) / 2;
		/* there is no number between them */
		if (next <= low || next >= high)
			break;
		t = next;
	}
	return t;
}

double distribution_binomial(size_t n, double hit, size_t least)
{
	double front;

	if (!least)
		return 1;
	if (least > n)
		return 0;
	return incomplete_beta((double)least, (double)(n - least) + 1, hit, 1 - hit, &front);
}
