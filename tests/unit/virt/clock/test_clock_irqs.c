/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Injected interrupts in the alignment of two clocks: where guest time alone leaves it open. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "array.h"
#include "clock_world.h"
#include "enough.h"

#define SECOND			CLOCK_WORLD_SECOND
#define MS			1000000

#define IN	VIRT_CLOCK_INSIDE
#define OUT	VIRT_CLOCK_OUTSIDE
#define UNKNOWN	VIRT_CLOCK_UNKNOWN

#define TIMER	CLOCK_WORLD_TIMER
#define DEVICE	CLOCK_WORLD_DEVICE

/* --- by hand --------------------------------------------------------------------------------- */

/** In its guest from 1 to 5, 6 to 14 and 16 to 20 ms; not known from 14 and from 20 ms on. */
static const struct virt_clock_change changes[] = {
	{ 0, OUT }, { 1 * MS, IN }, { 5 * MS, OUT }, { 6 * MS, IN }, { 14 * MS, UNKNOWN },
	{ 16 * MS, IN }, { 20 * MS, UNKNOWN },
};

/** A timer at 0.5 ms, a device at 5.9 ms, a timer at 6.5 ms and one at 13.5 ms. */
static const struct virt_injection injections[] = {
	{ MS / 2, TIMER, false }, { 5900000, DEVICE, false }, { 6500000, TIMER, false },
	{ 13500000, TIMER, false },
};

static const struct virt_clock_vcpu vcpu = {
	.changes = changes, .n = ARRAY_SIZE(changes),
	.injections = injections, .n_injections = ARRAY_SIZE(injections),
};

/** Judge @n handlers with an offset of 0, of which @expected are explained, of @judged. */
static void judge(const struct virt_clock_handler *handlers, size_t n, uint64_t judged,
		  uint64_t expected)
{
	struct virt_clock_cpu cpu = { .handlers = handlers, .n_handlers = n };
	struct virt_clock_problem problem = { .vcpus = &vcpu, .n_vcpus = 1,
					      .cpus = &cpu, .n_cpus = 1 };
	struct virt_clock_alignment alignment;
	struct virt_clock_evidence evidence;
	int64_t time = 2 * MS;

	cpu.times = &time;
	cpu.n = 1;
	assert_int_equal(virt_clock_judge(&problem, 0, 0, &alignment, &evidence), 0);
	assert_int_equal(evidence.interrupts, judged);
	assert_int_equal(evidence.interrupts_explained, expected);
	assert_int_equal(alignment.interrupts, judged);
	assert_int_equal(alignment.interrupts_explained, expected);
}

static void test_by_hand(void **state)
{
	/* the timer of 0.5 ms gets to its guest at 1 ms and counts for 1 ms from there, up to 2 ms;
	 * that of 6.5 ms is injected into guest time and counts up to 7.5 ms; that of 13.5 ms up to
	 * 14 ms, from where on nothing is known */
	static const struct virt_clock_handler timers[] = {
		{ MS / 2 - 1, TIMER },		/* before it */
		{ MS / 2, TIMER }, { 2 * MS - 1, TIMER },	/* explained */
		{ 2 * MS, TIMER },		/* too late */
		{ 6 * MS, TIMER },		/* a device's */
		{ 6500000, TIMER }, { 7500000 - 1, TIMER },	/* explained */
		{ 7500000, TIMER },		/* too late */
		{ 14 * MS - 1, TIMER },		/* explained */
		{ 14 * MS, TIMER }, { 14500001, TIMER },	/* not judged */
		{ 17 * MS, TIMER },		/* no injection */
		{ 21 * MS, TIMER },		/* not judged */
	};
	/* the device's counts from 5.9 ms up to the next injection at 6.5 ms, not up to 7 ms */
	static const struct virt_clock_handler devices[] = {
		{ MS, VIRT_CLOCK_DEVICE }, { 5900000, VIRT_CLOCK_DEVICE },
		{ 6500000 - 1, VIRT_CLOCK_DEVICE }, { 6500000, VIRT_CLOCK_DEVICE },
	};
	/* any of both, as no handler has its vector; if one has that of timers, the others
	 * are not for timers */
	static const struct virt_clock_handler any[] = {
		{ MS, VIRT_CLOCK_ANY }, { 6 * MS, VIRT_CLOCK_ANY }, { 7 * MS, VIRT_CLOCK_ANY },
		{ 8 * MS, VIRT_CLOCK_ANY },
	};
	static const struct virt_clock_handler others[] = {
		{ MS, TIMER }, { 6 * MS, VIRT_CLOCK_ANY }, { 7 * MS, VIRT_CLOCK_ANY },
	};
	/* what is never injected takes another way */
	static const struct virt_clock_handler posted[] = { { MS, 0xfd }, { 6 * MS, 0xfd } };

	(void)state;
	judge(timers, ARRAY_SIZE(timers), 10, 5);
	judge(devices, ARRAY_SIZE(devices), 4, 2);
	judge(any, ARRAY_SIZE(any), 4, 3);
	judge(others, ARRAY_SIZE(others), 3, 2);
	judge(posted, ARRAY_SIZE(posted), 0, 0);
}

static void test_invalid(void **state)
{
	static const struct virt_injection back[] = { { 5, TIMER, false }, { 4, TIMER, false } };
	static const struct virt_clock_handler handlers[] = {
		{ 5, TIMER }, { 6, 1000 }, { 7, INT32_MIN }, { 6, TIMER },
	};
	struct virt_clock_vcpu bad = vcpu;
	struct virt_clock_cpu cpu = { .handlers = handlers, .n_handlers = 4 };
	struct virt_clock_problem problem = { .vcpus = &bad, .n_vcpus = 1,
					      .cpus = &cpu, .n_cpus = 1 };
	struct virt_clock_alignment alignment;
	struct virt_clock_evidence evidence;

	(void)state;
	assert_int_equal(virt_clock_judge(&problem, 0, 0, &alignment, &evidence), -EINVAL);
	/* vectors that do not exist are left out */
	cpu.n_handlers = 3;
	assert_int_equal(virt_clock_judge(&problem, 0, 0, &alignment, &evidence), 0);
	assert_int_equal(virt_clock_align(&problem, &alignment, &evidence), 0);
	assert_int_not_equal(alignment.verdict, VIRT_CLOCK_GOOD);
	bad.injections = back;
	bad.n_injections = 2;
	assert_int_equal(virt_clock_judge(&problem, 0, 0, &alignment, &evidence), -EINVAL);
}

/* --- made up --------------------------------------------------------------------------------- */

/** The same every 4 ms; only the interrupts of a device show where one is. */
#define PERIODIC	.n = 2, .length = 15 * SECOND, .in = 3600000, .out = 400000, \
			.percent = 50, .events = 2, .offset = -86400 * SECOND, \
			.periodic = true, .irqs = true, .device_percent = 5

static void align(struct clock_world *world, bool irqs, struct virt_clock_alignment *alignment,
		  struct virt_clock_evidence *evidence)
{
	struct virt_clock_problem problem = world->problem;
	struct virt_clock_vcpu vcpus[CLOCK_WORLD_VCPUS];

	for (int32_t v = 0; v < problem.n_vcpus; v++) {
		vcpus[v] = problem.vcpus[v];
		if (!irqs)
			vcpus[v].n_injections = 0;
	}
	problem.vcpus = vcpus;
	assert_int_equal(virt_clock_align(&problem, alignment, evidence), 0);
	print_message("%lld .. %lld, %.3f ppm, %llu of %llu handlers: %s\n",
		      (long long)alignment->lo, (long long)alignment->hi, alignment->drift_ppm,
		      (unsigned long long)alignment->interrupts_explained,
		      (unsigned long long)alignment->interrupts,
		      virt_clock_verdict_text(alignment->verdict));
}

/** With injections it is found, within @width; without them it cannot be. */
static void decides(const struct clock_recipe *recipe, int64_t width)
{
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct clock_world world;

	clock_world_make(&world, recipe);
	align(&world, false, &alignment, evidence);
	assert_int_not_equal(alignment.verdict, VIRT_CLOCK_GOOD);
	assert_int_equal(alignment.interrupts, 0);
	assert_false(alignment.by_interrupts);
	align(&world, true, &alignment, evidence);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_GOOD);
	assert_true(alignment.by_interrupts);
	assert_true(alignment.lo <= recipe->offset && recipe->offset <= alignment.hi);
	assert_true(alignment.hi - alignment.lo <= width);
	assert_true(alignment.interrupts_explained <= alignment.interrupts);
	assert_int_equal(evidence[0].interrupts + evidence[1].interrupts, alignment.interrupts);
	clock_world_drop(&world);
}

static void test_periodic(void **state)
{
	(void)state;
	/* a handler is at most 10 us late, the last event 1 us before the end */
	decides(&(struct clock_recipe){ PERIODIC, .seed = 1, .has_vectors = true }, 11000);
	decides(&(struct clock_recipe){ PERIODIC, .seed = 2 }, 11000);
	/* an injection in ten is not recorded; a fifth of all is lost */
	decides(&(struct clock_recipe){ PERIODIC, .seed = 3,
			.has_vectors = true, .missed_percent = 10 },
		11000);
	decides(&(struct clock_recipe){ PERIODIC, .seed = 4, .lost_percent = 20 }, 11000);
	/* one event of 500 is anywhere */
	decides(&(struct clock_recipe){ PERIODIC, .seed = 5, .wrong = 500 }, 11000);
}

/** Nothing but handlers, at the begin of long stretches, which leave it open where in them. */
static void test_narrow(void **state)
{
	const struct clock_recipe recipe = {
		.n = 2, .length = 30 * SECOND, .in = 30 * MS, .out = 3 * MS, .offset = 5 * SECOND,
		.periodic = true, .irqs = true, .device_percent = 10, .seed = 6,
	};
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct clock_world world;

	(void)state;
	/* by guest time: from 5 us too early, where the first handler is at the entry, up to 29.99
	 * ms too late, where the last one is at the exit */
	clock_world_make(&world, &recipe);
	align(&world, false, &alignment, evidence);
	assert_true(alignment.hi - alignment.lo > 29980000);
	assert_true(alignment.hi - alignment.lo < 30 * MS);
	/* by handlers: up to 1 ms too late, from where on they do not count */
	align(&world, true, &alignment, evidence);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_GOOD);
	assert_true(alignment.lo <= recipe.offset && alignment.lo > recipe.offset - 10000);
	assert_true(alignment.hi >= recipe.offset && alignment.hi < recipe.offset + MS);
	clock_world_drop(&world);
}

static void test_pairing(void **state)
{
	struct clock_recipe recipe = { PERIODIC, .seed = 7 };
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
	align(&world, true, &alignment, evidence);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_GOOD);
	assert_true(alignment.lo <= recipe.offset && recipe.offset <= alignment.hi);
	assert_int_equal(evidence[0].vcpu, 1);
	assert_int_equal(evidence[1].vcpu, 0);
	clock_world_drop(&world);
}

/** The same guest, with the injections of another one: nothing speaks for any of them. */
static void test_foreign(void **state)
{
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct clock_world a, b;

	(void)state;
	for (unsigned int seed = 10; seed < 12; seed += ENOUGH(2)) {
		clock_world_make(&a, &(struct clock_recipe){ PERIODIC, .seed = seed });
		clock_world_make(&b, &(struct clock_recipe){ PERIODIC, .seed = seed + 10,
							     .has_vectors = seed % 2 });
		a.problem.cpus = b.cpus;
		align(&a, true, &alignment, evidence);
		assert_int_not_equal(alignment.verdict, VIRT_CLOCK_GOOD);
		clock_world_drop(&a);
		clock_world_drop(&b);
	}
}

#define USUAL	.n = 2, .length = 10 * SECOND, .in = 300000, .out = 400000, .percent = 60, \
		.events = 4, .irqs = true, .device_percent = 20, .offset = 77 * SECOND

/** Where guest time decides, injections change nothing, right or wrong. */
static void test_unchanged(void **state)
{
	static const struct clock_recipe recipes[] = {
		{ USUAL, .seed = 30 }, { USUAL, .seed = 31, .has_vectors = true },
		{ USUAL, .seed = 32, .missed_percent = 30 }, { USUAL, .seed = 33, .wrong = 100 },
		{ USUAL, .seed = 34, .missed_percent = 60 },
		{ USUAL, .seed = 35, .missed_percent = 99 },
		{ USUAL, .seed = 36, .lost_percent = 33 },
	};
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment with, without;
	struct clock_world world, other;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(recipes); i += ENOUGH(7)) {
		clock_world_make(&world, &recipes[i]);
		align(&world, false, &without, evidence);
		assert_int_equal(without.verdict, VIRT_CLOCK_GOOD);
		align(&world, true, &with, evidence);
		assert_int_equal(with.verdict, VIRT_CLOCK_GOOD);
		assert_int_equal(with.lo, without.lo);
		assert_int_equal(with.hi, without.hi);
		/* injections of another guest */
		clock_world_make(&other, &(struct clock_recipe){ USUAL, .seed = 50 });
		for (int v = 0; v < 2; v++) {
			world.vcpus[v].injections = other.injections[v];
			world.vcpus[v].n_injections = other.vcpus[v].n_injections;
		}
		align(&world, true, &with, evidence);
		assert_int_equal(with.verdict, VIRT_CLOCK_GOOD);
		assert_false(with.by_interrupts);
		assert_int_equal(with.lo, without.lo);
		assert_int_equal(with.hi, without.hi);
		clock_world_drop(&world);
		clock_world_drop(&other);
	}
}

static void test_drift(void **state)
{
	static const double ppm[] = { 30, -120 };
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct clock_world world;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ppm); i++) {
		clock_world_make(&world, &(struct clock_recipe){ USUAL, .seed = 60,
								 .ppm = ppm[i] });
		align(&world, true, &alignment, evidence);
		assert_int_equal(alignment.verdict, VIRT_CLOCK_GOOD);
		assert_true(alignment.by_interrupts);
		assert_true(alignment.drift_ppm > ppm[i] - 1 && alignment.drift_ppm < ppm[i] + 1);
		clock_world_drop(&world);
	}
}

/** Stop at the n-th question. */
static bool is_over(void *arg)
{
	int *left = arg;

	return !(*left)--;
}

static void test_stop(void **state)
{
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct clock_recipe recipe = { PERIODIC, .seed = 1, .ppm = 50 };
	int left, n, ret = -ECANCELED;
	struct clock_world world;

	(void)state;
	/* every search is gone through, many times in part: a short trace will do */
	recipe.length /= 6;
	clock_world_make(&world, &recipe);
	world.cpus[0].vcpu = world.cpus[1].vcpu = VIRT_NONE;
	world.problem.stop = is_over;
	world.problem.stop_arg = &left;
	/* all the way through, but for steps that come again and again */
	for (n = 0; ret == -ECANCELED; n += 1 + n / 2) {
		left = n;
		ret = virt_clock_align(&world.problem, &alignment, evidence);
		assert_int_equal(left, ret ? -1 : left);
	}
	assert_int_equal(ret, 0);
	assert_true(n > 20);
	clock_world_drop(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_periodic),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_pairing),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_unchanged),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
