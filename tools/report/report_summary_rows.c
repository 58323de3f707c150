// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_summary_rows.c
 * @brief	The few numbers of each vCPU that a summary of a trace shows.
 */
#include <errno.h>
#include <stdlib.h>

#include "report_summary.h"
#include "report_unknown.h"
#include "work_share.h"

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

/** The rows that are to be filled, and what each thread has of its own. */
struct filling {
	const struct report	*report;
	struct report_summary_row *rows;
	const struct report_summary_beside *other;
};

struct filler {
	const struct filling	*filling;
	struct virt_window_walk	*walk;
};

static int fill(void *own, size_t job)
{
	const struct filler *filler = own;
	const struct filling *filling = filler->filling;
	const struct report_summary_beside *other = filling->other;
	struct report_summary_row *row;

	if (other && !job)
		return other->work(other->arg);
	row = &filling->rows[job - (other ? 1 : 0)];
	fill_row(row, filling->report, row->vcpu, virt_window_walk_vcpu(filler->walk, row->vcpu));
	return virt_window_walk_error(filler->walk);
}

/** The vCPUs that are asked for, in the order of machines. Return: how many. */
static size_t place_rows(const struct report *report, struct report_summary_row *rows)
{
	const struct virt_model *model = report->load->model;
	size_t n = 0;

	for (int32_t m = 0; m < virt_model_n_machines(model); m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);

		for (int32_t i = 0; i < machine->n_vcpus; i++) {
			if (!virt_window_walk_wants(report->walk, machine->vcpus[i]))
				continue;
			rows[n].place = (ssize_t)n;
			rows[n++].vcpu = machine->vcpus[i];
		}
	}
	return n;
}

ssize_t report_summary_rows(const struct report *report, int sort,
			    const struct report_summary_beside *other,
			    struct report_summary_row **rows)
{
	const struct virt_model *model = report->load->model;
	struct filling filling = { .report = report, .other = other };
	struct filler here = { &filling, report->walk }, there = { &filling, NULL };
	size_t n;
	int ret;

	*rows = calloc((size_t)virt_model_n_vcpus(model) + 1, sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	filling.rows = *rows;
	n = place_rows(report, *rows);
	if (other)
		there.walk = virt_window_walk_new(model, &report->query);
	ret = work_share(n + (other ? 1 : 0), fill, &here, there.walk ? &there : NULL);
	virt_window_walk_free(there.walk);
	if (ret) {
		free(*rows);
		return ret;
	}
	report_summary_sort(*rows, n, sort);
	return (ssize_t)n;
}
