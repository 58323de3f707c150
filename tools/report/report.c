// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report.c
 * @brief	What kshark-virt report tells of whom; the numbers are those of virt_window.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "report.h"

/** Machines and tasks that are told apart when it comes to who takes pCPUs from whom. */
#define MATRIX_COLUMNS	8

/* --- what is told ---------------------------------------------------------------------------- */

const struct virt_window_pcpu *report_pcpu(const struct report *report, int pcpu)
{
	static const struct virt_window_pcpu nothing;

	return pcpu < report->window->n_pcpus ? &report->window->pcpus[pcpu] : &nothing;
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

const char *report_who(const struct report *report, int32_t who)
{
	return virt_model_culprit(report->load->model, who);
}

void report_exit_split(const struct virt_window_exit *exit, int64_t ns[REPORT_EXIT_N_PARTS])
{
	ns[REPORT_EXIT_HANDLING] = exit->state_ns[VIRT_HYPERVISOR];
	ns[REPORT_EXIT_VMM] = exit->state_ns[VIRT_VMM] + exit->unasked_vmm_ns;
	ns[REPORT_EXIT_WAIT] = exit->unasked_ns - exit->unasked_vmm_ns;
	ns[REPORT_EXIT_PREEMPTED] = exit->state_ns[VIRT_PREEMPTED];
	ns[REPORT_EXIT_WAKING] = exit->state_ns[VIRT_WAKING];
	ns[REPORT_EXIT_FREE] = exit->state_ns[VIRT_BLOCKED] + exit->state_ns[VIRT_OFFLINE] -
			       exit->unasked_ns;
}

/* --- of whom --------------------------------------------------------------------------------- */

/** A vCPU as --vcpu names it. */
static xen_vcpu xen_name(const struct virt_machine *machine, const struct virt_vcpu *vcpu)
{
	return machine->id != XEN_DOMID_IDLE ?
	       (xen_vcpu)machine->id << 16 | (uint32_t)vcpu->id : XEN_VCPU_UNKNOWN;
}

bool report_wants_vcpu(const struct report *report, int32_t index,
		       const struct ksv_vcpu_set *vcpus)
{
	const struct virt_model *model = report->load->model;
	const struct virt_vcpu *vcpu = virt_model_vcpu(model, index);

	return !vcpus->n ||
	       ksv_vcpu_in_set(vcpus, xen_name(virt_model_machine(model, vcpu->machine), vcpu));
}

/** @key: of its counts */
static void build_vcpu(const struct report *report, int32_t index, int32_t key,
		       struct report_vcpu *vcpu)
{
	const struct virt_model *model = report->load->model;

	vcpu->info = virt_model_vcpu(model, index);
	vcpu->index = index;
	vcpu->stats = &report->window->vcpus[index];
	vcpu->count = report_count_vcpu(report->count, (uint32_t)key);
	vcpu->migrations = virt_vcpu_migrations(model, index, report->from_ns, report->to_ns);
	virt_vcpu_exit_levels(model, index, report->from_ns, report->to_ns, &vcpu->levels);
}

/** A machine with those vCPUs that are wanted; without any it is not in the report. */
static int build_machine(struct report *report, int32_t index, const struct ksv_vcpu_set *vcpus)
{
	struct report_machine *machine = &report->machines[report->n_machines];
	const struct virt_model *model = report->load->model;
	const struct virt_machine *info = virt_model_machine(model, index);

	machine->info = info;
	machine->window = &report->window->machines[index];
	machine->vcpus = calloc(info->n_vcpus + 1, sizeof(*machine->vcpus));
	if (!machine->vcpus)
		return -ENOMEM;
	for (int32_t i = 0; i < info->n_vcpus; i++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(model, info->vcpus[i]);

		if (report_wants_vcpu(report, info->vcpus[i], vcpus))
			build_vcpu(report, info->vcpus[i], report->kvm ? vcpu->host_pid :
				   (int32_t)xen_name(info, vcpu),
				   &machine->vcpus[machine->n_vcpus++]);
	}
	if (!vcpus->n || machine->n_vcpus) {
		report->n_machines++;
		return 0;
	}
	free(machine->vcpus);
	machine->vcpus = NULL;
	return 0;
}

int report_window(struct report *report, const struct ksv_vcpu_set *vcpus, unsigned int parts)
{
	const struct virt_model *model = report->load->model;
	struct virt_window_query query = {
		.from_ns = report->from_ns, .to_ns = report->to_ns, .parts = parts,
	};
	bool *chosen = calloc(virt_model_n_vcpus(model) + 1, sizeof(*chosen));

	if (!chosen)
		return -ENOMEM;
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++)
		chosen[i] = report_wants_vcpu(report, i, vcpus);
	query.vcpus = chosen;
	report->window = virt_window_new(model, &query);
	free(chosen);
	return report->window ? 0 : -ENOMEM;
}

int report_build(struct report *report, const struct ksv_vcpu_set *vcpus)
{
	const struct virt_model *model = report->load->model;
	int32_t n = virt_model_n_machines(model);
	int ret;

	report->n_pcpus = host_trace_n_pcpus(&report->load->host);
	if (virt_model_n_pcpus(model) > report->n_pcpus)
		report->n_pcpus = virt_model_n_pcpus(model);
	ret = report_window(report, vcpus, VIRT_WINDOW_STATES | VIRT_WINDOW_EXITS);
	if (ret)
		return ret;
	report->machines = calloc(n + 1, sizeof(*report->machines));
	if (!report->machines)
		return -ENOMEM;
	for (int32_t i = 0; i < n && !ret; i++)
		ret = build_machine(report, i, vcpus);
	report->matrix = virt_matrix_new(model, report->window, true, MATRIX_COLUMNS);
	return report->matrix ? ret : -ENOMEM;
}

void report_free(struct report *report)
{
	for (int32_t i = 0; i < report->n_machines; i++)
		free(report->machines[i].vcpus);
	free(report->machines);
	virt_matrix_free(report->matrix);
	virt_window_free(report->window);
	report->machines = NULL;
	report->matrix = NULL;
	report->window = NULL;
	report->n_machines = 0;
}
