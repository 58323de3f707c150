/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_slices.h
 * @brief	Compute the contents of the pixel columns of a guest's graph from the activity
 *		inside the guest.
 *
 * The cost is that of the columns, independent of the number of slices.
 */
#ifndef KSHARK_VIRT_VIRT_SLICES_H
#define KSHARK_VIRT_VIRT_SLICES_H

#include "virt_inside.h"
#include "virt_shading.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Columns side by side. */
struct virt_slice_run {
	int32_t	first, n;
	const struct virt_inside_piece *piece;	/* that all of them are of; NULL: several, short */
	uint8_t	parts;				/* of the window's n_parts that are covered */
};

/**
 * virt_slices - what a lane shows
 * @runs: receives it from left to right, with gaps where there is nothing; room for @n_columns
 *
 * A piece that reaches over two columns or more is one run. Return: number of runs.
 */
int virt_slices(const struct virt_inside_lane *lane, const struct virt_shade_window *window,
		struct virt_slice_run *runs);

/** virt_slice_at - what a user means who points at a column: the longest piece in it; or NULL. */
const struct virt_inside_piece *virt_slice_at(const struct virt_inside_lane *lane,
					      const struct virt_shade_window *window, int column);

/** Lanes that are drawn below each other. */
#define VIRT_SLICE_ROWS	16

/** A lane, and where it is. */
struct virt_slice_row {
	const struct virt_inside_lane *lane;
	int	top, height;			/* from the top of the area, in pixels */
};

/**
 * virt_slice_rows - which lanes have room, and where: those with something in the window
 * @machine, @cpu: lanes of the whole machine and of the CPU, as virt_inside_lanes() gives them
 * @height: of the area
 * @rows: receives at most VIRT_SLICE_ROWS
 *
 * Without enough room, the innermost ones go first. Return: number of rows.
 */
int virt_slice_rows(const struct virt_inside_lane *machine, size_t n_machine,
		    const struct virt_inside_lane *cpu, size_t n_cpu,
		    const struct virt_shade_window *window, int height,
		    struct virt_slice_row *rows);

/**
 * virt_slice_text - what a piece is and how long its slice took, in words: "system call read for
 * 1.234 ms". Return: @buf.
 */
const char *virt_slice_text(char *buf, size_t size, const struct virt_inside *inside,
			    const struct virt_inside_lane *lane,
			    const struct virt_inside_piece *piece);

#ifdef __cplusplus
}
#endif
#endif
