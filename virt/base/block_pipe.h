/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	block_pipe.h
 * @brief	Hand items in blocks from the thread that makes them to the thread that takes them.
 *
 * Decoding a trace costs as much time as using its records; two cores do both at once.
 */
#ifndef KSHARK_VIRT_BLOCK_PIPE_H
#define KSHARK_VIRT_BLOCK_PIPE_H

#include <stdbool.h>
#include <stddef.h>

/** Sizes of a pipe. */
struct block_pipe_size {
	size_t		item;		/* bytes */
	size_t		block;		/* items that are handed over at once */
	unsigned int	n_blocks;	/* two at least: one is filled while one is read */
};

struct block_pipe;

/**
 * The making side, run in a thread of its own: it fills block_pipe_room() and gives it away with
 * block_pipe_give(). What it returns, 0 or a negative errno, is the result of the pipe.
 */
typedef int (*block_pipe_fn)(void *arg, struct block_pipe *pipe);

/**
 * block_pipe_pays - is there a core for another thread?
 *
 * On a busy machine two threads wait for each other longer than one thread takes for it all. What
 * runs now counts, not what ran in the last minute.
 */
bool block_pipe_pays(void);

/** block_pipe_start - run @make in a new thread. Return: NULL without memory or threads. */
struct block_pipe *block_pipe_start(const struct block_pipe_size *size, block_pipe_fn make,
				    void *arg);

/** block_pipe_room - for the next block of items; only the making side touches it. */
void *block_pipe_room(struct block_pipe *pipe);

/**
 * block_pipe_give - give the filled block away, and wait until there is room for another one
 * @n: items in it; nothing is given if there are none
 *
 * Return: 0, or -ECANCELED if the receiver wants no more.
 */
int block_pipe_give(struct block_pipe *pipe, size_t n);

/**
 * block_pipe_get - wait for a block
 * @items: receives the items, which the taking side may change, until the next call
 *
 * Return: how many; 0 at the end.
 */
size_t block_pipe_get(struct block_pipe *pipe, void **items);

/** block_pipe_finish - end the thread, wanted items or not. Return: the result of the pipe. */
int block_pipe_finish(struct block_pipe *pipe);

#endif
