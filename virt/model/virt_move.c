// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_move.c
 * @brief	The phases of a live migration, and what they cost.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "virt_arguments.h"
#include "virt_exits.h"
#include "virt_move.h"
#include "virt_needs.h"
#include "virt_span.h"
#include "virt_window.h"

/**
 * QEMU's migration thread sleeps for at most 0.1 s at a time (migration/migration.c). If it is on a
 * pCPU this long after the beginning of the trace for the first time, it began then.
 */
#define SIGN_AFTER_NS	INT64_C(1000000000)

/** Offsets are less, so that times on both axes fit. */
#define MAX_OFFSET_NS	(INT64_MAX / 4)

/** With any of these, the machine may have run in the blackout. */
#define UNSURE_BLACKOUT	(VIRT_MOVE_CUT_STOP | VIRT_MOVE_CUT_START | VIRT_MOVE_LOST | VIRT_MOVE_IDLE)

const char *virt_move_phase_name(enum virt_move_phase phase)
{
	static const char *const names[VIRT_MOVE_N_PHASES] = {
		[VIRT_MOVE_BEFORE] = "before",
		[VIRT_MOVE_BROWN_OUT] = "brown-out",
		[VIRT_MOVE_BLACKOUT] = "blackout",
		[VIRT_MOVE_BROWN_IN] = "brown-in",
		[VIRT_MOVE_AFTER] = "after",
	};

	return (unsigned int)phase < VIRT_MOVE_N_PHASES ? names[phase] : NULL;
}

const char *virt_move_sign_name(enum virt_move_sign sign)
{
	static const char *const names[] = {
		[VIRT_MOVE_SIGN_THREAD] = "migration thread",
		[VIRT_MOVE_SIGN_DIRTY] = "dirty logging",
	};

	return (size_t)sign < ARRAY_SIZE(names) ? names[sign] : NULL;
}

/* --- the moments ----------------------------------------------------------------------------- */

/** The first or the last moment of guest code of a vCPU; VIRT_NONE: there is none. */
static int64_t guest_moment(const struct virt_model *model, int32_t vcpu, bool last)
{
	struct virt_interval_range range =
		virt_vcpu_intervals(model, vcpu, virt_model_begin(model), virt_model_end(model));

	for (size_t i = 0; i < range.n; i++) {
		size_t at = last ? range.n - 1 - i : i;

		if (range.first[at].state != VIRT_GUEST)
			continue;
		if (!last)
			return range.first[at].start_ns;
		return at + 1 < range.n ? range.first[at + 1].start_ns : range.end_ns;
	}
	return VIRT_NONE;
}

/** The same of a machine. */
static int64_t machine_moment(const struct virt_move_host *host, bool last)
{
	const struct virt_machine *machine = virt_model_machine(host->model, host->machine);
	int64_t moment = VIRT_NONE;

	for (int32_t i = 0; machine && i < machine->n_vcpus; i++) {
		int64_t ns = guest_moment(host->model, machine->vcpus[i], last);

		if (ns != VIRT_NONE && (moment == VIRT_NONE || (last ? ns > moment : ns < moment)))
			moment = ns;
	}
	return moment;
}

/** Does a task belong to the monitor of a machine, and migrate it? */
static bool is_migration_thread(const struct virt_move_host *host, int32_t who)
{
	const struct virt_task *task = virt_model_task(host->model, who);

	return task && task->machine == host->machine && task->kind == VIRT_THREAD_MIGRATION;
}

/** When a migration thread is on a pCPU for the first time before @to_ns; or VIRT_NONE. */
static int64_t first_thread(const struct virt_move_host *host, int64_t to_ns)
{
	int64_t first_ns = VIRT_NONE;

	for (int32_t pcpu = 0; pcpu < virt_model_n_pcpus(host->model); pcpu++) {
		struct virt_occupant_range range =
			virt_pcpu_occupants(host->model, pcpu, virt_model_begin(host->model),
					    first_ns == VIRT_NONE ? to_ns : first_ns);

		for (size_t i = 0; i < range.n; i++) {
			if (!range.first[i].known ||
			    !is_migration_thread(host, range.first[i].vcpu))
				continue;
			first_ns = range.first[i].start_ns;
			break;
		}
	}
	return first_ns;
}

/** When a vCPU has the first VM exit of dirty logging before @to_ns; or VIRT_NONE. */
static int64_t first_dirty(const struct virt_move_host *host, int64_t to_ns)
{
	const struct virt_machine *machine = virt_model_machine(host->model, host->machine);
	int64_t first_ns = VIRT_NONE;

	for (int32_t i = 0; i < machine->n_vcpus; i++) {
		struct virt_interval_range range =
			virt_vcpu_intervals(host->model, machine->vcpus[i],
					    virt_model_begin(host->model),
					    first_ns == VIRT_NONE ? to_ns : first_ns);

		for (size_t k = 0; k < range.n; k++) {
			int32_t argument = range.first[k].flags & VIRT_INTERVAL_EXIT ?
				virt_exit_argument(host->model, machine->vcpus[i],
						   &range.first[k]) : VIRT_NONE;

			if (virt_argument_cause(host->model, argument) != EXIT_CAUSE_DIRTY)
				continue;
			first_ns = range.first[k].start_ns;
			break;
		}
	}
	return first_ns;
}

static void find_sign(const struct virt_move_host *source, struct virt_move *move)
{
	int64_t begin_ns = virt_model_begin(source->model);
	int64_t thread_ns = first_thread(source, move->stop_ns);
	int64_t dirty_ns = first_dirty(source, move->stop_ns);
	int64_t sign_ns = begin_ns;

	if (thread_ns != VIRT_NONE && (dirty_ns == VIRT_NONE || thread_ns <= dirty_ns)) {
		move->sign = VIRT_MOVE_SIGN_THREAD;
		sign_ns = thread_ns;
	} else if (dirty_ns != VIRT_NONE) {
		move->sign = VIRT_MOVE_SIGN_DIRTY;
		sign_ns = dirty_ns;
	} else {
		move->lacks |= VIRT_MOVE_NO_SIGN;
	}
	/* of a part of a trace, it may go on already */
	if (sign_ns < begin_ns)
		sign_ns = begin_ns;
	if (move->sign && sign_ns - begin_ns < SIGN_AFTER_NS)
		move->lacks |= VIRT_MOVE_CUT_BEGIN;
	move->phases[VIRT_MOVE_BROWN_OUT].from_ns = sign_ns;
}

/* --- clocks ---------------------------------------------------------------------------------- */

/** @a + @b, which may lie beyond what fits. */
static int64_t add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

/** The bounds at the moments that count, from those at the moments when the clocks were read. */
static void widen(const struct virt_move *move, struct virt_move_clock *clock)
{
	double apart_ns = fabs((double)move->stop_ns - (double)clock->at_ns[VIRT_MOVE_SOURCE]) +
			  fabs((double)move->start_ns - (double)clock->at_ns[VIRT_MOVE_TARGET]);
	int64_t drift_ns = (int64_t)(apart_ns * VIRT_MOVE_DRIFT_PPM / 1e6) + 1;

	if (clock->least_ns != VIRT_MOVE_OPEN_LEAST)
		clock->least_ns = add(clock->least_ns, -drift_ns);
	if (clock->most_ns != VIRT_MOVE_OPEN_MOST)
		clock->most_ns = add(clock->most_ns, drift_ns);
}

/** It has stopped on the source before it runs on the target: that bounds the offset, too. */
static void narrow(struct virt_move *move, const struct virt_move_clock *clock)
{
	struct virt_move_clock *to = &move->clock;
	int64_t causal_ns = move->stop_ns - move->start_ns;
	bool wrong = false;

	*to = *clock;
	/* no host has run for that long */
	if (to->offset_ns > MAX_OFFSET_NS || to->offset_ns < -MAX_OFFSET_NS)
		to->known = false;
	if (to->known && to->drifts)
		widen(move, to);
	if (!to->known)
		move->lacks |= VIRT_MOVE_NO_CLOCK;
	/* without bounds, there is the best value alone */
	if (to->most_ns == VIRT_MOVE_OPEN_MOST ? to->offset_ns < causal_ns :
						 to->most_ns < causal_ns)
		wrong = true;
	if (!to->known || wrong) {
		if (to->known)
			move->lacks |= VIRT_MOVE_CONTRADICTION;
		to->known = false;
		to->least_ns = VIRT_MOVE_OPEN_LEAST;
		to->most_ns = VIRT_MOVE_OPEN_MOST;
		to->offset_ns = causal_ns;
	}
	if (to->most_ns == VIRT_MOVE_OPEN_MOST)
		move->lacks |= VIRT_MOVE_NO_BOUND;
	if (to->least_ns < causal_ns)
		to->least_ns = causal_ns;
	if (to->offset_ns < to->least_ns)
		to->offset_ns = to->least_ns;
}

/* --- what the traces do not show ------------------------------------------------------------- */

/** Has a vCPU left its guest code for the last time in order to sleep? Also if it never ran. */
static bool left_to_sleep(const struct virt_model *model, int32_t vcpu)
{
	int64_t left_ns = guest_moment(model, vcpu, true);
	const struct virt_interval *next =
		left_ns == VIRT_NONE ? NULL : virt_vcpu_at(model, vcpu, left_ns, NULL);
	struct virt_exit exit;

	return left_ns == VIRT_NONE ||
	       (next && virt_exit_of(model, vcpu, next, &exit) && exit.reason != VIRT_NONE &&
		virt_model_reason_class(model, exit.reason) == VIRT_EXIT_HALT);
}

static bool is_idle(const struct virt_move_host *source)
{
	const struct virt_machine *machine = virt_model_machine(source->model, source->machine);

	for (int32_t i = 0; i < machine->n_vcpus; i++)
		if (!left_to_sleep(source->model, machine->vcpus[i]))
			return false;
	return true;
}

/**
 * May the trace of the target begin after the machine stopped on the source? Without clocks, a
 * machine that does not run for this time has not run before.
 */
static bool begins_late(int64_t begin_ns, const struct virt_move *move)
{
	return move->clock.most_ns == VIRT_MOVE_OPEN_MOST ?
	       move->start_ns - begin_ns < SIGN_AFTER_NS :
	       add(begin_ns, move->clock.most_ns) > move->stop_ns;
}

/** Do both traces show that the machine did not run in the blackout? */
static void judge_blackout(const struct virt_move_host hosts[], struct virt_move *move)
{
	const struct virt_move_host *source = &hosts[VIRT_MOVE_SOURCE];
	const struct virt_move_host *target = &hosts[VIRT_MOVE_TARGET];
	int64_t source_end_ns = virt_model_end(source->model);
	int64_t target_begin_ns = virt_model_begin(target->model);
	struct virt_move_span *blackout = &move->phases[VIRT_MOVE_BLACKOUT];

	if (source_end_ns < add(move->start_ns, move->clock.most_ns) &&
	    !virt_machine_is_offline(source->model, source->machine, source_end_ns - 1))
		move->lacks |= VIRT_MOVE_CUT_STOP;
	if (begins_late(target_begin_ns, move) &&
	    !virt_machine_is_offline(target->model, target->machine, move->start_ns - 1))
		move->lacks |= VIRT_MOVE_CUT_START;
	if (virt_model_loss_in(source->model, move->stop_ns, source_end_ns) ||
	    virt_model_loss_in(target->model, target_begin_ns, move->start_ns + 1))
		move->lacks |= VIRT_MOVE_LOST;
	if (is_idle(source))
		move->lacks |= VIRT_MOVE_IDLE;
	if (move->lacks & UNSURE_BLACKOUT)
		blackout->least_ns = 0;
}

/* --- faults ---------------------------------------------------------------------------------- */

/** VM exits for memory of a machine in a window. */
static uint64_t faults_in(const struct virt_move_host *host, const bool *for_memory,
			  int64_t from_ns, int64_t to_ns, struct virt_exit_total *totals, size_t n)
{
	const struct virt_machine *machine = virt_model_machine(host->model, host->machine);
	uint64_t faults = 0;

	for (int32_t i = 0; i < machine->n_vcpus; i++) {
		size_t found = virt_vcpu_exits(host->model, machine->vcpus[i], from_ns, to_ns,
					       totals, n);

		for (size_t k = 0; k < found && k < n; k++)
			if (totals[k].reason != VIRT_NONE && for_memory[totals[k].reason])
				faults += totals[k].count;
	}
	return faults;
}

/** What counting takes, of one host. */
struct counter {
	const struct virt_move_host *host;
	bool			*for_memory;	/* by reason */
	struct virt_exit_total	*totals;
	size_t			n;
};

static int counter_make(struct counter *counter, const struct virt_move_host *host)
{
	int32_t n = virt_model_n_reasons(host->model);

	counter->host = host;
	counter->n = (size_t)n + 1;
	counter->for_memory = calloc(counter->n, sizeof(*counter->for_memory));
	counter->totals = calloc(counter->n, sizeof(*counter->totals));
	for (int32_t i = 0; i < n && counter->for_memory; i++)
		counter->for_memory[i] = exit_is_for_memory(virt_model_reason(host->model, i));
	return counter->for_memory && counter->totals ? 0 : -ENOMEM;
}

static void counter_free(struct counter *counter)
{
	free(counter->for_memory);
	free(counter->totals);
}

static uint64_t count(const struct counter *counter, int64_t from_ns, int64_t to_ns)
{
	return faults_in(counter->host, counter->for_memory, from_ns, to_ns, counter->totals,
			 counter->n);
}

/** The most faults in a bin of the target. */
static uint64_t most_faults(const struct counter *target, int64_t from_ns, int64_t to_ns)
{
	uint64_t most = 0;

	for (int64_t at = from_ns; to_ns - at >= VIRT_MOVE_BIN_NS; at += VIRT_MOVE_BIN_NS) {
		uint64_t faults = count(target, at, at + VIRT_MOVE_BIN_NS);

		most = faults > most ? faults : most;
	}
	return most;
}

/** The brown-in ends where the first bin begins that has few faults: as many as before. */
static void find_end(const struct counter *source, const struct counter *target,
		     struct virt_move *move, int64_t *end_ns)
{
	int64_t begin_ns = virt_model_begin(source->host->model);
	int64_t to_ns = virt_model_end(target->host->model);
	bool has_rate = false;

	for (int64_t at = move->phases[VIRT_MOVE_BROWN_OUT].from_ns;
	     at - begin_ns >= VIRT_MOVE_BIN_NS && !(move->lacks & VIRT_MOVE_NO_SIGN);
	     at -= VIRT_MOVE_BIN_NS) {
		uint64_t faults = count(source, at - VIRT_MOVE_BIN_NS, at);

		has_rate = true;
		if (faults > move->usual_faults)
			move->usual_faults = faults;
	}
	*end_ns = to_ns;
	move->few_faults = most_faults(target, move->start_ns, to_ns) / VIRT_MOVE_FEW;
	if (move->usual_faults > move->few_faults)
		move->few_faults = move->usual_faults;
	if (!has_rate) {
		move->lacks |= VIRT_MOVE_NO_RATE;
		return;
	}
	for (int64_t at = move->start_ns; to_ns - at >= VIRT_MOVE_BIN_NS; at += VIRT_MOVE_BIN_NS) {
		if (count(target, at, at + VIRT_MOVE_BIN_NS) > move->few_faults)
			continue;
		*end_ns = at;
		return;
	}
	move->lacks |= VIRT_MOVE_CUT_END;
}

static int find_brown_in(const struct virt_move_host hosts[], struct virt_move *move,
			 int64_t *end_ns)
{
	struct counter counters[VIRT_MOVE_N_SIDES] = { 0 };
	int ret = 0;

	for (int side = 0; side < VIRT_MOVE_N_SIDES && !ret; side++)
		ret = counter_make(&counters[side], &hosts[side]);
	if (!ret)
		find_end(&counters[VIRT_MOVE_SOURCE], &counters[VIRT_MOVE_TARGET], move, end_ns);
	for (int side = 0; side < VIRT_MOVE_N_SIDES; side++)
		counter_free(&counters[side]);
	return ret;
}

/* --- the monitor's work ---------------------------------------------------------------------- */

/** Does the trace show which thread had a pCPU, and which of these are the monitor's? */
static bool knows_monitor(const struct virt_move_host *host)
{
	if (!virt_model_knows(host->model, VIRT_NUMBER_CULPRITS))
		return false;
	for (int32_t i = 0; i < virt_model_n_tasks(host->model); i++) {
		const struct virt_task *task = virt_model_task(host->model, VIRT_FIRST_TASK + i);

		if (task && task->machine == host->machine)
			return true;
	}
	return false;
}

/** How long the monitor's threads, but for vCPUs, are on pCPUs in a window; or VIRT_NONE. */
static int64_t monitor_time(const struct virt_move_host *host, int64_t from_ns, int64_t to_ns)
{
	int64_t sum_ns = 0;

	if (!knows_monitor(host))
		return VIRT_NONE;
	for (int32_t pcpu = 0; pcpu < virt_model_n_pcpus(host->model); pcpu++) {
		struct virt_occupant_range range =
			virt_pcpu_occupants(host->model, pcpu, from_ns, to_ns);

		for (size_t i = 0; i < range.n; i++) {
			const struct virt_occupant *of = &range.first[i];
			int64_t end_ns = i + 1 < range.n ? of[1].start_ns : range.end_ns;
			const struct virt_task *task = virt_model_task(host->model, of->vcpu);

			if (!of->known || !task || task->machine != host->machine)
				continue;
			sum_ns += (end_ns < to_ns ? end_ns : to_ns) -
				  (of->start_ns > from_ns ? of->start_ns : from_ns);
		}
	}
	return sum_ns;
}

/* --- all of it ------------------------------------------------------------------------------- */

/** A phase whose ends one trace shows: its length is known. */
static void set_span(struct virt_move *move, enum virt_move_phase phase, int64_t from_ns,
		     int64_t to_ns)
{
	move->phases[phase] = (struct virt_move_span){
		.from_ns = from_ns, .to_ns = to_ns,
		.least_ns = to_ns - from_ns, .most_ns = to_ns - from_ns,
	};
}

static void set_blackout(struct virt_move *move)
{
	const struct virt_move_clock *clock = &move->clock;
	int64_t apart_ns = move->start_ns - move->stop_ns;

	move->phases[VIRT_MOVE_BLACKOUT] = (struct virt_move_span){
		.from_ns = move->stop_ns,
		.to_ns = move->start_ns + clock->offset_ns,
		.least_ns = apart_ns + clock->least_ns,
		.most_ns = clock->most_ns == VIRT_MOVE_OPEN_MOST ? VIRT_MOVE_OPEN_MOST :
			   add(apart_ns, clock->most_ns),
	};
}

/** What the ends of a trace cut off makes a phase longer. */
static void open_spans(struct virt_move *move)
{
	if (move->lacks & (VIRT_MOVE_CUT_BEGIN | VIRT_MOVE_CUT_STOP))
		move->phases[VIRT_MOVE_BROWN_OUT].most_ns = VIRT_MOVE_OPEN_MOST;
	if (move->lacks & VIRT_MOVE_NO_SIGN)
		move->phases[VIRT_MOVE_BROWN_OUT].least_ns = 0;
	if (move->lacks & (VIRT_MOVE_CUT_END | VIRT_MOVE_CUT_START))
		move->phases[VIRT_MOVE_BROWN_IN].most_ns = VIRT_MOVE_OPEN_MOST;
	if (move->lacks & VIRT_MOVE_NO_RATE)
		move->phases[VIRT_MOVE_BROWN_IN].least_ns = 0;
}

int virt_move_find(const struct virt_move_host hosts[VIRT_MOVE_N_SIDES],
		   const struct virt_move_clock *clock, struct virt_move *move,
		   enum virt_move_side *missing)
{
	const struct virt_model *source = hosts[VIRT_MOVE_SOURCE].model;
	const struct virt_model *target = hosts[VIRT_MOVE_TARGET].model;
	int64_t end_ns, to_ns;

	*move = (struct virt_move){
		.stop_ns = machine_moment(&hosts[VIRT_MOVE_SOURCE], true),
		.start_ns = machine_moment(&hosts[VIRT_MOVE_TARGET], false),
	};
	*missing = move->stop_ns == VIRT_NONE ? VIRT_MOVE_SOURCE : VIRT_MOVE_TARGET;
	if (move->stop_ns == VIRT_NONE || move->start_ns == VIRT_NONE)
		return -ENODATA;
	narrow(move, clock);
	find_sign(&hosts[VIRT_MOVE_SOURCE], move);
	if (find_brown_in(hosts, move, &end_ns))
		return -ENOMEM;

	set_span(move, VIRT_MOVE_BEFORE, virt_model_begin(source),
		 move->phases[VIRT_MOVE_BROWN_OUT].from_ns);
	set_span(move, VIRT_MOVE_BROWN_OUT, move->phases[VIRT_MOVE_BROWN_OUT].from_ns,
		 move->stop_ns);
	set_blackout(move);
	to_ns = virt_model_end(target) + move->clock.offset_ns;
	set_span(move, VIRT_MOVE_BROWN_IN, move->phases[VIRT_MOVE_BLACKOUT].to_ns,
		 end_ns + move->clock.offset_ns);
	set_span(move, VIRT_MOVE_AFTER, end_ns + move->clock.offset_ns, to_ns);
	judge_blackout(hosts, move);
	open_spans(move);
	move->monitor_ns[VIRT_MOVE_SOURCE] = move->monitor_ns[VIRT_MOVE_TARGET] = VIRT_NONE;
	if (!move->clock.known)
		return 0;
	move->monitor_ns[VIRT_MOVE_SOURCE] =
		monitor_time(&hosts[VIRT_MOVE_SOURCE], move->stop_ns,
			     move->phases[VIRT_MOVE_BLACKOUT].to_ns);
	move->monitor_ns[VIRT_MOVE_TARGET] =
		monitor_time(&hosts[VIRT_MOVE_TARGET], move->stop_ns - move->clock.offset_ns,
			     move->start_ns);
	return 0;
}

/* --- costs ----------------------------------------------------------------------------------- */

static void take_faults(const struct virt_model *model, const struct virt_window_stats *stats,
			struct virt_move_cost *cost)
{
	for (size_t i = 0; i < stats->n_reasons; i++) {
		const struct virt_window_exit *exit = &stats->reasons[i];

		if (exit->reason == VIRT_NONE ||
		    !exit_is_for_memory(virt_model_reason(model, exit->reason)))
			continue;
		cost->faults += exit->count;
		virt_add_ns(&cost->fault_ns, exit->cost.ns);
	}
	for (size_t i = 0; i < stats->n_causes; i++) {
		if (stats->causes[i].cause != EXIT_CAUSE_DIRTY)
			continue;
		cost->dirty += stats->causes[i].count;
		virt_add_ns(&cost->dirty_ns, stats->causes[i].cost.ns);
	}
}

/**
 * How long the monitor keeps a vCPU asleep whose guest did not ask for it: it has left the guest
 * for another reason than a halt or a hypercall, went to the monitor, and sleeps. That is how QEMU
 * slows down (cpu_throttle_thread() of softmmu/cpu-throttle.c) and stops vCPUs.
 */
static int64_t stopped_time(const struct virt_model *model, int32_t vcpu, int64_t from_ns,
			 int64_t to_ns)
{
	struct virt_interval_range range =
		virt_vcpu_intervals(model, vcpu, virt_model_begin(model), to_ns);
	bool asked = true, in_monitor = false;
	int64_t sum_ns = 0;

	for (size_t i = 0; i < range.n; i++) {
		const struct virt_interval *of = &range.first[i];
		int64_t end_ns = i + 1 < range.n ? of[1].start_ns : range.end_ns;
		enum virt_exit_class kind = virt_model_reason_class(model, of->detail);

		if (of->state == VIRT_GUEST || of->state == VIRT_UNKNOWN)
			asked = true;
		if (of->flags & VIRT_INTERVAL_EXIT) {
			asked = of->detail == VIRT_NONE || kind == VIRT_EXIT_HALT ||
				kind == VIRT_EXIT_HYPERCALL;
			in_monitor = false;
		}
		in_monitor |= of->state == VIRT_VMM;
		if (virt_is_unasked(of) ||
		    (of->state != VIRT_OFFLINE &&
		     (of->state != VIRT_BLOCKED || asked || !in_monitor)))
			continue;
		end_ns = end_ns < to_ns ? end_ns : to_ns;
		if (end_ns > from_ns)
			sum_ns += end_ns - (of->start_ns > from_ns ? of->start_ns : from_ns);
	}
	return sum_ns;
}

static void take_stats(const struct virt_model *model, int32_t vcpu,
		       const struct virt_window *window, struct virt_move_cost *cost)
{
	const struct virt_window_stats *stats = &window->vcpus[vcpu];

	for (int state = 0; state < VIRT_N_STATES; state++)
		cost->ns[state] = stats->states[state].ns;
	cost->steal_ns = cost->ns[VIRT_PREEMPTED] + cost->ns[VIRT_WAKING];
	cost->stopped_ns = stopped_time(model, vcpu, window->from_ns, window->to_ns);
	cost->lost_ns = cost->ns[VIRT_HYPERVISOR] + cost->ns[VIRT_VMM] + cost->steal_ns +
			cost->stopped_ns + stats->unasked_ns;
	take_faults(model, stats, cost);
}

/** The parts of a window that costs need. */
#define PARTS	(VIRT_WINDOW_EXITS | VIRT_WINDOW_ARGUMENTS)

/** The vCPU of a machine with a number, by global index; or VIRT_NONE. */
static int32_t find_vcpu(const struct virt_move_host *host, int32_t id)
{
	const struct virt_machine *machine = virt_model_machine(host->model, host->machine);

	for (int32_t i = 0; i < machine->n_vcpus; i++)
		if (virt_model_vcpu(host->model, machine->vcpus[i])->id == id)
			return machine->vcpus[i];
	return VIRT_NONE;
}

static void add_cost(struct virt_move_cost *sum, const struct virt_move_cost *cost)
{
	for (int state = 0; state < VIRT_N_STATES; state++)
		virt_add_ns(&sum->ns[state], cost->ns[state]);
	virt_add_ns(&sum->lost_ns, cost->lost_ns);
	virt_add_ns(&sum->steal_ns, cost->steal_ns);
	virt_add_ns(&sum->stopped_ns, cost->stopped_ns);
	virt_add_ns(&sum->fault_ns, cost->fault_ns);
	virt_add_ns(&sum->dirty_ns, cost->dirty_ns);
	sum->faults += cost->faults;
	sum->dirty += cost->dirty;
}

/** A phase that one host shows: [@from_ns, @to_ns) on its own axis. Return: 0 or -ENOMEM. */
static int take_phase(const struct virt_move_host *host, int64_t from_ns, int64_t to_ns,
		      const struct virt_move_costs *costs, struct virt_move_cost *cost)
{
	struct virt_window *window = virt_window_new(host->model, &(struct virt_window_query){
		.from_ns = from_ns, .to_ns = to_ns, .parts = PARTS,
	});
	bool dirty_known = exit_dirty_is_known(virt_model_recorded(host->model));

	if (!window)
		return -ENOMEM;
	for (int32_t i = 0; i < costs->n_vcpus; i++) {
		int32_t vcpu = find_vcpu(host, costs->ids[i]);

		if (vcpu == VIRT_NONE)
			cost[1 + i].ns[VIRT_UNKNOWN] = to_ns - from_ns;
		else if (to_ns > from_ns)
			take_stats(host->model, vcpu, window, &cost[1 + i]);
		cost[1 + i].dirty_known = dirty_known;
		add_cost(&cost[0], &cost[1 + i]);
	}
	cost[0].dirty_known = dirty_known;
	virt_window_free(window);
	return 0;
}

/** Nothing runs. */
static void take_blackout(const struct virt_move_host hosts[], const struct virt_move *move,
			  const struct virt_move_costs *costs, struct virt_move_cost *cost)
{
	const struct virt_move_span *span = &move->phases[VIRT_MOVE_BLACKOUT];

	cost[0].dirty_known = true;
	cost[0].last_run_ns = span->from_ns;
	cost[0].first_run_ns = span->to_ns;
	for (int32_t i = 0; i < costs->n_vcpus; i++) {
		struct virt_move_cost *of = &cost[1 + i];
		int32_t source = find_vcpu(&hosts[VIRT_MOVE_SOURCE], costs->ids[i]);
		int32_t target = find_vcpu(&hosts[VIRT_MOVE_TARGET], costs->ids[i]);

		of->dirty_known = true;
		of->ns[VIRT_OFFLINE] = of->lost_ns = of->stopped_ns =
			span->to_ns - span->from_ns;
		of->last_run_ns = guest_moment(hosts[VIRT_MOVE_SOURCE].model, source, true);
		of->first_run_ns = guest_moment(hosts[VIRT_MOVE_TARGET].model, target, false);
		if (of->first_run_ns != VIRT_NONE)
			of->first_run_ns += move->clock.offset_ns;
		add_cost(&cost[0], of);
	}
}

/** The numbers of the vCPUs that either host shows, ascending. Return: 0 or -ENOMEM. */
static int find_ids(const struct virt_move_host hosts[], struct virt_move_costs *costs)
{
	size_t room = 0;

	for (int side = 0; side < VIRT_MOVE_N_SIDES; side++) {
		const struct virt_machine *machine =
			virt_model_machine(hosts[side].model, hosts[side].machine);

		for (int32_t i = 0; i < machine->n_vcpus; i++) {
			int32_t id = virt_model_vcpu(hosts[side].model, machine->vcpus[i])->id;
			int32_t at = costs->n_vcpus;

			if (side && find_vcpu(&hosts[VIRT_MOVE_SOURCE], id) != VIRT_NONE)
				continue;
			if (ARRAY_GROW(costs->ids, costs->n_vcpus, room))
				return -ENOMEM;
			for (; at > 0 && costs->ids[at - 1] > id; at--)
				costs->ids[at] = costs->ids[at - 1];
			costs->ids[at] = id;
			costs->n_vcpus++;
		}
	}
	return 0;
}

int virt_move_costs_make(const struct virt_move_host hosts[VIRT_MOVE_N_SIDES],
			 const struct virt_move *move, struct virt_move_costs *costs)
{
	int ret;

	*costs = (struct virt_move_costs){ 0 };
	ret = find_ids(hosts, costs);
	for (int phase = 0; phase < VIRT_MOVE_N_PHASES && !ret; phase++) {
		const struct virt_move_span *span = &move->phases[phase];
		int side = phase > VIRT_MOVE_BLACKOUT;
		int64_t shift_ns = side ? move->clock.offset_ns : 0;
		struct virt_move_cost *cost = calloc((size_t)costs->n_vcpus + 1, sizeof(*cost));

		costs->cost[phase] = cost;
		if (!cost) {
			ret = -ENOMEM;
			break;
		}
		for (int32_t i = 0; i <= costs->n_vcpus; i++)
			cost[i].last_run_ns = cost[i].first_run_ns = VIRT_NONE;
		if (phase == VIRT_MOVE_BLACKOUT)
			take_blackout(hosts, move, costs, cost);
		else
			ret = take_phase(&hosts[side], span->from_ns - shift_ns,
					 span->to_ns - shift_ns, costs, cost);
	}
	if (ret)
		virt_move_costs_free(costs);
	return ret;
}

void virt_move_costs_free(struct virt_move_costs *costs)
{
	free(costs->ids);
	for (int phase = 0; phase < VIRT_MOVE_N_PHASES; phase++)
		free(costs->cost[phase]);
	*costs = (struct virt_move_costs){ 0 };
}
