// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_xen_power.c
 * @brief	C states and frequencies of Xen's pCPUs, on small traces. One cycle is one ns here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace_builder.h"
#include "virt_power.h"
#include "xen_tracker.h"

#define TICK(trace, tsc)	trace_ticks(trace, tsc, 1, 1)

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

static void holds(const struct virt_model *model, enum virt_power_kind kind, int64_t time,
		  int32_t value, int64_t from, int64_t to)
{
	struct virt_power_piece piece;

	assert_true(virt_pcpu_power(model, kind, 2, time, &piece));
	assert_int_equal(piece.value, value);
	assert_int_equal(piece.from_ns, from);
	assert_int_equal(piece.to_ns, to);
}

static void test_sleeps(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 2);
	TICK(&trace, 1000);
	TRACE_RECORD(&trace, XEN_TRC_PM_IDLE_ENTRY, 2000, 6, 0, 0, 0);
	TRACE_RECORD(&trace, XEN_TRC_PM_IDLE_EXIT, 3000, 6, 0, 0, 0, 0, 0);
	/* from a newer Xen, or garbage: it sleeps, in an unknown state */
	TRACE_RECORD(&trace, XEN_TRC_PM_IDLE_ENTRY, 4000, 1000, 0, 0, 0);
	TRACE_RECORD(&trace, XEN_TRC_PM_IDLE_EXIT, 5000, 1000, 0, 0, 0, 0, 0);
	TRACE_RECORD(&trace, XEN_TRC_PM_IDLE_ENTRY, 6000);
	TRACE_RECORD(&trace, XEN_TRC_PM_IDLE_EXIT, 7000);
	TICK(&trace, 8000);
	model = build(&trace);
	holds(model, VIRT_IDLE_STATE, 1500, VIRT_POWER_UNKNOWN, 1000, 2000);
	holds(model, VIRT_IDLE_STATE, 2000, 6, 2000, 3000);
	holds(model, VIRT_IDLE_STATE, 3000, VIRT_AWAKE, 3000, 4000);
	holds(model, VIRT_IDLE_STATE, 4500, VIRT_POWER_UNKNOWN, 4000, 5000);
	holds(model, VIRT_IDLE_STATE, 6000, VIRT_POWER_UNKNOWN, 6000, 7000);
	assert_string_equal(virt_idle_state_name(model, 6), "C6");
	assert_false(virt_model_has_power(model, VIRT_FREQUENCY));
	virt_model_free(model);
}

/** The first change shows what it was before, too, if nothing is missing. */
static void test_frequency(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 2);
	TICK(&trace, 1000);
	TRACE_RECORD(&trace, XEN_TRC_PM_FREQ_CHANGE, 2000, 1200, 3400);
	TRACE_RECORD(&trace, XEN_TRC_PM_FREQ_CHANGE, 3000, 3400, 0);
	TRACE_RECORD(&trace, XEN_TRC_PM_FREQ_CHANGE, 4000, 3400, 4000000000u);
	TRACE_RECORD(&trace, XEN_TRC_PM_FREQ_CHANGE, 5000, 3400, 2000);
	TRACE_RECORD(&trace, XEN_TRC_PM_FREQ_CHANGE, 6000);
	TICK(&trace, 8000);
	model = build(&trace);
	holds(model, VIRT_FREQUENCY, 1000, 1200000, 1000, 2000);
	holds(model, VIRT_FREQUENCY, 2000, 3400000, 2000, 3000);
	holds(model, VIRT_FREQUENCY, 3000, VIRT_POWER_UNKNOWN, 3000, 5000);
	holds(model, VIRT_FREQUENCY, 5000, 2000000, 5000, 6000);
	holds(model, VIRT_FREQUENCY, 7000, VIRT_POWER_UNKNOWN, 6000, virt_model_end(model));
	virt_model_free(model);
}

/** What happened where records are lost is unknown. */
static void test_lost(void **state)
{
	struct trace trace = { 0 };
	struct virt_model *model;

	(void)state;
	trace_window(&trace, 2);
	TICK(&trace, 1000);
	TRACE_RECORD(&trace, XEN_TRC_PM_IDLE_ENTRY, 2000, 3, 0, 0, 0);
	/* how many, of which vCPU, and since when: 3000 */
	TRACE_RECORD(&trace, XEN_TRC_LOST_RECORDS, 4000, 7, 0, 3000, 0);
	TRACE_RECORD(&trace, XEN_TRC_PM_IDLE_EXIT, 5000, 3, 0, 0, 0, 0, 0);
	TRACE_RECORD(&trace, XEN_TRC_PM_FREQ_CHANGE, 6000, 1200, 3400);
	TICK(&trace, 8000);
	model = build(&trace);
	holds(model, VIRT_IDLE_STATE, 2500, 3, 2000, 3000);
	holds(model, VIRT_IDLE_STATE, 4500, VIRT_POWER_UNKNOWN, 3000, 5000);
	holds(model, VIRT_IDLE_STATE, 5500, VIRT_AWAKE, 5000, virt_model_end(model));
	holds(model, VIRT_FREQUENCY, 5500, VIRT_POWER_UNKNOWN, 1000, 6000);
	holds(model, VIRT_FREQUENCY, 6500, 3400000, 6000, virt_model_end(model));
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sleeps),
		cmocka_unit_test(test_frequency),
		cmocka_unit_test(test_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
