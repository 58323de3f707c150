/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	hyper_private.h
 * @brief	Inside a guest: its CPUs, tasks and stacks while it is filled.
 */
#ifndef KSHARK_VIRT_HYPER_PRIVATE_H
#define KSHARK_VIRT_HYPER_PRIVATE_H

#include "hyper_guest.h"
#include "key_map.h"

/** What is known of a task while events are taken. */
struct hyper_task_state {
	int32_t		cpu;		/* that it has; or HYPER_NONE */
	uint32_t	doubts;		/* how many there were when it left the last one */
};

/** A CPU while events are taken. */
struct hyper_cpu {
	struct hyper_run *runs;
	size_t		n_runs, room;
	int32_t		number;
	int64_t		packed_ns[3];	/* its last calls with events before them, last first */
	bool		lost;		/* the host shows nothing of it now */
};

/** Slices of one kind, of one task, CPU or machine, that have not ended. */
struct hyper_stack {
	uint32_t	*open;		/* numbers of slices, the innermost last */
	uint32_t	n, room;
};

struct hyper_guest {
	struct hyper_cpu *cpus;
	int32_t		n_cpus;
	struct hyper_slice *slices;
	size_t		n_slices, slices_room;
	struct key_map	stack_map;	/* whose */
	struct hyper_stack *stacks;
	uint32_t	stacks_room;
	struct key_map	task_map;	/* pid */
	struct hyper_task *tasks;
	struct hyper_task_state *states; /* along @tasks */
	uint32_t	tasks_room, states_room;
	/*
	 * Times from which on a task that had no CPU may have done anything, as what a CPU did is
	 * unknown. Tasks look only when they come back: of many, each would else be looked at
	 * each time.
	 */
	int64_t		*doubts;
	uint32_t	n_doubts, doubts_room;
	int32_t		n_lost;		/* CPUs that are lost */
	int64_t		last_ns;	/* of the last event */
	char		(*names)[HYPER_NAME_SIZE];
	size_t		n_names, names_room;
	const struct hyper_run **by_task; /* by pid, of each in order of time */
	size_t		n_runs;
	struct hyper_trouble_count troubles[HYPER_N_TROUBLES];
};

/** hyper_stack_of - the stack that an event on a CPU belongs to. Return: NULL without memory. */
struct hyper_stack *hyper_stack_of(struct hyper_guest *guest, enum hyper_kind kind, int32_t cpu);

/** hyper_stack_cut - what is open has no known end: it was still open at @time_ns. */
void hyper_stack_cut(struct hyper_guest *guest, struct hyper_stack *stack, int64_t time_ns);

/** hyper_stacks_cut_cpu - the same of what goes on on a CPU: of it and of the task that has it. */
void hyper_stacks_cut_cpu(struct hyper_guest *guest, int32_t cpu, int64_t time_ns);

/** hyper_stacks_cut_task - the same of what a task does. */
void hyper_stacks_cut_task(struct hyper_guest *guest, int32_t pid, int64_t time_ns);

/** hyper_stacks_cut_machine - the same of what the whole machine does: levels, phases. */
void hyper_stacks_cut_machine(struct hyper_guest *guest, int64_t time_ns);

/** hyper_stacks_end - what is open at the end: of tasks without a CPU, since the first doubt. */
void hyper_stacks_end(struct hyper_guest *guest, int64_t end_ns);

/** hyper_slice_take - an entry, an exit, or what lasts until the next. Return: 0 or -ENOMEM. */
int hyper_slice_take(struct hyper_guest *guest, int32_t cpu, int64_t time_ns,
		     const struct hyper_event *event);

/** hyper_count - count what cannot be. */
void hyper_count(struct hyper_guest *guest, enum hyper_trouble trouble, int32_t cpu,
		 int64_t time_ns);

/** hyper_pid_on - who has a CPU; HYPER_NONE: not known. */
int32_t hyper_pid_on(const struct hyper_guest *guest, int32_t cpu);

#endif
