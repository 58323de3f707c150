// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_tracker_state.c
 * @brief	State machine of the vCPUs of Xen: the pCPU and the state of each vCPU.
 *
 * Each vCPU is in one of the states of enum state. The effects of records are only in the tables
 * here and, for the records of the scheduler, in those of xen_tracker_records.c.
 */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "xen_tracker_private.h"

/** Runstates that a runstate change can rightly give as the old one. */
static const uint8_t agrees[N_STATES] = {
	[UNKNOWN]	= 0xff,
	[OFFLINE]	= 1 << XEN_RUNSTATE_OFFLINE,
	[DEVICE_MODEL]	= 1 << XEN_RUNSTATE_OFFLINE,
	[BLOCKED]	= 1 << XEN_RUNSTATE_BLOCKED,
	[WAKING]	= 1 << XEN_RUNSTATE_RUNNABLE,
	[PREEMPTED]	= 1 << XEN_RUNSTATE_RUNNABLE,
	[RUNNING]	= 1 << XEN_RUNSTATE_RUNNING,
	[GUEST]		= 1 << XEN_RUNSTATE_RUNNING,
	[HYPERVISOR]	= 1 << XEN_RUNSTATE_RUNNING,
};

/**
 * A vCPU goes OFFLINE within a VM exit: it waits for an answer that the guest did not ask for, if
 * an exit of that class can lead to such a wait and nothing else explains it. Xen: a request to the
 * device model that waits (ioreq_send(), common/ioreq.c) sets VPF_blocked_in_xen, which no record
 * shows; all others that take a vCPU off (a toolstack's pause, the monitor of a guest's memory,
 * VCPUOP_down, a shutdown) do so by vcpu_sleep_nosync(), which TRC_SCHED_SLEEP shows.
 */
static const struct {
	bool	unexplained;	/* nothing put it to sleep: that would have been traced */
	bool	unsure;		/* requests are not traced: the device model is what is likely */
	bool	itself;		/* the exit's handler put it to sleep: a monitor must answer */
} waits[VIRT_EXIT_N_CLASSES] = {
	[VIRT_EXIT_OTHER]	= { true, false, false },
	/* a halt with interrupts disabled is the end of the vCPU */
	[VIRT_EXIT_HALT]	= { false, false, false },
	/* it is a pause, or a move to another pCPU, for which the vCPU was interrupted */
	[VIRT_EXIT_INTERRUPT]	= { false, false, false },
	[VIRT_EXIT_MEMORY]	= { true, true, true },
	/* may shut down the domain, too */
	[VIRT_EXIT_IO]		= { true, true, false },
	[VIRT_EXIT_REGISTER]	= { true, false, true },
	[VIRT_EXIT_APIC]	= { true, true, false },
	/* the guest may ask for anything; device models forget what they mapped of its memory */
	[VIRT_EXIT_HYPERCALL]	= { true, false, false },
	/* shadow page tables, or the end of the domain */
	[VIRT_EXIT_EXCEPTION]	= { true, false, false },
	[VIRT_EXIT_NESTED]	= { true, false, false },
};

static const char twice[] = "a vCPU runs on two pCPUs";
static const char again[] = "a vCPU begins to run while running";
static const char crowded[] = "two vCPUs run on one pCPU";
static const char elsewhere[] = "a vCPU leaves a pCPU while running on another one";
static const char wrong_old[] = "a runstate change from another state";
static const char no_exit[] = "a vCPU leaves its pCPU from within the guest";
static const char entry_twice[] = "a VM entry after a VM entry";
static const char exit_twice[] = "a VM exit after a VM exit";

/** VM entry and exit: what a vCPU has been since it was put on its pCPU, and what it is now. */
static const struct {
	uint8_t		was;
	uint8_t		is;
	const char	*wrong;
} crossings[2][N_STATES] = {
	[ENTRY] = {
		[RUNNING]	= { HYPERVISOR, GUEST, NULL },
		[HYPERVISOR]	= { HYPERVISOR, GUEST, NULL },
		[GUEST]		= { GUEST, GUEST, entry_twice },
	},
	[EXIT] = {
		[RUNNING]	= { GUEST, HYPERVISOR, NULL },
		[GUEST]		= { GUEST, HYPERVISOR, NULL },
		[HYPERVISOR]	= { HYPERVISOR, HYPERVISOR, exit_twice },
	},
};

static const enum virt_state virt_states[N_STATES] = {
	[UNKNOWN]	= VIRT_UNKNOWN,
	[OFFLINE]	= VIRT_OFFLINE,
	[DEVICE_MODEL]	= VIRT_DEVICE_MODEL,
	[BLOCKED]	= VIRT_BLOCKED,
	[WAKING]	= VIRT_WAKING,
	[PREEMPTED]	= VIRT_PREEMPTED,
	[RUNNING]	= VIRT_UNKNOWN,
	[GUEST]		= VIRT_GUEST,
	[HYPERVISOR]	= VIRT_HYPERVISOR,
};

static void contradiction(struct xen_tracker *tracker, const char *what)
{
	virt_model_contradiction_at(tracker->model, what, tracker->now_ns);
}

static void model_set(struct xen_tracker *tracker, const struct tracked_vcpu *v, int64_t time_ns,
		      enum state state, int32_t detail, uint8_t flags)
{
	tracker_fail(tracker, virt_model_set(tracker->model, v->index, time_ns, virt_states[state],
					     v->pcpu, detail, flags));
}

/** A vCPU that was on its pCPU: now it is known in which of the two states. */
static void resolve(struct xen_tracker *tracker, struct tracked_vcpu *v, enum state was)
{
	if (v->state != RUNNING)
		return;
	/* as after an exit, it may have been asleep */
	model_set(tracker, v, v->last_ns, was, VIRT_NONE, was == HYPERVISOR &&
		  !xen_trace_first(tracker->trace)->scheduler ? VIRT_INTERVAL_UNSPLIT : 0);
	v->state = (uint8_t)was;
}

void tracker_add_shown(struct xen_tracker *tracker, struct tracked_vcpu *v)
{
	struct tracked_domain *domain = &tracker->domains[v->domain];
	int32_t who = (int32_t)(v - tracker->vcpus);

	if (!v->is_there) {
		v->next = domain->there;
		domain->there = who;
		v->is_there = true;
		/* or another one has its number */
		tracker_fail(tracker, virt_model_end_machine(tracker->model, domain->machine,
							     VIRT_NO_END));
	}
	if (v->is_shown)
		return;
	if (ARRAY_GROW(tracker->shown, tracker->n_shown, tracker->room_shown)) {
		tracker_fail(tracker, -ENOMEM);
		return;
	}
	tracker->shown[tracker->n_shown++] = who;
	v->is_shown = true;
}

/** A state ends or begins: does the vCPU's own limit hold it? @ends: the trace shows the end */
static void hold(struct xen_tracker *tracker, struct tracked_vcpu *v, int64_t time_ns,
		 enum state state, bool ends)
{
	bool held = state == OFFLINE ? v->parked :
		    (state == PREEMPTED || state == WAKING) && v->empty;

	if (state != OFFLINE)
		v->parked = false;
	if (v->held && !held)
		tracker_fail(tracker, virt_model_add_hold(tracker->model, v->index,
							  &(struct virt_hold){
			.from_ns = v->held_ns, .to_ns = time_ns,
			.complete = ends && state != UNKNOWN,
		}));
	if (held && !v->held)
		v->held_ns = time_ns;
	v->held = held;
}

void tracker_set_empty(struct xen_tracker *tracker, struct tracked_vcpu *v, int64_t time_ns,
		       bool empty)
{
	v->empty = empty;
	hold(tracker, v, time_ns < v->last_ns ? v->last_ns : time_ns, (enum state)v->state, true);
}

void tracker_end_holds(struct xen_tracker *tracker, int64_t end_ns)
{
	for (uint32_t i = 0; i < tracker->vcpu_map.n_keys; i++) {
		struct tracked_vcpu *v = &tracker->vcpus[i];

		hold(tracker, v, end_ns > v->last_ns ? end_ns : v->last_ns, UNKNOWN, false);
	}
}

static void enter_state(struct xen_tracker *tracker, struct tracked_vcpu *v, int64_t time_ns,
			enum state state, int32_t detail, uint8_t flags)
{
	/* a switch may come here later than what another pCPU has recorded since */
	if (time_ns < v->last_ns)
		time_ns = v->last_ns;
	v->last_ns = time_ns;
	v->state = (uint8_t)state;
	hold(tracker, v, time_ns, state, true);
	if (!on_pcpu(v))
		tracker_add_shown(tracker, v);
	/* RUNNING is no state of the model: resolve() will say what it was */
	if (state != RUNNING)
		model_set(tracker, v, time_ns, state, detail, flags);
}

/** Where a vCPU has been since it was put on its pCPU, if no VM entry or exit showed it. */
static enum state inside(const struct xen_tracker *tracker, const struct tracked_vcpu *v)
{
	return tracker->domains[v->domain].hvm ? HYPERVISOR : GUEST;
}

static void occupy(struct xen_tracker *tracker, uint32_t run, int64_t time_ns, int32_t who)
{
	int32_t vcpu = who >= 0 ? tracker->vcpus[who].index : VIRT_NONE;

	tracker->runs[run].current = who;
	tracker->head.calls[run].is_noted = false;
	tracker_fail(tracker, virt_model_occupy(tracker->model, (int16_t)tracker->runs[run].pcpu,
						time_ns, vcpu, who != NOT_KNOWN));
}

/** Not on its pCPU any more, but it is unknown why. */
static void lose(struct xen_tracker *tracker, struct tracked_vcpu *v, int64_t time_ns)
{
	resolve(tracker, v, inside(tracker, v));
	v->reason = VIRT_NONE;
	v->woken = false;
	enter_state(tracker, v, time_ns, UNKNOWN, VIRT_NONE, 0);
}

/** Remove the occupant of a pCPU if it cannot be there. Return: true if so. */
static bool evict(struct xen_tracker *tracker, uint32_t run, int32_t who, int64_t time_ns)
{
	int32_t current = tracker->runs[run].current;

	if (current < 0 || current == who)
		return false;
	contradiction(tracker, crowded);
	lose(tracker, &tracker->vcpus[current], time_ns);
	return true;
}

/**
 * A record of this pCPU is missing since the vCPU came to its state there: a VM entry or exit.
 * In which state it was when is not known.
 */
static void doubt(struct xen_tracker *tracker, struct tracked_vcpu *v, const char *what)
{
	contradiction(tracker, what);
	model_set(tracker, v, v->last_ns, UNKNOWN, VIRT_NONE, 0);
}

/**
 * The wait of a vCPU that goes OFFLINE. It is DEVICE_MODEL only if requests and the scheduler's own
 * records show that nothing else takes the vCPU off. Without a budget, credit2 pauses it
 * (park_unit()); if it also waits for its device model, no record shows that. The cost of the exit
 * is the same with fewer records.
 */
static enum state wait_of(const struct xen_tracker *tracker, const struct tracked_vcpu *v,
			  uint8_t *flags)
{
	enum virt_exit_class about = virt_model_reason_class(tracker->model, v->reason);
	bool unasked;

	*flags = 0;
	if (v->reason < 0)
		return OFFLINE;
	/* an NMI, or an exception: device models are not asked about NMIs */
	if (!strncmp(virt_model_reason(tracker->model, v->reason), "EXCEPTION", 9))
		about = VIRT_EXIT_EXCEPTION;
	unasked = !tracker->have_requests ? waits[about].unsure :
		  v->own_sleep ? waits[about].itself : !v->sleeps && waits[about].unexplained;
	if (unasked && tracker->have_requests && tracker->head.has_budgets && !v->own_sleep &&
	    !v->spent)
		return DEVICE_MODEL;
	*flags = unasked ? VIRT_INTERVAL_UNASKED : 0;
	return OFFLINE;
}

/** It is known now who took the pCPU from the vCPU that was preempted on it. */
static void blame(struct xen_tracker *tracker, struct tracked_run *run, int32_t culprit)
{
	struct tracked_vcpu *v;

	if (run->preempted < 0)
		return;
	v = &tracker->vcpus[run->preempted];
	if (v->state == PREEMPTED && v->last_ns == run->preempted_ns && culprit != run->preempted)
		model_set(tracker, v, v->last_ns, PREEMPTED, tracker->vcpus[culprit].index, 0);
	run->preempted = NOT_KNOWN;
}

void tracker_enter(struct xen_tracker *tracker, struct tracked_vcpu *v, int64_t time_ns,
		   enum state state)
{
	enter_state(tracker, v, time_ns, state, VIRT_NONE, 0);
}

void tracker_was(struct xen_tracker *tracker, int32_t who, int64_t time_ns, enum xen_runstate old)
{
	struct tracked_vcpu *v = &tracker->vcpus[who];
	enum state state = old == XEN_RUNSTATE_BLOCKED ? BLOCKED :
			   old == XEN_RUNSTATE_OFFLINE ? OFFLINE : UNKNOWN;

	/* if it got lost later than any record, what became of it is a riddle */
	if (v->state == UNKNOWN && state != UNKNOWN && !tracker->n_lost &&
	    v->last_ns <= tracker->whole_ns && tracker->whole_ns <= time_ns)
		tracker_enter(tracker, v, tracker->whole_ns, state);
}

void tracker_put_on(struct xen_tracker *tracker, uint32_t run, int64_t time_ns, int32_t who,
		    unsigned int old, bool certain)
{
	struct tracked_vcpu *v = &tracker->vcpus[who];

	if (on_pcpu(v) && v->run == run) {
		if (!(agrees[v->state] & 1 << old) && old != ANY_RUNSTATE)
			contradiction(tracker, again);
		return;
	}
	if (on_pcpu(v)) {
		contradiction(tracker, twice);
		resolve(tracker, v, inside(tracker, v));
		occupy(tracker, v->run, time_ns, NOT_KNOWN);
	} else if (old != ANY_RUNSTATE && !(agrees[v->state] & 1 << old)) {
		contradiction(tracker, wrong_old);
	}
	if (evict(tracker, run, who, time_ns)) {
		/* one of the two is elsewhere: a later record shows which one */
		lose(tracker, v, time_ns);
		occupy(tracker, run, time_ns, NOT_KNOWN);
		return;
	}
	v->run = run;
	v->pcpu = (int16_t)tracker->runs[run].pcpu;
	v->blocking = v->own_sleep = v->spent = false;
	v->sleeps = 0;
	enter_state(tracker, v, time_ns,
		    certain && tracker->domains[v->domain].hvm ? HYPERVISOR : RUNNING,
		    v->reason, 0);
	occupy(tracker, run, time_ns, who);
	blame(tracker, &tracker->runs[run], who);
}

void tracker_take_off(struct xen_tracker *tracker, uint32_t index, int64_t time_ns, int32_t who,
		      enum state next, unsigned int old)
{
	struct tracked_vcpu *v = &tracker->vcpus[who];
	struct tracked_run *run = &tracker->runs[index];
	uint8_t flags = 0;

	if (on_pcpu(v) && v->run != index) {
		contradiction(tracker, elsewhere);
		return;
	}
	if (old != ANY_RUNSTATE && !(agrees[v->state] & 1 << old))
		contradiction(tracker, wrong_old);
	if (v->state == GUEST && tracker->domains[v->domain].hvm)
		doubt(tracker, v, no_exit);
	evict(tracker, index, who, time_ns);
	resolve(tracker, v, inside(tracker, v));
	v->pcpu = (int16_t)run->pcpu;
	if (next == OFFLINE && !tracker->n_lost)
		next = wait_of(tracker, v, &flags);
	v->parked = next == OFFLINE && v->spent && !v->sleeps;
	v->blocking = v->own_sleep = v->spent = false;
	v->sleeps = 0;
	if (next == BLOCKED && !tracker->n_lost)
		tracker_slept_on(tracker, v);
	enter_state(tracker, v, time_ns, tracker->n_lost ? UNKNOWN : next, VIRT_NONE, flags);
	occupy(tracker, index, time_ns, IDLE);
	run->preempted = next == PREEMPTED ? who : NOT_KNOWN;
	run->preempted_ns = v->last_ns;
}

void tracker_change_off(struct xen_tracker *tracker, int64_t time_ns, int32_t who, enum state next,
			unsigned int old)
{
	struct tracked_vcpu *v = &tracker->vcpus[who];

	if (!(agrees[v->state] & 1 << old)) {
		contradiction(tracker, wrong_old);
		if (on_pcpu(v))
			return;
	}
	if (tracker->n_lost)
		next = UNKNOWN;
	else if (next == UNKNOWN)
		return;
	enter_state(tracker, v, time_ns, next, VIRT_NONE, 0);
}

void tracker_put_idle(struct xen_tracker *tracker, uint32_t run, int64_t time_ns)
{
	evict(tracker, run, IDLE, time_ns);
	if (tracker->runs[run].current != IDLE)
		occupy(tracker, run, time_ns, IDLE);
	tracker->runs[run].preempted = NOT_KNOWN;
}

/** A VM entry or exit of a vCPU. */
static void cross(struct xen_tracker *tracker, int32_t who, int64_t time_ns, enum crossing crossing,
		  int32_t reason)
{
	struct tracked_vcpu *v = &tracker->vcpus[who];
	enum state is = crossings[crossing][v->state].is;

	tracker->domains[v->domain].hvm = true;
	if (crossings[crossing][v->state].wrong)
		doubt(tracker, v, crossings[crossing][v->state].wrong);
	resolve(tracker, v, crossings[crossing][v->state].was);
	v->blocking = v->woken = false;
	v->reason = reason;
	enter_state(tracker, v, time_ns, is, reason,
		    crossing == ENTRY ? 0 : VIRT_INTERVAL_EXIT |
		    (xen_trace_first(tracker->trace)->scheduler ? 0 : VIRT_INTERVAL_UNSPLIT));
}

void tracker_cross(struct xen_tracker *tracker, uint32_t index, int64_t time_ns,
		   enum crossing crossing, int32_t reason)
{
	struct tracked_run *run = &tracker->runs[index];

	if (run->current >= 0)
		cross(tracker, run->current, time_ns, crossing, reason);
}

void tracker_begin_run(struct xen_tracker *tracker, uint32_t run, uint16_t pcpu, int64_t time_ns)
{
	xen_vcpu vcpu = xen_trace_first(tracker->trace)->vcpu[run];
	int32_t who;

	if (tracker->runs[run].begun)
		return;
	tracker->runs[run].begun = true;
	tracker->runs[run].pcpu = pcpu;
	if (vcpu == XEN_VCPU_UNKNOWN)
		return;
	if (tracker->whole_ns < time_ns)
		time_ns = tracker->whole_ns;
	if (xen_vcpu_is_idle(vcpu)) {
		occupy(tracker, run, time_ns, IDLE);
		return;
	}
	if (!believable(vcpu) && !xen_vcpu_is_somebody(vcpu))
		return;
	who = tracker_vcpu_of(tracker, vcpu);
	/* else another pCPU's records contradict: they have been seen first */
	if (who >= 0 && tracker->vcpus[who].state == UNKNOWN)
		tracker_put_on(tracker, run, time_ns, who, ANY_RUNSTATE, false);
}

void tracker_empty(struct xen_tracker *tracker, uint32_t index, int64_t time_ns)
{
	struct tracked_run *run = &tracker->runs[index];

	run->preempted = NOT_KNOWN;
	if (run->current >= 0)
		lose(tracker, &tracker->vcpus[run->current], time_ns);
	if (run->begun)
		occupy(tracker, index, time_ns, NOT_KNOWN);
}

void tracker_lose_place(struct xen_tracker *tracker, struct tracked_vcpu *v, int64_t time_ns)
{
	if (on_pcpu(v))
		tracker_empty(tracker, v->run, time_ns);
	else if (v->state != UNKNOWN)
		lose(tracker, v, time_ns);
}

void tracker_lose_run(struct xen_tracker *tracker, uint32_t index, int64_t time_ns)
{
	tracker->runs[index].begun = true;
	tracker_empty(tracker, index, time_ns);
	tracker_lose_core(tracker, tracker_core_of(tracker, tracker->runs[index].pcpu), time_ns);
	for (size_t i = 0; i < tracker->n_shown; i++) {
		struct tracked_vcpu *v = &tracker->vcpus[tracker->shown[i]];

		if (!on_pcpu(v)) {
			if (v->state != UNKNOWN)
				lose(tracker, v, time_ns);
		}
		/* cleared only now, so that lose() does not add it again */
		v->is_shown = false;
	}
	tracker->n_shown = 0;
}

void tracker_remove(struct xen_tracker *tracker, int32_t index, int64_t time_ns)
{
	struct tracked_domain *domain = &tracker->domains[index];

	while (domain->there != NOBODY) {
		struct tracked_vcpu *v = &tracker->vcpus[domain->there];

		domain->there = v->next;
		if (!on_pcpu(v))
			tracker_enter(tracker, v, time_ns, OFFLINE);
		v->is_there = false;
	}
	tracker_fail(tracker, virt_model_end_machine(tracker->model, domain->machine, time_ns));
}

void tracker_close(struct xen_tracker *tracker)
{
	for (uint32_t i = 0; i < tracker->vcpu_map.n_keys; i++) {
		struct tracked_vcpu *v = &tracker->vcpus[i];

		/* without an entry or exit until the end, either is possible in an HVM domain */
		resolve(tracker, v, tracker->domains[v->domain].hvm ? UNKNOWN : GUEST);
	}
}
