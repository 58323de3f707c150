// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_culprits.c
 * @brief	Who has a pCPU during waits; the figures were worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>

#include "hand_model.h"

#define NONE	VIRT_NONE

/**
 * vCPU 0 waits for pCPU 0 in [10, 100), where 1 runs until 40, 2 until 90, then none; and for
 * an unknown pCPU in [200, 205).
 */
static void test_culprits_and_pcpu(void **state)
{
	struct virt_model *model = with_vcpus(3);
	struct virt_culprit culprit[4];
	struct virt_pcpu_totals totals;
	struct virt_occupant_range range;

	(void)state;
	occupy(model, 0, 0, 0, true);
	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	occupy(model, 0, 10, 1, true);
	set(model, 0, 10, VIRT_PREEMPTED, 0, 1, 0);
	set(model, 1, 10, VIRT_HYPERVISOR, 0, NONE, 0);
	set(model, 1, 15, VIRT_GUEST, 0, NONE, 0);
	occupy(model, 0, 40, 2, true);
	set(model, 1, 40, VIRT_BLOCKED, 0, NONE, 0);
	set(model, 2, 40, VIRT_GUEST, 0, NONE, 0);
	set(model, 2, 85, VIRT_BLOCKED, 0, NONE, 0);	/* said to occupy for 5 ns more */
	occupy(model, 0, 90, NONE, true);
	occupy(model, 0, 100, 0, true);
	set(model, 0, 100, VIRT_GUEST, 0, NONE, 0);
	occupy(model, 0, 200, NONE, false);
	set(model, 0, 200, VIRT_PREEMPTED, NONE, NONE, 0);
	set(model, 0, 205, VIRT_UNKNOWN, NONE, NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 210), 0);

	assert_int_equal(virt_vcpu_culprits(model, 0, 0, 210, culprit, 4), 3);
	assert_int_equal(culprit[0].vcpu, 2);
	assert_int_equal(culprit[0].ns, 50);
	assert_int_equal(culprit[1].vcpu, 1);
	assert_int_equal(culprit[1].ns, 30);
	assert_int_equal(culprit[2].vcpu, NONE);
	assert_int_equal(culprit[2].ns, 15);
	/* cut at both sides: 1 has 35..40, 2 has 40..42 */
	assert_int_equal(virt_vcpu_culprits(model, 0, 35, 42, culprit, 1), 2);
	assert_int_equal(culprit[0].vcpu, 1);
	assert_int_equal(culprit[0].ns, 5);
	assert_int_equal(virt_vcpu_culprits(model, 1, 0, 210, culprit, 4), 0);

	/* GUEST 10 of 0, 25 of 1, 45 of 2, 100 of 0; HYPERVISOR 5; idle 90..100 */
	/* not known: 85..90 and 200..210 */
	virt_pcpu_totals(model, 0, 0, 210, &totals);
	assert_int_equal(totals.state_ns[VIRT_GUEST], 180);
	assert_int_equal(totals.state_ns[VIRT_HYPERVISOR], 5);
	assert_int_equal(totals.idle_ns, 10);
	assert_int_equal(totals.unknown_ns, 15);
	virt_pcpu_totals(model, 0, 12, 17, &totals);
	assert_int_equal(totals.state_ns[VIRT_GUEST], 2);
	assert_int_equal(totals.state_ns[VIRT_HYPERVISOR], 3);
	range = virt_pcpu_occupants(model, 0, 50, 95);
	assert_int_equal(range.n, 2);
	assert_int_equal(range.first[0].vcpu, 2);
	assert_int_equal(range.first[1].vcpu, NONE);
	assert_true(range.first[1].known);
	assert_int_equal(range.end_ns, 100);
	assert_false(virt_pcpu_at(model, 0, 205, NULL)->known);
	virt_model_free(model);
}

/** A task that is a machine's is named by it, whatever number that gets in the end. */
static void test_owned(void **state)
{
	struct virt_model *model = virt_model_new();
	const struct virt_task *owned;
	int32_t io, other, free_one;

	(void)state;
	assert_int_equal(virt_model_add_machine(model, 7, "g7:web"), 0);
	assert_int_equal(virt_model_add_machine(model, 3, "g3"), 1);
	assert_int_equal(virt_model_add_vcpu(model, 0, 0, 100, "web v0"), 0);
	assert_int_equal(virt_model_add_vcpu(model, 1, 0, 200, "g3v0"), 1);
	io = virt_model_add_task(model, 11, "IO disk-11");
	other = virt_model_add_task(model, 12, "sh-12");
	free_one = virt_model_add_task(model, 13, "kworker-13");
	assert_int_equal(virt_model_own_task(model, io, 0, "web", VIRT_THREAD_IOTHREAD,
					     VIRT_THREAD_OF_ROW), 0);
	assert_int_equal(virt_model_own_task(model, other, 1, "g3", VIRT_THREAD_OTHER,
					     VIRT_THREAD_OF_SIDECAR), 0);
	assert_int_equal(virt_model_own_task(model, free_one, 2, "x", VIRT_THREAD_MAIN, 0),
			 -EINVAL);
	assert_int_equal(virt_model_own_task(model, free_one, 0, "x", VIRT_THREAD_N_KINDS, 0),
			 -EINVAL);
	assert_int_equal(virt_model_own_task(model, 0, 0, "x", VIRT_THREAD_MAIN, 0), -EINVAL);
	assert_int_equal(virt_model_finish(model, 0, 10), 0);

	assert_int_equal(virt_model_n_tasks(model), 3);
	owned = virt_model_task(model, io);
	assert_string_equal(owned->name, "web's iothread-11");
	assert_string_equal(owned->thread, "IO disk-11");
	assert_int_equal(owned->kind, VIRT_THREAD_IOTHREAD);
	assert_int_equal(owned->source, VIRT_THREAD_OF_ROW);
	/* g3 comes first now */
	assert_int_equal(owned->machine, 1);
	assert_string_equal(virt_model_culprit(model, other), "g3's sh-12");
	assert_int_equal(virt_model_machine_of(model, other), 0);
	assert_int_equal(virt_model_machine_of(model, 0), 1);
	assert_int_equal(virt_model_machine_of(model, free_one), VIRT_NONE);
	assert_int_equal(virt_model_machine_of(model, VIRT_NONE), VIRT_NONE);
	assert_true(virt_model_is_own(model, 0, io));
	assert_false(virt_model_is_own(model, 1, io));
	assert_false(virt_model_is_own(model, 0, free_one));
	assert_false(virt_model_is_own(model, 0, 0));
	virt_model_free(model);
}

/** Tasks of the host have a pCPU and take it from vCPUs. */
static void test_tasks(void **state)
{
	struct virt_model *model = with_vcpus(1);
	int32_t ksoftirqd = virt_model_add_task(model, 15, "ksoftirqd/0");
	int32_t make = virt_model_add_task(model, 900, "bash");
	struct virt_pcpu_totals totals;
	struct virt_culprit culprit[4];

	(void)state;
	assert_int_equal(ksoftirqd, VIRT_FIRST_TASK);
	assert_int_equal(make, VIRT_FIRST_TASK + 1);
	/* it has called exec */
	assert_int_equal(virt_model_add_task(model, 900, "make"), make);
	occupy(model, 0, 0, 0, true);
	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	occupy(model, 0, 100, ksoftirqd, true);
	set(model, 0, 100, VIRT_PREEMPTED, 0, ksoftirqd, 0);
	occupy(model, 0, 130, make, true);
	occupy(model, 0, 180, 0, true);
	set(model, 0, 180, VIRT_GUEST, 0, NONE, 0);
	occupy(model, 0, 190, NONE, true);
	set(model, 0, 190, VIRT_BLOCKED, 0, NONE, 0);
	assert_int_equal(virt_model_occupy(model, 0, 195, VIRT_FIRST_TASK + 2, true), -EINVAL);
	assert_int_equal(virt_model_set(model, 0, 195, VIRT_PREEMPTED, 0, VIRT_FIRST_TASK + 2, 0),
			 -EINVAL);
	assert_int_equal(virt_model_finish(model, 0, 200), 0);
	assert_int_equal(virt_model_add_task(model, 901, "late"), -EINVAL);
	assert_int_equal(virt_model_find_task(model, 900), make);
	assert_int_equal(virt_model_find_task(model, 901), VIRT_NONE);

	assert_int_equal(virt_model_task(model, ksoftirqd)->pid, 15);
	assert_string_equal(virt_model_task(model, make)->name, "make");
	assert_null(virt_model_task(model, VIRT_FIRST_TASK + 2));
	assert_null(virt_model_task(model, 0));
	assert_null(virt_model_vcpu(model, make));
	assert_string_equal(virt_model_who(model, make), "make");
	assert_string_equal(virt_model_who(model, 0), "v");
	assert_null(virt_model_who(model, NONE));
	/* GUEST 0..100 and 180..190, tasks 100..180, idle 190..200 */
	virt_pcpu_totals(model, 0, 0, 200, &totals);
	assert_int_equal(totals.state_ns[VIRT_GUEST], 110);
	assert_int_equal(totals.task_ns, 80);
	assert_int_equal(totals.idle_ns, 10);
	assert_int_equal(totals.unknown_ns, 0);
	/* cut in the middle of both tasks */
	virt_pcpu_totals(model, 0, 120, 170, &totals);
	assert_int_equal(totals.task_ns, 50);
	assert_int_equal(virt_vcpu_culprits(model, 0, 0, 200, culprit, 4), 2);
	assert_int_equal(culprit[0].vcpu, make);
	assert_int_equal(culprit[0].ns, 50);
	assert_int_equal(culprit[1].vcpu, ksoftirqd);
	assert_int_equal(culprit[1].ns, 30);
	virt_model_free(model);
}

/** Very many wait for a pCPU that very many have then: the first of these, and others. */
static void test_other_culprits(void **state)
{
	enum { WAITS = 1500, RUNS = 1500, END = WAITS + 10 * RUNS };
	static struct virt_culprit culprit[WAITS + RUNS + 2];
	struct virt_model *model = virt_model_new();
	int32_t machine = virt_model_add_machine(model, 1, "d1");
	char name[16];

	(void)state;
	for (int i = 0; i < WAITS + RUNS; i++) {
		snprintf(name, sizeof(name), "d1v%d", i);
		assert_int_equal(virt_model_add_vcpu(model, machine, i, i, name), i);
	}
	for (int i = 0; i < WAITS; i++)
		set(model, i, i, VIRT_PREEMPTED, 0, NONE, 0);
	for (int i = 0; i < RUNS; i++)
		occupy(model, 0, WAITS + 10 * i, WAITS + i, true);
	assert_int_equal(virt_model_finish(model, 0, END), 0);
	for (int i = 0; i < WAITS; i++) {
		/* all; cut where culprits are one sum; cut at both sides of that */
		const int64_t from[] = { 0, END - 50, WAITS + 15 };
		const int64_t to[] = { END, END, END - 7 };

		for (int w = 0; w < 3; w++) {
			int64_t begin = from[w] > i ? from[w] : i, ns = 0;
			size_t n = virt_vcpu_culprits(model, i, from[w], to[w], culprit,
						      WAITS + RUNS + 2);

			for (size_t c = 0; c < n; c++)
				ns += culprit[c].ns;
			assert_int_equal(ns, to[w] - begin);
			assert_in_range(n, 1, RUNS / 2);
			assert_int_equal(culprit[0].vcpu, VIRT_OTHERS);
			assert_string_equal(virt_model_who(model, culprit[0].vcpu), "others");
			assert_true(w == 1 ? n == 1 : n > 10);
			/* the shortest: cut at the front */
			if (w == 2)
				assert_int_equal(culprit[n - 1].vcpu, WAITS + 1);
		}
	}
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_culprits_and_pcpu),
		cmocka_unit_test(test_owned),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_other_culprits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
