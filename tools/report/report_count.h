/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_count.h
 * @brief	What is counted while the records go by: volume, hypercalls, traps, interrupts.
 */
#ifndef KSHARK_VIRT_REPORT_COUNT_H
#define KSHARK_VIRT_REPORT_COUNT_H

#include <stdint.h>

#include "kvm_trace.h"
#include "kvm_trace.h"
#include "u32_map.h"
#include "xen_trace.h"

/** Hypercall numbers that are counted one by one; the last element takes all others. */
#define COUNT_HYPERCALLS	65
#define COUNT_OTHER_HYPERCALL	(COUNT_HYPERCALLS - 1)

/** Exceptions of the processor. */
#define COUNT_TRAPS		32

/** Events that stand for one kind of trap each, see report_count_trap(). */
#define COUNT_TRAP_EVENTS	16

/** Events about a domain's memory, see report_count_memory(). */
#define COUNT_MEMORY_EVENTS	8

/** Classes of events and their parts, see report_count_class(). */
#define COUNT_CLASSES		20

#define COUNT_VECTORS		256

struct count_volume {
	uint64_t	records, bytes;
};

/** A vCPU's. */
struct vcpu_count {
	uint64_t	hypercalls[COUNT_HYPERCALLS];
	uint64_t	subcalls[COUNT_HYPERCALLS];	/* in multicalls */
	uint64_t	traps[COUNT_TRAPS];		/* by exception */
	uint64_t	trap_events[COUNT_TRAP_EVENTS];
	uint64_t	memory[COUNT_MEMORY_EVENTS];	/* what Xen did to pages while it ran */
	uint64_t	vectors[COUNT_VECTORS];		/* interrupts injected */
	bool		is_kvm;				/* whose hypercalls they are */
};

/** A pCPU's. */
struct pcpu_count {
	struct count_volume volume[COUNT_CLASSES];
	uint64_t	interrupts;			/* handled by Xen */
	uint64_t	lost;
	xen_vcpu	cached;				/* of the last record ... */
	struct vcpu_count *cached_count;		/* ... and its counts */
};

struct report_count {
	int64_t		from_ns, to_ns;		/* only records within [from, to) */
	uint64_t	records;
	struct u32_map	vcpu_map;		/* xen_vcpu */
	struct vcpu_count **vcpus;
	uint32_t	room_vcpus;
	struct pcpu_count *pcpus;
	int		n_pcpus;
	const struct kvm_trace *kvm;		/* whose classes are counted; NULL: Xen's */
	int		error;
};

/** report_count_init - Return: 0 or -ENOMEM. */
int report_count_init(struct report_count *count, int n_pcpus);
void report_count_destroy(struct report_count *count);

/** report_count_rows - count @n rows; running out of memory sets @error. */
void report_count_rows(struct report_count *count, const struct xen_trace_row *rows, size_t n);

/** report_count_vcpu - a vCPU's counts (KVM: its thread's), or NULL if it has none. */
const struct vcpu_count *report_count_vcpu(const struct report_count *count, xen_vcpu vcpu);

/** report_count_hypercall - name of a hypercall, or NULL. */
const char *report_count_hypercall(const struct vcpu_count *count, uint32_t nr);

/** report_count_class - name of a class, or NULL if there are no more. */
const char *report_count_class(const struct report_count *count, int class);

/** report_count_record - count one of KVM's; rows of Xen are report_count_rows()'s. */
void report_count_record(struct report_count *count, const struct kvm_trace_record *record);

/** report_count_trap - name of the @i-th kind of trap event, or NULL if there are no more. */
const char *report_count_trap(int i);

/** report_count_memory - name of the @i-th kind of memory event, or NULL if there are no more. */
const char *report_count_memory(int i);

#endif
