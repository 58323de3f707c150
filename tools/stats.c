// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	stats.c
 * @brief	Statistics of a sample, and how sure they are (bootstrap).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"
#include "virt_window.h"

/** @per_mille: of a percentile; 0: it is none */
static const struct {
	const char	*name;
	unsigned int	per_mille;
} kinds[STATS_N] = {
	[STATS_MEAN] = { "mean", 0 },
	[STATS_HMEAN] = { "hmean", 0 },
	[STATS_STDDEV] = { "stddev", 0 },
	[STATS_P50] = { "p50", 500 },
	[STATS_P75] = { "p75", 750 },
	[STATS_P90] = { "p90", 900 },
	[STATS_P95] = { "p95", 950 },
	[STATS_P99] = { "p99", 990 },
	[STATS_P99_5] = { "p99.5", 995 },
	[STATS_P99_9] = { "p99.9", 999 },
};

const char *stats_name(int kind)
{
	return kind >= 0 && kind < STATS_N ? kinds[kind].name : NULL;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void stats_sort(double *values, size_t n)
{
	if (n)
		qsort(values, n, sizeof(*values), compare_doubles);
}

/* --- statistics ------------------------------------------------------------------------------ */

static void describe_means(const double *sorted, size_t n, double value[STATS_N])
{
	long double sum = 0, inverse = 0, squares = 0, mean;

	for (size_t i = 0; i < n; i++) {
		sum += sorted[i];
		if (sorted[0] > 0)
			inverse += 1 / (long double)sorted[i];
	}
	mean = sum / (long double)n;
	value[STATS_MEAN] = (double)mean;
	if (sorted[0] > 0)
		value[STATS_HMEAN] = (double)((long double)n / inverse);
	if (n < 2)
		return;
	for (size_t i = 0; i < n; i++)
		squares += (sorted[i] - mean) * (sorted[i] - mean);
	value[STATS_STDDEV] = (double)sqrtl(squares / (long double)(n - 1));
}

static double at_per_mille(const double *sorted, size_t n, unsigned int per_mille,
			   enum stats_percentile percentile)
{
	uint64_t place = ((uint64_t)n - 1) * per_mille;
	const double *low = &sorted[place / 1000];

	if (percentile == STATS_NEAREST)
		return sorted[virt_nearest_rank(n, per_mille)];
	return place % 1000 ? *low + (low[1] - *low) * (double)(place % 1000) / 1000 : *low;
}

void stats_describe(const double *sorted, size_t n, enum stats_percentile percentile,
		    double value[STATS_N])
{
	for (int kind = 0; kind < STATS_N; kind++)
		value[kind] = NAN;
	if (!n)
		return;
	describe_means(sorted, n, value);
	for (int kind = 0; kind < STATS_N; kind++) {
		if (kinds[kind].per_mille)
			value[kind] = at_per_mille(sorted, n, kinds[kind].per_mille, percentile);
	}
}

/* --- bootstrap ------------------------------------------------------------------------------- */

/** The generator splitmix64: good enough for drawing, and the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/** The normal distribution's quantile, by halving: 60 times gives all digits. */
static double normal_quantile(double confidence)
{
	double low = 0, high = 40;

	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (erf(middle / M_SQRT2) < confidence)
			low = middle;
		else
			high = middle;
	}
	return low;
}

double stats_student(double confidence, double freedom)
{
	double p = (1 + confidence) / 2, z = normal_quantile(confidence), z2 = z * z;

	if (freedom == 1)
		return tan(M_PI * (p - 0.5));
	if (freedom == 2)
		return (2 * p - 1) / sqrt(2 * p * (1 - p));
	/* Abramowitz and Stegun, 26.7.5 */
	return z + z * (z2 + 1) / (4 * freedom) +
	       z * (5 * z2 * z2 + 16 * z2 + 3) / (96 * pow(freedom, 2)) +
	       z * (3 * pow(z2, 3) + 19 * z2 * z2 + 17 * z2 - 15) / (384 * pow(freedom, 3)) +
	       z * (79 * pow(z2, 4) + 776 * pow(z2, 3) + 1482 * z2 * z2 - 1920 * z2 - 945) /
		       (92160 * pow(freedom, 4));
}

static int allocate(struct stats_resamples *resamples)
{
	for (int kind = 0; kind < STATS_N; kind++) {
		resamples->value[kind] = calloc(resamples->n + 1, sizeof(double));
		if (!resamples->value[kind])
			return -ENOMEM;
	}
	return 0;
}

/**
 * Draw @m of @n values with replacement, in ascending order without sorting: @m + 1 exponential
 * distances from one draw to the next, made to add up to n.
 */
static void draw_sorted(const double *sorted, size_t n, uint64_t *random, double *drawn, size_t m)
{
	double sum = 0, scale;

	for (size_t i = 0; i < m; i++) {
		sum -= log(((double)(next_random(random) >> 11) + 0.5) * 0x1p-53);
		drawn[i] = sum;
	}
	sum -= log(((double)(next_random(random) >> 11) + 0.5) * 0x1p-53);
	scale = (double)n / sum;
	for (size_t i = 0; i < m; i++) {
		size_t at = (size_t)(drawn[i] * scale);

		drawn[i] = sorted[at < n ? at : n - 1];
	}
}

int stats_bootstrap(const double *sorted, size_t n, enum stats_percentile percentile,
		    double confidence, uint64_t seed, struct stats_resamples *resamples)
{
	size_t draw = n < STATS_MAX_DRAW ? n : STATS_MAX_DRAW;
	double sample[STATS_N], value[STATS_N], scale;
	double *drawn;
	int ret;

	for (int kind = 0; kind < STATS_N; kind++)
		resamples->value[kind] = NULL;
	if (n < 2)
		return -EINVAL;
	scale = sqrt((double)draw / (double)(n - 1)) *
		stats_student(confidence, (double)(n - 1)) / stats_student(confidence, INFINITY);
	drawn = malloc(draw * sizeof(*drawn));
	ret = drawn ? allocate(resamples) : -ENOMEM;
	stats_describe(sorted, n, percentile, sample);
	for (size_t i = 0; i < resamples->n && !ret; i++) {
		draw_sorted(sorted, n, &seed, drawn, draw);
		stats_describe(drawn, draw, percentile, value);
		for (int kind = 0; kind < STATS_N; kind++)
			resamples->value[kind][i] = sample[kind] +
						    (value[kind] - sample[kind]) * scale;
	}
	free(drawn);
	if (ret)
		stats_resamples_free(resamples);
	return ret;
}

void stats_resamples_free(struct stats_resamples *resamples)
{
	for (int kind = 0; kind < STATS_N; kind++) {
		free(resamples->value[kind]);
		resamples->value[kind] = NULL;
	}
}

double stats_percent(double base, double value)
{
	double percent = base ? 100 * (value - base) / fabs(base) : NAN;

	return isfinite(percent) ? percent : NAN;
}

static const struct stats_interval unknown = { NAN, NAN };

/** The middle part of @n values; unknown if one of them is. */
static struct stats_interval middle(double *values, size_t n, double confidence)
{
	double tail = (1 - confidence) / 2 * (double)(n - 1);
	size_t i = (size_t)tail;
	struct stats_interval interval;

	for (size_t j = 0; j < n; j++)
		if (!isfinite(values[j]))
			return unknown;
	stats_sort(values, n);
	interval.low = values[i] + (values[i + 1] - values[i]) * (tail - (double)i);
	i = n - 1 - i;
	interval.high = values[i] - (values[i] - values[i - 1]) * (tail - floor(tail));
	return interval;
}

struct stats_interval stats_interval(const struct stats_resamples *resamples, int kind,
				     double confidence)
{
	struct stats_interval interval = unknown;
	double *values;

	if (!resamples->value[kind] || resamples->n < 2)
		return unknown;
	values = malloc(resamples->n * sizeof(*values));
	if (values) {
		memcpy(values, resamples->value[kind], resamples->n * sizeof(*values));
		interval = middle(values, resamples->n, confidence);
	}
	free(values);
	return interval;
}

struct stats_interval stats_interval_percent(const struct stats_resamples *base,
					     const struct stats_resamples *resamples, int kind,
					     double confidence)
{
	struct stats_interval interval = unknown;
	size_t n = base->n < resamples->n ? base->n : resamples->n;
	double *values;

	if (!base->value[kind] || !resamples->value[kind] || n < 2)
		return unknown;
	values = malloc(n * sizeof(*values));
	for (size_t i = 0; values && i < n; i++)
		values[i] = stats_percent(base->value[kind][i], resamples->value[kind][i]);
	if (values)
		interval = middle(values, n, confidence);
	free(values);
	return interval;
}
