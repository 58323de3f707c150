// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_stats_difference.c
 * @brief	Differences of samples of known origin: seldom found where there are none.
 *
 * tests/bench/bench_compare.c does the same for more sizes, and more often.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_world.h"
#include "enough.h"

static const struct stats_method usual = {
	.percentile = STATS_NEAREST, .confidence = 0.95, .resamples = 2000, .seed = 1,
};

static struct stats_sample sample_of(double *values, size_t n, const struct stats_method *method)
{
	struct stats_sample sample = { values, n, { 0 } };

	stats_sort(values, n);
	stats_describe(values, n, method->percentile, sample.value);
	return sample;
}

static struct stats_difference compare(double *a, size_t n_a, double *b, size_t n_b, int kind,
				       const struct stats_method *method)
{
	struct stats_sample base = sample_of(a, n_a, method);
	struct stats_sample sample = sample_of(b, n_b, method);
	struct stats_difference difference[STATS_N];

	assert_int_equal(stats_differences(&base, &sample, method, difference), 0);
	return difference[kind];
}

/**
 * At most 6 % of differences are found where there are none, whatever the distribution, the
 * statistic and the size; of 300 rounds, that is 18, and less than 29 with a probability of 99 %.
 */
static void test_false_alarms(void **state)
{
	static const size_t sizes[][2] = {
		{ 5, 5 }, { 10, 10 }, { 30, 30 }, { 5, 30 }, { 40, 12 }, { 110, 110 },
	};
	unsigned int sum = 0, cells = 0;

	(void)state;
	for (int i = 0; i < 6 * WORLD_N_POPULATIONS; i += ENOUGH(5)) {
		const size_t *n = sizes[i / WORLD_N_POPULATIONS];
		struct world world = {
			.population = i % WORLD_N_POPULATIONS, .scale = 1, .method = usual,
			.n = { n[0], n[1] },
		};
		struct world_count count;

		world.method.resamples = 400;
		assert_int_equal(world_count(&world, 300, &count), 0);
		for (int kind = 0; kind < STATS_N; kind++) {
			if (count.different[kind] > 28)
				print_error("%s, %zu and %zu: %s: %u of 300\n",
					    world_name(world.population), world.n[0], world.n[1],
					    stats_name(kind), count.different[kind]);
			assert_true(count.different[kind] <= 28);
			assert_true(count.too_few[kind] == 0 || count.too_few[kind] == 300);
			assert_int_equal(count.too_few[kind] == 300,
					 world.n[world.n[1] < world.n[0]] <
					 stats_least_values(kind));
			sum += count.different[kind];
			cells += !count.too_few[kind];
		}
	}
	/* all together, they are more exact; and a test that never alarms is none */
	print_message("%.2f %%\n", sum / 3.0 / cells);
	if (ENOUGH(5) == 1)
		assert_true(sum / 3.0 / cells > 2.5 && sum / 3.0 / cells < 5.5);
}

/** A shift by one standard deviation is found as often as Student's test can, and others nearly. */
static void test_power(void **state)
{
	static const struct { int kind; unsigned int least; } kinds[] = {
		/* of 200; Student's test finds 96.8 % */
		{ STATS_MEAN, 186 }, { STATS_P50, 168 }, { STATS_P75, 152 }, { STATS_P90, 130 },
	};
	struct world world = {
		.population = WORLD_NORMAL, .n = { 30, 30 }, .scale = 1, .shift = 10,
		.method = usual,
	};
	struct world_count count;

	(void)state;
	world.method.resamples = 800;
	assert_int_equal(world_count(&world, 200, &count), 0);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		print_message("%s: %u of 200\n", stats_name(kinds[i].kind),
			      count.different[kinds[i].kind]);
		assert_true(count.different[kinds[i].kind] >= kinds[i].least);
	}
}

/** Percentiles of few values that lie in two heaps are found, too: more of them than one shows. */
static void test_heaps(void **state)
{
	static const struct { size_t n; int kind; unsigned int least; } cells[] = {
		/* of 300; the plain percentiles find 109, 171 and 166 */
		{ 10, STATS_P75, 135 }, { 10, STATS_P90, 178 }, { 20, STATS_P75, 200 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		struct world world = {
			.population = WORLD_BIMODAL, .n = { cells[i].n, cells[i].n }, .scale = 1,
			.shift = world_deviation(WORLD_BIMODAL), .method = usual,
		};
		struct world_count count;

		assert_int_equal(world_count(&world, 300, &count), 0);
		print_message("%s of %zu: %u of 300\n", stats_name(cells[i].kind), cells[i].n,
			      count.different[cells[i].kind]);
		assert_true(count.different[cells[i].kind] >= cells[i].least);
	}
}

static bool holds(const struct stats_interval *interval, double value)
{
	return interval->low <= value && value <= interval->high;
}

/** The interval has the difference in it that is shown, and 0 if that is within noise. */
static void test_interval(void **state)
{
	unsigned int different = 0, same = 0;
	uint64_t random = 11;
	double a[12], b[12];

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct stats_difference difference[STATS_N];
		struct stats_sample base, sample;

		world_sample(round % WORLD_N_POPULATIONS, &random, 1, 0, a, 12);
		world_sample(round % WORLD_N_POPULATIONS, &random, 1 + round % 3 * 0.5, 0, b, 12);
		base = sample_of(a, 12, &usual);
		sample = sample_of(b, 12, &usual);
		assert_int_equal(stats_differences(&base, &sample, &usual, difference), 0);
		for (int kind = 0; kind <= STATS_P90; kind++) {
			const struct stats_difference *found = &difference[kind];
			bool noise = found->verdict == STATS_SAME;

			/* a harmonic mean that may be infinite has none */
			if (!isnan(found->interval.low) || kind != STATS_HMEAN)
				assert_int_equal(noise, holds(&found->interval, 0));
			if (!isnan(found->percent.low))
				assert_int_equal(noise, holds(&found->percent, 0));
			if (kind >= STATS_P50)
				assert_true(holds(&found->interval,
						  sample.value[kind] - base.value[kind]));
			different += !noise;
			same += noise;
		}
	}
	assert_true(different > 100 && same > 100);
}

/** A statistic that is left out is not compared, and does not change the rest. */
static void test_left_out(void **state)
{
	struct stats_method method = usual;
	struct stats_difference all, some;
	double a[30], b[30];
	uint64_t random = 3;

	(void)state;
	world_sample(WORLD_NORMAL, &random, 1, 0, a, 30);
	world_sample(WORLD_NORMAL, &random, 1, 5, b, 30);
	all = compare(a, 30, b, 30, STATS_P75, &method);
	for (int kind = 0; kind < STATS_N; kind++)
		method.left_out[kind] = kind != STATS_P75;
	some = compare(a, 30, b, 30, STATS_P75, &method);
	assert_memory_equal(&all, &some, sizeof(all));
	assert_int_equal(compare(a, 30, b, 30, STATS_MEAN, &method).verdict, STATS_UNKNOWN);
}

/** Much confidence takes many divisions, unless it is clear before: never other verdicts. */
static void test_clear(void **state)
{
	struct stats_method sure = usual, patient = usual;
	double a[40], b[40];
	uint64_t random = 4;

	(void)state;
	sure.confidence = patient.confidence = 0.9975;
	/* as many as there would be are tried at once, so that there is none before */
	patient.resamples = 6400;
	for (int shift = 0; shift <= 12; shift += 3) {
		world_sample(WORLD_NORMAL, &random, 1, 0, a, 40);
		world_sample(WORLD_NORMAL, &random, 1, shift, b, 40);
		for (int kind = STATS_MEAN; kind <= STATS_P95; kind++) {
			struct stats_difference one = compare(a, 40, b, 40, kind, &sure);
			struct stats_difference two = compare(a, 40, b, 40, kind, &patient);

			assert_int_equal(one.verdict, two.verdict);
			assert_int_equal(one.verdict == STATS_SAME, holds(&one.interval, 0));
			/* what differs has had them all */
			if (one.verdict == STATS_DIFFERENT)
				assert_true(one.interval.low == two.interval.low);
		}
	}
}

/** The same mean and median, but one varies three times as much: that is no difference of these. */
static void test_other_spread(void **state)
{
	struct world world = {
		.population = WORLD_NORMAL, .n = { 60, 60 }, .scale = 3, .shift = -200,
		.method = usual,
	};
	struct world_count count;

	(void)state;
	world.method.resamples = 800;
	assert_int_equal(world_count(&world, 200, &count), 0);
	print_message("mean %u, p50 %u of 200\n", count.different[STATS_MEAN],
		      count.different[STATS_P50]);
	assert_true(count.different[STATS_MEAN] <= 21 && count.different[STATS_P50] <= 24);
	assert_true(count.different[STATS_STDDEV] > 190);
}

/** Nothing became something: there is no percentage, but an interval of the difference. */
static void test_from_zero(void **state)
{
	double zeros[30] = { 0 }, values[30];
	uint64_t random = 5;

	(void)state;
	for (size_t n = 5; n <= 30; n += 25) {
		for (int kind = STATS_MEAN; kind < STATS_N; kind++) {
			struct stats_difference difference;

			world_sample(WORLD_NORMAL, &random, 0.3, 0, values, n);
			difference = compare(zeros, n, values, n, kind, &usual);
			if (kind == STATS_HMEAN) {
				assert_int_equal(difference.verdict, STATS_UNKNOWN);
				continue;
			}
			assert_int_equal(difference.verdict, n < stats_least_values(kind) ?
					 STATS_TOO_FEW : STATS_DIFFERENT);
			assert_true(isnan(difference.percent.low));
			if (difference.verdict != STATS_DIFFERENT || kind == STATS_STDDEV)
				continue;
			assert_true(difference.interval.low > 10 && difference.interval.high < 60);
		}
	}
	/* one of many is not enough */
	memset(values, 0, sizeof(values));
	values[0] = 5;
	assert_int_equal(compare(zeros, 30, values, 30, STATS_MEAN, &usual).verdict, STATS_SAME);
	assert_int_equal(compare(zeros, 30, values, 30, STATS_STDDEV, &usual).verdict, STATS_SAME);
	/* and nothing is nothing */
	assert_int_equal(compare(zeros, 30, zeros, 30, STATS_MEAN, &usual).verdict, STATS_SAME);
	assert_int_equal(compare(zeros, 30, zeros, 30, STATS_P50, &usual).verdict, STATS_SAME);
}

/** Numbers at the ends of the range are numbers. */
static void test_far(void **state)
{
	double a[10], b[10];
	struct stats_difference difference;

	(void)state;
	for (int i = 0; i < 10; i++) {
		a[i] = 3e307;
		b[i] = 1.2e308 + 1e305 * i;
	}
	difference = compare(a, 10, b, 10, STATS_MEAN, &usual);
	assert_int_equal(difference.verdict, STATS_DIFFERENT);
	assert_true(difference.percent.low > 300 && difference.percent.high < 303);
	assert_true(difference.interval.low > 9e307 && difference.interval.high < 9.1e307);
	for (int i = 0; i < 10; i++)
		a[i] = i % 2 ? -1.7e308 : 1.7e308;
	for (int i = 0; i < 10; i++)
		b[i] = -a[i];
	assert_int_equal(compare(a, 10, b, 10, STATS_MEAN, &usual).verdict, STATS_SAME);
	/* so small that there is no percentage of it, nor an inverse */
	for (int i = 0; i < 10; i++)
		a[i] = 1e-320;
	for (int i = 0; i < 10; i++)
		b[i] = 1e300 + i;
	for (int kind = STATS_MEAN; kind <= STATS_P75; kind++)
		if (kind != STATS_STDDEV)
			assert_int_equal(compare(a, 10, b, 10, kind, &usual).verdict,
					 STATS_DIFFERENT);
}

/** Two or three values each: Student's distribution takes them as normal. */
static void test_few(void **state)
{
	double two[] = { 1, 1 }, other[] = { 2, 2 }, one[] = { 3 };
	double a[] = { 10, 11, 12 }, b[] = { 20, 21, 22 };
	struct stats_difference difference = compare(a, 3, b, 3, STATS_MEAN, &usual);

	(void)state;
	assert_int_equal(difference.verdict, STATS_DIFFERENT);
	/* 10 plus and minus 2.7764 sqrt(2 / 3) */
	assert_true(fabs(difference.interval.low - 7.733) < 0.001);
	assert_true(fabs(difference.interval.high - 12.267) < 0.001);
	assert_int_equal(compare(a, 3, b, 3, STATS_P50, &usual).verdict, STATS_TOO_FEW);
	assert_int_equal(compare(a, 3, b, 3, STATS_STDDEV, &usual).verdict, STATS_TOO_FEW);
	/* what never varies does not vary by chance */
	assert_int_equal(compare(two, 2, other, 2, STATS_MEAN, &usual).verdict, STATS_DIFFERENT);
	assert_int_equal(compare(two, 2, two, 2, STATS_MEAN, &usual).verdict, STATS_SAME);
	assert_int_equal(compare(two, 2, one, 1, STATS_MEAN, &usual).verdict, STATS_TOO_FEW);
	assert_int_equal(compare(two, 2, one, 0, STATS_MEAN, &usual).verdict, STATS_UNKNOWN);
}

/**
 * Five values each can be divided in 252 ways, of which 12 are extreme: those of samples that are
 * all, or nearly all, above the other one.
 */
static void test_all_divisions(void **state)
{
	double a[] = { 1, 2, 3, 4, 5.5 }, b[] = { 5, 6, 7, 8, 9 }, c[] = { 1.5, 2.5, 5, 6, 7 };
	struct stats_method other = usual;

	(void)state;
	other.seed = 99;
	other.resamples = 252;
	assert_int_equal(compare(a, 5, b, 5, STATS_MEAN, &usual).verdict, STATS_DIFFERENT);
	assert_int_equal(compare(a, 5, c, 5, STATS_MEAN, &usual).verdict, STATS_SAME);
	/* then there is nothing to draw */
	assert_true(compare(a, 5, c, 5, STATS_MEAN, &usual).percent.high ==
		    compare(a, 5, c, 5, STATS_MEAN, &other).percent.high);
}

/** More values than are divided at once: the interval is as wide as the standard errors say. */
static void test_many(void **state)
{
	static double a[20000], b[10000];
	struct stats_method method = usual;
	struct stats_difference difference;
	uint64_t random = 7;

	(void)state;
	method.resamples = 400;
	world_sample(WORLD_NORMAL, &random, 1, 0, a, 20000);
	world_sample(WORLD_NORMAL, &random, 1, 1, b, 10000);
	difference = compare(a, 20000, b, 10000, STATS_MEAN, &method);
	assert_int_equal(difference.verdict, STATS_DIFFERENT);
	/* 2 * 1.96 * 10 * sqrt(1 / 20000 + 1 / 10000) = 0.480 */
	assert_true(difference.interval.high - difference.interval.low > 0.40);
	assert_true(difference.interval.high - difference.interval.low < 0.60);
	difference = compare(a, 20000, b, 10000, STATS_P50, &method);
	assert_int_equal(difference.verdict, STATS_DIFFERENT);
	/* sqrt(pi / 2) times as wide */
	assert_true(difference.interval.high - difference.interval.low > 0.50);
	assert_true(difference.interval.high - difference.interval.low < 0.75);
	assert_int_equal(compare(a, 20000, a, 20000, STATS_P99_9, &method).verdict, STATS_SAME);
}

static void test_deterministic(void **state)
{
	struct stats_method other = usual;
	double a[40], b[40];
	struct stats_difference first, again;
	uint64_t random = 9;

	(void)state;
	world_sample(WORLD_LOGNORMAL, &random, 1, 0, a, 40);
	world_sample(WORLD_LOGNORMAL, &random, 1, 0, b, 40);
	other.seed = 2;
	for (int kind = 0; kind <= STATS_P95; kind++) {
		first = compare(a, 40, b, 40, kind, &usual);
		again = compare(a, 40, b, 40, kind, &usual);
		assert_memory_equal(&first, &again, sizeof(first));
		again = compare(a, 40, b, 40, kind, &other);
		assert_true(first.percent.low != again.percent.low);
	}
	/* between two values, too */
	other.percentile = STATS_LINEAR;
	first = compare(a, 40, b, 40, STATS_P95, &other);
	assert_true(first.percent.low < first.percent.high);
}

/** Less is more negative: the interval says so, and has the difference in it. */
static void test_negative(void **state)
{
	double a[] = { -101, -100, -99, -98, -102, -100 }, b[] = { -51, -50, -49, -48, -52, -50 };
	struct stats_difference difference = compare(a, 6, b, 6, STATS_MEAN, &usual);

	(void)state;
	assert_int_equal(difference.verdict, STATS_DIFFERENT);
	assert_true(difference.percent.low > 47 && difference.percent.low < 50);
	assert_true(difference.percent.high > 50 && difference.percent.high < 53);
	difference = compare(b, 6, a, 6, STATS_MEAN, &usual);
	assert_true(difference.percent.low > -115 && difference.percent.low < -100);
	assert_true(difference.percent.high > -100 && difference.percent.high < -88);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_false_alarms),
		cmocka_unit_test(test_power),
		cmocka_unit_test(test_heaps),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_clear),
		cmocka_unit_test(test_other_spread),
		cmocka_unit_test(test_from_zero),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_all_divisions),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_deterministic),
		cmocka_unit_test(test_negative),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
