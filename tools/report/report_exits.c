// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_exits.c
 * @brief	The costs of VM exits, and the use of their time.
 */
#include <stdio.h>
#include <string.h>

#include "report_parts.h"
#include "report_unknown.h"
#include "table.h"
#include "text_columns.h"

bool report_exit_has_cost(const struct report *report, const struct virt_dist *cost)
{
	return cost->count && report_knows(report, VIRT_NUMBER_EXIT_COST);
}

/** The statistics of costs in text, in the order of "perf kvm stat". */
static const enum virt_stat shown[] = {
	VIRT_STAT_MIN, VIRT_STAT_MAX, VIRT_STAT_MEAN, VIRT_STAT_P50, VIRT_STAT_P95, VIRT_STAT_P99,
};

enum {
	COST_REASON = 0, COST_SAMPLES, COST_SAMPLES_SHARE, COST_TIME, COST_TIME_SHARE,
	COST_STATISTICS, N_COST = COST_STATISTICS + ARRAY_SIZE(shown)
};

struct table_cell report_exit_no_cost(const struct report *report, enum virt_number number)
{
	struct table_cell cell = table_unknown();

	cell.instead = report_knows(report, number) ? "?" : "-";
	return cell;
}

/** @exits, @ns: of all reasons */
static void cost_row(struct table_writer *to, const struct report *report,
		     const struct virt_window_exit *exit, uint64_t exits, int64_t ns)
{
	const struct virt_dist *cost = &exit->cost;
	bool known = report_exit_has_cost(report, cost);
	struct table_cell cells[N_COST] = {
		[COST_REASON] = table_name(report_reason(report, exit->reason)),
		[COST_SAMPLES] = table_number((int64_t)exit->count),
		[COST_SAMPLES_SHARE] = table_share((int64_t)exit->count, (int64_t)exits),
		[COST_TIME] = known ? table_number(cost->ns) :
			      report_exit_no_cost(report, VIRT_NUMBER_EXIT_COST),
		[COST_TIME_SHARE] = known ? table_share(cost->ns, ns) : table_absent(),
	};

	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		cells[COST_STATISTICS + i] =
			table_optional(known, virt_dist_stat(cost, shown[i]));
	table_row(to, cells);
}

/** As "perf kvm stat" shows them. Its time is longer: it counts what a vCPU sleeps, too. */
static void exit_costs_text(struct output *out, const struct report *report,
			    const struct virt_window_stats *stats)
{
	struct table_column columns[N_COST] = {
		[COST_REASON] = { .title = "VM exits", .width = TEXT_NAME },
		[COST_SAMPLES] = { .title = "samples", .type = TABLE_COUNT },
		[COST_SAMPLES_SHARE] = { .title = "samples %", .type = TABLE_SHARE,
					 .width = TEXT_NUMBER },
		[COST_TIME] = { .title = "time", .type = TABLE_NS },
		[COST_TIME_SHARE] = { .title = "time %", .type = TABLE_SHARE,
				      .width = TEXT_NUMBER },
	};
	const struct table table = { .rows = { TABLE_COLUMNS(columns), .apart = true } };
	struct table_writer to = { .table = &table, .format = &table_text, .out = out };
	int64_t ns = 0;

	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		columns[COST_STATISTICS + i] = (struct table_column){
			.title = "", .type = TABLE_ONE_STAT, .stat = shown[i],
		};
	for (size_t i = 0; i < stats->n_reasons; i++)
		ns += stats->reasons[i].cost.ns;
	table_flat(&to, true);
	for (size_t i = 0; i < stats->n_reasons; i++)
		cost_row(&to, report, &stats->reasons[i], stats->exits, ns);
	table_flat_end(&to);
}

static void part_row(struct table_writer *to, const struct report *report,
		     const struct virt_window_exit *exit)
{
	struct table_cell cells[1 + REPORT_EXIT_N_PARTS] = {
		table_name(report_reason(report, exit->reason)),
	};
	int64_t ns[REPORT_EXIT_N_PARTS];

	report_exit_split(exit, ns);
	for (int part = 0; part < REPORT_EXIT_N_PARTS; part++) {
		bool is_lost = part == REPORT_EXIT_VMM && !report_knows(report, VIRT_NUMBER_VMM);

		cells[1 + part] = !is_lost && report_exit_has_cost(report, &exit->cost) ?
				  table_number(ns[part]) :
				  report_exit_no_cost(report, is_lost ? VIRT_NUMBER_VMM :
					  VIRT_NUMBER_EXIT_COST);
	}
	table_row(to, cells);
}

/** What happened between exit and entry. The device model of Xen runs in another domain. */
static void exit_parts_text(struct output *out, const struct report *report,
			    const struct virt_window_stats *stats)
{
	/* without sched_switch, waits are a part of the handling */
	bool split = !report_is_unsplit(report);
	const char *const names[REPORT_EXIT_N_PARTS] = {
		[REPORT_EXIT_HANDLING] = "handling",
		[REPORT_EXIT_VMM] = report->kvm ? "vmm" : NULL,
		[REPORT_EXIT_WAIT] = !split ? NULL : report->kvm ? "asleep" : "device model",
		[REPORT_EXIT_PREEMPTED] = split ? "preempted" : NULL,
		[REPORT_EXIT_WAKING] = split ? "waking" : NULL,
		[REPORT_EXIT_FREE] = split ? "(no cost)" : NULL,
	};
	struct table_column columns[1 + REPORT_EXIT_N_PARTS] = {
		{ .title = split ? "of which" : "of which, not split", .width = TEXT_NAME },
	};
	const struct table table = { .rows = { TABLE_COLUMNS(columns), .apart = true } };
	struct table_writer to = { .table = &table, .format = &table_text, .out = out };

	for (int part = 0; part < REPORT_EXIT_N_PARTS; part++)
		columns[1 + part] = (struct table_column){
			.title = names[part], .type = TABLE_NS, .width = TEXT_PART,
		};
	table_flat(&to, true);
	for (size_t i = 0; i < stats->n_reasons; i++)
		part_row(&to, report, &stats->reasons[i]);
	table_flat_end(&to);
}

void report_exits_text(struct output *out, const struct report *report,
		       const struct virt_window_stats *stats)
{
	if (!report_knows(report, VIRT_NUMBER_EXITS)) {
		out_char(out, '\n');
		text_name(out, "VM exits");
		text_unknown(out);
		out_char(out, '\n');
		return;
	}
	if (!stats->n_reasons)
		return;
	if (report->kvm) {
		exit_costs_text(out, report, stats);
	} else {
		out_char(out, '\n');
		text_heading(out, "VM exits");
	}
	for (size_t i = 0; i < stats->n_reasons && !report->kvm; i++) {
		const struct virt_window_exit *exit = &stats->reasons[i];
		const struct virt_stretches costs = {
			.ns = exit->cost.ns, .count = exit->count, .whole = exit->cost,
		};

		text_stretches(out, report_reason(report, exit->reason), &costs, stats->known_ns);
	}
	exit_parts_text(out, report, stats);
}

void report_exit_before_text(struct output *out, const struct report *report,
			     const struct virt_window_stats *stats)
{
	if (!stats->exits_before || !report_knows(report, VIRT_NUMBER_EXIT_COST))
		return;
	out_str(out, "\n  when the window begins, ");
	out_sentence(out, "%s has gone on for %s", report_reason(report, stats->before_reason),
		     duration_text(stats->exits_before_ns).text);
	out_char(out, '\n');
}

/** What they cost. CSV has no time if no exit has a cost. */
static void cost_facts(struct facts *to, const struct report *report,
		       const struct virt_dist *cost, const char *reason)
{
	to->unknown = !report_exit_has_cost(report, cost);
	facts_members(to, cost);
	to->unknown = !report_knows(report, VIRT_NUMBER_EXIT_COST);
	facts_count(to, FACT_JSON("complete"), cost->count);
	if (cost->count)
		facts_durations(to, FACT_CSV("exit_cost", reason), cost);
	else
		facts_sum(to, "exit_cost", reason, 0, VIRT_NONE);
}

/** Exits of one reason: all, those with a cost, and what this time went to. */
static void exit_facts(struct facts *to, const struct report *report,
		       const struct virt_window_exit *exit)
{
	const char *reason = report_reason(report, exit->reason);

	facts_open(to, NULL, '{', true);
	facts_name(to, "reason", reason);
	facts_count(to, FACT("count", "exits", reason), exit->count);
	cost_facts(to, report, &exit->cost, reason);
	to->unknown = !report_exit_has_cost(report, &exit->cost);
	if (report_is_unsplit(report))
		facts_flag(to, "unsplit", true);
	report_states_facts(to, report, "exit_", reason, VIRT_HYPERVISOR, VIRT_UNKNOWN,
			    exit->state_ns);
	report_unasked_facts(to, report, reason, exit->unasked_ns, exit->unasked_vmm_ns);
	to->unknown = false;
	facts_close(to, '}');
}

void report_exits_facts(struct facts *to, const struct report *report,
			const struct virt_window_stats *stats)
{
	if (!report_knows(report, VIRT_NUMBER_EXITS)) {
		facts_null(to, "exits");
		to->unknown = true;
		facts_count(to, FACT_CSV("exits", NULL), 0);
		to->unknown = false;
		return;
	}
	facts_open(to, "exits", '[', false);
	for (size_t i = 0; i < stats->n_reasons; i++)
		exit_facts(to, report, &stats->reasons[i]);
	facts_close(to, ']');
}
