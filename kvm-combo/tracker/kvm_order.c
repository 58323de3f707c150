// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_order.c
 * @brief	Take the records of all CPUs in order of time, by a heap of the CPUs' positions.
 */
#include <errno.h>
#include <stdlib.h>

#include "heap.h"
#include "kvm_order.h"

/** The next record of a CPU. */
struct head {
	int64_t		time_ns;
	int32_t		cpu;
};

static inline bool is_before(const struct head *a, const struct head *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->cpu < b->cpu;
}

/** The CPU that is the next one after the first one; of none, one whose time never comes. */
static struct head second(const struct head *heap, size_t n)
{
	if (n < 2)
		return (struct head){ INT64_MAX, INT32_MAX };
	return n > 2 && is_before(&heap[2], &heap[1]) ? heap[2] : heap[1];
}

/** The time of the next record of a CPU; INT64_MAX: there is none. */
static inline int64_t next_time(struct kvm_scan *scan)
{
	return scan->at < scan->end || kvm_scan_more(scan) ? scan->at->time_ns : INT64_MAX;
}

/** The records of a pack have been taken: nothing needs it again. */
static void give_back(struct kvm_cpu *cpu)
{
	size_t n = cpu->taken / KVM_PACK_EVENTS;

	if (cpu->taken % KVM_PACK_EVENTS || !n || n > cpu->events.n_packs)
		return;
	free(cpu->events.packs[n - 1]);
	cpu->events.packs[n - 1] = NULL;
}

/** Take records of the first CPU as long as no other one has an earlier one. */
static int take_cpu(struct kvm_cpu *cpu, struct kvm_scan *scan, bool is_once, struct head *first,
		    const struct head *next, int64_t until_ns, kvm_order_fn take, void *arg)
{
	int ret;

	do {
		ret = take(arg, scan->at++);
		cpu->taken++;
		if (is_once && scan->at == scan->end)
			give_back(cpu);
		first->time_ns = next_time(scan);
	} while (!ret && first->time_ns < until_ns && is_before(first, next));
	return ret ? ret : scan->error;
}

int kvm_in_order(struct kvm_tracker *tracker, int64_t until_ns, kvm_order_fn take, void *arg)
{
	struct head *heap = malloc((tracker->n_cpus + 1) * sizeof(*heap));
	struct kvm_scan *scans = calloc(tracker->n_cpus + 1, sizeof(*scans));
	size_t n = 0;
	int ret = heap && scans ? 0 : -ENOMEM;

	for (size_t c = 0; c < tracker->n_cpus && !ret; c++) {
		const struct kvm_cpu *cpu = &tracker->cpus[c];
		int64_t time_ns;

		kvm_scan_begin(&scans[c], &cpu->events, cpu->taken);
		time_ns = next_time(&scans[c]);
		ret = scans[c].error;
		if (time_ns < until_ns)
			heap[n++] = (struct head){ .time_ns = time_ns, .cpu = (int32_t)c };
	}
	for (size_t i = n / 2; i-- > 0;)
		HEAP_DOWN(heap, n, i, is_before);
	while (n && !ret) {
		const struct head next = second(heap, n);

		ret = take_cpu(&tracker->cpus[heap->cpu], &scans[heap->cpu], tracker->is_once,
			       heap, &next, until_ns, take, arg);
		if (heap->time_ns >= until_ns && --n)
			heap[0] = heap[n];
		if (n)
			HEAP_DOWN(heap, n, 0, is_before);
	}
	for (size_t c = 0; c < tracker->n_cpus && scans; c++)
		kvm_scan_end(&scans[c]);
	free(scans);
	free(heap);
	return ret;
}
