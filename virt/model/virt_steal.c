// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_steal.c
 * @brief	Split the steal of a vCPU by the kind of its culprits.
 */
#include <string.h>

#include "virt_limits.h"
#include "virt_private.h"
#include "virt_steal.h"

const char *virt_steal_kind_name(enum virt_steal_kind kind)
{
	static const char *const names[VIRT_STEAL_N_KINDS] = {
		[VIRT_STEAL_MACHINES] = "other machines",
		[VIRT_STEAL_HOST] = "host tasks",
		[VIRT_STEAL_OWN] = "own machine",
		[VIRT_STEAL_LIMIT] = "own limit",
		[VIRT_STEAL_NOBODY] = "nobody",
		[VIRT_STEAL_UNKNOWN] = "unknown",
	};

	return names[kind];
}

const char *virt_steal_kind_key(enum virt_steal_kind kind)
{
	static const char *const keys[VIRT_STEAL_N_KINDS] = {
		[VIRT_STEAL_MACHINES] = "machines",
		[VIRT_STEAL_HOST] = "host",
		[VIRT_STEAL_OWN] = "own",
		[VIRT_STEAL_LIMIT] = "limit",
		[VIRT_STEAL_NOBODY] = "nobody",
		[VIRT_STEAL_UNKNOWN] = "unknown",
	};

	return keys[kind];
}

enum virt_steal_kind virt_steal_kind_of(const struct virt_model *model, int32_t vcpu, int32_t who)
{
	int32_t machine = virt_model_machine_of(model, who);

	if (!virt_is_vcpu(model, vcpu) || (!virt_is_vcpu(model, who) && !virt_is_task(model, who)))
		return VIRT_STEAL_UNKNOWN;
	if (machine == VIRT_NONE)
		return VIRT_STEAL_HOST;
	return machine == model->vcpus[vcpu].info.machine ? VIRT_STEAL_OWN : VIRT_STEAL_MACHINES;
}

/** Occupants that are looked at one by one. */
#define FEW_OCCUPANTS	8

/** A walk along the occupants of a pCPU. */
struct idle_walk {
	const struct virt_pcpu_track *pcpu;
	uint32_t	at;		/* occupant in force at the last time, or an earlier one */
};

static bool is_idle(const struct virt_occupant *occupant)
{
	return occupant->known && occupant->vcpu == VIRT_NONE;
}

static void walk_along(const struct virt_model *model, struct idle_walk *walk, int16_t pcpu,
		       int64_t time_ns)
{
	size_t block;

	if (walk->pcpu == &model->pcpus[pcpu])
		return;
	walk->pcpu = &model->pcpus[pcpu];
	block = virt_index_find(&walk->pcpu->index, time_ns);
	walk->at = block ? (uint32_t)((block - 1) * VIRT_OCCUPANT_BLOCK) : 0;
}

/** For how long the pCPU was idle up to a time, in whose occupant the walk is. */
static int64_t idle_before(const struct virt_model *model, const struct idle_walk *walk,
			   int64_t time_ns)
{
	int64_t ns = walk->pcpu->base[walk->at].idle_ns;

	return is_idle(&walk->pcpu->occupants[walk->at]) ? ns + time_ns - model->begin_ns : ns;
}

/** For how long it was idle between two times, the first of which is not before the last walk. */
static int64_t idle_between(const struct virt_model *model, struct idle_walk *walk,
			    int64_t from_ns, int64_t to_ns)
{
	const struct virt_pcpu_track *pcpu = walk->pcpu;
	int64_t ns = 0, end_ns;

	walk->at = virt_gallop(pcpu->occupants, sizeof(*pcpu->occupants), walk->at, pcpu->n,
			       from_ns);
	/* most waits are over after few occupants, whose sums need not be read, or are not there */
	for (int i = 0; i < FEW_OCCUPANTS || !pcpu->base; i++, walk->at++, from_ns = end_ns) {
		end_ns = virt_occupant_end(model, pcpu, walk->at);
		if (is_idle(&pcpu->occupants[walk->at]))
			ns += (end_ns < to_ns ? end_ns : to_ns) - from_ns;
		if (end_ns >= to_ns)
			return ns;
	}
	ns -= idle_before(model, walk, from_ns);
	walk->at = virt_gallop(pcpu->occupants, sizeof(*pcpu->occupants), walk->at, pcpu->n,
			       to_ns);
	return ns + idle_before(model, walk, to_ns);
}

/**
 * The part of a wait in the window in which its pCPU was idle. Occupants that are no culprits by
 * themselves are unknown ones here, too.
 */
static int64_t idle_of_wait(const struct virt_model *model, const struct virt_vcpu_track *track,
			    size_t i, int64_t from_ns, int64_t to_ns, struct idle_walk *walk)
{
	const struct virt_interval *wait = &track->intervals[i];
	int64_t end_ns = virt_interval_end(model, track, i);
	struct virt_occupant_range range;

	if (wait->pcpu == VIRT_NONE)
		return 0;
	if (model->culprit_limit != UINT32_MAX) {
		range = virt_pcpu_occupants(model, wait->pcpu, wait->start_ns, end_ns);
		if (range.n > model->culprit_limit)
			end_ns = range.first[model->culprit_limit].start_ns;
	}
	from_ns = wait->start_ns > from_ns ? wait->start_ns : from_ns;
	to_ns = end_ns < to_ns ? end_ns : to_ns;
	if (from_ns >= to_ns)
		return 0;
	walk_along(model, walk, wait->pcpu, from_ns);
	return idle_between(model, walk, from_ns, to_ns);
}

/** Idle pCPUs are among the waits without a culprit, which are one group. */
static int64_t idle_of_vcpu(const struct virt_model *model, const struct virt_vcpu_track *track,
			    int64_t from_ns, int64_t to_ns)
{
	const struct virt_groups *groups = virt_groups_of(track->culprits);
	size_t first = virt_first_interval_at(track, from_ns), g, i, end;
	struct idle_walk walk = { .pcpu = NULL };
	int64_t ns = 0;

	SEARCH_FIRST(g, 0, groups->n_groups, groups->group[g].key < VIRT_NONE);
	if (g == groups->n_groups || groups->group[g].key != VIRT_NONE)
		return 0;
	end = groups->group[g].first + groups->group[g].n;
	/* the interval before the first one may reach into the window */
	SEARCH_FIRST(i, groups->group[g].first, end, groups->index[i] + 1 < first);
	for (; i < end && track->intervals[groups->index[i]].start_ns < to_ns; i++)
		ns += idle_of_wait(model, track, groups->index[i], from_ns, to_ns, &walk);
	return ns;
}

/** What one of the culprits of a wait is, or an idle pCPU. */
static enum virt_steal_kind kind_of(const struct virt_model *model, int32_t vcpu,
				    const struct virt_occupant *who)
{
	return is_idle(who) ? VIRT_STEAL_NOBODY : virt_steal_kind_of(model, vcpu, who->vcpu);
}

/** Give the time of a wait between two times from its culprits to the limit. */
static void hold_wait(const struct virt_model *model, int32_t vcpu, struct virt_interval_range wait,
		      int64_t from_ns, int64_t to_ns, int64_t ns[VIRT_STEAL_N_KINDS])
{
	struct virt_occupant_range all = virt_pcpu_occupants(model, wait.first->pcpu,
							     wait.first->start_ns, wait.end_ns);
	struct virt_occupant_range held = virt_pcpu_occupants(model, wait.first->pcpu, from_ns,
							      to_ns);
	int64_t rest_ns = to_ns - from_ns;

	for (size_t i = 0; i < held.n; i++) {
		const struct virt_occupant *who = &held.first[i];
		int64_t start_ns = who->start_ns > from_ns ? who->start_ns : from_ns;
		int64_t end_ns = i + 1 < held.n ? who[1].start_ns : held.end_ns;
		bool is_beyond;

		end_ns = end_ns < to_ns ? end_ns : to_ns;
		if (start_ns >= end_ns)
			continue;
		rest_ns -= end_ns - start_ns;
		is_beyond = virt_is_beyond(model, 0, (size_t)(who - all.first));
		ns[is_beyond ? VIRT_STEAL_UNKNOWN : kind_of(model, vcpu, who)] -=
			end_ns - start_ns;
	}
	ns[VIRT_STEAL_UNKNOWN] -= rest_ns;
	ns[VIRT_STEAL_LIMIT] += to_ns - from_ns;
}

/** What a limit held, which is the fault of none who had the pCPU. */
static void take_held(const struct virt_model *model, int32_t vcpu, int64_t from_ns, int64_t to_ns,
		      int64_t ns[VIRT_STEAL_N_KINDS])
{
	struct virt_hold_range holds = virt_vcpu_holds(model, vcpu, from_ns, to_ns);

	for (size_t i = 0; i < holds.n; i++) {
		int64_t begin_ns = holds.first[i].from_ns > from_ns ? holds.first[i].from_ns :
								      from_ns;
		int64_t stop_ns = holds.first[i].to_ns < to_ns ? holds.first[i].to_ns : to_ns;
		struct virt_interval_range range = virt_vcpu_intervals(model, vcpu, begin_ns,
								       stop_ns);

		for (size_t k = 0; k < range.n; k++) {
			struct virt_interval_range wait = { .first = &range.first[k], .n = 1 };
			int64_t start_ns = wait.first->start_ns > begin_ns ?
					   wait.first->start_ns : begin_ns;
			int64_t end_ns;

			wait.end_ns = k + 1 < range.n ? range.first[k + 1].start_ns : range.end_ns;
			end_ns = wait.end_ns < stop_ns ? wait.end_ns : stop_ns;
			if (wait.first->state == VIRT_PREEMPTED && start_ns < end_ns)
				hold_wait(model, vcpu, wait, start_ns, end_ns, ns);
		}
	}
}

void virt_steal_split(const struct virt_model *model, int32_t vcpu, int64_t from_ns, int64_t to_ns,
		      const struct virt_culprit *culprits, size_t n,
		      int64_t ns[VIRT_STEAL_N_KINDS])
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);
	int64_t idle_ns = 0;

	memset(ns, 0, VIRT_STEAL_N_KINDS * sizeof(*ns));
	if (!track || !virt_clamp_window(model, &from_ns, &to_ns))
		return;
	for (size_t i = 0; i < n; i++) {
		ns[virt_steal_kind_of(model, vcpu, culprits[i].vcpu)] += culprits[i].ns;
		if (culprits[i].vcpu == VIRT_NONE)
			idle_ns = idle_of_vcpu(model, track, from_ns, to_ns);
	}
	ns[VIRT_STEAL_NOBODY] = idle_ns;
	ns[VIRT_STEAL_UNKNOWN] -= idle_ns;
	take_held(model, vcpu, from_ns, to_ns, ns);
}
