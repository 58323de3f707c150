// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report.c
 * @brief	The selection of vCPUs for kshark-virt report, and their numbers, which
 *		virt_window.h counts.
 */
#include <errno.h>
#include <stdlib.h>

#include "model_vcpus.h"
#include "report.h"
#include "virt_arguments.h"
#include "virt_needs.h"

/* --- what the sections show ------------------------------------------------------------------ */

const struct virt_window_pcpu *report_pcpu(const struct report *report, int pcpu)
{
	static const struct virt_window_pcpu nothing;

	const struct virt_window_pcpu *known = virt_window_walk_pcpu(report->walk, pcpu);

	return known ? known : &nothing;
}

int64_t report_busy_ns(const struct virt_pcpu_totals *totals)
{
	int64_t ns = 0;

	for (int state = 0; state < VIRT_N_STATES; state++)
		ns += totals->state_ns[state];
	return ns;
}

const char *report_reason(const struct report *report, int32_t reason)
{
	const char *name = virt_model_reason(report->load->model, reason);

	return name ? name : "unknown";
}

bool report_has_argument(const struct report *report, int32_t reason)
{
	return virt_reason_record(report->load->model, reason) != VIRT_RECORD_N_KINDS;
}

bool report_has_causes(const struct report *report, int32_t reason)
{
	return virt_reason_for_memory(report->load->model, reason) &&
	       exit_causes_recorded(virt_model_recorded(report->load->model));
}

const char *report_argument(const struct report *report, const struct virt_window_exit *exit)
{
	const struct virt_model *model = report->load->model;
	const char *name = virt_argument_name(model, exit->argument);

	if (name)
		return name;
	return virt_model_has_recorded(model, virt_reason_record(model, exit->reason)) ?
	       "not recorded" : "unknown";
}

const char *report_cause(const struct report *report, const struct virt_window_exit *exit)
{
	const char *name = exit_cause_name((enum exit_cause)exit->cause);

	return !report_has_causes(report, exit->reason) ? NULL : name ? name : "unknown";
}

const char *report_who(const struct report *report, int32_t who)
{
	return virt_model_culprit(report->load->model, who);
}

const char *report_detail(const struct report *report, const struct virt_interval *interval,
			  int32_t *who)
{
	const struct virt_model *model = report->load->model;
	const struct virt_wake *wake;

	*who = VIRT_NONE;
	switch (interval->state) {
	case VIRT_HYPERVISOR:
	case VIRT_POLLING:
	case VIRT_VMM:
		return virt_model_reason(model, interval->detail);
	case VIRT_PREEMPTED:
		if (!virt_model_knows(model, VIRT_NUMBER_CULPRITS))
			return NULL;
		*who = interval->detail;
		return virt_model_who(model, interval->detail);
	case VIRT_BLOCKED:
		wake = virt_model_wake(model, interval->detail);
		*who = wake ? wake->who : VIRT_NONE;
		return wake ? virt_wake_cause_name((enum virt_wake_cause)wake->cause) : NULL;
	default:
		return NULL;
	}
}

const char *report_machine_name(const struct report *report, int32_t index)
{
	const struct virt_machine *machine = virt_model_machine(report->load->model, index);
	const struct xen_trace *xen = report->load->host.xen;
	const char *name = !xen || machine->id < 0 ? NULL :
			   xen_meta_domain_name(xen_trace_meta(xen), (uint32_t)machine->id);

	return name ? name : machine->name;
}

void report_exit_split(const struct virt_window_exit *exit, int64_t ns[REPORT_EXIT_N_PARTS])
{
	ns[REPORT_EXIT_HANDLING] = exit->state_ns[VIRT_HYPERVISOR];
	ns[REPORT_EXIT_VMM] = exit->state_ns[VIRT_VMM] + exit->unasked_vmm_ns;
	ns[REPORT_EXIT_WAIT] = exit->unasked_ns - exit->unasked_vmm_ns;
	ns[REPORT_EXIT_PREEMPTED] = exit->state_ns[VIRT_PREEMPTED];
	ns[REPORT_EXIT_WAKING] = exit->state_ns[VIRT_WAKING];
	ns[REPORT_EXIT_FREE] = exit->state_ns[VIRT_POLLING] +
			       exit->state_ns[VIRT_BLOCKED] + exit->state_ns[VIRT_DEVICE_MODEL] +
			       exit->state_ns[VIRT_OFFLINE] - exit->unasked_ns;
}

/* --- vCPUs and machines ---------------------------------------------------------------------- */

/** A vCPU as its records name it. */
static xen_vcpu xen_name(const struct virt_machine *machine, const struct virt_vcpu *vcpu)
{
	return machine->id != XEN_DOMID_IDLE ?
	       (xen_vcpu)machine->id << 16 | (uint32_t)vcpu->id : XEN_VCPU_UNKNOWN;
}

bool report_wants_vcpu(const struct report *report, int32_t index,
		       const struct ksv_vcpu_set *vcpus)
{
	return model_wants_vcpu(report->load->model, index, vcpus);
}

bool report_vcpu(const struct report *report, int32_t index, struct report_vcpu *vcpu)
{
	const struct virt_model *model = report->load->model;
	const struct virt_vcpu *info = virt_model_vcpu(model, index);
	const struct virt_machine *machine = virt_model_machine(model, info->machine);

	if (!virt_window_walk_wants(report->walk, index))
		return false;
	*vcpu = (struct report_vcpu){
		.info = info,
		.index = index,
		.stats = virt_window_walk_vcpu(report->walk, index),
		.count = report_count_vcpu(report->count, report->kvm ? (uint32_t)info->host_pid :
					   xen_name(machine, info)),
		.migrations = virt_vcpu_migrations(model, index, report->from_ns, report->to_ns),
	};
	virt_vcpu_exit_levels(model, index, report->from_ns, report->to_ns, &vcpu->levels);
	/* incomplete results are not shown; the caller gets the error */
	return !virt_window_walk_error(report->walk);
}

bool report_machine(const struct report *report, int32_t index, struct report_machine *machine)
{
	const struct virt_machine *info = virt_model_machine(report->load->model, index);
	int32_t i = 0;

	while (report->chosen && i < info->n_vcpus && !report->chosen[info->vcpus[i]])
		i++;
	if (report->chosen && i == info->n_vcpus)
		return false;
	/* only KVM has exits of all vCPUs together */
	*machine = (struct report_machine){
		.info = info, .window = virt_window_walk_machine(report->walk, index, report->kvm),
	};
	return !virt_window_walk_error(report->walk);
}

int report_window(struct report *report, const struct ksv_vcpu_set *vcpus, unsigned int parts)
{
	const struct virt_model *model = report->load->model;

	if (ksv_vcpus_given(vcpus)) {
		report->chosen = calloc(virt_model_n_vcpus(model) + 1, sizeof(*report->chosen));
		if (!report->chosen)
			return -ENOMEM;
	}
	for (int32_t i = 0; report->chosen && i < virt_model_n_vcpus(model); i++)
		report->chosen[i] = report_wants_vcpu(report, i, vcpus);
	report->query = (struct virt_window_query){
		.from_ns = report->from_ns, .to_ns = report->to_ns, .parts = parts,
		.vcpus = report->chosen,
	};
	report->walk = virt_window_walk_new(model, &report->query);
	return report->walk ? 0 : -ENOMEM;
}

int report_build(struct report *report, const struct ksv_vcpu_set *vcpus, size_t most_culprits)
{
	const struct virt_model *model = report->load->model;
	int ret;

	report->n_pcpus = host_trace_n_pcpus(&report->load->host);
	if (virt_model_n_pcpus(model) > report->n_pcpus)
		report->n_pcpus = virt_model_n_pcpus(model);
	ret = report_window(report, vcpus, VIRT_WINDOW_STATES | VIRT_WINDOW_EXITS);
	if (ret)
		return ret;
	report->matrix = virt_matrix_of_walk(model, report->walk, true, most_culprits);
	return report->matrix ? 0 : -ENOMEM;
}

void report_free(struct report *report)
{
	virt_matrix_free(report->matrix);
	virt_window_walk_free(report->walk);
	free(report->chosen);
	report->matrix = NULL;
	report->walk = NULL;
	report->chosen = NULL;
}

bool report_wants_machine(const struct report *report, int32_t index)
{
	const struct virt_machine *machine = virt_model_machine(report->load->model, index);

	for (int32_t i = 0; i < machine->n_vcpus; i++)
		if (virt_window_walk_wants(report->walk, machine->vcpus[i]))
			return true;
	return false;
}

const char *report_works_for(const struct report *report, int32_t machine, bool is_guest)
{
	if (machine != VIRT_NONE)
		return virt_model_machine(report->load->model, machine)->name;
	return is_guest ? "unknown" : "host";
}

bool report_wants_work(const struct report *report, int32_t machine)
{
	return machine == VIRT_NONE ? !report->chosen : report_wants_machine(report, machine);
}

const char *report_worst_hidden(const struct report *report, int kind, char *advice, size_t size)
{
	enum virt_number number = virt_number_of_worst((enum virt_worst_kind)kind);

	if (kind == VIRT_WORST_IRQ)
		return report->delivery ? report->delivery_missing :
					  "no aligned trace of the guest is given";
	if (kind == VIRT_WORST_TSC)
		return report->load->host.xen ? "xentrace has no records of them" : NULL;
	if (virt_model_knows(report->load->model, number))
		return NULL;
	virt_model_advice(report->load->model, number, advice, size);
	return advice;
}

unsigned int report_worst_visible(const struct report *report, unsigned int kinds)
{
	char advice[VIRT_ADVICE_SIZE];

	for (int kind = 0; kind < VIRT_WORST_N_KINDS; kind++)
		if (report_worst_hidden(report, kind, advice, sizeof(advice)))
			kinds &= ~(1u << kind);
	return kinds;
}
