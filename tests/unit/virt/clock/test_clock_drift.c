/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Clocks that drift, of made-up guests and of real ones: what is found, and what is said of it. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "align_data.h"
#include "array.h"
#include "clock_world.h"
#include "enough.h"
#include "sample_kvm.h"

#define SECOND			CLOCK_WORLD_SECOND
#define MS			INT64_C(1000000)

/* --- what is found --------------------------------------------------------------------------- */

/**
 * One of two guests of a host, as it was recorded once: it sleeps, is busy, has its two vCPUs talk
 * to each other, sleeps while the other guest works, and does the same again beside it.
 */
static const struct clock_phase one_of_two[] = {
	{ 2000 * MS, 100000, 40 * MS, 90, 3 }, { 2500 * MS, 3 * MS, 60000, 70, 12 },
	{ 2000 * MS, 250000, 150000, 80, 4 }, { 5000 * MS, 120000, 60 * MS, 90, 3 },
	{ 2500 * MS, 2 * MS, 700000, 70, 8 }, { 2000 * MS, 250000, 900000, 80, 4 },
	{ 0, 0, 0, 0, 0 },
};

#define ONE_OF_TWO	.n = 2, .length = 16 * SECOND, .phases = one_of_two, \
			.offset = INT64_C(-77777777777)

/** A busy guest: nearly all that its events say is in what is far from each other. */
#define BUSY		.n = 2, .length = 20 * SECOND, .in = 3 * MS, .out = 60000, .percent = 60, \
			.events = 30, .offset = INT64_C(-1234567890123)

static void finds(const struct clock_recipe *recipe, bool paired)
{
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct clock_world world;
	int64_t truth;

	clock_world_make(&world, recipe);
	for (int32_t c = 0; c < world.problem.n_cpus && !paired; c++)
		world.cpus[c].vcpu = VIRT_NONE;
	assert_int_equal(virt_clock_align(&world.problem, &alignment, evidence), 0);
	truth = clock_world_offset(recipe, alignment.at);
	print_message("%+.0f ppm: %.6f, off by %lld, width %lld: %s\n", recipe->ppm,
		      alignment.drift_ppm, (long long)(alignment.offset - truth),
		      (long long)(alignment.hi - alignment.lo),
		      virt_clock_verdict_text(alignment.verdict));
	assert_int_equal(alignment.verdict, VIRT_CLOCK_GOOD);
	assert_true(alignment.lo <= truth && truth <= alignment.hi);
	assert_true(fabs(alignment.drift_ppm - recipe->ppm) < 0.1);
	clock_world_drop(&world);
}

static void test_one_of_two(void **state)
{
	static const struct { unsigned int seed; double ppm; bool paired; } pairs[] = {
		{ 500, 200, true }, { 501, -200, true }, { 506, 249, false }, { 507, -249, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i += ENOUGH(3))
		finds(&(struct clock_recipe){ ONE_OF_TWO, .seed = pairs[i].seed,
					      .ppm = pairs[i].ppm }, pairs[i].paired);
}

static void test_busy(void **state)
{
	static const double ppm[] = { 125, -200 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(ppm); i += ENOUGH(2))
		finds(&(struct clock_recipe){ BUSY, .seed = 7 + i, .ppm = ppm[i] }, true);
}

/** The events of one with the vCPUs of the other: whatever the drift is, they are no pair. */
static void test_wrong(void **state)
{
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct clock_world a, b;

	(void)state;
	for (unsigned int seed = 600; seed < 602; seed += ENOUGH(2)) {
		clock_world_make(&a, &(struct clock_recipe){ ONE_OF_TWO, .seed = seed });
		clock_world_make(&b, &(struct clock_recipe){ ONE_OF_TWO, .seed = seed + 10,
							     .ppm = 150 });
		a.problem.cpus = b.cpus;
		assert_int_equal(virt_clock_align(&a.problem, &alignment, evidence), 0);
		assert_int_not_equal(alignment.verdict, VIRT_CLOCK_GOOD);
		clock_world_drop(&a);
		clock_world_drop(&b);
	}
}

/* --- real pairs ------------------------------------------------------------------------------ */

/** A host's machine, and its guest's events. */
struct real {
	struct kvm_trace	*guest, *host;
	struct virt_model	*model;
	struct align_machine	*machine;
	struct align_events	events;
};

static void load(struct real *real, const char *host, const char *guest)
{
	const struct align_stop never = { 0 };

	memset(real, 0, sizeof(*real));
	real->guest = open_sample(guest);
	real->host = open_sample(host);
	assert_int_equal(kvm_trace_model(real->host, NULL, NULL, NULL, &real->model), 0);
	real->machine = align_machine_new(real->model, 0, NULL);
	assert_non_null(real->machine);
	kvm_trace_hide_offsets(real->guest);
	assert_int_equal(align_events_read(real->guest, &never, &real->events), 0);
}

static void drop(struct real *real)
{
	align_events_free(&real->events);
	align_machine_free(real->machine);
	virt_model_free(real->model);
	kvm_trace_close(real->host);
	kvm_trace_close(real->guest);
}

/** Let the guest's clock drift, and leave the events of its trace from one part to another. */
static void alter(const struct real *real, double ppm, double from, double to,
		  struct virt_clock_cpu *cpus)
{
	int64_t begin = INT64_MAX, end = INT64_MIN;

	for (int32_t c = 0; c < real->events.n; c++) {
		const struct virt_clock_cpu *cpu = &real->events.cpus[c];

		assert_true(cpu->n > 0);
		begin = cpu->times[0] < begin ? cpu->times[0] : begin;
		end = cpu->times[cpu->n - 1] > end ? cpu->times[cpu->n - 1] : end;
	}
	for (int32_t c = 0; c < real->events.n; c++) {
		const struct virt_clock_cpu *cpu = &real->events.cpus[c];
		int64_t *times = malloc(cpu->n * sizeof(*times));
		size_t n = 0;

		assert_non_null(times);
		for (size_t i = 0; i < cpu->n; i++) {
			double part = (double)(cpu->times[i] - begin) / (double)(end - begin);

			if (part >= from && part <= to)
				times[n++] = llroundl((long double)cpu->times[i] /
						      (1 + (long double)ppm * 1e-6L));
		}
		cpus[c] = (struct virt_clock_cpu){ .times = times, .n = n, .vcpu = c };
	}
}

/** @offset: the true one without a drift, known to @tolerance */
static void finds_real(const struct real *real, double ppm, double from, double to, int64_t offset,
		       int64_t tolerance)
{
	struct virt_clock_evidence evidence[2];
	struct virt_clock_alignment alignment;
	struct virt_clock_cpu cpus[2];
	struct virt_clock_problem problem = {
		.vcpus = real->machine->vcpus, .n_vcpus = real->machine->n, .cpus = cpus,
		.n_cpus = 2,
	};
	int64_t truth;

	assert_int_equal(real->events.n, 2);
	alter(real, ppm, from, to, cpus);
	assert_int_equal(virt_clock_align(&problem, &alignment, evidence), 0);
	truth = virt_clock_offset_at(offset, ppm, 0, alignment.at);
	print_message("%+.0f ppm: %.3f (%.3f .. %.3f), off by %lld, width %lld: %s\n", ppm,
		      alignment.drift_ppm, alignment.drift_lo_ppm, alignment.drift_hi_ppm,
		      (long long)(alignment.offset - truth),
		      (long long)(alignment.hi - alignment.lo),
		      virt_clock_verdict_text(alignment.verdict));
	assert_int_equal(alignment.verdict, VIRT_CLOCK_GOOD);
	assert_true(alignment.explained_percent >= 99.9);
	assert_true(alignment.drift_lo_ppm <= ppm && ppm <= alignment.drift_hi_ppm);
	assert_true(alignment.lo <= truth + tolerance && truth - tolerance <= alignment.hi);
	for (int32_t c = 0; c < 2; c++)
		free((int64_t *)cpus[c].times);
}

static void test_real(void **state)
{
	struct real real;

	(void)state;
	/* KVM's own offset, of trace-cmd's samples */
	load(&real, "kvm-migration.dat", "kvm-migration-g1.dat");
	finds_real(&real, -249, 0.5, 1, 991330174251, 10);
	finds_real(&real, 200, 0, 1, 991330174251, 10);
	drop(&real);
	/* from all events without a drift, to 18.5 us */
	load(&real, "kvm-nosync.dat", "kvm-nosync-g1.dat");
	finds_real(&real, -200, 0, 1, 397320515241, 18525);
	finds_real(&real, 249, 0, 1, 397320515241, 18525);
	drop(&real);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_of_two),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_real),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
