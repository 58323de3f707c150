/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_memory_fields.h
 * @brief	Events that show what a host does for a guest's memory, and their fields.
 */
#ifndef KSHARK_VIRT_KVM_MEMORY_FIELDS_H
#define KSHARK_VIRT_KVM_MEMORY_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tep_format_field;
struct tep_handle;

/** There are not more. */
#define KVM_MAX_MEMORY_EVENTS	8

/** Fields that an event shows something by, at most. */
#define KVM_MEMORY_PARTS	3

/** An event of a trace. */
struct kvm_memory_field {
	int		id;		/* of the event */
	uint8_t		event;		/* which one: a number of kvm_memory_fields.c */
	uint8_t		record;		/* enum virt_record_kind */
	struct tep_format_field *part[KVM_MEMORY_PARTS];	/* NULL: no more */
	uint64_t	zero;		/* mm_page_alloc: the flag of cleared pages */
};

/**
 * kvm_memory_fields_find - find those of a trace
 * @max_id: events with higher numbers are left out
 * @found: receives them; room for KVM_MAX_MEMORY_EVENTS
 *
 * Return: how many.
 */
size_t kvm_memory_fields_find(struct tep_handle *tep, int max_id, struct kvm_memory_field *found);

struct kvm_event;

/**
 * kvm_memory_event - what a record shows
 * @parts: the values of @part
 * @event: receives kind, arg and value; all else stays
 *
 * Return: it shows something.
 */
bool kvm_memory_event(const struct kvm_memory_field *field,
		      const uint64_t parts[KVM_MEMORY_PARTS], struct kvm_event *event);

#ifdef __cplusplus
}
#endif
#endif
