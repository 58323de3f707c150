// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	dump_share.c
 * @brief	Write the records of a xentrace file with two threads, in the order of the walk.
 *
 * One thread walks and collects batches of records; another one makes their text. Text takes longer
 * than the walk, so the first thread makes text, too, when all batches are full. It alone writes.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "dump.h"

#define BATCH_ROWS	1024
#define N_BATCHES	8

struct batch {
	struct xen_trace_row	rows[BATCH_ROWS];
	size_t			n;
	struct output		text;
	bool			has_text;	/* all of it; with the lock */
};

/** Batches are numbered from 0 on; batch i is at batches[i % N_BATCHES]. */
struct dump_share {
	struct output		*out;
	struct batch		*batches;
	struct dump_writer	*writer;	/* of the thread that walks */
	struct dump_writer	*helper;	/* of the other one; NULL: there is none */
	uint64_t		n_written;	/* in @out; of the thread that walks */
	uint64_t		n_filled;	/* with records; with the lock */
	uint64_t		n_taken;	/* by a thread that makes text; with the lock */
	bool			ended;		/* no more will be filled; with the lock */
	bool			failed;		/* no memory for a text */
	pthread_mutex_t		lock;
	pthread_cond_t		more, done;	/* a batch has records; has text */
	pthread_t		thread;
};

static struct batch *batch_at(const struct dump_share *share, uint64_t i)
{
	return &share->batches[i % N_BATCHES];
}

/** Take the oldest batch that has no text. Called with the lock. Return: NULL: there is none. */
static struct batch *take(struct dump_share *share)
{
	return share->n_taken < share->n_filled ? batch_at(share, share->n_taken++) : NULL;
}

/** Called without the lock. */
static void make_text(struct dump_writer *writer, struct batch *batch)
{
	out_collect_again(&batch->text);
	dump_writer_into(writer, &batch->text);
	for (size_t i = 0; i < batch->n; i++)
		dump_write(writer, &batch->rows[i]);
}

static void *help(void *arg)
{
	struct dump_share *share = arg;
	struct batch *batch;

	pthread_mutex_lock(&share->lock);
	while ((batch = take(share)) || !share->ended) {
		if (!batch) {
			pthread_cond_wait(&share->more, &share->lock);
			continue;
		}
		pthread_mutex_unlock(&share->lock);
		make_text(share->helper, batch);
		pthread_mutex_lock(&share->lock);
		batch->has_text = true;
		pthread_cond_signal(&share->done);
	}
	pthread_mutex_unlock(&share->lock);
	return NULL;
}

/** Write the next batch, which has its text. Called without the lock. */
static void write_batch(struct dump_share *share)
{
	struct batch *batch = batch_at(share, share->n_written++);

	if (batch->text.error)
		share->failed = true;
	out_mem(share->out, batch->text.start, (size_t)(batch->text.pos - batch->text.start));
	batch->n = 0;
	batch->has_text = false;
}

/** Write the first @n batches at least, and those after them that have text. */
static void write_up_to(struct dump_share *share, uint64_t n)
{
	struct batch *batch;

	pthread_mutex_lock(&share->lock);
	while (share->n_written < share->n_filled) {
		bool ready = batch_at(share, share->n_written)->has_text;

		if (!ready && share->n_written >= n)
			break;
		batch = ready ? NULL : take(share);
		if (!ready && !batch) {
			pthread_cond_wait(&share->done, &share->lock);
			continue;
		}
		pthread_mutex_unlock(&share->lock);
		if (batch)
			make_text(share->writer, batch);
		else
			write_batch(share);
		pthread_mutex_lock(&share->lock);
		if (batch)
			batch->has_text = true;
	}
	pthread_mutex_unlock(&share->lock);
}

/** The batch that is being filled has all its records. */
static void fill(struct dump_share *share)
{
	uint64_t n;

	pthread_mutex_lock(&share->lock);
	n = ++share->n_filled;
	pthread_cond_signal(&share->more);
	pthread_mutex_unlock(&share->lock);
	write_up_to(share, n < N_BATCHES ? 0 : n - N_BATCHES + 1);
}

struct xen_trace_row *dump_share_room(struct dump_share *share)
{
	struct batch *batch = batch_at(share, share->n_filled);

	return &batch->rows[batch->n];
}

void dump_share_add(struct dump_share *share)
{
	struct batch *batch = batch_at(share, share->n_filled);

	if (++batch->n == BATCH_ROWS)
		fill(share);
}

struct dump_share *dump_share_new(const struct dump_filter *filter, enum dump_format format,
				  const struct xen_trace *trace, struct output *out)
{
	struct dump_share *share = calloc(1, sizeof(*share));

	if (!share)
		return NULL;
	share->out = out;
	pthread_mutex_init(&share->lock, NULL);
	pthread_cond_init(&share->more, NULL);
	pthread_cond_init(&share->done, NULL);
	share->batches = calloc(N_BATCHES, sizeof(*share->batches));
	for (int i = 0; i < N_BATCHES && share->batches; i++)
		out_collect_all(&share->batches[i].text);
	share->writer = dump_writer_new(filter, format, trace);
	if (!share->batches || !share->writer) {
		dump_share_free(share);
		return NULL;
	}
	/* also on a busy machine: the thread that walks makes all text that the other does not */
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		share->helper = dump_writer_new(filter, format, trace);
	if (share->helper && pthread_create(&share->thread, NULL, help, share)) {
		dump_writer_free(share->helper);
		share->helper = NULL;
	}
	dump_write_titles(format, out);
	return share;
}

struct dump_writer *dump_share_end(struct dump_share *share)
{
	if (batch_at(share, share->n_filled)->n)
		fill(share);
	pthread_mutex_lock(&share->lock);
	share->ended = true;
	pthread_cond_signal(&share->more);
	pthread_mutex_unlock(&share->lock);
	write_up_to(share, share->n_filled);
	if (!share->helper)
		return share->failed ? NULL : share->writer;
	pthread_join(share->thread, NULL);
	dump_writer_learn(share->writer, share->helper);
	dump_writer_free(share->helper);
	share->helper = NULL;
	return share->failed ? NULL : share->writer;
}

void dump_share_free(struct dump_share *share)
{
	if (!share)
		return;
	for (int i = 0; i < N_BATCHES && share->batches; i++)
		out_collect_end(&share->batches[i].text);
	free(share->batches);
	dump_writer_free(share->writer);
	dump_writer_free(share->helper);
	pthread_cond_destroy(&share->done);
	pthread_cond_destroy(&share->more);
	pthread_mutex_destroy(&share->lock);
	free(share);
}
