/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	stats_difference.h
 * @brief	Find the differences between statistics of two samples, and whether chance alone
 *		causes them.
 *
 * Chance alone means that both samples come from the same population. Then each way to divide all
 * values into two samples of these sizes is as probable as the observed one, and a difference is
 * more than noise if it is among the extreme ones of them. This is a permutation test; it holds for
 * each distribution and each size. Differences are measured in their standard errors, so the test
 * also holds approximately if the populations share the value of the statistic, and nothing else.
 */
#ifndef KSHARK_VIRT_STATS_DIFFERENCE_H
#define KSHARK_VIRT_STATS_DIFFERENCE_H

#include "stats.h"

struct stats_sample {
	const double	*sorted;
	size_t		n;
	double		value[STATS_N];		/* as stats_describe() has them */
};

struct stats_method {
	enum stats_percentile percentile;
	double		confidence;
	size_t		resamples;		/* divisions to try, if there are enough; more if
						 * confidence needs them */
	uint64_t	seed;			/* the same one tries the same divisions */
	bool		left_out[STATS_N];	/* need not be compared */
};

enum stats_verdict {
	STATS_UNKNOWN = 0,	/* not defined for these values, or there are none */
	STATS_TOO_FEW,		/* too few values to separate a difference from chance */
	STATS_SAME,		/* within noise: the interval of the difference holds 0 */
	STATS_DIFFERENT,
};

struct stats_difference {
	enum stats_verdict verdict;
	struct stats_interval interval;	/* of the difference; NAN: not known */
	struct stats_interval percent;	/* the same in per cent of the base */
};

/** Divisions at most. */
#define STATS_MAX_RESAMPLES	100000

/** At most this many values are divided; of more, this number is drawn each time. */
#define STATS_MAX_DIVIDED	8192

/**
 * stats_work - about how much stats_differences() has to do: one for each value of a division
 * @base, @sample: how many values they have
 */
double stats_work(size_t base, size_t sample, const struct stats_method *method);

/**
 * stats_differences - compare all statistics of two samples
 * @difference: receives them
 *
 * With too few divisions, Student's distribution decides about means (Welch's t).
 *
 * Return: 0 or -ENOMEM.
 */
int stats_differences(const struct stats_sample *base, const struct stats_sample *sample,
		      const struct stats_method *method,
		      struct stats_difference difference[STATS_N]);

#endif
