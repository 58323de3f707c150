/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_markers.h
 * @brief	Choose the worst moments that get markers in a graph, their places, and the shapes
 *		of markers.
 *
 * Nothing is drawn here. Markers never touch each other: where there is no room for two, the
 * costlier one is shown. The cost is that of the markers that have room, independent of the number
 * of moments.
 */
#ifndef KSHARK_VIRT_VIRT_MARKERS_H
#define KSHARK_VIRT_VIRT_MARKERS_H

#include "virt_shading.h"
#include "virt_worst.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sides of a marker's square head, and the stem above it that points at the moment, in pixels. */
#define VIRT_MARKER_SIZE	9
#define VIRT_MARKER_STEM	2
/** Columns between two markers, at least; on average twice as many. */
#define VIRT_MARKER_ROOM	10
/** Highest number of moments of a kind that are marked because they are the worst. */
#define VIRT_MARKER_MOST	100

/** What is marked. */
struct virt_marker_rules {
	unsigned int	kinds;		/* set of 1 << enum virt_worst_kind */
	bool		absolute;	/* all from min_ns on, else the worst n of a kind */
	int		n;		/* at most VIRT_MARKER_MOST */
	int64_t		min_ns[VIRT_WORST_N_KINDS];
};

/** A moment, and the pCPU that it belongs to; or VIRT_NONE. */
struct virt_marked {
	struct virt_worst_hit	hit;
	int32_t			pcpu;
};

/** Room for what virt_marker_limits() finds. */
#define VIRT_MARKED_ROOM	(VIRT_WORST_N_KINDS * VIRT_MARKER_MOST)

/**
 * virt_marker_limits - what is to be marked in a window
 * @worst: index by vCPU
 * @query: its window is given; its kinds and costs are set, all series are asked for
 * @marked: receives, if the worst n are wanted: all of them; else the worst losses only, as no
 *	    vCPU's series has them. Room for VIRT_MARKED_ROOM
 *
 * Return: number of those, or -ENOMEM.
 */
ssize_t virt_marker_limits(const struct virt_worst *worst, const struct virt_marker_rules *rules,
			   struct virt_worst_query *query, struct virt_marked *marked);

/**
 * virt_marker_pick - of all that is marked, what belongs to one graph
 * @kinds: set of those that the graph shows
 * @id: pCPU or vCPU; to a vCPU belong also losses that hide what it did
 * @hits: receives at most @n
 *
 * Return: their number.
 */
size_t virt_marker_pick(const struct virt_model *model, bool by_pcpu, int32_t id,
			unsigned int kinds, const struct virt_marked *marked, size_t n,
			struct virt_worst_hit *hits);

/** A marker of a graph. */
struct virt_marker {
	int			column;
	struct virt_worst_hit	hit;
};

/** What a graph has to mark. */
struct virt_marker_graph {
	struct virt_shade_window	window;		/* its parts do not matter */
	const struct virt_worst		*worst;
	struct virt_worst_query		query;		/* its window is not looked at */
	const struct virt_worst_hit	*more;		/* beside what the query finds */
	size_t				n_more;
	struct virt_worst_hit		selected;	/* is shown whatever is beside it; no
							 * kind: none is selected */
};

/** virt_marker_count - highest number of markers in a graph of @n_columns. */
size_t virt_marker_count(int n_columns);

/**
 * virt_marker_place - the markers of a graph, from left to right
 * @markers: room for virt_marker_count()
 *
 * Return: their number, or -ENOMEM.
 */
int virt_marker_place(const struct virt_marker_graph *graph, struct virt_marker *markers);

/** virt_marker_same - are two hits the same moment? */
bool virt_marker_same(const struct virt_worst_hit *a, const struct virt_worst_hit *b);

/**
 * virt_marker_glyph - the head of a kind's marker, from the top down
 *
 * Return: VIRT_MARKER_SIZE rows of as many characters: '#' outline, 'o' the kind's colour.
 */
const char *const *virt_marker_glyph(enum virt_worst_kind kind);

#ifdef __cplusplus
}
#endif
#endif
