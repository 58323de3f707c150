// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_why_task.c
 * @brief	Follow the waits of a guest's tasks to their causes, in the guest and below it in
 *		the host; follow the host's tasks that woke a vCPU or a task, too.
 */
#include <errno.h>

#include "virt_why_private.h"

/** A task, and intervals [first, end) of it that are one stretch. */
struct stretch {
	int32_t			number;
	int			guest;		/* index in the walk's guests; -1: the host's */
	const struct virt_guest_task *task;
	size_t			first, end;
	int64_t			from_ns, to_ns;	/* the part in the window */
};

static const struct virt_guest *guest_of(const struct walk *walk, const struct stretch *stretch)
{
	return stretch->guest < 0 ? walk->guests->host : &walk->guests->all[stretch->guest];
}

static int64_t begin_of(const struct walk *walk, const struct stretch *stretch, size_t i)
{
	return i < stretch->task->n ? stretch->task->intervals[i].start_ns :
				      guest_of(walk, stretch)->end_ns;
}

static const struct virt_guest_cpu *cpu_of(const struct virt_guest *guest, int cpu)
{
	return cpu >= 0 && cpu < guest->n_cpus ? &guest->cpus[cpu] : NULL;
}

static int32_t vcpu_of(const struct virt_guest *guest, int cpu)
{
	const struct virt_guest_cpu *of = cpu_of(guest, cpu);

	return of ? of->vcpu : VIRT_NONE;
}

/** Of a guest in another guest: that one's task which is this CPU. */
static int32_t thread_of(const struct virt_guest *guest, int cpu)
{
	return guest->threads && cpu >= 0 && cpu < guest->n_cpus ? guest->threads[cpu] : VIRT_NONE;
}

/** Why a state is unknown: records are missing, or the trace does not show it. */
static enum virt_why_cause why_life_unknown(const struct virt_life_interval *interval)
{
	return interval->flags & VIRT_LIFE_LOST ? VIRT_WHY_LOST : VIRT_WHY_NOT_SHOWN;
}

/* --- who has a CPU of the guest --------------------------------------------------------------- */

/** Who has the vCPU in a run; @waits: who waits for it, or VIRT_NONE. */
static struct virt_why_segment occupied(const struct walk *walk, int guest,
					const struct virt_guest_cpu *cpu, size_t run, int32_t waits,
					int64_t from_ns, int64_t to_ns)
{
	int32_t pid = cpu->runs[run].pid;
	int32_t task = pid < 0 ? VIRT_NONE :
		       virt_guests_number(walk->guests, guest,
					  virt_guest_find(&walk->guests->all[guest], pid));
	struct virt_why_segment segment = why_segment_at(pid ? task : VIRT_NONE, VIRT_WHY_TASK,
							 from_ns, to_ns, VIRT_NONE);

	segment.vcpu = cpu->vcpu;
	segment.task = task;
	if (!pid) {
		segment.kind = VIRT_WHY_IDLE;
	} else if (task == VIRT_NONE || task == waits) {
		segment.subject = VIRT_NONE;
		segment.kind = VIRT_WHY_UNEXPLAINED;
		segment.cause = VIRT_WHY_NOT_SHOWN;
	}
	if (cpu->runs[run].start_ns == from_ns)
		segment.flags |= VIRT_WHY_GUEST_BEGINS;
	if (run + 1 < cpu->n && cpu->runs[run + 1].start_ns == to_ns)
		segment.flags |= VIRT_WHY_GUEST_ENDS;
	return segment;
}

/** The last of a run and those of the same task after it. */
static size_t same_runs(const struct virt_guest_cpu *cpu, size_t run)
{
	while (run + 1 < cpu->n && cpu->runs[run + 1].pid == cpu->runs[run].pid)
		run++;
	return run;
}

/**
 * Below segment @at: who had a CPU of the guest in that time.
 * @waits: who waits for it, and gets what the vCPU did for each; VIRT_NONE: no task
 */
static void add_occupants(struct walk *walk, size_t at, int guest,
			  const struct virt_guest_cpu *cpu, int32_t waits, int64_t from_ns,
			  int64_t to_ns)
{
	ptrdiff_t run = virt_guest_run_at(cpu, from_ns);
	int64_t first_ns = run < 0 && cpu->n ? cpu->runs[0].start_ns : from_ns;

	if (first_ns > from_ns)
		why_add_unexplained(walk, at, from_ns, first_ns < to_ns ? first_ns : to_ns,
				    VIRT_WHY_NOT_SHOWN);
	why_down(walk);
	for (size_t i = run < 0 ? 0 : (size_t)run, last; i < cpu->n && !walk->error; i = last + 1) {
		int64_t a = cpu->runs[i].start_ns > from_ns ? cpu->runs[i].start_ns : from_ns, b;
		struct virt_why_segment segment;
		int32_t thread;
		ssize_t below;

		last = same_runs(cpu, i);
		b = last + 1 < cpu->n ? cpu->runs[last + 1].start_ns : to_ns;
		b = b > to_ns ? to_ns : b;
		if (a >= to_ns)
			break;
		if (a >= b)
			continue;
		segment = occupied(walk, guest, cpu, last, waits, a, b);
		/* of several runs of one task, the first one shows where it begins */
		if (cpu->runs[i].start_ns == a)
			segment.flags |= VIRT_WHY_GUEST_BEGINS;
		below = why_add(walk, &segment);
		if (below < 0 || waits == VIRT_NONE || segment.kind == VIRT_WHY_UNEXPLAINED ||
		    walk->level + 2 >= VIRT_WHY_LEVELS)
			continue;
		thread = thread_of(&walk->guests->all[guest],
				   (int)(cpu - walk->guests->all[guest].cpus));
		why_down(walk);
		if (thread != VIRT_NONE)
			why_walk_task(walk, thread, a, b);
		else
			why_walk_vcpu(walk, cpu->vcpu, segment.task, a, b);
		why_up(walk);
		if (!walk->error)
			why_end_below(walk, (size_t)below);
	}
	why_up(walk);
}

void why_add_tasks(struct walk *walk, size_t at, int32_t vcpu)
{
	const struct virt_why_segment segment = walk->why->segments[at];
	int guest = 0;
	const struct virt_guest_cpu *cpu = virt_guests_cpu(walk->guests, vcpu, &guest);

	if (cpu)
		add_occupants(walk, at, guest, cpu, VIRT_NONE, segment.from_ns, segment.to_ns);
	if (cpu && !walk->error)
		why_end_below(walk, at);
}

/* --- what a task does ------------------------------------------------------------------------- */

/** It wants to run: each interval waits for a CPU of its own, a woken task for that it comes to. */
static void explain_wait(struct walk *walk, size_t at, const struct stretch *stretch)
{
	const struct virt_guest *guest = guest_of(walk, stretch);
	const struct virt_life_interval *intervals = stretch->task->intervals;
	const struct virt_life_interval *next = stretch->end < stretch->task->n ?
						&intervals[stretch->end] : NULL;

	for (size_t i = stretch->first; i < stretch->end && !walk->error; i++) {
		int64_t a = intervals[i].start_ns, b = begin_of(walk, stretch, i + 1);
		int cpu = intervals[i].cpu;
		const struct virt_guest_cpu *of;

		if (intervals[i].state == VIRT_LIFE_WAKING && next && next->state == VIRT_LIFE_RUNS)
			cpu = next->cpu;
		of = cpu_of(guest, cpu);
		a = a < stretch->from_ns ? stretch->from_ns : a;
		b = b > stretch->to_ns ? stretch->to_ns : b;
		if (a >= b)
			continue;
		if (stretch->guest < 0)
			why_add_culprits(walk, at, (int16_t)cpu, a, b);
		else if (of && of->n)
			add_occupants(walk, at, stretch->guest, of, stretch->number, a, b);
		else
			why_add_unexplained(walk, at, a, b, VIRT_WHY_NOT_SHOWN);
	}
	if (!walk->error)
		why_find_culprit(walk, at);
}

int32_t why_waker_of(const struct walk *walk, int guest, int32_t pid)
{
	int32_t vcpu;

	if (pid == VIRT_NONE)
		return VIRT_NONE;
	if (guest >= 0)
		return virt_guests_number(walk->guests, guest,
					  virt_guest_find(&walk->guests->all[guest], pid));
	vcpu = virt_model_find_vcpu(walk->model, pid);
	return vcpu == VIRT_NONE ? virt_model_find_task(walk->model, pid) : vcpu;
}

static void explain_blocked(struct walk *walk, size_t at, const struct stretch *stretch)
{
	const struct virt_guest *guest = guest_of(walk, stretch);
	int32_t number = stretch->task->intervals[stretch->end - 1].wake;
	const struct virt_life_wake *wake = number == VIRT_NONE ? NULL : &guest->wakes[number];
	struct virt_why_segment *segment = &walk->why->segments[at];

	why_name_lock(walk, at, stretch->guest, stretch->task->pid);
	if (!wake || wake->cause == VIRT_WAKE_UNKNOWN) {
		why_leave_unexplained(walk, at, stretch->end == stretch->task->n ? VIRT_WHY_OPEN :
				      VIRT_WHY_NOT_SHOWN);
		return;
	}
	segment->wake = number;
	segment->vcpu = vcpu_of(guest, wake->cpu);
	segment->who = why_waker_of(walk, stretch->guest, wake->waker);
	if (segment->who != VIRT_NONE)
		why_follow(walk, at, segment->who, begin_of(walk, stretch, stretch->end));
	else if (segment->vcpu != VIRT_NONE)
		why_follow(walk, at, segment->vcpu, INT64_MIN);
	else if (stretch->guest >= 0 && thread_of(guest, wake->cpu) != VIRT_NONE)
		why_follow(walk, at, thread_of(guest, wake->cpu), INT64_MIN);
}

/** It has a CPU of the host. */
static void put_run_on_host(struct walk *walk, const struct stretch *stretch)
{
	const struct virt_life_interval *interval = &stretch->task->intervals[stretch->first];
	struct virt_why_segment segment = why_segment_at(stretch->number, VIRT_WHY_TASK,
							 stretch->from_ns, stretch->to_ns,
							 interval->cpu);
	ssize_t at;

	if (interval->start_ns == stretch->from_ns)
		segment.flags |= VIRT_WHY_BEGINS;
	if (begin_of(walk, stretch, stretch->end) == stretch->to_ns)
		segment.flags |= VIRT_WHY_ENDS;
	at = why_add(walk, &segment);
	if (at < 0 || walk->shallow)
		return;
	why_add_spins(walk, (size_t)at, -1, stretch->task->pid, interval->cpu);
	if (!walk->error)
		why_end_below(walk, (size_t)at);
}

/** It has a CPU: what its vCPU did is what it did. */
static void put_run(struct walk *walk, const struct stretch *stretch)
{
	const struct virt_life_interval *interval = &stretch->task->intervals[stretch->first];
	int32_t vcpu = vcpu_of(guest_of(walk, stretch), interval->cpu);
	int32_t thread = thread_of(guest_of(walk, stretch), interval->cpu);
	size_t first = walk->why->n, last = first;
	struct virt_why_segment nobody;

	if (vcpu == VIRT_NONE && thread != VIRT_NONE) {
		why_walk_task(walk, thread, stretch->from_ns, stretch->to_ns);
	} else if (vcpu == VIRT_NONE) {
		nobody = why_segment_at(stretch->number, VIRT_WHY_UNEXPLAINED, stretch->from_ns,
					stretch->to_ns, VIRT_NONE);
		nobody.cause = VIRT_WHY_NOT_SHOWN;
		why_add(walk, &nobody);
		return;
	} else {
		why_walk_vcpu(walk, vcpu, stretch->number, stretch->from_ns, stretch->to_ns);
	}
	if (walk->error || walk->why->n == first)
		return;
	for (size_t i = first; i < walk->why->n; i += 1 + walk->why->segments[i].n_below) {
		last = i;
		if (thread != VIRT_NONE && walk->why->segments[i].task == thread)
			walk->why->segments[i].task = stretch->number;
	}
	if (interval->start_ns == stretch->from_ns)
		walk->why->segments[first].flags |= VIRT_WHY_GUEST_BEGINS;
	if (begin_of(walk, stretch, stretch->end) == stretch->to_ns)
		walk->why->segments[last].flags |= VIRT_WHY_GUEST_ENDS;
}

/** What a stretch is, before anything else is asked about it. */
static struct virt_why_segment segment_of(const struct walk *walk, const struct stretch *stretch)
{
	static const struct {
		uint8_t	kind, cause;
	} of[VIRT_LIFE_N_STATES] = {
		[VIRT_LIFE_PREEMPTED] = { VIRT_WHY_PREEMPTED, VIRT_WHY_GUEST_CPU },
		[VIRT_LIFE_WAKING] = { VIRT_WHY_WAKING, VIRT_WHY_GUEST_CPU },
		[VIRT_LIFE_BLOCKED] = { VIRT_WHY_BLOCKED, VIRT_WHY_WAKE },
		[VIRT_LIFE_ABSENT] = { VIRT_WHY_OFFLINE, VIRT_WHY_ABSENT },
		[VIRT_LIFE_UNKNOWN] = { VIRT_WHY_UNEXPLAINED, VIRT_WHY_NOT_SHOWN },
	};
	const struct virt_life_interval *first = &stretch->task->intervals[stretch->first];
	const struct virt_life_interval *last = &stretch->task->intervals[stretch->end - 1];
	const struct virt_life_interval *next = stretch->end < stretch->task->n ? last + 1 : NULL;
	struct virt_why_segment segment;
	int cpu = last->cpu;

	segment = why_segment_at(stretch->number, (enum virt_why_kind)of[first->state].kind,
				 stretch->from_ns, stretch->to_ns, VIRT_NONE);
	segment.cause = of[first->state].cause;
	if (first->state == VIRT_LIFE_UNKNOWN)
		segment.cause = (uint8_t)why_life_unknown(first);
	if (first->state == VIRT_LIFE_WAKING && next && next->state == VIRT_LIFE_RUNS)
		cpu = next->cpu;
	if (stretch->guest < 0)
		segment.pcpu = (int16_t)cpu;
	if (segment.cause == VIRT_WHY_GUEST_CPU && stretch->guest < 0)
		segment.cause = VIRT_WHY_PCPU;
	else if (segment.cause == VIRT_WHY_GUEST_CPU)
		segment.vcpu = vcpu_of(guest_of(walk, stretch), cpu);
	/* before the first one, and behind the last one, there is no record */
	if (stretch->first && first->start_ns == stretch->from_ns)
		segment.flags |= stretch->guest < 0 ? VIRT_WHY_BEGINS : VIRT_WHY_GUEST_BEGINS;
	if (next && next->start_ns == stretch->to_ns)
		segment.flags |= stretch->guest < 0 ? VIRT_WHY_ENDS : VIRT_WHY_GUEST_ENDS;
	return segment;
}

static void put_stretch(struct walk *walk, const struct stretch *stretch)
{
	struct virt_why_segment segment;
	ssize_t at;

	if (stretch->task->intervals[stretch->first].state == VIRT_LIFE_RUNS) {
		(stretch->guest < 0 ? put_run_on_host : put_run)(walk, stretch);
		return;
	}
	segment = segment_of(walk, stretch);
	if (segment.kind == VIRT_WHY_PREEMPTED || segment.kind == VIRT_WHY_WAKING)
		why_name_hold(walk, &segment, stretch->guest, stretch->task->pid, VIRT_NONE);
	at = why_add(walk, &segment);
	if (at < 0 || walk->shallow)
		return;
	if (segment.cause == VIRT_WHY_GUEST_CPU || segment.cause == VIRT_WHY_PCPU)
		explain_wait(walk, (size_t)at, stretch);
	else if (segment.kind == VIRT_WHY_BLOCKED)
		explain_blocked(walk, (size_t)at, stretch);
	if (!walk->error)
		why_end_below(walk, (size_t)at);
}

/** A wait for a CPU, and an unknown time, goes on if state and flags stay the same. */
static bool goes_on(const struct virt_guest_task *task, size_t i)
{
	const struct virt_life_interval *interval = &task->intervals[i];

	return i + 1 < task->n && interval->state != VIRT_LIFE_RUNS &&
	       interval[1].state == interval->state && interval[1].flags == interval->flags;
}

static size_t stretch_end(const struct virt_guest_task *task, size_t i)
{
	while (goes_on(task, i))
		i++;
	return i + 1;
}

/** Before the guest's trace begins, or behind its end. */
static void put_outside(struct walk *walk, int32_t task, int64_t from_ns, int64_t to_ns)
{
	struct virt_why_segment segment = why_segment_at(task, VIRT_WHY_UNEXPLAINED, from_ns, to_ns,
							 VIRT_NONE);

	segment.cause = VIRT_WHY_NOT_SHOWN;
	if (from_ns < to_ns)
		why_add(walk, &segment);
}

void why_walk_task(struct walk *walk, int32_t task, int64_t from_ns, int64_t to_ns)
{
	struct stretch stretch = { .number = task };
	const struct virt_guest *guest;
	ptrdiff_t first;

	stretch.task = why_task(walk->guests, walk->model, task, &stretch.guest);
	if (!stretch.task || !stretch.task->n)
		return;
	guest = guest_of(walk, &stretch);
	first = virt_life_at(stretch.task, from_ns);
	walk->path[walk->level] = task;
	put_outside(walk, task, from_ns, to_ns < guest->begin_ns ? to_ns : guest->begin_ns);
	for (stretch.first = first < 0 ? 0 : (size_t)first;
	     stretch.first < stretch.task->n && !walk->error; stretch.first = stretch.end) {
		stretch.from_ns = begin_of(walk, &stretch, stretch.first);
		if (stretch.from_ns >= to_ns)
			break;
		stretch.end = stretch_end(stretch.task, stretch.first);
		stretch.to_ns = begin_of(walk, &stretch, stretch.end);
		stretch.from_ns = stretch.from_ns < from_ns ? from_ns : stretch.from_ns;
		stretch.to_ns = stretch.to_ns > to_ns ? to_ns : stretch.to_ns;
		if (stretch.from_ns < stretch.to_ns)
			put_stretch(walk, &stretch);
	}
	put_outside(walk, task, from_ns > guest->end_ns ? from_ns : guest->end_ns, to_ns);
}

/* --- what is asked --------------------------------------------------------------------------- */

int virt_why_task(const struct virt_model *model, const struct virt_guests *guests, int32_t task,
		  int64_t from_ns, int64_t to_ns, size_t limit, struct virt_why *why)
{
	int guest = 0;
	const struct virt_guest_task *of = why_task(guests, model, task, &guest);
	struct walk walk;
	int ret = why_begin(&walk, model, guests, from_ns, to_ns, limit, why);

	if (ret || !of || !of->n)
		return -EINVAL;
	why->subject = task;
	why_walk_task(&walk, task, why->from_ns, why->to_ns);
	return why_end(&walk);
}

bool virt_why_task_at(const struct virt_model *model, const struct virt_guests *guests,
		      int32_t task, int64_t time_ns, int64_t *from_ns, int64_t *to_ns)
{
	int guest = 0;
	const struct virt_guest_task *of = why_task(guests, model, task, &guest);
	ptrdiff_t at = of ? virt_life_at(of, time_ns) : -1;
	const struct virt_guest *life = !of ? NULL : guest < 0 ? guests->host :
					&guests->all[guest];
	size_t first, end;
	int64_t begin_ns, end_ns;

	if (at < 0 || time_ns >= life->end_ns || time_ns < virt_model_begin(model) ||
	    time_ns >= virt_model_end(model))
		return false;
	first = (size_t)at;
	end = stretch_end(of, first);
	while (first && goes_on(of, first - 1))
		first--;
	*from_ns = of->intervals[first].start_ns;
	*to_ns = end < of->n ? of->intervals[end].start_ns : life->end_ns;
	if (of->intervals[first].state != VIRT_LIFE_RUNS || guest < 0 ||
	    !virt_why_at(model, vcpu_of(life, of->intervals[first].cpu), time_ns,
			 &begin_ns, &end_ns))
		return true;
	*from_ns = begin_ns > *from_ns ? begin_ns : *from_ns;
	*to_ns = end_ns < *to_ns ? end_ns : *to_ns;
	return true;
}
