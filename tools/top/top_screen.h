/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	top_screen.h
 * @brief	Show intervals on a terminal: sorted, opened, frozen, back and forward in time.
 *
 * The screen only looks at intervals that are finished: the thread that makes them does not wait
 * for it, however slow the terminal is.
 */
#ifndef KSHARK_VIRT_TOP_SCREEN_H
#define KSHARK_VIRT_TOP_SCREEN_H

#include "top_live.h"

/** Where intervals come from. */
struct top_screen_source {
	/** What there is; waits so long for one of this number. */
	void	(*wait)(void *self, uint64_t number, int timeout_ms, struct top_status *status);
	/** Return: an interval, to be put back; NULL: it is gone, or there is no memory. */
	const struct top_interval *(*get)(void *self, uint64_t number);
	void	(*put)(void *self, const struct top_interval *interval);
	void	*self;
	const char *name;		/* of what is shown */
	bool	is_live;		/* the last one is shown at first, and whatever follows */
	int64_t	interval_ns;
};

/** top_screen_can - is standard output a terminal that it can be shown on, with one for keys? */
bool top_screen_can(void);

/**
 * top_screen_show - until the user has had enough
 * @status: receives how it was in the end
 *
 * Return: 0; -ENOTTY if there is no terminal that it could be shown on; -ENOMEM.
 */
int top_screen_show(const struct top_screen_source *source, struct top_status *status);

#endif
