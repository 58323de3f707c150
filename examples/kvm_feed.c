// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_feed.c
 * @brief	Example of libkshark-virt: events of KVM that come from elsewhere than a trace.dat.
 *
 * Here from a table; it may as well be perf, BPF or another format. vCPU 0 of a machine runs on
 * CPU 2 in thread 100, loses it to thread 200 for 3 ms, and goes on.
 *
 * Usage: kvm_feed
 *
 * Build: cc -o kvm_feed kvm_feed.c $(pkg-config --cflags --libs kshark-virt)
 */
#include <stdio.h>

#include <kshark-virt/kvm_tracker.h>
#include <kshark-virt/virt_model.h>

#define MS	1000000

/* prev_state of sched_switch: 0 could have gone on, 1 sleeps */
static const struct kvm_event events[] = {
	{ .time_ns = 0 * MS, .kind = KVM_SWITCH, .cpu = 2, .pid = 0, .arg = 100, .value = 0 },
	{ .time_ns = 1 * MS, .kind = KVM_ENTRY, .cpu = 2, .pid = 100, .arg = 0 },
	{ .time_ns = 5 * MS, .kind = KVM_EXIT, .cpu = 2, .pid = 100, .arg = 0, .value = 1,
	  .more = KVM_ISA_VMX },
	{ .time_ns = 6 * MS, .kind = KVM_SWITCH, .cpu = 2, .pid = 100, .arg = 200, .value = 0 },
	{ .time_ns = 9 * MS, .kind = KVM_SWITCH, .cpu = 2, .pid = 200, .arg = 100, .value = 1 },
	{ .time_ns = 10 * MS, .kind = KVM_ENTRY, .cpu = 2, .pid = 100, .arg = 0 },
};

static const char *const names[VIRT_N_STATES] = {
	[VIRT_GUEST] = "guest", [VIRT_HYPERVISOR] = "hypervisor", [VIRT_POLLING] = "polling",
	[VIRT_VMM] = "vmm", [VIRT_PREEMPTED] = "preempted", [VIRT_WAKING] = "waking",
	[VIRT_BLOCKED] = "blocked", [VIRT_DEVICE_MODEL] = "device model",
	[VIRT_OFFLINE] = "offline", [VIRT_UNKNOWN] = "unknown",
};

static void print_life(const struct virt_model *model)
{
	for (int32_t v = 0; v < virt_model_n_vcpus(model); v++) {
		struct virt_interval_range life = virt_vcpu_intervals(
			model, v, virt_model_begin(model), virt_model_end(model));

		for (size_t i = 0; i < life.n; i++) {
			const struct virt_interval *interval = &life.first[i];
			const char *who = NULL;

			/* of a preempted one, who took the pCPU; on one, an exit reason */
			if (interval->detail != VIRT_NONE && interval->state != VIRT_BLOCKED)
				who = interval->state == VIRT_PREEMPTED ?
				      virt_model_who(model, interval->detail) :
				      virt_model_reason(model, interval->detail);
			printf("%s %5.1f ms  %s%s%s\n", virt_model_vcpu(model, v)->name,
			       (double)interval->start_ns / MS, names[interval->state],
			       who ? ", " : "", who ? who : "");
		}
	}
}

int main(void)
{
	struct kvm_tracker *tracker = kvm_tracker_new();
	struct virt_model *model = NULL;
	int ret = tracker ? 0 : -1;

	for (size_t i = 0; i < sizeof(events) / sizeof(*events) && !ret; i++)
		ret = kvm_tracker_add(tracker, &events[i]);
	if (!ret)
		ret = kvm_tracker_name(tracker, 200, "backup");
	if (!ret)
		ret = kvm_tracker_finish(tracker, 0, 20 * MS, &model);
	if (ret)
		fprintf(stderr, "kvm_feed: not enough memory\n");
	else
		print_life(model);
	virt_model_free(model);
	kvm_tracker_free(tracker);
	return ret ? 1 : 0;
}
