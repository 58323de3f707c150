/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_wakes.h
 * @brief	Causes that end the sleep of vCPUs; the rules are in kvm_tracker.h.
 *
 * The state machine (kvm_replay.c) reports when a vCPU sleeps, is woken, and enters or leaves its
 * guest. It also hands on the records that show which thread did what for the vCPU.
 */
#ifndef KSHARK_VIRT_KVM_WAKES_H
#define KSHARK_VIRT_KVM_WAKES_H

#include "kvm_private.h"

/** An interrupt that was sent to some machine's vCPU; its wake-up may show to which. */
struct kvm_sent {
	struct virt_wake wake;		/* cause UNKNOWN: none */
	int32_t		pid, number;	/* who sent it, to the vCPU with this number */
	uint8_t		context;	/* enum kvm_context */
};

struct kvm_wakes {
	struct kvm_tracker *tracker;
	struct virt_model *model;
	struct kvm_vcpu	*vcpus;
	int32_t		n_vcpus;
	struct key_map	map;		/* of machine and vCPU number */
	int32_t		*vcpu;		/* by number in it */
	size_t		room;
	int32_t		machine;	/* the only one, or VIRT_NONE */
	struct kvm_sent	*sent;		/* per CPU, the last one */
	size_t		sent_room;
	int		error;
};

/** kvm_wakes_init - no vCPU is known; to be destroyed. */
void kvm_wakes_init(struct kvm_wakes *wakes, struct kvm_tracker *tracker,
		    struct virt_model *model);

/** kvm_wakes_more - there may be more CPUs and vCPUs. Return: 0 or -ENOMEM. */
int kvm_wakes_more(struct kvm_wakes *wakes, struct kvm_vcpu *vcpus, int32_t n);
void kvm_wakes_destroy(struct kvm_wakes *wakes);

/**
 * kvm_who - a thread as the model knows it; tasks are made known the first time
 *
 * Return: as virt_model_add_task(), or VIRT_NONE of the idle task and of one that never had a CPU.
 */
int32_t kvm_who(struct kvm_tracker *tracker, struct virt_model *model,
		const struct kvm_vcpu *vcpus, int32_t pid);

/** kvm_own_task - set a task's owner in the model, if that is known. Return: as the model. */
int kvm_own_task(const struct kvm_tracker *tracker, struct virt_model *model,
		 const struct kvm_vcpu *vcpus, struct kvm_thread *thread);

/** kvm_wakes_sleep - it goes to sleep, which is to be said after this. */
void kvm_wakes_sleep(struct kvm_wakes *wakes, struct kvm_vcpu *vcpu, uint64_t prev_state);

/** kvm_wakes_waking - KVM_WAKING of one that sleeps; @here: the vCPU that has the CPU, or NULL */
void kvm_wakes_waking(struct kvm_wakes *wakes, struct kvm_vcpu *vcpu,
		      const struct kvm_event *event, const struct kvm_vcpu *here);

/** kvm_wakes_woken - it does not sleep any more. */
void kvm_wakes_woken(struct kvm_wakes *wakes, struct kvm_vcpu *vcpu,
		     const struct kvm_event *event, const struct kvm_vcpu *here);

/** kvm_wakes_sent - KVM_ACCEPT */
void kvm_wakes_sent(struct kvm_wakes *wakes, const struct kvm_event *event,
		    struct kvm_vcpu *here);

/** kvm_wakes_injected - KVM_INJECT */
void kvm_wakes_injected(struct kvm_wakes *wakes, const struct kvm_event *event,
			struct kvm_vcpu *here);

/** kvm_wakes_forget - it enters or leaves its guest, or its state is unknown. */
void kvm_wakes_forget(struct kvm_vcpu *vcpu);

#endif
