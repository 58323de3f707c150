// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_migrations.c
 * @brief	kshark-virt report --migrations: the distances and the costs of vCPUs' migrations.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "host_topology.h"
#include "report_page.h"
#include "report_unknown.h"
#include "report_worst.h"

/** Of a vCPU, at one distance. */
struct moves {
	uint64_t	count;
	struct virt_dist cost;		/* of those that the trace shows up to the guest */
	int64_t		*costs;
	size_t		n, room;
};

struct moved {
	const struct report	*report;
	const struct virt_worst	*worst;
	struct moves		all[HOST_N_DISTANCES];
};

static int add_cost(void *arg, const struct virt_worst_hit *hit)
{
	struct moved *moved = arg;
	struct virt_moment moment;
	struct moves *moves;

	if (!hit->whole || !virt_worst_describe(moved->worst, hit, &moment))
		return 0;
	moves = &moved->all[host_topology_distance(moved->report->topology, moment.from_pcpu,
						   moment.pcpu)];
	if (ARRAY_GROW(moves->costs, moves->n, moves->room))
		return -ENOMEM;
	moves->costs[moves->n++] = hit->cost_ns;
	return 0;
}

static int count_vcpu(struct moved *moved, int32_t vcpu)
{
	const struct report *report = moved->report;
	struct virt_migration_range range = virt_vcpu_migrations(report->load->model, vcpu,
								 report->from_ns, report->to_ns);
	struct virt_worst_query query = {
		.from_ns = report->from_ns, .to_ns = report->to_ns,
		.kinds = 1u << VIRT_WORST_MIGRATION, .of = &vcpu, .n_of = 1,
	};

	for (size_t i = 0; i < range.n; i++)
		moved->all[host_topology_distance(report->topology, range.first[i].from,
						  range.first[i].to)].count++;
	if (virt_worst_each(moved->worst, &query, add_cost, moved))
		return -ENOMEM;
	for (int i = 0; i < HOST_N_DISTANCES; i++)
		virt_dist_make(&moved->all[i].cost, moved->all[i].costs, moved->all[i].n);
	return 0;
}

static void free_moves(struct moved *moved)
{
	for (int i = 0; i < HOST_N_DISTANCES; i++) {
		free(moved->all[i].costs);
		moved->all[i] = (struct moves){ .count = 0 };
	}
}

/* --- the table ------------------------------------------------------------------------------- */

static const struct table_column vcpus[] = {
	{ .key = "machine" },
	{ .key = "vcpu", .title = "" },
};

/** Text has other words for distances than the other formats. */
static const struct table_column distances[] = {
	{ .key = "distance" },
	{ .title = "moved to", .width = 40 },
	{ .key = "count", .type = TABLE_COUNT, .title = "count" },
	{ .key = "cost", .type = TABLE_DURATIONS, .title = "cost",
	  .shown = TABLE_TOTAL | TABLE_MEAN | TABLE_P50 | TABLE_P99 | TABLE_MAX },
};

static const struct table table = {
	.groups = "vcpus", .group = vcpus, .n_group = ARRAY_SIZE(vcpus),
	.rows = {
		.key = "migrations", TABLE_COLUMNS(distances),
		.none = "  did not move\n",
	},
};

static const char *const words[HOST_N_DISTANCES] = {
	[HOST_SMT] = "another thread of the core",
	[HOST_CORE] = "another core, same last-level cache",
	[HOST_NEAR] = "another core of the node",
	[HOST_CACHE] = "another last-level cache of the node",
	[HOST_NODE] = "another node",
	[HOST_DISTANCE_UNKNOWN] = "unknown distance",
};

static int migrations_vcpu_rows(struct table_writer *to, const struct report *report,
				const struct virt_machine *machine, int32_t vcpu, void *worst)
{
	const struct table_cell cells[] = {
		table_name(machine->name), table_name(virt_model_who(report->load->model, vcpu)),
	};
	bool is_cost_known = report_knows(report, VIRT_NUMBER_MIGRATION_COST);
	struct moved moved = { .report = report, .worst = worst };
	int ret = count_vcpu(&moved, vcpu);

	if (!ret)
		table_group(to, cells);
	for (int i = 0; i < HOST_N_DISTANCES && !ret; i++) {
		const struct moves *moves = &moved.all[i];

		if (moves->count)
			table_row(to, (const struct table_cell[]){
				table_name(host_distance_name((enum host_distance)i)),
				table_name(words[i]), table_number((int64_t)moves->count),
				table_durations(is_cost_known ? &moves->cost : NULL),
			});
	}
	if (!ret)
		table_group_end(to);
	free_moves(&moved);
	return ret;
}

static int migrations_rows(struct table_writer *to, const struct report *report)
{
	struct virt_worst *own, *worst = report_worst_index(report, &own);
	int ret = worst ? report_each_vcpu(report, to, migrations_vcpu_rows, worst) : -ENOMEM;

	virt_worst_free(own);
	return ret;
}

static void preface(struct table_writer *to, const struct report *report)
{
	if (!report->topology->n && table_as_text(to))
		out_str(to->out, "  the topology is unknown: give --topology\n");
}

const struct report_page report_migrations = {
	.table = &table, .number = VIRT_NUMBER_MIGRATIONS, .rows = migrations_rows,
	.preface = preface,
};
