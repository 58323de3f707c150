// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_running.c
 * @brief	Follow which vCPU is on each pCPU, record by record.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "xen_ahead.h"
#include "xen_cores.h"

int xen_running_init(struct xen_running *running, uint32_t n_runs)
{
	running->n_runs = n_runs;
	running->cores = NULL;
	running->pcpu = malloc((n_runs ? n_runs : 1) * sizeof(*running->pcpu));
	if (!running->pcpu)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_runs; i++)
		running->pcpu[i].current = running->pcpu[i].next = XEN_VCPU_UNKNOWN;
	return 0;
}

void xen_running_destroy(struct xen_running *running)
{
	free(running->pcpu);
	running->pcpu = NULL;
}

/** A vCPU that a record names, unless the number is impossible. */
static xen_vcpu believable(xen_vcpu vcpu)
{
	return xen_vcpu_id(vcpu) <= XEN_MAX_VCPU && xen_vcpu_domid(vcpu) <= XEN_DOMID_IDLE ?
	       vcpu : XEN_VCPU_UNKNOWN;
}

/** TRC_LOST_RECORDS: who ran when the buffer had room again (struct in insert_lost_records()). */
static xen_vcpu vcpu_after_loss(const struct xentrace_record *rec)
{
	uint32_t did_vid = xentrace_word(rec, 1);

	if (rec->n_words < 2)
		return XEN_VCPU_UNKNOWN;
	return believable((did_vid & 0xffff) << 16 | did_vid >> 16);
}

/** A vCPU whose domain and number are two words. */
static xen_vcpu vcpu_in(const struct xentrace_record *rec, unsigned int word)
{
	return believable(xentrace_word(rec, word) << 16 | (xentrace_word(rec, word + 1) & 0xffff));
}

/** A record of the class SCHED. */
static xen_vcpu update_sched(struct xen_running_pcpu *pcpu, const struct xentrace_record *rec)
{
	uint32_t event = rec->event;
	xen_vcpu vcpu;

	if (xen_event_is_runstate_change(event)) {
		vcpu = believable(xentrace_word(rec, 0));
		if (!rec->n_words)
			return pcpu->current;
		if (xen_runstate_new(event) == XEN_RUNSTATE_RUNNING) {
			pcpu->current = vcpu;
		} else if (xen_runstate_old(event) == XEN_RUNSTATE_RUNNING &&
			   pcpu->current == XEN_VCPU_UNKNOWN) {
			pcpu->current = vcpu;
		}
	} else if (event == XEN_TRC_SCHED_CONTINUE_RUNNING && rec->n_words) {
		pcpu->current = believable(xentrace_word(rec, 0));
	} else if (event == XEN_TRC_SCHED_SWITCH && rec->n_words >= 4) {
		if (pcpu->current == XEN_VCPU_UNKNOWN)
			pcpu->current = vcpu_in(rec, 0);
		pcpu->next = vcpu_in(rec, 2);
	} else if (event == XEN_TRC_SCHED_SWITCH_INFCONT && rec->n_words >= 4 &&
		   pcpu->current == XEN_VCPU_UNKNOWN) {
		pcpu->current = vcpu_in(rec, 0);
	}
	return pcpu->current;
}

/** Nothing is known of the pCPUs of a core. */
static void forget_core(struct xen_running *running, const struct xen_core *core)
{
	for (uint32_t i = 0; i < core->n_pcpus; i++) {
		if (core->pcpus[i].run < running->n_runs)
			running->pcpu[core->pcpus[i].run].current = XEN_VCPU_UNKNOWN;
	}
}

/** A runstate change of any pCPU of a core. */
static void change_core(struct xen_running *running, const struct xen_core *core,
			const struct xentrace_record *rec)
{
	xen_vcpu vcpu = believable(xentrace_word(rec, 0));
	bool puts_on = xen_runstate_new(rec->event) == XEN_RUNSTATE_RUNNING;
	uint32_t run;

	if (!rec->n_words || (!puts_on && xen_runstate_old(rec->event) != XEN_RUNSTATE_RUNNING))
		return;
	run = vcpu == XEN_VCPU_UNKNOWN ? XEN_NO_RUN : xen_core_run(core, vcpu);
	if (run >= running->n_runs)
		forget_core(running, core);
	else if (puts_on || running->pcpu[run].current == XEN_VCPU_UNKNOWN)
		running->pcpu[run].current = vcpu;
}

/** A pCPU that is scheduled with others: the records of a switch name the unit, not the vCPU. */
static xen_vcpu update_core(struct xen_running *running, const struct xen_core *core,
			    const struct xentrace_record *rec)
{
	struct xen_running_pcpu *pcpu = &running->pcpu[rec->run];

	if (rec->flags & XENTRACE_AFTER_GAP || rec->event == XEN_TRC_LOST_RECORDS)
		forget_core(running, core);
	if (rec->event == XEN_TRC_LOST_RECORDS)
		pcpu->current = vcpu_after_loss(rec);
	else if (xen_event_is_runstate_change(rec->event))
		change_core(running, core, rec);
	else if (rec->event == XEN_TRC_SCHED_CONTINUE_RUNNING && rec->n_words)
		pcpu->current = believable(xentrace_word(rec, 0));
	return pcpu->current;
}

xen_vcpu xen_running_change(struct xen_running *running, const struct xentrace_record *rec)
{
	struct xen_running_pcpu *pcpu = &running->pcpu[rec->run];
	const struct xen_core *core = xen_cores_of(running->cores, rec->pcpu);

	if (core)
		return update_core(running, core, rec);
	if (rec->flags & XENTRACE_AFTER_GAP)
		pcpu->current = pcpu->next = XEN_VCPU_UNKNOWN;
	if (pcpu->next != XEN_VCPU_UNKNOWN) {
		/* after a switch come the two runstate changes, if those are traced */
		if (!xen_event_is_runstate_change(rec->event))
			pcpu->current = pcpu->next;
		pcpu->next = XEN_VCPU_UNKNOWN;
	}
	if (rec->event >> XEN_TRC_CLASS_SHIFT == XEN_TRC_CLASS_SCHED)
		return update_sched(pcpu, rec);
	if (rec->event == XEN_TRC_LOST_RECORDS)
		pcpu->current = vcpu_after_loss(rec);
	return pcpu->current;
}

/* ---- looking ahead ---- */

/** Return: true if no later one can show it. */
static bool look_at(struct xen_ahead *ahead, const struct xentrace_record *rec)
{
	uint32_t event = rec->event, subclass = event >> XEN_TRC_SUBCLASS_SHIFT;
	bool missing = rec->flags & XENTRACE_AFTER_GAP || event == XEN_TRC_LOST_RECORDS;

	if (!missing) {
		ahead->crossings |= subclass == XEN_TRC_HVM_ENTRYEXIT;
		ahead->guest |= event >> XEN_TRC_CLASS_SHIFT == XEN_TRC_CLASS_PV;
		ahead->scheduler |= subclass == XEN_TRC_SCHED_MIN ||
				    subclass == XEN_TRC_SCHED_VERBOSE;
	}
	if (missing || !rec->n_words)
		return missing;
	if (event == XEN_TRC_SCHED_CONTINUE_RUNNING ||
	    (xen_event_is_runstate_change(event) &&
	     xen_runstate_old(event) == XEN_RUNSTATE_RUNNING)) {
		ahead->vcpu = believable(xentrace_word(rec, 0));
	} else if (event == XEN_TRC_SCHED_SWITCH && rec->n_words >= 4) {
		ahead->vcpu = vcpu_in(rec, 0);
	} else if (event == XEN_TRC_SCHED_SWITCH_INFCONT && rec->n_words >= 4) {
		/* names the scheduling unit; if runstates are traced, the vCPU comes next */
		ahead->vcpu = vcpu_in(rec, 0);
		return false;
	} else if (!xen_event_is_runstate_change(event) ||
		   xen_runstate_new(event) != XEN_RUNSTATE_RUNNING) {
		return false;
	}
	/* nothing, if it took the place of a vCPU that left without a record */
	ahead->crossings = ahead->guest = false;
	return true;
}

void xen_ahead_look(struct xen_ahead *ahead, const struct xentrace_record *rec)
{
	if (ahead->done)
		return;
	ahead->pcpu = rec->pcpu;
	ahead->done = look_at(ahead, rec);
}

static int look_ahead(struct xen_ahead *ahead, const struct xentrace *reader, uint32_t run)
{
	struct xentrace_iter_options options = { .one_run = true, .run = run };
	struct xentrace_iter *iter = xentrace_iter_new(reader, &options);
	struct xentrace_record rec;
	int ret;

	if (!iter)
		return -ENOMEM;
	*ahead = xen_ahead_nothing;
	while (!ahead->done && xentrace_iter_next(iter, &rec))
		xen_ahead_look(ahead, &rec);
	ret = xentrace_iter_error(iter);
	xentrace_iter_free(iter);
	/* data that can be read no more adds nothing */
	return ret == -ESTALE ? 0 : ret;
}

int xen_first_make(struct xen_first *first, const struct xen_ahead *ahead, uint32_t n_runs)
{
	*first = (struct xen_first){
		.n_runs = n_runs, .vcpu = malloc(((size_t)n_runs + 1) * sizeof(*first->vcpu)),
	};
	if (!first->vcpu)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_runs; i++)
		first->scheduler |= ahead[i].scheduler;
	for (uint32_t i = 0; i < n_runs; i++) {
		/* where no switch would be seen, a PV guest's hypercalls do not show how long it
		 * stays
		 */
		bool somebody = ahead[i].crossings || (first->scheduler && ahead[i].guest);

		first->vcpu[i] = ahead[i].vcpu == XEN_VCPU_UNKNOWN && somebody ?
				 xen_vcpu_somebody(ahead[i].pcpu) : ahead[i].vcpu;
	}
	return 0;
}

int xen_first_find(struct xen_first *first, const struct xentrace *reader)
{
	uint32_t n = xentrace_n_runs(reader);
	struct xen_ahead *ahead = malloc(((size_t)n + 1) * sizeof(*ahead));
	int ret = ahead ? 0 : -ENOMEM;

	*first = (struct xen_first){ 0 };
	for (uint32_t i = 0; i < n && !ret; i++)
		ret = look_ahead(&ahead[i], reader, i);
	if (!ret)
		ret = xen_first_make(first, ahead, n);
	free(ahead);
	return ret;
}

void xen_first_destroy(struct xen_first *first)
{
	free(first->vcpu);
	first->vcpu = NULL;
}

void xen_running_start(struct xen_running *running, const struct xen_first *first)
{
	for (uint32_t i = 0; i < running->n_runs && i < first->n_runs; i++)
		running->pcpu[i].current = first->vcpu[i];
}
