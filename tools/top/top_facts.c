// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	top_facts.c
 * @brief	An interval, fact by fact.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host_samples.h"
#include "host_tasks.h"
#include "top.h"
#include "virt_arguments.h"
#include "virt_needs.h"

struct walk {
	struct report	*report;
	unsigned int	scope;		/* set of enum top_scope */
	top_fact_fn	take;
	void		*arg;
};

static const struct kind_row {
	const char	*section;
	unsigned int	numbers;
} kinds[TOP_N_KINDS] = {
	[TOP_MACHINE_STATE] = { "machine_state", TOP_COUNT | TOP_NS },
	[TOP_STATE] = { "state", TOP_COUNT | TOP_NS },
	[TOP_UNSPLIT] = { "unsplit", TOP_NS },
	[TOP_EXIT] = { "exits", TOP_COUNT | TOP_NS | TOP_COMPLETE },
	[TOP_ARGUMENT] = { "exit_arguments", TOP_COUNT | TOP_NS | TOP_COMPLETE },
	[TOP_WAKE] = { "wakes", TOP_COUNT | TOP_NS | TOP_COMPLETE | TOP_WAKE_NS },
	[TOP_STEAL] = { "culprit", TOP_NS },
	[TOP_LOSS] = { "lost", TOP_COUNT | TOP_NS },
	[TOP_TASK] = { "task", TOP_COUNT | TOP_NS },
	[TOP_TASK_WAIT] = { "task_wait", TOP_NS | TOP_COMPLETE | TOP_WAKE_NS },
	[TOP_HOST_TIME] = { "host_time", TOP_NS },
	[TOP_HOST] = { "host", TOP_COUNT },
};

const char *top_section(enum top_kind kind)
{
	return kinds[kind].section;
}

bool top_has(enum top_kind kind, enum top_number number)
{
	return kinds[kind].numbers & (unsigned int)number;
}

static int64_t if_any(uint64_t n, int64_t value)
{
	return n ? value : VIRT_NONE;
}

/** What takes a time each: how many there are, and of those that have an end, their length. */
static void set_lengths(struct top_fact *fact, uint64_t count, const struct virt_dist *dist)
{
	fact->count = (int64_t)count;
	fact->complete = (int64_t)dist->count;
	fact->ns = if_any(dist->count, dist->ns);
}

static bool knows(const struct walk *walk, enum virt_number number)
{
	return virt_model_knows(walk->report->load->model, number);
}

/** A state whose records the trace does not have is there, without a number. */
static void take_state(const struct walk *walk, struct top_fact *fact, bool is_known)
{
	if (!is_known)
		fact->ns = fact->count = VIRT_NONE;
	walk->take(walk->arg, fact);
}

static void machine_states(const struct walk *walk, struct top_fact fact,
			   const struct virt_window_machine *window)
{
	fact.kind = TOP_MACHINE_STATE;
	fact.known_ns = window->known_ns;
	for (int state = 0; state < VIRT_M_N_STATES; state++) {
		fact.id = state;
		fact.name = virt_machine_state_name((enum virt_machine_state)state);
		fact.ns = window->states[state].ns;
		fact.count = (int64_t)window->states[state].count;
		take_state(walk, &fact, state == VIRT_M_LOST || knows(walk, VIRT_NUMBER_TOGETHER));
	}
}

static void vcpu_states(const struct walk *walk, struct top_fact fact,
			const struct virt_window_stats *stats)
{
	fact.kind = TOP_STATE;
	for (int state = 0; state < VIRT_N_STATES; state++) {
		fact.id = state;
		fact.name = virt_state_name((enum virt_state)state);
		fact.ns = stats->states[state].ns;
		fact.count = (int64_t)stats->states[state].count;
		fact.includes = virt_model_includes(walk->report->load->model,
						    (enum virt_state)state);
		take_state(walk, &fact, virt_model_knows_state(walk->report->load->model,
							       (enum virt_state)state));
	}
	fact.kind = TOP_UNSPLIT;
	fact.includes = 0;
	fact.count = VIRT_NONE;
	for (int state = 0; state < VIRT_N_STATES; state++) {
		fact.id = state;
		fact.name = virt_state_name((enum virt_state)state);
		fact.ns = stats->unsplit_ns[state];
		if (fact.ns)
			walk->take(walk->arg, &fact);
	}
}

static void vcpu_exits(const struct walk *walk, struct top_fact fact,
		       const struct virt_window_stats *stats)
{
	fact.kind = TOP_EXIT;
	fact.id = VIRT_NONE;
	fact.count = fact.ns = VIRT_NONE;
	if (!knows(walk, VIRT_NUMBER_EXITS))
		walk->take(walk->arg, &fact);
	for (size_t i = 0; i < stats->n_reasons; i++) {
		const struct virt_window_exit *exit = &stats->reasons[i];

		fact.id = exit->reason;
		fact.name = report_reason(walk->report, exit->reason);
		set_lengths(&fact, exit->count, &exit->cost);
		if (!knows(walk, VIRT_NUMBER_EXIT_COST))
			fact.complete = fact.ns = VIRT_NONE;
		walk->take(walk->arg, &fact);
	}
}

/** The parts of reasons that have any. */
static void vcpu_arguments(const struct walk *walk, struct top_fact fact,
			   const struct virt_window_stats *stats)
{
	char name[3 * EXIT_ARGUMENT_NAME];

	fact.kind = TOP_ARGUMENT;
	fact.name = name;
	for (size_t i = 0; i < stats->n_arguments; i++) {
		const struct virt_window_exit *exit = &stats->arguments[i];
		const char *cause = report_cause(walk->report, exit);

		if (!report_has_argument(walk->report, exit->reason))
			continue;
		snprintf(name, sizeof(name), "%s:%s%s%s", report_reason(walk->report, exit->reason),
			 cause ? cause : "", cause ? ":" : "",
			 report_argument(walk->report, exit));
		/* numbers of arguments are those of the model, which may not last */
		fact.id = exit->reason;
		set_lengths(&fact, exit->count, &exit->cost);
		if (!knows(walk, VIRT_NUMBER_EXIT_COST))
			fact.complete = fact.ns = VIRT_NONE;
		walk->take(walk->arg, &fact);
	}
}

static void vcpu_waits(const struct walk *walk, struct top_fact fact,
		       const struct virt_window_stats *stats)
{
	const struct virt_stretches *wakes = &stats->states[VIRT_WAKING];

	fact.kind = TOP_WAKE;
	set_lengths(&fact, wakes->count, &wakes->whole);
	fact.wake_ns = if_any(wakes->whole.count,
			      virt_dist_stat(&wakes->whole, TOP_WAKE_STAT));
	if (!knows(walk, VIRT_NUMBER_WAKING))
		fact.count = fact.complete = fact.ns = fact.wake_ns = VIRT_NONE;
	if (wakes->count || fact.count == VIRT_NONE)
		walk->take(walk->arg, &fact);
	fact.kind = TOP_STEAL;
	fact.id = VIRT_NONE;
	fact.count = fact.complete = fact.wake_ns = fact.ns = VIRT_NONE;
	if (!knows(walk, VIRT_NUMBER_CULPRITS)) {
		walk->take(walk->arg, &fact);
		return;
	}
	for (size_t i = 0; i < stats->n_culprits; i++) {
		fact.id = stats->culprits[i].vcpu;
		fact.name = report_who(walk->report, fact.id);
		fact.ns = stats->culprits[i].ns;
		walk->take(walk->arg, &fact);
	}
}

static void machine_facts(const struct walk *walk, int32_t index)
{
	const struct virt_model *model = walk->report->load->model;
	const struct virt_machine *info = virt_model_machine(model, index);
	struct top_fact fact = {
		.machine = info->name, .machine_id = info->id, .vcpu_id = VIRT_NONE,
		.pcpu = VIRT_NONE, .complete = VIRT_NONE, .wake_ns = VIRT_NONE,
	};
	struct report_machine machine;

	if (walk->scope & TOP_LIVING && info->ended_ns <= walk->report->from_ns)
		return;
	if (!report_machine(walk->report, index, &machine))
		return;
	machine_states(walk, fact, machine.window);
	for (int32_t i = 0; i < info->n_vcpus; i++) {
		int32_t vcpu = info->vcpus[i];
		const struct virt_window_stats *stats;

		if (!virt_window_walk_wants(walk->report->walk, vcpu))
			continue;
		stats = virt_window_walk_vcpu(walk->report->walk, vcpu);
		if (virt_window_walk_error(walk->report->walk))
			return;
		fact.vcpu = virt_model_vcpu(model, vcpu)->name;
		fact.vcpu_id = virt_model_vcpu(model, vcpu)->id;
		fact.known_ns = stats->known_ns;
		vcpu_states(walk, fact, stats);
		vcpu_exits(walk, fact, stats);
		vcpu_arguments(walk, fact, stats);
		vcpu_waits(walk, fact, stats);
	}
}

static void pcpu_facts(const struct walk *walk)
{
	struct top_fact fact = {
		.kind = TOP_LOSS, .machine_id = VIRT_NONE, .vcpu_id = VIRT_NONE,
		.complete = VIRT_NONE, .wake_ns = VIRT_NONE,
	};
	const struct virt_loss_walk_pcpu *lost;
	size_t n = virt_loss_walk_window(walk->report->lost, walk->report->from_ns,
				    walk->report->to_ns, &lost);

	for (size_t i = 0; i < n; i++) {
		fact.pcpu = fact.id = lost[i].pcpu;
		fact.ns = lost[i].ns;
		/* of losses that begin in the interval, if all of them are counted */
		fact.count = lost[i].sum.uncounted ? VIRT_NONE : (int64_t)lost[i].sum.records;
		walk->take(walk->arg, &fact);
	}
}

/** Runs that begin in the interval, and the time of all; its waits for a pCPU, and its wake-ups. */
static void task_facts(const struct walk *walk, const struct host_task_sum *sum)
{
	const struct virt_machine *machine = sum->machine == VIRT_NONE ? NULL :
		virt_model_machine(walk->report->load->model, sum->machine);
	char name[GUEST_TASK_FULL_NAME];
	struct top_fact fact = {
		.kind = TOP_TASK, .machine = report_works_for(walk->report, sum->machine, false),
		.machine_id = machine ? machine->id : VIRT_NONE, .vcpu_id = VIRT_NONE,
		.pcpu = VIRT_NONE, .name = name, .id = sum->pid,
		.complete = VIRT_NONE, .wake_ns = VIRT_NONE,
	};

	guest_tasks_name(name, sizeof(name), &walk->report->host_tasks->tasks, sum->pid);
	fact.ns = sum->on_pcpus ? sum->on_pcpus->believed_ns : 0;
	fact.count = sum->on_pcpus ? (int64_t)sum->on_pcpus->runs : 0;
	if (fact.ns || fact.count)
		walk->take(walk->arg, &fact);
	fact.kind = TOP_TASK_WAIT;
	fact.ns = host_task_wait_ns(sum);
	fact.count = VIRT_NONE;
	fact.complete = (int64_t)sum->wake.count;
	fact.wake_ns = if_any(sum->wake.count, virt_dist_stat(&sum->wake, TOP_WAKE_STAT));
	if (!knows(walk, VIRT_NUMBER_WAKING))
		fact.complete = fact.wake_ns = VIRT_NONE;
	if (fact.ns || sum->wake.count)
		walk->take(walk->arg, &fact);
}

/** Return: 0 or -ENOMEM. */
static int all_tasks(const struct walk *walk)
{
	const struct report *report = walk->report;
	struct host_task_sums sums;
	int ret = host_task_sums_make(&sums, report->host_tasks, report->load->model,
				      report->from_ns, report->to_ns);

	for (size_t i = 0; i < sums.n && !ret; i++)
		if (sums.all[i].pid && report_wants_work(report, sums.all[i].machine))
			task_facts(walk, &sums.all[i]);
	host_task_sums_free(&sums);
	return ret;
}

static int64_t mean_of(double mean)
{
	return isnan(mean) ? VIRT_NONE : llround(mean);
}

/** Is it a time? Its unit in a file, "_ns", is not a part of its name then. */
static bool is_host_time(const char *key, int *length)
{
	const char *unit = strrchr(key, '_');
	bool is = unit && !strcmp(unit, "_ns");

	*length = (int)(is ? (size_t)(unit - key) : strlen(key));
	return is;
}

/** What the kernel counted in the interval, and the means of what there was. */
static void host_facts(const struct walk *walk, enum top_kind kind)
{
	const struct report *report = walk->report;
	struct top_fact fact = {
		.kind = kind, .machine = report_works_for(report, VIRT_NONE, false),
		.machine_id = VIRT_NONE, .vcpu_id = VIRT_NONE, .pcpu = VIRT_NONE,
		.complete = VIRT_NONE, .wake_ns = VIRT_NONE,
	};
	struct host_sample_sums sums;
	char name[64];

	host_samples_sum(report->host_samples, report->from_ns, report->to_ns, &sums);
	fact.known_ns = host_samples_cpu_ns(&sums);
	if (fact.known_ns == HOST_SAMPLE_UNKNOWN)
		fact.known_ns = 0;
	for (int i = 0; i < HOST_N_SAMPLED; i++) {
		const char *key = host_sample_key((enum host_sample_number)i);
		int64_t value = i < HOST_N_COUNTERS ? sums.counts[i] : mean_of(sums.means[i]);
		int length;

		if (is_host_time(key, &length) != (kind == TOP_HOST_TIME))
			continue;
		if (value == HOST_SAMPLE_UNKNOWN)
			value = VIRT_NONE;
		snprintf(name, sizeof(name), "%.*s", length, key);
		fact.id = i;
		fact.name = name;
		fact.ns = kind == TOP_HOST_TIME ? value : VIRT_NONE;
		fact.count = kind == TOP_HOST_TIME ? VIRT_NONE : value;
		walk->take(walk->arg, &fact);
	}
}

int top_facts(struct report *report, const struct ksv_vcpu_set *vcpus, unsigned int scope,
	      top_fact_fn take, void *arg)
{
	const struct walk walk = {
		.report = report, .scope = scope, .take = take, .arg = arg,
	};
	int ret = report_window(report, vcpus, VIRT_WINDOW_STATES | (scope & TOP_ARGUMENTS ?
				VIRT_WINDOW_EXITS | VIRT_WINDOW_ARGUMENTS : 0));

	for (int32_t i = 0; !ret && i < virt_model_n_machines(report->load->model); i++) {
		machine_facts(&walk, i);
		if (virt_window_walk_error(report->walk))
			ret = -ENOMEM;
	}
	if (!ret)
		pcpu_facts(&walk);
	if (!ret && scope & TOP_TASKS)
		ret = all_tasks(&walk);
	if (!ret && scope & TOP_WHOLE_HOST) {
		host_facts(&walk, TOP_HOST_TIME);
		host_facts(&walk, TOP_HOST);
	}
	report_free(report);
	return ret;
}
