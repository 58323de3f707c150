/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text for a place, on a double click and where the mouse rests: every state, who took a
 * pCPU, why a guest was left, what a pCPU does without a vCPU; what is not known is said to be so;
 * names that are too long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "virt_shading.h"
#include "virt_text.h"

#define END	1000000

/** d1v0 in one state after the other; d1v1 takes its pCPU. On pCPU 1: a task, idle, unknown. */
static struct virt_model *new_model(void)
{
	struct virt_model *model = virt_model_new();
	int32_t exit;

	assert_non_null(model);
	assert_int_equal(virt_model_add_machine(model, 1, "d1"), 0);
	assert_int_equal(virt_model_add_vcpu(model, 0, 0, 20000, "d1v0"), 0);
	assert_int_equal(virt_model_add_vcpu(model, 0, 1, 20001, "d1v1"), 1);
	exit = virt_model_add_reason(model, "HLT");
	virt_model_add_task(model, 7, "sh-7");
	virt_model_set(model, 0, 1000, VIRT_GUEST, 2, VIRT_NONE, 0);
	virt_model_set(model, 0, 3000, VIRT_HYPERVISOR, 2, exit, VIRT_INTERVAL_EXIT);
	virt_model_set(model, 0, 4500, VIRT_VMM, 2, VIRT_NONE, 0);
	virt_model_set(model, 0, 5000, VIRT_PREEMPTED, 2, 1, 0);
	virt_model_occupy(model, 2, 5000, 1, true);
	virt_model_set(model, 0, 8000, VIRT_BLOCKED, 2, VIRT_NONE, 0);
	virt_model_set(model, 0, 20000, VIRT_WAKING, 2, VIRT_NONE, 0);
	virt_model_set(model, 0, 30000, VIRT_OFFLINE, VIRT_NONE, VIRT_NONE, 0);
	virt_model_set(model, 0, 40000, VIRT_PREEMPTED, 3, VIRT_NONE, 0);
	virt_model_set(model, 0, 50000, VIRT_UNKNOWN, 2, VIRT_NONE, 0);
	virt_model_occupy(model, 1, 2000, VIRT_FIRST_TASK, true);
	virt_model_occupy(model, 1, 5000, VIRT_NONE, true);
	virt_model_occupy(model, 1, 9000, VIRT_NONE, false);
	assert_int_equal(virt_model_finish(model, 0, END), 0);
	return model;
}

static void check_interval(const struct virt_model *model, int64_t ns, const char *wanted)
{
	char text[VIRT_TEXT_SIZE];
	struct virt_shade_hit hit;

	assert_true(virt_shade_pick_vcpu(model, 0, ns, ns + 1, -1, &hit));
	virt_text_interval(text, sizeof(text), model, NULL, hit.vcpu, &hit.interval, hit.end_ns);
	assert_string_equal(text, wanted);
}

static void test_states(void **state)
{
	struct virt_model *model = new_model();

	(void)state;
	check_interval(model, 500, "d1v0 is in a state that the trace does not show for 1.000 us");
	check_interval(model, 1000, "d1v0 runs guest code on pCPU 2 for 2.000 us");
	check_interval(model, 3000,
		       "d1v0 is in the hypervisor on pCPU 2 for 1.500 us, VM exit: HLT");
	check_interval(model, 4500, "d1v0 is in its monitor on pCPU 2 for 500 ns");
	check_interval(model, 5000,
		       "d1v0 is preempted (last on pCPU 2) for 3.000 us by d1v1 (3.000 us)");
	check_interval(model, 8000, "d1v0 is blocked (last on pCPU 2) for 12.000 us");
	check_interval(model, 20000,
		       "d1v0 was woken and waits for a pCPU (last on pCPU 2) for 10.000 us;"
		       " pCPU 2 was running d1v1 for 10.000 us");
	check_interval(model, 30000, "d1v0 is offline for 10.000 us");
	check_interval(model, 40000,
		       "d1v0 is preempted (last on pCPU 3) for 10.000 us by nobody (10.000 us)");
	/* its last place does not show where it is */
	check_interval(model, 50000,
		       "d1v0 is in a state that the trace does not show for 950.000 us");
	virt_model_free(model);
}

/** What ended a wait is in the text of the wait, and of the wake-up after it. */
static void test_wakes(void **state)
{
	static const struct {
		struct virt_wake wake;
		const char	*wanted;
	} wakes[] = {
		{ { 1, 0xfd, VIRT_WAKE_VCPU, 0 }, "ended by d1v1, vector 0xfd reschedule" },
		{ { VIRT_NONE, VIRT_NONE, VIRT_WAKE_VCPU, 0 }, "ended by another vCPU" },
		{ { VIRT_NONE, 0xec, VIRT_WAKE_TIMER, 0 },
		  "ended by a timer of its own, vector 0xec local_timer" },
		{ { VIRT_FIRST_TASK, 0x22, VIRT_WAKE_DEVICE, 0 },
		  "ended by the interrupt of a device, by way of sh-7, vector 0x22" },
		{ { VIRT_NONE, VIRT_NONE, VIRT_WAKE_INTERRUPT, 0 }, "ended by an interrupt" },
		{ { VIRT_FIRST_TASK, VIRT_NONE, VIRT_WAKE_TASK, 0 }, "ended by sh-7" },
		{ { VIRT_FIRST_TASK, VIRT_NONE, VIRT_WAKE_SPURIOUS, 0 },
		  "ended by nothing that it waits for, woken by sh-7" },
		{ { VIRT_NONE, VIRT_NONE, VIRT_WAKE_UNKNOWN, 0 }, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wakes) / sizeof(wakes[0]); i++) {
		struct virt_model *model = virt_model_new();
		char wanted[VIRT_TEXT_SIZE];

		virt_model_add_machine(model, 1, "d1");
		virt_model_add_vcpu(model, 0, 0, 20000, "d1v0");
		virt_model_add_vcpu(model, 0, 1, 20001, "d1v1");
		virt_model_add_task(model, 7, "sh-7");
		virt_model_set(model, 0, 1000, VIRT_BLOCKED, 2, VIRT_NONE, 0);
		virt_model_set(model, 0, 2000, VIRT_WAKING, 2, VIRT_NONE, 0);
		assert_int_equal(virt_model_woken(model, 0,
						  virt_model_add_wake(model, &wakes[i].wake)), 0);
		virt_model_set(model, 0, 3000, VIRT_GUEST, 2, VIRT_NONE, 0);
		assert_int_equal(virt_model_finish(model, 0, END), 0);
		snprintf(wanted, sizeof(wanted),
			 "d1v0 is blocked (last on pCPU 2) for 1.000 us%s%s",
			 *wakes[i].wanted ? "; " : "", wakes[i].wanted);
		check_interval(model, 1000, wanted);
		snprintf(wanted, sizeof(wanted), "d1v0 was woken and waits for a pCPU (last "
			 "on pCPU 2) for 1.000 us%s%s",
			 *wakes[i].wanted ? "; its wait was " : "", wakes[i].wanted);
		check_interval(model, 2000, wanted);
		virt_model_free(model);
	}
}

static void check_occupant(const struct virt_model *model, int64_t from, int64_t to, int state,
			   const char *wanted)
{
	char text[VIRT_TEXT_SIZE];
	struct virt_occupant occupant;
	int64_t end;

	if (!wanted) {
		assert_false(virt_shade_pick_other(model, 1, from, to, state, &occupant, &end));
		return;
	}
	assert_true(virt_shade_pick_other(model, 1, from, to, state, &occupant, &end));
	virt_text_occupant(text, sizeof(text), model, NULL, 1, &occupant, end);
	assert_string_equal(text, wanted);
}

static void test_occupants(void **state)
{
	struct virt_model *model = new_model();

	(void)state;
	check_occupant(model, 2000, 2001, VIRT_SHADE_NOTHING, "pCPU 1 runs sh-7 for 3.000 us");
	check_occupant(model, 6000, 6010, VIRT_SHADE_NOTHING, "pCPU 1 is idle for 4.000 us");
	/* the longest one of what is drawn there */
	check_occupant(model, 0, END, VIRT_SHADE_NOTHING, "pCPU 1 is idle for 4.000 us");
	check_occupant(model, 3000, 5100, VIRT_SHADE_NOTHING, "pCPU 1 runs sh-7 for 3.000 us");
	check_occupant(model, 3000, 9001, VIRT_UNKNOWN,
		       "pCPU 1 is in a state that the trace does not show for 991.000 us");
	check_occupant(model, 2500, 8000, VIRT_UNKNOWN, NULL);
	check_occupant(model, 9000, END, VIRT_SHADE_NOTHING, NULL);
	check_occupant(model, END, END + 10, VIRT_SHADE_NOTHING, NULL);
	virt_model_free(model);
}

/** A text is cut where its room ends, and never within a letter. */
static void test_room(void **state)
{
	struct virt_model *model = virt_model_new();
	struct virt_shade_hit hit;
	char name[3 * 1000 + 1] = "";
	char text[VIRT_TEXT_SIZE];

	(void)state;
	assert_non_null(model);
	for (int i = 0; i < 1000; i++)
		memcpy(name + 3 * i, "\xe2\x82\xac", 4);
	virt_model_add_machine(model, 1, "d1");
	assert_int_equal(virt_model_add_vcpu(model, 0, 0, 1, name), 0);
	virt_model_set(model, 0, 10, VIRT_GUEST, 0, VIRT_NONE, 0);
	assert_int_equal(virt_model_finish(model, 0, 100), 0);
	assert_true(virt_shade_pick_vcpu(model, 0, 50, 51, -1, &hit));
	for (size_t size = 2; size <= sizeof(text); size++) {
		virt_text_interval(text, size, model, NULL, 0, &hit.interval, hit.end_ns);
		assert_true(strlen(text) < size);
		assert_int_equal(strlen(text) % 3, 0);
		assert_memory_equal(text, name, strlen(text));
	}
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_wakes),
		cmocka_unit_test(test_occupants),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
