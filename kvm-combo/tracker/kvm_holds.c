// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_holds.c
 * @brief	Find when a CPU quota of cgroups holds a vCPU. The rules are in kvm_holds.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "kvm_holds.h"
#include "search.h"
#include "virt_limits.h"

void kvm_holds_init(struct kvm_holds *holds, const struct kvm_tracker *tracker,
		    struct virt_model *model)
{
	holds->tracker = tracker;
	holds->model = model;
}

void kvm_holds_destroy(struct kvm_holds *holds)
{
	free(holds->cpus);
	free(holds->expired);
}

static bool has_quota(const struct kvm_holds *holds, const struct kvm_vcpu *vcpu)
{
	const struct kvm_thread *thread = kvm_thread_find(holds->tracker, vcpu->tid_now);

	return thread && thread->quota == KVM_QUOTA_LIMITED;
}

int kvm_holds_more(struct kvm_holds *holds, struct kvm_vcpu *vcpus, int32_t n)
{
	bool known = kvm_holds_known(holds->tracker, holds->model);

	holds->vcpus = vcpus;
	for (int32_t i = 0; i < n && known && !holds->is_on; i++)
		holds->is_on = has_quota(holds, &vcpus[i]);
	while (holds->n_cpus < holds->tracker->n_cpus) {
		if (ARRAY_GROW(holds->cpus, holds->n_cpus, holds->room))
			return -ENOMEM;
		holds->cpus[holds->n_cpus++] = (struct kvm_holds_cpu){
			.idle_ns = INT64_MIN, .idle_end_ns = INT64_MIN,
			.left_ns = INT64_MIN, .first = VIRT_NONE,
		};
	}
	return 0;
}

static void put_first(struct kvm_holds *holds, struct kvm_vcpu *vcpu)
{
	struct kvm_holds_cpu *cpu = &holds->cpus[vcpu->quota_cpu];
	int32_t index = (int32_t)(vcpu - holds->vcpus);

	vcpu->quota_before = VIRT_NONE;
	vcpu->quota_next = cpu->first;
	if (cpu->first != VIRT_NONE)
		holds->vcpus[cpu->first].quota_before = index;
	cpu->first = index;
	vcpu->quota_listed = true;
}

static void take_off(struct kvm_holds *holds, struct kvm_vcpu *vcpu)
{
	if (!vcpu->quota_listed)
		return;
	if (vcpu->quota_before != VIRT_NONE)
		holds->vcpus[vcpu->quota_before].quota_next = vcpu->quota_next;
	else
		holds->cpus[vcpu->quota_cpu].first = vcpu->quota_next;
	if (vcpu->quota_next != VIRT_NONE)
		holds->vcpus[vcpu->quota_next].quota_before = vcpu->quota_before;
	vcpu->quota_listed = false;
}

static void forget(struct kvm_holds *holds, struct kvm_vcpu *vcpu)
{
	take_off(holds, vcpu);
	vcpu->quota_wait = false;
}

void kvm_holds_wait(struct kvm_holds *holds, struct kvm_vcpu *vcpu, int32_t cpu, int64_t time_ns)
{
	forget(holds, vcpu);
	if (!holds->is_on || !has_quota(holds, vcpu))
		return;
	vcpu->quota_wait = true;
	vcpu->quota_held = false;
	vcpu->quota_cpu = (int16_t)(cpu >= 0 && (size_t)cpu < holds->n_cpus ? cpu : VIRT_NONE);
	vcpu->quota_ns = time_ns;
	if (vcpu->quota_cpu != VIRT_NONE)
		put_first(holds, vcpu);
}

static void add(struct kvm_holds *holds, const struct kvm_vcpu *vcpu, int64_t from_ns,
		int64_t to_ns, bool possible, bool complete)
{
	int ret;

	if (from_ns >= to_ns)
		return;
	ret = virt_model_add_hold(holds->model, vcpu->index, &(struct virt_hold){
		.from_ns = from_ns, .to_ns = to_ns, .complete = complete, .possible = possible,
	});
	if (ret == -ENOMEM)
		holds->error = ret;
}

/** How many timers of quotas expired before a time. */
static size_t expired_before(const struct kvm_holds *holds, int64_t time_ns)
{
	size_t i;

	SEARCH_FIRST(i, 0, holds->n_expired, holds->expired[i] < time_ns);
	return i;
}

/** Since a vCPU is held: until when? Return: @time_ns, at which it is over, if none shows it. */
static int64_t held_until(const struct kvm_holds *holds, const struct kvm_vcpu *vcpu,
			  int64_t time_ns)
{
	const struct kvm_holds_cpu *cpu = &holds->cpus[vcpu->quota_cpu];
	int64_t idle_end_ns = cpu->idle ? time_ns : cpu->idle_end_ns;
	size_t first, end;

	first = expired_before(holds, cpu->idle_ns);
	end = expired_before(holds, idle_end_ns);
	if (end > first)
		return holds->expired[end - 1];
	return first < holds->n_expired && holds->expired[first] < time_ns ?
	       holds->expired[first] : time_ns;
}

void kvm_holds_end(struct kvm_holds *holds, struct kvm_vcpu *vcpu, int64_t time_ns, bool complete)
{
	bool has_timers = holds->tracker->has_quota_timers, is_held;
	int64_t last_ns = holds->n_expired ? holds->expired[holds->n_expired - 1] : INT64_MIN;
	int64_t from_ns = vcpu->quota_ns, to_ns = time_ns, end_ns;

	if (!vcpu->quota_wait)
		return;
	forget(holds, vcpu);
	/* only a timer ends a hold; where the trace ends, that may come */
	if (has_timers && complete) {
		if (last_ns <= from_ns)
			return;
		to_ns = last_ns < time_ns ? last_ns : time_ns;
	}
	is_held = has_timers && vcpu->quota_held;
	end_ns = is_held ? held_until(holds, vcpu, time_ns) : from_ns;
	if (is_held && (!complete || end_ns < time_ns)) {
		add(holds, vcpu, from_ns, vcpu->quota_held_ns, true, true);
		add(holds, vcpu, vcpu->quota_held_ns, end_ns, false, complete);
		from_ns = end_ns;
	}
	add(holds, vcpu, from_ns, to_ns, true, complete);
}

/** A pCPU has nothing to do: those that wait for it are held. */
static void hold_all(struct kvm_holds *holds, struct kvm_holds_cpu *cpu)
{
	while (cpu->first != VIRT_NONE) {
		struct kvm_vcpu *vcpu = &holds->vcpus[cpu->first];

		take_off(holds, vcpu);
		vcpu->quota_held = true;
		vcpu->quota_held_ns = cpu->left_ns > vcpu->quota_ns ? cpu->left_ns :
								      vcpu->quota_ns;
	}
}

void kvm_holds_occupy(struct kvm_holds *holds, int at, int64_t time_ns, int32_t was, int32_t is)
{
	const struct kvm_thread *thread;
	struct kvm_holds_cpu *cpu;

	if (!holds->is_on || was == is)
		return;
	cpu = &holds->cpus[at];
	if (was > 0) {
		thread = kvm_thread_find(holds->tracker, was);
		if (!thread || kvm_vcpu_of_thread(thread) != VIRT_NONE ||
		    thread->owner != VIRT_NONE)
			cpu->left_ns = time_ns;
	} else if (was == KVM_NO_PID) {
		cpu->left_ns = time_ns;
	}
	if (cpu->idle)
		cpu->idle_end_ns = time_ns;
	cpu->idle = !is;
	if (cpu->idle)
		cpu->idle_ns = time_ns;
	if (cpu->idle && was != KVM_NO_PID)
		hold_all(holds, cpu);
}

void kvm_holds_expired(struct kvm_holds *holds, int64_t time_ns)
{
	if (!holds->is_on)
		return;
	if (ARRAY_GROW(holds->expired, holds->n_expired, holds->expired_room))
		holds->error = -ENOMEM;
	else
		holds->expired[holds->n_expired++] = time_ns;
}

/** Is it known whether each thread that a vCPU has had has a quota? */
static bool knows_thread(const struct kvm_tracker *tracker, int32_t pid)
{
	const struct kvm_thread *thread = kvm_thread_find(tracker, pid);

	return thread && thread->quota != KVM_QUOTA_UNKNOWN;
}

bool kvm_holds_known(const struct kvm_tracker *tracker, const struct virt_model *model)
{
	int32_t n = virt_model_n_vcpus(model);

	if (!kvm_has_switches(tracker) || !kvm_has(tracker, VIRT_RECORD_WAKEUP) ||
	    tracker->has_lives)
		return false;
	for (int32_t i = 0; i < n; i++)
		if (!knows_thread(tracker, virt_model_vcpu(model, i)->host_pid))
			return false;
	return n;
}
