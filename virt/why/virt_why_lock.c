// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_why_lock.c
 * @brief	Name the locks that tasks and vCPUs wait for, and those that a task has while others
 *		wait.
 */
#include "virt_why_private.h"

/**
 * A spinlock that is free is taken by the next task within this time, of those in which its vCPU
 * executes: if it has executed for longer before it has the lock, that was not free. Where the host
 * itself is emulated or preempted, this takes as long as this.
 */
#define HANDOVER_NS	1000000

/** Holds that are looked at for a segment; the rest is unknown. */
#define MOST_HOLDS	4096

/** Whose waits. */
struct side {
	const struct virt_guest	*guest;		/* or the host; NULL: its trace is not given */
	int			index;		/* -1: the host */
};

static struct side side_of(const struct walk *walk, int index)
{
	return (struct side){
		!walk->guests ? NULL : index < 0 ? walk->guests->host : &walk->guests->all[index],
		index,
	};
}

/** The number of a task, or of the vCPU that is idle or interrupted; VIRT_NONE: not known. */
static int32_t number_of(const struct walk *walk, const struct side *side, int32_t pid, int cpu)
{
	if (pid > 0)
		return why_waker_of(walk, side->index, pid);
	return side->index >= 0 && cpu >= 0 && cpu < side->guest->n_cpus ?
	       side->guest->cpus[cpu].vcpu : VIRT_NONE;
}

/** Until when a task that waits for a spinlock shows that another one still has it. */
static int64_t proven_until(const struct walk *walk, const struct side *side,
			    const struct virt_lock_wait *wait)
{
	bool is_known = side->index >= 0 && wait->cpu >= 0 && wait->cpu < side->guest->n_cpus;
	int32_t vcpu = is_known ? side->guest->cpus[wait->cpu].vcpu : VIRT_NONE;
	struct virt_interval_range range;
	int64_t left_ns = HANDOVER_NS;

	if (side->index < 0)
		return wait->end_ns - HANDOVER_NS;
	if (vcpu == VIRT_NONE)
		return INT64_MIN;
	range = virt_vcpu_intervals(walk->model, vcpu, wait->begin_ns, wait->end_ns);
	for (size_t i = range.n; i-- > 0;) {
		int64_t stop_ns = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;
		int64_t ns;

		stop_ns = stop_ns > wait->end_ns ? wait->end_ns : stop_ns;
		ns = stop_ns - range.first[i].start_ns;
		if (range.first[i].state != VIRT_GUEST)
			continue;
		if (ns >= left_ns)
			return stop_ns - left_ns;
		left_ns -= ns;
	}
	return INT64_MIN;
}

/** How long a hold certainly goes on in a segment; 0: it need not be there. */
static int64_t overlap(const struct walk *walk, const struct side *side,
		       const struct virt_lock_hold *hold, const struct virt_why_segment *segment)
{
	const struct virt_lock_wait *next = &side->guest->locks.waits[hold->next];
	int64_t from_ns = hold->from_ns > segment->from_ns ? hold->from_ns : segment->from_ns;
	int64_t to_ns = hold->to_ns < segment->to_ns ? hold->to_ns : segment->to_ns;

	if (from_ns < to_ns && next->how == VIRT_LOCK_SPINS) {
		int64_t until_ns = proven_until(walk, side, next);

		to_ns = until_ns < to_ns ? until_ns : to_ns;
	}
	return from_ns < to_ns ? to_ns - from_ns : 0;
}

/** Who has the lock of a wait in a segment, the longest; NULL: not known. */
static const struct virt_lock_hold *hold_in(const struct walk *walk, const struct side *side,
					    const struct virt_lock_wait *wait,
					    const struct virt_why_segment *segment)
{
	const struct virt_locks *locks = &side->guest->locks;
	const struct virt_lock_hold *hold, *found = NULL;
	int64_t longest_ns = 0;
	size_t next = 0, n = 0;

	while (n++ < MOST_HOLDS &&
	       (hold = virt_lock_next_hold(locks, segment->from_ns, segment->to_ns, &next))) {
		int64_t ns = &locks->waits[hold->wait] == wait ?
			     overlap(walk, side, hold, segment) : 0;

		if (ns > longest_ns) {
			longest_ns = ns;
			found = hold;
		}
	}
	return found;
}

static void set_lock(const struct walk *walk, const struct side *side,
		     const struct virt_lock_wait *wait, const struct virt_lock_hold *hold,
		     struct virt_why_segment *segment)
{
	segment->lock = wait;
	segment->lock_waiter = number_of(walk, side, wait->pid, wait->cpu);
	segment->lock_holder = hold ? number_of(walk, side, hold->pid, hold->cpu) : VIRT_NONE;
}

void why_name_lock(struct walk *walk, size_t at, int guest, int32_t pid)
{
	struct virt_why_segment *segment = &walk->why->segments[at];
	const struct side side = side_of(walk, guest);
	const struct virt_lock_wait *wait;

	if (!side.guest || pid <= 0)
		return;
	wait = virt_lock_wait_around(&side.guest->locks, pid, segment->from_ns, segment->to_ns);
	if (wait)
		set_lock(walk, &side, wait, hold_in(walk, &side, wait, segment), segment);
}

/* --- waits on a CPU --------------------------------------------------------------------------- */

/** Below segment @at: what the one that has the lock did. */
static void follow_holder(struct walk *walk, size_t at)
{
	const struct virt_why_segment segment = walk->why->segments[at];
	int guest = 0;

	if (segment.lock_holder == VIRT_NONE)
		return;
	if (!why_can_go_down(walk, segment.lock_holder)) {
		walk->why->segments[at].flags |= VIRT_WHY_CUT;
		return;
	}
	why_down(walk);
	if (virt_model_vcpu(walk->model, segment.lock_holder))
		why_walk_vcpu(walk, segment.lock_holder, VIRT_NONE, segment.from_ns,
			      segment.to_ns);
	else if (why_task(walk->guests, walk->model, segment.lock_holder, &guest))
		why_walk_task(walk, segment.lock_holder, segment.from_ns, segment.to_ns);
	why_up(walk);
	if (!walk->error)
		why_end_below(walk, at);
}

/** Return: the segment of a wait, clipped to the one above. */
static struct virt_why_segment spin_of(const struct walk *walk, const struct side *side,
				       const struct virt_why_segment *above,
				       const struct virt_lock_wait *wait)
{
	bool begins = wait->begin_ns >= above->from_ns, ends = wait->end_ns <= above->to_ns;
	struct virt_why_segment segment;
	bool is_host = side->index < 0;

	segment = why_segment_at(above->task == VIRT_NONE ? above->subject : above->task,
				 VIRT_WHY_LOCK, begins ? wait->begin_ns : above->from_ns,
				 ends ? wait->end_ns : above->to_ns, above->pcpu);
	segment.cause = VIRT_WHY_SPINS;
	segment.vcpu = is_host ? VIRT_NONE : above->subject;
	if (begins)
		segment.flags |= is_host ? VIRT_WHY_BEGINS : VIRT_WHY_GUEST_BEGINS;
	if (ends)
		segment.flags |= is_host ? VIRT_WHY_ENDS : VIRT_WHY_GUEST_ENDS;
	set_lock(walk, side, wait, hold_in(walk, side, wait, &segment), &segment);
	return segment;
}

void why_add_spins(struct walk *walk, size_t at, int guest, int32_t pid, int cpu)
{
	const struct virt_why_segment above = walk->why->segments[at];
	const struct side side = side_of(walk, guest);
	const struct virt_lock_wait *wait;
	int64_t after_ns = above.from_ns;
	size_t next = 0;

	if (!side.guest || pid < 0 || walk->level + 2 >= VIRT_WHY_LEVELS)
		return;
	why_down(walk);
	while (!walk->error &&
	       (wait = virt_lock_next_wait(&side.guest->locks, pid, above.from_ns, above.to_ns,
					   &next))) {
		struct virt_why_segment segment = spin_of(walk, &side, &above, wait);
		ssize_t below;

		/* one within another one is shown by that; the idle task has several CPUs */
		if (segment.from_ns < after_ns || segment.from_ns >= segment.to_ns ||
		    (!pid && wait->cpu != cpu))
			continue;
		after_ns = segment.to_ns;
		walk->path[walk->level] = segment.subject;
		below = why_add(walk, &segment);
		if (below >= 0)
			follow_holder(walk, (size_t)below);
	}
	why_up(walk);
}

/* --- holds ------------------------------------------------------------------------------------ */

void why_name_hold(const struct walk *walk, struct virt_why_segment *segment, int guest,
		   int32_t pid, int cpu)
{
	const struct side side = side_of(walk, guest);
	const struct virt_lock_hold *hold;
	int64_t longest_ns = 0;
	size_t next = 0, n = 0;

	if (!side.guest)
		return;
	while (n++ < MOST_HOLDS &&
	       (hold = virt_lock_next_hold(&side.guest->locks, segment->from_ns, segment->to_ns,
					   &next))) {
		bool is_own = hold->cpu == VIRT_NONE ? pid > 0 && hold->pid == pid :
			      hold->cpu == cpu;
		int64_t ns = is_own ? overlap(walk, &side, hold, segment) : 0;

		if (ns <= longest_ns)
			continue;
		longest_ns = ns;
		set_lock(walk, &side, &side.guest->locks.waits[hold->wait], hold, segment);
	}
}

/* --- a vCPU ----------------------------------------------------------------------------------- */

/** The task of its guest that a vCPU has in a segment; VIRT_NONE: not known. */
static int32_t pid_of(const struct walk *walk, const struct virt_why_segment *segment)
{
	const struct virt_guest_task *task = virt_guests_task(walk->guests, segment->task, NULL);

	return task ? task->pid : VIRT_NONE;
}

void why_name_vcpu_hold(const struct walk *walk, struct virt_why_segment *segment)
{
	int guest = 0;
	const struct virt_guest_cpu *cpu = virt_guests_cpu(walk->guests, segment->subject, &guest);

	if (cpu && (segment->kind == VIRT_WHY_PREEMPTED || segment->kind == VIRT_WHY_WAKING))
		why_name_hold(walk, segment, guest, pid_of(walk, segment),
			      (int)(cpu - walk->guests->all[guest].cpus));
}

void why_add_vcpu_spins(struct walk *walk, size_t at)
{
	const struct virt_why_segment *segment = &walk->why->segments[at];
	int guest = 0;
	const struct virt_guest_cpu *cpu = virt_guests_cpu(walk->guests, segment->subject, &guest);

	if (cpu)
		why_add_spins(walk, at, guest, pid_of(walk, segment),
			      (int)(cpu - walk->guests->all[guest].cpus));
}
