// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	monitor_trace.c
 * @brief	Read a monitor's trace of itself, in either format.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "escape.h"
#include "hash_bytes.h"
#include "monitor_events.h"
#include "monitor_private.h"
#include "regular_file.h"
#include "whole_file.h"

/** Bytes of a file that are looked at for what it is. */
#define LOOK_BYTES	65536

/** A longer line of a log is none of QEMU's, and is not kept. */
#define MAX_LINE	65536

/** Bytes that all lines of a log may have, and as many more for each of them. */
#define TEXT_BYTES	((size_t)192 << 20)
#define LINE_BYTES	128

/* --- what readers add ------------------------------------------------------------------------ */

bool monitor_is_name(const char *name, size_t n)
{
	if (!n || n > MONITOR_MAX_NAME || (*name >= '0' && *name <= '9'))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
		      (name[i] >= '0' && name[i] <= '9') || name[i] == '_'))
			return false;
	return true;
}

static bool is_called(const struct monitor_trace *trace, int64_t event, const char *name, size_t n)
{
	const char *text = trace->names[event].text;

	return strlen(text) == n && !memcmp(text, name, n);
}

int64_t monitor_add_event(struct monitor_trace *trace, const char *name, size_t n)
{
	uint64_t key = hash_bytes(HASH_BYTES_NONE, name, n);
	int64_t event = key_map_find(&trace->map, key);
	char *copy;

	/* another one may have that key */
	while (event >= 0 && !is_called(trace, event, name, n))
		event = key_map_find(&trace->map, ++key);
	if (event >= 0)
		return event;
	copy = strndup(name, n);
	event = copy ? KEY_MAP_ELEMENT(&trace->map, key, trace->names, trace->room_names) : -ENOMEM;
	if (event < 0) {
		free(copy);
		return -ENOMEM;
	}
	trace->names[event].text = copy;
	return event;
}

int monitor_add_record(struct monitor_trace *trace, const struct monitor_record *record)
{
	if (ARRAY_GROW(trace->records, trace->n_records, trace->room_records))
		return -ENOMEM;
	trace->records[trace->n_records++] = *record;
	return 0;
}

void monitor_add_other(struct monitor_trace *trace, size_t at, size_t n)
{
	if (!trace->others)
		trace->first_other = at;
	trace->others += n;
}

/* --- opening --------------------------------------------------------------------------------- */

/** Threads write one after the other, but look at the clock before. */
static int compare_records(const void *a, const void *b)
{
	const struct monitor_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

static int read_bytes(struct monitor_trace *trace, char *error, size_t size)
{
	int ret;

	if (monitor_is_simple(trace->bytes, trace->n_bytes)) {
		ret = monitor_read_simple(trace, error, size);
	} else if (monitor_is_log(trace->bytes, trace->n_bytes)) {
		ret = monitor_read_log(trace);
	} else {
		text_format(error, size, monitor_log_lacks_times(trace->bytes, trace->n_bytes) ?
			    "%s: its events have no times: start QEMU with -msg timestamp=on" :
			    "%s: not a trace of QEMU: neither a log (-trace EVENT -D FILE -msg "
			    "timestamp=on) nor a file of its simple backend", trace->path);
		ret = -EINVAL;
	}
	if (ret == -ENOMEM)
		text_format(error, size, "%s: not enough memory", trace->path);
	if (!ret && trace->n_records)
		qsort(trace->records, trace->n_records, sizeof(*trace->records), compare_records);
	return ret;
}

int monitor_trace_take(const char *path, char *text, size_t n, struct monitor_trace **trace,
		       char *error, size_t size)
{
	int ret;

	*trace = calloc(1, sizeof(**trace));
	if (!*trace || n > MONITOR_MAX_BYTES) {
		text_format(error, size, "%s: not enough memory", path);
		free(*trace);
		*trace = NULL;
		free(text);
		return -ENOMEM;
	}
	(*trace)->bytes = text;
	(*trace)->n_bytes = n;
	(*trace)->path = strdup(path);
	if ((*trace)->path) {
		ret = read_bytes(*trace, error, size);
	} else {
		text_format(error, size, "%s: not enough memory", path);
		ret = -ENOMEM;
	}
	if (ret) {
		monitor_trace_free(*trace);
		*trace = NULL;
	}
	return ret;
}

/** The lines of a log, as they are kept. */
struct lines {
	char	*text;
	size_t	n, room;
	size_t	line;		/* where the last one begins */
	size_t	n_lines;
	bool	skips;		/* the last one is too long */
};

/** A part of a line, with its end if there is one. Return: 0 or -ENOMEM. */
static int add_part(struct lines *lines, const char *part, size_t n, bool ends)
{
	char *text = array_room(lines->text, 1, lines->n + n + 2, &lines->room, SIZE_MAX / 2);

	if (!text)
		return -ENOMEM;
	lines->text = text;
	if (!lines->skips) {
		memcpy(text + lines->n, part, n);
		lines->n += n;
	}
	if (!lines->skips && lines->n - lines->line > MAX_LINE) {
		/* no event begins so */
		text[lines->line] = '?';
		lines->n = lines->line + 1;
		lines->skips = true;
	}
	if (!ends)
		return 0;
	text[lines->n++] = '\n';
	lines->line = lines->n;
	lines->n_lines++;
	lines->skips = false;
	return 0;
}

static int add_block(struct lines *lines, const char *block, size_t n)
{
	int ret = 0;

	while (n && !ret) {
		const char *end = memchr(block, '\n', n);
		size_t part = end ? (size_t)(end - block) : n;

		ret = add_part(lines, block, part, end);
		block += part + !!end;
		n -= part + !!end;
	}
	if (!ret && lines->n > TEXT_BYTES + LINE_BYTES * lines->n_lines)
		ret = -EOVERFLOW;
	return ret;
}

/** @block: of LOOK_BYTES, and @n of them are in it. Return: 0 or a negative errno. */
static int read_lines(int fd, struct lines *lines, char *block, ssize_t n)
{
	size_t all = 0;
	int ret = 0;

	for (; n > 0 && !ret; n = read(fd, block, LOOK_BYTES)) {
		all += (size_t)n;
		ret = all > MONITOR_MAX_BYTES ? -EFBIG : add_block(lines, block, (size_t)n);
		if (ret)
			return ret;
	}
	if (n < 0)
		return -errno;
	/* the last line need not end, and there is a NUL behind it */
	ret = add_part(lines, "", 0, false);
	if (!ret)
		lines->text[lines->n] = '\0';
	return ret;
}

/** All of a file; of a log, without what can be no event of QEMU's. */
static int read_all(const char *path, char **text, size_t *n)
{
	int fd = regular_file_open(path), ret = fd < 0 ? fd : 0;
	char *block = malloc(LOOK_BYTES);
	struct lines lines = { 0 };
	struct stat st = { 0 };
	ssize_t got = 0;

	if (!ret && !block)
		ret = -ENOMEM;
	if (!ret && (fstat(fd, &st) || (got = read(fd, block, LOOK_BYTES)) < 0))
		ret = -errno;
	if (!ret && (uint64_t)st.st_size > MONITOR_MAX_BYTES)
		ret = -EFBIG;
	if (!ret && monitor_is_simple(block, (size_t)got)) {
		ret = whole_file_read(path, MONITOR_MAX_BYTES, text, n);
	} else if (!ret) {
		ret = read_lines(fd, &lines, block, got);
		*text = lines.text;
		*n = lines.n;
	}
	if (fd >= 0)
		close(fd);
	free(block);
	if (ret) {
		free(lines.text);
		*text = NULL;
	}
	return ret;
}

int monitor_trace_open(const char *path, struct monitor_trace **trace, char *error, size_t size)
{
	char *text = NULL;
	size_t n = 0;
	int ret = read_all(path, &text, &n);

	*trace = NULL;
	if (ret == -EFBIG)
		text_format(error, size, "%s: is larger than 1 GiB; remove the part outside the "
			    "host's trace, or trace fewer events", path);
	else if (ret == -EOVERFLOW)
		text_format(error, size, "%s: its lines have more than %d bytes on average; remove "
			    "lines that are no events of QEMU", path, LINE_BYTES);
	else if (ret)
		text_format(error, size, "%s: cannot read: %s", path, regular_file_error(ret));
	return ret ? ret : monitor_trace_take(path, text, n, trace, error, size);
}

void monitor_trace_free(struct monitor_trace *trace)
{
	if (!trace)
		return;
	for (uint32_t i = 0; i < trace->map.n_keys; i++)
		free(trace->names[i].text);
	key_map_destroy(&trace->map);
	free(trace->names);
	free(trace->records);
	free(trace->bytes);
	free(trace->path);
	free(trace);
}

bool monitor_trace_is(const char *path)
{
	char *bytes = malloc(LOOK_BYTES);
	ssize_t n = bytes ? regular_file_start(path, bytes, LOOK_BYTES) : -1;
	bool is = n > 0 && (monitor_is_simple(bytes, (size_t)n) ||
			    monitor_is_log(bytes, (size_t)n));

	free(bytes);
	return is;
}

/* --- asking ---------------------------------------------------------------------------------- */

const char *monitor_trace_path(const struct monitor_trace *trace)
{
	return trace->path;
}

enum monitor_clock monitor_trace_clock(const struct monitor_trace *trace)
{
	return trace->clock;
}

const struct monitor_record *monitor_trace_records(const struct monitor_trace *trace, size_t *n)
{
	*n = trace->n_records;
	return trace->records;
}

const char *monitor_trace_event(const struct monitor_trace *trace, uint32_t event)
{
	return event < trace->map.n_keys ? trace->names[event].text : NULL;
}

uint32_t monitor_trace_n_events(const struct monitor_trace *trace)
{
	return trace->map.n_keys;
}

const char *monitor_trace_bytes(const struct monitor_trace *trace,
				const struct monitor_record *record, size_t *n)
{
	*n = record->n;
	return trace->bytes + record->begin;
}

void monitor_trace_text(const struct monitor_trace *trace, const struct monitor_record *record,
			char *text, size_t size)
{
	const char *bytes = trace->bytes + record->begin;

	if (trace->clock == MONITOR_REALTIME)
		snprintf(text, size, "%.*s", (int)text_cut(bytes, record->n), bytes);
	else
		monitor_event_text(monitor_trace_event(trace, record->event), bytes, record->n,
				   text, size);
}

uint64_t monitor_trace_others(const struct monitor_trace *trace, uint64_t *first)
{
	*first = trace->first_other;
	return trace->others;
}

uint64_t monitor_trace_dropped(const struct monitor_trace *trace)
{
	return trace->dropped;
}
