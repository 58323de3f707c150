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
#include <math.h>

#include "compare_world.h"
#include "distribution.h"
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

/** 3e307 is not 0, nor is what is far away from it; and there are numbers without a percentage. */
static void test_far(void **state)
{
	static const double wide[] = { -1.7e308, 1.7e308 };
	double value[STATS_N];

	(void)state;
	check(stats_percent(3e307, 1.5e308), 400);
	check(stats_percent(-1e308, 1e308), 200);
	check(stats_percent(5e-324, 1e-323), 100);
	assert_true(isnan(stats_percent(1e-310, 5)));
	stats_describe(wide, 2, STATS_LINEAR, value);
	check(value[STATS_P75] / 0.85e308, 1);
	/* the standard deviation is no double any more */
	assert_true(isnan(value[STATS_STDDEV]));
}

/** As the tables of Student's distribution have them. */
static void test_student(void **state)
{
	static const struct { double confidence, freedom, t; } known[] = {
		{ 0.95, 1, 12.7062 }, { 0.95, 2, 4.3027 }, { 0.95, 3, 3.1824 },
		{ 0.95, 7, 2.3646 }, { 0.95, 30, 2.0423 }, { 0.95, INFINITY, 1.9600 },
		{ 0.99, 5, 4.0321 }, { 0.90, 4, 2.1318 }, { 0.99, INFINITY, 2.5758 },
		{ 0.999, 3, 12.9240 }, { 0.5, 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		double t = distribution_student(known[i].confidence, known[i].freedom);

		assert_true(fabs(t - known[i].t) < 0.0001);
	}
}

/** Added up by hand, and of more draws than a fraction of factorials could hold. */
static void test_binomial(void **state)
{
	(void)state;
	check(distribution_binomial(4, 0.5, 0), 1);
	check(distribution_binomial(4, 0.5, 3), 5.0 / 16);
	check(distribution_binomial(4, 0.5, 5), 0);
	check(distribution_binomial(3, 0.9, 3), 0.729);
	check(distribution_binomial(3, 0.1, 1), 1 - 0.729);
	/* half of an odd number of draws, by symmetry */
	assert_true(fabs(distribution_binomial(2000001, 0.5, 1000001) - 0.5) < 1e-9);
	/* 1.96 standard deviations above the mean, and a half for whole numbers */
	assert_true(fabs(distribution_binomial(1000000, 0.5, 500981) - 0.025) < 0.0002);
}

/** What sorting would put there: of values that differ, of few different ones, and of one. */
static void test_select(void **state)
{
	enum { N = 101 };

	(void)state;
	for (size_t different = 1; different <= N; different += 10) {
		double sorted[N], values[N];

		for (size_t i = 0; i < N; i++)
			sorted[i] = values[i] = (double)(i * 7919 % 4999 % different) - 4;
		stats_sort(sorted, N);
		for (size_t place = 0; place < N; place++)
			assert_true(stats_select(values, N, place) == sorted[place]);
		/* nothing is lost or changed */
		stats_sort(values, N);
		assert_memory_equal(values, sorted, sizeof(values));
	}
	assert_true(stats_select((double[]){ -INFINITY }, 1, 0) < 0);
}

static struct stats_interval interval_of(double *sample, size_t n, int kind)
{
	struct stats_interval intervals[STATS_N];
	double value[STATS_N];

	stats_sort(sample, n);
	stats_describe(sample, n, STATS_NEAREST, value);
	stats_intervals(sample, n, 0.95, value, intervals);
	return intervals[kind];
}

/**
 * Worked out by hand: Student's t for 4 degrees of freedom is 2.7764, and the sample's deviation is
 * sqrt(97.5). Of 6 values, all are below the median in 1.6 % of all cases; of 5, in 3.1 %.
 */
static void test_intervals(void **state)
{
	double sample[] = { 1, 2, 4, 8, 25 }, same[] = { 7, 7, 7, 7, 7 };
	double more[] = { 1, 2, 3, 4, 5, 6 }, negative[] = { 1, 2, 4, 8, 0 };
	struct stats_interval interval = interval_of(sample, 5, STATS_MEAN);

	(void)state;
	assert_true(fabs(interval.high - 8 - 2.7764 * sqrt(97.5 / 5)) < 0.001);
	/* 8 less as much is below 0, as these values never are */
	check(interval.low, 0);
	negative[4] = -1;
	/* now the mean is 2.8, and the squares of the distances add up to 46.8 */
	interval = interval_of(negative, 5, STATS_MEAN);
	assert_true(fabs(2.8 - interval.low - 2.7764 * sqrt(46.8 / 4 / 5)) < 0.001);
	interval = interval_of(sample, 5, STATS_P50);
	assert_true(isnan(interval.low) && isnan(interval.high));
	interval = interval_of(more, 6, STATS_P50);
	check(interval.low, 1);
	check(interval.high, 6);
	/* 36 values reach above the p90 (0.9^36 = 2.3 %), and 35 do not (2.5 %) */
	assert_true(isnan(interval_of((double[35]){ 0 }, 35, STATS_P90).high));
	check(interval_of((double[36]){ 0 }, 36, STATS_P90).high, 0);
	interval = interval_of(same, 5, STATS_HMEAN);
	assert_true(fabs(interval.low - 7) < 1e-12 && fabs(interval.high - 7) < 1e-12);
	interval = interval_of(same, 1, STATS_MEAN);
	assert_true(isnan(interval.low) && isnan(interval.high));
}

/** Of 400 samples of 60 values, at least 92 of 100 intervals hold what is true. */
static void test_coverage(void **state)
{
	/* of the normal distribution with mean 100 and standard deviation 10 */
	static const struct { int kind; double truth; } truths[] = {
		{ STATS_MEAN, 100 }, { STATS_STDDEV, 10 }, { STATS_P50, 100 },
		{ STATS_P75, 106.7449 }, { STATS_P90, 112.8155 },
	};
	double sample[60];
	uint64_t random = 3;

	(void)state;
	for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
		int holds = 0;

		for (int round = 0; round < 400; round++) {
			struct stats_interval interval;

			world_sample(WORLD_NORMAL, &random, 1, 0, sample, 60);
			interval = interval_of(sample, 60, truths[i].kind);
			holds += interval.low <= truths[i].truth &&
				 interval.high >= truths[i].truth;
		}
		print_message("%s: %d of 400\n", stats_name(truths[i].kind), holds);
		assert_in_range(holds, 368, 396);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_undefined),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_student),
		cmocka_unit_test(test_binomial),
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_coverage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
