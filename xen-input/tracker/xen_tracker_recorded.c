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
		tracker->recorded |= BIT(SWITCH) | BIT(WAKEUP) | BIT(MIGRATE);
		break;
	case XEN_TRC_HVM_ENTRYEXIT:
		tracker->recorded |= BIT(ENTRY) | BIT(EXIT) | BIT(INJECT) | BIT(HYPERCALL) |
				     BIT(EXCEPTION);
		break;
	case XEN_TRC_HVM_HANDLER:
		tracker->recorded |= BIT(CALL) | BIT(MSR) | BIT(PORT) | BIT(MMIO) | BIT(FAULT) |
				     BIT(CPUID) | BIT(CR) | BIT(APIC);
		break;
	case XEN_TRC_HW_PM:
		tracker->recorded |= BIT(IDLE_STATE) | BIT(FREQUENCY);
		break;
	default:
		if (event == XEN_TRC_HW_IRQ_HANDLED)
			tracker->recorded |= BIT(HANDLER);
	}
}

/** PV domains have no VM exits and no vectors: where each domain is one, none is missing. */
static bool are_all_pv(const struct xen_tracker *tracker)
{
	bool any = false;

	for (size_t i = 0; i < tracker->domain_map.n_keys; i++) {
		const struct tracked_domain *domain = &tracker->domains[i];

		if (domain->has_vcpus && !domain->calls)
			return false;
		any |= domain->has_vcpus;
	}
	return any;
}

void tracker_tell_recorded(const struct xen_tracker *tracker, struct virt_model *model)
{
	uint64_t kinds = tracker->recorded;

	if (tracker->head.classes & XEN_TRC_CLASS_PV)
		kinds |= BIT(HYPERCALL) | BIT(EXCEPTION);
	if (tracker->head.classes & XEN_TRC_CLASS_MEM)
		kinds |= BIT(MEMORY);
	if (are_all_pv(tracker))
		kinds |= BIT(ENTRY) | BIT(EXIT) | BIT(INJECT);
	virt_model_set_hypervisor(model, VIRT_XEN);
	virt_model_set_recorded(model, kinds);
}
