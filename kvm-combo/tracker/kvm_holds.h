/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_holds.h
 * @brief	Find when a CPU quota of cgroups holds a vCPU that wants to run.
 *
 * No event of Linux says so. If a pCPU is given to the idle task while a thread waits for it, the
 * thread is off the run queue: its cgroup, or one above, is throttled. It has been throttled since
 * the last thread that may share the quota had this pCPU, as nothing else uses the quota up; and it
 * stays throttled until a timer of the quota expires. If the pCPU remains idle after a timer, until
 * the next one, then that timer did not end it: the cgroup owes more than a period gives it. So the
 * vCPU was held from then until the last such timer while the pCPU was idle, or the first one after
 * that. If the pCPU always had something to do, the quota or the scheduler may have been the cause
 * of the wait: such time is possible. Not so the time after the last of these timers, nor a wait
 * during which none expired. Where timers are not recorded, all of a wait is possible: the quota
 * may have ended the hold at any time, and an idle pCPU takes its time to wake up.
 *
 * Which timer belongs to which quota is not recorded: any of them counts, so that a hold may seem
 * shorter than it was, and a possible one longer. Threads that may share a quota are those of all
 * machines.
 */
#ifndef KSHARK_VIRT_KVM_HOLDS_H
#define KSHARK_VIRT_KVM_HOLDS_H

#include "kvm_private.h"

/** A pCPU. */
struct kvm_holds_cpu {
	bool		idle;
	int64_t		idle_ns;	/* since when, or when this began last */
	int64_t		idle_end_ns;	/* when it ended last */
	int64_t		left_ns;	/* when a machine's thread left it last */
	int32_t		first;		/* vCPU that waits for it, and is not held as yet: index */
};

struct kvm_holds {
	const struct kvm_tracker *tracker;
	struct virt_model *model;
	struct kvm_vcpu	*vcpus;
	struct kvm_holds_cpu *cpus;
	size_t		n_cpus, room;
	int64_t		*expired;	/* when a timer of any quota expired, ascending */
	size_t		n_expired, expired_room;
	bool		is_on;		/* some vCPU has a quota */
	int		error;
};

void kvm_holds_init(struct kvm_holds *holds, const struct kvm_tracker *tracker,
		    struct virt_model *model);
void kvm_holds_destroy(struct kvm_holds *holds);

/** kvm_holds_more - as kvm_replay_more(). Return: 0 or -ENOMEM. */
int kvm_holds_more(struct kvm_holds *holds, struct kvm_vcpu *vcpus, int32_t n);

/** kvm_holds_wait - a vCPU begins to wait for a pCPU. @cpu: VIRT_NONE: unknown which */
void kvm_holds_wait(struct kvm_holds *holds, struct kvm_vcpu *vcpu, int32_t cpu, int64_t time_ns);

/** kvm_holds_end - its wait is over; @complete: the trace shows that */
void kvm_holds_end(struct kvm_holds *holds, struct kvm_vcpu *vcpu, int64_t time_ns, bool complete);

/** kvm_holds_occupy - a pCPU has another thread, or none (0), or its thread is unknown. */
void kvm_holds_occupy(struct kvm_holds *holds, int cpu, int64_t time_ns, int32_t was, int32_t is);

/** kvm_holds_expired - a timer of a quota expired. */
void kvm_holds_expired(struct kvm_holds *holds, int64_t time_ns);

/** kvm_holds_known - are all holds of the model's vCPUs known? */
bool kvm_holds_known(const struct kvm_tracker *tracker, const struct virt_model *model);

#endif
