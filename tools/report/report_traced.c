// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report_traced.c
 * @brief	Sum up the functions that a host and its guests have recorded by tracers of ftrace.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "guest_tasks.h"
#include "report_section.h"
#include "report_traced.h"
#include "report_work.h"

/**
 * The tracers record where the call to the tracer is, which may lie some bytes after the beginning
 * of the function: after an endbr64 of x86, or a bti of arm64.
 */
#define MOST_OFFSET	16

/** No kernel has as many functions: a file that names more gets no more names. */
#define MOST_NAMED	(1 << 18)

/** What is read of one trace. */
struct traced {
	const struct report_work *work;
	struct report_hypertrace *hypertrace;
	const struct report_function_options *options;
	struct host_functions	*read;
	struct report_function	*functions;	/* along those of @read, without sums */
	bool			*asked;		/* the same: which ones are asked for */
	bool			has_vcpus;
};

/* --- names ----------------------------------------------------------------------------------- */

/** The kallsyms that were given are a guest's, if there is one; of a trace alone, its own. */
static bool has_given_names(const struct traced *traced)
{
	return traced->work->is_guest || (!traced->work->report->load->n_guests &&
					  !traced->hypertrace->n_machines);
}

static const char *given_name(const struct traced *traced, uint64_t address)
{
	uint64_t offset = 0;
	const char *name = hyper_symbols_name(traced->hypertrace->options->symbols, address,
					      &offset);

	return has_given_names(traced) && offset < MOST_OFFSET ? name : NULL;
}

static void name_all(struct traced *traced)
{
	for (uint32_t i = 0; i < traced->read->map.n_keys; i++) {
		const struct host_function *from = &traced->read->functions[i];
		struct report_function *function = &traced->functions[i];

		function->address = from->address;
		function->name = from->name;
		if (!function->name && i < MOST_NAMED)
			function->name = kvm_trace_function(traced->work->trace, from->address);
		if (!function->name)
			function->name = given_name(traced, from->address);
		traced->asked[i] = report_functions_matches(function, traced->options);
	}
}

/* --- sums ------------------------------------------------------------------------------------ */

static int add_owner(struct report_function_owners *owners, int32_t who,
		   const struct host_function_calls *calls)
{
	int64_t i = KEY_MAP_ELEMENT(&owners->map, (uint32_t)who, owners->all, owners->room);

	if (i < 0)
		return -ENOMEM;
	owners->all[i].who = who;
	host_function_calls_add(&owners->all[i].calls, calls);
	return 0;
}

/** Functions that two addresses have are two: names of static ones are not unique. */
static int sum_functions(const struct traced *traced, struct report_functions *functions)
{
	const struct host_function_sums *sums =
		&traced->read->tracers[functions->tracer].by_cpu;

	functions->all = malloc((traced->read->map.n_keys + 1) * sizeof(*functions->all));
	if (!functions->all)
		return -ENOMEM;
	memcpy(functions->all, traced->functions,
	       traced->read->map.n_keys * sizeof(*functions->all));
	for (uint32_t i = 0; i < sums->map.n_keys; i++)
		host_function_calls_add(&functions->all[sums->all[i].function].calls,
					&sums->all[i].calls);
	for (uint32_t i = 0; i < traced->read->map.n_keys; i++)
		if (functions->all[i].calls.calls)
			functions->all[functions->n++] = functions->all[i];
	return report_functions_choose(functions, traced->options);
}

static int sum_owners(const struct traced *traced, struct report_functions *functions,
		    const struct host_function_sums *sums, enum report_function_owner_kind kind)
{
	int ret = 0;

	for (uint32_t i = 0; i < sums->map.n_keys && !ret; i++) {
		const struct host_function_sum *sum = &sums->all[i];
		bool is_task = kind == REPORT_FUNCTION_TASK;
		int32_t machine = is_task ? report_work_machine(traced->work, sum->who) : VIRT_NONE;

		if (!traced->asked[sum->function] ||
		    (is_task && !report_wants_work(traced->work->report, machine)))
			continue;
		ret = add_owner(&functions->owners[kind], sum->who, &sum->calls);
		if (!ret && is_task)
			ret = add_owner(&functions->owners[REPORT_FUNCTION_MACHINE], machine,
				      &sum->calls);
	}
	return ret;
}

static int compare_owners(const void *a, const void *b)
{
	const struct report_function_owner *x = a, *y = b;

	if (x->calls.own_ns != y->calls.own_ns)
		return x->calls.own_ns > y->calls.own_ns ? -1 : 1;
	if (x->calls.calls != y->calls.calls)
		return x->calls.calls > y->calls.calls ? -1 : 1;
	return (x->who > y->who) - (x->who < y->who);
}

/** What a tracer recorded, if it was used. Return: 0 or -ENOMEM. */
static int add_tracer(struct traced *traced, enum host_function_tracer tracer)
{
	struct report_hypertrace *hypertrace = traced->hypertrace;
	const struct report_work *work = traced->work;
	struct report_functions *functions;
	int ret;

	if (!traced->read->tracers[tracer].records)
		return 0;
	if (ARRAY_GROW(hypertrace->traced, hypertrace->n_traced, hypertrace->room_traced))
		return -ENOMEM;
	functions = &hypertrace->traced[hypertrace->n_traced++];
	*functions = (struct report_functions){
		.source = tracer == HOST_FUNCTION ? REPORT_BY_FUNCTION : REPORT_BY_GRAPH,
		.tracer = tracer, .trace = work->path, .of = work->trace,
		.is_guest = work->is_guest, .has_vcpus = traced->has_vcpus,
		.is_host = !work->is_guest && kvm_trace_is_host(work->trace),
		.is_timed = traced->read->has_switches,
		.machine = work->is_guest ? work->machine : VIRT_NONE, .read = traced->read,
	};
	ret = sum_functions(traced, functions);
	if (!ret)
		ret = sum_owners(traced, functions, &traced->read->tracers[tracer].by_task,
			       REPORT_FUNCTION_TASK);
	if (!ret)
		ret = sum_owners(traced, functions, &traced->read->tracers[tracer].by_cpu,
			       REPORT_FUNCTION_CPU);
	for (int kind = 0; kind < REPORT_N_FUNCTION_OWNER_KINDS; kind++)
		if (functions->owners[kind].map.n_keys)
			qsort(functions->owners[kind].all, functions->owners[kind].map.n_keys,
			      sizeof(*functions->owners[kind].all), compare_owners);
	return ret;
}

/* --- traces ---------------------------------------------------------------------------------- */

/** The vCPUs that the CPUs of a guest are; those whose clock is wrong are unknown. */
static int find_vcpus(struct traced *traced, struct host_functions_from *from, int32_t **vcpus)
{
	const struct model_load *load = traced->work->report->load;
	int n = kvm_trace_n_cpus(from->trace), n_tids = 0;
	const int *tids = guest_tasks_tids(&load->host, from->trace, &n_tids);
	const struct guest_clock *clock = NULL;

	for (int i = 0; i < load->n_guests; i++)
		if (load->guests[i] == from->trace)
			clock = &load->clocks[i];
	*vcpus = malloc(((size_t)n + 1) * sizeof(**vcpus));
	if (!*vcpus)
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		(*vcpus)[i] = tids && clock && i < n_tids && tids[i] > 0 &&
			      !guest_clock_is_wrong(clock, i) ?
			      virt_model_find_vcpu(load->model, tids[i]) : VIRT_NONE;
		traced->has_vcpus |= (*vcpus)[i] != VIRT_NONE;
	}
	from->model = load->model;
	from->vcpus = *vcpus;
	from->n_vcpus = n;
	return 0;
}

static int read_trace(struct traced *traced)
{
	const struct report_work *work = traced->work;
	const struct report_work_time time = report_work_time(work);
	struct host_functions_from from = {
		.trace = work->trace, .from_ns = work->report->from_ns,
		.to_ns = work->report->to_ns, .time = time.time, .time_arg = time.arg,
	};
	int32_t *vcpus = NULL;
	int ret = work->is_guest ? find_vcpus(traced, &from, &vcpus) : 0;

	if (!ret)
		ret = host_functions_read(traced->read, &from);
	free(vcpus);
	return ret;
}

/** Keep what is read, which the tracers of a trace share. Return: NULL without memory. */
static struct host_functions *new_read(struct report_hypertrace *hypertrace)
{
	struct host_functions *read = calloc(1, sizeof(*read));

	if (read && ARRAY_GROW(hypertrace->reads, hypertrace->n_reads, hypertrace->room_reads)) {
		free(read);
		read = NULL;
	}
	if (read)
		hypertrace->reads[hypertrace->n_reads++] = read;
	return read;
}

static int add_trace(struct traced *traced)
{
	int ret;

	traced->read = new_read(traced->hypertrace);
	if (!traced->read)
		return -ENOMEM;
	ret = read_trace(traced);
	traced->functions = calloc((size_t)traced->read->map.n_keys + 1,
				   sizeof(*traced->functions));
	traced->asked = calloc((size_t)traced->read->map.n_keys + 1, sizeof(*traced->asked));
	if (!traced->functions || !traced->asked)
		ret = -ENOMEM;
	if (!ret)
		name_all(traced);
	for (int i = 0; i < HOST_N_FUNCTION_TRACERS && !ret; i++)
		ret = add_tracer(traced, (enum host_function_tracer)i);
	free(traced->functions);
	free(traced->asked);
	return ret;
}

static int trace_functions(struct report_work *work)
{
	struct traced traced = {
		.work = work, .hypertrace = work->arg,
		.options = &((struct report_hypertrace *)work->arg)->options->functions,
	};

	return work->trace ? add_trace(&traced) : 0;
}

int report_traced_build(struct report_counted *counted, struct report *report,
			const struct ksv_vcpu_set *vcpus)
{
	struct report_hypertrace *hypertrace = &counted->hypertrace;

	if (!hypertrace->options->functions.n_patterns)
		return 0;
	/* it knows who was asked for */
	return report_window(report, vcpus, 0) ? -ENOMEM :
	       report_work_each_trace(report, hypertrace, trace_functions);
}

void report_traced_free(struct report_hypertrace *hypertrace)
{
	for (size_t i = 0; i < hypertrace->n_traced; i++)
		report_functions_free(&hypertrace->traced[i]);
	for (size_t i = 0; i < hypertrace->n_reads; i++) {
		host_functions_free(hypertrace->reads[i]);
		free(hypertrace->reads[i]);
	}
	free(hypertrace->traced);
	free(hypertrace->reads);
}
