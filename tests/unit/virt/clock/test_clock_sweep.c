/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What events say of each offset: a sweep over them says the same as trying them one by one. */
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

static void test_find(void **state)
{
	static const struct virt_clock_change changes[] = {
		{ 10, IN }, { 20, OUT }, { 20, IN }, { 30, OUT },
	};
	const struct virt_clock_vcpu vcpu = { .changes = changes, .n = 4 }, none = { 0 };

	(void)state;
	assert_int_equal(clock_find(&vcpu, 9), -1);
	assert_int_equal(clock_find(&vcpu, 10), 0);
	assert_int_equal(clock_find(&vcpu, 19), 0);
	/* of two at one time the last one is in force */
	assert_int_equal(clock_find(&vcpu, 20), 2);
	assert_int_equal(clock_find(&vcpu, 29), 2);
	assert_int_equal(clock_find(&vcpu, INT64_MAX), 3);
	assert_int_equal(clock_find(&none, 0), -1);
}

static void test_apply(void **state)
{
	const struct clock_rate still = { 0, 77 }, fast = { 1e-6, 1000000 }, slow = { -1e-6, 0 };

	(void)state;
	assert_int_equal(clock_apply(&still, -5), -5);
	assert_int_equal(clock_apply(&fast, 1000000), 1000000);
	/* rounded to the nearest, at both sides of the pivot */
	assert_int_equal(clock_apply(&fast, 1499999), 1499999);
	assert_int_equal(clock_apply(&fast, 1500001), 1500002);
	assert_int_equal(clock_apply(&fast, 499999), 499998);
	assert_int_equal(clock_apply(&slow, 3000000), 2999997);
}

static void test_spend(void **state)
{
	uint64_t work = 10;

	(void)state;
	assert_int_equal(clock_spend(&work, 4), 0);
	assert_int_equal(work, 6);
	assert_int_equal(clock_spend(&work, 6), 0);
	assert_int_equal(work, 0);
	assert_int_equal(clock_spend(&work, 0), 0);
	work = 5;
	/* who has not enough has nothing left for something smaller */
	assert_int_equal(clock_spend(&work, 6), -ETIME);
	assert_int_equal(work, 0);
}

/** The weights of a vCPU that is @in inside and then @out outside. */
static struct clock_vcpu weights(int64_t in, int64_t out, bool irqs)
{
	static struct virt_clock_change changes[3];
	struct clock_vcpu vcpu = { .known = { .changes = changes, .n = 3 } };

	changes[0] = (struct virt_clock_change){ 500, IN };
	changes[1] = (struct virt_clock_change){ 500 + in, OUT };
	changes[2] = (struct virt_clock_change){ 500 + in + out, UNKNOWN };
	if (irqs)
		clock_weigh_irqs(&vcpu);
	else
		clock_weigh(&vcpu);
	return vcpu;
}

/** In hundredths of a nat: inside by how much likelier it is so, outside by how much rarer. */
static void test_weights(void **state)
{
	struct clock_vcpu vcpu = weights(9, 9, false);

	(void)state;
	/* ln(1 + 10 / 10) = 0.693, ln(10 / 19 / 0.001) = 6.266 */
	assert_int_equal(vcpu.inside, 69);
	assert_int_equal(vcpu.outside, 627);
	/* mostly outside: ln(1 + 1000 / 100) = 2.398; one outside undoes nine inside, at least */
	vcpu = weights(99, 999, false);
	assert_int_equal(vcpu.inside, 240);
	assert_int_equal(vcpu.outside, 9 * 240);
	/* hardly ever inside: no more than 5 nats */
	vcpu = weights(0, 1000000, false);
	assert_int_equal(vcpu.inside, 500);
	assert_int_equal(vcpu.outside, 9 * 500);
	/* never outside: as little as there is */
	vcpu = weights(1000000, 0, false);
	assert_int_equal(vcpu.inside, 1);
	assert_int_equal(vcpu.outside, 9);
	/* handlers run late now and then: both weigh the same */
	vcpu = weights(99, 999, true);
	assert_int_equal(vcpu.inside, 240);
	assert_int_equal(vcpu.outside, 240);
}

/* --- sweeps against trying -------------------------------------------------------------------- */

#define N_CHANGES	40
#define N_TIMES		30
#define N_CPUS		2

/** Two CPUs and their vCPUs, which do whatever comes. */
struct toy {
	struct virt_clock_change changes[N_CPUS][N_CHANGES];
	int64_t		times[N_CPUS][N_TIMES];
	struct clock_vcpu vcpus[N_CPUS];
	struct clock_sample samples[N_CPUS];
	struct clock_rate rate;
	int64_t		lo, hi;
};

/** @scale: of all times; @n_times: of each CPU */
static void make_toy(struct toy *toy, unsigned int seed, int64_t scale, size_t n_times)
{
	srandom(seed);
	toy->rate = (struct clock_rate){ seed % 3 ? 0.01 * (seed % 3) : 0, 50 };
	for (int c = 0; c < N_CPUS; c++) {
		int64_t time = 100 * scale;

		for (size_t i = 0; i < N_CHANGES; i++) {
			toy->changes[c][i] = (struct virt_clock_change){
				time, (int32_t)(random() % 3),
			};
			time += random() % 6 * 4 * scale;
		}
		for (size_t i = 0; i < n_times; i++)
			toy->times[c][i] = (int64_t)(i * 7) * scale + random() % 7;
		toy->vcpus[c] = (struct clock_vcpu){
			.known = { .changes = toy->changes[c], .n = N_CHANGES },
			/* equal ones, so that different events cancel out */
			.inside = 1, .outside = 1 + (int32_t)(seed % 2),
		};
		toy->samples[c] = (struct clock_sample){ toy->times[c], n_times, 1 - c };
	}
	toy->lo = -150 * scale;
	toy->hi = 450 * scale;
}

/** Offsets in a row that score the same. */
struct stretch {
	int64_t		lo, hi, score;
};

static int compare_offsets(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/** All stretches from lo to hi: a score only differs where an event comes to a change. */
static int try_all(const struct toy *toy, struct stretch *stretches)
{
	static int64_t at[N_CPUS * N_TIMES * N_CHANGES + 1];
	int n = 0, n_at = 0;

	at[n_at++] = toy->lo;
	for (int s = 0; s < N_CPUS; s++)
		for (size_t i = 0; i < toy->samples[s].n; i++)
			for (size_t k = 0; k < N_CHANGES; k++) {
				int64_t offset = toy->vcpus[toy->samples[s].vcpu].known.changes[k]
						 .time - clock_apply(&toy->rate, toy->times[s][i]);

				if (offset > toy->lo && offset <= toy->hi)
					at[n_at++] = offset;
			}
	qsort(at, (size_t)n_at, sizeof(*at), compare_offsets);
	for (int i = 0; i < n_at; i++) {
		int64_t score = clock_small_score(toy->vcpus, toy->samples, N_CPUS, &toy->rate,
						  at[i]);

		if (!n || stretches[n - 1].score != score)
			stretches[n++] = (struct stretch){ at[i], toy->hi, score };
		if (n > 1)
			stretches[n - 2].hi = stretches[n - 1].lo - 1;
	}
	return n;
}

static void check(const struct clock_best *best, int64_t lo, int64_t hi, int64_t score)
{
	assert_int_equal(best->lo, lo);
	assert_int_equal(best->hi, hi);
	assert_int_equal(best->score, score);
}

/** The highest score, of these the longest stretch, of these the first. */
static int find_best(const struct stretch *stretches, int n)
{
	int best = 0;

	for (int i = 1; i < n; i++) {
		const struct stretch *a = &stretches[i], *b = &stretches[best];

		if (a->score > b->score ||
		    (a->score == b->score && a->hi - a->lo > b->hi - b->lo))
			best = i;
	}
	return best;
}

static void check_around(struct toy *toy, const struct stretch *stretches, int n, int64_t at,
			 struct clock_room *room)
{
	struct clock_best best;
	int here = 0, first, last;

	while (stretches[here].hi < at)
		here++;
	first = last = here;
	while (first > 0 && stretches[first - 1].score >= stretches[here].score)
		first--;
	while (last < n - 1 && stretches[last + 1].score >= stretches[here].score)
		last++;
	assert_int_equal(clock_sweep_around(toy->vcpus, toy->samples, N_CPUS, &toy->rate, toy->lo,
					    toy->hi, at, room, &best), 0);
	check(&best, stretches[first].lo, stretches[last].hi, stretches[here].score);
}

static void check_near(struct toy *toy, const struct stretch *stretches, int n, int64_t less,
		       struct clock_room *room)
{
	int64_t score = stretches[find_best(stretches, n)].score - less;
	struct clock_best best;
	int first = 0, last = n - 1;

	while (stretches[first].score < score)
		first++;
	while (stretches[last].score < score)
		last--;
	assert_int_equal(clock_sweep_near(toy->vcpus, toy->samples, N_CPUS, &toy->rate, toy->lo,
					  toy->hi, less, room, &best), 0);
	check(&best, stretches[first].lo, stretches[last].hi, score);
}

static void check_toy(struct toy *toy, struct clock_room *room)
{
	static struct stretch stretches[N_CPUS * N_TIMES * N_CHANGES + 1];
	int n = try_all(toy, stretches), i = find_best(stretches, n);
	struct clock_best best;

	assert_int_equal(clock_sweep(toy->vcpus, toy->samples, N_CPUS, &toy->rate, toy->lo,
				     toy->hi, room, &best), 0);
	check(&best, stretches[i].lo, stretches[i].hi, stretches[i].score);
	for (int k = 0; k <= 8; k++) {
		check_around(toy, stretches, n, toy->lo + (toy->hi - toy->lo) / 8 * k, room);
		check_near(toy, stretches, n, k, room);
	}
	check_around(toy, stretches, n, stretches[i].lo, room);
	check_around(toy, stretches, n, stretches[i].hi, room);
}

/** Few and many edges, near to each other and far apart, one room for all. */
static void test_sweeps(void **state)
{
	struct clock_room room = { .n_most = SIZE_MAX, .work = UINT64_MAX };
	static struct toy toy;

	(void)state;
	for (unsigned int seed = 0; seed < 24; seed++) {
		make_toy(&toy, seed, seed % 4 < 2 ? 1 : 1000003, seed % 4 % 2 ? N_TIMES : 5);
		check_toy(&toy, &room);
	}
	clock_room_free(&room);
	assert_null(room.edges);
	assert_int_equal(room.n_edges, 0);
}

/** Who belongs to no vCPU, and who has no event, says nothing. */
static void test_silent(void **state)
{
	struct clock_room room = { .n_most = SIZE_MAX, .work = UINT64_MAX };
	static struct toy toy;
	struct clock_best best, of_one;

	(void)state;
	make_toy(&toy, 1, 1, N_TIMES);
	assert_int_equal(clock_sweep(toy.vcpus, toy.samples, 1, &toy.rate, toy.lo, toy.hi, &room,
				     &of_one), 0);
	toy.samples[1].vcpu = VIRT_NONE;
	assert_int_equal(clock_sweep(toy.vcpus, toy.samples, N_CPUS, &toy.rate, toy.lo, toy.hi,
				     &room, &best), 0);
	check(&best, of_one.lo, of_one.hi, of_one.score);
	toy.samples[1] = (struct clock_sample){ NULL, 0, 0 };
	assert_int_equal(clock_sweep(toy.vcpus, toy.samples, N_CPUS, &toy.rate, toy.lo, toy.hi,
				     &room, &best), 0);
	check(&best, of_one.lo, of_one.hi, of_one.score);
	toy.samples[0].vcpu = VIRT_NONE;
	assert_int_equal(clock_sweep(toy.vcpus, toy.samples, N_CPUS, &toy.rate, toy.lo, toy.hi,
				     &room, &best), 0);
	check(&best, toy.lo, toy.hi, 0);
	clock_room_free(&room);
}

/** All sweeps end when the work that may be done is done, or there are more edges than may be. */
static void test_limits(void **state)
{
	struct clock_room room = { .n_most = SIZE_MAX, .work = UINT64_MAX };
	static struct toy toy;
	struct clock_best best;
	uint64_t needed;
	size_t n;

	(void)state;
	make_toy(&toy, 2, 1, N_TIMES);
	assert_int_equal(clock_sweep(toy.vcpus, toy.samples, N_CPUS, &toy.rate, toy.lo, toy.hi,
				     &room, &best), 0);
	needed = UINT64_MAX - room.work;
	n = room.n;
	for (int enough = 0; enough <= 1; enough++) {
		int wanted = enough ? 0 : -ETIME;

		for (int what = 0; what < 2; what++) {
			room.n_most = what ? n : n - !enough;
			room.work = what ? needed - !enough : needed;
			assert_int_equal(clock_sweep(toy.vcpus, toy.samples, N_CPUS, &toy.rate,
						     toy.lo, toy.hi, &room, &best), wanted);
			room.work = what ? needed - !enough : needed;
			assert_int_equal(clock_sweep_around(toy.vcpus, toy.samples, N_CPUS,
							    &toy.rate, toy.lo, toy.hi, toy.lo,
							    &room, &best), wanted);
			room.work = what ? needed - !enough : needed;
			assert_int_equal(clock_sweep_near(toy.vcpus, toy.samples, N_CPUS,
							  &toy.rate, toy.lo, toy.hi, 1, &room,
							  &best), wanted);
		}
	}
	room.work = 0;
	assert_int_equal(clock_sweep(toy.vcpus, toy.samples, 0, &toy.rate, 0, 0, &room, &best),
			 -ETIME);
	clock_room_free(&room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_apply),
		cmocka_unit_test(test_spend),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_sweeps),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
