// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_record_ring_memory.c
 * @brief	Without memory, what a flight recorder keeps of old makes room for what is new.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "record_ring.h"

static int n_refused;	/* allocations that are to fail */

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	if (n_refused) {
		n_refused--;
		errno = ENOMEM;
		return NULL;
	}
	return __real_malloc(size);
}

static void add(struct record_ring *ring, int64_t time_ns, int cpu)
{
	assert_int_equal(record_ring_add(ring, time_ns, cpu, "x", 1), 0);
}

static void test_oldest_go(void **state)
{
	struct record_ring ring = { 0 };

	(void)state;
	add(&ring, 10, 0);
	add(&ring, 20, 0);
	add(&ring, 20, 1);
	n_refused = 1;
	add(&ring, 30, 0);
	assert_true(ring.full);
	assert_int_equal(ring.first->time_ns, 20);
	assert_int_equal(ring.bytes, 3);
	record_ring_clear(&ring);
}

/** The beginning of a time is not there any more: then its rest is not kept either. */
static void test_whole_times(void **state)
{
	struct record_ring ring = { 0 };

	(void)state;
	add(&ring, 10, 0);
	add(&ring, 20, 0);
	n_refused = 2;
	add(&ring, 20, 1);
	assert_int_equal(ring.bytes, 0);
	add(&ring, 20, 2);
	assert_null(ring.first);
	add(&ring, 30, 0);
	assert_int_equal(ring.bytes, 1);
	record_ring_clear(&ring);
}

static void test_nothing_left(void **state)
{
	struct record_ring ring = { 0 };

	(void)state;
	n_refused = 1;
	assert_int_equal(record_ring_add(&ring, 10, 0, "x", 1), -ENOMEM);
	/* it has come, though, and what comes then is kept */
	assert_int_equal(ring.total, 1);
	add(&ring, 20, 0);
	assert_int_equal(ring.bytes, 1);
	record_ring_clear(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oldest_go),
		cmocka_unit_test(test_whole_times),
		cmocka_unit_test(test_nothing_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
