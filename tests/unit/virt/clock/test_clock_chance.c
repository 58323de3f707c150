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

/* --- by hand ---------------------------------------------------------------------------------- */

#define IN	VIRT_CLOCK_INSIDE
#define OUT	VIRT_CLOCK_OUTSIDE
#define UNKNOWN	VIRT_CLOCK_UNKNOWN

/** The score of groups of events, some inside, if a vCPU is inside for @in of its time. */
static double factor(double inside, double outside, double in, double out, int k)
{
	double stray = ldexp(1, -k), p = in / (in + out);

	return inside * log((1 - stray * (1 - p)) / p) + outside * log(stray);
}

static void check_factors(const struct clock_chance *chance, double inside, double outside,
			  double in, double out)
{
	for (int k = 0; k < CLOCK_STRAYS; k++)
		assert_true(fabs(chance->likelier[k] - factor(inside, outside, in, out, k)) < 1e-9);
}

/** In its guest in the first half of each of ten turns of 2000, and then not known. */
static void make_turns(struct virt_clock_change *changes, int n)
{
	for (int i = 0; i < n; i++) {
		changes[2 * i] = (struct virt_clock_change){ 2000 * i, IN };
		changes[2 * i + 1] = (struct virt_clock_change){ 2000 * i + 1000, OUT };
	}
	changes[2 * n] = (struct virt_clock_change){ 2000 * n, UNKNOWN };
}

static void test_factors(void **state)
{
	struct virt_clock_change changes[21];
	const struct virt_clock_vcpu vcpu = { .changes = changes, .n = 21 };
	struct clock_chance chance = { { 0 } };
	int64_t times[40];
	struct virt_clock_cpu cpu = { .times = times, .n = 0 };

	(void)state;
	make_turns(changes, 10);
	/* nothing is said without events, or by those of which nothing is known */
	clock_chance_add(&chance, &vcpu, &cpu, 0, 0);
	assert_true(clock_chance_against(&chance) == 0);
	times[0] = -1;
	times[1] = 20000;
	cpu.n = 2;
	clock_chance_add(&chance, &vcpu, &cpu, 0, 0);
	assert_true(clock_chance_against(&chance) == 0);
	/* from 500 to 18500, each in a stretch of its own: 9001 ns of 18001 are inside */
	cpu.n = 10;
	for (int i = 0; i < 10; i++)
		times[i] = 2000 * i + 500;
	clock_chance_add(&chance, &vcpu, &cpu, 0, 0);
	check_factors(&chance, 10, 0, 9001, 9000);
	assert_true(fabs(clock_chance_against(&chance) - factor(10, 0, 9001, 9000, 10)) < 1e-9);
	/* another CPU's are added */
	clock_chance_add(&chance, &vcpu, &cpu, 0, 0);
	check_factors(&chance, 20, 0, 9001, 9000);
	/* three outside: that half of them are anywhere explains it best */
	chance = (struct clock_chance){ { 0 } };
	times[3] += 1000;
	times[5] += 1000;
	times[6] += 1000;
	clock_chance_add(&chance, &vcpu, &cpu, 0, 0);
	check_factors(&chance, 7, 3, 9001, 9000);
	assert_true(clock_chance_against(&chance) <= 0.8);
	/* the same with an offset */
	chance = (struct clock_chance){ { 0 } };
	for (int i = 0; i < 10; i++)
		times[i] -= 77;
	clock_chance_add(&chance, &vcpu, &cpu, 77, 0);
	check_factors(&chance, 7, 3, 9001, 9000);
}

/**
 * Events so near that one implies the next count once: two means of 1000 forget after
 * 2 * 1000 * 1000 / 2001 = 999. It is outside if any of it is.
 */
static void test_groups(void **state)
{
	struct virt_clock_change changes[21];
	const struct virt_clock_vcpu vcpu = { .changes = changes, .n = 21 };
	struct clock_chance chance = { { 0 } };
	static const int64_t times[] = { 0, 1, 998, 999, 1500, 4000, 4500, 4998, 19999 };
	const struct virt_clock_cpu cpu = { .times = times, .n = 9 };

	(void)state;
	make_turns(changes, 10);
	clock_chance_add(&chance, &vcpu, &cpu, 0, 0);
	/* 0 to 998; 999 and 1500, which is outside; 4000 to 4998; 19999, which is outside */
	check_factors(&chance, 2, 2, 10000, 10000);
}

/** Each 64 changes are a part by themselves; who is always inside, or never, says nothing. */
static void test_parts(void **state)
{
	static struct virt_clock_change changes[129];
	struct virt_clock_vcpu vcpu = { .changes = changes, .n = 129 };
	struct clock_chance chance = { { 0 } };
	int64_t times[64];
	const struct virt_clock_cpu cpu = { .times = times, .n = 64 };

	(void)state;
	make_turns(changes, 64);
	/* the second half of it is inside from 0 to 200 of each turn */
	for (int i = 32; i < 64; i++)
		changes[2 * i + 1].time -= 800;
	for (int i = 0; i < 64; i++)
		times[i] = 2000 * i + 100;
	clock_chance_add(&chance, &vcpu, &cpu, 0, 0);
	for (int k = 0; k < CLOCK_STRAYS; k++)
		assert_true(fabs(chance.likelier[k] - factor(32, 0, 31900, 32000, k) -
				 factor(32, 0, 31 * 200 + 101, 31 * 1800, k)) < 1e-9);
	for (int where = IN; where >= OUT; where--) {
		chance = (struct clock_chance){ { 0 } };
		changes[0].where = where;
		vcpu.n = 1;
		clock_chance_add(&chance, &vcpu, &cpu, 0, 0);
		for (int k = 0; k < CLOCK_STRAYS; k++)
			assert_true(chance.likelier[k] == 0);
	}
}

/* --- made up ---------------------------------------------------------------------------------- */

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
		cmocka_unit_test(test_factors),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
