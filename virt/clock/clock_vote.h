/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	clock_vote.h
 * @brief	Inner parts of clock_align.c: count the votes of a few events for ranges of offsets.
 */
#ifndef KSHARK_VIRT_CLOCK_VOTE_H
#define KSHARK_VIRT_CLOCK_VOTE_H

#include "clock_sweep.h"

/** Bins of offsets, from @lo on in steps of 1 << @shift. */
struct clock_bins {
	int64_t		lo;
	int		shift;
	size_t		n;
};

/** What becomes of votes. */
enum clock_count {
	CLOCK_ADD = 0,			/* they are added to what there is */
	CLOCK_RAISE,			/* or replace it where they are more */
};

/**
 * clock_vote - what a CPU's events say, at most, for any offset in each of the bins
 * @vcpus, @samples: which belong to each other, @n of both
 * @slack: by which the events may be wrong
 * @counts: by bin
 * @work: what may still be done
 *
 * Return: 0, -ENOMEM or -ETIME.
 */
int clock_vote(const struct clock_vcpu *vcpus, const struct clock_sample *samples, int n,
	       int64_t slack, const struct clock_bins *bins, enum clock_count what,
	       int32_t *counts, uint64_t *work);

/** clock_n_spans - for how many stretches of time of a vCPU each event votes */
size_t clock_n_spans(const struct virt_clock_vcpu *vcpu, int64_t slack,
		     const struct clock_bins *bins);

#endif
