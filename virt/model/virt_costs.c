// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_costs.c
 * @brief	Query a complete vCPU model for the costs of VM exits and the culprits of
 *		preemptions.
 */
#include <stdlib.h>
#include <string.h>

#include "virt_exits.h"
#include "virt_private.h"

/* ---- exits ---- */

/** The costs [*first, *last) of a group that belong to the intervals [@from, @to). */
static void group_range(const struct virt_groups *groups, const struct virt_group *group,
			size_t from, size_t to, size_t *first, size_t *last)
{
	size_t end = group->first + group->n;

	SEARCH_FIRST(*first, group->first, end, groups->index[*first] < from);
	SEARCH_FIRST(*last, *first, end, groups->index[*last] < to);
}

/** @max: those of this level; NULL: the costs themselves */
static int64_t cost_at(const struct virt_groups *groups, const int64_t *max, size_t i)
{
	return max ? max[i] : groups->sum[i + 1] - groups->sum[i];
}

/** The highest of the costs [@first, @last). */
static int64_t highest(const struct virt_groups *groups, size_t first, size_t last)
{
	const int64_t *level = NULL;
	size_t n = groups->n;
	int64_t max = 0;

	while (first < last) {
		for (; first < last && first % VIRT_MAX_FANOUT; first++)
			if (cost_at(groups, level, first) > max)
				max = cost_at(groups, level, first);
		while (first < last && last % VIRT_MAX_FANOUT)
			if (cost_at(groups, level, --last) > max)
				max = cost_at(groups, level, last);
		first /= VIRT_MAX_FANOUT;
		last /= VIRT_MAX_FANOUT;
		level = level ? level + n : groups->max;
		n /= VIRT_MAX_FANOUT;
	}
	return max;
}

/** What is equal keeps its order, by reason. */
static int compare_exits(const void *a, const void *b)
{
	const struct virt_exit_total *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return (x->reason > y->reason) - (x->reason < y->reason);
}

/** For those who want a few of many. */
static void insert_exit(struct virt_exit_total *total, size_t stored, size_t n,
			const struct virt_exit_total *new)
{
	size_t i = stored < n ? stored : n;

	while (i && compare_exits(new, &total[i - 1]) < 0) {
		if (i < n)
			total[i] = total[i - 1];
		i--;
	}
	if (i < n)
		total[i] = *new;
}

/**
 * Add up the exits of a reason that belong to the intervals [@from, @to).
 * @i: its first group
 *
 * Return: the group after its last one.
 */
static uint32_t sum_reason(const struct virt_groups *groups, uint32_t i, size_t from, size_t to,
			   struct virt_exit_total *sum)
{
	*sum = (struct virt_exit_total){ .reason = groups->group[i].key };
	for (; i < groups->n_groups && groups->group[i].key == sum->reason; i++) {
		size_t first, last;

		group_range(groups, &groups->group[i], from, to, &first, &last);
		sum->count += last - first;
		if (!groups->group[i].complete)
			continue;
		sum->complete = last - first;
		sum->ns = groups->sum[last] - groups->sum[first];
		sum->max_ns = highest(groups, first, last);
	}
	return i;
}

static int compare_reasons(const void *a, const void *b)
{
	const struct virt_exit_total *x = a, *y = b;

	return (x->reason > y->reason) - (x->reason < y->reason);
}

/** The same as virt_vcpu_exits() for fewer intervals than there are reasons. */
static size_t few_exits(const struct virt_vcpu_track *track, const struct virt_groups *groups,
			size_t from, size_t to, struct virt_exit_total *total)
{
	size_t n = 0, found = 0;

	for (size_t i = from; i < to; i++)
		if (track->intervals[i].flags & VIRT_INTERVAL_EXIT)
			total[n++].reason = virt_exit_reason(&track->intervals[i]);
	if (n > 1)
		qsort(total, n, sizeof(*total), compare_reasons);
	for (size_t i = 0; i < n; i++) {
		int32_t reason = total[i].reason;
		size_t group;

		/* sums are no more than the exits before them */
		if (found && total[found - 1].reason == reason)
			continue;
		SEARCH_FIRST(group, 0, groups->n_groups, groups->group[group].key < reason);
		sum_reason(groups, (uint32_t)group, from, to, &total[found++]);
	}
	if (found > 1)
		qsort(total, found, sizeof(*total), compare_exits);
	return found;
}

size_t virt_vcpu_exits(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
		       int64_t to_ns, struct virt_exit_total *total, size_t n)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);
	const struct virt_groups *groups;
	size_t from, to, found = 0;

	if (!track || !virt_clamp_window(model, &from_ns, &to_ns))
		return 0;
	groups = virt_groups_of(track->exits);
	from = virt_first_interval_at(track, from_ns);
	to = virt_first_interval_at(track, to_ns);
	if (n >= groups->n_groups && to - from < groups->n_groups)
		return few_exits(track, groups, from, to, total);
	for (uint32_t i = 0; i < groups->n_groups;) {
		struct virt_exit_total sum;

		i = sum_reason(groups, i, from, to, &sum);
		if (sum.count && n >= groups->n_groups)
			total[found++] = sum;
		else if (sum.count)
			insert_exit(total, found++, n, &sum);
	}
	if (found && n >= groups->n_groups)
		qsort(total, found, sizeof(*total), compare_exits);
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
		uint32_t before = track->counts[i / VIRT_COUNT_BLOCK].exits;

		n_blocks = virt_blocks(track->n, VIRT_COUNT_BLOCK);
		SEARCH_FIRST(block, i / VIRT_COUNT_BLOCK + 1, n_blocks,
			     track->counts[block].exits <= before);
		block--;
		if (virt_has_counts(track) && track->counts[n_blocks].exits == before)
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

bool virt_exit_of(const struct virt_model *model, int32_t vcpu,
		  const struct virt_interval *interval, struct virt_exit *exit)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);

	if (!track || !(interval->flags & VIRT_INTERVAL_EXIT))
		return false;
	virt_exit_take(model, track, (size_t)(interval - track->intervals), exit);
	return true;
}

/* ---- culprits ---- */

/** Culprits that are looked at together; no trace needs many more. */
#define CHUNK	128

/** What is equal keeps its order, by number. */
static int compare_culprits(const void *a, const void *b)
{
	const struct virt_culprit *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->vcpu > y->vcpu) - (x->vcpu < y->vcpu);
}

/** For those who want a few of many. */
static void insert_culprit(struct virt_culprit *culprit, size_t stored, size_t n,
			   struct virt_culprit new)
{
	size_t i = stored < n ? stored : n;

	while (i && compare_culprits(&new, &culprit[i - 1]) < 0) {
		if (i < n)
			culprit[i] = culprit[i - 1];
		i--;
	}
	if (i < n)
		culprit[i] = new;
}

/** @sums: ascending by who it is */
static void add_culprit(struct virt_culprit *sums, size_t n, int32_t vcpu, int64_t add)
{
	size_t i;

	SEARCH_FIRST(i, 0, n, sums[i].vcpu < vcpu);
	if (i < n && sums[i].vcpu == vcpu)
		sums[i].ns += add;
}

/** Add a piece of a wait for a pCPU, moment by moment, as far as it concerns these. */
static void add_waits(const struct virt_model *model, const struct virt_interval *wait,
		      int64_t from_ns, int64_t to_ns, struct virt_culprit *sums, size_t n)
{
	struct virt_occupant_range range = virt_pcpu_occupants(model, wait->pcpu, from_ns, to_ns);
	struct virt_occupant_range all = virt_pcpu_occupants(model, wait->pcpu, wait->start_ns,
							     to_ns);
	int16_t pcpu = wait->pcpu;

	if (pcpu == VIRT_NONE)
		add_culprit(sums, n, VIRT_NONE, to_ns - from_ns);
	for (size_t i = 0; i < range.n; i++) {
		int64_t start = range.first[i].start_ns;
		int64_t end = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		if (virt_is_beyond(model, 0, (size_t)(&range.first[i] - all.first))) {
			add_culprit(sums, n, VIRT_OTHERS,
				    to_ns - (start > from_ns ? start : from_ns));
			break;
		}
		add_culprit(sums, n, range.first[i].vcpu,
			    (end < to_ns ? end : to_ns) - (start > from_ns ? start : from_ns));
	}
}

/** A window as the intervals of a vCPU. */
struct cut {
	int64_t		from_ns, to_ns;
	/* [begin, whole): cut at the front; [whole, end): not cut; end: perhaps cut at its end */
	size_t		begin, whole, end;
};

/** The wait, if it is one, of which interval @i is the part in the window. */
static bool is_cut_wait(const struct virt_vcpu_track *track, const struct cut *cut, size_t i)
{
	return track->intervals[i].state == VIRT_PREEMPTED && (i >= cut->end || i < cut->whole);
}

/** The one after @i that may be cut: at most two are. */
static size_t next_cut(const struct cut *cut, size_t i)
{
	return i < cut->end ? cut->end : cut->end + 1;
}

static void cut_wait(const struct virt_model *model, const struct virt_vcpu_track *track,
		     const struct cut *cut, size_t i, int64_t *from_ns, int64_t *to_ns)
{
	int64_t start = track->intervals[i].start_ns;
	int64_t stop = virt_interval_end(model, track, i);

	*from_ns = start > cut->from_ns ? start : cut->from_ns;
	*to_ns = stop < cut->to_ns ? stop : cut->to_ns;
}

static int compare_keys(const void *a, const void *b)
{
	const struct virt_group *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/**
 * Who may have had the pCPU, of a window without waits that are not cut: a vCPU may have very many
 * culprits, and a single wait few. Return: their number, or -1 if they do not fit into @few.
 */
static int find_few(const struct virt_model *model, const struct virt_vcpu_track *track,
		    const struct cut *cut, struct virt_group few[CHUNK])
{
	int n = 0, kept = 0;

	few[n++].key = VIRT_OTHERS;
	few[n++].key = VIRT_NONE;
	for (size_t i = cut->begin; i <= cut->end; i = next_cut(cut, i)) {
		struct virt_occupant_range range;
		int64_t from_ns, to_ns;

		if (!is_cut_wait(track, cut, i))
			continue;
		cut_wait(model, track, cut, i, &from_ns, &to_ns);
		range = virt_pcpu_occupants(model, track->intervals[i].pcpu, from_ns, to_ns);
		if (range.n > (size_t)(CHUNK - n))
			return -1;
		for (size_t j = 0; j < range.n; j++)
			few[n++].key = range.first[j].vcpu;
	}
	qsort(few, (size_t)n, sizeof(*few), compare_keys);
	for (int i = 0; i < n; i++)
		if (!kept || few[i].key != few[kept - 1].key)
			few[kept++] = few[i];
	return kept;
}

/** How long each of these has had the pCPU. */
static void sum_culprits(const struct virt_model *model, const struct virt_vcpu_track *track,
			 const struct cut *cut, const struct virt_group *group, size_t n,
			 struct virt_culprit *sums)
{
	const struct virt_groups *groups = virt_groups_of(track->culprits);

	for (size_t i = 0; i < n; i++) {
		size_t first = 0, last = 0;

		if (cut->whole < cut->end)
			group_range(groups, &group[i], cut->whole, cut->end, &first, &last);
		sums[i] = (struct virt_culprit){
			.vcpu = group[i].key,
			.ns = last > first ? groups->sum[last] - groups->sum[first] : 0,
		};
	}
	for (size_t i = cut->begin; i <= cut->end; i = next_cut(cut, i)) {
		int64_t from_ns, to_ns;

		if (!is_cut_wait(track, cut, i))
			continue;
		cut_wait(model, track, cut, i, &from_ns, &to_ns);
		add_waits(model, &track->intervals[i], from_ns, to_ns, sums, n);
	}
}

/** The @n ones with most time, of more than there is room for: some after the others. */
static size_t find_most(const struct virt_model *model, const struct virt_vcpu_track *track,
			const struct cut *cut, const struct virt_group *group, size_t n_groups,
			struct virt_culprit *culprit, size_t n)
{
	struct virt_culprit sums[CHUNK];
	size_t found = 0;

	for (size_t g = 0; g < n_groups; g += CHUNK) {
		size_t size = n_groups - g < CHUNK ? n_groups - g : CHUNK;

		sum_culprits(model, track, cut, group + g, size, sums);
		for (size_t i = 0; i < size; i++)
			if (sums[i].ns)
				insert_culprit(culprit, found++, n, sums[i]);
	}
	return found;
}

/** All of them: what has been cut is gone through only once. */
static size_t find_all(const struct virt_model *model, const struct virt_vcpu_track *track,
		       const struct cut *cut, const struct virt_group *group, size_t n_groups,
		       struct virt_culprit *culprit)
{
	size_t found = 0;

	sum_culprits(model, track, cut, group, n_groups, culprit);
	for (size_t i = 0; i < n_groups; i++)
		if (culprit[i].ns)
			culprit[found++] = culprit[i];
	if (found)
		qsort(culprit, found, sizeof(*culprit), compare_culprits);
	return found;
}

size_t virt_vcpu_culprits(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			  int64_t to_ns, struct virt_culprit *culprit, size_t n)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);
	const struct virt_groups *groups;
	const struct virt_group *group;
	struct virt_group few[CHUNK];
	struct cut cut;
	size_t n_groups;
	int n_few = -1;

	if (!track || !virt_clamp_window(model, &from_ns, &to_ns))
		return 0;
	groups = virt_groups_of(track->culprits);
	cut = (struct cut){
		.from_ns = from_ns, .to_ns = to_ns,
		.whole = virt_first_interval_at(track, from_ns),
		.end = virt_first_interval_at(track, to_ns) - 1,
	};
	cut.begin = cut.whole == track->n || track->intervals[cut.whole].start_ns > from_ns ?
		    cut.whole - 1 : cut.whole;
	if (cut.whole >= cut.end && groups->n_groups > CHUNK)
		n_few = find_few(model, track, &cut, few);
	group = n_few < 0 ? groups->group : few;
	n_groups = n_few < 0 ? groups->n_groups : (size_t)n_few;
	return n >= n_groups ? find_all(model, track, &cut, group, n_groups, culprit) :
			       find_most(model, track, &cut, group, n_groups, culprit, n);
}
