/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Votes for bins of offsets: never less than any offset in them scores, and not needlessly more. */
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
#include "clock_vote.h"

#define IN	VIRT_CLOCK_INSIDE
#define OUT	VIRT_CLOCK_OUTSIDE
#define UNKNOWN	VIRT_CLOCK_UNKNOWN

#define N_BINS	(3 * CLOCK_NEAR_BINS + 77)

static const struct clock_rate still = { 0, 0 };

/** Inside 100..199 and 300..449, not known up to 99, from 450 to 499, and from 600 on. */
static const struct virt_clock_change changes[] = {
	{ 100, IN }, { 200, OUT }, { 300, IN }, { 450, UNKNOWN }, { 500, OUT }, { 600, UNKNOWN },
};
static const struct clock_vcpu vcpu = {
	.known = { .changes = changes, .n = ARRAY_SIZE(changes) }, .inside = 7, .outside = 20,
};

/** One event: bins of one offset each show exactly how it scores. */
static void test_exact(void **state)
{
	int64_t times[] = { 10, 10, 60 };
	const struct clock_sample sample = { times, 3, 0 };
	const struct clock_bins bins = { .lo = -100, .n = 900 };
	static int32_t counts[900];
	uint64_t work = UINT64_MAX;

	(void)state;
	assert_int_equal(clock_vote(&vcpu, &sample, 1, 0, &bins, CLOCK_ADD, counts, &work), 0);
	for (size_t i = 0; i < bins.n; i++)
		assert_int_equal(counts[i], clock_small_score(&vcpu, &sample, 1, &still,
							      bins.lo + (int64_t)i));
	/* once more: they are added */
	assert_int_equal(clock_vote(&vcpu, &sample, 1, 0, &bins, CLOCK_ADD, counts, &work), 0);
	for (size_t i = 0; i < bins.n; i++)
		assert_int_equal(counts[i], 2 * clock_small_score(&vcpu, &sample, 1, &still,
								  bins.lo + (int64_t)i));
	/* or count where they are more: -5 is more than outside, less than inside */
	for (size_t i = 0; i < bins.n; i++)
		counts[i] = -5;
	assert_int_equal(clock_vote(&vcpu, &sample, 1, 0, &bins, CLOCK_RAISE, counts, &work), 0);
	for (size_t i = 0; i < bins.n; i++) {
		int64_t score = clock_small_score(&vcpu, &sample, 1, &still,
						  bins.lo + (int64_t)i);

		assert_int_equal(counts[i], score > -5 ? score : -5);
	}
}

/** Bins beyond what fits into a cache: far apart, all the same. */
static void test_many_bins(void **state)
{
	static int32_t counts[N_BINS];
	const struct virt_clock_change far[] = {
		{ 0, OUT }, { 5, IN }, { CLOCK_NEAR_BINS - 3, OUT }, { CLOCK_NEAR_BINS + 3, IN },
		{ 2 * CLOCK_NEAR_BINS, OUT }, { N_BINS - 2, IN }, { N_BINS + 5, OUT },
	};
	const struct clock_vcpu busy = {
		.known = { .changes = far, .n = ARRAY_SIZE(far) }, .inside = 3, .outside = 1,
	};
	int64_t times[] = { 0, 1000 };
	const struct clock_sample samples[] = { { times, 2, 0 }, { NULL, 0, 0 }, { times, 1, 0 } };
	const struct clock_vcpu vcpus[] = { busy, busy, busy };
	const struct clock_bins bins = { .lo = 0, .n = N_BINS };
	uint64_t work = UINT64_MAX;

	(void)state;
	assert_int_equal(clock_vote(vcpus, samples, 3, 0, &bins, CLOCK_ADD, counts, &work), 0);
	for (size_t i = 0; i < bins.n; i++)
		assert_int_equal(counts[i], clock_small_score(vcpus, samples, 3, &still,
							      (int64_t)i));
}

/** With times that may be wrong, and wider bins, nothing in a bin may score more than it says. */
static void test_bounds(void **state)
{
	static int32_t counts[1200];
	int64_t times[20];
	const struct clock_sample sample = { times, 20, 0 };
	uint64_t work = UINT64_MAX;

	(void)state;
	for (int i = 0; i < 20; i++)
		times[i] = 23 * i + i % 3;
	for (int shift = 0; shift <= 4; shift++)
		for (int64_t slack = 0; slack <= 20; slack += 5) {
			const struct clock_bins bins = { -500, shift, (size_t)(1200 >> shift) };
			int64_t least, width = (int64_t)1 << shift;

			memset(counts, 0, sizeof(counts));
			assert_int_equal(clock_vote(&vcpu, &sample, 1, slack, &bins, CLOCK_ADD,
						    counts, &work), 0);
			for (size_t i = 0; i < bins.n; i++) {
				int64_t lo = bins.lo + ((int64_t)i << shift);

				least = INT64_MIN;
				for (int64_t o = lo - slack; o < lo + width + slack; o++) {
					int64_t score = clock_small_score(&vcpu, &sample, 1,
									  &still, o);

					least = score > least ? score : least;
				}
				assert_true(counts[i] >= least);
			}
		}
}

/** An event near two stretches that nothing keeps apart votes once for the bins between. */
static void test_near(void **state)
{
	static const struct virt_clock_change near[] = {
		{ 100, IN }, { 110, OUT }, { 111, IN }, { 120, OUT }, { 123, IN }, { 130, OUT },
		{ 140, IN }, { 140, OUT },
	};
	const struct clock_vcpu two = {
		.known = { .changes = near, .n = ARRAY_SIZE(near) }, .inside = 7, .outside = 20,
	};
	int64_t times[] = { 0 };
	const struct clock_sample sample = { times, 1, 0 };
	const struct clock_bins bins = { .lo = 90, .n = 60 };
	int32_t counts[60] = { 0 };
	uint64_t work = UINT64_MAX;

	(void)state;
	assert_int_equal(clock_vote(&two, &sample, 1, 0, &bins, CLOCK_ADD, counts, &work), 0);
	/* all before 100 is possible, as nothing is known of it; what lasts no time is nothing */
	for (int i = 0; i < 60; i++)
		assert_int_equal(counts[i], i < 10 ? 0 : i < 30 ? 7 : i >= 33 && i < 40 ? 7 : -20);
	/* from 109 to 111 it is no farther than two bins, from 119 to 123 it is */
	assert_int_equal(clock_n_spans(&two.known, 0, &bins), 4);
	/* nor are these if times are wrong by 1 */
	assert_int_equal(clock_n_spans(&two.known, 1, &bins), 3);
}

static void test_limits(void **state)
{
	int64_t times[] = { 10, 60 };
	const struct clock_sample sample = { times, 2, 0 };
	const struct clock_bins bins = { .lo = -100, .n = 900 };
	static int32_t counts[900];
	uint64_t work = UINT64_MAX, needed;

	(void)state;
	assert_int_equal(clock_vote(&vcpu, &sample, 1, 0, &bins, CLOCK_ADD, counts, &work), 0);
	needed = UINT64_MAX - work;
	/* each event turns six times: out of what is unknown, in, out, in, to unknown, and so on */
	assert_int_equal(needed, CLOCK_WORK_VOTE_BIN * 900 + CLOCK_WORK_VOTE_CHANGE * 6 +
				 CLOCK_WORK_VOTE_EVENT * 2 + CLOCK_WORK_VOTE_TURN * 2 * 6);
	work = needed;
	assert_int_equal(clock_vote(&vcpu, &sample, 1, 0, &bins, CLOCK_ADD, counts, &work), 0);
	assert_int_equal(work, 0);
	memset(counts, 0, sizeof(counts));
	work = needed - 1;
	assert_int_equal(clock_vote(&vcpu, &sample, 1, 0, &bins, CLOCK_ADD, counts, &work),
			 -ETIME);
	for (int i = 0; i < 900; i++)
		assert_int_equal(counts[i], 0);
}

/** What nothing is known of permits all offsets. */
static void test_unknown(void **state)
{
	const struct clock_vcpu none = { .inside = 7, .outside = 20 };
	int64_t times[] = { 10 };
	const struct clock_sample sample = { times, 1, 0 };
	const struct clock_bins bins = { .lo = -5, .n = 10 };
	int32_t counts[10] = { 0 };
	uint64_t work = UINT64_MAX;

	(void)state;
	assert_int_equal(clock_vote(&none, &sample, 1, 0, &bins, CLOCK_ADD, counts, &work), 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(counts[i], 0);
	assert_int_equal(clock_n_spans(&none.known, 0, &bins), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_many_bins),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_near),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
