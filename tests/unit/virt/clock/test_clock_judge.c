/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a given alignment explains, and what is refused: small timelines by hand. */
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
#include "clock_align.h"
#include "clock_limits.h"

#define SECOND	INT64_C(1000000000)

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
	/* numbers of an edited sidecar: cut, the same way everywhere */
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

/** Each array that is out of order, or has a time that no clock shows, is refused. */
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

/** To judge takes 60 steps for each change, event and so on: with fewer, nothing is known. */
static void test_work(void **state)
{
	static const int64_t times[] = { 120, 130 };
	const struct virt_clock_cpu cpus[] = { { .times = times, .n = 2 }, { .vcpu = VIRT_NONE } };
	uint64_t work = 60 * (1 + 8 + 3 + 1) + 2;
	const struct virt_clock_problem problem = { .vcpus = &vcpu_by_hand, .n_vcpus = 1,
						    .cpus = cpus, .n_cpus = 2, .work = &work };
	struct virt_clock_evidence evidence[2];
	struct virt_clock_alignment alignment;

	(void)state;
	assert_int_equal(CLOCK_WORK_JUDGE, 60);
	assert_int_equal(virt_clock_judge(&problem, 0, 0, &alignment, evidence), 0);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_FEW);
	assert_int_equal(alignment.inside, 2);
	assert_int_equal(work, 0);
	work = 60 * (1 + 8 + 3 + 1) + 1;
	assert_int_equal(virt_clock_judge(&problem, 0, 0, &alignment, evidence), 0);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_DENSE);
	assert_int_equal(alignment.unknown, 2);
	assert_int_equal(evidence[0].unknown, 2);
	assert_int_equal(evidence[1].vcpu, VIRT_NONE);
}

/** A host without a vCPU, a guest without a CPU: nothing is wrong with it, and nothing is known. */
static void test_empty(void **state)
{
	static const int64_t times[] = { 120, 130 };
	const struct virt_clock_cpu cpu = { .times = times, .n = 2, .vcpu = VIRT_NONE };
	struct virt_clock_problem problem = { .cpus = &cpu, .n_cpus = 1 };
	struct virt_clock_alignment alignment;
	struct virt_clock_evidence evidence;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(virt_clock_align(&problem, &alignment, &evidence), 0);
		assert_int_equal(alignment.verdict, VIRT_CLOCK_FEW);
		assert_int_equal(virt_clock_judge(&problem, 0, 0, &alignment, &evidence), 0);
		assert_int_equal(alignment.verdict, VIRT_CLOCK_FEW);
		assert_int_equal(alignment.unknown, i ? 0 : 2);
		problem = (struct virt_clock_problem){ .vcpus = &vcpu_by_hand, .n_vcpus = 1 };
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
		cmocka_unit_test(test_one_event),
		cmocka_unit_test(test_work),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
