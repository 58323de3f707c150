/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_stops.h
 * @brief	Machines that their monitor has stopped (paused or saved), or that have ended.
 *
 * A monitor stops a machine by taking each vCPU out of KVM_RUN with a signal, and letting none in.
 * It also takes single vCPUs out for a moment, to ask or change something. Therefore a machine is
 * stopped only as long as none of its vCPUs is in KVM_RUN. During this time, the threads sleep, or
 * work for the monitor now and then. A machine has ended when the threads of all its vCPUs have
 * ended.
 */
#ifndef KSHARK_VIRT_KVM_STOPS_H
#define KSHARK_VIRT_KVM_STOPS_H

#include "kvm_private.h"

/** Of a machine. */
struct kvm_stops_machine {
	int32_t		going;		/* vCPUs that are not stopped */
	int32_t		living;		/* vCPUs whose threads have not ended */
	int32_t		asleep;		/* one that has gone to sleep since it was stopped, while
					 * others were going; VIRT_NONE: there is none */
};

struct kvm_stops {
	const struct virt_model *model;
	struct kvm_vcpu	*vcpus;
	int32_t		n_vcpus;
	struct kvm_stops_machine *machines; /* by index in the model while it is filled */
	int32_t		n_machines, room;
};

/** kvm_stops_init - no vCPU is known; to be destroyed. */
void kvm_stops_init(struct kvm_stops *stops, const struct virt_model *model);

/** kvm_stops_more - there may be more vCPUs, which are all going. Return: 0 or -ENOMEM. */
int kvm_stops_more(struct kvm_stops *stops, struct kvm_vcpu *vcpus, int32_t n);
void kvm_stops_destroy(struct kvm_stops *stops);

/** kvm_stops_set - a vCPU has been stopped, or goes on; the same again changes nothing. */
void kvm_stops_set(struct kvm_stops *stops, struct kvm_vcpu *vcpu, bool stopped);

/** kvm_stops_is_whole - is all of the vCPU's machine stopped? */
bool kvm_stops_is_whole(const struct kvm_stops *stops, const struct kvm_vcpu *vcpu);

/** kvm_stops_end - a vCPU's last thread has ended. Return: is that the end of its machine? */
bool kvm_stops_end(struct kvm_stops *stops, struct kvm_vcpu *vcpu);

/** kvm_stops_revive - a thread of that number runs again, and is taken for the vCPU. */
void kvm_stops_revive(struct kvm_stops *stops, struct kvm_vcpu *vcpu);

/** kvm_stops_sleep - it goes to sleep, stopped, while others are going. */
void kvm_stops_sleep(struct kvm_stops *stops, struct kvm_vcpu *vcpu);

/**
 * kvm_stops_next - if all of a machine is stopped now: those that have gone to sleep before
 *
 * Return: one after the other, which may be awake again by now; NULL if there are no more.
 */
struct kvm_vcpu *kvm_stops_next(struct kvm_stops *stops, const struct kvm_vcpu *vcpu);

#endif
