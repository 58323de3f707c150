/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is said against chance: at wrong offsets it is as rare as it claims to be. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "clock_chance.h"
#include "clock_world.h"

#define SECOND		CLOCK_WORLD_SECOND
#define MS		INT64_C(1000000)
#define N_WRONG		300

/** What the CPUs of a guest say for an offset, with the vCPUs of a host. */
static double against(const struct clock_world *guest, const struct clock_world *host,
		      int64_t offset)
{
	struct clock_chance chance = { { 0 } };

	for (int32_t c = 0; c < guest->problem.n_cpus; c++)
		clock_chance_add(&chance, &host->vcpus[c], &guest->cpus[c], offset, 0);
	return clock_chance_against(&chance);
}

/**
 * With the offset of a guest to its host, chance does not come near; with any other, and with
 * another host, it reaches a logarithm of x in one of e^x cases, for each share of strays.
 */
static void is_rare(struct clock_recipe recipe, double truth)
{
	struct clock_world guest, other;
	const double much = 3 + log(CLOCK_STRAYS);
	int n_much = 0;

	clock_world_make(&guest, &recipe);
	recipe.seed += 1000;
	clock_world_make(&other, &recipe);
	assert_true(against(&guest, &guest, recipe.offset) >= truth);
	srandom(recipe.seed);
	for (int i = 0; i < N_WRONG; i++) {
		int64_t wrong = recipe.length / 20 + random() % (recipe.length / 2);

		if (random() % 2)
			wrong = -wrong;
		n_much += against(&guest, &guest, recipe.offset + wrong) > much;
		n_much += against(&guest, &other, recipe.offset + wrong) > much;
	}
	assert_true(n_much <= 2 * N_WRONG * exp(-3));
	clock_world_drop(&guest);
	clock_world_drop(&other);
}

static void test_steady(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 3; seed++)
		is_rare((struct clock_recipe){
			.seed = seed, .n = 2, .length = 2 * SECOND, .in = 300000, .out = 400000,
			.percent = 80, .events = 4, .offset = 77 * SECOND, .wrong = 300 }, 100);
}

static void test_busy(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 3; seed++)
		is_rare((struct clock_recipe){
			.seed = seed, .n = 4, .length = 6 * SECOND, .in = 2 * MS, .out = 80000,
			.percent = 60, .events = 20, .offset = 77 * SECOND, .wrong = 300 }, 100);
}

/** That two are busy at the same time is one coincidence, not as many as they have events then. */
static void test_phases(void **state)
{
	static const struct clock_phase phases[] = {
		{ 700 * MS, 2 * MS, 60000, 80, 8 }, { 1100 * MS, 100000, 30 * MS, 90, 2 },
		{ 300 * MS, 300000, 300000, 70, 4 }, { 0, 0, 0, 0, 0 },
	};

	(void)state;
	for (unsigned int seed = 1; seed <= 3; seed++)
		is_rare((struct clock_recipe){
			.seed = seed, .n = 2, .length = 6 * SECOND, .phases = phases,
			.offset = 77 * SECOND, .wrong = 300 }, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
