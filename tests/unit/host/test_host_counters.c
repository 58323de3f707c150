// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which counters belong together, by the names that perf gives them; sums and their estimates.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host_counters.h"

static void test_names(void **state)
{
	static struct trace_counter all[] = {
		{ .name = "cycles" }, { .name = "cycles:GH" }, { .name = "cpu-cycles:u" },
		{ .name = "cpu/cycles/" }, { .name = "cpu_core/cycles,period=1/u" },
		{ .name = "cpu/cpu-cycles/k" }, { .name = "cyclesx" }, { .name = "cpu/cycles_x/" },
		{ .name = "ref-cycles" }, { .name = "" }, { .name = "cpu/" },
		{ .name = "cpu-cycle" },
	};
	const struct host_counters counters = {
		.file.counters = all, .file.n = sizeof(all) / sizeof(all[0]),
	};

	(void)state;
	for (uint32_t i = 0; i < counters.file.n; i++) {
		assert_int_equal(i < 6, host_counters_is(&counters, i, "cycles"));
		assert_false(host_counters_is(&counters, i, "instructions"));
	}
}

/** Only a counter that counts at the same times and in the same modes is a partner. */
static void test_partners(void **state)
{
	static struct trace_counter all[] = {
		{ .name = "cycles", .sides = TRACE_COUNTS_HOST },
		{ .name = "instructions", .sides = TRACE_COUNTS_HOST },
		{ .name = "instructions:G", .sides = TRACE_COUNTS_GUEST },
		{ .name = "cycles:u", .sides = TRACE_COUNTS_HOST, .modes = 2 },
		{ .name = "cycles:G", .sides = TRACE_COUNTS_GUEST },
		{ .name = "instructions:G", .sides = TRACE_COUNTS_GUEST, .group = 1 },
	};
	static const int32_t cycles_of[] = { 0, 0, 4, 3, 4, -1 };
	const struct host_counters counters = { .file.counters = all, .file.n = 6 };

	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(cycles_of[i], host_counters_partner(&counters, i, "cycles"));
}

static void test_sums(void **state)
{
	struct host_counter_sum sum = { .value = 60, .enabled_ns = 100, .running_ns = 100 };
	const struct host_counter_sum half = {
		.value = 40, .enabled_ns = 100, .running_ns = 50, .spans = 1, .ns = 7,
	}, none = { .enabled_ns = 10 }, without = { .no_times = true, .value = UINT64_MAX };

	(void)state;
	assert_int_equal(HOST_COUNTED_ALL, host_counter_share(&sum));
	assert_true(host_counter_estimate(&sum) == 60);
	assert_int_equal(HOST_COUNTED_NONE, host_counter_share(&none));
	host_counter_add(&sum, &half);
	assert_int_equal(HOST_COUNTED_SOME, host_counter_share(&sum));
	assert_int_equal(100, sum.value);
	assert_int_equal(1, sum.spans);
	assert_int_equal(7, sum.ns);
	assert_true(host_counter_estimate(&sum) == 100.0 * 200 / 150);
	/* a sum never begins anew */
	host_counter_add(&sum, &without);
	assert_int_equal(HOST_COUNTED_UNKNOWN, host_counter_share(&sum));
	assert_true(sum.value == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_partners),
		cmocka_unit_test(test_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
