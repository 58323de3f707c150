// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	clock_search.c
 * @brief	Find candidates for an alignment by a vote, and the drift of the clocks.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock_limits.h"
#include "clock_search.h"
#include "clock_vote.h"
#include "search.h"

/* --- samples --------------------------------------------------------------------------------- */

static size_t first_from(const struct virt_clock_cpu *cpu, int64_t time)
{
	size_t i;

	SEARCH_FIRST(i, 0, cpu->n, cpu->times[i] < time);
	return i;
}

static size_t n_between(const struct virt_clock_cpu *cpu, int64_t from, int64_t to)
{
	return first_from(cpu, to) - first_from(cpu, from);
}

static bool is_stopped(const struct clock_search *search)
{
	return search->problem->stop && search->problem->stop(search->problem->stop_arg);
}

/** The track of a vCPU that a track of a CPU belongs to; VIRT_NONE: not known which one. */
static int32_t track_of(const struct clock_search *search, int32_t track)
{
	int32_t stride = search->tracks.stride, vcpu = search->pairing[track / stride];

	return vcpu < 0 ? VIRT_NONE : vcpu * stride + track % stride;
}

/** How many of the @n events of a track are taken if there are @all, without handlers. */
static size_t wanted_of(const struct clock_search *search, int32_t track, size_t n, size_t all,
			size_t max)
{
	int32_t stride = search->tracks.stride;
	size_t wanted = n;

	if (!(track % stride ? search->irqs : search->events))
		return 0;
	/* rare interrupts say the most: all kinds get the same number */
	if (track % stride)
		wanted = max / 2 / (size_t)(clock_n_tracks(search) - search->problem->n_cpus);
	else if (all > max)
		wanted = (size_t)((double)n * (double)max / (double)all);
	return wanted > n ? n : wanted || !n ? wanted : 1;
}

int clock_take_sample(struct clock_search *search, int64_t from, int64_t to, size_t max,
		      struct clock_sample *samples)
{
	int32_t stride = search->tracks.stride, n_tracks = clock_n_tracks(search);
	size_t all = 0, room = 1;
	int64_t *times;

	if (is_stopped(search))
		return -ECANCELED;
	if (clock_spend(&search->room.work, (uint64_t)n_tracks * CLOCK_WORK_SEARCH_TRACK))
		return -ETIME;
	for (int32_t i = 0; i < n_tracks; i += stride)
		all += n_between(&search->tracks.cpus[i], from, to);
	for (int32_t i = 0; i < n_tracks; i++)
		room += wanted_of(search, i, n_between(&search->tracks.cpus[i], from, to), all,
				  max);
	times = malloc(room * sizeof(*times));
	samples[0].times = times;
	if (!times)
		return -ENOMEM;
	for (int32_t i = 0; i < n_tracks; i++) {
		const struct virt_clock_cpu *cpu = &search->tracks.cpus[i];
		size_t first = first_from(cpu, from), n = n_between(cpu, from, to);
		size_t wanted = wanted_of(search, i, n, all, max);

		samples[i] = (struct clock_sample){ times, wanted, track_of(search, i) };
		for (size_t k = 0; k < wanted; k++)
			*times++ = cpu->times[first + (size_t)((double)k * (double)n /
							       (double)wanted)];
	}
	return 0;
}

size_t clock_n_events(const struct clock_search *search, int64_t from, int64_t to)
{
	size_t n = 0;

	for (int32_t c = 0; c < search->problem->n_cpus; c++)
		n += n_between(&search->problem->cpus[c], from, to);
	return n;
}

static int compare_times(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int clock_middles(struct clock_search *search, int64_t *times, int max)
{
	struct clock_sample *samples = calloc((size_t)clock_n_tracks(search), sizeof(*samples));
	int ret = -ENOMEM, n = 0;
	size_t all = 0;

	if (samples)
		ret = clock_take_sample(search, search->guest_begin, search->guest_end + 1,
					limits.max_voters, samples);
	for (int32_t i = 0; !ret && i < clock_n_tracks(search); i++)
		all += samples[i].n;
	if (!ret && all)
		qsort(samples[0].times, all, sizeof(*samples[0].times), compare_times);
	for (; !ret && n < max && all; n++)
		times[n] = samples[0].times[all * (size_t)(2 * n + 1) / (size_t)(2 * max)];
	if (samples)
		free(samples[0].times);
	free(samples);
	return ret ? ret : n;
}

struct clock_stretch clock_reach(const struct clock_search *search, const struct clock_rate *rate,
				 int64_t lo, int64_t hi)
{
	long double bend = (long double)rate->rate * (long double)rate->pivot;
	long double from = ((long double)search->host_begin - (long double)hi + bend) /
			   (1 + (long double)rate->rate) - 1;
	long double to = ((long double)search->host_end - (long double)lo + bend) /
			 (1 + (long double)rate->rate) + 1;
	struct clock_stretch all = { search->guest_begin, search->guest_end + 1 };

	if (from > (long double)all.from)
		all.from = from < (long double)all.to ? (int64_t)from : all.to;
	if (to < (long double)all.to)
		all.to = to > (long double)all.from ? (int64_t)to : all.from;
	return all;
}

int64_t clock_most(const struct clock_search *search, const struct clock_sample *samples)
{
	int64_t most = 0;

	for (int32_t c = 0; c < clock_n_tracks(search); c++)
		if (samples[c].vcpu >= 0)
			most += search->tracks.vcpus[samples[c].vcpu].inside *
				(int64_t)samples[c].n;
	return most;
}

/* --- candidates ------------------------------------------------------------------------------ */

/** Are there events or handlers in a CPU's tracks? */
static bool has_any(const struct clock_sample *samples, int32_t stride)
{
	for (int32_t k = 0; k < stride; k++)
		if (samples[k].n)
			return true;
	return false;
}

static bool taken(const struct clock_search *search, int32_t vcpu)
{
	for (int i = 0; i < search->problem->n_cpus; i++)
		if (search->pairing[i] == vcpu)
			return true;
	return false;
}

/** The votes of a CPU of unknown pairing: of the vCPU that is best for it, bin by bin. */
static int vote_any(struct clock_search *search, const struct clock_sample *samples,
		    int64_t slack, const struct clock_bins *bins)
{
	int32_t stride = search->tracks.stride, *best = search->best;
	bool any = false;

	for (int32_t v = 0; v < search->problem->n_vcpus; v++) {
		int ret = clock_spend(&search->room.work, (uint64_t)search->problem->n_cpus);

		if (ret)
			return ret;
		if (taken(search, v))
			continue;
		for (size_t b = 0; b < bins->n && !any; b++)
			best[b] = INT32_MIN;
		any = true;
		ret = clock_vote(&search->tracks.vcpus[v * stride], samples, stride, slack, bins,
				 CLOCK_RAISE, best, &search->room.work);
		if (ret)
			return ret;
	}
	for (size_t b = 0; b < bins->n && any; b++)
		search->sums[b] += best[b];
	return 0;
}

/** The votes of a CPU. */
static int vote_cpu(struct clock_search *search, const struct clock_sample *samples,
		    int64_t slack, const struct clock_bins *bins)
{
	if (samples->vcpu < 0)
		return vote_any(search, samples, slack, bins);
	return clock_vote(&search->tracks.vcpus[samples->vcpu], samples, search->tracks.stride,
			  slack, bins, CLOCK_ADD, search->sums, &search->room.work);
}

/** Empty bins. Return: 0, -ENOMEM or -ETIME. */
static int make_bins(struct clock_search *search, const struct clock_bins *bins)
{
	if (search->n_bins < bins->n) {
		free(search->sums);
		free(search->best);
		search->sums = malloc(bins->n * sizeof(*search->sums));
		search->best = malloc(bins->n * sizeof(*search->best));
		search->n_bins = search->sums && search->best ? bins->n : 0;
	}
	if (!search->n_bins)
		return -ENOMEM;
	memset(search->sums, 0, bins->n * sizeof(*search->sums));
	return clock_spend(&search->room.work, CLOCK_WORK_SEARCH_BIN * bins->n);
}

/** The first of the bins with most votes, in each block of them. */
struct tops {
	const int32_t	*sum;
	size_t		n, n_blocks, *top;
};

static void find_top(struct tops *tops, size_t block)
{
	size_t first = block * limits.block;
	size_t end = first + limits.block < tops->n ? first + limits.block : tops->n;

	tops->top[block] = first;
	for (size_t b = first + 1; b < end; b++)
		if (tops->sum[b] > tops->sum[tops->top[block]])
			tops->top[block] = b;
}

/** Return: 0 or -ENOMEM; free tops->top in any case. */
static int find_tops(struct tops *tops)
{
	tops->n_blocks = (tops->n + limits.block - 1) / limits.block;
	tops->top = calloc(tops->n_blocks, sizeof(*tops->top));
	if (!tops->top)
		return -ENOMEM;
	for (size_t i = 0; i < tops->n_blocks; i++)
		find_top(tops, i);
	return 0;
}

static size_t top_of_all(const struct tops *tops)
{
	size_t best = tops->top[0];

	for (size_t i = 1; i < tops->n_blocks; i++)
		if (tops->sum[tops->top[i]] > tops->sum[best])
			best = tops->top[i];
	return best;
}

/**
 * The bins with the most votes, not next to each other nor within @slack, which is one hill.
 * Return: how many, at most @max; or -ENOMEM.
 */
static int pick(const struct clock_bins *bins, int64_t slack, int32_t *sum,
		struct clock_candidate *candidates, int max)
{
	size_t apart = 2 + (size_t)(slack >> bins->shift);
	struct tops tops = { .sum = sum, .n = bins->n };
	int n = find_tops(&tops);

	for (; n >= 0 && n < max; n++) {
		size_t best = top_of_all(&tops), first = best, last = best;

		if (sum[best] == INT32_MIN)
			break;
		while (last + 1 < bins->n && last < best + limits.hill &&
		       sum[last + 1] == sum[best])
			last++;
		candidates[n].lo = bins->lo + ((int64_t)first << bins->shift);
		candidates[n].hi = bins->lo + ((int64_t)(last + 1) << bins->shift) - 1;
		candidates[n].score = sum[best];
		first = first > apart ? first - apart : 0;
		last = last + apart < bins->n ? last + apart : bins->n - 1;
		for (size_t b = first; b <= last; b++)
			sum[b] = INT32_MIN;
		for (size_t i = first / limits.block; i <= last / limits.block; i++)
			find_top(&tops, i);
	}
	free(tops.top);
	return n;
}

/** Let no bin that a range touches be the best one. */
static void leave_out(const struct clock_bins *bins, const struct clock_candidate *without,
		      int32_t *sum)
{
	for (size_t b = 0; b < bins->n; b++) {
		int64_t lo = bins->lo + ((int64_t)b << bins->shift);

		if (lo <= without->hi && without->lo < lo + ((int64_t)1 << bins->shift))
			sum[b] = INT32_MIN;
	}
}

/** How many events may vote, as each does for all times at which a vCPU is in its guest. */
static size_t n_voters(struct clock_search *search, int64_t slack, const struct clock_bins *bins)
{
	size_t n = 1, voters;

	for (int32_t v = 0; v < search->problem->n_vcpus; v++) {
		const struct virt_clock_vcpu *vcpu = &search->problem->vcpus[v];

		/* the next one to take a sample learns that it was too much */
		if (clock_spend(&search->room.work, CLOCK_WORK_SEARCH_CHANGE * vcpu->n))
			break;
		n += clock_n_spans(vcpu, slack, bins);
	}
	voters = limits.max_votes / n * (size_t)search->problem->n_vcpus;
	return voters > limits.max_voters ? limits.max_voters :
	       voters < limits.min_voters ? limits.min_voters : voters;
}

/** Bring the times of samples to the host's, but for the offset. */
static void bend(const struct clock_search *search, const struct clock_rate *rate,
		 struct clock_sample *samples)
{
	for (int32_t i = 0; i < clock_n_tracks(search); i++)
		for (size_t k = 0; k < samples[i].n; k++)
			samples[i].times[k] = clock_apply(rate, samples[i].times[k]);
}

int clock_candidates(struct clock_search *search, const struct clock_rate *rate, int64_t from,
		     int64_t to, int64_t slack, const struct clock_candidate *without,
		     struct clock_candidate *candidates, int max)
{
	const struct virt_clock_problem *problem = search->problem;
	struct clock_sample *samples = calloc((size_t)clock_n_tracks(search), sizeof(*samples));
	struct clock_bins bins = { .lo = search->host_begin - clock_apply(rate, to) - slack };
	int64_t span = search->host_end - clock_apply(rate, from) + slack - bins.lo;
	int32_t stride = search->tracks.stride;
	int ret = -ENOMEM;

	while (span >> bins.shift >= limits.max_bins || slack >> bins.shift >= limits.fine)
		bins.shift++;
	bins.n = (size_t)(span >> bins.shift) + 1;
	if (samples)
		ret = make_bins(search, &bins);
	if (!ret)
		ret = clock_take_sample(search, from, to, n_voters(search, slack, &bins),
					samples);
	if (!ret)
		bend(search, rate, samples);
	for (int i = 0; i < problem->n_cpus && !ret; i++)
		if (has_any(&samples[i * stride], stride))
			ret = vote_cpu(search, &samples[i * stride], slack, &bins);
	if (!ret && without)
		leave_out(&bins, without, search->sums);
	if (!ret)
		ret = pick(&bins, slack, search->sums, candidates, max);
	for (int i = 0; i < ret; i++) {
		candidates[i].lo -= slack;
		candidates[i].hi += slack;
	}
	if (samples)
		free(samples[0].times);
	free(samples);
	return ret;
}

/* --- pairing --------------------------------------------------------------------------------- */

static void set_vcpu(struct clock_sample *samples, int32_t stride, int32_t vcpu)
{
	for (int32_t k = 0; k < stride; k++)
		samples[k].vcpu = vcpu < 0 ? VIRT_NONE : vcpu * stride + k;
}

/** The vCPU that fits a CPU best. Return: VIRT_NONE if there is none left, or as clock_pair(). */
static int32_t find_vcpu(struct clock_search *search, struct clock_sample *samples,
			 const struct clock_rate *rate, int64_t lo, int64_t hi, int64_t *score)
{
	int32_t stride = search->tracks.stride, found = VIRT_NONE;
	int ret;

	*score = INT64_MIN;
	if (is_stopped(search))
		return -ECANCELED;
	for (int32_t v = 0; v < search->problem->n_vcpus; v++) {
		struct clock_best best;

		ret = clock_spend(&search->room.work, (uint64_t)search->problem->n_cpus);
		if (ret)
			return ret;
		if (taken(search, v))
			continue;
		set_vcpu(samples, stride, v);
		ret = clock_sweep(search->tracks.vcpus, samples, stride, rate, lo, hi,
				  &search->room, &best);
		if (ret)
			return ret;
		if (best.score > *score) {
			*score = best.score;
			found = v;
		}
	}
	set_vcpu(samples, stride, VIRT_NONE);
	return found;
}

/** Give each CPU of unknown pairing the vCPU that fits it best, the clearest ones first. */
int clock_pair(struct clock_search *search, struct clock_sample *samples,
	       const struct clock_rate *rate, int64_t lo, int64_t hi)
{
	int32_t stride = search->tracks.stride;

	for (;;) {
		int64_t found = INT64_MIN;
		int32_t cpu = -1, vcpu = -1;

		for (int32_t i = 0; i < search->problem->n_cpus; i++) {
			struct clock_sample *of = &samples[i * stride];
			int64_t score;
			int32_t v;

			if (of->vcpu >= 0 || !has_any(of, stride))
				continue;
			v = find_vcpu(search, of, rate, lo, hi, &score);
			if (v < VIRT_NONE)
				return v;
			if (v >= 0 && score > found) {
				found = score;
				cpu = i;
				vcpu = v;
			}
		}
		if (cpu < 0)
			return 0;
		search->pairing[cpu] = vcpu;
		set_vcpu(&samples[cpu * stride], stride, vcpu);
	}
}
