/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_quick.h
 * @brief	Decode the events that a KVM host records most, with few instructions.
 */
#ifndef KSHARK_VIRT_KVM_QUICK_H
#define KSHARK_VIRT_KVM_QUICK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kvm_fields.h"
#include "record_flags.h"

/** Where an event has its fields, in this host's byte order and if kvm_fields_is_usual(). */
struct kvm_quick {
	int32_t		least;		/* bytes of a record that has all of them */
	uint16_t	arg, value, more;	/* their offsets; 0: the event has none */
	bool		is_wide;	/* @value has 8 bytes, else 4 as the others */
	bool		has_context;	/* more of the event: enum kvm_context */
	uint8_t		kind, isa, flags;	/* enum kvm_event_kind, kvm_isa, kvm_step_flags */
	int8_t		no_value;	/* of an event that has none */
};

static inline uint32_t kvm_quick_number(const uint8_t *data, uint16_t offset)
{
	uint32_t number;

	memcpy(&number, data + offset, sizeof(number));
	return number;
}

/** kvm_quick_step - decode a record of @quick->least bytes or more; time and place are not set */
static inline void kvm_quick_step(const struct kvm_quick *quick, const void *record,
				  struct kvm_step *step)
{
	struct kvm_event *event = &step->event;
	const uint8_t *data = record;
	uint64_t wide;

	step->kind = KVM_STEP_EVENT;
	step->flags = quick->flags;
	event->kind = quick->kind;
	event->arg = quick->arg ? (int32_t)kvm_quick_number(data, quick->arg) : VIRT_NONE;
	event->value = quick->value ? (int64_t)kvm_quick_number(data, quick->value) :
				      quick->no_value;
	if (quick->is_wide) {
		memcpy(&wide, data + quick->value, sizeof(wide));
		event->value = (int64_t)wide;
	}
	event->more = quick->more ? (uint8_t)kvm_quick_number(data, quick->more) : quick->isa;
	if (quick->has_context)
		event->more = data[offsetof(struct kvm_common, flags)] & RECORD_IN_INTERRUPT ?
			      KVM_IN_INTERRUPT : KVM_IN_TASK;
}

/**
 * kvm_fields_quick - how to decode an event without kvm_fields_step()
 *
 * Return: NULL if kvm_quick_step() cannot: a field has an unusual size, or the event is a rare one.
 */
const struct kvm_quick *kvm_fields_quick(const struct kvm_fields *fields, int id);

#endif
