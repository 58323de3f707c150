// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	test_kvm_tracker.c
 * @brief	What vCPUs do, of records made by hand as a KVM host has them; figures, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "kvm_records.h"
#include "virt_window.h"

/** Thread 100 is vCPU 0; it halts, is woken, exits to its monitor, is preempted, moves and dies. */
static void test_one_life(void **state)
{
	static const struct record records[] = {
		{ 10, 1, KVM_SWITCH, IDLE, 100, RUNS },
		{ 20, 1, KVM_ENTRY, 100, 0, 0 },
		{ 50, 1, KVM_EXIT, 100, 0, HLT },
		{ 55, 1, KVM_SWITCH, 100, IDLE, ASLEEP },
		{ 90, 2, KVM_WAKEUP, 60, 100, 0 },
		{ 95, 1, KVM_SWITCH, IDLE, 100, RUNS },
		{ 100, 1, KVM_ENTRY, 100, 0, 0 },
		{ 130, 1, KVM_EXIT, 100, 0, IOIO },
		{ 135, 1, KVM_USERSPACE_EXIT, 100, 0, 0 },
		{ 160, 1, KVM_ENTRY, 100, 0, 0 },
		{ 200, 1, KVM_EXIT, 100, 0, INTR },
		{ 205, 1, KVM_SWITCH, 100, 50, RUNS },
		{ 240, 2, KVM_MIGRATE, 60, 100, 2 },
		{ 260, 2, KVM_SWITCH, 60, 100, RUNS },
		{ 265, 2, KVM_ENTRY, 100, 0, 0 },
		{ 300, 2, KVM_EXIT, 100, 0, INTR },
		{ 310, 2, KVM_SWITCH, 100, IDLE, DEAD },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_UNKNOWN, -1, NULL, 0 },
		/* what it did from 10 on is known by the entry at 20 */
		{ 10, VIRT_HYPERVISOR, 1, NULL, 0 },
		{ 20, VIRT_GUEST, 1, NULL, 0 },
		{ 50, VIRT_HYPERVISOR, 1, "HLT", EXIT },
		{ 55, VIRT_BLOCKED, 1, NULL, 0 },
		{ 90, VIRT_WAKING, 1, NULL, 0 },
		{ 95, VIRT_HYPERVISOR, 1, "HLT", 0 },
		{ 100, VIRT_GUEST, 1, NULL, 0 },
		{ 130, VIRT_HYPERVISOR, 1, "IOIO", EXIT },
		{ 135, VIRT_VMM, 1, "IOIO", 0 },
		{ 160, VIRT_GUEST, 1, NULL, 0 },
		{ 200, VIRT_HYPERVISOR, 1, "INTR", EXIT },
		{ 205, VIRT_PREEMPTED, 1, "stress-50", 0 },
		/* it waits for CPU 2 now, where thread 60 is, by its records, without a name */
		{ 240, VIRT_PREEMPTED, 2, "task-60", 0 },
		{ 260, VIRT_HYPERVISOR, 2, "INTR", MOVED },
		{ 265, VIRT_GUEST, 2, NULL, 0 },
		{ 300, VIRT_HYPERVISOR, 2, "INTR", EXIT },
		{ 310, VIRT_OFFLINE, 2, NULL, 0 },
	};
	struct virt_model *model = TRACK(records, 0, 400);
	struct virt_pcpu_totals totals;
	struct virt_exit_total exits[4];

	(void)state;
	CHECK(model, 100, expected);
	assert_string_equal(virt_model_vcpu(model, 0)->name, "g1v0");
	/* CPU 1: unknown to 10; vCPU 10..55; idle to 95; vCPU to 205; thread 50 to the end */
	virt_pcpu_totals(model, 1, 0, 400, &totals);
	assert_int_equal(totals.unknown_ns, 10);
	assert_int_equal(totals.idle_ns, 40);
	assert_int_equal(totals.task_ns, 195);
	assert_int_equal(totals.state_ns[VIRT_GUEST], 30 + 30 + 40);
	assert_int_equal(totals.state_ns[VIRT_VMM], 25);
	assert_int_equal(totals.state_ns[VIRT_HYPERVISOR], 10 + 5 + 5 + 5 + 5);
	/* INTR: 5 + 55 + 5, and one without an end; HLT: 5 + 5 + 5, not its 35 asleep; IOIO: 30 */
	assert_int_equal(virt_vcpu_exits(model, 0, 0, 400, exits, 4), 3);
	assert_string_equal(virt_model_reason(model, exits[0].reason), "INTR");
	assert_int_equal(exits[0].count, 2);
	assert_int_equal(exits[0].complete, 1);
	assert_int_equal(exits[0].ns, 65);
	assert_string_equal(virt_model_reason(model, exits[1].reason), "IOIO");
	assert_int_equal(exits[1].ns, 30);
	assert_string_equal(virt_model_reason(model, exits[2].reason), "HLT");
	assert_int_equal(exits[2].ns, 15);
	assert_null(virt_model_contradictions(model, 0, NULL));
	virt_model_free(model);
}

/**
 * Records that show only who is there: without switches, the last one is how long that is known.
 * With switches, the vCPU is there until it is switched out.
 */
static void test_seen(void **state)
{
	for (int has_switches = 0; has_switches < 2; has_switches++) {
		struct kvm_tracker *tracker = kvm_tracker_new();
		const struct kvm_event events[] = {
			{ .time_ns = 5, .kind = KVM_SWITCH, .pid = 60, .arg = 100 },
			{ .time_ns = 10, .kind = KVM_ENTRY, .pid = 100, .more = KVM_ISA_SVM },
			{ .time_ns = 20, .kind = KVM_EXIT, .pid = 100, .value = INTR,
			  .more = KVM_ISA_SVM },
		};
		struct virt_interval_range range;
		struct virt_model *model;

		for (size_t i = !has_switches; i < 3; i++)
			assert_int_equal(kvm_tracker_add(tracker, &events[i]), 0);
		for (int64_t t = 30; t <= 50; t += 10)
			assert_int_equal(kvm_tracker_seen(tracker, 0, 100, t), 0);
		if (has_switches)
			assert_int_equal(kvm_tracker_add(tracker, &(struct kvm_event){
				.time_ns = 70, .kind = KVM_SWITCH, .pid = 100, .arg = 50,
				.value = ASLEEP }), 0);
		assert_int_equal(kvm_tracker_seen(tracker, 0, 50, 80), 0);
		assert_int_equal(kvm_tracker_finish(tracker, 0, 100, &model), 0);
		kvm_tracker_free(tracker);
		range = virt_vcpu_intervals(model, virt_model_find_vcpu(model, 100), 20, 100);
		assert_int_equal(range.n, 2);
		assert_int_equal(range.first[0].start_ns, 20);
		assert_int_equal(range.first[0].state, VIRT_HYPERVISOR);
		assert_int_equal(range.first[1].start_ns, has_switches ? 70 : 50);
		assert_int_equal(range.first[1].state, has_switches ? VIRT_BLOCKED : VIRT_UNKNOWN);
		virt_model_free(model);
	}
	(void)state;
}

/** What the trace has a record of was recorded, and what it says that it would have. */
static void test_recorded(void **state)
{
	static const struct record records[] = {
		{ 10, 1, KVM_SWITCH, IDLE, 100, RUNS },
		{ 20, 1, KVM_ENTRY, 100, 0, 0 },
		/* an interrupt for itself, of which no more is kept */
		{ 30, 1, KVM_INJECT, 100, 0, 33 },
	};
	struct kvm_tracker *tracker = kvm_tracker_new();
	struct virt_model *model = TRACK(records, 0, 100), *empty = virt_model_new();

	(void)state;
	assert_int_equal(virt_model_recorded(model), VIRT_RECORD_BIT(VIRT_RECORD_SWITCH) |
			 VIRT_RECORD_BIT(VIRT_RECORD_ENTRY) | VIRT_RECORD_BIT(VIRT_RECORD_INJECT));
	assert_true(virt_model_has_recorded(model, VIRT_RECORD_ENTRY));
	assert_false(virt_model_has_recorded(model, VIRT_RECORD_EXIT));
	assert_int_equal(virt_model_set_recorded(model, 0), -EINVAL);
	virt_model_free(model);

	kvm_tracker_expect(tracker, VIRT_RECORD_BIT(VIRT_RECORD_WAKEUP));
	assert_int_equal(kvm_tracker_finish(tracker, 0, 100, &model), 0);
	assert_int_equal(virt_model_recorded(model), VIRT_RECORD_BIT(VIRT_RECORD_WAKEUP));
	virt_model_free(model);
	kvm_tracker_free(tracker);

	/* a model without a list of recorded events takes all as known */
	assert_int_equal(virt_model_recorded(empty), VIRT_RECORDED_ALL);
	virt_model_free(empty);
}

/** Two vCPUs share CPU 0; each takes it from the other. */
static void test_culprits(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_ENTRY, 100, 0, 0 },
		{ 30, 0, KVM_EXIT, 100, 0, INTR },
		{ 31, 0, KVM_SWITCH, 100, 101, RUNS },
		{ 32, 0, KVM_ENTRY, 101, 1, 0 },
		{ 70, 0, KVM_EXIT, 101, 1, INTR },
		{ 71, 0, KVM_SWITCH, 101, 100, RUNS },
		{ 72, 0, KVM_ENTRY, 100, 0, 0 },
	};
	static const struct expected first[] = {
		{ 0, VIRT_GUEST, 0, NULL, 0 },
		{ 30, VIRT_HYPERVISOR, 0, "INTR", EXIT },
		{ 31, VIRT_PREEMPTED, 0, "g1v1", 0 },
		{ 71, VIRT_HYPERVISOR, 0, "INTR", 0 },
		{ 72, VIRT_GUEST, 0, NULL, 0 },
	};
	static const struct expected second[] = {
		{ 0, VIRT_UNKNOWN, -1, NULL, 0 },
		{ 31, VIRT_HYPERVISOR, 0, NULL, 0 },
		{ 32, VIRT_GUEST, 0, NULL, 0 },
		{ 70, VIRT_HYPERVISOR, 0, "INTR", EXIT },
		{ 71, VIRT_PREEMPTED, 0, "g1v0", 0 },
	};
	struct virt_model *model = TRACK(records, 0, 100);
	struct virt_culprit culprit;

	(void)state;
	CHECK(model, 100, first);
	CHECK(model, 101, second);
	assert_int_equal(virt_vcpu_culprits(model, 0, 0, 100, &culprit, 1), 1);
	assert_int_equal(culprit.vcpu, 1);
	assert_int_equal(culprit.ns, 40);
	virt_model_free(model);
}

/**
 * Thread 100 has no records until it is woken; both CPUs are known from 5 on, however often one
 * of them is handed on before.
 */
static void test_asleep_from_the_beginning(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SEEN, 50, 0, 0 },
		{ 2, 0, KVM_SWITCH, 50, 60, RUNS },
		{ 3, 0, KVM_SWITCH, 60, 50, RUNS },
		{ 5, 1, KVM_SEEN, IDLE, 0, 0 },
		{ 40, 0, KVM_WAKEUP, 50, 100, 0 },
		{ 45, 1, KVM_SWITCH, IDLE, 100, RUNS },
		{ 46, 1, KVM_ENTRY, 100, 0, 0 },
		{ 90, 1, KVM_EXIT, 100, 0, INTR },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_UNKNOWN, -1, NULL, 0 },
		{ 5, VIRT_BLOCKED, -1, NULL, 0 },
		{ 40, VIRT_WAKING, -1, NULL, 0 },
		{ 45, VIRT_HYPERVISOR, 1, NULL, 0 },
		{ 46, VIRT_GUEST, 1, NULL, 0 },
		{ 90, VIRT_HYPERVISOR, 1, "INTR", EXIT },
	};
	struct virt_model *model = TRACK(records, 0, 100);

	(void)state;
	CHECK(model, 100, expected);
	virt_model_free(model);
}

#define UNSPLIT		VIRT_INTERVAL_UNSPLIT
#define UNASKED		VIRT_INTERVAL_UNASKED

/** With kvm_entry and kvm_exit alone, time between is unknown; after HLT, it may sleep. */
static void test_entries_and_exits_only(void **state)
{
	static const struct record records[] = {
		/* an exit first: it was in the guest since that CPU's first record */
		{ 5, 0, KVM_SEEN, 100, 0, 0 },
		{ 10, 0, KVM_EXIT, 100, VIRT_NONE, IOIO },
		{ 50, 0, KVM_ENTRY, 100, 7, 0 },
		{ 60, 0, KVM_EXIT, 100, VIRT_NONE, HLT },
		{ 90, 0, KVM_ENTRY, 100, 7, 0 },
		{ 95, 0, KVM_EXIT, 100, VIRT_NONE, IOIO },
		{ 96, 0, KVM_USERSPACE_EXIT, 100, 2, 0 },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_UNKNOWN, -1, NULL, 0 },
		{ 5, VIRT_GUEST, 0, NULL, 0 },
		{ 10, VIRT_HYPERVISOR, 0, "IOIO", EXIT | UNSPLIT },
		{ 50, VIRT_GUEST, 0, NULL, 0 },
		{ 60, VIRT_HYPERVISOR, 0, "HLT", EXIT | UNSPLIT },
		{ 60, VIRT_UNKNOWN, 0, NULL, UNSPLIT },
		{ 90, VIRT_GUEST, 0, NULL, 0 },
		{ 95, VIRT_HYPERVISOR, 0, "IOIO", EXIT | UNSPLIT },
		{ 96, VIRT_VMM, 0, "IOIO", UNSPLIT },
	};
	struct virt_model *model = TRACK(records, 0, 100);
	struct virt_machine_totals together;
	struct virt_exit_total exits[3];
	struct virt_pcpu_totals totals;

	(void)state;
	CHECK(model, 100, expected);
	/* its exits do not have the number, its entries do */
	assert_string_equal(virt_model_vcpu(model, 0)->name, "g1v7");
	virt_pcpu_totals(model, 0, 0, 100, &totals);
	assert_int_equal(totals.state_ns[VIRT_GUEST], 5 + 10 + 5);
	assert_int_equal(totals.state_ns[VIRT_HYPERVISOR], 40 + 1);
	assert_int_equal(totals.state_ns[VIRT_VMM], 4);
	assert_int_equal(totals.unknown_ns, 5 + 30);
	/* what HLT has cost is not known */
	assert_int_equal(virt_vcpu_exits(model, 0, 0, 100, exits, 3), 2);
	assert_int_equal(exits[0].ns, 40);
	assert_string_equal(virt_model_reason(model, exits[1].reason), "HLT");
	assert_int_equal(exits[1].count, 1);
	assert_int_equal(exits[1].complete, 0);
	/* all of it runs when it is in the guest, else who knows */
	virt_machine_totals(model, 0, 5, 100, &together);
	assert_int_equal(together.ns[VIRT_M_FULL_RUN], 20);
	assert_int_equal(together.ns[VIRT_M_LOST], 75);
	virt_model_free(model);
}

/**
 * Without switches, a vCPU has left its pCPU when another thread is seen there, or when it is seen
 * elsewhere; since an unknown time.
 */
static void test_one_pcpu_at_a_time(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_ENTRY, 100, 0, 0 },
		{ 10, 0, KVM_EXIT, 100, 0, INTR },
		/* still there: three records, of which the last one shows how long */
		{ 12, 0, KVM_SEEN, 100, 0, 0 },
		{ 14, 0, KVM_SEEN, 100, 0, 0 },
		{ 16, 0, KVM_SEEN, 100, 0, 0 },
		{ 30, 1, KVM_ENTRY, 100, 0, 0 },
		{ 40, 1, KVM_EXIT, 100, 0, INTR },
		{ 45, 1, KVM_SEEN, 50, 0, 0 },
		{ 50, 1, KVM_SEEN, 50, 0, 0 },
		{ 60, 1, KVM_ENTRY, 100, 0, 0 },
		{ 70, 1, KVM_EXIT, 100, 0, INTR },
		{ 80, 1, KVM_ENTRY, 100, 0, 0 },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_GUEST, 0, NULL, 0 },
		{ 10, VIRT_HYPERVISOR, 0, "INTR", EXIT | UNSPLIT },
		{ 16, VIRT_UNKNOWN, 0, NULL, UNSPLIT },
		{ 30, VIRT_GUEST, 1, NULL, MOVED },
		{ 40, VIRT_HYPERVISOR, 1, "INTR", EXIT | UNSPLIT },
		{ 40, VIRT_UNKNOWN, 1, NULL, UNSPLIT },
		{ 60, VIRT_GUEST, 1, NULL, 0 },
		{ 70, VIRT_HYPERVISOR, 1, "INTR", EXIT | UNSPLIT },
		{ 80, VIRT_GUEST, 1, NULL, 0 },
	};
	struct virt_model *model = TRACK(records, 0, 100);
	struct virt_pcpu_totals totals;

	(void)state;
	CHECK(model, 100, expected);
	virt_pcpu_totals(model, 0, 0, 100, &totals);
	assert_int_equal(totals.state_ns[VIRT_GUEST], 10);
	assert_int_equal(totals.state_ns[VIRT_HYPERVISOR], 6);
	assert_int_equal(totals.unknown_ns, 84);
	/* it is unknown for how long thread 50 was there */
	virt_pcpu_totals(model, 1, 0, 100, &totals);
	assert_int_equal(totals.state_ns[VIRT_GUEST], 10 + 10 + 20);
	assert_int_equal(totals.state_ns[VIRT_HYPERVISOR], 10);
	assert_int_equal(totals.task_ns, 0);
	assert_int_equal(totals.unknown_ns, 30 + 20);
	assert_null(virt_model_contradictions(model, 0, NULL));
	virt_model_free(model);
}

/** With switches, too, when some of them are missing; but then it is said that something is. */
static void test_two_pcpus(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 0, 1, KVM_SEEN, IDLE, 0, 0 },
		{ 5, 0, KVM_ENTRY, 100, 0, 0 },
		{ 10, 0, KVM_EXIT, 100, 0, INTR },
		{ 30, 1, KVM_ENTRY, 100, 0, 0 },
		{ 40, 1, KVM_EXIT, 100, 0, INTR },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_HYPERVISOR, 0, NULL, 0 },
		{ 5, VIRT_GUEST, 0, NULL, 0 },
		{ 10, VIRT_HYPERVISOR, 0, "INTR", EXIT },
		{ 10, VIRT_UNKNOWN, 0, NULL, 0 },
		{ 30, VIRT_GUEST, 1, NULL, MOVED },
		{ 40, VIRT_HYPERVISOR, 1, "INTR", EXIT },
	};
	struct virt_model *model = TRACK(records, 0, 100);
	struct virt_pcpu_totals totals;
	uint64_t count;

	(void)state;
	CHECK(model, 100, expected);
	virt_pcpu_totals(model, 0, 0, 100, &totals);
	assert_int_equal(totals.state_ns[VIRT_GUEST], 5);
	assert_int_equal(totals.unknown_ns, 90);
	virt_pcpu_totals(model, 1, 0, 100, &totals);
	assert_int_equal(totals.state_ns[VIRT_GUEST], 10);
	assert_string_equal(virt_model_contradictions(model, 0, &count),
			    "a thread has a pCPU that it was not switched to");
	assert_string_equal(virt_model_contradictions(model, 1, &count),
			    "a vCPU's thread is on two pCPUs");
	assert_int_equal(count, 1);
	virt_model_free(model);
}

/* KVM_EXIT_... */
#define U_IO		2
#define U_HLT		5
#define U_INTR		10
#define VMMCALL		0x81
#define NPF		0x400

/** Only what the guest asks to wait for is asked for. */
static void test_waits(void **state)
{
	static const struct {
		int64_t		reason;
		int32_t		monitor;	/* KVM_EXIT_..., or 0: it stays in the kernel */
		int64_t		error;
		int64_t		call;		/* hypercall, or -1 */
		enum kvm_hypercall_abi abi;
		int32_t		arg;
		int64_t		prev_state;
		bool		unasked;
	} waits[] = {
		{ HLT, 0, 0, -1, 0, 0, ASLEEP, false },
		/* interrupt controllers of the monitor: it sleeps for the guest */
		{ HLT, U_HLT, 0, -1, 0, 0, ASLEEP, false },
		{ 0x77, 0, 0, -1, 0, 0, ASLEEP, false },
		{ IOIO, U_IO, 0, -1, 0, 0, ASLEEP, true },
		{ IOIO, U_IO, 0, -1, 0, 0, 2, true },
		{ IOIO, 0, 0, -1, 0, 0, ASLEEP, true },
		{ NPF, 0, 0, -1, 0, 0, 2, true },
		/* called back by a signal, to stop the machine perhaps */
		{ INTR, U_INTR, -4, -1, 0, 0, ASLEEP, false },
		{ INTR, 0, 0, -1, 0, 0, ASLEEP, true },
		/* hypercalls: which one is not known; SEND_IPI; SCHED_YIELD; Xen's poll */
		{ VMMCALL, 0, 0, -1, 0, 0, ASLEEP, false },
		{ VMMCALL, 0, 0, 10, KVM_HYPERCALL_KVM, 0, ASLEEP, true },
		{ VMMCALL, 0, 0, 11, KVM_HYPERCALL_KVM, 0, ASLEEP, false },
		{ VMMCALL, 0, 0, 29, KVM_HYPERCALL_XEN, 3, ASLEEP, false },
		{ VMMCALL, 0, 0, 29, KVM_HYPERCALL_XEN, 2, ASLEEP, true },
		{ VMMCALL, 0, 0, 8, KVM_HYPERCALL_HYPERV, 0, ASLEEP, false },
		/* encrypted guests halt with it, too; an unknown code */
		{ 0x403, 0, 0, -1, 0, 0, ASLEEP, false },
		{ 0x3ff, 0, 0, -1, 0, 0, ASLEEP, false },
	};

	(void)state;
	enabled_kinds = ENABLED(WAKEUP) | ENABLED(MONITOR) | ENABLED(HYPERCALL);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		const struct record records[] = {
			{ 0, 0, KVM_ENTRY, 100, 0, 0 },
			{ 10, 0, KVM_EXIT, 100, 0, waits[i].reason },
			{ 12, 0, waits[i].call >= 0 ? KVM_HYPERCALL : KVM_SEEN, 100, waits[i].arg,
			  waits[i].call },
			{ 14, 0, waits[i].monitor ? KVM_USERSPACE_EXIT : KVM_SEEN, 100,
			  waits[i].monitor, waits[i].error },
			{ 16, 0, KVM_SWITCH, 100, IDLE, waits[i].prev_state },
			{ 30, 0, KVM_SWITCH, IDLE, 100, RUNS },
			{ 40, 0, KVM_ENTRY, 100, 0, 0 },
		};
		struct virt_model *model;
		const struct virt_interval *asleep;

		hypercall_abi = waits[i].abi;
		model = TRACK(records, 0, 100);
		asleep = virt_vcpu_at(model, 0, 20, NULL);
		assert_int_equal(asleep->state, VIRT_BLOCKED);
		if (asleep->flags != (waits[i].unasked ? UNASKED : 0))
			fail_msg("row %zu: flags %#x", i, asleep->flags);
		virt_model_free(model);
	}
	enabled_kinds = 0;
}

#define LOOSE		VIRT_INTERVAL_LOOSE

/** Where a kind is missing that would say whose wait it is, or when it ended, no cost is known. */
static void test_loose_waits(void **state)
{
	static const struct {
		int		reason;
		uint64_t	enabled;
		uint8_t		flags;
	} waits[] = {
		{ HLT, ENABLED(WAKEUP), 0 },
		{ HLT, ENABLED(MONITOR) | ENABLED(HYPERCALL), LOOSE },
		/* a signal may have stopped the machine */
		{ IOIO, ENABLED(WAKEUP), LOOSE },
		{ IOIO, ENABLED(WAKEUP) | ENABLED(MONITOR), UNASKED },
		{ VMMCALL, ENABLED(WAKEUP) | ENABLED(MONITOR), LOOSE },
		{ VMMCALL, ENABLED(WAKEUP) | ENABLED(MONITOR) | ENABLED(HYPERCALL), 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		const struct record records[] = {
			{ 0, 0, KVM_ENTRY, 100, 0, 0 },
			{ 10, 0, KVM_EXIT, 100, 0, waits[i].reason },
			{ 16, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
			{ 30, 0, KVM_SWITCH, IDLE, 100, RUNS },
			{ 40, 0, KVM_ENTRY, 100, 0, 0 },
		};
		struct virt_model *model;
		struct virt_exit exit;

		enabled_kinds = waits[i].enabled;
		model = TRACK(records, 0, 100);
		assert_int_equal(virt_vcpu_at(model, 0, 20, NULL)->flags, waits[i].flags);
		assert_true(virt_vcpu_next_exit(model, 0, 0, &exit));
		assert_int_equal(exit.complete, waits[i].flags != LOOSE);
		if (exit.complete)
			assert_int_equal(exit.cost_ns, waits[i].flags ? 30 : 16);
		virt_model_free(model);
	}
	enabled_kinds = 0;
}

/** A vCPU that gets another pCPU than it waits for has an unknown culprit. */
static void test_moved(void **state)
{
	static const struct record records[] = {
		{ 0, 1, KVM_SWITCH, IDLE, 100, RUNS },
		{ 10, 1, KVM_SWITCH, 100, 50, RUNS },
		{ 30, 1, KVM_SWITCH, 50, 100, RUNS },
		{ 40, 1, KVM_SWITCH, 100, 50, RUNS },
		{ 60, 2, KVM_SWITCH, IDLE, 100, RUNS },
		{ 70, 2, KVM_ENTRY, 100, 0, 0 },
		{ 80, 2, KVM_EXIT, 100, 0, HLT },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_HYPERVISOR, 1, NULL, 0 },
		{ 10, VIRT_PREEMPTED, 1, "stress-50", 0 },
		{ 30, VIRT_HYPERVISOR, 1, NULL, 0 },
		{ 40, VIRT_PREEMPTED, -1, NULL, 0 },
		{ 60, VIRT_HYPERVISOR, 2, NULL, MOVED },
		{ 70, VIRT_GUEST, 2, NULL, 0 },
		{ 80, VIRT_HYPERVISOR, 2, "HLT", EXIT },
	};
	struct virt_model *model = TRACK(records, 0, 100);

	(void)state;
	CHECK(model, 100, expected);
	virt_model_free(model);
}

/** Before its first exit, a vCPU waits for another one to start it: that is no exit's wait. */
static void test_wait_for_start(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 10, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
		{ 30, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 40, 0, KVM_ENTRY, 100, 1, 0 },
		{ 90, 0, KVM_EXIT, 100, 1, INTR },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_HYPERVISOR, 0, NULL, 0 },
		{ 10, VIRT_BLOCKED, 0, NULL, 0 },
		{ 30, VIRT_HYPERVISOR, 0, NULL, 0 },
		{ 40, VIRT_GUEST, 0, NULL, 0 },
		{ 90, VIRT_HYPERVISOR, 0, "INTR", EXIT },
	};
	struct virt_model *model;

	(void)state;
	enabled_kinds = ENABLED(WAKEUP);
	model = TRACK(records, 0, 100);
	enabled_kinds = 0;
	CHECK(model, 100, expected);
	virt_model_free(model);
}

#define ON_PCPU		VIRT_INTERVAL_ON_PCPU

/** A life, whose entries or exits are left out; what is known then is as with all of them. */
static const struct record missing_life[] = {
	{ 10, 1, KVM_SWITCH, IDLE, 100, RUNS },
	{ 20, 1, KVM_ENTRY, 100, 0, 0 },
	{ 50, 1, KVM_EXIT, 100, 0, IOIO },
	{ 60, 1, KVM_ENTRY, 100, 0, 0 },
	{ 90, 1, KVM_EXIT, 100, 0, IOIO },
	{ 95, 1, KVM_USERSPACE_EXIT, 100, 2, 0 },
	{ 99, 1, KVM_SWITCH, 100, 50, RUNS },
	{ 110, 1, KVM_SWITCH, 50, 100, RUNS },
	{ 115, 1, KVM_ENTRY, 100, 0, 0 },
	{ 150, 1, KVM_EXIT, 100, 0, HLT },
	{ 155, 1, KVM_SWITCH, 100, IDLE, ASLEEP },
	{ 170, 2, KVM_WAKEUP, 60, 100, 0 },
	{ 175, 1, KVM_SWITCH, IDLE, 100, RUNS },
	{ 180, 1, KVM_ENTRY, 100, 0, 0 },
};

static struct virt_model *track_without(enum kvm_event_kind kind)
{
	struct record records[sizeof(missing_life) / sizeof(missing_life[0])];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(missing_life) / sizeof(missing_life[0]); i++)
		if (missing_life[i].kind != kind)
			records[n++] = missing_life[i];
	return track(records, n, 0, 200);
}

static void test_no_entries(void **state)
{
	static const struct expected expected[] = {
		{ 0, VIRT_UNKNOWN, -1, NULL, 0 },
		{ 10, VIRT_UNKNOWN, 1, NULL, ON_PCPU },
		{ 50, VIRT_HYPERVISOR, 1, "IOIO", EXIT },
		{ 50, VIRT_UNKNOWN, 1, NULL, ON_PCPU },
		/* between an exit and the next other record of its kind, there was no entry */
		{ 90, VIRT_HYPERVISOR, 1, "IOIO", EXIT },
		{ 95, VIRT_VMM, 1, "IOIO", 0 },
		{ 99, VIRT_PREEMPTED, 1, "stress-50", 0 },
		{ 110, VIRT_UNKNOWN, 1, NULL, ON_PCPU },
		{ 150, VIRT_HYPERVISOR, 1, "HLT", EXIT },
		{ 155, VIRT_BLOCKED, 1, NULL, 0 },
		{ 170, VIRT_WAKING, 1, NULL, 0 },
		{ 175, VIRT_UNKNOWN, 1, NULL, ON_PCPU },
	};
	struct virt_model *model = track_without(KVM_ENTRY);
	const struct virt_window_query query = { .from_ns = 0, .to_ns = 200 };
	struct virt_machine_totals totals;
	struct virt_exit_total exits[4];
	struct virt_window *window;

	(void)state;
	CHECK(model, 100, expected);
	assert_null(virt_model_contradictions(model, 0, NULL));
	/* exits are counted, and none has a cost that is known */
	assert_int_equal(virt_vcpu_exits(model, 0, 0, 200, exits, 4), 2);
	assert_int_equal(exits[0].count + exits[1].count, 3);
	assert_int_equal(exits[0].complete + exits[1].complete, 0);
	/* whatever it does on its pCPU, it runs there: three times, of which two begin and end */
	window = virt_window_new(model, &query);
	assert_non_null(window);
	assert_int_equal(window->vcpus[0].runs.ns, 89 + 45 + 25);
	assert_int_equal(window->vcpus[0].runs.count, 3);
	virt_window_free(window);
	virt_machine_totals(model, 0, 0, 200, &totals);
	assert_int_equal(totals.ns[VIRT_M_FULL_RUN], 89 + 45 + 25);
	virt_model_free(model);
}

static void test_no_exits(void **state)
{
	static const struct expected expected[] = {
		{ 0, VIRT_UNKNOWN, -1, NULL, 0 },
		/* by the switch, it was in the kernel, and by no entry, it stayed there */
		{ 10, VIRT_HYPERVISOR, 1, NULL, 0 },
		{ 20, VIRT_UNKNOWN, 1, NULL, ON_PCPU },
		{ 95, VIRT_VMM, 1, NULL, 0 },
		{ 99, VIRT_PREEMPTED, 1, "stress-50", 0 },
		{ 110, VIRT_VMM, 1, NULL, 0 },
		{ 115, VIRT_UNKNOWN, 1, NULL, ON_PCPU },
		{ 155, VIRT_BLOCKED, 1, NULL, 0 },
		{ 170, VIRT_WAKING, 1, NULL, 0 },
		{ 175, VIRT_HYPERVISOR, 1, NULL, 0 },
		{ 180, VIRT_UNKNOWN, 1, NULL, ON_PCPU },
	};
	struct virt_model *model = track_without(KVM_EXIT);

	(void)state;
	CHECK(model, 100, expected);
	assert_null(virt_model_contradictions(model, 0, NULL));
	assert_int_equal(virt_model_n_reasons(model), 0);
	virt_model_free(model);
}

/** Exits alone, as kvm:kvm_exit has them: not even where the thread is between two is known. */
static void test_exits_only(void **state)
{
	static const struct record records[] = {
		{ 10, 1, KVM_EXIT, 100, 0, IOIO },
		{ 30, 1, KVM_EXIT, 100, 0, HLT },
		{ 60, 2, KVM_EXIT, 100, 0, IOIO },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_UNKNOWN, -1, NULL, 0 },
		{ 10, VIRT_HYPERVISOR, 1, "IOIO", EXIT | UNSPLIT },
		{ 10, VIRT_UNKNOWN, 1, NULL, 0 },
		{ 30, VIRT_HYPERVISOR, 1, "HLT", EXIT | UNSPLIT },
		{ 30, VIRT_UNKNOWN, 1, NULL, 0 },
		{ 60, VIRT_HYPERVISOR, 2, "IOIO", EXIT | UNSPLIT },
		{ 60, VIRT_UNKNOWN, 2, NULL, 0 },
	};
	struct virt_model *model = TRACK(records, 0, 100);

	(void)state;
	CHECK(model, 100, expected);
	assert_null(virt_model_contradictions(model, 0, NULL));
	virt_model_free(model);
}

/** What contradicts is unknown since the last record that it contradicts; VMX's fast path first. */
static void test_contradictions_are_unknown(void **state)
{
	static const struct record records[] = {
		{ 10, 1, KVM_SWITCH, IDLE, 100, RUNS },
		{ 20, 1, KVM_ENTRY, 100, 0, 0 },
		{ 50, 1, KVM_EXIT, 100, 0, IOIO },
		{ 90, 1, KVM_EXIT, 100, 0, INTR },	/* no entry before it */
		{ 95, 1, KVM_ENTRY, 100, 0, 0 },
		{ 120, 1, KVM_ENTRY, 100, 0, 0 },	/* no exit before it */
		{ 130, 1, KVM_SWITCH, 100, 50, RUNS },	/* nor before this */
		{ 140, 1, KVM_SWITCH, 50, 100, RUNS },
		{ 150, 1, KVM_EXIT, 100, 0, INTR },	/* in the kernel since the switch */
		{ 155, 1, KVM_ENTRY, 100, 0, 0 },
		{ 170, 1, KVM_USERSPACE_EXIT, 100, 2, 0 },
		{ 180, 1, KVM_ENTRY, 100, 0, 0 },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_UNKNOWN, -1, NULL, 0 },
		{ 10, VIRT_HYPERVISOR, 1, NULL, 0 },
		{ 20, VIRT_GUEST, 1, NULL, 0 },
		{ 50, VIRT_HYPERVISOR, 1, "IOIO", EXIT },
		{ 50, VIRT_UNKNOWN, 1, NULL, ON_PCPU },
		{ 90, VIRT_HYPERVISOR, 1, "INTR", EXIT },
		{ 95, VIRT_UNKNOWN, 1, NULL, ON_PCPU },
		{ 130, VIRT_PREEMPTED, 1, "stress-50", 0 },
		{ 140, VIRT_UNKNOWN, 1, NULL, ON_PCPU },
		{ 150, VIRT_HYPERVISOR, 1, "INTR", EXIT },
		{ 155, VIRT_UNKNOWN, 1, NULL, ON_PCPU },
		{ 170, VIRT_VMM, 1, NULL, 0 },
		{ 180, VIRT_GUEST, 1, NULL, 0 },
	};
	struct virt_model *model = TRACK(records, 0, 200);
	uint64_t count, sum = 0;

	(void)state;
	CHECK(model, 100, expected);
	for (int i = 0; virt_model_contradictions(model, i, &count); i++)
		sum += count;
	assert_int_equal(sum, 5);
	virt_model_free(model);
}

/** What the scheduler calls between the record of a switch and the switch has the old pid. */
static void test_leaving(void **state)
{
	static const struct record records[] = {
		{ 0, 1, KVM_SWITCH, IDLE, 100, RUNS },
		{ 10, 1, KVM_ENTRY, 100, 0, 0 },
		{ 20, 1, KVM_EXIT, 100, 0, INTR },
		{ 30, 1, KVM_SWITCH, 100, 50, RUNS },
		{ 31, 1, KVM_SEEN, 100, 0, 0 },
		/* it wakes another vCPU before that */
		{ 32, 1, KVM_WAKEUP, 100, 101, 0 },
		{ 33, 1, KVM_RUN, 100, 0, 0 },
		{ 40, 1, KVM_SEEN, 50, 0, 0 },
		{ 50, 1, KVM_SWITCH, 50, 100, RUNS },
		/* of a task, too */
		{ 51, 1, KVM_SEEN, 50, 0, 0 },
		{ 60, 1, KVM_ENTRY, 100, 0, 0 },
		{ 70, 1, KVM_EXIT, 100, 0, HLT },
		{ 0, 2, KVM_SWITCH, IDLE, 101, RUNS },
		{ 5, 2, KVM_ENTRY, 101, 1, 0 },
		{ 7, 2, KVM_EXIT, 101, 1, HLT },
		{ 8, 2, KVM_SWITCH, 101, IDLE, ASLEEP },
		{ 9, 2, KVM_SEEN, 101, 0, 0 },
		{ 35, 2, KVM_SWITCH, IDLE, 101, RUNS },
		{ 36, 2, KVM_SEEN, IDLE, 0, 0 },
	};
	static const struct expected first[] = {
		{ 0, VIRT_HYPERVISOR, 1, NULL, 0 },
		{ 10, VIRT_GUEST, 1, NULL, 0 },
		{ 20, VIRT_HYPERVISOR, 1, "INTR", EXIT },
		{ 30, VIRT_PREEMPTED, 1, "stress-50", 0 },
		{ 50, VIRT_HYPERVISOR, 1, "INTR", 0 },
		{ 60, VIRT_GUEST, 1, NULL, 0 },
		{ 70, VIRT_HYPERVISOR, 1, "HLT", EXIT },
	};
	static const struct expected second[] = {
		{ 0, VIRT_HYPERVISOR, 2, NULL, 0 },
		{ 5, VIRT_GUEST, 2, NULL, 0 },
		{ 7, VIRT_HYPERVISOR, 2, "HLT", EXIT },
		{ 8, VIRT_BLOCKED, 2, NULL, 0 },
		{ 32, VIRT_WAKING, 2, NULL, 0 },
		{ 35, VIRT_HYPERVISOR, 2, "HLT", 0 },
	};
	struct virt_model *model = TRACK(records, 0, 100);

	(void)state;
	CHECK(model, 100, first);
	CHECK(model, 101, second);
	assert_null(virt_model_contradictions(model, 0, NULL));
	virt_model_free(model);
}

/** Behind a record of the new thread, or at work in its guest, the old one is back unseen. */
static void test_left_and_back(void **state)
{
	static const struct record seen[] = {
		{ 0, 1, KVM_SWITCH, IDLE, 100, RUNS },
		{ 10, 1, KVM_ENTRY, 100, 0, 0 },
		{ 20, 1, KVM_EXIT, 100, 0, INTR },
		{ 30, 1, KVM_SWITCH, 100, 50, RUNS },
		{ 40, 1, KVM_SEEN, 50, 0, 0 },
		{ 50, 1, KVM_SEEN, 100, 0, 0 },
	}, at_work[] = {
		{ 0, 1, KVM_SWITCH, IDLE, 100, RUNS },
		{ 10, 1, KVM_ENTRY, 100, 0, 0 },
		{ 20, 1, KVM_EXIT, 100, 0, INTR },
		{ 30, 1, KVM_SWITCH, 100, 50, RUNS },
		{ 50, 1, KVM_ENTRY, 100, 0, 0 },
	};
	struct virt_model *models[] = { TRACK(seen, 0, 100), TRACK(at_work, 0, 100) };

	(void)state;
	for (int i = 0; i < 2; i++) {
		uint64_t count = 0;

		assert_string_equal(virt_model_contradictions(models[i], 0, &count),
				    "a thread has a pCPU that it was not switched to");
		assert_int_equal(count, 1);
		virt_model_free(models[i]);
	}
}

/** Records of CPU 0 are lost from 41 to 60; CPU 1's are there. */
static void test_lost(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_ENTRY, 100, 0, 0 },
		{ 0, 1, KVM_ENTRY, 101, 1, 0 },
		{ 10, 1, KVM_EXIT, 101, 1, INTR },
		{ 20, 1, KVM_ENTRY, 101, 1, 0 },
		{ 40, 0, KVM_EXIT, 100, 0, INTR },
		{ 45, 1, KVM_EXIT, 101, 1, INTR },
		{ 50, 1, KVM_SWITCH, 101, IDLE, RUNS },
		{ 60, 0, KVM_LOST, 100, 0, 7 },
		{ 60, 0, KVM_SEEN, 100, 0, 0 },
		{ 70, 0, KVM_EXIT, 100, 0, HLT },
		{ 75, 1, KVM_SWITCH, IDLE, 101, RUNS },
		{ 76, 1, KVM_ENTRY, 101, 1, 0 },
	};
	static const struct expected first[] = {
		{ 0, VIRT_GUEST, 0, NULL, 0 },
		{ 40, VIRT_HYPERVISOR, 0, "INTR", EXIT },
		{ 41, VIRT_UNKNOWN, 0, NULL, 0 },
		/* an exit follows the first record: between them it was in the guest */
		{ 60, VIRT_GUEST, 0, NULL, 0 },
		{ 70, VIRT_HYPERVISOR, 0, "HLT", EXIT },
	};
	static const struct expected second[] = {
		{ 0, VIRT_GUEST, 1, NULL, 0 },
		{ 10, VIRT_HYPERVISOR, 1, "INTR", EXIT },
		{ 20, VIRT_GUEST, 1, NULL, 0 },
		{ 45, VIRT_HYPERVISOR, 1, "INTR", EXIT },
		/* preempted, but CPU 0 may have taken it, unseen */
		{ 50, VIRT_UNKNOWN, 1, NULL, 0 },
		{ 75, VIRT_HYPERVISOR, 1, NULL, 0 },
		{ 76, VIRT_GUEST, 1, NULL, 0 },
	};
	struct virt_model *model = TRACK(records, 0, 100);
	struct virt_loss_range losses = virt_model_losses(model);

	(void)state;
	CHECK(model, 100, first);
	CHECK(model, 101, second);
	assert_int_equal(losses.n, 1);
	assert_int_equal(losses.first->from_ns, 41);
	assert_int_equal(losses.first->to_ns, 60);
	assert_int_equal(losses.first->records, 7);
	virt_model_free(model);
}

/** A guest's guest runs from the entry after KVM_NESTED_ENTRY until its hypervisor sees an exit. */
static void test_nested(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_ENTRY, 100, 0, 0 },
		{ 10, 0, KVM_EXIT, 100, 0, 0x80 },
		{ 11, 0, KVM_NESTED_ENTRY, 100, 0, 0 },
		{ 12, 0, KVM_ENTRY, 100, 0, 0 },
		/* handled without the guest's hypervisor */
		{ 20, 0, KVM_EXIT, 100, 0, INTR },
		{ 21, 0, KVM_NESTED_EXIT, 100, 0, 0 },
		{ 22, 0, KVM_ENTRY, 100, 0, 0 },
		{ 30, 0, KVM_EXIT, 100, 0, HLT },
		{ 31, 0, KVM_NESTED_EXIT, 100, 0, 0 },
		{ 32, 0, KVM_NESTED_INJECT, 100, 0, 0 },
		{ 33, 0, KVM_ENTRY, 100, 0, 0 },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_GUEST, 0, NULL, 0 },
		{ 10, VIRT_HYPERVISOR, 0, "VMRUN", EXIT | VIRT_INTERVAL_UNSPLIT },
		{ 12, VIRT_GUEST, 0, NULL, VIRT_INTERVAL_NESTED },
		{ 20, VIRT_HYPERVISOR, 0, "L2:INTR", EXIT | VIRT_INTERVAL_UNSPLIT },
		{ 22, VIRT_GUEST, 0, NULL, VIRT_INTERVAL_NESTED },
		{ 30, VIRT_HYPERVISOR, 0, "L2:HLT", EXIT | VIRT_INTERVAL_UNSPLIT },
		{ 33, VIRT_GUEST, 0, NULL, 0 },
	};
	struct virt_model *model = TRACK(records, 0, 40);

	(void)state;
	CHECK(model, 100, expected);
	virt_model_free(model);
}

/** The trace begins, and goes on after lost records, while a guest's guest runs; and while not. */
static void test_nested_unseen(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SEEN, 100, 0, 0 },
		{ 10, 0, KVM_EXIT, 100, 0, INTR },
		{ 11, 0, KVM_NESTED_EXIT, 100, 0, 0 },
		{ 12, 0, KVM_ENTRY, 100, 0, 0 },
		{ 20, 0, KVM_EXIT, 100, 0, HLT },
		{ 21, 0, KVM_NESTED_EXIT, 100, 0, 0 },
		{ 22, 0, KVM_NESTED_INJECT, 100, 0, 0 },
		{ 23, 0, KVM_ENTRY, 100, 0, 0 },
		/* its guest is entered unseen */
		{ 40, 0, KVM_LOST, 100, 0, 5 },
		{ 40, 0, KVM_ENTRY, 100, 0, 0 },
		{ 50, 0, KVM_EXIT, 100, 0, IOIO },
		{ 51, 0, KVM_NESTED_EXIT, 100, 0, 0 },
		{ 52, 0, KVM_ENTRY, 100, 0, 0 },
		/* and is left unseen */
		{ 70, 0, KVM_LOST, 100, 0, 5 },
		{ 70, 0, KVM_ENTRY, 100, 0, 0 },
		{ 80, 0, KVM_EXIT, 100, 0, IOIO },
		{ 81, 0, KVM_ENTRY, 100, 0, 0 },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_GUEST, 0, NULL, VIRT_INTERVAL_NESTED },
		{ 10, VIRT_HYPERVISOR, 0, "L2:INTR", EXIT | VIRT_INTERVAL_UNSPLIT },
		{ 12, VIRT_GUEST, 0, NULL, VIRT_INTERVAL_NESTED },
		{ 20, VIRT_HYPERVISOR, 0, "L2:HLT", EXIT | VIRT_INTERVAL_UNSPLIT },
		{ 23, VIRT_GUEST, 0, NULL, 0 },
		{ 24, VIRT_UNKNOWN, 0, NULL, 0 },
		{ 40, VIRT_GUEST, 0, NULL, VIRT_INTERVAL_NESTED },
		{ 50, VIRT_HYPERVISOR, 0, "L2:IOIO", EXIT | VIRT_INTERVAL_UNSPLIT },
		{ 52, VIRT_GUEST, 0, NULL, VIRT_INTERVAL_NESTED },
		{ 53, VIRT_UNKNOWN, 0, NULL, 0 },
		{ 70, VIRT_GUEST, 0, NULL, 0 },
		{ 80, VIRT_HYPERVISOR, 0, "IOIO", EXIT | VIRT_INTERVAL_UNSPLIT },
		{ 81, VIRT_GUEST, 0, NULL, 0 },
	};
	struct virt_model *model = TRACK(records, 0, 90);

	(void)state;
	CHECK(model, 100, expected);
	virt_model_free(model);
}

/** VMX before Linux 6.1: no record shows the entry of a guest's guest; each exit does. */
static void test_nested_blind(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_ENTRY, 100, 0, 0 },
		{ 10, 0, KVM_EXIT, 100, 0, 0x80 },
		{ 12, 0, KVM_ENTRY, 100, 0, 0 },
		{ 20, 0, KVM_EXIT, 100, 0, INTR },
		{ 20, 0, KVM_NESTED_EXIT, 100, 0, 0 },
		{ 22, 0, KVM_ENTRY, 100, 0, 0 },
		{ 23, 0, KVM_SEEN, 100, 0, 0 },
		{ 30, 0, KVM_EXIT, 100, 0, HLT },
		{ 30, 0, KVM_SEEN, 100, 0, 0 },
		{ 31, 0, KVM_NESTED_EXIT, 100, 0, 0 },
		{ 32, 0, KVM_NESTED_INJECT, 100, 0, 0 },
		{ 33, 0, KVM_ENTRY, 100, 0, 0 },
		{ 40, 0, KVM_EXIT, 100, 0, IOIO },
		{ 41, 0, KVM_ENTRY, 100, 0, 0 },
		{ 50, 0, KVM_EXIT, 100, 0, 0x80 },
		{ 52, 0, KVM_ENTRY, 100, 0, 0 },
		{ 60, 0, KVM_EXIT, 100, 0, INTR },
		{ 60, 0, KVM_NESTED_EXIT, 100, 0, 0 },
		/* no exit follows: it was not handed on, so that it goes on there */
		{ 61, 0, KVM_ENTRY, 100, 0, 0 },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_GUEST, 0, NULL, 0 },
		{ 10, VIRT_HYPERVISOR, 0, "VMRUN", EXIT | VIRT_INTERVAL_UNSPLIT },
		{ 12, VIRT_GUEST, 0, NULL, VIRT_INTERVAL_NESTED },
		{ 20, VIRT_HYPERVISOR, 0, "L2:INTR", EXIT | VIRT_INTERVAL_UNSPLIT },
		{ 22, VIRT_GUEST, 0, NULL, VIRT_INTERVAL_NESTED },
		{ 30, VIRT_HYPERVISOR, 0, "L2:HLT", EXIT | VIRT_INTERVAL_UNSPLIT },
		{ 33, VIRT_GUEST, 0, NULL, 0 },
		{ 40, VIRT_HYPERVISOR, 0, "IOIO", EXIT | VIRT_INTERVAL_UNSPLIT },
		{ 41, VIRT_GUEST, 0, NULL, 0 },
		{ 50, VIRT_HYPERVISOR, 0, "VMRUN", EXIT | VIRT_INTERVAL_UNSPLIT },
		{ 52, VIRT_GUEST, 0, NULL, VIRT_INTERVAL_NESTED },
		{ 60, VIRT_HYPERVISOR, 0, "L2:INTR", EXIT | VIRT_INTERVAL_UNSPLIT },
		{ 61, VIRT_GUEST, 0, NULL, VIRT_INTERVAL_NESTED },
	};
	struct virt_model *model = TRACK(records, 0, 70);

	(void)state;
	CHECK(model, 100, expected);
	virt_model_free(model);
}

/**
 * What a guest's guest waits for is its hypervisor's affair, whatever else is recorded before the
 * exit is handed on; that it was entered is known without an exit.
 */
static void test_nested_wait(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 1, 0, KVM_ENTRY, 100, 0, 0 },
		{ 10, 0, KVM_EXIT, 100, 0, 0x80 },
		{ 11, 0, KVM_NESTED_ENTRY, 100, 0, 0 },
		{ 12, 0, KVM_ENTRY, 100, 0, 0 },
		{ 20, 0, KVM_EXIT, 100, 0, HLT },
		{ 21, 0, KVM_SEEN, 100, 0, 0 },
		{ 22, 0, KVM_NESTED_EXIT, 100, 0, 0 },
		{ 23, 0, KVM_NESTED_INJECT, 100, 0, 0 },
		{ 30, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
		{ 50, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 51, 0, KVM_ENTRY, 100, 0, 0 },
		{ 60, 0, KVM_EXIT, 100, 0, 0x80 },
		{ 61, 0, KVM_NESTED_ENTRY, 100, 0, 0 },
		{ 62, 0, KVM_ENTRY, 100, 0, 0 },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_HYPERVISOR, 0, NULL, 0 },
		{ 1, VIRT_GUEST, 0, NULL, 0 },
		{ 10, VIRT_HYPERVISOR, 0, "VMRUN", EXIT },
		{ 12, VIRT_GUEST, 0, NULL, VIRT_INTERVAL_NESTED },
		{ 20, VIRT_HYPERVISOR, 0, "L2:HLT", EXIT },
		{ 30, VIRT_BLOCKED, 0, NULL, UNASKED },
		{ 50, VIRT_HYPERVISOR, 0, "L2:HLT", 0 },
		{ 51, VIRT_GUEST, 0, NULL, 0 },
		{ 60, VIRT_HYPERVISOR, 0, "VMRUN", EXIT },
		{ 62, VIRT_GUEST, 0, NULL, VIRT_INTERVAL_NESTED },
	};
	struct virt_model *model;

	(void)state;
	enabled_kinds = ENABLED(WAKEUP) | ENABLED(MONITOR);
	model = TRACK(records, 0, 90);
	enabled_kinds = 0;
	CHECK(model, 100, expected);
	virt_model_free(model);
}

/** Without switches, a vCPU that comes back to a CPU is seen there at once. */
static void test_back_and_forth(void **state)
{
	static const struct record records[] = {
		{ 10, 0, KVM_ENTRY, 100, 0, 0 },
		{ 20, 0, KVM_EXIT, 100, 0, INTR },
		{ 30, 1, KVM_ENTRY, 100, 0, 0 },
		{ 40, 1, KVM_EXIT, 100, 0, INTR },
		{ 50, 0, KVM_ENTRY, 100, 0, 0 },
		{ 54, 0, KVM_EXIT, 100, 0, INTR },
		{ 55, 0, KVM_ENTRY, IDLE, 0, 0 },
	};
	struct virt_model *model = TRACK(records, 0, 100);
	int32_t vcpu = virt_model_find_vcpu(model, 100);

	(void)state;
	assert_int_equal(virt_model_n_vcpus(model), 1);
	assert_int_equal(virt_vcpu_at(model, vcpu, 15, NULL)->pcpu, 0);
	assert_int_equal(virt_vcpu_at(model, vcpu, 35, NULL)->pcpu, 1);
	assert_int_equal(virt_vcpu_at(model, vcpu, 52, NULL)->pcpu, 0);
	assert_int_equal(virt_vcpu_migrations(model, vcpu, 0, 100).n, 2);
	assert_string_equal(virt_model_contradictions(model, 0, NULL),
			    "the idle task enters or leaves a guest");
	virt_model_free(model);
}

/** Impossible records are counted, and the rest is used. */
static void test_contradictions(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 10, 0, KVM_ENTRY, 100, 0, 0 },
		{ 20, 0, KVM_ENTRY, 100, 0, 0 },
		{ 30, 0, KVM_EXIT, 100, 0, HLT },
		{ 35, 0, KVM_EXIT, 100, 0, HLT },
		{ 40, 0, KVM_ENTRY, 100, 0, 0 },
		{ 50, 0, KVM_SWITCH, 100, IDLE, RUNS },
		{ 60, 0, KVM_ENTRY, 100, 0, 0 },
		{ 55, 0, KVM_EXIT, 100, 0, HLT },
	};
	struct virt_model *model = TRACK(records, 0, 100);
	uint64_t count, sum = 0;
	int n = 0;

	(void)state;
	for (; virt_model_contradictions(model, n, &count); n++)
		sum += count;
	assert_int_equal(n, 5);
	assert_int_equal(sum, 5);
	virt_model_free(model);
}

static void test_empty(void **state)
{
	struct kvm_tracker *tracker = kvm_tracker_new();
	struct virt_model *model = NULL;
	const struct kvm_event event = { .cpu = -1 };

	(void)state;
	assert_non_null(tracker);
	assert_int_equal(kvm_tracker_add(tracker, &event), -EINVAL);
	assert_int_equal(kvm_tracker_seen(tracker, -1, 5, 0), -EINVAL);
	assert_int_equal(kvm_tracker_lost(tracker, 1 << 20, 5, 0, 0), -EINVAL);
	assert_int_equal(kvm_tracker_finish(tracker, 0, 0, &model), 0);
	assert_int_equal(virt_model_n_vcpus(model), 0);
	virt_model_free(model);
	kvm_tracker_free(tracker);
	kvm_tracker_free(NULL);
}

/** TASK_DEAD of Linux before 4.14: the vCPU is no more, and neither is its machine. */
static void test_old_end(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 10, 0, KVM_ENTRY, 100, 0, 0 },
		{ 100, 0, KVM_EXIT, 100, 0, INTR },
		{ 110, 0, KVM_SWITCH, 100, IDLE, 0x40 },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_HYPERVISOR, 0, NULL, 0 },
		{ 10, VIRT_GUEST, 0, NULL, 0 },
		{ 100, VIRT_HYPERVISOR, 0, "INTR", EXIT },
		{ 110, VIRT_OFFLINE, 0, NULL, VIRT_INTERVAL_LOOSE },
	};
	struct virt_model *model = TRACK(records, 0, 1000);

	(void)state;
	CHECK(model, 100, expected);
	assert_int_equal(virt_model_machine(model, 0)->ended_ns, 110);
	virt_model_free(model);
}

/** KVM polls before its vCPU sleeps, or until there is an event: @more of KVM_HALTED is "slept". */
static void test_halt_polling(void **state)
{
	static const struct record records[] = {
		{ 0, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 10, 0, KVM_ENTRY, 100, 0, 0 },
		{ 100, 0, KVM_EXIT, 100, 0, HLT },
		{ 300, 0, KVM_HALTED, 100, VIRT_NONE, 198 },
		{ 301, 0, KVM_ENTRY, 100, 0, 0 },
		{ 400, 0, KVM_EXIT, 100, 0, HLT },
		{ 600, 0, KVM_SWITCH, 100, IDLE, ASLEEP },
		{ 900, 0, KVM_WAKEUP, IDLE, 100, 0 },
		{ 910, 0, KVM_SWITCH, IDLE, 100, RUNS },
		{ 912, 0, IN_IRQ(KVM_HALTED), 100, VIRT_NONE, 511 },
		{ 920, 0, KVM_ENTRY, 100, 0, 0 },
		{ 950, 0, KVM_EXIT, 100, 0, HLT },
		/* not at all, and longer than since the exit */
		{ 960, 0, KVM_HALTED, 100, VIRT_NONE, 0 },
		{ 970, 0, KVM_HALTED, 100, VIRT_NONE, INT64_MIN },
		{ 980, 0, KVM_HALTED, 100, VIRT_NONE, INT64_MAX },
		{ 990, 0, KVM_ENTRY, 100, 0, 0 },
	};
	static const struct expected expected[] = {
		{ 0, VIRT_HYPERVISOR, 0, NULL, 0 },
		{ 10, VIRT_GUEST, 0, NULL, 0 },
		{ 100, VIRT_HYPERVISOR, 0, "HLT", EXIT },
		{ 102, VIRT_POLLING, 0, "HLT", 0 },
		{ 300, VIRT_HYPERVISOR, 0, "HLT", 0 },
		{ 301, VIRT_GUEST, 0, NULL, 0 },
		{ 400, VIRT_HYPERVISOR, 0, "HLT", EXIT },
		{ 401, VIRT_POLLING, 0, "HLT", 0 },
		{ 600, VIRT_BLOCKED, 0, NULL, 0 },
		{ 900, VIRT_WAKING, 0, NULL, 0 },
		{ 910, VIRT_HYPERVISOR, 0, "HLT", 0 },
		{ 920, VIRT_GUEST, 0, NULL, 0 },
		{ 950, VIRT_HYPERVISOR, 0, "HLT", EXIT },
		{ 950, VIRT_POLLING, 0, "HLT", 0 },
		{ 980, VIRT_HYPERVISOR, 0, "HLT", 0 },
		{ 990, VIRT_GUEST, 0, NULL, 0 },
	};
	struct virt_model *model = TRACK(records, 0, 1000);
	struct virt_pcpu_totals totals;
	struct virt_exit_total exits[2];

	(void)state;
	CHECK(model, 100, expected);
	/* it has its pCPU while it is polled for, and that is no cost of HLT: 3, 21 and 10 */
	virt_pcpu_totals(model, 0, 0, 1000, &totals);
	assert_int_equal(totals.state_ns[VIRT_POLLING], 198 + 199 + 30);
	assert_int_equal(totals.idle_ns, 310);
	assert_int_equal(virt_vcpu_exits(model, 0, 0, 1000, exits, 2), 1);
	assert_int_equal(exits[0].complete, 3);
	assert_int_equal(exits[0].ns, 3 + 21 + 10);
	virt_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_life),
		cmocka_unit_test(test_seen),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_culprits),
		cmocka_unit_test(test_asleep_from_the_beginning),
		cmocka_unit_test(test_entries_and_exits_only),
		cmocka_unit_test(test_one_pcpu_at_a_time),
		cmocka_unit_test(test_two_pcpus),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_loose_waits),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_wait_for_start),
		cmocka_unit_test(test_no_entries),
		cmocka_unit_test(test_no_exits),
		cmocka_unit_test(test_exits_only),
		cmocka_unit_test(test_contradictions_are_unknown),
		cmocka_unit_test(test_leaving),
		cmocka_unit_test(test_left_and_back),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_nested_unseen),
		cmocka_unit_test(test_nested_blind),
		cmocka_unit_test(test_nested_wait),
		cmocka_unit_test(test_back_and_forth),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_old_end),
		cmocka_unit_test(test_halt_polling),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
