/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_item.h
 * @brief	A decoded record of a trace.dat, and its packed form for another process.
 */
#ifndef KSHARK_VIRT_KVM_ITEM_H
#define KSHARK_VIRT_KVM_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hyper_event.h"
#include "kvm_fields.h"
#include "kvm_step.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Events that carry a number: between a host and a vCPU, and system calls. */
enum kvm_trace_injection {
	KVM_TRACE_NO_INJECTION = 0,
	KVM_TRACE_INTERRUPT,		/* number: vector */
	KVM_TRACE_EXCEPTION,		/* number: vector */
	KVM_TRACE_HYPERCALL,		/* number: of the call */
	KVM_TRACE_TSC_OFFSET,		/* number: the guest's TSC minus the host's, from now on;
					 * before: up to now */
	KVM_TRACE_SYSCALL,		/* a task begins a system call; number: of the call */
	KVM_TRACE_SYSCALL_END,		/* and ends it */
	KVM_TRACE_N_INJECTIONS
};

/** Flags of injections; those of interrupts and exceptions exist since Linux 6.0. */
enum kvm_trace_injection_flags {
	KVM_TRACE_AGAIN = 1,		/* an injection of it has failed before */
	KVM_TRACE_SOFT = 2,		/* of the instruction INTn: no interrupt */
	KVM_TRACE_BEFORE = 4,		/* of KVM_TRACE_TSC_OFFSET: @before is known */
};

/** Sizes of the parts of packed items and lines are rounded up to that. */
#define EIGHTS(size)	(((size) + 7) / 8 * 8)

/** Size of the name of a task, with its end; longer names are cut. */
#define KVM_TASK_NAME	60

struct kvm_item_name {
	int32_t		pid;
	char		comm[KVM_TASK_NAME];
};

/** The parts that an item may have besides its fixed members. */
enum kvm_item_part {
	KVM_ITEM_STEP_MORE,	/* struct kvm_step_more, if kvm_step_has_more() */
	KVM_ITEM_RARE,		/* struct kvm_item_rare */
	KVM_ITEM_HANDLER,	/* struct kvm_handler_event; of KVM_STEP_HANDLER, the tracker takes
				 * it */
	KVM_ITEM_CALL,		/* struct hyper_call; time, thread and CPU are not set */
	KVM_ITEM_BOOT,		/* struct hyper_event; @label is not set */
	KVM_ITEM_CGROUP,	/* struct kvm_cgroup_event */
	KVM_ITEM_DEVICE,	/* char[KVM_DEVICE_SIZE]: name of the device of @irq, once */
	KVM_ITEM_NAME,		/* struct kvm_item_name: of the record's thread, once */
	KVM_ITEM_NEXT_NAME,	/* struct kvm_item_name: of the next thread, once */
	KVM_ITEM_RUN,		/* struct kvm_event[]; also KVM_SEEN, and enum kvm_run_kind */
	KVM_ITEM_N_PARTS
};

/** Limits: events of a run, handlers that have a number. */
#define KVM_ITEM_MOST_EVENTS	32
#define KVM_ITEM_MOST_HANDLERS	64

/** Kinds of events that only runs have. */
enum kvm_run_kind {
	KVM_RUN_ENTER = KVM_N_KINDS,	/* value: number of a handler, by an item before */
	KVM_RUN_LEAVE,			/* value: enum virt_handler_kind */
};

/** Members that few records have. */
struct kvm_item_rare {
	uint64_t	missing;	/* records lost before it; 0 if the number is not known */
	uint64_t	number, before;	/* of an injection */
	int64_t		irq;		/* of a device, handled from here on; below 0: none */
	uint8_t		injection, injection_flags;
};

/** The meaning of an item. */
enum kvm_item_role {
	KVM_ITEM_RECORD,	/* a record */
	KVM_ITEM_TRACKED,	/* a record for the tracker only; another item counts it */
	KVM_ITEM_COUNTED,	/* @n records of an event and a thread, only to be counted. They
				 * have @bytes in all; the other members are not set */
	KVM_ITEM_EVENTS,	/* @n records of a CPU, each as KVM_ITEM_TRACKED, by KVM_ITEM_RUN */
	KVM_ITEM_N_ROLES
};

/** A record, or what a sparse walk has in place of some. */
struct kvm_item {
	struct kvm_step	step;		/* its time is libtracecmd's, unsigned: ns or cycles */
	uint64_t	offset;		/* in the file, or in its unpacked copy */
	int32_t		next_pid;	/* sched_switch: the next thread; else VIRT_NONE */
	int32_t		event;		/* id */
	uint32_t	bytes;
	uint32_t	n;		/* of KVM_ITEM_COUNTED and KVM_ITEM_EVENTS; else the number
					 * of the handler for KVM_RUN_ENTER, + 1; or 0 */
	int16_t		vector;		/* of an interrupt's handler that begins; or VIRT_NONE */
	uint16_t	parts;		/* set of 1 << enum kvm_item_part */
	uint8_t		role;		/* enum kvm_item_role */
	uint8_t		flags;		/* enum virt_guest_flags */
	uint8_t		has_lost;	/* 1: records are missing before it */
	uint8_t		is_blind;	/* 1: another buffer has lost records at that time */
	/** By enum kvm_item_part; valid if the bit in @parts is set. Not in the packed form. */
	const void	*part[KVM_ITEM_N_PARTS];
};

/** kvm_item_part - one of the parts, or NULL. */
static inline const void *kvm_item_part(const struct kvm_item *item, enum kvm_item_part part)
{
	return item->parts >> part & 1 ? item->part[part] : NULL;
}

/** Packed items are multiples of 8 bytes, and never larger than this. */
#define KVM_ITEM_MOST	2048

/** kvm_item_pack - write an item; @to has room for KVM_ITEM_MOST bytes. Return: its size. */
size_t kvm_item_pack(const struct kvm_item *item, void *to);

/** Room for an item's parts. */
union kvm_item_room {
	uint64_t	align;
	uint8_t		bytes[KVM_ITEM_MOST];
};

/**
 * kvm_item_unpack - read a packed item that may be hostile, and check it
 * @from, @size: bytes that another process may change at the same time; each is read once
 * @room: receives the parts, @item points to them
 *
 * Return: the item's size; 0 if it is cut or has impossible values.
 */
size_t kvm_item_unpack(const void *from, size_t size, struct kvm_item *item,
		       union kvm_item_room *room);

#ifdef __cplusplus
}
#endif
#endif
