// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xentrace_queues.c
 * @brief	Queue waiting records run by run, and find the first of all of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "heap.h"
#include "xentrace_queues.h"

/** Arrays are moved to their beginning when at least this and half of them is free. */
#define MOVE_LEAST	4096

int queues_reach(struct xentrace_queues *queues, uint32_t n_runs)
{
	return n_runs <= queues->n ? 0 : ARRAY_REACH(queues->queues, n_runs - 1, queues->n);
}

void queues_free(struct xentrace_queues *queues)
{
	for (uint32_t i = 0; i < queues->n; i++)
		free(queues->queues[i].records);
	free(queues->queues);
	free(queues->heads);
	*queues = (struct xentrace_queues){ 0 };
}

static bool is_before(const struct xentrace_head *a, const struct xentrace_head *b)
{
	return a->tsc < b->tsc || (a->tsc == b->tsc && a->offset < b->offset);
}

static const struct xentrace_record *first_of(const struct xentrace_queue *queue)
{
	return &queue->records[queue->first];
}

static struct xentrace_head head_of(const struct xentrace_record *rec)
{
	return (struct xentrace_head){ .tsc = rec->tsc, .offset = rec->offset, .run = rec->run };
}

static int make_room(struct xentrace_queue *queue)
{
	if (queue->first >= MOVE_LEAST && queue->first >= queue->n / 2) {
		queue->n -= queue->first;
		memmove(queue->records, first_of(queue), queue->n * sizeof(*queue->records));
		queue->first = 0;
	}
	return ARRAY_GROW(queue->records, queue->n, queue->room);
}

int queues_put(struct xentrace_queues *queues, const struct xentrace_record *rec)
{
	struct xentrace_queue *queue = &queues->queues[rec->run];
	size_t at = queues->n_heads;

	if (make_room(queue) || ARRAY_GROW(queues->heads, at, queues->room_heads))
		return -ENOMEM;
	queue->records[queue->n++] = *rec;
	queues->n_waiting++;
	if (queue->n - queue->first > 1)
		return 0;
	queues->heads[queues->n_heads++] = head_of(rec);
	HEAP_UP(queues->heads, at, is_before);
	return 0;
}

const struct xentrace_record *queues_first(const struct xentrace_queues *queues)
{
	return queues->n_heads ? first_of(&queues->queues[queues->heads[0].run]) : NULL;
}

void queues_take(struct xentrace_queues *queues)
{
	struct xentrace_head *top = queues->heads;
	struct xentrace_queue *queue = &queues->queues[top->run];

	queues->n_waiting--;
	if (++queue->first < queue->n) {
		*top = head_of(first_of(queue));
	} else {
		queue->first = queue->n = 0;
		*top = queues->heads[--queues->n_heads];
	}
	if (queues->n_heads)
		HEAP_DOWN(queues->heads, queues->n_heads, 0, is_before);
}

/** A copy of the heap, and where each queue begins. */
static int copy_heads(const struct xentrace_queues *queues, struct xentrace_head **heads,
		      size_t **next)
{
	*heads = malloc((queues->n_heads + 1) * sizeof(**heads));
	*next = malloc((queues->n + (size_t)1) * sizeof(**next));
	if (!*heads || !*next)
		return -ENOMEM;
	if (queues->n_heads)
		memcpy(*heads, queues->heads, queues->n_heads * sizeof(**heads));
	for (uint32_t i = 0; i < queues->n; i++)
		(*next)[i] = queues->queues[i].first;
	return 0;
}

int queues_each(const struct xentrace_queues *queues,
		int (*take)(void *arg, const struct xentrace_record *rec), void *arg)
{
	size_t n = queues->n_heads, *next;
	struct xentrace_head *heads;
	int ret = copy_heads(queues, &heads, &next);

	while (!ret && n) {
		const struct xentrace_queue *queue = &queues->queues[heads[0].run];
		size_t *i = &next[heads[0].run];

		ret = take(arg, &queue->records[*i]);
		if (++*i < queue->n)
			heads[0] = head_of(&queue->records[*i]);
		else
			heads[0] = heads[--n];
		if (n)
			HEAP_DOWN(heads, n, 0, is_before);
	}
	free(heads);
	free(next);
	return ret;
}

/** First records have other TSCs than before. */
static void order_heads(struct xentrace_queues *queues)
{
	for (size_t i = 0; i < queues->n_heads; i++)
		queues->heads[i] = head_of(first_of(&queues->queues[queues->heads[i].run]));
	for (size_t i = queues->n_heads / 2; i-- > 0; )
		HEAP_DOWN(queues->heads, queues->n_heads, i, is_before);
}

/** Not there any more: it has been given out as it was. */
static void repair_one(struct xentrace_queue *queue, const struct repair *repair)
{
	for (size_t i = queue->n; i-- > queue->first; ) {
		if (queue->records[i].offset < repair->offset)
			return;
		if (queue->records[i].offset != repair->offset)
			continue;
		queue->records[i].tsc = repair->tsc;
		queue->records[i].flags |= XENTRACE_TSC_REPAIRED;
		queue->last_tsc = queue->records[queue->n - 1].tsc;
	}
}

void queues_repair(struct xentrace_queues *queues, const struct repair *repairs, size_t n,
		   uint64_t before)
{
	for (size_t i = 0; i < n && repairs[i].offset < before; i++)
		for (uint32_t run = 0; run < queues->n; run++)
			repair_one(&queues->queues[run], &repairs[i]);
	if (n)
		order_heads(queues);
}

uint64_t queues_time(struct xentrace_queues *queues, uint64_t tsc)
{
	for (uint32_t run = 0; run < queues->n; run++) {
		const struct xentrace_queue *queue = &queues->queues[run];

		for (size_t i = queue->first; i < queue->n; i++)
			if (queue->records[i].tsc && queue->records[i].tsc < tsc)
				tsc = queue->records[i].tsc;
	}
	for (uint32_t run = 0; run < queues->n; run++) {
		struct xentrace_queue *queue = &queues->queues[run];

		for (size_t i = queue->first; i < queue->n && !queue->records[i].tsc; i++)
			queue->records[i].tsc = tsc;
		if (queue->n && !queue->last_tsc)
			queue->last_tsc = tsc;
	}
	order_heads(queues);
	return tsc;
}

uint64_t queues_last_tsc(const struct xentrace_queues *queues)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < queues->n; i++)
		if (queues->queues[i].last_tsc > last)
			last = queues->queues[i].last_tsc;
	return last;
}
