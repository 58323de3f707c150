// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_clock_steps.c
 * @brief	Which step counts for which event.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "clock_steps.h"

static void check(const struct virt_clock_step *steps, size_t n, int32_t cpu, const int64_t *times,
		  const int64_t *wanted, size_t n_times)
{
	struct virt_clock_walk walk;

	assert_true(virt_clock_steps_are_sorted(steps, n));
	virt_clock_walk_begin(&walk, steps, n, cpu);
	for (size_t i = 0; i < n_times; i++)
		assert_true(virt_clock_walk_next(&walk, times[i]) == wanted[i]);
}

static void test_none(void **state)
{
	const int64_t times[] = { 5, 3, INT64_MAX };

	(void)state;
	check(NULL, 0, 0, times, times, 3);
}

/** Each CPU has its own: from the beginning, from a time, and several at one event. */
static void test_by_time(void **state)
{
	const struct virt_clock_step steps[] = {
		{ .cpu = 1, .from = INT64_MIN, .add = 7 },
		{ .cpu = 1, .from = 100, .add = -50 },
		{ .cpu = 1, .from = 101, .add = 1000 },
		{ .cpu = 3, .from = 10, .add = 1 },
	};
	const int64_t times[] = { 5, 99, 100, 101, 102 }, late[] = { 500 };
	const int64_t one[] = { 12, 106, 50, 1101, 1102 }, three[] = { 5, 100, 101, 102, 103 };
	const int64_t at_once[] = { 1500 };

	(void)state;
	check(steps, 4, 0, times, times, 5);
	check(steps, 4, 1, times, one, 5);
	check(steps, 4, 1, late, at_once, 1);
	check(steps, 4, 3, times, three, 5);
}

/** A clock that goes back: whatever time that is, once for each time that it does. */
static void test_back(void **state)
{
	const struct virt_clock_step steps[] = {
		{ .cpu = 0, .back = true, .from = 40, .add = 60 },
		{ .cpu = 0, .back = true, .from = 1000, .add = 200 },
		{ .cpu = 0, .from = 50, .add = 300 },
	};
	const int64_t times[] = { 90, 100, 40, 60, 60, 30, 49, 50 };
	const int64_t wanted[] = { 90, 100, 100, 120, 120, 230, 249, 350 };

	(void)state;
	check(steps, 3, 0, times, wanted, 8);
}

static void test_far(void **state)
{
	const struct virt_clock_step steps[] = { { .from = INT64_MIN, .add = INT64_MAX / 2 },
						 { .from = 0, .add = -INT64_MAX / 2 } };
	const int64_t up[] = { -5, INT64_MAX }, far[] = { INT64_MAX / 2 - 5, INT64_MAX };
	const int64_t down[] = { INT64_MIN };
	const struct virt_clock_step low = { .from = INT64_MIN, .add = -1 };

	(void)state;
	check(steps, 1, 0, up, far, 2);
	check(&low, 1, 0, down, down, 1);
}

static void test_sorted(void **state)
{
	const struct virt_clock_step before[] = { { .cpu = 1 }, { .cpu = 0 } };
	const struct virt_clock_step none = { .cpu = -1 }, much = { .add = INT64_MAX / 2 + 1 };

	(void)state;
	assert_false(virt_clock_steps_are_sorted(before, 2));
	assert_false(virt_clock_steps_are_sorted(&none, 1));
	assert_false(virt_clock_steps_are_sorted(&much, 1));
}

/** What is added, and the offset that counts then, with a drift as well. */
static void test_offsets(void **state)
{
	(void)state;
	assert_true(virt_clock_step_add(1000, 400, 0) == -600);
	assert_true(virt_clock_step_offset(1000, -600, 0) == 400);
	/* twice as fast: half of it, before it is doubled */
	assert_true(virt_clock_step_add(1000, 400, 1e6) == -300);
	assert_true(virt_clock_step_offset(1000, -300, 1e6) == 400);
	assert_true(virt_clock_step_add(INT64_MIN, INT64_MAX, 0) == INT64_MAX / 2);
	assert_true(virt_clock_step_offset(INT64_MAX, 5, 0) == INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_by_time),
		cmocka_unit_test(test_back),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_sorted),
		cmocka_unit_test(test_offsets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
