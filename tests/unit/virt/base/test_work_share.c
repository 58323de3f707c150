// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_work_share.c
 * @brief	Each job is done once, by one thread or two, and none begins after one has failed.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "work_share.h"

#define JOBS	1000

static bool is_busy;
static atomic_int done[JOBS];
static atomic_size_t n_done;

bool __wrap_block_pipe_pays(void);

bool __wrap_block_pipe_pays(void)
{
	return !is_busy;
}

/** The data of one thread. */
struct own {
	size_t		n, last;
	bool		is_disordered;	/* a job has come after a later one */
	size_t		fails_at;	/* this job fails; JOBS: none */
	const atomic_size_t *other;	/* the first job waits for the other thread's */
};

static int work(void *arg, size_t job)
{
	struct own *own = arg;

	own->is_disordered |= own->n && job <= own->last;
	own->last = job;
	own->n++;
	done[job]++;
	n_done++;
	while (own->other && !job && *own->other < 2)
		sched_yield();
	return job == own->fails_at ? -EIO : 0;
}

static void begin(bool busy)
{
	is_busy = busy;
	n_done = 0;
	for (size_t i = 0; i < JOBS; i++)
		done[i] = 0;
}

static void all_once(void)
{
	for (size_t i = 0; i < JOBS; i++)
		assert_int_equal(done[i], 1);
}

static void test_alone(void **state)
{
	struct own own = { .fails_at = JOBS }, beside = { .fails_at = JOBS };

	(void)state;
	begin(true);
	assert_int_equal(work_share(JOBS, work, &own, &beside), 0);
	all_once();
	assert_int_equal(own.n, JOBS);
	begin(false);
	own = (struct own){ .fails_at = JOBS };
	assert_int_equal(work_share(JOBS, work, &own, NULL), 0);
	all_once();
	assert_int_equal(own.n, JOBS);
	assert_int_equal(work_share(0, work, &own, &beside), 0);
	assert_int_equal(beside.n, 0);
}

/** The first job ends only if another thread does the second one. */
static void test_beside(void **state)
{
	(void)state;
	for (int round = 0; round < 50; round++) {
		struct own own = { .fails_at = JOBS, .other = &n_done }, beside = own;

		begin(false);
		assert_int_equal(work_share(JOBS, work, &own, &beside), 0);
		all_once();
		assert_int_equal(own.n + beside.n, JOBS);
		assert_false(own.is_disordered || beside.is_disordered);
	}
}

static void test_error(void **state)
{
	(void)state;
	for (int busy = 0; busy < 2; busy++) {
		struct own own = { .fails_at = 10 }, beside = own;

		begin(busy);
		assert_int_equal(work_share(JOBS, work, &own, &beside), -EIO);
		for (size_t i = 0; i < JOBS; i++)
			assert_true(done[i] <= 1);
		assert_int_equal(done[10], 1);
		/* the other thread may be at one, and has seen no error */
		if (busy)
			assert_int_equal(n_done, 11);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_beside),
		cmocka_unit_test(test_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
