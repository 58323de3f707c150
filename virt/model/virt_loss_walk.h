/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_loss_walk.h
 * @brief	Add up the losses of each pCPU, window by window.
 *
 * Its time grows with the number of losses, and not with the number of pCPUs.
 */
#ifndef KSHARK_VIRT_VIRT_LOSS_WALK_H
#define KSHARK_VIRT_VIRT_LOSS_WALK_H

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The losses of a pCPU in a window. */
struct virt_loss_walk_pcpu {
	int32_t		pcpu;
	int64_t		ns;		/* within the window; overlaps count once */
	struct virt_loss_sum sum;	/* of those that begin in the window */
};

struct virt_loss_walk;

/** virt_loss_walk_new - start before the trace. Return: NULL without memory. */
struct virt_loss_walk *virt_loss_walk_new(const struct virt_model *model);

/** virt_loss_walk_free - free it; NULL is none. */
void virt_loss_walk_free(struct virt_loss_walk *lost);

/**
 * virt_loss_walk_window - the losses of the window [from, to)
 * @pcpus: receives the pCPUs that have some, ascending; good until the next call
 *
 * A window that begins before the last one ended takes a look at all losses again.
 *
 * Return: their number.
 */
size_t virt_loss_walk_window(struct virt_loss_walk *lost, int64_t from_ns, int64_t to_ns,
			const struct virt_loss_walk_pcpu **pcpus);

/** virt_loss_walk_n_pcpus - how many pCPUs have losses anywhere in the trace */
size_t virt_loss_walk_n_pcpus(const struct virt_loss_walk *lost);

#ifdef __cplusplus
}
#endif
#endif
