// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	clock_sweep.c
 * @brief	Votes of events for offsets between two clocks.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "clock_sweep.h"
#include "search.h"

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

static int add_edge(struct clock_edges *edges, int64_t offset, int64_t change)
{
	if (ARRAY_GROW(edges->edges, edges->n, edges->room))
		return -ENOMEM;
	edges->edges[edges->n++] = (struct clock_edge){ offset, change };
	return 0;
}

static int compare_edges(const void *a, const void *b)
{
	const struct clock_edge *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/** Stretches of offsets with one score, from one to the next. */
struct plateau {
	const struct clock_edges *edges;
	size_t		i;
	int64_t		next, hi;	/* still to come */
	int64_t		start, end, score;	/* the present one */
	int64_t		change;		/* of the score, behind it */
};

static struct plateau first_plateau(const struct clock_edges *edges, int64_t score, int64_t lo,
			      int64_t hi)
{
	return (struct plateau){ .edges = edges, .next = lo, .hi = hi, .score = score };
}

/** Return: false if there is none left. Edges that cancel out at the same offset are none. */
static bool next_plateau(struct plateau *plateau)
{
	const struct clock_edges *edges = plateau->edges;

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

/** Collect where the score changes. Return: 0 or -ENOMEM. */
static int collect(const struct clock_vcpu *vcpus, const struct clock_sample *samples, int n,
		   const struct clock_rate *rate, int64_t lo, int64_t hi,
		   struct clock_edges *edges, struct plateau *plateau)
{
	int64_t score = 0;

	edges->n = 0;
	for (int s = 0; s < n; s++) {
		const struct clock_sample *sample = &samples[s];
		const struct virt_clock_vcpu *known;
		const struct clock_vcpu *vcpu;
		int64_t at;

		if (sample->vcpu < 0 || !sample->n)
			continue;
		vcpu = &vcpus[sample->vcpu];
		known = &vcpu->known;
		at = clock_find(known, clock_apply(rate, sample->times[0]) + lo);
		for (size_t i = 0; i < sample->n; i++) {
			int64_t time = clock_apply(rate, sample->times[i]);

			at = find_from(known, at, time + lo);
			score += weight_at(vcpu, at);
			for (int64_t k = at + 1; k < (int64_t)known->n &&
			     known->changes[k].time <= time + hi; k++)
				if (add_edge(edges, known->changes[k].time - time,
					     weight_at(vcpu, k) - weight_at(vcpu, k - 1)))
					return -ENOMEM;
		}
	}
	if (edges->n)
		qsort(edges->edges, edges->n, sizeof(*edges->edges), compare_edges);
	*plateau = first_plateau(edges, score, lo, hi);
	return 0;
}

int clock_sweep(const struct clock_vcpu *vcpus, const struct clock_sample *samples, int n,
		const struct clock_rate *rate, int64_t lo, int64_t hi, struct clock_edges *edges,
		struct clock_best *best)
{
	struct plateau plateau;
	int ret = collect(vcpus, samples, n, rate, lo, hi, edges, &plateau);

	if (!ret)
		find_best(plateau, best);
	return ret;
}

int clock_sweep_around(const struct clock_vcpu *vcpus, const struct clock_sample *samples, int n,
		       const struct clock_rate *rate, int64_t lo, int64_t hi, int64_t at,
		       struct clock_edges *edges, struct clock_best *best)
{
	struct plateau plateau;
	int ret = collect(vcpus, samples, n, rate, lo, hi, edges, &plateau);

	if (!ret)
		find_around(plateau, at, best);
	return ret;
}

int clock_sweep_near(const struct clock_vcpu *vcpus, const struct clock_sample *samples, int n,
		     const struct clock_rate *rate, int64_t lo, int64_t hi, int64_t less,
		     struct clock_edges *edges, struct clock_best *best)
{
	struct plateau plateau;
	int ret = collect(vcpus, samples, n, rate, lo, hi, edges, &plateau);

	if (!ret)
		find_near(plateau, less, best);
	return ret;
}

/* --- votes ----------------------------------------------------------------------------------- */

struct span {
	int64_t		start, last;
};

/**
 * Times at which an event is not outside (@unknown) or is inside; nearer together than @gap they
 * are one, so that no bin gets two votes of one event.
 */
static size_t merge(const struct virt_clock_vcpu *vcpu, bool unknown, int64_t gap,
		    struct span *spans)
{
	size_t n = 0;

	if (unknown)
		spans[n++] = (struct span){ INT64_MIN / 2,
					    vcpu->n ? vcpu->changes[0].time - 1 : INT64_MAX / 2 };
	for (size_t i = 0; i < vcpu->n; i++) {
		const struct virt_clock_change *change = &vcpu->changes[i];
		int64_t last = i + 1 < vcpu->n ? change[1].time - 1 : INT64_MAX / 2;

		if (change->where == VIRT_CLOCK_OUTSIDE ||
		    (change->where == VIRT_CLOCK_UNKNOWN && !unknown) || last < change->time)
			continue;
		if (n && change->time - spans[n - 1].last <= gap)
			spans[n - 1].last = last;
		else
			spans[n++] = (struct span){ change->time, last };
	}
	return n;
}

/** Nothing that is shorter can be told. */
static int64_t gap_of(int64_t slack, const struct clock_votes *votes)
{
	return 2 * slack + 2 * ((int64_t)1 << votes->shift);
}

size_t clock_n_spans(const struct virt_clock_vcpu *vcpu, int64_t slack,
		     const struct clock_votes *votes)
{
	size_t n = 1;
	int64_t last = INT64_MIN / 2;

	for (size_t i = 0; i + 1 < vcpu->n; i++) {
		if (vcpu->changes[i].where == VIRT_CLOCK_OUTSIDE)
			continue;
		n += vcpu->changes[i].time - last > gap_of(slack, votes);
		last = vcpu->changes[i + 1].time;
	}
	return n;
}

static void vote_span(struct clock_votes *votes, int64_t from, int64_t to, int32_t weight)
{
	int64_t first = (from - votes->lo) >> votes->shift;
	int64_t last = (to - votes->lo) >> votes->shift;

	if (last < 0 || first >= (int64_t)votes->n)
		return;
	votes->bins[first < 0 ? 0 : first] += weight;
	if (last + 1 < (int64_t)votes->n)
		votes->bins[last + 1] -= weight;
}

/** Add one's votes to the differences. Return: 0 or -ENOMEM. */
/** The votes that begin before bin @end. @next: by event, its first span that does not. */
static void vote_near(struct clock_votes *votes, const struct span *spans, size_t n_spans,
		      const struct clock_sample *sample, int64_t slack, int32_t weight, size_t end,
		      size_t *next)
{
	int64_t before = votes->lo + ((int64_t)end << votes->shift) + slack;

	for (size_t i = 0; i < sample->n; i++) {
		int64_t time = sample->times[i];
		size_t s = next[i];

		for (; s < n_spans && spans[s].start - time < before; s++)
			vote_span(votes, spans[s].start - time - slack,
				  spans[s].last - time + slack, weight);
		next[i] = s;
	}
}

static int vote(const struct clock_vcpu *vcpu, const struct clock_sample *sample, int64_t slack,
		struct clock_votes *votes)
{
	struct span *spans = malloc((vcpu->known.n + 1) * sizeof(*spans));
	size_t *next = malloc((sample->n + 1) * sizeof(*next));
	int64_t gap = gap_of(slack, votes);
	int ret;

	for (int unknown = 0; spans && next && unknown < 2; unknown++) {
		size_t n_spans = merge(&vcpu->known, unknown, gap, spans);

		memset(next, 0, sample->n * sizeof(*next));
		for (size_t end = limits.near_bins; end < votes->n + limits.near_bins;
		     end += limits.near_bins)
			vote_near(votes, spans, n_spans, sample, slack,
				  unknown ? vcpu->outside : vcpu->inside, end, next);
	}
	ret = spans && next ? 0 : -ENOMEM;
	free(spans);
	free(next);
	return ret;
}

/** The bins hold differences until all has been added; they are summed up at the end. */
int clock_vote(const struct clock_vcpu *vcpus, const struct clock_sample *samples, int n,
	       int64_t slack, struct clock_votes *votes)
{
	int32_t sum = 0;

	memset(votes->bins, 0, votes->n * sizeof(*votes->bins));
	for (int s = 0; s < n; s++) {
		if (samples[s].n && vote(&vcpus[s], &samples[s], slack, votes))
			return -ENOMEM;
		sum -= vcpus[s].outside * (int32_t)samples[s].n;
	}
	for (size_t b = 0; b < votes->n; b++) {
		sum += votes->bins[b];
		votes->bins[b] = sum;
	}
	return 0;
}
