// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_search.c
 * @brief	Find intervals in which a vCPU is in a state for a minimum time.
 *
 * The sums of times give the time, counted from the beginning of a stretch, at which the vCPU has
 * been in the state for the minimum time in total. A stretch that ends before that is too short,
 * and is skipped. The same holds backwards.
 */
#include <errno.h>

#include "virt_private.h"
#include "virt_search.h"

/** Stretches that are looked at between two questions whether to go on. */
#define STOP_EVERY	64

/** A search among what one vCPU did. */
struct seeker {
	const struct virt_model		*model;
	const struct virt_search	*search;
	const struct virt_vcpu_track	*track;
	int32_t				vcpu;
	bool				exits;
	unsigned int			looked;
};

/** Intervals [first, end) that are one, and how long it is. */
struct stretch {
	size_t	first, end;
	int64_t	ns;
	bool	wanted, whole;
};

static bool is_counted(const struct seeker *seeker, unsigned int state)
{
	return seeker->exits ? state != VIRT_GUEST && state != VIRT_UNKNOWN :
			       (int)state == seeker->search->what;
}

static int64_t length_of(const struct seeker *seeker, size_t i)
{
	return virt_interval_end(seeker->model, seeker->track, i) -
	       seeker->track->intervals[i].start_ns;
}

/** The time that counts of all intervals before @i. */
static int64_t sum_before(const struct seeker *seeker, size_t i)
{
	size_t block = i && i == seeker->track->n ? (i - 1) / VIRT_BLOCK : i / VIRT_BLOCK;
	int64_t ns = 0;

	for (int state = 0; state < VIRT_N_STATES; state++)
		if (block && is_counted(seeker, state))
			ns += seeker->track->sums[block].ns[state];
	for (size_t j = block * VIRT_BLOCK; j < i; j++)
		if (is_counted(seeker, seeker->track->intervals[j].state))
			ns += length_of(seeker, j);
	return ns;
}

/** The least index behind @i with which @ns have gone by since there; one too many: none. */
static size_t after(const struct seeker *seeker, size_t i, int64_t ns)
{
	size_t n = seeker->track->n, end, step = 1;
	int64_t sum = sum_before(seeker, i);

	while (step < n - i && sum_before(seeker, i + step) - sum < ns)
		step *= 2;
	end = step < n - i ? i + step : n;
	SEARCH_FIRST(end, i + 1 + (step > 1 ? step / 2 : 0), end + 1,
		     sum_before(seeker, end) - sum < ns);
	return end;
}

/** The greatest index before @i from which on @ns have gone by up to there, and one; 0: none. */
static size_t before(const struct seeker *seeker, size_t i, int64_t ns)
{
	int64_t sum = sum_before(seeker, i);
	size_t first, step = 1;

	while (step < i && sum - sum_before(seeker, i - step) < ns)
		step *= 2;
	first = step < i ? i - step : 0;
	SEARCH_FIRST(first, first, i, sum - sum_before(seeker, first) >= ns);
	return first;
}

/** Where no exit goes on: the guest runs, or the state is unknown. */
static bool ends_exit(const struct virt_interval *interval)
{
	return interval->state == VIRT_GUEST || interval->state == VIRT_UNKNOWN;
}

static bool begins_exit(const struct virt_interval *interval)
{
	return interval->flags & VIRT_INTERVAL_EXIT;
}

/** The exit that interval @i belongs to; or all around it that belongs to none: not wanted. */
static struct stretch exit_at(const struct seeker *seeker, size_t i)
{
	const struct virt_interval *intervals = seeker->track->intervals;
	struct stretch found = { .first = i, .end = i + 1 };
	struct virt_exit exit;

	while (found.first && !begins_exit(&intervals[found.first]) &&
	       !ends_exit(&intervals[found.first]))
		found.first--;
	if (!begins_exit(&intervals[found.first])) {
		found.first += found.first < i;
		while (!ends_exit(&intervals[i]) && found.end < seeker->track->n &&
		       !begins_exit(&intervals[found.end]) && !ends_exit(&intervals[found.end]))
			found.end++;
		return found;
	}
	found.end = virt_exit_take(seeker->model, seeker->track, found.first, &exit);
	if (found.end <= found.first)
		found.end = found.first + 1;
	found.ns = exit.cost_ns;
	found.whole = exit.complete;
	found.wanted = exit.complete && exit.cost_ns >= seeker->search->min_ns &&
		       (seeker->search->reason == VIRT_NONE ||
			seeker->search->reason == exit.reason);
	return found;
}

static struct stretch stretch_at(const struct seeker *seeker, size_t i)
{
	const struct virt_vcpu_track *track = seeker->track;
	struct stretch found = { .first = i, .end = i + 1 };

	if (seeker->exits)
		return exit_at(seeker, i);
	if (track->intervals[i].state != seeker->search->what)
		return found;
	found.first = virt_stretch_begin(track, i);
	found.end = virt_stretch_end(track, i);
	found.ns = virt_time_of(seeker->model, track, found.end) -
		   track->intervals[found.first].start_ns;
	found.whole = virt_begin_is_shown(seeker->model, track, found.first) &&
		      virt_end_is_shown(track, found.end);
	found.wanted = found.ns >= seeker->search->min_ns;
	return found;
}

static void make_hit(const struct seeker *seeker, const struct stretch *found,
		     struct virt_search_hit *hit)
{
	const struct virt_interval *first = &seeker->track->intervals[found->first];

	*hit = (struct virt_search_hit){
		.place = { first->start_ns, seeker->vcpu, (uint32_t)found->first },
		.interval = *first,
		.end_ns = virt_time_of(seeker->model, seeker->track, found->end),
		.ns = found->ns,
		.whole = found->whole,
	};
}

/** In the order of places. */
static bool is_before(const struct virt_search_place *a, const struct virt_search_place *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	return a->vcpu != b->vcpu ? a->vcpu < b->vcpu : a->index < b->index;
}

static bool is_stopped(struct seeker *seeker)
{
	return seeker->looked++ % STOP_EVERY == 0 && seeker->search->stop &&
	       seeker->search->stop(seeker->search->arg);
}

/** The first interval that begins at a time or later, which may be behind the trace. */
static size_t first_at(const struct seeker *seeker, int64_t time_ns)
{
	return time_ns < seeker->model->end_ns ? virt_first_interval_at(seeker->track, time_ns) :
						 seeker->track->n;
}

/** Is it a place of this vCPU? Its index then distinguishes intervals at the same ns. */
static bool is_own(const struct seeker *seeker, const struct virt_search_place *place)
{
	const struct virt_vcpu_track *track = seeker->track;

	return place->vcpu == seeker->vcpu && place->index < track->n &&
	       track->intervals[place->index].start_ns == place->time_ns;
}

/** A vCPU's first one behind a place, if it is before @hit: that becomes it. */
static int seek_next(struct seeker *seeker, const struct virt_search_place *place,
		     struct virt_search_hit *hit)
{
	const struct virt_vcpu_track *track = seeker->track;
	size_t i = is_own(seeker, place) ? place->index : first_at(seeker, place->time_ns);

	while (i < track->n && track->intervals[i].start_ns <= hit->place.time_ns) {
		struct virt_search_hit one;
		struct stretch found;

		if (is_stopped(seeker))
			return -ECANCELED;
		i = after(seeker, i, seeker->search->min_ns);
		if (i > track->n)
			break;
		found = stretch_at(seeker, i - 1);
		make_hit(seeker, &found, &one);
		if (found.wanted && is_before(place, &one.place)) {
			if (is_before(&one.place, &hit->place))
				*hit = one;
			break;
		}
		i = found.end > i ? found.end : i;
	}
	return 0;
}

static int seek_prev(struct seeker *seeker, const struct virt_search_place *place,
		     struct virt_search_hit *hit)
{
	const struct virt_vcpu_track *track = seeker->track;
	size_t i = place->time_ns == INT64_MAX ? track->n : first_at(seeker, place->time_ns + 1);

	if (is_own(seeker, place))
		i = place->index;
	/* what begins before the place may end behind it */
	else if (i)
		i = stretch_at(seeker, i - 1).end;
	while (i && track->intervals[i - 1].start_ns >= hit->place.time_ns) {
		struct virt_search_hit one;
		struct stretch found;

		if (is_stopped(seeker))
			return -ECANCELED;
		i = before(seeker, i, seeker->search->min_ns);
		if (!i)
			break;
		found = stretch_at(seeker, i - 1);
		make_hit(seeker, &found, &one);
		if (found.wanted && is_before(&one.place, place)) {
			if (is_before(&hit->place, &one.place))
				*hit = one;
			break;
		}
		i = found.first < i - 1 ? found.first : i - 1;
	}
	return 0;
}

typedef int (*seek_fn)(struct seeker *seeker, const struct virt_search_place *place,
		       struct virt_search_hit *hit);

static bool is_valid(const struct virt_search *search)
{
	return search->what >= 0 && search->what <= VIRT_SEARCH_EXITS &&
	       search->what != VIRT_UNKNOWN;
}

static int seek(const struct virt_model *model, const struct virt_search *search,
		const struct virt_search_place *place, const struct virt_search_place *none,
		seek_fn seek_one, struct virt_search_hit *hit)
{
	size_t n = search->of ? search->n_of : (size_t)model->n_vcpus;
	struct seeker seeker = {
		.model = model, .search = search, .exits = search->what == VIRT_SEARCH_EXITS,
	};
	struct virt_search_place from = *place;		/* it may be that of @hit */
	int ret = is_valid(search) ? 0 : -EINVAL;

	*hit = (struct virt_search_hit){ .place = *none };
	for (size_t i = 0; i < n && !ret; i++) {
		seeker.vcpu = search->of ? search->of[i] : (int32_t)i;
		seeker.track = virt_get_vcpu(model, seeker.vcpu);
		if (seeker.track)
			ret = seek_one(&seeker, &from, hit);
	}
	return ret ? ret : hit->place.vcpu != none->vcpu;
}

int virt_search_next(const struct virt_model *model, const struct virt_search *search,
		     const struct virt_search_place *place, struct virt_search_hit *hit)
{
	return seek(model, search, place, &VIRT_SEARCH_END, seek_next, hit);
}

int virt_search_prev(const struct virt_model *model, const struct virt_search *search,
		     const struct virt_search_place *place, struct virt_search_hit *hit)
{
	return seek(model, search, place, &VIRT_SEARCH_BEGIN, seek_prev, hit);
}

int64_t virt_search_count(const struct virt_model *model, const struct virt_search *search,
			  const struct virt_search_place *place, int64_t most, int64_t *before)
{
	size_t n_of = search->of ? search->n_of : (size_t)model->n_vcpus;
	int64_t n = 0;

	*before = 0;
	/* one vCPU after the other: each finds the next of its own without the others */
	for (size_t i = 0; i < n_of && n < most; i++) {
		int32_t vcpu = search->of ? search->of[i] : (int32_t)i;
		struct virt_search one = *search;
		struct virt_search_hit hit = { .place = VIRT_SEARCH_BEGIN };
		int ret = 0;

		one.of = &vcpu;
		one.n_of = 1;
		while (n < most && (ret = virt_search_next(model, &one, &hit.place, &hit)) > 0) {
			n++;
			*before += is_before(&hit.place, place);
		}
		if (ret < 0)
			return ret;
	}
	return n;
}
