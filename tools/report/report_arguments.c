// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_arguments.c
 * @brief	kshark-virt report --exits: the purposes of VM exits, and their costs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report_page.h"
#include "report_parts.h"
#include "report_unknown.h"
#include "text_columns.h"
#include "virt_arguments.h"

/** Of reasons and arguments. */
#define NAME_WIDTH	48

static const struct table_column groups[] = {
	{ .key = "machine" },
	{ .key = "vcpu" },
	{ .title = "" },
};

#define COST	TABLE_TOTAL | TABLE_MEAN | TABLE_P50 | TABLE_P95 | TABLE_P99 | TABLE_MAX

static const struct table_column causes[] = {
	{ .key = "cause" },
	{ .key = "count", .type = TABLE_COUNT },
	{ .key = "cost", .type = TABLE_DURATIONS },
};

static const struct table_column arguments[] = {
	{ .key = "argument" },
	{ .key = "cause" },
	{ .key = "count", .type = TABLE_COUNT },
	{ .key = "cost", .type = TABLE_DURATIONS },
};

/** Text shows all names in one column; JSON has the causes and arguments of a reason in lists. */
static const struct table_column exits[] = {
	{ .key = "reason" },
	{ .key = "cause", .not_json = true },
	{ .key = "argument", .not_json = true },
	{ .title = "VM exits", .width = NAME_WIDTH },
	{ .key = "count", .type = TABLE_COUNT, .title = "count" },
	{ .type = TABLE_SHARE, .title = "count %" },
	{ .key = "cost", .type = TABLE_DURATIONS, .title = "cost", .shown = COST },
	{ .type = TABLE_SHARE, .title = "cost %" },
	{ .key = "causes", .type = TABLE_LIST, .not_csv = true,
	  .list = causes, .n_list = ARRAY_SIZE(causes) },
	{ .key = "arguments", .type = TABLE_LIST, .not_csv = true,
	  .list = arguments, .n_list = ARRAY_SIZE(arguments) },
};

static const struct table table = {
	.groups = "vcpus", .group = groups, .n_group = ARRAY_SIZE(groups),
	.rows = {
		.key = "exits", TABLE_COLUMNS(exits),
		.none = "  no VM exit\n",
	},
};

/** The exits of a vCPU or a machine. */
struct exits_of {
	const struct report	*report;
	const struct virt_window_stats *stats;
	int64_t			ns;	/* cost of all of them */
};

static struct table_cell cost_cell(const struct report *report, const struct virt_window_exit *exit)
{
	return report_exit_has_cost(report, &exit->cost) ? table_durations(&exit->cost) :
	       report_exit_no_cost(report, VIRT_NUMBER_EXIT_COST);
}

/** The cells of a list, for JSON. */
struct list {
	struct table_cell	*cells;
	size_t			n;
};

/** @cause, @argument: NULL: all of them */
static void arguments_row(struct table_writer *to, const struct exits_of *of,
			  const struct virt_window_exit *exit, const char *cause,
			  const char *argument, const struct list *by_cause,
			  const struct list *by_argument)
{
	const struct report *report = of->report;
	const char *reason = report_reason(report, exit->reason);
	const char *name = argument ? argument : cause ? cause : reason;
	char text[EXIT_ARGUMENT_NAME + 4];

	snprintf(text, sizeof(text), "%s%s%s", cause ? "  " : "", argument ? "  " : "", name);
	table_row(to, (const struct table_cell[]){
		table_name(reason), table_name(cause), table_name(argument),
		table_name(cause || argument ? text : name),
		table_number((int64_t)exit->count),
		table_share((int64_t)exit->count, (int64_t)of->stats->exits),
		cost_cell(report, exit),
		report_exit_has_cost(report, &exit->cost) ? table_share(exit->cost.ns, of->ns) :
							    table_absent(),
		by_cause && report_has_causes(report, exit->reason) ?
			table_list(by_cause->cells, by_cause->n) : table_absent(),
		by_argument && report_has_argument(report, exit->reason) ?
			table_list(by_argument->cells, by_argument->n) : table_absent(),
	});
}

/** Of exits by cause or by argument, those of a reason, to be freed. Return: 0 or -ENOMEM. */
static int make_list(const struct exits_of *of, int32_t reason, bool by_argument, struct list *list)
{
	const struct virt_window_exit *all = by_argument ? of->stats->arguments : of->stats->causes;
	size_t n = by_argument ? of->stats->n_arguments : of->stats->n_causes;
	size_t n_columns = by_argument ? ARRAY_SIZE(arguments) : ARRAY_SIZE(causes);
	struct table_cell *cell = calloc(n + 1, n_columns * sizeof(*cell));

	*list = (struct list){ .cells = cell };
	for (size_t i = 0; cell && i < n; i++) {
		if (all[i].reason != reason)
			continue;
		if (by_argument)
			*cell++ = table_name(report_argument(of->report, &all[i]));
		*cell++ = table_name(report_cause(of->report, &all[i]));
		*cell++ = table_number((int64_t)all[i].count);
		*cell++ = cost_cell(of->report, &all[i]);
		list->n++;
	}
	return list->cells ? 0 : -ENOMEM;
}

/** The arguments of a reason, of one cause if it has causes. */
static void argument_rows(struct table_writer *to, const struct exits_of *of, int32_t reason,
			  const struct virt_window_exit *cause)
{
	if (!report_has_argument(of->report, reason))
		return;
	for (size_t i = 0; i < of->stats->n_arguments; i++) {
		const struct virt_window_exit *exit = &of->stats->arguments[i];

		if (exit->reason == reason && (!cause || exit->cause == cause->cause))
			arguments_row(to, of, exit, cause ? report_cause(of->report, cause) : NULL,
				      report_argument(of->report, exit), NULL, NULL);
	}
}

/** A reason, what its exits were for, and what the host did. Return: 0 or -ENOMEM. */
static int arguments_reason_rows(struct table_writer *to, const struct exits_of *of,
				 const struct virt_window_exit *reason)
{
	struct list by_cause = { 0 }, by_argument = { 0 };
	bool has_causes;
	int ret = 0;

	if (table_is(to, TABLE_JSON))
		ret = make_list(of, reason->reason, false, &by_cause);
	if (table_is(to, TABLE_JSON) && !ret)
		ret = make_list(of, reason->reason, true, &by_argument);
	if (!ret)
		arguments_row(to, of, reason, NULL, NULL, &by_cause, &by_argument);
	free(by_cause.cells);
	free(by_argument.cells);
	if (ret || table_is(to, TABLE_JSON))
		return ret;
	has_causes = report_has_causes(of->report, reason->reason);
	if (!has_causes)
		argument_rows(to, of, reason->reason, NULL);
	for (size_t i = 0; i < of->stats->n_causes && has_causes; i++) {
		const struct virt_window_exit *cause = &of->stats->causes[i];

		if (cause->reason != reason->reason)
			continue;
		arguments_row(to, of, cause, report_cause(of->report, cause), NULL, NULL, NULL);
		argument_rows(to, of, reason->reason, cause);
	}
	return 0;
}

/** @vcpu: "all": the machine */
static int arguments_exit_rows(struct table_writer *to, const struct report *report,
			       const struct virt_machine *machine, const char *vcpu,
			       const char *who, const struct virt_window_stats *stats)
{
	struct exits_of of = { .report = report, .stats = stats };
	int ret = 0;

	for (size_t i = 0; i < stats->n_reasons; i++)
		of.ns += stats->reasons[i].cost.ns;
	table_group(to, (const struct table_cell[]){
		table_name(machine->name), table_name(vcpu), table_name(who),
	});
	for (size_t i = 0; i < stats->n_reasons && !ret; i++)
		ret = arguments_reason_rows(to, &of, &stats->reasons[i]);
	table_group_end(to);
	return ret;
}

static int arguments_machine_rows(struct table_writer *to, const struct report *report,
				  const struct virt_machine *machine, int32_t index)
{
	char who[256];

	snprintf(who, sizeof(who), "%s, all vCPUs", machine->name);
	return arguments_exit_rows(to, report, machine, "all", who,
				   &virt_window_walk_machine(report->walk, index, true)->all);
}

static int arguments_vcpu_rows(struct table_writer *to, const struct report *report,
			       const struct virt_machine *machine, int32_t vcpu)
{
	const char *who = virt_model_who(report->load->model, vcpu);

	return arguments_exit_rows(to, report, machine, who, who,
				   virt_window_walk_vcpu(report->walk, vcpu));
}

static int arguments_rows(struct table_writer *to, const struct report *report)
{
	const struct virt_model *model = report->load->model;
	int ret = 0;

	for (int32_t m = 0; !ret && m < virt_model_n_machines(model); m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);

		if (!report_wants_machine(report, m))
			continue;
		ret = arguments_machine_rows(to, report, machine, m);
		for (int32_t i = 0; i < machine->n_vcpus && !ret; i++)
			if (virt_window_walk_wants(report->walk, machine->vcpus[i]))
				ret = arguments_vcpu_rows(to, report, machine, machine->vcpus[i]);
	}
	return ret ? ret : virt_window_walk_error(report->walk);
}

/* --- what to record -------------------------------------------------------------------------- */

/**
 * Print the reasons whose arguments records of that kind show. A model has the reasons of its exits
 * alone. Return: how many.
 */
static int put_reasons_of(struct output *out, const struct report *report,
			  enum virt_record_kind kind)
{
	const struct virt_model *model = report->load->model;
	int n = 0;

	for (int32_t i = 0; virt_model_reason(model, i); i++) {
		if (virt_reason_record(model, i) != kind)
			continue;
		if (out)
			out_str(out, n ? ", " : "");
		if (out)
			out_text(out, virt_model_reason(model, i));
		n++;
	}
	return n;
}

/** Without which events some causes are unknown. */
static void put_lacks_of_causes(struct output *out, const struct report *report)
{
	const struct virt_model *model = report->load->model;
	uint64_t lacks = exit_cause_lacks(virt_model_recorded(model));
	bool any = false;

	for (int32_t i = 0; virt_model_reason(model, i) && !any; i++)
		any = report_has_causes(report, i);
	for (int i = 0; i < VIRT_RECORD_N_KINDS && any; i++) {
		if (!(lacks & VIRT_RECORD_BIT(i)))
			continue;
		out_str(out, "  note     ");
		out_str(out, virt_record_name(virt_model_hypervisor(model),
					      (enum virt_record_kind)i));
		out_str(out, " was not recorded: what the host did during some exits is unknown; "
			"record it as well\n");
	}
}

static void preface(struct table_writer *to, const struct report *report)
{
	const struct virt_model *model = report->load->model;
	struct output *out = table_as_text(to);

	for (int i = 0; i < VIRT_RECORD_N_KINDS && out && !to->unknown; i++) {
		enum virt_record_kind kind = (enum virt_record_kind)i;
		const char *name = virt_record_name(virt_model_hypervisor(model), kind);

		if (virt_model_has_recorded(model, kind) || !name ||
		    !put_reasons_of(NULL, report, kind))
			continue;
		out_str(out, "  note     ");
		out_str(out, name);
		out_str(out, " was not recorded: what the exits ");
		put_reasons_of(out, report, kind);
		out_str(out, " were for is unknown; record it as well\n");
	}
	if (out && !to->unknown)
		put_lacks_of_causes(out, report);
}

const struct report_page report_arguments = {
	.table = &table, .number = VIRT_NUMBER_EXITS, .rows = arguments_rows,
	.preface = preface, .parts = VIRT_WINDOW_EXITS | VIRT_WINDOW_ARGUMENTS,
};
