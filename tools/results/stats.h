/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	stats.h
 * @brief	Statistics of a sample, and their uncertainty.
 */
#ifndef KSHARK_VIRT_STATS_H
#define KSHARK_VIRT_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stats_kind {
	STATS_MEAN = 0,
	STATS_HMEAN,		/* harmonic; only of values above 0 */
	STATS_STDDEV,		/* of the population, by n - 1; two values or more */
	STATS_P50, STATS_P75, STATS_P90, STATS_P95, STATS_P99, STATS_P99_5, STATS_P99_9,
	STATS_N
};

/** What a percentile q of n values x1 <= x2 ... is. */
enum stats_percentile {
	STATS_NEAREST,	/* nearest rank: x at ceil(q n); always a value of the sample */
	STATS_LINEAR,	/* between the two values around 1 + q (n - 1), in proportion: R's type 7,
			 * as GNU datamash and spreadsheets have it */
};

/** stats_name - of a STATS_...; NULL if there are no more. */
const char *stats_name(int kind);

/** stats_sort - ascending. */
void stats_sort(double *values, size_t n);

/**
 * stats_select - the value that sorting would put there
 * @values: their order changes
 * @place: below @n; the nearer to either end, the less work
 */
double stats_select(double *values, size_t n, size_t place);

/**
 * stats_describe - all statistics of a sample
 * @sorted: ascending, finite
 * @value: receives them; what is not defined is NAN
 */
void stats_describe(const double *sorted, size_t n, enum stats_percentile percentile,
		    double value[STATS_N]);

/** stats_percentile - one of them. */
double stats_percentile(const double *sorted, size_t n, int kind,
			enum stats_percentile percentile);

/** stats_per_mille - of a percentile, such as 995; 0 for what is none. */
unsigned int stats_per_mille(int kind);

/**
 * stats_least_values - how many values a sample needs for a statistic: with fewer, a percentile is
 * its highest one, and a standard deviation does not show how it varies
 */
unsigned int stats_least_values(int kind);

/** stats_percent - how much more @value is than @base, in per cent of it; NAN: not known. */
double stats_percent(double base, double value);

/** From where to where; NAN at an end that is not known. */
struct stats_interval {
	double	low, high;
};

/**
 * stats_intervals - where the statistics of the population lie with this confidence
 * @sorted: as for stats_describe()
 * @confidence: such as 0.95
 * @value: as stats_describe() has found them
 * @interval: receives them
 *
 * Means: from Student's t. Percentiles: between two of the values, which holds whatever the
 * distribution; too few values may not reach above a high one. Standard deviation: as Bonett.
 */
void stats_intervals(const double *sorted, size_t n, double confidence,
		     const double value[STATS_N], struct stats_interval interval[STATS_N]);

#endif
