/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	hyper_event.h
 * @brief	The hypercalls by which a guest reports, and the events in them.
 *
 * A call is the host's record of a hypercall. A dialect (hyper_dialect.h) makes events of it. Every
 * report of a guest is a claim: code that relies on it checks it first.
 */
#ifndef KSHARK_VIRT_HYPER_EVENT_H
#define KSHARK_VIRT_HYPER_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HYPER_N_REGISTERS	4

/** Where a call was recorded. */
enum hyper_source {
	HYPER_KVM = 0,		/* kvm_hypercall, between a VM exit and the next entry */
	HYPER_KVM_WHOLE,	/* hypergraph_host: exit, call and entry as one event */
	HYPER_XEN,		/* HVMOP_xentrace: a record of class 0x0800f000 */
};

/** No exit takes longer than an hour: a longer time in a trace counts as unknown. */
#define HYPER_MOST_COST_NS	INT64_C(3600000000000)

/** A hypercall, as the host recorded it. */
struct hyper_call {
	int64_t		time_ns;	/* on the host's axis */
	uint64_t	nr;		/* of Xen, the number of the record within its class */
	uint64_t	a[HYPER_N_REGISTERS]; /* of Xen, 28 bytes: a[3] has 4 of them */
	uint64_t	rip;		/* of KVM, where the guest was; 0: not known */
	int64_t		cost_ns;	/* HYPER_KVM_WHOLE: from exit to entry; else -1 */
	int32_t		tid;		/* thread that had the CPU; of Xen, xen_vcpu_tid() */
	int16_t		pcpu;
	uint8_t		bytes;		/* of @a that are there: 32; of Xen, up to 28 */
	uint8_t		source;		/* enum hyper_source */
	bool		vague;		/* of Xen: it has the time of a record before it, not of
					 * its own exit or hypercall */
	bool		is_users;	/* a program made it, see host_hypertrace_new() */
};

/** The frequency of a guest's TSC. */
struct hyper_khz {
	uint32_t	reported;		/* as the guest believes; 0: not known */
	uint32_t	measured;	/* on the host's axis, if that contradicts it; else 0 */
};

/** What an event is about. */
enum hyper_kind {
	HYPER_OTHER = 0,	/* it has a name; nothing follows from it */
	/* what goes on from an entry to an exit */
	HYPER_FUNCTION,		/* address, depth; exit: value, its duration in ns */
	HYPER_USER_FUNCTION,	/* of a program: address */
	HYPER_SYSCALL,		/* number; exit: value, what it returned */
	HYPER_IRQ,		/* number */
	HYPER_SOFTIRQ,		/* number: vector */
	HYPER_INITCALL,		/* number or address, name */
	HYPER_LEVEL,		/* number: of initcalls; at once: until the next one */
	HYPER_SHUTDOWN,		/* number: level of the way down; at once: as HYPER_LEVEL */
	HYPER_DEVICE,		/* number: a device that is shut down */
	HYPER_NOTIFIER,		/* number: a notifier of a reboot */
	HYPER_N_SLICES,
	/* what happens at once */
	HYPER_PHASE = HYPER_N_SLICES,	/* number: of the boot */
	HYPER_SWITCH,		/* pid, tgid, prev_pid, prev_tgid */
	HYPER_WAKEUP,		/* pid; cpu: where it will run */
	HYPER_FORK,		/* pid, tgid: the child; prev_pid, prev_tgid: its parent */
	HYPER_TASK_EXIT,	/* pid */
	HYPER_COMM,		/* pid, name: what it is called */
	HYPER_SOFTIRQ_RAISE,	/* number */
	HYPER_START,		/* tracing begins, */
	HYPER_STOP,		/* and ends */
	HYPER_LOST,		/* value: events that the guest could not send, or -1: some */
	HYPER_N_KINDS
};

enum hyper_edge { HYPER_AT_ONCE = 0, HYPER_ENTRY, HYPER_EXIT, HYPER_N_EDGES };

/** What a register, or a part of it, says. */
enum hyper_field {
	HYPER_F_NONE = 0,
	HYPER_F_EDGE,		/* 0: entry, 1: exit */
	HYPER_F_ADDRESS,
	HYPER_F_DEPTH,
	HYPER_F_CPU,		/* of the guest */
	HYPER_F_PID,
	HYPER_F_TGID,
	HYPER_F_PREV_PID,
	HYPER_F_PREV_TGID,
	HYPER_F_PREV_STATE,	/* bits as of Linux's sched_switch */
	HYPER_F_PRIO,
	HYPER_F_NUMBER,
	HYPER_F_SYNC,		/* 1: the level of @number + 10, which is from 2 to 9 */
	HYPER_F_VALUE,		/* with a sign, unless @no_sign */
	HYPER_F_BEFORE,		/* ns of the guest's clock that it happened before the call */
	HYPER_F_NAME,		/* up to 8 letters, the first one in the lowest byte */
	HYPER_N_FIELDS
};

/** Three registers of 8 letters. */
#define HYPER_NAME_SIZE	25

#define HYPER_BEFORE_UNKNOWN	(-1)

/** An event. What is not in @has is 0, but for @before_ns. */
struct hyper_event {
	int64_t		before_ns;	/* HYPER_F_BEFORE: 0 is the moment of the call; without it,
					 * HYPER_BEFORE_UNKNOWN: it was before, time unknown */
	uint64_t	address;
	int64_t		value;
	int32_t		depth, cpu;
	int32_t		pid, tgid, prev_pid, prev_tgid;
	int32_t		prev_state, prio;
	int64_t		number;
	uint32_t	has;		/* set of 1 << enum hyper_field */
	const char	*label;		/* what the dialect calls it */
	uint8_t		kind;		/* enum hyper_kind */
	uint8_t		edge;		/* enum hyper_edge */
	bool		no_sign;	/* @value is an uint64_t */
	bool		vague;		/* as its call is */
	char		name[HYPER_NAME_SIZE];
};

static inline bool hyper_has(const struct hyper_event *event, enum hyper_field field)
{
	return event->has >> field & 1;
}

/** hyper_kind_name, hyper_edge_name, hyper_field_name - as files of dialects call them; or NULL. */
const char *hyper_kind_name(enum hyper_kind kind);
const char *hyper_edge_name(enum hyper_edge edge);
const char *hyper_field_name(enum hyper_field field);

#ifdef __cplusplus
}
#endif
#endif
