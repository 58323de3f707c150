/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	text_patterns.h
 * @brief	The fields of an event, from the text that the kernel or trace-cmd prints of it.
 */
#ifndef KSHARK_VIRT_TEXT_PATTERNS_H
#define KSHARK_VIRT_TEXT_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event_format.h"
#include "key_map.h"

/** No event of the table has more fields. */
#define TEXT_MOST_FIELDS	12

/** A value of a field. */
struct text_value {
	bool		is_set;
	int64_t		number;
	const char	*text;		/* in the line; of a text: @n bytes */
	size_t		n;
};

/** Codes of exit reasons by their names. All zero is empty. */
struct text_reasons {
	struct key_map	names;		/* hashes of name and kind of processor */
	uint64_t	*codes;
	size_t		room;
};

/** text_reasons_init - learn all names. Return: 0 or -ENOMEM. */
int text_reasons_init(struct text_reasons *reasons);
void text_reasons_destroy(struct text_reasons *reasons);

/** An event that the tracker needs. */
struct text_event;

/** text_event_find - the event of a name, of @n bytes; NULL: it is not in the table */
const struct text_event *text_event_find(const char *name, size_t n);

/** text_event_number - its number, below TEXT_MOST_EVENTS */
size_t text_event_number(const struct text_event *event);
#define TEXT_MOST_EVENTS	64

/** text_event_format - its format, with all fields that a text of it may have. 0 or -ENOMEM. */
int text_event_format(const struct text_event *event, struct event_format *format);

/**
 * text_event_read - the values in a text of an event
 * @line: ends with a zero byte
 * @values: receives one per field of the format; a number that the text lacks is not set
 *
 * Return: false if the text has no field that the event has.
 */
bool text_event_read(const struct text_event *event, const struct text_reasons *reasons,
		     const char *line, struct text_value values[TEXT_MOST_FIELDS]);

#endif
