// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_threads.c
 * @brief	Which threads work for which machine, and their names as culprits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>

#include "kvm_records.h"

struct named {
	int32_t		pid;
	const char	*comm;
};

/** A machine of threads 110 and 111, and one of 210; the others have CPU 3, one after the other. */
static struct kvm_tracker *tracker_of(const struct named *named, size_t n)
{
	struct kvm_tracker *tracker = kvm_tracker_new();
	static const int32_t vcpus[] = { 110, 111, 210 };
	int32_t before = IDLE;
	int64_t time = 20;

	assert_non_null(tracker);
	for (int16_t i = 0; i < 3; i++) {
		const struct kvm_event switched = {
			.time_ns = 5, .cpu = i, .kind = KVM_SWITCH, .arg = vcpus[i],
		};
		const struct kvm_event entry = {
			.time_ns = 10, .cpu = i, .kind = KVM_ENTRY, .pid = vcpus[i],
			.arg = i == 1,
		};

		assert_int_equal(kvm_tracker_add(tracker, &switched), 0);
		assert_int_equal(kvm_tracker_add(tracker, &entry), 0);
	}
	for (size_t i = 0; i < n; i++) {
		const struct kvm_event event = {
			.time_ns = time++, .cpu = 3, .kind = KVM_SWITCH, .pid = before,
			.arg = named[i].pid, .value = RUNS,
		};

		assert_int_equal(kvm_tracker_add(tracker, &event), 0);
		assert_int_equal(kvm_tracker_name(tracker, named[i].pid, named[i].comm), 0);
		before = named[i].pid;
	}
	return tracker;
}

static struct virt_model *finish(struct kvm_tracker *tracker)
{
	struct virt_model *model = NULL;

	assert_int_equal(kvm_tracker_finish(tracker, 0, 1000, &model), 0);
	kvm_tracker_free(tracker);
	return model;
}

/** What the thread is called, and how that is known; NULL: it has no machine. */
static void check_thread(const struct virt_model *model, int32_t pid, const char *name,
			 const char *source)
{
	for (int32_t i = 0; i < virt_model_n_tasks(model); i++) {
		const struct virt_task *task = virt_model_task(model, VIRT_FIRST_TASK + i);

		if (task->pid != pid)
			continue;
		assert_string_equal(task->name, name);
		if (source)
			assert_string_equal(virt_thread_source_name((enum virt_thread_source)
								    task->source), source);
		assert_int_equal(task->machine == VIRT_NONE, !source);
		return;
	}
	fail_msg("thread %d has never had a CPU", (int)pid);
}

#define TRACKER_OF(named)	tracker_of(named, sizeof(named) / sizeof((named)[0]))

/** The monitor's pid is in the names of threads of the kernel's; others are in a row with it. */
static void test_by_name(void **state)
{
	static const struct named named[] = {
		{ 100, "qemu-system-x86" }, { 103, "IO iothread0" }, { 104, "IO mon_iothread" },
		{ 105, "kvm-nx-lpage-re" }, { 106, "kvm-pit/100" }, { 101, "call_rcu" },
		{ 112, "vhost-100" }, { 113, "worker" }, { 114, "bash" }, { 900, "worker" },
		{ 901, "vhost-xyz" }, { 902, "vhost-12" }, { 30, "migration/3" },
		{ 204, "vhost-200" }, { 211, "live_migration" },
	};
	struct virt_model *model = finish(TRACKER_OF(named));

	(void)state;
	check_thread(model, 100, "g1's main loop-100", "name");
	check_thread(model, 103, "g1's iothread-103", "row");
	check_thread(model, 104, "g1's monitor-104", "row");
	check_thread(model, 105, "g1's page recovery-105", "row");
	check_thread(model, 106, "g1's pit-106", "name");
	check_thread(model, 101, "g1's rcu-101", "row");
	check_thread(model, 112, "g1's vhost-112", "name");
	check_thread(model, 204, "g2's vhost-204", "name");
	/* a name that anybody may have, too far away, of no machine's process */
	check_thread(model, 114, "bash-114", NULL);
	/* made at any time, by anybody who is made then */
	check_thread(model, 113, "worker-113", NULL);
	check_thread(model, 211, "live_migration-211", NULL);
	check_thread(model, 900, "worker-900", NULL);
	check_thread(model, 901, "vhost-xyz-901", NULL);
	check_thread(model, 902, "vhost-12-902", NULL);
	check_thread(model, 30, "migration/3-30", NULL);
	virt_model_free(model);
}

/** Without any such name, the first thread called like a monitor. */
static void test_by_row(void **state)
{
	static const struct named named[] = {
		{ 99, "bash" }, { 100, "qemu-system-x86" }, { 102, "qemu-system-x86" },
		{ 40, "qemu-system-x86" }, { 150, "IO disk" }, { 180, "IO disk" },
	};
	struct virt_model *model = finish(TRACKER_OF(named));

	(void)state;
	check_thread(model, 99, "bash-99", NULL);
	check_thread(model, 100, "g1's main loop-100", "row");
	check_thread(model, 102, "g1's qemu-system-x86-102", "row");
	/* too far from the vCPUs of anybody */
	check_thread(model, 40, "qemu-system-x86-40", NULL);
	check_thread(model, 180, "IO disk-180", NULL);
	/* the other machine's monitor is not known: this could be its thread, or the first one's */
	check_thread(model, 150, "IO disk-150", NULL);
	virt_model_free(model);
}

/** The sidecar knows the process, its threads and the name; a maker identifies later ones. */
static void test_by_process(void **state)
{
	static const struct named named[] = {
		{ 7, "qemu-system-x86" }, { 800, "worker" }, { 801, "anything" },
		{ 802, "worker" }, { 803, "bash" }, { 804, "worker" }, { 805, "worker" },
	};
	static const int32_t tids[] = { 110, 111 };
	struct kvm_tracker *tracker = TRACKER_OF(named);
	const struct kvm_event born[] = {
		{ .time_ns = 500, .cpu = 3, .kind = KVM_BORN, .pid = 805, .arg = 802 },
		{ .time_ns = 501, .cpu = 3, .kind = KVM_BORN, .pid = 7, .arg = 803 },
		{ .time_ns = 502, .cpu = 3, .kind = KVM_BORN, .pid = 802, .arg = 804 },
		{ .time_ns = 503, .cpu = 3, .kind = KVM_BORN, .pid = 111, .arg = 805 },
	};
	struct virt_model *model;

	(void)state;
	for (size_t i = 0; i < sizeof(born) / sizeof(born[0]); i++)
		assert_int_equal(kvm_tracker_add(tracker, &born[i]), 0);
	assert_int_equal(kvm_tracker_add_guest(tracker, "web", tids, 2), 0);
	assert_int_equal(kvm_tracker_add_thread(tracker, 110, 7), 0);
	assert_int_equal(kvm_tracker_add_thread(tracker, 801, 7), 0);
	assert_int_equal(kvm_tracker_add_thread(tracker, 0, 7), -EINVAL);
	assert_int_equal(kvm_tracker_add_thread(tracker, 7, -1), -EINVAL);
	model = finish(tracker);
	check_thread(model, 7, "web's main loop-7", "sidecar");
	check_thread(model, 801, "web's anything-801", "sidecar");
	check_thread(model, 805, "web's worker-805", "maker");
	check_thread(model, 802, "web's worker-802", "maker");
	check_thread(model, 804, "web's worker-804", "maker");
	/* what a monitor has started need not be a thread of its */
	check_thread(model, 803, "bash-803", NULL);
	check_thread(model, 800, "worker-800", NULL);
	virt_model_free(model);
}

/** A process that has two machines has its threads for either. */
static void test_two_of_a_process(void **state)
{
	static const struct named named[] = {
		{ 100, "qemu-system-x86" }, { 112, "vhost-100" }, { 113, "worker" },
	};
	struct kvm_tracker *tracker = TRACKER_OF(named);
	struct virt_model *model;

	(void)state;
	assert_int_equal(kvm_tracker_add_thread(tracker, 110, 100), 0);
	assert_int_equal(kvm_tracker_add_thread(tracker, 210, 100), 0);
	assert_int_equal(kvm_tracker_add_thread(tracker, 113, 100), 0);
	model = finish(tracker);
	assert_int_equal(virt_model_n_machines(model), 2);
	check_thread(model, 100, "qemu-system-x86-100", NULL);
	check_thread(model, 112, "vhost-100-112", NULL);
	virt_model_free(model);
}

/** Its own thread takes a vCPU's pCPU, and wakes it. */
static void test_culprit(void **state)
{
	static const struct record records[] = {
		{ 10, 0, KVM_SWITCH, IDLE, 110, RUNS },
		{ 20, 0, KVM_ENTRY, 110, 0, 0 },
		{ 30, 0, KVM_EXIT, 110, 0, INTR },
		{ 40, 0, KVM_SWITCH, 110, 112, RUNS },
		{ 70, 0, KVM_SWITCH, 112, 110, ASLEEP },
		{ 80, 0, KVM_ENTRY, 110, 0, 0 },
		{ 85, 0, KVM_EXIT, 110, 0, HLT },
		{ 90, 0, KVM_SWITCH, 110, 50, ASLEEP },
		{ 91, 1, KVM_SWITCH, IDLE, 112, RUNS },
		{ 95, 1, KVM_WAKEUP, 112, 110, 0 },
		{ 99, 0, KVM_SWITCH, 50, 110, ASLEEP },
	};
	struct kvm_tracker *tracker = kvm_tracker_new();
	struct virt_model *model;
	struct virt_culprit culprit[2];
	const struct virt_interval *wait;

	(void)state;
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		const struct record *r = &records[i];
		const struct kvm_event event = {
			.time_ns = r->time, .cpu = (int16_t)r->cpu, .kind = (uint8_t)r->kind,
			.pid = r->pid, .arg = r->arg, .value = r->value,
			.more = r->kind == KVM_EXIT ? KVM_ISA_SVM : 0,
		};

		assert_int_equal(kvm_tracker_add(tracker, &event), 0);
	}
	assert_int_equal(kvm_tracker_name(tracker, 112, "vhost-100"), 0);
	model = finish(tracker);
	assert_int_equal(virt_vcpu_culprits(model, 0, 0, 1000, culprit, 2), 1);
	assert_int_equal(culprit[0].ns, 30);
	assert_string_equal(virt_model_culprit(model, culprit[0].vcpu), "g1's vhost-112");
	assert_true(virt_model_is_own(model, 0, culprit[0].vcpu));
	wait = virt_vcpu_at(model, 0, 90, NULL);
	assert_int_equal(wait->state, VIRT_BLOCKED);
	assert_string_equal(virt_model_culprit(model, virt_model_wake(model, wait->detail)->who),
			    "g1's vhost-112");
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_name),
		cmocka_unit_test(test_by_row),
		cmocka_unit_test(test_by_process),
		cmocka_unit_test(test_two_of_a_process),
		cmocka_unit_test(test_culprit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
