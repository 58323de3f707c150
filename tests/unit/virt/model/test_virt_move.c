// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_move.c
 * @brief	The phases of a migration between two hand-made hosts, worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "hand_model.h"
#include "virt_move.h"

#define EXIT	VIRT_INTERVAL_EXIT
#define NONE	VIRT_NONE
#define MS	INT64_C(1000000)

/**
 * The source, in ms, on [0, 8000):
 *
 *  v0	   0 GUEST	on pCPU 0
 *	3000 HYPERVISOR	NPF, 1 ms
 *	3001 GUEST
 *	4000 HYPERVISOR	INTR, 1 ms
 *	4001 VMM	1 ms
 *	4002 BLOCKED	98 ms: throttled
 *	4100 WAKING	1 ms
 *	4101 HYPERVISOR	1 ms
 *	4102 GUEST
 *	5000 HYPERVISOR	INTR, or HLT if @idle
 *	5001 VMM
 *	5002 OFFLINE
 *
 *  v1	   0 GUEST	on pCPU 1
 *	1000 HYPERVISOR	HLT, 1 ms
 *	1001 BLOCKED	as its guest wants
 *	4990 WAKING	1 ms
 *	4991 GUEST	8 ms
 *	4999 HYPERVISOR	HLT
 *	5000 BLOCKED
 *	5002 OFFLINE
 *
 *  The monitor's migration thread is on pCPU 2 from 2500 to 2600, and from 5100 to 5150.
 */
static struct virt_model *make_source(bool idle, bool thread)
{
	struct virt_model *model = virt_model_new();
	int32_t machine = virt_model_add_machine(model, 1, "g1:web");
	int32_t npf = virt_model_add_reason(model, "NPF");
	int32_t hlt = virt_model_add_reason(model, "HLT");
	int32_t intr = virt_model_add_reason(model, "INTR");
	int32_t task = virt_model_add_task(model, 77, "live_migration-77");

	assert_int_equal(virt_model_add_vcpu(model, machine, 0, 100, "web v0"), 0);
	assert_int_equal(virt_model_add_vcpu(model, machine, 1, 101, "web v1"), 1);
	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 3000 * MS, VIRT_HYPERVISOR, 0, npf, EXIT);
	set(model, 0, 3001 * MS, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 4000 * MS, VIRT_HYPERVISOR, 0, intr, EXIT);
	set(model, 0, 4001 * MS, VIRT_VMM, 0, intr, 0);
	set(model, 0, 4002 * MS, VIRT_BLOCKED, 0, NONE, 0);
	set(model, 0, 4100 * MS, VIRT_WAKING, 0, NONE, 0);
	set(model, 0, 4101 * MS, VIRT_HYPERVISOR, 0, NONE, 0);
	set(model, 0, 4102 * MS, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 5000 * MS, VIRT_HYPERVISOR, 0, idle ? hlt : intr, EXIT);
	set(model, 0, 5001 * MS, VIRT_VMM, 0, intr, 0);
	set(model, 0, 5002 * MS, VIRT_OFFLINE, 0, NONE, 0);
	set(model, 1, 0, VIRT_GUEST, 1, NONE, 0);
	set(model, 1, 1000 * MS, VIRT_HYPERVISOR, 1, hlt, EXIT);
	set(model, 1, 1001 * MS, VIRT_BLOCKED, 1, NONE, 0);
	set(model, 1, 4990 * MS, VIRT_WAKING, 1, NONE, 0);
	set(model, 1, 4991 * MS, VIRT_GUEST, 1, NONE, 0);
	set(model, 1, 4999 * MS, VIRT_HYPERVISOR, 1, hlt, EXIT);
	set(model, 1, 5000 * MS, VIRT_BLOCKED, 1, NONE, 0);
	set(model, 1, 5002 * MS, VIRT_OFFLINE, 1, NONE, 0);
	if (thread)
		assert_int_equal(virt_model_own_task(model, task, machine, "web",
						     VIRT_THREAD_MIGRATION, VIRT_THREAD_OF_SIDECAR),
				 0);
	assert_int_equal(virt_model_occupy(model, 2, 0, NONE, true), 0);
	assert_int_equal(virt_model_occupy(model, 2, 2500 * MS, task, true), 0);
	assert_int_equal(virt_model_occupy(model, 2, 2600 * MS, NONE, true), 0);
	assert_int_equal(virt_model_occupy(model, 2, 5100 * MS, task, true), 0);
	assert_int_equal(virt_model_occupy(model, 2, 5150 * MS, NONE, true), 0);
	assert_int_equal(virt_model_finish(model, 0, 8000 * MS), 0);
	return model;
}

/** Source time = target time - 95 s. */
#define OFFSET	(-95000 * MS)

/**
 * The target, in ms, on [@begin_ms, 101000): v0 runs from 100300 on, v1 from 100310 on; v0 has
 * a NPF of 1 ms each 10 ms, @n of them.
 */
static struct virt_model *make_target(int64_t begin_ms, int n)
{
	struct virt_model *model = virt_model_new();
	int32_t machine = virt_model_add_machine(model, 5, "g5:web");
	int32_t npf = virt_model_add_reason(model, "NPF");

	assert_int_equal(virt_model_add_vcpu(model, machine, 0, 200, "web v0"), 0);
	assert_int_equal(virt_model_add_vcpu(model, machine, 1, 201, "web v1"), 1);
	set(model, 0, 100300 * MS, VIRT_GUEST, 0, NONE, 0);
	for (int i = 0; i < n; i++) {
		int64_t at = (100301 + 10 * (int64_t)i) * MS;

		set(model, 0, at, VIRT_HYPERVISOR, 0, npf, EXIT);
		set(model, 0, at + MS, VIRT_GUEST, 0, NONE, 0);
	}
	set(model, 1, 100310 * MS, VIRT_GUEST, 1, NONE, 0);
	assert_int_equal(virt_model_finish(model, begin_ms * MS, 101000 * MS), 0);
	return model;
}

/** Clocks that agree within @within_ns; negative: unknown. */
static struct virt_move_clock make_clock(int64_t offset_ns, int64_t within_ns)
{
	return (struct virt_move_clock){
		.known = true, .offset_ns = offset_ns,
		.least_ns = within_ns < 0 ? VIRT_MOVE_OPEN_LEAST : offset_ns - within_ns,
		.most_ns = within_ns < 0 ? VIRT_MOVE_OPEN_MOST : offset_ns + within_ns,
	};
}

static void free_both(struct virt_move_host hosts[])
{
	for (int side = 0; side < VIRT_MOVE_N_SIDES; side++)
		virt_model_free((struct virt_model *)hosts[side].model);
}

static void find(struct virt_move_host hosts[], const struct virt_move_clock *clock,
		 struct virt_move *move)
{
	enum virt_move_side missing;

	assert_int_equal(virt_move_find(hosts, clock, move, &missing), 0);
}

static void assert_span(const struct virt_move *move, enum virt_move_phase phase, int64_t from_ms,
			int64_t to_ms)
{
	assert_int_equal(move->phases[phase].from_ns, from_ms * MS);
	assert_int_equal(move->phases[phase].to_ns, to_ms * MS);
}

/** Phases have no gaps; the states of each vCPU fill each phase. */
static void assert_laws(const struct virt_move_host hosts[], const struct virt_move *move)
{
	struct virt_move_costs costs;

	assert_int_equal(virt_move_costs_make(hosts, move, &costs), 0);
	for (int phase = 0; phase < VIRT_MOVE_N_PHASES; phase++) {
		const struct virt_move_span *span = &move->phases[phase];
		int64_t sum_ns[VIRT_N_STATES] = { 0 };

		assert_true(span->from_ns <= span->to_ns);
		assert_true(span->least_ns <= span->to_ns - span->from_ns);
		assert_true(span->most_ns >= span->to_ns - span->from_ns);
		if (phase)
			assert_int_equal(span->from_ns, span[-1].to_ns);
		for (int32_t i = 1; i <= costs.n_vcpus; i++) {
			const struct virt_move_cost *cost = &costs.cost[phase][i];
			int64_t ns = 0;

			for (int state = 0; state < VIRT_N_STATES; state++) {
				ns += cost->ns[state];
				sum_ns[state] += cost->ns[state];
			}
			assert_int_equal(ns, span->to_ns - span->from_ns);
			assert_true(cost->steal_ns + cost->stopped_ns <= cost->lost_ns);
			assert_true(cost->lost_ns <= ns);
		}
		for (int state = 0; state < VIRT_N_STATES; state++)
			assert_int_equal(costs.cost[phase][0].ns[state], sum_ns[state]);
	}
	virt_move_costs_free(&costs);
}

static void test_phases(void **state)
{
	struct virt_move_host hosts[] = { { make_source(false, true), 0 },
					  { make_target(98000, 10), 0 } };
	struct virt_move_clock clock = make_clock(OFFSET, 5 * MS);
	const struct virt_move_cost *cost;
	struct virt_move_costs costs;
	struct virt_move move;

	(void)state;
	find(hosts, &clock, &move);
	assert_int_equal(move.lacks, 0);
	assert_int_equal(move.sign, VIRT_MOVE_SIGN_THREAD);
	assert_span(&move, VIRT_MOVE_BEFORE, 0, 2500);
	assert_span(&move, VIRT_MOVE_BROWN_OUT, 2500, 5000);
	assert_span(&move, VIRT_MOVE_BLACKOUT, 5000, 5300);
	assert_span(&move, VIRT_MOVE_BROWN_IN, 5300, 5400);
	assert_span(&move, VIRT_MOVE_AFTER, 5400, 6000);
	assert_int_equal(move.phases[VIRT_MOVE_BLACKOUT].least_ns, 295 * MS);
	assert_int_equal(move.phases[VIRT_MOVE_BLACKOUT].most_ns, 305 * MS);
	assert_int_equal(move.monitor_ns[VIRT_MOVE_SOURCE], 50 * MS);
	/* no thread of the monitor is known there */
	assert_int_equal(move.monitor_ns[VIRT_MOVE_TARGET], VIRT_NONE);
	assert_laws(hosts, &move);

	assert_int_equal(virt_move_costs_make(hosts, &move, &costs), 0);
	assert_int_equal(costs.n_vcpus, 2);
	assert_int_equal(costs.ids[0], 0);
	assert_int_equal(costs.ids[1], 1);
	cost = &costs.cost[VIRT_MOVE_BROWN_OUT][1];
	assert_int_equal(cost->stopped_ns, 98 * MS);
	assert_int_equal(cost->steal_ns, 1 * MS);
	assert_int_equal(cost->lost_ns, 103 * MS);
	assert_int_equal(cost->faults, 1);
	assert_int_equal(cost->fault_ns, 1 * MS);
	assert_true(cost->dirty_known);
	assert_int_equal(cost->dirty, 0);
	/* it slept as its guest wanted */
	assert_int_equal(costs.cost[VIRT_MOVE_BROWN_OUT][2].stopped_ns, 0);
	assert_int_equal(costs.cost[VIRT_MOVE_BROWN_OUT][2].lost_ns, 2 * MS);
	cost = costs.cost[VIRT_MOVE_BLACKOUT];
	assert_int_equal(cost[0].lost_ns, 600 * MS);
	assert_int_equal(cost[1].last_run_ns, 5000 * MS);
	assert_int_equal(cost[1].first_run_ns, 5300 * MS);
	assert_int_equal(cost[2].last_run_ns, 4999 * MS);
	assert_int_equal(cost[2].first_run_ns, 5310 * MS);
	assert_int_equal(costs.cost[VIRT_MOVE_BROWN_IN][0].faults, 10);
	assert_int_equal(costs.cost[VIRT_MOVE_AFTER][0].faults, 0);
	virt_move_costs_free(&costs);
	free_both(hosts);
}

/** What the clocks leave open, and what they cannot be. */
static void test_clocks(void **state)
{
	struct virt_move_host hosts[] = { { make_source(false, true), 0 },
					  { make_target(98000, 10), 0 } };
	struct virt_move_clock clock = make_clock(OFFSET, -1);
	const struct virt_move_span *blackout;
	struct virt_move move;

	(void)state;
	blackout = &move.phases[VIRT_MOVE_BLACKOUT];
	find(hosts, &clock, &move);
	assert_int_equal(move.lacks, VIRT_MOVE_NO_BOUND);
	assert_span(&move, VIRT_MOVE_BLACKOUT, 5000, 5300);
	assert_int_equal(blackout->least_ns, 0);
	assert_int_equal(blackout->most_ns, VIRT_MOVE_OPEN_MOST);
	assert_laws(hosts, &move);

	/* causality is the nearer limit */
	clock = make_clock(OFFSET - 299 * MS, 5 * MS);
	find(hosts, &clock, &move);
	assert_int_equal(blackout->least_ns, 0);
	assert_int_equal(blackout->most_ns, 6 * MS);
	assert_span(&move, VIRT_MOVE_BLACKOUT, 5000, 5001);
	clock = make_clock(OFFSET - 302 * MS, 5 * MS);
	find(hosts, &clock, &move);
	assert_int_equal(move.lacks, 0);
	assert_span(&move, VIRT_MOVE_BLACKOUT, 5000, 5000);
	assert_int_equal(blackout->most_ns, 3 * MS);
	assert_laws(hosts, &move);

	/* on both hosts at once */
	clock = make_clock(OFFSET - 400 * MS, 5 * MS);
	find(hosts, &clock, &move);
	assert_true(move.lacks & VIRT_MOVE_CONTRADICTION);
	assert_true(move.lacks & VIRT_MOVE_NO_BOUND);
	assert_false(move.clock.known);
	assert_int_equal(blackout->least_ns, 0);
	assert_int_equal(blackout->most_ns, VIRT_MOVE_OPEN_MOST);
	assert_laws(hosts, &move);

	clock = make_clock(OFFSET - 301 * MS, -1);
	find(hosts, &clock, &move);
	assert_true(move.lacks & VIRT_MOVE_CONTRADICTION);

	/* nor can it be that far */
	clock = make_clock(INT64_MAX, -1);
	find(hosts, &clock, &move);
	assert_true(move.lacks & VIRT_MOVE_NO_CLOCK);

	clock = (struct virt_move_clock){ .known = false };
	find(hosts, &clock, &move);
	assert_true(move.lacks & VIRT_MOVE_NO_CLOCK);
	assert_false(move.clock.known);
	assert_laws(hosts, &move);

	/* read 10 s before on the source, and 30 s after on the target: 500 ppm of 40 s */
	clock = make_clock(OFFSET, 5 * MS);
	clock.drifts = true;
	clock.at_ns[VIRT_MOVE_SOURCE] = -5000 * MS;
	clock.at_ns[VIRT_MOVE_TARGET] = 130300 * MS;
	find(hosts, &clock, &move);
	assert_int_equal(blackout->least_ns, 275 * MS - 1);
	assert_int_equal(blackout->most_ns, 325 * MS + 1);
	free_both(hosts);
}

/** What the ends of the traces hide. */
static void test_lacks(void **state)
{
	struct virt_move_clock clock = make_clock(OFFSET, 5 * MS);
	enum virt_move_side missing;
	struct virt_move move;

	(void)state;
	/* all vCPUs slept; no thread is known; the target's trace begins in the blackout */
	struct virt_move_host hosts[] = { { make_source(true, false), 0 },
					  { make_target(100250, 60), 0 } };

	find(hosts, &clock, &move);
	assert_true(move.lacks & VIRT_MOVE_IDLE);
	assert_true(move.lacks & VIRT_MOVE_NO_SIGN);
	assert_true(move.lacks & VIRT_MOVE_CUT_START);
	assert_true(move.lacks & VIRT_MOVE_NO_RATE);
	assert_int_equal(move.phases[VIRT_MOVE_BLACKOUT].least_ns, 0);
	assert_int_equal(move.phases[VIRT_MOVE_BROWN_OUT].least_ns, 0);
	assert_int_equal(move.phases[VIRT_MOVE_BROWN_IN].most_ns, VIRT_MOVE_OPEN_MOST);
	assert_span(&move, VIRT_MOVE_BROWN_OUT, 0, 5000);
	assert_span(&move, VIRT_MOVE_BROWN_IN, 5300, 6000);
	assert_laws(hosts, &move);

	/* a machine that runs on the source alone */
	hosts[VIRT_MOVE_TARGET].machine = 1;
	assert_int_equal(virt_move_find(hosts, &clock, &move, &missing), -ENODATA);
	assert_int_equal(missing, VIRT_MOVE_TARGET);
	hosts[VIRT_MOVE_TARGET].machine = 0;
	free_both(hosts);

	/* its brown-in is not over */
	hosts[VIRT_MOVE_SOURCE].model = make_source(false, true);
	hosts[VIRT_MOVE_TARGET].model = make_target(98000, 70);
	find(hosts, &clock, &move);
	assert_int_equal(move.lacks, VIRT_MOVE_CUT_END);
	assert_int_equal(move.phases[VIRT_MOVE_BROWN_IN].least_ns, 700 * MS);
	assert_int_equal(move.phases[VIRT_MOVE_BROWN_IN].most_ns, VIRT_MOVE_OPEN_MOST);
	free_both(hosts);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(virt_move_phase_name(VIRT_MOVE_BROWN_IN), "brown-in");
	assert_null(virt_move_phase_name(VIRT_MOVE_N_PHASES));
	assert_null(virt_move_sign_name(VIRT_MOVE_SIGN_NONE));
	assert_string_equal(virt_move_sign_name(VIRT_MOVE_SIGN_DIRTY), "dirty logging");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_lacks),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
