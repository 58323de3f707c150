// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	clock_chance.c
 * @brief	Test whether chance would explain as many events as an alignment does.
 *
 * The test is the ratio of two likelihoods: that all events except for some strays are inside, and
 * that all events are anywhere. For each share of strays, the mean of this ratio under chance is 1.
 * So by Markov's inequality, chance reaches e^x at most once in e^x times, whatever share of time
 * the vCPUs are in their guest.
 */
#include <math.h>

#include "clock_chance.h"
#include "clock_sweep.h"

/** A part of the host's time, and what is known of a vCPU in it. */
struct part {
	int64_t		from, to;
	double		in, out;	/* times */
	int64_t		n_in, n_out;	/* of how many stretches */
};

/** Groups of events, no longer than a vCPU's memory, which are inside, or have one outside. */
struct groups {
	double		inside, outside;
	int64_t		begin;		/* of the present one */
	bool		is_outside;	/* it is counted as such */
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/** What is known from @from to @to of the part with the change in force, @at. */
static struct part part_of(const struct virt_clock_vcpu *vcpu, int64_t at, int64_t from,
			   int64_t to)
{
	int64_t n = (int64_t)vcpu->n, first = at - at % limits.chance_part;
	int64_t end = least(first + limits.chance_part, n);
	struct part part = {
		.from = from, .to = end < n ? least(vcpu->changes[end].time, to) : to,
	};

	for (int64_t i = first; i < end; i++) {
		const struct virt_clock_change *change = &vcpu->changes[i];
		int64_t start = change->time < part.from ? part.from : change->time;
		int64_t stop = i + 1 < n ? least(change[1].time, part.to) : part.to;

		if (stop <= start)
			continue;
		if (change->where == VIRT_CLOCK_INSIDE) {
			part.in += (double)stop - (double)start;
			part.n_in++;
		} else if (change->where == VIRT_CLOCK_OUTSIDE) {
			part.out += (double)stop - (double)start;
			part.n_out++;
		}
	}
	return part;
}

/**
 * For how long a vCPU that was inside is likely to be there still: the time in which two
 * alternating states forget what they were, twice.
 */
static int64_t memory(const struct part *part)
{
	double in = part->in / (double)(part->n_in ? part->n_in : 1);
	double out = part->out / (double)(part->n_out ? part->n_out : 1);

	return (int64_t)fmin(2 * in * out / (in + out + 1), 1e18);
}

/** Add what groups say. */
static void weigh(struct clock_chance *chance, const struct part *part,
		  const struct groups *groups)
{
	double p = part->in / (part->in + part->out), stray = 1;

	if (part->in <= 0)
		return;
	for (int k = 0; k < CLOCK_STRAYS; k++, stray /= 2)
		chance->likelier[k] += groups->inside * log((1 - stray * (1 - p)) / p) +
				       groups->outside * log(stray);
}

/** An event at a time that is not before any other one. */
static void group(struct groups *groups, int64_t time, int64_t apart, int32_t where)
{
	bool any = groups->inside + groups->outside > 0;

	if (!any || (uint64_t)time - (uint64_t)groups->begin >= (uint64_t)apart) {
		groups->inside++;
		groups->is_outside = false;
		groups->begin = time;
	}
	if (!groups->is_outside && where == VIRT_CLOCK_OUTSIDE) {
		groups->is_outside = true;
		groups->inside--;
		groups->outside++;
	}
}

void clock_chance_add(struct clock_chance *chance, const struct virt_clock_vcpu *vcpu,
		      const struct virt_clock_cpu *cpu, int64_t offset, double ppm)
{
	struct groups groups = { 0 };
	struct part part = { .to = INT64_MIN };
	int64_t at, from, to, apart = 0;

	if (!cpu->n)
		return;
	from = virt_clock_host_time(offset, ppm, cpu->times[0]);
	to = virt_clock_host_time(offset, ppm, cpu->times[cpu->n - 1]);
	to += to < INT64_MAX;
	at = clock_find(vcpu, from);
	for (size_t i = 0; i < cpu->n; i++) {
		int64_t time = virt_clock_host_time(offset, ppm, cpu->times[i]);

		while (at + 1 < (int64_t)vcpu->n && vcpu->changes[at + 1].time <= time)
			at++;
		if (at < 0 || vcpu->changes[at].where == VIRT_CLOCK_UNKNOWN)
			continue;
		if (time >= part.to) {
			weigh(chance, &part, &groups);
			groups = (struct groups){ 0 };
			part = part_of(vcpu, at, from, to);
			apart = memory(&part);
		}
		group(&groups, time, apart, vcpu->changes[at].where);
	}
	weigh(chance, &part, &groups);
}

double clock_chance_against(const struct clock_chance *chance)
{
	double most = 0;

	for (int k = 1; k < CLOCK_STRAYS; k++)
		most = fmax(most, chance->likelier[k]);
	return most;
}
