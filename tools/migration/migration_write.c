// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	migration_write.c
 * @brief	The phases of a migration and their costs as text, CSV and JSON.
 */
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "json_durations.h"
#include "migration.h"
#include "text_columns.h"
#include "virt_needs.h"

static const char *const side_names[VIRT_MOVE_N_SIDES] = {
	[VIRT_MOVE_SOURCE] = "source", [VIRT_MOVE_TARGET] = "target",
};

static const char *const by_names[MIGRATION_N_BY] = {
	[MIGRATION_BY_OPTION] = "option", [MIGRATION_BY_UUID] = "uuid",
	[MIGRATION_BY_NAME] = "name", [MIGRATION_BY_ALONE] = "alone",
};

static const char *const clock_names[MIGRATION_N_CLOCKS] = {
	[MIGRATION_CLOCK_NONE] = "none", [MIGRATION_CLOCK_OPTION] = "option",
	[MIGRATION_CLOCK_WALL] = "wall clocks",
};

/** What is not known: the word for programs, and the sentence for people. */
static const struct {
	enum virt_move_lack	lack;
	const char		*word, *sentence;
} lacks[] = {
	{ VIRT_MOVE_NO_SIGN, "no_sign",
	  "Nothing shows where the brown-out begins: it is all of the time on the source. Record "
	  "both hosts with --events memory, by kshark-virt record, which knows the threads of "
	  "monitors." },
	{ VIRT_MOVE_CUT_BEGIN, "cut_begin",
	  "The brown-out may have begun before the trace: record the source for a second more." },
	{ VIRT_MOVE_CUT_STOP, "cut_stop",
	  "The trace of the source ends before it is certain that the machine has stopped there." },
	{ VIRT_MOVE_CUT_START, "cut_start",
	  "The trace of the target begins so late that the machine may have run there before." },
	{ VIRT_MOVE_LOST, "lost", "Records of the blackout are lost: the machine may have run." },
	{ VIRT_MOVE_IDLE, "idle",
	  "All vCPUs slept, as their guest wanted, when the machine stopped: it may have stopped "
	  "later, and started earlier." },
	{ VIRT_MOVE_CONTRADICTION, "contradiction",
	  "By the clocks, the machine runs on both hosts at once, which cannot be: they are wrong, "
	  "and are not used. Give the difference with --offset." },
	{ VIRT_MOVE_NO_CLOCK, "no_clock",
	  "The difference of the hosts' clocks is unknown, and so is the length of the blackout. "
	  "Give it with --offset, or record with kshark-virt record." },
	{ VIRT_MOVE_NO_BOUND, "no_bound",
	  "The error of the clocks is unknown: the blackout has no upper limit. Give it with "
	  "--within, or let NTP set both clocks before you record." },
	{ VIRT_MOVE_NO_RATE, "no_rate",
	  "VM exits for memory before the brown-out are unknown, so the end of the brown-in is, "
	  "too." },
	{ VIRT_MOVE_CUT_END, "cut_end", "The brown-in is not over where the trace of the target "
	  "ends." },
};

const char *migration_machine(const struct migration *migration, enum virt_move_side side)
{
	const char *name = report_machine_name(&migration->sides[side],
					       migration->hosts[side].machine);
	const char *colon = strchr(name, ':');

	/* a host numbers its machines for itself */
	return colon ? colon + 1 : name;
}

/** What a phase is about, as far as the traces show it; NULL: nothing. */
static const char *cause_of(const struct migration *migration, enum virt_move_phase phase)
{
	const struct virt_move_cost *sum = &migration->costs.cost[phase][0];
	bool faults = sum->dirty_known && sum->dirty;

	switch (phase) {
	case VIRT_MOVE_BROWN_OUT:
		return sum->stopped_ns && faults ? "dirty logging, throttling" :
		       sum->stopped_ns ? "throttling" : faults ? "dirty logging" :
		       sum->faults && !sum->dirty_known ? "VM exits for memory" : NULL;
	case VIRT_MOVE_BLACKOUT:
		return "stopped: the last pages and the devices are copied";
	case VIRT_MOVE_BROWN_IN:
		return sum->faults ? "empty page tables on the target" : NULL;
	default:
		return NULL;
	}
}

/* --- the table ------------------------------------------------------------------------------- */

static const struct table_column phase_columns[] = {
	{ .title = "" },
	{ .key = "machine", .not_json = true },
	{ .key = "phase" },
	{ .key = "from_ns", .type = TABLE_TIME },
	{ .key = "to_ns", .type = TABLE_TIME },
	{ .key = "ns", .type = TABLE_NS },
	{ .key = "least_ns", .type = TABLE_NS },
	{ .key = "most_ns", .type = TABLE_NS },
	{ .key = "cause" },
};

static const struct table_column cost_columns[] = {
	{ .key = "vcpu", .type = TABLE_COUNT },
	{ .title = "vCPU", .width = TEXT_NAME },
	{ .key = "guest_ns", .type = TABLE_NS, .title = "guest" },
	{ .key = "hypervisor_ns", .type = TABLE_NS },
	{ .key = "polling_ns", .type = TABLE_NS },
	{ .key = "vmm_ns", .type = TABLE_NS },
	{ .key = "preempted_ns", .type = TABLE_NS },
	{ .key = "waking_ns", .type = TABLE_NS },
	{ .key = "blocked_ns", .type = TABLE_NS },
	{ .key = "device_model_ns", .type = TABLE_NS },
	{ .key = "offline_ns", .type = TABLE_NS },
	{ .key = "unknown_ns", .type = TABLE_NS },
	{ .key = "lost_ns", .type = TABLE_NS, .title = "lost" },
	{ .key = "steal_ns", .type = TABLE_NS, .title = "steal" },
	{ .key = "stopped_ns", .type = TABLE_NS, .title = "stopped" },
	{ .key = "faults", .type = TABLE_COUNT, .title = "faults" },
	{ .key = "fault_ns", .type = TABLE_NS, .title = "their cost" },
	{ .key = "dirty_faults", .type = TABLE_COUNT, .title = "dirty" },
	{ .key = "dirty_ns", .type = TABLE_NS, .title = "their cost" },
	{ .key = "last_run_ns", .type = TABLE_TIME },
	{ .key = "first_run_ns", .type = TABLE_TIME },
};

static const struct table table = {
	.groups = "phases", .group = phase_columns, .n_group = ARRAY_SIZE(phase_columns),
	.rows = { .key = "costs", TABLE_COLUMNS(cost_columns), .heading = true },
};

/** A number that may be unknown. */
static struct table_cell known(bool is_known, int64_t number)
{
	return is_known ? table_number(number) : table_unknown();
}

/** Is the length of a phase known, at least about? */
static bool has_length(const struct migration *migration, enum virt_move_phase phase)
{
	return phase != VIRT_MOVE_BLACKOUT || migration->move.clock.known;
}

/** "at least 12.3 ms, at most 15.4 ms"; what is known exactly is one number */
static void length_text(char *text, size_t size, const struct migration *migration,
			enum virt_move_phase phase)
{
	const struct virt_move_span *span = &migration->move.phases[phase];
	int64_t ns = span->to_ns - span->from_ns;

	if (span->least_ns == ns && span->most_ns == ns)
		snprintf(text, size, "%s", duration_text(ns).text);
	else if (!has_length(migration, phase))
		snprintf(text, size, "unknown");
	else if (span->most_ns == VIRT_MOVE_OPEN_MOST && span->least_ns == ns)
		snprintf(text, size, "at least %s", duration_text(ns).text);
	else if (span->most_ns == VIRT_MOVE_OPEN_MOST && span->least_ns > 0)
		snprintf(text, size, "about %s, at least %s", duration_text(ns).text,
			 duration_text(span->least_ns).text);
	else if (span->most_ns == VIRT_MOVE_OPEN_MOST)
		snprintf(text, size, "about %s", duration_text(ns).text);
	else if (span->most_ns == ns)
		snprintf(text, size, "at most %s", duration_text(ns).text);
	else
		snprintf(text, size, "%s (at least %s, at most %s)", duration_text(ns).text,
			 duration_text(span->least_ns).text, duration_text(span->most_ns).text);
}

/** Can the trace that shows a phase show a number? In the blackout, nothing happens. */
static bool shows(const struct migration *migration, enum virt_move_phase phase,
		  enum virt_number number)
{
	enum virt_move_side side = phase > VIRT_MOVE_BLACKOUT ? VIRT_MOVE_TARGET :
								 VIRT_MOVE_SOURCE;

	return phase == VIRT_MOVE_BLACKOUT ||
	       virt_model_knows(migration->hosts[side].model, number);
}

/** The time in a state. One that another one includes is unknown. */
static struct table_cell state_cell(const struct migration *migration, enum virt_move_phase phase,
				    const struct virt_move_cost *cost, enum virt_state state)
{
	enum virt_move_side side = phase > VIRT_MOVE_BLACKOUT ? VIRT_MOVE_TARGET :
								 VIRT_MOVE_SOURCE;

	if (phase == VIRT_MOVE_BLACKOUT)
		return known(has_length(migration, phase) || state != VIRT_OFFLINE,
			     cost->ns[state]);
	return known(virt_model_knows_state(migration->hosts[side].model, state),
		     cost->ns[state]);
}

/** What a vCPU is called, on the source if it is there. */
static const char *vcpu_name(const struct migration *migration, int32_t id)
{
	for (int side = 0; side < VIRT_MOVE_N_SIDES; side++) {
		const struct virt_move_host *host = &migration->hosts[side];
		const struct virt_machine *machine = virt_model_machine(host->model, host->machine);

		for (int32_t i = 0; i < machine->n_vcpus; i++) {
			const struct virt_vcpu *vcpu =
				virt_model_vcpu(host->model, machine->vcpus[i]);

			if (vcpu->id == id)
				return vcpu->name;
		}
	}
	return "";
}

/** What the trace shows of a cost. */
static void cost_row(struct table_writer *to, const struct migration *migration,
		     enum virt_move_phase phase, int32_t at)
{
	const struct virt_move_cost *cost = &migration->costs.cost[phase][at];
	bool causes = cost->dirty_known, has_ns = has_length(migration, phase);
	bool steal = shows(migration, phase, VIRT_NUMBER_RUNNABLE);
	bool sleep = shows(migration, phase, VIRT_NUMBER_BLOCKED) &&
		     shows(migration, phase, VIRT_NUMBER_VMM);
	struct table_cell cells[ARRAY_SIZE(cost_columns)], *cell = cells;

	*cell++ = at ? table_number(migration->costs.ids[at - 1]) : table_absent();
	*cell++ = table_name(at ? vcpu_name(migration, migration->costs.ids[at - 1]) : "all");
	for (int state = 0; state < VIRT_N_STATES; state++)
		*cell++ = state_cell(migration, phase, cost, (enum virt_state)state);
	*cell++ = known(has_ns && steal && sleep, cost->lost_ns);
	*cell++ = known(steal, cost->steal_ns);
	*cell++ = known(has_ns && sleep, cost->stopped_ns);
	*cell++ = known(shows(migration, phase, VIRT_NUMBER_EXITS), (int64_t)cost->faults);
	*cell++ = known(shows(migration, phase, VIRT_NUMBER_EXIT_COST), cost->fault_ns);
	*cell++ = known(causes, (int64_t)cost->dirty);
	*cell++ = known(causes, cost->dirty_ns);
	*cell++ = known(cost->last_run_ns != VIRT_NONE, cost->last_run_ns);
	*cell++ = known(has_ns && cost->first_run_ns != VIRT_NONE, cost->first_run_ns);
	table_row(to, cells);
}

static void put_phases(struct table_writer *to, const struct migration *migration)
{
	table_begin(to, true);
	for (int i = 0; i < VIRT_MOVE_N_PHASES; i++) {
		enum virt_move_phase phase = (enum virt_move_phase)i;
		const struct virt_move_span *span = &migration->move.phases[phase];
		const char *cause = cause_of(migration, phase);
		bool is_open = span->most_ns == VIRT_MOVE_OPEN_MOST;
		bool is_empty = has_length(migration, phase) && span->to_ns == span->from_ns;
		char heading[256], length[128];

		length_text(length, sizeof(length), migration, phase);
		snprintf(heading, sizeof(heading), "%s: %s%s%s", virt_move_phase_name(phase),
			 length, cause ? "; " : "", cause ? cause : "");
		table_group(to, (const struct table_cell[ARRAY_SIZE(phase_columns)]){
			table_name(heading),
			table_name(migration_machine(migration, VIRT_MOVE_SOURCE)),
			table_name(virt_move_phase_name(phase)),
			known(phase <= VIRT_MOVE_BLACKOUT || migration->move.clock.known,
			      span->from_ns),
			known(phase < VIRT_MOVE_BLACKOUT || migration->move.clock.known,
			      span->to_ns),
			known(has_length(migration, phase), span->to_ns - span->from_ns),
			table_number(span->least_ns), known(!is_open, span->most_ns),
			table_optional_name(cause),
		});
		for (int32_t at = 0; at <= migration->costs.n_vcpus &&
		     !(is_empty && table_is(to, TABLE_TEXT)); at++)
			cost_row(to, migration, phase, at);
		table_group_end(to);
	}
	table_end(to);
}

/* --- text ------------------------------------------------------------------------------------ */

static void put_side(struct output *out, const struct migration *migration,
		     enum virt_move_side side)
{
	const struct virt_model *model = migration->hosts[side].model;

	out_printf(out, "  %s: ", side_names[side]);
	out_text(out, migration->sides[side].file);
	out_str(out, ", ");
	out_ns(out, virt_model_begin(model), 0);
	out_str(out, " .. ");
	out_ns(out, virt_model_end(model), 0);
	out_str(out, " s\n");
}

static void put_clock(struct output *out, const struct migration *migration)
{
	const struct virt_move_clock *clock = &migration->move.clock;

	out_printf(out, "  clocks: ");
	if (!clock->known) {
		out_str(out, "unknown difference\n");
		return;
	}
	out_str(out, "source = target ");
	out_str(out, clock->offset_ns < 0 ? "- " : "+ ");
	out_ns(out, clock->offset_ns < 0 ? -clock->offset_ns : clock->offset_ns, 0);
	out_printf(out, " s, by %s", clock_names[migration->clock]);
	if (clock->least_ns != VIRT_MOVE_OPEN_LEAST)
		out_printf(out, "; at most %s less",
			   duration_text(clock->offset_ns - clock->least_ns).text);
	if (clock->most_ns != VIRT_MOVE_OPEN_MOST)
		out_printf(out, ", at most %s more",
			   duration_text(clock->most_ns - clock->offset_ns).text);
	out_char(out, '\n');
}

static void put_work(struct output *out, const struct migration *migration)
{
	const struct virt_move *move = &migration->move;

	if (move->sign)
		out_printf(out, "  The brown-out begins with: %s.\n",
			   virt_move_sign_name(move->sign));
	for (int side = 0; side < VIRT_MOVE_N_SIDES; side++)
		if (move->monitor_ns[side] != VIRT_NONE)
			out_printf(out, "  In the blackout, threads of the monitor had pCPUs for "
				   "%s on the %s.\n",
				   duration_text(move->monitor_ns[side]).text, side_names[side]);
	if (!(move->lacks & VIRT_MOVE_NO_RATE))
		out_printf(out, "  The brown-in ends when %s have no more than %llu faults; before "
				"the brown-out, the most were %llu.\n",
			   duration_text(VIRT_MOVE_BIN_NS).text,
			   (unsigned long long)move->few_faults,
			   (unsigned long long)move->usual_faults);
}

static void migration_text(struct output *out, const struct migration *migration)
{
	struct table_writer to = { .table = &table, .format = &table_text, .out = out };

	out_style(out, OUT_HEAD);
	out_text(out, migration_machine(migration, VIRT_MOVE_SOURCE));
	out_style(out, OUT_PLAIN);
	out_str(out, " moved to another host");
	if (strcmp(migration_machine(migration, VIRT_MOVE_SOURCE),
		   migration_machine(migration, VIRT_MOVE_TARGET)) != 0) {
		out_str(out, ", where it is ");
		out_text(out, migration_machine(migration, VIRT_MOVE_TARGET));
	}
	out_char(out, '\n');
	for (int side = 0; side < VIRT_MOVE_N_SIDES; side++)
		put_side(out, migration, (enum virt_move_side)side);
	put_clock(out, migration);
	put_phases(&to, migration);
	out_char(out, '\n');
	put_work(out, migration);
	for (size_t i = 0; i < ARRAY_SIZE(lacks); i++)
		if (migration->move.lacks & lacks[i].lack) {
			out_str(out, "  ");
			out_styled(out, OUT_WARNING, lacks[i].sentence);
			out_char(out, '\n');
		}
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void put_clock_json(struct json *json, const struct migration *migration)
{
	const struct virt_move_clock *clock = &migration->move.clock;

	json_open(json, "clock", '{', false);
	json_str(json, "source", clock_names[migration->clock]);
	if (clock->known)
		json_i64(json, "offset_ns", clock->offset_ns);
	json_i64(json, "least_ns", clock->least_ns);
	if (clock->most_ns != VIRT_MOVE_OPEN_MOST)
		json_i64(json, "most_ns", clock->most_ns);
	json_close(json, '}');
}

static void migration_json(struct output *out, const struct migration *migration)
{
	const struct virt_move *move = &migration->move;
	struct json json;
	struct table_writer to = { .table = &table, .format = &table_json, .json = &json };

	json_document(&json, out);
	for (int side = 0; side < VIRT_MOVE_N_SIDES; side++) {
		const struct virt_model *model = migration->hosts[side].model;

		json_open(&json, side_names[side], '{', false);
		json_str(&json, "file", migration->sides[side].file);
		json_str(&json, "machine", migration_machine(migration, (enum virt_move_side)side));
		json_window(&json, virt_model_begin(model), virt_model_end(model));
		json_warnings(&json, &migration->sides[side].load->notes);
		if (move->monitor_ns[side] != VIRT_NONE)
			json_i64(&json, "blackout_monitor_ns", move->monitor_ns[side]);
		json_close(&json, '}');
	}
	json_str(&json, "recognised_by", by_names[migration->by]);
	put_clock_json(&json, migration);
	if (move->sign)
		json_str(&json, "sign", virt_move_sign_name(move->sign));
	if (!(move->lacks & VIRT_MOVE_NO_RATE)) {
		json_i64(&json, "bin_ns", VIRT_MOVE_BIN_NS);
		json_u64(&json, "usual_faults", move->usual_faults);
		json_u64(&json, "few_faults", move->few_faults);
	}
	put_phases(&to, migration);
	json_open(&json, "limits", '[', true);
	for (size_t i = 0; i < ARRAY_SIZE(lacks); i++)
		if (move->lacks & lacks[i].lack)
			json_str(&json, NULL, lacks[i].word);
	json_close(&json, ']');
	json_document_end(&json);
}

void migration_write(enum table_format_kind format, struct output *out,
		     const struct migration *migration)
{
	struct table_writer csv = { .table = &table, .format = &table_csv, .out = out };

	if (format == TABLE_JSON)
		migration_json(out, migration);
	else if (format == TABLE_CSV)
		put_phases(&csv, migration);
	else
		migration_text(out, migration);
}
