/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	hyper_guest.h
 * @brief	A guest by its own reports: the tasks on its CPUs, and slices with begin and end.
 *
 * The guest is filled once, with the events of all of its CPUs in order of time. Then it never
 * changes, and any number of threads may read it. Times are ns on the axis of the code that fills
 * it, which is the host's.
 *
 * Every report of a guest is a claim. Impossible reports are counted, with the place of the first
 * one. Slices and runs that were open then, and are in doubt, have no known end: nothing is
 * guessed. Earlier reports that are beyond doubt stay.
 */
#ifndef KSHARK_VIRT_HYPER_GUEST_H
#define KSHARK_VIRT_HYPER_GUEST_H

#include "hyper_dialect.h"

#ifdef __cplusplus
extern "C" {
#endif

/** No task is known, no slice is around it. */
#define HYPER_NONE	(-1)

/** Slices within each other: one that no Linux has nests deeper (hyper_dialect.c's depths). */
#define HYPER_MAX_DEPTH	1024

/** CPUs of a guest, as many as the model has vCPUs. */
#define HYPER_MAX_CPUS	400000

/** What is not known of a slice or a run. */
enum hyper_flags {
	HYPER_NO_END = 1,	/* it is not known when it ended: it did not before @end_ns */
};

/** Who had a CPU of the guest; those of a CPU follow each other without a gap. */
struct hyper_run {
	int64_t		start_ns, end_ns;
	int32_t		cpu;		/* from 0, as given to hyper_guest_take() */
	int32_t		pid;		/* 0: idle; HYPER_NONE: not known */
	uint8_t		flags;		/* HYPER_NO_END: from when on it was another is not known */
};

/** What went on from an entry to an exit; of a boot, what lasted until the next of its kind. */
struct hyper_slice {
	int64_t		start_ns, end_ns;
	uint64_t	what;		/* address, or number; of HYPER_PHASE nothing */
	int64_t		value;		/* what the exit says; see @has_value */
	const char	*label;		/* of the event that began it: the dialect's */
	int32_t		cpu;		/* on which it began */
	int32_t		pid;		/* whose; HYPER_NONE: not known, or no task's */
	int32_t		parent;		/* slice around it, of the same kind; or HYPER_NONE */
	int32_t		name;		/* hyper_guest_name(); or HYPER_NONE */
	uint16_t	depth;		/* slices of its kind around it that are known */
	uint8_t		kind;		/* enum hyper_kind: below HYPER_N_SLICES, or HYPER_PHASE */
	uint8_t		flags;		/* enum hyper_flags */
	bool		has_value;
};

struct hyper_task {
	int32_t		pid;		/* 0: the idle tasks of all CPUs */
	int32_t		tgid;		/* or HYPER_NONE */
	char		comm[HYPER_NAME_SIZE]; /* the last one known; or "" */
};

/** What cannot be, or is missing. */
enum hyper_trouble {
	HYPER_T_ALONE = 0,	/* an exit, and nothing is open: its entry is missing, or before */
	HYPER_T_OTHER,		/* an exit of another than what is open */
	HYPER_T_DEPTH,		/* a depth that does not follow from what is open, or no end */
	HYPER_T_SWITCH,		/* another task leaves the CPU than had it */
	HYPER_T_TWICE,		/* a task comes to a CPU while it has another one */
	HYPER_T_BACK,		/* it lies before earlier reports, or after its call */
	HYPER_T_CLOCK,		/* it lies before its call, by an unknown time */
	HYPER_T_CPU,		/* the guest says another CPU than its vCPU's number */
	HYPER_T_LOST,		/* the guest says that it could not send events */
	HYPER_T_HOST,		/* records of the host are missing */
	HYPER_N_TROUBLES
};

struct hyper_trouble_count {
	uint64_t	count;
	int64_t		first_ns;
	int32_t		first_cpu;
};

struct hyper_guest;

/* --- filling --------------------------------------------------------------------------------- */

/**
 * hyper_guest_new - an empty one of @n_cpus CPUs
 * @numbers: what the CPUs are called, their vCPUs' numbers; are copied
 *
 * Return: NULL without memory.
 */
struct hyper_guest *hyper_guest_new(int32_t n_cpus, const int32_t *numbers);
void hyper_guest_free(struct hyper_guest *guest);

/**
 * hyper_guest_take - the next event, in order of time over all CPUs
 * @call_ns: when its call was recorded; the event lies before it by its own age, and at the time of
 * the last event if that is impossible
 *
 * Return: 0, -ENOMEM, or -EINVAL: there is no such CPU.
 */
int hyper_guest_take(struct hyper_guest *guest, int32_t cpu, int64_t call_ns,
		     const struct hyper_event *event);

/**
 * hyper_guest_seen - a record of the guest's own trace: a task has a CPU, however it came there
 *
 * Return: as hyper_guest_take().
 */
int hyper_guest_seen(struct hyper_guest *guest, int32_t cpu, int64_t time_ns, int32_t pid);

/**
 * hyper_guest_lost - from @time_ns on, and again until it, the host shows nothing of a CPU
 *
 * To be called at both ends of such a stretch, in order of time with the events. A task that is not
 * known to have another CPU may have done anything there.
 *
 * Return: as hyper_guest_take().
 */
int hyper_guest_lost(struct hyper_guest *guest, int32_t cpu, int64_t time_ns, bool begins);

/** hyper_guest_now - when the last event happened, as it was taken; or how far it went on. */
int64_t hyper_guest_now(const struct hyper_guest *guest);

/** hyper_guest_finish - the trace ends at @end_ns. Return: 0 or -ENOMEM. */
int hyper_guest_finish(struct hyper_guest *guest, int64_t end_ns);

/* --- asking ---------------------------------------------------------------------------------- */

/** hyper_guest_runs - of a CPU, in order of time. */
const struct hyper_run *hyper_guest_runs(const struct hyper_guest *guest, int32_t cpu, size_t *n);

/** hyper_guest_task_runs - of a task, on all CPUs in order of time; idle, by CPU. */
const struct hyper_run *const *hyper_guest_task_runs(const struct hyper_guest *guest, int32_t pid,
						     size_t *n);

/** hyper_guest_slices - all, in the order in which they began. */
const struct hyper_slice *hyper_guest_slices(const struct hyper_guest *guest, size_t *n);

/** hyper_guest_tasks - all, in order of appearance. */
const struct hyper_task *hyper_guest_tasks(const struct hyper_guest *guest, size_t *n);

/** hyper_guest_task - one of them; or NULL. */
const struct hyper_task *hyper_guest_task(const struct hyper_guest *guest, int32_t pid);

/** hyper_guest_name - the name of a slice; or NULL. */
const char *hyper_guest_name(const struct hyper_guest *guest, int32_t name);

/** hyper_guest_trouble - how often something could not be. */
const struct hyper_trouble_count *hyper_guest_trouble(const struct hyper_guest *guest,
						      enum hyper_trouble trouble);

/** hyper_trouble_text - what it is, in words: "exits without an entry" ... */
const char *hyper_trouble_text(enum hyper_trouble trouble);

/** Time of the vCPU that a CPU is, of some kind, within [from, to). */
typedef int64_t (*hyper_time_fn)(void *arg, int32_t cpu, int64_t from_ns, int64_t to_ns);

struct hyper_sums;

/**
 * hyper_sums_new - add up how long each task had CPUs
 * @guest: filled, and stays; so does @arg
 * @time: what counts of that time, additive; NULL: all
 *
 * It is asked about each run once.
 *
 * Return: to be given to hyper_sums_free(); NULL without memory.
 */
struct hyper_sums *hyper_sums_new(const struct hyper_guest *guest, hyper_time_fn time, void *arg);
void hyper_sums_free(struct hyper_sums *sums);

/**
 * hyper_sums_slice_ns - how long a slice had a CPU
 *
 * What a task does counts while the task has a CPU, if switches show it; all else from begin
 * to end on the CPU where it began. In O(log runs), and two questions to @time.
 */
int64_t hyper_sums_slice_ns(const struct hyper_sums *sums, const struct hyper_slice *slice);

/** hyper_is_of_task - is that something that a task does, so that it stops when that is out? */
bool hyper_is_of_task(enum hyper_kind kind);

#ifdef __cplusplus
}
#endif
#endif
