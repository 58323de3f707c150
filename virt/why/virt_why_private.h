/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_why_private.h
 * @brief	Inside a "why": functions that make the tree, and the walks that call each other.
 */
#ifndef KSHARK_VIRT_VIRT_WHY_PRIVATE_H
#define KSHARK_VIRT_VIRT_WHY_PRIVATE_H

#include <sys/types.h>

#include "virt_why.h"

struct walk {
	const struct virt_model	*model;
	const struct virt_guests *guests;
	struct virt_why		*why;
	size_t			room, limit;
	int			error;
	int64_t			begin_ns, end_ns;	/* of the trace */
	int			level;
	bool			shallow;	/* only the uppermost segments are wanted */
	int32_t			path[VIRT_WHY_LEVELS];	/* whose time the levels above are */
};

/* --- the tree: virt_why_tree.c --------------------------------------------------------------- */

/** why_begin, why_end - of a walk. Return: 0; -EINVAL: nothing of the trace is there; its error. */
int why_begin(struct walk *walk, const struct virt_model *model, const struct virt_guests *guests,
	      int64_t from_ns, int64_t to_ns, size_t limit, struct virt_why *why);
int why_end(struct walk *walk);

/** why_segment_at - one that has nothing to it yet but where it is. */
struct virt_why_segment why_segment_at(int32_t subject, enum virt_why_kind kind, int64_t from_ns,
				       int64_t to_ns, int16_t pcpu);

/** why_add - Return: its index, or -1 after an error. */
ssize_t why_add(struct walk *walk, const struct virt_why_segment *segment);

/** why_down, why_up - what is added between them is on the next level. */
void why_down(struct walk *walk);
void why_up(struct walk *walk);

/** why_end_below - what follows segment @at is not below it any more. */
void why_end_below(struct walk *walk, size_t at);

/** why_add_unexplained - a part of segment @at that nothing explains; all of it. */
void why_add_unexplained(struct walk *walk, size_t at, int64_t from_ns, int64_t to_ns,
			 enum virt_why_cause cause);
void why_leave_unexplained(struct walk *walk, size_t at, enum virt_why_cause cause);

/** why_unknown - why the trace of the host shows nothing of a time. */
enum virt_why_cause why_unknown(const struct virt_model *model, int64_t from_ns, int64_t to_ns);

/** why_find_culprit - the @who of segment @at, the last: who has most of what is below it. */
void why_find_culprit(struct walk *walk, size_t at);

/** why_can_go_down - is there room for two more levels, and is @who on none of those above? */
bool why_can_go_down(const struct walk *walk, int32_t who);

/** why_host_task - the guests' host's own task, by the model's number of it; or NULL. */
const struct virt_guest_task *why_host_task(const struct virt_guests *guests,
					    const struct virt_model *model, int32_t number);

/** why_task - a task of a guest or of the host; @guest: receives whose, -1: the host's; or NULL. */
const struct virt_guest_task *why_task(const struct virt_guests *guests,
				       const struct virt_model *model, int32_t number, int *guest);

/* --- the walks ------------------------------------------------------------------------------- */

/**
 * why_walk_vcpu - what a vCPU did
 * @task: of its guest, which has it all the time; VIRT_NONE: that is to be found
 */
void why_walk_vcpu(struct walk *walk, int32_t vcpu, int32_t task, int64_t from_ns, int64_t to_ns);

/**
 * why_follow - what the one that ended the wait in segment @at did during it
 * @who: a vCPU, a task of a guest, or one of the host
 * @woken_ns: of a vCPU that ended it on purpose: when; it is its guest's task that had it then that
 * is followed, if that is known. INT64_MIN: of one that only took an interrupt
 *
 * If it is above already, or would be too deep, the segment is VIRT_WHY_CUT.
 */
void why_follow(struct walk *walk, size_t at, int32_t who, int64_t woken_ns);

/** why_add_culprits - who has the pCPU that segment @at waits for, during that time. */
void why_add_culprits(struct walk *walk, size_t at, int16_t pcpu, int64_t from_ns, int64_t to_ns);

/** why_walk_task - what a task of a guest did, or one of the host: virt_why_task.c */
void why_walk_task(struct walk *walk, int32_t task, int64_t from_ns, int64_t to_ns);

/**
 * why_waker_of - who has woken a task, as its trace calls it by its pid
 * @guest: index; -1: the host, on which it is a vCPU or a task
 */
int32_t why_waker_of(const struct walk *walk, int guest, int32_t pid);

/**
 * why_name_lock - the lock that segment @at waits for without a CPU, by its trace
 * @guest: index; -1: the host
 */
void why_name_lock(struct walk *walk, size_t at, int guest, int32_t pid);

/** why_add_spins - below segment @at, in which a task has CPU @cpu: its waits for locks there. */
void why_add_spins(struct walk *walk, size_t at, int guest, int32_t pid, int cpu);
void why_add_vcpu_spins(struct walk *walk, size_t at);

/**
 * why_name_hold - the lock that a task has in a segment, while others wait for it
 * @cpu: of the guest, that the task has; VIRT_NONE: it has none
 */
void why_name_hold(const struct walk *walk, struct virt_why_segment *segment, int guest,
		   int32_t pid, int cpu);
void why_name_vcpu_hold(const struct walk *walk, struct virt_why_segment *segment);

/** why_add_tasks - below segment @at: which tasks of its guest a vCPU has there. */
void why_add_tasks(struct walk *walk, size_t at, int32_t vcpu);

#endif
