/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	virt_delivered.h
 * @brief	Count the interrupts of a window by vector, with their results and latencies.
 */
#ifndef KSHARK_VIRT_VIRT_DELIVERED_H
#define KSHARK_VIRT_VIRT_DELIVERED_H

#include "virt_delivery.h"
#include "virt_window.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Deliveries of a vector. */
struct virt_delivered {
	int32_t		vector;		/* VIRT_NONE: all together */
	uint64_t	results[VIRT_DELIVERY_N_RESULTS];
	struct virt_dist latency;	/* of those that are seen */
};

/**
 * virt_delivered_new - count deliveries
 * @irqs: of whichever vCPUs, in any order
 * @from_ns, @to_ns: those injected in [from, to) count
 * @rows: receives all together, and then each vector, ascending; to be freed
 *
 * Return: the number of rows, 1 or more; or -ENOMEM.
 */
ssize_t virt_delivered_new(const struct virt_irq_delivery *irqs, size_t n, int64_t from_ns,
			   int64_t to_ns, struct virt_delivered **rows);

/** virt_delivered_injected - how many, whatever became of them */
uint64_t virt_delivered_injected(const uint64_t results[VIRT_DELIVERY_N_RESULTS]);

#ifdef __cplusplus
}
#endif
#endif
