// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_power.c
 * @brief	Idle states and frequencies of a KVM host's CPUs, on records made by hand.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kvm_tracker.h"
#include "virt_power.h"

static struct kvm_tracker *begin(void)
{
	struct kvm_tracker *tracker = kvm_tracker_new();

	assert_non_null(tracker);
	return tracker;
}

static struct virt_model *finish(struct kvm_tracker *tracker)
{
	struct virt_model *model = NULL;

	assert_int_equal(kvm_tracker_finish(tracker, 0, 100, &model), 0);
	kvm_tracker_free(tracker);
	return model;
}

static void idle(struct kvm_tracker *tracker, int64_t time, int32_t state)
{
	assert_int_equal(kvm_tracker_idle_state(tracker, 0, 0, time, state), 0);
}

static void speed(struct kvm_tracker *tracker, int64_t time, int64_t cpu, int64_t khz)
{
	assert_int_equal(kvm_tracker_frequency(tracker, 0, 0, time, cpu, khz), 0);
}

/** From each moment on, to the next one. */
static void is(const struct virt_model *model, enum virt_power_kind kind, int32_t pcpu,
	       const int64_t *times, const int32_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct virt_power_piece piece;

		assert_true(virt_pcpu_power(model, kind, pcpu, times[i], &piece));
		assert_int_equal(piece.value, values[i]);
		assert_int_equal(piece.from_ns, times[i]);
		assert_int_equal(piece.to_ns, i + 1 < n ? times[i + 1] : 100);
	}
}

#define IS(model, kind, pcpu, n, times, values)	do {				\
	static const int64_t times_[n] = times;					\
	static const int32_t values_[n] = values;				\
										\
	is(model, kind, pcpu, times_, values_, n);				\
} while (0)
#define LIST(...)	{ __VA_ARGS__ }

/** From the first record of a thread on, the CPU is known to be awake. */
static void test_sleeps(void **state)
{
	struct kvm_tracker *tracker = begin();
	struct virt_model *model;

	(void)state;
	assert_int_equal(kvm_tracker_name_idle_state(tracker, 1, "C1"), 0);
	assert_int_equal(kvm_tracker_name_idle_state(tracker, 1, "C1E"), 0);
	assert_int_equal(kvm_tracker_name_idle_state(tracker, 1, ""), -EINVAL);
	assert_int_equal(kvm_tracker_name_idle_state(tracker, -1, "C1"), -EINVAL);
	/* the idle task says nothing: it may record on its way out of a sleep */
	assert_int_equal(kvm_tracker_seen(tracker, 0, 0, 5), 0);
	assert_int_equal(kvm_tracker_seen(tracker, 0, 7, 10), 0);
	assert_int_equal(kvm_tracker_seen(tracker, 0, 7, 15), 0);
	idle(tracker, 20, 1);
	idle(tracker, 30, VIRT_AWAKE);
	idle(tracker, 40, 99);
	idle(tracker, 50, VIRT_AWAKE);
	model = finish(tracker);
	IS(model, VIRT_IDLE_STATE, 0, 6, LIST(0, 10, 20, 30, 40, 50),
	   LIST(VIRT_POWER_UNKNOWN, VIRT_AWAKE, 1, VIRT_AWAKE, VIRT_POWER_UNKNOWN, VIRT_AWAKE));
	assert_string_equal(virt_idle_state_name(model, 1), "C1E");
	assert_false(virt_model_has_power(model, VIRT_FREQUENCY));
	virt_model_free(model);
}

/** From the last record before lost ones on, it is unknown, up to a record that shows it. */
static void test_lost(void **state)
{
	struct kvm_tracker *tracker = begin();
	struct virt_model *model;

	(void)state;
	speed(tracker, 10, 0, 2000000);
	idle(tracker, 20, 2);
	assert_int_equal(kvm_tracker_lost(tracker, 0, 0, 30, 5), 0);
	assert_int_equal(kvm_tracker_seen(tracker, 0, 7, 40), 0);
	idle(tracker, 50, 3);
	assert_int_equal(kvm_tracker_lost(tracker, 0, 0, 60, 5), 0);
	speed(tracker, 70, 0, 1000000);
	model = finish(tracker);
	IS(model, VIRT_IDLE_STATE, 0, 6, LIST(0, 20, 21, 40, 50, 51),
	   LIST(VIRT_POWER_UNKNOWN, 2, VIRT_POWER_UNKNOWN, VIRT_AWAKE, 3, VIRT_POWER_UNKNOWN));
	IS(model, VIRT_FREQUENCY, 0, 4, LIST(0, 10, 21, 70),
	   LIST(VIRT_POWER_UNKNOWN, 2000000, VIRT_POWER_UNKNOWN, 1000000));
	virt_model_free(model);
}

/** One CPU records another one's frequency. */
static void test_speed_of_another(void **state)
{
	struct kvm_tracker *tracker = begin();
	struct virt_model *model;

	(void)state;
	speed(tracker, 10, 3, 3000000);
	speed(tracker, 20, 3, 0);
	speed(tracker, 30, 3, INT64_MAX);
	speed(tracker, 40, 3, 800000);
	speed(tracker, 50, -1, 800000);
	speed(tracker, 60, INT64_MAX, 800000);
	/* no record of sleeps, so awake is unknown, too */
	assert_int_equal(kvm_tracker_seen(tracker, 0, 7, 70), 0);
	model = finish(tracker);
	IS(model, VIRT_FREQUENCY, 3, 4, LIST(0, 10, 20, 40),
	   LIST(VIRT_POWER_UNKNOWN, 3000000, VIRT_POWER_UNKNOWN, 800000));
	IS(model, VIRT_FREQUENCY, 0, 1, LIST(0), LIST(VIRT_POWER_UNKNOWN));
	assert_false(virt_model_has_power(model, VIRT_IDLE_STATE));
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sleeps),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_speed_of_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
