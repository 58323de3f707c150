/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_follow.h
 * @brief	Open a trace that xentrace is still writing: its clock, names and runs.
 *
 * Some properties of a file are derived from all of its records. Here they are derived from the
 * records that have come when the trace begins: the clock, if it is not given otherwise, the vCPU
 * that was on each pCPU at its first record, and the instruction set.
 */
#ifndef KSHARK_VIRT_XEN_FOLLOW_H
#define KSHARK_VIRT_XEN_FOLLOW_H

#include "xen_trace.h"
#include "xentrace_live.h"

/**
 * xen_follow_open - a trace of which nothing is known but its sidecar
 * @stream: outlives the trace
 * @name: for notes
 * @path: of the file that it is, whose sidecar is taken; NULL: it has none but that of @options
 * @options: skew is not corrected
 *
 * Return: to be given to xen_trace_close(), or NULL with errno and a text in @error.
 */
struct xen_trace *xen_follow_open(struct xentrace_live *stream, const char *name, const char *path,
				  const struct xen_trace_options *options, char *error,
				  size_t error_size);

/**
 * xen_follow_begin - enough has come to begin
 *
 * Return: 0 or -ENOMEM.
 */
int xen_follow_begin(struct xen_trace *trace, const struct xen_trace_options *options);

/** xen_follow_runs - there are more runs than before. Return: 0 or -ENOMEM. */
int xen_follow_runs(struct xen_trace *trace);

/** xen_follow_isa - take the instruction set from a VM exit, if it is not known yet. */
void xen_follow_isa(struct xen_trace *trace, const struct xentrace_record *rec);

#endif
