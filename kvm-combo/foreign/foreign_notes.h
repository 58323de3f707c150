/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	foreign_notes.h
 * @brief	The facts about a converted trace that limit its numbers, as notes.
 */
#ifndef KSHARK_VIRT_FOREIGN_NOTES_H
#define KSHARK_VIRT_FOREIGN_NOTES_H

#include "foreign_outcome.h"
#include "trace_notes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** foreign_notes - add the notes about a trace that foreign_convert() has converted */
void foreign_notes(const char *path, const struct foreign_outcome *outcome,
		   struct trace_notes *notes);

#ifdef __cplusplus
}
#endif
#endif
