// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_waits.c
 * @brief	Sum up the waits of vCPUs within a window, by cause and waker.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "virt_span.h"
#include "virt_waits.h"

/** Steps between two looks at the wish to stop. */
#define STOP_STEP	65536

/** How long a wait or a wake-up took, and what ended it. */
struct length {
	uint32_t	waker;		/* index */
	int64_t		ns;
};

struct lengths {
	struct length	*of;
	size_t		n, room;
};

struct tally {
	const struct virt_model		*model;
	const struct virt_window_query	*query;
	struct virt_waits		*waits;
	size_t				room;		/* of its wakers */
	int64_t				from_ns, to_ns;
	const struct virt_vcpu_track	*vcpu;
	uint32_t			*place;		/* by number of a wake, see number_of(): the
							 * waker of this vCPU that it is, and 1 */
	uint32_t			*number;	/* by waker of this vCPU */
	size_t				n_numbers, room_numbers;
	struct lengths			blocked, latency;
	unsigned int			steps;
};

static bool is_stopped(struct tally *tally)
{
	return tally->steps++ % STOP_STEP == 0 && tally->query->stop &&
	       tally->query->stop(tally->query->arg);
}

/* ---- waits, one by one ---- */

/** Numbers of what the model does not number, behind its own. */
enum { UNKNOWN, OPEN, N_OTHERS };

static const struct virt_wake others[N_OTHERS] = {
	[UNKNOWN] = { .who = VIRT_NONE, .vector = VIRT_NONE, .cause = VIRT_WAKE_UNKNOWN },
	[OPEN] = { .who = VIRT_NONE, .vector = VIRT_NONE, .cause = VIRT_WAKE_OPEN },
};

/** What ended the wait before interval @end. */
static int32_t number_of(const struct tally *tally, size_t end)
{
	int32_t wake = tally->vcpu->intervals[end - 1].detail;

	if (!virt_end_is_shown(tally->vcpu, end))
		return tally->model->n_wakes + OPEN;
	return wake == VIRT_NONE ? tally->model->n_wakes + UNKNOWN : wake;
}

/** Return: index of the waker, which is new if it has not woken this vCPU before; or -ENOMEM. */
static int64_t waker_of(struct tally *tally, int32_t wake)
{
	int32_t n = tally->model->n_wakes;
	struct virt_waits *waits = tally->waits;

	if (tally->place[wake])
		return tally->place[wake] - 1;
	if (ARRAY_GROW(waits->wakers, waits->n_wakers, tally->room) ||
	    ARRAY_GROW(tally->number, tally->n_numbers, tally->room_numbers))
		return -ENOMEM;
	waits->wakers[waits->n_wakers++] = (struct virt_waker){
		.vcpu = (int32_t)(tally->vcpu - tally->model->vcpus),
		.wake = wake < n ? tally->model->wakes[wake] : others[wake - n],
	};
	tally->number[tally->n_numbers++] = (uint32_t)wake;
	tally->place[wake] = (uint32_t)waits->n_wakers;
	return tally->place[wake] - 1;
}

static int add_length(struct lengths *lengths, int64_t waker, const struct virt_span *span)
{
	if (ARRAY_GROW(lengths->of, lengths->n, lengths->room))
		return -ENOMEM;
	lengths->of[lengths->n++] = (struct length){
		(uint32_t)waker, span->end_ns - span->start_ns,
	};
	return 0;
}

/** The wake-up that begins with interval @i, if one does. */
static int take_wake(struct tally *tally, int64_t waker, size_t i)
{
	struct virt_stretches wakes = { 0 };
	struct virt_span span;
	bool whole;

	if (i >= tally->vcpu->n || tally->vcpu->intervals[i].state != VIRT_WAKING ||
	    tally->vcpu->intervals[i].start_ns >= tally->to_ns)
		return 0;
	span = virt_span_of(tally->model, tally->vcpu, i, virt_stretch_end(tally->vcpu, i));
	whole = virt_span_count(tally->model, tally->from_ns, &wakes, &span);
	tally->waits->wakers[waker].waited.wakes += wakes.count;
	return whole ? add_length(&tally->latency, waker, &span) : 0;
}

/** A wait up to interval @end, of which interval @i is the first one in the window. */
static int take_wait(struct tally *tally, size_t i, size_t end)
{
	struct virt_span span = virt_span_of(tally->model, tally->vcpu,
					     virt_stretch_begin(tally->vcpu, i), end);
	int64_t waker = waker_of(tally, number_of(tally, end));
	struct virt_stretches *blocked;
	int64_t from, to;
	int ret = 0;

	if (waker < 0)
		return (int)waker;
	blocked = &tally->waits->wakers[waker].waited.blocked;
	from = span.start_ns > tally->from_ns ? span.start_ns : tally->from_ns;
	to = span.end_ns < tally->to_ns ? span.end_ns : tally->to_ns;
	blocked->ns += to > from ? to - from : 0;
	if (virt_span_count(tally->model, tally->from_ns, blocked, &span))
		ret = add_length(&tally->blocked, waker, &span);
	return ret ? ret : take_wake(tally, waker, end);
}

static int take_vcpu(struct tally *tally, int32_t index)
{
	const struct virt_vcpu_track *vcpu = &tally->model->vcpus[index];
	size_t last = virt_first_interval_at(vcpu, tally->to_ns);
	size_t i = virt_first_interval_at(vcpu, tally->from_ns), end;
	int ret = 0;

	tally->vcpu = vcpu;
	/* what goes on, and what has ended just before, as its wake-up may lie in the window */
	i -= i && (i == last || vcpu->intervals[i].start_ns > tally->from_ns);
	i -= i && vcpu->intervals[i].state == VIRT_WAKING &&
	     vcpu->intervals[i].start_ns >= tally->from_ns;
	for (; i < last && !ret; i = end) {
		if (is_stopped(tally))
			return -ECANCELED;
		if (virt_is_on(&vcpu->intervals[i])) {
			end = virt_run_end(vcpu, i);
			continue;
		}
		end = virt_stretch_end(vcpu, i);
		if (vcpu->intervals[i].state == VIRT_BLOCKED)
			ret = take_wait(tally, i, end);
	}
	while (tally->n_numbers)
		tally->place[tally->number[--tally->n_numbers]] = 0;
	return ret;
}

/* ---- all together ---- */

/** By cause, then by number of waits, most first. */
static int compare_wakers(const void *a, const void *b)
{
	const struct virt_waker *x = a, *y = b;

	if (x->wake.cause != y->wake.cause)
		return x->wake.cause < y->wake.cause ? -1 : 1;
	if (x->waited.blocked.count != y->waited.blocked.count)
		return x->waited.blocked.count < y->waited.blocked.count ? 1 : -1;
	if (x->waited.blocked.ns != y->waited.blocked.ns)
		return x->waited.blocked.ns < y->waited.blocked.ns ? 1 : -1;
	if (x->vcpu != y->vcpu)
		return x->vcpu < y->vcpu ? -1 : 1;
	if (x->wake.who != y->wake.who)
		return x->wake.who < y->wake.who ? -1 : 1;
	return x->wake.vector - y->wake.vector;
}

/** Groups of wakers, and where the distribution of each is. */
struct groups {
	uint32_t	*of;		/* by waker */
	size_t		n;
	struct virt_dist *dist;		/* of the first group; */
	size_t		stride;		/* bytes from one to the next */
};

/** Lengths by group, those of each behind those of the one before; the groups' distributions. */
static int make_dists(const struct lengths *lengths, const struct groups *groups)
{
	int64_t *ns = malloc((lengths->n + 1) * sizeof(*ns));
	size_t *end = calloc(groups->n + 1, sizeof(*end));
	int ret = ns && end ? 0 : -ENOMEM;

	for (size_t i = 0; i < lengths->n && !ret; i++)
		end[groups->of[lengths->of[i].waker] + 1]++;
	for (size_t g = 0; g < groups->n && !ret; g++)
		end[g + 1] += end[g];
	/* from where a group begins, to where it ends in the end */
	for (size_t i = 0; i < lengths->n && !ret; i++)
		ns[end[groups->of[lengths->of[i].waker]]++] = lengths->of[i].ns;
	for (size_t g = 0, first = 0; g < groups->n && !ret; first = end[g++])
		virt_dist_make((struct virt_dist *)((char *)groups->dist + g * groups->stride),
			       ns + first, end[g] - first);
	free(ns);
	free(end);
	return ret;
}

static void add_waited(struct virt_waited *sum, const struct virt_waited *more)
{
	virt_add_ns(&sum->blocked.ns, more->blocked.ns);
	sum->blocked.count += more->blocked.count;
	if (more->blocked.before)
		virt_keep_before(&sum->blocked, more->blocked.before, more->blocked.before_ns);
	sum->wakes += more->wakes;
}

/** What all wakers are together, and those of one cause. */
static int end_waits(struct tally *tally)
{
	struct virt_waits *waits = tally->waits;
	size_t n = waits->n_wakers;
	uint32_t *self = malloc((n + 1) * sizeof(*self));
	uint32_t *cause = malloc((n + 1) * sizeof(*cause));
	uint32_t *none = calloc(n + 1, sizeof(*none));
	int ret = self && cause && none ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !ret; i++) {
		self[i] = (uint32_t)i;
		cause[i] = waits->wakers[i].wake.cause;
		add_waited(&waits->causes[cause[i]], &waits->wakers[i].waited);
		add_waited(&waits->all, &waits->wakers[i].waited);
	}
	for (int latency = 0; latency < 2 && !ret; latency++) {
		const struct lengths *lengths = latency ? &tally->latency : &tally->blocked;
		size_t at = latency ? offsetof(struct virt_waited, latency) :
				      offsetof(struct virt_waited, blocked.whole);
		char *waker = !n ? NULL : (char *)waits->wakers +
					  offsetof(struct virt_waker, waited) + at;
		const struct groups groups[] = {
			{ self, n, (void *)waker, sizeof(struct virt_waker) },
			{ cause, VIRT_N_WAKES, (void *)((char *)waits->causes + at),
			  sizeof(struct virt_waited) },
			{ none, 1, (void *)((char *)&waits->all + at), 0 },
		};

		for (size_t g = 0; g < ARRAY_SIZE(groups) && !ret; g++)
			if (groups[g].n)
				ret = make_dists(lengths, &groups[g]);
	}
	if (n && !ret)
		qsort(waits->wakers, n, sizeof(*waits->wakers), compare_wakers);
	free(self);
	free(cause);
	free(none);
	return ret;
}

void virt_waits_free(struct virt_waits *waits)
{
	if (waits)
		free(waits->wakers);
	free(waits);
}

struct virt_waits *virt_waits_new(const struct virt_model *model,
				  const struct virt_window_query *query, int32_t machine,
				  int32_t vcpu)
{
	const struct virt_machine *info = virt_model_machine(model, machine);
	struct tally tally = {
		.model = model, .query = query, .from_ns = query->from_ns, .to_ns = query->to_ns,
		.waits = calloc(1, sizeof(*tally.waits)),
		.place = calloc((size_t)model->n_wakes + N_OTHERS, sizeof(*tally.place)),
	};
	bool empty = !info || !virt_clamp_window(model, &tally.from_ns, &tally.to_ns);
	int ret = tally.waits && tally.place ? 0 : -ENOMEM;

	for (int32_t i = 0; !empty && i < info->n_vcpus && !ret; i++) {
		int32_t one = info->vcpus[i];

		if ((vcpu == VIRT_NONE || vcpu == one) && (!query->vcpus || query->vcpus[one]))
			ret = take_vcpu(&tally, one);
	}
	if (!ret)
		ret = end_waits(&tally);
	free(tally.place);
	free(tally.number);
	free(tally.blocked.of);
	free(tally.latency.of);
	if (!ret)
		return tally.waits;
	virt_waits_free(tally.waits);
	return NULL;
}
