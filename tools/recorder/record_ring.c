// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	record_ring.c
 * @brief	Keep the last records of a host in memory, CPU by CPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record_ring.h"

static void drop_first(struct record_ring *ring)
{
	struct record_chunk *first = ring->first;

	ring->first = first->next;
	if (!ring->first)
		ring->last = NULL;
	ring->bytes -= first->size;
	free(first);
}

/**
 * Of one time either all CPUs are there or none. But Xen's buffers are emptied one after the
 * other, so that the last ones lack the end of the time before: xentrace_whole_tsc().
 */
static void drop_oldest(struct record_ring *ring)
{
	ring->dropped_ns = ring->first->time_ns;
	ring->full = true;
	while (ring->first && ring->first->time_ns == ring->dropped_ns)
		drop_first(ring);
}

/** What is new is worth more than what is old. */
static struct record_chunk *make_chunk(struct record_ring *ring, size_t size)
{
	struct record_chunk *chunk = malloc(sizeof(*chunk) + size);

	while (!chunk && ring->first) {
		drop_oldest(ring);
		chunk = malloc(sizeof(*chunk) + size);
	}
	return chunk;
}

int record_ring_add(struct record_ring *ring, int64_t time_ns, int cpu, const void *data,
		    size_t size)
{
	struct record_chunk *chunk;

	ring->total += size;
	/* the rest of what was too much at once */
	if (ring->full && time_ns == ring->dropped_ns)
		return 0;
	chunk = make_chunk(ring, size);
	if (!chunk)
		return -ENOMEM;
	/* nor is the beginning of this time there any more */
	if (ring->full && time_ns == ring->dropped_ns) {
		free(chunk);
		return 0;
	}
	chunk->next = NULL;
	chunk->time_ns = time_ns;
	chunk->size = size;
	chunk->cpu = cpu;
	memcpy(chunk->data, data, size);
	if (ring->last)
		ring->last->next = chunk;
	else
		ring->first = chunk;
	ring->last = chunk;
	ring->bytes += size;
	if (cpu >= ring->n_cpus)
		ring->n_cpus = cpu + 1;
	while (ring->max_bytes && ring->bytes > ring->max_bytes && ring->first)
		drop_oldest(ring);
	return 0;
}

void record_ring_prune(struct record_ring *ring, int64_t time_ns)
{
	while (ring->first && ring->first->time_ns < time_ns)
		drop_first(ring);
}

void record_ring_clear(struct record_ring *ring)
{
	while (ring->first)
		drop_first(ring);
	ring->full = false;
}

static int write_all(int fd, const unsigned char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

int record_ring_write(const struct record_ring *ring, int cpu, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644), ret = 0;

	if (fd < 0)
		return -errno;
	for (const struct record_chunk *chunk = ring->first; chunk && !ret; chunk = chunk->next)
		if (cpu < 0 || chunk->cpu == cpu)
			ret = write_all(fd, chunk->data, chunk->size);
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}
