/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	record_ring.h
 * @brief	Keep the last records of a host in memory, CPU by CPU.
 */
#ifndef KSHARK_VIRT_RECORD_RING_H
#define KSHARK_VIRT_RECORD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What came at one time from one CPU: whole pages of a buffer, or a whole window of xentrace's. */
struct record_chunk {
	struct record_chunk	*next;
	int64_t			time_ns;	/* when it was taken */
	size_t			size;
	int			cpu;
	unsigned char		data[];
};

/** All zero is an empty one, without a limit. */
struct record_ring {
	struct record_chunk	*first, *last;
	uint64_t		bytes, total;	/* that are there; that have ever come */
	uint64_t		max_bytes;	/* 0: no limit */
	bool			full;		/* the limit has shortened it */
	int64_t			dropped_ns;	/* what came last of what it has dropped, then */
	int			n_cpus;		/* numbers of CPUs are below this */
};

/**
 * record_ring_add - keep something more
 * @time_ns: never less than before; chunks of the same time go together
 *
 * Without memory, the oldest go. Return: 0, or -ENOMEM: nothing is left, and this is not kept.
 */
int record_ring_add(struct record_ring *ring, int64_t time_ns, int cpu, const void *data,
		    size_t size);

/** record_ring_prune - forget what came before @time_ns. */
void record_ring_prune(struct record_ring *ring, int64_t time_ns);

/** record_ring_clear - forget everything that was kept. */
void record_ring_clear(struct record_ring *ring);

/**
 * record_ring_write - all that is kept, in a new file
 * @cpu: of one CPU; -1: of all, as it came
 *
 * Return: 0 or a negative errno.
 */
int record_ring_write(const struct record_ring *ring, int cpu, const char *path);

#endif
