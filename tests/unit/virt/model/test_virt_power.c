// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_virt_power.c
 * @brief	Idle states and frequencies, on timelines made by hand.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hand_model.h"
#include "virt_power.h"

static void idle(struct virt_model *model, int32_t pcpu, int64_t time, int32_t state)
{
	assert_int_equal(virt_model_add_power(model, VIRT_IDLE_STATE, pcpu, time, state), 0);
}

static void speed(struct virt_model *model, int32_t pcpu, int64_t time, int32_t khz)
{
	assert_int_equal(virt_model_add_power(model, VIRT_FREQUENCY, pcpu, time, khz), 0);
}

static void finish(struct virt_model *model)
{
	assert_int_equal(virt_model_finish(model, 0, 100), 0);
}

/** What cannot be is refused, and changes nothing. */
static void test_impossible(void **state)
{
	static const struct {
		int	kind;
		int32_t	pcpu, value;
	} tries[] = {
		{ VIRT_POWER_N_KINDS, 0, 1 }, { VIRT_IDLE_STATE, -1, 1 },
		{ VIRT_IDLE_STATE, 32768, 1 }, { VIRT_IDLE_STATE, 0, VIRT_IDLE_STATES },
		{ VIRT_IDLE_STATE, 0, -2 }, { VIRT_FREQUENCY, 0, 0 }, { VIRT_FREQUENCY, 0, -1 },
	};
	struct virt_model *model = with_vcpus(1);
	struct virt_power_piece piece;

	(void)state;
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
		assert_int_equal(virt_model_add_power(model, (enum virt_power_kind)tries[i].kind,
						      tries[i].pcpu, 5, tries[i].value), -EINVAL);
	/* unknown states are left out */
	speed(model, 0, 5, VIRT_POWER_UNKNOWN);
	assert_int_equal(virt_model_name_idle_state(model, VIRT_IDLE_STATES, "C1"), -EINVAL);
	assert_int_equal(virt_model_name_idle_state(model, 0, ""), -EINVAL);
	finish(model);
	assert_int_equal(virt_model_add_power(model, VIRT_IDLE_STATE, 0, 5, 1), -EINVAL);
	assert_int_equal(virt_model_name_idle_state(model, 0, "C1"), -EINVAL);
	assert_false(virt_model_has_power(model, VIRT_IDLE_STATE));
	assert_false(virt_model_has_power(model, VIRT_FREQUENCY));
	assert_false(virt_pcpu_power(model, VIRT_IDLE_STATE, 0, -1, &piece));
	assert_false(virt_pcpu_power(model, VIRT_IDLE_STATE, 0, 100, &piece));
	assert_true(virt_pcpu_power(model, VIRT_IDLE_STATE, 7, 99, &piece));
	assert_int_equal(piece.value, VIRT_POWER_UNKNOWN);
	assert_int_equal(piece.from_ns, 0);
	assert_int_equal(piece.to_ns, 100);
	assert_null(virt_idle_state_name(model, -1));
	assert_null(virt_idle_state_name(model, VIRT_IDLE_STATES));
	assert_string_equal(virt_idle_state_name(model, 15), "state 15");
	virt_model_free(model);
}

/** Sleeps of a pCPU: before the first word, cut by the window, lost, to the end of the trace. */
static void test_pcpu(void **state)
{
	struct virt_model *model = with_vcpus(1);
	struct virt_pcpu_power_sum sum;

	(void)state;
	assert_int_equal(virt_model_name_idle_state(model, 2, "C6"), 0);
	idle(model, 0, 10, VIRT_AWAKE);
	idle(model, 0, 20, 2);
	idle(model, 0, 30, VIRT_AWAKE);
	idle(model, 0, 40, 1);
	idle(model, 0, 45, 2);		/* without a word between */
	idle(model, 0, 60, VIRT_POWER_UNKNOWN);
	idle(model, 0, 70, VIRT_AWAKE);
	idle(model, 0, 65, 2);		/* not before the last one */
	speed(model, 0, 20, 1000);
	speed(model, 0, 30, 3000);
	speed(model, 0, 30, 2000);
	speed(model, 0, 50, VIRT_POWER_UNKNOWN);
	finish(model);

	virt_power_of_pcpu(model, 0, INT64_MIN, INT64_MAX, &sum);
	assert_int_equal(sum.unknown_ns, 10 + 10);
	assert_int_equal(sum.awake_ns, 10 + 10);
	assert_int_equal(sum.idle[1].count, 1);
	assert_int_equal(sum.idle[1].ns, 5);
	assert_int_equal(sum.idle[2].count, 3);
	assert_int_equal(sum.idle[2].ns, 10 + 15 + 30);
	assert_int_equal(sum.idle[2].max_ns, 30);
	assert_int_equal(sum.speed.known_ns, 30);
	assert_int_equal(sum.speed.mean_khz, (10 * 1000 + 20 * 2000 + 15) / 30);
	assert_int_equal(sum.speed.min_khz, 1000);
	assert_int_equal(sum.speed.max_khz, 2000);
	assert_int_equal(sum.changes, 2);

	/* begun before: its time counts, itself does not */
	virt_power_of_pcpu(model, 0, 25, 47, &sum);
	assert_int_equal(sum.idle[2].ns, 5 + 2);
	assert_int_equal(sum.idle[2].count, 1);
	assert_int_equal(sum.idle[2].max_ns, 15);
	assert_int_equal(sum.awake_ns, 10);
	assert_int_equal(sum.changes, 1);

	virt_power_of_pcpu(model, 5, 0, 100, &sum);
	assert_int_equal(sum.unknown_ns, 100);
	assert_int_equal(sum.speed.known_ns, 0);
	assert_string_equal(virt_idle_state_name(model, 2), "C6");
	assert_string_equal(virt_idle_state_name(model, 1), "state 1");
	virt_model_free(model);
}

/** Who is woken waits for the pCPU that it comes to run on, wherever it was before. */
static void test_vcpu(void **state)
{
	struct virt_model *model = with_vcpus(1);
	struct virt_vcpu_power_sum sum;

	(void)state;
	set(model, 0, 0, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 0, 10, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	set(model, 0, 20, VIRT_WAKING, 0, VIRT_NONE, 0);
	set(model, 0, 25, VIRT_WAKING, 1, VIRT_NONE, 0);
	set(model, 0, 30, VIRT_HYPERVISOR, 1, VIRT_NONE, 0);
	set(model, 0, 40, VIRT_BLOCKED, 1, VIRT_NONE, 0);
	set(model, 0, 50, VIRT_WAKING, 1, VIRT_NONE, 0);
	set(model, 0, 60, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 0, 70, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	set(model, 0, 90, VIRT_WAKING, 0, VIRT_NONE, 0);	/* and the trace ends */
	idle(model, 1, 5, 3);
	idle(model, 1, 28, VIRT_AWAKE);
	idle(model, 0, 55, VIRT_AWAKE);
	speed(model, 0, 5, 1000);
	speed(model, 1, 35, 4000);
	finish(model);

	virt_power_of_vcpu(model, 0, 0, 100, &sum);
	assert_int_equal(sum.waking_ns, 10 + 10 + 10);
	assert_int_equal(sum.asleep[3].ns, 8);
	assert_int_equal(sum.asleep[3].count, 1);
	assert_int_equal(sum.asleep[3].max_ns, 8);
	assert_int_equal(sum.awake_ns, 2 + 5);
	assert_int_equal(sum.unknown_ns, 5 + 10);
	assert_int_equal(sum.on_pcpu_ns, 10 + 10 + 10);
	assert_int_equal(sum.speed.known_ns, 5 + 5 + 10);
	assert_int_equal(sum.speed.mean_khz, (5 * 1000 + 5 * 4000 + 10 * 1000) / 20);

	/* the wake began before, and its pCPU awakes behind the window */
	virt_power_of_vcpu(model, 0, 22, 26, &sum);
	assert_int_equal(sum.waking_ns, 4);
	assert_int_equal(sum.asleep[3].ns, 4);
	assert_int_equal(sum.asleep[3].count, 0);
	virt_power_of_vcpu(model, 0, 18, 26, &sum);
	assert_int_equal(sum.asleep[3].ns, 6);
	assert_int_equal(sum.asleep[3].count, 1);
	assert_int_equal(sum.asleep[3].max_ns, 8);
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_pcpu),
		cmocka_unit_test(test_vcpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
