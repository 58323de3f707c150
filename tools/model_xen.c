// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	model_xen.c
 * @brief	The vCPU model of a xentrace file.
 *
 * One thread decodes the records and another one fills the model, if there is a core for each.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model_load.h"
#include "progress.h"
#include "xen_tracker.h"

/** Damaged places that are listed one by one. */
#define NOTES_MAX_LINES		20

/** Rows that are handed over at once: waking a thread costs as much as decoding hundreds. */
#define BLOCK_ROWS		4096
#define N_BLOCKS		4

/** Rows that one thread decodes before it looks at them again: they stay in the nearest cache. */
#define SMALL_BLOCK_ROWS	256

struct block {
	struct xen_trace_row	rows[BLOCK_ROWS];
	size_t			n;
};

/** A ring of blocks between the two threads. */
struct walk {
	struct xen_trace_iter	*iter;
	pthread_mutex_t		lock;
	pthread_cond_t		changed;
	unsigned int		n_full;		/* blocks that wait to be read */
	bool			stop;		/* nobody reads any more */
	struct block		blocks[N_BLOCKS];
};

static size_t fill(struct xen_trace_iter *iter, struct block *block, size_t max)
{
	size_t n = 0;

	while (n < max && xen_trace_iter_next(iter, &block->rows[n]))
		n++;
	block->n = n;
	return n;
}

static void *decode(void *arg)
{
	struct walk *walk = arg;
	unsigned int at = 0;
	bool stop;
	size_t n;

	do {
		pthread_mutex_lock(&walk->lock);
		while (walk->n_full == N_BLOCKS && !walk->stop)
			pthread_cond_wait(&walk->changed, &walk->lock);
		stop = walk->stop;
		pthread_mutex_unlock(&walk->lock);
		if (stop)
			break;
		/* an empty block is the end */
		n = fill(walk->iter, &walk->blocks[at], BLOCK_ROWS);
		at = (at + 1) % N_BLOCKS;
		pthread_mutex_lock(&walk->lock);
		walk->n_full++;
		pthread_cond_signal(&walk->changed);
		pthread_mutex_unlock(&walk->lock);
	} while (n);
	return NULL;
}

static int take(const struct model_load *load, struct xen_tracker *tracker,
		const struct block *block)
{
	int ret = 0;

	for (size_t i = 0; i < block->n && !ret; i++)
		ret = xen_tracker_add(tracker, &block->rows[i]);
	if (load->rows)
		load->rows(load->arg, block->rows, block->n);
	return ret;
}

/** The reading side of the ring. Return: 0 or -ENOMEM. */
static int track(const struct model_load *load, struct xen_tracker *tracker, struct walk *walk,
		 struct progress *progress)
{
	uint64_t total = xentrace_n_records(xen_trace_reader(load->trace)), done = 0;
	unsigned int at = 0;
	size_t n = 1;
	int ret = 0;

	while (n && !ret) {
		pthread_mutex_lock(&walk->lock);
		while (!walk->n_full)
			pthread_cond_wait(&walk->changed, &walk->lock);
		pthread_mutex_unlock(&walk->lock);
		n = walk->blocks[at].n;
		ret = take(load, tracker, &walk->blocks[at]);
		if ((done + n) / PROGRESS_RECORDS != done / PROGRESS_RECORDS)
			progress_update(progress, done + n, total);
		done += n;
		at = (at + 1) % N_BLOCKS;
		pthread_mutex_lock(&walk->lock);
		walk->n_full--;
		walk->stop = ret;
		pthread_cond_signal(&walk->changed);
		pthread_mutex_unlock(&walk->lock);
	}
	return ret;
}

/** On a busy machine two threads wait for each other longer than one thread takes for it all. */
static bool core_is_free(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	double load;

	return getloadavg(&load, 1) == 1 && load < (double)cores - 0.5;
}

/** All in one thread. Return: 0 or -ENOMEM. */
static int track_alone(const struct model_load *load, struct xen_tracker *tracker,
		       struct walk *walk, struct progress *progress)
{
	uint64_t total = xentrace_n_records(xen_trace_reader(load->trace)), done = 0;
	size_t n;
	int ret = 0;

	while (!ret && (n = fill(walk->iter, walk->blocks, SMALL_BLOCK_ROWS))) {
		ret = take(load, tracker, walk->blocks);
		if ((done + n) / PROGRESS_RECORDS != done / PROGRESS_RECORDS)
			progress_update(progress, done + n, total);
		done += n;
	}
	return ret;
}

static int walk_trace(const struct model_load *load, struct xen_tracker *tracker,
		      struct progress *progress)
{
	struct walk *walk = calloc(1, sizeof(*walk));
	pthread_t thread;
	int ret = walk ? 0 : -ENOMEM;

	if (ret)
		return ret;
	pthread_mutex_init(&walk->lock, NULL);
	pthread_cond_init(&walk->changed, NULL);
	walk->iter = xen_trace_iter_new(load->trace);
	if (!walk->iter) {
		ret = -ENOMEM;
	} else if (core_is_free() && !pthread_create(&thread, NULL, decode, walk)) {
		ret = track(load, tracker, walk, progress);
		pthread_join(thread, NULL);
	} else {
		ret = track_alone(load, tracker, walk, progress);
	}
	xen_trace_iter_free(walk->iter);
	pthread_cond_destroy(&walk->changed);
	pthread_mutex_destroy(&walk->lock);
	free(walk);
	return ret;
}

static int xen_load(struct model_load *load)
{
	struct xen_tracker *tracker = NULL;
	struct progress progress;
	char error[1024] = "";
	int ret, status;

	progress_init(&progress, !load->quiet);
	load->options.reader.progress = progress_update;
	load->options.reader.progress_arg = &progress;
	load->options.drop_behind = true;
	load->trace = xen_trace_open(load->path, &load->options, error, sizeof(error));
	if (!load->trace) {
		progress_end(&progress);
		ksv_error("%s", *error ? error : strerror(errno));
		return KSV_EXIT_FILE;
	}
	status = load->opened ? load->opened(load->arg) : KSV_EXIT_OK;
	if (status) {
		progress_end(&progress);
		return status;
	}
	progress.what = "tracking";
	tracker = xen_tracker_new(load->trace);
	ret = tracker ? walk_trace(load, tracker, &progress) : -ENOMEM;
	if (!ret)
		ret = xen_tracker_finish(tracker, &load->model);
	xen_tracker_free(tracker);
	progress_end(&progress);
	if (!ret)
		return KSV_EXIT_OK;
	ksv_error("%s: %s", load->path, ret == -ENOMEM ? "not enough memory" : strerror(-ret));
	return KSV_EXIT_FILE;
}

static void xen_unload(struct model_load *load)
{
	xen_trace_close(load->trace);
	load->trace = NULL;
}

static void xen_notes(const struct model_load *load)
{
	char *notes = xen_trace_notes(load->trace, NOTES_MAX_LINES);

	if (notes)
		fputs(notes, stderr);
	free(notes);
}

static int64_t xen_tsc_ns(const struct model_load *load, uint64_t tsc)
{
	return xen_clock_ns(xen_trace_clock(load->trace), tsc);
}

static int xen_n_pcpus(const struct model_load *load)
{
	return xen_trace_n_pcpus(load->trace);
}

const struct model_source model_xen = {
	.hypervisor = "xen",
	.load = xen_load,
	.unload = xen_unload,
	.notes = xen_notes,
	.tsc_ns = xen_tsc_ns,
	.n_pcpus = xen_n_pcpus,
};
