/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_lanes.h
 * @brief	The overview: which lanes of machines and vCPUs are shown, in which order; and which
 *		graphs are put beside each other.
 */
#ifndef KSHARK_VIRT_VIRT_LANES_H
#define KSHARK_VIRT_VIRT_LANES_H

#include "virt_shading.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A line of the overview. */
struct virt_lane {
	int		stream;
	int32_t		machine;	/* index in its model */
	int32_t		vcpu;		/* global index; VIRT_NONE: the machine, all its vCPUs */
	const char	*name;
	int64_t		bad_ns;		/* how bad the window was for it */
	bool		folded;		/* a machine: its vCPUs are not shown */
};

enum virt_lane_order {
	VIRT_LANES_BY_MACHINE,	/* as they are given, below their machines */
	VIRT_LANES_BY_BADNESS,	/* vCPUs of all machines, the worst one first */
};

/** virt_lane_badness - time of a window in which a vCPU wanted to run and had no pCPU. */
int64_t virt_lane_badness(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			  int64_t to_ns);

/** virt_lane_matches - are all words of a filter in a name, in capitals or not? */
bool virt_lane_matches(const char *name, const char *filter);

/**
 * virt_lanes_show - the lanes that are shown, from the top
 * @lanes: machine by machine, each followed by its vCPUs
 * @filter: words; a machine has those of its vCPUs, and each vCPU has its machine's. As long as
 *	    there is one, nothing is folded
 * @shown: receives their numbers; room for @n
 *
 * Return: how many.
 */
size_t virt_lanes_show(const struct virt_lane *lanes, size_t n, enum virt_lane_order order,
		       const char *filter, size_t *shown);

/** Which graphs of one kind a stream has, by pid or number. */
struct virt_plots {
	const int	*first;		/* at the top, whatever there was */
	size_t		n_first;
	const int	*shown;		/* now */
	size_t		n_shown;
	const int	*brought;	/* of those: gone, unless they are wanted again */
	size_t		n_brought;
	const int	*last;		/* at the end, next to the graphs of the other kind */
	size_t		n_last;
};

/**
 * virt_plots_arrange - which graphs are to be shown, each once
 * @ids: receives them; room for all of @plots together
 *
 * Return: how many.
 */
size_t virt_plots_arrange(const struct virt_plots *plots, int *ids);

#ifdef __cplusplus
}
#endif
#endif
