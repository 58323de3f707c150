// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	clock_steps.c
 * @brief	Correct a clock that is set during the recording, or differs from CPU to CPU.
 */
#include "clock_steps.h"

bool virt_clock_steps_are_sorted(const struct virt_clock_step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (steps[i].cpu < 0 || (i && steps[i].cpu < steps[i - 1].cpu) ||
		    steps[i].add > INT64_MAX / 2 || steps[i].add < -INT64_MAX / 2)
			return false;
	return true;
}

void virt_clock_walk_begin(struct virt_clock_walk *walk, const struct virt_clock_step *steps,
			   size_t n, int32_t cpu)
{
	size_t first = 0, last;

	while (first < n && steps[first].cpu < cpu)
		first++;
	last = first;
	while (last < n && steps[last].cpu == cpu)
		last++;
	*walk = (struct virt_clock_walk){ .next = n ? steps + first : steps,
					  .end = n ? steps + last : steps };
}

static bool begins(const struct virt_clock_step *step, bool went_back, int64_t time)
{
	return step->back ? went_back : time >= step->from;
}

int64_t virt_clock_walk_next(struct virt_clock_walk *walk, int64_t time)
{
	bool went_back = walk->any && time < walk->last;
	int64_t sum;

	while (walk->next < walk->end && begins(walk->next, went_back, time)) {
		/* one event goes back once */
		went_back = went_back && !walk->next->back;
		walk->add = walk->next++->add;
	}
	walk->any = true;
	walk->last = time;
	return __builtin_add_overflow(time, walk->add, &sum) ?
	       (walk->add < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/** What does not fit is cut. */
static int64_t fitting(__int128 value)
{
	return value > INT64_MAX / 2 ? INT64_MAX / 2 : value < -INT64_MAX / 2 ? -INT64_MAX / 2 :
	       (int64_t)value;
}

static __int128 rounded(long double value)
{
	return (__int128)(value < 0 ? value - .5L : value + .5L);
}

static bool drifts(double ppm)
{
	return ppm < 0 || ppm > 0;
}

int64_t virt_clock_step_add(int64_t offset, int64_t other, double drift_ppm)
{
	__int128 difference = (__int128)other - offset;

	if (drifts(drift_ppm))
		difference = rounded((long double)difference /
				     (1 + (long double)drift_ppm / 1e6L));
	return fitting(difference);
}

int64_t virt_clock_step_offset(int64_t offset, int64_t add, double drift_ppm)
{
	__int128 difference = add;

	if (drifts(drift_ppm))
		difference = rounded((long double)add * (1 + (long double)drift_ppm / 1e6L));
	difference += offset;
	return difference > INT64_MAX ? INT64_MAX : difference < INT64_MIN ? INT64_MIN :
	       (int64_t)difference;
}
