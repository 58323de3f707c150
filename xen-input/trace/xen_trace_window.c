// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	xen_trace_window.c
 * @brief	Open a window of a large file as a trace.
 *
 * Time 0 and the clock come from the beginning of the file, its length from its end; the parts of
 * the file between these and the window are not read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sidecar.h"
#include "xen_trace_private.h"
#include "xen_window.h"
#include "xentrace_facts.h"

/** What is read of a file to find out the same if only a window is opened. */
#define PROBE_BYTES	(UINT64_C(40) * PROBE_RECORDS)
#define HEAD_BYTES	(UINT64_C(4) << 20)

/** What is looked at before and behind the window. */
#define WINDOW_MARGIN_NS	1000000000

/** The sidecar, if it is there and right; for use before the trace is open. */
static struct xen_meta *meta_of(const char *path, const struct xen_trace_options *options)
{
	char *found = options->meta_path ? strdup(options->meta_path) : sidecar_find(path);
	struct xen_meta *meta = found ? xen_meta_load(found, NULL, 0) : NULL;

	free(found);
	return meta;
}

/** Its times, however they are given. */
static void set_window(struct xen_trace_span *span, const struct xen_clock *clock)
{
	if (span->from_is_tsc)
		span->from_ns = xen_clock_ns(clock, span->from_tsc);
	if (span->to_is_tsc)
		span->to_ns = xen_clock_ns(clock, span->to_tsc);
	if (span->since_first &&
	    (__builtin_add_overflow(span->from_ns, span->begin_ns, &span->from_ns) ||
	     __builtin_add_overflow(span->to_ns, span->begin_ns, &span->to_ns)))
		span->to_ns = INT64_MAX;
	span->since_first = span->from_is_tsc = span->to_is_tsc = false;
}

int xen_trace_find_window(struct xen_trace *trace, const struct xen_trace_options *options)
{
	struct xen_trace_span *span = &trace->span;
	struct xentrace_range range;
	uint64_t first_tsc = xentrace_first_tsc(trace->reader), last_tsc, margin;
	int ret;

	trace->part = trace->meta ? trace->meta->part : NULL;
	ret = xen_trace_set_clock(trace, options);
	trace->part = NULL;
	if (!ret)
		ret = xentrace_last_of_file(trace->reader, &last_tsc);
	if (ret)
		return ret;
	span->begin_ns = xen_clock_ns(&trace->clock, first_tsc);
	span->end_ns = xen_clock_ns(&trace->clock, last_tsc) + 1;
	set_window(span, &trace->clock);
	if (span->from_ns < span->begin_ns)
		span->from_ns = span->begin_ns;
	if (span->to_ns > span->end_ns)
		span->to_ns = span->end_ns;
	if (span->from_ns >= span->to_ns)
		return -ERANGE;
	margin = xen_clock_tsc(&trace->clock, WINDOW_MARGIN_NS) - xen_clock_tsc(&trace->clock, 0);
	ret = xentrace_find(trace->reader, xen_clock_tsc(&trace->clock, span->from_ns),
			    xen_clock_tsc(&trace->clock, span->to_ns), margin, &range);
	if (!ret)
		ret = xentrace_index(trace->reader, &range);
	if (!ret && options->correct_skew)
		trace->skew_error = strdup("TSCs are not corrected: this is a window of a trace");
	return ret;
}

struct xen_trace *xen_trace_open_window(const char *path, const struct xen_trace_options *options,
					struct xen_trace_span *span, char *error,
					size_t error_size)
{
	struct xentrace *reader;
	struct xen_meta *meta;
	bool known;

	options = xen_trace_or_defaults(options);
	/* a given frequency needs no calibration */
	meta = options->cpu_hz ? NULL : meta_of(path, options);
	known = options->cpu_hz || (meta && (meta->cpu_khz || meta->part));
	xen_meta_free(meta);
	reader = xentrace_open_head(path, &options->reader, known ? HEAD_BYTES : PROBE_BYTES,
				    error, error_size);
	return xen_trace_make(reader, path, options, span, error, error_size);
}

struct xen_trace *xen_trace_open_pointer(const char *path, const struct xen_trace_options *options,
				      char *error, size_t error_size)
{
	struct xen_window window;
	struct xen_trace *trace = NULL;
	int ret = xen_window_read(path, &window, error, error_size);

	if (!ret) {
		/* on whichever axis it is asked for */
		struct xen_trace_span span = { .from_ns = window.from_ns - window.begin_ns,
					       .to_ns = window.to_ns - window.begin_ns,
					       .since_first = true };

		trace = xen_trace_open_window(window.trace, options, &span, error, error_size);
		ret = trace ? 0 : -errno;
	}
	xen_window_free(&window);
	errno = -ret;
	return trace;
}

const struct xen_trace_span *xen_trace_window(const struct xen_trace *trace)
{
	return trace->is_window ? &trace->span : NULL;
}
