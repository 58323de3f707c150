// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_hyper_functions.c
 * @brief	Sum up the functions that guests report through hypercalls.
 */
#include <errno.h>
#include <stdlib.h>

#include "report_section.h"
#include "virt_window.h"

/** All functions of a machine, before it is known which ones are wanted. */
struct functions {
	struct key_map	map;		/* address of the function's beginning */
	struct report_function *all;
	uint32_t	room;
	struct hyper_sums *sums[HOST_N_FUNCTION_TIMES];
	int64_t		*true_ns;	/* by slice */
	int32_t		*function;	/* by slice: its number; or HYPER_NONE */
};

/** A slice that begins in the window. Return: 0 or -ENOMEM. */
static int add_slice(struct functions *functions, const struct report_hypertrace *hypertrace,
		     const struct hyper_slice *slice, size_t number)
{
	struct host_function_calls *calls;
	uint64_t offset = 0;
	const char *name = hyper_symbols_name(hypertrace->options->symbols, slice->what, &offset);
	int64_t i = KEY_MAP_ELEMENT(&functions->map, slice->what - (name ? offset : 0),
				    functions->all, functions->room);

	if (i < 0)
		return (int)i;
	calls = &functions->all[i].calls;
	functions->all[i].address = slice->what - (name ? offset : 0);
	functions->all[i].name = name;
	calls->calls++;
	if (slice->flags & HYPER_NO_END)
		return 0;
	functions->function[number] = (int32_t)i;
	calls->complete++;
	calls->owned++;
	calls->timed++;
	for (int time = 0; time < HOST_N_FUNCTION_TIMES; time++)
		calls->ns[time] += hyper_sums_slice_ns(functions->sums[time], slice);
	functions->true_ns[number] = hyper_sums_slice_ns(functions->sums[HOST_FUNCTION_TRUE],
							 slice);
	calls->own_ns += functions->true_ns[number];
	return 0;
}

/** What a function calls is not its own time. */
static void take_out_called(struct functions *functions, const struct hyper_slice *slices, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int32_t parent = slices[i].parent;

		if (functions->function[i] != HYPER_NONE && parent != HYPER_NONE &&
		    functions->function[parent] != HYPER_NONE)
			functions->all[functions->function[parent]].calls.own_ns -=
				functions->true_ns[i];
	}
}

/** Return: false without memory. */
static bool begin_sums(struct functions *functions, const struct hyper_guest *guest,
		       struct host_hypertrace_time *time)
{
	static const hyper_time_fn times[HOST_N_FUNCTION_TIMES] = {
		[HOST_FUNCTION_TRUE] = host_hypertrace_true_ns,
		[HOST_FUNCTION_UNKNOWN] = host_hypertrace_unknown_ns,
	};
	bool is_complete = true;

	for (int i = 0; i < HOST_N_FUNCTION_TIMES; i++) {
		functions->sums[i] = hyper_sums_new(guest, times[i], time);
		is_complete &= !!functions->sums[i];
	}
	return is_complete;
}

int report_hyper_functions(const struct report_hypertrace *hypertrace, const struct report *report,
			   struct report_hyper_machine *machine)
{
	struct host_hypertrace_time time = { hypertrace->trace, machine->info->machine };
	struct functions functions = { .room = 0 };
	size_t n;
	const struct hyper_slice *slices = hyper_guest_slices(machine->info->guest, &n);
	int ret;

	functions.true_ns = calloc(n + 1, sizeof(*functions.true_ns));
	functions.function = malloc((n + 1) * sizeof(*functions.function));
	ret = begin_sums(&functions, machine->info->guest, &time) && functions.true_ns &&
	      functions.function ? 0 : -ENOMEM;
	for (size_t i = 0; i < n && !ret; i++) {
		functions.function[i] = HYPER_NONE;
		if (slices[i].kind == HYPER_FUNCTION &&
		    virt_begins_in(slices[i].start_ns, report->from_ns, report->to_ns))
			ret = add_slice(&functions, hypertrace, &slices[i], i);
	}
	if (!ret)
		take_out_called(&functions, slices, n);
	machine->functions.is_timed = true;
	machine->functions.all = functions.all;
	machine->functions.n = functions.map.n_keys;
	if (!ret)
		ret = report_functions_choose(&machine->functions,
					      &hypertrace->options->functions);
	key_map_destroy(&functions.map);
	for (int i = 0; i < HOST_N_FUNCTION_TIMES; i++)
		hyper_sums_free(functions.sums[i]);
	free(functions.true_ns);
	free(functions.function);
	return ret;
}
