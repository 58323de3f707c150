// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_trace_cores.c
 * @brief	Find the vCPU that was on each pCPU at its first record, with core scheduling.
 *
 * Any pCPU of a core may have recorded it, so the records of all of them are read in order of time.
 */
#include <errno.h>
#include <stdlib.h>

#include "xen_trace_private.h"
#include "xentrace_facts.h"

struct search {
	struct xen_trace	*trace;
	xen_vcpu		*vcpu;		/* by run */
	bool			*done;		/* by run: no later record can show it */
	uint64_t		n;
};

static void end_core(struct search *search, const struct xen_core *core)
{
	for (uint32_t i = 0; i < core->n_pcpus; i++) {
		if (core->pcpus[i].run < search->trace->first.n_runs)
			search->done[core->pcpus[i].run] = true;
	}
}

static void note_vcpu(struct search *search, const struct xen_core *core, uint32_t run,
		      xen_vcpu vcpu)
{
	if (run >= search->trace->first.n_runs) {
		end_core(search, core);
		return;
	}
	if (!search->done[run])
		search->vcpu[run] = vcpu;
	search->done[run] = true;
}

/** Return: other than 0 when that is enough. */
static int look_at(void *arg, const struct xentrace_record *rec)
{
	struct search *search = arg;
	const struct xen_core *core = xen_cores_of(search->trace->cores, rec->pcpu);
	xen_vcpu vcpu = xentrace_word(rec, 0);

	if (search->n++ == PROBE_RECORDS)
		return 1;
	if (!core)
		return 0;
	if (rec->flags & XENTRACE_AFTER_GAP || rec->event == XEN_TRC_LOST_RECORDS)
		end_core(search, core);
	if (!rec->n_words || xen_vcpu_id(vcpu) > XEN_MAX_VCPU ||
	    xen_vcpu_domid(vcpu) > XEN_DOMID_IDLE)
		return 0;
	if (rec->event == XEN_TRC_SCHED_CONTINUE_RUNNING)
		note_vcpu(search, core, rec->run, vcpu);
	else if (!xen_event_is_runstate_change(rec->event))
		return 0;
	else if (xen_runstate_old(rec->event) == XEN_RUNSTATE_RUNNING)
		note_vcpu(search, core, xen_core_run(core, vcpu), vcpu);
	else if (xen_runstate_new(rec->event) == XEN_RUNSTATE_RUNNING)
		note_vcpu(search, core, xen_core_run(core, vcpu), XEN_VCPU_UNKNOWN);
	return 0;
}

int xen_trace_find_core_firsts(struct xen_trace *trace)
{
	struct xen_first *first = &trace->first;
	struct search search = { .trace = trace };
	int ret = -ENOMEM;

	if (!trace->cores)
		return 0;
	xen_cores_set_runs(trace->cores, trace->reader);
	search.vcpu = malloc(((size_t)first->n_runs + 1) * sizeof(*search.vcpu));
	search.done = calloc((size_t)first->n_runs + 1, sizeof(*search.done));
	if (!search.vcpu || !search.done)
		goto out;
	for (uint32_t i = 0; i < first->n_runs; i++)
		search.vcpu[i] = XEN_VCPU_UNKNOWN;
	ret = xen_trace_each_record(trace, look_at, &search);
	if (ret < 0)
		goto out;
	ret = 0;
	for (uint32_t i = 0; i < first->n_runs; i++) {
		if (xen_cores_of(trace->cores, xentrace_run_pcpu(trace->reader, i)))
			first->vcpu[i] = search.vcpu[i];
	}
out:
	free(search.vcpu);
	free(search.done);
	return ret;
}
