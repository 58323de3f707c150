/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_trace_private.h
 * @brief	What a trace that is a file and one that is still being written share.
 */
#ifndef KSHARK_VIRT_XEN_TRACE_PRIVATE_H
#define KSHARK_VIRT_XEN_TRACE_PRIVATE_H

#include "xen_trace.h"
#include "xentrace_live.h"

struct xen_trace {
	struct xentrace		*reader;
	struct xentrace_live	*stream;	/* that the reader is of; NULL: it is a file's */
	struct xen_meta		*meta;
	struct xen_clock	clock;
	struct xen_first	first;
	enum xen_isa		isa;
	struct xen_skew		*skew;		/* of the last complete walk */
	int64_t			*pcpu_offset;	/* requested skew correction, or NULL */
	int			n_pcpus;
	char			*name;		/* for notes, escaped */
	char			*meta_error;	/* why there is no sidecar, or NULL */
	char			*skew_error;	/* why the skew is not corrected, or NULL */
};

/** xen_trace_load_meta - the sidecar: one that was asked for must be there, another need not be. */
int xen_trace_load_meta(struct xen_trace *trace, const char *path,
			const struct xen_trace_options *options, char *error, size_t error_size);

/** xen_trace_name_somebody - vCPUs that nothing names, where the sidecar pins one to the pCPU. */
int xen_trace_name_somebody(struct xen_trace *trace);

/** xen_trace_set_clock - as the options, the sidecar or the records tell. */
int xen_trace_set_clock(struct xen_trace *trace, const struct xen_trace_options *options);

#endif
