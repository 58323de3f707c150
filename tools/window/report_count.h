/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	report_count.h
 * @brief	Count records while a trace is read: volume, hypercalls, traps, interrupts.
 */
#ifndef KSHARK_VIRT_REPORT_COUNT_H
#define KSHARK_VIRT_REPORT_COUNT_H

#include <stdint.h>

#include "kvm_trace.h"
#include "key_map.h"
#include "xen_trace.h"

/** Hypercall numbers that are counted one by one; the last element takes all others. */
#define COUNT_HYPERCALLS	65
#define COUNT_OTHER_HYPERCALL	(COUNT_HYPERCALLS - 1)

/** Exceptions of the processor. */
#define COUNT_TRAPS		32

/** Classes of events and their parts, see report_count_class(). */
enum count_class {
#define XEN_CLASS(symbol_, bits_, name_) COUNT_CLASS_##symbol_,
#define XEN_PART(symbol_, bits_, name_) COUNT_CLASS_##symbol_,
#include "xen_events.def"
	COUNT_CLASS_OTHER,
	COUNT_CLASSES
};

/** Events that stand for one kind of trap each, see report_count_trap(). */
enum count_trap {
#define XEN_TRAP(symbol_, symbol64_, name_) COUNT_TRAP_##symbol_,
#include "xen_events.def"
	COUNT_TRAP_EVENTS
};

/** Events about a domain's memory, see report_count_memory(). */
enum count_memory {
#define XEN_MEMORY(symbol_, name_) COUNT_##symbol_,
#include "xen_events.def"
	COUNT_MEMORY_EVENTS
};

#define COUNT_VECTORS		256

struct count_volume {
	uint64_t	records, bytes;
};

/** What is counted of a vCPU: the first one of each kind, of which another one may be added. */
enum count_what {
	COUNT_HYPERCALL = 0,
	COUNT_SUBCALL = COUNT_HYPERCALL + COUNT_HYPERCALLS,	/* in multicalls */
	COUNT_TRAP = COUNT_SUBCALL + COUNT_HYPERCALLS,		/* by exception */
	COUNT_TRAP_EVENT = COUNT_TRAP + COUNT_TRAPS,
	COUNT_MEMORY = COUNT_TRAP_EVENT + COUNT_TRAP_EVENTS,	/* what Xen did to pages while
								 * it ran */
	COUNT_VECTOR = COUNT_MEMORY + COUNT_MEMORY_EVENTS,	/* interrupts injected */
	COUNT_N_WHATS = COUNT_VECTOR + COUNT_VECTORS
};

/** Counters of a vCPU that are allocated together, if one of them is not 0. */
#define COUNT_CHUNK		8
#define COUNT_CHUNKS		((COUNT_N_WHATS + COUNT_CHUNK - 1) / COUNT_CHUNK)

/** A vCPU's. There may be very many vCPUs, and most count few things. */
struct vcpu_count {
	uint64_t	(*counters)[COUNT_CHUNK];
	uint8_t		chunks[COUNT_CHUNKS];		/* index into these, and 1; 0: all are 0 */
	uint8_t		n_chunks, room_chunks;
	bool		is_kvm;				/* whose hypercalls they are */
};

/** report_counted - one of a vCPU's counts: what, and which of this kind. */
static inline uint64_t report_counted(const struct vcpu_count *count, enum count_what what,
				      unsigned int i)
{
	unsigned int n = (unsigned int)what + i;
	uint8_t chunk = count->chunks[n / COUNT_CHUNK];

	return chunk ? count->counters[chunk - 1][n % COUNT_CHUNK] : 0;
}

/** A pCPU's. */
struct pcpu_count {
	struct count_volume volume[COUNT_CLASSES];
	uint64_t	interrupts;			/* handled by Xen */
	xen_vcpu	cached;				/* of the last record ... */
	struct vcpu_count *cached_count;		/* ... and its counts */
};

struct report_count {
	int64_t		from_ns, to_ns;		/* only records within [from, to) */
	uint64_t	records;
	struct key_map	vcpu_map;		/* xen_vcpu */
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

/** report_count_skipped - the same for records that were counted already; all that there are. */
void report_count_skipped(struct report_count *count, const struct xen_trace_skipped *skipped);

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
