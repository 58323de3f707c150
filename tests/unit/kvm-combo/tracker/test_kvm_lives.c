// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_lives.c
 * @brief	vCPUs that go on as another thread: of machines that are restored, or migrated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "kvm_records.h"
#include "virt_vcpu_lives.h"

#define SIGNAL		10	/* KVM_EXIT_INTR */

static struct virt_model *track_lives(const struct record *records, size_t n, int64_t end)
{
	static const int32_t web[] = { 100, 101 };
	struct kvm_tracker *tracker = kvm_tracker_new();
	struct virt_model *model = NULL;

	kvm_tracker_expect(tracker, ENABLED(WAKEUP));
	assert_int_equal(kvm_tracker_add_guest(tracker, "web", web, 2), 0);
	assert_int_equal(kvm_tracker_add_thread(tracker, 100, 90), 0);
	assert_int_equal(kvm_tracker_continue(tracker, 100, 200), 0);
	assert_int_equal(kvm_tracker_continue(tracker, 101, 201), 0);
	assert_int_equal(kvm_tracker_continue(tracker, 200, 300), 0);
	assert_int_equal(kvm_tracker_add_thread(tracker, 200, 190), 0);
	assert_int_equal(kvm_tracker_add_thread(tracker, 190, 190), 0);
	assert_int_equal(kvm_tracker_name(tracker, 190, "qemu-system-x86"), 0);
	assert_int_equal(kvm_tracker_continue(tracker, 0, 5), -EINVAL);
	assert_int_equal(kvm_tracker_continue(tracker, 100, 100), -EINVAL);
	assert_int_equal(kvm_tracker_continue(tracker, 200, 100), -EINVAL);
	for (int cpu = 0; cpu < 4; cpu++) {
		for (size_t i = 0; i < n; i++) {
			const struct kvm_event event = event_of(&records[i]);

			if (event.cpu == cpu)
				assert_int_equal(kvm_tracker_add(tracker, &event), 0);
		}
	}
	assert_int_equal(kvm_tracker_finish(tracker, 0, end, &model), 0);
	kvm_tracker_free(tracker);
	return model;
}

#define TRACK_LIVES(records, end) \
	track_lives(records, sizeof(records) / sizeof((records)[0]), end)

/** One vCPU: saved, its process ends; restored by another one, whose thread is busy before. */
static void test_restored(void **state)
{
	static const struct record records[] = {
		{ 0, 1, KVM_SWITCH, IDLE, 50, RUNS },
		{ 10, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 11, 0, KVM_ENTRY, 100, 0, 0 },
		{ 20, 0, KVM_EXIT, 100, 0, INTR },
		{ 22, 0, KVM_USERSPACE_EXIT, 100, SIGNAL, 0 },
		{ 30, 0, KVM_SWITCH, 100, IDLE, DEAD },
		/* it takes no pCPU from others yet */
		{ 40, 1, KVM_BORN, 50, 200, 0 },
		{ 50, 0, KVM_SWITCH, IDLE, 200, RUNS },
		{ 60, 0, KVM_SWITCH, 200, IDLE, ASLEEP },
		{ 70, 1, KVM_WAKEUP, 50, 200, 0 },
		{ 80, 0, KVM_SWITCH, IDLE, 200, RUNS },
		{ 90, 0, KVM_ENTRY, 200, 0, 0 },
		{ 95, 0, KVM_EXIT, 200, 0, HLT },
		{ 97, 0, KVM_SWITCH, 200, IDLE, ASLEEP },
	};
	static const struct record again[] = {
		{ 10, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 11, 0, KVM_ENTRY, 100, 0, 0 },
		{ 20, 0, KVM_EXIT, 100, 0, INTR },
		{ 20, 1, KVM_SWITCH, IDLE, 101, RUNS },
		{ 30, 0, KVM_SWITCH, 100, IDLE, DEAD },
		{ 31, 1, KVM_SWITCH, 101, IDLE, DEAD },
		{ 40, 0, KVM_SWITCH, IDLE, 200, RUNS },
		{ 41, 0, KVM_ENTRY, 200, 0, 0 },
		{ 40, 1, KVM_SWITCH, IDLE, 201, RUNS },
		{ 41, 1, KVM_ENTRY, 201, 1, 0 },
		{ 50, 1, KVM_EXIT, 201, 1, INTR },
		{ 50, 0, KVM_EXIT, 200, 0, INTR },
		{ 60, 0, KVM_SWITCH, 200, IDLE, DEAD },
		{ 61, 1, KVM_SWITCH, 201, IDLE, DEAD },
		{ 70, 0, KVM_SWITCH, IDLE, 300, RUNS },
		{ 71, 0, KVM_ENTRY, 300, 0, 0 },
		{ 72, 0, KVM_EXIT, 300, 0, INTR },
		{ 80, 0, KVM_SWITCH, 300, IDLE, DEAD },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_UNKNOWN, VIRT_NONE, NULL, 0 },
		{ 10, VIRT_HYPERVISOR, 0, NULL, 0 },
		{ 11, VIRT_GUEST, 0, NULL, 0 },
		{ 20, VIRT_HYPERVISOR, 0, "INTR", EXIT },
		{ 22, VIRT_VMM, 0, "INTR", 0 },
		{ 30, VIRT_OFFLINE, 0, NULL, 0 },
		{ 90, VIRT_GUEST, 0, NULL, 0 },
		{ 95, VIRT_HYPERVISOR, 0, "HLT", EXIT },
		{ 97, VIRT_BLOCKED, 0, NULL, 0 },
	};
	struct virt_model *model = TRACK_LIVES(records, 100);
	const struct virt_life *lives;
	size_t n;

	(void)state;
	assert_int_equal(virt_model_n_machines(model), 1);
	assert_int_equal(virt_model_n_vcpus(model), 2);
	CHECK(model, 100, expected);
	CHECK(model, 200, expected);
	lives = virt_model_lives(model, &n);
	assert_int_equal(n, 1);
	assert_int_equal(lives->since_ns, 90);
	assert_int_equal(lives->pid, 200);
	assert_int_equal(lives->vcpu, virt_model_find_vcpu(model, 100));
	assert_int_equal(virt_model_machine(model, 0)->ended_ns, VIRT_NO_END);
	virt_model_free(model);

	/* it ends where nothing goes on */
	model = TRACK_LIVES(again, 80);
	assert_int_equal(virt_model_machine(model, 0)->ended_ns, VIRT_NO_END);
	virt_model_free(model);
	model = TRACK_LIVES(again, 100);
	assert_int_equal(virt_model_machine(model, 0)->ended_ns, 80);
	virt_model_free(model);
}

/** A number that is used again, in a file: the machine is there, as the vCPU is. */
static void test_number_again(void **state)
{
	static const struct record records[] = {
		{ 10, 0, KVM_SWITCH, IDLE, 301, RUNS },
		{ 11, 0, KVM_ENTRY, 301, 0, 0 },
		{ 20, 0, KVM_EXIT, 301, 0, INTR },
		{ 30, 0, KVM_SWITCH, 301, IDLE, DEAD },
		{ 50, 0, KVM_SWITCH, IDLE, 301, RUNS },
		{ 51, 0, KVM_ENTRY, 301, 0, 0 },
		{ 60, 0, KVM_EXIT, 301, 0, INTR },
		{ 70, 0, KVM_SWITCH, 301, IDLE, DEAD },
	};
	struct virt_model *model = TRACK_LIVES(records, 65);

	(void)state;
	assert_int_equal(virt_model_n_machines(model), 2);
	assert_int_equal(virt_model_machine(model, 1)->ended_ns, VIRT_NO_END);
	virt_model_free(model);
	model = TRACK_LIVES(records, 100);
	assert_int_equal(virt_model_machine(model, 1)->ended_ns, 70);
	virt_model_free(model);
}

/** Migrated within a host: both processes are there, and the first thread is a task then. */
static void test_migrated(void **state)
{
	static const struct record records[] = {
		{ 0, 2, KVM_SWITCH, IDLE, 190, RUNS },
		{ 10, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 11, 0, KVM_ENTRY, 100, 0, 0 },
		{ 12, 1, KVM_SWITCH, IDLE, 200, RUNS },
		{ 13, 1, KVM_SWITCH, 200, IDLE, ASLEEP },
		{ 20, 0, KVM_EXIT, 100, 0, INTR },
		{ 22, 0, KVM_USERSPACE_EXIT, 100, SIGNAL, 0 },
		{ 30, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
		{ 35, 1, KVM_SWITCH, IDLE, 200, RUNS },
		{ 40, 1, KVM_ENTRY, 200, 0, 0 },
		/* it is a task of the machine's now */
		{ 45, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 50, 1, KVM_EXIT, 200, 0, INTR },
		{ 55, 1, KVM_SWITCH, 200, 190, RUNS },
		{ 60, 0, KVM_SWITCH, 100, IDLE, DEAD },
		{ 65, 1, KVM_SWITCH, 190, 200, ASLEEP },
		{ 70, 1, KVM_ENTRY, 200, 0, 0 },
		/* and a third one */
		{ 80, 1, KVM_EXIT, 200, 0, INTR },
		{ 85, 3, KVM_SWITCH, IDLE, 300, RUNS },
		{ 90, 3, KVM_ENTRY, 300, 0, 0 },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_UNKNOWN, VIRT_NONE, NULL, 0 },
		{ 10, VIRT_HYPERVISOR, 0, NULL, 0 },
		{ 11, VIRT_GUEST, 0, NULL, 0 },
		{ 20, VIRT_HYPERVISOR, 0, "INTR", EXIT },
		{ 22, VIRT_VMM, 0, "INTR", 0 },
		{ 30, VIRT_BLOCKED, 0, NULL, 0 },
		{ 40, VIRT_GUEST, 1, NULL, MOVED },
		{ 50, VIRT_HYPERVISOR, 1, "INTR", EXIT },
		/* by its own machine's main loop, whichever process has that */
		{ 55, VIRT_PREEMPTED, 1, "web's main loop-190", 0 },
		{ 65, VIRT_HYPERVISOR, 1, "INTR", 0 },
		{ 70, VIRT_GUEST, 1, NULL, 0 },
		{ 80, VIRT_HYPERVISOR, 1, "INTR", EXIT },
		{ 90, VIRT_GUEST, 3, NULL, MOVED },
	};
	struct virt_model *model = TRACK_LIVES(records, 100);
	size_t n;

	(void)state;
	CHECK(model, 100, expected);
	CHECK(model, 300, expected);
	virt_model_lives(model, &n);
	assert_int_equal(n, 2);
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_restored),
		cmocka_unit_test(test_migrated),
		cmocka_unit_test(test_number_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
