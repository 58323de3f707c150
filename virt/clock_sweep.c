// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	clock_sweep.c
 * @brief	Votes of events for offsets between two clocks.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock_sweep.h"

int64_t clock_find(const struct virt_clock_vcpu *vcpu, int64_t time)
{
	size_t lo = 0, hi = vcpu->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (vcpu->changes[mid].time <= time)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (int64_t)lo - 1;
}

void clock_weigh(struct clock_vcpu *vcpu)
{
	const struct virt_clock_vcpu *known = &vcpu->known;
	double time[3] = { 0, 0, 0 }, in, out;

	for (size_t i = 0; i + 1 < known->n; i++)
		time[known->changes[i].where] += (double)(known->changes[i + 1].time -
							  known->changes[i].time);
	in = time[VIRT_CLOCK_INSIDE] + 1;
	out = time[VIRT_CLOCK_OUTSIDE] + 1;
	in = fmin(log1p(out / in), 5);
	out = log(out / (time[VIRT_CLOCK_INSIDE] + out) / CLOCK_WRONG);
	vcpu->inside = (int32_t)fmax(lround(in * CLOCK_NAT), 1);
	vcpu->outside = (int32_t)fmax(lround(out * CLOCK_NAT), CLOCK_PENALTY * vcpu->inside);
}

static int32_t weight_at(const struct clock_vcpu *vcpu, int64_t i)
{
	int32_t where = i < 0 ? VIRT_CLOCK_UNKNOWN : vcpu->known.changes[i].where;

	return where == VIRT_CLOCK_INSIDE ? vcpu->inside :
	       where == VIRT_CLOCK_OUTSIDE ? -vcpu->outside : 0;
}

static int add_edge(struct clock_edges *edges, int64_t offset, int64_t change)
{
	if (edges->n == edges->room) {
		size_t room = edges->room ? 2 * edges->room : 4096;
		struct clock_edge *grown = realloc(edges->edges, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		edges->edges = grown;
		edges->room = room;
	}
	edges->edges[edges->n++] = (struct clock_edge){ offset, change };
	return 0;
}

static int compare_edges(const void *a, const void *b)
{
	const struct clock_edge *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/** The longest stretch with the highest score. */
static void find_best(const struct clock_edges *edges, int64_t score, int64_t lo, int64_t hi,
		      struct clock_best *best)
{
	int64_t start = lo;
	size_t i = 0;

	best->score = INT64_MIN;
	while (start <= hi) {
		int64_t change = 0, end = hi;

		/* edges that cancel out at the same offset are none */
		while (i < edges->n && !change) {
			int64_t at = edges->edges[i].offset;

			end = at - 1;
			for (; i < edges->n && edges->edges[i].offset == at; i++)
				change += edges->edges[i].change;
			if (!change)
				end = hi;
		}
		if (score > best->score ||
		    (score == best->score && end - start > best->hi - best->lo))
			*best = (struct clock_best){ start, end, score };
		score += change;
		start = end + 1;
		if (!change)
			break;
	}
}

int clock_sweep(const struct clock_vcpu *vcpus, const struct clock_sample *samples, int n,
		const struct clock_rate *rate, int64_t lo, int64_t hi, struct clock_edges *edges,
		struct clock_best *best)
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

			while (at + 1 < (int64_t)known->n &&
			       known->changes[at + 1].time <= time + lo)
				at++;
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
	find_best(edges, score, lo, hi, best);
	return 0;
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

/** The bins hold differences until all has been added; they are summed up at the end. */
int clock_vote(const struct clock_vcpu *vcpu, const int64_t *times, size_t n, int64_t slack,
	       struct clock_votes *votes)
{
	struct span *spans = malloc((vcpu->known.n + 1) * sizeof(*spans));
	int64_t gap = 2 * slack + 2 * ((int64_t)1 << votes->shift);
	int32_t sum = -vcpu->outside * (int32_t)n;

	if (!spans)
		return -ENOMEM;
	memset(votes->bins, 0, votes->n * sizeof(*votes->bins));
	for (int unknown = 0; unknown < 2; unknown++) {
		size_t n_spans = merge(&vcpu->known, unknown, gap, spans);
		int32_t weight = unknown ? vcpu->outside : vcpu->inside;

		for (size_t i = 0; i < n; i++)
			for (size_t s = 0; s < n_spans; s++)
				vote_span(votes, spans[s].start - times[i] - slack,
					  spans[s].last - times[i] + slack, weight);
	}
	for (size_t b = 0; b < votes->n; b++) {
		sum += votes->bins[b];
		votes->bins[b] = sum;
	}
	free(spans);
	return 0;
}
