// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	latency_histogram.c
 * @brief	Count how often lengths of time occur, so that many hosts' counts can be added up.
 */
#include <string.h>

#include "latency_histogram.h"
#include "virt_window.h"

#define SUBS	(1 << LATENCY_SUB_BITS)

int latency_bucket(int64_t ns)
{
	int power;

	if (ns < SUBS)
		return ns < 0 ? 0 : (int)ns;
	power = 63 - __builtin_clzll((uint64_t)ns) - LATENCY_SUB_BITS;
	return ((power + 1) << LATENCY_SUB_BITS) + (int)((ns >> power) & (SUBS - 1));
}

int64_t latency_bucket_first(int bucket)
{
	int power = (bucket >> LATENCY_SUB_BITS) - 1;

	return power < 0 ? bucket : (int64_t)(SUBS + (bucket & (SUBS - 1))) << power;
}

int64_t latency_bucket_last(int bucket)
{
	return bucket + 1 < LATENCY_N_BUCKETS ? latency_bucket_first(bucket + 1) - 1 : INT64_MAX;
}

void latency_add(struct latency_histogram *histogram, int64_t ns)
{
	int bucket = latency_bucket(ns);

	histogram->count[bucket]++;
	histogram->n++;
	if (bucket >= histogram->end)
		histogram->end = bucket + 1;
}

void latency_clear(struct latency_histogram *histogram)
{
	memset(histogram->count, 0, (size_t)histogram->end * sizeof(*histogram->count));
	histogram->n = 0;
	histogram->end = 0;
}

int64_t latency_percentile(const struct latency_histogram *histogram, unsigned int per_mille)
{
	uint64_t below = 0, rank;
	int bucket = 0;

	if (!histogram->n)
		return 0;
	rank = virt_nearest_rank(histogram->n, per_mille);
	while (below + histogram->count[bucket] <= rank)
		below += histogram->count[bucket++];
	return latency_bucket_last(bucket);
}
