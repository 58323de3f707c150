// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	clock_vote.c
 * @brief	Count the votes of a few events for ranges of offsets.
 *
 * An event votes for all offsets that put it inside. It marks the bins at which its votes begin and
 * end. When all events have voted, these differences are summed up, some bins after the other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock_limits.h"
#include "clock_vote.h"
#include "search.h"

struct span {
	int64_t		start, last;
};

/** From here on the votes of an event that is at 0 are more by @weight. */
struct turn {
	int64_t		at;
	int32_t		weight;
	int32_t		before;		/* the weights of those before it */
};

/** A track's turns; and by event, the first one that has not been counted, and behind the last. */
struct ballot {
	struct turn	*turns;
	size_t		n_turns;
	struct { size_t next, end; } *events;
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

static int64_t step_of(const struct clock_bins *bins)
{
	return (int64_t)1 << bins->shift;
}

/** Shorter gaps cannot be seen. */
static int64_t gap_of(int64_t slack, const struct clock_bins *bins)
{
	return 2 * slack + 2 * step_of(bins);
}

size_t clock_n_spans(const struct virt_clock_vcpu *vcpu, int64_t slack,
		     const struct clock_bins *bins)
{
	size_t n = 1;
	int64_t last = INT64_MIN / 2;

	for (size_t i = 0; i + 1 < vcpu->n; i++) {
		if (vcpu->changes[i].where == VIRT_CLOCK_OUTSIDE)
			continue;
		n += vcpu->changes[i].time - last > gap_of(slack, bins);
		last = vcpu->changes[i + 1].time;
	}
	return n;
}

/* --- turns ----------------------------------------------------------------------------------- */

/** Where spans begin, and where the bins behind them do, one after the other. */
struct ends {
	const struct span *spans;
	size_t		n, i;		/* 2 for each span; the next one */
	int32_t		weight;
	int64_t		slack, step;
};

static int64_t next_end(const struct ends *ends)
{
	const struct span *span = &ends->spans[ends->i / 2];

	if (ends->i >= ends->n)
		return INT64_MAX;
	return ends->i % 2 ? span->last + ends->slack + ends->step : span->start - ends->slack;
}

/** Take the ends at a time, if there are any. Return: what they weigh. */
static int32_t take_end(struct ends *ends, int64_t at)
{
	int32_t weight = 0;

	for (; ends->i < ends->n && next_end(ends) == at; ends->i++)
		weight += ends->i % 2 ? -ends->weight : ends->weight;
	return weight;
}

/** Both kinds of spans are the same but where something is unknown: then they turn at once. */
static size_t make_turns(struct ends *inside, struct ends *possible, struct turn *turns)
{
	int32_t sum = 0;
	size_t n = 0;

	while (inside->i < inside->n || possible->i < possible->n) {
		int64_t a = next_end(inside), b = next_end(possible), at = a < b ? a : b;
		int32_t weight = take_end(inside, at) + take_end(possible, at);

		if (!weight)
			continue;
		turns[n++] = (struct turn){ at, weight, sum };
		sum += weight;
	}
	return n;
}

/** Return: 0 or -ENOMEM. */
static int find_turns(const struct clock_vcpu *vcpu, int64_t slack, const struct clock_bins *bins,
		      struct ballot *ballot)
{
	size_t n = vcpu->known.n + 1;
	struct span *spans = malloc(2 * n * sizeof(*spans));
	struct ends ends[2] = {
		{ .spans = spans, .weight = vcpu->inside },
		{ .spans = spans ? spans + n : NULL, .weight = vcpu->outside },
	};

	ballot->turns = malloc(4 * n * sizeof(*ballot->turns));
	if (!spans || !ballot->turns) {
		free(spans);
		return -ENOMEM;
	}
	for (int i = 0; i < 2; i++) {
		ends[i].n = 2 * merge(&vcpu->known, i, gap_of(slack, bins), spans + i * n);
		ends[i].slack = slack;
		ends[i].step = step_of(bins);
	}
	ballot->n_turns = make_turns(&ends[0], &ends[1], ballot->turns);
	free(spans);
	return 0;
}

/* --- votes ----------------------------------------------------------------------------------- */

/** The first turn that is not before a time. */
static size_t first_turn(const struct ballot *ballot, int64_t time)
{
	size_t i;

	SEARCH_FIRST(i, 0, ballot->n_turns, ballot->turns[i].at < time);
	return i;
}

static int32_t sum_before(const struct ballot *ballot, size_t turn)
{
	const struct turn *last;

	if (!turn)
		return 0;
	last = &ballot->turns[turn - 1];
	return last->before + last->weight;
}

/** Find the turns in the bins. @sum: of the votes before these. Return: how many there are. */
static uint64_t begin(struct ballot *ballot, const struct clock_sample *sample,
		      const struct clock_bins *bins, int32_t *sum)
{
	uint64_t n = 0;

	for (size_t i = 0; i < sample->n; i++) {
		int64_t lo = bins->lo + sample->times[i];
		size_t next = first_turn(ballot, lo);
		size_t end = first_turn(ballot, lo + ((int64_t)bins->n << bins->shift));

		ballot->events[i].next = next;
		ballot->events[i].end = end;
		*sum += sum_before(ballot, next);
		n += end - next;
	}
	return n;
}

/** Count the turns of a track's events in some bins, which begin at @lo and end before @end. */
static void count(struct ballot *ballot, const struct clock_sample *sample, int shift, int64_t lo,
		  int64_t end, int32_t *near)
{
	for (size_t i = 0; i < sample->n; i++) {
		const struct turn *turn = ballot->turns + ballot->events[i].next;
		const struct turn *last = ballot->turns + ballot->events[i].end;
		int64_t from = lo + sample->times[i], to = end + sample->times[i];

		for (; turn < last && turn->at < to; turn++)
			near[(turn->at - from) >> shift] += turn->weight;
		ballot->events[i].next = (size_t)(turn - ballot->turns);
	}
}

/** Sum some bins up. Return: the last sum. */
static int32_t sum_up(int32_t sum, int32_t *near, size_t n)
{
	for (size_t b = 0; b < n; b++) {
		sum += near[b];
		near[b] = sum;
	}
	return sum;
}

/** Bring in what has been counted in some bins, and empty them. */
static void bring_in(int32_t *near, size_t n, enum clock_count what, int32_t *counts)
{
	if (what == CLOCK_ADD)
		for (size_t b = 0; b < n; b++)
			counts[b] += near[b];
	else
		for (size_t b = 0; b < n; b++)
			counts[b] = near[b] > counts[b] ? near[b] : counts[b];
	memset(near, 0, n * sizeof(*near));
}

static void count_all(struct ballot *ballots, const struct clock_sample *samples, int n,
		      const struct clock_bins *bins, int32_t sum, enum clock_count what,
		      int32_t *counts)
{
	int32_t near[CLOCK_NEAR_BINS] = { 0 };

	for (size_t first = 0; first < bins->n; first += CLOCK_NEAR_BINS) {
		size_t n_near = bins->n - first < CLOCK_NEAR_BINS ? bins->n - first :
								   CLOCK_NEAR_BINS;
		int64_t lo = bins->lo + ((int64_t)first << bins->shift);

		for (int s = 0; s < n; s++)
			count(&ballots[s], &samples[s], bins->shift, lo,
			      lo + ((int64_t)n_near << bins->shift), near);
		sum = sum_up(sum, near, n_near);
		bring_in(near, n_near, what, counts + first);
	}
}

int clock_vote(const struct clock_vcpu *vcpus, const struct clock_sample *samples, int n,
	       int64_t slack, const struct clock_bins *bins, enum clock_count what,
	       int32_t *counts, uint64_t *work)
{
	struct ballot *ballots = calloc((size_t)n, sizeof(*ballots));
	uint64_t steps = CLOCK_WORK_VOTE_BIN * bins->n;
	int32_t sum = 0;
	int ret = ballots ? 0 : -ENOMEM;

	for (int s = 0; s < n && !ret; s++) {
		struct ballot *ballot = &ballots[s];

		if (!samples[s].n)
			continue;
		steps += CLOCK_WORK_VOTE_CHANGE * vcpus[s].known.n +
			 CLOCK_WORK_VOTE_EVENT * samples[s].n;
		ballot->events = malloc(samples[s].n * sizeof(*ballot->events));
		if (!ballot->events || find_turns(&vcpus[s], slack, bins, ballot)) {
			ret = -ENOMEM;
			break;
		}
		steps += CLOCK_WORK_VOTE_TURN * begin(ballot, &samples[s], bins, &sum);
		sum -= vcpus[s].outside * (int32_t)samples[s].n;
	}
	if (!ret)
		ret = clock_spend(work, steps);
	if (!ret)
		count_all(ballots, samples, n, bins, sum, what, counts);
	for (int s = 0; ballots && s < n; s++) {
		free(ballots[s].turns);
		free(ballots[s].events);
	}
	free(ballots);
	return ret;
}
