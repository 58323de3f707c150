/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xentrace_queues.h
 * @brief	Queue waiting records run by run, and find the first of all of them.
 */
#ifndef KSHARK_VIRT_XENTRACE_QUEUES_H
#define KSHARK_VIRT_XENTRACE_QUEUES_H

#include "xentrace_private.h"

/** Records of a run that wait: [first, n) */
struct xentrace_queue {
	struct xentrace_record	*records;
	size_t			first, n, room;
	uint64_t		last_tsc;	/* of what has come; 0: nothing */
	bool			late;		/* what came last came too late */
};

/** The first record of a queue. */
struct xentrace_head {
	uint64_t	tsc, offset;
	uint32_t	run;
};

/** All zero is none. */
struct xentrace_queues {
	struct xentrace_queue	*queues;	/* by run */
	uint32_t		n;
	size_t			n_waiting;	/* records */
	struct xentrace_head	*heads;		/* of those that are not empty: a heap */
	size_t			n_heads, room_heads;
};

/** queues_reach - make room for @n_runs. Return: 0 or -ENOMEM. */
int queues_reach(struct xentrace_queues *queues, uint32_t n_runs);
void queues_free(struct xentrace_queues *queues);

/** queues_put - one more, which is not earlier than the last one of its run. */
int queues_put(struct xentrace_queues *queues, const struct xentrace_record *rec);

/** queues_first - of all records the first one. Return: NULL if none waits. */
const struct xentrace_record *queues_first(const struct xentrace_queues *queues);

/** queues_take - that one waits no longer. */
void queues_take(struct xentrace_queues *queues);

/** queues_each - all records in order. Return: 0, -ENOMEM, or what ended it. */
int queues_each(const struct xentrace_queues *queues,
		int (*take)(void *arg, const struct xentrace_record *rec), void *arg);

/** queues_repair - TSCs of records turned out to be wrong; of those before @before */
void queues_repair(struct xentrace_queues *queues, const struct repair *repairs, size_t n,
		   uint64_t before);

/**
 * queues_time - records before the first TSC of all, which have none, have that
 * @tsc: one that has come
 *
 * Return: the first one.
 */
uint64_t queues_time(struct xentrace_queues *queues, uint64_t tsc);

/** queues_last_tsc - the highest TSC of what has come. */
uint64_t queues_last_tsc(const struct xentrace_queues *queues);

#endif
