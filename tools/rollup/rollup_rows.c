// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	rollup_rows.c
 * @brief	Rows of a trace, interval by interval.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "rollup.h"
#include "virt_needs.h"

struct rows {
	const struct rollup_job	*job;
	struct output		*out;
	struct rollup_row	row;
	struct rollup_exit	*exits;
	struct rollup_steal	*steals;
	struct rollup_loss	*losses;
	size_t			room_exits, room_steals, room_losses;
	struct latency_histogram lengths[VIRT_N_LENGTHS];
};

static void take_length(void *arg, enum virt_length what, int64_t ns)
{
	struct rows *rows = arg;

	if (!rows->row.lengths_unknown[what])
		latency_add(&rows->lengths[what], ns);
}

static int take_exits(struct rows *rows, const struct virt_window_stats *stats)
{
	bool knows_cost = !rows->row.lengths_unknown[VIRT_LENGTH_EXIT];

	if (ARRAY_GROW(rows->exits, stats->n_reasons, rows->room_exits))
		return -ENOMEM;
	for (size_t i = 0; i < stats->n_reasons; i++)
		rows->exits[i] = (struct rollup_exit){
			.reason = report_reason(rows->job->report, stats->reasons[i].reason),
			.count = stats->reasons[i].count,
			.complete = knows_cost ? stats->reasons[i].cost.count : 0,
			.ns = knows_cost ? stats->reasons[i].cost.ns : 0,
		};
	rows->row.exits_unknown = !virt_model_knows(rows->job->report->load->model,
						    VIRT_NUMBER_EXITS);
	rows->row.exits = rows->exits;
	rows->row.n_exits = stats->n_reasons;
	return 0;
}

static int compare_culprits(const void *a, const void *b)
{
	const struct rollup_steal *x = a, *y = b;

	return strcmp(x->culprit, y->culprit);
}

/** Those of one machine together, and tasks of one name: a fleet has no other name for them. */
static int take_steals(struct rows *rows, const struct virt_window_stats *stats)
{
	const struct virt_model *model = rows->job->report->load->model;
	size_t n = 0;

	if (!virt_model_knows(model, VIRT_NUMBER_CULPRITS)) {
		/* the row has the whole steal, so that culprits add up to it */
		if (ARRAY_GROW(rows->steals, 1, rows->room_steals))
			return -ENOMEM;
		rows->steals[0] = (struct rollup_steal){
			.culprit = ROLLUP_UNKNOWN, .ns = stats->states[VIRT_PREEMPTED].ns,
		};
		rows->row.steals = rows->steals;
		rows->row.n_steals = rows->steals[0].ns ? 1 : 0;
		return 0;
	}
	if (ARRAY_GROW(rows->steals, stats->n_culprits, rows->room_steals))
		return -ENOMEM;
	for (size_t i = 0; i < stats->n_culprits; i++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(model, stats->culprits[i].vcpu);

		rows->steals[i] = (struct rollup_steal){
			.culprit = vcpu ? report_machine_name(rows->job->report, vcpu->machine) :
				   report_who(rows->job->report, stats->culprits[i].vcpu),
			.ns = stats->culprits[i].ns,
		};
	}
	if (stats->n_culprits)
		qsort(rows->steals, stats->n_culprits, sizeof(*rows->steals), compare_culprits);
	for (size_t i = 0; i < stats->n_culprits; i++) {
		if (n && !strcmp(rows->steals[n - 1].culprit, rows->steals[i].culprit))
			rows->steals[n - 1].ns += rows->steals[i].ns;
		else
			rows->steals[n++] = rows->steals[i];
	}
	rows->row.steals = rows->steals;
	rows->row.n_steals = n;
	return 0;
}

static int vcpu_row(struct rows *rows, const struct virt_machine *machine, int32_t index)
{
	struct report *report = rows->job->report;
	const struct virt_window_stats *stats;
	struct rollup_row *row = &rows->row;
	int ret;

	for (int i = 0; i < VIRT_N_LENGTHS; i++)
		latency_clear(&rows->lengths[i]);
	stats = virt_window_walk_vcpu(report->walk, index);
	ret = virt_window_walk_error(report->walk);
	if (!ret)
		ret = take_exits(rows, stats);
	if (!ret)
		ret = take_steals(rows, stats);
	if (ret)
		return ret;
	row->machine = report_machine_name(report, virt_model_vcpu(report->load->model,
								   index)->machine);
	row->machine_id = machine->id;
	row->vcpu = virt_model_vcpu(report->load->model, index)->id;
	for (int state = 0; state < VIRT_N_STATES; state++) {
		row->state_unknown[state] = !virt_model_knows_state(report->load->model,
								    (enum virt_state)state);
		row->state_ns[state] = stats->states[state].ns;
		row->state_count[state] = stats->states[state].count;
	}
	row->migrations_unknown = !virt_model_knows(report->load->model,
						    VIRT_NUMBER_MIGRATIONS);
	row->migrations = stats->migrations;
	rows->job->format->row(rows->out, row);
	return 0;
}

/** The row of the host, if it has numbers. */
static int host_row(struct rows *rows)
{
	const struct report *report = rows->job->report;
	struct rollup_row row = rows->row;
	const struct virt_loss_walk_pcpu *lost;

	row.n_losses = virt_loss_walk_window(report->lost, report->from_ns, report->to_ns, &lost);
	if (!row.n_losses)
		return 0;
	if (ARRAY_GROW(rows->losses, row.n_losses, rows->room_losses))
		return -ENOMEM;
	for (size_t i = 0; i < row.n_losses; i++)
		rows->losses[i] = (struct rollup_loss){
			.pcpu = lost[i].pcpu, .ns = lost[i].ns,
			.records = lost[i].sum.uncounted ? VIRT_NONE :
				   (int64_t)lost[i].sum.records,
		};
	for (int i = 0; i < VIRT_N_LENGTHS; i++)
		latency_clear(&rows->lengths[i]);
	row.machine = NULL;
	row.losses = rows->losses;
	rows->job->format->row(rows->out, &row);
	return 0;
}

/** All rows of the window of the report, which is an interval. */
static int interval_rows(struct rows *rows)
{
	struct report *report = rows->job->report;
	const struct virt_model *model = report->load->model;
	int ret = report_window(report, rows->job->vcpus, VIRT_WINDOW_STATES | VIRT_WINDOW_EXITS);

	report->query.length = take_length;
	report->query.arg = rows;
	for (int32_t i = 0; !ret && i < virt_model_n_machines(model); i++) {
		const struct virt_machine *machine = virt_model_machine(model, i);

		for (int32_t j = 0; !ret && j < machine->n_vcpus; j++)
			if (virt_window_walk_wants(report->walk, machine->vcpus[j]))
				ret = vcpu_row(rows, machine, machine->vcpus[j]);
	}
	if (!ret)
		ret = host_row(rows);
	report_free(report);
	return ret;
}

/** Towards the past, also before 1970. */
static int64_t round_down(int64_t ns, int64_t step)
{
	int64_t rest = ns % step;

	return ns - (rest < 0 ? rest + step : rest);
}

static int all_rows(struct rows *rows)
{
	static const enum virt_number numbers[VIRT_N_LENGTHS] = {
		[VIRT_LENGTH_WAKE] = VIRT_NUMBER_WAKING,
		[VIRT_LENGTH_STEAL] = VIRT_NUMBER_PREEMPTED,
		[VIRT_LENGTH_EXIT] = VIRT_NUMBER_EXIT_COST,
	};
	const struct rollup_job *job = rows->job;
	struct report *report = job->report;
	const int64_t to_ns = report->to_ns, zero_ns = job->realtime_ns;
	int ret = 0;

	rows->row = (struct rollup_row){
		.host = job->host, .lengths = rows->lengths,
		.trace_ns = zero_ns + virt_model_begin(report->load->model),
	};
	for (int i = 0; i < VIRT_N_LENGTHS; i++)
		rows->row.lengths_unknown[i] = !virt_model_knows(report->load->model, numbers[i]);
	while (!ret && !rows->out->error && report->from_ns < to_ns) {
		int64_t begin = round_down(zero_ns + report->from_ns, job->interval_ns), end;

		if (__builtin_add_overflow(begin, job->interval_ns, &end) ||
		    end > zero_ns + to_ns)
			end = zero_ns + to_ns;
		report->to_ns = end - zero_ns;
		rows->row.time_ns = begin;
		rows->row.length_ns = report->to_ns - report->from_ns;
		ret = interval_rows(rows);
		report->from_ns = report->to_ns;
	}
	return ret;
}

int rollup_rows(const struct rollup_job *job, struct output *out)
{
	struct rows *rows = calloc(1, sizeof(*rows));
	int ret;

	if (!rows)
		return -ENOMEM;
	rows->job = job;
	rows->out = out;
	ret = all_rows(rows);
	free(rows->exits);
	free(rows->steals);
	free(rows->losses);
	free(rows);
	return ret;
}
