/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	row_pipe.h
 * @brief	Hand rows from a thread that decodes them to the one that keeps them, in blocks.
 *
 * Making the entries that KernelShark wants costs as much time as decoding the file; two cores do
 * both at once.
 */
#ifndef KSHARK_VIRT_ROW_PIPE_H
#define KSHARK_VIRT_ROW_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What KernelShark keeps of a record. */
struct row {
	int64_t	time_ns;
	int64_t	offset;
	int32_t	pid;
	int16_t	event;
	int16_t	cpu;
};

/** Rows that are handed over at once. */
#define ROW_BLOCK	8192

struct row_pipe;

/**
 * The decoding side, run in a thread of its own; gives rows away with row_pipe_put(). What it
 * returns, 0 or a negative errno, is the result of the pipe.
 */
typedef int (*row_pipe_fn)(void *arg, struct row_pipe *pipe);

/** row_pipe_start - run @produce in a new thread. Return: NULL without memory or threads. */
struct row_pipe *row_pipe_start(row_pipe_fn produce, void *arg);

/** row_pipe_put - give a row away. Return: 0, or -ECANCELED if nobody wants more. */
static inline int row_pipe_put(struct row_pipe *pipe, const struct row *row);

/**
 * row_pipe_get - wait for rows
 * @rows: receives the rows, valid until the next call
 *
 * Return: how many; 0 at the end.
 */
size_t row_pipe_get(struct row_pipe *pipe, const struct row **rows);

/** row_pipe_finish - end the thread, wanted rows or not. Return: the result of the pipe. */
int row_pipe_finish(struct row_pipe *pipe);

/** A block; only the producer's current one is touched without the lock. */
struct row_block {
	struct row	rows[ROW_BLOCK];
	size_t		n;
};

/** The beginning of the pipe, for row_pipe_put(). */
struct row_pipe_head {
	struct row_block	*filling;
};

/** row_pipe_flush - hand the filled block over, and wait for an empty one. As row_pipe_put(). */
int row_pipe_flush(struct row_pipe *pipe);

static inline int row_pipe_put(struct row_pipe *pipe, const struct row *row)
{
	struct row_block *block = ((struct row_pipe_head *)pipe)->filling;

	block->rows[block->n++] = *row;
	return block->n < ROW_BLOCK ? 0 : row_pipe_flush(pipe);
}

#endif
