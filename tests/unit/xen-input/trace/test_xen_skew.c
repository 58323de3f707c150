/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TSC skew between pCPUs: a vCPU that wanders over pCPUs whose TSCs differ by known amounts.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace_builder.h"
#include "xen_skew.h"
#include "xentrace_reader.h"

#define CHANGE(old, new)	(0x00021001 | (old) << 8 | (new) << 4)
#define R			XEN_RUNSTATE_RUNNING
#define W			XEN_RUNSTATE_RUNNABLE
#define B			XEN_RUNSTATE_BLOCKED
#define N_PCPUS			4
#define BASE			(1ULL << 40)

/** Everything that happened on each pCPU, in the order of true time. */
struct machine {
	struct trace	body[N_PCPUS];
	int64_t		skew[N_PCPUS];		/* a pCPU's TSC - true time */
	double		drift[N_PCPUS];		/* cycles gained per cycle */
};

static void change(struct machine *m, int pcpu, uint64_t when, int old, int new, uint32_t vcpu)
{
	uint64_t tsc = BASE + when + m->skew[pcpu] + (int64_t)(m->drift[pcpu] * when);

	TRACE_RECORD(&m->body[pcpu], CHANGE(old, new), tsc, vcpu);
}

static struct trace assemble(const struct machine *m)
{
	struct trace t = { 0 };

	for (int pcpu = 0; pcpu < N_PCPUS; pcpu++) {
		if (!m->body[pcpu].size)
			continue;
		trace_window(&t, pcpu);
		trace_bytes(&t, m->body[pcpu].data, m->body[pcpu].size);
		trace_patch_u32(&t, t.window - 1 + 8, m->body[pcpu].size);
	}
	return t;
}

static void machine_free(struct machine *m)
{
	for (int pcpu = 0; pcpu < N_PCPUS; pcpu++)
		trace_free(&m->body[pcpu]);
}

/** vCPUs that run, are preempted, woken on another pCPU, and run there @latency cycles later. */
static void wander(struct machine *m, int rounds, uint64_t latency)
{
	uint64_t seed = 99, when = 0;

	for (int i = 0; i < rounds; i++) {
		uint32_t vcpu = 1 << 16 | i % 3;
		int here = i % N_PCPUS, there = (i + 1 + trace_random(&seed) % 3) % N_PCPUS;

		/* a whole turn of the vCPU: blocked -> runnable -> running -> blocked */
		change(m, there, when += latency, B, W, vcpu);
		change(m, here, when += latency, W, R, vcpu);
		change(m, there, when + latency / 2, W, R, 0x7fff0000);	/* idle: of no interest */
		when += 20000;
		change(m, here, when += latency, R, B, vcpu);
		when += 5000;
	}
}

static struct xen_skew *observe(const struct xentrace *reader, const int64_t *offset)
{
	struct xentrace_iter_options options = {
		.pcpu_offset = offset, .n_pcpu_offset = offset ? N_PCPUS : 0,
	};
	struct xentrace_iter *iter = xentrace_iter_new(reader, &options);
	struct xen_skew *skew = xen_skew_new();
	struct xentrace_record rec;

	while (xentrace_iter_next(iter, &rec))
		xen_skew_observe(skew, &rec);
	xentrace_iter_free(iter);
	return skew;
}

struct result {
	struct xen_skew_summary	before, after;
	int			ret;
	int64_t			offset[N_PCPUS];
	char			text[512];
};

static struct result run(struct machine *m)
{
	struct trace t = assemble(m);
	struct xentrace *reader = xentrace_open_memory(t.data, t.size, NULL, NULL, 0);
	struct result result = { 0 };
	struct xen_skew *skew;

	assert_non_null(reader);
	skew = observe(reader, NULL);
	xen_skew_summary(skew, &result.before);
	xen_skew_text(result.text, sizeof(result.text), skew);
	result.ret = xen_skew_correction(skew, result.offset, N_PCPUS);
	xen_skew_free(skew);
	if (!result.ret) {
		skew = observe(reader, result.offset);
		xen_skew_summary(skew, &result.after);
		xen_skew_free(skew);
	}
	xentrace_close(reader);
	trace_free(&t);
	machine_free(m);
	return result;
}

static void test_in_order(void **state)
{
	struct machine m = { 0 };
	struct result r;

	(void)state;
	wander(&m, 200, 3000);
	r = run(&m);
	assert_int_equal(r.ret, -ENODATA);
	assert_true(r.before.links >= 300);
	assert_int_equal(r.before.contradictions, 0);
	assert_int_equal(r.before.broken, 0);
	assert_string_equal(r.text, "");
}

static void test_one_link(void **state)
{
	struct machine m = { .skew = { [2] = 10000 } };
	struct result r;

	(void)state;
	/* pCPU 2 wakes the vCPU, pCPU 0 runs it 400 cycles later; pCPU 2 is 10000 cycles ahead */
	change(&m, 0, 0, W, R, 1 << 16);
	change(&m, 0, 500, R, B, 1 << 16);
	change(&m, 2, 1000, B, W, 1 << 16);
	change(&m, 0, 1400, W, R, 1 << 16);
	change(&m, 0, 50000, R, B, 1 << 16);
	r = run(&m);
	assert_int_equal(r.ret, 0);
	assert_int_equal(r.before.contradictions, 1);
	assert_int_equal(r.before.worst_cycles, 9600);
	assert_int_equal(r.before.worst_from, 2);
	assert_int_equal(r.before.worst_to, 0);
	assert_non_null(strstr(r.text, "9600 cycles (pCPU 2 to pCPU 0)"));
	assert_int_equal(r.offset[0] - r.offset[2], 9600);
	assert_int_equal(r.after.contradictions, 0);
}

static void check_skew(const int64_t *skews, bool must)
{
	struct machine m = { 0 };
	struct result r;
	int64_t smallest = INT64_MAX;

	memcpy(m.skew, skews, sizeof(m.skew));
	wander(&m, 400, 500);
	r = run(&m);
	assert_true(r.before.contradictions > 0);
	assert_true(*r.text);
	if (!must && r.ret == -ERANGE)
		return;
	assert_int_equal(r.ret, 0);
	/* nothing contradicts any more */
	assert_int_equal(r.after.contradictions, 0);
	assert_int_equal(r.after.broken, 0);
	/* and what is left of the skew is less than the time between two changes allows */
	for (int a = 0; a < N_PCPUS; a++) {
		smallest = r.offset[a] < smallest ? r.offset[a] : smallest;
		for (int b = 0; b < N_PCPUS; b++)
			assert_in_range(r.offset[a] + m.skew[a] - r.offset[b] - m.skew[b] + 30000,
					0, 60000);
	}
	assert_int_equal(smallest, 0);
}

static void test_known_skew(void **state)
{
	static const int64_t skews[][N_PCPUS] = {
		{ 0, 3000, -2000, 700 }, { 1500, 0, 0, 0 }, { 0, 0, 0, -4321 },
		{ 800, 1600, 2400, 3200 }, { 1000000, 1000000, 1000000, 1001000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(skews) / sizeof(*skews); i++)
		check_skew(skews[i], true);
}

/*
 * More than the time between a vCPU's changes: which ones belong together is not always certain.
 * Then there must be no correction rather than a wrong one.
 */
static void test_large_skew(void **state)
{
	static const int64_t skews[][N_PCPUS] = {
		{ 0, 30000, -20000, 7000 }, { 15000, 0, 0, 0 }, { 0, 0, 0, -12345 },
		{ 8000, 16000, 24000, 32000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(skews) / sizeof(*skews); i++)
		check_skew(skews[i], false);
}

static void test_drift(void **state)
{
	struct machine m = { .skew = { 0, -400000 }, .drift = { 0, 0.1 } };
	struct result r;

	(void)state;
	wander(&m, 400, 500);
	r = run(&m);
	assert_int_equal(r.ret, -ERANGE);
	assert_true(r.before.contradictions > 0);
}

/* After lost records nothing is concluded from what was known before. */
static void test_lost_records(void **state)
{
	struct machine m = { 0 };
	struct result r;

	(void)state;
	change(&m, 0, 0, W, R, 1 << 16);
	TRACE_RECORD(&m.body[1], XEN_TRC_LOST_RECORDS, BASE + 100, 5, 1, 0, 0);
	change(&m, 2, 200, W, R, 1 << 16);
	change(&m, 1, 300, R, B, 1 << 16);
	r = run(&m);
	assert_int_equal(r.ret, -ENODATA);
	assert_int_equal(r.before.links, 1);
	assert_int_equal(r.before.broken, 0);
}

/* Differences of 2^63 cycles and more are none of a TSC's. */
static void test_extreme(void **state)
{
	struct trace t = { 0 };
	struct xen_skew_summary summary;
	struct xentrace *reader;
	struct xen_skew *skew;
	int64_t offset[N_PCPUS];

	(void)state;
	trace_window(&t, 0);
	TRACE_RECORD(&t, CHANGE(B, W), 0, 1 << 16);
	trace_window(&t, 1);
	TRACE_RECORD(&t, CHANGE(W, R), 1ULL << 63, 1 << 16);
	trace_window(&t, 2);
	TRACE_RECORD(&t, CHANGE(R, W), UINT64_MAX, 1 << 16);
	reader = xentrace_open_memory(t.data, t.size, NULL, NULL, 0);
	assert_non_null(reader);
	skew = observe(reader, NULL);
	xen_skew_summary(skew, &summary);
	assert_int_equal(summary.links, 2);
	assert_int_equal(summary.contradictions, 0);
	assert_int_equal(xen_skew_correction(skew, offset, N_PCPUS), -ENODATA);
	xen_skew_free(skew);
	xen_skew_free(NULL);
	xentrace_close(reader);
	trace_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_one_link),
		cmocka_unit_test(test_known_skew),
		cmocka_unit_test(test_large_skew),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_lost_records),
		cmocka_unit_test(test_extreme),
	};

	return cmocka_run_group_tests_name("xen_skew", tests, NULL, NULL);
}
