// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	row_pipe.c
 * @brief	Hand rows from a thread that decodes them to the one that keeps them, in blocks.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "row_pipe.h"

/** Blocks in turn: enough that neither side waits for the other's hiccups. */
#define N_BLOCKS	16

struct row_pipe {
	struct row_pipe_head	head;		/* first: see row_pipe_put() */
	struct row_block	blocks[N_BLOCKS];
	size_t			n_filled;	/* blocks ever handed over */
	size_t			n_emptied;	/* blocks ever given back */
	bool			reading;	/* the reader holds a block */
	bool			ended;		/* no more blocks will come */
	bool			unwanted;	/* the reader has gone */
	pthread_mutex_t		lock;
	pthread_cond_t		changed;
	pthread_t		thread;
	row_pipe_fn		produce;
	void			*arg;
	int			result;
};

int row_pipe_flush(struct row_pipe *pipe)
{
	int ret;

	pthread_mutex_lock(&pipe->lock);
	pipe->n_filled++;
	pthread_cond_broadcast(&pipe->changed);
	while (pipe->n_filled - pipe->n_emptied == N_BLOCKS && !pipe->unwanted)
		pthread_cond_wait(&pipe->changed, &pipe->lock);
	ret = pipe->unwanted ? -ECANCELED : 0;
	pthread_mutex_unlock(&pipe->lock);
	pipe->head.filling = &pipe->blocks[pipe->n_filled % N_BLOCKS];
	pipe->head.filling->n = 0;
	return ret;
}

static void *run(void *arg)
{
	struct row_pipe *pipe = arg;

	pipe->result = pipe->produce(pipe->arg, pipe);
	if (pipe->head.filling->n)
		row_pipe_flush(pipe);
	pthread_mutex_lock(&pipe->lock);
	pipe->ended = true;
	pthread_cond_broadcast(&pipe->changed);
	pthread_mutex_unlock(&pipe->lock);
	return NULL;
}

struct row_pipe *row_pipe_start(row_pipe_fn produce, void *arg)
{
	struct row_pipe *pipe = calloc(1, sizeof(*pipe));

	if (!pipe)
		return NULL;
	pipe->produce = produce;
	pipe->arg = arg;
	pipe->head.filling = &pipe->blocks[0];
	pthread_mutex_init(&pipe->lock, NULL);
	pthread_cond_init(&pipe->changed, NULL);
	if (!pthread_create(&pipe->thread, NULL, run, pipe))
		return pipe;
	pthread_cond_destroy(&pipe->changed);
	pthread_mutex_destroy(&pipe->lock);
	free(pipe);
	return NULL;
}

size_t row_pipe_get(struct row_pipe *pipe, const struct row **rows)
{
	const struct row_block *block = NULL;

	pthread_mutex_lock(&pipe->lock);
	if (pipe->reading) {
		pipe->n_emptied++;
		pthread_cond_broadcast(&pipe->changed);
	}
	while (pipe->n_filled == pipe->n_emptied && !pipe->ended)
		pthread_cond_wait(&pipe->changed, &pipe->lock);
	pipe->reading = pipe->n_filled != pipe->n_emptied;
	if (pipe->reading)
		block = &pipe->blocks[pipe->n_emptied % N_BLOCKS];
	pthread_mutex_unlock(&pipe->lock);
	if (!block)
		return 0;
	*rows = block->rows;
	return block->n;
}

int row_pipe_finish(struct row_pipe *pipe)
{
	int result;

	pthread_mutex_lock(&pipe->lock);
	pipe->unwanted = true;
	pthread_cond_broadcast(&pipe->changed);
	pthread_mutex_unlock(&pipe->lock);
	pthread_join(pipe->thread, NULL);
	result = pipe->result;
	pthread_cond_destroy(&pipe->changed);
	pthread_mutex_destroy(&pipe->lock);
	free(pipe);
	return result;
}
