/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Clocks of any guests on any hosts: how many are found, how often what is said of them is true,
 * and whether guests are found in traces of which they are not part. KSV_WORLDS: how many of each
 * kind, and as many that last for a short time as take as long.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "clock_world.h"

#define N_WORLDS	2
#define N_SHORT		5
#define MAX_PHASES	6

static unsigned int n_worlds = N_WORLDS;

static double from_to(double from, double to)
{
	return from + (double)(random() % 1000001) * 1e-6 * (to - from);
}

/** As often of some us as of some ms. */
static int64_t time_of(double least, double most)
{
	return (int64_t)exp(from_to(log(least), log(most)));
}

/* --- guests ---------------------------------------------------------------------------------- */

/** The same all the time, neither very busy nor very idle. */
static void be_steady(struct clock_recipe *recipe, struct clock_phase *phases)
{
	(void)phases;
	recipe->length = time_of(2e8, 2e9);
	recipe->in = time_of(1e5, 1e6);
	recipe->out = time_of(1e5, 1e6);
	recipe->percent = 40 + (int)(random() % 50);
	recipe->events = 1 + (int)(random() % 4);
}

/** Bursts of work of some kinds, and idle times between them, as a server's or a desktop's. */
static void be_bursty(struct clock_recipe *recipe, struct clock_phase *phases)
{
	int n = 2 + (int)(random() % (MAX_PHASES - 1));

	for (int i = 0; i < n; i++)
		phases[i] = random() % 2 ? (struct clock_phase){
			time_of(2e8, 2e9), time_of(5e4, 2e5), time_of(5e6, 6e7), 90, 3,
		} : (struct clock_phase){
			time_of(2e8, 2e9), time_of(1e5, 4e6), time_of(3e4, 1e6),
			50 + (int)(random() % 40), 2 + (int)(random() % 10),
		};
	/* there is always some work */
	phases[0] = (struct clock_phase){ time_of(2e8, 2e9), time_of(1e5, 6e5), time_of(1e5, 6e5),
					  70, 4 };
	phases[n] = (struct clock_phase){ 0, 0, 0, 0, 0 };
	recipe->phases = phases;
	recipe->length = time_of(2e9, 8e9);
}

/** Nearly always in its guest. */
static void be_busy_for(struct clock_recipe *recipe, double least, double most)
{
	recipe->length = time_of(least, most);
	recipe->in = time_of(1e6, 3e6);
	recipe->out = time_of(4e4, 2e5);
	recipe->percent = 60;
	recipe->events = 10 + (int)(random() % 20);
}

static void be_busy(struct clock_recipe *recipe, struct clock_phase *phases)
{
	(void)phases;
	be_busy_for(recipe, 4e9, 1e10);
}

/** For so long that there is an offset for nearly everything. */
static void be_busy_for_long(struct clock_recipe *recipe, struct clock_phase *phases)
{
	(void)phases;
	be_busy_for(recipe, 5e9, 2e10);
}

typedef void (*be_fn)(struct clock_recipe *recipe, struct clock_phase *phases);

/** With a drift, noise, lost and stray records, and a host's trace of only a part of the time. */
static struct clock_recipe any_guest(unsigned int seed, be_fn be, struct clock_phase *phases)
{
	struct clock_recipe recipe = { .seed = seed };

	srandom(seed);
	recipe.n = 1 + (int)(random() % CLOCK_WORLD_VCPUS);
	be(&recipe, phases);
	recipe.offset = (int64_t)from_to(-1e12, 1e12);
	recipe.ppm = random() % 4 ? from_to(-VIRT_CLOCK_MAX_PPM, VIRT_CLOCK_MAX_PPM) :
		     random() % 2 ? from_to(-2, 2) : 0;
	recipe.jitter = random() % 2 ? random() % 500 : 0;
	recipe.wrong = random() % 3 ? 0 : 200 + (int)(random() % 800);
	recipe.lost_percent = random() % 4 ? 0 : (int)(random() % 30);
	if (random() % 4 == 0) {
		recipe.host_from = recipe.length / 10 * (random() % 4);
		recipe.host_to = recipe.length / 10 * (6 + random() % 4);
	}
	return recipe;
}

/* --- pairs ----------------------------------------------------------------------------------- */

/** A guest, and a host's trace; there may be another guest on the host. */
struct pair {
	struct clock_phase phases[2][MAX_PHASES + 1];
	struct clock_recipe recipe, other;
	struct clock_world guest, host;
	struct virt_clock_vcpu vcpus[2 * CLOCK_WORLD_VCPUS];
	struct virt_clock_problem problem;
};

static void pair_make(struct pair *pair, unsigned int seed, be_fn be)
{
	pair->other = any_guest(seed + 500000, be, pair->phases[1]);
	pair->recipe = any_guest(seed, be, pair->phases[0]);
	clock_world_make(&pair->guest, &pair->recipe);
	clock_world_make(&pair->host, &pair->other);
	pair->problem = pair->guest.problem;
}

/** Both guests' vCPUs are there; whose is whose is not known. */
static void pair_mix(struct pair *pair)
{
	for (int32_t v = 0; v < pair->host.problem.n_vcpus; v++)
		pair->vcpus[v] = pair->host.vcpus[v];
	for (int32_t v = 0; v < pair->guest.problem.n_vcpus; v++)
		pair->vcpus[pair->host.problem.n_vcpus + v] = pair->guest.vcpus[v];
	pair->problem.vcpus = pair->vcpus;
	pair->problem.n_vcpus = pair->guest.problem.n_vcpus + pair->host.problem.n_vcpus;
}

static void unpair(struct pair *pair)
{
	for (int32_t c = 0; c < pair->guest.problem.n_cpus; c++)
		pair->guest.cpus[c].vcpu = VIRT_NONE;
}

static void pair_drop(struct pair *pair)
{
	clock_world_drop(&pair->guest);
	clock_world_drop(&pair->host);
}

/** The most that was needed of what work there may be, in per cent. */
static double most_work;

static void align(const struct pair *pair, struct virt_clock_alignment *alignment)
{
	struct virt_clock_problem problem = pair->problem;
	struct virt_clock_evidence evidence[CLOCK_WORLD_VCPUS];
	uint64_t work = clock_world_work(&problem), left = work;

	problem.work = &left;
	assert_int_equal(virt_clock_align(&problem, alignment, evidence), 0);
	assert_int_not_equal(alignment->verdict, VIRT_CLOCK_DENSE);
	most_work = fmax(most_work, 100 * (double)(work - left) / (double)work);
}

/* --- what is true ---------------------------------------------------------------------------- */

/** Sums over all worlds. */
struct tally {
	int		n, found, wrong_offset, wrong_drift;
	double		width;
};

/** At the time of the result, the true offset is in its interval; and the drift in its own. */
static void count(const struct clock_recipe *recipe, const struct virt_clock_alignment *alignment,
		  struct tally *tally)
{
	int64_t truth = clock_world_offset(recipe, alignment->at);
	bool wrong = truth < alignment->lo || truth > alignment->hi;

	tally->n++;
	if (alignment->verdict != VIRT_CLOCK_GOOD) {
		print_message("%u: %d vCPUs, %+.3f ppm: %s\n", recipe->seed, recipe->n,
			      recipe->ppm, virt_clock_verdict_text(alignment->verdict));
		return;
	}
	assert_true(alignment->lo <= alignment->offset && alignment->offset <= alignment->hi);
	tally->found++;
	tally->width += (double)(alignment->hi - alignment->lo);
	tally->wrong_offset += wrong;
	tally->wrong_drift += recipe->ppm < alignment->drift_lo_ppm - 1e-6 ||
			      recipe->ppm > alignment->drift_hi_ppm + 1e-6;
	if (wrong)
		print_message("%u: %+.3f ppm (%.3f), true offset %+lld, found %+lld .. %+lld\n",
			      recipe->seed, recipe->ppm, alignment->drift_ppm,
			      (long long)(truth - alignment->offset),
			      (long long)(alignment->lo - alignment->offset),
			      (long long)(alignment->hi - alignment->offset));
}

/** Guests with their own hosts, every third one beside another guest, half of them unpaired. */
static void finds(const char *name, be_fn be, unsigned int seed, unsigned int n, double share)
{
	struct tally tally = { 0 };

	for (unsigned int i = 0; i < n; i++) {
		struct virt_clock_alignment alignment;
		struct pair pair;

		pair_make(&pair, seed + i, be);
		if (i % 2)
			unpair(&pair);
		if (i % 3 == 0) {
			pair_mix(&pair);
			unpair(&pair);
		}
		align(&pair, &alignment);
		count(&pair.recipe, &alignment, &tally);
		pair_drop(&pair);
	}
	print_message("%s: %d of %d found, mean width %.0f ns; wrong: %d offsets, %d drifts\n",
		      name, tally.found, tally.n, tally.width / tally.found, tally.wrong_offset,
		      tally.wrong_drift);
	assert_true(tally.found >= tally.n * share);
	assert_true(tally.wrong_offset <= tally.n / 100);
	assert_true(tally.wrong_drift <= tally.n / 100);
}

static void test_steady(void **state)
{
	(void)state;
	finds("steady", be_steady, 1, N_SHORT * n_worlds, 0.95);
}

static void test_bursty(void **state)
{
	(void)state;
	finds("bursty", be_bursty, 100001, n_worlds, 0.9);
}

static void test_busy(void **state)
{
	(void)state;
	finds("busy", be_busy, 200001, n_worlds, 0.7);
}

/* --- what is not ----------------------------------------------------------------------------- */

/** The times between events, in another order. */
static void shuffle(struct clock_world *world)
{
	for (int32_t c = 0; c < world->problem.n_cpus; c++) {
		int64_t *times = world->times[c];
		size_t n = world->cpus[c].n;

		for (size_t i = n; i-- > 1; )
			times[i] -= times[i - 1];
		for (size_t i = n; i-- > 2; ) {
			size_t k = 1 + (size_t)random() % i;
			int64_t gap = times[i];

			times[i] = times[k];
			times[k] = gap;
		}
		for (size_t i = 1; i < n; i++)
			times[i] += times[i - 1];
	}
}

/** One guest's events with another one's vCPUs, or with its own, but in another order. */
static void refuses(const char *name, be_fn be, unsigned int seed, unsigned int n)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct virt_clock_alignment alignment;
		struct pair pair;

		pair_make(&pair, seed + i, be);
		unpair(&pair);
		if (i % 3 < 2) {
			pair.problem.vcpus = pair.host.vcpus;
			pair.problem.n_vcpus = pair.host.problem.n_vcpus;
		} else {
			shuffle(&pair.guest);
		}
		align(&pair, &alignment);
		pair_drop(&pair);
		if (alignment.verdict != VIRT_CLOCK_GOOD)
			continue;
		found++;
		print_message("%u: %.3f %% of %llu explained\n", seed + i,
			      alignment.explained_percent,
			      (unsigned long long)(alignment.inside + alignment.outside));
	}
	print_message("%s: %u of %u found\n", name, found, n);
	assert_int_equal(found, 0);
}

/** The same workload twice, as two recordings of it, or as two guests of a host. */
static void refuses_twice(const char *name, be_fn be, unsigned int seed,
			  unsigned int n)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct virt_clock_alignment alignment;
		struct pair pair;

		pair_make(&pair, seed + i, be);
		clock_world_drop(&pair.host);
		pair.other = pair.recipe;
		pair.other.seed += 500000;
		clock_world_make(&pair.host, &pair.other);
		pair.problem.vcpus = pair.host.vcpus;
		align(&pair, &alignment);
		pair_drop(&pair);
		found += alignment.verdict == VIRT_CLOCK_GOOD;
	}
	print_message("%s, another recording: %u of %u found\n", name, found, n);
	assert_int_equal(found, 0);
}

static void test_wrong_pairs(void **state)
{
	(void)state;
	refuses("steady", be_steady, 300001, N_SHORT * n_worlds / 2);
	refuses("bursty", be_bursty, 400001, n_worlds / 2);
	refuses("busy", be_busy, 600002, n_worlds / 2);
	/* some offset explains 98.1 % of 2053 events */
	refuses("busy for long", be_busy_for_long, 600008, (n_worlds + 3) / 4);
}

static void test_other_recordings(void **state)
{
	(void)state;
	refuses_twice("steady", be_steady, 700001, n_worlds / 2);
	refuses_twice("bursty", be_bursty, 800001, n_worlds / 2);
	refuses_twice("busy", be_busy, 900002, n_worlds / 2);
}

static void test_work(void **state)
{
	(void)state;
	print_message("at most %.1f %% of the work that may be\n", most_work);
	assert_true(most_work > 0 && most_work < 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_bursty),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_wrong_pairs),
		cmocka_unit_test(test_other_recordings),
		cmocka_unit_test(test_work),
	};
	const char *n = getenv("KSV_WORLDS");

	if (n)
		n_worlds = (unsigned int)strtoul(n, NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
