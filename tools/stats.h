/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	stats.h
 * @brief	Statistics of a sample, and how sure they are (bootstrap).
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

/** stats_name - "mean", "hmean", "stddev", "p50" ... "p99.9"; NULL if there are no more. */
const char *stats_name(int kind);

/** stats_sort - ascending. */
void stats_sort(double *values, size_t n);

/**
 * stats_describe - all statistics of a sample
 * @sorted: ascending, finite
 * @value: receives them; what is not defined is NAN
 */
void stats_describe(const double *sorted, size_t n, enum stats_percentile percentile,
		    double value[STATS_N]);

/**
 * stats_student - how far off the middle part of Student's t distribution reaches
 * @confidence: what lies in this part, from 0.5 to 0.999
 * @freedom: degrees of freedom, 1 or more; INFINITY gives the normal distribution
 *
 * Return: the quantile at (1 + @confidence) / 2, within 0.5 %.
 */
double stats_student(double confidence, double freedom);

/** What each statistic was in each of the resamples. */
struct stats_resamples {
	double	*value[STATS_N];
	size_t	n;
};

/** Values that are drawn for one resample at most. */
#define STATS_MAX_DRAW	4096

/**
 * stats_bootstrap - draw resamples and compute the statistics of each
 * @confidence: of the intervals that they will be asked for
 * @seed: the same one gives the same resamples
 * @resamples: with @n set
 *
 * Each resample has as many values as the sample, drawn with replacement; of a sample above
 * STATS_MAX_DRAW so many. The distance of each result from that of the sample is then made as
 * large as it would be with n drawn, and larger by sqrt(n / (n - 1)), because resamples spread less
 * than samples do, and by the ratio of Student's t for n - 1 degrees of freedom to the normal
 * distribution's quantile: from few values the spread itself is not known well.
 *
 * Return: 0, -ENOMEM, or -EINVAL for a sample of fewer than two values.
 */
int stats_bootstrap(const double *sorted, size_t n, enum stats_percentile percentile,
		    double confidence, uint64_t seed, struct stats_resamples *resamples);
void stats_resamples_free(struct stats_resamples *resamples);

/** From where to where; both NAN if that is not known. */
struct stats_interval {
	double	low, high;
};

/** stats_percent - how much more @value is than @base, in per cent of it; NAN if @base is 0. */
double stats_percent(double base, double value);

/**
 * stats_interval - where a statistic lies with so much confidence
 * @confidence: such as 0.95
 *
 * Return: the middle part of the resamples; unknown without memory, too.
 */
struct stats_interval stats_interval(const struct stats_resamples *resamples, int kind,
				     double confidence);

/** stats_interval_percent - the same for the difference of two samples as stats_percent(). */
struct stats_interval stats_interval_percent(const struct stats_resamples *base,
					     const struct stats_resamples *resamples, int kind,
					     double confidence);

#endif
