// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_counters_append.c
 * @brief	Write counters at the end of a trace.dat.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace_counters.h"
#include "trace_counters_private.h"
#include "trace_dat_spool.h"
#include "write_at.h"

/** Bytes that are written at once. */
#define PIECE		((size_t)64 << 10)

struct appending {
	int		fd;
	uint64_t	at;
	uint8_t		*buffer;	/* PIECE bytes */
	size_t		n;
};

static int flush(struct appending *to)
{
	int ret = write_at(to->fd, to->buffer, to->n, to->at);

	to->at += to->n;
	to->n = 0;
	return ret;
}

static int put(struct appending *to, const void *data, size_t n)
{
	const uint8_t *from = data;
	int ret = 0;

	while (n && !ret) {
		size_t part = n < PIECE - to->n ? n : PIECE - to->n;

		memcpy(to->buffer + to->n, from, part);
		to->n += part;
		from += part;
		n -= part;
		if (to->n == PIECE)
			ret = flush(to);
	}
	return ret;
}

static int put_spooled(void *arg, const struct spool_head *head, const uint8_t *data)
{
	return put(arg, data, head->size);
}

int trace_counters_append(int fd, uint64_t at, const struct trace_counter *counters, uint32_t n,
			  struct spool *spool, uint32_t first, uint32_t n_streams)
{
	const struct trace_counters_head head = { .magic = TRACE_COUNTERS_MAGIC, .n = n };
	const struct trace_counters_foot foot = { .begin = at, .magic = TRACE_COUNTERS_MAGIC };
	struct appending to = { .fd = fd, .at = at, .buffer = malloc(PIECE) };
	int ret = to.buffer ? put(&to, &head, sizeof(head)) : -ENOMEM;

	if (!ret)
		ret = put(&to, counters, n * sizeof(*counters));
	for (uint32_t i = 0; i < n_streams && !ret; i++)
		ret = spool_walk(spool, first + i, put_spooled, &to);
	if (!ret)
		ret = put(&to, &foot, sizeof(foot));
	if (!ret)
		ret = flush(&to);
	free(to.buffer);
	return ret;
}
