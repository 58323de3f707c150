/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The Xen tracker on small traces made for one rule each: what it makes of few kinds of records, of
 * losses, and of records that contradict each other. One cycle is one nanosecond here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace_builder.h"
#include "virt_limits.h"
#include "virt_needs.h"
#include "xen_tracker.h"

#define D1V0	0x00010000
#define D1V1	0x00010001
#define D2V0	0x00020000
#define D2V1	0x00020001
#define D3V0	0x00030000
#define IDLE(n)	(0x7fff0000 | (n))

#define RUNSTATE(old, new)	(XEN_TRC_SCHED_RUNSTATE_CHANGE | (old) << 8 | (new) << 4)
#define RUNNING_TO_RUNNABLE	RUNSTATE(0, 1)
#define RUNNING_TO_BLOCKED	RUNSTATE(0, 2)
#define RUNNING_TO_OFFLINE	RUNSTATE(0, 3)
#define RUNNABLE_TO_RUNNING	RUNSTATE(1, 0)
#define BLOCKED_TO_RUNNABLE	RUNSTATE(2, 1)
#define OFFLINE_TO_BLOCKED	RUNSTATE(3, 2)
#define OFFLINE_TO_RUNNABLE	RUNSTATE(3, 1)
#define BLOCKED_TO_RUNNING	RUNSTATE(2, 0)

/* Exit codes of SVM (APM, volume 2, appendix C) */
#define SVM_INTR		0x60
#define SVM_HLT			0x78
#define SVM_IOIO		0x7b
#define SVM_VMMCALL		0x81
#define SVM_NPF			0x400

/** The model of a trace, which is freed. */
static struct virt_model *build(struct trace *trace)
{
	struct xen_trace_options options = { .cpu_hz = 1000000000, .absolute_time = true };
	struct virt_model *model = NULL;
	struct xen_trace *xen;
	char error[512] = "";

	xen = xen_trace_open_memory(trace->data, trace->size, &options, error, sizeof(error));
	if (!xen)
		fail_msg("%s", error);
	assert_int_equal(xen_tracker_build(xen, &model), 0);
	assert_non_null(model);
	xen_trace_close(xen);
	trace_free(trace);
	return model;
}

static int32_t vcpu_of(const struct virt_model *model, const char *name)
{
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
		if (!strcmp(virt_model_vcpu(model, i)->name, name))
			return i;
	}
	fail_msg("no vCPU %s", name);
	return -1;
}

/**
 * A vCPU's intervals as text: "state@start(pcpu) ..." with the exit reason or culprit; "!" is a
 * wait that the guest did not ask for, "/" is not split.
 */
static const char *life(const struct virt_model *model, const char *name)
{
	static const char letters[] = "GHLVPWBDOU";
	struct virt_interval_range range =
		virt_vcpu_intervals(model, vcpu_of(model, name), INT64_MIN, INT64_MAX);
	static char text[1024];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < range.n; i++) {
		const struct virt_interval *interval = &range.first[i];

		n += snprintf(text + n, sizeof(text) - n, "%s%c%lld", i ? " " : "",
			      letters[interval->state], (long long)interval->start_ns);
		if (interval->pcpu >= 0)
			n += snprintf(text + n, sizeof(text) - n, "p%d", interval->pcpu);
		if (interval->flags & VIRT_INTERVAL_UNASKED)
			n += snprintf(text + n, sizeof(text) - n, "!");
		if (interval->flags & VIRT_INTERVAL_UNSPLIT)
			n += snprintf(text + n, sizeof(text) - n, "/");
		if (interval->state == VIRT_PREEMPTED && interval->detail >= 0)
			n += snprintf(text + n, sizeof(text) - n, "(%s)",
				      virt_model_vcpu(model, interval->detail)->name);
		if (interval->state == VIRT_HYPERVISOR && interval->detail >= 0)
			n += snprintf(text + n, sizeof(text) - n, "(%s)",
				      virt_model_reason(model, interval->detail));
		assert_true(n < sizeof(text));
	}
	return text;
}

/** How often the model has seen a contradiction of any kind. */
static uint64_t contradictions(const struct virt_model *model)
{
	uint64_t all = 0, count;

	for (int i = 0; virt_model_contradictions(model, i, &count); i++)
		all += count;
	return all;
}

static void expect(const struct virt_model *model, const char *name, const char *expected)
{
	assert_string_equal(life(model, name), expected);
}

/** Runstates of two vCPUs on one pCPU; d1v1 is woken from another one. */
static void runstates(struct trace *trace)
{
	trace_window(trace, 0);
	TRACE_RECORD(trace, RUNNING_TO_RUNNABLE, 1000, IDLE(0));
	TRACE_RECORD(trace, RUNNABLE_TO_RUNNING, 1010, D1V0);
	TRACE_RECORD(trace, RUNNING_TO_RUNNABLE, 2000, D1V0);
	TRACE_RECORD(trace, RUNNABLE_TO_RUNNING, 2010, D1V1);
	TRACE_RECORD(trace, RUNNING_TO_BLOCKED, 3000, D1V1);
	TRACE_RECORD(trace, RUNNABLE_TO_RUNNING, 3010, D1V0);
	TRACE_RECORD(trace, RUNNING_TO_BLOCKED, 5000, D1V0);
	TRACE_RECORD(trace, RUNNABLE_TO_RUNNING, 5010, IDLE(0));
	trace_window(trace, 1);
	TRACE_RECORD(trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 1500, D2V0);
	TRACE_RECORD(trace, BLOCKED_TO_RUNNABLE, 4000, D1V1);
	TRACE_RECORD(trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 6000, D2V0);
}

static void test_runstates(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;
	const struct virt_occupant *occupant;

	(void)state;
	runstates(&trace);
	model = build(&trace);
	expect(model, "d1v0", "U1000 G1010p0 P2000p0(d1v1) G3010p0 B5000p0");
	expect(model, "d1v1", "U1000 G2010p0 B3000p0 W4000p0");
	/* since the first record of all pCPUs, to the end */
	expect(model, "d2v0", "G1000p1");
	assert_int_equal(virt_model_begin(model), 1000);
	assert_int_equal(virt_model_end(model), 6001);
	assert_int_equal(contradictions(model), 0);
	occupant = virt_pcpu_at(model, 0, 1005, NULL);
	assert_int_equal(occupant->vcpu, VIRT_NONE);
	assert_true(occupant->known);
	assert_int_equal(virt_pcpu_at(model, 0, 2500, NULL)->vcpu, vcpu_of(model, "d1v1"));
	assert_int_equal(virt_pcpu_at(model, 1, 1200, NULL)->vcpu, vcpu_of(model, "d2v0"));
	virt_model_free(model);
}

/** What vCPUs were before anything was said of them: any change of that would have been traced. */
static void befores(struct trace *trace)
{
	trace_window(trace, 0);
	TRACE_RECORD(trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 1000, D1V0);
	TRACE_RECORD(trace, BLOCKED_TO_RUNNABLE, 2000, D1V1);
	TRACE_RECORD(trace, OFFLINE_TO_RUNNABLE, 2100, D2V0);
	TRACE_RECORD(trace, OFFLINE_TO_RUNNABLE, 2200, D2V0);
	TRACE_RECORD(trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 3000, D1V0);
	trace_window(trace, 1);
	TRACE_RECORD(trace, BLOCKED_TO_RUNNING, 2300, D2V1);
	TRACE_RECORD(trace, RUNNING_TO_RUNNABLE, 2400, D2V1);
	/* woken or preempted: no record shows which */
	TRACE_RECORD(trace, RUNNABLE_TO_RUNNING, 2410, D3V0);
}

static void test_before(void **state)
{
	static const uint8_t garbage[64] = { 0xff, 0xff, 0xff, 0xff };
	struct trace whole = { 0 }, ring = { 0 }, damaged = { 0 };
	struct virt_model *model;

	(void)state;
	befores(&whole);
	model = build(&whole);
	expect(model, "d1v0", "G1000p0");
	expect(model, "d1v1", "B1000 W2000");
	expect(model, "d2v0", "O1000 W2100");
	expect(model, "d2v1", "B1000 G2300p1 P2400p1(d3v0)");
	expect(model, "d3v0", "U1000 G2410p1");
	assert_int_equal(contradictions(model), 1);
	virt_model_free(model);

	/* as of a ring: pCPU 1 has been emptied last after 1500, and what it said before is gone */
	trace_window(&ring, 0);
	TRACE_RECORD(&ring, XEN_TRC_SCHED_CONTINUE_RUNNING, 1000, D1V0);
	TRACE_RECORD(&ring, BLOCKED_TO_RUNNABLE, 1400, D1V1);
	trace_window(&ring, 1);
	TRACE_RECORD(&ring, RUNNING_TO_BLOCKED, 1500, D2V0);
	trace_window(&ring, 0);
	TRACE_RECORD(&ring, BLOCKED_TO_RUNNABLE, 2000, D2V1);
	TRACE_RECORD(&ring, XEN_TRC_SCHED_CONTINUE_RUNNING, 3000, D1V0);
	trace_window(&ring, 2);
	TRACE_RECORD(&ring, RUNNING_TO_BLOCKED, 2500, D3V0);
	model = build(&ring);
	expect(model, "d1v0", "G1000p0");
	expect(model, "d1v1", "U1000 W1400");
	expect(model, "d2v0", "U1000 B1500p1");
	expect(model, "d2v1", "U1000 B1500 W2000");
	expect(model, "d3v0", "U1000 G1500p2 B2500p2");
	virt_model_free(model);

	/* here, others may have been said before */
	trace_bytes(&damaged, garbage, sizeof(garbage));
	befores(&damaged);
	model = build(&damaged);
	expect(model, "d1v1", "U1000 W2000");
	expect(model, "d2v0", "U1000 W2100");
	expect(model, "d2v1", "U1000 G2300p1 P2400p1(d3v0)");
	virt_model_free(model);
}

/** The same with the verbose records alone: who is on a pCPU is known, and not what others do. */
static void test_switches_alone(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_SWITCH, 1000, 0x7fff, 0, 1, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_SWITCH, 2000, 1, 0, 1, 1);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_BLOCK, 2900, 1, 1);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_SWITCH, 3000, 1, 1, 1, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_SLEEP, 4500, 1, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_SWITCH, 5000, 1, 0, 0x7fff, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_WAKE, 5500, 1, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_WAKE, 6000, 2, 0);
	trace_window(&trace, 1);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_WAKE, 4000, 1, 1);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_WAKE, 4001, 1, 1);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_SWITCH, 6500, 0x7fff, 1, 1, 1);
	model = build(&trace);
	expect(model, "d1v0", "G1000p0 U2000p0 G3000p0 U5000p0");
	expect(model, "d1v1", "U1000 G2000p0 U3000p0 G6500p1");
	/* runstates would not name the one that is only woken, either */
	assert_int_equal(virt_model_n_vcpus(model), 2);
	assert_int_equal(contradictions(model), 0);
	virt_model_free(model);
}

/** Whatever is requested of a vCPU that is switched in and out, nothing shows what comes of it. */
static void test_requests_alone(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_SWITCH, 1000, 0x7fff, 0, 1, 0);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 1100);
	TRACE_RECORD(&trace, XEN_TRC_HVM_SVM_EXIT, 1200, SVM_IOIO, 0);
	for (int i = 0; i < 300; i++)
		TRACE_RECORD(&trace, XEN_TRC_SCHED_SLEEP, 1210, 1, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_SWITCH, 1300, 1, 0, 0x7fff, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_WAKE, 1400, 1, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_SWITCH, 1500, 0x7fff, 0, 1, 0);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 1600);
	TRACE_RECORD(&trace, XEN_TRC_HVM_SVM_EXIT, 1700, SVM_HLT, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_BLOCK, 1800, 1, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_SWITCH_INFCONT, 1850, 1, 0, 600, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_SWITCH, 1900, 1, 0, 0x7fff, 0);
	trace_window(&trace, 1);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_SLEEP, 2000, 1, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_WAKE, 2100, 1, 0);
	model = build(&trace);
	expect(model, "d1v0", "H1000p0 G1100p0 H1200p0(IOIO) U1300p0 H1500p0(IOIO) G1600p0 "
	       "H1700p0(HLT) U1900p0");
	assert_int_equal(contradictions(model), 0);
	virt_model_free(model);
}

/** Switches and runstates together give what runstates alone do. */
static void test_both(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_BLOCK, 1900, 1, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_SWITCH, 2000, 1, 0, 1, 1);
	TRACE_RECORD(&trace, RUNNING_TO_BLOCKED, 2001, D1V0);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 2002, D1V1);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_WAKE, 2500, 1, 0);
	TRACE_RECORD(&trace, BLOCKED_TO_RUNNABLE, 2501, D1V0);
	model = build(&trace);
	expect(model, "d1v0", "G1900p0 B2001p0 W2501p0");
	expect(model, "d1v1", "U1900 G2002p0");
	assert_int_equal(contradictions(model), 0);
	virt_model_free(model);
}

static void test_exits(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	/* before any record shows who is there */
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 1000);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMX_EXIT64, 1100, 0x78, 0, 0);
	TRACE_RECORD(&trace, RUNNING_TO_BLOCKED, 1200, D1V0);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1300, D1V1);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 1400);
	TRACE_RECORD(&trace, XEN_TRC_HVM_SVM_EXIT, 1500, 0x72, 0);
	TRACE_RECORD(&trace, XEN_TRC_HVM_NESTED_VMENTRY, 1600);
	TRACE_RECORD(&trace, XEN_TRC_HVM_NESTED_VMEXIT64, 1700, 0x78, 0, 0);
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 1800, D1V1);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1900, D1V1);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 2000);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMX_EXIT, 2100, 0x7777, 0);
	model = build(&trace);
	expect(model, "d1v0", "G1000p0 H1100p0(HLT) B1200p0");
	expect(model, "d1v1", "U1000 H1300p0 G1400p0 H1500p0(CPUID) G1600p0 H1700p0(L2:HLT) "
	       "P1800p0 H1900p0(L2:HLT) G2000p0 H2100p0(0x7777)");
	assert_int_equal(contradictions(model), 0);
	virt_model_free(model);
}

/** Each record of an exit shows its instruction set, and whether it is a nested guest's. */
static void test_exit_kinds(void **state)
{
	static const struct {
		uint32_t	event, code;
		const char	*name;
	} kinds[] = {
		{ XEN_TRC_HVM_VMX_EXIT, 12, "HLT" }, { XEN_TRC_HVM_VMX_EXIT64, 12, "HLT" },
		/* on VMX, the upper half means something else */
		{ XEN_TRC_HVM_VMX_EXIT64, 0x8000000c, "HLT" },
		{ XEN_TRC_HVM_SVM_EXIT, SVM_HLT, "HLT" },
		{ XEN_TRC_HVM_SVM_EXIT64, SVM_HLT, "HLT" },
		{ XEN_TRC_HVM_NESTED_VMEXIT, SVM_HLT, "L2:HLT" },
		{ XEN_TRC_HVM_NESTED_VMEXIT64, SVM_HLT, "L2:HLT" },
		{ XEN_TRC_HVM_NESTED_SVM_EXIT, SVM_HLT, "L2:HLT" },
		{ XEN_TRC_HVM_NESTED_SVM_EXIT64, SVM_HLT, "L2:HLT" },
	};
	char wanted[128];

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct trace trace = { 0 };
		struct virt_model *model;

		trace_window(&trace, 0);
		TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1000, D1V0);
		TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 1100);
		trace_record(&trace, kinds[i].event, 1200, 3,
			     (const uint32_t[]){ kinds[i].code, 0, 0 });
		TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 1300);
		/* the same without its words: it is an exit without a known reason */
		trace_record(&trace, kinds[i].event, 1400, 0, NULL);
		TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 1500);
		model = build(&trace);
		snprintf(wanted, sizeof(wanted),
			 "H1000p0 G1100p0 H1200p0(%s) G1300p0 H1400p0 G1500p0", kinds[i].name);
		expect(model, "d1v0", wanted);
		virt_model_free(model);
	}
}

/** A record without its words, of an impossible vCPU, or without a change, changes nothing. */
static void test_without_words(void **state)
{
	static const uint32_t events[] = {
		RUNNABLE_TO_RUNNING, RUNNING_TO_BLOCKED, BLOCKED_TO_RUNNABLE,
		XEN_TRC_SCHED_CONTINUE_RUNNING, XEN_TRC_SCHED_DOM_ADD, XEN_TRC_SCHED_DOM_REM,
		XEN_TRC_DOM0_DOM_ADD, XEN_TRC_DOM0_DOM_REM, XEN_TRC_SCHED_WAKE,
		XEN_TRC_SCHED_SLEEP, XEN_TRC_SCHED_BLOCK, XEN_TRC_SCHED_SWITCH,
	};
	static const uint32_t of_domain[] = { XEN_TRC_SCHED_DOM_ADD, XEN_TRC_SCHED_DOM_REM };
	struct trace trace = { 0 };
	struct virt_model *model;
	uint64_t tsc = 1600;

	(void)state;
	runstates(&trace);
	trace_window(&trace, 2);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		trace_record(&trace, events[i], tsc += 10, 0, NULL);
	/* domains above those that there can be, and a vCPU of one */
	for (size_t i = 0; i < 2; i++)
		TRACE_RECORD(&trace, of_domain[i], tsc += 10, 0x7ff0);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, tsc += 10, 0x7ff00000);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, tsc += 10, 0x7ff00000);
	/* the idle vCPU neither comes nor goes */
	TRACE_RECORD(&trace, BLOCKED_TO_RUNNABLE, tsc += 10, IDLE(2));
	model = build(&trace);
	assert_int_equal(virt_model_n_machines(model), 2);
	assert_int_equal(virt_model_n_vcpus(model), 3);
	expect(model, "d1v0", "U1000 G1010p0 P2000p0(d1v1) G3010p0 B5000p0");
	expect(model, "d1v1", "U1000 G2010p0 B3000p0 W4000p0");
	expect(model, "d2v0", "G1000p1");
	assert_false(virt_pcpu_at(model, 2, 5000, NULL) &&
		     virt_pcpu_at(model, 2, 5000, NULL)->known);
	assert_int_equal(contradictions(model), 0);
	virt_model_free(model);
}

/** A vCPU that leaves its pCPU within a VM exit. */
struct wait {
	uint32_t	code;		/* of the exit */
	uint32_t	change;		/* of its runstate */
	bool		verbose;	/* the scheduler's requests and switches are traced, too */
	enum { NOBODY, ITSELF, ANOTHER } pauser;
	int32_t		budget;		/* that credit2 finds; 0: nothing is recorded of it */
};

/** d1v0 leaves pCPU 0 100 after the exit, is woken 300 after it, and enters at 500. */
static void exit_and_wait(struct trace *trace, uint64_t tsc, struct wait wait)
{
	bool blocked = wait.change == RUNNING_TO_BLOCKED;

	trace_window(trace, wait.pauser == ANOTHER);
	if (wait.pauser == ANOTHER)
		TRACE_RECORD(trace, XEN_TRC_SCHED_SLEEP, tsc - 50, 1, 0);
	trace_window(trace, 0);
	TRACE_RECORD(trace, XEN_TRC_HVM_SVM_EXIT, tsc, wait.code, 0);
	if (wait.pauser == ITSELF)
		TRACE_RECORD(trace, XEN_TRC_SCHED_SLEEP, tsc + 50, 1, 0);
	if (wait.budget)
		TRACE_RECORD(trace, XEN_TRC_CSCHED2_CREDIT_BURN, tsc + 80, D1V0, 5000,
			     (uint32_t)wait.budget, 70);
	if (wait.verbose && blocked)
		TRACE_RECORD(trace, XEN_TRC_SCHED_BLOCK, tsc + 90, 1, 0);
	if (wait.verbose)
		TRACE_RECORD(trace, XEN_TRC_SCHED_SWITCH, tsc + 100, 1, 0, 0x7fff, 0);
	TRACE_RECORD(trace, wait.change, tsc + 100, D1V0);
	TRACE_RECORD(trace, RUNNABLE_TO_RUNNING, tsc + 100, IDLE(0));
	trace_window(trace, 1);
	TRACE_RECORD(trace, blocked ? BLOCKED_TO_RUNNABLE : OFFLINE_TO_RUNNABLE, tsc + 300, D1V0);
	trace_window(trace, 0);
	TRACE_RECORD(trace, RUNNING_TO_RUNNABLE, tsc + 400, IDLE(0));
	TRACE_RECORD(trace, RUNNABLE_TO_RUNNING, tsc + 400, D1V0);
	TRACE_RECORD(trace, XEN_TRC_HVM_VMENTRY, tsc + 500);
}

/** Some waits of d1v0, one per 1000. */
static struct virt_model *build_waits(const struct wait *waits, int n)
{
	struct trace trace = { 0 };

	trace_window(&trace, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 500, D1V0);
	for (int i = 0; i < n; i++)
		exit_and_wait(&trace, 1000 + 1000 * i, waits[i]);
	return build(&trace);
}

/** The requests in the trace separate waits for the device model from halts and pauses. */
static void test_device_model(void **state)
{
	static const struct wait waits[] = {
		{ SVM_IOIO, RUNNING_TO_OFFLINE, true, NOBODY, 1 },
		{ SVM_HLT, RUNNING_TO_BLOCKED, true, NOBODY, 1 },
		{ SVM_VMMCALL, RUNNING_TO_OFFLINE, true, NOBODY, 1 },
		{ SVM_INTR, RUNNING_TO_OFFLINE, true, NOBODY, 1 },
		/* the toolstack pauses it */
		{ SVM_IOIO, RUNNING_TO_OFFLINE, true, ANOTHER, 0 },
		/* it goes down by itself */
		{ SVM_VMMCALL, RUNNING_TO_OFFLINE, true, ITSELF, 0 },
		/* it waits for the monitor of the guest's memory */
		{ SVM_NPF, RUNNING_TO_OFFLINE, true, ITSELF, 0 },
	};
	struct virt_model *model = build_waits(waits, 7);

	(void)state;
	expect(model, "d1v0", "G500p0 "
	       "H1000p0(IOIO) D1100p0 W1300p0 H1400p0(IOIO) G1500p0 "
	       "H2000p0(HLT) B2100p0 W2300p0 H2400p0(HLT) G2500p0 "
	       "H3000p0(VMMCALL) D3100p0 W3300p0 H3400p0(VMMCALL) G3500p0 "
	       "H4000p0(INTR) O4100p0 W4300p0 H4400p0(INTR) G4500p0 "
	       "H5000p0(IOIO) O5100p0 W5300p0 H5400p0(IOIO) G5500p0 "
	       "H6000p0(VMMCALL) O6100p0 W6300p0 H6400p0(VMMCALL) G6500p0 "
	       "H7000p0(NPF) O7100p0! W7300p0 H7400p0(NPF) G7500p0");
	assert_int_equal(contradictions(model), 0);
	virt_model_free(model);
}

/** A vCPU without a budget is paused by credit2, whatever its exit was for. */
static void test_cap(void **state)
{
	static const struct wait waits[] = {
		{ SVM_IOIO, RUNNING_TO_OFFLINE, true, NOBODY, -20 },
		{ SVM_INTR, RUNNING_TO_OFFLINE, true, NOBODY, -1 },
		/* some budget is left; its domain has no cap */
		{ SVM_IOIO, RUNNING_TO_OFFLINE, true, NOBODY, 1 },
		{ SVM_IOIO, RUNNING_TO_OFFLINE, true, NOBODY, INT32_MIN },
		{ SVM_IOIO, RUNNING_TO_OFFLINE, true, NOBODY, -20 },
		/* what was found before it was paused says nothing of the next wait */
		{ SVM_IOIO, RUNNING_TO_OFFLINE, true, NOBODY, 0 },
		{ SVM_HLT, RUNNING_TO_BLOCKED, true, NOBODY, -20 },
	};
	struct virt_model *model = build_waits(waits, 7);

	(void)state;
	expect(model, "d1v0", "G500p0 "
	       "H1000p0(IOIO) O1100p0! W1300p0 H1400p0(IOIO) G1500p0 "
	       "H2000p0(INTR) O2100p0 W2300p0 H2400p0(INTR) G2500p0 "
	       "H3000p0(IOIO) D3100p0 W3300p0 H3400p0(IOIO) G3500p0 "
	       "H4000p0(IOIO) D4100p0 W4300p0 H4400p0(IOIO) G4500p0 "
	       "H5000p0(IOIO) O5100p0! W5300p0 H5400p0(IOIO) G5500p0 "
	       "H6000p0(IOIO) D6100p0 W6300p0 H6400p0(IOIO) G6500p0 "
	       "H7000p0(HLT) B7100p0 W7300p0 H7400p0(HLT) G7500p0");
	assert_int_equal(contradictions(model), 0);
	virt_model_free(model);
}

/** What a cap held: three times 200, of which the window has a part; a sleep is none. */
static void test_held(void **state)
{
	static const struct wait waits[] = {
		{ SVM_IOIO, RUNNING_TO_OFFLINE, true, NOBODY, -20 },
		{ SVM_INTR, RUNNING_TO_OFFLINE, true, NOBODY, -1 },
		{ SVM_INTR, RUNNING_TO_OFFLINE, true, NOBODY, 1 },
		{ SVM_HLT, RUNNING_TO_BLOCKED, true, NOBODY, -20 },
		{ SVM_INTR, RUNNING_TO_OFFLINE, true, NOBODY, -1 },
		/* a pause by the toolstack is none, whatever the budget is */
		{ SVM_INTR, RUNNING_TO_OFFLINE, true, ANOTHER, -1 },
	};
	struct virt_model *model = build_waits(waits, 6);
	struct virt_held held = virt_vcpu_held(model, 0, 0, INT64_MAX);

	(void)state;
	assert_true(virt_model_knows_holds(model));
	assert_int_equal(held.ns, 600);
	assert_int_equal(held.count, 3);
	held = virt_vcpu_held(model, 0, 1150, 2200);
	assert_int_equal(held.ns, 150 + 100);
	assert_int_equal(held.count, 1);
	assert_true(virt_vcpu_holds(model, 0, 0, INT64_MAX).first[0].complete);
	assert_int_equal(virt_vcpu_held(model, 9, 0, 100).ns, 0);
	virt_model_free(model);
	/* without a record of the scheduler's own, neither the waits nor the cap are known */
	model = build_waits((const struct wait[]){
		{ SVM_IOIO, RUNNING_TO_OFFLINE, true, NOBODY, 0 },
	}, 1);
	expect(model, "d1v0", "G500p0 H1000p0(IOIO) O1100p0! W1300p0 H1400p0(IOIO) G1500p0");
	assert_false(virt_model_knows_holds(model));
	assert_false(virt_model_knows(model, VIRT_NUMBER_DEVICE_MODEL));
	virt_model_free(model);
}

/** The 64 bits of a time of RTDS, in two words. */
#define RTDS_TIME(ns)	(uint32_t)(ns), 0

/** RTDS holds a runnable vCPU from the end of its budget to its next period. */
static void test_rtds(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;
	struct virt_held held;

	(void)state;
	trace_window(&trace, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 500, D1V0);
	TRACE_RECORD(&trace, XEN_TRC_RTDS_BUDGET_BURN, 900, D1V0, RTDS_TIME(50), 10, 0, 0);
	/* preempted with a budget: no hold */
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 1000, D1V0);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1000, IDLE(0));
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 1100, IDLE(0));
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1100, D1V0);
	TRACE_RECORD(&trace, XEN_TRC_RTDS_BUDGET_BURN, 1990, D1V0, RTDS_TIME(0), 50, 0, 0);
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 2000, D1V0);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 2000, IDLE(0));
	/* it waits for the pCPU 30 longer than its limit held it */
	TRACE_RECORD(&trace, XEN_TRC_RTDS_BUDGET_REPLENISH, 2400, D1V0, 0, RTDS_TIME(9000),
		     RTDS_TIME(50));
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 2430, IDLE(0));
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 2430, D1V0);
	/* it sleeps without a budget, is woken, and is still held when the trace ends */
	TRACE_RECORD(&trace, XEN_TRC_RTDS_BUDGET_BURN, 2990, D1V0, RTDS_TIME(0), 50, 0, 0);
	TRACE_RECORD(&trace, RUNNING_TO_BLOCKED, 3000, D1V0);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 3000, IDLE(0));
	TRACE_RECORD(&trace, BLOCKED_TO_RUNNABLE, 3500, D1V0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 3600, IDLE(0));
	model = build(&trace);
	held = virt_vcpu_held(model, 0, 0, INT64_MAX);
	assert_true(virt_model_knows_holds(model));
	/* the end of the trace is after its last record */
	assert_int_equal(held.ns, 400 + 101);
	assert_int_equal(held.count, 2);
	assert_false(virt_vcpu_holds(model, 0, 3000, 4000).first[0].complete);
	virt_model_free(model);
}

/** Without requests, the exit's reason decides whether the time may be the device model's. */
static void test_device_model_by_reason(void **state)
{
	static const struct wait waits[] = {
		{ SVM_IOIO, RUNNING_TO_OFFLINE, false, NOBODY, 0 },
		{ SVM_NPF, RUNNING_TO_OFFLINE, false, NOBODY, 0 },
		{ SVM_VMMCALL, RUNNING_TO_OFFLINE, false, NOBODY, 0 },
		{ SVM_INTR, RUNNING_TO_OFFLINE, false, NOBODY, 0 },
		{ SVM_HLT, RUNNING_TO_BLOCKED, false, NOBODY, 0 },
	};
	struct virt_model *model = build_waits(waits, 5);

	(void)state;
	expect(model, "d1v0", "G500p0 "
	       "H1000p0(IOIO) O1100p0! W1300p0 H1400p0(IOIO) G1500p0 "
	       "H2000p0(NPF) O2100p0! W2300p0 H2400p0(NPF) G2500p0 "
	       "H3000p0(VMMCALL) O3100p0 W3300p0 H3400p0(VMMCALL) G3500p0 "
	       "H4000p0(INTR) O4100p0 W4300p0 H4400p0(INTR) G4500p0 "
	       "H5000p0(HLT) B5100p0 W5300p0 H5400p0(HLT) G5500p0");
	virt_model_free(model);
}

/** Without the scheduler, each pCPU has a vCPU of its own. */
static void test_exits_alone(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 3);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMX_EXIT64, 1000, 12, 0, 0);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 1500);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMX_EXIT64, 1600, 12, 0, 0);
	trace_window(&trace, 4);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 5000);
	model = build(&trace);
	assert_int_equal(virt_model_n_vcpus(model), 2);
	/* it may have slept, or another one have come: that would not be traced */
	expect(model, "d?v? on p3", "H1000p3/(HLT) G1500p3 H1600p3/(HLT)");
	expect(model, "d?v? on p4", "H1000p4/ G5000p4");
	virt_model_free(model);
}

/** pCPUs without a record of the scheduler that shows who is there. */
static void nobody_named(struct trace *trace)
{
	trace_window(trace, 0);
	TRACE_RECORD(trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 900, D1V0);
	TRACE_RECORD(trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 5000, D1V0);
	trace_window(trace, 1);
	TRACE_RECORD(trace, XEN_TRC_PV_HYPERCALL_V2, 1000, 0x0010001d);
	TRACE_RECORD(trace, XEN_TRC_SCHED_WAKE, 2000, 3, 0);
	TRACE_RECORD(trace, XEN_TRC_PV_HYPERCALL_V2, 4000, 0x0010001d);
	trace_window(trace, 2);
	TRACE_RECORD(trace, XEN_TRC_HVM_SVM_EXIT, 1100, SVM_HLT, 0);
	TRACE_RECORD(trace, XEN_TRC_HVM_VMENTRY, 1200);
	/* maybe idle: interrupts and power states show nothing of a guest */
	trace_window(trace, 3);
	TRACE_RECORD(trace, XEN_TRC_HW_IRQ_HANDLED, 1300, 5, 0, 0);
	/* until records are lost */
	trace_window(trace, 4);
	TRACE_RECORD(trace, XEN_TRC_PV_HYPERCALL_V2, 1400, 0x0010001d);
	TRACE_RECORD(trace, XEN_TRC_LOST_RECORDS, 3000, 7, 0x00000002, 2500, 0);
}

/** A vCPU that never leaves its pCPU has a row of its own; each pCPU's may be another domain's. */
static void test_nobody_named(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;
	struct virt_pcpu_totals pcpu;
	struct virt_totals totals;
	int64_t busy = 0;

	(void)state;
	nobody_named(&trace);
	model = build(&trace);
	expect(model, "d?v? on p1", "G900p1");
	expect(model, "d?v? on p2", "G900p2 H1100p2(HLT) G1200p2");
	expect(model, "d?v? on p4", "G900p4 U2500p4");
	expect(model, "d2v0", "U900 G3000p4");
	assert_int_equal(virt_model_n_vcpus(model), 5);
	assert_int_equal(virt_model_n_machines(model), 5);
	assert_false(virt_pcpu_at(model, 3, 2000, NULL)->known);
	assert_int_equal(virt_model_find_vcpu(model, xen_vcpu_tid(xen_vcpu_somebody(2))),
			 vcpu_of(model, "d?v? on p2"));
	for (int p = 0; p < 5; p++) {
		virt_pcpu_totals(model, p, INT64_MIN, INT64_MAX, &pcpu);
		busy += pcpu.state_ns[VIRT_GUEST] + pcpu.state_ns[VIRT_HYPERVISOR];
	}
	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
		virt_vcpu_totals(model, i, INT64_MIN, INT64_MAX, &totals);
		busy -= totals.ns[VIRT_GUEST] + totals.ns[VIRT_HYPERVISOR];
	}
	assert_int_equal(busy, 0);
	assert_int_equal(contradictions(model), 0);
	virt_model_free(model);
}

/** Hypercalls alone, where no switch would be traced, do not show who is there how long. */
static void test_hypercalls_alone(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 1);
	TRACE_RECORD(&trace, XEN_TRC_PV_HYPERCALL_V2, 1000, 0x0010001d);
	TRACE_RECORD(&trace, XEN_TRC_PV_HYPERCALL_V2, 4000, 0x0010001d);
	model = build(&trace);
	assert_int_equal(virt_model_n_vcpus(model), 0);
	virt_model_free(model);
}

/** Records of pCPU 1 are lost from 1500 to 3500, which only the record at 3500 shows. */
static void test_lost(void **state)
{
	struct trace trace = { 0 };
	struct virt_loss_range losses;
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 1000, D1V0);
	TRACE_RECORD(&trace, RUNNING_TO_BLOCKED, 2000, D1V0);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 2010, D1V1);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 3000, D1V1);
	TRACE_RECORD(&trace, BLOCKED_TO_RUNNABLE, 4000, D1V0);
	trace_window(&trace, 1);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 1000, D1V1);
	TRACE_RECORD(&trace, RUNNING_TO_BLOCKED, 1100, D1V1);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1110, IDLE(1));
	TRACE_RECORD(&trace, XEN_TRC_LOST_RECORDS, 3500, 7, 0x00000002, 1500, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 5000, D2V0);
	model = build(&trace);
	/* blocked at 2000, but could have been woken and run on pCPU 1 until 3500 */
	expect(model, "d1v0", "G1000p0 U2000p0 B3500p0 W4000p0");
	expect(model, "d1v1", "G1000p1 B1100p1 U1500p1 G2010p0");
	expect(model, "d2v0", "U1000 G3500p1");
	losses = virt_model_losses(model);
	assert_int_equal(losses.n, 1);
	assert_int_equal(losses.first->from_ns, 1500);
	assert_int_equal(losses.first->to_ns, 3500);
	assert_int_equal(losses.first->records, 7);
	assert_int_equal(losses.first->pcpu, 1);
	assert_false(virt_pcpu_at(model, 1, 2000, NULL)->known);
	assert_true(virt_pcpu_at(model, 1, 1200, NULL)->known);
	assert_int_equal(contradictions(model), 0);
	virt_model_free(model);
}

/** Garbage between two windows of pCPU 1: what is missing counts as lost. */
static void test_gap(void **state)
{
	static const uint8_t garbage[64] = { 0xff, 0xff, 0xff, 0xff };
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 1000, D1V0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 4000, D1V0);
	trace_window(&trace, 1);
	for (int i = 0; i < 40; i++)
		TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 1000 + i, D2V0);
	TRACE_RECORD(&trace, RUNNING_TO_BLOCKED, 1500, D2V0);
	trace_bytes(&trace, garbage, sizeof(garbage));
	trace_window(&trace, 1);
	for (int i = 0; i < 40; i++)
		TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 3000 + i, D1V1);
	model = build(&trace);
	expect(model, "d1v0", "G1000p0");
	expect(model, "d2v0", "G1000p1 U1500p1");
	expect(model, "d1v1", "U1000 G3000p1");
	assert_int_equal(virt_model_losses(model).n, 1);
	assert_int_equal(virt_model_losses(model).first->from_ns, 1500);
	assert_int_equal(virt_model_losses(model).first->to_ns, 3000);
	assert_int_equal(virt_model_losses(model).first->records, 0);
	virt_model_free(model);
}

static void test_domains(void **state)
{
	struct trace trace = { 0 }, again = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 1000, D1V0);
	TRACE_RECORD(&trace, XEN_TRC_DOM0_DOM_ADD, 1500, 2);
	TRACE_RECORD(&trace, OFFLINE_TO_RUNNABLE, 2000, D2V0);
	TRACE_RECORD(&trace, RUNNING_TO_OFFLINE, 2500, D1V0);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 2510, D2V0);
	TRACE_RECORD(&trace, RUNNING_TO_BLOCKED, 3000, D2V0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_DOM_REM, 3500, 2);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 3600, D1V1);
	model = build(&trace);
	expect(model, "d1v0", "G1000p0 O2500p0");
	expect(model, "d2v0", "O1000 W2000 G2510p0 B3000p0 O3500p0");
	assert_int_equal(contradictions(model), 0);
	assert_int_equal(virt_model_machine(model, 0)->ended_ns, VIRT_NO_END);
	assert_int_equal(virt_model_machine(model, 1)->ended_ns, 3500);
	virt_model_free(model);

	/* another one of that number */
	trace_window(&again, 0);
	TRACE_RECORD(&again, RUNNING_TO_BLOCKED, 1000, D1V0);
	TRACE_RECORD(&again, XEN_TRC_SCHED_DOM_REM, 2000, 1);
	TRACE_RECORD(&again, XEN_TRC_DOM0_DOM_ADD, 3000, 1);
	TRACE_RECORD(&again, OFFLINE_TO_RUNNABLE, 4000, D1V0);
	TRACE_RECORD(&again, RUNNABLE_TO_RUNNING, 5000, D1V0);
	model = build(&again);
	assert_int_equal(virt_model_machine(model, 0)->ended_ns, VIRT_NO_END);
	virt_model_free(model);
}

/** Contradictions are counted, and the later record counts if it shows a run. */
static void test_contradictions(void **state)
{
	static const struct {
		uint32_t	event, vcpu;
	} wrong[] = {
		{ RUNNABLE_TO_RUNNING, D1V0 },	/* while running */
		{ RUNNABLE_TO_RUNNING, D1V1 },	/* two on one pCPU */
		{ BLOCKED_TO_RUNNABLE, D1V0 },	/* while running */
		{ XEN_TRC_HVM_VMENTRY, 0 },	/* twice, see below */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct trace trace = { 0 };
		struct virt_model *model;

		trace_window(&trace, 0);
		TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 1000, D1V0);
		if (!wrong[i].vcpu)
			TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 1500);
		TRACE_RECORD(&trace, wrong[i].event, 2000, wrong[i].vcpu);
		model = build(&trace);
		assert_int_equal(contradictions(model), 1);
		virt_model_free(model);
	}
}

/** A runstate change from another state than what came before it: what it leads to holds. */
static void test_wrong_old(void **state)
{
	static const struct {
		uint32_t	event;
		const char	*life;
	} wrong[] = {
		{ RUNNING_TO_RUNNABLE, "G1000p0 B2000p0 P3000p0" },
		{ RUNNING_TO_OFFLINE, "G1000p0 B2000p0 O3000p0" },
		{ RUNNABLE_TO_RUNNING, "G1000p0 B2000p0 G3000p0" },
		{ OFFLINE_TO_RUNNABLE, "G1000p0 B2000p0 W3000p0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct trace trace = { 0 };
		struct virt_model *model;

		trace_window(&trace, 0);
		TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 1000, D1V0);
		TRACE_RECORD(&trace, RUNNING_TO_BLOCKED, 2000, D1V0);
		TRACE_RECORD(&trace, wrong[i].event, 3000, D1V0);
		model = build(&trace);
		expect(model, "d1v0", wrong[i].life);
		assert_int_equal(contradictions(model), 1);
		virt_model_free(model);
	}
}

/** Of two on one pCPU, one is elsewhere: neither is known until a record decides. */
static void test_crowded(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 1000, D1V0);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 2000, D1V1);
	TRACE_RECORD(&trace, RUNNING_TO_BLOCKED, 3000, D1V1);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 4000, D1V0);
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 5000, D1V0);
	model = build(&trace);
	expect(model, "d1v0", "G1000p0 U2000p0 G4000p0 P5000p0");
	expect(model, "d1v1", "U1000 B3000p0");
	assert_int_equal(contradictions(model), 1);
	assert_false(virt_pcpu_at(model, 0, 2500, NULL)->known);
	virt_model_free(model);
}

/** Between two exits without an entry, the vCPU was in its guest for some of the time. */
static void test_missing_crossings(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 1000, D1V0);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 1100);
	TRACE_RECORD(&trace, XEN_TRC_HVM_SVM_EXIT64, 2000, SVM_HLT, 0, 0);
	TRACE_RECORD(&trace, XEN_TRC_HVM_SVM_EXIT64, 3000, SVM_INTR, 0, 0);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 4000);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 5000);
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 6000, D1V0);
	model = build(&trace);
	expect(model, "d1v0", "H1000p0 G1100p0 H2000p0(HLT) U2000p0 H3000p0(INTR) U4000p0 P6000p0");
	assert_int_equal(contradictions(model), 3);
	virt_model_free(model);
}

/* ---- core scheduling: p0 records the switches of all pCPUs of its core ---- */

/** One vCPU takes the place of another, in the buffer of whichever pCPU decides. */
static void pair(struct trace *trace, uint64_t tsc, uint32_t out, uint32_t in)
{
	TRACE_RECORD(trace, RUNNING_TO_RUNNABLE, tsc, out);
	TRACE_RECORD(trace, RUNNABLE_TO_RUNNING, tsc, in);
}

static void test_core(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	TRACE_RECORD(&trace, 0x0002800a, 1000, 0x7fff, 0, 1, 0);
	pair(&trace, 1000, IDLE(0), D1V0);
	pair(&trace, 1000, IDLE(1), D1V1);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 1100);
	TRACE_RECORD(&trace, XEN_TRC_HVM_SVM_EXIT64, 1200, SVM_IOIO, 0, 0);
	trace_window(&trace, 1);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 1150);
	TRACE_RECORD(&trace, XEN_TRC_HVM_SVM_EXIT64, 1250, SVM_HLT, 0, 0);
	/* now the other one decides: in one step, to a domain with one vCPU */
	TRACE_RECORD(&trace, 0x0002800a, 2000, 1, 0, 2, 0);
	pair(&trace, 2000, D1V0, D2V0);
	pair(&trace, 2000, D1V1, IDLE(1));
	TRACE_RECORD(&trace, 0x00201003, 3000, 0);
	model = build(&trace);
	expect(model, "d1v0", "H1000p0 G1100p0 H1200p0(IOIO) P2000p0(d2v0)");
	expect(model, "d1v1", "H1000p1 G1150p1 H1250p1(HLT) P2000p1");
	expect(model, "d2v0", "U1000 G2000p0");
	assert_int_equal(contradictions(model), 0);
	assert_true(virt_pcpu_at(model, 1, 2500, NULL)->known);
	virt_model_free(model);
}

/** What one pCPU has lost may have been a switch of any pCPU of its core. */
static void test_core_loses(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	pair(&trace, 1000, IDLE(0), D1V0);
	pair(&trace, 1000, IDLE(1), D1V1);
	TRACE_RECORD(&trace, XEN_TRC_LOST_RECORDS, 3000, 5, 0x00000001, 2000, 0);
	TRACE_RECORD(&trace, 0x00201003, 5000, 0);
	trace_window(&trace, 1);
	TRACE_RECORD(&trace, 0x00201003, 1500, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 4000, D1V1);
	model = build(&trace);
	expect(model, "d1v0", "G1000p0 U2000p0 G3000p0");
	expect(model, "d1v1", "G1000p1 U2000p1 G4000p1");
	assert_false(virt_pcpu_at(model, 1, 3500, NULL)->known);
	virt_model_free(model);
}

/** Of a core with four pCPUs, the records name two: numbers of vCPUs show no place then. */
static void test_half_a_core(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	pair(&trace, 1000, IDLE(0), D1V0);
	pair(&trace, 1000, IDLE(2), 0x00010002);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_SWITCH_INFCONT, 1900, 1, 0, 0, 0);
	pair(&trace, 2000, D1V0, IDLE(0));
	pair(&trace, 2000, 0x00010002, D2V0);
	trace_window(&trace, 2);
	TRACE_RECORD(&trace, 0x00201003, 1500, 0);
	TRACE_RECORD(&trace, 0x00201003, 3000, 0);
	model = build(&trace);
	expect(model, "d1v0", "U1000 P2000");
	expect(model, "d1v2", "U1000 P2000");
	expect(model, "d2v0", "U1000");
	assert_false(virt_pcpu_at(model, 2, 1500, NULL)->known);
	virt_model_free(model);
}

/** One damaged number among many changes of idle vCPUs makes no core. */
static void test_no_core(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	for (int i = 0; i < 4; i++) {
		pair(&trace, 1000 + 100 * i, i == 2 ? IDLE(1) : IDLE(0), D1V0);
		pair(&trace, 1050 + 100 * i, D1V0, IDLE(0));
	}
	trace_window(&trace, 1);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 1000, D1V1);
	TRACE_RECORD(&trace, 0x00201003, 3000, 0);
	model = build(&trace);
	expect(model, "d1v1", "G1000p1");
	assert_int_equal(virt_pcpu_at(model, 0, 1220, NULL)->vcpu, vcpu_of(model, "d1v0"));
	virt_model_free(model);
}

static void test_runs_twice(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	TRACE_RECORD(&trace, XEN_TRC_SCHED_CONTINUE_RUNNING, 1000, D1V0);
	/* written later because of another TSC */
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 2100, D1V0);
	trace_window(&trace, 1);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 2000, D1V0);
	TRACE_RECORD(&trace, RUNNING_TO_BLOCKED, 3000, D1V0);
	model = build(&trace);
	expect(model, "d1v0", "G1000p0 G2000p1 B3000p1");
	assert_int_equal(contradictions(model), 2);
	assert_false(virt_pcpu_at(model, 0, 2050, NULL)->known);
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runstates),
		cmocka_unit_test(test_switches_alone),
		cmocka_unit_test(test_requests_alone),
		cmocka_unit_test(test_both),
		cmocka_unit_test(test_exits),
		cmocka_unit_test(test_exit_kinds),
		cmocka_unit_test(test_before),
		cmocka_unit_test(test_without_words),
		cmocka_unit_test(test_device_model),
		cmocka_unit_test(test_cap),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_rtds),
		cmocka_unit_test(test_device_model_by_reason),
		cmocka_unit_test(test_exits_alone),
		cmocka_unit_test(test_nobody_named),
		cmocka_unit_test(test_hypercalls_alone),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_domains),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_wrong_old),
		cmocka_unit_test(test_crowded),
		cmocka_unit_test(test_missing_crossings),
		cmocka_unit_test(test_core),
		cmocka_unit_test(test_core_loses),
		cmocka_unit_test(test_half_a_core),
		cmocka_unit_test(test_no_core),
		cmocka_unit_test(test_runs_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
