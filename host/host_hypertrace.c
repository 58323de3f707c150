// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_hypertrace.c
 * @brief	Find the dialect in which each machine of a host reports through hypercalls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "host_hypertrace.h"

bool host_hypertrace_is_file(const char *dialect)
{
	return strpbrk(dialect, "./") != NULL;
}

/** The dialect that was asked for by name; or read from a file, into @own. */
static const struct hyper_dialect *find_dialect(const char *name, struct hyper_dialect **own,
						char *error, size_t size)
{
	const struct hyper_dialect *dialect;
	int n;

	*own = NULL;
	if (host_hypertrace_is_file(name))
		return hyper_dialect_read(name, own, error, size) ? NULL : *own;
	dialect = hyper_dialect_find(name);
	if (dialect)
		return dialect;
	n = text_format(error, size, "no dialect is called '%s'; there are", name);
	for (size_t i = 0; hyper_dialects[i] && n >= 0 && (size_t)n < size; i++)
		n += text_format(error + n, size - (size_t)n, "%s %s", i ? "," : "",
				 hyper_dialects[i]->name);
	if (n >= 0 && (size_t)n < size)
		text_format(error + n, size - (size_t)n, "; a file has a '.' in its name");
	return NULL;
}

bool host_hypertrace_check(const char *dialect, char *error, size_t size)
{
	struct hyper_dialect *own;
	bool found = find_dialect(dialect, &own, error, size) != NULL;

	hyper_dialect_free(own);
	return found;
}

static bool is_kernels(const struct hyper_call *call)
{
	return call->rip >> 63;
}

/** Which calls are those of programs. Return: 0 or -1 without memory. */
static int find_users(const struct host_hypertrace *trace, struct host_hypercalls *calls)
{
	int64_t *kernel_ns = malloc(((size_t)trace->n_machines + 1) * sizeof(*kernel_ns));
	int32_t vcpu = VIRT_NONE;

	if (!kernel_ns)
		return -1;
	for (int32_t m = 0; m < trace->n_machines; m++)
		kernel_ns[m] = INT64_MAX;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < calls->n; i++) {
			struct hyper_call *call = &calls->all[i];
			int64_t *first_ns;

			if (!i || call->tid != call[-1].tid)
				vcpu = virt_model_find_vcpu(trace->model, call->tid);
			if (vcpu == VIRT_NONE)
				continue;
			first_ns = &kernel_ns[virt_model_vcpu(trace->model, vcpu)->machine];
			if (pass)
				call->is_users = call->rip && !is_kernels(call) &&
						 call->time_ns >= *first_ns;
			else if (is_kernels(call) && call->time_ns < *first_ns)
				*first_ns = call->time_ns;
		}
	}
	free(kernel_ns);
	return 0;
}

static int count_calls(struct host_hypertrace *trace)
{
	size_t counted = 0;

	for (int32_t v = 0; v < virt_model_n_vcpus(trace->model); v++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(trace->model, v);
		struct hyper_tally *tally = &trace->machines[vcpu->machine].tally;
		size_t n;
		const struct hyper_call *calls = host_hypercalls_of(trace->calls, vcpu->host_pid,
								    &n);

		for (size_t i = 0; i < n; i++)
			if (!calls[i].is_users && hyper_tally_add(tally, &calls[i]))
				return -1;
		counted += n;
	}
	trace->strays = trace->calls->n - counted;
	return 0;
}

/** What is said of one choice, with the names of some numbers. */
#define WHY_SIZE	512

static int choose(struct host_hypertrace_machine *machine, const struct hyper_dialect *wanted)
{
	char why[WHY_SIZE];

	machine->dialect = hyper_detect(&machine->tally, why, sizeof(why));
	if (wanted) {
		machine->dialect = wanted;
		text_format(why, sizeof(why), "its hypercalls are decoded as those of %s, as "
			    "requested", wanted->name);
	}
	machine->why = strdup(why);
	return machine->why ? 0 : -1;
}

static int choose_all(struct host_hypertrace *trace, const struct hyper_dialect *wanted)
{
	for (int32_t m = 0; m < trace->n_machines; m++) {
		trace->machines[m].machine = m;
		if (trace->machines[m].tally.calls && choose(&trace->machines[m], wanted))
			return -1;
	}
	return 0;
}

struct host_hypertrace *host_hypertrace_new(const struct virt_model *model,
					    struct host_hypercalls *calls,
					    const char *dialect, char *error, size_t size)
{
	struct host_hypertrace *trace = calloc(1, sizeof(*trace));
	const struct hyper_dialect *wanted = NULL;

	if (!trace)
		goto err_memory;
	trace->model = model;
	trace->calls = calls;
	if (dialect) {
		wanted = find_dialect(dialect, &trace->own, error, size);
		if (!wanted)
			goto err;
	}
	trace->n_machines = virt_model_n_machines(model);
	trace->machines = calloc((size_t)trace->n_machines + 1, sizeof(*trace->machines));
	if (!trace->machines || find_users(trace, calls) || count_calls(trace) ||
	    choose_all(trace, wanted))
		goto err_memory;
	return trace;
err_memory:
	text_format(error, size, "not enough memory");
err:
	host_hypertrace_free(trace);
	return NULL;
}

void host_hypertrace_free(struct host_hypertrace *trace)
{
	if (!trace)
		return;
	for (int32_t m = 0; trace->machines && m < trace->n_machines; m++) {
		hyper_tally_free(&trace->machines[m].tally);
		hyper_guest_free(trace->machines[m].guest);
		free(trace->machines[m].numbers);
		free(trace->machines[m].why);
	}
	free(trace->machines);
	hyper_dialect_free(trace->own);
	free(trace);
}
