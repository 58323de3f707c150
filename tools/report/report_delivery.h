/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_delivery.h
 * @brief	kshark-virt report: interrupts, from their injection to the guest's handler.
 */
#ifndef KSHARK_VIRT_REPORT_DELIVERY_H
#define KSHARK_VIRT_REPORT_DELIVERY_H

#include "report_kvm.h"
#include "virt_delivered.h"

struct report_delivery_vcpu {
	int32_t		vcpu;		/* global index */
	int		cpu;		/* of the guest */
	const struct report_guest *guest;
	struct virt_delivered *rows;	/* all together, then vectors, ascending */
	size_t		n;
};

struct report_delivery {
	/* taken note of during the walk */
	struct irq_injections injections;
	/* the result */
	struct irq_list	irqs;		/* of the whole trace */
	struct report_delivery_vcpu *vcpus; /* whose guest's trace is there and aligned */
	size_t		n_vcpus;
	const char	*missing;	/* why there is none, to be put behind "because"; or NULL */
};

/**
 * report_delivery_build - find the handlers, when @report's model and traces of guests are there
 * @vcpus: those to report; empty for all
 *
 * Return: 0 or -ENOMEM.
 */
int report_delivery_build(struct report_delivery *delivery, const struct report *report,
			  const struct ksv_vcpu_set *vcpus);
void report_delivery_free(struct report_delivery *delivery);

/** report_vector - "0xec local_timer", "0x22 virtio1", for people */
void report_vector(char *text, size_t size, const struct report *report, int32_t vcpu, int vector);

#endif
