// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_functions.c
 * @brief	kshark-virt report --function: functions of guests by the time that they had.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "report_csv.h"
#include "report_section.h"
#include "text_columns.h"
#include "virt_window.h"

#define MAX_FUNCTIONS	20

/** "0xffffffff81000000" */
#define MAX_ADDRESS	24

static const char *name_of(const struct report_hyper_function *function, char text[MAX_ADDRESS])
{
	if (function->name)
		return function->name;
	snprintf(text, MAX_ADDRESS, "0x%llx", (unsigned long long)function->address);
	return text;
}

/* --- what is told ---------------------------------------------------------------------------- */

/** All functions of a machine, before it is known which ones are wanted. */
struct functions {
	struct key_map	map;		/* address of the function's beginning */
	struct report_hyper_function *all;
	uint32_t	room;
	struct hyper_sums *cpu_sums;	/* that a task had a CPU */
	struct hyper_sums *true_sums;	/* and the vCPU executed it, */
	struct hyper_sums *unknown_sums; /* and nobody knows whether it did */
	int64_t		*true_ns;	/* by slice */
	int32_t		*function;	/* by slice: its number; or HYPER_NONE */
};

/** A slice that begins in the window. Return: 0 or -ENOMEM. */
static int add_slice(struct functions *functions, const struct report_hypertrace *hypertrace,
		     const struct hyper_slice *slice, size_t number)
{
	struct report_hyper_function *function;
	uint64_t offset = 0;
	const char *name = hyper_symbols_name(hypertrace->options->symbols, slice->what, &offset);
	int64_t i = KEY_MAP_ELEMENT(&functions->map, slice->what - (name ? offset : 0),
				    functions->all, functions->room);

	if (i < 0)
		return (int)i;
	function = &functions->all[i];
	function->address = slice->what - (name ? offset : 0);
	function->name = name;
	function->calls++;
	if (slice->flags & HYPER_NO_END)
		return 0;
	functions->function[number] = (int32_t)i;
	functions->true_ns[number] = hyper_sums_slice_ns(functions->true_sums, slice);
	function->complete++;
	function->cpu_ns += hyper_sums_slice_ns(functions->cpu_sums, slice);
	function->true_ns += functions->true_ns[number];
	function->self_ns += functions->true_ns[number];
	function->unknown_ns += hyper_sums_slice_ns(functions->unknown_sums, slice);
	return 0;
}

/** What a function calls is not its own time. */
static void take_out_called(struct functions *functions, const struct hyper_slice *slices, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int32_t parent = slices[i].parent;

		if (functions->function[i] != HYPER_NONE && parent != HYPER_NONE &&
		    functions->function[parent] != HYPER_NONE)
			functions->all[functions->function[parent]].self_ns -=
				functions->true_ns[i];
	}
}

static int compare_functions(const void *a, const void *b)
{
	const struct report_hyper_function *x = a, *y = b;

	if (x->true_ns != y->true_ns)
		return x->true_ns > y->true_ns ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static void choose(struct functions *functions, const char *pattern,
		   struct report_hyper_machine *machine)
{
	char address[MAX_ADDRESS];

	machine->functions = functions->all;
	for (uint32_t i = 0; i < functions->map.n_keys; i++) {
		machine->all_calls += functions->all[i].calls;
		if (!fnmatch(pattern, name_of(&functions->all[i], address), 0))
			machine->functions[machine->n_functions++] = functions->all[i];
	}
	if (machine->n_functions)
		qsort(machine->functions, machine->n_functions, sizeof(*machine->functions),
		      compare_functions);
}

int report_hyper_functions(const struct report_hypertrace *hypertrace, const struct report *report,
			   struct report_hyper_machine *machine)
{
	struct host_hypertrace_time time = { hypertrace->trace, machine->info->machine };
	struct functions functions = {
		.cpu_sums = hyper_sums_new(machine->info->guest, NULL, NULL),
		.true_sums = hyper_sums_new(machine->info->guest, host_hypertrace_true_ns, &time),
		.unknown_sums = hyper_sums_new(machine->info->guest, host_hypertrace_unknown_ns,
					       &time),
	};
	size_t n;
	const struct hyper_slice *slices = hyper_guest_slices(machine->info->guest, &n);
	int ret;

	functions.true_ns = calloc(n + 1, sizeof(*functions.true_ns));
	functions.function = malloc((n + 1) * sizeof(*functions.function));
	ret = functions.true_ns && functions.function && functions.cpu_sums &&
	      functions.true_sums && functions.unknown_sums ? 0 : -ENOMEM;
	for (size_t i = 0; i < n && !ret; i++) {
		functions.function[i] = HYPER_NONE;
		if (slices[i].kind == HYPER_FUNCTION &&
		    virt_begins_in(slices[i].start_ns, report->from_ns, report->to_ns))
			ret = add_slice(&functions, hypertrace, &slices[i], i);
	}
	if (!ret)
		take_out_called(&functions, slices, n);
	choose(&functions, hypertrace->options->function, machine);
	key_map_destroy(&functions.map);
	hyper_sums_free(functions.cpu_sums);
	hyper_sums_free(functions.true_sums);
	hyper_sums_free(functions.unknown_sums);
	free(functions.true_ns);
	free(functions.function);
	return ret;
}

/* --- writers --------------------------------------------------------------------------------- */

static void text_function(struct output *out, const struct report_hyper_machine *machine,
			  const struct report_hyper_function *function)
{
	char address[MAX_ADDRESS];

	out_str(out, "  ");
	out_text_left(out, name_of(function, address), 32);
	text_count(out, function->calls);
	text_share(out, (int64_t)function->calls, (int64_t)machine->all_calls, TEXT_SHARE);
	text_duration(out, function->true_ns);
	text_more(out, function->unknown_ns > 0);
	text_share(out, function->true_ns, machine->guest_ns, TEXT_SHARE);
	text_duration(out, function->self_ns);
	text_duration(out, virt_mean(function->true_ns, function->complete));
	text_duration(out, function->cpu_ns);
	if (function->calls > function->complete)
		text_count(out, function->calls - function->complete);
	out_char(out, '\n');
}

static void text_heading_of(struct output *out, const char *machine)
{
	static const char *const columns[] = { "self", "mean", "on CPU", "no end" };

	out_str(out, "\n  ");
	out_text_left(out, machine, 32);
	text_right(out, "calls", TEXT_NUMBER);
	text_right(out, "share", TEXT_SHARE);
	text_right(out, "true time", TEXT_NUMBER);
	text_more(out, false);
	text_right(out, "share", TEXT_SHARE);
	text_columns(out, columns, ARRAY_SIZE(columns));
}

static void text(struct output *out, const struct report *report)
{
	const struct report_hypertrace *hypertrace = report->hypertrace;

	for (int32_t m = 0; hypertrace->options->function && m < hypertrace->n_machines; m++) {
		const struct report_hyper_machine *machine = &hypertrace->machines[m];

		if (!machine->info->guest)
			continue;
		text_heading_of(out, report_hyper_name(report, machine));
		for (size_t i = 0; i < machine->n_functions && i < MAX_FUNCTIONS; i++)
			text_function(out, machine, &machine->functions[i]);
		if (machine->n_functions > MAX_FUNCTIONS)
			out_str(out, "  ... and more: --format json lists all\n");
		if (!machine->n_functions)
			out_printf(out, "  none of %llu calls of functions matches\n",
				   (unsigned long long)machine->all_calls);
	}
}

static void json_function(struct json *json, const struct report_hyper_function *function)
{
	char address[MAX_ADDRESS];

	json_open(json, NULL, '{', true);
	json_str(json, "name", name_of(function, address));
	json_u64(json, "address", function->address);
	json_u64(json, "calls", function->calls);
	json_u64(json, "complete", function->complete);
	json_i64(json, "true_ns", function->true_ns);
	json_i64(json, "self_ns", function->self_ns);
	json_i64(json, "cpu_ns", function->cpu_ns);
	json_i64(json, "unknown_ns", function->unknown_ns);
	json_close(json, '}');
}

static void json(struct json *json, const struct report *report)
{
	const struct report_hypertrace *hypertrace = report->hypertrace;

	if (!hypertrace->options->function)
		return;
	json_open(json, "functions", '[', false);
	for (int32_t m = 0; m < hypertrace->n_machines; m++) {
		const struct report_hyper_machine *machine = &hypertrace->machines[m];

		json_open(json, NULL, '{', false);
		json_str(json, "machine", report_hyper_name(report, machine));
		json_u64(json, "all_calls", machine->all_calls);
		json_i64(json, "guest_ns", machine->guest_ns);
		json_open(json, "functions", '[', false);
		for (size_t i = 0; i < machine->n_functions; i++)
			json_function(json, &machine->functions[i]);
		json_close(json, ']');
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void csv(struct output *out, const struct report *report)
{
	const struct report_hypertrace *hypertrace = report->hypertrace;
	char address[MAX_ADDRESS];

	for (int32_t m = 0; hypertrace->options->function && m < hypertrace->n_machines; m++) {
		const struct report_hyper_machine *machine = &hypertrace->machines[m];
		const struct csv_row row = { .machine = report_hyper_name(report, machine) };

		csv_count(out, report, &row, "function_all_calls", NULL, machine->all_calls);
		for (size_t i = 0; i < machine->n_functions; i++) {
			const struct report_hyper_function *function = &machine->functions[i];
			const char *name = name_of(function, address);

			csv_row(out, report, &(struct csv_row){
				.section = "function_true", .machine = row.machine, .name = name,
				.count = &function->calls, .ns = &function->true_ns });
			csv_row(out, report, &(struct csv_row){
				.section = "function_self", .machine = row.machine, .name = name,
				.count = &function->complete, .ns = &function->self_ns });
			csv_time(out, report, &row, "function_cpu", name, function->cpu_ns);
			if (function->unknown_ns)
				csv_time(out, report, &row, "function_unknown", name,
					 function->unknown_ns);
		}
	}
}

const struct report_section report_functions = { .text = text, .json = json, .csv = csv };
