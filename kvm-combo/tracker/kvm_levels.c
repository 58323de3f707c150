// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_levels.c
 * @brief	Find out whether a guest's guest runs, from the records that follow.
 */
#include "kvm_private.h"

/** A record that shows nothing of entries and exits, in a vCPU's row of records. */
static bool goes_on(const struct kvm_vcpu *vcpu, const struct kvm_event *event,
		    const struct kvm_event *end)
{
	return event < end && event->pid == vcpu->tid_now && event->kind != KVM_ENTRY &&
	       event->kind != KVM_EXIT && event->kind != KVM_NESTED_EXIT &&
	       event->kind != KVM_LOST;
}

void kvm_find_level(const struct kvm_tracker *tracker, struct kvm_vcpu *vcpu,
		    const struct kvm_event *event)
{
	const struct kvm_cpu *cpu = &tracker->cpus[event->cpu];
	const struct kvm_event *end = cpu->events + cpu->n;
	bool is_exit;

	/* each exit of a guest of the guest has a record, each entry not (VMX before Linux 6.1) */
	if (vcpu->level_known && !tracker->has_nested_exits)
		return;
	if (event->kind == KVM_ENTRY) {
		do {
			event++;
		} while (goes_on(vcpu, event, end));
	}
	is_exit = event < end && event->kind == KVM_EXIT && event->pid == vcpu->tid_now;
	if (is_exit) {
		do {
			event++;
		} while (goes_on(vcpu, event, end));
	}
	/* without an exit, no record shows it: what was known goes on */
	if (is_exit || !vcpu->level_known)
		vcpu->nested = event < end && event->kind == KVM_NESTED_EXIT &&
			       event->pid == vcpu->tid_now;
	vcpu->level_known = true;
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
		 (event->kind == KVM_NESTED_EXIT || event->kind == KVM_ACCEPT ||
		  event->kind == KVM_ARGUMENT));
	return event < end && event->pid == vcpu->tid_now && event->kind == KVM_NESTED_INJECT;
}
