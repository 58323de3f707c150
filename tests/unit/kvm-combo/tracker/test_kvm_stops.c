// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_stops.c
 * @brief	Machines that their monitor stops: all of them or one vCPU, at last or for a while.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "kvm_records.h"

#define MMIO		6	/* KVM_EXIT_... of Linux's include/uapi/linux/kvm.h */
#define SIGNAL		10
#define NONE		(-1)
#define MONITOR		90	/* the monitor's main loop */

/** Two vCPUs. The monitor calls both back, and they go to sleep, one later than the other. */
#define BOTH_STOPPED							\
	{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },				\
	{ 0, 1, KVM_SWITCH, IDLE, 101, RUNS },				\
	{ 10, 0, KVM_RUN, 100, 0, 1 },					\
	{ 11, 0, KVM_ENTRY, 100, 0, 0 },				\
	{ 12, 1, KVM_RUN, 101, 0, 1 },					\
	{ 13, 1, KVM_ENTRY, 101, 1, 0 },				\
	{ 30, 0, KVM_EXIT, 100, 0, INTR },				\
	{ 31, 0, KVM_RUN, 100, 0, 0 },					\
	{ 32, 0, KVM_USERSPACE_EXIT, 100, SIGNAL, 0 },			\
	{ 35, 0, KVM_SWITCH, 100, IDLE, ASLEEP },			\
	{ 40, 1, KVM_EXIT, 101, 1, INTR },				\
	{ 41, 1, KVM_RUN, 101, 0, 0 },					\
	{ 42, 1, KVM_USERSPACE_EXIT, 101, SIGNAL, 0 },			\
	{ 45, 1, KVM_SWITCH, 101, IDLE, ASLEEP }

/** Paused, asked something, and resumed: one enters its guest, the other sleeps on in KVM. */
static void test_paused(void **state)
{
	static const struct record records[] = {
		BOTH_STOPPED,
		{ 60, 2, KVM_WAKEUP, MONITOR, 100, 0 },
		{ 62, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 64, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
		{ 80, 2, KVM_WAKEUP, MONITOR, 101, 0 },
		{ 81, 1, KVM_SWITCH, IDLE, 101, RUNS },
		{ 82, 1, KVM_RUN, 101, 0, 1 },
		{ 84, 1, KVM_SWITCH, 101, IDLE, ASLEEP },
		{ 85, 2, KVM_WAKEUP, MONITOR, 100, 0 },
		{ 86, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 87, 0, KVM_RUN, 100, 0, 1 },
		{ 88, 0, KVM_ENTRY, 100, 0, 0 },
		{ 95, 2, KVM_WAKEUP, MONITOR, 101, 0 },
	};
	static const struct expected first[] = {
		{ 0, VIRT_HYPERVISOR, 0, NULL, 0 },
		{ 11, VIRT_GUEST, 0, NULL, 0 },
		{ 30, VIRT_HYPERVISOR, 0, "INTR", EXIT },
		{ 32, VIRT_VMM, 0, "INTR", 0 },
		/* the other one runs: it may be only this one that is wanted */
		{ 35, VIRT_BLOCKED, 0, NULL, 0 },
		{ 42, VIRT_OFFLINE, 0, NULL, 0 },
		{ 60, VIRT_WAKING, 0, NULL, 0 },
		{ 62, VIRT_VMM, 0, "INTR", 0 },
		{ 64, VIRT_OFFLINE, 0, NULL, 0 },
		{ 85, VIRT_WAKING, 0, NULL, 0 },
		{ 86, VIRT_VMM, 0, "INTR", 0 },
		{ 88, VIRT_GUEST, 0, NULL, 0 },
	};
	static const struct expected second[] = {
		{ 0, VIRT_HYPERVISOR, 1, NULL, 0 },
		{ 13, VIRT_GUEST, 1, NULL, 0 },
		{ 40, VIRT_HYPERVISOR, 1, "INTR", EXIT },
		{ 42, VIRT_VMM, 1, "INTR", 0 },
		{ 45, VIRT_OFFLINE, 1, NULL, 0 },
		{ 80, VIRT_WAKING, 1, NULL, 0 },
		{ 81, VIRT_VMM, 1, "INTR", 0 },
		/* in KVM, as its guest was halted */
		{ 84, VIRT_BLOCKED, 1, NULL, 0 },
		{ 95, VIRT_WAKING, 1, NULL, 0 },
	};
	struct virt_model *model = TRACK(records, 0, 100);

	(void)state;
	assert_int_equal(virt_model_n_machines(model), 1);
	CHECK(model, 100, first);
	CHECK(model, 101, second);
	virt_model_free(model);
}

/** One is called back for a moment, and the other one later: their machine is not stopped. */
static void test_one_alone(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 0, 1, KVM_SWITCH, IDLE, 101, RUNS },
		{ 10, 0, KVM_ENTRY, 100, 0, 0 },
		{ 10, 1, KVM_ENTRY, 101, 1, 0 },
		{ 20, 0, KVM_EXIT, 100, 0, INTR },
		{ 21, 0, KVM_USERSPACE_EXIT, 100, NONE, -4 },
		{ 25, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
		{ 35, 2, KVM_WAKEUP, MONITOR, 100, 0 },
		{ 36, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 37, 0, KVM_RUN, 100, 0, 1 },
		{ 38, 0, KVM_ENTRY, 100, 0, 0 },
		{ 50, 1, KVM_EXIT, 101, 1, INTR },
		{ 51, 1, KVM_USERSPACE_EXIT, 101, SIGNAL, 0 },
		{ 55, 1, KVM_SWITCH, 101, IDLE, ASLEEP },
		/* what a device is asked for is no stop */
		{ 60, 0, KVM_EXIT, 100, 0, IOIO },
		{ 61, 0, KVM_USERSPACE_EXIT, 100, MMIO, 0 },
		{ 65, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
	};
	struct virt_model *model = TRACK(records, 0, 100);
	struct virt_totals totals;

	(void)state;
	for (int32_t pid = 100; pid <= 101; pid++) {
		virt_vcpu_totals(model, virt_model_find_vcpu(model, pid), 0, 100, &totals);
		assert_int_equal(totals.ns[VIRT_OFFLINE], 0);
		assert_int_equal(totals.ns[VIRT_BLOCKED], pid == 100 ? 10 + 35 : 45);
	}
	virt_model_free(model);
}

/** A signal or a debugger stops the thread of a vCPU, which few events show, too. */
static void test_by_signal(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 0, 1, KVM_SWITCH, IDLE, 101, RUNS },
		{ 10, 0, KVM_ENTRY, 100, 0, 0 },
		{ 10, 1, KVM_ENTRY, 101, 1, 0 },
		{ 20, 0, KVM_EXIT, 100, 0, INTR },
		{ 25, 0, KVM_SWITCH, 100, IDLE, STOPPED },
		{ 80, 2, KVM_WAKEUP, MONITOR, 100, 0 },
		{ 85, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 86, 0, KVM_ENTRY, 100, 0, 0 },
	};
	static const struct expected first[] = {
		{ 0, VIRT_HYPERVISOR, 0, NULL, 0 },
		{ 10, VIRT_GUEST, 0, NULL, 0 },
		{ 20, VIRT_HYPERVISOR, 0, "INTR", EXIT },
		{ 25, VIRT_OFFLINE, 0, NULL, VIRT_INTERVAL_SIGNAL },
		{ 80, VIRT_WAKING, 0, NULL, 0 },
		{ 85, VIRT_HYPERVISOR, 0, "INTR", 0 },
		{ 86, VIRT_GUEST, 0, NULL, 0 },
	};
	struct virt_model *model = TRACK(records, 0, 100);
	struct virt_totals totals;

	(void)state;
	CHECK(model, 100, first);
	virt_vcpu_totals(model, virt_model_find_vcpu(model, 101), 0, 100, &totals);
	assert_int_equal(totals.ns[VIRT_GUEST], 90);
	virt_model_free(model);
}

/** Saved: the last thread ends, and with it the machine. Lost records do not show that. */
static void test_saved(void **state)
{
	static const struct record records[] = {
		BOTH_STOPPED,
		{ 60, 2, KVM_WAKEUP, MONITOR, 101, 0 },
		{ 61, 1, KVM_SWITCH, IDLE, 101, RUNS },
		{ 62, 1, KVM_SWITCH, 101, IDLE, DEAD },
	};
	static const struct expected first[] = {
		{ 0, VIRT_HYPERVISOR, 0, NULL, 0 },
		{ 11, VIRT_GUEST, 0, NULL, 0 },
		{ 30, VIRT_HYPERVISOR, 0, "INTR", EXIT },
		{ 32, VIRT_VMM, 0, "INTR", 0 },
		{ 35, VIRT_BLOCKED, 0, NULL, 0 },
		{ 42, VIRT_OFFLINE, 0, NULL, 0 },
	};
	static const struct record lost[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 10, 0, KVM_RUN, 100, 0, 1 },
		{ 11, 0, KVM_ENTRY, 100, 0, 0 },
		{ 30, 0, KVM_EXIT, 100, 0, INTR },
		{ 32, 0, KVM_USERSPACE_EXIT, 100, SIGNAL, 0 },
		{ 35, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
		{ 40, 0, KVM_LOST, IDLE, 0, 5 },
		{ 50, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 60, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
	};
	struct virt_model *model = TRACK(records, 0, 100);
	struct virt_totals totals;

	(void)state;
	CHECK(model, 100, first);
	virt_vcpu_totals(model, virt_model_find_vcpu(model, 101), 0, 100, &totals);
	assert_int_equal(totals.ns[VIRT_OFFLINE], 60 - 45 + 100 - 62);
	virt_model_free(model);

	model = TRACK(lost, 0, 100);
	/* records are missing right behind the switch at 35: it may have been resumed since */
	virt_vcpu_totals(model, 0, 0, 100, &totals);
	assert_int_equal(totals.ns[VIRT_OFFLINE], 1);
	assert_int_equal(totals.ns[VIRT_BLOCKED], 40);
	virt_model_free(model);
}

/** A machine that is to be restored: its vCPUs are there, and not let into KVM before all is. */
static void test_restored(void **state)
{
	static const struct record records[] = {
		{ 0, 2, KVM_SWITCH, IDLE, MONITOR, RUNS },
		{ 10, 2, KVM_BORN, MONITOR, 100, 0 },
		{ 12, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 15, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
		{ 20, 2, KVM_BORN, MONITOR, 101, 0 },
		{ 22, 1, KVM_SWITCH, IDLE, 101, RUNS },
		{ 25, 1, KVM_SWITCH, 101, IDLE, ASLEEP },
		{ 60, 2, KVM_WAKEUP, MONITOR, 100, 0 },
		{ 61, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 62, 0, KVM_RUN, 100, 0, 1 },
		{ 63, 0, KVM_ENTRY, 100, 0, 0 },
		{ 70, 2, KVM_WAKEUP, MONITOR, 101, 0 },
		{ 71, 1, KVM_SWITCH, IDLE, 101, RUNS },
		{ 72, 1, KVM_RUN, 101, 0, 1 },
		{ 73, 1, KVM_ENTRY, 101, 1, 0 },
		{ 90, 1, KVM_EXIT, 101, 1, INTR },
	};
	static const struct expected first[] = {
		{ 0, VIRT_OFFLINE, -1, NULL, 0 },
		{ 10, VIRT_WAKING, -1, NULL, 0 },
		{ 12, VIRT_VMM, 0, NULL, 0 },
		{ 15, VIRT_BLOCKED, 0, NULL, 0 },
		{ 20, VIRT_OFFLINE, 0, NULL, 0 },
		{ 60, VIRT_WAKING, 0, NULL, 0 },
		{ 61, VIRT_VMM, 0, NULL, 0 },
		{ 63, VIRT_GUEST, 0, NULL, 0 },
	};
	static const struct expected second[] = {
		{ 0, VIRT_OFFLINE, -1, NULL, 0 },
		{ 20, VIRT_WAKING, -1, NULL, 0 },
		{ 22, VIRT_VMM, 1, NULL, 0 },
		{ 25, VIRT_OFFLINE, 1, NULL, 0 },
		{ 70, VIRT_WAKING, 1, NULL, 0 },
		{ 71, VIRT_VMM, 1, NULL, 0 },
		{ 73, VIRT_GUEST, 1, NULL, 0 },
		{ 90, VIRT_HYPERVISOR, 1, "INTR", EXIT },
	};
	struct virt_model *model = TRACK(records, 0, 100);

	(void)state;
	CHECK(model, 100, first);
	CHECK(model, 101, second);
	virt_model_free(model);
}

/** Without KVM_RUN, a vCPU may be back in the kernel at any time: then it is only blocked. */
static void test_without_runs(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 10, 0, KVM_ENTRY, 100, 0, 0 },
		{ 20, 0, KVM_EXIT, 100, 0, INTR },
		{ 21, 0, KVM_USERSPACE_EXIT, 100, SIGNAL, 0 },
		{ 25, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
	};
	struct virt_model *model = TRACK(records, 0, 100);
	struct virt_totals totals;

	(void)state;
	virt_vcpu_totals(model, 0, 0, 100, &totals);
	assert_int_equal(totals.ns[VIRT_OFFLINE], 0);
	assert_int_equal(totals.ns[VIRT_BLOCKED], 75);
	virt_model_free(model);
}

/** A thread without records sleeps on: it is unknown whether its guest wanted that. */
static void test_no_guess(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 5, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
		{ 20, 2, KVM_WAKING, MONITOR, 100, 0 },
		{ 21, 2, KVM_WAKEUP, MONITOR, 100, 0 },
		{ 22, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 25, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
		{ 40, 2, KVM_WAKING, MONITOR, 100, 0 },
		{ 41, 2, KVM_WAKEUP, MONITOR, 100, 0 },
		{ 42, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 45, 0, KVM_ENTRY, 100, 0, 0 },
	};
	struct virt_model *model = TRACK(records, 0, 100);

	(void)state;
	for (int64_t time = 10; time <= 30; time += 20) {
		const struct virt_interval *wait = virt_vcpu_at(model, 0, time, NULL);

		assert_int_equal(wait->state, VIRT_BLOCKED);
		assert_int_equal(virt_model_wake(model, wait->detail)->cause, VIRT_WAKE_TASK);
	}
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paused),
		cmocka_unit_test(test_one_alone),
		cmocka_unit_test(test_by_signal),
		cmocka_unit_test(test_saved),
		cmocka_unit_test(test_restored),
		cmocka_unit_test(test_without_runs),
		cmocka_unit_test(test_no_guess),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
