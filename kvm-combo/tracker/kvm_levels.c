// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_levels.c
 * @brief	Whether it is a guest's guest that runs, as the records that follow tell.
 */
#include "kvm_private.h"

/** A record that tells nothing of entries and exits, in a vCPU's row of records. */
static bool goes_on(const struct kvm_vcpu *vcpu, const struct kvm_event *event,
		    const struct kvm_event *end)
{
	return event < end && event->pid == vcpu->tid_now && event->kind != KVM_ENTRY &&
	       event->kind != KVM_EXIT && event->kind != KVM_NESTED_EXIT;
}

void kvm_find_level(const struct kvm_tracker *tracker, struct kvm_vcpu *vcpu,
		    const struct kvm_event *event)
{
	const struct kvm_cpu *cpu = &tracker->cpus[event->cpu];
	const struct kvm_event *end = cpu->events + cpu->n;

	if (vcpu->level_known)
		return;
	vcpu->level_known = true;
	if (event->kind == KVM_ENTRY) {
		do {
			event++;
		} while (goes_on(vcpu, event, end));
	}
	if (event < end && event->kind == KVM_EXIT) {
		do {
			event++;
		} while (goes_on(vcpu, event, end));
	}
	vcpu->nested = event < end && event->kind == KVM_NESTED_EXIT && event->pid == vcpu->tid_now;
}

bool kvm_is_handed_on(const struct kvm_tracker *tracker, const struct kvm_vcpu *vcpu,
		      const struct kvm_event *event)
{
	const struct kvm_cpu *cpu = &tracker->cpus[event->cpu];
	const struct kvm_event *end = cpu->events + cpu->n;

	if (!vcpu->nested)
		return false;
	do {
		event++;
	} while (event < end && event->pid == vcpu->tid_now &&
		 (event->kind == KVM_NESTED_EXIT || event->kind == KVM_ACCEPT));
	return event < end && event->pid == vcpu->tid_now && event->kind == KVM_NESTED_INJECT;
}
