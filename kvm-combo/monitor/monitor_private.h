/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	monitor_private.h
 * @brief	Shared by the readers of both formats.
 */
#ifndef KSHARK_VIRT_MONITOR_PRIVATE_H
#define KSHARK_VIRT_MONITOR_PRIVATE_H

#include "key_map.h"
#include "monitor_trace.h"

/** Of names of events. QEMU's own have up to 60. */
#define MONITOR_MAX_NAME	128

/** A name, in the text. */
struct monitor_name {
	char		*text;
};

struct monitor_trace {
	char		*path;
	char		*bytes;
	size_t		n_bytes;
	enum monitor_clock clock;
	struct monitor_record *records;
	size_t		n_records, room_records;
	struct key_map	map;		/* of names, by what monitor_name_key() makes of them */
	struct monitor_name *names;	/* by number in it */
	uint32_t	room_names;
	uint64_t	others, first_other, dropped;
};

/**
 * monitor_add_event - the number of the event of a name
 *
 * Return: it, or -ENOMEM.
 */
int64_t monitor_add_event(struct monitor_trace *trace, const char *name, size_t n);

/** monitor_add_record - one more. Return: 0 or -ENOMEM. */
int monitor_add_record(struct monitor_trace *trace, const struct monitor_record *record);

/** monitor_add_other - something that is no event, @n of it. */
void monitor_add_other(struct monitor_trace *trace, size_t at, size_t n);

/** monitor_is_name - can an event be called so? */
bool monitor_is_name(const char *name, size_t n);

/** monitor_read_log, monitor_read_simple - all of the bytes. Return: 0, -ENOMEM, -EINVAL. */
int monitor_read_log(struct monitor_trace *trace);
int monitor_read_simple(struct monitor_trace *trace, char *error, size_t size);

/** monitor_is_simple, monitor_is_log - do bytes begin so? */
bool monitor_is_simple(const char *bytes, size_t n);
bool monitor_is_log(const char *bytes, size_t n);

/** monitor_log_lacks_times - is the first line an event, but without a time? */
bool monitor_log_lacks_times(const char *bytes, size_t n);

#endif
