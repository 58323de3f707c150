/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	trace_notes.h
 * @brief	Facts about a trace that limit what its numbers mean, as one list.
 *
 * The code that finds a fact adds it. Commands print the list, write it as the JSON member
 * "warnings", and plugins show it in the window.
 */
#ifndef KSHARK_VIRT_TRACE_NOTES_H
#define KSHARK_VIRT_TRACE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a note is about. */
enum trace_note_kind {
	TRACE_NOTE_DAMAGE,		/* parts of the file cannot be read */
	TRACE_NOTE_CHANGED,		/* the file was written to while it was read */
	TRACE_NOTE_SIDECAR,		/* the file beside the trace is not used */
	TRACE_NOTE_CLOCK,		/* a frequency is assumed, or clocks of pCPUs differ */
	TRACE_NOTE_UNIT,		/* times are not ns */
	TRACE_NOTE_ALIGNMENT,		/* a guest's clock is not the host's */
	TRACE_NOTE_PAIRING,		/* which vCPU a guest's CPU is, is unknown or wrong */
	TRACE_NOTE_LOSS,		/* records were lost */
	TRACE_NOTE_EVENTS,		/* events were not recorded */
	TRACE_NOTE_BUFFERS,		/* several buffers, and what is wrong with them */
	TRACE_NOTE_CONTRADICTION,	/* records contradict each other */
	TRACE_NOTE_LIMIT,		/* a limit held a machine, which records do not show */
	TRACE_N_NOTE_KINDS
};

enum trace_note_severity {
	TRACE_NOTE_INFO,		/* the numbers are right, under an assumption it names */
	TRACE_NOTE_WARNING,		/* numbers are missing, or less is known than it seems */
};

struct trace_note {
	enum trace_note_kind	kind;
	enum trace_note_severity severity;
	char			*text;	/* names escaped; lines of details begin with blanks */
	bool			printed;	/* by trace_notes_print() */
};

/** In the order in which they were added. All zero is none. */
struct trace_notes {
	struct trace_note	*all;
	size_t			n, room;
	bool			incomplete;	/* there was no memory for one */
};

/** trace_notes_add - add a sentence, which is escaped here; it names the file. */
void trace_notes_add(struct trace_notes *notes, enum trace_note_kind kind,
		     enum trace_note_severity severity, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * trace_notes_add_text - add a text whose names are escaped already
 * @text: is copied, without the line end that it may have; NULL or empty: nothing is added
 */
void trace_notes_add_text(struct trace_notes *notes, enum trace_note_kind kind,
			  enum trace_note_severity severity, const char *text);

/** trace_notes_copy - add copies of all notes of another list. */
void trace_notes_copy(struct trace_notes *notes, const struct trace_notes *from);

/** trace_notes_copy_one - add a copy of one note of another list. */
void trace_notes_copy_one(struct trace_notes *notes, const struct trace_note *note);

/** trace_notes_has - is there a note with this text? */
bool trace_notes_has(const struct trace_notes *notes, const char *text);

/** trace_notes_print - those not printed yet: a line each, and lines of details below. */
void trace_notes_print(struct trace_notes *notes, FILE *out);

/** trace_notes_text - all of them as a malloc'ed text; NULL without memory. */
char *trace_notes_text(const struct trace_notes *notes);

/** trace_notes_free - free all notes, and leave none. */
void trace_notes_free(struct trace_notes *notes);

/** trace_note_kind_name - "damage", "alignment" ... */
const char *trace_note_kind_name(enum trace_note_kind kind);

/** trace_note_severity_name - "info" or "warning" */
const char *trace_note_severity_name(enum trace_note_severity severity);

#ifdef __cplusplus
}
#endif
#endif
