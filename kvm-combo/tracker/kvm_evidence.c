// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_evidence.c
 * @brief	Find kinds of records that were recorded although the trace has none of them.
 */
#include <errno.h>

#include "kvm_private.h"

#define BIT(kind)	VIRT_RECORD_BIT(VIRT_RECORD_##kind)

/** What the records show, beyond what each one says. */
struct seen {
	uint64_t	n_entries, n_exits;
	bool		runs_again;	/* a thread has slept, and has its CPU again */
	bool		shares_cpu;	/* two threads have had the same CPU */
	struct key_map	asleep;		/* threads that have slept */
};

void kvm_tracker_formats(struct kvm_tracker *tracker, uint64_t kinds)
{
	tracker->formats |= kinds & VIRT_RECORDED_ALL;
}

/** Return: 0 or -ENOMEM. */
static int look_at(struct seen *seen, const struct kvm_event *event, int32_t *pid)
{
	seen->n_entries += event->kind == KVM_ENTRY;
	seen->n_exits += event->kind == KVM_EXIT;
	if (event->kind == KVM_LOST || event->kind == KVM_FOUND)
		return 0;
	if (*pid != KVM_NO_PID && *pid != event->pid)
		seen->shares_cpu = true;
	*pid = event->pid;
	if (event->kind != KVM_SWITCH || seen->runs_again)
		return 0;
	if (event->arg > 0 && key_map_find(&seen->asleep, (uint64_t)event->arg) >= 0)
		seen->runs_again = true;
	if (event->pid > 0 && event->value & KVM_STATE_ASLEEP & ~KVM_STATE_DEAD &&
	    key_map_add(&seen->asleep, (uint64_t)event->pid) < 0)
		return -ENOMEM;
	return 0;
}

/** Can no further record show more? */
static bool is_all(const struct seen *seen)
{
	return seen->n_entries > 1 && seen->n_exits > 1 && seen->runs_again && seen->shares_cpu;
}

/** On one CPU, its records are in order of time. */
static int look_at_cpu(struct seen *seen, const struct kvm_cpu *cpu)
{
	const struct kvm_event *event;
	struct kvm_scan scan = { 0 };
	int32_t pid = KVM_NO_PID;
	int ret = 0;

	key_map_destroy(&seen->asleep);
	kvm_scan_begin(&scan, &cpu->events, 0);
	while (!ret && !is_all(seen) && (event = kvm_scan_next(&scan)))
		ret = look_at(seen, event, &pid);
	ret = ret ? ret : scan.error;
	kvm_scan_end(&scan);
	return ret;
}

/** Kinds that cannot be missing if their events were enabled. */
static uint64_t contradicted(const struct kvm_tracker *tracker, const struct seen *seen)
{
	uint64_t kinds = 0;

	if (seen->n_exits > 1)
		kinds |= BIT(ENTRY);
	if (seen->n_entries > 1)
		kinds |= BIT(EXIT);
	/* a hypercall is an exit and an entry */
	if (kvm_has(tracker, VIRT_RECORD_WHOLE))
		kinds |= BIT(ENTRY) | BIT(EXIT);
	if (seen->runs_again)
		kinds |= BIT(WAKEUP) | BIT(WAKER);
	if (seen->shares_cpu)
		kinds |= BIT(SWITCH);
	/* KVM_RUN ends where the monitor goes on */
	if (kvm_has(tracker, VIRT_RECORD_RUN))
		kinds |= BIT(MONITOR);
	return kinds;
}

int kvm_evidence(const struct kvm_tracker *tracker, uint64_t *kinds)
{
	uint64_t open = tracker->formats & ~tracker->recorded;
	struct seen seen = { 0 };
	int ret = 0;

	*kinds = 0;
	for (size_t i = 0; i < tracker->n_cpus && open && !ret; i++)
		ret = look_at_cpu(&seen, &tracker->cpus[i]);
	key_map_destroy(&seen.asleep);
	if (!ret)
		*kinds = open & ~contradicted(tracker, &seen);
	return ret;
}
