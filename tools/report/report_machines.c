// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_machines.c
 * @brief	A machine and its vCPUs: states, runs, waits, migrations, exits.
 */
#include <stdio.h>
#include <string.h>

#include "report_parts.h"
#include "report_section.h"
#include "report_unknown.h"
#include "table.h"
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
		char text[64];

		snprintf(text, sizeof(text), "p%d -> p%d", migration->from, migration->to);
		out_str(out, "    ");
		out_ns(out, migration->time_ns, TEXT_NAME - 4);
		out_printf(out, " %*s  after %s\n", TEXT_NUMBER + 2, text,
			   duration_text(migration->gap_ns).text);
	}
	if (vcpu->migrations.n > TEXT_MAX_LISTED)
		out_str(out, "    ... and more\n");
}

/** A KVM host's thread, the guest's CPU, and what --vcpu takes if the name is another one. */
static void text_threads(struct output *out, const struct report *report,
			 const struct report_vcpu *vcpu)
{
	int cpu = report_kvm_guest_cpu(report->kvm, vcpu->info->host_pid);
	char text[64];

	snprintf(text, sizeof(text), "g%dv%d",
		 virt_model_machine(report->load->model, vcpu->info->machine)->id, vcpu->info->id);
	if (strcmp(text, vcpu->info->name) != 0)
		out_printf(out, "  %s", text);
	out_printf(out, "  thread %d", vcpu->info->host_pid);
	if (cpu != VIRT_NONE)
		out_printf(out, ", the guest's CPU %d", cpu);
}

static void text_levels(struct output *out, const struct report *report,
			const struct virt_exit_levels *levels)
{
	if (!report_knows(report, VIRT_NUMBER_NESTED)) {
		out_char(out, '\n');
		text_name(out, "out of nested guests");
		text_unknown(out);
		out_char(out, '\n');
		return;
	}
	if (levels->l2)
		out_printf(out, "\n  %-20s %11llu\n  %-20s %11llu\n  %-20s %11.2f\n",
			   "out of nested guests", (unsigned long long)levels->l2,
			   "out of the guest", (unsigned long long)levels->l1, "multiplication",
			   (double)levels->l1 / (double)levels->l2);
}

/** The pCPUs that it ran on. */
static const struct table_column place_columns[] = {
	{ .title = "ran on", .width = TEXT_NAME },
	{ .title = "", .type = TABLE_NS },
	{ .title = "", .type = TABLE_SHARE },
};

static const struct table places_table = {
	.rows = { TABLE_COLUMNS(place_columns), .apart = true, .titled = true },
};

static void place_rows(struct table_writer *to, const struct report *report,
		       const struct virt_window_stats *stats)
{
	char name[32];

	table_flat(to, true);
	if (!report_knows(report, VIRT_NUMBER_RUNS))
		table_row(to, (const struct table_cell[ARRAY_SIZE(place_columns)]){
			table_name(""), table_unknown(), table_absent(),
		});
	for (size_t i = 0; i < stats->n_places && report_knows(report, VIRT_NUMBER_RUNS); i++) {
		snprintf(name, sizeof(name), "p%d", stats->places[i].pcpu);
		table_row(to, (const struct table_cell[ARRAY_SIZE(place_columns)]){
			table_name(name), table_number(stats->places[i].ns),
			table_share(stats->places[i].ns, stats->runs.ns),
		});
	}
	table_flat_end(to);
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
	bool is_lost = state == VIRT_PREEMPTED || state == VIRT_WAKING;
	enum out_style style = is_lost && report_knows(report, virt_number_of_state(state)) ?
			       text_cost_style(stretches->ns, share_of) : OUT_PLAIN;
	char name[VIRT_STATE_NAMES];

	if (style)
		out_style(out, style);
	if (!in) {
		text_known(out, report, virt_number_of_state(state), virt_state_name(state),
			   stretches, share_of);
	} else {
		virt_state_names(in | 1U << state, "+", name, sizeof(name));
		text_stretches(out, name, stretches, share_of);
	}
	if (style)
		out_style(out, OUT_PLAIN);
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
	struct table_writer places = {
		.table = &places_table, .format = &table_text, .out = out,
	};

	out_char(out, '\n');
	out_style(out, OUT_HEAD);
	out_text(out, vcpu->info->name);
	out_style(out, OUT_PLAIN);
	if (report->kvm)
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
	report_culprits_text(out, report, vcpu);
	place_rows(&places, report, stats);
	text_migrations(out, report, vcpu);
	report_exits_text(out, report, stats);
	report_exit_before_text(out, report, stats);
	text_levels(out, report, &vcpu->levels);
	report_events_text(out, report, vcpu->count);
}

static void text_machine(struct output *out, const struct report *report,
			 const struct report_machine *machine)
{
	const struct virt_window_machine *window = machine->window;
	struct report_vcpu vcpu;

	out_char(out, '\n');
	out_style(out, OUT_HEAD);
	out_text(out, machine->info->name);
	out_style(out, OUT_PLAIN);
	out_printf(out, ": %d vCPU%s\n", machine->info->n_vcpus,
		   machine->info->n_vcpus == 1 ? "" : "s");
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

/* --- facts ----------------------------------------------------------------------------------- */

/** Only in traces that do not show who has a pCPU. */
static void unsplit_facts(struct facts *to, const struct report *report, const int64_t *ns)
{
	if (!report_is_unsplit(report))
		return;
	facts_open(to, "unsplit_ns", '{', true);
	facts_number(to, virt_state_name(VIRT_HYPERVISOR), ns[VIRT_HYPERVISOR]);
	facts_number(to, virt_state_name(VIRT_VMM), ns[VIRT_VMM]);
	facts_number(to, virt_state_name(VIRT_UNKNOWN), ns[VIRT_UNKNOWN]);
	facts_close(to, '}');
}

static void states_facts(struct facts *to, const struct report *report,
			 const struct virt_window_stats *stats)
{
	facts_open(to, "states", '{', false);
	for (int i = 0; i < VIRT_N_STATES; i++) {
		enum virt_state state = (enum virt_state)i;
		const char *name = virt_state_name(state);

		report_state_facts(to, FACT(name, "state", name), report, state,
				   &stats->states[state]);
	}
	facts_close(to, '}');
	for (int state = 0; state < VIRT_N_STATES; state++)
		facts_part(to, FACT_CSV("unsplit", virt_state_name((enum virt_state)state)),
			   stats->unsplit_ns[state]);
}

/** How long it ran on which pCPU. */
static void place_facts(struct facts *to, const struct report *report,
			const struct virt_window_stats *stats)
{
	bool knows = report_knows(report, VIRT_NUMBER_RUNS);
	char number[16];

	if (knows)
		facts_open(to, "pcpus_ns", '{', true);
	else
		facts_null(to, "pcpus_ns");
	to->unknown = !knows;
	for (size_t i = 0; i < stats->n_places; i++) {
		snprintf(number, sizeof(number), "%d", stats->places[i].pcpu);
		facts_ns(to, FACT(knows ? number : NULL, "on_pcpu", number), stats->places[i].ns);
	}
	to->unknown = false;
	if (knows)
		facts_close(to, '}');
}

static void migration_facts(struct facts *to, const struct report *report,
			    const struct report_vcpu *vcpu)
{
	bool knows = report_knows(report, VIRT_NUMBER_MIGRATIONS);

	to->unknown = !knows;
	facts_counted(to, FACT("migrations", "migrations", NULL), vcpu->migrations.n);
	to->unknown = !report_knows(report, VIRT_NUMBER_MIGRATION_COST);
	facts_durations(to, FACT("migration_cost", "migration_cost", NULL),
			&vcpu->stats->migration_cost);
	to->unknown = false;
	if (!knows) {
		facts_null(to, "migration_list");
		return;
	}
	facts_open(to, "migration_list", '[', false);
	for (size_t i = 0; i < vcpu->migrations.n; i++) {
		const struct virt_migration *migration = &vcpu->migrations.first[i];

		facts_open(to, NULL, '{', true);
		facts_number(to, "time_ns", migration->time_ns);
		facts_number(to, "from_pcpu", migration->from);
		facts_number(to, "to_pcpu", migration->to);
		facts_number(to, "gap_ns", migration->gap_ns);
		facts_close(to, '}');
	}
	facts_close(to, ']');
}

/** The exit that goes on when the window begins. */
static void exit_before_facts(struct facts *to, const struct report *report,
			      const struct virt_window_stats *stats)
{
	const char *reason = report_reason(report, stats->before_reason);

	if (!stats->exits_before || !report_knows(report, VIRT_NUMBER_EXIT_COST))
		return;
	facts_open(to, "exit_before", '{', true);
	facts_name(to, "reason", reason);
	facts_ns(to, FACT("before_ns", "exit_before", reason), stats->exits_before_ns);
	facts_close(to, '}');
}

/** Only where there are nested guests. */
static void level_facts(struct facts *to, const struct report *report,
			const struct virt_exit_levels *levels)
{
	to->unknown = !report_knows(report, VIRT_NUMBER_NESTED);
	facts_count(to, FACT_CSV("exit_level", "l2"), levels->l2);
	if (to->unknown)
		facts_null(to, "exit_levels");
	if (!to->unknown && levels->l2) {
		facts_open(to, "exit_levels", '{', true);
		facts_count(to, FACT("l1", "exit_level", "l1"), levels->l1);
		facts_count(to, FACT_JSON("l2"), levels->l2);
		facts_count(to, FACT_JSON("unknown"), levels->unknown);
		if (to->json)
			json_fixed(to->json, "multiplication",
				   (double)levels->l1 / (double)levels->l2);
		facts_close(to, '}');
	}
	to->unknown = false;
}

/** A KVM host's thread, and the guest's CPU. */
static void thread_facts(struct facts *to, const struct report *report,
			 const struct report_vcpu *vcpu)
{
	int cpu = report_kvm_guest_cpu(report->kvm, vcpu->info->host_pid);

	facts_number(to, "tid", vcpu->info->host_pid);
	if (cpu != VIRT_NONE)
		facts_number(to, "guest_cpu", cpu);
}

static void vcpu_facts(struct facts *to, const struct report *report,
		       const struct report_vcpu *vcpu)
{
	const struct virt_window_stats *stats = vcpu->stats;

	to->vcpu = vcpu->info->name;
	facts_open(to, NULL, '{', false);
	facts_number(to, "id", vcpu->info->id);
	facts_name(to, "vcpu", vcpu->info->name);
	if (report->kvm)
		thread_facts(to, report, vcpu);
	facts_number(to, "known_ns", stats->known_ns);
	unsplit_facts(to, report, stats->unsplit_ns);
	states_facts(to, report, stats);
	report_known_facts(to, FACT("runs", "runs", NULL), report, VIRT_NUMBER_RUNS, &stats->runs);
	report_known_facts(to, FACT("runnable", "runnable", NULL), report, VIRT_NUMBER_RUNNABLE,
			   &stats->waits);
	report_state_facts(to, FACT_JSON("wake_latency"), report, VIRT_WAKING,
			   &stats->states[VIRT_WAKING]);
	place_facts(to, report, stats);
	migration_facts(to, report, vcpu);
	report_culprits_facts(to, report, vcpu);
	report_exits_facts(to, report, stats);
	exit_before_facts(to, report, stats);
	level_facts(to, report, &vcpu->levels);
	report_events_facts(to, report, vcpu->count);
	facts_close(to, '}');
	to->vcpu = NULL;
}

/** What its vCPUs do together. */
static void together_facts(struct facts *to, const struct report *report,
			   const struct virt_window_machine *window)
{
	facts_open(to, "states_ns", '{', true);
	for (int state = 0; state < VIRT_M_N_STATES; state++) {
		to->unknown = !report_knows(report, together_number(state));
		facts_number(to, virt_machine_state_name((enum virt_machine_state)state),
			     window->states[state].ns);
	}
	to->unknown = false;
	facts_close(to, '}');
	facts_open(to, "states", '{', false);
	for (int state = 0; state < VIRT_M_N_STATES; state++) {
		const char *name = virt_machine_state_name((enum virt_machine_state)state);

		report_known_facts(to, FACT(name, "machine_state", name), report,
				   together_number(state), &window->states[state]);
	}
	facts_close(to, '}');
}

static void machine_facts(struct facts *to, const struct report *report,
			  const struct report_machine *machine)
{
	struct report_vcpu vcpu;

	to->machine = machine->info->name;
	facts_open(to, NULL, '{', false);
	facts_number(to, "id", machine->info->id);
	facts_name(to, "machine", machine->info->name);
	facts_number(to, "n_vcpus", machine->info->n_vcpus);
	facts_number(to, "known_ns", machine->window->known_ns);
	together_facts(to, report, machine->window);
	if (report->kvm)
		report_exits_facts(to, report, &machine->window->all);
	facts_open(to, "vcpus", '[', false);
	for (int32_t i = 0; i < machine->info->n_vcpus; i++)
		if (report_vcpu(report, machine->info->vcpus[i], &vcpu))
			vcpu_facts(to, report, &vcpu);
	facts_close(to, ']');
	facts_close(to, '}');
	to->machine = NULL;
}

static void facts(struct facts *to, const struct report *report)
{
	struct report_machine machine;

	facts_open(to, "machines", '[', false);
	for (int32_t i = 0; i < virt_model_n_machines(report->load->model); i++)
		if (report_machine(report, i, &machine))
			machine_facts(to, report, &machine);
	facts_close(to, ']');
}

const struct report_section report_machines = { .text = text, .facts = facts };
