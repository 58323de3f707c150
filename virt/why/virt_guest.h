/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_guest.h
 * @brief	Build the lives of a guest's tasks from the guest's own trace.
 *
 * A guest complements the model of its host, on the same axis of time. The occupants of a CPU of
 * the guest are a sequence of runs; the life of a task is a sequence of intervals, which fill the
 * time from the first record to the last. The model shows how much of that time the vCPU executed.
 *
 * The rules are those of kvm_tracker.h, one level up:
 *
 * - A task has a CPU from where it is switched in to where another task is switched in. A task that
 *   is switched out while it could run is PREEMPTED; a sleeping task is BLOCKED, and WAKING from
 *   its wake-up on; a dead task is ABSENT, and so is a task that is not yet born.
 * - sched_waking shows the waker of a task. The recorder of a sched_wakeup is the waker only if it
 *   is neither the idle task nor an interrupt: these may act for another CPU.
 * - Before all CPUs are known, and while records of any of them are lost, it is only certain which
 *   task has a CPU. After that, a task stays UNKNOWN until a record shows its state again. If no
 *   record shows what has ended a sleep, it is not known to be a sleep.
 */
#ifndef KSHARK_VIRT_VIRT_GUEST_H
#define KSHARK_VIRT_VIRT_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "virt_locks.h"
#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Who has a CPU from then on, until the next one. */
struct virt_guest_run {
	int64_t		start_ns;
	int32_t		pid;		/* 0: idle; VIRT_NONE: not known */
	bool		by_switch;	/* else by another record, which is the first of it */
};

/** A CPU of a guest. */
struct virt_guest_cpu {
	int32_t		vcpu;		/* of the host's model; VIRT_NONE: not known */
	struct virt_guest_run *runs;	/* ascending by time; the last one is not known */
	size_t		n, room;
};

/** virt_guest_run_at - index of the run of a CPU in force at a time; -1: none */
ptrdiff_t virt_guest_run_at(const struct virt_guest_cpu *cpu, int64_t time_ns);

/* --- what goes by ---------------------------------------------------------------------------- */

/** How a task leaves a CPU. */
enum virt_life_left {
	VIRT_LEFT_UNKNOWN = 0,
	VIRT_LEFT_RUNNABLE,
	VIRT_LEFT_ASLEEP,
	VIRT_LEFT_DEAD,
	VIRT_LEFT_UNINTERRUPTIBLE,	/* asleep, and no signal wakes it: mostly, for a disk */
};

/** Who or what wakes a task. */
struct virt_life_wake {
	int32_t		waker;		/* pid; VIRT_NONE: an interrupt, or not known */
	int32_t		handler;	/* of the interrupt: virt_guest_handler(); or VIRT_NONE */
	int16_t		cpu;		/* where; VIRT_NONE: not known */
	uint8_t		cause;		/* VIRT_WAKE_TASK, _INTERRUPT, _TIMER or _UNKNOWN */
	uint8_t		reserved;	/* 0 */
};

enum virt_life_event_kind {
	VIRT_LIFE_E_RUN,		/* pid has the CPU; VIRT_NONE: not known. left: had it */
	VIRT_LIFE_E_END,		/* the CPU has no more records */
	VIRT_LIFE_E_WAKING,	/* pid is woken, as its waker records it */
	VIRT_LIFE_E_WAKEUP,	/* pid is woken, as the CPU that it will run on records it */
	VIRT_LIFE_E_BORN,	/* pid begins to exist, and wants to run */
	VIRT_LIFE_E_MIGRATE,	/* pid waits for another CPU from now on: wake.cpu */
};

/** What a record says: 32 bytes. */
struct virt_life_event {
	int64_t		time_ns;
	int32_t		pid;
	int16_t		cpu;
	uint8_t		kind;		/* enum virt_life_event_kind */
	uint8_t		left;		/* enum virt_life_left */
	struct virt_life_wake wake;
};

/** Events, each CPU's in order of time. All zero is none. */
struct virt_life_events {
	struct virt_life_event *all;
	size_t		n, room;
};

/** virt_life_events_add - one more; of a time before its CPU's last one is taken for as late. 0 or
 * -ENOMEM. */
int virt_life_events_add(struct virt_life_events *events, const struct virt_life_event *event);

/* --- lives ----------------------------------------------------------------------------------- */

enum virt_life_state {
	VIRT_LIFE_RUNS = 0,	/* has a CPU of the guest */
	VIRT_LIFE_PREEMPTED,	/* wants to run, was running, another task has the CPU */
	VIRT_LIFE_WAKING,	/* wants to run after a wake-up */
	VIRT_LIFE_BLOCKED,	/* waits for an event */
	VIRT_LIFE_ABSENT,	/* not yet born, or dead */
	VIRT_LIFE_UNKNOWN,	/* the trace does not show it */
	VIRT_LIFE_N_STATES
};

/** UNKNOWN: as records are lost. */
#define VIRT_LIFE_LOST	(1 << 0)
/** BLOCKED: no signal wakes it (state D). */
#define VIRT_LIFE_UNINTERRUPTIBLE	(1 << 1)

struct virt_life_interval {
	int64_t		start_ns;
	int32_t		wake;		/* BLOCKED: what ended it, index in @wakes; or VIRT_NONE */
	int16_t		cpu;		/* of the guest: that it has, waits for, had last; or
					 * VIRT_NONE */
	uint8_t		state;		/* enum virt_life_state */
	uint8_t		flags;		/* VIRT_LIFE_... */
};

struct virt_guest_task {
	int32_t		pid;
	char		*name;		/* "web:nginx-412"; NULL until it is set */
	struct virt_life_interval *intervals;	/* none of the idle task */
	size_t		n, room;
};

struct virt_guest {
	char		*name;		/* "web" */
	int64_t		begin_ns, end_ns;	/* of its trace */
	struct virt_guest_cpu *cpus;
	int32_t		*threads;	/* by CPU: of another guest, which this one runs in: its
					 * task that is this CPU, by its number; or VIRT_NONE.
					 * NULL: none is */
	int		n_cpus;
	struct virt_guest_task *tasks;	/* ascending by pid; the first one is the idle task */
	int32_t		n_tasks;
	struct virt_life_wake *wakes;
	size_t		n_wakes, room_wakes;
	char		**handlers;	/* names of what woke tasks: "irq 49 virtio0" */
	int32_t		n_handlers, room_handlers;
	struct virt_locks locks;	/* of virt_guest_set_locks(), if that was called */
};

/**
 * virt_guest_handler - the number of a handler by its name, which is copied
 *
 * Return: below 0 without memory.
 */
int32_t virt_guest_handler(struct virt_guest *guest, const char *name);

/**
 * virt_guest_live - from events to lives
 * @guest: all zero but for handlers; receives tasks and wakes, but no CPUs and no names
 * @events: are sorted
 *
 * Return: 0 or -ENOMEM.
 */
int virt_guest_live(struct virt_guest *guest, struct virt_life_events *events);

/** Lives that go on, and whose past is forgotten. */
struct virt_lives_now;

/**
 * virt_lives_now_new - nothing has gone by yet
 * @n_cpus: that have records, all with wake-ups
 *
 * Return: NULL without memory.
 */
struct virt_lives_now *virt_lives_now_new(int n_cpus);

/** virt_lives_now_free - it may be NULL. */
void virt_lives_now_free(struct virt_lives_now *lives);

/** virt_lives_now_take - the next event of all CPUs, in order of time. Return: 0 or -ENOMEM. */
int virt_lives_now_take(struct virt_lives_now *lives, const struct virt_life_event *event);

/**
 * virt_lives_now_show - what is known by now
 * @end_ns: up to when all events have gone by
 * @guest: receives tasks, and no CPUs, wakes or names. Its tasks' intervals stay those of @lives:
 *	no event may go by while they are read, and only @guest->tasks is to be freed
 *
 * Return: 0 or -ENOMEM.
 */
int virt_lives_now_show(struct virt_lives_now *lives, int64_t end_ns, struct virt_guest *guest);

/**
 * virt_lives_now_forget - nothing before this time is wanted any more, nor what has ended sleeps
 *
 * The interval in force then stays, with its beginning. Return: 0 or -ENOMEM.
 */
int virt_lives_now_forget(struct virt_lives_now *lives, int64_t before_ns);

/**
 * virt_guest_set_locks - @locks, from waits in any order
 * @guest: its tasks and CPUs are known
 * @waits: of malloc(), belongs to the guest from now on, also after an error
 *
 * Return: 0 or -ENOMEM.
 */
int virt_guest_set_locks(struct virt_guest *guest, struct virt_lock_wait *waits, size_t n);

/** virt_guest_free - free all that it has, also of a virt_guest_live() that failed. */
void virt_guest_free(struct virt_guest *guest);

/** virt_guest_find - index of the task with a pid; VIRT_NONE: there is none. */
int32_t virt_guest_find(const struct virt_guest *guest, int32_t pid);

/**
 * virt_guest_busiest - who had most of [from, to), by the guest's own trace, without the idle task
 * @tasks: receives the indices of at most @n, the busiest first
 *
 * In O(runs + tasks). Return: how many; -ENOMEM.
 */
ssize_t virt_guest_busiest(const struct virt_guest *guest, int64_t from_ns, int64_t to_ns,
			   int32_t *tasks, size_t n);

/** virt_life_at - index of the interval of a task in force at a time; -1: none */
ptrdiff_t virt_life_at(const struct virt_guest_task *task, int64_t time_ns);

/* --- the guests of a host -------------------------------------------------------------------- */

/**
 * Tasks of guests are numbered as vCPUs and tasks of the host are, from here on, one guest after
 * the other.
 */
#define VIRT_FIRST_GUEST_TASK	(3 << 29)

struct virt_guests {
	struct virt_guest *all;
	int		n;
	const struct virt_guest *host;	/* the host's own tasks from its trace, on its own CPUs,
					 * in the same way, but for @cpus; or NULL */
};

/** virt_guests_number - the number of a task, by its guest and index; or VIRT_NONE */
int32_t virt_guests_number(const struct virt_guests *guests, int guest, int32_t task);

/** virt_guests_task - a task by its number, and @guest receives whose; NULL: it is none's. */
const struct virt_guest_task *virt_guests_task(const struct virt_guests *guests, int32_t number,
					       int *guest);

/** virt_guests_short - "nginx-412" of "web:nginx-412" */
const char *virt_guests_short(const struct virt_guests *guests, int32_t number);

/** virt_guests_cpu - which CPU of which guest a vCPU is; NULL: that is not known. */
const struct virt_guest_cpu *virt_guests_cpu(const struct virt_guests *guests, int32_t vcpu,
					     int *guest);

/** virt_guests_task_at - number of the task that has a vCPU at a time; or VIRT_NONE */
int32_t virt_guests_task_at(const struct virt_guests *guests, int32_t vcpu, int64_t time_ns);

#ifdef __cplusplus
}
#endif
#endif
