// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_axis_steps.c
 * @brief	Round steps of a time axis, against a list of all steps and against text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "axis_steps.h"

#define SECOND	1000000000

/** All steps, from the shortest: 1, 2, 5, 10 ... Return: their number. */
static int all_steps(int64_t *steps, int room)
{
	char text[32];
	int n = 0;

	for (int zeros = 0; zeros < 18; zeros++) {
		for (const char *digit = "125"; *digit && n < room; digit++) {
			snprintf(text, sizeof(text), "%c%0*d", *digit, zeros, 0);
			if (!zeros)
				text[1] = '\0';
			steps[n++] = strtoll(text, NULL, 10);
		}
	}
	return n;
}

static void test_step(void **state)
{
	int64_t steps[60];
	int n = all_steps(steps, 60);

	(void)state;
	assert_int_equal(n, 54);
	for (int i = 0; i < n; i++) {
		assert_int_equal(axis_step(steps[i]), steps[i]);
		if (i + 1 < n)
			assert_int_equal(axis_step(steps[i] + 1), steps[i + 1]);
	}
	/* no length at all, and all that there is */
	assert_int_equal(axis_step(0), 1);
	assert_int_equal(axis_step(-5), 1);
	assert_true(axis_step(INT64_MAX) > INT64_MAX / 100);
}

static void test_multiples(void **state)
{
	(void)state;
	for (int64_t step = 1; step < 12; step++) {
		for (int64_t value = -40; value <= 40; value++) {
			int64_t below = value, above = value;

			while (below % step)
				below--;
			while (above % step)
				above++;
			assert_int_equal(axis_floor(value, step), below);
			assert_int_equal(axis_first(value, step), above);
		}
	}
}

/** As many as the text of the step's length has without zeros at its end. */
static void test_decimals(void **state)
{
	int64_t steps[60];
	int n = all_steps(steps, 60);
	char text[32];

	(void)state;
	for (int i = 0; i < n; i++) {
		size_t length = (size_t)snprintf(text, sizeof(text), "%09lld",
						 (long long)(steps[i] % SECOND));

		while (length && text[length - 1] == '0')
			length--;
		assert_int_equal(axis_decimals(steps[i], SECOND), length);
	}
	assert_int_equal(axis_decimals(5, 1), 0);
	assert_int_equal(axis_decimals(20000, 1000000), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_step),
		cmocka_unit_test(test_multiples),
		cmocka_unit_test(test_decimals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
