/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	clock_search.h
 * @brief	Inner parts of clock_align.c: find candidates for an alignment.
 */
#ifndef KSHARK_VIRT_CLOCK_SEARCH_H
#define KSHARK_VIRT_CLOCK_SEARCH_H

#include "clock_tracks.h"

/** A search under way. */
struct clock_search {
	const struct virt_clock_problem *problem;
	struct clock_tracks tracks;	/* the same with handlers and with weights */
	bool		events, irqs;	/* which tracks count */
	bool		patient;	/* look everywhere, whatever is found */
	bool		was_hasty;	/* not everywhere has been looked */
	bool		narrowed;	/* the interval is by handlers */
	int32_t		*pairing;	/* by CPU: the vCPU, or VIRT_NONE */
	int32_t		*pool;		/* pairings of fits */
	size_t		n_pool, room_pool;
	struct clock_room room;
	int32_t		*sums, *best;	/* room for votes */
	size_t		n_bins;
	int64_t		host_begin, host_end;	/* first and last change */
	int64_t		guest_begin, guest_end;	/* first and last event */
};

/** A stretch of the guest's time, from @from to before @to. */
struct clock_stretch {
	int64_t		from, to;
};

/**
 * clock_reach - the events that offsets from @lo to @hi may put into the host's trace
 *
 * Where one trace is much longer than the other, most of its events say nothing.
 */
struct clock_stretch clock_reach(const struct clock_search *search, const struct clock_rate *rate,
				 int64_t lo, int64_t hi);

/** A range of offsets. */
struct clock_candidate {
	int64_t		lo, hi;
	int64_t		score;
};

/** clock_n_tracks - of all CPUs together */
static inline int clock_n_tracks(const struct clock_search *search)
{
	return search->problem->n_cpus * search->tracks.stride;
}

/**
 * clock_take_sample - about @max of the events from @from to before @to, of all CPUs together, and
 *		       about half as many of their handlers
 * @samples: receives one for each track; samples[0].times is to be freed in any case
 *
 * All steps begin with one, so this is where a search is stopped.
 *
 * Return: 0, -ENOMEM, -ECANCELED, or -ETIME.
 */
int clock_take_sample(struct clock_search *search, int64_t from, int64_t to, size_t max,
		      struct clock_sample *samples);

/** clock_n_events - from @from to before @to, of all CPUs together */
size_t clock_n_events(const struct clock_search *search, int64_t from, int64_t to);

/**
 * clock_middles - times of the guest that divide its events into equal parts, in their middles
 *
 * Return: how many, at most @max; or -ENOMEM, -ECANCELED or -ETIME.
 */
int clock_middles(struct clock_search *search, int64_t *times, int max);

/** clock_most - the score of a sample that is all inside. */
int64_t clock_most(const struct clock_search *search, const struct clock_sample *samples);

/** clock_irqs_fit - are so few handlers outside that the right offset may leave them there? */
static inline bool clock_irqs_fit(uint64_t inside, uint64_t outside)
{
	return outside * limits.late_handlers <= inside;
}

/** clock_clear - the difference of scores that is more than chance. */
static inline int64_t clock_clear(int64_t most)
{
	int64_t share = most / limits.clear_share;

	return share > limits.clear ? share : limits.clear;
}

/**
 * clock_candidates - ranges of offsets that events from @from to before @to speak for, best first
 * @rate: of the drift, about
 * @slack: by which their times may be wrong
 * @without: offsets that are no candidates; NULL: all are
 *
 * Return: how many, at most @max; or -ENOMEM, -ECANCELED or -ETIME.
 */
int clock_candidates(struct clock_search *search, const struct clock_rate *rate, int64_t from,
		     int64_t to, int64_t slack, const struct clock_candidate *without,
		     struct clock_candidate *candidates, int max);

/**
 * clock_pair - find the vCPUs of CPUs that are not paired yet, for offsets from @lo to @hi
 *
 * Return: 0, -ENOMEM, -ECANCELED or -ETIME.
 */
int clock_pair(struct clock_search *search, struct clock_sample *samples,
	       const struct clock_rate *rate, int64_t lo, int64_t hi);

#endif
