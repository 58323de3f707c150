/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	latency_histogram.h
 * @brief	Count how often lengths of time occur, so that many hosts' counts can be added up.
 *
 * Buckets are the same everywhere: 0 to 7 ns have one bucket each, and each power of two from there
 * on has 8 buckets of the same width. If a length is taken for the longest one of its bucket, it is
 * at most 1/8, 12.5 %, too long. That holds for any percentile, and for sums of several histograms.
 */
#ifndef KSHARK_VIRT_LATENCY_HISTOGRAM_H
#define KSHARK_VIRT_LATENCY_HISTOGRAM_H

#include <stdint.h>

/** 63 bits: the first 8, then 60 powers of two. */
#define LATENCY_SUB_BITS	3
#define LATENCY_N_BUCKETS	((64 - LATENCY_SUB_BITS) << LATENCY_SUB_BITS)

/** All zero is an empty one. */
struct latency_histogram {
	uint64_t	count[LATENCY_N_BUCKETS];
	uint64_t	n;		/* all of them */
	int		end;		/* behind the last bucket that is not 0 */
};

/** latency_bucket - which bucket a length belongs to; what is below 0 is taken for 0. */
int latency_bucket(int64_t ns);

/** latency_bucket_first, latency_bucket_last - the shortest and the longest length of a bucket. */
int64_t latency_bucket_first(int bucket);
int64_t latency_bucket_last(int bucket);

/** latency_add - one more. */
void latency_add(struct latency_histogram *histogram, int64_t ns);

/** latency_clear - empty it, in the time of what is in it. */
void latency_clear(struct latency_histogram *histogram);

/**
 * latency_percentile - the smallest length that @per_mille of all do not exceed (nearest
 * rank), at most 1/8 too long
 *
 * Return: ns; 0 for an empty one.
 */
int64_t latency_percentile(const struct latency_histogram *histogram, unsigned int per_mille);

#endif
