/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_argument_fields.h
 * @brief	Events that show what a VM exit was for, and their fields.
 */
#ifndef KSHARK_VIRT_KVM_ARGUMENT_FIELDS_H
#define KSHARK_VIRT_KVM_ARGUMENT_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tep_format_field;
struct tep_handle;

/** There are not more. */
#define KVM_MAX_ARGUMENT_EVENTS	16

/** Fields that a value is made of, at most: a system register of arm64 has five operands. */
#define KVM_ARGUMENT_PARTS	5

/** An event of a trace. */
struct kvm_argument_field {
	int		id;		/* of the event */
	uint8_t		kind;		/* enum exit_argument_kind */
	uint8_t		kind_of_write;	/* the same, if @is_write is @write_is or more */
	uint8_t		write_is;
	struct tep_format_field *value[KVM_ARGUMENT_PARTS];	/* NULL: no more parts */
	struct tep_format_field *is_write;	/* or NULL */
	struct tep_format_field *data;	/* what is written, or a fault's code; or NULL */
};

/**
 * kvm_argument_fields_find - find those of a trace
 * @max_id: events with higher numbers are left out
 * @found: receives them; room for KVM_MAX_ARGUMENT_EVENTS
 *
 * Return: how many.
 */
size_t kvm_argument_fields_find(struct tep_handle *tep, int max_id,
				struct kvm_argument_field *found);

/**
 * kvm_argument_of - the argument that a record shows
 * @parts: values of @value
 * @is_write: value of this; 0 without such a field
 * @data: the same; NULL: not known
 * @value: receives the value
 *
 * Return: its enum exit_argument_kind.
 */
uint8_t kvm_argument_of(const struct kvm_argument_field *field,
			const uint64_t parts[KVM_ARGUMENT_PARTS], uint64_t is_write,
			const uint64_t *data, uint64_t *value);

#ifdef __cplusplus
}
#endif
#endif
