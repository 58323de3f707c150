// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_tracker_records.c
 * @brief	What each record of Xen tells of vCPUs.
 */
#include "xen_tracker_private.h"

/** A runstate change leads here; rows: from, columns: to; UNKNOWN: stays what it was. */
static const uint8_t after_change[4][4] = {
	/*			  running  runnable   blocked  offline */
	[XEN_RUNSTATE_RUNNING]	= { RUNNING, PREEMPTED, BLOCKED, OFFLINE },
	[XEN_RUNSTATE_RUNNABLE]	= { RUNNING, UNKNOWN,   BLOCKED, OFFLINE },
	[XEN_RUNSTATE_BLOCKED]	= { RUNNING, WAKING,    BLOCKED, OFFLINE },
	[XEN_RUNSTATE_OFFLINE]	= { RUNNING, WAKING,    BLOCKED, OFFLINE },
};

/** Requests of TRC_SCHED_VERBOSE, where no runstates are traced: the state that follows at once. */
enum request { WAKE, SLEEP, BLOCK, N_REQUESTS };

static const struct {
	bool		blocking, sleeping;	/* what a vCPU on its pCPU will do */
	uint8_t		is[N_STATES];		/* UNKNOWN: stays what it was */
} requests[N_REQUESTS] = {
	[WAKE]	= { false, false, { [OFFLINE] = WAKING, [BLOCKED] = WAKING } },
	[SLEEP]	= { false, true, { [WAKING] = OFFLINE, [PREEMPTED] = OFFLINE } },
	[BLOCK]	= { true, false, { 0 } },
};

static xen_vcpu make_vcpu(uint32_t domid, uint32_t id)
{
	return domid > XEN_DOMID_IDLE || id > XEN_MAX_VCPU ? XEN_VCPU_UNKNOWN : domid << 16 | id;
}

static void on_runstate(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	enum xen_runstate old = xen_runstate_old(row->rec.event);
	enum xen_runstate new = xen_runstate_new(row->rec.event);
	xen_vcpu vcpu = xentrace_word(&row->rec, 0);
	enum state next = after_change[old][new];
	int32_t who;

	tracker->have_runstates = true;
	if (!row->rec.n_words)
		return;
	if (xen_vcpu_is_idle(vcpu)) {
		if (old == XEN_RUNSTATE_RUNNING)
			tracker_was_here(tracker, row->rec.run, IDLE);
		if (new == XEN_RUNSTATE_RUNNING || old == XEN_RUNSTATE_RUNNING)
			tracker_put_idle(tracker, row->rec.run, row->time_ns);
		return;
	}
	if (!believable(vcpu))
		return;
	who = tracker_vcpu_of(tracker, vcpu);
	if (who < 0)
		return;
	if (old == XEN_RUNSTATE_RUNNING)
		tracker_was_here(tracker, row->rec.run, who);
	if (new == XEN_RUNSTATE_RUNNING)
		tracker_put_on(tracker, row->rec.run, row->time_ns, who, old, true);
	else if (old == XEN_RUNSTATE_RUNNING)
		tracker_take_off(tracker, row->rec.run, row->time_ns, who, next, old);
	else
		tracker_change_off(tracker, row->time_ns, who, next, old);
}

static void on_continue(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	xen_vcpu vcpu = xentrace_word(&row->rec, 0);
	int32_t who;

	if (!row->rec.n_words)
		return;
	if (xen_vcpu_is_idle(vcpu)) {
		tracker_was_here(tracker, row->rec.run, IDLE);
		tracker_put_idle(tracker, row->rec.run, row->time_ns);
		return;
	}
	who = believable(vcpu) ? tracker_vcpu_of(tracker, vcpu) : -1;
	if (who < 0)
		return;
	tracker_was_here(tracker, row->rec.run, who);
	tracker_put_on(tracker, row->rec.run, row->time_ns, who, XEN_RUNSTATE_RUNNING, true);
}

void tracker_drop_switch(struct xen_tracker *tracker, struct tracked_run *run)
{
	if (run->pending)
		tracker->head.n_pending--;
	run->pending = false;
}

/** What a switch tells; the record after it is no runstate change, which would have told more. */
static void end_switch(struct xen_tracker *tracker, uint32_t index)
{
	struct tracked_run *run = &tracker->runs[index];
	enum state next;
	int32_t who;

	tracker_drop_switch(tracker, run);
	if (run->prev != XEN_VCPU_UNKNOWN && xen_vcpu_is_idle(run->prev))
		tracker_was_here(tracker, index, IDLE);
	if (run->prev != XEN_VCPU_UNKNOWN && believable(run->prev)) {
		who = tracker_vcpu_of(tracker, run->prev);
		if (who < 0)
			return;
		tracker_was_here(tracker, index, who);
		next = tracker->vcpus[who].blocking ? BLOCKED :
		       tracker->vcpus[who].sleeping ? OFFLINE : PREEMPTED;
		tracker_take_off(tracker, index, run->switch_ns, who, next, ANY_RUNSTATE);
	}
	if (run->next != XEN_VCPU_UNKNOWN && xen_vcpu_is_idle(run->next)) {
		tracker_put_idle(tracker, index, run->switch_ns);
	} else if (run->next != XEN_VCPU_UNKNOWN && believable(run->next)) {
		who = tracker_vcpu_of(tracker, run->next);
		if (who >= 0)
			tracker_put_on(tracker, index, run->switch_ns, who, ANY_RUNSTATE, true);
	}
}

/** Another pCPU's record is about a vCPU that waits to be switched out or in. */
static void end_switches_of(struct xen_tracker *tracker, xen_vcpu vcpu)
{
	for (uint32_t i = 0; tracker->head.n_pending && i < tracker->n_runs; i++) {
		const struct tracked_run *run = &tracker->runs[i];

		if (run->pending && (run->prev == vcpu || run->next == vcpu))
			end_switch(tracker, i);
	}
}

static void on_switch(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	struct tracked_run *run = &tracker->runs[row->rec.run];

	if (tracker->have_runstates || row->rec.n_words < 4)
		return;
	run->prev = make_vcpu(xentrace_word(&row->rec, 0), xentrace_word(&row->rec, 1));
	run->next = make_vcpu(xentrace_word(&row->rec, 2), xentrace_word(&row->rec, 3));
	end_switches_of(tracker, run->prev);
	end_switches_of(tracker, run->next);
	run->switch_ns = row->time_ns;
	run->pending = true;
	tracker->head.n_pending++;
}

/** Requests while runstates are traced: only who asked a vCPU to leave its pCPU is news. */
static void note_request(struct xen_tracker *tracker, const struct xen_trace_row *row,
			 xen_vcpu vcpu, enum request request)
{
	struct tracked_vcpu *v = tracker_find_vcpu(tracker, vcpu);

	if (!v || !on_pcpu(v) || request == BLOCK)
		return;
	v->sleeping = requests[request].sleeping;
	v->own_sleep = v->sleeping && v->run == row->rec.run;
}

static void on_request(struct xen_tracker *tracker, const struct xen_trace_row *row,
		       enum request request)
{
	xen_vcpu vcpu = make_vcpu(xentrace_word(&row->rec, 0), xentrace_word(&row->rec, 1));
	struct tracked_vcpu *v;
	enum state next;
	int32_t who;

	if (row->rec.n_words < 2 || !believable(vcpu))
		return;
	if (tracker->have_runstates) {
		note_request(tracker, row, vcpu, request);
		return;
	}
	end_switches_of(tracker, vcpu);
	who = tracker_vcpu_of(tracker, vcpu);
	if (who < 0)
		return;
	v = &tracker->vcpus[who];
	v->blocking = requests[request].blocking;
	v->sleeping = requests[request].sleeping;
	v->own_sleep = v->sleeping && on_pcpu(v) && v->run == row->rec.run;
	next = requests[request].is[v->state];
	if (next != UNKNOWN && !tracker->n_lost)
		tracker_enter(tracker, v, row->time_ns, next);
}

static void on_vm_exit(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	int32_t reason = tracker_reason_of(tracker, &row->rec);

	tracker_cross(tracker, row->rec.run, row->time_ns, EXIT, reason);
}

static void on_domain(struct xen_tracker *tracker, const struct xen_trace_row *row, bool created)
{
	uint32_t domid = xentrace_word(&row->rec, 0);
	int32_t domain;

	if (!row->rec.n_words || domid >= FIRST_RESERVED)
		return;
	domain = tracker_domain_of(tracker, domid);
	if (domain < 0) {
		tracker_fail(tracker, domain);
		return;
	}
	if (created) {
		tracker->domains[domain].created |= !tracker->domains[domain].has_vcpus;
		return;
	}
	for (uint32_t i = 0; i < tracker->vcpu_map.n_keys; i++) {
		struct tracked_vcpu *v = &tracker->vcpus[i];

		if (v->domain == domain && !on_pcpu(v))
			tracker_enter(tracker, v, row->time_ns, OFFLINE);
	}
}

void tracker_after_switch(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	/* a runstate change tells the same, and more */
	if (xen_event_is_runstate_change(row->rec.event))
		tracker_drop_switch(tracker, &tracker->runs[row->rec.run]);
	else
		end_switch(tracker, row->rec.run);
}

void tracker_end_switches(struct xen_tracker *tracker)
{
	for (uint32_t i = 0; tracker->head.n_pending && i < tracker->n_runs; i++) {
		if (tracker->runs[i].pending)
			end_switch(tracker, i);
	}
}

void tracker_record(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	uint32_t event = row->rec.event;

	if (xen_event_is_runstate_change(event)) {
		on_runstate(tracker, row);
		return;
	}
	if (event >> XEN_TRC_SUBCLASS_SHIFT == XEN_TRC_SCHED_VERBOSE)
		tracker->have_requests = true;
	switch (event) {
	case XEN_TRC_SCHED_CONTINUE_RUNNING:
		on_continue(tracker, row);
		break;
	case XEN_TRC_SCHED_SWITCH:
		on_switch(tracker, row);
		break;
	case XEN_TRC_SCHED_WAKE:
		on_request(tracker, row, WAKE);
		break;
	case XEN_TRC_SCHED_SLEEP:
		on_request(tracker, row, SLEEP);
		break;
	case XEN_TRC_SCHED_BLOCK:
		on_request(tracker, row, BLOCK);
		break;
	case XEN_TRC_SCHED_DOM_ADD:
	case XEN_TRC_DOM0_DOM_ADD:
		on_domain(tracker, row, true);
		break;
	case XEN_TRC_SCHED_DOM_REM:
	case XEN_TRC_DOM0_DOM_REM:
		on_domain(tracker, row, false);
		break;
	case XEN_TRC_HVM_VMENTRY:
	case XEN_TRC_HVM_NESTED_VMENTRY:
		tracker_cross(tracker, row->rec.run, row->time_ns, ENTRY, VIRT_NONE);
		break;
	case XEN_TRC_HVM_VMX_EXIT:
	case XEN_TRC_HVM_SVM_EXIT:
	case XEN_TRC_HVM_VMX_EXIT64:
	case XEN_TRC_HVM_SVM_EXIT64:
	case XEN_TRC_HVM_NESTED_VMEXIT:
	case XEN_TRC_HVM_NESTED_SVM_EXIT:
	case XEN_TRC_HVM_NESTED_VMEXIT64:
	case XEN_TRC_HVM_NESTED_SVM_EXIT64:
		on_vm_exit(tracker, row);
		break;
	}
}
