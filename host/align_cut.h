/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	align_cut.h
 * @brief	Find which of a clock's successive offsets applies to each event.
 *
 * If the clock was set back, a step back in the times of the events is the place of the change,
 * where the offsets allow it. If the clock was not set back, and the host's trace records when it
 * was set, the times of the events show the place: no event before the change has the time of an
 * event after it. In all other cases, the state of the vCPU decides: the place of the change is the
 * one with the most events in guest time, among the places that the offsets allow.
 */
#ifndef KSHARK_VIRT_ALIGN_CUT_H
#define KSHARK_VIRT_ALIGN_CUT_H

#include "clock_align.h"
#include "clock_steps.h"

/** From a moment on, host time = guest time * (1 + ppm / 1000000) + offset. */
struct align_piece {
	int64_t		offset;
	int64_t		since;		/* of the host; not for the first one */
	bool		is_known;	/* @since is */
};

/** The events of a CPU; the result is added to the steps. */
struct align_cut {
	int32_t		cpu;
	const int64_t	*times;		/* in the order of the file */
	size_t		n;
	const struct virt_clock_vcpu *vcpu;
	double		ppm;
	uint64_t	*work;		/* that may still be done: clock_align.h */
};

/** Steps whose additions are the whole offsets as yet. */
struct align_cut_steps {
	struct virt_clock_step *all;
	size_t		n, room;
};

/**
 * align_cut_events - give each event the offset that counted when it was recorded
 * @pieces: at least one, in order of time
 *
 * The first step of a CPU is that from the beginning on.
 *
 * Return: 0; -ENODATA if the events contradict the pieces, or that would be too much work or too
 * many steps; or -ENOMEM.
 */
int align_cut_events(const struct align_cut *cut, const struct align_piece *pieces, size_t n,
		     struct align_cut_steps *steps);

#endif
