// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_handlers.c
 * @brief	Interrupts, softirqs and NMIs on the time of a vCPU, on a timeline made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "kvm_tracker.h"
#include "virt_handlers.h"

#define VCPU	100

static int disk, rcu, timer, nmi;

static void add(struct kvm_tracker *tracker, int64_t time, enum kvm_event_kind kind, int32_t pid,
		int32_t arg, int64_t value)
{
	const struct kvm_event event = {
		.time_ns = time, .kind = (uint8_t)kind, .pid = pid, .arg = arg, .value = value,
		.more = kind == KVM_EXIT ? KVM_ISA_SVM : 0,
	};

	assert_int_equal(kvm_tracker_add(tracker, &event), 0);
}

/** The vCPU has CPU 0 from 10 on: in the guest from 20 to 100, then in the hypervisor. */
static struct kvm_tracker *begin(void)
{
	struct kvm_tracker *tracker = kvm_tracker_new();

	assert_non_null(tracker);
	disk = kvm_tracker_add_handler(tracker, VIRT_HANDLER_IRQ, "30 disk");
	rcu = kvm_tracker_add_handler(tracker, VIRT_HANDLER_SOFTIRQ, "RCU");
	timer = kvm_tracker_add_handler(tracker, VIRT_HANDLER_VECTOR, "local_timer");
	nmi = kvm_tracker_add_handler(tracker, VIRT_HANDLER_NMI, "NMI");
	assert_int_equal(kvm_tracker_add_handler(tracker, VIRT_HANDLER_SOFTIRQ, "RCU"), rcu);
	add(tracker, 10, KVM_SWITCH, 0, VCPU, 0);
	add(tracker, 20, KVM_ENTRY, VCPU, 0, 0);
	add(tracker, 100, KVM_EXIT, VCPU, 0, 0x60);
	return tracker;
}

static struct virt_model *finish(struct kvm_tracker *tracker)
{
	struct virt_model *model = NULL;

	assert_int_equal(kvm_tracker_finish(tracker, 0, 1000, &model), 0);
	kvm_tracker_free(tracker);
	return model;
}

static void enter(struct kvm_tracker *tracker, int64_t time, int handler)
{
	assert_int_equal(kvm_tracker_enter(tracker, 0, VCPU, time, handler), 0);
}

static void leave(struct kvm_tracker *tracker, int64_t time, int kind)
{
	assert_int_equal(kvm_tracker_leave(tracker, 0, VCPU, time, kind), 0);
}

struct expected {
	const char	*name;
	uint64_t	count;
	int64_t		max_ns, hypervisor_ns, vmm_ns, other_ns;
};

static void check(const struct virt_model *model, int64_t from, int64_t to,
		  const struct expected *expected, size_t n)
{
	struct virt_handled *handled;
	size_t got;

	handled = virt_handled_new(model, 0, from, to, &got);
	assert_non_null(handled);
	assert_int_equal(got, n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(virt_model_handler(model, handled[i].handler)->name,
				    expected[i].name);
		assert_int_equal(handled[i].count, expected[i].count);
		assert_int_equal(handled[i].max_ns, expected[i].max_ns);
		assert_int_equal(handled[i].hypervisor_ns, expected[i].hypervisor_ns);
		assert_int_equal(handled[i].vmm_ns, expected[i].vmm_ns);
		assert_int_equal(handled[i].other_ns, expected[i].other_ns);
	}
	free(handled);
}

#define CHECK(model, from, to, ...)						\
	do {									\
		const struct expected list_[] = { __VA_ARGS__ };		\
										\
		check(model, from, to, list_, sizeof(list_) / sizeof(list_[0])); \
	} while (0)

/** A softirq that a disk and an NMI interrupt; a timer that begins before the exit is recorded. */
static void test_nested(void **state)
{
	struct kvm_tracker *tracker = begin();
	struct virt_model *model;
	struct virt_handling_range range;
	struct virt_totals totals;

	(void)state;
	enter(tracker, 110, rcu);
	enter(tracker, 130, disk);
	assert_int_equal(kvm_tracker_handled(tracker, 0, VCPU, 140, nmi, 4), 0);
	leave(tracker, 150, VIRT_HANDLER_IRQ);
	leave(tracker, 170, VIRT_HANDLER_SOFTIRQ);
	enter(tracker, 180, rcu);
	leave(tracker, 185, VIRT_HANDLER_SOFTIRQ);
	add(tracker, 200, KVM_USERSPACE_EXIT, VCPU, 0, 0);
	enter(tracker, 210, timer);
	leave(tracker, 212, VIRT_HANDLER_VECTOR);
	add(tracker, 230, KVM_ENTRY, VCPU, 0, 0);
	enter(tracker, 290, timer);
	leave(tracker, 295, VIRT_HANDLER_VECTOR);
	add(tracker, 300, KVM_EXIT, VCPU, 0, 0x60);
	model = finish(tracker);
	CHECK(model, 0, 1000,
	      { "RCU", 2, 40, 45, 0, 0 },
	      { "30 disk", 1, 16, 16, 0, 0 },
	      { "local_timer", 2, 5, 0, 2, 5 },
	      { "NMI", 1, 4, 4, 0, 0 });
	virt_vcpu_totals(model, 0, 0, 1000, &totals);
	assert_true(45 + 16 + 4 <= totals.ns[VIRT_HYPERVISOR]);
	/* cut: the RCU of 110 is not of this window, and its rest is */
	CHECK(model, 160, 211,
	      { "RCU", 1, 5, 15, 0, 0 },
	      { "local_timer", 1, 2, 0, 1, 0 });
	/* the innermost has each moment */
	range = virt_vcpu_handlings(model, 0, 110, 170);
	assert_int_equal(range.n, 5);
	for (size_t i = 1; i < range.n; i++)
		assert_int_equal(range.first[i].start_ns, range.first[i - 1].end_ns);
	assert_true(range.first[0].begins && !range.first[4].begins);
	assert_int_equal(range.first[0].whole_ns, 40);
	assert_int_equal(virt_vcpu_handlings(model, 0, 170, 180).n, 1);
	assert_int_equal(virt_vcpu_handlings(model, 7, 0, 1000).n, 0);
	virt_model_free(model);
}

/** Incomplete handlers are left out: an end alone, another one's end, a switch, a loss. */
static void test_missing(void **state)
{
	struct kvm_tracker *tracker = begin();
	struct virt_model *model;

	(void)state;
	leave(tracker, 105, VIRT_HANDLER_IRQ);
	enter(tracker, 110, rcu);
	leave(tracker, 120, VIRT_HANDLER_IRQ);
	leave(tracker, 125, VIRT_HANDLER_SOFTIRQ);
	enter(tracker, 130, rcu);
	add(tracker, 140, KVM_SWITCH, VCPU, 50, 0);
	assert_int_equal(kvm_tracker_leave(tracker, 0, 50, 150, VIRT_HANDLER_SOFTIRQ), 0);
	/* handlers during a task and the idle task do not matter */
	assert_int_equal(kvm_tracker_enter(tracker, 0, 50, 151, disk), 0);
	assert_int_equal(kvm_tracker_leave(tracker, 0, 50, 152, VIRT_HANDLER_IRQ), 0);
	add(tracker, 160, KVM_SWITCH, 50, VCPU, 0);
	enter(tracker, 170, disk);
	assert_int_equal(kvm_tracker_lost(tracker, 0, VCPU, 180, 3), 0);
	leave(tracker, 190, VIRT_HANDLER_IRQ);
	/* one of unknown kind, and what it interrupted is unknown, too */
	enter(tracker, 200, rcu);
	enter(tracker, 205, -E2BIG);
	leave(tracker, 210, VIRT_HANDLER_IRQ);
	leave(tracker, 215, VIRT_HANDLER_SOFTIRQ);
	enter(tracker, 220, disk);
	leave(tracker, 220, VIRT_HANDLER_IRQ);
	/* the trace ends before */
	enter(tracker, 230, disk);
	assert_int_equal(kvm_tracker_enter(tracker, -1, VCPU, 230, disk), -EINVAL);
	model = finish(tracker);
	CHECK(model, 0, 1000, { "30 disk", 1, 0, 0, 0, 0 });
	virt_model_free(model);
}

/** Deeper than any kernel nests, and an NMI that says to be longer than all that was before. */
static void test_limits(void **state)
{
	struct kvm_tracker *tracker = begin();
	struct virt_model *model;

	(void)state;
	for (int i = 0; i < 20; i++)
		enter(tracker, 110 + i, rcu);
	leave(tracker, 140, VIRT_HANDLER_SOFTIRQ);
	add(tracker, 145, KVM_EXIT, VCPU, 0, 0x60);
	model = finish(tracker);
	assert_true(virt_vcpu_handlings(model, 0, 0, 1000).n <= 8);
	virt_model_free(model);

	tracker = begin();
	enter(tracker, 110, rcu);
	assert_int_equal(kvm_tracker_handled(tracker, 0, VCPU, 120, nmi, INT64_MAX), 0);
	leave(tracker, 130, VIRT_HANDLER_SOFTIRQ);
	assert_int_equal(kvm_tracker_handled(tracker, 0, VCPU, 140, nmi, -5), 0);
	model = finish(tracker);
	CHECK(model, 0, 1000, { "RCU", 1, 20, 20, 0, 0 }, { "NMI", 2, 0, 0, 0, 0 });
	virt_model_free(model);
}

/** No moment of a vCPU is interrupted twice. */
static void test_overlap(void **state)
{
	struct virt_model *model = virt_model_new();
	const struct virt_handling first = { .start_ns = 10, .end_ns = 20, .begins = true };
	const struct virt_handling second = { .start_ns = 15, .end_ns = 30, .begins = true };
	uint64_t count;

	(void)state;
	virt_model_add_machine(model, 1, "g1");
	virt_model_add_vcpu(model, 0, 0, VCPU, "g1v0");
	assert_int_equal(virt_model_add_handling(model, &first), -EINVAL);
	assert_int_equal(virt_model_add_handler(model, VIRT_HANDLER_IRQ, "1"), 0);
	assert_int_equal(virt_model_add_handler(model, VIRT_HANDLER_N_KINDS, "1"), -EINVAL);
	assert_int_equal(virt_model_add_handling(model, &second), 0);
	assert_int_equal(virt_model_add_handling(model, &first), 0);
	assert_int_equal(virt_model_finish(model, 0, 100), 0);
	assert_int_equal(virt_vcpu_handlings(model, 0, 0, 100).n, 1);
	assert_non_null(virt_model_contradictions(model, 0, &count));
	assert_int_equal(count, 1);
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
