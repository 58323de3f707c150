// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_stats.c
 * @brief	Statistics of samples worked out by hand; intervals of samples of known origin.
 *
 * golden.t090_compare_stats compares larger samples with other programs' results.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "stats.h"

static void check(double value, double expected)
{
	if (fabs(value - expected) > 1e-12 * fmax(1, fabs(expected)))
		print_error("%.17g instead of %.17g\n", value, expected);
	assert_true(fabs(value - expected) <= 1e-12 * fmax(1, fabs(expected)));
}

static void test_by_hand(void **state)
{
	/*
	 * 40 over 5 is 8. 1/1 + 1/2 + 1/4 + 1/8 + 1/25 = 1.915, and 5 / 1.915. Distances from 8:
	 * 7, 6, 4, 0, 17: squares 49 + 36 + 16 + 0 + 289 = 390, over 4 is 97.5.
	 */
	static const double sample[] = { 1, 2, 4, 8, 25 };
	double value[STATS_N];

	(void)state;
	stats_describe(sample, 5, STATS_NEAREST, value);
	check(value[STATS_MEAN], 8);
	check(value[STATS_HMEAN], 5 / 1.915);
	check(value[STATS_STDDEV], sqrt(97.5));
	/* ranks: 2.5 -> 3, 3.75 -> 4, 4.5 -> 5 */
	check(value[STATS_P50], 4);
	check(value[STATS_P75], 8);
	check(value[STATS_P90], 25);
	check(value[STATS_P99_9], 25);
	/* places from 0: 0.5 * 4 = 2; 0.75 * 4 = 3; 0.9 * 4 = 3.6; 0.999 * 4 = 3.996 */
	stats_describe(sample, 5, STATS_LINEAR, value);
	check(value[STATS_P50], 4);
	check(value[STATS_P75], 8);
	check(value[STATS_P90], 8 + 0.6 * 17);
	check(value[STATS_P99_9], 8 + 0.996 * 17);
}

/** 1 .. 1000: rank ceil(q 1000) is q 1000 itself, one off would be seen. */
static void test_ranks(void **state)
{
	static const double expected[] = { 500, 750, 900, 950, 990, 995, 999 };
	double sample[1000], value[STATS_N];

	(void)state;
	for (int i = 0; i < 1000; i++)
		sample[i] = i + 1;
	stats_describe(sample, 1000, STATS_NEAREST, value);
	for (int kind = STATS_P50; kind < STATS_N; kind++)
		check(value[kind], expected[kind - STATS_P50]);
	stats_describe(sample, 1000, STATS_LINEAR, value);
	for (int kind = STATS_P50; kind < STATS_N; kind++)
		check(value[kind], 1 + 0.999 * expected[kind - STATS_P50]);
}

static void test_undefined(void **state)
{
	static const double one[] = { 3 }, zero[] = { 0, 1 }, negative[] = { -4, 4 };
	double value[STATS_N];

	(void)state;
	stats_describe(one, 0, STATS_NEAREST, value);
	for (int kind = 0; kind < STATS_N; kind++)
		assert_true(isnan(value[kind]));
	stats_describe(one, 1, STATS_LINEAR, value);
	check(value[STATS_MEAN], 3);
	check(value[STATS_P99], 3);
	assert_true(isnan(value[STATS_STDDEV]));
	stats_describe(zero, 2, STATS_NEAREST, value);
	assert_true(isnan(value[STATS_HMEAN]));
	check(value[STATS_STDDEV], sqrt(0.5));
	stats_describe(negative, 2, STATS_NEAREST, value);
	assert_true(isnan(value[STATS_HMEAN]));
	check(stats_percent(-4, -2), 50);
	check(stats_percent(4, 5), 25);
	assert_true(isnan(stats_percent(0, 1)));
	assert_null(stats_name(STATS_N));
	assert_string_equal(stats_name(STATS_P99_5), "p99.5");
}

/** As the tables of Student's distribution have them. */
static void test_student(void **state)
{
	static const struct { double confidence, freedom, t; } known[] = {
		{ 0.95, 1, 12.706 }, { 0.95, 2, 4.303 }, { 0.95, 3, 3.182 }, { 0.95, 7, 2.365 },
		{ 0.95, 30, 2.042 }, { 0.95, INFINITY, 1.960 }, { 0.99, 5, 4.032 },
		{ 0.90, 4, 2.132 }, { 0.99, INFINITY, 2.576 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		double t = stats_student(known[i].confidence, known[i].freedom);

		assert_true(fabs(t - known[i].t) < 0.005 * known[i].t);
	}
}

static uint64_t seed = 1;

/** About a normal distribution: the sum of twelve uniform ones. */
static double normal(double mean, double stddev)
{
	double sum = 0;

	for (int i = 0; i < 12; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		sum += (double)(seed >> 33) / 2147483648.0;
	}
	return mean + stddev * (sum - 6);
}

static struct stats_resamples bootstrap(double *sample, size_t n, uint64_t start)
{
	struct stats_resamples resamples = { .n = 400 };

	stats_sort(sample, n);
	assert_int_equal(stats_bootstrap(sample, n, STATS_NEAREST, 0.95, start,
					 &resamples), 0);
	return resamples;
}

/**
 * Of 300 samples of 8 values, 95 of 100 intervals of the mean should hold the true one. Those of
 * the difference of equal populations should hold 0.
 */
static void test_coverage(void **state)
{
	int holds = 0, same = 0;

	(void)state;
	for (int i = 0; i < 300; i++) {
		double a[8], b[8];
		struct stats_resamples x, y;
		struct stats_interval interval;

		for (int j = 0; j < 8; j++) {
			a[j] = normal(100, 10);
			b[j] = normal(100, 10);
		}
		x = bootstrap(a, 8, 2 * i);
		y = bootstrap(b, 8, 2 * i + 1);
		interval = stats_interval(&x, STATS_MEAN, 0.95);
		holds += interval.low <= 100 && interval.high >= 100;
		interval = stats_interval_percent(&x, &y, STATS_MEAN, 0.95);
		same += interval.low <= 0 && interval.high >= 0;
		stats_resamples_free(&x);
		stats_resamples_free(&y);
	}
	print_message("%d and %d of 300\n", holds, same);
	assert_in_range(holds, 276, 297);	/* 92 .. 99 % */
	assert_in_range(same, 276, 297);
}

/** More values than are drawn: the interval is as wide as the standard error says. */
static void test_many(void **state)
{
	static double sample[20000];
	struct stats_resamples resamples;
	struct stats_interval interval;

	(void)state;
	for (int i = 0; i < 20000; i++)
		sample[i] = normal(100, 10);
	resamples = bootstrap(sample, 20000, 7);
	interval = stats_interval(&resamples, STATS_MEAN, 0.95);
	/* 2 * 1.96 * 10 / sqrt(20000) = 0.277 */
	assert_true(interval.high - interval.low > 0.23);
	assert_true(interval.high - interval.low < 0.33);
	stats_resamples_free(&resamples);
}

static void test_deterministic(void **state)
{
	double sample[] = { 1, 2, 3, 4, 5, 6, 7, 9 };
	struct stats_resamples a = bootstrap(sample, 8, 5), b = bootstrap(sample, 8, 5);
	struct stats_resamples c = bootstrap(sample, 8, 6), none = { .n = 10 };
	struct stats_interval interval;

	(void)state;
	assert_memory_equal(a.value[STATS_MEAN], b.value[STATS_MEAN], a.n * sizeof(double));
	assert_true(memcmp(a.value[STATS_MEAN], c.value[STATS_MEAN], a.n * sizeof(double)) != 0);
	/* one value tells nothing of noise */
	assert_int_equal(stats_bootstrap(sample, 1, STATS_NEAREST, 0.95, 1, &none), -EINVAL);
	interval = stats_interval_percent(&a, &none, STATS_MEAN, 0.95);
	assert_true(isnan(interval.low) && isnan(interval.high));
	stats_resamples_free(&a);
	stats_resamples_free(&b);
	stats_resamples_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_undefined),
		cmocka_unit_test(test_student),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_deterministic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
