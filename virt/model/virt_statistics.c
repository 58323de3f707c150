// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_statistics.c
 * @brief	Distributions of durations, and their statistics.
 */
#include "select.h"
#include "virt_span.h"
#include "virt_statistics.h"

/** @place: of its value in a distribution, which does not keep its mean */
static const struct stat {
	struct virt_statistic	look;
	size_t			place;
} stats[VIRT_N_STATS] = {
	[VIRT_STAT_MEAN] = { { "mean", "mean_ns", "their mean", 0 }, 0 },
	[VIRT_STAT_MIN] = { { "min", "min_ns", "the shortest of them", 0 },
			    offsetof(struct virt_dist, min) },
	[VIRT_STAT_P5] = { { "p5", "p5_ns", "5 % of them take no longer", 50 },
			   offsetof(struct virt_dist, p5) },
	[VIRT_STAT_P50] = { { "p50", "p50_ns", "half of them take no longer", 500 },
			    offsetof(struct virt_dist, p50) },
	[VIRT_STAT_P95] = { { "p95", "p95_ns", "95 % of them take no longer", 950 },
			    offsetof(struct virt_dist, p95) },
	[VIRT_STAT_P99] = { { "p99", "p99_ns", "99 % of them take no longer", 990 },
			    offsetof(struct virt_dist, p99) },
	[VIRT_STAT_MAX] = { { "max", "max_ns", "the longest of them", 0 },
			    offsetof(struct virt_dist, max) },
};

const struct virt_statistic *virt_stat_look(enum virt_stat stat)
{
	return &stats[stat].look;
}

int64_t virt_dist_stat(const struct virt_dist *dist, enum virt_stat stat)
{
	if (stat == VIRT_STAT_MEAN)
		return virt_mean(dist->ns, dist->count);
	return *(const int64_t *)((const char *)dist + stats[stat].place);
}

void virt_dist_make(struct virt_dist *dist, int64_t *ns, size_t n)
{
	size_t lo = 0, middle;

	*dist = (struct virt_dist){ .count = n };
	if (!n)
		return;
	dist->min = dist->max = ns[0];
	for (size_t i = 0; i < n; i++) {
		virt_add_ns(&dist->ns, ns[i]);
		if (ns[i] < dist->min)
			dist->min = ns[i];
		if (ns[i] > dist->max)
			dist->max = ns[i];
	}
	/* in halves, and percentiles ascend: what lies before the last one found is smaller */
	middle = virt_nearest_rank(n, stats[VIRT_STAT_P50].look.per_mille);
	SELECT_NTH(ns, 0, n, middle);
	for (int stat = 0; stat < VIRT_N_STATS; stat++) {
		size_t k;

		if (!stats[stat].look.per_mille)
			continue;
		k = virt_nearest_rank(n, stats[stat].look.per_mille);
		if (k != middle)
			SELECT_NTH(ns, lo, k < middle ? middle : n, k);
		*(int64_t *)((char *)dist + stats[stat].place) = ns[k];
		lo = k;
	}
}
