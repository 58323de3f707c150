// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_why_follow.c
 * @brief	Find the critical path: from the end of a window back to the waker of each wait.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "virt_why_private.h"

/** From one to another at the same time, at most: clocks of two traces may make a circle. */
#define MOST_AT_ONCE	16

/** A part of the path: whose time. */
struct piece {
	int32_t		who;
	int64_t		from_ns, to_ns;
};

struct path {
	const struct walk *walk;
	int32_t		subject;
	struct piece	*pieces;	/* the last one first */
	size_t		n, room;
	int32_t		who;		/* whose time ends at: */
	int64_t		time_ns;
	int64_t		bound_ns;	/* where the sleep of the subject begins that is followed */
	int		at_once;
};

/** A state, from a time on, and who has ended it. */
struct state {
	int64_t		start_ns;
	bool		is_wait;	/* a sleep that @who ended on purpose, at its end */
	int32_t		who;		/* if so */
};

/** Who it really was: of a vCPU, the guest's task that it had then, if it is not idle. */
static int32_t waker_at(const struct walk *walk, int32_t who, int64_t time_ns)
{
	int32_t task = virt_guests_task_at(walk->guests, who, time_ns);
	const struct virt_guest_task *of = virt_guests_task(walk->guests, task, NULL);

	return of && of->pid ? task : who;
}

/** Is anything known of what they did? */
static bool can_follow(const struct walk *walk, int32_t who)
{
	return virt_model_vcpu(walk->model, who) || virt_guests_task(walk->guests, who, NULL) ||
	       why_host_task(walk->guests, walk->model, who);
}

/* --- states before a time --------------------------------------------------------------------- */

static struct state state_of_vcpu(const struct path *path)
{
	const struct virt_model *model = path->walk->model;
	struct virt_interval_range range = virt_vcpu_intervals(model, path->who, INT64_MIN,
							       path->time_ns);
	const struct virt_interval *at;
	const struct virt_wake *wake;
	struct state state = { .start_ns = INT64_MIN, .who = VIRT_NONE };
	size_t i = range.n;

	/* what has no time is nothing */
	while (i && range.first[i - 1].start_ns >= path->time_ns)
		i--;
	if (!i)
		return state;
	at = &range.first[i - 1];
	state.start_ns = at->start_ns;
	if (at->state != VIRT_BLOCKED ||
	    !virt_vcpu_at(model, path->who, path->time_ns, NULL) ||
	    virt_vcpu_at(model, path->who, path->time_ns, NULL) == at)
		return state;
	wake = virt_model_wake(model, at->detail);
	state.is_wait = wake && wake->who != VIRT_NONE && wake->who != path->who;
	state.who = state.is_wait ? wake->who : VIRT_NONE;
	return state;
}

/** @guest: whose trace shows it; @index: which one, -1: the host's */
static struct state state_of_task(const struct path *path, const struct virt_guest_task *task,
				  const struct virt_guest *guest, int index)
{
	ptrdiff_t at = virt_life_at(task, path->time_ns - 1);
	const struct virt_life_interval *interval = at < 0 ? NULL : &task->intervals[at];
	struct state state = { .start_ns = INT64_MIN, .who = VIRT_NONE };
	const struct virt_life_wake *wake;

	if (!interval)
		return state;
	state.start_ns = interval->start_ns;
	if (interval->state != VIRT_LIFE_BLOCKED || interval->wake == VIRT_NONE ||
	    (size_t)at + 1 == task->n || interval[1].start_ns != path->time_ns)
		return state;
	wake = &guest->wakes[interval->wake];
	if (wake->waker != VIRT_NONE)
		state.who = why_waker_of(path->walk, index, wake->waker);
	else if (index >= 0 && wake->cause == VIRT_WAKE_INTERRUPT && wake->cpu >= 0 &&
		 wake->cpu < guest->n_cpus)
		state.who = guest->cpus[wake->cpu].vcpu;
	state.is_wait = state.who != VIRT_NONE;
	return state;
}

static struct state state_before(const struct path *path)
{
	const struct virt_guests *guests = path->walk->guests;
	const struct virt_guest_task *task;
	int guest = -1;

	if (virt_model_vcpu(path->walk->model, path->who))
		return state_of_vcpu(path);
	task = why_task(guests, path->walk->model, path->who, &guest);
	return state_of_task(path, task, guest < 0 ? guests->host : &guests->all[guest], guest);
}

/* --- the way back ----------------------------------------------------------------------------- */

static int add_piece(struct path *path, int64_t from_ns)
{
	struct piece *last = path->n ? &path->pieces[path->n - 1] : NULL;

	path->at_once = 0;
	if (last && last->who == path->who) {
		last->from_ns = from_ns;
	} else {
		if (ARRAY_GROW(path->pieces, path->n, path->room))
			return -ENOMEM;
		path->pieces[path->n++] = (struct piece){ path->who, from_ns, path->time_ns };
	}
	path->time_ns = from_ns;
	/* before its own sleep, it is the subject again */
	if (from_ns == path->bound_ns) {
		path->who = path->subject;
		path->bound_ns = INT64_MIN;
	}
	return 0;
}

/**
 * An interrupt ended the wait, on a vCPU: if that was woken for it, and after the sleep has begun,
 * it is followed; else it is unknown since when the interrupt was on its way.
 */
static bool is_woken_for(const struct path *path, int32_t vcpu, int64_t since_ns)
{
	struct virt_interval_range range = virt_vcpu_intervals(path->walk->model, vcpu, since_ns,
							       path->time_ns);

	for (size_t i = range.n; i-- > 1;)
		if (range.first[i - 1].state == VIRT_BLOCKED)
			return range.first[i].start_ns > since_ns;
	return false;
}

/** Follow what ended a wait from there. Return: false if that leads nowhere. */
static bool jump(struct path *path, const struct state *state, bool is_interrupt)
{
	int32_t who = is_interrupt ? state->who :
		      waker_at(path->walk, state->who, path->time_ns);

	if (who == path->who || !can_follow(path->walk, who) || ++path->at_once > MOST_AT_ONCE ||
	    (is_interrupt && !is_woken_for(path, who, state->start_ns)))
		return false;
	if (path->who == path->subject && path->bound_ns == INT64_MIN)
		path->bound_ns = state->start_ns;
	path->who = who;
	return true;
}

/** Of a guest's task that a vCPU is said to have woken, it is the interrupt that the vCPU took. */
static bool is_by_interrupt(const struct path *path, const struct state *state)
{
	return virt_guests_task(path->walk->guests, path->who, NULL) &&
	       virt_model_vcpu(path->walk->model, state->who);
}

static int follow(struct path *path, int64_t from_ns)
{
	int ret = 0;

	while (path->time_ns > from_ns && !ret) {
		struct state state = state_before(path);
		int64_t least_ns = path->bound_ns > from_ns ? path->bound_ns : from_ns;

		if (state.is_wait && jump(path, &state, is_by_interrupt(path, &state)))
			continue;
		ret = add_piece(path, state.start_ns > least_ns ? state.start_ns : least_ns);
	}
	return ret;
}

int virt_why_path(const struct virt_model *model, const struct virt_guests *guests, int32_t who,
		  int64_t from_ns, int64_t to_ns, size_t limit, struct virt_why *why)
{
	struct walk walk;
	struct path path = {
		.walk = &walk, .subject = who, .who = who, .bound_ns = INT64_MIN,
	};
	int ret = why_begin(&walk, model, guests, from_ns, to_ns, limit, why);

	if (ret || !can_follow(&walk, who))
		return -EINVAL;
	why->subject = who;
	path.time_ns = why->to_ns;
	walk.error = follow(&path, why->from_ns);
	for (size_t i = path.n; i-- && !walk.error;) {
		const struct piece *piece = &path.pieces[i];

		walk.path[0] = VIRT_NONE;
		if (virt_model_vcpu(model, piece->who))
			why_walk_vcpu(&walk, piece->who, VIRT_NONE, piece->from_ns, piece->to_ns);
		else
			why_walk_task(&walk, piece->who, piece->from_ns, piece->to_ns);
	}
	free(path.pieces);
	return why_end(&walk);
}
