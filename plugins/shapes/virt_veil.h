/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_veil.h
 * @brief	Compute the parts of a KernelShark graph that fade because the graph wrongly shows
 *		them as busy.
 *
 * KernelShark draws a task until it sees another one: it does not know that a vCPU has no pCPU
 * during this time, or that a guest does not execute. The cost is that of the columns.
 */
#ifndef KSHARK_VIRT_VIRT_VEIL_H
#define KSHARK_VIRT_VIRT_VEIL_H

#include "virt_shading.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What fades. */
enum virt_veil_kind {
	VIRT_VEIL_OFF_PCPU,	/* the vCPU's thread or vCPU: it is on no pCPU */
	VIRT_VEIL_OFF_GUEST,	/* a guest's CPU or task: its vCPU does not execute guest code */
};

/** Where a trace shows nothing at all of a vCPU; never changes. */
struct virt_lost;

/**
 * virt_lost_new - look for it, in O(intervals)
 *
 * Return: to be given to virt_lost_free(); NULL without memory.
 */
struct virt_lost *virt_lost_new(const struct virt_model *model, int32_t vcpu);
void virt_lost_free(struct virt_lost *lost);

/** virt_lost_ns - how much of a window, in O(log n). */
int64_t virt_lost_ns(const struct virt_lost *lost, int64_t from_ns, int64_t to_ns);

/**
 * virt_veil_add - a part of a window in which a graph shows as busy what a vCPU did
 * @ns: of each column; the vCPU's states in [from, to) are added, for virt_veil() without @lost
 *
 * Of a guest's task, each time that it has a CPU. In O(intervals).
 */
void virt_veil_add(const struct virt_model *model, int32_t vcpu, int64_t from_ns, int64_t to_ns,
		   const struct virt_shade_window *window, int64_t (*ns)[VIRT_N_STATES]);

/** Columns side by side that fade alike. */
struct virt_veil_run {
	int32_t	first, n;
	uint8_t	parts;		/* of the window's n_parts; never 0 */
};

/**
 * virt_veil - what of each column fades: the share of its time
 * @ns: as virt_shade_times() gave them
 * @lost: of this vCPU; NULL: all of UNKNOWN is lost, as in traces that are split
 * @runs: receives them from left to right; room for @window's n_columns
 *
 * What the trace does not show does not fade.
 *
 * Return: number of runs, or -EINVAL.
 */
int virt_veil(const int64_t (*ns)[VIRT_N_STATES], const struct virt_lost *lost,
	      enum virt_veil_kind kind, const struct virt_shade_window *window,
	      struct virt_veil_run *runs);

#ifdef __cplusplus
}
#endif
#endif
