// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_markers.c
 * @brief	Places of markers, and their shapes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "virt_markers.h"

static const char *const glyphs[VIRT_WORST_N_KINDS][VIRT_MARKER_SIZE] = {
	/* a diamond */
	[VIRT_WORST_EXIT] = {
		"....#....",
		"...#o#...",
		"..#ooo#..",
		".#ooooo#.",
		"#ooooooo#",
		".#ooooo#.",
		"..#ooo#..",
		"...#o#...",
		"....#....",
	},
	/* minus: something was taken away */
	[VIRT_WORST_STEAL] = {
		"#########",
		"#ooooooo#",
		"#ooooooo#",
		"#ooooooo#",
		"#o#####o#",
		"#ooooooo#",
		"#ooooooo#",
		"#ooooooo#",
		"#########",
	},
	/* a bell */
	[VIRT_WORST_WAKE] = {
		"....#....",
		"...#o#...",
		"..#ooo#..",
		"..#ooo#..",
		".#ooooo#.",
		".#ooooo#.",
		"#ooooooo#",
		"#########",
		"...###...",
	},
	/* an arrow */
	[VIRT_WORST_MIGRATION] = {
		"....#....",
		"....##...",
		"#####o#..",
		"#oooooo#.",
		"#oooooo##",
		"#ooooo#..",
		"#####o#..",
		"....##...",
		"....#....",
	},
	/* a cross */
	[VIRT_WORST_IRQ] = {
		"..#####..",
		"..#ooo#..",
		"###ooo###",
		"#ooooooo#",
		"#ooooooo#",
		"#ooooooo#",
		"###ooo###",
		"..#ooo#..",
		"..#####..",
	},
	/* crossed out */
	[VIRT_WORST_LOST] = {
		"..#####..",
		".#ooooo#.",
		"#o#ooo#o#",
		"#oo#o#oo#",
		"#ooo#ooo#",
		"#oo#o#oo#",
		"#o#ooo#o#",
		".#ooooo#.",
		"..#####..",
	},
	/* pause */
	[VIRT_WORST_OFFLINE] = {
		"####.####",
		"#oo#.#oo#",
		"#oo#.#oo#",
		"#oo#.#oo#",
		"#oo#.#oo#",
		"#oo#.#oo#",
		"#oo#.#oo#",
		"#oo#.#oo#",
		"####.####",
	},
	/* a clock */
	[VIRT_WORST_TSC] = {
		"..#####..",
		".#oo#oo#.",
		"#ooo#ooo#",
		"#ooo#ooo#",
		"#ooo###o#",
		"#ooooooo#",
		"#ooooooo#",
		".#ooooo#.",
		"..#####..",
	},
};

const char *const *virt_marker_glyph(enum virt_worst_kind kind)
{
	return glyphs[(unsigned int)kind < VIRT_WORST_N_KINDS ? kind : VIRT_WORST_EXIT];
}

/** The worst ones of a kind. Return: their number, or -ENOMEM. */
static ssize_t find(const struct virt_worst *worst, struct virt_worst_query query,
		    enum virt_worst_kind kind, size_t most, struct virt_marked *marked)
{
	struct virt_worst_hit hits[VIRT_MARKER_MOST];
	struct virt_moment moment;
	ssize_t n;

	query.kinds &= 1u << kind;
	n = query.kinds ? virt_worst_top(worst, &query, hits, most) : 0;
	for (ssize_t i = 0; i < n; i++) {
		marked[i].hit = hits[i];
		marked[i].pcpu = virt_worst_describe(worst, &hits[i], &moment) ? moment.pcpu :
										 VIRT_NONE;
	}
	return n;
}

ssize_t virt_marker_limits(const struct virt_worst *worst, const struct virt_marker_rules *rules,
			   struct virt_worst_query *query, struct virt_marked *marked)
{
	int most = rules->n < VIRT_MARKER_MOST ? rules->n : VIRT_MARKER_MOST;
	ssize_t n_marked = 0;

	query->of = NULL;
	query->n_of = 0;
	query->kinds = rules->absolute || most > 0 ? rules->kinds : 0;
	memcpy(query->min_ns, rules->min_ns, sizeof(query->min_ns));
	if (rules->absolute)
		return find(worst, *query, VIRT_WORST_LOST, VIRT_MARKER_MOST, marked);
	for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++) {
		ssize_t n;

		/* what cost nothing is not among the worst, unless nothing of its kind does */
		query->min_ns[kind] = virt_worst_costs((enum virt_worst_kind)kind);
		n = find(worst, *query, (enum virt_worst_kind)kind, (size_t)most,
			 marked + n_marked);
		if (n < 0)
			return n;
		n_marked += n;
		if (n && n == most)
			query->min_ns[kind] = marked[n_marked - 1].hit.cost_ns;
	}
	return n_marked;
}

/** Does a vCPU's state become unknown, at least for some time, where records are missing? */
static bool hides(const struct virt_model *model, const struct virt_worst_hit *loss, int32_t vcpu)
{
	int64_t end_ns = loss->time_ns + loss->cost_ns, unsplit[VIRT_N_STATES];
	struct virt_totals totals;

	virt_vcpu_totals(model, vcpu, loss->time_ns, end_ns, &totals);
	virt_vcpu_unsplit(model, vcpu, loss->time_ns, end_ns, unsplit);
	return totals.ns[VIRT_UNKNOWN] > unsplit[VIRT_UNKNOWN];
}

size_t virt_marker_pick(const struct virt_model *model, bool by_pcpu, int32_t id,
			unsigned int kinds, const struct virt_marked *marked, size_t n,
			struct virt_worst_hit *hits)
{
	size_t n_hits = 0;

	for (size_t i = 0; i < n; i++) {
		const struct virt_worst_hit *hit = &marked[i].hit;
		bool belongs = by_pcpu ? marked[i].pcpu == id : hit->vcpu == id;

		if (!by_pcpu && hit->kind == VIRT_WORST_LOST)
			belongs = hides(model, hit, id);
		if (belongs && kinds & 1u << hit->kind)
			hits[n_hits++] = *hit;
	}
	return n_hits;
}

bool virt_marker_same(const struct virt_worst_hit *a, const struct virt_worst_hit *b)
{
	return a->kind == b->kind && a->vcpu == b->vcpu && a->index == b->index &&
	       a->time_ns == b->time_ns;
}

/** Columns of which the worst moment is looked for. */
#define PLACE	(2 * VIRT_MARKER_ROOM)

/** How many of these a graph has. */
static size_t count_places(int n_columns)
{
	return n_columns > PLACE ? (size_t)(n_columns / PLACE) : 1;
}

size_t virt_marker_count(int n_columns)
{
	return n_columns > VIRT_MARKER_ROOM ? (size_t)(n_columns / VIRT_MARKER_ROOM) + 1 : 1;
}

/** The costliest one first, of equal ones the leftmost. */
static int compare_costs(const void *a, const void *b)
{
	const struct virt_worst_hit *x = a, *y = b;

	if (x->cost_ns != y->cost_ns)
		return x->cost_ns < y->cost_ns ? 1 : -1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static int compare_columns(const void *a, const void *b)
{
	return ((const struct virt_marker *)a)->column - ((const struct virt_marker *)b)->column;
}

/** Is there room for a marker? Then take it. @taken: columns that are too near to another one. */
static bool take(bool *taken, int n_columns, int column)
{
	int from = column - VIRT_MARKER_ROOM + 1, to = column + VIRT_MARKER_ROOM;

	if (column < 0 || column >= n_columns || taken[column])
		return false;
	for (int i = from > 0 ? from : 0; i < to && i < n_columns; i++)
		taken[i] = true;
	return true;
}

/** The costliest ones for which there is room. Return: their number. */
static int thin(const struct virt_marker_graph *graph, struct virt_worst_hit *hits, size_t n,
		bool *taken, struct virt_marker *markers)
{
	const struct virt_shade_window *window = &graph->window;
	int n_markers = 0;

	qsort(hits, n, sizeof(*hits), compare_costs);
	for (size_t i = 0; i < n; i++) {
		int64_t since = hits[i].time_ns - window->from_ns;

		if (hits[i].kind >= VIRT_WORST_N_KINDS || since < 0 ||
		    since / window->column_ns >= window->n_columns ||
		    !take(taken, window->n_columns, (int)(since / window->column_ns)))
			continue;
		if (virt_marker_same(&hits[i], &graph->selected))
			hits[i] = graph->selected;
		markers[n_markers].hit = hits[i];
		markers[n_markers++].column = (int)(since / window->column_ns);
	}
	qsort(markers, (size_t)n_markers, sizeof(*markers), compare_columns);
	return n_markers;
}

int virt_marker_place(const struct virt_marker_graph *graph, struct virt_marker *markers)
{
	const struct virt_shade_window *window = &graph->window;
	struct virt_worst_query query = graph->query;
	size_t n = query.kinds ? count_places(window->n_columns) : 0;
	struct virt_worst_hit *hits = calloc(n + graph->n_more + 1, sizeof(*hits));
	bool *taken = calloc((size_t)window->n_columns + 1, sizeof(*taken));
	int n_markers = -ENOMEM;

	if (hits && taken) {
		query.from_ns = window->from_ns;
		query.to_ns = window->from_ns + window->n_columns * window->column_ns;
		if (n)
			virt_worst_columns(graph->worst, &query, hits, n);
		if (graph->n_more)
			memcpy(hits + n, graph->more, graph->n_more * sizeof(*hits));
		n += graph->n_more;
		hits[n] = graph->selected;
		hits[n++].cost_ns = INT64_MAX;
		n_markers = thin(graph, hits, n, taken, markers);
	}
	free(hits);
	free(taken);
	return n_markers;
}
