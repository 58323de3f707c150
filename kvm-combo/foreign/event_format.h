/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	event_format.h
 * @brief	Formats and records of ftrace, for the events of another tracer.
 *
 * A record is what the kernel writes into its ring buffer, in the byte order of this machine: 8
 * bytes that all events have (type, flags, preemption count, pid), then the fields of the event.
 * A format is the text that tracefs has of an event in its file "format". Sources: the files
 * events/SYSTEM/EVENT/format of tracefs, Linux's kernel/trace/trace_events.c (f_show()) and
 * include/trace/stages/ (__data_loc: the place of the data in the lower half, its size above).
 */
#ifndef KSHARK_VIRT_EVENT_FORMAT_H
#define KSHARK_VIRT_EVENT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_dat_writer;

/** TASK_COMM_LEN of Linux: the bytes of a field with the name of a thread. */
#define EVENT_COMM_SIZE		16

/** No record is longer, as one has to fit into a page of the ring buffer. */
#define EVENT_MOST_BYTES	3072

/** No event has more fields, no name is longer; what is beyond is an error, or cut. */
#define EVENT_MOST_FIELDS	128
#define EVENT_NAME_SIZE		96

enum event_field_kind {
	EVENT_NUMBER,		/* of 1, 2, 4 or 8 bytes */
	EVENT_COMM,		/* EVENT_COMM_SIZE bytes, padded with zeros */
	EVENT_TEXT,		/* __data_loc char[] */
	EVENT_NUMBERS,		/* __data_loc, elements of 1, 2, 4 or 8 bytes */
};

struct event_field {
	char		name[EVENT_NAME_SIZE];
	uint16_t	offset;		/* in the record, in bytes */
	uint8_t		kind;		/* enum event_field_kind */
	uint8_t		size;		/* of a number, or of an element */
	bool		is_signed;
};

struct event_format {
	char		system[EVENT_NAME_SIZE], name[EVENT_NAME_SIZE];
	struct event_field *fields;
	size_t		n, room;
	size_t		size;		/* of the part of a record that has a fixed size */
	const char	*print;		/* the text after "print fmt: "; NULL: all fields */
};

/** event_format_init - begin a format without fields; names are made identifiers of C. */
void event_format_init(struct event_format *format, const char *system, const char *name);

/** event_format_destroy - free the fields */
void event_format_destroy(struct event_format *format);

/**
 * event_format_add - append a field
 * @name: is made an identifier of C; a name that the event has gets a number
 * @size: of a number or of an element: 1, 2, 4 or 8
 *
 * Return: its index; -E2BIG if the event has no room for it, -ENOMEM, or -EINVAL for a size.
 */
int event_format_add(struct event_format *format, const char *name, enum event_field_kind kind,
		     size_t size, bool is_signed);

/** event_format_find - the index of a field by its name, or -1 */
int event_format_find(const struct event_format *format, const char *name);

/** event_format_text - the text of a format. Return: to be freed; NULL without memory. */
char *event_format_text(const struct event_format *format, unsigned int id);

/** event_format_declare - declare the event in a trace.dat. Return: 0 or a negative errno. */
int event_format_declare(struct trace_dat_writer *writer, const struct event_format *format,
			 unsigned int id);

/** event_format_no_context - the same of KVM_NO_CONTEXT */
int event_format_no_context(struct trace_dat_writer *writer, unsigned int id);

/** A record in the making. */
struct event_record {
	_Alignas(8) uint8_t data[EVENT_MOST_BYTES];
	size_t		size;
};

/** event_record_begin - a record of an event, all of whose fields are zero */
void event_record_begin(struct event_record *record, const struct event_format *format,
			unsigned int id, unsigned int flags, int32_t pid);

/** event_record_pid - change the thread that has the CPU */
void event_record_pid(struct event_record *record, int32_t pid);

/** event_record_number - set an EVENT_NUMBER; what does not fit into its bytes is cut off */
void event_record_number(struct event_record *record, const struct event_field *field,
			 uint64_t value);

/** event_record_text - set an EVENT_COMM or EVENT_TEXT, whose text is cut where its room ends */
void event_record_text(struct event_record *record, const struct event_field *field,
		       const char *text, size_t n);

/**
 * event_record_numbers - append room for the elements of EVENT_NUMBERS
 *
 * Return: how many of the @n elements have room; each is set by event_record_element().
 */
size_t event_record_numbers(struct event_record *record, const struct event_field *field,
			    size_t n);
void event_record_element(struct event_record *record, const struct event_field *field, size_t i,
			  uint64_t value);

#endif
