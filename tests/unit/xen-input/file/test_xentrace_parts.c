/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An index made by several threads is the one that a single walk makes: of samples, and of
 * files damaged anywhere. Of files without damage, no part is walked again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "sample_file.h"
#include "trace_builder.h"
#include "xentrace_scan.h"

#define BASE	1000000000ULL

static struct xentrace scan_all(const void *data, size_t size, unsigned int n_parts)
{
	struct xentrace reader = { .file = { .memory = data, .fd = -1, .size = size } };

	assert_int_equal(xentrace_scan_in_parts(&reader, NULL, NULL, n_parts), 0);
	return reader;
}

static void compare_runs(const struct xentrace *a, const struct xentrace *b)
{
	assert_int_equal(a->n_segments, b->n_segments);
	for (uint32_t i = 0; i < a->n_segments; i++) {
		const struct segment *x = &a->segments[i], *y = &b->segments[i];

		assert_int_equal(x->begin, y->begin);
		assert_int_equal(x->end, y->end);
		assert_int_equal(x->tsc_before, y->tsc_before);
		assert_int_equal(x->run, y->run);
		assert_int_equal(x->next, y->next);
		assert_int_equal(x->flags, y->flags);
	}
	assert_int_equal(a->n_runs, b->n_runs);
	for (uint32_t i = 0; i < a->n_runs; i++) {
		const struct run *x = &a->runs[i], *y = &b->runs[i];

		assert_int_equal(x->first_tsc, y->first_tsc);
		assert_int_equal(x->last_tsc, y->last_tsc);
		assert_int_equal(x->first_segment, y->first_segment);
		assert_int_equal(x->last_segment, y->last_segment);
		assert_int_equal(x->pcpu, y->pcpu);
	}
}

static void compare_pcpus(const struct xentrace *a, const struct xentrace *b)
{
	assert_int_equal(a->n_pcpus, b->n_pcpus);
	for (int i = 0; i < a->n_pcpus; i++) {
		const struct xentrace_pcpu *x = &a->pcpus[i], *y = &b->pcpus[i];

		assert_int_equal(x->pcpu, y->pcpu);
		assert_int_equal(x->n_records, y->n_records);
		assert_int_equal(x->n_bytes, y->n_bytes);
		assert_int_equal(x->first_tsc, y->first_tsc);
		assert_int_equal(x->last_tsc, y->last_tsc);
		assert_int_equal(x->known_tsc, y->known_tsc);
	}
}

static void compare_damage(const struct xentrace *a, const struct xentrace *b)
{
	assert_int_equal(a->n_repairs, b->n_repairs);
	for (size_t i = 0; i < a->n_repairs; i++) {
		assert_int_equal(a->repairs[i].offset, b->repairs[i].offset);
		assert_int_equal(a->repairs[i].tsc, b->repairs[i].tsc);
	}
	assert_int_equal(a->n_problems, b->n_problems);
	for (int i = 0; i < a->n_problems; i++) {
		const struct xentrace_problem *x = &a->problems[i], *y = &b->problems[i];

		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->pcpu, y->pcpu);
		assert_int_equal(x->offset, y->offset);
		assert_int_equal(x->bytes, y->bytes);
		assert_int_equal(x->tsc, y->tsc);
	}
	assert_memory_equal(a->problem_count, b->problem_count, sizeof(a->problem_count));
	assert_int_equal(a->skipped_bytes, b->skipped_bytes);
}

/** Two, three ... threads make the same index as one. */
static void check(const void *data, size_t size, unsigned int most)
{
	struct xentrace one = scan_all(data, size, 1);

	for (unsigned int n_parts = 2; n_parts <= most; n_parts++) {
		struct xentrace many = scan_all(data, size, n_parts);

		compare_runs(&one, &many);
		compare_pcpus(&one, &many);
		compare_damage(&one, &many);
		assert_int_equal(one.n_records, many.n_records);
		assert_int_equal(one.n_windows, many.n_windows);
		assert_int_equal(one.whole_tsc, many.whole_tsc);
		xentrace_forget(&many);
	}
	xentrace_forget(&one);
}

/** How far a walk with several threads comes before a single one has to go on. */
static uint64_t reach(const void *data, size_t size, unsigned int n_parts)
{
	struct xentrace reader = { .file = { .memory = data, .fd = -1, .size = size } };
	struct xentrace_blocks blocks;
	struct scan scan;
	uint64_t offset;
	int error;

	scan_begin(&scan, &reader, &blocks, size);
	offset = scan_in_parts(&scan, 0, n_parts, &error);
	assert_int_equal(error, 0);
	scan_free(&scan);
	xentrace_blocks_destroy(&blocks);
	xentrace_forget(&reader);
	return offset;
}

/** 20 rounds of windows of 3 pCPUs; from round 12 on, there is one more. */
static struct trace build(void)
{
	struct trace t = { 0 };

	for (int round = 0; round < 20; round++) {
		for (uint32_t pcpu = 0; pcpu < (round < 12 ? 3 : 4); pcpu++) {
			trace_window(&t, pcpu);
			/* the pCPU's first record has no TSC: it takes that of the window before */
			if (round % 3 == 0)
				TRACE_UNTIMED(&t, 0x28001, 1, 2);
			trace_ticks(&t, BASE + round * 1000000, 50, 100 + pcpu);
		}
	}
	return t;
}

static void test_good(void **state)
{
	struct trace t = build();

	(void)state;
	check(t.data, t.size, 9);
	for (unsigned int n_parts = 2; n_parts <= 9; n_parts++)
		assert_int_equal(reach(t.data, t.size, n_parts), t.size);
	/* more threads than windows, or than bytes */
	check(t.data, 2000, 40);
	check(t.data, 30, 40);
	trace_free(&t);
}

/** 20 rounds; in round @at something is odd about the TSCs. */
static void check_odd(void (*odd)(struct trace *trace, int round, int at))
{
	for (int at = 0; at < 20; at++) {
		struct trace t = { 0 };

		for (int round = 0; round < 20; round++) {
			trace_window(&t, 0);
			odd(&t, round, at);
		}
		check(t.data, t.size, 12);
		trace_free(&t);
	}
}

static void all_back(struct trace *trace, int round, int at)
{
	trace_ticks(trace, BASE + (round < at ? round : round - 5) * 1000000, 50, 100);
}

/** A short run, which the next window shows to be damage. */
static void last_back(struct trace *trace, int round, int at)
{
	trace_ticks(trace, BASE + round * 1000000, 50, 100);
	if (round == at)
		trace_ticks(trace, BASE - 5000, 2, 100);
}

/** A pCPU's first TSC lies days before its others, which come later. */
static void first_far(struct trace *trace, int round, int at)
{
	trace_ticks(trace, BASE + (1ULL << 47) + round * 1000000, 50, 100);
	if (round && round < at)
		return;
	trace_window(trace, 1);
	trace_ticks(trace, BASE + (round ? (1ULL << 47) : 0) + round * 1000000,
		    round ? 10 : 1, 100);
}

static void test_odd(void **state)
{
	(void)state;
	check_odd(all_back);
	check_odd(last_back);
	check_odd(first_far);
}

/** One change of the kinds that files suffer. */
static size_t damage(uint8_t *data, size_t size, uint64_t *random)
{
	size_t at = trace_random(random) % size, n = 1 + trace_random(random) % 64;
	size_t from = trace_random(random) % size;

	n = n < size - at ? n : size - at;
	n = n < size - from ? n : size - from;
	switch (trace_random(random) % 5) {
	case 0:
		return at + 1;
	case 1:
		memset(data + at, 0, n);
		break;
	case 2:
		memmove(data + at, data + from, n);
		break;
	case 3:
		memmove(data + at, data + at + n, size - at - n);
		return size - n;
	default:
		data[at] ^= (uint8_t)(1 + trace_random(random) % 255);
		break;
	}
	return size;
}

static void check_damaged(const uint8_t *good, size_t size, int n, uint64_t seed)
{
	uint8_t *bad = malloc(size);
	uint64_t random = seed;

	assert_non_null(bad);
	for (int i = 0; i < n; i++) {
		size_t bad_size = size;

		memcpy(bad, good, size);
		for (int k = 0; k <= i % 3; k++)
			bad_size = damage(bad, bad_size, &random);
		check(bad, bad_size, 4);
	}
	free(bad);
}

static void test_damaged(void **state)
{
	struct trace t = build();

	(void)state;
	check_damaged(t.data, t.size, 1200, 1);
	trace_free(&t);
}

static void test_samples(void **state)
{
	static const char *const names[] = {
		"credit2-basic.xen", "hvm-exits.xen", "lost-records.xen", "migration.xen",
		"sched-credit.xen", "dom0.xen",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t size;
		void *data = read_sample(names[i], &size);

		check(data, size, 8);
		/* these have no damage, and many rounds of windows */
		if (i < 2)
			assert_int_equal(reach(data, size, 2), size);
		check_damaged(data, size < 200000 ? size : 200000, 24, i + 2);
		free(data);
	}
}

struct watch {
	uint64_t	calls, last;
};

static int watch_progress(void *arg, uint64_t done, uint64_t total)
{
	struct watch *watch = arg;

	assert_true(done >= watch->last && done <= total);
	watch->last = done;
	watch->calls++;
	return 0;
}

/** A user sees how far all threads are, not only the first one. */
static void test_progress(void **state)
{
	struct trace t = { 0 };

	(void)state;
	for (int i = 0; i < 45000; i++) {
		trace_window(&t, i % 5);
		trace_ticks(&t, BASE + i * 3000ULL, 100, 100);
	}
	for (unsigned int n_parts = 1; n_parts <= 4; n_parts++) {
		struct watch watch = { 0 };
		const struct xentrace_options options = {
			.progress = watch_progress, .progress_arg = &watch,
		};
		struct xentrace reader = { .file = { .memory = t.data, .fd = -1,
						     .size = t.size } };

		assert_int_equal(xentrace_scan_in_parts(&reader, &options, NULL, n_parts), 0);
		/* each 16 MiB of 72 MB */
		assert_int_equal(watch.calls, 4);
		assert_true(watch.last > t.size * 8 / 10);
		xentrace_forget(&reader);
	}
	trace_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_odd),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
