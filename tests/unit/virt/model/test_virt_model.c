// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_model.c
 * @brief	Hand-made timelines of vCPUs; the figures were worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hand_model.h"
#include "virt_window.h"

#define EXIT	VIRT_INTERVAL_EXIT
#define NONE	VIRT_NONE
#define ON_PCPU	VIRT_INTERVAL_ON_PCPU

/**
 * One vCPU through every state, on the axis [100, 1100):
 *
 *	100 UNKNOWN	nothing said yet			 50
 *	150 OFFLINE	created					 50
 *	200 WAKING						 30
 *	230 GUEST	on pCPU 2				170
 *	400 HYPERVISOR	exit IO					 20
 *	420 VMM		the same exit				 80
 *	500 GUEST						100
 *	600 PREEMPTED	by vCPU 1				 60
 *	660 GUEST						 40
 *	700 HYPERVISOR	exit HLT				  5
 *	705 BLOCKED						195
 *	900 WAKING						 10
 *	910 HYPERVISOR	on pCPU 3: migrated, 205 after 705	 10
 *	920 GUEST						 80
 *	1000 UNKNOWN	lost					100
 */
static struct virt_model *one_life(void)
{
	struct virt_model *model = with_vcpus(2);
	int32_t io = virt_model_add_reason(model, "IO"), hlt = virt_model_add_reason(model, "HLT");

	set(model, 0, 150, VIRT_OFFLINE, NONE, NONE, 0);
	set(model, 0, 200, VIRT_WAKING, NONE, NONE, 0);
	set(model, 0, 230, VIRT_GUEST, 2, NONE, 0);
	set(model, 0, 400, VIRT_HYPERVISOR, 2, io, EXIT);
	set(model, 0, 420, VIRT_VMM, 2, io, 0);
	set(model, 0, 500, VIRT_GUEST, 2, NONE, 0);
	set(model, 0, 600, VIRT_PREEMPTED, 2, 1, 0);
	set(model, 0, 660, VIRT_GUEST, 2, NONE, 0);
	set(model, 0, 700, VIRT_HYPERVISOR, 2, hlt, EXIT);
	set(model, 0, 705, VIRT_BLOCKED, 2, NONE, 0);
	set(model, 0, 900, VIRT_WAKING, 2, NONE, 0);
	set(model, 0, 910, VIRT_HYPERVISOR, 3, NONE, 0);
	set(model, 0, 920, VIRT_GUEST, 3, NONE, 0);
	set(model, 0, 1000, VIRT_UNKNOWN, 3, NONE, 0);
	assert_int_equal(virt_model_finish(model, 100, 1100), 0);
	return model;
}

static void check_totals(const struct virt_model *model, int64_t from, int64_t to,
			 struct virt_totals expected)
{
	struct virt_totals totals;

	virt_vcpu_totals(model, 0, from, to, &totals);
	assert_memory_equal(&totals, &expected, sizeof(totals));
}

static void test_every_state(void **state)
{
	struct virt_model *model = one_life();
	const struct virt_interval *at;
	int64_t end;

	(void)state;
	assert_int_equal(virt_model_begin(model), 100);
	assert_int_equal(virt_model_end(model), 1100);
	assert_int_equal(virt_model_n_pcpus(model), 4);
	/* GUEST 170 + 100 + 40 + 80, HYPERVISOR 20 + 5 + 10, UNKNOWN 50 + 100, WAKING 30 + 10 */
	check_totals(model, INT64_MIN, INT64_MAX, (struct virt_totals){
		.ns = { 390, 35, 0, 80, 60, 40, 195, 0, 50, 150 },
		.count = { 4, 3, 0, 1, 1, 2, 1, 0, 1, 2 },
	});
	/* GUEST 390..400 is not counted, it began before; of GUEST 500..600 there are 10 ns */
	check_totals(model, 390, 510, (struct virt_totals){
		.ns = { [VIRT_GUEST] = 20, [VIRT_HYPERVISOR] = 20, [VIRT_VMM] = 80 },
		.count = { [VIRT_GUEST] = 1, [VIRT_HYPERVISOR] = 1, [VIRT_VMM] = 1 },
	});
	/* within one interval */
	check_totals(model, 300, 301, (struct virt_totals){ .ns = { [VIRT_GUEST] = 1 } });
	at = virt_vcpu_at(model, 0, 699, &end);
	assert_int_equal(at->start_ns, 660);
	assert_int_equal(at->state, VIRT_GUEST);
	assert_int_equal(end, 700);
	at = virt_vcpu_at(model, 0, 600, NULL);
	assert_int_equal(at->state, VIRT_PREEMPTED);
	assert_int_equal(at->detail, 1);
	/* the other one: never seen */
	at = virt_vcpu_at(model, 1, 100, &end);
	assert_int_equal(at->state, VIRT_UNKNOWN);
	assert_int_equal(at->pcpu, NONE);
	assert_int_equal(end, 1100);
	virt_model_free(model);
}

static void test_windows_outside(void **state)
{
	struct virt_model *model = one_life();
	struct virt_interval_range range;
	struct virt_pcpu_totals totals;
	struct virt_culprit culprit;
	struct virt_exit exit;

	(void)state;
	check_totals(model, 0, 100, (struct virt_totals){ .ns = { 0 } });
	check_totals(model, 1100, 2000, (struct virt_totals){ .ns = { 0 } });
	check_totals(model, 500, 500, (struct virt_totals){ .ns = { 0 } });
	check_totals(model, 600, 500, (struct virt_totals){ .ns = { 0 } });
	check_totals(model, 0, 101, (struct virt_totals){
		.ns = { [VIRT_UNKNOWN] = 1 }, .count = { [VIRT_UNKNOWN] = 1 },
	});
	check_totals(model, 1099, 5000, (struct virt_totals){ .ns = { [VIRT_UNKNOWN] = 1 } });
	assert_null(virt_vcpu_at(model, 0, 99, NULL));
	assert_null(virt_vcpu_at(model, 0, 1100, NULL));
	assert_null(virt_pcpu_at(model, 2, 99, NULL));
	assert_null(virt_pcpu_at(model, 2, 1100, NULL));
	assert_int_equal(virt_vcpu_intervals(model, 0, 0, 100).n, 0);
	assert_int_equal(virt_vcpu_intervals(model, 0, 1100, 1200).n, 0);
	assert_int_equal(virt_pcpu_occupants(model, 2, 1100, 1200).n, 0);
	assert_int_equal(virt_machine_intervals(model, 0, 0, 100).n, 0);
	assert_int_equal(virt_vcpu_migrations(model, 0, 0, 100).n, 0);
	assert_int_equal(virt_vcpu_exits(model, 0, 0, 100, NULL, 0), 0);
	assert_int_equal(virt_vcpu_culprits(model, 0, 0, 100, &culprit, 1), 0);
	assert_false(virt_vcpu_next_exit(model, 0, 701, &exit));
	assert_false(virt_vcpu_next_exit(model, 0, 1100, &exit));
	assert_true(virt_vcpu_next_exit(model, 0, INT64_MIN, &exit));
	/* a window is cut to the trace: 10 ns without any record */
	virt_pcpu_totals(model, 2, 1090, 9999, &totals);
	assert_int_equal(totals.unknown_ns, 10);
	/* the interval that is cut at the front belongs to it, whole */
	range = virt_vcpu_intervals(model, 0, 410, 430);
	assert_int_equal(range.n, 2);
	assert_int_equal(range.first[0].start_ns, 400);
	assert_int_equal(range.end_ns, 500);
	virt_model_free(model);
}

static void test_no_such_number(void **state)
{
	struct virt_model *model = one_life();
	struct virt_totals totals;
	struct virt_pcpu_totals pcpu_totals;
	struct virt_machine_totals machine_totals;
	struct virt_exit exit;

	(void)state;
	for (int i = -1; i <= 4; i += 5) {
		assert_null(virt_model_machine(model, i));
		assert_null(virt_model_vcpu(model, i));
		assert_null(virt_model_reason(model, i));
		assert_null(virt_vcpu_at(model, i, 500, NULL));
		assert_null(virt_pcpu_at(model, i, 500, NULL));
		assert_int_equal(virt_vcpu_intervals(model, i, 0, 2000).n, 0);
		assert_int_equal(virt_pcpu_occupants(model, i, 0, 2000).n, 0);
		assert_int_equal(virt_machine_intervals(model, i, 0, 2000).n, 0);
		assert_int_equal(virt_vcpu_migrations(model, i, 0, 2000).n, 0);
		assert_int_equal(virt_vcpu_exits(model, i, 0, 2000, NULL, 0), 0);
		assert_int_equal(virt_vcpu_culprits(model, i, 0, 2000, NULL, 0), 0);
		assert_false(virt_vcpu_next_exit(model, i, 0, &exit));
		virt_vcpu_totals(model, i, 0, 2000, &totals);
		assert_int_equal(totals.ns[VIRT_UNKNOWN], 0);
		virt_pcpu_totals(model, i, 0, 2000, &pcpu_totals);
		assert_int_equal(pcpu_totals.unknown_ns, 0);
		virt_machine_totals(model, i, 0, 2000, &machine_totals);
		assert_int_equal(machine_totals.ns[VIRT_M_LOST], 0);
	}
	assert_int_equal(virt_model_find_vcpu(model, 20001), 1);
	assert_int_equal(virt_model_find_vcpu(model, 20002), NONE);
	assert_int_equal(virt_model_find_vcpu(model, 0), NONE);
	virt_model_free(model);
}

static void test_migration(void **state)
{
	struct virt_model *model = one_life();
	struct virt_migration_range range = virt_vcpu_migrations(model, 0, 0, 2000);

	(void)state;
	/* it was on a pCPU for the last time until 705 */
	assert_int_equal(range.n, 1);
	assert_int_equal(range.first->time_ns, 910);
	assert_int_equal(range.first->gap_ns, 205);
	assert_int_equal(range.first->vcpu, 0);
	assert_int_equal(range.first->from, 2);
	assert_int_equal(range.first->to, 3);
	assert_int_equal(virt_vcpu_at(model, 0, 910, NULL)->flags, VIRT_INTERVAL_MIGRATED);
	assert_int_equal(virt_vcpu_at(model, 0, 920, NULL)->flags, 0);
	assert_int_equal(virt_vcpu_migrations(model, 0, 910, 911).n, 1);
	assert_int_equal(virt_vcpu_migrations(model, 0, 911, 2000).n, 0);
	assert_int_equal(virt_vcpu_migrations(model, 0, 0, 910).n, 0);
	virt_model_free(model);
}

/** Only runs show where a vCPU is: a wait elsewhere, or a run at an unknown place, is no move. */
static void test_no_migration(void **state)
{
	struct virt_model *model = with_vcpus(1);

	(void)state;
	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 10, VIRT_WAKING, 1, NONE, 0);
	set(model, 0, 20, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 30, VIRT_GUEST, NONE, NONE, 0);
	set(model, 0, 40, VIRT_GUEST, 0, NONE, 0);
	/* taken back at the same time: it never ran on pCPU 3 */
	set(model, 0, 50, VIRT_GUEST, 3, NONE, 0);
	set(model, 0, 50, VIRT_GUEST, 0, NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 60), 0);
	assert_int_equal(virt_vcpu_migrations(model, 0, 0, 60).n, 0);
	assert_int_equal(virt_vcpu_intervals(model, 0, 0, 60).n, 5);
	virt_model_free(model);
}

static void test_exits(void **state)
{
	struct virt_model *model = one_life();
	struct virt_exit_total total[3];
	struct virt_exit exit;

	(void)state;
	/* IO: 20 + 80. HLT: 5 before it blocks, 10 waking and 10 until the entry at 920 */
	assert_int_equal(virt_vcpu_exits(model, 0, 0, 2000, total, 3), 2);
	assert_string_equal(virt_model_reason(model, total[0].reason), "IO");
	assert_int_equal(total[0].count, 1);
	assert_int_equal(total[0].complete, 1);
	assert_int_equal(total[0].ns, 100);
	assert_int_equal(total[0].max_ns, 100);
	assert_string_equal(virt_model_reason(model, total[1].reason), "HLT");
	assert_int_equal(total[1].ns, 25);
	/* an exit belongs to the window where it begins, whole */
	assert_int_equal(virt_vcpu_exits(model, 0, 650, 710, total, 3), 1);
	assert_int_equal(total[0].ns, 25);
	assert_int_equal(virt_vcpu_exits(model, 0, 401, 700, total, 3), 0);
	assert_int_equal(virt_vcpu_exits(model, 0, 0, 2000, NULL, 0), 2);

	assert_true(virt_vcpu_next_exit(model, 0, 401, &exit));
	assert_int_equal(exit.time_ns, 700);
	assert_int_equal(exit.entry_ns, 920);
	assert_true(exit.complete);
	assert_int_equal(exit.state_ns[VIRT_HYPERVISOR], 15);
	assert_int_equal(exit.state_ns[VIRT_BLOCKED], 195);
	assert_int_equal(exit.state_ns[VIRT_WAKING], 10);
	assert_int_equal(exit.state_ns[VIRT_GUEST], 0);
	virt_model_free(model);
}

/** Exits whose entry the trace does not have are counted, and have no cost. */
static void test_incomplete_exits(void **state)
{
	static const struct { int64_t time, entry; int32_t reason; bool complete; } expected[] = {
		{ 10, 20, 0, false },		/* the next exit comes first */
		{ 20, 30, 0, false },		/* lost */
		{ 40, 45, 1, false },		/* the same */
		{ 50, 50, 1, true },		/* over within the same ns */
		{ 60, 62, 0, true },
		{ 70, 70, 0, false },		/* two at once: the first is returned */
		{ 80, 90, NONE, false },	/* the trace ends */
	};
	struct virt_model *model = with_vcpus(1);
	struct virt_exit_total total[4];
	struct virt_exit exit;
	int64_t time = 0;

	(void)state;
	assert_int_equal(virt_model_add_reason(model, "A"), 0);
	assert_int_equal(virt_model_add_reason(model, "B"), 1);
	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 10, VIRT_HYPERVISOR, 0, 0, EXIT);
	set(model, 0, 20, VIRT_HYPERVISOR, 0, 0, EXIT);
	set(model, 0, 30, VIRT_UNKNOWN, 0, NONE, 0);
	set(model, 0, 35, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 40, VIRT_HYPERVISOR, 0, 1, EXIT);
	set(model, 0, 45, VIRT_UNKNOWN, 0, NONE, 0);
	set(model, 0, 50, VIRT_HYPERVISOR, 0, 1, EXIT);
	set(model, 0, 50, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 60, VIRT_HYPERVISOR, 0, 0, EXIT);
	set(model, 0, 62, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 70, VIRT_HYPERVISOR, 0, 0, EXIT);
	set(model, 0, 70, VIRT_HYPERVISOR, 0, 0, EXIT);
	set(model, 0, 75, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 80, VIRT_BLOCKED, 0, NONE, EXIT);
	assert_int_equal(virt_model_finish(model, 0, 90), 0);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		assert_true(virt_vcpu_next_exit(model, 0, time, &exit));
		assert_int_equal(exit.time_ns, expected[i].time);
		assert_int_equal(exit.entry_ns, expected[i].entry);
		assert_int_equal(exit.reason, expected[i].reason);
		assert_int_equal(exit.complete, expected[i].complete);
		time = exit.time_ns + 1;
	}
	assert_false(virt_vcpu_next_exit(model, 0, time, &exit));
	/* A: 10, 20, 60 (2 ns), 70, 70 (5 ns). B: 40, 50 (0 ns). None: 80 */
	assert_int_equal(virt_vcpu_exits(model, 0, 0, 90, total, 4), 3);
	assert_int_equal(total[0].reason, 0);
	assert_int_equal(total[0].count, 5);
	assert_int_equal(total[0].complete, 2);
	assert_int_equal(total[0].ns, 7);
	assert_int_equal(total[0].max_ns, 5);
	assert_int_equal(total[1].reason, 1);
	assert_int_equal(total[1].count, 2);
	assert_int_equal(total[1].complete, 1);
	assert_int_equal(total[1].ns, 0);
	assert_int_equal(total[2].reason, NONE);
	assert_int_equal(total[2].count, 1);
	virt_model_free(model);
}

/** What else is known of an interval makes it another one. */
static void test_lasting_flags(void **state)
{
	struct virt_model *model = with_vcpus(1);
	int32_t hlt = virt_model_add_reason(model, "HLT");
	struct virt_interval_range range;

	(void)state;
	/* by its name, until that is set */
	assert_int_equal(virt_model_reason_class(model, hlt), VIRT_EXIT_HALT);
	assert_int_equal(virt_model_set_reason_class(model, hlt, VIRT_EXIT_NESTED), 0);
	assert_int_equal(virt_model_set_reason_class(model, hlt + 1, VIRT_EXIT_HALT), -EINVAL);
	assert_int_equal(virt_model_set_reason_class(model, hlt, VIRT_EXIT_N_CLASSES), -EINVAL);
	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 10, VIRT_GUEST, 0, NONE, VIRT_INTERVAL_NESTED);
	set(model, 0, 15, VIRT_GUEST, 0, NONE, VIRT_INTERVAL_NESTED);
	set(model, 0, 20, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 30, VIRT_HYPERVISOR, 0, hlt, EXIT | VIRT_INTERVAL_UNSPLIT);
	set(model, 0, 35, VIRT_HYPERVISOR, 0, hlt, VIRT_INTERVAL_UNSPLIT);
	assert_int_equal(virt_model_finish(model, 0, 40), 0);
	assert_int_equal(virt_model_reason_class(model, hlt), VIRT_EXIT_NESTED);
	assert_int_equal(virt_model_reason_class(model, NONE), VIRT_EXIT_OTHER);
	range = virt_vcpu_intervals(model, 0, 0, 40);
	assert_int_equal(range.n, 4);
	assert_int_equal(range.first[1].start_ns, 10);
	assert_int_equal(range.first[1].flags, VIRT_INTERVAL_NESTED);
	assert_int_equal(range.first[2].start_ns, 20);
	assert_int_equal(range.first[2].flags, 0);
	assert_int_equal(range.first[3].flags, EXIT | VIRT_INTERVAL_UNSPLIT);
	virt_model_free(model);
}

/** What shows later: the last change, or what has followed it, was something else. */
static void test_since(void **state)
{
	struct virt_model *model = with_vcpus(1);
	int32_t io = virt_model_add_reason(model, "IO");
	struct virt_interval_range range;
	struct virt_exit exit;

	(void)state;
	set(model, 0, 10, VIRT_GUEST, 2, NONE, 0);
	set(model, 0, 20, VIRT_HYPERVISOR, 2, io, EXIT);
	/* from the change on, of which the exit stays; then a later part of it */
	assert_int_equal(virt_model_since(model, 0, 5, VIRT_UNKNOWN, 2, NONE, ON_PCPU), 0);
	assert_int_equal(virt_model_since(model, 0, 30, VIRT_VMM, 2, io, 0), 0);
	/* it may be taken back */
	set(model, 0, 40, VIRT_GUEST, 2, NONE, 0);
	set(model, 0, 50, VIRT_HYPERVISOR, 2, io, EXIT);
	assert_int_equal(virt_model_since(model, 0, 50, VIRT_UNKNOWN, 2, NONE, ON_PCPU), 0);
	assert_int_equal(virt_model_since(model, 0, 50, VIRT_HYPERVISOR, 2, io, 0), 0);
	set(model, 0, 60, VIRT_BLOCKED, 2, NONE, 0);
	assert_int_equal(virt_model_since(model, 1, 60, VIRT_GUEST, 2, NONE, 0), -EINVAL);
	assert_int_equal(virt_model_since(model, 0, 60, VIRT_GUEST, 2, io + 1, 0), -EINVAL);
	assert_int_equal(virt_model_finish(model, 10, 70), 0);
	assert_int_equal(virt_model_since(model, 0, 60, VIRT_GUEST, 2, NONE, 0), -EINVAL);
	range = virt_vcpu_intervals(model, 0, 10, 70);
	assert_int_equal(range.n, 7);
	for (size_t i = 0; i < range.n; i++) {
		static const struct virt_interval expected[] = {
			{ 10, NONE, 2, VIRT_GUEST, 0 },
			{ 20, 0, 2, VIRT_HYPERVISOR, EXIT },
			{ 20, NONE, 2, VIRT_UNKNOWN, ON_PCPU },
			{ 30, 0, 2, VIRT_VMM, 0 },
			{ 40, NONE, 2, VIRT_GUEST, 0 },
			{ 50, 0, 2, VIRT_HYPERVISOR, EXIT },
			{ 60, NONE, 2, VIRT_BLOCKED, 0 },
		};

		assert_memory_equal(&range.first[i], &expected[i], sizeof(expected[i]));
	}
	/* of the first exit, nothing is known but that it was */
	assert_true(virt_vcpu_next_exit(model, 0, 10, &exit));
	assert_int_equal(exit.reason, io);
	assert_false(exit.complete);
	virt_model_free(model);
}

/** Who has a pCPU without a word about what it does there runs, for all but what it does. */
static void test_hidden(void **state)
{
	struct virt_model *model = with_vcpus(2);
	const struct virt_window_query query = {
		.from_ns = 0, .to_ns = 100, .parts = VIRT_WINDOW_STATES,
	};
	struct virt_machine_totals machine;
	struct virt_pcpu_totals pcpu;
	struct virt_window *window;

	(void)state;
	occupy(model, 1, 0, 0, true);
	set(model, 0, 0, VIRT_GUEST, 1, NONE, 0);
	set(model, 0, 10, VIRT_UNKNOWN, 1, NONE, ON_PCPU);
	set(model, 0, 30, VIRT_HYPERVISOR, 1, NONE, 0);
	set(model, 0, 40, VIRT_BLOCKED, 1, NONE, 0);
	occupy(model, 1, 40, NONE, true);
	set(model, 0, 50, VIRT_WAKING, 1, NONE, 0);
	set(model, 0, 60, VIRT_UNKNOWN, 2, NONE, ON_PCPU);
	occupy(model, 2, 60, 0, true);
	set(model, 0, 90, VIRT_PREEMPTED, 2, NONE, 0);
	occupy(model, 2, 90, NONE, false);
	set(model, 1, 0, VIRT_BLOCKED, NONE, NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 100), 0);
	window = virt_window_new(model, &query);
	assert_non_null(window);
	assert_int_equal(window->vcpus[0].runs.ns, 40 + 30);
	assert_int_equal(window->vcpus[0].runs.count + window->vcpus[0].runs.before, 2);
	assert_int_equal(window->vcpus[0].states[VIRT_UNKNOWN].ns, 20 + 30);
	/* the wake-up has ended: it got a pCPU, another one than before */
	assert_int_equal(window->vcpus[0].states[VIRT_WAKING].whole.count, 1);
	assert_int_equal(window->vcpus[0].migrations, 1);
	virt_window_free(window);
	virt_machine_totals(model, 0, 0, 100, &machine);
	assert_int_equal(machine.ns[VIRT_M_PARTIAL_RUN], 70);
	assert_int_equal(machine.ns[VIRT_M_BLOCKED], 10);
	virt_pcpu_totals(model, 1, 0, 100, &pcpu);
	assert_int_equal(pcpu.unknown_ns, 20);
	assert_int_equal(pcpu.state_ns[VIRT_GUEST] + pcpu.state_ns[VIRT_HYPERVISOR], 20);
	virt_model_free(model);
}

/** Every state of a machine, by two vCPUs; each lasts 10 ns. */
static void test_machine_states(void **state)
{
	static const struct {
		enum virt_state vcpu[2];
		enum virt_machine_state machine;
	} step[] = {
		{ { VIRT_UNKNOWN, VIRT_UNKNOWN }, VIRT_M_LOST },
		{ { VIRT_GUEST, VIRT_UNKNOWN }, VIRT_M_FULL_RUN },
		{ { VIRT_GUEST, VIRT_BLOCKED }, VIRT_M_PARTIAL_RUN },
		{ { VIRT_GUEST, VIRT_HYPERVISOR }, VIRT_M_FULL_RUN },
		{ { VIRT_VMM, VIRT_OFFLINE }, VIRT_M_PARTIAL_RUN },
		{ { VIRT_VMM, VIRT_PREEMPTED }, VIRT_M_CONCURRENCY_HAZARD },
		{ { VIRT_WAKING, VIRT_PREEMPTED }, VIRT_M_FULL_CONTENTION },
		{ { VIRT_BLOCKED, VIRT_PREEMPTED }, VIRT_M_PARTIAL_CONTENTION },
		{ { VIRT_UNKNOWN, VIRT_WAKING }, VIRT_M_FULL_CONTENTION },
		{ { VIRT_BLOCKED, VIRT_OFFLINE }, VIRT_M_BLOCKED },
		{ { VIRT_UNKNOWN, VIRT_OFFLINE }, VIRT_M_BLOCKED },
	};
	const size_t n = sizeof(step) / sizeof(step[0]);
	struct virt_model *model = with_vcpus(2);
	struct virt_machine_range range;
	struct virt_machine_totals totals;
	int32_t empty = virt_model_add_machine(model, 7, "no vCPUs");

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (int v = 0; v < 2; v++)
			set(model, v, 10 * i, step[i].vcpu[v], NONE, NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 10 * n), 0);
	for (size_t i = 0; i < n; i++) {
		range = virt_machine_intervals(model, 0, 10 * i + 5, 10 * i + 6);
		assert_int_equal(range.n, 1);
		assert_string_equal(virt_machine_state_name(range.first->state),
				    virt_machine_state_name(step[i].machine));
	}
	/* the last two are one interval */
	assert_int_equal(virt_machine_intervals(model, 0, 0, 1000).n, n - 1);
	virt_machine_totals(model, 0, 5, 1000, &totals);
	assert_int_equal(totals.ns[VIRT_M_LOST], 5);
	assert_int_equal(totals.count[VIRT_M_LOST], 0);
	assert_int_equal(totals.ns[VIRT_M_FULL_RUN], 20);
	assert_int_equal(totals.count[VIRT_M_FULL_RUN], 2);
	assert_int_equal(totals.ns[VIRT_M_BLOCKED], 20);
	assert_int_equal(totals.count[VIRT_M_BLOCKED], 1);
	virt_machine_totals(model, empty, 0, 1000, &totals);
	assert_int_equal(totals.ns[VIRT_M_LOST], 10 * n);
	virt_model_free(model);
}

static void test_what_is_wrong(void **state)
{
	struct virt_model *model = with_vcpus(2);
	struct virt_loss loss = { .from_ns = 5, .to_ns = 4 };

	(void)state;
	assert_int_equal(virt_model_add_reason(model, "A"), 0);
	assert_int_equal(virt_model_add_reason(model, "A"), 0);
	assert_int_equal(virt_model_add_machine(model, 1, "other name"), 0);
	assert_int_equal(virt_model_add_vcpu(model, 0, 1, 5, "other name"), 1);
	assert_int_equal(virt_model_add_vcpu(model, 1, 0, 0, "v"), -EINVAL);
	assert_int_equal(virt_model_add_vcpu(model, -1, 0, 0, "v"), -EINVAL);
	set(model, 0, 10, VIRT_GUEST, 0, 0, 0);
	assert_int_equal(virt_model_set(model, 0, 9, VIRT_BLOCKED, 0, NONE, 0), -EINVAL);
	assert_int_equal(virt_model_set(model, 2, 20, VIRT_GUEST, 0, NONE, 0), -EINVAL);
	assert_int_equal(virt_model_set(model, -1, 20, VIRT_GUEST, 0, NONE, 0), -EINVAL);
	assert_int_equal(virt_model_set(model, 0, 20, VIRT_N_STATES, 0, NONE, 0), -EINVAL);
	assert_int_equal(virt_model_set(model, 0, 20, VIRT_GUEST, -2, NONE, 0), -EINVAL);
	assert_int_equal(virt_model_set(model, 0, 20, VIRT_GUEST, 0, 1, 0), -EINVAL);
	assert_int_equal(virt_model_set(model, 0, 20, VIRT_GUEST, 0, NONE, EXIT), -EINVAL);
	assert_int_equal(virt_model_set(model, 0, 20, VIRT_PREEMPTED, 0, 2, 0), -EINVAL);
	assert_int_equal(virt_model_set(model, 0, 20, VIRT_BLOCKED, 0, 0, 0), -EINVAL);
	occupy(model, 0, 10, 0, true);
	assert_int_equal(virt_model_occupy(model, 0, 9, 1, true), -EINVAL);
	assert_int_equal(virt_model_occupy(model, -1, 20, 1, true), -EINVAL);
	assert_int_equal(virt_model_occupy(model, 0, 20, 2, true), -EINVAL);
	assert_int_equal(virt_model_add_loss(model, &loss), -EINVAL);
	assert_int_equal(virt_model_finish(model, 10, 9), -EINVAL);
	assert_int_equal(virt_model_finish(model, INT64_MIN, INT64_MAX), -EINVAL);
	/* none of it changed anything */
	assert_int_equal(virt_model_finish(model, 0, 100), 0);
	assert_int_equal(virt_vcpu_intervals(model, 0, 0, 100).n, 2);
	assert_int_equal(virt_pcpu_occupants(model, 0, 0, 100).n, 2);
	assert_int_equal(virt_model_losses(model).n, 0);
	assert_string_equal(virt_model_machine(model, 0)->name, "d1");
	assert_int_equal(virt_model_vcpu(model, 1)->host_pid, 20001);
	/* it is complete */
	assert_int_equal(virt_model_set(model, 0, 50, VIRT_BLOCKED, 0, NONE, 0), -EINVAL);
	assert_int_equal(virt_model_occupy(model, 0, 50, 1, true), -EINVAL);
	assert_int_equal(virt_model_add_machine(model, 2, "d2"), -EINVAL);
	assert_int_equal(virt_model_finish(model, 0, 100), -EINVAL);
	virt_model_free(model);
}

static void test_order(void **state)
{
	struct virt_model *model = virt_model_new();
	int32_t d5 = virt_model_add_machine(model, 5, "d5");
	int32_t d2 = virt_model_add_machine(model, 2, "d2");
	int32_t d5v1 = virt_model_add_vcpu(model, d5, 1, 60001, "d5v1");
	int32_t d2v0 = virt_model_add_vcpu(model, d2, 0, 30000, "d2v0");
	int32_t d5v0 = virt_model_add_vcpu(model, d5, 0, 60000, "d5v0");

	(void)state;
	assert_int_equal(virt_model_finish(model, 0, 1), 0);
	assert_int_equal(virt_model_n_machines(model), 2);
	assert_int_equal(virt_model_n_vcpus(model), 3);
	assert_string_equal(virt_model_machine(model, 0)->name, "d2");
	assert_string_equal(virt_model_machine(model, 1)->name, "d5");
	assert_int_equal(virt_model_machine(model, 1)->n_vcpus, 2);
	assert_int_equal(virt_model_machine(model, 1)->vcpus[0], d5v0);
	assert_int_equal(virt_model_machine(model, 1)->vcpus[1], d5v1);
	assert_int_equal(virt_model_vcpu(model, d2v0)->machine, 0);
	assert_string_equal(virt_model_vcpu(model, d5v1)->name, "d5v1");
	assert_int_equal(virt_model_find_vcpu(model, 60001), d5v1);
	virt_model_free(model);
}

static void test_losses_and_contradictions(void **state)
{
	static const char *const twice = "runs twice", *const back = "goes back";
	char others[40][2] = { "" };
	struct virt_model *model = with_vcpus(1);
	struct virt_loss late = { .from_ns = 50, .to_ns = 60, .records = 7, .pcpu = 1 };
	struct virt_loss early = { .from_ns = 10, .to_ns = 70, .pcpu = 6 };
	struct virt_loss_range range;
	uint64_t count;

	(void)state;
	assert_int_equal(virt_model_add_loss(model, &late), 0);
	assert_int_equal(virt_model_add_loss(model, &early), 0);
	virt_model_contradiction_at(model, twice, 20);
	virt_model_contradiction_at(model, back, 30);
	virt_model_contradiction(model, twice);
	assert_int_equal(virt_model_finish(model, 0, 100), 0);
	assert_int_equal(virt_model_n_pcpus(model), 7);
	range = virt_model_losses(model);
	assert_int_equal(range.n, 2);
	assert_int_equal(range.first[0].from_ns, 10);
	assert_int_equal(range.first[1].records, 7);
	assert_string_equal(virt_model_contradictions(model, 0, &count), twice);
	assert_int_equal(count, 2);
	assert_string_equal(virt_model_contradictions(model, 1, &count), back);
	assert_int_equal(count, 1);
	/* without a time, it belongs to the beginning */
	assert_int_equal(virt_model_count_contradictions(model, 0, 0, 100), 2);
	assert_int_equal(virt_model_count_contradictions(model, 0, 0, 20), 1);
	assert_int_equal(virt_model_count_contradictions(model, 0, 20, 21), 1);
	assert_int_equal(virt_model_count_contradictions(model, 0, 21, 100), 0);
	assert_int_equal(virt_model_count_contradictions(model, 1, 30, 100), 1);
	assert_int_equal(virt_model_count_contradictions(model, 2, 0, 100), 0);
	assert_int_equal(virt_model_count_contradictions(model, -1, 0, 100), 0);
	assert_null(virt_model_contradictions(model, 2, &count));
	assert_null(virt_model_contradictions(model, -1, &count));
	virt_model_free(model);

	/* 40 kinds: 31 by name, the other 9 as one */
	model = virt_model_new();
	for (int i = 0; i < 40; i++) {
		others[i][0] = (char)('A' + i);
		virt_model_contradiction(model, others[i]);
	}
	assert_non_null(virt_model_contradictions(model, 30, &count));
	assert_int_equal(count, 1);
	assert_string_equal(virt_model_contradictions(model, 31, &count), "other contradictions");
	assert_int_equal(count, 9);
	assert_null(virt_model_contradictions(model, 32, &count));
	virt_model_free(model);
}

static void test_empty(void **state)
{
	struct virt_model *model = virt_model_new();
	struct virt_totals totals;

	(void)state;
	virt_model_free(NULL);
	assert_int_equal(virt_model_finish(model, 5, 5), 0);
	assert_int_equal(virt_model_n_machines(model), 0);
	assert_int_equal(virt_model_n_vcpus(model), 0);
	assert_int_equal(virt_model_n_pcpus(model), 0);
	assert_int_equal(virt_model_n_reasons(model), 0);
	assert_int_equal(virt_model_find_vcpu(model, 0), NONE);
	assert_int_equal(virt_model_losses(model).n, 0);
	virt_model_free(model);

	/* vCPUs and a pCPU, but no time */
	model = with_vcpus(2);
	occupy(model, 0, 5, 1, true);
	set(model, 1, 5, VIRT_HYPERVISOR, 0, NONE, EXIT);
	assert_int_equal(virt_model_finish(model, 5, 5), 0);
	assert_int_equal(virt_vcpu_intervals(model, 1, 0, 10).n, 0);
	assert_int_equal(virt_machine_intervals(model, 0, 0, 10).n, 0);
	assert_int_equal(virt_pcpu_occupants(model, 0, 0, 10).n, 0);
	assert_null(virt_vcpu_at(model, 1, 5, NULL));
	virt_vcpu_columns(model, 1, 0, 10, &totals.ns, 1);
	assert_int_equal(totals.ns[VIRT_GUEST], 0);
	virt_model_free(model);

	/* freed without being finished */
	model = with_vcpus(1);
	set(model, 0, 5, VIRT_GUEST, 0, NONE, 0);
	virt_model_free(model);
}

/** What lies outside of the trace is cut off, and with it an exit before its beginning. */
static void test_clipped(void **state)
{
	struct virt_model *model = with_vcpus(1);
	struct virt_interval_range range;
	struct virt_exit_total total;

	(void)state;
	assert_int_equal(virt_model_add_reason(model, "A"), 0);
	set(model, 0, 10, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 20, VIRT_HYPERVISOR, 0, 0, EXIT);
	set(model, 0, 40, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 50, VIRT_HYPERVISOR, 0, 0, EXIT);
	occupy(model, 0, 10, 0, true);
	occupy(model, 0, 50, NONE, true);
	assert_int_equal(virt_model_finish(model, 30, 50), 0);
	range = virt_vcpu_intervals(model, 0, 0, 100);
	assert_int_equal(range.n, 2);
	assert_int_equal(range.first[0].start_ns, 30);
	assert_int_equal(range.first[0].state, VIRT_HYPERVISOR);
	assert_int_equal(range.first[0].flags, 0);
	assert_int_equal(range.end_ns, 50);
	assert_int_equal(virt_vcpu_exits(model, 0, 0, 100, &total, 1), 0);
	assert_int_equal(virt_pcpu_occupants(model, 0, 0, 100).n, 1);
	assert_int_equal(virt_pcpu_at(model, 0, 30, NULL)->start_ns, 30);
	virt_model_free(model);
}

/** More vCPUs or machines than any host has: refused, before they take all the memory. */
static void test_too_many(void **state)
{
	struct virt_model *model = virt_model_new();
	int32_t machine = virt_model_add_machine(model, 1, "d1");

	(void)state;
	for (int i = 0; i < VIRT_MAX_VCPUS; i++)
		assert_int_equal(virt_model_add_vcpu(model, machine, i, i, "v"), i);
	assert_int_equal(virt_model_add_vcpu(model, machine, VIRT_MAX_VCPUS, 0, "v"), -E2BIG);
	assert_int_equal(virt_model_add_vcpu(model, machine, 7, 0, "v"), 7);
	assert_int_equal(virt_model_finish(model, 0, 10), 0);
	assert_int_equal(virt_model_n_vcpus(model), VIRT_MAX_VCPUS);
	virt_model_free(model);

	model = virt_model_new();
	for (int i = 0; i < VIRT_MAX_MACHINES; i++)
		assert_int_equal(virt_model_add_machine(model, i, "d"), i);
	assert_int_equal(virt_model_add_machine(model, VIRT_MAX_MACHINES, "d"), -E2BIG);
	assert_int_equal(virt_model_add_machine(model, 7, "d"), 7);
	virt_model_free(model);
}

/** What a vCPU did until 1000, as states and times: "H100e P150 H300". */
static const char *life(struct virt_model *model)
{
	static const char letters[] = "GHPVSWBDOU";
	struct virt_interval_range range;
	static char text[256];
	size_t n = 0;

	assert_int_equal(virt_model_finish(model, 0, 1000), 0);
	range = virt_vcpu_intervals(model, 0, INT64_MIN, INT64_MAX);
	for (size_t i = 0; i < range.n; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%c%d%s", i ? " " : "",
				      letters[range.first[i].state], (int)range.first[i].start_ns,
				      range.first[i].flags & EXIT ? "e" : "");
	virt_model_free(model);
	return text;
}

/** A guest that halts at 100. */
static struct virt_model *halted(void)
{
	struct virt_model *model = with_vcpus(1);

	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 100, VIRT_HYPERVISOR, 0, virt_model_add_reason(model, "HLT"), EXIT);
	return model;
}

static void polled(struct virt_model *model, int64_t from, int64_t to, bool slept)
{
	assert_int_equal(virt_model_polled(model, 0, from, to, slept), 0);
}

static void test_polled(void **state)
{
	struct virt_exit_total exits[2];
	struct virt_model *model;
	int32_t wake;

	(void)state;
	/* the event came while it was polled for: 50 + 20 ns are the exit's cost */
	model = halted();
	polled(model, 150, 300, false);
	set(model, 0, 320, VIRT_GUEST, 0, NONE, 0);
	assert_string_equal(life(model), "G0 H100e P150 H300 G320");
	model = halted();
	polled(model, 150, 300, false);
	set(model, 0, 320, VIRT_GUEST, 0, NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 1000), 0);
	assert_int_equal(virt_vcpu_exits(model, 0, 0, 1000, exits, 2), 1);
	assert_int_equal(exits[0].ns, 70);
	virt_model_free(model);
	/* preempted in between */
	model = halted();
	set(model, 0, 200, VIRT_PREEMPTED, 0, NONE, 0);
	set(model, 0, 240, VIRT_HYPERVISOR, 0, 0, 0);
	polled(model, 150, 300, false);
	assert_string_equal(life(model), "G0 H100e P150 S200 P240 H300");
	/* it slept: what lies behind that is no polling; who woke it belongs to the sleep still */
	model = halted();
	set(model, 0, 200, VIRT_BLOCKED, 0, NONE, 0);
	set(model, 0, 240, VIRT_WAKING, 0, NONE, 0);
	set(model, 0, 250, VIRT_HYPERVISOR, 0, 0, 0);
	polled(model, 150, 300, true);
	wake = virt_model_add_wake(model, &(struct virt_wake){
		.cause = VIRT_WAKE_TIMER, .who = NONE, .vector = NONE });
	assert_int_equal(virt_model_woken(model, 0, wake), 0);
	assert_string_equal(life(model), "G0 H100e P150 B200 W240 H250");
	/* it slept, but where is not known: it may not have polled at all */
	model = halted();
	polled(model, 150, 300, true);
	assert_string_equal(life(model), "G0 H100e");
	/* longer than since the exit, which stays one; and than since it is known what it does */
	model = halted();
	polled(model, 0, 300, false);
	assert_string_equal(life(model), "G0 H100e P100 H300");
	model = with_vcpus(1);
	set(model, 0, 200, VIRT_HYPERVISOR, 0, NONE, 0);
	polled(model, 0, 300, false);
	assert_string_equal(life(model), "U0 P200 H300");
	/* twice, and the second time of what is said already */
	model = halted();
	polled(model, 150, 300, false);
	polled(model, 200, 400, false);
	assert_string_equal(life(model), "G0 H100e P150 H400");
	model = halted();
	polled(model, 200, 300, false);
	polled(model, 150, 300, false);
	assert_string_equal(life(model), "G0 H100e P150 H300");
	/* it is unknown whether it had its pCPU all the time */
	model = with_vcpus(1);
	set(model, 0, 0, VIRT_HYPERVISOR, 0, NONE, VIRT_INTERVAL_UNSPLIT);
	polled(model, 150, 300, false);
	set(model, 0, 300, VIRT_GUEST, 0, NONE, 0);
	assert_string_equal(life(model), "H0 G300");
	/* of no length, in the guest, in the monitor */
	model = halted();
	polled(model, 300, 300, false);
	assert_string_equal(life(model), "G0 H100e");
	model = with_vcpus(1);
	set(model, 0, 0, VIRT_HYPERVISOR, 0, NONE, 0);
	set(model, 0, 100, VIRT_GUEST, 0, NONE, 0);
	polled(model, 50, 300, false);
	assert_string_equal(life(model), "H0 G100");
	model = halted();
	set(model, 0, 200, VIRT_VMM, 0, 0, 0);
	polled(model, 150, 300, false);
	assert_string_equal(life(model), "G0 H100e V200");
	/* wrong */
	model = halted();
	assert_int_equal(virt_model_polled(model, 1, 0, 300, false), -EINVAL);
	assert_int_equal(virt_model_polled(model, -1, 0, 300, false), -EINVAL);
	assert_int_equal(virt_model_polled(model, 0, 0, 99, false), -EINVAL);
	assert_string_equal(life(model), "G0 H100e");
}

/** A trace may end at the last moment that there is. */
static void test_last_moment(void **state)
{
	const int64_t begin = INT64_MAX - 100;
	struct virt_model *model = with_vcpus(1);
	struct virt_pcpu_totals totals;

	(void)state;
	set(model, 0, begin, VIRT_GUEST, 1, NONE, 0);
	occupy(model, 1, begin, 0, true);
	set(model, 0, begin + 20, VIRT_HYPERVISOR, 1, NONE, EXIT);
	set(model, 0, begin + 30, VIRT_GUEST, 1, NONE, 0);
	assert_int_equal(virt_model_finish(model, begin, INT64_MAX), 0);
	check_totals(model, begin, INT64_MAX, (struct virt_totals){
		.ns = { [VIRT_GUEST] = 90, [VIRT_HYPERVISOR] = 10 },
		.count = { [VIRT_GUEST] = 2, [VIRT_HYPERVISOR] = 1 },
	});
	virt_pcpu_totals(model, 1, begin, INT64_MAX, &totals);
	assert_int_equal(totals.state_ns[VIRT_GUEST], 90);
	assert_int_equal(totals.state_ns[VIRT_HYPERVISOR], 10);
	assert_int_equal(totals.idle_ns + totals.task_ns + totals.unknown_ns, 0);
	virt_model_free(model);
}

static void test_names(void **state)
{
	static const char *const names[] = {
		"guest", "hypervisor", "polling", "vmm", "preempted", "waking", "blocked",
		"device_model", "offline", "unknown",
	};
	static const char *const machine_names[] = {
		"full_run", "partial_run", "concurrency_hazard", "partial_contention",
		"full_contention", "blocked", "lost",
	};

	(void)state;
	for (int i = 0; i < VIRT_N_STATES; i++)
		assert_string_equal(virt_state_name(i), names[i]);
	assert_null(virt_state_name(VIRT_N_STATES));
	for (int i = 0; i < VIRT_M_N_STATES; i++)
		assert_string_equal(virt_machine_state_name(i), machine_names[i]);
	assert_null(virt_machine_state_name(VIRT_M_N_STATES));
	assert_int_equal(sizeof(struct virt_interval), 16);
	assert_int_equal(sizeof(struct virt_occupant), 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_state),
		cmocka_unit_test(test_windows_outside),
		cmocka_unit_test(test_no_such_number),
		cmocka_unit_test(test_migration),
		cmocka_unit_test(test_no_migration),
		cmocka_unit_test(test_exits),
		cmocka_unit_test(test_incomplete_exits),
		cmocka_unit_test(test_lasting_flags),
		cmocka_unit_test(test_since),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_machine_states),
		cmocka_unit_test(test_what_is_wrong),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_losses_and_contradictions),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_clipped),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_polled),
		cmocka_unit_test(test_last_moment),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
