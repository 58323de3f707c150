// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_summary_rows.c
 * @brief	The few numbers of each vCPU that a summary of a trace shows.
 */
#include <errno.h>
#include <stdlib.h>

#include "report_summary.h"
#include "report_unknown.h"

const char *const report_summary_columns[] = {
	[SUMMARY_STEAL] = "steal", [SUMMARY_WAITING] = "waiting", [SUMMARY_GUEST] = "guest",
	[SUMMARY_HYPERVISOR] = "hypervisor", [SUMMARY_BLOCKED] = "blocked",
	[SUMMARY_EXITS] = "exits", [SUMMARY_MIGRATIONS] = "migrations", [SUMMARY_VCPU] = "vcpu",
	[SUMMARY_N_COLUMNS] = NULL
};

/** What is shown of the waits for a pCPU. */
#define WAIT_STAT	VIRT_STAT_P99

const struct table_column report_summary_measures[SUMMARY_VCPU] = {
	[SUMMARY_STEAL] = { .title = "steal", .type = TABLE_SHARE, .brief = true, .width = 7 },
	[SUMMARY_WAITING] = { .title = "wait", .type = TABLE_ONE_STAT, .stat = WAIT_STAT,
			      .width = 8 },
	[SUMMARY_GUEST] = { .title = "guest", .type = TABLE_SHARE, .brief = true, .width = 7 },
	[SUMMARY_HYPERVISOR] = { .title = "hypervisor", .type = TABLE_SHARE, .brief = true,
				 .width = 10 },
	[SUMMARY_BLOCKED] = { .title = "blocked", .type = TABLE_SHARE, .brief = true, .width = 7 },
	[SUMMARY_EXITS] = { .title = "exits/s", .type = TABLE_PER_SECOND, .width = 7 },
	[SUMMARY_MIGRATIONS] = { .title = "migrations", .type = TABLE_COUNT, .width = 10 },
};

/** The states of the columns that are shares of time. */
static const int states[SUMMARY_N_COLUMNS] = {
	[SUMMARY_STEAL] = VIRT_PREEMPTED, [SUMMARY_GUEST] = VIRT_GUEST,
	[SUMMARY_HYPERVISOR] = VIRT_HYPERVISOR, [SUMMARY_BLOCKED] = VIRT_BLOCKED,
};

static void fill_row(struct report_summary_row *row, const struct report *report, int32_t vcpu,
		     const struct virt_window_stats *stats)
{
	const struct virt_dist *waits = &stats->waits.whole;
	bool has_culprit = stats->n_culprits && report_knows(report, VIRT_NUMBER_CULPRITS);

	row->vcpu = vcpu;
	row->culprit = has_culprit ? report_who(report, stats->culprits[0].vcpu) : NULL;
	row->is_culprit_known = has_culprit && stats->culprits[0].vcpu != VIRT_NONE;
	for (int i = 0; i < SUMMARY_N_COLUMNS; i++) {
		row->value[i] = report_knows_state(report, (enum virt_state)states[i]) ?
				stats->states[states[i]].ns : VIRT_NONE;
		row->whole[i] = virt_window_share_base(stats, states[i]);
	}
	row->value[SUMMARY_WAITING] = waits->count && report_knows(report, VIRT_NUMBER_RUNNABLE) ?
				     virt_dist_stat(waits, WAIT_STAT) : VIRT_NONE;
	row->value[SUMMARY_EXITS] = report_knows(report, VIRT_NUMBER_EXITS) ?
				   (int64_t)stats->exits : VIRT_NONE;
	row->whole[SUMMARY_EXITS] = stats->known_ns;
	row->value[SUMMARY_MIGRATIONS] = report_knows(report, VIRT_NUMBER_MIGRATIONS) ?
					(int64_t)stats->migrations : VIRT_NONE;
	row->value[SUMMARY_VCPU] = 0;
}

/** The column that compare_rows() compares first. */
static int sort_by;

/** The larger number comes first, an unknown one last. */
static int compare_column(const struct report_summary_row *a,
			  const struct report_summary_row *b, int column)
{
	bool is_ratio = column != SUMMARY_WAITING && column != SUMMARY_MIGRATIONS &&
			column != SUMMARY_VCPU;
	double x = (double)a->value[column], y = (double)b->value[column];

	if (is_ratio && x > 0)
		x /= (double)a->whole[column];
	if (is_ratio && y > 0)
		y /= (double)b->whole[column];
	return (x < y) - (x > y);
}

static int compare_rows(const void *a, const void *b)
{
	const struct report_summary_row *x = a, *y = b;
	const int order[] = { sort_by, SUMMARY_STEAL, SUMMARY_WAITING };

	for (size_t i = 0; i < ARRAY_SIZE(order) && sort_by != SUMMARY_VCPU; i++) {
		int difference = compare_column(x, y, order[i]);

		if (difference)
			return difference;
	}
	return (x->place > y->place) - (x->place < y->place);
}

void report_summary_sort(struct report_summary_row *rows, size_t n, int sort)
{
	sort_by = sort;
	qsort(rows, n, sizeof(*rows), compare_rows);
}

ssize_t report_summary_rows(const struct report *report, int sort, struct report_summary_row **rows)
{
	const struct virt_model *model = report->load->model;
	ssize_t found = 0;

	*rows = calloc((size_t)virt_model_n_vcpus(model) + 1, sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);

		for (int32_t i = 0; i < machine->n_vcpus; i++) {
			int32_t vcpu = machine->vcpus[i];

			if (!virt_window_walk_wants(report->walk, vcpu))
				continue;
			(*rows)[found].place = found;
			fill_row(&(*rows)[found++], report, vcpu,
				 virt_window_walk_vcpu(report->walk, vcpu));
		}
	}
	if (virt_window_walk_error(report->walk)) {
		free(*rows);
		return -ENOMEM;
	}
	report_summary_sort(*rows, (size_t)found, sort);
	return found;
}
