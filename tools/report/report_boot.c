// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_boot.c
 * @brief	kshark-virt report --boot: phases and levels of guests' boots, and what they cost.
 */
#include <stdio.h>
#include <stdlib.h>

#include "escape.h"
#include "report_csv.h"
#include "report_section.h"
#include "report_text.h"
#include "search.h"

/** Exit reasons that a line has room for, and that are told at all. */
#define TEXT_REASONS	3
#define MAX_REASONS	64

/** Who tells of a boot: hypercalls, or the guest's own trace. */
struct teller {
	const struct hyper_guest *guest;	/* or NULL */
	const struct hyper_dialect *dialect;
};

/** A line: a phase, a level, what goes on within one. */
struct stage {
	const struct hyper_slice *slice;
	char		name[64];
	int64_t		from_ns, to_ns;	/* within the window */
	int64_t		true_ns;	/* that the vCPU executed its guest */
	uint64_t	exits;		/* of the vCPU, that begin in it */
	int64_t		exits_ns;	/* what they cost */
	struct virt_exit_total reasons[MAX_REASONS]; /* costliest first */
	size_t		n_reasons;
	uint64_t	calls;		/* hypercalls of the vCPU, KVM's own left out, */
	int64_t		calls_ns;	/* and what their exits cost */
};

/* --- what is told ---------------------------------------------------------------------------- */

static bool is_stage(const struct report *report, const struct hyper_slice *slice)
{
	return (slice->kind == HYPER_PHASE || slice->kind == HYPER_LEVEL ||
		slice->kind == HYPER_SHUTDOWN || slice->kind == HYPER_INITCALL ||
		slice->kind == HYPER_DEVICE || slice->kind == HYPER_NOTIFIER) &&
	       slice->start_ns < report->to_ns && slice->end_ns >= report->from_ns;
}

static void name_stage(struct stage *stage, const struct report *report,
		       const struct teller *teller)
{
	const struct hyper_slice *slice = stage->slice;
	const char *number = hyper_number_name(teller->dialect, (enum hyper_kind)slice->kind,
					       (int32_t)slice->what);
	const char *name = hyper_guest_name(teller->guest, slice->name);

	if (!name && slice->kind == HYPER_INITCALL)
		name = hyper_symbols_name(report->hypertrace->options->symbols, slice->what, NULL);
	if (name || slice->kind == HYPER_PHASE)
		text_format(stage->name, sizeof(stage->name), "%s", name ? name : slice->label);
	else if (number)
		text_format(stage->name, sizeof(stage->name), "%s", number);
	else
		text_format(stage->name, sizeof(stage->name),
			    slice->what > UINT32_MAX ? "%s 0x%llx" : "%s %llu",
			    hyper_kind_name((enum hyper_kind)slice->kind),
			    (unsigned long long)slice->what);
}

/** What the exit of a hypercall costs: from the exit before it to the entry behind it. */
static int64_t call_cost(const struct virt_model *model, int32_t vcpu,
			 const struct hyper_call *call)
{
	const struct virt_interval *interval;
	struct virt_exit exit;

	if (call->cost_ns >= 0)
		return call->cost_ns;
	interval = virt_vcpu_at(model, vcpu, call->time_ns, NULL);
	if (!interval || !(interval->flags & VIRT_INTERVAL_EXIT) ||
	    !virt_vcpu_next_exit(model, vcpu, interval->start_ns, &exit) || !exit.complete)
		return 0;
	return exit.cost_ns;
}

static void count_calls(struct stage *stage, const struct report *report, int32_t vcpu)
{
	const struct virt_model *model = report->load->model;
	size_t n, i;
	const struct hyper_call *calls = host_hypercalls_of(&report->hypertrace->calls,
		virt_model_vcpu(model, vcpu)->host_pid, &n);

	SEARCH_FIRST(i, 0, n, calls[i].time_ns < stage->from_ns);
	for (; i < n && calls[i].time_ns < stage->to_ns; i++) {
		if (calls[i].source != HYPER_XEN && hyper_kvm_number(calls[i].nr))
			continue;
		stage->calls++;
		stage->calls_ns += call_cost(model, vcpu, &calls[i]);
	}
}

static void make_stage(struct stage *stage, const struct report *report,
		       const struct report_hyper_machine *machine, const struct teller *teller,
		       const struct hyper_slice *slice)
{
	const struct virt_model *model = report->load->model;
	int32_t vcpu = host_hypertrace_vcpu(report->hypertrace->trace, machine->info->machine,
					    slice->cpu);
	struct virt_totals totals;

	*stage = (struct stage){
		.slice = slice,
		.from_ns = slice->start_ns > report->from_ns ? slice->start_ns : report->from_ns,
		.to_ns = slice->end_ns < report->to_ns ? slice->end_ns : report->to_ns,
	};
	name_stage(stage, report, teller);
	virt_vcpu_totals(model, vcpu, stage->from_ns, stage->to_ns, &totals);
	stage->true_ns = totals.ns[VIRT_GUEST];
	stage->n_reasons = virt_vcpu_exits(model, vcpu, stage->from_ns, stage->to_ns,
					   stage->reasons, MAX_REASONS);
	if (stage->n_reasons > MAX_REASONS)
		stage->n_reasons = MAX_REASONS;
	for (size_t i = 0; i < stage->n_reasons; i++) {
		stage->exits += stage->reasons[i].count;
		stage->exits_ns += stage->reasons[i].ns;
	}
	count_calls(stage, report, vcpu);
}

/** Hypercalls, unless only the guest's own trace tells something. */
static struct teller find_teller(const struct report *report,
				 const struct report_hyper_machine *machine)
{
	struct teller teller = { machine->info->guest, machine->info->dialect };
	const struct hyper_slice *slices;
	size_t i = 0, n = 0;

	if (!machine->boot)
		return teller;
	slices = teller.guest ? hyper_guest_slices(teller.guest, &n) : NULL;
	while (i < n && !is_stage(report, &slices[i]))
		i++;
	return i < n ? teller : (struct teller){ machine->boot, &hyper_tracepoints };
}

static bool is_by_trace(const struct report *report, const struct report_hyper_machine *machine)
{
	return machine->boot && find_teller(report, machine).guest == machine->boot;
}

/** Each stage of a machine's boot, in order of time. Return: how many. */
static size_t each_stage(const struct report *report, const struct report_hyper_machine *machine,
			 void (*take)(void *arg, const struct report *report,
				      const struct report_hyper_machine *machine,
				      const struct stage *stage), void *arg)
{
	const struct teller teller = find_teller(report, machine);
	const struct hyper_slice *slices = NULL;
	struct stage stage;
	size_t n = 0, told = 0;

	if (teller.guest)
		slices = hyper_guest_slices(teller.guest, &n);
	for (size_t i = 0; i < n; i++) {
		if (!is_stage(report, &slices[i]))
			continue;
		make_stage(&stage, report, machine, &teller, &slices[i]);
		take(arg, report, machine, &stage);
		told++;
	}
	return told;
}

/* --- text ------------------------------------------------------------------------------------ */

static void text_reasons(struct output *out, const struct report *report, const struct stage *stage)
{
	char cost[32];

	for (size_t i = 0; i < stage->n_reasons && i < TEXT_REASONS; i++) {
		report_duration(cost, sizeof(cost), stage->reasons[i].ns);
		out_str(out, i ? ", " : "  ");
		out_text(out, report_reason(report, stage->reasons[i].reason));
		out_printf(out, " %llu: %s", (unsigned long long)stage->reasons[i].count, cost);
	}
	if (stage->n_reasons > TEXT_REASONS)
		out_str(out, ", ...");
}

static void text_stage(void *arg, const struct report *report,
		       const struct report_hyper_machine *machine, const struct stage *stage)
{
	struct output *out = arg;
	int64_t ns = stage->to_ns - stage->from_ns;
	bool inner = stage->slice->kind != HYPER_PHASE && stage->slice->kind != HYPER_SHUTDOWN;
	char name[80];

	snprintf(name, sizeof(name), "%s%s", inner ? "  " : "", stage->name);
	out_str(out, "  ");
	out_text_left(out, name, 26);
	out_char(out, ' ');
	out_text_left(out, report_hyper_vcpu(report, machine, stage->slice->cpu), 8);
	out_ns(out, stage->from_ns, 16);
	text_duration(out, ns);
	if (stage->slice->flags & HYPER_NO_END)
		out_str(out, " +?");
	else
		out_str(out, "   ");
	text_duration(out, stage->true_ns);
	text_count(out, stage->exits);
	text_duration(out, stage->exits_ns);
	text_count(out, stage->calls);
	text_share(out, stage->calls_ns, ns, TEXT_SHARE);
	text_reasons(out, report, stage);
	out_char(out, '\n');
}

static void text_heading_of(struct output *out, const char *machine)
{
	static const char *const columns[] = { "true time", "exits", "cost of", "tracing" };

	out_str(out, "\n  ");
	out_text_left(out, machine, 26);
	out_str(out, " vCPU          begins at");
	text_right(out, "time", TEXT_NUMBER);
	out_str(out, "   ");
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

		text_heading_of(out, report_hyper_name(report, machine));
		if (!each_stage(report, machine, text_stage, out))
			out_str(out, "  it tells of no phase and no level\n");
		else if (is_by_trace(report, machine))
			out_str(out, "  as the guest's own trace tells it\n");
	}
}

/* --- JSON and CSV ---------------------------------------------------------------------------- */

static void json_stage(void *arg, const struct report *report,
		       const struct report_hyper_machine *machine, const struct stage *stage)
{
	struct json *json = arg;

	json_open(json, NULL, '{', true);
	json_str(json, "kind", hyper_kind_name((enum hyper_kind)stage->slice->kind));
	json_str(json, "name", stage->name);
	if (stage->slice->kind != HYPER_PHASE)
		json_u64(json, "number", stage->slice->what);
	json_str(json, "vcpu", report_hyper_vcpu(report, machine, stage->slice->cpu));
	json_i64(json, "from_ns", stage->from_ns);
	json_i64(json, "to_ns", stage->to_ns);
	json_bool(json, "end_known", !(stage->slice->flags & HYPER_NO_END));
	json_i64(json, "true_ns", stage->true_ns);
	json_u64(json, "exits", stage->exits);
	json_i64(json, "exits_ns", stage->exits_ns);
	json_u64(json, "tracing_calls", stage->calls);
	json_i64(json, "tracing_ns", stage->calls_ns);
	json_open(json, "reasons", '[', true);
	for (size_t i = 0; i < stage->n_reasons; i++) {
		json_open(json, NULL, '{', true);
		json_str(json, "reason", report_reason(report, stage->reasons[i].reason));
		json_u64(json, "count", stage->reasons[i].count);
		json_i64(json, "ns", stage->reasons[i].ns);
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
		json_open(json, NULL, '{', false);
		json_str(json, "machine", report_hyper_name(report, &hypertrace->machines[m]));
		json_str(json, "told_by", is_by_trace(report, &hypertrace->machines[m]) ?
			 "trace" : "hypercalls");
		json_open(json, "stages", '[', false);
		each_stage(report, &hypertrace->machines[m], json_stage, json);
		json_close(json, ']');
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void csv_stage(void *arg, const struct report *report,
		      const struct report_hyper_machine *machine, const struct stage *stage)
{
	struct output *out = arg;
	const struct csv_row row = {
		.machine = report_hyper_name(report, machine),
		.vcpu = report_hyper_vcpu(report, machine, stage->slice->cpu),
	};
	int64_t ns = stage->to_ns - stage->from_ns;
	char name[128];

	csv_time(out, report, &row, "boot_begin", stage->name, stage->from_ns);
	csv_time(out, report, &row, stage->slice->flags & HYPER_NO_END ? "boot_at_least" : "boot",
		 stage->name, ns);
	csv_time(out, report, &row, "boot_true", stage->name, stage->true_ns);
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

	for (int32_t m = 0; hypertrace->options->boot && m < hypertrace->n_machines; m++)
		each_stage(report, &hypertrace->machines[m], csv_stage, out);
}

const struct report_section report_boot = { .text = text, .json = json, .csv = csv };
