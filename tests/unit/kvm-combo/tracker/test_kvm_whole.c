// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_whole.c
 * @brief	Hypercalls from their exit to their entry as one record, on records made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kvm_records.h"

#define ENTERED	VIRT_INTERVAL_ENTERED
#define UNSPLIT	VIRT_INTERVAL_UNSPLIT
#define NOBODY	VIRT_NONE

static void test_alone(void **state)
{
	static const struct record records[] = {
		{ 100, 0, KVM_WHOLE, 10, 0, 30 },
		{ 200, 0, KVM_WHOLE, 10, 0, 20 },
		{ 250, 1, KVM_WHOLE, 11, 1, -1 },	/* without a duration */
		{ 300, 2, KVM_WHOLE, 10, 0, 40 },	/* it has moved */
	};
	struct virt_model *model = TRACK(records, 50, 400);
	static const struct expected first[] = {
		{ 50, VIRT_UNKNOWN, NOBODY, NULL, 0 },
		{ 70, VIRT_HYPERVISOR, 0, "HYPERCALL", EXIT | UNSPLIT },
		{ 100, VIRT_UNKNOWN, 0, NULL, ENTERED },
		{ 180, VIRT_HYPERVISOR, 0, "HYPERCALL", EXIT | UNSPLIT },
		{ 200, VIRT_UNKNOWN, 0, NULL, ENTERED },
		{ 260, VIRT_HYPERVISOR, 2, "HYPERCALL", EXIT | UNSPLIT | MOVED },
		{ 300, VIRT_UNKNOWN, 2, NULL, ENTERED },
	};
	static const struct expected second[] = {
		{ 50, VIRT_UNKNOWN, NOBODY, NULL, 0 },
		{ 250, VIRT_UNKNOWN, 1, NULL, ENTERED },
	};
	struct virt_exit exit;

	(void)state;
	CHECK(model, 10, first);
	CHECK(model, 11, second);
	assert_true(virt_model_knows_calls_only(model));
	assert_null(virt_model_contradictions(model, 0, NULL));
	/* what it cost is known, as it has entered again */
	assert_true(virt_vcpu_next_exit(model, virt_model_find_vcpu(model, 10), 0, &exit));
	assert_true(exit.complete);
	assert_int_equal(exit.cost_ns, 30);
	virt_model_free(model);
}

/** What cannot be: it was in the guest by then, another thread had the CPU. */
static void test_too_long(void **state)
{
	static const struct record records[] = {
		{ 100, 0, KVM_WHOLE, 10, 0, INT64_MAX },
		{ 200, 0, KVM_WHOLE, 10, 0, 150 },
		{ 300, 0, KVM_SEEN, 50, 0, 0 },
		{ 400, 0, KVM_WHOLE, 10, 0, 150 },
	};
	struct virt_model *model = TRACK(records, 50, 500);
	static const struct expected expected[] = {
		{ 50, VIRT_HYPERVISOR, 0, "HYPERCALL", UNSPLIT },
		{ 100, VIRT_UNKNOWN, 0, NULL, ENTERED },
		{ 300, VIRT_HYPERVISOR, 0, "HYPERCALL", UNSPLIT },
		{ 400, VIRT_UNKNOWN, 0, NULL, ENTERED },
	};
	uint64_t count = 0;

	(void)state;
	CHECK(model, 10, expected);
	assert_non_null(virt_model_contradictions(model, 0, &count));
	assert_int_equal(count, 1);
	virt_model_free(model);
}

/** The host's scheduler shows when its thread has a CPU; that is in the guest, or not. */
static void test_with_switches(void **state)
{
	static const struct record records[] = {
		{ 100, 0, KVM_SWITCH, IDLE, 10, RUNS },
		{ 150, 0, KVM_WHOLE, 10, 0, 20 },
		{ 160, 0, KVM_USERSPACE_EXIT, 10, 2, 0 },
		{ 200, 0, KVM_SWITCH, 10, 50, RUNS },
		{ 300, 0, KVM_SWITCH, 50, 10, RUNS },
		{ 310, 0, KVM_WHOLE, 10, 0, 130 },	/* its exit was before all that */
		{ 400, 0, KVM_SWITCH, 10, IDLE, ASLEEP },
	};
	struct virt_model *model = TRACK(records, 50, 500);
	static const struct expected expected[] = {
		{ 50, VIRT_UNKNOWN, NOBODY, NULL, 0 },
		{ 100, VIRT_UNKNOWN, 0, NULL, VIRT_INTERVAL_ON_PCPU },
		{ 130, VIRT_HYPERVISOR, 0, "HYPERCALL", EXIT },
		{ 150, VIRT_UNKNOWN, 0, NULL, ENTERED | VIRT_INTERVAL_ON_PCPU },
		{ 200, VIRT_PREEMPTED, 0, "stress-50", 0 },
		{ 300, VIRT_HYPERVISOR, 0, "HYPERCALL", 0 },
		{ 310, VIRT_UNKNOWN, 0, NULL, ENTERED | VIRT_INTERVAL_ON_PCPU },
		{ 400, VIRT_BLOCKED, 0, NULL, VIRT_INTERVAL_LOOSE },
	};

	(void)state;
	CHECK(model, 10, expected);
	assert_null(virt_model_contradictions(model, 0, NULL));
	virt_model_free(model);
}

/** Beside entries and exits, it adds nothing. */
static void test_beside_entries(void **state)
{
	static const struct record records[] = {
		{ 100, 0, KVM_ENTRY, 10, 0, 0 },
		{ 200, 0, KVM_EXIT, 10, 0, INTR },
		{ 250, 0, KVM_ENTRY, 10, 0, 0 },
		{ 251, 0, KVM_WHOLE, 10, 0, 40 },
	};
	struct virt_model *model = TRACK(records, 100, 300);
	static const struct expected expected[] = {
		{ 100, VIRT_GUEST, 0, NULL, 0 },
		{ 200, VIRT_HYPERVISOR, 0, "INTR", EXIT | UNSPLIT },
		{ 250, VIRT_GUEST, 0, NULL, 0 },
	};

	(void)state;
	CHECK(model, 10, expected);
	assert_false(virt_model_knows_calls_only(model));
	virt_model_free(model);
}

static void test_nobody(void **state)
{
	static const struct record records[] = {
		{ 100, 0, KVM_WHOLE, IDLE, 0, 30 },
		{ 200, 0, KVM_WHOLE, 10, 0, 30 },
	};
	struct virt_model *model = TRACK(records, 50, 300);

	(void)state;
	assert_int_equal(virt_model_n_vcpus(model), 1);
	assert_non_null(virt_model_contradictions(model, 0, NULL));
	virt_model_free(model);
}

/** After lost records, only what it shows is known. */
static void test_lost(void **state)
{
	static const struct record records[] = {
		{ 100, 0, KVM_WHOLE, 10, 0, 30 },
		{ 200, 0, KVM_LOST, 10, 0, 3 },
		{ 200, 0, KVM_WHOLE, 10, 0, 30 },
	};
	struct virt_model *model = TRACK(records, 50, 300);
	static const struct expected expected[] = {
		{ 50, VIRT_UNKNOWN, NOBODY, NULL, 0 },
		{ 70, VIRT_HYPERVISOR, 0, "HYPERCALL", EXIT | UNSPLIT },
		{ 100, VIRT_UNKNOWN, 0, NULL, ENTERED },
	};

	(void)state;
	CHECK(model, 10, expected);
	assert_int_equal(virt_model_losses(model).n, 1);
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_with_switches),
		cmocka_unit_test(test_beside_entries),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
