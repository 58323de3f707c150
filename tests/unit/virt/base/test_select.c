/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A value is where sorting would put it, and everything is still there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "select.h"

#define MOST	200

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/** @kinds: of values, so that few of them make many equal ones */
static void check(size_t n, int kinds)
{
	double sorted[MOST], values[MOST];
	int64_t numbers[MOST];

	for (size_t i = 0; i < n; i++)
		sorted[i] = rand() % kinds - kinds / 2;
	for (size_t nth = 0; nth < n; nth++) {
		memcpy(values, sorted, sizeof(values));
		for (size_t i = 0; i < n; i++)
			numbers[i] = (int64_t)sorted[i];
		SELECT_NTH(values, 0, n, nth);
		SELECT_NTH(numbers, 0, n, nth);
		for (size_t i = 0; i < n; i++) {
			assert_true(i < nth ? values[i] <= values[nth] : values[i] >= values[nth]);
			assert_true(i < nth ? numbers[i] <= numbers[nth] :
					      numbers[i] >= numbers[nth]);
		}
		/* in a part of them */
		SELECT_NTH(values, nth, n, nth + (n - nth) / 2);
		qsort(values, n, sizeof(*values), compare);
		qsort(sorted, n, sizeof(*sorted), compare);
		assert_memory_equal(values, sorted, n * sizeof(*sorted));
		assert_true(numbers[nth] == (int64_t)sorted[nth]);
		for (size_t i = n; i > 1; i--) {
			size_t other = (size_t)rand() % i;
			double moved = sorted[i - 1];

			sorted[i - 1] = sorted[other];
			sorted[other] = moved;
		}
	}
}

static void test_select(void **state)
{
	(void)state;
	srand(1);
	for (size_t n = 1; n < 40; n++)
		for (int kinds = 1; kinds < 100; kinds += 7)
			check(n, kinds);
	check(MOST, 1);
	check(MOST, 3);
	check(MOST, 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
