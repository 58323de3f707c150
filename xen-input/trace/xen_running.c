// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_running.c
 * @brief	Which vCPU is on each pCPU while the records go by.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "xen_running.h"

int xen_running_init(struct xen_running *running, uint32_t n_runs)
{
	running->n_runs = n_runs;
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

xen_vcpu xen_running_change(struct xen_running_pcpu *pcpu, const struct xentrace_record *rec)
{
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

/** What the records of a run have told so far of who was there at the first one. */
struct ahead {
	xen_vcpu	vcpu;
	bool		crossings;	/* VM entries and exits */
	bool		guest;		/* hypercalls, traps */
	bool		scheduler;
};

/** Look at one more record. Return: true if no later one can tell. */
static bool look_at(struct ahead *ahead, const struct xentrace_record *rec)
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
	/* nothing, if it took the place of somebody who left unseen */
	ahead->crossings = ahead->guest = false;
	return true;
}

static int look_ahead(struct ahead *ahead, const struct xentrace *reader, uint32_t run,
		      uint16_t *pcpu)
{
	struct xentrace_iter_options options = { .one_run = true, .run = run };
	struct xentrace_iter *iter = xentrace_iter_new(reader, &options);
	struct xentrace_record rec;
	int ret;

	if (!iter)
		return -ENOMEM;
	*ahead = (struct ahead){ .vcpu = XEN_VCPU_UNKNOWN };
	while (xentrace_iter_next(iter, &rec)) {
		*pcpu = rec.pcpu;
		if (look_at(ahead, &rec))
			break;
	}
	ret = xentrace_iter_error(iter);
	xentrace_iter_free(iter);
	/* what can be read no more has nothing to tell */
	return ret == -ESTALE ? 0 : ret;
}

int xen_first_find(struct xen_first *first, const struct xentrace *reader)
{
	uint32_t n = xentrace_n_runs(reader);
	xen_vcpu *guests = malloc((n + 1) * sizeof(*guests));
	int ret = 0;

	*first = (struct xen_first){ .n_runs = n, .vcpu = malloc((n + 1) * sizeof(*guests)) };
	if (!first->vcpu || !guests)
		ret = -ENOMEM;
	for (uint32_t i = 0; i < n && !ret; i++) {
		struct ahead ahead;
		uint16_t pcpu = 0;

		ret = look_ahead(&ahead, reader, i, &pcpu);
		if (ret)
			break;
		first->scheduler |= ahead.scheduler;
		first->vcpu[i] = ahead.vcpu;
		guests[i] = ahead.vcpu;
		if (ahead.vcpu == XEN_VCPU_UNKNOWN && ahead.crossings)
			first->vcpu[i] = guests[i] = xen_vcpu_somebody(pcpu);
		else if (ahead.vcpu == XEN_VCPU_UNKNOWN && ahead.guest)
			guests[i] = xen_vcpu_somebody(pcpu);
	}
	/* where no switch would be seen, a PV guest's hypercalls do not tell how long it stays */
	if (!ret && first->scheduler)
		memcpy(first->vcpu, guests, n * sizeof(*guests));
	free(guests);
	if (ret)
		xen_first_destroy(first);
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
