// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_xen_wakes.c
 * @brief	What ends the waits of Xen's vCPUs, on small traces. One cycle is one ns here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace_builder.h"
#include "xen_tracker.h"

#define D0V0	0x00000000
#define D1V0	0x00010000
#define D1V1	0x00010001
#define D2V0	0x00020000
#define IDLE(n)	(0x7fff0000 | (n))

#define RUNSTATE(old, new)	(XEN_TRC_SCHED_RUNSTATE_CHANGE | (old) << 8 | (new) << 4)
#define RUNNING_TO_RUNNABLE	RUNSTATE(0, 1)
#define RUNNING_TO_BLOCKED	RUNSTATE(0, 2)
#define RUNNABLE_TO_RUNNING	RUNSTATE(1, 0)
#define BLOCKED_TO_RUNNABLE	RUNSTATE(2, 1)

/* Exit codes of SVM */
#define SVM_INTR	0x60
#define SVM_HLT		0x78
#define SVM_IOIO	0x7b
#define SVM_MSR		0x7c
#define SVM_VMMCALL	0x81

/* Hypercalls: xen/include/public/xen.h */
#define IRET		23
#define VCPU_OP		24
#define EVENT_CHANNEL	32
#define DOMCTL		36
#define ARGO		39
#define XENPMU		40
#define DM_OP		41

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
	xen_trace_close(xen);
	trace_free(trace);
	return model;
}

/** The waits of d1v0 as text: "cause(who) ..." */
static const char *wakes(const struct virt_model *model)
{
	static char text[1024];
	struct virt_interval_range range;
	int32_t vcpu = 0;
	size_t n = 0;

	while (strcmp(virt_model_vcpu(model, vcpu)->name, "d1v0"))
		vcpu++;
	range = virt_vcpu_intervals(model, vcpu, INT64_MIN, INT64_MAX);
	text[0] = '\0';
	for (size_t i = 0; i < range.n; i++) {
		const struct virt_wake *wake = virt_model_wake(model, range.first[i].detail);

		if (range.first[i].state != VIRT_BLOCKED)
			continue;
		n += snprintf(text + n, sizeof(text) - n, "%s%s", n ? " " : "",
			      wake ? virt_wake_cause_name(wake->cause) : "none");
		if (wake && wake->who != VIRT_NONE)
			n += snprintf(text + n, sizeof(text) - n, "(%s)",
				      virt_model_who(model, wake->who));
		assert_true(n < sizeof(text));
	}
	return text;
}

/** d1v0 sleeps on pCPU 0 at @at, and is put on it again at @at + @after. */
static void sleep_on(struct trace *trace, uint64_t at, uint64_t after)
{
	TRACE_RECORD(trace, RUNNING_TO_BLOCKED, at, D1V0);
	TRACE_RECORD(trace, RUNNABLE_TO_RUNNING, at + 10, IDLE(0));
	TRACE_RECORD(trace, RUNNING_TO_RUNNABLE, at + after - 10, IDLE(0));
	TRACE_RECORD(trace, RUNNABLE_TO_RUNNING, at + after, D1V0);
}

#define CALL(trace, tsc, op)	TRACE_RECORD(trace, XEN_TRC_PV_HYPERCALL_V2, tsc, op)
#define WAKE(trace, tsc)	TRACE_RECORD(trace, BLOCKED_TO_RUNNABLE, tsc, D1V0)
#define MS			1000000

/** Who has the pCPU is a vCPU of a PV domain, known by its hypercalls, or none. */
static void test_pv(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1000, D1V0);
	for (int i = 1; i <= 11; i++)
		sleep_on(&trace, i * MS, MS / 2);
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 20 * MS, D1V0);
	trace_window(&trace, 1);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1000, D0V0);
	/* nothing is known of its hypercalls yet */
	WAKE(&trace, 1 * MS + 1000);
	CALL(&trace, 2 * MS + 1000, EVENT_CHANNEL);
	WAKE(&trace, 2 * MS + 2000);
	/* that was long ago, and no other record shows what it does */
	WAKE(&trace, 3 * MS + 2000);
	CALL(&trace, 4 * MS + 1000, DM_OP);
	WAKE(&trace, 4 * MS + 2000);
	CALL(&trace, 5 * MS + 1000, DOMCTL);
	WAKE(&trace, 5 * MS + 2000);
	CALL(&trace, 6 * MS + 1000, IRET);
	WAKE(&trace, 6 * MS + 2000);
	/* a hypercall within another one; a handler that ends too early to have done it */
	TRACE_RECORD(&trace, XEN_TRC_PV_HYPERCALL_SUBCALL, 7 * MS + 1000, EVENT_CHANNEL);
	WAKE(&trace, 7 * MS + 2000);
	TRACE_RECORD(&trace, XEN_TRC_HW_IRQ_HANDLED, 7 * MS + 3000, 25, 7 * MS + 100,
		     7 * MS + 1999);
	/* the handler of an interrupt, whichever vCPU it interrupted */
	CALL(&trace, 8 * MS + 1000, EVENT_CHANNEL);
	WAKE(&trace, 8 * MS + 2000);
	TRACE_RECORD(&trace, XEN_TRC_HW_IRQ_HANDLED, 8 * MS + 3000, 25, 8 * MS + 1999,
		     8 * MS + 2001);
	/* the next one has woken no vCPU */
	TRACE_RECORD(&trace, XEN_TRC_HW_IRQ_HANDLED, 8 * MS + 4000, 25, 8 * MS + 1000,
		     8 * MS + 3999);
	CALL(&trace, 9 * MS + 1000, ARGO);
	WAKE(&trace, 9 * MS + 2000);
	/* who knows what that does */
	CALL(&trace, 10 * MS + 1000, XENPMU);
	WAKE(&trace, 10 * MS + 2000);
	TRACE_RECORD(&trace, RUNNING_TO_BLOCKED, 11 * MS + 10, D0V0);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 11 * MS + 20, IDLE(1));
	WAKE(&trace, 11 * MS + 1000);
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 20 * MS, IDLE(1));
	model = build(&trace);
	assert_string_equal(wakes(model), "unknown vcpu(d0v0) unknown device(d0v0) task(d0v0) "
			    "interrupt vcpu(d0v0) device vcpu(d0v0) unknown interrupt");
	virt_model_free(model);
}

/** A vCPU that makes no hypercall while it has its pCPU, of a domain whose calls are recorded. */
static void test_calls_of_others(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1000, D1V0);
	for (int i = 1; i <= 4; i++)
		sleep_on(&trace, i * MS, MS / 2);
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 20 * MS, D1V0);
	trace_window(&trace, 1);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1000, D0V0);
	CALL(&trace, 1 * MS + 1000, IRET);
	WAKE(&trace, 1 * MS + 2000);
	CALL(&trace, 2 * MS + 1000, EVENT_CHANNEL);
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 2 * MS + 1100, D0V0);
	/* the call is not d2v0's, of which it is unknown whether it makes any */
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 2 * MS + 1200, D2V0);
	WAKE(&trace, 2 * MS + 2000);
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 3 * MS + 1100, D2V0);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 3 * MS + 1200, D0V0);
	WAKE(&trace, 3 * MS + 2000);
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 20 * MS, D0V0);
	model = build(&trace);
	assert_string_equal(wakes(model), "interrupt unknown interrupt none");
	virt_model_free(model);
}

/** One with VM exits: what it has left its guest for. */
static void test_hvm(void **state)
{
	/* an MSR may be that of the APIC: other domains do not feel that */
	static const uint32_t reasons[] = { SVM_INTR, SVM_IOIO, SVM_HLT, SVM_MSR, SVM_VMMCALL,
					    SVM_VMMCALL, SVM_VMMCALL };
	static const uint32_t ops[8] = { [5] = EVENT_CHANNEL, [6] = VCPU_OP };
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1000, D1V0);
	for (int i = 1; i <= 8; i++)
		sleep_on(&trace, i * MS, MS / 2);
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 20 * MS, D1V0);
	trace_window(&trace, 1);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1000, D2V0);
	for (int i = 0; i < 7; i++) {
		TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, (i + 1) * MS + 100);
		TRACE_RECORD(&trace, XEN_TRC_HVM_SVM_EXIT, (i + 1) * MS + 1000, reasons[i], 0);
		if (ops[i])
			TRACE_RECORD(&trace, XEN_TRC_HVM_VMMCALL, (i + 1) * MS + 1001, ops[i]);
		WAKE(&trace, (i + 1) * MS + 2000);
	}
	/* in its guest: it cannot have done it */
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 8 * MS + 100);
	WAKE(&trace, 8 * MS + 2000);
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 20 * MS, D2V0);
	model = build(&trace);
	assert_string_equal(wakes(model), "interrupt vcpu(d2v0) unknown unknown unknown "
			    "vcpu(d2v0) interrupt unknown");
	virt_model_free(model);
}

/** Within a domain, an IPI can wake, and a device model's affair cannot. */
static void test_own_domain(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 0);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1000, D1V0);
	sleep_on(&trace, 1 * MS, MS / 2);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 2 * MS - 200);
	TRACE_RECORD(&trace, XEN_TRC_HVM_SVM_EXIT, 2 * MS - 100, SVM_HLT, 0);
	sleep_on(&trace, 2 * MS, MS / 2);
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 20 * MS, D1V0);
	trace_window(&trace, 1);
	TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1000, D1V1);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 1100);
	TRACE_RECORD(&trace, XEN_TRC_HVM_SVM_EXIT, 1 * MS + 1000, SVM_MSR, 0);
	WAKE(&trace, 1 * MS + 2000);
	TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 2 * MS);
	TRACE_RECORD(&trace, XEN_TRC_HVM_SVM_EXIT, 2 * MS + 1000, SVM_IOIO, 0);
	WAKE(&trace, 2 * MS + 2000);
	TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 20 * MS, D1V1);
	model = build(&trace);
	assert_string_equal(wakes(model), "vcpu(d1v1) unknown");
	virt_model_free(model);
}

/** It blocks again without a VM entry, of which it has some. */
static void test_spurious(void **state)
{
	for (int enters = 0; enters < 2; enters++) {
		struct trace trace = { 0 };
		struct virt_model *model;

		trace_window(&trace, 0);
		TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1000, D1V0);
		TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 1100);
		TRACE_RECORD(&trace, XEN_TRC_HVM_SVM_EXIT, 1200, SVM_HLT, 0);
		sleep_on(&trace, 2000, 1000);
		if (enters) {
			TRACE_RECORD(&trace, XEN_TRC_HVM_VMENTRY, 3100);
			TRACE_RECORD(&trace, XEN_TRC_HVM_SVM_EXIT, 3200, SVM_HLT, 0);
		}
		sleep_on(&trace, 4000, 1000);
		TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 9000, D1V0);
		trace_window(&trace, 1);
		TRACE_RECORD(&trace, RUNNABLE_TO_RUNNING, 1000, IDLE(1));
		WAKE(&trace, 2500);
		WAKE(&trace, 4500);
		TRACE_RECORD(&trace, RUNNING_TO_RUNNABLE, 9000, IDLE(1));
		model = build(&trace);
		assert_string_equal(wakes(model), enters ? "interrupt interrupt" :
						  "spurious interrupt");
		virt_model_free(model);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pv),
		cmocka_unit_test(test_calls_of_others),
		cmocka_unit_test(test_hvm),
		cmocka_unit_test(test_own_domain),
		cmocka_unit_test(test_spurious),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
