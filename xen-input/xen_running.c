// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_running.c
 * @brief	Which vCPU is on each pCPU while the records go by.
 */
#include <errno.h>
#include <stdlib.h>

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
		/* prev domid, prev vcpu, next domid, next vcpu */
		if (pcpu->current == XEN_VCPU_UNKNOWN)
			pcpu->current = believable(xentrace_word(rec, 0) << 16 |
						   (xentrace_word(rec, 1) & 0xffff));
		pcpu->next = believable(xentrace_word(rec, 2) << 16 |
					(xentrace_word(rec, 3) & 0xffff));
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
