// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	align_cut.c
 * @brief	Find which of a clock's successive offsets applies to each event.
 */
#include <errno.h>
#include <math.h>

#include "align_cut.h"
#include "array.h"
#include "search.h"

/** ns or cycles: times are rounded, and offsets are. */
#define SLACK		4

/** Steps of about a ns that it takes to see where an event is with two offsets. */
#define WORK_PER_EVENT	200

#define NOWHERE		SIZE_MAX

static __int128 difference(int64_t a, int64_t b)
{
	return (__int128)a - b;
}

/** What has been added to the host's times, in those of the guest. */
static __int128 in_guest(__int128 host, double ppm)
{
	/* exact where it matters */
	return ppm < 0 || ppm > 0 ? (__int128)((long double)host / (1 + (long double)ppm / 1e6L)) :
				    host;
}

/** 1: in guest time, -1: outside, 0: the host's trace does not show it. */
static int score(const struct align_cut *cut, const struct align_piece *piece, int64_t time)
{
	const struct virt_clock_vcpu *vcpu = cut->vcpu;
	int64_t host = virt_clock_host_time(piece->offset, cut->ppm, time);
	size_t after;

	SEARCH_FIRST(after, 0, vcpu->n, vcpu->changes[after].time <= host);
	if (!after || vcpu->changes[after - 1].where == VIRT_CLOCK_UNKNOWN)
		return 0;
	return vcpu->changes[after - 1].where == VIRT_CLOCK_INSIDE ? 1 : -1;
}

/** From one piece to the next, as the guest's clock shows it. */
struct change {
	const struct align_piece *old, *new;
	__int128	ahead;		/* how far the clock is set forward; below 0: back */
	__int128	last, first;	/* if that is known: before it, no time is later than @last;
					 * after it, none earlier than @first */
};

static struct change change_of(const struct align_cut *cut, const struct align_piece *old)
{
	const struct align_piece *new = old + 1;

	return (struct change){
		.old = old, .new = new,
		.ahead = in_guest(difference(old->offset, new->offset), cut->ppm),
		.last = in_guest(difference(new->since, old->offset), cut->ppm),
		.first = in_guest(difference(new->since, new->offset), cut->ppm),
	};
}

/** May the clock have been set just before event @k? Events of this piece begin with @from. */
static bool is_allowed(const struct align_cut *cut, const struct change *change, size_t from,
		       size_t k)
{
	bool known = change->new->is_known, has_last = k > from, has_next = k < cut->n;
	__int128 last = has_last ? cut->times[k - 1] : 0, next = has_next ? cut->times[k] : 0;

	if (has_last && has_next && next - last < change->ahead - SLACK)
		return false;
	if (known && has_next && next < change->first - SLACK)
		return false;
	/*
	 * Linux's ring buffer knows no way back: to the end of its page, it takes the times after
	 * a clock was set back for ones that follow those before.
	 */
	if (known && has_last && last > change->last + SLACK && !(has_next && next < last))
		return false;
	return true;
}

/** The next event that is earlier than the one before it, or the end. */
static size_t next_way_back(const struct align_cut *cut, size_t from)
{
	size_t k = from + 1;

	while (k < cut->n && cut->times[k] >= cut->times[k - 1])
		k++;
	return k < cut->n ? k : cut->n;
}

/**
 * Of all places up to @to that are allowed, the best.
 * Return: NOWHERE without any, or after too much work.
 */
static size_t find_best(const struct align_cut *cut, const struct change *change, size_t from,
			size_t to)
{
	uint64_t work = WORK_PER_EVENT * (uint64_t)(to - from);
	int64_t sum = 0, best_sum = 0;
	size_t best = NOWHERE;

	if (*cut->work < work)
		return NOWHERE;
	*cut->work -= work;
	for (size_t k = from; k <= to; k++) {
		if (is_allowed(cut, change, from, k) && (best == NOWHERE || sum > best_sum)) {
			best = k;
			best_sum = sum;
		}
		if (k < to)
			sum += score(cut, change->old, cut->times[k]) -
			       score(cut, change->new, cut->times[k]);
	}
	return best;
}

/**
 * The first event after a change.
 * @back: next_way_back()
 * Return: NOWHERE if there can be none such.
 */
static size_t find_cut(const struct align_cut *cut, const struct change *change, size_t from,
		       size_t back)
{
	size_t first = from;

	/* nothing else makes it go back */
	if (change->ahead < 0 && back < cut->n && is_allowed(cut, change, from, back))
		return back;
	if (!change->new->is_known || change->ahead < 0)
		return find_best(cut, change, from, back);
	SEARCH_FIRST(first, from, back, cut->times[first] < change->first - SLACK);
	return is_allowed(cut, change, from, first) ? first : NOWHERE;
}

static int add_step(const struct align_cut *cut, const struct change *change, size_t k,
		    struct align_cut_steps *steps)
{
	struct virt_clock_step step = {
		.cpu = cut->cpu, .from = cut->times[k], .add = change->new->offset,
		.back = cut->times[k] < cut->times[k - 1],
	};

	/* when it was, if that is known, rather than when an event shows it */
	if (change->new->is_known && change->first <= step.from &&
	    (step.back || change->first > cut->times[k - 1]))
		step.from = (int64_t)change->first;
	if (steps->n >= VIRT_CLOCK_MAX_STEPS)
		return -ENODATA;
	if (ARRAY_GROW(steps->all, steps->n, steps->room))
		return -ENOMEM;
	steps->all[steps->n++] = step;
	return 0;
}

int align_cut_events(const struct align_cut *cut, const struct align_piece *pieces, size_t n,
		     struct align_cut_steps *steps)
{
	size_t from = 0, back = 0;
	int ret = 0;

	if (steps->n >= VIRT_CLOCK_MAX_STEPS)
		return -ENODATA;
	if (ARRAY_GROW(steps->all, steps->n, steps->room))
		return -ENOMEM;
	steps->all[steps->n++] = (struct virt_clock_step){
		.cpu = cut->cpu, .from = INT64_MIN, .add = pieces->offset,
	};
	for (size_t i = 0; i + 1 < n && from < cut->n && !ret; i++) {
		struct change change = change_of(cut, &pieces[i]);
		size_t k;

		/* all the way only once, however many pieces begin before it */
		if (from >= back)
			back = next_way_back(cut, from);
		k = find_cut(cut, &change, from, back);
		if (k == NOWHERE)
			return -ENODATA;
		if (k == from)
			/* nothing was recorded in between */
			steps->all[steps->n - 1].add = change.new->offset;
		else if (k < cut->n)
			ret = add_step(cut, &change, k, steps);
		from = k;
	}
	return ret;
}
