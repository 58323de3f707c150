/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	model_irqs.h
 * @brief	Find the deliveries of interrupts to the guests of a trace that is loaded.
 */
#ifndef KSHARK_VIRT_MODEL_IRQS_H
#define KSHARK_VIRT_MODEL_IRQS_H

#include "irq_delivery.h"
#include "model_load.h"

/** All zero at first. */
struct model_irqs {
	struct irq_list	list;		/* of all guests, by vCPU, then by time */
	bool		*judged;	/* by vCPU: the traces show its deliveries */
};

/**
 * model_irqs_read - walk through the traces of the host and of its own guests once more
 * @load: is loaded; its model learns which devices have which vectors
 * @irqs: receives the deliveries; to be given to model_irqs_free() in any case
 *
 * Return: 0, or a negative errno for host_trace_problem().
 */
int model_irqs_read(struct model_irqs *irqs, struct model_load *load);

/**
 * model_irqs_of - the interrupts that are injected into a vCPU in a window
 * @n: receives how many
 *
 * Return: the first one; NULL: there is none.
 */
const struct virt_irq_delivery *model_irqs_of(const struct model_irqs *irqs, int32_t vcpu,
					      int64_t from_ns, int64_t to_ns, size_t *n);

void model_irqs_free(struct model_irqs *irqs);

#endif
