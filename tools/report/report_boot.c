// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_boot.c
 * @brief	kshark-virt report --boot: phases and levels of guests' boots, and what they cost.
 */
#include <stdio.h>

#include "escape.h"
#include "report_section.h"
#include "text_columns.h"

/** Exit reasons that a line has room for. */
#define TEXT_REASONS	3

/** Where stages are written, and whose they are. */
struct writer {
	const struct report	*report;
	const struct report_hyper_machine *machine;
	struct output		*out;
	struct facts		*to;
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
			out_str(out, "  according to the guest's own trace\n");
	}
}

/* --- facts ----------------------------------------------------------------------------------- */

static void boot_reason_facts(struct facts *to, const struct report *report,
			      const struct host_stage *stage)
{
	char name[128];

	facts_open(to, "reasons", '[', true);
	for (size_t i = 0; i < stage->n_reasons; i++) {
		const char *reason = report_reason(report, stage->reasons[i].reason);

		text_format(name, sizeof(name), "%s: %s", stage->name, reason);
		facts_open(to, NULL, '{', true);
		facts_name(to, "reason", reason);
		facts_count(to, FACT_JSON("count"), stage->reasons[i].count);
		facts_number(to, "total_ns", stage->reasons[i].ns);
		facts_sum(to, "boot_exit", name, stage->reasons[i].count, stage->reasons[i].ns);
		facts_close(to, '}');
	}
	facts_close(to, ']');
}

/** How long it lasted, as far as the trace shows its end; CSV has this instead of its end. */
static void stage_times(struct facts *to, const struct host_stage *stage)
{
	const char *name = stage->name;
	bool no_end = stage->slice->flags & HYPER_NO_END;

	facts_ns(to, FACT("from_ns", "boot_begin", name), stage->from_ns);
	facts_number(to, "to_ns", stage->to_ns);
	facts_ns(to, FACT_CSV(no_end ? "boot_at_least" : "boot", name),
		 stage->to_ns - stage->from_ns);
	facts_flag(to, "end_known", !no_end);
	facts_ns(to, FACT("true_ns", "boot_true", name), stage->true_ns);
	facts_part(to, FACT("unknown_ns", "boot_unknown", name), stage->unknown_ns);
}

static void boot_stage_facts(void *arg, const struct host_stage *stage)
{
	const struct writer *writer = arg;
	struct facts *to = writer->to;

	to->vcpu = vcpu_name(writer, stage);
	facts_open(to, NULL, '{', true);
	facts_name(to, "kind", hyper_kind_name((enum hyper_kind)stage->slice->kind));
	facts_name(to, "name", stage->name);
	if (stage->slice->kind != HYPER_PHASE && to->json)
		json_u64(to->json, "number", stage->slice->what);
	facts_name(to, "vcpu", to->vcpu);
	stage_times(to, stage);
	facts_count(to, FACT_JSON("exits"), stage->exits);
	facts_number(to, "exits_ns", stage->exits_ns);
	facts_sum(to, "boot_exits", stage->name, stage->exits, stage->exits_ns);
	facts_count(to, FACT_JSON("tracing_calls"), stage->calls);
	facts_number(to, "tracing_ns", stage->calls_ns);
	facts_sum(to, "boot_tracing", stage->name, stage->calls, stage->calls_ns);
	boot_reason_facts(to, writer->report, stage);
	facts_close(to, '}');
	to->vcpu = NULL;
}

static void boot_facts(struct facts *to, const struct report *report)
{
	const struct report_hypertrace *hypertrace = report->hypertrace;

	if (!hypertrace->options->boot)
		return;
	facts_open(to, "boot", '[', false);
	for (int32_t m = 0; m < hypertrace->n_machines; m++) {
		const struct report_hyper_machine *machine = &hypertrace->machines[m];
		struct writer writer = { .report = report, .machine = machine, .to = to };

		to->machine = report_hyper_name(report, machine);
		facts_open(to, NULL, '{', false);
		facts_name(to, "machine", to->machine);
		facts_name(to, "source", host_stages_by_trace(machine->stages) ?
			   "trace" : "hypercalls");
		facts_open(to, "stages", '[', false);
		host_stages_each(machine->stages, boot_stage_facts, &writer);
		facts_close(to, ']');
		facts_close(to, '}');
	}
	to->machine = NULL;
	facts_close(to, ']');
}

const struct report_section report_boot = { .text = text, .facts = boot_facts };
