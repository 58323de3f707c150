// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	trace_notes.c
 * @brief	Facts about a trace that limit what its numbers mean.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "escape.h"
#include "trace_notes.h"

static const char *const kind_names[TRACE_N_NOTE_KINDS] = {
	[TRACE_NOTE_DAMAGE] = "damage",
	[TRACE_NOTE_CHANGED] = "changed",
	[TRACE_NOTE_SIDECAR] = "sidecar",
	[TRACE_NOTE_CLOCK] = "clock",
	[TRACE_NOTE_UNIT] = "unit",
	[TRACE_NOTE_ALIGNMENT] = "alignment",
	[TRACE_NOTE_PAIRING] = "pairing",
	[TRACE_NOTE_LOSS] = "loss",
	[TRACE_NOTE_EVENTS] = "events",
	[TRACE_NOTE_BUFFERS] = "buffers",
	[TRACE_NOTE_CONTRADICTION] = "contradiction",
	[TRACE_NOTE_LIMIT] = "limit",
};

const char *trace_note_kind_name(enum trace_note_kind kind)
{
	return kind_names[kind];
}

const char *trace_note_severity_name(enum trace_note_severity severity)
{
	return severity == TRACE_NOTE_WARNING ? "warning" : "info";
}

/** @text belongs to the list from here on; NULL: there was no memory for it. */
static void add(struct trace_notes *notes, enum trace_note_kind kind,
		enum trace_note_severity severity, char *text)
{
	if (!text || ARRAY_GROW(notes->all, notes->n, notes->room)) {
		notes->incomplete = true;
		free(text);
		return;
	}
	notes->all[notes->n++] = (struct trace_note){
		.kind = kind, .severity = severity, .text = text,
	};
}

void trace_notes_add(struct trace_notes *notes, enum trace_note_kind kind,
		     enum trace_note_severity severity, const char *format, ...)
{
	char *text, *escaped = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (text)
		escaped = escape_dup(text);
	free(text);
	add(notes, kind, severity, escaped);
}

void trace_notes_add_text(struct trace_notes *notes, enum trace_note_kind kind,
			  enum trace_note_severity severity, const char *text)
{
	size_t size = text ? strlen(text) : 0;

	if (size && text[size - 1] == '\n')
		size--;
	if (size)
		add(notes, kind, severity, strndup(text, size));
}

void trace_notes_copy_one(struct trace_notes *notes, const struct trace_note *note)
{
	size_t n = notes->n;

	trace_notes_add_text(notes, note->kind, note->severity, note->text);
	if (notes->n > n)
		notes->all[n].printed = note->printed;
}

bool trace_notes_has(const struct trace_notes *notes, const char *text)
{
	for (size_t i = 0; i < notes->n; i++)
		if (!strcmp(notes->all[i].text, text))
			return true;
	return false;
}

void trace_notes_copy(struct trace_notes *notes, const struct trace_notes *from)
{
	for (size_t i = 0; i < from->n; i++)
		trace_notes_copy_one(notes, &from->all[i]);
	notes->incomplete |= from->incomplete;
}

void trace_notes_print(struct trace_notes *notes, FILE *out)
{
	for (size_t i = 0; i < notes->n; i++) {
		if (!notes->all[i].printed)
			fprintf(out, "%s\n", notes->all[i].text);
		notes->all[i].printed = true;
	}
}

char *trace_notes_text(const struct trace_notes *notes)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < notes->n; i++)
		fprintf(out, "%s\n", notes->all[i].text);
	if (!fclose(out) && !notes->incomplete)
		return text;
	free(text);
	return NULL;
}

void trace_notes_free(struct trace_notes *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		free(notes->all[i].text);
	free(notes->all);
	*notes = (struct trace_notes){ 0 };
}
