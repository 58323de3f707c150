// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Samples of several buffers, in rounds as perf record writes them, leave in order of time; losses
 * stay between the samples that came before and after; the number that waits has a limit.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf_order.h"

#define N_CPUS		3

/** The records that have left, by CPU. */
struct left {
	uint64_t	last[N_CPUS], n[N_CPUS], lost[N_CPUS], late;
	uint64_t	before_loss;	/* time of the sample before the last loss */
	int		error;		/* to return after this number: */
	uint64_t	error_after, all;
};

static int take(void *arg, uint32_t cpu, uint64_t ts, const uint8_t *data, size_t size,
		size_t before, bool is_late)
{
	struct left *left = arg;
	uint64_t number;

	assert_in_range(cpu, 0, N_CPUS - 1);
	if (left->error && left->all++ == left->error_after)
		return left->error;
	if (!data) {
		left->lost[cpu] += ts;
		left->before_loss = left->last[cpu];
		return 0;
	}
	assert_int_equal(size, sizeof(number));
	assert_int_equal(before, sizeof(number));
	memcpy(&number, data - before, sizeof(number));
	assert_int_equal(~ts, number);
	memcpy(&number, data, sizeof(number));
	/* each sample carries its time */
	assert_int_equal(ts, number);
	assert_int_equal(is_late, ts < left->last[cpu]);
	left->late += is_late;
	if (ts > left->last[cpu])
		left->last[cpu] = ts;
	left->n[cpu]++;
	return 0;
}

static void add(struct perf_order *order, uint32_t cpu, uint64_t ts)
{
	const uint64_t bytes[] = { ~ts, ts };

	assert_int_equal(0, perf_order_add(order, cpu, ts, (const uint8_t *)&bytes[1],
					   sizeof(bytes[1]), sizeof(bytes[0]), true));
}

/** Two buffers of threads, whose samples are on all CPUs: only rounds keep them in order. */
static void test_rounds(void **state)
{
	struct left left = { 0 };
	struct perf_order *order = perf_order_new(take, &left);

	(void)state;
	assert_non_null(order);
	for (uint64_t round = 0; round < 50; round++) {
		for (uint64_t i = 0; i < 100; i++)
			add(order, (uint32_t)(i % N_CPUS), round * 1000 + 2 * i + 1);
		for (uint64_t i = 0; i < 100; i++)
			add(order, (uint32_t)(i % N_CPUS), round * 1000 + 2 * i + 2);
		assert_int_equal(0, perf_order_round(order));
		/* the last round waits for the next one */
		assert_in_range(left.n[0] + left.n[1] + left.n[2], round * 200, round * 200);
	}
	assert_int_equal(0, perf_order_end(order));
	assert_int_equal(10000, left.n[0] + left.n[1] + left.n[2]);
	assert_int_equal(0, left.late);
	perf_order_free(order);
}

static void test_late(void **state)
{
	struct left left = { 0 };
	struct perf_order *order = perf_order_new(take, &left);

	(void)state;
	add(order, 1, 100);
	perf_order_round(order);
	perf_order_round(order);
	assert_int_equal(1, left.n[1]);
	add(order, 1, 50);
	/* of another CPU, it is not late */
	add(order, 2, 60);
	assert_int_equal(0, perf_order_end(order));
	assert_int_equal(1, left.late);
	assert_int_equal(2, left.n[1]);
	perf_order_free(order);
}

/** A loss has the time of the sample before it, whatever comes between them. */
static void test_losses(void **state)
{
	struct left left = { 0 };
	struct perf_order *order = perf_order_new(take, &left);

	(void)state;
	assert_int_equal(0, perf_order_lost(order, 0, 5));
	add(order, 0, 10);
	add(order, 0, 30);
	add(order, 0, 20);
	assert_int_equal(0, perf_order_lost(order, 0, 7));
	add(order, 0, 25);
	add(order, 0, 40);
	assert_int_equal(0, perf_order_end(order));
	assert_int_equal(12, left.lost[0]);
	assert_int_equal(20, left.before_loss);
	assert_int_equal(5, left.n[0]);
	perf_order_free(order);
}

/** Without rounds, a limited number waits; samples that are nearly in order leave in order. */
static void test_limit(void **state)
{
	struct left left = { 0 };
	struct perf_order *order = perf_order_new(take, &left);
	static const uint64_t n = 2000000;

	(void)state;
	for (uint64_t i = 0; i < n; i++) {
		add(order, (uint32_t)(i % 2), (i ^ 3) + 1);
		/* 2^19 may wait */
		assert_true(i - left.n[0] - left.n[1] <= 1 << 19);
	}
	assert_int_equal(0, perf_order_end(order));
	assert_int_equal(n, left.n[0] + left.n[1]);
	assert_int_equal(0, left.late);
	perf_order_free(order);
}

static void test_errors(void **state)
{
	struct left left = { .error = -EFBIG, .error_after = 3 };
	struct perf_order *order = perf_order_new(take, &left);

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		add(order, 0, i + 1);
	assert_int_equal(-EFBIG, perf_order_end(order));
	assert_int_equal(3, left.n[0]);
	perf_order_free(order);
	perf_order_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
