/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	clock_sweep.h
 * @brief	Inner parts of clock_align.c: count the votes of events for offsets, exactly.
 */
#ifndef KSHARK_VIRT_CLOCK_SWEEP_H
#define KSHARK_VIRT_CLOCK_SWEEP_H

#include <errno.h>

#include "clock_align.h"
#include "clock_limits.h"

/** What a vCPU permits, and what an event of its CPU weighs. */
struct clock_vcpu {
	struct virt_clock_vcpu known;
	int32_t		inside, outside;	/* in 1 / CLOCK_NAT; the latter is taken away */
};

/** Some events of a CPU, by the guest's clock. */
struct clock_sample {
	int64_t		*times;
	size_t		n;
	int32_t		vcpu;
};

/** A line: host time = t + rate * (t - pivot) + offset. */
struct clock_rate {
	double		rate;
	int64_t		pivot;
};

/** The offsets with the most votes. */
struct clock_best {
	int64_t		lo, hi;
	int64_t		score;
};

struct clock_edge {
	int64_t		offset;
	int64_t		change;		/* of the score, from here on */
};

/** Room that is used again and again, and what may still be done, in steps of about a ns. */
struct clock_room {
	struct clock_edge *edges, *others;
	size_t		n, n_edges, n_others;	/* edges there are; and there is room for */
	size_t		n_most;			/* of which there may not be more */
	uint64_t	work;
};

/** clock_spend - take steps away from what may still be done. Return: 0 or -ETIME. */
static inline int clock_spend(uint64_t *work, uint64_t steps)
{
	bool enough = *work >= steps;

	*work -= enough ? steps : *work;
	return enough ? 0 : -ETIME;
}

void clock_room_free(struct clock_room *room);

static inline int64_t clock_apply(const struct clock_rate *rate, int64_t time)
{
	double d = rate->rate * (double)(time - rate->pivot);

	return time + (int64_t)(d < 0 ? d - 0.5 : d + 0.5);
}

/** clock_weigh - fill in the weights, from the shares of time that are known. */
void clock_weigh(struct clock_vcpu *vcpu);

/** clock_weigh_irqs - the same where more is outside in spite of the right offset. */
void clock_weigh_irqs(struct clock_vcpu *vcpu);

/** clock_find - the change in force at a time; -1 before the first one. */
int64_t clock_find(const struct virt_clock_vcpu *vcpu, int64_t time);

/**
 * clock_sweep - the offsets from @lo to @hi with the most votes, exactly
 *
 * Of several stretches of them the longest.
 *
 * Return: 0, -ENOMEM or -ETIME.
 */
int clock_sweep(const struct clock_vcpu *vcpus, const struct clock_sample *samples, int n,
		const struct clock_rate *rate, int64_t lo, int64_t hi, struct clock_room *room,
		struct clock_best *best);

/** clock_sweep_around - all around @at that scores at least as much as @at does. */
int clock_sweep_around(const struct clock_vcpu *vcpus, const struct clock_sample *samples, int n,
		       const struct clock_rate *rate, int64_t lo, int64_t hi, int64_t at,
		       struct clock_room *room, struct clock_best *best);

/** clock_sweep_near - from the first to the last offset that scores at most @less less. */
int clock_sweep_near(const struct clock_vcpu *vcpus, const struct clock_sample *samples, int n,
		     const struct clock_rate *rate, int64_t lo, int64_t hi, int64_t less,
		     struct clock_room *room, struct clock_best *best);

#endif
