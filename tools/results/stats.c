// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	stats.c
 * @brief	Statistics of a sample, and their uncertainty.
 */
#include <math.h>
#include <stdlib.h>

#include "distribution.h"
#include "heap.h"
#include "search.h"
#include "stats.h"
#include "virt_window.h"

/** Those that distributions of durations have, too, are declared with these. */
static const struct virt_statistic *kind_look(int kind)
{
	static const struct virt_statistic own[STATS_N] = {
		[STATS_HMEAN] = { .name = "hmean" },
		[STATS_STDDEV] = { .name = "stddev" },
		[STATS_P75] = { .name = "p75", .per_mille = 750 },
		[STATS_P90] = { .name = "p90", .per_mille = 900 },
		[STATS_P99_5] = { .name = "p99.5", .per_mille = 995 },
		[STATS_P99_9] = { .name = "p99.9", .per_mille = 999 },
	};
	static const enum virt_stat shared[STATS_N] = {
		[STATS_MEAN] = VIRT_STAT_MEAN, [STATS_P50] = VIRT_STAT_P50,
		[STATS_P95] = VIRT_STAT_P95, [STATS_P99] = VIRT_STAT_P99,
	};

	return own[kind].name ? &own[kind] : virt_stat_look(shared[kind]);
}

static const struct stats_interval unknown = { NAN, NAN };

const char *stats_name(int kind)
{
	return kind >= 0 && kind < STATS_N ? kind_look(kind)->name : NULL;
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

static bool is_above(const double *a, const double *b)
{
	return *a > *b;
}

static void negate(double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		values[i] = -values[i];
}

double stats_select(double *values, size_t n, size_t place)
{
	size_t lowest = place + 1;		/* number of values in front, the highest first */
	double value;

	if (place > n / 2) {
		negate(values, n);
		value = -stats_select(values, n, n - 1 - place);
		negate(values, n);
		return value;
	}
	for (size_t i = lowest; i--;)
		HEAP_DOWN(values, lowest, i, is_above);
	for (size_t i = lowest; i < n; i++) {
		if (!is_above(values, &values[i]))
			continue;
		value = values[0];
		values[0] = values[i];
		values[i] = value;
		HEAP_DOWN(values, lowest, 0, is_above);
	}
	return values[0];
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
	if (isinf(value[STATS_STDDEV]))
		value[STATS_STDDEV] = NAN;
}

unsigned int stats_per_mille(int kind)
{
	return kind_look(kind)->per_mille;
}

unsigned int stats_least_values(int kind)
{
	unsigned int above = 1000 - stats_per_mille(kind);

	if (stats_per_mille(kind))
		return (1000 + above - 1) / above;
	return kind == STATS_STDDEV ? 4 : 2;
}

double stats_percentile(const double *sorted, size_t n, int kind,
			enum stats_percentile percentile)
{
	unsigned int per_mille = stats_per_mille(kind);
	uint64_t place = ((uint64_t)n - 1) * per_mille;
	const double *low = &sorted[place / 1000];

	if (percentile == STATS_NEAREST)
		return sorted[virt_nearest_rank(n, per_mille)];
	if (!(place % 1000))
		return *low;
	/* the distance of two numbers may be no double */
	return (double)(*low + ((long double)low[1] - *low) * (place % 1000) / 1000);
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
		if (stats_per_mille(kind))
			value[kind] = stats_percentile(sorted, n, kind, percentile);
	}
}

double stats_percent(double base, double value)
{
	/* the difference of two numbers may be no double */
	long double percent = base ? 100 * ((long double)value - base) / fabsl(base) : NAN;

	return isfinite((double)percent) ? (double)percent : NAN;
}

/* --- how sure -------------------------------------------------------------------------------- */

static struct stats_interval around(double value, double margin)
{
	return (struct stats_interval){ value - margin, value + margin };
}

/** The harmonic mean's is the inverse of that of the mean of the inverses. */
static struct stats_interval harmonic_interval(const double *sorted, size_t n, double student)
{
	long double mean = 0, squares = 0, margin;

	for (size_t i = 0; i < n; i++)
		mean += 1 / (long double)sorted[i] / (long double)n;
	for (size_t i = 0; i < n; i++)
		squares += powl(1 / (long double)sorted[i] - mean, 2);
	margin = student * sqrtl(squares / (long double)(n - 1) / (long double)n);
	return (struct stats_interval){ (double)(1 / (mean + margin)),
					margin < mean ? (double)(1 / (mean - margin)) : NAN };
}

/** The mean without the highest and lowest values. */
static long double trimmed_mean(const double *sorted, size_t n)
{
	size_t cut = (size_t)((double)n / (2 * sqrt((double)n - 4)));
	long double sum = 0;

	cut = cut > (n - 1) / 2 ? (n - 1) / 2 : cut;
	for (size_t i = cut; i < n - cut; i++)
		sum += sorted[i];
	return sum / (long double)(n - 2 * cut);
}

/**
 * D. G. Bonett, Approximate confidence interval for standard deviation of nonnormal distributions
 * (2006): the logarithm of the variance is about normal, and the kurtosis shows how it varies.
 */
static struct stats_interval stddev_interval(const double *sorted, size_t n, double confidence,
					     const double value[STATS_N])
{
	double normal, factor, margin, kurtosis;
	long double center, squares = 0, fourths = 0;

	if (n < 5 || !(value[STATS_STDDEV] > 0))
		return unknown;
	normal = distribution_student(confidence, INFINITY);
	if ((double)n <= normal)
		return unknown;
	center = trimmed_mean(sorted, n);
	for (size_t i = 0; i < n; i++) {
		squares += powl(sorted[i] - (long double)value[STATS_MEAN], 2);
		fourths += powl(sorted[i] - center, 4);
	}
	kurtosis = (double)((long double)n * fourths / (squares * squares));
	factor = (double)n / ((double)n - normal);
	margin = normal * factor *
		 sqrt((kurtosis - (double)(n - 3) / (double)n) / (double)(n - 1));
	return (struct stats_interval){
		value[STATS_STDDEV] * sqrt(factor) * exp(-margin / 2),
		value[STATS_STDDEV] * sqrt(factor) * exp(margin / 2),
	};
}

/** The lowest number of hits that draws reach with a probability of @tail at most; n + 1: none. */
static size_t rank_reached(size_t n, double hit, double tail)
{
	size_t hits;

	SEARCH_FIRST(hits, 1, n + 1, distribution_binomial(n, hit, hits) > tail);
	return hits;
}

/** Between two values of the sample: how many lie below a percentile is binomial. */
static struct stats_interval percentile_interval(const double *sorted, size_t n,
						 unsigned int per_mille, double tail, double value)
{
	double part = (double)per_mille / 1000;
	size_t above = rank_reached(n, part, tail);
	size_t below = rank_reached(n, 1 - part, tail);

	/* a value between two others may be beyond it, if there are few */
	return (struct stats_interval){ below <= n ? fmin(sorted[n - below], value) : NAN,
					above <= n ? fmax(sorted[above - 1], value) : NAN };
}

void stats_intervals(const double *sorted, size_t n, double confidence,
		     const double value[STATS_N], struct stats_interval interval[STATS_N])
{
	double student = n > 1 ? distribution_student(confidence, (double)(n - 1)) : NAN;

	for (int kind = 0; kind < STATS_N; kind++)
		interval[kind] = n > 1 && stats_per_mille(kind) ?
				 percentile_interval(sorted, n, stats_per_mille(kind),
						     (1 - confidence) / 2, value[kind]) :
				 unknown;
	if (n < 2)
		return;
	interval[STATS_MEAN] = around(value[STATS_MEAN],
				      student * value[STATS_STDDEV] / sqrt((double)n));
	/* what is never negative is not so on average */
	if (sorted[0] >= 0)
		interval[STATS_MEAN].low = fmax(interval[STATS_MEAN].low, 0);
	if (!isnan(value[STATS_HMEAN]))
		interval[STATS_HMEAN] = harmonic_interval(sorted, n, student);
	interval[STATS_STDDEV] = stddev_interval(sorted, n, confidence, value);
	for (int kind = 0; kind < STATS_N; kind++) {
		if (!isfinite(interval[kind].low))
			interval[kind].low = NAN;
		if (!isfinite(interval[kind].high))
			interval[kind].high = NAN;
	}
}
