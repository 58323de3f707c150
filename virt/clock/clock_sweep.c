// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	clock_sweep.c
 * @brief	Count the votes of events for offsets between two clocks.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "clock_limits.h"
#include "clock_sweep.h"
#include "search.h"

/** Fewer edges are sorted by comparison, others by N_BITS bits at a time. */
#define FEW_EDGES	1024
#define N_BITS		11
#define N_DIGITS	((size_t)1 << N_BITS)

int64_t clock_find(const struct virt_clock_vcpu *vcpu, int64_t time)
{
	size_t i;

	SEARCH_FIRST(i, 0, vcpu->n, vcpu->changes[i].time <= time);
	return (int64_t)i - 1;
}

/** The same from one on that is in force at a time before it: the nearer it is, the faster. */
static int64_t find_from(const struct virt_clock_vcpu *vcpu, int64_t at, int64_t time)
{
	int64_t n = (int64_t)vcpu->n, step = 1, end;

	while (at + step < n && vcpu->changes[at + step].time <= time) {
		at += step;
		step *= 2;
	}
	SEARCH_FIRST(end, at + 1, at + step < n ? at + step : n, vcpu->changes[end].time <= time);
	return end - 1;
}

/** How long a vCPU is known to be inside and outside. */
static void shares(const struct virt_clock_vcpu *known, double *in, double *out)
{
	double time[3] = { 0, 0, 0 };

	for (size_t i = 0; i + 1 < known->n; i++)
		time[known->changes[i].where] += (double)(known->changes[i + 1].time -
							  known->changes[i].time);
	*in = time[VIRT_CLOCK_INSIDE] + 1;
	*out = time[VIRT_CLOCK_OUTSIDE] + 1;
}

static int32_t weight_inside(double in, double out)
{
	return (int32_t)fmax(lround(fmin(log1p(out / in), limits.max_weight) * CLOCK_NAT), 1);
}

void clock_weigh(struct clock_vcpu *vcpu)
{
	double in, out;

	shares(&vcpu->known, &in, &out);
	vcpu->inside = weight_inside(in, out);
	out = log(out / (in + out - 1) / limits.wrong);
	vcpu->outside = (int32_t)fmax(lround(out * CLOCK_NAT), limits.penalty * vcpu->inside);
}

void clock_weigh_irqs(struct clock_vcpu *vcpu)
{
	double in, out;

	shares(&vcpu->known, &in, &out);
	vcpu->inside = vcpu->outside = weight_inside(in, out);
}

static int32_t weight_at(const struct clock_vcpu *vcpu, int64_t i)
{
	int32_t where = i < 0 ? VIRT_CLOCK_UNKNOWN : vcpu->known.changes[i].where;

	return where == VIRT_CLOCK_INSIDE ? vcpu->inside :
	       where == VIRT_CLOCK_OUTSIDE ? -vcpu->outside : 0;
}

static int add_edge(struct clock_room *room, int64_t offset, int64_t change)
{
	int ret = clock_spend(&room->work, CLOCK_WORK_SWEEP_EDGE);

	if (!ret && room->n == room->n_most)
		ret = -ETIME;
	if (!ret)
		ret = ARRAY_GROW(room->edges, room->n, room->n_edges);
	if (!ret)
		room->edges[room->n++] = (struct clock_edge){ offset, change };
	return ret;
}

static int compare_edges(const void *a, const void *b)
{
	const struct clock_edge *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/** Sort by some bits of what the offsets are more than @lo; equals keep their order. */
static void sort_digit(const struct clock_edge *from, size_t n, int64_t lo, int shift,
		       struct clock_edge *to)
{
	size_t ends[N_DIGITS + 1] = { 0 };

	for (size_t i = 0; i < n; i++)
		ends[1 + ((uint64_t)(from[i].offset - lo) >> shift) % N_DIGITS]++;
	for (size_t i = 0; i < N_DIGITS; i++)
		ends[i + 1] += ends[i];
	for (size_t i = 0; i < n; i++)
		to[ends[((uint64_t)(from[i].offset - lo) >> shift) % N_DIGITS]++] = from[i];
}

/** Offsets are from @lo to @hi. Return: 0 or -ENOMEM. */
static int sort_edges(struct clock_room *room, int64_t lo, int64_t hi)
{
	if (room->n < FEW_EDGES) {
		qsort(room->edges, room->n, sizeof(*room->edges), compare_edges);
		return 0;
	}
	if (room->n_others < room->n_edges) {
		free(room->others);
		room->others = malloc(room->n_edges * sizeof(*room->others));
		room->n_others = room->others ? room->n_edges : 0;
	}
	if (!room->others)
		return -ENOMEM;
	for (int shift = 0; shift < 64 && (uint64_t)(hi - lo) >> shift; shift += N_BITS) {
		struct clock_edge *sorted = room->others;
		size_t n = room->n_others;

		sort_digit(room->edges, room->n, lo, shift, sorted);
		room->others = room->edges;
		room->n_others = room->n_edges;
		room->edges = sorted;
		room->n_edges = n;
	}
	return 0;
}

void clock_room_free(struct clock_room *room)
{
	free(room->edges);
	free(room->others);
	*room = (struct clock_room){ 0 };
}

/** Stretches of offsets with one score, from one to the next. */
struct plateau {
	const struct clock_room *edges;
	size_t		i;
	int64_t		next, hi;	/* still to come */
	int64_t		start, end, score;	/* the present one */
	int64_t		change;		/* of the score, behind it */
};

static struct plateau first_plateau(const struct clock_room *edges, int64_t score, int64_t lo,
			      int64_t hi)
{
	return (struct plateau){ .edges = edges, .next = lo, .hi = hi, .score = score };
}

/** Return: false if there is none left. Edges that cancel out at the same offset are none. */
static bool next_plateau(struct plateau *plateau)
{
	const struct clock_room *edges = plateau->edges;

	if (plateau->next > plateau->hi)
		return false;
	plateau->score += plateau->change;
	plateau->start = plateau->next;
	plateau->change = 0;
	plateau->end = plateau->hi;
	while (plateau->i < edges->n && !plateau->change) {
		int64_t at = edges->edges[plateau->i].offset;

		for (; plateau->i < edges->n && edges->edges[plateau->i].offset == at; plateau->i++)
			plateau->change += edges->edges[plateau->i].change;
		if (plateau->change)
			plateau->end = at - 1;
	}
	plateau->next = plateau->end + 1;
	return true;
}

/** The longest stretch with the highest score. */
static void find_best(struct plateau plateau, struct clock_best *best)
{
	best->score = INT64_MIN;
	while (next_plateau(&plateau))
		if (plateau.score > best->score ||
		    (plateau.score == best->score &&
		     plateau.end - plateau.start > best->hi - best->lo))
			*best = (struct clock_best){ plateau.start, plateau.end, plateau.score };
}

/** All stretches in a row with at least the score of that of @at, which is one of them. */
static void find_around(struct plateau plateau, int64_t at, struct clock_best *best)
{
	struct plateau first = plateau;
	bool inside = false;

	while (next_plateau(&plateau) && plateau.end < at)
		;
	*best = (struct clock_best){ plateau.start, plateau.end, plateau.score };
	for (; next_plateau(&first) && (first.start <= at || inside); ) {
		if (first.score < best->score) {
			if (first.start > at)
				return;
			inside = false;
			continue;
		}
		if (!inside)
			best->lo = first.start;
		inside = true;
		best->hi = first.end;
	}
}

/** From the first to the last stretch that is at most @less worse than the best one. */
static void find_near(struct plateau plateau, int64_t less, struct clock_best *best)
{
	bool any = false;

	find_best(plateau, best);
	best->score -= less;
	while (next_plateau(&plateau)) {
		if (plateau.score < best->score)
			continue;
		if (!any)
			best->lo = plateau.start;
		best->hi = plateau.end;
		any = true;
	}
}

/** Collect where the score changes. Return: 0, -ENOMEM or -ETIME. */
static int collect(const struct clock_vcpu *vcpus, const struct clock_sample *samples, int n,
		   const struct clock_rate *rate, int64_t lo, int64_t hi,
		   struct clock_room *room, struct plateau *plateau)
{
	int64_t score = 0;
	int ret = clock_spend(&room->work, CLOCK_WORK_SWEEP_EVENT * (1 + (uint64_t)n));

	room->n = 0;
	for (int s = 0; s < n && !ret; s++) {
		const struct clock_sample *sample = &samples[s];
		const struct virt_clock_vcpu *known;
		const struct clock_vcpu *vcpu;
		int64_t at;

		if (sample->vcpu < 0 || !sample->n)
			continue;
		ret = clock_spend(&room->work, CLOCK_WORK_SWEEP_EVENT * sample->n);
		vcpu = &vcpus[sample->vcpu];
		known = &vcpu->known;
		at = clock_find(known, clock_apply(rate, sample->times[0]) + lo);
		for (size_t i = 0; i < sample->n && !ret; i++) {
			int64_t time = clock_apply(rate, sample->times[i]);

			at = find_from(known, at, time + lo);
			score += weight_at(vcpu, at);
			for (int64_t k = at + 1; k < (int64_t)known->n && !ret &&
			     known->changes[k].time <= time + hi; k++)
				ret = add_edge(room, known->changes[k].time - time,
					       weight_at(vcpu, k) - weight_at(vcpu, k - 1));
		}
	}
	if (!ret && room->n)
		ret = sort_edges(room, lo, hi);
	*plateau = first_plateau(room, score, lo, hi);
	return ret;
}

int clock_sweep(const struct clock_vcpu *vcpus, const struct clock_sample *samples, int n,
		const struct clock_rate *rate, int64_t lo, int64_t hi, struct clock_room *room,
		struct clock_best *best)
{
	struct plateau plateau;
	int ret = collect(vcpus, samples, n, rate, lo, hi, room, &plateau);

	if (!ret)
		find_best(plateau, best);
	return ret;
}

int clock_sweep_around(const struct clock_vcpu *vcpus, const struct clock_sample *samples, int n,
		       const struct clock_rate *rate, int64_t lo, int64_t hi, int64_t at,
		       struct clock_room *room, struct clock_best *best)
{
	struct plateau plateau;
	int ret = collect(vcpus, samples, n, rate, lo, hi, room, &plateau);

	if (!ret)
		find_around(plateau, at, best);
	return ret;
}

int clock_sweep_near(const struct clock_vcpu *vcpus, const struct clock_sample *samples, int n,
		     const struct clock_rate *rate, int64_t lo, int64_t hi, int64_t less,
		     struct clock_room *room, struct clock_best *best)
{
	struct plateau plateau;
	int ret = collect(vcpus, samples, n, rate, lo, hi, room, &plateau);

	if (!ret)
		find_near(plateau, less, best);
	return ret;
}
