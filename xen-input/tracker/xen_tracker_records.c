// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_tracker_records.c
 * @brief	Interpret each record of Xen that shows the state of vCPUs.
 */
#include <stdio.h>

#include "virt_power.h"
#include "xen_tracker_private.h"

/** A runstate change leads here; rows: from, columns: to; UNKNOWN: stays what it was. */
static const uint8_t after_change[4][4] = {
	/*			  running  runnable   blocked  offline */
	[XEN_RUNSTATE_RUNNING]	= { RUNNING, PREEMPTED, BLOCKED, OFFLINE },
	[XEN_RUNSTATE_RUNNABLE]	= { RUNNING, UNKNOWN,   BLOCKED, OFFLINE },
	[XEN_RUNSTATE_BLOCKED]	= { RUNNING, WAKING,    BLOCKED, OFFLINE },
	[XEN_RUNSTATE_OFFLINE]	= { RUNNING, WAKING,    BLOCKED, OFFLINE },
};

static void change_off(struct xen_tracker *tracker, const struct xen_trace_row *row, int32_t who,
		       enum state next, enum xen_runstate old)
{
	if (next == WAKING && old == XEN_RUNSTATE_BLOCKED)
		tracker_woken(tracker, row, who);
	tracker_change_off(tracker, row->time_ns, who, next, old);
}

/** It leaves a pCPU that nothing names: what it is from now on is known all the same. */
static void take_off_somewhere(struct xen_tracker *tracker, int64_t time_ns, int32_t who,
			       enum state next)
{
	struct tracked_vcpu *v = &tracker->vcpus[who];

	tracker_lose_place(tracker, v, time_ns);
	if (!tracker->n_lost)
		tracker_enter(tracker, v, time_ns, next);
}

static void on_runstate(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	enum xen_runstate old = xen_runstate_old(row->rec.event);
	enum xen_runstate new = xen_runstate_new(row->rec.event);
	xen_vcpu vcpu = xentrace_word(&row->rec, 0);
	enum state next = after_change[old][new];
	uint32_t run;
	int32_t who;

	tracker->have_runstates = true;
	if (!row->rec.n_words)
		return;
	run = tracker_place(tracker, row, vcpu);
	if (xen_vcpu_is_idle(vcpu)) {
		if ((new == XEN_RUNSTATE_RUNNING || old == XEN_RUNSTATE_RUNNING) &&
		    run != XEN_NO_RUN)
			tracker_put_idle(tracker, run, row->time_ns);
		return;
	}
	if (!believable(vcpu))
		return;
	who = tracker_vcpu_of(tracker, vcpu);
	if (who < 0)
		return;
	tracker_was(tracker, who, row->time_ns, old);
	if (new == XEN_RUNSTATE_RUNNING && run == XEN_NO_RUN)
		tracker_lose_place(tracker, &tracker->vcpus[who], row->time_ns);
	else if (new == XEN_RUNSTATE_RUNNING)
		tracker_put_on(tracker, run, row->time_ns, who, old, true);
	else if (old == XEN_RUNSTATE_RUNNING && run == XEN_NO_RUN)
		take_off_somewhere(tracker, row->time_ns, who, next);
	else if (old == XEN_RUNSTATE_RUNNING)
		tracker_take_off(tracker, run, row->time_ns, who, next, old);
	else
		change_off(tracker, row, who, next, old);
}

static void on_continue(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	xen_vcpu vcpu = xentrace_word(&row->rec, 0);
	int32_t who;

	if (!row->rec.n_words || tracker_core_is_lost(tracker, row->rec.pcpu))
		return;
	if (xen_vcpu_is_idle(vcpu)) {
		tracker_put_idle(tracker, row->rec.run, row->time_ns);
		return;
	}
	who = believable(vcpu) ? tracker_vcpu_of(tracker, vcpu) : -1;
	if (who < 0)
		return;
	tracker_put_on(tracker, row->rec.run, row->time_ns, who, XEN_RUNSTATE_RUNNING, true);
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
	tracker_remove(tracker, domain, row->time_ns);
}

static void on_power(struct xen_tracker *tracker, const struct xen_trace_row *row,
		     enum virt_power_kind kind, int32_t value)
{
	tracker_fail(tracker, virt_model_add_power(tracker->model, kind, row->rec.pcpu,
						   row->time_ns, value));
}

/** Xen counts C states as ACPI does. */
static void on_sleep(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	uint32_t state = row->rec.n_words ? xentrace_word(&row->rec, 0) : VIRT_IDLE_STATES;
	char name[16];

	if (state >= VIRT_IDLE_STATES) {
		on_power(tracker, row, VIRT_IDLE_STATE, VIRT_POWER_UNKNOWN);
		return;
	}
	snprintf(name, sizeof(name), "C%u", (unsigned int)state);
	tracker_fail(tracker, virt_model_name_idle_state(tracker->model, (int32_t)state, name));
	on_power(tracker, row, VIRT_IDLE_STATE, (int32_t)state);
}

static int32_t khz_of(const struct xen_trace_row *row, unsigned int word)
{
	uint32_t mhz = row->rec.n_words > word ? xentrace_word(&row->rec, word) : 0;

	return mhz && mhz <= INT32_MAX / 1000 ? (int32_t)(mhz * 1000) : VIRT_POWER_UNKNOWN;
}

static void on_frequency(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	struct tracked_run *run = &tracker->runs[row->rec.run];

	/* up to the first change, the old one */
	if (!run->speed_known)
		tracker_fail(tracker, virt_model_add_power(tracker->model, VIRT_FREQUENCY,
							   row->rec.pcpu, tracker->begin_ns,
							   khz_of(row, 0)));
	run->speed_known = true;
	on_power(tracker, row, VIRT_FREQUENCY, khz_of(row, 1));
}

/**
 * credit2 takes credits and budget from the vCPU that has run, before it chooses the next one.
 * Since Xen 4.10, the record has the budget; INT32_MIN: its domain has no cap.
 */
static void on_burn(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	int32_t budget = (int32_t)xentrace_word(&row->rec, 2);
	struct tracked_vcpu *v;

	if (row->rec.n_words < 4)
		return;
	/* it may run on another pCPU: credit2 looks at others as well */
	v = tracker_find_vcpu(tracker, xentrace_word(&row->rec, 0));
	if (v)
		v->spent = budget <= 0 && budget != INT32_MIN;
}

/** Since Xen 4.10, these have six words, and a domain is the upper half of the first one. */
#define RTDS_WORDS	6

static bool has_budget(const struct xen_trace_row *row, unsigned int low)
{
	return xentrace_word(&row->rec, low) || xentrace_word(&row->rec, low + 1);
}

/** RTDS takes budget from the vCPU that has run. */
static void on_rtds_burn(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	const struct tracked_run *run = &tracker->runs[row->rec.run];

	if (row->rec.n_words >= RTDS_WORDS && run->current >= 0)
		tracker_set_empty(tracker, &tracker->vcpus[run->current], row->time_ns,
				  !has_budget(row, 1));
}

static void on_rtds_replenish(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	xen_vcpu vcpu = xentrace_word(&row->rec, 0);
	struct tracked_vcpu *v = row->rec.n_words >= RTDS_WORDS ?
				 tracker_find_vcpu(tracker, vcpu) : NULL;

	if (v)
		tracker_set_empty(tracker, v, row->time_ns, !has_budget(row, 4));
}

void tracker_record(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	uint32_t event = row->rec.event;

	if (xen_event_is_runstate_change(event)) {
		on_runstate(tracker, row);
		return;
	}
	if (event >> XEN_TRC_SUBCLASS_SHIFT == XEN_TRC_SCHED_VERBOSE)
		tracker_verbose(tracker, row);
	if (event >> XEN_TRC_SUBCLASS_SHIFT == XEN_TRC_HVM_HANDLER)
		tracker_argument(tracker, row);
	switch (event) {
	case XEN_TRC_SCHED_CONTINUE_RUNNING:
		on_continue(tracker, row);
		break;
	case XEN_TRC_CSCHED2_CREDIT_BURN:
		on_burn(tracker, row);
		break;
	case XEN_TRC_RTDS_BUDGET_BURN:
		on_rtds_burn(tracker, row);
		break;
	case XEN_TRC_RTDS_BUDGET_REPLENISH:
		on_rtds_replenish(tracker, row);
		break;
	case XEN_TRC_HW_IRQ_HANDLED:
		tracker_irq_handled(tracker, row);
		break;
	case XEN_TRC_PM_IDLE_ENTRY:
		on_sleep(tracker, row);
		break;
	case XEN_TRC_PM_IDLE_EXIT:
		on_power(tracker, row, VIRT_IDLE_STATE, VIRT_AWAKE);
		break;
	case XEN_TRC_PM_FREQ_CHANGE:
		on_frequency(tracker, row);
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
#define XEN_EXIT(symbol_, isa_, nested_) case XEN_TRC_##symbol_:
#include "xen_events.def"
		on_vm_exit(tracker, row);
		break;
	}
}
