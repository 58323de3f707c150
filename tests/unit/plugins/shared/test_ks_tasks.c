// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_ks_tasks.c
 * @brief	Which task has each CPU of a stream, by its rows: against a look at each ns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ks_tasks.h"

#define SD	3
#define N_ROWS	60
#define N_PIDS	4

struct rows {
	struct kshark_entry	entry[N_ROWS];
	struct kshark_entry	*row[N_ROWS];
	size_t			n;
};

static void add(struct rows *rows, int stream, int cpu, int64_t ns, int32_t pid, bool lost)
{
	struct kshark_entry *entry = &rows->entry[rows->n];

	*entry = (struct kshark_entry){
		.stream_id = (int16_t)stream, .cpu = (int16_t)cpu, .ts = ns, .pid = pid,
		.event_id = lost ? KS_EVENT_OVERFLOW : 1,
	};
	rows->row[rows->n++] = entry;
}

/** Who has a CPU from @ns to the next one? */
static int32_t task_at(const struct rows *rows, int cpu, int64_t ns)
{
	const struct kshark_entry *before = NULL, *after = NULL;

	for (size_t i = 0; i < rows->n; i++) {
		const struct kshark_entry *row = rows->row[i];

		if (row->stream_id != SD || row->cpu != cpu)
			continue;
		if (row->ts <= ns)
			before = row;
		else if (!after)
			after = row;
	}
	/* a row that says that others are missing tells of no task */
	return before && before->event_id != KS_EVENT_OVERFLOW && after &&
	       after->event_id != KS_EVENT_OVERFLOW ? before->pid : KS_TASK_NONE;
}

static void check(const struct rows *rows, int cpu, int64_t from, int64_t to)
{
	struct ks_tasks *tasks = ks_tasks_new(rows->row, rows->n, SD);
	struct ks_task_share shares[N_PIDS];
	int64_t ns[N_PIDS] = { 0 }, last = INT64_MAX;
	const struct ks_task_run *runs;
	size_t n, found, expected = 0;

	assert_non_null(tasks);
	runs = ks_tasks_runs(tasks, cpu, &n);
	for (int64_t t = from; t < to; t++) {
		int32_t wanted = task_at(rows, cpu, t);
		size_t i = n ? ks_tasks_at(runs, n, t) : 0;

		assert_int_equal(i < n ? runs[i].pid : KS_TASK_NONE, wanted);
		if (wanted != KS_TASK_NONE)
			ns[wanted]++;
	}
	found = ks_tasks_shares(tasks, cpu, from, to, N_ROWS, shares, N_PIDS);
	for (int pid = 0; pid < N_PIDS; pid++)
		expected += ns[pid] > 0;
	assert_int_equal(found, expected);
	for (size_t i = 0; i < found; i++) {
		assert_int_equal(shares[i].ns, ns[shares[i].pid]);
		assert_true(shares[i].ns <= last);
		last = shares[i].ns;
	}
	ks_tasks_free(tasks);
}

static void test_random_rows(void **state)
{
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct rows rows = { .n = 0 };
		int64_t ns = 10;

		while (rows.n < N_ROWS) {
			ns += rand_r(&seed) % 4;
			add(&rows, rand_r(&seed) % 5 ? SD : 1, rand_r(&seed) % 3, ns,
			    rand_r(&seed) % N_PIDS, rand_r(&seed) % 9 == 0);
		}
		for (int cpu = 0; cpu < 4; cpu++)
			check(&rows, cpu, rand_r(&seed) % 20, ns + 5 - rand_r(&seed) % 20);
	}
}

/** Too many are not added up; nothing of nothing. */
static void test_limits(void **state)
{
	struct rows rows = { .n = 0 };
	struct ks_task_share shares[1];
	struct ks_tasks *tasks;
	size_t n;

	(void)state;
	for (int i = 0; i < 10; i++)
		add(&rows, SD, 0, i, i % 3, false);
	tasks = ks_tasks_new(rows.row, rows.n, SD);
	assert_non_null(tasks);
	assert_int_equal(ks_tasks_shares(tasks, 0, 0, 100, 8, shares, 1), 0);
	assert_int_equal(ks_tasks_shares(tasks, 0, 0, 100, 9, shares, 1), 3);
	assert_int_equal(shares[0].ns, 3);
	assert_int_equal(ks_tasks_shares(tasks, 0, 3, 5, 2, shares, 1), 2);
	assert_null(ks_tasks_runs(tasks, 1, &n));
	assert_null(ks_tasks_runs(tasks, -1, &n));
	assert_int_equal(ks_tasks_shares(tasks, 7, 0, 100, 9, shares, 1), 0);
	ks_tasks_free(tasks);
	ks_tasks_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_rows),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
