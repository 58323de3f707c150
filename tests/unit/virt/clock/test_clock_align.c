/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Alignment of two clocks: made up with a known offset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "array.h"
#include "clock_world.h"
#include "enough.h"

#define SECOND			CLOCK_WORLD_SECOND
#define DAY			(86400 * SECOND)

#define IN	VIRT_CLOCK_INSIDE
#define OUT	VIRT_CLOCK_OUTSIDE

static void align(const struct clock_recipe *recipe, double min_percent)
{
	struct clock_world world;
	struct virt_clock_alignment alignment;
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];

	clock_world_make(&world, recipe);
	assert_int_equal(virt_clock_align(&world.problem, &alignment, evidence), 0);
	print_message("offset %lld %+.2f ppm: off by %lld, width %lld, %.3f ppm, %.3f %% of %llu: "
		      "%s\n", (long long)recipe->offset, recipe->ppm,
		      (long long)clock_world_error(recipe, &alignment),
		      (long long)(alignment.hi - alignment.lo), alignment.drift_ppm,
		      alignment.explained_percent,
		      (unsigned long long)(alignment.inside + alignment.outside),
		      virt_clock_verdict_text(alignment.verdict));
	assert_int_equal(alignment.verdict, VIRT_CLOCK_GOOD);
	assert_true(alignment.explained_percent >= min_percent);
	/* half the interval, and what an unknown drift may add */
	assert_true(llabs(clock_world_error(recipe, &alignment)) <=
		    (alignment.hi - alignment.lo) / 2 + 1 + (recipe->ppm != 0 ? 10000 : 0));
	if (recipe->ppm == 0)
		assert_true(alignment.drift_ppm == 0);
	else
		assert_true(alignment.drift_ppm > recipe->ppm - 1 &&
			    alignment.drift_ppm < recipe->ppm + 1);
	clock_world_drop(&world);
}

#define BURST	100

#define USUAL	.n = 2, .length = 10 * SECOND, .in = 300000, .out = 400000, .percent = 60, \
		.events = 4

static void test_offsets(void **state)
{
	static const int64_t offsets[] = {
		0, 1, -3000, 40 * 1000, 7777777, -SECOND, 5 * SECOND, 1000 * SECOND,
		-3600 * SECOND, DAY, -17 * DAY, 400 * DAY,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i += ENOUGH(4))
		align(&(struct clock_recipe){ USUAL, .seed = (unsigned int)i,
					      .offset = offsets[i] },
		      100);
}

static void test_drift(void **state)
{
	static const double ppm[] = { 1, -5, 20, -50, 100, -150, 200, -200 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ppm); i += ENOUGH(3))
		align(&(struct clock_recipe){ USUAL, .seed = 20 + (unsigned int)i,
					.offset = 123456789, .ppm = ppm[i] }, 99.5);
	align(&(struct clock_recipe){ USUAL, .seed = 30, .offset = -3 * DAY, .ppm = 73 }, 99.5);
}

static void test_odd(void **state)
{
	(void)state;
	/* mostly idle: 0.2 ms of guest code every 20 ms or so */
	align(&(struct clock_recipe){ .n = 2, .length = 60 * SECOND, .in = 200000, .out = 20000000,
				.percent = 60, .events = 4, .seed = 40, .offset = -DAY }, 100);
	/* a third of the host's records lost; one of 100 events somewhere */
	align(&(struct clock_recipe){ USUAL, .seed = 41, .offset = 5 * SECOND, .lost_percent = 33 },
	      100);
	align(&(struct clock_recipe){ USUAL, .seed = 42, .offset = 77777, .wrong = 100 }, 99);
}

#define BUSY	.n = 2, .length = 30 * SECOND, .in = 3000000, .out = 60000, .percent = 60, \
		.events = 30

/** vCPUs that execute their guest nearly always: most events are inside by chance alone. */
static void test_busy(void **state)
{
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct clock_world a, b;

	(void)state;
	align(&(struct clock_recipe){ BUSY, .seed = 1, .offset = -DAY }, 100);
	align(&(struct clock_recipe){ BUSY, .seed = 5, .ppm = 20 }, 99.9);
	for (unsigned int seed = 80; seed < 82; seed += ENOUGH(2)) {
		clock_world_make(&a, &(struct clock_recipe){ BUSY, .seed = seed });
		clock_world_make(&b, &(struct clock_recipe){ BUSY, .seed = seed + 10 });
		a.problem.cpus = b.cpus;
		assert_int_equal(virt_clock_align(&a.problem, &alignment, evidence), 0);
		assert_int_not_equal(alignment.verdict, VIRT_CLOCK_GOOD);
		clock_world_drop(&a);
		clock_world_drop(&b);
	}
}

/** A host's trace of seconds, a guest's of minutes. */
static void test_part(void **state)
{
	(void)state;
	align(&(struct clock_recipe){ USUAL, .seed = 90, .offset = -DAY, .host_from = 3 * SECOND,
				      .host_to = 4 * SECOND }, 100);
	if (ENOUGH(2) == 1)
		align(&(struct clock_recipe){ .n = 2, .length = 600 * SECOND, .in = 300000,
					      .out = 400000, .percent = 60, .events = 4, .seed = 1,
					      .offset = -DAY, .host_from = 423 * SECOND,
					      .host_to = 424 * SECOND }, 100);
	align(&(struct clock_recipe){ .n = 2, .length = 120 * SECOND, .in = 300000, .out = 400000,
				      .percent = 60, .events = 4, .seed = 1, .ppm = 50,
				      .host_from = 20 * SECOND, .host_to = 30 * SECOND }, 99.9);
}

/** The events of one world with the vCPUs of another. */
/* A few events, long before the host's trace, that would fit into any of its longer stretches. */
static void test_early_burst(void **state)
{
	const struct clock_recipe recipe = {
		.seed = 7, .n = 1, .length = 2 * SECOND, .in = 600000, .out = 800000,
		.percent = 80, .events = 3, .offset = 1894 * SECOND,
	};
	struct clock_world world;
	struct virt_clock_alignment alignment;
	struct virt_clock_evidence evidence;
	int64_t *times;

	(void)state;
	clock_world_make(&world, &recipe);
	times = malloc((BURST + world.cpus[0].n) * sizeof(*times));
	assert_non_null(times);
	for (int i = 0; i < BURST; i++)
		times[i] = world.cpus[0].times[0] - 6 * SECOND + i * 3000;
	memcpy(times + BURST, world.cpus[0].times, world.cpus[0].n * sizeof(*times));
	world.cpus[0].times = times;
	world.cpus[0].n += BURST;
	assert_int_equal(virt_clock_align(&world.problem, &alignment, &evidence), 0);
	print_message("%llu inside, %llu not judged, off by %lld: %s\n",
		      (unsigned long long)alignment.inside, (unsigned long long)alignment.unknown,
		      (long long)clock_world_error(&recipe, &alignment),
		      virt_clock_verdict_text(alignment.verdict));
	assert_int_equal(alignment.verdict, VIRT_CLOCK_GOOD);
	assert_int_equal(alignment.inside, world.cpus[0].n - BURST);
	assert_int_equal(alignment.unknown, BURST);
	assert_true(llabs(clock_world_error(&recipe, &alignment)) <=
		    (alignment.hi - alignment.lo) / 2 + 1);
	free(times);
	clock_world_drop(&world);
}

static void test_wrong_pair(void **state)
{
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct clock_world a, b;

	(void)state;
	for (unsigned int seed = 50; seed < 54; seed += ENOUGH(4)) {
		clock_world_make(&a, &(struct clock_recipe){ USUAL, .seed = seed });
		clock_world_make(&b, &(struct clock_recipe){ USUAL, .seed = seed + 10,
							     .offset = SECOND });
		a.problem.cpus = b.cpus;
		assert_int_equal(virt_clock_align(&a.problem, &alignment, evidence), 0);
		assert_int_not_equal(alignment.verdict, VIRT_CLOCK_GOOD);
		clock_world_drop(&a);
		clock_world_drop(&b);
	}
}

static void test_unknown_pairing(void **state)
{
	struct clock_recipe recipe = { USUAL, .seed = 70, .offset = -9 * SECOND };
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct virt_clock_cpu cpus[2];
	struct clock_world world;

	(void)state;
	clock_world_make(&world, &recipe);
	cpus[0] = world.cpus[1];
	cpus[1] = world.cpus[0];
	cpus[0].vcpu = cpus[1].vcpu = VIRT_NONE;
	world.problem.cpus = cpus;
	assert_int_equal(virt_clock_align(&world.problem, &alignment, evidence), 0);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_GOOD);
	assert_true(alignment.lo <= recipe.offset && recipe.offset <= alignment.hi);
	assert_int_equal(evidence[0].vcpu, 1);
	assert_int_equal(evidence[1].vcpu, 0);
	clock_world_drop(&world);
}

/** A copy behind which nothing can be read. */
static void *fenced(const void *data, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
	char *map = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	assert_true(map != MAP_FAILED);
	assert_int_equal(mprotect(map + room, page, PROT_NONE), 0);
	return memcpy(map + room - bytes, data, bytes);
}

static void drop_fenced(const void *copy, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;

	munmap((char *)copy + bytes - room, room + page);
}

/** Nothing is read but what is in the lists, also where events are beyond the host's trace. */
static void test_fenced(void **state)
{
	const struct clock_recipe recipe = {
		.n = 2, .length = 3 * SECOND, .in = 300000, .out = 400000, .percent = 60,
		.events = 4, .seed = 71, .offset = -9 * SECOND,
		.host_from = SECOND / 2, .host_to = 5 * SECOND / 2,
	};
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct virt_clock_vcpu vcpus[2];
	struct virt_clock_cpu cpus[2];
	struct clock_world world;

	(void)state;
	clock_world_make(&world, &recipe);
	for (int i = 0; i < 2; i++) {
		vcpus[i] = world.problem.vcpus[i];
		vcpus[i].changes = fenced(vcpus[i].changes, vcpus[i].n * sizeof(*vcpus[i].changes));
		cpus[i] = world.problem.cpus[i];
		cpus[i].times = fenced(cpus[i].times, cpus[i].n * sizeof(*cpus[i].times));
		cpus[i].vcpu = VIRT_NONE;
	}
	world.problem.vcpus = fenced(vcpus, sizeof(vcpus));
	world.problem.cpus = fenced(cpus, sizeof(cpus));
	assert_int_equal(virt_clock_align(&world.problem, &alignment, evidence), 0);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_GOOD);
	assert_true(alignment.lo <= recipe.offset && recipe.offset <= alignment.hi);
	for (int i = 0; i < 2; i++) {
		drop_fenced(vcpus[i].changes, vcpus[i].n * sizeof(*vcpus[i].changes));
		drop_fenced(cpus[i].times, cpus[i].n * sizeof(*cpus[i].times));
	}
	drop_fenced(world.problem.vcpus, sizeof(vcpus));
	drop_fenced(world.problem.cpus, sizeof(cpus));
	clock_world_drop(&world);
}

#define N_SAME	1000

/** A guest that does the same again and again, and whatever it is compared with takes long. */
static void test_work(void **state)
{
	static struct virt_clock_change changes[2 * N_SAME];
	static int64_t times[N_SAME];
	const struct virt_clock_vcpu vcpu = { .changes = changes, .n = 2 * N_SAME };
	const struct virt_clock_cpu cpu = { .times = times, .n = N_SAME };
	uint64_t work = 0, needed;
	struct virt_clock_problem problem = {
		.vcpus = &vcpu, .n_vcpus = 1, .cpus = &cpu, .n_cpus = 1, .work = &work,
	};
	struct virt_clock_alignment alignment, unlimited;
	struct virt_clock_evidence evidence;

	(void)state;
	for (int i = 0; i < N_SAME; i++) {
		changes[2 * i] = (struct virt_clock_change){ 4000 * i, IN };
		changes[2 * i + 1] = (struct virt_clock_change){ 4000 * i + 2000, OUT };
		times[i] = 4000 * i + 1000;
	}
	work = UINT64_MAX;
	assert_int_equal(virt_clock_align(&problem, &unlimited, &evidence), 0);
	assert_int_equal(unlimited.verdict, VIRT_CLOCK_AMBIGUOUS);
	needed = UINT64_MAX - work;
	print_message("%.3f s of work\n", (double)needed * 1e-9);

	/* with as much, all is the same; with less, nothing is known */
	work = needed;
	assert_int_equal(virt_clock_align(&problem, &alignment, &evidence), 0);
	assert_memory_equal(&alignment, &unlimited, sizeof(alignment));
	assert_int_equal(work, 0);
	for (uint64_t part = 1; part <= needed; part *= 2) {
		work = needed / part - 1;
		assert_int_equal(virt_clock_align(&problem, &alignment, &evidence), 0);
		assert_int_equal(alignment.verdict, VIRT_CLOCK_DENSE);
		assert_true(!alignment.offset && !alignment.lo && !alignment.hi);
		assert_int_equal(alignment.unknown, cpu.n);
		assert_int_equal(work, 0);
	}
	assert_int_equal(virt_clock_judge(&problem, 0, 0, &alignment, &evidence), 0);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_DENSE);
	problem.work = NULL;
	assert_int_equal(virt_clock_judge(&problem, 0, 0, &alignment, &evidence), 0);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_GOOD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work),
		cmocka_unit_test(test_fenced),
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_odd),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_early_burst),
		cmocka_unit_test(test_wrong_pair),
		cmocka_unit_test(test_unknown_pairing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
