/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	clock_tracks.h
 * @brief	Inner parts of clock_align.c: list events and handlers, and the times at which they
 *		are possible.
 *
 * Each kind of interrupt is treated as a separate CPU, whose events are the handlers, and as a
 * separate vCPU, which is inside in a window after each injection.
 */
#ifndef KSHARK_VIRT_CLOCK_TRACKS_H
#define KSHARK_VIRT_CLOCK_TRACKS_H

#include "clock_sweep.h"

/**
 * Of a CPU, track c * stride is its events and the others its handlers by kind; of a vCPU, track
 * v * stride is its guest code, and the others are the windows after injections by kind.
 */
struct clock_tracks {
	int32_t		stride;
	struct virt_clock_cpu *cpus;	/* times and n only */
	struct clock_vcpu *vcpus;
	int64_t		*times;		/* room for the handlers' */
	struct virt_clock_change *changes; /* and for windows */
};

/** clock_tracks_make - of what has been checked. Return: 0 or -ENOMEM; free it in any case. */
int clock_tracks_make(const struct virt_clock_problem *problem, struct clock_tracks *tracks);
void clock_tracks_free(struct clock_tracks *tracks);

#endif
