// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_text.c
 * @brief	kshark-virt report for people: aligned columns, times in fitting units.
 */
#include <stdio.h>

#include "report_delivery.h"

#define NAME_WIDTH	20
#define NUMBER_WIDTH	11
#define SHARE_WIDTH	9
#define PART_WIDTH	12

/** Losses and migrations that are listed one by one. */
#define MAX_LISTED	20

static void put(struct output *out, const char *text)
{
	out_str(out, text);
}

/** Text on the right of a column, with a blank before it in any case. */
static void put_right(struct output *out, const char *text, size_t width)
{
	out_char(out, ' ');
	out_text_right(out, text, width);
}

static void put_name(struct output *out, const char *name)
{
	put(out, "  ");
	out_text_left(out, name, NAME_WIDTH);
}

/** A duration with four digits or so, in the unit that fits. */
static void duration(char *buf, size_t size, int64_t ns)
{
	static const struct {
		int64_t		ns;
		const char	*unit;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (ns >= units[i].ns) {
			double value = (double)ns / (double)units[i].ns;

			snprintf(buf, size, "%.*f %s", value < 10 ? 3 : value < 100 ? 2 : 1, value,
				 units[i].unit);
			return;
		}
	}
	snprintf(buf, size, "%lld ns", (long long)ns);
}

static void put_duration(struct output *out, int64_t ns)
{
	char text[32];

	duration(text, sizeof(text), ns);
	put_right(out, text, NUMBER_WIDTH);
}

static void put_count(struct output *out, uint64_t count)
{
	out_char(out, ' ');
	out_u64_width(out, count, NUMBER_WIDTH);
}

/** @ns of @all; nothing if there is no whole. */
static void put_share(struct output *out, int64_t ns, int64_t all, size_t width)
{
	char text[16] = "";

	if (all > 0)
		snprintf(text, sizeof(text), "%.2f %%", 100.0 * (double)ns / (double)all);
	put_right(out, text, width);
}

static void put_heading(struct output *out, const char *what)
{
	static const char *const columns[] = {
		"count", "mean", "min", "p5", "p50", "p95", "p99", "max", "cut", "before"
	};

	put_name(out, what);
	put_right(out, "time", NUMBER_WIDTH);
	put_right(out, "share", SHARE_WIDTH);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		put_right(out, columns[i], NUMBER_WIDTH);
	out_char(out, '\n');
}

/** Lengths, how many have none, and for how long one has gone on before; "" where not known. */
enum { CELL_MEAN = 0, CELL_MIN, CELL_MAX = 6, CELL_CUT, CELL_BEFORE, N_CELLS };

static void fill_cells(char cells[N_CELLS][32], const struct virt_stretches *stretches)
{
	const struct virt_dist *whole = &stretches->whole;
	const int64_t numbers[] = {
		whole->min, whole->p5, whole->p50, whole->p95, whole->p99, whole->max
	};

	memset(cells, 0, N_CELLS * sizeof(*cells));
	if (whole->count)
		duration(cells[CELL_MEAN], sizeof(*cells), whole->ns / (int64_t)whole->count);
	for (int i = CELL_MIN; i <= CELL_MAX && whole->count; i++)
		duration(cells[i], sizeof(*cells), numbers[i - CELL_MIN]);
	if (stretches->count > whole->count)
		snprintf(cells[CELL_CUT], sizeof(*cells), "%llu",
			 (unsigned long long)(stretches->count - whole->count));
	if (stretches->before && stretches->before_ns != VIRT_NONE)
		duration(cells[CELL_BEFORE], sizeof(*cells), stretches->before_ns);
	else if (stretches->before)
		strcpy(cells[CELL_BEFORE], "?");
}

/** @share_of: 0 if a share would say nothing */
static void put_stretches(struct output *out, const char *name,
			  const struct virt_stretches *stretches, int64_t share_of)
{
	char cells[N_CELLS][32];
	int n = N_CELLS;

	if (!stretches->count && !stretches->before)
		return;
	put_name(out, name);
	put_duration(out, stretches->ns);
	put_share(out, stretches->ns, share_of, SHARE_WIDTH);
	put_count(out, stretches->count);
	fill_cells(cells, stretches);
	while (n && !*cells[n - 1])
		n--;
	for (int i = 0; i < n; i++)
		put_right(out, cells[i], NUMBER_WIDTH);
	out_char(out, '\n');
}

static void put_head(struct output *out, const struct report *report)
{
	char text[256];

	out_text(out, report->file);
	if (report->load->host.xen) {
		put(out, "\n  clock    ");
		xen_clock_text(text, sizeof(text), xen_trace_clock(report->load->host.xen));
		put(out, text);
	}
	put(out, "\n  window   ");
	out_ns(out, report->from_ns, 0);
	put(out, " .. ");
	out_ns(out, report->to_ns, 0);
	put(out, " s\n  records  ");
	out_u64(out, report->count->records);
	out_char(out, '\n');
	if (report_is_unsplit(report))
		put(out, "  note     no sched_switch in it: the time from a VM exit to the next "
			 "entry is not split into work,\n"
			 "           waits and sleep; it is unknown after HLT and the like, or if "
			 "the vCPU has left its pCPU\n");
}

static void put_list_item(struct output *out, bool *first, const char *heading, const char *name,
			  uint64_t count)
{
	char text[24];

	if (!count)
		return;
	if (*first) {
		out_char(out, '\n');
		put_name(out, heading);
		put_right(out, "count", NUMBER_WIDTH);
		out_char(out, '\n');
	}
	*first = false;
	put(out, "    ");
	out_text_left(out, name, NAME_WIDTH - 2);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)count);
	put_right(out, text, NUMBER_WIDTH);
	out_char(out, '\n');
}

static void put_counts(struct output *out, const struct vcpu_count *count)
{
	bool first = true;
	char text[48];

	if (!count)
		return;
	for (unsigned int i = 0; i < COUNT_HYPERCALLS; i++) {
		const char *name = report_count_hypercall(count, i);

		snprintf(text, sizeof(text), "%u %s", i, name ? name : "");
		put_list_item(out, &first, "hypercalls",
			      i == COUNT_OTHER_HYPERCALL ? "other" : text, count->hypercalls[i]);
	}
	first = true;
	for (unsigned int i = 0; i < COUNT_HYPERCALLS; i++) {
		const char *name = report_count_hypercall(count, i);

		snprintf(text, sizeof(text), "%u %s", i, name ? name : "");
		put_list_item(out, &first, "in multicalls",
			      i == COUNT_OTHER_HYPERCALL ? "other" : text, count->subcalls[i]);
	}
	first = true;
	for (unsigned int i = 0; i < COUNT_TRAPS; i++) {
		const char *name = xen_trap_name(i);

		snprintf(text, sizeof(text), "%u %s", i, name ? name : "");
		put_list_item(out, &first, "traps", text, count->traps[i]);
	}
	for (int i = 0; report_count_trap(i); i++)
		put_list_item(out, &first, "traps", report_count_trap(i), count->trap_events[i]);
	first = true;
	for (int i = 0; report_count_memory(i); i++)
		put_list_item(out, &first, "memory", report_count_memory(i), count->memory[i]);
	first = true;
	for (unsigned int i = 0; i < COUNT_VECTORS; i++) {
		snprintf(text, sizeof(text), "vector 0x%02x", i);
		put_list_item(out, &first, "interrupts", text, count->vectors[i]);
	}
}

static void put_migrations(struct output *out, const struct report_vcpu *vcpu)
{
	char text[64];

	put_name(out, "migrations");
	put_count(out, vcpu->migrations.n);
	out_char(out, '\n');
	for (size_t i = 0; i < vcpu->migrations.n && i < MAX_LISTED; i++) {
		const struct virt_migration *migration = &vcpu->migrations.first[i];

		put(out, "    ");
		out_ns(out, migration->time_ns, NAME_WIDTH - 4);
		snprintf(text, sizeof(text), "p%d -> p%d", migration->from, migration->to);
		put_right(out, text, NUMBER_WIDTH + 2);
		duration(text, sizeof(text), migration->gap_ns);
		put(out, "  after ");
		put(out, text);
		out_char(out, '\n');
	}
	if (vcpu->migrations.n > MAX_LISTED)
		put(out, "    ... and more\n");
}

/** As "perf kvm stat" shows them. Its time is longer: it counts what a vCPU sleeps, too. */
static void put_exit_costs(struct output *out, const struct report *report,
			   const struct virt_window_stats *stats)
{
	static const char *const columns[] = {
		"samples", "samples %", "time", "time %", "min", "max", "mean", "p50", "p95", "p99"
	};
	int64_t ns = 0;

	for (size_t i = 0; i < stats->n_reasons; i++)
		ns += stats->reasons[i].cost.ns;
	out_char(out, '\n');
	put_name(out, "VM exits");
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		put_right(out, columns[i], NUMBER_WIDTH);
	out_char(out, '\n');
	for (size_t i = 0; i < stats->n_reasons; i++) {
		const struct virt_window_exit *exit = &stats->reasons[i];
		const struct virt_dist *cost = &exit->cost;

		put_name(out, report_reason(report, exit->reason));
		put_count(out, exit->count);
		put_share(out, (int64_t)exit->count, (int64_t)stats->exits, NUMBER_WIDTH);
		if (!cost->count)
			put_right(out, "?", NUMBER_WIDTH);
		if (cost->count) {
			put_duration(out, cost->ns);
			put_share(out, cost->ns, ns, NUMBER_WIDTH);
			put_duration(out, cost->min);
			put_duration(out, cost->max);
			put_duration(out, cost->ns / (int64_t)cost->count);
			put_duration(out, cost->p50);
			put_duration(out, cost->p95);
			put_duration(out, cost->p99);
		}
		out_char(out, '\n');
	}
}

/** What happened between exit and entry. The device model of Xen runs in another domain. */
static void put_exit_parts(struct output *out, const struct report *report,
			   const struct virt_window_stats *stats)
{
	/* waits are not told apart then */
	bool split = !report_is_unsplit(report);
	const char *const names[REPORT_EXIT_N_PARTS] = {
		[REPORT_EXIT_HANDLING] = "handling",
		[REPORT_EXIT_VMM] = report->kvm ? "vmm" : NULL,
		[REPORT_EXIT_WAIT] = !split ? NULL : report->kvm ? "asleep" : "device model",
		[REPORT_EXIT_PREEMPTED] = split ? "preempted" : NULL,
		[REPORT_EXIT_WAKING] = split ? "waking" : NULL,
		[REPORT_EXIT_FREE] = split ? "(no cost)" : NULL,
	};
	int64_t ns[REPORT_EXIT_N_PARTS];

	out_char(out, '\n');
	put_name(out, split ? "of which" : "of which, not split");
	for (int part = 0; part < REPORT_EXIT_N_PARTS; part++)
		if (names[part])
			put_right(out, names[part], PART_WIDTH);
	out_char(out, '\n');
	for (size_t i = 0; i < stats->n_reasons; i++) {
		put_name(out, report_reason(report, stats->reasons[i].reason));
		report_exit_split(&stats->reasons[i], ns);
		for (int part = 0; part < REPORT_EXIT_N_PARTS; part++) {
			char text[32];

			if (!names[part])
				continue;
			strcpy(text, "?");
			if (stats->reasons[i].cost.count)
				duration(text, sizeof(text), ns[part]);
			put_right(out, text, PART_WIDTH);
		}
		out_char(out, '\n');
	}
}

static void put_exits(struct output *out, const struct report *report,
		      const struct virt_window_stats *stats)
{
	if (!stats->n_reasons)
		return;
	if (report->kvm) {
		put_exit_costs(out, report, stats);
	} else {
		out_char(out, '\n');
		put_heading(out, "VM exits");
	}
	for (size_t i = 0; i < stats->n_reasons && !report->kvm; i++) {
		const struct virt_window_exit *exit = &stats->reasons[i];
		const struct virt_stretches costs = {
			.ns = exit->cost.ns, .count = exit->count, .whole = exit->cost,
		};

		put_stretches(out, report_reason(report, exit->reason), &costs, stats->known_ns);
	}
	put_exit_parts(out, report, stats);
}

/** The exit from which it has not come back yet. */
static void put_exit_before(struct output *out, const struct report *report,
			    const struct virt_window_stats *stats)
{
	char text[32];

	if (!stats->exits_before)
		return;
	duration(text, sizeof(text), stats->exits_before_ns);
	put(out, "\n  when the window begins, ");
	put(out, report_reason(report, stats->before_reason));
	put(out, " has gone on for ");
	put(out, text);
	out_char(out, '\n');
}

/** A KVM host's thread, and the guest's CPU. */
static void put_threads(struct output *out, const struct report *report,
			const struct report_vcpu *vcpu)
{
	char text[64];
	int cpu;

	if (!report->kvm)
		return;
	cpu = report_kvm_guest_cpu(report->kvm, vcpu->info->host_pid);
	snprintf(text, sizeof(text), cpu == VIRT_NONE ? "  thread %d" :
		 "  thread %d, the guest's CPU %d", vcpu->info->host_pid, cpu);
	put(out, text);
}

static void put_levels(struct output *out, const struct virt_exit_levels *levels)
{
	char text[32];

	if (!levels->l2)
		return;
	snprintf(text, sizeof(text), "%.2f", (double)levels->l1 / (double)levels->l2);
	put(out, "\n  out of nested guests");
	put_count(out, levels->l2);
	put(out, "\n  out of the guest    ");
	put_count(out, levels->l1);
	put(out, "\n  multiplication      ");
	put_right(out, text, NUMBER_WIDTH);
	out_char(out, '\n');
}

/** By whom it was preempted, and where it ran. */
static void put_others(struct output *out, const struct report *report,
		       const struct virt_window_stats *stats)
{
	char text[32];

	if (stats->n_culprits) {
		out_char(out, '\n');
		put(out, "  preempted by\n");
	}
	for (size_t i = 0; i < stats->n_culprits; i++) {
		put_name(out, report_who(report, stats->culprits[i].vcpu));
		put_duration(out, stats->culprits[i].ns);
		put_share(out, stats->culprits[i].ns, stats->states[VIRT_PREEMPTED].ns,
			  SHARE_WIDTH);
		out_char(out, '\n');
	}
	put(out, "\n  ran on\n");
	for (size_t i = 0; i < stats->n_places; i++) {
		snprintf(text, sizeof(text), "p%d", stats->places[i].pcpu);
		put_name(out, text);
		put_duration(out, stats->places[i].ns);
		put_share(out, stats->places[i].ns, stats->runs.ns, SHARE_WIDTH);
		out_char(out, '\n');
	}
}

static void put_vcpu(struct output *out, const struct report *report,
		     const struct report_vcpu *vcpu)
{
	const struct virt_window_stats *stats = vcpu->stats;
	int64_t unsplit = stats->unsplit_ns[VIRT_HYPERVISOR] + stats->unsplit_ns[VIRT_VMM];

	out_char(out, '\n');
	out_text(out, vcpu->info->name);
	put_threads(out, report, vcpu);
	out_char(out, '\n');
	put_heading(out, "state");
	for (int state = 0; state < VIRT_N_STATES; state++)
		put_stretches(out, virt_state_name((enum virt_state)state), &stats->states[state],
			      state == VIRT_UNKNOWN && !report_is_unsplit(report) ? 0 :
			      stats->known_ns);
	if (unsplit) {
		put_name(out, "(not split)");
		put_duration(out, unsplit);
		put_share(out, unsplit, stats->known_ns, SHARE_WIDTH);
		out_char(out, '\n');
	}
	put_stretches(out, "(runs)", &stats->runs, stats->known_ns);
	put_stretches(out, "(runnable)", &stats->waits, stats->known_ns);
	put_others(out, report, stats);
	put_migrations(out, vcpu);
	put_exits(out, report, stats);
	put_exit_before(out, report, stats);
	put_levels(out, &vcpu->levels);
	put_counts(out, vcpu->count);
}

static void put_machine(struct output *out, const struct report *report,
			const struct report_machine *machine)
{
	const struct virt_window_machine *window = machine->window;
	char text[64];

	out_char(out, '\n');
	out_text(out, machine->info->name);
	snprintf(text, sizeof(text), ": %d vCPU%s\n", machine->info->n_vcpus,
		 machine->info->n_vcpus == 1 ? "" : "s");
	put(out, text);
	put_heading(out, "all together");
	for (int state = 0; state < VIRT_M_N_STATES; state++)
		put_stretches(out, virt_machine_state_name((enum virt_machine_state)state),
			      &window->states[state],
			      state == VIRT_M_LOST && !report_is_unsplit(report) ? 0 :
			      window->known_ns);
	if (report->kvm)
		put_exits(out, report, &window->all);
	for (int32_t i = 0; i < machine->n_vcpus; i++)
		put_vcpu(out, report, &machine->vcpus[i]);
}

static void put_pcpus(struct output *out, const struct report *report)
{
	static const char *const columns[] = {
		"busy", "guest", "hypervisor", "idle", "unknown", "lost", "interrupts"
	};
	char text[32];

	out_char(out, '\n');
	put_name(out, "pCPU");
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		put_right(out, columns[i], NUMBER_WIDTH);
	out_char(out, '\n');
	for (int pcpu = 0; pcpu < report->n_pcpus; pcpu++) {
		const struct virt_pcpu_totals *totals = &report_pcpu(report, pcpu)->totals;

		snprintf(text, sizeof(text), "p%d", pcpu);
		put_name(out, text);
		put_duration(out, report_busy_ns(totals));
		put_duration(out, totals->state_ns[VIRT_GUEST]);
		put_duration(out, totals->state_ns[VIRT_HYPERVISOR]);
		put_duration(out, totals->idle_ns);
		put_duration(out, totals->unknown_ns);
		put_duration(out, report_pcpu(report, pcpu)->lost_ns);
		put_count(out, pcpu < report->count->n_pcpus ?
			  report->count->pcpus[pcpu].interrupts : 0);
		out_char(out, '\n');
	}
}

static void put_kvm_pcpus(struct output *out, const struct report *report)
{
	static const char *const columns[] = {
		"guest", "hypervisor", "vmm", "other tasks", "idle", "unknown", "lost"
	};
	char text[32];

	out_char(out, '\n');
	put_name(out, report_is_unsplit(report) ? "pCPU, not split" : "pCPU");
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		put_right(out, columns[i], NUMBER_WIDTH);
	out_char(out, '\n');
	for (int pcpu = 0; pcpu < report->n_pcpus; pcpu++) {
		const struct virt_pcpu_totals *totals = &report_pcpu(report, pcpu)->totals;

		snprintf(text, sizeof(text), "p%d", pcpu);
		put_name(out, text);
		put_duration(out, totals->state_ns[VIRT_GUEST]);
		put_duration(out, totals->state_ns[VIRT_HYPERVISOR]);
		put_duration(out, totals->state_ns[VIRT_VMM]);
		put_duration(out, totals->task_ns);
		put_duration(out, totals->idle_ns);
		put_duration(out, totals->unknown_ns);
		put_duration(out, report_pcpu(report, pcpu)->lost_ns);
		out_char(out, '\n');
	}
}

static void put_volume(struct output *out, const struct report *report)
{
	const char *name;
	char text[32];

	out_char(out, '\n');
	put_name(out, "trace volume");
	put_right(out, "records", NUMBER_WIDTH);
	put_right(out, "bytes", NUMBER_WIDTH);
	out_char(out, '\n');
	for (int pcpu = 0; pcpu < report->count->n_pcpus; pcpu++) {
		for (int class = 0; (name = report_count_class(report->count, class)); class++) {
			const struct count_volume *volume =
				&report->count->pcpus[pcpu].volume[class];

			if (!volume->records)
				continue;
			snprintf(text, sizeof(text), "p%d %s", pcpu, name);
			put_name(out, text);
			put_count(out, volume->records);
			put_count(out, volume->bytes);
			out_char(out, '\n');
		}
	}
}

static void put_losses(struct output *out, const struct report *report)
{
	struct virt_loss_range losses = virt_model_losses(report->load->model);
	size_t listed = 0;
	char text[64];

	for (size_t i = 0; i < losses.n; i++) {
		const struct virt_loss *loss = &losses.first[i];

		if (loss->to_ns < report->from_ns || loss->from_ns >= report->to_ns)
			continue;
		if (listed == MAX_LISTED) {
			put(out, "  ... and more: --format json lists all\n");
			return;
		}
		if (!listed++) {
			out_char(out, '\n');
			put_name(out, "lost from");
			put_right(out, "for", NUMBER_WIDTH);
			put_right(out, "pCPU", NUMBER_WIDTH);
			put_right(out, "records", NUMBER_WIDTH);
			out_char(out, '\n');
		}
		put(out, "  ");
		out_ns(out, loss->from_ns, NAME_WIDTH);
		put_duration(out, loss->to_ns - loss->from_ns);
		snprintf(text, sizeof(text), "p%d", loss->pcpu);
		put_right(out, text, NUMBER_WIDTH);
		if (loss->records)
			put_count(out, loss->records);
		else
			put_right(out, "?", NUMBER_WIDTH);
		out_char(out, '\n');
	}
}

void report_duration(char *text, size_t size, int64_t ns)
{
	duration(text, size, ns);
}

void report_text(struct output *out, const struct report *report, bool first)
{
	if (!first)
		out_char(out, '\n');
	put_head(out, report);
	for (int32_t i = 0; i < report->n_machines; i++)
		put_machine(out, report, &report->machines[i]);
	if (report->kvm)
		put_kvm_pcpus(out, report);
	else
		put_pcpus(out, report);
	if (report->kvm)
		report_kvm_text(out, report);
	report_delivery_text(out, report);
	put_volume(out, report);
	put_losses(out, report);
}
