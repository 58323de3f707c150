// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_over_time.c
 * @brief	kshark-virt report --over-time: what the pCPUs of a host did, interval by interval.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "host_tasks.h"
#include "report_modes.h"
#include "report_page.h"
#include "report_unknown.h"
#include "text_columns.h"

#define TIME_WIDTH	18

/** All tasks of the host in an interval. */
struct interval {
	int64_t		from_ns, to_ns;
	int64_t		modes_ns[HOST_N_MODES], all_ns;	/* of all pCPUs, idle included */
	int64_t		waiting_ns, waking_ns, uninterruptible_ns;
	uint64_t	switches, migrations, faults;
};

/* --- the table ------------------------------------------------------------------------------- */

/** A mode in text is a share of the time of all pCPUs. */
#define MODE(mode)								\
	{ .key = mode "_ns", .type = TABLE_NS },				\
	{ .type = TABLE_SHARE, .title = mode, .brief = true, .width = TEXT_NUMBER }

static const struct table_column columns[] = {
	{ .key = "from_ns", .type = TABLE_TIME },
	{ .key = "to_ns", .type = TABLE_TIME },
	{ .title = "from", .width = TIME_WIDTH },
	MODE("guest"),
	MODE("user"),
	MODE("syscall"),
	MODE("interrupt"),
	MODE("softirq"),
	MODE("idle"),
	{ .key = "mode_unknown_ns", .type = TABLE_NS },
	{ .type = TABLE_SHARE, .title = "unknown", .brief = true, .width = TEXT_NUMBER },
	{ .key = "switches", .type = TABLE_COUNT, .title = "switches" },
	{ .key = "migrations", .type = TABLE_COUNT, .title = "moves" },
	{ .key = "preempted_ns", .type = TABLE_NS, .title = "preempted" },
	{ .key = "waking_ns", .type = TABLE_NS, .title = "waking" },
	{ .key = "uninterruptible_ns", .type = TABLE_NS, .title = "in D" },
	{ .key = "faults", .type = TABLE_COUNT, .title = "faults" },
};

static const struct table table = {
	.rows = { .key = "intervals", TABLE_COLUMNS(columns), .none = "  no interval\n" },
};

/* --- rows ------------------------------------------------------------------------------------ */

/** Return: 0 or -ENOMEM. */
static int sum_up(struct interval *interval, const struct host_tasks *tasks,
		  const struct virt_model *model)
{
	struct host_task_sums sums;
	int ret = host_task_sums_make(&sums, tasks, model, interval->from_ns, interval->to_ns);

	for (size_t i = 0; i < sums.n && !ret; i++) {
		const struct host_task_sum *sum = &sums.all[i];

		interval->waiting_ns += sum->ns[VIRT_LIFE_PREEMPTED];
		interval->waking_ns += sum->ns[VIRT_LIFE_WAKING];
		interval->uninterruptible_ns += sum->uninterruptible_ns;
		interval->switches += sum->on_pcpus ? sum->on_pcpus->runs : 0;
		interval->migrations += sum->migrations;
		interval->faults += sum->modes ? sum->modes->faults : 0;
		for (int mode = 0; mode < HOST_N_MODES && sum->modes; mode++) {
			interval->modes_ns[mode] += sum->modes->ns[mode];
			interval->all_ns += sum->modes->ns[mode];
		}
	}
	host_task_sums_free(&sums);
	return ret;
}

static struct table_cell known_cell(bool known, int64_t number)
{
	return known ? table_number(number) : table_unknown();
}

static void interval_row(struct table_writer *to, const struct report *report,
			 const struct host_modes *modes, const struct interval *interval)
{
	bool wakes = report_knows(report, VIRT_NUMBER_WAKING);
	struct table_cell cells[ARRAY_SIZE(columns)], mode_cells[HOST_N_MODES];
	int64_t from_ns = interval->from_ns;
	char from[40];
	size_t at = 0;

	snprintf(from, sizeof(from), "%s%lld.%09lld", from_ns < 0 ? "-" : "",
		 llabs(from_ns / 1000000000), llabs(from_ns % 1000000000));
	report_mode_cells(report, modes, interval->modes_ns, mode_cells);
	cells[at++] = table_number(interval->from_ns);
	cells[at++] = table_number(interval->to_ns);
	cells[at++] = table_name(from);
	for (int mode = 0; mode < HOST_N_MODES; mode++) {
		cells[at++] = mode_cells[mode];
		cells[at] = mode_cells[mode];
		cells[at++].whole = interval->all_ns;
	}
	cells[at++] = table_number((int64_t)interval->switches);
	cells[at++] = table_number((int64_t)interval->migrations);
	cells[at++] = table_number(interval->waiting_ns);
	cells[at++] = known_cell(wakes, interval->waking_ns);
	cells[at++] = known_cell(wakes, interval->uninterruptible_ns);
	cells[at++] = known_cell(modes->has_faults, (int64_t)interval->faults);
	table_row(to, cells);
}

static int all_rows(struct table_writer *to, const struct report *report,
		    const struct host_tasks *tasks)
{
	int64_t length_ns = report->to_ns - report->from_ns, n = report->n_intervals;
	int ret = 0;

	for (int64_t i = 0; i < n && !ret; i++) {
		struct interval interval = {
			.from_ns = report->from_ns + (int64_t)((__int128)length_ns * i / n),
			.to_ns = report->from_ns + (int64_t)((__int128)length_ns * (i + 1) / n),
		};

		if (interval.from_ns == interval.to_ns)
			continue;
		ret = sum_up(&interval, tasks, report->load->model);
		if (!ret)
			interval_row(to, report, &tasks->modes, &interval);
	}
	return ret;
}

/** Return: 0 or -ENOMEM. */
static int write_over_time(struct table_writer *to, const struct report *report, bool first)
{
	struct host_tasks tasks = { .tasks.trace = NULL };
	struct kvm_trace *trace = report->load->host.kvm;
	int ret = 0;

	to->unknown |= !trace;
	if (!to->unknown)
		ret = host_tasks_read(&tasks, report->load->model, trace);
	report_modes_text(to, &tasks.modes);
	table_flat(to, first);
	if (!to->unknown && !ret)
		ret = all_rows(to, report, &tasks);
	table_flat_end(to);
	report_modes_json(to, &tasks.modes);
	host_tasks_free(&tasks);
	return ret;
}

const struct report_page report_over_time = {
	.table = &table, .number = VIRT_NUMBER_TASKS, .write = write_over_time,
};
