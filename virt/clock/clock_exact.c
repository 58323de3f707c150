// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	clock_exact.c
 * @brief	Make an alignment with all events, and find other offsets that would explain them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock_fit.h"

/** What is wanted of a sweep. */
enum sweep {
	SWEEP_BEST,
	SWEEP_AROUND,			/* as good as the middle of @best */
	SWEEP_NEAR,			/* hardly worse than the best */
};

/**
 * The best offsets for a sample, and, if @most is not NULL, what they could score at most.
 * Return: 0, -ENOMEM or -ECANCELED.
 */
static int sweep_sample(struct clock_search *search, const struct clock_rate *rate, size_t max,
			int64_t lo, int64_t hi, enum sweep what, struct clock_best *best,
			int64_t *most)
{
	int n = clock_n_tracks(search), ret = -ENOMEM;
	struct clock_sample *samples = calloc((size_t)n, sizeof(*samples));
	struct clock_stretch reach = clock_reach(search, rate, lo, hi);

	if (samples)
		ret = clock_take_sample(search, reach.from, reach.to, max, samples);
	if (!ret && what == SWEEP_BEST)
		ret = clock_sweep(search->tracks.vcpus, samples, n, rate, lo, hi,
				  &search->room, best);
	else if (!ret && what == SWEEP_AROUND)
		ret = clock_sweep_around(search->tracks.vcpus, samples, n, rate, lo, hi,
					 best->lo + (best->hi - best->lo) / 2, &search->room,
					 best);
	else if (!ret)
		ret = clock_sweep_near(search->tracks.vcpus, samples, n, rate, lo, hi,
				       clock_clear(clock_most(search, samples)),
				       &search->room, best);
	if (!ret && most)
		*most = clock_most(search, samples);
	if (samples)
		free(samples[0].times);
	free(samples);
	return ret;
}

/** Handlers run late now and then, or without a cause: only events give exact offsets. */
static int sweep_events(struct clock_search *search, const struct clock_rate *rate, size_t max,
			int64_t lo, int64_t hi, enum sweep what, struct clock_best *best)
{
	bool irqs = search->irqs;
	int ret;

	search->irqs = false;
	ret = sweep_sample(search, rate, max, lo, hi, what, best, NULL);
	search->irqs = irqs;
	return ret;
}

/**
 * The offsets may go on beyond @lo .. @hi, where they have been looked for: candidates are of a
 * limited width, and handlers narrow them.
 */
static int widen(struct clock_search *search, const struct clock_rate *rate, int64_t lo,
		 int64_t hi, struct clock_best *best)
{
	int ret = 0;

	for (int64_t more = limits.wider; more <= limits.widest && !ret; more *= limits.widen) {
		if (best->lo > lo && best->hi < hi)
			return 0;
		lo -= more;
		hi += more;
		ret = sweep_events(search, rate, clock_affordable(search, hi - lo, limits.large),
				   lo, hi, SWEEP_AROUND, best);
	}
	return ret;
}

/**
 * If handlers cannot distinguish all offsets that are left: keep those with which hardly more
 * handlers run at the wrong time than with the best ones.
 */
static int narrow(struct clock_search *search, const struct clock_rate *rate,
		  struct clock_best *best)
{
	int64_t width = best->hi - best->lo;
	int ret;

	search->events = false;
	ret = sweep_sample(search, rate, clock_affordable(search, width, limits.large), best->lo,
			   best->hi, SWEEP_NEAR, best, NULL);
	search->events = true;
	return ret;
}

/** With all events, near what has been found with some. */
static int finish(struct clock_search *search, double ppm, struct clock_best *best,
		  struct virt_clock_alignment *alignment)
{
	int64_t width = search->narrowed ? 0 : best->hi - best->lo + 2;
	struct clock_rate rate = { .rate = ppm * 1e-6 };
	int ret = sweep_events(search, &rate, SIZE_MAX, best->lo - width, best->hi + width,
			       SWEEP_BEST, best);

	alignment->lo = best->lo;
	alignment->hi = best->hi;
	alignment->offset = best->lo + (best->hi - best->lo) / 2;
	alignment->drift_ppm = alignment->drift_lo_ppm = alignment->drift_hi_ppm = ppm;
	return ret;
}

int clock_fit_exactly(struct clock_search *search, const struct clock_fit *fit,
		      struct virt_clock_alignment *alignment)
{
	/* as it is written and read: so the offset fits to the number */
	double ppm = (double)llround(fit->rate.rate * 1e12) * 1e-6;
	struct clock_fit line = *fit;
	struct clock_rate rate = { .rate = ppm * 1e-6 };
	struct clock_best best = { 0 };
	int64_t lo, hi;
	int ret;

	memcpy(search->pairing, search->pool + fit->pairing,
	       (size_t)search->problem->n_cpus * sizeof(*search->pairing));
	line.rate.rate = rate.rate;
	lo = clock_fit_offset(&line, fit->lo) - limits.tolerance;
	hi = clock_fit_offset(&line, fit->hi) + limits.tolerance;
	ret = sweep_events(search, &rate, limits.large, lo, hi, SWEEP_BEST, &best);
	if (!ret)
		ret = widen(search, &rate, lo, hi, &best);
	search->narrowed = search->irqs && best.hi - best.lo > limits.irq_window;
	if (!ret && search->narrowed)
		ret = narrow(search, &rate, &best);
	if (!ret)
		ret = finish(search, ppm, &best, alignment);
	return ret;
}

int clock_fit_drift(struct clock_search *search, double drift_ppm, int64_t offset,
		    struct virt_clock_alignment *alignment)
{
	struct clock_best best = { offset - limits.tolerance, offset + limits.tolerance, 0 };

	return finish(search, (double)llround(drift_ppm * 1e6) * 1e-6, &best, alignment);
}

static int64_t weight_of(const struct clock_search *search, int32_t vcpu)
{
	return search->tracks.vcpus[vcpu * search->tracks.stride].inside;
}

/** The less an event says, the more events are needed to distinguish two offsets. */
static size_t enough(const struct clock_search *search)
{
	int64_t least = CLOCK_NAT / 2;

	for (int32_t c = 0; c < search->problem->n_cpus; c++)
		if (search->pairing[c] >= 0 && weight_of(search, search->pairing[c]) < least)
			least = weight_of(search, search->pairing[c]);
	return (size_t)(limits.of_neighbours * (CLOCK_NAT / 2) / least);
}

int clock_fit_neighbours(struct clock_search *search, struct virt_clock_alignment *alignment)
{
	int64_t width = alignment->hi - alignment->lo;
	struct clock_rate rate = { .rate = alignment->drift_ppm * 1e-6 };
	struct clock_best here, other;
	size_t n = enough(search);
	int64_t most;
	int ret = sweep_sample(search, &rate, n, alignment->lo, alignment->hi,
			       SWEEP_BEST, &here, &most);

	for (int side = -1; side <= 1 && !ret; side += 2) {
		for (int64_t from = limits.flank * width + limits.tolerance;
		     from < limits.neighbours && !ret; from *= 2) {
			int64_t near = alignment->offset + side * from;
			int64_t far = alignment->offset + side * limits.neighbours;

			ret = sweep_sample(search, &rate, n, side < 0 ? far : near,
					   side < 0 ? near : far, SWEEP_BEST, &other, NULL);
			if (ret || other.score < here.score - clock_clear(most))
				break;
			/* the flank of this peak, or another one? */
			if (side < 0 ? other.hi == near : other.lo == near)
				continue;
			alignment->verdict = VIRT_CLOCK_AMBIGUOUS;
			alignment->other_offset = other.lo + (other.hi - other.lo) / 2;
			return 0;
		}
	}
	return ret;
}

/** Do these events fit any of these ranges nearly as well? */
static int compare_ranges(struct clock_search *search, const struct clock_rate *rate,
			  const struct clock_sample *samples,
			  const struct clock_candidate *candidates, int n,
			  struct virt_clock_alignment *alignment)
{
	int64_t enough, n_tracks = clock_n_tracks(search);
	struct clock_best best;
	int ret = clock_sweep(search->tracks.vcpus, samples, (int)n_tracks, rate, alignment->lo,
			      alignment->hi, &search->room, &best);

	enough = ret ? 0 : best.score - clock_clear(clock_most(search, samples));
	for (int i = 0; i < n && !ret; i++) {
		ret = clock_sweep(search->tracks.vcpus, samples, (int)n_tracks, rate,
				  candidates[i].lo, candidates[i].hi, &search->room, &best);
		if (ret || best.score < enough)
			continue;
		alignment->verdict = VIRT_CLOCK_AMBIGUOUS;
		alignment->other_offset = best.lo + (best.hi - best.lo) / 2;
		return 0;
	}
	return ret;
}

int clock_fit_elsewhere(struct clock_search *search, struct virt_clock_alignment *alignment)
{
	int64_t width = limits.flank * (alignment->hi - alignment->lo) + limits.tolerance;
	int64_t beside = width > limits.neighbours ? width : limits.neighbours;
	const struct clock_candidate here = { alignment->lo - beside, alignment->hi + beside, 0 };
	struct clock_candidate candidates[CLOCK_CANDIDATES];
	struct clock_rate rate = { .rate = alignment->drift_ppm * 1e-6 };
	struct clock_stretch reach = clock_reach(search, &rate, alignment->lo, alignment->hi);
	struct clock_sample *samples = calloc((size_t)clock_n_tracks(search), sizeof(*samples));
	int n = -ENOMEM, ret;

	if (samples)
		n = clock_candidates(search, &rate, reach.from, reach.to, 0, &here, candidates,
				     CLOCK_CANDIDATES);
	ret = n < 0 ? n : clock_take_sample(search, reach.from, reach.to, enough(search), samples);
	if (!ret)
		ret = compare_ranges(search, &rate, samples, candidates, n, alignment);
	if (samples)
		free(samples[0].times);
	free(samples);
	return ret;
}

int clock_widen(struct clock_search *search, struct virt_clock_alignment *alignment)
{
	struct clock_rate rate = { .rate = alignment->drift_ppm * 1e-6 };
	int64_t offset = alignment->offset;
	struct clock_best best;
	int ret = sweep_events(search, &rate, limits.of_around, offset - limits.around,
			       offset + limits.around, SWEEP_BEST, &best);

	if (ret || offset < best.lo || offset > best.hi)
		return ret;
	ret = sweep_events(search, &rate, SIZE_MAX, best.lo, best.hi, SWEEP_BEST, &best);
	if (ret || offset < best.lo || offset > best.hi)
		return ret;
	alignment->lo = best.lo;
	alignment->hi = best.hi;
	return 0;
}
