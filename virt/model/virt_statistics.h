/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_statistics.h
 * @brief	Distributions of durations, and their statistics, each of which is declared once.
 */
#ifndef KSHARK_VIRT_VIRT_STATISTICS_H
#define KSHARK_VIRT_VIRT_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A distribution of durations. Percentiles are exact: pN is the smallest duration that at least N
 * percent of all durations do not exceed (nearest rank).
 */
struct virt_dist {
	uint64_t	count;
	int64_t		ns;		/* sum */
	int64_t		min, p5, p50, p95, p99, max;
};

/** The statistics of a distribution, in the order of all outputs. */
enum virt_stat {
	VIRT_STAT_MEAN = 0,
	VIRT_STAT_MIN,
	VIRT_STAT_P5,
	VIRT_STAT_P50,
	VIRT_STAT_P95,
	VIRT_STAT_P99,
	VIRT_STAT_MAX,
	VIRT_N_STATS
};

/** What a statistic is called. */
struct virt_statistic {
	const char	*name;		/* for people, e.g. above a column */
	const char	*key;		/* of a column of CSV or a member of JSON that is in ns */
	const char	*meaning;	/* what it says of the durations, "them" */
	unsigned int	per_mille;	/* of a percentile; 0: it is none */
};

/** virt_stat_look - what a statistic is called; static */
const struct virt_statistic *virt_stat_look(enum virt_stat stat);

/** virt_dist_stat - the value of a statistic in ns; 0 of a distribution that is empty */
int64_t virt_dist_stat(const struct virt_dist *dist, enum virt_stat stat);

/** virt_nearest_rank - the index of a percentile among @n sorted values; @n is 1 or more. */
static inline size_t virt_nearest_rank(size_t n, unsigned int per_mille)
{
	return (size_t)(((uint64_t)n * per_mille + 999) / 1000 - 1);
}

/** virt_mean - the mean of @count durations, rounded to the next ns; 0 if there are none */
static inline int64_t virt_mean(int64_t ns, uint64_t count)
{
	int64_t n = (int64_t)count;

	return n > 0 ? ns / n + (ns % n >= n - n / 2) : 0;
}

/** virt_dist_make - the distribution of @n durations; @ns is reordered. */
void virt_dist_make(struct virt_dist *dist, int64_t *ns, size_t n);

#ifdef __cplusplus
}
#endif
#endif
