// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	report.c
 * @brief	The numbers of kshark-virt report, from the model's intervals.
 *
 * Intervals at the window's edges count with the part that lies inside; VM exits as a whole, if
 * they begin inside.
 */
#include <errno.h>
#include <stdlib.h>

#include "report.h"

/* --- distributions --------------------------------------------------------------------------- */

static void swap(int64_t *a, int64_t *b)
{
	int64_t t = *a;

	*a = *b;
	*b = t;
}

/** Reorder v[lo .. hi) such that v[k] is what it would be if all were sorted. */
static void select_nth(int64_t *v, size_t lo, size_t hi, size_t k)
{
	uint64_t random = 88172645463325252u;

	while (hi - lo > 1) {
		int64_t pivot;
		size_t less = lo, i = lo, greater = hi;

		/* a pivot that no trace can have been made to suit badly */
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		pivot = v[lo + random % (hi - lo)];
		while (i < greater) {
			if (v[i] < pivot)
				swap(&v[i++], &v[less++]);
			else if (v[i] > pivot)
				swap(&v[i], &v[--greater]);
			else
				i++;
		}
		if (k < less)
			hi = less;
		else if (k >= greater)
			lo = greater;
		else
			return;
	}
}

void report_dist_make(struct report_dist *dist, int64_t *ns, size_t n)
{
	static const unsigned int per_cent[] = { 5, 50, 95, 99 };
	int64_t *result[] = { &dist->p5, &dist->p50, &dist->p95, &dist->p99 };
	size_t lo = 0;

	*dist = (struct report_dist){ .count = n };
	if (!n)
		return;
	dist->min = dist->max = ns[0];
	for (size_t i = 0; i < n; i++) {
		dist->ns += ns[i];
		if (ns[i] < dist->min)
			dist->min = ns[i];
		if (ns[i] > dist->max)
			dist->max = ns[i];
	}
	for (size_t i = 0; i < ARRAY_SIZE(per_cent); i++) {
		size_t k = (n * per_cent[i] + 99) / 100 - 1;

		/* what lies before the last one found is smaller */
		select_nth(ns, lo, n, k);
		*result[i] = ns[k];
		lo = k;
	}
}

/** Durations that are being collected. */
struct samples {
	int64_t		*ns;
	size_t		n, room;
};

static int add_sample(struct samples *samples, int64_t ns)
{
	if (samples->n == samples->room) {
		size_t room = samples->room ? 2 * samples->room : 256;
		int64_t *grown = realloc(samples->ns, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		samples->ns = grown;
		samples->room = room;
	}
	samples->ns[samples->n++] = ns;
	return 0;
}

/** The distribution of what was collected; begin anew. */
static void end_samples(struct samples *samples, struct report_dist *dist)
{
	report_dist_make(dist, samples->ns, samples->n);
	samples->n = 0;
}

/* --- a vCPU's intervals ---------------------------------------------------------------------- */

static bool runs(unsigned int state)
{
	return state == VIRT_GUEST || state == VIRT_HYPERVISOR || state == VIRT_VMM;
}

/** The part of an interval that lies within the window. */
static void clip(const struct report *report, int64_t *start, int64_t *end)
{
	if (*start < report->from_ns)
		*start = report->from_ns;
	if (*end > report->to_ns)
		*end = report->to_ns;
}

/** What is collected while going through the intervals. */
struct collect {
	struct samples	states[VIRT_N_STATES];
	struct samples	runs, runnable;
	int64_t		run_ns;		/* of the run that goes on; -1: none */
	int16_t		run_pcpu;
};

static int end_run(struct collect *collect)
{
	int64_t ns = collect->run_ns;

	collect->run_ns = -1;
	return ns < 0 ? 0 : add_sample(&collect->runs, ns);
}

static int collect_interval(struct collect *collect, struct report_vcpu *vcpu,
			    const struct virt_interval *interval, int64_t ns)
{
	int ret = 0;

	if (!runs(interval->state)) {
		ret = end_run(collect);
	} else {
		if (collect->run_ns >= 0 && interval->pcpu != collect->run_pcpu)
			ret = end_run(collect);
		collect->run_ns = (collect->run_ns < 0 ? 0 : collect->run_ns) + ns;
		collect->run_pcpu = interval->pcpu;
		if (interval->pcpu >= 0)
			vcpu->pcpu_ns[interval->pcpu] += ns;
	}
	if (!ret && (interval->state == VIRT_PREEMPTED || interval->state == VIRT_WAKING))
		ret = add_sample(&collect->runnable, ns);
	return ret ? ret : add_sample(&collect->states[interval->state], ns);
}

static int collect_states(const struct report *report, int32_t index, struct report_vcpu *vcpu)
{
	struct virt_interval_range range = virt_vcpu_intervals(report->load->model, index,
							       report->from_ns, report->to_ns);
	struct collect collect = { .run_ns = -1 };
	int ret = 0;

	for (size_t i = 0; i < range.n && !ret; i++) {
		int64_t start = range.first[i].start_ns;
		int64_t end = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		clip(report, &start, &end);
		ret = collect_interval(&collect, vcpu, &range.first[i], end - start);
	}
	if (!ret)
		ret = end_run(&collect);
	for (int state = 0; state < VIRT_N_STATES; state++) {
		end_samples(&collect.states[state], &vcpu->states[state]);
		free(collect.states[state].ns);
	}
	end_samples(&collect.runs, &vcpu->runs);
	end_samples(&collect.runnable, &vcpu->runnable);
	free(collect.runs.ns);
	free(collect.runnable.ns);
	vcpu->known_ns = report->to_ns - report->from_ns - vcpu->states[VIRT_UNKNOWN].ns;
	return ret;
}

/* --- VM exits -------------------------------------------------------------------------------- */

/** The exits of a vCPU by reason; index: reason + 1, so that VIRT_NONE has a place. */
struct exits {
	struct report_exit *of;
	struct samples	*costs;
	int32_t		n;
};

/** Take the exit apart that begins with interval @i. Return: 0 or -ENOMEM. */
static int collect_exit(const struct virt_interval_range *range, size_t i, struct exits *exits)
{
	int32_t reason = range->first[i].state == VIRT_HYPERVISOR ||
			 range->first[i].state == VIRT_VMM ? range->first[i].detail : VIRT_NONE;
	struct report_exit *exit = &exits->of[reason + 1];
	int64_t cost = 0, part[VIRT_N_STATES] = { 0 };
	size_t j = i;

	exit->count++;
	do {
		unsigned int state = range->first[j].state;
		int64_t end = j + 1 < range->n ? range->first[j + 1].start_ns : range->end_ns;

		if (state == VIRT_UNKNOWN)
			return 0;
		part[state] += end - range->first[j].start_ns;
		if (state != VIRT_BLOCKED && state != VIRT_OFFLINE)
			cost += end - range->first[j].start_ns;
		if (++j == range->n || range->first[j].flags & VIRT_INTERVAL_EXIT)
			return 0;
	} while (range->first[j].state != VIRT_GUEST);
	for (int state = 0; state < VIRT_N_STATES; state++)
		exit->state_ns[state] += part[state];
	return add_sample(&exits->costs[reason + 1], cost);
}

static int compare_exits(const void *a, const void *b)
{
	const struct report_exit *x = a, *y = b;

	if (x->cost.ns != y->cost.ns)
		return x->cost.ns < y->cost.ns ? 1 : -1;
	return (x->count < y->count) - (x->count > y->count);
}

/** Those of one vCPU. */
static int add_exits(const struct report *report, int32_t index, struct exits *exits)
{
	/* an exit may end after the window */
	struct virt_interval_range range = virt_vcpu_intervals(report->load->model, index,
				report->from_ns, virt_model_end(report->load->model));
	int ret = 0;

	for (size_t i = 0; i < range.n && !ret; i++) {
		if (range.first[i].start_ns >= report->to_ns)
			break;
		if (range.first[i].flags & VIRT_INTERVAL_EXIT &&
		    range.first[i].state != VIRT_GUEST &&
		    range.first[i].start_ns >= report->from_ns)
			ret = collect_exit(&range, i, exits);
	}
	return ret;
}

/** Those of @n vCPUs together. */
static int collect_exits(const struct report *report, const int32_t *vcpus, int32_t n,
			 struct report_exit **found, size_t *n_found)
{
	const struct virt_model *model = report->load->model;
	struct exits exits = { .n = virt_model_n_reasons(model) + 1 };
	int ret = 0;

	exits.of = calloc(exits.n, sizeof(*exits.of));
	exits.costs = calloc(exits.n, sizeof(*exits.costs));
	if (!exits.of || !exits.costs)
		ret = -ENOMEM;
	for (int32_t i = 0; i < n && !ret; i++)
		ret = add_exits(report, vcpus[i], &exits);
	for (int32_t i = 0; i < exits.n && !ret; i++) {
		const char *reason = virt_model_reason(model, i - 1);

		exits.of[i].reason = reason ? reason : "unknown";
		end_samples(&exits.costs[i], &exits.of[i].cost);
		if (exits.of[i].count)
			exits.of[(*n_found)++] = exits.of[i];
	}
	for (int32_t i = 0; exits.costs && i < exits.n; i++)
		free(exits.costs[i].ns);
	free(exits.costs);
	*found = exits.of;
	if (!ret && *n_found)
		qsort(*found, *n_found, sizeof(**found), compare_exits);
	return ret;
}

/* --- all of it ------------------------------------------------------------------------------- */

static int collect_culprits(const struct report *report, int32_t index, struct report_vcpu *vcpu)
{
	const struct virt_model *model = report->load->model;
	size_t room = virt_vcpu_culprits(model, index, report->from_ns, report->to_ns, NULL, 0);
	struct virt_culprit *found = calloc(room + 1, sizeof(*found));

	vcpu->culprits = calloc(room + 1, sizeof(*vcpu->culprits));
	if (!found || !vcpu->culprits) {
		free(found);
		return -ENOMEM;
	}
	vcpu->n_culprits = virt_vcpu_culprits(model, index, report->from_ns, report->to_ns,
					      found, room);
	for (size_t i = 0; i < vcpu->n_culprits; i++) {
		const char *who = virt_model_who(model, found[i].vcpu);

		vcpu->culprits[i].who = who ? who : "nobody";
		vcpu->culprits[i].ns = found[i].ns;
	}
	free(found);
	return 0;
}

/** A vCPU as --vcpu names it. */
static xen_vcpu xen_name(const struct virt_machine *machine, const struct virt_vcpu *vcpu)
{
	return machine->id < XEN_DOMID_IDLE ?
	       (xen_vcpu)machine->id << 16 | (uint32_t)vcpu->id : XEN_VCPU_UNKNOWN;
}

static int build_machine_exits(const struct report *report, struct report_machine *machine)
{
	int32_t *vcpus = malloc(((size_t)machine->n_vcpus + 1) * sizeof(*vcpus));
	int32_t n = 0;
	int ret;

	if (!vcpus)
		return -ENOMEM;
	/* those that were asked for are in the same order */
	for (int32_t i = 0; i < machine->info->n_vcpus && n < machine->n_vcpus; i++)
		if (virt_model_vcpu(report->load->model, machine->info->vcpus[i]) ==
		    machine->vcpus[n].info)
			vcpus[n++] = machine->info->vcpus[i];
	ret = collect_exits(report, vcpus, n, &machine->exits, &machine->n_exits);
	free(vcpus);
	return ret;
}

static int build_machine(const struct report *report, int32_t index,
			 struct report_machine *machine)
{
	struct virt_machine_range range = virt_machine_intervals(report->load->model, index,
								 report->from_ns, report->to_ns);
	struct samples samples[VIRT_M_N_STATES] = { { 0 } };
	int ret = 0;

	for (size_t i = 0; i < range.n && !ret; i++) {
		int64_t start = range.first[i].start_ns;
		int64_t end = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		clip(report, &start, &end);
		ret = add_sample(&samples[range.first[i].state], end - start);
	}
	for (int state = 0; state < VIRT_M_N_STATES; state++) {
		end_samples(&samples[state], &machine->states[state]);
		free(samples[state].ns);
	}
	machine->known_ns = report->to_ns - report->from_ns - machine->states[VIRT_M_LOST].ns;
	return ret || !report->kvm ? ret : build_machine_exits(report, machine);
}

/** @key: of its counts */
static int build_vcpu(const struct report *report, int32_t index, int32_t key,
		      struct report_vcpu *vcpu)
{
	int ret;

	vcpu->info = virt_model_vcpu(report->load->model, index);
	vcpu->count = report_count_vcpu(report->count, (uint32_t)key);
	vcpu->pcpu_ns = calloc(report->n_pcpus + 1, sizeof(*vcpu->pcpu_ns));
	if (!vcpu->pcpu_ns)
		return -ENOMEM;
	vcpu->migrations = virt_vcpu_migrations(report->load->model, index, report->from_ns,
						report->to_ns);
	virt_vcpu_exit_levels(report->load->model, index, report->from_ns, report->to_ns,
			      &vcpu->levels);
	ret = collect_states(report, index, vcpu);
	if (!ret)
		ret = collect_exits(report, &index, 1, &vcpu->exits, &vcpu->n_exits);
	if (!ret)
		ret = collect_culprits(report, index, vcpu);
	return ret;
}

bool report_wants_vcpu(const struct report *report, int32_t index,
		       const struct ksv_vcpu_set *vcpus)
{
	const struct virt_model *model = report->load->model;
	const struct virt_vcpu *vcpu = virt_model_vcpu(model, index);

	return !vcpus->n ||
	       ksv_vcpu_in_set(vcpus, xen_name(virt_model_machine(model, vcpu->machine), vcpu));
}

int report_build(struct report *report, const struct ksv_vcpu_set *vcpus)
{
	const struct virt_model *model = report->load->model;
	int32_t n = virt_model_n_machines(model);
	int ret = 0;

	report->n_pcpus = model_n_pcpus(report->load);
	if (virt_model_n_pcpus(model) > report->n_pcpus)
		report->n_pcpus = virt_model_n_pcpus(model);
	report->machines = calloc(n + 1, sizeof(*report->machines));
	if (!report->machines)
		return -ENOMEM;
	for (int32_t i = 0; i < n && !ret; i++) {
		struct report_machine *machine = &report->machines[report->n_machines];
		const struct virt_machine *info = virt_model_machine(model, i);

		machine->info = info;
		machine->vcpus = calloc(info->n_vcpus + 1, sizeof(*machine->vcpus));
		if (!machine->vcpus)
			return -ENOMEM;
		report->n_machines++;
		for (int32_t j = 0; j < info->n_vcpus && !ret; j++) {
			const struct virt_vcpu *vcpu = virt_model_vcpu(model, info->vcpus[j]);
			xen_vcpu name = xen_name(info, vcpu);

			if (vcpus->n && !ksv_vcpu_in_set(vcpus, name))
				continue;
			ret = build_vcpu(report, info->vcpus[j],
					 report->kvm ? vcpu->host_pid : (int32_t)name,
					 &machine->vcpus[machine->n_vcpus++]);
		}
		if (!ret)
			ret = build_machine(report, i, machine);
		if (vcpus->n && !machine->n_vcpus) {
			free(machine->vcpus);
			free(machine->exits);
			*machine = (struct report_machine){ .info = NULL };
			report->n_machines--;
		}
	}
	return ret;
}

void report_free(struct report *report)
{
	for (int32_t i = 0; i < report->n_machines; i++) {
		struct report_machine *machine = &report->machines[i];

		for (int32_t j = 0; j < machine->n_vcpus; j++) {
			free(machine->vcpus[j].pcpu_ns);
			free(machine->vcpus[j].exits);
			free(machine->vcpus[j].culprits);
		}
		free(machine->vcpus);
		free(machine->exits);
	}
	free(report->machines);
	report->machines = NULL;
	report->n_machines = 0;
}

int64_t report_lost_ns(const struct report *report, int pcpu)
{
	struct virt_loss_range losses = virt_model_losses(report->load->model);
	int64_t done = report->from_ns, ns = 0;

	/* ascending by beginning; what overlaps counts once */
	for (size_t i = 0; i < losses.n; i++) {
		int64_t from = losses.first[i].from_ns, to = losses.first[i].to_ns;

		if (losses.first[i].pcpu != pcpu)
			continue;
		if (from < done)
			from = done;
		if (to > report->to_ns)
			to = report->to_ns;
		if (to > from) {
			ns += to - from;
			done = to;
		}
	}
	return ns;
}
