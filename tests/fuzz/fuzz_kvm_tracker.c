/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_kvm_tracker.c
 * @brief	Any bytes as events of a KVM host: whatever they say, the model's sums are right.
 *
 * Eight bytes are an event: kind, CPU, pid, argument, value, ISA, steps of time. What would be
 * several CPUs' files comes mixed; the tracker takes each CPU's events in their order.
 */
#include <errno.h>

#include "kvm_tracker.h"
#include "model_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EVENT_BYTES	8
#define N_CPUS		4
#define KIND_NAME	14	/* what other functions take */
#define KIND_GUEST	15
#define KIND_HYPERCALL	16
#define N_KINDS		17

static int add(struct kvm_tracker *tracker, const uint8_t *b, int64_t time_ns)
{
	struct kvm_event event = {
		.time_ns = time_ns, .kind = b[0] % N_KINDS, .cpu = (int16_t)(b[1] % N_CPUS),
		.pid = (int8_t)b[2] % 16, .arg = (int8_t)b[3] % 16, .value = (int8_t)b[4],
		.more = b[5],
	};
	const int32_t tids[] = { b[2] % 16, b[3] % 16, b[4] % 16 };
	char name[] = "CPU 0/KVM";

	switch (event.kind) {
	case KVM_FOUND:		/* only kvm_tracker_lost() makes these two */
	case KVM_LOST:
		return kvm_tracker_lost(tracker, event.cpu, event.pid, time_ns, b[4]);
	case KVM_SEEN:
		return kvm_tracker_seen(tracker, event.cpu, event.pid, time_ns);
	case KIND_NAME:
		name[4] = (char)('0' + b[3] % 10);
		return kvm_tracker_name(tracker, event.pid, name);
	case KIND_HYPERCALL:
		event.kind = KVM_HYPERCALL;
		break;
	case KIND_GUEST:
		return kvm_tracker_add_guest(tracker, b[5] % 2 ? "g2" : "web", tids, b[6] % 4);
	}
	return kvm_tracker_add(tracker, &event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kvm_tracker *tracker = kvm_tracker_new();
	struct virt_model *model = NULL;
	int64_t time_ns = 0;

	check(tracker, "no tracker");
	for (size_t i = 0; i + EVENT_BYTES <= size; i += EVENT_BYTES) {
		/* now and then back in time */
		time_ns += data[i + 7] < 250 ? data[i + 7] * (1 + data[i + 6]) : -data[i + 6];
		check(add(tracker, &data[i], time_ns) != -ENOMEM, "out of memory");
	}
	for (int i = 0; i < 2; i++) {
		/* the same records give a model as often as one likes */
		check(!kvm_tracker_finish(tracker, -10, time_ns < -10 ? -10 : time_ns + 1, &model),
		      "no model");
		check_model(model);
		check_sums(model, time_ns / 3, time_ns / 2);
		virt_model_free(model);
	}
	kvm_tracker_free(tracker);
	return 0;
}
