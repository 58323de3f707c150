/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_exit_pairs.h
 * @brief	Put the VM exits of two machines or vCPUs beside each other, reason by reason.
 *
 * The two may be of different traces and hypervisors: reasons are the same if their names are.
 */
#ifndef KSHARK_VIRT_VIRT_EXIT_PAIRS_H
#define KSHARK_VIRT_VIRT_EXIT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "virt_window.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is compared. */
enum virt_exit_measure {
	VIRT_EXIT_NUMBER = 0,	/* of those that begin in the window */
	VIRT_EXIT_TIME,		/* ns, of those whose end the trace shows */
	VIRT_EXIT_SHARE,	/* of the time of all reasons, in % */
	VIRT_EXIT_P50,		/* ns */
	VIRT_EXIT_P99,
	VIRT_EXIT_MAX,
	VIRT_EXIT_N_MEASURES
};

/** A number, or none: the trace does not show it, or there is no exit that it could be about. */
struct virt_exit_value {
	bool	known;
	double	value;
};

/** One of the two. */
struct virt_exit_side {
	const struct virt_model		*model;
	const struct virt_window_stats	*stats;	/* with VIRT_WINDOW_EXITS */
	const struct virt_dist		*all;	/* costs of all its exits together */
};

/** A reason, or all reasons together. */
struct virt_exit_pair {
	const char		*name;		/* the model's; NULL: all together */
	struct virt_exit_value	values[2][VIRT_EXIT_N_MEASURES];
	struct virt_exit_value	less[VIRT_EXIT_N_MEASURES]; /* the second one less the first */
};

/**
 * virt_exits_compare - all reasons of both
 * @pairs: receives all together, then the reasons, those that cost most on either side first;
 *	to be freed
 *
 * Return: their number, or 0 without memory.
 */
size_t virt_exits_compare(const struct virt_exit_side sides[2], struct virt_exit_pair **pairs);

#ifdef __cplusplus
}
#endif
#endif
