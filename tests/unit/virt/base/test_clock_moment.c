// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_clock_moment.c
 * @brief	A moment lies between what was before it and what comes after it, on all clocks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <time.h>

#include "clock_moment.h"

static int64_t ns_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void test_moment(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++) {
		int64_t mono = ns_of(CLOCK_MONOTONIC);
		uint64_t tsc = clock_read_tsc(), tsc_after;
		struct clock_moment moment;

		memset(&moment, 0xff, sizeof(moment));
		clock_moment_take(&moment);
		tsc_after = clock_read_tsc();
		assert_true(moment.monotonic_ns >= mono);
		assert_true(moment.monotonic_ns <= ns_of(CLOCK_MONOTONIC));
		/* this one may be set while a test runs */
		assert_true(moment.realtime_ns > 0);
		if (!tsc_after) {
			assert_int_equal(moment.tsc, 0);
			continue;
		}
		assert_true(moment.tsc >= tsc && moment.tsc <= tsc_after);
		assert_true(moment.tsc_within > 0 && moment.tsc_within <= tsc_after - tsc);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
