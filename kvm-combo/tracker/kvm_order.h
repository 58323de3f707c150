/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_order.h
 * @brief	Inside the KVM tracker: the records of all CPUs in order of time.
 */
#ifndef KSHARK_VIRT_KVM_ORDER_H
#define KSHARK_VIRT_KVM_ORDER_H

#include "kvm_private.h"

/** Return: 0 to go on. */
typedef int (*kvm_order_fn)(void *arg, const struct kvm_event *event);

/**
 * kvm_in_order - call for each record that was not taken yet; at the same time, the lower CPU's is
 * first
 * @until_ns: this time is not included
 *
 * Taken is also the one of which the call fails.
 *
 * Return: 0, what the function returned that was not 0, or -ENOMEM.
 */
int kvm_in_order(struct kvm_tracker *tracker, int64_t until_ns, kvm_order_fn take, void *arg);

#endif
