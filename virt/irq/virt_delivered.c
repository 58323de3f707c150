// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	virt_delivered.c
 * @brief	Count the interrupts of a window by vector, with their results and latencies.
 */
#include <errno.h>
#include <stdlib.h>

#include "virt_delivered.h"
#include "virt_window.h"

static int compare_vectors(const void *a, const void *b)
{
	const struct virt_irq_delivery *x = a, *y = b;

	return (x->vector > y->vector) - (x->vector < y->vector);
}

/** @ns: has room for as many latencies */
static void sum_up(struct virt_delivered *row, int32_t vector,
		   const struct virt_irq_delivery *irqs, size_t n, int64_t *ns)
{
	size_t seen = 0;

	*row = (struct virt_delivered){ .vector = vector };
	for (size_t i = 0; i < n; i++) {
		if (irqs[i].result < VIRT_DELIVERY_N_RESULTS)
			row->results[irqs[i].result]++;
		if (irqs[i].result == VIRT_DELIVERY_SEEN)
			ns[seen++] = irqs[i].handler_ns - irqs[i].inject_ns;
	}
	virt_dist_make(&row->latency, ns, seen);
}

/** Where the next vector begins. */
static size_t vector_end(const struct virt_irq_delivery *irqs, size_t n, size_t i)
{
	size_t end = i;

	while (end < n && irqs[end].vector == irqs[i].vector)
		end++;
	return end;
}

ssize_t virt_delivered_new(const struct virt_irq_delivery *irqs, size_t n, int64_t from_ns,
			   int64_t to_ns, struct virt_delivered **rows)
{
	struct virt_irq_delivery *mine = malloc((n + 1) * sizeof(*mine));
	int64_t *ns = malloc((n + 1) * sizeof(*ns));
	size_t kept = 0, vectors = 0, row = 0;

	*rows = NULL;
	for (size_t i = 0; mine && i < n; i++)
		if (virt_begins_in(irqs[i].inject_ns, from_ns, to_ns))
			mine[kept++] = irqs[i];
	if (kept)
		qsort(mine, kept, sizeof(*mine), compare_vectors);
	for (size_t i = 0; i < kept; i = vector_end(mine, kept, i))
		vectors++;
	if (mine && ns)
		*rows = calloc(vectors + 1, sizeof(**rows));
	if (*rows)
		sum_up(&(*rows)[row++], VIRT_NONE, mine, kept, ns);
	for (size_t i = 0, end; *rows && i < kept; i = end) {
		end = vector_end(mine, kept, i);
		sum_up(&(*rows)[row++], mine[i].vector, &mine[i], end - i, ns);
	}
	free(mine);
	free(ns);
	return row ? (ssize_t)row : -ENOMEM;
}

uint64_t virt_delivered_injected(const uint64_t results[VIRT_DELIVERY_N_RESULTS])
{
	uint64_t n = 0;

	for (int i = 0; i < VIRT_DELIVERY_N_RESULTS; i++)
		n += results[i];
	return n;
}
