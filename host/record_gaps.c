// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_gaps.c
 * @brief	Where records of any CPU of a trace are missing.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "record_gaps.h"

int record_gaps_init(struct record_gaps *gaps, size_t n_cpus)
{
	*gaps = (struct record_gaps){ .n_cpus = n_cpus };
	gaps->last_ns = calloc(n_cpus + 1, sizeof(*gaps->last_ns));
	if (!gaps->last_ns)
		return -ENOMEM;
	for (size_t i = 0; i < n_cpus; i++)
		gaps->last_ns[i] = INT64_MIN;
	return 0;
}

void record_gaps_free(struct record_gaps *gaps)
{
	free(gaps->last_ns);
	free(gaps->all);
	*gaps = (struct record_gaps){ .n = 0 };
}

int record_gaps_take(struct record_gaps *gaps, int cpu, int64_t time_ns, bool has_lost)
{
	int64_t from_ns = gaps->last_ns[cpu];

	gaps->last_ns[cpu] = time_ns;
	if (!has_lost)
		return 0;
	if (ARRAY_GROW(gaps->all, gaps->n, gaps->room))
		return -ENOMEM;
	gaps->all[gaps->n++] = (struct record_gap){ from_ns, time_ns };
	return 0;
}

static int compare_gaps(const void *a, const void *b)
{
	const struct record_gap *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

void record_gaps_join(struct record_gaps *gaps)
{
	size_t n = 0;

	gaps->next = 0;
	if (gaps->n)
		qsort(gaps->all, gaps->n, sizeof(*gaps->all), compare_gaps);
	for (size_t i = 0; i < gaps->n; i++) {
		const struct record_gap gap = gaps->all[i];

		if (n && gap.from_ns < gaps->all[n - 1].to_ns) {
			if (gap.to_ns > gaps->all[n - 1].to_ns)
				gaps->all[n - 1].to_ns = gap.to_ns;
			continue;
		}
		gaps->all[n++] = gap;
	}
	gaps->n = n;
}

size_t record_gaps_segment(struct record_gaps *gaps, int64_t time_ns)
{
	while (gaps->next < gaps->n && gaps->all[gaps->next].to_ns <= time_ns)
		gaps->next++;
	return 2 * gaps->next + (gaps->next < gaps->n && gaps->all[gaps->next].from_ns < time_ns);
}
