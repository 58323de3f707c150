// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_boot.c
 * @brief	kshark-virt report --boot: phases and levels of guests' boots, and what they cost.
 */
#include <stdio.h>
#include <string.h>

#include "escape.h"
#include "report_section.h"
#include "table.h"
#include "text_columns.h"

/** Exit reasons that a line has room for. */
#define TEXT_REASONS	3

/** Where stages are written, and whose they are. */
struct writer {
	const struct report	*report;
	const struct report_hyper_machine *machine;
	struct table_writer	*table;
	struct facts		*to;
};

static const char *vcpu_name(const struct writer *writer, const struct host_stage *stage)
{
	return report_hyper_vcpu(writer->report, writer->machine, stage->slice->cpu);
}

/* --- text ------------------------------------------------------------------------------------ */

/** The columns; a number that may be larger has a sign in the one after it. */
enum {
	BOOT_NAME = 0, BOOT_VCPU, BOOT_BEGIN, BOOT_TIME, BOOT_NO_END, BOOT_TRUE, BOOT_UNKNOWN,
	BOOT_EXITS, BOOT_COST, BOOT_CALLS, BOOT_SHARE, BOOT_REASONS, BOOT_N_COLUMNS
};

static const struct table_column boot_columns[BOOT_N_COLUMNS] = {
	[BOOT_NAME] = { .width = 27 },	/* its title is the machine */
	[BOOT_VCPU] = { .title = "vCPU", .width = 8 },
	[BOOT_BEGIN] = { .title = "begins at", .type = TABLE_TIME, .width = 15 },
	[BOOT_TIME] = { .title = "time", .type = TABLE_NS },
	[BOOT_NO_END] = { .title = "", .width = 3 },
	[BOOT_TRUE] = { .title = "true time", .type = TABLE_NS },
	[BOOT_UNKNOWN] = { .title = "", .width = 3 },
	[BOOT_EXITS] = { .title = "exits", .type = TABLE_COUNT },
	[BOOT_COST] = { .title = "cost of", .type = TABLE_NS },
	[BOOT_CALLS] = { .title = "tracing", .type = TABLE_COUNT },
	[BOOT_SHARE] = { .title = "share", .type = TABLE_SHARE },
	[BOOT_REASONS] = { .title = "  the costliest reasons" },
};

/** The costliest reasons: "  MSR 12: 3.4 us, ..." */
static void reasons_text(char *text, size_t size, const struct report *report,
			 const struct host_stage *stage)
{
	size_t n = 0;

	*text = '\0';
	for (size_t i = 0; i < stage->n_reasons && i < TEXT_REASONS && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%s %llu: %s", i ? ", " : "  ",
				      report_reason(report, stage->reasons[i].reason),
				      (unsigned long long)stage->reasons[i].count,
				      duration_text(stage->reasons[i].ns).text);
	if (stage->n_reasons > TEXT_REASONS && n < size)
		snprintf(text + n, size - n, ", ...");
}

static struct table_cell more_cell(bool may_be_larger)
{
	return table_name(may_be_larger ? " +?" : "");
}

static void stage_row(void *arg, const struct host_stage *stage)
{
	const struct writer *writer = arg;
	int64_t ns = stage->to_ns - stage->from_ns;
	bool inner = stage->slice->kind != HYPER_PHASE && stage->slice->kind != HYPER_SHUTDOWN;
	char name[80], reasons[1024];

	snprintf(name, sizeof(name), "%s%s", inner ? "  " : "", stage->name);
	reasons_text(reasons, sizeof(reasons), writer->report, stage);
	table_row(writer->table, (const struct table_cell[BOOT_N_COLUMNS]){
		table_name(name), table_name(vcpu_name(writer, stage)),
		table_number(stage->from_ns), table_number(ns),
		more_cell(stage->slice->flags & HYPER_NO_END),
		table_number(stage->true_ns), more_cell(stage->unknown_ns > 0),
		table_number((int64_t)stage->exits), table_number(stage->exits_ns),
		table_number((int64_t)stage->calls), table_share(stage->calls_ns, ns),
		table_name(reasons),
	});
}

static void text(struct output *out, const struct report *report)
{
	const struct report_hypertrace *hypertrace = report->hypertrace;
	struct table_column columns[BOOT_N_COLUMNS];
	const struct table table = { .rows = {
		TABLE_COLUMNS(columns), .apart = true, .titled = true,
		.none = "  it reports no phase and no level\n",
	} };
	struct table_writer to = { .table = &table, .format = &table_text, .out = out };

	memcpy(columns, boot_columns, sizeof(columns));
	for (int32_t m = 0; hypertrace->options->boot && m < hypertrace->n_machines; m++) {
		const struct report_hyper_machine *machine = &hypertrace->machines[m];
		struct writer writer = { .report = report, .machine = machine, .table = &to };

		columns[BOOT_NAME].title = report_hyper_name(report, machine);
		table_flat(&to, true);
		if (host_stages_each(machine->stages, stage_row, &writer) &&
		    host_stages_by_trace(machine->stages))
			out_str(out, "  according to the guest's own trace\n");
		table_flat_end(&to);
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
