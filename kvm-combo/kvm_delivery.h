/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_delivery.h
 * @brief	What virt_deliveries() needs, collected from the traces of a host and its guests.
 *
 * What kshark-virt report and the plugins have in common.
 */
#ifndef KSHARK_VIRT_KVM_DELIVERY_H
#define KSHARK_VIRT_KVM_DELIVERY_H

#include "kvm_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A guest records outside of guest time only what its clock makes seem so. */
#define KVM_ALIGNED_SHARE	0.99

/** An injection, before its thread is known to be a vCPU. */
struct kvm_injection {
	int64_t		time_ns;
	int32_t		tid;
	int16_t		vector;
	bool		again;
};

/** All of a host. */
struct kvm_injections {
	struct kvm_injection *all;
	size_t		n, room;
	int		error;		/* -ENOMEM: some are missing */
};

/** kvm_injections_add - take note of one; out of memory sets @error. */
void kvm_injections_add(struct kvm_injections *injections, const struct kvm_injection *injection);

/** kvm_injections_record - take note of a record of a host, if it is one. */
void kvm_injections_record(struct kvm_injections *injections,
			   const struct kvm_trace_record *record);

/** kvm_injections_sort - when all are there, before kvm_deliveries() */
void kvm_injections_sort(struct kvm_injections *injections);
void kvm_injections_free(struct kvm_injections *injections);

/** What the trace of a guest tells of one of its CPUs. */
struct kvm_guest_cpu {
	int32_t		tid;		/* in the host's trace */
	int32_t		vcpu;		/* global index, or VIRT_NONE */
	bool		lost;		/* records, before the next one */
	uint64_t	fit, misfit;	/* records that lie where the vCPU executes it, or not */
	struct virt_guest_event *events; /* all of them, ascending by time, if @vcpu is known */
	size_t		n_events, room;
};

/**
 * kvm_guest_cpu_take - take note of a record of a guest, on the host's time axis
 * @interval: what the vCPU does at that time; or NULL
 *
 * Return: 0 or -ENOMEM.
 */
int kvm_guest_cpu_take(struct kvm_guest_cpu *cpu, const struct kvm_trace_record *record,
		       const struct virt_interval *interval);

/** kvm_guest_cpu_is_aligned - does nearly everything that was recorded lie where the guest ran? */
bool kvm_guest_cpu_is_aligned(const struct kvm_guest_cpu *cpu);

/**
 * kvm_deliveries - the deliveries to a CPU
 * @injections: sorted
 * @n: receives how many; there are none if nothing was injected
 *
 * Return: to be freed; NULL without memory.
 */
struct virt_delivery *kvm_deliveries(const struct virt_model *model,
				     const struct kvm_injections *injections,
				     const struct kvm_guest_cpu *cpu, size_t *n);

/** Those that virt_worst_new() wants. */
struct kvm_irqs {
	struct virt_irq_delivery *all;
	size_t		n;
};

/** kvm_irqs_add - add those that are seen. Return: 0 or -ENOMEM. */
int kvm_irqs_add(struct kvm_irqs *irqs, int32_t vcpu, const struct virt_delivery *deliveries,
		 size_t n);
void kvm_irqs_free(struct kvm_irqs *irqs);

/** The traces of a host and of its guest, for kvm_irqs_read(). */
struct kvm_irqs_pair {
	const struct virt_model	*model;	/* of the host */
	struct kvm_trace	*host, *guest;	/* the guest's times are aligned */
	const int32_t		*tids;	/* threads that are the guest's CPUs; or VIRT_NONE */
	int			n_tids;
	bool			(*stop)(void *arg);	/* asked now and then; or NULL */
	void			*arg;
};

/**
 * kvm_irqs_read - go through both traces
 * @irqs: receives the deliveries to those CPUs that are aligned; free it in any case
 *
 * Return: 0, -ENOMEM, or -ECANCELED because of @stop.
 */
int kvm_irqs_read(const struct kvm_irqs_pair *pair, struct kvm_irqs *irqs);

#ifdef __cplusplus
}
#endif
#endif
