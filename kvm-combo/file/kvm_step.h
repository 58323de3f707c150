/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_step.h
 * @brief	A decoded ftrace record, as the KVM tracker takes it: no pointers, no libtraceevent.
 */
#ifndef KSHARK_VIRT_KVM_STEP_H
#define KSHARK_VIRT_KVM_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "kvm_handler_fields.h"
#include "kvm_tracker.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Size of the name of a handler, with its end. */
#define KVM_HANDLER_NAME	64

/** A handler begins or ends on the CPU of a record, or a whole one has been there. */
struct kvm_handler_event {
	int64_t		ns;		/* duration of KVM_HANDLER_WHOLE */
	uint8_t		kind;		/* enum virt_handler_kind */
	uint8_t		edge;		/* enum kvm_handler_edge */
	uint8_t		is_timer;	/* 1: a timer's function, which runs in another handler */
	char		name[KVM_HANDLER_NAME];	/* "49 virtio0"; not of KVM_HANDLER_EXIT */
};

/** The effect of a record on the tracker. */
enum kvm_step_kind {
	KVM_STEP_SEEN,		/* it only shows which thread has the CPU */
	KVM_STEP_EVENT,		/* @event, with the members after it */
	KVM_STEP_HANDLER,	/* the record's struct kvm_handler_event */
	KVM_STEP_IDLE_STATE,	/* the CPU is in the idle state @event.value */
	KVM_STEP_FREQUENCY,	/* the CPU of its struct kvm_step_more runs at @event.value kHz */
	KVM_STEP_N_KINDS
};

/** Bits of struct kvm_step's @flags. */
enum kvm_step_flags {
	KVM_STEP_SCHED = 1,	/* @event is about tasks of the trace's own kernel, and complete */
	KVM_STEP_NAMED = 2,	/* its struct kvm_step_more has the name of the thread @event.arg */
	KVM_STEP_BEFORE = 4,	/* of KVM_TSC_OFFSET: that has the offset before */
};

struct kvm_step {
	struct kvm_event event;		/* of all kinds: place, thread and time */
	uint8_t		kind;		/* enum kvm_step_kind */
	uint8_t		flags;		/* enum kvm_step_flags */
};

/** Members that only few steps need. */
struct kvm_step_more {
	int64_t		number;		/* of KVM_STEP_FREQUENCY and KVM_STEP_BEFORE */
	char		comm[KVM_COMM_SIZE];	/* of KVM_STEP_NAMED; else empty */
};

/** kvm_step_has_more - does the step need its struct kvm_step_more? */
static inline bool kvm_step_has_more(const struct kvm_step *step)
{
	return step->flags & (KVM_STEP_NAMED | KVM_STEP_BEFORE) ||
	       step->kind == KVM_STEP_FREQUENCY;
}

/**
 * kvm_step_take - give a record to the tracker
 * @more: if kvm_step_has_more(); else not used
 * @handler: of KVM_STEP_HANDLER; else not used
 *
 * All times of a trace are of one kind.
 * Call kvm_tracker_lost() first for records that are missing before it.
 *
 * Return: as kvm_tracker_add().
 */
int kvm_step_take(const struct kvm_step *step, const struct kvm_step_more *more,
		  const struct kvm_handler_event *handler, struct kvm_tracker *tracker);

#ifdef __cplusplus
}
#endif
#endif
