/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The hypervisor's part of each column, divided by what the exits are about. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "virt_colors.h"
#include "virt_shading.h"

#define BEGIN	1000
#define END	41000
#define PARTS	7

static const struct { const char *name; enum virt_exit_class exit_class; } reasons[] = {
	{ "one", VIRT_EXIT_HALT }, { "two", VIRT_EXIT_IO }, { "three", VIRT_EXIT_MEMORY },
};

/** Class of the exit that is handled at each ns, or -1. */
static int8_t truth[END];

static uint32_t random_below(uint32_t n)
{
	static uint32_t seed = 1;

	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(seed >> 8) * n >> 24);
}

static struct virt_model *new_vcpu(void)
{
	struct virt_model *model = virt_model_new();

	assert_int_equal(virt_model_add_machine(model, 1, "m"), 0);
	assert_int_equal(virt_model_add_vcpu(model, 0, 0, 5, "v"), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(virt_model_add_reason(model, reasons[i].name), i);
		assert_int_equal(virt_model_set_reason_class(model, i, reasons[i].exit_class), 0);
	}
	return model;
}

static struct virt_model *new_model(uint32_t mean_ns)
{
	struct virt_model *model = new_vcpu();

	for (int64_t t = BEGIN; t < END; ) {
		int64_t end = t + 1 + random_below(2 * mean_ns);
		int state = random_below(4) ? VIRT_HYPERVISOR : VIRT_GUEST;
		int reason = (int)random_below(4) - 1;

		assert_int_equal(virt_model_set(model, 0, t, state, 0,
						state == VIRT_GUEST ? VIRT_NONE : reason,
						state == VIRT_GUEST ? 0 : VIRT_INTERVAL_EXIT), 0);
		for (; t < end && t < END; t++)
			truth[t] = state == VIRT_GUEST ? -1 : reason < 0 ? VIRT_EXIT_OTHER :
				   (int8_t)reasons[reason].exit_class;
	}
	assert_int_equal(virt_model_finish(model, BEGIN, END), 0);
	return model;
}

/** Each column against the truth, ns by ns. */
static void check(const struct virt_model *model, int64_t from, int64_t column_ns, int n)
{
	const struct virt_shade_window window = { from, column_ns, n, PARTS };
	struct virt_shade_run *runs = calloc(n, sizeof(*runs));
	struct virt_shade_exit_run *exits = calloc(n, sizeof(*exits));
	int n_runs = virt_shade_vcpu(model, 0, &window, runs), run = 0, e = 0;
	int n_exits = virt_shade_exits(model, 0, &window, runs, n_runs, exits);
	int64_t (*times)[VIRT_EXIT_N_CLASSES] = calloc(n, sizeof(*times));

	assert_non_null(times);
	virt_vcpu_exit_columns(model, 0, from, from + n * column_ns, times, n);
	assert_true(n_runs > 0);
	for (int column = 0; column < n; column++) {
		int64_t ns[VIRT_EXIT_N_CLASSES] = { 0 }, sum = 0;
		int parts = 0;

		while (runs[run].first + runs[run].n <= column)
			run++;
		while (e < n_exits && exits[e].first + exits[e].n <= column)
			e++;
		for (int64_t t = from + column * column_ns, end = t + column_ns; t < end; t++)
			if (t >= BEGIN && t < END && truth[t] >= 0) {
				ns[truth[t]]++;
				sum++;
			}
		assert_memory_equal(times[column], ns, sizeof(ns));
		if (!runs[run].parts[VIRT_HYPERVISOR]) {
			assert_true(e == n_exits || exits[e].first > column);
			continue;
		}
		assert_true(e < n_exits && exits[e].first <= column);
		for (int i = 0; i < VIRT_EXIT_N_CLASSES; i++) {
			double share = (double)ns[i] / (double)sum *
				       runs[run].parts[VIRT_HYPERVISOR];

			parts += exits[e].parts[i];
			assert_true(exits[e].parts[i] > share - 1 && exits[e].parts[i] < share + 1);
		}
		assert_int_equal(parts, runs[run].parts[VIRT_HYPERVISOR]);
	}
	free(times);
	free(exits);
	free(runs);
}

static void test_columns(void **state)
{
	static const uint32_t means[] = { 3, 100, 5000 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct virt_model *model = new_model(means[i]);

		check(model, BEGIN, 1, END - BEGIN);
		check(model, BEGIN, 40, (END - BEGIN) / 40);
		check(model, BEGIN - 500, 300, 200);
		check(model, BEGIN + 12345, 7, 1000);
		virt_model_free(model);
	}
}

/** As many intervals as fill a block of sums, and some more or less: columns of all lengths. */
static void test_blocks(void **state)
{
	(void)state;
	for (int n = 1; n <= 130; n++) {
		struct virt_model *model = new_vcpu();
		int64_t end = BEGIN + 3 * n;

		for (int i = 0; i < n; i++) {
			bool is_exit = i % 2;
			int reason = i / 2 % 3;

			assert_int_equal(virt_model_set(model, 0, BEGIN + 3 * i,
							is_exit ? VIRT_HYPERVISOR : VIRT_GUEST, 0,
							is_exit ? reason : VIRT_NONE,
							is_exit ? VIRT_INTERVAL_EXIT : 0), 0);
			memset(&truth[BEGIN + 3 * i],
			       is_exit ? (int)reasons[reason].exit_class : -1, 3);
		}
		memset(&truth[end], -1, 1000);
		assert_int_equal(virt_model_finish(model, BEGIN, end), 0);
		for (int ns = 1; ns < 3 * n; ns += 1 + ns / 4)
			check(model, BEGIN, ns, 3 * n / ns + 1);
		virt_model_free(model);
	}
}

static void check_nobody(const struct virt_model *model)
{
	int64_t ns[2][VIRT_EXIT_N_CLASSES], none[2][VIRT_EXIT_N_CLASSES] = { { 0 } };

	memset(ns, 1, sizeof(ns));
	virt_vcpu_exit_columns(model, 1, BEGIN, END, ns, 2);
	assert_memory_equal(ns, none, sizeof(ns));
	memset(ns, 1, sizeof(ns));
	virt_vcpu_exit_columns(model, 0, END, BEGIN, ns, 2);
	assert_memory_equal(ns, none, sizeof(ns));
}

/* Far more exits than columns: they are still counted one by one. */
static void test_many(void **state)
{
	struct virt_model *model = new_model(2);
	const struct virt_shade_window window = { BEGIN, END - BEGIN, 1, PARTS };
	struct virt_shade_exit_run exits;

	(void)state;
	check(model, BEGIN, END - BEGIN, 1);
	check(model, BEGIN - 3, (END - BEGIN) / 7, 8);
	/* of no run, and of no such vCPU */
	assert_int_equal(virt_shade_exits(model, 1, &window, NULL, 0, &exits), 0);
	check_nobody(model);
	virt_model_free(model);
}

/** No class looks like another one or like a state. */
static void test_colors(void **state)
{
	(void)state;
	for (int i = 0; i < VIRT_EXIT_N_CLASSES; i++) {
		struct virt_color mine = virt_exit_class_color(i), other;

		for (int j = 0; j < i; j++) {
			other = virt_exit_class_color(j);
			assert_memory_not_equal(&mine, &other, sizeof(mine));
		}
		for (int j = 0; j < VIRT_N_STATES; j++)
			if (j != VIRT_HYPERVISOR)
				assert_memory_not_equal(&mine, &virt_state_look(j)->color,
							sizeof(mine));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_colors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
