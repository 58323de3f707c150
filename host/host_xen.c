// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	host_xen.c
 * @brief	A xentrace file as the trace of a host.
 *
 * One thread reads the records and another one takes them, if there is a core for each.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block_pipe.h"
#include "host_private.h"
#include "virt_recorded.h"
#include "xen_trace_note.h"
#include "xen_trace_window.h"
#include "xen_tracker_feed.h"

/** Rows that one thread looks at several times in a row: they stay in the nearest cache. */
#define NEAR_ROWS		256

/** All blocks together fit into a core's own cache. */
static const struct block_pipe_size pipe_size = {
	.item = sizeof(struct xen_trace_row), .block = 2048, .n_blocks = 8,
};

static int xen_open(struct host_trace *trace, const struct host_options *options, char *error,
		    size_t size)
{
	const struct xen_trace_options xen = {
		.cpu_hz = options->cpu_hz, .absolute_time = options->absolute_time,
		.correct_skew = options->correct_skew,
		.reader = {
			.max_input = options->max_input,
			.progress = options->progress, .progress_arg = options->arg,
		},
	};

	*error = '\0';
	trace->xen = xen_trace_open(trace->path, &xen, error, size);
	if (!trace->xen && !*error)
		snprintf(error, size, "%s: %s", trace->path, strerror(errno));
	return trace->xen ? 0 : -1;
}

static void xen_close(struct host_trace *trace)
{
	xen_trace_close(trace->xen);
}

/** One pass through the trace. */
struct xen_pass {
	const struct host_walk	*to;
	struct xen_tracker	*tracker;	/* NULL: no model is wanted */
	struct xen_trace_iter	*iter;
	const struct xen_trace_span *window;	/* NULL: all is wanted */
	uint64_t		n_rows, bytes;	/* so far; of the file */
};

/** The reading thread. */
static int read_rows(void *arg, struct block_pipe *pipe)
{
	struct xen_pass *pass = arg;
	size_t n = pipe_size.block;
	int ret = 0;

	while (!ret && n == pipe_size.block) {
		n = xen_trace_iter_read(pass->iter, block_pipe_room(pipe), pipe_size.block);
		ret = block_pipe_give(pipe, n);
	}
	return ret;
}

/** Records that were read before and after a window are for the model alone. */
static int give_rows(const struct xen_pass *pass, const struct xen_trace_row *rows, size_t n)
{
	size_t first = 0;

	while (n && !xen_trace_shows(pass->window, rows[n - 1].time_ns))
		n--;
	while (first < n && !xen_trace_shows(pass->window, rows[first].time_ns))
		first++;
	return first < n ? pass->to->rows(pass->to->arg, rows + first, n - first) : 0;
}

/** What is done with the rows that were read. Return: 0, or what ends the walk. */
static int take_rows(struct xen_pass *pass, struct xen_trace_row *rows, size_t n)
{
	const struct host_walk *to = pass->to;
	uint64_t before = pass->n_rows, done = n ? rows[n - 1].rec.offset : 0;
	int ret = 0;

	pass->n_rows += n;
	for (size_t near; n && !ret; rows += near, n -= near) {
		near = n < NEAR_ROWS ? n : NEAR_ROWS;
		xen_trace_iter_observe(pass->iter, rows, near);
		for (size_t i = 0; pass->tracker && i < near && !ret; i++)
			ret = xen_tracker_feed(pass->tracker, &rows[i]);
		if (!ret && to->rows)
			ret = give_rows(pass, rows, near);
	}
	if (!ret && to->progress && pass->n_rows / HOST_PROGRESS != before / HOST_PROGRESS)
		ret = to->progress(to->arg, done, pass->bytes);
	return ret;
}

static int take_all(struct xen_pass *pass, struct block_pipe *pipe)
{
	void *rows;
	size_t n;
	int ret = 0, ret_read;

	while (!ret && (n = block_pipe_get(pipe, &rows)) > 0)
		ret = take_rows(pass, rows, n);
	ret_read = block_pipe_finish(pipe);
	return ret ? ret : ret_read;
}

/** All in one thread. Return: 0 or -ENOMEM. */
static int take_all_alone(struct xen_pass *pass)
{
	struct xen_trace_row rows[NEAR_ROWS];
	size_t n = NEAR_ROWS;
	int ret = 0;

	while (!ret && n == NEAR_ROWS) {
		n = xen_trace_iter_read(pass->iter, rows, NEAR_ROWS);
		ret = take_rows(pass, rows, n);
	}
	return ret;
}

static int walk_trace(struct xen_trace *trace, const struct host_walk *to,
		      struct xen_tracker *tracker)
{
	struct xen_pass pass = {
		.to = to, .tracker = tracker, .iter = xen_trace_iter_new(trace),
		.window = xen_trace_window(trace),
		.bytes = xentrace_n_bytes(xen_trace_reader(trace)),
	};
	struct block_pipe *pipe = NULL;
	int ret = pass.iter ? 0 : -ENOMEM, ret_read;

	if (!ret && (!to->rows || (to->skipped && !pass.window)))
		ret = xen_trace_iter_skip(pass.iter, to->skipped);
	if (!ret && block_pipe_pays())
		pipe = block_pipe_start(&pipe_size, read_rows, &pass);
	if (!ret)
		ret = pipe ? take_all(&pass, pipe) : take_all_alone(&pass);
	if (!ret && to->skipped && !pass.window)
		ret = xen_trace_iter_skipped(pass.iter, to->skipped, to->arg);
	ret_read = xen_trace_iter_free(pass.iter);
	return ret ? ret : ret_read;
}

static int xen_walk(struct host_trace *trace, const struct host_walk *walk,
		    struct virt_model **model)
{
	struct xen_tracker *tracker = model ? xen_tracker_new(trace->xen) : NULL;
	int ret;

	if (tracker && walk->is_brief)
		xen_tracker_brief(tracker);
	ret = model && !tracker ? -ENOMEM : walk_trace(trace->xen, walk, tracker);
	if (!ret && model)
		ret = xen_tracker_finish(tracker, model);
	xen_tracker_free(tracker);
	return ret;
}

/**
 * The TSC of no x86 processor with virtualization is as slow; Arm's generic timer mostly is. Xen on
 * Arm has the trace records of its common code only, so no traced class would help.
 */
#define SLOW_HZ		400000000

static void note_arm(const struct host_trace *trace, const struct virt_model *model,
		     struct trace_notes *notes)
{
	const uint64_t exits = UINT64_C(1) << VIRT_RECORD_ENTRY | UINT64_C(1) << VIRT_RECORD_EXIT;
	const struct xen_clock *clock = xen_trace_clock(trace->xen);

	if (clock->hz >= SLOW_HZ || !model || (virt_model_recorded(model) & exits))
		return;
	trace_notes_add(notes, TRACE_NOTE_EVENTS, TRACE_NOTE_WARNING,
			"%s: its counter runs at %.3f MHz, like the timer of an Arm host: Xen on "
			"Arm records no VM exits, whatever is traced", trace->path,
			(double)clock->hz / 1e6);
}

static void xen_notes(const struct host_trace *trace, const struct virt_model *model,
		      int max_lines, struct trace_notes *notes)
{
	xen_trace_note_all(trace->xen, max_lines, notes);
	note_arm(trace, model, notes);
}

static int64_t xen_tsc_ns(const struct host_trace *trace, uint64_t tsc)
{
	return xen_clock_ns(xen_trace_clock(trace->xen), tsc);
}

/** The sidecar has no error of the clock. */
static bool xen_moment(const struct host_trace *trace, struct host_moment *moment)
{
	uint64_t tsc;

	*moment = (struct host_moment){ .within_ns = -1 };
	if (!xen_meta_moment(xen_trace_meta(trace->xen), &tsc, &moment->realtime_ns))
		return false;
	moment->trace_ns = xen_tsc_ns(trace, tsc);
	return true;
}

static int xen_n_pcpus(const struct host_trace *trace)
{
	return xen_trace_n_pcpus(trace->xen);
}

bool host_xen_changed(const struct xen_trace *trace, char *text, size_t size)
{
	const struct xentrace *reader = xen_trace_reader(trace);

	return xentrace_changed(reader) >= XENTRACE_CHANGED &&
	       xentrace_change_text(text, size, reader) > 0;
}

static bool xen_changed(const struct host_trace *trace, char *text, size_t size)
{
	return host_xen_changed(trace->xen, text, size);
}

const struct host_kind host_xen = {
	.hypervisor = "xen",
	.open = xen_open,
	.close = xen_close,
	.walk = xen_walk,
	.notes = xen_notes,
	.tsc_ns = xen_tsc_ns,
	.moment = xen_moment,
	.n_pcpus = xen_n_pcpus,
	.changed = xen_changed,
};
