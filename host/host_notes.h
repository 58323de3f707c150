/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	host_notes.h
 * @brief	Facts that a model knows about its trace, as notes.
 *
 * Commands print them and the window shows them, in the same words.
 */
#ifndef KSHARK_VIRT_HOST_NOTES_H
#define KSHARK_VIRT_HOST_NOTES_H

#include "trace_notes.h"
#include "virt_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * host_note_model - add that records were lost, and that records contradict each other
 * @path: the trace, as the notes name it
 */
void host_note_model(const struct virt_model *model, const char *path, struct trace_notes *notes);

/** host_note_losses, host_note_contradictions - one of both, of what has come of a trace by now */
void host_note_losses(const struct virt_model *model, uint64_t losses, const char *path,
		      struct trace_notes *notes);
void host_note_contradictions(const struct virt_model *model, const char *path,
			      struct trace_notes *notes);

/**
 * host_note_lacks - add a note for each kind of record that the trace does not have
 * @left_out: VIRT_RECORD_BIT() of kinds that get no note: the user has left them out
 */
void host_note_lacks(const struct virt_model *model, const char *path, uint64_t left_out,
		     struct trace_notes *notes);

#ifdef __cplusplus
}
#endif
#endif
