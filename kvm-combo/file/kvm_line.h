/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	kvm_line.h
 * @brief	A record of a trace.dat as text, and its packed form for another process.
 */
#ifndef KSHARK_VIRT_KVM_LINE_H
#define KSHARK_VIRT_KVM_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock_steps.h"
#include "kvm_item.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a line's texts, with their ends, at most; the rest is cut. */
#define KVM_LINE_INFO	((size_t)64 << 10)
#define KVM_LINE_FIELDS	((size_t)64 << 10)

/** Which records are wanted as text. */
struct kvm_lines_wanted {
	bool		fields;		/* also each field by itself */
	bool		no_info;	/* only that, which is several times faster */
	int64_t		from_key;	/* earlier records have no texts */
	const int32_t	*without;	/* events that have no texts, in ascending order; or NULL */
	size_t		n_without;
	const struct virt_clock_step *steps;	/* of the clock: kvm_trace_set_steps() */
	size_t		n_steps;
};

/** A record. */
struct kvm_line {
	int64_t		key;		/* time as the file has it, after the steps of the clock */
	uint64_t	missing;	/* as in struct kvm_item */
	int32_t		pid, next_pid, event;
	int16_t		cpu;
	uint8_t		has_lost;
	uint8_t		has_name;	/* 1: @name is that of the record's thread, once */
	uint32_t	info_size;	/* of the texts, with their ends; 0: none */
	uint32_t	fields_size;	/* multiple of 8 */
	struct kvm_item_name name;
	const char	*info;		/* the fields, as the event's format prints them */
	const void	*fields;	/* kvm_line_field() */
};

/** A field of a line. */
struct kvm_line_field {
	const char	*name;
	const char	*text;		/* NULL: a number */
	uint64_t	value;
	bool		is_signed;
};

/**
 * kvm_line_field - the next field of a line
 * @at: of the last one; 0 at first
 *
 * Return: false if there are no more.
 */
bool kvm_line_field(const struct kvm_line *line, size_t *at, struct kvm_line_field *field);

/** The fields of a line, while they are put together. */
struct kvm_line_fields {
	size_t		n;
	_Alignas(8) uint8_t bytes[KVM_LINE_FIELDS];
};

/** kvm_line_add_field - add a field; one that has no room is left out. */
void kvm_line_add_field(struct kvm_line_fields *fields, const struct kvm_line_field *field);

/** Packed lines are multiples of 8 bytes, and never larger than this. */
#define KVM_LINE_MOST	(sizeof(struct kvm_line) + KVM_LINE_INFO + KVM_LINE_FIELDS + 16)

/** kvm_line_size - bytes of a packed line */
size_t kvm_line_size(const struct kvm_line *line);

/** kvm_line_pack - write a line; @to has room for kvm_line_size() */
void kvm_line_pack(const struct kvm_line *line, void *to);

/**
 * kvm_line_unpack - read a packed line that may be hostile
 * @from, @size: bytes that another process may change at any time; each is read once
 * @room: of KVM_LINE_MOST bytes; receives the texts, @line points to them
 *
 * Return: the line's size; 0 if it is cut or has impossible values.
 */
size_t kvm_line_unpack(const void *from, size_t size, struct kvm_line *line, void *room);

#ifdef __cplusplus
}
#endif
#endif
