// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * @file	progress.c
 * @brief	Show the progress of long work on a terminal's standard error.
 */
#include <stdio.h>
#include <unistd.h>

#include "progress.h"

static time_t seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec;
}

void progress_init(struct progress *progress, bool wanted)
{
	progress->enabled = wanted && isatty(STDERR_FILENO);
	progress->shown = false;
	progress->last = seconds_now() + 1;
	progress->what = "reading";
}

int progress_update(void *arg, uint64_t done, uint64_t total)
{
	struct progress *progress = arg;
	time_t now;

	if (!progress->enabled || !total)
		return 0;
	now = seconds_now();
	if (now <= progress->last)
		return 0;
	progress->last = now;
	progress->shown = true;
	fprintf(stderr, "\rkshark-virt: %s %3.0f %%", progress->what, 100.0 * done / total);
	return 0;
}

void progress_end(const struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
}
