// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_wakes.c
 * @brief	What ends the sleep of a KVM vCPU, of records made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "kvm_records.h"

#define NONE		VIRT_NONE
#define UNINTERRUPTED	2	/* TASK_UNINTERRUPTIBLE */

/** What ended a wait. */
struct expected_wake {
	enum virt_wake_cause cause;
	const char	*who;
	int		vector;
};

/** The waits of a thread, one by one. */
static void check_wakes(const struct virt_model *model, int32_t pid,
			const struct expected_wake *expected, size_t n)
{
	struct virt_interval_range range = virt_vcpu_intervals(
		model, virt_model_find_vcpu(model, pid), INT64_MIN, INT64_MAX);
	size_t found = 0;

	for (size_t i = 0; i < range.n; i++) {
		const struct virt_wake *wake = virt_model_wake(model, range.first[i].detail);

		if (range.first[i].state != VIRT_BLOCKED)
			continue;
		assert_true(found < n);
		if ((wake ? wake->cause : VIRT_WAKE_UNKNOWN) != expected[found].cause)
			print_message("wait %zu, at %lld\n", found,
				      (long long)range.first[i].start_ns);
		assert_int_equal(wake ? wake->cause : VIRT_WAKE_UNKNOWN, expected[found].cause);
		assert_int_equal(wake ? wake->vector : NONE, expected[found].vector);
		if (expected[found].who)
			assert_string_equal(virt_model_who(model, wake->who), expected[found].who);
		else
			assert_int_equal(wake ? wake->who : NONE, NONE);
		found++;
	}
	assert_int_equal(found, n);
}

#define CHECK_WAKES(model, pid, ...) do {						\
	static const struct expected_wake expected_[] = { __VA_ARGS__ };		\
											\
	check_wakes(model, pid, expected_, sizeof(expected_) / sizeof(expected_[0]));	\
} while (0)

/** Thread @t_ of vCPU @v_ enters its guest on its CPU, asks to wait, and sleeps. */
#define HALT(time_, cpu_, t_, v_)							\
	{ (time_), cpu_, KVM_ENTRY, t_, v_, 0 },					\
	{ (time_) + 1, cpu_, KVM_EXIT, t_, v_, HLT },					\
	{ (time_) + 2, cpu_, KVM_SWITCH, t_, IDLE, ASLEEP }

/** It gets its CPU again. */
#define RUN(time_, cpu_, t_)	{ (time_), cpu_, KVM_SWITCH, IDLE, t_, RUNS }

/** Its own timer, another vCPU's IPI, a device. */
static void test_causes(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 0, 1, KVM_SWITCH, IDLE, 101, RUNS },
		{ 0, 2, KVM_SWITCH, IDLE, 60, RUNS },
		{ 5, 1, KVM_ENTRY, 101, 1, 0 },
		HALT(10, 0, 100, 0),
		/* the timer has expired in the host; the vCPU delivers it to itself */
		{ 20, 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 },
		RUN(21, 0, 100),
		{ 22, 0, KVM_ACCEPT, 100, 0, 0xec },
		{ 23, 0, KVM_INJECT, 100, NONE, 0xec },
		HALT(30, 0, 100, 0),
		/* the record is on the CPU of the woken thread, without a waker there */
		{ 40, 1, KVM_EXIT, 101, 1, INTR },
		{ 41, 1, KVM_IPI, 101, NONE, 0 },
		{ 42, 1, KVM_ACCEPT, 101, 0, 0xfd },
		{ 43, 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 },
		RUN(44, 0, 100),
		/* too late to have ended anything */
		{ 45, 0, KVM_ACCEPT, 100, 0, 0xec },
		{ 46, 2, KVM_IRQ_LINE, 60, NONE, 0 },
		{ 46, 2, KVM_ACCEPT, 60, 0, 0x22 },
		{ 47, 0, KVM_INJECT, 100, NONE, 0xfd },
		HALT(50, 0, 100, 0),
		/* a device; of the second interrupt, the vCPU is awake already */
		{ 60, 2, KVM_IRQ_LINE, 60, NONE, 0 },
		{ 61, 2, KVM_ACCEPT, 60, 0, 0x22 },
		{ 62, 2, KVM_ACCEPT, 60, 0, 0x23 },
		{ 63, 2, KVM_WAKEUP, 60, 100, 0 },
		RUN(64, 0, 100),
		HALT(70, 0, 100, 0),
		/* a device that interrupts the host: not caused by the task on that CPU */
		{ 80, 2, IN_IRQ(KVM_IRQ_LINE), 60, NONE, 0 },
		{ 81, 2, IN_IRQ(KVM_ACCEPT), 60, 0, 0x24 },
		{ 82, 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 },
		RUN(83, 0, 100),
		HALT(90, 0, 100, 0),
		/* the monitor, on the thread of the other vCPU */
		{ 100, 1, KVM_USERSPACE_EXIT, 101, 2, 0 },
		{ 101, 1, KVM_ACCEPT, 101, 0, 0x25 },
		{ 102, 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 },
		RUN(103, 0, 100),
		HALT(110, 0, 100, 0),
		/* an NMI has no vector; that KVM has a line for it is nothing of the next one's */
		{ 120, 1, KVM_IRQ_LINE, 101, NONE, 0 },
		{ 121, 1, KVM_ENTRY, 101, 1, 0 },
		{ 122, 1, KVM_EXIT, 101, 1, INTR },
		{ 123, 1, KVM_ACCEPT, 101, 0, NONE },
		{ 124, 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 },
		RUN(125, 0, 100),
		HALT(130, 0, 100, 0),
	};
	struct virt_model *model = TRACK(records, 0, 200);

	(void)state;
	CHECK_WAKES(model, 100, { VIRT_WAKE_TIMER, NULL, 0xec }, { VIRT_WAKE_VCPU, "g1v1", 0xfd },
		    { VIRT_WAKE_DEVICE, "task-60", 0x22 }, { VIRT_WAKE_DEVICE, NULL, 0x24 },
		    { VIRT_WAKE_DEVICE, "g1v1", 0x25 }, { VIRT_WAKE_VCPU, "g1v1", NONE },
		    /* it sleeps when the trace ends */
		    { VIRT_WAKE_UNKNOWN, NULL, NONE });
	assert_null(virt_model_contradictions(model, 0, NULL));
	virt_model_free(model);
}

/** Nothing was sent: who wakes it, and what it enters its guest with. */
static void test_wakers(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 0, 1, KVM_SWITCH, IDLE, 101, RUNS },
		{ 0, 2, KVM_SWITCH, IDLE, 60, RUNS },
		{ 5, 1, KVM_ENTRY, 101, 1, 0 },
		HALT(10, 0, 100, 0),
		/* a task; a timer that has expired before has not woken it */
		{ 20, 2, KVM_WAKEUP, 60, 100, 0 },
		RUN(21, 0, 100),
		{ 22, 0, KVM_ACCEPT, 100, 0, 0xec },
		HALT(30, 0, 100, 0),
		/* another vCPU, without an interrupt that is recorded */
		{ 40, 1, KVM_EXIT, 101, 1, INTR },
		{ 41, 1, KVM_WAKEUP, 101, 100, 0 },
		RUN(42, 0, 100),
		HALT(50, 0, 100, 0),
		/* the monitor, on that one's thread */
		{ 60, 1, KVM_USERSPACE_EXIT, 101, 2, 0 },
		{ 61, 1, KVM_WAKEUP, 101, 100, 0 },
		RUN(62, 0, 100),
		HALT(70, 0, 100, 0),
		/* the waker counts, not where the wake-up is completed */
		{ 80, 2, KVM_WAKING, 60, 100, 0 },
		{ 81, 1, KVM_WAKING, 101, 100, 0 },
		{ 82, 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 },
		RUN(83, 0, 100),
		HALT(90, 0, 100, 0),
		/* in an interrupt of the host, which is not the task's that it came upon */
		{ 100, 2, IN_IRQ(KVM_WAKING), 60, 100, 0 },
		{ 101, 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 },
		RUN(102, 0, 100),
		HALT(110, 0, 100, 0),
		/* no one; then the vector shows something */
		{ 120, 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 },
		RUN(121, 0, 100),
		{ 122, 0, KVM_INJECT, 100, NONE, NONE },
		{ 123, 0, KVM_INJECT, 100, NONE, 0xec },
		{ 124, 0, KVM_INJECT, 100, NONE, 0xed },
		HALT(130, 0, 100, 0),
		{ 140, 0, KVM_WAKEUP, IDLE, 100, 0 },
		RUN(141, 0, 100),
		HALT(150, 0, 100, 0),
		/* its own vector is a better word than that it was in an interrupt */
		{ 160, 2, IN_IRQ(KVM_WAKING), 60, 100, 0 },
		{ 161, 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 },
		RUN(162, 0, 100),
		{ 163, 0, KVM_ACCEPT, 100, 0, 0xec },
		/* it is in its guest: of no wait any more */
		{ 165, 0, KVM_ENTRY, 100, 0, 0 },
		{ 166, 0, KVM_EXIT, 100, 0, INTR },
		{ 167, 0, KVM_ACCEPT, 100, 0, 0xee },
	};
	struct virt_model *model = TRACK(records, 0, 200);

	(void)state;
	CHECK_WAKES(model, 100, { VIRT_WAKE_TASK, "task-60", NONE },
		    { VIRT_WAKE_VCPU, "g1v1", NONE }, { VIRT_WAKE_TASK, "g1v1", NONE },
		    { VIRT_WAKE_TASK, "task-60", NONE }, { VIRT_WAKE_INTERRUPT, NULL, NONE },
		    { VIRT_WAKE_INTERRUPT, NULL, 0xec }, { VIRT_WAKE_UNKNOWN, NULL, NONE },
		    { VIRT_WAKE_TIMER, NULL, 0xec });
	virt_model_free(model);
}

/** The record of a wake-up on the CPU that the thread then gets. */
#define WOKEN(time_)								\
	{ (time_), 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 }, RUN((time_) + 1, 0, 100)

/** arm64: the vCPU that a shared interrupt is for is the one that is woken next. */
static void test_shared_lines(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 0, 2, KVM_SWITCH, IDLE, 60, RUNS },
		HALT(10, 0, 100, 0),
		{ 20, 2, KVM_IRQ_LINE, 60, NONE, KVM_LINE_OF_WOKEN },
		{ 21, 2, KVM_WAKING, 60, 100, 0 },
		WOKEN(22),
		HALT(30, 0, 100, 0),
		/* the line was used up */
		{ 40, 2, KVM_WAKING, 60, 100, 0 },
		WOKEN(41),
		HALT(50, 0, 100, 0),
		/* in an interrupt, which the task there has nothing to do with */
		{ 60, 2, IN_IRQ(KVM_IRQ_LINE), 60, NONE, KVM_LINE_OF_WOKEN },
		{ 61, 2, IN_IRQ(KVM_WAKING), 60, 100, 0 },
		WOKEN(62),
		HALT(70, 0, 100, 0),
		/* in an interrupt, and the task wakes it */
		{ 80, 2, IN_IRQ(KVM_IRQ_LINE), 60, NONE, KVM_LINE_OF_WOKEN },
		{ 81, 2, KVM_WAKING, 60, 100, 0 },
		WOKEN(82),
		HALT(90, 0, 100, 0),
		/* the thread has left its CPU in between */
		{ 100, 2, KVM_IRQ_LINE, 60, NONE, KVM_LINE_OF_WOKEN },
		{ 101, 2, KVM_SWITCH, 60, 61, RUNS },
		{ 102, 2, KVM_SWITCH, 61, 60, RUNS },
		{ 103, 2, KVM_WAKING, 60, 100, 0 },
		WOKEN(104),
		HALT(110, 0, 100, 0),
		/* a line whose vCPU another record shows, as on x86 */
		{ 120, 2, KVM_IRQ_LINE, 60, NONE, 0 },
		{ 121, 2, KVM_WAKING, 60, 100, 0 },
		WOKEN(122),
		HALT(130, 0, 100, 0),
	};
	struct virt_model *model = TRACK(records, 0, 200);

	(void)state;
	CHECK_WAKES(model, 100, { VIRT_WAKE_DEVICE, "task-60", NONE },
		    { VIRT_WAKE_TASK, "task-60", NONE }, { VIRT_WAKE_DEVICE, NULL, NONE },
		    { VIRT_WAKE_TASK, "task-60", NONE }, { VIRT_WAKE_TASK, "task-60", NONE },
		    { VIRT_WAKE_TASK, "task-60", NONE }, { VIRT_WAKE_UNKNOWN, NULL, NONE });
	virt_model_free(model);
}

/** It sleeps again without guest code; an exit or a new wish makes that no such case. */
static void test_spurious(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 0, 2, KVM_SWITCH, IDLE, 60, RUNS },
		HALT(10, 0, 100, 0),
		{ 20, 2, KVM_WAKEUP, 60, 100, 0 },
		RUN(21, 0, 100),
		{ 22, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
		{ 30, 2, KVM_ACCEPT, 60, 0, 0x22 },
		{ 31, 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 },
		RUN(32, 0, 100),
		/* an interrupt that the guest does not take now; what it takes comes later */
		{ 33, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
		{ 40, 2, KVM_ACCEPT, 60, 0, 0x23 },
		{ 41, 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 },
		RUN(42, 0, 100),
		/* a lock in the kernel: what the guest waited for has come */
		{ 43, 0, KVM_SWITCH, 100, IDLE, UNINTERRUPTED },
		{ 50, 2, KVM_WAKEUP, 60, 100, 0 },
		RUN(51, 0, 100),
		HALT(60, 0, 100, 0),
	};
	struct virt_model *model;

	(void)state;
	enabled_kinds = ENABLED(MONITOR);
	model = TRACK(records, 0, 100);
	enabled_kinds = 0;
	CHECK_WAKES(model, 100, { VIRT_WAKE_SPURIOUS, "task-60", NONE },
		    { VIRT_WAKE_SPURIOUS, "task-60", 0x22 }, { VIRT_WAKE_DEVICE, "task-60", 0x23 },
		    { VIRT_WAKE_TASK, "task-60", NONE }, { VIRT_WAKE_UNKNOWN, NULL, NONE });
	virt_model_free(model);
}

/** A wait of the monitor's: no interrupt ends it, and none that comes is its cause. */
static void test_unasked(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 0, 2, KVM_SWITCH, IDLE, 60, RUNS },
		{ 10, 0, KVM_ENTRY, 100, 0, 0 },
		{ 11, 0, KVM_EXIT, 100, 0, IOIO },
		{ 12, 0, KVM_USERSPACE_EXIT, 100, 2, 0 },
		{ 13, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
		{ 20, 2, KVM_ACCEPT, 60, 0, 0x22 },
		{ 21, 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 },
		RUN(22, 0, 100),
		{ 23, 0, KVM_ACCEPT, 100, 0, 0xec },
		{ 24, 0, KVM_INJECT, 100, NONE, 0x22 },
		{ 30, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
		{ 40, 2, KVM_WAKEUP, 60, 100, 0 },
		RUN(41, 0, 100),
		{ 50, 0, KVM_ENTRY, 100, 0, 0 },
	};
	struct virt_model *model = TRACK(records, 0, 100);

	(void)state;
	CHECK_WAKES(model, 100, { VIRT_WAKE_UNKNOWN, NULL, NONE },
		    { VIRT_WAKE_TASK, "task-60", NONE });
	virt_model_free(model);
}

/** Two machines with a vCPU 0 each: a task's interrupt belongs to the vCPU that it wakes itself. */
static void test_machines(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 0, 1, KVM_SWITCH, IDLE, 200, RUNS },
		{ 0, 2, KVM_SWITCH, IDLE, 60, RUNS },
		{ 0, 3, KVM_SWITCH, IDLE, 101, RUNS },
		{ 5, 3, KVM_ENTRY, 101, 1, 0 },
		HALT(10, 0, 100, 0), HALT(10, 1, 200, 0),
		/* sent to one of them, and no record shows to which */
		{ 20, 2, KVM_ACCEPT, 60, 0, 0x22 },
		{ 21, 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 },
		RUN(22, 0, 100),
		/* and it was not this one: another task does it */
		{ 23, 1, IN_IRQ(KVM_WAKEUP), IDLE, 200, 0 },
		RUN(24, 1, 200),
		HALT(30, 0, 100, 0), HALT(30, 1, 200, 0),
		{ 40, 2, KVM_ACCEPT, 60, 0, 0x22 },
		{ 41, 2, KVM_WAKING, 60, 200, 0 },
		{ 42, 1, IN_IRQ(KVM_WAKEUP), IDLE, 200, 0 },
		RUN(43, 1, 200),
		/* what is used up is not used again */
		{ 44, 2, KVM_WAKING, 60, 100, 0 },
		{ 45, 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 },
		RUN(46, 0, 100),
		HALT(50, 0, 100, 0), HALT(50, 1, 200, 0),
		/* a vCPU's IPI stays in its machine */
		{ 60, 3, KVM_EXIT, 101, 1, INTR },
		{ 61, 3, KVM_IPI, 101, NONE, 0 },
		{ 62, 3, KVM_ACCEPT, 101, 0, 0xfd },
		{ 63, 1, IN_IRQ(KVM_WAKEUP), IDLE, 200, 0 },
		RUN(64, 1, 200),
		{ 65, 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 },
		RUN(66, 0, 100),
		{ 67, 1, KVM_ENTRY, 200, 0, 0 },
		{ 68, 0, KVM_ENTRY, 100, 0, 0 },
		/* a number without a vCPU */
		{ 70, 3, KVM_ACCEPT, 101, 7, 0xfd },
	};
	struct virt_model *model = TRACK(records, 0, 100);

	(void)state;
	assert_int_equal(virt_model_n_machines(model), 2);
	CHECK_WAKES(model, 100, { VIRT_WAKE_UNKNOWN, NULL, NONE },
		    { VIRT_WAKE_TASK, "task-60", NONE }, { VIRT_WAKE_VCPU, "g1v1", 0xfd });
	CHECK_WAKES(model, 200, { VIRT_WAKE_UNKNOWN, NULL, NONE },
		    { VIRT_WAKE_DEVICE, "task-60", 0x22 }, { VIRT_WAKE_UNKNOWN, NULL, NONE });
	virt_model_free(model);
}

/** What was sent before records were lost is of no use after it. */
static void test_lost(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 0, 2, KVM_SWITCH, IDLE, 60, RUNS },
		HALT(10, 0, 100, 0),
		{ 20, 2, KVM_ACCEPT, 60, 0, 0x22 },
		{ 30, 2, KVM_LOST, 60, 0, 5 },
		{ 40, 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 },
		RUN(41, 0, 100),
		{ 42, 0, KVM_ACCEPT, 100, 0, 0xec },
		HALT(50, 0, 100, 0),
		{ 60, 0, IN_IRQ(KVM_WAKEUP), IDLE, 100, 0 },
		RUN(61, 0, 100),
		{ 62, 0, KVM_ENTRY, 100, 0, 0 },
	};
	struct virt_model *model = TRACK(records, 0, 100);

	(void)state;
	/* the first one ends in the loss, and another begins when all is there again */
	CHECK_WAKES(model, 100, { VIRT_WAKE_UNKNOWN, NULL, NONE },
		    { VIRT_WAKE_UNKNOWN, NULL, NONE }, { VIRT_WAKE_UNKNOWN, NULL, NONE });
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_causes),
		cmocka_unit_test(test_wakers),
		cmocka_unit_test(test_shared_lines),
		cmocka_unit_test(test_spurious),
		cmocka_unit_test(test_unasked),
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
