/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A large file is read by another thread than the one that uses it, if a core is free: nothing that
 * is found in it depends on that.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace_builder.h"
#include "xen_events.h"
#include "xen_part.h"
#include "xen_trace.h"

#define PCPUS		4
#define ROUNDS		100
#define SWITCHES	200	/* of a pCPU in a round */

static bool is_busy;
static off_t broken_from;	/* reading fails from here on; 0: nowhere */

bool __wrap_block_pipe_pays(void);
ssize_t __real_pread(int fd, void *buf, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *buf, size_t size, off_t offset);

bool __wrap_block_pipe_pays(void)
{
	return !is_busy;
}

ssize_t __wrap_pread(int fd, void *buf, size_t size, off_t offset)
{
	if (!broken_from || offset < broken_from)
		return __real_pread(fd, buf, size, offset);
	errno = EIO;
	return -1;
}

/** What was found. */
struct found {
	int			error;
	uint64_t		n_records, n_problems, skipped_bytes, n_rows, sum;
	struct xen_clock	clock;
	enum xen_isa		isa;
	bool			has_cores;
};

static void find(const char *path, struct found *found)
{
	struct xen_trace *trace;
	struct xen_trace_iter *iter;
	struct xen_trace_row row;
	char error[512];

	memset(found, 0, sizeof(*found));
	trace = xen_trace_open(path, NULL, error, sizeof(error));
	if (!trace) {
		found->error = errno;
		return;
	}
	found->n_records = xentrace_n_records(xen_trace_reader(trace));
	found->n_problems = (uint64_t)xentrace_n_problems(xen_trace_reader(trace));
	found->skipped_bytes = xentrace_skipped_bytes(xen_trace_reader(trace));
	memcpy(&found->clock, xen_trace_clock(trace), sizeof(found->clock));
	found->isa = xen_trace_isa(trace);
	found->has_cores = xen_trace_cores(trace);
	iter = xen_trace_iter_new(trace);
	assert_non_null(iter);
	for (; xen_trace_iter_next(iter, &row); found->n_rows++)
		found->sum = 31 * found->sum + (uint64_t)row.time_ns + row.rec.offset + row.vcpu;
	assert_int_equal(xen_trace_iter_free(iter), 0);
	xen_trace_close(trace);
}

/** The same, with one core and with two, more than once. Return: of a damaged file, its damage. */
static uint64_t compare(const struct trace *t)
{
	char *path = trace_file(t->data, t->size, ".xen");
	struct found alone, beside;

	is_busy = true;
	find(path, &alone);
	is_busy = false;
	for (int i = 0; i < 5; i++) {
		find(path, &beside);
		assert_memory_equal(&alone, &beside, sizeof(alone));
	}
	/* a disk fails */
	broken_from = (off_t)t->size / 2;
	is_busy = true;
	find(path, &alone);
	assert_true(alone.error);
	is_busy = false;
	find(path, &beside);
	assert_memory_equal(&alone, &beside, sizeof(alone));
	broken_from = 0;
	find(path, &beside);
	unlink(path);
	free(path);
	return beside.n_problems;
}

/** vCPUs take turns, with exits in between. */
static void make_trace(struct trace *t)
{
	uint64_t seed = 1;

	for (uint64_t round = 0; round < ROUNDS; round++) {
		for (uint32_t pcpu = 0; pcpu < PCPUS; pcpu++) {
			uint64_t tsc = 2400000000 + round * SWITCHES * 24000 + pcpu * 11;

			trace_window(t, pcpu);
			for (uint32_t i = 0; i < SWITCHES; i++, tsc += 24000) {
				uint32_t vcpu = (uint32_t)(trace_random(&seed) % 3) << 16 | pcpu;

				TRACE_RECORD(t, XEN_TRC_SCHED_SWITCH_INFPREV, tsc, 1, vcpu, 10000);
				TRACE_RECORD(t, XEN_TRC_SCHED_SWITCH_INFNEXT, tsc + 100, 1, vcpu, 0,
					     30000000);
				TRACE_RECORD(t, XEN_TRC_SCHED_CONTINUE_RUNNING, tsc + 200, vcpu);
				TRACE_RECORD(t, XEN_TRC_HVM_VMX_EXIT, tsc + 300, 10, 4711);
			}
		}
	}
}

static void test_threads(void **state)
{
	struct trace t = { 0 };
	uint64_t seed = 2;

	(void)state;
	make_trace(&t);
	assert_true(t.size > 5 << 20);
	assert_int_equal(compare(&t), 0);
	/* a stretch of garbage, single bits, and the end of a window is missing */
	for (size_t i = 0; i < 4000; i++)
		t.data[t.size / 3 + i] = (uint8_t)trace_random(&seed);
	for (size_t i = 0; i < 20; i++)
		t.data[trace_random(&seed) % t.size] ^= (uint8_t)(1 << i % 8);
	t.size -= 1234;
	assert_true(compare(&t) > 2);
	trace_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
