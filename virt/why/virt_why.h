/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_why.h
 * @brief	Explain the time of a vCPU, pCPU or guest's task: a tree of causes.
 *
 * A window is cut into segments, each with the state of the vCPU and its cause. Segments below a
 * segment show details: the occupants of the pCPU that the vCPU waited for, the activity of the
 * vCPU that woke it. All facts come from the model, and from the guests' own traces of their tasks.
 * Time without such facts is a segment, too: VIRT_WHY_UNEXPLAINED.
 *
 * While a task has a CPU of its guest, its segments are those of its vCPU. While it has none, they
 * are its own: the states of a vCPU fit a task as well. A task is preempted by another task, waking
 * while it waits for the guest's CPU, and blocked until a task or interrupt wakes it.
 *
 * Laws: the uppermost segments fill the window; those below a segment lie within it, in order, and
 * do not overlap, but need not fill it; nothing is below one that is unexplained.
 */
#ifndef KSHARK_VIRT_VIRT_WHY_H
#define KSHARK_VIRT_VIRT_WHY_H

#include <sys/types.h>

#include "virt_guest.h"
#include "virt_limits.h"
#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What a segment is: a state of a vCPU, with the numbers of enum virt_state, or who has a pCPU;
 * with @vcpu, a state of a guest's task, or which task has the vCPU.
 */
enum virt_why_kind {
	VIRT_WHY_GUEST = VIRT_GUEST,
	VIRT_WHY_HYPERVISOR = VIRT_HYPERVISOR,
	VIRT_WHY_POLLING = VIRT_POLLING,
	VIRT_WHY_VMM = VIRT_VMM,
	VIRT_WHY_PREEMPTED = VIRT_PREEMPTED,
	VIRT_WHY_WAKING = VIRT_WAKING,
	VIRT_WHY_BLOCKED = VIRT_BLOCKED,
	VIRT_WHY_DEVICE_MODEL = VIRT_DEVICE_MODEL,
	VIRT_WHY_OFFLINE = VIRT_OFFLINE,
	VIRT_WHY_UNEXPLAINED = VIRT_UNKNOWN,
	VIRT_WHY_VCPU,			/* a vCPU has the pCPU */
	VIRT_WHY_TASK,			/* a task of the host has it */
	VIRT_WHY_IDLE,			/* it is idle */
	VIRT_WHY_HANDLER,		/* a handler of the host interrupts the vCPU, on its pCPU */
	VIRT_WHY_SLEEP,			/* and so the pCPU sleeps, in an idle state */
	VIRT_WHY_LOCK,			/* a task executes, and waits for @lock */
	VIRT_WHY_N_KINDS
};

enum virt_why_cause {
	VIRT_WHY_RUNS = 0,		/* guest code, or has the pCPU: there is no more to it */
	VIRT_WHY_NESTED,		/* the code of a guest of the guest */
	VIRT_WHY_EXIT,			/* a VM exit, @reason */
	VIRT_WHY_POLLS,			/* wants nothing, the hypervisor polls for an event */
	VIRT_WHY_PCPU,			/* waits for a pCPU, which @who had longest */
	VIRT_WHY_GUEST_CPU,		/* waits for @vcpu, of its guest, which @who had longest */
	VIRT_WHY_WAKE,			/* waits for what ended it, @wake */
	VIRT_WHY_HANDLES,		/* @handler does */
	VIRT_WHY_SLEEPS,		/* in @idle_state, a woken vCPU waits for its end */
	VIRT_WHY_SPINS,			/* waits for @lock, which @lock_holder has */
	VIRT_WHY_ABSENT,		/* paused, not yet created, destroyed */
	VIRT_WHY_SIGNAL,		/* a signal or a debugger has stopped its thread */
	VIRT_WHY_ANSWER,		/* its device model works for it (Xen) */
	VIRT_WHY_LIMIT,			/* offline: its machine has used up its cap (Xen) */
	/* of what is unexplained: */
	VIRT_WHY_LOST,			/* records are missing */
	VIRT_WHY_NOT_SHOWN,		/* the trace does not show it */
	VIRT_WHY_UNSPLIT,		/* nor who had a pCPU, see VIRT_INTERVAL_UNSPLIT */
	VIRT_WHY_LEFT_IDLE,		/* preempted, and the pCPU was idle */
	VIRT_WHY_OPEN,			/* the trace ends before */
	VIRT_WHY_N_CAUSES
};

enum virt_why_flag {
	VIRT_WHY_BEGINS = 1 << 0,	/* it begins where the segment does, in the trace */
	VIRT_WHY_ENDS = 1 << 1,		/* it ends where the segment does, in the trace */
	VIRT_WHY_UNASKED = 1 << 2,	/* the guest did not ask for this wait: it is for the answer
					 * to a VM exit, of @reason if that is known */
	VIRT_WHY_CUT = 1 << 3,		/* what @who did then is above, or too deep */
	VIRT_WHY_WITH_WAITS = 1 << 4,	/* waits in it are not separate */
	VIRT_WHY_GUEST_BEGINS = 1 << 5,	/* it begins where the segment does, in the guest's trace */
	VIRT_WHY_GUEST_ENDS = 1 << 6,	/* it ends where the segment does, in the guest's trace */
};

/** Levels of segments, at most. */
#define VIRT_WHY_LEVELS		12

struct virt_why_segment {
	int64_t		from_ns, to_ns;
	int32_t		subject;	/* whose time it is: a vCPU, a task of the host or of a
					 * guest (virt_guests_number()); or VIRT_NONE: of a pCPU
					 * that is idle, or a vCPU with which its guest does
					 * nothing */
	int32_t		who;		/* another one, see enum virt_why_cause; or VIRT_NONE */
	int32_t		vcpu;		/* that a guest's task has, waits for, or is woken on; or
					 * VIRT_NONE */
	int32_t		task;		/* of a vCPU's time: the guest's task that has it; or
					 * VIRT_NONE */
	int32_t		who_task;	/* of @who, if that is a vCPU that woke it: the guest's task
					 * that did; or VIRT_NONE */
	int32_t		reason;		/* virt_model_reason(); or VIRT_NONE */
	int32_t		wake;		/* virt_model_wake(), of a guest's task that of its guest;
					 * or VIRT_NONE */
	int32_t		handler;	/* virt_model_handler(); or VIRT_NONE */
	int32_t		idle_state;	/* see virt_power.h; or VIRT_NONE */
	int64_t		sleeps_ns;	/* VIRT_WHY_SLEEP: how long it sleeps altogether */
	const struct virt_lock_wait *lock;	/* which @lock_waiter waits for: the subject, that
					 * is blocked or executes; or another one, while the
					 * subject is preempted or waking; or NULL */
	int32_t		lock_waiter, lock_holder;	/* the numbers of tasks, or of vCPUs that
					 * are idle or interrupted; or VIRT_NONE */
	uint32_t	n_below;	/* how many of the next are below it, at any level */
	int16_t		pcpu;		/* where, or which one is waited for; or VIRT_NONE */
	uint8_t		kind;		/* enum virt_why_kind */
	uint8_t		cause;		/* enum virt_why_cause */
	uint8_t		level;		/* 0: uppermost */
	uint8_t		flags;		/* enum virt_why_flag */
};

/** The tree, each segment before those below it. */
struct virt_why {
	const struct virt_model	*model;		/* which it refers to; must live as long */
	const struct virt_guests *guests;	/* or NULL */
	int32_t			subject;	/* a vCPU, guest's task; VIRT_NONE: a pCPU's time */
	int64_t			from_ns, to_ns;
	int64_t			unexplained_ns;	/* in segments that are so, at any level */
	struct virt_why_segment	*segments;
	size_t			n;
};

/**
 * virt_why_vcpu, virt_why_pcpu, virt_why_task - why a window of a vCPU, of a pCPU, or of a task of
 * a guest or of the host (@guests->host) was as it was
 * @guests: whose traces are there; NULL: none
 * @limit: segments, at most
 *
 * The window is cut to the trace. In O(segments * log n).
 *
 * Return: 0, and @why to be given to virt_why_free(); -ENOMEM; -E2BIG: there are more than @limit;
 * -EINVAL: there is no such vCPU, pCPU or task, or nothing of the trace in the window.
 */
int virt_why_vcpu(const struct virt_model *model, const struct virt_guests *guests, int32_t vcpu,
		  int64_t from_ns, int64_t to_ns, size_t limit, struct virt_why *why);
int virt_why_pcpu(const struct virt_model *model, const struct virt_guests *guests, int32_t pcpu,
		  int64_t from_ns, int64_t to_ns, size_t limit, struct virt_why *why);
int virt_why_task(const struct virt_model *model, const struct virt_guests *guests, int32_t task,
		  int64_t from_ns, int64_t to_ns, size_t limit, struct virt_why *why);

/**
 * virt_why_path - the same of a vCPU or a guest's task, along the critical path
 * @who: number
 *
 * Back from the end of the window: where a task or vCPU that is known ended a wait, the path is
 * what that one did before, and so on, through guests and host; up to where the wait of @who itself
 * began, and @who goes on from there. So the uppermost segments, which fill the window, are of
 * several vCPUs and tasks: all that had to be done, one after the other, for @who to get on.
 *
 * An interrupt is followed if the vCPU that took it was woken while it was waited for; a timer is
 * not, as it is what was waited for. Return: as the others.
 */
int virt_why_path(const struct virt_model *model, const struct virt_guests *guests, int32_t who,
		  int64_t from_ns, int64_t to_ns, size_t limit, struct virt_why *why);
void virt_why_free(struct virt_why *why);

/** virt_why_kind_name - as in reports and in JSON; or NULL. */
const char *virt_why_kind_name(enum virt_why_kind kind);

/** virt_why_argument_of - what the VM exit is for that a segment is about; NULL: not known */
const char *virt_why_argument_of(const struct virt_why *why,
				 const struct virt_why_segment *segment);

/** virt_why_cause_of - the same of a segment: the exit's reason, what ended the wait ... */
const char *virt_why_cause_of(const struct virt_why *why, const struct virt_why_segment *segment);

/**
 * virt_why_held - how long of a segment, without those below it, the vCPU's own limit held it
 *
 * All zero if the trace does not show that, see virt_model_knows_holds().
 */
struct virt_held virt_why_held(const struct virt_why *why, const struct virt_why_segment *segment);

/** virt_why_who - the name of a vCPU, or a task of host or guest ("web:nginx-412"); or NULL. */
const char *virt_why_who(const struct virt_why *why, int32_t who);

/** virt_why_life_of - whose trace shows a task: its guest, or the host; NULL: none does. */
const struct virt_guest *virt_why_life_of(const struct virt_why *why,
					  const struct virt_why_segment *segment);

/** virt_why_guest_wake - what ended the sleep of a task, by its own trace; NULL: not known. */
const struct virt_life_wake *virt_why_guest_wake(const struct virt_why *why,
						 const struct virt_why_segment *segment);

/** virt_why_guest_of - in which guest's trace GUEST_BEGINS and GUEST_ENDS are; -1: in none */
int virt_why_guest_of(const struct virt_why *why, const struct virt_why_segment *segment);

/* ---- what to ask for ---- */

/** What can be among the worst: moments of virt_worst.h, and waits. */
enum virt_why_moment_kind {
	VIRT_WHY_M_WAKE = 0,
	VIRT_WHY_M_STEAL,
	VIRT_WHY_M_EXIT,
	VIRT_WHY_M_BLOCKED,		/* BLOCKED without interruption */
	VIRT_WHY_M_OFFLINE,
	VIRT_WHY_M_N_KINDS
};

/** A moment that needs an explanation. */
struct virt_why_moment {
	int64_t		from_ns, to_ns;
	int64_t		cost_ns;
	int32_t		subject;	/* a vCPU, or a guest's task */
	uint8_t		kind;		/* enum virt_why_moment_kind */
};

/** virt_why_moment_name - "wake", "steal", "exit", "blocked"; or NULL. */
const char *virt_why_moment_name(enum virt_why_moment_kind kind);

/**
 * virt_why_worst - the costliest moments that begin in a window, costliest first
 * @kinds: set of 1 << enum virt_why_moment_kind
 * @of: vCPUs, @n_of of them; NULL: all
 * @apart: one of each incident, as struct virt_worst_query has it
 * @moments: receives at most @n
 *
 * In O(intervals). Return: how many there are, or -ENOMEM.
 */
ssize_t virt_why_worst(const struct virt_model *model, int64_t from_ns, int64_t to_ns,
		       unsigned int kinds, const int32_t *of, size_t n_of, bool apart,
		       struct virt_why_moment *moments, size_t n);

/**
 * virt_why_worst_of_task - the same of a guest's task
 *
 * WAKE and STEAL are its uppermost segments of these kinds, whether it waited for a CPU of its
 * guest, or its vCPU for one of the host; EXIT goes from a VM exit while it had its vCPU to the
 * next entry, or to where it lost it; BLOCKED are its sleeps. In O(segments of all of its life).
 *
 * Return: as virt_why_worst().
 */
ssize_t virt_why_worst_of_task(const struct virt_model *model, const struct virt_guests *guests,
			       int32_t task, int64_t from_ns, int64_t to_ns, unsigned int kinds,
			       struct virt_why_moment *moments, size_t n);

/**
 * virt_why_at - the stretch in a state that a vCPU is in at a time
 *
 * Return: false if that is outside of the trace.
 */
bool virt_why_at(const struct virt_model *model, int32_t vcpu, int64_t time_ns, int64_t *from_ns,
		 int64_t *to_ns);

/** virt_why_pcpu_at - the time of the one that has a pCPU at a time; false: nothing is known. */
bool virt_why_pcpu_at(const struct virt_model *model, int32_t pcpu, int64_t time_ns,
		      int64_t *from_ns, int64_t *to_ns);

/** virt_why_task_at - virt_why_at() of a guest's task; while it has its vCPU, what that is in. */
bool virt_why_task_at(const struct virt_model *model, const struct virt_guests *guests,
		      int32_t task, int64_t time_ns, int64_t *from_ns, int64_t *to_ns);

#ifdef __cplusplus
}
#endif
#endif
