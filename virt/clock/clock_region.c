// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	clock_region.c
 * @brief	Find the other lines that explain the events as well, and the time at which they
 *		differ least.
 *
 * Each event puts two bounds on a line through its time: the nearest times before and after it at
 * which it would be outside, or inside. The lines within all bounds are a convex polygon in the
 * plane of offsets and rates. At any time, the offsets of these lines are an interval; the nearer
 * that time is to the middle of the events, the narrower is the interval. The tightest bounds of
 * each part of the time are kept, and no others: to leave out a bound can only make the polygon
 * larger.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock_fit.h"

/** A line beside the one that was found: higher at the middle, and, in addition, at the end. */
struct corner {
	double		offset, bend;
};

/** Or any points, of which the outer ones are meant. */
struct polygon {
	struct corner	corners[CLOCK_CORNERS];
	int		n;
};

/** A line may be higher by @limit at @x, from -1 to 1; or lower. */
struct bound {
	double		x, limit;
};

struct part {
	struct bound	bounds[CLOCK_TIGHTEST];
	int		n, loosest;
};

/** All in one direction, and where they bound the offset of a line with some bend, ascending. */
struct bounds {
	double		sign;		/* 1: not higher, -1: not lower */
	struct part	parts[CLOCK_PARTS];
	double		edges[CLOCK_PARTS * CLOCK_TIGHTEST];
	int		n_edges;
};

/** A line and its bounds, @half to each side of @middle. */
struct scene {
	struct clock_search *search;
	struct virt_clock_alignment line;
	int64_t		middle, half;
	uint64_t	outside, near;	/* events that are, and those hardly so */
	struct bounds	above, below;
};

/* --- bounds ---------------------------------------------------------------------------------- */

static void keep(struct bounds *bounds, double x, double limit)
{
	int i = (int)((x + 1) / 2 * CLOCK_PARTS);
	struct part *part = &bounds->parts[i < 0 ? 0 : i < CLOCK_PARTS ? i : CLOCK_PARTS - 1];

	if (part->n < CLOCK_TIGHTEST)
		part->bounds[part->n++] = (struct bound){ x, limit };
	else if (limit < part->bounds[part->loosest].limit)
		part->bounds[part->loosest] = (struct bound){ x, limit };
	else
		return;
	for (i = 0; i < part->n; i++)
		if (part->bounds[i].limit > part->bounds[part->loosest].limit)
			part->loosest = i;
}

/** Where the line puts an event: in a run of times that are all outside, or none of which is. */
struct place {
	const struct virt_clock_vcpu *vcpu;
	int64_t		at;		/* the change in force; -1: none is yet */
	int64_t		begin, next;	/* changes at which this run begins, and the next one */
	bool		outside;
};

static bool is_outside(const struct virt_clock_vcpu *vcpu, int64_t i)
{
	return i >= 0 && vcpu->changes[i].where == VIRT_CLOCK_OUTSIDE;
}

static void move_to(struct place *place, int64_t host)
{
	const struct virt_clock_vcpu *vcpu = place->vcpu;

	while (place->at + 1 < (int64_t)vcpu->n && vcpu->changes[place->at + 1].time <= host) {
		place->at++;
		if (is_outside(vcpu, place->at) == place->outside)
			continue;
		place->outside = !place->outside;
		place->begin = place->at;
	}
	if (place->next <= place->at)
		place->next = place->at + 1;
	while (place->next < (int64_t)vcpu->n &&
	       is_outside(vcpu, place->next) == place->outside)
		place->next++;
}

/** An event that is not outside: how far it is from being so. What is unknown bounds nothing. */
static void add_inside(struct scene *scene, const struct place *place, double x, int64_t host)
{
	const struct virt_clock_change *changes = place->vcpu->changes;

	if (place->next < (int64_t)place->vcpu->n)
		keep(&scene->above, x, (double)(changes[place->next].time - 1 - host));
	if (place->begin >= 0)
		keep(&scene->below, x, (double)(host - changes[place->begin].time));
}

/** One that is outside, and hardly so: how far it is from not being so, the nearest way. */
static void add_outside(struct scene *scene, const struct place *place, double x, int64_t host)
{
	const struct virt_clock_change *changes = place->vcpu->changes;
	int64_t back = host - changes[place->begin].time + 1;
	int64_t on = place->next < (int64_t)place->vcpu->n ?
		     changes[place->next].time - host : INT64_MAX;

	scene->outside++;
	if (back > limits.near && on > limits.near)
		return;
	scene->near++;
	keep(back <= on ? &scene->above : &scene->below, x, -(double)(back <= on ? back : on));
}

static void add_cpu(struct scene *scene, const struct virt_clock_vcpu *vcpu,
		    const struct virt_clock_cpu *cpu)
{
	struct place place = { .vcpu = vcpu, .at = -1, .begin = -1 };

	for (size_t i = 0; i < cpu->n; i++) {
		int64_t host = virt_clock_host_time(scene->line.offset, scene->line.drift_ppm,
						    cpu->times[i]);
		double x = (double)(cpu->times[i] - scene->middle) / (double)scene->half;

		if (x < -1 || x > 1)
			continue;
		move_to(&place, host);
		if (place.outside)
			add_outside(scene, &place, x, host);
		else
			add_inside(scene, &place, x, host);
	}
}

/** Take a line and collect its bounds. */
static void look(struct scene *scene, const struct virt_clock_alignment *line)
{
	const struct virt_clock_problem *problem = scene->search->problem;
	struct clock_rate rate = { .rate = line->drift_ppm * 1e-6 };
	struct clock_stretch reach = clock_reach(scene->search, &rate, line->lo, line->hi);

	scene->line = *line;
	scene->middle = reach.from + (reach.to - reach.from) / 2;
	scene->half = (reach.to - reach.from) / 2 + 1;
	scene->outside = scene->near = 0;
	scene->above.sign = 1;
	scene->below.sign = -1;
	for (int i = 0; i < CLOCK_PARTS; i++)
		scene->above.parts[i].n = scene->below.parts[i].n = 0;
	for (int32_t c = 0; c < problem->n_cpus; c++)
		if (scene->search->pairing[c] >= 0)
			add_cpu(scene, &problem->vcpus[scene->search->pairing[c]],
				&problem->cpus[c]);
}

static double ppm_of(const struct scene *scene, double bend)
{
	return bend / (double)scene->half * 1e6;
}

/** The bend with which the line drifts by @ppm. */
static double bend_of(const struct scene *scene, double ppm)
{
	return (ppm - scene->line.drift_ppm) * 1e-6 * (double)scene->half;
}

/* --- what lines with some bend explain ------------------------------------------------------- */

static int compare_edges(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void make_edges(struct bounds *bounds, double bend, double noise)
{
	bounds->n_edges = 0;
	for (int i = 0; i < CLOCK_PARTS; i++) {
		const struct part *part = &bounds->parts[i];

		for (int k = 0; k < part->n; k++)
			bounds->edges[bounds->n_edges++] =
				bounds->sign * (part->bounds[k].limit + noise) -
				bend * part->bounds[k].x;
	}
	qsort(bounds->edges, (size_t)bounds->n_edges, sizeof(*bounds->edges), compare_edges);
}

/** Offsets of lines with a bend that break few bounds; @broken: the fewest that any breaks. */
struct offsets {
	double		lo, hi;
	int		broken;
};

/** The lowest offset of those that break at most @allowed; if @lo is NULL, how few are broken. */
static int from_below(const struct scene *scene, int allowed, double *lo)
{
	int n_above = 0, least = INT32_MAX, n = scene->below.n_edges;

	for (int i = -1; i < n; i++) {
		double at = i < 0 ? -limits.neighbours : scene->below.edges[i];

		while (n_above < scene->above.n_edges && scene->above.edges[n_above] < at)
			n_above++;
		if (n_above + n - 1 - i < least)
			least = n_above + n - 1 - i;
		if (lo && least <= allowed) {
			*lo = at;
			return least;
		}
	}
	return least;
}

static void from_above(const struct scene *scene, int allowed, double *hi)
{
	int n_below = 0, n = scene->below.n_edges;

	for (int i = scene->above.n_edges; i >= 0; i--) {
		double at = i == scene->above.n_edges ? limits.neighbours : scene->above.edges[i];

		while (n_below < n && scene->below.edges[n - 1 - n_below] > at)
			n_below++;
		if (i + n_below > allowed)
			continue;
		*hi = at;
		return;
	}
}

/** Break as few bounds as possible, and @spare of them in addition. */
static struct offsets with_bend(struct scene *scene, double bend, double noise, int spare)
{
	struct offsets offsets = { 0, 0, 0 };

	make_edges(&scene->above, bend, noise);
	make_edges(&scene->below, bend, noise);
	offsets.broken = from_below(scene, 0, NULL);
	from_below(scene, offsets.broken + spare, &offsets.lo);
	from_above(scene, offsets.broken + spare, &offsets.hi);
	return offsets;
}

/** The bend with which least is outside: of equals, the middle. */
static struct corner best_bend(struct scene *scene)
{
	struct corner best = { 0, 0 };
	double step = (double)limits.near / limits.bends;

	for (int i = 0; i < limits.levels; i++, step /= limits.bends_finer) {
		int least = INT32_MAX, n = 0;
		double centre = best.bend;

		for (int k = -limits.bends; k <= limits.bends; k++) {
			struct offsets offsets = with_bend(scene, centre + k * step, 0, 0);

			if (offsets.broken > least)
				continue;
			if (offsets.broken < least)
				best = (struct corner){ 0, 0 };
			n = offsets.broken < least ? 1 : n + 1;
			least = offsets.broken;
			best.offset += ((offsets.lo + offsets.hi) / 2 - best.offset) / n;
			best.bend += (centre + k * step - best.bend) / n;
		}
	}
	return best;
}

int clock_settle(struct clock_search *search, struct virt_clock_alignment *alignment)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	uint64_t outside = UINT64_MAX;
	int ret = scene ? 0 : -ENOMEM;

	if (!ret) {
		scene->search = search;
		look(scene, alignment);
	}
	for (int i = 0; i < limits.settle && !ret && scene->near && alignment->drift_ppm != 0 &&
	     !search->narrowed && scene->outside < outside; i++) {
		struct corner best = best_bend(scene);
		struct virt_clock_alignment other = *alignment;
		double ppm = ppm_of(scene, best.bend);

		outside = scene->outside;
		ret = clock_fit_drift(search, alignment->drift_ppm + ppm, alignment->offset +
				      llround(best.offset - ppm * 1e-6 * (double)scene->middle),
				      &other);
		if (ret)
			break;
		look(scene, &other);
		if (scene->outside < outside)
			*alignment = other;
	}
	free(scene);
	return ret;
}

/* --- all that is possible -------------------------------------------------------------------- */

/** How much too high a corner is for offset + bend * x <= limit. */
static double excess(const struct corner *corner, double sign, const struct bound *bound)
{
	return sign * (corner->offset + corner->bend * bound->x) - bound->limit - limits.noise;
}

/** Leave what is within a bound. */
static void cut(struct polygon *polygon, double sign, const struct bound *bound)
{
	struct polygon left = { .n = 0 };
	bool any = false;

	for (int i = 0; i < polygon->n; i++)
		any |= excess(&polygon->corners[i], sign, bound) > 0;
	if (!any || polygon->n + 1 >= CLOCK_CORNERS)
		return;
	for (int i = 0; i < polygon->n; i++) {
		const struct corner *a = &polygon->corners[i];
		const struct corner *b = &polygon->corners[(i + 1) % polygon->n];
		double over = excess(a, sign, bound), next = excess(b, sign, bound);
		double part = over / (over - next);

		if (over <= 0)
			left.corners[left.n++] = *a;
		if ((over < 0 && next > 0) || (over > 0 && next < 0))
			left.corners[left.n++] = (struct corner){
				a->offset + part * (b->offset - a->offset),
				a->bend + part * (b->bend - a->bend),
			};
	}
	/* rounding may have taken all of a mere point */
	if (left.n)
		*polygon = left;
}

static void cut_all(struct polygon *polygon, const struct bounds *bounds)
{
	for (int i = 0; i < CLOCK_PARTS; i++)
		for (int k = 0; k < bounds->parts[i].n; k++)
			if (bounds->parts[i].bounds[k].limit >= 0)
				cut(polygon, bounds->sign, &bounds->parts[i].bounds[k]);
}

/** All lines from @lo to @hi at the middle that drift no more than clocks do, within all bounds. */
static void find_all(struct scene *scene, double lo, double hi, struct polygon *polygon)
{
	double least = bend_of(scene, -VIRT_CLOCK_MAX_PPM - limits.spare_ppm);
	double most = bend_of(scene, VIRT_CLOCK_MAX_PPM + limits.spare_ppm);

	*polygon = (struct polygon){
		.corners = { { lo, least }, { hi, least }, { hi, most }, { lo, most } }, .n = 4,
	};
	cut_all(polygon, &scene->above);
	cut_all(polygon, &scene->below);
}

/** The farthest bend, up or down to @limit, with which no more than @allowed are broken, nearly. */
static double farthest(struct scene *scene, double limit, int allowed)
{
	double good = 0, bad = 1;

	while (bad < fabs(limit) &&
	       with_bend(scene, copysign(bad, limit), limits.noise, 0).broken <= allowed) {
		good = bad;
		bad *= 2;
	}
	if (bad >= fabs(limit))
		return limit;
	for (int i = 0; i < limits.levels; i++) {
		double middle = (good + bad) / 2;

		if (with_bend(scene, copysign(middle, limit), limits.noise, 0).broken <= allowed)
			good = middle;
		else
			bad = middle;
	}
	return copysign(good, limit);
}

/** If events are outside anyhow: the lines with which hardly more are. */
static void find_nearly_all(struct scene *scene, struct polygon *polygon)
{
	int spare = 1 + (int)(limits.spare * sqrt((double)scene->near));
	int allowed = with_bend(scene, 0, limits.noise, 0).broken + spare;
	double least = farthest(scene, bend_of(scene, -VIRT_CLOCK_MAX_PPM - limits.spare_ppm),
				allowed);
	double most = farthest(scene, bend_of(scene, VIRT_CLOCK_MAX_PPM + limits.spare_ppm),
			       allowed);

	polygon->n = 0;
	for (int i = 0; i <= limits.bends; i++) {
		double bend = least + (most - least) * i / limits.bends;
		struct offsets offsets = with_bend(scene, bend, limits.noise, 0);

		if (offsets.broken > allowed)
			continue;
		offsets = with_bend(scene, bend, limits.noise, allowed - offsets.broken);
		polygon->corners[polygon->n++] = (struct corner){ offsets.lo, bend };
		polygon->corners[polygon->n++] = (struct corner){ offsets.hi, bend };
	}
}

/** The lines' least and greatest height at @x, from -1 to 1. */
static void span_at(const struct polygon *polygon, double x, double *lo, double *hi)
{
	*lo = INFINITY;
	*hi = -INFINITY;
	for (int i = 0; i < polygon->n; i++) {
		double at = polygon->corners[i].offset + polygon->corners[i].bend * x;

		*lo = fmin(*lo, at);
		*hi = fmax(*hi, at);
	}
}

static double width_at(const struct polygon *polygon, double x)
{
	double lo, hi;

	span_at(polygon, x, &lo, &hi);
	return hi - lo;
}

/** Where they differ least: the width is convex. */
static int64_t choose_time(const struct scene *scene, const struct polygon *polygon)
{
	double from = -1, to = 1;
	int64_t at;

	for (int i = 0; i < limits.narrowings; i++) {
		double a = from + (to - from) / 3, b = to - (to - from) / 3;

		if (width_at(polygon, a) <= width_at(polygon, b))
			to = b;
		else
			from = a;
	}
	at = scene->middle + llround((from + to) / 2 * (double)scene->half);
	return scene->half < 100 * (int64_t)limits.round ? at :
	       (at + limits.round / 2) / limits.round * limits.round;
}

/** Write down what all lines have in common. */
static void set_bounds(const struct scene *scene, const struct polygon *polygon,
		       struct virt_clock_alignment *alignment)
{
	double lo, hi;

	alignment->at = choose_time(scene, polygon);
	alignment->offset = virt_clock_offset_at(alignment->offset, alignment->drift_ppm, 0,
						 alignment->at);
	span_at(polygon, (double)(alignment->at - scene->middle) / (double)scene->half, &lo, &hi);
	alignment->lo = alignment->offset + (int64_t)floor(fmin(lo, 0) + limits.tiny);
	alignment->hi = alignment->offset + (int64_t)ceil(fmax(hi, 0) - limits.tiny);
	for (int i = 0; i < polygon->n; i++) {
		double ppm = scene->line.drift_ppm + ppm_of(scene, polygon->corners[i].bend);

		alignment->drift_lo_ppm = fmin(alignment->drift_lo_ppm, ppm);
		alignment->drift_hi_ppm = fmax(alignment->drift_hi_ppm, ppm);
	}
}

int clock_region(struct clock_search *search, struct virt_clock_alignment *alignment)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct polygon polygon;

	if (!scene)
		return -ENOMEM;
	scene->search = search;
	look(scene, alignment);
	if (search->narrowed)
		find_all(scene, (double)(alignment->lo - alignment->offset),
			 (double)(alignment->hi - alignment->offset), &polygon);
	else if (scene->outside)
		find_nearly_all(scene, &polygon);
	else
		find_all(scene, -limits.neighbours, limits.neighbours, &polygon);
	set_bounds(scene, &polygon, alignment);
	free(scene);
	return 0;
}
