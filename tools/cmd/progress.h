/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	progress.h
 * @brief	Show the progress of long work on a terminal's standard error.
 */
#ifndef KSHARK_VIRT_PROGRESS_H
#define KSHARK_VIRT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/** Records between two looks at the clock. */
#define PROGRESS_RECORDS	(1 << 18)

/** Only long work is worth a line on the terminal. */
struct progress {
	bool		shown, enabled;
	time_t		last;
	const char	*what;
};

/** progress_init - begin with "reading"; nothing is shown if not @wanted or not on a terminal. */
void progress_init(struct progress *progress, bool wanted);

/** progress_update - @arg is the struct progress. Return: 0, as xentrace_progress_fn wants it. */
int progress_update(void *arg, uint64_t done, uint64_t total);

/** progress_end - clear the line, before anything else is written. */
void progress_end(const struct progress *progress);

#endif
