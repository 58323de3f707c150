// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	block_pipe.c
 * @brief	Hand items in blocks from the thread that makes them to the thread that takes them.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "block_pipe.h"

/**
 * Waking a thread costs as much as hundreds of items, and is not done for every block: a thread
 * that waits goes on when half of the blocks are there for it, or at the end.
 */
struct block_pipe {
	struct block_pipe_size	size;
	char			*blocks;
	size_t			*n_items;	/* of each block */
	size_t			n_filled;	/* blocks ever handed over */
	size_t			n_emptied;	/* blocks ever given back */
	bool			reading;	/* the taking side holds a block */
	bool			ended;		/* no more blocks will come */
	bool			unwanted;	/* the taking side has gone */
	bool			maker_waits, taker_waits;
	pthread_mutex_t		lock;
	pthread_cond_t		room, more;
	pthread_t		thread;
	block_pipe_fn		make;
	void			*arg;
	int			result;
};

/** Threads that run or wait for a core now, this one among them (proc_loadavg(5)); 0: not known. */
static long count_running(void)
{
	char text[128];
	int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	long running = 0;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return sscanf(text, "%*s %*s %*s %ld/", &running) == 1 ? running : 0;
}

bool block_pipe_pays(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN), running = count_running();
	double load;

	if (running > 0)
		return running < cores;
	return getloadavg(&load, 1) == 1 && load < (double)cores - 0.5;
}

static size_t place_of(const struct block_pipe *pipe, size_t block)
{
	return block % pipe->size.n_blocks;
}

static void *block_at(const struct block_pipe *pipe, size_t block)
{
	return pipe->blocks + place_of(pipe, block) * pipe->size.block * pipe->size.item;
}

void *block_pipe_room(struct block_pipe *pipe)
{
	return block_at(pipe, pipe->n_filled);
}

int block_pipe_give(struct block_pipe *pipe, size_t n)
{
	int ret;

	if (!n)
		return 0;
	pipe->n_items[place_of(pipe, pipe->n_filled)] = n;
	pthread_mutex_lock(&pipe->lock);
	pipe->n_filled++;
	if (pipe->taker_waits && pipe->n_filled - pipe->n_emptied >= pipe->size.n_blocks / 2)
		pthread_cond_signal(&pipe->more);
	pipe->maker_waits = pipe->n_filled - pipe->n_emptied == pipe->size.n_blocks;
	while (pipe->maker_waits && !pipe->unwanted)
		pthread_cond_wait(&pipe->room, &pipe->lock);
	ret = pipe->unwanted ? -ECANCELED : 0;
	pthread_mutex_unlock(&pipe->lock);
	return ret;
}

/** The block that was read is free. Called with the lock. */
static void give_back(struct block_pipe *pipe)
{
	if (!pipe->reading)
		return;
	pipe->n_emptied++;
	if (pipe->maker_waits && pipe->n_filled - pipe->n_emptied <= pipe->size.n_blocks / 2) {
		pipe->maker_waits = false;
		pthread_cond_signal(&pipe->room);
	}
}

size_t block_pipe_get(struct block_pipe *pipe, void **items)
{
	size_t n = 0;

	pthread_mutex_lock(&pipe->lock);
	give_back(pipe);
	pipe->taker_waits = true;
	while (pipe->n_filled == pipe->n_emptied && !pipe->ended)
		pthread_cond_wait(&pipe->more, &pipe->lock);
	pipe->taker_waits = false;
	pipe->reading = pipe->n_filled != pipe->n_emptied;
	if (pipe->reading) {
		n = pipe->n_items[place_of(pipe, pipe->n_emptied)];
		*items = block_at(pipe, pipe->n_emptied);
	}
	pthread_mutex_unlock(&pipe->lock);
	return n;
}

static void *run(void *arg)
{
	struct block_pipe *pipe = arg;

	pipe->result = pipe->make(pipe->arg, pipe);
	pthread_mutex_lock(&pipe->lock);
	pipe->ended = true;
	pthread_cond_signal(&pipe->more);
	pthread_mutex_unlock(&pipe->lock);
	return NULL;
}

static void pipe_free(struct block_pipe *pipe)
{
	pthread_cond_destroy(&pipe->room);
	pthread_cond_destroy(&pipe->more);
	pthread_mutex_destroy(&pipe->lock);
	free(pipe->n_items);
	free(pipe->blocks);
	free(pipe);
}

struct block_pipe *block_pipe_start(const struct block_pipe_size *size, block_pipe_fn make,
				    void *arg)
{
	struct block_pipe *pipe = calloc(1, sizeof(*pipe));

	if (!pipe)
		return NULL;
	pipe->size = *size;
	pipe->make = make;
	pipe->arg = arg;
	pthread_mutex_init(&pipe->lock, NULL);
	pthread_cond_init(&pipe->room, NULL);
	pthread_cond_init(&pipe->more, NULL);
	pipe->blocks = calloc(size->n_blocks * size->block, size->item);
	pipe->n_items = calloc(size->n_blocks, sizeof(*pipe->n_items));
	if (pipe->blocks && pipe->n_items && !pthread_create(&pipe->thread, NULL, run, pipe))
		return pipe;
	pipe_free(pipe);
	return NULL;
}

int block_pipe_finish(struct block_pipe *pipe)
{
	int result;

	pthread_mutex_lock(&pipe->lock);
	pipe->unwanted = true;
	pthread_cond_signal(&pipe->room);
	pthread_mutex_unlock(&pipe->lock);
	pthread_join(pipe->thread, NULL);
	result = pipe->result;
	pipe_free(pipe);
	return result;
}
