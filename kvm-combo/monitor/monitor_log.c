// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	monitor_log.c
 * @brief	Read lines of QEMU's log: THREAD@SECONDS.MICROSECONDS:EVENT ARGUMENTS
 */
#include <errno.h>
#include <string.h>

#include "monitor_events.h"
#include "monitor_private.h"

/** Seconds whose ns have 63 bits. */
#define MAX_SECONDS	(INT64_MAX / 1000000000 - 1)

/** A piece of text that is not read yet. */
struct cursor {
	const char	*at, *end;
};

/** Digits, at least one and at most @most. Return: false if there are none. */
static bool take_number(struct cursor *cursor, int most, int64_t *value)
{
	int n = 0;

	*value = 0;
	for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9' && n < most;
	     n++)
		*value = 10 * *value + (*cursor->at++ - '0');
	return n > 0;
}

static bool take_char(struct cursor *cursor, char c)
{
	if (cursor->at == cursor->end || *cursor->at != c)
		return false;
	cursor->at++;
	return true;
}

/** What stands before the event. */
static bool take_place(struct cursor *cursor, struct monitor_record *record)
{
	int64_t thread, seconds, micros;
	const char *point;

	if (!take_number(cursor, 10, &thread) || thread <= 0 || thread > INT32_MAX ||
	    !take_char(cursor, '@') || !take_number(cursor, 10, &seconds) ||
	    seconds > MAX_SECONDS || !take_char(cursor, '.'))
		return false;
	point = cursor->at;
	if (!take_number(cursor, 6, &micros) || cursor->at - point != 6 || !take_char(cursor, ':'))
		return false;
	record->thread = (int32_t)thread;
	record->time_ns = seconds * 1000000000 + micros * 1000;
	return true;
}

static size_t name_length(const struct cursor *cursor)
{
	const char *blank = memchr(cursor->at, ' ', (size_t)(cursor->end - cursor->at));
	const char *end = blank ? blank : cursor->end;

	/* as editors and terminals leave it */
	if (!blank && end > cursor->at && end[-1] == '\r')
		end--;
	return (size_t)(end - cursor->at);
}

/** Return: 1 for an event, 0 for another line, or -ENOMEM. */
static int take_line(struct monitor_trace *trace, const char *line, const char *end)
{
	struct cursor cursor = { line, end };
	struct monitor_record record;
	int64_t event;
	size_t n;

	if (!take_place(&cursor, &record))
		return 0;
	n = name_length(&cursor);
	if (!monitor_is_name(cursor.at, n))
		return 0;
	event = monitor_add_event(trace, cursor.at, n);
	if (event < 0)
		return -ENOMEM;
	cursor.at += n;
	if (cursor.at < cursor.end)
		cursor.at++;
	record.event = (uint32_t)event;
	record.begin = (uint32_t)(cursor.at - trace->bytes);
	record.n = (uint32_t)(cursor.end - cursor.at);
	if (record.n && cursor.at[record.n - 1] == '\r')
		record.n--;
	return monitor_add_record(trace, &record) ? -ENOMEM : 1;
}

static const char *line_end(const char *line, const char *end)
{
	const char *newline = memchr(line, '\n', (size_t)(end - line));

	return newline ? newline : end;
}

int monitor_read_log(struct monitor_trace *trace)
{
	const char *end = trace->bytes + trace->n_bytes, *stop;

	trace->clock = MONITOR_REALTIME;
	for (const char *line = trace->bytes; line < end; line = stop + 1) {
		int ret;

		stop = line_end(line, end);
		ret = take_line(trace, line, stop);
		if (ret < 0)
			return ret;
		if (!ret && stop > line)
			monitor_add_other(trace, (size_t)(line - trace->bytes), 1);
	}
	return 0;
}

bool monitor_is_log(const char *bytes, size_t n)
{
	const char *end = bytes + n;
	struct monitor_record unused;

	for (const char *line = bytes; line < end; line = line_end(line, end) + 1) {
		struct cursor cursor = { line, line_end(line, end) };

		if (take_place(&cursor, &unused) &&
		    monitor_is_name(cursor.at, name_length(&cursor)))
			return true;
	}
	return false;
}

bool monitor_log_lacks_times(const char *bytes, size_t n)
{
	const char *end = bytes + n;
	char name[MONITOR_MAX_NAME + 1];

	for (const char *line = bytes; line < end; line = line_end(line, end) + 1) {
		struct cursor cursor = { line, line_end(line, end) };
		size_t length = name_length(&cursor);

		if (!monitor_is_name(line, length))
			continue;
		memcpy(name, line, length);
		name[length] = '\0';
		if (monitor_event_is_known(name))
			return true;
	}
	return false;
}
