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

static const struct table_column arguments[] = {
	{ .key = "argument" },
	{ .key = "count", .type = TABLE_COUNT },
	{ .key = "cost", .type = TABLE_DURATIONS },
};

/** Text shows both names in one column; JSON has the arguments of a reason in a list. */
static const struct table_column exits[] = {
	{ .key = "reason" },
	{ .key = "argument", .not_json = true },
	{ .title = "VM exits", .width = NAME_WIDTH },
	{ .key = "count", .type = TABLE_COUNT, .title = "count" },
	{ .type = TABLE_SHARE, .title = "count %" },
	{ .key = "cost", .type = TABLE_DURATIONS, .title = "cost", .shown = COST },
	{ .type = TABLE_SHARE, .title = "cost %" },
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
struct of_whom {
	const struct report	*report;
	const struct virt_window_stats *stats;
	int64_t			ns;	/* cost of all of them */
};

static bool has_argument(const struct report *report, int32_t reason)
{
	return virt_reason_record(report->load->model, reason) != VIRT_RECORD_N_KINDS;
}

/** Was what shows the arguments of a reason recorded? */
static bool is_recorded(const struct report *report, int32_t reason)
{
	return virt_model_has_recorded(report->load->model,
				       virt_reason_record(report->load->model, reason));
}

static const char *argument_name(const struct report *report,
				 const struct virt_window_exit *exit)
{
	const struct virt_argument *argument = virt_model_argument(report->load->model,
								   exit->argument);

	if (argument)
		return argument->name;
	return is_recorded(report, exit->reason) ? "not recorded" : "unknown";
}

static struct table_cell cost_cell(const struct report *report, const struct virt_window_exit *exit)
{
	return report_exit_has_cost(report, &exit->cost) ? table_durations(&exit->cost) :
	       report_exit_no_cost(report, VIRT_NUMBER_EXIT_COST);
}

/** @argument: NULL: all exits of the reason */
static void arguments_row(struct table_writer *to, const struct of_whom *of,
			  const struct virt_window_exit *exit, const char *argument,
			  const struct table_cell *list, size_t n_list)
{
	const struct report *report = of->report;
	const char *reason = report_reason(report, exit->reason);
	char text[EXIT_ARGUMENT_NAME + 2];

	snprintf(text, sizeof(text), "  %s", argument ? argument : "");
	table_row(to, (const struct table_cell[]){
		table_name(reason), table_name(argument), table_name(argument ? text : reason),
		table_number((int64_t)exit->count),
		table_share((int64_t)exit->count, (int64_t)of->stats->exits),
		cost_cell(report, exit),
		report_exit_has_cost(report, &exit->cost) ? table_share(exit->cost.ns, of->ns) :
							    table_absent(),
		has_argument(report, exit->reason) ? table_list(list, n_list) : table_absent(),
	});
}

/** The arguments of a reason, for JSON, to be freed. Return: NULL without memory. */
static struct table_cell *list_of(const struct of_whom *of, int32_t reason, size_t *n)
{
	struct table_cell *list = calloc(of->stats->n_arguments + 1,
					 ARRAY_SIZE(arguments) * sizeof(*list));

	*n = 0;
	for (size_t i = 0; list && i < of->stats->n_arguments; i++) {
		const struct virt_window_exit *exit = &of->stats->arguments[i];
		struct table_cell *cells = &list[*n * ARRAY_SIZE(arguments)];

		if (exit->reason != reason)
			continue;
		cells[0] = table_name(argument_name(of->report, exit));
		cells[1] = table_number((int64_t)exit->count);
		cells[2] = cost_cell(of->report, exit);
		++*n;
	}
	return list;
}

/** A reason, and what its exits were for. Return: 0 or -ENOMEM. */
static int arguments_reason_rows(struct table_writer *to, const struct of_whom *of,
				 const struct virt_window_exit *reason)
{
	size_t n;
	struct table_cell *list = list_of(of, reason->reason, &n);

	if (!list)
		return -ENOMEM;
	arguments_row(to, of, reason, NULL, list, n);
	free(list);
	if (table_is(to, TABLE_JSON) || !has_argument(of->report, reason->reason))
		return 0;
	for (size_t i = 0; i < of->stats->n_arguments; i++)
		if (of->stats->arguments[i].reason == reason->reason)
			arguments_row(to, of, &of->stats->arguments[i],
				      argument_name(of->report, &of->stats->arguments[i]), NULL, 0);
	return 0;
}

/** @vcpu: "all": the machine */
static int arguments_exit_rows(struct table_writer *to, const struct report *report,
			       const struct virt_machine *machine, const char *vcpu,
			       const char *who, const struct virt_window_stats *stats)
{
	struct of_whom of = { .report = report, .stats = stats };
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
}

const struct report_page report_arguments = {
	.table = &table, .number = VIRT_NUMBER_EXITS, .rows = arguments_rows,
	.preface = preface, .parts = VIRT_WINDOW_EXITS | VIRT_WINDOW_ARGUMENTS,
};
