// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_boot.c
 * @brief	kshark-virt report --boot: phases and levels of guests' boots, and what they cost.
 */
#include <stdio.h>

#include "escape.h"
#include "report_csv.h"
#include "report_section.h"
#include "text_columns.h"

/** Exit reasons that a line has room for. */
#define TEXT_REASONS	3

/** Where stages are written, and whose they are. */
struct writer {
	const struct report	*report;
	const struct report_hyper_machine *machine;
	struct output		*out;
	struct json		*json;
};

static const char *vcpu_name(const struct writer *writer, const struct host_stage *stage)
{
	return report_hyper_vcpu(writer->report, writer->machine, stage->slice->cpu);
}

/* --- text ------------------------------------------------------------------------------------ */

static void text_reasons(struct output *out, const struct report *report,
			 const struct host_stage *stage)
{
	char cost[32];

	for (size_t i = 0; i < stage->n_reasons && i < TEXT_REASONS; i++) {
		format_duration(cost, sizeof(cost), stage->reasons[i].ns);
		out_str(out, i ? ", " : "  ");
		out_text(out, report_reason(report, stage->reasons[i].reason));
		out_printf(out, " %llu: %s", (unsigned long long)stage->reasons[i].count, cost);
	}
	if (stage->n_reasons > TEXT_REASONS)
		out_str(out, ", ...");
}

static void text_stage(void *arg, const struct host_stage *stage)
{
	const struct writer *writer = arg;
	struct output *out = writer->out;
	int64_t ns = stage->to_ns - stage->from_ns;
	bool inner = stage->slice->kind != HYPER_PHASE && stage->slice->kind != HYPER_SHUTDOWN;
	char name[80];

	snprintf(name, sizeof(name), "%s%s", inner ? "  " : "", stage->name);
	out_str(out, "  ");
	out_text_left(out, name, 26);
	out_char(out, ' ');
	out_text_left(out, vcpu_name(writer, stage), 8);
	out_ns(out, stage->from_ns, 16);
	text_duration(out, ns);
	text_more(out, stage->slice->flags & HYPER_NO_END);
	text_duration(out, stage->true_ns);
	text_more(out, stage->unknown_ns > 0);
	text_count(out, stage->exits);
	text_duration(out, stage->exits_ns);
	text_count(out, stage->calls);
	text_share(out, stage->calls_ns, ns, TEXT_SHARE);
	text_reasons(out, writer->report, stage);
	out_char(out, '\n');
}

static void text_heading_of(struct output *out, const char *machine)
{
	static const char *const columns[] = { "exits", "cost of", "tracing" };

	out_str(out, "\n  ");
	out_text_left(out, machine, 26);
	out_str(out, " vCPU          begins at");
	text_right(out, "time", TEXT_NUMBER);
	text_more(out, false);
	text_right(out, "true time", TEXT_NUMBER);
	text_more(out, false);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		text_right(out, columns[i], TEXT_NUMBER);
	text_right(out, "share", TEXT_SHARE);
	out_str(out, "  the costliest reasons\n");
}

static void text(struct output *out, const struct report *report)
{
	const struct report_hypertrace *hypertrace = report->hypertrace;

	for (int32_t m = 0; hypertrace->options->boot && m < hypertrace->n_machines; m++) {
		const struct report_hyper_machine *machine = &hypertrace->machines[m];
		struct writer writer = { .report = report, .machine = machine, .out = out };

		text_heading_of(out, report_hyper_name(report, machine));
		if (!host_stages_each(machine->stages, text_stage, &writer))
			out_str(out, "  it reports no phase and no level\n");
		else if (host_stages_by_trace(machine->stages))
			out_str(out, "  as the guest's own trace tells it\n");
	}
}

/* --- JSON and CSV ---------------------------------------------------------------------------- */

static void json_stage(void *arg, const struct host_stage *stage)
{
	const struct writer *writer = arg;
	struct json *json = writer->json;

	json_open(json, NULL, '{', true);
	json_str(json, "kind", hyper_kind_name((enum hyper_kind)stage->slice->kind));
	json_str(json, "name", stage->name);
	if (stage->slice->kind != HYPER_PHASE)
		json_u64(json, "number", stage->slice->what);
	json_str(json, "vcpu", vcpu_name(writer, stage));
	json_i64(json, "from_ns", stage->from_ns);
	json_i64(json, "to_ns", stage->to_ns);
	json_bool(json, "end_known", !(stage->slice->flags & HYPER_NO_END));
	json_i64(json, "true_ns", stage->true_ns);
	json_i64(json, "unknown_ns", stage->unknown_ns);
	json_u64(json, "exits", stage->exits);
	json_i64(json, "exits_ns", stage->exits_ns);
	json_u64(json, "tracing_calls", stage->calls);
	json_i64(json, "tracing_ns", stage->calls_ns);
	json_open(json, "reasons", '[', true);
	for (size_t i = 0; i < stage->n_reasons; i++) {
		json_open(json, NULL, '{', true);
		json_str(json, "reason", report_reason(writer->report, stage->reasons[i].reason));
		json_u64(json, "count", stage->reasons[i].count);
		json_i64(json, "total_ns", stage->reasons[i].ns);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

static void json(struct json *json, const struct report *report)
{
	const struct report_hypertrace *hypertrace = report->hypertrace;

	if (!hypertrace->options->boot)
		return;
	json_open(json, "boot", '[', false);
	for (int32_t m = 0; m < hypertrace->n_machines; m++) {
		const struct report_hyper_machine *machine = &hypertrace->machines[m];
		struct writer writer = { .report = report, .machine = machine, .json = json };

		json_open(json, NULL, '{', false);
		json_str(json, "machine", report_hyper_name(report, machine));
		json_str(json, "told_by", host_stages_by_trace(machine->stages) ?
			 "trace" : "hypercalls");
		json_open(json, "stages", '[', false);
		host_stages_each(machine->stages, json_stage, &writer);
		json_close(json, ']');
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void csv_stage(void *arg, const struct host_stage *stage)
{
	const struct writer *writer = arg;
	const struct report *report = writer->report;
	struct output *out = writer->out;
	const struct csv_row row = {
		.machine = report_hyper_name(report, writer->machine),
		.vcpu = vcpu_name(writer, stage),
	};
	int64_t ns = stage->to_ns - stage->from_ns;
	char name[128];

	csv_time(out, report, &row, "boot_begin", stage->name, stage->from_ns);
	csv_time(out, report, &row, stage->slice->flags & HYPER_NO_END ? "boot_at_least" : "boot",
		 stage->name, ns);
	csv_time(out, report, &row, "boot_true", stage->name, stage->true_ns);
	if (stage->unknown_ns)
		csv_time(out, report, &row, "boot_unknown", stage->name, stage->unknown_ns);
	csv_row(out, report, &(struct csv_row){
		.section = "boot_exits", .machine = row.machine, .vcpu = row.vcpu,
		.name = stage->name, .count = &stage->exits, .ns = &stage->exits_ns });
	csv_row(out, report, &(struct csv_row){
		.section = "boot_tracing", .machine = row.machine, .vcpu = row.vcpu,
		.name = stage->name, .count = &stage->calls, .ns = &stage->calls_ns });
	for (size_t i = 0; i < stage->n_reasons; i++) {
		text_format(name, sizeof(name), "%s: %s", stage->name,
			    report_reason(report, stage->reasons[i].reason));
		csv_row(out, report, &(struct csv_row){
			.section = "boot_exit", .machine = row.machine, .vcpu = row.vcpu,
			.name = name, .count = &stage->reasons[i].count,
			.ns = &stage->reasons[i].ns });
	}
}

static void csv(struct output *out, const struct report *report)
{
	const struct report_hypertrace *hypertrace = report->hypertrace;

	for (int32_t m = 0; hypertrace->options->boot && m < hypertrace->n_machines; m++) {
		const struct report_hyper_machine *machine = &hypertrace->machines[m];
		struct writer writer = { .report = report, .machine = machine, .out = out };

		host_stages_each(machine->stages, csv_stage, &writer);
	}
}

const struct report_section report_boot = { .text = text, .json = json, .csv = csv };
