// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_exits.c
 * @brief	What VM exits cost, and what their time went to.
 */
#include <stdio.h>
#include <string.h>

#include "json_durations.h"
#include "report_csv.h"
#include "report_parts.h"
#include "report_unknown.h"
#include "text_columns.h"

/** What an exit has cost can be known: it has an entry, and both have records. */
static bool has_cost(const struct report *report, const struct virt_dist *cost)
{
	return cost->count && report_knows(report, VIRT_NUMBER_EXIT_COST);
}

/** As "perf kvm stat" shows them. Its time is longer: it counts what a vCPU sleeps, too. */
static void put_exit_costs(struct output *out, const struct report *report,
			   const struct virt_window_stats *stats)
{
	static const char *const columns[] = {
		"samples", "samples %", "time", "time %", "min", "max", "mean", "p50", "p95", "p99"
	};
	int64_t ns = 0;

	for (size_t i = 0; i < stats->n_reasons; i++)
		ns += stats->reasons[i].cost.ns;
	out_char(out, '\n');
	text_name(out, "VM exits");
	text_columns(out, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < stats->n_reasons; i++) {
		const struct virt_window_exit *exit = &stats->reasons[i];
		const struct virt_dist *cost = &exit->cost;

		text_name(out, report_reason(report, exit->reason));
		text_count(out, exit->count);
		text_share(out, (int64_t)exit->count, (int64_t)stats->exits, TEXT_NUMBER);
		if (!report_knows(report, VIRT_NUMBER_EXIT_COST))
			text_unknown(out);
		else if (!cost->count)
			text_right(out, "?", TEXT_NUMBER);
		if (has_cost(report, cost)) {
			text_duration(out, cost->ns);
			text_share(out, cost->ns, ns, TEXT_NUMBER);
			text_duration(out, cost->min);
			text_duration(out, cost->max);
			text_duration(out, virt_mean(cost->ns, cost->count));
			text_duration(out, cost->p50);
			text_duration(out, cost->p95);
			text_duration(out, cost->p99);
		}
		out_char(out, '\n');
	}
}

/** What happened between exit and entry. The device model of Xen runs in another domain. */
static void put_exit_parts(struct output *out, const struct report *report,
			   const struct virt_window_stats *stats)
{
	/* waits are not told apart then */
	bool split = !report_is_unsplit(report);
	const char *const names[REPORT_EXIT_N_PARTS] = {
		[REPORT_EXIT_HANDLING] = "handling",
		[REPORT_EXIT_VMM] = report->kvm ? "vmm" : NULL,
		[REPORT_EXIT_WAIT] = !split ? NULL : report->kvm ? "asleep" : "device model",
		[REPORT_EXIT_PREEMPTED] = split ? "preempted" : NULL,
		[REPORT_EXIT_WAKING] = split ? "waking" : NULL,
		[REPORT_EXIT_FREE] = split ? "(no cost)" : NULL,
	};
	int64_t ns[REPORT_EXIT_N_PARTS];

	out_char(out, '\n');
	text_name(out, split ? "of which" : "of which, not split");
	for (int part = 0; part < REPORT_EXIT_N_PARTS; part++)
		if (names[part])
			text_right(out, names[part], TEXT_PART);
	out_char(out, '\n');
	for (size_t i = 0; i < stats->n_reasons; i++) {
		text_name(out, report_reason(report, stats->reasons[i].reason));
		report_exit_split(&stats->reasons[i], ns);
		for (int part = 0; part < REPORT_EXIT_N_PARTS; part++) {
			char text[32];

			if (!names[part])
				continue;
			strcpy(text, report_knows(report, VIRT_NUMBER_EXIT_COST) ? "?" : "-");
			if (part == REPORT_EXIT_VMM && !report_knows(report, VIRT_NUMBER_VMM))
				strcpy(text, "-");
			else if (has_cost(report, &stats->reasons[i].cost))
				format_duration(text, sizeof(text), ns[part]);
			text_right(out, text, TEXT_PART);
		}
		out_char(out, '\n');
	}
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
		put_exit_costs(out, report, stats);
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
	put_exit_parts(out, report, stats);
}

void report_exit_before_text(struct output *out, const struct report *report,
			     const struct virt_window_stats *stats)
{
	char text[32];

	if (!stats->exits_before || !report_knows(report, VIRT_NUMBER_EXIT_COST))
		return;
	format_duration(text, sizeof(text), stats->exits_before_ns);
	out_str(out, "\n  when the window begins, ");
	out_str(out, report_reason(report, stats->before_reason));
	out_str(out, " has gone on for ");
	out_str(out, text);
	out_char(out, '\n');
}

void report_exits_json(struct json *json, const struct report *report,
		       const struct virt_window_stats *stats)
{
	unsigned int in = virt_model_includes(report->load->model, VIRT_HYPERVISOR);
	char names[VIRT_STATE_NAMES];

	if (!report_knows(report, VIRT_NUMBER_EXITS)) {
		json_null(json, "exits");
		return;
	}
	json_open(json, "exits", '[', false);
	for (size_t i = 0; i < stats->n_reasons; i++) {
		const struct virt_window_exit *exit = &stats->reasons[i];

		json_open(json, NULL, '{', true);
		json_str(json, "reason", report_reason(report, exit->reason));
		json_u64(json, "count", exit->count);
		json->unknown = !report_knows(report, VIRT_NUMBER_EXIT_COST);
		json_i64(json, "total_ns", exit->cost.ns);
		json_dist(json, &exit->cost);
		json_u64(json, "complete", exit->cost.count);
		if (report_is_unsplit(report))
			json_bool(json, "unsplit", true);
		if (json->unknown) {
			json_null(json, "states_ns");
			json->unknown = false;
			json_close(json, '}');
			continue;
		}
		json_open(json, "states_ns", '{', true);
		for (int state = VIRT_HYPERVISOR; state < VIRT_UNKNOWN; state++) {
			if (exit->state_ns[state])
				json_i64(json, virt_state_name((enum virt_state)state),
					 exit->state_ns[state]);
		}
		if (in)
			json_str(json, "includes",
				 virt_state_names(in, "+", names, sizeof(names)));
		if (in & 1U << VIRT_VMM)
			json_null(json, virt_state_name(VIRT_VMM));
		json_close(json, '}');
		if (exit->unasked_ns)
			json_i64(json, "unasked_ns", exit->unasked_ns);
		if (!report_knows(report, VIRT_NUMBER_VMM) && report->kvm)
			json_null(json, "unasked_vmm_ns");
		else if (exit->unasked_vmm_ns)
			json_i64(json, "unasked_vmm_ns", exit->unasked_vmm_ns);
		json_close(json, '}');
	}
	json_close(json, ']');
}

/** Exits of one reason: all, those with a cost, and what this time went to. */
static void csv_exit(struct output *out, const struct report *report, const struct csv_row *row,
		     const struct virt_window_exit *exit)
{
	const char *reason = report_reason(report, exit->reason);
	struct csv_row cost = *row;
	char section[32];

	csv_count(out, report, row, "exits", reason, exit->count);
	cost.unknown = !report_knows(report, VIRT_NUMBER_EXIT_COST);
	cost.section = "exit_cost";
	cost.name = reason;
	cost.count = &exit->cost.count;
	cost.ns = &exit->cost.ns;
	cost.dist = &exit->cost;
	csv_row(out, report, &cost);
	if (cost.unknown)
		return;
	for (int state = VIRT_HYPERVISOR; state < VIRT_UNKNOWN; state++) {
		snprintf(section, sizeof(section), "exit_%s",
			 virt_state_name((enum virt_state)state));
		if (exit->state_ns[state])
			csv_time(out, report, row, section, reason, exit->state_ns[state]);
	}
	if (exit->unasked_ns)
		csv_time(out, report, row, "exit_unasked", reason, exit->unasked_ns);
	if (exit->unasked_vmm_ns)
		csv_time(out, report, row, "exit_unasked_vmm", reason, exit->unasked_vmm_ns);
}

void report_exits_csv(struct output *out, const struct report *report, const struct csv_row *row,
		      const struct virt_window_stats *stats)
{
	struct csv_row unknown = *row;

	if (!report_knows(report, VIRT_NUMBER_EXITS)) {
		unknown.unknown = true;
		csv_count(out, report, &unknown, "exits", NULL, 0);
		return;
	}
	for (size_t i = 0; i < stats->n_reasons; i++)
		csv_exit(out, report, row, &stats->reasons[i]);
}
