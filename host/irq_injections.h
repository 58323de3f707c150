/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	irq_injections.h
 * @brief	Interrupts that a host injects into its guests, as KVM and Xen record them.
 */
#ifndef KSHARK_VIRT_IRQ_INJECTIONS_H
#define KSHARK_VIRT_IRQ_INJECTIONS_H

#include "kvm_trace.h"
#include "virt_delivery.h"
#include "xen_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An injection, before its thread is known to be a vCPU. */
struct irq_injection {
	int64_t		time_ns;
	int32_t		tid;		/* of Xen, xen_vcpu_tid() */
	int16_t		vector;
	bool		again;
};

/** All of a host. */
struct irq_injections {
	struct irq_injection *all;
	size_t		n, room;
	int		error;		/* -ENOMEM: some are missing */
};

/** irq_injections_kvm - take note of a record of KVM, if it is one; out of memory sets @error. */
void irq_injections_kvm(struct irq_injections *injections, const struct kvm_trace_record *record);

/** irq_injections_xen - the same of Xen, where one that is repeated is another event. */
void irq_injections_xen(struct irq_injections *injections, const struct xen_trace_row *row);

/** irq_injections_sort - when all are there, before irq_injections_of() */
void irq_injections_sort(struct irq_injections *injections);
void irq_injections_free(struct irq_injections *injections);

/**
 * irq_injections_of - the injections into one vCPU, for virt_deliveries()
 * @tid: its thread
 * @n: receives how many
 *
 * Return: to be freed; NULL without memory.
 */
struct virt_injection *irq_injections_of(const struct irq_injections *injections, int32_t tid,
					 size_t *n);

#ifdef __cplusplus
}
#endif
#endif
