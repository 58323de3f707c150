/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_handler_fields.h
 * @brief	Events of handlers that interrupt whatever has the CPU, and their fields.
 */
#ifndef KSHARK_VIRT_KVM_HANDLER_FIELDS_H
#define KSHARK_VIRT_KVM_HANDLER_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tep_event;
struct tep_format_field;
struct tep_handle;

enum kvm_handler_edge { KVM_HANDLER_ENTRY, KVM_HANDLER_EXIT, KVM_HANDLER_WHOLE };

/** Events of handlers; Linux has less than 40 in irq_vectors. */
#define KVM_MAX_HANDLER_EVENTS	96

/** An event of a trace. */
struct kvm_handler_field {
	int		id;		/* of the event */
	uint8_t		kind;		/* enum virt_handler_kind */
	uint8_t		edge;		/* enum kvm_handler_edge */
	bool		is_timer;	/* a timer's function, which runs within another handler */
	struct tep_format_field *number, *text;	/* that name it, or NULL; NMI: how long it took */
	char		name[40];	/* of one that is always called the same; or "" */
};

/**
 * kvm_vector_edge - does an event of irq_vectors with this name begin or end a handler?
 * @edge: receives which of the two, if it is
 *
 * Return: the length of the handler's own name, at the beginning of @name; 0: it is another event.
 */
size_t kvm_vector_edge(const char *name, enum kvm_handler_edge *edge);

/**
 * kvm_handler_fields_find - find those of a trace
 * @max_id: events with higher numbers are left out
 * @found: receives them; room for KVM_MAX_HANDLER_EVENTS
 *
 * Return: how many.
 */
size_t kvm_handler_fields_find(struct tep_handle *tep, int max_id,
			       struct kvm_handler_field *found);

/**
 * kvm_handler_field_name - what a handler is called that is entered
 * @number: of the record
 * @text: of the record, or ""
 */
void kvm_handler_field_name(const struct kvm_handler_field *field, int64_t number,
			    const char *text, char *name, size_t size);

#ifdef __cplusplus
}
#endif
#endif
