/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_matrix.h
 * @brief	Make a matrix of preempted vCPUs (rows) and their culprits (columns) in a window.
 *
 * A cell is the time in which the row's vCPUs are PREEMPTED while the column has their pCPU. Rows
 * and columns add up to all PREEMPTED time, because the last two columns stand for all culprits
 * without a column of their own, and for a pCPU that is idle or whose occupant is unknown.
 */
#ifndef KSHARK_VIRT_VIRT_MATRIX_H
#define KSHARK_VIRT_VIRT_MATRIX_H

#include "virt_window.h"
#include "virt_window_walk.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A row or a column. */
struct virt_matrix_side {
	int32_t		machine;	/* index; or VIRT_NONE */
	int32_t		vcpu;		/* as in struct virt_culprit; a whole machine: VIRT_NONE */
	int64_t		ns;		/* its sum */
};

struct virt_matrix {
	size_t			n_rows, n_columns;
	struct virt_matrix_side	*rows;		/* in the model's order, those chosen */
	struct virt_matrix_side	*columns;	/* most time first; the last two are VIRT_OTHERS
						 * and VIRT_NONE */
	int64_t			*ns;		/* row by row */
	int64_t			total_ns;
};

/**
 * virt_matrix_new - which vCPUs and tasks take pCPUs from which vCPUs
 * @window: what has been counted of @model
 * @by_machine: rows and columns are machines, and tasks; else vCPUs and tasks
 * @most: the largest number of separate columns; 0: all
 *
 * Return: to be freed with virt_matrix_free(); NULL without memory.
 */
struct virt_matrix *virt_matrix_new(const struct virt_model *model,
				    const struct virt_window *window, bool by_machine,
				    size_t most);

/** virt_matrix_of_walk - the same of a walk, which need not keep all its results. */
struct virt_matrix *virt_matrix_of_walk(const struct virt_model *model,
					struct virt_window_walk *walk, bool by_machine,
					size_t most);
void virt_matrix_free(struct virt_matrix *matrix);

/** virt_matrix_column - index of the column that has a culprit's time. */
size_t virt_matrix_column(const struct virt_matrix *matrix, const struct virt_model *model,
			  int32_t culprit);

#ifdef __cplusplus
}
#endif
#endif
