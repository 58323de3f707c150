// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	kvm_order.c
 * @brief	The records of all CPUs in order of time: a heap of where each CPU is.
 */
#include <errno.h>
#include <stdlib.h>

#include "heap.h"
#include "kvm_order.h"

/** Where a CPU's records are. */
struct head {
	int64_t		time_ns;
	int32_t		cpu;
	size_t		next;
};

static bool is_before(const struct head *a, const struct head *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->cpu < b->cpu;
}

int kvm_in_order(const struct kvm_tracker *tracker, kvm_order_fn take, void *arg)
{
	struct head *heap = malloc((tracker->n_cpus + 1) * sizeof(*heap));
	size_t n = 0;
	int ret = 0;

	if (!heap)
		return -ENOMEM;
	for (size_t c = 0; c < tracker->n_cpus; c++)
		if (tracker->cpus[c].n)
			heap[n++] = (struct head){
				.time_ns = tracker->cpus[c].events[0].time_ns, .cpu = (int32_t)c,
			};
	for (size_t i = n / 2; i-- > 0;)
		HEAP_DOWN(heap, n, i, is_before);
	while (n && !ret) {
		const struct kvm_cpu *cpu = &tracker->cpus[heap->cpu];

		ret = take(arg, &cpu->events[heap->next]);
		if (++heap->next < cpu->n)
			heap->time_ns = cpu->events[heap->next].time_ns;
		else if (--n)
			heap[0] = heap[n];
		if (n)
			HEAP_DOWN(heap, n, 0, is_before);
	}
	free(heap);
	return ret;
}
