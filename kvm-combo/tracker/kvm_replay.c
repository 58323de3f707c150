// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_replay.c
 * @brief	Run the state machine of a KVM host: all records in order of time, into the model.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "kvm_holds.h"
#include "kvm_order.h"
#include "kvm_stops.h"
#include "kvm_wakes.h"
#include "virt_arguments.h"
#include "virt_block.h"
#include "virt_vcpu_lives.h"

struct kvm_replay {
	struct kvm_tracker *tracker;
	struct virt_model *model;
	struct kvm_vcpu	*vcpus;
	int32_t		*pid;		/* per CPU, of the thread that has it; or KVM_NO_PID */
	int32_t		*left;		/* per CPU, of the one that was switched out, until the
					 * next one has a record; or KVM_NO_PID */
	struct kvm_vcpu	**vcpu;		/* per CPU, that thread if it is one, or NULL */
	int64_t		*seen_ns;	/* per CPU, when its thread was there for certain, last */
	int64_t		*lost_ns;	/* per CPU, since when its records are lost */
	bool		*counted;	/* per CPU, whether it has records */
	size_t		n_cpus, room;	/* of these arrays */
	size_t		n_lost;		/* CPUs */
	int64_t		now_ns;		/* of the event that is taken */
	int64_t		last_lost_ns;	/* the last time that records began to be lost */
	int32_t		*shown;		/* vCPUs that a loss changes, see add_shown() */
	size_t		n_shown, shown_room;
	size_t		n_unknown;	/* CPUs with records whose occupant is unknown */
	int64_t		known_ns;	/* since when all of them are known, if they are */
	struct kvm_reasons reasons;
	int32_t		call_reason;	/* of KVM_WHOLE; VIRT_NONE: there was none */
	struct kvm_wakes wakes;
	struct kvm_stops stops;
	struct kvm_holds holds;
	int		error;
};

static void fail(struct kvm_replay *replay, int ret)
{
	if (ret < 0 && !replay->error)
		replay->error = ret;
}

static int failed(const struct kvm_replay *replay)
{
	return replay->error ? replay->error :
	       replay->holds.error ? replay->holds.error :
	       replay->wakes.error ? replay->wakes.error : replay->tracker->ahead.error;
}

/* --- saying it to the model ------------------------------------------------------------------ */

/** @is_late: it shows only now, see virt_model_since() */
static void put(struct kvm_replay *replay, struct kvm_vcpu *vcpu, int64_t time_ns,
		enum virt_state state, int32_t detail, uint8_t flags, bool is_late)
{
	if (state == VIRT_GUEST && vcpu->nested)
		flags |= VIRT_INTERVAL_NESTED;
	if ((state == VIRT_HYPERVISOR || state == VIRT_VMM) && !kvm_has_switches(replay->tracker))
		flags |= VIRT_INTERVAL_UNSPLIT;
	if (state == VIRT_UNKNOWN && vcpu->place == KVM_ON && kvm_has_switches(replay->tracker))
		flags |= VIRT_INTERVAL_ON_PCPU;
	if ((state == VIRT_BLOCKED || state == VIRT_OFFLINE) &&
	    !kvm_has(replay->tracker, VIRT_RECORD_WAKEUP))
		flags |= VIRT_INTERVAL_LOOSE;
	vcpu->state = state;
	fail(replay, is_late ? virt_model_since(replay->model, vcpu->index, time_ns, state,
						vcpu->pcpu, detail, flags) :
			       virt_model_set(replay->model, vcpu->index, time_ns, state,
					      vcpu->pcpu, detail, flags));
}

static void say(struct kvm_replay *replay, struct kvm_vcpu *vcpu, int64_t time_ns,
		enum virt_state state, int32_t detail, uint8_t flags)
{
	put(replay, vcpu, time_ns, state, detail, flags, false);
}

/**
 * The trace has no records of what ends a vCPU's mode, an entry or an exit: it may be in another
 * one by now.
 */
static bool is_unsure(const struct kvm_replay *replay, const struct kvm_vcpu *vcpu)
{
	return vcpu->mode != KVM_MODE_UNKNOWN &&
	       !kvm_has(replay->tracker, vcpu->mode == KVM_IN_GUEST ? VIRT_RECORD_EXIT :
								      VIRT_RECORD_ENTRY);
}

/**
 * Is it unknown whether it has a pCPU? Switches are not recorded, and it may have asked to wait, or
 * be elsewhere in another mode. A hypercall of which no more is known is not taken for a wait:
 * hardly any is one.
 */
static bool is_open(const struct kvm_replay *replay, const struct kvm_vcpu *vcpu)
{
	return !kvm_has_switches(replay->tracker) &&
	       (is_unsure(replay, vcpu) ||
		((vcpu->mode == KVM_IN_HYPERVISOR || vcpu->mode == KVM_IN_VMM) &&
		 vcpu->wait != KVM_WAIT_UNASKED && vcpu->wait != KVM_WAIT_CALL));
}

static void say_open(struct kvm_replay *replay, struct kvm_vcpu *vcpu, int64_t time_ns)
{
	/* of one that is between exit and entry it is known that it is not in the guest */
	say(replay, vcpu, time_ns, VIRT_UNKNOWN, VIRT_NONE,
	    is_unsure(replay, vcpu) ? 0 : VIRT_INTERVAL_UNSPLIT);
}

/** What it has done on its pCPU since a time, from its mode, which is known. */
static void put_mode(struct kvm_replay *replay, struct kvm_vcpu *vcpu, int64_t time_ns,
		     bool is_late)
{
	static const uint8_t states[] = {
		[KVM_IN_GUEST] = VIRT_GUEST,
		[KVM_IN_HYPERVISOR] = VIRT_HYPERVISOR,
		[KVM_IN_VMM] = VIRT_VMM,
	};

	put(replay, vcpu, time_ns, states[vcpu->mode],
	    vcpu->mode == KVM_IN_GUEST ? VIRT_NONE : vcpu->reason, 0, is_late);
}

/** What it does on its pCPU from now on, as far as that is known. */
static void say_mode(struct kvm_replay *replay, struct kvm_vcpu *vcpu, int64_t time_ns)
{
	if (is_open(replay, vcpu))
		say_open(replay, vcpu, time_ns);
	else if (vcpu->mode == KVM_MODE_UNKNOWN || is_unsure(replay, vcpu))
		say(replay, vcpu, time_ns, VIRT_UNKNOWN, VIRT_NONE, 0);
	else
		put_mode(replay, vcpu, time_ns, false);
}

static void contradict(struct kvm_replay *replay, const char *what)
{
	virt_model_contradiction_at(replay->model, what, replay->now_ns);
}

static int32_t who(struct kvm_replay *replay, int32_t pid)
{
	int32_t number = kvm_who(replay->tracker, replay->model, replay->vcpus, pid);

	fail(replay, number == VIRT_NONE ? 0 : number);
	return number;
}

static struct kvm_vcpu *vcpu_of(const struct kvm_replay *replay, int32_t pid)
{
	const struct kvm_thread *thread = kvm_thread_find(replay->tracker, pid);

	return thread && thread->vcpu != VIRT_NONE ? &replay->vcpus[thread->vcpu] : NULL;
}

static void occupy(struct kvm_replay *replay, int cpu, int64_t time_ns, int32_t pid)
{
	bool was_known = replay->pid[cpu] != KVM_NO_PID, is_known = pid != KVM_NO_PID;

	if (was_known && !is_known)
		replay->n_unknown++;
	if (!was_known && is_known && !--replay->n_unknown)
		replay->known_ns = time_ns;
	kvm_holds_occupy(&replay->holds, cpu, time_ns, replay->pid[cpu], pid);
	replay->pid[cpu] = pid;
	replay->vcpu[cpu] = pid > 0 ? vcpu_of(replay, pid) : NULL;
	/* without switches, a record of a task or of none shows only its own moment */
	is_known &= kvm_has_switches(replay->tracker) || replay->vcpu[cpu];
	fail(replay, virt_model_occupy(replay->model, (int16_t)cpu, time_ns,
				       is_known ? who(replay, pid) : VIRT_NONE, is_known));
}

/* --- on a pCPU and off it -------------------------------------------------------------------- */

/**
 * A record cannot be where its vCPU was in another mode. Another one is missing, at an unknown
 * time: what the vCPU has done since the last one about its mode is unknown.
 * @missing: such records; if the trace has none at all, it is unknown already
 */
static void doubt(struct kvm_replay *replay, struct kvm_vcpu *vcpu, enum virt_record_kind missing,
		  const char *what)
{
	if (!kvm_has(replay->tracker, missing))
		return;
	contradict(replay, what);
	put(replay, vcpu, vcpu->mode_ns, VIRT_UNKNOWN, VIRT_NONE, 0, true);
}

/** Whether a vCPU whose mode shows now has been in it since it has its pCPU. */
static bool is_since_arrival(const struct kvm_replay *replay, const struct kvm_vcpu *vcpu)
{
	/* another mode before would have left a record, or a switch shows it in the kernel */
	return vcpu->mode == KVM_IN_GUEST ? kvm_has(replay->tracker, VIRT_RECORD_ENTRY) :
	       vcpu->by_switch || kvm_has(replay->tracker, VIRT_RECORD_EXIT);
}

/** A vCPU's mode becomes known: that is what it has been doing since it has its pCPU. */
static void resolve(struct kvm_replay *replay, struct kvm_vcpu *vcpu, enum kvm_mode mode)
{
	if (vcpu->mode != KVM_MODE_UNKNOWN)
		return;
	vcpu->mode = mode;
	if (vcpu->place != KVM_ON)
		return;
	if (mode == KVM_IN_GUEST && vcpu->by_switch)
		doubt(replay, vcpu, VIRT_RECORD_ENTRY, "a VM exit without an entry before it");
	else if (is_since_arrival(replay, vcpu) && is_open(replay, vcpu))
		put(replay, vcpu, vcpu->since_ns, VIRT_UNKNOWN, VIRT_NONE,
		    VIRT_INTERVAL_UNSPLIT, true);
	else if (is_since_arrival(replay, vcpu))
		put_mode(replay, vcpu, vcpu->since_ns, true);
}

/** A vCPU has left its guest, at some time since it entered it, and for some reason. */
static void miss_exit(struct kvm_replay *replay, struct kvm_vcpu *vcpu, const char *what)
{
	doubt(replay, vcpu, VIRT_RECORD_EXIT, what);
	vcpu->mode = KVM_IN_HYPERVISOR;
	vcpu->reason = VIRT_NONE;
	vcpu->wait = KVM_WAIT_UNKNOWN;
}

/**
 * A vCPU whose entries are not recorded has not entered its guest since the last record about its
 * mode: no exit has followed before another record shows that it is in the kernel.
 */
static void settle(struct kvm_replay *replay, struct kvm_vcpu *vcpu)
{
	if (vcpu->mode != KVM_IN_GUEST && is_unsure(replay, vcpu) && vcpu->place == KVM_ON &&
	    kvm_has_switches(replay->tracker))
		put_mode(replay, vcpu, vcpu->mode_ns, true);
}

/**
 * Something is known of a vCPU that is on no CPU, until records are lost: a loss visits only such
 * vCPUs, so that many others take no time.
 */
static void add_shown(struct kvm_replay *replay, struct kvm_vcpu *vcpu)
{
	if (vcpu->is_shown)
		return;
	if (ARRAY_GROW(replay->shown, replay->n_shown, replay->shown_room)) {
		fail(replay, -ENOMEM);
		return;
	}
	replay->shown[replay->n_shown++] = (int32_t)(vcpu - replay->vcpus);
	vcpu->is_shown = true;
}

/** Since when a vCPU's place is unknown. */
static int64_t unknown_since(const struct kvm_replay *replay, const struct kvm_vcpu *vcpu)
{
	return vcpu->since_ns > replay->last_lost_ns ? vcpu->since_ns : replay->last_lost_ns;
}

/** From now on, it is unknown what a vCPU does. */
static void lose(struct kvm_replay *replay, struct kvm_vcpu *vcpu, int64_t time_ns)
{
	vcpu->place = KVM_PLACE_UNKNOWN;
	vcpu->mode = KVM_MODE_UNKNOWN;
	vcpu->is_guess = false;
	vcpu->level_known = false;
	vcpu->reason = VIRT_NONE;
	vcpu->wait = KVM_WAIT_UNKNOWN;
	vcpu->halts = false;
	kvm_wakes_forget(vcpu);
	kvm_holds_end(&replay->holds, vcpu, time_ns, false);
	kvm_stops_set(&replay->stops, vcpu, false);
	vcpu->since_ns = vcpu->mode_ns = time_ns;
	say(replay, vcpu, time_ns, VIRT_UNKNOWN, VIRT_NONE, 0);
}

/**
 * The occupant of a CPU has left it, at some time since it was seen there last; from then on, the
 * occupant is unknown. A vCPU goes on somewhere with what it did.
 */
static void vacate(struct kvm_replay *replay, int cpu)
{
	struct kvm_vcpu *vcpu = replay->vcpu[cpu];
	int64_t since_ns = replay->seen_ns[cpu];

	occupy(replay, cpu, since_ns, KVM_NO_PID);
	if (!vcpu)
		return;
	if (kvm_has_switches(replay->tracker) || vcpu->mode == KVM_MODE_UNKNOWN) {
		lose(replay, vcpu, since_ns);
	} else if (vcpu->mode == KVM_IN_GUEST && !is_unsure(replay, vcpu)) {
		contradict(replay, "a vCPU leaves its pCPU without a VM exit");
		lose(replay, vcpu, since_ns);
	} else {
		vcpu->place = KVM_PLACE_UNKNOWN;
		vcpu->since_ns = since_ns;
		say_open(replay, vcpu, since_ns);
		add_shown(replay, vcpu);
	}
}

/**
 * The first word about a vCPU is that it is woken, and it is on none of the CPUs: it has been
 * asleep since these are known, as nothing woke it.
 */
static void find_asleep(struct kvm_replay *replay, struct kvm_vcpu *vcpu)
{
	int64_t since_ns = unknown_since(replay, vcpu);

	if (vcpu->place != KVM_PLACE_UNKNOWN || replay->n_unknown ||
	    !kvm_has_switches(replay->tracker))
		return;
	vcpu->place = KVM_OFF;
	add_shown(replay, vcpu);
	say(replay, vcpu, since_ns > replay->known_ns ? since_ns : replay->known_ns, VIRT_BLOCKED,
	    VIRT_NONE, 0);
}

/**
 * A preempted vCPU gets another pCPU than the one that it waited for: since when it waited for that
 * one, and for which occupant, is not recorded.
 */
static void say_moved(struct kvm_replay *replay, struct kvm_vcpu *vcpu)
{
	vcpu->pcpu = VIRT_NONE;
	put(replay, vcpu, INT64_MIN, VIRT_PREEMPTED, VIRT_NONE, 0, true);
}

/** A thread gets a pCPU by a switch, or is found there. */
static void arrive(struct kvm_replay *replay, struct kvm_vcpu *vcpu, int cpu, int64_t time_ns,
		   bool by_switch)
{
	if (vcpu->place == KVM_ON && vcpu->pcpu == cpu)
		return;
	if (vcpu->place == KVM_ON) {
		if (kvm_has_switches(replay->tracker))
			contradict(replay, "a vCPU's thread is on two pCPUs");
		vacate(replay, vcpu->pcpu);
	}
	if (vcpu->is_over) {
		kvm_stops_revive(&replay->stops, vcpu);
		fail(replay, virt_model_end_machine(replay->model, vcpu->machine, VIRT_NO_END));
	}
	if (vcpu->state == VIRT_PREEMPTED && vcpu->awaited != cpu)
		say_moved(replay, vcpu);
	kvm_holds_end(&replay->holds, vcpu, time_ns, true);
	vcpu->place = KVM_ON;
	vcpu->pcpu = (int16_t)cpu;
	vcpu->since_ns = time_ns;
	vcpu->by_switch = by_switch;
	/* by another record than a switch, it is only seen again, as what it was */
	if (by_switch || vcpu->mode == KVM_MODE_UNKNOWN)
		vcpu->mode_ns = time_ns;
	say_mode(replay, vcpu, time_ns);
}

/**
 * Is this a record of a thread that its CPU is just leaving?
 *
 * The scheduler records a switch before it changes the stack, and what it calls in between records
 * the old thread's pid: KVM where it puts a vCPU away (arm64: kvm_timer_save_state), the switch of
 * page tables and of the FPU's state on x86. No vCPU does there what it does in KVM_RUN.
 */
static bool is_leaving(struct kvm_replay *replay, const struct kvm_event *event)
{
	bool is_at_work = kvm_is_of_guest(event) || event->kind == KVM_USERSPACE_EXIT ||
			  event->kind == KVM_SWITCH || event->kind == KVM_FOUND;

	if (replay->left[event->cpu] == event->pid && replay->pid[event->cpu] != event->pid &&
	    !is_at_work)
		return true;
	replay->left[event->cpu] = KVM_NO_PID;
	return false;
}

/** What a record says is of another thread than the one that wrote it. */
static bool is_of_another(const struct kvm_event *event)
{
	return event->kind == KVM_WAKEUP || event->kind == KVM_WAKING ||
	       event->kind == KVM_BORN || event->kind == KVM_MIGRATE;
}

/** The vCPU whose thread wrote a record, on the CPU that it has or is just leaving; or NULL. */
static struct kvm_vcpu *writer(const struct kvm_replay *replay, const struct kvm_event *event)
{
	return replay->pid[event->cpu] == event->pid ? replay->vcpu[event->cpu] :
						       vcpu_of(replay, event->pid);
}

/** Another thread than the one that is known has a CPU. */
__attribute__((noinline))
static void notice_other(struct kvm_replay *replay, int cpu, int64_t time_ns, int32_t pid)
{
	struct kvm_vcpu *vcpu;

	if (replay->pid[cpu] != KVM_NO_PID) {
		if (kvm_has_switches(replay->tracker))
			contradict(replay, "a thread has a pCPU that it was not switched to");
		vacate(replay, cpu);
	}
	occupy(replay, cpu, time_ns, pid);
	vcpu = replay->vcpu[cpu];
	if (vcpu)
		arrive(replay, vcpu, cpu, time_ns, false);
}

/** A record of @pid on a CPU: it has this CPU now, if that is news. */
static inline void notice(struct kvm_replay *replay, int cpu, int64_t time_ns, int32_t pid)
{
	if (replay->pid[cpu] != pid)
		notice_other(replay, cpu, time_ns, pid);
}

/** A vCPU has been stopped, or has ended; if that was the last one, its machine is stopped. */
static void stop(struct kvm_replay *replay, struct kvm_vcpu *vcpu, int64_t time_ns)
{
	struct kvm_vcpu *other;

	kvm_stops_set(&replay->stops, vcpu, true);
	while ((other = kvm_stops_next(&replay->stops, vcpu)))
		if (other->stopped && other->place == KVM_OFF && other->state == VIRT_BLOCKED)
			say(replay, other, time_ns, VIRT_OFFLINE, VIRT_NONE, 0);
}

/**
 * Does the trace not say whether the guest asked for a wait, as it has no records of what the
 * monitor was called for, or of which hypercall it was?
 */
static bool is_loose_wait(const struct kvm_replay *replay, const struct kvm_vcpu *vcpu)
{
	return (vcpu->wait == KVM_WAIT_UNASKED &&
		!kvm_has(replay->tracker, VIRT_RECORD_MONITOR)) ||
	       (vcpu->wait == KVM_WAIT_CALL && !kvm_has(replay->tracker, VIRT_RECORD_HYPERCALL));
}

/** A thread goes to sleep. */
static void sleep_on(struct kvm_replay *replay, struct kvm_vcpu *vcpu,
		     const struct kvm_event *event)
{
	uint64_t prev_state = (uint64_t)event->value;
	bool is_unasked = vcpu->wait == KVM_WAIT_UNASKED;
	uint8_t flags = !is_loose_wait(replay, vcpu) ? is_unasked ? VIRT_INTERVAL_UNASKED : 0 :
						       VIRT_INTERVAL_LOOSE;

	kvm_wakes_sleep(&replay->wakes, vcpu, prev_state);
	/* by a signal or a debugger, or with its machine */
	if (prev_state & KVM_STATE_STOPPED ||
	    (vcpu->stopped && kvm_stops_is_whole(&replay->stops, vcpu))) {
		say(replay, vcpu, event->time_ns, VIRT_OFFLINE, VIRT_NONE,
		    prev_state & KVM_STATE_STOPPED ? VIRT_INTERVAL_SIGNAL : 0);
		return;
	}
	say(replay, vcpu, event->time_ns, VIRT_BLOCKED, VIRT_NONE, flags);
	if (vcpu->stopped)
		kvm_stops_sleep(&replay->stops, vcpu);
}

/** A thread loses its pCPU to @next, by its own will if it sleeps. */
static void leave(struct kvm_replay *replay, struct kvm_vcpu *vcpu, const struct kvm_event *event)
{
	uint64_t prev_state = (uint64_t)event->value;

	vcpu->is_guess |= vcpu->mode == KVM_MODE_UNKNOWN;
	if (kvm_has_modes(replay->tracker))
		resolve(replay, vcpu, KVM_IN_HYPERVISOR);
	settle(replay, vcpu);
	if (vcpu->mode == KVM_IN_GUEST)
		miss_exit(replay, vcpu, "a vCPU is switched out without a VM exit");
	vcpu->place = KVM_OFF;
	add_shown(replay, vcpu);
	/* a thread of user space is never parked */
	if (prev_state & (KVM_STATE_DEAD | KVM_STATE_DEAD_OR_PARKED)) {
		say(replay, vcpu, event->time_ns, VIRT_OFFLINE, VIRT_NONE, 0);
		stop(replay, vcpu, event->time_ns);
		if (!vcpu->n_later && kvm_stops_end(&replay->stops, vcpu))
			fail(replay, virt_model_end_machine(replay->model, vcpu->machine,
							    event->time_ns));
	} else if (replay->n_lost) {
		/* it may be woken and run elsewhere, unseen */
		lose(replay, vcpu, event->time_ns);
	} else if (prev_state & KVM_STATE_ASLEEP) {
		sleep_on(replay, vcpu, event);
	} else {
		vcpu->awaited = vcpu->pcpu;
		say(replay, vcpu, event->time_ns, VIRT_PREEMPTED, who(replay, event->arg), 0);
		kvm_holds_wait(&replay->holds, vcpu, vcpu->awaited, event->time_ns);
	}
}

/** A thread is no vCPU any more, which goes on as another one: it is a task of the machine's. */
static void displace(struct kvm_replay *replay, struct kvm_vcpu *vcpu, int64_t time_ns)
{
	struct kvm_thread *thread = kvm_thread_find(replay->tracker, vcpu->tid_now);

	if (thread) {
		thread->vcpu_then = thread->vcpu;
		thread->vcpu = VIRT_NONE;
	}
	if (vcpu->place == KVM_ON)
		occupy(replay, vcpu->pcpu, time_ns, vcpu->tid_now);
}

/** A thread enters or leaves a guest for the first time: it is the vCPU from now on. */
static void take_over(struct kvm_replay *replay, const struct kvm_event *event)
{
	struct kvm_thread *thread = kvm_thread_find(replay->tracker, event->pid);
	struct kvm_vcpu *vcpu;

	if (!thread || !thread->first || thread->vcpu != VIRT_NONE ||
	    thread->vcpu_then == VIRT_NONE)
		return;
	vcpu = &replay->vcpus[thread->vcpu_then];
	displace(replay, vcpu, event->time_ns);
	thread->vcpu = thread->vcpu_then;
	vcpu->tid_now = event->pid;
	vcpu->n_later--;
	lose(replay, vcpu, event->time_ns);
	fail(replay, virt_model_add_life(replay->model, &(struct virt_life){
		.since_ns = event->time_ns, .vcpu = vcpu->index, .pid = event->pid,
	}));
	if (replay->pid[event->cpu] != event->pid)
		return;
	occupy(replay, event->cpu, event->time_ns, event->pid);
	arrive(replay, vcpu, event->cpu, event->time_ns, false);
}

/* --- records --------------------------------------------------------------------------------- */

/** The vCPU whose own record this is, which has been found on that CPU. */
static struct kvm_vcpu *own_vcpu(struct kvm_replay *replay, const struct kvm_event *event)
{
	struct kvm_vcpu *vcpu = replay->vcpu[event->cpu];

	if (!vcpu && kvm_is_of_guest(event))
		contradict(replay, "the idle task enters or leaves a guest");
	return vcpu;
}

static void on_vm_entry(struct kvm_replay *replay, const struct kvm_event *event)
{
	struct kvm_vcpu *vcpu = own_vcpu(replay, event);

	if (!vcpu)
		return;
	resolve(replay, vcpu, KVM_IN_HYPERVISOR);
	kvm_find_level(replay->tracker, vcpu, event);
	if (vcpu->mode == KVM_IN_GUEST)
		doubt(replay, vcpu, VIRT_RECORD_EXIT, "a VM entry without an exit before it");
	vcpu->mode = KVM_IN_GUEST;
	vcpu->mode_ns = event->time_ns;
	vcpu->is_guess = false;
	vcpu->wait = KVM_WAIT_UNKNOWN;
	kvm_wakes_forget(vcpu);
	kvm_stops_set(&replay->stops, vcpu, false);
	say_mode(replay, vcpu, event->time_ns);
}

static void on_vm_exit(struct kvm_replay *replay, const struct kvm_event *event)
{
	struct kvm_vcpu *vcpu = own_vcpu(replay, event);
	struct kvm_reason reason;

	if (!vcpu)
		return;
	kvm_find_level(replay->tracker, vcpu, event);
	resolve(replay, vcpu, KVM_IN_GUEST);
	/* KVM's fast path enters again without a record of it, from Linux 5.8 to 5.11 */
	if (vcpu->mode != KVM_IN_GUEST)
		doubt(replay, vcpu, VIRT_RECORD_ENTRY, "a VM exit without an entry before it");
	vcpu->mode = KVM_IN_HYPERVISOR;
	vcpu->mode_ns = event->time_ns;
	vcpu->is_guess = false;
	kvm_wakes_forget(vcpu);
	kvm_stops_set(&replay->stops, vcpu, false);
	fail(replay, kvm_reason_of(&replay->reasons, replay->model, event, vcpu->nested, &reason));
	vcpu->reason = reason.index;
	/* whether it waits is then the guest's hypervisor's affair */
	vcpu->wait = kvm_is_handed_on(replay->tracker, vcpu, event) ? KVM_WAIT_UNASKED :
								      reason.wait;
	say(replay, vcpu, event->time_ns, VIRT_HYPERVISOR, vcpu->reason, VIRT_INTERVAL_EXIT);
	if (is_unsure(replay, vcpu))
		say_mode(replay, vcpu, event->time_ns);
}

static void on_userspace_exit(struct kvm_replay *replay, const struct kvm_event *event)
{
	struct kvm_vcpu *vcpu = own_vcpu(replay, event);

	if (!vcpu || !kvm_has_modes(replay->tracker))
		return;
	resolve(replay, vcpu, KVM_IN_HYPERVISOR);
	settle(replay, vcpu);
	if (vcpu->mode == KVM_IN_GUEST)
		miss_exit(replay, vcpu, "a vCPU goes to its monitor without a VM exit");
	vcpu->mode = KVM_IN_VMM;
	vcpu->mode_ns = event->time_ns;
	vcpu->is_guess = false;
	vcpu->wait = kvm_wait_of_monitor(vcpu->wait, event);
	say_mode(replay, vcpu, event->time_ns);
	if (vcpu->wait == KVM_WAIT_STOPPED && kvm_has(replay->tracker, VIRT_RECORD_RUN))
		stop(replay, vcpu, event->time_ns);
}

/** It is back in the kernel, where it may sleep as its guest wants to. */
static void on_run(struct kvm_replay *replay, const struct kvm_event *event)
{
	struct kvm_vcpu *vcpu = own_vcpu(replay, event);

	if (vcpu && event->value)
		kvm_stops_set(&replay->stops, vcpu, false);
}

/** A wait in the kernel is over, of which KVM has polled the first part or all. */
static void on_halted(struct kvm_replay *replay, const struct kvm_event *event)
{
	struct kvm_vcpu *vcpu = own_vcpu(replay, event);
	int64_t from_ns;

	if (!vcpu || !kvm_has_modes(replay->tracker) || event->value <= 0)
		return;
	/* without entries, or exits, only what it polled is certain */
	if (kvm_has(replay->tracker, VIRT_RECORD_ENTRY) &&
	    kvm_has(replay->tracker, VIRT_RECORD_EXIT))
		resolve(replay, vcpu, KVM_IN_HYPERVISOR);
	settle(replay, vcpu);
	if (vcpu->mode != KVM_IN_GUEST && vcpu->mode != KVM_IN_VMM &&
	    !__builtin_sub_overflow(event->time_ns, event->value, &from_ns))
		fail(replay, virt_model_polled(replay->model, vcpu->index, from_ns, event->time_ns,
					       event->more));
	if (is_unsure(replay, vcpu))
		say_mode(replay, vcpu, event->time_ns);
}

/** Something shows what the exit is for that the vCPU has not come back from. */
static void set_argument(struct kvm_replay *replay, const struct kvm_vcpu *vcpu,
			 enum exit_argument_kind kind, uint64_t value)
{
	if ((vcpu->mode == KVM_IN_HYPERVISOR || vcpu->mode == KVM_IN_VMM) &&
	    vcpu->reason != VIRT_NONE && kind < EXIT_ARGUMENT_OTHERS &&
	    value <= exit_argument_most(kind))
		fail(replay, virt_model_set_argument(replay->model, vcpu->index, kind, value));
}

/** Something shows what the host does for the vCPU's memory, in the kernel. */
static void saw(struct kvm_replay *replay, const struct kvm_vcpu *vcpu, unsigned int seen)
{
	if (vcpu->mode == KVM_IN_HYPERVISOR && vcpu->reason != VIRT_NONE && seen &&
	    seen < EXIT_SEEN_SLEEP)
		fail(replay, virt_model_saw(replay->model, vcpu->index, seen));
}

static void on_argument(struct kvm_replay *replay, const struct kvm_event *event)
{
	enum exit_argument_kind kind = (enum exit_argument_kind)event->more;
	struct kvm_vcpu *vcpu = own_vcpu(replay, event);
	uint64_t value = (uint64_t)event->value;

	if (!vcpu)
		return;
	if (kind == EXIT_ARGUMENT_MMIO_READ || kind == EXIT_ARGUMENT_MMIO_WRITE)
		saw(replay, vcpu, EXIT_SEEN_MMIO);
	if (kind == EXIT_ARGUMENT_PAGE || kind == EXIT_ARGUMENT_ABORT) {
		if (value & KVM_PAGE_SHARED)
			saw(replay, vcpu, EXIT_SEEN_SHARED);
		value &= ~(uint64_t)KVM_PAGE_SHARED;
	}
	set_argument(replay, vcpu, kind, value);
}

static void on_saw(struct kvm_replay *replay, const struct kvm_event *event)
{
	const struct kvm_vcpu *vcpu = own_vcpu(replay, event);

	if (vcpu && event->more == KVM_IN_TASK && event->value > 0 &&
	    event->value < EXIT_SEEN_SLEEP)
		saw(replay, vcpu, (unsigned int)event->value);
}

static void on_read_begins(struct kvm_replay *replay, const struct kvm_event *event)
{
	const struct kvm_vcpu *vcpu = own_vcpu(replay, event);

	if (!vcpu || event->more != KVM_IN_TASK || vcpu->mode != KVM_IN_HYPERVISOR)
		return;
	saw(replay, vcpu, EXIT_SEEN_READ);
	fail(replay, virt_model_read_begins(replay->model, vcpu->index, event->time_ns,
					    (uint32_t)event->arg, (uint64_t)event->value));
}

static void on_read_ends(struct kvm_replay *replay, const struct kvm_event *event)
{
	uint64_t value = (uint64_t)event->value;

	virt_model_read_ends(replay->model, event->time_ns, (uint32_t)event->arg,
			     value & ((UINT64_C(1) << KVM_SECTOR_BITS) - 1),
			     (uint32_t)(value >> KVM_SECTOR_BITS));
}

static void on_userfault(struct kvm_replay *replay, const struct kvm_event *event)
{
	struct kvm_thread *thread = kvm_thread_find(replay->tracker, event->pid);

	if (thread)
		thread->in_userfault = event->value;
}

static void on_hypercall(struct kvm_replay *replay, const struct kvm_event *event)
{
	static const uint8_t kinds[] = {
		[KVM_HYPERCALL_KVM] = EXIT_ARGUMENT_CALL_KVM,
		[KVM_HYPERCALL_HYPERV] = EXIT_ARGUMENT_CALL_HYPERV,
		[KVM_HYPERCALL_XEN] = EXIT_ARGUMENT_CALL_XEN,
	};
	struct kvm_vcpu *vcpu = own_vcpu(replay, event);

	if (vcpu && event->more < ARRAY_SIZE(kinds))
		set_argument(replay, vcpu, (enum exit_argument_kind)kinds[event->more],
			     (uint64_t)event->value);
	/* that of an unknown exit, or of a guest of the guest, does not count */
	if (vcpu && vcpu->mode == KVM_IN_HYPERVISOR && vcpu->wait == KVM_WAIT_CALL)
		vcpu->wait = kvm_is_waiting_call(event) ? KVM_WAIT_ASKED : KVM_WAIT_UNASKED;
}

void kvm_replay_asleep(struct kvm_replay *replay, struct kvm_vcpu *vcpu, int64_t time_ns)
{
	/* no record has shown it yet, or none that still counts */
	if (vcpu->place != KVM_PLACE_UNKNOWN || replay->n_lost || time_ns < vcpu->since_ns)
		return;
	vcpu->place = KVM_OFF;
	add_shown(replay, vcpu);
	say(replay, vcpu, time_ns, VIRT_BLOCKED, VIRT_NONE, 0);
}

/** The earliest moment at which @pid can have been on that CPU without a word. */
static int64_t there_since(const struct kvm_replay *replay, int cpu, int32_t pid)
{
	const struct kvm_vcpu *vcpu = vcpu_of(replay, pid);
	int64_t since_ns = vcpu ? vcpu->since_ns : INT64_MIN;

	if (replay->pid[cpu] == pid)
		return since_ns;
	if (replay->seen_ns[cpu] > since_ns)
		since_ns = replay->seen_ns[cpu];
	if (vcpu && vcpu->place == KVM_ON && replay->seen_ns[vcpu->pcpu] > since_ns)
		since_ns = replay->seen_ns[vcpu->pcpu];
	return since_ns;
}

/** When the exit was of a hypercall that ends now; its end if that is unknown. */
static int64_t call_began(struct kvm_replay *replay, const struct kvm_event *event,
			  int64_t since_ns)
{
	const struct kvm_vcpu *vcpu = vcpu_of(replay, event->pid);
	int64_t from_ns;

	if (event->value < 0 ||
	    __builtin_sub_overflow(event->time_ns, event->value, &from_ns))
		return event->time_ns;
	if (from_ns >= since_ns || !vcpu || vcpu->entered_ns != since_ns)
		return from_ns;
	contradict(replay, "a hypercall began before the one before it had ended");
	return event->time_ns;
}

/**
 * A hypercall is over: all that is known of its vCPU. Its thread had the CPU since the exit, unless
 * that was before another thread had it.
 */
static void on_whole(struct kvm_replay *replay, const struct kvm_event *event)
{
	int64_t since_ns = there_since(replay, event->cpu, event->pid);
	int64_t began_ns = call_began(replay, event, since_ns);
	int64_t from_ns = began_ns > since_ns ? began_ns : since_ns;
	struct kvm_vcpu *vcpu;

	notice(replay, event->cpu, from_ns, event->pid);
	vcpu = own_vcpu(replay, event);
	if (!vcpu)
		return;
	if (replay->call_reason == VIRT_NONE) {
		replay->call_reason = virt_model_add_reason(replay->model, "HYPERCALL");
		fail(replay, replay->call_reason);
	}
	if (began_ns < event->time_ns && replay->call_reason >= 0)
		say(replay, vcpu, from_ns, VIRT_HYPERVISOR, replay->call_reason,
		    began_ns == from_ns ? VIRT_INTERVAL_EXIT : 0);
	vcpu->since_ns = vcpu->entered_ns = event->time_ns;
	if (!kvm_has_switches(replay->tracker)) {
		vcpu->place = KVM_PLACE_UNKNOWN;
		occupy(replay, event->cpu, event->time_ns, KVM_NO_PID);
	}
	say(replay, vcpu, event->time_ns, VIRT_UNKNOWN, VIRT_NONE, VIRT_INTERVAL_ENTERED);
}

static void on_nested(struct kvm_replay *replay, const struct kvm_event *event)
{
	struct kvm_vcpu *vcpu = replay->vcpu[event->cpu];

	if (!vcpu)
		return;
	if (event->kind == KVM_NESTED_ENTRY)
		vcpu->nested = vcpu->level_known = true;
	/* an exit may be handled without the guest's hypervisor; only what it sees ends the stay */
	else if (event->kind == KVM_NESTED_INJECT ||
		 !kvm_has(replay->tracker, VIRT_RECORD_NESTED_INJECT))
		vcpu->nested = false;
}

static void on_switch(struct kvm_replay *replay, const struct kvm_event *event)
{
	struct kvm_vcpu *vcpu = replay->vcpu[event->cpu];

	if (vcpu)
		leave(replay, vcpu, event);
	occupy(replay, event->cpu, event->time_ns, event->arg);
	replay->left[event->cpu] = event->pid;
	vcpu = replay->vcpu[event->cpu];
	if (vcpu)
		arrive(replay, vcpu, event->cpu, event->time_ns, true);
}

static void say_waking(struct kvm_replay *replay, struct kvm_vcpu *vcpu,
		       const struct kvm_event *event)
{
	say(replay, vcpu, event->time_ns, VIRT_WAKING, VIRT_NONE, 0);
	kvm_holds_wait(&replay->holds, vcpu, event->kind == KVM_WAKEUP && event->value >= 0 &&
		       event->value <= INT16_MAX ? (int32_t)event->value : VIRT_NONE,
		       event->time_ns);
}

static void on_wakeup(struct kvm_replay *replay, const struct kvm_event *event)
{
	struct kvm_vcpu *vcpu = vcpu_of(replay, event->arg);

	if (vcpu)
		find_asleep(replay, vcpu);
	/* who has a pCPU or waits for one may be woken, too: that changes nothing */
	if (vcpu && vcpu->place == KVM_OFF && !replay->n_lost &&
	    (vcpu->state == VIRT_BLOCKED || vcpu->state == VIRT_OFFLINE)) {
		if (vcpu->state == VIRT_BLOCKED)
			kvm_wakes_woken(&replay->wakes, vcpu, event, writer(replay, event));
		if (kvm_has_switches(replay->tracker))
			say_waking(replay, vcpu, event);
		else
			lose(replay, vcpu, event->time_ns);
	}
}

static void on_waking(struct kvm_replay *replay, const struct kvm_event *event)
{
	struct kvm_vcpu *vcpu = vcpu_of(replay, event->arg);

	const struct kvm_thread *waker = kvm_thread_find(replay->tracker, event->pid);

	if (!vcpu || vcpu->place == KVM_ON)
		return;
	if (waker && waker->in_userfault && event->more == KVM_IN_TASK)
		saw(replay, vcpu, EXIT_SEEN_USERFAULT);
	kvm_wakes_waking(&replay->wakes, vcpu, event, writer(replay, event));
}

static void on_accept(struct kvm_replay *replay, const struct kvm_event *event)
{
	kvm_wakes_sent(&replay->wakes, event, replay->vcpu[event->cpu]);
}

static void on_inject(struct kvm_replay *replay, const struct kvm_event *event)
{
	kvm_wakes_injected(&replay->wakes, event, replay->vcpu[event->cpu]);
}

/** A thread begins: its monitor has not given it to KVM yet, and may wait with that. */
static void on_born(struct kvm_replay *replay, const struct kvm_event *event)
{
	struct kvm_vcpu *vcpu = vcpu_of(replay, event->arg);

	if (vcpu && vcpu->place == KVM_PLACE_UNKNOWN) {
		vcpu->place = KVM_OFF;
		add_shown(replay, vcpu);
		say(replay, vcpu, unknown_since(replay, vcpu), VIRT_OFFLINE, VIRT_NONE, 0);
		if (kvm_has(replay->tracker, VIRT_RECORD_RUN) && kvm_has_modes(replay->tracker)) {
			vcpu->mode = KVM_IN_VMM;
			vcpu->wait = KVM_WAIT_STOPPED;
			stop(replay, vcpu, event->time_ns);
		}
	}
	on_wakeup(replay, event);
}

/** A preempted thread is moved: now it waits for another pCPU. */
static void on_migrate(struct kvm_replay *replay, const struct kvm_event *event)
{
	struct kvm_vcpu *vcpu = vcpu_of(replay, event->arg);
	int16_t last;

	if (!vcpu || vcpu->place != KVM_OFF || vcpu->state != VIRT_PREEMPTED ||
	    event->value < 0 || event->value >= (int64_t)replay->tracker->n_cpus)
		return;
	kvm_holds_end(&replay->holds, vcpu, event->time_ns, true);
	kvm_holds_wait(&replay->holds, vcpu, (int32_t)event->value, event->time_ns);
	last = vcpu->pcpu;
	vcpu->pcpu = vcpu->awaited = (int16_t)event->value;
	say(replay, vcpu, event->time_ns, VIRT_PREEMPTED,
	    replay->pid[vcpu->pcpu] == KVM_NO_PID ? VIRT_NONE :
	    who(replay, replay->pid[vcpu->pcpu]), 0);
	vcpu->pcpu = last;
}

static void on_lost(struct kvm_replay *replay, const struct kvm_event *event)
{
	struct kvm_vcpu *here = replay->vcpu[event->cpu];

	replay->lost_ns[event->cpu] = replay->last_lost_ns = event->time_ns;
	replay->n_lost++;
	replay->left[event->cpu] = KVM_NO_PID;
	occupy(replay, event->cpu, event->time_ns, KVM_NO_PID);
	if (here)
		lose(replay, here, event->time_ns);
	for (size_t i = 0; i < replay->n_shown; i++) {
		struct kvm_vcpu *vcpu = &replay->vcpus[replay->shown[i]];

		if (vcpu->place != KVM_ON)
			lose(replay, vcpu, event->time_ns);
		vcpu->is_shown = false;
	}
	replay->n_shown = 0;
}

static void on_expired(struct kvm_replay *replay, const struct kvm_event *event)
{
	kvm_holds_expired(&replay->holds, event->time_ns);
}

/** What is lost before an event, which is KVM_FOUND. */
static struct virt_loss loss_before(const struct kvm_replay *replay, const struct kvm_event *event)
{
	return (struct virt_loss){
		.from_ns = replay->lost_ns[event->cpu], .to_ns = event->time_ns,
		.records = (uint64_t)event->value, .pcpu = event->cpu,
	};
}

static void on_found(struct kvm_replay *replay, const struct kvm_event *event)
{
	const struct virt_loss loss = loss_before(replay, event);

	replay->n_lost--;
	fail(replay, virt_model_add_loss(replay->model, &loss));
}

int kvm_replay_open_losses(const struct kvm_replay *replay, struct virt_model *model)
{
	int ret = 0;

	for (size_t c = 0; c < replay->n_cpus && !ret; c++) {
		const struct kvm_cpu *cpu = &replay->tracker->cpus[c];
		struct virt_loss loss;

		/* its end comes right behind its begin */
		if (cpu->taken == cpu->events.n_plain ||
		    cpu->events.plain[cpu->taken].kind != KVM_FOUND)
			continue;
		loss = loss_before(replay, &cpu->events.plain[cpu->taken]);
		ret = virt_model_add_loss(model, &loss);
	}
	return ret;
}

static inline int take(struct kvm_replay *replay, const struct kvm_event *event)
{
	static void (*const rules[])(struct kvm_replay *, const struct kvm_event *) = {
		[KVM_ENTRY] = on_vm_entry,
		[KVM_EXIT] = on_vm_exit,
		[KVM_USERSPACE_EXIT] = on_userspace_exit,
		[KVM_NESTED_ENTRY] = on_nested,
		[KVM_NESTED_EXIT] = on_nested,
		[KVM_NESTED_INJECT] = on_nested,
		[KVM_SWITCH] = on_switch,
		[KVM_WAKEUP] = on_wakeup,
		[KVM_MIGRATE] = on_migrate,
		[KVM_LOST] = on_lost,
		[KVM_FOUND] = on_found,
		[KVM_BORN] = on_born,
		[KVM_HYPERCALL] = on_hypercall,
		[KVM_WAKING] = on_waking,
		[KVM_ACCEPT] = on_accept,
		[KVM_INJECT] = on_inject,
		[KVM_RUN] = on_run,
		[KVM_HALTED] = on_halted,
		[KVM_ARGUMENT] = on_argument,
		[KVM_SAW] = on_saw,
		[KVM_READ_BEGINS] = on_read_begins,
		[KVM_READ_ENDS] = on_read_ends,
		[KVM_USERFAULT] = on_userfault,
		[KVM_EXPIRED] = on_expired,
	};
	const struct kvm_vcpu *vcpu;

	if (event->kind >= ARRAY_SIZE(rules))
		return 0;
	replay->now_ns = event->time_ns;
	if (event->kind == KVM_LOST) {
		on_lost(replay, event);
		return failed(replay);
	}
	if (is_leaving(replay, event)) {
		if (is_of_another(event))
			rules[event->kind](replay, event);
		return failed(replay);
	}
	if (replay->tracker->has_lives &&
	    (!replay->vcpu[event->cpu] || replay->pid[event->cpu] != event->pid) &&
	    kvm_is_of_guest(event))
		take_over(replay, event);
	if (event->kind == KVM_FOUND)
		on_found(replay, event);
	if (event->kind == KVM_WHOLE && !kvm_has_modes(replay->tracker))
		on_whole(replay, event);
	else
		notice(replay, event->cpu, event->time_ns, event->pid);
	if (rules[event->kind] && event->kind != KVM_FOUND)
		rules[event->kind](replay, event);
	replay->seen_ns[event->cpu] = event->time_ns;
	vcpu = replay->vcpu[event->cpu];
	if (vcpu && is_open(replay, vcpu))
		vacate(replay, event->cpu);
	return failed(replay);
}

int kvm_replay_take(struct kvm_replay *replay, const struct kvm_event *event)
{
	return take(replay, event);
}

/* --- begin and end --------------------------------------------------------------------------- */

/** Room for CPUs, whose occupants are not known yet. Return: 0 or -ENOMEM. */
static int add_cpus(struct kvm_replay *replay)
{
	size_t n = replay->tracker->n_cpus;
	size_t pid = replay->room, vcpu = replay->room, seen = replay->room, lost = replay->room;
	size_t counted = replay->room, left = replay->room;

	if (n && (ARRAY_REACH(replay->left, n - 1, left) ||
		  ARRAY_REACH(replay->pid, n - 1, pid) || ARRAY_REACH(replay->vcpu, n - 1, vcpu) ||
		  ARRAY_REACH(replay->seen_ns, n - 1, seen) ||
		  ARRAY_REACH(replay->lost_ns, n - 1, lost) ||
		  ARRAY_REACH(replay->counted, n - 1, counted)))
		return -ENOMEM;
	replay->room = pid;
	for (; replay->n_cpus < n; replay->n_cpus++) {
		replay->pid[replay->n_cpus] = replay->left[replay->n_cpus] = KVM_NO_PID;
		replay->seen_ns[replay->n_cpus] = INT64_MIN;
	}
	for (size_t c = 0; c < n; c++) {
		const struct kvm_cpu *cpu = &replay->tracker->cpus[c];

		if (replay->counted[c] || (!kvm_events_count(&cpu->events) && !cpu->is_there))
			continue;
		replay->counted[c] = true;
		replay->n_unknown++;
	}
	return 0;
}

int kvm_replay_more(struct kvm_replay *replay, struct kvm_vcpu *vcpus, int32_t n, int64_t time_ns)
{
	if (add_cpus(replay) || kvm_holds_more(&replay->holds, vcpus, n) ||
	    kvm_wakes_more(&replay->wakes, vcpus, n) || kvm_stops_more(&replay->stops, vcpus, n))
		return -ENOMEM;
	replay->vcpus = vcpus;
	for (size_t c = 0; c < replay->n_cpus; c++) {
		bool was_vcpu = replay->vcpu[c];

		if (replay->pid[c] <= 0)
			continue;
		replay->vcpu[c] = vcpu_of(replay, replay->pid[c]);
		if (was_vcpu || !replay->vcpu[c])
			continue;
		/* the model has shown a task up to now: the vCPU cannot have left before */
		if (replay->seen_ns[c] < time_ns)
			replay->seen_ns[c] = time_ns;
		occupy(replay, (int)c, time_ns, replay->pid[c]);
		arrive(replay, replay->vcpu[c], (int)c, time_ns, false);
	}
	return failed(replay);
}

struct kvm_replay *kvm_replay_new(struct kvm_tracker *tracker, struct virt_model *model,
				  struct kvm_vcpu *vcpus, int32_t n)
{
	struct kvm_replay *replay = calloc(1, sizeof(*replay));

	if (!replay)
		return NULL;
	replay->tracker = tracker;
	replay->model = model;
	replay->last_lost_ns = INT64_MIN;
	replay->call_reason = VIRT_NONE;
	kvm_wakes_init(&replay->wakes, tracker, model);
	kvm_stops_init(&replay->stops, model);
	kvm_holds_init(&replay->holds, tracker, model);
	if (!kvm_replay_more(replay, vcpus, n, INT64_MIN))
		return replay;
	kvm_replay_free(replay);
	return NULL;
}

void kvm_replay_free(struct kvm_replay *replay)
{
	if (!replay)
		return;
	free(replay->pid);
	free(replay->left);
	free(replay->vcpu);
	free(replay->lost_ns);
	free(replay->seen_ns);
	free(replay->counted);
	free(replay->shown);
	kvm_reasons_destroy(&replay->reasons);
	kvm_wakes_destroy(&replay->wakes);
	kvm_stops_destroy(&replay->stops);
	kvm_holds_destroy(&replay->holds);
	free(replay);
}

static int take_next(void *arg, const struct kvm_event *event)
{
	return take(arg, event);
}

int kvm_replay(struct kvm_tracker *tracker, struct virt_model *model, struct kvm_vcpu *vcpus,
	       int32_t n_vcpus, int64_t end_ns)
{
	struct kvm_replay *replay = kvm_replay_new(tracker, model, vcpus, n_vcpus);
	int ret = -ENOMEM;

	if (replay)
		ret = kvm_in_order(tracker, INT64_MAX, take_next, replay);
	for (int32_t i = 0; i < n_vcpus && replay && !ret; i++) {
		kvm_holds_end(&replay->holds, &vcpus[i], end_ns, false);
		ret = failed(replay);
	}
	kvm_replay_free(replay);
	return ret;
}
