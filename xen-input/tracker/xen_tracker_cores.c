// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_tracker_cores.c
 * @brief	Core scheduling: find the pCPU that a runstate change is about (xen_cores.h).
 */
#include "xen_tracker_private.h"
#include "xentrace_facts.h"

const struct xen_core *tracker_core_of(const struct xen_tracker *tracker, uint16_t pcpu)
{
	return xen_cores_of(xen_trace_cores(tracker->trace), pcpu);
}

bool tracker_core_is_lost(const struct xen_tracker *tracker, uint16_t pcpu)
{
	const struct xen_core *core = tracker->n_lost ? tracker_core_of(tracker, pcpu) : NULL;

	for (uint32_t i = 0; core && i < core->n_pcpus; i++) {
		if (core->pcpus[i].run < tracker->n_runs &&
		    tracker->runs[core->pcpus[i].run].lost)
			return true;
	}
	return false;
}

uint32_t tracker_place(struct xen_tracker *tracker, const struct xen_trace_row *row, xen_vcpu vcpu)
{
	const struct xen_core *core = tracker_core_of(tracker, row->rec.pcpu);
	bool puts_on = xen_runstate_new(row->rec.event) == XEN_RUNSTATE_RUNNING;
	uint32_t run;

	if (!core || (!puts_on && xen_runstate_old(row->rec.event) != XEN_RUNSTATE_RUNNING))
		return row->rec.run;
	run = tracker_core_is_lost(tracker, row->rec.pcpu) ? XEN_NO_RUN :
	      xen_core_run(core, vcpu);
	if (run < tracker->n_runs) {
		tracker_begin_run(tracker, run,
				  xentrace_run_pcpu(xen_trace_reader(tracker->trace), run),
				  row->time_ns);
		return run;
	}
	/* it is on any of them now */
	if (puts_on && !xen_vcpu_is_idle(vcpu))
		tracker_lose_core(tracker, core, row->time_ns);
	return XEN_NO_RUN;
}

void tracker_lose_core(struct xen_tracker *tracker, const struct xen_core *core, int64_t time_ns)
{
	for (uint32_t i = 0; core && i < core->n_pcpus; i++) {
		if (core->pcpus[i].run < tracker->n_runs)
			tracker_empty(tracker, core->pcpus[i].run, time_ns);
	}
}
