/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	align_cut.h
 * @brief	Which of a clock's offsets, one after the other, counts for which event.
 *
 * Where the host's trace tells when a clock was set, events before and after it cannot be at the
 * same of its times but if it was set back. Otherwise what the vCPU did tells them apart: of all
 * places that the offsets allow, the one is taken at which the most events lie in guest time.
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
