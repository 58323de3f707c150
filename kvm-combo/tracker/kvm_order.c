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

static bool is_before(const struct head *a, const struct head *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->cpu < b->cpu;
}

int kvm_in_order(struct kvm_tracker *tracker, int64_t until_ns, kvm_order_fn take, void *arg)
{
	struct head *heap = malloc((tracker->n_cpus + 1) * sizeof(*heap));
	size_t n = 0;
	int ret = 0;

	if (!heap)
		return -ENOMEM;
	for (size_t c = 0; c < tracker->n_cpus; c++) {
		const struct kvm_cpu *cpu = &tracker->cpus[c];

		if (cpu->taken < cpu->n && cpu->events[cpu->taken].time_ns < until_ns)
			heap[n++] = (struct head){
				.time_ns = cpu->events[cpu->taken].time_ns, .cpu = (int32_t)c,
			};
	}
	for (size_t i = n / 2; i-- > 0;)
		HEAP_DOWN(heap, n, i, is_before);
	while (n && !ret) {
		struct kvm_cpu *cpu = &tracker->cpus[heap->cpu];

		ret = take(arg, &cpu->events[cpu->taken]);
		if (++cpu->taken < cpu->n && cpu->events[cpu->taken].time_ns < until_ns)
			heap->time_ns = cpu->events[cpu->taken].time_ns;
		else if (--n)
			heap[0] = heap[n];
		if (n)
			HEAP_DOWN(heap, n, 0, is_before);
	}
	free(heap);
	return ret;
}
