// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	monitor_simple.c
 * @brief	Read a file of QEMU's simple backend, version 4. monitor_trace.h has the format.
 */
#include <errno.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "monitor_private.h"

#define HEADER_EVENT	UINT64_C(0xffffffffffffffff)
#define HEADER_MAGIC	UINT64_C(0xf2b177cb0aa429b4)
#define VERSION		4
#define DROPPED_EVENT	UINT64_C(0xfffffffffffffffe)

/** Kinds of records. */
#define RECORD_NAME	0
#define RECORD_EVENT	1

/** Bytes of an event's record before its arguments: event, time, length, process. */
#define EVENT_HEAD	24

/** What has been read of the names. */
struct reading {
	struct monitor_trace *trace;
	struct key_map	ids;		/* as the file numbers them */
	uint32_t	*events;	/* by number in it */
	uint32_t	room;
};

static uint64_t word(const char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint32_t half(const char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

bool monitor_is_simple(const char *bytes, size_t n)
{
	return n >= 16 && word(bytes) == HEADER_EVENT && word(bytes + 8) == HEADER_MAGIC;
}

/** @at: behind the kind. Return: bytes that were read, 0: it cannot be, -ENOMEM. */
static int64_t take_name(struct reading *reading, size_t at)
{
	struct monitor_trace *trace = reading->trace;
	size_t left = trace->n_bytes - at;
	int64_t number, event;
	uint32_t n;

	if (left < 12)
		return 0;
	n = half(trace->bytes + at + 8);
	if (n > left - 12 || !monitor_is_name(trace->bytes + at + 12, n))
		return 0;
	event = monitor_add_event(trace, trace->bytes + at + 12, n);
	number = KEY_MAP_ELEMENT(&reading->ids, word(trace->bytes + at), reading->events,
				 reading->room);
	if (event < 0 || number < 0)
		return -ENOMEM;
	reading->events[number] = (uint32_t)event;
	return 12 + (int64_t)n;
}

/** The same of an event. */
static int64_t take_event(struct reading *reading, size_t at)
{
	struct monitor_trace *trace = reading->trace;
	const char *bytes = trace->bytes + at;
	size_t left = trace->n_bytes - at;
	struct monitor_record record = { 0 };
	uint32_t length, process;
	int64_t number;

	if (left < EVENT_HEAD)
		return 0;
	length = half(bytes + 16);
	process = half(bytes + 20);
	if (length < EVENT_HEAD || length > left || word(bytes + 8) > INT64_MAX ||
	    process > INT32_MAX)
		return 0;
	if (word(bytes) == DROPPED_EVENT) {
		if (length >= EVENT_HEAD + 8)
			trace->dropped += word(bytes + EVENT_HEAD);
		return length;
	}
	number = key_map_find(&reading->ids, word(bytes));
	if (number < 0)
		return 0;
	record.time_ns = (int64_t)word(bytes + 8);
	record.thread = (int32_t)process;
	record.event = reading->events[number];
	record.begin = (uint32_t)(at + EVENT_HEAD);
	record.n = length - EVENT_HEAD;
	return monitor_add_record(trace, &record) ? -ENOMEM : (int64_t)length;
}

static int64_t take_record(struct reading *reading, size_t at)
{
	uint64_t kind = word(reading->trace->bytes + at);
	int64_t n = kind == RECORD_NAME ? take_name(reading, at + 8) :
		    kind == RECORD_EVENT ? take_event(reading, at + 8) : 0;

	return n > 0 ? n + 8 : n;
}

int monitor_read_simple(struct monitor_trace *trace, char *error, size_t size)
{
	struct reading reading = { .trace = trace };
	size_t at = 24;
	int64_t n = 1;

	trace->clock = MONITOR_MONOTONIC;
	if (trace->n_bytes < at || word(trace->bytes + 16) != VERSION) {
		text_format(error, size, "%s: a file of QEMU's simple backend of another version "
			    "than 4: record it with QEMU 2.9 or later", trace->path);
		return -EINVAL;
	}
	while (n > 0 && at + 8 <= trace->n_bytes) {
		n = take_record(&reading, at);
		if (n > 0)
			at += (size_t)n;
	}
	/* after an impossible record, the beginning of the next one is unknown */
	if (n >= 0 && at < trace->n_bytes)
		monitor_add_other(trace, at, trace->n_bytes - at);
	key_map_destroy(&reading.ids);
	free(reading.events);
	return n < 0 ? (int)n : 0;
}
