/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_threads.h
 * @brief	Sum up the times of the machines' threads, other than vCPUs, within a window.
 *
 * The window is cut as in virt_window.h: time is clipped to it, and whatever begins in it is
 * counted.
 */
#ifndef KSHARK_VIRT_VIRT_THREADS_H
#define KSHARK_VIRT_VIRT_THREADS_H

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The time of a thread on one pCPU. */
struct virt_thread_place {
	int32_t		task;		/* virt_model_task() */
	int32_t		pcpu;
	int64_t		ns;
	int64_t		max_ns;		/* of the longest run, cut to the window */
	uint64_t	runs;		/* that begin in the window */
};

struct virt_thread {
	int32_t		task;		/* virt_model_task() */
	int64_t		ns;
	int64_t		max_ns;
	uint64_t	runs;
	int64_t		own_ns;		/* that vCPUs of its own machine were preempted while it had
					 * their pCPU */
	int64_t		others_ns;	/* that those of other machines were */
	const struct virt_thread_place *places;	/* ascending by pCPU */
	size_t		n_places;
};

struct virt_threads {
	struct virt_thread	*threads; /* by machine, then by time on pCPUs, most first */
	size_t			n;
	struct virt_thread_place *places; /* of all of them */
	size_t			n_places;
};

/**
 * virt_threads_new - all threads of machines that had a pCPU in a window, or took one
 *
 * On a pCPU, the time of all of them lies within the tasks' time of virt_pcpu_totals(). In
 * O(occupants in the window + culprits * log n).
 *
 * Return: to be freed with virt_threads_free(); NULL without memory.
 */
struct virt_threads *virt_threads_new(const struct virt_model *model, int64_t from_ns,
				      int64_t to_ns);
void virt_threads_free(struct virt_threads *threads);

#ifdef __cplusplus
}
#endif
#endif
