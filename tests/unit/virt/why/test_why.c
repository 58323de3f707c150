// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_why.c
 * @brief	Why time went where it went: timelines made by hand, and laws that all samples obey.
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

#include "array.h"
#include "hand_model.h"
#include "sample_model.h"
#include "virt_handlers.h"
#include "virt_limits.h"
#include "virt_power.h"
#include "virt_why.h"

#define LIMIT	1000000

static void finish(struct virt_model *model, int64_t end)
{
	assert_int_equal(virt_model_finish(model, 0, end), 0);
}

/** Ends the last wait of @vcpu. */
static void woken(struct virt_model *model, int32_t vcpu, enum virt_wake_cause cause, int32_t who)
{
	const struct virt_wake wake = { .who = who, .vector = VIRT_NONE, .cause = (uint8_t)cause };
	int32_t number = virt_model_add_wake(model, &wake);

	assert_true(number >= 0);
	assert_int_equal(virt_model_woken(model, vcpu, number), 0);
}

static struct virt_why why_of(const struct virt_model *model, int32_t vcpu, int64_t from,
			      int64_t to)
{
	struct virt_why why;

	assert_int_equal(virt_why_vcpu(model, NULL, vcpu, from, to, LIMIT, &why), 0);
	return why;
}

/** What is expected of a segment. */
struct expected {
	int			level;
	int64_t			from, to;
	enum virt_why_kind	kind;
	const char		*cause;
	int32_t			subject, who;
};

static void is_expected(const struct virt_why *why, const struct expected *expected, size_t n)
{
	assert_int_equal(why->n, n);
	for (size_t i = 0; i < n; i++) {
		const struct virt_why_segment *segment = &why->segments[i];

		assert_int_equal(segment->level, expected[i].level);
		assert_int_equal(segment->from_ns, expected[i].from);
		assert_int_equal(segment->to_ns, expected[i].to);
		assert_int_equal(segment->kind, expected[i].kind);
		assert_string_equal(virt_why_cause_of(why, segment), expected[i].cause);
		assert_int_equal(segment->subject, expected[i].subject);
		assert_int_equal(segment->who, expected[i].who);
	}
}

#define IS(why, ...) do {						\
	static const struct expected expected_[] = { __VA_ARGS__ };		\
										\
	is_expected(why, expected_, ARRAY_SIZE(expected_));		\
} while (0)

/** What a vCPU does on its pCPU, and not being there. */
static void states_of_its_own(void **state)
{
	struct virt_model *model = with_vcpus(1);
	int32_t hlt = virt_model_add_reason(model, "HLT"), io = virt_model_add_reason(model, "IO");
	struct virt_why why;

	(void)state;
	set(model, 0, 10, VIRT_GUEST, 1, VIRT_NONE, 0);
	set(model, 0, 20, VIRT_HYPERVISOR, 1, hlt, VIRT_INTERVAL_EXIT);
	set(model, 0, 30, VIRT_GUEST, 1, VIRT_NONE, VIRT_INTERVAL_NESTED);
	set(model, 0, 40, VIRT_VMM, 1, io, VIRT_INTERVAL_EXIT);
	set(model, 0, 50, VIRT_OFFLINE, 1, VIRT_NONE, 0);
	set(model, 0, 51, VIRT_GUEST, 1, VIRT_NONE, 0);
	set(model, 0, 52, VIRT_OFFLINE, 1, VIRT_NONE, VIRT_INTERVAL_SIGNAL);
	finish(model, 60);
	why = why_of(model, 0, 5, 55);
	IS(&why,
	   { 0, 5, 10, VIRT_WHY_UNEXPLAINED, "not in the trace", 0, VIRT_NONE },
	   { 0, 10, 20, VIRT_WHY_GUEST, "runs", 0, VIRT_NONE },
	   { 0, 20, 30, VIRT_WHY_HYPERVISOR, "HLT", 0, VIRT_NONE },
	   { 0, 30, 40, VIRT_WHY_GUEST, "nested guest", 0, VIRT_NONE },
	   { 0, 40, 50, VIRT_WHY_VMM, "IO", 0, VIRT_NONE },
	   { 0, 50, 51, VIRT_WHY_OFFLINE, "absent", 0, VIRT_NONE },
	   { 0, 51, 52, VIRT_WHY_GUEST, "runs", 0, VIRT_NONE },
	   { 0, 52, 55, VIRT_WHY_OFFLINE, "signal", 0, VIRT_NONE });
	assert_int_equal(why.unexplained_ns, 5);
	assert_int_equal(why.segments[0].flags, VIRT_WHY_ENDS);
	assert_int_equal(why.segments[1].flags, VIRT_WHY_BEGINS | VIRT_WHY_ENDS);
	assert_int_equal(why.segments[5].flags, VIRT_WHY_BEGINS | VIRT_WHY_ENDS);
	assert_int_equal(why.segments[7].flags, VIRT_WHY_BEGINS);
	virt_why_free(&why);
	virt_model_free(model);
}

/** Its cap holds a vCPU for all of its time offline, or for a part, which is no cause of all. */
static void held_by_its_limit(void **state)
{
	const struct virt_hold holds[] = {
		{ 20, 30, true, false }, { 42, 45, true, false }, { 50, 55, true, false },
	};
	struct virt_model *model = with_vcpus(2);
	struct virt_why why;

	(void)state;
	set(model, 0, 10, VIRT_GUEST, 1, VIRT_NONE, 0);
	set(model, 0, 20, VIRT_OFFLINE, 1, VIRT_NONE, VIRT_INTERVAL_UNASKED);
	set(model, 0, 30, VIRT_GUEST, 1, VIRT_NONE, 0);
	set(model, 0, 40, VIRT_PREEMPTED, 1, 1, 0);
	occupy(model, 1, 40, 1, true);
	set(model, 0, 50, VIRT_OFFLINE, 1, VIRT_NONE, 0);
	for (size_t i = 0; i < ARRAY_SIZE(holds); i++)
		assert_int_equal(virt_model_add_hold(model, 0, &holds[i]), 0);
	virt_model_know_holds(model);
	finish(model, 60);
	why = why_of(model, 0, 10, 60);
	IS(&why,
	   { 0, 10, 20, VIRT_WHY_GUEST, "runs", 0, VIRT_NONE },
	   { 0, 20, 30, VIRT_WHY_OFFLINE, "limit", 0, VIRT_NONE },
	   { 0, 30, 40, VIRT_WHY_GUEST, "runs", 0, VIRT_NONE },
	   { 0, 40, 50, VIRT_WHY_PREEMPTED, "pcpu", 0, 1 },
	   { 1, 40, 50, VIRT_WHY_VCPU, "runs", 1, VIRT_NONE },
	   { 0, 50, 60, VIRT_WHY_OFFLINE, "absent", 0, VIRT_NONE });
	assert_int_equal(virt_why_held(&why, &why.segments[0]).ns, 0);
	assert_int_equal(virt_why_held(&why, &why.segments[1]).ns, 10);
	assert_int_equal(virt_why_held(&why, &why.segments[3]).ns, 3);
	assert_int_equal(virt_why_held(&why, &why.segments[4]).ns, 0);
	assert_int_equal(virt_why_held(&why, &why.segments[5]).ns, 5);
	virt_why_free(&why);
	/* of a window in the hold, all is due to it */
	why = why_of(model, 0, 51, 54);
	IS(&why, { 0, 51, 54, VIRT_WHY_OFFLINE, "limit", 0, VIRT_NONE });
	virt_why_free(&why);
	virt_model_free(model);
}

/** An exit without a reason explains nothing; after a break, the reason is that from before. */
static void reasons_of_exits(void **state)
{
	struct virt_model *model = with_vcpus(2);
	int32_t hlt = virt_model_add_reason(model, "HLT");
	struct virt_why why;

	(void)state;
	set(model, 0, 10, VIRT_HYPERVISOR, 0, VIRT_NONE, VIRT_INTERVAL_EXIT);
	set(model, 0, 20, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 0, 30, VIRT_HYPERVISOR, 0, hlt, VIRT_INTERVAL_EXIT);
	set(model, 0, 40, VIRT_PREEMPTED, 0, 1, 0);
	occupy(model, 0, 40, 1, true);
	set(model, 0, 50, VIRT_HYPERVISOR, 0, VIRT_NONE, 0);
	set(model, 0, 60, VIRT_HYPERVISOR, 0, hlt, VIRT_INTERVAL_EXIT | VIRT_INTERVAL_UNSPLIT);
	finish(model, 70);
	why = why_of(model, 0, 10, 70);
	IS(&why,
	   { 0, 10, 20, VIRT_WHY_HYPERVISOR, "unknown", 0, VIRT_NONE },
	   { 1, 10, 20, VIRT_WHY_UNEXPLAINED, "not in the trace", 0, VIRT_NONE },
	   { 0, 20, 30, VIRT_WHY_GUEST, "runs", 0, VIRT_NONE },
	   { 0, 30, 40, VIRT_WHY_HYPERVISOR, "HLT", 0, VIRT_NONE },
	   { 0, 40, 50, VIRT_WHY_PREEMPTED, "pcpu", 0, 1 },
	   { 1, 40, 50, VIRT_WHY_VCPU, "runs", 1, VIRT_NONE },
	   { 0, 50, 60, VIRT_WHY_HYPERVISOR, "HLT", 0, VIRT_NONE },
	   { 0, 60, 70, VIRT_WHY_HYPERVISOR, "HLT", 0, VIRT_NONE });
	assert_int_equal(why.unexplained_ns, 10);
	assert_int_equal(why.segments[0].n_below, 1);
	assert_int_equal(why.segments[7].flags & VIRT_WHY_WITH_WAITS, VIRT_WHY_WITH_WAITS);
	virt_why_free(&why);
	virt_model_free(model);
}

/** Handlers interrupt a vCPU out of guest code, and where its exit is recorded late. */
static void interrupted(void **state)
{
	static const struct virt_handling pieces[] = {
		{ .start_ns = 18, .end_ns = 22, .whole_ns = 4, .handler = 0, .begins = true },
		{ .start_ns = 25, .end_ns = 28, .whole_ns = 5, .handler = 1, .begins = true },
		{ .start_ns = 28, .end_ns = 29, .whole_ns = 1, .handler = 0, .begins = true },
		{ .start_ns = 29, .end_ns = 31, .handler = 1 },
		{ .start_ns = 45, .end_ns = 46, .whole_ns = 1, .handler = 1, .begins = true },
	};
	struct virt_model *model = with_vcpus(1);
	int32_t hlt = virt_model_add_reason(model, "HLT");
	struct virt_why why;

	(void)state;
	assert_int_equal(virt_model_add_handler(model, VIRT_HANDLER_IRQ, "30 disk"), 0);
	assert_int_equal(virt_model_add_handler(model, VIRT_HANDLER_SOFTIRQ, "RCU"), 1);
	set(model, 0, 10, VIRT_GUEST, 1, VIRT_NONE, 0);
	set(model, 0, 20, VIRT_HYPERVISOR, 1, hlt, VIRT_INTERVAL_EXIT);
	set(model, 0, 40, VIRT_HYPERVISOR, 1, VIRT_NONE, VIRT_INTERVAL_EXIT);
	set(model, 0, 50, VIRT_GUEST, 1, VIRT_NONE, 0);
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
		assert_int_equal(virt_model_add_handling(model, &pieces[i]), 0);
	finish(model, 60);
	why = why_of(model, 0, 10, 30);
	IS(&why,
	   { 0, 10, 20, VIRT_WHY_GUEST, "runs", 0, VIRT_NONE },
	   { 1, 18, 20, VIRT_WHY_HANDLER, "30 disk", 0, VIRT_NONE },
	   { 0, 20, 30, VIRT_WHY_HYPERVISOR, "HLT", 0, VIRT_NONE },
	   { 1, 20, 22, VIRT_WHY_HANDLER, "30 disk", 0, VIRT_NONE },
	   { 1, 25, 28, VIRT_WHY_HANDLER, "RCU", 0, VIRT_NONE },
	   { 1, 28, 29, VIRT_WHY_HANDLER, "30 disk", 0, VIRT_NONE },
	   { 1, 29, 30, VIRT_WHY_HANDLER, "RCU", 0, VIRT_NONE });
	assert_int_equal(why.unexplained_ns, 0);
	assert_int_equal(why.segments[2].n_below, 4);
	assert_int_equal(why.segments[1].flags, VIRT_WHY_BEGINS);
	assert_int_equal(why.segments[3].flags, VIRT_WHY_ENDS);
	assert_int_equal(why.segments[4].flags, VIRT_WHY_BEGINS | VIRT_WHY_ENDS);
	virt_why_free(&why);
	/* nothing is below what is not explained */
	why = why_of(model, 0, 40, 50);
	IS(&why,
	   { 0, 40, 50, VIRT_WHY_HYPERVISOR, "unknown", 0, VIRT_NONE },
	   { 1, 40, 50, VIRT_WHY_UNEXPLAINED, "not in the trace", 0, VIRT_NONE });
	virt_why_free(&why);
	virt_model_free(model);
}

/** Preempted by several, and by none. */
static void preempted(void **state)
{
	struct virt_model *model = with_vcpus(3);
	int32_t task = virt_model_add_task(model, 77, "kworker-77");
	struct virt_why why;

	(void)state;
	assert_int_equal(task, VIRT_FIRST_TASK);
	occupy(model, 2, 0, 0, true);
	set(model, 0, 10, VIRT_GUEST, 2, VIRT_NONE, 0);
	set(model, 0, 100, VIRT_PREEMPTED, 2, 1, 0);
	occupy(model, 2, 100, 1, true);
	occupy(model, 2, 130, task, true);
	occupy(model, 2, 180, 1, true);
	occupy(model, 2, 210, VIRT_NONE, true);
	occupy(model, 2, 215, VIRT_NONE, false);
	set(model, 0, 220, VIRT_GUEST, 2, VIRT_NONE, 0);
	occupy(model, 2, 220, 0, true);
	finish(model, 300);
	why = why_of(model, 0, 110, 250);
	IS(&why,
	   { 0, 110, 220, VIRT_WHY_PREEMPTED, "pcpu", 0, 1 },
	   { 1, 110, 130, VIRT_WHY_VCPU, "runs", 1, VIRT_NONE },
	   { 1, 130, 180, VIRT_WHY_TASK, "runs", VIRT_FIRST_TASK, VIRT_NONE },
	   { 1, 180, 210, VIRT_WHY_VCPU, "runs", 1, VIRT_NONE },
	   { 1, 210, 215, VIRT_WHY_UNEXPLAINED, "pcpu idle", VIRT_NONE, VIRT_NONE },
	   { 1, 215, 220, VIRT_WHY_UNEXPLAINED, "not in the trace", VIRT_NONE, VIRT_NONE },
	   { 0, 220, 250, VIRT_WHY_GUEST, "runs", 0, VIRT_NONE });
	assert_int_equal(why.unexplained_ns, 10);
	assert_int_equal(why.segments[0].n_below, 5);
	assert_int_equal(why.segments[0].pcpu, 2);
	assert_int_equal(why.segments[1].flags, VIRT_WHY_ENDS);
	virt_why_free(&why);
	virt_model_free(model);
}

/** A woken vCPU waits for the pCPU that it comes to run on, which may leave its sleep. */
static void waking(void **state)
{
	struct virt_model *model = with_vcpus(2);
	struct virt_why why;

	(void)state;
	occupy(model, 0, 0, 1, true);
	occupy(model, 1, 0, 1, true);
	occupy(model, 1, 60, VIRT_NONE, true);
	set(model, 0, 10, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	woken(model, 0, VIRT_WAKE_TIMER, VIRT_NONE);
	set(model, 0, 40, VIRT_WAKING, VIRT_NONE, VIRT_NONE, 0);
	set(model, 0, 70, VIRT_GUEST, 1, VIRT_NONE, 0);
	occupy(model, 1, 70, 0, true);
	finish(model, 100);
	why = why_of(model, 0, 10, 80);
	IS(&why,
	   { 0, 10, 40, VIRT_WHY_BLOCKED, "timer", 0, VIRT_NONE },
	   { 0, 40, 70, VIRT_WHY_WAKING, "pcpu", 0, 1 },
	   { 1, 40, 60, VIRT_WHY_VCPU, "runs", 1, VIRT_NONE },
	   { 1, 60, 70, VIRT_WHY_IDLE, "idle", VIRT_NONE, VIRT_NONE },
	   { 0, 70, 80, VIRT_WHY_GUEST, "runs", 0, VIRT_NONE });
	assert_int_equal(why.segments[1].pcpu, 1);
	assert_int_equal(why.unexplained_ns, 0);
	virt_why_free(&why);
	virt_model_free(model);
}

/** An idle pCPU has to leave its sleep first, where the trace shows that. */
static void sleeping_pcpu(void **state)
{
	struct virt_model *model = with_vcpus(1);
	struct virt_why why;

	(void)state;
	assert_int_equal(virt_model_name_idle_state(model, 2, "C6"), 0);
	set(model, 0, 10, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	woken(model, 0, VIRT_WAKE_TIMER, VIRT_NONE);
	set(model, 0, 40, VIRT_WAKING, VIRT_NONE, VIRT_NONE, 0);
	set(model, 0, 70, VIRT_GUEST, 1, VIRT_NONE, 0);
	occupy(model, 1, 5, VIRT_NONE, true);
	occupy(model, 1, 70, 0, true);
	assert_int_equal(virt_model_add_power(model, VIRT_IDLE_STATE, 1, 20, 2), 0);
	assert_int_equal(virt_model_add_power(model, VIRT_IDLE_STATE, 1, 55, VIRT_AWAKE), 0);
	assert_int_equal(virt_model_add_power(model, VIRT_IDLE_STATE, 1, 60, 1), 0);
	assert_int_equal(virt_model_add_power(model, VIRT_IDLE_STATE, 1, 65, VIRT_AWAKE), 0);
	finish(model, 100);
	why = why_of(model, 0, 10, 80);
	IS(&why,
	   { 0, 10, 40, VIRT_WHY_BLOCKED, "timer", 0, VIRT_NONE },
	   { 0, 40, 70, VIRT_WHY_WAKING, "pcpu", 0, VIRT_NONE },
	   { 1, 40, 70, VIRT_WHY_IDLE, "idle", VIRT_NONE, VIRT_NONE },
	   { 2, 40, 55, VIRT_WHY_SLEEP, "C6", VIRT_NONE, VIRT_NONE },
	   { 2, 60, 65, VIRT_WHY_SLEEP, "state 1", VIRT_NONE, VIRT_NONE },
	   { 0, 70, 80, VIRT_WHY_GUEST, "runs", 0, VIRT_NONE });
	assert_int_equal(why.segments[3].sleeps_ns, 35);
	assert_int_equal(why.segments[3].idle_state, 2);
	assert_int_equal(why.segments[2].n_below, 2);
	assert_int_equal(why.unexplained_ns, 0);
	virt_why_free(&why);
	virt_model_free(model);
}

/** A wake-up that leads to no run is for an unknown pCPU. */
static void waking_for_nothing(void **state)
{
	struct virt_model *model = with_vcpus(1);
	struct virt_why why;

	(void)state;
	set(model, 0, 10, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	set(model, 0, 20, VIRT_WAKING, VIRT_NONE, VIRT_NONE, 0);
	set(model, 0, 30, VIRT_UNKNOWN, VIRT_NONE, VIRT_NONE, 0);
	finish(model, 40);
	why = why_of(model, 0, 20, 40);
	IS(&why,
	   { 0, 20, 30, VIRT_WHY_WAKING, "pcpu", 0, VIRT_NONE },
	   { 1, 20, 30, VIRT_WHY_UNEXPLAINED, "not in the trace", 0, VIRT_NONE },
	   { 0, 30, 40, VIRT_WHY_UNEXPLAINED, "not in the trace", 0, VIRT_NONE });
	assert_int_equal(why.unexplained_ns, 20);
	virt_why_free(&why);
	virt_model_free(model);
}

/** A wait for another vCPU, which itself waited: the chain. */
static void chain(void **state)
{
	struct virt_model *model = with_vcpus(3);
	struct virt_why why;

	(void)state;
	set(model, 0, 100, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	woken(model, 0, VIRT_WAKE_VCPU, 1);
	set(model, 0, 200, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 1, 50, VIRT_GUEST, 1, VIRT_NONE, 0);
	set(model, 1, 120, VIRT_PREEMPTED, 1, 2, 0);
	occupy(model, 1, 120, 2, true);
	set(model, 1, 150, VIRT_BLOCKED, 1, VIRT_NONE, 0);
	woken(model, 1, VIRT_WAKE_VCPU, 2);
	set(model, 1, 180, VIRT_GUEST, 1, VIRT_NONE, 0);
	set(model, 2, 0, VIRT_GUEST, 2, VIRT_NONE, 0);
	finish(model, 300);
	why = why_of(model, 0, 90, 200);
	IS(&why,
	   { 0, 90, 100, VIRT_WHY_UNEXPLAINED, "not in the trace", 0, VIRT_NONE },
	   { 0, 100, 200, VIRT_WHY_BLOCKED, "vcpu", 0, 1 },
	   { 1, 100, 120, VIRT_WHY_GUEST, "runs", 1, VIRT_NONE },
	   { 1, 120, 150, VIRT_WHY_PREEMPTED, "pcpu", 1, 2 },
	   { 2, 120, 150, VIRT_WHY_VCPU, "runs", 2, VIRT_NONE },
	   { 1, 150, 180, VIRT_WHY_BLOCKED, "vcpu", 1, 2 },
	   { 2, 150, 180, VIRT_WHY_GUEST, "runs", 2, VIRT_NONE },
	   { 1, 180, 200, VIRT_WHY_GUEST, "runs", 1, VIRT_NONE });
	assert_int_equal(why.segments[1].n_below, 6);
	assert_int_equal(why.unexplained_ns, 10);
	virt_why_free(&why);
	virt_model_free(model);
}

/** Two that have woken each other, as in a damaged trace; and one that woke itself. */
static void cycles_are_cut(void **state)
{
	struct virt_model *model = with_vcpus(3);
	struct virt_why why;

	(void)state;
	for (int32_t i = 0; i < 3; i++) {
		set(model, i, 10, VIRT_BLOCKED, 0, VIRT_NONE, 0);
		woken(model, i, VIRT_WAKE_VCPU, i == 2 ? 2 : 1 - i);
		set(model, i, 50, VIRT_GUEST, (int16_t)i, VIRT_NONE, 0);
	}
	finish(model, 60);
	why = why_of(model, 0, 10, 50);
	IS(&why,
	   { 0, 10, 50, VIRT_WHY_BLOCKED, "vcpu", 0, 1 },
	   { 1, 10, 50, VIRT_WHY_BLOCKED, "vcpu", 1, 0 });
	assert_int_equal(why.segments[0].flags & VIRT_WHY_CUT, 0);
	assert_int_equal(why.segments[1].flags & VIRT_WHY_CUT, VIRT_WHY_CUT);
	virt_why_free(&why);
	why = why_of(model, 2, 10, 50);
	IS(&why, { 0, 10, 50, VIRT_WHY_BLOCKED, "vcpu", 2, 2 });
	virt_why_free(&why);
	virt_model_free(model);
}

/** A chain that is longer than levels are. */
static void long_chains_are_cut(void **state)
{
	struct virt_model *model = with_vcpus(20);
	const struct virt_why_segment *last;
	struct virt_why why;

	(void)state;
	for (int32_t i = 0; i < 20; i++) {
		set(model, i, 10, VIRT_BLOCKED, 0, VIRT_NONE, 0);
		woken(model, i, VIRT_WAKE_VCPU, (i + 1) % 20);
		set(model, i, 50, VIRT_GUEST, (int16_t)i, VIRT_NONE, 0);
	}
	finish(model, 60);
	why = why_of(model, 0, 10, 50);
	assert_int_equal(why.n, VIRT_WHY_LEVELS - 1);
	last = &why.segments[why.n - 1];
	assert_int_equal(last->level, VIRT_WHY_LEVELS - 2);
	assert_int_equal(last->flags & VIRT_WHY_CUT, VIRT_WHY_CUT);
	assert_int_equal(why.segments[why.n - 2].flags & VIRT_WHY_CUT, 0);
	virt_why_free(&why);
	virt_model_free(model);
}

/** Waits whose end nothing explains. */
static void waits_without_a_cause(void **state)
{
	struct virt_model *model = with_vcpus(1);
	struct virt_why why;

	(void)state;
	set(model, 0, 10, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	woken(model, 0, VIRT_WAKE_UNKNOWN, VIRT_NONE);
	set(model, 0, 20, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 0, 30, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	set(model, 0, 40, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 0, 50, VIRT_BLOCKED, 0, VIRT_NONE, 0);
	finish(model, 60);
	why = why_of(model, 0, 10, 60);
	IS(&why,
	   { 0, 10, 20, VIRT_WHY_BLOCKED, "unknown", 0, VIRT_NONE },
	   { 1, 10, 20, VIRT_WHY_UNEXPLAINED, "not in the trace", 0, VIRT_NONE },
	   { 0, 20, 30, VIRT_WHY_GUEST, "runs", 0, VIRT_NONE },
	   { 0, 30, 40, VIRT_WHY_BLOCKED, "unknown", 0, VIRT_NONE },
	   { 1, 30, 40, VIRT_WHY_UNEXPLAINED, "not in the trace", 0, VIRT_NONE },
	   { 0, 40, 50, VIRT_WHY_GUEST, "runs", 0, VIRT_NONE },
	   { 0, 50, 60, VIRT_WHY_BLOCKED, "unknown", 0, VIRT_NONE },
	   { 1, 50, 60, VIRT_WHY_UNEXPLAINED, "end not in the trace", 0, VIRT_NONE });
	assert_int_equal(why.unexplained_ns, 30);
	virt_why_free(&why);
	virt_model_free(model);
}

/** The answer of the device model to an exit, which the guest did not ask to wait for. */
static void unasked(void **state)
{
	struct virt_model *model = with_vcpus(1);
	int32_t io = virt_model_add_reason(model, "IO");
	struct virt_why why;

	(void)state;
	set(model, 0, 10, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 0, 20, VIRT_HYPERVISOR, 0, io, VIRT_INTERVAL_EXIT);
	set(model, 0, 30, VIRT_BLOCKED, 0, VIRT_NONE, VIRT_INTERVAL_UNASKED);
	woken(model, 0, VIRT_WAKE_DEVICE, VIRT_NONE);
	set(model, 0, 40, VIRT_GUEST, 0, VIRT_NONE, 0);
	finish(model, 50);
	why = why_of(model, 0, 30, 40);
	IS(&why, { 0, 30, 40, VIRT_WHY_BLOCKED, "device", 0, VIRT_NONE });
	assert_int_equal(why.segments[0].flags & VIRT_WHY_UNASKED, VIRT_WHY_UNASKED);
	assert_int_equal(why.segments[0].reason, io);
	virt_why_free(&why);
	virt_model_free(model);
}

static void unknown_time(void **state)
{
	const struct virt_loss loss = { .from_ns = 10, .to_ns = 20, .records = 3, .pcpu = 0 };
	struct virt_model *model = with_vcpus(1);
	struct virt_why why;

	(void)state;
	set(model, 0, 5, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 0, 10, VIRT_UNKNOWN, VIRT_NONE, VIRT_NONE, 0);
	set(model, 0, 20, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 0, 30, VIRT_UNKNOWN, VIRT_NONE, VIRT_NONE, VIRT_INTERVAL_UNSPLIT);
	assert_int_equal(virt_model_add_loss(model, &loss), 0);
	finish(model, 40);
	why = why_of(model, 0, 5, 40);
	IS(&why,
	   { 0, 5, 10, VIRT_WHY_GUEST, "runs", 0, VIRT_NONE },
	   { 0, 10, 20, VIRT_WHY_UNEXPLAINED, "lost records", 0, VIRT_NONE },
	   { 0, 20, 30, VIRT_WHY_GUEST, "runs", 0, VIRT_NONE },
	   { 0, 30, 40, VIRT_WHY_UNEXPLAINED, "not split", 0, VIRT_NONE });
	virt_why_free(&why);
	virt_model_free(model);
}

/** A pCPU: who has it, and what a vCPU does there. */
static void of_a_pcpu(void **state)
{
	struct virt_model *model = with_vcpus(1);
	int32_t task = virt_model_add_task(model, 9, "qemu-9");
	struct virt_why why;

	(void)state;
	occupy(model, 1, 10, 0, true);
	set(model, 0, 10, VIRT_GUEST, 1, VIRT_NONE, 0);
	set(model, 0, 15, VIRT_HYPERVISOR, 1, virt_model_add_reason(model, "HLT"),
	    VIRT_INTERVAL_EXIT);
	occupy(model, 1, 20, task, true);
	set(model, 0, 20, VIRT_OFFLINE, 1, VIRT_NONE, 0);
	occupy(model, 1, 30, VIRT_NONE, true);
	finish(model, 40);
	assert_int_equal(virt_why_pcpu(model, NULL, 1, 0, 40, LIMIT, &why), 0);
	IS(&why,
	   { 0, 0, 10, VIRT_WHY_UNEXPLAINED, "not in the trace", VIRT_NONE, VIRT_NONE },
	   { 0, 10, 20, VIRT_WHY_VCPU, "runs", 0, VIRT_NONE },
	   { 1, 10, 15, VIRT_WHY_GUEST, "runs", 0, VIRT_NONE },
	   { 1, 15, 20, VIRT_WHY_HYPERVISOR, "HLT", 0, VIRT_NONE },
	   { 0, 20, 30, VIRT_WHY_TASK, "runs", VIRT_FIRST_TASK, VIRT_NONE },
	   { 0, 30, 40, VIRT_WHY_IDLE, "idle", VIRT_NONE, VIRT_NONE });
	assert_int_equal(why.segments[1].n_below, 2);
	virt_why_free(&why);
	/* of one without records, too */
	assert_int_equal(virt_why_pcpu(model, NULL, 0, 0, 40, LIMIT, &why), 0);
	IS(&why,
	   { 0, 0, 40, VIRT_WHY_UNEXPLAINED, "not in the trace", VIRT_NONE, VIRT_NONE });
	virt_why_free(&why);
	assert_int_equal(virt_why_pcpu(model, NULL, 2, 0, 40, LIMIT, &why), -EINVAL);
	virt_model_free(model);
}

static void what_is_not_there(void **state)
{
	struct virt_model *model = with_vcpus(1);
	struct virt_why why;

	(void)state;
	set(model, 0, 10, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 0, 20, VIRT_OFFLINE, 0, VIRT_NONE, 0);
	finish(model, 30);
	assert_int_equal(virt_why_vcpu(model, NULL, 1, 0, 30, LIMIT, &why), -EINVAL);
	assert_int_equal(virt_why_vcpu(model, NULL, 0, 30, 40, LIMIT, &why), -EINVAL);
	assert_int_equal(virt_why_vcpu(model, NULL, 0, 0, 30, 2, &why), -E2BIG);
	assert_null(why.segments);
	assert_int_equal(virt_why_vcpu(model, NULL, 0, -5, 50, 3, &why), 0);
	assert_int_equal(why.from_ns, 0);
	assert_int_equal(why.to_ns, 30);
	virt_why_free(&why);
	virt_model_free(model);
}

static void stretch_at_a_time(void **state)
{
	struct virt_model *model = with_vcpus(2);
	int64_t from, to;

	(void)state;
	set(model, 0, 10, VIRT_GUEST, 0, VIRT_NONE, 0);
	set(model, 0, 20, VIRT_PREEMPTED, 0, 1, 0);
	set(model, 0, 30, VIRT_PREEMPTED, 1, 1, 0);
	set(model, 0, 40, VIRT_GUEST, 1, VIRT_NONE, 0);
	finish(model, 50);
	assert_true(virt_why_at(model, 0, 35, &from, &to));
	assert_int_equal(from, 20);
	assert_int_equal(to, 40);
	assert_true(virt_why_at(model, 0, 25, &from, &to));
	assert_int_equal(from, 20);
	assert_int_equal(to, 40);
	assert_true(virt_why_at(model, 0, 49, &from, &to));
	assert_int_equal(from, 40);
	assert_int_equal(to, 50);
	assert_false(virt_why_at(model, 0, 50, &from, &to));
	virt_model_free(model);
}

static void worst_moments(void **state)
{
	struct virt_why_moment moments[8];
	struct virt_model *model = with_vcpus(2);
	int32_t hlt = virt_model_add_reason(model, "HLT"), second = 1;

	(void)state;
	for (int32_t i = 0; i < 2; i++) {
		set(model, i, 10, VIRT_GUEST, (int16_t)i, VIRT_NONE, 0);
		set(model, i, 20, VIRT_HYPERVISOR, (int16_t)i, hlt, VIRT_INTERVAL_EXIT);
		set(model, i, 25 + i, VIRT_BLOCKED, (int16_t)i, VIRT_NONE, 0);
		set(model, i, 100 + i, VIRT_WAKING, VIRT_NONE, VIRT_NONE, 0);
		set(model, i, 103, VIRT_GUEST, (int16_t)i, VIRT_NONE, 0);
		set(model, i, 110, VIRT_PREEMPTED, (int16_t)i, VIRT_NONE, 0);
		set(model, i, 130 + i, VIRT_GUEST, (int16_t)i, VIRT_NONE, 0);
	}
	finish(model, 200);
	assert_int_equal(virt_why_worst(model, 0, 200, 15, NULL, 0, false, moments, 4), 4);
	assert_int_equal(moments[0].kind, VIRT_WHY_M_BLOCKED);
	assert_int_equal(moments[0].subject, 0);
	assert_int_equal(moments[0].cost_ns, 75);
	assert_int_equal(moments[1].kind, VIRT_WHY_M_BLOCKED);
	assert_int_equal(moments[1].subject, 1);
	assert_int_equal(moments[2].kind, VIRT_WHY_M_STEAL);
	assert_int_equal(moments[2].subject, 1);
	assert_int_equal(moments[2].from_ns, 110);
	assert_int_equal(moments[2].to_ns, 131);
	assert_int_equal(moments[3].cost_ns, 20);
	/* an exit costs what its wait does not */
	assert_int_equal(virt_why_worst(model, 0, 200, 1 << VIRT_WHY_M_EXIT, &second, 1, false,
					moments,
					4), 1);
	assert_int_equal(moments[0].subject, 1);
	assert_int_equal(moments[0].from_ns, 20);
	assert_int_equal(moments[0].to_ns, 103);
	assert_int_equal(moments[0].cost_ns, 8);
	assert_int_equal(virt_why_worst(model, 0, 200, 1 << VIRT_WHY_M_WAKE, NULL, 0, false,
					moments, 8),
			 2);
	/* only what begins there */
	assert_int_equal(virt_why_worst(model, 26, 200, 1 << VIRT_WHY_M_BLOCKED, NULL, 0, false,
					moments,
					8), 1);
	assert_int_equal(moments[0].subject, 1);
	virt_model_free(model);
}

/* --- laws ------------------------------------------------------------------------------------ */

/** Segments [first, end) are in order, within a time; so are those below; @fill: without gap. */
static void obey_laws(const struct virt_why *why, size_t first, size_t end, int64_t from,
		      int64_t to, bool fill)
{
	int level = first < end ? why->segments[first].level : 0;
	int64_t at = from;

	for (size_t i = first, next; i < end; i = next) {
		const struct virt_why_segment *segment = &why->segments[i];

		assert_int_equal(segment->level, level);
		assert_true(segment->from_ns >= at && segment->from_ns < segment->to_ns);
		assert_true(!fill || segment->from_ns == at);
		at = segment->to_ns;
		assert_true(at <= to);
		next = i + 1 + segment->n_below;
		assert_true(next <= end);
		assert_true(segment->kind != VIRT_WHY_UNEXPLAINED || !segment->n_below);
		obey_laws(why, i + 1, next, segment->from_ns, segment->to_ns, false);
	}
	assert_true(!fill || at == to);
}

static int64_t unexplained(const struct virt_why *why)
{
	int64_t ns = 0;

	for (size_t i = 0; i < why->n; i++)
		if (why->segments[i].kind == VIRT_WHY_UNEXPLAINED)
			ns += why->segments[i].to_ns - why->segments[i].from_ns;
	return ns;
}

/** The uppermost segments say the same as the model's totals. */
static void agrees_with_totals(const struct virt_model *model, int32_t vcpu,
			       const struct virt_why *why)
{
	int64_t ns[VIRT_N_STATES] = { 0 };
	struct virt_totals totals;

	virt_vcpu_totals(model, vcpu, why->from_ns, why->to_ns, &totals);
	for (size_t i = 0; i < why->n; i++)
		if (!why->segments[i].level)
			ns[why->segments[i].kind] += why->segments[i].to_ns -
						     why->segments[i].from_ns;
	assert_memory_equal(ns, totals.ns, sizeof(ns));
}

/** Who had the pCPU is the model's culprit, as long as it is known. */
static void agrees_with_culprits(const struct virt_model *model, const struct virt_why *why)
{
	struct virt_culprit culprits[2];

	for (size_t i = 0; i < why->n; i++) {
		const struct virt_why_segment *segment = &why->segments[i];
		size_t n;

		if (segment->kind != VIRT_WHY_PREEMPTED || segment->level)
			continue;
		n = virt_vcpu_culprits(model, segment->subject, segment->from_ns, segment->to_ns,
				       culprits, 2);
		if (n && culprits[0].vcpu >= 0 && culprits[0].vcpu != segment->subject &&
		    (n < 2 || culprits[0].ns > culprits[1].ns))
			assert_int_equal(segment->who, culprits[0].vcpu);
	}
}

static void check_vcpu(const struct virt_model *model, int32_t vcpu, int64_t from, int64_t to)
{
	struct virt_why why = why_of(model, vcpu, from, to);

	obey_laws(&why, 0, why.n, from, to, true);
	assert_int_equal(why.unexplained_ns, unexplained(&why));
	agrees_with_totals(model, vcpu, &why);
	agrees_with_culprits(model, &why);
	virt_why_free(&why);
}

static void check_pcpu(const struct virt_model *model, int32_t pcpu, int64_t from, int64_t to)
{
	struct virt_why why;

	assert_int_equal(virt_why_pcpu(model, NULL, pcpu, from, to, LIMIT, &why), 0);
	obey_laws(&why, 0, why.n, from, to, true);
	virt_why_free(&why);
}

static const char *const samples[] = {
	"credit2-4.20.xen", "credit2-basic.xen", "dom0.xen", "domU.xen.gz", "hvm-exits.xen",
	"hvm-io.xen", "hypertrace-packed.dat", "hypertrace-plain.dat", "kvm-host.dat",
	"kvm-hypercall.dat", "kvm-migration.dat", "kvm-nested-g1.dat", "kvm-nested-linux-g1.dat",
	"kvm-nested-linux.dat", "kvm-nested-shift-g1.dat", "kvm-nested-shift.dat",
	"kvm-nested.dat", "kvm-nosync.dat", "kvm-ptp.dat", "kvm-shared.dat", "lost-records.xen",
	"migration.xen", "pinned.xen", "recording-kvm/host.dat", "recording-xen/host.xen",
	"saved.xen", "sched-credit.xen", "sched-null.xen",
};

/** All vCPUs and pCPUs of all samples, whole and in windows that cut something. */
static void all_samples(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		struct virt_model *model = sample_model(samples[i]);
		int64_t begin = virt_model_begin(model), end = virt_model_end(model);
		int64_t third = (end - begin) / 3;

		for (int32_t vcpu = 0; vcpu < virt_model_n_vcpus(model); vcpu++) {
			check_vcpu(model, vcpu, begin, end);
			check_vcpu(model, vcpu, begin + third, begin + third + 1234567);
		}
		for (int32_t pcpu = 0; pcpu < virt_model_n_pcpus(model); pcpu++) {
			check_pcpu(model, pcpu, begin, end);
			check_pcpu(model, pcpu, begin + third, begin + third + 1234567);
		}
		virt_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_of_its_own),
		cmocka_unit_test(held_by_its_limit),
		cmocka_unit_test(reasons_of_exits),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(preempted),
		cmocka_unit_test(waking),
		cmocka_unit_test(sleeping_pcpu),
		cmocka_unit_test(waking_for_nothing),
		cmocka_unit_test(chain),
		cmocka_unit_test(cycles_are_cut),
		cmocka_unit_test(long_chains_are_cut),
		cmocka_unit_test(waits_without_a_cause),
		cmocka_unit_test(unasked),
		cmocka_unit_test(unknown_time),
		cmocka_unit_test(of_a_pcpu),
		cmocka_unit_test(what_is_not_there),
		cmocka_unit_test(stretch_at_a_time),
		cmocka_unit_test(worst_moments),
		cmocka_unit_test(all_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
