/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_wakeups.h
 * @brief	Find the wake-ups within a window, with their wakers, for arrows from graph to
 *		graph.
 */
#ifndef KSHARK_VIRT_VIRT_WAKEUPS_H
#define KSHARK_VIRT_VIRT_WAKEUPS_H

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The end of a wait, if the trace shows who ended it. */
struct virt_wakeup {
	int64_t			time_ns;
	int64_t			run_ns;	/* when it is on a pCPU, if @to is one */
	struct virt_interval	wait;	/* the last interval of the wait, which ends then */
	int32_t			vcpu;	/* that has been woken: global index */
	int32_t			who;	/* a vCPU or task */
	int16_t			from;	/* pCPU that @who has then; VIRT_NONE: not known */
	int16_t			to;	/* that it comes to; VIRT_NONE: not known, or it waits
					 * again first */
};

/**
 * virt_wakeups - the wake-ups within [from, to)
 * @of: only those of these @n_of vCPUs, ascending; NULL: of all
 * @found: receives them, by vCPU, then by time
 * @most: room; also the most waits that may end in the window, whatever ends them
 *
 * In O((vCPUs + @most * pCPUs) * log n).
 *
 * Return: how many are in @found; -E2BIG if more waits than that end in the window.
 */
int virt_wakeups(const struct virt_model *model, const int32_t *of, size_t n_of, int64_t from_ns,
		 int64_t to_ns, struct virt_wakeup *found, int most);

#ifdef __cplusplus
}
#endif
#endif
