/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_shading.h
 * @brief	Compute the contents of the pixel columns of a graph from a model, without any
 *		drawing.
 *
 * A column shows the shares of everything that happened in its time, stacked, not only the last
 * event. All data comes from the model: neither filters nor records outside the window matter. The
 * cost is that of the columns, independent of the number of intervals.
 */
#ifndef KSHARK_VIRT_VIRT_SHADING_H
#define KSHARK_VIRT_VIRT_SHADING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a column can hold: the states, then what needs no colour. */
#define VIRT_SHADE_NOTHING	VIRT_N_STATES	/* idle, or outside of the trace */
#define VIRT_N_SHADES		(VIRT_N_STATES + 1)

/** Highest number of parts that a column may be divided into. */
#define VIRT_SHADE_MAX_PARTS	255

/** The visible window: column i is [from + i * column_ns, from + (i + 1) * column_ns). */
struct virt_shade_window {
	int64_t	from_ns;
	int64_t	column_ns;
	int	n_columns;
	int	n_parts;	/* a column is divided into: its height in pixels */
};

/** Columns side by side that look the same. */
struct virt_shade_run {
	int32_t	first, n;			/* columns */
	uint8_t	parts[VIRT_N_SHADES];		/* by state; their sum is n_parts */
};

/**
 * virt_shade_vcpu, virt_shade_pcpu - the states of a vCPU, or of those that are on a pCPU
 * @runs: receives the runs from left to right, without gaps; room for @n_columns of them
 *
 * Return: number of runs, or -EINVAL.
 */
int virt_shade_vcpu(const struct virt_model *model, int32_t vcpu,
		    const struct virt_shade_window *window, struct virt_shade_run *runs);
int virt_shade_pcpu(const struct virt_model *model, int32_t pcpu,
		    const struct virt_shade_window *window, struct virt_shade_run *runs);

/**
 * virt_shade_times - ns of a vCPU's states in each column: what its graph shows is made of them
 * @ns: receives @n_columns; nothing of a window that is none
 */
void virt_shade_times(const struct virt_model *model, int32_t vcpu,
		      const struct virt_shade_window *window, int64_t (*ns)[VIRT_N_STATES]);

/** virt_shade_runs - virt_shade_vcpu() with times that are known already. */
int virt_shade_runs(const struct virt_shade_window *window, const int64_t (*ns)[VIRT_N_STATES],
		    struct virt_shade_run *runs);

/** virt_shade_share - what @ns are of @all, in parts of a column, rounded down; and the rest. */
static inline int virt_shade_share(int64_t ns, int64_t all, int n_parts, int64_t *left)
{
	/* nearly always: a division of 128 bits takes several times as long */
	if (all <= INT64_MAX / VIRT_SHADE_MAX_PARTS) {
		*left = ns * n_parts % all;
		return (int)(ns * n_parts / all);
	}
	*left = (int64_t)((__int128)ns * n_parts % all);
	return (int)((__int128)ns * n_parts / all);
}

/**
 * virt_shade_machine - the same of all vCPUs of a machine together, by its index
 *
 * In O(vCPUs * columns * log n). Return: number of runs, or -EINVAL.
 */
int virt_shade_machine(const struct virt_model *model, int32_t machine,
		       const struct virt_shade_window *window, struct virt_shade_run *runs);

/** virt_shade_at - the state that is drawn at a height (0: lowest part) of a run. */
int virt_shade_at(const struct virt_shade_run *run, int part);

/** Columns side by side, within one run, whose HYPERVISOR part is about the same exits. */
struct virt_shade_exit_run {
	int32_t	first, n;			/* columns */
	uint8_t	parts[VIRT_EXIT_N_CLASSES];	/* their sum is the run's parts[VIRT_HYPERVISOR] */
};

/**
 * virt_shade_exits - what the HYPERVISOR parts of a vCPU's runs are about
 * @runs: as virt_shade_vcpu() gave them
 * @exits: receives it from left to right, only of columns with such a part; room for @n_columns
 *
 * Return: number of elements.
 */
int virt_shade_exits(const struct virt_model *model, int32_t vcpu,
		     const struct virt_shade_window *window, const struct virt_shade_run *runs,
		     int n_runs, struct virt_shade_exit_run *exits);

/** A place for the mark of one or more migrations. */
struct virt_shade_mark {
	const struct virt_migration	*migration;	/* the first of them */
	int32_t				column;		/* its own, or a free one behind it */
	int32_t				n;		/* migrations that share it */
};

/** A column at which a graph has a marker already. */
struct virt_shade_taken {
	int32_t	column;
	bool	is_migration;	/* which it marks */
};

/** Where marks have room. */
struct virt_shade_room {
	int	few, many;	/* columns between two marks, at least: if there are not many, or so
				 * many that they would fill the graph; a number is as wide */
	int	margin;		/* between a mark and what is taken, at least */

	const struct virt_shade_taken	*taken;	/* ascending */
	size_t				n_taken;
};

/**
 * virt_shade_migrations - where the migrations of a vCPU are marked
 * @marks: receives at most @n of them, from left to right
 *
 * Where there are many, a mark stands for all that are near it. One alone whose marker is there
 * already has no mark; of all others, each counts in one.
 *
 * Return: number of marks.
 */
int virt_shade_migrations(const struct virt_model *model, int32_t vcpu,
			  const struct virt_shade_window *window,
			  const struct virt_shade_room *room, struct virt_shade_mark *marks, int n);

/** Columns side by side. */
struct virt_shade_span {
	int32_t	first, n;
};

/**
 * virt_shade_losses - where records of any pCPU are missing
 * @spans: receives it from left to right, with gaps between them; room for @n_columns
 *
 * Return: number of spans.
 */
int virt_shade_losses(const struct virt_model *model, const struct virt_shade_window *window,
		      struct virt_shade_span *spans);

/** An interval together with its vCPU and its end. */
struct virt_shade_hit {
	int32_t			vcpu;
	int64_t			end_ns;
	struct virt_interval	interval;
};

/**
 * virt_shade_pick_vcpu, virt_shade_pick_pcpu - what a user means who points at a place
 * @state: the state that is drawn there, or a negative number for any
 * @hit: receives the longest interval that a vCPU has within the time [from, to)
 *
 * Return: false if there is none.
 */
bool virt_shade_pick_vcpu(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			  int64_t to_ns, int state, struct virt_shade_hit *hit);
bool virt_shade_pick_pcpu(const struct virt_model *model, int32_t pcpu, int64_t from_ns,
			  int64_t to_ns, int state, struct virt_shade_hit *hit);

/**
 * virt_shade_pick_other - the same, where no vCPU is on a pCPU
 * @state: VIRT_SHADE_NOTHING: it is idle or has a task; VIRT_UNKNOWN: not known
 * @occupant: receives who is there longest within the time [from, to), and until when
 */
bool virt_shade_pick_other(const struct virt_model *model, int32_t pcpu, int64_t from_ns,
			   int64_t to_ns, int state, struct virt_occupant *occupant,
			   int64_t *end_ns);

#ifdef __cplusplus
}
#endif
#endif
