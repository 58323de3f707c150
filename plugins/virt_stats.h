/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_stats.h
 * @brief	The numbers of the Virtualization dock: each vCPU and machine within a window.
 */
#ifndef KSHARK_VIRT_VIRT_STATS_H
#define KSHARK_VIRT_VIRT_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "virt_model.h"

/** Exit reasons and culprits that are kept. */
#define VIRT_STATS_TOP	3

/** What a vCPU, or all vCPUs of a machine, did within a window. */
struct virt_stats {
	int64_t			ns[VIRT_N_STATES];
	int64_t			known_ns;	/* all but UNKNOWN: what shares refer to */
	uint64_t		runs;		/* stretches on a pCPU that touch the window */
	int64_t			run_ns;		/* time on a pCPU within the window */
	uint64_t		exits;
	uint64_t		migrations;
	size_t			n_exit_reasons, n_culprits;	/* of which are kept: */
	struct virt_exit_total	exit_reasons[VIRT_STATS_TOP];
	struct virt_culprit	culprits[VIRT_STATS_TOP];
	/* wake-ups that begin in the window, whole */
	uint64_t		wakes;
	int64_t			wake_p50_ns, wake_p99_ns, wake_max_ns;
	/* longest wait for a pCPU that touches the window; none if empty */
	int32_t			worst_vcpu;
	int64_t			worst_from_ns, worst_to_ns;
};

/** Everything about a window. */
struct virt_window_stats {
	int64_t			from_ns, to_ns;
	int32_t			n_vcpus, n_machines;
	struct virt_stats	*vcpus;		/* by global index */
	struct virt_stats	*machines;	/* by index */
	struct virt_machine_totals	*machine_totals;	/* by index */
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * virt_stats_new - count what happened in [from, to)
 * @stop: looked at again and again; true, set atomically, ends the work. May be NULL.
 *
 * Return: to be freed with virt_stats_free(); NULL without memory or when stopped.
 */
struct virt_window_stats *virt_stats_new(const struct virt_model *model, int64_t from_ns,
					 int64_t to_ns, const bool *stop);

void virt_stats_free(struct virt_window_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
