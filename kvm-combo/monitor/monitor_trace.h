/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	monitor_trace.h
 * @brief	A monitor's (QEMU's) trace of itself: a log, or a file of its simple backend.
 *
 * The log has a line for each event, if QEMU was started with -msg timestamp=on:
 *
 *	THREAD@SECONDS.MICROSECONDS:EVENT ARGUMENTS
 *
 * with seconds since 1970. Other lines may be among them. The file of the simple backend (QEMU's
 * docs/devel/tracing.rst and scripts/simpletrace.py; version 4) has words of 64 bits: a header, and
 * records: names of events, and events with the monotonic clock's ns, the process and arguments.
 *
 * A file is read as a whole and stays in memory; nothing changes once it is open.
 */
#ifndef KSHARK_VIRT_MONITOR_TRACE_H
#define KSHARK_VIRT_MONITOR_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Larger files are refused: they would be in memory. */
#define MONITOR_MAX_BYTES	(UINT64_C(1) << 30)

/** What its times are. */
enum monitor_clock {
	MONITOR_REALTIME = 0,	/* since 1970, with microseconds; of a log */
	MONITOR_MONOTONIC,	/* of the host's monotonic clock, ns; of the simple backend */
};

/** An event. Its text is that of monitor_trace_text(). */
struct monitor_record {
	int64_t		time_ns;
	uint32_t	begin, n;	/* bytes of its arguments, in the file */
	uint32_t	event;		/* monitor_trace_event() */
	int32_t		thread;		/* of a log; of the simple backend, its process */
};

/** What is read: all of it private. */
struct monitor_trace;

/**
 * monitor_trace_open - read a file
 * @error: on failure, receives a text that names the file and what to do
 *
 * Of a log, a line of more than 64 KiB counts as one that is no event, and its text is not kept.
 *
 * Return: 0, and @trace to be given to monitor_trace_free(); -ENOMEM, -EINVAL for what is neither
 * of these formats, -EOVERFLOW for a log of more than 192 MiB and 128 bytes for each line, or
 * another negative errno.
 */
int monitor_trace_open(const char *path, struct monitor_trace **trace, char *error, size_t size);

/** monitor_trace_take - the same of bytes that are in memory, which are its own from then on. */
int monitor_trace_take(const char *path, char *text, size_t n, struct monitor_trace **trace,
		       char *error, size_t size);
void monitor_trace_free(struct monitor_trace *trace);

/** monitor_trace_is - does a file begin as one of these does? */
bool monitor_trace_is(const char *path);

const char *monitor_trace_path(const struct monitor_trace *trace);
enum monitor_clock monitor_trace_clock(const struct monitor_trace *trace);

/** monitor_trace_records - all of them, in order of time; @n: receives how many */
const struct monitor_record *monitor_trace_records(const struct monitor_trace *trace, size_t *n);

/** monitor_trace_event, monitor_trace_n_events - names of events; or NULL. */
const char *monitor_trace_event(const struct monitor_trace *trace, uint32_t event);
uint32_t monitor_trace_n_events(const struct monitor_trace *trace);

/** monitor_trace_bytes - the arguments of a record as they stand in the file. @n: how many bytes */
const char *monitor_trace_bytes(const struct monitor_trace *trace,
				const struct monitor_record *record, size_t *n);

/** monitor_trace_text - the same as text, cut to @size; not escaped */
void monitor_trace_text(const struct monitor_trace *trace, const struct monitor_record *record,
			char *text, size_t size);

/**
 * monitor_trace_others - lines, or bytes, that are no event
 * @first: receives the first one's offset in the file
 */
uint64_t monitor_trace_others(const struct monitor_trace *trace, uint64_t *first);

/** monitor_trace_dropped - events that QEMU says it has dropped; of the simple backend. */
uint64_t monitor_trace_dropped(const struct monitor_trace *trace);

#ifdef __cplusplus
}
#endif
#endif
