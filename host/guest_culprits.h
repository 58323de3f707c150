/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	guest_culprits.h
 * @brief	Find the guest tasks that ran on culprits, the vCPUs that had the pCPUs of others.
 *
 * With an open trace of dom0, for example, the result is not just that d0v1 took the pCPU, but
 * that qemu-dm on d0v1 did.
 */
#ifndef KSHARK_VIRT_GUEST_CULPRITS_H
#define KSHARK_VIRT_GUEST_CULPRITS_H

#include "guest_tasks.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Time of a culprit that one task of its guest had; or whose task is unknown. */
struct guest_culprit {
	int32_t		vcpu;		/* the culprit, global index */
	int32_t		guest;		/* index, of whose tasks it is one; VIRT_NONE, @pid too */
	int32_t		pid;		/* 0: idle; VIRT_NONE: the guest's trace does not show it */
	int64_t		ns;
};

/** A guest whose tasks are known. */
struct guest_culprits_guest {
	const struct guest_tasks *tasks;
	const bool	*is_aligned;	/* by CPU: can be believed, as its records lie where its
					 * vCPU executed them */
};

/** What is known of guests, and what was found last. All zero: nothing. */
struct guest_culprits {
	const struct virt_model	*model;
	const struct guest_culprits_guest *guests;
	struct guest_culprit	*all;	/* by @vcpu, most time first; what is not known is last */
	size_t			n;
	int			error;	/* -ENOMEM: something was not found, and is missing */
	/* private */
	struct guest_culprit_cpu *cpus;	/* by vCPU */
	size_t			room;
	uint64_t		left;	/* runs of tasks that may be looked at */
};

/**
 * guest_culprits_init - get ready to ask
 * @guests: @n of them; they stay. Of several traces of a vCPU, the first counts
 * @culprits: receives it; to be given to guest_culprits_free() in any case
 *
 * Return: 0 or -ENOMEM.
 */
int guest_culprits_init(struct guest_culprits *culprits, const struct virt_model *model,
			const struct guest_culprits_guest *guests, int n);
void guest_culprits_free(struct guest_culprits *culprits);

/** guest_culprits_know - is anything known of the tasks of a vCPU? */
bool guest_culprits_know(const struct guest_culprits *culprits, int32_t vcpu);

/**
 * guest_culprits_find - which tasks the culprits of a vCPU's preemptions executed in a window
 *
 * Of each of virt_vcpu_culprits() of which anything is known, the times add up to its time.
 * Where that does not list all culprits separately, no tasks are found, nor where tasks of very
 * many waits change very often: their time has no task.
 *
 * In O(waits + their occupants + runs of tasks in them). Return: 0 or -ENOMEM.
 */
int guest_culprits_find(struct guest_culprits *culprits, int32_t vcpu, int64_t from_ns,
			int64_t to_ns);

/**
 * guest_culprits_during - which tasks a vCPU executed in [from, to), in which it has a pCPU
 *
 * As guest_culprits_find(); the times add up to the window. Return: 0 or -ENOMEM.
 */
int guest_culprits_during(struct guest_culprits *culprits, int32_t vcpu, int64_t from_ns,
			  int64_t to_ns);

/** guest_culprits_of - what was found of one culprit. Return: NULL, or @n of them. */
const struct guest_culprit *guest_culprits_of(const struct guest_culprits *culprits, int32_t vcpu,
					      size_t *n);

/** guest_culprit_name - "qemu-dm-412", "idle", or "unknown"; not escaped */
void guest_culprit_name(char *text, size_t size, const struct guest_culprits *culprits,
			const struct guest_culprit *culprit);

#ifdef __cplusplus
}
#endif
#endif
