/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All lines that explain the events, compared with a trial of all corners and all offsets. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "clock_small.h"

#define IN	VIRT_CLOCK_INSIDE
#define OUT	VIRT_CLOCK_OUTSIDE
#define UNKNOWN	VIRT_CLOCK_UNKNOWN

#define MS		INT64_C(1000000)
#define N_STRETCHES	40
#define N_CPUS		2
#define NOISE		500.0
#define MOST_PPM	255.0
#define OFFSET		(77 * MS)

/** Two CPUs, each with an event in most stretches of guest code; all with one offset. */
struct world {
	struct virt_clock_change changes[N_CPUS][3 * N_STRETCHES + 1];
	int64_t		times[N_CPUS][N_STRETCHES];
	struct virt_clock_vcpu vcpus[N_CPUS];
	struct virt_clock_cpu cpus[N_CPUS];
	struct virt_clock_problem problem;
};

/** When the host's trace begins; the guest's does at about the same time. */
static int64_t begin = 100 * MS;

static int64_t some(int64_t least, int64_t most)
{
	return least + random() % (most - least + 1);
}

/** @stray: one of this many events is outside, by less than 5 us; 0: none; @apart: stretches, ms */
static void make(struct world *world, unsigned int seed, double ppm, int stray, bool unknown,
		 int64_t apart)
{
	memset(world, 0, sizeof(*world));
	srandom(seed);
	for (int c = 0; c < N_CPUS; c++) {
		struct virt_clock_change *changes = world->changes[c];
		int64_t t = begin;
		size_t n = 0, m = 0;

		for (int i = 0; i < N_STRETCHES; i++) {
			int64_t in = some(20000, 80000), at = t + some(1, in - 1);

			changes[n++] = (struct virt_clock_change){ t, IN };
			if (unknown && i % 8 == 3)
				changes[n++] = (struct virt_clock_change){ t + in / 2, UNKNOWN };
			changes[n++] = (struct virt_clock_change){ t + in, OUT };
			if (stray && i % stray == 1)
				at = i % 2 ? t + in + some(0, 5000) : t - some(1, 5000);
			if (i % 16)
				world->times[c][m++] = (int64_t)((double)(at - OFFSET) /
								 (1 + ppm * 1e-6));
			t += in + some(apart * MS, 3 * apart * MS);
		}
		changes[n++] = (struct virt_clock_change){ t, UNKNOWN };
		world->vcpus[c] = (struct virt_clock_vcpu){ .changes = changes, .n = n };
		world->cpus[c] = (struct virt_clock_cpu){ .times = world->times[c], .n = m,
							  .vcpu = c };
	}
	world->problem = (struct virt_clock_problem){ .vcpus = world->vcpus, .n_vcpus = N_CPUS,
						      .cpus = world->cpus, .n_cpus = N_CPUS };
}

/* --- by definition ---------------------------------------------------------------------------- */

/** sign * (offset + bend * x) may be up to limit */
struct bound {
	double		x, limit, sign;
};

/** Bounds of all events, and of their count those of events that are outside. */
struct bounds {
	struct bound	all[2 * N_CPUS * N_STRETCHES + 4];
	int		n, n_near;
	int64_t		middle;
	double		half;
};

static bool is_out(const struct virt_clock_vcpu *vcpu, int64_t time)
{
	int64_t i = clock_find(vcpu, time);

	return i >= 0 && vcpu->changes[i].where == OUT;
}

/** How far it is from a time to the next one, in a direction, that differs in being outside. */
static double distance(const struct virt_clock_vcpu *vcpu, int64_t time, int direction)
{
	double best = INFINITY;

	for (size_t i = 0; i < vcpu->n; i++) {
		int64_t at = direction > 0 ? vcpu->changes[i].time : vcpu->changes[i].time - 1;
		double far = (double)(at - time) * direction;

		if (far >= 0 && far < best && is_out(vcpu, at) != is_out(vcpu, time))
			best = far;
	}
	return best;
}

static void add(struct bounds *bounds, double x, double limit, double sign)
{
	if (isfinite(limit))
		bounds->all[bounds->n++] = (struct bound){ x, limit, sign };
}

static void find_bounds(const struct world *world, const struct clock_search *search,
			const struct virt_clock_alignment *line, struct bounds *bounds)
{
	const struct clock_rate rate = { line->drift_ppm * 1e-6, 0 };
	struct clock_stretch reach = clock_reach(search, &rate, line->lo, line->hi);

	memset(bounds, 0, sizeof(*bounds));
	bounds->middle = reach.from + (reach.to - reach.from) / 2;
	bounds->half = (double)((reach.to - reach.from) / 2 + 1);
	for (int c = 0; c < N_CPUS; c++)
		for (size_t i = 0; i < world->cpus[c].n; i++) {
			const struct virt_clock_vcpu *vcpu = &world->vcpus[c];
			int64_t time = world->cpus[c].times[i];
			int64_t host = virt_clock_host_time(line->offset, line->drift_ppm, time);
			double x = (double)(time - bounds->middle) / bounds->half;
			double on = distance(vcpu, host, 1), back = distance(vcpu, host, -1);

			if (!is_out(vcpu, host)) {
				add(bounds, x, on - 1, 1);
				add(bounds, x, back - 1, -1);
				continue;
			}
			bounds->n_near++;
			/* back to where it is inside, or on */
			add(bounds, x, -(back <= on ? back : on), back <= on ? 1 : -1);
		}
}

static double excess(const struct bound *bound, double offset, double bend)
{
	return bound->sign * (offset + bend * bound->x) - bound->limit - NOISE;
}

static int n_broken(const struct bounds *bounds, double offset, double bend)
{
	int n = 0;

	for (int i = 0; i < bounds->n; i++)
		n += excess(&bounds->all[i], offset, bend) > 1e-6;
	return n;
}

/** Where a bound and another one meet, if no other one is broken there: its height at @x. */
static bool meet(const struct bounds *bounds, int i, int k, double *offset, double *bend)
{
	const struct bound *a = &bounds->all[i], *b = &bounds->all[k];
	double la = a->sign * (a->limit + NOISE), lb = b->sign * (b->limit + NOISE);

	if (a->x == b->x)
		return false;
	*bend = (lb - la) / (b->x - a->x);
	*offset = la - *bend * a->x;
	return fabs(*bend) < MOST_PPM * 1e-6 * bounds->half && !n_broken(bounds, *offset, *bend);
}

/** The least and the greatest height of all lines without a broken bound. */
static void span_at(const struct bounds *bounds, double x, double *lo, double *hi)
{
	double offset, bend;

	*lo = INFINITY;
	*hi = -INFINITY;
	for (int i = 0; i < bounds->n; i++)
		for (int k = 0; k < i; k++) {
			if (!meet(bounds, i, k, &offset, &bend))
				continue;
			*lo = fmin(*lo, offset + bend * x);
			*hi = fmax(*hi, offset + bend * x);
		}
}

/* --- tests ------------------------------------------------------------------------------------ */

/**
 * Without any event outside, all lines within all bounds, at the time where they differ least.
 * @cut: a vCPU's changes end in the middle; what is behind the last one in memory is not its own
 */
static void check_region(unsigned int seed, double ppm, bool narrowed, bool cut)
{
	struct virt_clock_alignment line = {
		.offset = OFFSET, .lo = OFFSET - 700, .hi = OFFSET + 900, .drift_ppm = ppm,
		.drift_lo_ppm = ppm, .drift_hi_ppm = ppm,
	}, found = line;
	double lo, hi, ppm_lo = INFINITY, ppm_hi = -INFINITY, offset, bend, x, width;
	static struct bounds bounds;
	static struct world world;
	struct clock_search search;

	make(&world, seed, ppm, 0, !cut, 1);
	if (cut)
		world.vcpus[0].n = N_STRETCHES + 1;
	clock_small_begin(&search, &world.problem);
	search.narrowed = narrowed;
	find_bounds(&world, &search, &line, &bounds);
	/* offsets that handlers have narrowed, at the middle */
	if (narrowed) {
		add(&bounds, 0, 700 - NOISE, -1);
		add(&bounds, 0, 900 - NOISE, 1);
	}
	assert_int_equal(clock_region(&search, &found), 0);
	x = (double)(found.at - bounds.middle) / bounds.half;
	assert_true(x >= -1 && x <= 1);
	assert_int_equal(found.offset, virt_clock_offset_at(OFFSET, ppm, 0, found.at));
	span_at(&bounds, x, &lo, &hi);
	assert_true(fabs((double)(found.lo - found.offset) - lo) <= 1.1);
	assert_true(fabs((double)(found.hi - found.offset) - hi) <= 1.1);
	assert_true(lo <= 0 && hi >= 0);
	width = hi - lo;
	for (x = -1; x <= 1; x += 0.125) {
		span_at(&bounds, x, &lo, &hi);
		assert_true(hi - lo >= width - 0.01);
	}
	for (int i = 0; i < bounds.n; i++)
		for (int k = 0; k < i; k++)
			if (meet(&bounds, i, k, &offset, &bend)) {
				ppm_lo = fmin(ppm_lo, bend);
				ppm_hi = fmax(ppm_hi, bend);
			}
	assert_true(fabs(found.drift_lo_ppm - ppm - ppm_lo / bounds.half * 1e6) < 1e-3);
	assert_true(fabs(found.drift_hi_ppm - ppm - ppm_hi / bounds.half * 1e6) < 1e-3);
	clock_small_end(&search);
}

static void test_region(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 6; seed++) {
		check_region(seed, 0, false, false);
		check_region(seed, seed % 2 ? 80 : -33, false, false);
	}
	check_region(7, 0, true, false);
	check_region(8, 20, true, false);
	check_region(9, 0, false, true);
	check_region(10, -80, false, true);
}

/** The fewest bounds that a line with some bend breaks, and all offsets that break @allowed. */
static int least_broken(const struct bounds *bounds, double bend, int allowed, double *lo,
			double *hi)
{
	int least = bounds->n;

	*lo = INFINITY;
	*hi = -INFINITY;
	for (int i = 0; i < bounds->n; i++) {
		const struct bound *bound = &bounds->all[i];
		double offset = bound->sign * (bound->limit + NOISE) - bend * bound->x;
		int n = n_broken(bounds, offset, bend);

		least = n < least ? n : least;
		if (n <= allowed) {
			*lo = fmin(*lo, offset);
			*hi = fmax(*hi, offset);
		}
	}
	return least;
}

/** If events are outside anyhow: lines with which hardly more are, by three roots of them and 1. */
static void test_nearly_all(void **state)
{
	static struct bounds bounds;
	static struct world world;

	(void)state;
	for (unsigned int seed = 1; seed <= 6; seed++) {
		struct virt_clock_alignment line = {
			.offset = OFFSET, .lo = OFFSET, .hi = OFFSET,
		}, found = line;
		double lo, hi, bend, x, x_lo, x_hi, least = INFINITY, most = -INFINITY;
		struct clock_search search;
		int allowed;

		make(&world, seed, 0, seed % 2 ? 12 : 6, true, seed < 4 ? 1 : 20);
		clock_small_begin(&search, &world.problem);
		find_bounds(&world, &search, &line, &bounds);
		assert_true(bounds.n_near >= 6);
		assert_int_equal(clock_region(&search, &found), 0);
		allowed = least_broken(&bounds, 0, -1, &lo, &hi) + 1 +
			  (int)(3 * sqrt((double)bounds.n_near));
		/* the next drift that is tried is too much: 1/16 of a power of two farther */
		for (int side = -1; side <= 1; side += 2) {
			double ppm = side < 0 ? found.drift_lo_ppm : found.drift_hi_ppm;

			assert_true(ppm * side > 0);
			bend = ppm * 1e-6 * bounds.half;
			assert_true(least_broken(&bounds, bend, -1, &lo, &hi) <= allowed);
			bend += side * ldexp(1, ilogb(1.000001 * bend) - 4);
			assert_true(least_broken(&bounds, bend, -1, &lo, &hi) > allowed ||
				    fabs(ppm) > MOST_PPM - 1e-6);
		}
		/* 17 drifts, from the least to the most */
		x = (double)(found.at - bounds.middle) / bounds.half;
		for (int i = 0; i <= 16; i++) {
			bend = (found.drift_lo_ppm + (found.drift_hi_ppm - found.drift_lo_ppm) * i /
				16) * 1e-6 * bounds.half;
			least_broken(&bounds, bend, allowed, &x_lo, &x_hi);
			least = fmin(least, x_lo + bend * x);
			most = fmax(most, x_hi + bend * x);
		}
		assert_true(fabs((double)(found.lo - found.offset) - least) <= 1.5);
		assert_true(fabs((double)(found.hi - found.offset) - most) <= 1.5);
		assert_true(found.lo <= OFFSET && OFFSET <= found.hi);
		/* of a long trace, to a whole ms */
		assert_true(seed < 4 || found.at % MS == 0);
		clock_small_end(&search);
	}
}

/** All offsets, with one drift, with which each event is where it can be. */
static void interval(const struct world *world, double ppm, int64_t *lo, int64_t *hi)
{
	*lo = INT64_MIN;
	*hi = INT64_MAX;
	for (int c = 0; c < N_CPUS; c++)
		for (size_t i = 0; i < world->cpus[c].n; i++) {
			int64_t host = virt_clock_host_time(OFFSET, ppm, world->cpus[c].times[i]);
			double on = distance(&world->vcpus[c], host, 1);
			double back = distance(&world->vcpus[c], host, -1);

			if (OFFSET + (int64_t)on - 1 < *hi)
				*hi = OFFSET + (int64_t)on - 1;
			if (OFFSET - (int64_t)back + 1 > *lo)
				*lo = OFFSET - (int64_t)back + 1;
		}
}

/** What is given is widened to all that explains as much, unless something near explains more. */
static void test_widen(void **state)
{
	static struct world world;

	(void)state;
	for (unsigned int seed = 11; seed <= 14; seed++) {
		double ppm = seed == 13 ? 200 : seed == 14 ? -50 : 0;
		struct virt_clock_alignment line = { .offset = OFFSET, .lo = OFFSET, .hi = OFFSET,
						     .drift_ppm = ppm }, exact;
		struct clock_search search;
		struct clock_fit fit = { .rate.rate = ppm * 1e-6,
					 .lo = OFFSET - 30, .hi = OFFSET + 50 };
		int64_t lo, hi;

		make(&world, seed, ppm, 0, false, 1);
		interval(&world, ppm, &lo, &hi);
		clock_small_begin(&search, &world.problem);
		assert_int_equal(clock_widen(&search, &line), 0);
		assert_int_equal(line.lo, lo);
		assert_int_equal(line.hi, hi);
		/* and what is found is, too */
		search.pool = malloc(N_CPUS * sizeof(*search.pool));
		memcpy(search.pool, search.pairing, N_CPUS * sizeof(*search.pool));
		assert_int_equal(clock_fit_exactly(&search, &fit, &exact), 0);
		assert_int_equal(exact.lo, lo);
		assert_int_equal(exact.hi, hi);
		assert_int_equal(exact.offset, lo + (hi - lo) / 2);
		assert_true(fabs(exact.drift_ppm - ppm) < 1e-9);
		/* an offset that explains less stays as it is */
		line = (struct virt_clock_alignment){ .offset = hi + 1, .lo = 1, .hi = 2,
						      .drift_ppm = ppm };
		assert_int_equal(clock_widen(&search, &line), 0);
		assert_int_equal(line.offset, hi + 1);
		assert_int_equal(line.lo, 1);
		assert_int_equal(line.hi, 2);
		clock_small_end(&search);
	}
}

/** Stretches of 1 ms with an event at @at in each: the interval goes beyond where it was sought. */
static void check_wide(int64_t at)
{
	static struct virt_clock_change changes[2 * N_STRETCHES];
	static int64_t times[N_STRETCHES - 4];
	const struct virt_clock_vcpu vcpu = { .changes = changes, .n = 2 * N_STRETCHES };
	const struct virt_clock_cpu cpu = { .times = times, .n = N_STRETCHES - 4 };
	const struct virt_clock_problem problem = { .vcpus = &vcpu, .n_vcpus = 1,
						    .cpus = &cpu, .n_cpus = 1 };
	const struct clock_fit fit = { .lo = OFFSET - 3, .hi = OFFSET + 3 };
	struct virt_clock_alignment exact;
	struct clock_search search;

	for (int i = 0; i < N_STRETCHES; i++) {
		changes[2 * i] = (struct virt_clock_change){ 4 * MS * i, IN };
		changes[2 * i + 1] = (struct virt_clock_change){ (4 * i + 1) * MS, OUT };
	}
	for (int i = 0; i < N_STRETCHES - 4; i++)
		times[i] = 4 * MS * (i + 2) + at - OFFSET;
	clock_small_begin(&search, &problem);
	search.pool = calloc(1, sizeof(*search.pool));
	assert_int_equal(clock_fit_exactly(&search, &fit, &exact), 0);
	assert_int_equal(exact.lo, OFFSET - at);
	assert_int_equal(exact.hi, OFFSET + MS - 1 - at);
	clock_small_end(&search);
}

static void test_wide(void **state)
{
	(void)state;
	check_wide(MS / 2);
	/* on one side only */
	check_wide(10000);
	check_wide(MS - 10000);
}

static struct virt_clock_alignment judge(const struct world *world,
					 const struct virt_clock_alignment *line)
{
	struct virt_clock_evidence evidence[N_CPUS];
	struct virt_clock_alignment judged;

	assert_int_equal(virt_clock_judge(&world->problem, line->offset, line->drift_ppm, &judged,
					  evidence), 0);
	return judged;
}

/**
 * A drift that is nearly right is bettered, and the offset with it, which is that of the time 0;
 * what explains all, or has no drift, stays.
 */
static void test_settle(void **state)
{
	static struct world world;

	(void)state;
	for (unsigned int seed = 21; seed <= 24; seed++) {
		struct virt_clock_alignment line = { .drift_ppm = 130 }, before, first, settled;
		struct clock_search search;

		/* after a boot, and days later */
		begin = seed % 2 ? 100 * MS : 300000000 * MS;
		make(&world, seed, 90, 0, true, 1);
		clock_small_begin(&search, &world.problem);
		line.offset = OFFSET + llround(-40e-6 * (double)world.times[0][0]);
		line.lo = line.hi = line.offset;
		before = line;
		first = judge(&world, &line);
		assert_true(first.outside > 0);
		assert_int_equal(clock_settle(&search, &line), 0);
		settled = judge(&world, &line);
		assert_int_equal(settled.outside, 0);
		assert_true(settled.inside > first.inside);
		assert_true(line.drift_ppm != before.drift_ppm);
		assert_true(line.offset >= line.lo && line.offset <= line.hi);
		/* by handlers: not the events' to change */
		line = before;
		search.narrowed = true;
		assert_int_equal(clock_settle(&search, &line), 0);
		assert_memory_equal(&line, &before, sizeof(line));
		search.narrowed = false;
		line.drift_ppm = before.drift_ppm = 0;
		assert_int_equal(clock_settle(&search, &line), 0);
		assert_memory_equal(&line, &before, sizeof(line));
		line.drift_ppm = before.drift_ppm = 90;
		line.offset = line.lo = line.hi = OFFSET;
		before.offset = before.lo = before.hi = OFFSET;
		assert_int_equal(clock_settle(&search, &line), 0);
		assert_memory_equal(&line, &before, sizeof(line));
		clock_small_end(&search);
	}
	begin = 100 * MS;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_region),
		cmocka_unit_test(test_nearly_all),
		cmocka_unit_test(test_widen),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_settle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
