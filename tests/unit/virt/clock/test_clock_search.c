/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples, candidates, and pairs of CPUs and vCPUs, in worlds made by hand. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "clock_small.h"

#define IN	VIRT_CLOCK_INSIDE
#define OUT	VIRT_CLOCK_OUTSIDE
#define UNKNOWN	VIRT_CLOCK_UNKNOWN

#define TIMER	0xec
#define DEVICE	0x22

static const struct clock_rate still = { 0, 0 };

/** Always inside, as far as it is known. */
static const struct virt_clock_change always[] = { { 1000, IN }, { 2000, UNKNOWN } };

/* --- samples ---------------------------------------------------------------------------------- */

/** CPU 0 has ten events at 0, 10 .. 90, CPU 1 thirty at 0, 3 .. 87, CPU 2 none. */
struct two {
	int64_t		times[2][30];
	struct virt_clock_handler handlers[40];
	struct virt_injection injections[2];
	struct virt_clock_vcpu vcpu;
	struct virt_clock_cpu cpus[3];
	struct virt_clock_problem problem;
};

static void make_two(struct two *two, struct clock_search *search)
{
	memset(two, 0, sizeof(*two));
	for (int i = 0; i < 30; i++) {
		two->times[0][i] = 10 * i;
		two->times[1][i] = 3 * i;
	}
	/* 30 handlers of a timer, and 2 of a device */
	for (int i = 0; i < 30; i++)
		two->handlers[i] = (struct virt_clock_handler){ 2 * i, TIMER };
	two->handlers[30] = (struct virt_clock_handler){ 70, DEVICE };
	two->handlers[31] = (struct virt_clock_handler){ 80, DEVICE };
	two->injections[0] = (struct virt_injection){ .time_ns = 1000, .vector = TIMER };
	two->injections[1] = (struct virt_injection){ .time_ns = 1500, .vector = DEVICE };
	two->vcpu = (struct virt_clock_vcpu){ .changes = always, .n = 2,
					      .injections = two->injections, .n_injections = 2 };
	two->cpus[0] = (struct virt_clock_cpu){ .times = two->times[0], .n = 10,
						.handlers = two->handlers, .n_handlers = 32 };
	two->cpus[1] = (struct virt_clock_cpu){ .times = two->times[1], .n = 30,
						.vcpu = VIRT_NONE };
	two->cpus[2] = (struct virt_clock_cpu){ .vcpu = VIRT_NONE };
	two->problem = (struct virt_clock_problem){ .vcpus = &two->vcpu, .n_vcpus = 1,
						    .cpus = two->cpus, .n_cpus = 3 };
	clock_small_begin(search, &two->problem);
}

static void check_sample(const struct clock_sample *sample, int32_t vcpu, const int64_t *times,
			 size_t n)
{
	assert_int_equal(sample->vcpu, vcpu);
	assert_int_equal(sample->n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(sample->times[i], times[i]);
}

#define CHECK_SAMPLE(sample, vcpu, ...)								\
	do {											\
		static const int64_t wanted[] = { __VA_ARGS__ };				\
												\
		check_sample(sample, vcpu, wanted, ARRAY_SIZE(wanted));				\
	} while (0)

/** A number of all events, each CPU its share, evenly; from a time to before another one. */
static void test_sample(void **state)
{
	struct clock_sample samples[9];
	struct clock_search search;
	struct two two;

	(void)state;
	make_two(&two, &search);
	assert_int_equal(clock_n_tracks(&search), 9);
	/* half of 40: 5 and 15; no handlers, who are not asked */
	assert_int_equal(clock_take_sample(&search, 0, 1000, 20, samples), 0);
	CHECK_SAMPLE(&samples[0], 0, 0, 20, 40, 60, 80);
	assert_int_equal(samples[1].n + samples[2].n, 0);
	CHECK_SAMPLE(&samples[3], VIRT_NONE, 0, 6, 12, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72, 78,
		     84);
	assert_int_equal(samples[6].n, 0);
	assert_int_equal(clock_most(&search, samples), 5 * search.tracks.vcpus[0].inside);
	free(samples[0].times);
	/* all of them; the end is not part of it */
	assert_int_equal(clock_take_sample(&search, 10, 30, 20, samples), 0);
	CHECK_SAMPLE(&samples[0], 0, 10, 20);
	CHECK_SAMPLE(&samples[3], VIRT_NONE, 12, 15, 18, 21, 24, 27);
	assert_int_equal(clock_n_events(&search, 10, 30), 8);
	assert_int_equal(clock_n_events(&search, 10, 31), 10);
	assert_int_equal(clock_n_events(&search, 11, 12), 0);
	free(samples[0].times);
	/* a CPU that has any has one, at least */
	assert_int_equal(clock_take_sample(&search, 0, 1000, 1, samples), 0);
	CHECK_SAMPLE(&samples[0], 0, 0);
	CHECK_SAMPLE(&samples[3], VIRT_NONE, 0);
	free(samples[0].times);
	assert_int_equal(clock_take_sample(&search, 1000, 2000, 20, samples), 0);
	assert_int_equal(samples[0].n + samples[3].n, 0);
	free(samples[0].times);
	clock_small_end(&search);
}

/** Rare interrupts say the most: each kind of each CPU has the same room, half of all. */
static void test_handlers(void **state)
{
	struct clock_sample samples[9];
	struct clock_search search;
	struct two two;

	(void)state;
	make_two(&two, &search);
	search.irqs = true;
	/* 60 / 2 for six kinds */
	assert_int_equal(clock_take_sample(&search, 0, 1000, 60, samples), 0);
	assert_int_equal(samples[0].n, 10);
	CHECK_SAMPLE(&samples[1], 1, 70, 80);
	CHECK_SAMPLE(&samples[2], 2, 0, 12, 24, 36, 48);
	assert_int_equal(samples[3].n, 30);
	/* their weights are in what could be, too */
	assert_int_equal(clock_most(&search, samples), 10 * search.tracks.vcpus[0].inside +
						       2 * search.tracks.vcpus[1].inside +
						       5 * search.tracks.vcpus[2].inside);
	free(samples[0].times);
	search.events = false;
	assert_int_equal(clock_take_sample(&search, 0, 1000, 60, samples), 0);
	assert_int_equal(samples[0].n + samples[3].n, 0);
	assert_int_equal(samples[2].n, 5);
	free(samples[0].times);
	clock_small_end(&search);
}

static bool at_once(void *arg)
{
	return *(bool *)arg;
}

static void test_stop(void **state)
{
	struct clock_candidate candidate;
	struct clock_sample samples[9];
	struct clock_search search;
	int64_t times[4];
	struct two two;
	bool stop = true;

	(void)state;
	make_two(&two, &search);
	two.problem.stop = at_once;
	two.problem.stop_arg = &stop;
	memset(samples, 0, sizeof(samples));
	assert_int_equal(clock_take_sample(&search, 0, 1000, 20, samples), -ECANCELED);
	assert_int_equal(clock_middles(&search, times, 4), -ECANCELED);
	assert_int_equal(clock_candidates(&search, &still, 0, 100, 0, NULL, &candidate, 1),
			 -ECANCELED);
	stop = false;
	assert_int_equal(clock_take_sample(&search, 0, 1000, 20, samples), 0);
	stop = true;
	assert_int_equal(clock_pair(&search, samples, &still, 1000, 1100), -ECANCELED);
	free(samples[0].times);
	stop = false;
	search.room.work = 0;
	memset(samples, 0, sizeof(samples));
	assert_int_equal(clock_take_sample(&search, 0, 1000, 20, samples), -ETIME);
	assert_int_equal(clock_middles(&search, times, 4), -ETIME);
	assert_int_equal(clock_candidates(&search, &still, 0, 100, 0, NULL, &candidate, 1), -ETIME);
	clock_small_end(&search);
}

/** Eight events in four parts: the second one of each; by all CPUs, whatever their order is. */
static void test_middles(void **state)
{
	static const int64_t a[] = { 0, 20, 40, 60 }, b[] = { 10, 30, 50, 5000 };
	const struct virt_clock_vcpu vcpu = { .changes = always, .n = 2 };
	struct virt_clock_cpu cpus[] = {
		{ .times = a, .n = 4 }, { .times = b, .n = 4, .vcpu = VIRT_NONE },
	};
	const struct virt_clock_problem problem = { .vcpus = &vcpu, .n_vcpus = 1,
						    .cpus = cpus, .n_cpus = 2 };
	struct clock_search search;
	int64_t times[4];

	(void)state;
	clock_small_begin(&search, &problem);
	assert_int_equal(clock_middles(&search, times, 4), 4);
	assert_int_equal(times[0], 10);
	assert_int_equal(times[1], 30);
	assert_int_equal(times[2], 50);
	assert_int_equal(times[3], 5000);
	assert_int_equal(clock_middles(&search, times, 1), 1);
	assert_int_equal(times[0], 40);
	clock_small_end(&search);
	cpus[0].n = cpus[1].n = 0;
	clock_small_begin(&search, &problem);
	search.guest_begin = search.guest_end = 0;
	assert_int_equal(clock_middles(&search, times, 4), 0);
	clock_small_end(&search);
}

/** All events that may be in the host's trace, 1000 to 2000, and hardly any others. */
static void test_reach(void **state)
{
	static const int64_t ends[] = { -5000, 5000 };
	const struct virt_clock_vcpu vcpu = { .changes = always, .n = 2 };
	const struct virt_clock_cpu cpu = { .times = ends, .n = 2 };
	const struct virt_clock_problem problem = { .vcpus = &vcpu, .n_vcpus = 1,
						    .cpus = &cpu, .n_cpus = 1 };
	const struct clock_rate twice = { 1, 100 };
	struct clock_search search;
	struct clock_stretch reach;

	(void)state;
	clock_small_begin(&search, &problem);
	reach = clock_reach(&search, &still, 0, 0);
	assert_int_equal(reach.from, 999);
	assert_int_equal(reach.to, 2001);
	/* the first one with the highest offset, the last one with the lowest */
	reach = clock_reach(&search, &still, -100, 300);
	assert_int_equal(reach.from, 699);
	assert_int_equal(reach.to, 2101);
	/* 100 + 2 * (t - 100) + offset: 550 is at 1000, 1050 at 2000 */
	reach = clock_reach(&search, &twice, 0, 0);
	assert_int_equal(reach.from, 549);
	assert_int_equal(reach.to, 1051);
	/* no more than there is */
	reach = clock_reach(&search, &still, -10000, 10000);
	assert_int_equal(reach.from, -5000);
	assert_int_equal(reach.to, 5001);
	/* nothing: before all, behind all */
	reach = clock_reach(&search, &still, 10000, 10000);
	assert_int_equal(reach.from, reach.to);
	reach = clock_reach(&search, &still, -10000, -10000);
	assert_int_equal(reach.from, reach.to);
	clock_small_end(&search);
}

/** What is more than chance: 15 nats, or a twentieth of all; what handlers may be late. */
static void test_thresholds(void **state)
{
	(void)state;
	assert_int_equal(clock_clear(0), 1500);
	assert_int_equal(clock_clear(30019), 1500);
	assert_int_equal(clock_clear(30020), 1501);
	assert_int_equal(clock_clear(60000), 3000);
	assert_true(clock_irqs_fit(8, 2));
	assert_false(clock_irqs_fit(7, 2));
	assert_true(clock_irqs_fit(0, 0));
	assert_false(clock_irqs_fit(0, 1));
}

/* --- candidates ------------------------------------------------------------------------------- */

#define N_OFFSETS	12000

/** The best ones of what each offset scores: no others within two, and equal ones in a row. */
static int pick(int64_t *scores, int64_t lo, struct clock_candidate *candidates, int max)
{
	for (int n = 0; n < max; n++) {
		int best = 0, last;

		for (int i = 1; i < N_OFFSETS; i++)
			if (scores[i] > scores[best])
				best = i;
		if (scores[best] == INT64_MIN)
			return n;
		for (last = best; last < N_OFFSETS - 1 && last < best + 8 &&
		     scores[last + 1] == scores[best]; )
			last++;
		candidates[n] = (struct clock_candidate){ lo + best, lo + last, scores[best] };
		for (int i = best > 2 ? best - 2 : 0; i <= last + 2 && i < N_OFFSETS; i++)
			scores[i] = INT64_MIN;
	}
	return max;
}

/** Several hills, of different heights, far from each other and near. */
static void test_candidates(void **state)
{
	static const struct virt_clock_change changes[] = {
		{ 0, OUT }, { 1500, IN }, { 1503, OUT }, { 3000, IN }, { 3030, OUT },
		{ 3100, IN }, { 3120, OUT }, { 5000, IN }, { 5010, OUT }, { 5100, IN },
		{ 5110, OUT }, { 5300, IN }, { 5304, OUT }, { 9000, IN }, { 9015, OUT },
		{ 9100, IN }, { 9112, OUT }, { 9300, IN }, { 9313, OUT }, { 11000, UNKNOWN },
	};
	static const int64_t times[] = { 0, 100, 100, 300 };
	const struct virt_clock_vcpu vcpu = { .changes = changes, .n = ARRAY_SIZE(changes) };
	const struct virt_clock_cpu cpu = { .times = times, .n = 4 };
	const struct virt_clock_problem problem = { .vcpus = &vcpu, .n_vcpus = 1,
						    .cpus = &cpu, .n_cpus = 1 };
	struct clock_candidate found[24], wanted[24];
	struct clock_sample sample = { (int64_t *)times, 4, 0 };
	static int64_t scores[N_OFFSETS];
	struct clock_search search;
	int n;

	(void)state;
	clock_small_begin(&search, &problem);
	n = clock_candidates(&search, &still, 0, 301, 0, NULL, found, 24);
	for (int i = 0; i < N_OFFSETS; i++)
		scores[i] = i - 301 > 11000 ? INT64_MIN :
			    clock_small_score(search.tracks.vcpus, &sample, 1, &still, i - 301);
	assert_int_equal(n, pick(scores, -301, wanted, 24));
	for (int i = 0; i < n; i++) {
		assert_int_equal(found[i].lo, wanted[i].lo);
		assert_int_equal(found[i].hi, wanted[i].hi);
		assert_int_equal(found[i].score, wanted[i].score);
	}
	/* all four are inside at 5000 to 5003, and at 9000 to 9011, of which this is one hill */
	assert_int_equal(found[0].lo, 5000);
	assert_int_equal(found[0].hi, 5003);
	assert_int_equal(found[1].lo, 9000);
	assert_int_equal(found[1].hi, 9008);
	/* that is the best; the others without it, and without whatever it touches */
	n = clock_candidates(&search, &still, 0, 301, 0,
			     &(struct clock_candidate){ 4000, 9005, 0 }, found, 24);
	assert_true(n > 3);
	assert_int_equal(found[0].lo, 9006);
	assert_int_equal(found[0].hi, 9011);
	for (int i = 1; i < n; i++)
		assert_true(found[i].hi < 4000 || found[i].lo > 9005);
	/* times that may be wrong by 3: ranges are wider by that, and nearer ones are one */
	n = clock_candidates(&search, &still, 0, 301, 3, NULL, found, 24);
	assert_int_equal(n, 24);
	for (int i = 0; i < n; i++) {
		assert_true(i == 0 || found[i].score <= found[i - 1].score);
		assert_true(found[i].hi - found[i].lo >= 6);
		for (int k = 0; k < i; k++)
			assert_true(llabs(found[i].lo - found[k].lo) > 3);
	}
	assert_true(found[0].lo <= 5000 && 5000 <= found[0].hi);
	clock_small_end(&search);
}

/** As many as there are: the whole range is one candidate if all is the same in few bins. */
static void test_few_candidates(void **state)
{
	static const struct virt_clock_change once[] = { { 100, IN }, { 103, UNKNOWN } };
	static const int64_t times[] = { 0 };
	const struct virt_clock_vcpu vcpu = { .changes = once, .n = 2 };
	const struct virt_clock_cpu cpu = { .times = times, .n = 1 };
	const struct virt_clock_problem problem = { .vcpus = &vcpu, .n_vcpus = 1,
						    .cpus = &cpu, .n_cpus = 1 };
	struct clock_candidate found[24];
	struct clock_search search;

	(void)state;
	clock_small_begin(&search, &problem);
	/* bins are 99 to 103: before 0 is 1 that does not end yet, 100 .. 102 are inside */
	assert_int_equal(clock_candidates(&search, &still, 0, 1, 0, NULL, found, 24), 1);
	assert_int_equal(found[0].lo, 100);
	assert_int_equal(found[0].hi, 102);
	assert_int_equal(found[0].score, search.tracks.vcpus[0].inside);
	clock_small_end(&search);
}

/** A CPU of unknown pairing votes for whichever vCPU fits it best, here the second one. */
static void test_any_vcpu(void **state)
{
	static const struct virt_clock_change narrow[] = {
		{ 0, OUT }, { 100, IN }, { 110, OUT }, { 1000, UNKNOWN },
	};
	static const struct virt_clock_change wide[] = {
		{ 0, OUT }, { 300, IN }, { 323, OUT }, { 1000, UNKNOWN },
	};
	static const int64_t times[] = { 0, 10, 20 };
	const struct virt_clock_vcpu vcpus[] = {
		{ .changes = narrow, .n = 4 }, { .changes = wide, .n = 4 },
	};
	const struct virt_clock_cpu cpu = { .times = times, .n = 3, .vcpu = VIRT_NONE };
	const struct virt_clock_problem problem = { .vcpus = vcpus, .n_vcpus = 2,
						    .cpus = &cpu, .n_cpus = 1 };
	struct clock_candidate found;
	struct clock_search search;

	(void)state;
	clock_small_begin(&search, &problem);
	/* all three are inside from 300 to 302; each range is wider by the slack */
	for (int64_t slack = 0; slack < 2; slack++) {
		assert_int_equal(clock_candidates(&search, &still, 0, 21, slack, NULL, &found, 1),
				 1);
		assert_int_equal(found.score, 3 * search.tracks.vcpus[1].inside);
		assert_true(found.lo <= 300 && 302 <= found.hi);
		assert_int_equal(found.hi - found.lo, slack ? 6 : 2);
	}
	clock_small_end(&search);
}

/* --- pairing ---------------------------------------------------------------------------------- */

/** Three vCPUs: in from 100 on, in from 300 on, in all the time from 100 to 500. */
static const struct virt_clock_change third[] = { { 0, OUT }, { 100, IN }, { 200, OUT } };
static const struct virt_clock_change fourth[] = { { 0, OUT }, { 300, IN }, { 400, OUT } };
static const struct virt_clock_change both[] = { { 0, OUT }, { 100, IN }, { 400, OUT } };
static const struct virt_clock_vcpu three[] = {
	{ .changes = third, .n = 3 }, { .changes = fourth, .n = 3 }, { .changes = both, .n = 3 },
};

static void pair(const struct virt_clock_cpu *cpus, int32_t n_cpus, int32_t n_vcpus,
		 int32_t *pairing)
{
	const struct virt_clock_problem problem = { .vcpus = three, .n_vcpus = n_vcpus,
						    .cpus = cpus, .n_cpus = n_cpus };
	struct clock_sample samples[4] = { { 0 } };
	struct clock_search search;

	clock_small_begin(&search, &problem);
	assert_int_equal(clock_take_sample(&search, INT64_MIN / 8, INT64_MAX / 8, 1000, samples),
			 0);
	assert_int_equal(clock_pair(&search, samples, &still, 0, 0), 0);
	for (int32_t c = 0; c < n_cpus; c++) {
		pairing[c] = search.pairing[c];
		assert_int_equal(samples[c].vcpu, pairing[c]);
	}
	free(samples[0].times);
	clock_small_end(&search);
}

/** The clearest pair first, which takes its vCPU away from those who could also be it. */
static void test_pair(void **state)
{
	static const int64_t early[] = { 110, 120, 130 }, late[] = { 310, 320 };
	static const int64_t mixed[] = { 115, 125, 135, 315, 325 };
	const struct virt_clock_cpu a = { .times = early, .n = 3, .vcpu = VIRT_NONE };
	const struct virt_clock_cpu b = { .times = late, .n = 2, .vcpu = VIRT_NONE };
	const struct virt_clock_cpu c = { .times = mixed, .n = 5, .vcpu = VIRT_NONE };
	const struct virt_clock_cpu silent = { .vcpu = VIRT_NONE };
	const struct virt_clock_cpu known = { .times = late, .n = 2, .vcpu = 0 };
	int32_t pairing[4];

	(void)state;
	pair((struct virt_clock_cpu[]){ c, b, a }, 3, 3, pairing);
	assert_int_equal(pairing[0], 2);
	assert_int_equal(pairing[1], 1);
	assert_int_equal(pairing[2], 0);
	/* a CPU without events has no vCPU */
	pair((struct virt_clock_cpu[]){ silent, c, a, b }, 4, 3, pairing);
	assert_int_equal(pairing[0], VIRT_NONE);
	assert_int_equal(pairing[1], 2);
	assert_int_equal(pairing[2], 0);
	assert_int_equal(pairing[3], 1);
	/* given pairs stay, even if they fit worse: the others have the rest */
	pair((struct virt_clock_cpu[]){ known, a }, 2, 2, pairing);
	assert_int_equal(pairing[0], 0);
	assert_int_equal(pairing[1], 1);
	/* one too many: the one that fits least is left */
	pair((struct virt_clock_cpu[]){ b, a }, 2, 1, pairing);
	assert_int_equal(pairing[0], VIRT_NONE);
	assert_int_equal(pairing[1], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_handlers),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_middles),
		cmocka_unit_test(test_reach),
		cmocka_unit_test(test_thresholds),
		cmocka_unit_test(test_candidates),
		cmocka_unit_test(test_few_candidates),
		cmocka_unit_test(test_any_vcpu),
		cmocka_unit_test(test_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
