// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_holds.c
 * @brief	Whether a CPU quota holds a vCPU, on records made by hand.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kvm_records.h"
#include "virt_limits.h"
#include "virt_steal.h"

#define QUOTA_TIMER	INT64_C(0x8ab0)
#define OTHER_TIMER	INT64_C(0x1230)

/** Of machines, thread 10 and 11 have a quota; 30 has none. */
static struct virt_model *track_limited(const struct record *records, size_t n, int64_t end,
					bool has_timers)
{
	struct kvm_tracker *tracker = kvm_tracker_new();
	struct virt_model *model = NULL;

	assert_non_null(tracker);
	kvm_tracker_expect(tracker, ENABLED(SWITCH) | ENABLED(WAKEUP));
	if (has_timers)
		kvm_tracker_quota_timers(tracker, (const uint64_t[KVM_QUOTA_TIMERS]){
			(uint64_t)QUOTA_TIMER, 0,
		});
	assert_int_equal(kvm_tracker_add_guest(tracker, "web", (const int32_t[]){ 10, 11 }, 2), 0);
	assert_int_equal(kvm_tracker_add_guest(tracker, "db", (const int32_t[]){ 30 }, 1), 0);
	assert_int_equal(kvm_tracker_limit(tracker, 10, KVM_QUOTA_LIMITED), 0);
	assert_int_equal(kvm_tracker_limit(tracker, 11, KVM_QUOTA_LIMITED), 0);
	assert_int_equal(kvm_tracker_limit(tracker, 30, KVM_QUOTA_NONE), 0);
	assert_int_equal(kvm_tracker_limit(tracker, 0, KVM_QUOTA_NONE), -EINVAL);
	for (int cpu = 1; cpu >= 0; cpu--)
		for (size_t i = 0; i < n; i++) {
			struct kvm_event event = event_of(&records[i]);

			if (records[i].cpu != cpu)
				continue;
			if (records[i].kind == KVM_LOST)
				assert_int_equal(kvm_tracker_lost(tracker, cpu, records[i].pid,
								  records[i].time, 1), 0);
			else
				assert_int_equal(kvm_tracker_add(tracker, &event), 0);
		}
	assert_int_equal(kvm_tracker_finish(tracker, 0, end, &model), 0);
	kvm_tracker_free(tracker);
	return model;
}

struct held { int64_t from, to; bool possible, complete; };

static void check_holds(const struct virt_model *model, int32_t pid, const struct held *wanted,
			size_t n)
{
	int32_t vcpu = virt_model_find_vcpu(model, pid);
	size_t n_found = 0;

	assert_true(virt_model_knows_holds(model));
	for (int possible = 0; possible < 2; possible++) {
		struct virt_hold_range range = possible ?
			virt_vcpu_possible_holds(model, vcpu, INT64_MIN, INT64_MAX) :
			virt_vcpu_holds(model, vcpu, INT64_MIN, INT64_MAX);

		for (size_t i = 0; i < range.n; i++, n_found++) {
			const struct virt_hold *hold = &range.first[i];

			print_message("%lld .. %lld %s\n", (long long)hold->from_ns,
				      (long long)hold->to_ns, possible ? "possible" : "held");
			assert_true(n_found < n);
			assert_int_equal(hold->from_ns, wanted[n_found].from);
			assert_int_equal(hold->to_ns, wanted[n_found].to);
			assert_int_equal(possible, wanted[n_found].possible);
			assert_int_equal(hold->complete, wanted[n_found].complete);
		}
	}
	assert_int_equal(n_found, n);
}

#define CHECK_HOLDS(model, pid, wanted) \
	check_holds(model, pid, wanted, sizeof(wanted) / sizeof((wanted)[0]))

/** vCPU 10 is preempted by task 50, and its pCPU has nothing to do before it goes on. */
static const struct record idle[] = {
	{ 100, 0, KVM_SWITCH, IDLE, 10, RUNS },
	{ 110, 0, KVM_USERSPACE_EXIT, 10, 2, 0 },
	{ 120, 1, KVM_SWITCH, 50, 11, RUNS },
	{ 130, 1, KVM_USERSPACE_EXIT, 11, 2, 0 },
	{ 140, 1, KVM_SWITCH, 11, 30, ASLEEP },
	{ 150, 1, KVM_USERSPACE_EXIT, 30, 2, 0 },
	{ 200, 0, KVM_SWITCH, 10, 50, RUNS },
	{ 250, 0, KVM_EXPIRED, 50, 0, OTHER_TIMER },
	{ 300, 0, KVM_SWITCH, 50, IDLE, ASLEEP },
	{ 400, 0, KVM_SWITCH, IDLE, 51, RUNS },
	{ 500, 0, KVM_EXPIRED, 51, 0, QUOTA_TIMER },
	{ 550, 0, KVM_SWITCH, 51, 10, RUNS },
	{ 600, 0, KVM_SWITCH, 10, 51, RUNS },		/* preempted, and no timer expires */
	{ 610, 0, KVM_SWITCH, 51, IDLE, ASLEEP },
	{ 620, 0, KVM_SWITCH, IDLE, 10, RUNS },
};

static void test_idle(void **state)
{
	static const struct held with_timers[] = { { 200, 500, false, true } };
	static const struct held without[] = {
		{ 200, 550, true, true }, { 600, 620, true, true },
	};
	size_t n = sizeof(idle) / sizeof(idle[0]);
	struct virt_model *model = track_limited(idle, n, 700, true);
	struct virt_culprit culprits[4];
	int64_t ns[VIRT_STEAL_N_KINDS];
	int32_t vcpu = virt_model_find_vcpu(model, 10);
	size_t n_culprits;

	(void)state;
	CHECK_HOLDS(model, 10, with_timers);
	check_holds(model, 11, NULL, 0);
	check_holds(model, 30, NULL, 0);
	n_culprits = virt_vcpu_culprits(model, vcpu, 0, 700, culprits, 4);
	virt_steal_split(model, vcpu, 0, 700, culprits, n_culprits, ns);
	assert_int_equal(ns[VIRT_STEAL_LIMIT], 300);
	assert_int_equal(ns[VIRT_STEAL_HOST], 50 + 10);
	assert_int_equal(ns[VIRT_STEAL_NOBODY], 10);
	assert_int_equal(ns[VIRT_STEAL_UNKNOWN], 0);
	virt_model_free(model);
	/* fewer records make nothing certain: at 600 it was no hold */
	model = track_limited(idle, n, 700, false);
	CHECK_HOLDS(model, 10, without);
	virt_model_free(model);
}

/** Without an idle pCPU, only a wait in which a timer expires may be due to the quota. */
static void test_busy(void **state)
{
	static const struct record records[] = {
		{ 100, 0, KVM_SWITCH, IDLE, 10, RUNS },
		{ 110, 0, KVM_USERSPACE_EXIT, 10, 2, 0 },
		{ 200, 0, KVM_SWITCH, 10, 50, RUNS },
		{ 300, 0, KVM_SWITCH, 50, 10, RUNS },
		{ 400, 0, KVM_SWITCH, 10, 50, RUNS },
		{ 450, 0, KVM_EXPIRED, 50, 0, QUOTA_TIMER },
		{ 500, 0, KVM_SWITCH, 50, 10, RUNS },
		{ 600, 0, KVM_SWITCH, 10, 50, RUNS },	/* until the trace ends */
	};
	static const struct held wanted[] = {
		{ 400, 450, true, true }, { 600, 700, true, false },
	};
	struct virt_model *model = track_limited(records, sizeof(records) / sizeof(records[0]),
						 700, true);
	struct virt_held held = virt_vcpu_held(model, virt_model_find_vcpu(model, 10), 420, 650);

	(void)state;
	CHECK_HOLDS(model, 10, wanted);
	assert_int_equal(held.ns, 0);
	assert_int_equal(held.possible_ns, 30 + 50);
	assert_int_equal(held.possible, 1);
	virt_model_free(model);
}

/** Another thread that may share the quota may have used it up. */
static void test_shared(void **state)
{
	static const struct record records[] = {
		{ 100, 0, KVM_SWITCH, IDLE, 10, RUNS },
		{ 110, 0, KVM_USERSPACE_EXIT, 10, 2, 0 },
		{ 200, 0, KVM_SWITCH, 10, 11, RUNS },
		{ 210, 0, KVM_USERSPACE_EXIT, 11, 2, 0 },
		{ 300, 0, KVM_SWITCH, 11, IDLE, RUNS },	/* held, too */
		{ 400, 0, KVM_EXPIRED, IDLE, 0, QUOTA_TIMER },
		{ 410, 0, KVM_SWITCH, IDLE, 11, RUNS },
		{ 420, 0, KVM_SWITCH, 11, 10, ASLEEP },
	};
	static const struct held first[] = { { 300, 400, false, true }, { 200, 300, true, true } };
	static const struct held second[] = { { 300, 400, false, true } };
	struct virt_model *model = track_limited(records, sizeof(records) / sizeof(records[0]),
						 500, true);

	(void)state;
	CHECK_HOLDS(model, 10, first);
	CHECK_HOLDS(model, 11, second);
	virt_model_free(model);
}

/** A pCPU that stays idle when a timer expires shows that this one has not ended the hold. */
static void test_debt(void **state)
{
	static const struct record records[] = {
		{ 100, 0, KVM_SWITCH, IDLE, 10, RUNS },
		{ 110, 0, KVM_USERSPACE_EXIT, 10, 2, 0 },
		{ 200, 0, KVM_SWITCH, 10, IDLE, RUNS },
		{ 300, 1, KVM_EXPIRED, IDLE, 0, QUOTA_TIMER },
		{ 400, 1, KVM_EXPIRED, IDLE, 0, QUOTA_TIMER },
		{ 410, 0, KVM_SWITCH, IDLE, 10, RUNS },
		{ 500, 0, KVM_SWITCH, 10, IDLE, RUNS },
		{ 600, 1, KVM_EXPIRED, IDLE, 0, QUOTA_TIMER },
		{ 610, 0, KVM_SWITCH, IDLE, 51, RUNS },
		{ 700, 1, KVM_EXPIRED, IDLE, 0, QUOTA_TIMER },	/* maybe another quota's */
		{ 710, 0, KVM_SWITCH, 51, 10, ASLEEP },
	};
	static const struct held wanted[] = {
		{ 200, 400, false, true }, { 500, 600, false, true }, { 600, 700, true, true },
	};
	struct virt_model *model = track_limited(records, sizeof(records) / sizeof(records[0]),
						 800, true);

	(void)state;
	CHECK_HOLDS(model, 10, wanted);
	virt_model_free(model);
}

/** A wake-up says for which pCPU it waits; where it is moved to, another wait begins. */
static void test_woken_and_moved(void **state)
{
	static const struct record records[] = {
		{ 100, 0, KVM_SWITCH, IDLE, 10, RUNS },
		{ 110, 0, KVM_USERSPACE_EXIT, 10, 2, 0 },
		{ 200, 0, KVM_SWITCH, 10, 50, ASLEEP },
		{ 250, 0, KVM_WAKEUP, 50, 10, 0 },
		{ 300, 0, KVM_SWITCH, 50, IDLE, ASLEEP },
		{ 400, 0, KVM_EXPIRED, IDLE, 0, QUOTA_TIMER },
		{ 410, 0, KVM_SWITCH, IDLE, 10, RUNS },
		{ 500, 0, KVM_SWITCH, 10, 51, RUNS },
		{ 510, 1, KVM_SWITCH, 52, 50, RUNS },
		{ 550, 1, KVM_MIGRATE, 50, 10, 1 },
		{ 600, 1, KVM_SWITCH, 50, IDLE, ASLEEP },
		{ 700, 1, KVM_EXPIRED, IDLE, 0, QUOTA_TIMER },
		{ 710, 1, KVM_SWITCH, IDLE, 10, RUNS },
	};
	static const struct held wanted[] = {
		{ 250, 400, false, true }, { 550, 700, false, true },
	};
	struct virt_model *model = track_limited(records, sizeof(records) / sizeof(records[0]),
						 800, true);

	(void)state;
	CHECK_HOLDS(model, 10, wanted);
	virt_model_free(model);
}

/** What is lost may be anything; a vCPU of which nothing is known leaves all unknown. */
static void test_unknown(void **state)
{
	static const struct record records[] = {
		{ 100, 0, KVM_SWITCH, IDLE, 10, RUNS },
		{ 110, 0, KVM_USERSPACE_EXIT, 10, 2, 0 },
		{ 200, 0, KVM_SWITCH, 10, IDLE, RUNS },
		{ 250, 1, KVM_SEEN, 50, 0, 0 },
		{ 300, 1, KVM_LOST, 50, 0, 0 },
		{ 400, 0, KVM_SWITCH, IDLE, 10, RUNS },
	};
	static const struct record stranger[] = {
		{ 100, 0, KVM_SWITCH, IDLE, 40, RUNS },
		{ 110, 0, KVM_USERSPACE_EXIT, 40, 2, 0 },
		{ 200, 0, KVM_SWITCH, 40, IDLE, RUNS },
	};
	static const struct held wanted[] = { { 200, 251, true, false } };
	struct virt_model *model = track_limited(records, sizeof(records) / sizeof(records[0]),
						 500, false);

	(void)state;
	CHECK_HOLDS(model, 10, wanted);
	virt_model_free(model);
	model = track_limited(stranger, sizeof(stranger) / sizeof(stranger[0]), 500, false);
	assert_false(virt_model_knows_holds(model));
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_debt),
		cmocka_unit_test(test_woken_and_moved),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
