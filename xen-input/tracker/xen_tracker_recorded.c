// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_tracker_recorded.c
 * @brief	Find which kinds of records a xentrace file has.
 *
 * xentrace -e enables classes of events and parts of them (XEN_TRC_*_SHIFT), so one record of a
 * part is evidence for all of its events. The file does not have the mask of -e.
 */
#include "xen_tracker_private.h"

#define BIT(kind)	VIRT_RECORD_BIT(VIRT_RECORD_##kind)

void tracker_note_kind(struct xen_tracker *tracker, uint32_t event)
{
	switch (event >> XEN_TRC_SUBCLASS_SHIFT) {
	case XEN_TRC_SCHED_MIN:
		tracker->recorded |= BIT(RUNSTATE) | BIT(MIGRATE);
		break;
	case XEN_TRC_SCHED_VERBOSE:
		tracker->recorded |= BIT(SWITCH) | BIT(MIGRATE) | BIT(REQUEST);
		break;
	case XEN_TRC_HVM_ENTRYEXIT:
		tracker->recorded |= BIT(ENTRY) | BIT(EXIT);
		break;
	case XEN_TRC_HVM_HANDLER:
		tracker->recorded |= BIT(INJECT) | BIT(CALL) | BIT(MSR) | BIT(PORT) | BIT(MMIO) |
				     BIT(FAULT) | BIT(CPUID) | BIT(CR) | BIT(APIC);
		break;
	case XEN_TRC_HW_PM:
		tracker->recorded |= BIT(IDLE_STATE) | BIT(FREQUENCY);
		break;
	default:
		if (event == XEN_TRC_HW_IRQ_HANDLED)
			tracker->recorded |= BIT(HANDLER);
	}
}

void xen_tracker_note_pv(struct xen_tracker *tracker, const struct xentrace_record *rec)
{
	int32_t current = tracker->runs[rec->run].current;

	if (rec->event >> XEN_TRC_SUBCLASS_SHIFT != XEN_TRC_PV_ENTRY)
		return;
	tracker->has_pv = true;
	/* Xen up to 4.2 has no records of the calls in a multicall */
	tracker->head.has_multicalls |= rec->event == XEN_TRC_PV_HYPERCALL ||
					rec->event == XEN_TRC_PV_HYPERCALL64;
	if (current < 0)
		return;
	tracker->domains[tracker->vcpus[current].domain].pv = true;
	tracker->head.calls[rec->run].is_noted = true;
}

static bool is_pv(const struct xen_tracker *tracker, uint32_t i)
{
	return !tracker->domains[i].hvm && tracker->domains[i].pv;
}

static bool is_hvm(const struct xen_tracker *tracker, uint32_t i)
{
	return tracker->domains[i].hvm;
}

/** Without the scheduler's records, one that has a pCPU may be several vCPUs, of both kinds. */
static bool may_be_several(const struct xen_tracker *tracker, uint32_t i)
{
	return tracker->domain_map.keys[i] >= XEN_DOMID_SOMEBODY &&
	       !(tracker->recorded & (BIT(RUNSTATE) | BIT(SWITCH)));
}

/** Does the trace show that each domain with vCPUs is of a kind? */
static bool are_all(const struct xen_tracker *tracker,
		    bool (*is)(const struct xen_tracker *tracker, uint32_t i))
{
	bool any = false;

	for (uint32_t i = 0; i < tracker->domain_map.n_keys; i++) {
		if (!tracker->domains[i].has_vcpus)
			continue;
		if (may_be_several(tracker, i) || !is(tracker, i))
			return false;
		any = true;
	}
	return any;
}

/**
 * PV domains have no VM exits, and what Xen does for them is no record of XEN_TRC_HVM_HANDLER. HVM
 * domains have no records of XEN_TRC_PV_ENTRY. Where each domain is of one kind, the records of the
 * other kind are not missing.
 */
void tracker_set_recorded(const struct xen_tracker *tracker, struct virt_model *model)
{
	uint64_t kinds = tracker->recorded;

	if (tracker->has_pv || are_all(tracker, is_hvm))
		kinds |= BIT(HYPERCALL) | BIT(EXCEPTION);
	/* without a multicall, there is none in one */
	if (tracker->head.has_subcalls || !tracker->head.has_multicalls)
		kinds |= BIT(SUBCALL);
	if (tracker->head.classes & XEN_TRC_CLASS_MEM)
		kinds |= BIT(MEMORY);
	if (tracker->head.has_budgets)
		kinds |= BIT(BUDGET);
	if (are_all(tracker, is_pv))
		kinds |= BIT(ENTRY) | BIT(EXIT) | BIT(INJECT) | BIT(CALL) | BIT(REQUEST) |
			 BIT(BUDGET);
	virt_model_set_hypervisor(model, VIRT_XEN);
	virt_model_set_recorded(model, kinds);
}
