/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	figure_bars.h
 * @brief	Convert stretches of time to bars, for one row of a figure.
 *
 * A row is divided into columns. A column that lies within one stretch of time is filled. A column
 * with a single change (also across a tiny gap) is divided at the change. A column with more
 * changes shows the share of each key, stacked in the order of the keys. So areas are always as
 * large as the times that they represent, and the number of bars depends on the columns, not on the
 * length of the trace.
 *
 * Bars of a key reach from the base line up to its upper edge: paint the last key first and let the
 * others cover it. Without gaps between them, no background shines through at their seams.
 */
#ifndef KSHARK_VIRT_FIGURE_BARS_H
#define KSHARK_VIRT_FIGURE_BARS_H

#include <stdint.h>

#include "canvas.h"

/** No text belongs to a stretch. */
#define FIGURE_NO_LABEL		INT64_MIN

struct figure_bar_list {
	int			key;
	struct canvas_bar	*bars;		/* x in columns, height 0 .. 1 */
	size_t			n, room;
};

/** Of a stretch with the same label, the longest part of a single key; x in columns. */
struct figure_run {
	double	x0, x1;
	int64_t	label;
	int	key;
};

/** What the rows of a figure share while they are filled: there may be many keys. */
struct figure_keys {
	int			*lists;		/* of each key in the row: its number + 1, or 0 */
	double			*shares;	/* of each key in the column */
	int			*used;		/* that have a share */
	int			n_used;
};

/** Columns and the state of filling them. */
struct figure_bars {
	struct figure_bar_list	*lists;		/* of the keys that occur, ascending */
	size_t			n_lists, lists_room;
	struct figure_run	*runs;
	size_t			n_runs, runs_room;
	/* private */
	int64_t			from_ns, to_ns;
	double			n_columns, min_run;
	int			error;
	int			key;		/* of the stretch being collected, -1: none */
	double			x0, x1;
	double			column;		/* the one being filled */
	struct figure_keys	*keys;
	int			n_pieces;
	struct { int key; double x0; } pieces[3];	/* the first ones */
	struct figure_run	run, part;	/* the longest part so far, and the last one */
};

/** figure_keys_init - for @n keys. Return: 0 or -ENOMEM; to be freed in both cases. */
int figure_keys_init(struct figure_keys *keys, int n);
void figure_keys_free(struct figure_keys *keys);

/**
 * figure_bars_init - begin a row, after the one before is finished
 * @min_run: columns that a run must have, room for a text
 */
void figure_bars_init(struct figure_bars *bars, struct figure_keys *keys, int64_t from_ns,
		      int64_t to_ns, double n_columns, double min_run);
void figure_bars_free(struct figure_bars *bars);

/** figure_bars_add - the next stretch of time, which begins where the last one ended. */
void figure_bars_add(struct figure_bars *bars, int64_t start_ns, int64_t end_ns, int key,
		     int64_t label);

/** figure_bars_finish - the row is complete. Return: 0 or -ENOMEM. */
int figure_bars_finish(struct figure_bars *bars);

#endif
