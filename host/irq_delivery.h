/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	irq_delivery.h
 * @brief	Collect the input of virt_deliveries() from the traces of a host and its guests.
 *
 * kshark-virt report and the plugins share this code.
 */
#ifndef KSHARK_VIRT_IRQ_DELIVERY_H
#define KSHARK_VIRT_IRQ_DELIVERY_H

#include "host_trace.h"
#include "irq_injections.h"
#include "virt_devices.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A guest records outside of guest time only what its clock makes seem so. */
#define IRQ_ALIGNED_SHARE	0.99

/** A device's handler begins. */
struct irq_device_use {
	int64_t		time_ns;
	int32_t		device;		/* kvm_trace_device() of the guest's trace */
};

/** What the trace of a guest shows of one of its CPUs. */
struct irq_guest_cpu {
	int32_t		tid;		/* in the host's trace */
	int32_t		vcpu;		/* global index, or VIRT_NONE */
	bool		lost;		/* records, before the next one */
	uint64_t	fit, misfit;	/* records that lie where the vCPU executes it, or not */
	struct virt_guest_event *events; /* all of them, ascending by time, if @vcpu is known */
	size_t		n_events, room;
	struct irq_device_use *uses;	/* the same of devices' handlers */
	size_t		n_uses, uses_room;
};

/**
 * irq_guest_cpu_take - take note of a record of a guest, on the host's time axis
 * @interval: what the vCPU does at that time; or NULL
 *
 * Return: 0 or -ENOMEM.
 */
int irq_guest_cpu_take(struct irq_guest_cpu *cpu, const struct kvm_trace_record *record,
		       const struct virt_interval *interval);

/** irq_guest_cpu_free - what it has taken note of. */
void irq_guest_cpu_free(struct irq_guest_cpu *cpu);

/** irq_guest_cpu_is_aligned - does nearly everything that was recorded lie where the guest ran? */
bool irq_guest_cpu_is_aligned(const struct irq_guest_cpu *cpu);

/**
 * irq_deliveries - the deliveries to a CPU
 * @injections: sorted
 * @n: receives how many; there are none if nothing was injected
 *
 * Return: to be freed; NULL without memory.
 */
struct virt_delivery *irq_deliveries(const struct virt_model *model,
				     const struct irq_injections *injections,
				     const struct irq_guest_cpu *cpu, size_t *n);

/**
 * irq_deliveries_devices - whose interrupts those were that the guest's trace shows to be handled
 * @guest: that the CPU is of
 * @devices: more of them become known
 *
 * Return: 0 or -ENOMEM.
 */
int irq_deliveries_devices(const struct virt_delivery *deliveries, size_t n,
			   const struct irq_guest_cpu *cpu, const struct kvm_trace *guest,
			   struct virt_devices *devices);

/** Those that virt_worst_new() wants. */
struct irq_list {
	struct virt_irq_delivery *all;
	size_t		n, room;
};

/** irq_list_add - add deliveries to a vCPU, whatever became of them. Return: 0 or -ENOMEM. */
int irq_list_add(struct irq_list *irqs, int32_t vcpu, const struct virt_delivery *deliveries,
		 size_t n);
void irq_list_free(struct irq_list *irqs);

/** The traces of a host and of its guest, for irq_pair_read(). */
struct irq_pair {
	const struct virt_model	*model;	/* of the host */
	struct host_trace	*host;
	struct kvm_trace	*guest;
	const int32_t		*tids;	/* threads that are the guest's CPUs; or VIRT_NONE */
	int			n_tids;
	struct virt_devices	*devices; /* more of them become known; or NULL */
	bool			*judged; /* by vCPU of the model: set for those whose deliveries
					  * the traces show; or NULL */
	/* from the guest's times to the model's; NULL: they are the same */
	int64_t			(*model_time)(void *arg, int64_t time);
	host_progress_fn	progress; /* or NULL */
	void			*arg;
};

/**
 * irq_pair_read - go through both traces
 * @irqs: receives the deliveries to those CPUs that are aligned; free it in any case
 *
 * Return: 0, -ENOMEM, or what @progress returned.
 */
int irq_pair_read(const struct irq_pair *pair, struct irq_list *irqs);

#ifdef __cplusplus
}
#endif
#endif
