/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Alignment of two clocks: small timelines by hand, larger ones made up with a known offset. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "clock_world.h"

#define SECOND			CLOCK_WORLD_SECOND
#define DAY			(86400 * SECOND)

/* --- by hand --------------------------------------------------------------------------------- */

#define IN	VIRT_CLOCK_INSIDE
#define OUT	VIRT_CLOCK_OUTSIDE
#define UNKNOWN	VIRT_CLOCK_UNKNOWN

/**
 * In its guest from 100 to 199, 300 to 399 and 600 to 649; not known from 700 on.
 *
 *	100  200  300  400       600 650 700
 *	 ####      ####           ###    ????
 */
static const struct virt_clock_change by_hand[] = {
	{ 100, IN }, { 200, OUT }, { 300, IN }, { 400, OUT }, { 600, IN }, { 650, OUT },
	{ 700, UNKNOWN },
};
static const struct virt_clock_vcpu vcpu_by_hand = {
	.changes = by_hand, .n = ARRAY_SIZE(by_hand),
};

static void judge(const int64_t *times, size_t n, int64_t offset, double ppm,
		  struct virt_clock_alignment *alignment, struct virt_clock_evidence *evidence)
{
	struct virt_clock_cpu cpu = { .times = times, .n = n };
	struct virt_clock_problem problem = { .vcpus = &vcpu_by_hand, .n_vcpus = 1,
					      .cpus = &cpu, .n_cpus = 1 };

	assert_int_equal(virt_clock_judge(&problem, offset, ppm, alignment, evidence), 0);
}

static void test_judge(void **state)
{
	/* + 100: 99 before all, 100 in, 199 in, 200 out by 1, 299 out by 1, 450 out by 51,
	 * 649 in, 650 out by 1, 700 and 900 unknown */
	static const int64_t times[] = { -1, 0, 99, 100, 199, 350, 549, 550, 600, 800 };
	struct virt_clock_alignment alignment;
	struct virt_clock_evidence evidence;

	(void)state;
	judge(times, ARRAY_SIZE(times), 100, 0, &alignment, &evidence);
	assert_int_equal(alignment.inside, 3);
	assert_int_equal(alignment.outside, 4);
	assert_int_equal(alignment.unknown, 3);
	assert_int_equal(alignment.worst, 51);
	assert_int_equal(evidence.worst, 51);
	assert_int_equal(evidence.stretches, 2);
	assert_int_equal(evidence.vcpu, 0);
	/* 3 of 7 */
	assert_true(alignment.explained_percent > 42.857 && alignment.explained_percent < 42.858);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_POOR);
	assert_int_equal(alignment.lo, 100);
	assert_int_equal(alignment.hi, 100);
}

static void test_interval(void **state)
{
	/* 60 events from 0 to 59 and one at 235. They fall into 100..199 with 100 to 140, and the
	 * one into 300..399 with 65 to 164: all with 100 to 140 */
	int64_t times[61];
	struct virt_clock_alignment alignment;
	struct virt_clock_evidence evidence;

	(void)state;
	for (int i = 0; i < 60; i++)
		times[i] = i;
	times[60] = 235;
	judge(times, ARRAY_SIZE(times), 111, 0, &alignment, &evidence);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_GOOD);
	assert_int_equal(alignment.offset, 111);
	assert_int_equal(alignment.lo, 100);
	assert_int_equal(alignment.hi, 140);
	/* 164 is still right for the one, but 24 of the 60 lie behind 199: the last by 24 */
	judge(times, ARRAY_SIZE(times), 164, 0, &alignment, &evidence);
	assert_int_equal(alignment.outside, 24);
	assert_int_equal(alignment.worst, 24);
	/* nor is it enough if all is explained by one stretch: search, and it is refused */
	struct virt_clock_cpu cpu = { .times = times, .n = ARRAY_SIZE(times) };
	struct virt_clock_problem problem = { .vcpus = &vcpu_by_hand, .n_vcpus = 1,
					      .cpus = &cpu, .n_cpus = 1 };

	assert_int_equal(virt_clock_align(&problem, &alignment, &evidence), 0);
	assert_int_not_equal(alignment.verdict, VIRT_CLOCK_GOOD);
}

static void test_time(void **state)
{
	(void)state;
	assert_int_equal(virt_clock_host_time(-5, 0, 3), -2);
	/* 1 s is 200 us more at 200 ppm */
	assert_int_equal(virt_clock_host_time(7, 200, SECOND), SECOND + 200000 + 7);
	assert_int_equal(virt_clock_host_time(7, -200, SECOND), SECOND - 200000 + 7);
	assert_true(virt_clock_host_time(INT64_MAX, 0, INT64_MAX) == INT64_MAX);
	assert_true(virt_clock_host_time(INT64_MIN, 0, INT64_MIN / 2) == INT64_MIN);
	/* numbers of a sidecar that somebody has edited: cut, the same way everywhere */
	assert_true(virt_clock_host_time(INT64_MAX, 1e6, INT64_MAX) == INT64_MAX);
	assert_true(virt_clock_host_time(INT64_MIN, 1e6, INT64_MIN) == INT64_MIN);
	assert_int_equal(virt_clock_offset_at(7, 200, SECOND, 3 * SECOND), 400007);
	assert_int_equal(virt_clock_offset_at(7, 200, 3 * SECOND, SECOND), -399993);
	assert_true(virt_clock_offset_at(INT64_MAX, 1, INT64_MIN, INT64_MAX) == INT64_MAX);
	assert_true(virt_clock_offset_at(INT64_MIN, 1, INT64_MAX, INT64_MIN) == INT64_MIN);
	/* rounded to the nearest, in both directions */
	assert_int_equal(virt_clock_host_time(0, 0.4, 1000000), 1000000);
	assert_int_equal(virt_clock_host_time(0, 0.6, 1000000), 1000001);
	assert_int_equal(virt_clock_host_time(0, -0.6, 1000000), 999999);
	assert_int_equal(virt_clock_host_time(0, -0.4, 1000000), 1000000);
}

/** Each array that is out of order, or has a time that nobody's clock shows, is refused. */
static void test_refused(void **state)
{
	static const int64_t bad[][2] = {
		{ 5, 4 }, { INT64_MAX / 8 + 1, INT64_MAX / 8 + 1 },
		{ INT64_MIN / 8 - 1, INT64_MIN / 8 - 1 },
	};
	static const int64_t edges[] = { INT64_MIN / 8, INT64_MAX / 8 };
	struct virt_clock_alignment alignment;
	struct virt_clock_evidence evidence;

	(void)state;
	for (size_t i = 0; i <= ARRAY_SIZE(bad); i++) {
		const int64_t *t = i < ARRAY_SIZE(bad) ? bad[i] : edges;
		int wanted = i < ARRAY_SIZE(bad) ? -EINVAL : 0;
		const struct virt_clock_change changes[] = { { t[0], IN }, { t[1], OUT } };
		const struct virt_injection injections[] = {
			{ .time_ns = t[0] }, { .time_ns = t[1] },
		};
		const struct virt_clock_handler handlers[] = { { .time = t[0] }, { .time = t[1] } };

		for (int k = 0; k < 4; k++) {
			struct virt_clock_vcpu vcpu = {
				.changes = k == 0 ? changes : NULL, .n = k == 0 ? 2 : 0,
				.injections = k == 1 ? injections : NULL,
				.n_injections = k == 1 ? 2 : 0,
			};
			struct virt_clock_cpu cpu = {
				.times = k == 2 ? t : NULL, .n = k == 2 ? 2 : 0,
				.handlers = k == 3 ? handlers : NULL, .n_handlers = k == 3 ? 2 : 0,
				.vcpu = VIRT_NONE,
			};
			struct virt_clock_problem problem = { .vcpus = &vcpu, .n_vcpus = 1,
							      .cpus = &cpu, .n_cpus = 1 };

			assert_int_equal(virt_clock_align(&problem, &alignment, &evidence), wanted);
			assert_int_equal(virt_clock_judge(&problem, 0, 0, &alignment, &evidence),
					 wanted);
		}
	}
	for (int k = 0; k < 2; k++) {
		struct virt_clock_problem problem = { .n_vcpus = -k, .n_cpus = k - 1 };

		assert_int_equal(virt_clock_align(&problem, &alignment, &evidence), -EINVAL);
	}
}

/** How far an event is from guest code, where there is no such code on one side, or on none. */
static void test_distance(void **state)
{
	static const struct virt_clock_change once[] = { { 100, IN }, { 200, OUT } };
	static const struct virt_clock_change never[] = { { 100, OUT }, { 200, OUT } };
	static const int64_t late[] = { 210, 230 }, both[] = { 150, 203 };
	struct virt_clock_vcpu vcpu = { .changes = once, .n = 2 };
	struct virt_clock_cpu cpu = { .times = late, .n = 2 };
	struct virt_clock_problem problem = { .vcpus = &vcpu, .n_vcpus = 1,
					      .cpus = &cpu, .n_cpus = 1 };
	struct virt_clock_alignment alignment;
	struct virt_clock_evidence evidence;

	(void)state;
	/* behind the last stretch, whose last ns is 199 */
	assert_int_equal(virt_clock_judge(&problem, 0, 0, &alignment, &evidence), 0);
	assert_int_equal(alignment.outside, 2);
	assert_int_equal(alignment.worst, 31);
	cpu.times = both;
	assert_int_equal(virt_clock_judge(&problem, 0, 0, &alignment, &evidence), 0);
	assert_int_equal(alignment.inside, 1);
	assert_int_equal(alignment.worst, 4);
	/* no guest code at all: there is no distance to it */
	vcpu.changes = never;
	assert_int_equal(virt_clock_judge(&problem, 0, 0, &alignment, &evidence), 0);
	assert_int_equal(alignment.outside, 2);
	assert_int_equal(alignment.worst, 0);
}

static const char *text_of(int verdict)
{
	return virt_clock_verdict_text((enum virt_clock_verdict)verdict);
}

/** Each verdict has words of its own; a number that is none, too, instead of a crash. */
static void test_verdicts(void **state)
{
	(void)state;
	for (int a = VIRT_CLOCK_GOOD; a <= VIRT_CLOCK_DENSE + 1; a++)
		for (int b = VIRT_CLOCK_GOOD; b < a; b++)
			assert_string_not_equal(text_of(a), text_of(b));
	assert_string_equal(text_of(VIRT_CLOCK_DENSE + 1), "unknown");
}

static void test_invalid(void **state)
{
	static const struct virt_clock_change back[] = { { 5, IN }, { 4, OUT } };
	static const int64_t times[] = { 5, 4 };
	struct virt_clock_vcpu bad = { .changes = back, .n = 2 }, none = { 0 };
	struct virt_clock_cpu cpu = { .times = times, .n = 2 }, empty = { .vcpu = VIRT_NONE };
	struct virt_clock_problem problem = { .vcpus = &none, .n_vcpus = 1,
					      .cpus = &cpu, .n_cpus = 1 };
	struct virt_clock_alignment alignment;
	struct virt_clock_evidence evidence;

	(void)state;
	assert_int_equal(virt_clock_align(&problem, &alignment, &evidence), -EINVAL);
	cpu.n = 1;
	assert_int_equal(virt_clock_align(&problem, &alignment, &evidence), 0);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_FEW);
	assert_int_equal(alignment.unknown, 1);
	problem.vcpus = &bad;
	assert_int_equal(virt_clock_align(&problem, &alignment, &evidence), -EINVAL);
	problem.vcpus = &vcpu_by_hand;
	cpu.vcpu = 1;
	assert_int_equal(virt_clock_align(&problem, &alignment, &evidence), -EINVAL);
	cpu.vcpu = -2;
	assert_int_equal(virt_clock_judge(&problem, 0, 0, &alignment, &evidence), -EINVAL);
	problem.cpus = &empty;
	assert_int_equal(virt_clock_align(&problem, &alignment, &evidence), 0);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_FEW);
}

/* --- made up --------------------------------------------------------------------------------- */

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

#define USUAL	.n = 2, .length = 20 * SECOND, .in = 300000, .out = 400000, .percent = 60, \
		.events = 4

static void test_offsets(void **state)
{
	static const int64_t offsets[] = {
		0, 1, -3000, 40 * 1000, 7777777, -SECOND, 5 * SECOND, 1000 * SECOND,
		-3600 * SECOND, DAY, -17 * DAY, 400 * DAY,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++)
		align(&(struct clock_recipe){ USUAL, .seed = (unsigned int)i,
					      .offset = offsets[i] },
		      100);
}

static void test_drift(void **state)
{
	static const double ppm[] = { 1, -5, 20, -50, 100, -150, 200, -200 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ppm); i++)
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

#define BUSY	.n = 2, .length = 60 * SECOND, .in = 3000000, .out = 60000, .percent = 60, \
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
	for (unsigned int seed = 80; seed < 82; seed++) {
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
	align(&(struct clock_recipe){ .n = 2, .length = 600 * SECOND, .in = 300000, .out = 400000,
				      .percent = 60, .events = 4, .seed = 1, .offset = -DAY,
				      .host_from = 423 * SECOND, .host_to = 424 * SECOND }, 100);
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
	for (unsigned int seed = 50; seed < 54; seed++) {
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

/** No drift shows at one moment, and the search for it ends. */
static void test_one_event(void **state)
{
	static const struct virt_clock_change changes[] = { { 10, IN }, { 20, OUT }, { 30, IN } };
	static const int64_t times[] = { 15, 15 };
	const struct virt_clock_vcpu vcpu = { .changes = changes, .n = 3 };
	struct virt_clock_cpu cpu = { .times = times };
	const struct virt_clock_problem problem = {
		.vcpus = &vcpu, .n_vcpus = 1, .cpus = &cpu, .n_cpus = 1,
	};
	struct virt_clock_alignment alignment;
	struct virt_clock_evidence evidence;

	(void)state;
	for (cpu.n = 1; cpu.n <= 2; cpu.n++) {
		assert_int_equal(virt_clock_align(&problem, &alignment, &evidence), 0);
		assert_int_equal(alignment.verdict, VIRT_CLOCK_FEW);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_judge),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_work),
		cmocka_unit_test(test_one_event),
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
