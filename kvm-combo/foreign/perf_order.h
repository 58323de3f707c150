/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	perf_order.h
 * @brief	Samples that wait until no earlier one of their CPU can follow.
 *
 * perf record reads all ring buffers in turn. When it has read each of them once, a round is
 * finished: what comes later is not earlier than the end of the round before. Linux's
 * tools/perf/util/ordered-events.c explains why. So samples of two rounds wait. If these exceed the
 * limit, the earlier half of each CPU's samples stops to wait.
 */
#ifndef KSHARK_VIRT_PERF_ORDER_H
#define KSHARK_VIRT_PERF_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_order;

/** Takes what has waited: a sample, or if @data is NULL, the loss of @ts samples (0: unknown). */
typedef int (*perf_order_fn)(void *arg, uint32_t cpu, uint64_t ts, const uint8_t *data,
			     size_t size, size_t before, bool is_late);

/** perf_order_new - Return: NULL without memory. */
struct perf_order *perf_order_new(perf_order_fn take, void *arg);
void perf_order_free(struct perf_order *order);

/**
 * perf_order_add - a sample
 * @before: bytes in front of @data that belong to it, and stay there for @take
 * @copy: its bytes will be gone; else they stay until perf_order_end()
 *
 * Return: 0, -ENOMEM, or what @take returned.
 */
int perf_order_add(struct perf_order *order, uint32_t cpu, uint64_t ts, const uint8_t *data,
		   size_t size, uint16_t before, bool copy);

/** perf_order_lost - samples are missing between those of a CPU that come before and after. */
int perf_order_lost(struct perf_order *order, uint32_t cpu, uint64_t count);

/** perf_order_round - a round is finished. Return: as perf_order_add(). */
int perf_order_round(struct perf_order *order);

/** perf_order_end - nothing waits; what follows begins anew. Return: as perf_order_add(). */
int perf_order_end(struct perf_order *order);

#endif
