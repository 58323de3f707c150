// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_query.c
 * @brief	Query a complete vCPU model, without changing it or allocating memory.
 */
#include <string.h>

#include "virt_private.h"
#include "virt_recorded.h"

int64_t virt_model_begin(const struct virt_model *model)
{
	return model->is_part ? model->from_ns : model->begin_ns;
}

int64_t virt_model_end(const struct virt_model *model)
{
	return model->is_part ? model->to_ns : model->end_ns;
}

int32_t virt_model_n_machines(const struct virt_model *model)
{
	return model->n_machines;
}

int32_t virt_model_n_vcpus(const struct virt_model *model)
{
	return model->n_vcpus;
}

int32_t virt_model_n_pcpus(const struct virt_model *model)
{
	return model->n_pcpus;
}

int32_t virt_model_n_reasons(const struct virt_model *model)
{
	return model->n_reasons;
}

static const struct virt_pcpu_track *get_pcpu(const struct virt_model *model, int32_t pcpu)
{
	return pcpu >= 0 && pcpu < model->n_pcpus ? &model->pcpus[pcpu] : NULL;
}

static const struct virt_machine_track *get_machine(const struct virt_model *model,
						    int32_t machine)
{
	return machine >= 0 && machine < model->n_machines ? &model->machines[machine] : NULL;
}

const struct virt_machine *virt_model_machine(const struct virt_model *model, int32_t machine)
{
	const struct virt_machine_track *track = get_machine(model, machine);

	return track ? &track->info : NULL;
}

const struct virt_vcpu *virt_model_vcpu(const struct virt_model *model, int32_t vcpu)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);

	return track ? &track->info : NULL;
}

const char *virt_model_reason(const struct virt_model *model, int32_t reason)
{
	return reason >= 0 && reason < model->n_reasons ? model->reasons[reason].name : NULL;
}

enum virt_exit_class virt_model_reason_class(const struct virt_model *model, int32_t reason)
{
	return reason >= 0 && reason < model->n_reasons ? model->reasons[reason].exit_class
							 : VIRT_EXIT_OTHER;
}

int32_t virt_model_n_tasks(const struct virt_model *model)
{
	return model->n_tasks;
}

int32_t virt_model_machine_of(const struct virt_model *model, int32_t who)
{
	return virt_is_vcpu(model, who) ? model->vcpus[who].info.machine :
	       virt_is_task(model, who) ? model->tasks[who - VIRT_FIRST_TASK].machine : VIRT_NONE;
}

bool virt_model_is_own(const struct virt_model *model, int32_t vcpu, int32_t who)
{
	return virt_is_vcpu(model, vcpu) && virt_is_task(model, who) &&
	       virt_model_machine_of(model, who) == model->vcpus[vcpu].info.machine;
}

const struct virt_task *virt_model_task(const struct virt_model *model, int32_t task)
{
	return virt_is_task(model, task) ? &model->tasks[task - VIRT_FIRST_TASK] : NULL;
}

const struct virt_wake *virt_model_wake(const struct virt_model *model, int32_t wake)
{
	return wake >= 0 && wake < model->n_wakes ? &model->wakes[wake] : NULL;
}

int32_t virt_model_find_vcpu(const struct virt_model *model, int32_t host_pid)
{
	size_t i;

	SEARCH_FIRST(i, 0, model->n_pids, model->pids[i].pid < host_pid);
	return i < model->n_pids && model->pids[i].pid == host_pid ? model->pids[i].vcpu :
								      VIRT_NONE;
}

/** The same if @blocks of intervals begin before @time_ns. */
static size_t first_in_block(const struct virt_vcpu_track *vcpu, size_t blocks, int64_t time_ns)
{
	size_t hi = blocks * VIRT_BLOCK;

	if (!hi)
		return 0;
	return VIRT_FIRST_AT(vcpu->intervals, hi - VIRT_BLOCK + 1, hi < vcpu->n ? hi : vcpu->n,
			     time_ns);
}

size_t virt_first_interval_at(const struct virt_vcpu_track *vcpu, int64_t time_ns)
{
	return first_in_block(vcpu, virt_index_find(&vcpu->index, time_ns), time_ns);
}

size_t virt_run_begin(const struct virt_vcpu_track *vcpu, size_t i)
{
	size_t block = i / VIRT_COUNT_BLOCK;

	for (; i > block * VIRT_COUNT_BLOCK; i--)
		if (virt_is_edge(vcpu, i))
			return i;
	return vcpu->counts[block].edge;
}

size_t virt_run_end(const struct virt_vcpu_track *vcpu, size_t i)
{
	size_t n_blocks = virt_blocks(vcpu->n, VIRT_COUNT_BLOCK);
	size_t block = i / VIRT_COUNT_BLOCK + 1, first = i;

	while (++i < vcpu->n && i % VIRT_COUNT_BLOCK)
		if (virt_is_edge(vcpu, i))
			return i;
	/* the first block at whose beginning another run or pause has begun */
	SEARCH_FIRST(block, block, n_blocks, vcpu->counts[block].edge <= first);
	/* its own block has been looked at */
	if (i < (block - 1) * VIRT_COUNT_BLOCK + 1)
		i = (block - 1) * VIRT_COUNT_BLOCK + 1;
	while (i < vcpu->n && !virt_is_edge(vcpu, i))
		i++;
	return i < vcpu->n ? i : vcpu->n;
}

/**
 * The elements [*first, *last) that touch a window of a gapless array: the one in force at its
 * beginning, and all that begin within it.
 */
#define RANGE_OF(array, n, from, to, first, last) do {				\
	*(last) = VIRT_FIRST_AT(array, 0, n, to);				\
	*(first) = VIRT_FIRST_AT(array, 0, *(last), from);			\
	if (*(first) == *(last) || (array)[*(first)].start_ns > (from))		\
		--*(first);							\
} while (0)

struct virt_interval_range virt_vcpu_intervals(const struct virt_model *model, int32_t vcpu,
					       int64_t from_ns, int64_t to_ns)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);
	size_t first, last;

	if (!track || !virt_clamp_window(model, &from_ns, &to_ns))
		return (struct virt_interval_range){ .end_ns = model->begin_ns };
	first = virt_first_interval_at(track, from_ns);
	last = virt_first_interval_at(track, to_ns);
	if (first == last || track->intervals[first].start_ns > from_ns)
		first--;
	return (struct virt_interval_range){
		.first = &track->intervals[first],
		.n = last - first,
		.end_ns = virt_interval_end(model, track, last - 1),
	};
}

const struct virt_interval *virt_vcpu_at(const struct virt_model *model, int32_t vcpu,
					 int64_t time_ns, int64_t *end_ns)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);
	size_t i;

	if (!track || time_ns < model->begin_ns || time_ns >= model->end_ns)
		return NULL;
	i = virt_first_interval_at(track, time_ns + 1) - 1;
	if (end_ns)
		*end_ns = virt_interval_end(model, track, i);
	return &track->intervals[i];
}

struct virt_occupant_range virt_pcpu_occupants(const struct virt_model *model, int32_t pcpu,
					       int64_t from_ns, int64_t to_ns)
{
	const struct virt_pcpu_track *track = get_pcpu(model, pcpu);
	size_t first, last;

	if (!track || !virt_clamp_window(model, &from_ns, &to_ns))
		return (struct virt_occupant_range){ .end_ns = model->begin_ns };
	RANGE_OF(track->occupants, track->n, from_ns, to_ns, &first, &last);
	return (struct virt_occupant_range){
		.first = &track->occupants[first],
		.n = last - first,
		.end_ns = virt_occupant_end(model, track, last - 1),
	};
}

const struct virt_occupant *virt_pcpu_at(const struct virt_model *model, int32_t pcpu,
					 int64_t time_ns, int64_t *end_ns)
{
	const struct virt_pcpu_track *track = get_pcpu(model, pcpu);
	size_t i;

	if (!track || time_ns < model->begin_ns || time_ns >= model->end_ns)
		return NULL;
	i = VIRT_FIRST_AT(track->occupants, 0, track->n, time_ns + 1) - 1;
	if (end_ns)
		*end_ns = virt_occupant_end(model, track, i);
	return &track->occupants[i];
}

/* ---- totals ---- */

static int64_t clamp(const struct virt_model *model, int64_t time_ns)
{
	return time_ns < model->begin_ns ? model->begin_ns :
	       time_ns > model->end_ns ? model->end_ns : time_ns;
}

/** Times of a vCPU from the beginning of the trace to @time_ns, in whose block @sum is. */
static void times_before(const struct virt_vcpu_track *vcpu, int64_t time_ns, size_t block,
			 struct virt_sum *sum)
{
	const struct virt_interval *interval = &vcpu->intervals[block * VIRT_BLOCK];
	const struct virt_interval *last = &vcpu->intervals[vcpu->n - 1];

	*sum = vcpu->sums[block];
	/* ends within the block: the next one does not begin before that moment */
	for (; interval < last && interval[1].start_ns < time_ns; interval++)
		sum->ns[interval->state] += interval[1].start_ns - interval->start_ns;
	sum->ns[interval->state] += time_ns - interval->start_ns;
}

/** How many intervals of each state are among the first @n ones. */
static void state_counts_before(const struct virt_vcpu_track *vcpu, size_t n, uint64_t *count)
{
	size_t i = n / VIRT_COUNT_BLOCK;

	for (int s = 0; s < VIRT_N_STATES; s++)
		count[s] = vcpu->counts[i].state[s];
	for (i *= VIRT_COUNT_BLOCK; i < n; i++)
		count[vcpu->intervals[i].state]++;
}

void virt_vcpu_totals(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
		      int64_t to_ns, struct virt_totals *totals)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);
	uint64_t before[VIRT_N_STATES];

	memset(totals, 0, sizeof(*totals));
	if (!track || !virt_clamp_window(model, &from_ns, &to_ns))
		return;
	virt_vcpu_columns(model, vcpu, from_ns, to_ns, &totals->ns, 1);
	state_counts_before(track, virt_first_interval_at(track, from_ns), before);
	state_counts_before(track, virt_first_interval_at(track, to_ns), totals->count);
	for (int s = 0; s < VIRT_N_STATES; s++)
		totals->count[s] -= before[s];
}

bool virt_model_is_unsplit(const struct virt_model *model)
{
	return model->unsplit;
}

bool virt_model_knows_calls_only(const struct virt_model *model)
{
	return model->calls_only;
}

uint64_t virt_model_recorded(const struct virt_model *model)
{
	return ~model->unrecorded & VIRT_RECORDED_ALL;
}

bool virt_model_has_recorded(const struct virt_model *model, enum virt_record_kind kind)
{
	return !(model->unrecorded & VIRT_RECORD_BIT(kind));
}

/** Time by state of a vCPU's intervals that have a flag. */
static void sum_flagged(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			int64_t to_ns, uint8_t flag, int64_t ns[VIRT_N_STATES])
{
	struct virt_interval_range range = { 0 };

	if (virt_clamp_window(model, &from_ns, &to_ns))
		range = virt_vcpu_intervals(model, vcpu, from_ns, to_ns);
	for (size_t i = 0; i < range.n; i++) {
		const struct virt_interval *interval = &range.first[i];
		int64_t end = i + 1 < range.n ? interval[1].start_ns : range.end_ns;
		int64_t start = interval->start_ns > from_ns ? interval->start_ns : from_ns;

		if (interval->flags & flag)
			ns[interval->state] += (end < to_ns ? end : to_ns) - start;
	}
}

void virt_vcpu_unsplit(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
		       int64_t to_ns, int64_t ns[VIRT_N_STATES])
{
	memset(ns, 0, VIRT_N_STATES * sizeof(*ns));
	if (model->unsplit)
		sum_flagged(model, vcpu, from_ns, to_ns, VIRT_INTERVAL_UNSPLIT, ns);
}

int64_t virt_vcpu_hidden(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			 int64_t to_ns)
{
	int64_t ns[VIRT_N_STATES] = { 0 };

	sum_flagged(model, vcpu, from_ns, to_ns, VIRT_INTERVAL_ON_PCPU, ns);
	return ns[VIRT_UNKNOWN];
}

/* ---- many windows side by side ---- */

/**
 * Borders that are looked up together, step by step: each step asks for the memory that the next
 * one needs, so that they all wait for it at the same time, and not one after another.
 */
#define BATCH	32

/** Where column @i of @n begins, rounded down. */
static int64_t column(int64_t from_ns, int64_t to_ns, size_t i, size_t n)
{
	uint64_t length = (uint64_t)to_ns - (uint64_t)from_ns, rest = length % n;

	/* the rest is less than n, which is a number of pixels */
	return (int64_t)((uint64_t)from_ns + length / n * i + rest * i / n);
}

static void prefetch(const void *memory, size_t size)
{
	for (size_t i = 0; i < size; i += VIRT_CACHE_LINE)
		__builtin_prefetch((const char *)memory + i);
}

/** Step 1 of a search in an index. */
static void prefetch_cell(const struct virt_index *index, int64_t time_ns)
{
	if (time_ns > index->begin_ns)
		__builtin_prefetch(&index->cell[virt_index_cell(index, time_ns)]);
}

/** Step 2. */
static void prefetch_start(const struct virt_index *index, int64_t time_ns)
{
	if (time_ns > index->begin_ns)
		__builtin_prefetch(&index->start[index->cell[virt_index_cell(index, time_ns)]]);
}

/** A moment in a vCPU's life. */
struct moment {
	const struct virt_vcpu_track *vcpu;
	size_t		block;		/* how many begin before it */
};

/** Step 3. */
static struct moment find_moment(const struct virt_vcpu_track *vcpu, int64_t time_ns)
{
	struct moment moment = { vcpu, virt_index_find(&vcpu->index, time_ns) };

	if (moment.block) {
		prefetch(&vcpu->sums[moment.block - 1], sizeof(*vcpu->sums));
		prefetch(&vcpu->intervals[(moment.block - 1) * VIRT_BLOCK],
			 VIRT_BLOCK * sizeof(struct virt_interval) + VIRT_CACHE_LINE);
	}
	return moment;
}

/** Steps 1 to 3 for @n borders, from number @first on of those between @n_columns columns. */
static void find_moments(const struct virt_model *model, const struct virt_vcpu_track *vcpu,
			 int64_t from_ns, int64_t to_ns, size_t n_columns, size_t first, size_t n,
			 int64_t *time, struct moment *moment)
{
	for (size_t i = 0; i < n; i++) {
		time[i] = clamp(model, column(from_ns, to_ns, first + i, n_columns));
		prefetch_cell(&vcpu->index, time[i]);
	}
	for (size_t i = 0; i < n; i++)
		prefetch_start(&vcpu->index, time[i]);
	for (size_t i = 0; i < n; i++)
		moment[i] = find_moment(vcpu, time[i]);
}

/** Times of a vCPU up to a moment. */
static void moment_times(const struct moment *moment, int64_t time_ns, struct virt_sum *sum)
{
	if (moment->block)
		times_before(moment->vcpu, time_ns, moment->block - 1, sum);
	else
		memset(sum, 0, sizeof(*sum));
}

void virt_vcpu_columns(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
		       int64_t to_ns, int64_t (*ns)[VIRT_N_STATES], size_t n)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);
	struct virt_sum before = { 0 }, after;
	struct moment moment[BATCH];
	int64_t time[BATCH];

	memset(ns, 0, n * sizeof(*ns));
	if (!n || !track || !track->n || from_ns >= to_ns)
		return;
	/* n + 1 borders; each but the first completes the column before it */
	for (size_t done = 0; done <= n; done += BATCH) {
		size_t size = n + 1 - done < BATCH ? n + 1 - done : BATCH;

		find_moments(model, track, from_ns, to_ns, n, done, size, time, moment);
		for (size_t i = 0; i < size; i++) {
			moment_times(&moment[i], time[i], &after);
			for (int s = 0; done + i && s < VIRT_N_STATES; s++)
				ns[done + i - 1][s] = after.ns[s] - before.ns[s];
			before = after;
		}
	}
}

/** Time in the hypervisor before an interval, by what it is about. */
struct class_times {
	size_t		i;
	int64_t		ns[VIRT_EXIT_N_CLASSES];
};

/** Where a block of counts begins; there is one more behind all intervals. */
static size_t block_begin(const struct virt_vcpu_track *vcpu, size_t block)
{
	return block * VIRT_COUNT_BLOCK < vcpu->n ? block * VIRT_COUNT_BLOCK : vcpu->n;
}

static size_t distance(size_t a, size_t b)
{
	return a < b ? b - a : a - b;
}

/** The block that begins nearest to interval @i: fewest of them are to be read then. */
static size_t nearest_block(const struct virt_vcpu_track *vcpu, size_t i)
{
	size_t block = i / VIRT_COUNT_BLOCK;

	return virt_has_counts(vcpu) && distance(block_begin(vcpu, block + 1), i) <
					distance(block_begin(vcpu, block), i) ? block + 1 : block;
}

/** Go on, or back, to interval @i from where it is or where a block begins, whichever is nearer. */
static void move_to(const struct virt_model *model, const struct virt_vcpu_track *vcpu,
		    struct class_times *times, size_t i)
{
	size_t block = nearest_block(vcpu, i), begin = block_begin(vcpu, block), from, to;
	int64_t sign;

	if (distance(begin, i) < distance(times->i, i)) {
		times->i = begin;
		memcpy(times->ns, vcpu->counts[block].class_ns, sizeof(times->ns));
	}
	sign = times->i < i ? 1 : -1;
	from = times->i < i ? times->i : i;
	to = times->i < i ? i : times->i;
	for (times->i = i; from < to; from++) {
		const struct virt_interval *interval = &vcpu->intervals[from];

		if (interval->state == VIRT_HYPERVISOR)
			times->ns[virt_model_reason_class(model, interval->detail)] += sign *
				(virt_interval_end(model, vcpu, from) - interval->start_ns);
	}
}

/** What move_to() will look at. */
static void prefetch_classes(const struct moment *moment)
{
	size_t end = moment->block * VIRT_BLOCK, from = end > VIRT_BLOCK ? end - VIRT_BLOCK : 0;
	size_t block = nearest_block(moment->vcpu, from), begin = block_begin(moment->vcpu, block);

	if (!end)
		return;
	prefetch(&moment->vcpu->counts[block], sizeof(*moment->vcpu->counts));
	if (begin < from)
		from = begin;
	else
		end = begin;
	prefetch(&moment->vcpu->intervals[from], (end - from) * sizeof(struct virt_interval));
}

/** The same before @time_ns, in the middle of an interval or not. */
static void classes_before(const struct virt_model *model, const struct moment *moment,
			   struct class_times *times, int64_t time_ns, int64_t *ns)
{
	const struct virt_vcpu_track *vcpu = moment->vcpu;
	size_t i = first_in_block(vcpu, moment->block, time_ns);
	int64_t beyond;

	move_to(model, vcpu, times, i);
	memcpy(ns, times->ns, sizeof(times->ns));
	if (!i || vcpu->intervals[i - 1].state != VIRT_HYPERVISOR)
		return;
	beyond = virt_interval_end(model, vcpu, i - 1) - time_ns;
	if (beyond > 0)
		ns[virt_model_reason_class(model, vcpu->intervals[i - 1].detail)] -= beyond;
}

void virt_vcpu_exit_columns(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			    int64_t to_ns, int64_t (*ns)[VIRT_EXIT_N_CLASSES], size_t n)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);
	int64_t before[VIRT_EXIT_N_CLASSES] = { 0 }, after[VIRT_EXIT_N_CLASSES];
	struct class_times times = { 0 };
	struct moment moment[BATCH];
	int64_t time[BATCH];

	memset(ns, 0, n * sizeof(*ns));
	if (!n || !track || !track->n || from_ns >= to_ns)
		return;
	for (size_t done = 0; done <= n; done += BATCH) {
		size_t size = n + 1 - done < BATCH ? n + 1 - done : BATCH;

		find_moments(model, track, from_ns, to_ns, n, done, size, time, moment);
		for (size_t i = 0; i < size; i++)
			prefetch_classes(&moment[i]);
		for (size_t i = 0; i < size; i++) {
			classes_before(model, &moment[i], &times, time[i], after);
			for (int c = 0; done + i && c < VIRT_EXIT_N_CLASSES; c++)
				ns[done + i - 1][c] = after[c] - before[c];
			memcpy(before, after, sizeof(before));
		}
	}
}

/** A moment on a pCPU. */
struct pcpu_moment {
	size_t		block;		/* of occupants: how many begin before it */
	size_t		occupant;
	struct moment	vcpu;		/* of the occupant, if it is one */
};

/** Step 3. */
static void find_occupants(const struct virt_pcpu_track *pcpu, int64_t time_ns,
			   struct pcpu_moment *moment)
{
	moment->block = virt_index_find(&pcpu->index, time_ns);
	if (moment->block)
		prefetch(&pcpu->occupants[(moment->block - 1) * VIRT_OCCUPANT_BLOCK],
			 VIRT_OCCUPANT_BLOCK * sizeof(*pcpu->occupants) + VIRT_CACHE_LINE);
}

/** Step 4: who was there just before @time_ns; and step 1 of the search for its moment. */
static void find_occupant(const struct virt_model *model, const struct virt_pcpu_track *pcpu,
			  int64_t time_ns, struct pcpu_moment *moment)
{
	size_t hi = moment->block * VIRT_OCCUPANT_BLOCK;
	int32_t who;

	moment->vcpu.vcpu = NULL;
	if (!moment->block)
		return;
	moment->occupant = VIRT_FIRST_AT(pcpu->occupants, hi - VIRT_OCCUPANT_BLOCK + 1,
					 hi < pcpu->n ? hi : pcpu->n, time_ns) - 1;
	prefetch(&pcpu->base[moment->occupant], sizeof(*pcpu->base) + VIRT_CACHE_LINE);
	who = pcpu->occupants[moment->occupant].vcpu;
	if (virt_is_vcpu(model, who)) {
		moment->vcpu.vcpu = &model->vcpus[who];
		prefetch_cell(&moment->vcpu.vcpu->index, time_ns);
	}
}

/** Totals of a pCPU from the beginning of the trace to @time_ns. */
static void pcpu_totals_before(const struct virt_model *model, const struct virt_pcpu_track *pcpu,
			       int64_t time_ns, const struct pcpu_moment *moment,
			       struct virt_pcpu_totals *totals)
{
	int64_t since_begin = time_ns - model->begin_ns;
	const struct virt_occupant *occupant;
	const struct virt_pcpu_base *base;
	struct virt_sum sum;

	memset(totals, 0, sizeof(*totals));
	if (!moment->block)
		return;
	base = &pcpu->base[moment->occupant];
	for (int s = 0; s < VIRT_N_PCPU_STATES; s++)
		totals->state_ns[s] = base->state_ns[s];
	totals->task_ns = base->task_ns;
	totals->idle_ns = base->idle_ns;
	occupant = &pcpu->occupants[moment->occupant];
	if (moment->vcpu.vcpu) {
		moment_times(&moment->vcpu, time_ns, &sum);
		for (int s = 0; s < VIRT_N_PCPU_STATES; s++)
			totals->state_ns[s] += sum.ns[s];
	} else if (occupant->vcpu != VIRT_NONE) {
		totals->task_ns += since_begin;
	} else if (occupant->known) {
		totals->idle_ns += since_begin;
	}
	totals->unknown_ns = since_begin - totals->idle_ns - totals->task_ns;
	for (int s = 0; s < VIRT_N_PCPU_STATES; s++)
		totals->unknown_ns -= totals->state_ns[s];
}

static void subtract(struct virt_pcpu_totals *column, const struct virt_pcpu_totals *after,
		     const struct virt_pcpu_totals *before)
{
	for (int s = 0; s < VIRT_N_PCPU_STATES; s++)
		column->state_ns[s] = after->state_ns[s] - before->state_ns[s];
	column->task_ns = after->task_ns - before->task_ns;
	column->idle_ns = after->idle_ns - before->idle_ns;
	column->unknown_ns = after->unknown_ns - before->unknown_ns;
}

/** What an occupant did between two times within its stay. */
static void add_occupant(const struct virt_model *model, const struct virt_occupant *occupant,
			 int64_t from_ns, int64_t to_ns, struct virt_pcpu_totals *totals)
{
	const struct virt_vcpu_track *vcpu = virt_get_vcpu(model, occupant->vcpu);
	int64_t ns = to_ns - from_ns;

	if (vcpu) {
		const struct moment from = find_moment(vcpu, from_ns);
		const struct moment to = find_moment(vcpu, to_ns);
		struct virt_sum before, after;

		moment_times(&from, from_ns, &before);
		moment_times(&to, to_ns, &after);
		for (int s = 0; s < VIRT_N_PCPU_STATES; s++) {
			totals->state_ns[s] += after.ns[s] - before.ns[s];
			ns -= after.ns[s] - before.ns[s];
		}
		totals->unknown_ns += ns;
	} else if (occupant->vcpu != VIRT_NONE) {
		totals->task_ns += ns;
	} else if (occupant->known) {
		totals->idle_ns += ns;
	} else {
		totals->unknown_ns += ns;
	}
}

/** Totals of a window without sums of the pCPU: from all of its occupants. */
static void walk_pcpu(const struct virt_model *model, int32_t pcpu, int64_t from_ns,
		      int64_t to_ns, struct virt_pcpu_totals *totals)
{
	struct virt_occupant_range range = virt_pcpu_occupants(model, pcpu, from_ns, to_ns);

	for (size_t i = 0; i < range.n; i++) {
		const struct virt_occupant *occupant = &range.first[i];
		int64_t start = occupant->start_ns;
		int64_t end = i + 1 < range.n ? occupant[1].start_ns : range.end_ns;

		add_occupant(model, occupant, start > from_ns ? start : from_ns,
			     end < to_ns ? end : to_ns, totals);
	}
}

void virt_pcpu_columns(const struct virt_model *model, int32_t pcpu, int64_t from_ns,
		       int64_t to_ns, struct virt_pcpu_totals *totals, size_t n)
{
	const struct virt_pcpu_track *track = get_pcpu(model, pcpu);
	struct virt_pcpu_totals before = { 0 }, after;
	struct pcpu_moment moment[BATCH];
	int64_t time[BATCH];

	memset(totals, 0, n * sizeof(*totals));
	if (!track || from_ns >= to_ns)
		return;
	for (size_t i = 0; i < n && track->n && !track->base; i++)
		walk_pcpu(model, pcpu, clamp(model, column(from_ns, to_ns, i, n)),
			  clamp(model, column(from_ns, to_ns, i + 1, n)), &totals[i]);
	for (size_t done = 0; track->base && done <= n; done += BATCH) {
		size_t size = n + 1 - done < BATCH ? n + 1 - done : BATCH;

		for (size_t i = 0; i < size; i++) {
			time[i] = clamp(model, column(from_ns, to_ns, done + i, n));
			prefetch_cell(&track->index, time[i]);
		}
		for (size_t i = 0; i < size; i++)
			prefetch_start(&track->index, time[i]);
		for (size_t i = 0; i < size; i++)
			find_occupants(track, time[i], &moment[i]);
		for (size_t i = 0; i < size; i++)
			find_occupant(model, track, time[i], &moment[i]);
		for (size_t i = 0; i < size; i++)
			if (moment[i].vcpu.vcpu)
				prefetch_start(&moment[i].vcpu.vcpu->index, time[i]);
		for (size_t i = 0; i < size; i++)
			if (moment[i].vcpu.vcpu)
				moment[i].vcpu = find_moment(moment[i].vcpu.vcpu, time[i]);
		for (size_t i = 0; i < size; i++) {
			pcpu_totals_before(model, track, time[i], &moment[i], &after);
			if (done + i)
				subtract(&totals[done + i - 1], &after, &before);
			before = after;
		}
	}
}

void virt_pcpu_totals(const struct virt_model *model, int32_t pcpu, int64_t from_ns,
		      int64_t to_ns, struct virt_pcpu_totals *totals)
{
	virt_pcpu_columns(model, pcpu, from_ns, to_ns, totals, 1);
}

struct virt_migration_range virt_vcpu_migrations(const struct virt_model *model, int32_t vcpu,
						 int64_t from_ns, int64_t to_ns)
{
	const struct virt_vcpu_track *track = virt_get_vcpu(model, vcpu);
	size_t first, last;

	if (!track || !track->n_migrations || !virt_clamp_window(model, &from_ns, &to_ns))
		return (struct virt_migration_range){ 0 };
	last = VIRT_FIRST_AT(track->migrations, 0, track->n_migrations, to_ns);
	first = VIRT_FIRST_AT(track->migrations, 0, last, from_ns);
	return (struct virt_migration_range){ &track->migrations[first], last - first };
}

struct virt_loss_range virt_model_losses(const struct virt_model *model)
{
	return (struct virt_loss_range){ model->losses, model->n_losses };
}

struct virt_tsc_write_range virt_model_tsc_writes(const struct virt_model *model)
{
	return (struct virt_tsc_write_range){ model->tsc_writes, model->n_tsc_writes };
}

struct virt_loss_range virt_model_losses_from(const struct virt_model *model, int64_t from_ns,
					      int64_t to_ns)
{
	size_t first = VIRT_FIRST_AT(model->losses, 0, model->n_losses, from_ns);
	size_t end = VIRT_FIRST_AT(model->losses, first, model->n_losses, to_ns);

	/* without any loss there is no array */
	return (struct virt_loss_range){
		.first = end > first ? model->losses + first : NULL, .n = end - first,
	};
}

struct virt_loss_sum virt_model_count_losses(const struct virt_model *model, int32_t pcpu,
					     int64_t from_ns, int64_t to_ns)
{
	struct virt_loss_range losses = virt_model_losses_from(model, from_ns, to_ns);
	struct virt_loss_sum sum = { 0 };

	for (size_t i = 0; i < losses.n; i++) {
		if (pcpu != VIRT_NONE && losses.first[i].pcpu != pcpu)
			continue;
		sum.losses++;
		sum.records += losses.first[i].records;
		sum.uncounted += !losses.first[i].records;
	}
	return sum;
}

const struct virt_loss *virt_model_loss_in(const struct virt_model *model, int64_t from_ns,
					   int64_t to_ns)
{
	size_t n = VIRT_FIRST_AT(model->losses, 0, model->n_losses, to_ns);
	const struct virt_loss *loss = n ? &model->losses[model->lasting[n - 1]] : NULL;

	return loss && virt_loss_end(loss) > from_ns ? loss : NULL;
}

bool virt_machine_is_offline(const struct virt_model *model, int32_t machine, int64_t time_ns)
{
	const struct virt_machine *info = virt_model_machine(model, machine);

	for (int32_t i = 0; info && i < info->n_vcpus; i++) {
		const struct virt_interval *at = virt_vcpu_at(model, info->vcpus[i], time_ns, NULL);

		if (!at || at->state != VIRT_OFFLINE)
			return false;
	}
	return info && info->n_vcpus;
}

struct virt_machine_range virt_machine_intervals(const struct virt_model *model, int32_t machine,
						 int64_t from_ns, int64_t to_ns)
{
	const struct virt_machine_track *track = get_machine(model, machine);
	size_t first, last;

	if (!track || !virt_clamp_window(model, &from_ns, &to_ns))
		return (struct virt_machine_range){ .end_ns = model->begin_ns };
	RANGE_OF(track->intervals, track->n, from_ns, to_ns, &first, &last);
	return (struct virt_machine_range){
		.first = &track->intervals[first],
		.n = last - first,
		.end_ns = last < track->n ? track->intervals[last].start_ns : model->end_ns,
	};
}

/** Totals from the beginning of the trace to @to_ns. */
static void machine_totals_before(const struct virt_machine_track *machine, int64_t to_ns,
				  struct virt_machine_totals *totals)
{
	size_t n = VIRT_FIRST_AT(machine->intervals, 0, machine->n, to_ns);
	size_t i = n ? (n - 1) / VIRT_MACHINE_BLOCK : 0;

	memset(totals, 0, sizeof(*totals));
	for (int s = 0; s < VIRT_M_N_STATES && machine->blocks; s++) {
		totals->ns[s] = machine->blocks[i].ns[s];
		totals->count[s] = machine->blocks[i].count[s];
	}
	for (i *= VIRT_MACHINE_BLOCK; i < n; i++) {
		const struct virt_machine_interval *interval = &machine->intervals[i];

		totals->ns[interval->state] +=
			(i + 1 < n ? interval[1].start_ns : to_ns) - interval->start_ns;
		totals->count[interval->state]++;
	}
}

void virt_machine_totals(const struct virt_model *model, int32_t machine, int64_t from_ns,
			 int64_t to_ns, struct virt_machine_totals *totals)
{
	const struct virt_machine_track *track = get_machine(model, machine);
	struct virt_machine_totals before;

	memset(totals, 0, sizeof(*totals));
	if (!track || !virt_clamp_window(model, &from_ns, &to_ns))
		return;
	machine_totals_before(track, from_ns, &before);
	machine_totals_before(track, to_ns, totals);
	for (int s = 0; s < VIRT_M_N_STATES; s++) {
		totals->ns[s] -= before.ns[s];
		totals->count[s] -= before.count[s];
	}
}
