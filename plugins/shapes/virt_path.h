/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_path.h
 * @brief	Find the places of the tree of a "why": the columns of each graph, and the links
 *		between graphs.
 *
 * A segment is on the graph of its subject, whose time it is, and on the graph of the guest's task
 * that has the subject's vCPU. If the segment describes the owner of an awaited pCPU, it is on the
 * graph of that pCPU as well. A segment below another one in the tree replaces it on the same
 * graph.
 */
#ifndef KSHARK_VIRT_VIRT_PATH_H
#define KSHARK_VIRT_VIRT_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "virt_colors.h"
#include "virt_shading.h"
#include "virt_why.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A graph: of a pCPU, or of a vCPU or task by its number in the tree. */
struct virt_path_row {
	bool	is_pcpu;
	int32_t	id;
};

/** Columns side by side that show one segment. */
struct virt_path_run {
	int32_t		first, n;
	uint32_t	segment;	/* index in the tree */
};

/** From whose time a segment is to who is to blame, or back from there to its end. */
struct virt_path_link {
	int32_t		column;
	int32_t		waits;		/* vCPU or guest's task */
	int32_t		other;		/* vCPU or task; VIRT_NONE: none, only the pCPU */
	int32_t		vcpu;		/* that a guest's task @other has; or VIRT_NONE */
	int16_t		pcpu;		/* that was waited for; or VIRT_NONE */
	bool		is_back;
};

struct virt_path;

/**
 * virt_path_new - sort the segments of a tree by graphs
 * @why: its segments must live as long
 *
 * In O(segments * log segments). Return: to be given to virt_path_free(); NULL without memory.
 */
struct virt_path *virt_path_new(const struct virt_why *why);
void virt_path_free(struct virt_path *path);

/**
 * virt_path_runs - what the columns of a graph show: the segment that has most of each
 * @runs: receives them from left to right; room for @n_columns of them
 *
 * In O(columns + segments of the graph). Return: number of runs, or -ENOMEM, -EINVAL.
 */
int virt_path_runs(const struct virt_path *path, struct virt_path_row row,
		   const struct virt_shade_window *window, struct virt_path_run *runs);

/**
 * virt_path_links - where waits begin and end that others are to blame for
 * @least: columns that a wait must have, so that there is room
 *
 * In O(segments). Return: how many of them are in @links, at most @n.
 */
int virt_path_links(const struct virt_path *path, const struct virt_shade_window *window, int least,
		    struct virt_path_link *links, int n);

/** virt_path_look - the colour of a segment: of the state, or of who has the pCPU. */
struct virt_look virt_path_look(const struct virt_model *model,
				const struct virt_why_segment *segment);

#ifdef __cplusplus
}
#endif
#endif
