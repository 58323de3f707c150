// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_functions.c
 * @brief	kshark-virt report --function: functions of guests by the time that they had.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "report_section.h"
#include "table.h"
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

/* --- the numbers ----------------------------------------------------------------------------- */

/** All functions of a machine, before it is known which ones are wanted. */
struct functions {
	struct key_map	map;		/* address of the function's beginning */
	struct report_hyper_function *all;
	uint32_t	room;
	struct hyper_sums *cpu_sums;	/* that a task had a CPU */
	struct hyper_sums *true_sums;	/* and the vCPU executed it, */
	struct hyper_sums *unknown_sums; /* and it is unknown whether it did */
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

/** Columns of text. MORE marks a true time that may be longer. */
enum {
	NAME = 0, CALLS, CALLS_SHARE, TRUE_TIME, MORE, TRUE_SHARE, SELF, MEAN, ON_CPU, NO_END,
	N_COLUMNS
};

static void function_row(struct table_writer *to, const struct report_hyper_machine *machine,
			 const struct report_hyper_function *function)
{
	uint64_t open = function->calls - function->complete;
	char address[MAX_ADDRESS];

	table_row(to, (const struct table_cell[N_COLUMNS]){
		[NAME] = table_name(name_of(function, address)),
		[CALLS] = table_number((int64_t)function->calls),
		[CALLS_SHARE] = table_share((int64_t)function->calls, (int64_t)machine->all_calls),
		[TRUE_TIME] = table_number(function->true_ns),
		[MORE] = table_name(function->unknown_ns > 0 ? " +?" : ""),
		[TRUE_SHARE] = table_share(function->true_ns, machine->guest_ns),
		[SELF] = table_number(function->self_ns),
		[MEAN] = table_number(function->complete ?
				      virt_mean(function->true_ns, function->complete) :
				      VIRT_NONE),
		[ON_CPU] = table_number(function->cpu_ns),
		[NO_END] = table_optional(open, (int64_t)open),
	});
}

static void functions_text(struct output *out, const struct report *report,
			   const struct report_hyper_machine *machine)
{
	const struct table_column columns[N_COLUMNS] = {
		[NAME] = { .title = report_hyper_name(report, machine), .width = 32 },
		[CALLS] = { .title = "calls", .type = TABLE_COUNT },
		[CALLS_SHARE] = { .title = "share", .type = TABLE_SHARE },
		[TRUE_TIME] = { .title = "true time", .type = TABLE_NS },
		[MORE] = { .title = "", .width = 3 },
		[TRUE_SHARE] = { .title = "share", .type = TABLE_SHARE },
		[SELF] = { .title = "self", .type = TABLE_NS },
		[MEAN] = { .title = "mean", .type = TABLE_NS },
		[ON_CPU] = { .title = "on CPU", .type = TABLE_NS },
		[NO_END] = { .title = "no end", .type = TABLE_COUNT },
	};
	const struct table table = {
		.rows = { TABLE_COLUMNS(columns), .apart = true, .titled = true },
	};
	struct table_writer to = { .table = &table, .format = &table_text, .out = out };

	table_flat(&to, true);
	for (size_t i = 0; i < machine->n_functions && i < MAX_FUNCTIONS; i++)
		function_row(&to, machine, &machine->functions[i]);
	table_flat_end(&to);
}

static void text(struct output *out, const struct report *report)
{
	const struct report_hypertrace *hypertrace = report->hypertrace;

	for (int32_t m = 0; hypertrace->options->function && m < hypertrace->n_machines; m++) {
		const struct report_hyper_machine *machine = &hypertrace->machines[m];

		if (!machine->info->guest)
			continue;
		functions_text(out, report, machine);
		if (machine->n_functions > MAX_FUNCTIONS)
			text_rest(out);
		if (!machine->n_functions)
			out_printf(out, "  none of %llu calls of functions matches\n",
				   (unsigned long long)machine->all_calls);
	}
}

static void function_facts(struct facts *to, const struct report_hyper_function *function)
{
	char address[MAX_ADDRESS];
	const char *name = name_of(function, address);

	facts_open(to, NULL, '{', true);
	facts_name(to, "name", name);
	if (to->json)
		json_u64(to->json, "address", function->address);
	facts_count(to, FACT_JSON("calls"), function->calls);
	facts_count(to, FACT_JSON("complete"), function->complete);
	facts_number(to, "true_ns", function->true_ns);
	facts_sum(to, "function_true", name, function->calls, function->true_ns);
	facts_number(to, "self_ns", function->self_ns);
	facts_sum(to, "function_self", name, function->complete, function->self_ns);
	facts_ns(to, FACT("cpu_ns", "function_cpu", name), function->cpu_ns);
	facts_part(to, FACT("unknown_ns", "function_unknown", name), function->unknown_ns);
	facts_close(to, '}');
}

static void facts(struct facts *to, const struct report *report)
{
	const struct report_hypertrace *hypertrace = report->hypertrace;

	if (!hypertrace->options->function)
		return;
	facts_open(to, "functions", '[', false);
	for (int32_t m = 0; m < hypertrace->n_machines; m++) {
		const struct report_hyper_machine *machine = &hypertrace->machines[m];

		to->machine = report_hyper_name(report, machine);
		facts_open(to, NULL, '{', false);
		facts_name(to, "machine", to->machine);
		facts_count(to, FACT("all_calls", "function_all_calls", NULL), machine->all_calls);
		facts_number(to, "guest_ns", machine->guest_ns);
		facts_open(to, "functions", '[', false);
		for (size_t i = 0; i < machine->n_functions; i++)
			function_facts(to, &machine->functions[i]);
		facts_close(to, ']');
		facts_close(to, '}');
	}
	to->machine = NULL;
	facts_close(to, ']');
}

const struct report_section report_functions = { .text = text, .facts = facts };
