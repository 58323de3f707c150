/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who is running: each rule of attribution on a hand-made sequence of records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace_builder.h"
#include "xen_running.h"

#define VCPU(domid, vcpu)	((uint32_t)(domid) << 16 | (vcpu))
#define IDLE(pcpu)		VCPU(XEN_DOMID_IDLE, pcpu)
#define CHANGE(old, new)	(0x00021001 | (old) << 8 | (new) << 4)
#define OTHER			0x00201003	/* not of the class SCHED */
#define R			XEN_RUNSTATE_RUNNING
#define W			XEN_RUNSTATE_RUNNABLE
#define B			XEN_RUNSTATE_BLOCKED
#define UNKNOWN			XEN_VCPU_UNKNOWN

static struct xen_running running;

static int set_up(void **state)
{
	(void)state;
	return xen_running_init(&running, 3);
}

static int tear_down(void **state)
{
	(void)state;
	xen_running_destroy(&running);
	return 0;
}

static xen_vcpu feed(uint32_t run, uint32_t event, uint8_t flags, int n, const uint32_t *words)
{
	struct xentrace_record rec = {
		.event = event, .run = run, .n_words = n,
		.flags = flags | XENTRACE_HAS_TSC,
	};

	for (int i = 0; i < n; i++)
		rec.words[i] = htole32(words[i]);
	return xen_running_update(&running, &rec);
}

#define FEED(run, event, ...)							\
	feed(run, event, 0, (int)(sizeof((uint32_t[]){ 0, ##__VA_ARGS__ }) / 4) - 1,	\
	     (uint32_t[]){ 0, ##__VA_ARGS__ } + 1)

/* A record of another class shows who is there and changes nothing. */
static xen_vcpu now(uint32_t run)
{
	return FEED(run, OTHER, 12345);
}

static void test_unknown_at_first(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 3; run++)
		assert_int_equal(now(run), UNKNOWN);
}

static void test_runstates(void **state)
{
	(void)state;
	/* put on the pCPU: belongs to it already */
	assert_int_equal(FEED(0, CHANGE(W, R), VCPU(1, 2)), VCPU(1, 2));
	assert_int_equal(now(0), VCPU(1, 2));
	assert_int_equal(now(1), UNKNOWN);
	/* another vCPU becomes runnable: changes nothing */
	assert_int_equal(FEED(0, CHANGE(B, W), VCPU(3, 0)), VCPU(1, 2));
	/* taken off: still belongs to it */
	assert_int_equal(FEED(0, CHANGE(R, B), VCPU(1, 2)), VCPU(1, 2));
	assert_int_equal(FEED(0, CHANGE(W, R), IDLE(0)), IDLE(0));
	assert_int_equal(now(0), IDLE(0));
	assert_true(xen_vcpu_is_idle(now(0)));
	/* taken off without having been seen before: it was there */
	assert_int_equal(FEED(1, CHANGE(R, W), VCPU(0, 1)), VCPU(0, 1));
}

static void test_continue_running(void **state)
{
	(void)state;
	assert_int_equal(FEED(2, XEN_TRC_SCHED_CONTINUE_RUNNING, VCPU(5, 1)), VCPU(5, 1));
	assert_int_equal(now(2), VCPU(5, 1));
	assert_int_equal(now(0), UNKNOWN);
}

static void test_switch(void **state)
{
	(void)state;
	/* the switch belongs to the one that leaves, what follows to the one that comes */
	assert_int_equal(FEED(0, XEN_TRC_SCHED_SWITCH, 1, 0, 2, 3), VCPU(1, 0));
	assert_int_equal(now(0), VCPU(2, 3));
	/* with runstate changes traced, those decide */
	FEED(0, XEN_TRC_SCHED_SWITCH, 2, 3, XEN_DOMID_IDLE, 0);
	assert_int_equal(FEED(0, CHANGE(R, B), VCPU(2, 3)), VCPU(2, 3));
	assert_int_equal(FEED(0, CHANGE(W, R), IDLE(0)), IDLE(0));
	assert_int_equal(now(0), IDLE(0));
	/* a vCPU that goes on shows who is there if that is unknown, and nothing else */
	assert_int_equal(FEED(1, XEN_TRC_SCHED_SWITCH, 1, 0, 2), UNKNOWN);
	assert_int_equal(FEED(1, XEN_TRC_SCHED_SWITCH_INFCONT, 1, 0, 2), UNKNOWN);
	assert_int_equal(FEED(1, XEN_TRC_SCHED_SWITCH_INFCONT, 1, 0, 2, 3), VCPU(1, 0));
	assert_int_equal(FEED(1, XEN_TRC_SCHED_SWITCH_INFCONT, 4, 0, 2, 3), VCPU(1, 0));
	assert_int_equal(now(1), VCPU(1, 0));
}

static void test_losses(void **state)
{
	(void)state;
	FEED(0, CHANGE(W, R), VCPU(1, 2));
	FEED(1, CHANGE(W, R), VCPU(3, 4));
	/* records lost; who runs now: domid in the low half, vcpu in the high one */
	assert_int_equal(FEED(0, XEN_TRC_LOST_RECORDS, 17, 1u << 16 | 9, 0, 0), VCPU(9, 1));
	assert_int_equal(now(0), VCPU(9, 1));
	assert_int_equal(now(1), VCPU(3, 4));
	/* a loss without the vCPU */
	assert_int_equal(FEED(0, XEN_TRC_LOST_RECORDS, 17), UNKNOWN);
	/* bytes missing from the file */
	assert_int_equal(feed(1, OTHER, XENTRACE_AFTER_GAP, 0, NULL), UNKNOWN);
	assert_int_equal(now(1), UNKNOWN);
	/* even between a switch and what follows */
	FEED(1, XEN_TRC_SCHED_SWITCH, 1, 0, 2, 3);
	assert_int_equal(feed(1, OTHER, XENTRACE_AFTER_GAP, 0, NULL), UNKNOWN);
	/* and a record after a gap may itself show it */
	assert_int_equal(feed(1, CHANGE(W, R), XENTRACE_AFTER_GAP, 1,
			      (uint32_t[]){ VCPU(4, 4) }), VCPU(4, 4));
}

static void test_impossible(void **state)
{
	(void)state;
	assert_int_equal(FEED(0, CHANGE(W, R), VCPU(1, 10000)), UNKNOWN);
	assert_int_equal(FEED(0, CHANGE(W, R), VCPU(0x8000, 0)), UNKNOWN);
	assert_int_equal(FEED(0, CHANGE(W, R), UINT32_MAX), UNKNOWN);
	assert_int_equal(FEED(0, CHANGE(W, R), VCPU(1, XEN_MAX_VCPU)), VCPU(1, XEN_MAX_VCPU));
	/* records that are too short say nothing */
	assert_int_equal(FEED(0, CHANGE(W, R)), VCPU(1, XEN_MAX_VCPU));
	assert_int_equal(FEED(0, XEN_TRC_SCHED_CONTINUE_RUNNING), VCPU(1, XEN_MAX_VCPU));
	assert_int_equal(FEED(0, XEN_TRC_SCHED_SWITCH, 1, 2, 3), VCPU(1, XEN_MAX_VCPU));
	assert_int_equal(now(0), VCPU(1, XEN_MAX_VCPU));
}

/** Who was there at first, according to a trace, which is freed. */
static xen_vcpu first_of(struct trace *trace, uint32_t run)
{
	struct xentrace *reader = xentrace_open_memory(trace->data, trace->size, NULL, NULL, 0);
	struct xen_first first;
	xen_vcpu vcpu;

	assert_non_null(reader);
	assert_int_equal(xen_first_find(&first, reader), 0);
	vcpu = first.vcpu[run];
	xen_first_destroy(&first);
	xentrace_close(reader);
	trace_free(trace);
	return vcpu;
}

/** A trace of two pCPUs, the first one idle, the second one in a hypercall at first. */
static struct trace two_pcpus(void)
{
	struct trace trace = { 0 };

	trace_window(&trace, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 1000, IDLE(0));
	trace_window(&trace, 1);
	TRACE_RECORD(&trace, OTHER, 1000);
	/* of others, who are not there */
	TRACE_RECORD(&trace, CHANGE(B, W), 1100, VCPU(7, 7));
	TRACE_RECORD(&trace, XEN_TRC_SCHED_WAKE, 1200, 7, 7);
	return trace;
}

/** The first record that shows it, of each kind, and what stands in its way. */
static void test_first(void **state)
{
	static const struct {
		uint32_t event;
		int n;
		uint32_t words[4];
		xen_vcpu first;
	} cases[] = {
		{ CHANGE(R, B), 1, { VCPU(1, 2) }, VCPU(1, 2) },
		{ CHANGE(R, W), 1, { IDLE(1) }, IDLE(1) },
		{ XEN_TRC_SCHED_CONTINUE_RUNNING, 1, { VCPU(1, 2) }, VCPU(1, 2) },
		{ XEN_TRC_SCHED_SWITCH, 4, { 1, 2, 3, 4 }, VCPU(1, 2) },
		{ XEN_TRC_SCHED_SWITCH_INFCONT, 4, { 1, 2, 0, 0 }, VCPU(1, 2) },
		/* takes the place of a vCPU that has left without a record */
		{ CHANGE(W, R), 1, { VCPU(1, 2) }, UNKNOWN },
		{ CHANGE(R, B), 1, { VCPU(1, 10000) }, UNKNOWN },
		{ XEN_TRC_SCHED_SWITCH, 3, { 1, 2, 3 }, VCPU(XEN_DOMID_SOMEBODY | 1, 0) },
		{ XEN_TRC_LOST_RECORDS, 4, { 9, 1 << 16 | 2, 0, 0 },
		  VCPU(XEN_DOMID_SOMEBODY | 1, 0) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct trace trace = two_pcpus();

		trace_record(&trace, cases[i].event, 2000, cases[i].n, cases[i].words);
		/* too late to show it */
		if (cases[i].n != 3 && cases[i].event != XEN_TRC_SCHED_SWITCH_INFCONT)
			TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 3000, VCPU(5, 5));
		assert_int_equal(first_of(&trace, 1), cases[i].first);
	}
}

/** The scheduler's records name the unit; those of the runstates, the vCPU. */
static void test_first_unit(void **state)
{
	struct trace trace = two_pcpus();

	(void)state;
	TRACE_RECORD(&trace, XEN_TRC_SCHED_SWITCH_INFCONT, 2000, 1, 0, 0, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 2001, VCPU(1, 1));
	assert_int_equal(first_of(&trace, 1), VCPU(1, 1));
	trace = two_pcpus();
	assert_int_equal(first_of(&trace, 0), IDLE(0));
}

/** What looked ahead is what the first records belong to. */
static void test_start(void **state)
{
	xen_vcpu vcpus[] = { VCPU(1, 2), UNKNOWN, xen_vcpu_somebody(2) };
	const struct xen_first first = { .vcpu = vcpus, .n_runs = 3 };

	(void)state;
	xen_running_start(&running, &first);
	assert_int_equal(now(0), VCPU(1, 2));
	assert_int_equal(now(1), UNKNOWN);
	assert_int_equal(now(2), xen_vcpu_somebody(2));
	assert_int_equal(FEED(2, XEN_TRC_LOST_RECORDS, 17), UNKNOWN);
	assert_true(xen_vcpu_is_somebody(xen_vcpu_somebody(XENTRACE_MAX_PCPU)));
	assert_false(xen_vcpu_is_somebody(UNKNOWN));
	assert_false(xen_vcpu_is_somebody(IDLE(0)));
}

static void test_no_runs(void **state)
{
	struct xen_running none;

	(void)state;
	assert_int_equal(xen_running_init(&none, 0), 0);
	xen_running_destroy(&none);
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_unknown_at_first),
		TEST(test_runstates),
		TEST(test_continue_running),
		TEST(test_switch),
		TEST(test_losses),
		TEST(test_impossible),
		TEST(test_start),
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_first_unit),
		cmocka_unit_test(test_no_runs),
	};

	return cmocka_run_group_tests_name("xen_running", tests, NULL, NULL);
}
