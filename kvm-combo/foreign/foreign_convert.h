/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	foreign_convert.h
 * @brief	Traces of other tools as trace.dat files, made by a process without rights.
 *
 * The trace.dat has no name and is gone when it is closed. A trace may be made to crash its reader
 * or to keep it busy: that becomes a message.
 */
#ifndef KSHARK_VIRT_FOREIGN_CONVERT_H
#define KSHARK_VIRT_FOREIGN_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foreign_outcome.h"

#ifdef __cplusplus
extern "C" {
#endif

enum foreign_kind {
	FOREIGN_NONE,		/* no trace that this reads */
	FOREIGN_CTF,		/* a folder with traces in CTF (LTTng) */
	FOREIGN_PERF,		/* perf.data, a file or a folder */
	FOREIGN_TEXT,		/* the text of ftrace, or of 'trace-cmd report' */
};

/**
 * foreign_kind_of - what a trace is
 * @head: the first @n bytes of a file, unpacked; none of a folder
 */
enum foreign_kind foreign_kind_of(const char *path, const void *head, size_t n);

/** What the result has. All zero is a good default. */
struct foreign_wanted {
	uint64_t	most_bytes;	/* limit for the room that its records take in temporary
					 * files; 0: in proportion to the trace */
	bool		counters;	/* of perf.data, too: trace_counters.h */
};

/**
 * foreign_convert - convert a trace
 * @in: a descriptor of the file, unpacked, at its beginning, which is closed; -1 of a folder
 * @outcome: receives what is known of the conversion
 *
 * Only for programs with a single thread. TMPDIR is the place of the temporary files.
 *
 * Return: a descriptor of a trace.dat, or a negative errno with a text in outcome->problem.
 */
int foreign_convert(const char *path, enum foreign_kind kind, int in,
		    const struct foreign_wanted *wanted, struct foreign_outcome *outcome);

/**
 * foreign_convert_to - the same, into a file
 * @out: of an empty file, which is written at any place; above STDERR_FILENO
 *
 * Return: 0, or a negative errno with a text in outcome->problem.
 */
int foreign_convert_to(const char *path, enum foreign_kind kind, int in, int out,
		       const struct foreign_wanted *wanted, struct foreign_outcome *outcome);

#ifdef __cplusplus
}
#endif
#endif
