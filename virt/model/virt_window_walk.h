/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_window_walk.h
 * @brief	Compute the numbers of virt_window_new() for one vCPU and one machine at a time.
 *
 * The statistics of very many vCPUs together are much larger than the model itself.
 */
#ifndef KSHARK_VIRT_VIRT_WINDOW_WALK_H
#define KSHARK_VIRT_VIRT_WINDOW_WALK_H

#include "virt_window.h"

#ifdef __cplusplus
extern "C" {
#endif

struct virt_window_walk;

/**
 * virt_window_walk_new - go through a window
 * @query: what it points to must stay
 *
 * Return: to be freed with virt_window_walk_free(); NULL without memory.
 */
struct virt_window_walk *virt_window_walk_new(const struct virt_model *model,
					      const struct virt_window_query *query);
void virt_window_walk_free(struct virt_window_walk *walk);

/** virt_window_walk_wants - is this vCPU among those of the query? */
bool virt_window_walk_wants(const struct virt_window_walk *walk, int32_t vcpu);

/**
 * virt_window_walk_vcpu, virt_window_walk_machine - what one of them did
 * @all: also what the machine's vCPUs did, each for itself: takes as long as all of them do
 *
 * Without memory, or when stopped, it is incomplete, see virt_window_walk_error().
 *
 * Return: good until the next call of the same function.
 */
const struct virt_window_stats *virt_window_walk_vcpu(struct virt_window_walk *walk, int32_t vcpu);
const struct virt_window_machine *virt_window_walk_machine(struct virt_window_walk *walk,
							   int32_t machine, bool all);

/** virt_window_walk_pcpu - what a pCPU did, or NULL if the model does not know it. */
const struct virt_window_pcpu *virt_window_walk_pcpu(struct virt_window_walk *walk, int32_t pcpu);

/**
 * virt_window_walk_culprits - who took the pCPU in the results of virt_window_walk_vcpu()
 *
 * Return: their number; @culprits is good until the next call of either function.
 */
size_t virt_window_walk_culprits(struct virt_window_walk *walk, int32_t vcpu,
				 const struct virt_culprit **culprits);

/** virt_window_walk_error - of all calls up to now: 0, -ENOMEM or -ECANCELED. */
int virt_window_walk_error(const struct virt_window_walk *walk);

#ifdef __cplusplus
}
#endif
#endif
