/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	xen_trace_note.h
 * @brief	List the facts that a user must know about a xentrace file.
 */
#ifndef KSHARK_VIRT_XEN_TRACE_NOTE_H
#define KSHARK_VIRT_XEN_TRACE_NOTE_H

#include "trace_notes.h"
#include "xen_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * xen_trace_note_all - what xen_trace_notes() says, as a list
 * @max_lines: damaged places to list at most
 * @notes: receives more; without memory, trace_notes.incomplete is set
 */
void xen_trace_note_all(const struct xen_trace *trace, int max_lines, struct trace_notes *notes);

#ifdef __cplusplus
}
#endif
#endif
