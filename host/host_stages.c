// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_stages.c
 * @brief	List the stages of a guest's boot, with the cost of each.
 */
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "host_stages.h"
#include "search.h"

/** The hypercalls of a vCPU, added up: before each of them, and in the end. */
struct call_sums {
	const struct hyper_call *calls;
	size_t		n;
	uint64_t	*counts;	/* but KVM's own; NULL: not wanted */
	uint64_t	*ns;
};

struct host_stages {
	const struct host_hypertrace *trace;
	int32_t		machine;
	const struct hyper_guest *guest; /* the source of the stages; or NULL */
	const struct hyper_dialect *dialect;
	const struct hyper_symbols *symbols;
	int64_t		from_ns, to_ns;
	bool		by_trace;
	struct call_sums *cpus;
	int32_t		n_cpus;
	struct virt_exit_total *reasons;
	size_t		n_reasons;	/* that there is room for: for all of any vCPU */
};

static bool is_stage(const struct host_stages *stages, const struct hyper_slice *slice)
{
	return (slice->kind == HYPER_PHASE || slice->kind == HYPER_LEVEL ||
		slice->kind == HYPER_SHUTDOWN || slice->kind == HYPER_INITCALL ||
		slice->kind == HYPER_DEVICE || slice->kind == HYPER_NOTIFIER) &&
	       slice->start_ns < stages->to_ns && slice->end_ns >= stages->from_ns;
}

/* --- hypercalls ------------------------------------------------------------------------------ */

/**
 * What the exit of a hypercall costs: from the exit before it to the entry behind it.
 * @before: the one before it, in which it cannot have begun; or NULL
 */
static int64_t call_cost(const struct virt_model *model, int32_t vcpu,
			 const struct hyper_call *call, const struct hyper_call *before)
{
	const struct virt_interval *interval;
	struct virt_exit exit;

	if (call->cost_ns >= 0)
		return before && call->cost_ns > call->time_ns - before->time_ns ? 0 :
		       call->cost_ns;
	interval = virt_vcpu_at(model, vcpu, call->time_ns, NULL);
	if (!interval || !(interval->flags & VIRT_INTERVAL_EXIT) ||
	    !virt_vcpu_next_exit(model, vcpu, interval->start_ns, &exit) || !exit.complete)
		return 0;
	return exit.cost_ns;
}

/** Return: false without memory. */
static bool sum_calls(const struct host_hypertrace *trace, int32_t vcpu, struct call_sums *sums)
{
	const struct virt_model *model = trace->model;

	sums->calls = host_hypercalls_of(trace->calls, virt_model_vcpu(model, vcpu)->host_pid,
					 &sums->n);
	sums->counts = calloc(sums->n + 1, sizeof(*sums->counts));
	sums->ns = calloc(sums->n + 1, sizeof(*sums->ns));
	if (!sums->counts || !sums->ns)
		return false;
	for (size_t i = 0; i < sums->n; i++) {
		const struct hyper_call *call = &sums->calls[i];
		bool own = hyper_result_of(call) != HYPER_UNKNOWN;

		sums->counts[i + 1] = sums->counts[i] + !own;
		sums->ns[i + 1] = sums->ns[i] +
				  (own ? 0 : (uint64_t)call_cost(model, vcpu, call,
								 i ? call - 1 : NULL));
	}
	return true;
}

static void count_calls(const struct call_sums *sums, struct host_stage *stage)
{
	size_t first, end;
	uint64_t ns;

	SEARCH_FIRST(first, 0, sums->n, sums->calls[first].time_ns < stage->from_ns);
	SEARCH_FIRST(end, first, sums->n, sums->calls[end].time_ns < stage->to_ns);
	stage->calls = sums->counts[end] - sums->counts[first];
	ns = sums->ns[end] - sums->ns[first];
	stage->calls_ns = ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

/* --- beginning ------------------------------------------------------------------------------- */

/** Choose the source: hypercalls, unless only the guest's own trace contains stages. */
static void choose_source(struct host_stages *stages, const struct hyper_guest *own)
{
	const struct host_hypertrace_machine *machine = &stages->trace->machines[stages->machine];
	const struct hyper_slice *slices;
	size_t i = 0, n = 0;

	stages->guest = machine->guest;
	stages->dialect = machine->dialect;
	slices = stages->guest ? hyper_guest_slices(stages->guest, &n) : NULL;
	while (i < n && !is_stage(stages, &slices[i]))
		i++;
	if (i < n || !own)
		return;
	stages->guest = own;
	stages->dialect = &hyper_tracepoints;
	stages->by_trace = true;
}

/** What is asked of the vCPUs that stages are on. Return: false without memory. */
static bool prepare(struct host_stages *stages)
{
	const struct virt_model *model = stages->trace->model;
	const struct hyper_slice *slices = NULL;
	size_t n = 0;

	if (stages->guest)
		slices = hyper_guest_slices(stages->guest, &n);
	for (size_t i = 0; i < n; i++) {
		struct call_sums *sums = &stages->cpus[slices[i].cpu];
		int32_t vcpu = host_hypertrace_vcpu(stages->trace, stages->machine, slices[i].cpu);
		size_t reasons;

		if (!is_stage(stages, &slices[i]) || sums->counts)
			continue;
		if (!sum_calls(stages->trace, vcpu, sums))
			return false;
		reasons = virt_vcpu_exits(model, vcpu, INT64_MIN, INT64_MAX, NULL, 0);
		if (reasons > stages->n_reasons)
			stages->n_reasons = reasons;
	}
	/* of a reason there are exits with an entry and without: with room for both, it is fast */
	stages->n_reasons *= 2;
	stages->reasons = calloc(stages->n_reasons + 1, sizeof(*stages->reasons));
	return stages->reasons != NULL;
}

struct host_stages *host_stages_new(const struct host_hypertrace *trace, int32_t machine,
				    const struct hyper_guest *own,
				    const struct hyper_symbols *symbols, int64_t from_ns,
				    int64_t to_ns)
{
	struct host_stages *stages = calloc(1, sizeof(*stages));

	if (!stages)
		return NULL;
	stages->trace = trace;
	stages->machine = machine;
	stages->symbols = symbols;
	stages->from_ns = from_ns;
	stages->to_ns = to_ns;
	choose_source(stages, own);
	stages->n_cpus = virt_model_machine(trace->model, machine)->n_vcpus;
	stages->cpus = calloc((size_t)stages->n_cpus + 1, sizeof(*stages->cpus));
	if (stages->cpus && prepare(stages))
		return stages;
	host_stages_free(stages);
	return NULL;
}

void host_stages_free(struct host_stages *stages)
{
	if (!stages)
		return;
	for (int32_t cpu = 0; stages->cpus && cpu < stages->n_cpus; cpu++) {
		free(stages->cpus[cpu].counts);
		free(stages->cpus[cpu].ns);
	}
	free(stages->cpus);
	free(stages->reasons);
	free(stages);
}

bool host_stages_by_trace(const struct host_stages *stages)
{
	return stages->by_trace;
}

/* --- stages ---------------------------------------------------------------------------------- */

static void name_stage(const struct host_stages *stages, struct host_stage *stage)
{
	const struct hyper_slice *slice = stage->slice;
	const char *number = hyper_number_name(stages->dialect, (enum hyper_kind)slice->kind,
					       (int64_t)slice->what);
	const char *name = hyper_guest_name(stages->guest, slice->name);

	if (!name && slice->kind == HYPER_INITCALL)
		name = hyper_symbols_name(stages->symbols, slice->what, NULL);
	if (name || (slice->kind == HYPER_PHASE &&
		     strcmp(slice->label, hyper_kind_name(HYPER_PHASE)) != 0))
		text_format(stage->name, sizeof(stage->name), "%s", name ? name : slice->label);
	else if (number)
		text_format(stage->name, sizeof(stage->name), "%s", number);
	else
		text_format(stage->name, sizeof(stage->name),
			    slice->what > UINT32_MAX ? "%s 0x%llx" : "%s %llu",
			    hyper_kind_name((enum hyper_kind)slice->kind),
			    (unsigned long long)slice->what);
}

static void make_stage(struct host_stages *stages, const struct hyper_slice *slice,
		       struct host_stage *stage)
{
	const struct virt_model *model = stages->trace->model;
	int32_t vcpu = host_hypertrace_vcpu(stages->trace, stages->machine, slice->cpu);
	struct virt_totals totals;

	*stage = (struct host_stage){
		.slice = slice, .reasons = stages->reasons,
		.from_ns = slice->start_ns > stages->from_ns ? slice->start_ns : stages->from_ns,
		.to_ns = slice->end_ns < stages->to_ns ? slice->end_ns : stages->to_ns,
	};
	name_stage(stages, stage);
	virt_vcpu_totals(model, vcpu, stage->from_ns, stage->to_ns, &totals);
	stage->true_ns = totals.ns[VIRT_GUEST];
	stage->unknown_ns = totals.ns[VIRT_UNKNOWN];
	stage->n_reasons = virt_vcpu_exits(model, vcpu, stage->from_ns, stage->to_ns,
					   stages->reasons, stages->n_reasons);
	for (size_t i = 0; i < stage->n_reasons; i++) {
		stage->exits += stage->reasons[i].count;
		stage->exits_ns += stage->reasons[i].ns;
	}
	count_calls(&stages->cpus[slice->cpu], stage);
}

size_t host_stages_each(struct host_stages *stages,
			void (*take)(void *arg, const struct host_stage *stage), void *arg)
{
	const struct hyper_slice *slices = NULL;
	struct host_stage stage;
	size_t n = 0, n_taken = 0;

	if (stages->guest)
		slices = hyper_guest_slices(stages->guest, &n);
	for (size_t i = 0; i < n; i++) {
		if (!is_stage(stages, &slices[i]))
			continue;
		make_stage(stages, &slices[i], &stage);
		take(arg, &stage);
		n_taken++;
	}
	return n_taken;
}
