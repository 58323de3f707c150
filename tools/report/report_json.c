// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_json.c
 * @brief	kshark-virt report as JSON; every key is documented in kshark-virt-report.1.
 */
#include <stdio.h>

#include "json_writer.h"
#include "report_delivery.h"

/** Members of the object that is open, if there is a duration at all. */
static void write_dist(struct json *json, const struct virt_dist *dist)
{
	if (!dist->count)
		return;
	json_i64(json, "mean", dist->ns / (int64_t)dist->count);
	json_i64(json, "min", dist->min);
	json_i64(json, "p5", dist->p5);
	json_i64(json, "p50", dist->p50);
	json_i64(json, "p95", dist->p95);
	json_i64(json, "p99", dist->p99);
	json_i64(json, "max", dist->max);
}

static void write_stretches(struct json *json, const char *key,
			    const struct virt_stretches *stretches)
{
	json_open(json, key, '{', true);
	json_i64(json, "ns", stretches->ns);
	json_u64(json, "count", stretches->count);
	json_u64(json, "complete", stretches->whole.count);
	write_dist(json, &stretches->whole);
	if (stretches->before)
		json_u64(json, "before", stretches->before);
	if (stretches->before && stretches->before_ns != VIRT_NONE)
		json_i64(json, "before_ns", stretches->before_ns);
	json_close(json, '}');
}

static void write_clock(struct json *json, const struct report *report)
{
	const struct xen_clock *clock = xen_trace_clock(report->load->host.xen);

	json_open(json, "clock", '{', true);
	json_u64(json, "cpu_khz", (clock->hz + 500) / 1000);
	json_u64(json, "cpu_hz", clock->hz);
	json_str(json, "source", xen_clock_source_name(clock->source));
	json_fixed(json, "residual_ppm", clock->residual_ppm);
	json_close(json, '}');
}

/** Only in traces that do not tell who has a pCPU. */
static void write_unsplit(struct json *json, const struct report *report, const int64_t *ns)
{
	if (!report_is_unsplit(report))
		return;
	json_open(json, "unsplit_ns", '{', true);
	json_i64(json, virt_state_name(VIRT_HYPERVISOR), ns[VIRT_HYPERVISOR]);
	json_i64(json, virt_state_name(VIRT_VMM), ns[VIRT_VMM]);
	json_i64(json, virt_state_name(VIRT_UNKNOWN), ns[VIRT_UNKNOWN]);
	json_close(json, '}');
}

static void write_exits(struct json *json, const struct report *report,
			const struct virt_window_stats *stats)
{
	json_open(json, "exits", '[', false);
	for (size_t i = 0; i < stats->n_reasons; i++) {
		const struct virt_window_exit *exit = &stats->reasons[i];

		json_open(json, NULL, '{', true);
		json_str(json, "reason", report_reason(report, exit->reason));
		json_u64(json, "count", exit->count);
		json_u64(json, "complete", exit->cost.count);
		json_i64(json, "ns", exit->cost.ns);
		if (report_is_unsplit(report))
			json_bool(json, "unsplit", true);
		write_dist(json, &exit->cost);
		json_open(json, "states_ns", '{', true);
		for (int state = VIRT_HYPERVISOR; state < VIRT_UNKNOWN; state++) {
			if (exit->state_ns[state])
				json_i64(json, virt_state_name((enum virt_state)state),
					 exit->state_ns[state]);
		}
		json_close(json, '}');
		if (exit->unasked_ns)
			json_i64(json, "unasked_ns", exit->unasked_ns);
		if (exit->unasked_vmm_ns)
			json_i64(json, "unasked_vmm_ns", exit->unasked_vmm_ns);
		json_close(json, '}');
	}
	json_close(json, ']');
}

/** Only where there are nested guests. */
static void write_levels(struct json *json, const struct report_vcpu *vcpu)
{
	const struct virt_exit_levels *levels = &vcpu->levels;

	if (!levels->l2)
		return;
	json_open(json, "exit_levels", '{', true);
	json_u64(json, "l1", levels->l1);
	json_u64(json, "l2", levels->l2);
	json_u64(json, "unknown", levels->unknown);
	json_fixed(json, "multiplication", (double)levels->l1 / (double)levels->l2);
	json_close(json, '}');
}

static void write_hypercalls(struct json *json, const struct vcpu_count *count)
{
	json_open(json, "hypercalls", '[', false);
	for (unsigned int i = 0; count && i < COUNT_HYPERCALLS; i++) {
		const char *name = report_count_hypercall(count, i);

		if (!count->hypercalls[i] && !count->subcalls[i])
			continue;
		json_open(json, NULL, '{', true);
		if (i != COUNT_OTHER_HYPERCALL)
			json_u64(json, "nr", i);
		json_str(json, "name", i == COUNT_OTHER_HYPERCALL ? "other" : name ? name : "");
		json_u64(json, "count", count->hypercalls[i]);
		json_u64(json, "subcalls", count->subcalls[i]);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_named(struct json *json, const char *name, uint64_t count)
{
	if (!count)
		return;
	json_open(json, NULL, '{', true);
	json_str(json, "name", name);
	json_u64(json, "count", count);
	json_close(json, '}');
}

static void write_counts(struct json *json, const struct vcpu_count *count)
{
	char number[16];

	write_hypercalls(json, count);
	json_open(json, "traps", '[', false);
	for (unsigned int i = 0; count && i < COUNT_TRAPS; i++) {
		snprintf(number, sizeof(number), "trap_%u", i);
		write_named(json, xen_trap_name(i) ? xen_trap_name(i) : number, count->traps[i]);
	}
	for (int i = 0; count && report_count_trap(i); i++)
		write_named(json, report_count_trap(i), count->trap_events[i]);
	json_close(json, ']');
	json_open(json, "memory", '[', false);
	for (int i = 0; count && report_count_memory(i); i++)
		write_named(json, report_count_memory(i), count->memory[i]);
	json_close(json, ']');
	json_open(json, "interrupts", '[', false);
	for (unsigned int i = 0; count && i < COUNT_VECTORS; i++) {
		if (!count->vectors[i])
			continue;
		json_open(json, NULL, '{', true);
		json_u64(json, "vector", i);
		json_u64(json, "count", count->vectors[i]);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_migrations(struct json *json, const struct report_vcpu *vcpu)
{
	json_u64(json, "migrations", vcpu->migrations.n);
	json_open(json, "migration_list", '[', false);
	for (size_t i = 0; i < vcpu->migrations.n; i++) {
		const struct virt_migration *migration = &vcpu->migrations.first[i];

		json_open(json, NULL, '{', true);
		json_i64(json, "time_ns", migration->time_ns);
		json_i64(json, "from", migration->from);
		json_i64(json, "to", migration->to);
		json_i64(json, "gap_ns", migration->gap_ns);
		json_close(json, '}');
	}
	json_close(json, ']');
}

/** A KVM host's thread, and the guest's CPU. */
static void write_threads(struct json *json, const struct report *report,
			  const struct report_vcpu *vcpu)
{
	int cpu = report_kvm_guest_cpu(report->kvm, vcpu->info->host_pid);

	json_i64(json, "tid", vcpu->info->host_pid);
	if (cpu != VIRT_NONE)
		json_i64(json, "guest_cpu", cpu);
}

static void write_vcpu(struct json *json, const struct report *report,
		       const struct report_vcpu *vcpu)
{
	const struct virt_window_stats *stats = vcpu->stats;
	char number[16];

	json_open(json, NULL, '{', false);
	json_i64(json, "id", vcpu->info->id);
	json_str(json, "name", vcpu->info->name);
	if (report->kvm)
		write_threads(json, report, vcpu);
	json_i64(json, "known_ns", stats->known_ns);
	write_unsplit(json, report, stats->unsplit_ns);
	json_open(json, "states", '{', false);
	for (int state = 0; state < VIRT_N_STATES; state++)
		write_stretches(json, virt_state_name((enum virt_state)state),
				&stats->states[state]);
	json_close(json, '}');
	write_stretches(json, "runs", &stats->runs);
	write_stretches(json, "runnable", &stats->waits);
	write_stretches(json, "wake_ns", &stats->states[VIRT_WAKING]);
	json_open(json, "pcpus", '{', true);
	for (size_t i = 0; i < stats->n_places; i++) {
		snprintf(number, sizeof(number), "%d", stats->places[i].pcpu);
		json_i64(json, number, stats->places[i].ns);
	}
	json_close(json, '}');
	write_migrations(json, vcpu);
	json_open(json, "culprits", '[', false);
	for (size_t i = 0; i < stats->n_culprits; i++) {
		json_open(json, NULL, '{', true);
		json_str(json, "who", report_who(report, stats->culprits[i].vcpu));
		json_i64(json, "ns", stats->culprits[i].ns);
		json_close(json, '}');
	}
	json_close(json, ']');
	write_exits(json, report, stats);
	if (stats->exits_before) {
		json_open(json, "exit_before", '{', true);
		json_str(json, "reason", report_reason(report, stats->before_reason));
		json_i64(json, "ns", stats->exits_before_ns);
		json_close(json, '}');
	}
	write_levels(json, vcpu);
	write_counts(json, vcpu->count);
	json_close(json, '}');
}

static void write_machine(struct json *json, const struct report *report,
			  const struct report_machine *machine)
{
	const struct virt_window_machine *window = machine->window;

	json_open(json, NULL, '{', false);
	json_i64(json, "id", machine->info->id);
	json_str(json, "name", machine->info->name);
	json_i64(json, "n_vcpus", machine->info->n_vcpus);
	json_i64(json, "known_ns", window->known_ns);
	json_open(json, "states_ns", '{', true);
	for (int state = 0; state < VIRT_M_N_STATES; state++)
		json_i64(json, virt_machine_state_name((enum virt_machine_state)state),
			 window->states[state].ns);
	json_close(json, '}');
	json_open(json, "states", '{', false);
	for (int state = 0; state < VIRT_M_N_STATES; state++)
		write_stretches(json, virt_machine_state_name((enum virt_machine_state)state),
				&window->states[state]);
	json_close(json, '}');
	if (report->kvm)
		write_exits(json, report, &window->all);
	json_open(json, "vcpus", '[', false);
	for (int32_t i = 0; i < machine->n_vcpus; i++)
		write_vcpu(json, report, &machine->vcpus[i]);
	json_close(json, ']');
	json_close(json, '}');
}

static void write_pcpu(struct json *json, const struct report *report, int pcpu)
{
	const struct virt_pcpu_totals *totals = &report_pcpu(report, pcpu)->totals;

	json_open(json, NULL, '{', true);
	json_i64(json, "id", pcpu);
	json_i64(json, "busy_ns", report_busy_ns(totals));
	json_i64(json, "guest_ns", totals->state_ns[VIRT_GUEST]);
	json_i64(json, "hypervisor_ns", totals->state_ns[VIRT_HYPERVISOR]);
	json_i64(json, "vmm_ns", totals->state_ns[VIRT_VMM]);
	if (report_is_unsplit(report))
		json_i64(json, "unsplit_ns", totals->state_ns[VIRT_HYPERVISOR] +
					     totals->state_ns[VIRT_VMM]);
	if (report->kvm)
		json_i64(json, "task_ns", totals->task_ns);
	json_i64(json, "idle_ns", totals->idle_ns);
	json_i64(json, "unknown_ns", totals->unknown_ns);
	json_i64(json, "lost_ns", report_pcpu(report, pcpu)->lost_ns);
	if (pcpu < report->count->n_pcpus && !report->kvm)
		json_u64(json, "interrupts", report->count->pcpus[pcpu].interrupts);
	json_close(json, '}');
}

static void write_lost(struct json *json, const struct report *report)
{
	struct virt_loss_range losses = virt_model_losses(report->load->model);
	uint64_t records = 0;

	for (int pcpu = 0; pcpu < report->count->n_pcpus; pcpu++)
		records += report->count->pcpus[pcpu].lost;
	json_open(json, "lost", '{', false);
	json_u64(json, "records", records);
	json_open(json, "windows", '[', false);
	for (size_t i = 0; i < losses.n; i++) {
		const struct virt_loss *loss = &losses.first[i];

		if (loss->to_ns < report->from_ns || loss->from_ns >= report->to_ns)
			continue;
		json_open(json, NULL, '{', true);
		json_i64(json, "pcpu", loss->pcpu);
		json_i64(json, "from_ns", loss->from_ns);
		json_i64(json, "to_ns", loss->to_ns);
		json_u64(json, "records", loss->records);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

static void write_volume_of(struct json *json, const char *key, const struct count_volume *volume)
{
	if (!volume->records)
		return;
	json_open(json, key, '{', true);
	json_u64(json, "records", volume->records);
	json_u64(json, "bytes", volume->bytes);
	json_close(json, '}');
}

static void write_volume(struct json *json, const struct report *report)
{
	const struct report_count *count = report->count;
	char number[16];

	json_open(json, "volume", '{', false);
	json_u64(json, "records", count->records);
	json_open(json, "classes", '{', false);
	for (int class = 0; report_count_class(count, class); class++) {
		struct count_volume sum = { 0 };

		for (int pcpu = 0; pcpu < count->n_pcpus; pcpu++) {
			sum.records += count->pcpus[pcpu].volume[class].records;
			sum.bytes += count->pcpus[pcpu].volume[class].bytes;
		}
		write_volume_of(json, report_count_class(count, class), &sum);
	}
	json_close(json, '}');
	json_open(json, "pcpus", '{', false);
	for (int pcpu = 0; pcpu < count->n_pcpus; pcpu++) {
		snprintf(number, sizeof(number), "%d", pcpu);
		json_open(json, number, '{', false);
		for (int class = 0; report_count_class(count, class); class++)
			write_volume_of(json, report_count_class(count, class),
					&count->pcpus[pcpu].volume[class]);
		json_close(json, '}');
	}
	json_close(json, '}');
	json_close(json, '}');
}

static void write_contradictions(struct json *json, const struct report *report)
{
	const char *what;
	uint64_t count;

	json_open(json, "contradictions", '[', false);
	for (int i = 0; (what = virt_model_contradictions(report->load->model, i, &count)); i++) {
		json_open(json, NULL, '{', true);
		json_str(json, "what", what);
		json_u64(json, "count", count);
		json_close(json, '}');
	}
	json_close(json, ']');
}

void report_json(struct output *out, const struct report *report, bool first)
{
	struct json json;

	(void)first;
	json_begin(&json, out);
	json_open(&json, NULL, '{', false);
	json_str(&json, "file", report->file);
	json_str(&json, "hypervisor", host_trace_hypervisor(&report->load->host));
	if (report->load->host.xen)
		write_clock(&json, report);
	if (report_is_unsplit(report))
		json_bool(&json, "unsplit", true);
	json_open(&json, "window_ns", '[', true);
	json_i64(&json, NULL, report->from_ns);
	json_i64(&json, NULL, report->to_ns);
	json_close(&json, ']');
	json_open(&json, "machines", '[', false);
	for (int32_t i = 0; i < report->n_machines; i++)
		write_machine(&json, report, &report->machines[i]);
	json_close(&json, ']');
	json_open(&json, "pcpus", '[', false);
	for (int pcpu = 0; pcpu < report->n_pcpus; pcpu++)
		write_pcpu(&json, report, pcpu);
	json_close(&json, ']');
	if (report->kvm)
		report_kvm_json(&json, report);
	report_delivery_json(&json, report);
	write_lost(&json, report);
	write_volume(&json, report);
	write_contradictions(&json, report);
	json_close(&json, '}');
	json_end(&json);
}
