/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What fades of KernelShark's graphs: the time off a pCPU, or off guest code, column by column,
 * against an account ns by ns; nothing where nothing is known; also where a trace shows only that a
 * vCPU was not in its guest.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "virt_veil.h"

#define BEGIN	1000
#define END	4000
#define PARTS	32

static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(seed >> 8) * n >> 24);
}

/** A vCPU in random states, and the same ns by ns. */
struct world {
	struct virt_model	*model;
	uint8_t			state[END];
	bool			unsplit[END];
};

static void new_world(struct world *world, uint32_t number, bool split)
{
	uint8_t state = VIRT_UNKNOWN;
	bool unsplit = false;

	seed = number;
	memset(world, 0, sizeof(*world));
	world->model = virt_model_new();
	assert_non_null(world->model);
	assert_int_equal(virt_model_add_machine(world->model, 1, "g1"), 0);
	assert_int_equal(virt_model_add_vcpu(world->model, 0, 0, 100, "g1v0"), 0);
	for (int64_t t = BEGIN; t < END; t++) {
		if (t > BEGIN + 50 && !random_below(20)) {
			state = (uint8_t)random_below(VIRT_N_STATES);
			unsplit = !split && state == VIRT_UNKNOWN && random_below(2);
			assert_int_equal(virt_model_set(world->model, 0, t, state, 0, VIRT_NONE,
							unsplit ? VIRT_INTERVAL_UNSPLIT : 0), 0);
		}
		world->state[t] = state;
		world->unsplit[t] = unsplit;
	}
	assert_int_equal(virt_model_finish(world->model, BEGIN, END), 0);
	assert_true(split || virt_model_is_unsplit(world->model));
}

static bool is_off(const struct world *world, int64_t t, enum virt_veil_kind kind)
{
	if (kind == VIRT_VEIL_OFF_PCPU)
		return !virt_state_on_pcpu(world->state[t]) && world->state[t] != VIRT_UNKNOWN;
	return world->state[t] == VIRT_UNKNOWN ? world->unsplit[t] :
						 world->state[t] != VIRT_GUEST;
}

static void check_column(const struct world *world, int64_t from, int64_t to,
			 enum virt_veil_kind kind, int parts)
{
	int64_t off = 0, all = 0;

	for (int64_t t = from > BEGIN ? from : BEGIN; t < to && t < END; t++, all++)
		off += is_off(world, t, kind);
	if (!off) {
		assert_int_equal(parts, 0);
		return;
	}
	assert_true(parts > 0);
	assert_true(abs((int)(parts * all - off * PARTS)) <= all);
	assert_true((parts == PARTS) == (off == all));
}

static void check(const struct world *world, const struct virt_lost *lost,
		  enum virt_veil_kind kind, int64_t from, int64_t column_ns, int n)
{
	struct virt_shade_window window = { from, column_ns, n, PARTS };
	struct virt_veil_run *runs = calloc((size_t)n, sizeof(*runs));
	int64_t (*ns)[VIRT_N_STATES] = calloc((size_t)n, sizeof(*ns));
	int n_runs, run = 0;

	assert_non_null(runs);
	assert_non_null(ns);
	virt_shade_times(world->model, 0, &window, ns);
	n_runs = virt_veil((const int64_t (*)[VIRT_N_STATES])ns, lost, kind, &window, runs);
	assert_in_range(n_runs, 0, n);
	for (int i = 0; i < n; i++) {
		while (run < n_runs && runs[run].first + runs[run].n <= i)
			run++;
		check_column(world, from + i * column_ns, from + (i + 1) * column_ns, kind,
			     run < n_runs && runs[run].first <= i ? runs[run].parts : 0);
	}
	free(ns);
	free(runs);
}

static void test_columns(void **state)
{
	struct world world;

	(void)state;
	for (uint32_t number = 1; number <= 8; number++) {
		struct virt_lost *lost;

		new_world(&world, number, number % 2);
		lost = virt_lost_new(world.model, 0);
		assert_non_null(lost);
		for (int kind = 0; kind <= VIRT_VEIL_OFF_GUEST; kind++) {
			check(&world, lost, kind, BEGIN, 1, END - BEGIN);
			check(&world, lost, kind, BEGIN, 7, 300);
			check(&world, lost, kind, BEGIN - 90, 37, 100);
			check(&world, lost, kind, 0, END, 1);
			check(&world, lost, kind, BEGIN + 333, 3, 200);
			if (number % 2)
				check(&world, NULL, kind, BEGIN + 5, 11, 200);
		}
		virt_lost_free(lost);
		virt_model_free(world.model);
	}
}

static void test_lost(void **state)
{
	struct world world;
	struct virt_lost *lost;

	(void)state;
	new_world(&world, 3, false);
	lost = virt_lost_new(world.model, 0);
	assert_non_null(lost);
	for (int i = 0; i < 300; i++) {
		int64_t from = random_below(END), to = from + random_below(500), ns = 0;

		for (int64_t t = from > BEGIN ? from : BEGIN; t < to && t < END; t++)
			ns += world.state[t] == VIRT_UNKNOWN && !world.unsplit[t];
		assert_int_equal(virt_lost_ns(lost, from, to), ns);
	}
	assert_int_equal(virt_lost_ns(lost, 2000, 1500), 0);
	virt_lost_free(lost);
	/* no such vCPU */
	lost = virt_lost_new(world.model, 9);
	assert_int_equal(virt_lost_ns(lost, 0, END), 0);
	virt_lost_free(lost);
	virt_lost_free(NULL);
	virt_model_free(world.model);
}

static void test_windows(void **state)
{
	struct virt_shade_window none = { BEGIN, 10, 0, PARTS }, narrow = { BEGIN, 0, 10, PARTS },
				 flat = { BEGIN, 10, 10, 0 }, high = { BEGIN, 10, 10, 256 };
	struct virt_veil_run runs[10];
	int64_t ns[10][VIRT_N_STATES];
	const int64_t (*none_of)[VIRT_N_STATES] = (const int64_t (*)[VIRT_N_STATES])ns;
	struct world world;

	(void)state;
	new_world(&world, 1, true);
	virt_shade_times(world.model, 0, &none, ns);
	assert_int_equal(virt_veil(none_of, NULL, VIRT_VEIL_OFF_PCPU, &none, runs), -EINVAL);
	assert_int_equal(virt_veil(none_of, NULL, VIRT_VEIL_OFF_PCPU, &narrow, runs), -EINVAL);
	assert_int_equal(virt_veil(none_of, NULL, VIRT_VEIL_OFF_PCPU, &flat, runs), -EINVAL);
	assert_int_equal(virt_veil(none_of, NULL, VIRT_VEIL_OFF_PCPU, &high, runs), -EINVAL);
	virt_model_free(world.model);
}

/** Of a task, which has the CPU now and then: each of its runs, ns by ns. */
static void parts_of_a_window(void **state)
{
	const struct virt_shade_window window = {
		.from_ns = BEGIN + 100, .column_ns = 37, .n_columns = 60, .n_parts = PARTS,
	};
	int64_t end = window.from_ns + window.column_ns * window.n_columns;

	(void)state;
	for (uint32_t number = 1; number < 40; number++) {
		int64_t ns[60][VIRT_N_STATES] = { { 0 } }, wanted[60][VIRT_N_STATES] = { { 0 } };
		struct world world;

		new_world(&world, number, number % 2);
		for (int64_t t = BEGIN + random_below(200), to; t < END - 1; t = to + 1 +
								       random_below(50)) {
			to = t + random_below(300);
			to = to < END ? to : END;
			virt_veil_add(world.model, 0, t, to, &window, ns);
			for (int64_t at = t < window.from_ns ? window.from_ns : t;
			     at < to && at < end; at++)
				wanted[(at - window.from_ns) / window.column_ns]
				      [world.unsplit[at] ? VIRT_BLOCKED : world.state[at]]++;
		}
		assert_memory_equal(ns, wanted, sizeof(ns));
		virt_model_free(world.model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_a_window),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
