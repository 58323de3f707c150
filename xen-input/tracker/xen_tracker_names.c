// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_tracker_names.c
 * @brief	Keep the domains, vCPUs and exit reasons that the records of Xen name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "virt_affinity.h"
#include "xen_tracker_private.h"

int32_t tracker_domain_of(struct xen_tracker *tracker, uint32_t domid)
{
	const char *meta = xen_meta_domain_name(xen_trace_meta(tracker->trace), domid);
	uint32_t known = tracker->domain_map.n_keys;
	int64_t n = KEY_MAP_ELEMENT(&tracker->domain_map, domid, tracker->domains,
				    tracker->room_domains);
	struct tracked_domain *domain;
	char name[128];

	if (n < 0 || n < known)
		return (int32_t)n;
	if (domid >= XEN_DOMID_SOMEBODY)
		snprintf(name, sizeof(name), "d? on p%u", domid - XEN_DOMID_SOMEBODY);
	else
		text_format(name, sizeof(name), "d%u%s%s", domid, meta ? ":" : "",
			    meta ? meta : "");
	domain = &tracker->domains[n];
	*domain = (struct tracked_domain){ .there = NOBODY };
	domain->machine = virt_model_add_machine(tracker->model, (int32_t)domid, name);
	return domain->machine < 0 ? domain->machine : (int32_t)n;
}

int32_t tracker_vcpu_of(struct xen_tracker *tracker, xen_vcpu vcpu)
{
	uint32_t domid = xen_vcpu_domid(vcpu), id = xen_vcpu_id(vcpu);
	uint32_t known = tracker->vcpu_map.n_keys;
	int64_t n = KEY_MAP_ELEMENT(&tracker->vcpu_map, vcpu, tracker->vcpus,
				    tracker->room_vcpus);
	const struct xen_meta_domain *meta;
	const char *list;
	struct tracked_vcpu *v;
	int32_t domain;
	char name[32];

	if (n >= 0 && n < known)
		return (int32_t)n;
	domain = n < 0 ? -ENOMEM : tracker_domain_of(tracker, domid);
	if (domain < 0) {
		tracker_fail(tracker, domain);
		return domain;
	}
	/* without the domain's name, which its machine has */
	xen_vcpu_text(name, sizeof(name), vcpu, NULL);
	v = &tracker->vcpus[n];
	*v = (struct tracked_vcpu){ .domain = domain, .last_ns = tracker->begin_ns,
				    .reason = VIRT_NONE, .pcpu = VIRT_NONE };
	v->index = virt_model_add_vcpu(tracker->model, tracker->domains[domain].machine,
				       (int32_t)id, xen_vcpu_tid(vcpu), name);
	if (v->index < 0) {
		tracker_fail(tracker, v->index);
		return v->index;
	}
	/* another text than a list is as none */
	list = xen_meta_affinity(xen_trace_meta(tracker->trace), domid, id);
	if (list && virt_model_set_affinity(tracker->model, v->index, list) == -ENOMEM)
		tracker_fail(tracker, -ENOMEM);
	meta = xen_meta_domain(xen_trace_meta(tracker->trace), domid);
	if (meta && meta->tsc_scale > 0)
		virt_model_set_tsc(tracker->model, v->index, meta->tsc_scale, meta->tsc_offset);
	tracker->domains[domain].has_vcpus = true;
	tracker_add_shown(tracker, v);
	if (tracker->domains[domain].created)
		tracker_enter(tracker, v, tracker->begin_ns, OFFLINE);
	return (int32_t)n;
}

struct tracked_vcpu *tracker_find_vcpu(struct xen_tracker *tracker, xen_vcpu vcpu)
{
	int64_t n = key_map_find(&tracker->vcpu_map, vcpu);

	return n < 0 ? NULL : &tracker->vcpus[n];
}

/** What the id of a VM exit says. */
struct exit_id {
	enum xen_isa	isa;
	bool		nested;
};

static struct exit_id exit_id(uint32_t event)
{
	switch (event) {
#define XEN_EXIT(symbol_, isa_, nested_) \
	case XEN_TRC_##symbol_: return (struct exit_id){ XEN_ISA_##isa_, nested_ };
#include "xen_events.def"
	}
	return (struct exit_id){ XEN_ISA_UNKNOWN, false };
}

int32_t tracker_reason_of(struct xen_tracker *tracker, const struct xentrace_record *rec)
{
	uint32_t code = xentrace_word(rec, 0);
	struct exit_id id = exit_id(rec->event);
	bool nested = id.nested, svm = id.isa == XEN_ISA_SVM ||
				       xen_trace_isa(tracker->trace) == XEN_ISA_SVM;
	uint32_t known = tracker->reason_map.n_keys;
	char number[32], name[64];
	const char *text;
	int64_t n;

	if (!rec->n_words)
		return VIRT_NONE;
	if (!svm)
		code &= 0xffff;
	n = KEY_MAP_ELEMENT(&tracker->reason_map, (code & 0x3fffffff) | (uint32_t)svm << 30 |
			    (uint32_t)nested << 31, tracker->reasons, tracker->room_reasons);
	if (n >= 0 && n < known)
		return tracker->reasons[n];
	if (n < 0) {
		tracker_fail(tracker, -ENOMEM);
		return VIRT_NONE;
	}
	text = svm ? xen_svm_exit_name(code == UINT32_MAX ? UINT64_MAX : code) :
		     xen_vmx_exit_name(code);
	snprintf(number, sizeof(number), "0x%x", code);
	snprintf(name, sizeof(name), "%s%s", nested ? "L2:" : "", text ? text : number);
	tracker->reasons[n] = virt_model_add_reason(tracker->model, name);
	tracker_fail(tracker, tracker->reasons[n]);
	return tracker->reasons[n];
}
