// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	model_xen.c
 * @brief	The vCPU model of a xentrace file.
 *
 * One thread reads the records and another one fills the model, if there is a core for each.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block_pipe.h"
#include "model_load.h"
#include "progress.h"
#include "xen_tracker.h"

/** Damaged places that are listed one by one. */
#define NOTES_MAX_LINES		20

/** Rows that one thread looks at several times in a row: they stay in the nearest cache. */
#define NEAR_ROWS		256

/** All blocks together fit into a core's own cache. */
static const struct block_pipe_size pipe_size = {
	.item = sizeof(struct xen_trace_row), .block = 2048, .n_blocks = 8,
};

/** One pass through the trace. */
struct walk {
	const struct model_load	*load;
	struct xen_tracker	*tracker;
	struct xen_trace_iter	*iter;
	struct progress		*progress;
	uint64_t		done, total;	/* records */
};

/** The reading thread. */
static int read_rows(void *arg, struct block_pipe *pipe)
{
	struct walk *walk = arg;
	size_t n = pipe_size.block;
	int ret = 0;

	while (!ret && n == pipe_size.block) {
		n = xen_trace_iter_read(walk->iter, block_pipe_room(pipe), pipe_size.block);
		ret = block_pipe_give(pipe, n);
	}
	return ret;
}

/** What is done with the rows that were read. Return: 0 or -ENOMEM. */
static int take(struct walk *walk, const struct xen_trace_row *rows, size_t n)
{
	const struct model_load *load = walk->load;
	uint64_t before = walk->done;
	int ret = 0;

	walk->done += n;
	for (size_t near; n && !ret; rows += near, n -= near) {
		near = n < NEAR_ROWS ? n : NEAR_ROWS;
		xen_trace_iter_observe(walk->iter, rows, near);
		for (size_t i = 0; i < near && !ret; i++)
			ret = xen_tracker_add(walk->tracker, &rows[i]);
		if (load->rows)
			load->rows(load->arg, rows, near);
	}
	if (walk->done / PROGRESS_RECORDS != before / PROGRESS_RECORDS)
		progress_update(walk->progress, walk->done, walk->total);
	return ret;
}

/** On a busy machine two threads wait for each other longer than one thread takes for it all. */
static bool core_is_free(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	double load;

	return getloadavg(&load, 1) == 1 && load < (double)cores - 0.5;
}

static int take_all(struct walk *walk, struct block_pipe *pipe)
{
	void *rows;
	size_t n;
	int ret = 0, ret_read;

	while (!ret && (n = block_pipe_get(pipe, &rows)) > 0)
		ret = take(walk, rows, n);
	ret_read = block_pipe_finish(pipe);
	return ret ? ret : ret_read;
}

/** All in one thread. Return: 0 or -ENOMEM. */
static int take_all_alone(struct walk *walk)
{
	struct xen_trace_row rows[NEAR_ROWS];
	size_t n = NEAR_ROWS;
	int ret = 0;

	while (!ret && n == NEAR_ROWS) {
		n = xen_trace_iter_read(walk->iter, rows, NEAR_ROWS);
		ret = take(walk, rows, n);
	}
	return ret;
}

static int walk_trace(const struct model_load *load, struct xen_tracker *tracker,
		      struct progress *progress)
{
	struct walk walk = {
		.load = load, .tracker = tracker, .progress = progress,
		.iter = xen_trace_iter_new(load->trace),
		.total = xentrace_n_records(xen_trace_reader(load->trace)),
	};
	struct block_pipe *pipe = NULL;
	int ret, ret_read;

	if (!walk.iter)
		return -ENOMEM;
	if (core_is_free())
		pipe = block_pipe_start(&pipe_size, read_rows, &walk);
	ret = pipe ? take_all(&walk, pipe) : take_all_alone(&walk);
	ret_read = xen_trace_iter_free(walk.iter);
	return ret ? ret : ret_read;
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

int model_xen_changed(const struct xen_trace *trace, int status)
{
	const struct xentrace *reader = xen_trace_reader(trace);
	char text[1024];

	if (xentrace_changed(reader) < XENTRACE_CHANGED ||
	    xentrace_change_text(text, sizeof(text), reader) <= 0)
		return status;
	ksv_error("%s: it was not read to its end", text);
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
