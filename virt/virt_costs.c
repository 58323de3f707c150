// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_costs.c
 * @brief	Ask a complete vCPU model what VM exits cost, and who took the pCPU from whom.
 */
#include <string.h>

#include "virt_private.h"

/* ---- exits ---- */

/** The costs [*first, *last) of a group that belong to the intervals [@from, @to). */
static void group_range(const struct virt_groups *groups, const struct virt_group *group,
			size_t from, size_t to, size_t *first, size_t *last)
{
	size_t position[2];

	for (int i = 0; i < 2; i++) {
		size_t wanted = i ? to : from;
		size_t lo = group->first, hi = lo + group->n;

		while (lo < hi) {
			size_t middle = lo + (hi - lo) / 2;

			if (groups->index[middle] < wanted)
				lo = middle + 1;
			else
				hi = middle;
		}
		position[i] = lo;
	}
	*first = position[0];
	*last = position[1];
}

static int64_t cost_at(const struct virt_groups *groups, int level, size_t i)
{
	return level ? groups->max[level - 1][i] : groups->sum[i + 1] - groups->sum[i];
}

/** The highest of the costs [@first, @last). */
static int64_t highest(const struct virt_groups *groups, size_t first, size_t last)
{
	int64_t max = 0;

	for (int level = 0; first < last; level++) {
		for (; first < last && first % VIRT_MAX_FANOUT; first++)
			if (cost_at(groups, level, first) > max)
				max = cost_at(groups, level, first);
		while (first < last && last % VIRT_MAX_FANOUT)
			if (cost_at(groups, level, --last) > max)
				max = cost_at(groups, level, last);
		first /= VIRT_MAX_FANOUT;
		last /= VIRT_MAX_FANOUT;
	}
	return max;
}

/** Whether @a belongs before @b; what is equal keeps its order, by reason. */
static bool is_costlier(const struct virt_exit_total *a, const struct virt_exit_total *b)
{
	return a->ns != b->ns ? a->ns > b->ns : a->count > b->count;
}

static void insert_exit(struct virt_exit_total *total, size_t stored, size_t n,
			const struct virt_exit_total *new)
{
	size_t i = stored < n ? stored : n;

	while (i && is_costlier(new, &total[i - 1])) {
		if (i < n)
			total[i] = total[i - 1];
		i--;
	}
	if (i < n)
		total[i] = *new;
}

size_t virt_vcpu_exits(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
		       int64_t to_ns, struct virt_exit_total *total, size_t n)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);
	const struct virt_groups *groups;
	size_t from, to, found = 0;

	if (!track || !virt_clamp_window(model, &from_ns, &to_ns))
		return 0;
	groups = &track->exits;
	from = virt_first_interval_at(track, from_ns);
	to = virt_first_interval_at(track, to_ns);
	for (uint32_t i = 0; i < groups->n_groups;) {
		struct virt_exit_total sum = { .reason = groups->group[i].key };

		for (; i < groups->n_groups && groups->group[i].key == sum.reason; i++) {
			size_t first, last;

			group_range(groups, &groups->group[i], from, to, &first, &last);
			sum.count += last - first;
			if (!groups->group[i].complete)
				continue;
			sum.complete = last - first;
			sum.ns = groups->sum[last] - groups->sum[first];
			sum.max_ns = highest(groups, first, last);
		}
		if (sum.count)
			insert_exit(total, found++, n, &sum);
	}
	return found;
}

size_t virt_exit_take(const struct virt_model *model, const struct virt_vcpu_track *vcpu, size_t i,
		      struct virt_exit *exit)
{
	size_t end = virt_exit_end(vcpu, i);
	bool was_vmm = false;

	*exit = (struct virt_exit){
		.time_ns = vcpu->intervals[i].start_ns,
		.entry_ns = virt_time_of(model, vcpu, end),
		.reason = virt_exit_reason(&vcpu->intervals[i]),
		.complete = virt_exit_is_complete(vcpu, i, end),
	};
	for (; i < end; i++) {
		const struct virt_interval *interval = &vcpu->intervals[i];
		int64_t ns = virt_interval_end(model, vcpu, i) - interval->start_ns;

		exit->state_ns[interval->state] += ns;
		exit->cost_ns += virt_is_cost(interval) ? ns : 0;
		was_vmm |= interval->state == VIRT_VMM;
		if (!virt_is_unasked(interval))
			continue;
		exit->unasked_ns += ns;
		exit->unasked_vmm_ns += was_vmm ? ns : 0;
	}
	return end;
}

bool virt_vcpu_next_exit(const struct virt_model *model, int32_t vcpu, int64_t time_ns,
			 struct virt_exit *exit)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);
	size_t i, block, n_blocks;

	if (!track || time_ns >= model->end_ns)
		return false;
	i = virt_first_interval_at(track, time_ns);
	while (i < track->n && i % VIRT_COUNT_BLOCK &&
	       !(track->intervals[i].flags & VIRT_INTERVAL_EXIT))
		i++;
	if (i < track->n && i % VIRT_COUNT_BLOCK == 0) {
		/* the last block before which there are no more exits than before this one */
		size_t hi = n_blocks = virt_blocks(track->n, VIRT_COUNT_BLOCK);
		uint32_t before = track->counts[i / VIRT_COUNT_BLOCK].exits;

		for (block = i / VIRT_COUNT_BLOCK; block + 1 < hi;) {
			size_t middle = block + (hi - block) / 2;

			if (track->counts[middle].exits <= before)
				block = middle;
			else
				hi = middle;
		}
		if (track->counts[n_blocks].exits == before)
			return false;
		for (i = block * VIRT_COUNT_BLOCK; i < track->n; i++)
			if (track->intervals[i].flags & VIRT_INTERVAL_EXIT)
				break;
	}
	if (i >= track->n)
		return false;
	virt_exit_take(model, track, i, exit);
	return true;
}

/* ---- culprits ---- */

/** Culprits that are looked at together; no trace needs many more. */
#define CHUNK	128

static void insert_culprit(struct virt_culprit *culprit, size_t stored, size_t n,
			   struct virt_culprit new)
{
	size_t i = stored < n ? stored : n;

	while (i && new.ns > culprit[i - 1].ns) {
		if (i < n)
			culprit[i] = culprit[i - 1];
		i--;
	}
	if (i < n)
		culprit[i] = new;
}

static void add_wait(const struct virt_group *group, uint32_t n, int64_t *ns, int32_t vcpu,
		     int64_t add)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t middle = lo + (hi - lo) / 2;

		if (group[middle].key < vcpu)
			lo = middle + 1;
		else
			hi = middle;
	}
	if (lo < n && group[lo].key == vcpu)
		ns[lo] += add;
}

/** Add a piece of a wait for a pCPU, moment by moment, as far as it concerns these groups. */
static void add_waits(const struct virt_model *model, int16_t pcpu, int64_t from_ns,
		      int64_t to_ns, const struct virt_group *group, uint32_t n, int64_t *ns)
{
	struct virt_occupant_range range = virt_pcpu_occupants(model, pcpu, from_ns, to_ns);

	if (pcpu == VIRT_NONE)
		add_wait(group, n, ns, VIRT_NONE, to_ns - from_ns);
	for (size_t i = 0; i < range.n; i++) {
		int64_t start = range.first[i].start_ns;
		int64_t end = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		add_wait(group, n, ns, range.first[i].vcpu,
			 (end < to_ns ? end : to_ns) - (start > from_ns ? start : from_ns));
	}
}

size_t virt_vcpu_culprits(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			  int64_t to_ns, struct virt_culprit *culprit, size_t n)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);
	const struct virt_groups *groups;
	size_t begin, whole, end, found = 0;
	int64_t ns[CHUNK];

	if (!track || !virt_clamp_window(model, &from_ns, &to_ns))
		return 0;
	groups = &track->culprits;
	/* [begin, whole): cut at the front; [whole, end): not cut; end: perhaps cut at its end */
	whole = virt_first_interval_at(track, from_ns);
	end = virt_first_interval_at(track, to_ns) - 1;
	begin = whole == track->n || track->intervals[whole].start_ns > from_ns ? whole - 1 : whole;
	for (uint32_t g = 0; g < groups->n_groups; g += CHUNK) {
		const struct virt_group *group = &groups->group[g];
		uint32_t size = groups->n_groups - g < CHUNK ? groups->n_groups - g : CHUNK;

		memset(ns, 0, sizeof(ns));
		for (uint32_t i = 0; i < size && whole < end; i++) {
			size_t first, last;

			group_range(groups, &group[i], whole, end, &first, &last);
			ns[i] = groups->sum[last] - groups->sum[first];
		}
		/* at most two waits are cut by the window */
		for (size_t i = begin; i <= end; i = i < end ? end : end + 1) {
			const struct virt_interval *interval = &track->intervals[i];
			int64_t start = interval->start_ns;
			int64_t stop = virt_interval_end(model, track, i);

			if (interval->state != VIRT_PREEMPTED || (i < end && i >= whole))
				continue;
			add_waits(model, interval->pcpu, start > from_ns ? start : from_ns,
				  stop < to_ns ? stop : to_ns, group, size, ns);
		}
		for (uint32_t i = 0; i < size; i++)
			if (ns[i])
				insert_culprit(culprit, found++, n, (struct virt_culprit){
					.vcpu = group[i].key, .ns = ns[i],
				});
	}
	return found;
}
