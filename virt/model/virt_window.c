// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_window.c
 * @brief	Compute the numbers of a window: the one definition of each number.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "virt_loss_walk.h"
#include "virt_span.h"
#include "virt_window_walk.h"
#include "virt_worst_private.h"

/** Steps between two looks at the wish to stop. */
#define STOP_STEP	65536

/** Durations that are being collected. */
struct samples {
	int64_t		*ns;
	size_t		n, room;
};

static int add_sample(struct samples *samples, int64_t ns)
{
	if (ARRAY_GROW(samples->ns, samples->n, samples->room))
		return -ENOMEM;
	samples->ns[samples->n++] = ns;
	return 0;
}

static int append(struct samples *samples, const struct samples *others)
{
	if (!others->n)
		return 0;
	if (ARRAY_GROW(samples->ns, samples->n + others->n, samples->room))
		return -ENOMEM;
	memcpy(samples->ns + samples->n, others->ns, others->n * sizeof(*others->ns));
	samples->n += others->n;
	return 0;
}

/** The distribution of what was collected; begin anew. */
static void end_samples(struct samples *samples, struct virt_dist *dist)
{
	virt_dist_make(dist, samples->ns, samples->n);
	samples->n = 0;
}

/* ---- the way through a window ---- */

/** What an exit with an entry has cost. */
struct cost {
	uint32_t	of;		/* index of its reason in struct exits */
	int64_t		ns;
};

/**
 * VM exits by reason. There may be very many reasons, of which a vCPU has few, and very many that
 * occur but once: so there is a number for each reason, and for each exit its cost. The same by
 * cause, and by argument, where those of a reason that have none stand together.
 */
struct exits {
	enum { BY_REASON = 0, BY_CAUSE, BY_ARGUMENT } by;
	int32_t			n_arguments;	/* of the model */
	uint32_t		*place;		/* by slot(): index in @of, and 1; or 0 */
	struct virt_window_exit	*of;
	size_t			n, room;
	struct cost		*costs;
	size_t			n_costs, room_costs;
};

struct tally {
	const struct virt_model		*model;
	const struct virt_window_query	*query;
	int64_t				from_ns, to_ns;	/* not outside of the trace */
	bool				empty;		/* nothing of it lies in the trace */
	/* of the vCPU: */
	const struct virt_vcpu_track	*vcpu;
	struct virt_window_stats	*stats;
	struct samples			states[VIRT_N_STATES], runs, moves;
	struct exits			exits, causes, arguments;
	int64_t				*pcpu_ns;	/* 0 between two vCPUs */
	uint32_t			*pcpus;		/* that it was on */
	size_t				n_pcpus;
	/* of all vCPUs of the machine, unless it is one alone: */
	bool				alone;
	struct samples			wakes, all_moves;
	struct exits			all_exits, all_causes, all_arguments;
	unsigned int			steps;
};

static bool wants(const struct tally *tally, enum virt_window_part part)
{
	return tally->query->parts & part;
}

static bool is_chosen(const struct tally *tally, int32_t vcpu)
{
	return !tally->query->vcpus || tally->query->vcpus[vcpu];
}

static bool is_stopped(struct tally *tally)
{
	return tally->steps++ % STOP_STEP == 0 && tally->query->stop &&
	       tally->query->stop(tally->query->arg);
}

static void add_length(struct virt_dist *dist, int64_t ns)
{
	if (!dist->count || ns < dist->min)
		dist->min = ns;
	if (!dist->count || ns > dist->max)
		dist->max = ns;
	dist->count++;
	virt_add_ns(&dist->ns, ns);
}

/** @samples: takes its length, for percentiles; or NULL */
static int add_span(const struct tally *tally, struct virt_stretches *stretches,
		    struct samples *samples, const struct virt_span *span)
{
	if (!virt_span_count(tally->model, tally->from_ns, stretches, span))
		return 0;
	if (samples)
		return add_sample(samples, span->end_ns - span->start_ns);
	add_length(&stretches->whole, span->end_ns - span->start_ns);
	return 0;
}

/* ---- a vCPU's states, runs and waits ---- */

static void keep_longest(struct virt_window_stats *stats, int32_t vcpu, int64_t from, int64_t to)
{
	if (stats->longest_vcpu != VIRT_NONE &&
	    to - from <= stats->longest_to_ns - stats->longest_from_ns)
		return;
	stats->longest_vcpu = vcpu;
	stats->longest_from_ns = from;
	stats->longest_to_ns = to;
}

static void add_place(struct tally *tally, int16_t pcpu, int64_t ns)
{
	if (ns > 0 && !tally->pcpu_ns[pcpu])
		tally->pcpus[tally->n_pcpus++] = (uint32_t)pcpu;
	tally->pcpu_ns[pcpu] += ns;
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/** The pCPUs of a vCPU become those of its statistics; begin anew. */
static int end_places(struct tally *tally)
{
	struct virt_window_stats *stats = tally->stats;

	stats->places = calloc(tally->n_pcpus + 1, sizeof(*stats->places));
	if (!stats->places)
		return -ENOMEM;
	qsort(tally->pcpus, tally->n_pcpus, sizeof(*tally->pcpus), compare_numbers);
	for (size_t i = 0; i < tally->n_pcpus; i++) {
		stats->places[stats->n_places++] = (struct virt_window_place){
			.pcpu = (int32_t)tally->pcpus[i], .ns = tally->pcpu_ns[tally->pcpus[i]],
		};
		tally->pcpu_ns[tally->pcpus[i]] = 0;
	}
	tally->n_pcpus = 0;
	return 0;
}

/** A run, of which interval @i is the first one in the window. */
static int take_run(struct tally *tally, size_t i, size_t end)
{
	struct virt_span span = virt_span_of(tally->model, tally->vcpu,
					     virt_run_begin(tally->vcpu, i), end);
	int16_t pcpu = tally->vcpu->intervals[i].pcpu;

	if (wants(tally, VIRT_WINDOW_STATES) && pcpu >= 0)
		add_place(tally, pcpu,
			  (span.end_ns < tally->to_ns ? span.end_ns : tally->to_ns) -
			  (span.start_ns > tally->from_ns ? span.start_ns : tally->from_ns));
	return add_span(tally, &tally->stats->runs,
			wants(tally, VIRT_WINDOW_STATES) ? &tally->runs : NULL, &span);
}

/** A stretch in a state, of which interval @i is the first one in the window. */
static int take_stretch(struct tally *tally, size_t i, size_t end)
{
	struct virt_span span = virt_span_of(tally->model, tally->vcpu,
					     virt_stretch_begin(tally->vcpu, i), end);
	enum virt_state state = tally->vcpu->intervals[i].state;
	bool sampled = state == VIRT_WAKING || wants(tally, VIRT_WINDOW_STATES);

	/* an entry is shown, also if it is not known whether the vCPU had a pCPU before */
	if (state == VIRT_GUEST && i && span.start_ns > tally->model->begin_ns)
		span.begun |= !virt_interval_is_lost(&tally->vcpu->intervals[i - 1]);
	if (virt_wants_pcpu(state))
		keep_longest(tally->stats, (int32_t)(tally->vcpu - tally->model->vcpus),
			     span.start_ns, span.end_ns);
	return add_span(tally, &tally->stats->states[state],
			sampled ? &tally->states[state] : NULL, &span);
}

/** Intervals [*first, *last) are those in the window. */
static void find_intervals(const struct tally *tally, size_t *first, size_t *last)
{
	*last = virt_first_interval_at(tally->vcpu, tally->to_ns);
	*first = virt_first_interval_at(tally->vcpu, tally->from_ns);
	if (*first == *last || tally->vcpu->intervals[*first].start_ns > tally->from_ns)
		--*first;
}

static int count_states(struct tally *tally)
{
	size_t i, last, run_end = 0, end;
	int ret = 0;

	for (find_intervals(tally, &i, &last); i < last && !ret; i = end) {
		bool on = virt_is_on(&tally->vcpu->intervals[i]);

		if (is_stopped(tally))
			return -ECANCELED;
		if (on && i >= run_end) {
			run_end = virt_run_end(tally->vcpu, i);
			ret = take_run(tally, i, run_end);
		}
		if (on && !wants(tally, VIRT_WINDOW_STATES)) {
			end = run_end;
			continue;
		}
		end = virt_stretch_end(tally->vcpu, i);
		if (!ret)
			ret = take_stretch(tally, i, end);
	}
	return ret;
}

/** What both @a and @b count. */
static void add_stretches(struct virt_stretches *a, const struct virt_stretches *b)
{
	struct virt_dist *sum = &a->whole;
	const struct virt_dist *more = &b->whole;

	virt_add_ns(&a->ns, b->ns);
	a->count += b->count;
	if (more->count && (!sum->count || more->min < sum->min))
		sum->min = more->min;
	if (more->count && (!sum->count || more->max > sum->max))
		sum->max = more->max;
	sum->count += more->count;
	virt_add_ns(&sum->ns, more->ns);
	if (b->before)
		virt_keep_before(a, b->before, b->before_ns);
}

static void pass_lengths(const struct tally *tally, enum virt_length what,
			 const struct samples *samples)
{
	for (size_t i = 0; tally->query->length && i < samples->n; i++)
		tally->query->length(tally->query->arg, what, samples->ns[i]);
}

/** The distributions, of which those of waits are made of two. */
static int end_states(struct tally *tally)
{
	struct virt_window_stats *stats = tally->stats;
	struct samples *wakes = &tally->states[VIRT_WAKING];
	struct samples *steals = &tally->states[VIRT_PREEMPTED];
	size_t n = wakes->n;

	pass_lengths(tally, VIRT_LENGTH_WAKE, wakes);
	pass_lengths(tally, VIRT_LENGTH_STEAL, steals);
	if (!tally->alone && append(&tally->wakes, wakes))
		return -ENOMEM;
	end_samples(wakes, &stats->states[VIRT_WAKING].whole);
	add_stretches(&stats->waits, &stats->states[VIRT_WAKING]);
	if (!wants(tally, VIRT_WINDOW_STATES)) {
		add_stretches(&stats->waits, &stats->states[VIRT_PREEMPTED]);
		return 0;
	}
	/* they are there still, in another order */
	wakes->n = n;
	if (append(wakes, steals))
		return -ENOMEM;
	for (int state = 0; state < VIRT_N_STATES; state++)
		if (state != VIRT_WAKING)
			end_samples(&tally->states[state], &stats->states[state].whole);
	end_samples(&tally->runs, &stats->runs.whole);
	add_stretches(&stats->waits, &stats->states[VIRT_PREEMPTED]);
	end_samples(wakes, &stats->waits.whole);
	return 0;
}

/** What each migration costs. */
static int count_migrations(struct tally *tally)
{
	const struct virt_vcpu_track *vcpu = tally->vcpu;
	size_t i = VIRT_FIRST_AT(vcpu->migrations, 0, vcpu->n_migrations, tally->from_ns);
	size_t last = VIRT_FIRST_AT(vcpu->migrations, i, vcpu->n_migrations, tally->to_ns);
	size_t at = virt_first_interval_at(vcpu, tally->from_ns);
	struct virt_arrival arrival = { 0 };
	int ret = 0;

	for (; i < last && !ret; i++) {
		int64_t ns;
		bool whole;

		if (is_stopped(tally))
			return -ECANCELED;
		at = virt_migrated_at(vcpu, at);
		ns = virt_migration_cost(tally->model, vcpu, &vcpu->migrations[i], at++, &arrival,
					 &whole);
		if (whole)
			ret = add_sample(&tally->moves, ns);
	}
	if (!ret && !tally->alone)
		ret = append(&tally->all_moves, &tally->moves);
	end_samples(&tally->moves, &tally->stats->migration_cost);
	return ret;
}

/** Of what is before interval @i in its block, and of the part of it before @time_ns. */
static struct virt_counts counts_before(const struct tally *tally, int64_t time_ns)
{
	const struct virt_vcpu_track *vcpu = tally->vcpu;
	size_t i = virt_first_interval_at(vcpu, time_ns);
	size_t j = i / VIRT_COUNT_BLOCK;
	struct virt_counts counts = vcpu->counts[j];

	/* block j begins before that moment, unless it is that moment's own */
	for (j *= VIRT_COUNT_BLOCK; j < i; j++) {
		const struct virt_interval *interval = &vcpu->intervals[j];
		int64_t ns = virt_interval_end(tally->model, vcpu, j) - interval->start_ns;

		counts.unasked_ns += virt_is_unasked(interval) ? ns : 0;
		counts.hidden_ns += virt_is_hidden(interval) ? ns : 0;
	}
	if (i) {
		const struct virt_interval *interval = &vcpu->intervals[i - 1];
		int64_t after = virt_interval_end(tally->model, vcpu, i - 1) - time_ns;

		counts.unasked_ns -= virt_is_unasked(interval) ? after : 0;
		counts.hidden_ns -= virt_is_hidden(interval) ? after : 0;
	}
	return counts;
}

/** All that needs no way through the intervals. */
static void sum_up(struct tally *tally)
{
	int32_t index = (int32_t)(tally->vcpu - tally->model->vcpus);
	struct virt_counts before = counts_before(tally, tally->from_ns);
	struct virt_counts after = counts_before(tally, tally->to_ns);
	struct virt_window_stats *stats = tally->stats;
	struct virt_totals totals;
	int64_t hidden_ns;

	virt_vcpu_totals(tally->model, index, tally->from_ns, tally->to_ns, &totals);
	virt_vcpu_unsplit(tally->model, index, tally->from_ns, tally->to_ns, stats->unsplit_ns);
	for (int state = 0; state < VIRT_N_STATES; state++) {
		stats->states[state].ns = totals.ns[state];
		stats->runs.ns += virt_state_on_pcpu(state) ? totals.ns[state] : 0;
	}
	hidden_ns = after.hidden_ns - before.hidden_ns;
	stats->known_ns = virt_share_base(VIRT_GUEST, totals.ns,
					  stats->unsplit_ns[VIRT_UNKNOWN] + hidden_ns);
	stats->runs.ns += hidden_ns;
	stats->unasked_ns = after.unasked_ns - before.unasked_ns;
	stats->migrations = virt_vcpu_migrations(tally->model, index, tally->from_ns,
						 tally->to_ns).n;
}

/* ---- VM exits and culprits ---- */

static int compare_exits(const void *a, const void *b)
{
	const struct virt_window_exit *x = a, *y = b;

	if (x->cost.ns != y->cost.ns)
		return x->cost.ns < y->cost.ns ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->reason != y->reason)
		return x->reason < y->reason ? -1 : 1;
	if (x->cause != y->cause)
		return x->cause < y->cause ? -1 : 1;
	return (x->argument > y->argument) - (x->argument < y->argument);
}

static size_t slot(const struct exits *exits, const struct virt_window_exit *of)
{
	if (exits->by == BY_REASON)
		return (size_t)(of->reason + 1);
	if (exits->by == BY_CAUSE)
		return (size_t)(of->reason + 1) * EXIT_CAUSE_N + of->cause;
	return (size_t)(of->argument != VIRT_NONE ? of->argument :
						    exits->n_arguments + of->reason + 1);
}

/** Costs in the order of their reasons, each one's behind the other's. Return: NULL: no memory. */
static int64_t *sort_costs(const struct exits *exits)
{
	int64_t *ns = malloc((exits->n_costs + 1) * sizeof(*ns));
	size_t *next = malloc((exits->n + 1) * sizeof(*next));
	size_t at = 0;

	if (!ns || !next) {
		free(ns);
		free(next);
		return NULL;
	}
	for (size_t i = 0; i < exits->n; i++) {
		next[i] = at;
		at += exits->of[i].cost.count;
	}
	for (size_t i = 0; i < exits->n_costs; i++)
		ns[next[exits->costs[i].of]++] = exits->costs[i].ns;
	free(next);
	return ns;
}

/** Those that occur, to be freed; begin anew. Return: 0 or -ENOMEM. */
static int end_exits(struct exits *exits, struct virt_window_exit **of, size_t *n_of)
{
	int64_t *ns = sort_costs(exits);
	size_t at = 0;

	if (!ns)
		return -ENOMEM;
	for (size_t i = 0; i < exits->n; i++) {
		size_t n = exits->of[i].cost.count;

		virt_dist_make(&exits->of[i].cost, ns + at, n);
		at += n;
		exits->place[slot(exits, &exits->of[i])] = 0;
	}
	free(ns);
	if (exits->n)
		qsort(exits->of, exits->n, sizeof(*exits->of), compare_exits);
	ARRAY_SHRINK(exits->of, exits->n);
	*of = exits->of;
	*n_of = exits->n;
	exits->of = NULL;
	exits->n = exits->room = exits->n_costs = 0;
	return 0;
}

/** The exits of a vCPU or a machine become those of its statistics. */
static int end_all_exits(const struct tally *tally, struct exits *exits, struct exits *causes,
			 struct exits *arguments, struct virt_window_stats *stats)
{
	int ret = end_exits(exits, &stats->reasons, &stats->n_reasons);

	if (!ret && wants(tally, VIRT_WINDOW_ARGUMENTS))
		ret = end_exits(causes, &stats->causes, &stats->n_causes);
	if (!ret && wants(tally, VIRT_WINDOW_ARGUMENTS))
		ret = end_exits(arguments, &stats->arguments, &stats->n_arguments);
	stats->exits = 0;
	for (size_t i = 0; i < stats->n_reasons && !ret; i++)
		stats->exits += stats->reasons[i].count;
	return ret;
}

/** The place of those that @none is about. Return: their index, and 1; 0 without memory. */
static uint32_t place_of(struct exits *exits, const struct virt_window_exit *none)
{
	uint32_t *place = &exits->place[slot(exits, none)];

	if (*place)
		return *place;
	if (ARRAY_GROW(exits->of, exits->n, exits->room))
		return 0;
	exits->of[exits->n++] = *none;
	*place = (uint32_t)exits->n;
	return *place;
}

static int take_exit(struct exits *exits, const struct virt_exit *exit, int32_t argument,
		     enum exit_cause cause)
{
	const struct virt_window_exit none = {
		.reason = exit->reason, .argument = argument, .cause = (uint8_t)cause,
	};
	uint32_t place = place_of(exits, &none);
	struct virt_window_exit *of;

	if (!place)
		return -ENOMEM;
	of = &exits->of[place - 1];
	of->count++;
	if (!exit->complete)
		return 0;
	for (int state = 0; state < VIRT_N_STATES; state++)
		virt_add_ns(&of->state_ns[state], exit->state_ns[state]);
	virt_add_ns(&of->unasked_ns, exit->unasked_ns);
	virt_add_ns(&of->unasked_vmm_ns, exit->unasked_vmm_ns);
	if (ARRAY_GROW(exits->costs, exits->n_costs, exits->room_costs))
		return -ENOMEM;
	exits->costs[exits->n_costs++] = (struct cost){ place - 1, exit->cost_ns };
	of->cost.count++;
	return 0;
}

/** Add what a vCPU's exits of one reason, cause or argument took; their costs are added alone. */
static void add_sums(struct virt_window_exit *to, const struct virt_window_exit *of)
{
	to->count += of->count;
	for (int state = 0; state < VIRT_N_STATES; state++)
		virt_add_ns(&to->state_ns[state], of->state_ns[state]);
	virt_add_ns(&to->unasked_ns, of->unasked_ns);
	virt_add_ns(&to->unasked_vmm_ns, of->unasked_vmm_ns);
	to->cost.count += of->cost.count;
}

/** Add a vCPU's exits to those of its machine. */
static int add_exits(struct exits *all, const struct exits *exits)
{
	uint32_t *places = malloc((exits->n + 1) * sizeof(*places));
	int ret = places ? 0 : -ENOMEM;

	for (size_t i = 0; i < exits->n && !ret; i++) {
		const struct virt_window_exit none = {
			.reason = exits->of[i].reason, .argument = exits->of[i].argument,
			.cause = exits->of[i].cause,
		};

		places[i] = place_of(all, &none);
		if (places[i])
			add_sums(&all->of[places[i] - 1], &exits->of[i]);
		else
			ret = -ENOMEM;
	}
	if (!ret && ARRAY_GROW(all->costs, all->n_costs + exits->n_costs, all->room_costs))
		ret = -ENOMEM;
	for (size_t i = 0; i < exits->n_costs && !ret; i++)
		all->costs[all->n_costs++] = (struct cost){
			places[exits->costs[i].of] - 1, exits->costs[i].ns,
		};
	free(places);
	return ret;
}

/** The same of all kinds that are wanted. */
static int add_all_exits(struct tally *tally)
{
	int ret = add_exits(&tally->all_exits, &tally->exits);

	if (!ret && wants(tally, VIRT_WINDOW_ARGUMENTS))
		ret = add_exits(&tally->all_causes, &tally->causes);
	if (!ret && wants(tally, VIRT_WINDOW_ARGUMENTS))
		ret = add_exits(&tally->all_arguments, &tally->arguments);
	return ret;
}

/** The last exit before interval @i; @i: there is none. */
static size_t last_exit_before(const struct virt_vcpu_track *vcpu, size_t i)
{
	size_t block = i / VIRT_COUNT_BLOCK, first, j = i;
	uint32_t n = vcpu->counts[block].exits;

	while (j-- > block * VIRT_COUNT_BLOCK)
		if (vcpu->intervals[j].flags & VIRT_INTERVAL_EXIT)
			return j;
	if (!n)
		return i;
	/* the first block at whose beginning it has been */
	SEARCH_FIRST(first, 0, block, vcpu->counts[first].exits < n);
	for (j = first * VIRT_COUNT_BLOCK; j-- > 0; )
		if (vcpu->intervals[j].flags & VIRT_INTERVAL_EXIT)
			break;
	return j;
}

/** The exit from which the vCPU has not come back when the window begins. */
static void find_exit_before(const struct tally *tally)
{
	size_t i = virt_first_interval_at(tally->vcpu, tally->from_ns);
	size_t exit = last_exit_before(tally->vcpu, i);
	struct virt_window_stats *stats = tally->stats;

	if (exit == i || virt_time_of(tally->model, tally->vcpu,
				      virt_exit_end(tally->vcpu, exit)) <= tally->from_ns)
		return;
	stats->exits_before = 1;
	stats->exits_before_ns = tally->from_ns - tally->vcpu->intervals[exit].start_ns;
	stats->before_reason = virt_exit_reason(&tally->vcpu->intervals[exit]);
}

/** @i: the interval that the exit begins with */
static int take_argument(struct tally *tally, const struct virt_exit *exit, size_t i)
{
	int32_t argument = virt_exit_argument(tally->model,
					      (int32_t)(tally->vcpu - tally->model->vcpus),
					      &tally->vcpu->intervals[i]);
	enum exit_cause cause = virt_argument_cause(tally->model, argument);
	int ret = take_exit(&tally->arguments, exit, argument, cause);

	return ret || !virt_reason_for_memory(tally->model, exit->reason) ? ret :
	       take_exit(&tally->causes, exit, VIRT_NONE, cause);
}

/** Each exit taken apart. */
static int count_exits(struct tally *tally)
{
	size_t i = virt_first_interval_at(tally->vcpu, tally->from_ns);
	size_t last = virt_first_interval_at(tally->vcpu, tally->to_ns);
	struct virt_exit exit;
	int ret = 0;

	for (; i < last && !ret; i++) {
		if (is_stopped(tally))
			return -ECANCELED;
		if (!(tally->vcpu->intervals[i].flags & VIRT_INTERVAL_EXIT))
			continue;
		virt_exit_take(tally->model, tally->vcpu, i, &exit);
		ret = take_exit(&tally->exits, &exit, VIRT_NONE, EXIT_CAUSE_UNKNOWN);
		if (!ret && wants(tally, VIRT_WINDOW_ARGUMENTS))
			ret = take_argument(tally, &exit, i);
	}
	for (i = 0; tally->query->length && i < tally->exits.n_costs; i++)
		tally->query->length(tally->query->arg, VIRT_LENGTH_EXIT,
				     tally->exits.costs[i].ns);
	if (!ret && !tally->alone)
		ret = add_all_exits(tally);
	return ret ? ret : end_all_exits(tally, &tally->exits, &tally->causes, &tally->arguments,
					 tally->stats);
}

/** Number and cost alone. */
static int sum_up_exits(struct tally *tally)
{
	/* of some reasons there are two groups */
	size_t room = virt_groups_of(tally->vcpu->exits)->n_groups;
	struct virt_exit_total *all = malloc((room + 1) * sizeof(*all));
	struct virt_window_stats *stats = tally->stats;
	size_t n = 0;

	if (all)
		n = virt_vcpu_exits(tally->model, (int32_t)(tally->vcpu - tally->model->vcpus),
				    tally->from_ns, tally->to_ns, all, room);
	stats->reasons = all ? calloc(n + 1, sizeof(*stats->reasons)) : NULL;
	for (size_t i = 0; stats->reasons && i < n; i++) {
		stats->reasons[i] = (struct virt_window_exit){
			.reason = all[i].reason, .count = all[i].count,
			.cost = { .count = all[i].complete, .ns = all[i].ns, .max = all[i].max_ns },
		};
		stats->exits += all[i].count;
	}
	stats->n_reasons = stats->reasons ? n : 0;
	free(all);
	return stats->reasons ? 0 : -ENOMEM;
}

static int find_culprits(struct tally *tally)
{
	size_t room = virt_groups_of(tally->vcpu->culprits)->n_groups;
	struct virt_window_stats *stats = tally->stats;

	stats->culprits = calloc(room + 1, sizeof(*stats->culprits));
	if (!stats->culprits)
		return -ENOMEM;
	stats->n_culprits = virt_vcpu_culprits(tally->model,
					       (int32_t)(tally->vcpu - tally->model->vcpus),
					       tally->from_ns, tally->to_ns, stats->culprits, room);
	return 0;
}

static int take_vcpu(struct tally *tally, int32_t index, struct virt_window_stats *stats)
{
	int ret;

	tally->vcpu = &tally->model->vcpus[index];
	tally->stats = stats;
	sum_up(tally);
	ret = count_states(tally);
	if (!ret && wants(tally, VIRT_WINDOW_STATES))
		ret = end_places(tally);
	if (!ret && wants(tally, VIRT_WINDOW_STATES))
		ret = count_migrations(tally);
	if (!ret)
		ret = end_states(tally);
	find_exit_before(tally);
	if (!ret)
		ret = wants(tally, VIRT_WINDOW_EXITS) ? count_exits(tally) : sum_up_exits(tally);
	return ret ? ret : find_culprits(tally);
}

/* ---- machines ---- */

static void add_vcpu(struct virt_window_stats *machine, const struct virt_window_stats *vcpu)
{
	for (int state = 0; state < VIRT_N_STATES; state++)
		add_stretches(&machine->states[state], &vcpu->states[state]);
	for (int state = 0; state < VIRT_N_STATES; state++)
		virt_add_ns(&machine->unsplit_ns[state], vcpu->unsplit_ns[state]);
	add_stretches(&machine->runs, &vcpu->runs);
	add_stretches(&machine->waits, &vcpu->waits);
	virt_add_ns(&machine->known_ns, vcpu->known_ns);
	virt_add_ns(&machine->unasked_ns, vcpu->unasked_ns);
	machine->migrations += vcpu->migrations;
	machine->exits += vcpu->exits;
	if (vcpu->exits_before && (!machine->exits_before ||
				   vcpu->exits_before_ns > machine->exits_before_ns)) {
		machine->exits_before_ns = vcpu->exits_before_ns;
		machine->before_reason = vcpu->before_reason;
	}
	machine->exits_before += vcpu->exits_before;
	if (vcpu->longest_vcpu != VIRT_NONE)
		keep_longest(machine, vcpu->longest_vcpu, vcpu->longest_from_ns,
			     vcpu->longest_to_ns);
}

/** What the vCPUs of a machine do together. Neighbours are never in the same state. */
static int count_machine(struct tally *tally, int32_t index, struct virt_window_machine *machine)
{
	const struct virt_machine_track *track = &tally->model->machines[index];
	size_t last = VIRT_FIRST_AT(track->intervals, 0, track->n, tally->to_ns);
	size_t i = VIRT_FIRST_AT(track->intervals, 0, last, tally->from_ns + 1) - 1;
	struct samples samples[VIRT_M_N_STATES] = { { 0 } };
	int ret = 0;

	for (; i < last && !ret; i++) {
		const struct virt_machine_interval *interval = &track->intervals[i];
		bool goes_on = i + 1 < track->n;
		struct virt_span span = {
			.start_ns = interval->start_ns,
			.end_ns = goes_on ? interval[1].start_ns : tally->model->end_ns,
			.begun = i && interval[-1].state != VIRT_M_LOST,
			.ended = goes_on && interval[1].state != VIRT_M_LOST,
		};

		ret = is_stopped(tally) ? -ECANCELED :
		      add_span(tally, &machine->states[interval->state], &samples[interval->state],
			       &span);
	}
	for (int state = 0; state < VIRT_M_N_STATES; state++) {
		end_samples(&samples[state], &machine->states[state].whole);
		free(samples[state].ns);
	}
	return ret;
}

static void begin_stats(struct virt_window_stats *stats)
{
	*stats = (struct virt_window_stats){
		.longest_vcpu = VIRT_NONE, .before_reason = VIRT_NONE,
	};
}

static void free_stats(struct virt_window_stats *stats)
{
	free(stats->reasons);
	free(stats->arguments);
	free(stats->causes);
	free(stats->culprits);
	free(stats->places);
}

/**
 * Where results of vCPUs are kept: of the first @n, by global index, unless they are there already.
 * @is_there: NULL: none is, and each is taken once
 */
struct kept {
	struct virt_window_stats *vcpus;
	bool			*is_there;
	int32_t			n;
};

/** One vCPU of a machine. */
static int take_member(struct tally *tally, int32_t vcpu, struct virt_window_stats *machine,
		       const struct kept *kept)
{
	bool keeps = vcpu < kept->n && !(kept->is_there && kept->is_there[vcpu]);
	struct virt_window_stats one, *stats = keeps ? &kept->vcpus[vcpu] : &one;
	int ret;

	begin_stats(stats);
	ret = take_vcpu(tally, vcpu, stats);
	add_vcpu(machine, stats);
	if (!keeps)
		free_stats(stats);
	else if (kept->is_there)
		kept->is_there[vcpu] = !ret;
	return ret;
}

/** @all: also what its vCPUs did */
static int take_machine(struct tally *tally, int32_t index, bool all,
			struct virt_window_machine *machine, const struct kept *kept)
{
	const struct virt_machine *info = virt_model_machine(tally->model, index);
	struct virt_machine_totals totals;
	int ret = 0;

	for (int32_t i = 0; i < info->n_vcpus && all && !ret; i++)
		if (is_chosen(tally, info->vcpus[i]))
			ret = take_member(tally, info->vcpus[i], &machine->all, kept);
	end_samples(&tally->wakes, &machine->all.states[VIRT_WAKING].whole);
	end_samples(&tally->all_moves, &machine->all.migration_cost);
	virt_machine_totals(tally->model, index, tally->from_ns, tally->to_ns, &totals);
	for (int state = 0; state < VIRT_M_N_STATES; state++) {
		machine->states[state].ns = totals.ns[state];
		machine->known_ns += state == VIRT_M_LOST && !tally->model->unsplit ? 0 :
				     totals.ns[state];
	}
	if (!ret && wants(tally, VIRT_WINDOW_STATES))
		ret = count_machine(tally, index, machine);
	if (!ret && wants(tally, VIRT_WINDOW_EXITS))
		ret = end_all_exits(tally, &tally->all_exits, &tally->all_causes,
				    &tally->all_arguments, &machine->all);
	return ret;
}

/* ---- pCPUs ---- */

static int take_pcpus(const struct tally *tally, struct virt_window_pcpu *pcpus)
{
	const struct virt_model *model = tally->model;
	struct virt_loss_walk *lost = virt_loss_walk_new(model);
	const struct virt_loss_walk_pcpu *items;
	size_t n;

	if (!lost)
		return -ENOMEM;
	for (int32_t i = 0; i < model->n_pcpus; i++)
		virt_pcpu_totals(model, i, tally->from_ns, tally->to_ns, &pcpus[i].totals);
	n = virt_loss_walk_window(lost, tally->from_ns, tally->to_ns, &items);
	for (size_t i = 0; i < n; i++)
		pcpus[items[i].pcpu].lost_ns = items[i].ns;
	virt_loss_walk_free(lost);
	return 0;
}

/* ---- all together ---- */

void virt_window_free(struct virt_window *window)
{
	if (!window)
		return;
	for (int32_t i = 0; window->vcpus && i < window->n_vcpus; i++)
		free_stats(&window->vcpus[i]);
	for (int32_t i = 0; window->machines && i < window->n_machines; i++)
		free_stats(&window->machines[i].all);
	free(window->vcpus);
	free(window->machines);
	free(window->pcpus);
	free(window);
}

static struct virt_window *alloc_window(const struct virt_model *model)
{
	struct virt_window *window = calloc(1, sizeof(*window));

	if (!window)
		return NULL;
	window->n_vcpus = model->n_vcpus;
	window->n_machines = model->n_machines;
	window->n_pcpus = model->n_pcpus;
	window->vcpus = calloc(window->n_vcpus + 1, sizeof(*window->vcpus));
	window->machines = calloc(window->n_machines + 1, sizeof(*window->machines));
	window->pcpus = calloc(window->n_pcpus + 1, sizeof(*window->pcpus));
	if (!window->vcpus || !window->machines || !window->pcpus) {
		virt_window_free(window);
		return NULL;
	}
	for (int32_t i = 0; i < window->n_vcpus; i++)
		begin_stats(&window->vcpus[i]);
	for (int32_t i = 0; i < window->n_machines; i++)
		begin_stats(&window->machines[i].all);
	return window;
}

/** Those of a vCPU, and of its machine. Return: 0 or -ENOMEM. */
static int alloc_exits(const struct tally *tally, int by, struct exits *exits, struct exits *all)
{
	size_t n = (size_t)tally->model->n_reasons + 1;

	if (!wants(tally, VIRT_WINDOW_EXITS))
		return 0;
	exits->by = all->by = by;
	exits->n_arguments = all->n_arguments = virt_model_n_arguments(tally->model);
	if (by == BY_CAUSE)
		n *= EXIT_CAUSE_N;
	if (by == BY_ARGUMENT)
		n += (size_t)exits->n_arguments;
	exits->place = calloc(n, sizeof(*exits->place));
	all->place = calloc(n, sizeof(*all->place));
	return exits->place && all->place ? 0 : -ENOMEM;
}

static void free_exits(struct exits *exits)
{
	free(exits->place);
	free(exits->of);
	free(exits->costs);
}

/** Return: 0 or -ENOMEM; free_tally() must follow either way. */
static int begin_tally(struct tally *tally, const struct virt_model *model,
		       const struct virt_window_query *query)
{
	int ret;

	*tally = (struct tally){
		.model = model, .query = query, .from_ns = query->from_ns, .to_ns = query->to_ns,
	};
	tally->empty = !virt_clamp_window(model, &tally->from_ns, &tally->to_ns);
	if (tally->empty)
		tally->to_ns = tally->from_ns;
	ret = alloc_exits(tally, BY_REASON, &tally->exits, &tally->all_exits);
	if (!ret && wants(tally, VIRT_WINDOW_ARGUMENTS))
		ret = alloc_exits(tally, BY_CAUSE, &tally->causes, &tally->all_causes);
	if (!ret && wants(tally, VIRT_WINDOW_ARGUMENTS))
		ret = alloc_exits(tally, BY_ARGUMENT, &tally->arguments, &tally->all_arguments);
	if (ret || !wants(tally, VIRT_WINDOW_STATES))
		return ret;
	tally->pcpu_ns = calloc(tally->model->n_pcpus + 1, sizeof(*tally->pcpu_ns));
	tally->pcpus = malloc((tally->model->n_pcpus + 1) * sizeof(*tally->pcpus));
	return tally->pcpu_ns && tally->pcpus ? ret : -ENOMEM;
}

static void free_tally(struct tally *tally)
{
	for (int state = 0; state < VIRT_N_STATES; state++)
		free(tally->states[state].ns);
	free(tally->runs.ns);
	free(tally->moves.ns);
	free(tally->wakes.ns);
	free(tally->all_moves.ns);
	free(tally->pcpu_ns);
	free(tally->pcpus);
	free_exits(&tally->exits);
	free_exits(&tally->all_exits);
	free_exits(&tally->causes);
	free_exits(&tally->all_causes);
	free_exits(&tally->arguments);
	free_exits(&tally->all_arguments);
}

struct virt_window *virt_window_new(const struct virt_model *model,
				    const struct virt_window_query *query)
{
	struct virt_window *window = alloc_window(model);
	struct kept kept;
	struct tally tally;
	int ret;

	if (!window)
		return NULL;
	kept = (struct kept){ .vcpus = window->vcpus, .n = window->n_vcpus };
	ret = begin_tally(&tally, model, query);
	window->from_ns = tally.from_ns;
	window->to_ns = tally.to_ns;
	for (int32_t i = 0; i < window->n_machines && !ret && !tally.empty; i++)
		ret = take_machine(&tally, i, true, &window->machines[i], &kept);
	if (!ret && !tally.empty)
		ret = take_pcpus(&tally, window->pcpus);
	free_tally(&tally);
	if (!ret)
		return window;
	virt_window_free(window);
	return NULL;
}

/* ---- one at a time ---- */

/** Results of that many vCPUs are kept: a page asks for them again and again. */
#define KEPT_VCPUS	64

struct virt_window_walk {
	struct tally		tally;
	struct virt_window_stats vcpu;		/* of one that is not kept, or only culprits */
	struct virt_window_stats kept[KEPT_VCPUS];	/* of vCPUs 0 to KEPT_VCPUS - 1, ... */
	bool			is_kept[KEPT_VCPUS];	/* ... where this is set */
	struct virt_window_machine machine;
	struct virt_window_pcpu	*pcpus;
	int			error;
};

struct virt_window_walk *virt_window_walk_new(const struct virt_model *model,
					      const struct virt_window_query *query)
{
	struct virt_window_walk *walk = calloc(1, sizeof(*walk));

	if (!walk)
		return NULL;
	if (!begin_tally(&walk->tally, model, query))
		return walk;
	virt_window_walk_free(walk);
	return NULL;
}

void virt_window_walk_free(struct virt_window_walk *walk)
{
	if (!walk)
		return;
	free_stats(&walk->vcpu);
	for (int i = 0; i < KEPT_VCPUS; i++)
		free_stats(&walk->kept[i]);
	free_stats(&walk->machine.all);
	free(walk->pcpus);
	free_tally(&walk->tally);
	free(walk);
}

const struct virt_window_pcpu *virt_window_walk_pcpu(struct virt_window_walk *walk, int32_t pcpu)
{
	int32_t n = walk->tally.model->n_pcpus;

	if (!walk->pcpus) {
		walk->pcpus = calloc((size_t)n + 1, sizeof(*walk->pcpus));
		if (!walk->pcpus)
			walk->error = -ENOMEM;
		else if (!walk->tally.empty && !walk->error)
			walk->error = take_pcpus(&walk->tally, walk->pcpus);
	}
	return walk->pcpus && pcpu >= 0 && pcpu < n ? &walk->pcpus[pcpu] : NULL;
}

bool virt_window_walk_wants(const struct virt_window_walk *walk, int32_t vcpu)
{
	return is_chosen(&walk->tally, vcpu);
}

int virt_window_walk_error(const struct virt_window_walk *walk)
{
	return walk->error;
}

const struct virt_window_stats *virt_window_walk_vcpu(struct virt_window_walk *walk, int32_t vcpu)
{
	bool keeps = vcpu >= 0 && vcpu < KEPT_VCPUS;
	struct virt_window_stats *stats = keeps ? &walk->kept[vcpu] : &walk->vcpu;

	if (keeps && walk->is_kept[vcpu])
		return stats;
	free_stats(stats);
	begin_stats(stats);
	walk->tally.alone = true;
	if (!walk->error && !walk->tally.empty && is_chosen(&walk->tally, vcpu))
		walk->error = take_vcpu(&walk->tally, vcpu, stats);
	walk->tally.alone = false;
	if (keeps)
		walk->is_kept[vcpu] = !walk->error;
	return stats;
}

size_t virt_window_walk_culprits(struct virt_window_walk *walk, int32_t vcpu,
				 const struct virt_culprit **culprits)
{
	free_stats(&walk->vcpu);
	begin_stats(&walk->vcpu);
	walk->tally.vcpu = &walk->tally.model->vcpus[vcpu];
	walk->tally.stats = &walk->vcpu;
	if (!walk->error && !walk->tally.empty && is_chosen(&walk->tally, vcpu))
		walk->error = find_culprits(&walk->tally);
	*culprits = walk->vcpu.culprits;
	return walk->vcpu.n_culprits;
}

const struct virt_window_machine *virt_window_walk_machine(struct virt_window_walk *walk,
							   int32_t machine, bool all)
{
	const struct kept kept = { walk->kept, walk->is_kept, KEPT_VCPUS };

	free_stats(&walk->machine.all);
	walk->machine = (struct virt_window_machine){ 0 };
	begin_stats(&walk->machine.all);
	if (!walk->error && !walk->tally.empty)
		walk->error = take_machine(&walk->tally, machine, all, &walk->machine,
					   &kept);
	return &walk->machine;
}
