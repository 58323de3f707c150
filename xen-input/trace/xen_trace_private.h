/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_trace_private.h
 * @brief	Inside a trace: xen_trace.c opens and walks it, xen_trace_part.c applies the facts
 *		about a trace that it was cut out of, xen_trace_window.c opens a window of a large
 *		file, and xen_follow.c follows a trace that is still being written.
 */
#ifndef KSHARK_VIRT_XEN_TRACE_PRIVATE_H
#define KSHARK_VIRT_XEN_TRACE_PRIVATE_H

#include "xen_part.h"
#include "xen_cores.h"
#include "xen_trace.h"
#include "xen_trace_note.h"
#include "xen_trace_window.h"
#include "xentrace_live.h"

/** Records that are looked at to find out the clock and the instruction set. */
#define PROBE_RECORDS	2000000

struct xen_trace {
	struct xentrace		*reader;
	struct xentrace_live	*stream;	/* that the reader is of; NULL: it is a file's */
	struct xen_meta		*meta;
	struct xen_clock	clock;
	struct xen_first	first;
	struct xen_cores	*cores;		/* NULL: each pCPU is scheduled by itself */
	struct xen_part		*part;		/* of @meta; NULL: it was not cut out of another */
	enum xen_isa		isa;
	struct xen_skew		*skew;		/* of the last complete walk */
	int64_t			*pcpu_offset;	/* requested skew correction, or NULL */
	int			n_pcpus;
	char			*name;		/* for notes, escaped */
	char			*meta_error;	/* why there is no sidecar, or NULL */
	char			*part_error;	/* why its part is left aside, or NULL */
	char			*skew_error;	/* why the skew is not corrected, or NULL */
	bool			part_is_lost;	/* as the TSCs are corrected */
	bool			part_is_window;	/* nor is it needed for a window */
	bool			is_window;	/* of a file: @span */
	struct xen_trace_span	span;
};

/** xen_trace_load_meta - the sidecar: one that was asked for must be there, another need not be. */
int xen_trace_load_meta(struct xen_trace *trace, const char *path,
			const struct xen_trace_options *options, char *error, size_t error_size);

/** xen_trace_name_somebody - vCPUs that nothing names, where the sidecar pins one to the pCPU. */
int xen_trace_name_somebody(struct xen_trace *trace);

/** xen_trace_or_defaults - what NULL stands for */
const struct xen_trace_options *xen_trace_or_defaults(const struct xen_trace_options *options);

/**
 * xen_trace_make - everything beyond the reader, which belongs to the trace from here on
 * @reader: NULL if it is missing
 * @span: only this window, see xen_trace_open_window(); NULL: all
 */
struct xen_trace *xen_trace_make(struct xentrace *reader, const char *path,
				 const struct xen_trace_options *options,
				 struct xen_trace_span *span, char *error, size_t error_size);

/**
 * xen_trace_set_clock - by options, sidecar, or what is indexed
 *
 * Return: 0 or a negative errno: -EDOM if trace->clock contradicts the
 * frequency of the options.
 */
int xen_trace_set_clock(struct xen_trace *trace, const struct xen_trace_options *options);

/** xen_trace_each_record - all that is there; of what is still being written, what waits. */
int xen_trace_each_record(const struct xen_trace *trace,
			  int (*take)(void *arg, const struct xentrace_record *rec), void *arg);

/* ---- xen_trace_cores.c ---- */

/**
 * xen_trace_find_core_firsts - who was on each pCPU at its first record, with core scheduling
 *
 * Call it when the cores and the runs are known. Return: 0 or -ENOMEM.
 */
int xen_trace_find_core_firsts(struct xen_trace *trace);

/* ---- xen_trace_part.c ---- */

/** xen_trace_take_part - what the reader cannot know of a trace that was cut out of another one. */
int xen_trace_take_part(struct xen_trace *trace);

/** xen_trace_set_first - who was on each pCPU when it was cut out. */
void xen_trace_set_first(struct xen_trace *trace);

/** xen_trace_set_part_clock - the clock of the trace that it was cut out of. */
void xen_trace_set_part_clock(struct xen_trace *trace, uint64_t base);

/** xen_trace_note_part - that it was cut out, if that matters. */
void xen_trace_note_part(struct trace_notes *notes, const struct xen_trace *trace);

/** xen_trace_note - add a warning about a trace; names in @text are escaped already. */
void xen_trace_note(struct trace_notes *notes, const struct xen_trace *trace,
		    enum trace_note_kind kind, const char *text);

/* ---- xen_trace_window.c ---- */

/** xen_trace_find_window - index the window; the file's beginning shows the clock. */
int xen_trace_find_window(struct xen_trace *trace, const struct xen_trace_options *options);

/** xen_trace_open_pointer - open what stands for a window, see xen_window.h. */
struct xen_trace *xen_trace_open_pointer(const char *path, const struct xen_trace_options *options,
					 char *error, size_t error_size);

#endif
