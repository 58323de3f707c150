// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_csv.c
 * @brief	kshark-virt report as CSV: one table for all, a row per number.
 */
#include <stdio.h>

#include "report_kvm.h"

/** Columns that every row has; NULL and absent numbers are empty. */
struct row {
	const char	*section, *machine, *vcpu, *name;
	const uint64_t	*count;
	const int64_t	*ns;
	const struct virt_dist	*dist;
	const struct virt_stretches *stretches;	/* instead of count, ns and dist */
};

static void put_number(struct output *out, const int64_t *value)
{
	out_char(out, ',');
	if (value)
		out_i64(out, *value);
}

static void put_text(struct output *out, const char *text)
{
	if (text)
		out_csv(out, text, strlen(text));
	out_char(out, ',');
}

static void put_u64(struct output *out, const uint64_t *value)
{
	out_char(out, ',');
	if (value)
		out_u64(out, *value);
}

static void put_row(struct output *out, const struct report *report, const struct row *row)
{
	const struct virt_stretches *stretches = row->stretches;
	const struct virt_dist *dist = stretches ? &stretches->whole : row->dist;
	int64_t mean = dist && dist->count ? dist->ns / (int64_t)dist->count : 0;

	if (dist && !dist->count)
		dist = NULL;
	put_text(out, report->file);
	put_text(out, row->section);
	put_text(out, row->machine);
	put_text(out, row->vcpu);
	if (row->name)
		out_csv(out, row->name, strlen(row->name));
	put_u64(out, stretches ? &stretches->count : row->count);
	put_number(out, stretches ? &stretches->ns : row->ns);
	put_number(out, dist ? &mean : NULL);
	put_number(out, dist ? &dist->min : NULL);
	put_number(out, dist ? &dist->p5 : NULL);
	put_number(out, dist ? &dist->p50 : NULL);
	put_number(out, dist ? &dist->p95 : NULL);
	put_number(out, dist ? &dist->p99 : NULL);
	put_number(out, dist ? &dist->max : NULL);
	put_u64(out, stretches ? &stretches->whole.count : NULL);
	put_u64(out, stretches ? &stretches->before : NULL);
	put_number(out, stretches && stretches->before && stretches->before_ns != VIRT_NONE ?
		   &stretches->before_ns : NULL);
	out_char(out, '\n');
}

static void put_count(struct output *out, const struct report *report, const struct row *row,
		      const char *section, const char *name, uint64_t count)
{
	struct row counted = *row;

	if (!count)
		return;
	counted.section = section;
	counted.name = name;
	counted.count = &count;
	put_row(out, report, &counted);
}

static void put_time(struct output *out, const struct report *report, const struct row *row,
		     const char *section, const char *name, int64_t ns)
{
	struct row timed = *row;

	timed.section = section;
	timed.name = name;
	timed.ns = &ns;
	put_row(out, report, &timed);
}

static void put_stretches(struct output *out, const struct report *report, const struct row *row,
			  const char *section, const char *name,
			  const struct virt_stretches *stretches)
{
	struct row full = *row;

	full.section = section;
	full.name = name;
	full.stretches = stretches;
	put_row(out, report, &full);
}

/** Exits of one reason: all, those with a cost, and what this time went to. */
static void put_exit(struct output *out, const struct report *report, const struct row *row,
		     const struct virt_window_exit *exit)
{
	const char *reason = report_reason(report, exit->reason);
	struct row cost = *row;
	char section[32];

	put_count(out, report, row, "exits", reason, exit->count);
	cost.section = "exit_cost";
	cost.name = reason;
	cost.count = &exit->cost.count;
	cost.ns = &exit->cost.ns;
	cost.dist = &exit->cost;
	put_row(out, report, &cost);
	for (int state = VIRT_HYPERVISOR; state < VIRT_UNKNOWN; state++) {
		snprintf(section, sizeof(section), "exit_%s",
			 virt_state_name((enum virt_state)state));
		if (exit->state_ns[state])
			put_time(out, report, row, section, reason, exit->state_ns[state]);
	}
	if (exit->unasked_ns)
		put_time(out, report, row, "exit_unasked", reason, exit->unasked_ns);
	if (exit->unasked_vmm_ns)
		put_time(out, report, row, "exit_unasked_vmm", reason, exit->unasked_vmm_ns);
}

static void put_counts(struct output *out, const struct report *report, const struct row *row,
		       const struct vcpu_count *count)
{
	char text[32];

	for (unsigned int i = 0; count && i < COUNT_HYPERCALLS; i++) {
		const char *name = report_count_hypercall(count, i);

		snprintf(text, sizeof(text), i == COUNT_OTHER_HYPERCALL ? "other" : "%u", i);
		put_count(out, report, row, "hypercall", name ? name : text, count->hypercalls[i]);
		put_count(out, report, row, "subcall", name ? name : text, count->subcalls[i]);
	}
	for (unsigned int i = 0; count && i < COUNT_TRAPS; i++) {
		snprintf(text, sizeof(text), "trap_%u", i);
		put_count(out, report, row, "trap", xen_trap_name(i) ? xen_trap_name(i) : text,
			  count->traps[i]);
	}
	for (int i = 0; count && report_count_trap(i); i++)
		put_count(out, report, row, "trap", report_count_trap(i), count->trap_events[i]);
	for (int i = 0; count && report_count_memory(i); i++)
		put_count(out, report, row, "memory", report_count_memory(i), count->memory[i]);
	for (unsigned int i = 0; count && i < COUNT_VECTORS; i++) {
		snprintf(text, sizeof(text), "%u", i);
		put_count(out, report, row, "interrupt", text, count->vectors[i]);
	}
}

static void put_vcpu(struct output *out, const struct report *report,
		     const struct report_machine *machine, const struct report_vcpu *vcpu)
{
	struct row row = { .machine = machine->info->name, .vcpu = vcpu->info->name };
	const struct virt_window_stats *stats = vcpu->stats;
	char text[32];

	for (int state = 0; state < VIRT_N_STATES; state++)
		put_stretches(out, report, &row, "state", virt_state_name((enum virt_state)state),
			      &stats->states[state]);
	for (int state = 0; state < VIRT_N_STATES; state++)
		if (stats->unsplit_ns[state])
			put_time(out, report, &row, "unsplit",
				 virt_state_name((enum virt_state)state),
				 stats->unsplit_ns[state]);
	put_stretches(out, report, &row, "runs", NULL, &stats->runs);
	put_stretches(out, report, &row, "runnable", NULL, &stats->waits);
	for (size_t i = 0; i < stats->n_places; i++) {
		snprintf(text, sizeof(text), "%d", stats->places[i].pcpu);
		put_time(out, report, &row, "on_pcpu", text, stats->places[i].ns);
	}
	row.section = "migrations";
	row.count = &stats->migrations;
	put_row(out, report, &row);
	row.count = NULL;
	for (size_t i = 0; i < stats->n_culprits; i++)
		put_time(out, report, &row, "culprit",
			 report_who(report, stats->culprits[i].vcpu), stats->culprits[i].ns);
	for (size_t i = 0; i < stats->n_reasons; i++)
		put_exit(out, report, &row, &stats->reasons[i]);
	if (stats->exits_before)
		put_time(out, report, &row, "exit_before",
			 report_reason(report, stats->before_reason), stats->exits_before_ns);
	put_count(out, report, &row, "exit_level", "l2", vcpu->levels.l2);
	if (vcpu->levels.l2)
		put_count(out, report, &row, "exit_level", "l1", vcpu->levels.l1);
	put_counts(out, report, &row, vcpu->count);
}

static void put_machine(struct output *out, const struct report *report,
			const struct report_machine *machine)
{
	struct row row = { .machine = machine->info->name };
	const struct virt_window_machine *window = machine->window;

	for (int state = 0; state < VIRT_M_N_STATES; state++)
		put_stretches(out, report, &row, "machine_state",
			      virt_machine_state_name((enum virt_machine_state)state),
			      &window->states[state]);
	for (size_t i = 0; i < window->all.n_reasons && report->kvm; i++)
		put_exit(out, report, &row, &window->all.reasons[i]);
	for (int32_t i = 0; i < machine->n_vcpus; i++)
		put_vcpu(out, report, machine, &machine->vcpus[i]);
}

/** pCPUs take the column of the vCPU: "p0". */
static void put_pcpu(struct output *out, const struct report *report, int pcpu)
{
	const struct virt_window_pcpu *window = report_pcpu(report, pcpu);
	const struct virt_pcpu_totals *totals = &window->totals;
	char name[16];
	struct row row = { .vcpu = name };
	const char *class_name;

	snprintf(name, sizeof(name), "p%d", pcpu);
	put_time(out, report, &row, "pcpu", "busy", report_busy_ns(totals));
	for (int state = 0; state <= VIRT_VMM; state++)
		put_time(out, report, &row, "pcpu", virt_state_name((enum virt_state)state),
			 totals->state_ns[state]);
	if (report_is_unsplit(report))
		put_time(out, report, &row, "pcpu", "unsplit",
			 totals->state_ns[VIRT_HYPERVISOR] + totals->state_ns[VIRT_VMM]);
	if (report->kvm)
		put_time(out, report, &row, "pcpu", "tasks", totals->task_ns);
	put_time(out, report, &row, "pcpu", "idle", totals->idle_ns);
	put_time(out, report, &row, "pcpu", "unknown", totals->unknown_ns);
	put_time(out, report, &row, "pcpu", "lost", window->lost_ns);
	if (pcpu >= report->count->n_pcpus)
		return;
	put_count(out, report, &row, "pcpu", "interrupts",
		  report->count->pcpus[pcpu].interrupts);
	put_count(out, report, &row, "pcpu", "lost_records", report->count->pcpus[pcpu].lost);
	for (int class = 0; (class_name = report_count_class(report->count, class)); class++) {
		const struct count_volume *volume =
			&report->count->pcpus[pcpu].volume[class];

		put_count(out, report, &row, "volume_records", class_name, volume->records);
		put_count(out, report, &row, "volume_bytes", class_name, volume->bytes);
	}
}

/** Where rows of KVM alone go. */
struct kvm_rows {
	struct output		*out;
	const struct report	*report;
};

static void put_kvm(void *arg, const char *section, const char *machine, const char *name,
		    const uint64_t *count, const int64_t *ns)
{
	const struct kvm_rows *rows = arg;
	const struct row row = {
		.section = section, .machine = machine, .name = name, .count = count, .ns = ns,
	};

	put_row(rows->out, rows->report, &row);
}

void report_csv(struct output *out, const struct report *report, bool first)
{
	const struct xen_clock *clock = report->load->host.xen ?
					xen_trace_clock(report->load->host.xen) : NULL;
	struct row row = { 0 };
	const char *what;
	uint64_t count;

	if (first)
		out_str(out, "file,section,machine,vcpu,name,count,ns,mean,min,p5,p50,p95,p99,"
			     "max,complete,before,before_ns\n");
	if (clock)
		put_count(out, report, &row, "clock_hz", xen_clock_source_name(clock->source),
			  clock->hz);
	put_time(out, report, &row, "window", "from", report->from_ns);
	put_time(out, report, &row, "window", "to", report->to_ns);
	for (int32_t i = 0; i < report->n_machines; i++)
		put_machine(out, report, &report->machines[i]);
	for (int pcpu = 0; pcpu < report->n_pcpus; pcpu++)
		put_pcpu(out, report, pcpu);
	if (report->kvm)
		report_kvm_csv(report, put_kvm, &(struct kvm_rows){ out, report });
	for (int i = 0; (what = virt_model_contradictions(report->load->model, i, &count)); i++)
		put_count(out, report, &row, "contradiction", what, count);
}
