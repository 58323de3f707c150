/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_source_private.h
 * @brief	Inner parts of the reader of trace.dat files: records by libtracecmd.
 */
#ifndef KSHARK_VIRT_KVM_SOURCE_PRIVATE_H
#define KSHARK_VIRT_KVM_SOURCE_PRIVATE_H

#include "key_map.h"
#include "kvm_source.h"

struct tep_format_field;
struct tep_handle;
struct tep_record;
struct tracecmd_input;

/** Events of irq_vectors that are entries of handlers; Linux has less than 20. */
#define KVM_SOURCE_HANDLERS	64

struct kvm_recent;

/** The records of a CPU, buffer by buffer, while it is read. */
struct kvm_reading {
	int		cpu;
	struct place {
		struct tep_record *next;	/* or NULL: there are no more, or it was taken */
		uint64_t	last;		/* offset of the record before */
		bool		was_taken;
	} *places;		/* by buffer */
	struct kvm_recent *recent;	/* NULL: there is one buffer */
	size_t		n_recent;	/* number of records so far */
};

/** What records of an event may have. */
#define KVM_SOURCE_INJECTION	(1 << 0)
#define KVM_SOURCE_MORE		(1 << 1)	/* kvm_fields_has_more() */

struct kvm_source {
	struct kvm_facts facts;
	struct tracecmd_input **inputs;	/* of the buffers of @facts; the top one first */
	struct tracecmd_input *input;	/* the top buffer */
	struct tep_handle *tep;
	struct kvm_fields *fields;
	int		switch_id;
	struct tep_format_field *next_pid, *next_comm;
	int		injection_id[KVM_TRACE_N_INJECTIONS];
	struct tep_format_field *injection_field[KVM_TRACE_N_INJECTIONS]; /* or NULL */
	struct tep_format_field *again, *soft;	/* of KVM_TRACE_INTERRUPT; or NULL */
	struct tep_format_field *before;	/* of KVM_TRACE_TSC_OFFSET; or NULL */
	struct tep_format_field *flags;		/* of all events; or NULL */
	uint8_t		*contents;		/* by event id: set of KVM_SOURCE_... */
	uint8_t		*handler_of;		/* by event id: number in @vectors + 1, or 0 */
	struct tep_format_field *vectors[KVM_SOURCE_HANDLERS];
	int		n_vectors;
	struct key_map	irqs;		/* of devices, whose names were given */
	struct key_map	named;		/* threads, whose names were given */
};

/**
 * kvm_reading_begin - begin with the first record of a CPU
 *
 * Return: 0 or -ENOMEM; to be given to kvm_reading_end() in any case.
 */
int kvm_reading_begin(struct kvm_source *source, struct kvm_reading *reading, int cpu);

/**
 * kvm_reading_next - the next record of the CPU, of all buffers in order of time
 * @record: receives it, to be freed before the next call; NULL: there are no more
 * @blind: receives whether another buffer has lost records at that time
 *
 * Return: 0 or -ENOMEM.
 */
int kvm_reading_next(struct kvm_source *source, struct kvm_reading *reading,
		     struct tep_record **record, bool *blind);

/** kvm_reading_end - free it; one that is all zero has ended already. */
void kvm_reading_end(const struct kvm_source *source, struct kvm_reading *reading);

/** kvm_source_forget_walk - a new walk begins: the facts about the last one are gone */
void kvm_source_forget_walk(struct kvm_source *source);

/**
 * kvm_source_name_once - the name of a thread goes with the first record after it is known
 *
 * Return: 1: @name has it; 0: there is none, or it was given before; -ENOMEM.
 */
int kvm_source_name_once(struct kvm_source *source, int32_t pid, struct kvm_item_name *name);

/**
 * kvm_source_next_pid - the next thread of a sched_switch, or VIRT_NONE
 *
 * The trace keeps the first name of each that has none.
 */
int32_t kvm_source_next_pid(struct kvm_source *source, struct tep_record *record);

#endif
