// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_why_worst.c
 * @brief	Find the moments of a trace that most need an explanation.
 */
#include <errno.h>
#include <stdlib.h>

#include "heap.h"
#include "virt_why_private.h"
#include "virt_worst.h"

/** The costliest so far: a heap, the cheapest on top. */
struct found {
	struct virt_why_moment	*moments;
	size_t			n, most;
};

/** Costliest first, of equal ones the earliest, of these the vCPU with the lowest number. */
static bool is_worse(const struct virt_why_moment *a, const struct virt_why_moment *b)
{
	if (a->cost_ns != b->cost_ns)
		return a->cost_ns > b->cost_ns;
	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns;
	return a->subject != b->subject ? a->subject < b->subject : a->kind < b->kind;
}

static bool is_better(const struct virt_why_moment *a, const struct virt_why_moment *b)
{
	return is_worse(b, a);
}

static int compare(const void *a, const void *b)
{
	return is_worse(a, b) ? -1 : is_worse(b, a);
}

static void keep(struct found *found, const struct virt_why_moment *moment)
{
	if (moment->from_ns >= moment->to_ns)
		return;
	if (found->n < found->most) {
		found->moments[found->n++] = *moment;
		HEAP_UP(found->moments, found->n - 1, is_better);
	} else if (found->n && is_worse(moment, &found->moments[0])) {
		found->moments[0] = *moment;
		HEAP_DOWN(found->moments, found->n, 0, is_better);
	}
}

/** Waits that begin in the window; what the trace shows neither to begin nor to end does not. */
static void keep_waits(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
		       int64_t to_ns, struct found *found)
{
	struct virt_interval_range range = virt_vcpu_intervals(model, vcpu, from_ns, INT64_MAX);

	for (size_t i = 0, end; i < range.n && range.first[i].start_ns < to_ns; i = end) {
		struct virt_why_moment moment = {
			.from_ns = range.first[i].start_ns, .subject = vcpu,
			.kind = VIRT_WHY_M_BLOCKED,
		};

		for (end = i + 1; end < range.n && range.first[i].state == VIRT_BLOCKED &&
				  range.first[end].state == VIRT_BLOCKED; end++)
			;
		moment.to_ns = end < range.n ? range.first[end].start_ns : range.end_ns;
		moment.cost_ns = moment.to_ns - moment.from_ns;
		if (range.first[i].state == VIRT_BLOCKED && moment.from_ns >= from_ns)
			keep(found, &moment);
	}
}

static void keep_hit(const struct virt_worst *worst, const struct virt_worst_hit *hit,
		     struct found *found)
{
	static const uint8_t kinds[VIRT_WORST_N_KINDS] = {
		[VIRT_WORST_EXIT] = VIRT_WHY_M_EXIT,
		[VIRT_WORST_STEAL] = VIRT_WHY_M_STEAL,
		[VIRT_WORST_WAKE] = VIRT_WHY_M_WAKE,
		[VIRT_WORST_OFFLINE] = VIRT_WHY_M_OFFLINE,
	};
	struct virt_why_moment moment = { .subject = hit->vcpu, .kind = kinds[hit->kind] };
	struct virt_moment all;

	if (!virt_worst_describe(worst, hit, &all))
		return;
	moment.from_ns = all.start_ns;
	moment.to_ns = all.end_ns;
	moment.cost_ns = all.cost_ns;
	keep(found, &moment);
}

static int keep_worst(const struct virt_model *model, struct virt_worst_query *query,
		      struct found *found)
{
	struct virt_worst *worst = virt_worst_new(model, false, NULL, 0);
	struct virt_worst_hit *hits = calloc(found->most, sizeof(*hits));
	ssize_t n = worst && hits ? virt_worst_top(worst, query, hits, found->most) : -ENOMEM;

	for (ssize_t i = 0; i < n; i++)
		keep_hit(worst, &hits[i], found);
	free(hits);
	virt_worst_free(worst);
	return n < 0 ? (int)n : 0;
}

ssize_t virt_why_worst(const struct virt_model *model, int64_t from_ns, int64_t to_ns,
		       unsigned int kinds, const int32_t *of, size_t n_of, bool apart,
		       struct virt_why_moment *moments, size_t n)
{
	struct virt_worst_query query = {
		.from_ns = from_ns, .to_ns = to_ns, .of = of, .n_of = n_of, .apart = apart,
		.kinds = (kinds >> VIRT_WHY_M_EXIT & 1) << VIRT_WORST_EXIT |
			 (kinds >> VIRT_WHY_M_STEAL & 1) << VIRT_WORST_STEAL |
			 (kinds >> VIRT_WHY_M_WAKE & 1) << VIRT_WORST_WAKE |
			 (kinds >> VIRT_WHY_M_OFFLINE & 1) << VIRT_WORST_OFFLINE,
	};
	struct found found = { .moments = moments, .most = n };
	int32_t n_vcpus = of ? (int32_t)n_of : virt_model_n_vcpus(model);
	int ret = query.kinds && n ? keep_worst(model, &query, &found) : 0;

	if (ret)
		return ret;
	for (int32_t i = 0; i < n_vcpus && kinds >> VIRT_WHY_M_BLOCKED & 1; i++)
		keep_waits(model, of ? of[i] : i, from_ns, to_ns, &found);
	qsort(moments, found.n, sizeof(*moments), compare);
	return (ssize_t)found.n;
}

/* --- tasks of guests ------------------------------------------------------------------------- */

/** Segment @i of a task is a moment of a kind: its end, exclusive; or @i, if it is not. */
static size_t moment_end(const struct virt_why *why, size_t i, enum virt_why_moment_kind kind)
{
	static const uint8_t kinds[VIRT_WHY_M_N_KINDS] = {
		[VIRT_WHY_M_WAKE] = VIRT_WHY_WAKING, [VIRT_WHY_M_STEAL] = VIRT_WHY_PREEMPTED,
		[VIRT_WHY_M_BLOCKED] = VIRT_WHY_BLOCKED,
		[VIRT_WHY_M_OFFLINE] = VIRT_WHY_OFFLINE,
	};
	const struct virt_why_segment *segment = &why->segments[i];
	size_t end = i + 1;

	if (kind != VIRT_WHY_M_EXIT) {
		/* a vCPU that is blocked while a task has it is no sleep of the task */
		bool own = kind != VIRT_WHY_M_BLOCKED || segment->task == VIRT_NONE;

		/* who is not born yet, or dead, is not paused */
		if (kind == VIRT_WHY_M_OFFLINE)
			own = virt_model_vcpu(why->model, segment->subject);

		return segment->kind == kinds[kind] && own ? end : i;
	}
	if (segment->cause != VIRT_WHY_EXIT || !(segment->flags & VIRT_WHY_BEGINS) ||
	    (i && segment[-1].kind != VIRT_WHY_GUEST))
		return i;
	while (end < why->n && why->segments[end].subject == segment->subject &&
	       why->segments[end].kind != VIRT_WHY_GUEST &&
	       !(why->segments[end].flags & VIRT_WHY_GUEST_BEGINS))
		end++;
	return end;
}

static void keep_moments(const struct virt_why *why, int32_t task, int64_t from_ns, int64_t to_ns,
			 unsigned int kinds, struct found *found)
{
	for (size_t i = 0; i < why->n; i++) {
		for (int kind = 0; kind < VIRT_WHY_M_N_KINDS; kind++) {
			struct virt_why_moment moment = {
				.from_ns = why->segments[i].from_ns, .subject = task,
				.kind = (uint8_t)kind,
			};
			size_t end = kinds >> kind & 1 ?
				     moment_end(why, i, (enum virt_why_moment_kind)kind) : i;

			if (end == i || moment.from_ns < from_ns || moment.from_ns >= to_ns)
				continue;
			moment.to_ns = why->segments[end - 1].to_ns;
			moment.cost_ns = moment.to_ns - moment.from_ns;
			keep(found, &moment);
		}
	}
}

ssize_t virt_why_worst_of_task(const struct virt_model *model, const struct virt_guests *guests,
			       int32_t task, int64_t from_ns, int64_t to_ns, unsigned int kinds,
			       struct virt_why_moment *moments, size_t n)
{
	struct found found = { .moments = moments, .most = n };
	struct virt_why why;
	struct walk walk;
	int ret = why_begin(&walk, model, guests, INT64_MIN, INT64_MAX, SIZE_MAX, &why);

	if (ret)
		return 0;
	walk.shallow = true;
	why_walk_task(&walk, task, why.from_ns, why.to_ns);
	ret = why_end(&walk);
	if (ret)
		return ret;
	keep_moments(&why, task, from_ns, to_ns, kinds, &found);
	virt_why_free(&why);
	qsort(moments, found.n, sizeof(*moments), compare);
	return (ssize_t)found.n;
}
