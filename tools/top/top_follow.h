/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	top_follow.h
 * @brief	Write the intervals of a trace that is still being recorded, as they come.
 */
#ifndef KSHARK_VIRT_TOP_FOLLOW_H
#define KSHARK_VIRT_TOP_FOLLOW_H

#include "top_live.h"

struct top_follow {
	struct top_live		*live;
	const struct top_input	*input;
	void			*self;		/* of the input */
	const char		*name;		/* of what is followed, for messages */
	const char		*path;		/* the same, as it was given */
	const char		*output;	/* or NULL */
	struct top_listen	*listen;	/* takes the counters; or NULL */
	const struct top_format	*format;
	bool			once, quiet;
};

/**
 * top_follow_signals - Ctrl-C and SIGTERM end what is followed, and not the process
 *
 * The second one of a kind ends that.
 */
void top_follow_signals(void);

/** top_follow_is_over - has one of these signals come? */
bool top_follow_is_over(void);

/** top_follow_write - until it ends. Return: an exit status, after messages. */
int top_follow_write(const struct top_follow *follow);

/**
 * top_follow_end - what is said in the end
 * @notes: of top_live_notes()
 *
 * Return: KSV_EXIT_OK, or KSV_EXIT_FILE after a message: it could not be followed to its end.
 */
int top_follow_end(const struct top_follow *follow, const struct top_status *status,
		   struct trace_notes *notes);

#endif
