// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	clock_fit.c
 * @brief	Find offset and drift between two clocks, near a candidate.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "clock_fit.h"

static int64_t middle(const struct clock_fit *fit)
{
	return fit->lo + (fit->hi - fit->lo) / 2;
}

int64_t clock_fit_offset(const struct clock_fit *fit, int64_t offset)
{
	return offset - llround(fit->rate.rate * (double)fit->rate.pivot);
}

/** Where a line puts a time of the guest. */
static int64_t place(const struct clock_fit *fit, int64_t time)
{
	return clock_apply(&fit->rate, time) + middle(fit);
}

bool clock_fits_differ(const struct clock_fit *a, const struct clock_fit *b)
{
	int64_t width = a->hi - a->lo > b->hi - b->lo ? a->hi - a->lo : b->hi - b->lo;
	int64_t far = llabs(place(a, a->rate.pivot) - place(b, a->rate.pivot));

	return far > limits.flank * (width + limits.tolerance);
}

size_t clock_affordable(const struct clock_search *search, int64_t window, size_t wanted)
{
	const struct virt_clock_problem *problem = search->problem;
	double span = (double)(search->host_end - search->host_begin) + 1, edges, n;
	size_t changes = 0, used = 0;

	for (int32_t v = 0; v < problem->n_vcpus; v++) {
		changes += problem->vcpus[v].n;
		used += problem->vcpus[v].n > 0;
	}
	edges = (double)changes / (double)(used ? used : 1) * (double)window / span;
	n = limits.max_edges / (edges + 1);
	return n < limits.min_sample ? limits.min_sample : n < (double)wanted ? (size_t)n : wanted;
}

static void use_pairing(struct clock_search *search, size_t pairing)
{
	memcpy(search->pairing, search->pool + pairing,
	       (size_t)search->problem->n_cpus * sizeof(*search->pairing));
}

/** Pair what is not paired for some offsets, and remember it. Return: 0 or an error. */
static int pair(struct clock_search *search, struct clock_sample *samples, struct clock_fit *fit,
		int64_t lo, int64_t hi)
{
	size_t n = (size_t)search->problem->n_cpus;
	int ret = clock_pair(search, samples, &fit->rate, lo, hi);

	if (ret)
		return ret;
	if (ARRAY_GROW(search->pool, search->n_pool + n, search->room_pool))
		return -ENOMEM;
	memcpy(search->pool + search->n_pool, search->pairing, n * sizeof(*search->pool));
	fit->pairing = search->n_pool;
	search->n_pool += n;
	for (size_t c = 0; c < n; c++)
		search->pairing[c] = search->problem->cpus[c].vcpu;
	return 0;
}

/* --- drift ----------------------------------------------------------------------------------- */

/** One step of the search for a rate. */
struct level {
	const struct clock_sample *samples;
	double		centre, step;
	int		n;		/* steps to each side */
	int64_t		lo, hi;		/* offsets */
};

/** Try some rates. Of equals the one that leaves most room: it is in the middle of them. */
static int try_rates(struct clock_search *search, const struct level *level, struct clock_fit *fit)
{
	struct clock_best best = { .score = INT64_MIN };
	int ret;

	for (int k = -level->n; k <= level->n; k++) {
		struct clock_rate rate = { level->centre + k * level->step, fit->rate.pivot };
		struct clock_best here;

		if (fabs(rate.rate) > (VIRT_CLOCK_MAX_PPM + limits.spare_ppm) * 1e-6)
			continue;
		ret = clock_sweep(search->tracks.vcpus, level->samples, clock_n_tracks(search),
				  &rate, level->lo, level->hi, &search->room, &here);
		if (ret)
			return ret;
		if (here.score < best.score ||
		    (here.score == best.score && here.hi - here.lo <= best.hi - best.lo))
			continue;
		best = here;
		fit->rate.rate = rate.rate;
	}
	fit->lo = best.lo;
	fit->hi = best.hi;
	fit->score = best.score;
	return 0;
}

/** The fewer of a piece's events can be judged, of those that could be, the less they may say. */
static size_t n_piece(const struct clock_search *search, int64_t from, int64_t to,
		      const struct clock_stretch *reach)
{
	double host = (double)(search->host_end - search->host_begin) + 1;
	double part = host < (double)(to - from) ? host / (double)(to - from) : 1;
	double all = (double)clock_n_events(search, from, to) * part + 1;
	double share = ((double)clock_n_events(search, reach->from, reach->to) + 1) / all;

	return share < 1 ? (size_t)(limits.of_piece * share) + 1 : limits.of_piece;
}

int clock_fit_piece(struct clock_search *search, int64_t from, int64_t to,
		    const struct clock_candidate *candidate, struct clock_fit *fit)
{
	struct clock_sample *samples = calloc((size_t)clock_n_tracks(search), sizeof(*samples));
	struct level level = {
		.samples = samples, .lo = candidate->lo, .hi = candidate->hi,
		.n = fit->n_rates, .step = fit->n_rates ? fit->range / fit->n_rates : 0,
		.centre = fit->rate.rate,
	};
	struct clock_stretch reach = clock_reach(search, &fit->rate, candidate->lo, candidate->hi);
	int64_t width = candidate->hi - candidate->lo;
	int ret = -ENOMEM;

	reach.from = reach.from > from ? reach.from : from;
	reach.to = reach.to < to ? reach.to : to;
	if (samples)
		ret = clock_take_sample(search, reach.from, reach.to,
					clock_affordable(search, width,
							 n_piece(search, from, to, &reach)),
					samples);
	if (!ret)
		ret = pair(search, samples, fit, candidate->lo, candidate->hi);
	if (!ret)
		ret = try_rates(search, &level, fit);
	fit->apart = fit->lo > candidate->lo && fit->hi < candidate->hi;
	if (samples)
		free(samples[0].times);
	free(samples);
	return ret;
}

static void set_window(struct level *level, const struct clock_fit *fit, int64_t margin)
{
	level->lo = fit->lo - margin;
	level->hi = fit->hi + margin;
}

/** From the piece outwards; each time the rate gets as much better known as it gets longer. */
static int follow(struct clock_search *search, struct clock_fit *fit, int64_t full,
		  struct clock_sample *samples)
{
	double range = fit->slack ? fit->range :
		       (double)limits.unsure * limits.tolerance / (double)full;
	struct level level = { .samples = samples };
	struct clock_stretch reach;
	int64_t half = fit->slack ? fit->half : full, pivot = fit->rate.pivot;
	int ret = 0;

	set_window(&level, fit, fit->slack + limits.tolerance);
	for (;;) {
		size_t wanted = clock_affordable(search, level.hi - level.lo, limits.of_level);

		level.step = limits.tolerance / (double)half;
		if (range / level.step > limits.max_steps)
			level.step = range / limits.max_steps;
		if (range / level.step < limits.min_steps)
			level.step = range / limits.min_steps;
		level.n = (int)ceil(range / level.step);
		level.centre = fit->rate.rate;
		reach = clock_reach(search, &fit->rate, level.lo, level.hi);
		ret = clock_take_sample(search, reach.from > pivot - half ? reach.from :
					pivot - half, reach.to < pivot + half ? reach.to :
					pivot + half, wanted, samples);
		if (!ret)
			ret = try_rates(search, &level, fit);
		free(samples[0].times);
		samples[0].times = NULL;
		if (ret || (half >= full && level.step * (double)full <=
				limits.tolerance / limits.followed))
			return ret;
		range = 2 * level.step;
		set_window(&level, fit, (int64_t)(level.step * (double)half) + limits.tolerance);
		half = half >= full / limits.longer ? full : half * limits.longer;
	}
}

/** Count the samples of events, or of handlers, that lie inside, and outside. */
static void count(const struct clock_search *search, const struct clock_sample *samples,
		  const struct clock_fit *fit, bool irqs, uint64_t *inside, uint64_t *outside)
{
	*inside = *outside = 0;
	for (int32_t t = 0; t < clock_n_tracks(search); t++) {
		const struct virt_clock_vcpu *vcpu;

		if (samples[t].vcpu < 0 || (t % search->tracks.stride > 0) != irqs)
			continue;
		vcpu = &search->tracks.vcpus[samples[t].vcpu].known;
		for (size_t i = 0; i < samples[t].n; i++) {
			int64_t at = clock_find(vcpu, place(fit, samples[t].times[i]));

			*inside += at >= 0 && vcpu->changes[at].where == VIRT_CLOCK_INSIDE;
			*outside += at >= 0 && vcpu->changes[at].where == VIRT_CLOCK_OUTSIDE;
		}
	}
}

/** Is there hardly anything outside, and enough inside that it cannot be chance? */
static bool is_perfect(const struct clock_search *search, const struct clock_sample *samples,
		       const struct clock_fit *fit)
{
	uint64_t inside, outside;

	count(search, samples, fit, true, &inside, &outside);
	if (!clock_irqs_fit(inside, outside))
		return false;
	count(search, samples, fit, false, &inside, &outside);
	return inside >= VIRT_CLOCK_MIN_EVENTS && outside * limits.perfect <= inside &&
	       fit->score >= limits.no_chance;
}

/** The best without drift and with it; the latter only if it explains clearly more. */
static int with_and_without(struct clock_search *search, struct clock_fit *fit, int64_t full,
			    const struct clock_sample *samples, struct clock_sample *room)
{
	struct clock_fit line;
	struct level still = { .samples = samples }, moving = { .samples = samples };
	int64_t clear;
	int ret;

	fit->most = clock_most(search, samples);
	clear = clock_clear(fit->most);
	line = *fit;
	set_window(&still, fit, limits.tolerance);
	ret = try_rates(search, &still, fit);
	if (!ret)
		fit->perfect = is_perfect(search, samples, fit);
	if (ret || fit->perfect)
		return ret;
	ret = follow(search, &line, full, room);
	if (ret)
		return ret;
	moving.n = limits.min_steps;
	for (double part = limits.coarse; part < limits.finest && !ret; part *= limits.finer) {
		moving.centre = line.rate.rate;
		moving.step = limits.tolerance / part / (double)full;
		set_window(&moving, &line,
			   (int64_t)(limits.min_steps * limits.tolerance / part) + 1);
		ret = try_rates(search, &moving, &line);
	}
	/* a line that is as good as still, where it is now, does not move */
	if (!ret && fabs(line.rate.rate) * (double)full < limits.tolerance) {
		struct clock_fit stopped = line;

		stopped.rate.rate = 0;
		set_window(&still, &line, 2 * limits.tolerance);
		ret = try_rates(search, &still, &stopped);
		if (!ret && line.score <= stopped.score + clear)
			line = stopped;
		if (!ret && line.score > fit->score)
			*fit = line;
		return ret;
	}
	if (!ret && line.score > fit->score + clear) {
		line.perfect = is_perfect(search, samples, &line);
		*fit = line;
	}
	return ret;
}

int clock_fit_grow(struct clock_search *search, struct clock_fit *fit)
{
	size_t n = (size_t)clock_n_tracks(search);
	struct clock_sample *samples = calloc(n, sizeof(*samples));
	struct clock_sample *room = calloc(n, sizeof(*room));
	struct clock_stretch reach = clock_reach(search, &fit->rate, fit->lo - fit->slack,
						 fit->hi + fit->slack);
	int64_t full = reach.to - fit->rate.pivot;
	int ret = -ENOMEM;

	if (fit->rate.pivot - reach.from > full)
		full = fit->rate.pivot - reach.from;
	use_pairing(search, fit->pairing);
	if (samples && room)
		ret = clock_take_sample(search, reach.from, reach.to,
					clock_affordable(search, fit->hi - fit->lo + 2 * fit->slack,
						   limits.of_whole), samples);
	if (!ret)
		ret = with_and_without(search, fit, full, samples, room);
	for (int32_t c = 0; c < search->problem->n_cpus; c++)
		search->pairing[c] = search->problem->cpus[c].vcpu;
	if (samples)
		free(samples[0].times);
	free(samples);
	free(room);
	return ret;
}
