/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_why.h
 * @brief	Why the time of a vCPU or a pCPU went where it went: a tree of causes.
 *
 * A window is cut into segments, each with what the vCPU did and why; a segment has others below
 * it which tell more: who had the pCPU that it waited for, what the vCPU did that woke it. All of
 * it is what the model tells; what that does not tell is a segment, too: VIRT_WHY_UNEXPLAINED.
 *
 * Laws: the uppermost segments fill the window; those below a segment lie within it, in order, and
 * do not overlap, but need not fill it; nothing is below one that is unexplained.
 */
#ifndef KSHARK_VIRT_VIRT_WHY_H
#define KSHARK_VIRT_VIRT_WHY_H

#include <sys/types.h>

#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a segment is: a state of a vCPU, with the numbers of enum virt_state, or who has a pCPU. */
enum virt_why_kind {
	VIRT_WHY_GUEST = VIRT_GUEST,
	VIRT_WHY_HYPERVISOR = VIRT_HYPERVISOR,
	VIRT_WHY_VMM = VIRT_VMM,
	VIRT_WHY_PREEMPTED = VIRT_PREEMPTED,
	VIRT_WHY_WAKING = VIRT_WAKING,
	VIRT_WHY_BLOCKED = VIRT_BLOCKED,
	VIRT_WHY_OFFLINE = VIRT_OFFLINE,
	VIRT_WHY_UNEXPLAINED = VIRT_UNKNOWN,
	VIRT_WHY_VCPU,			/* a vCPU has the pCPU */
	VIRT_WHY_TASK,			/* a task of the host has it */
	VIRT_WHY_IDLE,			/* nobody has it */
	VIRT_WHY_HANDLER,		/* a handler of the host interrupts the vCPU, on its pCPU */
	VIRT_WHY_SLEEP,			/* and so the pCPU sleeps, in an idle state */
	VIRT_WHY_N_KINDS
};

enum virt_why_cause {
	VIRT_WHY_RUNS = 0,		/* guest code, or has the pCPU: there is no more to it */
	VIRT_WHY_NESTED,		/* the code of a guest of the guest */
	VIRT_WHY_EXIT,			/* a VM exit, @reason */
	VIRT_WHY_PCPU,			/* waits for a pCPU, which @who had longest */
	VIRT_WHY_WAKE,			/* waits for what ended it, @wake */
	VIRT_WHY_HANDLES,		/* @handler does */
	VIRT_WHY_SLEEPS,		/* in @idle_state, whoever is woken waits for its end */
	VIRT_WHY_ABSENT,		/* paused, not yet created, destroyed */
	/* of what is unexplained: */
	VIRT_WHY_LOST,			/* records are missing */
	VIRT_WHY_UNTOLD,		/* the trace does not tell */
	VIRT_WHY_UNSPLIT,		/* nor who had a pCPU, see VIRT_INTERVAL_UNSPLIT */
	VIRT_WHY_LEFT_IDLE,		/* preempted, and nobody had the pCPU */
	VIRT_WHY_OPEN,			/* the trace ends before */
	VIRT_WHY_N_CAUSES
};

enum virt_why_flag {
	VIRT_WHY_BEGINS = 1 << 0,	/* it begins where the segment does, in the trace */
	VIRT_WHY_ENDS = 1 << 1,		/* it ends where the segment does, in the trace */
	VIRT_WHY_UNASKED = 1 << 2,	/* the guest did not ask for this wait: it is for the answer
					 * to a VM exit, of @reason if that is known */
	VIRT_WHY_CUT = 1 << 3,		/* what @who did meanwhile is told above, or too deep */
	VIRT_WHY_WITH_WAITS = 1 << 4,	/* waits in it are not told apart */
};

/** Levels of segments, at most. */
#define VIRT_WHY_LEVELS		8

struct virt_why_segment {
	int64_t		from_ns, to_ns;
	int32_t		subject;	/* whose time it is: a vCPU, a task; or VIRT_NONE: of a pCPU
					 * which nobody has */
	int32_t		who;		/* another one, see enum virt_why_cause; or VIRT_NONE */
	int32_t		reason;		/* virt_model_reason(); or VIRT_NONE */
	int32_t		wake;		/* virt_model_wake(); or VIRT_NONE */
	int32_t		handler;	/* virt_model_handler(); or VIRT_NONE */
	int32_t		idle_state;	/* see virt_power.h; or VIRT_NONE */
	int64_t		sleeps_ns;	/* VIRT_WHY_SLEEP: how long it sleeps altogether */
	uint32_t	n_below;	/* so many that follow are below it, at any level */
	int16_t		pcpu;		/* where, or which one is waited for; or VIRT_NONE */
	uint8_t		kind;		/* enum virt_why_kind */
	uint8_t		cause;		/* enum virt_why_cause */
	uint8_t		level;		/* 0: uppermost */
	uint8_t		flags;		/* enum virt_why_flag */
};

/** The tree, each segment before those below it. */
struct virt_why {
	int64_t			from_ns, to_ns;
	int64_t			unexplained_ns;	/* in segments that are so, at any level */
	struct virt_why_segment	*segments;
	size_t			n;
};

/**
 * virt_why_vcpu, virt_why_pcpu - why a window of a vCPU, or of a pCPU, was as it was
 * @limit: segments, at most
 *
 * The window is cut to the trace. In O(segments * log n).
 *
 * Return: 0, and @why to be given to virt_why_free(); -ENOMEM; -E2BIG: there are more than @limit;
 * -EINVAL: there is no such vCPU or pCPU, or nothing of the trace in the window.
 */
int virt_why_vcpu(const struct virt_model *model, int32_t vcpu, int64_t from_ns, int64_t to_ns,
		  size_t limit, struct virt_why *why);
int virt_why_pcpu(const struct virt_model *model, int32_t pcpu, int64_t from_ns, int64_t to_ns,
		  size_t limit, struct virt_why *why);
void virt_why_free(struct virt_why *why);

/** virt_why_kind_name, virt_why_cause_name - as in reports and in JSON; or NULL. */
const char *virt_why_kind_name(enum virt_why_kind kind);
const char *virt_why_cause_name(enum virt_why_cause cause);

/** virt_why_cause_of - the same of a segment: the exit's reason, what ended the wait ... */
const char *virt_why_cause_of(const struct virt_model *model,
			      const struct virt_why_segment *segment);

/* ---- what to ask for ---- */

/** What can be among the worst: moments of virt_worst.h, and waits. */
enum virt_why_moment_kind {
	VIRT_WHY_M_WAKE = 0,
	VIRT_WHY_M_STEAL,
	VIRT_WHY_M_EXIT,
	VIRT_WHY_M_BLOCKED,		/* BLOCKED without interruption */
	VIRT_WHY_M_N_KINDS
};

/** A moment that needs an explanation. */
struct virt_why_moment {
	int64_t		from_ns, to_ns;
	int64_t		cost_ns;
	int32_t		vcpu;
	uint8_t		kind;		/* enum virt_why_moment_kind */
};

/** virt_why_moment_name - "wake", "steal", "exit", "blocked"; or NULL. */
const char *virt_why_moment_name(enum virt_why_moment_kind kind);

/**
 * virt_why_worst - the costliest moments that begin in a window, costliest first
 * @kinds: set of 1 << enum virt_why_moment_kind
 * @of: vCPUs, @n_of of them; NULL: all
 * @moments: receives at most @n
 *
 * In O(intervals). Return: how many there are, or -ENOMEM.
 */
ssize_t virt_why_worst(const struct virt_model *model, int64_t from_ns, int64_t to_ns,
		       unsigned int kinds, const int32_t *of, size_t n_of,
		       struct virt_why_moment *moments, size_t n);

/**
 * virt_why_at - the stretch in a state that a vCPU is in at a time
 *
 * Return: false if that is outside of the trace.
 */
bool virt_why_at(const struct virt_model *model, int32_t vcpu, int64_t time_ns, int64_t *from_ns,
		 int64_t *to_ns);

#ifdef __cplusplus
}
#endif
#endif
