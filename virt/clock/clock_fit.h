/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	clock_fit.h
 * @brief	Inner parts of clock_align.c: find offset and drift near a candidate.
 */
#ifndef KSHARK_VIRT_CLOCK_FIT_H
#define KSHARK_VIRT_CLOCK_FIT_H

#include "clock_search.h"

/** A line that explains events, and the offsets at its pivot that explain as many. */
struct clock_fit {
	struct clock_rate rate;
	int64_t		lo, hi;
	int64_t		score;		/* of a sample of all events */
	int64_t		most;		/* of that sample, if all of it were inside */
	int64_t		half;		/* it was found within pivot - half .. pivot + half */
	int64_t		slack;		/* what drift may do there; 0: none is expected */
	double		range;		/* by which the rate may be wrong */
	int		n_rates;	/* to each side that are tried at first */
	size_t		pairing;	/* in the pool of the search */
	bool		apart;		/* a peak, not the flank of another one */
	bool		voted;		/* it got the most votes of all */
	bool		perfect;	/* there is nothing left to explain */
};

/** clock_affordable - the number of events, at most @wanted, at which a sweep stays cheap */
size_t clock_affordable(const struct clock_search *search, int64_t window, size_t wanted);

/** clock_fit_piece - the best offset of a candidate, with about its rate. Return: 0 or an error. */
int clock_fit_piece(struct clock_search *search, int64_t from, int64_t to,
		    const struct clock_candidate *candidate, struct clock_fit *fit);

/** clock_fit_grow - from a piece to the whole trace, with drift. Return: 0 or an error. */
int clock_fit_grow(struct clock_search *search, struct clock_fit *fit);

/** clock_fit_offset - from an offset at the pivot of a line to that at 0. */
int64_t clock_fit_offset(const struct clock_fit *fit, int64_t offset);

/** clock_fits_differ - are these two farther from each other than they are wide? */
bool clock_fits_differ(const struct clock_fit *a, const struct clock_fit *b);

/** clock_fit_exactly - with all events; @search has its pairing from then on. 0 or an error. */
int clock_fit_exactly(struct clock_search *search, const struct clock_fit *fit,
		      struct virt_clock_alignment *alignment);

/** clock_fit_neighbours - is there another one a few ms away? Sets the verdict. 0 or an error. */
int clock_fit_neighbours(struct clock_search *search, struct virt_clock_alignment *alignment);

/**
 * clock_fit_elsewhere - is there another one farther away? Sets the verdict. 0 or an error.
 *
 * A guest that does the same in each turn fits all turns. Where its stretches are long, all lines
 * that have been followed may be of the same turn.
 */
int clock_fit_elsewhere(struct clock_search *search, struct virt_clock_alignment *alignment);

/** clock_fit_drift - as clock_fit_exactly() has ended, with another drift, near an offset. */
int clock_fit_drift(struct clock_search *search, double drift_ppm, int64_t offset,
		    struct virt_clock_alignment *alignment);

/** clock_settle - let what was found with a drift explain what a slightly other one does. */
int clock_settle(struct clock_search *search, struct virt_clock_alignment *alignment);

/**
 * clock_region - give the offset at the time at which it is known best, whatever the drift is
 * @alignment: found, at 0; receives that time, what holds there, and which drifts are possible
 *
 * Return: 0 or an error.
 */
int clock_region(struct clock_search *search, struct virt_clock_alignment *alignment);

/** clock_widen - around a given offset, what explains as much? Return: 0 or an error. */
int clock_widen(struct clock_search *search, struct virt_clock_alignment *alignment);

#endif
