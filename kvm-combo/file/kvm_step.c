// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_step.c
 * @brief	Give decoded records to the KVM tracker.
 */
#include <errno.h>

#include "kvm_step.h"

static int take_handler(const struct kvm_handler_event *event, struct kvm_tracker *tracker,
			int cpu, int32_t pid, int64_t time_ns)
{
	int handler;

	if (event->edge == KVM_HANDLER_EXIT)
		return kvm_tracker_leave(tracker, cpu, pid, time_ns, event->kind);
	handler = kvm_tracker_add_handler(tracker, event->kind, event->name);
	if (handler == -ENOMEM)
		return handler;
	return event->edge == KVM_HANDLER_ENTRY ?
	       kvm_tracker_enter(tracker, cpu, pid, time_ns, handler) :
	       kvm_tracker_handled(tracker, cpu, pid, time_ns, handler, event->ns);
}

static int take_event(const struct kvm_step *step, struct kvm_tracker *tracker, int cpu,
		      int32_t pid, int64_t time_ns)
{
	struct kvm_event event = step->event;
	int ret = 0;

	event.time_ns = time_ns;
	event.pid = pid;
	event.cpu = (int16_t)cpu;
	if (step->flags & KVM_STEP_NAMED)
		ret = kvm_tracker_name(tracker, event.arg, step->comm);
	if (!ret)
		ret = kvm_tracker_add(tracker, &event);
	if (!ret && step->flags & KVM_STEP_BEFORE)
		kvm_tracker_tsc_before(tracker, step->more);
	return ret;
}

int kvm_step_take(const struct kvm_step *step, const struct kvm_handler_event *handler,
		  struct kvm_tracker *tracker, int cpu, int32_t pid, int64_t time_ns)
{
	if (cpu < 0 || cpu > INT16_MAX)
		return -EINVAL;
	switch (step->kind) {
	case KVM_STEP_EVENT:
		return take_event(step, tracker, cpu, pid, time_ns);
	case KVM_STEP_HANDLER:
		return take_handler(handler, tracker, cpu, pid, time_ns);
	case KVM_STEP_IDLE_STATE:
		return kvm_tracker_idle_state(tracker, cpu, pid, time_ns,
					      (int32_t)step->event.value);
	case KVM_STEP_FREQUENCY:
		return kvm_tracker_frequency(tracker, cpu, pid, time_ns, step->more,
					     step->event.value);
	}
	return kvm_tracker_seen(tracker, cpu, pid, time_ns);
}
