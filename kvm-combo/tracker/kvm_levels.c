// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_levels.c
 * @brief	Find out whether a guest's guest runs, from the records that follow.
 */
#include "kvm_private.h"

/** The records of the same CPU after @event, which the replay takes now. */
static struct kvm_scan *after(struct kvm_tracker *tracker, const struct kvm_event *event)
{
	const struct kvm_cpu *cpu = &tracker->cpus[event->cpu];

	kvm_scan_begin(&tracker->ahead, &cpu->events, cpu->taken + 1);
	return &tracker->ahead;
}

/** A record that shows nothing of entries and exits, in a vCPU's row of records. */
static bool goes_on(const struct kvm_vcpu *vcpu, const struct kvm_event *event)
{
	return event->pid == vcpu->tid_now && event->kind != KVM_ENTRY &&
	       event->kind != KVM_EXIT && event->kind != KVM_NESTED_EXIT &&
	       event->kind != KVM_LOST;
}

/** The next record that does show it, or of another row; NULL: the end. */
static const struct kvm_event *next_shown(const struct kvm_vcpu *vcpu, struct kvm_scan *ahead)
{
	const struct kvm_event *event;

	do {
		event = kvm_scan_next(ahead);
	} while (event && goes_on(vcpu, event));
	return event;
}

static bool is_its(const struct kvm_vcpu *vcpu, const struct kvm_event *event,
		   enum kvm_event_kind kind)
{
	return event && event->kind == kind && event->pid == vcpu->tid_now;
}

void kvm_find_level(struct kvm_tracker *tracker, struct kvm_vcpu *vcpu,
		    const struct kvm_event *event)
{
	struct kvm_scan *ahead;
	bool is_exit;

	/* each exit of a guest of the guest has a record, each entry not (VMX before Linux 6.1) */
	if (vcpu->level_known && !tracker->has_nested_exits)
		return;
	ahead = after(tracker, event);
	if (event->kind == KVM_ENTRY)
		event = next_shown(vcpu, ahead);
	is_exit = is_its(vcpu, event, KVM_EXIT);
	if (is_exit)
		event = next_shown(vcpu, ahead);
	/* without an exit, no record shows it: what was known goes on */
	if (is_exit || !vcpu->level_known)
		vcpu->nested = is_its(vcpu, event, KVM_NESTED_EXIT);
	vcpu->level_known = true;
}

bool kvm_is_handed_on(struct kvm_tracker *tracker, const struct kvm_vcpu *vcpu,
		      const struct kvm_event *event)
{
	struct kvm_scan *ahead;

	if (!vcpu->nested)
		return false;
	ahead = after(tracker, event);
	do {
		event = kvm_scan_next(ahead);
	} while (event && event->pid == vcpu->tid_now &&
		 (event->kind == KVM_NESTED_EXIT || event->kind == KVM_ACCEPT ||
		  event->kind == KVM_ARGUMENT));
	return is_its(vcpu, event, KVM_NESTED_INJECT);
}
