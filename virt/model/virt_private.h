/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_private.h
 * @brief	Inside the vCPU model: arrays in order of time, and sums that make windows cheap.
 *
 * Every array of times is sorted, and every element begins with its time, so that one search fits
 * all. Sums from the beginning of the trace are kept for every n-th element: the sum of a window
 * is the difference of two of them and a few elements at its edges.
 */
#ifndef KSHARK_VIRT_VIRT_PRIVATE_H
#define KSHARK_VIRT_VIRT_PRIVATE_H

#include "key_map.h"
#include "search.h"
#include "virt_arguments.h"
#include "virt_handlers.h"
#include "virt_vcpu_lives.h"
#include "virt_model.h"
#include "virt_power.h"

/** Intervals of a vCPU per sum of times, and per sum of counts; occupants of a pCPU per step of its
 * index. Measured with bench_shading: drawing waits for memory most of its time. */
#define VIRT_BLOCK		8
#define VIRT_COUNT_BLOCK	64
#define VIRT_OCCUPANT_BLOCK	8
/** Blocks per cell of an index, on average. */
#define VIRT_CELL_BLOCKS	2
/** What memory is read in, in bytes. */
#define VIRT_CACHE_LINE		64
/** Machine intervals per block. */
#define VIRT_MACHINE_BLOCK	32

/** Costs below one entry of the next level of maxima. */
#define VIRT_MAX_FANOUT		16

/** Kinds of contradictions; the last one takes all further ones. */
#define VIRT_MAX_CONTRADICTIONS	32

/** Times before the first interval of a block. */
struct virt_sum {
	int64_t		ns[VIRT_N_STATES];
};

/** Intervals, exits and times of some kinds before the first interval of a block. */
struct virt_counts {
	uint32_t	state[VIRT_N_STATES];
	uint32_t	exits;
	uint32_t	edge;		/* where the run or pause begins in which it begins */
	int64_t		unasked_ns;	/* VIRT_INTERVAL_UNASKED */
	int64_t		hidden_ns;	/* UNKNOWN, VIRT_INTERVAL_ON_PCPU */
	int64_t		class_ns[VIRT_EXIT_N_CLASSES];	/* VIRT_HYPERVISOR */
};

/**
 * From a time to a block: the trace is cut into cells of equal length, of each of which is known
 * where its blocks begin. A search needs to look at these few only, wherever they are.
 */
struct virt_index {
	const int64_t	*start;		/* n, of each block's first element */
	const uint32_t	*cell;		/* n_cells + 1: its first block, or that of a later one */
	uint32_t	n, n_cells;
	int64_t		begin_ns;
	int		shift;		/* a cell is 2^shift ns long */
};

/** One reason's exits, or one culprit's waits: a piece of the arrays of struct virt_groups. */
struct virt_group {
	int32_t		key;		/* reason or vCPU, VIRT_NONE */
	uint32_t	complete;	/* exits: the ones whose cost is known are apart */
	uint32_t	first, n;
};

/** Costs of some of a vCPU's intervals, grouped by what they are due to. All in one piece. */
struct virt_groups {
	struct virt_group *group;
	uint32_t	n_groups;
	uint32_t	n;
	uint32_t	*index;		/* n, of the interval; ascending in each group */
	int64_t		*max;		/* exits only: highest cost of 16, of 256 ..., level by
					 * level; NULL: there are less than 16 */
	int64_t		sum[];		/* n + 1, of all costs before */
};

/** What an exit was for. */
struct virt_argument_of {
	uint32_t	interval;	/* that begins with the exit */
	int32_t		argument;	/* number in struct virt_arguments; while it is filled, also
					 * VIRT_NONE */
	uint16_t	seen;		/* while it is filled: enum exit_seen */
};

/** What a vCPU's own limit held, see virt_limits.h. */
struct virt_holds {
	struct virt_hold *all;		/* ascending, and apart */
	size_t		n, room;
};

/**
 * The trace may name very many vCPUs and show hardly anything of them: what a single block
 * does not need is shared by all of them, and what has no elements is NULL.
 */
struct virt_vcpu_track {
	struct virt_vcpu info;
	struct virt_interval *intervals;
	uint32_t	n, room;
	uint32_t	blocked;	/* while it is filled: its last BLOCKED interval, if that is
					 * one still */
	uint32_t	exit;		/* the same: the one that its last exit begins */
	struct virt_argument_of *arguments;	/* ascending by interval */
	uint32_t	n_arguments, arguments_room;
	const char	*affinity;	/* see virt_affinity.h; NULL: not known */
	struct virt_holds *holds;	/* two of them, [1] those that are only possible; or NULL */
	struct virt_index index;
	struct virt_sum	*sums;		/* one per block; &virt_no_sum: see virt_has_sums() */
	struct virt_counts *counts;	/* one per VIRT_COUNT_BLOCK, and one more of all;
					 * &virt_no_counts: see virt_has_counts() */
	struct virt_migration *migrations;
	uint32_t	n_migrations;
	struct virt_groups *exits, *culprits;	/* see virt_groups_of() */
};

/** What lies before the first block. */
extern struct virt_sum virt_no_sum;
extern struct virt_counts virt_no_counts;

/** virt_has_sums, virt_has_counts - are there more than what lies before the first block? */
static inline bool virt_has_sums(const struct virt_vcpu_track *vcpu)
{
	return vcpu->n > VIRT_BLOCK;
}

static inline bool virt_has_counts(const struct virt_vcpu_track *vcpu)
{
	return vcpu->n >= VIRT_COUNT_BLOCK;
}

/** virt_groups_of - a vCPU's exits or culprits, also if it has none */
static inline const struct virt_groups *virt_groups_of(const struct virt_groups *groups)
{
	static const struct virt_groups none;

	return groups ? groups : &none;
}

/**
 * What a pCPU did before a moment: @base of the occupant at that moment, plus what this one has
 * done up to then since the beginning of the trace, wherever that was.
 */
struct virt_pcpu_base {
	int64_t		state_ns[VIRT_N_PCPU_STATES];
	int64_t		task_ns;
	int64_t		idle_ns;
};

struct virt_pcpu_track {
	struct virt_occupant *occupants;
	uint32_t	n, room;
	struct virt_index index;
	struct virt_pcpu_base *base;	/* n; NULL: see virt_model_brief() */
};

struct virt_machine_block {
	int64_t		ns[VIRT_M_N_STATES];
	uint32_t	count[VIRT_M_N_STATES];
};

struct virt_machine_track {
	struct virt_machine info;
	int32_t		order;		/* index while the model was filled */
	struct virt_machine_interval *intervals;
	uint32_t	n, room;
	struct device_region *regions;	/* of a filled model: ascending, memory before ports */
	uint32_t	n_regions, regions_room;
	struct virt_machine_block *blocks;	/* NULL: there is one, before which is nothing */
};

/** Names, one after the other, in pieces of growing size. */
struct virt_names {
	struct virt_names *before;
	size_t		n, room;
	char		text[];
};

struct virt_contradiction {
	const char	*what;
	uint64_t	count;
	uint64_t	untimed;	/* of these, without a time */
};

struct virt_contradicted {
	int64_t		time_ns;
	uint64_t	count;		/* at that time */
	int32_t		kind;		/* number in @contradictions */
};

struct virt_pid {
	int32_t		pid, vcpu;
};

struct virt_reason {
	const char	*name;
	enum virt_exit_class exit_class;
	uint8_t		argument;	/* enum virt_record_kind: see virt_reason_record() */
	bool		for_memory;	/* see exit_is_for_memory() */
};

/** What exits were for; see virt_arguments.h. */
struct virt_arguments {
	struct virt_argument *all;
	int32_t		n, room;
	struct key_map	map;		/* while the model is filled: by hash */
	bool		skip;		/* see virt_model_skip_arguments() */
};

/** What interrupted vCPUs; see virt_handlers.h. */
struct virt_handlers {
	struct virt_handler *handlers;
	int32_t		n, room;
	struct virt_handling *handlings;	/* ascending by vCPU and time */
	size_t		n_handlings, handlings_room;
};

struct virt_power_step {
	int64_t		time_ns;
	int32_t		value;
};

struct virt_power_track {
	struct virt_power_step *steps;	/* ascending */
	size_t		n, room;
};

/** What the hardware under the pCPUs does; see virt_power.h. */
struct virt_power {
	struct {
		struct virt_power_track tracks[VIRT_POWER_N_KINDS];
	}		*pcpus;
	int32_t		n;
	char		*names[VIRT_IDLE_STATES];	/* or NULL */
};

struct virt_model {
	struct virt_names *names;	/* all that are there */
	struct virt_devices *_Atomic devices;	/* the last ones; NULL: none */
	struct virt_machine_track *machines;
	int32_t		n_machines, machines_room;
	struct key_map	machine_map;
	struct virt_vcpu_track *vcpus;
	int32_t		n_vcpus, vcpus_room;
	struct key_map	vcpu_map;
	int32_t		*order;		/* vCPUs by machine, ascending by number */
	struct virt_pid	*pids;		/* ascending */
	struct virt_reason *reasons;
	int32_t		n_reasons, reasons_room;
	struct key_map	reason_map;	/* hash_text() */
	struct virt_task *tasks;
	int32_t		n_tasks, tasks_room;
	struct key_map	task_map;
	struct virt_wake *wakes;
	int32_t		n_wakes, wakes_room;
	struct key_map	wake_map;
	struct virt_pcpu_track *pcpus;
	int32_t		n_pcpus, pcpus_room;
	struct virt_handlers handlers;
	struct virt_arguments arguments;
	struct virt_power power;
	struct virt_loss *losses;
	size_t		n_losses, losses_room;
	uint32_t	*lasting;	/* of the losses up to each, which lasts longest */
	struct virt_life *lives;
	size_t		n_lives, lives_room;
	size_t		n_pids;
	struct virt_block_read *reads;	/* by @from_ns; see virt_block.h */
	size_t		n_reads, reads_room;
	struct virt_tsc_write *tsc_writes;
	size_t		n_tsc_writes, tsc_writes_room;
	struct virt_contradiction contradictions[VIRT_MAX_CONTRADICTIONS];
	struct virt_contradicted *contradicted;	/* in no order */
	size_t		n_contradicted, contradicted_room;
	int64_t		begin_ns, end_ns;
	bool		is_part;	/* of a trace; it is there to be asked of */
	int64_t		from_ns, to_ns;	/* these times, see virt_part.h */
	bool		finished;
	bool		is_brief;	/* see virt_model_brief() */
	uint32_t	culprit_limit;	/* see virt_is_beyond() */
	uint8_t		hypervisor;	/* enum virt_hypervisor */
	bool		migrates;	/* some vCPU does, at any time */
	uint64_t	unrecorded;	/* kinds, see virt_recorded.h; 0 is all of a new one */
	bool		unsplit;	/* there are intervals with VIRT_INTERVAL_UNSPLIT, */
	bool		calls_only;	/* with VIRT_INTERVAL_ENTERED */
	bool		knows_holds;	/* see virt_limits.h */
};

/** virt_loss_end - what has no length ends behind its moment */
static inline int64_t virt_loss_end(const struct virt_loss *loss)
{
	return loss->to_ns + (loss->to_ns == loss->from_ns && loss->to_ns < INT64_MAX);
}

/**
 * virt_first_at - index in [@lo, @hi) of the first element whose time is @time_ns or later
 * @array: elements of @stride bytes that begin with their time as int64_t, ascending
 *
 * Return: @hi if there is none.
 */
static inline size_t virt_first_at(const void *array, size_t stride, size_t lo, size_t hi,
				   int64_t time_ns)
{
	size_t i;

	SEARCH_FIRST(i, lo, hi, *(const int64_t *)((const char *)array + i * stride) < time_ns);
	return i;
}

#define VIRT_FIRST_AT(array, lo, hi, time_ns) \
	virt_first_at(array, sizeof(*(array)), lo, hi, time_ns)

/** virt_gallop - index of the element in force at @time_ns, from @from on, near it first */
static inline uint32_t virt_gallop(const void *array, size_t stride, uint32_t from, uint32_t n,
				   int64_t time_ns)
{
	size_t lo = from, step = 1, hi, later;

	while (lo + step < n &&
	       *(const int64_t *)((const char *)array + (lo + step) * stride) <= time_ns) {
		lo += step;
		step *= 2;
	}
	hi = lo + step < n ? lo + step : n;
	/* @lo is not later; time_ns + 1 may be no number */
	SEARCH_FIRST(later, lo + 1, hi,
		     *(const int64_t *)((const char *)array + later * stride) <= time_ns);
	return (uint32_t)later - 1;
}

/** virt_blocks - how many blocks of @size hold @n elements */
static inline size_t virt_blocks(size_t n, size_t size)
{
	return (n + size - 1) / size;
}

/**
 * virt_is_beyond - whether occupant @i of a pCPU comes too late to be one of the culprits of a wait
 * @first: the one in force when that begins
 *
 * If very many vCPUs wait for a pCPU which very many others have during that time, each of them
 * would have all these culprits. So only the first ones of each wait are listed, and the rest are
 * VIRT_OTHERS.
 */
static inline bool virt_is_beyond(const struct virt_model *model, size_t first, size_t i)
{
	return i - first >= model->culprit_limit;
}

/** virt_is_hidden - whether a vCPU has its pCPU, and what it does there is unknown */
static inline bool virt_is_hidden(const struct virt_interval *interval)
{
	return interval->state == VIRT_UNKNOWN && interval->flags & VIRT_INTERVAL_ON_PCPU;
}

/** virt_is_on - whether a vCPU holds a pCPU in an interval, known or not what it does there */
static inline bool virt_is_on(const struct virt_interval *interval)
{
	return virt_state_on_pcpu(interval->state) || virt_is_hidden(interval);
}

/** virt_index_cell - the cell of a time from the beginning to the end of the trace */
static inline size_t virt_index_cell(const struct virt_index *index, int64_t time_ns)
{
	return (size_t)((uint64_t)(time_ns - index->begin_ns) >> index->shift);
}

/** virt_index_find - how many blocks begin before @time_ns, which is not after the trace's end */
static inline size_t virt_index_find(const struct virt_index *index, int64_t time_ns)
{
	size_t cell;

	if (!index->n || time_ns <= index->begin_ns)
		return 0;
	cell = virt_index_cell(index, time_ns);
	return VIRT_FIRST_AT(index->start, index->cell[cell], index->cell[cell + 1], time_ns);
}

/** virt_get_vcpu - by global index; or NULL */
static inline const struct virt_vcpu_track *virt_get_vcpu(const struct virt_model *model,
							  int32_t vcpu)
{
	return vcpu >= 0 && vcpu < model->n_vcpus ? &model->vcpus[vcpu] : NULL;
}

/** virt_clamp_window - the part of it that lies in the trace. Return: false if that is nothing. */
static inline bool virt_clamp_window(const struct virt_model *model, int64_t *from, int64_t *to)
{
	if (*from < model->begin_ns)
		*from = model->begin_ns;
	if (*to > model->end_ns)
		*to = model->end_ns;
	return *from < *to;
}

/** virt_free_holds - forget what a vCPU's own limit held */
void virt_free_holds(struct virt_vcpu_track *vcpu);

/** virt_is_vcpu, virt_is_task - what kind an occupant or culprit is */
static inline bool virt_is_vcpu(const struct virt_model *model, int32_t who)
{
	return who >= 0 && who < model->n_vcpus;
}

static inline bool virt_is_task(const struct virt_model *model, int32_t who)
{
	return who >= VIRT_FIRST_TASK && who - VIRT_FIRST_TASK < model->n_tasks;
}

/** virt_wants_pcpu - whether a vCPU in this state waits for a pCPU */
static inline bool virt_wants_pcpu(enum virt_state state)
{
	return state == VIRT_PREEMPTED || state == VIRT_WAKING;
}

/** virt_is_unasked - whether the guest waits for what it did not ask for */
static inline bool virt_is_unasked(const struct virt_interval *interval)
{
	return interval->state == VIRT_DEVICE_MODEL ||
	       ((interval->state == VIRT_BLOCKED || interval->state == VIRT_OFFLINE) &&
		interval->flags & VIRT_INTERVAL_UNASKED);
}

/** virt_is_cost - whether this interval, between exit and entry, is a cost of the exit */
static inline bool virt_is_cost(const struct virt_interval *interval)
{
	return interval->state == VIRT_HYPERVISOR || interval->state == VIRT_VMM ||
	       virt_wants_pcpu(interval->state) || virt_is_unasked(interval);
}

/** virt_exit_reason - of an interval with VIRT_INTERVAL_EXIT, in whatever state it is */
static inline int32_t virt_exit_reason(const struct virt_interval *interval)
{
	return virt_state_on_pcpu(interval->state) ? interval->detail : VIRT_NONE;
}

/** virt_interval_end - where interval @i ends */
static inline int64_t virt_interval_end(const struct virt_model *model,
					const struct virt_vcpu_track *vcpu, size_t i)
{
	return i + 1 < vcpu->n ? vcpu->intervals[i + 1].start_ns : model->end_ns;
}

/** virt_occupant_end - where occupant @i leaves */
static inline int64_t virt_occupant_end(const struct virt_model *model,
					const struct virt_pcpu_track *pcpu, size_t i)
{
	return i + 1 < pcpu->n ? pcpu->occupants[i + 1].start_ns : model->end_ns;
}

/** virt_exit_end - first interval after exit @i that no longer belongs to it; @vcpu->n: none */
static inline size_t virt_exit_end(const struct virt_vcpu_track *vcpu, size_t i)
{
	const struct virt_interval *interval = vcpu->intervals;

	/* an exit of which nothing is known but its time */
	if (interval[i].state == VIRT_UNKNOWN)
		return i;
	for (i++; i < vcpu->n; i++)
		if (interval[i].state == VIRT_GUEST || interval[i].state == VIRT_UNKNOWN ||
		    interval[i].flags & (VIRT_INTERVAL_EXIT | VIRT_INTERVAL_LOOSE))
			break;
	return i;
}

/** virt_exit_is_complete - whether exit @i, which ends at @end, does so with an entry */
static inline bool virt_exit_is_complete(const struct virt_vcpu_track *vcpu, size_t i, size_t end)
{
	return end > i && end < vcpu->n && (vcpu->intervals[end].state == VIRT_GUEST ||
					    vcpu->intervals[end].flags & VIRT_INTERVAL_ENTERED);
}

/** virt_exit_cost - what exit @i costs, which is complete and ends at @end */
static inline int64_t virt_exit_cost(const struct virt_vcpu_track *vcpu, size_t i, size_t end)
{
	int64_t ns = 0;

	for (; i < end; i++)
		if (virt_is_cost(&vcpu->intervals[i]))
			ns += vcpu->intervals[i + 1].start_ns - vcpu->intervals[i].start_ns;
	return ns;
}

/** virt_time_of - where interval @i begins; behind the last one: the trace's end */
static inline int64_t virt_time_of(const struct virt_model *model,
				   const struct virt_vcpu_track *vcpu, size_t i)
{
	return i < vcpu->n ? vcpu->intervals[i].start_ns : model->end_ns;
}

/* ---- stretches: what is one of what is counted, see virt_window.h ---- */

/**
 * virt_stretch_end - first interval after @i that is no part of the same stretch in a state
 *
 * On a pCPU each interval is one. A wait is one, whichever pCPU it is for and who has that.
 */
static inline size_t virt_stretch_end(const struct virt_vcpu_track *vcpu, size_t i)
{
	const struct virt_interval *first = &vcpu->intervals[i];

	for (i++; !virt_is_on(first) && i < vcpu->n && vcpu->intervals[i].state == first->state &&
	     !virt_is_on(&vcpu->intervals[i]); i++)
		;
	return i;
}

/** virt_stretch_begin - first interval of the stretch that interval @i is in */
static inline size_t virt_stretch_begin(const struct virt_vcpu_track *vcpu, size_t i)
{
	const struct virt_interval *last = &vcpu->intervals[i];

	while (!virt_is_on(last) && i && vcpu->intervals[i - 1].state == last->state &&
	       !virt_is_on(&vcpu->intervals[i - 1]))
		i--;
	return i;
}

/** virt_is_edge - whether a run, or a pause between two, begins with interval @i */
static inline bool virt_is_edge(const struct virt_vcpu_track *vcpu, size_t i)
{
	const struct virt_interval *interval = &vcpu->intervals[i];
	bool on = virt_is_on(interval);

	return !i || on != virt_is_on(interval - 1) ||
	       (on && interval->pcpu != interval[-1].pcpu);
}

/** virt_run_begin, virt_run_end - first interval of the run that @i is in, and the one after it */
size_t virt_run_begin(const struct virt_vcpu_track *vcpu, size_t i);
size_t virt_run_end(const struct virt_vcpu_track *vcpu, size_t i);

/**
 * virt_begin_is_shown - whether the trace shows where that begins which interval @i is the first of
 *
 * It does not if the trace begins there, or if a vCPU is found on a pCPU or asleep after UNKNOWN,
 * unless it had its pCPU until then.
 */
static inline bool virt_begin_is_shown(const struct virt_model *model,
				       const struct virt_vcpu_track *vcpu, size_t i)
{
	const struct virt_interval *interval = &vcpu->intervals[i];

	return i && interval->start_ns > model->begin_ns &&
	       (interval[-1].state != VIRT_UNKNOWN || virt_wants_pcpu(interval->state) ||
		interval->flags & VIRT_INTERVAL_EXIT ||
		(virt_is_on(interval - 1) && !virt_is_on(interval)));
}

/** virt_end_is_shown - whether the trace shows where that ends which interval @end follows */
static inline bool virt_end_is_shown(const struct virt_vcpu_track *vcpu, size_t end)
{
	const struct virt_interval *interval = &vcpu->intervals[end];

	/* who gets its pCPU waits no more, whatever it does there */
	return end < vcpu->n && (interval->state != VIRT_UNKNOWN ||
				 (virt_is_on(interval) && end && !virt_is_on(interval - 1)));
}

/**
 * virt_exit_take - take the exit apart that begins with interval @i
 *
 * Return: the first interval that no longer belongs to it.
 */
size_t virt_exit_take(const struct virt_model *model, const struct virt_vcpu_track *vcpu, size_t i,
		      struct virt_exit *exit);

/** virt_first_interval_at - index of the first interval that begins at @time_ns or later */
size_t virt_first_interval_at(const struct virt_vcpu_track *vcpu, int64_t time_ns);

/** virt_keep_name - a copy that lives as long as the model. Return: NULL without memory. */
const char *virt_keep_name(struct virt_model *model, const char *name);

/** virt_kind_in - what a vCPU in an interval is for its machine, by number */
unsigned int virt_kind_in(const struct virt_interval *interval);

/** virt_groups_free - free groups, which may be NULL. */
void virt_groups_free(struct virt_groups *groups);

/** virt_handlers_order - all are known now. */
void virt_handlers_order(struct virt_model *model);
void virt_handlers_free(struct virt_handlers *all);

/** virt_model_contradict - count contradictions of a time; @what stays. Return: 0 or -ENOMEM. */
int virt_model_contradict(struct virt_model *model, const char *what, int64_t time_ns,
			  uint64_t count);

/**
 * virt_arguments_times, virt_arguments_place - keep a vCPU's arguments while its intervals change
 *
 * Return: the times of their exits, to be freed; NULL without memory.
 */
int64_t *virt_arguments_times(const struct virt_vcpu_track *track);
void virt_arguments_place(struct virt_vcpu_track *track, const int64_t *times);

/** virt_arguments_clip - of a vCPU's intervals, those from @first on are left, renumbered. */
void virt_arguments_clip(struct virt_vcpu_track *track, uint32_t first);

/** virt_regions_order - all are known now. */
void virt_regions_order(struct virt_model *model);

/**
 * virt_region_of - the device that an argument of a machine's exits means
 * @machine: index, in O(log n)
 *
 * Return: its name; NULL if it is unknown, or if the argument may mean several devices.
 */
const char *virt_region_of(const struct virt_model *model, int32_t machine,
			   const struct virt_argument *argument);

/** virt_arguments_finish - all are known now. Return: 0 or -ENOMEM. */
int virt_arguments_finish(struct virt_model *model);
void virt_arguments_free(struct virt_arguments *all);

void virt_power_free(struct virt_power *all);

/** virt_summarize - all sums, maxima and timelines of a filled model. Return: 0 or -ENOMEM. */
int virt_summarize(struct virt_model *model);

#endif
