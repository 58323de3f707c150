/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	monitor_events.h
 * @brief	The meaning of a monitor's events: a table, by their names and arguments in QEMU.
 */
#ifndef KSHARK_VIRT_MONITOR_EVENTS_H
#define KSHARK_VIRT_MONITOR_EVENTS_H

#include "monitor_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Arguments of an event, at most. */
#define MONITOR_MAX_ARGS	6

/** What an event says. */
enum monitor_kind {
	MONITOR_NOTHING = 0,	/* that is known here */
	MONITOR_POP,		/* a request comes out of a queue: queue, request */
	MONITOR_FILL,		/* it goes back, done: queue, request, bytes for the guest */
	MONITOR_QUEUE,		/* whose queue it is, by number: device, number, queue */
	MONITOR_OWNER,		/* the same without the number: device, queue */
	MONITOR_BLOCK_READ,	/* a request is for a disk: device, request, sector, sectors */
	MONITOR_BLOCK_WRITE,
	MONITOR_BLOCK_DONE,	/* device, request */
	MONITOR_WORK,		/* work is given to threads: pool, request */
	MONITOR_WORK_DONE,	/* pool, request */
	MONITOR_READ,		/* by a vCPU, of a device: cpu, region, address, value, bytes,
				 * name */
	MONITOR_WRITE,
	MONITOR_RUN_EXIT,	/* KVM has come back to the monitor: cpu, reason */
	MONITOR_NAME,		/* what a device is: device, name */
	MONITOR_N_KINDS
};

/** What one event said. */
struct monitor_args {
	enum monitor_kind kind;
	int		n;
	uint64_t	value[MONITOR_MAX_ARGS];	/* of a text: 0 */
	const char	*text;		/* the one that there may be, in the file; or NULL */
	size_t		n_text;
};

/** monitor_event_is_known - does the table have an event of that name? */
bool monitor_event_is_known(const char *name);

/** monitor_event_kind - what events of a name say, if their arguments are as expected. */
enum monitor_kind monitor_event_kind(const char *name);

/**
 * monitor_args_of - the arguments of a record, in the order in which QEMU has them
 *
 * Return: false if the table does not have the event, or its arguments are others.
 */
bool monitor_args_of(const struct monitor_trace *trace, const struct monitor_record *record,
		     struct monitor_args *args);

/** monitor_event_text - arguments of the simple backend, as the log has them, or as words. */
void monitor_event_text(const char *name, const char *bytes, size_t n, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
