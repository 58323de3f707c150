// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Each single allocation on the way from a file to the model fails once: no crash, nothing lost,
 * no result that is other than with memory.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace_builder.h"
#include "xen_tracker.h"

#define BASE	1000000000ULL
#define RUNSTATE(old, new)	(0x00021001u | (old) << 8 | (new) << 4)

static long countdown;		/* the allocation that fails; 0: none */
static long n_allocations;

static bool fails(void)
{
	n_allocations++;
	if (!countdown || --countdown)
		return false;
	errno = ENOMEM;
	return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

/* Two vCPUs that take turns, with run times, on three pCPUs; damage, a jump back, a cut end. */
static char *make_trace(void)
{
	struct trace t = { 0 };
	char *path;

	for (uint32_t round = 0; round < 30; round++) {
		for (uint32_t pcpu = 0; pcpu < 3; pcpu++) {
			uint64_t tsc = BASE + round * 24000000 + pcpu * 100;
			uint32_t who = 1 << 16 | pcpu;

			trace_window(&t, pcpu);
			TRACE_RECORD(&t, 0x2800f, tsc, 1, pcpu, 0, 30000000);
			TRACE_RECORD(&t, RUNSTATE(1, 0), tsc + 10, who);
			trace_ticks(&t, tsc + 1000, 20, 1000);
			TRACE_RECORD(&t, 0x2800e, tsc + 12000000, 1, pcpu, 5000000);
			TRACE_RECORD(&t, RUNSTATE(0, 2), tsc + 12000010, who);
		}
		if (round == 7)
			trace_bytes(&t, "this is no record at all", 24);
		if (round == 9) {
			trace_window(&t, 40);
			trace_ticks(&t, 9 * BASE, 10, 100);
			trace_window(&t, 40);
			trace_ticks(&t, 2 * BASE, 30, 100);
		}
	}
	path = trace_file(t.data, t.size - 7, ".xen");
	trace_free(&t);
	return path;
}

/* What came of it. */
struct outcome {
	int		error;		/* 0, or why there is none */
	uint64_t	n_records;
	struct xen_clock clock;
	int32_t		n_vcpus;
	size_t		n_losses;
	int64_t		end_ns;
};

static struct outcome use(const char *path, bool correct_skew)
{
	const struct xen_trace_options options = { .correct_skew = correct_skew };
	struct outcome outcome = { .error = EPROTO };
	struct virt_model *model = NULL;
	char error[512] = "";
	struct xen_trace *trace = xen_trace_open(path, &options, error, sizeof(error));
	int ret;

	if (!trace) {
		outcome.error = errno;
		return outcome;
	}
	outcome.n_records = xentrace_n_records(xen_trace_reader(trace));
	outcome.clock = *xen_trace_clock(trace);
	free(xen_trace_notes(trace, 3));
	ret = xen_tracker_build(trace, &model);
	outcome.error = -ret;
	if (!ret) {
		outcome.n_vcpus = virt_model_n_vcpus(model);
		outcome.n_losses = virt_model_losses(model).n;
		outcome.end_ns = virt_model_end(model);
		virt_model_free(model);
	}
	xen_trace_close(trace);
	return outcome;
}

static void check(bool correct_skew)
{
	char *path = make_trace();
	struct outcome wanted;
	long n, failures = 0;

	countdown = 0;
	n_allocations = 0;
	wanted = use(path, correct_skew);
	n = n_allocations;
	assert_int_equal(wanted.error, 0);
	assert_int_equal(wanted.clock.source, XEN_CLOCK_CALIBRATED);
	assert_true(wanted.n_vcpus == 3 && wanted.n_losses > 0);
	assert_true(n > 50);
	for (long i = 1; i <= n; i++) {
		struct outcome outcome;

		countdown = i;
		outcome = use(path, correct_skew);
		countdown = 0;
		if (outcome.error) {
			if (outcome.error != ENOMEM)
				fail_msg("allocation %ld of %ld: %s", i, n,
					 strerror(outcome.error));
			failures++;
			continue;
		}
		/* one that was not needed, such as for the notes */
		if (outcome.n_records != wanted.n_records || outcome.clock.hz != wanted.clock.hz ||
		    outcome.n_vcpus != wanted.n_vcpus || outcome.n_losses != wanted.n_losses ||
		    outcome.end_ns != wanted.end_ns)
			fail_msg("allocation %ld of %ld: %llu records, %llu Hz, %d vCPUs, "
				 "%zu losses",
				 i, n, (unsigned long long)outcome.n_records,
				 (unsigned long long)outcome.clock.hz, outcome.n_vcpus,
				 outcome.n_losses);
	}
	assert_true(failures > n / 2);
	remove(path);
	free(path);
}

static void test_each_allocation(void **state)
{
	(void)state;
	check(false);
	check(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
