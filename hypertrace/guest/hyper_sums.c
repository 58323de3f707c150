// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	hyper_sums.c
 * @brief	Sum the time that slices had a CPU over the runs of each task.
 *
 * A guest may report that a function lasts all the time, again and again. Adding up the task's runs
 * for each slice would then take quadratic time.
 */
#include <stdlib.h>

#include "hyper_private.h"
#include "search.h"

struct hyper_sums {
	const struct hyper_guest *guest;
	hyper_time_fn	time;
	void		*arg;
	int64_t		*before_ns;	/* along guest->by_task: of the task's runs before that */
};

static int64_t time_between(const struct hyper_sums *sums, int32_t cpu, int64_t from_ns,
			    int64_t to_ns)
{
	if (from_ns >= to_ns)
		return 0;
	return sums->time ? sums->time(sums->arg, cpu, from_ns, to_ns) : to_ns - from_ns;
}

struct hyper_sums *hyper_sums_new(const struct hyper_guest *guest, hyper_time_fn time, void *arg)
{
	struct hyper_sums *sums = calloc(1, sizeof(*sums));
	const struct hyper_run *const *runs = guest->by_task;

	if (!sums)
		return NULL;
	sums->guest = guest;
	sums->time = time;
	sums->arg = arg;
	sums->before_ns = calloc(guest->n_runs + 1, sizeof(*sums->before_ns));
	if (!sums->before_ns) {
		free(sums);
		return NULL;
	}
	/* idle runs of several CPUs lie beside each other: they are not added up */
	for (size_t i = 1; i < guest->n_runs; i++)
		if (runs[i]->pid > 0 && runs[i]->pid == runs[i - 1]->pid)
			sums->before_ns[i] = sums->before_ns[i - 1] +
				time_between(sums, runs[i - 1]->cpu, runs[i - 1]->start_ns,
					     runs[i - 1]->end_ns);
	return sums;
}

void hyper_sums_free(struct hyper_sums *sums)
{
	if (sums)
		free(sums->before_ns);
	free(sums);
}

/** The part of a run within a slice. */
static int64_t part_ns(const struct hyper_sums *sums, const struct hyper_run *run,
		       const struct hyper_slice *slice)
{
	return time_between(sums, run->cpu,
			    run->start_ns > slice->start_ns ? run->start_ns : slice->start_ns,
			    run->end_ns < slice->end_ns ? run->end_ns : slice->end_ns);
}

int64_t hyper_sums_slice_ns(const struct hyper_sums *sums, const struct hyper_slice *slice)
{
	const struct hyper_run *const *runs;
	const int64_t *before_ns;
	size_t first, end, n;

	if (slice->pid <= 0)
		return time_between(sums, slice->cpu, slice->start_ns, slice->end_ns);
	runs = hyper_guest_task_runs(sums->guest, slice->pid, &n);
	before_ns = sums->before_ns + ((const struct hyper_run **)runs - sums->guest->by_task);
	SEARCH_FIRST(first, 0, n, runs[first]->end_ns <= slice->start_ns);
	SEARCH_FIRST(end, first, n, runs[end]->start_ns < slice->end_ns);
	if (first == end)
		return 0;
	if (end - first == 1)
		return part_ns(sums, runs[first], slice);
	return part_ns(sums, runs[first], slice) + before_ns[end - 1] - before_ns[first + 1] +
	       part_ns(sums, runs[end - 1], slice);
}
