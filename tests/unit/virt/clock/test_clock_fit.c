/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a candidate to a line, and whole alignments of worlds so small that they take no time. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "clock_chance.h"
#include "clock_small.h"
#include "clock_world.h"
#include "enough.h"

#define IN	VIRT_CLOCK_INSIDE
#define OUT	VIRT_CLOCK_OUTSIDE
#define UNKNOWN	VIRT_CLOCK_UNKNOWN

#define SECOND	CLOCK_WORLD_SECOND
#define MS	INT64_C(1000000)
#define US	INT64_C(1000)

/* --- lines ------------------------------------------------------------------------------------ */

static void test_offset(void **state)
{
	const struct clock_fit fit = { .rate = { 1e-4, 1000000 } };
	const struct clock_fit back = { .rate = { -1e-4, 1000000 } };
	const struct clock_fit still = { .rate = { 0, 1000000 } };

	(void)state;
	assert_int_equal(clock_fit_offset(&fit, 7), 7 - 100);
	assert_int_equal(clock_fit_offset(&back, 7), 7 + 100);
	assert_int_equal(clock_fit_offset(&still, 7), 7);
}

/** Farther from each other than four times their width and 80 us, at the pivot of the first. */
static void test_differ(void **state)
{
	const struct clock_fit narrow = { .lo = 0, .hi = 0 };
	struct clock_fit other = { .lo = 79900, .hi = 80100 };

	(void)state;
	/* 800 of 200 wide: 80800 are the same, 80801 are not */
	assert_false(clock_fits_differ(&narrow, &other));
	other.lo += 800;
	other.hi += 800;
	assert_false(clock_fits_differ(&narrow, &other));
	assert_false(clock_fits_differ(&other, &narrow));
	other.lo++;
	other.hi++;
	assert_true(clock_fits_differ(&narrow, &other));
	assert_true(clock_fits_differ(&other, &narrow));
	/* lower by the same, too */
	other = (struct clock_fit){ .lo = -80000, .hi = -80000 };
	assert_false(clock_fits_differ(&narrow, &other));
	other.lo = --other.hi;
	assert_true(clock_fits_differ(&narrow, &other));
	/* with a drift: 1000 s later, 100 ppm do 100 ms */
	other = (struct clock_fit){ .rate = { 1e-4, 1000 * SECOND } };
	assert_true(clock_fits_differ(&narrow, &other));
	assert_false(clock_fits_differ(&other, &narrow));
}

/** As many events as meet 300000 changes, on the average, while offsets go over a window. */
static void test_affordable(void **state)
{
	static struct virt_clock_change changes[1001];
	struct virt_clock_vcpu vcpus[] = { { .changes = changes, .n = 1001 }, { .n = 0 } };
	const struct virt_clock_problem problem = { .vcpus = vcpus, .n_vcpus = 2 };
	struct clock_search search;

	(void)state;
	for (int i = 0; i < 1001; i++)
		changes[i] = (struct virt_clock_change){ 1000 * i, i % 2 ? OUT : IN };
	clock_small_begin(&search, &problem);
	/* 1001 in all of it: 300000 / 1002; who has no changes has no part in it */
	assert_int_equal(clock_affordable(&search, 1000001, 5000), 299);
	assert_int_equal(clock_affordable(&search, 1000001, 300), 299);
	assert_int_equal(clock_affordable(&search, 1000001, 299), 299);
	assert_int_equal(clock_affordable(&search, 1000001, 200), 200);
	/* hardly any in hardly any */
	assert_int_equal(clock_affordable(&search, 0, 5000), 5000);
	/* never fewer than show anything */
	assert_int_equal(clock_affordable(&search, 10 * 1000001, 5000), 50);
	clock_small_end(&search);
	vcpus[0].n = 0;
	clock_small_begin(&search, &problem);
	search.host_begin = search.host_end = 0;
	assert_int_equal(clock_affordable(&search, 1000, 5000), 5000);
	clock_small_end(&search);
}

/* --- following -------------------------------------------------------------------------------- */

#define SMALL	.n = 2, .length = 2 * SECOND, .in = 300000, .out = 400000, .percent = 60, \
		.events = 2

/** From a tenth of the trace, near an offset, to all of it, with its drift. */
static void test_grow(void **state)
{
	static const double ppm[] = { 0, 120, -240 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ppm); i++) {
		const struct clock_recipe recipe = { SMALL, .seed = 3 + (unsigned int)i,
						     .offset = 5 * SECOND, .ppm = ppm[i] };
		struct clock_world world;
		struct clock_search search;
		struct clock_candidate candidate;
		struct clock_fit fit;
		int64_t from, to, truth;

		clock_world_make(&world, &recipe);
		world.cpus[1].vcpu = VIRT_NONE;
		clock_small_begin(&search, &world.problem);
		from = search.guest_begin + SECOND;
		to = from + SECOND / 5;
		truth = clock_world_offset(&recipe, from + SECOND / 10);
		candidate = (struct clock_candidate){ truth - 30000, truth + 40000, 0 };
		fit = (struct clock_fit){
			.rate.pivot = from + SECOND / 10, .half = SECOND / 10,
			.range = 250e-6, .slack = 25000, .n_rates = 4,
		};
		assert_int_equal(clock_fit_piece(&search, from, to, &candidate, &fit), 0);
		assert_true(fit.apart);
		assert_int_equal(search.pool[fit.pairing + 1], 1);
		/* no pair is final before one line has been chosen */
		assert_int_equal(search.pairing[1], VIRT_NONE);
		assert_int_equal(clock_fit_grow(&search, &fit), 0);
		assert_true(fabs(fit.rate.rate * 1e6 - ppm[i]) < 1);
		assert_true(fit.rate.rate != 0 || ppm[i] == 0);
		assert_true(fit.lo - 1000 <= truth && truth <= fit.hi + 1000);
		assert_true(fit.score > fit.most / 100 * 99 && fit.score <= fit.most);
		assert_int_equal(search.pairing[1], VIRT_NONE);
		clock_small_end(&search);
		clock_world_drop(&world);
	}
}

/** Beside a candidate's range there is another peak: what was found is at the edge. */
static void test_apart(void **state)
{
	const struct clock_recipe recipe = { SMALL, .seed = 9, .offset = -SECOND };
	struct clock_candidate candidate = { -SECOND + 1, -SECOND + 40000, 0 };
	struct clock_fit fit = { .rate.pivot = 0 };
	struct clock_world world;
	struct clock_search search;

	(void)state;
	clock_world_make(&world, &recipe);
	clock_small_begin(&search, &world.problem);
	assert_int_equal(clock_fit_piece(&search, search.guest_begin, search.guest_end + 1,
					 &candidate, &fit), 0);
	assert_int_equal(fit.lo, candidate.lo);
	assert_false(fit.apart);
	candidate.lo -= 100000;
	assert_int_equal(clock_fit_piece(&search, search.guest_begin, search.guest_end + 1,
					 &candidate, &fit), 0);
	assert_true(fit.lo <= -SECOND && -SECOND <= fit.hi);
	assert_true(fit.apart);
	assert_int_equal(clock_fit_grow(&search, &fit), 0);
	assert_true(fit.perfect);
	assert_int_equal(fit.score, fit.most);
	assert_true(fit.rate.rate == 0);
	clock_small_end(&search);
	clock_world_drop(&world);
}

/** What explains all events is not perfect if handlers run when nothing was injected. */
static void test_perfect(void **state)
{
	const struct clock_recipe recipe = {
		.seed = 13, .n = 1, .length = 2 * SECOND, .in = 1 * MS, .out = 2 * MS,
		.events = 1, .periodic = true, .irqs = true, .has_vectors = true, .offset = -SECOND,
	};

	(void)state;
	for (int late = 0; late <= 1; late++) {
		const struct clock_candidate candidate = { -SECOND - 40000, -SECOND + 40000, 0 };
		struct clock_fit fit = { .rate.pivot = 0 };
		struct clock_world world;
		struct clock_search search;

		clock_world_make(&world, &recipe);
		for (int32_t v = 0; late && v < recipe.n; v++)
			for (size_t i = 0; i < world.vcpus[v].n_injections; i++)
				world.injections[v][i].time_ns += 100 * US;
		clock_small_begin(&search, &world.problem);
		search.irqs = true;
		assert_int_equal(clock_fit_piece(&search, search.guest_begin,
						 search.guest_end + 1, &candidate, &fit), 0);
		assert_int_equal(clock_fit_grow(&search, &fit), 0);
		assert_true(fit.lo <= -SECOND && -SECOND <= fit.hi);
		assert_int_equal(fit.perfect, !late);
		clock_small_end(&search);
		clock_world_drop(&world);
	}
}

/* --- neighbours ------------------------------------------------------------------------------- */

#define N_TURNS	400

/** A guest with a timer: the next turn explains nearly as much, if it is no farther than 20 ms. */
static void test_neighbours(void **state)
{
	static struct virt_clock_change changes[2 * N_TURNS];
	static int64_t times[N_TURNS - 40];
	const struct virt_clock_vcpu vcpu = { .changes = changes, .n = 2 * N_TURNS };
	const struct virt_clock_cpu cpu = { .times = times, .n = N_TURNS - 40 };
	const struct virt_clock_problem problem = { .vcpus = &vcpu, .n_vcpus = 1,
						    .cpus = &cpu, .n_cpus = 1 };
	static const int64_t periods[] = { 5 * MS, 15 * MS, 19 * MS, 25 * MS };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		struct virt_clock_alignment line = { .offset = 0, .lo = -50000, .hi = 49999 };
		struct clock_search search;
		int64_t other;

		for (int k = 0; k < N_TURNS; k++) {
			changes[2 * k] = (struct virt_clock_change){ periods[i] * k, IN };
			changes[2 * k + 1] = (struct virt_clock_change){ periods[i] * k + 100 * US,
									 OUT };
		}
		for (int k = 0; k < N_TURNS - 40; k++)
			times[k] = periods[i] * (k + 20) + 50 * US;
		clock_small_begin(&search, &problem);
		assert_int_equal(clock_fit_neighbours(&search, &line), 0);
		if (periods[i] > 20 * MS) {
			assert_int_equal(line.verdict, VIRT_CLOCK_GOOD);
			assert_int_equal(line.other_offset, 0);
		} else {
			assert_int_equal(line.verdict, VIRT_CLOCK_AMBIGUOUS);
			other = llabs(line.other_offset) % periods[i];
			assert_true(llabs(line.other_offset) >= periods[i] - 1);
			assert_true(other <= 1 || other >= periods[i] - 1);
		}
		clock_small_end(&search);
	}
}

/* --- all of it -------------------------------------------------------------------------------- */

static void align(struct clock_world *world, struct virt_clock_alignment *alignment,
		  struct virt_clock_evidence *evidence)
{
	assert_int_equal(virt_clock_align(&world->problem, alignment, evidence), 0);
	for (int32_t c = 0; c < world->problem.n_cpus; c++)
		assert_int_equal(evidence[c].inside + evidence[c].outside + evidence[c].unknown,
				 world->problem.cpus[c].n);
}

/** No drift, and unknown pairs; each event is somewhere once. */
static void test_align(void **state)
{
	const struct clock_recipe recipe = { SMALL, .seed = 31, .offset = -86400 * SECOND };
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct virt_clock_cpu cpus[3];
	struct clock_world world;

	(void)state;
	clock_world_make(&world, &recipe);
	cpus[0] = (struct virt_clock_cpu){ .vcpu = VIRT_NONE };
	cpus[1] = world.cpus[1];
	cpus[2] = world.cpus[0];
	cpus[1].vcpu = cpus[2].vcpu = VIRT_NONE;
	world.problem.cpus = cpus;
	world.problem.n_cpus = 3;
	world.work = UINT64_MAX;
	align(&world, &alignment, evidence);
	/* clocks that do not drift are found without a look at all drifts */
	assert_true(UINT64_MAX - world.work < 100000000);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_GOOD);
	assert_int_equal(evidence[0].vcpu, VIRT_NONE);
	assert_int_equal(evidence[1].vcpu, 1);
	assert_int_equal(evidence[2].vcpu, 0);
	assert_int_equal(alignment.outside, 0);
	assert_int_equal(alignment.inside, cpus[1].n + cpus[2].n);
	assert_true(alignment.explained_percent == 100);
	assert_true(alignment.drift_ppm == 0);
	assert_true(alignment.lo <= recipe.offset && recipe.offset <= alignment.hi);
	/* stretches last 300 us and 400 us, and a hundred are enough for 1 % of that */
	assert_true(alignment.hi - alignment.lo < 10000);
	assert_true(alignment.offset >= alignment.lo && alignment.offset <= alignment.hi);
	assert_true(alignment.at >= cpus[2].times[0]);
	world.problem.n_cpus = 2;
	clock_world_drop(&world);
}

static void test_align_drift(void **state)
{
	static const double ppm[] = { 90, -200 };
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct clock_world world;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ppm); i++) {
		const struct clock_recipe recipe = { SMALL, .seed = 40 + (unsigned int)i,
						     .offset = 7 * SECOND, .ppm = ppm[i] };

		clock_world_make(&world, &recipe);
		align(&world, &alignment, evidence);
		assert_int_equal(alignment.verdict, VIRT_CLOCK_GOOD);
		assert_true(alignment.drift_lo_ppm <= ppm[i] && ppm[i] <= alignment.drift_hi_ppm);
		assert_true(fabs(alignment.drift_ppm - ppm[i]) < 2);
		assert_true(alignment.lo - 1000 <= clock_world_offset(&recipe, alignment.at) &&
			    clock_world_offset(&recipe, alignment.at) <= alignment.hi + 1000);
		clock_world_drop(&world);
	}
}

/** A line that leaves a few strays is enough: no other piece is searched, nine times as long. */
static void test_align_strays(void **state)
{
	struct clock_recipe recipe = { SMALL, .seed = 40, .offset = 7 * SECOND, .ppm = 90,
				       .wrong = 200 };
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct clock_world world;

	(void)state;
	recipe.length = 12 * SECOND;
	clock_world_make(&world, &recipe);
	world.work = UINT64_MAX;
	align(&world, &alignment, evidence);
	assert_true(UINT64_MAX - world.work < 300000000);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_GOOD);
	assert_true(alignment.outside > 0);
	assert_true(fabs(alignment.drift_ppm - 90) < 2);
	clock_world_drop(&world);
}

/** The events of another guest, and too few of the right one: nothing is aligned by these. */
static void test_refused(void **state)
{
	struct clock_recipe recipe = { SMALL, .seed = 51, .offset = 3 * SECOND };
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct clock_world world, other;

	(void)state;
	recipe.length = SECOND / 4;
	clock_world_make(&world, &recipe);
	recipe.seed++;
	clock_world_make(&other, &recipe);
	other.problem.vcpus = world.vcpus;
	align(&other, &alignment, evidence);
	assert_int_not_equal(alignment.verdict, VIRT_CLOCK_GOOD);
	assert_int_equal(alignment.at, 0);
	world.problem.n_cpus = 1;
	world.cpus[0].n = VIRT_CLOCK_MIN_EVENTS - 1;
	align(&world, &alignment, evidence);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_FEW);
	assert_int_equal(virt_clock_judge(&world.problem, recipe.offset, 0, &alignment, evidence),
			 0);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_FEW);
	assert_int_equal(alignment.inside, VIRT_CLOCK_MIN_EVENTS - 1);
	assert_int_equal(alignment.lo, recipe.offset);
	assert_int_equal(alignment.hi, recipe.offset);
	/* with one more, what is given is good; what is searched may still be chance */
	world.cpus[0].n++;
	assert_int_equal(virt_clock_judge(&world.problem, recipe.offset, 0, &alignment, evidence),
			 0);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_GOOD);
	assert_true(alignment.lo < recipe.offset && recipe.offset < alignment.hi);
	/* 95 of 100 are enough, 94 are not */
	world.cpus[0].n = 100;
	for (int missing = 5; missing <= 6; missing++) {
		int64_t *times = world.times[0];

		for (int i = 0; i < 100; i++)
			times[i] = world.changes[0][0].time + i;
		for (int i = 100 - missing; i < 100; i++)
			times[i] = world.changes[0][1].time + 100;
		assert_int_equal(virt_clock_judge(&world.problem, 0, 0, &alignment, evidence), 0);
		assert_int_equal(alignment.outside, missing);
		assert_int_equal(alignment.verdict, missing == 5 ? VIRT_CLOCK_GOOD :
								   VIRT_CLOCK_POOR);
	}
	world.problem.n_cpus = 2;
	clock_world_drop(&world);
	clock_world_drop(&other);
}

/** Turns without any other sign: an offset beside explains nearly as much, and is returned. */
static void check_ambiguous(int64_t period)
{
	static struct virt_clock_change changes[2 * N_TURNS];
	static int64_t times[N_TURNS];
	const struct virt_clock_vcpu vcpu = { .changes = changes, .n = 2 * N_TURNS };
	const struct virt_clock_cpu cpu = { .times = times, .n = N_TURNS };
	const struct virt_clock_problem problem = { .vcpus = &vcpu, .n_vcpus = 1,
						    .cpus = &cpu, .n_cpus = 1 };
	struct virt_clock_alignment alignment, other;
	struct virt_clock_evidence evidence;

	for (int k = 0; k < N_TURNS; k++) {
		changes[2 * k] = (struct virt_clock_change){ period * k, IN };
		changes[2 * k + 1] = (struct virt_clock_change){ period * k + 1 * MS, OUT };
		times[k] = period * k + 500 * US;
	}
	assert_int_equal(virt_clock_align(&problem, &alignment, &evidence), 0);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_AMBIGUOUS);
	assert_int_equal(alignment.at, 0);
	assert_int_equal(virt_clock_judge(&problem, alignment.other_offset, 0, &other, &evidence),
			 0);
	assert_true(other.outside == 0 && other.inside > N_TURNS - 20);
	assert_true(llabs(alignment.other_offset - alignment.offset) > period - MS);
}

/** Near by, as of a timer; far away, where turns are long, and where they are short. */
static void test_ambiguous(void **state)
{
	(void)state;
	check_ambiguous(3 * MS);
	check_ambiguous(28 * MS);
	check_ambiguous(50 * MS);
	check_ambiguous(316 * MS);
}

/** What speaks for an alignment of the first vCPU. */
static double evidence_of(const struct virt_clock_problem *problem,
			  const struct virt_clock_alignment *alignment)
{
	struct clock_chance chance = { { 0 } };

	clock_chance_add(&chance, problem->vcpus, problem->cpus,
			 virt_clock_offset_at(alignment->offset, alignment->drift_ppm,
					      alignment->at, 0), alignment->drift_ppm);
	return clock_chance_against(&chance);
}

/** What chance alone reaches: by how many offsets, drifts and vCPUs it has to choose from. */
static double chance_of(const struct virt_clock_problem *problem,
			const struct virt_clock_alignment *alignment, int n_vcpus)
{
	const struct virt_clock_vcpu *vcpu = problem->vcpus;
	const struct virt_clock_cpu *cpu = problem->cpus;
	double host = (double)(vcpu->changes[vcpu->n - 1].time - vcpu->changes[0].time);
	double guest = (double)(cpu->times[cpu->n - 1] - cpu->times[0]);
	double width = (double)(alignment->hi - alignment->lo) + 1, drifts = 1;

	if (alignment->drift_ppm != 0)
		drifts += 500e-6 * fmin(host, guest) / width;
	/* in one of e^7 searches, with one of 11 shares of strays */
	return log((host + guest) / width) + log(drifts) + log(n_vcpus) + log(11) + 7;
}

/** The fewest events that are enough, more than @from, of a CPU that may be any of some vCPUs. */
static size_t count_enough(struct clock_world *world, int32_t vcpu, int n_vcpus, size_t from)
{
	/* the second one is behind the array's end */
	struct virt_clock_cpu cpus[2] = { { .times = world->times[0], .vcpu = vcpu } };
	size_t *n = &cpus[0].n;
	struct virt_clock_evidence evidence;
	struct virt_clock_alignment alignment;
	double chance = 0;

	world->problem.cpus = cpus;
	world->problem.n_vcpus = n_vcpus;
	for (*n = from; ; ++*n) {
		assert_true(*n <= world->cpus[0].n);
		align(world, &alignment, &evidence);
		assert_int_equal(evidence.vcpu, 0);
		if (alignment.verdict == VIRT_CLOCK_GOOD)
			break;
		assert_int_equal(alignment.verdict, VIRT_CLOCK_FEW);
		chance = chance_of(&world->problem, &alignment, n_vcpus);
		assert_true(evidence_of(&world->problem, &alignment) < chance);
	}
	/* one more adds evidence, and never leaves more open */
	assert_true(evidence_of(&world->problem, &alignment) >= chance);
	world->problem.cpus = world->cpus;
	return *n;
}

#define N_BUSY	300

/** The more a CPU's offset, drift and vCPU may be, the more has to speak for one of them. */
static void check_chance(unsigned int seed, double ppm)
{
	/* an event adds ln(4 / 3) */
	const struct clock_recipe recipe = {
		.seed = seed, .n = 1, .length = SECOND / 2, .in = 900000, .out = 300000,
		.events = 1, .percent = 100, .offset = 3 * SECOND, .ppm = ppm,
	};
	static struct virt_clock_vcpu vcpus[N_BUSY];
	static const struct virt_clock_change never[] = {
		{ CLOCK_WORLD_BEGIN, OUT }, { CLOCK_WORLD_BEGIN + SECOND / 2, UNKNOWN },
	};
	struct virt_clock_evidence evidence;
	struct virt_clock_alignment alignment;
	struct clock_world world;
	size_t one;

	clock_world_make(&world, &recipe);
	world.problem.work = NULL;
	vcpus[0] = world.vcpus[0];
	for (int i = 1; i < N_BUSY; i++)
		vcpus[i] = (struct virt_clock_vcpu){ .changes = never, .n = 2 };
	world.problem.vcpus = vcpus;
	world.problem.n_cpus = 1;
	one = count_enough(&world, 0, 1, VIRT_CLOCK_MIN_EVENTS);
	assert_true(one > VIRT_CLOCK_MIN_EVENTS);
	/* of one it is still known, of more it is not */
	assert_int_equal(count_enough(&world, VIRT_NONE, 1, one - 1), one);
	assert_true(count_enough(&world, VIRT_NONE, 2, one - 1) > one);
	world.problem.cpus = &(struct virt_clock_cpu){ .times = world.times[0], .n = one + 2,
						       .vcpu = VIRT_NONE };
	world.problem.n_vcpus = N_BUSY;
	align(&world, &alignment, &evidence);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_FEW);
	assert_int_equal(evidence.vcpu, 0);
	clock_world_drop(&world);
}

static void test_chance(void **state)
{
	static const struct {
		unsigned int	seed;
		double		ppm;
	} worlds[] = { { 73, 240 }, { 71, 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(worlds); i += ENOUGH(2))
		check_chance(worlds[i].seed, worlds[i].ppm);
}

/** Events as in any turn, handlers as in one: they show which one it is. */
static void test_by_handlers(void **state)
{
	const struct clock_recipe recipe = {
		.seed = 61, .n = 1, .length = 4 * SECOND, .in = 1 * MS, .out = 2 * MS,
		.events = 1, .percent = 0, .periodic = true, .irqs = true, .device_percent = 20,
		.has_vectors = true, .offset = 11 * SECOND,
	};
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	struct virt_clock_alignment alignment;
	struct clock_world world;

	(void)state;
	clock_world_make(&world, &recipe);
	align(&world, &alignment, evidence);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_GOOD);
	assert_true(alignment.by_interrupts);
	assert_int_equal(alignment.interrupts, world.cpus[0].n_handlers);
	assert_int_equal(alignment.interrupts_explained, alignment.interrupts);
	assert_int_equal(evidence[0].interrupts, alignment.interrupts);
	assert_true(alignment.lo <= recipe.offset && recipe.offset <= alignment.hi);
	/* without them, it stays open */
	world.cpus[0].n_handlers = 0;
	align(&world, &alignment, evidence);
	assert_int_equal(alignment.verdict, VIRT_CLOCK_AMBIGUOUS);
	assert_false(alignment.by_interrupts);
	clock_world_drop(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offset),
		cmocka_unit_test(test_differ),
		cmocka_unit_test(test_affordable),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_ambiguous),
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_apart),
		cmocka_unit_test(test_perfect),
		cmocka_unit_test(test_grow),
		cmocka_unit_test(test_align),
		cmocka_unit_test(test_align_drift),
		cmocka_unit_test(test_align_strays),
		cmocka_unit_test(test_by_handlers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
