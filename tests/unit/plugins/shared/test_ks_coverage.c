// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_ks_coverage.c
 * @brief	Which times a stream's rows cover, against a look at each ns of each column.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ks_coverage.h"

#define SD	3
#define N_ROWS	60

struct rows {
	struct kshark_entry	entry[N_ROWS];
	struct kshark_entry	*row[N_ROWS];
	size_t			n;
};

static void add(struct rows *rows, int stream, int cpu, int64_t ns, bool lost)
{
	struct kshark_entry *entry = &rows->entry[rows->n];

	*entry = (struct kshark_entry){
		.stream_id = (int16_t)stream, .cpu = (int16_t)cpu, .ts = ns,
		.event_id = lost ? KS_EVENT_OVERFLOW : 1,
	};
	rows->row[rows->n++] = entry;
}

/** Does the trace show what a CPU did at a time? */
static bool is_known(const struct rows *rows, int cpu, int64_t ns)
{
	const struct kshark_entry *before = NULL, *after = NULL;

	for (size_t i = 0; i < rows->n; i++) {
		const struct kshark_entry *row = rows->row[i];

		if (row->stream_id != SD || row->cpu != cpu)
			continue;
		if (row->ts == ns)
			return true;
		if (row->ts < ns)
			before = row;
		else if (!after)
			after = row;
	}
	return before && after && after->event_id != KS_EVENT_OVERFLOW;
}

static void check(const struct rows *rows, int cpu, int64_t from, int64_t column, int n)
{
	struct ks_coverage *coverage = ks_coverage_new(rows->row, rows->n, SD);
	struct ks_gap gaps[64];
	bool hatched[64] = { false };
	int n_gaps;

	assert_non_null(coverage);
	n_gaps = ks_coverage_gaps(coverage, cpu, from, column, n, gaps);
	for (int g = 0; g < n_gaps; g++)
		for (int i = 0; i < gaps[g].n; i++) {
			assert_in_range(gaps[g].first + i, 0, n - 1);
			assert_false(hatched[gaps[g].first + i]);
			hatched[gaps[g].first + i] = true;
		}
	for (int i = 0; i < n; i++) {
		bool known = false;

		for (int64_t ns = from + i * column; ns < from + (i + 1) * column; ns++)
			known |= is_known(rows, cpu, ns);
		assert_int_equal(hatched[i], !known);
	}
	ks_coverage_free(coverage);
}

static void test_random_rows(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 2000; round++) {
		struct rows rows = { .n = 0 };
		int64_t ns = 100;
		int n = rand() % N_ROWS;

		for (int i = 0; i < n; i++) {
			ns += rand() % 8;
			add(&rows, rand() % 4 ? SD : 1, rand() % 3, ns, rand() % 5 == 0);
		}
		/* a lost stretch before anything else is no news */
		check(&rows, rand() % 4, 80 + rand() % 60, 1 + rand() % 9, 1 + rand() % 60);
	}
}

static void test_no_rows(void **state)
{
	struct ks_coverage *coverage = ks_coverage_new(NULL, 0, SD);
	struct ks_gap gap;

	(void)state;
	assert_non_null(coverage);
	assert_int_equal(ks_coverage_gaps(coverage, 0, 0, INT64_MAX, 1, &gap), 1);
	assert_int_equal(gap.n, 1);
	assert_int_equal(ks_coverage_gaps(coverage, -1, INT64_MIN, 1, 1, &gap), 1);
	ks_coverage_free(coverage);
	ks_coverage_free(NULL);
}

static void test_far_times(void **state)
{
	struct rows rows = { .n = 0 };
	struct ks_coverage *coverage;
	struct ks_gap gaps[4];

	(void)state;
	add(&rows, SD, 0, INT64_MAX - 1, false);
	coverage = ks_coverage_new(rows.row, rows.n, SD);
	/* the third column begins with the record */
	assert_int_equal(ks_coverage_gaps(coverage, 0, INT64_MIN, INT64_MAX, 3, gaps), 1);
	assert_int_equal(gaps[0].first, 0);
	assert_int_equal(gaps[0].n, 2);
	ks_coverage_free(coverage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_rows),
		cmocka_unit_test(test_no_rows),
		cmocka_unit_test(test_far_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
