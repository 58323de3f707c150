// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_migrations.c
 * @brief	kshark-virt report --migrations: how far vCPUs moved, and what that cost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "host_topology.h"
#include "report_json.h"
#include "report_page.h"
#include "report_text.h"

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
	const char		*machine, *name;
	struct moves		all[HOST_N_DISTANCES];
};

typedef void (*tell_moved)(void *arg, const struct moved *moved);

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

/** Each vCPU that is wanted, machine by machine. Return: 0 or -ENOMEM. */
static int each_vcpu(const struct report *report, tell_moved tell, void *arg)
{
	const struct virt_model *model = report->load->model;
	struct virt_worst *worst = virt_worst_new(model, false, NULL, 0);
	int ret = worst ? 0 : -ENOMEM;

	for (int32_t m = 0; m < virt_model_n_machines(model) && !ret; m++) {
		const struct virt_machine *machine = virt_model_machine(model, m);
		struct moved moved = {
			.report = report, .worst = worst, .machine = machine->name,
		};

		for (int32_t i = 0; i < machine->n_vcpus && !ret; i++) {
			if (!virt_window_walk_wants(report->walk, machine->vcpus[i]))
				continue;
			moved.name = virt_model_who(model, machine->vcpus[i]);
			ret = count_vcpu(&moved, machine->vcpus[i]);
			if (!ret)
				tell(arg, &moved);
			free_moves(&moved);
		}
	}
	virt_worst_free(worst);
	return ret;
}

/* --- text ------------------------------------------------------------------------------------ */

#define NAME_WIDTH	40

static const char *const words[HOST_N_DISTANCES] = {
	[HOST_SMT] = "another thread of the core",
	[HOST_CORE] = "another core, same last-level cache",
	[HOST_NEAR] = "another core of the node",
	[HOST_CACHE] = "another last-level cache of the node",
	[HOST_NODE] = "another node",
	[HOST_UNTOLD] = "how far is not told",
};

static void text_moves(struct output *out, const char *name, const struct moves *moves)
{
	const struct virt_dist *cost = &moves->cost;

	out_str(out, "  ");
	out_text_left(out, name, NAME_WIDTH);
	text_count(out, moves->count);
	if (cost->count) {
		text_duration(out, cost->ns);
		text_duration(out, virt_mean(cost->ns, cost->count));
		text_duration(out, cost->p50);
		text_duration(out, cost->p99);
		text_duration(out, cost->max);
	}
	out_char(out, '\n');
}

static void text_vcpu(void *arg, const struct moved *moved)
{
	static const char *const columns[] = { "count", "cost", "mean", "p50", "p99", "max" };
	struct output *out = arg;
	bool any = false;

	out_str(out, "\n  ");
	out_text(out, moved->name);
	out_char(out, '\n');
	for (int i = 0; i < HOST_N_DISTANCES; i++) {
		if (!moved->all[i].count)
			continue;
		if (!any) {
			out_str(out, "  ");
			out_text_left(out, "moved to", NAME_WIDTH);
			text_columns(out, columns, ARRAY_SIZE(columns));
		}
		any = true;
		text_moves(out, words[i], &moved->all[i]);
	}
	if (!any)
		out_str(out, "  did not move\n");
}

static int page_text(struct output *out, const struct report *report, bool first)
{
	report_page_head(out, report, first);
	if (!report->topology->n)
		out_str(out, "  where physical CPUs are is not told: give --topology\n");
	return each_vcpu(report, text_vcpu, out);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void json_vcpu(void *arg, const struct moved *moved)
{
	struct json *json = arg;

	json_open(json, NULL, '{', false);
	json_str(json, "machine", moved->machine);
	json_str(json, "name", moved->name);
	json_open(json, "migrations", '[', false);
	for (int i = 0; i < HOST_N_DISTANCES; i++) {
		const struct moves *moves = &moved->all[i];

		if (!moves->count)
			continue;
		json_open(json, NULL, '{', true);
		json_str(json, "distance", host_distance_name((enum host_distance)i));
		json_u64(json, "count", moves->count);
		json_u64(json, "complete", moves->cost.count);
		json_i64(json, "cost_ns", moves->cost.ns);
		json_dist(json, &moves->cost);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

static int page_json(struct output *out, const struct report *report, bool first)
{
	struct json json;
	int ret;

	(void)first;
	report_page_begin(&json, out, report);
	json_open(&json, "vcpus", '[', false);
	ret = each_vcpu(report, json_vcpu, &json);
	json_close(&json, ']');
	report_page_end(&json);
	return ret;
}

/* --- CSV ------------------------------------------------------------------------------------- */

static void csv_vcpu(void *arg, const struct moved *moved)
{
	const char *const texts[] = { moved->report->file, moved->machine, moved->name };
	struct output *out = arg;

	for (int i = 0; i < HOST_N_DISTANCES; i++) {
		const struct virt_dist *cost = &moved->all[i].cost;
		const int64_t numbers[] = {
			cost->min, cost->p5, cost->p50, cost->p95, cost->p99, cost->max,
		};

		if (!moved->all[i].count)
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(texts); k++) {
			out_csv(out, texts[k], strlen(texts[k]));
			out_char(out, ',');
		}
		out_str(out, host_distance_name((enum host_distance)i));
		out_char(out, ',');
		out_u64(out, moved->all[i].count);
		out_char(out, ',');
		out_u64(out, cost->count);
		out_char(out, ',');
		out_i64(out, cost->ns);
		for (size_t k = 0; k < ARRAY_SIZE(numbers); k++) {
			out_char(out, ',');
			if (cost->count)
				out_i64(out, numbers[k]);
		}
		out_char(out, '\n');
	}
}

static int page_csv(struct output *out, const struct report *report, bool first)
{
	if (first)
		out_str(out, "file,machine,vcpu,distance,count,complete,cost_ns,min,p5,p50,p95,p99,"
			"max\n");
	return each_vcpu(report, csv_vcpu, out);
}

const struct report_page report_migrations = {
	.text = page_text, .json = page_json, .csv = page_csv,
};
