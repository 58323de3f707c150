// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_why_tree.c
 * @brief	Make the tree of a "why", segment by segment.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "virt_part.h"
#include "virt_why_private.h"

struct virt_why_segment why_segment_at(int32_t subject, enum virt_why_kind kind, int64_t from_ns,
				       int64_t to_ns, int16_t pcpu)
{
	return (struct virt_why_segment){
		.from_ns = from_ns, .to_ns = to_ns, .subject = subject, .who = VIRT_NONE,
		.vcpu = VIRT_NONE, .task = VIRT_NONE, .who_task = VIRT_NONE, .reason = VIRT_NONE,
		.wake = VIRT_NONE, .handler = VIRT_NONE, .pcpu = pcpu, .idle_state = VIRT_NONE,
		.lock_waiter = VIRT_NONE, .lock_holder = VIRT_NONE,
		.kind = (uint8_t)kind,
	};
}

ssize_t why_add(struct walk *walk, const struct virt_why_segment *segment)
{
	struct virt_why *why = walk->why;

	if (!walk->error && why->n >= walk->limit)
		walk->error = -E2BIG;
	if (!walk->error && ARRAY_GROW(why->segments, why->n, walk->room))
		walk->error = -ENOMEM;
	if (walk->error)
		return -1;
	why->segments[why->n] = *segment;
	why->segments[why->n].level = (uint8_t)walk->level;
	if (segment->kind == VIRT_WHY_UNEXPLAINED)
		why->unexplained_ns += segment->to_ns - segment->from_ns;
	return (ssize_t)why->n++;
}

void why_end_below(struct walk *walk, size_t at)
{
	walk->why->segments[at].n_below = (uint32_t)(walk->why->n - at - 1);
}

void why_down(struct walk *walk)
{
	walk->path[++walk->level] = VIRT_NONE;
}

void why_up(struct walk *walk)
{
	walk->level--;
}

void why_add_unexplained(struct walk *walk, size_t at, int64_t from_ns, int64_t to_ns,
			 enum virt_why_cause cause)
{
	const struct virt_why_segment *above = &walk->why->segments[at];
	struct virt_why_segment segment = why_segment_at(above->subject, VIRT_WHY_UNEXPLAINED,
							 from_ns, to_ns, above->pcpu);

	segment.cause = (uint8_t)cause;
	why_down(walk);
	why_add(walk, &segment);
	why_up(walk);
}

void why_leave_unexplained(struct walk *walk, size_t at, enum virt_why_cause cause)
{
	const struct virt_why_segment *segment = &walk->why->segments[at];

	why_add_unexplained(walk, at, segment->from_ns, segment->to_ns, cause);
}

enum virt_why_cause why_unknown(const struct virt_model *model, int64_t from_ns, int64_t to_ns)
{
	return virt_model_loss_in(model, from_ns, to_ns) ? VIRT_WHY_LOST : VIRT_WHY_NOT_SHOWN;
}

struct share {
	int32_t		who;
	int64_t		ns;
};

static int compare_shares(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	return (x->who > y->who) - (x->who < y->who);
}

void why_find_culprit(struct walk *walk, size_t at)
{
	struct virt_why_segment *segments = walk->why->segments;
	size_t below = walk->why->n - at - 1, n = 0;
	struct share *shares = calloc(below + 1, sizeof(*shares));
	int64_t most = 0, ns = 0;

	if (!shares) {
		walk->error = -ENOMEM;
		return;
	}
	for (size_t i = at + 1; i < walk->why->n; i += 1 + segments[i].n_below)
		if (segments[i].kind == VIRT_WHY_VCPU || segments[i].kind == VIRT_WHY_TASK)
			shares[n++] = (struct share){
				segments[i].subject, segments[i].to_ns - segments[i].from_ns,
			};
	qsort(shares, n, sizeof(*shares), compare_shares);
	for (size_t i = 0; i < n; i++) {
		ns = i && shares[i].who == shares[i - 1].who ? ns + shares[i].ns : shares[i].ns;
		if (ns > most) {
			most = ns;
			segments[at].who = shares[i].who;
		}
	}
	free(shares);
}

bool why_can_go_down(const struct walk *walk, int32_t who)
{
	for (int i = 0; i <= walk->level; i++)
		if (walk->path[i] == who)
			return false;
	return walk->level + 2 < VIRT_WHY_LEVELS;
}

int why_begin(struct walk *walk, const struct virt_model *model, const struct virt_guests *guests,
	      int64_t from_ns, int64_t to_ns, size_t limit, struct virt_why *why)
{
	if (from_ns < virt_model_begin(model))
		from_ns = virt_model_begin(model);
	if (to_ns > virt_model_end(model))
		to_ns = virt_model_end(model);
	*why = (struct virt_why){
		.model = model, .guests = guests, .subject = VIRT_NONE,
		.from_ns = from_ns, .to_ns = to_ns,
	};
	*walk = (struct walk){ .model = model, .guests = guests, .why = why, .limit = limit };
	virt_model_span(model, &walk->begin_ns, &walk->end_ns);
	if (walk->limit > UINT32_MAX)
		walk->limit = UINT32_MAX;
	for (int i = 0; i < VIRT_WHY_LEVELS; i++)
		walk->path[i] = VIRT_NONE;
	return from_ns < to_ns ? 0 : -EINVAL;
}

int why_end(struct walk *walk)
{
	if (walk->error)
		virt_why_free(walk->why);
	return walk->error;
}

void virt_why_free(struct virt_why *why)
{
	free(why->segments);
	*why = (struct virt_why){ 0 };
}

const struct virt_guest_task *why_host_task(const struct virt_guests *guests,
					    const struct virt_model *model, int32_t number)
{
	const struct virt_task *task = virt_model_task(model, number);
	int32_t at = guests && guests->host && task ? virt_guest_find(guests->host, task->pid) :
		     VIRT_NONE;

	return at == VIRT_NONE || !guests->host->tasks[at].n ? NULL : &guests->host->tasks[at];
}

const struct virt_guest_task *why_task(const struct virt_guests *guests,
				       const struct virt_model *model, int32_t number, int *guest)
{
	const struct virt_guest_task *task = virt_guests_task(guests, number, guest);

	if (task)
		return task;
	*guest = -1;
	return why_host_task(guests, model, number);
}
