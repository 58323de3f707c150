/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	fuzz_kvm_tracker.c
 * @brief	Any bytes as events of a KVM host: whatever they say, the model's sums are right.
 *
 * Eight bytes are an event: kind, CPU, pid, argument, value, ISA, steps of time. What would be
 * several CPUs' files comes mixed; the tracker takes each CPU's events in their order.
 */
#include <errno.h>
#include <stdlib.h>

#include "kvm_tracker.h"
#include "model_checks.h"
#include "virt_handlers.h"
#include "virt_threads.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EVENT_BYTES	8
#define N_CPUS		4
#define KIND_NAME	14	/* what other functions take */
#define KIND_GUEST	15
#define KIND_HYPERCALL	16
#define N_KINDS		17
#define FIRST_OTHER	236	/* see add_other() */

/** Calls of the tracker for handlers and threads. */
static int add_other(struct kvm_tracker *tracker, const uint8_t *b, int64_t time_ns,
		     const struct kvm_event *event)
{
	static const char *const names[] = {
		"vhost-3", "vhost-", "kvm-pit/2", "IO x", "worker", "qemu-kvm", "kvm", "vhost-3x",
	};
	const char handler[] = { (char)('a' + b[4] % 4), '\0' };
	int ret;

	switch (b[0] % 8) {
	case 0:
		ret = kvm_tracker_add_thread(tracker, event->pid, event->arg);
		return ret == -EINVAL ? 0 : ret;
	case 1:
		return kvm_tracker_name(tracker, event->pid, names[b[3] % 8]);
	case 2:
		return kvm_tracker_leave(tracker, event->cpu, event->pid, time_ns, b[4] % 4);
	case 3:
		ret = kvm_tracker_add_handler(tracker, b[3] % 4, handler);
		return kvm_tracker_handled(tracker, event->cpu, event->pid, time_ns, ret, b[5]);
	case 4:
		return kvm_tracker_idle_state(tracker, event->cpu, event->pid, time_ns,
					      (int8_t)b[4]);
	case 5:
		return kvm_tracker_frequency(tracker, event->cpu, event->pid, time_ns,
					     event->arg, event->value);
	case 6:
		ret = kvm_tracker_name_idle_state(tracker, event->arg, handler);
		return ret == -EINVAL ? 0 : ret;
	default:
		ret = kvm_tracker_add_handler(tracker, b[3] % 4, handler);
		return kvm_tracker_enter(tracker, event->cpu, event->pid, time_ns,
					 b[5] ? ret : -E2BIG);
	}
}

/** Handlers have no more of a state than the vCPU; threads no more of a pCPU than its tasks. */
static void check_others(const struct virt_model *model, int64_t from, int64_t to)
{
	struct virt_threads *threads = virt_threads_new(model, from, to);

	for (int32_t i = 0; i < virt_model_n_vcpus(model); i++) {
		struct virt_totals totals;
		size_t n;
		struct virt_handled *handled = virt_handled_new(model, i, from, to, &n);
		int64_t hypervisor_ns = 0, vmm_ns = 0;

		check(handled, "no memory");
		virt_vcpu_totals(model, i, from, to, &totals);
		for (size_t k = 0; k < n; k++) {
			hypervisor_ns += handled[k].hypervisor_ns;
			vmm_ns += handled[k].vmm_ns;
			check(handled[k].other_ns >= 0, "time below 0");
		}
		check(hypervisor_ns <= totals.ns[VIRT_HYPERVISOR] && vmm_ns <= totals.ns[VIRT_VMM],
		      "handlers have more time than their vCPU");
		free(handled);
	}
	check(threads, "no memory");
	for (int32_t pcpu = 0; pcpu < virt_model_n_pcpus(model); pcpu++) {
		struct virt_pcpu_totals totals;
		int64_t ns = 0;

		virt_pcpu_totals(model, pcpu, from, to, &totals);
		for (size_t i = 0; i < threads->n_places; i++)
			ns += threads->places[i].pcpu == pcpu ? threads->places[i].ns : 0;
		check(ns <= totals.task_ns, "threads have more time than tasks");
	}
	virt_threads_free(threads);
}

static int add(struct kvm_tracker *tracker, const uint8_t *b, int64_t time_ns)
{
	struct kvm_event event = {
		.time_ns = time_ns, .kind = b[0] % N_KINDS, .cpu = (int16_t)(b[1] % N_CPUS),
		.pid = (int8_t)b[2] % 16, .arg = (int8_t)b[3] % 16, .value = (int8_t)b[4],
		.more = b[5],
	};
	const int32_t tids[] = { b[2] % 16, b[3] % 16, b[4] % 16 };
	char name[] = "CPU 0/KVM";

	if (b[0] >= FIRST_OTHER)
		return add_other(tracker, b, time_ns, &event);
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
		check_others(model, INT64_MIN, INT64_MAX);
		check_others(model, time_ns / 3, time_ns / 2);
		check_power(model, time_ns / 3, time_ns / 2);
		virt_model_free(model);
	}
	kvm_tracker_free(tracker);
	return 0;
}
