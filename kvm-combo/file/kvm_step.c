// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_step.c
 * @brief	Give decoded records to the KVM tracker.
 */
#include <errno.h>

#include "kvm_step.h"

static int take_handler(const struct kvm_handler_event *handler, const struct kvm_event *at,
			struct kvm_tracker *tracker)
{
	int number;

	if (handler->edge == KVM_HANDLER_EXIT)
		return kvm_tracker_leave(tracker, at->cpu, at->pid, at->time_ns, handler->kind);
	number = kvm_tracker_add_handler(tracker, handler->kind, handler->name);
	if (number == -ENOMEM)
		return number;
	return handler->edge == KVM_HANDLER_ENTRY ?
	       kvm_tracker_enter(tracker, at->cpu, at->pid, at->time_ns, number) :
	       kvm_tracker_handled(tracker, at->cpu, at->pid, at->time_ns, number, handler->ns);
}

static int take_event(const struct kvm_step *step, const struct kvm_step_more *more,
		      struct kvm_tracker *tracker)
{
	int ret = 0;

	if (step->flags & KVM_STEP_NAMED)
		ret = kvm_tracker_name(tracker, step->event.arg, more->comm);
	if (!ret)
		ret = kvm_tracker_add(tracker, &step->event);
	if (!ret && step->flags & KVM_STEP_BEFORE)
		kvm_tracker_tsc_before(tracker, more->number);
	return ret;
}

int kvm_step_take(const struct kvm_step *step, const struct kvm_step_more *more,
		  const struct kvm_handler_event *handler, struct kvm_tracker *tracker)
{
	const struct kvm_event *event = &step->event;

	switch (step->kind) {
	case KVM_STEP_EVENT:
		return take_event(step, more, tracker);
	case KVM_STEP_HANDLER:
		return take_handler(handler, event, tracker);
	case KVM_STEP_IDLE_STATE:
		return kvm_tracker_idle_state(tracker, event->cpu, event->pid, event->time_ns,
					      (int32_t)event->value);
	case KVM_STEP_FREQUENCY:
		return kvm_tracker_frequency(tracker, event->cpu, event->pid, event->time_ns,
					     more->number, event->value);
	}
	return kvm_tracker_seen(tracker, event->cpu, event->pid, event->time_ns);
}
