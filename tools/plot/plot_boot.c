// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	plot_boot.c
 * @brief	kshark-virt plot --boot: the stages that report --boot lists, drawn or as CSV.
 */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "plot_boot.h"
#include "table.h"

/** The lanes of a machine: what lasts until the next of its kind, and what goes on within. */
enum { LANE_PHASES, LANE_LEVELS, LANE_INITCALLS, LANE_DEVICES, N_LANES };

static const char *const lane_names[N_LANES] = {
	[LANE_PHASES] = "phases", [LANE_LEVELS] = "levels", [LANE_INITCALLS] = "initcalls",
	[LANE_DEVICES] = "devices",
};

/** A machine whose stages go by. */
struct stage_list {
	struct figure_stage	*stages;
	size_t			n, room;
};

struct making {
	const struct model_load	*load;
	const struct virt_machine *machine;
	struct table_writer	*csv;	/* or NULL: lanes are made */
	struct stage_list	lists[N_LANES];
	bool			no_memory;
};

/** By kind: the lane, and one more. Every stage of host_stages_each() has one. */
static const uint8_t lanes[HYPER_N_KINDS] = {
	[HYPER_PHASE] = LANE_PHASES + 1, [HYPER_SHUTDOWN] = LANE_PHASES + 1,
	[HYPER_LEVEL] = LANE_LEVELS + 1, [HYPER_INITCALL] = LANE_INITCALLS + 1,
	[HYPER_DEVICE] = LANE_DEVICES + 1, [HYPER_NOTIFIER] = LANE_DEVICES + 1,
};

/* --- what goes by ---------------------------------------------------------------------------- */

static void take_rows(void *arg, const struct xen_trace_row *rows, size_t n)
{
	struct plot_boot *boot = arg;

	for (size_t i = 0; i < n; i++)
		host_hypercalls_row(&boot->guests.calls, &rows[i]);
}

static void take_record(void *arg, const struct kvm_trace_record *record)
{
	struct plot_boot *boot = arg;

	host_hypercalls_record(&boot->guests.calls, record);
}

void plot_boot_walk(struct plot_boot *boot, struct model_load *load)
{
	load->rows = take_rows;
	load->records = take_record;
	load->arg = boot;
}

/* --- stages ---------------------------------------------------------------------------------- */

/** "arch on g1v0: 1.5 ms or more, guest 1.2 ms, 3 exits", for those who point at it. */
static char *tip_of(const struct making *making, const struct host_stage *stage)
{
	int32_t vcpu = making->machine->vcpus[stage->slice->cpu];
	char *text;

	if (asprintf(&text, "%s on %s: %.6g ms%s, guest %.6g ms%s, %llu exits, %llu hypercalls",
		     stage->name, virt_model_vcpu(making->load->model, vcpu)->name,
		     (double)(stage->to_ns - stage->from_ns) / 1e6,
		     stage->slice->flags & HYPER_NO_END ? " or more" : "",
		     (double)stage->true_ns / 1e6, stage->unknown_ns ? " or more" : "",
		     (unsigned long long)stage->exits,
		     (unsigned long long)stage->calls) < 0)
		return NULL;
	return text;
}

static void take_stage(void *arg, const struct host_stage *stage)
{
	struct making *making = arg;
	struct stage_list *list = &making->lists[lanes[stage->slice->kind] - 1];
	struct figure_stage *drawn;

	if (making->no_memory || ARRAY_GROW(list->stages, list->n, list->room)) {
		making->no_memory = true;
		return;
	}
	drawn = &list->stages[list->n++];
	*drawn = (struct figure_stage){
		.from_ns = stage->from_ns, .to_ns = stage->to_ns, .name = strdup(stage->name),
		.tip = tip_of(making, stage), .no_end = stage->slice->flags & HYPER_NO_END,
	};
	making->no_memory = !drawn->name || !drawn->tip;
}

static const struct table_column columns[] = {
	{ .key = "machine" },
	{ .key = "kind" },
	{ .key = "name" },
	{ .key = "vcpu" },
	{ .key = "from_ns", .type = TABLE_TIME },
	{ .key = "to_ns", .type = TABLE_TIME },
	{ .key = "end_known", .type = TABLE_FLAG },
	{ .key = "true_ns", .type = TABLE_NS },
	{ .key = "exits", .type = TABLE_COUNT },
	{ .key = "exits_ns", .type = TABLE_NS },
};

static const struct table table = { .rows = { TABLE_COLUMNS(columns) } };

static void stage_row(void *arg, const struct host_stage *stage)
{
	const struct making *making = arg;
	int32_t vcpu = making->machine->vcpus[stage->slice->cpu];

	table_row(making->csv, (const struct table_cell[]){
		table_name(making->machine->name),
		table_name(hyper_kind_name((enum hyper_kind)stage->slice->kind)),
		table_name(stage->name),
		table_name(virt_model_vcpu(making->load->model, vcpu)->name),
		table_number(stage->from_ns), table_number(stage->to_ns),
		table_number(!(stage->slice->flags & HYPER_NO_END)),
		table_optional(!stage->unknown_ns, stage->true_ns),
		table_number((int64_t)stage->exits), table_number(stage->exits_ns),
	});
}

/* --- lanes ----------------------------------------------------------------------------------- */

static void free_stages(const struct figure_stage *stages, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(stages[i].name);
		free(stages[i].tip);
	}
	free((struct figure_stage *)stages);
}

/** The lanes of a machine that have something on them. Return: false without memory. */
static bool add_lanes(struct plot_boot *boot, struct making *making)
{
	for (int i = 0; i < N_LANES; i++) {
		struct stage_list *list = &making->lists[i];
		struct figure_lane *lane = &boot->lanes[boot->n_lanes];

		if (!list->n)
			continue;
		*lane = (struct figure_lane){
			.stages = list->stages, .n = list->n, .marked = i == LANE_PHASES,
		};
		boot->n_lanes++;
		*list = (struct stage_list){ .n = 0 };
		if (asprintf(&lane->name, "%s %s", making->machine->name, lane_names[i]) < 0) {
			lane->name = NULL;
			return false;
		}
	}
	return true;
}

/** Return: false without memory. */
static bool add_machine(struct plot_boot *boot, struct making *making, int32_t m, int64_t from_ns,
			int64_t to_ns)
{
	struct host_stages *stages = host_stages_new(boot->guests.trace, m,
						     model_boots_of(&boot->boots, m),
						     boot->symbols, from_ns, to_ns);
	bool done = stages != NULL;

	making->machine = virt_model_machine(making->load->model, m);
	if (done)
		host_stages_each(stages, making->csv ? stage_row : take_stage, making);
	host_stages_free(stages);
	done = done && !making->no_memory && add_lanes(boot, making);
	for (int i = 0; i < N_LANES; i++) {
		free_stages(making->lists[i].stages, making->lists[i].n);
		making->lists[i] = (struct stage_list){ .n = 0 };
	}
	return done;
}

static bool is_shown(const struct virt_machine *machine, const bool *vcpus)
{
	for (int32_t i = 0; i < machine->n_vcpus; i++)
		if (vcpus[machine->vcpus[i]])
			return true;
	return false;
}

/** Symbols, dialects and guests. Return: as plot_boot_make(). */
static int decode(struct plot_boot *boot, const struct plot_boot_options *options,
		  const struct model_load *load)
{
	char error[512];
	int status;

	if (options->kallsyms &&
	    hyper_symbols_read(options->kallsyms, &boot->symbols, error, sizeof(error))) {
		ksv_error("%s", error);
		return KSV_EXIT_FILE;
	}
	status = model_guests_find(&boot->guests, load->model, options->dialect);
	if (status || !model_boots_find(&boot->boots, load))
		return status;
	ksv_error("not enough memory");
	return KSV_EXIT_FILE;
}

int plot_boot_make(struct plot_boot *boot, const struct plot_boot_options *options,
		   const struct model_load *load, const bool *vcpus, int64_t from_ns, int64_t to_ns,
		   struct output *out)
{
	struct table_writer csv = { .table = &table, .format = &table_csv, .out = out };
	struct making making = { .load = load, .csv = out ? &csv : NULL };
	int32_t n = virt_model_n_machines(load->model);
	int status = decode(boot, options, load);

	if (status)
		return status;
	if (out)
		table_flat(&csv, true);
	boot->lanes = calloc((size_t)n * N_LANES + 1, sizeof(*boot->lanes));
	for (int32_t m = 0; boot->lanes && m < n; m++) {
		if ((boot->guests.trace->machines[m].guest || model_boots_of(&boot->boots, m)) &&
		    is_shown(virt_model_machine(load->model, m), vcpus) &&
		    !add_machine(boot, &making, m, from_ns, to_ns)) {
			making.no_memory = true;
			break;
		}
	}
	if (boot->lanes && !making.no_memory)
		return KSV_EXIT_OK;
	ksv_error("not enough memory");
	return KSV_EXIT_FILE;
}

void plot_boot_free(struct plot_boot *boot)
{
	for (int i = 0; i < boot->n_lanes; i++) {
		free(boot->lanes[i].name);
		free_stages(boot->lanes[i].stages, boot->lanes[i].n);
	}
	free(boot->lanes);
	model_guests_free(&boot->guests);
	model_boots_free(&boot->boots);
	hyper_symbols_free(boot->symbols);
}
