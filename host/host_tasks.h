/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_tasks.h
 * @brief	Sum up the tasks of a host, as guest_tasks.h does those of its guests.
 *
 * The host's own trace shows its tasks: on which pCPUs they were, what they waited for, and what
 * they did there (host_modes.h).
 */
#ifndef KSHARK_VIRT_HOST_TASKS_H
#define KSHARK_VIRT_HOST_TASKS_H

#include "guest_lives.h"
#include "guest_tasks.h"
#include "host_modes.h"
#include "virt_window.h"

#ifdef __cplusplus
extern "C" {
#endif

/** All zero is none. */
struct host_tasks {
	struct virt_guest	lives;
	struct guest_tasks	tasks;		/* the runs are those of @lives */
	struct host_modes	modes;
};

/**
 * host_tasks_read - read the trace of a KVM host once more
 * @tasks: to be given to host_tasks_free() in any case
 *
 * Return: 0 or -ENOMEM, or as kvm_trace_walk().
 */
int host_tasks_read(struct host_tasks *tasks, const struct virt_model *model,
		    struct kvm_trace *trace);
void host_tasks_free(struct host_tasks *tasks);

/**
 * host_tasks_show - the same of records that still come
 * @comm: names of tasks, see struct guest_tasks
 * @tasks: to be given to host_tasks_hide() in any case, before the next record; without modes
 *
 * Return: 0 or -ENOMEM.
 */
int host_tasks_show(struct host_tasks *tasks, struct guest_lives_now *now, int64_t end_ns,
		    const char *(*comm)(const void *arg, int32_t pid), const void *arg);
void host_tasks_hide(struct host_tasks *tasks);

/** A task in a window. What began before it or ends after it is cut, as in virt_window.h. */
struct host_task_sum {
	int32_t		pid;		/* 0: idle, of all pCPUs */
	int32_t		machine;	/* that it works for; VIRT_NONE: for none */
	const struct guest_task_sum *on_pcpus;	/* NULL: it had none */
	int64_t		ns[VIRT_LIFE_N_STATES];
	int64_t		uninterruptible_ns;	/* of BLOCKED */
	uint64_t	migrations;	/* that end in the window */
	struct virt_dist wake;		/* wake-ups in the window that led to a pCPU */
	const struct host_mode_sum *modes;	/* NULL: it had no pCPU */
};

/** Who had the pCPU that a task waited for. */
struct host_task_culprit {
	int32_t		pid, culprit;	/* culprit 0: idle */
	int64_t		ns;
};

/** All zero is none. */
struct host_task_sums {
	struct guest_task_sums	by_task, by_cgroup;
	struct host_mode_sums	modes;
	struct host_task_sum	*all;	/* by machine, VIRT_NONE last; most time first */
	size_t			n;
	struct key_map		culprit_map;
	struct host_task_culprit *culprits; /* most time first */
	uint32_t		room_culprits;
};

/**
 * host_task_sums_make - add up [from, to)
 * @sums: to be given to host_task_sums_free() in any case
 *
 * Return: 0 or -ENOMEM.
 */
int host_task_sums_make(struct host_task_sums *sums, const struct host_tasks *tasks,
			const struct virt_model *model, int64_t from_ns, int64_t to_ns);
void host_task_sums_free(struct host_task_sums *sums);

/** host_task_wait_ns - how long a task waited for a pCPU */
static inline int64_t host_task_wait_ns(const struct host_task_sum *sum)
{
	return sum->ns[VIRT_LIFE_PREEMPTED] + sum->ns[VIRT_LIFE_WAKING];
}

/**
 * host_task_unknown_ns - how long [from, to) does not show what a task did
 *
 * In a trace that contradicts itself, a task is on two pCPUs at once: then it is 0.
 */
int64_t host_task_unknown_ns(const struct host_task_sum *sum, int64_t from_ns, int64_t to_ns);

/** host_task_machine - the machine whose vCPU or thread a task is; or VIRT_NONE */
int32_t host_task_machine(const struct virt_model *model, int32_t pid);

/** host_task_kind - "vCPU", "iothread" ... of a machine's thread; NULL: it is none's */
const char *host_task_kind(const struct virt_model *model, int32_t pid);

#ifdef __cplusplus
}
#endif
#endif
