// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_latency_histogram.c
 * @brief	No gaps between buckets, percentiles within their bound, parts that add up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "latency_histogram.h"
#include "virt_window.h"

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/** Of all sizes alike. */
static int64_t any_length(void)
{
	return (int64_t)((rnd() & INT64_MAX) >> rnd() % 63);
}

static void test_buckets(void **state)
{
	(void)state;
	assert_int_equal(latency_bucket_first(0), 0);
	for (int i = 0; i < LATENCY_N_BUCKETS; i++) {
		int64_t first = latency_bucket_first(i), last = latency_bucket_last(i);

		assert_true(first <= last);
		assert_int_equal(latency_bucket(first), i);
		assert_int_equal(latency_bucket(last), i);
		assert_true(last - first <= first / 8);
		if (i)
			assert_int_equal(latency_bucket_last(i - 1) + 1, first);
	}
	assert_int_equal(latency_bucket(INT64_MAX), LATENCY_N_BUCKETS - 1);
	assert_int_equal(latency_bucket_last(LATENCY_N_BUCKETS - 1), INT64_MAX);
	assert_int_equal(latency_bucket(-1), 0);
	assert_int_equal(latency_bucket(INT64_MIN), 0);
}

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/** The result is not below the right value, and at most an eighth above. */
static void within(int64_t shown, int64_t right)
{
	if (shown < right || shown - right > right / 8)
		fail_msg("%lld, not %lld", (long long)shown, (long long)right);
}

static void test_percentiles(void **state)
{
	static const unsigned int per_mille[] = { 1, 50, 500, 950, 990, 999, 1000 };
	static struct latency_histogram histogram;

	(void)state;
	assert_int_equal(latency_percentile(&histogram, 500), 0);
	for (int round = 0; round < 300; round++) {
		size_t n = 1 + rnd() % 2000;
		int64_t *ns = malloc(n * sizeof(*ns));

		assert_non_null(ns);
		latency_clear(&histogram);
		for (size_t i = 0; i < n; i++) {
			ns[i] = any_length();
			latency_add(&histogram, ns[i]);
		}
		qsort(ns, n, sizeof(*ns), compare_ns);
		for (size_t i = 0; i < sizeof(per_mille) / sizeof(*per_mille); i++)
			within(latency_percentile(&histogram, per_mille[i]),
			       ns[virt_nearest_rank(n, per_mille[i])]);
		free(ns);
	}
}

/** Of one that was cleared, nothing is left; parts added up are the whole. */
static void test_parts(void **state)
{
	static struct latency_histogram whole, part, sum, none;

	(void)state;
	for (int i = 0; i < 50; i++) {
		latency_clear(&part);
		assert_memory_equal(&part, &none, sizeof(part));
		for (uint64_t n = rnd() % 100; n; n--) {
			int64_t ns = any_length();

			latency_add(&part, ns);
			latency_add(&whole, ns);
		}
		for (int bucket = 0; bucket < part.end; bucket++)
			sum.count[bucket] += part.count[bucket];
		sum.n += part.n;
		sum.end = part.end > sum.end ? part.end : sum.end;
	}
	assert_true(whole.n > 1000);
	assert_memory_equal(&sum, &whole, sizeof(sum));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_percentiles),
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
