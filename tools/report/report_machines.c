// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_machines.c
 * @brief	A machine and its vCPUs: states, runs, waits, migrations, exits.
 */
#include <stdio.h>
#include <string.h>

#include "json_durations.h"
#include "report_csv.h"
#include "report_parts.h"
#include "report_section.h"
#include "report_unknown.h"
#include "text_columns.h"

/** That nothing is known of them is known. */
static enum virt_number together_number(int state)
{
	return state == VIRT_M_LOST ? VIRT_N_NUMBERS : VIRT_NUMBER_TOGETHER;
}

/* --- text ------------------------------------------------------------------------------------ */

static void text_migrations(struct output *out, const struct report *report,
			    const struct report_vcpu *vcpu)
{
	char text[64];

	text_name(out, "migrations");
	if (!report_knows(report, VIRT_NUMBER_MIGRATIONS)) {
		text_unknown(out);
		out_char(out, '\n');
		return;
	}
	text_count(out, vcpu->migrations.n);
	out_char(out, '\n');
	for (size_t i = 0; i < vcpu->migrations.n && i < TEXT_MAX_LISTED; i++) {
		const struct virt_migration *migration = &vcpu->migrations.first[i];

		out_str(out, "    ");
		out_ns(out, migration->time_ns, TEXT_NAME - 4);
		snprintf(text, sizeof(text), "p%d -> p%d", migration->from, migration->to);
		text_right(out, text, TEXT_NUMBER + 2);
		format_duration(text, sizeof(text), migration->gap_ns);
		out_str(out, "  after ");
		out_str(out, text);
		out_char(out, '\n');
	}
	if (vcpu->migrations.n > TEXT_MAX_LISTED)
		out_str(out, "    ... and more\n");
}

/** A KVM host's thread, the guest's CPU, and what --vcpu takes if the name is another one. */
static void text_threads(struct output *out, const struct report *report,
			 const struct report_vcpu *vcpu)
{
	char text[64];
	int cpu;

	if (!report->kvm)
		return;
	snprintf(text, sizeof(text), "g%dv%d",
		 virt_model_machine(report->load->model, vcpu->info->machine)->id, vcpu->info->id);
	if (strcmp(text, vcpu->info->name) != 0) {
		out_str(out, "  ");
		out_str(out, text);
	}
	cpu = report_kvm_guest_cpu(report->kvm, vcpu->info->host_pid);
	snprintf(text, sizeof(text), cpu == VIRT_NONE ? "  thread %d" :
		 "  thread %d, the guest's CPU %d", vcpu->info->host_pid, cpu);
	out_str(out, text);
}

static void text_levels(struct output *out, const struct virt_exit_levels *levels)
{
	char text[32];

	if (!levels->l2)
		return;
	snprintf(text, sizeof(text), "%.2f", (double)levels->l1 / (double)levels->l2);
	out_str(out, "\n  out of nested guests");
	text_count(out, levels->l2);
	out_str(out, "\n  out of the guest    ");
	text_count(out, levels->l1);
	out_str(out, "\n  multiplication      ");
	text_right(out, text, TEXT_NUMBER);
	out_char(out, '\n');
}

/** By whom it was preempted, and where it ran. */
static void text_others(struct output *out, const struct report *report,
			const struct report_vcpu *vcpu)
{
	const struct virt_window_stats *stats = vcpu->stats;
	char text[32];

	report_culprits_text(out, report, vcpu);
	out_str(out, "\n  ran on\n");
	if (!report_knows(report, VIRT_NUMBER_RUNS)) {
		text_name(out, "");
		text_unknown(out);
		out_char(out, '\n');
		return;
	}
	for (size_t i = 0; i < stats->n_places; i++) {
		snprintf(text, sizeof(text), "p%d", stats->places[i].pcpu);
		text_name(out, text);
		text_duration(out, stats->places[i].ns);
		text_share(out, stats->places[i].ns, stats->runs.ns, TEXT_SHARE);
		out_char(out, '\n');
	}
}

/** A line of a number that may be unknown. */
static void text_known(struct output *out, const struct report *report, enum virt_number number,
		       const char *name, const struct virt_stretches *stretches, int64_t share_of)
{
	if (report_knows(report, number)) {
		text_stretches(out, name, stretches, share_of);
		return;
	}
	text_name(out, name);
	text_unknown(out);
	out_char(out, '\n');
}

/** The time in a state, which may be that in another one as well. */
static void text_state(struct output *out, const struct report *report, enum virt_state state,
		       const struct virt_stretches *stretches, int64_t share_of)
{
	unsigned int in = virt_model_includes(report->load->model, state);
	char name[VIRT_STATE_NAMES];

	if (!in) {
		text_known(out, report, virt_number_of_state(state), virt_state_name(state),
			   stretches, share_of);
		return;
	}
	virt_state_names(in | 1U << state, "+", name, sizeof(name));
	text_stretches(out, name, stretches, share_of);
}

static void text_vcpu(struct output *out, const struct report *report,
		      const struct report_vcpu *vcpu)
{
	const struct virt_window_stats *stats = vcpu->stats;
	int64_t unsplit = stats->unsplit_ns[VIRT_HYPERVISOR] + stats->unsplit_ns[VIRT_VMM];
	const struct virt_stretches moves = {
		.ns = stats->migration_cost.count ? stats->migration_cost.ns : VIRT_NONE,
		.count = stats->migrations, .whole = stats->migration_cost,
	};

	out_char(out, '\n');
	out_text(out, vcpu->info->name);
	text_threads(out, report, vcpu);
	out_char(out, '\n');
	text_heading(out, "state");
	for (int state = 0; state < VIRT_N_STATES; state++)
		text_state(out, report, (enum virt_state)state, &stats->states[state],
			   virt_window_share_base(stats, state));
	if (unsplit) {
		text_name(out, "(not split)");
		text_duration(out, unsplit);
		text_share(out, unsplit, stats->known_ns, TEXT_SHARE);
		out_char(out, '\n');
	}
	text_known(out, report, VIRT_NUMBER_RUNS, "(runs)", &stats->runs, stats->known_ns);
	text_known(out, report, VIRT_NUMBER_RUNNABLE, "(runnable)", &stats->waits,
		   stats->known_ns);
	text_known(out, report, VIRT_NUMBER_MIGRATION_COST, "(migrations)", &moves,
		   stats->known_ns);
	text_others(out, report, vcpu);
	text_migrations(out, report, vcpu);
	report_exits_text(out, report, stats);
	report_exit_before_text(out, report, stats);
	text_levels(out, &vcpu->levels);
	report_events_text(out, vcpu->count);
}

static void text_machine(struct output *out, const struct report *report,
			 const struct report_machine *machine)
{
	const struct virt_window_machine *window = machine->window;
	struct report_vcpu vcpu;
	char text[64];

	out_char(out, '\n');
	out_text(out, machine->info->name);
	snprintf(text, sizeof(text), ": %d vCPU%s\n", machine->info->n_vcpus,
		 machine->info->n_vcpus == 1 ? "" : "s");
	out_str(out, text);
	text_heading(out, "all together");
	for (int state = 0; state < VIRT_M_N_STATES; state++)
		text_known(out, report, together_number(state),
			   virt_machine_state_name((enum virt_machine_state)state),
			   &window->states[state],
			   virt_machine_share_base(window, state));
	if (report->kvm)
		report_exits_text(out, report, &window->all);
	for (int32_t i = 0; i < machine->info->n_vcpus; i++)
		if (report_vcpu(report, machine->info->vcpus[i], &vcpu))
			text_vcpu(out, report, &vcpu);
}

static void text(struct output *out, const struct report *report)
{
	struct report_machine machine;

	for (int32_t i = 0; i < virt_model_n_machines(report->load->model); i++)
		if (report_machine(report, i, &machine))
			text_machine(out, report, &machine);
}

/* --- JSON ------------------------------------------------------------------------------------ */

/** Only in traces that do not tell who has a pCPU. */
static void json_unsplit(struct json *json, const struct report *report, const int64_t *ns)
{
	if (!report_is_unsplit(report))
		return;
	json_open(json, "unsplit_ns", '{', true);
	json_i64(json, virt_state_name(VIRT_HYPERVISOR), ns[VIRT_HYPERVISOR]);
	json_i64(json, virt_state_name(VIRT_VMM), ns[VIRT_VMM]);
	json_i64(json, virt_state_name(VIRT_UNKNOWN), ns[VIRT_UNKNOWN]);
	json_close(json, '}');
}

/** Only where there are nested guests. */
static void json_levels(struct json *json, const struct report_vcpu *vcpu)
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

static void json_migrations(struct json *json, const struct report *report,
			    const struct report_vcpu *vcpu)
{
	const struct virt_dist *cost = &vcpu->stats->migration_cost;

	json->unknown = !report_knows(report, VIRT_NUMBER_MIGRATIONS);
	json_u64(json, "migrations", vcpu->migrations.n);
	json->unknown = !report_knows(report, VIRT_NUMBER_MIGRATION_COST);
	json_durations(json, "migration_cost", cost);
	json->unknown = false;
	if (!report_knows(report, VIRT_NUMBER_MIGRATIONS)) {
		json_null(json, "migration_list");
		return;
	}
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
static void json_threads(struct json *json, const struct report *report,
			 const struct report_vcpu *vcpu)
{
	int cpu = report_kvm_guest_cpu(report->kvm, vcpu->info->host_pid);

	json_i64(json, "tid", vcpu->info->host_pid);
	if (cpu != VIRT_NONE)
		json_i64(json, "guest_cpu", cpu);
}

static void json_vcpu(struct json *json, const struct report *report,
		      const struct report_vcpu *vcpu)
{
	const struct virt_window_stats *stats = vcpu->stats;
	char number[16];

	json_open(json, NULL, '{', false);
	json_i64(json, "id", vcpu->info->id);
	json_str(json, "vcpu", vcpu->info->name);
	if (report->kvm)
		json_threads(json, report, vcpu);
	json_i64(json, "known_ns", stats->known_ns);
	json_unsplit(json, report, stats->unsplit_ns);
	json_open(json, "states", '{', false);
	for (int state = 0; state < VIRT_N_STATES; state++)
		json_state(json, report, virt_state_name((enum virt_state)state),
			   (enum virt_state)state, &stats->states[state]);
	json_close(json, '}');
	json_known_stretches(json, report, VIRT_NUMBER_RUNS, "runs", &stats->runs);
	json_known_stretches(json, report, VIRT_NUMBER_RUNNABLE, "runnable", &stats->waits);
	json_state(json, report, "wake_latency", VIRT_WAKING, &stats->states[VIRT_WAKING]);
	json->unknown = !report_knows(report, VIRT_NUMBER_RUNS);
	json_open(json, "pcpus_ns", '{', true);
	for (size_t i = 0; i < stats->n_places; i++) {
		snprintf(number, sizeof(number), "%d", stats->places[i].pcpu);
		json_i64(json, number, stats->places[i].ns);
	}
	json_close(json, '}');
	json->unknown = false;
	json_migrations(json, report, vcpu);
	report_culprits_json(json, report, vcpu);
	report_exits_json(json, report, stats);
	if (stats->exits_before && report_knows(report, VIRT_NUMBER_EXIT_COST)) {
		json_open(json, "exit_before", '{', true);
		json_str(json, "reason", report_reason(report, stats->before_reason));
		json_i64(json, "before_ns", stats->exits_before_ns);
		json_close(json, '}');
	}
	json_levels(json, vcpu);
	report_events_json(json, vcpu->count);
	json_close(json, '}');
}

static void json_machine(struct json *json, const struct report *report,
			 const struct report_machine *machine)
{
	const struct virt_window_machine *window = machine->window;
	struct report_vcpu vcpu;

	json_open(json, NULL, '{', false);
	json_i64(json, "id", machine->info->id);
	json_str(json, "machine", machine->info->name);
	json_i64(json, "n_vcpus", machine->info->n_vcpus);
	json_i64(json, "known_ns", window->known_ns);
	json_open(json, "states_ns", '{', true);
	for (int state = 0; state < VIRT_M_N_STATES; state++) {
		json->unknown = !report_knows(report, together_number(state));
		json_i64(json, virt_machine_state_name((enum virt_machine_state)state),
			 window->states[state].ns);
	}
	json->unknown = false;
	json_close(json, '}');
	json_open(json, "states", '{', false);
	for (int state = 0; state < VIRT_M_N_STATES; state++)
		json_known_stretches(json, report, together_number(state),
				     virt_machine_state_name((enum virt_machine_state)state),
				     &window->states[state]);
	json_close(json, '}');
	if (report->kvm)
		report_exits_json(json, report, &window->all);
	json_open(json, "vcpus", '[', false);
	for (int32_t i = 0; i < machine->info->n_vcpus; i++)
		if (report_vcpu(report, machine->info->vcpus[i], &vcpu))
			json_vcpu(json, report, &vcpu);
	json_close(json, ']');
	json_close(json, '}');
}

static void json(struct json *json, const struct report *report)
{
	struct report_machine machine;

	json_open(json, "machines", '[', false);
	for (int32_t i = 0; i < virt_model_n_machines(report->load->model); i++)
		if (report_machine(report, i, &machine))
			json_machine(json, report, &machine);
	json_close(json, ']');
}

/* --- CSV ------------------------------------------------------------------------------------- */

static void csv_vcpu(struct output *out, const struct report *report,
		     const struct report_machine *machine, const struct report_vcpu *vcpu)
{
	struct csv_row row = { .machine = machine->info->name, .vcpu = vcpu->info->name };
	const struct virt_window_stats *stats = vcpu->stats;
	char text[32];

	for (int state = 0; state < VIRT_N_STATES; state++) {
		row.unknown = !report_knows_state(report, (enum virt_state)state);
		csv_stretches(out, report, &row, "state", virt_state_name((enum virt_state)state),
			      &stats->states[state]);
	}
	row.unknown = false;
	for (int state = 0; state < VIRT_N_STATES; state++)
		if (stats->unsplit_ns[state])
			csv_time(out, report, &row, "unsplit",
				 virt_state_name((enum virt_state)state),
				 stats->unsplit_ns[state]);
	row.unknown = !report_knows(report, VIRT_NUMBER_RUNS);
	csv_stretches(out, report, &row, "runs", NULL, &stats->runs);
	row.unknown = !report_knows(report, VIRT_NUMBER_RUNNABLE);
	csv_stretches(out, report, &row, "runnable", NULL, &stats->waits);
	row.unknown = !report_knows(report, VIRT_NUMBER_RUNS);
	for (size_t i = 0; i < stats->n_places; i++) {
		snprintf(text, sizeof(text), "%d", stats->places[i].pcpu);
		csv_time(out, report, &row, "on_pcpu", text, stats->places[i].ns);
	}
	row.section = "migrations";
	row.count = &stats->migrations;
	row.unknown = !report_knows(report, VIRT_NUMBER_MIGRATIONS);
	csv_row(out, report, &row);
	row.unknown = !report_knows(report, VIRT_NUMBER_MIGRATION_COST);
	row.section = "migration_cost";
	row.count = &stats->migration_cost.count;
	row.ns = &stats->migration_cost.ns;
	row.dist = &stats->migration_cost;
	csv_row(out, report, &row);
	row = (struct csv_row){ .machine = machine->info->name, .vcpu = vcpu->info->name };
	report_culprits_csv(out, report, &row, vcpu);
	report_exits_csv(out, report, &row, stats);
	if (stats->exits_before && report_knows(report, VIRT_NUMBER_EXIT_COST))
		csv_time(out, report, &row, "exit_before",
			 report_reason(report, stats->before_reason), stats->exits_before_ns);
	csv_count(out, report, &row, "exit_level", "l2", vcpu->levels.l2);
	if (vcpu->levels.l2)
		csv_count(out, report, &row, "exit_level", "l1", vcpu->levels.l1);
	report_events_csv(out, report, &row, vcpu->count);
}

static void csv_machine(struct output *out, const struct report *report,
			const struct report_machine *machine)
{
	struct csv_row row = { .machine = machine->info->name };
	const struct virt_window_machine *window = machine->window;
	struct report_vcpu vcpu;

	for (int state = 0; state < VIRT_M_N_STATES; state++) {
		row.unknown = !report_knows(report, together_number(state));
		csv_stretches(out, report, &row, "machine_state",
			      virt_machine_state_name((enum virt_machine_state)state),
			      &window->states[state]);
	}
	row.unknown = false;
	if (report->kvm)
		report_exits_csv(out, report, &row, &window->all);
	for (int32_t i = 0; i < machine->info->n_vcpus; i++)
		if (report_vcpu(report, machine->info->vcpus[i], &vcpu))
			csv_vcpu(out, report, machine, &vcpu);
}

static void csv(struct output *out, const struct report *report)
{
	struct report_machine machine;

	for (int32_t i = 0; i < virt_model_n_machines(report->load->model); i++)
		if (report_machine(report, i, &machine))
			csv_machine(out, report, &machine);
}

const struct report_section report_machines = { .text = text, .json = json, .csv = csv };
