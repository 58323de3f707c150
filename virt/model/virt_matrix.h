/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_matrix.h
 * @brief	Who takes pCPUs from whom within a window.
 *
 * Rows suffer, columns cause: time in which a row's vCPUs are PREEMPTED while a column has their
 * pCPU. Rows and columns add up to all of the time PREEMPTED, as the last two columns are
 * whoever has no column, and nobody.
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
 * virt_matrix_new - who takes pCPUs from whom
 * @window: what has been counted of @model
 * @by_machine: rows and columns are machines, and tasks; else vCPUs and tasks
 * @most: columns that are told apart, at most; 0: all
 *
 * Return: to be freed with virt_matrix_free(); NULL without memory.
 */
struct virt_matrix *virt_matrix_new(const struct virt_model *model,
				    const struct virt_window *window, bool by_machine,
				    size_t most);

/** virt_matrix_of_walk - the same of a walk, which need not keep all that it tells. */
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
