/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_waits.h
 * @brief	Sum up the waits of vCPUs within a window, by cause and waker.
 *
 * A wait is a stretch in BLOCKED; virt_window.h defines which waits belong to a window. The cause
 * of a wait is what ended it; VIRT_WAKE_OPEN if the trace does not show its end. Each wait has one
 * cause, so that the time of all causes adds up to that of VIRT_BLOCKED.
 *
 * The wake-up latency is the time that a vCPU is WAKING after a wait. As everywhere, latencies that
 * begin in the window count, also if the wait began before.
 */
#ifndef KSHARK_VIRT_VIRT_WAITS_H
#define KSHARK_VIRT_VIRT_WAITS_H

#include "virt_window.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Waits of one kind. */
struct virt_waited {
	struct virt_stretches	blocked;
	uint64_t		wakes;		/* stretches in WAKING that begin in the window */
	struct virt_dist	latency;	/* of these, whose end the trace shows */
};

/** What one vCPU was woken by. */
struct virt_waker {
	int32_t			vcpu;		/* that waited: global index */
	struct virt_wake	wake;		/* @cause VIRT_WAKE_OPEN and _UNKNOWN: none */
	struct virt_waited	waited;
};

struct virt_waits {
	struct virt_waited	all;
	struct virt_waited	causes[VIRT_N_WAKES];
	struct virt_waker	*wakers;	/* by cause, then by number of waits, most first */
	size_t			n_wakers;
};

/**
 * virt_waits_new - what some vCPUs waited for
 * @query: window, and the vCPUs that are wanted; its parts do not matter
 * @machine: index; all that are wanted of it
 * @vcpu: global index: this one alone, which is of that machine; or VIRT_NONE
 *
 * In O((runs and waits in the window) * log n). Return: to be freed with virt_waits_free(); NULL
 * without memory or when stopped.
 */
struct virt_waits *virt_waits_new(const struct virt_model *model,
				  const struct virt_window_query *query, int32_t machine,
				  int32_t vcpu);
void virt_waits_free(struct virt_waits *waits);

#ifdef __cplusplus
}
#endif
#endif
