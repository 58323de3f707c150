// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_tracker_verbose.c
 * @brief	Interpret the verbose records of Xen's scheduler: switches and requests.
 *
 * Runstates, where they are traced, show all of this except who put a vCPU to sleep. Without
 * them, a switch shows which vCPU comes to a pCPU and which one leaves it, but the state of a vCPU
 * without a pCPU is unknown: wake-ups show requests, and not their result. A vCPU that blocks may
 * stay runnable, because its event has come already; one that waits in Xen for its device model
 * looks preempted; a wake-up may come to nothing. States that follow from requests would differ
 * from those of runstates.
 *
 * The switch record also has the time that a vCPU waited. Up to Xen 4.12 this time counts from the
 * wake-up, and since 4.13 from the vCPU's last run, so it is not reliable here.
 */
#include "xen_tracker_private.h"

enum request { WAKE, SLEEP, BLOCK };

static xen_vcpu make_vcpu(uint32_t domid, uint32_t id)
{
	return domid > XEN_DOMID_IDLE || id > XEN_MAX_VCPU ? XEN_VCPU_UNKNOWN : domid << 16 | id;
}

/* ---- switches ---- */

void tracker_drop_switch(struct xen_tracker *tracker, struct tracked_run *run)
{
	if (run->pending)
		tracker->head.n_pending--;
	run->pending = false;
}

/** What a switch shows; the record after it is no runstate change, which would show more. */
static void end_switch(struct xen_tracker *tracker, uint32_t index)
{
	struct tracked_run *run = &tracker->runs[index];
	bool to_idle = run->next != XEN_VCPU_UNKNOWN && xen_vcpu_is_idle(run->next);
	int32_t who;

	tracker_drop_switch(tracker, run);
	if (run->prev != XEN_VCPU_UNKNOWN && believable(run->prev)) {
		who = tracker_vcpu_of(tracker, run->prev);
		if (who < 0)
			return;
		tracker_take_off(tracker, index, run->switch_ns, who, UNKNOWN, ANY_RUNSTATE);
	}
	if (to_idle) {
		tracker_put_idle(tracker, index, run->switch_ns);
	} else if (run->next != XEN_VCPU_UNKNOWN && believable(run->next)) {
		who = tracker_vcpu_of(tracker, run->next);
		if (who < 0)
			return;
		tracker_put_on(tracker, index, run->switch_ns, who, ANY_RUNSTATE, true);
	}
}

/**
 * Another pCPU's record is about a vCPU that waits to be switched out or in: in the last switch
 * that has named it, as each one ends the one before.
 */
static void end_switches_of(struct xen_tracker *tracker, xen_vcpu vcpu)
{
	int64_t n = tracker->head.n_pending ? key_map_find(&tracker->switch_map, vcpu) : -1;
	const struct tracked_run *run = n < 0 ? NULL : &tracker->runs[tracker->switch_runs[n]];

	if (run && run->pending && (run->prev == vcpu || run->next == vcpu))
		end_switch(tracker, tracker->switch_runs[n]);
}

/** A switch in @run is about this vCPU. */
static void note_switch(struct xen_tracker *tracker, xen_vcpu vcpu, uint32_t run)
{
	int64_t n;

	end_switches_of(tracker, vcpu);
	n = KEY_MAP_ELEMENT(&tracker->switch_map, vcpu, tracker->switch_runs,
			    tracker->room_switch_runs);
	if (n < 0)
		tracker_fail(tracker, -ENOMEM);
	else
		tracker->switch_runs[n] = run;
}

static void on_switch(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	struct tracked_run *run = &tracker->runs[row->rec.run];

	/* with core scheduling it names units, not vCPUs */
	if (tracker->have_runstates || row->rec.n_words < 4 ||
	    xen_cores_of(xen_trace_cores(tracker->trace), row->rec.pcpu))
		return;
	run->prev = make_vcpu(xentrace_word(&row->rec, 0), xentrace_word(&row->rec, 1));
	run->next = make_vcpu(xentrace_word(&row->rec, 2), xentrace_word(&row->rec, 3));
	note_switch(tracker, run->prev, row->rec.run);
	note_switch(tracker, run->next, row->rec.run);
	run->switch_ns = row->time_ns;
	run->pending = true;
	tracker->head.n_pending++;
}

void tracker_after_switch(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	/* a runstate change shows the same, and more */
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

/* ---- requests ---- */

/** To a vCPU that is or may be on its pCPU: it will do so at the next switch. */
static void request_running(struct tracked_vcpu *v, enum request request, uint32_t run)
{
	switch (request) {
	case WAKE:
		v->blocking = v->own_sleep = false;
		v->sleeps = 0;
		break;
	case SLEEP:
		v->sleeps += v->sleeps < UINT8_MAX - 1;
		v->own_sleep |= on_pcpu(v) && v->run == run;
		break;
	case BLOCK:
		v->blocking = true;
		break;
	}
}

static void on_request(struct xen_tracker *tracker, const struct xen_trace_row *row,
		       enum request request, xen_vcpu vcpu)
{
	struct tracked_vcpu *v;

	if (!believable(vcpu))
		return;
	if (!tracker->have_runstates)
		end_switches_of(tracker, vcpu);
	v = tracker_find_vcpu(tracker, vcpu);
	if (!v)
		return;
	if (on_pcpu(v) || v->state == UNKNOWN)
		request_running(v, request, row->rec.run);
}

/** The same vCPU goes on: what it was about to block for has come. */
static void on_goes_on(struct xen_tracker *tracker, xen_vcpu vcpu)
{
	struct tracked_vcpu *v = believable(vcpu) ? tracker_find_vcpu(tracker, vcpu) : NULL;

	if (v)
		v->blocking = false;
}

void tracker_verbose(struct xen_tracker *tracker, const struct xen_trace_row *row)
{
	xen_vcpu vcpu = make_vcpu(xentrace_word(&row->rec, 0), xentrace_word(&row->rec, 1));

	tracker->have_requests = true;
	if (row->rec.n_words < 2)
		return;
	switch (row->rec.event) {
	case XEN_TRC_SCHED_WAKE:
		on_request(tracker, row, WAKE, vcpu);
		break;
	case XEN_TRC_SCHED_SLEEP:
		on_request(tracker, row, SLEEP, vcpu);
		break;
	case XEN_TRC_SCHED_BLOCK:
		on_request(tracker, row, BLOCK, vcpu);
		break;
	case XEN_TRC_SCHED_SWITCH_INFCONT:
		on_goes_on(tracker, vcpu);
		break;
	case XEN_TRC_SCHED_SWITCH:
		on_switch(tracker, row);
		break;
	}
}
