// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_why_task.c
 * @brief	Why a guest's task had no more time: a host and two guests, made by hand.
 *
 * Guest "web" has the vCPUs 0 and 1, "db" has 2.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "array.h"
#include "hand_model.h"
#include "virt_why.h"

#define LIMIT	1000
#define NONE	VIRT_NONE
#define MOST	8

/** Tasks by number; the first one of each guest is the idle task. */
enum {
	WEB_7 = VIRT_FIRST_GUEST_TASK + 1, WEB_8, DB_IDLE, DB_5,
};

static struct virt_life_interval web_7[] = {
	{ 0, NONE, 0, VIRT_LIFE_RUNS, 0 }, { 20, 0, 0, VIRT_LIFE_BLOCKED, 0 },
	{ 40, NONE, 0, VIRT_LIFE_WAKING, 0 }, { 60, NONE, 0, VIRT_LIFE_RUNS, 0 },
	{ 80, 1, 0, VIRT_LIFE_BLOCKED, 0 }, { 90, NONE, NONE, VIRT_LIFE_UNKNOWN, VIRT_LIFE_LOST },
};
static struct virt_life_interval web_8[] = {
	{ 0, NONE, NONE, VIRT_LIFE_ABSENT, 0 }, { 10, NONE, 1, VIRT_LIFE_RUNS, 0 },
	{ 50, NONE, 1, VIRT_LIFE_PREEMPTED, 0 }, { 55, NONE, 0, VIRT_LIFE_PREEMPTED, 0 },
	{ 80, NONE, 0, VIRT_LIFE_RUNS, 0 },
};
static struct virt_life_interval db_5[] = { { 0, NONE, 0, VIRT_LIFE_RUNS, 0 } };
static struct virt_guest_run runs_0[] = {
	{ 0, 7, true }, { 20, 0, true }, { 60, 7, true }, { 80, 8, true }, { 95, NONE, true }
};
static struct virt_guest_run runs_1[] = { { 10, 8, true }, { 50, 0, true }, { 95, NONE, true } };
static struct virt_guest_run runs_2[] = {
	{ 0, 5, true }, { 30, 0, true }, { 35, 5, true }, { 95, NONE, true },
};
static struct virt_guest_cpu web_cpus[] = { { 0, runs_0, 5, 0 }, { 1, runs_1, 3, 0 } };
static struct virt_guest_cpu db_cpus[] = { { 2, runs_2, 4, 0 } };
static struct virt_guest_task web_tasks[] = {
	{ 0, (char *)"web:idle", NULL, 0, 0 }, { 7, (char *)"web:x-7", web_7, 6, 0 },
	{ 8, (char *)"web:y-8", web_8, 5, 0 },
};
static struct virt_guest_task db_tasks[] = {
	{ 0, (char *)"db:idle", NULL, 0, 0 }, { 5, (char *)"db:sql-5", db_5, 1, 0 },
};
static char *handlers[] = { (char *)"irq 49 virtio0" };
static struct virt_life_wake wakes[] = {
	{ 8, NONE, 1, VIRT_WAKE_TASK, 0 }, { NONE, 0, 0, VIRT_WAKE_INTERRUPT, 0 },
};
static struct virt_guest both[] = {
	{ .name = (char *)"web", .begin_ns = 0, .end_ns = 95, .cpus = web_cpus, .n_cpus = 2,
	  .tasks = web_tasks, .n_tasks = 3, .wakes = wakes, .n_wakes = 2, .handlers = handlers,
	  .n_handlers = 1 },
	{ .name = (char *)"db", .begin_ns = 0, .end_ns = 95, .cpus = db_cpus, .n_cpus = 1,
	  .tasks = db_tasks, .n_tasks = 2 },
};
static const struct virt_guests guests = { .all = both, .n = 2 };

/** vCPU 0 loses its pCPU to vCPU 2, and sleeps until that wakes it. */
static struct virt_model *make_model(void)
{
	struct virt_model *model = with_vcpus(3);
	int32_t hlt = virt_model_add_reason(model, "HLT");
	int32_t msr = virt_model_add_reason(model, "MSR");
	struct virt_wake ipi = { .who = 2, .vector = NONE, .cause = VIRT_WAKE_VCPU };

	set(model, 0, 0, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 5, VIRT_PREEMPTED, 0, 2, 0);
	set(model, 0, 15, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 25, VIRT_HYPERVISOR, 0, hlt, VIRT_INTERVAL_EXIT);
	set(model, 0, 26, VIRT_BLOCKED, 0, NONE, 0);
	set(model, 0, 45, VIRT_WAKING, 0, NONE, 0);
	assert_int_equal(virt_model_woken(model, 0, virt_model_add_wake(model, &ipi)), 0);
	set(model, 0, 50, VIRT_GUEST, 0, NONE, 0);
	set(model, 0, 65, VIRT_HYPERVISOR, 0, msr, VIRT_INTERVAL_EXIT);
	set(model, 0, 67, VIRT_VMM, 0, msr, 0);
	set(model, 0, 70, VIRT_GUEST, 0, NONE, 0);
	set(model, 1, 0, VIRT_GUEST, 1, NONE, 0);
	set(model, 2, 0, VIRT_GUEST, 2, NONE, 0);
	set(model, 2, 5, VIRT_GUEST, 0, NONE, 0);
	set(model, 2, 15, VIRT_GUEST, 2, NONE, 0);
	occupy(model, 0, 0, 0, true);
	occupy(model, 0, 5, 2, true);
	occupy(model, 0, 15, 0, true);
	occupy(model, 0, 26, NONE, true);
	occupy(model, 0, 50, 0, true);
	occupy(model, 1, 0, 1, true);
	assert_int_equal(virt_model_finish(model, 0, 100), 0);
	return model;
}

/** What is expected of a segment. */
struct expected {
	int			level;
	int64_t			from, to;
	enum virt_why_kind	kind;
	const char		*cause;
	int32_t			subject, who, vcpu, task;
};

static void is_expected(struct virt_why *why, const struct expected *expected, size_t n)
{
	for (size_t i = 0; i < n && i < why->n; i++) {
		const struct virt_why_segment *segment = &why->segments[i];

		assert_int_equal(segment->level, expected[i].level);
		assert_int_equal(segment->from_ns, expected[i].from);
		assert_int_equal(segment->to_ns, expected[i].to);
		assert_int_equal(segment->kind, expected[i].kind);
		assert_string_equal(virt_why_cause_of(why, segment), expected[i].cause);
		assert_int_equal(segment->subject, expected[i].subject);
		assert_int_equal(segment->who, expected[i].who);
		assert_int_equal(segment->vcpu, expected[i].vcpu);
		assert_int_equal(segment->task, expected[i].task);
	}
	assert_int_equal(why->n, n);
	virt_why_free(why);
}

#define IS(why, ...) do {							\
	static const struct expected expected_[] = { __VA_ARGS__ };		\
										\
	is_expected(why, expected_, ARRAY_SIZE(expected_));			\
} while (0)

static struct virt_why why_of(const struct virt_model *model, int32_t task, int64_t from,
			      int64_t to)
{
	struct virt_why why;

	assert_int_equal(virt_why_task(model, &guests, task, from, to, LIMIT, &why), 0);
	return why;
}

/** It has its vCPU; that of another guest preempts this one, and its task is shown. */
static void test_runs(void **state)
{
	struct virt_model *model = make_model();
	struct virt_why why = why_of(model, WEB_7, 0, 20);

	(void)state;
	assert_int_equal(why.subject, WEB_7);
	assert_string_equal(virt_why_who(&why, WEB_7), "web:x-7");
	assert_string_equal(virt_guests_short(&guests, WEB_7), "x-7");
	assert_int_equal(why.segments[0].flags, VIRT_WHY_GUEST_BEGINS | VIRT_WHY_ENDS);
	assert_int_equal(why.segments[4].flags, VIRT_WHY_BEGINS | VIRT_WHY_GUEST_ENDS);
	assert_int_equal(virt_why_guest_of(&why, &why.segments[0]), 0);
	assert_int_equal(virt_why_guest_of(&why, &why.segments[3]), 1);
	IS(&why,
	   { 0, 0, 5, VIRT_WHY_GUEST, "runs", 0, NONE, NONE, WEB_7 },
	   { 0, 5, 15, VIRT_WHY_PREEMPTED, "pcpu", 0, 2, NONE, WEB_7 },
	   { 1, 5, 15, VIRT_WHY_VCPU, "runs", 2, NONE, NONE, NONE },
	   { 2, 5, 15, VIRT_WHY_TASK, "runs", DB_5, NONE, 2, DB_5 },
	   { 0, 15, 20, VIRT_WHY_GUEST, "runs", 0, NONE, NONE, WEB_7 });
	virt_model_free(model);
}

/** Blocked until another task wakes it, with that one's life; then its CPU has to wake up. */
static void test_woken(void **state)
{
	struct virt_model *model = make_model();
	struct virt_why why = why_of(model, WEB_7, 20, 60);

	(void)state;
	assert_int_equal(why.segments[0].flags, VIRT_WHY_GUEST_BEGINS | VIRT_WHY_GUEST_ENDS);
	assert_int_equal(why.segments[4].who_task, DB_5);
	assert_int_equal(why.unexplained_ns, 0);
	IS(&why,
	   { 0, 20, 40, VIRT_WHY_BLOCKED, "task", WEB_7, WEB_8, 1, NONE },
	   { 1, 20, 40, VIRT_WHY_GUEST, "runs", 1, NONE, NONE, WEB_8 },
	   { 0, 40, 60, VIRT_WHY_WAKING, "guest cpu", WEB_7, NONE, 0, NONE },
	   { 1, 40, 60, VIRT_WHY_IDLE, "idle", NONE, NONE, 0, VIRT_FIRST_GUEST_TASK },
	   { 2, 40, 45, VIRT_WHY_BLOCKED, "vcpu", 0, 2, NONE, VIRT_FIRST_GUEST_TASK },
	   { 3, 40, 45, VIRT_WHY_GUEST, "runs", 2, NONE, NONE, DB_5 },
	   { 2, 45, 50, VIRT_WHY_WAKING, "pcpu", 0, NONE, NONE, VIRT_FIRST_GUEST_TASK },
	   { 3, 45, 50, VIRT_WHY_IDLE, "idle", NONE, NONE, NONE, NONE },
	   { 2, 50, 60, VIRT_WHY_GUEST, "runs", 0, NONE, NONE, VIRT_FIRST_GUEST_TASK });
	virt_model_free(model);
}

/** Woken by an interrupt: what the vCPU did that took it. Then unknown. */
static void test_interrupt(void **state)
{
	struct virt_model *model = make_model();
	struct virt_why why = why_of(model, WEB_7, 80, 100);

	(void)state;
	assert_int_equal(virt_why_guest_wake(&why, &why.segments[0])->handler, 0);
	assert_int_equal(why.segments[0].who_task, NONE);
	assert_int_equal(why.unexplained_ns, 10);
	assert_int_equal(why.segments[2].flags, VIRT_WHY_GUEST_BEGINS);
	IS(&why,
	   { 0, 80, 90, VIRT_WHY_BLOCKED, "interrupt", WEB_7, NONE, 0, NONE },
	   { 1, 80, 90, VIRT_WHY_GUEST, "runs", 0, NONE, NONE, WEB_8 },
	   { 0, 90, 95, VIRT_WHY_UNEXPLAINED, "lost records", WEB_7, NONE, NONE, NONE },
	   { 0, 95, 100, VIRT_WHY_UNEXPLAINED, "not in the trace", WEB_7, NONE, NONE, NONE });
	virt_model_free(model);
}

/** Not there, and preempted: the CPU that it waits for changes, each with who has it. */
static void test_waits(void **state)
{
	struct virt_model *model = make_model();
	struct virt_why why = why_of(model, WEB_8, 5, 75);

	(void)state;
	assert_int_equal(why.segments[0].flags, VIRT_WHY_GUEST_ENDS);
	IS(&why,
	   { 0, 5, 10, VIRT_WHY_OFFLINE, "absent", WEB_8, NONE, NONE, NONE },
	   { 0, 10, 50, VIRT_WHY_GUEST, "runs", 1, NONE, NONE, WEB_8 },
	   { 0, 50, 75, VIRT_WHY_PREEMPTED, "guest cpu", WEB_8, WEB_7, 0, NONE },
	   { 1, 50, 55, VIRT_WHY_IDLE, "idle", NONE, NONE, 1, VIRT_FIRST_GUEST_TASK },
	   { 2, 50, 55, VIRT_WHY_GUEST, "runs", 1, NONE, NONE, VIRT_FIRST_GUEST_TASK },
	   { 1, 55, 60, VIRT_WHY_IDLE, "idle", NONE, NONE, 0, VIRT_FIRST_GUEST_TASK },
	   { 2, 55, 60, VIRT_WHY_GUEST, "runs", 0, NONE, NONE, VIRT_FIRST_GUEST_TASK },
	   { 1, 60, 75, VIRT_WHY_TASK, "runs", WEB_7, NONE, 0, WEB_7 },
	   { 2, 60, 65, VIRT_WHY_GUEST, "runs", 0, NONE, NONE, WEB_7 },
	   { 2, 65, 67, VIRT_WHY_HYPERVISOR, "MSR", 0, NONE, NONE, WEB_7 },
	   { 2, 67, 70, VIRT_WHY_VMM, "MSR", 0, NONE, NONE, WEB_7 },
	   { 2, 70, 75, VIRT_WHY_GUEST, "runs", 0, NONE, NONE, WEB_7 });
	virt_model_free(model);
}

/** A vCPU with its guest's trace has tasks in the answer; so has a pCPU. */
static void test_vcpus(void **state)
{
	struct virt_model *model = make_model();
	struct virt_why why;

	(void)state;
	assert_int_equal(virt_why_vcpu(model, &guests, 2, 15, 40, LIMIT, &why), 0);
	assert_int_equal(why.segments[0].flags, VIRT_WHY_BEGINS | VIRT_WHY_GUEST_ENDS);
	IS(&why,
	   { 0, 15, 30, VIRT_WHY_GUEST, "runs", 2, NONE, NONE, DB_5 },
	   { 0, 30, 35, VIRT_WHY_GUEST, "runs", 2, NONE, NONE, DB_IDLE },
	   { 0, 35, 40, VIRT_WHY_GUEST, "runs", 2, NONE, NONE, DB_5 });
	assert_int_equal(virt_why_pcpu(model, &guests, 0, 0, 10, LIMIT, &why), 0);
	IS(&why,
	   { 0, 0, 5, VIRT_WHY_VCPU, "runs", 0, NONE, NONE, NONE },
	   { 1, 0, 5, VIRT_WHY_GUEST, "runs", 0, NONE, NONE, WEB_7 },
	   { 0, 5, 10, VIRT_WHY_VCPU, "runs", 2, NONE, NONE, NONE },
	   { 1, 5, 10, VIRT_WHY_GUEST, "runs", 2, NONE, NONE, DB_5 });
	virt_model_free(model);
}

/** The uppermost segments alone: whose time, one after the other. */
static void is_path(const struct virt_model *model, int32_t who, int64_t from, int64_t to,
		    const struct expected *expected, size_t n)
{
	struct virt_why why;
	size_t k = 0;

	assert_int_equal(virt_why_path(model, &guests, who, from, to, LIMIT, &why), 0);
	assert_int_equal(why.subject, who);
	for (size_t i = 0; i < why.n; i += 1 + why.segments[i].n_below, k++) {
		assert_true(k < n);
		assert_int_equal(why.segments[i].level, 0);
		assert_int_equal(why.segments[i].from_ns, expected[k].from);
		assert_int_equal(why.segments[i].to_ns, expected[k].to);
		assert_int_equal(why.segments[i].kind, expected[k].kind);
		assert_int_equal(why.segments[i].subject, expected[k].subject);
		assert_int_equal(why.segments[i].task, expected[k].task);
	}
	assert_int_equal(k, n);
	virt_why_free(&why);
}

#define IS_PATH(model, who, from, to, ...) do {					\
	static const struct expected expected_[] = { __VA_ARGS__ };		\
										\
	is_path(model, who, from, to, expected_, ARRAY_SIZE(expected_));	\
} while (0)

/** After a wake-up by a task, that one's time, up to where the sleep began. */
static void test_path(void **state)
{
	struct virt_model *model = make_model();

	(void)state;
	IS_PATH(model, WEB_7, 16, 92,
		{ 0, 16, 20, VIRT_WHY_GUEST, "", 0, NONE, NONE, WEB_7 },
		{ 0, 20, 40, VIRT_WHY_GUEST, "", 1, NONE, NONE, WEB_8 },
		{ 0, 40, 60, VIRT_WHY_WAKING, "", WEB_7, NONE, NONE, NONE },
		{ 0, 60, 65, VIRT_WHY_GUEST, "", 0, NONE, NONE, WEB_7 },
		{ 0, 65, 67, VIRT_WHY_HYPERVISOR, "", 0, NONE, NONE, WEB_7 },
		{ 0, 67, 70, VIRT_WHY_VMM, "", 0, NONE, NONE, WEB_7 },
		{ 0, 70, 80, VIRT_WHY_GUEST, "", 0, NONE, NONE, WEB_7 },
		/* the vCPU that took the interrupt was not woken for it */
		{ 0, 80, 90, VIRT_WHY_BLOCKED, "", WEB_7, NONE, NONE, NONE },
		{ 0, 90, 92, VIRT_WHY_UNEXPLAINED, "", WEB_7, NONE, NONE, NONE });
	/* it sleeps when the window ends */
	IS_PATH(model, WEB_7, 18, 30,
		{ 0, 18, 20, VIRT_WHY_GUEST, "", 0, NONE, NONE, WEB_7 },
		{ 0, 20, 30, VIRT_WHY_BLOCKED, "", WEB_7, NONE, NONE, NONE });
	/* a vCPU that another one's guest has woken */
	IS_PATH(model, 0, 20, 52,
		{ 0, 20, 25, VIRT_WHY_GUEST, "", 0, NONE, NONE, VIRT_FIRST_GUEST_TASK },
		{ 0, 25, 26, VIRT_WHY_HYPERVISOR, "", 0, NONE, NONE, VIRT_FIRST_GUEST_TASK },
		{ 0, 26, 45, VIRT_WHY_GUEST, "", 2, NONE, NONE, DB_5 },
		{ 0, 45, 50, VIRT_WHY_WAKING, "", 0, NONE, NONE, VIRT_FIRST_GUEST_TASK },
		{ 0, 50, 52, VIRT_WHY_GUEST, "", 0, NONE, NONE, VIRT_FIRST_GUEST_TASK });
	virt_model_free(model);
}

/** An interrupt that woke the vCPU: from that, and its waker, to where the sleep began. */
static void test_path_interrupt(void **state)
{
	struct virt_model *model = make_model();

	(void)state;
	web_7[1].wake = 1;
	web_7[2].start_ns = 60;
	IS_PATH(model, WEB_7, 15, 62,
		{ 0, 15, 20, VIRT_WHY_GUEST, "", 0, NONE, NONE, WEB_7 },
		{ 0, 20, 45, VIRT_WHY_GUEST, "", 2, NONE, NONE, DB_5 },
		{ 0, 45, 50, VIRT_WHY_WAKING, "", 0, NONE, NONE, VIRT_FIRST_GUEST_TASK },
		{ 0, 50, 60, VIRT_WHY_GUEST, "", 0, NONE, NONE, VIRT_FIRST_GUEST_TASK },
		{ 0, 60, 62, VIRT_WHY_GUEST, "", 0, NONE, NONE, WEB_7 });
	web_7[1].wake = 0;
	web_7[2].start_ns = 40;
	virt_model_free(model);
}

/** Two that have woken each other at the same time: that leads nowhere, and ends. */
static void test_path_circle(void **state)
{
	struct virt_model *model = make_model();
	struct virt_life_wake by_7 = { 7, NONE, 0, VIRT_WAKE_TASK, 0 }, old = wakes[1];
	struct virt_life_interval was = web_8[1];

	(void)state;
	wakes[1] = by_7;
	web_8[1] = (struct virt_life_interval){ 10, 1, 1, VIRT_LIFE_BLOCKED, 0 };
	web_8[2].start_ns = 40;
	IS_PATH(model, WEB_7, 15, 45,
		{ 0, 15, 20, VIRT_WHY_GUEST, "", 0, NONE, NONE, WEB_7 },
		{ 0, 20, 40, VIRT_WHY_BLOCKED, "", WEB_7, NONE, NONE, NONE },
		{ 0, 40, 45, VIRT_WHY_WAKING, "", WEB_7, NONE, NONE, NONE });
	wakes[1] = old;
	web_8[1] = was;
	web_8[2].start_ns = 50;
	virt_model_free(model);
}

/** A task of a guest in "db": what the thread did that is its CPU, shown as its own. */
static void test_nested(void **state)
{
	static struct virt_life_interval of_3[] = {
		{ 0, NONE, 0, VIRT_LIFE_RUNS, 0 }, { 20, NONE, 0, VIRT_LIFE_PREEMPTED, 0 },
	};
	static struct virt_guest_run runs[] = {
		{ 0, 3, true }, { 20, 4, true }, { 95, NONE, true },
	};
	static struct virt_guest_cpu cpu = { NONE, runs, 3, 0 };
	static struct virt_life_interval of_4[] = { { 0, NONE, 0, VIRT_LIFE_UNKNOWN, 0 } };
	static struct virt_guest_task tasks[] = {
		{ 0, (char *)"n1:idle", NULL, 0, 0 }, { 3, (char *)"n1:a-3", of_3, 2, 0 },
		{ 4, (char *)"n1:b-4", of_4, 1, 0 },
	};
	int32_t threads[] = { DB_5 };
	struct virt_guest all[] = {
		both[0], both[1],
		{ .name = (char *)"n1", .end_ns = 95, .cpus = &cpu, .n_cpus = 1, .threads = threads,
		  .tasks = tasks, .n_tasks = 3 },
	};
	const struct virt_guests three = { .all = all, .n = 3 };
	int32_t a_3 = virt_guests_number(&three, 2, 1);
	struct virt_model *model = make_model();
	struct virt_why why;

	(void)state;
	assert_int_equal(virt_why_task(model, &three, a_3, 2, 30, LIMIT, &why), 0);
	assert_int_equal(a_3, DB_5 + 2);
	IS(&why,
	   { 0, 2, 5, VIRT_WHY_GUEST, "runs", 2, NONE, NONE, DB_5 + 2 },
	   { 0, 5, 15, VIRT_WHY_GUEST, "runs", 2, NONE, NONE, DB_5 + 2 },
	   { 0, 15, 20, VIRT_WHY_GUEST, "runs", 2, NONE, NONE, DB_5 + 2 },
	   { 0, 20, 30, VIRT_WHY_PREEMPTED, "guest cpu", DB_5 + 2, DB_5 + 3, NONE, NONE },
	   { 1, 20, 30, VIRT_WHY_TASK, "runs", DB_5 + 3, NONE, NONE, DB_5 + 3 },
	   { 2, 20, 30, VIRT_WHY_GUEST, "runs", 2, NONE, NONE, DB_5 });
	virt_model_free(model);
}

static void is_moment(const struct virt_why_moment *moment, enum virt_why_moment_kind kind,
		      int64_t from, int64_t to)
{
	assert_int_equal(moment->kind, kind);
	assert_int_equal(moment->from_ns, from);
	assert_int_equal(moment->to_ns, to);
	assert_int_equal(moment->cost_ns, to - from);
	assert_int_equal(moment->subject, WEB_7);
}

/** Waits in the guest and in the host are found alike; an exit goes up to the next entry. */
static void test_worst(void **state)
{
	struct virt_model *model = make_model();
	struct virt_why_moment moments[MOST];
	/* no task is paused; a dead one is not, either */
	unsigned int all = (1u << VIRT_WHY_M_N_KINDS) - 1;

	(void)state;
	assert_int_equal(virt_why_worst_of_task(model, &guests, WEB_7, 0, 100, all, moments,
						MOST), 5);
	is_moment(&moments[0], VIRT_WHY_M_BLOCKED, 20, 40);
	is_moment(&moments[1], VIRT_WHY_M_WAKE, 40, 60);
	is_moment(&moments[2], VIRT_WHY_M_STEAL, 5, 15);
	is_moment(&moments[3], VIRT_WHY_M_BLOCKED, 80, 90);
	is_moment(&moments[4], VIRT_WHY_M_EXIT, 65, 70);
	assert_int_equal(virt_why_worst_of_task(model, &guests, WEB_7, 6, 80,
						1u << VIRT_WHY_M_STEAL | 1u << VIRT_WHY_M_BLOCKED,
						moments, MOST), 1);
	is_moment(&moments[0], VIRT_WHY_M_BLOCKED, 20, 40);
	assert_int_equal(virt_why_worst_of_task(model, &guests, WEB_7, 0, 100, all, moments, 1), 1);
	assert_int_equal(virt_why_worst_of_task(model, &guests, DB_IDLE, 0, 100, all, moments,
						1), 0);
	virt_model_free(model);
}

static void test_at(void **state)
{
	struct virt_model *model = make_model();
	int64_t from, to;

	(void)state;
	assert_true(virt_why_task_at(model, &guests, WEB_7, 7, &from, &to));
	assert_int_equal(from, 5);
	assert_int_equal(to, 15);
	assert_true(virt_why_task_at(model, &guests, WEB_7, 61, &from, &to));
	assert_int_equal(from, 60);
	assert_int_equal(to, 65);
	assert_true(virt_why_task_at(model, &guests, WEB_8, 57, &from, &to));
	assert_int_equal(from, 50);
	assert_int_equal(to, 80);
	assert_true(virt_why_task_at(model, &guests, WEB_7, 94, &from, &to));
	assert_int_equal(to, 95);
	assert_false(virt_why_task_at(model, &guests, WEB_7, 95, &from, &to));
	assert_false(virt_why_task_at(model, &guests, WEB_7, -1, &from, &to));
	assert_false(virt_why_task_at(model, &guests, DB_IDLE, 5, &from, &to));
	virt_model_free(model);
}

static void test_wrong(void **state)
{
	struct virt_model *model = make_model();
	struct virt_why why;

	(void)state;
	assert_int_equal(virt_why_task(model, &guests, DB_IDLE, 0, 9, LIMIT, &why), -EINVAL);
	assert_int_equal(virt_why_task(model, &guests, 0, 0, 9, LIMIT, &why), -EINVAL);
	assert_int_equal(virt_why_task(model, NULL, WEB_7, 0, 9, LIMIT, &why), -EINVAL);
	assert_int_equal(virt_why_task(model, &guests, WEB_7, 100, 200, LIMIT, &why), -EINVAL);
	assert_int_equal(virt_why_task(model, &guests, WEB_7, 0, 100, 3, &why), -E2BIG);
	assert_int_equal(virt_why_path(model, &guests, WEB_7, 0, 100, 3, &why), -E2BIG);
	assert_int_equal(virt_why_path(model, &guests, VIRT_NONE, 0, 100, 3, &why), -EINVAL);
	assert_int_equal(virt_why_path(model, NULL, WEB_7, 0, 100, 3, &why), -EINVAL);
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs), cmocka_unit_test(test_woken),
		cmocka_unit_test(test_interrupt), cmocka_unit_test(test_waits),
		cmocka_unit_test(test_vcpus), cmocka_unit_test(test_path),
		cmocka_unit_test(test_path_interrupt), cmocka_unit_test(test_path_circle),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_worst),
		cmocka_unit_test(test_at), cmocka_unit_test(test_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
