// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	hyper_guest.c
 * @brief	Build a guest from the events that it reports, one after the other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hyper_private.h"
#include "search.h"

/** Linux's sched_switch: X and Z, EXIT_DEAD and EXIT_ZOMBIE. */
#define STATE_DEAD	0x30

/** From now on, no event of a CPU was before @since_ns. */
static void forget_calls(struct hyper_cpu *at, int64_t since_ns)
{
	for (size_t i = 0; i < ARRAY_SIZE(at->packed_ns); i++)
		at->packed_ns[i] = since_ns;
}

struct hyper_guest *hyper_guest_new(int32_t n_cpus, const int32_t *numbers)
{
	struct hyper_guest *guest = calloc(1, sizeof(*guest));

	if (!guest)
		return NULL;
	guest->cpus = calloc((size_t)n_cpus + 1, sizeof(*guest->cpus));
	if (!guest->cpus) {
		free(guest);
		return NULL;
	}
	guest->n_cpus = n_cpus;
	guest->last_ns = INT64_MIN;
	for (int32_t cpu = 0; cpu < n_cpus; cpu++) {
		guest->cpus[cpu].number = numbers[cpu];
		forget_calls(&guest->cpus[cpu], INT64_MIN);
	}
	return guest;
}

void hyper_guest_free(struct hyper_guest *guest)
{
	if (!guest)
		return;
	for (int32_t cpu = 0; cpu < guest->n_cpus; cpu++)
		free(guest->cpus[cpu].runs);
	for (uint32_t i = 0; i < guest->stack_map.n_keys; i++)
		free(guest->stacks[i].open);
	key_map_destroy(&guest->stack_map);
	key_map_destroy(&guest->task_map);
	free(guest->cpus);
	free(guest->slices);
	free(guest->stacks);
	free(guest->tasks);
	free(guest->states);
	free(guest->doubts);
	free(guest->names);
	free(guest->by_task);
	free(guest);
}

void hyper_count(struct hyper_guest *guest, enum hyper_trouble trouble, int32_t cpu,
		 int64_t time_ns)
{
	struct hyper_trouble_count *count = &guest->troubles[trouble];

	if (count->count++)
		return;
	count->first_ns = time_ns;
	count->first_cpu = cpu;
}

int32_t hyper_pid_on(const struct hyper_guest *guest, int32_t cpu)
{
	const struct hyper_cpu *at = &guest->cpus[cpu];

	return at->n_runs ? at->runs[at->n_runs - 1].pid : HYPER_NONE;
}

/* --- tasks ----------------------------------------------------------------------------------- */

/** Return: the task's number, or -ENOMEM. */
static int64_t task_of(struct hyper_guest *guest, int32_t pid)
{
	int64_t i = key_map_find(&guest->task_map, (uint32_t)pid);

	if (i >= 0)
		return i;
	if (ARRAY_GROW(guest->states, guest->task_map.n_keys, guest->states_room))
		return -ENOMEM;
	i = KEY_MAP_ELEMENT(&guest->task_map, (uint32_t)pid, guest->tasks, guest->tasks_room);
	if (i < 0)
		return i;
	guest->tasks[i].pid = pid;
	guest->tasks[i].tgid = HYPER_NONE;
	guest->states[i] = (struct hyper_task_state){ .cpu = HYPER_NONE };
	return i;
}

/**
 * Learn what an event says about its task.
 * @whole: its name is complete; else it may be cut, and says less than one that is there
 */
static int learn(struct hyper_guest *guest, const struct hyper_event *event, bool whole)
{
	int64_t i = task_of(guest, event->pid);

	if (i < 0)
		return (int)i;
	if (hyper_has(event, HYPER_F_TGID))
		guest->tasks[i].tgid = event->tgid;
	/* the idle tasks have a name each, and one number */
	if (hyper_has(event, HYPER_F_NAME) && *event->name && event->pid &&
	    (whole || !*guest->tasks[i].comm))
		memcpy(guest->tasks[i].comm, event->name, HYPER_NAME_SIZE);
	return 0;
}

/** A task leaves a CPU. While another one is lost, it may be there at once. */
static void leave_cpu(struct hyper_guest *guest, int32_t cpu, int64_t time_ns, int32_t pid)
{
	int64_t i = pid > 0 ? key_map_find(&guest->task_map, (uint32_t)pid) : -1;

	if (i < 0 || guest->states[i].cpu != cpu)
		return;
	guest->states[i] = (struct hyper_task_state){ HYPER_NONE, guest->n_doubts };
	if (guest->n_lost)
		hyper_stacks_cut_task(guest, pid, time_ns);
}

/** A task comes to a CPU. What it did before counts if nothing of it can have been missed since. */
static int reach_cpu(struct hyper_guest *guest, int32_t cpu, int32_t pid)
{
	int64_t i = pid > 0 ? task_of(guest, pid) : -1;

	if (pid <= 0)
		return 0;
	if (i < 0)
		return (int)i;
	if (guest->states[i].cpu == HYPER_NONE && guest->states[i].doubts < guest->n_doubts)
		hyper_stacks_cut_task(guest, pid, guest->doubts[guest->states[i].doubts]);
	guest->states[i] = (struct hyper_task_state){ cpu, guest->n_doubts };
	return 0;
}

/** From a time on, another task has a CPU. */
static int begin_run(struct hyper_guest *guest, int32_t cpu, int64_t time_ns, int32_t pid)
{
	struct hyper_cpu *at = &guest->cpus[cpu];
	struct hyper_run *last = at->n_runs ? &at->runs[at->n_runs - 1] : NULL;
	int ret;

	if (last) {
		last->end_ns = time_ns;
		leave_cpu(guest, cpu, time_ns, last->pid);
	}
	ret = reach_cpu(guest, cpu, pid);
	if (ret || (last && last->pid == pid && !(last->flags & HYPER_NO_END)))
		return ret;
	if (ARRAY_GROW(at->runs, at->n_runs, at->room))
		return -ENOMEM;
	at->runs[at->n_runs++] = (struct hyper_run){
		.start_ns = time_ns, .end_ns = time_ns, .cpu = cpu, .pid = pid,
	};
	return 0;
}

/** From a time on, anybody who is not known to have another CPU may have done anything on this. */
static int doubt(struct hyper_guest *guest, int32_t cpu, int64_t time_ns)
{
	hyper_stacks_cut_cpu(guest, cpu, time_ns);
	if (ARRAY_GROW(guest->doubts, guest->n_doubts, guest->doubts_room))
		return -ENOMEM;
	guest->doubts[guest->n_doubts++] = time_ns;
	return 0;
}

/** The occupant of a CPU is doubtful since it came: it is unknown when it left. */
static int doubt_run(struct hyper_guest *guest, int32_t cpu, int64_t time_ns)
{
	struct hyper_cpu *at = &guest->cpus[cpu];

	if (at->n_runs && at->runs[at->n_runs - 1].pid != HYPER_NONE)
		at->runs[at->n_runs - 1].flags |= HYPER_NO_END;
	return doubt(guest, cpu, time_ns);
}

/** A task cannot have two CPUs: the occupant of the other one becomes unknown. */
static int leave_other(struct hyper_guest *guest, int32_t cpu, int64_t time_ns, int32_t pid)
{
	int64_t task = pid > 0 ? key_map_find(&guest->task_map, (uint32_t)pid) : -1;
	int32_t other = task >= 0 ? guest->states[task].cpu : HYPER_NONE;
	int ret;

	if (other == HYPER_NONE || other == cpu)
		return 0;
	hyper_count(guest, HYPER_T_TWICE, cpu, time_ns);
	ret = doubt_run(guest, other, time_ns);
	return ret ? ret : begin_run(guest, other, time_ns, HYPER_NONE);
}

/** Who leaves its CPU dead does nothing more, not even return from exit_group. */
static void end_task(struct hyper_guest *guest, int64_t time_ns, const struct hyper_event *event)
{
	if (hyper_has(event, HYPER_F_PREV_PID) && event->prev_pid > 0 &&
	    event->prev_state & STATE_DEAD)
		hyper_stacks_cut_task(guest, event->prev_pid, time_ns);
}

static int take_switch(struct hyper_guest *guest, int32_t cpu, int64_t time_ns,
		       const struct hyper_event *event)
{
	int32_t before = hyper_pid_on(guest, cpu);
	int ret = 0;

	if (before != HYPER_NONE && hyper_has(event, HYPER_F_PREV_PID) &&
	    event->prev_pid != before) {
		hyper_count(guest, HYPER_T_SWITCH, cpu, time_ns);
		ret = doubt_run(guest, cpu, time_ns);
	} else if (before == HYPER_NONE) {
		/* what was open belongs to a task that was unknown */
		hyper_stacks_cut_cpu(guest, cpu, time_ns);
	}
	end_task(guest, time_ns, event);
	if (!ret)
		ret = leave_other(guest, cpu, time_ns, event->pid);
	if (!ret)
		ret = begin_run(guest, cpu, time_ns, event->pid);
	return ret ? ret : learn(guest, event, true);
}

/* --- events ---------------------------------------------------------------------------------- */

/** Note the calls of a CPU that report earlier events. */
static void note_call(struct hyper_cpu *at, int64_t call_ns, const struct hyper_event *event)
{
	int64_t *calls = at->packed_ns;

	if (!hyper_has(event, HYPER_F_BEFORE) || calls[0] == call_ns)
		return;
	memmove(&calls[1], &calls[0], (ARRAY_SIZE(at->packed_ns) - 1) * sizeof(*calls));
	calls[0] = call_ns;
}

/**
 * Can an event lie where it says, though events of later times have come before?
 *
 * The host records a call later than the guest has read its clock for it, by the time that the vCPU
 * was away in between; the events in the call seem to be later by that time. A guest makes a call
 * at the event after the last one in it; so the first event of a call is later than the record of
 * the call before the last one. Ages are no more exact than this: they are rounded, by 2^-21 of
 * themselves, and the guest knows its frequency by 2^-10 or better, or it has been measured, by
 * 2^-8 at least.
 */
static bool may_be_late(const struct hyper_cpu *at, int64_t time_ns,
			const struct hyper_event *event)
{
	int64_t slack_ns = (event->before_ns >> 8) + 1000;

	/* of the first calls that the host has recorded, it is unknown */
	return hyper_has(event, HYPER_F_BEFORE) &&
	       (at->packed_ns[2] == INT64_MIN || time_ns >= at->packed_ns[2] - slack_ns);
}

/**
 * When an event happened. It cannot lie before the last one, nor behind its call: then its time is
 * not known, only that it lies between them. What is open is doubtful, unless there is an honest
 * reason.
 */
static int64_t time_of(struct hyper_guest *guest, int32_t cpu, int64_t call_ns,
		       const struct hyper_event *event)
{
	struct hyper_cpu *at = &guest->cpus[cpu];
	int64_t time_ns = call_ns;
	bool unknown = !hyper_has(event, HYPER_F_BEFORE) &&
		       event->before_ns == HYPER_BEFORE_UNKNOWN;
	bool can = unknown || (event->before_ns >= 0 &&
			       !__builtin_sub_overflow(call_ns, event->before_ns, &time_ns));

	if (unknown)
		hyper_count(guest, HYPER_T_CLOCK, cpu, call_ns);
	note_call(at, call_ns, event);
	if (!can || time_ns < guest->last_ns) {
		bool late = can && (event->vague || may_be_late(at, time_ns, event));

		time_ns = guest->last_ns == INT64_MIN ? call_ns : guest->last_ns;
		if (!late) {
			hyper_count(guest, HYPER_T_BACK, cpu, call_ns);
			hyper_stacks_cut_cpu(guest, cpu, time_ns);
		}
	}
	guest->last_ns = time_ns;
	return time_ns;
}

/** From here on, it is unknown who has a CPU. */
static int forget_cpu(struct hyper_guest *guest, int32_t cpu, int64_t time_ns)
{
	hyper_stacks_cut_machine(guest, time_ns);
	return hyper_pid_on(guest, cpu) == HYPER_NONE ? 0 :
	       begin_run(guest, cpu, time_ns, HYPER_NONE);
}

/** The guest could not send events, or will not: they are unknown. */
static int take_gap(struct hyper_guest *guest, int32_t cpu, int64_t time_ns, bool before)
{
	int ret = before ? doubt_run(guest, cpu, time_ns) : doubt(guest, cpu, time_ns);

	return ret ? ret : forget_cpu(guest, cpu, time_ns);
}

int hyper_guest_take(struct hyper_guest *guest, int32_t cpu, int64_t call_ns,
		     const struct hyper_event *event)
{
	int64_t time_ns;

	if (cpu < 0 || cpu >= guest->n_cpus)
		return -EINVAL;
	time_ns = time_of(guest, cpu, call_ns, event);
	/* of a wake-up, it is where the task will run */
	if (hyper_has(event, HYPER_F_CPU) && event->kind != HYPER_WAKEUP &&
	    event->cpu != guest->cpus[cpu].number)
		hyper_count(guest, HYPER_T_CPU, cpu, time_ns);
	switch (event->kind) {
	case HYPER_SWITCH:
		return take_switch(guest, cpu, time_ns, event);
	case HYPER_LOST:
		hyper_count(guest, HYPER_T_LOST, cpu, time_ns);
		return take_gap(guest, cpu, time_ns, true);
	case HYPER_START:
		forget_calls(&guest->cpus[cpu], call_ns);
		return take_gap(guest, cpu, time_ns, true);
	case HYPER_STOP:
		return take_gap(guest, cpu, time_ns, false);
	case HYPER_WAKEUP:
		return learn(guest, event, false);
	case HYPER_COMM:
	case HYPER_FORK:
	case HYPER_TASK_EXIT:
		return learn(guest, event, true);
	}
	return event->kind == HYPER_PHASE || (event->kind < HYPER_N_SLICES && event->kind) ?
	       hyper_slice_take(guest, cpu, time_ns, event) : 0;
}

int hyper_guest_lost(struct hyper_guest *guest, int32_t cpu, int64_t time_ns, bool begins)
{
	int ret;

	if (cpu < 0 || cpu >= guest->n_cpus)
		return -EINVAL;
	if (time_ns < guest->last_ns)
		time_ns = guest->last_ns;
	guest->last_ns = time_ns;
	if (begins)
		hyper_count(guest, HYPER_T_HOST, cpu, time_ns);
	guest->n_lost += begins - guest->cpus[cpu].lost;
	guest->cpus[cpu].lost = begins;
	ret = doubt(guest, cpu, time_ns);
	/* up to here, events show that no other task came */
	return ret ? ret : forget_cpu(guest, cpu, time_ns);
}

int hyper_guest_seen(struct hyper_guest *guest, int32_t cpu, int64_t time_ns, int32_t pid)
{
	int64_t task = pid > 0 ? key_map_find(&guest->task_map, (uint32_t)pid) : -1;
	int32_t other = task >= 0 ? guest->states[task].cpu : HYPER_NONE;
	int ret = 0;

	if (cpu < 0 || cpu >= guest->n_cpus)
		return -EINVAL;
	if (hyper_pid_on(guest, cpu) == pid)
		return 0;
	if (time_ns < guest->last_ns)
		time_ns = guest->last_ns;
	guest->last_ns = time_ns;
	if (other != HYPER_NONE)
		ret = begin_run(guest, other, time_ns, HYPER_NONE);
	return ret ? ret : begin_run(guest, cpu, time_ns, pid);
}

int64_t hyper_guest_now(const struct hyper_guest *guest)
{
	return guest->last_ns;
}

/* --- the end --------------------------------------------------------------------------------- */

static int compare_runs(const void *a, const void *b)
{
	const struct hyper_run *x = *(const struct hyper_run *const *)a;
	const struct hyper_run *y = *(const struct hyper_run *const *)b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	/* idle ones of several CPUs overlap */
	if (!x->pid && x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	/* one of no length comes first */
	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

int hyper_guest_finish(struct hyper_guest *guest, int64_t end_ns)
{
	size_t n = 0;

	hyper_stacks_end(guest, end_ns);
	for (int32_t cpu = 0; cpu < guest->n_cpus; cpu++) {
		struct hyper_cpu *at = &guest->cpus[cpu];

		if (at->n_runs && at->runs[at->n_runs - 1].start_ns < end_ns)
			at->runs[at->n_runs - 1].end_ns = end_ns;
		n += at->n_runs;
	}
	guest->by_task = malloc((n + 1) * sizeof(*guest->by_task));
	if (!guest->by_task)
		return -ENOMEM;
	for (int32_t cpu = 0; cpu < guest->n_cpus; cpu++)
		for (size_t i = 0; i < guest->cpus[cpu].n_runs; i++)
			guest->by_task[guest->n_runs++] = &guest->cpus[cpu].runs[i];
	qsort(guest->by_task, guest->n_runs, sizeof(*guest->by_task), compare_runs);
	return 0;
}

/* --- asking ---------------------------------------------------------------------------------- */

const struct hyper_run *hyper_guest_runs(const struct hyper_guest *guest, int32_t cpu, size_t *n)
{
	if (cpu < 0 || cpu >= guest->n_cpus) {
		*n = 0;
		return NULL;
	}
	*n = guest->cpus[cpu].n_runs;
	return guest->cpus[cpu].runs;
}

const struct hyper_run *const *hyper_guest_task_runs(const struct hyper_guest *guest, int32_t pid,
						     size_t *n)
{
	size_t lo, hi;

	SEARCH_FIRST(lo, 0, guest->n_runs, guest->by_task[lo]->pid < pid);
	SEARCH_FIRST(hi, lo, guest->n_runs, guest->by_task[hi]->pid <= pid);
	*n = hi - lo;
	return &guest->by_task[lo];
}

const struct hyper_slice *hyper_guest_slices(const struct hyper_guest *guest, size_t *n)
{
	*n = guest->n_slices;
	return guest->slices;
}

const struct hyper_task *hyper_guest_tasks(const struct hyper_guest *guest, size_t *n)
{
	*n = guest->task_map.n_keys;
	return guest->tasks;
}

const struct hyper_task *hyper_guest_task(const struct hyper_guest *guest, int32_t pid)
{
	int64_t i = pid < 0 ? -1 : key_map_find(&guest->task_map, (uint32_t)pid);

	return i < 0 ? NULL : &guest->tasks[i];
}

const char *hyper_guest_name(const struct hyper_guest *guest, int32_t name)
{
	return name < 0 || (size_t)name >= guest->n_names ? NULL : guest->names[name];
}

const struct hyper_trouble_count *hyper_guest_trouble(const struct hyper_guest *guest,
						      enum hyper_trouble trouble)
{
	return &guest->troubles[trouble];
}

const char *hyper_trouble_text(enum hyper_trouble trouble)
{
	static const char *const texts[HYPER_N_TROUBLES] = {
		[HYPER_T_ALONE] = "exits without an entry",
		[HYPER_T_OTHER] = "exits that do not match the entry",
		[HYPER_T_DEPTH] = "depths that do not follow",
		[HYPER_T_SWITCH] = "switches from a task that did not have the CPU",
		[HYPER_T_TWICE] = "tasks on two CPUs at once",
		[HYPER_T_BACK] = "events out of order",
		[HYPER_T_CLOCK] = "events before their calls, by a clock of unknown frequency",
		[HYPER_T_CPU] = "CPUs that are not the vCPU's",
		[HYPER_T_LOST] = "losses that the guest reports",
		[HYPER_T_HOST] = "losses in the host's trace",
	};

	return texts[trouble];
}
