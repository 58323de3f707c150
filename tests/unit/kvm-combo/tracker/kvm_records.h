/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_records.h
 * @brief	Records made by hand, and what becomes of them. To be included after cmocka.h.
 */
#ifndef KSHARK_VIRT_KVM_RECORDS_H
#define KSHARK_VIRT_KVM_RECORDS_H

#include "kvm_recorded.h"
#include "kvm_tracker.h"

#define IDLE	0
#define ASLEEP	1	/* TASK_INTERRUPTIBLE */
#define STOPPED	4	/* __TASK_STOPPED */
#define RUNS	0
#define DEAD	0x10

/* exit codes of SVM */
#define HLT	0x78
#define INTR	0x60
#define IOIO	0x7b

/** A kind of records, of one that was written in an interrupt. */
#define IN_IRQ(kind)	((enum kvm_event_kind)((kind) | 0x80))

struct record {
	int64_t		time;
	int		cpu;
	enum kvm_event_kind kind;
	int32_t		pid, arg;
	int64_t		value;
};

/** Of KVM_HYPERCALL. */
static enum kvm_hypercall_abi hypercall_abi;

/** Kinds that would have records, had they happened; see kvm_tracker_expect(). */
static uint64_t enabled_kinds;

#define ENABLED(kind)	VIRT_RECORD_BIT(VIRT_RECORD_##kind)

static inline struct kvm_event event_of(const struct record *r)
{
	enum kvm_event_kind kind = r->kind & 0x7f;

	return (struct kvm_event){
		.time_ns = r->time, .cpu = (int16_t)r->cpu, .kind = kind,
		.pid = r->pid, .arg = r->arg, .value = r->value,
		.more = kind == KVM_HYPERCALL ? hypercall_abi :
			kind == KVM_EXIT ? KVM_ISA_SVM : kind != r->kind,
	};
}

/** Records of all CPUs in order of time; each CPU's are handed over in a row, as files do. */
static inline struct virt_model *track(const struct record *records, size_t n, int64_t begin,
				       int64_t end)
{
	struct kvm_tracker *tracker = kvm_tracker_new();
	struct virt_model *model = NULL;

	assert_non_null(tracker);
	kvm_tracker_expect(tracker, enabled_kinds);
	for (int cpu = 3; cpu >= 0; cpu--) {
		for (size_t i = 0; i < n; i++) {
			const struct record *r = &records[i];
			struct kvm_event event = event_of(r);

			if (r->cpu != cpu)
				continue;
			if (r->kind == KVM_LOST)
				assert_int_equal(kvm_tracker_lost(tracker, cpu, r->pid, r->time,
								  r->value), 0);
			else
				assert_int_equal(kvm_tracker_add(tracker, &event), 0);
		}
	}
	assert_int_equal(kvm_tracker_name(tracker, 50, "stress"), 0);
	assert_int_equal(kvm_tracker_finish(tracker, begin, end, &model), 0);
	kvm_tracker_free(tracker);
	return model;
}

#define TRACK(records, begin, end) \
	track(records, sizeof(records) / sizeof((records)[0]), begin, end)

struct expected {
	int64_t		start;
	enum virt_state	state;
	int		pcpu;
	const char	*detail;	/* reason, or who took the pCPU */
	uint8_t		flags;
};

static inline void check(const struct virt_model *model, int32_t pid,
			 const struct expected *expected, size_t n)
{
	int32_t vcpu = virt_model_find_vcpu(model, pid);
	struct virt_interval_range range = virt_vcpu_intervals(model, vcpu, INT64_MIN, INT64_MAX);

	assert_true(vcpu >= 0);
	for (size_t i = 0; i < range.n && i < n; i++) {
		const struct virt_interval *got = &range.first[i];
		/* check_wakes() compares what ended waits */
		int32_t number = got->state == VIRT_BLOCKED ? VIRT_NONE : got->detail;
		const char *detail = got->state == VIRT_PREEMPTED ? virt_model_who(model, number) :
				     virt_model_reason(model, number);

		if (got->start_ns != expected[i].start || got->state != expected[i].state)
			print_message("interval %zu: %lld %s, not %lld %s\n", i,
				      (long long)got->start_ns, virt_state_name(got->state),
				      (long long)expected[i].start,
				      virt_state_name(expected[i].state));
		assert_int_equal(got->start_ns, expected[i].start);
		assert_int_equal(got->state, expected[i].state);
		assert_int_equal(got->pcpu, expected[i].pcpu);
		assert_int_equal(got->flags, expected[i].flags);
		if (expected[i].detail)
			assert_string_equal(detail ? detail : "none", expected[i].detail);
		else
			assert_int_equal(number, VIRT_NONE);
	}
	assert_int_equal(range.n, n);
}

#define CHECK(model, pid, expected) \
	check(model, pid, expected, sizeof(expected) / sizeof((expected)[0]))

#define EXIT	VIRT_INTERVAL_EXIT
#define MOVED	VIRT_INTERVAL_MIGRATED

#endif
