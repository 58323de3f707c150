// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_top_kernel_map.c
 * @brief	Where programs in the kernel count a latency, and what that says of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "top_kernel_map.h"

/** Each place begins where the one before it ends. */
static void test_places(void **state)
{
	(void)state;
	for (uint32_t at = 0; at + 1 < TOP_KERNEL_LATENCIES; at++) {
		assert_int_equal(top_kernel_latency(top_kernel_latency_end(at)), at);
		assert_int_equal(top_kernel_latency(top_kernel_latency_end(at) + 1), at + 1);
	}
	assert_int_equal(top_kernel_latency(0), 0);
	assert_int_equal(top_kernel_latency(UINT64_MAX), TOP_KERNEL_LATENCIES - 1);
}

/** It is at most an eighth too long. */
static void test_error(void **state)
{
	(void)state;
	for (uint64_t ns = 1; ns < UINT64_C(1) << 38; ns += 1 + ns / 97) {
		uint64_t end = top_kernel_latency_end(top_kernel_latency(ns));

		assert_true(end >= ns);
		assert_true(end - ns <= ns / 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
