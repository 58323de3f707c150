/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_trace_window.h
 * @brief	Open a window of a xentrace file as a trace, without reading all of the file.
 *
 * Times are those of the whole file. Some MB before the window are read to find which vCPU is on
 * each pCPU when the window begins; if they do not show it, it is unknown.
 */
#ifndef KSHARK_VIRT_XEN_TRACE_WINDOW_H
#define KSHARK_VIRT_XEN_TRACE_WINDOW_H

#include "xen_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A window, and the whole file. */
struct xen_trace_span {
	int64_t		from_ns, to_ns;		/* INT64_MIN, INT64_MAX: its beginning, its end */
	int64_t		begin_ns, end_ns;	/* of the file; end_ns is the last record's + 1 */
	/* how the window is given: */
	bool		since_first;		/* from the first record on, whenever that is */
	bool		from_is_tsc, to_is_tsc;	/* instead, these: */
	uint64_t	from_tsc, to_tsc;
};

/**
 * xen_trace_open_window - open a window of a file
 * @span: the window; receives what there is of it, and the file's ends
 *
 * Return: as xen_trace_open(); ERANGE: nothing of the file lies in it, and @span has its ends.
 */
struct xen_trace *xen_trace_open_window(const char *path, const struct xen_trace_options *options,
					struct xen_trace_span *span, char *error,
					size_t error_size);

/** xen_trace_window - the window that a trace is, NULL: it is all of a file. */
const struct xen_trace_span *xen_trace_window(const struct xen_trace *trace);

/** xen_trace_shows - does a time lie in the window, if the trace is one? */
static inline bool xen_trace_shows(const struct xen_trace_span *span, int64_t time_ns)
{
	return !span || (time_ns >= span->from_ns && time_ns < span->to_ns);
}

#ifdef __cplusplus
}
#endif
#endif
