// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_counters.c
 * @brief	Read the counters at the end of a trace.dat, which may be hostile.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "read_at.h"
#include "trace_counters.h"
#include "trace_counters_private.h"

/** Bytes that are read at once: more than a reading has. */
#define PIECE		((size_t)64 << 10)

/** A text without an end gets one. */
static void end_text(char text[TRACE_COUNTER_NAME])
{
	text[TRACE_COUNTER_NAME - 1] = '\0';
}

/** Return: as trace_counters_open(). */
static int read_heads(struct trace_counters *counters, uint64_t begin)
{
	struct trace_counters_head head;
	size_t bytes;

	if (counters->end - begin < sizeof(head) ||
	    read_at(counters->fd, &head, sizeof(head), begin) ||
	    head.magic != TRACE_COUNTERS_MAGIC || !head.n || head.n > TRACE_COUNTERS_MOST)
		return -EBADMSG;
	bytes = (size_t)head.n * sizeof(*counters->counters);
	counters->at = begin + sizeof(head);
	if (counters->end - counters->at < bytes)
		return -EBADMSG;
	counters->counters = malloc(bytes);
	counters->buffer = malloc(PIECE);
	if (!counters->counters || !counters->buffer)
		return -ENOMEM;
	if (read_at(counters->fd, counters->counters, bytes, counters->at))
		return -EBADMSG;
	counters->at += bytes;
	counters->n = (uint32_t)head.n;
	for (uint32_t i = 0; i < counters->n; i++) {
		end_text(counters->counters[i].name);
		end_text(counters->counters[i].read_at);
	}
	return 0;
}

int trace_counters_open(struct trace_counters *counters, int fd)
{
	struct trace_counters_foot foot;
	struct stat st;

	*counters = (struct trace_counters){ .fd = fd };
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(foot))
		return -ENOENT;
	counters->end = (uint64_t)st.st_size - sizeof(foot);
	if (read_at(fd, &foot, sizeof(foot), counters->end) || foot.magic != TRACE_COUNTERS_MAGIC)
		return -ENOENT;
	return foot.begin > counters->end ? -EBADMSG : read_heads(counters, foot.begin);
}

void trace_counters_close(struct trace_counters *counters)
{
	free(counters->counters);
	free(counters->buffer);
	*counters = (struct trace_counters){ .fd = -1 };
}

/** The next @n bytes. Return: false if they are not there. */
static bool take(struct trace_counters *counters, void *to, size_t n)
{
	size_t left = counters->filled - counters->used, more;

	if (n > left) {
		memmove(counters->buffer, counters->buffer + counters->used, left);
		more = PIECE - left;
		if (more > counters->end - counters->at)
			more = (size_t)(counters->end - counters->at);
		if (read_at(counters->fd, counters->buffer + left, more, counters->at))
			return false;
		counters->at += more;
		counters->used = 0;
		counters->filled = left + more;
		if (n > counters->filled)
			return false;
	}
	memcpy(to, counters->buffer + counters->used, n);
	counters->used += n;
	return true;
}

int trace_counters_next(struct trace_counters *counters, struct trace_reading *reading)
{
	if (counters->used == counters->filled && counters->at == counters->end)
		return 0;
	if (!take(counters, reading, sizeof(*reading)) ||
	    (counters->has_cpu && reading->cpu < counters->cpu))
		return -EBADMSG;
	counters->cpu = reading->cpu;
	counters->has_cpu = true;
	if (reading->n == TRACE_READING_LOST)
		return 1;
	if (reading->n > TRACE_COUNTERS_MOST ||
	    !take(counters, counters->values, reading->n * sizeof(*counters->values)))
		return -EBADMSG;
	for (uint32_t i = 0; i < reading->n; i++)
		if (counters->values[i].counter >= counters->n)
			return -EBADMSG;
	return 1;
}
