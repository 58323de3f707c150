// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_summary.c
 * @brief	Compute the summaries of a complete vCPU model once: sums, groups, migrations, and
 *		the states of a machine's vCPUs together.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "heap.h"
#include "virt_private.h"
#include "work_share.h"

/* ---- from a time to a block ---- */

/** @array has @n elements that begin with their time; one in @per_block begins a block. */
static int make_index(const struct virt_model *model, struct virt_index *index, const void *array,
		      size_t stride, size_t n, size_t per_block)
{
	static const uint32_t all_in_one[] = { 0, 1 };
	uint64_t length = (uint64_t)(model->end_ns - model->begin_ns);
	uint32_t block = 0, *cell;
	int64_t *start;

	index->n = (uint32_t)virt_blocks(n, per_block);
	index->begin_ns = model->begin_ns;
	while (length >> index->shift > index->n / VIRT_CELL_BLOCKS)
		index->shift++;
	index->n_cells = (uint32_t)(length >> index->shift) + 1;
	if (index->n == 1) {
		index->start = array;
		index->cell = all_in_one;
		return 0;
	}
	index->start = start = malloc((index->n + 1) * sizeof(*start));
	index->cell = cell = malloc(((size_t)index->n_cells + 1) * sizeof(*cell));
	if (!start || !cell)
		return -ENOMEM;
	for (size_t i = 0; i < index->n; i++)
		start[i] = *(const int64_t *)((const char *)array + i * per_block * stride);
	for (size_t i = 0; i < index->n_cells; i++) {
		while (block < index->n && virt_index_cell(index, start[block]) < i)
			block++;
		cell[i] = block;
	}
	cell[index->n_cells] = index->n;
	return 0;
}

/* ---- vCPUs ---- */

struct virt_sum virt_no_sum;
struct virt_counts virt_no_counts;

/** Room for what is before each block. */
static int allot_blocks(struct virt_vcpu_track *vcpu)
{
	vcpu->sums = &virt_no_sum;
	vcpu->counts = &virt_no_counts;
	if (virt_has_sums(vcpu))
		vcpu->sums = malloc(virt_blocks(vcpu->n, VIRT_BLOCK) * sizeof(*vcpu->sums));
	if (virt_has_counts(vcpu))
		vcpu->counts = malloc((virt_blocks(vcpu->n, VIRT_COUNT_BLOCK) + 1) *
				      sizeof(*vcpu->counts));
	return vcpu->sums && vcpu->counts ? 0 : -ENOMEM;
}

static int summarize_vcpu(const struct virt_model *model, struct virt_vcpu_track *vcpu)
{
	struct virt_counts count = { 0 };
	struct virt_sum sum = { 0 };

	if (allot_blocks(vcpu))
		return -ENOMEM;
	for (size_t i = 0; i < vcpu->n && virt_has_sums(vcpu); i++) {
		const struct virt_interval *interval = &vcpu->intervals[i];
		int64_t ns = virt_interval_end(model, vcpu, i) - interval->start_ns;

		if (virt_is_edge(vcpu, i))
			count.edge = (uint32_t)i;
		if (i % VIRT_BLOCK == 0)
			vcpu->sums[i / VIRT_BLOCK] = sum;
		if (i % VIRT_COUNT_BLOCK == 0 && virt_has_counts(vcpu))
			vcpu->counts[i / VIRT_COUNT_BLOCK] = count;
		sum.ns[interval->state] += ns;
		count.state[interval->state]++;
		count.exits += !!(interval->flags & VIRT_INTERVAL_EXIT);
		count.unasked_ns += virt_is_unasked(interval) ? ns : 0;
		count.hidden_ns += virt_is_hidden(interval) ? ns : 0;
		if (interval->state == VIRT_HYPERVISOR)
			count.class_ns[virt_model_reason_class(model, interval->detail)] += ns;
	}
	if (virt_has_counts(vcpu))
		vcpu->counts[virt_blocks(vcpu->n, VIRT_COUNT_BLOCK)] = count;
	return make_index(model, &vcpu->index, vcpu->intervals, sizeof(*vcpu->intervals), vcpu->n,
			  VIRT_BLOCK);
}

/** Find the migrations of a vCPU; with @found NULL they are only counted. */
static size_t find_migrations(const struct virt_model *model, struct virt_vcpu_track *vcpu,
			      int32_t index, struct virt_migration *found)
{
	int64_t last_end = 0;
	int16_t last = VIRT_NONE;
	size_t n = 0;

	for (size_t i = 0; i < vcpu->n; i++) {
		struct virt_interval *interval = &vcpu->intervals[i];

		int64_t end = virt_interval_end(model, vcpu, i);

		/* of length 0: an exit that was left at once, nowhere else than the run before */
		if (!virt_is_on(interval) || interval->pcpu == VIRT_NONE ||
		    end == interval->start_ns)
			continue;
		if (last != VIRT_NONE && interval->pcpu != last) {
			if (found) {
				interval->flags |= VIRT_INTERVAL_MIGRATED;
				found[n] = (struct virt_migration){
					.time_ns = interval->start_ns,
					.gap_ns = interval->start_ns - last_end,
					.vcpu = index, .from = last, .to = interval->pcpu,
				};
			}
			n++;
		}
		last = interval->pcpu;
		last_end = end;
	}
	return n;
}

static int summarize_migrations(const struct virt_model *model, struct virt_vcpu_track *vcpu,
				int32_t index)
{
	vcpu->n_migrations = (uint32_t)find_migrations(model, vcpu, index, NULL);
	if (!vcpu->n_migrations)
		return 0;
	vcpu->migrations = malloc(vcpu->n_migrations * sizeof(*vcpu->migrations));
	if (!vcpu->migrations)
		return -ENOMEM;
	find_migrations(model, vcpu, index, vcpu->migrations);
	return 0;
}

/* ---- costs by what they are due to ---- */

/**
 * Two passes over the same costs of a vCPU: the first counts them per bucket, the second stores
 * them. There may be many more buckets than a vCPU has costs: only those with any are looked at.
 */
struct grouping {
	const struct virt_model *model;
	const struct virt_vcpu_track *vcpu;
	struct virt_groups *groups;
	uint32_t	*next;		/* per bucket: count, then position; 0 between two vCPUs */
	uint32_t	*used;		/* buckets */
	size_t		n_used;
	bool		store;
	bool		gave_up;	/* counting: there is too much, nothing is to be stored */
	struct culprit_scratch *scratch;
};

static int grouping_init(struct grouping *grouping, const struct virt_model *model,
			 size_t n_buckets)
{
	*grouping = (struct grouping){
		.model = model,
		.next = calloc(n_buckets, sizeof(*grouping->next)),
		.used = malloc(n_buckets * sizeof(*grouping->used)),
	};
	return grouping->next && grouping->used ? 0 : -ENOMEM;
}

static void grouping_destroy(struct grouping *grouping)
{
	free(grouping->next);
	free(grouping->used);
}

static void put_value(struct grouping *grouping, size_t bucket, uint32_t index, int64_t ns)
{
	uint32_t at = grouping->next[bucket]++;

	if (grouping->store) {
		grouping->groups->index[at] = index;
		grouping->groups->sum[at] = ns;
	} else if (!at) {
		grouping->used[grouping->n_used++] = (uint32_t)bucket;
	}
}

static int compare_buckets(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/** Between the passes: make the groups. Bucket b has key b / @per_key - 1. Return: or NULL. */
static struct virt_groups *allot(struct grouping *grouping, unsigned int per_key)
{
	struct virt_groups *groups;
	uint32_t n = 0;

	for (size_t i = 0; i < grouping->n_used; i++)
		n += grouping->next[grouping->used[i]];
	groups = malloc(sizeof(*groups) + ((size_t)n + 1) * sizeof(*groups->sum) +
			grouping->n_used * sizeof(*groups->group) + n * sizeof(*groups->index));
	if (!groups)
		return NULL;
	*groups = (struct virt_groups){ .n = n };
	groups->group = (struct virt_group *)&groups->sum[(size_t)n + 1];
	groups->index = (uint32_t *)&groups->group[grouping->n_used];
	qsort(grouping->used, grouping->n_used, sizeof(*grouping->used), compare_buckets);
	n = 0;
	for (size_t i = 0; i < grouping->n_used; i++) {
		uint32_t bucket = grouping->used[i], count = grouping->next[bucket];

		groups->group[groups->n_groups++] = (struct virt_group){
			.key = (int32_t)(bucket / per_key) - 1,
			.complete = bucket % per_key,
			.first = n, .n = count,
		};
		grouping->next[bucket] = n;
		n += count;
	}
	grouping->groups = groups;
	grouping->store = true;
	return groups;
}

/** Costs become sums of all costs before; the last one is the sum of all. */
static void accumulate(struct virt_groups *groups)
{
	int64_t sum = 0;

	for (size_t i = 0; i < groups->n; i++) {
		int64_t ns = groups->sum[i];

		groups->sum[i] = sum;
		sum += ns;
	}
	groups->sum[groups->n] = sum;
}

/** All costs of a vCPU, which @put_all hands to put_value(); without any, there are no groups. */
static int group(struct grouping *grouping, const struct virt_vcpu_track *vcpu,
		 struct virt_groups **groups, unsigned int per_key,
		 void (*put_all)(struct grouping *grouping))
{
	int ret = 0;

	grouping->vcpu = vcpu;
	grouping->store = false;
	put_all(grouping);
	if (grouping->n_used && !grouping->gave_up) {
		*groups = allot(grouping, per_key);
		ret = *groups ? 0 : -ENOMEM;
	}
	if (!ret && grouping->n_used && !grouping->gave_up) {
		put_all(grouping);
		accumulate(*groups);
	}
	for (size_t i = 0; i < grouping->n_used; i++)
		grouping->next[grouping->used[i]] = 0;
	grouping->n_used = 0;
	return ret;
}

/** Highest costs of 16, of 256 ...; needs accumulate(). */
static int summarize_max(struct virt_groups *groups)
{
	const int64_t *below = NULL;
	size_t room = 0;
	int64_t *max;

	for (size_t n = groups->n / VIRT_MAX_FANOUT; n; n /= VIRT_MAX_FANOUT)
		room += n;
	if (!room)
		return 0;
	max = groups->max = calloc(room, sizeof(*max));
	if (!max)
		return -ENOMEM;
	for (size_t n = groups->n / VIRT_MAX_FANOUT; n; n /= VIRT_MAX_FANOUT) {
		for (size_t i = 0; i < n * VIRT_MAX_FANOUT; i++) {
			int64_t ns = below ? below[i] : groups->sum[i + 1] - groups->sum[i];

			if (ns > max[i / VIRT_MAX_FANOUT])
				max[i / VIRT_MAX_FANOUT] = ns;
		}
		below = max;
		max += n;
	}
	return 0;
}

static void put_exits(struct grouping *grouping)
{
	const struct virt_vcpu_track *vcpu = grouping->vcpu;

	for (size_t i = 0; i < vcpu->n; i++) {
		const struct virt_interval *interval = &vcpu->intervals[i];
		size_t end;
		bool complete;

		if (!(interval->flags & VIRT_INTERVAL_EXIT))
			continue;
		end = virt_exit_end(vcpu, i);
		complete = virt_exit_is_complete(vcpu, i, end);
		put_value(grouping, ((size_t)virt_exit_reason(interval) + 1) * 2 + complete, i,
			  grouping->store && complete ? virt_exit_cost(vcpu, i, end) : 0);
	}
}

static int summarize_exits(struct grouping *grouping, struct virt_vcpu_track *vcpu)
{
	int ret = group(grouping, vcpu, &vcpu->exits, 2, put_exits);

	return ret || !vcpu->exits ? ret : summarize_max(vcpu->exits);
}

/** Memory for put_culprits(): all of it zero between two intervals. */
struct culprit_scratch {
	int64_t		*ns;		/* per bucket */
	int32_t		*touched;	/* buckets */
	bool		*is_touched;
	uint32_t	*cursor;	/* per pCPU: an occupant not later than now */
	uint64_t	left;		/* occupants of waits that may be looked at */
};

/** Buckets of culprits: others, none, the vCPUs, the tasks. */
static size_t n_culprit_buckets(const struct virt_model *model)
{
	return 2 + (size_t)model->n_vcpus + model->n_tasks;
}

static int32_t culprit_bucket(const struct virt_model *model, int32_t who)
{
	return (who < VIRT_FIRST_TASK ? who : who - VIRT_FIRST_TASK + model->n_vcpus) - VIRT_OTHERS;
}

static void touch(struct culprit_scratch *scratch, int32_t *n_touched, int32_t bucket, int64_t ns)
{
	if (!scratch->is_touched[bucket]) {
		scratch->is_touched[bucket] = true;
		scratch->touched[(*n_touched)++] = bucket;
	}
	scratch->ns[bucket] += ns;
}

static int32_t wait_culprits(const struct grouping *grouping, struct culprit_scratch *scratch,
			     int16_t p, int64_t from, int64_t to)
{
	const struct virt_pcpu_track *pcpu;
	int32_t n_touched = 0;
	uint32_t first, i;

	if (from == to)
		return 0;
	if (p == VIRT_NONE) {
		touch(scratch, &n_touched, culprit_bucket(grouping->model, VIRT_NONE), to - from);
		return n_touched;
	}
	pcpu = &grouping->model->pcpus[p];
	first = virt_gallop(pcpu->occupants, sizeof(*pcpu->occupants), scratch->cursor[p], pcpu->n,
			    from);
	scratch->cursor[p] = first;
	for (i = first; i < pcpu->n && pcpu->occupants[i].start_ns < to && scratch->left; i++) {
		int64_t start = pcpu->occupants[i].start_ns;
		int64_t end = virt_occupant_end(grouping->model, pcpu, i);

		scratch->left -= !grouping->store;
		if (virt_is_beyond(grouping->model, first, i)) {
			touch(scratch, &n_touched, culprit_bucket(grouping->model, VIRT_OTHERS),
			      to - start);
			break;
		}
		touch(scratch, &n_touched,
		      culprit_bucket(grouping->model, pcpu->occupants[i].vcpu),
		      (end < to ? end : to) - (start > from ? start : from));
	}
	return n_touched;
}

static void put_culprits(struct grouping *grouping)
{
	const struct virt_vcpu_track *vcpu = grouping->vcpu;
	struct culprit_scratch *scratch = grouping->scratch;

	grouping->gave_up = false;
	for (size_t i = 0; i < vcpu->n; i++)
		if (vcpu->intervals[i].pcpu != VIRT_NONE)
			scratch->cursor[vcpu->intervals[i].pcpu] = 0;
	for (size_t i = 0; i < vcpu->n; i++) {
		const struct virt_interval *interval = &vcpu->intervals[i];
		int32_t n_touched;

		if (interval->state != VIRT_PREEMPTED)
			continue;
		n_touched = wait_culprits(grouping, scratch, interval->pcpu, interval->start_ns,
					  virt_interval_end(grouping->model, vcpu, i));
		for (int32_t j = 0; j < n_touched; j++) {
			int32_t bucket = scratch->touched[j];

			put_value(grouping, bucket, i, scratch->ns[bucket]);
			scratch->ns[bucket] = 0;
			scratch->is_touched[bucket] = false;
		}
	}
	grouping->gave_up = !scratch->left;
}

static int summarize_culprits(struct grouping *grouping, struct virt_vcpu_track *vcpu)
{
	const struct virt_model *model = grouping->model;
	int ret = group(grouping, vcpu, &vcpu->culprits, 1, put_culprits);

	for (uint32_t i = 0; !ret && vcpu->culprits && i < vcpu->culprits->n_groups; i++) {
		struct virt_group *culprit = &vcpu->culprits->group[i];

		culprit->key += VIRT_OTHERS + 1;
		if (culprit->key >= model->n_vcpus)
			culprit->key += VIRT_FIRST_TASK - model->n_vcpus;
	}
	return ret;
}

/**
 * Occupants of waits that are looked at for each interval and each occupant, and more in all. One
 * takes 12 bytes, and a wait comes with some seven intervals and an occupant.
 */
#define CULPRITS_EACH	4
#define CULPRITS_MORE	(1u << 18)

/** How many intervals of a vCPU are waits for a pCPU that was taken away. */
static uint32_t count_waits(const struct virt_vcpu_track *vcpu)
{
	uint32_t n = 0;

	if (virt_has_counts(vcpu))
		return vcpu->counts[virt_blocks(vcpu->n, VIRT_COUNT_BLOCK)].state[VIRT_PREEMPTED];
	for (size_t i = 0; i < vcpu->n; i++)
		n += vcpu->intervals[i].state == VIRT_PREEMPTED;
	return n;
}

/** All culprits, or as many as keep memory and time in proportion to the model. */
static int summarize_so_many(struct virt_model *model, struct grouping *grouping)
{
	struct culprit_scratch *scratch = grouping->scratch;
	uint64_t waits = 1, changes = 0;
	int ret = 0;

	for (int32_t i = 0; i < model->n_vcpus; i++) {
		changes += model->vcpus[i].n;
		waits += count_waits(&model->vcpus[i]);
	}
	for (int32_t i = 0; i < model->n_pcpus; i++)
		changes += model->pcpus[i].n;
	model->culprit_limit = UINT32_MAX;
	scratch->left = CULPRITS_MORE + CULPRITS_EACH * changes;
	for (int32_t i = 0; i < model->n_vcpus && !ret && scratch->left; i++)
		ret = summarize_culprits(grouping, &model->vcpus[i]);
	if (ret || scratch->left)
		return ret;
	/* too many: once more, with as many of each wait */
	model->culprit_limit = (uint32_t)(1 + (CULPRITS_MORE + changes) / waits);
	scratch->left = UINT64_MAX;
	for (int32_t i = 0; i < model->n_vcpus && !ret; i++) {
		virt_groups_free(model->vcpus[i].culprits);
		model->vcpus[i].culprits = NULL;
		ret = summarize_culprits(grouping, &model->vcpus[i]);
	}
	return ret;
}

static int summarize_all_culprits(struct virt_model *model)
{
	size_t n = n_culprit_buckets(model);
	struct culprit_scratch scratch = {
		.ns = calloc(n, sizeof(*scratch.ns)),
		.touched = malloc(n * sizeof(*scratch.touched)),
		.is_touched = calloc(n, sizeof(*scratch.is_touched)),
		.cursor = malloc((model->n_pcpus + 1) * sizeof(*scratch.cursor)),
	};
	struct grouping grouping;
	int ret = grouping_init(&grouping, model, n);

	grouping.scratch = &scratch;
	if (!scratch.ns || !scratch.touched || !scratch.is_touched || !scratch.cursor)
		ret = -ENOMEM;
	if (!ret)
		ret = summarize_so_many(model, &grouping);
	grouping_destroy(&grouping);
	free(scratch.ns);
	free(scratch.touched);
	free(scratch.is_touched);
	free(scratch.cursor);
	return ret;
}

/* ---- pCPUs ---- */

/** Where the sweep of a pCPU's occupants is in the intervals of a vCPU. */
struct virt_cursor {
	uint32_t	i;			/* interval in force, or an earlier one */
	int64_t		state_ns[VIRT_N_PCPU_STATES];	/* of all intervals before */
};

/** What @vcpu did before @time_ns where it holds a pCPU. */
static void states_before(const struct virt_vcpu_track *vcpu, struct virt_cursor *cursor,
			  int64_t time_ns, int64_t *state_ns)
{
	const struct virt_interval *interval;
	uint32_t i = virt_gallop(vcpu->intervals, sizeof(*vcpu->intervals), cursor->i, vcpu->n,
				 time_ns);

	if (i / VIRT_BLOCK != cursor->i / VIRT_BLOCK) {
		cursor->i = i / VIRT_BLOCK * VIRT_BLOCK;
		for (int s = 0; s < VIRT_N_PCPU_STATES; s++)
			cursor->state_ns[s] = vcpu->sums[i / VIRT_BLOCK].ns[s];
	}
	for (; cursor->i < i; cursor->i++) {
		interval = &vcpu->intervals[cursor->i];
		if (virt_state_on_pcpu(interval->state))
			cursor->state_ns[interval->state] +=
				interval[1].start_ns - interval->start_ns;
	}
	interval = &vcpu->intervals[i];
	for (int s = 0; s < VIRT_N_PCPU_STATES; s++)
		state_ns[s] = cursor->state_ns[s];
	if (virt_state_on_pcpu(interval->state))
		state_ns[interval->state] += time_ns - interval->start_ns;
}

/** Needs the blocks of all vCPUs. @cursor: room for one per vCPU */
static int summarize_pcpu(const struct virt_model *model, struct virt_pcpu_track *pcpu,
			  struct virt_cursor *cursor)
{
	struct virt_pcpu_base sum = { 0 };

	pcpu->base = malloc(((size_t)pcpu->n + 1) * sizeof(*pcpu->base));
	if (!pcpu->base)
		return -ENOMEM;
	for (size_t i = 0; i < pcpu->n; i++)
		if (virt_is_vcpu(model, pcpu->occupants[i].vcpu))
			cursor[pcpu->occupants[i].vcpu] = (struct virt_cursor){ 0 };
	for (size_t i = 0; i < pcpu->n; i++) {
		const struct virt_occupant *occupant = &pcpu->occupants[i];
		int64_t start = occupant->start_ns, end = virt_occupant_end(model, pcpu, i);

		pcpu->base[i] = sum;
		if (virt_is_vcpu(model, occupant->vcpu)) {
			const struct virt_vcpu_track *vcpu = &model->vcpus[occupant->vcpu];
			int64_t before[VIRT_N_PCPU_STATES], after[VIRT_N_PCPU_STATES];

			states_before(vcpu, &cursor[occupant->vcpu], start, before);
			states_before(vcpu, &cursor[occupant->vcpu], end, after);
			for (int s = 0; s < VIRT_N_PCPU_STATES; s++) {
				pcpu->base[i].state_ns[s] -= before[s];
				sum.state_ns[s] += after[s] - before[s];
			}
		} else if (occupant->vcpu != VIRT_NONE) {
			pcpu->base[i].task_ns -= start - model->begin_ns;
			sum.task_ns += end - start;
		} else if (occupant->known) {
			pcpu->base[i].idle_ns -= start - model->begin_ns;
			sum.idle_ns += end - start;
		}
	}
	return 0;
}

static int make_pcpu_index(const struct virt_model *model, struct virt_pcpu_track *pcpu)
{
	return make_index(model, &pcpu->index, pcpu->occupants, sizeof(*pcpu->occupants), pcpu->n,
			  VIRT_OCCUPANT_BLOCK);
}

static int summarize_pcpus(struct virt_model *model)
{
	struct virt_cursor *cursor = malloc((model->n_vcpus + 1) * sizeof(*cursor));
	int ret = cursor ? 0 : -ENOMEM;

	for (int32_t i = 0; i < model->n_pcpus && !ret; i++)
		ret = make_pcpu_index(model, &model->pcpus[i]);
	for (int32_t i = 0; i < model->n_pcpus && !ret && !model->is_brief; i++)
		ret = summarize_pcpu(model, &model->pcpus[i], cursor);
	free(cursor);
	return ret;
}

/* ---- machines ---- */

enum { RUNNING, RUNNABLE, SLEEPING, LOST, UNSPLIT, N_KINDS };

static const uint8_t kind_of[VIRT_N_STATES] = {
	[VIRT_GUEST] = RUNNING,
	[VIRT_HYPERVISOR] = RUNNING,
	[VIRT_POLLING] = RUNNING,
	[VIRT_VMM] = RUNNING,
	[VIRT_PREEMPTED] = RUNNABLE,
	[VIRT_WAKING] = RUNNABLE,
	[VIRT_BLOCKED] = SLEEPING,
	[VIRT_DEVICE_MODEL] = SLEEPING,
	[VIRT_OFFLINE] = SLEEPING,
	[VIRT_UNKNOWN] = LOST,
};

unsigned int virt_kind_in(const struct virt_interval *interval)
{
	if (virt_is_hidden(interval))
		return RUNNING;
	return interval->flags & VIRT_INTERVAL_UNSPLIT ? UNSPLIT : kind_of[interval->state];
}

static enum virt_machine_state machine_state(const uint32_t *count)
{
	/* it may run, want to, or sleep */
	if (count[UNSPLIT])
		return VIRT_M_LOST;
	if (count[RUNNING])
		return count[RUNNABLE] ? VIRT_M_CONCURRENCY_HAZARD :
		       count[SLEEPING] ? VIRT_M_PARTIAL_RUN : VIRT_M_FULL_RUN;
	if (count[RUNNABLE])
		return count[SLEEPING] ? VIRT_M_PARTIAL_CONTENTION : VIRT_M_FULL_CONTENTION;
	return count[SLEEPING] ? VIRT_M_BLOCKED : VIRT_M_LOST;
}

/** One vCPU of a machine in the merge of all its vCPUs by time. */
struct head {
	int64_t		time_ns;	/* of the next interval */
	const struct virt_vcpu_track *vcpu;
	uint32_t	next;
	uint8_t		kind;		/* now; N_KINDS before the first interval */
};

static bool is_before(const struct head *a, const struct head *b)
{
	return a->time_ns < b->time_ns;
}

static int add_machine_interval(struct virt_machine_track *machine, int64_t time_ns,
				enum virt_machine_state state)
{
	if (machine->n && machine->intervals[machine->n - 1].state == (int32_t)state)
		return 0;
	if (ARRAY_GROW(machine->intervals, machine->n, machine->room))
		return -ENOMEM;
	machine->intervals[machine->n++] = (struct virt_machine_interval){
		.start_ns = time_ns, .state = state,
	};
	return 0;
}

/** Take the next change from the top of the heap. Return: vCPUs that are left. */
static size_t advance(struct head *heap, size_t n, uint32_t *count)
{
	struct head *top = heap;

	if (top->kind != N_KINDS)
		count[top->kind]--;
	/* changes within a kind are none here */
	top->kind = virt_kind_in(&top->vcpu->intervals[top->next]);
	count[top->kind]++;
	while (++top->next < top->vcpu->n &&
	       virt_kind_in(&top->vcpu->intervals[top->next]) == top->kind)
		;
	if (top->next < top->vcpu->n)
		top->time_ns = top->vcpu->intervals[top->next].start_ns;
	else if (--n)
		heap[0] = heap[n];
	if (n)
		HEAP_DOWN(heap, n, 0, is_before);
	return n;
}

static int sweep_machine(const struct virt_model *model, struct virt_machine_track *machine,
			 struct head *heap)
{
	uint32_t count[N_KINDS] = { 0 };
	size_t n = 0;
	int ret;

	if (model->begin_ns == model->end_ns)
		return 0;
	/* all begin at the same time: a heap already */
	for (int32_t i = 0; i < machine->info.n_vcpus; i++)
		heap[n++] = (struct head){
			.time_ns = model->begin_ns,
			.vcpu = &model->vcpus[machine->info.vcpus[i]],
			.kind = N_KINDS,
		};
	if (!n)
		return add_machine_interval(machine, model->begin_ns, VIRT_M_LOST);
	while (n) {
		int64_t now = heap[0].time_ns;

		while (n && heap[0].time_ns == now)
			n = advance(heap, n, count);
		ret = add_machine_interval(machine, now, machine_state(count));
		if (ret)
			return ret;
	}
	ARRAY_SHRINK(machine->intervals, machine->n);
	return 0;
}

static int summarize_machine(const struct virt_model *model, struct virt_machine_track *machine)
{
	size_t n_blocks = virt_blocks(machine->n, VIRT_MACHINE_BLOCK);
	struct virt_machine_block sum = { 0 };

	if (n_blocks <= 1)
		return 0;
	machine->blocks = malloc(n_blocks * sizeof(*machine->blocks));
	if (!machine->blocks)
		return -ENOMEM;
	for (size_t i = 0; i < machine->n; i++) {
		const struct virt_machine_interval *interval = &machine->intervals[i];
		int64_t end = i + 1 < machine->n ? interval[1].start_ns : model->end_ns;

		if (i % VIRT_MACHINE_BLOCK == 0)
			machine->blocks[i / VIRT_MACHINE_BLOCK] = sum;
		sum.ns[interval->state] += end - interval->start_ns;
		sum.count[interval->state]++;
	}
	return 0;
}

static int summarize_machines(struct virt_model *model)
{
	struct head *heap = malloc((model->n_vcpus + 1) * sizeof(*heap));
	int ret = heap ? 0 : -ENOMEM;

	for (int32_t i = 0; i < model->n_machines && !ret; i++) {
		ret = sweep_machine(model, &model->machines[i], heap);
		if (!ret)
			ret = summarize_machine(model, &model->machines[i]);
	}
	free(heap);
	return ret;
}

/* ---- all together ---- */

/** Intervals that are worth a thread. */
#define THREAD_INTERVALS	10000

/** The data of a thread that sums up vCPUs. */
struct part {
	struct virt_model	*model;
	struct grouping		grouping;
};

static bool is_large(const struct virt_model *model)
{
	uint64_t n = 0;

	for (int32_t i = 0; i < model->n_vcpus; i++)
		n += model->vcpus[i].n;
	return n >= THREAD_INTERVALS;
}

static int summarize_one(void *own, size_t i)
{
	struct part *part = own;
	struct virt_vcpu_track *vcpu = &part->model->vcpus[i];
	int ret = summarize_vcpu(part->model, vcpu);

	if (!ret)
		ret = summarize_migrations(part->model, vcpu, (int32_t)i);
	return ret ? ret : summarize_exits(&part->grouping, vcpu);
}

static int summarize_vcpus(struct virt_model *model)
{
	size_t n_buckets = 2 * ((size_t)model->n_reasons + 1);
	struct part here = { .model = model }, beside = { .model = model };
	int ret = grouping_init(&here.grouping, model, n_buckets);
	bool shares = is_large(model) && !grouping_init(&beside.grouping, model, n_buckets);

	if (!ret)
		ret = work_share((size_t)model->n_vcpus, summarize_one, &here,
				 shares ? &beside : NULL);
	for (int32_t i = 0; i < model->n_vcpus; i++)
		model->migrates |= model->vcpus[i].n_migrations > 0;
	grouping_destroy(&here.grouping);
	grouping_destroy(&beside.grouping);
	return ret;
}

/** Sums that need the blocks of all vCPUs, and nothing of each other. */
static int (*const summarize_others[])(struct virt_model *model) = {
	summarize_all_culprits, summarize_machines, summarize_pcpus,
};

static int summarize_other(void *own, size_t i)
{
	return summarize_others[i](own);
}

int virt_summarize(struct virt_model *model)
{
	int ret = summarize_vcpus(model);

	return ret ? ret : work_share(ARRAY_SIZE(summarize_others), summarize_other, model,
				      is_large(model) ? model : NULL);
}
