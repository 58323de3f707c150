// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_stats.c
 * @brief	Numbers of a window, out of a model's queries and one walk through its intervals.
 */
#include <stdlib.h>

#include "virt_stats.h"

/** Intervals between two looks at the wish to stop. */
#define STOP_STEP	65536

/** Lengths of wake-ups; a list that grows. */
struct lengths {
	int64_t	*ns;
	size_t	n, room;
};

static int add_length(struct lengths *lengths, int64_t ns)
{
	if (lengths->n == lengths->room) {
		size_t room = lengths->room ? 2 * lengths->room : 256;
		int64_t *moved = realloc(lengths->ns, room * sizeof(*moved));

		if (!moved)
			return -1;
		lengths->ns = moved;
		lengths->room = room;
	}
	lengths->ns[lengths->n++] = ns;
	return 0;
}

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/** The value that a share of all values does not exceed (nearest rank). */
static int64_t percentile(const struct lengths *lengths, unsigned int percent)
{
	size_t rank = (lengths->n * percent + 99) / 100;

	return lengths->n ? lengths->ns[rank ? rank - 1 : 0] : 0;
}

static void set_wakes(struct virt_stats *stats, struct lengths *lengths)
{
	qsort(lengths->ns, lengths->n, sizeof(*lengths->ns), compare_ns);
	stats->wakes = lengths->n;
	stats->wake_p50_ns = percentile(lengths, 50);
	stats->wake_p99_ns = percentile(lengths, 99);
	stats->wake_max_ns = lengths->n ? lengths->ns[lengths->n - 1] : 0;
}

static bool is_on_pcpu(const struct virt_interval *interval)
{
	return interval->state <= VIRT_VMM;
}

static void keep_worst(struct virt_stats *stats, int32_t vcpu, int64_t from, int64_t to)
{
	if (stats->worst_vcpu != VIRT_NONE &&
	    to - from <= stats->worst_to_ns - stats->worst_from_ns)
		return;
	stats->worst_vcpu = vcpu;
	stats->worst_from_ns = from;
	stats->worst_to_ns = to;
}

struct walk {
	const struct virt_model		*model;
	struct virt_window_stats	*stats;
	const bool			*stop;
	struct lengths			lengths;	/* of the vCPU */
	struct lengths			machine;	/* of all vCPUs of its machine */
};

/** What only a walk through the intervals tells: runs, wake-ups and the longest wait. */
static int walk_vcpu(struct walk *walk, int32_t vcpu)
{
	struct virt_stats *stats = &walk->stats->vcpus[vcpu];
	int64_t from = walk->stats->from_ns, to = walk->stats->to_ns, end;
	struct virt_interval_range range = virt_vcpu_intervals(walk->model, vcpu, from, to);
	bool was_on = false;

	walk->lengths.n = 0;
	for (size_t i = 0; i < range.n; i++) {
		const struct virt_interval *interval = &range.first[i];
		bool on = is_on_pcpu(interval);

		if (i % STOP_STEP == 0 && walk->stop &&
		    __atomic_load_n(walk->stop, __ATOMIC_RELAXED))
			return -1;
		end = i + 1 < range.n ? interval[1].start_ns : range.end_ns;
		stats->runs += on && !was_on;
		was_on = on;
		if (interval->state != VIRT_PREEMPTED && interval->state != VIRT_WAKING)
			continue;
		keep_worst(stats, vcpu, interval->start_ns, end);
		if (interval->state == VIRT_WAKING && interval->start_ns >= from &&
		    end < virt_model_end(walk->model) &&
		    (add_length(&walk->lengths, end - interval->start_ns) ||
		     add_length(&walk->machine, end - interval->start_ns)))
			return -1;
	}
	set_wakes(stats, &walk->lengths);
	return 0;
}

static void sum_up(struct virt_stats *stats, const struct virt_totals *totals)
{
	for (int state = 0; state < VIRT_N_STATES; state++) {
		stats->ns[state] = totals->ns[state];
		stats->known_ns += state == VIRT_UNKNOWN ? 0 : totals->ns[state];
		stats->run_ns += state <= VIRT_VMM ? totals->ns[state] : 0;
	}
}

/** All exits of a vCPU, whatever their reason. */
static int count_exits(struct walk *walk, int32_t vcpu)
{
	struct virt_stats *stats = &walk->stats->vcpus[vcpu];
	int64_t from = walk->stats->from_ns, to = walk->stats->to_ns;
	/* one more: those without a reason */
	size_t n = virt_model_n_reasons(walk->model) + 1;
	struct virt_exit_total *all = malloc(n * sizeof(*all));

	if (!all)
		return -1;
	n = virt_vcpu_exits(walk->model, vcpu, from, to, all, n);
	for (size_t i = 0; i < n; i++) {
		stats->exits += all[i].count;
		if (i < VIRT_STATS_TOP)
			stats->exit_reasons[i] = all[i];
	}
	stats->n_exit_reasons = n < VIRT_STATS_TOP ? n : VIRT_STATS_TOP;
	free(all);
	return 0;
}

static int count_vcpu(struct walk *walk, int32_t vcpu)
{
	struct virt_stats *stats = &walk->stats->vcpus[vcpu];
	int64_t from = walk->stats->from_ns, to = walk->stats->to_ns;
	struct virt_totals totals;

	virt_vcpu_totals(walk->model, vcpu, from, to, &totals);
	sum_up(stats, &totals);
	stats->migrations = virt_vcpu_migrations(walk->model, vcpu, from, to).n;
	stats->n_culprits = virt_vcpu_culprits(walk->model, vcpu, from, to, stats->culprits,
					       VIRT_STATS_TOP);
	if (stats->n_culprits > VIRT_STATS_TOP)
		stats->n_culprits = VIRT_STATS_TOP;
	return count_exits(walk, vcpu) || walk_vcpu(walk, vcpu) ? -1 : 0;
}

static void add_to_machine(struct virt_stats *machine, const struct virt_stats *vcpu)
{
	for (int state = 0; state < VIRT_N_STATES; state++)
		machine->ns[state] += vcpu->ns[state];
	machine->known_ns += vcpu->known_ns;
	machine->runs += vcpu->runs;
	machine->run_ns += vcpu->run_ns;
	machine->exits += vcpu->exits;
	machine->migrations += vcpu->migrations;
	if (vcpu->worst_vcpu != VIRT_NONE)
		keep_worst(machine, vcpu->worst_vcpu, vcpu->worst_from_ns, vcpu->worst_to_ns);
}

static int count_machine(struct walk *walk, int32_t index)
{
	const struct virt_machine *machine = virt_model_machine(walk->model, index);
	struct virt_stats *stats = &walk->stats->machines[index];

	walk->machine.n = 0;
	for (int32_t i = 0; i < machine->n_vcpus; i++) {
		if (count_vcpu(walk, machine->vcpus[i]))
			return -1;
		add_to_machine(stats, &walk->stats->vcpus[machine->vcpus[i]]);
	}
	set_wakes(stats, &walk->machine);
	virt_machine_totals(walk->model, index, walk->stats->from_ns, walk->stats->to_ns,
			    &walk->stats->machine_totals[index]);
	return 0;
}

static struct virt_window_stats *alloc_stats(int32_t n_vcpus, int32_t n_machines)
{
	struct virt_window_stats *stats = calloc(1, sizeof(*stats));

	if (!stats)
		return NULL;
	stats->n_vcpus = n_vcpus;
	stats->n_machines = n_machines;
	stats->vcpus = calloc(n_vcpus + 1, sizeof(*stats->vcpus));
	stats->machines = calloc(n_machines + 1, sizeof(*stats->machines));
	stats->machine_totals = calloc(n_machines + 1, sizeof(*stats->machine_totals));
	if (!stats->vcpus || !stats->machines || !stats->machine_totals) {
		virt_stats_free(stats);
		return NULL;
	}
	for (int32_t i = 0; i < n_vcpus; i++)
		stats->vcpus[i].worst_vcpu = VIRT_NONE;
	for (int32_t i = 0; i < n_machines; i++)
		stats->machines[i].worst_vcpu = VIRT_NONE;
	return stats;
}

struct virt_window_stats *virt_stats_new(const struct virt_model *model, int64_t from_ns,
					 int64_t to_ns, const bool *stop)
{
	struct walk walk = { .model = model, .stop = stop };
	int ret = 0;

	if (from_ns < virt_model_begin(model))
		from_ns = virt_model_begin(model);
	if (to_ns > virt_model_end(model))
		to_ns = virt_model_end(model);
	if (to_ns < from_ns)
		to_ns = from_ns;
	walk.stats = alloc_stats(virt_model_n_vcpus(model), virt_model_n_machines(model));
	if (!walk.stats)
		return NULL;
	walk.stats->from_ns = from_ns;
	walk.stats->to_ns = to_ns;
	for (int32_t i = 0; i < walk.stats->n_machines && !ret && from_ns < to_ns; i++)
		ret = count_machine(&walk, i);
	free(walk.lengths.ns);
	free(walk.machine.ns);
	if (ret) {
		virt_stats_free(walk.stats);
		return NULL;
	}
	return walk.stats;
}

void virt_stats_free(struct virt_window_stats *stats)
{
	if (!stats)
		return;
	free(stats->vcpus);
	free(stats->machines);
	free(stats->machine_totals);
	free(stats);
}
