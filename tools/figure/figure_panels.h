/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file	figure_panels.h
 * @brief	A figure of numbers over time: panels, one below the other, with the same time axis.
 */
#ifndef KSHARK_VIRT_FIGURE_PANELS_H
#define KSHARK_VIRT_FIGURE_PANELS_H

#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"

#define FIGURE_MAX_SERIES	10

/** Numbers by interval, from 0 on. */
struct figure_series {
	const char		*name;
	struct virt_color	color;
	bool			unknown;	/* stands for what is not known: hatched */
	const double		*values;	/* NAN: not known */
};

struct figure_panel {
	const char		*title;		/* with the unit */
	struct figure_series	series[FIGURE_MAX_SERIES];
	int			n_series;
	bool			stacked;	/* areas, one on the other, up to 100 */
};

/** Arrays outlive the figure. */
struct figure_panels {
	int64_t			from_ns, to_ns;	/* from < to */
	const int64_t		*edges;		/* n + 1: begins, and the end of the last */
	size_t			n;
	const struct figure_panel *all;		/* one at least */
	int			n_panels;
	double			width, height;	/* units; height 0: what they need */
	const char		*title;		/* NULL or empty: none */
};

/** figure_panels_least - how wide and high the sheet must be */
void figure_panels_least(const struct figure_panels *panels, double *width, double *height);

/** figure_panels_height - how high the sheet is */
double figure_panels_height(const struct figure_panels *panels);

/**
 * figure_panels_write - as figure_write()
 *
 * A line is as long as its interval, so that a curve is made of steps. Where a number is not known,
 * it has a gap; a stack of which a part is not known is hatched.
 */
int figure_panels_write(const struct figure_panels *panels, enum canvas_format format,
			const char *path, double scale);

#endif
