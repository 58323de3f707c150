// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_wakes.c
 * @brief	Find the cause that ends a vCPU's sleep: an interrupt sent to it, or its waker.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "hash_bytes.h"
#include "kvm_wakes.h"

/** prev_state of sched_switch: KVM's wait for an interrupt (kvm_vcpu_block()) is this sleep. */
#define STATE_INTERRUPTIBLE	0x01

/** Names that stand for tasks without an entry of their own. */
#define MAX_SHARED		4096

static const struct virt_wake nobody = {
	.who = VIRT_NONE, .vector = VIRT_NONE, .cause = VIRT_WAKE_UNKNOWN,
};

static void fail(struct kvm_wakes *wakes, int ret)
{
	if (ret < 0 && !wakes->error)
		wakes->error = ret;
}

/* --- who is who ------------------------------------------------------------------------------ */

/** Of a name, and of the machine that it is of: a vCPU of it, or 0. */
static uint64_t shared_key(const char *name, int32_t machine)
{
	return hash_text(name) ^ (uint64_t)(uint32_t)machine << 32;
}

static uint64_t vcpu_key(int32_t machine, int32_t number)
{
	return (uint64_t)(uint32_t)machine << 32 | (uint32_t)number;
}

void kvm_wakes_init(struct kvm_wakes *wakes, struct kvm_tracker *tracker,
		    struct virt_model *model)
{
	*wakes = (struct kvm_wakes){ .tracker = tracker, .model = model };
}

int kvm_wakes_more(struct kvm_wakes *wakes, struct kvm_vcpu *vcpus, int32_t n)
{
	const struct virt_model *model = wakes->model;

	if (wakes->tracker->n_cpus &&
	    ARRAY_REACH(wakes->sent, wakes->tracker->n_cpus - 1, wakes->sent_room))
		return -ENOMEM;
	wakes->machine = virt_model_n_machines(model) == 1 ? 0 : VIRT_NONE;
	wakes->vcpus = vcpus;
	for (; wakes->n_vcpus < n; wakes->n_vcpus++) {
		int32_t i = wakes->n_vcpus;
		int64_t at;

		vcpus[i].machine = virt_model_vcpu(model, vcpus[i].index)->machine;
		kvm_wakes_forget(&vcpus[i]);
		at = KEY_MAP_ELEMENT(&wakes->map, vcpu_key(vcpus[i].machine, vcpus[i].id),
				     wakes->vcpu, wakes->room);
		if (at < 0)
			return -ENOMEM;
		wakes->vcpu[at] = i;
	}
	return 0;
}

void kvm_wakes_destroy(struct kvm_wakes *wakes)
{
	key_map_destroy(&wakes->map);
	free(wakes->vcpu);
	free(wakes->sent);
}

/**
 * Tasks without an entry of their own any more share one by their name; of very many names, all
 * others share one entry, which has no owner. Return: as virt_model_add_task().
 */
static int32_t add_shared(struct kvm_tracker *tracker, struct virt_model *model,
			  struct kvm_thread *thread)
{
	const char *name = *thread->comm ? thread->comm : "task";
	uint64_t key = shared_key(name, thread->owner != VIRT_NONE ? thread->owner + 1 : 0);
	int64_t at = key_map_find(&tracker->shared_tasks, key);

	if (at < 0 && tracker->shared_tasks.n_keys < MAX_SHARED)
		at = key_map_add(&tracker->shared_tasks, key);
	if (at < 0) {
		at = MAX_SHARED;
		name = "others";
		thread->is_owned = true;
	}
	/* no thread has a number below 0 */
	return virt_model_add_task(model, -2 - (int32_t)at, name);
}

/** A thread that is not in the model yet. */
static int32_t add_task(struct kvm_tracker *tracker, struct virt_model *model,
			struct kvm_thread *thread)
{
	char name[KVM_COMM_SIZE + 16];

	if (tracker->task_limit && virt_model_n_tasks(model) >= tracker->task_limit)
		return add_shared(tracker, model, thread);
	snprintf(name, sizeof(name), "%s-%d", *thread->comm ? thread->comm : "task",
		 (int)thread->pid);
	return virt_model_add_task(model, thread->pid, name);
}

int kvm_own_task(const struct kvm_tracker *tracker, struct virt_model *model,
		 const struct kvm_vcpu *vcpus, struct kvm_thread *thread)
{
	const struct kvm_vcpu *vcpu = thread->owner != VIRT_NONE ? &vcpus[thread->owner] : NULL;
	char called[160];

	if (!vcpu || thread->is_owned)
		return 0;
	thread->is_owned = true;
	kvm_machine_called(tracker, model, vcpu, called, sizeof(called));
	return virt_model_own_task(model, thread->task,
				   virt_model_vcpu(model, vcpu->index)->machine, called,
				   (enum virt_thread_kind)thread->kind,
				   (enum virt_thread_source)thread->source);
}

int32_t kvm_who(struct kvm_tracker *tracker, struct virt_model *model,
		const struct kvm_vcpu *vcpus, int32_t pid)
{
	struct kvm_thread *thread = pid > 0 ? kvm_thread_find(tracker, pid) : NULL;

	if (!thread)
		return VIRT_NONE;
	if (thread->vcpu != VIRT_NONE)
		return vcpus[thread->vcpu].index;
	if (thread->task == VIRT_NONE) {
		int32_t task = add_task(tracker, model, thread), ret;

		if (task < 0)
			return task;
		/* one of a machine's is named by it */
		thread->task = task;
		ret = kvm_own_task(tracker, model, vcpus, thread);
		if (ret)
			return ret;
	}
	return thread->task;
}

/** The occupant of the record's CPU; VIRT_NONE if the record is in an interrupt. */
static int32_t who_is_at(struct kvm_wakes *wakes, const struct kvm_event *event)
{
	int32_t who = event->more & KVM_IN_INTERRUPT ? VIRT_NONE :
		      kvm_who(wakes->tracker, wakes->model, wakes->vcpus, event->pid);

	if (who < VIRT_NONE) {
		fail(wakes, who);
		who = VIRT_NONE;
	}
	return who;
}

static struct kvm_vcpu *vcpu_with(const struct kvm_wakes *wakes, int32_t machine, int32_t number)
{
	int64_t at = machine == VIRT_NONE ? -1 :
		     key_map_find(&wakes->map, vcpu_key(machine, number));

	return at < 0 ? NULL : &wakes->vcpus[wakes->vcpu[at]];
}

/* --- what is said ---------------------------------------------------------------------------- */

static void say(struct kvm_wakes *wakes, struct kvm_vcpu *vcpu, const struct virt_wake *wake)
{
	int32_t number;

	/* without entries and exits, what the thread does between two sleeps is unknown */
	if (!kvm_has_modes(wakes->tracker))
		return;
	number = virt_model_add_wake(wakes->model, wake);
	vcpu->wake = *wake;
	fail(wakes, number);
	/* a wait of no length is none in the model */
	if (number >= 0)
		virt_model_woken(wakes->model, vcpu->index, number);
}

void kvm_wakes_forget(struct kvm_vcpu *vcpu)
{
	vcpu->woken = vcpu->waker_known = false;
	vcpu->raised = nobody;
}

void kvm_wakes_sleep(struct kvm_wakes *wakes, struct kvm_vcpu *vcpu, uint64_t prev_state)
{
	bool halted = vcpu->woken && vcpu->halts;

	vcpu->halts = vcpu->mode == KVM_IN_HYPERVISOR && !vcpu->is_guess &&
		      vcpu->wait != KVM_WAIT_UNASKED && vcpu->wait != KVM_WAIT_STOPPED &&
		      prev_state & STATE_INTERRUPTIBLE;
	if (halted && vcpu->halts) {
		/* it may have been in its monitor, where it sleeps for another reason */
		if (kvm_has(wakes->tracker, VIRT_RECORD_MONITOR))
			vcpu->wake.cause = VIRT_WAKE_SPURIOUS;
		else
			vcpu->wake = nobody;
		say(wakes, vcpu, &vcpu->wake);
		/* what it was sent did not end its wait, and something else will */
		vcpu->raised = nobody;
	}
	vcpu->woken = vcpu->waker_known = false;
}

/* --- records --------------------------------------------------------------------------------- */

/** The vCPU that is woken is the one that was sent an interrupt, here and just now. */
static void take_sent(struct kvm_wakes *wakes, struct kvm_vcpu *vcpu,
		      const struct kvm_event *event)
{
	struct kvm_sent *sent = &wakes->sent[event->cpu];

	if (sent->wake.cause == VIRT_WAKE_UNKNOWN || sent->pid != event->pid ||
	    sent->context != (event->more & KVM_IN_INTERRUPT) || sent->number != vcpu->id)
		return;
	if (vcpu->raised.cause == VIRT_WAKE_UNKNOWN)
		vcpu->raised = sent->wake;
	sent->wake = nobody;
}

/** Does a vCPU's thread work for its guest in the kernel, where it writes a record? */
static bool is_in_kernel(const struct kvm_wakes *wakes, const struct kvm_vcpu *vcpu)
{
	/* where exits are not recorded, it has left its guest unseen */
	return vcpu->mode == KVM_IN_HYPERVISOR ||
	       (vcpu->mode == KVM_IN_GUEST && !kvm_has(wakes->tracker, VIRT_RECORD_EXIT));
}

/**
 * Was an interrupt perhaps sent to a vCPU without being known as one for it? Of several machines,
 * only who wakes it on the same CPU shows that.
 */
static bool may_have_missed(const struct kvm_wakes *wakes)
{
	return wakes->machine == VIRT_NONE && !kvm_has(wakes->tracker, VIRT_RECORD_WAKER);
}

/** The waker, from what is known of the record's CPU. */
static struct virt_wake waker_at(struct kvm_wakes *wakes, const struct kvm_vcpu *vcpu,
				 const struct kvm_event *event, const struct kvm_vcpu *here)
{
	struct virt_wake waker = nobody;

	waker.who = who_is_at(wakes, event);
	if (event->more & KVM_IN_INTERRUPT)
		/* if it was woken on another CPU, an interrupt of this one completes that */
		waker.cause = event->kind == KVM_WAKING ? VIRT_WAKE_INTERRUPT : VIRT_WAKE_UNKNOWN;
	else if (waker.who != VIRT_NONE)
		waker.cause = here && here->machine == vcpu->machine &&
			      is_in_kernel(wakes, here) ? VIRT_WAKE_VCPU : VIRT_WAKE_TASK;
	return waker;
}

void kvm_wakes_waking(struct kvm_wakes *wakes, struct kvm_vcpu *vcpu,
		      const struct kvm_event *event, const struct kvm_vcpu *here)
{
	if (vcpu->waker_known)
		return;
	vcpu->waker_known = true;
	vcpu->waker = waker_at(wakes, vcpu, event, here);
	take_sent(wakes, vcpu, event);
	if (event->more & KVM_BY_LINE && vcpu->raised.cause == VIRT_WAKE_UNKNOWN)
		vcpu->raised = (struct virt_wake){
			.who = who_is_at(wakes, event), .vector = VIRT_NONE,
			.cause = VIRT_WAKE_DEVICE,
		};
}

void kvm_wakes_woken(struct kvm_wakes *wakes, struct kvm_vcpu *vcpu,
		     const struct kvm_event *event, const struct kvm_vcpu *here)
{
	if (!vcpu->waker_known) {
		vcpu->waker = waker_at(wakes, vcpu, event, here);
		take_sent(wakes, vcpu, event);
	}
	vcpu->woken = true;
	if (vcpu->halts && vcpu->raised.cause != VIRT_WAKE_UNKNOWN && may_have_missed(wakes))
		vcpu->raised = vcpu->waker = nobody;
	say(wakes, vcpu, vcpu->halts && vcpu->raised.cause != VIRT_WAKE_UNKNOWN ? &vcpu->raised :
							&vcpu->waker);
}

/** Is it not yet known better what has woken it out of its guest's wait? */
static bool is_open(const struct kvm_vcpu *vcpu)
{
	return vcpu->woken && vcpu->halts &&
	       (vcpu->wake.cause == VIRT_WAKE_UNKNOWN ||
		(vcpu->wake.cause == VIRT_WAKE_INTERRUPT && vcpu->wake.vector == VIRT_NONE));
}

static int16_t vector_of(const struct kvm_event *event)
{
	return event->value >= 0 && event->value <= UINT8_MAX ? (int16_t)event->value : VIRT_NONE;
}

/** How an interrupt of this record would wake a vCPU. */
static struct virt_wake sent_by(struct kvm_wakes *wakes, const struct kvm_event *event,
				const struct kvm_vcpu *here)
{
	struct virt_wake wake = {
		.who = who_is_at(wakes, event), .vector = vector_of(event),
		.cause = VIRT_WAKE_DEVICE,
	};

	if (here && !(event->more & (KVM_IN_INTERRUPT | KVM_BY_LINE)) &&
	    (event->more & KVM_BY_IPI || is_in_kernel(wakes, here)))
		wake.cause = VIRT_WAKE_VCPU;
	return wake;
}

void kvm_wakes_sent(struct kvm_wakes *wakes, const struct kvm_event *event,
		    struct kvm_vcpu *here)
{
	bool by_vcpu = here && !(event->more & KVM_IN_INTERRUPT);
	struct kvm_vcpu *vcpu = vcpu_with(wakes, by_vcpu ? here->machine : wakes->machine,
					  event->arg);
	struct virt_wake wake;

	if (by_vcpu && vcpu == here) {
		wake = nobody;
		wake.cause = may_have_missed(wakes) ? VIRT_WAKE_INTERRUPT : VIRT_WAKE_TIMER;
		wake.vector = may_have_missed(wakes) ? VIRT_NONE : vector_of(event);
		if (is_open(vcpu) && !(event->more & (KVM_BY_IPI | KVM_BY_LINE)))
			say(wakes, vcpu, &wake);
		return;
	}
	if (vcpu && (vcpu->woken || vcpu->raised.cause != VIRT_WAKE_UNKNOWN))
		return;
	wake = sent_by(wakes, event, here);
	if (vcpu)
		vcpu->raised = wake;
	else if (!by_vcpu)
		wakes->sent[event->cpu] = (struct kvm_sent){
			.wake = wake, .pid = event->pid, .number = event->arg,
			.context = event->more & KVM_IN_INTERRUPT,
		};
}

void kvm_wakes_injected(struct kvm_wakes *wakes, const struct kvm_event *event,
			struct kvm_vcpu *here)
{
	struct virt_wake wake = nobody;

	if (!here || event->more & KVM_IN_INTERRUPT || !is_open(here))
		return;
	wake.cause = VIRT_WAKE_INTERRUPT;
	wake.vector = vector_of(event);
	if (wake.vector == VIRT_NONE)
		return;
	/* another one may have been sent before, and wait for its turn */
	if (!kvm_has(wakes->tracker, VIRT_RECORD_ACCEPT) || may_have_missed(wakes))
		wake.vector = VIRT_NONE;
	say(wakes, here, &wake);
}
