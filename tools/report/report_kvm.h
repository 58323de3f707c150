/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_kvm.h
 * @brief	The data of kshark-virt report that only KVM has: events of tasks, and traces of
 *		guests.
 */
#ifndef KSHARK_VIRT_REPORT_KVM_H
#define KSHARK_VIRT_REPORT_KVM_H

#include "guest_culprits.h"
#include "irq_delivery.h"
#include "report.h"
#include "key_map.h"

/** A task of the host and its records by class. */
struct report_task {
	int32_t		pid;
	uint64_t	records[COUNT_CLASSES], all;
};

/** A CPU of a guest and the guest's records on it, by what its vCPU did at that time. */
struct report_guest_cpu {
	struct irq_guest_cpu seen;	/* of the whole trace */
	uint64_t	inside, outside, unknown; /* of the report's window */
	uint64_t	beyond;		/* the whole trace of the host */
};

struct report_guest {
	struct kvm_trace *trace;
	int		number;		/* in struct model_load */
	struct report_guest_cpu *cpus;
	int		n_cpus;
	struct guest_tasks tasks;	/* who had which CPU */
	bool		*is_aligned;	/* by CPU: what is said of its tasks can be believed */
	struct guest_task_sums sums;	/* of the report's window */
	struct guest_task_sums by_cgroup; /* the same; none if the trace has no cgroups */
};

struct report_kvm {
	struct kvm_trace *trace;	/* host */
	int64_t		from_ns, to_ns;	/* only records within [from, to) */
	struct key_map	task_map;	/* pid */
	struct report_task *tasks;	/* most records first, in the end */
	uint32_t	room_tasks;
	int64_t		last_task;	/* of the record before: number in @tasks + 1 */
	struct report_guest *guests;
	int		n_guests;
	struct guest_culprits_guest *of_culprits; /* the same guests, for @culprits */
	struct guest_culprits culprits;
	int		error;
};

/** report_kvm_record - count one of the host's; running out of memory sets @error. */
void report_kvm_record(struct report_kvm *kvm, const struct kvm_trace_record *record);

/**
 * report_kvm_build - go through the traces of the guests, which @report's model belongs to
 *
 * Return: 0 or -ENOMEM.
 */
int report_kvm_build(struct report_kvm *kvm, const struct report *report);
void report_kvm_free(struct report_kvm *kvm);

/** report_kvm_guest_cpu - the CPU that a vCPU is in its guest's trace, or VIRT_NONE. */
int report_kvm_guest_cpu(const struct report_kvm *kvm, int32_t tid);

/**
 * report_kvm_find - the CPU that a vCPU is in the traces of guests; of several the first
 * @guest: receives the guest
 *
 * Return: NULL if there is none.
 */
const struct report_guest_cpu *report_kvm_find(const struct report_kvm *kvm, int32_t vcpu,
					       const struct report_guest **guest);

#endif
