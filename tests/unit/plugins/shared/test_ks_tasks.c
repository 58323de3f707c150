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
	/* a row that says that others are missing shows no task */
	return before && before->event_id != KS_EVENT_OVERFLOW && after &&
	       after->event_id != KS_EVENT_OVERFLOW ? before->pid : KS_TASK_NONE;
}

static void check(const struct rows *rows, int cpu, int64_t from, int64_t to)
{
	struct ks_tasks *tasks = ks_tasks_new(rows->row, rows->n, SD);
	const struct ks_task_run *runs;
	size_t n;

	assert_non_null(tasks);
	runs = ks_tasks_runs(tasks, cpu, &n);
	for (int64_t t = from; t < to; t++) {
		int32_t wanted = task_at(rows, cpu, t);
		size_t i = n ? ks_tasks_at(runs, n, t) : 0;

		assert_int_equal(i < n ? runs[i].pid : KS_TASK_NONE, wanted);
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

/** Nothing of nothing. */
static void test_limits(void **state)
{
	struct rows rows = { .n = 0 };
	struct ks_tasks *tasks;
	size_t n;

	(void)state;
	for (int i = 0; i < 10; i++)
		add(&rows, SD, 0, i, i % 3, false);
	tasks = ks_tasks_new(rows.row, rows.n, SD);
	assert_non_null(tasks);
	assert_null(ks_tasks_runs(tasks, 1, &n));
	assert_null(ks_tasks_runs(tasks, -1, &n));
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
