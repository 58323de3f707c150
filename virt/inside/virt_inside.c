// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_inside.c
 * @brief	Keep the activity inside a guest as lanes.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "search.h"
#include "virt_inside.h"
#include "virt_model.h"

/** A lane while it grows; its struct virt_inside_lane is made at the end. */
struct growing {
	enum virt_inside_kind	kind;
	int			depth;
	struct virt_inside_piece *pieces;
	size_t			n, room;
};

/** A CPU, or the machine. */
struct place {
	struct growing		*growing;
	struct virt_inside_lane	*lanes;		/* along @growing, when all is there */
	size_t			n, room, lanes_room;
};

struct virt_inside {
	atomic_int		refs;
	char			*host;
	int32_t			*pids;
	struct place		*places;	/* of the CPUs; the last one is the machine */
	int32_t			n_cpus;
	char			**names;
	size_t			n_names, names_room;
};

/* --- filling --------------------------------------------------------------------------------- */

struct virt_inside *virt_inside_new(int32_t n_cpus)
{
	struct virt_inside *inside = calloc(1, sizeof(*inside));

	if (!inside)
		return NULL;
	atomic_init(&inside->refs, 1);
	inside->n_cpus = n_cpus;
	inside->places = calloc((size_t)n_cpus + 1, sizeof(*inside->places));
	if (inside->places)
		return inside;
	free(inside);
	return NULL;
}

int virt_inside_set_host(struct virt_inside *inside, const char *path, const int32_t *pids)
{
	size_t n = (size_t)inside->n_cpus;

	free(inside->host);
	free(inside->pids);
	inside->host = strdup(path);
	inside->pids = calloc(n + 1, sizeof(*inside->pids));
	if (!inside->host || !inside->pids)
		return -ENOMEM;
	memcpy(inside->pids, pids, n * sizeof(*pids));
	return 0;
}

int32_t virt_inside_add_name(struct virt_inside *inside, const char *name)
{
	if (inside->n_names >= INT32_MAX ||
	    ARRAY_GROW(inside->names, inside->n_names, inside->names_room))
		return -ENOMEM;
	inside->names[inside->n_names] = strdup(name);
	return inside->names[inside->n_names] ? (int32_t)inside->n_names++ : -ENOMEM;
}

/** Return: NULL without memory. */
static struct growing *lane_of(struct place *place, enum virt_inside_kind kind, int depth)
{
	for (size_t i = 0; i < place->n; i++)
		if (place->growing[i].kind == kind && place->growing[i].depth == depth)
			return &place->growing[i];
	if (ARRAY_GROW(place->growing, place->n, place->room) ||
	    ARRAY_GROW(place->lanes, place->n, place->lanes_room))
		return NULL;
	place->growing[place->n] = (struct growing){ .kind = kind, .depth = depth };
	return &place->growing[place->n++];
}

int virt_inside_add(struct virt_inside *inside, int32_t cpu, enum virt_inside_kind kind, int depth,
		    const struct virt_inside_piece *piece)
{
	struct growing *lane;

	if (cpu < VIRT_NONE || cpu >= inside->n_cpus || depth < 0 || depth >= VIRT_INSIDE_DEPTHS ||
	    piece->start_ns >= piece->end_ns)
		return 0;
	lane = lane_of(&inside->places[cpu == VIRT_NONE ? inside->n_cpus : cpu], kind, depth);
	if (!lane || ARRAY_GROW(lane->pieces, lane->n, lane->room))
		return -ENOMEM;
	lane->pieces[lane->n++] = *piece;
	return 0;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct virt_inside_piece *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

static int compare_lanes(const void *a, const void *b)
{
	const struct growing *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->depth - y->depth;
}

static void finish_lane(struct growing *lane)
{
	int64_t before_ns = 0;
	size_t n = 0;

	qsort(lane->pieces, lane->n, sizeof(*lane->pieces), compare_pieces);
	for (size_t i = 0; i < lane->n; i++) {
		struct virt_inside_piece piece = lane->pieces[i];

		if (i + 1 < lane->n && lane->pieces[i + 1].start_ns < piece.end_ns)
			piece.end_ns = lane->pieces[i + 1].start_ns;
		if (piece.start_ns >= piece.end_ns)
			continue;
		piece.before_ns = before_ns;
		before_ns += piece.end_ns - piece.start_ns;
		lane->pieces[n++] = piece;
	}
	lane->n = n;
	ARRAY_SHRINK(lane->pieces, n);
}

void virt_inside_finish(struct virt_inside *inside)
{
	for (int32_t i = 0; i <= inside->n_cpus; i++) {
		struct place *place = &inside->places[i];

		if (place->n)
			qsort(place->growing, place->n, sizeof(*place->growing), compare_lanes);
		for (size_t l = 0; l < place->n; l++) {
			const struct growing *lane = &place->growing[l];

			finish_lane(&place->growing[l]);
			place->lanes[l] = (struct virt_inside_lane){
				.kind = lane->kind, .depth = lane->depth,
				.pieces = lane->pieces, .n = lane->n,
			};
		}
	}
}

/* --- references ------------------------------------------------------------------------------ */

struct virt_inside *virt_inside_ref(struct virt_inside *inside)
{
	atomic_fetch_add_explicit(&inside->refs, 1, memory_order_relaxed);
	return inside;
}

void virt_inside_put(struct virt_inside *inside)
{
	if (!inside || atomic_fetch_sub_explicit(&inside->refs, 1, memory_order_acq_rel) > 1)
		return;
	for (int32_t i = 0; i <= inside->n_cpus; i++) {
		for (size_t l = 0; l < inside->places[i].n; l++)
			free(inside->places[i].growing[l].pieces);
		free(inside->places[i].growing);
		free(inside->places[i].lanes);
	}
	for (size_t i = 0; i < inside->n_names; i++)
		free(inside->names[i]);
	free(inside->places);
	free(inside->names);
	free(inside->pids);
	free(inside->host);
	free(inside);
}

/* --- asking ---------------------------------------------------------------------------------- */

const char *virt_inside_host(const struct virt_inside *inside)
{
	return inside->host;
}

int32_t virt_inside_pid(const struct virt_inside *inside, int32_t cpu)
{
	return inside->pids && cpu >= 0 && cpu < inside->n_cpus ? inside->pids[cpu] : VIRT_NONE;
}

const char *virt_inside_name(const struct virt_inside *inside, int32_t name)
{
	return name < 0 || (size_t)name >= inside->n_names ? "" : inside->names[name];
}

const char *virt_inside_kind_name(enum virt_inside_kind kind)
{
	static const char *const names[VIRT_INSIDE_N_KINDS] = {
		[VIRT_INSIDE_PHASE] = "phase of the boot",
		[VIRT_INSIDE_LEVEL] = "level",
		[VIRT_INSIDE_INITCALL] = "initcall",
		[VIRT_INSIDE_SYSCALL] = "system call",
		[VIRT_INSIDE_USER_FUNCTION] = "function of a program",
		[VIRT_INSIDE_FUNCTION] = "function",
		[VIRT_INSIDE_IRQ] = "interrupt",
		[VIRT_INSIDE_SOFTIRQ] = "softirq",
		[VIRT_INSIDE_DOUBT] = "it is unknown until when this task had the CPU",
		[VIRT_INSIDE_UNKNOWN] = "it is unknown which task has the CPU",
	};

	return names[kind];
}

struct virt_color virt_inside_color(enum virt_inside_kind kind)
{
	/* hues of Tol's, which no state has */
	static const struct virt_color colors[VIRT_INSIDE_N_KINDS] = {
		[VIRT_INSIDE_PHASE] = { 0xbb, 0xbb, 0xbb },
		[VIRT_INSIDE_LEVEL] = { 0xdd, 0xcc, 0x77 },
		[VIRT_INSIDE_INITCALL] = { 0x99, 0x99, 0x33 },
		[VIRT_INSIDE_SYSCALL] = { 0x33, 0x22, 0x88 },
		[VIRT_INSIDE_USER_FUNCTION] = { 0xaa, 0x44, 0x99 },
		[VIRT_INSIDE_FUNCTION] = { 0x88, 0xcc, 0xee },
		[VIRT_INSIDE_IRQ] = { 0x88, 0x22, 0x55 },
		[VIRT_INSIDE_SOFTIRQ] = { 0xcc, 0x66, 0x77 },
		[VIRT_INSIDE_DOUBT] = { 0xff, 0xff, 0xff },
		[VIRT_INSIDE_UNKNOWN] = { 0xff, 0xff, 0xff },
	};

	return colors[kind];
}

const struct virt_inside_lane *virt_inside_lanes(const struct virt_inside *inside, int32_t cpu,
						 size_t *n)
{
	const struct place *place;

	if (cpu < VIRT_NONE || cpu >= inside->n_cpus) {
		*n = 0;
		return NULL;
	}
	place = &inside->places[cpu == VIRT_NONE ? inside->n_cpus : cpu];
	*n = place->n;
	return place->lanes;
}

size_t virt_inside_at(const struct virt_inside_lane *lane, int64_t time_ns)
{
	size_t i = 0;

	SEARCH_FIRST(i, 0, lane->n, lane->pieces[i].end_ns <= time_ns);
	return i;
}

/** All that pieces cover before a time. */
static int64_t covered(const struct virt_inside_lane *lane, int64_t time_ns)
{
	size_t i = virt_inside_at(lane, time_ns);
	const struct virt_inside_piece *last = lane->n ? &lane->pieces[lane->n - 1] : NULL;

	if (i == lane->n)
		return last ? last->before_ns + last->end_ns - last->start_ns : 0;
	return lane->pieces[i].before_ns +
	       (time_ns > lane->pieces[i].start_ns ? time_ns - lane->pieces[i].start_ns : 0);
}

int64_t virt_inside_ns(const struct virt_inside_lane *lane, int64_t from_ns, int64_t to_ns)
{
	return from_ns < to_ns ? covered(lane, to_ns) - covered(lane, from_ns) : 0;
}
