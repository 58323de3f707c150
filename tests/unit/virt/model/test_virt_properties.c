// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_properties.c
 * @brief	Random timelines: every answer of the model equals one that is counted ns by ns.
 *
 * The timelines are a few thousand ns long and crowded, so that changes at the same ns, windows
 * that cut everything and blocks that are just full all occur. What should come out is kept in
 * arrays with one element per ns, which know nothing of intervals, blocks or sums.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "virt_model.h"

#define SEEDS		150
#define LENGTH		2500
#define MAX_VCPUS	7
#define MAX_MACHINES	3
#define MAX_PCPUS	4
#define REASONS		5
#define TASKS		2
#define MAX_EXITS	4096
#define WINDOWS		40

struct moment {
	uint8_t		state;
	int16_t		pcpu;
	int32_t		detail;
	uint8_t		lasting;	/* flags */
};

struct exit_op {
	int32_t		time;
	uint8_t		state;
	int32_t		reason;
};

struct truth {
	int		n_vcpus, n_pcpus, n_machines;
	int		machine[MAX_VCPUS];	/* its id */
	int		begin, end;
	struct moment	vcpu[MAX_VCPUS][LENGTH];
	int		occupant[MAX_PCPUS][LENGTH];	/* -2: not known */
	struct exit_op	exit[MAX_VCPUS][MAX_EXITS];
	int		n_exits[MAX_VCPUS];
};

static uint64_t seed;

static uint32_t rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 32) % n;
}

/** None, a vCPU or a task. */
static int32_t anybody(const struct truth *truth)
{
	int32_t who = (int32_t)rnd(truth->n_vcpus + 1 + TASKS) - 1;

	return who < truth->n_vcpus ? who : VIRT_FIRST_TASK + who - truth->n_vcpus;
}

/** A change at @time: the moments from there on. */
static void change_vcpu(struct truth *truth, struct virt_model *model, int vcpu, int time)
{
	static const uint8_t flags[] = {
		VIRT_INTERVAL_NESTED, VIRT_INTERVAL_UNSPLIT, VIRT_INTERVAL_UNASKED,
	};
	struct moment moment = {
		.state = rnd(VIRT_N_STATES),
		.pcpu = (int)rnd(truth->n_pcpus + 1) - 1,
		.detail = VIRT_NONE,
	};
	bool exit = rnd(3) == 0;

	if (rnd(3) == 0)
		moment.state = rnd(2) ? VIRT_GUEST : VIRT_HYPERVISOR;
	/* it leads out of guest code */
	exit &= moment.state != VIRT_GUEST;
	if (virt_state_on_pcpu(moment.state))
		moment.detail = (int)rnd(REASONS + 1) - 1;
	else if (moment.state == VIRT_PREEMPTED)
		moment.detail = anybody(truth);
	if (rnd(3) == 0)
		moment.lasting = flags[rnd(3)];
	assert_int_equal(virt_model_set(model, vcpu, time, moment.state, moment.pcpu,
					moment.detail, (exit ? VIRT_INTERVAL_EXIT : 0) |
					moment.lasting), 0);
	for (int t = time; t < LENGTH; t++)
		truth->vcpu[vcpu][t] = moment;
	if (exit) {
		assert_true(truth->n_exits[vcpu] < MAX_EXITS);
		truth->exit[vcpu][truth->n_exits[vcpu]++] = (struct exit_op){
			.time = time, .state = moment.state,
			.reason = virt_state_on_pcpu(moment.state) ? moment.detail : VIRT_NONE,
		};
	}
}

static void change_pcpu(struct truth *truth, struct virt_model *model, int pcpu, int time)
{
	bool known = rnd(4);
	int32_t vcpu = anybody(truth);

	assert_int_equal(virt_model_occupy(model, pcpu, time, vcpu, known), 0);
	for (int t = time; t < LENGTH; t++)
		truth->occupant[pcpu][t] = known ? vcpu : -2;
}

static struct virt_model *make(struct truth *truth)
{
	static const char *const reason[REASONS] = { "HLT", "CPUID", "IO", "EPT", "EXTERNAL" };
	struct virt_model *model = virt_model_new();
	int pace = rnd(3) ? 1 + rnd(12) : 40;

	assert_non_null(model);
	memset(truth, 0, sizeof(*truth));
	truth->n_machines = 1 + rnd(MAX_MACHINES);
	truth->n_vcpus = 1 + rnd(MAX_VCPUS);
	truth->n_pcpus = 1 + rnd(MAX_PCPUS);
	for (int i = 0; i < REASONS; i++)
		assert_int_equal(virt_model_add_reason(model, reason[i]), i);
	for (int i = 0; i < TASKS; i++)
		assert_int_equal(virt_model_add_task(model, 500 + i, "t"), VIRT_FIRST_TASK + i);
	/* in descending order, so that finishing has something to order */
	for (int i = 0; i < truth->n_machines; i++)
		assert_int_equal(virt_model_add_machine(model, truth->n_machines - i, "m"), i);
	for (int i = 0; i < truth->n_vcpus; i++) {
		int machine = rnd(truth->n_machines);

		truth->machine[i] = truth->n_machines - machine;
		assert_int_equal(virt_model_add_vcpu(model, machine, 100 - i, 1000 - i, "v"), i);
		for (int t = 0; t < LENGTH; t++)
			truth->vcpu[i][t] = (struct moment){
				VIRT_UNKNOWN, VIRT_NONE, VIRT_NONE, 0,
			};
	}
	for (int i = 0; i < truth->n_pcpus; i++) {
		/* known from the beginning on, so that the model has that many */
		assert_int_equal(virt_model_occupy(model, i, 0, VIRT_NONE, false), 0);
		for (int t = 0; t < LENGTH; t++)
			truth->occupant[i][t] = -2;
	}
	for (int t = 0; t < LENGTH; t++) {
		for (int i = 0; i < truth->n_vcpus; i++)
			while (rnd(pace + 1) == 0)
				change_vcpu(truth, model, i, t);
		for (int i = 0; i < truth->n_pcpus; i++)
			while (rnd(2 * pace + 1) == 0)
				change_pcpu(truth, model, i, t);
	}
	truth->begin = rnd(3) ? 0 : rnd(LENGTH / 2);
	truth->end = rnd(3) ? LENGTH : truth->begin + 1 + rnd(rnd(2) ? 20 : LENGTH / 2);
	assert_int_equal(virt_model_finish(model, truth->begin, truth->end), 0);
	return model;
}

#define LASTING		(VIRT_INTERVAL_NESTED | VIRT_INTERVAL_UNSPLIT | VIRT_INTERVAL_UNASKED)

static void check_intervals(const struct truth *truth, const struct virt_model *model, int vcpu)
{
	struct virt_interval_range all = virt_vcpu_intervals(model, vcpu, INT64_MIN, INT64_MAX);
	int t = truth->begin, exits = 0;

	assert_true(all.n > 0);
	assert_int_equal(all.end_ns, truth->end);
	for (size_t i = 0; i < all.n; i++) {
		const struct virt_interval *a = &all.first[i];
		int64_t end = i + 1 < all.n ? a[1].start_ns : all.end_ns;

		/* gapless and ordered, and nothing longer than it must be */
		assert_int_equal(a->start_ns, t);
		assert_true(end > t || a->flags & VIRT_INTERVAL_EXIT);
		if (i)
			assert_true(a->flags & VIRT_INTERVAL_EXIT || a->state != a[-1].state ||
				    a->pcpu != a[-1].pcpu || a->detail != a[-1].detail ||
				    (a->flags ^ a[-1].flags) & LASTING);
		for (; t < end; t++) {
			const struct moment *moment = &truth->vcpu[vcpu][t];
			int64_t at_end = -1;

			assert_int_equal(a->state, moment->state);
			assert_int_equal(a->pcpu, moment->pcpu);
			assert_int_equal(a->detail, moment->detail);
			assert_int_equal(a->flags & LASTING, moment->lasting);
			assert_ptr_equal(virt_vcpu_at(model, vcpu, t, &at_end), a);
			assert_int_equal(at_end, end);
		}
		exits += !!(a->flags & VIRT_INTERVAL_EXIT);
	}
	assert_int_equal(t, truth->end);
	for (int i = 0; i < truth->n_exits[vcpu]; i++)
		exits -= truth->exit[vcpu][i].time >= truth->begin &&
			 truth->exit[vcpu][i].time < truth->end;
	assert_int_equal(exits, 0);
}

/** The part of a window that lies in the trace. */
struct window {
	int64_t		from, to;
	int		a, b;		/* clamped; a >= b: nothing */
};

static struct window random_window(const struct truth *truth)
{
	struct window window = {
		.from = (int)rnd(LENGTH + 100) - 50,
	};

	window.to = rnd(2) ? window.from + (int)rnd(40) - 2 : (int)rnd(LENGTH + 100) - 50;
	window.a = window.from < truth->begin ? truth->begin : window.from;
	window.b = window.to > truth->end ? truth->end : window.to;
	return window;
}

static void check_totals(const struct truth *truth, const struct virt_model *model, int vcpu,
			 struct window window)
{
	struct virt_interval_range all = virt_vcpu_intervals(model, vcpu, INT64_MIN, INT64_MAX);
	struct virt_interval_range range = virt_vcpu_intervals(model, vcpu, window.from, window.to);
	struct virt_totals expected = { 0 }, totals, left, right;
	int64_t cut = window.from + (int)rnd(50) * (window.to - window.from) / 50;
	size_t first = 0, last = 0;

	virt_vcpu_totals(model, vcpu, window.from, window.to, &totals);
	for (int t = window.a; t < window.b; t++)
		expected.ns[truth->vcpu[vcpu][t].state]++;
	for (size_t i = 0; i < all.n; i++)
		if (all.first[i].start_ns >= window.a && all.first[i].start_ns < window.b)
			expected.count[all.first[i].state]++;
	assert_memory_equal(&totals, &expected, sizeof(totals));

	if (window.a >= window.b) {
		assert_int_equal(range.n, 0);
		return;
	}
	virt_vcpu_totals(model, vcpu, window.from, cut, &left);
	virt_vcpu_totals(model, vcpu, cut, window.to, &right);
	for (int s = 0; s < VIRT_N_STATES; s++) {
		assert_int_equal(left.ns[s] + right.ns[s], totals.ns[s]);
		assert_int_equal(left.count[s] + right.count[s], totals.count[s]);
	}
	/* all that begin in the window, and the one before if none begins with it */
	while (first < all.n && all.first[first].start_ns < window.a)
		first++;
	if (first == all.n || all.first[first].start_ns > window.a)
		first--;
	while (last < all.n && all.first[last].start_ns < window.b)
		last++;
	assert_ptr_equal(range.first, all.first + first);
	assert_int_equal(range.n, last - first);
	assert_int_equal(range.end_ns, last < all.n ? all.first[last].start_ns : all.end_ns);
}

static void check_pcpu(const struct truth *truth, const struct virt_model *model, int pcpu,
		       struct window window)
{
	struct virt_occupant_range range = virt_pcpu_occupants(model, pcpu, window.from, window.to);
	struct virt_pcpu_totals expected = { 0 }, totals;

	virt_pcpu_totals(model, pcpu, window.from, window.to, &totals);
	for (int t = window.a; t < window.b; t++) {
		int vcpu = truth->occupant[pcpu][t];
		int state = vcpu >= 0 && vcpu < VIRT_FIRST_TASK ?
			    truth->vcpu[vcpu][t].state : VIRT_UNKNOWN;

		if (vcpu >= VIRT_FIRST_TASK)
			expected.task_ns++;
		else if (vcpu >= 0 && virt_state_on_pcpu(state))
			expected.state_ns[state]++;
		else if (vcpu == VIRT_NONE)
			expected.idle_ns++;
		else
			expected.unknown_ns++;
	}
	assert_memory_equal(&totals, &expected, sizeof(totals));
	if (window.a >= window.b)
		assert_int_equal(range.n, 0);
	for (size_t i = 0; i < range.n; i++) {
		int64_t start = range.first[i].start_ns;
		int64_t end = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		assert_true(end > start && start < window.b && end > window.a);
		assert_true(i == 0 ? start <= window.a : start > window.a);
		if (i + 1 == range.n)
			assert_true(end >= window.b);
		for (int t = start; t < end; t++) {
			int vcpu = truth->occupant[pcpu][t];
			int64_t at_end = -1;

			assert_int_equal(range.first[i].known, vcpu != -2);
			assert_int_equal(range.first[i].vcpu, vcpu == -2 ? VIRT_NONE : vcpu);
			assert_ptr_equal(virt_pcpu_at(model, pcpu, t, &at_end), &range.first[i]);
			assert_int_equal(at_end, end);
		}
	}
}

static void check_migrations(const struct truth *truth, const struct virt_model *model, int vcpu,
			     struct window window)
{
	struct virt_migration_range range;
	int last = VIRT_NONE, last_end = 0;
	size_t n = 0;

	range = virt_vcpu_migrations(model, vcpu, window.from, window.to);
	for (int t = truth->begin; t < truth->end; t++) {
		const struct moment *moment = &truth->vcpu[vcpu][t];

		if (!virt_state_on_pcpu(moment->state) || moment->pcpu == VIRT_NONE)
			continue;
		if (last != VIRT_NONE && last != moment->pcpu) {
			const struct virt_interval *at = virt_vcpu_at(model, vcpu, t, NULL);

			assert_true(at->flags & VIRT_INTERVAL_MIGRATED);
			if (t >= window.a && t < window.b) {
				assert_true(n < range.n);
				assert_int_equal(range.first[n].time_ns, t);
				assert_int_equal(range.first[n].gap_ns, t - last_end);
				assert_int_equal(range.first[n].vcpu, vcpu);
				assert_int_equal(range.first[n].from, last);
				assert_int_equal(range.first[n].to, moment->pcpu);
				n++;
			}
		}
		last = moment->pcpu;
		last_end = t + 1;
	}
	assert_int_equal(range.n, n);
}

/** What becomes of exit @i: @sum has what follows from single moments. Return: as complete. */
static bool follow(const struct truth *truth, int vcpu, int i, struct virt_exit *sum, int *end)
{
	const struct exit_op *exit = &truth->exit[vcpu][i];
	int next = i + 1 < truth->n_exits[vcpu] ? exit[1].time : LENGTH;
	int t = exit->time;

	*end = t;
	if (next == t || exit->state == VIRT_UNKNOWN)
		return false;
	for (; t < truth->end; t++) {
		const struct moment *moment = &truth->vcpu[vcpu][t];
		int state = moment->state;
		bool asleep = state == VIRT_BLOCKED || state == VIRT_OFFLINE;
		bool unasked = state == VIRT_DEVICE_MODEL ||
			       (asleep && moment->lasting & VIRT_INTERVAL_UNASKED);

		*end = t;
		if (t == next || state == VIRT_UNKNOWN)
			return false;
		if (state == VIRT_GUEST)
			return true;
		sum->state_ns[state]++;
		sum->cost_ns += state != VIRT_POLLING && (!asleep || unasked);
		sum->unasked_ns += unasked;
	}
	*end = t;
	return false;
}

static void check_exits(const struct truth *truth, const struct virt_model *model, int vcpu,
			struct window window)
{
	struct virt_exit_total expected[REASONS + 1] = { 0 }, total[REASONS + 2];
	size_t n, n_expected = 0, some = rnd(4);
	struct virt_exit exit;
	int64_t time = window.from;
	int last = -1;

	for (int i = 0; i < truth->n_exits[vcpu]; i++) {
		const struct exit_op *op = &truth->exit[vcpu][i];
		struct virt_exit_total *sum = &expected[op->reason + 1];
		struct virt_exit truly = { 0 };
		bool complete;
		int end;

		if (op->time < window.a || op->time >= window.b)
			continue;
		complete = follow(truth, vcpu, i, &truly, &end);
		n_expected += !sum->count++;
		if (complete) {
			sum->complete++;
			sum->ns += truly.cost_ns;
			if (truly.cost_ns > sum->max_ns)
				sum->max_ns = truly.cost_ns;
		}
		/* if several are at the same time, the first one is returned */
		if (op->time == last)
			continue;
		last = op->time;
		assert_true(virt_vcpu_next_exit(model, vcpu, time, &exit));
		assert_int_equal(exit.time_ns, op->time);
		assert_int_equal(exit.entry_ns, end);
		assert_int_equal(exit.reason, op->reason);
		assert_int_equal(exit.complete, complete);
		assert_memory_equal(exit.state_ns, truly.state_ns, sizeof(truly.state_ns));
		assert_int_equal(exit.unasked_ns, truly.unasked_ns);
		assert_int_equal(exit.cost_ns, truly.cost_ns);
		time = op->time + 1;
	}
	if (virt_vcpu_next_exit(model, vcpu, time, &exit))
		assert_true(exit.time_ns >= window.b);

	n = virt_vcpu_exits(model, vcpu, window.from, window.to, total, REASONS + 2);
	assert_int_equal(n, n_expected);
	for (size_t i = 0; i < n; i++) {
		const struct virt_exit_total *sum = &expected[total[i].reason + 1];

		assert_int_equal(total[i].count, sum->count);
		assert_int_equal(total[i].complete, sum->complete);
		assert_int_equal(total[i].ns, sum->ns);
		assert_int_equal(total[i].max_ns, sum->max_ns);
		if (i)
			assert_true(total[i - 1].ns > total[i].ns ||
				    (total[i - 1].ns == total[i].ns &&
				     total[i - 1].count >= total[i].count));
	}
	/* a short answer is the beginning of the long one */
	if (some <= n) {
		struct virt_exit_total few[4];

		assert_int_equal(virt_vcpu_exits(model, vcpu, window.from, window.to, few, some),
				 n);
		for (size_t i = 0; i < some; i++)
			assert_int_equal(few[i].reason, total[i].reason);
	}
}

/** Where @who is counted. */
static int slot(int who)
{
	return who < 0 ? 0 : who < VIRT_FIRST_TASK ? 1 + who :
	       1 + MAX_VCPUS + who - VIRT_FIRST_TASK;
}

static void check_culprits(const struct truth *truth, const struct virt_model *model, int vcpu,
			   struct window window)
{
	int64_t expected[1 + MAX_VCPUS + TASKS] = { 0 };
	struct virt_culprit culprit[2 + MAX_VCPUS + TASKS], first;
	size_t n, n_expected = 0;

	for (int t = window.a; t < window.b; t++) {
		const struct moment *moment = &truth->vcpu[vcpu][t];
		int who = VIRT_NONE;

		if (moment->state != VIRT_PREEMPTED)
			continue;
		if (moment->pcpu != VIRT_NONE)
			who = truth->occupant[moment->pcpu][t];
		expected[slot(who)]++;
	}
	for (int i = 0; i < 1 + MAX_VCPUS + TASKS; i++)
		n_expected += expected[i] > 0;
	n = virt_vcpu_culprits(model, vcpu, window.from, window.to, culprit,
			       2 + MAX_VCPUS + TASKS);
	assert_int_equal(n, n_expected);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(culprit[i].ns, expected[slot(culprit[i].vcpu)]);
		if (i)
			assert_true(culprit[i - 1].ns >= culprit[i].ns);
	}
	assert_int_equal(virt_vcpu_culprits(model, vcpu, window.from, window.to, &first, 1), n);
	if (n)
		assert_int_equal(first.vcpu, culprit[0].vcpu);
}

/** xenalyze's definition, moment by moment. */
static enum virt_machine_state machine_state(const struct truth *truth, int id, int t)
{
	int run = 0, want = 0, sleep = 0;

	for (int i = 0; i < truth->n_vcpus; i++) {
		if (truth->machine[i] == id &&
		    truth->vcpu[i][t].lasting & VIRT_INTERVAL_UNSPLIT)
			return VIRT_M_LOST;
		if (truth->machine[i] != id)
			continue;
		switch (truth->vcpu[i][t].state) {
		case VIRT_GUEST: case VIRT_HYPERVISOR: case VIRT_POLLING: case VIRT_VMM:
			run++;
			break;
		case VIRT_PREEMPTED: case VIRT_WAKING:
			want++;
			break;
		case VIRT_BLOCKED: case VIRT_DEVICE_MODEL: case VIRT_OFFLINE:
			sleep++;
			break;
		}
	}
	if (!run && !want && !sleep)
		return VIRT_M_LOST;
	if (run && want)
		return VIRT_M_CONCURRENCY_HAZARD;
	if (run)
		return sleep ? VIRT_M_PARTIAL_RUN : VIRT_M_FULL_RUN;
	if (want)
		return sleep ? VIRT_M_PARTIAL_CONTENTION : VIRT_M_FULL_CONTENTION;
	return VIRT_M_BLOCKED;
}

static void check_machine(const struct truth *truth, const struct virt_model *model, int index,
			  struct window window)
{
	const struct virt_machine *machine = virt_model_machine(model, index);
	struct virt_machine_range range, all;
	struct virt_machine_totals expected = { 0 }, totals;

	assert_int_equal(machine->id, index + 1);
	for (int i = 0; i < machine->n_vcpus; i++) {
		const struct virt_vcpu *vcpu = virt_model_vcpu(model, machine->vcpus[i]);

		assert_int_equal(vcpu->machine, index);
		assert_int_equal(truth->machine[machine->vcpus[i]], machine->id);
		/* vCPUs were given in descending order of their numbers */
		if (i)
			assert_true(machine->vcpus[i - 1] > machine->vcpus[i]);
	}
	range = virt_machine_intervals(model, index, window.from, window.to);
	if (window.a >= window.b)
		assert_int_equal(range.n, 0);
	else
		assert_true(range.n > 0 && range.first->start_ns <= window.a &&
			    range.end_ns >= window.b);
	for (size_t i = 0; i < range.n; i++) {
		int64_t start = range.first[i].start_ns;
		int64_t end = i + 1 < range.n ? range.first[i + 1].start_ns : range.end_ns;

		assert_true(end > start && start < window.b && end > window.a);
		if (i)
			assert_int_not_equal(range.first[i].state, range.first[i - 1].state);
		for (int t = start; t < end; t++)
			assert_int_equal(range.first[i].state,
					 machine_state(truth, machine->id, t));
	}
	virt_machine_totals(model, index, window.from, window.to, &totals);
	for (int t = window.a; t < window.b; t++)
		expected.ns[machine_state(truth, machine->id, t)]++;
	all = virt_machine_intervals(model, index, INT64_MIN, INT64_MAX);
	for (size_t i = 0; i < all.n; i++)
		if (all.first[i].start_ns >= window.a && all.first[i].start_ns < window.b)
			expected.count[all.first[i].state]++;
	assert_memory_equal(&totals, &expected, sizeof(totals));
}

/** Columns are windows side by side. */
static void check_columns(const struct truth *truth, const struct virt_model *model,
			  struct window window)
{
	int64_t columns[100][VIRT_N_STATES];
	struct virt_totals totals;
	struct virt_pcpu_totals pcpu_columns[100], pcpu_totals;
	size_t n = 1 + rnd(100);
	int vcpu = rnd(truth->n_vcpus), pcpu = rnd(truth->n_pcpus);

	virt_vcpu_columns(model, vcpu, window.from, window.to, columns, n);
	virt_pcpu_columns(model, pcpu, window.from, window.to, pcpu_columns, n);
	for (size_t i = 0; i < n; i++) {
		int64_t length = window.to > window.from ? window.to - window.from : 0;
		int64_t from = window.from + length * (int64_t)i / (int64_t)n;
		int64_t to = window.from + length * (int64_t)(i + 1) / (int64_t)n;

		virt_vcpu_totals(model, vcpu, from, to, &totals);
		assert_memory_equal(columns[i], totals.ns, sizeof(totals.ns));
		virt_pcpu_totals(model, pcpu, from, to, &pcpu_totals);
		assert_memory_equal(&pcpu_columns[i], &pcpu_totals, sizeof(pcpu_totals));
	}
}

static void check_window(const struct truth *truth, const struct virt_model *model)
{
	struct window window = random_window(truth);

	for (int i = 0; i < truth->n_vcpus; i++) {
		check_totals(truth, model, i, window);
		check_migrations(truth, model, i, window);
		check_exits(truth, model, i, window);
		check_culprits(truth, model, i, window);
	}
	for (int i = 0; i < truth->n_pcpus; i++)
		check_pcpu(truth, model, i, window);
	for (int i = 0; i < truth->n_machines; i++)
		check_machine(truth, model, i, window);
	check_columns(truth, model, window);
}

static void test_random(void **state)
{
	static struct truth truth;

	(void)state;
	for (int i = 1; i <= SEEDS; i++) {
		struct virt_model *model;

		seed = i * 0x9e3779b97f4a7c15ULL;
		model = make(&truth);
		for (int v = 0; v < truth.n_vcpus; v++) {
			check_intervals(&truth, model, v);
			assert_int_equal(virt_model_find_vcpu(model, 1000 - v), v);
		}
		for (int w = 0; w < WINDOWS; w++)
			check_window(&truth, model);
		virt_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
