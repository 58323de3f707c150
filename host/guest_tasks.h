/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	guest_tasks.h
 * @brief	Find the tasks that had the CPUs of a guest in its own trace, and their real time.
 *
 * Times are ns on the axis of the host's model. A guest believes that a task has its CPU until the
 * next one is switched in. Only the host knows how much of this time the vCPU executed the guest,
 * and on which pCPU.
 */
#ifndef KSHARK_VIRT_GUEST_TASKS_H
#define KSHARK_VIRT_GUEST_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest_cgroups.h"
#include "host_trace.h"
#include "kvm_trace.h"
#include "virt_guest.h"
#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Room for a task's name: its command, cut, and its pid. */
#define GUEST_TASK_NAME	64
/** The same with the guest's guest that it is of. */
#define GUEST_TASK_FULL_NAME	(2 * GUEST_TASK_NAME)

struct guest_clock;

/** A CPU while its records go by. */
struct guest_task_cpu {
	int64_t		last_ns;
	int32_t		left;		/* who may still write records after a switch */
	bool		begun;		/* who has it is known */
	bool		switched;	/* since then, there was a switch */
};

/** All zero is none. */
struct guest_tasks {
	struct kvm_trace	*trace;	/* for the names of tasks; stays its owner's. Or NULL: */
	const char		*(*comm)(const void *arg, int32_t pid); /* NULL: not known */
	const void		*arg;
	struct virt_guest_cpu	*cpus;	/* one of no known vCPU has no runs */
	int			n_cpus;
	struct kvm_trace	**inner;	/* of guest_tasks_nest() */
	int			n_inner, room_inner;
	struct guest_cgroups	cgroups; /* of its own tasks */
	/* private, while records go by */
	int			cpu;	/* of the last one; -1: none */
	struct guest_task_cpu	one;	/* that CPU */
	struct guest_task_cpu	*each;	/* of guest_tasks_init_live(): all CPUs, and not @one */
};

/**
 * guest_tasks_init - get ready for the records of a guest
 * @trace: of the guest, aligned with its host; stays
 * @model: of the host
 * @tids: of guest_tasks_tids(), @n of them
 * @tasks: receives it; to be given to guest_tasks_free() in any case
 *
 * Return: 0 or -ENOMEM.
 */
int guest_tasks_init(struct guest_tasks *tasks, const struct virt_model *model,
		     struct kvm_trace *trace, const int *tids, int n);

/** guest_tasks_init_live - the same for records of all CPUs in order of time, which do not end */
int guest_tasks_init_live(struct guest_tasks *tasks, int n_cpus);
void guest_tasks_free(struct guest_tasks *tasks);

/** guest_tasks_tids - which threads of the host are the CPUs. Return: NULL, or @n of them. */
const int *guest_tasks_tids(const struct host_trace *host, struct kvm_trace *trace, int *n);

/** guest_tasks_time - when a record of the guest was, on the axis of the host's model. */
int64_t guest_tasks_time(const struct host_trace *host, int64_t time_ns);

/**
 * guest_tasks_take - the next record of the guest, CPU by CPU or as guest_tasks_init_live() has it
 * @time_ns: guest_tasks_time()
 *
 * Return: 0 or -ENOMEM.
 */
int guest_tasks_take(struct guest_tasks *tasks, const struct kvm_trace_record *record,
		     int64_t time_ns);

/** guest_tasks_lost - who had a CPU while its records were lost is not known. 0 or -ENOMEM. */
int guest_tasks_lost(struct guest_tasks *tasks, int cpu);

/** guest_tasks_end - all has gone by. Return: 0 or -ENOMEM. */
int guest_tasks_end(struct guest_tasks *tasks);

/**
 * guest_tasks_read - all of that, of a trace of which nothing else is wanted
 * @clock: of the trace: a CPU whose clock or vCPU is wrong has no runs, as one of no known vCPU
 *
 * Return: 0 or -ENOMEM.
 */
int guest_tasks_read(struct guest_tasks *tasks, const struct host_trace *host,
		     const struct virt_model *model, const struct guest_clock *clock);

/** guest_tasks_know_all - each CPU is one of itself: of a guest of the guest, or of a host. */
void guest_tasks_know_all(struct guest_tasks *tasks);

/**
 * guest_tasks_nest - put a nested guest's tasks in the place of the threads that are its CPUs
 * @tasks: read; their runs are divided where the other's trace shows its tasks
 * @trace: of the guest's guest, aligned with the guest, whose times are the host's; stays
 * @tids: threads of the guest that are its CPUs, @n of them; NULL: none is known
 *
 * A task of it gets a pid that no task has; see the following functions. 0 or -ENOMEM.
 */
int guest_tasks_nest(struct guest_tasks *tasks, const struct virt_model *model,
		     struct kvm_trace *trace, const int *tids, int n);

/** guest_tasks_inside - of which guest's guest such a task is; NULL: of the guest itself. */
const struct kvm_trace *guest_tasks_inside(const struct guest_tasks *tasks, int32_t pid);

/** guest_tasks_called - what a guest's guest is called, by the names of both files: "n1". */
void guest_tasks_called(char *text, size_t size, const struct kvm_trace *inside,
			const struct kvm_trace *guest);

/** guest_tasks_pid - the pid that it has there. */
int32_t guest_tasks_pid(int32_t pid);

/** guest_tasks_name - as guest_task_name(); "n1: sh-120" of a guest's guest. */
void guest_tasks_name(char *text, size_t size, const struct guest_tasks *tasks, int32_t pid);

/** guest_task_name - "nginx-412", "idle"; not escaped */
void guest_task_name(char *text, size_t size, const struct kvm_trace *trace, int32_t pid);

/* --- sums ------------------------------------------------------------------------------------ */

/** On a pCPU. */
struct guest_task_place {
	int32_t		pcpu;		/* VIRT_NONE: not known */
	int64_t		ns;		/* that the vCPU executed the guest there */
};

/** A task in a window. */
struct guest_task_sum {
	int32_t		pid;		/* 0: idle, of all CPUs */
	uint64_t	runs;		/* switches to it in the window; of a cgroup, those to
					 * tasks that are in it by then */
	int64_t		believed_ns;	/* time that it had a CPU, as the guest sees it */
	int64_t		ns[VIRT_N_STATES]; /* what its vCPU did in that time */
	struct guest_task_place *places; /* longest first; their sum is that of VIRT_GUEST, of a
					 * host's tasks that of @believed_ns */
	size_t		n_places, room_places;
};

struct guest_task_sums {
	struct guest_task_sum *all;	/* most believed time first */
	size_t		n;
};

/**
 * guest_task_sums_make - add up [from, to)
 * @tasks: CPUs of no vCPU are the host's own; their tasks have no states
 * @sums: to be given to guest_task_sums_free() in any case
 *
 * In O(runs + intervals) of the window. Return: 0 or -ENOMEM.
 */
int guest_task_sums_make(struct guest_task_sums *sums, const struct guest_tasks *tasks,
			 const struct virt_model *model, int64_t from_ns, int64_t to_ns);
void guest_task_sums_free(struct guest_task_sums *sums);

/**
 * guest_cgroup_sums_make - the same by cgroups: instead of a task's pid, the number of one
 *
 * Of a task that enters another cgroup, its time is divided there. VIRT_NONE: of tasks of which it
 * is not known. The idle task is none. There are no sums if no cgroup is known.
 */
int guest_cgroup_sums_make(struct guest_task_sums *sums, const struct guest_tasks *tasks,
			   const struct virt_model *model, int64_t from_ns, int64_t to_ns);

#ifdef __cplusplus
}
#endif
#endif
