// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_machines.c
 * @brief	Which machines and vCPUs there are, what they are called, and their TSCs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "kvm_records.h"

static void check_name(const struct virt_model *model, int32_t tid, const char *name)
{
	const struct virt_vcpu *vcpu = virt_model_vcpu(model, virt_model_find_vcpu(model, tid));

	assert_non_null(vcpu);
	assert_string_equal(vcpu->name, name);
}

/** Threads 100 and 101 are one machine; QEMU is started again as 130; 900 is far away. */
static void test_machines(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_ENTRY, 101, 3, 0 },
		{ 0, 1, KVM_ENTRY, 100, 0, 0 },
		{ 0, 2, KVM_ENTRY, 900, 1, 0 },
		{ 50, 1, KVM_ENTRY, 130, 0, 0 },
	};
	static const int32_t tids[] = { 900, 0, 901, 1 };
	struct virt_model *model = TRACK(records, 0, 100);
	struct kvm_tracker *tracker;

	(void)state;
	assert_int_equal(virt_model_n_machines(model), 3);
	check_name(model, 100, "g1v0");
	check_name(model, 101, "g1v3");
	check_name(model, 130, "g2v0");
	check_name(model, 900, "g3v1");
	virt_model_free(model);

	/* from the trace: a name, idle vCPUs, and a number that is not the record's */
	tracker = kvm_tracker_new();
	assert_non_null(tracker);
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		const struct kvm_event event = {
			.time_ns = records[i].time, .cpu = (int16_t)records[i].cpu,
			.kind = KVM_ENTRY, .pid = records[i].pid, .arg = records[i].arg,
		};

		assert_int_equal(kvm_tracker_add(tracker, &event), 0);
	}
	assert_int_equal(kvm_tracker_add_guest(tracker, "web", tids, 4), 0);
	assert_int_equal(kvm_tracker_finish(tracker, 0, 100, &model), 0);
	kvm_tracker_free(tracker);
	assert_int_equal(virt_model_n_machines(model), 3);
	assert_string_equal(virt_model_machine(model, 0)->name, "g1:web");
	assert_int_equal(virt_model_machine(model, 0)->n_vcpus, 3);
	check_name(model, 900, "web v0");
	check_name(model, 901, "web v2");
	check_name(model, 1, "web v3");
	virt_model_free(model);
}

/** A vCPU that is in KVM_RUN, and never enters its guest: it has not been started yet. */
static void test_never_entered(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, 0, 100, RUNS },
		{ 0, 1, KVM_SWITCH, 0, 101, RUNS },
		{ 10, 0, KVM_ENTRY, 100, 0, 0 },
		{ 20, 1, KVM_RUN, 101, VIRT_NONE, 1 },
		{ 30, 1, KVM_USERSPACE_EXIT, 101, 10, -4 },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_HYPERVISOR, 1, NULL, 0 },
		{ 30, VIRT_VMM, 1, NULL, 0 },
	};
	struct virt_model *model = TRACK(records, 0, 100);

	(void)state;
	assert_int_equal(virt_model_n_machines(model), 1);
	check_name(model, 100, "g1v0");
	/* 10 is the reason of its exit, not its number */
	check_name(model, 101, "g1v1");
	CHECK(model, 101, expected);
	virt_model_free(model);
}

/** Each of these guests has one thread, from 100 on. Return: the name of one's machine. */
static const char *guest_named(struct virt_model **model, const char *const *names, size_t n,
			       size_t which)
{
	struct kvm_tracker *tracker = kvm_tracker_new();

	assert_non_null(tracker);
	for (size_t i = 0; i < n; i++) {
		const int32_t tid = (int32_t)(100 + i);

		assert_int_equal(kvm_tracker_add_guest(tracker, names[i], &tid, 1), 0);
	}
	/* a guest without any vCPU is no machine */
	assert_int_equal(kvm_tracker_add_guest(tracker, "none", NULL, -1), 0);
	assert_int_equal(kvm_tracker_finish(tracker, 0, 100, model), 0);
	kvm_tracker_free(tracker);
	assert_int_equal(virt_model_n_machines(*model), n);
	for (int32_t m = 0; m < virt_model_n_machines(*model); m++) {
		const struct virt_machine *machine = virt_model_machine(*model, m);

		if (virt_model_vcpu(*model, machine->vcpus[0])->host_pid == (int32_t)(100 + which))
			return machine->name;
	}
	return "absent";
}

/** The guests of another file are forgotten. */
static void test_cleared(void **state)
{
	struct kvm_tracker *tracker = kvm_tracker_new();
	const struct kvm_event event = { .time_ns = 5, .kind = KVM_ENTRY, .pid = 300 };
	const int32_t tid = 200;
	struct virt_model *model;

	(void)state;
	assert_int_equal(kvm_tracker_add_guest(tracker, "old", &tid, 1), 0);
	kvm_tracker_clear_guests(tracker);
	assert_int_equal(kvm_tracker_add(tracker, &event), 0);
	assert_int_equal(kvm_tracker_finish(tracker, 0, 100, &model), 0);
	kvm_tracker_free(tracker);
	assert_int_equal(virt_model_n_machines(model), 1);
	assert_string_equal(virt_model_machine(model, 0)->name, "g1");
	check_name(model, 300, "g1v0");
	virt_model_free(model);
}

/** Guests are called what they are called; "g7" is machine 7, unless another one is. */
static void test_guest_names(void **state)
{
	static const char *const names[] = { "g7", "", NULL, "g7", "g07", "g0", "g-1", "web" };
	static const char *const shown[] = { "g7", "g1:guest", "g2:guest", "g3:g7", "g4:g07",
					     "g5:g0", "g6:g-1", "g8:web" };
	/* by its name if no other machine has it */
	static const char *const vcpus[] = { "g7v0", "g1v0", "g2v0", "g3v0", "g07 v0", "g0 v0",
					     "g-1 v0", "web v0" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct virt_model *model;

		assert_string_equal(guest_named(&model, names, sizeof(names) / sizeof(names[0]), i),
				    shown[i]);
		assert_string_equal(virt_model_vcpu(model, (int32_t)i)->name, vcpus[i]);
		virt_model_free(model);
	}
}

/** Names that are equal because they are cut do not identify a machine. */
static void test_long_names(void **state)
{
	char name[2][200], begin[121];
	const char *const names[] = { name[0], name[1], "web" };
	struct virt_model *model;

	(void)state;
	memset(name, 'n', sizeof(name));
	memcpy(name[0] + 150, "a", 2);
	memcpy(name[1] + 150, "b", 2);
	memset(begin, 'n', 120);
	begin[120] = '\0';
	assert_non_null(strstr(guest_named(&model, names, 3, 0), begin));
	assert_string_equal(virt_model_vcpu(model, 0)->name, "g1v0");
	assert_string_equal(virt_model_vcpu(model, 1)->name, "g2v0");
	assert_string_equal(virt_model_vcpu(model, 2)->name, "web v0");
	virt_model_free(model);
}

/** Numbers that no file of a sound kernel has: counts, CPUs, kinds and names of threads. */
static void test_impossible(void **state)
{
	static const struct record records[] = {
		{ 10, 1, KVM_SWITCH, IDLE, 100, RUNS },
		{ 20, 1, KVM_ENTRY, 100, -1, 0 },
		{ 30, 1, KVM_EXIT, 100, -1, INTR },
		{ 40, 1, KVM_SWITCH, 100, 50, RUNS },
		/* to CPUs that there are not: it waits where it was */
		{ 50, 1, KVM_MIGRATE, 50, 100, -1 },
		{ 60, 1, KVM_MIGRATE, 50, 100, 1000 },
		{ 70, 1, (enum kvm_event_kind)200, 50, 0, 0 },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_UNKNOWN, -1, NULL, 0 },
		{ 10, VIRT_HYPERVISOR, 1, NULL, 0 },
		{ 20, VIRT_GUEST, 1, NULL, 0 },
		{ 30, VIRT_HYPERVISOR, 1, "INTR", EXIT },
		{ 40, VIRT_PREEMPTED, 1, "stress-50", 0 },
	};
	struct virt_model *model = TRACK(records, 0, 100);
	struct kvm_tracker *tracker = kvm_tracker_new();
	const struct kvm_event event = { .kind = KVM_ENTRY, .pid = 100, .arg = VIRT_NONE };
	struct virt_loss_range losses;

	(void)state;
	CHECK(model, 100, expected);
	virt_model_free(model);
	/* a name like QEMU's with a number below 0 is not that of a vCPU */
	assert_int_equal(kvm_tracker_name(tracker, 100, "CPU -3/KVM"), 0);
	assert_int_equal(kvm_tracker_add(tracker, &event), 0);
	assert_int_equal(kvm_tracker_lost(tracker, 0, 100, 50, UINT64_MAX), 0);
	/* before the first record of a CPU nothing was known that could have been lost */
	assert_int_equal(kvm_tracker_lost(tracker, 1, 100, 70, 3), 0);
	assert_int_equal(kvm_tracker_finish(tracker, 0, 100, &model), 0);
	kvm_tracker_free(tracker);
	check_name(model, 100, "g1v0");
	losses = virt_model_losses(model);
	assert_int_equal(losses.n, 2);
	assert_int_equal(losses.first[0].from_ns, 1);
	assert_true(losses.first[0].records == INT64_MAX);
	assert_int_equal(losses.first[1].from_ns, 70);
	assert_int_equal(losses.first[1].to_ns, 70);
	virt_model_free(model);
}

/** No record has the number of a vCPU: they count on, in the order of their threads. */
static void test_no_numbers(void **state)
{
	static const struct record records[] = {
		{ 10, 0, KVM_ENTRY, 102, -1, 0 },
		{ 10, 1, KVM_ENTRY, 100, -1, 0 },
		{ 10, 2, KVM_ENTRY, 101, -1, 0 },
		/* known for this one, unknown for the next one */
		{ 10, 3, KVM_ENTRY, 110, 5, 0 },
		{ 20, 3, KVM_EXIT, 110, 5, INTR },
		{ 30, 3, KVM_ENTRY, 111, -1, 0 },
	};
	struct virt_model *model = TRACK(records, 0, 100);

	(void)state;
	check_name(model, 100, "g1v0");
	check_name(model, 101, "g1v1");
	check_name(model, 102, "g1v2");
	check_name(model, 110, "g1v5");
	check_name(model, 111, "g1v6");
	/* and each is where its own records are */
	for (int32_t i = 0; i < 3; i++) {
		int32_t vcpu = virt_model_find_vcpu(model, 100 + i);

		assert_int_equal(virt_vcpu_at(model, vcpu, 50, NULL)->state, VIRT_GUEST);
		assert_int_equal(virt_vcpu_at(model, vcpu, 50, NULL)->pcpu, (i + 1) % 3);
	}
	virt_model_free(model);
}

/** CPUs have 16 bits in the model, the highest one too; there is none below 0. */
static void test_most_cpus(void **state)
{
	static const struct { int cpu, ret; } cases[] = {
		{ 0, 0 }, { INT16_MAX, 0 }, { INT16_MAX + 1, -EINVAL }, { -1, -EINVAL },
	};
	struct kvm_tracker *tracker = kvm_tracker_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(kvm_tracker_lost(tracker, cases[i].cpu, 100, 50, 1), cases[i].ret);
		assert_int_equal(kvm_tracker_seen(tracker, cases[i].cpu, 100, 60), cases[i].ret);
	}
	kvm_tracker_free(tracker);
}

/** A monitor that is started anew is another machine, which was not there before. */
static void test_born(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 0, 1, KVM_SEEN, IDLE, 0, 0 },
		{ 10, 0, KVM_ENTRY, 100, 0, 0 },
		{ 20, 0, KVM_EXIT, 100, 0, INTR },
		{ 30, 0, KVM_SWITCH, 100, IDLE, DEAD },
		{ 50, 1, KVM_BORN, 60, 300, 0 },
		{ 55, 1, KVM_SWITCH, 60, 300, ASLEEP },
		{ 56, 1, KVM_TSC_OFFSET, 300, 0, -12345 },
		{ 60, 1, KVM_ENTRY, 300, 0, 0 },
	};
	static const struct expected first[] = {
		{ 0, VIRT_HYPERVISOR, 0, NULL, 0 },
		{ 10, VIRT_GUEST, 0, NULL, 0 },
		{ 20, VIRT_HYPERVISOR, 0, "INTR", EXIT },
		{ 30, VIRT_OFFLINE, 0, NULL, 0 },
	};
	static const struct expected second[] = {
		{ 0, VIRT_OFFLINE, -1, NULL, 0 },
		{ 50, VIRT_WAKING, -1, NULL, 0 },
		{ 55, VIRT_HYPERVISOR, 1, NULL, 0 },
		{ 60, VIRT_GUEST, 1, NULL, 0 },
	};
	struct virt_model *model = TRACK(records, 0, 100);

	(void)state;
	assert_int_equal(virt_model_n_machines(model), 2);
	check_name(model, 100, "g1v0");
	check_name(model, 300, "g2v0");
	CHECK(model, 100, first);
	CHECK(model, 300, second);
	virt_model_free(model);
}

/** TSC offsets are kept to align clocks. */
static void test_tsc_offsets(void **state)
{
	const struct kvm_event event = {
		.time_ns = 7, .value = -2280036601620, .pid = 100, .arg = 1, .cpu = 2,
		.kind = KVM_TSC_OFFSET,
	};
	struct kvm_tracker *tracker = kvm_tracker_new();
	const struct kvm_tsc_offset *offsets;
	size_t n;

	(void)state;
	kvm_tracker_tsc_offsets(tracker, &n);
	assert_int_equal(n, 0);
	assert_int_equal(kvm_tracker_add(tracker, &event), 0);
	offsets = kvm_tracker_tsc_offsets(tracker, &n);
	assert_int_equal(n, 1);
	assert_int_equal(offsets->time_ns, 7);
	assert_int_equal(offsets->offset, -2280036601620);
	assert_int_equal(offsets->pid, 100);
	assert_int_equal(offsets->vcpu, 1);
	assert_int_equal(offsets->cpu, 2);
	assert_false(offsets->has_before);
	kvm_tracker_tsc_before(tracker, -17);
	offsets = kvm_tracker_tsc_offsets(tracker, &n);
	assert_true(offsets->has_before);
	assert_int_equal(offsets->before, -17);
	kvm_tracker_free(tracker);
}

/** The last one of each vCPU is in the model, and when each was set; not of what is no vCPU. */
static void test_tsc_of_vcpus(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 5, 1, KVM_SWITCH, IDLE, 101, RUNS },
		{ 5, 3, KVM_TSC_OFFSET, 102, 2, -60 },
		{ 6, 3, KVM_ENTRY, 102, 2, 0 },
		{ 10, 0, KVM_ENTRY, 100, 0, 0 },
		{ 15, 1, KVM_ENTRY, 101, 1, 0 },
		{ 20, 0, KVM_EXIT, 100, 0, HLT },
		{ 25, 0, KVM_TSC_OFFSET, 100, 0, -40 },
		{ 30, 0, KVM_TSC_OFFSET, 100, 0, -50 },
		{ 35, 2, KVM_TSC_OFFSET, 990, 0, -70 },
	};
	struct virt_model *model = TRACK(records, 0, 100);
	const struct virt_vcpu *vcpu = virt_model_vcpu(model, virt_model_find_vcpu(model, 100));
	struct virt_tsc_write_range writes = virt_model_tsc_writes(model);

	(void)state;
	assert_true(vcpu->tsc_scale == 1);
	assert_int_equal(vcpu->tsc_offset, -50);
	vcpu = virt_model_vcpu(model, virt_model_find_vcpu(model, 101));
	assert_true(vcpu->tsc_scale == 0);
	vcpu = virt_model_vcpu(model, virt_model_find_vcpu(model, 102));
	assert_true(vcpu->tsc_scale == 1);
	assert_int_equal(vcpu->tsc_offset, -60);
	assert_int_equal(writes.n, 3);
	assert_int_equal(writes.first[0].time_ns, 5);
	assert_int_equal(writes.first[0].vcpu, virt_model_find_vcpu(model, 102));
	assert_int_equal(writes.first[0].pcpu, 3);
	assert_int_equal(writes.first[1].offset, -40);
	assert_int_equal(writes.first[2].time_ns, 30);
	assert_false(writes.first[2].has_before);
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_never_entered),
		cmocka_unit_test(test_cleared),
		cmocka_unit_test(test_guest_names),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_most_cpus),
		cmocka_unit_test(test_no_numbers),
		cmocka_unit_test(test_born),
		cmocka_unit_test(test_tsc_offsets),
		cmocka_unit_test(test_tsc_of_vcpus),
	};

	enabled_kinds = ENABLED(WAKEUP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
