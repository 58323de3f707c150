/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	top_screen_draw.h
 * @brief	Draw the screen.
 */
#ifndef KSHARK_VIRT_TOP_SCREEN_DRAW_H
#define KSHARK_VIRT_TOP_SCREEN_DRAW_H

#include <curses.h>

#include "top_rows.h"
#include "top_screen.h"

/** All that is shown. */
struct top_screen {
	const struct top_screen_source *source;
	struct top_status	status;
	const struct top_interval *interval;	/* NULL: none yet */
	uint64_t		number;		/* of it */
	struct top_view		view;
	struct top_rows		rows;
	size_t			selected, top;	/* rows */
	int64_t			shown_ns;	/* since when */
	bool			is_frozen, shows_help;
	bool			is_drawn;
};

/** top_screen_colors - those of states, where the terminal has any. */
void top_screen_colors(void);

/** top_screen_draw - all of it, whatever size the terminal has. */
void top_screen_draw(struct top_screen *screen);

#endif
