// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_finding.c
 * @brief	Make rows of a list from the worst moments.
 */
#include "virt_delivery.h"
#include "virt_finding.h"

static const char *what_of(const struct virt_model *model, const struct virt_moment *moment)
{
	const char *name;

	switch (moment->kind) {
	case VIRT_WORST_EXIT:
		name = virt_model_reason(model, moment->reason);
		return name ? name : "unknown";
	case VIRT_WORST_STEAL:
		return virt_model_culprit(model, moment->who);
	case VIRT_WORST_WAKE:
		return moment->who == VIRT_NONE ? "" : virt_model_culprit(model, moment->who);
	case VIRT_WORST_OFFLINE:
		if (moment->held_ns == moment->cost_ns && moment->held_ns)
			return "held by its cap";
		return moment->whole_machine ? "whole machine" : "vCPU alone";
	case VIRT_WORST_IRQ:
		name = virt_vector_name(model, moment->vcpu, moment->vector);
		return name ? name : "";
	default:
		return "";
	}
}

bool virt_finding_make(const struct virt_model *model, const struct virt_worst *worst,
		       const struct virt_worst_hit *hit, struct virt_finding *finding)
{
	const struct virt_vcpu *vcpu;

	if (!virt_worst_describe(worst, hit, &finding->moment))
		return false;
	vcpu = virt_model_vcpu(model, finding->moment.vcpu);
	finding->time_ns = hit->time_ns;
	finding->vcpu = vcpu ? vcpu->name : "";
	finding->what = what_of(model, &finding->moment);
	return true;
}
